# SPDX-License-Identifier: Apache-2.0
# Measure functions in kernel style: a definition's "{" and "}" stand in the first column.
# Prints: LINES PARAMETERS FILE:LINE NAME

FNR == 1 { head = ""; inside = 0 }
inside && /^}/ {
	print lines, params, FILENAME ":" start, name
	inside = 0
	head = ""
	next
}
inside { lines++; next }
/^{/ {
	gsub(/__attribute__ *\(\([^)]*(\([^)]*\))?[^)]*\)\)|printf_like\([^)]*\)/, "", head)
	name = head
	sub(/[ \t]*\(.*/, "", name)
	sub(/.*[ \t*]/, "", name)
	if (head ~ /^START_TEST/) {
		name = head
		gsub(/START_TEST\(|\)/, "", name)
	}
	params = count(head)
	inside = 1
	lines = 0
	start = FNR
	next
}
/^[ \t]*$/ || /[;}]$/ || /^#/ || /^\/?[ \t]*\*/ || /^\/\// { head = ""; next }
{ head = head " " $0; sub(/^ /, "", head) }

# Commas between the outermost brackets of the parameter list.
function count(text,   i, c, depth, n, at)
{
	at = index(text, "(")
	if (text ~ /\((void)?\)$/)
		return 0
	n = 1
	for (i = at; i <= length(text); i++) {
		c = substr(text, i, 1)
		if (c == "(")
			depth++
		else if (c == ")")
			depth--
		else if (c == "," && depth == 1)
			n++
		if (depth == 0)
			break
	}
	return n
}

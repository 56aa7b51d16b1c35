# SPDX-License-Identifier: Apache-2.0
# Demand words: a comment at the head of every C file, one for each function of a header, and names of tests.
#
# usage: awk -f tools/comments.awk FILE...
#
# The head comment is the first text after the licence. A function of a header has a comment above it, above its group, or
# on its own line, or an earlier comment names it. A group has no empty line inside. Two kinds need none: a function whose body is in the header, and one
# that only releases its argument (X_clear, X_close, X_closep). The name of a test has two words at least, because one word
# cannot say what the test shows. Prints "FILE:LINE: what is missing" and fails.

function complain(line, text)
{
	print FILENAME ":" line ": " text
	bad++
}

# Cut the comments out of a line; `worded` says that this group has one.
function code_of(line,    at, rest)
{
	while (1) {
		if (commented) {
			words = words " " line
			at = index(line, "*/")
			if (!at)
				return ""
			commented = 0
			line = substr(line, at + 2)
		}
		at = index(line, "/*")
		if (!at)
			return line
		worded = 1
		rest = substr(line, at + 2)
		words = words " " rest
		line = substr(line, 1, at - 1)
		at = index(rest, "*/")
		if (!at) {
			commented = 1
			return line
		}
		line = line substr(rest, at + 2)
	}
}

# A declaration that begins in the first column, up to its ";" or "{". Only functions have a bracket behind a name;
# a typedef is not a function.
function judge_declaration(    name)
{
	if (declaration !~ /^(typedef|enum|#|static inline)|^void [a-z_0-9]+_(clear|closep?)\([^,]*\);/ &&
	    match(declaration, /[A-Za-z_0-9]+\(/) && !worded) {
		name = substr(declaration, RSTART, RLENGTH - 1)
		if (words !~ ("(^|[^a-z_0-9])" name "[^a-z_0-9]"))
			complain(start, name "() has no comment above it or above its group")
	}
	functions += declaration !~ /^typedef/ && declaration ~ /[A-Za-z_0-9]+\(/
	declaration = ""
}

FNR == 1 {
	files++
	headed = commented = worded = 0
	declaration = words = ""
}

!headed && !/^[ \t]*$/ && !/SPDX-License-Identifier/ {
	headed = 1
	if ($0 !~ /^\/[*\/]/)
		complain(FNR, "there is no comment at the head of the file that says what it is for")
}

/^START_TEST\(/ { tests++ }
match($0, /START_TEST\([^_)]*\)/) {
	complain(FNR, substr($0, RSTART, RLENGTH) ": one word does not say what the test shows: name it like a_full_pool_refuses")
}

FILENAME !~ /\.h$/ { next }

/^[ \t]*$/ && !commented && declaration == "" { worded = 0; next }
commented || /\/\*/ { $0 = code_of($0) }
/^#/ { continued = /\\$/; next }
continued { continued = /\\$/; next }
declaration == "" && /^[a-z]/ { start = FNR; declaration = " " }
declaration != "" {
	declaration = (declaration == " " ? "" : declaration " ") $0
	if (match(declaration, /[;{]/)) {
		declaration = substr(declaration, 1, RSTART)
		judge_declaration()
	}
}

END {
	if (bad) {
		print "comments: " bad " are missing"
		exit 1
	}
	print "comments: " functions " functions of headers and " tests " tests in " files " files"
}

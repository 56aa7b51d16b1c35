# SPDX-License-Identifier: Apache-2.0
# Read Markdown and mdoc, cut them into sentences, and report long ones and banned turns. Run by english.sh.
#
# A paragraph is collected as words, each with its line. Code, options and links' targets are no prose: a code span counts as
# one word and is not searched for turns. A colon ends a sentence here, because what follows it is a list or a new statement.

function load_turns(    line, cut) {
	while ((getline line <turns) > 0) {
		if (line ~ /^(#|$)/)
			continue
		cut = index(line, "\t")
		turn[++n_turns] = tolower(substr(line, 1, cut - 1))
		advice[n_turns] = substr(line, cut + 1)
	}
	if (n_turns == 0) {
		print "english: no turns in " turns
		failed = 1
		exit 1
	}
}

function load_exceptions(    line, part) {
	while ((getline line <exceptions) > 0) {
		if (line ~ /^(#|$)/)
			continue
		split(line, part, "\t")
		excused_file[++n_excused] = part[1]
		excused_text[n_excused] = part[2]
	}
}

function excused(sentence,    i, found) {
	for (i = 1; i <= n_excused; i++)
		if (excused_file[i] == file && index(sentence, excused_text[i])) {
			needed[i] = 1
			found = 1
		}
	return found
}

function report(line, text) {
	printf "%s:%d: %s\n", file, line, text
	findings++
}

function judge(    i, low) {
	if (count == 0)
		return
	sentences++
	# A turn that stands at a beginning is none behind a colon, where fragments are fine.
	low = (colon ? ":" : " ") tolower(sentence) " "
	colon = sentence ~ /:$/
	for (i = 1; i <= n_turns; i++)
		if (low ~ turn[i] && !excused(sentence)) {
			match(low, turn[i])
			report(first, "\"" substr(low, RSTART, RLENGTH) "\": " advice[i])
		}
	if (count > 25 && !excused(sentence))
		report(first, count " words in a sentence, 25 at most: " substr(sentence, 1, 60) "...")
	sentence = ""
	count = 0
}

# Mark the code spans and keep the text of the links of a paragraph.
function strip(text,    at, end) {
	while (match(text, /`[^`]*`/)) {
		at = RSTART
		end = RSTART + RLENGTH
		text = substr(text, 1, at - 1) "@" lines_of(substr(text, at, end - at)) substr(text, end)
	}
	gsub(/!\[/, "[", text)
	gsub(/\]\([^)]*\)/, "", text)
	gsub(/[][*_]/, "", text)
	return text
}

# The line marks of a piece that is cut out.
function lines_of(piece,    marks) {
	marks = ""
	while (match(piece, /\001[0-9]+\002/)) {
		marks = marks " " substr(piece, RSTART, RLENGTH) " "
		piece = substr(piece, RSTART + RLENGTH)
	}
	return marks
}

function add_line(text) {
	paragraph = paragraph " \001" FNR "\002 " text
}

function end_paragraph(    n, word, i, at) {
	if (paragraph == "")
		return
	n = split(strip(paragraph), word, /[ \t]+/)
	paragraph = ""
	for (i = 1; i <= n; i++) {
		if (word[i] == "")
			continue
		if (word[i] ~ /^\001/) {
			at = substr(word[i], 2) + 0
			continue
		}
		if (count == 0 && sentence == "")
			first = at
		sentence = sentence (sentence == "" ? "" : " ") word[i]
		if (word[i] ~ /[A-Za-z0-9@]/)
			count++
		if (word[i] ~ /[.?!:]["')]*$/)
			judge()
	}
	judge()
	sentence = ""
	colon = 0
}

function cells(row,    n, cell, i) {
	gsub(/\\\|/, "/", row)
	n = split(row, cell, "|")
	for (i = 1; i <= n; i++) {
		add_line(cell[i])
		end_paragraph()
	}
}

function markdown() {
	if ($0 ~ /^[ \t]*(```|~~~)/) {
		end_paragraph()
		fenced = !fenced
	} else if (fenced || $0 ~ /^\t/ && paragraph == "" || $0 ~ /^<!--/) {
		return
	} else if ($0 ~ /^[ \t]*$/) {
		end_paragraph()
	} else if ($0 ~ /^\|/) {
		end_paragraph()
		cells($0)
	} else {
		if ($0 ~ /^[ \t]*([-*]|[0-9]+\.)[ \t]/ || $0 ~ /^#/)
			end_paragraph()
		text = $0
		sub(/^[ \t]*([-*]|[0-9]+\.|#+)[ \t]+/, "", text)
		add_line(text)
		if ($0 ~ /^#/)
			end_paragraph()
	}
}

# In mdoc structure ends a sentence, displays are no prose, and what inline macros mark is one word of code each.
function mdoc(    i, text, word, n) {
	if ($0 ~ /^\.\\"/)
		return
	if ($1 == ".Bd" || $1 == ".Ed") {
		end_paragraph()
		fenced = $1 == ".Bd"
	} else if (fenced || $1 == ".Dl") {
		return
	} else if ($1 ~ /^\.(Sh|Ss|Pp|It|Bl|El|Dd|Dt|Os|Nm|TS|TE|D1)$/ && !($1 == ".Nm" && paragraph != "")) {
		end_paragraph()
	} else if (synopsis) {
		return
	} else if ($0 ~ /^\./) {
		text = ""
		n = split($0, word, /[ \t]+/)
		for (i = 2; i <= n; i++)
			if (word[i] ~ /^[.,:;?!)]$/)
				text = text word[i]
			else if (word[i] !~ /^([A-Z][a-z]|Ns)$/ && word[i] != "(")
				text = text " " (word[1] ~ /^\.(No|Nd|Em|Sy|Po|Pq|Pc|Dq|Sq|Qq|Lk|Xr)$/ ? word[i] : "@")
		add_line(text)
	} else {
		text = $0
		gsub(/\\&/, "", text)
		gsub(/\\[-e]/, "-", text)
		add_line(text)
	}
	if ($1 == ".Sh")
		synopsis = $2 == "SYNOPSIS" || $2 == "SEE" || $2 == "FILES" || $2 == "EXAMPLES" || $2 == "AUTHORS"
}

# Of C code: comments, and string literals of four words and more outside of preprocessor lines: messages and help.
function c_code(    line, at, literal) {
	line = $0
	if (!commented && match(line, /^[^"]*(\/\*|\/\/)/)) {
		commented = 1
		slashes = substr(line, RSTART + RLENGTH - 2, 2) == "//"
		line = substr(line, RSTART + RLENGTH)
	} else if (!commented) {
		if (line ~ /^#/)
			return
		literal = ""
		while (match(line, /"([^"\\]|\\.)*"/)) {
			literal = literal substr(line, RSTART + 1, RLENGTH - 2)
			line = substr(line, RSTART + RLENGTH)
		}
		gsub(/\\n/, ". ", literal)
		gsub(/\\"/, "'", literal)
		gsub(/%[-+#.*0-9l]*[a-zA-Z]/, "@", literal)
		message = message literal
		if (line !~ /^[ \t\\]*$/ && message != "") {
			# A text with " && " or " || " is a command for a shell.
			if (split(message, ignored, " ") > 3 && message !~ / (&&|\|\|) /) {
				add_line(message)
				end_paragraph()
			}
			message = ""
		}
		return
	}
	at = slashes ? 0 : index(line, "*/")
	if (at)
		line = substr(line, 1, at - 1)
	sub(/^[ \t]*\*/, "", line)
	if (line ~ /^[ \t]*$/ || line ~ /^ *-+ .* -+ *$/)
		end_paragraph()
	else if (line ~ /^\t/)
		end_paragraph()
	else
		add_line(line)
	if (at || slashes) {
		commented = 0
		end_paragraph()
	}
}

# Of a script: comments that have lines of their own. Indented ones are tables and examples.
function script() {
	if ($0 !~ /^[ \t]*#/ || $0 ~ /^[ \t]*#(!|  |\t| shellcheck |$)/ || /SPDX-License-Identifier/) {
		end_paragraph()
		return
	}
	sub(/^[ \t]*#+/, "")
	if ($0 ~ /^ *-+ .* -+ *$/)
		end_paragraph()
	else
		add_line($0)
}

BEGIN {
	load_turns()
	load_exceptions()
}

FNR == 1 {
	end_paragraph()
	file = FILENAME
	fenced = synopsis = commented = 0
	message = ""
	files++
}

FILENAME ~ /\.[1-8]$/ { mdoc(); next }
FILENAME ~ /\.[ch]$/ { c_code(); next }
FILENAME ~ /\.(sh|awk|mk)$|^Makefile$|^\.ci\/|^conformance\/vm\/(run|guest\/init)$|^packaging\/kubectl\/kubectl/ { script(); next }
{ markdown() }

END {
	if (failed)
		exit 1
	end_paragraph()
	for (i = 1; i <= n_excused; i++)
		for (f = 1; f < ARGC; f++)
			if (ARGV[f] == excused_file[i] && !(i in needed)) {
				printf "english-exceptions.txt: nothing needs \"%s\" of %s: remove it\n", excused_text[i], excused_file[i]
				findings++
			}
	if (findings) {
		printf "english: %d findings in %d sentences of %d files\n", findings, sentences, files
		exit 1
	}
	printf "english: %d sentences in %d files\n", sentences, files
}

# SPDX-License-Identifier: Apache-2.0
# Read all C files and README.md once, and report what breaks the order. Run by layers.sh, which has the tables.

function complain(text)
{
	print text
	bad++
}

# The tables of layers.sh: a row is NAME|WORDS.
function load(text, to,    row, n, i, cut)
{
	n = split(text, row, "\n")
	for (i = 1; i <= n; i++)
		if (cut = index(row[i], "|")) {
			to[substr(row[i], 1, cut - 1)] = substr(row[i], cut + 1)
			order[++rows] = substr(row[i], 1, cut - 1)
		}
}

function is_of_tests(name)
{
	return name ~ /(_test|_fuzz)\.c$|\/testing\/|\/testing\.h$/
}

# The folder of a file; conformance and tools are one room each.
function room_of(name)
{
	if (name ~ /^(conformance|tools)\//)
		sub(/\/.*/, "", name)
	else
		sub(/\/[^\/]*$/, "", name)
	return name
}

function part_of(name)
{
	sub(/\/.*/, "", name)
	return name
}

# X.c, X.h and X_priv.h are one here, and priv.h belongs to the file that has the name of its room.
function unit_of(name)
{
	sub(/\.[ch]$/, "", name)
	sub(/_priv$/, "", name)
	if (sub(/\/priv$/, "", name))
		name = name "/" substr(name, match(name, /[^\/]*$/))
	return name
}

# Its own room, and what begins with one of the allowed names: each is a part or a room and ends with a slash.
function may_include(name,    n, i, to)
{
	if (room_of(name) == room)
		return 1
	n = split(allowed, to, " ")
	for (i = 1; i <= n; i++)
		if (index(name, to[i]) == 1)
			return 1
	return 0
}

function judge_include(what,    name, i, a, b)
{
	total++
	name = substr(what, 2, length(what) - 2)
	if (what ~ /^"/) {
		if (!may_include(name))
			complain(FILENAME ":" FNR ": " room " may include: " allowed "; not " name)
		if (!(name in exists))
			complain(FILENAME ":" FNR ": " name " does not exist (name it from the top of the tree)")
		else if (!test && room !~ /^(conformance|tools)$/) {
			# nl_msg.h is the second header of nl.c.
			a = unit_of(FILENAME)
			b = unit_of(name)
			sub(/\/nl_msg$/, "/nl", a)
			sub(/\/nl_msg$/, "/nl", b)
			if (a != b)
				needs[a] = needs[a] " " b
		}
	}
	if (is_of_tests(name) && !test)
		complain(FILENAME ":" FNR ": " name " is for tests")
	if (name ~ /(_|\/)priv\.h$/ && room_of(name) != room)
		complain(FILENAME ":" FNR ": " name " is private to " room_of(name) "/")
	if (name ~ /_internal\.h$/)
		complain(FILENAME ":" FNR ": a private header is called X_priv.h")
	# The conformance suites look at the kernel from outside, with netlink of their own.
	if (room != "conformance")
		for (i = 1; i <= n_doors; i++)
			if (index(name, door[i]) == 1 && FILENAME !~ behind[door[i]])
				complain(FILENAME ":" FNR ": " name " belongs behind " behind[door[i]])
}

# The names in the first column of a table, each between backquotes.
function read_names(    cell, name)
{
	cell = $0
	sub(/^\|/, "", cell)
	sub(/\|.*/, "", cell)
	while (match(cell, /`[^`]*`/)) {
		name = substr(cell, RSTART + 1, RLENGTH - 2)
		cell = substr(cell, RSTART + RLENGTH)
		if (name !~ /\/$/)
			named[room] = named[room] " " name
	}
}

# Does a name of a README stand for this file?
function stands_for(name, file)
{
	sub(/.*\//, "", file)
	if (name == file || name !~ /\*/ && unit_of(name) == unit_of(file))
		return 1
	if (name !~ /\*/)
		return 0
	gsub(/\./, "\\.", name)
	gsub(/\*/, ".*", name)
	return file ~ ("^" name "(\\.[ch])?$")
}

function judge_names(r,    n, name, i, f, m, list, used, file)
{
	n = split(named[r], name, " ")
	m = split(holds[r], list, " ")
	for (f = 1; f <= m; f++) {
		for (i = 1; i <= n; i++)
			if (stands_for(name[i], list[f])) {
				# foo.h is there only if that very file is.
				file = list[f]
				sub(/.*\//, "", file)
				if (name[i] !~ /\.[ch]$/ || name[i] ~ /\*/ || name[i] == file)
					used[i] = 1
			}
	}
	for (i = 1; i <= n; i++)
		if (!used[i])
			complain(r "/README.md: names " name[i] ", which does not exist")
}

function circle_found(members, size)
{
	if (size > 1)
		complain("these files include each other in a circle: " sorted(members, size))
}

function sorted(list, n,    i, j, held, text)
{
	for (i = 2; i <= n; i++) {
		held = list[i]
		for (j = i - 1; j > 0 && list[j] > held; j--)
			list[j + 1] = list[j]
		list[j + 1] = held
	}
	for (i = 1; i <= n; i++)
		text = text (i > 1 ? " " : "") list[i]
	return text
}

# An arrow that leads back: a room that another one reaches, which it includes itself.
function judge_arrows(    i, j, k, n, to, way, reach, room_at, rooms)
{
	for (i = 1; i <= n_arrows; i++) {
		if (order[i] ~ /^(tools|conformance)$|testing$/)
			continue
		room_at[++rooms] = order[i]
		n = split(arrow[order[i]], to, " ")
		for (j = 1; j <= n; j++)
			way[order[i] "/", to[j]] = 1
	}
	for (i = 1; i <= rooms; i++)
		for (j = 1; j <= rooms; j++)
			if (((room_at[i] "/", room_at[j] "/") in way) || part_of(room_at[i]) != part_of(room_at[j]) &&
			    ((room_at[i] "/", part_of(room_at[j]) "/") in way))
				reach[i, j] = 1
	for (k = 1; k <= rooms; k++)
		for (i = 1; i <= rooms; i++)
			if ((i, k) in reach)
				for (j = 1; j <= rooms; j++)
					if ((k, j) in reach)
						reach[i, j] = 1
	for (i = 1; i <= rooms; i++)
		if ((i, i) in reach)
			complain(room_at[i] ": an arrow leads back to it")
	for (i = 1; i <= n_parts; i++) {
		n = split(i > n_arrows ? part[order[i]] : arrow[order[i]], to, " ")
		for (j = 1; j <= n; j++)
			if (part_at[part_of(to[j])] > part_at[part_of(order[i])])
				complain(order[i] ": an arrow to " to[j] ", a part above it")
	}
}

function judge_room(r,    want)
{
	if (!(r in arrow)) {
		complain(r ": the table of tools/layers.sh does not know this room")
		return
	}
	if (r == "tools")
		return
	if (!((r "/README.md") in exists)) {
		complain(r "/README.md is missing")
		return
	}
	want = arrow[r]
	gsub(/ /, ", ", want)
	if (want == "")
		want = "nothing of this tree"
	if (claim[r] != want)
		complain(r "/README.md: must have the line \"May include: " want "\"")
	if (r == "conformance")
		return
	judge_names(r)
}

BEGIN {
	load(ENVIRON["arrows"], arrow)
	n_arrows = rows
	load(ENVIRON["parts"], part)
	n_parts = rows
	for (i = n_arrows + 1; i <= n_parts; i++)
		part_at[order[i]] = i
	rows_before = rows
	load(ENVIRON["doors"], behind)
	for (i = rows_before + 1; i <= rows; i++)
		door[++n_doors] = order[i]
	for (i = 1; i < ARGC; i++) {
		exists[ARGV[i]] = 1
		if (ARGV[i] ~ /\.md$/)
			continue
		r = room_of(ARGV[i])
		if (!(r in holds))
			room_list[++n_rooms] = r
		holds[r] = holds[r] " " ARGV[i]
	}
}

FNR == 1 {
	page = FILENAME ~ /\.md$/
	room = FILENAME
	if (page)
		sub(/\/README\.md$/, "", room)
	else
		room = room_of(room)
	test = is_of_tests(FILENAME)
	allowed = test ? part[part_of(room)] : room "/ " (room in arrow ? arrow[room] : "")
}

page && FNR == 1 && /^#/ && (room in arrow) && room !~ /^(conformance|tools)$/ && index($0, "# " room ": ") != 1 {
	complain(FILENAME ":1: the heading must begin with \"# " room ": \"")
}
page && /^May include: / { claim[room] = substr($0, 14) }
page && /^\|/ { read_names() }
page { next }
/^[ \t]*#[ \t]*include/ && match($0, /["<][^">]*[">]/) { judge_include(substr($0, RSTART, RLENGTH)) }

END {
	for (i = 1; i <= n_rooms; i++)
		judge_room(room_list[i])
	judge_arrows()
	for (unit in needs)
		sources[++n_sources] = unit
	sorted(sources, n_sources)
	for (i = 1; i <= n_sources; i++)
		if (!(sources[i] in seen))
			visit(sources[i], needs)
	if (bad) {
		print "layers: " bad " of " total " includes or pages break the order"
		exit 1
	}
	print "layers: " total " includes follow the arrows"
}

# SPDX-License-Identifier: Apache-2.0
# Read call graphs of gcc and print the longest chain below each function in `starts`. Run by chain.sh, with circles.awk.
#
# A group of functions that call each other in a circle counts as many as it has members. Groups are found in the order callee
# before caller, so one visit gives all lengths.

# A function is called NAME, and FILE:NAME if it is static. An ellipse is a function of another file or library.
/^node:/ && !/shape : ellipse/ { defined[$2] = 1 }
/^edge:/ { calls[$2] = calls[$2] " " $4 }

function circle_found(members, size,    i, j, n, to, longest)
{
	for (i = 1; i <= size; i++) {
		n = split(calls[members[i]], to, " ")
		# Only functions outside of this group have a length yet.
		for (j = 1; j <= n; j++)
			if (to[j] in chain_length && chain_length[to[j]] > chain_length[longest])
				longest = to[j]
	}
	for (i = 1; i <= size; i++) {
		below[members[i]] = longest
		chain_length[members[i]] = (members[i] in defined ? size : 0) + chain_length[longest]
		group[members[1]] = group[members[1]] (i > 1 ? ", " : "") members[i]
		leader[members[i]] = members[1]
	}
}

function show(name)
{
	for (; name != ""; name = below[name])
		print "           " group[leader[name]]
}

END {
	n = split(starts, start, " ")
	for (i = 1; i <= n; i++) {
		if (!(start[i] in defined)) {
			print "budget: there is no function " start[i] " in cni/ and lib/: name the start of the chain in tools/chain.sh"
			bad = 1
			continue
		}
		visit(start[i], calls)
		length_here = chain_length[start[i]]
		printf "chain    %s: %d functions\n", start[i], length_here
		if (verbose == 1 || length_here > most)
			show(start[i])
		if (length_here > most) {
			print "budget: the longest chain below " start[i] " has " length_here " functions, allowed " most
			bad = 1
		}
	}
	exit bad
}

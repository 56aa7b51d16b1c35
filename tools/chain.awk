# SPDX-License-Identifier: Apache-2.0
# Read call graphs of gcc and print the longest chain below each function in `starts`. Run by chain.sh.
#
# Functions that call each other in a circle are a group (Tarjan's strongly connected components). A group counts as many
# as it has members. Groups are complete in the order callee before caller, so one visit gives all lengths.

# A function is called NAME, and FILE:NAME if it is static. An ellipse is a function of another file or library.
/^node:/ && !/shape : ellipse/ { defined[$2] = 1 }
/^edge:/ { calls[$2] = calls[$2] "\"" $4 }

function visit(name,    n, to, i, member, size, longest)
{
	seen[name] = low[name] = ++count
	stack[++top] = name
	on_stack[name] = 1
	n = split(substr(calls[name], 2), to, "\"")
	for (i = 1; i <= n; i++) {
		if (!(to[i] in defined))
			continue
		if (!(to[i] in seen))
			visit(to[i])
		if (on_stack[to[i]] && low[to[i]] < low[name])
			low[name] = low[to[i]]
		# Only functions outside of this group have a length yet.
		if (to[i] in chain_length && chain_length[to[i]] > chain_length[below[name]])
			below[name] = to[i]
	}
	if (low[name] != seen[name])
		return
	# The group is what is on the stack, down to its first function.
	for (i = top; ; i--) {
		size++
		if (chain_length[below[stack[i]]] > chain_length[longest])
			longest = below[stack[i]]
		if (stack[i] == name)
			break
	}
	do {
		member = stack[top--]
		on_stack[member] = 0
		below[member] = longest
		chain_length[member] = size + chain_length[longest]
		group[name] = group[name] (group[name] == "" ? "" : ", ") member
		leader[member] = name
	} while (member != name)
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
		visit(start[i])
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

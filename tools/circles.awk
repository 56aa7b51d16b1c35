# SPDX-License-Identifier: Apache-2.0
# The circles of a graph: its strongly connected components (Tarjan). For awk -f circles.awk -f PROGRAM.
#
# graph[NODE] are the nodes that it leads to, separated by spaces. The program defines circle_found(members, size). It is called
# once for each group of nodes that reach each other, and for each other node alone. A group is found after all groups that it
# leads to.

function visit(node, graph,    n, to, i, members, size)
{
	seen[node] = low[node] = ++visited
	stack[++top] = node
	on_stack[node] = 1
	n = split(graph[node], to, " ")
	for (i = 1; i <= n; i++) {
		if (!(to[i] in seen))
			visit(to[i], graph)
		if (on_stack[to[i]] && low[to[i]] < low[node])
			low[node] = low[to[i]]
	}
	if (low[node] != seen[node])
		return
	# The group is what is on the stack, down to its first node.
	do {
		members[++size] = stack[top--]
		on_stack[members[size]] = 0
	} while (members[size] != node)
	circle_found(members, size)
}

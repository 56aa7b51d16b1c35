# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A shared pool becomes a pool with slices on each node, under living pods.

BLOCKS='{"name":"rail0","subnet":"10.92.0.0/24","blockSize":8,"warm":1,"cooldown":0}'
LEAVING=$(jq -c '. + {state:"leaving",slice:{size:16}}' <<<"$BLOCKS")

# outside NODE NUMBER: pods of the node whose addresses are not in slice NUMBER
outside()
{
	ctl "$1" ipam lease list --json | jq -r --argjson n "$2" '.[] |
		select((.address | split(".")[3] | tonumber / 16 | floor) != $n) | .pod'
}
# gave_blocks_back NODE: the cluster store has no block in the name of the node
gave_blocks_back() { [ "$(ctl n1 cluster pool list --by-node --json | jq --arg n "$1" '[.pools[].byNode[]? | select(.node == $n)] | length')" = 0 ]; }
from() { ctl "$1" ipam pool list --json | jq -r '.[] | select(.name == "rail0") | .from'; }
is_from() { [ "$(from "$1")" = "$2" ]; }
# in_slice NODE NUMBER POD: a new pod of the node gets an address of that slice
in_slice()
{
	eventually added "$1" "$3" rail0
	local last=${ADDRESS%/*}
	last=${last##*.}
	eq "slice of $3 on $1" "$((last / 16))" "$2"
}
# waits_for NODE: no other node has something to do
waits_for() { [ "$(ctl n1 cluster pool show rail0 --json | jq -r '[.nodes[] | select(.state != "done") | .name] | join(" ")')" = "$1" ]; }
# leaving [SECONDS]: the exit status of waiting for all nodes
leaving() { ctl n1 cluster pool apply --wait "${1-$LIMIT}" - <<<"$LEAVING"; }
# shared_with_pods: each node has its number, a pod in its slice, one outside of it, and one anywhere
shared_with_pods()
{
	local i
	cluster_begin
	shared rail0 "$BLOCKS"
	for ((i = 1; i <= NODES; i++)); do
		is "number of n$i" ctl "n$i" ipam node set "$i"
		POD_IP=10.92.0.$((16 * i + 3)) eventually added "n$i" "in$i" rail0
		POD_IP=10.92.0.$((200 + 8 * i)) eventually added "n$i" "out$i" rail0
		eventually added "n$i" "any$i" rail0
	done
	leases_of_pods >"$W/before"
}
# end_outside NODE NUMBER
end_outside()
{
	local pod
	for pod in $(outside "$1" "$2"); do del "$1" "$pod" rail0; done
}

# No pod loses or shares its address. Pods outside of the slices are named until they end.
test_leave_blocks_become_slices()
{
	local i result
	shared_with_pods
	isnt "close at once" ctl n1 cluster pool close rail0
	has "close at once" "$(<"$W/is")" '"state": "leaving"'
	isnt "leaving" leaving 5
	for i in 1 2 3; do has "leaving" "$(<"$W/is")" "node n$i has not taken over pool rail0:"; done
	has "leaving" "$(<"$W/is")" "outside of slice 2 (10.92.0.32-10.92.0.47): "
	isnt "close" ctl n2 cluster pool close rail0
	has "close" "$(<"$W/is")" "nodes are not in their slices: n1 ("
	has "show" "$(ctl n1 cluster pool show rail0)" "(ns/out3)"
	has "list" "$(ctl n1 cluster pool list)" leaving
	eq "leases" "$(leases_of_pods)" "$(<"$W/before")"
	for i in 1 2 3; do in_slice "n$i" "$i" "new$i"; done
	unique
	# A pod that lives is the same to its runtime.
	POD=out1 cni_on n1 ADD out1 rail0
	result=$(ctl n1 ipam lease list --json | jq -r '.[] | select(.pod == "out1") | .address')
	eq "address of out1" "$result" 10.92.0.208
	for i in 1 2; do end_outside "n$i" "$i"; done
	eventually waits_for n3
	isnt "close" ctl n1 cluster pool close rail0
	has "close" "$(<"$W/is")" "(ns/out3)"
	hasnt "close" "$(<"$W/is")" "ns/out1"
	end_outside n3 3
	is "leaving" leaving
	leases_of_pods >"$W/before"
	is "close" ctl n1 cluster pool close --wait "$LIMIT" rail0
	has "close" "$(<"$W/is")" "Shared pool rail0 is closed"
	eq "leases" "$(leases_of_pods)" "$(<"$W/before")"
	for i in 1 2 3; do
		eq "where the pool of n$i is from" "$(from "n$i")" node
		is "records of n$i" ctl "n$i" ipam verify
		gave_blocks_back "n$i" || fail "a block of n$i is left: $(ctl n1 cluster pool list --by-node)"
		in_slice "n$i" "$i" "newer$i"
	done
	is "close again" ctl n1 cluster pool close rail0
	has "close again" "$(<"$W/is")" "was closed already"
	isnt "back" ctl n1 cluster pool apply - <<<"$BLOCKS"
	has "back" "$(<"$W/is")" "it is closed"
	is "delete" ctl n2 cluster pool delete rail0
	for i in 1 2 3; do
		del "n$i" "newer$i" rail0
		in_slice "n$i" "$i" "last$i"
		is "records of n$i" ctl "n$i" ipam verify
	done
	unique
	pings last1 "${ADDRESS%/*}"
}

# A node without pods outside has said so. While its agent is away it assigns addresses of its slice.
test_leave_a_node_that_is_away_when_the_pool_is_closed()
{
	local i
	shared_with_pods
	isnt "leaving" leaving 2
	for i in 1 2 3; do end_outside "n$i" "$i"; done
	is "leaving" leaving
	agent_kill n3
	is "close" ctl n1 cluster pool close rail0
	for i in 1 2; do eventually is_from "n$i" node; done
	in_slice n3 3 more3
	for i in 1 2; do in_slice "n$i" "$i" "more$i"; done
	unique
	eq "where the pool of n3 is from" "$(from n3)" cluster
	eventually waits_for n3
	isnt "delete" ctl n1 cluster pool delete rail0
	has "delete" "$(<"$W/is")" "nodes have not left its blocks: n3"
	agent_begin n3
	eventually is_from n3 node
	# A node that is new has nothing to leave.
	node_begin 4
	agent_begin n4
	eventually is_from n4 node
	refused n4 p4 rail0 7 "has no number"
	is "number of n4" ctl n4 ipam node set 4
	in_slice n4 4 p4
	eventually ctl n1 cluster pool delete rail0
	for i in 1 2 3 4; do
		in_slice "n$i" "$i" "last$i"
		is "records of n$i" ctl "n$i" ipam verify
	done
	NODES=4 unique
}

# Agents are killed at any time between the steps, and begin again.
test_leave_with_agents_that_are_killed()
{
	local i k close
	shared_with_pods
	for k in 1 2 3; do
		leaving 1 >/dev/null 2>&1 &
		agent_kill "n$k"
		wait $!
		agent_begin "n$k"
		eq "leases" "$(leases_of_pods)" "$(<"$W/before")"
	done
	for i in 1 2 3; do end_outside "n$i" "$i"; done
	is "leaving" leaving
	leases_of_pods >"$W/before"
	ctl n1 cluster pool close rail0 >/dev/null 2>&1 &
	close=$!
	for k in 2 3 1 2; do
		agent_kill "n$k"
		agent_begin "n$k"
	done
	wait "$close"
	eventually ctl n1 cluster pool close --wait 5 rail0
	eq "leases" "$(leases_of_pods)" "$(<"$W/before")"
	for i in 1 2 3; do
		eq "where the pool of n$i is from" "$(from "n$i")" node
		eventually gave_blocks_back "n$i"
		in_slice "n$i" "$i" "new$i"
		is "records" ctl "n$i" ipam verify
	done
	is "delete" ctl n1 cluster pool delete rail0
	unique
}

# The numbers are wrong, so the pool stays with its blocks until they are right.
test_leave_nodes_without_a_number_of_their_own()
{
	local i
	cluster_begin
	shared rail0 "$BLOCKS"
	for i in 1 2 3; do add "n$i" "p$i" rail0; done
	leases_of_pods >"$W/before"
	for i in 1 2; do is "number" ctl "n$i" ipam node set 1; done
	for i in 1 2; do del "n$i" "p$i" rail0; done
	isnt "leaving" leaving 5
	has "leaving" "$(<"$W/is")" "node n1 has not taken over pool rail0: node n2 has its number 1, too"
	has "leaving" "$(<"$W/is")" "node n2 has not taken over pool rail0: node n1 has its number 1, too"
	has "leaving" "$(<"$W/is")" "n3 has no number"
	isnt "close" ctl n1 cluster pool close rail0
	refused n3 no3 rail0 7 "has no number"
	isnt "number" ctl n2 ipam node set 2
	has "number" "$(<"$W/is")" "slice 1 is that of this node"
	is "number" ctl n3 ipam node set 3
	is "back" ctl n1 cluster pool apply --wait "$LIMIT" - <<<"$BLOCKS"
	is "number" ctl n2 ipam node set 2
	# As before: addresses of any block.
	POD_IP=10.92.0.250 eventually added n2 far rail0
	isnt "leaving" leaving 5
	has "leaving" "$(<"$W/is")" "(ns/far)"
	del n2 far rail0
	end_outside n3 3
	is "leaving" leaving
	is "close" ctl n1 cluster pool close --wait "$LIMIT" rail0
	for i in 1 2 3; do in_slice "n$i" "$i" "new$i"; done
	unique
}

# Several nodes have a part of one block. Only one of them can use it before the blocks end.
test_leave_slices_that_are_smaller_than_blocks()
{
	local i
	BLOCKS=$(jq -c '.blockSize = 64' <<<"$BLOCKS")
	LEAVING=$(jq -c '.blockSize = 64' <<<"$LEAVING")
	cluster_begin
	shared rail0 "$BLOCKS"
	for i in 1 2 3; do
		is "number" ctl "n$i" ipam node set "$i"
		add "n$i" "p$i" rail0
	done
	isnt "leaving" leaving 2
	for i in 1 2 3; do end_outside "n$i" "$i"; done
	in_slice n2 2 first
	ip netns add p3-new
	eventually is_full n3 p3-new rail0
	has "message" "$OUT" "only addresses of its slice, 10.92.0.48-10.92.0.63"
	is "leaving" leaving
	is "close" ctl n1 cluster pool close --wait "$LIMIT" rail0
	for i in 1 2 3; do in_slice "n$i" "$i" "new$i"; done
	unique
}

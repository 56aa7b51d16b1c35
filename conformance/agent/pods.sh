# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Pods of several nodes on one shared pool.

RAIL='{"subnet":"10.92.0.0/24","blockSize":8,"warm":1}'

test_pods_of_two_nodes_reach_each_other()
{
	cluster_begin
	shared rail0 "$RAIL"
	add n1 p1 rail0
	local first=$ADDRESS
	add n2 p2 rail0
	[ "$first" != "$ADDRESS" ] || fail "two pods have $first"
	pings p1 "${ADDRESS%/*}"
	unique
	del n1 p1 rail0
	del n2 p2 rail0
	eq "leases" "$(leases n1)$(leases n2)" ""
}

# Blocks of one address: each pod of a node needs a block of its own, and the pool fits exactly.
test_pods_fill_a_pool_to_its_last_address()
{
	local i
	cluster_begin
	shared rail0 '{"subnet":"10.92.0.0/28","blockSize":1,"warm":0}'
	for ((i = 0; i < 14; i++)); do add "n$((i % NODES + 1))" "p$i" rail0; done
	unique
	eq "addresses" "$(for ((i = 1; i <= NODES; i++)); do leases "n$i"; done | wc -l)" 14
	# The answers of all owners may take longer than one ADD waits: then it says 11, and the runtime tries again.
	ip netns add last
	eventually is_full n1 last rail0
	has "message" "$OUT" "full"
	del n2 p1 rail0
}

# An agent that is dead delays no pod, because warm addresses are on the node already.
test_pods_find_warm_addresses()
{
	cluster_begin
	shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":4}'
	eventually has_spare n1 rail0 4
	agent_end n1
	add n1 p1 rail0
	del n1 p1 rail0
	agent_begin n1
	agent_kill n1
	add n1 p1 rail0
	del n1 p1 rail0
}
# A block without pods goes back after `idle` seconds: the node keeps what is wanted ahead.
test_pods_leave_idle_blocks_that_go_back()
{
	local i
	NODES=1 cluster_begin
	NODES=1 shared rail0 '{"subnet":"10.92.0.0/24","blockSize":2,"warm":1,"idle":1,"cooldown":0}'
	for ((i = 0; i < 6; i++)); do add n1 "p$i" rail0; done
	[ "$(blocks_of n1 rail0)" -ge 3 ] || fail "$(blocks_of n1 rail0) blocks for 6 pods"
	for ((i = 0; i < 6; i++)); do del n1 "p$i" rail0; done
	eventually has_blocks n1 rail0 1
	add n1 p0 rail0
	del n1 p0 rail0
}
# Free addresses in blocks that other nodes use are no help: the error says how many they are, and who has the blocks.
test_pods_of_a_full_pool_hear_who_has_its_blocks()
{
	local i
	cluster_begin
	shared rail0 '{"subnet":"10.92.0.0/24","ranges":["10.92.0.8-10.92.0.19"],"blockSize":4,"warm":0,"cooldown":0}'
	for ((i = 1; i <= 3; i++)); do add "n$i" "p$i" rail0; done
	for ((i = 4; i <= 6; i++)); do add n1 "p$i" rail0; done
	ip netns add last
	eventually is_full n1 last rail0
	has "message" "$OUT" "pool rail0 is full"
	has "detail" "$OUT" "free or cool down in blocks of other nodes: 6"
	for ((i = 1; i <= 3; i++)); do has "detail" "$OUT" "n$i has 1"; done
	# The last pod of a block ends: the block comes to the node that needs it.
	del n3 p3 rail0
	eventually added n1 last rail0
	unique
}
blocks_of() { ctl "$1" ipam blocks "$2" --json | jq length; }
has_blocks() { [ "$(blocks_of "$1" "$2")" = "$3" ]; }
is_full()
{
	cni_on "$1" ADD "$2" "$3"
	[ "$RC $(jq -r .code <<<"$OUT")" = "1 101" ]
}

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
# Free addresses in blocks that other nodes use are lent. Then the pool is full, and the error says who has the blocks.
test_pods_of_a_full_pool_hear_who_has_its_blocks()
{
	local i
	cluster_begin
	shared rail0 '{"subnet":"10.92.0.0/24","ranges":["10.92.0.8-10.92.0.19"],"blockSize":4,"warm":0,"cooldown":0}'
	for ((i = 1; i <= 3; i++)); do add "n$i" "p$i" rail0; done
	for ((i = 4; i <= 12; i++)); do eventually added n1 "p$i" rail0; done
	ip netns add last
	eventually is_full n1 last rail0
	has "message" "$OUT" "pool rail0 is full"
	for ((i = 1; i <= 3; i++)); do has "detail" "$OUT" "n$i has 1"; done
	# A pod ends: its address is lent to the node that needs it.
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

# subnets NODE: those of its leases, as "10.92.0"
subnets() { leases "$1" | sed 's/\.[0-9]*$//' | sort -u | paste -sd' '; }
pools_of_blocks() { ctl "$1" ipam blocks --json | jq -r '[.[].pool] | unique | join(" ")'; }

# plan_of_rail RAIL: its pools for two leaf groups, as `railctl cluster plan` makes them, with another label
plan_of_rail()
{
	jq -n --argjson r "$1" '[range(2) as $g | "10.92.\(8 * $r + $g)" as $net | {name: "rail\($r)-g\($g)", subnet: "\($net).0/24",
		ranges: ["\($net).32-\($net).223"], gateway: "\($net).1", blockSize: 32, warm: 32, nodes: {leaf: ["g\($g)"]},
		routes: [{dst: "10.92.\(8 * $r).0/21", gw: "\($net).1"}, {dst: "10.92.0.0/20", gw: "\($net).1", priority: (1000 + $r)}]}]'
}
# A plan for two leaf groups: n1 is in the first one, the other nodes are in the second. One network serves all nodes: either it has a
# list of pools, and labels alone decide, or it has the pattern that the plan prints.
test_pods_of_a_plan_are_in_the_subnet_of_their_leaf_group()
{
	local i group pool nic=(- 10.92.0.2 10.92.1.2 10.92.1.3)
	cluster_begin
	for i in 0 1; do plan_of_rail "$i" >"$W/plan$i.json"; done
	for ((i = 1; i <= NODES; i++)); do
		group=$((i > 1))
		ip -n "n$i" addr add "${nic[i]}/24" dev rail0 || give_up "the NIC of n$i"
		is "label" ctl "n$i" ipam node label "leaf=g$group"
	done
	for i in 0 1; do eventually ctl n1 cluster pool apply "$W/plan$i.json"; done
	for ((i = 1; i <= NODES; i++)); do
		group=$((i > 1))
		# Each node keeps a block of each rail ahead, of its own leaf group only.
		for pool in "rail0-g$group" "rail1-g$group"; do eventually has_spare "n$i" "$pool" 32; done
		POOLS='"pools":["rail0-g0","rail0-g1"]' add "n$i" "a$i" -
		POOLS='"pools":"rail0-*","matchMaster":true' add "n$i" "b$i" -
		eq "subnets of n$i" "$(subnets "n$i")" "10.92.$group"
		eq "pools of the blocks of n$i" "$(pools_of_blocks "n$i")" "rail0-g$group rail1-g$group"
		add "n$i" "c$i" "rail1-g$group"
		refused "n$i" "d$i" "rail0-g$((1 - group))" 7 "n$i has leaf=g$group"
	done
	unique
	pings b2 "$(leases n3 | head -n 1)"
}

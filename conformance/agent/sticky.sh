# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Addresses that move with their pods: a StatefulSet's pod ends on one node and starts on another one.

STICKY='"subnet":"10.93.0.0/28","blockSize":1,"sticky":true'

# moved NODE CONTAINER POD ADDRESS: the pod starts there, and gets this address. Its old node may have to give it up first.
moved()
{
	POD=$3 eventually added "$1" "$2" rail0
	eq "address of $3 on $1" "$ADDRESS" "$4"
}
block_name() { printf "rail0-%032x" $((10 << 24 | 93 << 16 | $1)); } # LAST BYTE

test_sticky_a_pod_moves_with_its_address()
{
	local first
	cluster_begin
	shared rail0 "{$STICKY}"
	POD=web-0 add n1 a0 rail0
	first=$ADDRESS
	POD=web-1 add n1 a1 rail0
	[ "$ADDRESS" != "$first" ] || fail "two pods have $first"
	POD=web-0 del n1 a0 rail0
	POD=web-2 add n2 b2 rail0
	moved n2 b0 web-0 "$first"
	POD=web-0 del n2 b0 rail0
	moved n1 c0 web-0 "$first"
	unique
}

test_sticky_a_pod_that_lives_elsewhere_is_named()
{
	cluster_begin
	shared rail0 "{$STICKY}"
	POD=web-0 add n1 a0 rail0
	POD=web-0 refused n2 b0 rail0 11 "address ${ADDRESS%/*} is held by pod ns/web-0 on node n1"
	# A new sandbox, before the old one is gone.
	POD=web-0 refused n1 c0 rail0 11 "is held by pod ns/web-0 on node n1"
	POD=web-0 del n1 a0 rail0
	moved n2 b0 web-0 "$ADDRESS"
}

test_sticky_the_address_of_a_dead_node_moves()
{
	local first
	cluster_begin
	shared rail0 "{$STICKY}"
	POD=web-0 add n3 a0 rail0
	first=$ADDRESS
	may_reclaim n3 >/dev/null || give_up "the right to reclaim"
	reclaim_begin n2
	may_stay n3 "it is off for good, with the leases on its disk"
	node_dies n3 a0
	POD=web-0 refused n1 b0 rail0 11 "cluster node forget n3"
	is "forget" ctl n1 cluster node forget n3
	moved n1 b0 web-0 "$first"
}

test_sticky_a_full_pool_ends_the_oldest_parked_address()
{
	local first
	NODES=2 cluster_begin
	NODES=2 shared rail0 "{$STICKY,\"ranges\":[\"10.93.0.1-10.93.0.2\"]}"
	POD=web-0 add n1 a0 rail0
	first=$ADDRESS
	POD=web-0 del n1 a0 rail0
	eventually is_parked n1
	# The ages of parked addresses have seconds.
	sleep 1.1
	POD=web-1 add n1 a1 rail0
	POD=web-1 del n1 a1 rail0
	eventually is_parked n1
	POD=web-2 add n2 a2 rail0
	eq "the address of web-2" "$ADDRESS" "$first"
	moved n2 a1 web-1 10.93.0.$((3 - ${first:8:1}))/28
	POD=web-0 refused n1 a0 rail0 101 "is full"
}
is_parked() { [ "$(blocks_of "$1" rail0)" = 0 ]; }

test_sticky_an_address_is_parked_as_long_as_the_pool_says()
{
	NODES=1 cluster_begin
	NODES=1 shared rail0 "{$STICKY,\"stickyKeep\":2}"
	POD=web-0 add n1 a0 rail0
	POD=web-0 del n1 a0 rail0
	eventually no_block "$(block_name "$(cut -d. -f4 <<<"${ADDRESS%/*}")")"
}
no_block() { [ -z "$(engine_value blocks "$1")" ]; }

# The pool has two addresses, and both wait for pods: one for a pod of a node whose agent is away.
test_sticky_a_pool_that_is_sticky_no_more_has_all_addresses()
{
	local pool='"subnet":"10.93.0.0/29","ranges":["10.93.0.2-10.93.0.3"],"blockSize":1,"cooldown":0'
	NODES=2 cluster_begin
	NODES=2 shared rail0 "{$pool,\"sticky\":true}"
	POD=web-0 add n1 a0 rail0
	POD=web-1 add n2 b0 rail0
	POD=web-0 del n1 a0 rail0
	POD=web-1 del n2 b0 rail0
	eventually is_parked n1
	eventually is_parked n2
	agent_kill n2
	is "not sticky" ctl n1 cluster pool apply - <<<"{\"name\":\"rail0\",$pool}"
	eventually added n1 c0 rail0
	eventually added n1 c1 rail0
	eq "leases" "$(leases n1 | tr '\n' ' ')" "10.93.0.2 10.93.0.3 "
	agent_begin n2
}

# The agent ends at each step of a move. The next agent finds and completes what the last one left.
test_sticky_agents_are_killed_at_a_move()
{
	local i first
	NODES=2 cluster_begin
	NODES=2 shared rail0 "{$STICKY}"
	POD=web-0 add n1 a0 rail0
	first=$ADDRESS
	for ((i = 0; i < 4; i++)); do
		agent_kill n$((1 + i % 2))
		POD=web-0 del n$((1 + i % 2)) a0 rail0
		POD=web-0 refused n$((2 - i % 2)) a0 rail0 11 "held by pod ns/web-0"
		agent_kill n$((2 - i % 2))
		agent_begin n1
		agent_begin n2
		moved n$((2 - i % 2)) a0 web-0 "$first"
	done
}

test_sticky_a_pod_without_a_name_gets_no_address()
{
	NODES=1 cluster_begin
	NODES=1 shared rail0 "{$STICKY}"
	ip netns add p1
	ipam_alone n1 p1 rail0
	eq "code" "$RC $(jq -r .code <<<"$OUT")" "1 7"
	has "message" "$OUT" "the runtime names no pod"
}

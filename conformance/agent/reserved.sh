# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Addresses that the cluster reserves: no pool of any node assigns them.

RESERVED='{"subnet":"10.92.0.0/28","blockSize":4,"warm":0,"cooldown":0}'
# has_reserved NODE POOL RANGES: the node has this with the definition of the pool, as JSON
has_reserved() { [ "$(ctl "$1" ipam pool show "$2" --json | jq -c '.clusterReserved // []')" = "$3" ]; }
# everywhere POOL RANGES: all nodes have it
everywhere()
{
	local i
	for ((i = 1; i <= NODES; i++)); do eventually has_reserved "n$i" "$1" "$2"; done
}
# fill NODE POOL: pods until the pool is full; prints how many
fill()
{
	local i
	for ((i = 1; i < 40; i++)); do
		eventually add_ends "$1" "$1-p$i" "$2"
		[ "$RC" = 0 ] || break
	done
	eq "code of the last ADD" "$(jq -r .code <<<"$OUT")" 101
	N=$((i - 1))
}
# add_ends NODE POD POOL: with an address, or because the pool is full
add_ends() { added "$@" || [ "$(jq -r .code <<<"$OUT")" = 101 ]; }

# 14 addresses, a block of 4 and one more reserved: the blocks are on one node, so that it can use all.
test_reserved_addresses_are_left_out_of_blocks()
{
	NODES=1 cluster_begin
	is "reserve" ctl n1 cluster reserved add 10.92.0.4-10.92.0.7 10.92.0.9 10.99.0.0/24
	is "show" ctl n1 cluster reserved show
	eq "show" "$(<"$W/is")" $'10.92.0.4/30\n10.92.0.9\n10.99.0.0/24'
	NODES=1 shared rail0 "$RESERVED"
	has_reserved n1 rail0 '["10.92.0.4/30","10.92.0.9"]' || fail "the pool: $(ctl n1 ipam pool show rail0 --json)"
	fill n1 rail0
	eq "addresses" "$N" 9
	eq "reserved ones" "$(leases n1 | grep -cE '^10\.92\.0\.([4-7]|9)$')" 0
	eq "blocks" "$(ctl n1 ipam blocks rail0 --json | jq -c '[.[].first] | sort')" '["10.92.0.0","10.92.0.12","10.92.0.8"]'
	eq "capacity" "$(ctl n1 ipam pool show rail0 --json | jq -c '[.capacity,.reserved]')" "[9,5]"
	eq "in the cluster" "$(ctl n1 cluster pool list --json | jq -c '.pools[0] | [.addresses,.reserved,.inBlocks,.allBlocks]')" "[9,5,9,3]"
	# Pods get the other addresses at once.
	is "a part" ctl n1 cluster reserved remove 10.92.0.9 10.92.0.6-10.92.0.7
	eq "show" "$(ctl n1 cluster reserved show --json | jq -c .ranges)" '["10.92.0.4/31","10.99.0.0/24"]'
	everywhere_one rail0 '["10.92.0.4/31"]'
	eventually added n1 q1 rail0
	eventually added n1 q2 rail0
	eventually added n1 q3 rail0
	eq "their addresses" "$(leases n1 | grep -cE '^10\.92\.0\.(6|7|9)$')" 3
}
everywhere_one() { NODES=1 everywhere "$@"; }

# The old definition holds, but no pod gets what is reserved meanwhile.
test_reserved_addresses_reach_a_pool_whose_new_generation_is_refused()
{
	NODES=1 cluster_begin
	is "the pool" engine_object pools rail0 "$RESERVED"
	eventually knows n1 rail0
	is "nothing is left" engine_object pools rail0 "$(jq -c '.excludes = [.subnet]' <<<"$RESERVED")"
	eventually pool_is n1 .refused 'no address is left'
	is "reserve" ctl n1 cluster reserved add 10.92.0.4-10.92.0.7 10.92.0.9
	eventually has_reserved n1 rail0 '["10.92.0.4/30","10.92.0.9"]'
	fill n1 rail0
	eq "addresses" "$N" 9
	eq "reserved ones" "$(leases n1 | grep -cE '^10\.92\.0\.([4-7]|9)$')" 0
}

# A change counts on a node once the node says so. One whose agent is away is named.
test_reserved_addresses_are_waited_for()
{
	cluster_begin
	shared rail0 "$RESERVED"
	is "reserve" ctl n1 cluster reserved add --wait "$LIMIT" 10.92.0.4
	has "reserve" "$(<"$W/is")" "All nodes have taken over the reserved addresses: 3."
	eq "nodes that have it" "$(for i in 1 2 3; do has_reserved "n$i" rail0 '["10.92.0.4"]' && echo "n$i"; done | tr '\n' ' ')" "n1 n2 n3 "
	agent_kill n3
	isnt "a node is away" ctl n1 cluster reserved add --wait 3 10.92.0.5
	has "a node is away" "$(<"$W/is")" "node n3 has not taken over the reserved addresses"
	# The command does not wait for a heartbeat that does not move. The change was made before.
	eventually silent_is_named
	agent_begin n3
	eventually agent_is n3 .health ok
	is "wait" ctl n1 cluster reserved add --wait "$LIMIT" 10.92.0.5
	has "wait" "$(<"$W/is")" $'Nothing has changed.\nAll nodes have taken over the reserved addresses: 3.'
	is "remove" ctl n2 cluster reserved remove --json --wait "$LIMIT" 10.92.0.4-10.92.0.5
	eq "states" "$(jq -c '[.nodes[].state]' "$W/is")" '["done","done","done"]'
	isnt "a wrong number" ctl n1 cluster reserved add --wait soon 10.92.0.6
	eq "a wrong number changes nothing" "$(ctl n1 cluster reserved show --json | jq -c .ranges)" "[]"
}
silent_is_named()
{
	ctl n1 cluster reserved add --wait 1 10.92.0.5 >"$W/is" 2>&1
	grep -q 'node n3 has not taken over the reserved addresses: its heartbeat does not move' "$W/is"
}

# Exactly as many as are left, whichever nodes take them.
test_reserved_addresses_are_assigned_by_no_node()
{
	local i all=0
	cluster_begin
	shared rail0 '{"subnet":"10.92.0.0/28","blockSize":1,"warm":0,"cooldown":0}'
	shared rail1 '{"subnet":"10.93.0.0/28","blockSize":4,"warm":0,"cooldown":0}'
	is "reserve" ctl n2 cluster reserved add 10.92.0.3-10.92.0.9 10.93.0.2
	everywhere rail0 '["10.92.0.3-10.92.0.9"]'
	everywhere rail1 '["10.93.0.2"]'
	for ((i = 1; i <= NODES; i++)); do
		if [ "$i" -lt "$NODES" ]; then
			add "n$i" "n$i-one" rail0
			all=$((all + 1))
		else
			fill "n$i" rail0
			all=$((all + N))
		fi
	done
	eq "addresses" "$all" 7
	eq "reserved ones" "$(for ((i = 1; i <= NODES; i++)); do leases "n$i"; done | grep -cE '^10\.92\.0\.[3-9]$')" 0
	unique
	POD_IP=10.93.0.2 refused n1 p2 rail1 7 "not among its addresses"
}

test_reserved_a_living_pod_keeps_its_address()
{
	local ip
	NODES=2 cluster_begin
	NODES=2 shared rail0 "$RESERVED"
	eventually added n1 p1 rail0
	ip=${ADDRESS%/*}
	is "no conflicts" ctl n1 ipam conflicts
	is "reserve" ctl n2 cluster reserved add "$ip"
	NODES=2 everywhere rail0 "[\"$ip\"]"
	eq "leases" "$(leases n1)" "$ip"
	eventually conflicts_are n1 '.reserved[] | [.pool,.first,.podCount,(.pods[] | .namespace,.pod,.interface,.address)]' \
		"[\"rail0\",\"$ip\",1,\"ns\",\"p1\",\"net1\",\"$ip\"]"
	isnt "exit status" ctl n1 ipam conflicts
	has "line" "$(<"$W/is")" "ns/p1 net1 $ip: pool rail0, reserved $ip-$ip"
	eventually logged n1 "address $ip of pool rail0 is reserved now, and pod ns/p1 keeps it"
	is "the other node" ctl n2 ipam conflicts
	# Without the agent, the node's own store says it.
	agent_kill n1
	isnt "without an agent" ctl n1 ipam conflicts
	has "without an agent" "$(<"$W/is")" "ns/p1 net1 $ip"
	agent_begin n1
	eventually added n2 p2 rail0
	pings p2 "$ip"
	del n1 p1 rail0
	is "the pod is gone" ctl n1 ipam conflicts
	eventually added n1 p3 rail0
	[ "${ADDRESS%/*}" != "$ip" ] || fail "the reserved address $ip was assigned again"
}

# The node has them with its pools: neither a new agent nor an ADD needs the store.
test_reserved_addresses_hold_while_the_store_is_away()
{
	NODES=1 cluster_begin
	NODES=1 shared rail0 '{"subnet":"10.92.0.0/28","blockSize":16,"warm":1,"cooldown":0}'
	eventually has_spare n1 rail0 14
	is "reserve" ctl n1 cluster reserved add 10.92.0.1-10.92.0.12
	NODES=1 everywhere rail0 '["10.92.0.1-10.92.0.12"]'
	engine kill
	agent_kill n1
	agent_begin n1
	add n1 p1 rail0
	add n1 p2 rail0
	eq "leases" "$(leases n1 | tr '\n' ' ')" "10.92.0.13 10.92.0.14 "
	POD_IP=10.92.0.5 refused n1 p3 rail0 7 "not among its addresses"
	[ -e /run/netns/p4 ] || ip netns add p4
	cni_on n1 ADD p4 rail0
	[ "$RC" != 0 ] || fail "a reserved address was assigned: $OUT"
	isnt "a change" ctl n1 cluster reserved remove 10.92.0.5
	engine start
	eventually agent_is n1 .contact true
	eventually ctl n1 cluster reserved remove 10.92.0.5
	eventually added n1 p4 rail0
	eq "address" "${ADDRESS%/*}" 10.92.0.5
}

test_reserved_ranges_that_are_none_are_refused()
{
	NODES=1 cluster_begin
	isnt "no range" ctl n1 cluster reserved add 10.92.0.1 10.92.0.300
	has "no range" "$(<"$W/is")" 'add[1]: 10.92.0.300 is not "address", "first-last" or "network/len"'
	isnt "in a wrong order" ctl n1 cluster reserved add 10.92.0.9-10.92.0.1
	eq "ranges" "$(ctl n1 cluster reserved show --json | jq -c .ranges)" "[]"
	is "one" ctl n1 cluster reserved add 10.92.0.1
	is "again" ctl n1 cluster reserved add 10.92.0.1
	has "again" "$(<"$W/is")" "Nothing has changed."
	# Another program writes a wrong order. The last ranges stay, and all say why.
	is "by hand" engine_object reserved cluster '{"ranges":["10.92.0.9-10.92.0.1"]}'
	eventually agent_is n1 '.reserved.why // "" | contains("reserved.ranges[0]: 10.92.0.9-10.92.0.1 is written backwards")' true
	NODES=1 shared rail0 "$RESERVED"
	eventually has_reserved n1 rail0 '["10.92.0.1"]'
	isnt "a change" ctl n1 cluster reserved add 10.92.0.2
	has "a change" "$(<"$W/is")" "repair the object first"
	is "repaired" engine_object reserved cluster '{"ranges":["10.92.0.2"]}'
	eventually has_reserved n1 rail0 '["10.92.0.2"]'
}

# A pod that has ended keeps no claim to an address that is reserved meanwhile: it gets another one.
test_reserved_a_sticky_pod_gets_another_address()
{
	local first
	NODES=2 cluster_begin
	NODES=2 shared rail0 '{"subnet":"10.92.0.0/28","blockSize":1,"sticky":true,"warm":0,"cooldown":0}'
	POD=web-0 eventually added n1 a0 rail0
	first=${ADDRESS%/*}
	POD=web-0 del n1 a0 rail0
	is "reserve" ctl n1 cluster reserved add "$first"
	NODES=2 everywhere rail0 "[\"$first\"]"
	POD=web-0 eventually added n2 b0 rail0
	[ "${ADDRESS%/*}" != "$first" ] || fail "the reserved address $first was assigned again"
	POD=web-0 del n2 b0 rail0
	POD=web-0 eventually added n1 c0 rail0
	[ "${ADDRESS%/*}" != "$first" ] || fail "the reserved address $first was assigned again"
}

# Interfaces of the nodes have addresses of the pool. No node assigns them, also while the node that has one is away.
test_reserved_addresses_of_the_nodes_themselves()
{
	local ip
	cluster_begin
	ip -n n1 addr add 10.92.0.1/28 dev rail0
	ip -n n2 addr add 10.92.0.5/28 dev rail0
	ip -n n2 addr add 10.99.9.5/24 dev rail0
	shared rail0 "$RESERVED"
	everywhere rail0 '["10.92.0.1","10.92.0.5"]'
	eq "objects" "$(engine_value reserved n1 | jq -c .ranges) $(engine_value reserved n2 | jq -c .ranges)" '["10.92.0.1"] ["10.92.0.5"]'
	eq "in the cluster" "$(ctl n3 cluster pool list --json | jq -c '.pools[0] | [.addresses,.reserved]')" "[12,2]"
	eq "of a node without one" "$(engine_value reserved n3 2>/dev/null)" ""
	eventually added n3 p1 rail0
	POD_IP=10.92.0.1 refused n1 p2 rail0 7 "not among its addresses"
	agent_kill n2
	# A node that comes later has the address of a pod: the pod keeps it, and is named where it lives.
	ip=${ADDRESS%/*}
	is "no conflicts" ctl n3 ipam conflicts
	ip -n n1 addr add "$ip/32" dev rail0
	eventually conflicts_are n3 '.reserved[] | [.pool,.podCount,(.pods[] | .namespace,.pod,.address)]' "[\"rail0\",1,\"ns\",\"p1\",\"$ip\"]"
	isnt "exit status" ctl n3 ipam conflicts
	eventually logged n3 "address $ip of pool rail0 is an address of node n1 now, and pod ns/p1 keeps it"
	fill n3 rail0
	eq "addresses of nodes" "$(leases n3 | grep -cE '^10\.92\.0\.(1|5)$')" 0
	eq "all others" "$N" 11
	# It takes it off again: the agent there says so.
	ip -n n1 addr del "$ip/32" dev rail0
	eventually ctl n3 ipam conflicts
	agent_begin n2
	everywhere rail0 '["10.92.0.1","10.92.0.5"]'
}

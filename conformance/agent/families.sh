# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Shared pools of IPv6 addresses, and pods with an address of each family.

V4='{"subnet":"10.92.0.0/24","blockSize":8,"warm":1,"cooldown":0}'
V6='{"subnet":"fd00:92::/64","blockSize":8,"warm":1,"cooldown":0}'
BOTH='"pools":["rail0","rail6"]'

# got FAMILY: the address of family 4 or 6 in the result of the last ADD
got() { jq -r --argjson six "$([ "$1" = 6 ] && echo true || echo false)" '.ips[].address | select(contains(":") == $six) | split("/")[0]' <<<"$OUT"; }
# leases_of NODE PART: the number of its leases whose address begins so
leases_of() { leases "$1" | grep -c "^$2"; }

# Each pod has one address of each pool, and each node has blocks of both.
test_families_pods_of_two_nodes_reach_each_other_over_both()
{
	local POOLS=$BOTH first4 first6 second6 i
	NODES=2 cluster_begin
	NODES=2 shared rail0 "$V4"
	NODES=2 shared rail6 "$V6"
	for i in n1 n2; do
		eventually has_spare "$i" rail0 1
		eventually has_spare "$i" rail6 1
	done
	add n1 p1 -
	first4=$(got 4) first6=$(got 6)
	add n2 p2 -
	second6=$(got 6)
	has "the address" "$first6 $(got 6)" "fd00:92:"
	[ "$first4" != "$(got 4)" ] && [ "$first6" != "$(got 6)" ] || fail "two pods have $first4 or $first6"
	pings p1 "$(got 4)"
	pings p1 "$(got 6)"
	pings p2 "$first4"
	pings p2 "$first6"
	# The agents and the cluster store are not on this path.
	engine kill
	add n1 p3 -
	pings p3 "$second6"
	engine start
	eq "leases of n1" "$(leases_of n1 10.92.) $(leases_of n1 fd00:)" "2 2"
	NODES=2 unique
	del n1 p1 -
	del n1 p3 -
	del n2 p2 -
	eq "leases" "$(leases n1)$(leases n2)" ""
}

# An ADD that finds no address of one family keeps none of the other one.
test_families_a_full_pool_of_one_family_leaves_the_other_alone()
{
	local POOLS=$BOTH
	NODES=1 cluster_begin
	NODES=1 shared rail0 '{"subnet":"10.92.0.0/24","ranges":["10.92.0.2-10.92.0.3"],"blockSize":2,"warm":0,"cooldown":0}'
	NODES=1 shared rail6 "$V6"
	add n1 p1 -
	add n1 p2 -
	ip netns add p3
	eventually is_full n1 p3 -
	has "message" "$OUT" "rail0"
	eq "leases" "$(leases_of n1 10.92.) $(leases_of n1 fd00:)" "2 2"
	del n1 p1 -
	eventually added n1 p3 -
}

# Seven addresses in two blocks: the first one of an IPv6 subnet is not assigned. The last ones are lent by the other node.
test_families_an_IPv6_pool_is_used_to_its_last_address()
{
	local i
	NODES=2 cluster_begin
	NODES=2 shared rail6 '{"subnet":"fd00:92::/125","blockSize":4,"warm":0,"cooldown":0}'
	add n1 p1 rail6
	add n2 p2 rail6
	for ((i = 3; i <= 7; i++)); do
		ip netns add "p$i"
		eventually added n1 "p$i" rail6
	done
	pings p2 "${ADDRESS%/*}"
	ip netns add last
	eventually is_full n1 last rail6
	eq "leases" "$(leases n1 | wc -l) $(leases n2 | wc -l)" "6 1"
	NODES=2 unique
	del n2 p2 rail6
	eventually added n1 last rail6
}

# As in nodes.sh, by neighbour discovery in place of ARP.
test_families_an_IPv6_address_of_a_taken_block_is_probed()
{
	NODES=2 cluster_begin
	NODES=2 shared rail6 '{"subnet":"fd00:92::/125","blockSize":8,"ranges":["fd00:92::1-fd00:92::2"],"warm":0,"cooldown":0}'
	taken_block "rail6-fd000092000000000000000000000000"
	ip addr add fd00:92::1/125 dev fabric nodad
	ip netns add p1
	ipam_alone n1 p1 rail6
	eq "without a probe" "$RC $(jq -r .code <<<"$OUT")" "1 101"
	cni_on n1 ADD p1 rail6
	eq "code" "$RC $(jq -r .code <<<"$OUT")" "1 109"
	has "message" "$OUT" "fd00:92::1 is in use by"
	add n1 p1 rail6
	eq "address" "$ADDRESS" fd00:92::2/125
	eq "marks in the result" "$(jq -c '.ips[0] | has("probe")' <<<"$OUT")" false
}

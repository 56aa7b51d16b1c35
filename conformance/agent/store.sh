# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The cluster store goes away, comes back, and forgets.

# The network is not on the path of an ADD that finds an address.
test_store_killed_and_pods_start_all_the_same()
{
	cluster_begin
	shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":1}'
	add n1 p1 rail0
	engine kill
	add n1 p2 rail0
	del n1 p1 rail0
	eventually agent_is n1 .contact false
	engine start
	eventually agent_is n1 .contact true
	eventually has_spare n2 rail0 1
	add n2 p3 rail0
	unique
}

# An ADD that needs a block says that the store is away, before the runtime's patience ends.
test_store_away_and_no_address_left()
{
	local i
	cluster_begin
	# Two pods fill each block: the ranges leave out the first and the last address of the subnet.
	shared rail0 '{"subnet":"10.92.0.0/24","ranges":["10.92.0.2-10.92.0.253"],"blockSize":2,"warm":0}'
	add n1 p1 rail0
	add n1 p2 rail0
	engine kill
	refused n1 p3 rail0 11 "cluster store"
	engine start
	eventually added n1 p3 rail0
	unique
}

# A node that is cut off goes on; one that has no address left waits until the wire is back.
test_store_cut_off_from_one_node()
{
	cluster_begin
	shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":1}'
	add n1 p1 rail0
	ip link set n1-eth0 down
	eventually agent_is n1 .contact false
	add n1 p2 rail0
	add n2 p3 rail0
	ip link set n1-eth0 up
	eventually agent_is n1 .contact true
	unique
}

# The copy has none of the blocks: each node claims its own again, and no address has two owners.
test_store_restored_from_an_older_copy()
{
	local node
	cluster_begin
	shared rail0 '{"subnet":"10.92.0.0/28","blockSize":4,"warm":0}'
	engine save
	eventually agent_is n1 .contact true
	eventually agent_is n2 .contact true
	eventually added n1 p1 rail0
	eventually added n2 p2 rail0
	engine restore
	eventually agent_is n1 .contact true
	eventually agent_is n2 .contact true
	eventually has_block_of n1 p1
	eventually has_block_of n2 p2
	eventually added n3 p3 rail0
	unique
	pings p1 "${ADDRESS%/*}"
	for node in n1 n2; do is "conflicts of $node" ctl "$node" ipam conflicts; done
}
# has_block_of NODE POD: by the cluster store, the block of the pod's address is the node's
has_block_of()
{
	local address
	address=$(awk -v pod="$1/$2" '$2 == "begin" && $4 == pod { print $3 }' "$W/history" | tail -n 1)
	blocks_in_store "$1" | grep -qx "rail0-0*$(printf %x $(((10 << 24 | 92 << 16 | ${address##*.}) & ~3)))"
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Pods that request a certain address of a shared pool.

FIXED='{"subnet":"10.92.0.0/26","gateway":"10.92.0.1","reserved":["10.92.0.62"],"blockSize":4,"warm":1,"cooldown":0}'
block_node() # ADDRESS: the node that has the block starting there, as the nodes say
{
	local i
	for ((i = 1; i <= NODES; i++)); do
		ctl "n$i" ipam blocks rail0 --json | jq -e --arg a "$1" 'any(.[]; .first == $a and .state == "granted")' >/dev/null && echo "n$i"
	done
}
# add_ip NODE POD ADDRESS: it must get just this address
add_ip()
{
	POD_IP=$3 add "$1" "$2" rail0
	eq "address of $2" "${ADDRESS%/*}" "$3"
}
added_ip() { POD_IP=$3 added "$1" "$2" rail0; }

test_fixed_address_of_a_free_block_is_claimed()
{
	cluster_begin
	shared rail0 "$FIXED"
	add_ip n1 p1 10.92.0.41
	eq "block" "$(block_node 10.92.0.40)" n1
	# Beside it: the node has the block now.
	add_ip n1 p2 10.92.0.42
	POD_IP=10.92.0.41 refused n1 p3 rail0 103 "is held by container p1"
	# Addresses that are never assigned are refused at once.
	POD_IP=10.92.0.1 refused n2 p4 rail0 7 "is the gateway of pool rail0"
	POD_IP=10.92.0.62 refused n2 p4 rail0 7 "not among its addresses"
	unique
	del n1 p1 rail0
	del n1 p2 rail0
}

test_fixed_address_of_an_empty_block_is_handed_over()
{
	cluster_begin
	shared rail0 "$FIXED"
	add_ip n1 p1 10.92.0.21
	del n1 p1 rail0
	eq "block" "$(block_node 10.92.0.20)" n1
	add_ip n2 p2 10.92.0.22
	eq "block" "$(block_node 10.92.0.20)" n2
	add_ip n2 p3 10.92.0.21
	unique
	pings p2 10.92.0.21
}

test_fixed_address_of_a_block_in_use_names_the_node()
{
	cluster_begin
	shared rail0 "$FIXED"
	add_ip n1 p1 10.92.0.21
	POD_IP=10.92.0.21 refused n2 p2 rail0 103 "block of node n1, which uses 1 of its addresses"
	# Never another address, and the same pod gets one if it requests none.
	eq "leases" "$(leases n2)" ""
	add n2 p2 rail0
	# A free address of the block is lent.
	add_ip n2 p3 10.92.0.22
	POD_IP=10.92.0.21 refused n3 p4 rail0 103 "block of node n1, which uses 2 of its addresses"
	unique
}

test_fixed_address_of_a_silent_node_names_it()
{
	cluster_begin
	shared rail0 "$FIXED"
	add_ip n1 p1 10.92.0.21
	del n1 p1 rail0
	agent_kill n1
	POD_IP=10.92.0.22 refused n2 p2 rail0 103 "block of node n1, which did not give it up"
	# The ask was taken back, so that the block is still the first node's.
	add_ip n1 p3 10.92.0.22
	agent_begin n1
	eventually added_ip n2 p2 10.92.0.25
	unique
}

test_fixed_addresses_are_for_some_namespaces()
{
	cluster_begin
	shared rail0 "$(jq -c '.fixedNamespaces=["other"]' <<<"$FIXED")"
	POD_IP=10.92.0.22 refused n1 p1 rail0 106 'namespace \"ns\" may not request a certain address'
	add n1 p1 rail0
	shared rail0 "$(jq -c '.fixedNamespaces=["other","ns"]' <<<"$FIXED")"
	del n1 p1 rail0
	eventually added_ip n1 p1 10.92.0.22
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# An administrator deletes blocks under living pods.

owner_is() { [ "$(block_owner "$1")" = "$2" ]; }
# has_again NODE BLOCK...: by the store. The node may have claimed more of them meanwhile.
has_again()
{
	local block
	for block in "${@:2}"; do owner_is "$block" "$1" || return; done
}

# No other node needs the block: its node makes it again, and goes on with its free addresses.
test_deleted_the_block_of_a_living_pod_is_claimed_again()
{
	local block
	NODES=2 cluster_begin
	NODES=2 shared rail0 '{"subnet":"10.92.0.0/28","blockSize":4,"warm":0,"cooldown":0}'
	eventually added n1 p1 rail0
	block=$(blocks_in_store n1)
	[[ $block == rail0-?* ]] || give_up "the block of n1: '$block'"
	is "delete" blocks_deleted "$block"
	eventually owner_is "$block" n1
	eventually added n1 p2 rail0
	eventually ctl n1 ipam conflicts
	eventually added n2 p3 rail0
	pings p1 "${ADDRESS%/*}"
	NODES=2 unique
}

# The node does not see it, because it is cut off, and another node needs an address.
test_deleted_the_block_of_a_living_pod_goes_to_another_node()
{
	NODES=2 cluster_begin
	NODES=2 shared rail0 '{"subnet":"10.92.0.0/29","blockSize":8,"warm":0,"cooldown":0}'
	eventually added n1 p1 rail0
	ip link set n1-eth0 down
	eventually agent_is n1 .contact false
	NODES=2 is "delete" blocks_deleted "$(blocks_in_store n1)"
	eventually added n2 p2 rail0
	may_overlap "$(leases n1)" "an administrator gave the block of a living pod away, and conflicts names it"
	ip link set n1-eth0 up
	eventually conflicts_are n1 '.blocks[] | [.pool,.first,.last,.state,.owner]' '["rail0","10.92.0.0","10.92.0.7","lost","n2"]'
	eq "pods" "$(conflicts n1 '[.blocks[0].podCount, (.blocks[0].pods[] | .namespace, .pod, .interface)]')" '[1,"ns","p1","net1"]'
	eventually logged n1 "the block from 10.92.0.0 to 10.92.0.7 is lost: node n2 has it"
	eq "metric" "$(gauge n1 block) $(gauge n2 block)" "1 0"
	del n1 p1 rail0
	eventually ctl n1 ipam conflicts
}

# Each node makes its own blocks again.
test_deleted_all_blocks_at_once_are_claimed_again()
{
	local i
	local -A before
	cluster_begin
	shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":1,"cooldown":0}'
	for ((i = 1; i <= NODES; i++)); do
		eventually has_spare "n$i" rail0 1
		add "n$i" "a$i" rail0
		before[n$i]=$(blocks_in_store "n$i" | xargs)
		[ -n "${before[n$i]}" ] || give_up "the blocks of n$i"
	done
	is "delete" blocks_deleted
	for ((i = 1; i <= NODES; i++)); do
		# shellcheck disable=SC2086
		eventually has_again "n$i" ${before[n$i]}
		eventually added "n$i" "b$i" rail0
		eventually ctl "n$i" ipam conflicts
	done
	pings a1 "${ADDRESS%/*}"
	unique
	for ((i = 1; i <= NODES; i++)); do
		del "n$i" "a$i" rail0
		del "n$i" "b$i" rail0
	done
}

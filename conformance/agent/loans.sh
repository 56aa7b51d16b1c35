# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Single addresses that a node lends to another one, when no block of the pool is free or empty.

# Three blocks of four addresses, one for each node.
LENT='{"subnet":"10.92.0.0/24","ranges":["10.92.0.8-10.92.0.19"],"blockSize":4,"warm":0,"cooldown":0}'
one_pod_each()
{
	local i
	cluster_begin
	shared rail0 "${1-$LENT}"
	for ((i = 1; i <= 3; i++)); do add "n$i" "p$i" rail0; done
}
# lent_by NODE: the addresses that it lends, and to whom. borrowed_by NODE: those that other nodes lend to it
lent_by() { ctl "$1" ipam blocks rail0 --json | jq -r '.[].lent[]? | "\(.address) \(.node)"' | sort; }
borrowed_by() { ctl "$1" ipam blocks rail0 --json | jq -r '.[] | select(.loan) | .first' | sort; }
lends() { [ "$(lent_by "$1" | wc -l)" = "$2" ]; }
borrows() { [ "$(borrowed_by "$1" | wc -l)" = "$2" ]; }

test_loans_fill_a_pool_to_its_last_address()
{
	local i
	one_pod_each
	for ((i = 4; i <= 12; i++)); do
		ip netns add "p$i"
		eventually added n1 "p$i" rail0
	done
	unique
	eq "addresses" "$(for ((i = 1; i <= 3; i++)); do leases "n$i"; done | wc -l)" 12
	eventually borrows n1 6
	eventually lends n2 3
	eventually lends n3 3
	# An owner that lends has no address left for its own pods.
	ip netns add last
	eventually is_full n2 last rail0
	has "message" "$OUT" "no node lends one"
	# The owner gets each address back, and can assign it again.
	for ((i = 4; i <= 12; i++)); do del n1 "p$i" rail0; done
	eventually lends n2 0
	eventually lends n3 0
	eventually borrows n1 0
	add n2 last rail0
	unique
	del n2 last rail0
}

test_loans_requested_address_of_a_block_in_use()
{
	one_pod_each
	local free
	free=$(comm -23 <(ctl n2 ipam blocks rail0 --json | jq -r '.[0].last') <(leases n2))
	POD_IP=$free added n1 x rail0
	eq "code" "$RC" 0
	eq "address" "$(leases n1 | grep -c -x "$free")" 1
	eventually lends n2 1
	eq "loan" "$(lent_by n2)" "$free n1"
	has "lender" "$(ctl n1 ipam blocks rail0)" "by n2"
	# Of the node that lends it, and of a third one: the pod that has it is elsewhere.
	POD_IP=$free refused n2 y rail0 103 "lent to node n1"
	POD_IP=$free refused n3 y rail0 103 "block of node n2"
	pings x "$(leases n2 | head -n 1)"
	del n1 x rail0
	eventually lends n2 0
	POD_IP=$free added n2 y rail0
	eq "code" "$RC" 0
	unique
}

# A pod that holds its address is not disturbed by an agent that restarts, be it the owner's or the borrower's.
test_loans_outlive_the_agents()
{
	one_pod_each
	local free
	free=$(ctl n2 ipam blocks rail0 --json | jq -r '.[0].last')
	POD_IP=$free added n1 x rail0
	eq "code" "$RC" 0
	agent_kill n2
	agent_kill n1
	agent_begin n2
	agent_begin n1
	eventually agent_is n2 .health ok
	eventually agent_is n1 .health ok
	eq "loan" "$(lent_by n2)" "$free n1"
	POD_IP=$free refused n2 y rail0 103 "lent to node n1"
	# While the agent of the owner is away the address is given back in the cluster only.
	agent_end n2
	del n1 x rail0
	eventually borrows n1 0
	eq "loan" "$(lent_by n2)" "$free n1"
	agent_begin n2
	eventually lends n2 0
	POD_IP=$free added n2 y rail0
	eq "code" "$RC" 0
	unique
}

test_loans_are_not_had_of_a_silent_node()
{
	local i
	one_pod_each
	agent_kill n2
	agent_kill n3
	for ((i = 4; i <= 6; i++)); do add n1 "p$i" rail0; done
	ip netns add last
	eventually is_full n1 last rail0
	for ((i = 1; i <= 3; i++)); do has "detail" "$OUT" "n$i has 1"; done
	POD_IP=$(ctl n2 ipam blocks rail0 --json | jq -r '.[0].last') refused n1 y rail0 103 "block of node n2, which did not give it up"
	agent_begin n2
	eventually added n1 last rail0
	unique
}

# The address rests at its borrower, then the owner has it again. An address that rests at its owner is not lent.
test_loans_cool_down_before_they_go_back()
{
	one_pod_each "$(jq -c '.cooldown=12' <<<"$LENT")"
	local free rests ended
	free=$(ctl n2 ipam blocks rail0 --json | jq -r '.[0].last')
	rests=$(leases n2)
	POD_IP=$free added n1 x rail0
	eq "code" "$RC" 0
	eventually lends n2 1
	ended=$SECONDS
	del n1 x rail0
	del n2 p2 rail0
	POD_IP=$rests refused n1 y rail0 103 "block of node n2"
	eventually lends n2 0
	((SECONDS - ended >= 11)) || fail "the loan came back after $((SECONDS - ended)) s"
	POD_IP=$free added n2 y rail0
	eq "code" "$RC" 0
	unique
}

# A pool that is deleted stays on lender and borrower until the loan came back.
test_loans_come_back_before_their_pool_ends()
{
	one_pod_each "$(jq -c '.cooldown=3' <<<"$LENT")"
	local i
	POD_IP=$(ctl n2 ipam blocks rail0 --json | jq -r '.[0].last') added n1 x rail0
	eq "code" "$RC" 0
	eventually lends n2 1
	for ((i = 1; i <= 3; i++)); do del "n$i" "p$i" rail0; done
	is "delete" ctl n1 cluster pool delete rail0
	eventually gone_from n3 rail0
	knows n2 rail0 || fail "n2 has forgotten the pool of its loan"
	eq "loans" "$(lent_by n2 | wc -l)" 1
	del n1 x rail0
	for ((i = 1; i <= 3; i++)); do eventually gone_from "n$i" rail0; done
	for ((i = 1; i <= 3; i++)); do is "records of n$i" ctl "n$i" ipam verify; done
}

# A node keeps a block as long as it lends an address of it.
test_loans_block_with_one_is_not_returned()
{
	one_pod_each "$(jq -c '.idle=1' <<<"$LENT")"
	local free
	free=$(ctl n2 ipam blocks rail0 --json | jq -r '.[0].last')
	POD_IP=$free added n1 x rail0
	eq "code" "$RC" 0
	del n2 p2 rail0
	# The block of n2 was empty before that of n3, which goes back.
	del n3 p3 rail0
	eventually has_blocks n3 rail0 0
	has_blocks n2 rail0 1 || fail "the block of n2 has gone"
	eq "loan" "$(lent_by n2)" "$free n1"
	del n1 x rail0
	eventually has_blocks n2 rail0 0
}

# The loan of a dead node is in a block of another one. An operator's word gives it back.
test_loans_of_a_dead_node_come_back()
{
	one_pod_each
	may_reclaim n3 >/dev/null || give_up "the right to reclaim"
	local free
	free=$(ctl n2 ipam blocks rail0 --json | jq -r '.[0].last')
	POD_IP=$free added n3 x rail0
	eq "code" "$RC" 0
	eventually lends n2 1
	may_stay n3 "it is off for good, with the leases on its disk"
	reclaim_begin n1
	node_dies n3 p3 x
	POD_IP=$free refused n2 y rail0 103 "lent to node n3"
	is "forget" ctl n1 cluster node forget n3
	eventually lends n2 0
	POD_IP=$free eventually added n2 y rail0
	eq "addresses of n2" "$(leases n2 | grep -c -x "$free")" 1
}

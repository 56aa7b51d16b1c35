# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What a node and the cluster store do not agree on is said: in the log, the metrics and `railctl ipam conflicts`.

# conflicts NODE FILTER: of the list
conflicts() { ctl "$1" ipam conflicts --json | jq -c "$2"; }
conflicts_are() { [ "$(conflicts "$1" "$2")" = "$3" ]; }
gauge() { on_node "$1" curl -s --unix-socket "$RUN/metrics.sock" http://localhost/metrics | sed -n "s/^railhead_conflicts{kind=\"$2\"} //p"; }
logged() { grep -qF -- "$2" "$W/node/$1/log"; }

# The pool has one block. While the agent of n1 is away the store forgets its claim, and a pod on n2 gets an address of the block.
test_conflicts_a_lost_block_and_its_pods_are_named()
{
	NODES=2 cluster_begin
	NODES=2 shared rail0 '{"subnet":"10.92.0.0/29","blockSize":8,"warm":0,"cooldown":0}'
	engine save
	eventually agent_is n1 .contact true
	is "no conflicts" ctl n1 ipam conflicts
	has "no conflicts" "$(<"$W/is")" "No conflicts."
	eventually added n1 p1 rail0
	agent_kill n1
	engine restore
	eventually added n2 p2 rail0
	agent_begin n1
	eventually conflicts_are n1 '.blocks[] | [.pool,.first,.last,.state,.owner]' '["rail0","10.92.0.0","10.92.0.7","lost","n2"]'
	eq "pods" "$(conflicts n1 '[.blocks[0].podCount, (.blocks[0].pods[] | .namespace, .pod, .interface, .container)]')" '[1,"ns","p1","net1","p1"]'
	eq "address" "$(conflicts n1 '.blocks[0].pods[0].address')" "\"$(leases n1)\""
	may_overlap "$(leases n1)" "after a restore, and conflicts names it"
	[[ $(conflicts n1 '.blocks[0].since') == \"20*Z\" ]] || fail "since: $(conflicts n1 .)"
	isnt "exit status" ctl n1 ipam conflicts
	has "line" "$(<"$W/is")" "ns/p1 net1 $(leases n1): pool rail0, block 10.92.0.0-10.92.0.7 lost, owner n2, since 20"
	eventually logged n1 "the block from 10.92.0.0 to 10.92.0.7 is lost: node n2 has it"
	eventually logged n1 "pods that live in it: ns/p1 (net1 $(leases n1))"
	eq "metric" "$(gauge n1 block) $(gauge n2 block)" "1 0"
	is "the owner" ctl n2 ipam conflicts
	# Without the agent, the node's own store.
	agent_kill n1
	isnt "without an agent" ctl n1 ipam conflicts
	has "without an agent" "$(<"$W/is")" " lost, owner not known,"
	has "without an agent" "$(<"$W/is")" "systemctl start railheadd"
	agent_begin n1
	del n1 p1 rail0
	eventually ctl n1 ipam conflicts
	eq "metric" "$(gauge n1 block)" 0
}

# Other programs than railctl write pools, too.
test_conflicts_pools_that_overlap_are_named()
{
	NODES=1 cluster_begin
	is "older" engine_object pools older '{"subnet":"10.92.0.0/24","blockSize":8}'
	eventually knows n1 older
	sleep 1.1 # Kubernetes has whole seconds
	is "newer" engine_object pools newer '{"subnet":"10.92.0.128/25","blockSize":8}'
	eventually conflicts_are n1 '.pools[] | [.name,.subnet,.older,.olderSubnet,.gives]' \
		'["newer","10.92.0.128/25","older","10.92.0.0/24","older"]'
	isnt "exit status" ctl n1 ipam conflicts
	has "line" "$(<"$W/is")" "newer: 10.92.0.128/25 overlaps 10.92.0.0/24 of the older pool older, since "
	eq "metric" "$(gauge n1 pool)" 1
	eventually added n1 p1 older
	is "delete" ctl n1 cluster pool delete newer
	eventually ctl n1 ipam conflicts
	eq "metric" "$(gauge n1 pool)" 0
}

# numbered NODE NUMBER: for its slices
numbered() { is "node set" ctl "$1" ipam node set "$2"; }
numbers_are() { conflicts_are "$1" '[.numbers[] | [.number,.node]]' "$2"; }

# The pools are ordinary ones with slices: the cluster store has none. n2 gets the number later, so it sees n1 at once.
test_conflicts_nodes_with_one_number_are_named()
{
	local node
	NODES=2 cluster_begin
	for node in n1 n2; do
		is "pool add" ctl $node ipam pool add sliced --subnet 10.92.0.0/24 --slice /28 --cooldown 0
	done
	numbered n1 3
	eventually node_is n1 .number 3
	numbered n2 3
	eventually numbers_are n2 '[[3,"n1"]]'
	isnt "exit status" ctl n2 ipam conflicts
	has "line" "$(<"$W/is")" "3 is also the number of node n1, since 20"
	has "log" "$(<"$W/node/n2/log")" "node n1 has the number 3 of this node, too"
	eq "metric" "$(gauge n2 number)" 1
	# Its next agent lists the nodes, too.
	agent_kill n1
	agent_begin n1
	eventually numbers_are n1 '[[3,"n2"]]'
	# Both see that the number has changed, without a restart.
	numbered n2 4
	for node in n1 n2; do
		eventually numbers_are $node '[]'
		is "no conflicts" ctl $node ipam conflicts
		eq "metric" "$(gauge $node number)" 0
	done
	is "list" ctl n1 cluster node list --json
	eq "numbers" "$(jq -c '[.nodes[] | .number]' "$W/is")" "[3,4]"
	eventually added n1 p1 sliced
	eq "n1 goes on in its slice" "$(leases n1)" 10.92.0.48
}
node_is() { [ "$(ctl n1 cluster node list --json | jq --arg n "$1" ".nodes[] | select(.name == \$n) | $2")" = "$3" ]; }

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# railctl cluster, and what the agent refuses.

test_commands_the_examples_of_help_work()
{
	local line
	NODES=1 cluster_begin
	mkdir -p "$W/files"
	jq -n '[{name:"rail0",subnet:"10.92.0.0/24",blockSize:8},{name:"rail1",subnet:"10.93.0.0/24",blockSize:8}]' >"$W/files/rails.json"
	"$BIN/railctl" help --json | jq -r '.[].examples[] | select(contains("railctl cluster"))' >"$W/examples"
	[ "$(wc -l <"$W/examples")" -ge 4 ] || fail "no examples"
	may_reclaim gpu-17 >/dev/null || give_up "the right to reclaim"
	while IFS= read -r line <&8; do
		[[ $line != *" forget "* ]] || is "a node without a heartbeat" engine_object nodes gpu-17 '{}' gpu-17
		is "$line" on_node n1 bash -c "cd $W/files && PATH=$BIN:\$PATH $line"
	done 8<"$W/examples"
}

test_commands_the_example_for_many_nodes()
{
	NODES=1 cluster_begin
	is "apply" ctl n1 cluster pool apply "$HERE/../../examples/many-nodes/shared.json"
	eventually knows n1 rail2
	add n1 p1 rail2
	has "the address" "$ADDRESS" "10.102."
	del n1 p1 rail2
}

test_commands_a_pool_keeps_its_subnet_and_block_size()
{
	NODES=1 cluster_begin
	NODES=1 shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8}'
	isnt "another blockSize" ctl n1 cluster pool apply - <<<'{"name":"rail0","subnet":"10.92.0.0/24","blockSize":16}'
	has "another blockSize" "$(<"$W/is")" "blockSize is 8 in the cluster and cannot become 16"
	isnt "another subnet" ctl n1 cluster pool apply - <<<'{"name":"rail0","subnet":"10.93.0.0/24","blockSize":8}'
	isnt "an overlap" ctl n1 cluster pool apply - <<<'{"name":"rail1","subnet":"10.92.0.128/25","blockSize":8}'
	has "an overlap" "$(<"$W/is")" "overlaps that of pool rail0"
	isnt "no blocks" ctl n1 cluster pool apply - <<<'{"name":"rail1","subnet":"10.94.0.0/25"}'
	has "no blocks" "$(<"$W/is")" "blockSize"
	isnt "an unknown key" ctl n1 cluster pool apply - <<<'{"name":"rail1","subnet":"10.94.0.0/25","blockSize":8,"warmm":1}'
	is "excludes may change" ctl n1 cluster pool apply - <<<'{"name":"rail0","subnet":"10.92.0.0/24","blockSize":8,"excludes":["10.92.0.9"]}'
}

# A pool of one leaf group: other nodes claim nothing of it, and say so.
test_commands_a_pool_for_some_nodes()
{
	local first
	NODES=2 cluster_begin
	is "a label" ctl n1 ipam node label leaf=g3
	NODES=2 shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"idle":3600,"cooldown":0,"nodes":{"leaf":"g3"}}'
	eventually has_spare n1 rail0 8
	add n1 p1 rail0
	has "the address" "$ADDRESS" "10.92.0."
	first=${ADDRESS%/*}
	refused n2 p2 rail0 7 "pool rail0 is for nodes with leaf=g3; node n2 has no label leaf"
	has "its state there" "$(ctl n2 cluster status)" "other nodes"
	has "blocks there" "$(ctl n2 ipam blocks --json)" "[]"
	is "the label moves" ctl n2 ipam node label leaf=g3
	is "the label moves" ctl n1 ipam node label leaf-
	eventually has_spare n2 rail0 8
	eventually added n2 p2 rail0
	pings p2 "$first"
	refused n1 p3 rail0 7 "node n1 has no label leaf"
	del n1 p1 rail0
	eventually has_no_blocks n1
	del n2 p2 rail0
}
has_no_blocks() { [ "$(ctl "$1" ipam blocks --json)" = "[]" ]; }

# The files of `pool rails` are what `cluster pool apply` takes, and pods get addresses of the leaf group.
test_commands_a_plan_for_rails()
{
	local name
	NODES=1 cluster_begin
	mkdir -p "$W/plan"
	is "plan" "$BIN/railctl" ipam pool rails --count 2 --nodes 4 --leaf 2 --supernet 10.80.0.0/20 --dir "$W/plan"
	is "apply" ctl n1 cluster pool apply "$W/plan/rail0.json"
	is "apply" ctl n1 cluster pool apply "$W/plan/rail1.json"
	is "apply again" ctl n1 cluster pool apply "$W/plan/rail0.json"
	for name in rail0-leaf0 rail0-leaf1 rail1-leaf0 rail1-leaf1; do
		eventually knows n1 "$name"
	done
	has "blocks before a pod" "$(ctl n1 ipam blocks --json)" "[]"
	add n1 p1 rail1-leaf1
	has "the address" "$ADDRESS" "10.80.8."
	has "where it is from" "$(ctl n1 ipam pool list --json | jq -c 'map([.name,.from]) | last')" '["rail1-leaf1","cluster"]'
	has "where it is from" "$(ctl n1 ipam pool show rail1-leaf1)" "From:           the cluster, generation"
	has "its usage" "$(ctl n1 ipam usage rail1-leaf1)" "pool rail1-leaf1, 1 block"
	del n1 p1 rail1-leaf1
}

# A pool that was deleted gives no new address; the pods that have one keep it, and DEL works.
test_commands_a_pool_is_deleted_under_a_pod()
{
	NODES=1 cluster_begin
	NODES=1 shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"idle":1,"cooldown":0}'
	add n1 p1 rail0
	is "delete" ctl n1 cluster pool delete rail0
	isnt "delete again" ctl n1 cluster pool delete rail0
	eq "leases" "$(leases n1)" "${ADDRESS%/*}"
	del n1 p1 rail0
	eventually gone_from n1 rail0
}
gone_from() { ! knows "$@"; }

# The pods of the old one keep their addresses. When the last one has gone, the node uses the new pool.
test_commands_a_pool_is_deleted_and_made_again()
{
	NODES=1 cluster_begin
	NODES=1 shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"idle":1,"cooldown":0}'
	add n1 p1 rail0
	is "delete" ctl n1 cluster pool delete rail0
	is "make again" ctl n1 cluster pool apply - <<<'{"name":"rail0","subnet":"10.93.0.0/24","blockSize":8,"warm":1,"cooldown":0}'
	eq "leases" "$(leases n1)" "${ADDRESS%/*}"
	del n1 p1 rail0
	eventually has_subnet n1 rail0 10.93.
	add n1 p2 rail0
	has "the address" "$ADDRESS" "10.93."
	del n1 p2 rail0
}
has_subnet() { ctl "$1" ipam blocks "$2" --json | grep -qF "$3"; }

# A pod of a node that is cut off has an address of the deleted pool: no other pool may have it.
test_commands_no_pool_is_made_on_blocks_of_a_deleted_one()
{
	cluster_begin
	shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":0,"cooldown":0}'
	add n2 p1 rail0
	ip link set n2-eth0 down
	is "delete" ctl n1 cluster pool delete rail0
	isnt "the same addresses" ctl n1 cluster pool apply - <<<'{"name":"rail1","subnet":"10.92.0.0/24","blockSize":4}'
	has "the same addresses" "$(<"$W/is")" "node n2 has block"
	isnt "another blockSize" ctl n1 cluster pool apply - <<<'{"name":"rail0","subnet":"10.92.0.0/24","blockSize":4}'
	is "others" ctl n1 cluster pool apply - <<<'{"name":"rail2","subnet":"10.93.0.0/24","blockSize":4}'
	ip link set n2-eth0 up
	del n2 p1 rail0
	eventually applied n1 '{"name":"rail1","subnet":"10.92.0.0/24","blockSize":4}'
	eventually added n3 p2 rail1
	unique
}

# People write pools without the command. Each node sees by itself that a node that is cut off has an address of the old one.
test_commands_a_pool_made_again_by_hand_waits_for_the_pods_of_the_old_one()
{
	cluster_begin
	shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":0,"cooldown":0}'
	add n2 p1 rail0
	ip link set n2-eth0 down
	is "delete" pool_gone rail0
	is "another one" engine_object pools rail1 '{"subnet":"10.92.0.0/24","blockSize":4,"warm":8,"cooldown":0}'
	eventually agent_is n1 '.pools[] | select(.name == "rail1") | .waits | contains("node n2 has block rail0-")' true
	refused n1 p2 rail1 7 "rail1 does not exist on node n1"
	refused n3 p3 rail1 7 "rail1 does not exist on node n3"
	ip link set n2-eth0 up
	eventually agent_is n2 .contact true
	refused n1 p2 rail1 7 "rail1 does not exist on node n1"
	del n2 p1 rail0
	eventually added n1 p2 rail1
	eventually added n3 p3 rail1
	unique
}
applied() { ctl "$1" cluster pool apply - <<<"$2"; }

# Two operators at the same time: at most one of the pools stays. None may stay: creation times can be equal, and a node may
# have a block of the pool that is deleted again. The refused operator tries once more.
test_commands_two_pools_at_the_same_time()
{
	local i first second
	cluster_begin
	for ((i = 0; i < 5; i++)); do
		ctl n1 cluster pool apply - <<<"{\"name\":\"a$i\",\"subnet\":\"10.9$i.0.0/24\",\"blockSize\":4}" >"$W/first" 2>&1 &
		first=$!
		ctl n2 cluster pool apply - <<<"{\"name\":\"b$i\",\"subnet\":\"10.9$i.0.0/24\",\"blockSize\":4}" >"$W/second" 2>&1 &
		second=$!
		wait "$first" && first=0
		wait "$second" && second=0
		[ "$first" != 0 ] || [ "$second" != 0 ] || fail "both pools a$i and b$i were made"
		[ "$first" = 0 ] || [ "$second" = 0 ] ||
			eventually applied n1 "{\"name\":\"a$i\",\"subnet\":\"10.9$i.0.0/24\",\"blockSize\":4}"
	done
}

# nodes NODE FILTER: of the list that its agent gives
nodes() { ctl "$1" cluster node list --json | jq -c ".nodes | $2"; }
nodes_are() { [ "$(nodes "$1" "$2")" = "$3" ]; }
test_commands_the_nodes_of_the_cluster()
{
	NODES=2 cluster_begin
	NODES=2 shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":0}'
	add n1 p1 rail0
	eventually nodes_are n1 'map([.name,.blocks,.thisNode,.forgotten,.heartbeat.twin,(.version|type)])' \
		'[["n1",1,true,false,false,"string"],["n2",0,false,false,false,"string"]]'
	eq "boot" "$(nodes n2 '.[0].boot')" "\"$(</proc/sys/kernel/random/boot_id)\""
	eq "holders" "$(nodes n2 'map(.holder|length)')" "[32,32]"
	is "table" ctl n2 cluster node list
	has "table" "$(tr -s ' ' <"$W/is")" "NODE HEARTBEAT BLOCKS STATE"
	has "table, each count of seconds as N" "$(tr -s ' ' <"$W/is" | sed 's/ [0-9]* s / N s /')" "n2 N s 0 this node "
	agent_kill n2
	eventually nodes_are n1 '(.[1].heartbeat.seconds >= 3) and (.[1].heartbeat.seconds > .[0].heartbeat.seconds)' true
	may_reclaim n2 >/dev/null || give_up "the right to reclaim"
	is "forget" ctl n1 cluster node forget n2
	eq "forgotten" "$(nodes n1 'map(.forgotten)')" "[false,true]"
	is "table" ctl n1 cluster node list
	has "table" "$(tr -s ' ' <"$W/is")" " s 0 forgotten "
	agent_begin n2
	eventually nodes_are n1 'map(.forgotten)' '[false,false]'
	is "a node without a heartbeat" engine_object nodes gpu-17 '{"version":"9"}' gpu-17
	eventually nodes_are n1 '.[0] | [.name,.heartbeat,.version,.blocks]' '["gpu-17",null,"9",0]'
}

test_commands_without_an_agent()
{
	NODES=1 cluster_begin
	agent_kill n1
	isnt "status" ctl n1 cluster status
	has "status" "$(<"$W/is")" "systemctl start railheadd"
}

test_commands_one_agent_runs_on_a_node()
{
	NODES=1 cluster_begin
	isnt "a second agent" on_node n1 timeout -s KILL "$LIMIT" "$BIN/railheadd"
	has "a second agent" "$(<"$W/is")" "another agent runs on this node"
	is "the first one" ctl n1 cluster status
}

# The second one does not even open the store of the node: the lock comes first.
test_commands_a_second_agent_changes_nothing()
{
	local before
	NODES=1 cluster_begin
	NODES=1 shared rail0 '{"subnet":"10.92.0.0/24","blockSize":4,"warm":2,"cooldown":0}'
	add n1 p1 rail0
	eventually has_spare n1 rail0 2
	before=$(ctl n1 ipam blocks --json)
	isnt "a second agent" on_node n1 timeout -s KILL "$LIMIT" "$BIN/railheadd"
	eq "blocks" "$(ctl n1 ipam blocks --json)" "$before"
	add n1 p2 rail0
	mv "$W/node/n1/lib/ipam" "$W/node/n1/lib/aside"
	isnt "a second agent" on_node n1 timeout -s KILL "$LIMIT" "$BIN/railheadd"
	[ ! -e "$W/node/n1/lib/ipam" ] || fail "the second agent made a store"
	mv "$W/node/n1/lib/aside" "$W/node/n1/lib/ipam"
	unique
}

test_commands_a_wrong_configuration_is_named()
{
	NODES=1 cluster_begin
	echo '{"etcd":{"endpoints":["http://10.99.0.1:2379"],"cert":"/c"}}' >"$W/node/n1/etc/railhead/other.json"
	isnt "half a certificate" on_node n1 timeout -s KILL "$LIMIT" "$BIN/railheadd" --config /etc/railhead/other.json
	has "half a certificate" "$(<"$W/is")" "other.json: etcd.key: is missing"
}

# state_in NODE POOL OTHER: what the agent of NODE says about OTHER in `pool show`
state_in() { ctl "$1" cluster pool show "$2" --json | jq -r --arg n "$3" '.nodes[] | select(.name == $n) | .state'; }
is_state() { [ "$(state_in "$1" "$2" "$3")" = "$4" ]; }

# A change counts on a node once the node says so. One whose agent is away is named.
test_commands_wait_until_all_nodes_have_taken_a_pool_over()
{
	local pool='{"name":"rail0","subnet":"10.92.0.0/24","blockSize":8,"warm":0'
	cluster_begin
	is "apply" ctl n1 cluster pool apply --wait "$LIMIT" - <<<"$pool}"
	has "apply" "$(<"$W/is")" "All nodes have taken over pool rail0: 3."
	is "show" ctl n2 cluster pool show rail0
	has "show" "$(<"$W/is")" "3 nodes have it, 0 wait, 0 are silent, 0 forgotten"
	agent_kill n3
	isnt "change" ctl n1 cluster pool apply --wait 3 - <<<"$pool,\"excludes\":[\"10.92.0.9\"]}"
	has "change" "$(<"$W/is")" "node n3 has not taken over pool rail0"
	eq "who has" "$(state_in n1 rail0 n1) $(state_in n1 rail0 n2)" "done done"
	eventually is_state n1 rail0 n3 silent
	# The command does not wait for a heartbeat that does not move.
	isnt "apply again" ctl n1 cluster pool apply --wait 3600 - <<<"$pool,\"excludes\":[\"10.92.0.9\"]}"
	has "apply again" "$(<"$W/is")" "node n3 has not taken over pool rail0: its heartbeat does not move"
	agent_begin n3
	is "wait" ctl n1 cluster pool apply --wait "$LIMIT" - <<<"$pool,\"excludes\":[\"10.92.0.9\"]}"
	isnt "a pool that is not there" ctl n1 cluster pool show rail9
	has "a pool that is not there" "$(<"$W/is")" "pool rail9: the cluster has none of this name"
	isnt "a wrong number" ctl n1 cluster pool apply --wait soon - <<<"$pool}"
}

pools_of() { ctl "$1" cluster pool list --json | jq -c "$2"; }
is_listed() { [ "$(pools_of "$1" "$2")" = "$3" ]; }

# The list has the whole cluster, and also what a deleted pool leaves.
test_commands_pools_are_listed()
{
	NODES=2
	cluster_begin
	eq "no pool" "$(pools_of n1 .)" '{"pools":[],"more":0}'
	shared rail0 '{"subnet":"10.92.0.0/24","ranges":["10.92.0.4-10.92.0.103"],"blockSize":8,"warm":1,"idle":3600,"cooldown":0}'
	eventually has_spare n1 rail0 1
	eventually has_spare n2 rail0 1
	eventually is_listed n2 '.pools[0] | [.name,.deleted,.addresses,.blocks,.nodes]' '["rail0",false,100,2,2]'
	eq "the nodes" "$(pools_of n1 '[.pools[0].byNode[] | [.node,.blocks]]')" '[["n1",1],["n2",1]]'
	eq "their sum" "$(pools_of n1 '.pools[0] | .inBlocks == ([.byNode[].inBlocks] | add)')" true
	is "table" ctl n1 cluster pool list
	has "table" "$(tr -s ' ' <"$W/is")" "POOL SUBNET ADDRESSES IN BLOCKS BLOCKS BLOCK SIZE NODES STATE"
	has "table" "$(tr -s ' ' <"$W/is")" "rail0 10.92.0.0/24 100 "
	is "by node" ctl n1 cluster pool list --by-node
	has "by node" "$(tr -s ' ' <"$W/is")" "rail0 n2 "
	add n1 p1 rail0
	is "delete" ctl n1 cluster pool delete rail0
	eventually is_listed n1 '.pools[0] | [.name,.deleted,.blocks,.definition]' '["rail0",true,1,null]'
	is "table" ctl n1 cluster pool list
	has "table" "$(tr -s ' ' <"$W/is")" "rail0 - - - 1 - 1 deleted"
	del n1 p1 rail0
	eventually is_listed n1 .pools '[]'
	engine kill
	isnt "without the cluster store" ctl n1 cluster pool list
	has "without the cluster store" "$(<"$W/is")" "pools: "
	engine start
}

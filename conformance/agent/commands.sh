# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# railctl cluster, and what the agent refuses.

test_commands_the_examples_of_help_work()
{
	local line
	NODES=1 cluster_begin
	mkdir -p "$W/files"
	jq -n '[{name:"rail0",subnet:"10.92.0.0/24",blockSize:8},{name:"rail1",subnet:"10.93.0.0/24",blockSize:8}]' >"$W/files/rails.json"
	cp "$HERE/../../examples/plan/fabric.yaml" "$W/files/"
	echo '{}' >"$W/files/labels.json"
	printf '%s\n' node=n1 state=ok >"$W/files/answers.txt"
	"$BIN/railctl" help --json | jq -r '.[].examples[] | select(contains("railctl cluster"))' >"$W/help"
	# Last, because others wait for all nodes.
	{ grep -v -e ' cluster fabric' -e ' cluster topology' "$W/help" && grep -e ' cluster fabric' -e ' cluster topology' "$W/help"; } >"$W/examples"
	[ "$(wc -l <"$W/examples")" -ge 4 ] || fail "no examples"
	may_reclaim gpu-17 >/dev/null || give_up "the right to reclaim"
	shared rail7 '{"subnet":"10.1.0.0/24","blockSize":8}'
	while IFS= read -r line <&8; do
		[[ $line != *" forget "* ]] || is "a node without a heartbeat" engine_object nodes gpu-17 '{}' gpu-17
		[ "$line" != "railctl cluster fabric" ] || three_alike
		is "$line" on_node n1 bash -c "cd $W/files && PATH=$BIN:\$PATH $line"
	done 8<"$W/examples"
}

three_alike()
{
	local node
	for node in gpu-14 gpu-15 gpu-16; do
		is "$node" engine_object nodes "$node" '{"rails":[{"rail":0,"interface":"eth1","chassis":"mac a"}]}' "$node"
	done
}
# diagnosis NODE NAME: its state
diagnosis() { ctl "$1" check --json | jq -r --arg d "$2" '.diagnoses[] | select(.name == $d) | .state'; }
diagnosis_is() { [ "$(diagnosis "$1" "$2")" = "$3" ]; }
test_commands_check_finds_an_agent_that_does_not_work()
{
	NODES=1 cluster_begin
	NODES=1 shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8}'
	eq "the agent" "$(diagnosis n1 "cluster status")" "ok"
	eq "no listener" "$(diagnosis n1 "cluster fabric")" "none"
	ctl n1 status >"$W/is"
	has "status" "$(tr -s ' ' <"$W/is")" "node: n1
agent: $("$BIN/railctl" version | cut -d ' ' -f 2), health ok
store: $STORE, with contact
pools: 1, the fullest on this node is rail0: "
	ip link set n1-eth0 down
	eventually diagnosis_is n1 "cluster status" fail
	ctl n1 check --json >"$W/check"
	eq "the finding" "$(jq -r '.findings[] | select(.check == "agent") | .code + " " + .value' "$W/check")" "agent-health cut-off"
	ctl n1 status >"$W/is"
	has "status" "$(tr -s ' ' <"$W/is")" "store: $STORE, without contact"
	agent_kill n1
	eq "without an agent" "$(diagnosis n1 "cluster status")" "unknown"
	eq "conflicts" "$(diagnosis n1 "ipam conflicts")" "unknown"
}

test_commands_the_example_for_many_nodes()
{
	NODES=1 cluster_begin
	is "apply" ctl n1 cluster pool apply "$HERE/../../examples/many-nodes/shared.json"
	eventually knows n1 rail1
	add n1 p1 rail1
	has "the address" "$ADDRESS" "10.201."
	del n1 p1 rail1
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
	# The object of n2 does not name the pool: one number says that it has taken it over.
	is "a change" ctl n1 cluster pool apply --wait "$LIMIT" - <<<'{"name":"rail0","subnet":"10.92.0.0/24","blockSize":8,"idle":3600,"cooldown":0,"nodes":{"leaf":"g3"},"excludes":["10.92.0.200"]}'
	has "a change" "$(<"$W/is")" "All nodes have taken over pool rail0: 2."
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

# The definition changes under living pods: a full pool gets more addresses, and then fewer than its pods have.
test_commands_a_pool_grows_and_shrinks_under_pods()
{
	local pool='{"name":"rail0","subnet":"10.92.0.0/24","blockSize":4,"warm":0,"idle":1,"cooldown":0' i
	local -A at
	NODES=1 cluster_begin
	NODES=1 shared rail0 "$pool,\"ranges\":[\"10.92.0.4-10.92.0.6\"]}"
	for i in 1 2 3; do
		add n1 "p$i" rail0
		at[${ADDRESS%/*}]=p$i
	done
	ip netns add p4
	eventually is_full n1 p4 rail0
	is "grow" ctl n1 cluster pool apply --wait "$LIMIT" - <<<"$pool,\"ranges\":[\"10.92.0.4-10.92.0.11\"]}"
	add n1 p4 rail0
	eq "the address of p4, in the same block" "$ADDRESS" 10.92.0.7/24
	add n1 p5 rail0
	[[ $ADDRESS =~ ^10\.92\.0\.(8|9|10|11)/ ]] || fail "the address of p5, in another block: $ADDRESS"
	is "shrink" ctl n1 cluster pool apply --wait "$LIMIT" - <<<"$pool,\"ranges\":[\"10.92.0.4-10.92.0.5\"]}"
	eq "leases" "$(leases n1 | wc -l)" 5
	has "the interface of p5" "$(ip -n p5 -brief address show net1)" "$ADDRESS"
	ip netns add p6
	eventually is_full n1 p6 rail0
	del n1 p5 rail0
	del n1 p4 rail0
	eventually is_full n1 p6 rail0
	del n1 "${at[10.92.0.4]}" rail0
	eventually added n1 p6 rail0
	eq "the address of p6" "$ADDRESS" 10.92.0.4/24
	eq "leases" "$(leases n1 | xargs)" "10.92.0.4 10.92.0.5 10.92.0.6"
}

# The namespace of the pod is compared before anything is claimed.
test_commands_a_pool_for_some_namespaces()
{
	NODES=1 cluster_begin
	NODES=1 shared others '{"subnet":"10.92.0.0/24","blockSize":8,"warm":0,"cooldown":0,"namespaces":["team-a"]}'
	NODES=1 shared ours '{"subnet":"10.93.0.0/24","blockSize":8,"warm":0,"cooldown":0,"namespaces":["team-a","ns"]}'
	refused n1 p1 others 106 "others"
	has "message" "$OUT" "ns"
	has_no_blocks n1 || fail "blocks: $(ctl n1 ipam blocks --json)"
	add n1 p1 ours
	has "the address" "$ADDRESS" "10.93.0."
	POOLS='"pools":["others","ours"]' add n1 p2 -
	has "the address in the second of two pools" "$ADDRESS" "10.93.0."
	eq "pools of blocks" "$(pools_of_blocks n1)" ours
	del n1 p1 ours
	POOLS='"pools":["others","ours"]' del n1 p2 -
}

# `pool import` makes a definition of a shared pool from the objects of others.
test_commands_imported_pools_are_applied()
{
	local file
	NODES=1 cluster_begin
	cat >"$W/objects.yaml" <<-'END'
	apiVersion: spiderpool.spidernet.io/v2beta1
	kind: SpiderIPPool
	metadata: {name: sp}
	spec: {subnet: 10.92.0.0/16, ips: [10.92.1.0-10.92.4.255], gateway: 10.92.0.1, namespaceName: [ns]}
	---
	apiVersion: spiderpool.spidernet.io/v2beta1
	kind: SpiderReservedIP
	metadata: {name: switches}
	spec: {ips: [10.92.1.0-10.92.1.15]}
	---
	apiVersion: nv-ipam.nvidia.com/v1alpha1
	kind: IPPool
	metadata: {name: nv, namespace: kube-system}
	spec: {subnet: 10.93.0.0/16, perNodeBlockSize: 32, gateway: 10.93.0.1}
	---
	apiVersion: k8s.cni.cncf.io/v1
	kind: NetworkAttachmentDefinition
	metadata: {name: wb}
	spec: {config: '{"cniVersion":"1.0.0","type":"macvlan","ipam":{"type":"whereabouts","range":"10.94.0.0/16"}}'}
	END
	is "import" "$BIN/railctl" ipam pool import "$W/objects.yaml" --dir "$W/imported"
	for file in sp nv wb; do
		is "apply $file" ctl n1 cluster pool apply --wait "$LIMIT" "$W/imported/$file.json"
		eventually added n1 "p-$file" "$file"
	done
	eq "networks" "$(leases n1 | cut -d. -f1,2 | sort -u | xargs)" "10.92 10.93 10.94"
	is "import" "$BIN/railctl" ipam pool import "$W/objects.yaml" --json
	jq .pools "$W/is" >"$W/all.json"
	is "apply all" ctl n1 cluster pool apply "$W/all.json"
	eq "reserved" "$(ctl n1 ipam pool show sp --json | jq -c .definition.reserved)" '["10.92.1.0-10.92.1.15"]'
	for file in sp nv wb; do del n1 "p-$file" "$file"; done
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
	refused n1 p2 rail1 11 "pool rail1: node n2 has block rail0-"
	refused n3 p3 rail1 11 "pool rail1: node n2 has block rail0-"
	ip link set n2-eth0 up
	eventually agent_is n2 .contact true
	refused n1 p2 rail1 11 "pool rail1: node n2 has block rail0-"
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
	has "a pool that is not there" "$(<"$W/is")" "pool rail9: the cluster has no pool of this name"
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
	has "table" "$(tr -s ' ' <"$W/is")" "POOL SUBNET ADDRESSES RESERVED IN BLOCKS BLOCKS BLOCK SIZE NODES STATE"
	has "table" "$(tr -s ' ' <"$W/is")" "rail0 10.92.0.0/24 100 0 "
	is "by node" ctl n1 cluster pool list --by-node
	has "by node" "$(tr -s ' ' <"$W/is")" "rail0 n2 "
	# The copy of docs/operations.md.
	ctl n1 cluster pool list --json | jq '[.pools[] | select(.definition) | {name} + .definition]' >"$W/pools"
	is "the copy" ctl n1 cluster pool apply --wait "$LIMIT" - <"$W/pools"
	has "the copy" "$(<"$W/is")" "Shared pool rail0 changed."
	add n1 p1 rail0
	is "delete" ctl n1 cluster pool delete rail0
	eventually is_listed n1 '.pools[0] | [.name,.deleted,.blocks,.definition]' '["rail0",true,1,null]'
	is "table" ctl n1 cluster pool list
	has "table" "$(tr -s ' ' <"$W/is")" "rail0 - - - - 1 - 1 deleted"
	del n1 p1 rail0
	eventually is_listed n1 .pools '[]'
	engine kill
	isnt "without the cluster store" ctl n1 cluster pool list
	has "without the cluster store" "$(<"$W/is")" "pools: "
	engine start
}

# shape: the keys of JSON, those of each element of an array once
shape() { jq -r '[paths | map(if type == "number" then "0" else . end) | join(".")] | unique | join(" ")'; }
# alike WHAT KEYS MORE COMMAND...: with POOL for the pool. The node's own pool has these keys, the shared one also MORE.
alike()
{
	local own shared
	own=$(ctl n1 "${@:4}" --json | jq "(if type == \"array\" and any(.[]; .name? or .pool?) then map(select((.name? // .pool) == \"own\")) else . end) | del(.. | .definition?)" | shape)
	shared=$(ctl n1 "${@:4}" --json | jq "(if type == \"array\" and any(.[]; .name? or .pool?) then map(select((.name? // .pool) == \"rail0\")) else . end) | del(.. | .definition?)" | shape)
	eq "$1: own" "$own" "$2"
	eq "$1: shared" "$shared" "$(tr ' ' '\n' <<<"$2 $3" | sed '/^$/d' | LC_ALL=C sort | paste -sd ' ')"
}
# Each command answers about a pool of the node and about a pool of the cluster in one form, whichever store the cluster has.
test_commands_of_ipam_are_alike_for_all_pools()
{
	local command
	NODES=2 cluster_begin
	NODES=2 shared rail0 '{"subnet":"10.92.0.0/28","blockSize":4,"warm":1,"cooldown":0}'
	is "own" ctl n1 ipam pool add own --subnet 10.50.0.0/24 --range 10.50.0.10-10.50.0.20
	eventually added n1 p1 rail0
	add n1 p2 own
	alike "pool list" "0 0.capacity 0.from 0.name 0.resting 0.used" "0.blocks 0.blocks.borrowed 0.blocks.granted 0.blocks.lent 0.blocks.others 0.blocks.uid 0.generation 0.reserved" ipam pool list
	alike "usage" "0 0.capacity 0.from 0.name 0.resting 0.used" "0.blocks 0.blocks.borrowed 0.blocks.granted 0.blocks.lent 0.blocks.others 0.blocks.uid 0.generation 0.reserved" ipam usage
	alike "usage --by-namespace" "0 0.namespace 0.pool 0.resting 0.used" "" ipam usage --by-namespace
	alike "lease list" "0 0.address 0.container 0.ifname 0.namespace 0.network 0.node 0.pod 0.pool 0.scope 0.since 0.state" "" ipam lease list
	alike "verify" "attached findings found leased left pools resting state unrecorded version" "" ipam verify
	alike "conflicts" "blocks numbers pools reserved" "" ipam conflicts
	eq "pool show: own" "$(ctl n1 ipam pool show own --json | jq -c 'keys')" '["capacity","definition","from","name","resting","used"]'
	eq "pool show: shared" "$(ctl n1 ipam pool show rail0 --json | jq -c 'keys')" '["blocks","capacity","definition","from","generation","name","reserved","resting","used"]'
	eq "blocks" "$(ctl n1 ipam blocks --json | shape)" "0 0.addresses 0.assigns 0.first 0.last 0.pool 0.probe 0.state 0.used"

	# A node refuses to change a pool of the cluster, and names the command that can.
	isnt "set" ctl n1 ipam pool set rail0 --sticky
	has "set" "$(<"$W/is")" "railctl cluster pool apply FILE"
	isnt "add" ctl n1 ipam pool add rail0 --subnet 10.92.0.0/28 --this-node-only
	has "add" "$(<"$W/is")" "pool rail0 is a pool of the cluster"
	isnt "apply" ctl n1 ipam pool apply - <<<'{"name":"rail9","subnet":"10.99.0.0/28","blockSize":4}'
	has "apply" "$(<"$W/is")" "railctl cluster pool apply FILE"
	isnt "delete" ctl n1 ipam pool delete rail0
	has "delete" "$(<"$W/is")" "railctl cluster pool delete rail0"
	isnt "slices" ctl n1 ipam slices rail0
	has "slices" "$(<"$W/is")" "railctl ipam blocks rail0"
	is "one for other nodes" ctl n1 cluster pool apply - <<<'{"name":"far","subnet":"10.94.0.0/28","blockSize":4,"nodes":{"leaf":"g9"},"idle":60}'
	eventually knows n1 far
	isnt "delete without blocks" ctl n1 ipam pool delete far
	has "delete without blocks" "$(<"$W/is")" "railctl cluster pool delete far"
	is "show" ctl n1 ipam pool show far
	has "show" "$(tr -s ' ' <"$W/is")" "Nodes: leaf=g9"
	has "show" "$(<"$W/is")" "4 addresses each; warm 4, idle 60 s, fence off"
	is "verify" ctl n1 ipam verify
	# The node's store answers without the agent; what needs the agent says how to start it.
	agent_kill n1
	for command in "pool list" "pool show rail0" usage "lease list" "blocks rail0" verify "node show"; do
		# shellcheck disable=SC2086
		is "$command without the agent" ctl n1 ipam $command
	done
	isnt "cluster pool list" ctl n1 cluster pool list
	has "cluster pool list" "$(<"$W/is")" "systemctl start railheadd"
	agent_begin n1
}

# Of a free address, of a pod's, and of one that another node lends.
test_commands_who_names_the_node_of_an_address()
{
	local own lent
	NODES=2
	cluster_begin
	shared rail0 '{"subnet":"10.92.0.0/24","ranges":["10.92.0.8-10.92.0.15"],"blockSize":4,"warm":0,"cooldown":0}'
	isnt "a block of no node" ctl n1 ipam who 10.92.0.9
	has "a block of no node" "$(<"$W/is")" "Shared pool rail0: no node has its block."
	add n2 p1 rail0
	own=$(leases n2)
	isnt "json" ctl n1 ipam who --json "$own"
	eq "json" "$(jq -c '.cluster.pools[] | [.pool,.deleted,.usable,.owner,.node,.loan]' "$W/is")" '["rail0",false,true,"n2","n2",null]'
	is "who, on its node" ctl n2 ipam who "$own"
	has "who, on its node" "$(tr -s ' ' <"$W/is")" "Interface: net1"
	isnt "who, on another node" ctl n1 ipam who "$own"
	has "who, on another node" "$(<"$W/is")" "Shared pool rail0: ask node n2: railctl ipam who $own"
	isnt "who, of a GUID" ctl n1 ipam who 02:00:00:00:00:00:00:07
	has "who, of a GUID" "$(<"$W/is")" "No shared pool has it."
	isnt "who, of no node" ctl n1 ipam who 10.92.0.9 --json
	eq "who, of no node" "$(jq -c '[.leases, .cluster.here, .cluster.pools[0].node]' "$W/is")" '[[],"n1",null]'
	add n1 p2 rail0
	lent=$(comm -23 <(ctl n2 ipam blocks rail0 --json | jq -r '.[0].last') <(leases n2))
	[ -n "$lent" ] || lent=$(comm -23 <(ctl n2 ipam blocks rail0 --json | jq -r '.[0].first') <(leases n2))
	POD_IP=$lent added n1 p3 rail0 || fail "ADD: $OUT"
	isnt "a loan" ctl n2 ipam who "$lent"
	has "a loan" "$(<"$W/is")" "Shared pool rail0: ask node n1: railctl ipam who $lent"
	isnt "not assigned" ctl n1 ipam who --json 10.92.0.20
	eq "not assigned" "$(jq '.cluster.pools[0].usable' "$W/is")" false
	engine kill
	isnt "without the cluster store" ctl n1 ipam who "$own"
	has "without the cluster store" "$(<"$W/is")" "Other nodes are not known"
	engine start
}

# A person writes what no node can use, by kubectl or etcdctl: the old definition holds, for pods and for new blocks, and each place says so.
test_commands_a_refused_generation()
{
	local pool='{"subnet":"10.92.0.0/24","blockSize":4,"warm":0,"cooldown":0' log=$W/node/n1/log
	NODES=1 cluster_begin
	is "the pool" engine_object pools rail0 "$pool}"
	eventually knows n1 rail0
	add n1 p1 rail0
	is "nothing is left" engine_object pools rail0 "$pool,\"excludes\":[\"10.92.0.0/24\"]}"
	eventually pool_is n1 .refused 'pool rail0: no address is left'
	is "status" ctl n1 cluster status
	has "status" "$(<"$W/is")" "refused"
	has "status" "$(<"$W/is")" "is refused, and the old definition still holds: pool rail0: "
	has "log" "$(<"$log")" "of shared pool rail0 is refused on this node, and the old definition still holds: pool rail0: "
	hasnt "log" "$(<"$log")" "is not used"
	add n1 p2 rail0
	add n1 p3 rail0
	add n1 p4 rail0
	add n1 p5 rail0
	eq "blocks" "$(ctl n1 ipam blocks --json | jq length)" 2
	agent_end n1
	agent_begin n1
	eventually pool_is n1 .refused 'pool rail0: no address is left'
	add n1 p6 rail0
	is "mended" engine_object pools rail0 "$pool,\"excludes\":[\"10.92.0.255\"]}"
	eventually pool_is n1 '.refused // "none"' none
	is "a new pool" engine_object pools rail1 '{"subnet":"10.93.0.0/24","blockSize":4,"excludes":["10.93.0.0/24"]}'
	eventually has_line n1 "is refused, and the pool is not used: pool rail1: "
	refused n1 p7 rail1 11 "pool rail1: no address is left"
}
# pool_is NODE FILTER TEXT: of rail0, in the status
pool_is() { [[ $(ctl "$1" cluster status --json | jq -r '.pools[] | select(.name == "rail0") | '"$2") == *"$3"* ]]; }
has_line() { [[ $(ctl "$1" cluster status) == *"$2"* ]]; }

# An agent that has not reached its store knows no pool: no administrator shall add one by hand.
test_commands_an_agent_that_has_not_reached_its_store()
{
	local conf=$W/node/n1/etc/railhead/agent.json
	NODES=1 cluster_begin
	shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8}'
	agent_end n1
	cp "$conf" "$W/conf.whole"
	jq '.node = "gpu-17"' "$W/conf.whole" >"$conf"
	sed -i 's/10\.99\.0\.1:[0-9]*/10.99.0.1:9/' "$W/node/n1/etc/railhead"/*
	agent_begin n1
	eventually agent_is n1 '.why | length > 0' true
	eq "health" "$(ctl n1 cluster status --json | jq -r '[.contact, .health] | join(" ")')" "false unconfirmed"
	refused n1 p1 rail1 11 "pool rail1: node gpu-17 does not know it yet, and the cluster store gives no answer: "
	hasnt "ADD" "$OUT" "pool add"
	cni_on n1 STATUS p1 rail1
	eq "STATUS" "$(jq -r .code <<<"$OUT")" 50
	has "STATUS" "$OUT" "node gpu-17 does not know it yet"
	agent_end n1
	cni_on n1 ADD p1 rail1
	has "without an agent" "$OUT" "pool rail1 does not exist on node n1"
	has "without an agent" "$OUT" "no node agent answers"
}

# The store goes away later: that is not health.
test_commands_an_agent_that_lost_contact_is_not_well()
{
	NODES=1 cluster_begin
	is "ready" ctl n1 cluster status --ready
	ip link set n1-eth0 down
	eventually agent_is n1 '[.contact, .health] | join(" ")' "false cut-off"
	isnt "ready" ctl n1 cluster status --ready
	has "ready" "$(<"$W/is")" "the health of the agent is cut-off"
	ip link set n1-eth0 up
	eventually agent_is n1 '[.contact, .health] | join(" ")' "true ok"
}

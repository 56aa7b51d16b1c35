# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# `kubectl rail apply` with the real API server: what it makes, takes over and leaves alone. fabric.sh has the plans.

# applies NODE...: each has the pod of its agent; exec runs railctl on n1
applies()
{
	local node
	trap 'case_ends plan_end kubectl_end cluster_end' EXIT
	for node; do agent_pod "$node" Running || give_up "a pod of $node"; done
	kubectl_execs nsenter --target "$(<"$W/node/n1/pid.view")" --net --mount --uts
}
plan_end()
{
	unset KUBECTL
	admin label nodes --all railhead.io/group-
	admin annotate nodes --all railhead.io/host-
}
group_of() { admin get node "$1" -o json | jq -r '.metadata.labels["railhead.io/group"] // "-"'; }
pool_has_value() { admin get railpool "$1" -o json | jq -r "$2"; }
is_planned() { rail plan -f "$W/plan.yaml" --json && [ "$(jq -r '[.nodes[].node] | join(" ")' "$W/out")" = "$1" ]; }

# A person has made a pool that the plan has, and a pod lives there.
test_plan_takes_over_a_pool_and_grows_by_a_node()
{
	local uid first
	NODES=2 cluster_begin
	applies n1 n2
	echo '{supernet: 10.200.0.0/16, rails: 2, nodesPerGroup: 8, groups: {g0: ["n*"]}}' >"$W/plan.yaml"
	eventually is_planned "n1 n2"
	rail plan -f "$W/plan.yaml" -o yaml
	admin create --dry-run=client -o json -f "$W/out" | jq -s '[.[] | if .kind == "List" then .items[] else . end][] | select(.metadata.name == "rail0-g0") | .spec.cooldown = 7' >"$W/pool.json"
	jq '.spec.blockSize = 4' "$W/pool.json" | admin create -f - >/dev/null && label_node n1 railhead.io/group=g0 || give_up "a pool by hand"
	eventually knows n1 rail0-g0
	add n1 p1 rail0-g0
	# Blocks of another size: nothing at all is written.
	rail apply -f "$W/plan.yaml"
	eq "another size" "$RC $(<"$W/out")" "4 "
	has "another size" "$(<"$W/err")" 'pool rail0-g0: a pool that pods have addresses of does not change'
	isnt "another size" admin get railpool rail1-g0
	del n1 p1 rail0-g0
	admin delete railpool rail0-g0 >/dev/null && eventually forgets_pool n1
	jq '.spec.warm = 2' "$W/pool.json" | admin create -f - >/dev/null || give_up "a pool by hand"
	eventually knows n1 rail0-g0
	add n1 p1 rail0-g0
	first=${ADDRESS%/*} uid=$(pool_has_value rail0-g0 .metadata.uid)
	# Another manager has set a field to something else: it stays, and the command says whose it is.
	rail apply -f "$W/plan.yaml"
	eq "a conflict" "$RC" 1
	has "a conflict" "$(<"$W/err")" 'conflict with "kubectl-create"'
	has "a conflict" "$(<"$W/err")" '.spec.warm'
	has "a conflict" "$(<"$W/err")" 'not everything was applied'
	eq "its value" "$(pool_has_value rail0-g0 .spec.warm)" 2
	admin patch railpool rail0-g0 --type=merge -p '{"spec":{"warm":8}}' >/dev/null || give_up "the same value"
	rail apply -f "$W/plan.yaml"
	eq "taken over" "$RC $(pool_has_value rail0-g0 '[.metadata.uid, .spec.cooldown, .spec.warm] | map(tostring) | join(" ")')" "0 $uid 7 8"
	eq "the pod" "$(leases n1)" "$first"
	# The label of a node is of another manager.
	admin label --overwrite node n2 railhead.io/group=g1 >/dev/null
	rail apply -f "$W/plan.yaml"
	eq "n2 would move" "$RC $(group_of n2)" "4 g1"
	label_node n2 railhead.io/group=g0
	# One more node, and one more apply.
	admin get railpools -o json | jq -c '[.items[] | [.metadata.name, .metadata.generation]]' >"$W/before"
	node_begin 3
	agent_begin n3
	agent_pod n3 Running || give_up "a pod of n3"
	eventually is_planned "n1 n2 n3"
	rail apply -f "$W/plan.yaml"
	eq "grown" "$RC $(group_of n3)" "0 g0"
	eq "pools" "$(admin get railpools -o json | jq -c '[.items[] | [.metadata.name, .metadata.generation]]')" "$(<"$W/before")"
	eventually added n3 p3 rail0-g0
	eq "the pod of n1" "$(leases n1)" "$first"
	NODES=3 unique
}
forgets_pool() { ! knows "$1" rail0-g0; }

# The objects that people, pods and schedulers go by, with their versions: if they are equal, no write came between.
written()
{
	admin get nodes,railblocks,railpools -o json | jq -cS '.items[] | [.kind, .metadata.name, .metadata.resourceVersion, .metadata.labels, .spec.node]'
	for node in n1 n2 n3 n4; do leases "$node"; done
}
neighbours_all() { [ "$(ctl "$1" cluster status --json | jq -r "[.neighbours.list[] | $2] | length == 2 and all")" = true ]; }

# The frames of ten TTLs are lost, agents begin again, and the switches start again: their frames come back.
test_plan_blind_agents_write_no_label()
{
	local node rail before generation
	fabric_begin
	applies n1 n2 n3 n4
	export TTL=1
	for node in n1 n2 n3 n4; do cabled $node leaf-a leaf-b; done
	echo '{supernet: 10.200.0.0/16, rails: 2, nodesPerGroup: 8}' >"$W/plan.yaml"
	rail apply -f "$W/plan.yaml"
	eq "applied" "$RC $(group_of n1) $(group_of n4)" "0 g0 g0"
	for node in n1 n2 n3 n4; do
		for rail in rail0 rail1; do eventually knows $node $rail-g0 && eventually has_spare $node $rail-g0 8; done
		add $node "p-$node" rail0-g0
		eventually has_spare $node rail0-g0 8
	done
	before=$(written)
	has "what is compared" "$before" '["RailBlock","rail0-g0'
	generation=$(admin get railnode n1 -o json | jq .metadata.generation)
	for node in n1 n2 n3 n4; do eventually neighbours_all $node '.state == "silent" and .age >= 10'; done
	eventually says_when_it_heard n1
	eq "blind" "$(written)" "$before"
	for node in n1 n2 n3 n4; do
		agent_end $node
		agent_begin $node
		eventually agent_is $node .health ok
		is "$node knows its leaves" neighbours_all $node '.age >= 10'
	done
	eq "after a restart" "$(written)" "$before"
	for node in n1 n2 n3 n4; do
		for rail in rail0 rail1; do ip link set $node-$rail down && ip link set $node-$rail up || give_up "the wires of $node"; done
		eventually hears_again $node
	done
	eq "after the switches have started again" "$(written)" "$before"
	# Each rail was silent once and is heard again.
	generation=$(($(admin get railnode n1 -o json | jq .metadata.generation) - generation))
	[ $generation -le 4 ] || fail "$generation writes of the object of n1"
	rail plan -f "$W/plan.yaml" --json
	eq "the plan" "$RC $(jq -c '.groups | map([.group, .nodes, .newNodes, .newPools])' "$W/out")" '0 [["g0",4,0,0]]'
}
says_when_it_heard() { admin get railnode "$1" -o json | jq -e '.spec.rails | length == 2 and all(.lastHeard)'; }
# Longer than the case: no rail falls silent once more.
hears_again() { TTL=600 recabled "$1" leaf-a leaf-b && neighbours_all "$1" '.state == "heard"'; }

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Pools of one node become a shared pool, under living pods.

ADOPTING='{"name":"rail0","subnet":"10.92.0.0/24","blockSize":8,"cooldown":0,"state":"adopting"}'

# slices PODS: each node has its slice of 16 addresses of rail0, and so many pods
slices()
{
	local i k
	for ((i = 1; i <= NODES; i++)); do
		is "number of n$i" ctl "n$i" ipam node set "$i"
		is "pool of n$i" ctl "n$i" ipam pool add rail0 --subnet 10.92.0.0/24 --slice /28
		for ((k = 0; k < $1; k++)); do
			add "n$i" "p$i-$k" rail0
			echo "$OUT" >"$W/result-p$i-$k"
		done
	done
	leases_of_pods >"$W/before"
}
# leases_of_pods: NODE POD ADDRESS of all leases
leases_of_pods()
{
	local i
	for ((i = 1; i <= NODES; i++)); do
		ctl "n$i" ipam lease list --json | jq -r --arg n "n$i" '.[] | "\($n) \(.pod) \(.address)"'
	done | sort
}
# plugin_on NODE VERB POD PLUGIN [FILTER]: with the configuration of all pods, changed by a filter of jq
plugin_on()
{
	jq -c "${5-.}" --slurpfile result "$W/result-$3" <<<'{"cniVersion":"1.1.0","name":"rails","type":"macvlan","master":"rail0",
		"ipam":{"type":"railhead-ipam","pool":"rail0"}}' | on_node "$1" timeout -s KILL "$LIMIT" env -i PATH="$PATH" CNI_COMMAND="$2" \
		CNI_CONTAINERID="$3" CNI_NETNS="/run/netns/$3" CNI_IFNAME=net1 CNI_PATH="$BIN" \
		CNI_ARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=$3" "$BIN/$4"
}
# adopt: the shared pool, and the exit status of waiting for all nodes
adopt() { ctl n1 cluster pool apply --wait "${1-$LIMIT}" - <<<"$ADOPTING"; }

# No pod loses or shares its address. Repeated ADD and DEL go on, and so do new pods on their node's old addresses.
test_adopt_slices_become_one_shared_pool()
{
	local first i
	cluster_begin
	slices 5
	isnt "open at once" ctl n1 cluster pool open rail0
	is "adopt" adopt
	is "list" ctl n1 cluster pool list
	has "list" "$(<"$W/is")" adopting
	eq "leases" "$(leases_of_pods)" "$(<"$W/before")"
	has "where the pool is from" "$(ctl n2 ipam pool list --json | jq -r '.[].from')" cluster
	is "CHECK" plugin_on n2 CHECK p2-3 macvlan '.prevResult=$result[0]'
	eq "repeated ADD" "$(plugin_on n2 ADD p2-3 railhead-ipam | jq -c '.ips')" "$(jq -c '.ips | map(del(.interface))' "$W/result-p2-3")"
	is "GC" plugin_on n2 GC p2-3 macvlan '.["cni.dev/valid-attachments"]=[range(5) | {containerID:"p2-\(.)",ifname:"net1"}]'
	eq "leases after GC" "$(leases_of_pods)" "$(<"$W/before")"
	del n3 p3-0 rail0
	add n3 p3-new rail0
	first=${ADDRESS%/*}
	[ "${first##*.}" -ge 48 ] && [ "${first##*.}" -lt 64 ] || fail "n3 assigned $first, which is not in its old slice"
	isnt "the old way" ctl n1 cluster pool apply - <<<"$(jq -c 'del(.state)' <<<"$ADOPTING")"
	has "the old way" "$(<"$W/is")" "railctl cluster pool open rail0"
	is "open" ctl n1 cluster pool open --wait "$LIMIT" rail0
	has "open" "$(<"$W/is")" "Shared pool rail0 is open"
	is "list" ctl n1 cluster pool list
	hasnt "list" "$(<"$W/is")" adopting
	is "open again" ctl n1 cluster pool open rail0
	has "open again" "$(<"$W/is")" "was open already"
	isnt "back" ctl n1 cluster pool apply - <<<"$ADOPTING"
	has "back" "$(<"$W/is")" "cannot begin to adopt"
	unique
	# More pods than a slice has.
	for ((i = 0; i < 20; i++)); do add n1 "more$i" rail0; done
	unique
	pings p2-3 "${ADDRESS%/*}"
	for ((i = 0; i < 20; i++)); do del n1 "more$i" rail0; done
	del n1 p1-0 rail0
	is "records" ctl n1 ipam verify
	is "records" ctl n3 ipam verify
}

# Agents are killed at any time between the steps, and begin again.
test_adopt_with_agents_that_are_killed()
{
	local i k
	cluster_begin
	slices 4
	for k in 1 2 3 4 5; do
		adopt 1 >/dev/null 2>&1 &
		i=$((k % NODES + 1))
		agent_kill "n$i"
		wait $!
		agent_begin "n$i"
		eq "leases" "$(leases_of_pods)" "$(<"$W/before")"
	done
	is "adopt" adopt
	eq "leases" "$(leases_of_pods)" "$(<"$W/before")"
	for i in 1 2 3; do is "records" ctl "n$i" ipam verify; done
	is "open" ctl n2 cluster pool open rail0
	for i in 1 2 3; do eventually added "n$i" "new$i" rail0; done
	unique
}

# The same range by hand on two nodes, so that a pod of each has one address: the block is refused by name.
test_adopt_two_nodes_that_gave_one_address()
{
	local i both
	cluster_begin
	for i in 1 2; do
		is "pool of n$i" ctl "n$i" ipam pool add rail0 --subnet 10.92.0.0/24 --range 10.92.0.8-10.92.0.15
		add "n$i" "p$i" rail0
	done
	both=${ADDRESS%/*}
	may_overlap "$both" "both nodes assigned it by hand, before the pool was shared"
	eq "leases" "$(leases n1)" "$both"
	add n2 other rail0
	isnt "adopt" adopt 10
	has "adopt" "$(<"$W/is")" "has the block from 10.92.0.8 to 10.92.0.15; pods that live in it: ns/"
	isnt "open" ctl n3 cluster pool open rail0
	has "open" "$(<"$W/is")" "nodes have not taken it over: n"
	has "open" "$(<"$W/is")" "has the block from 10.92.0.8 to 10.92.0.15"
	eq "leases of n1" "$(leases n1)" "$both"
	eq "leases of n2" "$(leases n2 | wc -l)" 2
	for i in 1 2; do is "records" ctl "n$i" ipam verify; done
	# The node that lost the block reports when its pods have gone.
	i=$(ctl n3 cluster pool show rail0 --json | jq -r '.nodes[] | select(.state == "waits") | .name')
	del "$i" "p${i#n}" rail0
	[ "$i" = n1 ] || del "$i" other rail0
	is "adopt" adopt
	is "open" ctl n3 cluster pool open rail0
	unique
}

# A node whose agent is away may have leases: it is named, and the pool stays closed.
test_adopt_a_node_whose_agent_is_away()
{
	cluster_begin
	slices 2
	agent_kill n3
	isnt "adopt" adopt 5
	has "adopt" "$(<"$W/is")" "node n3 has not taken over pool rail0"
	isnt "open" ctl n1 cluster pool open rail0
	has "open" "$(<"$W/is")" "nodes have not taken it over: n3"
	# It goes on as before, and so do the others.
	add n3 p3-new rail0
	add n1 p1-new rail0
	unique
	agent_begin n3
	is "adopt" adopt
	is "open" ctl n1 cluster pool open rail0
	unique
}

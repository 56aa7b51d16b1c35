# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# agents.sh: node agents whose cluster store is the API server, with the types, rights and policy of packaging/kubernetes.
# Sourced by run.sh.

# agents_begin POOL: both agents, and the pool "shared"; POOL is its spec without the subnet, as JSON.
agents_begin()
{
	local n
	trap agents_end EXIT
	is 'packaging/kubernetes' k apply -f "$TOP/packaging/kubernetes/crds" -f "$TOP/packaging/kubernetes/rbac.yaml" \
		-f "$TOP/packaging/kubernetes/policy.yaml" -f "$TOP/packaging/kubernetes/flow.yaml"
	is 'the types' k wait --for=condition=Established crd/{railpools,railblocks,railnodes,railreserved}.railhead.io --timeout=${LONG}s
	is 'the pool' shared_pool "$1"
	for n in $NODES; do
		mkdir -p "$(node_root "$n")/etc/railhead"
		kubeconfig "agent$n" >"$(node_root "$n")/etc/railhead/kubeconfig"
		agent "$n" '{"kubernetes": {"kubeconfig": "/etc/railhead/kubeconfig"}}'
	done
	for n in $NODES; do eventually has_pool "$n"; done
	nad shared "$(macvlan shared shared)"
}
shared_pool()
{
	jq -n --argjson spec "$1" '{apiVersion: "railhead.io/v1alpha1", kind: "RailPool", metadata: {name: "shared"},
		spec: ({subnet: "10.10.0.0/16", cooldown: 0} + $spec)}' | k apply -f -
}
has_pool() { agent_sees "$1" '.health == "ok"' && [ "$(node "$1" railctl ipam pool list --json | jq -r '.[].name')" = shared ]; }
agents_end()
{
	local n
	kn delete statefulset --all --wait=false >/dev/null 2>&1
	kn delete pod --all --grace-period=1 --wait --timeout=${LONG}s >/dev/null 2>&1
	k delete railpool shared --timeout=${LONG}s >/dev/null 2>&1
	for n in $NODES; do
		eventually no_pools "$n"
		service "$n" railheadd stop
		rm "$(node_root "$n")"/etc/railhead/{agent.json,kubeconfig}
	done
	k delete railblocks,railnodes --all >/dev/null 2>&1
}
# noted REASON KIND NAME: the messages of such events, of the agents.
noted()
{
	k get events -A -o json | jq -r --arg reason "$1" --arg kind "$2" --arg name "$3" \
		'.items[] | select(.reason == $reason and .involvedObject.kind == $kind and .involvedObject.name == $name) | .message'
}
was_noted() { [[ $(noted "$1" "$2" "$3") == *"$4"* ]]; }

STICKY='{"ranges": ["10.10.210.1-10.10.210.40"], "blockSize": 1, "warm": 0, "sticky": true}'
LOOSE='{"ranges": ["10.10.210.1-10.10.210.120"], "blockSize": 4, "warm": 1}'

# A StatefulSet goes to the other node, one pod after the other, and each keeps its address.
once_set_moves()
{
	local first
	agents_begin "$STICKY"
	set_of db 3 shared
	set_ready db 3
	first=$(addresses_of db-0 db-1 db-2)
	eq 'addresses' "$(cut -d' ' -f2 <<<"$first" | sort -u | grep -c '^10\.10\.210\.')" 3
	audit
	is 'to n2' kn patch statefulset/db --type merge \
		-p '{"spec": {"template": {"spec": {"nodeSelector": {"kubernetes.io/hostname": "n2"}}}}}'
	is 'it is there' kn rollout status statefulset/db --timeout=$((2 * LONG))s
	eq 'on n2' "$(kn get pods -o jsonpath='{.items[*].spec.nodeName}')" 'n2 n2 n2'
	eq 'after the move' "$(addresses_of db-0 db-1 db-2)" "$first"
	eq 'leases of n1' "$(leases 1)" ''
	reaches db-0 10.10.0.1
	audit
}

# Each interface needs a block of its own, so that pods need the agent while it is away.
once_agent_killed()
{
	agents_begin "$(jq -c 'del(.sticky)' <<<"$STICKY")"
	middle_of shared again railheadd
	NODE=2 middle_of shared again railheadd
}

# The Node is deleted, by mistake or by a controller, and its pods with it as far as Kubernetes knows. The kubelet registers again: the pods
# that still exist keep their addresses, and those of the others are free.
once_node_object_deleted()
{
	local first
	agents_begin "$LOOSE"
	NODE=2
	pod stays shared
	pod goes shared
	running stays goes
	first=$(address stays net1)
	is 'the Node is deleted' k delete node n2
	service 2 kubelet kill
	by_force goes
	NODE=1 pod new shared
	running new
	is 'the kubelet comes again' service 2 kubelet start
	is 'the Node is there again' k wait --for=create node/n2 --timeout=${LONG}s
	is 'the Node is ready again' k wait --for=condition=Ready node/n2 --timeout=${LONG}s
	eventually only_lease 2 "$first"
	pod more shared
	running stays more
	eq 'its address' "$(address stays net1)" "$first"
	audit
}
only_lease() { [ "$(leases "$1")" = "$2" ]; }

# A person empties /run: records, sockets and the namespaces of living pods are lost. DEL of each pod releases its addresses all the same.
once_run_lost()
{
	agents_begin "$LOOSE"
	pod a shared
	pod b shared,shared
	running a b
	audit
	service 1 railheadd kill
	# shellcheck disable=SC2016 # of the inner shell
	is '/run is emptied' node 1 bash -ec 'umount -l /run/netns/*; rm /run/netns/*; rm -r /run/railhead'
	is 'the agent comes again' service 1 railheadd start
	delete a
	eq 'leases' "$(leases 1 | wc -l)" 2
	delete b
	eventually nothing_at_all 1
	pod c shared
	running c
	reaches c 10.10.0.1
	audit
}

# The runtime is away while a pod dies. The agent releases what the pod had, and says so at the pod.
once_event_of_a_repair()
{
	local name
	agents_begin "$LOOSE"
	pod dies shared
	running dies
	name=$(node 1 sh -c 'ls /run/netns')
	service 1 kubelet kill
	service 1 containerd kill
	# shellcheck disable=SC2016 # of the inner shell
	is 'the pod ends' node 1 bash -ec 'kill -KILL $(ip netns pids "$1") && umount -l "/run/netns/$1" && rm "/run/netns/$1"' - "$name"
	eventually was_noted Repaired Pod dies 'Released attachment shared '
	has 'the event' "$(noted Repaired Pod dies)" 'net1, which the runtime did not: netns-gone'
	eq 'leases' "$(leases 1)" ''
	is 'containerd comes again' service 1 containerd start
	is 'the kubelet comes again' service 1 kubelet start
	has 'kubectl describe pod' "$(kn describe pod dies)" Repaired
	kn wait --for=jsonpath='{.status.containerStatuses[0].restartCount}'=1 pod/dies --timeout=${LONG}s >"$W/is" 2>&1 || fail "$(<"$W/is")"
	running dies
	audit
}

# The objects of the blocks are lost, as after an old copy was restored, and the other node takes the only block.
once_event_of_a_conflict()
{
	agents_begin '{"ranges": ["10.10.210.8-10.10.210.15"], "blockSize": 8, "warm": 0}'
	pod first shared
	running first
	service 1 railheadd kill
	is 'the blocks are lost' k delete railblocks --all
	NODE=2 pod second shared
	running second
	is 'the agent comes again' service 1 railheadd start
	eventually was_noted AddressConflict Pod first "Another pod may have the address $(address first net1) of interface net1, too"
	eventually was_noted BlockLost Node n1 'The block from 10.10.210.8 to 10.10.210.15 of shared pool shared is lost: node n2 has it'
	has 'kubectl describe pod' "$(kn describe pod first)" AddressConflict
	delete first
	audit
}

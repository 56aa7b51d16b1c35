# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# addresses.sh: which pod keeps an address, and that no other pod gets it. Sourced by run.sh.

# set_of NAME COUNT NETWORK: a StatefulSet on the node of the case.
set_of()
{
	jq -n --arg name "$1" --argjson count "$2" --arg net "$3" --arg node "n$NODE" --arg image "$IMAGE" '{apiVersion: "apps/v1",
		kind: "StatefulSet", metadata: {name: $name}, spec: {serviceName: $name, replicas: $count,
		podManagementPolicy: "Parallel", selector: {matchLabels: {app: $name}}, template: {
		metadata: {labels: {app: $name}, annotations: {"k8s.v1.cni.cncf.io/networks": $net}},
		spec: {nodeSelector: {"kubernetes.io/hostname": $node}, terminationGracePeriodSeconds: 1, enableServiceLinks: false, automountServiceAccountToken: false,
		containers: [{name: "c", image: $image, imagePullPolicy: "Never"}]}}}}' | kn apply -f - >/dev/null ||
		fail "test error: set $1"
}
# set_ready NAME COUNT: so many of its pods are ready, and nothing is under way.
set_ready()
{
	kn wait --for=jsonpath='{.status.readyReplicas}'="$2" "statefulset/$1" --timeout=${LONG}s >"$W/is" 2>&1 ||
		fail "$1 has not $2 ready pods: $(tail -c 300 "$W/is")"
}
# new_pod NAME UID: another pod of that name than that one is ready.
uid() { kn get pod "$1" -o jsonpath='{.metadata.uid}'; }
is_another() { [ -n "$(uid "$1" 2>/dev/null)" ] && [ "$(uid "$1")" != "$2" ]; }
another() { eventually is_another "$@" && running "$1"; }

addresses_of() # POD...: "pod address" a line
{
	local p
	for p; do echo "$p $(address "$p" net1)"; done
}

# quick: thick
test_statefulset()
{
	local first id
	rails sts --sticky
	nad sts "$(macvlan sts sts)"
	set_of db 3 sts
	set_ready db 3
	first=$(addresses_of db-0 db-1 db-2)
	eq 'addresses' "$(cut -d' ' -f2 <<<"$first" | sort -u | grep -c "^10\.10\.$NODE\.")" 3
	audit
	id=$(uid db-1)
	delete db-1
	another db-1 "$id"
	eq 'after one was deleted' "$(addresses_of db-0 db-1 db-2)" "$first"
	is 'scale to nothing' kn scale statefulset/db --replicas=0
	kn wait --for=delete pod -l app=db --timeout=${LONG}s >/dev/null
	eventually no_leases "$NODE"
	is 'scale to three' kn scale statefulset/db --replicas=3
	set_ready db 3
	eq 'after all were away' "$(addresses_of db-0 db-1 db-2)" "$first"
	audit
}
no_leases() { [ -z "$(leases "$1")" ]; }

# by_force POD: gone for Kubernetes at once; the kubelet ends its sandbox when it can.
by_force() { is "delete $1 by force" kn delete pod "$1" --force --grace-period=0 --wait=false; }

# After a forced deletion the new pod starts before the old sandbox is gone. No pod gets the address of a living one. The
# pod's name has its address again at the next start at the latest.
# quick: thin
test_force_delete()
{
	local first id i
	rails sts --sticky
	nad sts "$(macvlan sts sts)"
	set_of db 2 sts
	set_ready db 2
	first=$(addresses_of db-0 db-1)
	for i in 1 2; do
		id=$(uid db-1)
		by_force db-1
		another db-1 "$id"
		audit
	done
	id=$(uid db-1)
	delete db-1
	another db-1 "$id"
	eq 'after the next start' "$(addresses_of db-0 db-1)" "$first"
	audit
}

# A range that is just as large as the set: the successor waits for the address, and gets it.
test_tight_set()
{
	local first id
	pool "$NODE" tight --subnet 10.10.0.0/16 --range "10.10.$NODE.10-10.10.$NODE.12" --sticky
	nad tight "$(macvlan tight tight)"
	set_of db 3 tight
	set_ready db 3
	first=$(addresses_of db-0 db-1 db-2)
	id=$(uid db-1)
	by_force db-1
	another db-1 "$id"
	eq 'after one was deleted by force' "$(addresses_of db-0 db-1 db-2)" "$first"
	audit
	is 'rollout restart' kn rollout restart statefulset/db
	is 'rollout status' kn rollout status statefulset/db --timeout=${LONG}s
	eq 'after all were made anew' "$(addresses_of db-0 db-1 db-2)" "$first"
	audit
}

# Two nodes, one pool: each pool has to name the node that owns its range. If both nodes use one range, the lists
# of their leases show it. A network with "probe" asks the wire: the pod waits for a free address, and an event names the other user.
once_two_nodes()
{
	local n
	isnt 'a subnet for everybody' node 1 railctl ipam pool add whose --subnet 10.10.0.0/16
	has 'what to say' "$(<"$W/is")" --this-node-only
	for n in $NODES; do
		pool "$n" same --subnet 10.10.0.0/16 --range 10.10.9.1-10.10.9.4
	done
	nad same "$(macvlan same same)"
	nad asking "$(macvlan asking same '.probe = true')"
	pod a same
	running a
	pod a2 same
	NODE=2 pod b same
	running a2 b
	eq 'the address of both' "$(address b net1)" "$(address a net1)"
	is 'verify sees one node' node 1 railctl ipam verify
	eq 'the leases of both, as the manual page compares them' "$(both_have)" "same $(address a net1)"
	delete b
	NODE=2 pod c asking
	event c "$(status a2 '.[1].mac' | tr -d '"')"
	running c
	hasnt 'addresses of the others' "$(address a net1) $(address a2 net1)" "$(address c net1)"
	audit
}
both_have() { for n in 1 2; do node "$n" railctl ipam lease list --json; done | jq -r '.[] | .pool + " " + .address' | sort | uniq -d; }

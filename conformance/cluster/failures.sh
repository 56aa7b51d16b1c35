# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# failures.sh: a failure leaves nothing and disturbs no other pod. Sourced by run.sh.

# The second of two networks fails: each time that the kubelet tries again, nothing of the first one is left. When the second
# network exists, the pod starts by itself.
test_second_network_fails()
{
	rails good
	nad good "$(macvlan good good)"
	nad bad "$(macvlan bad bad)"
	pod two good,bad
	event two 'pool bad does not exist'
	eventually nothing_at_all "$NODE"
	pool "$NODE" bad --subnet 10.10.0.0/16 --range "10.10.$((NODE + 100)).0/24"
	running two
	eq addresses "$(status two '[.[] | select(.interface != "eth0") | .ips | length]')" '[1,1]'
	audit
}
nothing_at_all() { [ -z "$(leases "$1")" ] && [ -z "$(records "$1")" ] && [ "$(interfaces "$1")" = '[]' ]; }

# One address, two pods: the second waits until the first is gone.
test_pool_of_one()
{
	pool "$NODE" one --subnet 10.10.0.0/16 --range "10.10.$NODE.9"
	nad one "$(macvlan one one)"
	pod first one
	running first
	pod second one
	event second 'no address is left in pool one'
	eq leases "$(leases "$NODE")" "10.10.$NODE.9"
	delete first
	running second
	eq 'its address' "$(address second net1)" "10.10.$NODE.9"
	audit
}

# --- STATUS ------------------------------------------------------------------------------------

# default_network N CONFIG: it is the cluster's network of the node now. containerd reads it when it notices.
default_network()
{
	local i
	multus_thin "$1" "$2"
	for ((i = 0; i < 50; i++)); do
		NODE=$1 pod "probe$i" ''
		running "probe$i"
		kn get pod "probe$i" -o json | jq -e --arg net "$(jq -r .name <<<"$2")" \
			'.metadata.annotations["k8s.v1.cni.cncf.io/network-status"] | fromjson | .[0].name == $net' >/dev/null && break
		delete "probe$i"
	done
	[ "$i" -lt 50 ] || fail "the network of n$1 does not change"
	delete "probe$i"
}
# A plugin that notes what it is called for.
noting_plugin()
{
	printf '#!/bin/sh\necho "$CNI_COMMAND" >>/run/verbs\nexec /opt/cni/bin/macvlan\n' | node "$1" tee /opt/cni/bin/noting-macvlan >/dev/null
	node "$1" sh -c 'chmod +x /opt/cni/bin/noting-macvlan && : >/run/verbs'
}
asked() { [ "$(node "$1" grep -c '^STATUS$' /run/verbs)" -ge "$2" ]; }
since() { k get node "n$1" -o json | jq -c '.status.conditions[] | select(.type == "Ready") | [.status, .lastTransitionTime]'; }

# Our plugin is the cluster's own network with 1.1.0, and its pool is full. A fourth pod waits. The node runs STATUS every few
# seconds and stays Ready with its three pods. With the key for it, STATUS fails instead.
# quick: thin
once_status_of_a_full_pool()
{
	local network ready
	pool "$NODE" few --subnet 10.10.0.0/16 --range "10.10.$NODE.1-10.10.$NODE.3"
	noting_plugin "$NODE"
	network=$(macvlan few few '.type = "noting-macvlan"')
	default_network "$NODE" "$network"
	pod f1 ''
	pod f2 ''
	pod f3 ''
	running f1 f2 f3
	pod f4 ''
	event f4 'no address is left'
	eq leases "$(leases "$NODE" | wc -l)" 3
	ready=$(since "$NODE")
	node "$NODE" sh -c ': >/run/verbs'
	eventually asked "$NODE" 4
	eq 'the node is Ready since' "$(since "$NODE")" "$ready"
	has 'the node' "$ready" True
	# The other way round, so that this case can tell.
	[ -n "${QUICK-}" ] || {
		multus_thin "$NODE" "$(jq -c '.ipam.statusWhenFull = true' <<<"$network")"
		k wait --for=condition=Ready=false "node/n$NODE" --timeout=${LONG}s >/dev/null || fail 'with statusWhenFull the node stays Ready'
	}
	multus_thin "$NODE" "$(cluster_network "$NODE")"
	k wait --for=condition=Ready "node/n$NODE" --timeout=${LONG}s >/dev/null || fail 'the node is not Ready again'
	delete f1 f2 f3 f4
}

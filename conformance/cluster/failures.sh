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

# --- the events of pods that do not start, as `kubectl describe pod` shows them ---------------------

# said_of POD: the text of the event up to the end of the plugin's message. Behind it, thick Multus adds its own configuration.
said_of()
{
	kn get events --field-selector "involvedObject.name=$1,reason=FailedCreatePodSandBox" -o json |
		jq -r '[.items[].message][0] | sub("\n'"'"': StdinData: .*"; "")'
}
# describes POD CODE WHAT TODO: one line that begins with WHAT, then the code, then TODO. If TODO is empty, WHAT has said it.
describes()
{
	local text
	event "$1" "error $2" || return
	text=$(said_of "$1")
	[[ $text == *": $3"*"; error $2${4:+; }$4"* ]] || fail "$1: not '$3', error $2, '$4': $text"
	[[ $text != *$'\n'* ]] || fail "$1: more than one line: $text"
	[ -n "$4" ] || [[ $text == *"; error $2" ]] || fail "$1: more than '$3': $text"
	# An event of events.k8s.io has 1,024 bytes; thick Multus alone may write 1,000.
	[ "$NODE" = 2 ] || [ "${#text}" -le 1024 ] || fail "$1: ${#text} bytes: $text"
}

# Failures of each kind. Each event says in one line what is wrong, the code, and what to do.
# quick: both
test_messages()
{
	local chain='{cniVersion, name, plugins: [del(.cniVersion, .name), {type: "rdma", mode: "shared"}]}'
	rails few
	pool "$NODE" single --subnet 10.11.0.0/16 --range "10.11.$NODE.250"
	nad full "$(macvlan full single)"
	nad nopool "$(macvlan nopool nowhere)"
	nad nomaster "$(macvlan nomaster few '.master = "eth77"')"
	nad mtu "$(macvlan mtu few '.mtu = 9000')"
	nad text "$(macvlan text few '.mtu = "1500"')"
	nad mode "$(macvlan mode few '.mode = "source"')"
	nad ask "$(macvlan ask few '.capabilities = {ips: true}')"
	nad noipam "$(macvlan noipam few '.ipam.type = "other-ipam"')"
	nad nordma "$(macvlan nordma few | jq -c "$chain")"
	nad novf "$(macvlan novf few '.type = "sriov" | del(.master)')"
	pod p0 full
	running p0
	pod full full
	pod nopool nopool
	pod nomaster nomaster
	pod mtu mtu
	pod text text
	pod mode mode
	pod ask '[{"name": "ask", "ips": ["10.99.0.1"]}]'
	pod noipam noipam
	pod nordma nordma
	pod novf novf
	# shellcheck disable=SC2016 # of a message
	describes full 101 'no address is left in pool single (1 address)' '`railctl ipam lease list` shows the owners'
	describes nopool 7 "pool nowhere does not exist on node n$NODE" 'for a pool of this node alone:'
	describes nomaster 7 'master: there is no interface "eth77" on this host' '`ip -brief link` lists the interfaces'
	describes mtu 7 'mtu: 9000 is more than the 1500 of master eth1; lower it, or raise that' ''
	describes text 6 'mtu: must be a whole number from 0 to 65535, got "1500"' ''
	describes mode 2 'mode: must be one of bridge, private, vepa, passthru, got "source"' ''
	describes ask 7 'requested address 10.99.0.1 is in none of the configured ranges' 'ask for an address of pool few, or for none'
	describes noipam 105 "ipam.type: failed to find plugin \"other-ipam\" in path [$(cni_path)]" 'install the program'
	describes nordma 108 'this kernel has no RDMA: Protocol not supported' 'load ib_core'
	describes novf 7 'deviceID: missing' ''
	audit
}
# thin Multus adds its own folder
cni_path() { [ "$NODE" = 1 ] && echo /opt/cni/bin:/opt/cni/bin || echo /opt/cni/bin; }

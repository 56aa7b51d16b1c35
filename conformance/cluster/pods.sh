# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# pods.sh: networks, pods, what is said of them, and the audit. Sourced by run.sh.
#
# NODE is the node of the case, NAMESPACE its own namespace of the cluster.

kn() { k -n "$NAMESPACE" "$@"; }

# nad NAME CONFIG: a network; CONFIG is JSON text.
nad()
{
	jq -n --arg name "$1" --arg config "$2" '{apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition",
		metadata: {name: $name}, spec: {config: $config}}' | kn apply -f - >/dev/null || fail "test error: network $1"
}

# macvlan NAME IPAM [FILTER]: a configuration of our plugin, changed by a jq filter; IPAM is JSON, or the name of a pool.
macvlan()
{
	local ipam=$2
	[[ $ipam == *'{'* ]] || ipam='{"pool": "'$ipam'"}'
	jq -cn --arg name "$1" --argjson ipam "$ipam" '{cniVersion: "1.1.0", name: $name, type: "macvlan", master: "eth1",
		ipam: ({type: "railhead-ipam"} + $ipam)} | '"${3-.}"
}

# manifest NAME NETWORKS [FILTER]: a pod on NODE that asks for networks in the annotation, changed by a jq filter.
manifest()
{
	jq -n --arg name "$1" --arg nets "$2" --arg node "n$NODE" --arg image "$IMAGE" '{apiVersion: "v1", kind: "Pod",
		metadata: {name: $name, labels: {app: "box"}, annotations: {"k8s.v1.cni.cncf.io/networks": $nets}},
		spec: {nodeName: $node, terminationGracePeriodSeconds: 1, enableServiceLinks: false, automountServiceAccountToken: false,
			containers: [{name: "c", image: $image, imagePullPolicy: "Never"}]}}
		| if $nets == "" then del(.metadata.annotations) else . end | '"${3-.}"
}
pod() { manifest "$@" | kn create -f - >/dev/null || fail "test error: pod $1"; }

# running NAME...: all become ready; without that the case cannot go on.
running()
{
	kn wait --for=condition=Ready "${@/#/pod/}" --timeout=${LONG}s >"$W/is" 2>&1 && return
	fail "not running within $LONG s: $(tr '\n' ';' <"$W/is" | tail -c 500)"
	exit 1
}
# delete NAME...: and wait until they are gone.
delete() { kn delete --wait --timeout=${LONG}s "${@/#/pod/}" >"$W/is" 2>&1 || fail "not deleted: $(tail -c 500 "$W/is")"; }

# event NAME TEXT: an event of the pod says that.
event_there() { kn get events --field-selector "involvedObject.name=$1" -o json | jq -r '.items[].message' | grep -qF -- "$2"; }
event() { eventually event_there "$@"; }

# status NAME [FILTER]: what Multus wrote into the pod of its networks, a JSON array.
status()
{
	kn get pod "$1" -o json | jq -c '.metadata.annotations["k8s.v1.cni.cncf.io/network-status"] // "[]" | fromjson | '"${2-.}"
}
# address NAME INTERFACE: the addresses of it, by that status.
address() { status "$1" '.[] | select(.interface == "'"$2"'") | .ips[]' | tr -d '"' | tr '\n' ' ' | sed 's/ $//'; }

# inside NAME COMMAND...: in the pod's network namespace, past Kubernetes; the programs are the node's.
inside()
{
	local id n pid
	read -r n id < <(kn get pod "$1" -o json | jq -r '[.spec.nodeName, .status.containerStatuses[0].containerID] | @tsv')
	shift
	n=${n#n} id=${id#containerd://}
	pid=$(node "$n" ctr -n k8s.io task ls | awk -v id="$id" '$1 == id { print $2 }')
	[ -n "$pid" ] || { fail "no process of $id on n$n"; return; }
	node "$n" nsenter -t "$pid" -n "$@"
}
# reaches NAME ADDRESS: a ping from the pod.
reaches() { is "$1 pings $2" kn exec "$1" -- ping -c 1 -W 10 "$2"; }

# kubectl_rail ARGUMENT...: kubectl finds the script in PATH, as people use it. RC; $W/out and $W/err.
kubectl_rail()
{
	PATH=$TOP/packaging/kubectl:$CLUSTER/bin:$PATH timeout "$LONG" "$CLUSTER/bin/kubectl" rail "$@" >"$W/out" 2>"$W/err"
	RC=$?
}

# --- pools -------------------------------------------------------------------------------------

# pool N NAME ARGUMENT...: on node N, deleted when the case ends.
pool()
{
	local n=$1
	shift
	node "$n" railctl ipam pool add "$@" >"$W/is" 2>&1 || fail "pool add $* on n$n: $(<"$W/is")"
}
# Each node has a range of its own, as docs/start.md says.
rails() # NAME [ARGUMENT...]: 10.10.N.0/24 of the network of rail 1, on both nodes
{
	local n name=$1
	shift
	for n in $NODES; do
		pool "$n" "$name" --subnet 10.10.0.0/16 --range "10.10.$n.0/24" --gateway 10.10.0.1 "$@"
	done
}

# leases N: their addresses, a line each.
leases() { node "$1" railctl ipam lease list --json | jq -r '.[] | select(.state == "leased") | .address' | sort; }
records() { node "$1" railctl attachments list --json | jq -r '.[] | .state' | sort; }

# --- the audit ---------------------------------------------------------------------------------

# interfaces N: all interfaces of macvlan in namespaces of pods on the node, as JSON.
interfaces()
{
	node "$1" bash -c 'for f in /run/netns/*; do [ ! -e "$f" ] || ip -n "${f##*/}" -j -d addr; done' |
		jq -cs '[.[][] | select(.linkinfo.info_kind == "macvlan")]'
}
# said N: the addresses that Kubernetes says pods of the node have in further networks.
said()
{
	k get pods -A -o json | jq -r --arg node "n$1" '.items[] | select(.spec.nodeName == $node) | select(.status.phase == "Running")
		| .metadata.annotations["k8s.v1.cni.cncf.io/network-status"] // "[]" | fromjson | .[]
		| select(.interface != "eth0" and .interface != null) | .ips[]?' | sort
}

# balance N: what is wrong between addresses in pods, leases, records and the store of a node; nothing, when all agree.
balance()
{
	local real leased links states
	interfaces "$1" >"$W/interfaces" || { echo "n$1: the interfaces cannot be read"; return; }
	real=$(jq -r '.[].addr_info[] | select(.scope == "global") | .local' "$W/interfaces" | sort)
	links=$(jq length "$W/interfaces")
	leased=$(leases "$1")
	states=$(records "$1")
	[ "$real" = "$leased" ] || echo "n$1: addresses in pods and leases differ: $(diff <(echo "$real") <(echo "$leased") | grep '^[<>]' | tr '\n' ' ')"
	echo "$real" >"$W/real.$1"
	[ "$(grep -c . <<<"$states")" = "$links" ] || echo "n$1: $links interfaces, but $(grep -c . <<<"$states") records"
	[ -z "$(grep -v '^healthy$' <<<"$states")" ] || echo "n$1: records that are $(grep -v '^healthy$' <<<"$states" | sort | uniq -c | tr '\n' ' ')"
	# Until the first ADD a node has no store, and verify says that it checked nothing.
	{ [ -z "$leased$states" ] && node "$1" test ! -e /var/lib/railhead/ipam; } ||
		node "$1" railctl ipam verify >"$W/verify" 2>&1 || echo "n$1: verify: $(tail -c 600 "$W/verify")"
	# What an old version says is not in the pod's status: such a case says so.
	[ -n "${UNSAID-}" ] || [ "$real" = "$(said "$1")" ] ||
		echo "n$1: addresses in pods and in network-status differ: $(diff <(echo "$real") <(said "$1") | grep '^[<>]' | tr '\n' ' ')"
}
balances() # of both nodes; nobody has an address of the other's
{
	local n wrong= twice
	rm -f "$W"/real.*
	for n in $NODES; do
		[ ! -e "$W/n$n/pid" ] || wrong+=$(balance "$n")
	done
	twice=$(cat "$W"/real.* 2>/dev/null | grep . | sort | uniq -d)
	[ -z "$twice" ] || wrong+=" two pods have ${twice//$'\n'/ }"
	printf '%s\n' "$wrong" >"$W/balance"
	[ -z "$wrong" ]
}
# audit: pods come and go for a moment; in the end all agrees.
audit()
{
	eventually balances || fail "$(<"$W/balance")"
}

# empty N: no pod, no interface, no namespace, no lease, no record.
empty()
{
	[ -z "$(leases "$1")" ] && [ -z "$(records "$1")" ] && [ "$(interfaces "$1")" = '[]' ] &&
		[ -z "$(node "$1" sh -c 'ls /run/netns')" ] && { node "$1" railctl ipam verify || ! node "$1" test -e /var/lib/railhead/ipam; }
}

# --- around a case -----------------------------------------------------------------------------

case_begins()
{
	k create namespace "$NAMESPACE" >/dev/null && eventually kn get serviceaccount default || fail "test error: namespace $NAMESPACE"
}

case_ends()
{
	local n name
	kn delete --wait=false --now statefulset,deployment,job,replicaset --all >/dev/null 2>&1
	kn delete --wait --timeout=${LONG}s --grace-period=1 pod --all >"$W/is" 2>&1 || fail "pods stay: $(tail -c 600 "$W/is")"
	for n in $NODES; do
		eventually empty "$n" || {
			fail "n$n: leases $(leases "$n" | tr '\n' ' '); records $(records "$n" | tr '\n' ' '); namespaces $(node "$n" ls /run/netns | tr '\n' ' ')"
			node "$n" railctl attachments repair
		}
		for name in $(node "$n" railctl ipam pool list --json | jq -r '.[].name'); do
			is "pool $name of n$n goes" node "$n" railctl ipam pool delete "$name"
		done
	done
}

# Evidence for people.
what_the_cluster_says()
{
	local n
	k get nodes -o wide
	kn get pods -o wide
	kn get events --sort-by=.lastTimestamp -o json | jq -r '.items[] | [.involvedObject.name, .reason, (.count // 1 | tostring), .message[-400:]] | join(" ")' | grep -v MissingClusterDNS | sort -u | tail -12
	for n in $NODES; do
		[ -e "$W/n$n/pid" ] || continue
		echo "n$n:"
		node "$n" railctl ipam lease list
		node "$n" railctl attachments list
		node "$n" sh -c 'tail -n 2 /var/log/multus.log /var/log/multus-daemon.log 2>/dev/null'
		node "$n" sh -c 'grep -hE "level=(error|fatal)" /var/log/containerd.log | grep -v "ContainerStatus for" | tail -n 2'
	done
}

# stop_world: the sandbox takes processes, namespaces and mounts with it; the groups are ours.
stop_world()
{
	local n pid
	for n in $NODES; do
		[ ! -e "$W/n$n/pid" ] || node_down "$n"
	done
	for pid in "$W"/k8s/*.pid; do
		[ ! -e "$pid" ] || kill -KILL "$(<"$pid")" 2>/dev/null
	done
	cgroups_remove "$W/cgroup" "$GROUP"
} >/dev/null 2>&1

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# multus.sh: what Multus hands the plugins of a pod's further networks. Sourced by run.sh.
#
# A substitute for Multus: it does the steps between the annotation of a pod and the plugin's process. It chooses the
# configuration, runtimeConfig, CNI_ARGS, and the order of commands. A NAD is a file in $NADS. The results of ADD are in $CACHE
# and come back as prevResult. conformance/cluster tests the real Multus, thin and thick.

NADS=$W/nads
CACHE=$W/multus

# nad NAME [FILTER]: a NetworkAttachmentDefinition.
nad()
{
	mkdir -p "$NADS" "$CACHE"
	jq -n --arg name "$1" --arg master "$MASTER" '{cniVersion: "1.0.0", name: $name, plugins: [
		{type: "macvlan", master: $master, ipam: {type: "railhead-ipam", pool: "rails"},
		capabilities: {ips: true, mac: true, deviceID: true, infinibandGUID: true,
			CNIDeviceInfoFile: true, portMappings: true, bandwidth: true}}]} | '"${2-.}" >"$NADS/$1" ||
		fail "test error: nad $1"
}

# pod NAME: a sandbox as the runtime makes it before it calls Multus.
pod()
{
	POD=$1
	CID=$(echo "$1" | sha256sum | cut -c1-64)
	NS=/var/run/netns/cni-$1
	ip netns add "cni-$1"
}
unpod() { ip netns del "cni-$POD"; }

# plugin VERB NAD IFNAME INDEX [PREVRESULT-FILE]: one call. SELECTION has the pod's requests, a JSON object of
# runtimeConfig's keys; DEVICE is the device that the kubelet assigned; CNI_ARGS_MORE is appended to CNI_ARGS.
plugin()
{
	local type args pod
	type=$(jq -r ".plugins[$4].type" "$NADS/$2")
	# Thin Multus writes its own keys first and appends those of the runtime: each one comes twice.
	pod="K8S_POD_NAMESPACE=interop;K8S_POD_NAME=$POD;K8S_POD_INFRA_CONTAINER_ID=$CID;K8S_POD_UID=uid-$POD"
	args="IgnoreUnknown=true;$pod;IgnoreUnknown=1;$pod${CNI_ARGS_MORE-}"
	jq -c --argjson i "$4" --argjson selection "${SELECTION:-{\}}" --arg device "${DEVICE-}" \
		--argjson cniargs "${CNIARGS:-null}" --slurpfile prev "${5:-/dev/null}" '
		. as $list | .plugins[$i] | .name = $list.name | .cniVersion = $list.cniVersion
		| .capabilities as $c | ($selection | with_entries(select($c[.key]))) as $rt
		| if $rt == {} then . else .runtimeConfig = $rt end | del(.capabilities)
		| if $device == "" then . else .deviceID = $device | .pciBusID = $device end
		| if $cniargs == null then . else .args.cni = $cniargs end
		| if $prev == [] then . else .prevResult = $prev[0] end' "$NADS/$2" >"$W/multus.in"
	timeout -k 5 "$LONG" env -i "PATH=$PATH" CNI_COMMAND="$1" CNI_CONTAINERID="$CID" CNI_NETNS="${NETNS-$NS}" \
		CNI_IFNAME="$3" CNI_ARGS="$args" CNI_PATH=/opt/cni/bin "/opt/cni/bin/$type" <"$W/multus.in"
}

# delegate_add NAD IFNAME: all plugins of it, each with the result of the one before.
delegate_add()
{
	local i cached=$CACHE/$CID-$2
	ip -n "cni-$POD" link show dev "$2" >/dev/null 2>&1 && return 1
	rm -f "$cached"
	for ((i = 0; i < $(jq '.plugins | length' "$NADS/$1"); i++)); do
		if [ -e "$cached" ]; then
			plugin ADD "$1" "$2" "$i" "$cached" >"$cached.new"
		else
			plugin ADD "$1" "$2" "$i" >"$cached.new"
		fi || {
			cat "$cached.new"
			return 1
		}
		mv "$cached.new" "$cached"
	done
}
# delegate_del NAD IFNAME: backwards, all of them, with the cached result where there is one.
delegate_del()
{
	local i rc=0 cached=$CACHE/$CID-$2
	[ -e "$cached" ] || cached=
	for ((i = $(jq '.plugins | length' "$NADS/$1") - 1; i >= 0; i--)); do
		plugin DEL "$1" "$2" "$i" "$cached" || rc=1
	done
	rm -f "$CACHE/$CID-$2"
	return $rc
}

# multus_add NAD...: net1, net2, ... for the pod. When one fails all are deleted, and the runtime, which
# gets the error, calls Multus with DEL: they are deleted again.
multus_add()
{
	local name i=0
	for name; do
		i=$((i + 1))
		delegate_add "$name" "net$i" >"$W/multus.out" || {
			multus_del "${@:1:i}"
			multus_del "$@"
			return 1
		}
	done
}
multus_del()
{
	local i rc=0
	for ((i = $#; i > 0; i--)); do
		delegate_del "${!i}" "net$i" || rc=1
	done
	return $rc
}

test_multus_attach()
{
	nad rails-a
	pod a
	is 'add of a' multus_add rails-a
	attached "$NS" net1
	pod b
	is 'add of b' multus_add rails-a
	attached "$NS" net1
	reach "$NS" "$(addresses /var/run/netns/cni-a net1)"
	reach "$NS" "$GATEWAY"
	is 'del of b' multus_del rails-a
	unpod
	POD=a CID=$(echo a | sha256sum | cut -c1-64) NS=/var/run/netns/cni-a
	is 'del of a' multus_del rails-a
	unpod
	no_left_over
}

# Everything that a pod can request, at once. macvlan ignores requests that it does not support.
test_multus_runtime_config()
{
	local SELECTION DEVICE=0000:03:00.1 CNIARGS='{"speed": "fast"}' n info=/run/k8s.cni.cncf.io/devinfo/cni/rails-net1
	mkdir -p "${info%/*}"
	echo '{"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:03:00.1"}}' >"$info"
	SELECTION=$(jq -n --arg info "$info" '{ips: ["10.77.0.61/24"], mac: "02:77:00:00:00:61",
		deviceID: "0000:03:00.1", infinibandGUID: "c2:11:22:33:44:55:66:77", CNIDeviceInfoFile: $info,
		portMappings: [{hostPort: 8080, containerPort: 80, protocol: "tcp"}],
		bandwidth: {ingressRate: 1000000, ingressBurst: 1000000}}')
	nad rails-a
	pod a
	is add multus_add rails-a
	attached "$NS" net1
	eq address "$(addresses "$NS" net1)" 10.77.0.61
	eq 'MAC address' "$(link "$NS" net1 .address)" 02:77:00:00:00:61
	n=$(first macvlan ADD)
	eq 'what was handed over' "$(input "$n" '[.deviceID, .pciBusID, .args.cni.speed, .runtimeConfig.infinibandGUID]')" \
		'["0000:03:00.1","0000:03:00.1","fast","c2:11:22:33:44:55:66:77"]'
	has 'what the IPAM was handed' "$(input "$(first railhead-ipam ADD)" .runtimeConfig.ips)" 10.77.0.61/24
	eq 'device information' "$(jq -r '.pci["pci-address"]' "$info")" 0000:03:00.1
	is del multus_del rails-a
	no_left_over
	unpod
}

# The older ways to ask.
test_multus_cni_args()
{
	local CNI_ARGS_MORE CNIARGS
	nad rails-a
	pod a
	CNI_ARGS_MORE=';MAC=02:77:00:00:00:62;IP=10.77.0.62'
	is 'add with CNI_ARGS' multus_add rails-a
	eq address "$(addresses "$NS" net1)" 10.77.0.62
	eq 'MAC address' "$(link "$NS" net1 .address)" 02:77:00:00:00:62
	is del multus_del rails-a
	unset CNI_ARGS_MORE
	CNIARGS='{"ips": ["10.77.0.63"]}'
	is 'add with args.cni' multus_add rails-a
	eq address "$(addresses "$NS" net1)" 10.77.0.63
	is del multus_del rails-a
	no_left_over
	unpod
}

test_multus_same_nad_twice()
{
	local address2
	nad rails-a
	pod a
	is add multus_add rails-a rails-a
	attached "$NS" net1
	attached "$NS" net2
	address2=$(addresses "$NS" net2)
	[ "$(addresses "$NS" net1)" != "$address2" ] || fail "both have $address2"
	# As with a pod whose annotation loses one of them.
	is 'del of one' delegate_del rails-a net1
	eq leases "$(leases)" "$address2"
	attached "$NS" net2
	is 'add of it again' delegate_add rails-a net1
	attached "$NS" net1
	is del multus_del rails-a rails-a
	no_left_over
	unpod
}

# A list of plugins: the device goes into each of them.
test_multus_chain()
{
	local DEVICE=0000:03:00.1
	nad rails-a '.plugins += [{type: "tuning", mtu: 1400}]'
	pod a
	is add multus_add rails-a
	attached "$NS" net1
	eq MTU "$(link "$NS" net1 .mtu)" 1400
	eq 'device of the second' "$(input "$(first tuning ADD)" .deviceID)" 0000:03:00.1
	is del multus_del rails-a
	[[ $(first tuning DEL) < $(first macvlan DEL) ]] || fail 'DEL must go through the chain backwards'
	no_left_over
	unpod
}

# A pod that Multus no longer finds gets an invented success; the plugins see a DEL only.
test_multus_del_without_add()
{
	local NETNS
	nad rails-a
	pod a
	is 'del with a namespace' multus_del rails-a
	NETNS=
	is 'del without one' multus_del rails-a
	unset NETNS
	unpod
	is 'del when it is gone' multus_del rails-a
	eq 'calls of macvlan' "$(commands macvlan)" 'DEL DEL DEL'
	no_left_over
}

test_multus_del_again()
{
	local NETNS
	nad rails-a
	pod a
	is add multus_add rails-a
	cp "$CACHE/$CID-net1" "$W/cached"
	is 'first del' multus_del rails-a
	# retryDeleteOnError keeps the cache for the next.
	cp "$W/cached" "$CACHE/$CID-net1"
	is 'second del, with prevResult' multus_del rails-a
	NETNS=
	is 'third del, without netns' multus_del rails-a
	unset NETNS
	again macvlan
	again railhead-ipam
	no_left_over
	unpod
}

# The second network fails: Multus deletes every delegate, and then the runtime does so again.
test_multus_add_fails()
{
	nad rails-a
	nad broken '.plugins[0].master = "nope0"'
	nad full '.plugins[0].ipam.pool = "one"'
	pod a
	isnt add multus_add rails-a broken
	has 'what the pod is told' "$(<"$W/multus.out")" nope0
	eq 'calls of macvlan' "$(commands macvlan)" 'ADD ADD DEL DEL DEL DEL'
	no_left_over
	eq 'links in the namespace' "$(in_ns "$NS" ip -j link | jq -r '[.[].ifname] | join(" ")')" lo
	isnt 'add with an exhausted pool' multus_add rails-a full full
	has 'what the pod is told' "$(<"$W/multus.out")" 'left in pool one'
	no_left_over
	is 'add of what works' multus_add rails-a full
	attached "$NS" net2
	is del multus_del rails-a full
	no_left_over
	unpod
}

# Another network has default-route: Multus takes ours away, in the pod and in the cached result.
test_multus_default_route_taken()
{
	nad rails-a '.plugins[0].ipam = {type: "railhead-ipam", subnet: "10.77.0.0/24", rangeStart: "10.77.0.2",
		rangeEnd: "10.77.0.9", gateway: "10.77.0.1", routes: [{dst: "0.0.0.0/0"}]}'
	pod a
	is add multus_add rails-a
	eq 'default route' "$(in_ns "$NS" ip -j route show default | jq -r '.[0].gateway')" "$GATEWAY"
	is 'route del' in_ns "$NS" ip route del default
	jq 'del(.routes)' "$CACHE/$CID-net1" >"$W/cached" && cp "$W/cached" "$CACHE/$CID-net1"
	is del multus_del rails-a
	no_left_over
	unpod
}

# GC through Multus names all attachments with a result, of every network. STATUS comes only for the
# cluster's own network.
test_multus_gc_and_status()
{
	nad rails-a '.cniVersion = "1.1.0"'
	nad rails-b '.cniVersion = "1.1.0"'
	pod a
	is add multus_add rails-a rails-b
	is STATUS network_call STATUS rails-a
	is 'GC of the first network' network_call GC rails-a
	is 'GC of the second network' network_call GC rails-b
	attached "$NS" net1
	attached "$NS" net2
	rm "$CACHE/$CID-net2"
	is 'GC of the first network' network_call GC rails-a
	attached "$NS" net1
	eq leases "$(leases | wc -l)" 2
	is 'GC of the second network' network_call GC rails-b
	attached "$NS" net1
	eq leases "$(leases)" "$(addresses "$NS" net1)"
	is del multus_del rails-a rails-b
	no_left_over
	unpod
}
network_call() # VERB NAD
{
	local f valid='[]'
	for f in "$CACHE"/*-net*; do
		valid=$(jq -c --arg id "$(basename "${f%-*}")" --arg name "${f##*-}" \
			'. + [{containerID: $id, ifname: $name}]' <<<"$valid")
	done
	jq -c --argjson valid "$valid" --arg verb "$1" '. as $list | .plugins[0] | .name = $list.name
		| .cniVersion = $list.cniVersion
		| if $verb == "GC" then .["cni.dev/valid-attachments"] = $valid else . end' "$NADS/$2" |
		env -i "PATH=$PATH" CNI_COMMAND="$1" CNI_PATH=/opt/cni/bin /opt/cni/bin/macvlan
}

# Multus is killed between ADD and DEL and its folder is lost: no DEL will ever come, and Multus hands no GC
# to further networks. This is what railctl is for.
test_multus_killed()
{
	nad rails-a
	pod a
	is add multus_add rails-a rails-a
	rm -r "$CACHE"
	eq 'what railctl sees' "$(attachments)" "rails-a net1 healthy
rails-a net2 healthy"
	unpod
	eq 'what railctl sees' "$(attachments)" "rails-a net1 netns-gone
rails-a net2 netns-gone"
	repair
	no_left_over
}

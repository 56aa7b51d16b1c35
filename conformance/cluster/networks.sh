# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# networks.sh: pods come into their networks as the documents say. Sourced by run.sh.

# section TITLE: a section of docs/start.md.
section() { awk -v title="## $1" '$0 == title { on = 1; next } /^## / { on = 0 } on' "$TOP/docs/start.md"; }

# What docs/start.md says of Kubernetes with Multus is done as it stands there: the commands on each node (with that node's range
# for the first one's), the manifests that it names up to the one of the pod.
# quick: both
test_start()
{
	local n commands files pod
	section 'Kubernetes with Multus' >"$W/section"
	commands=$(awk '/^```sh/ { on = 1; next } /^```/ { on = 0 } on' "$W/section" | grep -E '^railctl ipam (node|pool|slices) ')
	files=$(grep -o '(\.\./examples/multus/[a-z0-9-]*\.yaml)' "$W/section" | tr -d '()' | sed 's:^\.\./::' | awk '!seen[$0]++' | sed '/pod\.yaml$/q')
	has 'start.md: commands' "$commands" 'railctl ipam node set 1 '
	has 'start.md: commands' "$commands" 'railctl ipam pool add rail0'
	has 'start.md: manifests' "$files" examples/multus/pod.yaml
	for n in $NODES; do
		is "commands of start.md on n$n" node "$n" bash -ec "$(sed "s/node set 1 /node set $n /" <<<"$commands")"
	done
	pod=$(sed -n 's/^  name: //p' "$TOP/examples/multus/pod.yaml")
	for n in $files; do
		is "kubectl apply -f $n" kn_apply "$TOP/$n"
	done
	running "$pod"
	has 'its address' "$(address "$pod" net1)" "10.10.$NODE."
	reaches "$pod" 10.10.0.1
	audit
	for n in $NODES; do node "$n" rm /etc/railhead/node.json; done
}
# kn_apply FILE [FILTER]: as it is, but on the node of the case and with its range; changed by a jq filter. The namespace is that of the case,
# unless the file names another.
kn_apply()
{
	sed "s/10\.10\.1\./10.10.$NODE./g" "$1" | k create --dry-run=client -o json -f - |
		jq --arg node "n$NODE" --arg namespace "$NAMESPACE" '(.metadata | select(.namespace == "default")).namespace = $namespace
			| if .kind == "Pod" then .spec.nodeName = $node else . end | '"${2-.}" | k apply -f -
}
link() { inside "$1" ip -j -d link show dev "$2" | jq -r ".[0]$3"; }

# example_pool N NAME: a pool of examples/pools with the range of node N.
example_pool()
{
	sed "s/\(10\.[12]0[0-9]*\)\.1\.0/\1.$1.0/; s/::1:/::$1:/g" "$TOP/examples/pools/$2.json" | node "$1" tee /tmp/pool.json >/dev/null &&
		pool "$1" "$2" --file /tmp/pool.json
}
example_pools() # NAME...: on both nodes
{
	local n name
	for n in $NODES; do
		for name; do example_pool "$n" "$name"; done
	done
}

# said_exactly POD NETWORK=INTERFACE... : network-status has these networks in this order, each with what the kernel has,
# and nothing else. CNIVERSION: with 1.1.0 there is an mtu, too. ALSO: what else there is to be, a JSON object.
said_exactly()
{
	local p=$1 want
	shift
	inside "$p" ip -j -d addr >"$W/kernel"
	want=$(printf '%s\n' "$@" | jq -cnR --slurpfile k "$W/kernel" --arg ns "$NAMESPACE" --arg version "${CNIVERSION:-1.1.0}" \
		--argjson also "${ALSO:-{\}}" '
		[inputs | split("=") | . as [$net, $dev] | ($k[0][] | select(.ifname == $dev)) as $l
		| {name: "\($ns)/\($net)", interface: $dev, ips: [$l.addr_info[] | select(.scope == "global") | .local], mac: $l.address, dns: {}}
		+ (if $version == "1.1.0" then {mtu: $l.mtu} else {} end) + $also]')
	eq "network-status of $p" "$(status "$p" '[.[] | select(.default != true)]' | jq -cS .)" "$(jq -cS . <<<"$want")"
	[ "$(jq length <<<"$want")" = $# ] || fail "$p has not all of: $*"
}

# All forms of a pod's request: short and JSON; one, two and eight networks; a name for the interface.
# A network of a namespace; one network twice; a requested address and MAC address.
test_forms()
{
	local i short='' all=()
	for ((i = 0; i < 8; i++)); do
		short+=,rail$i
		all+=("rail$i=net$((i + 1))")
	done
	# shellcheck disable=SC2046 # words
	example_pools $(printf 'rail%s ' 0 1 2 3 4 5 6 7)
	is 'eight rails' kn_apply "$TOP/examples/multus/nccl-rails.yaml"
	nad wishes "$(macvlan wishes rail1 '.capabilities = {ips: true, mac: true}')"
	pod s1 rail1
	pod s2 rail1,rail2
	pod s8 "${short#,}"
	pod named rail1@fast0
	pod space "$NAMESPACE/rail1"
	pod twice rail1,rail1
	pod j1 '[{"name": "rail1"}]'
	pod j2 '[{"name": "rail1", "interface": "a0"}, {"name": "rail2", "interface": "b0"}]'
	pod j8 "$(annotation "$TOP/examples/multus/nccl-pod.yaml")"
	pod wish '[{"name": "wishes", "ips": ["10.201.'"$NODE"'.77"], "mac": "02:00:5e:10:00:01"}]'
	running s1 s2 s8 named space twice j1 j2 j8 wish
	said_exactly s1 rail1=net1
	said_exactly s2 rail1=net1 rail2=net2
	said_exactly s8 "${all[@]}"
	said_exactly named rail1=fast0
	said_exactly space rail1=net1
	said_exactly twice rail1=net1 rail1=net2
	said_exactly j1 rail1=net1
	said_exactly j2 rail1=a0 rail2=b0
	said_exactly j8 "${all[@]}"
	said_exactly wish wishes=net1
	eq 'the wished address' "$(address wish net1)" "10.201.$NODE.77"
	eq 'the wished MAC address' "$(status wish '.[1].mac')" '"02:00:5e:10:00:01"'
	audit
}
# annotation FILE: the networks that the pod of a manifest asks for.
annotation() { k create --dry-run=client -o json -f "$1" | jq -r '.metadata.annotations["k8s.v1.cni.cncf.io/networks"]'; }

# Every version that a network can be written in. Results before 0.3.0 have no interfaces, so that Multus says nothing of
# them (examples/README.md says so); the pod has its address all the same.
test_versions()
{
	local v names=()
	rails ver
	for v in none 0.1.0 0.2.0 0.3.0 0.3.1 0.4.0 1.0.0 1.1.0; do
		nad "v${v//./}" "$(macvlan "v${v//./}" ver "if \"$v\" == \"none\" then del(.cniVersion) else .cniVersion = \"$v\" end")"
		pod "p${v//./}" "v${v//./}"
		names+=("p${v//./}")
	done
	running "${names[@]}"
	for v in none 0.1.0 0.2.0; do
		eq "further networks said with $v" "$(status "p${v//./}" '[.[] | select(.default != true)]')" '[]'
		has "address with $v" "$(inside "p${v//./}" ip -brief addr show dev net1)" " 10.10.$NODE."
	done
	for v in 0.3.0 0.3.1 0.4.0 1.0.0 1.1.0; do
		CNIVERSION=$v said_exactly "p${v//./}" "v${v//./}=net1"
	done
	UNSAID=1 audit
}

# Both families from two pools, with a route: the unchanged example.
test_dual_stack()
{
	local route
	example_pools rail0 rail0-v6
	is 'the network' kn_apply "$TOP/examples/multus/dual-stack.yaml"
	pod dual rail0-dual
	running dual
	said_exactly dual rail0-dual=net1
	eq 'addresses by family' "$(status dual '[.[1].ips[] | contains(":")]')" '[false,true]'
	reaches dual 10.10.0.1
	reaches dual fd00:10:10::1
	route=$(inside dual ip -j route show 10.20.0.0/16 | jq -c '.[] | [.dev, .gateway, .metric, (.metrics[0].mtu // .mtu)]')
	eq 'its route' "$route" '["net1","10.10.0.1",50,1400]'
	audit
}

# A default route of a second network: where it leads, and what is tried in which order, is as with the reference's macvlan.
# quick: thin
test_default_route()
{
	local routes='"routes": [{"dst": "0.0.0.0/0"}]' ref ours i
	rails def
	for i in a b; do
		nad "ours-$i" "$(macvlan "ours-$i" "{\"pool\": \"def\", $routes}")"
		nad "ref-$i" "$(macvlan "ref-$i" "{\"type\": \"host-local\", \"subnet\": \"10.10.0.0/16\", \"gateway\": \"10.10.0.1\",
			\"rangeStart\": \"10.10.10$NODE.1\", \"rangeEnd\": \"10.10.10$NODE.99\", $routes}" '.type = "reference-macvlan" | .cniVersion = "1.0.0"')"
	done
	pod ref-one ref-a
	pod ref-two ref-a,ref-b
	running ref-one ref-two
	ref=$(way_out ref-one; way_out ref-two)
	delete ref-one ref-two
	pod our-one ours-a
	pod our-two ours-a,ours-b
	running our-one our-two
	ours=$(way_out our-one; way_out our-two)
	eq 'default routes, and where a packet goes' "$ours" "$ref"
	audit
}
# way_out POD: the devices of its default routes in order, and that of a packet to the world.
way_out()
{
	inside "$1" ip -j route show default | jq -c 'map([.dev, .metric] + ((.nexthops // []) | map(.dev)))'
	inside "$1" ip -j route get 198.51.100.1 | jq -c '.[0] | [.dev, .gateway]'
}

# Configurations for host-local and whereabouts after their migration, as in the examples.
test_moved_over()
{
	is 'from host-local' kn_apply "$TOP/examples/multus/from-host-local.yaml"
	is 'from whereabouts' kn_apply "$TOP/examples/multus/from-whereabouts.yaml"
	pod lan legacy-lan
	pod rdma legacy-rdma
	running lan rdma
	# Multus writes the gateway of a default route that names none like this, with the reference plugins as well.
	CNIVERSION=0.4.0 ALSO='{"dns": {"nameservers": ["192.0.2.53"]}, "gateway": ["<nil>"]}' said_exactly lan legacy-lan=net1
	CNIVERSION=0.3.1 said_exactly rdma legacy-rdma=net1
	# The store of the first is in another folder (dataDir): it is compared by itself.
	delete lan
	audit
}

# Each network of examples/multus, unchanged. Those with all rails run. The pod with two networks needs ipvlan: a kernel without it refuses
# the second network, and nothing of the first one is left. Pods of the networks with VFs and RDMA say what this node lacks.
test_examples()
{
	local file i
	trap 'k -n kube-system delete net-attach-def --all; node "$NODE" rm /etc/railhead/rails.json' EXIT
	example_pools rail0 rail1 rail2 rail3 rail4 rail5 rail6 rail7
	node "$NODE" mkdir -p /etc/railhead
	node "$NODE" tee /etc/railhead/rails.json <"$TOP/examples/rails/rails.json"
	for file in "$TOP"/examples/multus/*.yaml; do
		case ${file##*/} in *pod*.yaml | *job.yaml) continue ;; esac
		is "kubectl apply -f $file" kn_apply "$file"
	done
	running trainer rails-alone
	eq 'the rails of the pod' "$(status trainer '[.[] | select(.interface != "eth0").interface]' | jq -r 'join(" ")')" 'net1 net1r1 net1r2 net1r3 net1r4 net1r5 net1r6 net1r7'
	for i in 2 3 4 5 6 7; do has "the address of rail $i" "$(address trainer "net1r$i")" "10.20$i.$NODE."; done
	pod shared rail0-shared
	pod vf rail0-roce
	is 'the pod with two networks' kn_apply "$TOP/examples/multus/pod-two-networks.yaml"
	if node "$NODE" sh -c 'ip link add link eth2 name probe0 type ipvlan && ip link del probe0'; then
		running two-networks
		said_exactly two-networks rail0=net1 storage=storage0
		eq 'the address that it asks for' "$(address two-networks net1)" "10.10.$NODE.7"
		eq 'the MAC address that it asks for' "$(status two-networks '.[1].mac')" '"02:00:5e:10:00:01"'
	else
		describes two-networks 100 'create ipvlan storage0 on eth2' 'kernel: Unknown device type; this kernel has no ipvlan'
	fi
	describes shared 108 'this kernel has no RDMA: Protocol not supported' 'load ib_core'
	describes vf 7 'deviceID: missing' ''
	delete shared vf two-networks trainer rails-alone
	eventually nothing_at_all "$NODE"
}

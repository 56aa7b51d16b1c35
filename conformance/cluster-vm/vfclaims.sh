# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# vfclaims.sh: VFs by resource claims: a VF of each rail by one line in the pod, and single VFs by a claim. Sourced by run.sh.
#
# Rail 0 is pf0 and rail 1 is pf1; each has two VFs. It uses functions of ../cluster/resourceclaims.sh.

# vfclaims_begin NETWORK [CLAIMS]: of the classes, and of agent.json.
vfclaims_begin()
{
	trap vfclaims_end EXIT
	is 'files of the agent' guest packaging/kubernetes/rootfs.sh /vm/bin "$(node_root 1)/opt/railheadd"
	is 'programs' guest cp /vm/bin/railhead /vm/bin/railhead-hook "$(node_root 1)/opt/cni/bin"
	is 'a folder' node 1 mkdir -p /etc/railhead
	is 'the rails' node 1 tee /etc/railhead/rails.json <<<'{"rails": [{"rail": 0, "interface": "pf0"}, {"rail": 1, "interface": "pf1"}]}'
	rail_pools
	is 'rights' k apply -f "$TOP/packaging/kubernetes/crds" -f "$TOP/packaging/kubernetes/rbac.yaml" -f "$TOP/packaging/kubernetes/policy.yaml" \
		-f "$TOP/packaging/kubernetes/claims.yaml"
	is 'a user' node 1 tee /etc/railhead/kubeconfig < <(kubeconfig agent1)
	is 'the agent' node 1 tee /etc/railhead/agent.json <<<'{"repair": {"every": 1, "grace": 2}, "claims": '"${2-{\}}"',
		"kubernetes": {"kubeconfig": "/etc/railhead/kubeconfig"}}'
	is 'railheadd' service 1 railheadd start
	is 'a log' node 1 touch /var/log/railhead-devices.log
	driver_starts
	rails_class "$CLASS" railhead.io/rails vf-set "$1"
	rails_class vf '' vf "$1"
	rails_class wrong '' vf '{"kind": "macvlan"}'
	[ -n "${2-}" ] || eventually vfclaims_offered "$ALL_VFS"
}
vfclaims_end()
{
	kn delete --wait --now pod --all
	kn delete resourceclaim --all --wait --timeout=${LONG}s
	eventually nothing_of_claims || fail "left of claims: $(<"$W/is")"
	service 1 railhead-devices stop
	service 1 railheadd stop
	node 1 rm -r /etc/railhead /opt/railheadd /opt/cni/bin/railhead /opt/cni/bin/railhead-hook
	k delete deviceclass --ignore-not-found $CLASS vf wrong half shared
	k delete resourceslice --field-selector spec.driver=railhead.io
	k delete railnodes --all
	[ -z "${EXCLUSIVE-}" ] || guest rdma_ends
}
ALL_VFS='rails rail0 rail1 set0 set1 rail0-vf1 rail1-vf1 rail0-vf0 rail1-vf0'
# vfclaims_offered NAMES: of the devices, in the order in which the scheduler takes them.
vfclaims_offered() { [ "$(slices 'map(.name) | join(" ")')" = "\"$1\"" ]; }
vfclaims_generation() { k get resourceslices -o json | jq '[.items[].spec | select(.driver == "railhead.io").pool.generation] | max'; }

# vf_claim NAME CLASS RAIL...: a pod with a claim of a device of this class for each of these rails.
vf_claim()
{
	local name=$1 class=$2
	shift 2
	jq -n --arg name "$name" --arg class "$class" '{apiVersion: "resource.k8s.io/v1", kind: "ResourceClaimTemplate", metadata: {name: $name},
		spec: {spec: {devices: {requests: [$ARGS.positional[] | {name: "rail\(.)", exactly: {deviceClassName: $class,
			selectors: [{cel: {expression: "device.attributes[\"railhead.io\"].rail == \(.)"}}]}}]}}}}' --args "$@" |
		kn apply -f - >/dev/null || fail "test error: the claim of $name"
	by_template "$name"
}
by_template()
{
	counting "$1" '.spec.resourceClaims = [{name: "vfs", resourceClaimTemplateName: "'"$1"'"}]
		| .spec.containers[0].resources = {claims: [{name: "vfs"}]}'
}
# has_rails NAME: its first process saw both rails, and each is a VF of its card.
has_rails()
{
	eq "what the first process of $1 saw" "$(saw "$1")" 'rails: rail0 rail1'
	rail_vfs "$1" >"$W/rails.$1"
	eq "VFs of $1" "$(cut -d' ' -f1,2 "$W/rails.$1" | xargs)" 'rail0 pf0 rail1 pf1'
}
not_scheduled() { kn get pod "$1" -o json | jq -e 'any(.status.conditions[]; .type == "PodScheduled" and .status == "False")'; }
rail_address() { inside "$1" ip -j addr show dev "$2" | jq -r '.[0].addr_info[] | select(.family == "inet").local'; }

# A set and single VFs of the same rails. The scheduler gives none twice. Those in pods stay offered. One that a pod has by Multus does not.
test_vfs_by_claims()
{
	local generation
	vfclaims_begin '{"kind": "sriov", "ipam": '"$RAIL_POOLS"'}'
	generation=$(vfclaims_generation)
	counting a
	vf_claim b vf 0 1
	running a b
	has_rails a
	has_rails b
	eq 'different VFs' "$(cat "$W/rails.a" "$W/rails.b" | cut -d' ' -f3 | sort -u | wc -l)" 4
	eq leases "$(leases 1 | wc -l)" 4
	eq records "$(records 1 | xargs)" 'healthy healthy'
	is 'a pings b' inside a busybox ping -c 1 -W 5 "$(rail_address b rail0)"
	counting late
	eventually not_scheduled late
	eq 'slices were not written again' "$(vfclaims_generation)" "$generation"
	delete b
	running late
	has_rails late
	eq 'the VFs of late were those of b' "$(sort "$W/rails.late")" "$(sort "$W/rails.b")"
	delete late
	vf_claim d wrong 0
	event d 'but the device is of VFs'
	delete d
	rail taken pf0
	pod m taken
	running m
	eventually vfclaims_offered 'rails rail0 rail1 set0 rail1-vf1 rail0-vf0 rail1-vf0'
	delete m
	eventually vfclaims_offered "$ALL_VFS"
}

# Each group of rails has as many sets as its rails have VFs. They and the sets of all rails take the same VFs.
test_vfs_of_groups()
{
	vfclaims_begin '{"kind": "sriov", "ipam": '"$RAIL_POOLS"'}' '{"groups": {"a": [0], "b": [1]}}'
	rails_class half '' vf-group '{"kind": "sriov", "ipam": '"$RAIL_POOLS"'}'
	eventually vf_groups_are 'rails-a-vf0 rails-a-vf1 rails-b-vf0 rails-b-vf1'
	half a a
	half b b
	running a b
	rail_vfs a >"$W/a"
	eq 'the rail of a' "$(cut -d' ' -f1,2 "$W/a")" 'rail0 pf0'
	eq 'the rail of b' "$(rail_vfs b | cut -d' ' -f1,2)" 'rail1 pf1'
	eq 'the VF of a' "$(cut -d' ' -f3 "$W/a")" "$(node 1 basename "$(node 1 readlink /sys/class/net/pf0/device/virtfn1)")"
	counting set
	running set
	has_rails set
	half late a
	eventually not_scheduled late
	delete set
	running late
	eq 'the rail of late' "$(rail_vfs late | cut -d' ' -f1,2)" 'rail0 pf0'
}
vf_groups_are() { [ "$(slices '[.[] | select(.attributes.kind.string == "vf-group") | .name] | sort | join(" ")')" = "\"$1\"" ]; }
# half NAME GROUP: a pod with VFs of this group.
half()
{
	jq -n --arg name "$1" --arg group "$2" '{apiVersion: "resource.k8s.io/v1", kind: "ResourceClaimTemplate", metadata: {name: $name},
		spec: {spec: {devices: {requests: [{name: "vfs", exactly: {deviceClassName: "half",
			selectors: [{cel: {expression: "device.attributes[\"railhead.io\"].group == \"\($group)\""}}]}}]}}}}' |
		kn apply -f - >/dev/null || fail "test error: the claim of $1"
	by_template "$1"
}

# In mode exclusive the RDMA device of each VF moves, too. A gate or a plugin that is killed meanwhile loses none.
test_rdma_by_claims()
{
	local all mode
	EXCLUSIVE=yes
	trap 'guest rdma_ends' EXIT
	is 'RDMA devices' guest rdma_begins pf0/0 pf1/0 pf0/1 pf1/1
	is 'mode exclusive' guest eventually node 1 railctl rdma mode exclusive --modprobe-dir /run
	all=$(rdma_of_host)
	eq 'RDMA devices of the host' "$all" 'hca0 hca1 hca2 hca3'
	vfclaims_begin '{"kind": "sriov", "rdma": "exclusive", "ipam": '"$RAIL_POOLS"'}'
	# As a class of the chart does.
	is 'the class selects the mode' k patch deviceclass $CLASS --type=json -p '[{"op": "add", "path": "/spec/selectors/-", "value": {"cel": {"expression":
		"has(device.attributes[\"railhead.io\"].rdma) && device.attributes[\"railhead.io\"].rdma == \"exclusive\""}}}]'
	rails_class shared '' card '{"kind": "macvlan", "rdma": "shared"}'
	eq 'RDMA of devices' "$(slices 'map("\(.name) \(.attributes.rdma.string)") | sort | join(", ")')" \
		'"rail0 null, rail0-vf0 exclusive, rail0-vf1 exclusive, rail1 null, rail1-vf0 exclusive, rail1-vf1 exclusive, rails null, set0 exclusive, set1 exclusive"'
	vf_claim m shared 0
	event m 'this node is in RDMA mode exclusive, in which a pod sees only devices that moved into it'
	delete m
	for mode in gate chain; do
		is "by the $mode" guest rails_by "$mode"
		with_rdma a
		with_rdma b
		running a b
		has_rdma a
		has_rdma b
		eq 'those of both' "$({ devices_of a && devices_of b; } | xargs -n 1 | sort | xargs)" "$all"
		eq 'RDMA devices of the host' "$(rdma_of_host)" ''
		is 'a opens the file of its device' opens a a
		has 'a opens the file of another pod' "$(opens a b 2>&1)" 'Operation not permitted'
		delete a b
		eq 'RDMA devices of the host' "$(rdma_of_host)" "$all"
		killed_when 'compgen -G "'$CLAIMS'/*/*.result" >/dev/null' "$mode"
		killed_when '[ ! -e /sys/class/infiniband/hca0 ]' "$mode"
	done
	is 'by the gate' guest rails_by gate
}
rdma_of_host() { node 1 ls /sys/class/infiniband | sort | xargs; }
# with_rdma NAME: a pod with a set, whose first process says which RDMA devices it has.
with_rdma() { counting "$1" '.spec.containers[0].command[2] |= sub("; trap"; "; echo rdma: $(echo $(ls /sys/class/infiniband)); trap")'; }
has_rdma()
{
	local vf want=
	has_rails "$1"
	for vf in $(cut -d' ' -f3 "$W/rails.$1"); do want+=" $(device_of "$vf")"; done
	want=$(xargs -n 1 <<<"$want" | sort | xargs)
	eq "RDMA devices of $1" "$(devices_of "$1")" "$want"
	eq "what the first process of $1 saw" "$(kn logs "$1" | sed -n 's/^rdma: //p')" "$want"
}
# opens NAME OTHER: does a container of the pod open the file of the first RDMA device of the other one?
opens()
{
	local device file
	device=$(devices_of "$2" | cut -d' ' -f1)
	file=$(node 1 sh -c "grep -lx '$device' /sys/class/infiniband_verbs/*/ibdev")
	kn exec "$1" -- sh -c ": <>/dev/infiniband/$(basename "$(dirname "$file")")"
}
# killed_when EVENT MODE: the gate, or the chained plugin, is killed as soon as this is so.
killed_when()
{
	guest kills "$([ "$2" = gate ] && echo railhead-hook || echo railhead)" "$1" >"$W/killed" 2>&1 &
	with_rdma k
	wait $! || fail "nothing was killed: $(<"$W/killed")"
	running k
	has_rdma k
	delete k
	eventually rdma_is_back "$all" || fail "RDMA devices of the host: $(rdma_of_host)"
	eventually nothing_of_claims || fail "left of claims: $(<"$W/is")"
}
rdma_is_back() { [ "$(rdma_of_host)" = "$1" ]; }

# root_of ADDRESS: the root complex above it, as the kernel names it.
root_of() { node 1 readlink -f "/sys/bus/pci/devices/$1" | cut -d/ -f4; }

# A GPU and the rail below the same PCIe root, by one claim: examples/claims/nearest-rail.yaml. Devices of the real dra-example-driver lack the
# attribute pcieRoot, which NVIDIA's have. So a slice by hand offers them once more, with the root of a display device. The scheduler compares it
# with that of our slices, and dra-example-driver prepares the device. GPU 0 is beside rail 1, so that the order of devices does not decide.
test_the_rail_nearest_to_a_gpu()
{
	local gpus
	gpus=("$(gpu_beside pf1)" "$(gpu_beside pf0)")
	vfclaims_begin '{"kind": "sriov", "ipam": '"$RAIL_POOLS"'}'
	rails_class rail '' card '{"kind": "macvlan", "ipam": '"$RAIL_POOLS"'}'
	claims_begin "${gpus[@]}"
	trap 'claims_end; vfclaims_end; k delete deviceclass rail' EXIT
	isnt 'both GPUs have one root' test "$(root_of "${gpus[0]}")" = "$(root_of "${gpus[1]}")"
	jq -n --arg driver $CLAIMS_DRIVER '{apiVersion: "resource.k8s.io/v1", kind: "ResourceSlice", metadata: {name: "roots"}, spec: {driver: $driver,
		pool: {name: "roots", generation: 1, resourceSliceCount: 1},
		nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: "kubernetes.io/hostname", operator: "In", values: ["n1"]}]}]},
		devices: [$ARGS.positional | to_entries[] | {name: "gpu-\(.key)", attributes: {"resource.kubernetes.io/pcieRoot": {string: .value}}}]}}' \
		--args "$(root_of "${gpus[0]}")" "$(root_of "${gpus[1]}")" | k create -f - >/dev/null || fail 'test error: the slice'
	of_example nearest-rail.yaml
	running inference
	eq 'its GPU' "$(gpus_in inference)" gpu-0
	eq 'its rail' "$(saw inference server)" 'rails: rail1'
	of_example nearest-rail.yaml '.metadata.name = "vf-\(.metadata.name)" | if .kind == "Pod" then .spec.resourceClaims[0].resourceClaimTemplateName = "vf-gpu-and-rail"
		else .spec.spec.devices.requests[1].exactly.deviceClassName = "vf" end'
	running vf-inference
	eq 'the GPU of the second pod' "$(gpus_in vf-inference)" gpu-1
	eq 'its rail' "$(saw vf-inference server)" 'rails: rail0'
	eq 'its VF' "$(rail_vfs vf-inference | cut -d' ' -f1,2)" 'rail0 pf0'
	delete inference vf-inference
}

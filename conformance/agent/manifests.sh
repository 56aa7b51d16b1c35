# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Objects that people apply: those of `railctl topo --dra`, and examples. The real API server takes them, and the real scheduler allocates.

TESTDATA=$HERE/../../topo/testdata

# ---- rails for DRA drivers ----

# machine NAME: the options that name a captured machine
machine()
{
	local tree
	if [ -e "$TESTDATA/nccl-xml/$1.xml" ]; then
		echo --nccl-xml "$TESTDATA/nccl-xml/$1.xml"
	else
		tree=$(mktemp -d -p "$W") && tar -xf "$TESTDATA/sysfs/$1".tar.* -C "$tree"
		echo --sysfs "$tree" --class 0x0b40
	fi
}
# rails DRIVER OPTION...: the objects of a machine, without those of types that a driver brings
rails() { "$BIN/railctl" topo --json --dra "$@" | jq '.items |= map(select(.apiVersion == "resource.k8s.io/v1"))'; }

test_manifests_rails_are_device_classes()
{
	local name driver n=0
	NODES=0 cluster_begin
	for name in dgx-a100 azure-nd-a100-v4 oci-bm-gpu-h100 rccl-topo_8p_940 hwloc-8ve hwloc-mic-mlx4; do
		for driver in dranet sriov; do
			# shellcheck disable=SC2046 # words
			rails $driver $(machine "$name") >"$W/rails" || fail "$name: $driver"
			is "$name, $driver" admin -n default apply --dry-run=server -f "$W/rails"
			hasnt "$name, $driver" "$(<"$W/is")" Warning
			n=$((n + $(grep -c 'created (server dry run)' "$W/is")))
		done
	done
	[ $n -ge 100 ] || fail "only $n objects"
	# YAML, as people apply it
	# shellcheck disable=SC2046
	"$BIN/railctl" topo $(machine oci-bm-gpu-h100) --dra dranet >"$W/rails"
	is "YAML" admin -n default apply --dry-run=server -f "$W/rails"
	# It reads the expressions.
	# shellcheck disable=SC2046
	rails dranet $(machine dgx-a100) | sed "s/device.driver == 'dra.net'/device.drive == 'dra.net'/" >"$W/rails"
	isnt "a wrong expression" admin -n default apply --dry-run=server -f "$W/rails"
	has "a wrong expression" "$(<"$W/is")" "undefined field 'drive'"
}

# function ROOT PARENT ADDRESS VENDOR CLASS: of a tree as sysfs shows it
pci_function()
{
	local at=$W/tree/sys/devices/$1/${2:+$2/}$3
	mkdir -p "$at" "$W/tree/sys/bus/pci/devices"
	echo "$4" >"$at/vendor"
	echo "$5" >"$at/class"
	echo 0x1021 >"$at/device"
	echo "$4" >"$at/subsystem_vendor"
	echo 0x0001 >"$at/subsystem_device"
	echo "${1:6:1}" >"$at/numa_node"
	ln -s "../../../devices/$1/${2:+$2/}$3" "$W/tree/sys/bus/pci/devices/$3"
}
# rdma_device ROOT PARENT ADDRESS NAME
rdma_device()
{
	local at=$W/tree/sys/devices/$1/$2/$3/infiniband/$4
	mkdir -p "$at/ports/1" "$W/tree/sys/class/infiniband"
	echo "4: ACTIVE" >"$at/ports/1/state"
	echo Ethernet >"$at/ports/1/link_layer"
	echo "400 Gb/sec (4X NDR)" >"$at/ports/1/rate"
	ln -s ../.. "$at/device"
	ln -s "../../devices/$1/$2/$3/infiniband/$4" "$W/tree/sys/class/infiniband/$4"
}
# A machine with a GPU and an HCA of two VFs below each of two root complexes.
two_rails()
{
	local i root port vf
	for i in 0 1; do
		root=pci0000:${i}0 port=0000:${i}0:01.0
		pci_function "$root" "" "$port" 0x8086 0x060400
		pci_function "$root" "$port" "0000:${i}1:00.0" 0x10de 0x030200
		pci_function "$root" "$port" "0000:${i}2:00.0" 0x15b3 0x020000
		rdma_device "$root" "$port" "0000:${i}2:00.0" "mlx5_$i"
		for vf in 1 2; do
			pci_function "$root" "$port" "0000:${i}2:00.$vf" 0x15b3 0x020000
			ln -s "../0000:${i}2:00.0" "$W/tree/sys/devices/$root/$port/0000:${i}2:00.$vf/physfn"
			ln -s "../0000:${i}2:00.$vf" "$W/tree/sys/devices/$root/$port/0000:${i}2:00.0/virtfn$((vf - 1))"
		done
	done
}

# The devices of that machine, as the drivers publish them: those of NVIDIA, DRANET and dra-driver-sriov, by their sources in autumn of 2026.
published()
{
	jq -n '
		def name: gsub("[:.]"; "-");
		def standard($i; $bdf): {"resource.kubernetes.io/pcieRoot": {string: "pci0000:\($i)0"}, "resource.kubernetes.io/pciBusID": {string: $bdf}};
		def slice($driver; devices): {apiVersion: "resource.k8s.io/v1", kind: "ResourceSlice", metadata: {name: "gpu1-\($driver)"},
			spec: {driver: $driver, nodeName: "gpu1", pool: {name: "gpu1", generation: 1, resourceSliceCount: 1}, devices: [devices]}};
		{apiVersion: "v1", kind: "List", items: [
			slice("gpu.nvidia.com"; range(2) | . as $i | {name: "gpu-\($i)", attributes: (standard($i; "0000:\($i)1:00.0") + {type: {string: "gpu"}})}),
			slice("dra.net"; {name: "eth0", attributes: {"dra.net/ifName": {string: "eth0"}, "dra.net/rdma": {bool: false}}},
				(range(2) | . as $i | range(3) | "0000:\($i)2:00.\(.)" | {name: "pci-\(name)", attributes: (standard($i; .) +
					{"dra.net/pciAddress": {string: .}, "dra.net/rdma": {bool: true}, "dra.net/isSriovVf": {bool: (endswith("0") | not)}})})),
			slice("sriovnetwork.k8snetworkplumbingwg.io"; {name: "other", attributes: {"sriovnetwork.k8snetworkplumbingwg.io/vfID": {int: 0}}},
				(range(2) | . as $i | range(1; 3) | . as $vf | "0000:\($i)2:00.\(.)" | {name: name, attributes: (standard($i; .) +
					{"sriovnetwork.k8snetworkplumbingwg.io/pciAddress": {string: .}, "sriovnetwork.k8snetworkplumbingwg.io/vfID": {int: ($vf - 1)},
					"railhead.io/rail": {int: $i}})}))]}'
}

# A node without a kubelet, which the scheduler takes; and the class that NVIDIA's driver brings.
schedulable_node()
{
	admin apply -f - <<-'END' >/dev/null || return
	{apiVersion: v1, kind: Node, metadata: {name: gpu1}}
	---
	{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: default}}
	---
	apiVersion: resource.k8s.io/v1
	kind: DeviceClass
	metadata: {name: gpu.nvidia.com}
	spec: {selectors: [{cel: {expression: "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'"}}]}
	END
	admin patch node gpu1 --subresource=status --type=merge -p '{"status":{"conditions":[{"type":"Ready","status":"True"}],
		"capacity":{"cpu":"8","memory":"8Gi","pods":"110"},"allocatable":{"cpu":"8","memory":"8Gi","pods":"110"}}}' >/dev/null &&
		admin patch node gpu1 --type=merge -p '{"spec":{"taints":null}}' >/dev/null
}
# pod_of TEMPLATE NAME: a pod with a claim of a ResourceClaimTemplate, which a controller would make
pod_of()
{
	admin -n default get resourceclaimtemplate "$1" -o json | jq --arg n "$2" '{apiVersion, kind: "ResourceClaim", metadata: {name: $n}, spec: .spec.spec}' |
		admin -n default create -f - >/dev/null && admin -n default create -f - >/dev/null <<-END
	{apiVersion: v1, kind: Pod, metadata: {name: $2}, spec: {automountServiceAccountToken: false,
	containers: [{name: a, image: none, resources: {claims: [{name: r}]}}], resourceClaims: [{name: r, resourceClaimName: $2}]}}
	END
}
allocated() { admin -n default get resourceclaim "$1" -o json | jq -er '.status.allocation.devices.results // empty | map(.device) | join(" ")'; }
# gets TEMPLATE POD PATTERN: the devices of a pod, by their names
gets()
{
	pod_of "$1" "$2" || give_up "a pod of $1"
	eventually allocated "$2" || fail "$2: $(scheduler_says "$2")"
	[[ $(allocated "$2") =~ ^$3$ ]] || fail "$1: $(allocated "$2"), not $3"
}
waits()
{
	pod_of "$1" "$2" || give_up "a pod of $1"
	eventually unschedulable "$2"
}
scheduler_says() { admin -n default get pod "$1" -o json | jq -r '.status.conditions[]? | select(.type == "PodScheduled").message'; }
unschedulable() { [[ $(scheduler_says "$1") == *"cannot allocate all claims"* ]]; }

scheduler_end()
{
	local name
	kill "$(<"$W/scheduler.pid")"
	admin -n default delete --all --force --grace-period=0 pods
	# A controller would remove the finalizers.
	for name in $(admin -n default get resourceclaims -o name); do
		admin -n default patch "$name" --type=merge -p '{"metadata":{"finalizers":null}}'
		admin -n default delete --wait=false "$name"
	done
	admin -n default delete --all resourceclaimtemplates
	admin delete --all resourceslices,deviceclasses
	admin delete node gpu1
	rm -rf "$W/tree" "$W/scheduler.pid"
}

test_manifests_a_claim_gets_gpu_and_nic_of_one_rail()
{
	local driver
	[ -x "$KUBE/kube-scheduler" ] || give_up "the scheduler"
	NODES=0 cluster_begin
	trap 'case_ends scheduler_end cluster_end' EXIT
	two_rails
	HOME=$W "$KUBE/kube-scheduler" --kubeconfig="$W/kube/admin.kubeconfig" --leader-elect=false --secure-port=0 >"$W/scheduler.log" 2>&1 &
	echo $! >"$W/scheduler.pid"
	schedulable_node || give_up "a node"
	published | admin create -f - >/dev/null || give_up "what the drivers publish"
	for driver in dranet sriov; do
		rails $driver --sysfs "$W/tree" >"$W/rails" || fail "no rails"
		eq "$driver: pcieRoot" "$(jq -c '[.items[].spec.spec.devices.constraints[0].matchAttribute // empty]' "$W/rails")" \
			'["resource.kubernetes.io/pcieRoot","resource.kubernetes.io/pcieRoot"]'
		is "apply" admin -n default apply -f "$W/rails"
	done
	gets dranet-rail1 d1 'gpu-1 pci-0000-12-00-[12]'
	gets sriov-rail0 s0 'gpu-0 0000-02-00-[12]'
	# The GPU of each rail has a pod.
	waits sriov-rail1 s1
	waits dranet-rail0 d0
}

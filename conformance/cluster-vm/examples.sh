# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# examples.sh: networks and pods of examples/multus with true VFs. Sourced by run.sh.
#
# The files are applied with two changes: the PFs of this node are pf0 and pf1, and no image comes from a registry.

# example NAME: apply this file. example_file FILE: the same.
example() { example_file "$TOP/examples/multus/$1"; }
example_file()
{
	sed 's/"eth1"/"pf0"/g; s/"eth2"/"pf1"/g' "$1" | kn create --dry-run=client -o json -f - |
		jq '(select(.kind == "Pod").spec.containers[].imagePullPolicy) = "Never"' | kn apply -f -
}
# example_begins [KEYS]: the resource nvidia.com/rail0 has the VFs of pf0, with these keys too; the pool rail0 is that of examples/pools.
example_begins()
{
	resources_begin '{"interval": 1, "resources": [{"name": "nvidia.com/rail0", "select": {"pf": "pf0"}'"${1:+, $1}"'}]}'
	eventually example_vfs 2
	example_pool
}
example_pool()
{
	is 'the file of the pool' node 1 tee /run/rail0.json <"$TOP/examples/pools/rail0.json"
	pool 1 rail0 --file /run/rail0.json
}
example_vfs() { k get node n1 -o json | jq -e --arg n "$1" '.status.allocatable["nvidia.com/rail0"] == $n'; }
# example_pod NAME NETWORKS: with a VF of the kubelet.
example_pod() { pod "$1" "$2" '.spec.containers[0].resources.limits = {"nvidia.com/rail0": "1"}'; }
# in_card BDF FILTER: of this VF of pf0, what the card has.
in_card()
{
	local vf
	vf=$(node 1 sh -c 'ls -l /sys/class/net/pf0/device/' | sed -n "s,.* virtfn\([0-9]*\) .*/$1\$,\1,p")
	node 1 ip -j link show dev pf0 | jq -c ".[0].vfinfo_list[] | select(.vf == $vf) | $2"
}

# A pod that asks for nothing, and one that asks for a MAC address and an address, as the network allows.
test_example_sriov()
{
	example_begins
	is 'kubectl apply -f sriov.yaml' example sriov.yaml
	example_pod a rail0-vf
	example_pod b '[{"name": "rail0-vf", "mac": "02:00:5e:10:00:01", "ips": ["10.10.1.77"]}]'
	running a b
	has_vf a pf0
	eq 'the VF that the kubelet gave a' "$(kn exec a -- sh -c 'echo $PCIDEVICE_NVIDIA_COM_RAIL0')" "$VF"
	eq 'in the card' "$(in_card "$VF" '[.vlan_list[0].vlan, .spoofchk, .trust]')" '[100,true,false]'
	eq 'the MTU of a' "$(inside a ip -j link show dev net1 | jq '.[0].mtu')" 9000
	has 'the address of a' "$(address a net1)" 10.10.1.
	eq 'its device in network-status' "$(status a '.[1]["device-info"].pci["pci-address"]')" "\"$VF\""
	has_vf b pf0
	eq 'the VF that the kubelet gave b' "$(kn exec b -- sh -c 'echo $PCIDEVICE_NVIDIA_COM_RAIL0')" "$VF"
	eq 'the address of b' "$(address b net1)" 10.10.1.77
	eq 'the MAC address of b' "$(inside b ip -j link show dev net1 | jq -r '.[0].address')" 02:00:5e:10:00:01
	eventually inside a busybox ping -c 1 -W 5 10.10.1.77
}

# The pod of the file, for as many rails as this node has. A VF of each card has an rxe device.
test_example_all_rail_vfs()
{
	trap 'resources_end; guest rdma_ends; node 1 rm -f /etc/railhead/rails.json' EXIT
	is 'RDMA devices' guest rdma_begins pf0/0 pf1/0
	is 'mode exclusive' guest eventually node 1 railctl rdma mode exclusive --modprobe-dir /run
	rails_begin '"rdma": true'
	trap 'resources_end; guest rdma_ends; node 1 rm -f /etc/railhead/rails.json' EXIT
	eventually rail_vfs_are 2
	sed 's,\(rail_vf: \)8,\12,' "$TOP/examples/multus/all-rail-vfs.yaml" >"$W/all.yaml"
	is 'kubectl apply -f all-rail-vfs.yaml' example_file "$W/all.yaml"
	running trainer-vfs
	rail_vfs trainer-vfs >"$W/rails"
	eq 'its rails' "$(cut -d' ' -f1,2 "$W/rails" | xargs)" 'net1 pf0 net1r1 pf1'
	eq 'its RDMA devices' "$(devices_of trainer-vfs)" 'hca0 hca1'
	has 'files in the container' "$(kn exec trainer-vfs -- ls /dev/infiniband | xargs)" 'uverbs0 uverbs1'
	eq 'RDMA devices of the host' "$(node 1 ls /sys/class/infiniband)" ''
	delete trainer-vfs
	eq 'RDMA devices of the host' "$(node 1 ls /sys/class/infiniband | xargs)" 'hca0 hca1'
}

# The pod of the file, with a GPU as NVIDIA's device plugin gives it.
test_example_nearest_vf()
{
	trap 'guest gpus_end; nvidia_files_end' EXIT
	example_pool
	nvidia_files "$(gpu_beside pf0)" "$(gpu_beside pf1)"
	is 'a device plugin' guest gpus_begin nvidia.com/gpu "$(nvidia_uuid 1)"
	eventually example_gpus
	is 'kubectl apply -f nearest-vf.yaml' example nearest-vf.yaml
	running one-gpu
	has_vf one-gpu pf1
	has 'its address' "$(address one-gpu net1)" 10.10.1.
}
example_gpus() { k get node n1 -o json | jq -e '.status.allocatable["nvidia.com/gpu"] == "1"'; }

# The VFs have rxe devices (rxe.sh).
test_example_rdma_sriov()
{
	trap 'resources_end; guest rdma_ends' EXIT
	is 'RDMA devices' guest rdma_begins
	is 'mode exclusive' guest eventually node 1 railctl rdma mode exclusive --modprobe-dir /run
	example_begins '"rdma": true'
	trap 'resources_end; guest rdma_ends' EXIT
	is 'kubectl apply -f rdma-sriov.yaml' example rdma-sriov.yaml
	example_pod a rail0-roce
	running a
	has_vf a pf0
	eq 'the VF that the kubelet gave' "$(kn exec a -- sh -c 'echo $PCIDEVICE_NVIDIA_COM_RAIL0')" "$VF"
	eq 'RDMA devices of a' "$(devices_of a)" "$(device_of "$VF")"
	has 'files in the container' "$(kn exec a -- ls /dev/infiniband)" uverbs
	eq 'the MTU of a' "$(inside a ip -j link show dev net1 | jq '.[0].mtu')" 9000
	eq 'its RDMA device in network-status' "$(status a '.[1]["device-info"].pci["rdma-device"]')" "\"$(device_of "$VF")\""
	delete a
	eq 'RDMA devices of the host' "$(node 1 ls /sys/class/infiniband | xargs)" 'hca0 hca1'
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# gpus.sh: which GPUs the kubelet gave a pod, as the plugin sriov learns from it. Sourced by run.sh.
#
# The nodes have neither GPUs nor VFs. So each pod fails, and its event shows what the plugin learned from the kubelet.

# gpus RESOURCE ID...: a device plugin of the node gives these devices, until the case ends.
gpus()
{
	/usr/bin/python3 "$HERE/gpu_plugin.py" "/proc/$(node_pid "$NODE")/root/var/lib/kubelet/device-plugins" "$@" >"$W/gpus" 2>&1 &
	PLUGINS+=" $!"
	eventually allocatable "$1" $(($# - 1)) || fail "the device plugin says: $(<"$W/gpus")"
}
allocatable() { k get node "n$NODE" -o json | jq -e --arg name "$1" --arg n "${2:-1}" '.status.allocatable[$name] == $n'; }

# one_of NAME RESOURCE: a pod with a device of this resource.
one_of() { pod "$1" rail '.spec.containers[0].resources.limits = {"'"$2"'": "1"}'; }

# quick: thin
test_gpus_of_a_pod()
{
	local gpu=GPU-5c3f7e7a-0c3d-4b7e-9a53-8d1c6f7a2b10 PLUGINS=''
	/usr/bin/python3 -c 'import grpc' 2>/dev/null || skip 'python3-grpcio is not installed'
	trap 'kill $PLUGINS 2>/dev/null' EXIT
	nad rail '{"cniVersion": "1.1.0", "name": "rail", "type": "sriov", "resource": {"pf": ["0000:7e:00.0"]}, "near": "gpu"}'
	pod none rail
	event none "the kubelet gave the pod $NAMESPACE/none no GPU"
	gpus amd.com/gpu 0000:7f:1f.7
	one_of amd amd.com/gpu
	event amd 0000:7f:1f.7
	event amd 'this machine has no such PCI device'
	gpus nvidia.com/gpu "$gpu::1"
	one_of nvidia nvidia.com/gpu
	event nvidia "$gpu::1"
	event nvidia 'is not in /proc/driver/nvidia/gpus'
	delete none amd nvidia
	eq records "$(records "$NODE")" ''
}

# GPUs by claims: the real scheduler allocates them, and the kubelet lists them in its answer by driver and device.
test_gpus_of_claims()
{
	claims_begin 0000:7f:1f.5 0000:7f:1f.6 0000:7f:1f.7
	nad rail '{"cniVersion": "1.1.0", "name": "rail", "type": "sriov", "resource": {"pf": ["0000:7e:00.0"]}, "near": "gpu"}'
	claimed second rail 1
	claimed third rail 2
	event second '"0000:7f:1f.6": this machine has no such PCI device'
	event third '"0000:7f:1f.7": this machine has no such PCI device'
	eq 'the claim of the second pod' "$(claim_of second)" gpu-1
	eq 'the claim of the third pod' "$(claim_of third)" gpu-2
	is 'a GPU is gone from the files' node "$NODE" rm -r /proc/driver/nvidia/gpus/0000:7f:1f.5
	claimed first rail 0
	event first "$CLAIMS_DRIVER: the GPU of the pod's device \"gpu-0\" is unknown"
	delete first second third
	eq records "$(records "$NODE")" ''
}

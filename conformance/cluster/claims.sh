# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# claims.sh: GPUs that pods get by claims of dynamic resource allocation (DRA). Sourced by run.sh, also by that of ../cluster-vm.
#
# The driver is the real dra-example-driver, on the node of the case. Its devices are gpu-0, gpu-1 and so on, without hardware.
# It runs under the name of NVIDIA's driver, whose devices have such names: the number is the minor of the GPU. Files in
# place of those of NVIDIA's kernel module say which PCI function a minor is.

CLAIMS_DRIVER=gpu.nvidia.com

# nvidia_files ADDRESS...: the GPU at the Nth address, from 0 on, has the minor N and the UUID that nvidia_uuid N prints.
nvidia_files()
{
	# shellcheck disable=SC2016 # expanded in the node
	is 'files of GPUs' node "$NODE" bash -ec 'mount -t tmpfs -o mode=755 nvidia /proc/driver; n=0; for address; do
		mkdir -p "/proc/driver/nvidia/gpus/$address"
		printf "GPU UUID: \t %s%d\nDevice Minor: \t %d\n" "$0" $n $n >"/proc/driver/nvidia/gpus/$address/information"
		n=$((n + 1)); done' "$(nvidia_uuid '')" "$@"
}
nvidia_files_end() { node "$NODE" umount /proc/driver; }
nvidia_uuid() { echo "GPU-5c3f7e7a-0c3d-4b7e-9a53-8d1c6f7a2b1$1"; }

# claims_begin ADDRESS...: the device gpu-N is the GPU at the Nth address, from 0 on. They are gone when the case ends.
claims_begin()
{
	[ -x "$CLUSTER/bin/dra-example-kubeletplugin" ] || skip "dra-example-kubeletplugin is not in $CLUSTER: make cluster-programs"
	trap claims_end EXIT
	nvidia_files "$@"
	is 'the driver' service "$NODE" dra-example-kubeletplugin start
	jq -n --arg driver $CLAIMS_DRIVER '{apiVersion: "resource.k8s.io/v1", kind: "DeviceClass", metadata: {name: $driver},
		spec: {extendedResourceName: "nvidia.com/gpu", selectors: [{cel: {expression: "device.driver == \"\($driver)\""}}]}}' | k apply -f - >/dev/null || fail 'test error: the class'
	eventually claims_devices $#
}
claims_end()
{
	kn delete --wait --now pod --all
	service "$NODE" dra-example-kubeletplugin stop
	nvidia_files_end
	k delete deviceclass $CLAIMS_DRIVER
	k delete resourceslice --all
}
claims_devices()
{
	k get resourceslices -o json | jq -e --arg driver $CLAIMS_DRIVER --arg node "n$NODE" --argjson n "$1" \
		'[.items[].spec | select(.driver == $driver and .nodeName == $node) | .devices[].name] | length == $n'
}

# claimed NAME NETWORK NUMBER...: a pod that claims these devices of its node. It needs the scheduler, which allocates them.
claimed()
{
	local name=$1 network=$2
	shift 2
	jq -n --arg name "$name" --arg driver $CLAIMS_DRIVER '{apiVersion: "resource.k8s.io/v1", kind: "ResourceClaimTemplate", metadata: {name: $name},
		spec: {spec: {devices: {requests: [$ARGS.positional[] | {name: "gpu\(.)", exactly: {deviceClassName: $driver,
			selectors: [{cel: {expression: "device.attributes[\"\($driver)\"].index == \(.)"}}]}}]}}}}' --args "$@" |
		kn apply -f - >/dev/null || fail "test error: the claim of $name"
	pod "$name" "$network" 'del(.spec.nodeName) | .spec.nodeSelector = {"kubernetes.io/hostname": "n'"$NODE"'"}
		| .spec.resourceClaims = [{name: "gpus", resourceClaimTemplateName: "'"$name"'"}] | .spec.containers[0].resources.claims = [{name: "gpus"}]'
}
# gpus_in NAME: the devices whose variables a process of the pod has.
gpus_in() { kn exec "$1" -- sh -c 'export -p' | sed -n "s/^export GPU_DEVICE_[0-9]*='\(.*\)'/\1/p" | sort | xargs; }
# claim_of NAME: the devices that the scheduler allocated.
claim_of()
{
	local claim
	claim=$(kn get pod "$1" -o json | jq -r '.status.resourceClaimStatuses[0].resourceClaimName')
	kn get resourceclaim "$claim" -o json | jq -r '[.status.allocation.devices.results[].device] | sort | join(" ")'
}

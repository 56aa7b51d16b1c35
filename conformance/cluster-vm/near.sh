# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# near.sh: a pod with a GPU gets a VF of the card beside that. Sourced by run.sh.
#
# The GPUs are display devices of the guest, one beside each card (cards.topo). A device plugin gives their addresses to the
# kubelet, as that of AMD does. The kubelet's checkpoint says which pod got which one.

# gpu_beside PF: the address of the one below the same switch.
gpu_beside()
{
	# shellcheck disable=SC2016 # expanded in the node
	node 1 bash -c 'card=$(readlink -f "/sys/class/net/$1/device") && grep -l "^0x0380" "${card%/*/*}"/*/*/class' x "$1" | sed 's,/class$,,; s,.*/,,'
}
allocatable() { k get node n1 -o json | jq -e --arg n "$1" '.status.allocatable["amd.com/gpu"] == $n'; }
# gpus ID...: from now on the node has these, and no others.
gpus()
{
	guest gpus_end
	is 'a device plugin' guest gpus_begin amd.com/gpu "$@"
	eventually allocatable $# || fail "the device plugin says: $(guest cat /run/work/gpus)"
}
with_gpu() { pod "$1" "$2" '.spec.containers[0].resources.limits = {"amd.com/gpu": "1"}'; } # NAME NETWORK
gpu_of()
{
	local uid
	uid=$(kn get pod "$1" -o json | jq -r .metadata.uid)
	node 1 cat /var/lib/kubelet/device-plugins/kubelet_internal_checkpoint |
		jq -r --arg uid "$uid" '.Data.PodDeviceEntries[] | select(.PodUID == $uid).DeviceIDs | .. | strings'
}
near() { nad "$1" '{"cniVersion": "1.1.0", "name": "near", "type": "sriov", "resource": {"pf": ["pf0", "pf1"]}, "near": "gpu"'"${2:+, $2}"'}'; }

test_near_the_gpu()
{
	local gpu0 gpu1 p
	trap 'guest gpus_end' EXIT
	gpu0=$(gpu_beside pf0) gpu1=$(gpu_beside pf1)
	gpus "$gpu0" "$gpu1"
	near near
	pod none near
	event none "the kubelet gave the pod $NAMESPACE/none no GPU"
	kn delete --wait=false pod none
	with_gpu a near
	with_gpu b near
	running a b
	eq 'the GPUs of both' "$(printf '%s\n' "$(gpu_of a)" "$(gpu_of b)" | sort)" "$(printf '%s\n' "$gpu0" "$gpu1" | sort)"
	for p in a b; do
		[ "$(gpu_of $p)" = "$gpu0" ] && has_vf $p pf0 || has_vf $p pf1
	done
}

# All VFs of the nearest card are in use. Without nearOnly the pod would get one of the other card.
test_near_only()
{
	trap 'guest gpus_end' EXIT
	gpus "$(gpu_beside pf1)"
	rail far pf1
	near near '"nearOnly": true'
	pod x far
	pod y far
	running x y
	with_gpu a near
	event a 'error 101'
	has 'kubectl describe pod' "$(kn describe pod a)" 'nearOnly: no free VF of the nearest PFs (pf1)'
	has 'kubectl describe pod' "$(kn describe pod a)" "$NAMESPACE/x"
	delete x
	running a
	has_vf a pf1
}

# near_in FILE CLASS PF=ADDRESS,GPU...: the node is that captured machine, with the PF in place of the HCA at the address. A pod with the GPU
# gets a VF of the PF, over a path of this class.
near_in()
{
	local file=$1 class=$2 p gpu places=() gpus=()
	local -A pf
	for p in "${@:3}"; do
		places+=("${p%,*}") gpus+=("${p#*,}")
		pf[${p#*,}]=${p%%=*}
	done
	captured "$file" "${places[@]}"
	gpus "${gpus[@]}"
	near near
	with_gpu a near
	with_gpu b near
	running a b
	for p in a b; do
		gpu=$(gpu_of $p)
		has_vf $p "${pf[$gpu]-}"
		eq "the path of $p in $file" "$(node 1 railctl vf list --json | jq -r --arg vf "$VF" '.[] | select(.pciAddress == $vf).owner.near | "\(.gpu) \(.class)"')" "$gpu $class"
	done
	delete a b
	is "the tree of $file goes" guest tree_ends
}

# Trees of real machines, whose GPUs and switches decide. The first card is in place of the second HCA, so that the order of the PFs does not.
# In the third one no GPU has a card beside it, and the NUMA node decides.
test_near_in_captured_machines()
{
	trap 'kn delete --wait --now pod --all; guest tree_ends; guest gpus_end' EXIT
	near_in sysfs/hwloc-8ve.tar.bz2 PIX pf1=0000:1a:00.0,0000:1d:00.0 pf0=0000:3e:00.0,0000:40:00.0
	near_in nccl-xml/dgx-a100.xml PXB pf1=0000:0c:00.0,0000:07:00.0 pf0=0000:54:00.0,0000:4e:00.0
	near_in nccl-xml/oci-bm-gpu-h100.xml NODE pf1=0000:0c:00.0,0000:2d:00.0 pf0=0000:d5:00.0,0000:c0:00.0
}

# GPUs by claims, which the scheduler allocates.
test_near_the_gpu_of_a_claim()
{
	claims_begin "$(gpu_beside pf1)" "$(gpu_beside pf0)"
	near near
	claimed a near 0
	claimed b near 1
	running a b
	eq 'the claim of a' "$(claim_of a)" gpu-0
	has_vf a pf1
	has_vf b pf0
}

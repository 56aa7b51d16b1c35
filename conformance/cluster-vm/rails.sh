# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# rails.sh: one network with a VF of each rail. Sourced by run.sh.
#
# Rail 0 is pf0 and rail 1 is pf1, by rails.json or, where the node is a captured machine, by the tree of that.

RAIL_VFS=example.com/rail_vf

rails_begin() # [KEYS]: of the resource, which has the VFs of both cards
{
	resources_begin '{"interval": 1, "resources": [{"name": "'$RAIL_VFS'", "select": {"pf": ["pf0", "pf1"]}'"${1:+, $1}"'}]}'
	trap 'resources_end; node 1 rm /etc/railhead/rails.json' EXIT
	is 'the rails' node 1 tee /etc/railhead/rails.json <<<'{"rails": [{"rail": 0, "interface": "pf0"}, {"rail": 1, "interface": "pf1"}]}'
	rail_pools
}
rail_pools()
{
	pool 1 rail0 --subnet 10.88.0.0/24 --this-node-only
	pool 1 rail1 --subnet 10.88.1.0/24 --this-node-only
}
rails_network() # NAME KEYS
{
	nad "$1" '{"cniVersion": "1.1.0", "name": "'"$1"'", "type": "rails", "kind": "sriov", "routing": "rail",
		"ipam": {"type": "railhead-ipam", "pool": "rail{n}"}, '"$2"'}'
}
rail_vfs_are() { [ "$(k get node n1 -o json | jq -r --arg name $RAIL_VFS '.status.allocatable[$name]')" = "$1" ]; }
with_rail_vfs() { pod "$1" "$2" '.spec.containers[0].resources.limits = {"'$RAIL_VFS'": "'"$3"'"}'; } # NAME NETWORK COUNT
# rail_vfs NAME: "INTERFACE CARD VF" for each rail of the pod, by the kernel.
rail_vfs()
{
	local name vf
	while read -r name vf; do
		echo "$name $(pf_of "$vf" </dev/null) $vf"
	done < <(inside "$1" ip -j -d link | jq -r '.[] | select(.parentdev) | "\(.ifname) \(.parentdev)"')
}
# has_both NAME: a VF of each card, in order, which are those that the kubelet gave.
has_both()
{
	rail_vfs "$1" >"$W/rails"
	eq "rails of $1" "$(cut -d' ' -f1,2 "$W/rails" | xargs)" 'net1 pf0 net1r1 pf1'
	eq "VFs that the kubelet gave $1" "$(kn exec "$1" -- sh -c 'echo $PCIDEVICE_EXAMPLE_COM_RAIL_VF' | tr , '\n' | sort)" "$(cut -d' ' -f3 "$W/rails" | sort)"
	has "network-status of $1" "$(address "$1" net1)" 10.88.0.
	has "network-status of $1" "$(address "$1" net1r1)" 10.88.1.
}
# devices_said NAME: the devices of its rails in network-status.
devices_said() { status "$1" '.[] | select(.interface != "eth0") | .["device-info"].pci["pci-address"]' | tr -d '"'; }

# The kubelet chooses VFs of different cards, as the device plugin prefers. If the network has Multus' annotation, Multus hands over one of them,
# and says at each interface that it is this one.
test_rails_are_all_vfs_that_the_kubelet_gave()
{
	local first p
	rails_begin
	eventually rail_vfs_are 4
	rails_network all '"resourceName": "'$RAIL_VFS'"'
	rails_network annotated '"resourceName": "'$RAIL_VFS'"'
	is 'its resource' kn annotate net-attach-def annotated "k8s.v1.cni.cncf.io/resourceName=$RAIL_VFS"
	with_rail_vfs a all 2
	with_rail_vfs b annotated 2
	running a b
	has_both a
	first=$(sort "$W/rails")
	eq 'devices in network-status' "$(devices_said a | xargs)" 'null null'
	has_both b
	eq 'devices in network-status with the annotation' "$(devices_said b | wc -l) $(devices_said b | sort -u | grep -cxFf <(cut -d' ' -f3 "$W/rails"))" '2 1'
	eq records "$(records 1 | xargs)" 'healthy healthy'
	eq leases "$(leases 1 | wc -l)" 4
	for p in net1 net1r1; do
		is "a pings $p of b" inside a busybox ping -c 1 -W 5 "$(address b $p)"
	done
	is 'VFs in pods are healthy' rail_vfs_are 4
	has 'for people' "$(node 1 railctl cluster status)" "$RAIL_VFS: 4 of 4 healthy"
	with_rail_vfs late all 2
	eventually operator_refuses late
	delete a late
	eq records "$(records 1)" healthy
	with_rail_vfs c all 2
	running c
	has_both c
	eq 'the VFs of c were those of a' "$(sort "$W/rails")" "$first"
	delete c
	with_rail_vfs one annotated 1
	running one
	eq 'a pod with one VF has one rail' "$(rail_vfs one | wc -l) $(records 1 | wc -l)" '1 2'
}

# rails_near_in FILE PF=ADDRESS,GPU...: the node is that captured machine, with the PF in place of the HCA at the address. A pod with the GPU
# gets the rail of this PF, and no other. The kubelet knows the GPU only.
rails_near_in()
{
	local file=$1 p places=() gpus=()
	local -A pf
	for p in "${@:2}"; do
		places+=("${p%,*}") gpus+=("${p#*,}")
		pf[${p#*,}]=${p%%=*}
	done
	captured "$file" "${places[@]}"
	is 'RDMA devices of the cards' guest hcas_of_cards "${places[@]%%=*}"
	gpus "${gpus[@]}"
	with_gpu a near
	with_gpu b near
	running a b
	for p in a b; do
		eq "the rails of $p in $file" "$(rail_vfs $p | cut -d' ' -f1,2)" "net1 ${pf[$(gpu_of $p)]-}"
	done
	delete a b
	is 'they go' guest hcas_of_cards_end
	is "the tree of $file goes" guest tree_ends
}

# As in near.sh, but the plugin finds out by itself which cards are rails.
test_rails_of_a_gpu_are_the_nearest_in_captured_machines()
{
	trap 'kn delete --wait --now pod --all; guest hcas_of_cards_end; guest tree_ends; guest gpus_end' EXIT
	rail_pools
	rails_network near '"rails": "gpu"'
	rails_near_in nccl-xml/dgx-a100.xml pf1=0000:0c:00.0,0000:07:00.0 pf0=0000:54:00.0,0000:4e:00.0
	rails_near_in nccl-xml/oci-bm-gpu-h100.xml pf1=0000:0c:00.0,0000:2d:00.0 pf0=0000:d5:00.0,0000:c0:00.0
}

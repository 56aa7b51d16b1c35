# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# vfs.sh: pods with VFs of one card and of two. Sourced by run.sh.

# card_state: what must be as before when the pods of a case are gone: each VF with its settings and its owner, and the interfaces
# and RDMA devices of the host. The bridge cni0 and its ports belong to the cluster's own network.
card_state()
{
	node 1 sh -c 'railctl vf list --json && ip -brief link | grep -vE "^(cni0|veth)" && { ls /sys/class/infiniband 2>/dev/null; true; }'
}
cards_as_before() { card_state >"$W/cards.after" && cmp -s "$W/cards.before" "$W/cards.after"; }

# rail NAME PF [KEYS]: a network with the VFs of this card; KEYS is JSON text.
rail() { nad "$1" '{"cniVersion": "1.1.0", "name": "'"$1"'", "type": "sriov", "resource": {"pf": ["'"$2"'"]}'"${3:+, $3}"'}'; }

# vf_of NAME: the address of the VF in the pod, by the kernel there; pf_of BDF: the card that has this VF.
vf_of() { inside "$1" ip -j -d link show dev net1 | jq -r '.[0].parentdev'; }
pf_of() { node 1 ls "/sys/bus/pci/devices/$1/physfn/net"; }
# use BDF: what railctl says about this VF.
use() { node 1 railctl vf list --json | jq -r --arg vf "$1" '.[] | select(.pciAddress == $vf).use'; }

# has_vf NAME PF: the pod has a true VF of that card, and the host has its interface no more. VF: its address.
has_vf()
{
	VF=$(vf_of "$1")
	eq "the card of the VF of $1" "$(pf_of "$VF")" "$2"
	eq "the driver of the VF of $1" "$(node 1 basename "$(node 1 readlink "/sys/bus/pci/devices/$VF/driver")")" igbvf
	eq "interfaces of this VF on the host" "$(node 1 ls "/sys/bus/pci/devices/$VF/net")" ''
	eq "its MAC address in network-status" "$(status "$1" '.[] | select(.interface == "net1").mac' | tr -d '"')" \
		"$(inside "$1" ip -j link show dev net1 | jq -r '.[0].address')"
}

test_one_pod()
{
	local first
	rail rail pf0
	pod a rail
	running a
	has_vf a pf0
	first=$VF
	eq 'its use' "$(use "$first")" in-use
	delete a
	eventually cards_as_before || fail "the VF is not back: $(diff "$W/cards.before" "$W/cards.after")"
	eq 'its use' "$(use "$first")" free
	pod b rail
	running b
	has_vf b pf0
	eq 'the VF of the next pod' "$VF" "$first"
}

# The cable between the cards carries traffic of pods, by the addresses of a pool.
test_two_pods_on_two_cards()
{
	local ipam='"ipam": {"type": "railhead-ipam", "pool": "cable"}' to
	pool 1 cable --subnet 10.20.0.0/24 --this-node-only
	rail rail0 pf0 "$ipam"
	rail rail1 pf1 "$ipam"
	pod a rail0
	pod b rail1
	running a b
	has_vf a pf0
	has_vf b pf1
	to=$(address b net1)
	has 'the address of b' "$to" 10.20.0.
	eventually inside a busybox ping -c 1 -W 5 "$to"
	eq 'leases' "$(leases 1 | wc -l)" 2
}

# A card's VFs are counted by the plugin alone: the pod that comes too late says who has them, and gets the one that is given back.
test_more_pods_than_vfs()
{
	rail rail pf0
	pod a rail
	pod b rail
	running a b
	pod late rail
	event late 'error 101'
	delete a
	running late
	has_vf late pf0
}

test_kubelet_restarts()
{
	local vf before
	rail rail pf0
	pod a rail
	running a
	vf=$(vf_of a)
	before=$(kn get pod a -o json | jq -c '.status.containerStatuses[0] | [.containerID, .restartCount]')
	is 'the kubelet is killed' service 1 kubelet kill
	eq 'the VF without a kubelet' "$(vf_of a)" "$vf"
	is 'the kubelet starts' service 1 kubelet start
	pod b rail
	running b
	eq 'the VF of the old pod' "$(vf_of a)" "$vf"
	has_vf b pf0
	eq 'the container of the old pod' "$(kn get pod a -o json | jq -c '.status.containerStatuses[0] | [.containerID, .restartCount]')" "$before"
}

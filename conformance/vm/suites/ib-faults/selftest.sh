# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2016 # expanded by the wrapper
# selftest.sh: a suite of its own: the snapshot of conformance/faults tells what a wrong ib-sriov or ipoib leaves.
# needs: fabric
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/guest/fabric.sh
. conformance/vm/guest/fabric.sh
# shellcheck source=conformance/vm/guest/faults.sh
. conformance/vm/guest/faults.sh
# shellcheck source=conformance/faults/wrong.sh
. conformance/faults/wrong.sh

check "two cards" fabric
ib_pfs
V=0001:01:00.1 # VF 0
left() { wrong "$1" "add $PLUGIN scene:nothing:1" "$2" "$(after_del "$3")"; }
wrong_plugin() # PLUGIN CALLS
{
	wrong_begins "$1" "$BIN" "$2"
	OPTIONS=(--workers 1 --limit 100)
}

# Its VFs are tried first: eight calls.
wrong_plugin ib-sriov 14
left 'a node GUID at the PF' 'changed: host vf ib0 0: ' 'ip link set ib0 vf 0 node_guid 02:00:00:00:00:00:09:00'
left 'a port GUID at the PF' 'changed: host vf ib0 0: ' 'ip link set ib0 vf 0 port_guid 02:00:00:00:00:00:09:00'
left 'GUIDs of the driver' "changed: host function $V: driver fabric net vf0 " \
	"ip link set ib0 vf 0 port_guid 02:00:00:00:00:00:09:00; echo $V >/sys/bus/pci/drivers/fabric/unbind
		echo $V >/sys/bus/pci/drivers/fabric/bind; ip link set \$(ls /sys/bus/pci/devices/$V/net) name vf0"
left 'a link state' 'changed: host vf ib0 0: ' 'ip link set ib0 vf 0 state disable'
left 'no driver' "changed: host function $V: " "echo $V >/sys/bus/pci/drivers/fabric/unbind"
left 'a name' 'left behind: host link left0: ' 'ip link set vf0 name left0'
left 'the name of an RDMA device' 'left behind: host rdma left0:' \
	"rdma dev set \$(ls /sys/bus/pci/devices/$V/infiniband) name left0"
left 'the number of a character device' "changed: host function $V: " \
	"W=\$(basename \$(readlink /sys/class/net/ib0/device/virtfn1))
		echo $V >/sys/bus/pci/drivers/fabric/unbind; echo \$W >/sys/bus/pci/drivers/fabric/unbind
		for v in \$W $V; do echo \$v >/sys/bus/pci/drivers/fabric/bind; done
		ip link set \$(ls /sys/bus/pci/devices/$V/net) name vf0; ip link set \$(ls /sys/bus/pci/devices/\$W/net) name vf1"
wrong 'DEL that does nothing' 'add ib-sriov scene:nothing:1' 'left behind: lease: ' '[ $wrapped = DEL ] || real'
wrong_ends

wrong_plugin ipoib 6
left 'a child' 'left behind: host link left0: ' 'ip link add link ib0 name left0 type ipoib pkey 0x8001'
left 'the alias of the parent' 'changed: host link ib0: ' 'ip link set ib0 alias left'
wrong 'a child that came back' 'del ipoib scene:netns-gone:1' 'alias railhead:testnet/cid/net1' '[ $wrapped = DEL ] || real'
wrong 'DEL that does nothing' 'add ipoib scene:nothing:1' 'left behind: lease: ' '[ $wrapped = DEL ] || real'
wrong_ends

check "mode exclusive" eventually rdma system set netns exclusive
wrong_plugin ib-sriov-exclusive 14
left 'an RDMA device in the pod' 'left behind: pod p0 rdma fabric_2:' \
	"rdma dev set \$(ls /sys/bus/pci/devices/$V/infiniband) netns p0"
wrong_ends
check "mode shared again" eventually rdma system set netns shared
check "no VFs are left" ib_vfs "${IB_PFS%% *}" 0
check "without cards" fabric_off
finish

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # VA0 and so on: lib.sh
# seconds: 60
# vfio: VFs that have no interface, because vfio-pci has them: for DPDK, or a guest of the pod.
# topology: iommu
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/suites/sriov/lib.sh
. conformance/vm/suites/sriov/lib.sh
S=/sys/bus/pci

# bind VF DRIVER: as device plugins and operators do it.
bind()
{
	echo "$2" >"$S/devices/$1/driver_override"
	[ ! -e "$S/devices/$1/driver" ] || echo "$1" >"$S/devices/$1/driver/unbind"
	echo "$1" >$S/drivers_probe
	is "$(basename "$(readlink "$S/devices/$1/driver")")" "$2"
}
# of_pf N FILTER: the PF's data of its Nth VF.
of_pf() { ip -j link show "$A" | jq -e --argjson n "$1" ".[0].vfinfo_list[\$n] | $2" >/dev/null || { ip link show "$A" && false; }; }

modprobe vfio-pci
ip link set "$A" up
check "$A makes 2 VFs" vfs "$A" 2
VA0=$(pci "$A" 0) VA1=$(pci "$A" 1)
check "vfio-pci takes a VF" bind "$VA0" vfio-pci
pods a b
remember

SOME=$(on "$VA0" '"vlan":6,"vlanQoS":1,"spoofchk":"off","trust":"on","mac":"02:00:00:00:0a:01"')
check "ADD" add a "$SOME"
cp $W/out $W/result
check "the result has its address and MAC" is "$(answer '.interfaces[0] | [.pciID, .mac] | join(" ")')" "$VA0 02:00:00:00:0a:01"
check "and the MTU of its PF" is "$(answer '.interfaces[0].mtu')" "$(cat "/sys/class/net/$A/mtu")"
check "and an IP address" is "$(answer '.ips | length')" 1
check "its PF says so" of_pf 0 '.address == "02:00:00:00:0a:01" and .vlan_list[0].vlan == 6 and .vlan_list[0].qos == 1 and (.spoofchk | not) and .trust'
check "no interface in the pod" isnt ip -n a link show net1
check "CHECK" checked a "$SOME" $W/result
check "another pod cannot have it" refused 103 "belongs to container a" add b "$(on "$VA0")"
ip link set "$A" vf 0 vlan 7
check "CHECK: another vlan" refused 104 vlan checked a "$SOME" $W/result
check "DEL" del a "$SOME"
check "all is as it was" clean
check "DEL again" del a "$SOME"

check "ADD, and the pod goes" add a "$SOME"
no_pods a
check "GC" call GC "" "$(jq -c '. + {"cni.dev/valid-attachments": []}' <<<"$SOME")" ""
check "all is as it was" clean

pods a
FREE=$(conf "\"resource\":{\"pf\":[\"$A\"]}")
check "resource: ADD" add a "$FREE"
check "resource: ADD of another pod" add b "$FREE"
check "DEL" del a "$FREE"
check "DEL" del b "$FREE"
check "all is as it was" clean

# Back to a driver with interface.
check "igbvf takes it" bind "$VA0" igbvf
eventually has_netdev "$VA0"
remember
check "ADD" add a "$(on "$VA0" '"mtu":1400')"
check "now it is in the pod" ip -n a link show net1
check "vfio-pci takes the other" bind "$VA1" vfio-pci
check "DEL" del a "$(on "$VA0" '"mtu":1400')"
check "bound back" bind "$VA1" igbvf
check "nobody has anything" nothing_left
check "$A without VFs" eval "echo 0 >/sys/class/net/$A/device/sriov_numvfs"
no_pods a b
finish

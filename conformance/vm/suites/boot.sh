# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 20
# boot: the guest is what other suites rely on. Two cards with seven VFs each, joined by a cable.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh

module() { modprobe "$1" && [ -d "/sys/module/${1//-/_}" ]; }
card() # PF: it has a driver and its VFs
{
	is "$(basename "$(readlink "/sys/class/net/$1/device/driver")")" igb && is "$(cat "/sys/class/net/$1/device/sriov_totalvfs")" 7
}
bound() { [ -n "$(netdev "$(pci "$1" "$2")")" ]; }
pings() { ip netns exec "$1" "$HELPERS/attach/ping" "$2"; }

# pod NAME PF ADDRESS: a namespace with the first VF of PF.
pod()
{
	ip netns add "$1" &&
		ip link set "$(netdev "$(pci "$2" 0)")" netns "$1" name net1 &&
		ip -n "$1" addr add "$3" dev net1 &&
		ip -n "$1" link set net1 up
}

check "the kernel is $WANT_KERNEL" test "${KERNEL#"$WANT_KERNEL".}" != "$KERNEL"
for tool in ip jq ping bridge rdma setpriv strace; do
	check "$tool is there" command -v $tool
done
for name in macvlan ipvlan 8021q dummy rdma_rxe vfio-pci; do
	check "module $name" module $name
done
check "the guest's files are its own" touch "$TREE/only-in-the-guest"
for pf in $PFS; do
	check "$pf is a card with VFs" card "$pf"
	check "$pf up" ip link set "$pf" up
	check "$pf makes 7 VFs" vfs "$pf" 7
	check "a VF's driver on $pf" eventually bound "$pf" 6
	check "$pf has link" eventually carrier "$pf"
done
set -- $PFS
check "first pod" pod A "$1" 10.9.1.1/24
check "second pod" pod B "$2" 10.9.1.2/24
for p in A B; do
	check "link in $p" eventually carrier net1 $p
done
check "a VF reaches a VF of the other card" eventually pings A 10.9.1.2
check "a VLAN on one end" ip link set "$1" vf 0 vlan 5
check "is read back" is "$(vf "$1" 0 '.vlan_list[0].vlan')" 5
check "and parts them" isnt pings A 10.9.1.2
check "the same VLAN on the other end" ip link set "$2" vf 0 vlan 5
check "joins them" eventually pings A 10.9.1.2
ip netns del A
check "a VF comes back when its namespace dies" eventually test -d "/sys/bus/pci/devices/$(pci "$1" 0)/net/net1"
ip netns del B
for pf in $PFS; do
	check "$pf without VFs" eval "echo 0 >/sys/class/net/$pf/device/sriov_numvfs"
done
finish

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# create.sh: VFs made and removed, with the PF down and up; what is refused.
check "two cards without VFs" listed 'map(select(.sriov)) | map([.ifName, .sriovVfs, .sriovTotalVfs, .driver, .pciVendor, .pciDevice]) ==
	[["'"$A"'", 0, 7, "igb", "0x8086", "0x10c9"], ["'"$B"'", 0, 7, "igb", "0x8086", "0x10c9"]]'
check "the PF is down: 3 VFs" vf create --pf "$A" --count 3
check "it says so" said "$A is down"
check "their MACs" macs "$A" 3
check "drivers take VFs again" autoprobe "$PA"
check "they are listed" listed 'map(select(.pfName == "'"$A"'" and .isSriovVf)) | length == 3 and
	all((.pcieRoot | test("^pci0000:[0-9a-f]+$")) and .driver == "igbvf" and .use == "free" and .spoofchk == true and .trust == false and .vlan == 0 and .rdma == false) and
	map(.vfID) == [0, 1, 2] and .[1].pciAddress == "'"$(pci "$A" 1)"'" and (.[1].mac | endswith(":00:01:'"$(mac_of "$A" | cut -c10-)"'"))'
up
cp $W/own $W/first
ifindexes >$W/before
check "3 VFs again: nothing to do" vf create --pf "$A" --count 3
ifindexes >$W/after
check "they are the same" cmp $W/before $W/after
check "8 VFs" vf_fails "count 8: PF ${PA##*/} supports 7" create --pf "$A" --count 8
check "of a VF" vf_fails "is a VF of ${PA##*/}" create --pf "$(netdev "$(pci "$A" 0)")" --count 1
check "of nothing" vf_fails 'PF "lo"' create --pf lo --count 1
check "none" vf create --pf "$A" --count 0
check "none are left" numvfs "$PA" 0
check "the PF is up: 7 VFs" vf create --pf "${PA##*/}" --count 7
check "their MACs" macs "$A" 7
check "are those of the first time" cmp <(head -n 3 $W/own) $W/first
check "2 instead of 7" vf create --pf "$A" --count 2
check "their MACs" macs "$A" 2

ip addr add 192.0.2.1/24 dev "$A"
ip route add default via 192.0.2.2
check "the default route" vf_fails "default route of this host goes through $A" create --pf "$A" --count 3
check "is not cut" numvfs "$PA" 2
ip addr flush dev "$A"
ip link add link "$A" name "$A.5" type vlan id 5
ip link set "$A.5" up
ip addr add 192.0.2.1/24 dev "$A.5"
ip route add default via 192.0.2.2
check "nor that of a VLAN on it" vf_fails "default route of this host goes through $A.5, which is on PF" create --pf "$A" --count 3
check "but with --force" vf create --pf "$A" --count 3 --force
ip link del "$A.5"
check "the card beside it" vf create --pf "$B" --count 3

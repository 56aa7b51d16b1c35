# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 60
# needs: fabric
# ib-boot: what suites for InfiniBand rely on: the module fabric, and what the kernel makes of it.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/guest/fabric.sh
. conformance/vm/guest/fabric.sh

check "two cards" fabric
read -r PF OTHER <<<"$IB_PFS"
ib_card() # ADDRESS
{
	[ -n "$(netdev "$1")" ] && [ -n "$(rdma_dev "$1")" ] && [ -c "/dev/infiniband/$(uverbs "$1")" ] &&
		is "$(ip -j link show "$(netdev "$1")" | jq -r '.[0].link_type')" infiniband
}
for pf in $IB_PFS; do check "$pf has interface, RDMA device and character device" ib_card "$pf"; done
check "16 VFs" ib_vfs "$PF" 16
all() # FUNCTION: of all VFs
{
	local n
	for n in {0..15}; do "$1" "$(ib_vf "$PF" "$n")" || { echo "VF $n" && return 1; }; done
}
check "each VF has interface, RDMA device and character device" all ib_card
follows() { is "$(lladdr_guid "$(netdev "$1")")" "$(port_guid "$1")"; }
check "the port's GUID is in the interface's address" all follows
check "another number of VFs is refused" isnt ib_vfs "$PF" 8

# ---- GUIDs ----
P=$(netdev "$PF") V=$(ib_vf "$PF" 3) G=02:11:22:33:44:55:66:77 H=02:11:22:33:44:55:66:88
OLD=$(port_guid "$V")
check "the PF knows no GUID" is "$(vf "$P" 3 '."node guid"')" 00:00:00:00:00:00:00:00
check "set a node GUID" ip link set "$P" vf 3 node_guid $G
check "set a port GUID" ip link set "$P" vf 3 port_guid $H
check "the PF knows them" is "$(vf "$P" 3 '."node guid" + " " + ."port guid"')" "$G $H"
check "the VF has its old one" is "$(port_guid "$V")" "$OLD"
check "rebind" rebind "$V"
check "the VF has them" is "$(node_guid "$V") $(port_guid "$V")" "$G $H"
check "so has its interface" is "$(lladdr_guid "$(netdev "$V")")" $H
check "a VF that is not there" isnt ip link set "$P" vf 16 node_guid $G

check "without VFs" ib_vfs "$PF" 0
check "without cards" fabric_off
finish

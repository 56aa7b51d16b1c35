# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# sys.sh: a /sys of two cards with VFs, in files; veth stands in for their interfaces.
#
# Nothing happens when such a file is written. So all VFs are always there, and sriov_numvfs says how
# many of them count; a driver has taken what its link says.
# shellcheck disable=SC2154
SYS=$W/sys
PF0=0000:3b:00.0 PF1=0000:3b:00.1
VFS0="0000:3b:00.2 0000:3b:00.3 0000:3b:00.4 0000:3b:00.5" VFS1="0000:3b:00.6 0000:3b:00.7"

sys_driver() # ADDRESS DRIVER
{
	mkdir -p "$SYS/bus/pci/drivers/$2"
	touch "$SYS/bus/pci/drivers/$2/unbind"
	ln -sfn "../../../bus/pci/drivers/$2" "$SYS/devices/pci/$1/driver"
}

sys_netdev() # ADDRESS NAME
{
	mkdir -p "$SYS/devices/pci/$1/net/$2" "$SYS/class/net"
	ln -sfn "../../../../pci/$1" "$SYS/devices/pci/$1/net/$2/device"
	ln -sfn "../../devices/pci/$1/net/$2" "$SYS/class/net/$2"
	ip link add "$2" type veth peer name "w-$2"
}

sys_function() # ADDRESS DRIVER NAME
{
	local d=$SYS/devices/pci/$1
	mkdir -p "$d" "$SYS/bus/pci/devices"
	echo 0x8086 >"$d/vendor"
	echo 0x10c9 >"$d/device"
	echo 0x020000 >"$d/class"
	echo 1 >"$d/numa_node"
	echo "(null)" >"$d/driver_override"
	ln -sfn "../../../devices/pci/$1" "$SYS/bus/pci/devices/$1"
	sys_driver "$1" "$2"
	sys_netdev "$1" "$3"
}

sys_card() # ADDRESS NAME OFFSET VF...
{
	local pf=$1 name=$2 offset=$3 d=$SYS/devices/pci/$1 vf n=0
	shift 3
	sys_function "$pf" igb "$name"
	echo 0 >"$d/sriov_numvfs"
	echo $# >"$d/sriov_totalvfs"
	echo "$offset" >"$d/sriov_offset"
	echo 1 >"$d/sriov_stride"
	echo 1 >"$d/sriov_drivers_autoprobe"
	for vf; do
		sys_function "$vf" igbvf "${name}v$n"
		ln -sfn "../$pf" "$SYS/devices/pci/$vf/physfn"
		ln -sfn "../$vf" "$d/virtfn$n"
		n=$((n + 1))
	done
}

# ens3f0 can have 4 VFs, ens3f1 has room for 2; neither has any.
fake_sys()
{
	mkdir -p "$SYS" && touch "$SYS/fake"
	# shellcheck disable=SC2086 # words
	sys_card $PF0 ens3f0 2 $VFS0
	# shellcheck disable=SC2086
	sys_card $PF1 ens3f1 5 $VFS1
	touch "$SYS/bus/pci/drivers_probe"
	mount --bind "$SYS" /sys || exit 2
}

# Also what a case left that ended early.
no_fake_sys()
{
	local dev
	while [ -e /sys/fake ]; do umount /sys; done
	for dev in $(ip -o link show type veth | grep -oE '(ens3f|other)[a-z0-9]*@' | tr -d @); do
		ip link del "$dev" 2>/dev/null
	done
	rm -rf "$SYS"
}

numvfs() { cat "/sys/bus/pci/devices/$1/sriov_numvfs"; }

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# fakesys.sh: a machine with SR-IOV that has none. Sourced by sriov-host.sh, inside a sandbox.
#
# A machine is a network namespace with veth in place of PFs and VFs, and a folder that says whose interface
# is which; it goes over /sys in the sandbox's own mount namespace, so the programs are as they are installed.
# What a veth is asked about its VFs it does not know: no attribute of a VF can be set here.

# vf_address CARD N: cards are 0000:3b:00.0 and the like, with sriov_offset 256 and sriov_stride 1.
vf_address()
{
	local domain=${1%%:*} bus=${1#*:}
	printf '%s:%02x:%02x.%x\n' "$domain" $((16#${bus%%:*} + 1)) $(($2 / 8)) $(($2 % 8))
}

# fake_function SYS ADDRESS INTERFACE
fake_function()
{
	local dir=$1/devices/pci/$2
	mkdir -p "$dir/net/$3"
	ln -s "../../../devices/pci/$2" "$1/bus/pci/devices/$2"
	ln -s ../../../bus/pci/drivers/fake "$dir/driver"
	ln -s "../../../$2" "$dir/net/$3/device"
	ln -s "../../devices/pci/$2/net/$3" "$1/class/net/$3"
}

# fake_card MACHINE CARD PF VFS: the interfaces are PF, and PF with v and a number: "pf0v12".
fake_card()
{
	local sys=$W/sys-$1 dir=$W/sys-$1/devices/pci/$2 n vf
	[ -d "$sys" ] || {
		mkdir -p "$sys"/bus/pci/{devices,drivers/fake} "$sys/class/net"
		ip netns add "host-$1"
	}
	fake_function "$sys" "$2" "$3"
	echo "$4" >"$dir/sriov_numvfs"
	echo "$4" >"$dir/sriov_totalvfs"
	echo 256 >"$dir/sriov_offset"
	echo 1 >"$dir/sriov_stride"
	for ((n = 0; n < $4; n++)); do
		vf=$(vf_address "$2" "$n")
		fake_function "$sys" "$vf" "$3v$n"
		ln -s "../$2" "$sys/devices/pci/$vf/physfn"
		ln -s "../$vf" "$dir/virtfn$n"
	done
	{
		echo "link add $3 up type veth peer name w-$3"
		for ((n = 0; n < $4; n++)); do echo "link add $3v$n type veth peer name w-$3v$n"; done
	} | ip -n "host-$1" -batch -
}

# go_to MACHINE: /sys is that machine's from now on; the interfaces are in the namespace host-MACHINE.
go_to()
{
	! mountpoint -q /sys || umount /sys || return 1
	mount --bind "$W/sys-$1" /sys
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# fakesys.sh: a substitute of a machine with SR-IOV. Sourced by sriov-host.sh, in mount and network namespaces of its own.
#
# The machine is a network namespace with veth in place of PFs and VFs. A folder says which interface belongs to which
# function. It is mounted over /sys, so the programs are the installed ones.
# A veth has no VFs, so no attribute of a VF can be set here.

# vf_address VARIABLE CARD N: cards are 0000:3b:00.0 and the like, with sriov_offset 256 and sriov_stride 1.
vf_address()
{
	local bus=${2#*:}
	printf -v "$1" '%s:%02x:%02x.%x' "${2%%:*}" $((16#${bus%%:*} + 1)) $(($3 / 8)) $(($3 % 8))
}

# What a function is made of: folders are printed for mkdir, links as target and name.
function_folders() { echo "devices/pci/$1/net/$2"; }
function_links() # ADDRESS INTERFACE
{
	echo "../../../devices/pci/$1 bus/pci/devices/$1"
	echo "../../../bus/pci/drivers/fake devices/pci/$1/driver"
	echo "../../../$1 devices/pci/$1/net/$2/device"
	echo "../../devices/pci/$1/net/$2 class/net/$2"
}
card() # CARD PF VFS function_folders|function_links: of the card and its VFs
{
	local n vf
	$4 "$1" "$2"
	for ((n = 0; n < $3; n++)); do
		vf_address vf "$1" $n
		$4 "$vf" "$2v$n"
		[ "$4" = function_folders ] || printf '%s\n' "../$1 devices/pci/$vf/physfn" "../$vf devices/pci/$1/virtfn$n"
	done
}
# The names are too many for a process each.
make_links() { perl -ne 'chomp; my ($target, $name) = split / /; symlink $target, $name or die "$name: $!\n"'; }

# fake_card MACHINE CARD PF VFS: the interfaces are PF, and PF with v and a number: "pf0v12".
fake_card()
{
	local dir=$W/sys-$1/devices/pci/$2 n
	mkdir -p "$W/sys-$1"/{bus/pci/devices,bus/pci/drivers/fake,class/net} || return 1
	(cd "$W/sys-$1" && card "$2" "$3" "$4" function_folders | xargs mkdir -p && card "$2" "$3" "$4" function_links | make_links) || return 1
	echo "$4" >"$dir/sriov_numvfs"
	echo "$4" >"$dir/sriov_totalvfs"
	echo 256 >"$dir/sriov_offset"
	echo 1 >"$dir/sriov_stride"
	ip netns add "host-$1"
	{
		echo "link add $3 up type veth peer name w-$3"
		for ((n = 0; n < $4; n++)); do echo "link add $3v$n type veth peer name w-$3v$n"; done
	} | ip -n "host-$1" -batch -
}

# go_to MACHINE: /sys is that machine's from now on; the interfaces are in the namespace host-MACHINE.
MACHINE=
go_to()
{
	[ -z "$MACHINE" ] || umount /sys || return 1
	mount --bind "$W/sys-$1" /sys && MACHINE=$1
}

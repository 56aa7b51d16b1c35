# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# trees.sh: the PCIe tree of another machine, in the guest. Sourced there by calls.sh.
#
# The node sees a copy of /sys/bus/pci/devices. It has one more folder, "captured", with the tree, and links to its functions.

# tree_begins: the tree is in the input, as captures.sh writes it.
tree_begins()
{
	local at bus path class vendor device numa width speed mounts='mount --bind /bus /sys/bus/pci/devices'
	bus=$(node_root 1)/bus
	cp -a /sys/bus/pci/devices "$bus" || return
	while read -r path class vendor device numa width speed; do
		at=$bus/captured/$path
		mkdir -p "$at" || return
		[[ $class == 0x06* ]] || ln -sfn "../../../bus/pci/devices/captured/$path" "$bus/${path##*/}" || return
		if [ "$class" = card ]; then
			mounts+=" && mount --bind $(realpath "/sys/bus/pci/devices/${path##*/}") /sys/bus/pci/devices/captured/$path"
			continue
		fi
		echo "$class" >"$at/class" && echo "$vendor" >"$at/vendor" && echo "$device" >"$at/device" && echo "$numa" >"$at/numa_node" &&
			echo "$speed" >"$at/max_link_speed" && echo "$width" >"$at/max_link_width" || return
	done
	node 1 sh -c "$mounts"
}
tree_ends()
{
	node 1 umount -R /sys/bus/pci/devices
	rm -rf "$(node_root 1)/bus"
}

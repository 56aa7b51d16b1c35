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
			# Its NUMA node is that of the place: the second word.
			echo "$vendor" >"$bus/captured/numa.${path##*/}" || return
			mounts+=" && mount --bind $(realpath "/sys/bus/pci/devices/${path##*/}") /sys/bus/pci/devices/captured/$path"
			mounts+=" && mount --bind /bus/captured/numa.${path##*/} /sys/bus/pci/devices/captured/$path/numa_node"
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

# hcas_of_cards PF...: the PFs have RDMA devices mlx5_0, mlx5_1 and so on, as far as files tell. hcas_of_cards_end also succeeds if there are none.
hcas_of_cards()
{
	# shellcheck disable=SC2016 # of the inner shell
	modprobe ib_core && node 1 bash -ec 'mount -t tmpfs -o mode=755 hcas /sys/class/infiniband; n=0; for pf; do
		at=/sys/class/infiniband/mlx5_$n; mkdir -p "$at/ports/1"
		ln -s "$(readlink "/sys/bus/pci/devices/$(basename "$(readlink "/sys/class/net/$pf/device")")")" "$at/device"
		echo "4: ACTIVE" >"$at/ports/1/state"; echo "200 Gb/sec (4X HDR)" >"$at/ports/1/rate"; echo Ethernet >"$at/ports/1/link_layer"
		n=$((n + 1)); done' - "$@"
}
hcas_of_cards_end() { ! node 1 mountpoint -q /sys/class/infiniband || node 1 umount /sys/class/infiniband; }

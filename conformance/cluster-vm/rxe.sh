# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# rxe.sh: RDMA devices for VFs, in the guest. Sourced there by calls.sh.
#
# The cards have no RDMA, so rxe devices on interfaces of the host stand for those of the VFs: the node sees a copy of
# /sys/bus/pci/devices in which one is below each VF. Kernels before 7.3 do not move rxe; movable.ko lets them.

# A folder in place of a VF: its links, what tells its kind, and places for the folder of its interface and for an RDMA device.
vf_with_rdma() # BUS VF N
{
	local at=$1/$2 real link file
	real=$(realpath "/sys/bus/pci/devices/$2")
	rm "$at" && mkdir -p "$at"/{net,"infiniband/hca$3","infiniband_verbs/uverbs$3"} || return
	for link in driver physfn; do ln -s "$(readlink -f "$real/$link")" "$at/$link" || return; done
	for file in class vendor device modalias numa_node; do cat "$real/$file" >"$at/$file" || return; done
	ln -s "$real" "$at/real"
}
# rdma_begins [PF/N...]: hca0 is below the first of these VFs, and so on. Without a name: the VFs of pf0.
rdma_begins()
{
	local at bus i=0 vf mounts='mount --bind /bus /sys/bus/pci/devices'
	bus=$(node_root 1)/bus
	modprobe -a rdma_rxe ib_uverbs macvlan && insmod "$PWD/build/vm/movable-$WANT_KERNEL/movable.ko" &&
		cp -a /sys/bus/pci/devices "$bus" || return
	[ $# -gt 0 ] || set -- pf0/0 pf0/1
	for at; do
		vf=$(pci "${at%/*}" "${at#*/}")
		ip link add "s$i" link "${at%/*}" type macvlan mode bridge && ip link set "s$i" up && rdma link add "hca$i" type rxe netdev "s$i" &&
			vf_with_rdma "$bus" "$vf" $i || return
		mounts+=" && mount --bind /bus/$vf/real/net /sys/bus/pci/devices/$vf/net"
		i=$((i + 1))
	done
	node 1 sh -c "$mounts"
}
rdma_ends()
{
	local i
	node 1 umount -R /sys/bus/pci/devices
	rm -rf "$(node_root 1)/bus"
	eventually node 1 railctl rdma mode shared --modprobe-dir /run
	for i in 0 1 2 3; do
		[ ! -e "/sys/class/net/s$i" ] || { rdma link delete "hca$i" && ip link del "s$i"; }
	done
	rmmod movable
}

# rxe_in PID RAIL...: an RDMA device on each of these interfaces of a pod, and its file in the container, which is privileged. PID is its process,
# as the node numbers it.
rxe_in()
{
	local pid rail device file
	pid=$(awk -v pid="$1" '/^NSpid:/ && $3 == pid { print $2; exit }' /proc/[0-9]*/status) && [ -n "$pid" ] || return
	shift
	for rail; do
		device=rxe$pid${rail#rail}
		nsenter -t "$pid" -n rdma link add "$device" type rxe netdev "$rail" &&
			file=$(grep -lx "$device" /sys/class/infiniband_verbs/*/ibdev) && file=${file%/ibdev} &&
			mkdir -p "/proc/$pid/root/dev/infiniband" &&
			mknod "/proc/$pid/root/dev/infiniband/${file##*/}" c "$(cut -d: -f1 "$file/dev")" "$(cut -d: -f2 "$file/dev")" || return
	done
}

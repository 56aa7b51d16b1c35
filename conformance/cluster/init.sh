#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# init.sh N ROOT STATE BIN: first process of node N, in namespaces of its own: goes into ROOT and stays.
#
# STATE is the folder of its disks, BIN that of the programs of Kubernetes. Started by node_up of node.sh.
set -eu
n=$1 root=$2 state=$3 bin=$4
here=$(cd "$(dirname "$0")" && pwd)

# fake FILE VALUE: a file of /proc that a kubelet or a boot would write for the whole machine.
fake()
{
	local file=$root/run/fakes/${1//\//_}
	echo "$2" >"$file"
	mount --bind "$file" "$root/proc/$1"
}

hostname "n$n"
ip link set lo up
mount --bind "$root" "$root"
mount --bind "$state/disk" "$root/var/lib"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount --rbind /dev "$root/dev"
mount --make-rprivate "$root/dev"
mount -t tmpfs -o mode=755 run "$root/run"
mkdir -p "$root"/run/{netns,lock,fakes,railhead-node,proc}
# Without files mounted over it: only then a pod with a user namespace may mount one of its own.
mount -t proc proc "$root/run/proc"
mount -t tmpfs -o mode=755 railhead "$root/railhead"
mkdir "$root/railhead/bin"
mount --bind "$bin" "$root/railhead/bin"
cp "$here/service.sh" "$root/railhead"

# Groups: what this node sees is the root of its own. With version 2 there is one tree.
# shellcheck source=conformance/cluster/cgroups.sh
. "$here/cgroups.sh"
if hierarchies | grep -q '^unified|'; then
	mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
	tr ' ' '\n' <"$root/sys/fs/cgroup/cgroup.controllers" | sed 's/^/+/' | while read -r c; do
		echo "$c" >"$root/sys/fs/cgroup/cgroup.subtree_control"
	done
else
	mount -t tmpfs -o mode=755 cgroup "$root/sys/fs/cgroup"
	while IFS='|' read -r name options type _; do
		mkdir "$root/sys/fs/cgroup/$name"
		mount -t "$type" -o "$options" "$type" "$root/sys/fs/cgroup/$name"
		for part in ${name//,/ }; do
			[ "$part" = "$name" ] || ln -s "$name" "$root/sys/fs/cgroup/$part"
		done
	done < <(hierarchies)
fi

fake sys/vm/overcommit_memory 1
fake sys/vm/panic_on_oom 0
fake sys/kernel/panic 10
fake sys/kernel/panic_on_oops 1
fake sys/kernel/keys/root_maxkeys 1000000
fake sys/kernel/keys/root_maxbytes 25000000
fake sys/kernel/random/boot_id "$(cat /proc/sys/kernel/random/uuid)"
echo 1 >"$root/proc/sys/net/ipv4/ip_forward"

mkdir -p "$root/.old"
cd "$root"
pivot_root . .old
cd /
umount -l /.old
mount --make-rshared /
touch /.up
trap : TERM INT HUP
# Orphans are ours: a shell that waits reaps them.
while :; do
	sleep 1000 &
	wait $!
done

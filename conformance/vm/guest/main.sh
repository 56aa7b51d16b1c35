# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# main.sh: process 1 of the guest, once the root is there: make it a machine, run the suites, power off.
#
# /vm/job is the folder that the host prepared: kernel (its modules), suites (one a line: name and script),
# env, nics, bin, helpers. Written there: NAME.rc for each suite. The output of suites goes to the second serial line.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb
JOB=/vm/job
TREE=$(<$JOB/tree)
exec </dev/null >/dev/ttyS1 2>&1
stty -F /dev/ttyS1 raw -echo 2>/dev/null

step() { printf 'vm: %4d s  %s\n' "$(cut -d. -f1 /proc/uptime)" "$*"; }

mounts()
{
	chmod 1777 /tmp
	mkdir -p /dev/pts /dev/shm /run/netns /run/lock
	ln -s /proc/self/fd /dev/fd
	mount -t devpts devpts /dev/pts
	mount -t tmpfs tmpfs /dev/shm
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
	mount -t debugfs debugfs /sys/kernel/debug
	# Kernels of Debian's look for modules in /lib, which is the host's.
	mount -t tmpfs tmpfs "$(realpath /lib)/modules" 2>/dev/null || mkdir -p /lib/modules
	ln -s "$(<$JOB/kernel)/lib/modules/$(uname -r)" "/lib/modules/$(uname -r)"
}

# The cards get the names that the topology gives them, by the address it gave them. Those before are renamed meanwhile.
names()
{
	local name mac dev
	while read -r name mac; do
		dev=$(grep -ls "$mac" /sys/class/net/*/address)
		dev=${dev%/address}
		echo "link set ${dev##*/} name $name"
	done <$JOB/nics | ip -batch -
	PFS=$(cut -d' ' -f1 $JOB/nics | tr '\n' ' ')
}

machine()
{
	mounts
	hostname guest
	ip link set lo up
	names
	export BIN=/vm/bin HELPERS=/vm/helpers OUT=$JOB/out KERNEL=$JOB/../ PFS TREE NO_SKIP=1
	KERNEL=$(uname -r)
	set -a
	# shellcheck source=/dev/null
	. $JOB/env
	set +a
}

# What a suite left in namespaces of its own holds the cards from the next one: that is a failure, and goes.
processes_elsewhere() { ps -eo netns=,pid=,args= | grep -vE "^ *($(stat -Lc %i /proc/self/ns/net)|-) "; }
clean() # NAME
{
	local left end=$((SECONDS + 60))
	while left=$(ls /run/netns && processes_elsewhere) && [ -n "$left" ]; do
		[ $SECONDS -lt $end ] || break
		sleep 0.2
	done
	[ -n "$left" ] || return 0
	printf 'not ok - suite %s left namespaces, or processes in some\n0 passed, 1 failed, 0 skipped\n' "$1"
	printf '%s\n' "$left" | head -n 20 | sed 's/^/  # /'
	processes_elsewhere | awk '{ print $2 }' | xargs -r kill -KILL
	ip -all netns delete
	false
}
# A process 1 that ends is a panic: a suite is a child, in a session of its own.
suite() # NAME SCRIPT
{
	local rc
	step "suite $1"
	# The host, or an earlier suite, may have files there.
	rm -rf /etc/railhead
	# Suites use the same container IDs, which no runtime does: a number noted for a pod of an earlier suite is not of this one's.
	rm -rf /run/railhead/numbers
	(cd "$TREE" && exec setsid -w bash "$2")
	rc=$?
	clean "$1" || rc=1
	echo $rc >"$JOB/$1.rc"
}

machine
step "the guest is up: $(uname -r)"
while read -r name script <&8; do
	suite "$name" "$script"
done 8<$JOB/suites
sync
echo o >/proc/sysrq-trigger
while :; do :; done

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# selftest.sh BUILD: plugins that leak, crash, hang or lie must be caught, and a sound one must not.
#
# Each is a wrapper around the real plugin that does one wrong thing. The run has no fault of its own, except in
# the second part: there the wrapper does wrong only after a fault.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] && [ -x "$1/bin/macvlan" ] || {
	echo "usage: ${0##*/} BUILD" >&2
	exit 2
}
BUILD=$(cd "$1" && pwd)
export FAULTS_PROGRAM=$BUILD/conformance/faults/faults
# shellcheck source=conformance/faults/wrong.sh
. "$HERE/wrong.sh"
wrong_begins macvlan "$BUILD/bin" 6
AT_ONCE=6

N='add macvlan scene:nothing:1'
wrong 'a link on the host' "$N" 'left behind: host link left0: ' "$(after_del 'ip link add left0 type veth peer name left1')"
wrong 'a link in the pod' "$N" 'left behind: pod p0 link left0: ' "$(after_del 'ip -n p0 link add left0 type veth peer name left1')"
wrong 'an address' "$N" 'left behind: host address mst0 10.1.1.1/24: ' "$(after_del 'ip addr add 10.1.1.1/24 dev mst0')"
wrong 'a route' "$N" 'left behind: host route 10.2.0.0/16 dev mst0 ' "$(after_del 'ip route add 10.2.0.0/16 dev mst0')"
wrong 'a rule' "$N" 'left behind: host rule ' "$(after_del 'ip rule add from 10.3.0.0/16 table 7')"
wrong 'a neighbour' "$N" 'left behind: host neighbour mst0 10.1.1.2: ' \
	"$(after_del 'ip neigh add 10.1.1.2 lladdr 02:00:00:00:00:09 nud permanent dev mst0')"
wrong 'a qdisc' "$N" 'left behind: host qdisc mst0 ' "$(after_del 'tc qdisc add dev mst0 root pfifo')"
wrong 'an alias' "$N" 'changed: host link mst0: ' "$(after_del 'ip link set mst0 alias left')"
wrong 'a namespace' "$N" 'left behind: pod left namespace' "$(after_del 'ip netns add left')"
wrong 'a sysctl of the host' "$N" 'changed: host sysctl /proc/sys/net/ipv4/conf/mst0/arp_ignore: 0  -> 1' \
	"$(after_del 'echo 1 >/proc/sys/net/ipv4/conf/mst0/arp_ignore')"
wrong 'a sysctl of the pod' "$N" 'changed: pod p0 sysctl /proc/sys/net/ipv4/conf/all/arp_ignore: 0  -> 1' \
	"$(after_del 'ip netns exec p0 sh -c "echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore"')"
wrong 'a file' "$N" 'left behind: file /run/left: ' "$(after_del 'echo x >/run/left')"
wrong 'a file in the state' "$N" 'left behind: file /var/lib/railhead/left: ' "$(after_del 'echo x >/var/lib/railhead/left')"
wrong 'an empty folder' "$N" 'left behind: file /run/railhead/attachments/testnet: ' "$(after_del 'mkdir /run/railhead/attachments/testnet')"
wrong 'a mode' "$N" 'changed: file /run/railhead/lock: mode 100600 -> mode 100644' "$(after_del 'chmod 644 /run/railhead/lock')"
wrong 'a mount' "$N" 'left behind: mount /run/netns: tmpfs' "$(after_del 'mount -t tmpfs x /run/netns')"
# Not a plugin that ends while what it started is still a copy of itself.
wrong 'a process' "$N" 'still running' "$(after_del 'S=/run/work/bin/sleep; [ -e $S ] || cp /bin/sleep $S; $S 300 </dev/null >/dev/null 2>&1 &
		until [ "$(readlink /proc/$!/exe)" = $S ]; do :; done; disown')"
wrong 'a lease' "$N" 'left behind: lease: ' \
	"$(after_del 'export CNI_COMMAND=ADD CNI_CONTAINERID=left; /run/work/bin/railhead-ipam <<<"$conf" >/dev/null')"
wrong 'DEL that does nothing' "$N" 'left behind: lease: ' '[ $wrapped = DEL ] || real'
wrong 'DEL that keeps the lease' "$N" 'left behind: lease: ' '[ $wrapped = DEL ] && ip -n p0 link del net1 && rm -r /run/railhead/attachments/testnet || real'
wrong 'a crash' "$N" 'ended by a signal' 'kill -SEGV $$'
wrong 'a hang' "$N" 'does not end' 'sleep 60 & wait' 3
wrong 'no result' "$N" 'neither a result' 'real >/dev/null'
wrong 'two results' "$N" 'neither a result' 'real; real'
wrong 'an error with exit 0' "$N" 'neither a result' "echo '{\"code\":7,\"msg\":\"x\"}'"
wrong 'a failure without error object' "$N" 'neither a result' 'exit 1'
wrong 'an error without msg' "$N" 'neither a result' "echo '{\"code\":7}'; exit 1"
wrong 'a DEL that talks' "$N" 'neither a result' 'real; [ $wrapped != DEL ] || echo done'
wrong 'a DEL that fails' "$N" 'DEL fails' "[ \$wrapped != DEL ] && real || { echo '{\"code\":5,\"msg\":\"x\"}'; exit 1; }"
wrong 'a CHECK that fails' "$N" 'CHECK fails' "[ \$wrapped != CHECK ] && real || { echo '{\"code\":5,\"msg\":\"x\"}'; exit 1; }"

# What is done wrong only when something fails: an ADD without its undo, which repair must find, ...
wrong 'a failed ADD that GC cannot know of' 'add macvlan scene:ipam-babbles:1' 'left by the failed ADD' \
	'real || { ip link add left0 type veth peer name left1; exit 1; }'
# ... a race that two win, ...
wrong 'two with one name' 'add macvlan race:one-name-2:1' 'must get the name' \
	'[ $wrapped != ADD ] && { real; exit 0; }; real || { echo "{\"cniVersion\":\"1.1.0\",\"ips\":[{\"address\":\"10.77.0.9/28\"},{\"address\":\"fd00:77::9/124\"}]}"; exit 0; }'
# ... and success in name only.
wrong 'success that CHECK denies' 'add macvlan read:EINTR:3' 'CHECK fails' \
	'real; rc=$?; [ $wrapped != ADD ] || ip -n p0 addr flush dev net1; exit $rc'

# Faults that last, and a second one.
wrong 'a DEL that says nothing while the fault lasts' 'add macvlan read:EINTR+:1' 'DEL neither a result' 'real' 3
wrong 'success that CHECK denies, after two faults' 'add macvlan read:EINTR/1:3' 'CHECK fails' \
	'real; rc=$?; [ $wrapped != ADD ] || ip -n p0 addr flush dev net1; exit $rc'

wrong_ends

# Controls: no fault is met where none is, and a sound plugin is not blamed.
out=$("$HERE/run.sh" "$BUILD/bin" --only 'add macvlan openat:EMFILE:999' 2>&1)
if [ $? != 0 ] && grep -q 'not reached' <<<"$out"; then passed=$((passed + 1)); else
	failed=$((failed + 1))
	echo "not ok - a fault that was never met counts: $out"
fi
out=$("$HERE/run.sh" "$BUILD/bin" --only "$N" 2>&1)
if [ $? = 0 ] && grep -qx 'faults survived: 1 of 1' <<<"$out"; then passed=$((passed + 1)); else
	failed=$((failed + 1))
	echo "not ok - a sound plugin is blamed: $out"
fi

# While others hold the lock of all links, the kernel begins a write to a sysctl again. A plan that counted those would
# have faults that no later run meets. How often a call waits for the other program, and so each turn, depends on time.
links_come_and_go() { while kill -0 $$ 2>/dev/null; do unshare -n ip link set lo up; done; }
calls_of_plan() { "$HERE/run.sh" "$BUILD/bin" --plugin rails --list | sed '/ poll:/d; s/ [^ ]*$//' | sha256sum; }
links_come_and_go &
one=$!
links_come_and_go &
two=$!
out=$(for _ in {1..20}; do calls_of_plan; done | sort -u)
kill "$one" "$two"
wait "$one" "$two" 2>/dev/null
if [ "$(wc -l <<<"$out")" = 1 ]; then passed=$((passed + 1)); else
	failed=$((failed + 1))
	echo "not ok - the calls that a plan finds depend on who else changes links: $out"
fi
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]

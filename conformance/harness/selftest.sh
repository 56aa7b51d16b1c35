#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# selftest.sh BUILD: what a plugin may leave behind, one thing at a time: the snapshot must tell each. And a case of attach that
# exceeds a limit of time: it must be repeated, and reported.
#
# In namespaces of its own. The last line is "N passed, N failed, N skipped"; exit 0: none failed.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# repeats BUILD: the first ADD of pod "a" does not end; the case passes the second time.
repeats()
{
	local dir rc
	dir=$(mktemp -d) && mkdir "$dir/bin" && cp "$1"/bin/{railhead-ipam,railctl} "$dir/bin" || return 1
	cat >"$dir/bin/macvlan" <<-EOF
		#!/bin/sh
		[ "\$CNI_COMMAND \$CNI_CONTAINERID" != 'ADD cid-a' ] || ! mkdir /run/work/hung 2>/dev/null || exec /bin/sleep infinity
		exec $1/bin/macvlan
	EOF
	chmod +x "$dir/bin/macvlan"
	HELPERS=$1/conformance/attach LIMIT=10 AGAIN=1 "$HERE/../attach/run.sh" "$dir/bin" sandbox_second_DEL_after_the_pod_swapped_names \
		>"$dir/said" 2>&1
	grep -qx '# repeated: sandbox second DEL after the pod swapped names: macvlan ADD did not end within 10 s' "$dir/said" &&
		grep -qx '1 passed, 0 failed, 0 skipped' "$dir/said"
	rc=$?
	[ $rc = 0 ] || { echo "not ok - a case of attach that exceeded a limit is repeated" && sed 's/^/  # /' "$dir/said"; }
	rm -rf "$dir"
	return $rc
}

if [ "${1-}" != --inside ]; then
	[ $# = 1 ] && [ -x "$1/conformance/attach/snapshot" ] || {
		sed -n '3,6s/^# //p' "$0" >&2
		exit 2
	}
	build=$(cd "$1" && pwd) || exit 2
	repeats "$build"
	exec "$HERE/../sandbox.sh" "$HERE/selftest.sh" --inside "$build" $?
fi
W=/run/work
SNAPSHOT=$2/conformance/attach/snapshot
# Of what ran outside.
passed=$((1 - $3)) failed=$3

take() { "$SNAPSHOT" --root /run --root /var/lib --folders yes --ignore "$W" --ignore '*.tmp' --opaque '*/store/*' --program "$W/bin" "$@"; }

# told EXPECTED MAKE UNDO: commands for a shell; the difference must have a line that begins with EXPECTED.
told()
{
	local expected=$1 make=$2 undo=$3
	take >"$W/before"
	sh -c "$make" >"$W/out" 2>&1 || {
		echo "not ok - this failed: $make: $(<"$W/out")"
		failed=$((failed + 1))
		return
	}
	take >"$W/now"
	"$SNAPSHOT" --diff "$W/before" "$W/now" >"$W/diff"
	if [ $? = 1 ] && grep -q "^$expected" "$W/diff"; then
		passed=$((passed + 1))
	else
		echo "not ok - not told: $expected, of: $make"
		sed 's/^/  # /' "$W/diff"
		failed=$((failed + 1))
	fi
	sh -c "$undo" >"$W/out" 2>&1
	take >"$W/now"
	same "undone: $undo"
}

# names STATUS FILE...: what no_name_twice says of these files
names()
{
	local want=$1 got
	shift
	(. "$HERE/cases.sh" && no_name_twice "$@") 2>"$W/out"
	got=$?
	if [ "$got" = "$want" ]; then passed=$((passed + 1)); else
		echo "not ok - functions of ${*##*/}: exit status $got, not $want: $(<"$W/out")"
		failed=$((failed + 1))
	fi
}

# ends_as WORD FUNCTION: the verdict of cases.sh about a case: "ok" or "not"
ends_as()
{
	local got
	got=$(. "$HERE/cases.sh" && rm -f "$W"/{evidence,skip} && { run_case "$2"; verdict case "$RC"; })
	if [[ $got == "$1 "* ]]; then passed=$((passed + 1)); else
		echo "not ok - the case $2: $got"
		failed=$((failed + 1))
	fi
}
# shellcheck disable=SC2154
dies_in_its_middle() { echo "$no_such_variable"; }
ends_by_exit() { exit 0; }
last_command_fails() { false; }
is_skipped() { skip "for a reason"; }

# same WHAT: the two snapshots are the same.
same()
{
	if "$SNAPSHOT" --diff "$W/before" "$W/now" >"$W/diff"; then passed=$((passed + 1)); else
		echo "not ok - something is told where nothing is: $1"
		sed 's/^/  # /' "$W/diff"
		failed=$((failed + 1))
	fi
}

up() { until grep -qx up "/sys/class/net/$1/operstate"; do sleep 0.01; done; }

mkdir -p /var/lib/x/store "$W/bin"
echo one >/var/lib/x/file
echo one >/var/lib/x/store/file
cp /bin/sleep "$W/bin"
printf '#!/bin/sh\nread -r line\n' >"$W/bin/script"
chmod +x "$W/bin/script"
ip link add m0 type veth peer name w0 && ip link set m0 addrgenmode none && ip link set w0 addrgenmode none &&
	ip link set m0 up && ip link set w0 up && ip addr add 10.1.0.1/24 dev m0 && ip netns add p1 || exit 2
up m0 && up w0

told 'left behind: host link d0: .* kind veth parent w1' 'ip link add d0 type veth peer name w1' 'ip link del d0'
told 'left behind: pod p1 link d0: ' 'ip -n p1 link add d0 type veth peer name w1' 'ip -n p1 link del d0'
told 'left behind: pod p2 namespace:' 'ip netns add p2' 'ip netns del p2'
told 'changed: host link m0: .* mtu 1500 .* -> .* mtu 1400 ' 'ip link set m0 mtu 1400' 'ip link set m0 mtu 1500'
told 'changed: host link m0: .* promiscuity 0 .* -> .* promiscuity 1 ' 'ip link set m0 promisc on' 'ip link set m0 promisc off'
told 'changed: host link m0: .* -> .* alias left' 'ip link set m0 alias left' 'ip link set m0 alias ""'
told 'changed: host link m0: .* -> .* altname other' 'ip link property add dev m0 altname other' 'ip link property del dev m0 altname other'
told 'changed: host link w0: .* mac 02000000000a' 'ip link set w0 down; ip link set w0 address 02:00:00:00:00:0a' "ip link set w0 address $(</sys/class/net/w0/address); ip link set w0 up; until grep -qx up /sys/class/net/w0/operstate && grep -qx up /sys/class/net/m0/operstate; do sleep 0.01; done"
told 'left behind: host address m0 10.1.0.2/24: ' 'ip addr add 10.1.0.2/24 dev m0' 'ip addr del 10.1.0.2/24 dev m0'
told 'left behind: host address m0 fd00::1/64: ' 'ip addr add fd00::1/64 dev m0 nodad' 'ip addr del fd00::1/64 dev m0'
told 'left behind: host route 10.2.0.0/16 dev m0 table 7: ' 'ip route add 10.2.0.0/16 dev m0 table 7' 'ip route flush table 7'
told 'left behind: host route fd01::/64 dev m0 ' 'ip -6 route add fd01::/64 dev m0' 'ip -6 route del fd01::/64 dev m0'
told 'left behind: host route default/0 dev m0 .* via 10.1.0.9' 'ip route add default via 10.1.0.9' 'ip route del default'
told 'left behind: host rule 99 family 2: table 7 .* from 10.3.0.0' 'ip rule add pref 99 from 10.3.0.0/16 table 7' 'ip rule del pref 99'
told 'left behind: host rule 99 family 10: ' 'ip -6 rule add pref 99 from fd00::/64 table 7' 'ip -6 rule del pref 99'
told 'left behind: host neighbour m0 10.1.0.9: lladdr 020000000009' 'ip neigh add 10.1.0.9 lladdr 02:00:00:00:00:09 nud permanent dev m0' 'ip neigh del 10.1.0.9 dev m0'
told 'left behind: host neighbour m0 10.1.0.8: proxy' 'ip neigh add proxy 10.1.0.8 dev m0' 'ip neigh del proxy 10.1.0.8 dev m0'
told 'left behind: host qdisc m0 .* kind pfifo' 'tc qdisc add dev m0 root pfifo' 'tc qdisc del dev m0 root'
told 'left behind: host qdisc m0 .* kind clsact' 'tc qdisc add dev m0 clsact' 'tc qdisc del dev m0 clsact'
told 'changed: host sysctl /proc/sys/net/ipv6/conf/m0/accept_ra: 1  -> 0' 'echo 0 >/proc/sys/net/ipv6/conf/m0/accept_ra' 'echo 1 >/proc/sys/net/ipv6/conf/m0/accept_ra'
told 'changed: pod p1 sysctl /proc/sys/net/ipv4/conf/all/forwarding: ' \
	'ip netns exec p1 sysctl -w net.ipv4.conf.all.forwarding=1' 'ip netns exec p1 sysctl -w net.ipv4.conf.all.forwarding=0'
told 'left behind: file /run/left: mode 100644 x' 'umask 022; echo x >/run/left' 'rm /run/left'
told 'left behind: file /var/lib/x/left: mode 120777 to /run' 'ln -s /run /var/lib/x/left' 'rm /var/lib/x/left'
told 'left behind: file /run/folder: mode 40755' 'umask 022; mkdir /run/folder' 'rmdir /run/folder'
told 'missing: file /var/lib/x/file: mode 100644 one' 'mv /var/lib/x/file /run/work/file' 'mv /run/work/file /var/lib/x/file'
told 'changed: file /var/lib/x/file: mode 100644 one  -> mode 100644 two' 'echo two >/var/lib/x/file' 'echo one >/var/lib/x/file'
told 'changed: file /var/lib/x/file: mode 100644 one  -> mode 100600 one' 'chmod 600 /var/lib/x/file' 'chmod 644 /var/lib/x/file'
told 'left behind: mount /var/lib/x/store: tmpfs' 'mount -t tmpfs x /var/lib/x/store' 'umount /var/lib/x/store'
told 'left behind: process [0-9]*: /run/work/bin/sleep' \
	'/run/work/bin/sleep 300 & echo $! >/run/work/pid; until [ "$(readlink /proc/$!/exe)" = /run/work/bin/sleep ]; do :; done' \
	'kill -KILL $(cat /run/work/pid); while [ -e /proc/$(cat /run/work/pid)/exe ]; do :; done'
told 'left behind: process [0-9]*: .* /run/work/bin/script' \
	'mkfifo /run/work/fifo; exec 8<>/run/work/fifo; /run/work/bin/script <&8 & echo $! >/run/work/pid; until grep -q script /proc/$!/cmdline; do :; done' \
	'kill -KILL $(cat /run/work/pid); while [ -e /proc/$(cat /run/work/pid)/exe ]; do :; done'

# Changes that a snapshot omits.
take >"$W/before"
echo x >/run/a.tmp
echo two >/var/lib/x/store/file
ip link add d0 type veth peer name w1 && ip link del d0
take >"$W/now"
same "an ignored file, contents that do not count, a link that came and went"
# Lines that a script added, in another order.
printf 'lease: 10.1.0.1\nlease: 10.1.0.2\n' >>"$W/before"
printf 'lease: 10.1.0.2\nlease: 10.1.0.1\n' >>"$W/now"
same "lines in another order"
sed -i 1d "$W/now"
if "$SNAPSHOT" --diff "$W/before" "$W/now" >"$W/diff"; then
	echo "not ok - a missing line is not told"
	failed=$((failed + 1))
else
	passed=$((passed + 1))
fi
# In a world whose links are not at rest the carrier does not count, but the rest of it does.
take --settling yes >"$W/before"
ip link set w0 down
take --settling yes >"$W/now"
if "$SNAPSHOT" --diff "$W/before" "$W/now" >"$W/diff" || grep -q 'link m0' "$W/diff" || ! grep -q 'link w0' "$W/diff"; then
	echo "not ok - a peer that goes down, with --settling: $(<"$W/diff")"
	failed=$((failed + 1))
else
	passed=$((passed + 1))
fi
# Files of one suite are sourced together.
printf 'one()\n{\n\ttwo() { :; }\n}\n' >"$W/a.sh"
printf 'two() { :; }\n' >"$W/b.sh"
printf 'one() { :; }\n' >"$W/c.sh"
names 0 "$W/a.sh" "$W/b.sh" "$W/a.sh"
names 2 "$W/a.sh" "$W/b.sh" "$W/c.sh"
printf 'ONE=1\nONE=2\n' >"$W/a.sh"
printf 'ONE=3\n' >"$W/c.sh"
names 0 "$W/a.sh" "$W/b.sh"
names 2 "$W/a.sh" "$W/b.sh" "$W/c.sh"
printf 'FIRST=1 ONE=2\n' >"$W/b.sh"
names 2 "$W/a.sh" "$W/b.sh"
ends_as not dies_in_its_middle
ends_as not ends_by_exit
ends_as ok last_command_fails
ends_as ok is_skipped
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]

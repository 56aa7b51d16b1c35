#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sandbox.sh [--host-net] COMMAND [ARG...]: run a command in mount, network and process namespaces of its own.
#
# --host-net: without a network namespace; for a guest, because its cards are in the first one.
# Inside, /run, /var/lib, /var/log and /etc/modprobe.d are empty memory file systems, /proc and /sys show the new namespaces, and
# the only link is lo. The command cannot change the machine. Processes, namespaces, links and files disappear when the
# command ends, or when this script is interrupted, terminated or killed.
set -u

inside()
{
	mount -t tmpfs -o mode=755 railhead-sandbox /run &&
		mount -t tmpfs -o mode=755 railhead-sandbox /var/lib &&
		mount -t tmpfs -o mode=755 railhead-sandbox /var/log &&
		{ [ ! -d /etc/modprobe.d ] || mount -t tmpfs -o mode=755 railhead-sandbox /etc/modprobe.d; } &&
		mkdir -p /run/netns /run/work || exit 2
	if [ "$1" = --host-net ]; then shift; else
		mount -t sysfs sysfs /sys 2>/dev/null
		ip link set lo up || exit 2
	fi
	# The first process of a namespace ignores signals that it does not handle: a shell with
	# handlers stays in that place.
	trap 'exit 143' TERM
	trap 'exit 130' INT
	"$@"
	exit
}

outside()
{
	[ "$(id -u)" = 0 ] || {
		echo "${0##*/}: needs root: it makes network namespaces of its own" >&2
		exit 2
	}
	exec 3<&0
	local net=(--net)
	[ "$1" != --host-net ] || net=()
	# Both ends are tied: unshare dies with us, and the first process inside dies with unshare.
	setpriv --pdeathsig KILL unshare --mount "${net[@]}" --pid --fork --mount-proc --kill-child=KILL \
		--propagation private -- "$0" --inside "$@" <&3 3<&- &
	child=$!
	trap 'kill -KILL "$child"; wait "$child" 2>/dev/null; exit 130' INT
	trap 'kill -KILL "$child"; wait "$child" 2>/dev/null; exit 143' TERM HUP
	wait "$child"
	exit
}

if [ "${1-}" = --inside ]; then
	shift
	inside "$@"
fi
[ $# -gt 0 ] || {
	echo "usage: ${0##*/} [--host-net] COMMAND [ARG...]" >&2
	exit 2
}
outside "$@"

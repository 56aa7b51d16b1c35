#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Prove that a fresh Debian needs only the commands of README and CONTRIBUTING. It makes a minimal system with git and make
# in a folder, and clones this tree into it. Each command runs in a system of its own.
#
# usage: tools/fresh.sh [COMMAND...]      default: "make demo" "make check"
#
# Needs root, the network and debootstrap. It works in mount and process namespaces of its own and uses the
# machine's own apt sources; all of it is removed at the end. FRESH_KEEP=1 keeps the base system for the next time.
set -eu

[ "$(id -u)" = 0 ] || { echo "fresh: needs root" >&2; exit 1; }
top=$(cd "$(dirname "$0")/.." && pwd)
base=${FRESH_BASE:-/tmp/fresh-base}
[ $# -gt 0 ] || set -- "make demo" "make check"

inside() # ROOT COMMAND: runs in new namespaces
{
	local root=$1
	mount --make-rprivate /
	mount --bind "$root" "$root"
	mount -t proc proc "$root/proc"
	mount --rbind /sys "$root/sys"
	mount --rbind /dev "$root/dev"
	# An environment of its own too: nothing of this shell's settings may help.
	exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb \
		chroot "$root" /bin/sh -c "cd /railhead && $2" </dev/null
}

if [ "${1-}" = --inside ]; then
	inside "$2" "$3"
fi

if ! [ -e "$base/.complete" ]; then
	command -v debootstrap >/dev/null || { echo "fresh: needs debootstrap: sudo apt-get install debootstrap" >&2; exit 1; }
	echo "fresh: making a minimal Debian in $base"
	# shellcheck source=/dev/null
	. /etc/os-release
	uri=$(apt-get indextargets --format '$(CODENAME) $(SITE)' "Created-By: Packages" | sed -n "s/^$VERSION_CODENAME //p" | head -n 1)
	rm -rf "$base"
	debootstrap --variant=minbase --include=git,make "$VERSION_CODENAME" "$base" "$uri" >"/tmp/fresh-debootstrap.log" 2>&1 || {
		tail -n 20 /tmp/fresh-debootstrap.log >&2
		exit 1
	}
	touch "$base/.complete"
fi

status=0
for command in "$@"; do
	root=$(mktemp -d /tmp/fresh-XXXXXX)
	trap 'rm -rf "$root"' EXIT
	trap 'exit 130' HUP INT TERM
	cp -a "$base/." "$root/"
	# The way to the archive: as on this machine.
	rm -rf "$root/etc/apt/sources.list" "$root/etc/apt/sources.list.d"
	cp -a /etc/apt/sources.list* "$root/etc/apt/"
	apt-config dump | grep '^Acquire::' >"$root/etc/apt/apt.conf.d/00machine" || true
	for file in /etc/resolv.conf /etc/hosts; do
		[ ! -f "$file" ] || cp -L "$file" "$root$file"
	done
	if [ -d /usr/local/share/ca-certificates ]; then
		mkdir -p "$root/usr/local/share"
		cp -a /usr/local/share/ca-certificates "$root/usr/local/share/"
	fi
	git clone -q --no-hardlinks "$top" "$root/railhead"
	echo "fresh: $command"
	start=$SECONDS
	rc=0
	unshare --mount --pid --fork --kill-child -- "$0" --inside "$root" "$command" || rc=$?
	echo "fresh: $command: exit status $rc after $((SECONDS - start)) s"
	[ "$rc" = 0 ] || status=1
	rm -rf --one-file-system "$root"
done
[ "${FRESH_KEEP:-0}" = 1 ] || rm -rf --one-file-system "$base"
exit $status

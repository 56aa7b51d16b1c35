#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fetch.sh DIR WHAT...: put the parts of a guest into DIR, from Debian; existing parts stay.
#
# WHAT is qemu, jq, plugins, the beginning of a kernel's version, as 6.12, or a module for a kernel: movable-6.12,
# fabric-6.12, dcbcard-6.12. Nothing is installed. The machine's own package sources do not change: a private apt configuration with the same
# mirror names the releases. apt checks the signatures, and the packages are unpacked. In DIR afterwards:
#   qemu/               QEMU with the libraries that this machine lacks (empty: the machine's own has igb)
#   jq/                 a jq that starts ten times faster than 1.6, with the libraries for it (or empty)
#   plugins/            the reference plugins of Debian's unstable, and plugins/version: for the bench
#   movable-6.12/movable.ko: movable/, built with that kernel's headers and this machine's compiler; again when movable/ changed
#   kernel-6.12/vmlinuz and kernel-6.12/lib/modules/VERSION, kernel-6.12/version
set -eu
[ $# -ge 2 ] || {
	sed -n '3s/^# //p' "$0" >&2
	exit 2
}
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WHO=vm
# shellcheck source=conformance/debian.sh
. "$HERE/../debian.sh"
fetch_into "$1" lock
shift
# Where a kernel may be, the nearest first. sid last: its list alone takes longer than the rest.
RELEASES="$CODENAME-backports $CODENAME trixie-backports sid"
PRUNE="sound drivers/gpu drivers/media drivers/staging drivers/usb drivers/scsi drivers/hid drivers/input drivers/iio
	drivers/net/wireless drivers/mtd drivers/leds drivers/mmc drivers/hwmon drivers/accel drivers/bluetooth net/mac80211
	net/wireless net/bluetooth fs/xfs fs/btrfs fs/ocfs2 fs/f2fs fs/bcachefs fs/smb"

has_igb() { "$1" -device help 2>/dev/null | grep -q '"igb"'; }

qemu()
{
	rm -rf "$DIR/qemu.new"
	mkdir -p "$DIR/qemu.new"
	if ! has_igb qemu-system-x86_64; then
		say "fetching QEMU from $CODENAME-backports"
		sources "$CODENAME-backports"
		apt apt-get -y --no-install-recommends --download-only -t "$CODENAME-backports" install qemu-system-x86 |
			tee "$APT/log" | progress
		unpack_into "$DIR/qemu.new" QEMU "$APT"/cache/archives/*.deb
	fi
	mv "$DIR/qemu.new" "$DIR/qemu"
}

jq_17()
{
	rm -rf "$DIR/jq.new"
	mkdir -p "$DIR/jq.new"
	if [ "$(jq --version)" = jq-1.6 ]; then
		say "fetching jq from trixie"
		sources trixie
		download jq/trixie libjq1/trixie libonig5/trixie libc6/trixie
		unpack_into "$APT/jq" jq
		cp "$APT/jq/usr/bin/jq" "$APT"/jq/usr/lib/*/lib{jq,onig,c,m}.so.[0-9] "$DIR/jq.new"
		cp "$APT"/jq/usr/lib/*/ld-linux-*.so.[0-9] "$DIR/jq.new/ld.so"
	fi
	mv "$DIR/jq.new" "$DIR/jq"
}

plugins()
{
	local deb new=$DIR/plugins.new
	rm -rf "$new"
	mkdir -p "$new"
	say "fetching the reference plugins from sid"
	sources sid
	download containernetworking-plugins/sid
	for deb in "$APT"/containernetworking-plugins*.deb; do
		[ -e "$deb" ] || die "the plugins could not be fetched: $(tail -n 3 "$APT/log")"
		dpkg -x "$deb" "$APT/plugins"
		dpkg-deb -f "$deb" Version >"$new/version"
		rm "$deb"
	done
	mv "$APT"/plugins/usr/lib/cni/* "$new"
	mv "$new" "$DIR/plugins"
}

# packages PREFIX: the names of the newest such kernel's packages in the lists; linux-image is all of
# it, except where Debian split it in three.
packages()
{
	local tail="\\.[0-9.]+\\+deb[0-9.]+-amd64\$" newest
	newest=$(apt apt-cache pkgnames "linux-modules-$1." | sed 's/^linux-modules-//' | grep -E "^$1$tail" | sort -V | tail -n 1)
	if [ -n "$newest" ]; then
		echo "linux-base-$newest linux-binary-$newest linux-modules-$newest"
		return
	fi
	apt apt-cache pkgnames "linux-image-$1." | grep -E "^linux-image-$1$tail" | sort -V | tail -n 1
}

unpack() # DEB INTO: without the modules that no guest uses
{
	local p prune=()
	for p in $PRUNE; do prune+=("--exclude=*/kernel/$p"); done
	dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" --wildcards "${prune[@]}" --exclude='*/share/doc' --exclude='*/System.map*'
}

kernel() # PREFIX
{
	local prefix=$1 release names='' deb new=$DIR/kernel-$1.new version
	for release in $RELEASES; do
		sources "$release" || continue
		names=$(packages "$prefix")
		[ -z "$names" ] || break
	done
	[ -n "$names" ] || die "no kernel $prefix in: $RELEASES"
	say "fetching kernel $prefix from $release"
	# shellcheck disable=SC2086 # words
	download $names
	rm -rf "$new"
	mkdir -p "$new"
	for deb in "$APT"/linux-*.deb; do
		[ -e "$deb" ] || die "$names could not be fetched: $(tail -n 3 "$APT/log")"
		unpack "$deb" "$new"
		rm "$deb"
	done
	[ ! -d "$new/usr/lib/modules" ] || {
		mkdir -p "$new/lib"
		mv "$new/usr/lib/modules" "$new/lib/modules"
	}
	version=$(ls "$new/lib/modules")
	# The guest's emulated processor would take seconds over it.
	find "$new/lib/modules" -name '*.ko.xz' -print0 | xargs -0 -r -P "$(nproc)" -n 200 xz -d
	mv "$(find "$new" -name 'vmlinuz*' -type f | head -n 1)" "$new/vmlinuz"
	depmod -b "$new" "$version" 2>/dev/null
	echo "$version" >"$new/version"
	rm -rf "${new:?}/boot" "${new:?}/usr"
	mv "$new" "$DIR/kernel-$prefix"
}

# run_newer FOLDER PROGRAM REAL: a program of a newer Debian than this one runs with jq's loader and C library.
run_newer()
{
	"$1/$3" --version >/dev/null 2>"$APT/log" || grep -q GLIBC_ "$APT/log" || return 0
	printf '#!/bin/sh\nexec %s/ld.so --library-path %s:%s %s "$@"\n' "$DIR/jq" "$DIR/jq" \
		"/lib/$(uname -m)-linux-gnu" "$1/$3" >"$1/$2"
}

# is_built NAME PREFIX: that module is there, and was built from its sources as they are now.
is_built()
{
	local file
	[ -e "$DIR/$1-$2/$1.ko" ] || return
	for file in "$HERE/$1"/*; do cmp -s "$file" "$DIR/$1-$2/${file##*/}" || return; done
}

# module NAME PREFIX: the module for that kernel. The makefile of its headers expects /usr/src. The kernel of a newer Debian
# was built by a newer compiler, and our compiler may not have its option for the alignment of functions.
module()
{
	local name=$1 version src=$APT/headers/usr/src new=$DIR/$1-$2.new
	version=$(<"$DIR/kernel-$2/version")
	say "fetching the headers of kernel $version"
	# shellcheck disable=SC2086 # words
	sources $RELEASES
	download "linux-headers-$version" "linux-headers-${version%-amd64}-common" "linux-kbuild-${version%-amd64}"
	unpack_into "$APT/headers" 'the headers'
	sed -i "s|/usr/src|$src|" "$src/linux-headers-$version/Makefile"
	rm -rf "$new"
	mkdir -p "$new"
	cp "$HERE/$name"/* "$new"
	run_newer "$src/linux-headers-$version/scripts/mod" modpost modpost.real-lsb-64
	run_newer "$src/linux-headers-$version/tools/objtool" objtool objtool.real-x86
	make -s -C "$src/linux-headers-$version" M="$new" CC=gcc CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT= \
		CONFIG_DEBUG_INFO_BTF_MODULES= KCPPFLAGS="-I$(realpath "$HERE/../..")" modules >"$APT/log" 2>&1 ||
		die "$name.ko could not be built: $(tail -n 3 "$APT/log")"
	strip --strip-debug "$new/$name.ko"
	find "$new" -mindepth 1 -maxdepth 1 ! -name "$name.ko" | while read -r file; do
		[ -e "$HERE/$name/${file##*/}" ] || rm -r "$file"
	done
	rm -rf "${DIR:?}/$name-$2"
	mv "$new" "$DIR/$name-$2"
}

for what; do
	case $what in
	movable-[0-9]*.[0-9]* | fabric-[0-9]*.[0-9]* | dcbcard-[0-9]*.[0-9]*)
		is_built "${what%%-*}" "${what#*-}" || { private_apt && module "${what%%-*}" "${what#*-}"; }
		;;
	qemu)
		[ -d "$DIR/qemu" ] || { private_apt && qemu; }
		;;
	jq)
		[ -d "$DIR/jq" ] || { private_apt && jq_17; }
		;;
	plugins)
		[ -d "$DIR/plugins" ] || { private_apt && plugins; }
		;;
	[0-9]*.[0-9]*)
		[ -d "$DIR/kernel-$what" ] || { private_apt && kernel "$what"; }
		;;
	*) die "fetch.sh: '$what' is none of qemu, jq, plugins, movable-6.12, fabric-6.12, dcbcard-6.12 and a kernel's version, as 6.12" ;;
	esac
done

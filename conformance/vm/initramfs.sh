#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# initramfs.sh KERNELDIR OUT: the initramfs that mounts the host's root and enters it (guest/init).
#
# KERNELDIR is one of fetch.sh's. busybox, guest/init, and the
# modules of a root over 9p and of the cards.
set -euo pipefail
HOT="bash sh ip jq grep sed awk cat cut tr head tail sort wc timeout env sleep mkdir rm cp mv ln ls readlink basename
	dirname realpath mktemp mount umount unshare setpriv setsid nsenter cmp diff find stat touch date xargs seq rdma
	bridge modprobe tee chmod id uname true printf od strace ping"
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
KERNEL=$1 OUT=$2
JQ=${KERNEL%/*}/jq
W=$(mktemp -d)
trap 'rm -rf "$W"' EXIT

# modules NAME...: their files and what they need, in order of loading, each once.
modules()
{
	local m
	for m; do
		modprobe -S "$(cat "$KERNEL/version")" -d "$KERNEL" --show-depends "$m"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

# both FILE: by its name in its real folder, and what that points to.
both()
{
	echo "$(realpath "${1%/*}")/${1##*/}"
	realpath "$1"
}

# hot: those of HOT that are here, and every library that they load.
hot()
{
	local name file
	echo /etc/ld.so.cache
	for name in $HOT; do
		file=$(type -P "$name") || continue
		both "$file"
		ldd "$file" | grep -o '/[^ ]*'
	done | sort -u | while read -r file; do
		both "$file"
	done | sort -u
}

mkdir -p "$W"/{bin,lib,proc,sys,dev,run,host}
cp "$(command -v busybox)" "$W/bin/busybox"
for applet in sh mount mkdir insmod chroot ln cat; do ln -s busybox "$W/bin/$applet"; done
modules virtio_pci 9pnet_virtio 9p overlay igb igbvf | while read -r file; do
	cp "$file" "$W/lib"
	echo "${file##*/}" >>"$W/lib/order"
done
mkdir "$W/hot"
# The jq that starts fast comes with libraries of its own, which only its own loader may load.
if [ -x "$JQ/jq" ]; then
	mkdir -p "$W"/hot/usr/local/{bin,lib}
	cp -a "$JQ" "$W/hot/usr/local/lib/jq"
	printf '#!/bin/sh\nL=/usr/local/lib/jq\nexec $L/ld.so --library-path $L $L/jq "$@"\n' >"$W/hot/usr/local/bin/jq"
	chmod 755 "$W/hot/usr/local/bin/jq"
fi
hot | cpio -pdm --quiet "$W/hot"
install -m 755 "$HERE/guest/init" "$W/init"
(cd "$W" && find . | cpio -o -H newc --quiet >"$OUT.new")
mv "$OUT.new" "$OUT"

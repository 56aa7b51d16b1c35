#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# initramfs.sh KERNELDIR OUT: the initramfs that mounts the host's root and enters it (guest/init).
#
# KERNELDIR is one of fetch.sh's. busybox, the modules that a root over 9p needs, and guest/init.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
KERNEL=$1 OUT=$2
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

mkdir -p "$W"/{bin,lib,proc,sys,dev,run,host}
cp "$(command -v busybox)" "$W/bin/busybox"
for applet in sh mount mkdir insmod chroot ln cat; do ln -s busybox "$W/bin/$applet"; done
modules virtio_pci 9pnet_virtio 9p overlay | while read -r file; do
	name=${file##*/}
	name=${name%.xz}
	case $file in
	*.xz) xz -dc "$file" >"$W/lib/$name" ;;
	*) cp "$file" "$W/lib/$name" ;;
	esac
	echo "$name" >>"$W/lib/order"
done
install -m 755 "$HERE/guest/init" "$W/init"
(cd "$W" && find . | cpio -o -H newc --quiet) | gzip -1 >"$OUT.new"
mv "$OUT.new" "$OUT"

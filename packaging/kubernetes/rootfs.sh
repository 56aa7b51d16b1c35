#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# rootfs.sh BINDIR FOLDER: the root file system of the image for daemonset.yaml: railheadd, railctl, and the shared libraries of this
# host that railheadd is linked with. Any program that makes images takes it, as a folder or as a tar file.
set -eu

[ $# = 2 ] && [ -x "$1/railheadd" ] || {
	sed -n '3,4s/^# //p' "$0" >&2
	exit 2
}
for program in railheadd railctl; do
	install -D -m 755 "$1/$program" "$2/usr/local/sbin/$program"
done
# "NAME => /PATH (ADDRESS)", and the loader as "/PATH (ADDRESS)"
ldd "$1/railheadd" | sed -n 's|^[^/]*\(/[^ ]*\) (0x.*|\1|p' | while read -r library; do
	install -D -m 755 "$library" "$2$library"
done
# Mount points, so that the file system can be read-only.
mkdir -p "$2/conf" "$2/etc/railhead" "$2/var/lib/railhead" "$2/run/railhead" "$2/run/netns" "$2/opt/cni/bin" "$2/proc" "$2/sys" "$2/dev" "$2/tmp"
ln -sfn /run "$2/var/run"

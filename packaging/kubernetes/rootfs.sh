#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# rootfs.sh BINDIR FOLDER: the root file system of the image for daemonset.yaml: railheadd, railctl, sm-ufm, and the shared libraries
# of this host with which they are linked. Any program that makes images takes it, as a folder or as a tar file.
set -eu

[ $# = 2 ] || {
	sed -n '3,4s/^# //p' "$0" >&2
	exit 2
}
for program in railheadd railctl sm-ufm; do
	[ -x "$1/$program" ] || {
		echo "rootfs.sh: no program $program in $1; build it with: make" >&2
		exit 2
	}
done
for program in railheadd railctl; do
	install -D -m 755 "$1/$program" "$2/usr/local/sbin/$program"
done
# For memberships of partitions. opensm is on the host, so its hook is of no use here.
install -D -m 755 "$1/sm-ufm" "$2/usr/local/libexec/railhead/sm-ufm"
# "NAME => /PATH (ADDRESS)", and the loader as "/PATH (ADDRESS)"
ldd "$1/railheadd" "$1/sm-ufm" | sed -n 's|^[^/]*\(/[^ ]*\) (0x.*|\1|p' | while read -r library; do
	install -D -m 755 "$library" "$2$library"
done
# Mount points, so that the file system can be read-only.
mkdir -p "$2/conf" "$2/etc/railhead" "$2/var/lib/railhead" "$2/run/railhead" "$2/run/netns" "$2/opt/cni/bin" "$2/proc" "$2/sys" "$2/dev" "$2/tmp"
ln -sfn /run "$2/var/run"

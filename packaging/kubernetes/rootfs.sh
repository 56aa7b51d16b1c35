#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# rootfs.sh BINDIR FOLDER: the root file system of the image for daemonset.yaml: railheadd, railhead-devices, railctl, sm-ufm, and the shared libraries
# of this host with which they are linked. Any program that makes images takes it, as a folder or as a tar file.
# rootfs.sh --libraries FOLDER PROGRAM...: only the libraries of these programs.
#
# For another machine: SYSROOT is the folder with its libraries, and RUN_WITH the emulator.
set -eu

linked() # PROGRAM...: the lines of ldd
{
	if [ -z "${SYSROOT-}" ]; then
		ldd "$@"
	else
		for program; do
			${RUN_WITH-} "$SYSROOT"/lib/ld-linux-*.so.1 --library-path "$(echo "$SYSROOT"/lib/*-linux-gnu):$(echo "$SYSROOT"/usr/lib/*-linux-gnu)" \
				--list "$program"
		done
		# ldd also shows the loader.
		(cd "$SYSROOT" && printf '\t/%s (0x0)\n' lib/ld-linux-*.so.1)
	fi
}

# "NAME => /PATH (ADDRESS)", and the loader as "/PATH (ADDRESS)"
libraries() # FOLDER PROGRAM...
{
	to=$1
	shift
	linked "$@" | sed -n 's|^[^/]*\(/[^ ]*\) (0x.*|\1|p' | sort -u | while read -r library; do
		install -D -m 755 "${SYSROOT-}${library#"${SYSROOT:-/no}"}" "$to${library#"${SYSROOT:-/no}"}"
	done
}

[ "${1-}" != --libraries ] || {
	shift
	libraries "$@"
	exit
}

[ $# = 2 ] || {
	sed -n '3,5s/^# //p' "$0" >&2
	exit 2
}
for program in railheadd railhead-devices railctl sm-ufm; do
	[ -x "$1/$program" ] || {
		echo "rootfs.sh: no program $program in $1; build it with: make" >&2
		exit 2
	}
done
for program in railheadd railhead-devices railctl; do
	install -D -m 755 "$1/$program" "$2/usr/local/sbin/$program"
done
# For memberships of partitions. opensm is on the host, so its hook is of no use here.
install -D -m 755 "$1/sm-ufm" "$2/usr/local/libexec/railhead/sm-ufm"
libraries "$2" "$1/railheadd" "$1/railhead-devices" "$1/sm-ufm"
# Mount points, so that the file system can be read-only.
mkdir -p "$2/conf" "$2/etc/railhead" "$2/var/lib/railhead" "$2/run/railhead" "$2/run/netns" "$2/opt/cni/bin" "$2/boot" "$2/proc" "$2/sys" "$2/dev" "$2/tmp"
ln -sfn /run "$2/var/run"

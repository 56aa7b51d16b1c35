#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fetch.sh DIR WHAT...: put the parts of a cluster into DIR, from Debian; existing parts stay.
#
# The values of WHAT are tree and go. Nothing is installed: see ../debian.sh. In DIR afterwards:
#   tree/    the files of a node: Debian's unstable with containerd 2, runc and etcd; rebuilt when its recipe here changes
#   go/      a Go compiler of trixie's backports, for machines with an older one
set -eu
[ $# -ge 2 ] || {
	sed -n '3s/^# //p' "$0" >&2
	exit 2
}
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WHO=cluster
# shellcheck source=conformance/debian.sh
. "$HERE/../debian.sh"
fetch_into "$1" lock.fetch
shift

PACKAGES=base-files,bash,busybox-static,ca-certificates,containerd,coreutils,crun,dash,etcd-server,findutils,gawk,grep,hostname
PACKAGES+=,iproute2,kmod,libc-bin,mount,nftables,procps,runc,sed,tar,util-linux

# The packages are unpacked, not set up: nothing in a node asks for more than the files and an entry for root.
tree()
{
	local new=$DIR/tree.new site
	site=$(mirror)
	[ -n "$site" ] || die "no package source for '$CODENAME' is configured here; a node's files come from Debian's packages"
	command -v mmdebstrap >/dev/null || die "mmdebstrap is missing; to install it: tools/deps.sh cluster"
	say "unpacking containerd, runc and etcd of sid, with what they need: 260 MB in $DIR/tree"
	rm -rf "$new"
	mmdebstrap --mode=root --variant=extract --format=directory --include="$PACKAGES" \
		--aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Retries "3"' \
		--aptopt='APT::Sandbox::User "root"' \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		sid "$new" "deb $(signed)$site sid main" 2>&1 </dev/null | tee "$DIR/tree.log" | sed -u -n 's/^I: /cluster:   /p'
	[ -x "$new/usr/bin/containerd" ] && [ -x "$new/usr/bin/etcd" ] || die "no tree: $(tail -n 3 "$DIR/tree.log")"
	echo 'root:x:0:0:root:/root:/bin/bash' >"$new/etc/passwd"
	echo 'root:x:0:' >"$new/etc/group"
	rm -rf "$new/var/run" && ln -s /run "$new/var/run"
	# Every root of a node has places of its own on top of it.
	mkdir -p "$new/opt/cni/bin" "$new/etc/cni/net.d" "$new/railhead"
	echo "$RECIPE" >"$new/.complete"
	rm -rf "$DIR/tree"
	mv "$new" "$DIR/tree"
}

# Unpacked elsewhere, the links between the two parts lead nowhere.
go()
{
	local new=$DIR/go.new part
	say "fetching a Go compiler from trixie-backports"
	sources trixie-backports
	rm -rf "$new"
	mkdir -p "$new"
	download golang-1.26-go/trixie-backports golang-1.26-src/trixie-backports
	unpack_into "$new" 'the Go compiler'
	for part in src test api misc; do
		[ ! -e "$new/usr/share/go-1.26/$part" ] || ln -sfn "../../share/go-1.26/$part" "$new/usr/lib/go-1.26/$part"
	done
	"$new/usr/lib/go-1.26/bin/go" version >/dev/null || die "the Go compiler of trixie-backports does not run here"
	rm -rf "$DIR/go"
	mv "$new" "$DIR/go"
}

# The recipe that made a tree.
RECIPE=$({ echo "$PACKAGES" && declare -f tree; } | sha256sum)

for what; do
	case $what in
	tree)
		[ "$(cat "$DIR/tree/.complete" 2>/dev/null)" = "$RECIPE" ] || { private_apt && tree; }
		;;
	go)
		[ -x "$DIR/go/usr/lib/go-1.26/bin/go" ] || { private_apt && go; }
		;;
	*) die "fetch.sh: '$what' is neither tree nor go" ;;
	esac
done

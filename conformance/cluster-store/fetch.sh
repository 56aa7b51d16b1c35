#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fetch.sh DIR: put the real engines into DIR, from Debian's packages; existing ones stay.
#
# Nothing is installed: see ../debian.sh. In DIR afterwards: etcd-3.4 and etcd-3.5, of bookworm and of trixie. Status 3: the
# packages are not available here.
set -eu
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WHO=cluster-store
# shellcheck source=conformance/debian.sh
. "$HERE/../debian.sh"
fetch_into "${1:?usage: fetch.sh DIR}" lock

etcd() # RELEASE NAME
{
	local new=$DIR/$2.new
	rm -rf "$new"
	mkdir -p "$new"
	say "fetching etcd-server from $1"
	download "etcd-server/$1" || exit 3
	unpack_into "$new" 'etcd' || exit 3
	"$new/usr/bin/etcd" --version | grep -q "^etcd Version: ${2#etcd-}\." || die "$1 has another etcd than ${2#etcd-}"
	mv "$new/usr/bin/etcd" "$DIR/$2"
	rm -rf "$new"
}

if [ ! -x "$DIR/etcd-3.4" ] || [ ! -x "$DIR/etcd-3.5" ]; then
	private_apt
	sources bookworm trixie || exit 3
	[ -x "$DIR/etcd-3.4" ] || etcd bookworm etcd-3.4
	[ -x "$DIR/etcd-3.5" ] || etcd trixie etcd-3.5
fi

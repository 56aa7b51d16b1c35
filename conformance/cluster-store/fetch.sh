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

# available COMMAND...: in a shell of its own, because those of debian.sh end the shell that they are in.
available() { (set -o pipefail && "$@") || exit 3; }

etcd() # RELEASE NAME
{
	local new=$DIR/$2.new
	rm -rf "$new"
	mkdir -p "$new"
	say "fetching etcd-server from $1"
	available download "etcd-server/$1"
	available unpack_into "$new" 'etcd'
	"$new/usr/bin/etcd" --version | grep -q "^etcd Version: ${2#etcd-}\." || die "$1 has another etcd than ${2#etcd-}"
	mv "$new/usr/bin/etcd" "$DIR/$2"
	rm -rf "$new"
}

if [ ! -x "$DIR/etcd-3.4" ] || [ ! -x "$DIR/etcd-3.5" ]; then
	private_apt
	available sources bookworm trixie
	[ -x "$DIR/etcd-3.4" ] || etcd bookworm etcd-3.4
	[ -x "$DIR/etcd-3.5" ] || etcd trixie etcd-3.5
fi

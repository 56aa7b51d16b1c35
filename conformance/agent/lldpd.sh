#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# lldpd.sh DIR: put lldpd and the libraries that this machine lacks into DIR/lldpd, from Debian's packages; an existing one stays.
#
# Nothing is installed, because the package would start a daemon: see ../debian.sh. Status 3: it is not available here.
set -eu
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WHO=lldpd
# shellcheck source=conformance/debian.sh
. "$HERE/../debian.sh"
fetch_into "${1:?usage: lldpd.sh DIR}" lock-lldpd
[ ! -x "$DIR/lldpd/usr/sbin/lldpd" ] || exit 0

available() { (set -o pipefail && "$@") || exit 3; }
private_apt
available sources
say "fetching lldpd"
apt apt-get -y --no-install-recommends --download-only install lldpd | tee "$APT/log" | progress
rm -rf "$DIR/lldpd" "$DIR/lldpd.new"
mkdir -p "$DIR/lldpd.new"
available unpack_into "$DIR/lldpd.new" lldpd "$APT"/cache/archives/*.deb
mv "$DIR/lldpd.new" "$DIR/lldpd"

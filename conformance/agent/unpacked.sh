#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# unpacked.sh DIR PACKAGE PROGRAM: put a package of Debian, and the libraries that this machine lacks, into DIR/PACKAGE; if PROGRAM is there, it stays.
#
# Nothing is installed, because the package would start a daemon: see ../debian.sh. Status 3: it is not available here.
set -eu
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WHO=${2:?usage: unpacked.sh DIR PACKAGE PROGRAM}
# shellcheck source=conformance/debian.sh
. "$HERE/../debian.sh"
fetch_into "$1" "lock-$WHO"
[ ! -x "$DIR/$WHO/$3" ] || exit 0

available() { (set -o pipefail && "$@") || exit 3; }
private_apt
available sources
say "fetching $WHO"
apt apt-get -y --no-install-recommends --download-only install "$WHO" | tee "$APT/log" | progress
rm -rf "$DIR/${WHO:?}" "$DIR/$WHO.new"
mkdir -p "$DIR/$WHO.new"
available unpack_into "$DIR/$WHO.new" "$WHO" "$APT"/cache/archives/*.deb
mv "$DIR/$WHO.new" "$DIR/$WHO"

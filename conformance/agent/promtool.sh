#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# promtool.sh DIR: put promtool and prometheus into DIR, from Debian's package; existing ones stay.
#
# Nothing is installed: see ../debian.sh. Status 3: the package is not available here.
set -eu
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WHO=promtool
# shellcheck source=conformance/debian.sh
. "$HERE/../debian.sh"
fetch_into "${1:?usage: promtool.sh DIR}" lock-promtool
[ ! -x "$DIR/promtool" ] || [ ! -x "$DIR/prometheus" ] || exit 0

available() { (set -o pipefail && "$@") || exit 3; }
private_apt
available sources
say "fetching prometheus"
available download prometheus
rm -rf "$DIR/prometheus.new"
mkdir -p "$DIR/prometheus.new"
available unpack_into "$DIR/prometheus.new" promtool
mv "$DIR/prometheus.new/usr/bin/prometheus" "$DIR/prometheus.new/usr/bin/promtool" "$DIR"

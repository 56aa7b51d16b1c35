#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# selftest.sh BINDIR [ITEMS]: run every item against the plugins that break it, and nothing else.
# Each must be caught; ITEMS are as in cni-conformance --items.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BIN=${1:?usage: selftest.sh BINDIR [ITEMS]}
PROGRAM=${PROGRAM:-$BIN/../conformance/spec/cni-conformance}
rc=0
for pair in "$BIN/macvlan railhead-macvlan" "$BIN/railhead-ipam railhead-ipam" "@meta meta"; do
	"$PROGRAM" --selftest --plugin "${pair% *}" --profile "$HERE/profiles/${pair#* }.json" \
		${2:+--items "$2"} || rc=1
done
exit $rc

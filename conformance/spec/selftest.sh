#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# selftest.sh BINDIR [ITEMS]: run every item against the plugins that break it, and nothing else.
# Each must be caught; ITEMS are as in cni-conformance --items.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BIN=${1:?usage: selftest.sh BINDIR [ITEMS]}
PROGRAM=${PROGRAM:-$BIN/../conformance/spec/cni-conformance}
# The built-in chained plugin is there for what only chained plugins do.
rc=0
for pair in "$BIN/macvlan railhead-macvlan" "$BIN/railhead-ipam railhead-ipam" "@meta meta"; do
	items=${2-}
	[ "${pair% *}" != @meta ] || items=CNI-030,CNI-127
	"$PROGRAM" --selftest --plugin "${pair% *}" --profile "$HERE/profiles/${pair#* }.json" \
		${items:+--items "$items"} || rc=1
done
exit $rc

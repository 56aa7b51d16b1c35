#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sriov-host.sh OUT: the part of the bench of sriov that needs no guest: veth in place of VFs. Run inside a sandbox.
#
# Only ADD: see undo.sh. The figures go into the file OUT. BIN, HELPERS, PEER, NEWER, QUICK come with the environment.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
W=/run/work RAW=$1 HOST='' OURS=$BIN/sriov+$HERE/undo.sh
export FLOOR=$HELPERS/floor
# shellcheck source=conformance/bench/lib.sh
. "$HERE/lib.sh"
# shellcheck source=conformance/bench/sriov-lib.sh
. "$HERE/sriov-lib.sh"
# shellcheck source=conformance/bench/fakesys.sh
. "$HERE/fakesys.sh"
pick() { [ -n "${QUICK-}" ] && echo "$1" || echo "$2"; }
MANY=$(pick 20 250)
ONE=0001:3b:00.0 LARGE=0002:3b:00.0 FOUR=0000:3b:00.0

machines()
{
	local n
	say "machines with 1, 4 and $MANY VFs"
	fake_card four $FOUR pf0 4
	fake_card one $ONE pf0 1
	fake_card many $LARGE pf0 "$MANY"
	for ((n = 0; n < MANY; n++)); do echo "netns add pod$n"; done | ip -batch - || exit 2
}
at() { go_to "$1" && HOST=/run/netns/host-$1; }

# 1 and many VFs take turns, so that what else the machine does hits both.
one_and_many()
{
	local n one many
	one=$(vf_address $ONE 0) many=$(vf_address $LARGE $((MANY - 1)))
	say "ADD with 1 and with $MANY VFs"
	for ((n = 0; n < $(pick 1 20); n++)); do
		at one && flat one "$(pick 2 6)" "$one" pod0
		at many && flat many "$(pick 2 6)" "$many" pod0
	done
	at one && flat_counts one "$one" pod0
	at many && flat_counts many "$many" pod0
}

# chosen LABEL POD: the plugin takes the only VF there is, or one of many.
chosen()
{
	local n
	for ((n = 0; n < $(pick 1 20); n++)); do
		at one && measure samples "$(pick 2 6)" 1 "$(subject "one-$1" "$OURS" chosen "$2")"
		at many && measure samples "$(pick 2 6)" 1 "$(subject "many-$1" "$OURS" chosen "$2")"
	done
	at one && counts "one-$1" "$OURS" chosen "$2"
	at many && counts "many-$1" "$OURS" chosen "$2"
}

machines
say "one device into a pod, beside the reference and the bare program"
at four
moves "$(pick 3 60)" "$(vf_address $FOUR 0)" "$(vf_address $FOUR 1)" "$(vf_address $FOUR 2)" pf0v3
one_and_many
say "a VF chosen among 1 and among $MANY"
resource_of chosen pf0
chosen free pod0
say "the same when all but one of $MANY are taken"
at many && measure fill $((MANY - 1)) 4 "$(subject fill "$OURS" chosen pod%d)"
chosen last pod$((MANY - 1))
sed -i '/ DEL /d' "$RAW"

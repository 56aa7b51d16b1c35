#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sriov-host.sh OUT: the part of the bench of sriov with veth in place of VFs. Run in a mount namespace of its own.
#
# Only ADD: see undo.sh. The figures go into the file OUT. BIN, HELPERS, PEER and NEWER come with the environment;
# MOVES, TURNS: how many rounds; MANY: how many VFs.
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
ONE=0001:3b:00.0 LARGE=0002:3b:00.0 FOUR=0000:3b:00.0

machines()
{
	local n
	say "machines with 1, 4 and $MANY VFs"
	fake_card four $FOUR pf0 4 && fake_card one $ONE pf0 1 && fake_card many $LARGE pf0 "$MANY" || broken "could not make them"
	for ((n = 0; n < MANY; n++)); do [ -e /run/netns/pod$n ] || echo "netns add pod$n"; done | ip -batch - || broken "no pods"
}
at() { go_to "$1" && HOST=/run/netns/host-$1; }

# 1 and many VFs take turns, so that what else the machine does hits both.
one_and_many()
{
	local n one many
	vf_address one $ONE 0
	vf_address many $LARGE $((MANY - 1))
	say "ADD with 1 and with $MANY VFs"
	for ((n = 0; n < TURNS; n++)); do
		at one && flat one 6 "$one" pod0
		at many && flat many 6 "$many" pod0
	done
	at one && flat_counts one "$one" pod0
	at many && flat_counts many "$many" pod0
}

# chosen LABEL POD: the plugin takes the only VF there is, or one of many.
chosen()
{
	local n
	for ((n = 0; n < TURNS; n++)); do
		at one && measure samples 6 1 "$(subject "one-$1" "$OURS" chosen "$2")"
		at many && measure samples 6 1 "$(subject "many-$1" "$OURS" chosen "$2")"
	done
	at one && counts "one-$1" "$OURS" chosen "$2"
	at many && counts "many-$1" "$OURS" chosen "$2"
}

machines
say "one device into a pod, beside the reference and the bare program"
at four
for n in 0 1 2; do vf_address "vf[$n]" $FOUR $n; done
moves "$MOVES" "${vf[@]}" pf0v3
one_and_many
say "a VF chosen among 1 and among $MANY"
resource_of chosen pf0
chosen free pod0
say "the same when all but one of $MANY are taken"
at many && measure fill $((MANY - 1)) 4 "$(subject fill "$OURS" chosen pod%d)"
chosen last pod$((MANY - 1))
sed -i '/ DEL /d' "$RAW"

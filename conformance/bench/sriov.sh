#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sriov.sh [--quick] [--markdown] [--no-vm] [--raw DIR] BINDIR: what the sriov plugin costs.
#
# It runs on this machine with veth in place of VFs, and in a guest with true ones. The reference's host-device runs
# in turn with it. It prints medians. --quick: is the bench itself sound; its times mean nothing.
# --no-vm: not in the guest. --raw DIR: keep the figures there. --markdown: the table of docs/performance.md.
# TABLES=FILE: all tables.
# PEER_DIR: the installed reference (/usr/lib/cni); a newer one is fetched; KERNEL: the guest's (6.12); HELPERS=DIR:
# measure, floor and calls (BINDIR/../conformance/bench); LISTS: build/test/lib/device/vf_test.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TREE=$(cd "$HERE/../.." && pwd)
# shellcheck source=conformance/bench/lib.sh
. "$HERE/lib.sh"
OWN=--no-vm
options "$@"
set -- "${ARGS[@]}"
[ $# = 1 ] && [ -x "$1/sriov" ] || usage
VM=1
! has_own --no-vm || VM=''
W=$(mktemp -d /tmp/railhead-bench.XXXXXX)
trap 'rm -rf "$W"' EXIT
# A copy: whoever builds meanwhile does not pull the programs away.
cp -r "$1" "$W/bin" && cp -r "$1/../conformance" "$W/conformance" || exit 2
export BIN=$W/bin PEER=${PEER_DIR:-/usr/lib/cni} NEWER=$TREE/build/vm/plugins QUICK
export HELPERS=${HELPERS:-$W/conformance/bench}
HELPERS=$(realpath "$HELPERS")
LISTS=${LISTS:-$1/../test/lib/device/vf_test}
KERNEL=${KERNEL:-6.12}
pick() { [ -n "$QUICK" ] && echo "$1" || echo "$2"; }
MANY=$(pick 20 250)
RAW=$W/raw ROWS=$W/rows
: >"$RAW"
: >"$ROWS"

# --- measuring ---------------------------------------------------------------------------------

references()
{
	[ -x "$PEER/host-device" ] && [ -x "$PEER/static" ] || broken "no host-device and static in $PEER: tools/deps.sh bench"
	"$TREE/conformance/vm/fetch.sh" "$TREE/build/vm" plugins >&2 || say "no newer reference: it could not be fetched"
	[ -x "$NEWER/host-device" ] || NEWER=''
}
here()
{
	say "on this machine, load $(cut -d' ' -f1-3 /proc/loadavg)"
	MOVES=$(pick 3 60) TURNS=$(pick 1 20) MANY=$MANY "$HERE/../sandbox.sh" "$HERE/sriov-host.sh" "$W/here" || broken "it was not to be measured here"
	[ ! -x "$LISTS" ] || BENCH_ROUNDS=$(pick 20 5000) CK_FORK=no "$LISTS" | grep '^list-' >>"$W/here"
}
# A nanosecond of the guest's is an instruction of its processor, or a wait: whatever else this machine does, times
# come out the same.
guest()
{
	say "in a guest with kernel $KERNEL: minutes"
	VM_CLOCK=shift=0,sleep=off "$HERE/../vm/run" --kernel "$KERNEL" --limit 1800 --bin "$BIN" --out "$W/out" bench >&2 || broken "the guest failed"
	mv "$W/out/raw" "$W/guest"
	mv "$W/out/veth" "$W/veth"
}
# take PREFIX FILE: into RAW, each label with the prefix, runs by themselves as their medians.
take()
{
	{
		grep ' sample ' "$2" | fold
		grep -v ' sample ' "$2"
	} | sed "s/^/$1/" >>"$RAW"
}

# --- the rows ----------------------------------------------------------------------------------

# value LABEL WORD: what follows the word; the sum over all lines of that label.
value() { awk -v l="$1" -v w="$2" '$1 == l { for (i = 2; i < NF; i++) if ($i == w) x += $(i + 1) } END { print x + 0 }' "$RAW"; }
# beside PLACE PREFIX WHAT IPAM: one device into a pod.
beside()
{
	local ours p
	ours=$(median "$2$4-ours" ADD wall)
	for p in peer newer; do
		[ -n "$(median "$2$4-$p" ADD wall)" ] || continue
		row "$1: ADD, $3, against $(name_of $p)" "<= 1/2.5" 0.4 "$ours" "$(median "$2$4-$p" ADD wall)" ms
		fact "... its CPU time" "" "$(ms "$(median "$2$4-ours" ADD cpu)") ms / $(ms "$(median "$2$4-$p" ADD cpu)") ms" ""
	done
	p=$(median "$2$4-floor" ADD wall)
	fact "... against the bare program" "" "$(ms "$ours") ms / $(ms "$p") ms = $(ratio "$ours" "$p")" ""
	fact "... what comes on top of that: ours, $(name_of peer), the newer" "" "$(for l in ours peer newer; do
		awk -v t="$(median "$2$4-$l" ADD wall)" -v f="$p" 'BEGIN { printf "%.2f ms ", (t - f) / 1000 }'
	done)" ""
}
name_of() { [ "$1" = peer ] && echo "host-device ${PEER_VERSION:-installed}" || echo "host-device $(<"$NEWER/version")"; }
# against PLACE WHAT LABEL LABEL VERB: flat within 1.2.
against()
{
	row "$1: $5, $2" "<= 1.2" 1.2 "$(median "$3" "$5" wall)" "$(median "$4" "$5" wall)" ms
	[ -n "$(median "$3" "$5" calls)" ] || return 0
	fact "... system calls; bytes from the kernel" "" "$(median "$3" "$5" calls) / $(median "$4" "$5" calls); $(median "$3" \
		"$5" received) / $(median "$4" "$5" received)" ""
}
# rows_veth PLACE PREFIX
rows_veth()
{
	beside "$1" "$2" "no IPAM" move
	beside "$1" "$2" "IPAM static" static
	against "$1" "$MANY VFs against 1" "$2many" "$2one" ADD
	against "$1" "the first in a VF's life, $MANY VFs against 1" "$2many-first" "$2one-first" ADD
	against "$1" "one of $MANY free VFs chosen, against the only one" "$2many-free" "$2one-free" ADD
	against "$1" "the last free of $MANY VFs chosen, against the only one" "$2many-last" "$2one-last" ADD
}
lists()
{
	[ "$(value list-250 ns)" = 0 ] || fact "the list of VFs, read once in a VF's life: 250 VFs, 14, 1" "" "$(for n in 250 14 1; do
		awk -v t="$(value list-$n ns)" -v n=$n 'BEGIN { printf "%s%.3f", n == 250 ? "" : " ms, ", t / 1e6 }'
	done) ms" ""
}
rows_guest()
{
	local n v title
	beside VF vm- "no IPAM" move
	beside VF vm- "IPAM static" static
	for v in ADD DEL; do
		against VF "7 VFs against 1" vm-seven vm-one $v
		against VF "14 VFs against 1" vm-fourteen vm-one $v
	done
	against VF "the first in a VF's life, 14 VFs against 1" vm-fourteen-first vm-one-first ADD
	for v in ADD DEL; do
		row "VF of InfiniBand that keeps its GUID: $v, ib-sriov against sriov" "<= 1.2" 1.2 "$(median vm-infiniband $v wall)" "$(median vm-ethernet $v wall)" ms
	done
	n=$(grep -c '^vm-crowd crowd' "$RAW")
	title="$n times 14 pods at once over two PFs"
	zero "$title: duplicates" "$(value vm-crowd duplicates)"
	zero "$title: failures" "$(value vm-crowd failures)"
	zero "$title: VFs lost" "$(value vm-crowd lost)"
	fact "... 14 ADDs, from the first to the last" "" "$(awk '$1 == "vm-crowd" && $2 == "crowd" { print $NF }' "$RAW" | sort -n |
		awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }') ms" ""
}
zero()
{
	fact "VF: $1" 0 "$2" "$([ "$2" = 0 ] && echo met || echo missed)"
	[ "$2" = 0 ] || bad=1
}

PEER_VERSION=$(dpkg-query -W -f '${Version}' containernetworking-plugins 2>/dev/null)
PEER_NAME="containernetworking-plugins $PEER_VERSION"
bad='' started=$SECONDS
references
PEER_NAME="$PEER_NAME${NEWER:+ and $(<"$NEWER/version")}"
here
take '' "$W/here"
[ -z "$VM" ] || {
	guest
	take vm- "$W/guest"
	take vv- "$W/veth"
}
rows_veth "veth here" ''
lists
[ -z "$VM" ] || {
	rows_veth "veth in the guest" vv-
	rows_guest
}
if [ -n "$VM" ]; then
	bench_end "$W"/{here,guest,veth}
else
	bench_end "$W/here"
fi
say "took $((SECONDS - started)) s, load $(cut -d' ' -f1-3 /proc/loadavg)"
[ -z "$bad" ]

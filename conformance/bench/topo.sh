#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# topo.sh [--quick] [--markdown] [--raw DIR] BINDIR: what `railctl topo` costs on a machine of the size of a DGX. Medians.
#
# The machines are files in memory: 8 GPUs, 10 HCAs, 100 functions of the processors, and 128 to 4096 VFs, each with an
# RDMA device and an interface. Beside it lstopo (Debian's hwloc-nox) on the same files (HWLOC_FSROOT), in turn with it.
# --quick: is the bench itself sound; its times mean nothing. --raw DIR: keep the figures there. --markdown: the
# table of docs/performance.md. TABLES=FILE: all tables. HELPERS: where topo_tree and topo_time are.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=conformance/bench/lib.sh
. "$HERE/lib.sh"
options "$@"
set -- "${ARGS[@]}"
[ $# = 1 ] && [ -x "$1/railctl" ] || usage
RAILCTL=$(realpath "$1/railctl")
HELPERS=$(realpath "${HELPERS:-build/conformance/bench}")
W=$(mktemp -d -p /dev/shm railhead-bench.XXXXXX)
trap 'rm -rf "$W"' EXIT
RAW=$W/raw ROWS=$W/rows
PEER_NAME="$(lstopo-no-graphics --version 2>/dev/null || echo none)"
: >"$ROWS"

rounds=${QUICK:+3}
rounds=${rounds:-25}
sizes=(128 1024 4096)
[ -z "$QUICK" ] || sizes=(128 256)
for n in "${sizes[@]}"; do
	"$HELPERS/topo_tree" "$W/$n" 8 10 "$n" || broken "no tree with $n VFs"
	subjects=("topo-$n" "$RAILCTL" topo --sysfs "$W/$n" -- "topo-json-$n" "$RAILCTL" topo --sysfs "$W/$n" --json)
	if [ "$n" = "${sizes[0]}" ]; then
		subjects+=(-- nothing "$HELPERS/nothing")
		[ "$PEER_NAME" = none ] || subjects+=(-- lstopo lstopo-no-graphics --of console --filter io:all
			-- lstopo-files env "HWLOC_COMPONENTS=linux,linuxio,stop" lstopo-no-graphics --of console --filter io:all)
	fi
	HWLOC_FSROOT=$W/$n "$HELPERS/topo_time" "$rounds" "${subjects[@]}" >>"$RAW" || broken "the measurement with $n VFs failed"
done

# verdict TEXT LIMIT VALUE: the last two in one unit
limit() { fact "$1" "$2" "$4" "$(awk -v v="$3" -v l="${2//[^0-9.]/}" 'BEGIN { print v <= l ? "met" : "missed" }')"; }
of() { median "$1" run "$2"; }
first=${sizes[0]} last=${sizes[-1]}
limit "railctl topo, $first VFs" "<= 15 ms" "$(ms "$(of "topo-$first" wall)")" "$(ms "$(of "topo-$first" wall)") ms"
fact "... CPU; a program that does nothing" "" "$(ms "$(of "topo-$first" cpu)") ms; $(ms "$(of nothing cpu)") ms" ""
limit "... peak memory" "<= 4096 KiB" "$(of "topo-$first" largest)" "$(of "topo-$first" largest) KiB"
fact "... with --json" "" "$(ms "$(of "topo-json-$first" wall)") ms, $(of "topo-json-$first" largest) KiB" ""
if [ "$PEER_NAME" != none ]; then
	row "railctl topo / lstopo, wall" "<= 0.2" 0.2 "$(of "topo-$first" wall)" "$(of lstopo wall)" ms
	row "railctl topo / lstopo, CPU" "<= 0.2" 0.2 "$(of "topo-$first" cpu)" "$(of lstopo cpu)" ms
	fact "... lstopo told to read these files and nothing else (HWLOC_COMPONENTS), CPU" "" "$(ms "$(of lstopo-files cpu)") ms" ""
fi
# Linear: no more for each VF among many than among few.
each=$((($(of "topo-$last" cpu) - $(of "topo-$first" cpu)) / (last - first)))
before=$(($(of "topo-$first" cpu) / first))
row "CPU for each VF, $first to $last of them / all CPU by VFs at $first" "<= 1" 1 "$each" "$before" us
fact "railctl topo, $last VFs" "" "$(ms "$(of "topo-$last" wall)") ms, CPU $(ms "$(of "topo-$last" cpu)") ms, $(of "topo-$last" largest) KiB" ""
bench_end

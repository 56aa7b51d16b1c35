#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# rdma.sh [--quick] [--markdown] [--raw DIR] BINDIR: what the plugin rdma adds to a chain, in a guest, and an ADD of sriov that
# moves its RDMA device. Medians.
#
# --quick: is the bench itself sound; its times mean nothing. --raw DIR: keep the figures there. --markdown: the
# table of docs/performance.md. TABLES=FILE: all tables. KERNEL: the guest's (6.12). The guest's clock counts
# instructions of its processor, and waits. So its times do not depend on the load of this machine.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=conformance/bench/lib.sh
. "$HERE/lib.sh"
options "$@"
set -- "${ARGS[@]}"
[ $# = 1 ] && [ -x "$1/rdma" ] || usage
W=$(mktemp -d /tmp/railhead-bench.XXXXXX)
trap 'rm -rf "$W"' EXIT
export QUICK
RAW=$W/raw ROWS=$W/rows KERNEL=${KERNEL:-6.12} PEER_NAME=none
: >"$ROWS"

say "in a guest with kernel $KERNEL: minutes"
VM_CLOCK=shift=0,sleep=off "$HERE/../vm/run" --kernel "$KERNEL" --limit 1800 --bin "$1" --out "$W/out" bench-rdma >&2 || broken "the guest failed"
{
	grep ' sample ' "$W/out/raw" | fold
	grep -v ' sample ' "$W/out/raw"
} >"$RAW"
wall() { median "$1" ADD wall; }
# flat WHAT LABEL LABEL
flat()
{
	row "$1" "<= 1.2" 1.2 "$(wall "$2")" "$(wall "$3")" ms
	fact "... system calls; bytes from the kernel" "" "$(median "$2" ADD calls) / $(median "$3" ADD calls); $(median "$2" \
		ADD received) / $(median "$3" ADD received)" ""
}
more=$(($(wall chain-both) - $(wall chain-macvlan)))
fact "ADD of macvlan and rdma, more than macvlan alone" "<= 1 ms" "$(ms "$(wall chain-both)") - $(ms "$(wall chain-macvlan)") = $(ms $more) ms" \
	"$([ $more -le 1000 ] && echo met || echo missed)"
fact "... the program rdma by itself; a static program that does nothing" "" "$(ms "$(wall one)") ms; $(ms "$(wall nothing)") ms" ""
fact "... the same where the pod's GID comes behind 250 others" "" "$(ms $(($(wall chain-many-both) - $(wall chain-many-macvlan)))) ms" ""
read -r _ _ few _ many < <(grep '^gids ' "$RAW")
flat "ADD of rdma, 9 RDMA devices against 1" nine one
flat "ADD of rdma, $many GIDs against $few" many one
# NRI gives a plugin two seconds.
slowest=$(awk '$1 == "moves" && $2 == "ADD" && $3 == "sample" && $4 > m { m = $4 } END { print m + 0 }' "$W/out/raw")
[ "$slowest" -gt 0 ] || { echo "no sample of an ADD that moves" >&2; exit 1; }
fact "ADD of sriov with its RDMA device, the slowest" "<= 2000 ms" "$(ms "$slowest") ms" "$([ "$slowest" -le 2000000 ] && echo met || echo missed)"
fact "... the median; without the RDMA device" "" "$(ms "$(wall moves)") ms; $(ms "$(wall stays)") ms" ""
fact "... DEL; without the RDMA device" "" "$(ms "$(median moves DEL wall)") ms; $(ms "$(median stays DEL wall)") ms" ""
bench_end

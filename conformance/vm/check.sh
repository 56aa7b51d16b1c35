#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check.sh BINDIR: the suites on both kernels, beside each other; then what each printed, and one closing line.
# SUITES, KERNELS: others than all. A suite that says "# topology: NAME" gets that, the others a pair of cards; one that
# says "# kernel: 7.2" runs on that alone. SPREAD=1, as make check does it: one that says "# check: 7.2" runs on that alone,
# one that says "# check: no" does not, and one that minds QUICK is quick. One that says "# programs: FOLDER" is skipped, which
# is said and counted, where that folder is not: make peer-programs.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BIN=${1:?usage: check.sh BINDIR}
SUITES=${SUITES:-boot ipvlan spec sriov vf unit probe rdma rdma-env rdma-move rdma-traffic peers-sriov peers-rdma faults rdma-faults rdma-exclusive topo vfio}
KERNELS=${KERNELS:-6.12 7.2}

said() { sed -n "1,12s/^# $1: //p" "$HERE/suites/$2.sh"; }
lacks_programs() { said programs "$1" | { read -r at && [ ! -d "$HERE/../../$at" ]; }; }
# suites KERNEL: a line each, the topology and the name.
suites()
{
	local suite kernel topology
	for suite in $SUITES; do
		! lacks_programs "$suite" || continue
		kernel=$(said kernel "$suite") topology=$(said topology "$suite")
		[ -z "${SPREAD-}" ] || kernel=$(said check "$suite" | grep . || echo "$kernel")
		[ "${kernel:-$1}" != "$1" ] || echo "${topology:-pair} $suite"
	done
}
topologies() { suites "$1" | cut -d' ' -f1 | sort -ru; }
# boots KERNEL: one boot a topology, one after the other.
boots()
{
	local topology
	for topology in $(topologies "$1"); do
		# shellcheck disable=SC2046 # words
		setpriv --pdeathsig KILL "$HERE/run" --kernel "$1" --topology "$topology" --limit "${LIMIT:-1800}" --bin "$BIN" \
			$(suites "$1" | sed -n "s/^$topology //p") >"$LOGS/$1.$topology" 2>&1 </dev/null
	done
}

# Both ends are tied: who kills us ends all boots.
if [ "${2-}" = --boots ]; then
	boots "$3"
	exit
fi
export SUITES LOGS
[ -z "${SPREAD-}" ] || export QUICK=1
LOGS=$(mktemp -d)
trap 'rm -rf "$LOGS"' EXIT
trap 'exit 130' INT

logs() { for kernel in $KERNELS; do topologies "$kernel" | sed "s|^|$LOGS/$kernel.|"; done; }
said_so_far()
{
	for log in $(logs); do
		[ -s "$log" ] || continue
		echo "# kernel ${log##*/}"
		sed '$d' "$log"
	done
}
trap 'said_so_far; echo "vm: interrupted"; exit 143' TERM HUP

# shellcheck disable=SC2086 # words
"$HERE/fetch.sh" "$HERE/../../build/vm" qemu jq $KERNELS || exit 2
for kernel in $KERNELS; do
	setpriv --pdeathsig KILL "$0" "$BIN" --boots "$kernel" &
done
wait
said_so_far
left_out=0
for suite in $SUITES; do
	# shellcheck disable=SC2015 # both fail, or it is left out
	[ -z "${SPREAD-}" ] && lacks_programs "$suite" || continue
	echo "# SUITE $suite IS LEFT OUT: $(said programs "$suite") is not there; make peer-programs builds it"
	left_out=$((left_out + 1))
done
for log in $(logs); do
	tail -n 1 "$log" | grep -xE '[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped' || echo '0 passed, 1 failed, 0 skipped'
done | awk -v s="$left_out" '{ p += $1; f += $3; s += $5 } END { print p + 0 " passed, " f + 0 " failed, " s + 0 " skipped"; exit f > 0 }'

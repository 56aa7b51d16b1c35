#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check.sh BINDIR: the suites on both kernels; then what each printed, and one closing line.
#
# SUITES, KERNELS: others than all. A suite that says "# topology: NAME" gets that, the others a pair of cards; one that
# says "# kernel: 7.2" runs on that alone. QUICK=1, as make check has it: one that says "# check: no" is left out, and one that
# minds QUICK is quick. One with "# programs: FOLDER" is skipped if the folder is missing (make peer-programs); the
# skip is reported and counted. GUESTS (2) run at once. With one kernel they share the suites of one topology, by "# seconds: N"
# of the suites. SILENCE (900): a guest that prints nothing for so many seconds hangs, and is ended. AGAIN=1: repeat a suite
# that exceeded a limit of time, alone, and report it: ../again.sh.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BIN=${1:?usage: check.sh BINDIR}
# Those of the folder, without the benches.
SUITES=${SUITES:-$(cd "$HERE/suites" && printf '%s\n' *.sh | sed '/^bench/d; s/\.sh$//' | tr '\n' ' ')}
KERNELS=${KERNELS:-6.12 7.2}
GUESTS=${GUESTS:-2}
# RUN: what boots a guest, for tests.
RUN=${RUN:-$HERE/run}

said() { sed -n "1,12s/^# $1: //p" "$HERE/suites/$2.sh"; }
lacks_programs() { said programs "$1" | { read -r at && [ ! -d "$HERE/../../$at" ]; }; }
left_out() { [ -n "${QUICK-}" ] && [ "$(said check "$1")" = no ]; }
# suites KERNEL: a line each: topology, seconds, name.
suites()
{
	local suite kernel topology seconds
	for suite in $SUITES; do
		! lacks_programs "$suite" && ! left_out "$suite" || continue
		kernel=$(said kernel "$suite") topology=$(said topology "$suite") seconds=$(said seconds "$suite")
		[ "${kernel:-$1}" != "$1" ] || echo "${topology:-pair} ${seconds:-60} $suite"
	done
}
# boots: a line each: seconds, kernel, topology, suites. The longest first, so that the guests end at about the same time.
boots()
{
	local kernel parts=1
	[ "$(wc -w <<<"$KERNELS")" != 1 ] || parts=$GUESTS
	for kernel in $KERNELS; do
		suites "$kernel" | sort -k1,1r -k2,2rn | awk -v kernel="$kernel" -v parts="$parts" '
			{ best = 1; for (i = 2; i <= parts; i++) if (load[$1, i] + 0 < load[$1, best] + 0) best = i
				load[$1, best] += $2
				list[$1, best] = $3 == "boot" ? " " $3 list[$1, best] : list[$1, best] " " $3 }
			END { for (k in list) { split(k, at, SUBSEP); print load[k], kernel, at[1] list[k] } }'
	done | sort -rn
}

# boot LOG KERNEL TOPOLOGY SUITE...: prints which suite begins; the rest is in LOG.
boot()
{
	local log=$1 kernel=$2 topology=$3
	shift 3
	setpriv --pdeathsig KILL "$RUN" --kernel "$kernel" --topology "$topology" --limit "${LIMIT:-3600}" --silence "${SILENCE:-900}" --bin "$BIN" \
		--verdicts "$log.verdicts" "$@" 2>&1 </dev/null | tee "$log" |
		sed -un "s/^vm: .* s  suite /# $kernel, $topology: /p"
}
# Both ends are tied: who kills us ends all boots.
if [ "${2-}" = --boot ]; then
	shift 2
	boot "$@"
	exit
fi
LOGS=$(mktemp -d)
trap 'rm -rf "$LOGS"' EXIT
trap 'exit 130' INT

# show LOG: all but its closing line; of a boot that did not come so far, all.
show()
{
	local name=${1##*/}
	echo "# kernel ${name#*.}"
	sed -E '${/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/d}' "$1"
}
said_so_far()
{
	local log
	for log in $(logs); do show "$LOGS/$log"; done
}
# logs: one a boot, in the order of their numbers.
logs() { find "$LOGS" -type f ! -name '*verdicts' -printf '%f\n' | sort -n; }
trap 'said_so_far; echo "vm: interrupted"; exit 143' TERM HUP

# count LOG: its verdicts, added to passed and failed. One that may be repeated is added to the list of its boot instead.
count()
{
	local name p f why kernel topology again=
	read -r kernel topology < <(sed 's/^[0-9]*\.//; s/\.\([a-z]\)/ \1/' <<<"${1##*/}")
	[ -s "$1.verdicts" ] || failed=$((failed + 1))
	while read -r name p f why; do
		if [ -n "$why" ] && [[ $1 != *.again ]]; then
			echo "# repeated: suite $name on $kernel: $why" | tee -a "$LOGS/repeated.verdicts"
			again+=" $name"
		else
			passed=$((passed + p)) failed=$((failed + f))
		fi
	done < <(cat "$1.verdicts" 2>/dev/null)
	[ -z "$again" ] || echo "$1.again $kernel ${topology%.again}$again" >>"$LOGS/again.verdicts"
}

# shellcheck disable=SC2086 # words
[ "$RUN" != "$HERE/run" ] || "$HERE/fetch.sh" "$HERE/../../build/vm" qemu jq $KERNELS || exit 2
number=0
while read -r _ kernel topology names; do
	while [ "$(jobs -rp | wc -l)" -ge "$GUESTS" ]; do wait -n; done
	number=$((number + 1))
	# shellcheck disable=SC2086 # words
	setpriv --pdeathsig KILL "$0" "$BIN" --boot "$LOGS/$number.$kernel.$topology" "$kernel" "$topology" $names &
done < <(boots)
wait
passed=0 failed=0 skipped=0
for log in $(logs); do
	show "$LOGS/$log"
	count "$LOGS/$log"
done
# Alone: what disturbed them is not to happen again.
while read -r log kernel topology names; do
	# shellcheck disable=SC2086 # words
	setpriv --pdeathsig KILL "$0" "$BIN" --boot "$log" "$kernel" "$topology" $names
	show "$log"
	count "$log"
done < <(cat "$LOGS/again.verdicts" 2>/dev/null)
for suite in $SUITES; do
	# shellcheck disable=SC2015 # both fail, or it is left out
	lacks_programs "$suite" && ! left_out "$suite" || continue
	echo "# SUITE $suite IS LEFT OUT: $(said programs "$suite") is not there; make peer-programs builds it"
	skipped=$((skipped + 1))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]

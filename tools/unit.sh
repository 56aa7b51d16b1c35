#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run unit test programs, a few at a time, and count their checks.
#
# usage: tools/unit.sh BUILD [NAME...]     e.g. tools/unit.sh build lib/base/err
#
# A program counts as many tests as Check says in its "Checks: N, Failures: N, Errors: N"; one that
# says nothing (it crashed or never got there) is one failure. A line "SKIP: reason" that a test
# prints counts it as skipped. The closing line is "N passed, N failed, N skipped".
set -eu

build=${1:?usage: unit.sh BUILD [NAME...]}
shift
logs=$build/log/unit
rm -rf "$logs"
mkdir -p "$logs"
# A loaded machine or a sanitizer makes tests slow, not wrong.
export CK_TIMEOUT_MULTIPLIER="${CK_TIMEOUT_MULTIPLIER:-50}"
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"

if [ $# -gt 0 ]; then
	for name in "$@"; do echo "$name"; done
else
	# shellcheck disable=SC2046 # words on purpose
	find $(cat "${0%/*}/parts") -name "*_test.c" ! -name "*_engine_test.c" 2>/dev/null | sed 's/_test\.c$//' | sort
fi >"$logs/list"

one='
	name=$3; program=$1/test/${name}_test; log=$2/$(echo "$name" | tr / -).log
	start=$(date +%s%N)
	if ${RUN_WITH-} "$program" >"$log" 2>&1 </dev/null; then status=0; else status=$?; fi
	tenths=$((($(date +%s%N) - start) / 100000000))
	printf "%s %s %s.%s %s\n" "$name" "$status" $((tenths / 10)) $((tenths % 10)) "$log"
'
# Most of them wait for one another's processes: two for each processor keep it busy.
xargs -r -P "$((2 * $(nproc)))" -n 1 sh -c "$one" unit "$build" "$logs" 2>&1 <"$logs/list" >"$logs/done" || true


sort "$logs/done" | while read -r name status seconds log; do
	counts=$(sed -n 's/.*Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: \([0-9]*\).*/\1 \2 \3/p' "$log" | tail -n 1)
	skipped=$(grep -c '^SKIP: ' "$log" || true)
	if [ -z "$counts" ]; then
		counts="0 0 1"
		skipped=0
	fi
	# shellcheck disable=SC2086 # three numbers
	set -- $counts
	passed=$(($1 - $2 - $3 - skipped))
	failed=$(($2 + $3))
	if [ "$1 $2 $3" = "0 0 1" ]; then
		passed=0
	fi
	# A sanitizer may complain after the last check.
	if [ "$status" != 0 ] && [ "$failed" = 0 ]; then
		failed=1
	fi
	echo "$passed $failed $skipped" >>"$logs/counts"
	if [ "$failed" = 0 ]; then
		printf '  ok     %-24s %3d checks  %ss\n' "$name" "$1" "$seconds"
		sed -n 's/^SKIP: /           skipped: /p' "$log"
	else
		printf '  FAILED %-24s %3d of %d  exit %s, %s\n' "$name" "$failed" "$1" "$status" "$log"
		sed 's/^/         | /' "$log" | tail -n 40
	fi
done

awk '{ p += $1; f += $2; s += $3 }
	END {
		printf "%d passed, %d failed, %d skipped\n", p, f, s
		exit f > 0 || p == 0
	}' "$logs/counts" 2>/dev/null || {
	[ -s "$logs/counts" ] || echo "no unit tests were run"
	exit 1
}

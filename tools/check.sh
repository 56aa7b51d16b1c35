#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Run the lanes of `make check` one after the other, never stopping at the first that fails.
#
# usage: tools/check.sh LANE...        each LANE is a make target
#
# Output of a lane goes to build/log/LANE.log and is shown when the lane fails. A lane that cannot run
# here says so in its last line, "skipped: reason", and counts as one skip. The very last line is
# "N passed, N failed, N skipped": the tests of the unit, conformance and tool suites, each counted once
# (the sanitizers run them again), and one failure more for each other lane that failed.
set -u

# Each lane is a make of its own, with its own jobs; variables come through the environment.
unset MAKEFLAGS MFLAGS MAKELEVEL
log=build/log
mkdir -p "$log"
make=${MAKE:-make}
limit=1200 # seconds; a lane that hangs has failed
# Lanes whose closing line is counted in full; of the others only failures count.
counted=' check-fast attach railctl-check conformance interop interop-selftest soak-quick install-check tools-check examples-check man demo bench-quick '
passed=0 failed=0 skipped=0
summary=()
n=0
begin=$SECONDS
child=

# What root built for a user is the user's, so that a plain make works afterwards.
give_back() { [ -z "${SUDO_UID:-}" ] || chown -R "$SUDO_UID:${SUDO_GID:-}" build; }

trap give_back EXIT
trap '[ -z "$child" ] || kill -TERM -- "-$child" 2>/dev/null; echo; echo "interrupted"; exit 130' INT TERM HUP

counts() # LOG: its last closing line, as three numbers
{
	sed -n 's/^\([0-9][0-9]*\) passed, \([0-9][0-9]*\) failed, \([0-9][0-9]*\) skipped$/\1 \2 \3/p' "$1" | tail -n 1
}

lane() # NAME
{
	local name=$1 start=$SECONDS rc word closing note
	n=$((n + 1))
	printf '[%d/%d] %-15s ' "$n" "$total" "$name"
	# A group of its own, so that an interrupt reaches all of it and nothing stays behind.
	set -m
	timeout --kill-after=10 "$limit" "$make" --no-print-directory -j"$(nproc)" WERROR=1 "$name" </dev/null >"$log/$name.log" 2>&1 &
	child=$!
	set +m
	wait "$child"
	rc=$?
	child=
	closing=$(counts "$log/$name.log")
	note=$(grep -v '^make' "$log/$name.log" | tail -n 1)
	word=ok
	if grep -q '^skipped: ' <<<"$note" && [ "$rc" = 0 ]; then
		word=skipped
		skipped=$((skipped + 1))
	elif [ "$rc" != 0 ]; then
		word=FAILED
	fi
	# shellcheck disable=SC2086 # three numbers
	set -- ${closing:-0 0 0}
	case $counted in
	*" $name "*)
		passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
		[ "$word" != FAILED ] || [ "$2" -gt 0 ] || failed=$((failed + 1))
		;;
	*)
		[ "$word" != FAILED ] || failed=$((failed + ($2 > 0 ? $2 : 1)))
		;;
	esac
	summary+=("$(printf '%-15s %-8s %4ds  %s' "$name" "$word" $((SECONDS - start)) "$note")")
	printf '%-8s %4ds  %s\n' "$word" $((SECONDS - start)) "$note"
	if [ "$word" = FAILED ]; then
		echo "---- $log/$name.log, the last 80 lines"
		tail -n 80 "$log/$name.log" | sed 's/^/  | /'
		echo "----"
	elif [[ $counted == *" $name "* ]]; then
		sed -n 's/^\(.*# SKIP .*\)/        \1/p; s/^ *skipped: \(.*\)/        skipped: \1/p' "$log/$name.log" | sort -u
	fi
}

total=$#
for name in "$@"; do
	lane "$name"
done

echo
echo "Summary, after $((SECONDS - begin)) s:"
printf '  %s\n' "${summary[@]}"
echo
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]

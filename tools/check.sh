#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Run the lanes of `make check`, never stopping at the first that fails.
#
# usage: tools/check.sh LANE...        each LANE is a make target
#
# CHECK_JOBS (2) lanes run at once: most wait for the kernel much of their time. What stands before
# the word -- is built first, one by one, since the others use it; what stands behind a second -- runs
# alone at the end, because it measures.
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
# Seconds; a lane that hangs has failed. Guests are emulated, and share the processors with another lane; the programs of a
# cluster are built the first time.
limit_of()
{
	case $1 in
	check-vm) echo 3000 ;;
	cluster-quick) echo 3600 ;;
	*) echo 1200 ;;
	esac
}
# Lanes whose closing line is counted in full; of the others only failures count.
counted=' check-fast attach railctl-check probe-check conformance interop interop-selftest cluster-quick soak-quick differential install-check tools-check examples-check man demo bench-quick check-vm '
passed=0 failed=0 skipped=0
declare -A begun=() name_of=()
begin=$SECONDS
done_lanes=0

# What root built for a user is the user's, so that a plain make works afterwards.
give_back() { [ -z "${SUDO_UID:-}" ] || chown -R "$SUDO_UID:${SUDO_GID:-}" build; }

stop() # each lane is a group of processes, so that an interrupt reaches all of it
{
	local pid
	for pid in "${!name_of[@]}"; do kill -TERM -- "-$pid" 2>/dev/null; done
	echo
	echo "interrupted"
	exit 130
}
trap give_back EXIT
trap stop INT TERM HUP

counts() # LOG: its last closing line, as three numbers
{
	sed -n 's/^\([0-9][0-9]*\) passed, \([0-9][0-9]*\) failed, \([0-9][0-9]*\) skipped$/\1 \2 \3/p' "$1" | tail -n 1
}

start() # NAME
{
	set -m
	timeout --kill-after=10 "$(limit_of "$1")" "$make" --no-print-directory -j"$(nproc)" WERROR=1 "$1" </dev/null >"$log/$1.log" 2>&1 &
	name_of[$!]=$1
	begun[$1]=$SECONDS
	set +m
	[ ! -t 1 ] || printf '        %s ...\n' "$1"
}

verdict() # NAME RC NOTE: ok, skipped or FAILED
{
	if [ "$2" != 0 ]; then
		echo FAILED
	elif grep -q '^skipped: ' <<<"$3"; then
		echo skipped
	else
		echo ok
	fi
}

add_up() # NAME WORD PASSED FAILED SKIPPED
{
	[ "$2" != skipped ] || skipped=$((skipped + 1))
	case $counted in
	*" $1 "*)
		passed=$((passed + $3)) failed=$((failed + $4)) skipped=$((skipped + $5))
		[ "$2" != FAILED ] || [ "$4" -gt 0 ] || failed=$((failed + 1))
		;;
	*)
		[ "$2" != FAILED ] || failed=$((failed + ($4 > 0 ? $4 : 1)))
		;;
	esac
}

why() # NAME: what a lane that failed says of it, a few lines, for the end
{
	[ "$2" != 124 ] || echo "  it had not ended after $(limit_of "$1") s"
	grep -E '^( *\| *)*(not ok |vm: suite |[^ ]*_test\.c:[0-9]+:[FE]:|[^ ]*: (error|FAILED)|.*Assertion .*failed)' "$log/$1.log" | head -n 8 | cut -c1-200 | sed 's/^ */  /'
}

show() # NAME WORD: the end of a log that tells why
{
	if [ "$2" = FAILED ]; then
		echo "---- $log/$1.log, the last 80 lines"
		tail -n 80 "$log/$1.log" | sed 's/^/  | /'
		echo "----"
	elif [[ $counted == *" $1 "* ]]; then
		sed -n 's/^\(.*# SKIP .*\)/        \1/p; s/^ *skipped: \(.*\)/        skipped: \1/p' "$log/$1.log" | sort -u
	fi
}

finish() # PID RC
{
	local name=${name_of[$1]} note word line
	unset "name_of[$1]"
	note=$(grep -v '^make' "$log/$name.log" | tail -n 1)
	word=$(verdict "$name" "$2" "$note")
	# shellcheck disable=SC2046 # three numbers
	add_up "$name" "$word" $(counts "$log/$name.log" | grep . || echo 0 0 0)
	done_lanes=$((done_lanes + 1))
	line=$(printf '%-16s %-8s %4ds  %s' "$name" "$word" $((SECONDS - begun[$name])) "$note")
	summary+=("$line")
	printf '[%2d/%d] %s\n' "$done_lanes" "$total" "$line"
	[ "$word" != FAILED ] || reasons+=("$name: $note" "$(why "$name" "$2")")
	show "$name" "$word"
}

wait_one()
{
	local pid rc
	wait -n -p pid "${!name_of[@]}"
	rc=$?
	finish "$pid" "$rc"
}

jobs=1
summary=() reasons=()
total=0
for name in "$@"; do [ "$name" = -- ] || total=$((total + 1)); done
echo "$total lanes; the log of each is in $log/"
for name in "$@"; do
	if [ "$name" = -- ]; then
		while [ ${#name_of[@]} -gt 0 ]; do wait_one; done
		[ "$jobs" = 1 ] && jobs=${CHECK_JOBS:-2} || jobs=1
		continue
	fi
	while [ ${#name_of[@]} -ge "$jobs" ]; do wait_one; done
	start "$name"
done
while [ ${#name_of[@]} -gt 0 ]; do wait_one; done

echo
echo "Summary, after $((SECONDS - begin)) s:"
printf '  %s\n' "${summary[@]}"
echo
[ ${#reasons[@]} = 0 ] || { echo "What failed; more in $log/:"; printf '%s\n' "${reasons[@]}" | grep .; echo; }
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]

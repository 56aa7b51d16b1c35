#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Run the lanes of `make check` and its like, never stopping at the first that fails.
#
# usage: tools/check.sh LANE...        each LANE is a make target
#
# CHECK_JOBS (2) lanes run at once; two that leave the processors to others count as one. Lanes before
# the word -- run first, one by one, because the others use their results. Lanes after a second -- run
# alone at the end, because they measure.
#
# Output of a lane goes to build/log/LANE.log and is shown when the lane fails. A lane that cannot run
# here says so in its last line, "skipped: reason", and counts as one skip. Each minute (CHECK_TICK: seconds) the last line of the
# lanes that run is shown. Skipped cases are summed up, one
# line for each reason. The last line is "N passed, N failed, N skipped". It counts the tests of the unit, conformance and tool
# suites once each, although the sanitizers run them again. Each other lane that failed counts as one failure. The line before
# it counts the cases that were repeated after an exceeded limit of time (conformance/again.sh); each is named.
#
# STRESS=1: as many programs as there are processors do nothing but keep them busy meanwhile.
#
# CHECK_MINUTES: somebody ends this run after so many minutes, and that would tell nothing. When the first lane took much longer
# than usual, the machine is slow: the short lanes come first then, and lanes that would not end in time are left out. On a very
# slow one those are left out, too, that wait for other programs. Each has a line in the summary, and is a skip. On a machine
# of the usual speed nothing is left out.
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
	vm | vm-selftest | cluster | cluster-versions | faults | soak) echo 10800 ;;
	check-vm | cluster-quick | cluster-vm) echo 3600 ;;
	*) echo 2400 ;;
	esac
}
# Seconds that a lane took in a whole run on two processors of 2.6 GHz; all others need less than half a minute.
usual_of()
{
	case $1 in
	gcc) echo 120 ;;
	cluster-quick | cluster-store | agent-check-kubernetes | agent-check-kubernetes-quick | chart-check) echo 1300 ;; # with a build of Kubernetes, which one of them needs
	check-vm) echo 600 ;;
	sanitize) echo 400 ;;
	tidy) echo 250 ;;
	fuzz-smoke | faults-quick | agent-check) echo 250 ;;
	attach | conformance | interop | unit) echo 120 ;;
	fabric-check) echo 60 ;;
	image-check) echo 100 ;;
	deb-check) echo 300 ;;
	*) echo 30 ;;
	esac
}
slow_from=25      # tenths of the usual time of the first lanes
very_slow_from=50 # the same; the limits of time in the lanes below would pass without any fault
waits_for_others=' check-vm cluster-quick interop fabric-check cluster-store agent-check agent-check-kubernetes agent-check-kubernetes-quick chart-check bench-cluster-quick soak-heal-quick attach demo demo-cluster '
# Lanes that leave the processors to others much of their time.
idles=' fabric-check cluster-quick cluster cluster-versions cluster-store cluster-store-3.6 agent-check agent-check-kubernetes agent-check-kubernetes-quick chart-check agent-kills claims-kills interop conformance tools-check soak-heal-quick soak-heal harness-selftest '
closing_time=60 # seconds, for the summary
# Lanes whose closing line is counted in full; of the others only failures count.
counted=' unit attach railctl-check probe-check conformance interop fabric-check report-check interop-selftest cluster-store cluster-store-3.6 agent-check agent-check-kubernetes agent-check-kubernetes-quick chart-check agent-kills claims-kills upgrade-check settings-check rails cluster-quick cluster cluster-versions cluster-vm faults-selftest harness-selftest soak-selftest soak soak-quick differential install-check image-check deb-check tools-check examples-check man demo bench-quick check-vm vm vm-selftest '
# Lanes in which a machine can disturb a case: only these may repeat one.
may_repeat=' check-vm vm cluster-quick cluster interop attach agent-check agent-check-kubernetes agent-check-kubernetes-quick agent-kills sanitize '
passed=0 failed=0 skipped=0
declare -A begun=() ended=() name_of=()
begin=$SECONDS
done_lanes=0 left_out=0
slow= # on a slow machine: tenths of the usual time
stress= tick=

# Give files that root built to the user, so that a plain make works afterwards.
give_back() { [ -z "${SUDO_UID:-}" ] || chown -R "$SUDO_UID:${SUDO_GID:-}" build; }
leave()
{
	rm -f "$log/.cpu.$$"
	# shellcheck disable=SC2086 # numbers
	[ -z "$stress$tick" ] || kill $stress $tick 2>/dev/null
	give_back
}

stop() # each lane is a group of processes, so that an interrupt reaches all of it
{
	local pid
	for pid in "${!name_of[@]}"; do kill -TERM -- "-$pid" 2>/dev/null; done
	echo
	echo "interrupted"
	exit 130
}
trap leave EXIT
trap stop INT TERM HUP

counts() # LOG: its last closing line, as three numbers
{
	sed -n 's/^\([0-9][0-9]*\) passed, \([0-9][0-9]*\) failed, \([0-9][0-9]*\) skipped$/\1 \2 \3/p' "$1" | tail -n 1
}

# left: seconds until the last lane must have ended.
left() { echo $((${CHECK_MINUTES:-100000} * 60 - closing_time - (SECONDS - begin))); }

# may_be_repeated NAME: a machine can disturb a case of this lane; a slow one those of any lane.
may_be_repeated() { [ -n "$slow" ] || [[ $may_repeat == *" $1 "* ]]; }

# leave_out NAME WHY: a lane that was not run, or not to its end.
leave_out()
{
	local line
	skipped=$((skipped + 1)) done_lanes=$((done_lanes + 1)) left_out=$((left_out + 1))
	line=$(printf '%-16s %-8s %4ds                %s' "$1" "left out" $((SECONDS - ${begun[$1]:-$SECONDS})) "$2")
	summary+=("$line")
	printf '[%2d/%d] %s\n' "$done_lanes" "$total" "$line"
}

# has_time NAME: it would end in time.
has_time() { [ $(($(usual_of "$1") * ${slow:-10} / 10)) -lt "$(left)" ]; }

# judge_speed NAME...: these lanes have just run, alone; how slow is the machine?
judge_speed()
{
	local name took=0 usual=0
	[ -n "${CHECK_MINUTES-}" ] || return 0
	for name in "$@"; do took=$((took + ended[$name])) usual=$((usual + $(usual_of "$name"))); done
	[ "$usual" != 0 ] && [ $((took * 10 / usual)) -ge "$slow_from" ] || return 0
	slow=$((took * 10 / usual))
	echo "This machine is $((slow / 10)) times slower than usual: short lanes run first, and lanes that would not end within $CHECK_MINUTES minutes are left out."
}

# by_length: the lanes of standard input, the shortest first.
by_length() { while read -r name; do echo "$(usual_of "$name") $name"; done | sort -s -n | sed 's/.* //'; }

start() # NAME
{
	local again= limit
	may_be_repeated "$1" && again=1
	limit=$(limit_of "$1")
	# How slow the machine is is not known before the first lane has ended.
	[ $done_lanes != 0 ] && [ -z "$slow" ] && [ "$limit" -lt "$(left)" ] || limit=$(left)
	set -m
	AGAIN=$again timeout --kill-after=10 "$limit" "$make" --no-print-directory -j"$(nproc)" WERROR=1 "$1" </dev/null >"$log/$1.log" 2>&1 &
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

note_repeats() # NAME: what its log says was repeated; of a lane that may not repeat anything, that is a failure
{
	local line
	while IFS= read -r line; do
		if may_be_repeated "$1"; then
			repeated+=("$1: ${line#\# repeated: }")
		else
			reasons+=("$1 repeated a case, which it may not: ${line#\# repeated: }")
			failed=$((failed + 1))
		fi
	done < <(grep '^# repeated: ' "$log/$1.log")
}

why() # NAME: what a lane that failed says of it, a few lines, for the end
{
	[ "$2" != 124 ] || echo "  it had not ended after $(limit_of "$1") s"
	grep -E '^( *\| *)*(not ok |vm: suite |[^ ]*_test\.c:[0-9]+:[FE]:|[^ ]*: (error|FAILED)|.*Assertion .*failed)' "$log/$1.log" | head -n 8 | cut -c1-200 | sed 's/^ */  /'
}

skips() # LOG: a line a reason, with how many cases have it
{
	sed -n 's/.*# SKIP \(.*\)/\1/p; s/^ *skipped: \(.*\)/\1/p' "$1" | sort | uniq -c | sort -rn |
		sed 's/^ *1 /        skipped: /; s/^ *\([0-9][0-9]*\) /        skipped, \1 cases: /'
}

show() # NAME WORD: the end of a log that tells why
{
	if [ "$2" = FAILED ]; then
		echo "---- $log/$1.log, the last 80 lines"
		tail -n 80 "$log/$1.log" | sed 's/^/  | /'
		echo "----"
	elif [[ $counted == *" $1 "* ]]; then
		skips "$log/$1.log"
		sed -n 's/^# \(repeated: .*\)/        \1/p' "$log/$1.log"
	fi
}

finish() # PID RC CPU
{
	local name=${name_of[$1]} note word line
	unset "name_of[$1]"
	ended[$name]=$((SECONDS - begun[$name]))
	if [ "$2" = 124 ] && [ "$(left)" -le 0 ]; then
		leave_out "$name" "not ended when the $CHECK_MINUTES minutes were over"
		return
	fi
	note=$(grep -v '^make' "$log/$name.log" | tail -n 1)
	word=$(verdict "$name" "$2" "$note")
	# shellcheck disable=SC2046 # three numbers
	add_up "$name" "$word" $(counts "$log/$name.log" | grep . || echo 0 0 0)
	note_repeats "$name"
	done_lanes=$((done_lanes + 1))
	line=$(printf '%-16s %-8s %4ds %5ds of CPU  %s' "$name" "$word" $((SECONDS - begun[$name])) "$3" "$note")
	summary+=("$line")
	printf '[%2d/%d] %s\n' "$done_lanes" "$total" "$line"
	[ "$word" != FAILED ] || reasons+=("$name: $note" "$(why "$name" "$2")")
	show "$name" "$word"
}

# cpu_now: CPU is how many seconds those processes had that have ended below this shell.
cpu_now()
{
	local user system
	times >"$log/.cpu.$$"
	{ read -r && read -r user system; } <"$log/.cpu.$$"
	user=${user%.*} system=${system%.*}
	CPU=$((${user%m*} * 60 + ${user#*m} + ${system%m*} * 60 + ${system#*m}))
}

# progress: how far the lanes are that run.
progress()
{
	local name
	for name in "${name_of[@]}"; do
		printf '        %s, %d s: %s\n' "$name" $((SECONDS - begun[$name])) "$(tail -n 1 "$log/$name.log" | tr -d '\r' | cut -c1-110)"
	done
}

wait_one()
{
	local pid rc before
	cpu_now
	before=$CPU
	while :; do
		[ -n "$tick" ] || { sleep "${CHECK_TICK:-60}" >/dev/null 2>&1 & tick=$!; }
		wait -n -p pid "${!name_of[@]}" "$tick"
		rc=$?
		[ "$pid" = "$tick" ] || break
		tick=
		progress
	done
	cpu_now
	finish "$pid" "$rc" $((CPU - before))
}

jobs=1
summary=() reasons=() repeated=()
total=0
for name in "$@"; do [ "$name" = -- ] || total=$((total + 1)); done
echo "$total lanes; the log of each is in $log/"
if [ -n "${STRESS-}" ]; then
	for ((i = 0; i < $(nproc); i++)); do
		# It ends with this script, however that ends.
		while kill -0 $$ 2>/dev/null; do for _ in {1..200000}; do :; done; done &
		stress+=" $!"
	done
	echo "STRESS: $(nproc) programs keep the processors busy"
fi
# halves NAME...: how many half places these lanes take.
halves()
{
	local name n=0
	for name in "$@"; do [[ $idles == *" $name "* ]] && n=$((n + 1)) || n=$((n + 2)); done
	echo $n
}

# fits NAME: there is a place for this lane now.
fits() { [ ${#name_of[@]} = 0 ] || { [ "$jobs" != 1 ] && [ "$(halves "$1" "${name_of[@]}")" -le $((2 * jobs)) ]; }; }

# choose NAME...: NEXT is the first that idles if fewer than two of them run, else the first that does not; or the first of all.
choose()
{
	local name want=1 idle n=0
	NEXT=$1
	[ "$jobs" != 1 ] && [ -z "$slow" ] || return 0
	for name in "${name_of[@]}"; do [[ $idles != *" $name "* ]] || n=$((n + 1)); done
	[ $n -lt 2 ] || want=
	for name in "$@"; do
		idle=
		[[ $idles != *" $name "* ]] || idle=1
		[ "$idle" = "$want" ] || continue
		NEXT=$name
		return
	done
}

# run NAME...: these lanes, as many at once as $jobs says.
run()
{
	local name i
	while [ $# -gt 0 ]; do
		choose "$@"
		if ! fits "$NEXT"; then
			wait_one
			continue
		fi
		name=$NEXT
		for ((i = $#; i > 0; i--)); do
			[ "$1" = "$name" ] || set -- "$@" "$1"
			shift
		done
		if [ "${slow:-0}" -ge "$very_slow_from" ] && [[ $waits_for_others == *" $name "* ]]; then
			leave_out "$name" "its limits of time are for a quicker machine"
		elif has_time "$name"; then
			start "$name"
		else
			leave_out "$name" "it would not end within $CHECK_MINUTES minutes"
		fi
	done
	while [ ${#name_of[@]} -gt 0 ]; do wait_one; done
}

group=()
for name in "$@" --; do
	if [ "$name" != -- ]; then
		group+=("$name")
		continue
	fi
	# shellcheck disable=SC2046 # names
	[ -z "$slow" ] || set -- $(printf '%s\n' "${group[@]}" | by_length)
	[ -n "$slow" ] || set -- "${group[@]}"
	run "$@"
	[ $done_lanes != ${#group[@]} ] || judge_speed "${group[@]}"
	[ "$jobs" = 1 ] && jobs=${CHECK_JOBS:-2} || jobs=1
	group=()
done

echo
echo "Summary, after $((SECONDS - begin)) s:"
printf '  %s\n' "${summary[@]}"
echo
[ ${#repeated[@]} = 0 ] || { echo "What the machine disturbed, and was run once more:"; printf '  %s\n' "${repeated[@]}"; echo; }
[ ${#reasons[@]} = 0 ] || { echo "What failed; more in $log/:"; printf '%s\n' "${reasons[@]}" | grep .; echo; }
echo "${#repeated[@]} repeated"
[ "$left_out" = 0 ] || echo "$left_out lanes left out: this machine is too slow to run them in $CHECK_MINUTES minutes"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]

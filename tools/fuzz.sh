#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Run the fuzz targets, which `make fuzz` built with libFuzzer, ASan and UBSan.
#
# usage: tools/fuzz.sh smoke BUILD [TARGET...]   each target's seeds, then FUZZ_RUNS (50000) inputs made from
#                                                them with FUZZ_SEED (1), FUZZ_JOBS (2) targets at a time
#        tools/fuzz.sh long BUILD [TARGET...]    in rounds of FUZZ_SECONDS (60) a target, until all together
#                                                have had FUZZ_CPU_SECONDS (7200) of CPU; niced
#        tools/fuzz.sh seeds BUILD [TARGET...]   the seeds of the tree as files, in BUILD/seeds/TARGET/
#        tools/fuzz.sh keep BUILD [TARGET...]    of what was found, inputs that reach new edges become seeds
#        tools/fuzz.sh figures BUILD             what the long runs have done so far, as a table
#
# The mode smoke is the same every time: one seed, one number of runs, nothing of what earlier runs found.
# The mode long explores: a seed of the moment, and it goes on from what was found.
#
# TARGET: lib/json/json for lib/json/json_fuzz.c. Its corpus is in lib/json/corpus/json/, its dictionary in
# lib/json/corpus/json.dict. FUZZ_ROUNDS ends a long run earlier; the next one goes on where it stopped.
# An input that breaks something is kept in BUILD/crash/ and named; to see it
# again: BUILD/target/lib/json/json BUILD/crash/FILE. FUZZ_FLAGS are handed to libFuzzer.
set -u
export LC_ALL=C

mode=${1:-}
build=${2:-}
[ -n "$build" ] || { sed -n 's/^# \{0,1\}\(usage:.*\|       .*\)$/\1/p' "$0" >&2; exit 2; }
shift 2
seconds=${FUZZ_SECONDS:-60}
runs=${FUZZ_RUNS:-50000}
seed=${FUZZ_SEED:-1}
jobs=${FUZZ_JOBS:-2}
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1:quarantine_size_mb=32}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
ASAN_SYMBOLIZER_PATH=$(command -v llvm-symbolizer-14) && export ASAN_SYMBOLIZER_PATH

if [ $# -gt 0 ]; then
	targets=("$@")
else
	# shellcheck disable=SC2046 # words on purpose
	mapfile -t targets < <(find $(cat "${0%/*}/parts") -name '*_fuzz.c' | sed 's/_fuzz\.c$//' | sort)
fi

# A folder of their own for targets that need files; in memory where that is to be had.
# Under one name always: libFuzzer takes words for its inputs from what it compares, arguments included.
folder=$(mktemp -d -p /dev/shm fuzz-XXXXXX 2>/dev/null || mktemp -d)
export TMPDIR=$build/tmp
trap 'rm -rf "$folder" "$TMPDIR"' EXIT
mkdir -p "$build"
rm -rf "$TMPDIR"
ln -s "$folder" "$TMPDIR"

# What it does depends on addresses, and those on the environment: without this no two runs are the same.
alike=()
if [ "$mode" = smoke ]; then
	alike=(env -i "PATH=$PATH" "ASAN_OPTIONS=$ASAN_OPTIONS" "UBSAN_OPTIONS=$UBSAN_OPTIONS"
		"ASAN_SYMBOLIZER_PATH=$ASAN_SYMBOLIZER_PATH")
	if setarch -R true 2>/dev/null; then
		alike+=(setarch -R)
	else
		echo "NOTE: addresses cannot be fixed here (setarch -R): not quite the same runs as elsewhere"
	fi
fi

# A target is short: what it does has to be seen at a glance. Its head comment does not count, because every file has one.
for target in "${targets[@]}"; do
	lines=$(awk '/^#include|SPDX-License|^$/ { next } !headed && /^(\/\*| \*)/ { headed = /\*\/$/; next } { headed = 1; n++ }
		END { print n + 0 }' "${target}_fuzz.c")
	[ "$lines" -le 25 ] || { echo "${target}_fuzz.c: $lines lines, allowed 25"; exit 1; }
done

# The seeds as files. A target without seeds fails: it would pass without having tried anything.
unpack_seeds()
{
	rm -rf "$build/seeds"
	tools/seeds.sh unpack "$build/seeds" "${targets[@]}"
}

# libFuzzer prints the number of inputs that it starts with: all seeds, and what earlier runs found.
all_replayed() # TARGET LOG
{
	local seeds read
	seeds=$(find "$build/seeds/$1" -type f | wc -l)
	read=$(sed -n 's/^INFO: seed corpus: files: \([0-9]*\) .*/\1/p' "$2")
	[ "${read:-0}" -ge "$seeds" ] && [ "$seeds" -gt 0 ] && return
	echo "${read:-0} inputs were replayed, but there are $seeds seeds" >>"$2"
	return 1
}

# Run one target; prints "RUNS EDGES CPU_SECONDS STATUS" and leaves the output in a log. FOUND: the folder
# that gets new inputs; those in it already are used, too.
run_one() # TARGET LOG FOUND FLAG...: flags of libFuzzer
{
	local target=$1 log=$2 found=$3 dict longest status
	shift 3
	dict=${target%/*}/corpus/${target##*/}.dict
	mkdir -p "$found" "$build/crash" "$TMPDIR/$target"
	# no longer than 8 KiB, unless its own seeds are
	longest=$(find "$build/seeds/$target" -type f -printf '%s\n' | sort -n | tail -n 1)
	local args=("$@" -max_len=$((${longest:-0} > 8192 ? longest : 8192)) -rss_limit_mb=1024 -malloc_limit_mb=128
		-print_final_stats=1 -artifact_prefix="$build/crash/${target//\//-}-")
	[ ! -e "$dict" ] || args+=(-dict="$dict")
	# By name: a folder's own order is another one in each copy of the tree.
	find "$build/seeds/$target" -type f | sort | paste -sd, | tr -d '\n' >"$log.seeds"
	args+=(-seed_inputs="@$log.seeds")
	# shellcheck disable=SC2086 # words on purpose
	TIMEFORMAT='cpu: %U %S'
	{ time "${alike[@]}" env TMPDIR="$TMPDIR/$target" "$build/target/$target" "${args[@]}" ${FUZZ_FLAGS:-} "$found"; } \
		>"$log" 2>&1 </dev/null
	status=$?
	[ "$status" != 0 ] || all_replayed "$target" "$log" || status=1
	awk -v status="$status" '
		/ cov: [0-9]+ / { for (i = 1; i < NF; i++) if ($i == "cov:") cov = $(i + 1) }
		/^#[0-9]+/ { n = substr($1, 2) + 0; if (n > runs) runs = n }
		/^stat::number_of_executed_units:/ { runs = $2 }
		/^cpu: / { cpu = $2 + $3 }
		END { printf "%d %d %.1f %d\n", runs, cov, cpu, status }' "$log"
}

report() # TARGET LOG RUNS EDGES CPU STATUS: one line of progress; the end of the log after a failure
{
	local kept
	if [ "$6" = 0 ]; then
		printf '  ok     %-20s %10d runs, %5d edges, %6.1f s of CPU\n' "$1" "$3" "$4" "$5"
		return
	fi
	kept=$(sed -n 's/^Test unit written to //p; s/.*artifact_prefix=.*Test unit written to //p' "$2" | tail -n 1)
	printf '  FAILED %-20s %10d runs, input kept in %s\n' "$1" "$3" "${kept:-no file}"
	grep -vE '^#[0-9]+|^INFO|^stat::|fuzzer::|libc|_start|^NOTE|NEW_FUNC|^ *Combine' "$2" | tail -n 30 | sed 's/^/         | /'
}

smoke_one() # TARGET
{
	local log=$build/log/${1//\//-}.log numbers
	mkdir -p "$build/log"
	# A timeout of a minute: a machine that is busy must not make a difference.
	numbers=$(run_one "$1" "$log" "$TMPDIR/new/$1" -runs="$runs" -seed="$seed" -reload=0 -timeout=60)
	# shellcheck disable=SC2086 # four numbers
	report "$1" "$log" $numbers
	echo "${numbers##* }" >"$log.status"
	echo "$numbers" >"$log.numbers"
}

# The largest inputs, once each: 20 s and 512 MiB are far more than they should need.
large()
{
	local input name target bad=0 n=0 log=$build/log/large.log
	mkdir -p "$build/large" "$build/log"
	rm -f "$build"/large/*
	tools/fuzz-large.sh "$build/large"
	for input in "$build"/large/*; do
		name=${input##*/}
		target=${name%.*}
		target=${target//-//}
		n=$((n + 1))
		"$build/target/$target" -timeout=20 -rss_limit_mb=512 -artifact_prefix="$build/crash/large-" \
			"$input" >"$log" 2>&1 </dev/null && continue
		bad=$((bad + 1))
		echo "  FAILED $target, input $input"
		tail -n 20 "$log" | sed 's/^/         | /'
	done
	echo "$n inputs of the largest size, $bad failed"
	[ "$bad" = 0 ]
}

smoke()
{
	local target logs=() bad=0
	mkdir -p "$build/crash"
	large || bad=1
	echo "${#targets[@]} targets, $runs runs each with seed $seed, $jobs at a time"
	trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM HUP
	for target in "${targets[@]}"; do
		while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
		smoke_one "$target" &
		logs+=("$build/log/${target//\//-}.log")
	done
	wait
	awk '{ runs += $1; edges += $2; cpu += $3; if ($4 != 0) bad++; n++ }
		END {
			printf "%d targets: %d runs, %d edges, %.0f s of CPU, %d found something\n", n, runs, edges, cpu, bad
			exit bad > 0
		}' "${logs[@]/%/.numbers}" || bad=1
	return "$bad"
}

# Totals of all long runs: a line a slice: TARGET RUNS EDGES CPU STATUS.
long_table=$build/long.tsv

long_cpu() # seconds so far
{
	awk '{ s += $4 } END { printf "%d\n", s }' "$long_table" 2>/dev/null || echo 0
}

long()
{
	local want=${FUZZ_CPU_SECONDS:-7200} rounds=${FUZZ_ROUNDS:-0} before target
	renice -n 19 $$ >/dev/null
	mkdir -p "$build/log"
	touch "$long_table"
	before=$(wc -l <"$long_table")
	trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM HUP
	while [ "$(long_cpu)" -lt "$want" ]; do
		for target in "${targets[@]}"; do
			while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
			[ "$(long_cpu)" -lt "$want" ] || break
			{
				log=$build/log/long-${target//\//-}.log
				numbers=$(run_one "$target" "$log" "$build/found/$target" -max_total_time="$seconds" -timeout=10)
				echo "$target $numbers" >>"$long_table"
				# shellcheck disable=SC2086 # four numbers
				report "$target" "$log" $numbers
			} &
		done
		printf '%s of %s s of CPU\n' "$(long_cpu)" "$want"
		rounds=$((rounds - 1))
		[ "$rounds" != 0 ] || break
	done
	wait
	figures
	tail -n "+$((before + 1))" "$long_table" | awk '$5 != 0 { bad = 1 } END { exit bad }'
}

figures()
{
	echo '| target | executions | edges | CPU |'
	echo '| --- | ---: | ---: | ---: |'
	sort -s -k 1,1 "$long_table" | awk '
		function row(name, r, e, c) { printf "| %s | %d | %d | %d s |\n", name, r, e, c }
		$1 != name { if (name) row(name, r, e, c); name = $1; r = e = c = 0 }
		{ r += $2; if ($3 > e) e = $3; c += $4; R += $2; C += $4 }
		END { row(name, r, e, c); row("together", R, "", C) }' | sed 's/| 0 | \([0-9]* s |\)$/| | \1/'
}

# Keep the fewest and smallest inputs that reach an edge without a seed. All seeds stay.
keep_one() # TARGET
{
	local new=$build/keep/$1 log=$build/log/keep.log before
	rm -rf "$new"
	mkdir -p "$build/found/$1" "$build/log" "$build/crash" "$new"
	cp "$build/seeds/$1"/* "$new"
	before=$(find "$new" -type f | wc -l)
	"$build/target/$1" -merge=1 -use_counters=0 -max_len="${FUZZ_KEEP_LEN:-512}" \
		-artifact_prefix="$build/crash/${1//\//-}-" "$new" "$build/found/$1" \
		>"$log" 2>&1 </dev/null || { echo "FAILED $1"; tail -n 5 "$log"; return 1; }
	tools/seeds.sh pack "$build/keep" "$1" || return 1
	printf '  %-20s %4d seeds, %d of them new\n' "$1" "$(find "$new" -type f | wc -l)" \
		$(($(find "$new" -type f | wc -l) - before))
}

keep()
{
	local target bad=0
	for target in "${targets[@]}"; do keep_one "$target" || bad=1; done
	return "$bad"
}

case $mode in
smoke | long | keep | seeds) unpack_seeds || exit 1 ;;
esac
case $mode in
smoke) smoke ;;
long) long ;;
figures) figures ;;
keep) keep ;;
seeds) echo "${#targets[@]} targets: their seeds are in $build/seeds/" ;;
*)
	echo "fuzz.sh: no such mode: $mode" >&2
	exit 2
	;;
esac

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# cases.sh: cases of a suite that is a script: evidence, waiting, verdicts. Sourced by run.sh.
#
# A case is a function. It runs in a subshell: fail() records evidence and continues, skip() ends it. The suite sets W, a
# folder of its own. It may set PATIENCE, the limit of each wait in seconds, and EVIDENCE_LINES, the number of lines that a
# failure shows. A failure also shows the output of its function more_evidence. NO_SKIP=1: a skip is a failure.

PATIENCE=${PATIENCE:-60} EVIDENCE_LINES=${EVIDENCE_LINES:-25}
n=0 passed=0 failed=0 skipped=0

# --- evidence ----------------------------------------------------------------------------------

fail()
{
	printf '%s\n' "$*" >>"$W/evidence"
	return 1
}

skip()
{
	printf '%s\n' "$*" >"$W/skip"
	exit 77
}

# How a command of is() and isnt() is run; a suite may bound its time.
bounded() { "$@"; }

# eq WHAT GOT WANT
eq() { [ "$2" = "$3" ] || fail "$1: got '$2', want '$3'"; }
# is WHAT COMMAND...: the command must succeed; its output is in $W/is.
is()
{
	local what=$1
	shift
	bounded "$@" >"$W/is" 2>&1
	case $? in
	0) ;;
	124 | 137) fail "$what: '$*' did not end" ;;
	*) fail "$what: '$*' failed: $(tail -c 900 "$W/is")" ;;
	esac
}
# isnt WHAT COMMAND...: the command must fail, by itself.
isnt()
{
	local what=$1
	shift
	bounded "$@" >"$W/is" 2>&1
	case $? in
	0) fail "$what: '$*' succeeded: $(tail -c 900 "$W/is")" ;;
	124 | 137) fail "$what: '$*' did not end" ;;
	esac
}
# has WHAT TEXT PART
has() { [[ $2 == *"$3"* ]] || fail "$1: '$3' is not in: ${2:0:900}"; }
hasnt() { [[ $2 != *"$3"* ]] || fail "$1: '$3' is in: ${2:0:900}"; }

# eventually COMMAND...: until it succeeds, for at most PATIENCE seconds. A command of some processes, again and again, would take
# the processor from what it waits for: the pauses become longer.
eventually()
{
	local end=$((${EPOCHREALTIME/./} + PATIENCE * 1000000)) pause tries=0
	until "$@" >/dev/null 2>&1; do
		[ "${EPOCHREALTIME/./}" -lt "$end" ] || {
			fail "not within $PATIENCE seconds: $*"
			return
		}
		[ $((tries++)) -lt 10 ] && pause=0.02 || pause=0.1
		sleep "$pause"
	done
}

# --- which cases, and what came of them --------------------------------------------------------

# cases_of FOLDER THEME...: "THEME NAME" for each function test_NAME in FOLDER/THEME.sh.
cases_of()
{
	local folder=$1 theme
	shift
	for theme; do
		grep -o '^test_[A-Za-z0-9_]*' "$folder/$theme.sh" | uniq | sed "s/^test_/$theme /"
	done
}

# no_name_twice FILE...: these are sourced together, and a function or a global of one file must not replace that of another. Or end.
no_name_twice()
{
	local names
	names=$({
		printf '%s\n' "$@" | sort -u | xargs -d '\n' grep -ho '^[A-Za-z0-9_]*()'
		# Also the second one of a line: "A=1 B=2".
		printf '%s\n' "$@" | sort -u | xargs -d '\n' awk '
			/^[A-Z][A-Z0-9_]*=/ {
				for (i = 1; i <= NF && match($i, /^[A-Z][A-Z0-9_]*=/); i++)
					if (!seen[FILENAME, name = substr($i, 1, RLENGTH)]++) print name
			}'
	} | sort | uniq -d | xargs)
	[ -z "$names" ] || {
		echo "defined twice: $names" >&2
		exit 2
	}
}

# chosen NAMES PATTERN...: a pattern matches one of the names; without a pattern all are chosen.
chosen()
{
	local name want
	[ $# -gt 1 ] || return 0
	for want in "${@:2}"; do
		for name in $1; do
			# shellcheck disable=SC2053
			[[ $name == $want ]] && return 0
		done
	done
	return 1
}

# run_case FUNCTION: in a subshell; sets RC. A case that ends in its middle is a failure, as one that uses a variable without a value:
# its output says why.
run_case()
{
	rm -f "$W/ended"
	("$1"; : >"$W/ended") >"$W/case.out" 2>&1 </dev/null
	RC=$?
	[ -e "$W/ended" ] || [ "$RC" = 77 ] || [ -s "$W/evidence" ] || fail "the case ended before its last line, with status $RC"
}

# verdict NAME STATUS: of a case whose output is in $W/case.out.
verdict()
{
	if [ "$2" = 77 ] && [ ! -s "$W/evidence" ] && [ -z "${NO_SKIP-}" ]; then
		echo "ok $n - $1 # SKIP $(<"$W/skip")"
		skipped=$((skipped + 1))
	elif [ -s "$W/evidence" ] || [ "$2" = 77 ]; then
		echo "not ok $n - $1"
		{
			cat "$W/skip" "$W/evidence" "$W/case.out"
			! declare -F more_evidence >/dev/null || more_evidence
		} 2>/dev/null | head -n "$EVIDENCE_LINES" | cut -c1-1500 | sed 's/^/  # /'
		failed=$((failed + 1))
	else
		echo "ok $n - $1"
		passed=$((passed + 1))
	fi
}

# closing PATTERN...: the last line. Exit status 0: none failed; 2: no case was chosen.
closing()
{
	[ "$n" -gt 0 ] || {
		echo "no case matches: $*" >&2
		exit 2
	}
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
	exit
}

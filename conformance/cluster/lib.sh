# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# lib.sh: evidence, and waiting. Sourced by run.sh.
#
# A case runs in a subshell: fail() records evidence and goes on, skip() ends it. Nothing is slept for: what is waited for
# is a condition, and LONG is how long a busy machine may take over it.

LONG=180

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

# eq WHAT GOT WANT
eq() { [ "$2" = "$3" ] || fail "$1: got '$2', want '$3'"; }
# is WHAT COMMAND...: the command must succeed; its output is in $W/is.
is()
{
	local what=$1
	shift
	"$@" >"$W/is" 2>&1 || fail "$what: '$*' failed: $(tail -c 900 "$W/is")"
}
# isnt WHAT COMMAND...: the command must fail.
isnt()
{
	local what=$1
	shift
	! "$@" >"$W/is" 2>&1 || fail "$what: '$*' succeeded: $(tail -c 900 "$W/is")"
}
# has WHAT TEXT PART
has() { [[ $2 == *"$3"* ]] || fail "$1: '$3' is not in: ${2:0:900}"; }
hasnt() { [[ $2 != *"$3"* ]] || fail "$1: '$3' is in: ${2:0:900}"; }

# eventually COMMAND...: until it succeeds, for at most LONG seconds; quiet.
eventually()
{
	local end=$((SECONDS + LONG))
	while ! "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || {
			fail "not within $LONG seconds: $*"
			return
		}
		sleep 0.2
	done
}

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BINDIR [CASE...]: the plugins in BINDIR behind the container runtimes of Debian 12.
#
# CASE is the name of a case, of a client, or a pattern: podman, 'cri_*', multus_chain.
# CNITOOL=FILE: cnitool, for its cases (see cnitool-build.sh); NO_SKIP=1: a skip is a failure;
# VERBOSE=1: how long each case took; KEEP=1: show every call of a plugin that a failed case made;
# AGAIN=1: a case that the machine disturbed is run once more, and that is told: ../again.sh.
# Prints ok / not ok lines; the last line is "N passed, N failed, N skipped". Exit 0: none failed.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage()
{
	sed -n '3,8s/^# //p' "$0" >&2
	exit 2
}

if [ "${1-}" != --inside ]; then
	[ $# -ge 1 ] && [ -d "$1" ] || usage
	dir=$(cd "$1" && pwd) || exit 2
	shift
	[ -z "${CNITOOL-}" ] || CNITOOL=$(realpath -m "$CNITOOL")
	export CNITOOL
	exec "$HERE/../sandbox.sh" "$HERE/run.sh" --inside "$dir" "$@"
fi
shift
FROM=$1
shift

W=/run/work
CALLS=$W/calls
PEER_DIR=${PEER_DIR:-/usr/lib/cni}
# shellcheck source=conformance/again.sh
. "$HERE/../again.sh"
for part in lib world pods containerd; do
	# shellcheck disable=SC1090
	. "$HERE/$part.sh" || exit 2
done
THEMES=(ctr cri podman cnitool multus)
for theme in "${THEMES[@]}"; do
	# shellcheck disable=SC1090
	. "$HERE/$theme.sh" || exit 2
done

all_cases()
{
	local theme
	for theme in "${THEMES[@]}"; do
		grep -o '^test_[A-Za-z0-9_]*' "$HERE/$theme.sh" | sed "s/^test_/$theme /"
	done
}

chosen()
{
	local theme=$1 name=$2 want
	shift 2
	[ $# -gt 0 ] || return 0
	for want; do
		# shellcheck disable=SC2053
		[[ $theme == "$want" || $name == $want ]] && return 0
	done
	return 1
}

verdict() # NAME STATUS
{
	if [ "$2" = 77 ] && [ ! -s "$W/evidence" ] && [ -z "${NO_SKIP-}" ]; then
		echo "ok $n - ${1//_/ } # SKIP $(<"$W/skip")"
		skipped=$((skipped + 1))
	elif [ -s "$W/evidence" ] || [ "$2" = 77 ]; then
		echo "not ok $n - ${1//_/ }"
		{
			cat "$W/skip" "$W/evidence" "$W/case.out"
			[ -z "${KEEP-}" ] || calls
		} 2>/dev/null | head -60 | cut -c1-1200 | sed 's/^/  # /'
		failed=$((failed + 1))
	else
		echo "ok $n - ${1//_/ }"
		passed=$((passed + 1))
	fi
}

attempt() # NAME: RC
{
	rm -rf "$W/skip" "$W/evidence" "$CALLS"
	mkdir -p "$CALLS"
	("test_$1") >"$W/case.out" 2>&1 </dev/null
	RC=$?
	calls_are_sane
	nothing_left
}

# A daemon that came up late has no image, for one.
start_over() { clean_up >/dev/null 2>&1; }

one_case() # NAME
{
	twice "${1//_/ }" attempt "$1"
	verdict "$1" "$RC"
}

n=0 passed=0 failed=0 skipped=0
world || exit 2
last=
while read -r theme name <&9; do
	chosen "$theme" "$name" "$@" || continue
	n=$((n + 1))
	start=${EPOCHREALTIME/./}
	# Of the clients only containerd has a daemon.
	[[ $theme = "$last" || $theme = c[tr]* ]] || containerd_down
	last=$theme
	one_case "$name"
	[ -z "${VERBOSE-}" ] || echo "  # $(((${EPOCHREALTIME/./} - start) / 1000)) ms"
done 9< <(all_cases)
containerd_down
[ "$n" -gt 0 ] || {
	echo "no case matches: $*" >&2
	exit 2
}
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]

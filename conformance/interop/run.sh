#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BINDIR [CASE...]: the plugins in BINDIR behind the container runtimes of Debian 12.
#
# CASE is the name of a case, of a client, or a pattern: podman, 'cri_*', multus_chain.
# CNITOOL=FILE: cnitool, for its cases (see cnitool-build.sh); HELPERS=DIR: where snapshot is;
# NO_SKIP=1: a skip is a failure; VERBOSE=1: print the time of each case; KEEP=1: show every call of a
# plugin in a failed case; AGAIN=1: repeat a case that exceeded a limit of time, and report it: ../again.sh.
# Prints ok / not ok lines; the last line is "N passed, N failed, N skipped". Exit 0: none failed.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

[ -z "${CNITOOL-}" ] || CNITOOL=$(realpath -m "$CNITOOL")
export CNITOOL
# shellcheck source=conformance/harness/suite.sh
. "$HERE/../harness/suite.sh"
into_sandbox "$@"
set -- "${ARGS[@]}"
[ $# -ge 1 ] && [ -d "$1" ] || usage
FROM=$(cd "$1" && pwd) || exit 2
HELPERS=${HELPERS:-$FROM/../conformance/attach}
[ -x "$HELPERS/snapshot" ] || { echo "$HELPERS/snapshot is missing: run make helpers" >&2; exit 2; }
shift

EVIDENCE_LINES=60
# shellcheck source=conformance/harness/cases.sh
. "$HERE/../harness/cases.sh" || exit 2
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

more_evidence() { [ -z "${KEEP-}" ] || calls; }

attempt() # NAME: RC
{
	rm -rf "$W/skip" "$W/evidence" "$CALLS"
	mkdir -p "$CALLS"
	run_case "test_$1"
	calls_are_sane
	nothing_left
}

# A daemon that came up late has no image, for one.
start_over() { clean_up >/dev/null 2>&1; }

one_case() # NAME
{
	twice "${1//_/ }" attempt "$1"
	verdict "${1//_/ }" "$RC"
}

world || exit 2
last=
while read -r theme name <&9; do
	chosen "$theme $name" "$@" || continue
	n=$((n + 1))
	start=${EPOCHREALTIME/./}
	# Only containerd has a daemon; the other clients do not.
	[[ $theme = "$last" || $theme = c[tr]* ]] || containerd_down
	last=$theme
	one_case "$name"
	[ -z "${VERBOSE-}" ] || echo "  # $(((${EPOCHREALTIME/./} - start) / 1000)) ms"
done 9< <(cases_of "$HERE" "${THEMES[@]}")
containerd_down
closing "$@"

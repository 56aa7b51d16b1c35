#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BINDIR [CASE...]: hooks for subnet managers: the real opensm over a simulated fabric, and a stand-in for UFM.
#
# CASE is the name of a case or a pattern: opensm_limited, 'ufm_*'. NO_SKIP=1: a skip is a failure.
# Runs in namespaces of its own. Prints ok / not ok lines; the last line is "N passed, N failed, N
# skipped". Exit 0: none failed.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# shellcheck source=conformance/harness/suite.sh
. "$HERE/../harness/suite.sh"
into_sandbox "$@"
set -- "${ARGS[@]}"
[ $# -ge 1 ] && [ -d "$1" ] || usage
BIN=$(cd "$1" && pwd) || exit 2
shift
for program in railctl sm-opensm sm-ufm; do
	[ -x "$BIN/$program" ] || {
		echo "run.sh: there is no $program in $BIN" >&2
		exit 2
	}
done
export LC_ALL=C
W=/run/work
# shellcheck source=conformance/harness/cases.sh
. "$HERE/../harness/cases.sh"
# shellcheck source=conformance/fabric/lib.sh
. "$HERE/lib.sh"
THEMES=(opensm ufm queue)
for theme in "${THEMES[@]}"; do
	# shellcheck disable=SC1090
	. "$HERE/$theme.sh"
done

prepare
while read -r theme name <&9; do
	chosen "$name" "$@" || continue
	n=$((n + 1))
	fresh
	run_case "test_$name"
	verdict "${name//_/ }" "$RC"
done 9< <(cases_of "$HERE" "${THEMES[@]}")
closing "$@"

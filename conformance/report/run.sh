#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BINDIR [CASE...]: the page of `railctl cluster report` in a real browser, Chromium without a window.
#
# CASE is the name of a case or a pattern: hostile_texts, 'a_*'. PICTURES=DIR: screenshots and what was printed are kept there, for a person to look at.
# Runs in namespaces of its own. Prints ok / not ok lines; the last line is "N passed, N failed, N
# skipped". Exit 0: none failed.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# shellcheck source=conformance/harness/suite.sh
. "$HERE/../harness/suite.sh"
into_sandbox "$@"
set -- "${ARGS[@]}"
[ $# -ge 1 ] && [ -x "$1/railctl" ] || usage
BIN=$(cd "$1" && pwd) || exit 2
shift
export LC_ALL=C.UTF-8
W=/run/work
# shellcheck source=conformance/harness/cases.sh
. "$HERE/../harness/cases.sh"
THEMES=(page)
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

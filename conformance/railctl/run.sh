#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BINDIR [CASE...]: black-box tests of railctl, with the plugins in BINDIR.
#
# CASE is the name of a case or a pattern: attachments_repair, 'pool_*'. NO_SKIP=1: a skip is a failure.
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
[ -x "$BIN/railctl" ] || {
	echo "run.sh: there is no railctl in $BIN" >&2
	exit 2
}
export PATH=$BIN:$PATH LC_ALL=C
unset NO_COLOR COLUMNS
ROOT=$(cd "$HERE/../.." && pwd)
W=/run/work
STATE=/var/lib/railhead
RUN=/run/railhead
# shellcheck source=conformance/harness/cases.sh
. "$HERE/../harness/cases.sh"
# shellcheck source=conformance/railctl/lib.sh
. "$HERE/lib.sh"
# shellcheck source=conformance/railctl/sys.sh
. "$HERE/sys.sh"
THEMES=(frame agree attachments rails rails_faults ipam slices pools import vf rdma qos topo topo_made topo_pictures node support)
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

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BINDIR [CASE...]: black-box tests of railctl, with the plugins in BINDIR.
#
# CASE is the name of a case or a pattern: attachments_repair, 'pool_*'. NO_SKIP=1: a skip is a failure.
# Runs in namespaces of its own. Prints ok / not ok lines; the last line is "N passed, N failed, N
# skipped". Exit 0: none failed.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage()
{
	sed -n '3,7s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

if [ "${1-}" != --inside ]; then
	[ $# -ge 1 ] && [ -d "$1" ] || usage
	dir=$(cd "$1" && pwd) || exit 2
	shift
	exec "$HERE/../sandbox.sh" "$HERE/run.sh" --inside "$dir" "$@"
fi
shift
BIN=$1
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
# shellcheck source=conformance/railctl/lib.sh
. "$HERE/lib.sh"
# shellcheck source=conformance/railctl/sys.sh
. "$HERE/sys.sh"
for theme in frame agree attachments ipam import vf rdma qos topo; do
	# shellcheck disable=SC1090
	. "$HERE/$theme.sh"
done

cases()
{
	local theme
	for theme in frame agree attachments ipam import vf rdma qos topo; do
		sed -n 's/^test_\([a-z0-9_]*\)().*/\1/p; s/^test_\([a-z0-9_]*\)()$/\1/p' "$HERE/$theme.sh" | uniq
	done
}

chosen()
{
	local name=$1 want
	shift
	[ $# -gt 0 ] || return 0
	for want; do
		# shellcheck disable=SC2053
		[[ $name == $want ]] && return 0
	done
	return 1
}

n=0 passed=0 failed=0 skipped=0
prepare
while read -r name <&9; do
	chosen "$name" "$@" || continue
	n=$((n + 1))
	fresh
	("test_$name") >"$W/case.out" 2>&1 </dev/null
	rc=$?
	if [ "$rc" = 77 ] && [ ! -s "$W/evidence" ] && [ -z "${NO_SKIP-}" ]; then
		echo "ok $n - ${name//_/ } # SKIP $(<"$W/skip")"
		skipped=$((skipped + 1))
	elif [ -s "$W/evidence" ] || [ "$rc" = 77 ]; then
		echo "not ok $n - ${name//_/ }"
		cat "$W/skip" "$W/evidence" "$W/case.out" 2>/dev/null | head -30 | cut -c1-1200 | sed 's/^/  # /'
		failed=$((failed + 1))
	else
		echo "ok $n - ${name//_/ }"
		passed=$((passed + 1))
	fi
done 9< <(cases)
[ "$n" -gt 0 ] || {
	echo "no case matches: $*" >&2
	exit 2
}
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]

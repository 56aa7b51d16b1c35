#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# versions.sh BINDIR DIR VERSION... [-- CASE...]: rails by one line in the pod on other versions of Kubernetes.
#
# Each VERSION has a folder programs/kubernetes-VERSION, and 1.37 the next Multus. They are built into DIR/VERSION, which is minutes the first time.
# CASE: as run.sh has it; without any, a pod with thin and thick Multus, and the themes about rails without it. The last line is "N passed, N failed, N skipped".
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -ge 3 ] || {
	sed -n '3s/^# //p' "$0" >&2
	exit 2
}
bin=$1 dir=$2
shift 2
versions=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	versions+=("$1")
	shift
done
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- start resourceclaims claimgroups claimfaults slots devices chart_of_claims

passed=0 failed=0 skipped=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT
for version in "${versions[@]}"; do
	echo "# Kubernetes $version"
	modules=("$HERE"/programs/*-"$version")
	"$HERE/programs/build.sh" "$dir" "${modules[@]##*/}" || exit 1
	CLUSTER=$dir/$version "$HERE/run.sh" "$bin" "$@" | tee "$out"
	read -r p f s < <(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$out")
	# A run without its last line has failed.
	[ -n "${s-}" ] || p=0 f=1 s=0
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]

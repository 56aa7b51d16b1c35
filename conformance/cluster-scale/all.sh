#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# all.sh BUILD: all parts of the bench of a cluster, one after the other, each below ten minutes on a quiet machine.
#
# Parts: etcd (1,024 nodes), agent (one agent, and ADDs beside it), kubernetes (the same on a real API server), and peers. The last one has
# whereabouts and Spiderpool beside railhead on that server. PARTS="agent peers" selects some. build/doc has a table of each part.
# The last line is "addresses N, duplicates N, missing N" of all parts. A part whose programs are not available here is skipped.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BUILD=${1:?usage: all.sh BUILD}
DOC=$PWD/build/doc
mkdir -p "$DOC"
LOG=$(mktemp)
trap 'rm -f "$LOG"' EXIT
leased=0 duplicates=0 missing=0 rc=0

part() # NAME VARIABLE...
{
	local name=$1 last words begin=$SECONDS
	shift
	[[ " ${PARTS:-etcd agent kubernetes peers} " == *" $name "* ]] || return 0
	echo "== $name"
	env TABLES="$DOC/performance-cluster-$name.md" "$@" "$HERE/run.sh" "$BUILD" | tee "$LOG"
	[ "${PIPESTATUS[0]}" = 0 ] || rc=1
	last=$(tail -n 1 "$LOG")
	if [[ $last =~ ^addresses\ ([0-9]+),\ duplicates\ ([0-9]+),\ missing\ ([0-9]+)$ ]]; then
		words=("${BASH_REMATCH[@]}")
		leased=$((leased + words[1])) duplicates=$((duplicates + words[2])) missing=$((missing + words[3]))
	elif [[ $last != skipped:* ]]; then
		rc=1
	fi
	echo "== $name took $((SECONDS - begin)) s"
}

part etcd STORE=etcd
part agent STORE=etcd ONLY=agent
part kubernetes STORE=kubernetes
part peers STORE=kubernetes ONLY=peers
echo "addresses $leased, duplicates $duplicates, missing $missing"
[ "$rc $duplicates $missing" = "0 0 0" ]

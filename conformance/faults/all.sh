#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# all.sh BUILD: run.sh for every interface plugin in BUILD/bin; the last line counts all of them, and names those that failed.
#
# PLUGINS="macvlan ipvlan" picks; FAULTS_SAMPLE=N: about N cases of the first, and half as many of each other.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] && [ -d "$1/bin" ] || {
	sed -n '3,5s/^# //p' "$0" >&2
	exit 2
}
export FAULTS_PROGRAM=$1/conformance/faults/faults
log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT
failed='' survived=0 all=0 sample=${FAULTS_SAMPLE-}

for plugin in ${PLUGINS:-macvlan macvlan-rail macvlan-host macvlan-tuned rails ipvlan}; do
	[ -x "$1/bin/${plugin%%-*}" ] || continue
	FAULTS_SAMPLE=$sample "$HERE/run.sh" "$1/bin" --plugin "$plugin" | tee "$log" | sed -u "s/^faults survived/$plugin/"
	[ "${PIPESTATUS[0]}" = 0 ] || failed+=" $plugin: $(grep -oE '^[0-9]+ planned faults were not reached$' "$log" || echo failed);"
	read -r a b < <(sed -n 's/^faults survived: \([0-9]*\) of \([0-9]*\)$/\1 \2/p' "$log")
	survived=$((survived + ${a:-0})) all=$((all + ${b:-0})) sample=${FAULTS_SAMPLE:+$((FAULTS_SAMPLE / 2))}
done
echo "faults survived: $survived of $all${failed:+;${failed%;}}"
[ -z "$failed" ] && [ "$all" -gt 0 ] && [ "$survived" = "$all" ]

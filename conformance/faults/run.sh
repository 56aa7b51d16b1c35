#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BINDIR [OPTIONS]: spoil calls of the plugin programs in BINDIR in every way, one at a time.
#
# --plugin NAME (macvlan), --only CASE, --sample N, --workers N, --list: see main.c.
# FAULTS_LANE=DIR: programs whose allocations and clock can be spoiled (`make faults` builds them into
# build/faults/bin); FAULTS_PROGRAM: the driver (else it is looked for beside the programs).
# FAULTS_SAMPLE=N: the same as --sample N.
# The last line is "faults survived: N of N"; exit 0: all were.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)

usage()
{
	sed -n '3,10s/^# //p' "$0" >&2
	exit 2
}

[ $# -ge 1 ] && [ -d "$1" ] || usage
BIN=$(cd "$1" && pwd) || exit 2
shift
PROGRAM=${FAULTS_PROGRAM:-$TOP/build/conformance/faults/faults}
LANE=${FAULTS_LANE:-$TOP/build/faults/bin}
[ -x "$PROGRAM" ] || {
	echo "${0##*/}: no $PROGRAM: run make faults" >&2
	exit 2
}
args=(--sandbox "$HERE/../sandbox.sh")
[ ! -x "$LANE/macvlan" ] || args+=(--lane "$LANE")
[ -z "${FAULTS_SAMPLE-}" ] || args+=(--sample "$FAULTS_SAMPLE")
exec "$PROGRAM" "${args[@]}" "$@" "$BIN"

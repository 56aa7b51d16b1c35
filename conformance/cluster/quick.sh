#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# quick.sh BINDIR DIR: the part that make check runs: build the programs into DIR, then run the cases with the word quick.
#
# Without Go modules there is no cluster, and the last line is "skipped: reason".
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BIN=${1:?usage: quick.sh BINDIR DIR} DIR=${2:?usage: quick.sh BINDIR DIR}

"$HERE/programs/build.sh" "$DIR"
case $? in
0) ;;
3)
	echo "NO KUBERNETES: its programs are Go modules, and those cannot be had here; nothing of the cluster is tested"
	echo "0 passed, 0 failed, 0 skipped"
	echo "skipped: Go modules cannot be had here, so there is no Kubernetes to test against"
	exit
	;;
*) exit 1 ;;
esac
"$HERE/fetch.sh" "$DIR" tree || exit 1
export QUICK=1 CLUSTER=$DIR
setpriv --pdeathsig KILL "$HERE/run.sh" "$BIN"
rc=$?
# The cluster did not come up in time, which run.sh has told.
[ $rc != 75 ] || AGAIN='' exec "$HERE/run.sh" "$BIN"
exit $rc

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [--quick] BUILD: many nodes with real etcd, whose pods empty pools that fit exactly, and what that costs.
#
# The nodes are one process with the code of railheadd and railhead-ipam (railheadd/testing). At the end railctl lists the
# leases of each node's store: each address of each pool must be there, once. --quick: 32 nodes, and no figures.
# ENGINES=DIR: etcd is there (build/engines). TABLES=FILE: write the table there, too.
# The last line is "addresses N, duplicates N, missing N". Exit 0: each address is leased once. Missed targets are no failure.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PEER=etcd

# shellcheck source=conformance/harness/suite.sh
. "$HERE/../harness/suite.sh"
# shellcheck source=conformance/bench/lib.sh
. "$HERE/../bench/lib.sh"
if [ "${1-}" != --inside ]; then
	export ENGINES=${ENGINES:-build/engines}
	"$HERE/../cluster-store/fetch.sh" "$ENGINES" >&2
	case $? in
	0) ;;
	3)
		echo "skipped: Debian's packages of etcd are not available here"
		exit
		;;
	*) exit 1 ;;
	esac
	ENGINES=$(cd "$ENGINES" && pwd)
fi
into_sandbox "$@"
options "${ARGS[@]}"
[ ${#ARGS[@]} = 1 ] && [ -d "${ARGS[0]}" ] || usage
BUILD=$(cd "${ARGS[0]}" && pwd) || exit 2

export W=/run/work
ROWS=$W/rows RAW=$W/raw
: >"$ROWS"
: >"$RAW"
ETCD=http://127.0.0.1:2379
CONTROL=$HERE/../cluster-store/etcd.sh
PROGRAM=$BUILD/test/railheadd/testing/nodes_engine_test
STATE=/var/lib/railhead RUN=/run/railhead
HELPERS=$BUILD/conformance/bench
mkdir -p "$STATE" "$RUN"
LEASED=0 DUPLICATES=0 MISSING=0

# shellcheck source=conformance/cluster-scale/nodes.sh
. "$HERE/nodes.sh"
# shellcheck source=conformance/cluster-scale/agent.sh
. "$HERE/agent.sh"

if [ -n "$QUICK" ]; then
	scale one-each nodes=32 pods=1 rails=8 block=1
	scale eight-each nodes=32 pods=8 rails=8 block=8
else
	scale one-each nodes=1024 pods=1 rails=8 block=1 bare=8192
	figures_of_pods one-each 1024
	scale eight-each nodes=1024 pods=8 rails=8 block=8 bare=8192 idle=60
	figures_of_pods eight-each 8192
	figures_of_idle eight-each 60 1024
	scale one-node nodes=1 pods=1 rails=8 block=8 idle=20
	row "ADD, wall, 1,024 nodes against 1" "<= 1.2" 1.2 "$(median eight-each ADD wall)" "$(median one-node ADD wall)" ms
	figures_of_agent
	report
fi
echo "addresses $LEASED, duplicates $DUPLICATES, missing $MISSING"
[ "$DUPLICATES $MISSING" = "0 0" ]

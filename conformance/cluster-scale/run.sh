#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [--quick] BUILD: many nodes with a real cluster store, whose pods empty pools that fit exactly, and what that costs.
#
# The nodes are one process with the code of railheadd and railhead-ipam (railheadd/testing). At the end railctl lists the
# leases of each node's store: each address of each pool must be there, once. --quick: 32 nodes, and no figures.
# ONLY=agent: the figures of one agent alone, with LEASES=N leases. ONLY=handover: those of ADDs that wait for a block of another node.
# ONLY=fabric: those of objects of nodes with cabled rails.
# STORE=kubernetes: an API server over etcd (etcd).
# ONLY=peers, with STORE=kubernetes: other plugins beside railhead; PEERS=DIR: they are there (build/peers). SELECT="railhead spiderpool":
# these only, of railhead, whereabouts, slices (whereabouts with node slices) and spiderpool.
# NODES=N: so many nodes instead of 1,024.
# ENGINES=DIR: etcd is there (build/engines). CLUSTER=DIR: Kubernetes is there (build/cluster). TABLES=FILE: write the table there, too.
# The last line is "addresses N, duplicates N, missing N". Exit 0: each address is leased once. Missed targets are no failure.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export STORE=${STORE:-etcd}
PEER=$STORE

# shellcheck source=conformance/harness/suite.sh
. "$HERE/../harness/suite.sh"
# shellcheck source=conformance/bench/lib.sh
. "$HERE/../bench/lib.sh"
ALL_PEERS="railhead whereabouts slices spiderpool"
# peer_programs MODULE PEER...: build what these peers need if one is in SELECT. The table names a peer that cannot be built here.
peer_programs()
{
	local module=$1 peer wanted=''
	shift
	for peer; do [[ $SELECT != *" $peer "* ]] || wanted=1; done
	[ -n "$wanted" ] || return 0
	"$HERE/../cluster/programs/build.sh" "$PEERS" "$module" >&2 && return
	say "$module is left out: its programs cannot be built here"
	for peer; do SELECT=${SELECT/ $peer / }; done
	ABSENT+=" $module"
}

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
	if [ "$STORE" = kubernetes ]; then
		export CLUSTER=${CLUSTER:-build/cluster} KUBE
		"$HERE/../cluster/programs/build.sh" "$CLUSTER" kubernetes >&2
		case $? in
		0) KUBE=$(cd "$CLUSTER/bin" && pwd) ;;
		3)
			echo "skipped: Go modules are not available here"
			exit
			;;
		*) exit 1 ;;
		esac
	fi
	if [ "${ONLY-}" = peers ]; then
		export PEERS=${PEERS:-build/peers} SELECT=" ${SELECT:-$ALL_PEERS} " ABSENT=''
		peer_programs whereabouts whereabouts slices
		peer_programs spiderpool spiderpool
		if [ -n "$ABSENT" ] && [[ $SELECT == " " || $SELECT == " railhead " ]]; then
			echo "skipped: the Go modules of$ABSENT are not available here"
			exit
		fi
		PEERS=$(cd "$PEERS" && pwd)
	fi
fi
into_sandbox "$@"
options "${ARGS[@]}"
[ ${#ARGS[@]} = 1 ] && [ -d "${ARGS[0]}" ] || usage
BUILD=$(cd "${ARGS[0]}" && pwd) || exit 2

export W=/run/work
ROWS=$W/rows RAW=$W/raw
: >"$ROWS"
: >"$RAW"
ETCD=http://127.0.0.1:2379 WHERE=http://127.0.0.1:2379
[ "$STORE" = etcd ] || WHERE=$W/kube/agent.kubeconfig
CONTROL=$HERE/../cluster-store/etcd.sh
PROGRAM=$BUILD/test/railheadd/testing/nodes_engine_test
STATE=/var/lib/railhead RUN=/run/railhead
HELPERS=$BUILD/conformance/bench RUNTIME=$BUILD/conformance/cluster-scale/runtime
mkdir -p "$STATE" "$RUN"
LEASED=0 DUPLICATES=0 MISSING=0

# shellcheck source=conformance/cluster-scale/nodes.sh
. "$HERE/nodes.sh"
# shellcheck source=conformance/cluster-scale/kubernetes.sh
. "$HERE/kubernetes.sh"
# shellcheck source=conformance/cluster-scale/agent.sh
. "$HERE/agent.sh"
# shellcheck source=conformance/cluster-scale/peers.sh
. "$HERE/peers.sh"
# shellcheck source=conformance/cluster-scale/handover.sh
. "$HERE/handover.sh"
# shellcheck source=conformance/cluster-scale/fabric.sh
. "$HERE/fabric.sh"
# shellcheck source=conformance/cluster-scale/spiderpool.sh
. "$HERE/spiderpool.sh"

if [ -n "$QUICK" ]; then
	scale one-each nodes=32 pods=1 rails=8 block=1
	scale eight-each nodes=32 pods=8 rails=8 block=8
elif [ "${ONLY-}" = agent ]; then
	figures_of_agent "${LEASES:-60000}"
	report
elif [ "${ONLY-}" = handover ]; then
	figures_of_handover
	report
elif [ "${ONLY-}" = fabric ]; then
	# shellcheck disable=SC2086 # words
	figures_of_fabric ${NODES:-1024 8192}
	report
elif [ "${ONLY-}" = peers ]; then
	# shellcheck disable=SC2086 # words
	figures_of_peers ${NODES:-8 64}
	report
elif [ "$STORE" = kubernetes ]; then
	N=${NODES:-1024}
	scale one-each nodes="$N" pods=1 rails=8 block=1 bare=$((N * 8))
	figures_of_pods one-each "$N"
	figures_of_kube_pods one-each $((N * 8))
	scale eight-each nodes="$N" pods=8 rails=8 block=8 bare=$((N * 8)) idle=60
	figures_of_pods eight-each $((N * 8))
	figures_of_kube_pods eight-each $((N * 64))
	figures_of_kube_idle eight-each 60 "$N"
	figures_of_handover
	report
else
	N=${NODES:-1024}
	scale one-each nodes="$N" pods=1 rails=8 block=1 bare=$((N * 8))
	figures_of_pods one-each "$N"
	scale eight-each nodes="$N" pods=8 rails=8 block=8 bare=$((N * 8)) idle=60
	figures_of_pods eight-each $((N * 8))
	figures_of_idle eight-each 60 "$N"
	scale one-node nodes=1 pods=1 rails=8 block=8 idle=20
	rows "$N nodes against 1" 1.2 eight-each one-node
	figures_of_handover
	report
fi
echo "addresses $LEASED, duplicates $DUPLICATES, missing $MISSING"
[ "$DUPLICATES $MISSING" = "0 0" ]

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# demo-cluster.sh BINDIR: one pool for all nodes, shown on two nodes and real etcd, in about ten seconds.
#
# Everything happens in namespaces of its own: etcd, two invented nodes with a node agent each, and their pods. This machine is not
# changed, and nothing is left, also when you interrupt it. ENGINES=DIR: etcd-3.5 is there (build/engines). Needs root.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../conformance/agent" && pwd)

if [ "${1-}" != --inside ]; then
	[ $# = 1 ] && [ -x "$1/railheadd" ] || {
		echo "usage: demo-cluster.sh BINDIR (where the programs are: build/bin)" >&2
		exit 2
	}
	export ENGINES=${ENGINES:-build/engines}
	"$HERE/../cluster-store/fetch.sh" "$ENGINES" || exit
	ENGINES=$(cd "$ENGINES" && pwd)
	exec "$HERE/../sandbox.sh" "$0" --inside "$(cd "$1" && pwd)"
fi
BIN=$2 W=/run/work LIMIT=60 NODES=2
HELPERS=$BIN/../conformance/attach
# shellcheck source=conformance/harness/cases.sh
. "$HERE/../harness/cases.sh" || exit
# shellcheck source=conformance/agent/lib.sh
. "$HERE/lib.sh" || exit
# shellcheck source=conformance/agent/engine_etcd.sh
. "$HERE/engine_etcd.sh" || exit

BOLD='' FAINT='' END=''
if [ -t 1 ] && [ -z "${NO_COLOR-}" ] && [ "${TERM-dumb}" != dumb ]; then
	BOLD=$'\e[1m' FAINT=$'\e[2m' END=$'\e[0m'
fi
title() { printf '\n%s%s%s\n' "$BOLD" "$1" "$END"; }
tell() { printf '   %s\n' "$@"; }
shown() { sed "s/^/     /"; }
# typed NODE COMMAND...: what one would type there, and what it prints
typed()
{
	printf '   %s%s$ %s%s\n' "$FAINT" "$1" "${*:2}" "$END"
	ctl "$1" "${@:3}" 2>&1 | shown
}
# pod NODE NAME: what the runtime does for a pod
pod()
{
	add "$1" "$2" rail0
	tell "$2 on $1 has $ADDRESS"
}

title "1. etcd, and two nodes with a node agent each"
cluster_begin
shown <"$W/node/n1/etc/railhead/agent.json"
tell "railheadd reads this file as /etc/railhead/agent.json. It gives its node blocks of the shared pools."

title "2. One pool for all nodes"
POOL='{"subnet":"10.92.0.0/16","blockSize":16,"warm":4}'
shared rail0 "$POOL"
tell "railctl cluster pool apply, once, on any node: rail0 = $POOL"
eventually has_spare n1 rail0 4
eventually has_spare n2 rail0 4
typed n1 railctl ipam blocks rail0
typed n2 railctl ipam blocks rail0

title "3. A pod on each node"
pod n1 pod-a
pod n2 pod-b
pings pod-a "${ADDRESS%/*}"
tell "pod-a reaches pod-b."

title "4. etcd is killed, and a pod starts all the same"
engine kill
pod n1 pod-c
eventually agent_is n1 .contact false
typed n1 railctl cluster status
tell "The address came from the block that n1 has. Nothing of the network was asked."

title "5. etcd is back"
engine start
eventually agent_is n1 .contact true
pod n2 pod-d
unique
tell "No address was assigned twice."
for p in pod-a:n1 pod-b:n2 pod-c:n1 pod-d:n2; do del "${p#*:}" "${p%:*}" rail0; done
[ ! -s "$W/evidence" ] || {
	echo "demo-cluster failed:"
	cat "$W/evidence"
	exit 1
}

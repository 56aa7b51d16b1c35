#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BINDIR [CASE...]: the plugins in BINDIR on a Kubernetes node with true VFs: kubelet, containerd and Multus in a guest,
# the control plane outside of it.
#
# CASE is the name of a case, of a file of cases, or a pattern. CLUSTER=DIR: the results of make cluster-programs
# (BINDIR/../cluster); PEERS=DIR: those of make peer-programs (BINDIR/../peers); KERNEL=6.12|7.2 (7.2): of the guest;
# VM_MEMORY=MB (2304); LONG=SECONDS: the limit of each wait (900); AGAIN=1: repeat a case that exceeded a limit of time, and
# report it: ../again.sh; VERBOSE=1: print the time of each case; CONSOLE=FILE: what the guest printed.
# Prints ok / not ok lines; the last line is "N passed, N failed, N skipped". Exit 0: none failed.
set -u
ROOM=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$ROOM/../.." && pwd)
# Parts of the other room look for their files there.
HERE=$TOP/conformance/cluster

# shellcheck source=conformance/harness/suite.sh
. "$TOP/conformance/harness/suite.sh"
if [ "${1-}" != --inside ]; then
	[ $# -ge 1 ] && [ -d "$1" ] || usage
	export CLUSTER=${CLUSTER:-$1/../cluster} KERNEL=${KERNEL:-7.2}
	CLUSTER=$(realpath -m "$CLUSTER")
	for file in tree/.complete bin/kubelet bin/kube-apiserver bin/multus; do
		[ -e "$CLUSTER/$file" ] || {
			echo "run.sh: $CLUSTER/$file is not there; to make it: make cluster-programs" >&2
			exit 2
		}
	done
	"$TOP/conformance/vm/fetch.sh" "$TOP/build/vm" qemu jq "$KERNEL" "movable-$KERNEL" || exit 2
fi
into_sandbox "$@"
set -- "${ARGS[@]}"
[ $# -ge 1 ] && [ -d "$1" ] || usage
FROM=$(cd "$1" && pwd) || exit 2
shift
exec </dev/null

W=/run/work
TREE=$CLUSTER/tree
THEMES=(vfs rdma near resources rails vfclaims jobs examples shared memlock)
LONG=${LONG:-900}
PATIENCE=$LONG EVIDENCE_LINES=45
# shellcheck source=conformance/again.sh
. "$TOP/conformance/again.sh"
for part in "$HERE"/{../harness/cases,world,node,pods,claims,resourceclaims}.sh "$ROOM"/{machine,captures}.sh "${THEMES[@]/#/$ROOM/}"; do
	# shellcheck disable=SC1090
	. "${part%.sh}.sh" || exit 2
done
NODES=1 NODE=1

# After a failed case the cluster is asked before its pods go: SAID is the answer.
more_evidence() { [ -n "$SAID" ] || what_the_cluster_says; }

attempt() # FUNCTION
{
	local first=
	NAMESPACE=case-$n-$TRY
	: >"$W/evidence"
	: >"$W/skip"
	case_begins
	card_state >"$W/cards.before"
	run_case "$1"
	[ ! -s "$W/evidence" ] || first=$(what_the_cluster_says 2>&1)
	case_ends >>"$W/case.out" 2>&1
	eventually cards_as_before || fail "the cards are not as before: $(diff "$W/cards.before" "$W/cards.after")"
	printf '%s\n' "$first" >>"$W/case.out"
}

one() # THEME NAME
{
	local begun=$SECONDS name="$1: ${2//_/ }"
	n=$((n + 1))
	twice "$name" attempt "test_$2"
	verdict "$name" "$RC"
	[ -z "${VERBOSE-}" ] || echo "  # $((SECONDS - begun)) s"
}

trap 'exit 143' TERM
if machine; then
	n=1 passed=1
	echo "ok 1 - a node in a guest becomes Ready (kubelet $("$CLUSTER/bin/kubelet" --version | cut -d' ' -f2), after $SECONDS s)"
	while read -r theme name <&9; do
		chosen "$theme $name" "$@" || continue
		one "$theme" "$name"
	done 9< <(cases_of "$ROOM" "${THEMES[@]}")
	n=$((n + 1))
	: >"$W/evidence"
	run_case machine_ends
	verdict 'the node ends, and nothing is left in the guest' "$RC"
else
	echo 'not ok 1 - a node in a guest becomes Ready'
	n=1 failed=1
	tail -n 30 "$W/evidence" "$W/log/machine" "$W/log/guest" 2>/dev/null | sed 's/^/  # /'
fi
[ -z "${CONSOLE-}" ] || cp "$W/log/guest" "$CONSOLE"
closing "$@"

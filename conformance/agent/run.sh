#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BINDIR [CASE...]: nodes with a node agent each, a real cluster store, and pods that take addresses of shared pools.
#
# CASE is the name of a case, of a file of cases, or a pattern. STORE=kubernetes: an API server over etcd (etcd). ENGINES=DIR: etcd is
# there (build/engines); CLUSTER=DIR: Kubernetes is there (build/cluster); NODES (3); HELPERS=DIR: the program ping is there.
# QUICK=1: without the themes whose cases use each store alike.
# AGAIN=1: repeat a case that exceeded a limit of time, and report it: ../again.sh.
# Prints ok / not ok lines; the last line is "N passed, N failed, N skipped". Exit 0: none failed.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# shellcheck source=conformance/harness/suite.sh
. "$HERE/../harness/suite.sh"
# have_kubernetes: or end as skipped
have_kubernetes()
{
	export CLUSTER=${CLUSTER:-build/cluster} KUBE
	"$HERE/../cluster/programs/build.sh" "$CLUSTER" kubernetes
	case $? in
	0) KUBE=$(cd "$CLUSTER/bin" && pwd) ;;
	3)
		echo "0 passed, 0 failed, 0 skipped"
		echo "skipped: Go modules are not available here"
		exit
		;;
	*) exit 1 ;;
	esac
}

export STORE=${STORE:-etcd}
[[ $STORE == etcd || $STORE == kubernetes ]] || usage
if [ "${1-}" != --inside ]; then
	export ENGINES=${ENGINES:-build/engines}
	"$HERE/../cluster-store/fetch.sh" "$ENGINES"
	case $? in
	0) ;;
	3)
		echo "0 passed, 0 failed, 0 skipped"
		echo "skipped: Debian's packages of etcd are not available here"
		exit
		;;
	*) exit 1 ;;
	esac
	# Without promtool, lldpd, slurmctld and netplan their cases are skipped.
	"$HERE/promtool.sh" "$ENGINES" || [ $? = 3 ] || exit 1
	[ "$STORE" != etcd ] || "$HERE/unpacked.sh" "$ENGINES" lldpd usr/sbin/lldpd || [ $? = 3 ] || exit 1
	[ "$STORE" != etcd ] || "$HERE/unpacked.sh" "$ENGINES" slurmctld usr/sbin/slurmctld-wlm || [ $? = 3 ] || exit 1
	"$HERE/unpacked.sh" "$ENGINES" netplan.io usr/libexec/netplan/generate || [ $? = 3 ] || exit 1
	ENGINES=$(cd "$ENGINES" && pwd)
	[ "$STORE" = etcd ] || have_kubernetes
fi
into_sandbox "$@"
set -- "${ARGS[@]}"
[ $# -ge 1 ] && [ -d "$1" ] || usage
FROM=$(cd "$1" && pwd) || exit 2
shift

W=/run/work
etc_of_ours
LIMIT=${LIMIT:-60}
NODES=${NODES:-3}
BIN=$W/bin
HELPERS=${HELPERS:-$FROM/../conformance/attach}
mkdir -p "$BIN"
cp "$FROM"/{macvlan,ipvlan,rails,railhead,railhead-ipam,railctl,railheadd,railhead-devices,railhead-install,sm-ufm} "$BIN" || exit 2
# shellcheck source=conformance/harness/cases.sh
. "$HERE/../harness/cases.sh" || exit 2
# shellcheck source=conformance/again.sh
. "$HERE/../again.sh" || exit 2
# shellcheck source=conformance/agent/lib.sh
. "$HERE/lib.sh" || exit 2
# shellcheck source=conformance/cluster-store/certificates.sh
. "$HERE/../cluster-store/certificates.sh" || exit 2
# shellcheck disable=SC1090
. "$HERE/engine_$STORE.sh" || exit 2
THEMES=(pods fixed loans store deleted nodes sticky fabric)
ALIKE=(families commands conflicts reserved faults adopt)
# Cases that do not depend on the store run with etcd alone.
case $STORE in
etcd) THEMES+=(repair plugins rails neighbours schedulers devices metrics kills history etcd) ;;
kubernetes) THEMES+=(kubernetes rules rights container examples kubectl plan) && [ -z "${KILLS-}" ] || THEMES+=(kills) ;;
esac
files=("$HERE"/{lib,history,load,"engine_$STORE"}.sh "$HERE"/../harness/{cases,suite}.sh)
for theme in "${THEMES[@]}" "${ALIKE[@]}"; do
	# shellcheck disable=SC1090
	. "$HERE/$theme.sh" || exit 2
	files+=("$HERE/$theme.sh")
done
no_name_twice "${files[@]}"
[ -n "${QUICK-}" ] || THEMES+=("${ALIKE[@]}")

attempt() # NAME: RC
{
	rm -rf "$W"/{skip,evidence,history,may_overlap,may_stay}
	run_case "test_$1"
}
one_case() # NAME
{
	twice "${1//_/ }" attempt "$1"
	verdict "${1//_/ }" "$RC"
}

while read -r theme name <&9; do
	chosen "$theme $name ${name%%_*}" "$@" || continue
	n=$((n + 1))
	one_case "$name"
done 9< <(cases_of "$HERE" "${THEMES[@]}")
closing "$@"

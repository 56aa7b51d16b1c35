#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BINDIR [CASE...]: the Helm chart: what it renders and refuses, and its life on a real API server, by the real helm.
#
# CASE is the name of a case, of a file of cases, or a pattern. CLUSTER=DIR: helm and Kubernetes are built there (build/cluster);
# HELM=FILE: another helm; ENGINES=DIR: etcd is there (build/engines). WRITE=1: write the golden files instead of comparing them.
# Prints ok / not ok lines; the last line is "N passed, N failed, N skipped". Exit 0: none failed.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)

# nothing WHY: the lane ends as skipped
nothing()
{
	echo "0 passed, 0 failed, 0 skipped"
	echo "skipped: $1"
	exit
}

# shellcheck source=conformance/harness/suite.sh
. "$HERE/../harness/suite.sh"
if [ "${1-}" != --inside ]; then
	export CLUSTER=${CLUSTER:-build/cluster} ENGINES=${ENGINES:-build/engines} HELM=${HELM-} KUBE
	modules=(kubernetes prometheus-operator)
	[ -n "$HELM" ] || modules+=(helm)
	"$HERE/../cluster/programs/build.sh" "$CLUSTER" "${modules[@]}"
	case $? in
	0) ;;
	3) nothing "Go modules are not available here" ;;
	*) exit 1 ;;
	esac
	"$HERE/../cluster-store/fetch.sh" "$ENGINES"
	case $? in
	0) ;;
	3) nothing "Debian's packages of etcd are not available here" ;;
	*) exit 1 ;;
	esac
	# The types of ServiceMonitor and PrometheusRule.
	export OPERATOR=$CLUSTER/prometheus-operator
	OPERATOR=$(cd "$OPERATOR" && pwd) KUBE=$(cd "$CLUSTER/bin" && pwd) ENGINES=$(cd "$ENGINES" && pwd) HELM=$(realpath "${HELM:-$CLUSTER/bin/helm}")
fi
into_sandbox "$@"
set -- "${ARGS[@]}"
[ $# -ge 1 ] && [ -d "$1" ] || usage
BIN=$(cd "$1" && pwd) || exit 2
shift

W=/run/work
export HOME=$W
# shellcheck source=conformance/harness/cases.sh
. "$HERE/../harness/cases.sh" || exit 2
# shellcheck source=conformance/cluster-store/certificates.sh
. "$HERE/../cluster-store/certificates.sh" || exit 2
THEMES=(render server)
for theme in "${THEMES[@]}"; do
	# shellcheck disable=SC1090
	. "$HERE/$theme.sh" || exit 2
done
no_name_twice "$HERE"/{render,server}.sh "$HERE"/../harness/{cases,suite}.sh

etc_of_ours
# The chart as people get it.
CHART=$("$TOP/tools/chart.sh" "$W/chart") || exit 2
while read -r theme name <&9; do
	chosen "$theme $name ${name%%_*}" "$@" || continue
	n=$((n + 1))
	rm -rf "$W"/{skip,evidence}
	run_case "test_$name"
	verdict "${name//_/ }" "$RC"
done 9< <(cases_of "$HERE" "${THEMES[@]}")
[ ! -e "$W/kube" ] || server_ends
closing "$@"

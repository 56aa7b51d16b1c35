#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BINDIR [CASE...]: the plugins in BINDIR in a Kubernetes cluster: two nodes, thin Multus on n1 and thick on n2.
#
# CASE is the name of a case, with or without its node's flavour, or of a theme, or a pattern: start, start.thin, crash.
# CLUSTER=DIR: the results of fetch.sh and programs/build.sh (BINDIR/../cluster); QUICK=1: only cases with the word quick;
# NO_SKIP=1: a skip is a failure; VERBOSE=1: print the time of each case; KEEP=1: a shell in the cluster before its end;
# PEERS=DIR: the folder with whereabouts (BINDIR/../peers); LONG=SECONDS: the limit of each wait (180);
# PODS=N, SEED=N: only claimkills.sh, with so many pods; BENCH=FILE: measure instead, and write the table there;
# AGAIN=1: repeat a case that exceeded a limit of time, and report it: ../again.sh.
# Prints ok / not ok lines; the last line is "N passed, N failed, N skipped". Exit 0: none failed.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)

usage()
{
	sed -n '3,10s/^# //p' "$0" >&2
	exit 2
}

# Only control groups would survive the sandbox. The process that waits for its end has a session of its own, so a signal
# to the suite does not reach it. It also removes groups of suites that have ended.
leave_no_groups()
{
	local name
	for name in $("$HERE/cgroups.sh" names); do
		kill -0 "${name##*-}" 2>/dev/null || "$HERE/cgroups.sh" remove "$name"
	done
	exec 8> >(trap '' INT TERM HUP && exec setsid bash -c 'cat >/dev/null; "$@"' reaper \
		"$HERE/cgroups.sh" remove "$GROUP" >/dev/null 2>&1)
}

if [ "${1-}" != --inside ]; then
	[ $# -ge 1 ] && [ -d "$1" ] || usage
	dir=$(cd "$1" && pwd) || exit 2
	shift
	export CLUSTER GROUP=railhead-cluster-$$
	CLUSTER=$(realpath -m "${CLUSTER:-$dir/../cluster}")
	for file in tree/.complete bin/{kubelet,kube-apiserver,kube-proxy,multus,multus-daemon,bridge}; do
		[ -e "$CLUSTER/$file" ] || {
			echo "run.sh: $CLUSTER/$file is not there; to make it: make cluster-programs" >&2
			exit 2
		}
	done
	for tool in jq curl openssl ip nsenter pgrep; do
		command -v "$tool" >/dev/null || {
			echo "run.sh: $tool is missing; to install it: tools/deps.sh cluster" >&2
			exit 2
		}
	done
	leave_no_groups
	exec "$HERE/../sandbox.sh" "$HERE/run.sh" --inside "$dir" "$@"
fi
shift
FROM=$1
shift

W=/run/work
TREE=$CLUSTER/tree
THEMES=(networks hostveth addresses failures gpus labels devices resourceclaims claimgroups jobkinds claimfaults slots shared agents daemonset chart kubectl crashes burst guide migrate)
# Nothing is slept for: what is waited for is a condition, and LONG is how long a busy machine may take over it, in seconds.
LONG=${LONG:-180}
PATIENCE=$LONG EVIDENCE_LINES=45
parts=()
for part in ../again ../harness/cases cgroups world node multus pods claims "${THEMES[@]}" firstprocess claimkills; do
	parts+=("$HERE/$part.sh")
	# shellcheck disable=SC1090
	. "$HERE/$part.sh" || exit 2
done
no_name_twice "${parts[@]}"
# The measuring, which is no test.
[ -z "${BENCH-}" ] || THEMES=(firstprocess)
[ -z "${PODS-}" ] || THEMES=(claimkills)

# test_X is run on both nodes, once_X on the first. A comment "# quick: thin" or "# quick: both" before it: part of QUICK=1.
cases()
{
	local theme
	for theme in "${THEMES[@]}"; do
		awk -v theme="$theme" -v quick="${QUICK-}" '
			/^# quick: / { part = $3; next }
			/^test_[a-z0-9_]+\(\)/ { name = substr($1, 6, length($1) - 7)
				if (!quick || part ~ /both|thin/) print theme, name, "thin", "test_" name
				if (!quick || part ~ /both|thick/) print theme, name, "thick", "test_" name }
			/^once_[a-z0-9_]+\(\)/ { name = substr($1, 6, length($1) - 7)
				if (!quick || part) print theme, name, "both", "once_" name }
			!/^#/ { part = "" }' "$HERE/$theme.sh"
	done
}

more_evidence() { [ -n "${SHOWN-}" ] || what_the_cluster_says; }

attempt() # FLAVOUR FUNCTION: RC
{
	local rc
	NAMESPACE=case-$n-$TRY
	NODE=1
	[ "$1" != thick ] || NODE=2
	: >"$W/evidence"
	: >"$W/skip"
	case_begins
	(
		set +e
		"$2"
	) >"$W/case.out" 2>&1
	rc=$?
	[ "$rc" = 77 ] || [ "$rc" = 0 ] || [ -s "$W/evidence" ] || fail "the case ended with status $rc"
	verdict_first=
	[ ! -s "$W/evidence" ] || verdict_first=$(what_the_cluster_says 2>&1)
	case_ends >>"$W/case.out" 2>&1
	[ -z "$verdict_first" ] || printf '%s\n' "$verdict_first" >>"$W/case.out"
	RC=$rc
}

one() # NAME FLAVOUR FUNCTION
{
	local begun=$SECONDS name="${1//_/ } ($2)"
	n=$((n + 1))
	twice "$name" attempt "$2" "$3"
	SHOWN=$verdict_first verdict "$name" "$RC"
	[ -z "${VERBOSE-}" ] || echo "  # $((SECONDS - begun)) s"
}

trap 'exit 143' TERM
begin=$SECONDS
if ! world; then
	# quick.sh tries once more: what is half there goes with the sandbox.
	[ ! -s "$W/evidence" ] || ! why=$(in_vain "$W/evidence") || {
		echo "# repeated: a cluster comes up: $why"
		stop_world
		exit 75
	}
	echo "not ok 1 - a cluster comes up"
	n=1 failed=1
else
	n=1 passed=1
	echo "ok 1 - a cluster comes up (kubelet $("$CLUSTER/bin/kubelet" --version | cut -d' ' -f2)," \
		"containerd $(node 1 containerd --version | cut -d' ' -f3), after $((SECONDS - begin)) s)"
	while read -r theme name flavour function; do
		chosen "$theme $name $name.$flavour" "$@" || continue
		one "$name" "$flavour" "$function" </dev/null
	done < <(cases)
fi
[ -z "${KEEP-}" ] || [ ! -t 0 ] || bash -i
stop_world
[ ! -s "$W/speed" ] || sed 's/^/# /' "$W/speed"
closing

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BINDIR [CASE...]: black-box tests of the plugin programs in BINDIR.
#
# CASE is the name of a case, of a file of cases, or a pattern: macvlan, 'ipam_*', protocol_versions.
# HELPERS=DIR: sniff and ping are there (else they are compiled); PEER_DIR: the reference plugins;
# NO_SKIP=1: a skip is a failure; VERBOSE=1: how long each case took.
# Prints ok / not ok lines; the last line is "N passed, N failed, N skipped". Exit 0: none failed.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage()
{
	sed -n '3,8s/^# //p' "$0" >&2
	exit 2
}

if [ "${1-}" != --inside ]; then
	[ $# -ge 1 ] && [ -d "$1" ] || usage
	dir=$(cd "$1" && pwd) || exit 2
	shift
	exec "$HERE/../sandbox.sh" "$HERE/run.sh" --inside "$dir" "$@"
fi
shift
FROM=$1
shift

W=/run/work
FAKE=$W/fake
PLUGIN=macvlan
BIN=$W/bin
RAILCTL=
PEERS=
IPAM=railhead-ipam
TOP=1.1.0
mkdir -p "$BIN"
# A copy: whoever builds meanwhile does not pull the programs away from under the cases.
for p in macvlan ipvlan sriov rdma railhead-ipam railctl host-local; do
	[ ! -x "$FROM/$p" ] || cp "$FROM/$p" "$BIN" || exit 2
done
[ ! -x "$BIN/railctl" ] || RAILCTL=$BIN/railctl
[ -x "$BIN/railhead-ipam" ] || {
	IPAM=host-local
	PEERS=1
	TOP=1.0.0 # Debian's reference plugins know no later version
}
# shellcheck source=conformance/attach/lib.sh
. "$HERE/lib.sh" || exit 2
[ -z "$PEERS" ] || unset "VERSIONS[6]"
THEMES=(protocol badinput keys macvlan ipvlan delegates ipam import pools sandboxes faults alive routes gc-status-check announce probe hostile)
for theme in "${THEMES[@]}"; do
	# shellcheck disable=SC1090
	. "$HERE/$theme.sh" || exit 2
done

setup()
{
	mkdir -p "$FAKE"
	: >"$W/pods"
	[ -z "${HELPERS-}" ] || HELPERS=$(realpath "$HELPERS")
	if [ -z "${HELPERS-}" ]; then
		HELPERS=$W/helpers
		mkdir -p "$HELPERS"
		for c in sniff ping late always; do
			"${CC:-cc}" -O1 -o "$HELPERS/$c" "$HERE/$c.c" || exit 2
		done
	fi
	# addrgenmode none: no link-local address, so that nothing of the host's own is on the wire.
	ip link add "$MASTER" type veth peer name "$WIRE" &&
		ip link set "$MASTER" addrgenmode none && ip link set "$WIRE" addrgenmode none &&
		ip link set "$MASTER" up && ip link set "$WIRE" up || exit 2
	warm_up
}

# The store, its folders and sysctls that are read late come into being with the first call.
warm_up()
{
	XENV=()
	CARGS= CPATH=$BIN:$PEER_DIR IFN=net1
	pod warm
	conf_ipam "$(dual_ipam)"
	cni ADD
	cni DEL
	ip netns del warm
	: >"$W/pods"
	snapshot >"$W/base"
}

# What a case finds set; it may change all of it.
defaults()
{
	PLUGIN=macvlan
	XENV=()
	CARGS=
	CPATH=$BIN:$PEER_DIR:$FAKE
	IFN=net1
	CID=cid
	NS=/run/netns/none
	unset STDIN LIMIT
	rm -rf "$W/skip" "$W/evidence" "${FAKE:?}"/*
}

all_cases()
{
	local theme
	for theme in "${THEMES[@]}"; do
		grep -o '^test_[A-Za-z0-9_]*' "$HERE/$theme.sh" | sed "s/^test_/$theme /"
	done
}

chosen()
{
	local theme=$1 name=$2 want
	shift 2
	[ $# -gt 0 ] || return 0
	for want; do
		# shellcheck disable=SC2053
		[[ $theme == "$want" || $name == $want || ${name%%_*} == "$want" ]] && return 0
	done
	return 1
}

compare()
{
	pods_clean
	snapshot >"$W/now"
	cmp -s "$W/base" "$W/now" && return
	fail "the host is not as before (< before, > after):"
	diff "$W/base" "$W/now" | grep '^[<>]' | head -12 >>"$W/evidence"
	clean_state
	# What cleaning cannot restore becomes the new base: each fault is reported once.
	warm_up
}

one_case()
{
	local name=$1 rc
	defaults
	("test_$name") >"$W/case.out" 2>&1 </dev/null
	rc=$?
	compare
	if [ "$rc" = 77 ] && [ ! -s "$W/evidence" ] && [ -z "${NO_SKIP-}" ]; then
		echo "ok $n - ${name//_/ } # SKIP $(<"$W/skip")"
		skipped=$((skipped + 1))
	elif [ -s "$W/evidence" ] || [ "$rc" = 77 ]; then
		echo "not ok $n - ${name//_/ }"
		cat "$W/skip" "$W/evidence" "$W/case.out" 2>/dev/null | head -25 | cut -c1-1200 | sed 's/^/  # /'
		failed=$((failed + 1))
	else
		echo "ok $n - ${name//_/ }"
		passed=$((passed + 1))
	fi
}

n=0 passed=0 failed=0 skipped=0
setup
while read -r theme name <&9; do
	chosen "$theme" "$name" "$@" || continue
	n=$((n + 1))
	start=${EPOCHREALTIME/./}
	one_case "$name"
	[ -z "${VERBOSE-}" ] || echo "  # $(((${EPOCHREALTIME/./} - start) / 1000)) ms"
done 9< <(all_cases)
[ "$n" -gt 0 ] || {
	echo "no case matches: $*" >&2
	exit 2
}
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BINDIR [CASE...]: black-box tests of the plugin programs in BINDIR.
#
# CASE is the name of a case, of a file of cases, or a pattern: macvlan, 'ipam_*', protocol_versions.
# HELPERS=DIR: sniff, traffic, ping and snapshot are there (else they are compiled); PEER_DIR: the reference plugins;
# NO_SKIP=1: a skip is a failure; VERBOSE=1: how long each case took; LIMIT (60): seconds of a call; EVERY=N: one of N cases;
# AGAIN=1: repeat a case that exceeded a limit of time, and report it: ../again.sh.
# Prints ok / not ok lines; the last line is "N passed, N failed, N skipped". Exit 0: none failed.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# shellcheck source=conformance/harness/suite.sh
. "$HERE/../harness/suite.sh"
into_sandbox "$@"
set -- "${ARGS[@]}"
[ $# -ge 1 ] && [ -d "$1" ] || usage
FROM=$(cd "$1" && pwd) || exit 2
shift

W=/run/work
LIMIT=${LIMIT:-60}
FAKE=$W/fake
PLUGIN=macvlan
BIN=$W/bin
RAILCTL=
PEERS=
IPAM=railhead-ipam
TOP=1.1.0
mkdir -p "$BIN"
# A copy: whoever builds meanwhile does not pull the programs away from under the cases.
for p in macvlan ipvlan rails sriov rdma railhead-ipam railhead railhead-hook railctl host-local; do
	[ ! -x "$FROM/$p" ] || cp "$FROM/$p" "$BIN" || exit 2
done
[ ! -x "$BIN/railctl" ] || RAILCTL=$BIN/railctl
[ -x "$BIN/railhead-ipam" ] || {
	IPAM=host-local
	PEERS=1
	TOP=1.0.0 # Debian's reference plugins know no later version
}
# shellcheck source=conformance/harness/cases.sh
. "$HERE/../harness/cases.sh" || exit 2
# shellcheck source=conformance/again.sh
. "$HERE/../again.sh" || exit 2
# shellcheck source=conformance/attach/lib.sh
. "$HERE/lib.sh" || exit 2
[ -z "$PEERS" ] || unset "VERSIONS[6]"
THEMES=(protocol badinput keys macvlan ipvlan delegates ipam own import pools slices sandboxes faults alive routes rails allrails claims hostveth directions masters ondemand inuse tuning gc-status-check announce probe near hostile)
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
		for c in sniff traffic ping tcp late always snapshot; do
			"${CC:-cc}" -D_GNU_SOURCE -I"$HERE/../.." -O1 -o "$HELPERS/$c" "$HERE/$c.c" "$HERE"/../harness/*.c || exit 2
		done
	fi
	# addrgenmode none: no link-local address, so that nothing of the host's own is on the wire.
	ip link add "$MASTER" type veth peer name "$WIRE" &&
		ip link set "$MASTER" addrgenmode none && ip link set "$WIRE" addrgenmode none &&
		ip link set "$MASTER" up && ip link set "$WIRE" up || exit 2
	etc_of_ours
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

# Variables that a case finds set; it may change all of them.
defaults()
{
	PLUGIN=macvlan
	XENV=()
	CARGS=
	CPATH=$BIN:$PEER_DIR:$FAKE
	IFN=net1
	CID=cid
	NS=/run/netns/none
	unset STDIN
	rm -rf "$W/skip" "$W/evidence" "${FAKE:?}"/*
}

as_before()
{
	snapshot >"$W/now"
	"$HELPERS/snapshot" --diff "$W/base" "$W/now" >"$W/difference"
}

# The kernel ends a namespace some time after its last user has gone. Until then its macvlan counts in the master's
# promiscuity.
compare()
{
	pods_clean
	eventually as_before
	[ -s "$W/difference" ] || return 0
	fail "the host is not as before:"
	cat "$W/difference" >>"$W/evidence"
	clean_state
	# What cleaning cannot restore becomes the new base: each fault is reported once.
	warm_up
}

attempt() # NAME: RC
{
	defaults
	run_case "test_$1"
	compare
}

one_case() # NAME
{
	twice "${1//_/ }" attempt "$1"
	verdict "${1//_/ }" "$RC"
}

setup
seen=0
while read -r theme name <&9; do
	chosen "$theme $name ${name%%_*}" "$@" && [ $((seen++ % ${EVERY:-1})) = 0 ] || continue
	n=$((n + 1))
	start=${EPOCHREALTIME/./}
	one_case "$name"
	[ -z "${VERBOSE-}" ] || echo "  # $(((${EPOCHREALTIME/./} - start) / 1000)) ms"
done 9< <(cases_of "$HERE" "${THEMES[@]}")
closing "$@"

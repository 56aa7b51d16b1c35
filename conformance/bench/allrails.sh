#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# allrails.sh [--quick] [--markdown] BINDIR: what eight rails in one ADD cost, beside one interface and beside eight calls.
#
# Whole processes, in namespaces of their own. One macvlan, eight of them by the plugin rails, and one of the reference plugin
# take turns. Eight calls are eight times the median of one, because a runtime makes them one after the other. --quick: test the
# bench itself; its times mean nothing. --markdown: the table of docs/performance.md. TABLES=FILE: all tables.
# PEER_DIR: the reference plugins (default /usr/lib/cni). HELPERS=DIR: measure, else compiled.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# shellcheck source=conformance/bench/lib.sh
. "$HERE/lib.sh"
OWN=--inside
options "$@"
set -- "${ARGS[@]}"
[ $# = 1 ] && [ -d "$1" ] && [ -z "$KEEP" ] || usage
BIN=$(cd "$1" && pwd)
name_peer
has_own --inside || exec "$HERE/../sandbox.sh" "$HERE/allrails.sh" --inside ${QUICK:+--quick} ${MARKDOWN:+--markdown} "$BIN"
# A pause before each call: what the call before left to the kernel is not measured with it.
export MEASURE_PAUSE=60
PEER=${PEER_DIR:-/usr/lib/cni}
W=/run/work
ROWS=$W/rows RAW=$W/raw
RAILS=8
ROUNDS=150
[ -z "$QUICK" ] || ROUNDS=3
: >"$ROWS"
: >"$RAW"

place()
{
	local i
	mkdir -p "$W"/{bin,conf,etc}
	# A copy: whoever builds meanwhile does not pull the programs away.
	cp "$BIN"/{macvlan,rails,railhead-ipam,railctl} "$W/bin" || broken "no programs in $BIN"
	BIN=$W/bin
	cp -a /etc/. "$W/etc" && mkdir -p "$W/etc/railhead" && mount --bind "$W/etc" /etc || broken 'no /etc of its own'
	jq -n --argjson n $RAILS '{rails: [range($n) | {rail: ., interface: "rail\(.)"}]}' >/etc/railhead/rails.json
	ip netns add host1 && ip -n host1 link set lo up
	for i in one eight peer; do ip netns add "$i"; done
	for ((i = 0; i < RAILS; i++)); do
		ip -n host1 link add "rail$i" type veth peer name "wire$i"
		ip -n host1 link set "rail$i" up
		ip -n host1 link set "wire$i" up
		"$BIN/railctl" ipam pool add "rail$i" --subnet "10.$((64 + i)).0.0/16" --gateway "10.$((64 + i)).0.1" --this-node-only >/dev/null || broken 'no pool'
	done
	jq -n '{cniVersion:"1.0.0",name:"one",type:"macvlan",master:"rail0",ipam:{type:"railhead-ipam",pool:"rail0"}}' >"$W/conf/one"
	jq -n '{cniVersion:"1.0.0",name:"eight",type:"rails",kind:"macvlan",ipam:{type:"railhead-ipam",pool:"rail{n}"}}' >"$W/conf/eight"
	jq '.name="routed" | .routing="rail"' "$W/conf/eight" >"$W/conf/routed"
	jq -n '{cniVersion:"1.0.0",name:"peer",type:"macvlan",master:"rail0",ipam:{type:"host-local",dataDir:"/var/lib/peer",
		ranges:[[{subnet:"10.32.0.0/16"}]]}}' >"$W/conf/peer"
	if [ -z "${HELPERS-}" ]; then
		HELPERS=$W/helpers
		mkdir -p "$HELPERS"
		"${CC:-cc}" -D_GNU_SOURCE -I"$HERE/../.." -O2 -static -o "$HELPERS/measure" "$HERE/measure.c" "$HERE"/../harness/*.c || exit 2
	fi
	HELPERS=$(realpath "$HELPERS")
}

times() { awk -v n=$RAILS -v x="$1" 'BEGIN { print n * x }'; }

started=$SECONDS
place
subjects=("one,$BIN/macvlan,$W/conf/one,/run/netns/one,/run/netns/host1"
	"eight,$BIN/rails,$W/conf/eight,/run/netns/eight,/run/netns/host1"
	"routed,$BIN/rails,$W/conf/routed,/run/netns/eight,/run/netns/host1")
[ ! -x "$PEER/macvlan" ] || subjects+=("peer,$PEER/macvlan,$W/conf/peer,/run/netns/peer,/run/netns/host1")
say "one interface, eight rails in one ADD, and the reference"
CNI_PATH=$BIN:$PEER "$HELPERS/measure" time $ROUNDS 3 "${subjects[@]}" >>"$RAW" || broken 'the measurement failed'
for v in ADD DEL; do
	row "$v of $RAILS rails, wall, against one interface" "<= 3" 3 "$(median eight $v wall)" "$(median one $v wall)" ms
	row "$v of $RAILS rails, wall, against our $RAILS calls" "<= 1/2" 0.5 "$(median eight $v wall)" "$(times "$(median one $v wall)")" ms
	[ ! -x "$PEER/macvlan" ] ||
		row "$v of $RAILS rails, wall, against $RAILS calls of the reference" "<= 1/4" 0.25 "$(median eight $v wall)" "$(times "$(median peer $v wall)")" ms
done
row "ADD of $RAILS rails with \"routing\", wall, against without" "<= 1.5" 1.5 "$(median routed ADD wall)" "$(median eight ADD wall)" ms
bench_end
say "took $((SECONDS - started)) s"
[ -z "${bad-}" ]

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# rails.sh [--quick] [--markdown] [--raw DIR] BINDIR: what "routing": "rail" costs an ADD and a DEL. Medians.
#
# macvlan takes turns with and without the routing. The pod with the routing has another such rail already. Beside it are the bare program
# and the reference macvlan, with sbr behind it and without. A shell starts these two. The IPAMs are railhead-ipam and host-local.
# --quick: is the bench itself sound; its times mean nothing. --raw DIR: keep the figures there. --markdown: the table of
# docs/performance.md. TABLES=FILE: all tables. PEER_DIR: the reference plugins (/usr/lib/cni). HELPERS: measure and floor.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=conformance/bench/lib.sh
. "$HERE/lib.sh"
OWN=--inside
options "$@"
set -- "${ARGS[@]}"
[ $# = 1 ] && [ -x "$1/macvlan" ] || usage
BIN=$(realpath "$1")
name_peer
has_own --inside || exec "$HERE/../sandbox.sh" "$HERE/rails.sh" --inside ${QUICK:+--quick} ${MARKDOWN:+--markdown} ${KEEP:+--raw "$KEEP"} "$BIN"
HELPERS=$(realpath "${HELPERS:-$BIN/../conformance/bench}")
PEER=${PEER_DIR:-/usr/lib/cni}
[ -x "$PEER/sbr" ] && [ -x "$PEER/host-local" ] || broken "sbr or host-local is not in $PEER"
W=/run/work ROWS=/run/work/rows RAW=/run/work/raw
: >"$ROWS"
: >"$RAW"
rounds=${QUICK:+3}
rounds=${rounds:-100}
export MEASURE_PAUSE=60 CNI_PATH=$BIN:$PEER

ip netns add host && ip -n host link set lo up && ip -n host link add mst0 type veth peer name wire0 &&
	ip -n host link set mst0 up && ip -n host link set wire0 up || broken "the host"
for pod in on off sbr ref floor; do ip netns add $pod || broken "pod $pod"; done

V4='[{"subnet":"10.64.0.0/16"}]'
V6='[{"subnet":"fd64::/64"}]'
# conf NAME RANGES [KEYS [IPAM]]
conf()
{
	printf '{"cniVersion":"1.0.0","name":"rail0","type":"macvlan","master":"mst0","mode":"bridge",%s"ipam":{"type":"%s","ranges":[%s]}}' \
		"${3-}" "${4-railhead-ipam}" "$2" >"$W/$1"
}
# The chain as a runtime has it: the result of macvlan is prevResult of sbr, and DEL goes the other way.
cat >"$W/chain" <<'EOS'
#!/bin/sh
conf=$(cat)
if [ "$CNI_COMMAND" = ADD ]; then
	result=$(printf %s "$conf" | "$PEER/macvlan") || { printf %s "$result"; exit 1; }
	[ -z "$SBR" ] || result=$(printf '{"cniVersion":"1.0.0","name":"rail0","type":"sbr","prevResult":%s}' "$result" | "$PEER/sbr")
	status=$?
	printf %s "$result"
	exit $status
fi
[ -z "$SBR" ] || printf '{"cniVersion":"1.0.0","name":"rail0","type":"sbr"}' | "$PEER/sbr" || exit
printf %s "$conf" | "$PEER/macvlan"
EOS
sed 's/\$SBR/1/g' "$W/chain" >"$W/chain-sbr"
sed 's/\$SBR//g' "$W/chain" >"$W/chain-ref"
chmod +x "$W"/chain-*
export PEER

subject() { echo "$1,$2,$W/$3,/run/netns/$4,/run/netns/host"; }
measure_family() # SUFFIX ADDRESSES
{
	local suffix=$1
	conf "on$suffix" "$2" '"routing":"rail",'
	conf "off$suffix" "$2"
	"$HELPERS/measure" time "$rounds" 3 "$(subject "on$suffix" "$BIN/macvlan" "on$suffix" on)" "$(subject "off$suffix" "$BIN/macvlan" "off$suffix" off)" \
		"${@:3}" >>"$RAW" || broken "the measurement failed"
}
# Another rail, as the first of two.
conf first '[{"subnet":"10.65.0.0/16"}]' '"routing":"rail",'
ip netns exec host env CNI_COMMAND=ADD CNI_CONTAINERID=first CNI_NETNS=/run/netns/on CNI_IFNAME=net0 "$BIN/macvlan" <"$W/first" >"$W/out" ||
	broken "the first rail: $(<"$W/out")"
conf ref "$V4" '' host-local
export FLOOR_MASTER=mst0 FLOOR_V4=10.64.0.9/16
say "IPv4, beside the bare program and the reference"
measure_family '' "$V4" "$(subject floor "$HELPERS/floor" ref floor)" \
	"$(subject sbr "$W/chain-sbr" ref sbr)" "$(subject ref "$W/chain-ref" ref ref)"
say "both families"
measure_family -dual "$V4,$V6"

for verb in ADD DEL; do
	row "$verb, wall, routing on against off" "<= 1.25" 1.25 "$(median on $verb wall)" "$(median off $verb wall)" ms
	row "$verb, CPU, routing on against off" "<= 1.25" 1.25 "$(median on $verb cpu)" "$(median off $verb cpu)" ms
	row "$verb, wall, both families, routing on against off" "<= 1.25" 1.25 "$(median on-dual $verb wall)" "$(median off-dual $verb wall)" ms
done
fact "ADD, wall, the bare program without routing" "" "$(ms "$(median floor ADD wall)") ms" ""
row "ADD, wall, routing on, against the reference with sbr" "<= 1/4" 0.25 "$(median on ADD wall)" "$(median sbr ADD wall)" ms
fact "the reference: ADD with sbr against without" "" "$(ms "$(median sbr ADD wall)") ms / $(ms "$(median ref ADD wall)") ms = $(ratio \
	"$(median sbr ADD wall)" "$(median ref ADD wall)")" ""
say "load of the machine: $(cut -d' ' -f1-3 /proc/loadavg)"
bench_end

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [--quick] [--markdown] BINDIR: what the plugins cost, beside the reference plugins in the same run.
#
# It measures whole processes, in namespaces of their own. A and B take turns, so that the load of the machine affects
# both. It prints medians with the 10th and 90th percentile. --quick: test the bench itself, and the rows that must
# be zero. Its times mean nothing. --markdown: the table of docs/performance.md. TABLES=FILE: all tables.
# PEER_DIR: the reference plugins (default /usr/lib/cni). A newer version is fetched and measured beside them. HELPERS=DIR:
# measure and floor, else compiled.
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
# A pause before each call: what the call before left to the kernel is not measured with it.
export MEASURE_PAUSE=60
TREE=$(cd "$HERE/../.." && pwd)
if ! has_own --inside && [ -z "$QUICK" ]; then
	"$TREE/conformance/vm/fetch.sh" "$TREE/build/vm" plugins >&2 || say "no newer reference: it could not be fetched"
fi
NEWER=$TREE/build/vm/plugins
[ -z "$QUICK" ] && [ -x "$NEWER/macvlan" ] || NEWER=''
has_own --inside || exec "$HERE/../sandbox.sh" "$HERE/run.sh" --inside ${QUICK:+--quick} ${MARKDOWN:+--markdown} "$BIN"

PEER=${PEER_DIR:-/usr/lib/cni}
W=/run/work
ROWS=$W/rows RAW=$W/raw
: >"$ROWS"
: >"$RAW"

# pick QUICK FULL: how many.
pick() { [ -n "$QUICK" ] && echo "$1" || echo "$2"; }
ROUNDS=$(pick 3 150)
PEER_ROUNDS=$(pick 2 30)
FEW=$(pick 1 5)
PODS=$(pick 32 200)
MANY=$(pick 300 10000)
MOST=$(pick 600 60000)
LINKS=$(pick 50 1000)
PARALLEL=16

have_peer() { [ -x "$PEER/macvlan" ] && [ -x "$PEER/host-local" ]; }

# --- the place ---------------------------------------------------------------------------------

helpers()
{
	if [ -z "${HELPERS-}" ]; then
		HELPERS=$W/helpers
		mkdir -p "$HELPERS"
		for c in measure floor nothing; do
			"${CC:-cc}" -D_GNU_SOURCE -I"$HERE/../.." -O2 -static -o "$HELPERS/$c" "$HERE/$c.c" "$HERE"/../harness/*.c || exit 2
		done
	fi
	HELPERS=$(realpath "$HELPERS")
}

# Two hosts with one link each, the second one to become crowded; a pod for each contender.
place()
{
	local h
	for h in host1 host2; do
		ip netns add $h || exit 2
		ip -n $h link set lo up
		ip -n $h link add mst0 type veth peer name wire0
		ip -n $h link set mst0 up
		ip -n $h link set wire0 up
	done
	for h in $(seq 0 $((PODS - 1))); do echo "netns add pod$h"; done | ip -batch - || exit 2
	mkdir -p "$W/conf"
}

# conf NAME PLUGIN IPAM-JSON: a configuration file.
conf()
{
	printf '{"cniVersion":"1.0.0","name":"%s","type":"macvlan","master":"mst0","mode":"bridge","ipam":%s}' \
		"$2" "$3" >"$W/conf/$1"
}
V4='"ranges":[[{"subnet":"10.64.0.0/10"}]],"routes":[{"dst":"0.0.0.0/0"}]'
DUAL='"ranges":[[{"subnet":"10.64.0.0/10"}],[{"subnet":"fd00:64::/64"}]],"routes":[{"dst":"0.0.0.0/0"},{"dst":"::/0"}]'
# The default store: of one that a configuration chose, the whole file is checked at each call.
ours_ipam() { printf '{"type":"railhead-ipam",%s}' "$1"; }
peer_ipam() { printf '{"type":"host-local","dataDir":"/var/lib/%s",%s}' "$1" "$2"; }

configurations()
{
	local n
	printf '{"cniVersion":"1.0.0","name":"l2","type":"macvlan","master":"mst0"}' >"$W/conf/l2"
	conf ours plain "$(ours_ipam "$V4")"
	conf ours-dual dual "$(ours_ipam "$DUAL")"
	conf leases leases "$(ours_ipam "$V4")"
	conf peer plain "$(peer_ipam peer "$V4")"
	conf peer-dual dual "$(peer_ipam peer-dual "$DUAL")"
	conf peer-newer plain "$(peer_ipam peer-newer "$V4")"
	for n in 10 "$MANY" "$MOST"; do
		conf "peer-$n" "leases" "$(peer_ipam "peer-leases" "$V4")"
	done
}

# ours LABEL CONF POD [HOST], peer ..., floor ...: subjects for measure.
ours() { echo "$1,$BIN/macvlan,$W/conf/$2,/run/netns/$3,/run/netns/${4-host1}"; }
peer() { echo "$1,$PEER/macvlan,$W/conf/$2,/run/netns/$3,/run/netns/${4-host1}"; }
newer() { echo "$1,$NEWER/macvlan,$W/conf/$2,/run/netns/$3,/run/netns/host1"; }
floor() { echo "$1,$HELPERS/floor,/dev/null,/run/netns/$2,/run/netns/host1"; }

# measure: STORE: that of with_store.
measure()
{
	# shellcheck disable=SC2086 # words
	CNI_PATH=$BIN:$PEER FLOOR_MASTER=mst0 FLOOR_V4=10.64.0.9/10 FLOOR_GW4=10.64.0.1 \
		${STORE:+with_store $STORE} "$HELPERS/measure" "$@" >>"$RAW" || broken "the measurement failed: measure $*"
}

# with_store NAME COMMAND...: with a store of its own in the default place.
with_store()
{
	mkdir -p "$W/store/$1" /var/lib/railhead
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount sh -c 'mount --bind "$0" /var/lib/railhead && exec "$@"' "$W/store/$1" "${@:2}"
}
# fill_ours N: a store of its own with N leases, each taken by an ADD of the IPAM.
fill_ours()
{
	CNI_PATH=$BIN MEASURE_PAUSE=0 with_store "$1" "$HELPERS/measure" fill "$1" 4 "fill,$BIN/railhead-ipam,$W/conf/leases,/run/netns/none" ||
		broken "could not fill a store with $1 leases"
}
# fill_peer FROM TO: host-local's leases are files with a known text.
fill_peer()
{
	local dir=/var/lib/peer-leases/leases
	mkdir -p "$dir"
	awk -v from="$1" -v to="$2" -v dir="$dir" 'BEGIN {
		for (i = from + 1; i <= to; i++) {
			f = sprintf("%s/10.%d.%d.%d", dir, 64 + int(i / 65536), int(i / 256) % 256, i % 256)
			printf "fill-%d\r\nnet1", i >f
			close(f)
		}
	}'
	awk -v i="$2" 'BEGIN { printf "10.%d.%d.%d", 64 + int(i / 65536), int(i / 256) % 256, i % 256 }' \
		>"$dir/last_reserved_ip.0"
}

# --- the rows ----------------------------------------------------------------------------------

beside_reference()
{
	say "macvlan with IPAM beside the reference and the bare program"
	if have_peer; then
		local s=("$(ours ours ours pod0)" "$(peer peer peer pod1)" "$(floor floor pod2)")
		# CNI_PATH leads to the installed host-local, which both versions run
		[ -z "$NEWER" ] || s+=("$(newer newer peer-newer pod3)")
		measure time "$ROUNDS" 3 "${s[@]}"
		measure memory "$(pick 2 11)" "$(ours ours ours pod0)" "$(peer peer peer pod1)"
		row "ADD, wall, against the reference" "<= 1/4" 0.25 "$(median ours ADD wall)" "$(median peer ADD wall)" ms
		row "ADD, CPU, against the reference" "<= 1/6" 0.16667 "$(median ours ADD cpu)" "$(median peer ADD cpu)" ms
		if [ -n "$NEWER" ]; then
			row "ADD, wall, against reference $(<"$NEWER/version")" "<= 1/4" 0.25 "$(median ours ADD wall)" "$(median newer ADD wall)" ms
			row "ADD, CPU, against reference $(<"$NEWER/version")" "<= 1/4" 0.25 "$(median ours ADD cpu)" "$(median newer ADD cpu)" ms
		fi
		row "ADD, peak memory of the largest process" "<= 1/3" 0.33334 \
			"$(median ours ADD largest)" "$(median peer ADD largest)" KiB
		row "DEL, CPU, against the reference" "<= 1/6" 0.16667 "$(median ours DEL cpu)" "$(median peer DEL cpu)" ms
		row "DEL, peak memory of the largest process" "<= 1/3" 0.33334 \
			"$(median ours DEL largest)" "$(median peer DEL largest)" KiB
		row "DEL, wall, against the reference" "<= 1.0" 1.0 "$(median ours DEL wall)" "$(median peer DEL wall)" ms
	else
		fact "ADD and DEL against the reference" "" "the reference plugins are not in $PEER" skipped
		measure time "$ROUNDS" 3 "$(ours ours ours pod0)" "$(floor floor pod2)"
	fi
	row "ADD, wall, against the bare program" "<= 1.5" 1.5 "$(median ours ADD wall)" "$(median floor ADD wall)" ms
	row "DEL, wall, against the bare program" "<= 1.5" 1.5 "$(median ours DEL wall)" "$(median floor DEL wall)" ms
	parts
}

# Where the time goes: the plugin without an IPAM, the IPAM without a plugin, a process that does nothing.
parts()
{
	local s=("$(ours ours-l2 l2 pod0)" "ours-ipam,$BIN/railhead-ipam,$W/conf/ours,/run/netns/pod0"
		"nothing,$HELPERS/nothing,/dev/null,/run/netns/pod0")
	! have_peer || s+=("$(peer peer-l2 l2 pod1)" "peer-ipam,$PEER/host-local,$W/conf/peer,/run/netns/pod1")
	measure time "$PEER_ROUNDS" 2 "${s[@]}"
}

many_leases()
{
	local n v
	say "with 10, $MANY and $MOST leases (filling the stores first)"
	for n in 10 "$MANY" "$MOST"; do fill_ours "$n"; done
	n=$(with_store 10 "$BIN/railctl" ipam lease list --json | grep -c '"address"')
	[ "$n" = 10 ] || broken "10 leases were taken, but railctl lists $n"
	for n in 10 "$MANY" "$MOST"; do STORE=$n measure time "$ROUNDS" 3 "$(ours "ours-$n" leases pod0)"; done
	for n in "$MANY" "$MOST"; do
		for v in ADD DEL; do
			row "$v, wall, $n leases against 10" "<= 1.2" 1.2 "$(median "ours-$n" $v wall)" "$(median ours-10 $v wall)" ms
			fact "... its CPU time" "" "$(ms "$(median "ours-$n" $v cpu)") ms / $(ms "$(median ours-10 $v cpu)") ms" ""
		done
	done
	have_peer || return
	fill_peer 0 10
	measure time "$PEER_ROUNDS" 1 "$(peer peer-10 peer-10 pod3)"
	fill_peer 10 "$MANY"
	measure time "$FEW" 1 "$(peer "peer-$MANY" "peer-$MANY" pod3)"
	fill_peer "$MANY" "$MOST"
	measure time "$(pick 1 3)" 0 "$(peer "peer-$MOST" "peer-$MOST" pod3)"
	for n in "$MANY" "$MOST"; do
		fact "the reference: ADD with $n leases against 10" "" "$(ms "$(median "peer-$n" ADD wall)") ms / $(ms \
			"$(median peer-10 ADD wall)") ms = $(ratio "$(median "peer-$n" ADD wall)" "$(median peer-10 ADD wall)")" ""
	done
}

many_links()
{
	local v i
	say "with $LINKS links on the host"
	for ((i = 0; i < LINKS / 2; i++)); do echo "link add a$i type veth peer name b$i"; done |
		ip -n host2 -batch - || broken "could not make $LINKS links"
	measure time "$ROUNDS" 3 "$(ours ours-1-link ours pod0)" "$(ours "ours-links" ours pod1 host2)"
	for v in ADD DEL; do
		row "$v, wall, $LINKS links on the host against 1" "<= 1.2" 1.2 \
			"$(median ours-links $v wall)" "$(median ours-1-link $v wall)" ms
	done
	have_peer || return
	measure time "$PEER_ROUNDS" 1 "$(peer peer-1-link peer pod2)" "$(peer peer-links peer pod3 host2)"
	fact "the reference: ADD with $LINKS links against 1" "" "$(ms "$(median peer-links ADD wall)") ms / $(ms \
		"$(median peer-1-link ADD wall)") ms = $(ratio "$(median peer-links ADD wall)" "$(median peer-1-link ADD wall)")" ""
}

dual_stack()
{
	say "dual stack"
	measure time "$ROUNDS" 3 "$(ours ours-v4 ours pod0)" "$(ours ours-dual ours-dual pod1)"
	row "ADD, wall, dual stack against IPv4" "<= 1.3" 1.3 "$(median ours-dual ADD wall)" "$(median ours-v4 ADD wall)" ms
	have_peer || return
	measure time "$FEW" 0 "$(peer peer-v4 peer pod2)" "$(peer peer-dual peer-dual pod3)"
	fact "the reference: dual stack against IPv4" "" "$(ms "$(median peer-dual ADD wall)") ms / $(ms \
		"$(median peer-v4 ADD wall)") ms = $(ratio "$(median peer-dual ADD wall)" "$(median peer-v4 ADD wall)")" ""
}

# leases: how many the default store holds.
leases() { "$BIN/railctl" ipam lease list --json | grep -c '"address"'; }
# pod_links: interfaces left in pods.
pod_links()
{
	local h n=0
	for ((h = 0; h < PODS; h++)); do
		n=$((n + $(ip -n "pod$h" -o link | grep -c -v ' lo: ')))
	done
	echo $n
}
crowd_of()
{
	awk -v l="$1" -v w="$2" '$1 == l && $2 == "crowd" { for (i = 3; i < NF; i++) if ($i == w) x = $(i + 1) }
		END { print x }' "$RAW"
}

crowd()
{
	local t links leases records
	say "$PODS pods, $PARALLEL at a time"
	conf crowd crowd "$(ours_ipam "$DUAL")"
	conf peer-crowd crowd "$(peer_ipam peer-crowd "$V4")"
	measure crowd "$PODS" $PARALLEL "$(ours ours crowd pod%d)"
	links=$(pod_links)
	leases=$(leases)
	records=$(find /run/railhead ! -type d ! -name lock 2>/dev/null | wc -l)
	zero "duplicates" "$(crowd_of ours duplicates)"
	zero "leaks (interfaces, leases, records)" "$((links + leases + records))"
	zero "failures" "$(crowd_of ours failures)"
	t=$(crowd_of ours milliseconds)
	fact "ADD of $PODS pods (dual stack), $PARALLEL at a time" "" "$(awk -v n="$PODS" -v t="$t" 'BEGIN { printf "%.0f", n * 1000 / t }') pods/s" ""
	have_peer || return
	measure crowd "$PODS" $PARALLEL "$(peer peer peer-crowd pod%d)"
	t=$(crowd_of peer milliseconds)
	fact "the reference (IPv4 only)" "" "$(awk -v n="$PODS" -v t="$t" 'BEGIN { printf "%.0f", n * 1000 / t }') pods/s, $(crowd_of \
		peer duplicates) duplicates, $(crowd_of peer failures) failures, $(pod_links) interfaces left" ""
}
zero()
{
	fact "$PODS pods, $PARALLEL at a time: $1" 0 "$2" "$([ "$2" = 0 ] && echo met || echo missed)"
	[ "$2" = 0 ] || bad=1
}

[ -x "$BIN/macvlan" ] && [ -x "$BIN/railhead-ipam" ] && [ -x "$BIN/railctl" ] || broken "no programs in $BIN"
# A copy: whoever builds meanwhile does not pull the programs away.
mkdir -p "$W/bin"
cp "$BIN"/{macvlan,railhead-ipam,railctl} "$W/bin" || exit 2
BIN=$W/bin
bad=
started=$SECONDS
helpers
place
configurations
beside_reference
dual_stack
many_leases
many_links
crowd
report
say "took $((SECONDS - started)) s"
if [ -n "$QUICK" ]; then
	met=$(grep -c '^.* pods, .*|0|0|met$' "$ROWS")
	echo "$met passed, $((3 - met)) failed, 0 skipped"
fi
[ -z "$bad" ]

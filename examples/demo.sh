#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh BINDIR: what railhead does, shown on two pods with two rails each, in about ten seconds.
#
# Everything happens in namespaces of its own: an invented host with two network cards and two pods. Nothing
# of this machine is touched, and nothing is left, also when you interrupt it. Needs root and ip(8), ping(8).
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if [ "${1-}" != --inside ]; then
	[ $# = 1 ] && [ -x "$1/macvlan" ] || {
		echo "usage: demo.sh BINDIR (where the programs are: build/bin)" >&2
		exit 2
	}
	exec "$HERE/../conformance/sandbox.sh" "$HERE/demo.sh" --inside "$(cd "$1" && pwd)"
fi
BIN=$2
PEER=${PEER_DIR:-/usr/lib/cni}
W=/run/work
ROUNDS=15

BOLD='' FAINT='' GOOD='' BAD='' END=''
if [ -t 1 ] && [ -z "${NO_COLOR-}" ] && [ "${TERM-dumb}" != dumb ]; then
	BOLD=$'\e[1m' FAINT=$'\e[2m' GOOD=$'\e[32m' BAD=$'\e[31m' END=$'\e[0m'
fi
step=0
failed=0

title()
{
	step=$((step + 1))
	printf '\n%s%d. %s%s\n' "$BOLD" "$step" "$1" "$END"
}
tell() { printf '   %s\n' "$@"; }
shown() { sed "s/^/     /"; }
# typed COMMAND: what one would type, in grey.
typed() { printf '   %s$ %s%s\n' "$FAINT" "$*" "$END"; }
good() { printf '   %sok%s  %s\n' "$GOOD" "$END" "$*"; }
bad()
{
	printf '   %sfailed%s  %s\n' "$BAD" "$END" "$*"
	failed=1
}

# plugin PROGRAM VERB POD CONF: one CNI call, just as a container runtime makes it.
plugin()
{
	CNI_COMMAND=$2 CNI_CONTAINERID=id-of-$3 CNI_NETNS=/run/netns/$3 CNI_IFNAME=net1 CNI_PATH=$BIN:$PEER \
		CNI_ARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=demo;K8S_POD_NAME=$3" "$1" <"$4"
}

# The state of the host; compared before and after.
state_of_host()
{
	ip -o link | sed 's/^[0-9]*: //'
	ip -o addr | awk '{print $2, $4}'
	ip route show table all | sort
	ip -6 route show table all | sort
	ip netns list
	find /run/railhead ! -type d ! -name lock 2>/dev/null
	"$BIN/railctl" ipam lease list --json 2>/dev/null | grep '"address"'
}

# awaits COMMAND: until it succeeds, 30 seconds at most.
awaits()
{
	local end=$((SECONDS + 30))
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.02
	done
}
# The kernel sees a carrier, and makes the routes that depend on it, some time after a card is up.
has_carrier()
{
	[[ $(ip -o link show dev "$1") == *' state UP '* ]] &&
		{ [ ! -d "/proc/sys/net/ipv6/conf/$1" ] || [ -n "$(ip -6 route show table all dev "$1")" ]; }
}
is_as_before()
{
	state_of_host >"$W/after"
	cmp -s "$W/before" "$W/after"
}

# card NAME CABLE: a network card, and what it is connected to.
card()
{
	ip link add "$1" type veth peer name "$2" && ip link set "$1" addrgenmode none &&
		ip link set "$2" addrgenmode none && ip link set "$1" up && ip link set "$2" up &&
		awaits has_carrier "$1" && awaits has_carrier "$2"
}
host()
{
	# A copy of /etc, so that the host of the demo has its own /etc/railhead.
	cp -a /etc "$W/etc" && rm -rf "$W/etc/railhead" && mkdir "$W/etc/railhead" && mount --bind "$W/etc" /etc &&
		card eth0 cable && card eth1 cable1 || exit 1
	state_of_host >"$W/before"
}

# does COMMAND...: one command, and what one would type.
does()
{
	"$BIN/$1" "${@:2}" >"$W/out" 2>&1 || bad "$(cat "$W/out")"
	typed "$@"
}

configure()
{
	local n
	title "An invented host with two network cards, a pool of addresses for each rail and family"
	tell "The cards are eth0 and eth1, on a rail each: /etc/railhead/rails.json. The pools:"
	echo '{ "rails": [{ "rail": 0, "interface": "eth0" }, { "rail": 1, "interface": "eth1" }] }' >/etc/railhead/rails.json
	for n in 0 1; do
		does railctl ipam pool add rail$n-v4 --subnet 10.1$n.0.0/28 --this-node-only --gateway 10.1$n.0.1
		does railctl ipam pool add rail$n-v6 --subnet fd00:1$n::/64 --this-node-only --gateway fd00:1$n::1
	done
	cat >"$W/conf" <<-'EOF'
		{ "cniVersion": "1.1.0", "name": "rails", "type": "rails", "kind": "macvlan", "routing": "rail",
		  "ipam": { "type": "railhead-ipam", "pools": ["rail{n}-v4", "rail{n}-v6"] } }
	EOF
	tell "" "The network configuration, as containerd, CRI-O, podman or Multus would read it:"
	shown <"$W/conf"
}

# A result, which is JSON, with one line for each interface and address.
shorten()
{
	awk -F '"' '
		$2 == "name" { line = "interface  " $4 }
		$2 == "mac" { line = line ", mac " $4 }
		$2 == "sandbox" { line = line ", in " $4 }
		$2 == "mtu" { sub(/[^0-9]*/, "", $3); line = line ", mtu " $3 + 0 }
		$2 == "address" { line = "address    " $4 }
		$2 == "gateway" { line = line ", gateway " $4 }
		/}/ && line { print line; line = "" }
	'
}

attach()
{
	local pod
	title "Two pods are attached, each to both rails"
	tell "A pod is a network namespace. The runtime calls the plugin with CNI_COMMAND=ADD; this is the answer:"
	for pod in pod-a pod-b; do
		ip netns add "$pod"
		if plugin "$BIN/rails" ADD "$pod" "$W/conf" >"$W/$pod" 2>"$W/err"; then
			tell "$pod:"
			shorten <"$W/$pod" | shown
		else
			bad "ADD of $pod: $(cat "$W/$pod" "$W/err")"
		fi
	done
	tell "Inside the pod that is now:"
	typed ip -n pod-a -brief address
	ip -n pod-a -brief address | grep net1 | shown
	typed ip -n pod-a rule
	ip -n pod-a rule | grep -E '10\.1[01]\.' | shown
}

# address POD FAMILY INTERFACE
address() { ip -n "$1" -o "$2" addr show dev "$3" scope global 2>/dev/null | awk '{print $4}' | cut -d/ -f1 | head -1; }

pings()
{
	local family a rail
	title "They reach each other on both rails"
	for rail in net1 net1r1; do
		for family in -4 -6; do
			a=$(address pod-b $family $rail)
			if [ -n "$a" ] && ip netns exec pod-a ping $family -n -c 2 -i 0.2 -W 2 "$a" >"$W/ping" 2>&1; then
				good "pod-a pings $a: $(sed -n 's/.*\(time=.*\)/\1/p' "$W/ping" | paste -sd, | sed 's/,/, /g')"
			else
				bad "pod-a does not reach '$a' of pod-b: $(tail -n 3 "$W/ping" | tr '\n' ' ')"
			fi
		done
	done
	tell "IPv6 works at once: nobody waited for duplicate address detection, which takes a second or two."
}

leases()
{
	title "Who has which address"
	typed railctl ipam lease list
	"$BIN/railctl" ipam lease list | shown
	typed railctl ipam usage
	if [ -t 1 ]; then
		"$BIN/railctl" ipam usage # straight to the terminal: there it draws bars
	else
		"$BIN/railctl" ipam usage | shown
	fi
}

detach()
{
	local pod
	title "The pods go, and the host is as before"
	for pod in pod-a pod-b; do
		plugin "$BIN/rails" DEL $pod "$W/conf" >"$W/out" 2>&1 || bad "DEL of $pod: $(cat "$W/out")"
		ip -n $pod link show | grep -q net1 && bad "a rail is still in $pod"
		ip netns del $pod
	done
	if awaits is_as_before; then
		good "links, addresses, routes, namespaces, records and leases: nothing was left ($(wc -l <"$W/before") lines compared)"
	else
		bad "something was left:"
		diff "$W/before" "$W/after" | shown
	fi
	# The pod is gone for good, the runtime asks once more: that must not be an error.
	if plugin "$BIN/rails" DEL pod-a "$W/conf" >"$W/out" 2>&1; then
		good "a second DEL of a pod that no longer exists is a success, as it must be"
	else
		bad "a second DEL fails: $(cat "$W/out")"
	fi
}

# --- timings -----------------------------------------------------------------------------------

# time_of PROGRAM CONF ROUNDS: medians of ADD and DEL in microseconds, into ADD and DEL.
time_of()
{
	local i t verb
	for verb in ADD DEL; do : >"$W/times.$verb"; done
	for ((i = 0; i < $3; i++)); do
		for verb in ADD DEL; do
			t=${EPOCHREALTIME/[.,]/}
			plugin "$1" $verb timing "$2" >"$W/out" 2>&1 || return 1
			echo $((${EPOCHREALTIME/[.,]/} - t)) >>"$W/times.$verb"
		done
	done
	ADD=$(sort -n "$W/times.ADD" | sed -n "$(($3 / 2 + 1))p")
	DEL=$(sort -n "$W/times.DEL" | sed -n "$(($3 / 2 + 1))p")
}

timing_line() { printf '   %-36s ADD %5d.%d ms   DEL %5d.%d ms\n' "$1" $((ADD / 1000)) $((ADD % 1000 / 100)) \
	$((DEL / 1000)) $((DEL % 1000 / 100)); }

# peer_conf RANGES: the same network for the reference plugins.
peer_conf()
{
	printf '{"cniVersion":"1.0.0","name":"peer","type":"macvlan","master":"eth0",
		"ipam":{"type":"host-local","ranges":[%s]}}' "$1" >"$W/peer"
}

peer_timings()
{
	peer_conf '[{"subnet":"10.12.0.0/24"}]'
	time_of "$PEER/macvlan" "$W/peer" $ROUNDS && timing_line "reference, one rail, IPv4 only"
	peer_conf '[{"subnet":"10.12.0.0/24"}],[{"subnet":"fd00:12::/64"}]'
	time_of "$PEER/macvlan" "$W/peer" 2 && timing_line "reference, one rail, IPv4 and IPv6"
	tell "The reference waits for IPv6's duplicate address detection. DEL is nearly all the kernel's own work."
}

timings()
{
	title "How long it takes (medians, the shell's own time included)"
	ip netns add timing
	echo '{ "cniVersion": "1.1.0", "name": "one", "type": "macvlan", "master": "eth0",
		"ipam": { "type": "railhead-ipam", "pools": ["rail0-v4", "rail0-v6"] } }' >"$W/one"
	if time_of "$BIN/rails" "$W/conf" $ROUNDS; then
		timing_line "both rails, IPv4 and IPv6"
	else
		bad "$(cat "$W/out")"
	fi
	if time_of "$BIN/macvlan" "$W/one" $ROUNDS; then
		timing_line "one rail, IPv4 and IPv6"
	else
		bad "$(cat "$W/out")"
	fi
	if [ -x "$PEER/macvlan" ] && [ -x "$PEER/host-local" ]; then
		peer_timings
	else
		tell "(apt install containernetworking-plugins, to see the reference plugins beside it)"
	fi
	tell "\`make bench\` measures all of this properly."
	ip netns del timing
}

farewell()
{
	printf '\n%sWhere to go on%s\n' "$BOLD" "$END"
	tell "docs/start.md        from here to a network of your own" \
		"examples/            configurations for containerd, CRI-O, podman and Multus" \
		"docs/man/            the manual pages: man -l docs/man/railctl.8, and one for each program" \
		"make check           every test; make bench: the measurements"
	echo
}

printf '%srailhead in a minute%s: a host and two pods, invented for this demo and gone after it.\n' "$BOLD" "$END"
mkdir -p "$W"
host
configure
attach
pings
leases
timings
detach
farewell
exit $failed

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh BINDIR: two pods on one rail, from nothing to ping and back, in about five seconds.
#
# Everything happens in namespaces of its own: nothing of this machine is touched, and nothing is left,
# also when it is interrupted. NO_COLOR=1, or an output that is no terminal, gives plain text.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if [ "${1-}" != --inside ]; then
	if [ $# -ne 1 ] || [ ! -x "$1/macvlan" ] || [ ! -x "$1/railhead-ipam" ] || [ ! -x "$1/railctl" ]; then
		echo "usage: ${0##*/} BINDIR   (a folder with macvlan, railhead-ipam and railctl)" >&2
		exit 2
	fi
	exec "$HERE/../conformance/sandbox.sh" "$HERE/demo.sh" --inside "$(cd "$1" && pwd)"
fi
BIN=$2
PEERS=/usr/lib/cni
bold='' dim='' green='' red='' off=''
if [ -t 1 ] && [ -z "${NO_COLOR-}" ]; then
	bold=$'\e[1m' dim=$'\e[2m' green=$'\e[32m' red=$'\e[31m' off=$'\e[0m'
fi
step=0

title()
{
	step=$((step + 1))
	printf '\n%s%d. %s%s\n' "$bold" "$step" "$1" "$off"
}

say()
{
	printf '   %s\n' "$@"
}

shell()
{
	printf '   %s$ %s%s\n' "$dim" "$*" "$off"
}

good()
{
	printf '   %s✓%s %s\n' "$green" "$off" "$1"
}

die()
{
	printf '   %s✗%s %s\n' "$red" "$off" "$1"
	echo "   The demo stopped here. Nothing is left behind: its namespaces end with it." >&2
	exit 1
}

indent()
{
	sed 's/^/     /'
}

# cni VERB PLUGIN POD: what a container runtime does: variables, configuration on stdin, result on stdout.
cni()
{
	CNI_COMMAND=$1 CNI_CONTAINERID=$3 CNI_NETNS=/run/netns/$3 CNI_IFNAME=net1 CNI_PATH=${DIR:-$BIN} \
		CNI_ARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=demo;K8S_POD_NAME=$3" \
		"${DIR:-$BIN}/$2" <"${CONF:-/run/work/rail0.json}"
}

# What the host has that a plugin could leave behind.
host()
{
	ip -o link | cut -d: -f2
	ip -o addr show
	ip route show table all
	find /run/railhead/attachments -type f 2>/dev/null
	"$BIN/railctl" ipam lease list --json | jq -c '.[]'
}

make_host()
{
	# rail0 stands for the NIC of a rail; the other end of the pair is the switch it is plugged into.
	# Without addresses of their own, as these appear late and would look like something left behind.
	if ! ip link add rail0 type veth peer name switch0 ||
		! ip link set rail0 addrgenmode none up || ! ip link set switch0 addrgenmode none up ||
		! ip netns add pod-a || ! ip netns add pod-b; then
		die "cannot make the network namespaces"
	fi
	cat >/run/work/rail0.json <<-'EOF'
		{
		  "cniVersion": "1.1.0",
		  "name": "rail0",
		  "type": "macvlan",
		  "master": "rail0",
		  "ipam": { "type": "railhead-ipam", "pools": ["rail0-v4", "rail0-v6"] }
		}
	EOF
}

show_setting()
{
	title "The setting"
	say "A host with one NIC, rail0, and two pods. A pod's network is a network namespace;" \
		"pod-a and pod-b have nothing but loopback yet. All of it lives in a sandbox of its own."
	title "Two pools of addresses"
	say "Every network that names a pool draws from it, so no address is given out twice."
	shell "railctl ipam pool add rail0-v4 --subnet 10.10.0.0/24"
	"$BIN/railctl" ipam pool add rail0-v4 --subnet 10.10.0.0/24 >/dev/null || die "pool add failed"
	shell "railctl ipam pool add rail0-v6 --subnet fd00:10::/64"
	"$BIN/railctl" ipam pool add rail0-v6 --subnet fd00:10::/64 >/dev/null || die "pool add failed"
	title "The network, as Multus or containerd would hand it to the plugin"
	indent </run/work/rail0.json
}

attach()
{
	title "Attach both pods (CNI ADD)"
	for pod in pod-a pod-b; do
		cni ADD macvlan "$pod" >"/run/work/$pod.json" || {
			jq -r '.msg' "/run/work/$pod.json"
			die "ADD failed"
		}
		jq -r --arg pod "$pod" '"   \($pod): \(.interfaces[0].name)  mac \(.interfaces[0].mac)  mtu \(.interfaces[0].mtu)  \([.ips[].address] | join("  "))"' \
			"/run/work/$pod.json"
	done
	say "" "Inside pod-a that is now:"
	shell "ip -n pod-a -brief address"
	ip -n pod-a -brief address show dev net1 | indent
}

ping_between()
{
	title "Can they reach each other?"
	for family in 4 6; do
		to=$(jq -r --arg f "$family" '[.ips[].address | select(contains(":") == ($f == "6"))][0] | split("/")[0]' \
			/run/work/pod-b.json)
		shell "ip netns exec pod-a ping -c 2 $to"
		ip netns exec pod-a ping -n -c 2 -i 0.2 -W 2 "$to" >/run/work/ping 2>&1 ||
			die "pod-a does not reach $to: $(tail -n 1 /run/work/ping)"
		grep 'bytes from' /run/work/ping | indent
		good "IPv$family works; at once, as nobody waits for duplicate address detection"
	done
}

leases()
{
	title "Who has which address"
	shell "railctl ipam lease list"
	"$BIN/railctl" ipam lease list | indent
	shell "railctl ipam pool list"
	"$BIN/railctl" ipam pool list | indent
	shell "railctl attachments list"
	"$BIN/railctl" attachments list | indent
}

detach()
{
	title "Detach both pods (CNI DEL), twice: the second one has nothing to do and says nothing"
	for pod in pod-a pod-b pod-a pod-b; do
		cni DEL macvlan "$pod" || die "DEL failed"
	done
	host >/run/work/after
	if ! diff -u /run/work/before /run/work/after; then
		die "the host is not as it was before"
	fi
	good "the host is as it was: same links, addresses, routes; no leases, no records"
}

# ms PLUGIN VERB: wall time of one call, in microseconds.
once()
{
	local begin=${EPOCHREALTIME/./}

	cni "$1" macvlan pod-a >/run/work/out || die "$1 failed: $(jq -r .msg </run/work/out)"
	echo $((${EPOCHREALTIME/./} - begin))
}

median()
{
	sort -n | awk '{ v[NR] = $1 } END { printf "%.1f ms\n", v[int((NR + 1) / 2)] / 1000 }'
}

measure()
{
	: >/run/work/add
	: >/run/work/del
	for ((i = 0; i < $2; i++)); do
		once ADD >>/run/work/add
		once DEL >>/run/work/del
	done
	printf '     %-34s ADD %9s    DEL %9s\n' "$1" "$(median </run/work/add)" "$(median </run/work/del)"
}

timings()
{
	title "How long it takes, both address families (medians; the shell's own milliseconds included)"
	measure "railhead: macvlan + railhead-ipam" 15
	if [ ! -x "$PEERS/macvlan" ] || [ ! -x "$PEERS/host-local" ]; then
		say "(install containernetworking-plugins to see the reference plugins beside it)"
		return
	fi
	jq '.cniVersion = "1.0.0" | .ipam = {type: "host-local", ranges: [[{subnet: "10.10.0.0/24"}], [{subnet: "fd00:10::/64"}]]}' \
		/run/work/rail0.json >/run/work/peer.json
	DIR=$PEERS CONF=/run/work/peer.json measure "reference: macvlan + host-local" 3
	say "" "The reference waits for duplicate address detection in every ADD with an IPv6 gateway."
	say "\`sudo make bench\` measures this properly: CPU time, memory, many leases, many links."
}

make_host
show_setting
host >/run/work/before
attach
ping_between
leases
detach
timings
title "That was all"
say "The sandbox ends now, and with it every namespace, link and file of the demo." \
	"Next: README.md (install, Kubernetes with Multus), examples/, man docs/man/railhead.7"

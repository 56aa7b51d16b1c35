# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 80
# kernel: 7.2
# rdma-traffic: RoCE between pods that railhead's chains attached: macvlan, ipvlan and VFs of two cards; rdma-probe
# and perftest find device, port and GID by what `railctl rdma env` printed, and by nothing else. Kernel 7.2: before,
# rxe sends from the first network namespace only.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/guest/rdma.sh
. conformance/vm/guest/rdma.sh
read -r A B <<<"$PFS"
modprobe -a rdma_rxe ib_uverbs rdma_ucm macvlan ipvlan
ip link set "$A" up
ip link set "$B" up
for card in "$A" "$B"; do check "link of $card" eventually carrier "$card"; done

ipam() { printf '"ipam":{"type":"railhead-ipam","subnet":"%s"}' "$1"; }
# on NETWORK-TYPE CARD [VF]: the configuration of a pod there. Both cards are one network: a cable joins them.
on()
{
	case $1 in
	macvlan) conf macvlan mac "\"master\":\"$2\",$(ipam 10.90.0.0/24)" ;;
	ipvlan) conf ipvlan ipv "\"master\":\"$2\",$(ipam 10.91.0.0/24)" ;;
	sriov) conf sriov vfs "\"deviceID\":\"$(pci "$2" "$3")\",$(ipam 10.92.0.0/24)" ;;
	esac
}

# pods TYPE LETTER NUMBER: LETTER0 and so on, on the two cards in turn.
declare -A CONF
pods()
{
	local i p card
	for ((i = 0; i < $3; i++)); do
		p=$2$i card=$A
		[ $((i % 2)) = 0 ] || card=$B
		CONF[$p]=$(on "$1" "$card" $((i / 2)))
		check "$1: ADD of the chain for pod $p on $card" attach "$p" "${CONF[$p]}" '"mode":"shared"'
		[ "$1" != sriov ] || check "$1: link of pod $p" eventually carrier net1 "$p"
		check "$1: env in pod $p" env_of "$p"
		check "$1: it is what the plugin found" one_mind "$p"
	done
}
# traffic TYPE FROM TO: both ways are measured by each program.
traffic()
{
	local before
	before=$(sent "$2")
	check "$1: rdma-probe without RDMA CM" exchange "$2" "$3" --no-cm
	check "$1: rdma-probe by RDMA CM" exchange "$3" "$2"
	check "$1: ib_send_bw" perftest ib_send_bw "$2" "$3"
	check "$1: ib_write_bw" perftest ib_write_bw "$2" "$3"
	check "$1: it was the pod's own device that sent" test "$(sent "$2")" -gt $((before + 100))
}
# After any failure in a pod the next type must find the cards free. So all programs in the pod end, and its rxe device is
# removed here, because one that disappears with its interface takes longer.
gone() # TYPE POD...
{
	local type=$1 p network
	shift
	network=$(jq -r .name <<<"${CONF[$1]}")
	for p; do
		check "$type: DEL of pod $p's RDMA device" call DEL rdma "$p" "$(conf rdma "$network")"
		ip netns pids "$p" | xargs -r kill -KILL
		rdma link delete "rxe_$p"
		check "$type: DEL of pod $p" call DEL "$type" "$p" "${CONF[$p]}"
		ip netns del "$p"
	done
	check "$type: nothing is left" eventually nothing_left "$network"
}
nothing_left() # NETWORK
{
	local rest
	rest=$(rdma link)$(find /run/railhead -path "*/$1/*,net1")
	[ -z "$rest" ] || { echo "$rest" && return 1; }
	is_free "$A" && is_free "$B"
}

pods macvlan m 4
traffic macvlan m0 m1
# The node agent, without a cluster store: what the devices of pods counted, and whose they are.
scraped() { curl -sS --max-time 60 --unix-socket /run/railhead/metrics.sock http://localhost/metrics >"$W/metrics" && grep -q '^railhead_devices_read 1$' "$W/metrics"; }
# of_pod POD COUNTER: its value. Exactly one line has it, with the names of the pod.
of_pod() { sed -n "s/^railhead_rdma_hw_counter{device=\"rxe_$1\",port=\"1\",namespace=\"ns\",pod=\"$1\",counter=\"$2\"} //p" "$W/metrics"; }
counts_as_the_kernel_does() # POD: nothing is sent now
{
	scraped && [ "$(of_pod "$1" sent_pkts)" = "$(sent "$1")" ] && [ "$(sent "$1")" -gt 100 ] ||
		{ grep -E '^railhead_(attach|rdma_hw)' "$W/metrics" | head -20; sent "$1"; false; }
}
"$RB/railheadd" >"$W/agent.log" 2>&1 </dev/null &
AGENT=$!
check "metrics: the agent answers" eventually scraped
for p in m0 m1; do check "metrics: what the RDMA device of pod $p sent, with its names" counts_as_the_kernel_does $p; done
kill $AGENT
wait $AGENT
check "macvlan: a GID that is the neighbour's is not taken" isnt eval 'sed -i "s/GID_INDEX=.*/GID_INDEX=0/" $W/env.m0; exchange m0 m1 --no-cm'
gone macvlan m0 m1 m2 m3

pods ipvlan i 2
traffic ipvlan i0 i1
gone ipvlan i0 i1

check "two VFs of each card" eval 'vfs "$A" 2 && vfs "$B" 2'
pods sriov v 4
traffic sriov v0 v1
check "sriov: rdma-probe between VFs of one card" exchange v0 v2 --no-cm
gone sriov v0 v1 v2 v3
vfs "$A" 0
vfs "$B" 0
finish

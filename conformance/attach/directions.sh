# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# directions.sh: who reaches a pod of rails alone, and whom it reaches: the table of docs/rails.md. Two nodes n1 and n2 have the network of
# nodes 192.0.2.0/24, and the rail 10.10.0.0/16, on which they may have an address. Each has three pods: o1 is an ordinary one of the network
# of pods, r1 has rails alone, b1 has both. The rules of NAT are those of kube-proxy with a clusterCIDR.

PODS=10.244.0.0/16
SERVICES='"10.96.0.0/12"' EVERYBODY="\"10.96.0.0/12\",\"192.0.2.0/24\",\"$PODS\""
declare -A AT=([n1]=192.0.2.1 [n2]=192.0.2.2 [o1]=10.244.1.5 [o2]=10.244.2.5 [b1]=10.244.1.6 [b2]=10.244.2.6 [r1]=10.10.1.5 [r2]=10.10.2.5
	[Sr1]=10.96.0.11 [Sr2]=10.96.0.12 [So1]=10.96.0.13 [So2]=10.96.0.14)

nodes_with_nat()
{
	local n p
	for p in n1 n2 o1 o2 b1 b2 r1 r2; do
		ip netns add $p
		ip -n $p link set lo up
	done
	for p in eth0 rail0; do
		ip link add $p netns n1 type veth peer name $p netns n2
		ip -n n1 link set $p up
		ip -n n2 link set $p up
	done
	for n in 1 2; do
		ip -n n$n addr add "${AT[n$n]}/24" dev eth0
		ip -n n$n route add 10.244.$((3 - n)).0/24 via "${AT[n$((3 - n))]}"
		ip -n n$n route add 10.96.0.0/12 dev eth0
		ip netns exec n$n sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
		for p in o b; do
			ip -n n$n link add cali$p type veth peer name eth0 netns $p$n
			ip -n n$n link set cali$p up
			ip -n n$n addr add 169.254.1.1/32 dev cali$p
			ip -n n$n route add "${AT[$p$n]}" dev cali$p
			ip -n $p$n link set eth0 up
			ip -n $p$n addr add "${AT[$p$n]}/32" dev eth0
			ip -n $p$n route add 169.254.1.1 dev eth0
			ip -n $p$n route add default via 169.254.1.1
		done
		nat_of n$n
	done
	for p in n1 n2 o1 o2 b1 b2 r1 r2; do
		ip netns exec $p "$HELPERS/tcp" serve 8080 >"$W/serve.$p" 2>&1 &
		SERVERS+=($!)
		eventually grep -q ready "$W/serve.$p" || fail 'test error: a server'
	done
}
nodes_gone()
{
	local p
	kill "${SERVERS[@]}"
	wait "${SERVERS[@]}" 2>/dev/null
	for p in n1 n2 o1 o2 b1 b2 r1 r2; do ip netns del $p; done
	rm -f /run/xtables.lock
}
nat() { ip netns exec "$1" iptables-legacy -w 60 -t nat -A "${@:2}" || fail "test error: NAT: $*"; }
nat_of() # NODE: services of port 8080, each with one pod
{
	local p chain
	for p in r1 r2 o1 o2; do
		for chain in PREROUTING OUTPUT; do
			nat "$1" $chain -d "${AT[S$p]}" -p tcp ! -s $PODS -j MARK --set-mark 0x4000
			nat "$1" $chain -d "${AT[S$p]}" -p tcp -s "${AT[$p]}" -j MARK --set-mark 0x4000
			nat "$1" $chain -d "${AT[S$p]}" -p tcp -j DNAT --to "${AT[$p]}:8080"
		done
	done
	nat "$1" POSTROUTING -m mark --mark 0x4000 -j MASQUERADE
}
# rails_with VERB ROUTES: ADD or DEL of the pods with rails, each on its node.
rails_with()
{
	local n p E last
	for n in 1 2; do
		for p in r b; do
			last=$([ $p = r ] && echo 5 || echo 6) # b1 and b2 have 10.10.N.6
			use $p$n
			conf_ipam "{\"type\":\"$IPAM\",\"subnet\":\"10.10.0.0/16\",\"rangeStart\":\"10.10.$n.$last\",\"rangeEnd\":\"10.10.$n.$last\"}" \
				".master=\"rail0\" | .routing=\"rail\" | .host={veth:true,routes:[$2]}"
			cni_env "$1"
			env -i "${E[@]}" ip netns exec n$n "$BIN/$PLUGIN" <"$W/conf" >"$W/out" 2>"$W/err" || fail "$1 of $p$n: $(<"$W/out")"
		done
	done
}
reach() # FROM TO
{
	local i
	for i in 1 2 3 4; do
		ip netns exec "$1" "$HELPERS/tcp" probe "${AT[$2]}" 8080 >/dev/null 2>&1 && return
	done
	echo "$1-$2" >>"$W/lost"
}
# lost: the pairs of r1 that do not reach each other: from r1 and to r1 or its service.
lost()
{
	local p probes=()
	: >"$W/lost"
	for p in n1 n2 o1 o2 b1 b2 r2; do
		reach r1 $p &
		probes+=($!)
		reach $p r1 &
		probes+=($!)
		reach $p Sr1 &
		probes+=($!)
	done
	for p in Sr1 Sr2 So1 So2; do
		reach r1 $p &
		probes+=($!)
	done
	wait "${probes[@]}"
	sort "$W/lost" | xargs
}

test_directions_of_a_pod_of_rails_alone()
{
	local n SERVERS=()
	need_railhead
	nodes_with_nat
	rails_with ADD "$SERVICES"
	eq 'lost, with services in routes' "$(lost)" \
		'b2-Sr1 n2-Sr1 n2-r1 o1-Sr1 o1-r1 o2-Sr1 o2-r1 r1-Sr2 r1-b1 r1-b2 r1-n1 r1-n2 r1-o1 r1-o2 r2-Sr1'
	rails_with DEL "$SERVICES"
	rails_with ADD "$EVERYBODY"
	eq 'lost, with all in routes' "$(lost)" \
		'b2-Sr1 n2-Sr1 n2-r1 o2-Sr1 o2-r1 r1-Sr2 r1-n2 r1-o2 r2-Sr1'
	for n in n1 n2; do nat $n POSTROUTING -s 10.10.0.0/16 -o eth0 -j MASQUERADE; done
	eq 'lost, with all in routes and masquerading' "$(lost)" \
		'b2-Sr1 n2-Sr1 n2-r1 o2-Sr1 o2-r1 r1-Sr2 r2-Sr1'
	for n in n1 n2; do ip netns exec $n iptables-legacy -w 60 -t nat -D POSTROUTING -s 10.10.0.0/16 -o eth0 -j MASQUERADE; done
	rails_with DEL "$EVERYBODY"
	for n in 1 2; do ip -n n$n addr add 10.10.200.$n/16 dev rail0; done
	rails_with ADD "$SERVICES"
	eq 'lost, with services in routes, and addresses on the rail' "$(lost)" \
		'o1-Sr1 o1-r1 o2-Sr1 o2-r1 r1-b1 r1-b2 r1-n1 r1-n2 r1-o1 r1-o2'
	rails_with DEL "$SERVICES"
	rails_with ADD "$EVERYBODY"
	eq 'lost, with all in routes, and addresses on the rail' "$(lost)" ''
	for n in n1 n2; do ip netns exec $n sh -c 'echo 1 >/proc/sys/net/ipv4/conf/all/rp_filter'; done
	eq 'lost, with a strict rp_filter' "$(lost)" \
		'o2-Sr1 o2-r1 r1-b2 r1-n2 r1-o2'
	rails_with DEL "$EVERYBODY"
	nodes_gone
}

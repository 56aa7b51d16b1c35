# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# hostveth.sh: pods whose only interfaces are rails, and the key host: the namespace of the case is the node. Behind it is a namespace
# `cluster`, with the address of a service.

SERVICE4=10.96.0.10 SERVICE6=fd96::10
WAYS='{"veth":true,"routes":["10.96.0.0/12","fd96::/108"]}'

# The node has an address on the master, in the network of the rail, and forwards as each node of Kubernetes does. It does so as long as it
# has these addresses: a change of forwarding while the kernel still adds one may leave an anycast route behind.
node_and_cluster()
{
	FORWARDING=$(</proc/sys/net/ipv4/ip_forward)
	echo 1 >/proc/sys/net/ipv4/ip_forward
	echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
	ip addr add 10.77.0.200/24 dev "$MASTER"
	ip addr add fd00:77::200/64 dev "$MASTER" nodad
	ip netns add cluster || fail 'test error: the cluster'
	ip link add toc type veth peer name eth0 netns cluster
	ip link set toc up
	ip -n cluster link set eth0 up
	ip addr add 192.0.2.1/24 dev toc
	ip addr add fd02::1/64 dev toc nodad
	ip -n cluster addr add 192.0.2.2/24 dev eth0
	ip -n cluster addr add fd02::2/64 dev eth0 nodad
	ip -n cluster addr add $SERVICE4/32 dev lo
	ip -n cluster addr add $SERVICE6/128 dev lo
	ip -n cluster route add default via 192.0.2.1
	ip -n cluster -6 route add default via fd02::1
	ip route add 10.96.0.0/12 via 192.0.2.2
	ip -6 route add fd96::/108 via fd02::2
}
node_again()
{
	ip addr flush dev "$MASTER"
	ip link del toc
	ip netns del cluster
	echo "$FORWARDING" >/proc/sys/net/ipv4/ip_forward
	echo 0 >/proc/sys/net/ipv6/conf/all/forwarding
}
node_pings() { is "the node must reach $*" "$HELPERS/ping" "$@"; }
host_conf() { conf_ipam "$(dual_ipam)" ".host=$WAYS | ${1:-.}"; }
veths() { ip -j link show type veth | jq -r '.[].ifname' | grep -E '^veth[0-9a-f]{11}$'; }
ways_left() # nothing of it is left on the node, or in the pod
{
	eq 'veths left' "$(veths)" ''
	eq 'routes left' "$(ip -j route | jq -r '.[] | select(.gateway == "169.254.113.2") | .dst')" ''
	eq 'rules left in the pod' "$({ ip -n p1 rule; ip -n p1 -6 rule; } | grep -c '^990:')" 0
	no_link p1 veth0
}

# The kubelet's probes (tcpSocket) reach the pod's rail address; without the key they do not. The node's address changes meanwhile.
test_hostveth_probes_of_the_kubelet()
{
	local a4 a6 server
	need_railhead
	pod p1
	node_and_cluster
	ip netns exec p1 "$HELPERS/tcp" serve 8080 >"$W/clients" 2>&1 &
	server=$!
	eventually grep -q ready "$W/clients" || fail "test error: $(<"$W/clients")"
	conf_ipam "$(dual_ipam)"
	want_ok ADD
	a4=$(addr4) a6=$(addr6)
	isnt 'a probe without the key' "$HELPERS/tcp" probe "${a4%/*}" 8080
	isnt 'a probe without the key' "$HELPERS/tcp" probe "${a6%/*}" 8080
	want_ok DEL
	host_conf
	want_ok ADD
	a4=$(addr4) a6=$(addr6)
	is 'a probe' "$HELPERS/tcp" probe "${a4%/*}" 8080
	is 'a probe' "$HELPERS/tcp" probe "${a6%/*}" 8080
	ip addr flush dev "$MASTER"
	ip addr add 10.77.0.201/24 dev "$MASTER"
	ip addr add fd00:77::201/64 dev "$MASTER" nodad
	is 'a probe after the change' "$HELPERS/tcp" probe "${a4%/*}" 8080
	is 'a probe after the change' "$HELPERS/tcp" probe "${a6%/*}" 8080
	eq 'the clients' "$(tail -n +2 "$W/clients" | tr '\n' ' ')" \
		'::ffff:169.254.113.1 fd5b:8c2e:9d41::1 ::ffff:169.254.113.1 fd5b:8c2e:9d41::1 '
	prev
	want_ok CHECK DEL
	ways_left
	kill "$server"
	wait "$server" 2>/dev/null
	node_again
}

# A strict rp_filter drops what comes by another interface than that of the way back. The pod has an eth0 of the cluster, too: its packets
# keep their way, also to the networks of "routes".
test_hostveth_beside_the_interface_of_a_cluster()
{
	local a4 a6 old
	need_railhead
	pod p1
	node_and_cluster
	old=$(</proc/sys/net/ipv4/conf/all/rp_filter)
	echo 1 >/proc/sys/net/ipv4/conf/all/rp_filter
	ip netns exec p1 sh -c 'echo 1 >/proc/sys/net/ipv4/conf/all/rp_filter'
	ip link add cali0 type veth peer name eth0 netns p1
	ip link set cali0 up
	ip -n p1 link set eth0 up
	ip addr add 10.244.0.1/24 dev cali0
	ip -n p1 addr add 10.244.0.5/24 dev eth0
	ip -n p1 route add default via 10.244.0.1
	ip addr add fd44::1/64 dev cali0 nodad
	ip -n p1 addr add fd44::5/64 dev eth0 nodad
	ip -n p1 -6 route add default via fd44::1
	host_conf '.routing="rail" | .host.routes+=["192.0.2.0/24","fd02::/64"]'
	want_ok ADD
	a4=$(addr4) a6=$(addr6)
	node_pings 10.244.0.5 192.0.2.1
	node_pings 10.244.0.5
	node_pings "${a4%/*}" 192.0.2.1
	node_pings "${a4%/*}" 10.77.0.200
	node_pings "${a4%/*}"
	is 'the service from the rail' ip netns exec p1 "$HELPERS/ping" $SERVICE4 "${a4%/*}"
	is 'the service from eth0' ip netns exec p1 "$HELPERS/ping" $SERVICE4 10.244.0.5
	pings p1 $SERVICE4
	node_pings fd44::5 fd02::1
	node_pings fd44::5
	node_pings "${a6%/*}" fd02::1
	node_pings "${a6%/*}" fd00:77::200
	is 'the service from the rail, IPv6' ip netns exec p1 "$HELPERS/ping" $SERVICE6 "${a6%/*}"
	is 'the service from eth0, IPv6' ip netns exec p1 "$HELPERS/ping" $SERVICE6 fd44::5
	pings p1 $SERVICE6
	eq 'ways of IPv6' "$(for a in "${a6%/*}" fd44::5; do ip -n p1 -j route get $SERVICE6 from "$a"; done | jq -r '.[0].dev' | tr '\n' ' ')" 'veth0 eth0 '
	eq 'ways' "$(for a in "${a4%/*}" 10.244.0.5; do ip -n p1 -j route get $SERVICE4 from "$a"; done | jq -r '.[0].dev' | tr '\n' ' ')" 'veth0 eth0 '
	prev
	want_ok CHECK DEL
	ways_left
	ip link del cali0
	echo "$old" >/proc/sys/net/ipv4/conf/all/rp_filter
	node_again
}

# The second pod would take the first one's packets from the node, or half of them. Its ADD fails until the first one is gone.
test_hostveth_two_pods_with_one_address()
{
	local address
	need_railhead
	for address in 10.9.0.5/24 fd00:9::5/64; do
		ip addr add "${address/5/1}" dev "$MASTER" nodad
		fake same <<-EOF
			[ "\$CNI_COMMAND" = ADD ] || exit 0
			echo '{"cniVersion":"1.1.0","ips":[{"address":"$address"}]}'
		EOF
		pod p1
		conf_ipam '{"type":"same"}' ".host=$WAYS"
		want_ok ADD
		pod p2
		want_err ADD 103 "another pod of the node has ${address%/*}: interface number"
		no_link p2 net1
		no_link p2 veth0
		use p1
		want_ok DEL
		use p2
		want_ok ADD
		node_pings "${address%/*}"
		want_ok DEL
		ways_left
		unpod p1
		unpod p2
		ip addr flush dev "$MASTER"
	done
}

# A pod that has IPv6 switched off keeps it so.
test_hostveth_without_ipv6()
{
	local a4
	need_railhead
	pod p1
	node_and_cluster
	ip netns exec p1 sh -c 'echo 1 | tee /proc/sys/net/ipv6/conf/all/disable_ipv6 >/proc/sys/net/ipv6/conf/default/disable_ipv6'
	conf_ipam "$(v4_ipam)" ".host=$WAYS"
	want_ok ADD
	a4=$(addr4)
	node_pings "${a4%/*}"
	pings p1 $SERVICE4
	eq 'IPv6 of veth0' "$(ip netns exec p1 cat /proc/sys/net/ipv6/conf/veth0/disable_ipv6)" 1
	prev
	want_ok CHECK DEL
	ways_left
	node_again
}

# The runtime has removed the namespace: the kernel takes the pair away some time later.
test_hostveth_del_after_the_namespace_has_gone()
{
	need_railhead
	pod p1
	host_conf
	want_ok ADD
	unpod p1
	want_ok DEL
	eq 'veths left' "$(veths)" ''
	eq 'routes left' "$(ip -j route | jq -r '.[] | select(.gateway == "169.254.113.2") | .dst')" ''
}

# The author of a pod chooses the addresses of the real IPAM `static`. The node would send its own packets to such an address into the pod.
# A line is an address and a part of the error. Nothing of it is on the node afterwards.
test_hostveth_addresses_that_are_not_the_pods()
{
	local before address why
	need_peer static
	need_railhead
	pod p1
	node_and_cluster
	ip route add 203.0.113.0/24 via 10.77.0.9
	ip -6 route add 2001:db8:7::/64 via fd00:77::9
	ip route add 10.77.0.64/26 dev toc
	ip -6 route add fd00:77::40:0/106 dev toc
	CPATH=$BIN:$PEER_DIR
	conf_ipam '{"type":"static"}' ".cniVersion=\"1.0.0\" | .capabilities={ips:true} | .host=$WAYS | .host.routes += [\"10.77.0.32/28\"]"
	before=$(of_the_node)
	while IFS='|' read -r address why; do
		edit ".runtimeConfig={ips:[\"$address\"]}"
		want_err ADD 103 "host.veth: ${address%/*}" "$why"
		no_link p1 net1
		no_link p1 veth0
		eq "the node after $address" "$(of_the_node)" "$before"
	done <<-'EOT'
		10.77.0.200/24|node has it on mst0
		192.0.2.1/24|node has it on toc
		fd00:77::200/64|node has it on mst0
		fd02::1/64|node has it on toc
		192.0.2.2/24|gateway
		10.77.0.9/24|gateway
		fd02::2/64|gateway
		fd00:77::9/64|gateway
		192.0.2.77/24|192.0.2.0/24 is behind toc
		10.77.0.77/24|10.77.0.64/26 is behind toc
		fd02::77/64|fd02::/64 is behind toc
		fd00:77::40:77/64|fd00:77::40:0/106 is behind toc
		10.96.0.1/12|host.routes has 10.96.0.0/12
		fd96::1/108|host.routes has fd96::/108
		10.77.0.33/24|host.routes has 10.77.0.32/28
		127.9.9.9/8|loopback
		::1/128|loopback
		169.254.113.1/16|link-local
		169.254.7.7/16|link-local
		fe80::7/64|link-local
		224.0.0.7/4|multicast
		255.255.255.255/32|broadcast
		ff02::7/16|multicast
		fd5b:8c2e:9d41::1/64|each veth
		203.0.113.7/24|no network of mst0
		198.51.100.7/24|no network of mst0
		2001:db8:9::7/64|no network of mst0
	EOT
	for address in 10.77.0.7/24 fd00:77::7/64; do
		edit ".runtimeConfig={ips:[\"$address\"]}"
		want_ok ADD
		node_pings "${address%/*}"
		prev
		want_ok CHECK DEL
		edit 'del(.prevResult)'
	done
	ways_left
	ip route del 203.0.113.0/24
	ip -6 route del 2001:db8:7::/64
	node_again
}
of_the_node() { # what ADD could have changed
	{
		ip -br addr
		ip route show table all
		ip -6 route show table all
		ip rule
		ip -6 rule
		find $RUN/attachments -type f 2>/dev/null
	} | sed 's,fe80:[^ ]*/64 ,,' | grep -v '^fe80:\|^local fe80\|^anycast fe80\|^multicast' | sort
}

# A process in the pod writes raw frames. The node and what lies behind it take packets of the pod's own addresses only, whatever rp_filter
# of the node is: a value of 2 for `all` makes that of an interface loose, and IPv6 has none.
test_hostveth_senders_that_the_pod_is_not()
{
	local a4 a6 b4 b6 other4 other6 old own to at server
	need_railhead
	node_and_cluster
	old=$(</proc/sys/net/ipv4/conf/all/rp_filter)
	echo 2 >/proc/sys/net/ipv4/conf/all/rp_filter
	ip route add default via 192.0.2.2
	ip -6 route add default via fd02::2
	host_conf
	pod p2
	want_ok ADD
	other4=$(addr4) other6=$(addr6)
	pod p1
	want_ok ADD
	a4=$(addr4) a6=$(addr6)
	for at in '' 'ip netns exec cluster'; do
		$at /usr/bin/python3 "$HERE/spoof.py" listen 4001 >"$W/senders" 2>&1 &
		server=$!
		eventually grep -q ready "$W/senders" || fail "test error: $(<"$W/senders")"
		for to in 4 6; do
			spoofs "$at"
			eventually grep -qxF "$own" "$W/senders"
		done
		kill "$server"
		wait "$server" 2>/dev/null
		eq "who reached ${at:-the node}" "$(tail -n +2 "$W/senders" | xargs)" "${a4%/*} ${a6%/*}"
	done
	# A second rail has the pair, too: its sender is taken as long as it is there.
	IFN=net2
	want_ok ADD
	b4=$(addr4) b6=$(addr6)
	eq 'senders of two rails' "$(taken_from "${a4%/*}" "${b4%/*}" "${other4%/*}")" "${a4%/*} ${b4%/*}"
	eq 'senders of two rails, IPv6' "$(taken_from "${b6%/*}" "${other6%/*}" "${a6%/*}")" "${b6%/*} ${a6%/*}"
	prev
	want_ok CHECK
	tc filter del dev "$(pair_of p1)" ingress
	want_err CHECK 104 "interface $(pair_of p1) of the node" 'lacks the filter'
	IFN=net1
	want_ok DEL
	eq 'senders after the first rail' "$(taken_from "${a4%/*}" "${b4%/*}")" "${b4%/*}"
	IFN=net2
	want_ok DEL
	use p2
	IFN=net1
	want_ok DEL
	ways_left
	echo "$old" >/proc/sys/net/ipv4/conf/all/rp_filter
	node_again
}
# spoofs WHERE: frames of all kinds to the node, or to the service behind it; the last one is the pod's own.
spoofs()
{
	local dst all
	if [ "$to" = 4 ]; then
		own=${a4%/*} dst=${1:+$SERVICE4} all="${other4%/*} 10.77.0.1 8.8.8.8 10.244.0.5 192.0.2.2 ${other4%/*}+tag 8.8.8.8+tag 0.0.0.0"
		dst=${dst:-169.254.113.1}
	else
		own=${a6%/*} dst=${1:+$SERVICE6} all="${other6%/*} fd00:77::1 2001:4860:4860::8888 fd02::2 ${other6%/*}+tag fd5b:8c2e:9d41::1 fe80::1 ::"
		dst=${dst:-fd5b:8c2e:9d41::1}
	fi
	# shellcheck disable=SC2086
	raw "$dst" $all "$own"
}
raw() # TO SENDER...: frames of p1
{
	ip netns exec p1 /usr/bin/python3 "$HERE/spoof.py" send veth0 "$(cat "/sys/class/net/$(pair_of p1)/address")" "$1" 4001 "${@:2}" ||
		fail 'test error: spoof.py'
}
pair_of() { ip -j link show type veth | jq -r --argjson n "$(ip -n "$1" -j link show veth0 | jq '.[0].link_index')" '.[] | select(.ifindex == $n).ifname'; }
# taken_from SENDER...: those from which the node takes a datagram. The last one that it takes comes again at the end.
taken_from()
{
	local server to=169.254.113.1 last=${b4%/*}
	[[ $1 != *:* ]] || to=fd5b:8c2e:9d41::1 last=${b6%/*}
	/usr/bin/python3 "$HERE/spoof.py" listen 4001 >"$W/taken" 2>&1 &
	server=$!
	eventually grep -q ready "$W/taken" || fail "test error: $(<"$W/taken")"
	raw "$to" "$@" "$last" "$last" "$last"
	eventually sh -c "[ \$(tail -n 3 $W/taken | grep -cxF $last) = 3 ]"
	kill "$server"
	wait "$server" 2>/dev/null
	tail -n +2 "$W/taken" | head -n -3 | xargs
}

# A pool vouches for its addresses, also if another interface of the node has the same network: a bond above the master, or a flat fabric.
# Ranges that the author of the pod may have chosen do not.
test_hostveth_a_pool_in_the_network_of_another_interface()
{
	local ranges
	need_railhead
	pod p1
	ip link add toc type veth peer name far
	ip link set toc up
	ip link set far up
	ip addr add 10.77.0.200/24 dev toc
	for ranges in null '[]'; do
		conf_ipam "$(v4_ipam)" ".host=$WAYS | .capabilities={ipRanges:true} | .runtimeConfig={ipRanges:$ranges}"
		want_ok ADD
		prev
		want_ok CHECK DEL
	done
	conf_ipam "{\"type\":\"$IPAM\"}" ".host=$WAYS | .capabilities={ipRanges:true} | .runtimeConfig={ipRanges:[[{subnet:\"10.77.0.0/24\"}]]}"
	want_err ADD 103 '10.77.0.0/24 is behind toc'
	ways_left
	ip link del toc
}

# Two attachments of a pod change its filter one after the other. The pod, too, can hold the lock of its namespace: DEL does not wait for ever.
test_hostveth_calls_of_one_pod_take_turns()
{
	local verb holder
	need_railhead
	pod p1
	host_conf
	for verb in ADD DEL; do
		hold_namespace 2
		want_ok $verb
		is "$verb waits" test -e "$W/freed"
		wait "$holder"
	done
	want_ok ADD
	hold_namespace 100
	want_ok DEL
	has 'the log' "$ERR" 'another process works on'
	kill "$holder"
	wait "$holder" 2>/dev/null
	ways_left
}
hold_namespace() # SECONDS
{
	rm -f "$W/held" "$W/freed"
	/usr/bin/python3 -c 'import fcntl, sys, time
f = open(sys.argv[1])
fcntl.flock(f, fcntl.LOCK_EX)
open(sys.argv[2] + "/held", "w")
time.sleep(int(sys.argv[3]))
open(sys.argv[2] + "/freed", "w")' "$NS" "$W" "$1" &
	holder=$!
	eventually test -e "$W/held" || fail 'test error: the holder'
}

# A range may have the rail in it: the more specific network wins, so the neighbours of the rail stay on the rail. The range of kubeadm for
# services is 10.96.0.0/12.
test_hostveth_a_rail_inside_the_range_of_services()
{
	local a
	need_railhead
	pod p1
	node_and_cluster
	ip netns add neighbour
	ip link add near0 type veth peer name eth0 netns neighbour
	ip link set near0 up
	ip -n neighbour addr add 10.100.7.7/16 dev eth0
	ip -n neighbour addr add 10.103.7.7/16 dev eth0
	ip -n neighbour link set eth0 up
	conf_ipam "{\"type\":\"$IPAM\",\"subnet\":\"10.100.0.0/16\",\"gateway\":\"10.100.7.7\",\"routes\":[{\"dst\":\"10.103.0.0/16\"}]}" ".master=\"near0\" | .host=$WAYS"
	want_ok ADD
	a=$(addr4)
	pings p1 10.100.7.7
	pings p1 10.103.7.7
	pings p1 $SERVICE4
	is "$SERVICE4 from the rail" ip netns exec p1 "$HELPERS/ping" $SERVICE4 "${a%/*}"
	eq 'ways' "$(for to in 10.100.7.7 10.103.7.7 10.99.255.255 10.101.0.0 10.102.0.7 10.104.0.0; do ip -n p1 -j route get "$to" from "${a%/*}"; done |
		jq -r '.[0].dev' | xargs)" 'net1 net1 veth0 veth0 veth0 veth0'
	node_pings "${a%/*}"
	prev
	want_ok CHECK
	ip -n p1 route del 10.104.0.0/13 table 2024
	want_err CHECK 104 'veth0 lacks the route to 10.104.0.0/13'
	want_ok DEL
	ways_left
	ip link del near0
	ip netns del neighbour
	node_again
}

test_hostveth_node_and_services()
{
	local a4 a6
	need_railhead
	pod p1
	node_and_cluster
	host_conf
	want_ok ADD
	a4=$(addr4) a6=$(addr6)
	node_pings "${a4%/*}"
	node_pings "${a6%/*}"
	node_pings "${a4%/*}" 10.77.0.200
	node_pings "${a6%/*}" fd00:77::200
	pings p1 10.77.0.200
	pings p1 fd00:77::200
	pings p1 $SERVICE4
	pings p1 $SERVICE6
	eq 'the sender' "$(ip -n p1 -j route get $SERVICE4 | jq -r '.[0] | .dev + " " + .prefsrc')" "veth0 ${a4%/*}"
	eq 'addresses of veth0' "$(ip -n p1 -j addr show dev veth0 | jq -r '.[0].addr_info | length')" 0
	prev
	want_ok CHECK
	"$RAILCTL" attachments show testnet cid-p1 net1 >"$W/show"
	is 'show names the veth' grep -q "Veth to the node.*$(veths)" "$W/show"
	want_ok DEL
	ways_left
	node_again
}

# Another machine has the duplicate: packets to it must not go to the node. No packet is sent to a temporary address first.
test_hostveth_addresses_of_the_node_that_do_not_count()
{
	need_railhead
	pod p1
	ip -6 addr add fd00:79::1/64 dev "$WIRE" nodad
	ip -6 addr add fd00:79::1/64 dev "$MASTER"
	eventually sh -c "ip -6 addr show dev $MASTER | grep -q dadfailed" || fail 'test error: no duplicate'
	echo 2 >"/proc/sys/net/ipv6/conf/$MASTER/use_tempaddr"
	ip -6 addr add fd00:78::1/64 dev "$MASTER" nodad mngtmpaddr
	eventually sh -c "ip -6 addr show dev $MASTER | grep -q ' temporary '" || fail 'test error: no temporary address'
	host_conf
	want_ok ADD
	eq 'addresses with a way' "$(ip -n p1 -6 -j route show table 2024 | jq -r '.[].dst' | grep -E '^fd00:7[89]' | xargs)" fd00:78::1
	prev
	want_ok CHECK DEL
	ways_left
	echo 0 >"/proc/sys/net/ipv6/conf/$MASTER/use_tempaddr"
	ip -6 addr flush dev "$WIRE" scope global
	ip -6 addr flush dev "$MASTER" scope global
}

# The rules of the rails come after it.
test_hostveth_with_the_routing_of_a_rail()
{
	local a4 a6
	need_railhead
	pod p1
	node_and_cluster
	host_conf '.routing="rail"'
	want_ok ADD
	a4=$(addr4) a6=$(addr6)
	node_pings "${a4%/*}" 10.77.0.200
	node_pings "${a6%/*}"
	is "$SERVICE4 from the rail" ip netns exec p1 "$HELPERS/ping" $SERVICE4 "${a4%/*}"
	is "$SERVICE6 from the rail" ip netns exec p1 "$HELPERS/ping" $SERVICE6 "${a6%/*}"
	prev
	want_ok CHECK DEL
	ways_left
	node_again
}

# Two pods do not disturb each other, and two rails of a pod have one pair, which goes with the last.
test_hostveth_two_rails_and_two_pods()
{
	local first second other
	need_railhead
	pod p1
	node_and_cluster
	host_conf
	want_ok ADD
	first=$(addr4)
	cp "$W/result" "$W/first"
	IFN=net2
	want_ok ADD
	second=$(addr4)
	eq 'pairs of one pod' "$(veths | grep -c .)" 1
	pod p2
	IFN=net1
	want_ok ADD
	other=$(addr4)
	eq 'pairs of two pods' "$(veths | grep -c .)" 2
	node_pings "${first%/*}"
	node_pings "${second%/*}"
	node_pings "${other%/*}"
	use p1
	want_ok DEL
	eq 'pairs after the first rail' "$(veths | grep -c .)" 2
	node_pings "${second%/*}"
	pings p1 $SERVICE4
	pings p1 $SERVICE6
	eq 'the sender' "$(ip -n p1 -j route get $SERVICE4 | jq -r '.[0].prefsrc')" "${second%/*}"
	IFN=net2
	want_ok DEL
	ways_left_of_one
	use p2
	IFN=net1
	node_pings "${other%/*}"
	want_ok DEL
	ways_left
	node_again
}
ways_left_of_one()
{
	eq 'pairs after the last rail' "$(veths | grep -c .)" 1
	no_link p1 veth0
}

test_hostveth_check_names_what_is_missing()
{
	local rule
	need_railhead
	pod p1
	host_conf
	want_ok ADD
	prev
	for rule in "$(addr4 | cut -d/ -f1)" 0.0.0.0/32; do
		ip -n p1 rule del pref 990 from "$rule"
		want_err CHECK 104 "interface veth0 lacks the rule from ${rule%/*} to table 2024"
		ip -n p1 rule add pref 990 from "$rule" lookup 2024
	done
	ip route flush via 169.254.113.2
	want_err CHECK 104 "interface $(veths) lacks the route to $(addr4 | cut -d/ -f1)/32"
	ip -n p1 -6 rule del pref 990
	want_err CHECK 104 "interface veth0 lacks the rule from $(addr6 | cut -d/ -f1) to table 2024"
	ip -n p1 link del veth0
	want_err CHECK 104 'the node lacks the veth'
	want_ok DEL
	ways_left
}

# Without a record the addresses of the interface say which routes are its own.
test_hostveth_del_without_a_record()
{
	need_railhead
	pod p1
	host_conf
	want_ok ADD
	IFN=net2
	want_ok ADD
	find $RUN/attachments -type f -delete
	want_ok DEL
	eq 'pairs after the first rail' "$(veths | grep -c .)" 1
	IFN=net1
	want_ok DEL
	ways_left
}

# All rails of one ADD have one pair, which is on the one record. The node has an address on each rail.
test_hostveth_all_rails_of_one_ADD()
{
	local i a result
	rails_here 3
	node_and_cluster
	for i in 0 1 2; do
		ip addr add "10.80.$i.200/24" dev "ra$i"
	done
	rails_conf '.ipam={"type":"railhead-ipam","pools":["rail{n}","six{n}"]} | .routing="rail"'" | .host=$WAYS"
	want_ok ADD
	result=$(<"$W/result")
	eq 'pairs' "$(veths | grep -c .)" 1
	eq 'addresses on record' "$(jq -r '.host.addresses|length' "$(find $RUN/attachments -type f)")" 6
	for i in 0 1 2; do
		node_pings "10.80.$i.10"
		node_pings "10.80.$i.10" "10.80.$i.200"
		node_pings "fd00:80:1$i::10"
		pings p1 "10.80.$i.200"
		for a in $SERVICE4 "10.80.$i.200"; do
			is "$a from rail $i" ip netns exec p1 "$HELPERS/ping" "$a" "10.80.$i.10"
		done
	done
	pings p1 $SERVICE6
	is 'railctl rails check' "$RAILCTL" rails check
	prev
	want_ok CHECK
	ip route del 10.80.2.10/32
	want_err CHECK 104 "interface $(veths) lacks the route to 10.80.2.10/32"
	want_ok DEL
	ways_left
	# Without a record the interfaces go one by one, and the pair with the last.
	want_ok ADD
	find $RUN/attachments -type f -delete
	edit ".prevResult=$result"
	want_ok DEL
	eq 'after DEL' "$(rails_of p1)$(recorded)$(lease_count)" 00
	ways_left
	node_again
	rails_gone
}

# The next ADD takes away what an ADD without DEL left on the node: no record has it any more.
test_hostveth_add_after_an_add_without_del()
{
	need_railhead
	pod p1
	fake turns <<-'EOF'
		[ "$CNI_COMMAND" = ADD ] || exit 0
		echo '{"cniVersion":"1.1.0","ips":[{"address":"10.9.0.'"$(grep -c ^ADD "$log.log")"'/24"}]}'
	EOF
	conf_ipam '{"type":"turns"}' ".host=$WAYS"
	ip addr add 10.9.0.200/24 dev "$MASTER"
	want_ok ADD
	ip -n p1 link del net1
	want_ok ADD
	eq 'routes of the node' "$(ip -j route | jq -r '[.[] | select(.gateway == "169.254.113.2") | .dst] | join(" ")')" 10.9.0.2
	want_ok DEL
	ways_left
	ip addr flush dev "$MASTER"
}

# The runtime has made the namespace again, and the record was of an earlier boot or is lost: only the kernel can end the old pair. A
# process that holds the old namespace plays the kernel that has not yet come to it.
test_hostveth_add_while_the_kernel_destroys_the_earlier_pair()
{
	local holder code
	need_railhead
	for code in '' 11; do
		pod p1
		host_conf
		want_ok ADD
		ip netns exec p1 sleep 100 &
		holder=$!
		eventually holds_namespace "$holder" /run/netns/p1 || fail 'test error: the holder'
		unpod p1
		rm -rf ${RUN:?}/attachments
		pod p1
		host_conf
		if [ "$code" ]; then
			want_err ADD "$code" 'lacks its end veth0' 'earlier network namespace of this container'
			no_link p1 net1
			kill "$holder"
			wait "$holder" 2>/dev/null
		else
			{
				sleep 1
				kill "$holder"
			} &
		fi
		want_ok ADD
		wait
		prev
		want_ok CHECK DEL
		ways_left
		unpod p1
	done
}
holds_namespace() { [ "$1" ] && [ /proc/"$1"/ns/net -ef "$2" ]; }

# GC, and repair after the namespace has gone: the kernel has removed the pair with it, or soon does.
test_hostveth_gc_and_repair()
{
	need_railhead
	pod p1
	host_conf
	want_ok ADD
	edit '."cni.dev/valid-attachments"=[]'
	want_ok GC
	ways_left
	want_ok ADD
	unpod p1
	"$RAILCTL" attachments repair >"$W/repair" 2>&1 || fail "repair: $(<"$W/repair")"
	eq 'veths left' "$(veths)" ''
	eq records "$(find $RUN/attachments -type f 2>/dev/null | wc -l)" 0
}

# An interface of another program is left alone, and an ADD that fails leaves nothing.
test_hostveth_names_that_are_taken()
{
	local name
	need_railhead
	pod p1
	host_conf
	want_ok ADD
	name=$(veths)
	want_ok DEL
	ip link add "$name" type bridge
	want_ok ADD
	isnt 'the name is another one' test "$(veths)" = "$name"
	want_ok DEL
	eq 'the bridge is there' "$(link_kind "$name")" bridge
	ip link del "$name"
	ip -n p1 link add veth0 type bridge
	want_err ADD 103 'the pod has an interface veth0 already'
	no_link p1 net1
	eq 'veths left' "$(veths)" ''
	ip -n p1 link del veth0
}
link_kind() { ip -j -d link show dev "$1" | jq -r '.[0].linkinfo.info_kind'; }

test_hostveth_keys_that_are_wrong()
{
	local k
	need_railhead
	pod p1
	for k in 'true|6|host: must be an object' '{}|7|host.veth' '{"veth":1}|6|host.veth' \
		'{"veth":true,"routes":["10.96.0.0/40"]}|7|host.routes: "10.96.0.0/40"' \
		'{"veth":true,"routes":[7]}|6|host.routes' '{"veth":true,"routes":["0.0.0.0/0"]}|7|all rails' \
		'{"veth":true,"routes":["10.77.0.0/24"]}|103|host.routes has 10.77.0.0/24'; do
		conf_ipam "$(v4_ipam)" ".host=${k%%|*}"
		k=${k#*|}
		want_err ADD "${k%%|*}" "${k#*|}"
		no_link p1 net1
	done
	conf_ipam "$(v4_ipam)" '.host={"veth":false}'
	want_ok ADD
	eq 'veths' "$(veths)" ''
	want_ok DEL
}

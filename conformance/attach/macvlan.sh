# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# macvlan: every key, every mode, and what the kernel then shows.

test_macvlan_defaults()
{
	pod p1
	conf_ipam "$(v4_ipam)" '.ipam.routes=[{"dst":"0.0.0.0/0"}]'
	want_ok ADD || return
	want "result" '(.interfaces | length) == 1 and .interfaces[0].name == "net1" and
		.interfaces[0].sandbox == "/run/netns/p1" and (.ips | length) == 1 and
		.ips[0].interface == 0 and .ips[0].gateway == "10.77.0.1" and .routes[0].dst == "0.0.0.0/0"'
	eq kind "$(link_get p1 net1 .linkinfo.info_kind)" macvlan
	eq mode "$(link_get p1 net1 .linkinfo.info_data.mode)" bridge
	eq mac "$(link_get p1 net1 .address)" "$(res '.interfaces[0].mac')"
	eq mtu "$(link_get p1 net1 .mtu)" 1500
	[ -n "$PEERS" ] || eq "mtu in the result" "$(res '.interfaces[0].mtu')" 1500
	has "flags" "$(link_get p1 net1 .flags)" '"UP"'
	has_addr p1 net1 "$(addr4)"
	eq "default route" "$(ip -n p1 -j route show default | jq -r '.[0]|.gateway+" "+.dev')" "10.77.0.1 net1"
	eq "IPv4 broadcast address" "$(ip -n p1 -j -4 addr show net1 | jq -r '.[0].addr_info[0].broadcast')" 10.77.0.255
	# Only lo and net1, and no temporary name was left or used up.
	eq "links in the pod" "$(ip -n p1 -o link | wc -l)" 2
	prev
	want_ok CHECK DEL
	no_link p1 net1
}

test_macvlan_every_mode()
{
	local m
	pod p1
	for m in bridge private vepa passthru ''; do
		conf_ipam "$(v4_ipam)" ".mode=\"$m\""
		want_ok ADD || continue
		eq mode "$(link_get p1 net1 .linkinfo.info_data.mode)" "${m:-bridge}"
		prev
		want_ok CHECK DEL
	done
}

test_macvlan_passthru_carries_the_masters_mac()
{
	local mac
	mac=$(ip -j link show $MASTER | jq -r '.[0].address')
	pod p1
	pod p2
	use p1
	conf_ipam "$(v4_ipam)" '.mode="passthru"'
	want_ok ADD
	eq "mac in the result" "$(res '.interfaces[0].mac')" "$mac"
	eq "mac of the link" "$(link_get p1 net1 .address)" "$mac"
	prev
	want_ok CHECK
	conf_ipam "$(v4_ipam)" '.mode="passthru"'
	use p2
	want_err ADD '100|103' $MASTER
	no_link p2 net1
	want_ok DEL
	use p1
	want_ok DEL
	eq "mac of the master afterwards" "$(ip -j link show $MASTER | jq -r '.[0].address')" "$mac"
}

# The kernel would ignore the address without a word.
test_macvlan_passthru_with_mac_is_refused()
{
	need_railhead
	pod p1
	conf_ipam "$(v4_ipam)" '.mode="passthru" | .mac="02:00:00:00:00:09"'
	want_err ADD 7 mac passthru
}

# CNI-084
test_macvlan_mac_precedence()
{
	pod p1
	conf_ipam "$(v4_ipam)" '.mac="02:00:00:00:00:01"'
	want_ok ADD
	eq "mac of the configuration" "$(link_get p1 net1 .address)" 02:00:00:00:00:01
	prev
	want_ok CHECK DEL
	conf_ipam "$(v4_ipam)" '.mac="02:00:00:00:00:01"'
	CARGS='IgnoreUnknown=1;MAC=02:00:00:00:00:02'
	want_ok ADD
	eq "mac of CNI_ARGS" "$(link_get p1 net1 .address)" 02:00:00:00:00:02
	eq "mac in the result" "$(res '.interfaces[0].mac')" 02:00:00:00:00:02
	prev
	want_ok CHECK DEL
	conf_ipam "$(v4_ipam)" '.mac="02:00:00:00:00:01" | .capabilities={"mac":true} |
		.runtimeConfig={"mac":"02:00:00:00:00:0A"}'
	want_ok ADD
	eq "mac of runtimeConfig" "$(link_get p1 net1 .address)" 02:00:00:00:00:0a
	prev
	want_ok CHECK DEL
	# On DEL a bad value of any of them is not an obstacle (CNI-089).
	CARGS='MAC=banana'
	edit '.mac="x" | .runtimeConfig={"mac":5}'
	want_ok DEL
}

# CNI-159
test_macvlan_mtu()
{
	local m
	pod p1
	for m in 0 1500 1400 1280 576 68; do
		conf_ipam "$(v4_ipam)" ".mtu=$m"
		want_ok ADD || continue
		[ "$m" != 0 ] || m=1500
		eq "mtu of the link" "$(link_get p1 net1 .mtu)" "$m"
		[ -n "$PEERS" ] || eq "mtu in the result" "$(res '.interfaces[0].mtu')" "$m"
		want_ok DEL
	done
	conf_ipam "$(v4_ipam)" '.mtu=67'
	want_err ADD '7|100' mtu 67
}

# The kernel has no IPv6 on links below 1280: the address cannot be set, and nothing may stay.
test_macvlan_mtu_too_small_for_ipv6()
{
	need_railhead
	pod p1
	conf_ipam "$(dual_ipam)" '.mtu=1279'
	want_err ADD '5|7|100'
	no_link p1 net1
	eq leases "$(lease_count)" 0
}

test_macvlan_bcqueuelen()
{
	pod p1
	conf_ipam "$(v4_ipam)" '.bcqueuelen=4321'
	want_ok ADD
	eq bcqueuelen "$(link_get p1 net1 .linkinfo.info_data.bcqueuelen)" 4321
	want_ok DEL
	conf_ipam "$(v4_ipam)" '.bcqueuelen=0'
	want_ok ADD
	eq "bcqueuelen by default" "$(link_get p1 net1 .linkinfo.info_data.bcqueuelen)" 1000
	want_ok DEL
}

test_macvlan_linkInContainer()
{
	pod p1
	ip -n p1 link add inner0 type veth peer name inner1
	ip -n p1 link set inner0 mtu 1450 up
	ip -n p1 link set inner1 up
	conf_ipam "$(v4_ipam)" '.linkInContainer=true | .master="inner0"'
	want_ok ADD
	eq kind "$(link_get p1 net1 .linkinfo.info_kind)" macvlan
	eq master "$(link_get p1 net1 .link)" inner0
	eq mtu "$(link_get p1 net1 .mtu)" 1450
	prev
	want_ok CHECK DEL
	no_link p1 net1
	is "the master is still there" ip -n p1 link show inner0
	# The default master is then the pod's own default route.
	ip -n p1 addr add 10.55.0.2/24 dev inner0
	ip -n p1 route add default via 10.55.0.1
	conf_ipam "$(v4_ipam)" '.linkInContainer=true | del(.master)'
	want_ok ADD
	eq master "$(link_get p1 net1 .link)" inner0
	want_ok DEL
	# The host's master does not count there.
	conf_ipam "$(v4_ipam)" '.linkInContainer=true'
	want_err ADD '7|108' $MASTER
	ip -n p1 link del inner0
}

test_macvlan_layer_2_only()
{
	pod p1
	conf .
	want_ok ADD
	want "no addresses, no routes" '(has("ips") or has("routes")) | not'
	has flags "$(link_get p1 net1 .flags)" '"UP"'
	eq addresses "$(addrs p1 net1)" ""
	prev
	want_ok CHECK STATUS GC
	is "link after GC without a list" ip -n p1 link show net1
	want_ok DEL
}

test_macvlan_default_master_is_that_of_the_default_route()
{
	pod p1
	ip link add other0 type veth peer name other1
	ip link set other0 up
	ip link set other1 up
	ip addr add 10.66.0.2/24 dev $MASTER
	ip addr add 10.67.0.2/24 dev other0
	ip route add default via 10.67.0.1 metric 200
	ip route add default via 10.66.0.1 metric 100
	conf_ipam "$(v4_ipam)" 'del(.master)'
	want_ok ADD
	eq "the route with the best metric" "$(link_get p1 net1 .link_index)" "$(cat /sys/class/net/$MASTER/ifindex)"
	want_ok DEL
	ip route del default metric 100
	want_ok ADD
	eq "the other one" "$(link_get p1 net1 .link_index)" "$(cat /sys/class/net/other0/ifindex)"
	ip route del default metric 200
	# The route is gone: CHECK cannot know its master any more, DEL does not ask.
	want_ok DEL
	want_err ADD '7|108' master
	ip link del other0
	ip addr flush dev $MASTER
}

test_macvlan_default_master_by_an_ipv6_route_only()
{
	pod p1
	ip addr add fd00:66::2/64 dev $MASTER nodad
	ip -6 route add default via fd00:66::1
	conf_ipam "$(v4_ipam)" 'del(.master)'
	want_ok ADD
	eq master "$(link_get p1 net1 .link_index)" "$(cat /sys/class/net/$MASTER/ifindex)"
	want_ok DEL
	ip -6 route del default
	ip addr del fd00:66::2/64 dev $MASTER
}

# CNI-014: and what is there is not touched, neither by the ADD nor by the DEL that follows it.
test_macvlan_name_that_the_host_has()
{
	pod p1
	IFN=$WIRE
	conf_ipam "$(v4_ipam)"
	want_ok ADD || return
	eq kind "$(link_get p1 "$WIRE" .linkinfo.info_kind)" macvlan
	[ -n "$PEERS" ] || chosen_number
	prev
	want_ok CHECK DEL
	no_link p1 "$WIRE"
}

test_macvlan_name_taken_in_the_pod()
{
	pod p1
	ip -n p1 link add net1 type veth peer name foreign
	conf_ipam "$(v4_ipam)"
	want_err ADD '100|103' net1
	eq "the foreign link" "$(link_get p1 net1 .linkinfo.info_kind)" veth
	eq leases "$(lease_count)" 0
	want_ok DEL
	[ -n "$PEERS" ] || eq "the foreign link after DEL" "$(link_get p1 net1 .linkinfo.info_kind)" veth
	ip -n p1 link del foreign
}

# The second ADD meets its own lease and its own link: it must not tear down the first one.
test_macvlan_second_ADD_does_no_harm()
{
	local a
	pod p1
	conf_ipam "$(dual_ipam)"
	want_ok ADD || return
	a=$(addr4)
	cp "$W/result" "$W/first"
	cni ADD
	[ "$RC" = 0 ] || is_err '100|103' net1
	has_addr p1 net1 "$a"
	has_lease "$a"
	cp "$W/first" "$W/result"
	prev
	want_ok CHECK DEL
	no_link p1 net1
	eq leases "$(lease_count)" 0
}

# CNI-171, CNI-172
test_macvlan_parallel_in_one_pod()
{
	local i good=0
	pod p1
	conf_ipam "$(dual_ipam)"
	for i in {1..8}; do
		(
			IFN=net$i
			cni_to "$i" ADD
		) &
	done
	wait
	for i in {1..8}; do
		eq "ADD of net$i" "$(<"$W/par.$i.rc")" 0
		is "net$i" ip -n p1 link show "net$i"
	done
	eq "distinct addresses" "$(lease_count)" 16
	for i in {1..8}; do
		IFN=net$i
		want_ok DEL
	done
	# The same name: exactly one.
	for i in {1..8}; do
		(
			CID=cid$i
			IFN=same
			cni_to "$i" ADD
		) &
	done
	wait
	for i in {1..8}; do
		[ "$(<"$W/par.$i.rc")" != 0 ] || good=$((good + 1))
	done
	eq "ADDs of one name that succeeded" "$good" 1
	is "the link" ip -n p1 link show same
	eq "leases" "$(lease_count)" 2
	IFN=same
	for i in {1..8}; do
		CID=cid$i
		want_ok DEL
	done
	no_link p1 same
}

test_macvlan_two_interfaces_of_one_pod_on_one_pool()
{
	local a b
	pod p1
	conf_ipam "$(dual_ipam)"
	want_ok ADD
	a=$(addr4)
	IFN=net2
	want_ok ADD
	b=$(addr4)
	[ "$a" != "$b" ] || fail "both interfaces have $a"
	want_ok DEL
	has_addr p1 net1 "$a"
	has_lease "$a"
	IFN=net1
	want_ok DEL
}

test_macvlan_two_pods_reach_each_other()
{
	local a4 a6 b4 b6
	pod p1
	pod p2
	use p1
	conf_ipam "$(dual_ipam)"
	want_ok ADD
	a4=$(addr4) a6=$(addr6)
	use p2
	want_ok ADD
	b4=$(addr4) b6=$(addr6)
	pings p1 "${b4%/*}"
	pings p2 "${a4%/*}"
	pings p1 "${b6%/*}"
	pings p2 "${a6%/*}"
	want_ok DEL
	use p1
	want_ok DEL
}

# routes_with JSON: an IPAM that returns these routes beside one address of each family.
routes_with()
{
	fake routes-ipam <<-EOF
		[ \$CNI_COMMAND != ADD ] || echo '{"cniVersion":"1.1.0","ips":[
			{"address":"10.9.0.5/24","gateway":"10.9.0.1"},{"address":"fd00:9::5/64","gateway":"fd00:9::1"}],
			"routes":$1}'
	EOF
}
route() { ip -n p1 -d -j route show table "${2-all}" "$1" | jq -c '.[0]'; }
route6() { ip -n p1 -d -j -6 route show table "${2-all}" "$1" | jq -c '.[0]'; }

# CNI-095, CNI-101, CNI-107: the reference carries mtu and advmss but does not apply them.
test_macvlan_route_fields_of_1_1()
{
	need_railhead
	pod p1
	routes_with '[{"dst":"0.0.0.0/0"},{"dst":"::/0"},{"dst":"10.20.0.0/16","gw":"10.9.0.254","mtu":1300,
		"advmss":1200,"priority":77},{"dst":"10.21.0.0/16","table":300},{"dst":"10.22.0.0/16","scope":253},
		{"dst":"fd00:20::/64","gw":"fd00:9::fe","mtu":1320,"priority":88,"table":301},
		{"dst":"10.9.0.77/32","scope":253}]'
	conf '.ipam={"type":"routes-ipam"}'
	want_ok ADD || return
	eq "default gateway" "$(route default main | jq -r '.gateway')" 10.9.0.1
	eq "default gateway, IPv6" "$(ip -n p1 -j -6 route show default | jq -r '.[0].gateway')" fd00:9::1
	eq "10.20.0.0/16" "$(route 10.20.0.0/16 | jq -c '[.gateway,.metric,.metrics[0].mtu,.metrics[0].advmss]')" \
		'["10.9.0.254",77,1300,1200]'
	eq "10.21.0.0/16 in table 300" "$(route 10.21.0.0/16 300 | jq -r .dev)" net1
	eq "10.22.0.0/16 scope" "$(route 10.22.0.0/16 | jq -c '[.scope,.gateway]')" '["link",null]'
	eq "fd00:20::/64 in table 301" "$(route6 fd00:20::/64 301 | jq -c '[.gateway,.metric,.metrics[0].mtu]')" \
		'["fd00:9::fe",88,1320]'
	want "fields in the result" '.routes | any(.dst == "10.20.0.0/16" and .mtu == 1300 and .advmss == 1200 and
		.priority == 77)'
	want "table in the result" '.routes | any(.dst == "10.21.0.0/16" and .table == 300)'
	prev
	want_ok CHECK
	ip -n p1 route del 10.21.0.0/16 table 300
	want_err CHECK '104' 10.21.0.0/16
	want_ok DEL
}

# A route that cannot be set: all or nothing.
test_macvlan_impossible_route_rolls_back()
{
	need_railhead
	pod p1
	routes_with '[{"dst":"10.20.0.0/16","gw":"192.168.200.1"}]'
	conf '.ipam={"type":"routes-ipam"}'
	want_err ADD '7|100' 10.20.0.0/16
	no_link p1 net1
	eq "verbs seen by the IPAM" "$(fake_log routes-ipam)" "ADD DEL "
	routes_with '[{"dst":"10.20.0.0/16","gw":"fd00:9::1"}]'
	want_err ADD '7|100|105' 10.20.0.0/16
	no_link p1 net1
}

# CNI-162
test_macvlan_ipv6_where_the_pod_disabled_it()
{
	pod p1
	ip netns exec p1 sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6;
		echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'
	conf_ipam "$(dual_ipam)"
	want_ok ADD
	has_addr p1 net1 "$(addr6)"
	eq "conf/default stays" "$(ip netns exec p1 cat /proc/sys/net/ipv6/conf/default/disable_ipv6)" 1
	prev
	want_ok CHECK DEL
}

test_macvlan_ipv6_address_survives_down_and_up()
{
	pod p1
	conf_ipam "$(v6_ipam)"
	want_ok ADD
	ip -n p1 link set net1 down
	ip -n p1 link set net1 up
	has_addr p1 net1 "$(addr6)"
	want_ok DEL
}

test_macvlan_on_a_master_that_is_down()
{
	pod p1
	ip link add down0 type veth peer name down1
	conf_ipam "$(dual_ipam)" '.master="down0"'
	cni ADD
	# Either is right: work (the link comes up with its master) or a clear error. Never a half.
	if [ "$RC" = 0 ]; then
		has_addr p1 net1 "$(addr4)"
		want_ok DEL
	else
		is_err '7|100' down0
	fi
	no_link p1 net1
	ip link del down0
}

test_macvlan_deep_names_and_a_vlan_master()
{
	pod p1
	ip link add up0 type veth peer name up1
	ip link set up0 up
	ip link set up1 up
	ip link add name fifteen_bytes_9 link up0 type macvlan mode bridge
	ip link set fifteen_bytes_9 up
	# A macvlan on a macvlan: the kernel takes its lower device, and so it is for us.
	conf_ipam "$(v4_ipam)" '.master="fifteen_bytes_9"'
	want_ok ADD
	prev
	want_ok CHECK DEL
	ip link del up0
}

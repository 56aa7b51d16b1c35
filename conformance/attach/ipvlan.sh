# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ipvlan. Where the kernel has none, all but the first case say so and are skipped.

# Not having it is a failure like any other: one error, nothing left.
test_ipvlan_kernel_without_it_says_so()
{
	! kernel_has ipvlan || skip "this kernel has ipvlan"
	pod p1
	PLUGIN=ipvlan
	conf_ipam "$(dual_ipam)"
	want_err ADD 100 ipvlan
	no_link p1 net1
	eq leases "$(lease_count)" 0
	want_ok DEL STATUS
}

# The configuration is judged before the kernel is asked, so this runs everywhere.
test_ipvlan_bad_values()
{
	pod p1
	PLUGIN=ipvlan
	bad '.mode="bogus"' 2 mode bogus
	bad '.mode="bridge"' 2 mode bridge
	bad '.mode=3' 6 mode
	bad '.flag="bogus"' 2 flag bogus
	bad '.flag=1' 6 flag
	bad '.mtu=9000' 7 mtu 9000 1500
	bad '.mtu=-5' 7 mtu -5
	bad '.master="nosuch0"' '7|108' master nosuch0
	bad 'del(.master)' '7|108' master
}

test_ipvlan_every_mode()
{
	local m
	need_kind ipvlan
	pod p1
	PLUGIN=ipvlan
	for m in l2 l3 l3s ''; do
		conf_ipam "$(dual_ipam)" ".mode=\"$m\""
		want_ok ADD || continue
		eq kind "$(link_get p1 net1 .linkinfo.info_kind)" ipvlan
		eq mode "$(link_get p1 net1 .linkinfo.info_data.mode)" "${m:-l2}"
		eq mac "$(res '.interfaces[0].mac')" "$(ip -j link show $MASTER | jq -r '.[0].address')"
		eq sandbox "$(res '.interfaces[0].sandbox')" "$NS"
		has_addr p1 net1 "$(addr4)"
		has_addr p1 net1 "$(addr6)"
		prev
		want_ok CHECK STATUS GC DEL
		no_link p1 net1
	done
}

test_ipvlan_every_version()
{
	need_kind ipvlan
	PLUGIN=ipvlan
	matrix "$(dual_ipam)" 46
}

test_ipvlan_every_flag()
{
	local f
	need_kind ipvlan
	pod p1
	PLUGIN=ipvlan
	for f in bridge private vepa ''; do
		conf_ipam "$(v4_ipam)" ".flag=\"$f\""
		want_ok ADD || continue
		# iproute2 prints the flag as a key of its own.
		is "flag $f" jq -e --arg f "${f:-bridge}" '.linkinfo.info_data | (.flags // .mode_flags // [.]) |
			tostring | contains($f)' <<<"$(link_json p1 net1)"
		prev
		want_ok CHECK DEL
	done
}

test_ipvlan_mtu()
{
	local m
	need_kind ipvlan
	pod p1
	PLUGIN=ipvlan
	for m in 0 1500 1400 1280; do
		conf_ipam "$(v4_ipam)" ".mtu=$m"
		want_ok ADD || continue
		[ "$m" != 0 ] || m=1500
		eq "mtu of the link" "$(link_get p1 net1 .mtu)" "$m"
		eq "mtu in the result" "$(res '.interfaces[0].mtu')" "$m"
		want_ok DEL
	done
}

test_ipvlan_linkInContainer()
{
	need_kind ipvlan
	pod p1
	PLUGIN=ipvlan
	ip -n p1 link add inner0 type veth peer name inner1
	ip -n p1 link set inner0 up
	ip -n p1 link set inner1 up
	conf_ipam "$(v4_ipam)" '.linkInContainer=true | .master="inner0"'
	want_ok ADD
	eq master "$(link_get p1 net1 .link)" inner0
	prev
	want_ok CHECK DEL
	ip -n p1 link del inner0
}

test_ipvlan_layer_2_only()
{
	need_kind ipvlan
	pod p1
	PLUGIN=ipvlan
	conf .
	want_ok ADD
	want "no addresses" 'has("ips") | not'
	prev
	want_ok CHECK DEL
}

# Chained: the interface of prevResult is the master, its addresses move to the ipvlan.
test_ipvlan_chained_master()
{
	need_kind ipvlan
	pod p1
	PLUGIN=ipvlan
	conf 'del(.master) | .prevResult={cniVersion:"1.1.0",interfaces:[{name:"mst0",mac:"02:00:00:00:00:07"}],
		ips:[{address:"10.88.0.7/24",gateway:"10.88.0.1",interface:0}],routes:[{dst:"10.99.0.0/16"}],
		dns:{nameservers:["10.3.3.3"]}}'
	want_ok ADD || return
	eq "master" "$(link_get p1 net1 .link_index)" "$(cat /sys/class/net/$MASTER/ifindex)"
	has_addr p1 net1 10.88.0.7/24
	want "our interface, its address and the rest" '(.interfaces | map(select(.name == "net1" and
		.sandbox == "/run/netns/p1")) | length == 1) and (.interfaces[.ips[0].interface].name == "net1") and
		.dns.nameservers == ["10.3.3.3"] and .routes[0].dst == "10.99.0.0/16"'
	prev
	want_ok CHECK DEL
	# With an IPAM of its own, prevResult gives the master only.
	conf_ipam "$(v4_ipam)" 'del(.master) | .prevResult={cniVersion:"1.1.0",interfaces:[{name:"mst0"}]}'
	want_ok ADD
	has_addr p1 net1 "$(addr4)"
	want_ok DEL
}

# Judged without the kernel: with several interfaces it is unknown which one is meant.
test_ipvlan_chained_on_an_ambiguous_prevResult()
{
	pod p1
	PLUGIN=ipvlan
	conf 'del(.master) | .prevResult={cniVersion:"1.1.0",interfaces:[{name:"mst0"},{name:"wire0"}],
		ips:[{address:"10.88.0.7/24"}]}'
	want_err ADD 7 prevResult
	conf 'del(.master) | .prevResult={cniVersion:"1.1.0",interfaces:[{name:"nosuch0"}],
		ips:[{address:"10.88.0.7/24"}]}'
	want_err ADD '7|108' nosuch0
	# The reference cannot DEL either of them.
	want_ok DEL
	conf 'del(.master)'
	want_ok DEL
}

test_ipvlan_CHECK_finds_damage()
{
	need_kind ipvlan
	pod p1
	PLUGIN=ipvlan
	conf_ipam "$(v4_ipam)"
	want_ok ADD
	prev
	edit '.mode="l3"'
	want_err CHECK 104 mode
	edit '.mode="l2"'
	ip -n p1 addr del "$(addr4)" dev net1
	want_err CHECK 104 "$(addr4)"
	ip -n p1 link del net1
	want_err CHECK 104 net1
	want_ok DEL
}

test_ipvlan_two_pods_reach_each_other()
{
	local m b4 b6
	need_kind ipvlan
	PLUGIN=ipvlan
	for m in l2 l3 l3s; do
		pod p1
		pod p2
		use p1
		conf_ipam "$(dual_ipam)" ".mode=\"$m\""
		want_ok ADD
		use p2
		want_ok ADD
		b4=$(addr4) b6=$(addr6)
		pings p1 "${b4%/*}"
		pings p1 "${b6%/*}"
		want_ok DEL
		use p1
		want_ok DEL
		unpod p1
		unpod p2
	done
}

test_ipvlan_name_that_the_host_has()
{
	need_kind ipvlan
	pod p1
	PLUGIN=ipvlan
	IFN=$WIRE
	conf_ipam "$(v4_ipam)"
	want_ok ADD || return
	eq kind "$(link_get p1 "$WIRE" .linkinfo.info_kind)" ipvlan
	chosen_number
	prev
	want_ok CHECK DEL
	no_link p1 "$WIRE"
}

test_ipvlan_beside_macvlan_on_one_master()
{
	need_kind ipvlan
	pod p1
	pod p2
	use p1
	conf_ipam "$(v4_ipam)"
	want_ok ADD
	use p2
	PLUGIN=ipvlan
	conf_ipam "$(v4_ipam)"
	cni ADD
	# One master carries only one kind; the kernel says no and we pass that on.
	[ "$RC" = 0 ] || is_err '100|103' $MASTER
	want_ok DEL
	no_link p2 net1
	use p1
	PLUGIN=macvlan
	want_ok DEL
}

test_ipvlan_failed_ipam_leaves_nothing()
{
	need_kind ipvlan
	pod p1
	PLUGIN=ipvlan
	fake broken-ipam <<-'EOF'
		[ $CNI_COMMAND != ADD ] || { echo '{"cniVersion":"1.1.0","code":150,"msg":"no"}'; exit 1; }
	EOF
	conf '.ipam={"type":"broken-ipam"}'
	want_err ADD 150 no
	no_link p1 net1
}

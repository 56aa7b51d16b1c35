# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# tuning.sh: settings of the pod's interface, as the kernel shows them: sysctl variables and numbers of the link.

in_pod() { ip netns exec "${NS##*/}" "$@"; }
# pod_sysctl NAME: a variable of net1, such as ipv4/conf/IFNAME/arp_filter
pod_sysctl() { in_pod cat "/proc/sys/net/${1/IFNAME/net1}"; }
pod_link() { in_pod ip -j -d link show net1 | jq -r ".[0].$1"; }

test_tuning_applied_checked_and_gone()
{
	need_railhead
	pod p1
	conf_ipam "$(dual_ipam)" '.txQueueLen=2345 | .sysctl={"net.ipv4.conf.IFNAME.arp_filter":"1",
		"net.ipv4.neigh.IFNAME.gc_stale_time":"77","net.ipv6.conf.IFNAME.accept_ra":"0",
		"net.ipv6.neigh.IFNAME.mcast_solicit":"7"}'
	want_ok ADD
	eq 'arp_filter' "$(pod_sysctl ipv4/conf/IFNAME/arp_filter)" 1
	eq 'gc_stale_time' "$(pod_sysctl ipv4/neigh/IFNAME/gc_stale_time)" 77
	eq 'accept_ra' "$(pod_sysctl ipv6/conf/IFNAME/accept_ra)" 0
	eq 'mcast_solicit' "$(pod_sysctl ipv6/neigh/IFNAME/mcast_solicit)" 7
	eq 'the queue' "$(pod_link txqlen)" 2345
	eq 'other interfaces of the pod' "$(in_pod cat /proc/sys/net/ipv4/conf/lo/arp_filter)" 0
	eq 'the default of the pod' "$(in_pod cat /proc/sys/net/ipv4/conf/default/arp_filter)" 0
	eq 'the master' "$(cat "/proc/sys/net/ipv4/conf/$MASTER/arp_filter")" 0
	prev
	want_ok CHECK
	has 'railctl attachments show' "$("$RAILCTL" attachments show testnet "$CID" net1 | tr -s ' ')" 'Tuned by: sysctl, txQueueLen'
	in_pod sysctl -qw net.ipv4.neigh.net1.gc_stale_time=78
	want_err CHECK 104 'sysctl.net.ipv4.neigh.IFNAME.gc_stale_time' '"78"' '"77"'
	in_pod sysctl -qw net.ipv4.neigh.net1.gc_stale_time=77
	in_pod ip link set net1 txqueuelen 10
	want_err CHECK 104 'txQueueLen is 10, configured is 2345'
	in_pod ip link set net1 txqueuelen 2345
	want_ok CHECK DEL DEL
}

# The variables stand before the interface is up: one that had been up without this one would have a link-local address.
test_tuning_before_the_link_is_up()
{
	need_railhead
	local probe
	for probe in false true; do
		pod "p$probe"
		conf_ipam "$(v4_ipam)" ".probe=$probe | .sysctl={\"net.ipv6.conf.IFNAME.addr_gen_mode\":\"1\"}"
		in_pod sysctl -qw net.ipv6.conf.default.disable_ipv6=0
		in_pod timeout 60 ip -6 monitor address >"$W/seen.$probe" &
		local watcher=$!
		want_ok ADD
		# Its own change ends the list of what was seen before.
		in_pod ip -6 addr add fd00:99::1/128 dev lo
		until grep -q fd00:99::1 "$W/seen.$probe"; do
			in_pod ip -6 addr replace fd00:99::1/128 dev lo
			kill -0 "$watcher" 2>/dev/null || break
		done
		kill "$watcher" 2>/dev/null
		wait "$watcher" 2>/dev/null
		eq "addresses of IPv6 with probe $probe" "$(grep -c fe80 "$W/seen.$probe")" 0
		eq "now" "$(in_pod ip -6 -o addr show dev net1)" ''
		want_ok DEL
	done
}

# The configuration counts more than the values that the engine sets for a rail or for its announcements.
test_tuning_wins_over_the_engine()
{
	need_railhead
	pod p1
	conf_ipam "$(v4_ipam)" '.routing="rail" | .sysctl={"net.ipv4.conf.IFNAME.arp_ignore":"2","net.ipv4.conf.IFNAME.arp_notify":"0"}'
	want_ok ADD
	eq 'arp_ignore' "$(pod_sysctl ipv4/conf/IFNAME/arp_ignore)" 2
	eq 'arp_notify' "$(pod_sysctl ipv4/conf/IFNAME/arp_notify)" 0
	eq 'the others of a rail' "$(pod_sysctl ipv4/conf/IFNAME/arp_announce)" 2
	prev
	want_ok CHECK DEL
}

test_tuning_other_names_are_refused()
{
	need_railhead
	local key
	pod p1
	for key in net.ipv4.ip_forward net.ipv4.conf.all.forwarding net.ipv4.conf.net1.forwarding kernel.core_pattern \
		net.ipv4.conf.IFNAME.../../../../kernel/core_pattern net/ipv4/conf/IFNAME/forwarding 'net.ipv4.conf.IFNAME.a/../../all/forwarding'; do
		conf_ipam "$(v4_ipam)" '.sysctl={($key):"1"}' --arg key "$key"
		want_err ADD 7 "sysctl: \"$key\" is not a variable" net.ipv4.conf.IFNAME. net.ipv6.neigh.IFNAME.
	done
	conf_ipam "$(v4_ipam)" '.sysctl={"net.ipv4.conf.IFNAME.forwarding":1}'
	want_err ADD 6 'sysctl.net.ipv4.conf.IFNAME.forwarding: must be a string' 'got 1'
	conf_ipam "$(v4_ipam)" '.sysctl=["net.ipv4.conf.IFNAME.forwarding"]'
	want_err ADD 6 sysctl 'an array'
	conf_ipam "$(v4_ipam)" '.txQueueLen="many"'
	want_err ADD 6 txQueueLen many
	conf_ipam "$(v4_ipam)" '.txQueueLen=0 | .sysctl={}'
	want_ok ADD DEL
}

# Refused by the kernel when the interface is there already: nothing stays, and the address is free.
test_tuning_that_the_kernel_refuses()
{
	need_railhead
	pod p1
	conf_ipam "$(v4_ipam)" '.sysctl={"net.ipv4.conf.IFNAME.nosuch":"1"}'
	want_err ADD 5 'sysctl.net.ipv4.conf.IFNAME.nosuch' 'no such variable'
	conf_ipam "$(v4_ipam)" '.sysctl={"net.ipv4.conf.IFNAME.arp_ignore":"one"}'
	want_err ADD 5 'sysctl.net.ipv4.conf.IFNAME.arp_ignore: "one"'
	conf_ipam "$(dual_ipam)" '.sysctl={"net.ipv6.conf.IFNAME.disable_ipv6":"1"}'
	want_err ADD 7 'sysctl.net.ipv6.conf.IFNAME.disable_ipv6' 'address of IPv6'
	eq 'interfaces' "$(in_pod ip -o link show | wc -l)" 1
	eq 'leases' "$(lease_count)" 0
	conf_ipam "$(v4_ipam)" '.sysctl={"net.ipv6.conf.IFNAME.disable_ipv6":"1"}'
	want_ok ADD
	eq 'IPv6 is off' "$(in_pod ip -6 -o addr show dev net1)" ''
	want_ok DEL
}

test_tuning_of_ipvlan()
{
	need_railhead
	need_kind ipvlan
	PLUGIN=ipvlan
	pod p1
	conf_ipam "$(v4_ipam)" '.txQueueLen=999 | .sysctl={"net.ipv4.conf.IFNAME.arp_filter":"1"}'
	want_ok ADD
	eq 'arp_filter' "$(pod_sysctl ipv4/conf/IFNAME/arp_filter)" 1
	eq 'the queue' "$(pod_link txqlen)" 999
	prev
	want_ok CHECK DEL
}

# The first bytes are the prefix, the others the address: of IPv4 if there is one.
test_tuning_mac_prefix()
{
	need_railhead
	local first
	pod p1
	conf_ipam "$(dual_ipam)" '.macPrefix="0A-1b" | .ipam.ranges[0][0].rangeStart="10.77.0.201" | .name="prefixed"'
	want_ok ADD
	eq 'the address' "$(addr4)" 10.77.0.201/24
	eq 'the MAC' "$(pod_link address)" 0a:1b:0a:4d:00:c9
	eq 'in the result' "$(res '.interfaces[0].mac')" 0a:1b:0a:4d:00:c9
	prev
	want_ok CHECK
	in_pod ip link set net1 address 0a:1b:0a:4d:00:ca
	want_err CHECK 104 'has MAC 0a:1b:0a:4d:00:ca' 0a:1b:0a:4d:00:c9
	want_ok DEL
	conf_ipam '{"type":"railhead-ipam","subnet":"fd00:77::/64","rangeStart":"fd00:77::1:a2:3c4d"}' '.macPrefix="0a:1b" | .name="prefixed6"'
	want_ok ADD
	first=$(addr6)
	eq 'the address of IPv6' "$first" fd00:77::1:a2:3c4d/64
	eq 'the MAC of IPv6 only' "$(pod_link address)" 0a:1b:00:a2:3c:4d
	want_ok DEL
	conf_ipam "$(v4_ipam)" '.macPrefix="0a:1b" | .mac="02:00:00:00:00:77"'
	want_ok ADD
	eq 'a MAC that is given' "$(pod_link address)" 02:00:00:00:00:77
	want_ok DEL
}

test_tuning_mac_prefix_is_refused()
{
	need_railhead
	pod p1
	conf_ipam "$(v4_ipam)" '.macPrefix="0b:00"'
	want_err ADD 7 'macPrefix: "0b:00"' unicast
	conf_ipam "$(v4_ipam)" '.macPrefix="zz:00"'
	want_err ADD 7 'macPrefix: "zz:00"' 'two bytes'
	conf_ipam "$(v4_ipam)" '.macPrefix="0a:00" | .mode="passthru"'
	want_err ADD 7 macPrefix passthru
	conf '.macPrefix="0a:00"'
	want_err ADD 7 'macPrefix: needs ipam'
	conf_ipam '{"type":"nosuch"}' '.macPrefix="0a:00"'
	want_err ADD 105 nosuch
	eq 'interfaces' "$(in_pod ip -o link show | wc -l)" 1
	eq 'leases' "$(lease_count)" 0
	PLUGIN=ipvlan
	conf_ipam "$(v4_ipam)" '.macPrefix="0a:00"'
	want_err ADD 7 'macPrefix: interfaces of ipvlan' macvlan
	conf_ipam "$(v4_ipam)"
	PLUGIN=macvlan
	want_ok DEL
}

test_tuning_sizes_of_segments()
{
	need_railhead
	local now
	pod p1
	conf_ipam "$(v4_ipam)" '.gso={"maxSize":32000,"ipv4MaxSize":31000} | .gro={"maxSize":190000,"ipv4MaxSize":65000}'
	want_ok ADD
	now=$(in_pod ip -j -d link show net1 | jq -c '.[0] | [.gso_max_size, .gso_ipv4_max_size, .gro_max_size, .gro_ipv4_max_size]')
	case $now in
	'[32000,31000,190000,65000]') ;;
	'[32000,null,'*) ;; # this ip(8) does not know the others
	*) fail "sizes: $now" ;;
	esac
	prev
	want_ok CHECK
	in_pod ip link set net1 gso_max_size 20000
	want_err CHECK 104 'gso.maxSize is 20000, configured is 32000'
	want_ok DEL
	conf_ipam "$(v4_ipam)" '.gso={"maxSize":0}'
	want_err ADD 7 gso.maxSize 0
	conf_ipam "$(v4_ipam)" '.gro=false'
	want_err ADD 6 'gro: must be an object, got false'
}

test_tuning_rings_are_of_vfs()
{
	need_railhead
	pod p1
	conf_ipam "$(v4_ipam)" '.rings={"rx":512}'
	want_err ADD 7 'rings: interfaces of macvlan have none'
	conf_ipam "$(v4_ipam)" '.rings={"tx":0}'
	want_err ADD 7 rings.tx 0
	eq 'interfaces' "$(in_pod ip -o link show | wc -l)" 1
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# rails.sh: pods with two rails whose packets leave by the rail whose address they carry. A capture on each wire shows it.
#
# Pods a and b are on two nodes: rail N of pod a is made on aN, of pod b on bN. The far end of aN is saN, where the capture listens.

NODES_OF_RAILS='a b'

# rail_wires: masters a0 a1 b0 b1 with far ends sa0 ... sb1.
rail_wires()
{
	local n i
	for n in $NODES_OF_RAILS; do
		for i in 0 1; do
			ip link add "$n$i" type veth peer name "s$n$i" || fail "test error: rail $n$i"
			ip link set "$n$i" addrgenmode none
			ip link set "s$n$i" addrgenmode none
			ip link set "$n$i" up
			ip link set "s$n$i" up
		done
	done
}
# one_switch: all rails of both nodes are in one network.
one_switch()
{
	local n i
	rail_wires
	ip link add rswitch type bridge || fail 'test error: the switch'
	ip link set rswitch addrgenmode none
	ip link set rswitch up
	for n in $NODES_OF_RAILS; do for i in 0 1; do ip link set "s$n$i" master rswitch; done; done
}
wires_gone()
{
	local n i
	for n in $NODES_OF_RAILS; do for i in 0 1; do ip link del "$n$i"; done; done
	ip link del rswitch 2>/dev/null
}

# rail NODE N ADDRESS4 ADDRESS6 [ROUTING]: ADD of rail N to pod NODE, as net1, net2.
rail()
{
	local net4=${3%.*} net6=${4%::*}
	use "$1"
	IFN=net$(($2 + 1))
	fake "ipam-$1$2" <<-EOS
		[ \$CNI_COMMAND != ADD ] || echo '{"cniVersion":"1.0.0","ips":[{"address":"$3/24","gateway":"$net4.1"},
			{"address":"$4/64","gateway":"$net6::1"}],"routes":[{"dst":"0.0.0.0/0"},{"dst":"::/0"}]}'
	EOS
	conf ".ipam={\"type\":\"ipam-$1$2\"} | .master=\"$1$2\" | .name=\"rail$2\" | .routing=${5:-\"rail\"}"
	want_ok ADD
	cp "$W/conf" "$W/rail.$1$2"
	cp "$W/result" "$W/result.$1$2"
}
rail_again() # NODE N: the configuration and result of that rail are at hand again
{
	use "$1"
	IFN=net$(($2 + 1))
	cp "$W/rail.$1$2" "$W/conf"
	cp "$W/result.$1$2" "$W/result"
}
rails_del()
{
	local n i
	for n in $NODES_OF_RAILS; do
		for i in 0 1; do
			rail_again "$n" "$i"
			want_ok DEL
		done
	done
}

# The capture on one far end: begin, and what it has heard.
capture()
{
	: >"$W/on.$1"
	"$HELPERS/traffic" "$1" >"$W/on.$1" 2>&1 &
	echo $! >"$W/on.$1.pid"
	eventually grep -q ready "$W/on.$1"
}
captures_begin() { for far in sa0 sa1 sb0 sb1; do capture "$far"; done; }
captures_end()
{
	local far
	for far in sa0 sa1 sb0 sb1; do
		kill "$(<"$W/on.$far.pid")"
		wait "$(<"$W/on.$far.pid")" 2>/dev/null
	done
}

# by_its_rail N FROM TO: pod a asks TO with the address FROM of rail N; the request is on saN, and not on the other one.
by_its_rail()
{
	local other=$((1 - $1))
	is "rail $1: $2 reaches $3" ip netns exec a "$HELPERS/ping" "$3" "$2"
	eventually grep -q "^echo $2 to $3\$" "$W/on.sa$1"
	isnt "rail $1: $2 leaves by rail $other" grep -q "^echo $2 to " "$W/on.sa$other"
}
# only_owner ADDRESS N NODE: who asks for ADDRESS hears rail N alone.
only_owner()
{
	local mac other=$((1 - $2))
	mac=$(link_get "$3" "net$(($2 + 1))" .address)
	eventually grep -q "^has $1 $mac\$" "$W/on.s$3$2"
	isnt "$1 is answered by rail $other" grep -q "^has $1 " "$W/on.s$3$other"
}

two_rails_in_one_network()
{
	pod a
	pod b
	one_switch
	rail a 0 10.30.0.10 fd30::10
	rail a 1 10.30.0.11 fd30::11
	rail b 0 10.30.0.20 fd30::20
	rail b 1 10.30.0.21 fd30::21
}
every_pair_by_its_rail()
{
	by_its_rail 0 10.30.0.10 10.30.0.20
	by_its_rail 1 10.30.0.11 10.30.0.21
	by_its_rail 0 10.30.0.10 10.30.0.21
	by_its_rail 1 10.30.0.11 10.30.0.20
	by_its_rail 0 fd30::10 fd30::20
	by_its_rail 1 fd30::11 fd30::21
}

test_rails_of_one_network()
{
	need_railhead
	two_rails_in_one_network
	captures_begin
	every_pair_by_its_rail
	only_owner 10.30.0.20 0 b
	only_owner 10.30.0.21 1 b
	captures_end
	rails_del
	wires_gone
}

# After the carrier was lost and came back, nothing is missing.
test_rails_after_a_flap()
{
	need_railhead
	two_rails_in_one_network
	ip link set sa1 down
	ip link set sa1 up
	ip link set a0 down
	ip link set a0 up
	captures_begin
	every_pair_by_its_rail
	captures_end
	rail_again a 0
	prev
	want_ok CHECK
	rails_del
	wires_gone
}

# Each rail has a network of its own on each of two leaves; a router for each rail joins them.
test_rails_that_route()
{
	local i r
	need_railhead
	pod a
	pod b
	rail_wires
	for i in 0 1; do
		r=router$i
		ip netns add "$r" || fail 'test error: a router'
		ip netns exec "$r" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward; echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'
		for n in a b; do
			ip link set "s$n$i" netns "$r"
			ip -n "$r" link set "s$n$i" up
		done
		ip -n "$r" addr add "10.4$i.0.1/24" dev "sa$i"
		ip -n "$r" addr add "10.4$i.1.1/24" dev "sb$i"
		ip -n "$r" addr add "fd4$i:0::1/64" dev "sa$i" nodad
		ip -n "$r" addr add "fd4$i:1::1/64" dev "sb$i" nodad
		rail a "$i" "10.4$i.0.10" "fd4$i:0::10" '{"mode":"rail","supernets":["10.4'$i'.0.0/16","fd4'$i'::/16"]}'
		rail b "$i" "10.4$i.1.20" "fd4$i:1::20" '{"mode":"rail","supernets":["10.4'$i'.0.0/16","fd4'$i'::/16"]}'
	done
	for i in 0 1; do
		is "rail $i, IPv4" ip netns exec a "$HELPERS/ping" "10.4$i.1.20" "10.4$i.0.10"
		is "rail $i, IPv6" ip netns exec a "$HELPERS/ping" "fd4$i:1::20" "fd4$i:0::10"
		# A program that binds no address finds the rail by the supernet.
		is "rail $i without an address of its own" ip netns exec a "$HELPERS/ping" "10.4$i.1.20"
		eq "rail $i, the way" "$(ip -n a -j route get "10.4$i.1.20" | jq -r '.[0].dev')" "net$((i + 1))"
	done
	# The other rail's router does not know this network, and the pod does not ask it.
	isnt 'rail 0 reaches a network of rail 1 by its own router' ip netns exec a "$HELPERS/ping" 10.41.1.20 10.40.0.10
	rails_del
	for i in 0 1; do ip netns del "router$i"; done
}

test_rails_rules_and_tables()
{
	need_railhead
	two_rails_in_one_network
	eq 'rules, IPv4' "$(ip -n a rule | awk '$1 == "1000:" {print $3, $5}' | sort)" $'10.30.0.10 1000\n10.30.0.11 1001'
	eq 'rules, IPv6' "$(ip -n a -6 rule | awk '$1 == "1000:" {print $3, $5}' | sort)" $'fd30::10 1000\nfd30::11 1001'
	eq 'table of rail 1' "$(ip -n a route show table 1001 | sed 's/ *$//')" \
		$'default via 10.30.0.1 dev net2\n10.30.0.0/24 dev net2 scope link'
	eq 'default routes of the main table' "$(ip -n a route show default; ip -n a -6 route show default)" ''
	eq 'settings' "$(ip netns exec a cat /proc/sys/net/ipv4/conf/net2/{arp_ignore,arp_announce,rp_filter,ignore_routes_with_linkdown} | xargs)" '1 2 2 1'
	eq 'of router advertisements' "$(ip netns exec a cat /proc/sys/net/ipv6/conf/net2/accept_ra_defrtr)" 0
	has 'railctl attachments show' "$("$RAILCTL" attachments show rail1 cid-a net2 2>&1)" '1001, rules of priority 1000'
	eq 'its JSON' "$("$RAILCTL" attachments show rail1 cid-a net2 --json | jq .routing.table)" 1001
	rail_again a 1
	prev
	want_ok CHECK
	ip -n a rule del from 10.30.0.11
	want_err CHECK 104 net2 'table 1001 has it, to which no rule leads'
	ip -n a rule add from 10.30.0.11 lookup 1001 priority 1000
	want_ok CHECK
	ip -n a -6 route del default table 1001
	want_err CHECK 104 net2 'route to ::/0'
	rail_again a 0
	want_ok DEL
	eq 'rules of the other rail stay' "$(ip -n a rule | awk '$1 == "1000:" {print $3, $5}')" '10.30.0.11 1001'
	rails_del
	eq 'no rule is left' "$(ip -n a rule | wc -l) $(ip -n a -6 rule | wc -l)" '3 2'
	wires_gone
}

test_rails_one_has_the_default_route()
{
	need_railhead
	pod a
	rail_wires
	rail a 0 10.30.0.10 fd30::10
	rail a 1 10.31.0.11 fd31::11 '{"mode":"rail","default":true}'
	eq 'the default route' "$(ip -n a route show default | sed 's/ *$//')" 'default via 10.31.0.1 dev net2'
	eq 'that of IPv6' "$(ip -n a -6 -j route show default | jq -r '.[0].dev')" net2
	for i in 0 1; do
		rail_again a "$i"
		want_ok DEL
	done
	wires_gone
}

# A table that other rules use is neither taken nor emptied.
test_rails_tables_in_use()
{
	need_railhead
	pod a
	rail_wires
	ip -n a rule add from 192.0.2.1 lookup 1000 priority 77
	ip -n a rule add from 192.0.2.2 lookup 1001 priority 1000
	rail a 0 10.30.0.10 fd30::10
	eq 'the first free table' "$(ip -n a rule | awk '$3 == "10.30.0.10" {print $5}')" 1002
	use a
	IFN=net2
	conf '.ipam={"type":"ipam-a0"} | .master="a1" | .routing={"mode":"rail","table":1000}'
	want_err ADD 103 routing.table 1000 'in use'
	no_link a net2
	want_ok DEL
	rail_again a 0
	want_ok DEL
	eq 'rules of others stay' "$(ip -n a rule | awk '$3 ~ /^192/ {print $3}' | xargs)" '192.0.2.1 192.0.2.2'
	ip -n a rule del from 192.0.2.2
	wires_gone
}

# Two ADDs of one pod at once, as containerd runs them: while the first waits for its IPv6 address, it has no rule yet.
test_rails_at_once_have_tables_of_their_own()
{
	local i pids=()
	need_railhead
	pod a
	rail_wires
	for i in 0 1; do
		fake "ipam-a$i" <<-EOS
			[ \$CNI_COMMAND != ADD ] || echo '{"cniVersion":"1.0.0","ips":[{"address":"fd3$i::5/64","gateway":"fd3$i::1"}]}'
		EOS
		conf ".ipam={\"type\":\"ipam-a$i\"} | .master=\"a$i\" | .name=\"rail$i\" | .routing=\"rail\" | .dad=true"
		cp "$W/conf" "$W/rail.a$i"
	done
	for i in 0 1; do
		local E
		IFN=net$((i + 1))
		cni_env ADD
		timeout -s KILL "$LIMIT" env -i "${E[@]}" "$BIN/$PLUGIN" <"$W/rail.a$i" >"$W/result.a$i" 2>"$W/err.a$i" &
		pids+=($!)
	done
	for i in 0 1; do wait "${pids[i]}" || fail "ADD of rail $i: $(<"$W/result.a$i")"; done
	eq 'tables' "$(ip -n a -6 rule | awk '$1 == "1000:" {print $5}' | sort | xargs)" '1000 1001'
	for i in 0 1; do
		rail_again a "$i"
		prev
		want_ok CHECK DEL
	done
	eq 'no rule is left' "$(ip -n a -6 rule | wc -l)" 2
	wires_gone
}

# A table of routes that forbid is in use, although no interface has them.
test_rails_a_table_of_blackholes_is_in_use()
{
	need_railhead
	pod a
	rail_wires
	ip -n a route add blackhole 192.0.2.0/24 table 1000
	rail a 0 10.30.0.10 fd30::10
	eq 'the first free table' "$(ip -n a rule | awk '$3 == "10.30.0.10" {print $5}')" 1001
	rail_again a 0
	want_ok DEL
	wires_gone
}

# The pod removed the interface, and its ADD comes again without DEL: the rules of the first one must not stay.
test_rails_a_second_ADD_leaves_no_rule_of_the_first()
{
	need_railhead
	pod a
	rail_wires
	rail a 0 10.30.0.10 fd30::10
	ip -n a link del net1
	rail a 0 10.30.0.77 fd30::77
	eq 'rules' "$(ip -n a rule | awk '$1 == "1000:" {print $3, $5}')" '10.30.0.77 1000'
	rail_again a 0
	want_ok DEL
	eq 'no rule is left' "$(ip -n a rule | wc -l) $(ip -n a -6 rule | wc -l)" '3 2'
	wires_gone
}

# A record with a table of which no rule is left must not cost another rail its rules.
test_rails_an_early_record_keeps_off()
{
	need_railhead
	pod a
	rail_wires
	rail a 0 10.30.0.10 fd30::10
	ip -n a link del net1
	ip -n a rule del from 10.30.0.10
	ip -n a -6 rule del from fd30::10
	rail a 1 10.31.0.11 fd31::11
	eq 'the table is free again' "$(ip -n a rule | awk '$3 == "10.31.0.11" {print $5}')" 1000
	rail_again a 0
	want_ok DEL
	eq 'the rule of the other rail stays' "$(ip -n a rule | awk '$3 == "10.31.0.11" {print $5}')" 1000
	rail_again a 1
	prev
	want_ok CHECK DEL
	wires_gone
}

# The default route of the IPAM, not the gateway of its address, is that of the rail.
test_rails_default_route_of_the_ipam()
{
	need_railhead
	pod a
	rail_wires
	fake other-gateway <<-'EOS'
		[ $CNI_COMMAND != ADD ] || echo '{"cniVersion":"1.0.0","ips":[{"address":"10.30.0.10/24","gateway":"10.30.0.1"}],
			"routes":[{"dst":"0.0.0.0/0","gw":"10.30.0.254"}]}'
	EOS
	conf '.ipam={"type":"other-gateway"} | .master="a0" | .routing="rail"'
	want_ok ADD
	eq 'its way' "$(ip -n a route show default table 1000 | sed 's/ *$//')" 'default via 10.30.0.254 dev net1'
	prev
	want_ok CHECK DEL
	wires_gone
}

# conformance/faults makes each call of such an ADD fail once; here the configuration is wrong.
test_rails_a_failed_add_leaves_nothing()
{
	need_railhead
	pod a
	rail_wires
	fake no-gateway <<-'EOS'
		[ $CNI_COMMAND != ADD ] || echo '{"cniVersion":"1.0.0","ips":[{"address":"10.30.0.10/24","gateway":"10.30.0.1"}],"routes":[]}'
	EOS
	# a supernet of a family without a gateway
	conf '.ipam={"type":"no-gateway"} | .master="a0" | .routing={"mode":"rail","supernets":["fd30::/32"]}'
	want_err ADD 7 'routing.supernets' 'fd30::/32' gateway
	no_link a net1
	eq 'no rule is left' "$(ip -n a rule | wc -l)" 3
	want_ok DEL
	wires_gone
}

test_rails_keys()
{
	need_railhead
	pod p1
	conf_ipam "$(v4_ipam)" '.routing="policy"'
	want_err ADD 2 routing rail policy
	conf_ipam "$(v4_ipam)" '.routing=3'
	want_err ADD 6 routing 'a number'
	conf_ipam "$(v4_ipam)" '.routing={"default":true}'
	want_err ADD 7 routing.mode
	conf_ipam "$(v4_ipam)" '.routing={"mode":"rail","table":254}'
	want_err ADD 7 routing.table 254
	conf_ipam "$(v4_ipam)" '.routing={"mode":"rail","supernets":["10.0.0.0"]}'
	want_err ADD 7 routing.supernets 10.0.0.0
	conf_ipam "$(v4_ipam)" '.routing=""'
	want_ok ADD DEL
}

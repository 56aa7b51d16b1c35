# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The key probe: another host on the wire has the address. A real kernel in a namespace of its own answers. No IPAM
# knows this host.

# Each case has unused subnets: the first ADD gets the first address.
PROBE_N=0
fresh_net()
{
	PROBE_N=$(($(cat "$W/probe_n" 2>/dev/null || echo 0) + 1))
	echo "$PROBE_N" >"$W/probe_n"
	N4=10.88.$PROBE_N N6=fd00:88:$PROBE_N:
	N4_IPAM="{\"type\":\"railhead-ipam\",\"subnet\":\"$N4.0/24\"}"
	N6_IPAM="{\"type\":\"railhead-ipam\",\"subnet\":\"$N6:/64\"}"
	DUAL_IPAM="{\"type\":\"railhead-ipam\",\"ranges\":[[{\"subnet\":\"$N4.0/24\"}],[{\"subnet\":\"$N6:/64\"}]]}"
}

# squatter ADDRESS...: a namespace `other`, on the same segment, has them. Sets OTHER_MAC.
squatter()
{
	local a
	if ! ip netns list | grep -qw other; then
		pod other
		use p1
		ip link add sq0 link "$MASTER" type macvlan mode bridge
		ip link set sq0 netns other name sq0
		ip -n other link set sq0 addrgenmode none
		ip -n other link set sq0 up
	fi
	for a in "$@"; do
		case $a in *:*) ip -n other addr add "$a" dev sq0 nodad ;; *) ip -n other addr add "$a" dev sq0 ;; esac
	done
	OTHER_MAC=$(ip netns exec other cat /sys/class/net/sq0/address)
}

# probe_refused ADDRESS: ADD fails with a code of its own, names who has the address, and leaves nothing.
probe_refused()
{
	want_err ADD 109 "$1"
	has "who has it" "$OUT" "$OTHER_MAC"
	no_link p1 net1
	eq leases "$(lease_count)" 0
	eq records "$(find $RUN/attachments -type f 2>/dev/null | wc -l)" 0
}

test_probe_finds_who_has_the_address()
{
	local a
	need_railhead
	fresh_net
	pod p1
	squatter $N4.2/24
	conf_ipam "$DUAL_IPAM" '.probe=true'
	probe_refused $N4.2
	# It rests: the next one gets another.
	want_ok ADD
	a=$(addr4)
	eq "the address" "${a%/*}" $N4.3
	is "it is there" ip netns exec p1 ip addr show dev net1 to $N4.3
	want_ok DEL
	ip -n other link del sq0
}

test_probe_finds_who_has_the_ipv6_address()
{
	need_railhead
	fresh_net
	pod p1
	squatter $N6:2/64
	conf_ipam "$N6_IPAM" '.probe=true'
	probe_refused $N6:2
	want_ok ADD
	eq "the address" "$(addr6)" $N6:3/64
	want_ok DEL
	ip -n other link del sq0
}

# With cooldown 0, and sticky: the pod does not get it again and again.
test_probe_the_address_rests_without_cooldown_and_is_not_sticky()
{
	need_railhead
	fresh_net
	pod p1
	squatter $N4.2/24
	conf_ipam "{\"type\":\"railhead-ipam\",\"subnet\":\"$N4.0/24\",\"cooldown\":0,\"sticky\":true}" '.probe=true'
	CARGS='K8S_POD_NAMESPACE=ns;K8S_POD_NAME=web-0'
	probe_refused $N4.2
	want_ok ADD
	eq "the address" "$(addr4)" $N4.3/24
	want_ok DEL
	ip -n other link del sq0
}

# An address that was asked for cannot be another one: it fails until it is free, and then it works.
test_probe_an_address_that_was_asked_for()
{
	need_railhead
	fresh_net
	pod p1
	squatter $N4.9/24 $N6:9/64
	conf_ipam "$DUAL_IPAM" ".probe=true | .args={\"cni\":{\"ips\":[\"$N4.9\",\"$N6:9\"]}}"
	probe_refused $N4.9
	has "the other one" "$OUT" $N6:9
	probe_refused $N4.9
	ip -n other link del sq0
	want_ok ADD
	eq "the addresses" "$(addr4) $(addr6)" "$N4.9/24 $N6:9/64"
	want_ok DEL
}

# A host that answers only the second probe, from a program instead of the kernel.
test_probe_an_answer_that_comes_late()
{
	need_railhead
	fresh_net
	pod p1
	"$HELPERS/late" "$WIRE" $N4.2 >"$W/late" 2>&1 &
	LATE=$!
	eventually grep -q ready "$W/late"
	OTHER_MAC=02:00:00:00:aa:aa
	conf_ipam "$N4_IPAM" '.probe=true'
	probe_refused $N4.2
	eventually grep -q answered "$W/late"
	kill "$LATE" 2>/dev/null
	has "it was asked twice" "$(<"$W/late")" answered
}

# Without it nothing is asked, and the address is used.
test_probe_is_off_unless_asked_for()
{
	need_railhead
	fresh_net
	pod p1
	squatter $N4.2/24
	conf_ipam "$DUAL_IPAM"
	listen
	want_ok ADD
	eq "the address" "$(addr4)" $N4.2/24
	heard 0.3
	eq "probes in: $(cat "$W/wire")" "$(grep -c "^probe " "$W/wire")" 0
	want_ok DEL
	ip -n other link del sq0
}

# The address is free: two probes for each, then the usual announcement.
test_probe_asks_and_announces()
{
	local a4 a6 mac
	need_railhead
	fresh_net
	pod p1
	conf_ipam "$DUAL_IPAM" '.probe=true'
	listen
	want_ok ADD
	heard
	a4=$(addr4) a6=$(addr6) mac=$(res '.interfaces[0].mac')
	eq "probes in: $(cat "$W/wire")" "$(grep -c "^probe ${a4%/*} $mac" "$W/wire")" 2
	eq "solicitations in: $(cat "$W/wire")" "$(count "^dad ${a6%/*}$")" 2
	eq "gratuitous ARPs in: $(cat "$W/wire")" "$(count "^garp ${a4%/*} $mac .* to ff:ff:ff:ff:ff:ff")" 1
	eq "unsolicited advertisements in: $(cat "$W/wire")" "$(count "^na ${a6%/*} $mac flags=O to ff02::1$")" 1
	want_ok DEL
}

test_probe_ipvlan()
{
	need_railhead
	need_kind ipvlan
	PLUGIN=ipvlan
	fresh_net
	pod p1
	# On the other end of the master's cable: an ipvlan beside it would have the same MAC.
	ip addr add $N4.2/24 dev "$WIRE"
	ip addr add $N6:2/64 dev "$WIRE" nodad
	OTHER_MAC=$(cat /sys/class/net/"$WIRE"/address)
	conf_ipam "$DUAL_IPAM" '.probe=true'
	probe_refused $N4.2
	has "the other one" "$OUT" $N6:2
	ip addr flush dev "$WIRE"
	want_ok ADD DEL
}

# --- gateways: the far end of the master's cable has their addresses ---

gateways_here()
{
	ip addr add $N4.1/24 dev "$WIRE"
	ip addr add $N6:1/64 dev "$WIRE" nodad
}
gateways_gone() { ip addr flush dev "$WIRE"; }
gateway_conf() # FILTER
{
	conf_ipam "{\"type\":\"railhead-ipam\",\"ranges\":[[{\"subnet\":\"$N4.0/24\",\"gateway\":\"$N4.1\"}],[{\"subnet\":\"$N6:/64\",\"gateway\":\"$N6:1\"}]]}" \
		".probe=$1"
}

test_probe_gateways_that_answer()
{
	need_railhead
	fresh_net
	pod p1
	gateways_here
	gateway_conf '{"address":false,"gateway":true,"strict":true}'
	listen
	want_ok ADD
	hasnt "no warning" "$ERR" gateway
	heard 0.1
	eq "probes in: $(cat "$W/wire")" "$(grep -c "^probe " "$W/wire")" 0
	want_ok DEL
	gateways_gone
}

test_probe_gateways_with_ipvlan()
{
	need_railhead
	need_kind ipvlan
	PLUGIN=ipvlan
	fresh_net
	pod p1
	gateways_here
	gateway_conf '{"gateway":true,"strict":true}'
	want_ok ADD DEL
	gateways_gone
}

# One of two is silent: ADD says which, and goes on; with strict it undoes everything.
test_probe_a_gateway_that_does_not_answer()
{
	need_railhead
	fresh_net
	pod p1
	gateways_here
	ip addr del $N6:1/64 dev "$WIRE"
	gateway_conf '{"address":true,"gateway":true}'
	want_ok ADD
	has "the gateway" "$ERR" "gateway $N6:1 of net1 on $MASTER does not answer"
	hasnt "the other gateway" "$ERR" "gateway $N4.1"
	want_ok DEL
	gateway_conf '{"gateway":true,"strict":true}'
	want_err ADD 11 "gateway $N6:1 of net1 on $MASTER does not answer" "VLAN of $MASTER"
	no_link p1 net1
	eq leases "$(lease_count)" 0
	eq records "$(find $RUN/attachments -type f 2>/dev/null | wc -l)" 0
	gateways_gone
	want_err ADD 11 "gateway $N4.1 of net1" "gateway $N6:1 does not answer either"
	no_link p1 net1
}

test_probe_gateways_without_carrier()
{
	need_railhead
	fresh_net
	pod p1
	ip link set "$WIRE" down
	gateway_conf '{"address":false,"gateway":true}'
	want_ok ADD
	has "carrier" "$ERR" "net1 on $MASTER has no carrier: its gateways were not asked"
	want_ok DEL
	gateway_conf '{"address":false,"gateway":true,"strict":true}'
	want_err ADD 11 "net1 on $MASTER has no carrier" "connect $MASTER"
	no_link p1 net1
	eq leases "$(lease_count)" 0
	gateway_conf '{"gateway":true,"strict":true}'
	want_err ADD 11 "net1 has no carrier: no ARP or ND probe was sent"
	ip link set "$WIRE" up
	eventually grep -qx up /sys/class/net/"$MASTER"/operstate
}

test_probe_key_that_is_wrong()
{
	need_railhead
	fresh_net
	pod p1
	conf_ipam "$N4_IPAM" '.probe="yes"'
	want_err ADD 6 'probe: must be true, false or an object'
	conf_ipam "$N4_IPAM" '.probe={"gateway":"yes"}'
	want_err ADD 6 'probe.gateway'
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# How keys are matched, and what an empty value means: as in the peers, which are written in Go.

# Each key of the configuration in another case: nothing may land elsewhere for it.
test_keys_in_another_case()
{
	local first
	need_kind macvlan
	pod p1
	# A network of its own: the search for an address goes on where an earlier case of the same network stopped.
	# The default route's card is not the one that is meant.
	ip addr add 198.51.100.1/24 dev "$WIRE"
	ip route add default via 198.51.100.2
	conf "del(.master) | .name=\"keys\" | {Master:\"$MASTER\", Mode:\"private\", MTU:1400} + . |
		.IPAM={Type:\"$IPAM\", Subnet:\"10.77.0.0/24\", RangeStart:\"10.77.0.40\", Gateway:\"10.77.0.9\"}"
	want_ok ADD
	eq "address" "$(res '.ips[0].address')" 10.77.0.40/24
	eq "gateway" "$(res '.ips[0].gateway')" 10.77.0.9
	eq "mode" "$(ip netns exec "${NS##*/}" ip -d -j link show net1 | jq -r '.[0].linkinfo.info_data.mode')" private
	eq "mtu" "$(ip netns exec "${NS##*/}" cat /sys/class/net/net1/mtu)" 1400
	eq "lower link" "$(ip netns exec "${NS##*/}" cat /sys/class/net/net1/iflink)" "$(cat "/sys/class/net/$MASTER/ifindex")"
	if [ -z "$PEERS" ]; then
		has "a warning names the key as it should be" "$ERR" 'master: the configuration has this key in another case'
		has "a warning of the IPAM's keys" "$ERR" 'ipam.rangeStart: the configuration has this key in another case'
	fi
	first=$OUT
	conf "del(.master) | .name=\"keys\" | {MASTER:\"$MASTER\", mode:\"private\", mtu:1400} + . | .prevResult=\$p |
		.ipam={type:\"$IPAM\", SUBNET:\"10.77.0.0/24\"}" --argjson p "$first"
	want_ok CHECK DEL
	[ -n "$PEERS" ] || eq "leases after DEL" "$(lease_count)" 0
	ip route del default
	ip addr del 198.51.100.1/24 dev "$WIRE"
}

# Keys that exclude addresses must not be ignored.
test_keys_of_whereabouts_in_another_case()
{
	need_railhead
	PLUGIN=$IPAM CID=c1 NS=/run/netns/none
	conf_ipam '{"thisNodeOnly":true,"Range":"192.168.40.0/24","Exclude":["192.168.40.0/28"],"Gateway":"192.168.40.16"}' \
		".ipam.type=\"$IPAM\""
	want_ok ADD
	eq "address" "$(res '.ips[0].address')" 192.168.40.17/24
	want_ok DEL
}

# The same key in two cases: an error, but a deletion goes on.
test_keys_in_two_cases()
{
	need_railhead
	need_kind macvlan
	pod p1
	conf_ipam "$(v4_ipam)"
	want_ok ADD
	conf_ipam "$(v4_ipam)" ".Master=\"lo\""
	IFN=net2 want_err ADD 7 "Master" "given twice"
	conf_ipam "$(v4_ipam)" ".ipam.Subnet=\"10.9.0.0/24\""
	IFN=net2 want_err ADD 7 "ipam.Subnet" "given twice"
	conf_ipam "$(v4_ipam)" ".Master=\"lo\" | .ipam.Subnet=\"10.9.0.0/24\" | .Ipam={type:\"nosuch\"} | .IPAM=5"
	want_ok DEL
	eq "leases after DEL" "$(lease_count)" 0
	is_gone net1
}

is_gone() { isnt "$1 is gone" ip netns exec "${NS##*/}" ip link show "$1"; }

# Everything that is marshalled from the peers' structs has its optional keys, empty.
test_keys_that_are_empty()
{
	need_kind macvlan
	pod p1
	conf_ipam '{"subnet":"10.77.0.0/24","rangeStart":"","rangeEnd":"","gateway":"","dataDir":"","resolvConf":"",
		"routes":[{"dst":"10.0.0.0/8","gw":""}],"ranges":null}' \
		".ipam.type=\"$IPAM\" | .mode=\"\" | .mac=\"\" | .dns={} | .runtimeConfig={mac:\"\",ips:null} | .args={cni:{}}"
	want_ok ADD
	has "address" "$(res '.ips[0].address')" 10.77.0.
	eq "gateway" "$(res '.ips[0].gateway')" 10.77.0.1
	want_ok DEL
}

test_keys_of_whereabouts_that_are_empty()
{
	need_railhead
	PLUGIN=$IPAM CID=c1 NS=/run/netns/none
	conf_ipam '{"thisNodeOnly":true,"range":"","range_start":"","range_end":"","gateway":"","network_name":"","datastore":"",
		"log_file":"","log_level":"","configuration_path":"","exclude":null,
		"ipRanges":[{"range":"192.168.40.0/24","range_start":"","range_end":""}]}' ".ipam.type=\"$IPAM\""
	want_ok ADD
	eq "address" "$(res '.ips[0].address')" 192.168.40.1/24
	want "no gateway" '.ips[0] | has("gateway") | not'
	want_ok DEL
}

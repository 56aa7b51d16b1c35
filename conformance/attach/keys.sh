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

# A slip is not the default, and it is not silence: mastr would be the card of the default route.
test_keys_misspelled()
{
	local change key meant
	need_railhead
	pod p1
	while IFS='|' read -r change key meant; do
		for PLUGIN in macvlan ipvlan; do
			conf_ipam "$(v4_ipam)" "$change"
			want_err ADD 2 "$key" "did you mean \"$meant\"" || fail "($PLUGIN, $change)"
		done
	done <<-'EOF'
		.mastr="lo"|mastr|master
		.={mastr:"lo"}+del(.master)|mastr|master
		.rooting="rail"|rooting|routing
		.MTUU=1400|MTUU|mtu
		.hots={"veth":true}|hots|host
		.routing={"mod":"rail"}|routing.mod|mode
		.args={"cni":{"gpuss":[]}}|args.cni.gpuss|gpus
	EOF
	PLUGIN=$IPAM
	while IFS='|' read -r change key meant; do
		conf_ipam "$(v4_ipam)" ".ipam.type=\"$IPAM\" | .ipam$change"
		want_err ADD 2 "$key" "did you mean \"$meant\"" || fail "($change)"
	done <<-'EOF'
		.subnett="10.9.0.0/24"|ipam.subnett|subnet
		={"subnt":"10.9.0.0/24"}|ipam.subnt|subnet
		.pol="a"|ipam.pol|pool
		.ranges=[[{"subnet":"10.9.0.0/24","rangStart":"10.9.0.9"}]]|ipam.ranges[0][0].rangStart|rangeStart
	EOF
	eq "leases" "$(lease_count)" 0
}

# The attachment of an earlier version, which ignored the slip, ends as usual.
test_keys_misspelled_and_DEL()
{
	need_railhead
	need_kind macvlan
	pod p1
	conf_ipam "$(v4_ipam)"
	want_ok ADD
	conf_ipam "$(v4_ipam)" '.rooting="rail" | .tier="gold" | .ipam.subnett="x"'
	want_ok DEL
	eq "leases after DEL" "$(lease_count)" 0
	is_gone net1
}

test_keys_unknown_are_a_warning()
{
	need_railhead
	need_kind macvlan
	pod p1
	conf_ipam "$(v4_ipam)" '.foreign=1 | ._note="mine" | .capabilities={"isp":true} | .ipam.datastore="x" | .ipMasq=false |
		.["cni.dev/x"]=1'
	want_ok ADD
	has "a warning names the key" "$ERR" 'foreign: there is no such key (value: 1)'
	has "a warning names the capability" "$ERR" 'capabilities.isp: there is no such key'
	has "a warning of the IPAM" "$ERR" 'ipam.datastore: there is no such key'
	isnt "no other warning" grep -qE '_note|ipMasq|cni.dev|ipam.type' <<<"$ERR"
	want_ok DEL
}

# A key of another plugin would do nothing here.
test_keys_of_other_plugins()
{
	local change
	need_railhead
	pod p1
	for change in '.tier="gold"' '.near="gpu"' '.guidFrom="pod"' '.resource={"pf":["mst0"]}'; do
		for PLUGIN in macvlan ipvlan; do
			conf_ipam "$(v4_ipam)" "$change"
			want_err ADD 2 "${change:1:4}" "does not have this key" || fail "($PLUGIN, $change)"
		done
	done
}

# The time must not grow with the square of the keys: so many are refused before any is looked at, and DEL takes them.
test_keys_by_the_thousand()
{
	need_railhead
	pod p1
	conf_ipam "$(v4_ipam)" '. + ([range(80000) | {key: "k\(.)", value: 1}] | from_entries)'
	for PLUGIN in macvlan rails "$IPAM"; do
		want_err ADD 7 'more than 1000'
		want_ok DEL
	done
}

# With a prefix, "macvlan" is another project's, which ignores the keys of railhead and answers success.
test_keys_beside_another_macvlan()
{
	need_railhead
	local peer=${PEER_DIR:-/usr/lib/cni}/macvlan change
	[ -x "$peer" ] || skip "no reference macvlan in ${PEER_DIR:-/usr/lib/cni}"
	need_kind macvlan
	pod p1
	mkdir "$W/prefixed"
	cp "$peer" "$W/prefixed/macvlan" && cp "$BIN/macvlan" "$W/prefixed/rh-macvlan" && cp "$BIN/$IPAM" "$W/prefixed"
	for change in '.routing="rail"' '.host={"veth":true}' '.tier="gold"' '.macPrefix="0a:1b"' '.probe=true'; do
		conf_ipam "$(v4_ipam)" ".cniVersion=\"1.0.0\" | $change"
		PEERS=1 CPATH=$W/prefixed BIN=$W/prefixed PLUGIN=macvlan want_err ADD 2 "does not have this key" rh-macvlan ||
			fail "($change)"
		ip -n p1 link del net1 2>"$W/ip.err" # which it leaves after an error of its IPAM
	done
	eq "leases" "$(lease_count)" 0
	no_link p1 net1
	conf_ipam "$(v4_ipam)" '.cniVersion="1.0.0" | .type="rh-macvlan" | .routing="rail"'
	CPATH=$W/prefixed BIN=$W/prefixed PLUGIN=rh-macvlan want_ok ADD DEL
	conf_ipam "$(v4_ipam)" '.cniVersion="1.0.0" | .mtu=1400 | .linkInContainer=false'
	CPATH=$W/prefixed BIN=$W/prefixed PEERS=1 PLUGIN=macvlan want_ok ADD DEL
	rm -r "$W/prefixed"
}

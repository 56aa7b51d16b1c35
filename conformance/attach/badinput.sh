# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Bad input: one error object with the right code that names key and value, exit 1, nothing on stderr
# but logs, and nothing left. compare() of run.sh looks for remains after every case.

each_plugin_refuses()
{
	for PLUGIN in macvlan ipvlan "$IPAM"; do
		want_err ADD "$1" || fail "($PLUGIN ADD, $2)"
		want_err CHECK "$1" || fail "($PLUGIN CHECK, $2)"
	done
}

test_badinput_malformed_json()
{
	local text
	pod p1
	for text in '' ' ' '{' '}' '{"cniVersion":"1.1.0"' '{"name":}' '[1,2' '{"a":1,}' "{'a':1}" 'nul' 'garbage' \
		'{"cniVersion":"1.1.0","name":"n"} trailing' '{"cniVersion":"1.1.0","name":"n"}{}' \
		'{"a":01}' '{"a":"\x"}' '{"a":"\ud800"}' '{"a":1e}' '{"a":"unterminated'; do
		printf '%s' "$text" >"$W/conf"
		each_plugin_refuses 6 "$text"
	done
}

test_badinput_not_an_object()
{
	local text
	pod p1
	for text in '[]' '"x"' 5 null true; do
		printf '%s' "$text" >"$W/conf"
		each_plugin_refuses '6|7' "$text"
	done
}

test_badinput_not_utf8_BOM_and_NUL()
{
	local head='{"cniVersion":"1.1.0","name":"testnet","type":"macvlan","master":"mst0"'
	pod p1
	[ -z "$PEERS" ] || skip "the reference reads any bytes"
	printf '%s,"x":"\xff\xfe"}' "$head" >"$W/conf"
	each_plugin_refuses 6 "bytes ff fe"
	printf '%s,"x":"\xc0\x80"}' "$head" >"$W/conf"
	each_plugin_refuses 6 "an overlong NUL"
	printf '%s,"x":"\xed\xa0\x80"}' "$head" >"$W/conf"
	each_plugin_refuses 6 "a surrogate"
	printf '\xef\xbb\xbf%s}' "$head" >"$W/conf"
	each_plugin_refuses 6 "a byte order mark"
	printf '%s}\0' "$head" >"$W/conf"
	each_plugin_refuses 6 "NUL at the end"
	printf '%s,"x":"a\0b"}' "$head" >"$W/conf"
	each_plugin_refuses 6 "NUL in a string"
	printf '%s,"x":"a\\u0000b"}' "$head" >"$W/conf"
	each_plugin_refuses 6 "an escaped NUL"
}

test_badinput_huge_and_deep()
{
	pod p1
	conf_ipam "$(v4_ipam)"
	# Just under a mebibyte is fine, above it is not.
	{ jq -c . "$W/conf" | tr -d '\n'; head -c 900000 /dev/zero | tr '\0' ' '; } >"$W/conf.big"
	STDIN=$W/conf.big
	want_ok ADD DEL
	{ printf '{"x":"'; head -c 3000000 /dev/zero | tr '\0' a; printf '"}'; } >"$W/conf.big"
	[ -n "$PEERS" ] || each_plugin_refuses '5|6' "3 MB"
	{ head -c 100000 /dev/zero | tr '\0' '['; head -c 100000 /dev/zero | tr '\0' ']'; } >"$W/conf.big"
	each_plugin_refuses 6 "100000 deep"
	{ head -c 900000 /dev/zero | tr '\0' '['; } >"$W/conf.big"
	each_plugin_refuses 6 "900000 open"
	head -c 200000 /dev/zero | sed 's/\x00/{"a":/g' >"$W/conf.big"
	each_plugin_refuses 6 "200000 objects"
	rm "$W/conf.big"
}

test_badinput_truncated_anywhere()
{
	local i size
	pod p1
	conf_ipam "$(dual_ipam)" '.mtu=1400 | .mac="02:00:00:00:00:01"'
	cp "$W/conf" "$W/whole"
	size=$(stat -c %s "$W/whole")
	for ((i = 0; i < size - 2; i += 13)); do
		head -c "$i" "$W/whole" >"$W/conf"
		want_err ADD 6 || fail "(cut at $i)"
	done
}

test_badinput_closed_and_slow_stdin()
{
	local E
	pod p1
	conf_ipam "$(v4_ipam)"
	cni_env ADD
	env -i "${E[@]}" "$BIN/$PLUGIN" <&- >"$W/out" 2>"$W/err"
	RC=$? OUT=$(<"$W/out") ERR=$(<"$W/err")
	is_err '5|6'
	env -i "${E[@]}" "$BIN/$PLUGIN" </ >"$W/out" 2>"$W/err"
	RC=$? OUT=$(<"$W/out") ERR=$(<"$W/err")
	is_err 5
	# Byte by byte through a pipe.
	while IFS= read -r -N 1 c; do printf '%s' "$c"; done <"$W/conf" |
		env -i "${E[@]}" "$BIN/$PLUGIN" >"$W/out" 2>"$W/err" || fail "slow writer: $(<"$W/out")"
	want_ok DEL
}

# bad FILTER CODES [TEXT...]: the base configuration, changed, is refused with an error that names it.
bad()
{
	local filter=$1
	shift
	conf_ipam "$(v4_ipam)" "$filter"
	want_err ADD "$@" || fail "(with $filter)"
	no_link "${NS##*/}" "$IFN"
}

test_badinput_wrong_types()
{
	pod p1
	bad '.mode=5' 6 mode
	bad '.mtu="1500"' 6 mtu 1500
	bad '.mtu=1.5' '6|7' mtu 1.5
	bad '.mac=7' 6 mac
	bad '.master=7' 6 master
	bad '.master={}' 7 master vlan bond
	bad '.bcqueuelen="x"' 6 bcqueuelen
	bad '.linkInContainer="yes"' 6 linkInContainer
	bad '.dad="yes"' 6 dad
	bad '.ipam="host-local"' 6 ipam
	bad '.ipam=[]' 6 ipam
	bad '.ipam.type=5' 6 ipam.type
	bad '.dns="1.1.1.1"' 6 dns
	bad '.runtimeConfig=[]' 6 runtimeConfig
	bad '.runtimeConfig={"mac":5}' 6 mac
	bad '.args=5' '6' args
	bad '.type=5' 6 type
}

test_badinput_values()
{
	pod p1
	bad '.mode="bogus"' 2 mode bogus
	bad '.mode="source"' 2 mode source
	bad '.mode="Bridge"' 2 mode Bridge
	bad '.mac="zz:00:00:00:00:00"' '2|7' mac zz:00:00:00:00:00
	bad '.mac="02:00:00:00:00"' '2|7' mac 02:00:00:00:00
	bad '.mac="01:00:5e:00:00:01"' '2|7|100' 01:00:5e:00:00:01
	bad '.runtimeConfig={"mac":"banana"}' '2|7' mac banana
	bad '.mtu=-1' 7 mtu -1
	bad '.mtu=9000' 7 mtu 9000 1500
	bad '.mtu=4294967296' 7 mtu 4294967296
	bad '.bcqueuelen=-1' 7 bcqueuelen -1
	bad '.bcqueuelen=4294967296' 7 bcqueuelen
	bad '.master="sixteen_bytes_12"' 7 master sixteen_bytes_12
	bad '.master=""|.ipam=null' '7|108' master
	bad '.ipam.type="../host-local"' 7 ../host-local
	bad '.ipam.type="/bin/sh"' 7 /bin/sh
	CARGS='MAC=banana'
	bad . '4' MAC banana
}

test_badinput_missing_master()
{
	pod p1
	bad '.master="nosuch0"' '7|108' master nosuch0
	# The error says what to do, not only a number.
	bad 'del(.master)' '7|108' master "default route"
}

test_badinput_master_that_cannot_carry_it()
{
	pod p1
	bad '.master="lo"' '7|100' lo
}

test_badinput_netns_that_is_none()
{
	conf_ipam "$(v4_ipam)"
	CID=c1
	echo stale >/run/plain
	for NS in /run/plain /run/netns/nosuch /etc /proc/self/ns/mnt /dev/null relative; do
		want_err ADD 8 "$NS" || fail "(netns $NS)"
	done
	rm /run/plain
}

# ipam_bad JSON CODES [TEXT...]: straight to the IPAM and through macvlan, the same answer.
ipam_bad()
{
	local ipam=$1
	shift
	for PLUGIN in "$IPAM" macvlan; do
		conf_ipam "$ipam" ".ipam.type=\"$IPAM\""
		want_err ADD "$@" || fail "($PLUGIN with $ipam)"
	done
}

test_badinput_ipam_ranges()
{
	pod p1
	ipam_bad '{}' 7 subnet
	ipam_bad '{"subnet":"banana"}' '6|7' subnet banana
	ipam_bad '{"subnet":"10.1.0.0/33"}' '6|7' subnet 10.1.0.0/33
	ipam_bad '{"subnet":"10.1.0.0"}' '6|7' subnet 10.1.0.0
	ipam_bad '{"subnet":"10.1.0.5/24"}' 7 10.1.0.5/24
	ipam_bad '{"subnet":"10.1.0.0/31"}' 7 10.1.0.0/31
	ipam_bad '{"subnet":"10.1.0.0/32"}' 7 10.1.0.0/32
	ipam_bad '{"subnet":"fd00::/127"}' 7 fd00::/127
	ipam_bad '{"subnet":5}' 6 subnet
	ipam_bad '{"subnet":"10.1.0.0/24","rangeStart":"10.2.0.1"}' 7 rangeStart 10.2.0.1
	ipam_bad '{"subnet":"10.1.0.0/24","rangeEnd":"10.2.0.1"}' 7 rangeEnd 10.2.0.1
	ipam_bad '{"subnet":"10.1.0.0/24","rangeStart":"10.1.0.9","rangeEnd":"10.1.0.3"}' 7 10.1.0.9
	ipam_bad '{"subnet":"10.1.0.0/24","rangeStart":"fd00::1"}' '6|7' fd00::1
	ipam_bad '{"subnet":"10.1.0.0/24","gateway":"x"}' '6|7' gateway x
	ipam_bad '{"ranges":[]}' 7
	ipam_bad '{"ranges":[[]]}' 7
	ipam_bad '{"ranges":"x"}' 6 ranges
	ipam_bad '{"ranges":[{"subnet":"10.1.0.0/24"}]}' 6 ranges
	ipam_bad '{"ranges":[[{"subnet":"10.1.0.0/24"},{"subnet":"fd00::/64"}]]}' 7
	ipam_bad '{"ranges":[[{"subnet":"10.1.0.0/24"},{"subnet":"10.1.0.0/25"}]]}' 7 overlap
	ipam_bad '{"ranges":[[{"subnet":"10.1.0.0/24"}],[{"subnet":"10.1.0.128/25"}]]}' 7 overlap
	ipam_bad '{"subnet":"10.1.0.0/24","routes":[{"dst":"banana"}]}' '6|7' dst banana
	ipam_bad '{"subnet":"10.1.0.0/24","routes":[{"dst":"10.0.0.0/8","gw":"x"}]}' '6|7' gw
	ipam_bad '{"subnet":"10.1.0.0/24","routes":"x"}' 6 routes
	ipam_bad '{"subnet":"10.1.0.0/24","resolvConf":"/nonexistent/resolv.conf"}' '5|7' /nonexistent/resolv.conf
}

test_badinput_whereabouts_ranges()
{
	need_railhead
	pod p1
	ipam_bad '{"thisNodeOnly":true,"range":"banana"}' '6|7' range banana
	ipam_bad '{"thisNodeOnly":true,"range":"10.1.0.0/24","range_start":"10.2.0.5"}' 7 range_start 10.2.0.5
	ipam_bad '{"thisNodeOnly":true,"range":"10.1.0.0/24","range_start":"10.1.0.9","range_end":"10.1.0.2"}' 7 10.1.0.9
	ipam_bad '{"thisNodeOnly":true,"range":"10.1.0.20-10.1.0.10/24"}' 7 10.1.0.20
	ipam_bad '{"thisNodeOnly":true,"range":"10.1.0.10-10.3.0.10/24"}' 7 10.3.0.10
	ipam_bad '{"thisNodeOnly":true,"range":"10.1.0.0/24","exclude":["banana"]}' '6|7' exclude banana
	ipam_bad '{"thisNodeOnly":true,"range":"10.1.0.0/24","exclude":"10.1.0.1"}' 6 exclude
	ipam_bad '{"thisNodeOnly":true,"ipRanges":[{}]}' 7 range
	ipam_bad '{"thisNodeOnly":true,"range":"10.1.0.0/24","network_name":"a/b"}' 7 network_name a/b
}

# Each node would give the same addresses, without a word.
test_badinput_whereabouts_range_of_all_nodes()
{
	need_railhead
	pod p1
	ipam_bad '{"range":"10.1.0.0/24"}' 7 range thisNodeOnly
	ipam_bad '{"ipRanges":[{"range":"10.1.0.0/24"}]}' 7 range thisNodeOnly
	ipam_bad '{"range":"10.1.0.0/24","node_slice_size":"/26"}' 7 node_slice_size /26 thisNodeOnly blockSize
	conf_ipam '{"range":"10.1.0.0/24"}' ".ipam.type=\"$IPAM\""
	PLUGIN=$IPAM want_err STATUS 7 thisNodeOnly
	want_ok DEL
}

test_badinput_whereabouts_GATEWAY()
{
	need_railhead
	PLUGIN=$IPAM CID=c1 NS=/run/netns/none
	CARGS='GATEWAY=10.1.0.1'
	conf_ipam '{"thisNodeOnly":true,"range":"10.1.0.0/24"}' ".ipam.type=\"$IPAM\""
	want_err ADD 4 GATEWAY ipam.gateway
	CARGS='IP=10.2.0.9/24'
	want_err ADD 7 10.2.0.9
}

test_badinput_requested_addresses()
{
	need_railhead
	pod p1
	PLUGIN=railhead-ipam
	bad '.runtimeConfig={"ips":["banana"]}' '6|7' banana
	bad '.runtimeConfig={"ips":["10.99.0.1/24"]}' 7 10.99.0.1
	bad '.runtimeConfig={"ips":["10.77.0.1/24"]}' '7|103' 10.77.0.1
	bad '.runtimeConfig={"ips":"10.77.0.5"}' 6 ips
	bad '.args={"cni":{"ips":["10.99.0.1"]}}' 7 10.99.0.1
	bad '.runtimeConfig={"ipRanges":[[{"subnet":"x"}]]}' '6|7' x
	CARGS=IP=banana
	bad . '4|7' IP banana
	CARGS=IP=10.99.0.1
	bad . '4|7' 10.99.0.1
}

test_badinput_unknown_pool()
{
	need_railhead
	pod p1
	ipam_bad '{"pool":"nosuch"}' '7|108' nosuch
	ipam_bad '{"pools":["nosuch","other"]}' '7|108' nosuch
	ipam_bad '{"pools":[]}' 7
	ipam_bad '{"pools":"rail0"}' 6 pools
	ipam_bad '{"pool":5}' 6 pool
	ipam_bad '{"pool":"a/b"}' '7|108' a/b
}

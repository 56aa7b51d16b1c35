# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What is on the wire after an ADD: the other end of the master's cable listens.

# listen: start the sniffer; heard: stop it and leave what it saw in $W/wire.
listen()
{
	rm -f "$W/wire" # else its last "ready" would be taken for this one's
	"$HELPERS/sniff" "$WIRE" >"$W/wire" 2>&1 &
	SNIFFER=$!
	eventually grep -q ready "$W/wire"
}
# The window is as long as the kernel's own repetitions and DAD would take (1 s).
heard()
{
	sleep "${1:-1.3}"
	kill "$SNIFFER"
	wait "$SNIFFER" 2>/dev/null
}
count() { grep -c "$1" "$W/wire" || :; }

# CNI-160
test_announce_one_arp_and_one_advertisement()
{
	local a4 a6 mac
	pod p1
	conf_ipam "$(dual_ipam)"
	listen
	want_ok ADD
	heard
	a4=$(addr4) a6=$(addr6) mac=$(res '.interfaces[0].mac')
	eq "gratuitous ARPs in: $(cat "$W/wire")" "$(count "^garp ${a4%/*} $mac .* to ff:ff:ff:ff:ff:ff")" 1
	eq "unsolicited advertisements in: $(cat "$W/wire")" "$(count "^na ${a6%/*} $mac flags=O to ff02::1$")" 1
	eq "probes for the address in: $(cat "$W/wire")" "$(count "^dad ${a6%/*}$")" 0
	eq "announcements of other addresses" "$(grep -cv -e "^dad fe80" -e "^na fe80" -e "^ready" \
		-e " ${a4%/*} " -e " ${a6%/*} " "$W/wire")" 0
	want_ok DEL
}

test_announce_two_addresses_of_a_family()
{
	need_railhead
	pod p1
	fake two <<-'EOF'
		[ $CNI_COMMAND != ADD ] || echo '{"ips":[{"address":"10.9.0.5/24"},{"address":"10.9.1.5/24"},
			{"address":"fd00:9::5/64"},{"address":"fd00:9:1::5/64"}]}'
	EOF
	conf '.ipam={"type":"two"}'
	listen
	want_ok ADD
	heard
	for a in fd00:9::5 fd00:9:1::5; do
		eq "advertisements of $a" "$(count "^na $a ")" 1
	done
	for a in 10.9.0.5 10.9.1.5; do
		eq "ARPs of $a" "$(count "^garp $a ")" 1
	done
	want_ok DEL
}

test_announce_nothing_for_layer_2_only_and_failed_ADD()
{
	pod p1
	conf .
	listen
	want_ok ADD DEL
	conf '.ipam={"type":"nosuch"}'
	cni ADD
	heard 0.3
	eq "announcements" "$(grep -cv -e ready -e 'fe80::' "$W/wire")" 0
}

# A neighbour that knows the address under another MAC learns the new one at once.
test_announce_corrects_a_neighbours_cache()
{
	local a4 a6 mac
	pod p1
	pod p2
	use p2
	conf_ipam "$(dual_ipam)"
	want_ok ADD
	ip netns exec p2 sh -c 'echo 0 >/proc/sys/net/ipv4/neigh/net1/locktime'
	# The addresses that p1 will be asked to take.
	ip -n p2 neigh replace 10.77.0.77 lladdr 02:de:ad:00:00:01 dev net1 nud stale
	ip -n p2 neigh replace fd00:77::77 lladdr 02:de:ad:00:00:01 dev net1 nud stale
	use p1
	conf_ipam "$(dual_ipam)" '.args={"cni":{"ips":["10.77.0.77","fd00:77::77"]}}'
	want_ok ADD
	a4=$(addr4) a6=$(addr6) mac=$(res '.interfaces[0].mac')
	eq "the addresses asked for" "$a4 $a6" "10.77.0.77/24 fd00:77::77/64"
	for a in "${a4%/*}" "${a6%/*}"; do
		for _ in {1..1500}; do
			ip -n p2 neigh show "$a" dev net1 | grep -q "$mac" && break
			sleep 0.02
		done
		has "neighbour entry of $a" "$(ip -n p2 neigh show "$a" dev net1)" "$mac"
	done
	want_ok DEL
	use p2
	want_ok DEL
}

# No wait for duplicate address detection: the address is not tentative, and nothing was probed.
test_announce_no_dad_by_default()
{
	pod p1
	conf_ipam "$(v6_ipam)" '.ipam.routes=[{"dst":"::/0"}]'
	listen
	want_ok ADD
	eq "tentative addresses" "$(ip -n p1 -6 addr show net1 tentative scope global)" ""
	heard
	eq "probes in: $(cat "$W/wire")" "$(count "^dad fd")" 0
	want_ok DEL
}

test_announce_dad_waits_and_then_announces()
{
	local a6 mac
	need_railhead
	pod p1
	conf_ipam "$(dual_ipam)" '.dad=true'
	listen
	want_ok ADD
	eq "tentative addresses" "$(ip -n p1 -6 addr show net1 tentative scope global)" ""
	a6=$(addr6) mac=$(res '.interfaces[0].mac')
	heard
	eq "probes of $a6 in: $(cat "$W/wire")" "$(count "^dad ${a6%/*}$")" 1
	eq "advertisements in: $(cat "$W/wire")" "$(count "^na ${a6%/*} $mac flags=O to ff02::1$")" 1
	eq "ARPs" "$(count "^garp ")" 1
	want_ok DEL
}

# CNI-161
test_announce_dad_finds_a_duplicate_and_rolls_back()
{
	need_railhead
	pod p1
	# Another host on the wire has the address. It is not an interface of the node, whose own addresses are refused at once.
	pod far
	ip link add link $WIRE name far0 type macvlan mode bridge
	ip link set far0 netns far up
	ip -n far addr add fd00:77::2/64 dev far0 nodad
	conf_ipam "$(dual_ipam)" '.dad=true | .args={"cni":{"ips":["fd00:77::2"]}}'
	want_err ADD '103|104' fd00:77::2
	no_link p1 net1
	eq leases "$(lease_count)" 0
	# Without dad it is not looked for.
	edit '.dad=false'
	want_ok ADD DEL
	ip -n far link del far0
	edit '.dad=true'
	want_ok ADD DEL
}

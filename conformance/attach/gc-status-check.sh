# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# GC, STATUS and CHECK: what the reference leaves out.

three()
{
	local i
	for i in 1 2 3; do
		pod "p$i"
		conf_ipam "$(dual_ipam)"
		want_ok ADD
		addr4 >"$W/addr.$i"
	done
	eq "leases before" "$(lease_count)" 6
}
gone() { no_link "p$1" net1 && no_lease "$(<"$W/addr.$1")"; }
kept() { has_addr "p$1" net1 "$(<"$W/addr.$1")" && has_lease "$(<"$W/addr.$1")"; }
del_three()
{
	local i
	for i in 1 2 3; do
		use "p$i"
		conf_ipam "$(dual_ipam)"
		want_ok DEL
	done
}

# CNI-070 to CNI-077, CNI-149
test_gc_frees_what_is_not_in_the_list()
{
	local key
	for key in cni.dev/valid-attachments cni.dev/attachments; do
		three
		conf_ipam "$(dual_ipam)" ".\"$key\"=[{containerID:\"cid-p1\",ifname:\"net1\"},
			{containerID:\"cid-p3\",ifname:\"net2\"},{containerID:\"stranger\",ifname:\"net1\"}]"
		want_ok GC
		kept 1
		gone 2
		gone 3
		conf_ipam "$(dual_ipam)" ".\"$key\"=[]"
		want_ok GC
		gone 1
		eq "records" "$(find $RUN ! -type d ! -name lock 2>/dev/null)" ""
		want_ok GC
		del_three
		unpod p1; unpod p2; unpod p3
	done
}

# A renamed file has the data of another attachment: GC names the file and leaves everything that it may be about.
test_gc_refuses_the_record_of_another_attachment()
{
	need_railhead
	local dir
	three
	dir=$(dirname "$(find $RUN -name 'cid-p2,net1')")
	mv "$dir/cid-p2,net1" "$dir/ghost,net1"
	conf_ipam "$(dual_ipam)" '."cni.dev/valid-attachments"=[{containerID:"cid-p1",ifname:"net1"}]'
	cni_net GC
	is_err 104 "$dir/ghost,net1"
	kept 1; kept 2; gone 3
	[ -e "$dir/ghost,net1" ] || fail "the record is gone"
	mv "$dir/ghost,net1" "$dir/cid-p2,net1"
	want_ok GC
	kept 1; gone 2
	del_three
	unpod p1; unpod p2; unpod p3
}

# The path of the namespace leads nowhere that can be opened, and yet the namespace lives: its interface
# stays, and so must its address, whatever the IPAM's own GC would free.
test_gc_keeps_the_address_of_what_it_cannot_remove()
{
	need_railhead
	pod p1
	conf_ipam "$(dual_ipam)" '."cni.dev/valid-attachments"=[]'
	want_ok ADD
	addr4 >"$W/addr.1"
	touch "$W/p1" && mount --bind /run/netns/p1 "$W/p1" && umount /run/netns/p1 && rm /run/netns/p1 &&
		ln -s p1 /run/netns/p1
	cni_net GC
	[ "$RC" = 1 ] || fail "GC must say that it could not: $(said)"
	has_lease "$(<"$W/addr.1")"
	rm /run/netns/p1 && touch /run/netns/p1 && mount --bind "$W/p1" /run/netns/p1 && umount "$W/p1" && rm "$W/p1"
	has_addr p1 net1 "$(<"$W/addr.1")"
	want_ok GC
	gone 1
}

test_gc_without_a_list_keeps_everything()
{
	three
	conf_ipam "$(dual_ipam)"
	want_ok GC
	kept 1; kept 2; kept 3
	conf_ipam "$(dual_ipam)" '."cni.dev/valid-attachments"=null'
	want_ok GC
	kept 1; kept 2; kept 3
	# The newer spelling is preferred.
	conf_ipam "$(dual_ipam)" '."cni.dev/valid-attachments"=[{containerID:"cid-p1",ifname:"net1"},
		{containerID:"cid-p2",ifname:"net1"},{containerID:"cid-p3",ifname:"net1"}] | ."cni.dev/attachments"=[]'
	want_ok GC
	kept 1; kept 2; kept 3
	del_three
}

test_gc_is_for_its_own_network_only()
{
	three
	conf_ipam "$(dual_ipam)" '.name="othernet" | ."cni.dev/valid-attachments"=[]'
	want_ok GC
	kept 1; kept 2; kept 3
	del_three
}

test_gc_with_a_bad_list_removes_nothing()
{
	local v
	three
	for v in '"x"' 5 '{}' '["x"]' '[{"containerID":5,"ifname":"net1"}]' '[{"containerID":"cid-p1"}]' '[[]]'; do
		conf_ipam "$(dual_ipam)" ".\"cni.dev/valid-attachments\"=$v"
		want_err GC '6|7' attachments || fail "(list $v)"
		kept 1; kept 2; kept 3
	done
	del_three
}

test_gc_when_the_namespaces_are_gone()
{
	three
	unpod p1
	ip netns del p2
	touch /run/netns/p2
	conf_ipam "$(dual_ipam)" '."cni.dev/valid-attachments"=[{containerID:"cid-p3",ifname:"net1"}]'
	want_ok GC
	no_lease "$(<"$W/addr.1")"
	no_lease "$(<"$W/addr.2")"
	kept 3
	sed -i /^p2/d "$W/pods"
	rm /run/netns/p2
	use p3
	want_ok DEL
}

test_gc_and_status_are_forwarded_to_the_ipam()
{
	pod p1
	fake_good seen
	conf '.ipam={"type":"seen"} | ."cni.dev/valid-attachments"=[{containerID:"a",ifname:"b"}]'
	want_ok GC STATUS
	eq "verbs" "$(fake_log seen)" "GC STATUS "
	is "stdin of GC" diff <(jq -S . "$W/conf") <(jq -S . "$FAKE/seen.GC.stdin")
}

# CNI-072: a failing IPAM does not keep GC from removing links.
test_gc_goes_on_after_errors()
{
	pod p1
	fake sour <<-'EOF'
		case $CNI_COMMAND in
		ADD) echo '{"ips":[{"address":"10.9.0.5/24"}]}' ;;
		GC | DEL) echo '{"code":140,"msg":"not now"}'; exit 1 ;;
		esac
	EOF
	conf '.ipam={"type":"sour"}'
	want_ok ADD
	edit '."cni.dev/valid-attachments"=[]'
	want_err GC 140 "not now"
	no_link p1 net1
	fake_good sour
	want_ok GC DEL
}

# --- STATUS ------------------------------------------------------------------------------------

# CNI-148
test_status_of_a_missing_master()
{
	conf_ipam "$(v4_ipam)" '.master="nosuch0"'
	want_err STATUS '50' nosuch0
	conf_ipam "$(v4_ipam)" 'del(.master)'
	want_err STATUS '50' master
	conf_ipam "$(v4_ipam)"
	want_ok STATUS
	# It says nothing about other commands (CNI-067), and a master in the pod is not visible.
	conf_ipam "$(v4_ipam)" '.master="nosuch0" | .linkInContainer=true'
	want_ok STATUS
}

test_status_of_an_exhausted_range()
{
	pod p1
	pod p2
	conf_ipam "{\"type\":\"$IPAM\",\"subnet\":\"10.77.1.0/30\"}"
	want_ok STATUS
	use p1
	want_ok ADD
	# A node whose STATUS fails is NotReady, and loses the pods that are well.
	want_ok STATUS
	PLUGIN=$IPAM
	want_ok STATUS
	edit '.ipam.statusWhenFull=true'
	want_err STATUS 50 10.77.1.0/30
	PLUGIN=macvlan
	want_err STATUS 50 10.77.1.0/30
	use p2
	want_err ADD '101' 10.77.1.0/30
	no_link p2 net1
	use p1
	want_ok DEL STATUS
}

test_status_of_a_missing_ipam()
{
	conf '.ipam={"type":"nosuch-ipam"}'
	want_err STATUS '50|105' nosuch-ipam
}

test_status_of_a_bad_configuration()
{
	conf_ipam "$(v4_ipam)" '.mode="bogus"'
	want_err STATUS '2|50' bogus
	conf_ipam "$(v4_ipam)" '.ipam.subnet="banana"'
	want_err STATUS '6|7|50' banana
}

# --- CHECK -------------------------------------------------------------------------------------

checked()
{
	pod p1
	conf_ipam "$(dual_ipam)" "${1:-.}"
	want_ok ADD || return
	prev
	want_ok CHECK
}

test_check_needs_prevResult()
{
	pod p1
	conf_ipam "$(v4_ipam)"
	want_ok ADD
	want_err CHECK 7 prevResult
	want_ok DEL
}

# CNI-150
test_check_finds_a_missing_link()
{
	checked
	ip -n p1 link del net1
	want_err CHECK 104 net1
	want_ok DEL
}

test_check_finds_a_link_of_another_kind()
{
	local mac
	checked
	mac=$(res '.interfaces[0].mac')
	ip -n p1 link del net1
	ip -n p1 link add net1 address "$mac" type veth peer name x
	want_err CHECK 104 net1 macvlan
	want_ok DEL
	is "the foreign link is not ours to delete" ip -n p1 link show net1
	ip -n p1 link del net1
}

test_check_finds_another_master()
{
	local mac
	need_railhead
	checked
	ip link add other0 type veth peer name other1
	edit '.master="other0"'
	want_err CHECK 104 net1 "on device $MASTER" other0
	edit ".master=\"$MASTER\""
	want_ok CHECK
	# A device of a third namespace, with the name and the number of the master.
	mac=$(res '.interfaces[0].mac')
	pod p2
	ip -n p2 link add name "$MASTER" index "$(ip -j link show dev "$MASTER" | jq '.[0].ifindex')" \
		type veth peer name x
	use p1
	ip -n p1 link del net1
	ip -n p2 link add link "$MASTER" netns p1 name net1 address "$mac" type macvlan mode bridge
	ip -n p1 link set net1 up
	want_err CHECK 104 net1 "another network namespace" "$MASTER"
	want_ok DEL
	ip link del other0
	unpod p1; unpod p2
}

# The kernel puts a macvlan of a macvlan on the device below.
test_check_of_a_master_that_is_a_macvlan()
{
	need_railhead
	ip link add link "$MASTER" name between0 type macvlan mode bridge
	ip link set between0 up
	checked '.master="between0"'
	want_ok DEL
	ip link del between0
	unpod p1
}

test_check_of_a_master_in_the_container()
{
	need_railhead
	pod p1
	ip -n p1 link add inner0 type veth peer name inner1
	ip -n p1 link set inner0 up
	ip -n p1 link add inner2 type veth peer name inner3
	conf_ipam "$(dual_ipam)" '.linkInContainer=true | .master="inner0"'
	want_ok ADD
	prev
	want_ok CHECK
	edit '.master="inner2"'
	want_err CHECK 104 net1 "on device inner0" inner2
	want_ok DEL
	ip -n p1 link del inner0
	ip -n p1 link del inner2
	unpod p1
}

test_check_finds_another_mode()
{
	checked '.mode="private"'
	edit '.mode="vepa"'
	want_err CHECK 104 mode
	edit '.mode="private"'
	want_ok CHECK DEL
}

test_check_finds_another_mac()
{
	checked
	ip -n p1 link set net1 address 02:00:00:00:99:99
	want_err CHECK 104 02:00:00:00:99:99
	want_ok DEL
}

# CNI-151: a later plugin changed it, and prevResult, the result of the whole chain, says so.
test_check_accepts_a_mac_changed_by_a_later_plugin()
{
	checked '.mac="02:00:00:00:00:01"'
	ip -n p1 link set net1 address 02:00:00:00:99:99
	edit '.prevResult.interfaces[0].mac="02:00:00:00:99:99"'
	want_ok CHECK DEL
}

test_check_accepts_more_than_it_made()
{
	checked
	ip -n p1 addr add 10.200.0.1/24 dev net1
	ip -n p1 link set net1 mtu 1400
	ip -n p1 link add extra type veth peer name extra1
	edit '.prevResult.interfaces += [{"name":"extra","sandbox":"/run/netns/p1"},{"name":"hostside"}] |
		.prevResult.unknown={"a":1}'
	want_ok CHECK DEL
	ip -n p1 link del extra
}

test_check_finds_missing_addresses()
{
	local a
	checked
	for a in "$(addr4)" "$(addr6)"; do
		ip -n p1 addr del "$a" dev net1
		want_err CHECK 104 "$a"
		ip -n p1 addr add "$a" dev net1 nodad
		want_ok CHECK
	done
	# The right address with another prefix length is not it.
	a=$(addr4)
	ip -n p1 addr del "$a" dev net1
	ip -n p1 addr add "${a%/*}/32" dev net1
	want_err CHECK 104 "$a"
	want_ok DEL
}

test_check_finds_missing_routes()
{
	checked '.ipam.routes=[{"dst":"0.0.0.0/0"},{"dst":"10.99.0.0/16"},{"dst":"fd00:99::/64","gw":"fd00:77::1"}]'
	ip -n p1 route del 10.99.0.0/16
	want_err CHECK 104 10.99.0.0/16
	ip -n p1 route add 10.99.0.0/16 via 10.77.0.1
	want_ok CHECK
	ip -n p1 -6 route del fd00:99::/64
	want_err CHECK 104 fd00:99::/64
	ip -n p1 -6 route add fd00:99::/64 via fd00:77::1
	want_ok CHECK
	ip -n p1 route del default
	want_err CHECK 104 0.0.0.0/0
	want_ok DEL
}

# A route without a table belongs into main, or where a rule leads for the pod's address, as sbr and vrf leave it.
test_check_finds_a_route_that_no_rule_leads_to()
{
	local family default addr
	checked '.ipam.routes=[{"dst":"0.0.0.0/0"},{"dst":"::/0","gw":"fd00:77::1"},{"dst":"10.98.0.0/16","table":98}]'
	for family in -4 -6; do
		default=0.0.0.0/0 addr=$(addr4)
		[ $family = -4 ] || default=::/0 addr=$(addr6)
		ip -n p1 $family route show default >"$W/default"
		ip -n p1 $family route del default
		# shellcheck disable=SC2046 # words
		ip -n p1 $family route add table 100 $(<"$W/default")
		want_err CHECK 104 $default 'table 100'
		ip -n p1 $family rule add from "${addr%/*}" table 100
		want_ok CHECK
		ip -n p1 $family rule del table 100
		ip -n p1 $family rule add from all fwmark 7 table 100
		want_err CHECK 104 $default
		ip -n p1 $family rule del table 100
		ip -n p1 $family rule add from "$([ $family = -4 ] && echo 10.78.0.0/16 || echo fd00:78::/64)" table 100
		want_err CHECK 104 $default
		ip -n p1 $family rule del table 100
		ip -n p1 $family rule add from all table 100
		want_ok CHECK
		ip -n p1 $family rule del table 100
		ip -n p1 $family route flush table 100
		# shellcheck disable=SC2046 # words
		ip -n p1 $family route add $(<"$W/default")
		want_ok CHECK
	done
	ip -n p1 route del 10.98.0.0/16 table 98
	ip -n p1 route add 10.98.0.0/16 via 10.77.0.1
	want_err CHECK 104 10.98.0.0/16
	want_ok DEL
}

# The real plugins move the routes of the interface. vrf of Debian loses those with a gateway, which later ones add again.
check_behind() # sbr, vrf
{
	local family
	checked '.cniVersion="1.0.0" | .ipam.routes=[{"dst":"0.0.0.0/0"},{"dst":"10.99.0.0/16"}]'
	cp "$W/conf" "$W/own"
	jq -c --arg t "$1" '{cniVersion, name, type: $t, vrfname: "blue", prevResult}' "$W/own" >"$W/conf"
	PLUGIN=$1 BIN=$PEER_DIR
	cni ADD
	PLUGIN=macvlan BIN=$W/bin
	[ "$RC" = 0 ] || fail "ADD of $1: $(said)"
	if [ "$1" = vrf ]; then
		ip -n p1 route replace 10.99.0.0/16 via 10.77.0.1 vrf blue
		ip -n p1 route replace default via 10.77.0.1 vrf blue
	fi
	cp "$W/own" "$W/conf"
	prev '.interfaces |= map(select(.name == "net1"))'
	want_ok CHECK
	[ "$1" = vrf ] || ip -n p1 rule del from "$(addr4 | cut -d/ -f1)"
	[ "$1" = sbr ] || for family in -4 -6; do ip -n p1 $family rule del pref 1000; done
	want_err CHECK 104 0.0.0.0/0
	want_ok DEL
	ip -n p1 link del blue 2>/dev/null
	:
}
test_check_behind_sbr()
{
	need_peer sbr
	check_behind sbr
}
test_check_behind_vrf()
{
	need_peer vrf
	# In a namespace of its own: the first VRF makes rules that stay.
	unshare --net ip link add probe0 type vrf table 9 2>/dev/null || skip 'this kernel has no vrf (CONFIG_NET_VRF)'
	check_behind vrf
}

test_check_finds_a_missing_lease()
{
	need_railhead
	checked
	(
		PLUGIN=$IPAM
		want_ok DEL
	)
	want_err CHECK '104|108'
	want_ok DEL
}

test_check_finds_a_link_that_is_down()
{
	need_railhead
	checked
	ip -n p1 link set net1 down
	cni CHECK
	is_err 104
	want_ok DEL
}

test_check_of_another_namespace()
{
	checked
	pod p2
	CID=cid-p1
	want_err CHECK '7|104'
	use p1
	edit '.prevResult.interfaces[0].sandbox="/run/netns/p2"'
	want_err CHECK '7|104' net1
	want_ok DEL
	unpod p1
	want_err CHECK '8|104|108'
}

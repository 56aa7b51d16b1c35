# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ondemand.sh: "master" as a VLAN, a bond, or a VLAN on a bond that the first pod makes and the last one removes. Members of
# bonds are veths om0, om1, whose far ends are in a bond on0 of the other side.

OD_VLAN='{"vlan":120,"of":"'$MASTER'"}'
OD_BOND='{"bond":["om0","om1"],"mode":"active-backup","name":"ob0"}'
OD_BOTH='{"vlan":120,"of":'$OD_BOND'}'

od_need_vlan()
{
	need_railhead
	ip link add link "$MASTER" name probe0 type vlan id 9 2>/dev/null || skip "this kernel has no vlan (CONFIG_VLAN_8021Q)"
	ip link del probe0
}
od_need_bond()
{
	od_need_vlan
	ip link add probe0 type bond 2>/dev/null || skip "this kernel has no bond (CONFIG_BONDING)"
	ip link del probe0
}
# members NUMBER...: om0, om1 with mtu 9000, up, without link-local addresses.
od_members()
{
	local i
	for i; do
		ip link add "om$i" address "02:00:00:00:0e:0$i" mtu 9000 type veth peer name "som$i" mtu 9000 || fail "test error: om$i"
		ip link set "om$i" addrgenmode none
		ip link set "som$i" addrgenmode none
		ip link set "om$i" up
		ip link set "som$i" up
	done
}
od_members_gone()
{
	local i
	for i in 0 1; do ip link del "om$i" 2>/dev/null; done
}
od_bond_of_others() # NUMBER...
{
	local i
	ip link add others type bond mode active-backup miimon 100
	for i; do
		ip link set "om$i" down
		ip link set "om$i" master others
	done
	ip link set others up
}
od_on() { conf_ipam "$(v4_ipam)" ".master=$1 | ${2:-.}"; }
od_host_get() { ip -j -d link show dev "$1" 2>/dev/null | jq -rc ".[0]|$2"; }
od_there() { is "$1 must be there" ip link show dev "$1"; }
od_not_there() { isnt "$1 must be gone" ip link show dev "$1" || ip link del "$1"; }
od_users_of() { jq -r '.users|length' "$RUN/masters/$1.json"; }
od_no_file() { eq "files of masters" "$(ls "$RUN/masters" 2>/dev/null)" ""; }
# as_before NAME: a member as members() made it.
od_as_before() { eq "$1 afterwards" "$(od_host_get "$1" '[.mtu, .address, .master, (.flags|index("UP") != null)]')" "[9000,\"$2\",null,true]"; }
od_members_as_before() { od_as_before om0 02:00:00:00:0e:00; od_as_before om1 02:00:00:00:0e:01; }
od_second() { use p2; }
od_first() { use p1; }

od_vlan_shared() # PLUGIN
{
	PLUGIN=$1
	od_need_vlan
	pod p1
	pod p2
	od_first
	od_on "$OD_VLAN"
	want_ok STATUS
	od_not_there "$MASTER.120"
	want_ok ADD
	od_there "$MASTER.120"
	eq "id" "$(od_host_get "$MASTER.120" .linkinfo.info_data.id)" 120
	eq "alias" "$(od_host_get "$MASTER.120" .ifalias)" "railhead: a master on demand"
	eq "the pod's interface is on it" "$(link_get p1 net1 .link_index)" "$(od_host_get "$MASTER.120" .ifindex)"
	prev
	want_ok CHECK
	od_second
	od_on "$OD_VLAN"
	want_ok ADD
	eq "users" "$(od_users_of "$MASTER.120")" 2
	od_first
	want_ok DEL DEL
	od_there "$MASTER.120"
	eq "users" "$(od_users_of "$MASTER.120")" 1
	od_second
	want_ok DEL
	od_not_there "$MASTER.120"
	od_no_file
}
test_ondemand_a_vlan_is_shared_and_ends_with_the_last_macvlan() { od_vlan_shared macvlan; }
test_ondemand_a_vlan_is_shared_and_ends_with_the_last_ipvlan()
{
	need_kind ipvlan
	od_vlan_shared ipvlan
}

test_ondemand_frames_of_the_pod_carry_the_tag()
{
	od_need_vlan
	pod p1
	ip link add link "$WIRE" name peer120 type vlan id 120
	ip addr add 10.77.0.200/24 dev peer120
	ip link set peer120 up
	od_on "$OD_VLAN"
	want_ok ADD
	pings p1 10.77.0.200
	want_ok DEL
	ip link del peer120
	od_not_there "$MASTER.120"
}

# A conf with a good ipam, the pod p1, and its end by od_end.
OD_ENDS='DEL GC repair'
od_end() # DEL, GC, repair
{
	case $1 in
	DEL) want_ok DEL ;;
	GC)
		edit '."cni.dev/valid-attachments"=[]'
		want_ok GC
		;;
	repair)
		ip netns del p1
		eventually eval '[ -z "$(ip -d -o link | grep macvlan)" ]'
		is "repair" "$RAILCTL" attachments repair
		;;
	esac
	unpod p1 2>/dev/null
	sed -i '/^p1$/d' "$W/pods"
}

# The kernel does not say who set it up: an administrator may rely on it. An ADD that fails sets it down again.
test_ondemand_a_lower_interface_that_is_down_is_set_up()
{
	local end change mtu
	od_need_vlan
	fake bad <<-'EOF'
		[ "$CNI_COMMAND" = ADD ] || exit 0
		echo '{"cniVersion":"1.1.0","code":11,"msg":"no address"}'
		exit 1
	EOF
	for end in $OD_ENDS; do
		pod p1
		ip link add om0 mtu 1500 type veth peer name som0
		conf '.ipam={"type":"bad"} | .master={"vlan":7,"of":"om0"}'
		want_err ADD 11 'no address'
		od_not_there om0.7
		eq "om0 after a failed ADD" "$(od_host_get om0 '.flags|index("UP") != null')" false
		od_on '{"vlan":7,"of":"om0"}'
		want_ok ADD
		eq "om0 is up" "$(od_host_get om0 '.flags|index("UP") != null')" true
		mtu=1500
		case $end in
		DEL) ip link set om0 up ;;
		GC) ip link set om0 down && ip link set om0 up ;;
		repair) mtu=1600 && ip link set om0 mtu 1600 up ;;
		esac
		od_end "$end"
		od_not_there om0.7
		eq "om0 after $end" "$(od_host_get om0 '[.mtu, (.flags|index("UP") != null)]')" "[$mtu,true]"
		od_no_file
		ip link del om0
	done
}

test_ondemand_keys_of_a_vlan()
{
	od_need_vlan
	pod p1
	od_on '{"vlan":4094,"of":["eth99","'"$MASTER"'"],"name":"my-vlan","mtu":1400}'
	want_ok ADD
	eq "mtu" "$(od_host_get my-vlan '[.mtu, .linkinfo.info_data.id, .link]')" "[1400,4094,\"$MASTER\"]"
	eq "mtu of the pod" "$(link_get p1 net1 .mtu)" 1400
	prev
	want_ok CHECK DEL
	od_not_there my-vlan
	od_on '{"vlan":5,"of":"'"$MASTER"'","mtu":9000}'
	want_err ADD 7 'mtu: 9000' "$MASTER"
	od_on '{"vlan":5,"of":"eth99"}'
	want_err ADD 7 eth99
	od_no_file
}

test_ondemand_a_wrong_configuration_is_named()
{
	need_railhead
	pod p1
	od_on '{}'
	want_err ADD 7 master vlan bond
	od_on '{"vlan":5000,"of":"x"}'
	want_err ADD 7 master.vlan 5000
	od_on '{"vlan":5}'
	want_err ADD 7 master.of
	od_on '{"vlan":5,"of":"x","id":6}'
	want_err ADD 7 master id
	od_on '{"vlan":5,"of":"x","name":"a/b"}'
	want_err ADD 7 master.name a/b
	od_on '{"bond":["x"]}'
	want_err ADD 7 master.mode
	od_on '{"bond":["x"],"mode":"lacp"}'
	want_err ADD 2 master.mode lacp 802.3ad
	od_on '{"bond":[],"mode":"802.3ad"}'
	want_err ADD 7 master.bond
	od_on '{"bond":["x"],"mode":"balance-rr","lacpRate":"fast"}'
	want_err ADD 7 master.lacpRate 802.3ad
	od_on "$OD_VLAN" '.linkInContainer=true'
	want_err ADD 7 master linkInContainer
	[ -x "$BIN/sriov" ] || return 0
	PLUGIN=sriov
	conf '.master={"vlan":5,"of":"x"} | .deviceID="0000:ff:1f.7"'
	want_err ADD 7 master sriov macvlan
}

# A VLAN that another program made is used, and stays.
test_ondemand_a_vlan_of_others_is_used_and_stays()
{
	od_need_vlan
	pod p1
	ip link add link "$MASTER" name others type vlan id 120
	ip link set others up
	od_on "$OD_VLAN"
	want_ok ADD
	eq "on it" "$(link_get p1 net1 .link_index)" "$(od_host_get others .ifindex)"
	prev
	want_ok CHECK DEL
	od_there others
	od_on '{"vlan":120,"of":"'"$MASTER"'","name":"mine"}'
	want_err ADD 7 others mine
	od_on '{"vlan":120,"of":"'"$MASTER"'","mtu":1300}'
	want_err ADD 7 mtu others 1300
	od_on '{"vlan":121,"of":"'"$MASTER"'","name":"others"}'
	want_err ADD 7 others 120 121
	ip link del others
	od_no_file
}

# needed_by COMMAND...: after it, DEL leaves the VLAN; what it made ends with release, and then GC or repair removes the VLAN.
od_vlan_made()
{
	pod p1
	od_on "$OD_VLAN"
	want_ok ADD
}
od_vlan_kept()
{
	want_ok DEL
	od_there "$MASTER.120"
	edit '."cni.dev/valid-attachments"=[]'
	want_ok GC
	od_there "$MASTER.120"
}
od_vlan_swept()
{
	edit '."cni.dev/valid-attachments"=[]'
	want_ok GC
	od_not_there "$MASTER.120"
	od_no_file
}
test_ondemand_a_vlan_with_an_address_stays()
{
	od_need_vlan
	od_vlan_made
	ip addr add 10.9.9.9/24 dev "$MASTER.120"
	od_vlan_kept
	ip addr del 10.9.9.9/24 dev "$MASTER.120"
	od_vlan_swept
}
test_ondemand_a_vlan_with_a_route_stays()
{
	od_need_vlan
	od_vlan_made
	ip route add 10.9.0.0/16 dev "$MASTER.120"
	od_vlan_kept
	ip route flush dev "$MASTER.120"
	od_vlan_swept
}
test_ondemand_a_vlan_in_a_bridge_stays()
{
	od_need_vlan
	od_vlan_made
	want_ok DEL ADD
	ip link add br9 type bridge
	ip -n p1 link del net1
	ip link set "$MASTER.120" master br9
	od_vlan_kept
	ip link del br9
	od_vlan_swept
}
test_ondemand_a_vlan_under_another_interface_stays()
{
	od_need_vlan
	od_vlan_made
	ip link add link "$MASTER.120" name above0 type macvlan
	od_vlan_kept
	ip link del above0
	od_vlan_swept
}
# The host does not see this one.
test_ondemand_a_vlan_under_an_interface_of_another_namespace_stays()
{
	od_need_vlan
	od_vlan_made
	pod p2
	ip link add link "$MASTER.120" name other1 netns p2 type macvlan mode bridge
	od_first
	od_vlan_kept
	ip -n p2 link del other1
	od_vlan_swept
}
test_ondemand_a_vlan_that_another_attachment_names_stays()
{
	od_need_vlan
	od_vlan_made
	pod p2
	conf_ipam "$(v4_ipam)" ".master=\"$MASTER.120\""
	want_ok ADD
	od_first
	od_on "$OD_VLAN"
	want_ok DEL
	od_there "$MASTER.120"
	od_second
	want_ok DEL
	od_vlan_swept
}
# As an ADD meets the removal: the question of the last DEL is on the VLAN. The kernel refuses any other interface on it.
test_ondemand_a_vlan_that_is_named_while_it_ends()
{
	local ask
	od_need_vlan
	od_vlan_made
	ask=$(printf 'rhask%08x' "$(od_host_get "$MASTER.120" .ifindex)")
	ip -n p1 link del net1
	ip link add link "$MASTER.120" name "$ask" type macvlan mode passthru
	pod p2
	conf_ipam "$(v4_ipam)" ".master=\"$MASTER.120\""
	want_err ADD 11 "$MASTER.120" 'being removed' 'as an object'
	no_link p2 net1
	eq "record of the failed ADD" "$(find "$RUN/attachments" -name '*p2*')" ""
	od_first
	od_on "$OD_VLAN"
	want_ok DEL
	od_not_there "$MASTER.120"
	isnt "the question must be gone" ip link show dev "$ask"
	od_no_file
	want_ok ADD
	od_second
	conf_ipam "$(v4_ipam)" ".master=\"$MASTER.120\""
	want_ok ADD DEL
	od_first
	od_on "$OD_VLAN"
	want_ok DEL
	od_not_there "$MASTER.120"
}
# Whoever comes first: an ADD that says success has its interface.
test_ondemand_a_vlan_that_is_named_at_any_moment_of_its_end()
{
	local i
	od_need_vlan
	pod p1
	pod p2
	for i in 1 2 3 4 5 6 7 8; do
		od_first
		od_on "$OD_VLAN"
		want_ok ADD
		# DEL goes by the record.
		conf_ipam "$(v4_ipam)" ".master=\"$MASTER.120\""
		cni_to del DEL &
		od_second
		cni_to add ADD
		wait
		eq "DEL $i: $(<"$W/par.del")" "$(<"$W/par.del.rc")" 0
		if [ "$(<"$W/par.add.rc")" = 0 ]; then
			eq "the pod's interface is on it" "$(link_get p2 net1 .link_index)" "$(od_host_get "$MASTER.120" .ifindex)"
		else
			is "ADD $i: $(<"$W/par.add")" jq -e '.code == 11 or .code == 7 or .code == 100' "$W/par.add"
			no_link p2 net1
		fi
		want_ok DEL
		edit '."cni.dev/valid-attachments"=[]'
		want_ok GC
		od_not_there "$MASTER.120"
		od_no_file
	done
}
# A person who changes the alias has taken the VLAN over.
test_ondemand_a_vlan_that_was_taken_over_stays()
{
	od_need_vlan
	od_vlan_made
	ip link set "$MASTER.120" alias mine
	want_ok DEL
	od_there "$MASTER.120"
	od_no_file
	ip link del "$MASTER.120"
}
test_ondemand_a_vlan_that_was_renamed_ends_too()
{
	od_need_vlan
	od_vlan_made
	ip link set "$MASTER.120" down
	ip link set "$MASTER.120" name elsewhere
	want_ok DEL
	od_not_there elsewhere
	od_no_file
}
test_ondemand_a_vlan_that_somebody_removed_is_made_again()
{
	od_need_vlan
	od_vlan_made
	ip link del "$MASTER.120"
	prev
	want_err CHECK 104 "$MASTER.120" missing
	pod p2
	od_on "$OD_VLAN"
	want_ok ADD
	od_there "$MASTER.120"
	od_first
	want_ok DEL
	od_there "$MASTER.120"
	od_second
	want_ok DEL
	od_not_there "$MASTER.120"
}

test_ondemand_a_damaged_file_keeps_the_vlan()
{
	od_need_vlan
	od_vlan_made
	cp "$RUN/masters/$MASTER.120.json" "$W/kept"
	echo nonsense >"$RUN/masters/$MASTER.120.json"
	want_ok DEL
	od_there "$MASTER.120"
	grep -q "masters/$MASTER.120.json" "$W/err" || fail "DEL must say which file: $(<"$W/err")"
	want_err ADD 6 "masters/$MASTER.120.json"
	want_ok DEL
	cp "$W/kept" "$RUN/masters/$MASTER.120.json"
	od_vlan_swept
}

# A master without users that could not go at its last DEL, and cannot now.
od_broken_file() { echo nonsense >"$RUN/masters/$MASTER.120.json"; }
od_broken_look() { ip link add "$(printf 'rhask%08x' "$(od_host_get "$MASTER.120" .ifindex)")" type bridge; }
od_mended() { ip link del "$(printf 'rhask%08x' "$(od_host_get "$MASTER.120" .ifindex)")" 2>/dev/null || cp "$W/kept" "$RUN/masters/$MASTER.120.json"; }
od_named() { is "$1 must name it: $(<"$W/out") $(<"$W/err")" grep -q "$MASTER\.120" "$W/out" "$W/err"; }
# Masters are visited in the order of their names.
od_others_go()
{
	local vlan
	for vlan in 119 121; do
		od_on "{\"vlan\":$vlan,\"of\":\"$MASTER\"}"
		want_ok ADD DEL
		od_not_there "$MASTER.$vlan"
		od_named "DEL of $vlan"
		# GC alone removes this one: it has no user and no record.
		want_ok ADD
		ip addr add 10.9.8.8/24 dev "$MASTER.$vlan"
		want_ok DEL
		od_there "$MASTER.$vlan"
		ip addr del 10.9.8.8/24 dev "$MASTER.$vlan"
		edit '."cni.dev/valid-attachments"=[]'
		cni_net GC
		od_not_there "$MASTER.$vlan"
		od_named "GC of $vlan"
	done
}
test_ondemand_one_broken_master_does_not_hold_others()
{
	local how
	od_need_vlan
	for how in od_broken_file od_broken_look; do
		od_vlan_made
		ip addr add 10.9.9.9/24 dev "$MASTER.120"
		want_ok DEL
		ip addr del 10.9.9.9/24 dev "$MASTER.120"
		cp "$RUN/masters/$MASTER.120.json" "$W/kept"
		$how
		pod p2
		od_others_go
		"$RAILCTL" attachments repair >"$W/out" 2>"$W/err" || fail "repair: $(<"$W/err")"
		od_named repair
		od_there "$MASTER.120"
		od_mended
		od_vlan_swept
		unpod p1
		unpod p2
	done
}
# Its DEL fails, and the next one removes it: the runtime calls it again.
test_ondemand_a_DEL_fails_for_its_own_broken_master()
{
	od_need_vlan
	od_vlan_made
	od_broken_look
	want_err DEL 100 "$MASTER.120" 'exists'
	od_there "$MASTER.120"
	od_mended
	want_ok DEL
	edit '."cni.dev/valid-attachments"=[]'
	want_ok GC
	od_not_there "$MASTER.120"
	od_no_file
}

test_ondemand_DEL_without_a_namespace_or_a_record()
{
	od_need_vlan
	od_vlan_made
	ip netns del p1
	sed -i '/^p1$/d' "$W/pods"
	want_ok DEL
	od_not_there "$MASTER.120"
	od_vlan_made
	find $RUN/attachments -type f -delete
	want_ok DEL
	od_not_there "$MASTER.120"
	od_no_file
}

test_ondemand_GC_and_repair_after_the_last_pod()
{
	od_need_vlan
	od_vlan_made
	edit '."cni.dev/valid-attachments"=[]'
	want_ok GC
	no_link p1 net1
	od_not_there "$MASTER.120"
	unpod p1
	od_vlan_made
	unpod p1
	"$RAILCTL" attachments repair >"$W/repaired" 2>&1 || fail "repair: $(<"$W/repaired")"
	od_not_there "$MASTER.120"
	od_no_file
	pod p1
	want_ok DEL
}

# Records that cannot be read are of another plugin here: the master has no user for all that.
test_ondemand_repair_goes_on_behind_records_that_it_cannot_read()
{
	od_need_vlan
	od_vlan_made
	ip addr add 10.9.9.9/24 dev "$MASTER.120"
	want_ok DEL
	od_there "$MASTER.120"
	ip addr del 10.9.9.9/24 dev "$MASTER.120"
	ln -s rdma "$RUN/rdma" # a path without an end
	isnt "repair of such records" "$RAILCTL" attachments repair >"$W/repaired" 2>&1
	rm "$RUN/rdma"
	od_not_there "$MASTER.120"
	od_no_file
}

test_ondemand_show_says_how_many_use_it()
{
	od_need_vlan
	od_vlan_made
	has "show" "$("$RAILCTL" attachments show testnet cid-p1 net1)" "$MASTER.120, made on demand, users: 1"
	want_ok DEL
}

test_ondemand_two_ADDs_at_once_make_one()
{
	local i
	od_need_vlan
	for i in 1 2 3 4 5 6; do pod "p$i"; done
	od_on "$OD_VLAN"
	for i in 1 2 3 4 5 6; do
		use "p$i"
		cni_to "$i" ADD &
	done
	wait
	for i in 1 2 3 4 5 6; do
		eq "ADD $i: $(<"$W/par.$i")" "$(<"$W/par.$i.rc")" 0
		eq "pod $i is on it" "$(link_get "p$i" net1 .link_index)" "$(od_host_get "$MASTER.120" .ifindex)"
	done
	eq "users" "$(od_users_of "$MASTER.120")" 6
	for i in 1 2 3 4 5 6; do
		use "p$i"
		cni_to "$i" DEL &
	done
	wait
	od_not_there "$MASTER.120"
	od_no_file
}

# --- bonds -------------------------------------------------------------------------------------

test_ondemand_a_bond_gives_its_members_back()
{
	od_need_bond
	od_members 0 1
	pod p1
	od_on '{"bond":["om0",["eth99","om1"]],"mode":"802.3ad","miimon":50,"lacpRate":"fast","xmitHashPolicy":"layer3+4","name":"ob0"}'
	want_ok STATUS ADD
	eq "the bond" "$(od_host_get ob0 '[.mtu, (.linkinfo.info_data|.mode, .miimon, .ad_lacp_rate, .xmit_hash_policy)]')" \
		'[9000,"802.3ad",50,"fast","layer3+4"]'
	eq "members" "$(od_host_get om0 .master) $(od_host_get om1 .master)" "ob0 ob0"
	eq "mtu of the pod" "$(link_get p1 net1 .mtu)" 9000
	prev
	want_ok CHECK
	ip link set om1 nomaster
	want_err CHECK 104 ob0 om1
	ip link set om1 down
	ip link set om1 master ob0
	want_ok CHECK
	ip link set ob0 down
	want_err CHECK 104 ob0 down
	want_ok DEL
	od_not_there ob0
	od_members_as_before
	od_no_file
	od_members_gone
}

test_ondemand_a_bond_without_a_name_gets_one_of_its_members()
{
	local name
	od_need_bond
	od_members 0 1
	pod p1
	od_on '{"bond":["om1","om0"],"mode":"active-backup","mtu":1500}'
	want_ok ADD
	name=$(od_host_get om0 .master)
	is "name $name" grep -qE '^rhbond[0-9a-f]{8}$' <<<"$name"
	eq "mtu" "$(od_host_get "$name" .mtu) $(od_host_get om0 .mtu)" "1500 1500"
	pod p2
	od_on '{"bond":["om0","om1"],"mode":"active-backup"}'
	want_ok ADD
	eq "users" "$(od_users_of "$name")" 2
	pod p3
	od_on '{"bond":["om0","om1"],"mode":"balance-rr"}'
	want_err ADD 7 mode "$name"
	od_first
	want_ok DEL
	od_second
	want_ok DEL
	od_not_there "$name"
	od_members_as_before
	od_members_gone
}

test_ondemand_members_that_others_need_are_refused()
{
	od_need_bond
	od_members 0 1
	pod p1
	od_on "$OD_BOND"
	ip addr add 10.9.9.1/24 dev om1
	want_err ADD 103 'bond[1]' om1 addresses
	want_err STATUS 50 om1
	ip route add default via 10.9.9.2 dev om1
	want_err ADD 103 'bond[1]' om1 'default route'
	ip addr flush dev om1
	ip route add 10.8.0.0/16 dev om1
	want_err ADD 103 'bond[1]' om1 routes
	want_err STATUS 50 om1
	ip route flush dev om1
	ip -6 route add fd00:8::/64 via fe80::1 dev om1 table 88
	want_err ADD 103 'bond[1]' om1 routes
	ip -6 route flush dev om1 table 88
	ip link add link om0 name above0 type macvlan
	want_err ADD 103 'bond[0]' om0 above0
	ip link del above0
	ip link add br9 type bridge
	ip link set om0 master br9
	want_err ADD 103 'bond[0]' om0 'another bond or bridge'
	ip link del br9
	od_on '{"bond":["om0","mac:02:00:00:00:0e:00"],"mode":"active-backup"}'
	want_err ADD 7 'bond[1]' om0
	od_not_there ob0
	od_no_file
	od_members_as_before
	od_members_gone
}

test_ondemand_a_bond_of_others_is_used_and_stays()
{
	od_need_bond
	od_members 0 1
	pod p1
	od_bond_of_others 0 1
	od_on '{"bond":["om0","om1"],"mode":"active-backup"}'
	want_ok ADD
	eq "on it" "$(link_get p1 net1 .link_index)" "$(od_host_get others .ifindex)"
	want_ok DEL
	od_there others
	od_on "$OD_BOND"
	want_err ADD 7 others ob0
	od_on '{"bond":["om0","om1"],"mode":"802.3ad"}'
	want_err ADD 7 mode others
	od_on '{"bond":["om0"],"mode":"active-backup"}'
	want_err ADD 7 others 2
	ip link del others
	od_no_file
	od_members_gone
}

test_ondemand_a_vlan_on_a_bond()
{
	od_need_bond
	od_members 0 1
	pod p1
	pod p2
	od_first
	od_on "$OD_BOTH"
	want_ok STATUS ADD
	eq "the VLAN" "$(od_host_get ob0.120 '[.link, .linkinfo.info_data.id]')" '["ob0",120]'
	prev
	want_ok CHECK
	od_second
	od_on "$OD_BOND"
	want_ok ADD
	od_first
	want_ok DEL
	od_not_there ob0.120
	od_there ob0
	od_second
	want_ok DEL
	od_not_there ob0
	od_members_as_before
	od_no_file
	od_members_gone
}

# The administrator acts on a bond while a pod uses it: each line is an act, and after the colon what om0, om1 and om2 have
# afterwards: MTU, last byte of the MAC, state. "=": as before, "-": there is none.
OD_ACTS='ip link set om1 nomaster; ip link set om1 mtu 1400 address 02:00:00:00:0e:91 up : = 1400,91,UP =
ip link set om1 nomaster; ip link set om1 mtu 1400 address 02:00:00:00:0e:91 : = 1400,91,DOWN =
ip link set om1 nomaster; ip link set om1 name om9; ip link set om9 mtu 1400 up : = - =
ip link set om1 nomaster; ip link set om1 netns p9 : = - =
ip link set om1 nomaster; ip link set om1 mtu 1400 up; ip addr add 10.9.9.9/24 dev om1 : = 1400,01,UP =
ip link set om1 nomaster; ip link set om1 mtu 1400 address 02:00:00:00:0e:91; ip link set om1 master ob0 : = 1400,91,UP =
ip link set om0 nomaster; ip link set om1 nomaster : 9000,00,DOWN 9000,01,DOWN =
ip link set om2 down; ip link set om2 master ob0 : = = =
ip link set om2 down; ip link set om2 mtu 1400 address 02:00:00:00:0e:92; ip link set om2 master ob0 : = = 1400,92,UP
ip link set om2 down; ip link set om2 master ob0; ip link set om2 nomaster : = = 9000,02,DOWN
ip link set om1 nomaster; ip link add br9 type bridge; ip link set om1 mtu 1400 master br9 : = 1400,01,DOWN =
ip link set ob0 mtu 1300 : = = =
ip link set ob0 name ob9 : = = =
ip link del ob0; ip link set om1 mtu 1400 address 02:00:00:00:0e:91 up : = 1400,91,UP ='
od_act() # END ACT AFTER...
{
	local end=$1 act=$2 i=0 want got
	shift 2
	pod p9
	pod p1
	od_members 0 1 2
	od_on "$OD_BOND"
	want_ok ADD
	eval "$act" || fail "test error: $act"
	od_end "$end"
	od_not_there ob0
	od_not_there ob9
	for want; do
		[ "$want" != = ] || want=9000,0$i,UP
		got=$(od_host_get "om$i" '"\(.mtu),\(.address[-2:]),\(if .flags|index("UP") then "UP" else "DOWN" end)"')
		eq "om$i after $act; $end" "${got:--}" "$want"
		i=$((i + 1))
	done
	od_no_file
	for i in br9 om0 om1 om2 om9; do ip link del "$i" 2>/dev/null; done
	ip -n p9 link del om1 2>/dev/null
	unpod p9
}
test_ondemand_the_administrator_acts_on_a_bond()
{
	local act also n=0
	od_need_bond
	while IFS= read -r act <&8; do
		also=(: GC repair)
		for end in DEL "${also[n++ % 3]}"; do
			# shellcheck disable=SC2086 # words
			[ "$end" = : ] || od_act "$end" "${act% : *}" ${act##* : }
		done
	done 8<<<"$OD_ACTS"
}

# An ADD that fails after the master was made takes it back.
test_ondemand_a_failed_ADD_leaves_nothing()
{
	od_need_bond
	od_members 0 1
	pod p1
	fake bad <<-'EOF'
		[ "$CNI_COMMAND" = ADD ] || exit 0
		echo '{"cniVersion":"1.1.0","code":11,"msg":"no address"}'
		exit 1
	EOF
	conf ".ipam={\"type\":\"bad\"} | .master=$OD_BOTH"
	want_err ADD 11 'no address'
	od_not_there ob0.120
	od_not_there ob0
	od_members_as_before
	od_no_file
	od_members_gone
}

# As an ADD leaves it that is killed between its steps: the next one, or its DEL, goes on from there.
od_killed_between()
{
	od_members 0 1
	pod p1
	od_on "$OD_BOND"
	want_ok ADD
	ip -n p1 link del net1
	jq -c '.making=true' "$RUN/masters/ob0.json" >"$W/half" && cp "$W/half" "$RUN/masters/ob0.json"
	"$@"
}
od_one_member_left() { ip link set om1 nomaster; }
od_no_alias() { ip link set ob0 alias ''; }
od_no_bond() { ip link del ob0; }
test_ondemand_a_killed_ADD_is_mended()
{
	local how
	od_need_bond
	for how in od_one_member_left od_no_alias od_no_bond; do
		od_killed_between $how
		want_ok DEL
		od_not_there ob0
		od_members_as_before
		od_no_file
		od_members_gone
		unpod p1
		od_killed_between $how
		pod p2
		want_ok ADD
		od_there ob0
		eq "members after $how" "$(od_host_get om0 .master) $(od_host_get om1 .master)" "ob0 ob0"
		want_ok DEL
		od_first
		want_ok DEL
		od_not_there ob0
		od_members_as_before
		od_no_file
		od_members_gone
		unpod p1
		unpod p2
	done
}

test_ondemand_a_vlan_of_each_rail()
{
	od_need_vlan
	masters_here 0 1
	echo '{"rails":[{"rail":0,"interface":"md0"},{"rail":7,"interface":"md1"}]}' >/etc/railhead/rails.json
	PLUGIN=rails
	conf 'del(.master) | .kind="macvlan" | .master={"vlan":120,"of":"rail"}'
	want_ok STATUS ADD
	eq "rail 0" "$(link_get p1 net1 .link_index)" "$(od_host_get md0.120 .ifindex)"
	eq "rail 7" "$(link_get p1 net1r7 .link_index)" "$(od_host_get md1.120 .ifindex)"
	prev
	want_ok CHECK DEL
	od_not_there md0.120
	od_not_there md1.120
	od_no_file
	conf 'del(.master) | .kind="macvlan" | .master={"vlan":120,"of":"md0"}'
	want_err ADD 7 master '"of": "rail"'
	masters_gone
}

# The kernel would refuse it only after it had set it down and changed its MTU.
test_ondemand_a_member_under_an_interface_of_another_namespace_is_refused()
{
	od_need_bond
	od_members 0 1
	pod p1
	pod p2
	ip link add link om1 name other1 netns p2 type macvlan mode bridge
	ip -n p2 link set other1 up
	od_first
	od_on "$OD_BOND"
	want_err ADD 103 'bond[1]' om1
	od_not_there ob0
	od_members_as_before
	od_no_file
	ip -n p2 link del other1
	want_ok ADD DEL
	od_members_as_before
	od_members_gone
}
test_ondemand_members_of_a_bond_that_somebody_removed()
{
	od_need_bond
	od_members 0 1
	pod p1
	od_on "$OD_BOND"
	want_ok ADD
	ip link del ob0
	pod p2
	od_on "$OD_BOND"
	want_ok ADD
	od_there ob0
	od_first
	want_ok DEL
	od_second
	want_ok DEL
	od_not_there ob0
	od_members_as_before
	od_no_file
	od_members_gone
}
test_ondemand_a_vlan_on_the_port_of_a_bond_is_refused()
{
	od_need_bond
	od_members 0
	pod p1
	od_bond_of_others 0
	od_on '{"vlan":7,"of":"om0"}'
	want_err ADD 103 om0 others 'VLAN 7'
	od_not_there om0.7
	od_no_file
	od_on '{"vlan":7,"of":"others"}'
	want_ok ADD DEL
	ip link del others
	od_members_gone
}
test_ondemand_a_router_of_the_vlan_is_none_of_the_node()
{
	od_need_vlan
	od_vlan_made
	eq "accept_ra" "$(</proc/sys/net/ipv6/conf/"$MASTER.120"/accept_ra)" 0
	eq "no address" "$(ip -6 -o addr show dev "$MASTER.120")" ""
	want_ok DEL
	od_not_there "$MASTER.120"
}

# As a DEL leaves it that is killed between its question and the removal.
od_question() { printf 'rhask%08x' "$(od_host_get "$1" .ifindex)"; }
od_leave_question() { ip link add link "$1" name "$(od_question "$1")" type macvlan mode passthru; }
test_ondemand_a_killed_question_does_not_hold_the_next_pod()
{
	local ask
	od_need_bond
	od_members 0 1
	pod p1
	pod p2
	od_on "$OD_BOTH"
	od_first
	want_ok ADD
	ask=$(od_question ob0)
	od_leave_question ob0
	od_on "$OD_BOND"
	od_second
	want_ok ADD
	isnt "the question must be gone" ip link show dev "$ask"
	want_ok DEL
	od_first
	od_on "$OD_BOTH"
	want_ok DEL
	od_not_there ob0
	od_members_as_before
	od_no_file
	od_members_gone
}
# An ADD that is killed while it asks about a member has the folder, and no file.
test_ondemand_a_killed_question_about_a_member()
{
	local ask
	need_railhead
	od_members 0
	ask=$(od_question om0)
	pod p1
	for end in DEL GC repair; do
		mkdir -p "$RUN/masters"
		od_leave_question om0
		conf_ipam "$(v4_ipam)"
		case $end in
		DEL) want_ok DEL ;;
		GC)
			edit '."cni.dev/valid-attachments"=[]'
			want_ok GC
			;;
		repair) is "repair" "$RAILCTL" attachments repair ;;
		esac
		isnt "$end must take the question back" ip link show dev "$ask" || ip link del "$ask"
		conf_ipam "$(v4_ipam)" '.master="om0"'
		want_ok ADD DEL
	done
	od_members_gone
}

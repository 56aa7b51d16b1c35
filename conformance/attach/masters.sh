# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# masters.sh: the key "master" in all its forms. The masters are veths md0, md1, whose far ends have no name of interest.

MASTER_ALTNAME=a-name-of-a-card-that-is-longer-than-fifteen-bytes

# masters_here NUMBER...: md0, md1 with those numbers, in the pod p1; md1 is rail 7.
masters_here()
{
	local i
	need_railhead
	for i in "$@"; do
		ip link add "md$i" address "02:00:00:00:0d:0$i" type veth peer name "smd$i" || fail "test error: master $i"
		ip link set "md$i" addrgenmode none
		ip link set "smd$i" addrgenmode none
		ip link set "md$i" up
		ip link set "smd$i" up
	done
	echo '{"rails":[{"rail":7,"interface":"md1"}]}' >/etc/railhead/rails.json
	pod p1
}
# By the far end: a master may have another name, or be in a network namespace that the kernel removes only later.
masters_gone()
{
	local i
	for i in 0 1; do ip link del "smd$i" 2>/dev/null; done
	rm -f /etc/railhead/rails.json
}
number_of() { ip -j link show dev "$1" | jq '.[0].ifindex'; }
# on_master NAME JSON [PLUGIN]: with that value of "master", ADD, STATUS, CHECK and DEL are about NAME.
on_master()
{
	PLUGIN=${3:-macvlan}
	conf_ipam "$(v4_ipam)" ".master=$2"
	want_ok STATUS ADD
	eq "$PLUGIN on $2" "$(link_get p1 net1 .link_index)" "$(number_of "$1")"
	prev
	want_ok CHECK DEL
	no_link p1 net1
}

every_form() # PLUGIN
{
	masters_here 0 1
	ip link property add dev md1 altname $MASTER_ALTNAME altname mdalt
	on_master md1 '"md1"' "$1"
	on_master md1 '"mdalt"' "$1"
	on_master md1 "\"$MASTER_ALTNAME\"" "$1"
	on_master md1 '"rail:7"' "$1"
	on_master md1 '"mac:02:00:00:00:0d:01"' "$1"
	on_master md1 '["eth99","rail:1","0000:ff:1f.7","mac:02:00:00:00:0d:09","md1","md0"]' "$1"
	masters_gone
}
test_masters_every_form_for_macvlan() { every_form macvlan; }
test_masters_every_form_for_ipvlan()
{
	need_kind ipvlan
	every_form ipvlan
}

# One configuration for two nodes: the node that has md1 takes it, the other one has md0 alone.
test_masters_one_configuration_for_mixed_nodes()
{
	masters_here 0
	on_master md0 '["rail:7","md0"]'
	masters_gone
	unpod p1
	masters_here 0 1
	on_master md1 '["rail:7","md0"]'
	masters_gone
}

test_masters_an_error_names_every_candidate()
{
	masters_here 0
	conf_ipam "$(v4_ipam)" '.master=["eth99","rail:7","rail:1","mac:02:00:00:00:0d:09","0000:ff:1f.7"]'
	want_err ADD 7 master 'none of 5 candidates'
	for word in eth99 rail:7 'no rail 1' 02:00:00:00:0d:09 0000:ff:1f.7; do has "why not" "$(<"$W/out")" "$word"; done
	want_err STATUS 50 master
	no_link p1 net1
	want_ok DEL
	conf_ipam "$(v4_ipam)" '.master="rail:64"'
	want_err ADD 7 master rail:64
	conf_ipam "$(v4_ipam)" '.master="rail:7" | .linkInContainer=true'
	want_err ADD 7 master linkInContainer
	masters_gone
}

# The pod stays right when a candidate comes later. It is wrong on a master that the list does not have.
test_masters_CHECK_tells_when_the_master_is_another_one()
{
	masters_here 0
	conf_ipam "$(v4_ipam)" '.master=["md1","md0"]'
	want_ok ADD
	prev
	want_ok CHECK
	ip link add md1 type veth peer name smd1
	want_ok CHECK
	edit '.master=["md1","eth99"]'
	want_err CHECK 104 md0 md1
	edit '.master="rail:7"'
	want_err CHECK 104 md0 md1
	edit '.master=["md0","md1"]'
	want_ok CHECK DEL
	masters_gone
}

# The administrator acts on the master while a pod uses it: the pod ends, its address is free, and the master stays as it is then.
MASTERS_ACTS='ip link set md0 down
ip link set md0 down; ip link set md0 up
ip link set md0 name md9
ip link set md0 mtu 1300
ip link set md0 address 02:00:00:00:0d:90
ip link set md0 alias mine
ip addr add 10.9.9.9/24 dev md0
ip link set md0 netns p9
ip link del md0
ip link del md0; ip link add md0 type veth peer name smd0; ip link set md0 up'
masters_state() { ip -j addr show 2>/dev/null | jq -c '[.[] | select(.ifname | test("^md")) | [.ifname, .mtu, .address, .ifalias, .flags, [.addr_info[].local]]]'; }
test_masters_the_administrator_acts_on_one()
{
	local act end before ends=(DEL GC repair) n=0
	while IFS= read -r act <&8; do
		end=${ends[n++ % 3]}
		pod p9
		masters_here 0
		conf_ipam "$(v4_ipam)" '.master="md0"'
		want_ok ADD
		eval "$act" || fail "test error: $act"
		eventually settled
		before=$(masters_state)
		case $end in
		DEL) want_ok DEL ;;
		GC)
			edit '."cni.dev/valid-attachments"=[]'
			want_ok GC
			;;
		repair)
			ip netns del p1
			sed -i '/^p1$/d' "$W/pods"
			is "repair" "$RAILCTL" attachments repair
			;;
		esac
		eq "after $act; $end: leases, records" "$(lease_count) $(find $RUN/attachments -type f | wc -l)" '0 0'
		eq "after $act; $end: the master" "$(masters_state)" "$before"
		[ "$end" = repair ] || unpod p1
		masters_gone
		unpod p9
	done 8<<<"$MASTERS_ACTS"
}
# The kernel says a little later what became of a carrier.
settled()
{
	ip -j link show | jq -e 'all(.[] | select((.ifname | test("^md")) and any(.flags[]; . == "UP"));
		.operstate == if any(.flags[]; . == "LOWER_UP") then "UP" else "LOWERLAYERDOWN" end)'
}

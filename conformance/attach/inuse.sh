# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# inuse.sh: a MAC or an address that another interface on the master has: of an ended pod, of a living one, or of an unknown one.

HELD_MAC=0a:1b:0a:4d:00:c9
inuse_conf()
{
	conf_ipam "$(v4_ipam)" '.macPrefix="0a:1b" | .ipam += {rangeStart:"10.77.0.201",rangeEnd:"10.77.0.201"} | .name="inuse"'
}
# hold NETNS: an interface beside CNI with that MAC
hold()
{
	ip link add hold0 link "$MASTER" address "$HELD_MAC" netns "$1" type macvlan mode bridge && ip -n "$1" link set hold0 up ||
		fail 'test error: hold0'
}

# The runtime removes the namespace first: its interface dies later, and its address is free at once.
test_inuse_an_ended_pod()
{
	need_railhead
	local i
	inuse_conf
	for ((i = 0; i < 12; i++)); do
		pod "p$i"
		want_ok ADD
		eq 'the MAC' "$(link_get "p$i" net1 .address)" "$HELD_MAC"
		unpod "p$i"
		want_ok DEL
	done
	eq 'leases' "$(lease_count)" 0
}

# churn: namespaces with an interface on the master are made and ended beside the case, so that the kernel's worker is busy.
churn()
{
	while [ ! -e "$W/calm" ]; do
		ip netns add churn
		ip link add churn0 link "$MASTER" netns churn type macvlan mode bridge
		ip -n churn link set churn0 up
		ip netns del churn
	done 2>/dev/null
}
calm() # PID
{
	: >"$W/calm"
	wait "$1"
	rm -f "$W/calm"
}

# The MACs of all rails are those of the pod before, whose namespace lives on without a name for a moment.
test_inuse_rails_under_churn()
{
	local i churn user
	rails_here 3
	for i in 0 1 2; do
		pool_del "rail$i"
		pool_add "rail$i" --subnet "10.80.$i.0/24" --gateway "10.80.$i.1" --range "10.80.$i.10-10.80.$i.10" --this-node-only
	done
	rails_conf '.macPrefix="0a:1b" | .name="inuse"'
	churn &
	churn=$!
	for i in 1 2 3 4; do
		[ "$i" = 1 ] || pod p1
		want_ok ADD
		eq 'the MACs' "$(res '[.interfaces[].mac]|join(" ")')" '0a:1b:0a:50:00:0a 0a:1b:0a:50:01:0a 0a:1b:0a:50:02:0a'
		exec 9</run/netns/p1
		sleep 0.7 &
		user=$!
		exec 9<&-
		unpod p1
		want_ok DEL
	done
	wait "$user"
	calm "$churn"
	eq 'leases' "$(lease_count)" 0
	rails_gone
}

test_inuse_the_kernel_lets_go_a_little_later()
{
	need_railhead
	pod p1
	ip netns add holder
	hold holder
	inuse_conf
	{
		sleep 1
		ip netns del holder
	} &
	want_ok ADD
	wait $!
	eq 'the MAC' "$(link_get p1 net1 .address)" "$HELD_MAC"
	want_ok DEL
}

test_inuse_nobody_that_is_known()
{
	need_railhead
	pod p1
	ip netns add holder
	hold holder
	inuse_conf
	want_err ADD 11 "MAC $HELD_MAC on $MASTER is in use by an interface of another network namespace" 'no attachment has it'
	eq 'nothing is left' "$(ip -n p1 -o link show | wc -l) $(lease_count)" '1 0'
	ip netns del holder
	want_ok ADD DEL
}

# Which pod has it is in the log, and not in the error, which the author of the other pod reads.
told_to_the_operator()
{
	[[ $OUT != *cid-p1* && $OUT != *netns* ]] || fail "the error shows another pod: $OUT"
	has "log" "$ERR" "is in use by net1 of container cid-p1 (network inuse), in /run/netns/p1"
}
test_inuse_a_living_pod_is_named_at_once()
{
	need_railhead
	local begun
	pod p1
	inuse_conf
	want_ok ADD
	pod p2
	conf_ipam "$(v4_ipam)" ".mac=\"$HELD_MAC\" | .name=\"second\""
	begun=$SECONDS
	want_err ADD 103 "MAC $HELD_MAC on $MASTER is in use by the interface net1 of a pod" macPrefix
	told_to_the_operator
	[ $((SECONDS - begun)) -lt 4 ] || fail "ADD waited for a pod that lives: $((SECONDS - begun)) s"
	eq 'nothing is left' "$(ip -n p2 -o link show | wc -l)" 1
	use p1
	inuse_conf
	want_ok DEL
}

# An ipvlan has the MAC of its master, and each address once.
test_inuse_an_address_of_ipvlan()
{
	need_railhead
	need_kind ipvlan
	local i
	PLUGIN=ipvlan
	conf_ipam "$(v4_ipam)" '.ipam += {rangeStart:"10.77.0.201",rangeEnd:"10.77.0.201"} | .name="inuse"'
	for ((i = 0; i < 12; i++)); do
		pod "p$i"
		want_ok ADD
		eq 'the address' "$(addr4)" 10.77.0.201/24
		unpod "p$i"
		want_ok DEL
	done
	pod p1
	want_ok ADD
	pod p2
	conf_ipam "$(v4_ipam)" '.ipam += {rangeStart:"10.77.0.201",rangeEnd:"10.77.0.201"} | .name="second"'
	want_err ADD 103 "address 10.77.0.201 on $MASTER is in use by the interface net1 of a pod"
	told_to_the_operator
	use p1
	edit '.name="inuse"'
	want_ok DEL
}

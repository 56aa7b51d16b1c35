# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2317
# admin.sh: an administrator acts on a VF while a pod has it. DEL succeeds all the same, and the next pod gets nothing of the first one.
# Acts on the PF are in plugins/sriov/admin_test.c: igbvf can hang in the kernel if its interface goes down just after its PF.
TENANT='"vlan":7,"trust":"on","spoofchk":"off","mac":"02:00:00:00:00:77","mtu":1400'
DRIVERS=/sys/bus/pci/drivers/igbvf
remember

# do_WHAT: the administrator's act; undo_WHAT, if there is one: after DEL.
do_settings() { batch "link set $A vf 1 vlan 9" "link set $A vf 1 trust off" "link set $A vf 1 spoofchk on" "link set $A vf 1 mac 02:66:66:66:66:01"; }
do_taken_back() { ip -n t link set net1 netns 1 name "$EA1"; }
do_taken_back_by_another_name() { ip -n t link set net1 netns 1 name stolen0; }
do_renamed_in_the_pod() { ip -n t link set net1 down && ip -n t link set net1 name eth9; }
do_unbound() { echo "$VA1" >$DRIVERS/unbind; }
undo_unbound() { echo "$VA1" >$DRIVERS/bind && eventually has_netdev "$VA1"; }
do_bound_again() { do_unbound && undo_unbound; }
do_state_and_record_gone() { rm -rf /run/railhead; }
listed_owner() { "$RAILCTL" vf list --json | jq -e '.[] | select(.pciAddress == "'"$VA1"'") | .owner.container == "'"$1"'"'; }
next_gets_nothing() { sees n "$A" 1 '(.vf.vlan_list[0].vlan // 0) == 0 and (.vf.trust | not) and .vf.spoofchk and .pod.mtu == 1500 and .pod.address != "02:00:00:00:00:77"'; }

for what in settings taken_back taken_back_by_another_name renamed_in_the_pod unbound bound_again state_and_record_gone; do
	pods t n
	check "$what: ADD" add t "$(on "$VA1" "$TENANT")"
	check "$what: the act" "do_$what"
	check "$what: DEL" del t "$(on "$VA1" "$TENANT")"
	[ "$(type -t "undo_$what")" != function ] || check "$what: back" "undo_$what"
	check "$what: the next pod: ADD" add n "$(on "$VA1")"
	check "$what: it gets nothing of the first one" next_gets_nothing
	check "$what: the next pod: DEL" del n "$(on "$VA1")"
	check "$what: DEL again" del t "$(on "$VA1" "$TENANT")"
	check "$what: nothing is left" nothing_left
	no_pods t n
	EA1=$(netdev "$VA1")
done

# The pod's interface goes on to another pod, which is no end of the first one.
pods t n below
check "moved on: ADD" add t "$(on "$VA1" "$TENANT")"
ip -n t link set net1 netns below name eth5
check "moved on: DEL" del t "$(on "$VA1" "$TENANT")"
check "moved on: vf list names the owner" listed_owner t
check "moved on: the next pod is refused" refused 103 "$VA1" add n "$(on "$VA1")"
no_pods t
check "moved on: the next pod is refused while the namespace is there" refused 103 "$VA1" add n "$(on "$VA1")"
no_pods below
check "moved on: the interface is back" eventually has_netdev "$VA1"
check "moved on: the next pod: ADD" add n "$(on "$VA1")"
check "moved on: it gets nothing of the first one" next_gets_nothing
check "moved on: the next pod: DEL" del n "$(on "$VA1")"
check "moved on: nothing is left" nothing_left
no_pods n
EA1=$(netdev "$VA1")
forget
remember

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# attributes.sh: each attribute set, read back from the kernel, and put back; those that igb has not.
pods a
remember
# granted N WHAT KEYS FILTER: with those keys the filter holds for the kernel's data of the Nth VF. Each runs on its own:
# the next one does not clean up after it.
granted()
{
	local vf=VA$1
	check "$2: ADD" add a "$(on "${!vf}" "$3")"
	check "$2: the kernel says so" sees a "$A" "$1" "$4"
	check "$2: DEL" del a "$(on "${!vf}" "$3")"
}
granted 0 "vlan" '"vlan":5' '.vf.vlan_list[0].vlan == 5'
granted 1 "vlan and QoS" '"vlan":4094,"vlanQoS":3,"vlanProto":"802.1q"' '.vf.vlan_list[0] | .vlan == 4094 and .qos == 3'
granted 2 "rate" '"max_tx_rate":100' '.vf.rate == {max_tx: 100, min_tx: 0}'
granted 3 "spoofchk off" '"spoofchk":"off"' '.vf.spoofchk == false and .vf.trust == false'
granted 4 "trust on" '"trust":"on"' '.vf.spoofchk and .vf.trust'
granted 5 "mtu" '"mtu":9000' '.pod.mtu == 9000'
ALL='"vlan":7,"vlanQoS":5,"max_tx_rate":50,"spoofchk":"off","trust":"on","mtu":1400,"mac":"02:00:00:00:02:01"'
granted 6 "all at once" "$ALL" '.vf.vlan_list[0].vlan == 7 and .vf.vlan_list[0].qos == 5 and .vf.rate.max_tx == 50 and
	.vf.spoofchk == false and .vf.trust and .pod.mtu == 1400 and ([.pod, .vf] | all(.address == "02:00:00:00:02:01"))'
check "all are put back" clean

# meets WHAT KEYS_A KEYS_B HOW: pod a on a VF of one card with these keys, pod b on the other: whether a's frames reach b.
meets()
{
	local address
	check "$1: ADD" add a "$(on "$VA0" "$2")"
	check "$1: ADD of the other" add b "$(on "$VB0" "$3")"
	address=$(answer '.ips[0].address')
	check "$1" "$4" pings a "${address%/*}"
	check "$1: DEL" del a "$(on "$VA0")"
	check "$1: DEL of the other" del b "$(on "$VB0")"
}
pods b
meets "two VFs of one VLAN reach each other" '"vlan":5' '"vlan":5' eventually
meets "one in a VLAN, the other in none: they do not" '"vlan":5' '"mtu":1500' isnt
meets "after their VLANs they reach each other" '"mtu":1500' '"mtu":1500' eventually
no_pods b
check "all are put back" clean

# Values that were set before ADD are restored after DEL.
forget
batch "link set $A vf 1 vlan 9 qos 2" "link set $A vf 1 max_tx_rate 20" "link set $A vf 1 spoofchk off" "link set $A vf 1 trust on" "link set $EA1 mtu 1480 up"
remember
check "a VF that is set up already: ADD" add a "$(on "$VA1" "${ALL/trust\":\"on/trust\":\"off}")"
check "a VF that is set up already: DEL" del a "$(on "$VA1")"
check "a VF that is set up already: as before" as_before
check "ADD without any keys" add a "$(on "$VA1")"
check "leaves what was there" sees a "$A" 1 '.vf.vlan_list[0].vlan == 9 and .vf.rate.max_tx == 20 and .vf.trust and .pod.mtu == 1480'
check "DEL" del a "$(on "$VA1")"
check "as before" clean
forget
batch "link set $A vf 1 vlan 0" "link set $A vf 1 max_tx_rate 0" "link set $A vf 1 spoofchk on" "link set $A vf 1 trust off" "link set $EA1 down mtu 1500"
remember

# --- what igb has not ---------------------------------------------------------------------
SOME='"vlan":3,"trust":"on","spoofchk":"off","mac":"02:00:00:00:02:02","mtu":1300'
check "link_state is refused" refused 100 '"link_state"' add a "$(on "$VA0" "$SOME,\"link_state\":\"enable\"")"
check "vlanProto 802.1ad is refused" refused 100 "vlanProto: " add a "$(on "$VA2" "$SOME,\"vlanProto\":\"802.1ad\"")"
check "min_tx_rate is refused" refused 100 "min_tx_rate: " add a "$(on "$VA3" "$SOME,\"min_tx_rate\":10,\"max_tx_rate\":20")"
check "a rate above the link's is refused" refused 100 "link's speed" add a "$(on "$VA4" "$SOME,\"max_tx_rate\":5000")"
check "all is taken back" clean
ip link set "$B" down
check "a rate is refused while the PF is down" refused 100 "max_tx_rate" add a "$(on "$VB1" '"max_tx_rate":10')"
check "and nothing is dirty" unowned
ip link set "$B" up
check "the next pod gets a clean VF" add a "$(on "$VA0")"
check "so says the kernel" sees a "$A" 0 '.vf.vlan_list == [{}] and .vf.spoofchk and (.vf.trust | not) and .pod.mtu == 1500'
check "DEL" del a "$(on "$VA0")"
check "as before" clean
no_pods a
forget

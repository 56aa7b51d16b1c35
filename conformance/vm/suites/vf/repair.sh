# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# repair.sh: a vandal changes everything that can be changed of free VFs.
up
vf create --pf "$A" --count 3
addresses
ip link set "$EA0" up
ip link property add dev "$EA0" altname vf-of-rail0
rm -r /run/railhead/vf # that is how it is to be
check "with an alternative name: baselines by an attachment" eval 'pods a && add a "$(on "$VA0")" && del a "$(on "$VA0")" && add a "$(on "$VA1")" && del a "$(on "$VA1")"'
no_pods a
remember
vandal() # VF NUMBER INTERFACE
{
	batch "link set $A vf $1 vlan 99 qos 5" "link set $A vf $1 spoofchk off" "link set $A vf $1 max_tx_rate 100" \
		"link set $A vf $1 trust on" "link set $A vf $1 mac 02:66:66:66:66:0$1" "link set $2 down" \
		"link set $2 mtu 1280" "link set $2 address 02:66:66:66:66:1$1" "link set $2 name vandal$1"
}
check "a vandal" vandal 0 "$EA0"
check "another" vandal 1 "$EA1"
ip link property del dev vandal0 altname vf-of-rail0
check "a dry run names all of it" vf_fails "would-be-repaired $VA0: restored: " repair --dry-run
for what in mac vlan max_tx_rate spoofchk trust name address mtu down "alternative names"; do
	check "$what" said "$what"
done
check "and changes nothing" is "$(mac_of vandal0)" 02:66:66:66:66:10
check "repair" vf repair
check "all is as it was" as_before
check "repair again finds all well" eval 'vf repair && said "0 repaired, 2 well"'
check "a third has no baseline" said "left-alone $VA2: it has no baseline yet"

# The driver refuses rates while the card has no link. The emulated card negotiates again by itself, and has its link back
# half a second later: a slow machine may need another try.
refused()
{
	local try
	for try in 1 2 3 4 5; do
		ip link set "$A" up
		cable
		ip link set "$A" vf 0 max_tx_rate 100
		ip link set "$A" down
		! vf_fails "not restored: max_tx_rate" repair "$VA0" || return 0
		echo "# try $try: the link was back before the repair"
	done
	return 1
}
check "what the driver refuses is named" refused
ip link set "$A" up
cable
check "and done later" vf repair "$VA0"
check "all is as it was" as_before

# A pod is killed, and no DEL comes.
pods a
check "ADD" add a "$(on "$VA0" '"vlan":7,"trust":"on","mtu":1400,"mac":"02:00:00:00:09:01"')"
no_pods a
check "its owner has gone" listed 'map(select(.pciAddress == "'"$VA0"'"))[0].use == "owner-gone"'
check "repair" eval 'vf repair && said "repaired $VA0: its owner a is gone"'
check "all is as it was" as_before
check "attachments repair" "$RAILCTL" attachments repair
check "nothing is left" nothing_left

# A process keeps its namespace alive, in which the interface stays.
pods a
check "ADD" add a "$(on "$VA0")"
ip netns exec a sleep infinity &
HOLDER=$!
eventually is_elsewhere $HOLDER
no_pods a
left_alone() { vf repair "$VA0"; said "left-alone $VA0: it belongs to container a"; }
check "a namespace that lives without its path is left alone" left_alone
check "its VF is in use" listed 'map(select(.pciAddress == "'"$VA0"'"))[0].use == "in-use"'
kill -9 $HOLDER
wait $HOLDER 2>/dev/null
check "once it is there" eventually has_netdev "$VA0"
check "repair" vf repair "$VA0"
check "all is as it was" as_before
check "attachments repair" "$RAILCTL" attachments repair
check "nothing is left" nothing_left

echo '{' >"/run/railhead/vf/$VA0"
batch "link set $A vf 0 vlan 9" "link set $A vf 0 trust on" "link set $A vf 0 spoofchk off"
check "a damaged entry" listed 'map(select(.pciAddress == "'"$VA0"'"))[0].use == "damaged"'
check "is replaced" eval 'vf repair && said "its entry was damaged"'
check "by the values of a new VF" listed 'map(select(.pciAddress == "'"$VA0"'"))[0] | .use == "free" and .vlan == 0 and (.trust | not) and .spoofchk'

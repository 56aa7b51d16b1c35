# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# lost.sh: the state of a VF is lost while its pod lives: nothing of that tenant is left to the next one.
TENANT='"vlan":7,"vlanQoS":3,"trust":"on","spoofchk":"off","mac":"02:00:00:00:00:77","mtu":1400'
LOST_STATE=/run/railhead/vf/$VA1
others() { host | grep -v '"vf":1,' | grep -vE "\"ifname\":\"($EA1|vf[0-9a-f]{5})\""; }
new_values() # the PF's side of VF 1, and its interface on the host
{
	EA1=$(netdev "$VA1")
	ip -j link show "$A" | jq -e '.[0].vfinfo_list[1] | (.vlan_list[0].vlan // 0) == 0 and (.trust | not) and .spoofchk' &&
		isnt [ "$(mac_of "$EA1")" = 02:00:00:00:00:77 ] && is "$(cat "/sys/class/net/$EA1/mtu")" 1500 &&
		ip -j link show "$EA1" | jq -e '.[0].promiscuity // 0 == 0 and (.[0].flags | index("UP") == null)'
}
lose_file() { rm "$LOST_STATE"; }
lose_folder() { rm -r /run/railhead/vf; }
damage_file() { echo '{' >"$LOST_STATE"; }
lose_all() { rm -rf /run/railhead; }
use_of() { "$RAILCTL" vf list --json | jq -r '.[] | select(.pciAddress == "'"$VA1"'") | .use + " " + (.owner.container // "") + " " + (.why // "")'; }
others >$W/others

for way in lose_file lose_folder damage_file lose_all; do
	pods t n
	check "$way: ADD" add t "$(on "$VA1" "$TENANT")"
	ip -n t link set net1 promisc on
	$way
	if [ $way != lose_all ]; then
		check "$way: vf list names the owner" grep -q "^in-use t its state is lost" <(use_of)
		check "$way: vf repair leaves it alone" grep -q "left-alone $VA1: it belongs to container t .*its state is lost" <("$RAILCTL" vf repair "$VA1")
		check "$way: the next pod is refused" refused 103 "container t" add n "$(on "$VA1")"
	fi
	check "$way: DEL" del t "$(on "$VA1")"
	check "$way: it says so" grep -q "its state is lost" $W/out.log
	check "$way: the VF has the values of a new one" new_values
	check "$way: no other VF changed" cmp $W/others <(others)
	check "$way: nothing is left" nothing_left
	check "$way: vf list says so" grep -q "^free .*its baseline was lost" <(use_of)
	check "$way: the next pod: ADD" add n "$(on "$VA1")"
	check "$way: it gets nothing of the tenant" sees n "$A" 1 '(.vf.vlan_list[0].vlan // 0) == 0 and (.vf.trust | not) and .vf.spoofchk and .pod.mtu == 1500 and .pod.address != "02:00:00:00:00:77"'
	check "$way: the next pod: DEL" del n "$(on "$VA1")"
	check "$way: the VF has the values of a new one" new_values
	no_pods t n
done

# The pod ends, and no DEL comes: the next claim, and repair, restore it.
for who in claim repair; do
	pods t n
	check "$who: ADD" add t "$(on "$VA1" "$TENANT")"
	lose_file
	no_pods t
	check "$who: the interface is back" eventually has_netdev "$VA1"
	check "$who: its owner has gone" grep -q "^owner-gone t" <(use_of)
	if [ $who = repair ]; then
		check "vf repair" "$RAILCTL" vf repair "$VA1"
		check "vf repair: the VF has the values of a new one" new_values
	fi
	check "$who: the next pod: ADD" add n "$(on "$VA1")"
	check "$who: it gets nothing of the tenant" sees n "$A" 1 '(.vf.vlan_list[0].vlan // 0) == 0 and (.vf.trust | not) and .vf.spoofchk'
	check "$who: the next pod: DEL" del n "$(on "$VA1")"
	check "$who: the record goes" "$RAILCTL" attachments repair
	check "$who: nothing is left" nothing_left
	no_pods n
done
check "no other VF changed" cmp $W/others <(others)
check "vf adopt takes what is there" "$RAILCTL" vf adopt "$VA1"
check "and vf list says nothing more" is "$(use_of)" "free  "
remember

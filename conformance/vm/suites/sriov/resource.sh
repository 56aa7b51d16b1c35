# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# resource.sh: the plugin chooses VFs; GC, STATUS and CHECK.
FREE=$(conf "\"resource\":{\"pf\":[\"$A\",\"$B\"],\"count\":1}")
PODS=(p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11 p12 p13 p14)
pods "${PODS[@]}" p15
all_at_once() # one ADD a pod, beside each other
{
	local p jobs=() rc=0
	for p in "${PODS[@]}"; do
		ANSWER=$W/$p add "$p" "$FREE" &
		jobs+=($!)
	done
	for p in "${jobs[@]}"; do
		wait "$p" || rc=1
	done
	return $rc
}
check "STATUS" call STATUS "" "$FREE" ""
check "14 ADDs at once over two PFs" all_at_once
check "have 14 different VFs" is "$(jq -r '.interfaces[0].pciID' "${PODS[@]/#/$W/}" | sort -u | wc -l)" 14
check "and 14 different addresses" is "$(jq -r '.ips[0].address' "${PODS[@]/#/$W/}" | sort -u | wc -l)" 14
check "a 15th is refused" refused 101 "no free VF" add p15 "$FREE"
check "CHECK" checked p1 "$FREE" $W/p1

# --- what CHECK finds -----------------------------------------------------------------------------
VF=$(jq -r '.interfaces[0].pciID' $W/p1)
check "CHECK: another MTU than configured" refused 104 mtu checked p1 "${FREE%\}},\"mtu\":1400}" $W/p1
check "CHECK: another vlan than configured" refused 104 vlan checked p1 "${FREE%\}},\"vlan\":6}" $W/p1
ip -n p1 link set net1 down name other1
check "CHECK: the interface is missing" refused 104 "is missing" checked p1 "$FREE" $W/p1
ip -n p1 link add net1 type dummy
check "CHECK: another device has its place" refused 104 "" checked p1 "$FREE" $W/p1
ip -n p1 link del net1

# --- GC ---------------------------------------------------------------------------------------------
VALID=$(jq -c '. + {"cni.dev/valid-attachments": [{containerID: "p2", ifname: "net1"}, {containerID: "p3", ifname: "net1"}]}' <<<"$FREE")
check "GC without two of them" call GC "" "$VALID" ""
check "frees the others' VFs" is "$(grep -l '"owner"' /run/railhead/vf/* | wc -l)" 2
check "one is free for the 15th" add p15 "$FREE"
check "DEL" del p15 "$FREE"
check "DEL" del p2 "$FREE"
check "DEL" del p3 "$FREE" ""
check "all 14 are as before" clean
check "a PF that is none" refused 50 lo call STATUS "" "$(conf '"resource":{"pf":["lo"]}')" ""
no_pods "${PODS[@]}" p15

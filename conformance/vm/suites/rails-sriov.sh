# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2153,SC2154
# seconds: 120
# topology: eight
# rails-sriov: the plugin rails with kind "sriov": a VF of each of eight cards in one ADD. FULL=1: killed at each request.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/suites/sriov/lib.sh
. conformance/vm/suites/sriov/lib.sh

PLUGIN=rails
RAILS=8
read -ra CARDS <<<"$PFS"
IPAM='{"type":"railhead-ipam","pool":"rail{n}"}'
rails_conf() { conf "\"kind\":\"sriov\"${1:+,$1}"; } # [KEYS]
rails_of() { ip -n "$1" -j link | jq -rc '[.[] | select(.ifname != "lo") | .ifname] | sort | join(" ")'; }
first_vfs() { local pf; for pf in "${CARDS[@]}"; do pci "$pf" 0; done | jq -Rsc 'split("\n")[:-1]'; }

mkdir -p /etc/railhead
printf '%s\n' "${CARDS[@]}" | jq -Rsc '{rails: [split("\n")[:-1] | to_entries[] | {rail: .key, interface: .value}]}' >/etc/railhead/rails.json
for ((i = 0; i < RAILS; i++)); do
	ip link set "${CARDS[i]}" up
	check "${CARDS[i]} makes two VFs" vfs "${CARDS[i]}" 2
	"$RAILCTL" ipam pool add "rail$i" --subnet "10.88.$i.0/24" --gateway "10.88.$i.1" --this-node-only >/dev/null
done
for pf in "${CARDS[@]}"; do check "$pf has link" eventually carrier "$pf"; done
remember
pods a b

echo "# one ADD, $(cut -d. -f1 /proc/uptime) s"
ALL='"trust":"on","spoofchk":"off","mtu":1400,"routing":"rail"'
check "STATUS" call STATUS "" "$(rails_conf "$ALL")" ""
check "ADD of all rails" add a "$(rails_conf "$ALL")"
cp $W/out $W/result
check "eight interfaces" is "$(rails_of a)" 'net1 net1r1 net1r2 net1r3 net1r4 net1r5 net1r6 net1r7'
check "the result names the VF of each" is "$(jq -c '[.interfaces[].pciID]' $W/result)" "$(first_vfs)"
check "and the pod's namespace" is "$(jq -r '[.interfaces[].sandbox] | unique | join(" ")' $W/result)" /run/netns/a
check "each has the address of its pool" is "$(jq -r '[.ips[].address] | join(" ")' $W/result)" \
	'10.88.0.2/24 10.88.1.2/24 10.88.2.2/24 10.88.3.2/24 10.88.4.2/24 10.88.5.2/24 10.88.6.2/24 10.88.7.2/24'
IFN=net1r5 check "attributes and MTU of rail 5" sees a "${CARDS[5]}" 0 '.vf.trust and (.vf.spoofchk | not) and .pod.mtu == 1400'
check "one record" is "$(find /run/railhead/attachments -type f | wc -l)" 1
check "a claim for each" is "$(grep -l '"owner"' /run/railhead/vf/* | wc -l)" 8
check "railctl attachments show" grep -q "net1r7: on ${CARDS[7]}, VF $(pci "${CARDS[7]}" 0)" <("$RAILCTL" attachments show rails a net1 | tr -s ' ')
check "CHECK" checked a "$(rails_conf "$ALL")" $W/result
ip link set "${CARDS[3]}" vf 0 trust off
check "CHECK names the rail whose VF differs" refused 104 "rail 3: VF $(pci "${CARDS[3]}" 0): its PF ${CARDS[3]} has another trust" \
	checked a "$(rails_conf "$ALL")" $W/result
ip link set "${CARDS[3]}" vf 0 trust on
check "CHECK again" checked a "$(rails_conf "$ALL")" $W/result
check "a second pod" add b "$(rails_conf "$ALL")"
for ((i = 0; i < RAILS; i++)); do check "the pods talk by rail $i" pings b "10.88.$i.2"; done
pods c
check "a third pod finds no VF" refused 101 'rail 0: resource: no free VF' add c "$(rails_conf "$ALL")"
check "DEL of the second" del b "$(rails_conf "$ALL")"
check "the only free VF of rail 6 has gone" eval "echo $(pci "${CARDS[6]}" 1) >/sys/bus/pci/drivers/igbvf/unbind"
check "no rail of the third pod" refused 101 'rail 6: resource: no free VF' add c "$(rails_conf "$ALL")"
check "nothing of it is left" is "$(rails_of c)$(grep -l '"owner"' /run/railhead/vf/* | wc -l)" 8
echo "$(pci "${CARDS[6]}" 1)" >/sys/bus/pci/drivers_probe
check "DEL of the first" del a "$(rails_conf "$ALL")"
check "a second DEL" del a "$(rails_conf "$ALL")"
check "the driver has made it again" eventually has_netdev "$(pci "${CARDS[6]}" 1)"
no_pods c
forget
remember

echo "# devices that are given, $(cut -d. -f1 /proc/uptime) s"
GIVEN=$(jq -nc --arg a "$(pci "${CARDS[4]}" 1)" --arg b "$(pci "${CARDS[2]}" 0)" '[$a, $b]')
check "ADD of two devices" add a "$(rails_conf "\"deviceIDs\":$GIVEN")"
cp $W/out $W/result
check "the rails are theirs" is "$(jq -r '[.rails.made[] | "\(.rail) \(.device)"] | join(",")' $W/result)" \
	"2 $(pci "${CARDS[2]}" 0),4 $(pci "${CARDS[4]}" 1)"
check "and the VFs" is "$(jq -r '[.interfaces[].pciID] | join(" ")' $W/result)" "$(pci "${CARDS[2]}" 0) $(pci "${CARDS[4]}" 1)"
check "CHECK with Multus' key" checked a "$(rails_conf "\"runtimeConfig\":{\"deviceIDs\":$GIVEN}")" $W/result
check "DEL" del a "$(rails_conf '')"
check "a rail without a device" refused 7 'none is a VF of rail 1' add a "$(rails_conf "\"rails\":[2,1],\"deviceIDs\":$GIVEN")"
check "a device without a rail" refused 7 "$(pci "${CARDS[4]}" 1) is a VF of no rail" add a "$(rails_conf "\"rails\":[2],\"deviceIDs\":$GIVEN")"
check "one device, as Multus gives it" add a "$(rails_conf "\"deviceID\":\"$(pci "${CARDS[7]}" 0)\"")"
check "is one rail" is "$(rails_of a) $(answer '.rails.made[0].rail')" 'net1 7'
check "DEL" del a "$(rails_conf '')"
check "two VFs of one card by a resource" add a "$(rails_conf "\"rails\":[0,1],\"resource\":{\"pf\":[\"${CARDS[0]}\"]}")"
check "are its two" is "$(answer '[.interfaces[].pciID] | join(" ")')" "$(pci "${CARDS[0]}" 0) $(pci "${CARDS[0]}" 1)"
check "DEL" del a "$(rails_conf '')"
check "the number in the name of a PF" add a "$(rails_conf '"rails":[3],"resource":{"pf":["pf{n}"]}')"
check "DEL" del a "$(rails_conf '')"
check "the host is as before" clean

echo "# without a record, without a namespace, $(cut -d. -f1 /proc/uptime) s"
check "ADD" add a "$(rails_conf "$ALL")"
rm -r /run/railhead/attachments/rails
check "DEL without the record" del a "$(rails_conf "$ALL")"
check "the host is as before" clean
check "ADD, and the pod is killed" add a "$(rails_conf "$ALL")"
no_pods a
check "DEL without a namespace" del a "$(rails_conf "$ALL")" ""
check "the host is as before" clean
pods a
check "ADD, and no DEL comes" add a "$(rails_conf "$ALL")"
no_pods a
check "repair" "$RAILCTL" attachments repair
check "the host is as before" clean
pods a
check "ADD" add a "$(rails_conf "$ALL")"
check "GC" call GC "" "$(rails_conf "$ALL" | jq -c '. + {"cni.dev/valid-attachments": []}')" ""
check "the host is as before" clean

echo "# killed, $(cut -d. -f1 /proc/uptime) s"
SOME=$(rails_conf '"rails":[0,3],"trust":"on","mtu":1300')
attached() { add a "$SOME"; }
STEP=5
[ -z "${QUICK-}" ] || STEP=10
[ -z "${FULL-}" ] || STEP=1
each_kill sendto ADD "$SOME" true $STEP 150
each_kill sendto DEL "$SOME" attached $STEP 150
check "the host is as before" clean

echo "# $(cut -d. -f1 /proc/uptime) s"
no_pods a b
for pf in "${CARDS[@]}"; do check "$pf without VFs" eval "echo 0 >/sys/class/net/$pf/device/sriov_numvfs"; done
rm /etc/railhead/rails.json
finish

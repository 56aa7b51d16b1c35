# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# seconds: 90
# topology: iommu
# vfio-rails: the plugin rails with kind "sriov" and VFs that vfio-pci has: both rails, and one beside a rail with an interface.
# FULL=1: killed at each request.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/suites/sriov/lib.sh
. conformance/vm/suites/sriov/lib.sh

PLUGIN=rails
IPAM='{"type":"railhead-ipam","pool":"rail{n}"}'
S=/sys/bus/pci

bind() # VF DRIVER
{
	echo "$2" >"$S/devices/$1/driver_override"
	[ ! -e "$S/devices/$1/driver" ] || echo "$1" >"$S/devices/$1/driver/unbind"
	echo "$1" >$S/drivers_probe
	is "$(basename "$(readlink "$S/devices/$1/driver")")" "$2"
}
rails_conf() { conf "\"kind\":\"sriov\"${1:+,$1}"; } # [KEYS]
of_pf()                                              # PF N FILTER: the PF's data of its Nth VF
{
	vf "$1" "$2" "$3" | grep -qx true || { ip link show "$1" && false; }
}
links_of() { ip -n "$1" -j link | jq -rc '[.[] | select(.ifname != "lo") | .ifname] | sort | join(" ")'; }
claims() { grep -l '"owner"' /run/railhead/vf/* | wc -l; }
leases() { "$RAILCTL" ipam lease list --json | jq length; }

modprobe vfio-pci
mkdir -p /etc/railhead
jq -nc --arg a "$A" --arg b "$B" '{rails: [{rail: 0, interface: $a}, {rail: 1, interface: $b}]}' >/etc/railhead/rails.json
for pf in "$A" "$B"; do
	ip link set "$pf" up
	check "$pf makes 2 VFs" vfs "$pf" 2
done
name_vf A0 "$A" 0 && name_vf A1 "$A" 1 && name_vf B0 "$B" 0 && name_vf B1 "$B" 1
for i in 0 1; do
	check "a pool" "$RAILCTL" ipam pool add "rail$i" --subnet "10.88.$i.0/24" --gateway "10.88.$i.1" --this-node-only
done
for pf in "$A" "$B"; do check "$pf has link" eventually carrier "$pf"; done
for vf in "$VA0" "$VA1" "$VB0" "$VB1"; do check "its driver has made $vf" eventually has_netdev "$vf"; done
for vf in "$VA0" "$VB0"; do check "vfio-pci takes $vf" bind "$vf" vfio-pci; done
pods a b
remember
GIVEN=$(jq -nc '$ARGS.positional' --args "$VA0" "$VB0")
MIXED=$(jq -nc '$ARGS.positional' --args "$VA0" "$VB1")

echo "# both rails, $(cut -d. -f1 /proc/uptime) s"
SOME=$(rails_conf "\"deviceIDs\":$GIVEN,\"vlan\":6,\"trust\":\"on\",\"spoofchk\":\"off\"")
check "STATUS" call STATUS "" "$SOME" ""
check "ADD" add a "$SOME"
cp $W/out $W/result
check "the result names both VFs" is "$(answer '[.interfaces[].pciID] | join(" ")')" "$VA0 $VB0"
check "and the MACs that their PFs gave them" is "$(answer '[.interfaces[].mac] | join(" ")')" \
	"$(vf "$A" 0 .address) $(vf "$B" 0 .address)"
check "and the MTU of the PFs" is "$(answer '[.interfaces[].mtu] | join(" ")')" \
	"$(cat "/sys/class/net/$A/mtu") $(cat "/sys/class/net/$B/mtu")"
check "and an address of each" is "$(answer '[.ips[] | "\(.interface) \(.address)"] | join(" ")')" '0 10.88.0.2/24 1 10.88.1.2/24'
check "each PF says so" eval "of_pf $A 0 '.vlan_list[0].vlan == 6 and .trust and (.spoofchk | not)' &&
	of_pf $B 0 '.vlan_list[0].vlan == 6 and .trust and (.spoofchk | not)'"
check "no interface in the pod" is "$(links_of a)" ''
check "one record, a claim for each" is "$(find /run/railhead/attachments -type f | wc -l) $(claims)" '1 2'
check "railctl attachments show" grep -q "net1r1: on $B, VF $VB0" <("$RAILCTL" attachments show rails a net1 | tr -s ' ')
check "railctl rails" "$RAILCTL" rails --netns /run/netns/a
check "CHECK" checked a "$SOME" $W/result
ip link set "$B" vf 0 vlan 7
check "CHECK names the rail whose VF differs" refused 104 "rail 1: VF $VB0: its PF $B has another vlan" checked a "$SOME" $W/result
ip link set "$B" vf 0 vlan 6
check "CHECK again" checked a "$SOME" $W/result
check "another pod cannot have them" refused 103 'belongs to container a' add b "$SOME"
check "and has no address" is "$(leases) $(claims)" '2 2'
check "DEL" del a "$SOME"
check "all is as it was" clean
check "a second DEL" del a "$SOME"

echo "# what needs an interface, $(cut -d. -f1 /proc/uptime) s"
for keys in '"routing":"rail"' '"txQueueLen":500' '"sysctl":{"net.ipv4.conf.IFNAME.arp_ignore":"1"}' '"rdma":"exclusive"'; do
	check "$keys is refused" refused 7 '' add a "$(rails_conf "\"deviceIDs\":$GIVEN,$keys")"
	check "... and leaves nothing" clean
done

echo "# addresses that are used without a probe, $(cut -d. -f1 /proc/uptime) s"
# The host on the other card has the only address of the pool. It is not an interface of the node, which would not assign that address.
OTHER=$(netdev "$VB1")
ip netns add far
check "a pool with one address" "$RAILCTL" ipam pool add one --subnet 10.89.0.0/30 --gateway 10.89.0.1 --this-node-only
ip link set "$OTHER" netns far up
ip -n far addr add 10.89.0.2/30 dev "$OTHER"
check "the other host has link" eventually carrier "$OTHER" far
one_of() { IPAM='{"type":"railhead-ipam","pool":"one"}' rails_conf "\"deviceIDs\":[\"$1\"],\"probe\":true"; }
check "a rail of vfio-pci does not ask" add a "$(one_of "$VA0")"
cp $W/out $W/result
check "a warning says so" grep -q "probe: $VA0 has no interface in the pod: no ARP or ND probe was sent" $W/out.log
check "and has the address" is "$(answer '.ips[].address')" 10.89.0.2/30
check "CHECK" checked a "$(one_of "$VA0")" $W/result
check "DEL" del a "$(one_of "$VA0")"
check "a rail with an interface asks" refused 109 "address 10.89.0.2 is in use" add a "$(one_of "$VA1")"
ip -n far link set "$OTHER" down
ip -n far link set "$OTHER" netns 1
ip netns del far
check "all is as it was" clean

echo "# one rail of vfio-pci, one with an interface, $(cut -d. -f1 /proc/uptime) s"
BOTH=$(rails_conf "\"deviceIDs\":$MIXED,\"mtu\":1400,\"trust\":\"on\"")
check "ADD" add a "$BOTH"
cp $W/out $W/result
check "the result names both" is "$(answer '[.interfaces[] | "\(.name) \(.pciID)"] | join(" ")')" "net1 $VA0 net1r1 $VB1"
check "one is in the pod" is "$(links_of a)" net1r1
IFN=net1r1 check "with its MTU and its address" eval "sees a $B 1 '.vf.trust and .pod.mtu == 1400' &&
	ip -n a -j addr show net1r1 | jq -e '.[0].addr_info | any(.local | startswith(\"10.88.1.\"))'"
check "CHECK" checked a "$BOTH" $W/result
check "and with the card's driver bound meanwhile" eval "bind $VA0 igbvf && eventually has_netdev $VA0"
check "CHECK finds that" refused 104 'rail 0' checked a "$BOTH" $W/result
check "as before" bind "$VA0" vfio-pci
check "CHECK again" checked a "$BOTH" $W/result
check "DEL" del a "$BOTH"
check "nobody has anything" nothing_left
# igbvf gave it a new MAC.
remember

echo "# without a record, without a namespace, $(cut -d. -f1 /proc/uptime) s"
check "ADD" add a "$SOME"
rm -r /run/railhead/attachments/rails
check "DEL without the record" del a "$SOME"
check "all is as it was" clean
check "ADD, and the pod goes" add a "$SOME"
no_pods a
check "DEL without a namespace" del a "$SOME" ""
check "all is as it was" clean
pods a
check "ADD, and no DEL comes" add a "$BOTH"
no_pods a
check "repair" "$RAILCTL" attachments repair
check "all is as it was" clean
pods a
check "ADD" add a "$SOME"
cp $W/out $W/result
check "GC that keeps it" call GC "" "$(jq -c '. + {"cni.dev/valid-attachments": [{containerID: "a", ifname: "net1"}]}' <<<"$SOME")" ""
check "CHECK" checked a "$SOME" $W/result
check "GC" call GC "" "$(jq -c '. + {"cni.dev/valid-attachments": []}' <<<"$SOME")" ""
check "all is as it was" clean

echo "# chosen by the plugin, $(cut -d. -f1 /proc/uptime) s"
FREE=$(rails_conf "\"resource\":{\"pf\":[\"pf{n}\"]}")
check "ADD" add a "$FREE"
check "ADD of another pod" add b "$FREE"
check "the first has those of vfio-pci, the second the others" is "$(links_of a)/$(links_of b)" '/net1 net1r1'
check "DEL" del a "$FREE"
check "DEL" del b "$FREE"
check "all is as it was" clean

echo "# killed, $(cut -d. -f1 /proc/uptime) s"
attached() { add a "$BOTH"; }
STEP=5
[ -z "${QUICK-}" ] || STEP=13
[ -z "${FULL-}" ] || STEP=1
each_kill sendto ADD "$BOTH" true $STEP 150
each_kill sendto DEL "$BOTH" attached $STEP 150
check "all is as it was" clean

echo "# $(cut -d. -f1 /proc/uptime) s"
no_pods a b
for vf in "$VA0" "$VB0"; do check "$vf goes back to igbvf" bind "$vf" igbvf; done
for pf in "$A" "$B"; do check "$pf without VFs" eval "echo 0 >/sys/class/net/$pf/device/sriov_numvfs"; done
rm /etc/railhead/rails.json
finish

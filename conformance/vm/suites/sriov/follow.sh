# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# follow.sh: whose a change is: an administrator's stays, a tenant's goes, and what the host or sriov-cni uses is not free.
pods a b
remember

# --- an administrator's --------------------------------------------------------------------
check "a first pod: ADD" add a "$(on "$VA0" '"vlan":5,"trust":"on"')"
for key in ipv4/conf/net1/arp_notify ipv6/conf/net1/ndisc_notify ipv6/conf/net1/optimistic_dad; do
	check "a first pod: $key" is "$(ip netns exec a cat /proc/sys/net/$key)" 1
done
check "a first pod: DEL" del a "$(on "$VA0")"
check "as before" clean
batch "link set $EA0 mtu 1480 alias host txqueuelen 500" "link set $A vf 0 vlan 9" "link set $A vf 0 trust on"
remember
check "a second pod: ADD" add a "$(on "$VA0" '"vlan":7,"mtu":1400,"logLevel":"info"')"
check "it is said that the VF was changed" grep -q "while it was free: vlan, trust, mtu" $W/out.log
check "a second pod: DEL" del a "$(on "$VA0")"
check "what the administrator set is there" clean
check "so are alias and txqueuelen" jq -e '.[0].ifalias == "host" and .[0].txqlen == 500' <(ip -j link show "$EA0")
check "a third pod without keys: ADD" add a "$(on "$VA0" '"logLevel":"info"')"
check "is told nothing" isnt grep -q "while it was free" $W/out.log
check "leaves what was there" sees a "$A" 0 '.vf.vlan_list[0].vlan == 9 and .vf.trust and .pod.mtu == 1480'
check "a third pod: DEL" del a "$(on "$VA0")"
batch "link set $EA0 mtu 1500 alias ''" "link set $EA0 txqueuelen 1000" "link set $A vf 0 vlan 0" "link set $A vf 0 trust off"
check "vf adopt takes what is there" "$RAILCTL" vf adopt "$VA0"
check "and there is nothing to repair" grep -q "0 repaired" <("$RAILCTL" vf repair "$VA0")
remember

# --- a tenant's ----------------------------------------------------------------------------
settings() { ip -j -d link show "$1" | jq -c '.[0] | {promiscuity, allmulti, flags: (.flags - ["UP", "LOWER_UP", "NO-CARRIER"] | sort), ifalias, txqlen, group,
	gso_max_size, gso_max_segs, gro_max_size, broadcast}'; }
settings "$EA1" >$W/settings
check "a tenant: ADD" add a "$(on "$VA1" '"trust":"on"')"
for what in "promisc on" "allmulticast on" "alias tenant" "txqueuelen 77" "group 9" "gso_max_segs 11" "gso_max_size 30000" "gro_max_size 40000" \
	"arp off" "multicast off"; do
	# shellcheck disable=SC2086 # two words
	check "a tenant sets $what" ip -n a link set net1 $what
done
check "a tenant: DEL" del a "$(on "$VA1")"
check "nothing of it is left: $(settings "$EA1")" cmp $W/settings <(settings "$EA1")
check "as before" clean
export CK_TIMEOUT_MULTIPLIER=30
check "each attribute that this kernel tells of a link has been thought of" "$TREE/build/test/lib/net/settings_test"
check "no sysctl of an interface survives a move here" "$TREE/build/test/lib/net/settings_sysctl_test"

# --- the host's ----------------------------------------------------------------------------
SOME="\"resource\":{\"pf\":[\"$A\"]}"
use() { "$RAILCTL" vf list --pf "$A" --json | jq -r --arg vf "$1" '.[] | select(.pciAddress == $vf) | .use + " " + (.why // "")'; }
batch "addr add 10.1.1.1/24 dev $EA0" "link add br0 type bridge" "link set $EA1 master br0" "link add mv0 link $EA2 type macvlan mode bridge" \
	"link add link $EA3 netns a name mv1 type macvlan mode bridge" "-n a link set mv1 up" 2>/dev/null
ip -n a link show mv1 >/dev/null 2>&1 || ip link add link "$EA3" netns a name mv1 type macvlan mode bridge
ip -n a link set mv1 up
check "an address" is "$(use "$VA0")" "in-use has the address 10.1.1.1/24"
check "a port of a bridge" is "$(use "$VA1")" "in-use is a port of the bridge br0"
check "a macvlan above it" is "$(use "$VA2")" "in-use has the macvlan mv0 above it"
check "a macvlan in a pod" grep -q "^in-use listens to" <<<"$(use "$VA3")"
check "resource passes over them: ADD" add b "$(conf "$SOME")"
check "the fifth" is "$(answer '.interfaces[0].pciID')" "$VA4"
check "resource passes over them: DEL" del b "$(conf "$SOME")"
check "one that is asked for is refused" refused 103 "is a port of the bridge br0" add b "$(on "$VA1")"
check "vf create is refused" isnt "$RAILCTL" vf create --pf "$A" --count 3
batch "addr del 10.1.1.1/24 dev $EA0" "link del br0" "link del mv0" "-n a link del mv1" 2>/dev/null
ip -n a link del mv1 2>/dev/null
remember

# --- sriov-cni's ---------------------------------------------------------------------------
PEER=/var/lib/cni/sriov
mkdir -p $PEER/pci
# peer CONTAINER VF N IFNAME: what it does to the Nth VF, and has on record.
peer()
{
	local mac
	mac=$(mac_of "$4")
	jq -n --arg vf "$2" --arg if "$4" --arg mac "$mac" --argjson n "$3" --arg pf "$A" '{cniVersion: "1.0.0", name: "rails", type: "sriov", ipam: {type: "railhead-ipam"},
		OrigVfState: {HostIFName: $if, SpoofChk: true, Trust: false, AdminMAC: "00:00:00:00:00:00", EffectiveMAC: $mac, Vlan: 0, VlanQoS: 0, VlanProto: 33024,
		MinTxRate: 0, MaxTxRate: 0, LinkState: 0, MTU: 1500}, Master: $pf, MAC: "", MTU: 1500, vlan: 7, vlanQoS: 0, vlanProto: "802.1q", deviceID: $vf, VFID: $n,
		min_tx_rate: null, max_tx_rate: null, spoofchk: "off", trust: "on", runtimeConfig: {}}' >"$PEER/$1-net1"
	printf '/run/netns/%s' "$1" >"$PEER/pci/$2"
	batch "link set $A vf $3 vlan 7" "link set $A vf $3 trust on" "link set $A vf $3 spoofchk off" "link set $4 down" "link set $4 netns $1 name net1" \
		"-n $1 link set net1 up" 2>/dev/null || ip -n "$1" link set net1 up
}
peer a "$VA0" 0 "$EA0"
check "what sriov-cni attached is in use" is "$(use "$VA0")" "in-use was attached by sriov-cni to container a as net1"
check "it is not taken" refused 103 "attached by sriov-cni" add b "$(on "$VA0")"
echo '{"cniVersion":"1.1.0","interfaces":[{"name":"net1","sandbox":"/run/netns/a"}]}' >$W/prev
check "CHECK says what it is" isnt checked a "$(on "$VA0" | jq -c 'del(.ipam)')" $W/prev
check "it names sriov-cni" grep -q "was made by sriov-cni" $W/out
check "our DEL" del a "$(on "$VA0")"
check "puts it back" clean
check "and nothing is on record" is "$(find $PEER -type f)" ""
peer a "$VA0" 0 "$EA0"
ip netns del a
eventually test -e "/sys/bus/pci/devices/$VA0/net"
check "of a pod that has gone: the next one gets it" add b "$(on "$VA0")"
check "without the VLAN of the last one" sees b "$A" 0 '.vf.vlan_list == [{}] and .vf.spoofchk and (.vf.trust | not)'
check "DEL" del b "$(on "$VA0")"
check "as before" as_before
rm -rf $PEER
no_pods b
forget

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 45
# rdma: the rdma plugin behind macvlan and ipvlan, over rxe on a card, in mode shared; what it says in mode exclusive.
. conformance/vm/guest/lib.sh
W=/run/work
rm -rf $W && mkdir -p $W
read -r PF PEER <<<"$PFS"
modprobe -a rdma_rxe ib_uverbs rdma_ucm macvlan ipvlan bonding
modprobe ib_umad 2>/dev/null

# conf TYPE KEYS: the configuration of a plugin of the list; a chain is macvlan, then rdma with what macvlan said.
conf() { printf '{"cniVersion":"1.1.0","name":"rails","type":"%s"%s}' "$1" "${2:+,$2}"; }
ipam() { printf '"master":"%s","ipam":{"type":"railhead-ipam","subnet":"%s"}' "$1" "${2:-10.88.0.0/16}"; }

# call VERB PLUGIN POD CONF: the answer is in $W/out, its status is returned. VIEW: what runs the plugin rdma, if that is
# to see another /sys.
VIEW=()
call()
{
	local view=()
	[ "$2" != rdma ] || view=("${VIEW[@]}")
	CNI_COMMAND=$1 CNI_CONTAINERID=$3 CNI_NETNS=${NETNS-/run/netns/$3} CNI_IFNAME=net1 CNI_PATH=$BIN "${view[@]}" "$BIN/$2" \
		<<<"$4" >$W/out 2>$W/log || { cat $W/out $W/log && false; }
}
answer() { jq -r "$1" $W/out; }
behind() { jq -c --slurpfile r $W/prev '. + {prevResult: $r[0]}' <<<"$1"; }
says() { [ "$(answer "$1")" = "$2" ] || { cat $W/out && false; }; }

# attach TYPE POD CONF [KEYS]: both plugins of the list.
attach()
{
	ip netns add "$2" && call ADD "$1" "$2" "$3" && cp $W/out $W/prev && call ADD rdma "$2" "$(behind "$(conf rdma "${4-}")")"
}
detach() # TYPE POD CONF
{
	call DEL rdma "$2" "$(conf rdma)" && call DEL "$1" "$2" "$3" && ip netns del "$2"
}
refused() { refused_in $W/out "$@"; } # CODE WORD COMMAND...
records() { find /run/railhead/rdma -name '*,net1' 2>/dev/null | wc -l; }
gid() { cat "/sys/class/infiniband/${2:-rxe0}/ports/1/gids/$1"; }
ndev() { cat "/sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/$1"; }

ip link set "$PF" up
MAC=$(conf macvlan "$(ipam "$PF")")
IPV=$(conf ipvlan "$(ipam "$PF")")

check "STATUS of a node without RDMA devices, in mode shared" call STATUS rdma '' "$(conf rdma '"mode":"shared"')"
check "STATUS of a node in the other mode" refused 50 "railctl rdma mode exclusive" call STATUS rdma '' "$(conf rdma '"mode":"exclusive"')"
check "a parent without RDMA device is named" refused 108 "$PF" attach macvlan p0 "$MAC"
NETNS='' check "DEL of what was never there" call DEL rdma p0 "$(conf rdma)"
check "the interface of p0 goes" detach macvlan p0 "$MAC"
check "a rxe on $PF" rdma link add rxe0 type rxe netdev "$PF"

for type in macvlan ipvlan; do
	[ $type = macvlan ] && c=$MAC || c=$IPV
	check "$type: ADD of the chain" attach $type p1 "$c"
	check "$type: device, port, mode" says '.rdma | [.device, .port, .mode] | join(" ")' "rxe0 1 shared"
	i=$(answer '.rdma.gids[0].index')
	ip4=$(answer '.ips[0].address | split("/")[0]')
	check "$type: the address of the GID" says '.rdma.gids[0].address' "$ip4"
	check "$type: the GID at that index" is "$(gid "$i")" "$(answer '.rdma.gids[0].gid')"
	check "$type: it is of net1" is "$(ndev "$i")" net1
	check "$type: the character devices are there" test -e "/sys/class/infiniband_verbs/$(basename "$(answer '.rdma.charDevices[0]')")"
	check "$type: prevResult is whole" is "$(answer 'del(.rdma) | tojson')" "$(jq -c . $W/prev)"
	check "$type: CHECK" call CHECK rdma p1 "$(behind "$(conf rdma)")"
	ip -n p1 addr flush dev net1
	check "$type: CHECK without the address" refused 104 "$ip4" call CHECK rdma p1 "$(behind "$(conf rdma)")"
	check "$type: a second ADD" refused 103 "run DEL" call ADD rdma p1 "$(behind "$(conf rdma)")"
	check "$type: DEL" detach $type p1 "$c"
	check "$type: no record is left" is "$(records)" 0
done

# Two cards have a device each: a pod on the second one gets that of its own card.
check "$PEER is up" ip link set "$PEER" up
check "a rxe on $PEER, too" rdma link add rxe1 type rxe netdev "$PEER"
SECOND=$(conf macvlan "$(ipam "$PEER")")
check "a pod on the second of two cards" attach macvlan p7 "$SECOND"
check "has the device of its own card" says .rdma.device rxe1
check "and the GID of that" is "$(gid "$(answer '.rdma.gids[0].index')" rxe1)" "$(answer '.rdma.gids[0].gid')"
check "CHECK of a pod on the second card" call CHECK rdma p7 "$(behind "$(conf rdma)")"
check "it goes, too" detach macvlan p7 "$SECOND"

# Both cards in one ADD: the plugin rails looks at the devices by itself.
mkdir -p /etc/railhead
jq -n --arg a "$PF" --arg b "$PEER" '{rails: [{rail: 0, interface: $a}, {rail: 1, interface: $b}]}' >/etc/railhead/rails.json
for i in 0 1; do check "a pool of rail $i" "$BIN/railctl" ipam pool add "rail$i" --subnet "10.7$i.0.0/24" --this-node-only; done
ip netns add p9
for type in macvlan ipvlan; do
	RAILS=$(conf rails "\"kind\":\"$type\",\"rdma\":\"shared\",\"ipam\":{\"type\":\"railhead-ipam\",\"pool\":\"rail{n}\"}")
	check "rails of $type: ADD" call ADD rails p9 "$RAILS"
	cp $W/out $W/prev
	check "rails of $type: the device of each" says '[.rdma[] | [.interface, .device, .mode, .gids[0].address] | join(" ")] | join(",")' \
		"$(jq -r '[.ips[].address | split("/")[0]] | "net1 rxe0 shared \(.[0]),net1r1 rxe1 shared \(.[1])"' $W/prev)"
	check "rails of $type: the GID" is "$(gid "$(answer '.rdma[1].gids[0].index')" rxe1)" "$(answer '.rdma[1].gids[0].gid')"
	check "rails of $type: CHECK" call CHECK rails p9 "$(behind "$RAILS")"
	rdma link delete rxe1
	check "rails of $type: CHECK names the rail" refused 104 "rail 1: rdma" call CHECK rails p9 "$(behind "$RAILS")"
	rdma link add rxe1 type rxe netdev "$PEER"
	check "rails of $type: CHECK of a device that was made again" refused 104 "rail 1: rdma: interface net1r1 is served by RDMA device rxe1" \
		call CHECK rails p9 "$(behind "$RAILS")"
	check "rails of $type: DEL" call DEL rails p9 "$RAILS"
	rdma link delete rxe1
	check "rails of $type: ADD without a device" refused 104 "rail 1: rdma" call ADD rails p9 "$RAILS"
	check "rails of $type: nothing is left" is "$(ip -n p9 -j link | jq -r '[.[].ifname] | join(" ")')$("$BIN/railctl" ipam lease list --json | jq -c '[.[] | select(.state == "leased")]')" 'lo[]'
	rdma link add rxe1 type rxe netdev "$PEER"
done
ip netns del p9
rm /etc/railhead/rails.json
rdma link delete rxe1

# An address that comes while the plugin waits for its GID.
late() # POD ADDRESS
{
	local pid
	call ADD rdma "$1" "$(behind "$(conf rdma '"timeout":600')")" &
	pid=$!
	eventually sleeping rdma $pid && ip -n "$1" addr add "$2" dev net1 && wait $pid
}
no_gid() { isnt is "$(gid "$i")" "$was"; }
check "a pod that has its address" attach macvlan p8 "$MAC"
ip4=$(answer '.ips[0].address') i=$(answer '.rdma.gids[0].index') was=$(answer '.rdma.gids[0].gid')
check "its RDMA device is given back" call DEL rdma p8 "$(conf rdma)"
ip -n p8 addr flush dev net1
check "without its address it has no GID" eventually no_gid
check "ADD waits for an address that comes late" late p8 "$ip4"
check "and finds its GID" says '.rdma.gids[0].gid' "$was"
check "the pod goes" detach macvlan p8 "$MAC"

check "an address that is not there is waited for, and then named" attach macvlan p2 "$MAC"
call DEL rdma p2 "$(conf rdma)"
jq '.ips[0].address = "10.89.0.9/16"' $W/prev >$W/edited && mv $W/edited $W/prev
check "an address without GID" refused 104 10.89.0.9 call ADD rdma p2 "$(behind "$(conf rdma '"timeout":1')")"
check "nothing stays of it" is "$(records)" 0
check "a device id of a shared device plugin says nothing" call ADD rdma p2 "$(jq -c '.ips = []' $W/prev >$W/e && mv $W/e $W/prev; behind "$(conf rdma '"deviceID":"17"')")"
check "a record is there" is "$(records)" 1
check "GC of others lets it be" call GC rdma '' "$(conf rdma '"cni.dev/valid-attachments":[{"containerID":"p2","ifname":"net1"}]')"
check "a record is there still" is "$(records)" 1
check "GC" call GC rdma '' "$(conf rdma '"cni.dev/valid-attachments":[]')"
check "no record after it" is "$(records)" 0
check "a device name needs mode exclusive" refused 104 deviceName call ADD rdma p2 "$(behind "$(conf rdma '"deviceName":"roce0"')")"
check "mode exclusive on this node" refused 104 "railctl rdma mode exclusive" call ADD rdma p2 "$(behind "$(conf rdma '"mode":"exclusive"')")"
info=/run/k8s.cni.cncf.io/devinfo/cni/p2.json
check "device information" call ADD rdma p2 "$(behind "$(conf rdma "\"runtimeConfig\":{\"CNIDeviceInfoFile\":\"$info\"}")")"
check "it names the device" is "$(jq -r '.pci["rdma-device"]' $info)" rxe0
check "it goes" eval 'detach macvlan p2 "$MAC" && [ ! -e $info ]'

# Further down, and on the pod's own interface.
ip link add link "$PF" name v100 type vlan id 100 && ip link set v100 up
VLAN=$(conf macvlan "$(ipam v100)")
check "macvlan on a VLAN" attach macvlan p4 "$VLAN"
check "it comes down to the card's device" says .rdma.device rxe0
check "DEL of it" detach macvlan p4 "$VLAN"
ip link del v100
ip netns add p5 && ip link add v5 link "$PF" type macvlan mode bridge && ip link set v5 netns p5 name net1
ip -n p5 link set net1 up && ip -n p5 addr add 10.91.0.5/16 dev net1 && ip netns exec p5 rdma link add rxe5 type rxe netdev net1
jq -n '{cniVersion: "1.1.0", interfaces: [{name: "net1", sandbox: "/run/netns/p5"}], ips: [{address: "10.91.0.5/16", interface: 0}]}' >$W/prev
check "a device on the pod's own interface" call ADD rdma p5 "$(behind "$(conf rdma)")"
check "goes before that of the card" says .rdma.device rxe5
check "CHECK of it" call CHECK rdma p5 "$(behind "$(conf rdma)")"
check "DEL of that" call DEL rdma p5 "$(conf rdma)"
# While such a device goes together with its interface, no namespace can be made (ENODEV).
ip netns exec p5 rdma link delete rxe5
ip netns del p5

# A bond of both cards. A card's driver shows the device below the card; rxe does not, so a copy of /sys does.
ip link set "$PF" down && ip link set "$PEER" down
check "a bond" eval 'ip link add bond0 type bond mode active-backup miimon 100 && ip link set "$PF" master bond0 &&
	ip link set "$PEER" master bond0 && ip link set bond0 up && eventually carrier bond0'
first=$(basename "$(readlink "/sys/class/net/$PF/device")")
cp -a /sys/bus/pci/devices $W/bus
rm "$W/bus/$first" && mkdir -p "$W/bus/$first/infiniband/rxe0"
# shellcheck disable=SC2016 # expanded by that shell
VIEW=(unshare -m bash -c 'mount --bind "$0" /sys/bus/pci/devices && exec "$@"' "$W/bus")
BOND=$(conf macvlan "$(ipam bond0 10.92.0.0/16)")
check "macvlan on a bond" attach macvlan p6 "$BOND"
check "it comes down to a member's device" says '.rdma | [.device, .pciID] | join(" ")' "rxe0 $first"
check "DEL of that, too" detach macvlan p6 "$BOND"
VIEW=()
check "the bond goes" ip link del bond0
ip link set "$PF" up

# The newest of 250.
ip netns add many
ip link add m0 link "$PF" type macvlan mode bridge && ip link set m0 netns many && ip -n many link set m0 up
for i in $(seq 250); do echo "addr add 10.90.0.$i/16 dev m0"; done | ip -n many -batch -
eventually grep -q 0a5a:00fa /sys/class/infiniband/rxe0/ports/1/gids/{0..260}
check "behind 250 GIDs" attach macvlan p3 "$MAC"
check "its index is a high one" test "$(answer '.rdma.gids[0].index')" -gt 250
ip netns del p3
NETNS='' check "DEL when the namespace has gone" call DEL rdma p3 "$(conf rdma)"
check "no record of it" is "$(records)" 0
NETNS='' call DEL macvlan p3 "$MAC"
ip netns del many
rdma link delete rxe0

# Mode exclusive: only while there is no other network namespace.
check "mode exclusive" eventually rdma system set netns exclusive
rdma link add rxe0 type rxe netdev "$PF"
check "STATUS in mode exclusive" call STATUS rdma '' "$(conf rdma)"
check "STATUS of who needs shared" refused 50 "railctl rdma mode shared" call STATUS rdma '' "$(conf rdma '"mode":"shared"')"
check "one node does not serve both" refused 104 "cannot serve both" attach macvlan p4 "$MAC"
check "nothing of it stays" is "$(records)" 0
call DEL macvlan p4 "$MAC"
ip netns del p4
rdma link delete rxe0
check "mode shared again" eventually rdma system set netns shared
finish

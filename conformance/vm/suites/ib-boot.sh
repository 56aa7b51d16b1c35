# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 30
# needs: fabric
# ib-boot: what suites for InfiniBand rely on: the module fabric, and what the kernel makes of it. fabric.md says the same in words.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/guest/fabric.sh
. conformance/vm/guest/fabric.sh

check "two cards" fabric vfio=1
read -r PF OTHER <<<"$IB_PFS"
P=$(netdev "$PF") Q=$(netdev "$OTHER")
# ib_card ADDRESS: it has an interface, an RDMA device and a character device.
ib_card()
{
	[ -n "$(netdev "$1")" ] && [ -n "$(rdma_dev "$1")" ] && [ -c "/dev/infiniband/$(uverbs "$1")" ] &&
		is "$(<"$BUS/$1/net/$(netdev "$1")/type")" 32
}
check "a card" ib_card "$PF"
check "another card" ib_card "$OTHER"
check "16 VFs" ib_vfs "$PF" 16
each_has() { is "$(find "$BUS/$PF"/virtfn*/"$1"/ -mindepth 1 -maxdepth 1 | wc -l)" 16; }
for what in net infiniband infiniband_verbs; do check "each VF has its own in $what" each_has $what; done
follow()
{
	local n v
	for n in {0..15}; do v=$(ib_vf "$PF" "$n") && is "$(lladdr_guid "$(netdev "$v")")" "$(port_guid "$v")" || return; done
}
check "the port's GUID is in each interface's address" follow
check "another number of VFs is refused" isnt ib_vfs "$PF" 8

# ---- GUIDs and link state ----
V=$(ib_vf "$PF" 3) G=02:11:22:33:44:55:66:77 H=02:11:22:33:44:55:66:88
OLD=$(port_guid "$V")
guids() { vf "$P" "$1" '."node guid" + " " + ."port guid"'; }
check "the PF knows no GUID" is "$(guids 3)" "00:00:00:00:00:00:00:00 00:00:00:00:00:00:00:00"
check "set a node GUID" ip link set "$P" vf 3 node_guid $G
check "set a port GUID" ip link set "$P" vf 3 port_guid $H
check "the PF knows them" is "$(guids 3)" "$G $H"
check "the VF has its old one" is "$(port_guid "$V")" "$OLD"
check "rebind" rebind "$V"
check "the VF has them" is "$(node_guid "$V") $(port_guid "$V")" "$G $H"
check "so has its interface" is "$(lladdr_guid "$(netdev "$V")")" $H
check "the rebind was counted" is "$(count "$V" remove) $(count "$V" probe)" "1 2"
check "a VF that is not there has none" isnt ip link set "$P" vf 16 node_guid $G
port_state() { cat "$BUS/$1/infiniband/$(rdma_dev "$1")/ports/1/state"; }
port_is() { is "$(port_state "$1")" "$2"; }
check "link state disable" ip link set "$P" vf 3 state disable
check "is read back" is "$(vf "$P" 3 .link_state)" disable
check "the VF's port is down" port_is "$V" "1: DOWN"
check "link state enable" ip link set "$P" vf 3 state enable
check "the PF's port goes down" knob "$PF" state down
check "a VF that is enabled stays up" port_is "$V" "4: ACTIVE"
check "a VF that follows goes down" port_is "$(ib_vf "$PF" 2)" "1: DOWN"
check "the PF's port comes up" knob "$PF" state active
check "without VFs" ib_vfs "$PF" 0
check "4 VFs" ib_vfs "$PF" 4
check "GUIDs that were set are kept by the PF's driver" is "$(node_guid "$V") $(port_guid "$V")" "$G $H"

exec 8<>"/dev/infiniband/$(uverbs "$V")"
check "a VF whose device a program has open can be bound again" rebind "$V"
exec 8>&-

# ---- driver_override ----
driver() { basename "$(readlink "$BUS/$1/driver")"; }
check "a VF without a driver" unbind "$V"
echo vfio-pci >"$BUS/$V/driver_override"
check "to vfio-pci" bind "$V" vfio-pci
check "is vfio-pci" is "$(driver "$V")" vfio-pci
check "with an IOMMU group" test -e "$BUS/$V/iommu_group"
check "no RDMA device" is "$(rdma_dev "$V")" ''
check "its GUID can be set" ip link set "$P" vf 3 port_guid $G
check "back from it" unbind "$V"
echo >"$BUS/$V/driver_override"
check "to its own" bind "$V"
check "with the new GUID" is "$(port_guid "$V")" $G

# ---- knobs of a port, rules ----
attr() { cat "$BUS/$1/infiniband/$(rdma_dev "$1")/ports/1/$2"; }
attr_is() { is "$(attr "$1" "$2")" "$3"; }
check "a LID" knob "$V" lid 0x77
check "is the port's" eventually attr_is "$V" lid 0x77
check "no subnet manager" knob "$V" sm_lid 0
check "is the port's, too" eventually attr_is "$V" sm_lid 0x0
check "partition keys" knob "$V" pkeys "0xffff 0x8001 0x0002"
check "are the port's" eventually attr_is "$V" pkeys/2 0x0002
check "a GUID of the firmware" knob "$V" port_guid "$(hex $H)"
check "rebind" rebind "$V"
check "is the port's" is "$(port_guid "$V")" $H
fails_with() { ! said=$("${@:2}" 2>&1) && [[ $said == *"$1"* ]] || { echo "$said" && false; }; }
check "a rule: the second request fails" fault "set_port_guid $V error 16 skip 1 times 1"
check "the first" ip link set "$P" vf 3 port_guid $G
check "the second" fails_with busy ip link set "$P" vf 3 port_guid $H
check "the third" ip link set "$P" vf 3 port_guid $H
check "a bad rule" isnt fault "set_port_guid $V often"
check "a rule: no driver" fault "probe $V error 5"
check "rebind fails" isnt rebind "$V" 2>/dev/null
check "no driver" isnt is_bound "$V"
check "release" fault "release probe $V"
check "bind" bind "$V"
check "a rule: no RDMA device" fault "register * error 12"
check "no VF gets a driver" isnt rebind "$V" 2>/dev/null
check "no rules" fault clear
check "bind" bind "$V"
check "a rule: a bind waits" fault "probe $V hold"
rebind "$V" &
PID=$!
check "it waits" eventually held probe "$V"
check "its VF has nothing" is "$(rdma_dev "$V")$(netdev "$V")" ''
check "release" fault "release probe $V"
wait $PID
check "it goes on" is $? 0
check "the VF has all three" ib_card "$V"
check "a rule: a device without interface" fault "interface $V error 12"
check "bound again" rebind "$V"
check "it has none" is "$(netdev "$V")" ''
check "but a device" test -n "$(rdma_dev "$V")"
check "no rules" fault clear
check "bound again" rebind "$V"
check "it has one" test -n "$(netdev "$V")"
took() { local begin=$EPOCHREALTIME && "$@" && echo $((${EPOCHREALTIME/./} - ${begin/./})); }
check "a rule: slow" fault "get_vf_config $V delay 700"
check "a list of VFs is slow" test "$(took ip link show "$P" | tail -n 1)" -ge 700000
check "no rules" fault clear

# ---- interfaces of partitions ----
for pf in $IB_PFS; do check "partition keys of $pf" knob "$pf" pkeys "0xffff 0x8001 0x8002"; done
child() { ip link add link "$1" name "$2" type ipoib pkey "$3" && ip link set dev "$2" up; }
check "children of two cards" eval 'child $P a 0x8001 && child $Q b 0x8001 && child $Q c 0x8002'
check "a child of a partition that the port has not" child "$P" d 0x8003
for i in a b c; do
	ip netns add $i
	ip link set dev $i alias "child $i"
	check "child $i moves" ip link set dev $i netns $i name net1
	ip -n $i link set net1 up
	ip -n $i addr add 10.9.2.$((36#$i))/24 dev net1
	check "child $i has a carrier" eventually carrier net1 $i
done
pings() { ip netns exec "$1" "$HELPERS/attach/ping" "$2"; }
check "pods of one partition reach each other" eventually pings a 10.9.2.11
check "other partitions do not" isnt pings a 10.9.2.12
check "nor has d a carrier" isnt carrier d
check "its partition key" knob "$PF" pkeys "0xffff 0x8001 0x8002 0x8003"
check "then it has one" eventually carrier d
check "a child with the same key, as a limited member" child "$P" d2 0x0003
check "is a full member" grep -q 'ipoib pkey  *0x8003 ' <(ip -d link show d2)
check "its key is not in /sys, as that of a card's own interface is" eval '[ ! -e /sys/class/net/d2/pkey ] && is "$(<"/sys/class/net/$P/pkey")" 0xffff'
check "a child has no child" isnt child d f 0x8001
ip netns del a
back() { ip -j link | jq -e --arg a "child $1" 'any(.[]; .ifalias == $a)' >/dev/null; }
check "a child of a namespace that ended is handed back, with its alias" eventually back a
ip netns del b
ip netns del c
check "all children are" eval 'eventually back b && eventually back c'
names() { ip -j link | jq -r '[.[] | select(.ifalias) | .ifname] | sort | join(" ")'; }
check "the second has another name, because the first's is taken" isnt is "$(names)" "net1 net1 net1"
check "a rule: nobody may join" fault "sa_join $OTHER error 1"
check "no carrier then" eval 'child $Q e 0x8002; ! LAST_RESORT=3 eventually carrier e 2>/dev/null'
check "no rules" fault clear
check "then a carrier" eventually carrier e
ip netns add pod
ip link set dev d netns pod
check "a parent comes up" ip link set "$P" up
is_up() { [ $(($(<"/sys/class/net/$1/flags") & 1)) = 1 ]; }
check "and its children" eventually is_up "$(ip -j link | jq -r 'map(select(.ifalias == "child a"))[0].ifname')"
check "the card is bound again" rebind "$PF"
check "its children are gone" isnt back a
check "in other namespaces, too" isnt ip -n pod link show d
ip netns del pod

# ---- RDMA devices in namespaces ----
check "4 VFs" ib_vfs "$PF" 4
check "mode exclusive" eventually rdma system set netns exclusive
ip netns add pod
D=$(rdma_dev "$V")
ip link set "$(netdev "$V")" netns pod name net1
check "a device moves" rdma dev set "$D" netns pod
here() { rdma dev show "$1" >/dev/null 2>&1; }
there() { ip netns exec pod rdma dev show "$1" >/dev/null 2>&1; }
check "it is there" there "$D"
check "not here" isnt here "$D"
# The kernel makes another interface, in the device's namespace since 7.0.
beside() { ip -n pod -j link | jq -r '[.[] | select(.link_type == "infiniband") | .ifname] | join(" ")'; }
if [ "$WANT_KERNEL" = 6.12 ]; then
	check "its interface is here" eval '[ -n "$(netdev $V)" ] && [ -z "$(beside)" ]'
else
	check "its interface is there, with another name" eval '[ -z "$(netdev $V)" ] && isnt is "$(beside)" net1 && [ -n "$(beside)" ]'
fi
check "the device's name is in this namespace's /sys no more" is "$(rdma_dev "$V")" ''
ip netns del pod
check "with the namespace's end it is back" eventually here "$D"
check "so is its interface" eventually has_netdev "$V"
ip netns add pod
check "a device moves" rdma dev set "$D" netns pod
check "rebind there" rebind "$V"
check "it is here" here "$(rdma_dev "$V")"
ip netns del pod
check "without VFs" ib_vfs "$PF" 0
check "mode shared" eventually rdma system set netns shared
check "without cards" fabric_off
finish

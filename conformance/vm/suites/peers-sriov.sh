# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# seconds: 80
# check: no
# programs: build/peers/bin
# peers-sriov: VFs that the real sriov-cni attached: our DEL, our ADD, repair, and the way back. It is version
# 2.1.0, the newest one that is a Go module. Its file differs from that of 2.10; suites/sriov/follow.sh has a copy of that one.
# The only attribute of 2.1.0 is `vlan`.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/suites/sriov/lib.sh
. conformance/vm/suites/sriov/lib.sh
PEER=$W/peer CACHE=/var/lib/cni/sriov LEASES=/var/lib/cni/networks/rails
mkdir -p $PEER $W/both
cp "$TREE/build/peers/bin/"{sriov,host-local} $PEER
cp "$BIN"/* $W/both
cp $PEER/host-local $W/both
IPAM='{"type":"host-local","subnet":"10.89.0.0/24"}'

# peer VERB CONTAINER CONF [NETNS]: the real one, which knows versions up to 0.3.1; the answer is in $W/peer.out.
peer()
{
	CNI_COMMAND=$1 CNI_CONTAINERID=$2 CNI_NETNS=${4-/run/netns/$2} CNI_IFNAME=net1 CNI_PATH=$PEER $PEER/sriov \
		<<<"${3/1.1.0/0.3.1}" >$W/peer.out 2>&1 || { cat $W/peer.out && false; }
}
# Ours, with host-local beside it.
BIN=$W/both
files() { find $CACHE -type f -printf '%f\n' 2>/dev/null | sort; }
leases() { find $LEASES -name '10.89.*' -printf '%f\n' 2>/dev/null; }
released() { as_before && is "$(files)" "" && is "$(leases)" "" && nothing_left; }
use() { "$RAILCTL" vf list --pf "$A" --json | jq -r --arg vf "$1" '.[] | select(.pciAddress == $vf) | .use + " " + (.why // "")'; }
at_home() { [ -n "$(netdev "$VA0")" ]; }
# attached [KEYS]: by the real one, to pod a.
attached()
{
	check "sriov-cni: ADD ${1-}" peer ADD a "$(on "$VA0" "${1-}")"
	check "its file is there" is "$(files)" "a-net1"
}
inside() { printf '%s\n' "${@:2}" | ip -n "$1" -batch -; }
dies() { ip netns del a && ip netns add gone && ip netns del gone && eventually at_home; }

ip link set "$A" up
check "2 VFs" vfs "$A" 2
name_vf A0 "$A" 0
name_vf A1 "$A" 1
pods a b c
remember

# --- what it does by itself ------------------------------------------------------------------
attached '"vlan":7'
check "VLAN 7 is on the VF" is "$(vf "$A" 0 '.vlan_list[0].vlan')" 7
check "sriov-cni: DEL" peer DEL a "$(on "$VA0" '"vlan":7')"
check "all is as before" released

# --- our DEL -----------------------------------------------------------------------------------
attached '"vlan":7'
check "it is in use, and said of whom" is "$(use "$VA0")" "in-use was attached by sriov-cni to container a as net1"
check "our ADD is refused" refused 103 "attached by sriov-cni" add b "$(on "$VA0")"
RES=$(conf "\"resource\":{\"pf\":[\"$A\"]}")
check "resource: ADD" add b "$RES"
check "it is the other VF" is "$(answer '.interfaces[0].pciID')" "$VA1"
check "resource never takes the VF of a living pod" refused 101 "no free VF" add c "$RES"
check "DEL" del b "$RES"
jq -c '. + {cniVersion: "1.1.0"}' $W/peer.out >$W/prev
check "CHECK says what it is" isnt checked a "$(on "$VA0" '"vlan":7')" $W/prev
check "it names sriov-cni" grep -q "was made by sriov-cni" $W/out
check "a tenant has changed what it can" inside a "link set net1 mtu 1400 promisc on alias tenant" "link set net1 txqueuelen 77"
check "our DEL" del a "$(on "$VA0" '"vlan":7')"
# 2.1.0 does not record the MTU, so this value is lost.
ip link set "$EA0" mtu 1500 && "$RAILCTL" vf adopt "$VA0"
check "puts all else back" released
check "our DEL once more" del a "$(on "$VA0" '"vlan":7')"
check "the next pod: ADD" add b "$(on "$VA0")"
check "it is not in VLAN 7" sees b "$A" 0 '.vf.vlan_list == [{}] and (.vf.trust | not) and .vf.spoofchk and .pod.mtu == 1500'
check "it changes all that it can" inside b "link set net1 down" "link set net1 mtu 1300 promisc on address 02:00:00:00:07:01"
check "the next pod: DEL" del b "$(on "$VA0")"
check "the file said nothing of that, we know it" released

# A VF that we have had: the MTU is known then.
attached '"vlan":7'
ip -n a link set net1 mtu 1400
check "our DEL, of a VF that we had before" del a "$(on "$VA0" '"vlan":7')"
check "puts all back" released

# A VF that our plugin never had; after it a pod of our plugin with a MAC and an MTU.
forget
attached '"vlan":7'
check "our DEL, of a VF that we never had" del a "$(on "$VA0" '"vlan":7')"
check "puts all back" released
check "a pod with a MAC and an MTU: ADD" add b "$(on "$VA0" '"mac":"02:00:00:00:07:02","mtu":1350,"trust":"on"')"
check "a pod with a MAC and an MTU: DEL" del b "$(on "$VA0")"
check "nothing of it is left" released

# --- an administrator's ------------------------------------------------------------------------
forget
batch "link set $A vf 0 vlan 9" "link set $A vf 0 trust on" "link set $EA0 mtu 1480"
remember
attached
check "our DEL of what has no VLAN" del a "$(on "$VA0")"
check "an administrator's VLAN and trust stay" released
batch "link set $A vf 0 vlan 0" "link set $A vf 0 trust off" "link set $EA0 mtu 1500"
forget
remember

# --- its pod goes first --------------------------------------------------------------------------
attached '"vlan":7'
dies
check "the namespace has died, our DEL" del a "$(on "$VA0" '"vlan":7')"
check "all is as before" released
pods a
attached '"vlan":7'
ip netns del a
check "just now, our DEL without CNI_NETNS" del a "$(on "$VA0" '"vlan":7')" ""
check "all is as before" released
pods a
forget
attached '"vlan":7'
dies
check "no DEL: the next ADD" add b "$(on "$VA0")"
check "is not in VLAN 7" sees b "$A" 0 '.vf.vlan_list == [{}] and .pod.mtu == 1500'
check "DEL" del b "$(on "$VA0")"
check "the VF is as before" as_before
rm -f $LEASES/10.89.*
pods a
attached '"vlan":7'
dies
check "no DEL: vf repair" "$RAILCTL" vf repair "$VA0"
check "the VF is as before" as_before
check "its file is gone" is "$(files)" ""
rm -f $LEASES/10.89.*

# --- the way back --------------------------------------------------------------------------------
pods a
check "our ADD" add a "$(on "$VA0" '"vlan":7,"trust":"on"')"
peer DEL a "$(on "$VA0")" >/dev/null
check "sriov-cni's DEL leaves the VF where it is" sees a "$A" 0 '.vf.vlan_list[0].vlan == 7 and .vf.trust'
check "our DEL" del a "$(on "$VA0")"
check "all is as before" released
check "our ADD, once more" add a "$(on "$VA0" '"vlan":7,"trust":"on"')"
peer DEL a "$(on "$VA0")" >/dev/null
dies
check "it comes to the host with all that its pod had" is "$(vf "$A" 0 '.vlan_list[0].vlan')" 7
check "attachments repair" "$RAILCTL" attachments repair
check "all is as before" released
pods a
check "then sriov-cni takes it: ADD" peer ADD a "$(on "$VA0" '"vlan":7')"
check "sriov-cni: DEL" peer DEL a "$(on "$VA0" '"vlan":7')"
check "all is as before" released
no_pods a b c
check "no VFs" vfs "$A" 0
finish

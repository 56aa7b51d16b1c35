# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# gone.sh: the VF or its PF disappears while a pod has it. It is the last part, because it recreates all VFs.
pods a b c
SOME='"vlan":3,"mac":"02:00:00:00:09:01","mtu":1300'
# The cards' own drivers, which need a moment.
numvfs() { echo "$2" >"/sys/class/net/$1/device/sriov_numvfs"; }
PA=$(readlink -f "/sys/class/net/$A/device")
check "ADD" add a "$(on "$VA0" "$SOME")"
cp $W/out $W/result-a
check "ADD" add b "$(on "$VB0")"
check "sriov_numvfs 0" numvfs "$A" 0
check "CHECK finds it" refused 108 "$VA0" checked a "$(on "$VA0" "$SOME")" $W/result-a
check "STATUS finds a PF without VFs" refused 50 "none of the PFs has VFs" call STATUS "" "$(conf "\"resource\":{\"pf\":[\"$A\"]}")" ""
check "and none to take" refused 101 "no free VF" add c "$(conf "\"resource\":{\"pf\":[\"$A\"]}")"
check "DEL" del a "$(on "$VA0" "$SOME")"
check "forgets the VF" test ! -e "/run/railhead/vf/$VA0"
check "DEL again" del a "$(on "$VA0" "$SOME")"

# The VF is recreated while the state file still describes the old one.
check "sriov_numvfs 2" numvfs "$A" 2
eventually has_netdev "$VA1"
addresses
check "the new VF: ADD" add a "$(on "$VA0" "$SOME")"
numvfs "$A" 0
numvfs "$A" 2
eventually has_netdev "$VA1"
remember
check "a newer one: ADD of another pod" add c "$(on "$VA0")"
check "the late DEL of the old pod" del a "$(on "$VA0" "$SOME")"
check "does nothing to it" sees c "$A" 0 '.vf.vlan_list == [{}] and .pod.mtu == 1500'
check "DEL" del c "$(on "$VA0")"
check "as before" as_before

# The PF's driver goes.
check "ADD" add a "$(on "$VA0" "$SOME")"
echo "${PA##*/}" >/sys/bus/pci/drivers/igb/unbind
check "the PF's driver is gone: DEL" del a "$(on "$VA0" "$SOME")"
check "DEL of the other card's" del b "$(on "$VB0")"
check "nothing is left" nothing_left
echo "${PA##*/}" >/sys/bus/pci/drivers/igb/bind
check "ADD of what is no more" refused 108 "$VA0" add a "$(on "$VA0")"
ip link set "$(ls "$PA/net")" name "$A" up
no_pods a b c

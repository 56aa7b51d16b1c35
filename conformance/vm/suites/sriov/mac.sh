# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# mac.sh: whose MAC wins, that traffic passes with it, and that the old one is there again.
pods a b
eventually carrier "$B"
check "the pod to reach: ADD" add b "$(on "$VB0")"
ADDRESS=$(answer '.ips[0].address')
ADDRESS=${ADDRESS%/*}
cp $W/before $W/without
remember
# with_mac WHAT VF N MAC KEYS: the VF has it in the pod and at its PF, and is reached with it.
with_mac()
{
	check "$1: ADD" add a "$(on "$2" "$5")"
	check "$1: the kernel says so" sees a "$A" "$3" ".pod.address == \"$4\" and .vf.address == \"$4\""
	check "$1: traffic passes" eventually pings a "$ADDRESS"
	check "$1: DEL" del a "$(on "$2" "$5")"
}
with_mac "of the configuration" "$VA0" 0 02:00:00:00:03:01 '"mac":"02:00:00:00:03:01"'
CARGS='IgnoreUnknown=1;MAC=02:00:00:00:03:02' with_mac "of CNI_ARGS, after another pod's" "$VA0" 0 02:00:00:00:03:02 '"mac":"02:00:00:00:03:01"'
CARGS='IgnoreUnknown=1;MAC=02:00:00:00:03:02' with_mac "of the runtime" "$VA0" 0 02:00:00:00:03:03 \
	'"mac":"02:00:00:00:03:01","capabilities":{"mac":true},"runtimeConfig":{"mac":"02:00:00:00:03:03"}'
with_mac "none, after those" "$VA0" 0 "$(jq -r "select(.ifname == \"$EA0\").address" $W/before)" '"vlan":0'
check "no administrative MAC: as before" as_before
OLD=$(mac_of "$EA0")
check "nor is one left: the VF may change its own" ip link set "$EA0" address 02:00:00:00:03:cc
ip link set "$EA0" address "$OLD"

# An administrator's MAC, which the VF's interface does not have yet.
ip link set "$A" vf 2 mac 02:00:00:00:03:aa
remember
sed -i "/\"$A\",\"vf\":2,/s/^.*$/$(grep "\"$A\",\"vf\":2," $W/before)/" $W/without
with_mac "on a VF with an administrator's" "$VA2" 2 02:00:00:00:03:04 '"mac":"02:00:00:00:03:04"'
check "an administrator's MAC: as before" as_before
with_mac "on that once more" "$VA2" 2 02:00:00:00:03:04 '"mac":"02:00:00:00:03:04"'
check "and it is one still" isnt ip link set "$EA2" address 02:00:00:00:03:cc

# A pod may change what is its own, on a VF that never had an administrator's MAC.
OLD=$(mac_of "$EA5")
check "a pod that changes its interface: ADD" add a "$(on "$VA5" '"vlan":0')"
ip -n a -batch - <<<$'link set net1 address 02:00:00:00:03:bb mtu 1300\nlink set net1 name mine0\nlink property add dev mine0 altname mine-alt0\nlink set mine0 up'
IFN=mine0 check "it has" sees a "$A" 5 '.pod.address == "02:00:00:00:03:bb" and .vf.address == .pod.address and .pod.mtu == 1300'
check "DEL" del a "$(on "$VA5")"
ip link property del dev "$EA5" altname mine-alt0
check "its name, MAC and MTU are as before" as_before
check "and it may be changed as before" ip link set "$EA5" address 02:00:00:00:03:cc
ip link set "$EA5" address "$OLD"
check "the pod to reach: DEL" del b "$(on "$VB0")"
cp $W/without $W/before
check "all is as it was" clean
forget
no_pods a b

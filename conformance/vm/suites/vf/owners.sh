# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# owners.sh: what belongs to a pod is left alone.
up
vf create --pf "$A" --count 3
vf create --pf "$B" --count 3
addresses
remember
pods a b
check "ADD" add a "$(on "$VA0" '"vlan":7,"mac":"02:00:00:00:09:01"')"
check "its owner is listed" listed 'map(select(.pciAddress == "'"$VA0"'"))[0] | .use == "in-use" and .vlan == 7 and .mac == "02:00:00:00:09:01" and .pfMac == .mac and
	(has("ifName") | not) and .owner == {network: "rails", container: "a", ifname: "net1", netns: "/run/netns/a"}'
check "create" vf_fails "$VA0 belongs to container a" create --pf "$A" --count 4
check "create 0" vf_fails "--force" create --pf "$A" --count 0
check "bind" vf_fails "belongs to container a" bind --driver default "$VA0"
check "repair of it" vf_fails "left-alone $VA0: it belongs to container a" repair "$VA0"
check "repair of all" vf repair
check "leave it alone" sees a "$A" 0 '.vf.vlan_list[0].vlan == 7 and .pod.address == "02:00:00:00:09:01"'
ip link set "$EA1" netns b name taken0
check "one taken by hand is listed" listed 'map(select(.pciAddress == "'"$VA1"'"))[0].use == "elsewhere"'
check "and is left alone" vf_fails "left-alone $VA1: its interface is in another network namespace" repair "$VA1"
check "and is not bound" vf_fails "another network namespace" bind --driver default "$VA1"
ip -n b link set taken0 netns 1 name "$EA1"
check "DEL" del a "$(on "$VA0")"
check "as before" clean

# While pods come and go.
for i in 1 2 3 4 5 6; do "$RAILCTL" vf repair; done >$W/repairs 2>&1 &
for i in 1 2 3; do
	check "ADD beside repair" add a "$(on "$VA0" '"vlan":7,"mtu":1400')"
	check "is undisturbed" sees a "$A" 0 '.vf.vlan_list[0].vlan == 7 and .pod.mtu == 1400'
	check "DEL beside repair" del a "$(on "$VA0")"
done
wait
check "repair has failed at none" isnt grep -E '^failed|[1-9][0-9]* failed' $W/repairs
check "as before" clean
no_pods a b

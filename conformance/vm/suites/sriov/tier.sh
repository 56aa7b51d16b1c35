# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# tier.sh: bandwidth tiers: what one stands for is set and put back, also when the file has changed or gone meanwhile.
pods a
remember
mkdir -p /etc/railhead
TIERS=/etc/railhead/tiers.json
echo '{"tiers":{"gold":{"max_tx_rate":100,"vlanQoS":5,"trafficClass":106},"slow":{"max_tx_rate":10}}}' >$TIERS
chmod 644 $TIERS
GOLD=$(on "$VA0" '"tier":"gold","vlan":7')
check "tier: ADD" add a "$GOLD"
cp $W/out $W/gold
check "tier: the kernel says so" sees a "$A" 0 '.vf.vlan_list[0] == {vlan: 7, qos: 5} and .vf.rate.max_tx == 100'
check "tier: CHECK" checked a "$GOLD" $W/gold
sed -i 's/100/50/' $TIERS
check "tier: CHECK when the tier is another by now" checked a "$GOLD" $W/gold
rm $TIERS
check "tier: CHECK without the file" checked a "$GOLD" $W/gold
ip link set "$A" vf 0 max_tx_rate 20
check "tier: CHECK sees another rate" refused 104 "max_tx_rate" checked a "$GOLD" $W/gold
check "tier: DEL without the file" del a "$GOLD"
check "tier: as before" clean
check "tier: no file" refused 7 "$TIERS" add a "$GOLD"
echo '{"tiers":{"gold":{"max_tx_rate":100,"vlanQoS":5},"slow":{"max_tx_rate":10}}}' >$TIERS
check "tier: one without a VLAN" add a "$(on "$VA3" '"tier":"slow"')"
check "tier: its rate" sees a "$A" 3 '.vf.rate.max_tx == 10 and .vf.vlan_list == [{}]'
check "tier: DEL" del a "$(on "$VA3" '"tier":"gone"')"
check "tier: unknown" refused 7 "its tiers are gold, slow" add a "$(on "$VA2" '"tier":"silver"')"
check "tier: STATUS of an unknown one" refused 50 "its tiers are gold, slow" call STATUS a "$(on "$VA2" '"tier":"silver"')"
check "tier: a priority without a VLAN" refused 7 "vlanQoS 5" add a "$(on "$VA2" '"tier":"gold"')"
check "tier: beside a rate" refused 7 "max_tx_rate: 9" add a "$(on "$VA2" '"tier":"slow","max_tx_rate":9')"
chmod 666 $TIERS
check "tier: a file that others may write" refused 106 "others than root" add a "$(on "$VA2" '"tier":"slow"')"
rm $TIERS
check "tier: nothing is left" clean
no_pods a
forget

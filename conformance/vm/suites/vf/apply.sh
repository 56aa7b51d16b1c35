# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# apply.sh: what railhead-vf.service does at boot.
vf create --pf "$A" --count 0 && vf create --pf "$B" --count 0
check "no folder, nothing to do" eval 'vf apply --wait 30 && said "nothing was done"'
mkdir -p /etc/railhead/vf.d
echo '{"pf": "'"$A"'", "count": 2}' >/etc/railhead/vf.d/10.json
echo '{"pf": "'"$B"'", "count": "2"}' >/etc/railhead/vf.d/20.json
echo '{"pf": "'"${PB##*/}"'", "count": 3}' >/etc/railhead/vf.d/30.json
echo '{"pf": "ens99", "count": 3}' >/etc/railhead/vf.d/40.json
check "two files of four are wrong" vf_fails "2 files followed, 2 failed" apply
check "a value" said 'failed 20.json: count: must be a whole number from 1 to 65535, got "2"'
check "a card" said 'failed 40.json: PF "ens99"'
check "the others are followed" macs "$A" 2
check "both" macs "$B" 3
rm /etc/railhead/vf.d/[24]0.json
ifindexes >$W/before
check "again" eval 'vf apply && said "left-alone 10.json"'
ifindexes >$W/after
check "does nothing" cmp $W/before $W/after

# Effects of a reboot; and a card whose driver loads late.
cp $W/own $W/first
echo 0 >"$PA/sriov_numvfs"
echo 0 >"$PB/sriov_numvfs"
rm -rf /run/railhead
echo "${PB##*/}" >/sys/bus/pci/drivers/igb/unbind
echo '{"pf": "late0", "count": 3}' >/etc/railhead/vf.d/30.json
"$RAILCTL" vf apply --wait 3600 >$W/late 2>&1 &
APPLY=$!
check "it waits for the card" eventually eval 'grep -q 10.json $W/late && sleeping railctl $APPLY'
check "which comes" eval 'echo "${PB##*/}" >/sys/bus/pci/drivers/igb/bind && ip link set "$(netdev "${PB##*/}")" name late0'
wait $APPLY
STATUS=$?
check "after a reboot" eval 'is $STATUS 0 || { cat $W/late && false; }'
ip link set late0 name "$B" up

# A card whose interface is not here yet, as while udev renames it.
echo 0 >"$PB/sriov_numvfs"
echo '{"pf": "'"${PB##*/}"'", "count": 3}' >/etc/railhead/vf.d/30.json
ip netns add away
ip link set "$B" netns away
"$RAILCTL" vf apply --wait 3600 >$W/late 2>&1 &
APPLY=$!
check "it waits for the interface" eventually eval 'grep -q 10.json $W/late && sleeping railctl $APPLY'
check "which comes back" ip -n away link set "$B" netns 1
wait $APPLY
STATUS=$?
check "then it has its VFs" eval 'is $STATUS 0 || { cat $W/late && false; }'
ip netns del away
ip link set "$B" up
ip link set "$A" up
check "the same MACs" macs "$A" 2
check "of both" eval 'macs "$B" 3 && cmp $W/own $W/first'

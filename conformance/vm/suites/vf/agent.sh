# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# agent.sh: the node agent restores VFs whose owners have gone: with the record of an attachment, and without one.
up
vf create --pf "$A" --count 0
vf create --pf "$A" --count 3
addresses
remember
pods a b c
check "ADD" add a "$(on "$VA0" '"vlan":7')"
check "ADD" add b "$(on "$VA1" '"vlan":8')"
check "ADD" add c "$(on "$VA2" '"vlan":9')"
check "the record of c is lost" rm /run/railhead/attachments/rails/c,net1
no_pods a c
echo '{"node":"host","repair":{"every":1,"grace":1}}' >$W/agent.json
"$BIN/railheadd" --config $W/agent.json >$W/agent.log 2>&1 </dev/null &
AGENT=$!
counted() # LINE: the metrics have it
{
	curl -sS --max-time 60 --unix-socket /run/railhead/metrics.sock http://localhost/metrics >$W/metrics && grep -qxF "$1" $W/metrics ||
		{ grep ^railhead_repair $W/metrics; cat $W/agent.log; false; }
}
check "the agent restores the VF of c" eventually counted 'railhead_repairs_total{kind="vf"} 1'
check "and undoes the attachment of a" eventually counted 'railhead_repairs_total{kind="attachment"} 1'
check "none failed" counted 'railhead_repair_failures_total{kind="vf"} 0'
check "the log names it" grep -qF "repaired vf $VA2: owner-gone: its owner c (network rails) is gone" $W/agent.log
check "VLAN of the VF of a" isnt grep -q '"vlan":7' <(host)
check "VLAN of the VF of c" isnt grep -q '"vlan":9' <(host)
check "the living one keeps its VF" sees b "$A" 1 '.vf.vlan_list[0].vlan == 8'
kill $AGENT
wait $AGENT
check "a late DEL" call DEL c "$(on "$VA2")" ''
check "DEL" del b "$(on "$VA1")"
check "as before" clean
no_pods b

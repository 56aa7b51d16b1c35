# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2153
# seconds: 40
# lldp: who can tell the agent of a node to which leaf a rail is cabled. pf1 is the leaf of pf0; VFs of pf0 in pods send frames, too.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
W=/run/work
mkdir -p $W /etc/railhead
send() { ip netns exec "$1" conformance/agent/lldp.py "${@:2}"; } # NETNS INTERFACE SYSTEM PORT [MAC]
neighbour()
{
	"$BIN/railctl" cluster status --json >$W/out 2>&1 && jq -Mc '.neighbours.list[] | [.state, .system, .portName, .other.system]' $W/out
}
knows() { is "$(neighbour)" "$1"; }
# What the agent says after it has taken all frames that the pod sent before: this one is not LLDP, and is counted.
settled()
{
	local before
	neighbour >/dev/null && before=$(jq .neighbours.malformed $W/out) && ip netns exec pod python3 -c 'import socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("net1", 0))
s.send(bytes.fromhex("0180c200000e") + s.getsockname()[4] + b"\x88\xcc" + bytes(46))' && eventually counted "$before"
}
counted() { neighbour >/dev/null && [ "$(jq .neighbours.malformed $W/out)" -gt "$1" ]; }

check "VFs of pf0" vfs pf0 2
check "a leaf" ip netns add leaf
check "its end of the cable" ip link set pf1 netns leaf up
check "a pod" ip netns add pod
V=$(netdev "$(pci pf0 0)")
check "its VF" ip link set "$V" netns pod up name net1
check "pf0 is up" ip link set pf0 up
check "carriers" eval 'eventually carrier pf0 && eventually carrier pf1 leaf && eventually carrier net1 pod'
echo '{"rails":[{"rail":0,"interface":"pf0"}]}' >/etc/railhead/rails.json
echo '{"node":"host","fabric":{"every":1}}' >$W/agent.json
"$BIN/railheadd" --config $W/agent.json >$W/agent.log 2>&1 </dev/null &
agent=$!
check "the agent listens" eventually knows '["unknown",null,null,null]'
heard() { send leaf pf1 leaf-1 swp7 && knows '["heard","leaf-1","swp7",null]'; }
check "it hears the leaf" eventually heard
LEAF=$(neighbour)
# The card gives frames of a VF to its PF.
check "a pod sends a frame by its VF" send pod net1 forged swp1
check "the agent has read all" settled
check "with the address of the VF it does not count" knows "$LEAF"
check "the card lets any address out of the VF" ip link set pf0 vf 0 spoofchk off
check "the pod sends one with another address" send pod net1 '<b>forged</b>' swp1 02aaaaaaaaaa
check "that is a conflict, and the leaf stays" eventually knows '["contested","leaf-1","swp7","<b>forged</b>"]'
check "the log names it" grep -q 'frames of two senders: local leaf-1' $W/agent.log
kill $agent
wait $agent
check "the end of the pod and of the leaf" eval 'ip netns del pod && ip netns del leaf && vfs pf0 0'
finish

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

# ---- a software switch that takes all frames ----
# ovs CARD: a datapath of Open vSwitch with this port, as of linux/openvswitch.h: frames vanish in it without any user program. ovs: its end.
ovs()
{
	modprobe openvswitch && python3 -c '
import socket, struct, sys
def attr(kind, value): return struct.pack("HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)
def call(family, version, command, body):
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
    s.bind((0, 0))
    s.send(struct.pack("IHHIIBBH", 20 + len(body), family, 5, 1, 0, command, version, 0) + body)
    answer = s.recv(65536)
    kind, error = struct.unpack_from("H", answer, 4)[0], struct.unpack_from("i", answer, 16)[0]
    if kind == 2 and error: raise OSError(-error, "family %d" % family)
    return answer
def family(name):
    answer, at = call(16, 1, 3, attr(2, name + b"\0")), 20
    while True:
        size, kind = struct.unpack_from("HH", answer, at)
        if kind == 1: return struct.unpack_from("H", answer, at + 4)[0]
        at += size + 3 & ~3
def number(n): return struct.pack("I", n)
path, port = family(b"ovs_datapath"), family(b"ovs_vport")
if len(sys.argv) == 1:
    call(path, 2, 2, number(socket.if_nametoindex("sw0")))
    sys.exit()
call(path, 2, 1, number(0) + attr(1, b"sw0\0") + attr(2, number(0)))
call(port, 1, 1, number(socket.if_nametoindex("sw0")) + attr(2, number(1)) + attr(3, sys.argv[1].encode() + b"\0") + attr(5, number(0)))' "$@"
}
# The emulated card loses frames while it is promiscuous and has VFs.
check "the pod and its VF end" eval 'ip netns del pod && eventually vfs pf0 0'
check "pf0 has a carrier again" eventually carrier pf0
check "Open vSwitch takes pf0" ovs pf0
check "it is the master of pf0" is "$(ip -j link show pf0 | jq -r '.[0].master')" sw0
rm -f /var/lib/railhead/neighbours.json
"$BIN/railheadd" --config $W/agent.json >$W/agent.log 2>&1 </dev/null &
agent=$!
check "the agent hears the leaf all the same" eventually heard
kill $agent
wait $agent
check "the end of the switch, and of the leaf" eval 'ovs && ip netns del leaf'
finish

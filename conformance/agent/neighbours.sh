# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The agent hears a switch at the other end of a rail: the real lldpd. The host is that of repair.sh.

LLDPD=$ENGINES/lldpd/usr
need_lldpd() { [ -x "$LLDPD/sbin/lldpd" ] || skip "Debian's package lldpd is not available here"; }
# with_lldpd COMMAND...: with its libraries
with_lldpd()
{
	local folders=("$LLDPD"/lib/*-linux-gnu)
	LD_LIBRARY_PATH=${folders[0]} "$@"
}

# neighbours_begin: rail 0 is mst0, and its other end is in the namespace leaf
neighbours_begin()
{
	host_begin
	trap 'case_ends leaf_ends host_end' EXIT
	jq -n '{rails: [{rail: 0, interface: "mst0"}]}' >/etc/railhead/rails.json
	jq '.fabric = {every: 1}' /etc/railhead/agent.json >"$W/agent.json" && cp "$W/agent.json" /etc/railhead/ || give_up "agent.json"
	host_kill TERM
	host_agent
	ip netns add leaf && ip link set wire0 netns leaf && ip -n leaf link set wire0 up || give_up "leaf"
	eventually neighbour_is unknown null
}
# leaf_begins NAME: a switch. It sends each second, and its frames are valid for 4 s.
leaf_begins()
{
	mkdir -p "$W/lldpd" /run/lldpd
	# The package would make this user; /etc is a copy.
	grep -q ^_lldpd: /etc/passwd || { echo '_lldpd:x:64001:64001::/run/lldpd:/usr/sbin/nologin' >>/etc/passwd && echo '_lldpd:x:64001:' >>/etc/group; }
	# It sends nothing before it has read this.
	printf 'configure %s\n' 'lldp tx-interval 1' "system hostname $1" "lldp portidsubtype local $2 description $3" >/etc/lldpd.conf
	with_lldpd exec ip netns exec leaf "$LLDPD/sbin/lldpd" -L "$LLDPD/sbin/lldpcli" -d -u "$W/lldpd/socket" -I wire0 >"$W/lldpd/log" 2>&1 &
	echo $! >"$W/lldpd/pid"
	eventually leaf_has_its_port
}
leaf_has_its_port() { with_lldpd "$LLDPD/sbin/lldpcli" -u "$W/lldpd/socket" show interfaces ports wire0 | grep -q wire0; }
leaf_ends()
{
	[ ! -e "$W/lldpd/pid" ] || { kill "$(<"$W/lldpd/pid")" && wait "$(<"$W/lldpd/pid")"; }
	rm -rf "$W/lldpd" /run/lldpd
}
neighbour() { "$BIN/railctl" cluster status --json | jq -r ".neighbours.list[0] | $1"; }
# neighbour_is STATE PORT
neighbour_is() { [ "$(neighbour '"\(.state) \(.portName)"')" = "$1 $2" ]; }
# forge NAMESPACE INTERFACE: one frame of another switch
forge() { ip netns exec "$1" "$HERE/lldp.py" "$2" forge '<b>evil'; }

test_neighbours_a_switch_is_named()
{
	need_lldpd
	neighbours_begin
	leaf_begins leaf-1 519 et-0/0/1 || return
	eventually neighbour_is heard et-0/0/1
	eq "what is known" "$(neighbour '[.rail, .interface, .system, .port] | join(" ")')" "0 mst0 leaf-1 local 519"
	has "for people" "$("$BIN/railctl" cluster status)" "fabric   rail 0 (mst0): port et-0/0/1 of leaf-1, heard"
	leaf_ends
	eventually neighbour_is silent et-0/0/1
	host_kill TERM
	host_agent
	eq "after a restart" "$(neighbour '[.portName, .system] | join(" ")')" "et-0/0/1 leaf-1"
}

test_neighbours_another_sender_is_a_conflict()
{
	need_lldpd
	neighbours_begin
	leaf_begins leaf-1 519 et-0/0/1 || return
	eventually neighbour_is heard et-0/0/1
	# A pod on the rail is not heard at all.
	pod p1 || return
	forge p1 net1
	forge leaf wire0
	eventually neighbour_is contested et-0/0/1
	eq "the other sender" "$(neighbour .other.portName)" "<b>evil"
	grep -q 'rail 0 (mst0): frames of two senders: .*<b>evil' "$W/node/host/log" || fail "the log: $(tail -n 3 "$W/node/host/log")"
	eq "conflicts in the log" "$(grep -c 'two senders' "$W/node/host/log")" 1
}

# A pod sends before any switch: nothing is known by it.
test_neighbours_a_pod_is_not_a_switch()
{
	need_lldpd
	neighbours_begin
	pod p1 || return
	forge p1 net1
	leaf_begins leaf-1 519 et-0/0/1 || return
	eventually neighbour_is heard et-0/0/1
}

# Another cable, and so another port: it counts at once.
test_neighbours_a_cable_is_moved()
{
	need_lldpd
	neighbours_begin
	leaf_begins leaf-1 519 et-0/0/1 || return
	eventually neighbour_is heard et-0/0/1
	ip -n leaf link set wire0 down
	leaf_ends
	ip -n leaf link set wire0 up
	leaf_begins leaf-2 520 et-0/0/2 || return
	eventually neighbour_is heard et-0/0/2
	eq "the switch" "$(neighbour .system)" leaf-2
}

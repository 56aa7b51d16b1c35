# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The agent looks at the rails of a host. The host is that of repair.sh, and /sys is a captured machine: one of its RDMA devices becomes that
# of a card.

TREE=$W/rails-tree CARD_PORT=pci0000:20/0000:20:00.0/0000:21:00.0/0000:22:02.0 CARD=0000:25:00.0

rails_begin() # [KEYS]
{
	host_begin
	trap 'case_ends host_end rails_end' EXIT
	rails_there "$@"
}
# rails_there [KEYS]: the machine, and the agent of the host with these keys in "rails"
rails_there()
{
	mkdir -p "$TREE" && tar x -C "$TREE" -f "$HERE/../../topo/testdata/sysfs/qemu-pxb-xio3130-igb-sriov-rxe.tar.gz" || give_up "the machine"
	ln -s "../../../$CARD_PORT/$CARD" "$TREE/sys/devices/virtual/infiniband/rxe2/device"
	mount --bind "$TREE/sys" /sys || give_up "/sys"
	host_kill TERM
	jq '.rails = {every: 1}'"${1+ | .rails += $1}" /etc/railhead/agent.json >"$W/agent.json" && cp "$W/agent.json" /etc/railhead/ || give_up "agent.json"
	host_agent
	eventually rails_from .looks 2
}
rails_end()
{
	umount /sys
	rm -rf /etc/railhead/qos.d
	rm -r "$TREE"
}
rails_status() { "$BIN/railctl" cluster status --json | jq -c ".rails | $1"; }
rails_are() { [ "$(rails_status "$1" 2>/dev/null)" = "$2" ]; }
rails_from() { [ "$(rails_status "$1")" -ge "$2" ]; }
# more_looks N: so many more have ended
more_looks() { eventually rails_from .looks $(($(rails_status .looks) + $1)); }
port_is() { echo "$1" >"$TREE/sys/devices/virtual/infiniband/rxe2/ports/1/state"; }
# card_links VALUE: the most lanes that both ends of the card's link have; one is in use
card_links()
{
	local at
	for at in "$CARD_PORT" "$CARD_PORT/$CARD"; do echo "$1" >"$TREE/sys/devices/$at/max_link_width"; done
}
degraded() { metric_is "railhead_rail_degraded{device=\"rxe2\",port=\"1\",pci=\"$CARD\",reason=\"$1\"} $2"; }
said_times() { grep -c "$1" "$W/node/host/log"; }
is_said() { [ "$(said_times "$1")" = "$2" ]; }

# Each change is said once; software devices and VFs are no rails.
test_rails_a_degraded_one_is_named()
{
	rails_begin
	eq "the rails" "$(rails_status '[.list[] | .device, .degraded]')" '["rxe2",[]]'
	degraded port 0 || fail "the metric: $(scrape | grep rail_)"
	port_is "1: DOWN"
	card_links 4
	eventually is_said 'port: rail rxe2:1 (0000:25:00.0) is degraded: the port is DOWN' 1
	eventually is_said 'link: rail .* is degraded: the link of 0000:25:00.0 runs at .* x1; its maximum is .* x4' 1
	degraded port 1 && degraded link 1 && degraded device 0 || fail "the metric: $(scrape | grep rail_)"
	"$BIN/railctl" cluster status >"$W/for_people"
	has 'for people' "$(<"$W/for_people")" "rxe2:1 (0000:25:00.0): port: the port is DOWN"
	has 'for people' "$(<"$W/for_people")" 'first: check the cable'
	jq -nc --arg name "$(ls "/sys/bus/pci/devices/$CARD/net")" '{rails: [{rail: 6, interface: $name}]}' >/etc/railhead/rails.json
	"$BIN/railctl" status --fields >"$W/fields"
	has 'its number' "$(<"$W/fields")" 'degraded-rails=6'
	has 'what to do' "$(<"$W/fields")" 'remedy=check the cable'
	rm /etc/railhead/rails.json
	more_looks 3
	port_is "4: ACTIVE"
	eventually is_said 'port: .* has recovered: ACTIVE' 1
	degraded port 0 && degraded link 1 || fail "the metric: $(scrape | grep rail_)"
	more_looks 3
	eq "lines of the log" "$(said_times 'is degraded') $(said_times 'has recovered')" "2 1"
}

# A driver that is bound again has lost what qos.d says. The card has the files that NVIDIA's driver has for ECN.
test_rails_a_card_that_lost_its_quality_of_service()
{
	local net side n
	rails_begin
	net=$(ls "/sys/bus/pci/devices/$CARD/net")
	for side in np rp; do
		mkdir -p "$TREE/sys/class/net/$net/ecn/roce_$side/enable"
		for n in 0 1 2 3 4 5 6 7; do echo $((n == 3)) >"$TREE/sys/class/net/$net/ecn/roce_$side/enable/$n"; done
	done
	eventually degraded qos 0
	mkdir /etc/railhead/qos.d
	echo "{\"pf\":\"$CARD\",\"ecn\":[3],\"cnp\":{\"dscp\":48}}" >/etc/railhead/qos.d/card.json
	more_looks 3
	degraded qos 0 || fail "as it should be: $(scrape | grep rail_)"
	echo 0 >"$TREE/sys/class/net/$net/ecn/roce_rp/enable/3"
	eventually is_said "qos: rail rxe2:1 ($CARD) is degraded: ecn of $net is none, and not 3" 1
	degraded qos 1 || fail "the metric: $(scrape | grep rail_)"
	has 'the remedy' "$("$BIN/railctl" cluster status)" 'railctl rdma qos apply'
	"$BIN/railctl" rdma qos apply >"$W/apply" 2>&1
	eq "what cannot be set in full is not set" "$(<"$TREE/sys/class/net/$net/ecn/roce_rp/enable/3")" 0
	echo "{\"pf\":\"$CARD\",\"ecn\":[3]}" >/etc/railhead/qos.d/card.json
	"$BIN/railctl" rdma qos apply >"$W/apply" 2>&1 || fail "apply: $(<"$W/apply")"
	eventually is_said 'qos: .* has recovered' 1
	degraded qos 0 || fail "the metric: $(scrape | grep rail_)"
	# A file about another card says nothing of this one; one that cannot be read may be about it.
	echo '{"pf":"nothere","ecn":[3]}' >/etc/railhead/qos.d/a.json
	rm /etc/railhead/qos.d/card.json
	more_looks 3
	degraded qos 0 || fail "a card elsewhere: $(scrape | grep rail_)"
	echo '{' >/etc/railhead/qos.d/a.json
	more_looks 3
	hasnt "not known" "$(scrape | grep railhead_rail_degraded)" 'reason="qos"'
	rm -r /etc/railhead/qos.d
}

# A card that falls off the bus is degraded; a device that is only not visible is not known.
test_rails_a_card_vanishes()
{
	rails_begin
	rm "$TREE/sys/class/infiniband/rxe2"
	more_looks 3
	eq "not visible" "$(rails_status '.list[] | [.checks.device, .checks.port, .degraded]')" '["unknown","unknown",[]]'
	hasnt "no value" "$(scrape)" 'railhead_rail_degraded{'
	mv "$TREE/sys/bus/pci/devices/$CARD" "$W/away"
	eventually is_said 'device: .* is degraded: the card is not on the PCIe bus any more' 1
	degraded device 1 || fail "the metric: $(scrape | grep rail_)"
	mv "$W/away" "$TREE/sys/bus/pci/devices/$CARD"
	ln -s ../../devices/virtual/infiniband/rxe2 "$TREE/sys/class/infiniband/rxe2"
	eventually is_said 'device: .* has recovered: rxe2' 1
	degraded device 0 && degraded port 0 || fail "the metric: $(scrape | grep rail_)"
}

# An update of the agent, or a boot of the node, must not end the alert about a card.
test_rails_a_lost_card_stays_lost_after_a_restart()
{
	rails_begin
	rm "$TREE/sys/class/infiniband/rxe2"
	mv "$TREE/sys/bus/pci/devices/$CARD" "$W/away"
	eventually degraded device 1
	host_kill TERM
	host_agent
	eventually rails_from .looks 2
	degraded device 1 || fail "the metric: $(scrape | grep rail_)"
	host_kill TERM
	rm "$STATE/rails.json" || fail "no file: $(ls "$STATE")"
	host_agent
	eventually rails_from .looks 2
	eq "the rails" "$(rails_status .list)" '[]'
}

# A card was added before it, and the node has booted: the card has another PCI address, and is the same one.
test_rails_a_card_with_a_new_address_is_the_same()
{
	local other=0000:84:00.0
	rails_begin
	eq "its GUID" "$(rails_status '.list[].guid')" "\"$(guid_of_device rxe2)\""
	host_kill TERM
	ln -sfn "../../../pci0000:80/0000:80:00.0/0000:81:00.0/0000:82:01.0/$other" "$TREE/sys/devices/virtual/infiniband/rxe2/device"
	mv "$TREE/sys/bus/pci/devices/$CARD" "$W/away"
	host_agent
	eventually rails_from .looks 3
	eq "the rails" "$(rails_status '[.list[] | .device, .pci, .degraded]')" '["rxe2","'$other'",[]]'
	is_said 'is degraded' 0 || fail "$(grep 'is degraded' "$W/node/host/log")"
	# Another card has come in its place, and it is gone.
	host_kill TERM
	echo 0000:0000:0000:0077 >"$TREE/sys/devices/virtual/infiniband/rxe2/node_guid"
	ln -sfn "../../../$CARD_PORT/$CARD" "$TREE/sys/devices/virtual/infiniband/rxe2/device"
	mv "$W/away" "$TREE/sys/bus/pci/devices/$CARD"
	mv "$TREE/sys/bus/pci/devices/$other" "$W/gone"
	host_agent
	eventually is_said "device: rail rxe2:1 ($other) is degraded: the card is not on the PCIe bus any more" 1
}
guid_of_device() { tr -d : <"$TREE/sys/devices/virtual/infiniband/$1/node_guid" | sed 's/../&:/g; s/:$//'; }

# slots FILTER: of each rail by its slot
slots() { "$BIN/railctl" rails slots --json | jq -c "$1"; }
slots_are() { [ "$(slots "$1")" = "$2" ]; }
# card_has_device NAME PORT ADDRESS: the RDMA device of a card
card_has_device() { ln -sfn "../../../$2/$3" "$TREE/sys/devices/virtual/infiniband/$1/device"; }

# The numbers are pinned when each card has its RDMA device. Then a card that is missing leaves a hole, also for another agent.
test_rails_numbers_stay_with_their_slots()
{
	local second=pci0000:80/0000:80:00.0/0000:81:00.0/0000:82:01.0 third=pci0000:80/0000:80:01.0 all='[.rails[] | [.rail, .pci, .interface, .state]]'
	rails_begin
	more_looks 2
	eq "two cards have no RDMA device" "$(slots '[.pinned, .why]')" '[false,"0000:84:00.0 has no RDMA device"]'
	[ ! -e "$STATE/rail-slots.json" ] || fail "pinned too early: $(<"$STATE/rail-slots.json")"
	card_has_device rxe0 "$second" 0000:84:00.0
	card_has_device rxe1 "$third" 0000:85:00.0
	eventually slots_are .pinned true
	eq "the numbers" "$(slots "$all")" '[[0,"0000:25:00.0","eth2","ok"],[1,"0000:84:00.0","eth0","ok"]]'
	eq "lines of the log" "$(said_times '2 numbers are pinned to slots')" 1
	host_kill TERM
	rm "$TREE/sys/class/infiniband/rxe2"
	mv "$TREE/sys/bus/pci/devices/$CARD" "$W/away"
	host_agent
	eventually rails_from .looks 2
	eq "a card is missing" "$(slots "$all")" '[[0,null,null,"no card"],[1,"0000:84:00.0","eth0","ok"]]'
	"$BIN/railctl" rails slots >"$W/out" && fail "exit 0: $(<"$W/out")"
	echo '{' >"$STATE/rail-slots.json"
	"$BIN/railctl" rails slots >"$W/out" 2>&1 && fail "exit 0: $(<"$W/out")"
	has "a damaged file" "$(<"$W/out")" "$STATE/rail-slots.json: the file: "
	more_looks 2
	eq "the damaged file" "$(<"$STATE/rail-slots.json")" '{'
	eq "new numbers" "$("$BIN/railctl" rails slots --renumber --json | jq -c "$all")" '[[0,"0000:84:00.0","eth0","ok"]]'
	mv "$W/away" "$TREE/sys/bus/pci/devices/$CARD"
	ln -s ../../devices/virtual/infiniband/rxe2 "$TREE/sys/class/infiniband/rxe2"
	more_looks 2
	eq "it is back" "$(slots "$all")" '[[0,"0000:84:00.0","eth0","ok"],[null,"0000:25:00.0",null,"no number"]]'
	# An attachment keeps the numbers.
	mkdir /run/railhead/attachments /run/railhead/attachments/net && echo '{}' >/run/railhead/attachments/net/c1,net1
	"$BIN/railctl" rails slots --renumber >"$W/out" 2>&1 && fail "exit 0: $(<"$W/out")"
	has "not drained" "$(<"$W/out")" "the node is not drained: 1 attachments, 0 prepared claims"
	rm -r /run/railhead/attachments/net
}

# card_is_at PORT OLD NEW INTERFACE NAME DEVICE: the card below a port has another address, its interface another name, and its RDMA device is this one
card_is_at()
{
	local at=$TREE/sys
	mv "$at/devices/$1/$2" "$W/card" && mv "$W/card" "$at/devices/$1/$3" && rm "$at/bus/pci/devices/$2" && ln -s "../../../devices/$1/$3" "$at/bus/pci/devices/$3" &&
		mv "$at/devices/$1/$3/net/$4" "$W/card" && mv "$W/card" "$at/devices/$1/$3/net/$5" && ln -sfn "../../devices/$1/$3/net/$5" "$at/class/net/$5" &&
		card_has_device "$6" "$1" "$3" || give_up "the card below $1"
}
# on_rails VERB POD: macvlan on each rail, with an address of its pool; RC and OUT
on_rails()
{
	[ "$1" = ADD ] && ip netns add "$2"
	OUT=$(jq -nc '{cniVersion: "1.1.0", name: "rails", type: "rails", kind: "macvlan", ifname: "rail{n}", ipam: {type: "railhead-ipam", pool: "rail{n}"}}' |
		env -i PATH="$PATH" CNI_COMMAND="$1" CNI_CONTAINERID="$2" CNI_NETNS="/run/netns/$2" CNI_IFNAME=net1 CNI_PATH="$BIN" \
			CNI_ARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=$2" "$BIN/rails" 2>>"$W/node/host/plugin.log")
	RC=$?
}
# rails_of POD: "INTERFACE ADDRESS" of each; masters_of POD: the MAC of what is below each of its rails
rails_of() { ip -n "$1" -j addr show | jq -r '[.[] | select(.ifname | startswith("rail")) | "\(.ifname | split("@")[0]) \(.addr_info[] | select(.family == "inet").local)"] | sort | join(", ")'; }
masters_of()
{
	local rail
	for rail in rail0 rail1; do ip -j link show | jq -r --argjson i "$(ip -n "$1" -j link show "$rail" | jq '.[0].link_index')" '.[] | select(.ifindex == $i).ifname'; done | xargs
}
rails_slots() { slots '[.rails[] | [.rail, .interface, .state]]'; }
hears_leaf() { "$BIN/railctl" cluster status --json | jq -e --arg l "$1" '.neighbours.list[] | select(.rail == 0 and .system == $l)'; }

# The leaf of a rail is replaced, a card is swapped, and the buses and names of interfaces are others after a boot. Rail 0 is the same slot each time,
# pods on it have addresses of its pool, and those that live keep theirs.
test_rails_pods_keep_their_addresses_whatever_happens_to_cards()
{
	local second=pci0000:80/0000:80:00.0/0000:81:00.0/0000:82:01.0 n of_p1 of_p2
	rails_begin '{}'
	trap 'case_ends host_end rails_end cards_end' EXIT
	card_has_device rxe0 "$second" 0000:84:00.0
	card_has_device rxe1 pci0000:80/0000:80:01.0 0000:85:00.0
	eventually slots_are .pinned true
	for n in 2 0; do ip link add "eth$n" type veth peer name "leaf$n" && ip link set "eth$n" up && ip link set "leaf$n" up || give_up "eth$n"; done
	host_kill TERM
	jq '.fabric = {every: 1}' /etc/railhead/agent.json >"$W/agent.json" && cp "$W/agent.json" /etc/railhead/ || give_up "agent.json"
	host_agent
	for n in 0 1; do is "pool $n" "$BIN/railctl" ipam pool add "rail$n" --subnet "10.94.1$n.0/24" --cooldown 0 --this-node-only; done
	eq "the rails" "$(rails_slots)" '[[0,"eth2","ok"],[1,"eth0","ok"]]'
	on_rails ADD p1
	eq "the first pod" "$RC $(rails_of p1)" "0 rail0 10.94.10.1, rail1 10.94.11.1"
	of_p1=$(rails_of p1)
	eq "its masters" "$(masters_of p1)" "eth2 eth0"
	# Another leaf
	eventually heard_on leaf2 leaf-a
	ip link set leaf2 down && ip link set leaf2 up && ip link set eth2 up || give_up "the cable"
	eventually heard_on leaf2 leaf-b
	eq "another leaf" "$(rails_slots) $(rails_of p1)" "[[0,\"eth2\",\"ok\"],[1,\"eth0\",\"ok\"]] $of_p1"
	# Another card in the slot of rail 0, with another name and GUID. The interface of the first pod goes with the card, and the pod keeps its address.
	host_kill TERM
	ip link del eth2 && ip link add eth9 type veth peer name leaf9 && ip link set eth9 up && ip link set leaf9 up || give_up "eth9"
	echo 0000:0000:0000:0077 >"$TREE/sys/devices/virtual/infiniband/rxe2/node_guid"
	rm "$TREE/sys/class/net/eth2"
	card_is_at "$CARD_PORT" "$CARD" "$CARD" eth2 eth9 rxe2
	host_agent
	eventually rails_from .looks 2
	eq "another card" "$(rails_slots)" '[[0,"eth9","ok"],[1,"eth0","ok"]]'
	on_rails ADD p2
	eq "a pod on it" "$RC $(rails_of p2), $(masters_of p2)" "0 rail0 10.94.10.2, rail1 10.94.11.2, eth9 eth0"
	of_p2=$(rails_of p2)
	passes 3
	eq "the first pod" "$(rails_of p1)" "rail1 10.94.11.1"
	eq "leases" "$(leased)" "10.94.10.1 10.94.10.2 10.94.11.1 10.94.11.2"
	# Other buses, and the interfaces have changed names.
	host_kill TERM
	ip link set eth9 name tmp0 && ip link set eth0 name eth9 && ip link set tmp0 name eth0 || give_up "names"
	rm "$TREE/sys/class/net/eth9" "$TREE/sys/class/net/eth0"
	card_is_at "$CARD_PORT" "$CARD" 0000:27:00.0 eth9 eth0 rxe2
	card_is_at "$second" 0000:84:00.0 0000:26:00.0 eth0 eth9 rxe0
	host_agent
	eventually rails_from .looks 2
	eq "other buses" "$(rails_slots)" '[[0,"eth0","ok"],[1,"eth9","ok"]]'
	on_rails ADD p3
	eq "a pod after that" "$RC $(rails_of p3), $(masters_of p3)" "0 rail0 10.94.10.3, rail1 10.94.11.3, eth0 eth9"
	passes 3
	eq "the pods of before" "$(rails_of p1); $(rails_of p2)" "rail1 10.94.11.1; $of_p2"
	eq "leases" "$(leased)" "10.94.10.1 10.94.10.2 10.94.10.3 10.94.11.1 10.94.11.2 10.94.11.3"
	for n in 1 2 3; do
		on_rails DEL "p$n"
		eq "DEL of p$n" "$RC" 0
	done
	eq "leases" "$(leased)" ""
}
# Its own address would be one of this host.
heard_on() { "$HERE/lldp.py" "$1" "$2" swp1 02aabbccdd01 && hears_leaf "$2"; }
cards_end()
{
	local n
	for n in eth0 eth2 eth9 tmp0; do ip link del $n; done
}

# The error is that of the child, and a card that hangs does not look well.
test_rails_that_cannot_be_read_have_no_samples()
{
	rails_begin
	degraded port 0 || fail "the metric: $(scrape | grep rail_)"
	mkdir "$W/nothing" && mount --bind "$W/nothing" /sys || give_up "an empty /sys"
	eventually metric_is "railhead_rails_read 0"
	hasnt "no value" "$(scrape)" 'railhead_rail_degraded{'
	has "the error" "$(rails_status .error)" 'it is not a /sys'
	umount /sys
	rm -rf /etc/railhead/qos.d
	eventually metric_is "railhead_rails_read 1"
	degraded port 0 || fail "the metric: $(scrape | grep rail_)"
	eq "lines of the log" "$(said_times 'it is not a /sys')" 1
}

test_rails_can_be_excepted_or_off()
{
	rails_begin '{except: ["rxe2"]}'
	port_is "1: DOWN"
	more_looks 3
	eq "the rails" "$(rails_status .list)" '[]'
	host_kill TERM
	jq '.rails = false' "$W/agent.json" >/etc/railhead/agent.json
	host_agent
	eq "off" "$(rails_status .)" false
	hasnt "no metric" "$(scrape)" railhead_rail_
	eq "lines of the log" "$(said_times 'is degraded')" 0
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The agent repairs what dead pods left: one host without a cluster store. Agent and plugins see the same mounts and processes, as
# on a real node.

# host_begin [REPAIR]: the agent's keys "repair", else fast ones; a pool of this node, a master, and an agent
host_begin()
{
	mkdir -p "$STATE" "$RUN" "$W/node/host/etc"
	trap 'case_ends host_end' EXIT
	cp -a /etc/. "$W/node/host/etc" && mount --bind "$W/node/host/etc" /etc && mkdir -p /etc/railhead || give_up "/etc"
	jq -n --argjson r "${1-$FAST}" '{node:"host",repair:$r}' >/etc/railhead/agent.json
	ip link add mst0 type veth peer name wire0 && ip link set mst0 up && ip link set wire0 up || give_up "mst0"
	is "a pool" "$BIN/railctl" ipam pool add local --subnet 10.94.0.0/24 --cooldown 0 --this-node-only
	host_agent
}
FAST='{"every":1,"grace":1}'
host_agent()
{
	"$BIN/railheadd" >>"$W/node/host/log" 2>&1 </dev/null &
	echo $! >"$W/node/host/pid"
	eventually "$BIN/railctl" cluster status
}
host_kill() # SIGNAL
{
	kill "-$1" "$(<"$W/node/host/pid")"
	wait "$(<"$W/node/host/pid")" 2>/dev/null
	rm "$W/node/host/pid"
}
host_end()
{
	local p
	for p in "$W"/node/host/pid "$W"/node/host/pod.*; do [ ! -e "$p" ] || kill -KILL "$(<"$p")"; done
	wait 2>/dev/null
	for p in $(ip netns list | cut -d' ' -f1); do ip netns del "$p"; done
	ip link del mst0
	umount /etc
	rm -rf "$W/node/host" "${STATE:?}"/* "${RUN:?}"/*
}

# cni VERB POD: macvlan on mst0, with AUDIT_LOG if it is set; sets RC and OUT. cni_exec: the same in place of this shell.
cni()
{
	[ "$1" != DEL ] || pod_ends host "$2"
	OUT=$(cni_exec "$@")
	RC=$?
	[ "$1 $RC" != "ADD 0" ] || pod_has host "$2" "$OUT"
}
cni_exec()
{
	printf '{"cniVersion":"1.1.0","name":"%s","type":"macvlan","master":"mst0","ipam":{"type":"%s","pool":"%s"%s}%s}' \
		"${NETWORK-rails}" "${IPAM-railhead-ipam}" "${POOL-local}" "${AUDIT_LOG:+,\"auditLog\":\"$AUDIT_LOG\"}" "${3-}" >"$W/conf"
	exec env -i PATH="$PATH" CNI_COMMAND="$1" CNI_CONTAINERID="$2" CNI_NETNS="/run/netns/$2" CNI_IFNAME=net1 CNI_PATH="${CNI_BIN-$BIN}" \
		CNI_ARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=$2${POD_UID:+;K8S_POD_UID=$POD_UID}" "$BIN/macvlan" <"$W/conf" 2>>"$W/node/host/plugin.log"
}
pod() # POD: a namespace with an attachment; ADDRESS
{
	ip netns add "$1"
	cni ADD "$1"
	[ "$RC" = 0 ] || fail "ADD of $1: exit $RC: $OUT" || return
	ADDRESS=${ADDRESS%/*}
}
leased() { "$BIN/railctl" ipam lease list --json | jq -r '.[] | select(.state == "leased").address' | sort | xargs; }
leases_are() { [ "$(leased)" = "$*" ]; }
status() { "$BIN/railctl" cluster status --json | jq -r ".repair | $1"; }
status_is() { [ "$(status "$1" 2>/dev/null)" = "$2" ]; }
status_from() { [ "$(status "$1")" -ge "$2" ]; }
# passes N: so many more have ended
passes() { eventually status_from .passes $(($(status .passes) + $1)); }

test_repair_a_namespace_ends_without_a_DEL()
{
	local first second
	host_begin
	pod p1 && first=$ADDRESS
	pod p2 && second=$ADDRESS
	eq "leases" "$(leased)" "$first $second"
	pod_dies host p1
	eventually leases_are "$second"
	eq "record" "$(find "$RUN/attachments" -name 'p1,*')" ""
	eventually status_is .repaired.attachment 1
	eq "waiting" "$(status .waitingCount)" 0
	is "ready without a cluster store" "$BIN/railctl" cluster status --ready
	has "the log" "$(<"$W/node/host/log")" "repaired attachment rails p1 net1 of pod ns/p1: netns-gone"
	is "the other pod" ip -n p2 link show net1
	cni DEL p2
	eq "DEL" "$RC" 0
	cni DEL p1
	eq "a late DEL" "$RC" 0
	eq "leases" "$(leased)" ""
}

test_repair_waits_for_the_grace_period()
{
	host_begin '{"every":1,"grace":86400}'
	pod p1
	pod_dies host p1
	eventually status_is .waitingCount 1
	eq "what waits" "$(status '.waiting[0] | .kind + " " + .what + " " + .state + " " + .pod')" \
		"attachment rails p1 net1 netns-gone ns/p1"
	passes 3
	eq "leases" "$(leased)" "$ADDRESS"
	eq "repaired" "$(status .repaired.attachment)" 0
	may_stay host "the grace period is a day"
}

# The pod lives, though no path leads to its namespace any more.
test_repair_leaves_a_pod_whose_path_was_unmounted()
{
	host_begin
	pod p1
	ip netns exec p1 sleep 1000 &
	echo $! >"$W/node/host/pod.1"
	eventually in_pod "$!" p1
	umount /run/netns/p1 && rm /run/netns/p1
	passes 4
	eq "leases" "$(leased)" "$ADDRESS"
	eq "repaired" "$(status .repaired.attachment)" 0
	pod_ends host p1
	kill -KILL "$(<"$W/node/host/pod.1")"
	eventually leases_are ""
}
in_pod() { [ "$(stat -Lc %i "/proc/$1/ns/net")" = "$(stat -Lc %i "/run/netns/$2")" ]; }

# slow_ipam VERB: railhead-ipam, which hangs in VERB while $W/node/host/hang exists. PDEATHSIG survives the exec.
slow_ipam()
{
	printf '#!/bin/sh\n[ "$CNI_COMMAND" = %s ] && [ -e %s ] && { touch %s; exec sleep 1000; }\nexec %s\n' "$1" "$W/node/host/hang" \
		"$W/node/host/hangs" "$BIN/railhead-ipam" >"$BIN/slow-ipam"
	chmod +x "$BIN/slow-ipam"
}

# A DEL that runs has the lock of its attachment: the agent neither waits for it nor counts it.
test_repair_leaves_a_running_DEL_alone()
{
	host_begin
	slow_ipam DEL
	IPAM=slow-ipam pod p1
	pod_dies host p1
	touch "$W/node/host/hang"
	IPAM=slow-ipam cni_exec DEL p1 &
	echo $! >"$W/node/host/pod.1"
	eventually [ -e "$W/node/host/hangs" ]
	passes 4
	eq "waiting" "$(status '.waitingCount + .leftCount')" 0
	eq "leases" "$(leased)" "$ADDRESS"
	rm "$W/node/host/hang"
	kill -KILL "$(<"$W/node/host/pod.1")"
	eventually leases_are ""
}

# An ADD that never ended, in a living namespace: the runtime's DEL comes, or the namespace goes.
test_repair_leaves_an_unfinished_ADD_to_its_DEL()
{
	local f
	host_begin
	pod p1
	f=$RUN/attachments/rails/p1,net1
	jq -c '.adding = true' "$f" >"$W/record" && cat "$W/record" >"$f"
	eventually status_is .leftCount 1
	passes 3
	eq "state" "$(status '.left[0].state')" unfinished
	eq "leases" "$(leased)" "$ADDRESS"
	pod_dies host p1
	eventually leases_are ""
	eventually status_is .leftCount 0
}

test_repair_an_earlier_boot_and_a_damaged_record()
{
	local f damaged
	host_begin
	pod p1
	pod p2 && damaged=$ADDRESS
	pod_dies host p1
	f=$RUN/attachments/rails/p1,net1
	jq -c '.boot = "00000000-0000-0000-0000-000000000000"' "$f" >"$W/record" && cat "$W/record" >"$f"
	echo '{"version":1,' >"$RUN/attachments/rails/p2,net1"
	eventually leases_are "$damaged"
	eventually status_is .leftCount 1
	passes 2
	is "the damaged record stays" [ -e "$RUN/attachments/rails/p2,net1" ]
	eq "leases" "$(leased)" "$damaged"
}

# The IPAM is killed with the agent, and the record stays: the next agent finishes.
# One step of a pass that fails does not hold the others.
test_repair_masters_behind_records_that_it_cannot_read()
{
	mkdir -p "$RUN/masters"
	ln -s rdma "$RUN/rdma" # a path without an end
	# Its boot is over, and so is the VLAN.
	echo '{"version":1,"name":"mst0.120","kind":"vlan","boot":"01234567-89ab-cdef-0123-456789abcdef","ifindex":9,"lower":[{
		"name":"mst0","ifindex":5,"up":true}],"users":[]}' >"$RUN/masters/mst0.120.json"
	host_begin
	eventually master_gone
	eventually status_from .cutOff 1
	has "the log" "$(<"$W/node/host/log")" "$RUN/rdma"
	may_stay host "the pass says which folder it cannot read"
}
master_gone() { [ ! -e "$RUN/masters/mst0.120.json" ]; }

test_repair_survives_the_agent_killed_in_its_midst()
{
	host_begin
	slow_ipam DEL
	IPAM=slow-ipam pod p1
	touch "$W/node/host/hang"
	pod_dies host p1
	eventually [ -e "$W/node/host/hangs" ]
	is "the agent answers meanwhile" "$BIN/railctl" cluster status
	host_kill KILL
	eq "leases" "$(leased)" "$ADDRESS"
	rm "$W/node/host/hang"
	host_agent
	eventually leases_are ""
	isnt "nothing hangs" pgrep -f 'sleep 1000'
}

# ADDs are killed at all moments, their namespaces end, and no DEL comes.
test_repair_heals_what_killed_ADDs_left()
{
	local i
	host_begin
	pod p0
	ip -o link | cut -d: -f2 | sort >"$W/node/host/links"
	for ((i = 1; i <= 40; i++)); do
		ip netns add "p$i"
		cni_exec ADD "p$i" >/dev/null &
		sleep "0.0$((i % 10))$((i / 10))"
		kill -KILL $!
		wait $! 2>/dev/null
	done
	for ((i = 1; i <= 40; i++)); do pod_dies host "p$i"; done
	eventually leases_are "$ADDRESS"
	eventually status_is '.waitingCount + .leftCount' 0
	eq "records" "$(find "$RUN/attachments" -type f ! -name '*.lock' | wc -l)" 1
	eq "links" "$(ip -o link | cut -d: -f2 | sort)" "$(<"$W/node/host/links")"
	is "the other pod" ip -n p0 link show net1
}

test_repair_when_the_runtime_collects()
{
	host_begin '{"every":86400,"grace":1}'
	pod p1
	pod_dies host p1
	# The GC of another network: it releases nothing of this one.
	NETWORK=other cni GC p1 ',"cni.dev/valid-attachments":[]'
	eq "GC" "$RC" 0
	eventually leases_are ""
}

# A removal from a partition, as a DEL leaves it whose hook failed.
queued_removal()
{
	mkdir -p "$STATE/sm" /etc/railhead/sm.d
	jq -n '{version: 1, state: "leaving", pkey: "0x8001", guid: "02:00:00:00:00:00:0a:01", since: 1700000000000,
		who: {container: "p1", ifname: "net1", podNamespace: "ns", podName: "p1"}}' >"$STATE/sm/0001-0200000000000a01"
}
test_repair_calls_hooks_for_queued_removals()
{
	host_begin
	queued_removal
	passes 2
	eq "without a hook it waits" "$(status .failed.partition)" 0
	printf '#!/bin/sh\ncat >>%s\n[ ! -e %s ] || { echo away; exit 1; }\n' "$W/node/host/calls" "$W/node/host/away" >/etc/railhead/sm.d/10-x
	touch "$W/node/host/away"
	chmod 755 /etc/railhead/sm.d/10-x
	eventually status_from .failed.partition 2
	eq "what waits" "$(status '.waiting[0] | "\(.kind) \(.what) \(.pod)"')" "partition 0x8001 02:00:00:00:00:00:0a:01 ns/p1"
	has "why" "$(status '.waiting[0].why')" away
	rm "$W/node/host/away"
	eventually status_is .repaired.partition 1
	eq "the file" "$(find "$STATE/sm" -name '0*')" ""
	has "the message" "$(tail -n 1 "$W/node/host/calls")" '"action":"remove","pkey":"0x8001","membership":"full"'
	eq "one line of the log for each failure that is new" "$(grep -c 'not repaired partition' "$W/node/host/log")" 1
}

test_repair_can_be_off()
{
	host_begin false
	eq "status" "$(status .)" false
	NETWORK=other cni GC p1 ',"cni.dev/valid-attachments":[]'
	eq "GC" "$RC" 0
}

# An agent in a container that does not see the host's processes frees nothing, and says why.
test_repair_refuses_without_sight_of_the_host()
{
	host_begin false
	host_kill TERM
	pod p1
	jq -n --argjson r "$FAST" '{node:"host",repair:$r}' >/etc/railhead/agent.json
	unshare --pid --fork --kill-child=KILL --mount-proc "$BIN/railheadd" >>"$W/node/host/log" 2>&1 </dev/null &
	echo $! >"$W/node/host/pid"
	eventually "$BIN/railctl" cluster status
	pod_dies host p1
	eventually status_is .leftCount 1
	passes 2
	eq "state" "$(status '.left[0].state')" netns-unknown
	has "why" "$(status '.left[0].why')" "does not see the processes of the host"
	may_stay host "a person must look"
	eq "leases" "$(leased)" "$ADDRESS"
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ctr.sh: containerd through `ctr run --cni`, which calls the plugins itself. Sourced by run.sh.

# ctr_run NAME: in the foreground of a job of its own; waits for its container. That ctr process is who
# calls DEL at the end. Sets PID (the container's) and CTR (that process).
ctr_run()
{
	setsid ctr run --rm --cni --runc-binary "$W/oci" "$IMAGE" "$1" /bin/sleep 1000 \
		>"$W/log/ctr.$1" 2>&1 </dev/null 9>&- &
	CTR=$!
	eventually ctr_task "$1" RUNNING || fail "ctr run: $(tail -n 3 "$W/log/ctr.$1")" || return
	PID=$(ctr task ls | awk -v n="$1" '$1 == n {print $2}')
	NS=$(netns_of "$PID")
}
ctr_task() { ctr task ls | awk -v n="$1" -v s="$2" '$1 == n && $3 == s {found = 1} END {exit !found}'; }
CTR_EXECS=0
ctr_exec()
{
	local name=$1
	shift
	# No two at once in one process: a number of its own in the runtime's eyes.
	ctr task exec --exec-id "e$BASHPID-$((++CTR_EXECS))" "$name" "$@"
}
# More than once: ctr may end before it has passed on what a short program printed.
ctr_shows() { ctr_exec "$1" ip -o -4 addr show dev eth0 | grep -F "$2"; } # NAME ADDRESS
ctr_stop() # NAME CTR
{
	is 'task kill' ctr task kill -s KILL "$1"
	eventually ctr_has_ended "$2"
}
ctr_has_ended() { ! kill -0 "$1"; }
# ctr_drop NAME: what is left when its ctr was killed.
ctr_drop()
{
	is 'task kill' ctr task kill -s KILL "$1"
	eventually ctr_task "$1" STOPPED
	is 'task rm' ctr task rm "$1"
	is 'container rm' ctr container rm "$1"
}

test_ctr_attach()
{
	local ctr1 ns1 address1
	containerd_up || return
	network
	ctr_run a || return
	ctr1=$CTR ns1=$NS
	address1=$(addresses "$ns1" eth0)
	ctr_run b || return
	attached "$ns1" eth0
	attached "$NS" eth0
	eq 'MTU of the chained plugin' "$(link "$NS" eth0 .mtu)" 1400
	eventually ctr_shows b "$(addresses "$NS" eth0)"
	is 'ping the other pod' ctr_exec b ping -c 1 -W 3 "$address1"
	is 'ping back' ctr_exec a ping -c 1 -W 3 "$(addresses "$NS" eth0)"
	reach "$ns1" "$GATEWAY"
	ctr_stop a "$ctr1"
	ctr_stop b "$CTR"
	no_left_over
}

# Known behaviour of ctr 1.6; the plugins must cope with it.
test_ctr_calls()
{
	local n d
	containerd_up || return
	network
	ctr_run a || return
	ctr_stop a "$CTR"
	eq 'calls of macvlan' "$(commands macvlan)" 'ADD DEL'
	n=$(first macvlan ADD) d=$(first macvlan DEL)
	eq CNI_CONTAINERID "$(var "$n" CNI_CONTAINERID)" default-a
	eq CNI_NETNS "$(var "$n" CNI_NETNS)" "/proc/$PID/ns/net"
	eq CNI_ARGS "$(var "$n" CNI_ARGS)" ''
	eq 'CNI_NETNS of DEL' "$(var "$d" CNI_NETNS)" ''
	like 'address in the prevResult of DEL' "$(input "$d" '.prevResult.ips[0].address')" '10\.77\.0\.[0-9]+/24'
	[[ $(last tuning DEL) < $(first macvlan DEL) ]] || fail 'DEL must go through the chain backwards'
	eq 'calls of the IPAM' "$(commands railhead-ipam)" 'ADD DEL'
	again macvlan
	again railhead-ipam
	no_left_over
}

test_ctr_pool_exhausted()
{
	local ctr1
	containerd_up || return
	network '.plugins[0].ipam.pool = "one"'
	ctr_run a || return
	ctr1=$CTR
	isnt 'a second pod' ctr run --rm --cni --runc-binary "$W/oci" "$IMAGE" b /bin/sleep 1000
	has 'what the user is told' "$(<"$W/is")" 'left in pool one'
	eq 'leases' "$(leases)" 10.77.0.200
	# ctr calls DEL at once, without a namespace.
	eq 'calls of macvlan' "$(commands macvlan)" 'ADD ADD DEL'
	eq 'CNI_NETNS of that DEL' "$(var "$(last macvlan DEL)" CNI_NETNS)" ''
	eq 'the failed ADD' "$(<"$CALLS/$(last macvlan ADD).rc")" 1
	attached "$NS" eth0
	# A second try, when there is an address again.
	ctr_stop a "$ctr1"
	ctr_leftover b
	ctr_run c || return
	attached "$NS" eth0
	ctr_stop c "$CTR"
	no_left_over
}
# ctr 1.6 leaves the container behind whose network failed.
ctr_leftover()
{
	ctr task kill -s KILL "$1"
	ctr task rm -f "$1"
	ctr container rm "$1"
} >/dev/null 2>&1

test_ctr_master_missing()
{
	containerd_up || return
	network '.plugins[0].master = "nope0"'
	isnt 'a pod without master' ctr run --rm --cni --runc-binary "$W/oci" "$IMAGE" a /bin/sleep 1000
	has 'what the user is told' "$(<"$W/is")" nope0
	ctr_leftover a
	no_left_over
}

test_ctr_master_goes_away()
{
	containerd_up || return
	ip link add mst1 type veth peer name wire1
	ip link set mst1 up
	network '.plugins[0].master = "mst1"'
	ctr_run a || return
	eq 'kind of eth0' "$(link "$NS" eth0 .linkinfo.info_kind)" macvlan
	ip link del mst1
	ctr_stop a "$CTR"
	eq 'calls of macvlan' "$(commands macvlan)" 'ADD DEL'
	no_left_over
}

# 1.6 never calls DEL for a detached container. An operator must see the remains.
test_ctr_detached_leak()
{
	containerd_up || return
	network
	is 'run detached' ctr run -d --cni --runc-binary "$W/oci" "$IMAGE" a /bin/sleep 1000
	ctr_drop a
	eq 'calls of macvlan' "$(commands macvlan)" ADD
	eq 'what railctl sees' "$(attachments)" "$NET eth0 netns-gone"
	eq 'leases' "$(leases | grep -c .)" 1
	repair
	eq 'calls of the IPAM' "$(commands railhead-ipam)" 'ADD DEL'
	no_left_over
}

# The process that would call DEL is killed. GC must take what is left of this pod, and of no other.
test_ctr_killed_then_gc()
{
	local ctr1 ns1
	containerd_up || return
	network
	ctr_run a || return
	ctr1=$CTR ns1=$NS
	ctr_run b || return
	kill -KILL "$CTR"
	eventually ctr_has_ended "$CTR"
	ctr_drop b
	eq 'calls of macvlan' "$(commands macvlan)" 'ADD ADD'
	is GC gc '[{"containerID":"default-a","ifname":"eth0"}]'
	eq 'what railctl sees' "$(attachments)" "$NET eth0 healthy"
	attached "$ns1" eth0
	reach "$ns1" "$GATEWAY"
	ctr_stop a "$ctr1"
	no_left_over
}

# The daemon is killed: ctr, which hears that at once, calls DEL and ends. The container lives on, without
# its interface.
test_ctr_containerd_killed()
{
	containerd_up || return
	network
	ctr_run a || return
	containerd_kill
	eventually ctr_has_ended "$CTR"
	eq 'calls of macvlan' "$(commands macvlan)" 'ADD DEL'
	eq 'links in the namespace' "$(in_ns "$NS" ip -j link | jq -r '[.[].ifname] | join(" ")')" lo
	no_left_over
	containerd_up || return
	eventually ctr_task a RUNNING
	again macvlan
	ctr_drop a
}

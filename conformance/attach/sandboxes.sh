# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A pod with a recreated sandbox, before the DEL of the old one or without one; and GC beside ADD.

# pod_named NAME [UID]: whose sandbox the next calls are about.
pod_named() { CARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=$1${2:+;K8S_POD_UID=$2}"; }
sandbox()
{
	pod "$1"
	conf_ipam "${2-$(v4_ipam)}"
	want_ok ADD
}
sandbox_del()
{
	use "$1"
	conf_ipam "${2-$(v4_ipam)}"
	want_ok DEL
}
# The record and the store agree with what is on the interfaces.
all_sound()
{
	is "ipam verify" "$RAILCTL" ipam verify
	has "ipam verify" "$(<"$W/is")" "0 problems"
}

# A forced deletion: ADD of the new pod, then DEL of the old one.
test_sandbox_forced_deletion_keeps_a_sticky_address()
{
	need_railhead
	local r old
	r=$(jq -c '.sticky=true' <<<"$(v4_ipam)")
	pod_named p-0 uid-1
	sandbox old "$r"
	old=$(addr4)
	pod_named p-0 uid-2
	sandbox new "$r"
	[ "$(addr4)" != "$old" ] || fail "two living sandboxes have $old"
	has_addr old net1 "$old"
	all_sound
	pod_named p-0 uid-1
	sandbox_del old "$r"
	pod_named p-0 uid-2
	sandbox_del new "$r"
	pod_named p-0 uid-3
	sandbox third "$r"
	eq "the third start" "$(addr4)" "$old"
	sandbox_del third "$r"
}

# Its namespace is gone, and no DEL came: a range of one address.
test_sandbox_made_anew_after_the_old_one_is_gone()
{
	need_railhead
	local r='{"type":"railhead-ipam","subnet":"10.77.0.0/24","rangeStart":"10.77.0.9","rangeEnd":"10.77.0.9"}'
	pod_named p-0 uid-1
	sandbox old "$r"
	# it lives: nobody else gets its address, not even its own pod
	pod new
	conf_ipam "$r"
	want_err ADD 101 10.77.0.0/24
	unpod old
	pod_named p-1 uid-2
	want_err ADD 101 10.77.0.0/24
	pod_named p-0 uid-1
	want_ok ADD
	eq "its own address" "$(addr4)" 10.77.0.9/24
	# The late DEL is not about the new sandbox.
	use old
	want_ok DEL
	has_lease 10.77.0.9
	has_addr new net1 10.77.0.9/24
	all_sound
	sandbox_del new "$r"
	no_lease 10.77.0.9
}

in_another_netns() { [ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }
# Its path is gone, but a process is still in it: the old sandbox answers for its address.
test_sandbox_whose_path_is_gone_but_not_its_namespace()
{
	need_railhead
	local pid first
	pod_named p-0 uid-1
	sandbox old
	first=$(addr4)
	ip netns exec old sleep infinity &
	pid=$!
	eventually in_another_netns "$pid"
	unpod old
	sandbox new
	[ "$(addr4)" != "$first" ] || fail "two living sandboxes have $first"
	has_lease "$first"
	kill "$pid"
	wait "$pid" 2>/dev/null
	sandbox_del new
	use old
	want_ok DEL
	eq "leases" "$(lease_count)" 0
}

# The interface plugin of the old sandbox keeps no records: nothing is known of it.
test_sandbox_of_another_plugin_may_live()
{
	need_railhead
	local first
	pod_named p-0 uid-1
	PLUGIN=$IPAM CID=old NS=/run/netns/none
	conf_ipam "$(v4_ipam)"
	want_ok ADD
	first=$(addr4)
	CID=new
	want_ok ADD
	[ "$(addr4)" != "$first" ] || fail "what may live lost $first"
	want_ok DEL
	CID=old
	want_ok DEL
}

# --- GC beside ADD -----------------------------------------------------------------------------

# An IPAM whose GC waits, between the interface plugin's sweep and its own, until it may go on.
waiting_gc()
{
	mkfifo "$W/reached" "$W/go"
	cat >"$FAKE/waiting-ipam" <<-EOF
		#!/bin/bash
		if [ "\$CNI_COMMAND" = GC ]; then
			echo here >"$W/reached"
			read -r _ <"$W/go"
		fi
		exec "$BIN/$IPAM"
	EOF
	chmod +x "$FAKE/waiting-ipam"
}

# The attachment is not in the runtime's list: its ADD began after that was made.
test_sandbox_GC_delayed_between_its_halves()
{
	need_railhead
	local r old stale new
	waiting_gc
	r='{"type":"waiting-ipam","subnet":"10.77.0.0/24"}'
	sandbox old "$r"
	old=$(addr4)
	sandbox stale "$r"
	stale=$(addr4)
	pod new
	conf_ipam "$r" '."cni.dev/valid-attachments"=[{containerID:"cid-old",ifname:"net1"}]'
	cp "$W/conf" "$W/conf.gc"
	(
		unset CID NS IFN
		cni_env GC
		env -i "${E[@]}" "$BIN/macvlan" <"$W/conf.gc" >"$W/gc.out" 2>&1
		echo $? >"$W/gc.rc"
	) &
	timeout 60 head -n 1 "$W/reached" >/dev/null || fail "GC did not come to its IPAM: $(<"$W/gc.out")"
	conf_ipam "$r"
	want_ok ADD
	new=$(addr4)
	timeout 60 sh -c "echo go >$W/go"
	wait $!
	eq "GC: $(<"$W/gc.out")" "$(<"$W/gc.rc")" 0
	has_lease "$old"
	no_lease "$stale"
	has_lease "$new"
	has_addr new net1 "$new"
	all_sound
	# The next GC finds both in no list, and frees both.
	conf_ipam "$(v4_ipam)" '."cni.dev/valid-attachments"=[]'
	want_ok GC
	eq "leases" "$(lease_count)" 0
	rm -f "$W/reached" "$W/go"
}

# Another plugin made the interface, so there is no record: the list alone decides, as it always did.
test_sandbox_GC_of_leases_without_a_record()
{
	need_railhead
	PLUGIN=$IPAM CID=stranger NS=/run/netns/none
	conf_ipam "$(v4_ipam)" '."cni.dev/valid-attachments"=[]'
	want_ok ADD
	want_ok GC
	eq "leases" "$(lease_count)" 0
}

# The network's plugin was macvlan and is ipvlan now: its GC does not touch macvlan's interface, and so the
# address stays, until the namespace is gone.
test_sandbox_GC_by_another_interface_plugin()
{
	need_railhead
	local kept
	sandbox old
	kept=$(addr4)
	PLUGIN=ipvlan
	conf_ipam "$(v4_ipam)" '."cni.dev/valid-attachments"=[]'
	want_ok GC
	has_lease "$kept"
	has_addr old net1 "$kept"
	unpod old
	want_ok GC
	no_lease "$kept"
	PLUGIN=macvlan
	use old
	want_ok DEL
}

# --- an ADD that was killed, names that were swapped -------------------------------------------

# As if the ADD had been killed after its IPAM had given an address.
was_killed()
{
	local f
	f=$(find $RUN/attachments -type f)
	jq -c '.adding = true' "$f" >"$W/record" && cat "$W/record" >"$f"
}

# While programs are replaced the IPAM is missing for a moment: a DEL that succeeds is not called again.
test_sandbox_of_a_killed_ADD_keeps_its_lease_while_the_ipam_is_missing()
{
	need_railhead
	sandbox a
	was_killed
	mv "$BIN/$IPAM" "$W/away"
	want_err DEL 105 "$IPAM"
	edit '."cni.dev/valid-attachments"=[]'
	want_err GC 105 "$IPAM"
	mv "$W/away" "$BIN/$IPAM"
	eq leases "$(lease_count)" 1
	want_ok DEL
	eq leases "$(lease_count)" 0
}

# A second DEL has no record to go by, and the name leads to the interface of another network.
test_sandbox_second_DEL_after_the_pod_swapped_names()
{
	need_railhead
	local kept
	sandbox a
	IFN=net2
	conf_ipam "$(v4_ipam)" '.name="othernet"'
	want_ok ADD
	kept=$(addr4)
	ip -n a link set net1 name net3 && ip -n a link set net2 name net1 && ip -n a link set net3 name net2
	IFN=net1
	conf_ipam "$(v4_ipam)"
	want_ok DEL
	no_link a net2
	want_ok DEL
	has_addr a net1 "$kept"
	IFN=net2
	conf_ipam "$(v4_ipam)" '.name="othernet"'
	want_ok DEL
}

# The namespace was recreated under its path, and the container has the same id (cnitool derives the id from the path).
test_sandbox_second_ADD_while_the_first_namespace_lives()
{
	need_railhead
	local first pid
	sandbox a
	first=$(addr4)
	ip netns exec a sleep infinity &
	pid=$!
	# shellcheck disable=SC2016
	eventually sh -c '[ "$(readlink /proc/$1/ns/net)" != "$(readlink /proc/self/ns/net)" ]' sh "$pid"
	unpod a
	pod a
	want_err ADD 103 "run DEL before"
	no_link a net1
	has_lease "$first"
	is "the first one lives on" nsenter --net="/proc/$pid/ns/net" ip link show dev net1
	want_ok DEL
	isnt "DEL removes the first one" nsenter --net="/proc/$pid/ns/net" ip link show dev net1
	want_ok ADD DEL
	# one that is gone does not stand in the way
	want_ok ADD
	kill "$pid"
	wait "$pid" 2>/dev/null
	unpod a
	pod a
	want_ok ADD DEL
}

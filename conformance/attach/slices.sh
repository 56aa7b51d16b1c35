# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Pools with slices: two nodes with two numbers and one file of pools.
#
# A node is a network namespace with an interface rail0, a host name, and an /etc, a store and records of its own. The two interfaces are the ends of one wire.

RAILS='[{"name":"rail0","subnet":"10.92.0.0/16","slice":{"prefix":28},"gateway":"10.92.0.1"},
	{"name":"rail0-v6","subnet":"fd00:92::/64","slice":{"size":4}}]'

# on_node NODE COMMAND...
on_node()
{
	local at=$W/node-$1
	# shellcheck disable=SC2016
	nsenter --net="/run/netns/$1" unshare --mount --uts bash -c 'hostname "$1" && mount --bind "$2/etc" /etc &&
		mount --bind "$2/lib" "$3" && mount --bind "$2/run" "$4" && shift 4 && exec "$@"' - \
		"$1" "$at" "$STATE" "$RUN" "${@:2}"
}

# two_nodes: gpu-3 and gpu-4, which get the file of pools and the pattern of names
two_nodes()
{
	local node
	mkdir -p "$STATE" "$RUN"
	trap 'ip netns del gpu-3; ip netns del gpu-4; rm -rf "$W"/node-gpu-*' EXIT
	ip netns add gpu-3 && ip netns add gpu-4 &&
		ip -n gpu-3 link add rail0 type veth peer name rail0 netns gpu-4 || fail "test error: the wire"
	for node in gpu-3 gpu-4; do
		mkdir -p "$W/node-$node"/{lib,run}
		cp -a /etc "$W/node-$node/etc" && mkdir -p "$W/node-$node/etc/railhead"
		ip -n "$node" link set rail0 up
		is "$node: its number" on_node "$node" "$RAILCTL" ipam node set --hostname-pattern 'gpu-(\d+)'
		is "$node: the pools" on_node "$node" "$RAILCTL" ipam pool apply - <<<"$RAILS"
	done
	PLUGIN=macvlan
	conf '.master="rail0" | .ipam={type:"railhead-ipam",pools:["rail0","rail0-v6"]}'
}

# cni_on NODE VERB POD: the plugin there. Sets RC, OUT, ERR as cni does.
cni_on()
{
	local E
	use "$3"
	cni_env "$2"
	on_node "$1" timeout -s KILL "$LIMIT" env -i "${E[@]}" "$BIN/$PLUGIN" <"$W/conf" >"$W/out" 2>"$W/err"
	RC=$?
	take_output
	[ "$2 $RC" != "ADD 0" ] || cp "$W/out" "$W/result"
}
ok_on()
{
	cni_on "$@"
	[ "$RC" = 0 ] || fail "$2 on $1 must succeed: $(said)"
}
leases_on() { on_node "$1" "$RAILCTL" ipam lease list --json | jq -r '.[].address' | sort | paste -sd ' '; }

test_slices_pods_of_two_nodes_reach_each_other()
{
	need_railhead
	two_nodes
	pod p1
	pod p2
	ok_on gpu-3 ADD p1
	eq "gpu-3" "$(addr4) $(addr6)" "10.92.0.48/16 fd00:92::c/64"
	ok_on gpu-4 ADD p2
	eq "gpu-4" "$(addr4) $(addr6)" "10.92.0.64/16 fd00:92::10/64"
	pings p1 10.92.0.64
	pings p2 fd00:92::c
	eq "leases of gpu-3" "$(leases_on gpu-3)" "10.92.0.48 fd00:92::c"
	ok_on gpu-3 DEL p1
	ok_on gpu-4 DEL p2
	eq "leases" "$(leases_on gpu-3)$(leases_on gpu-4)" ""
}

# Only pools with slices need the number: a damaged file stops no other pool.
test_slices_other_pools_do_not_read_the_number()
{
	need_railhead
	two_nodes
	pod p1
	on_node gpu-3 "$RAILCTL" ipam pool add plain --subnet 10.93.0.0/24 --this-node-only >"$W/ctl" || fail "$(<"$W/ctl")"
	echo 'no JSON' >"$W/node-gpu-3/etc/railhead/node.json"
	cni_on gpu-3 ADD p1
	is_err 6 rail0 /etc/railhead/node.json
	edit '.ipam={type:"railhead-ipam",pool:"plain"}'
	ok_on gpu-3 ADD p1
	eq "plain" "$(addr4)" 10.93.0.1/24
	ok_on gpu-3 DEL p1
}

# The number of a node changes behind its back: old leases live on, and new ones are of the new slice.
test_slices_leases_of_an_earlier_number()
{
	need_railhead
	two_nodes
	pod p1
	pod p2
	pod p3
	ok_on gpu-3 ADD p1
	cp "$W/result" "$W/result.p1"
	rm "$W/node-gpu-3/etc/railhead/node.json"
	ok_on gpu-4 ADD p3
	cni_on gpu-3 ADD p2
	is_err 7 rail0 "node gpu-3 has no number" "railctl ipam node set 17"
	cni_on gpu-3 STATUS p2
	is_err 7 "railctl ipam node set"
	cp "$W/conf" "$W/conf.add"
	jq -c --slurpfile p "$W/result.p1" '.prevResult=$p[0]' "$W/conf.add" >"$W/conf"
	ok_on gpu-3 CHECK p1
	jq -c '."cni.dev/valid-attachments"=[{containerID:"cid-p1",ifname:"net1"}]' "$W/conf.add" >"$W/conf"
	ok_on gpu-3 GC p1
	eq "GC keeps it" "$(leases_on gpu-3)" "10.92.0.48 fd00:92::c"
	cp "$W/conf.add" "$W/conf"
	is "gpu-3 refuses the number 4" test "$(on_node gpu-3 "$RAILCTL" ipam node set 4 --force 2>&1 | grep -c 'slice of another node: 10.92.0.48')" = 1
	ok_on gpu-3 DEL p1
	is "its number" on_node gpu-3 "$RAILCTL" ipam node set 5
	ok_on gpu-3 ADD p2
	eq "slice 5" "$(addr4) $(addr6)" "10.92.0.80/16 fd00:92::14/64"
	ok_on gpu-3 DEL p2
	ok_on gpu-4 DEL p3
	eq "leases" "$(leases_on gpu-3)$(leases_on gpu-4)" ""
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# cnitool.sh: the CNI project's own client, the only one here that calls CHECK. Sourced by run.sh.

# tool VERB NETNS-NAME: on the network that is there.
tool()
{
	CNI_PATH=/opt/cni/bin NETCONFPATH=$NETD timeout -k 5 "$LONG" "$CNITOOL" "$1" "$NET" "/run/netns/$2"
}
cnitool_up() # [FILTER]
{
	[ -x "${CNITOOL-}" ] || skip 'cnitool is not in Debian; to make it from a source package: make cnitool'
	rm -f "$NETD"/*
	network "$@"
}
tool_add() # NAME: a namespace and its attachment
{
	ip netns add "$1"
	NS=/run/netns/$1
	is "add $1" tool add "$1"
	# From now on only railhead's record knows the way back: nothing of cnitool's cache is in this file.
	cp "$W/is" "$W/result.$1"
}

test_cnitool_attach()
{
	cnitool_up || return
	tool_add a || return
	tool_add b || return
	attached /run/netns/a eth0
	attached /run/netns/b eth0
	eq 'address in the result' "$(jq -r '.ips[0].address' "$W/result.b")" "$(addresses /run/netns/b eth0)/24"
	reach /run/netns/a "$(addresses /run/netns/b eth0)"
	is 'check a' tool check a
	is 'del a' tool del a
	is 'del b' tool del b
	no_left_over
	ip netns del a
	ip netns del b
}

test_cnitool_check()
{
	cnitool_up || return
	tool_add a || return
	is 'check of what is whole' tool check a
	in_ns "$NS" ip addr flush dev eth0
	isnt 'check without the address' tool check a
	in_ns "$NS" ip link del eth0
	isnt 'check without the interface' tool check a
	has 'what the user is told' "$(<"$W/is")" eth0
	forget_calls CHECK
	is 'del of what is gone' tool del a
	no_left_over
	ip netns del a
}
# forget_calls VERB: those that had to fail.
forget_calls()
{
	local n
	for n in $(numbers); do
		[ "$(var "$n" CNI_COMMAND)" != "$1" ] || rm -rf "$CALLS/$n".*
	done
}

test_cnitool_del_again()
{
	cnitool_up || return
	tool_add a || return
	is 'first del' tool del a
	is 'second del' tool del a
	ip netns del a
	is 'third del, the namespace is gone' tool del a
	eq 'calls of macvlan' "$(commands macvlan)" 'ADD DEL DEL DEL'
	again macvlan
	tool_add b || return
	ip netns del b
	is 'del without the namespace' tool del b
	no_left_over
}

test_cnitool_failed_add()
{
	cnitool_up '.plugins[0].ipam.pool = "one"' || return
	tool_add a || return
	ip netns add b
	isnt 'add without a free address' tool add b
	has 'what the user is told' "$(<"$W/is")" 'left in pool one'
	is 'del of what failed' tool del b
	eq 'leases' "$(leases)" 10.77.0.200
	is 'del a' tool del a
	network '.plugins[0].master = "nope0"'
	isnt 'add without master' tool add b
	has 'what the user is told' "$(<"$W/is")" nope0
	is 'del of what failed' tool del b
	no_left_over
	ip netns del a
	ip netns del b
}

test_cnitool_killed_in_add()
{
	local tool
	cnitool_up || return
	ip netns add a
	hold macvlan ADD
	CNI_PATH=/opt/cni/bin NETCONFPATH=$NETD "$CNITOOL" add "$NET" /run/netns/a >/dev/null 2>&1 &
	tool=$!
	held
	kill -KILL "$tool"
	wait "$tool" 2>/dev/null
	release
	eq 'what railctl sees' "$(attachments)" "$NET eth0 healthy"
	is del tool del a
	eq 'prevResult of the DEL' "$(input "$(first macvlan DEL)" .prevResult)" null
	no_left_over
	ip netns del a
}

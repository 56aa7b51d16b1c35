# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# lib.sh: a cluster for one case: the engine of its store, and nodes with an agent each. Sourced by run.sh inside the sandbox.
#
# A node is a network namespace with two wires and a host name, and an /etc, a store and records of its own. eth0 leads to the engine, rail0
# to the rails of the other nodes. The wires end in two bridges of the sandbox. The three namespaces stay until the end of the case, so that
# a command of the node is one process more.
# shellcheck disable=SC2034

STATE=/var/lib/railhead RUN=/run/railhead
# shellcheck source=conformance/agent/history.sh
. "$HERE/history.sh" || exit 2
# shellcheck source=conformance/agent/load.sh
. "$HERE/load.sh" || exit 2

# on_node NODE COMMAND...; in_node: the same in place of this shell, so that its process is the command's.
on_node() { (in_node "$@"); }
in_node()
{
	exec nsenter --target "$(<"$W/node/$1/pid.view")" --net --mount --uts "${@:2}"
}
ctl() { on_node "$1" timeout -s KILL "$LIMIT" "$BIN/railctl" "${@:2}"; }

# give_up WHAT: without it the rest of the case says nothing
give_up()
{
	fail "test error: $1"
	exit 1
}

# wire NODE LINK BRIDGE
wire()
{
	ip link add "$1-$2" type veth peer name "$2" netns "$1" && ip link set "$1-$2" master "$3" up &&
		ip -n "$1" link set "$2" up || give_up "the wire $2 of $1"
}

# own_view NODE: its namespaces, held by a process, because not each kernel can bind a mount namespace to a file. Those of pods that come
# later are seen there, too, and go with their pods.
own_view()
{
	local at=$W/node/$1
	# shellcheck disable=SC2016 # of the inner shell
	nsenter --net="/run/netns/$1" unshare --mount --uts --propagation slave bash -c 'hostname "$1" && mount --bind "$2/etc" /etc &&
		mount --bind "$2/lib" "$3" && mount --bind "$2/run" "$4" && { sleep infinity </dev/null >/dev/null 2>&1 & echo $! >"$2/pid.view"; }' - \
		"$1" "$at" "$STATE" "$RUN" || give_up "the namespaces of $1"
}

# node_begin NUMBER: node nNUMBER, without an agent
node_begin()
{
	local node=n$1 at=$W/node/n$1
	ip netns add "$node" || give_up "$node"
	wire "$node" eth0 mgmt
	wire "$node" rail0 fabric
	ip -n "$node" addr add "10.99.0.1$1/24" dev eth0
	ip -n "$node" link set lo up
	mkdir -p "$at"/{lib,run}
	cp -a /etc "$at/etc" && mkdir -p "$at/etc/railhead"
	own_view "$node"
	engine_conf "$node" | jq --argjson h "${NODE_HOLD:-10}" '. + {heartbeat:1,nodeHold:$h}' >"$at/etc/railhead/agent.json"
}

# agent_begin NODE: and until it answers
agent_begin()
{
	in_node "$1" "$BIN/railheadd" >>"$W/node/$1/log" 2>&1 </dev/null &
	echo $! >"$W/node/$1/pid"
	eventually ctl "$1" cluster status
}
agent_kill() # NODE: the agent alone
{
	kill -KILL "$(<"$W/node/$1/pid")"
	wait "$(<"$W/node/$1/pid")" 2>/dev/null
	rm "$W/node/$1/pid"
}
agent_end() # NODE: as systemd ends it
{
	kill -TERM "$(<"$W/node/$1/pid")"
	wait "$(<"$W/node/$1/pid")" 2>/dev/null
	rm "$W/node/$1/pid"
}
# agents_at PORT NODE...: they reach the engine there
agents_at()
{
	local node
	for node in "${@:2}"; do
		agent_end "$node"
		sed -i "s/10\.99\.0\.1:[0-9]*/10.99.0.1:$1/" "$W/node/$node/etc/railhead"/*
		agent_begin "$node"
	done
	for node in "${@:2}"; do eventually agent_is "$node" .contact true; done
}
agent_is() { [ "$(ctl "$1" cluster status --json | jq -r "$2")" = "$3" ]; }

# cluster_begin: the engine and all nodes, whose agents reached it
cluster_begin()
{
	local i
	export W
	mkdir -p "$STATE" "$RUN"
	trap 'case_ends cluster_end' EXIT
	# Without an address of its own, a bridge takes the lowest one of its ports: it changes with each
	# node that comes, and a node that is there already sends to the old one until its ARP entry ends.
	ip link add mgmt address 02:00:0a:63:00:01 type bridge && ip link add fabric type bridge &&
		ip link set mgmt up && ip link set fabric up && ip addr add 10.99.0.1/24 dev mgmt || give_up bridges
	engine_begin
	for ((i = 1; i <= NODES; i++)); do
		node_begin "$i"
		agent_begin "n$i"
	done
	for ((i = 1; i <= NODES; i++)); do eventually agent_is "n$i" .health ok || give_up "the agent of n$i"; done
}

# case_ends COMMAND...: what each case must show, and then its end
case_ends()
{
	local command
	history_check
	for command; do "$command"; done 2>/dev/null
}

cluster_end()
{
	local p
	for p in "$W"/node/*/pid*; do [ ! -e "$p" ] || kill -KILL "$(<"$p")"; done
	engine_end
	wait 2>/dev/null
	# The kernel ends a namespace later; the next case has links of the same names.
	for p in $(ip -o link | grep -o 'n[0-9]*-[a-z]*[0-9]*'); do ip link del "$p"; done
	for p in $(ip netns list | cut -d' ' -f1); do ip netns del "$p"; done
	ip link del mgmt
	ip link del fabric
	rm -rf "$W/node"
}

# shared NAME JSON: a pool of all nodes, and until each node knows it
shared()
{
	local i definition
	definition=$(jq -c --arg n "$1" '.name=$n' <<<"$2")
	eventually pool_applied "$definition"
	for ((i = 1; i <= NODES; i++)); do eventually knows "n$i" "$1"; done
}
# pool_applied DEFINITION: or refused, which is a failure. An engine that has just begun may need longer than the command waits.
pool_applied()
{
	ctl n1 cluster pool apply - <<<"$1" >"$W/is" 2>&1 && return
	! grep -qE 'no answer|Timeout was reached' "$W/is" || return
	fail "pool apply of $1: $(<"$W/is")"
	return 0
}
has_spare() { [ "$(ctl "$1" cluster status --json | jq --arg n "$2" '.pools[] | select(.name == $n) | .spare')" -ge "$3" ]; }
knows() { ctl "$1" cluster status --json | jq -e --arg n "$2" 'any(.pools[]; .name == $n)'; }

# --- pods --------------------------------------------------------------------------------------

# cni_on NODE VERB POD POOL: macvlan on rail0. POOLS: the keys for the pools, instead of POOL. POD_IP: the address that the pod
# requests. POD: the name of the pod, if it is not that of its container. Sets RC and OUT, and ADDRESS to what an ADD got.
cni_on()
{
	[ "$2" != DEL ] || pod_ends "$1" "$3"
	printf '{"cniVersion":"1.1.0","name":"rails","type":"macvlan","master":"rail0","ipam":{"type":"railhead-ipam",%s}}' \
		"${POOLS:-"\"pool\":\"$4\""}" >"$W/conf"
	OUT=$(on_node "$1" timeout -s KILL "$LIMIT" env -i PATH="$PATH" CNI_COMMAND="$2" CNI_CONTAINERID="$3" CNI_NETNS="/run/netns/$3" \
		CNI_IFNAME=net1 CNI_PATH="$BIN" CNI_ARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=${POD:-$3}${POD_UID:+;K8S_POD_UID=$POD_UID}${POD_IP:+;IP=$POD_IP}" "$BIN/macvlan" \
		<"$W/conf" 2>>"$W/node/$1/plugin.log")
	RC=$?
	[ "$2 $RC" != "ADD 0" ] || pod_has "$1" "$3" "$OUT"
}
# add NODE POD POOL: it must succeed. del: the same for DEL. pod_dies NODE POD: without a DEL.
add()
{
	[ -e "/run/netns/$2" ] || ip netns add "$2"
	cni_on "$1" ADD "$2" "$3"
	[ "$RC" = 0 ] || fail "ADD of $2 on $1: exit $RC: $OUT"
}
# added NODE POD POOL: whether ADD succeeds now; a runtime tries again after error 11
added()
{
	[ -e "/run/netns/$2" ] || ip netns add "$2"
	cni_on "$1" ADD "$2" "$3"
	[ "$RC" = 0 ]
}
del()
{
	cni_on "$1" DEL "$2" "$3"
	[ "$RC" = 0 ] || fail "DEL of $2 on $1: exit $RC: $OUT"
}
pod_dies()
{
	pod_ends "$1" "$2"
	ip netns del "$2"
}
# refused NODE POD POOL CODE TEXT: ADD must fail so
refused()
{
	[ -e "/run/netns/$2" ] || ip netns add "$2"
	cni_on "$1" ADD "$2" "$3"
	[ "$RC" = 1 ] || fail "ADD of $2 on $1 must fail: exit $RC: $OUT"
	eq "code" "$(jq -r .code <<<"$OUT")" "$4"
	has "message" "$OUT" "$5"
}
pings() { is "$1 must reach $2" ip netns exec "$1" "$HELPERS/ping" "$2"; }
leases() { ctl "$1" ipam lease list --json | jq -r '.[].address' | sort; }
# no address is leased twice in the cluster
unique()
{
	local i all
	all=$(for ((i = 1; i <= NODES; i++)); do leases "n$i"; done | sort)
	eq "addresses leased twice" "$(uniq -d <<<"$all")" ""
}
more_evidence()
{
	local node
	for node in "$W"/node/*; do
		tail -n 6 "$node/log" | sed "s/^/${node##*/}: /"
	done 2>/dev/null
	engine_evidence
}

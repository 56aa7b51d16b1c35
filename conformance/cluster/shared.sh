# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shared.sh: a shared pool: the node agent on both nodes, and an etcd of its own as the cluster store. Sourced by run.sh.

STORE=http://$API:2479

store_up()
{
	daemon store-etcd chroot "$W/etcd/root" /usr/bin/etcd --data-dir /var/lib/store-etcd --unsafe-no-fsync --log-level warn \
		--listen-client-urls "$STORE" --advertise-client-urls "$STORE" --listen-peer-urls http://127.0.0.1:2480
	answers store-etcd "$STORE/health"
}
store_down()
{
	local pid
	pid=$(<"$W/k8s/store-etcd.pid")
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
}

HASTY='{"heartbeat": 1, "nodeHold": 10, "repair": {"every": 1, "grace": 2}}'

# agent N STORE: railheadd on the node; STORE is the part of agent.json that names the cluster store. It looks often, so that cases need not
# wait; HASTE='{}' is the usual agent.
agent()
{
	local root
	root=$(node_root "$1")
	"$TOP/packaging/kubernetes/rootfs.sh" "$FROM" "$root/opt/railheadd" && mkdir -p "$root/etc/railhead" &&
		jq -n --argjson store "$2" --argjson haste "${HASTE-$HASTY}" '$store + $haste' >"$root/etc/railhead/agent.json" ||
		fail "test error: agent.json"
	is "the agent of n$1" service "$1" railheadd start
}
agent_sees() { node "$1" railctl cluster status --json | jq -e "$2"; }
no_pools() { [ "$(node "$1" railctl ipam pool list --json | jq length)" = 0 ]; }

shared_begin() # KEYS: of the pool
{
	local n
	trap shared_end EXIT
	store_up || fail "test error: the cluster store"
	for n in $NODES; do agent "$n" "$(jq -nc --arg e "$STORE" '{etcd: {endpoints: [$e]}}')"; done
	for n in $NODES; do eventually agent_sees "$n" '.health == "ok"'; done
	is 'the pool' node 1 railctl cluster pool apply --wait "$LONG" - <<<"{\"name\": \"shared\", \"subnet\": \"10.10.0.0/16\", $1}"
	nad shared "$(macvlan shared shared)"
}
# All goes the way that it came, also after a failure: other cases have pools of their own.
shared_end()
{
	local n
	kn delete pod --all --grace-period=1 --wait --timeout=${LONG}s >/dev/null 2>&1
	node 1 railctl cluster pool delete shared >/dev/null
	for n in $NODES; do
		eventually no_pools "$n"
		service "$n" railheadd stop
		rm "$(node_root "$n")/etc/railhead/agent.json"
	done
	store_down
}

# Two nodes have one pool. Each pod needs a block of its own, so a pod that comes while the cluster store is away waits with
# error 11. The kubelet tries again by itself, and the pod starts when the store is back.
# quick: thin
once_shared_pool()
{
	local first
	shared_begin '"ranges": ["10.10.200.1-10.10.200.8"], "blockSize": 1, "warm": 0, "idle": 1, "cooldown": 0'
	pod a shared
	NODE=2 pod b shared
	running a b
	first=$(address a net1)
	has 'addresses' "$first $(address b net1)" 10.10.200.
	isnt 'one address' test "$first" = "$(address b net1)"
	reaches a "$(address b net1)"
	reaches b "$first"
	audit
	store_down
	pod c shared
	event c 'cluster store'
	eq 'leases of n1' "$(leases 1)" "$first"
	is 'the store is back' store_up
	running c
	reaches c "$(address b net1)"
	audit
}

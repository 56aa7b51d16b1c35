# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# engine_etcd.sh: etcd as the cluster store, a new one for each case. Sourced by run.sh. See engine_kubernetes.sh.

ETCD=http://10.99.0.1:2379 ENGINE_PORT=2379 RESTARTS=3

engine() { "$HERE/../cluster-store/etcd.sh" "$@"; }

engine_begin()
{
	mkdir -p "$W/data"
	printf '%s\n' env -u ETCD "$ENGINES/etcd-3.5" --data-dir "$W/data" --listen-client-urls "$ETCD" \
		--advertise-client-urls "$ETCD" --listen-peer-urls http://127.0.0.1:2380 --log-level warn >"$W/command"
	printf '%s\n' --max-time 10 >"$W/curl"
	echo "$ETCD" >"$W/url"
	engine start || give_up "etcd does not start"
}

engine_conf() { jq -n --arg e "$ETCD" '{etcd:{endpoints:[$e]}}'; }

# kv CALL JSON: a call of etcd; keys and values of JSON are plain texts
kv() { jq 'map_values(if type == "string" then @base64 else . end)' <<<"$2" | curl -sf --data-binary @- "$ETCD/v3/kv/$1"; }
engine_object()
{
	kv put "$(jq -n --arg k "/railhead/$1/$2" --argjson v "$3" --arg n "${4-}" \
		'{key:$k,value:({uid:"11111111-2222-4333-8444-555555555555",node:$n,value:$v} | tojson)}')"
}
pool_gone() { kv deleterange "{\"key\":\"/railhead/pools/$1\"}"; }
engine_value() { kv range "{\"key\":\"/railhead/$1/$2\"}" | jq -e '.kvs[0].value | @base64d | fromjson | .value'; }

block_owner() { kv range "{\"key\":\"/railhead/blocks/$1\"}" | jq -er '.kvs[0].value | @base64d | fromjson | .node'; }
blocks_in_store()
{
	kv range '{"key":"/railhead/blocks/","range_end":"/railhead/blocks0"}' |
		jq -r --arg n "$1" '.kvs[]? | select(.value | @base64d | fromjson | .node == $n) | .key | @base64d | sub(".*/"; "")'
}
# A block has two keys.
blocks_deleted()
{
	local i name
	for name in "${@:-}"; do
		kv deleterange "$(del_range "/railhead/blocks/$name")" || return
		for ((i = 1; i <= NODES; i++)); do kv deleterange "$(del_range "/railhead/by-node/n$i/blocks/$name")" || return; done
	done
}
# del_range KEY: one key, or all that begin with one that ends with a slash
del_range() { jq -nc --arg k "$1" '{key:$k} + if $k | endswith("/") then {range_end:($k[:-1] + "0")} else {} end'; }

may_reclaim() { :; }

engine_end()
{
	kill -KILL "$(<"$W/pid")" 2>/dev/null
	rm -rf "$W/data"
}
engine_evidence() { tail -n 3 "$W/log"; }

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# engine_kubernetes.sh: an API server over etcd as the cluster store. Sourced by run.sh.
#
# engine WORD: kill, start, stop, cont, save, restore, full, room, as of ../cluster-store/. ENGINE_PORT: where it listens. engine_begin: for a case. engine_conf NODE: prints the part of
# agent.json that names the store, and gives the node its files. engine_object KIND NAME VALUE [NODE]: writes
# one of "blocks", "nodes", "pools" or "reserved", VALUE is JSON. pool_gone NAME: deletes a pool by hand. engine_value KIND NAME: prints it.
# block_owner NAME: the node that has a block, by the store. blocks_in_store NODE: their names. blocks_deleted [NAME...]: by hand; all without a name.
# engine_end: of a case. engine_evidence: what it said.
#
# The API server starts once for all cases, because that takes some seconds. Each case begins without objects.

ENGINE_PORT=6443 RESTARTS=1
engine() { W=$W/kube "$HERE/../cluster-store/kube.sh" "$@"; }
admin() { HOME=$W "$KUBE/kubectl" --kubeconfig "$W/kube/admin.kubeconfig" "$@"; }

engine_begin()
{
	if [ -e "$W/kube/ready" ]; then
		engine alive && engine clean || give_up "Kubernetes does not start"
		return
	fi
	mkdir -p "$W/kube"
	(
		W=$W/kube
		certificates 10.99.0.1 && certificate admin /O=system:masters/CN=admin 'extendedKeyUsage=clientAuth'
	) && engine setup && engine policy && touch "$W/kube/ready" || give_up "Kubernetes does not start"
}

# The node's token is that of the agent's pod on this node, as in a DaemonSet.
engine_conf()
{
	local etc=$W/node/$1/etc/railhead
	cp "$W/kube/ca.pem" "$etc/ca.pem"
	new_token "$1" || give_up "a token for $1"
	kubeconfig token "$etc" "tokenFile: token"
	echo '{"kubernetes":{"kubeconfig":"/etc/railhead/kubeconfig"}}'
}
# may_reclaim NODE: as an operator allows it. may_not_reclaim: no more.
may_reclaim()
{
	admin create clusterrole reclaim --verb=reclaim --resource=railnodes.railhead.io --resource-name="$1" &&
		admin create clusterrolebinding reclaim --clusterrole=reclaim --serviceaccount=railhead:railheadd
}
may_not_reclaim() { admin delete --ignore-not-found clusterrolebinding/reclaim clusterrole/reclaim; }
new_token() # NODE
{
	local etc=$W/node/$1/etc/railhead
	engine bound-token "$1" >"$etc/new" && mv "$etc/new" "$etc/token"
}
kubeconfig() # NAME FOLDER USER: USER is YAML
{
	cat >"$2/kubeconfig" <<-END
	apiVersion: v1
	kind: Config
	clusters: [{name: c, cluster: {server: "https://10.99.0.1:6443", certificate-authority: ca.pem}}]
	users: [{name: $1, user: {$3}}]
	contexts: [{name: x, context: {cluster: c, user: $1, namespace: railhead}}]
	current-context: x
	END
}

declare -A TYPE=([blocks]=RailBlock [nodes]=RailNode [pools]=RailPool [reserved]=RailReserved)
engine_object()
{
	jq -n --arg k "${TYPE[$1]}" --arg n "$2" --argjson v "$3" --arg o "${4-}" \
		'{apiVersion:"railhead.io/v1alpha1",kind:$k,metadata:{name:$n},
		spec:($v + if $o == "" then {} else {node:$o} end + if $k == "RailBlock" then {pool:$n[:-33]} else {} end)}' | admin apply -f -
}
pool_gone() { admin delete railpool "$1"; }
block_owner() { admin get railblock "$1" -o json | jq -er '.spec.node // ""'; }
blocks_in_store() { admin get railblocks -o json | jq -r --arg n "$1" '.items[] | select(.spec.node == $n) | .metadata.name'; }
blocks_deleted() { admin delete railblocks "${@:---all}"; }
engine_value() { admin get "${TYPE[$1]}" "$2" -o json | jq .spec; }

engine_end() { may_not_reclaim >/dev/null; }
engine_evidence() { tail -n 3 "$W/kube/log.apiserver"; }

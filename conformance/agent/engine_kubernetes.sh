# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# engine_kubernetes.sh: an API server over etcd as the cluster store. Sourced by run.sh.
#
# engine WORD: kill, start, save, restore, as of ../cluster-store/. engine_begin: for a case. engine_conf NODE: prints the part of
# agent.json that names the store, and gives the node its files. engine_block NAME VALUE: writes a block, VALUE is JSON.
# engine_end: of a case. engine_evidence: what it said.
#
# The API server starts once for all cases, because that takes some seconds. Each case begins without objects.

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
	) && engine setup && touch "$W/kube/ready" || give_up "Kubernetes does not start"
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

engine_block()
{
	jq -n --arg n "$1" --argjson v "$2" '{apiVersion:"railhead.io/v1alpha1",kind:"RailBlock",metadata:{name:$n},spec:$v}' |
		admin apply -f -
}

engine_end() { :; }
engine_evidence() { tail -n 3 "$W/kube/log.apiserver"; }

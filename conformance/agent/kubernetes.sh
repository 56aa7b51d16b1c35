# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What only Kubernetes has: etcd behind the API server, rights, tokens, certificates, and what people see of the objects.

ROLE=$HERE/../../packaging/kubernetes/rbac.yaml

# The API server lives and answers with errors: that is no contact.
test_kubernetes_etcd_killed_behind_the_api_server()
{
	cluster_begin
	shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":1}'
	add n1 p1 rail0
	engine kill-etcd
	eventually agent_is n1 .contact false
	add n1 p2 rail0
	del n1 p1 rail0
	engine start-etcd
	eventually agent_is n1 .contact true
	eventually has_spare n2 rail0 1
	add n2 p3 rail0
	unique
}

refusal_of() { ctl "$1" cluster status --json | jq -r '.refused // ""'; }
is_refused() { [[ $(refusal_of "$1") == *"$2"* ]]; }
is_accepted() { [ "$(ctl "$1" cluster status --json | jq '.contact and (.refusedSeconds // 99) >= 2')" = true ]; }

# The verb, the resource and the user are in the error of the ADD, in the status and in the log.
test_kubernetes_a_missing_right_is_named()
{
	local what='cannot create resource "railblocks"' who='User "system:serviceaccount:railhead:railheadd"'
	cluster_begin
	shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":0}'
	admin get clusterrole railheadd -o json | jq '(.rules[] | select(.resources[0] == "railblocks") | .verbs) -= ["create"]' |
		admin replace -f - >/dev/null || give_up "the role"
	refused n1 p1 rail0 11 "$(jq -Rr tojson <<<"$what" | sed 's/^"//; s/"$//')"
	has "the ADD" "$(jq -r .msg <<<"$OUT")" "$who"
	is_refused n1 "$what" || fail "status: $(refusal_of n1)"
	is "status" ctl n1 cluster status
	has "status" "$(<"$W/is")" "$who"
	has "log" "$(tr -d '\\' <"$W/node/n1/log")" "$what"
	admin apply -f "$ROLE" >/dev/null || give_up "the role"
	eventually added n1 p1 rail0
}

# People write pools. The error names the right that an agent lacks.
test_kubernetes_a_pool_needs_a_right()
{
	NODES=1 cluster_begin
	admin get clusterrolebinding pools -o json >"$W/binding" && admin delete clusterrolebinding pools >/dev/null || give_up "the binding"
	isnt "apply" ctl n1 cluster pool apply - <<<'{"name":"rail0","subnet":"10.92.0.0/24","blockSize":8}'
	has "apply" "$(<"$W/is")" 'User "system:serviceaccount:railhead:railheadd" cannot create resource "railpools"'
	has "apply" "$(<"$W/is")" "kubectl apply"
	is "kubectl apply" admin apply -f - <<-'END'
	{apiVersion: railhead.io/v1alpha1, kind: RailPool, metadata: {name: rail0}, spec: {subnet: 10.92.0.0/24, blockSize: 8}}
	END
	eventually knows n1 rail0
	add n1 p1 rail0
	jq 'del(.metadata.uid, .metadata.resourceVersion)' "$W/binding" | admin create -f - >/dev/null || give_up "the binding"
}

# A token ends with its pod. The agent takes the next one from the file, without a restart.
test_kubernetes_tokens_are_replaced()
{
	cluster_begin
	shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":0}'
	admin -n railhead delete pod railheadd-n1 --force --grace-period=0 2>/dev/null >/dev/null || give_up "the pod"
	PATIENCE=90 eventually is_refused n1 Unauthorized
	refused n1 p1 rail0 11 Unauthorized
	new_token n1
	eventually is_accepted n1
	eventually added n1 p1 rail0
}

client() # DAYS: a certificate of the group agents, in the files of n1
{
	(W=$W/kube certificate n1 /O=agents/CN=n1 'extendedKeyUsage=clientAuth' "$1") || give_up "a certificate"
	cp "$W/kube/n1.key" "$W/node/n1/etc/railhead/n1.key" && cp "$W/kube/n1.pem" "$W/node/n1/etc/railhead/n1.pem"
}

# With certificates of its own an agent is a plain service of systemd.
test_kubernetes_certificates_are_renewed_on_disk()
{
	NODES=1 cluster_begin
	NODES=1 shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":0}'
	admin apply -f - >/dev/null <<-'END'
	{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: agents},
	 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: railheadd},
	 subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: agents}]}
	---
	{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: agents, namespace: railhead},
	 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: railheadd},
	 subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: agents}]}
	END
	agent_end n1
	client 2
	kubeconfig n1 "$W/node/n1/etc/railhead" "client-certificate: n1.pem, client-key: n1.key"
	agent_begin n1
	eventually is_accepted n1
	add n1 p1 rail0
	client 0
	eventually is_refused n1 Unauthorized
	client 2
	eventually is_accepted n1
	has "log" "$(<"$W/node/n1/log")" "the credentials on disk have changed"
	agent_is n1 .contact true || fail "no contact"
}

test_kubernetes_people_see_pools_and_blocks()
{
	NODES=1 cluster_begin
	NODES=1 shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":1}'
	add n1 p1 rail0
	is "pools" admin get railpools
	has "pools" "$(tr -s ' ' <"$W/is")" "NAME SUBNET BLOCK SIZE AGE"
	has "pools" "$(tr -s ' ' <"$W/is")" "rail0 10.92.0.0/24 8 "
	is "blocks" admin get railblocks
	has "blocks" "$(tr -s ' ' <"$W/is")" "NAME NODE POOL START USED AGE"
	has "blocks" "$(tr -s ' ' <"$W/is")" "n1 rail0 10.92.0."
	is "heartbeats" admin -n railhead get lease n1
	has "heartbeats" "$(tr -s ' ' <"$W/is")" "n1 n1 "
}

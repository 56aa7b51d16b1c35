# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# server.sh: cases on a real API server: install, upgrade, rollback, removal. Sourced by run.sh.
#
# It starts once for all cases, because that takes some seconds. It has no controllers, so nothing starts pods. An agent runs in the sandbox, with what
# the release gives to a pod: its agent.json, and a token of its account.

AGENT_OF=/run/secrets/kubernetes.io/serviceaccount
server() { W=$W/kube "$HERE/../cluster-store/kube.sh" "$@"; }
k() { timeout 60 "$KUBE/kubectl" "$@"; }
helm() { timeout 100 "$HELM" "$@"; }
export KUBECONFIG=$W/kube/admin.kubeconfig
# ours: names of the objects of railhead
TYPES=crd,clusterrole,clusterrolebinding,validatingadmissionpolicy,validatingadmissionpolicybinding,flowschema,prioritylevelconfiguration,priorityclass
ours()
{
	k get "$TYPES" -o name | grep -i rail
	k get serviceaccount,configmap,daemonset,role,rolebinding,service,networkpolicy,network-attachment-definition -A -o name | grep rail
	k get railpools -o name
}

# server_begins [NAMESPACE...]: railhead has no object, and these namespaces exist
server_begins()
{
	local name
	if [ ! -e "$W/kube/ready" ]; then
		mkdir -p "$W/kube"
		(
			W=$W/kube
			certificates && certificate admin /O=system:masters/CN=admin 'extendedKeyUsage=clientAuth'
		) && server bare && k apply --server-side -f "$HERE/../cluster/multus.yaml" -f "$OPERATOR" >/dev/null &&
			k wait --for=condition=Established crd/network-attachment-definitions.k8s.cni.cncf.io crd/servicemonitors.monitoring.coreos.com \
				crd/prometheusrules.monitoring.coreos.com --timeout=60s >/dev/null &&
			touch "$W/kube/ready" || { fail "Kubernetes does not start"; exit 1; }
	fi
	helm list -A -q >"$W/releases" || fail "helm list"
	for name in railhead second; do
		! grep -qx "$name" "$W/releases" || helm uninstall "$name" -n "$(helm list -A -o json | jq -r --arg n "$name" '.[] | select(.name == $n).namespace')"
	done
	types_go || fail "the types stay"
	for name in railhead "$@"; do k get namespace "$name" >/dev/null 2>&1 || k create namespace "$name"; done
}
# A busy machine needs minutes for it. Helm would find a type that ends.
types_go()
{
	local types
	mapfile -t types < <(k get crd -o name | grep '\.railhead\.io$')
	[ ${#types[@]} != 0 ] || return 0
	k get railpools >/dev/null 2>&1 && k delete railpools,railblocks,railnodes --all
	k delete --ignore-not-found --wait=false "${types[@]}" && timeout 300 "$KUBE/kubectl" wait --for=delete --timeout=290s "${types[@]}"
}
server_ends()
{
	local name
	for name in apiserver etcd; do kill "$(<"$W/kube/$name.pid")"; done
}

# warnings: of the API server, as client-go logs them for helm. Its watches also log a "Warning" when helm ends them while they are read.
warnings() { grep ' warnings\.go:[0-9]*\] ' "$W/is"; }

# uid KIND NAME: another one is another object
uid() { k get "$@" -o 'jsonpath={.metadata.uid}'; }
# of_agents JSONPATH: of the DaemonSet
of_agents() { k -n railhead get daemonset railheadd -o "jsonpath={$1}"; }
RAILS=(-f "$HERE/values/rails.yaml")

# as_agent ARGUMENT...: kubectl, with the token of the agent
as_agent()
{
	k --token "$(<$AGENT_OF/token)" --kubeconfig <(kubeconfig_of_nobody) "$@"
}
kubeconfig_of_nobody()
{
	echo "{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: 'https://127.0.0.1:6443', certificate-authority: $W/kube/ca.pem}}],
		contexts: [{name: x, context: {cluster: c}}], current-context: x}"
}
# foreign [OPTION...]: the agent makes an object of another node
foreign()
{
	as_agent create "$@" -f - <<-'END'
	{apiVersion: railhead.io/v1alpha1, kind: RailNode, metadata: {name: gpu-2}, spec: {node: gpu-2}}
	END
}
# in_force NAMESPACE: the server learns of new roles and policies one by one, a moment after they were made. An agent that asks earlier is
# refused, and tries again.
in_force()
{
	local rights
	rights=$(as_agent -n "$1" auth can-i --list --no-headers) && [ "$rights" ] &&
		[ -z "$(comm -13 <(awk '{ print $1 }' <<<"$rights" | sort -u) <(rights_of "$1" | sort -u))" ] &&
		foreign --dry-run=server 2>&1 | grep -q "writes no object of node gpu-2"
}
# rights_of NAMESPACE: what the roles of the release name
rights_of()
{
	{
		k get clusterrole railheadd -o json
		k -n "$1" get role railheadd -o json
	} | jq -r '.rules[] | (.apiGroups[0] | if . == "" then "" else "." + . end) as $g | .resources[] |
		split("/") | .[0] + $g + (if .[1] then "/" + .[1] else "" end)'
}

# token_of NAMESPACE: what the release gives to a pod of the DaemonSet on the node host. The node is new: it has no blocks of an earlier case.
token_of()
{
	local uid
	rm -rf /var/lib/railhead /run/railhead
	k apply -f - >/dev/null <<-END
	{apiVersion: v1, kind: Node, metadata: {name: host}}
	---
	{apiVersion: v1, kind: Pod, metadata: {name: agent, namespace: $1}, spec: {nodeName: host, serviceAccountName: railheadd, containers: [{name: x, image: x}]}}
	END
	uid=$(uid -n "$1" pod agent) && mkdir -p $AGENT_OF /run/railhead &&
		k -n "$1" create token railheadd --bound-object-kind Pod --bound-object-name agent --bound-object-uid "$uid" >$AGENT_OF/token &&
		cp "$W/kube/ca.pem" $AGENT_OF/ca.crt && printf %s "$1" >$AGENT_OF/namespace &&
		k -n "$1" get configmap railheadd -o json | jq -r '.data["agent.json"]' >"$W/agent.json" || fail "the pod of the agent"
	eventually in_force "$1" || fail "rights and policies of the agent"
	trap 'k -n '"$1"' delete pod agent --force --grace-period=0' EXIT
}
# agent_of NAMESPACE: railheadd, as that pod would start it.
agent_of()
{
	token_of "$1"
	env RAILHEAD_NODE=host KUBERNETES_SERVICE_HOST=127.0.0.1 KUBERNETES_SERVICE_PORT=6443 \
		"$BIN/railheadd" --config "$W/agent.json" >"$W/agent.log" 2>&1 </dev/null &
	echo $! >"$W/agent.pid"
	trap 'kill "$(<"$W/agent.pid")"; k -n '"$1"' delete pod agent --force --grace-period=0' EXIT
}
# agent_has POOL: a block of it, which is written in the cluster
agent_has()
{
	"$BIN/railctl" cluster status --json | jq -e --arg n "$1" 'any(.pools[]; .name == $n)' &&
		[ "$(k get railblocks -o json | jq -r --arg p "$1" '[.items[].spec | select(.pool == $p).node] | unique[]')" = host ]
}

# An agent reaches its store and claims blocks, by the rights and policies of its release, in whatever namespace that is.
test_server_an_agent_works_with_its_release()
{
	server_begins team-net team-a team-b
	is "install" helm install railhead "$CHART" -n team-net "${RAILS[@]}"
	eq "warnings" "$(warnings)" ""
	agent_of team-net
	eventually agent_has rail0 || fail "the agent: $(tail -n 3 "$W/agent.log")"
	# A new type may answer "429 storage is (re)initializing" for a moment. A missing right would say this:
	hasnt "the agent" "$(<"$W/agent.log")" forbidden
	hasnt "the agent" "$(<"$W/agent.log")" denied
	# It writes in the name of its node only.
	isnt "another node" foreign
	has "another node" "$(<"$W/is")" "node host writes no object of node gpu-2"
	isnt "secrets" as_agent -n team-net get secrets
	has "secrets" "$(<"$W/is")" forbidden
}

# slice NODE DRIVER: as an object
slice() { echo "{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: $1-$2}, spec: {driver: $2, nodeName: $1, pool: {name: $1, generation: 1, resourceSliceCount: 1}, devices: [{name: rail0}]}}"; }
# The driver of a node writes what that node has. The API server takes all classes of the chart without a change.
test_server_a_driver_writes_slices_of_its_node_only()
{
	server_begins team-a
	is "install" helm install railhead "$CHART" -n railhead -f "$HERE/values/claims.yaml"
	eq "warnings" "$(warnings)" ""
	eq "the extended resource" "$(k get deviceclass rails -o 'jsonpath={.spec.extendedResourceName}')" railhead.io/rails
	token_of railhead
	eventually slice_of_another_is_refused || fail "the policy is not in force: $(<"$W/is")"
	isnt "another driver" as_agent create -f - <<<"$(slice host gpu.nvidia.com)"
	has "another driver" "$(<"$W/is")" "only slices of the driver railhead.io and of the node host"
	is "its own" as_agent create -f - <<<"$(slice host railhead.io)"
	is "one of another node" k create -f - <<<"$(slice gpu-2 railhead.io)"
	isnt "removal of it" as_agent delete resourceslice gpu-2-railhead.io
	is "removal of its own" as_agent delete resourceslice host-railhead.io
	is "a claim is read" as_agent -n team-a get resourceclaims/x --ignore-not-found
	isnt "all claims are listed" as_agent get resourceclaims -A
	is "a pod is read" as_agent -n team-a get pods/x --ignore-not-found
	isnt "all pods are listed" as_agent get pods -A
	isnt "a pod is changed" as_agent -n railhead label pod agent a=b
	# No pod has it: the kubelet asks before the node authorizer knows the pod.
	is "a kubelet reads a claim" k --as system:node:host --as-group system:nodes -n team-a get resourceclaims/x --ignore-not-found
	isnt "a kubelet lists all claims" k --as system:node:host --as-group system:nodes get resourceclaims -A
	is "the other one goes" k delete resourceslice gpu-2-railhead.io
}
# allocated NAME NODE: a claim with the rail0 of this node
allocated()
{
	k create -f - <<<"{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: $1, namespace: team-a}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: rail}}]}}}" &&
		k -n team-a patch resourceclaim "$1" --subresource=status --type=merge -p '{"status": {"allocation": {"devices": {"results": [
			{"request": "r", "driver": "railhead.io", "pool": "'"$2"'", "device": "rail0"}]}, "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [
			{"key": "metadata.name", "operator": "In", "values": ["'"$2"'"]}]}]}}}}'
}
# shown WHO NAME NODE DRIVER [MORE]: the driver's part of the claim's status
shown()
{
	local who=$1
	shift
	$who apply --server-side --subresource=status --field-manager=railhead.io -f - <<<"{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: $1, namespace: team-a},
		status: {devices: [{driver: $3, pool: $2, device: rail0, networkData: {interfaceName: rail0, ips: [10.0.0.1/24]}}]${4:+, $4}}}"
}
as_service() { k --as railhead:node:host --as-group railhead:agents --as-group system:authenticated "$@"; }
# In the status of claims of its node it writes its devices, and nothing else. Of a token the API server itself knows the node (1.36), of a certificate the policy.
test_server_a_driver_writes_its_part_of_a_status()
{
	local who
	server_begins team-a
	is "install" helm install railhead "$CHART" -n railhead -f "$HERE/values/claims.yaml"
	token_of railhead
	is "a claim" allocated mine host
	is "a claim" allocated other gpu-2
	eventually status_of_another_is_refused || fail "the policy is not in force: $(<"$W/is")"
	for who in as_agent as_service; do
		is "its own" shown $who mine host railhead.io
		eq "the address" "$(k -n team-a get resourceclaim mine -o 'jsonpath={.status.devices[0].networkData.ips[0]}')" 10.0.0.1/24
		isnt "another node" shown $who other gpu-2 railhead.io
		isnt "another driver" shown $who mine host gpu.nvidia.com
		isnt "its users" shown $who mine host railhead.io 'reservedFor: [{resource: pods, name: x, uid: x}]'
		is "it goes" k -n team-a patch resourceclaim mine --subresource=status --type=merge -p '{"status": {"devices": null}}'
	done
	is "the claims go" k -n team-a delete resourceclaims --all
}
status_of_another_is_refused()
{
	! shown as_service other gpu-2 railhead.io >"$W/is" 2>&1 && grep -q 'only claims with rails of the node host' "$W/is"
}
slice_of_another_is_refused()
{
	! as_agent create --dry-run=server -f - <<<"$(slice gpu-2 railhead.io)" >"$W/is" 2>&1 && grep -q 'of the node host' "$W/is"
}

test_server_accepts_each_set_of_values()
{
	local values
	server_begins team-a team-b
	is "types" k apply --server-side -f "$TOP/packaging/kubernetes/crds"
	is "types" k wait --for=condition=Established crd/railpools.railhead.io --timeout=60s
	for values in rails all lean claims; do
		is "$values" helm install railhead "$CHART" -n railhead -f "$HERE/values/$values.yaml" --dry-run=server
		eq "warnings of $values" "$(warnings)" ""
	done
	eq "left" "$(ours | grep -v '^customresourcedefinition')" ""
}

# The first command of README.md, as it stands there. railhead is then in the namespace that it names. The cluster suite runs all of them.
test_server_the_commands_of_readme()
{
	local line lines
	server_begins
	mapfile -t lines < <(awk -v title='All rails by one line on Kubernetes' '$0 == "## " title { in_it = 1; next } /^## / { in_it = 0 }
		in_it && /^```sh$/ { code = 1; next } /^```$/ { code = 0 } in_it && code' "$TOP/README.md")
	eq "commands" "${#lines[@]}" 7
	cd "$TOP" || exit 2
	is "${lines[0]}" eval "${lines[0]}"
	eq "pools of the classes" "$(k get deviceclasses -o json | jq -r '[.items[].spec.config[0].opaque.parameters.network.ipam.pool] | unique | join(" ")')" 'rail{n}-*'
	eq "classes" "$(k get deviceclasses -o name | sed 's,.*/,,' | xargs)" "half rail rails vf vfs"
}

# The values for eight networks of Multus.
test_server_eight_rails()
{
	server_begins training inference
	is "install" helm install railhead "$CHART" -n railhead -f "$TOP/examples/helm/eight-rails.yaml"
	eq "pools" "$(k get railpools -o name | wc -l)" 8
	eq "networks" "$(k get network-attachment-definitions -A -o name | grep -c '/rail[0-7]$')" 16
}

# The types of the Prometheus Operator know each key: they would drop others without a word.
test_server_monitoring_is_stored_as_it_is()
{
	server_begins
	is "install" helm install railhead "$CHART" -n railhead -f "$HERE/values/all.yaml" --set metrics.rules.enabled=true,metrics.dashboard.enabled=true
	helm get manifest railhead -n railhead >"$W/manifest" || fail "the manifest"
	lines "$W/manifest" | jq -S 'select(.kind == "ServiceMonitor" or .kind == "PrometheusRule") | .spec' >"$W/sent"
	k -n railhead get prometheusrule/railhead servicemonitor/railheadd -o json | jq -S '.items[].spec' >"$W/stored"
	eq "objects" "$(jq -s length "$W/stored")" 2
	same "specs" "$W/sent" "$W/stored"
}

test_server_refuses_a_second_release()
{
	server_begins team-net
	is "install" helm install railhead "$CHART" -n railhead
	isnt "second" helm install second "$CHART" -n team-net
	has "second" "$(<"$W/is")" 'current value is "railhead"'
}

# The API server refuses changes that a pool cannot have. The release goes on when the values are right again.
test_server_refuses_a_wrong_pool()
{
	local before
	server_begins
	is "install" helm install railhead "$CHART" -n railhead --set pools.rail0.subnet=10.10.0.0/16,pools.rail0.blockSize=16
	before=$(uid railpool rail0)
	isnt "subnet" helm upgrade railhead "$CHART" -n railhead --set pools.rail0.subnet=10.20.0.0/16,pools.rail0.blockSize=16
	has "subnet" "$(<"$W/is")" "subnet never changes: make another pool"
	isnt "block size" helm upgrade railhead "$CHART" -n railhead --set pools.rail1.subnet=10.20.0.0/16,pools.rail1.blockSize=3
	has "block size" "$(<"$W/is")" "spec.blockSize: Unsupported value: 3"
	is "again" helm upgrade railhead "$CHART" -n railhead --set pools.rail0.subnet=10.10.0.0/16,pools.rail0.blockSize=16,pools.rail0.gateway=10.10.0.1
	eq "the pool" "$(uid railpool rail0) $(k get railpool rail0 -o 'jsonpath={.spec.gateway}')" "$before 10.10.0.1"
}

# Helm updates no types. Agents of this release would find older ones.
test_server_an_upgrade_wants_the_types_of_its_release()
{
	server_begins
	is "install" helm install railhead "$CHART" -n railhead
	is "older types" k patch crd railblocks.railhead.io --type=json -p '[{"op":"remove","path":"/spec/versions/0/selectableFields"}]'
	isnt "upgrade" helm upgrade railhead "$CHART" -n railhead
	has "upgrade" "$(<"$W/is")" "the type railblocks.railhead.io in this cluster is of another release"
	has "upgrade" "$(<"$W/is")" "helm show crds CHART | kubectl apply --server-side --force-conflicts -f -"
	helm show crds "$CHART" >"$W/types" || fail "show crds"
	is "types" k apply --server-side --force-conflicts -f "$W/types"
	is "upgrade" helm upgrade railhead "$CHART" -n railhead
}

# An agent, pools and blocks survive all changes of the release.
test_server_upgrade_rollback_removal()
{
	local pool blocks first second
	server_begins team-a team-b
	is "install" helm install railhead "$CHART" -n railhead "${RAILS[@]}" --set image.tag=v1
	first=$(of_agents .spec.template)
	agent_of railhead
	eventually agent_has rail0 || fail "the agent: $(tail -n 3 "$W/agent.log")"
	pool=$(uid railpool rail0) blocks=$(k get railblocks -o 'jsonpath={.items[*].metadata.uid}')

	is "upgrade" helm upgrade railhead "$CHART" -n railhead "${RAILS[@]}" --set image.tag=v2,agent.config.nodeHold=900
	second=$(of_agents .spec.template)
	has "upgrade" "$second" railhead-plugins:v2
	eq "agent.json" "$(k -n railhead get configmap railheadd -o 'jsonpath={.data.agent\.json}' | jq -c .)" '{"devicePlugin":false,"kubernetes":{},"nodeHold":900}'
	[ "$(jq -c .metadata.annotations <<<"$first")" != "$(jq -c .metadata.annotations <<<"$second")" ] || fail "agents do not start with the new agent.json"
	is "rollback" helm rollback railhead 1 -n railhead
	eq "rollback" "$(of_agents .spec.template)" "$first"

	is "remove plugins" helm upgrade railhead "$CHART" -n railhead --reset-then-reuse-values --set plugins.remove=true
	has "notes" "$(<"$W/is")" "helm -n railhead uninstall railhead"
	eq "arguments" "$(of_agents '.spec.template.spec.initContainers[0].args')" '["--remove"]'
	is "uninstall" helm uninstall railhead -n railhead
	has "uninstall" "$(<"$W/is")" "[RailPool] rail0"
	eq "left" "$(ours | sort | xargs)" "$(printf 'customresourcedefinition.apiextensions.k8s.io/%s.railhead.io ' \
		railblocks railnodes railpools railreserved)railpool.railhead.io/rail0 railpool.railhead.io/rail0-v6"
	eq "pool and blocks" "$(uid railpool rail0) $(k get railblocks -o 'jsonpath={.items[*].metadata.uid}')" "$pool $blocks"
	# A new release goes on with them.
	is "install" helm install railhead "$CHART" -n railhead "${RAILS[@]}"
	eq "pool and blocks" "$(uid railpool rail0) $(k get railblocks -o 'jsonpath={.items[*].metadata.uid}')" "$pool $blocks"
}

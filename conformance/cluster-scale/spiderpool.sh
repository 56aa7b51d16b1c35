# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# spiderpool.sh: Spiderpool as a peer. Sourced by run.sh.
#
# Its plugin, an agent for each node, its controller, and the types and rights of its chart are real. The controller holds its lease, and
# the API server asks its webhook about each pool. Stand-ins: nodes and pods are objects without a kubelet, and a pod has no owner. The
# networks of a pod are names in its annotation, of which an agent reads no more. No controller deletes the endpoint of a deleted pod.
# Different from its chart: IPv6, SpiderSubnet, sysctls and metrics are off. Detection of conflicts and gateways is off in both.

spiderpool_install()
{
	k apply -f "$PEERS/spiderpool" -f - >/dev/null <<-'END' || broken "Spiderpool cannot be set up"
	{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: default}}
	---
	{apiVersion: v1, kind: ServiceAccount, metadata: {name: spiderpool-agent, namespace: railhead}}
	---
	{apiVersion: v1, kind: ServiceAccount, metadata: {name: spiderpool-controller, namespace: railhead}}
	---
	apiVersion: rbac.authorization.k8s.io/v1
	kind: ClusterRoleBinding
	metadata: {name: spiderpool-admin}
	roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: spiderpool-admin}
	subjects:
	  - {kind: ServiceAccount, name: spiderpool-agent, namespace: railhead}
	  - {kind: ServiceAccount, name: spiderpool-controller, namespace: railhead}
	END
	account spiderpool-agent
	account spiderpool-controller
	mkdir -p "$W/spiderpool.tls"
	(
		W=$W/kube
		# shellcheck source=conformance/cluster-store/certificates.sh
		. "$HERE/../cluster-store/certificates.sh"
		certificate spiderpool /CN=spiderpool-controller 'subjectAltName=IP:127.0.0.1,DNS:localhost
extendedKeyUsage=serverAuth'
	) && cp "$W/kube/spiderpool.pem" "$W/spiderpool.tls/tls.crt" && cp "$W/kube/spiderpool.key" "$W/spiderpool.tls/tls.key" ||
		broken "no certificate for the webhook of Spiderpool"
}

# spiderpool_webhooks: as in its chart, with an address in place of a Service
spiderpool_webhooks()
{
	jq -n --arg ca "$(base64 -w0 "$W/kube/ca.pem")" '("mutate", "validate") as $verb | {apiVersion:"admissionregistration.k8s.io/v1",
		kind:(if $verb == "mutate" then "MutatingWebhookConfiguration" else "ValidatingWebhookConfiguration" end),
		metadata:{name:"spiderpool-controller"},
		webhooks:["spiderippool", "spiderreservedip" | {name:"\(.).spiderpool.spidernet.io",admissionReviewVersions:["v1"],
			sideEffects:"None",failurePolicy:"Fail",
			clientConfig:{url:"https://127.0.0.1:5722/\($verb)-spiderpool-spidernet-io-v2beta1-\(.)",caBundle:$ca},
			rules:[{apiGroups:["spiderpool.spidernet.io"],apiVersions:["v2beta1"],resources:["\(.)s"],
				operations:(["CREATE", "UPDATE"] + if $verb == "validate" and . == "spiderippool" then ["DELETE"] else [] end)}]}]}'
}

# spiderpool_conf SOCKET: the ConfigMap of its chart
spiderpool_conf()
{
	cat <<-END
	ipamUnixSocketPath: $1
	enableIPv4: true
	enableIPv6: false
	enableStatefulSet: true
	enableKubevirtStaticIP: true
	enableCleanOutdatedEndpoint: false
	enableSpiderSubnet: false
	enableAutoPoolForApplication: false
	enableIPConflictDetection: false
	enableGatewayDetection: false
	enableValidatingResourcesDeletedWebhook: false
	clusterSubnetDefaultFlexibleIPNumber: 0
	tuneSysctlConfig: false
	podResourceInject: {enabled: false, namespacesExclude: [], namespacesInclude: []}
	iaasNetworkProvider: {serverUrl: ""}
	END
}

# spiderpool_program NAME POD PORT FOLDER OPTION...: start it; its log and its configuration are in FOLDER
spiderpool_program()
{
	local name=$1 pod=$2 port=$3 folder=$4
	shift 4
	KUBECONFIG=$W/kube/$name.kubeconfig SPIDERPOOL_POD_NAMESPACE=railhead SPIDERPOOL_POD_NAME=$pod SPIDERPOOL_NODE_NAME=$pod \
		SPIDERPOOL_HEALTH_PORT=$port SPIDERPOOL_GOPS_LISTEN_PORT='' \
		"$PEERS/bin/$name" daemon --config-path="$folder/conf.yml" "$@" >"$folder/log" 2>&1 &
	AGENTS+=($!)
}

# spiderpool_pods PREFIX NODES: a pod on each node, PREFIX-N on node-N
spiderpool_pods()
{
	jq -n --arg prefix "$1" --argjson nodes "$2" --argjson rails $RAILS 'range($nodes) | {apiVersion:"v1",kind:"Pod",
		metadata:{name:"\($prefix)-\(.)",namespace:"default",
			annotations:{"k8s.v1.cni.cncf.io/networks":([range($rails) | "rail\(.)"] | join(","))}},
		spec:{nodeName:"node-\(.)",automountServiceAccountToken:false,containers:[{name:"pod",image:"none"}]}}' |
		k create -f - >/dev/null || broken "no pods"
}

# spiderpool_pool NAME SUBNET ADDRESSES
spiderpool_pool()
{
	jq -n --arg n "$1" --arg net "$2" --arg last "$2.$((32 + ($3 - 1) / 256)).$((($3 - 1) % 256))" '{
		apiVersion:"spiderpool.spidernet.io/v2beta1",kind:"SpiderIPPool",metadata:{name:$n},spec:{subnet:"\($net).0.0/16",ips:["\($net).32.0-\($last)"]}}'
}

# first_address NODE: of the agent on that node, for the pod warm-NODE. An agent reads Pods, pools and endpoints from caches, which it fills
# when it first needs them. It has seen the pods of the bench when it sees this one.
first_address()
{
	curl -sf --max-time 60 --unix-socket "$W/spiderpool/$1/run/spiderpool.sock" -H 'Content-Type: application/json' \
		-d '{"containerID":"warm","ifName":"net1","netNamespace":"/run/netns/pod","podNamespace":"default","podName":"warm-'"$1"'",
			"podUID":"warm","defaultIPv4IPPool":["warm"]}' http://agent/v1/ipam/ip >"$W/first" 2>&1
}

# spiderpool_controller: with the webhook that the API server asks
spiderpool_controller()
{
	mkdir -p "$W/spiderpool/controller"
	spiderpool_conf /run/none >"$W/spiderpool/controller/conf.yml"
	spiderpool_program spiderpool-controller controller 5720 "$W/spiderpool/controller" \
		--tls-server-cert="$W/spiderpool.tls/tls.crt" --tls-server-key="$W/spiderpool.tls/tls.key"
	spiderpool_webhooks | k apply -f - >/dev/null || broken "no webhooks"
}

# spiderpool_pools NAME NODES LIMIT: a pool for each rail that fits exactly, its configuration, and the pool warm; when the controller, as
# the leader, has counted their addresses
spiderpool_pools()
{
	local rail log=$W/spiderpool/controller/log
	spiderpool_pool warm 10.99 "$2" >"$W/$1.pools"
	for ((rail = 0; rail < RAILS; rail++)); do
		spiderpool_pool "$1-$rail" 10.$((rail + 100)) "$2" >>"$W/$1.pools"
		jq -n --arg pool "$1-$rail" '{cniVersion:"1.0.0",name:"rails",type:"macvlan",ipam:{type:"spiderpool",default_ipv4_ippool:[$pool],
			ipam_unix_socket_path:"/run/railhead/spiderpool.sock",log_file_path:"/run/railhead/spiderpool.log"}}' >"$W/$1.$rail"
	done
	until k apply -f "$W/$1.pools" >/dev/null 2>"$W/apply"; do
		[ $SECONDS -lt "$3" ] || broken "no pool of Spiderpool: $(tail -n 1 "$W/apply"); $(tail -n 2 "$log")"
		sleep 0.5
	done
	until [ "$(k get spiderippools -o json | jq '[.items[] | select(.status.totalIPCount > 0)] | length')" = $((RAILS + 1)) ]; do
		[ $SECONDS -lt "$3" ] || broken "the controller of Spiderpool does nothing: $(tail -n 2 "$log")"
		sleep 0.5
	done
}

# spiderpool_agents NODES LIMIT: an agent for each node; when their caches are filled
spiderpool_agents()
{
	local i folder=$W/spiderpool
	for ((i = 0; i < $1; i++)); do
		mkdir -p "$folder/$i/lib" "$folder/$i/run"
		spiderpool_conf "$folder/$i/run/spiderpool.sock" >"$folder/$i/conf.yml"
		spiderpool_program spiderpool-agent "node-$i" $((15000 + i)) "$folder/$i"
	done
	for ((i = 0; i < $1; i++)); do
		until first_address "$i"; do
			[ $SECONDS -lt "$2" ] || broken "the agent of Spiderpool on node $i gives no address: $(tail -n 2 "$folder/$i/log")"
			sleep 0.1
		done
	done
}

spiderpool_begin() # NAME NODES
{
	local limit=$((SECONDS + 600))
	AGENTS=()
	rm -rf "$W/spiderpool"
	nodes_of "$2"
	spiderpool_controller
	spiderpool_pools "$1" "$2" $limit
	spiderpool_pods pod "$2"
	spiderpool_pods warm "$2"
	spiderpool_agents "$2" $limit
}

# spiderpool_terminate: what a user does before a kubelet calls DEL. The pods stay, because no kubelet says that they ended.
spiderpool_terminate() { k -n default delete pods --all --wait=false >/dev/null || broken "the pods cannot be deleted"; }

# spiderpool_left NAME: addresses that its pools still have. Its DEL says "done" also when it failed.
spiderpool_left()
{
	k get spiderippools -o json | jq --arg p "$1-" '[.items[] | select(.metadata.name | startswith($p)) | .status.allocatedIPCount // 0] | add'
}

# spiderpool_end: the programs do not end by themselves, and what needs them to be deleted loses its finalizers
spiderpool_end()
{
	kill -KILL "${AGENTS[@]}"
	wait "${AGENTS[@]}" 2>/dev/null
	AGENTS=()
	spiderpool_webhooks | k delete -f - >/dev/null
	k -n default delete pods --all --force --grace-period=0 >/dev/null 2>&1
	k -n default get spiderendpoints,spiderippools -o json | jq 'del(.items[].metadata.finalizers)' | k replace -f - >/dev/null
	k -n default delete spiderendpoints --all >/dev/null && k delete spiderippools --all >/dev/null ||
		broken "what Spiderpool leaves cannot be deleted"
}

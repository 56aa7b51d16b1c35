# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# agent.sh: the agent of Spiderpool, which its coordinator asks for each pod, with an API server and etcd. Sourced by run.sh.
#
# The SpiderCoordinator has the defaults of the chart. Its status, which the controller would write, is written here. The Pods have no
# kubelet, and no webhook is asked.

AGENT_SOCKET=/run/spidernet/spiderpool.sock # the coordinator knows no other
AGENT_WORK=$W/agent

# agent_answers: for a pod
agent_answers()
{
	curl -sf --max-time 5 --unix-socket $AGENT_SOCKET -X GET -H 'Content-Type: application/json' \
		-d '{"podName":"a","podNamespace":"default"}' http://agent/v1/coordinator/config >"$AGENT_WORK/answer" &&
		jq -e '.tunePodRoutes' "$AGENT_WORK/answer" >/dev/null
}

agent_objects()
{
	cat <<-'END'
	{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: default}}
	---
	apiVersion: spiderpool.spidernet.io/v2beta1
	kind: SpiderCoordinator
	metadata: {name: default}
	spec: {mode: auto, podCIDRType: none, tunePodRoutes: true, hijackCIDR: [169.254.0.0/16]}
	---
	apiVersion: v1
	kind: Pod
	metadata: {name: a, namespace: default}
	spec: {nodeName: node-a, automountServiceAccountToken: false, containers: [{name: pod, image: none}]}
	---
	apiVersion: v1
	kind: Pod
	metadata: {name: b, namespace: default}
	spec: {nodeName: node-b, automountServiceAccountToken: false, containers: [{name: pod, image: none}]}
	END
}
agent_conf()
{
	cat <<-END
	ipamUnixSocketPath: $AGENT_SOCKET
	enableIPv4: true
	enableIPv6: true
	tuneSysctlConfig: false
	podResourceInject: {enabled: false, namespacesExclude: [], namespacesInclude: []}
	iaasNetworkProvider: {serverUrl: ""}
	END
}
agent_kubectl() { HOME=$AGENT_WORK "$KUBE/kubectl" --kubeconfig "$AGENT_WORK/admin.kubeconfig" "$@"; }

agent_cluster()
{
	(
		W=$AGENT_WORK
		# shellcheck source=conformance/cluster-store/certificates.sh
		. "$HERE/../cluster-store/certificates.sh"
		certificates && certificate admin /O=system:masters/CN=admin 'extendedKeyUsage=clientAuth'
	) && W=$AGENT_WORK "$HERE/../cluster-store/kube.sh" bare >&2 || broken "the API server does not start"
	agent_kubectl apply -f "$PEERS/spiderpool" >/dev/null || broken "the types of Spiderpool"
	agent_objects >"$AGENT_WORK/objects"
	eventually agent_kubectl apply -f "$AGENT_WORK/objects"
	agent_kubectl patch spidercoordinator default --subresource=status --type=merge -p '{"status":{"phase":"Synced",
		"overlayPodCIDR":["10.244.0.0/16","fd10:244::/48"],"serviceCIDR":["10.96.0.0/16"]}}' >/dev/null || broken "no status"
}

agent_begin()
{
	mkdir -p "$AGENT_WORK" "${AGENT_SOCKET%/*}"
	agent_cluster
	agent_conf >"$AGENT_WORK/conf.yml"
	KUBECONFIG=$AGENT_WORK/admin.kubeconfig SPIDERPOOL_POD_NAMESPACE=default SPIDERPOOL_POD_NAME=agent SPIDERPOOL_NODE_NAME=node-a \
		SPIDERPOOL_HEALTH_PORT=5710 SPIDERPOOL_GOPS_LISTEN_PORT='' \
		"$PEERS/bin/spiderpool-agent" daemon --config-path="$AGENT_WORK/conf.yml" >"$AGENT_WORK/log" 2>&1 &
	AGENT=$!
	eventually agent_answers || broken "the agent does not answer: $(tail -n 3 "$AGENT_WORK/log")"
}
agent_end()
{
	kill -KILL "$AGENT"
	wait "$AGENT" 2>/dev/null
	W=$AGENT_WORK "$HERE/../cluster-store/kube.sh" kill
}

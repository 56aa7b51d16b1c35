# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# hostveth.sh: the key host: how the kubelet reaches a pod of rails, and such a pod its node and services. Sourced by run.sh.
#
# The rails of a node are eth1 and eth2. The node has an address on the first one, so that packets to a macvlan there leave by this card
# and are lost. Services are those of the real kube-proxy. Pods whose only interfaces are rails are those of examples/multus/all-rails-alone.yaml.

SERVICES=10.96.0.0/12 NODE_NETWORK=10.77.0.0/24 POD_NETWORK=10.244.0.0/16

# pods_of_the_other N: the range of pods of the other node, and the way to it, as the network of a cluster has it.
pods_of_the_other() { echo "10.244.$((16 * (3 - $1))).0/20 via 10.77.0.$((4 - $1))"; }
# rails_begin: two rails on each node, kube-proxy, and the service "web" of the pods with this label.
rails_begin()
{
	local n
	trap rails_end EXIT
	for n in $NODES; do
		node "$n" mkdir -p /etc/railhead
		jq '.rails |= .[:2]' "$TOP/examples/rails/rails.json" | node "$n" tee /etc/railhead/rails.json >/dev/null
		node "$n" ip addr add "10.10.200.$n/16" dev eth1
		# shellcheck disable=SC2046
		node "$n" ip route add $(pods_of_the_other "$n")
		kubeconfig kube-proxy >"$(node_root "$n")/etc/kube-proxy.kubeconfig"
		is 'kube-proxy' service "$n" kube-proxy start
	done
	jq -n '{apiVersion: "v1", kind: "Service", metadata: {name: "web"}, spec: {selector: {app: "web"}, ports: [{port: 80, targetPort: 8080}]}}' |
		kn create -f - >/dev/null || fail 'test error: the service'
	WEB=$(kn get service web -o jsonpath='{.spec.clusterIP}')
}
rails_end()
{
	local n
	kn delete pod --all --grace-period=1 --wait --timeout=${LONG}s >/dev/null 2>&1
	k -n kube-system delete net-attach-def --all >/dev/null 2>&1
	for n in $NODES; do
		service "$n" kube-proxy stop
		node "$n" nft flush ruleset
		node "$n" ip addr del "10.10.200.$n/16" dev eth1
		# shellcheck disable=SC2046
		node "$n" ip route del $(pods_of_the_other "$n")
		node "$n" rm -f /etc/railhead/rails.json
		eventually no_ways "$n" || fail "n$n: $(ways "$n")"
	done
}
# ways N: the pairs of the node, and its routes to pods by them.
ways() { node "$1" sh -c 'ip -br link show type veth | grep -E "^veth[0-9a-f]{11}@"; ip route | grep 169.254.113.2'; }
no_ways() { [ -z "$(ways "$1")" ]; }
pairs() { ways "$1" | grep -c '^veth'; }
one_pair() { [ "$(pairs "$NODE")" = 1 ]; }

# alone FILTER: the objects of the example, with the nodes and pods of this cluster in "routes" as its comment says, changed by a jq filter.
alone()
{
	sed "s,\"$SERVICES\",&\, \"$NODE_NETWORK\"\, \"$POD_NETWORK\"," "$TOP/examples/multus/all-rails-alone.yaml" >"$W/alone.yaml"
	kn_apply "$W/alone.yaml" "$1" >/dev/null || fail 'test error: all-rails-alone.yaml'
}
# alone_network NAME [FILTER]: the network of the example under this name, its configuration changed by a jq filter.
alone_network()
{
	alone 'select(.kind != "Pod") | .metadata.name = "'"$1"'" | .spec.config |= (fromjson | .name = "'"$1"'" | '"${2-.}"' | tojson)'
}
# web NAME NETWORK [FILTER]: a pod of the service that has only these rails. The kubelet asks it by HTTP and by TCP, and it answers with its name.
web() { pod "$1" '' "$(asked_by_kubelet "$1" '') | .metadata.annotations = {\"v1.multus-cni.io/default-network\": \"$2\"} | ${3-.}"; }
asked_by_kubelet() # NAME ADDRESS: of the pod, where it answers; none: by each
{
	local at
	at=$(jq -cn --arg host "$2" '{port: 8080} + (if $host == "" then {} else {$host} end)')
	cat <<-EOF
	.metadata.labels.app = "web" | .spec.containers[0] += {command: ["sh", "-c", "echo I am $1 >/tmp/index.html; exec busybox httpd -f -h /tmp -p ${2:+$2:}8080"],
		readinessProbe: {httpGet: ($at + {path: "/"}), periodSeconds: 1, timeoutSeconds: 10},
		livenessProbe: {tcpSocket: $at, periodSeconds: 1, timeoutSeconds: 10}}
	EOF
}
# fetches NAME ADDRESS: what a pod gets from there by HTTP, or why not.
fetches() { kn exec "$1" -- wget -T 20 -q -O - "http://$2/" 2>&1; }
answered() { [ "$(fetches "$1" "$WEB")" = "I am $2" ]; }
way() { inside "$1" ip -j route get "$2" | jq -r '.[0].dev'; }

# Nothing of it works without the key, in the same network.
test_kubelet_probes_node_and_services_of_a_pod_of_rails_alone()
{
	local at p
	rails_begin
	example_pools rail0 rail1
	alone .
	web near all-rails-alone
	NODE=$((3 - NODE)) web far all-rails-alone
	running rails-alone near far
	at=$(kn get pod near -o jsonpath='{.status.podIP}')
	eq 'interfaces' "$(inside near ip -j link | jq -r '[.[].ifname] | sort | join(" ")')" 'eth0 eth0r1 lo veth0'
	has 'the address of the pod is that of its first rail' "$at" "10.10.$NODE."
	eq 'that of its second rail' "$(status near '[.[] | select(.interface == "eth0r1").ips[]] | map(startswith("10.201.")) | all')" true
	is 'the node reaches it' node "$NODE" busybox wget -q -T 20 -O - "http://$at:8080/"
	reaches near "10.77.0.$((NODE + 1))"
	reaches near "10.10.200.$NODE"
	eq 'its way to services' "$(way near "$WEB")" veth0
	for p in near far; do eventually answered near $p; done
	has 'the API server' "$(fetches near 10.96.0.1:443)" '400 Bad Request'
	# Each node has an address on the rail, so the other node and ordinary pods of both reach it, too: docs/rails.md.
	is 'the other node reaches it' node "$((3 - NODE))" busybox wget -q -T 20 -O - "http://$at:8080/"
	reaches near "10.77.0.$((3 - NODE + 1))"
	pod plain ''
	NODE=$((3 - NODE)) pod elsewhere ''
	running plain elsewhere
	for p in plain elsewhere; do
		has "$p reaches it" "$(fetches "$p" "$at:8080")" 'I am near'
		eventually answered "$p" near
		eventually answered "$p" far
	done
	eq 'restarts of their containers' "$(kn get pods -o json | jq '[.items[].status.containerStatuses[].restartCount] | add')" 0
	delete near rails-alone plain elsewhere
	eventually no_ways "$NODE"

	alone_network without 'del(.host)'
	web lost without
	event lost 'Readiness probe failed'
	event lost 'Liveness probe failed'
	at=$(kn get pod lost -o jsonpath='{.status.podIP}')
	has 'its address' "$at" "10.10.$NODE."
	eq 'pairs' "$(pairs "$NODE")" 0
	isnt 'the node reaches it' node "$NODE" busybox wget -q -T 2 -O - "http://$at:8080/"
	isnt 'it reaches its node' node_answers lost
}
node_answers() { inside "$1" busybox ping -c 1 -W 2 "10.10.200.$NODE"; }

# The usual form: the pod has the cluster's network, too, but it serves at the address of its rail only.
# quick: thin
test_kubelet_probes_the_rail_of_a_pod_beside_the_clusters_network()
{
	rails_begin
	example_pools rail0
	nad with "$(macvlan with rail0 ".capabilities = {ips: true} | .routing = \"rail\" | .host = {veth: true, routes: [\"$SERVICES\", \"$NODE_NETWORK\"]}")"
	nad without "$(macvlan without rail0 '.capabilities = {ips: true} | .routing = "rail"')"
	at_rail reached with 77
	at_rail lost without 78
	running reached
	event lost 'Readiness probe failed'
	event lost 'Liveness probe failed'
	eq 'interfaces' "$(inside reached ip -j link | jq -r '[.[].ifname] | sort | join(" ")')" 'eth0 lo net1 veth0'
	eq 'pairs' "$(pairs "$NODE")" 1
	reaches reached "10.77.0.$((NODE + 1))"
	eq 'its way to services' "$(way reached "$WEB")" veth0
	eq 'that of its other interface' "$(inside reached ip -j route get "$WEB" from "$(kn get pod reached -o jsonpath='{.status.podIP}')" | jq -r '.[0].dev')" eth0
	has 'the API server' "$(fetches reached 10.96.0.1:443)" '400 Bad Request'
	audit
}
at_rail() # NAME NETWORK HOST: it asks for this address of rail 0
{
	pod "$1" "[{\"name\": \"$2\", \"ips\": [\"10.10.$NODE.$3\"]}]" "$(asked_by_kubelet "$1" "10.10.$NODE.$3")"
}

# The only address of each rail goes to the next pod of this name, which starts while the old one is still there.
test_pod_of_rails_alone_is_deleted_by_force_and_made_anew()
{
	local i at id
	rails_begin
	pool "$NODE" rail0 --subnet 10.10.0.0/16 --range "10.10.$NODE.9" --gateway 10.10.0.1
	pool "$NODE" rail1 --subnet 10.201.0.0/16 --range "10.201.$NODE.9"
	alone_network alone
	web db alone
	running db
	at=$(kn get pod db -o jsonpath='{.status.podIP}')
	for i in 1 2; do
		id=$(uid db)
		by_force db
		web db alone
		another db "$id"
		eq 'its address' "$(kn get pod db -o jsonpath='{.status.podIP}')" "$at"
		is 'the node reaches it' node "$NODE" busybox wget -q -T 20 -O - "http://$at:8080/"
		eventually one_pair
	done
	delete db
	eventually no_ways "$NODE"
	eq records "$(records "$NODE")" ''
}

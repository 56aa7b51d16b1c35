# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# burst.sh: many at once. Sourced by run.sh.

# pods_at_once COUNT NETWORK: wherever the scheduler puts them; until all of them run, each with another address.
pods_at_once()
{
	local i begun=${EPOCHREALTIME/./} micros
	for ((i = 0; i < $1; i++)); do
		manifest "b$i" "$2" 'del(.spec.nodeName)'
	done | kn create -f - >/dev/null || fail "test error: $1 pods"
	kn wait --for=condition=Ready pod -l app=box --timeout=$((2 * LONG))s >"$W/is" 2>&1 || fail "not all run: $(tail -c 300 "$W/is")"
	micros=$((${EPOCHREALTIME/./} - begun))
	awk -v net="$2" -v pods="$1" -v s="$((micros / 1000))" 'BEGIN { s /= 1000
		printf "%s: %d pods in %.1f s, %.2f a second\n", net, pods, s, pods / s }' >>"$W/speed"
	eq 'addresses, all different' "$(addresses_of_all | sort -u | wc -l)" "$1"
}
all_go()
{
	is 'all go' kn delete pod -l app=box --wait --timeout=$((2 * LONG))s
	eventually nothing_at_all 1
	eventually nothing_at_all 2
}
# The addresses of net1 of all pods, by network-status.
addresses_of_all()
{
	kn get pods -l app=box -o json | jq -r '.items[].metadata.annotations["k8s.v1.cni.cncf.io/network-status"] | fromjson | .[] |
		select(.interface == "net1") | .ips[]'
}

# quick: both
once_burst()
{
	local count=60
	[ -z "${QUICK-}" ] || count=40
	rails many
	nad many "$(macvlan many many)"
	pods_at_once "$count" many
	audit
	all_go
}

# The same on a pool that both nodes share. The speed is that of the usual agent and of a pool as examples/helm has it.
once_burst_of_a_shared_pool()
{
	HASTE='{}' agents_begin '{"ranges": ["10.10.208.0-10.10.211.255"], "blockSize": 16}'
	pods_at_once 60 shared
	audit
	all_go
}
# Blocks of four: the nodes claim fifteen of them during the burst.
once_burst_of_small_blocks()
{
	agents_begin "$LOOSE"
	pods_at_once 60 shared
	audit
	all_go
}

# --- peers -------------------------------------------------------------------------------------
# The same pods with the reference's macvlan and another IPAM, in the same cluster, for the speed. Only a figure: it is of the machine of the
# moment, so nothing is compared.

peers_have() # PROGRAM MODULE
{
	PEERS=${PEERS:-$FROM/../peers}
	[ -x "$PEERS/bin/$1" ] || skip "$1 is not in $PEERS: conformance/cluster/programs/build.sh $PEERS $2"
}

whereabouts_up()
{
	local n root
	is 'its types' k apply -f "$PEERS/whereabouts"
	is 'the types' k wait --for=condition=Established crd/ippools.whereabouts.cni.cncf.io --timeout=${LONG}s
	for n in $NODES; do
		root=$(node_root "$n")
		mkdir -p "$root/etc/whereabouts" && cp "$PEERS/bin/whereabouts" "$root/opt/cni/bin" && kubeconfig admin >"$root/etc/whereabouts/kubeconfig" &&
			echo '{"kubernetes": {"kubeconfig": "/etc/whereabouts/kubeconfig"}}' >"$root/etc/whereabouts/conf"
	done
}
# whereabouts_net NAME RANGE [KEYS]: a network of the reference's macvlan; KEYS is JSON text
whereabouts_net()
{
	nad "$1" "$(macvlan "$1" '{"type": "whereabouts", "range": "'"$2"'", "configuration_path": "/etc/whereabouts/conf"'"${3:+, $3}"'}' \
		'.type = "reference-macvlan" | .cniVersion = "1.0.0"')"
}

once_burst_of_whereabouts()
{
	peers_have whereabouts whereabouts
	whereabouts_up
	whereabouts_net whereabouts 10.10.128.0/17
	pods_at_once 60 whereabouts
	is 'all go' kn delete pod -l app=box --wait --timeout=$((2 * LONG))s
}

# Spiderpool's agent of a node answers the plugin, and its controller the API server.
spiderpool_up()
{
	local n root
	mkdir -p "$W/kube" "$W/spiderpool/controller"
	spiderpool_conf /run/none >"$W/spiderpool/controller/conf.yml"
	(
		W=$W/kube
		# shellcheck source=conformance/cluster-store/certificates.sh
		. "$TOP/conformance/cluster-store/certificates.sh"
		certificates && certificate spiderpool /CN=spiderpool-controller 'subjectAltName=IP:127.0.0.1
extendedKeyUsage=serverAuth' && cp "$W/spiderpool.pem" "$W/tls.crt" && cp "$W/spiderpool.key" "$W/tls.key"
	) || fail 'test error: no certificate for the webhook of Spiderpool'
	SPIDERPOOL_POD_NAMESPACE=kube-system SPIDERPOOL_POD_NAME=controller SPIDERPOOL_NODE_NAME=controller SPIDERPOOL_HEALTH_PORT=5720 SPIDERPOOL_GOPS_LISTEN_PORT='' \
		daemon spiderpool-controller "$PEERS/bin/spiderpool-controller" daemon --config-path="$W/spiderpool/controller/conf.yml" \
		--tls-server-cert="$W/kube/tls.crt" --tls-server-key="$W/kube/tls.key"
	spiderpool_webhooks | k apply -f - >/dev/null || fail 'test error: the webhooks of Spiderpool'
	for n in $NODES; do
		root=$(node_root "$n")
		cp "$PEERS/bin/spiderpool" "$root/opt/cni/bin" && cp "$PEERS/bin/spiderpool-agent" "$root/usr/local/bin" && mkdir -p "$root/etc/spiderpool" &&
			kubeconfig admin >"$root/etc/spiderpool/kubeconfig" && spiderpool_conf /run/spidernet/spiderpool.sock >"$root/etc/spiderpool/conf.yml" ||
			fail 'test error: the agent of Spiderpool'
		node "$n" env KUBECONFIG=/etc/spiderpool/kubeconfig SPIDERPOOL_POD_NAMESPACE=kube-system "SPIDERPOOL_POD_NAME=agent-n$n" "SPIDERPOOL_NODE_NAME=n$n" \
			SPIDERPOOL_HEALTH_PORT=5710 SPIDERPOOL_GOPS_LISTEN_PORT= sh -c 'mkdir -p /run/spidernet
			spiderpool-agent daemon --config-path=/etc/spiderpool/conf.yml >/run/spidernet/log 2>&1 & echo $! >/run/spidernet/pid'
	done
}
# Also after a failure. DEL needs the agents; objects with finalizers stay without a controller.
spiderpool_down()
{
	local n
	kn delete pod --all --grace-period=1 --wait --timeout=${LONG}s >/dev/null 2>&1
	spiderpool_webhooks | k delete -f - >/dev/null 2>&1
	for n in $NODES; do
		node "$n" sh -c 'kill -KILL "$(cat /run/spidernet/pid)"; rm -r /run/spidernet' >/dev/null 2>&1
	done
	kill -KILL "$(<"$W/k8s/spiderpool-controller.pid")" 2>/dev/null
	k get spiderendpoints,spiderippools -A -o json | jq 'del(.items[].metadata.finalizers)' | k replace -f - >/dev/null 2>&1
	k delete spiderendpoints -A --all >/dev/null 2>&1
	k delete spiderippools --all >/dev/null 2>&1
}
spiderpool_pool_is_there() # NET
{
	jq -n --arg net "$1" '{apiVersion: "spiderpool.spidernet.io/v2beta1", kind: "SpiderIPPool", metadata: {name: "rail"},
		spec: {subnet: "\($net).0.0/16", ips: ["\($net).64.1-\($net).65.250"]}}' | k apply -f -
}
spiderpool_counts() { k get spiderippool rail -o json | jq -e '.status.totalIPCount > 0'; }

# Types, agents, the controller, and a pool of 506 addresses in NET, such as 10.10.
spiderpool_ready()
{
	local n
	# shellcheck source=conformance/cluster-scale/spiderpool.sh
	. "$TOP/conformance/cluster-scale/spiderpool.sh"
	is 'its types and rights' k apply -f "$PEERS/spiderpool"
	is 'the types' k wait --for=condition=Established crd/spiderippools.spiderpool.spidernet.io --timeout=${LONG}s
	spiderpool_up
	eventually spiderpool_pool_is_there "$1"
	eventually spiderpool_counts
	for n in $NODES; do eventually node "$n" test -S /run/spidernet/spiderpool.sock; done
}
spiderpool_net() # NAME: a network of the reference's macvlan on the pool
{
	nad "$1" "$(macvlan "$1" '{"type": "spiderpool", "default_ipv4_ippool": ["rail"], "ipam_unix_socket_path": "/run/spidernet/spiderpool.sock", "log_file_path": "/run/spidernet/plugin.log"}' \
		'.type = "reference-macvlan" | .cniVersion = "1.0.0"')"
}

once_burst_of_spiderpool()
{
	peers_have spiderpool-agent spiderpool
	trap spiderpool_down EXIT
	spiderpool_ready 10.10
	spiderpool_net spiderpool
	pods_at_once 60 spiderpool
	is 'all go' kn delete pod -l app=box --wait --timeout=$((2 * LONG))s
}

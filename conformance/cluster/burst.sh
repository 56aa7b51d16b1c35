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

# The same on a pool that both nodes share.
once_burst_of_a_shared_pool()
{
	agents_begin "$LOOSE"
	pods_at_once 60 shared
	audit
	all_go
}

# The same pods with the reference's macvlan and whereabouts, in the same cluster, for the speed. Only a figure: it is of the machine of the
# moment, so nothing is compared.
once_burst_of_whereabouts()
{
	local n root peers=${PEERS:-$FROM/../peers}
	[ -x "$peers/bin/whereabouts" ] || skip "whereabouts is not in $peers: conformance/cluster/programs/build.sh $peers whereabouts"
	is 'its types' k apply -f "$peers/whereabouts"
	is 'the types' k wait --for=condition=Established crd/ippools.whereabouts.cni.cncf.io --timeout=${LONG}s
	for n in $NODES; do
		root=$(node_root "$n")
		mkdir -p "$root/etc/whereabouts" && cp "$peers/bin/whereabouts" "$root/opt/cni/bin" && kubeconfig admin >"$root/etc/whereabouts/kubeconfig" &&
			echo '{"kubernetes": {"kubeconfig": "/etc/whereabouts/kubeconfig"}}' >"$root/etc/whereabouts/conf"
	done
	nad whereabouts "$(macvlan whereabouts '{"type": "whereabouts", "range": "10.10.128.0/17", "configuration_path": "/etc/whereabouts/conf"}' \
		'.type = "reference-macvlan" | .cniVersion = "1.0.0"')"
	pods_at_once 60 whereabouts
	is 'all go' kn delete pod -l app=box --wait --timeout=$((2 * LONG))s
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# firstprocess.sh: how long a pod takes from `kubectl create` to its first process, with eight rails, and how long the scheduler takes
# with many nodes. Sourced by run.sh with BENCH=FILE, where the table goes.
#
# One pod after the other, each kind in turn, so that all kinds meet the same machine. The scheduler places all of them.

ROUNDS=${ROUNDS:-15}
PLACES=${PLACES:-1024} PLACED=200 # nodes that are objects only, and pods that they get
FIRST_KINDS='claim chained multus eight none'

# first_filter KIND: what makes a pod of that kind, as a jq filter
first_filter()
{
	echo 'del(.spec.nodeName) | .spec.nodeSelector = {"kubernetes.io/hostname": "n1"}
		| .spec.containers[0].command = ["/bin/sh", "-c", "read now rest </proc/uptime; echo $now; trap exit TERM; sleep 1000000 & wait"]'
	case $1 in
	claim | chained) echo '| .spec.containers[0].resources.limits = {"railhead.io/rails": "1"}' ;;
	esac
}
first_networks()
{
	case $1 in
	multus) echo first ;;
	eight) echo 'ref1, ref2, ref3, ref4, ref5, ref6, ref7, ref8' ;;
	esac
}
first_said() { [ -n "$(kn logs "$1" 2>/dev/null)" ]; }

# first_time KIND NUMBER: seconds, with two digits behind the point
first_time()
{
	local name=$1-$2 began
	[ "$1" != chained ] || multus_thin 1 "$(cluster_network 1 | jq -c '.plugins += [{type: "railhead"}]')"
	sleep 0.5 # containerd reads the folder again
	read -r began _ </proc/uptime
	pod "$name" "$(first_networks "$1")" "$(first_filter "$1")"
	eventually first_said "$name"
	echo "$1 $(kn logs "$name" | awk -v began="$began" 'NR == 1 { printf "%.2f\n", $1 - began }')" >>"$W/first"
	[ "$1" != chained ] || multus_thin 1 "$(cluster_network 1)"
	delete "$name"
}

# first_crowd KIND: seconds until the first process of the last of 60 pods that are created at once
first_crowd()
{
	local i began names=()
	read -r began _ </proc/uptime
	for i in {1..60}; do
		names+=("$1$i")
		pod "$1$i" "$(first_networks "$1")" "$(first_filter "$1")"
	done
	running "${names[@]}"
	for i in "${names[@]}"; do kn logs "$i"; done | sort -n | awk -v kind="$1" -v began="$began" 'END { printf "%-8s 60 pods at once: the last one after %.1f s\n", kind, $1 - began }'
	delete "${names[@]}"
}
# How long the driver takes for each claim with eight addresses, while one pod comes after the other.
once_time_to_prepare()
{
	local i
	claims_up
	for ((i = 0; i < ${PREPARES:-60}; i++)); do first_time claim "$i"; done
	node 1 sed -n 's/.*NodePrepareResources of 1 claims: \([0-9]*\) ms.*/\1/p' /var/log/railhead-devices.log | sort -n |
		awk '{ t[NR] = $1 } END { printf "Prepare  p50 %d ms, p99 %d ms of %d\n", t[int((NR + 1) / 2)], t[int((NR * 99 + 99) / 100)], NR }' >>"$BENCH"
}

once_time_to_first_process()
{
	local i kind
	claims_up
	nad first "$(jq -cn --argjson ipam "$RAIL_POOLS" '{cniVersion: "1.1.0", name: "first", type: "rails", kind: "macvlan", ipam: $ipam}')"
	for i in 1 2 3 4 5 6 7 8; do
		nad "ref$i" "$(jq -cn --arg i "$i" '{cniVersion: "1.0.0", name: "ref\($i)", type: "reference-macvlan", master: "eth\($i)",
			ipam: {type: "host-local", ranges: [[{subnet: "10.3\($i).0.0/16"}]]}}')"
	done
	: >"$W/first"
	for ((i = 0; i < ROUNDS; i++)); do
		for kind in $FIRST_KINDS; do first_time "$kind" "$i"; done
	done
	for kind in $FIRST_KINDS; do
		awk -v kind="$kind" '$1 == kind { print $2 }' "$W/first" | sort -n | awk -v kind="$kind" '{ t[NR] = $1 }
			END { printf "%-8s p50 %.2f s, highest %.2f s of %d\n", kind, t[int((NR + 1) / 2)], t[NR], NR }'
	done >>"$BENCH"
	for kind in claim multus none; do first_crowd "$kind"; done >>"$BENCH"
	echo "driver   $(node 1 sh -c 'cat /proc/$(cat /run/railhead-node/railhead-devices.pid)/smaps_rollup' | awk '$1 == "Pss:" { print $2 }') KiB (PSS)" >>"$BENCH"
	eq 'times' "$(wc -l <"$W/first")" $((5 * ROUNDS))
}

# places: nodes without a kubelet, each with the slices of n1
places()
{
	k get node n1 -o json | jq --argjson n "$PLACES" '. as $o | {apiVersion: "v1", kind: "List", items: [range($n) | "s\(.)" as $name | $o | {apiVersion, kind,
		metadata: {name: $name, labels: {"kubernetes.io/hostname": $name, place: "yes"}}, spec: {}, status: (.status | {capacity, allocatable, conditions})}]}' |
		k create -f - >/dev/null && k get resourceslices --field-selector spec.nodeName=n1,spec.driver=railhead.io -o json |
		jq --argjson n "$PLACES" '.items as $o | {apiVersion: "v1", kind: "List", items: [range($n) | "s\(.)" as $name | $o[] | {apiVersion, kind,
			metadata: {name: ($name + .metadata.name)}, spec: (.spec | .nodeName = $name | .pool.name = $name)}]}' | k create -f - >/dev/null
}
all_placed() { [ "$(kn get pods -o json | jq '[.items[] | select(.spec.nodeName)] | length')" = $PLACED ]; }
# placing KIND: seconds until all pods that are created at once have a node. The node controller has given up these nodes meanwhile.
placing()
{
	local began
	read -r began _ </proc/uptime
	jq -n --arg kind "$1" --argjson n $PLACED '{apiVersion: "v1", kind: "List", items: [range($n) | {apiVersion: "v1", kind: "Pod", metadata: {name: "\($kind)\(.)"},
		spec: ({nodeSelector: {place: "yes"}, tolerations: [{operator: "Exists"}], containers: [{name: "c", image: "none"}]}
			| if $kind == "set" then .containers[0].resources.limits = {"railhead.io/rails": "1"}
			elif $kind == "cards" then .resourceClaims = [{name: "r", resourceClaimTemplateName: "cards"}] | .containers[0].resources.claims = [{name: "r"}]
			else . end)}]}' | kn create -f - >/dev/null || fail 'test error: pods'
	eventually all_placed
	awk -v kind="$1" -v n=$PLACED -v nodes="$PLACES" -v began="$began" '{ printf "%-8s %d pods created and placed on %d nodes: %.1f s\n", kind, n, nodes, $1 - began }' /proc/uptime
	kn delete pods --all --grace-period=0 --force --wait >/dev/null 2>&1
}
# The last case: its nodes end with the cluster, because their removal takes minutes.
once_time_to_a_node()
{
	local kind
	claims_up
	rails_class cards '' card '{"kind": "macvlan", "ipam": '"$RAIL_POOLS"'}'
	kn apply -f - >/dev/null <<-EOF || fail 'test error: the template'
	{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": "cards"},
		"spec": {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "cards", "count": 8}}]}}}}
	EOF
	is 'nodes' places
	for kind in none set cards; do placing $kind; done >>"$BENCH"
}

# The driver's memory beside the claims of a thousand other pods, after a Prepare and a look at the rails: their files are that of one pod.
once_memory_beside_claims()
{
	local of mine claim
	claims_up
	counting a
	running a
	of=$(uid a)
	mine=$(basename "$(claim_file a json)" .json)
	claim=$CLAIMS/$of/$mine.json
	# shellcheck disable=SC2016 # of the inner shell
	is 'a thousand claims' node 1 sh -c 'for i in $(seq 1000 1999); do d=${1%/*/*}/00000000-0000-4000-8000-00000000$i
		mkdir "$d" && sed "s/$2/${d##*/}/g; s/$3/11111111-0000-4000-8000-00000000$i/g" "$1" >"$d/11111111-0000-4000-8000-00000000$i.json" || exit; done' sh "$claim" "$of" "$mine"
	counting b
	running b
	sleep 31 # between two looks at the rails
	echo "driver   $(node 1 sh -c 'cat /proc/$(cat /run/railhead-node/railhead-devices.pid)/smaps_rollup' | awk '$1 == "Pss:" { print $2 }') KiB (PSS) beside 1,000 prepared claims" >>"$BENCH"
	node 1 sed -n 's/.*NodePrepareResources of 1 claims: \([0-9]*\) ms.*/Prepare  \1 ms beside them/p' /var/log/railhead-devices.log | tail -n 1 >>"$BENCH"
	is 'they go' node 1 sh -c 'rm -r '$CLAIMS'/00000000-0000-4000-8000-00000000*'
	delete a b
}

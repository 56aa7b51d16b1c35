# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# peers.sh: railhead beside other plugins on the same API server. Each node starts pods with eight rails. Sourced by run.sh.
#
# runtime.c calls the real plugins. A node of railhead has a railheadd, a store and a host name of its own. whereabouts has only its
# plugin on a node, and with node slices its controller in the cluster. Spiderpool is in spiderpool.sh. Each has the rights of a
# ServiceAccount.

RAILS=8
ADD_LIMIT=130 DEL_LIMIT=40 # seconds; whereabouts gives an ADD up after 120

k() { HOME=$W/kube "$KUBE/kubectl" --kubeconfig "$W/kube/admin.kubeconfig" "$@"; }

# account NAME: a token and a kubeconfig of this ServiceAccount
account()
{
	k -n railhead create token "$1" >"$W/kube/$1.token" || broken "no token for $1"
	sed "s/railheadd\.token/$1.token/" "$W/kube/agent.kubeconfig" >"$W/kube/$1.kubeconfig"
}
# nodes_of N: the nodes node-0 to node-(N-1)
nodes_of()
{
	local i
	for ((i = 0; i < $1; i++)); do printf '{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-%d"}}\n' "$i"; done |
		k apply -f - >/dev/null || broken "no nodes"
}

# --- whereabouts -------------------------------------------------------------------------------

whereabouts_begin()
{
	# the type of the networks of Multus
	sed '/^---$/,$d' "$HERE/../cluster/multus.yaml" >"$W/nad.yaml"
	k apply -f "$PEERS/whereabouts" -f "$W/nad.yaml" -f - >/dev/null <<-'END' || broken "whereabouts cannot be set up"
	{apiVersion: v1, kind: ServiceAccount, metadata: {name: whereabouts, namespace: railhead}}
	---
	apiVersion: rbac.authorization.k8s.io/v1
	kind: ClusterRole
	metadata: {name: whereabouts}
	rules:
	  - {apiGroups: [whereabouts.cni.cncf.io], resources: [ippools, overlappingrangeipreservations, nodeslicepools], verbs: ["*"]}
	  - {apiGroups: [coordination.k8s.io], resources: [leases], verbs: ["*"]}
	  - {apiGroups: [""], resources: [pods, nodes], verbs: [get, list, watch]}
	  - {apiGroups: [k8s.cni.cncf.io], resources: [network-attachment-definitions], verbs: [get, list, watch]}
	---
	apiVersion: rbac.authorization.k8s.io/v1
	kind: ClusterRoleBinding
	metadata: {name: whereabouts}
	roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: whereabouts}
	subjects: [{kind: ServiceAccount, name: whereabouts, namespace: railhead}]
	END
	account whereabouts
	echo "{\"kubernetes\":{\"kubeconfig\":\"$W/kube/whereabouts.kubeconfig\"}}" >"$W/whereabouts.conf"
}

# whereabouts_conf NAME NODES [SLICE]: configurations for N addresses of each rail, or for slices of this size
whereabouts_conf()
{
	local rail n=$2
	for ((rail = 0; rail < RAILS; rail++)); do
		jq -n --arg name "$1-$rail" --arg file "$W/whereabouts.conf" --arg net "10.$((rail + ${3:+20} + 20)).0.0" \
			--arg last "10.$((rail + 20)).$((32 + (n - 1) / 256)).$(((n - 1) % 256))" --arg slice "${3-}" \
			--arg bits $((28 - $(log2 "$n"))) --arg start "10.$((rail + 20)).32.0" '{cniVersion:"1.0.0",name:$name,type:"macvlan",
				ipam:({type:"whereabouts",network_name:$name,configuration_path:$file} + if $slice == "" then
				{range:"\($net)/16",range_start:$start,range_end:$last} else {range:"\($net)/\($bits)",node_slice_size:$slice} end)}' \
			>"$W/$1.$rail"
	done
}
log2() { awk -v n="$1" 'BEGIN { while (2 ^ b < n) b++; print b + 0 }'; }

# slices_begin NAME NODES: the nodes, the networks, and the controller, until each node has a slice of each network
slices_begin()
{
	local rail i
	nodes_of "$2"
	for ((rail = 0; rail < RAILS; rail++)); do
		jq --arg n "$1-$rail" '{apiVersion:"k8s.cni.cncf.io/v1",kind:"NetworkAttachmentDefinition",
			metadata:{name:$n,namespace:"railhead"},spec:{config:tojson}}' "$W/$1.$rail"
	done | k apply -f - >/dev/null || broken "no networks"
	WHEREABOUTS_NAMESPACE=railhead "$PEERS/bin/nodeslicecontroller" --kubeconfig "$W/kube/whereabouts.kubeconfig" \
		>"$W/$1.controller" 2>&1 &
	CONTROLLER=$!
	for ((i = 0; i < 300; i++)); do
		[ "$(k -n railhead get nodeslicepools -o json | jq --arg p "$1-" '[.items[] | select(.metadata.name | startswith($p)) |
			.status.allocations[]? | select((.nodeName // "") != "")] | length')" != $((RAILS * $2)) ] || return 0
		sleep 0.2
	done
	broken "the controller of whereabouts made no slices: $(tail -n 3 "$W/$1.controller")"
}
slices_end()
{
	kill -TERM "$CONTROLLER"
	wait "$CONTROLLER" 2>/dev/null
}

# --- railhead ----------------------------------------------------------------------------------

# in_peer NODE COMMAND...: in place of this shell, with the store of that node
in_peer()
{
	# shellcheck disable=SC2016 # for the inner shell
	exec unshare --mount sh -c 'mount --bind "$1/lib" "$2" && mount --bind "$1/run" "$3" && shift 3 && exec "$@"' - \
		"$W/peer/$1" "$STATE" "$RUN" "${@:2}"
}
peer_ctl() { (in_peer "$1" timeout -s KILL 60 "$BUILD/bin/railctl" "${@:2}"); }
knows_rails() { [ "$(peer_ctl "$1" cluster status --json 2>/dev/null | jq '[.health == "ok", (.pools | length)] == [true, '$RAILS']')" = true ]; }

# agents_begin NAME NODES: an agent for each node
agents_begin()
{
	local i
	AGENTS=()
	rm -rf "$W/peer"
	for ((i = 0; i < $2; i++)); do
		mkdir -p "$W/peer/$i/lib" "$W/peer/$i/run"
		echo "{$(store_keys),\"node\":\"$1-$i\"}" >"$W/peer/$i/agent.json"
		in_peer "$i" "$BUILD/bin/railheadd" --config "$W/peer/$i/agent.json" >"$W/peer/$i/log" 2>&1 &
		AGENTS+=($!)
	done
}
agents_end()
{
	kill -TERM "${AGENTS[@]}"
	wait "${AGENTS[@]}" 2>/dev/null
	AGENTS=()
}
# peer_pool FILE: the first node applies it
peer_pool()
{
	local limit=$((SECONDS + 120))
	until peer_ctl 0 cluster pool apply "$1" >"$W/apply" 2>&1; do
		[ $SECONDS -lt $limit ] || broken "no pool: $(tail -n 1 "$W/apply")"
		sleep 0.1
	done
}
# peer_conf POOL FILE: the configuration of a network with this pool
peer_conf() { printf '{"cniVersion":"1.0.0","name":"rails","type":"macvlan","ipam":{"type":"railhead-ipam","pool":"%s"}}' "$1" >"$2"; }

# railhead_begin NAME NODES BLOCK: pools of N addresses each, and an agent for each node
railhead_begin()
{
	local rail i limit=$((SECONDS + 120))
	agents_begin "$1" "$2"
	for ((rail = 0; rail < RAILS; rail++)); do
		pool_of "$1-$rail" "$rail" "$2" "$3" >"$W/$1.pool"
		peer_pool "$W/$1.pool"
		peer_conf "$1-$rail" "$W/$1.$rail"
	done
	for ((i = 0; i < $2; i++)); do
		until knows_rails "$i"; do
			[ $SECONDS -lt $limit ] || broken "node $i does not know the pools: $(tail -n 1 "$W/peer/$i/log")"
			sleep 0.1
		done
	done
}
# pool_of NAME RAIL NODES BLOCK: a pool that fits exactly
pool_of()
{
	local last=$(($3 * $4 - 1))
	jq -n --arg n "$1" --arg net "10.$(($2 + 60)).0.0/16" --argjson block "$4" \
		--arg range "10.$(($2 + 60)).32.0-10.$(($2 + 60)).$((32 + last / 256)).$((last % 256))" \
		'{name:$n,subnet:$net,ranges:[$range],blockSize:$block,warm:0}'
}
railhead_end()
{
	local i
	agents_end
	for ((i = 0; i < RAILS; i++)); do k delete --wait=false railpool "$1-$i" >/dev/null; done
	k delete --wait=false railblocks --all >/dev/null
}

# --- one run, and its figures ------------------------------------------------------------------

# agents_counters: CPU of all threads of all agents, ms, and memory of the agents (PSS), kB, as lines of counters
agents_counters()
{
	local pid
	for pid in "${AGENTS[@]}"; do
		cat "/proc/$pid/task/"*/schedstat
		cat "/proc/$pid/smaps_rollup"
	done 2>/dev/null | awk '/^[0-9]+ [0-9]+ [0-9]+$/ { cpu += $1 / 1e6 } $1 == "Pss:" { kb += $2 }
		END { printf "agents_cpu %d\nagents_memory %d\n", cpu, kb }'
}
# bring_up LABEL NODES PODS PROGRAM [FOLDER [COMMAND]]: so many pods on each node; the configurations are $W/LABEL.RAIL. COMMAND runs
# between ADD and DEL.
bring_up()
{
	local l=$1 line pid
	counters "$W/$l.begin"
	agents_counters >>"$W/$l.begin"
	coproc PODS { exec "$RUNTIME" $ADD_LIMIT $DEL_LIMIT "$2" "$3" $RAILS "$4" "$W/$l." ${5:+"$5"} 2>"$W/$l.err"; }
	pid=$PODS_PID
	exec 7<&"${PODS[0]}" 8>&"${PODS[1]}"
	while read -r line <&7; do
		say "$l: $line"
		echo "$line" >>"$W/$l.out"
		counters "$W/$l.${line%% *}"
		agents_counters >>"$W/$l.${line%% *}"
		[[ $line != "ADD "* ]] || ${6:-true}
		echo >&8
	done
	exec 7<&- 8>&-
	wait "$pid" || broken "$l: $(tail -n 3 "$W/$l.err")"
	[ "$(said "$l" ADD addresses)" != 0 ] || broken "$l: no pod got an address: $(head -n 5 "$W/$l.err" | paste -sd' ')"
	[ ! -s "$W/$l.err" ] || sed "s/^/bench: $l: /" "$W/$l.err" | cut -c1-400 >&2
}

# per_address LABEL COUNTER FORMAT: how much it grew in the ADDs, for each address
per_address()
{
	awk -v d="$(grown "$1" begin ADD "$2")" -v n="$(said "$1" ADD addresses)" -v f="$3" 'BEGIN { printf f, n ? d / n : 0 }'
}
# figures_of_peer LABEL NODES NAME
figures_of_peer()
{
	local l=$1 what="$2 nodes, $3" n all verb
	n=$(said "$l" ADD addresses) all=$(said "$l" ADD of)
	for verb in ADD DEL; do
		fact "$what: $verb: done, a second, p50, p99, worst" "" "$(awk -v n="$(said "$l" $verb addresses)" -v of="$(said "$l" $verb of)" \
			-v ms="$(said "$l" $verb ms)" -v a="$(said "$l" $verb p50)" -v b="$(said "$l" $verb p99)" -v c="$(said "$l" $verb max)" 'BEGIN {
			printf "%d of %d in %.1f s, %.1f, %.0f ms, %.0f ms, %.0f ms", n, of, ms / 1000, ms ? n * 1000 / ms : 0,
				a / 1000, b / 1000, c / 1000 }')" ""
	done
	fact "$what: calls that failed and were repeated, duplicates" "0 duplicates" \
		"$(said "$l" ADD failures) + $(said "$l" DEL failures), $(said "$l" ADD duplicates)" ""
	fact "$what: requests to the API server, keys and bytes written in etcd for an address" "" \
		"$(per_address "$l" api_all %.1f), $(per_address "$l" puts %.1f), $(per_address "$l" bytes %.0f)" ""
	fact "$what: CPU of the API server, of etcd, of the plugin, of the agents for an address" "" \
		"$(per_address "$l" api_cpu %.1f) ms, $(per_address "$l" cpu %.1f) ms, $(awk -v c="$(said "$l" ADD cpu)" -v n="$n" \
			'BEGIN { printf "%.1f", n ? c / n : 0 }') ms, $(per_address "$l" agents_cpu %.1f) ms" ""
	fact "$what: memory of all agents (PSS; of Spiderpool with its controller)" "" "$(awk '$1 == "agents_memory" { printf "%.1f MB", $2 / 1000 }' "$W/$l.ADD")" ""
	case $3 in
	railhead*) DUPLICATES=$((DUPLICATES + $(said "$l" ADD duplicates))) MISSING=$((MISSING + all - n)) ;;
	esac
	LEASED=$((LEASED + n))
}

# peer_NAME NODES: the figures of this peer of ALL_PEERS
peer_railhead()
{
	local pods
	for pods in 1 8; do
		railhead_begin "railhead-$pods-$1" "$1" $pods
		bring_up "railhead-$pods-$1" "$1" $pods "$BUILD/bin/railhead-ipam" "$W/peer"
		railhead_end "railhead-$pods-$1"
		figures_of_peer "railhead-$pods-$1" "$1" "railhead, block size $pods, pods on a node: $pods"
	done
}
peer_whereabouts()
{
	whereabouts_conf "whereabouts-$1" "$1"
	bring_up "whereabouts-$1" "$1" 1 "$PEERS/bin/whereabouts"
	figures_of_peer "whereabouts-$1" "$1" "whereabouts"
}
peer_slices()
{
	whereabouts_conf "slices-$1" "$1" /28
	slices_begin "slices-$1" "$1"
	bring_up "slices-$1" "$1" 1 "$PEERS/bin/whereabouts"
	slices_end
	figures_of_peer "slices-$1" "$1" "whereabouts with node slices"
}
peer_spiderpool()
{
	local left
	spiderpool_begin "spiderpool-$1" "$1"
	bring_up "spiderpool-$1" "$1" 1 "$PEERS/bin/spiderpool" "$W/spiderpool" spiderpool_terminate
	left=$(spiderpool_left "spiderpool-$1")
	spiderpool_end
	figures_of_peer "spiderpool-$1" "$1" "Spiderpool"
	fact "$1 nodes, Spiderpool: addresses that its pools still have after DEL" "" "$left" ""
}

figures_of_peers() # NODES...
{
	local n peer
	AGENTS=()
	kube_begin
	[[ $SELECT != *" whereabouts "* && $SELECT != *" slices "* ]] || whereabouts_begin
	[[ $SELECT != *" spiderpool "* ]] || spiderpool_install
	ip netns add pod
	for n; do
		for peer in $SELECT; do "peer_$peer" "$n"; done
	done
	[ -z "$ABSENT" ] || fact "not measured, its programs cannot be built here" "" "${ABSENT# }" ""
	kube_end
}

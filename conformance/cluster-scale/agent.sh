# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# agent.sh: the program railheadd: what it costs when idle, and what an ADD costs beside it. Sourced by run.sh.
#
# Three nodes: "few" has 10 leases and an agent, "many" 60,000 and an agent, "alone" a pool of its own and no agent. Batches of ADDs
# take turns on them, so that other work of the machine hits all alike. Wall times have a median and a tenth percentile. The second one
# tells little about a busy machine, and thus more about the program.

# at_node_of NODE COMMAND...: with the store and the records of that node; in_node_of: the same in place of this shell.
at_node_of() { (in_node_of "$@"); }
in_node_of()
{
	# shellcheck disable=SC2016 # for the inner shell
	exec unshare --mount sh -c 'mount --bind "$1/lib" "$2" && mount --bind "$1/run" "$3" && shift 3 && exec "$@"' - \
		"$W/$1" "$STATE" "$RUN" "${@:2}"
}
# store_keys: the key of agent.json that names the store
store_keys()
{
	if [ "$STORE" = kubernetes ]; then
		echo "\"kubernetes\":{\"kubeconfig\":\"$WHERE\"}"
	elif [[ $ETCD == https:* ]]; then
		echo "\"etcd\":{\"endpoints\":[\"$ETCD\"],\"ca\":\"$W/ca.pem\",\"cert\":\"$W/client.pem\",\"key\":\"$W/client.key\"}"
	else
		echo "\"etcd\":{\"endpoints\":[\"$ETCD\"]}"
	fi
}
pool_conf() { printf '{"cniVersion":"1.0.0","name":"rails","type":"macvlan","ipam":{"type":"railhead-ipam","pool":"%s"}}' "$1" >"$W/conf.$1"; }

declare -A AGENT
# agent_begin NODE [POOL]: its agent, until it knows the shared pool, or this one
agent_begin()
{
	local i pool=${2:-'{"name":"shared","subnet":"10.0.0.0/12","blockSize":256,"warm":256}'}
	echo "{$(store_keys),\"node\":\"$1\"}" >"$W/agent.$1.json"
	in_node_of "$1" "$BUILD/bin/railheadd" --config "$W/agent.$1.json" >"$W/agent.$1.log" 2>&1 &
	AGENT[$1]=$!
	for ((i = 0; i < 500; i++)); do
		at_node_of "$1" "$BUILD/bin/railctl" cluster pool apply - <<<"$pool" >/dev/null 2>&1 && return
		sleep 0.1
	done
	broken "the agent of $1 does not answer: $(tail -n 3 "$W/agent.$1.log")"
}

nodes_begin()
{
	local node
	etcd_begin
	for node in few many alone; do mkdir -p "$W/$node"/{lib,run}; done
	agent_begin few
	agent_begin many
	echo '{"name":"own","subnet":"11.0.0.0/12","thisNodeOnly":true}' >"$W/own.json"
	at_node_of alone "$BUILD/bin/railctl" ipam pool apply "$W/own.json" >/dev/null || broken "no pool of the node"
	pool_conf shared
	pool_conf own
	fill few 10
	fill many 1
}
nodes_end()
{
	kill -TERM "${AGENT[@]}"
	wait "${AGENT[@]}"
	"$CONTROL" kill
}
# fill NODE N [POOL]: N more pods get an address of the shared pool, or of this one
fill()
{
	CNI_PATH=$BUILD/bin MEASURE_PAUSE=0 at_node_of "$1" "$HELPERS/measure" fill "$2" 4 \
		"fill-$RANDOM,$BUILD/bin/railhead-ipam,$W/conf.${3:-shared},/run/netns/pod" ||
		broken "no $2 leases of the pool ${3:-shared}: $(tail -n 3 "$W/agent.$1.log")"
}
# in_turns LABEL BATCHES NODE=POOL...: batches of ADD and DEL that take turns; the medians of all are in RAW under LABEL-NODE
in_turns()
{
	local label=$1 batches=$2 i at
	shift 2
	for ((i = 0; i < batches; i++)); do
		for at; do
			CNI_PATH=$BUILD/bin at_node_of "${at%=*}" "$HELPERS/measure" samples 20 2 \
				"$label-${at%=*},$BUILD/bin/railhead-ipam,$W/conf.${at#*=},/run/netns/pod" || broken "ADD of $at failed"
		done
	done >"$W/samples"
	fold <"$W/samples" >>"$RAW"
}
# low LABEL: the tenth percentile of the wall time of ADD
low() { awk -v l="$1" '$1 == l && $2 == "ADD" { for (i = 3; i < NF; i++) if ($i == "wall") x = $(i + 1) } END { print x }' "$RAW"; }
# rows WHAT LIMIT A B: wall time, median and tenth percentile, and CPU of two labels
rows()
{
	row "ADD, wall, $1" "<= $2" "$2" "$(median "$3" ADD wall)" "$(median "$4" ADD wall)" ms
	row "ADD, wall (10th percentile), $1" "<= $2" "$2" "$(low "$3")" "$(low "$4")" ms
	row "ADD, CPU, $1" "<= $2" "$2" "$(median "$3" ADD cpu)" "$(median "$4" ADD cpu)" ms
}
# what one process uses: its part of shared pages counts, too
pss() { awk '$1 == "Pss:" { print $2 }' "/proc/$1/smaps_rollup"; }
# memory_row WHAT NODE: of its agent, and how much of it no file backs: the rest is the program, which agents share, and the store
memory_row()
{
	row "$1: memory (PSS)" "<= 12 MB" 1 "$(pss "${AGENT[$2]}")" 12288 KiB
	fact "... of it heap and stacks" "" "$(awk '$1 == "Pss_Anon:" { print $2 }' "/proc/${AGENT[$2]}/smaps_rollup") KiB" ""
}
cpu_ns() { awk '{ print $1 }' "/proc/$1/schedstat"; }

rail_pool() { echo "{\"name\":\"rail$1\",\"subnet\":\"10.$1.0.0/16\",\"blockSize\":256,\"warm\":256}"; }
# figures_of_tls SECONDS: the same agent with client certificates and the pools of eight rails, and beside it a second one, as before
figures_of_tls()
{
	local ETCD=https://127.0.0.1:2379 rail
	rm -rf "$W/few" "$W/many"
	mkdir -p "$W/few"/{lib,run} "$W/many"/{lib,run}
	etcd_begin
	agent_begin few "$(rail_pool 0)"
	agent_begin many "$(rail_pool 0)"
	for ((rail = 0; rail < 8; rail++)); do
		at_node_of many "$BUILD/bin/railctl" cluster pool apply --wait 60 - <<<"$(rail_pool $rail)" >/dev/null || broken "no pool rail$rail"
		pool_conf "rail$rail"
		fill many 1250 "rail$rail"
	done
	sleep "$1"
	memory_row "railheadd, idle, 10,000 leases, TLS, a client certificate, eight pools" many
	nodes_end
}

# figures_of_agent [LEASES]
figures_of_agent()
{
	local before seconds=${IDLE:-120} most=${1:-60000}
	nodes_begin
	fill many $((most < 10000 ? most : 10000))
	in_turns warm 15 few=shared alone=own
	rows "agent and warm blocks against a pool of the node without an agent" 1.1 warm-few warm-alone
	before=$(cpu_ns "${AGENT[many]}")
	sleep "$seconds"
	memory_row "railheadd, idle, 10,000 leases" many
	fact "railheadd, idle, 10,000 leases: CPU" "<= 0.1% of a core" \
		"$(awk -v n=$(($(cpu_ns "${AGENT[many]}") - before)) -v s="$seconds" 'BEGIN { printf "%.4f%%", n / s / 1e7 }')" \
		"$(awk -v n=$(($(cpu_ns "${AGENT[many]}") - before)) -v s="$seconds" 'BEGIN { print (n / s / 1e7 <= .1) ? "met" : "missed" }')"
	[ "$most" -le 10000 ] || fill many $((most - 10000))
	in_turns leases 30 few=shared many=shared
	rows "$most leases in blocks against 10" 1.2 leases-many leases-few
	nodes_end
	figures_of_tls "$seconds"
}

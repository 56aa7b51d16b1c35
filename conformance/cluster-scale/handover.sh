# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# handover.sh: an ADD whose pool has no free block, while other nodes hold empty ones. Sourced by run.sh.
#
# Each node has the real railheadd, and each ADD is a run of the real plugin. Three nodes get all addresses of a pool and release them, so
# each block is empty and has an owner. Then a pod on the fourth node gets all of them, one ADD after the other. A block has
# one address, so each ADD waits until an owner hands one over.

HANDED=96 # addresses of the pool

# have_all NODES: so many nodes have all blocks of the pool
have_all() { [ "$(peer_ctl 0 cluster pool list --json | jq -c '.pools[] | [.name, .inBlocks, .nodes]')" = "[\"handover\",$HANDED,$1]" ]; }
# handover_calls LABEL NODES FOLDER: one pod of each node gets its part of the addresses; then DEL
handover_calls()
{
	printf '\n\n' | "$RUNTIME" $ADD_LIMIT $DEL_LIMIT "$2" 1 $((HANDED / $2)) "$BUILD/bin/railhead-ipam" "$W/handover." "$3" >"$W/$1.out" 2>"$W/$1.err"
	[ "$(said "$1" ADD addresses) $(said "$1" DEL addresses)" = "$HANDED $HANDED" ] || broken "$1: $(cat "$W/$1.out" "$W/$1.err" | paste -sd' ')"
	[ ! -s "$W/$1.err" ] || say "$1: $(head -n 1 "$W/$1.err")"
}

figures_of_handover()
{
	local i
	if [ "$STORE" = etcd ]; then etcd_begin; else kube_begin; fi
	ip netns add pod 2>/dev/null
	agents_begin handover 4
	echo "{\"name\":\"handover\",\"subnet\":\"10.80.0.0/24\",\"ranges\":[\"10.80.0.1-10.80.0.$HANDED\"],\"blockSize\":1,\"warm\":0,\"idle\":3600,\"cooldown\":0}" >"$W/handover.pool"
	peer_pool "$W/handover.pool"
	for ((i = 0; i < HANDED; i++)); do peer_conf handover "$W/handover.$i"; done
	mkdir -p "$W/asks" && ln -sfn "$W/peer/3" "$W/asks/0"
	handover_calls handover-owners 3 "$W/peer"
	have_all 3 || broken "handover: the blocks are not those of three nodes"
	handover_calls handover 1 "$W/asks"
	have_all 1 || broken "handover: the blocks are not those of one node"
	fact "ADD with no free block, an empty one of another node: p50, p99, worst of $HANDED" "<= 1 s" \
		"$(ms "$(said handover ADD p50)") ms, $(ms "$(said handover ADD p99)") ms, $(ms "$(said handover ADD max)") ms" \
		"$(awk -v us="$(said handover ADD max)" 'BEGIN { print us <= 1e6 ? "met" : "missed" }')"
	fact "these ADDs: failed and repeated" "0" "$(said handover ADD failures)" "$([ "$(said handover ADD failures)" = 0 ] && echo met || echo missed)"
	agents_end
	if [ "$STORE" = etcd ]; then "$CONTROL" kill; else kube_end; fi
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# load.sh: pods come and go on all nodes while something fails. Sourced by lib.sh.

# ipam VERB ID: railhead-ipam alone, inside a node; or $LOAD_IPAM, which is in the environment. LOAD_NAME: that of the load
ipam()
{
	env -i PATH="$PATH" CNI_COMMAND="$1" CNI_CONTAINERID="$2" CNI_NETNS=/run/netns/none CNI_IFNAME=net1 CNI_PATH="$BIN" \
		"${LOAD_IPAM:-$BIN/railhead-ipam}" <"$W/pool.${LOAD_NAME:-load}.conf"
}

# pods_come_and_go NODE SEED CODES: until $W/stop is there, at most four pods at a time. An ADD may fail with a code of CODES (" 11 101 ").
# Any other error, and any error of DEL, becomes a line of $W/wrong. Runs inside a node.
pods_come_and_go()
{
	local out code id=0 at
	local -a held=()
	RANDOM=$2
	while [ ! -e "$W/stop" ] || [ ${#held[@]} -gt 0 ]; do
		if [ ! -e "$W/stop" ] && [ ${#held[@]} -lt 4 ] && { [ ${#held[@]} = 0 ] || [ $((RANDOM % 4)) -gt 0 ]; }; then
			id=$((id + 1))
			if out=$(ipam ADD "$LOAD_NAME-$id"); then
				pod_has "$1" "$LOAD_NAME-$id" "$out"
				held+=("$LOAD_NAME-$id")
			else
				code=$(jq -r .code <<<"$out")
				[[ $3 == *" $code "* ]] || echo "ADD on $1: $out" >>"$W/wrong"
				sleep 0.1
			fi
		else
			at=$((RANDOM % ${#held[@]}))
			pod_ends "$1" "${held[at]}"
			out=$(ipam DEL "${held[at]}") || echo "DEL on $1: $out" >>"$W/wrong"
			held=("${held[@]:0:at}" "${held[@]:at+1}")
		fi
	done
}

# A pool whose addresses are on each node before anything fails: no ADD of it needs the agent or the store.
SURE='{"subnet":"10.95.0.0/24","blockSize":16,"warm":8,"idle":3600,"cooldown":0}'

LOADS=()
# load_begin POOL CODES [SEED [NAME]]: on all nodes. Several loads with a NAME each may go on at the same time.
load_begin()
{
	local i name=${4:-load}
	export BIN W
	jq -nc --arg p "$1" '{cniVersion:"1.1.0",name:"rails",type:"macvlan",ipam:{type:"railhead-ipam",pool:$p}}' >"$W/pool.$name.conf"
	[ ${#LOADS[@]} -gt 0 ] || rm -f "$W/stop" "$W/wrong"
	[ -s "$W/history" ] || : >"$W/history"
	for ((i = 1; i <= NODES; i++)); do
		LOAD_NAME=$name on_node "n$i" bash -c "$(declare -f ipam pod_has pod_ends pods_come_and_go); pods_come_and_go n$i $((${3:-1} * 10 + i)) '$2'" \
			2>>"$W/node/n$i/plugin.log" &
		LOADS+=($!)
	done
}
# load_end: each pod gets its DEL, and nothing went wrong meanwhile.
load_end()
{
	local p
	: >"$W/stop"
	for p in "${LOADS[@]}"; do wait "$p" || fail "the pods of a node ended with $?"; done
	LOADS=()
	eq "errors" "$(sort "$W/wrong" 2>/dev/null | head -n 3)" ""
}

came_up() { grep -c " begin .* $1/${2:-load}-" "$W/history"; } # NODE [NAME]: so many pods of a load
came_up_from() { [ "$(came_up "$1")" -ge "$2" ]; }
# pods_go_on NODE...: some more pods come up on each of them
pods_go_on()
{
	local node
	local -A from
	for node; do from[$node]=$(($(came_up "$node") + 5)); done
	for node; do eventually came_up_from "$node" "${from[$node]}"; done
}

# all_leased NODE COUNT: ADD as a runtime does, until each of the COUNT addresses of the pool is leased there: none was lost.
all_leased()
{
	local id out leased=0
	for ((id = 0; id < 300 && leased < $2; id++)); do
		out=$(on_node "$1" bash -c "$(declare -f ipam); ipam ADD last-$id") || continue
		pod_has "$1" "last-$id" "$out"
		leased=$((leased + 1))
	done
	[ "$leased" = "$2" ] || fail "only $leased of $2 addresses can be leased, then: $out"
}
all_leases() { for ((i = 1; i <= NODES; i++)); do leases "n$i"; done; }

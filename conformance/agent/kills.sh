# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The agents of all nodes are killed at any system call, again and again, while pods come and go.
#
# KILLS=N: so many kills in all (20). SEED=N: of the system calls (1). The intervals in which pods certainly had an address are
# recorded for all nodes, and no two of one address may overlap.
KILLS=${KILLS:-20}
SEED=${SEED:-1}
# Lives of an agent end in its start, or with some blocks claimed.
CALLS_MAX=2500

# ipam VERB ID: railhead-ipam alone, inside a node
ipam()
{
	env -i PATH="$PATH" CNI_COMMAND="$1" CNI_CONTAINERID="$2" CNI_NETNS=/run/netns/none CNI_IFNAME=net1 CNI_PATH="$BIN" \
		"$BIN/railhead-ipam" <"$W/pool.conf"
}

# pods_come_and_go NAME SEED: until $W/stop is there; at most four pods at a time. Runs inside a node.
pods_come_and_go()
{
	local out code id=0 at
	local -a held=()
	RANDOM=$2
	while [ ! -e "$W/stop" ] || [ ${#held[@]} -gt 0 ]; do
		if [ ! -e "$W/stop" ] && [ ${#held[@]} -lt 4 ] && { [ ${#held[@]} = 0 ] || [ $((RANDOM % 4)) -gt 0 ]; }; then
			id=$((id + 1))
			if out=$(ipam ADD "$1-$id"); then
				echo "$EPOCHREALTIME begin $(jq -r '.ips[0].address' <<<"$out") $1-$id"
				held+=("$1-$id $(jq -r '.ips[0].address' <<<"$out")")
			else
				code=$(jq -r .code <<<"$out")
				sleep 0.1
				[[ $code = 11 || $code = 101 ]] || echo "$EPOCHREALTIME wrong ADD $out"
			fi
		else
			at=$((RANDOM % ${#held[@]}))
			echo "$EPOCHREALTIME end ${held[at]#* } ${held[at]% *}"
			ipam DEL "${held[at]% *}" >"$W/del.$1" || echo "$EPOCHREALTIME wrong DEL $(<"$W/del.$1")"
			held=("${held[@]:0:at}" "${held[@]:at+1}")
		fi
	done
}

# agent_dies NODE SEED N: N times
agent_dies()
{
	local i
	RANDOM=$2
	for ((i = 0; i < $3; i++)); do
		in_node_slain "$1" $((RANDOM % CALLS_MAX + 1)) || return
	done
}
in_node_slain() { on_node "$1" "$HELPERS/../agent/slay" "$2" "$BIN/railheadd" >>"$W/node/$1/slain" 2>>"$W/node/$1/log" </dev/null; }

# overlaps: addresses that two pods had at the same time
overlaps()
{
	cat "$W"/pods.* | sort -n | awk '
		$2 == "begin" && $3 in owner { print $3 ": " owner[$3] " and " $4 }
		$2 == "begin" { owner[$3] = $4 }
		$2 == "end" && owner[$3] == $4 { delete owner[$3] }'
}

# all_leased NODE: ADD as a runtime does, until each address of the pool is leased there
all_leased()
{
	local id leased=0
	for ((id = 0; id < 300 && leased < 8; id++)); do
		if on_node "$1" bash -c "$(declare -f ipam); ipam ADD last-$id" >"$W/last"; then leased=$((leased + 1)); fi
	done
	[ "$leased" = 8 ] || fail "only $leased addresses can be leased, then: $(<"$W/last")"
}
all_leases() { for ((i = 1; i <= NODES; i++)); do leases "n$i"; done; }

test_kills_of_agents_at_any_system_call()
{
	local i node each=$(((KILLS + NODES - 1) / NODES)) dying=() pods=()
	cluster_begin
	export BIN W
	shared rail0 '{"subnet":"10.92.0.0/24","ranges":["10.92.0.64-10.92.0.71"],"blockSize":1,"warm":0,"idle":1,"cooldown":0}'
	echo '{"cniVersion":"1.1.0","name":"rails","type":"macvlan","ipam":{"type":"railhead-ipam","pool":"rail0"}}' >"$W/pool.conf"
	rm -f "$W/stop" "$W"/pods.*
	for ((i = 1; i <= NODES; i++)); do
		node=n$i
		agent_kill "$node"
		agent_dies "$node" $((SEED * 100 + i)) "$each" &
		dying+=($!)
		on_node "$node" bash -c "$(declare -f ipam pods_come_and_go); pods_come_and_go $node $((SEED * 10 + i))" \
			>"$W/pods.$node" 2>>"$W/node/$node/plugin.log" &
		pods+=($!)
	done
	for i in "${dying[@]}"; do wait "$i" || fail "an agent ended by itself: $(tail -n 3 "$W"/node/*/log)"; done
	: >"$W/stop"
	for ((i = 1; i <= NODES; i++)); do agent_begin "n$i"; done
	for i in "${pods[@]}"; do wait "$i" || fail "the pods of a node ended with $?"; done
	eq "kills" "$(cat "$W"/node/*/slain | wc -l)" $((each * NODES))
	eq "calls with other errors" "$(cat "$W"/pods.* | grep wrong | head -n 3)" ""
	eq "addresses of two pods at once" "$(overlaps)" ""
	[ "$(cat "$W"/pods.* | grep -c begin)" -ge "$KILLS" ] || fail "only $(cat "$W"/pods.* | grep -c begin) pods came up"
	eq "leases at the end" "$(all_leases)" ""
	all_leased n1
	unique
	eq "addresses leased at the end" "$(all_leases | wc -l)" 8
}

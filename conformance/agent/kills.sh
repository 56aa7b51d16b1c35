# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The agents of all nodes are killed at any system call, again and again, while pods come and go.
#
# KILLS=N: so many kills in all (20). SEED=N: of the system calls (1). The history of all addresses is checked (history.sh).
KILLS=${KILLS:-20}
SEED=${SEED:-1}
# Lives of an agent end in its start, or with some blocks claimed.
CALLS_MAX=2500

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

test_kills_of_agents_at_any_system_call()
{
	local i each=$(((KILLS + NODES - 1) / NODES)) dying=()
	cluster_begin
	shared rail0 '{"subnet":"10.92.0.0/24","ranges":["10.92.0.64-10.92.0.71"],"blockSize":1,"warm":0,"idle":1,"cooldown":0}'
	for ((i = 1; i <= NODES; i++)); do agent_kill "n$i"; done
	load_begin rail0 ' 11 101 ' "$SEED"
	for ((i = 1; i <= NODES; i++)); do
		agent_dies "n$i" $((SEED * 100 + i)) "$each" &
		dying+=($!)
	done
	for i in "${dying[@]}"; do wait "$i" || fail "an agent ended by itself: $(tail -n 3 "$W"/node/*/log)"; done
	: >"$W/stop"
	for ((i = 1; i <= NODES; i++)); do agent_begin "n$i"; done
	load_end
	eq "kills" "$(cat "$W"/node/*/slain | wc -l)" $((each * NODES))
	[ "$(grep -c ' begin ' "$W/history")" -ge "$KILLS" ] || fail "only $(grep -c ' begin ' "$W/history") pods came up"
	eq "leases at the end" "$(all_leases)" ""
	all_leased n1 8
	unique
	eq "addresses leased at the end" "$(all_leases | wc -l)" 8
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The agents of all nodes are killed at any system call, again and again, while pods come and go.
#
# KILLS=N: so many kills in all (20). SEED=N: of the system calls (1). The history of all addresses is checked (history.sh).
KILLS=${KILLS:-20}
SEED=${SEED:-1}
# Lives of an agent end in its start, or with some blocks claimed.
CALLS_MAX=2500

# agent_dies NODE SEED N: N times at least, and until enough pods came up while agents died: a busy machine starts few pods in that time.
agent_dies()
{
	local i
	RANDOM=$2
	for ((i = 0; i < $3 || $(all_came_up) < KILLS; i++)); do
		in_node_slain "$1" $((RANDOM % CALLS_MAX + 1)) || return
	done
}
sure_came_up() { [ "$(came_up "$1" sure)" -ge 5 ]; } # NODE
all_came_up() { grep -c ' begin .*/load-' "$W/history"; }
in_node_slain() { on_node "$1" "$HELPERS/../agent/slay" "$2" "$BIN/railheadd" >>"$W/node/$1/slain" 2>>"$W/node/$1/log" </dev/null; }

# agents_die BLOCKSIZE [N...]: agents die under two loads. One is in a pool of eight addresses, which is often dry: its ADDs may fail.
# Each of the nodes N has a pod there all the time, so that no block is ever empty.
agents_die()
{
	local i each=$(((KILLS + NODES - 1) / NODES)) dying=()
	cluster_begin
	shared rail0 '{"subnet":"10.92.0.0/24","ranges":["10.92.0.64-10.92.0.71"],"blockSize":'"$1"',"warm":0,"idle":1,"cooldown":0}'
	shared sure "$SURE"
	for i in "${@:2}"; do eventually added "n$i" "hold-$i" rail0; done
	for ((i = 1; i <= NODES; i++)); do
		eventually has_spare "n$i" sure 8
		agent_kill "n$i"
	done
	load_begin rail0 ' 11 101 ' "$SEED"
	load_begin sure '' "$((SEED + 1))" sure
	for ((i = 1; i <= NODES; i++)); do
		agent_dies "n$i" $((SEED * 100 + i)) "$each" &
		dying+=($!)
	done
	for i in "${dying[@]}"; do wait "$i" || fail "an agent ended by itself: $(tail -n 3 "$W"/node/*/log)"; done
	for ((i = 1; i <= NODES; i++)); do eventually sure_came_up "n$i"; done
	: >"$W/stop"
	for ((i = 1; i <= NODES; i++)); do agent_begin "n$i"; done
	load_end
	for i in "${@:2}"; do del "n$i" "hold-$i" rail0; done
	[ "$(cat "$W"/node/*/slain | wc -l)" -ge $((each * NODES)) ] || fail "only $(cat "$W"/node/*/slain | wc -l) kills"
	eq "leases at the end" "$(all_leases)" ""
	all_leased n1 8
	unique
	eq "addresses leased at the end" "$(all_leases | wc -l)" 8
}

test_kills_of_agents_at_any_system_call() { agents_die 1; }

# Two nodes have the two blocks all the time, and the third one has an address that is lent to it.
test_kills_of_agents_that_lend()
{
	agents_die 4 1 2 3
	[ "$(times_lent)" -gt 0 ] || fail "no address was lent: $(grep -c ' begin ' "$W/history") pods"
}
# times_lent: how often a pod got an address in a block where a pod of another node had one
times_lent()
{
	sort -s -n -k 1,1 "$W/history" | awk '
		$4 !~ "/(load|hold)-" { next }
		{ split($4, of, "/") }
		$2 == "begin" {
			split($3, part, ".")
			block = int(part[4] / 4)
			for (pod in in_block)
				if (in_block[pod] == block && node[pod] != of[1]) { n++; break }
			in_block[$4] = block
			node[$4] = of[1]
		}
		$2 == "end" { delete in_block[$4] }
		END { print n + 0 }'
}

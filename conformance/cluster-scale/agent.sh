# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# agent.sh: the program railheadd by itself: what it costs when idle, and what an ADD costs beside it. Sourced by run.sh.

# at_agent COMMAND...: with the store and the records of the node that has the agent; in_agent: the same in place of this shell.
# FOLDER=few: with a copy of them that has 10 leases, and no agent.
at_agent() { (in_agent "$@"); }
in_agent()
{
	# shellcheck disable=SC2016 # for the inner shell
	exec unshare --mount sh -c 'mount --bind "$1/lib" "$2" && mount --bind "$1/run" "$3" && shift 3 && exec "$@"' - \
		"$W/${FOLDER:-agent}" "$STATE" "$RUN" "$@"
}
# copy_few: the agent stands still meanwhile, so that the copy is whole
copy_few()
{
	kill -STOP "$AGENT" && cp -a "$W/agent" "$W/few" && kill -CONT "$AGENT" || broken "no copy of the node"
}
pool_conf() { printf '{"cniVersion":"1.0.0","name":"rails","type":"macvlan","ipam":{"type":"railhead-ipam","pool":"%s"}}' "$1" >"$W/conf.$1"; }

agent_begin()
{
	etcd_begin
	mkdir -p "$W"/agent/{lib,run}
	echo "{\"etcd\":{\"endpoints\":[\"$ETCD\"]}}" >"$W/agent.json"
	in_agent "$BUILD/bin/railheadd" --config "$W/agent.json" >"$W/agent.log" 2>&1 &
	AGENT=$!
	local i
	for ((i = 0; i < 500; i++)); do
		at_agent "$BUILD/bin/railctl" cluster pool apply - \
			<<<'{"name":"shared","subnet":"10.0.0.0/12","blockSize":256,"warm":256}' >/dev/null 2>&1 && break
		sleep 0.02
	done
	echo '{"name":"own","subnet":"11.0.0.0/12","thisNodeOnly":true}' >"$W/own.json"
	at_agent "$BUILD/bin/railctl" ipam pool apply "$W/own.json" >/dev/null || broken "no pool of the node"
	pool_conf shared
	pool_conf own
	fill 1
}
# fill N: until N pods have an address of the shared pool
fill()
{
	CNI_PATH=$BUILD/bin MEASURE_PAUSE=0 at_agent "$HELPERS/measure" fill "$1" 4 "fill,$BUILD/bin/railhead-ipam,$W/conf.shared,/run/netns/pod" ||
		broken "no $1 leases of the shared pool: $(tail -n 3 "$W/agent.log")"
}
# add_both LABEL: ADD from blocks and from a pool of the node, in turn
add_both()
{
	CNI_PATH=$BUILD/bin at_agent "$HELPERS/measure" time 200 5 "shared-$1,$BUILD/bin/railhead-ipam,$W/conf.shared,/run/netns/pod" \
		"own-$1,$BUILD/bin/railhead-ipam,$W/conf.own,/run/netns/pod" >>"$RAW" || broken "ADD beside the agent failed"
}
# add_in_turn: ADD with few and with many leases, ten times in turn: what else the machine does hits both alike
add_in_turn()
{
	local i to subject=$BUILD/bin/railhead-ipam,$W/conf.shared,/run/netns/pod
	for ((i = 0; i < 10; i++)); do
		for to in few agent; do
			CNI_PATH=$BUILD/bin FOLDER=$to at_agent "$HELPERS/measure" time 20 2 "turn-$to-$i,$subject" >>"$RAW" || broken "ADD in turn failed"
		done
	done
}
# middle LABEL wall|cpu: the middle of the medians of add_in_turn
middle()
{
	awk -v l="turn-$1-" -v w="$2" 'index($1, l) == 1 && $2 == "ADD" {
		for (i = 3; i <= NF; i++)
			if ($i == w) print $(i + 2)
	}' "$RAW" | sort -n | sed -n 5p
}
# what one process uses: its part of shared pages counts, too
pss() { awk '$1 == "Pss:" { print $2 }' "/proc/$AGENT/smaps_rollup"; }
cpu_ns() { awk '{ print $1 }' "/proc/$AGENT/schedstat"; }

figures_of_agent()
{
	local before seconds=120
	agent_begin
	fill 10
	add_both 10
	copy_few
	fill 10000
	sleep 30
	before=$(cpu_ns)
	sleep "$seconds"
	row "railheadd, idle, 10,000 leases: memory (PSS)" "<= 12 MB" 1 "$(pss)" 12288 KiB
	fact "railheadd, idle, 10,000 leases: CPU" "<= 0.1% of a core" \
		"$(awk -v n=$(($(cpu_ns) - before)) -v s=$seconds 'BEGIN { printf "%.4f%%", n / s / 1e7 }')" \
		"$(awk -v n=$(($(cpu_ns) - before)) -v s=$seconds 'BEGIN { print (n / s / 1e7 <= .1) ? "met" : "missed" }')"
	fill 60000
	add_in_turn
	row "ADD, wall, warm blocks against a pool of the node" "<= 1.1" 1.1 "$(median shared-10 ADD wall)" "$(median own-10 ADD wall)" ms
	row "ADD, CPU, warm blocks against a pool of the node" "<= 1.1" 1.1 "$(median shared-10 ADD cpu)" "$(median own-10 ADD cpu)" ms
	row "ADD, wall, 60,000 leases in blocks against 10" "<= 1.2" 1.2 "$(middle agent wall)" "$(middle few wall)" ms
	row "ADD, CPU, 60,000 leases in blocks against 10" "<= 1.2" 1.2 "$(middle agent cpu)" "$(middle few cpu)" ms
	kill -TERM "$AGENT"
	wait "$AGENT"
	"$CONTROL" kill
	# the tables have the middle of these
	sed -i '/^turn-/d' "$RAW"
}

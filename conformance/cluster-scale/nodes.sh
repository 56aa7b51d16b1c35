# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# nodes.sh: one run with many nodes: etcd, the program, etcd's counters at its phases, and the leases at the end. Sourced by run.sh.

# etcd_begin: where ETCD says; https: with client certificates
etcd_begin()
{
	local options=() curl=(--max-time 10)
	rm -rf "$W/data"
	mkdir -m 700 "$W/data"
	if [[ $ETCD == https:* ]]; then
		# shellcheck source=conformance/cluster-store/certificates.sh
		. "$HERE/../cluster-store/certificates.sh"
		certificates || broken "no certificates"
		options=(--cert-file "$W/server.pem" --key-file "$W/server.key" --trusted-ca-file "$W/ca.pem" --client-cert-auth)
		curl+=(--cacert "$W/ca.pem" --cert "$W/client.pem" --key "$W/client.key")
	fi
	# the data is in memory, so nothing waits for a disk
	printf '%s\n' "$ENGINES/etcd-3.5" --data-dir "$W/data" --listen-client-urls "$ETCD" --advertise-client-urls "$ETCD" \
		--listen-peer-urls http://127.0.0.1:2380 --log-level warn "${options[@]}" >"$W/command"
	printf '%s\n' "${curl[@]}" >"$W/curl"
	echo "$ETCD" >"$W/url"
	"$CONTROL" start || broken "etcd does not start"
}

# counters NAME: etcd's counters now, as lines NAME VALUE
counters()
{
	curl -sf --max-time 30 "$ETCD/metrics" | awk '
		/^grpc_server_started_total/ { split($0, q, "\""); n["requests"] += $NF; n["requests_" q[2]] += $NF }
		/^etcd_mvcc_put_total/ { n["puts"] = $NF }
		/^etcd_debugging_mvcc_total_put_size_in_bytes/ { n["bytes"] = $NF }
		/^etcd_network_client_grpc_sent_bytes_total/ { n["sent"] = $NF }
		/^process_cpu_seconds_total/ { n["cpu"] = $NF }
		END { for (i in n) printf "%s %d\n", i, n[i] * (i == "cpu" ? 1000 : 1) }' >"$1"
	[ "$STORE" = etcd ] || kube_counters >>"$1"
}
# grown LABEL FROM TO COUNTER: by how much a counter grew between two phases
grown()
{
	awk -v c="$4" '$1 == c { v[FILENAME] = $2 } END { print v[ARGV[2]] - v[ARGV[1]] }' "$W/$1.$2" "$W/$1.$3"
}
# cpu_for LABEL PHASE N [COUNTER]: CPU of etcd in this phase for one of N, in milliseconds
cpu_for() { awk -v c="$(grown "$1" "$2-begin" "$2-end" "${4:-cpu}")" -v n="$3" 'BEGIN { printf "%.2f", c / n }'; }
# said LABEL FIRST WORD: the number behind WORD in the line of the program that begins with FIRST
said() { awk -v f="$2" -v w="$3" '$1 == f { for (i = 1; i < NF; i++) if ($i == w) print $(i + 1) }' "$W/$1.out"; }

# at_node COMMAND...: with the store and the records of the first node
at_node()
{
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount sh -c 'mount --bind "$1/lib" "$2" && mount --bind "$1/run" "$3" && shift 3 && exec "$@"' - \
		"$W/nodes/node-0" "$STATE" "$RUN" "$@"
}

# add_warm LABEL: whole runs of railhead-ipam on the first node, while the others are idle
add_warm()
{
	printf '{"cniVersion":"1.0.0","name":"rails","type":"macvlan","ipam":{"type":"railhead-ipam","pool":"warm"}}' >"$W/warm"
	ip netns add pod 2>/dev/null
	CNI_PATH=$BUILD/bin at_node "$HELPERS/measure" time 200 5 "$1,$BUILD/bin/railhead-ipam,$W/warm,/run/netns/pod" >>"$RAW" ||
		broken "$1: ADD with warm addresses failed"
}

# scale LABEL ARGUMENT...: a run; adds to LEASED, DUPLICATES and MISSING
scale()
{
	local label=$1 line rc
	shift
	say "$label: $*"
	if [ "$STORE" = etcd ]; then etcd_begin; else kube_begin; fi
	rm -rf "$W/nodes"
	mkdir -p "$W/nodes"
	coproc NODES { exec timeout -s KILL 1500 "$PROGRAM" "$WHERE" "$W/nodes" "$@" 2>"$W/$label.err"; }
	local pid=$NODES_PID
	exec 7<&"${NODES[0]}" 8>&"${NODES[1]}"
	while read -r line <&7; do
		echo "$line" >>"$W/$label.out"
		[[ $line == "phase "* ]] || say "$label: $line"
		[[ $line != "phase "* ]] || counters "$W/$label.${line#phase }"
		[ "$line $STORE" != "phase bare-end kubernetes" ] || kube_remove_blocks
		[ "$line" != "phase idle-begin" ] || { echo >&8 && add_warm "$label"; continue; }
		[[ $line != "phase "* ]] || echo >&8
	done
	exec 7<&- 8>&-
	wait "$pid"
	rc=$?
	if [ "$STORE" = etcd ]; then "$CONTROL" kill; else kube_end; fi
	[ "$rc" = 0 ] || { tail -n 5 "$W/$label.err" >&2; broken "$label: the nodes ended with $rc"; }
	judge "$label" "$@"
}

# leases: the addresses that the stores of all nodes have, one a line
leases()
{
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount bash -c 'for n in "$1"/*; do
		mount --bind "$n/lib" "$2" && "$3" ipam lease list --json || exit
		umount "$2"
	done' - "$W/nodes" "$STATE" "$BUILD/bin/railctl" | jq -r '.[].address'
}

# pools ARGUMENT...: all addresses of the pools railK
pools()
{
	# shellcheck disable=SC2034 # set by name
	local nodes pods rails block bare idle a
	for a; do printf -v "${a%%=*}" %s "${a#*=}"; done
	awk -v n=$((nodes * pods)) -v rails="$rails" 'BEGIN {
		for (k = 0; k < rails; k++) for (i = 8192; i < 8192 + n; i++) printf "10.%d.%d.%d\n", k, i / 256, i % 256 }'
}

judge() # LABEL ARGUMENT...
{
	local leased twice without other label=$1
	shift
	leases >"$W/leased" || broken "$label: the leases cannot be listed"
	pools "$@" | sort >"$W/expected"
	sort "$W/leased" >"$W/leased.sorted"
	leased=$(wc -l <"$W/leased")
	twice=$(uniq -d <"$W/leased.sorted" | wc -l)
	without=$(comm -13 <(uniq "$W/leased.sorted") "$W/expected" | wc -l)
	other=$(comm -23 <(uniq "$W/leased.sorted") "$W/expected" | wc -l)
	[ "$other" = 0 ] || broken "$label: $other addresses are of no pool"
	say "$label: addresses $leased, duplicates $twice, missing $without"
	LEASED=$((LEASED + leased)) DUPLICATES=$((DUPLICATES + twice)) MISSING=$((MISSING + without))
}

# figures_of_pods LABEL PODS
figures_of_pods()
{
	local l=$1 n=$2 rate bare all creates
	all=$(said "$l" pods addresses) creates=$(said "$l" bare bare)
	rate=$(awk -v n="$(said "$l" pods addresses)" -v ms="$(said "$l" pods ms)" 'BEGIN { printf "%d", n * 1000 / ms }')
	bare=$(awk -v n="$(said "$l" bare bare)" -v ms="$(said "$l" bare ms)" 'BEGIN { printf "%d", n * 1000 / ms }')
	fact "$l: addresses a second against bare creates" ">= 60%" "$rate / $bare = $(ratio "$rate" "$bare")" \
		"$(awk -v a="$rate" -v b="$bare" 'BEGIN { print (a >= .6 * b) ? "met" : "missed" }')"
	[ "$STORE" = kubernetes ] ||
		fact "$l: requests for an address, keys written" "" "$(ratio "$(grown "$l" pods-begin pods-end requests)" "$all"), $(ratio "$(grown "$l" pods-begin pods-end puts)" "$all")" ""
	fact "$l: CPU of etcd for an address against a bare create" "" "$(cpu_for "$l" pods "$all") ms / $(cpu_for "$l" bare "$creates") ms" ""
	fact "$l: time until all nodes know all pools" "" "$(said "$l" nodes ms) ms" ""
	fact "$l: an ADD that waits for its block, p50, p99" "" "$(said "$l" add p50) us, $(said "$l" add p99) us" ""
	fact "$l: ADDs that the runtime had to repeat" "" "$(said "$l" pods failures)" ""
	fact "$l: keys and bytes written for a pod" "" "$(ratio "$(grown "$l" pods-begin pods-end puts)" "$n"), $(ratio "$(grown "$l" pods-begin pods-end bytes)" "$n")" ""
	fact "$l: requests to etcd for a pod" "" "$(ratio "$(grown "$l" pods-begin pods-end requests)" "$n")" ""
	fact "$l: bytes that etcd sent for a pod" "" "$(ratio "$(grown "$l" pods-begin pods-end sent)" "$n")" ""
}

# figures_of_idle LABEL SECONDS NODES
figures_of_idle()
{
	local l=$1 beats
	beats=$(awk -v r="$(grown "$l" idle-begin idle-end requests)" -v s="$2" -v n="$3" 'BEGIN { printf "%.2f", r * 60 / s / n }')
	fact "idle: requests of a node in a minute" "a heartbeat" "$beats" ""
	fact "idle: keys written by a node in a minute" "1" "$(awk -v r="$(grown "$l" idle-begin idle-end puts)" -v s="$2" -v n="$3" \
		'BEGIN { printf "%.2f", r * 60 / s / n }')" ""
	fact "idle: CPU of etcd for $3 nodes" "" "$(awk -v c="$(grown "$l" idle-begin idle-end cpu)" -v s="$2" 'BEGIN { printf "%.2f%% of a core", c / s / 10 }')" ""
}

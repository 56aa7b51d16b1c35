# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# kubernetes.sh: an API server over etcd in place of etcd alone: its start, its counters, its figures. Sourced by run.sh.

# as_kube COMMAND...: with the folder of the API server
as_kube() { W=$W/kube "$@"; }

# A new API server and a new etcd for each run: nothing is left of the one before.
kube_begin()
{
	rm -rf "$W/kube"
	mkdir -p "$W/kube"
	(
		W=$W/kube
		# shellcheck source=conformance/cluster-store/certificates.sh
		. "$HERE/../cluster-store/certificates.sh"
		certificates && certificate admin /O=system:masters/CN=admin 'extendedKeyUsage=clientAuth'
	) && as_kube "$HERE/../cluster-store/kube.sh" setup >&2 || broken "the API server does not start"
}
kube_end()
{
	as_kube "$HERE/../cluster-store/kube.sh" kill
	kill -KILL "$(cat "$W/kube/etcd.pid")"
}

kube_as_admin() # PATH [OPTION...]
{
	local path=$1
	shift
	curl -sf --max-time 100 --cacert "$W/kube/ca.pem" --cert "$W/kube/admin.pem" --key "$W/kube/admin.key" "$@" "https://127.0.0.1:6443$path"
}
# kube_remove_blocks: those of the plain client. Their pool never existed, so each node would have to read them before it uses a pool. One
# deletion of them all takes longer than the API server gives a request, and is repeated.
kube_remove_blocks()
{
	local blocks=/apis/railhead.io/v1alpha1/railblocks
	local n
	for ((n = 0; n < 10; n++)); do
		kube_as_admin "$blocks" -X DELETE >/dev/null
		! kube_as_admin "$blocks?limit=1" | jq -e '.items == []' >/dev/null || return 0
	done
	broken "the blocks of the plain client are still there"
}

# kube_counters: the API server's counters now, as lines NAME VALUE. A watch counts when it ends, so those that run are counted.
kube_counters()
{
	kube_as_admin /metrics --max-time 30 |
		awk '
		function label(name) { return match($0, name "=\"[^\"]*\"") ? substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 3) : "" }
		/^apiserver_request_total/ && (label("group") == "railhead.io" || label("resource") == "leases" && label("verb") == "PATCH") {
			n["api_requests"] += $NF; n["api_" label("verb") "_" label("resource")] += $NF }
		/^apiserver_request_total/ && (label("group") ~ /^(railhead.io|whereabouts.cni.cncf.io|spiderpool.spidernet.io)$/ || label("resource") == "leases") { n["api_all"] += $NF }
		/^apiserver_longrunning_requests/ && label("group") == "railhead.io" { n["api_watches"] += $NF }
		/^apiserver_flowcontrol_rejected_requests_total/ { n["api_rejected"] += $NF }
		/^process_cpu_seconds_total/ { n["api_cpu"] = $NF * 1000 }
		/^process_resident_memory_bytes/ { n["api_memory"] = $NF }
		END { for (i in n) printf "%s %d\n", i, n[i] }'
}

# by_verb LABEL FROM TO DIVISOR: requests of each kind between two phases, divided
by_verb()
{
	awk -v n="$4" '/^api_[A-Z]/ { v[FILENAME, $1] = $2; name[$1] } END {
		for (i in name) {
			d = v[ARGV[2], i] - v[ARGV[1], i]
			split(i, part, "_")
			if (d) printf "%s%s %s %.2f", sep, part[2], part[3], d / n
			if (d) sep = ", "
		}
	}' "$W/$1.$2" "$W/$1.$3"
}

# figures_of_kube_pods LABEL ADDRESSES PODS
figures_of_kube_pods()
{
	local l=$1 n=$2
	fact "$l: requests to the API server for an address" "" "$(ratio "$(grown "$l" pods-begin pods-end api_requests)" "$n")" ""
	fact "$l: these by verb" "" "$(by_verb "$l" pods-begin pods-end "$n")" ""
	fact "$l: CPU of the API server and etcd for an address" "" "$(cpu_for "$l" pods "$n" api_cpu) ms, $(cpu_for "$l" pods "$n" cpu) ms" ""
	fact "$l: the same for a bare create" "" "$(cpu_for "$l" bare "$(said "$l" bare bare)" api_cpu) ms, $(cpu_for "$l" bare "$(said "$l" bare bare)" cpu) ms" ""
	fact "$l: memory of the API server" "" "$(awk '$1 == "api_memory" { printf "%d MB", $2 / 1e6 }' "$W/$l.pods-end")" ""
	fact "$l: requests that the API server told to come later (429): while the nodes start, while the pods start" "" \
		"$(grown "$l" start-begin start-end api_rejected), $(grown "$l" pods-begin pods-end api_rejected)" ""
}

# figures_of_kube_idle LABEL SECONDS NODES
figures_of_kube_idle()
{
	local l=$1
	fact "idle: requests of a node in a minute" "a heartbeat" \
		"$(awk -v r="$(grown "$l" idle-begin idle-end api_requests)" -v s="$2" -v n="$3" 'BEGIN { printf "%.2f", r * 60 / s / n }')" ""
	fact "idle: these by verb" "" "$(by_verb "$l" idle-begin idle-end "$(awk -v s="$2" -v n="$3" 'BEGIN { print s * n / 60 }')")" ""
	fact "idle: watches of a node" "2" "$(awk -v n="$3" '$1 == "api_watches" { printf "%.2f", $2 / n }' "$W/$l.idle-end")" ""
	fact "idle: CPU of the API server for $3 nodes" "" \
		"$(awk -v c="$(grown "$l" idle-begin idle-end api_cpu)" -v s="$2" 'BEGIN { printf "%.2f%% of a core", c / s / 10 }')" ""
}

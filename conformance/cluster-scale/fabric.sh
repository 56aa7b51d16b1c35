# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# fabric.sh: what the objects of nodes with eight cabled rails cost, and who reads them all. Sourced by run.sh.
#
# fabric.py writes the objects, as their agents would. One real agent runs, and railctl asks it.

# reads WHAT NODES COMMAND...: a row with its time and memory. A command that finds something has exit status 1 or 3.
reads()
{
	local what=$1 n=$2 seconds kib rc
	shift 2
	read -r seconds kib rc < <(in_peer 0 "$HERE/fabric.py" run "$BUILD/bin/railctl" "$@" 2>"$W/fabric.out")
	case $rc in
	0 | 1 | 3) fact "$n nodes: $what: time, memory of railctl" "" "$seconds s, $((kib / 1024)) MB" "" ;;
	*) broken "$what: $(tail -n 3 "$W/fabric.out")" ;;
	esac
}
agent_kib() { awk -v k="$1" '$1 == k ":" { print $2 }' "/proc/${AGENTS[0]}/status"; }
# own_version: of the object of the node that has an agent
own_version()
{
	if [ "$STORE" = etcd ]; then
		curl -sf "$ETCD/v3/kv/range" -d "{\"key\":\"$(printf /railhead/nodes/fabric-0 | base64 -w 0)\"}" | jq -r '.kvs[0].mod_revision'
	else
		kube_as_admin /apis/railhead.io/v1alpha1/railnodes/fabric-0 | jq -r .metadata.resourceVersion
	fi
}

# store_costs: CPU seconds of the API server and of etcd, bytes that etcd has received, and the size of its file
store_costs()
{
	echo "$(kube_as_admin /metrics --max-time 30 | awk '/^process_cpu_seconds_total/ { print $2 }')" \
		"$(curl -sf http://127.0.0.1:2379/metrics | awk '/^(process_cpu_seconds_total|etcd_network_client_grpc_received_bytes_total|etcd_mvcc_db_total_size_in_bytes)/ { v[$1] = $2 }
			END { print v["process_cpu_seconds_total"], v["etcd_network_client_grpc_received_bytes_total"], v["etcd_mvcc_db_total_size_in_bytes"] }')"
}
# writes_of NODES TO...: all nodes write at a time
writes_of()
{
	local made bytes seconds half most before after
	read -ra before < <(store_costs)
	read -r made bytes seconds half most < <("$HERE/fabric.py" change "${@:2}") || broken "the objects do not change"
	read -ra after < <(store_costs)
	fact "$1 nodes write at a time: seconds, writes a second" "" "$seconds s, $(ratio "$made" "$seconds")" ""
	fact "$1 nodes: a write, 50% and 99%" "" "$half ms, $most ms" ""
	fact "$1 nodes: bytes of the writes; that etcd gets; its file grows by" "" \
		"$((bytes / 1000)) kB; $(awk -v a="${before[2]}" -v b="${after[2]}" 'BEGIN { printf "%d", (b - a) / 1000 }') kB; $(awk -v a="${before[3]}" -v b="${after[3]}" 'BEGIN { printf "%d", (b - a) / 1000 }') kB" ""
	fact "$1 nodes: CPU of the API server and of etcd" "" "$(awk -v a="${before[*]}" -v b="${after[*]}" 'BEGIN { split(a, x, " "); split(b, y, " "); printf "%.1f s, %.1f s", y[1] - x[1], y[2] - x[2] }')" ""
}

figures_of_fabric() # NODES...
{
	local n made bytes seconds version limit before to
	for n; do
		if [ "$STORE" = etcd ]; then
			etcd_begin
			to=("$ETCD" "$n")
		else
			kube_begin
			to=(https://127.0.0.1:6443 "$n" "$W/kube/ca.pem" "$W/kube/admin.pem" "$W/kube/admin.key")
		fi
		read -r made bytes seconds < <("$HERE/fabric.py" put "${to[@]}") || broken "no objects"
		fact "$made nodes: bytes of an object, of all; to write them, one after the other" "" "$((bytes / made)), $((bytes / 1000)) kB; $seconds s" ""
		agents_begin fabric 1
		limit=$((SECONDS + 60))
		until version=$(own_version) && [ -n "$version" ] && [ "$version" != null ]; do
			[ $SECONDS -lt $limit ] || broken "the agent does not write its object: $(tail -n 1 "$W/peer/0/log")"
			sleep 0.2
		done
		sleep 3
		version=$(own_version) before=$(agent_kib VmRSS)
		printf '%s\n' 'supernet: 10.192.0.0/10' 'rails: 8' 'nodesPerGroup: 32' >"$W/plan.yaml"
		echo '{}' >"$W/labels.json"
		reads "railctl cluster fabric" "$n" cluster fabric --json
		reads "railctl cluster topology" "$n" cluster topology --labels "$W/labels.json" --format slurm
		reads "railctl cluster plan" "$n" cluster plan --json "$W/plan.yaml"
		reads "railctl cluster node list" "$n" cluster node list --json
		reads "railctl cluster status" "$n" cluster status
		fact "$n nodes: memory of the agent before, at most" "" "$((before / 1024)) MB, $(($(agent_kib VmHWM) / 1024)) MB" ""
		sleep "${IDLE:-60}"
		fact "$n nodes: writes of the node's object in ${IDLE:-60} s and these questions" 0 "$([ "$(own_version)" = "$version" ] && echo 0 || echo more)" ""
		[ "$STORE" = etcd ] || writes_of "$n" "${to[@]}"
		agents_end
		if [ "$STORE" = etcd ]; then "$CONTROL" kill; else kube_end; fi
	done
}

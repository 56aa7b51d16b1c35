# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# jobkinds.sh: the gate of a job in pods that the real controllers of JobSet and LeaderWorkerSet make, and two jobs at once. Sourced by
# run.sh; claims_up and others are of resourceclaims.sh, gate of claimgroups.sh.
#
# The controllers are processes beside the API server, which calls their webhooks by a URL. The cluster has no RDMA: each rank says so.

# controller MODULE CRD LABEL PORT: it runs, with its webhooks; those of pods are called for pods with that label.
controller()
{
	local at=$CLUSTER/$1 dir=$W/$1
	[ -x "$CLUSTER/bin/$1" ] || skip "$1 is not in $CLUSTER: make cluster-programs"
	KIND=$1 OBJECTS=${2#*_}
	trap 'controller_ends; groups_down' EXIT
	mkdir -p "$dir"
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=webhook -addext "subjectAltName=IP:$API" \
		-keyout "$dir/tls.key" -out "$dir/tls.crt" 2>/dev/null || fail 'test error: a certificate'
	is "types of $1" k create -f "$at/$2.yaml"
	eventually k wait --for=condition=Established -f "$at/$2.yaml" --timeout=1s
	cat >"$dir/config.yaml" <<-END
	apiVersion: config.$1.x-k8s.io/v1alpha1
	kind: Configuration
	internalCertManagement: {enable: false}
	webhook: {port: $4, certDir: $dir}
	END
	daemon "$1" "$CLUSTER/bin/$1" --config "$dir/config.yaml" --leader-elect=false --metrics-bind-address 0 --health-probe-bind-address 0
	eventually curl -sk "https://$API:$4/"
	k create --dry-run=client -o json -f "$at/manifests.yaml" | jq --arg url "https://$API:$4" --arg ca "$(base64 -w0 "$dir/tls.crt")" --arg key "$3" --arg m "$1" '
		.metadata.name = $m | .webhooks[] |= (.clientConfig = {url: ($url + .clientConfig.service.path), caBundle: $ca}
			| if .rules[0].resources == ["pods"] then .objectSelector = {matchExpressions: [{key: $key, operator: "Exists"}]} else . end)' \
		>"$dir/webhooks.json"
	is "webhooks of $1" k create -f "$dir/webhooks.json"
}
controller_ends()
{
	kn delete "$OBJECTS" --all --cascade=foreground --wait --timeout=${LONG}s >/dev/null 2>&1
	k delete -f "$W/$KIND/webhooks.json" --ignore-not-found >/dev/null 2>&1
	[ ! -e "$W/k8s/$KIND.pid" ] || kill "$(<"$W/k8s/$KIND.pid")"
	for file in "$CLUSTER/$KIND"/*_*.yaml; do k delete -f "$file" --ignore-not-found --wait=false >/dev/null 2>&1; done
}

# pod_said POD TEXT: a container of that pod's name said it, this one or the one before.
pod_said()
{
	{ kn logs "$1" && kn logs "$1" --previous; } 2>/dev/null | grep -qF -- "$2"
}
of_pod() { kn get pod "$1" -o json | jq -r "$2"; }

once_the_gate_in_pods_of_the_jobset_controller()
{
	groups_up
	controller jobset jobset.x-k8s.io_jobsets jobset.sigs.k8s.io/jobset-name 9443
	gate job-gate-jobset.yaml
	eventually jobset_ended
	eq 'how the ranks end' "$(jobset_ends)" '0 8 1 4'
	has 'what rank 0 says' "$(kn logs -l batch.kubernetes.io/job-completion-index=0)" 'incomplete: 0 of 2 ranks came, missing: 0 1'
	has 'what rank 1 says' "$(kn logs -l batch.kubernetes.io/job-completion-index=1)" 'this pod has no RDMA rail'
	eq 'the service publishes addresses that are not ready' "$(kn get service gated -o jsonpath='{.spec.publishNotReadyAddresses} {.spec.clusterIP}')" 'true None'
	eq 'the name of rank 0' "$(kn get pods -l batch.kubernetes.io/job-completion-index=0 -o json | jq -r '.items[0].spec | "\(.hostname).\(.subdomain)"')" \
		gated-workers-0-0.gated
	rail check gated -n "$NAMESPACE"
	eq 'its pods are found, and may start together' "$(grep -c 'no pod\|one after another\|InOrder' "$W/err")" 0
}
jobset_ends()
{
	kn get pods -l jobset.sigs.k8s.io/jobset-name=gated -o json | jq -r '[.items[] | [.metadata.labels["batch.kubernetes.io/job-completion-index"],
		.status.containerStatuses[0].state.terminated.exitCode // "-"]] | sort | flatten | map(tostring) | join(" ")'
}
jobset_ended() { [[ $(jobset_ends) =~ ^0\ [0-9]+\ 1\ [0-9]+$ ]]; }

# Its containers are started again. The controller would make the pods of the group again, too, so `gate` sets restartPolicy None.
once_the_gate_in_pods_of_the_leaderworkerset_controller()
{
	groups_up
	controller lws leaderworkerset.x-k8s.io_leaderworkersets leaderworkerset.sigs.k8s.io/name 9444
	kn create secret generic gate --from-literal=key=secret >/dev/null || fail 'test error: a secret'
	gate job-gate-leaderworkerset.yaml
	eventually pod_said gated-0 'incomplete: 0 of 2 ranks came, missing: 0 1'
	eventually pod_said gated-0-1 'this pod has no RDMA rail'
	eq 'what the controller says to the worker' "$(of_pod gated-0-1 '[.spec.containers[0].env[] | select(.name | test("^LWS_(LEADER|GROUP|WORKER)")) | "\(.name)=\(.value)"]
		| sort | join(" ")')" "LWS_GROUP_SIZE=2 LWS_LEADER_ADDRESS=gated-0.gated.$NAMESPACE LWS_WORKER_INDEX=1"
	eq 'the service publishes addresses that are not ready' "$(kn get service gated -o jsonpath='{.spec.publishNotReadyAddresses} {.spec.clusterIP}')" 'true None'
	rail check gated -n "$NAMESPACE"
	eq 'its pods are found, and may start together' "$(grep -c 'no pod\|one after another\|LeaderReady' "$W/err")" 0
}

# Each has its own service, key and ranks.
once_two_gates_at_once()
{
	groups_up
	gate job-gate.yaml
	gate job-gate.yaml 's/gated/other/g'
	for job in gated other; do
		eventually gate_ended $job
		eq "how the ranks of $job end" "$(gate_ends $job)" '0 8 1 4'
		eq "the verdict of $job" "$(kn logs -l "batch.kubernetes.io/job-name=$job,batch.kubernetes.io/job-completion-index=0" | grep -v 'no RDMA rail\|not tested')" \
			'incomplete: 0 of 2 ranks came, missing: 0 1: 0 tests in 0 s'
	done
	eq 'pods of both on each node' "$(kn get pods -o json | jq -r '[.items[] | .spec.nodeName] | sort | join(" ")')" 'n1 n1 n2 n2'
}

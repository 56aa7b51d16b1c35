# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# claimgroups.sh: rails that agree between pods: groups of rails on both nodes, `kubectl rail claim` and `kubectl rail check`. Sourced by
# run.sh; claims_up and others are of resourceclaims.sh, rail of kubectl.sh.

GROUP_A='rails: rail0 rail1 rail2 rail3'
GROUP_B='rails: rail4 rail5 rail6 rail7'

# groups_up: the classes half (a group) and rail (single ones) beside that of all rails.
groups_up()
{
	from_version 36 'limits that are claims'
	DRIVERS='1 2' OF_AGENT='"groups": {"a": [0, 1, 2, 3], "b": [4, 5, 6, 7]}'
	claims_up
	trap groups_down EXIT
	rails_class half railhead.io/half group '{"kind": "macvlan", "ipam": '"$RAIL_POOLS"'}'
	rails_class rail '' card '{"kind": "macvlan", "ipam": '"$RAIL_POOLS"'}'
	eventually groups_published
}
groups_published() { [ "$(slices '[.[] | select(.attributes.kind.string == "group") | .attributes.group.string] | group_by(.) | map(length)')" = '[32,32]' ]; }
groups_down()
{
	kn delete job --all --wait --timeout=${LONG}s >/dev/null 2>&1
	claims_down
	k delete deviceclass half rail --ignore-not-found >/dev/null
}
# half NAME NODE: a pod with the rails of some group
half() { counting "$1" '.spec.nodeSelector["kubernetes.io/hostname"] = "n'"$2"'" | .spec.containers[0].resources.limits = {"railhead.io/half": "1"}'; }

# The second pod of a node has other rails than the first one, and the nodes begin with different groups.
once_small_jobs_go_round_the_groups()
{
	groups_up
	half a 1
	half c 2
	running a c
	half b 1
	running b
	eq 'the first pod of n1' "$(saw a)" "$GROUP_A"
	eq 'the second pod of n1' "$(saw b)" "$GROUP_B"
	eq 'the first pod of n2' "$(saw c)" "$GROUP_B"
	eq 'the addresses of n2' "$(leases 2 | cut -d. -f2 | xargs)" '24 25 26 27'
	# Rails of one claim are of one group; which one, the node says.
	kn apply -f - >/dev/null <<-'END' || fail 'test error: template'
	{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: four}, spec: {spec: {devices: {
	requests: [{name: rails, exactly: {deviceClassName: rail, count: 4}}],
	constraints: [{requests: [rails], matchAttribute: railhead.io/group}]}}}}
	END
	counting d '.spec.nodeSelector["kubernetes.io/hostname"] = "n2" | del(.spec.containers[0].resources.limits)
		| .spec.resourceClaims = [{name: "r", resourceClaimTemplateName: "four"}] | .spec.containers[0].resources.claims = [{name: "r"}]'
	running d
	eq 'four rails of one claim' "$(saw d)" "$GROUP_B"
}

# A device has the leaf and the port that the agent has heard, and a claim can ask for them.
once_rails_by_their_leaf()
{
	local leaf=a i
	from_version 36 'limits that are claims'
	OF_AGENT='}, "fabric": {"every": 1' claims_up
	trap leaf_down EXIT
	rails_class rail '' card '{"kind": "macvlan", "ipam": '"$RAIL_POOLS"'}'
	for i in 1 2 3 4 5 6 7 8; do
		[ "$i" != 6 ] || leaf=b
		eventually listened "$i"
		is 'a frame' "$HERE/../agent/lldp.py" "n1e$i" "leaf-$leaf" "swp$i"
		leaf=a
	done
	eventually leaves_published
	kn apply -f - >/dev/null <<-'END' || fail 'test error: template'
	{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: leaf}, spec: {spec: {devices: {
	requests: [{name: rails, exactly: {deviceClassName: rail, selectors: [{cel: {expression: 'device.attributes["railhead.io"].leaf == "leaf-b"'}}]}}]}}}}
	END
	counting a 'del(.spec.containers[0].resources.limits)
		| .spec.resourceClaims = [{name: "r", resourceClaimTemplateName: "leaf"}] | .spec.containers[0].resources.claims = [{name: "r"}]'
	running a
	eq 'the rail on that leaf' "$(saw a)" 'rails: rail5'
	# An agent that does not listen any more says no leaf.
	agent 1 '{"kubernetes": {"kubeconfig": "/etc/railhead/kubeconfig"}, "claims": {}}'
	service 1 railhead-devices stop
	driver_starts
	eventually leaves_withdrawn
	eq 'the pod stays' "$(kn get pod a -o jsonpath='{.status.phase}')" Running
}
# listened CARD: the agent listens by it
listened() { node 1 railctl cluster status --json | jq -e --arg i "eth$1" 'any(.neighbours.list[]; .interface == $i)'; }
leaves_published()
{
	[ "$(slices '[.[] | select(.attributes.kind.string == "card") | .attributes | [.rail.int, .leaf.string, .port.string] | join(" ")] | sort | join(", ")')" = \
		'"0 leaf-a swp1, 1 leaf-a swp2, 2 leaf-a swp3, 3 leaf-a swp4, 4 leaf-a swp5, 5 leaf-b swp6, 6 leaf-a swp7, 7 leaf-a swp8"' ]
}
leaves_withdrawn() { eq 'leaves' "$(slices '[.[].attributes.leaf // empty] | length')" 0; }
leaf_down()
{
	claims_down
	k delete deviceclass rail --ignore-not-found >/dev/null
}

test_pods_gone() { [ -z "$(kn get pods -l railhead.io/verify -o name)" ]; }
no_claims() { [ "$(kn get resourceclaims -o json | jq '.items | length')" = 0 ]; }

# gate FILE [SED]: the example, with an image and rails of this cluster
gate()
{
	sed "${2-}" "$TOP/examples/claims/$1" | k create --dry-run=client -o json -f - | jq --arg image "$IMAGE" 'del(.metadata.namespace)
		| if .kind == "Job" then .spec.backoffLimit = 0 elif .kind == "LeaderWorkerSet" then .spec.leaderWorkerTemplate.restartPolicy = "None" else . end
		| walk(if type == "object" and has("containers") then .enableServiceLinks = false | .automountServiceAccountToken = false
			| .containers[0] |= (.image = $image | .imagePullPolicy = "Never" | .resources.limits = {"railhead.io/half": "1"}) else . end)' |
		kn create -f - >/dev/null || fail "test error: examples/claims/$1"
}
set_ended()
{
	[ "$(for i in 0 1; do kn get pod gated-$i -o json | jq -r '.status.containerStatuses[0] | .state.terminated // .lastState.terminated | .exitCode'; done | xargs)" = "8 4" ]
}
# gate_ends [JOB]: of each rank its number and exit status
gate_ends()
{
	kn get pods -l "batch.kubernetes.io/job-name=${1-gated}" -o json | jq -r '[.items[] | [.metadata.labels["batch.kubernetes.io/job-completion-index"],
		.status.containerStatuses[0].state.terminated.exitCode // "-"]] | sort | flatten | map(tostring) | join(" ")'
}
gate_ended() { [[ $(gate_ends "$@") =~ ^0\ [0-9]+\ 1\ [0-9]+$ ]]; }

# One template for a job: both pods have the same rails, and reach each other. Without it the nodes choose, and `kubectl rail check` says so.
once_a_job_with_one_group()
{
	local p
	groups_up
	rail claim train --class half --group a
	is 'the template' kn apply -f "$W/out"
	job train '.spec.resourceClaims = [{name: "rails", resourceClaimTemplateName: "train"}] | .spec.containers[0].resources.claims = [{name: "rails"}]'
	for p in $(pods_of train); do eq "what $p saw" "$(saw "$p")" "$GROUP_A"; done
	eq 'nodes' "$(kn get pods -o json | jq -r '.items[].spec.nodeName' | sort | xargs)" 'n1 n2'
	p=$(kn get pods -o json | jq -r '.items[] | select(.spec.nodeName == "n1").metadata.name')
	is 'rail 3 reaches the other pod' kn exec "$p" -- ping -c 1 -W 10 -I rail3 "$(leases 2 | grep '^10\.23\.')"
	rail check train -n "$NAMESPACE"
	eq 'rails meet' "$RC $(<"$W/err")" '0 '
	has 'its rails' "$(tr -s ' ' <"$W/out")" "$p n1 "
	# These rails have no RDMA: the ranks say so, and rank 0 names them. With RDMA: the suite job of ../vm. The agents of this case may have
	# written what their nodes have by now, without leaves.
	rail verify train -n "$NAMESPACE" --seconds 5
	eq 'a rank in each pod' "$RC $(grep -v 'not tested\|not known' "$W/out")" '8 incomplete: 0 of 2 ranks came, missing: 0 1: 0 tests in 0 s'
	has 'why' "$(<"$W/err")" 'rank 1: rdma-probe: this pod has no RDMA rail'
	# Without a job: test pods, which go in any case.
	rail verify -n "$NAMESPACE" --nodes n1,n2 --claim train --image "$IMAGE" --seconds 5
	eq 'test pods' "$RC $(grep -v 'not tested\|not known' "$W/out" | head -n 1)" '8 incomplete: 0 of 2 ranks came, missing: 0 1: 0 tests in 0 s'
	eventually test_pods_gone
	rail verify -n "$NAMESPACE" --nodes n1,n9 --claim train --image "$IMAGE"
	eq 'a node that is not there' "$RC $(tail -n 1 "$W/err")" '1 kubectl rail: not all test pods run'
	has 'and why' "$(<"$W/err")" "match Pod's node affinity/selector"
	eventually test_pods_gone
	is 'the job ends' kn delete job train --cascade=foreground --wait --timeout=${LONG}s
	eventually no_claims
	job loose '.spec.containers[0].resources.limits = {"railhead.io/half": "1"}'
	rail check loose -n "$NAMESPACE"
	eq 'rails do not meet' "$RC" 1
	has 'rails do not meet' "$(<"$W/err")" 'do not meet'
	is 'the job ends' kn delete job loose --cascade=foreground --wait --timeout=${LONG}s
	# The gate of the example: without RDMA the command does not start. Rank 0 says who is missing, the other one why.
	gate job-gate.yaml
	eventually gate_ended
	eq 'how the ranks end' "$(gate_ends)" '0 8 1 4'
	has 'what rank 1 says' "$(kn logs -l batch.kubernetes.io/job-completion-index=1)" 'this pod has no RDMA rail'
	is 'the gate ends' kn delete job,service gated --cascade=foreground --wait --timeout=${LONG}s
	# The same of a StatefulSet, whose containers are started again.
	kn create secret generic gate --from-literal=key=secret >/dev/null || fail 'test error: a secret'
	gate job-gate-statefulset.yaml
	eventually set_ended
	rail check gated -n "$NAMESPACE"
	eq 'both may start' "$(grep -c 'one after another' "$W/err")" 0
	is 'the set ends' kn delete statefulset gated --cascade=foreground --wait --timeout=${LONG}s
	# Single rails, by their group.
	rail claim two --class rail --count 2 --group b
	is 'the template' kn apply -f "$W/out"
	job two '.spec.resourceClaims = [{name: "rails", resourceClaimTemplateName: "two"}] | .spec.containers[0].resources.claims = [{name: "rails"}]'
	for p in $(pods_of two); do eq "what $p saw" "$(saw "$p")" 'rails: rail4 rail5'; done
	rail check two -n "$NAMESPACE" --json
	eq 'its rails as JSON' "$RC $(jq -c .rails "$W/out" | sort -u)" '0 ["rail4","rail5"]'
}

# GPUs by the real dra-example-driver, and rails, by the files of examples/claims. A pod has eight GPUs and all rails by two lines. The pods of
# a Job have four GPUs and half of the rails by one claim.
once_gpus_and_rails_by_the_examples()
{
	local i p one
	groups_up
	claims_begin 0000:7f:1f.{0,1,2,3,4,5,6,7}
	trap 'kn delete job --all --wait; claims_end; groups_down' EXIT
	of_example eight-rails.yaml
	running worker
	eq 'its rails' "$(saw worker worker)" "$ALL_RAILS"
	eq 'its GPUs' "$(gpus_in worker)" 'gpu-0 gpu-1 gpu-2 gpu-3 gpu-4 gpu-5 gpu-6 gpu-7'
	is 'the file that the variable names' kn exec worker -- sh -c 'cat "$NCCL_CONF_FILE"'
	eventually status_of_claim_has_addresses || fail "the status of the claim: $(kn get resourceclaims -o yaml)"
	of_example eight-rails.yaml '.metadata.name = "late"'
	event late 'cannot allocate all claims'
	delete worker
	running late
	eq 'the rails of late' "$(saw late worker)" "$ALL_RAILS"
	eq 'the GPUs of late' "$(gpus_in late | wc -w)" 8
	delete late
	eventually eight_gone
	of_example half-job.yaml
	eventually job_runs train
	# shellcheck disable=SC2046 # names
	running $(pods_of train)
	for p in $(pods_of train); do
		eq "what $p saw" "$(saw "$p" worker)" "$GROUP_A"
		eq "the GPUs of $p" "$(gpus_in "$p" | wc -w)" 4
		one+=" $(gpus_in "$p")"
	done
	eq 'no GPU is in both' "$(tr ' ' '\n' <<<"$one" | grep . | sort -u | wc -l)" 8
	rail check train -n "$NAMESPACE"
	eq 'rails meet' "$RC $(<"$W/err")" '0 '
}
eight_gone() { [ -z "$(leases 1)" ]; }

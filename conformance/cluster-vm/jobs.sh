# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# jobs.sh: `kubectl rail verify` over RDMA, in the pods of a Job that have VFs by claims. Sourced by run.sh, behind vfclaims.sh.
#
# The VFs of this guest have no RDMA. So each pod gets rxe devices on its VFs when it runs already, and is privileged, to open their files.

# pid_of POD: its process, in the guest
pid_of()
{
	local id
	id=$(kn get pod "$1" -o jsonpath='{.status.containerStatuses[0].containerID}')
	node 1 ctr -n k8s.io task ls | awk -v id="${id#containerd://}" '$1 == id { print $2 }'
}
# verify ARGUMENT...: RC; $W/out and $W/err
verify() { kubectl_rail verify train -n "$NAMESPACE" --seconds 30 "$@"; }
job_ends()
{
	kn delete job --all --cascade=foreground --wait --timeout=${LONG}s
	vfclaims_end
	guest rm -f "$(node_root 1)/opt/cni/bin/rdma-probe"
	guest modprobe -r rdma_rxe
}
has_gid() { [[ $(kn exec "$1" -- /run/railhead/rdma-probe list) == *"::ffff:$(rail_address "$1" "$2") "* ]]; }
no_probes() { [ "$(guest pgrep -xc rdma-probe)" = 0 ]; }
some_probes() { [ "$(guest pgrep -xc rdma-probe)" -ge 3 ]; }

test_the_rails_of_a_job_over_rdma()
{
	local p pods pid away rail
	vfclaims_begin '{"kind": "sriov", "ipam": '"$RAIL_POOLS"'}'
	trap job_ends EXIT
	is 'the program' guest cp /vm/bin/rdma-probe-static "$(node_root 1)/opt/cni/bin/rdma-probe"
	is 'RDMA in the kernel' guest modprobe -a rdma_rxe ib_uverbs
	job train '.spec.containers[0].resources.limits = {"railhead.io/rails": "1"} | .spec.containers[0].securityContext = {privileged: true}'
	pods=$(pods_of train)
	for p in $pods; do
		is "RDMA of $p" guest rxe_in "$(pid_of "$p")" rail0 rail1
		for rail in rail0 rail1; do eventually has_gid "$p" $rail; done
	done
	verify --json
	eq 'the rails carry it' "$RC $(jq -c '[.findings[] | select(.code | IN("all-slow", "noisy", "undecided") | not) | .code, .evidence]' "$W/out") $(<"$W/err")" '0 [] '
	eq 'each rail was measured' "$(jq -c '[.ranks[].rails[] | select(.bytesPerSecond > 0).rail]' "$W/out")" '["rail0","rail1","rail0","rail1"]'
	p=${pods%%$'\n'*}
	away=$(rail_address "${pods##*$'\n'}" rail1)
	is 'packets of one rail go nowhere' inside "$p" ip neigh replace "$away" lladdr 02:00:00:00:00:01 dev rail1
	verify
	eq 'that is found' "$RC $(grep -cE '^fail no-reach: .* rail1 or .* rail1 ' "$W/out")" '7 1'
	eq 'nothing else fails' "$(grep -c '^fail' "$W/out")" 1
	is 'as before' inside "$p" ip neigh del "$away" dev rail1
	# Interrupted: no process is left in the pods.
	verify &
	pid=$!
	eventually some_probes
	pkill -TERM -P $pid
	wait $pid
	eventually no_probes
}

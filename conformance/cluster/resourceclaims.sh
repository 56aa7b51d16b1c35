# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# resourceclaims.sh: rails by resource claims: one line in the pod, without Multus' annotation. Sourced by run.sh.
#
# The driver is that of railhead-devices on n1, with the rights of packaging/kubernetes. The real scheduler allocates. Each pod
# counts its rails first, before any other command, and its log says what it saw.

CLAIMS=/run/railhead/claims
CLASS=rails-by-claim
IN_POD=/run/railhead/railctl # the image has no library, and is not asked for a shell
RAIL_POOLS='{"type": "railhead-ipam", "pool": "rail{n}"}'

# claims_up [NETWORK [KEYS]]: rails 0 to 7 of n1 with a pool each, its driver, and a class with such a RailConfig. DRIVERS: the nodes, if
# n1 is not the only one.
claims_up()
{
	local n config
	from_version 34 claims
	config=${1-'{"kind": "macvlan", "ipam": '$RAIL_POOLS'}'}
	trap claims_down EXIT
	is 'rights' k apply -f "$TOP/packaging/kubernetes/crds" -f "$TOP/packaging/kubernetes/rbac.yaml" -f "$TOP/packaging/kubernetes/policy.yaml" \
		-f "$TOP/packaging/kubernetes/claims.yaml"
	for n in ${DRIVERS-1}; do claims_node "$n"; done
	rails_class "$CLASS" railhead.io/rails set "$config" "${2-null}"
	eventually rails_published 1
}
claims_node() # N
{
	local i root
	root=$(node_root "$1")
	cp "$FROM/railhead" "$FROM/railhead-hook" "$FROM/railctl" "$root/opt/cni/bin" && cp "$FROM/rdma-probe-static" "$root/opt/cni/bin/rdma-probe" &&
		mkdir -p "$root/etc/railhead" || fail 'test error: programs'
	cp "$TOP/examples/rails/rails.json" "$root/etc/railhead/rails.json" || fail 'test error: rails.json'
	for i in 0 1 2 3 4 5 6 7; do
		pool "$1" "rail$i" --subnet "10.2$i.0.0/16" --range "10.2$i.$1.0/${LEAST:-24}"
	done
	kubeconfig "agent$1" >"$root/etc/railhead/kubeconfig"
	agent "$1" '{"kubernetes": {"kubeconfig": "/etc/railhead/kubeconfig"}, "claims": {'"${OF_AGENT-}"'}}'
	driver_starts "$1"
}
rails_class() # NAME EXTENDED KIND NETWORK [KEYS]
{
	jq -n --arg name "$1" --arg extended "$2" --arg kind "$3" --argjson config "$4" --argjson keys "${5-null}" '{apiVersion: "resource.k8s.io/v1", kind: "DeviceClass",
		metadata: {name: $name}, spec: {selectors: [{cel: {expression: "device.driver == \"railhead.io\" && device.attributes[\"railhead.io\"].kind == \"\($kind)\""}}],
		config: [{opaque: {driver: "railhead.io", parameters: ({apiVersion: "railhead.io/v1alpha1", kind: "RailConfig", network: $config, runtimeClasses: ["crun"]} + $keys)}}]}}
		| if $extended == "" then . else .spec.extendedResourceName = $extended end' | k apply -f - >/dev/null || fail 'test error: the class'
}
claims_down()
{
	local n
	kn delete pod --all --grace-period=1 --wait --timeout=${LONG}s >/dev/null 2>&1
	kn delete resourceclaim --all --wait --timeout=${LONG}s >/dev/null 2>&1
	for n in ${DRIVERS-1}; do
		eventually nothing_of_claims "$n" || fail "left of claims: $(<"$W/is")"
		[ "$n" != 1 ] || multus_thin 1 "$(cluster_network 1)"
		service "$n" railhead-devices stop
		service "$n" railheadd stop
		rm -f "$(node_root "$n")"/etc/railhead/{agent.json,rails.json,kubeconfig} "$(node_root "$n")"/opt/cni/bin/{railhead,railhead-hook,railctl,rdma-probe}
	done
	k delete deviceclass $CLASS --ignore-not-found >/dev/null
	k delete resourceslice --field-selector spec.driver=railhead.io >/dev/null
	k delete railnodes --all >/dev/null 2>&1
	# Its policy is for pods with a limit, also of other cases.
	k delete --ignore-not-found -f "$TOP/packaging/kubernetes/claims.yaml" >/dev/null 2>&1
}
# driver_starts [N]: and the kubelet knows it. A pod that comes earlier is asked for again after a minute.
driver_starts()
{
	local before
	before=$(registered "$@")
	is 'the driver' service "${1-1}" railhead-devices start
	eventually registered_again "$before" "$@"
}
registered() { node "${1-1}" sh -c 'grep -c "the kubelet has registered" /var/log/railhead-devices.log 2>/dev/null'; }
registered_again() { [ "$(registered "${@:2}")" -gt "${1:-0}" ]; } # BEFORE [N]
slices() { k get resourceslices -o json | jq -c '[.items[].spec | select(.driver == "railhead.io") | .devices[]?] | '"$1"; }
rails_published() { rails_offered '[0,1,2,3,4,5,6,7]'; }
rails_offered() { [ "$(slices '[.[] | select(.attributes.kind.string == "card") | .attributes.rail.int] | unique')" = "$1" ]; }
# nothing_of_claims [N]: neither file nor folder of a claim is left on the node, but the lock of all.
nothing_of_claims()
{
	node "${1-1}" sh -c "ls $CLAIMS 2>/dev/null | grep -v '^lock$'; ls /run/cdi 2>/dev/null | grep railhead.io" >"$W/is"
	[ ! -s "$W/is" ] && [ -z "$(leases "${1-1}")" ] && [ -z "$(records "${1-1}")" ]
}

# minor: of the version of Kubernetes. from_version MINOR WHAT: without it there is nothing to test.
minor() { "$CLUSTER/bin/kubelet" --version | sed 's/.*v1\.\([0-9]*\).*/\1/'; }
from_version() { [ "$(minor)" -ge "$1" ] || skip "Kubernetes 1.$1 has $2, and this is 1.$(minor)"; }

# The command of a container, for a filter of jq.
COUNTS='echo rails: $(ls /sys/class/net | grep ^rail | sort | tr \"\\n\" \" \"); echo locked: $(ulimit -l); trap exit TERM; sleep 1000000 & wait'
# counting NAME [FILTER]: a pod of n1 whose first action is to say which interfaces it has. RUNTIME: its RuntimeClass. BY_CLAIM=yes,
# and before Kubernetes 1.36 without it: a claim in place of the line under limits.
counting()
{
	local by_claim='.'
	if [ "${BY_CLAIM-$([ "$(minor)" -ge 36 ] || echo yes)}" = yes ]; then
		jq -n --arg class $CLASS '{apiVersion: "resource.k8s.io/v1", kind: "ResourceClaimTemplate", metadata: {name: "rails"},
			spec: {spec: {devices: {requests: [{name: "rails", exactly: {deviceClassName: $class}}]}}}}' | kn apply -f - >/dev/null ||
			fail 'test error: the template'
		by_claim='if .spec.resourceClaims then . else (.. | objects | select(.limits?)) |= {"claims": [{"name": "rails"}]}
			| .spec.resourceClaims = [{"name": "rails", "resourceClaimTemplateName": "rails"}] end'
	fi
	pod "$1" '' 'del(.spec.nodeName) | .spec.nodeSelector = {"kubernetes.io/hostname": "n1"}
		| .spec.containers[0].command = ["/bin/sh", "-c", "'"$COUNTS"'"]
		| .spec.containers[0].resources.limits = {"railhead.io/rails": "1"}
		| if "'"${RUNTIME-}"'" == "" then . else .spec.runtimeClassName = "'"${RUNTIME-}"'" end | '"${2-.} | $by_claim"
}
# of_example FILE [FILTER]: the objects of examples/claims/FILE. Pods are on n1, with that command in an image of this cluster.
of_example()
{
	k create --dry-run=client -o json -f "$TOP/examples/claims/$1" | jq --arg image "$IMAGE" 'del(.metadata.namespace)
		| (if .kind == "Pod" then .spec elif .kind == "Job" then .spec.template.spec else empty end) |= (.nodeSelector = {"kubernetes.io/hostname": "n1"}
			| .enableServiceLinks = false | .automountServiceAccountToken = false | .terminationGracePeriodSeconds = 1
			| .containers[0] |= (.image = $image | .imagePullPolicy = "Never" | .command = ["/bin/sh", "-c", "'"$COUNTS"'"]))
		| '"${2-.}" | kn create -f - >/dev/null || fail "test error: examples/claims/$1"
}
ALL_RAILS='rails: rail0 rail1 rail2 rail3 rail4 rail5 rail6 rail7'
# job NAME FILTER: two pods on two nodes
job()
{
	manifest x '' 'del(.spec.nodeName)' | jq --arg name "$1" '.spec as $spec | {apiVersion: "batch/v1", kind: "Job", metadata: {$name}, spec: {parallelism: 2, completions: 2,
		completionMode: "Indexed", template: {spec: ($spec + {restartPolicy: "Never", topologySpreadConstraints: [{maxSkew: 1, topologyKey: "kubernetes.io/hostname",
		whenUnsatisfiable: "DoNotSchedule", labelSelector: {matchLabels: {"batch.kubernetes.io/job-name": $name}}}]})}}}
		| .spec.template.spec.containers[0].command = ["/bin/sh", "-c", "'"$COUNTS"'"]
		| .spec.template |= ('"$2"')' | kn create -f - >/dev/null || fail "test error: job $1"
	eventually job_runs "$1"
	# shellcheck disable=SC2046 # names
	running $(pods_of "$1")
}
pods_of() { kn get pods -l "batch.kubernetes.io/job-name=$1" -o json | jq -r '.items[].metadata.name'; }
job_runs() { [ "$(pods_of "$1" | wc -l)" = 2 ]; }
# saw NAME [CONTAINER]: what the first process of the pod saw.
saw() { kn logs "$1" -c "${2-c}" | sed -n '1s/ *$//p'; }

# ends NAME: its process; it may end before exec does. A kubelet that has just started does not take an exec yet.
ends() { eventually kn exec "$1" -c c -- ls / && kn exec "$1" -c c -- kill 1 >/dev/null 2>&1; }

# pod_runs_page POD: the first commands of docs/troubles.md run there. Their findings may fail; a usage error and a missing program may not.
pod_runs_page()
{
	local line rc n=0
	while IFS= read -r line; do
		n=$((n + 1)) rc=0
		# shellcheck disable=SC2086 # words on purpose
		kn exec "$1" -- $line >"$W/said" 2>&1 </dev/null || rc=$?
		case $rc in 2 | 126 | 127) fail "docs/troubles.md: $line: status $rc: $(<"$W/said")" ;; esac
	done < <(awk '/^```$/ { exit } on { sub(/ +#.*/, ""); print } /^```sh$/ { on = 1 }' "$TOP/docs/troubles.md")
	eq 'commands of docs/troubles.md' "$n" 5
}

# quick: thin
once_rails_by_one_line()
{
	local claim
	claims_up
	counting a
	running a
	eq 'what the first process saw' "$(saw a)" "$ALL_RAILS"
	eq 'leases' "$(leases 1 | wc -l)" 8
	eq 'records' "$(records 1)" healthy
	has 'who has the address' "$(node 1 railctl ipam who "$(leases 1 | head -n 1)")" "$NAMESPACE/a"
	claim=$(kn get resourceclaims -o jsonpath='{.items[0].metadata.name}')
	has 'its claim' "$(node 1 railctl ipam who "$(leases 1 | head -n 1)" | tr -s ' ')" "Claim: $claim"
	eq 'the attachment' "$(node 1 railctl attachments list --json | jq -r '.[] | "\(.namespace)/\(.pod) \(.claim)"')" "$NAMESPACE/a $claim"
	has 'its rails' "$(node 1 railctl rails | tr -s ' ')" "$NAMESPACE/a rail7 7 - 10.27."
	eq 'the claim of its rails' "$(node 1 railctl rails --json | jq -r '.[].rails[].claim' | sort -u)" "$claim"
	eventually status_of_claim_has_addresses || fail "the status of the claim: $(kn get resourceclaims -o yaml)"
	is 'the folder of the pod' kn exec a -- ls /run/railhead/nccl.conf /run/railhead/rails.json
	isnt 'it can be written' kn exec a -- sh -c ': >/run/railhead/nccl.conf'
	eq 'railctl in the pod' "$(kn exec a -- $IN_POD version)" "$(node 1 railctl version)"
	counting b '.spec.securityContext = {"runAsUser": 1000} | .spec.containers[0].securityContext = {"readOnlyRootFilesystem": true}'
	running b
	eq 'as another user' "$(saw b)" "$ALL_RAILS"
	has 'railctl looks' "$(kn exec b -- $IN_POD rdma check 2>&1)" 'this kernel has no RDMA'
	has 'rdma-probe looks' "$(kn exec b -- /run/railhead/rdma-probe list 2>&1)" 'RDMA'
	pod_runs_page b
	isnt 'it can be written' kn exec b -- sh -c ": >$IN_POD"
	delete a b
	eventually nothing_of_claims || fail "left: $(<"$W/is")"
}

status_of_claim_has_addresses()
{
	[ "$(kn get resourceclaims -o json | jq -c '[.items[].status.devices[]? | .networkData.ips[] | sub("/.*"; "")] | sort')" = "$(leases 1 | jq -cRn '[inputs] | sort')" ]
}

# A container without the claim beside one with it: both are in the pod's network, so it waits for nothing, and has no folder.
once_rails_of_one_container()
{
	claims_up
	counting a '.spec.containers += [(.spec.containers[0] | .name = "d" | del(.resources) | .command = ["/bin/sleep", "1000000"])]
		| .spec.initContainers = [(.spec.containers[0] | .name = "i" | del(.resources) | .command = ["/bin/sh", "-c", "ls /sys/class/net"])]'
	running a
	eq 'what the first process saw' "$(saw a)" "$ALL_RAILS"
	isnt 'the other one has the folder' kn exec a -c d -- ls /run/railhead
}

# Without the gate's program no container with a claim starts again, and the Event says why. With it the same pod goes on.
once_rails_need_the_gate()
{
	claims_up
	counting a
	running a
	is 'the gate is gone' node 1 mv /opt/cni/bin/railhead-hook /opt/cni/bin/railhead-hook.away
	ends a
	event a railhead-hook
	isnt 'it is ready' ready_again a
	counting b
	event b '/opt/cni/bin/railhead-hook is missing'
	is 'the gate is back' node 1 mv /opt/cni/bin/railhead-hook.away /opt/cni/bin/railhead-hook
	running a
	eq 'what the first process saw' "$(saw a)" "$ALL_RAILS"
}

# A rail went from the pod's namespace: the container does not start again, and the driver tells what the gate said.
once_rails_refused_are_told()
{
	local uid
	claims_up
	counting a
	running a
	uid=$(kn get pod a -o jsonpath='{.metadata.uid}')
	is 'a rail goes' node 1 nsenter --net="$(node 1 sh -c "cat $CLAIMS/$uid/*.result" | jq -r .netns)" ip link delete rail3
	ends a
	eventually refusal_told a
	has 'the Event' "$(kn get events.events.k8s.io -o json | jq -r '.items[] | select(.reason == "RailsMissing") | "\(.reportingInstance) \(.regarding.uid) \(.note)"')" \
		"n1 $uid a container with claim"
	eq 'refusals that wait' "$(node 1 ls /run/railhead/refused)" ''
}
refusal_told() { kn get events -o json | jq -e --arg pod "$1" '.items[] | select(.reason == "RailsMissing" and .involvedObject.name == $pod)'; }

ready_again() { kn get pod "$1" -o json | jq -e ".status.containerStatuses[0].ready"; }

# A container that ends starts again in the same namespace, with the same addresses.
once_rails_of_a_container_that_restarts()
{
	local before
	claims_up
	counting a
	running a
	before=$(leases 1)
	ends a
	eventually restarts_once a
	eq 'addresses' "$(leases 1)" "$before"
	eq 'what the new process saw' "$(saw a)" "$ALL_RAILS"
}
restarts_once() { kn get pod "$1" -o json | jq -e '.status.containerStatuses[0] | .restartCount == 1 and .ready'; }

# sandbox_of NAME: that the chained plugin attached the claim of the pod to; empty, if the gate did so.
sandbox_of()
{
	node 1 sh -c 'cat '"$CLAIMS/$(kn get pod "$1" -o jsonpath='{.metadata.uid}')"'/*.result' | jq -r .sandbox
}
# The entry of railhead in the network of n1: the rails are there before any container is made. Without it, as after a change by its
# owner, the gate attaches. A DEL of the first pod comes while the file has no entry.
once_rails_by_the_chained_plugin()
{
	claims_up
	is 'the entry' multus_thin 1 "$(cluster_network 1 | jq -c '.plugins += [{type: "railhead"}]')"
	counting a
	running a
	eq 'what the first process saw' "$(saw a)" "$ALL_RAILS"
	has 'the sandbox of a' "$(node 1 ctr -n k8s.io containers ls -q)" "$(sandbox_of a)"
	isnt 'the sandbox of a is not known' test -z "$(sandbox_of a)"
	has 'the address of the pod' "$(kn get pod a -o jsonpath='{.status.podIP}')" 10.244.
	is 'its owner writes the file' multus_thin 1 "$(cluster_network 1)"
	counting b
	running b
	eq 'what the first process of b saw' "$(saw b)" "$ALL_RAILS"
	eq 'the sandbox of b' "$(sandbox_of b)" ''
	delete a b
	eventually nothing_of_claims || fail "left: $(<"$W/is")"
}

# multus_asks COMMAND [FILTER]: Multus on n1 with its own configuration, changed by a jq filter. containerd 2.1 itself calls STATUS, not GC.
multus_asks()
{
	jq "${2-.}" "$(node_root 1)/etc/cni/net.d/00-multus.conf" | node 1 env "CNI_COMMAND=$1" CNI_PATH=/opt/cni/bin /opt/cni/bin/multus
}
# multus_forgets NETWORK NAME INTERFACE: its cache loses this attachment of the pod. Sandboxes of earlier pods of this name may still be there.
multus_forgets()
{
	local id
	id=$(node 1 ctr -n k8s.io containers ls -q "labels.\"io.kubernetes.pod.name\"==$2,labels.\"io.kubernetes.pod.namespace\"==$NAMESPACE,labels.\"io.cri-containerd.kind\"==sandbox")
	is "Multus forgets $3 of $2" node 1 rm "/var/lib/cni/multus/results/$1-$id-$3"
}
# Multus asks the plugins of its first network alone, and names the attachments of all networks. GC frees those of this network that Multus has
# forgotten: neither those of another network, nor other claims.
once_rails_and_gc_by_multus()
{
	local one
	claims_up
	is 'the entry' multus_thin 1 "$(cluster_network 1 | jq -c '.cniVersion = "1.1.0" | .plugins += [{type: "railhead"}]')"
	one=$(macvlan one rail0)
	nad one "$one"
	counting a
	counting b
	pod m one
	running a b m
	eq 'leases' "$(leases 1 | wc -l)" 17
	is 'STATUS' multus_asks STATUS
	is 'GC' multus_asks GC
	is 'GC of the other network' multus_asks GC ".delegates = [$one]"
	eq 'leases after GC' "$(leases 1 | wc -l)" 17
	multus_forgets cbr0 a eth0
	is 'GC' multus_asks GC
	eq 'leases without the claim of a' "$(leases 1 | wc -l)" 9
	is 'b has its rails' inside b ip link show rail7
	ends a
	eventually restarts_once a
	eq 'what the new process of a saw' "$(saw a)" "$ALL_RAILS"
	multus_forgets one m net1
	is 'GC of the first network' multus_asks GC
	eq 'leases' "$(leases 1 | wc -l)" 17
	is 'GC of the other network' multus_asks GC ".delegates = [$one]"
	eq 'leases without m' "$(leases 1 | wc -l)" 16
	isnt 'STATUS of a network without its card' multus_asks STATUS ".delegates = [$one | .master = \"eth99\"]"
	has 'why' "$(<"$W/is")" eth99
	delete a b m
	eventually nothing_of_claims || fail "left: $(<"$W/is")"
}

# Thick Multus from 4.3 on passes STATUS and GC, too.
once_rails_of_thick_multus_with_1_1()
{
	local conf root
	root=$(node_root 2)
	grep -aqE 'multus-cni\.v4@v4\.([3-9]|[1-9][0-9])' "$CLUSTER/bin/multus-daemon" || skip 'thick Multus 4.2 answers STATUS with an error'
	trap thick_as_before EXIT
	service 2 multus-daemon stop
	rm "$root/etc/cni/net.d/00-multus.conf"
	is 'configurations of 1.1.0' sed -i 's/"cniVersion": "1.0.0"/"cniVersion": "1.1.0"/; s/"logLevel": "error"/"logLevel": "verbose"/' "$root"/etc/{multus-daemon.json,cni/net.d/10-cbr0.conflist}
	is 'the daemon' service 2 multus-daemon start
	eventually grep 'STATUS finished CNI request' "$root/var/log/multus-daemon.log"
	rails rail1
	nad one "$(macvlan one rail1)"
	NODE=2 pod m one
	running m
	conf=$root/etc/cni/net.d/00-multus.conf
	has 'its configuration' "$(jq -r .cniVersion "$conf")" 1.1.0
	is 'GC' node 2 env CNI_COMMAND=GC CNI_PATH=/opt/cni/bin /opt/cni/bin/multus-shim <"$conf"
	has 'the daemon was asked' "$(<"$root/var/log/multus-daemon.log")" 'GC finished CNI request'
	audit
	is 'the node is ready' k wait --for=condition=Ready node n2 --timeout=${LONG}s
	delete m
}
thick_as_before()
{
	service 2 multus-daemon stop
	rm -f "$(node_root 2)/etc/cni/net.d/00-multus.conf"
	multus_thick 2 "$(cluster_network 2)"
}

# Pools of one address: the second pod waits, its Event says why, and it starts when the first one has gone. No container of it has failed
# meanwhile, so it may have restartPolicy Never.
once_rails_that_are_full()
{
	LEAST=32 claims_up
	counting a
	running a
	counting b '.spec.restartPolicy = "Never"'
	event b 'no address is left in pool rail0'
	eq 'logs' "$(kn logs b 2>/dev/null)" ''
	delete a
	running b
	eq 'what the first process saw' "$(saw b)" "$ALL_RAILS"
}

# NCCL finds its file in /etc without a variable, where the image and the user have none. UCX needs the variable of the class.
once_rails_with_settings()
{
	claims_up '{"kind": "macvlan", "ipam": '"$RAIL_POOLS"'}' '{"variables": ["UCX_CONFIG_DIR"]}'
	kn create configmap mine --from-literal=nccl.conf=NCCL_DEBUG=WARN >/dev/null || fail 'test error: configmap'
	counting a '.spec.securityContext = {"runAsUser": 1000} | .spec.containers[0].securityContext = {"readOnlyRootFilesystem": true}'
	counting b '.spec.volumes = [{"name": "mine", "configMap": {"name": "mine"}}]
		| .spec.containers[0].volumeMounts = [{"name": "mine", "mountPath": "/etc/nccl.conf", "subPath": "nccl.conf"}]'
	running a b
	has 'the file of NCCL' "$(kn exec a -- ls -l /etc/nccl.conf)" '/etc/nccl.conf -> /run/railhead/nccl.conf'
	is 'it is there' kn exec a -- cat /etc/nccl.conf
	eq 'the variables' "$(kn exec a -- sh -c 'echo "$NCCL_CONF_FILE, $UCX_CONFIG_DIR"')" ', /run/railhead'
	eq 'the file of the user' "$(kn exec b -- cat /etc/nccl.conf)" NCCL_DEBUG=WARN
	# The agent writes them again from time to time. As root of the node, because the pod cannot.
	is 'an old file' node 1 sh -c "echo NCCL_OLD=1 >$CLAIMS/$(kn get pod a -o jsonpath='{.metadata.uid}')/pod/nccl.conf"
	eventually settings_are_new a
}
settings_are_new() { kn exec "$1" -- sh -c '! read -r line </etc/nccl.conf || [ "$line" != NCCL_OLD=1 ]'; }

# Where the runtime's root may not raise the limit, the container does not start, and the Event says why. Where it may: ../cluster-vm/memlock.sh.
once_rails_of_a_class_with_memlock()
{
	claims_up '{"kind": "macvlan", "ipam": '"$RAIL_POOLS"'}' '{"memlock": "unlimited"}'
	counting a
	if node 1 sh -c 'ulimit -l unlimited' 2>/dev/null; then
		running a
		has 'memory that it may lock' "$(kn logs a)" 'locked: unlimited'
		return
	fi
	event a 'raise the limit of locked memory, as the device class says: Operation not permitted; the runtime needs CAP_SYS_RESOURCE'
	eq 'what a process said' "$(kn logs a 2>/dev/null)" ''
}

# A rail without carrier: new pods wait until it is back, and the one that is there stays. The status of a container with a claim
# says so; the kubelet shows no health of extended resources by claims.
once_rails_without_carrier()
{
	from_version 36 'taints of devices'
	claims_up
	BY_CLAIM=yes counting a
	running a
	eventually rails_health_is a Healthy || fail "the health of the rails: $(kn get pod a -o json | jq -c .status.containerStatuses)"
	is 'a link loses its carrier' ip link set n1e3 down
	eventually rails_tainted '["rail2","rails"]'
	counting b
	event b 'cannot allocate all claims'
	is 'the first pod stays' ready_again a
	eventually rails_health_is a 'Unhealthy no-carrier' || fail "the health of the rails: $(kn get pod a -o json | jq -c .status.containerStatuses)"
	is 'the carrier is back' ip link set n1e3 up
	eventually rails_tainted '[]'
	running b
	eq 'what the first process saw' "$(saw b)" "$ALL_RAILS"
}

# Each device of a claim has its own health.
once_rails_of_a_claim_each_with_its_health()
{
	from_version 36 'the health of devices'
	claims_up
	trap 'claims_down; k delete deviceclass rail --ignore-not-found' EXIT
	rails_class rail '' card '{"kind": "macvlan", "ipam": '"$RAIL_POOLS"'}'
	kn apply -f - >/dev/null <<-'END' || fail 'test error: template'
	{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: three}, spec: {spec: {devices: {
	requests: [{name: rails, exactly: {deviceClassName: rail, count: 3}}]}}}}
	END
	counting a '.spec.resourceClaims = [{name: "r", resourceClaimTemplateName: "three"}] | .spec.containers[0].resources = {claims: [{name: "r"}]}'
	running a
	eq 'what the first process saw' "$(saw a)" 'rails: rail0 rail1 rail2'
	eventually rails_health_is a $'Healthy\nHealthy\nHealthy' || fail "the health of the rails: $(kn get pod a -o json | jq -c .status.containerStatuses)"
	is 'a link loses its carrier' ip link set n1e2 down
	eventually rails_health_is a $'Healthy\nUnhealthy no-carrier\nHealthy' || fail "the health of the rails: $(kn get pod a -o json | jq -c .status.containerStatuses)"
	is 'the carrier is back' ip link set n1e2 up
}
rails_health_is()
{
	[ "$(kn get pod "$1" -o json | jq -r '.status.containerStatuses[0].allocatedResourcesStatus[]?.resources[] | [.health, .message // empty] | join(" ")')" = "$2" ]
}

# A pod has the card itself, as host-device gives it: the rail is not offered, and the set lacks it.
once_rails_whose_card_a_pod_has()
{
	claims_up
	is 'another namespace' node 1 ip netns add away
	is 'the card goes there' node 1 ip link set eth3 netns away
	eventually rails_offered '[0,1,3,4,5,6,7]'
	eventually rails_tainted '["rails"]'
	is 'and comes back' node 1 ip -n away link set eth3 netns 1
	is 'up' node 1 ip link set eth3 up
	is 'the namespace goes' node 1 ip netns del away
	eventually rails_published
	eventually rails_tainted '[]'
}
rails_tainted() { [ "$(slices '[.[] | select(.taints) | .name] | sort')" = "$1" ]; }

# The driver is killed while pods start: they wait for it, and none starts without its rails.
once_rails_while_the_driver_dies()
{
	local i
	claims_up
	for i in 1 2 3 4; do counting "p$i"; done
	for i in 1 2 3; do
		service 1 railhead-devices kill
		driver_starts
	done
	running p1 p2 p3 p4
	for i in 1 2 3 4; do eq "what p$i saw" "$(saw "p$i")" "$ALL_RAILS"; done
	eq 'leases' "$(leases 1 | sort -u | wc -l)" 32
}

# The same with crun, which does not show what the gate says.
with_crun() # CASE
{
	local RUNTIME=crun
	[ -x "$TREE/usr/bin/crun" ] || skip 'this tree of a node has no crun: conformance/cluster/fetch.sh makes it anew'
	k apply -f - >/dev/null <<<'{"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "crun"}, "handler": "crun"}' ||
		fail 'test error: RuntimeClass'
	"$1"
}
once_crun_rails_by_one_line() { with_crun once_rails_by_one_line; }
once_crun_rails_by_the_chained_plugin() { with_crun once_rails_by_the_chained_plugin; }
once_crun_rails_of_a_container_that_restarts() { with_crun once_rails_of_a_container_that_restarts; }
once_crun_rails_of_a_second_pod() { with_crun once_rails_of_a_second_pod; }
once_crun_rails_of_the_host_network() { with_crun once_rails_of_the_host_network; }
once_crun_rails_of_a_gate_that_hangs() { with_crun once_rails_of_a_gate_that_hangs; }

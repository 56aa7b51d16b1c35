# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# `kubectl rail` as far as it needs only the API server. conformance/cluster has nodes with kubelets, which run railctl in the agents' pods.

KUBECTL_RAIL=$HERE/../../packaging/kubectl
# rail ARGUMENT...: as the administrator; kubectl finds the script in PATH. RC; $W/out, $W/err
rail()
{
	HOME=$W KUBECONFIG=$W/kube/admin.kubeconfig PATH=$KUBECTL_RAIL:$KUBE:$PATH timeout "$LIMIT" "$KUBE/kubectl" rail "$@" >"$W/out" 2>"$W/err"
	RC=$?
}
# rail_fails STATUS TEXT ARGUMENT...
rail_fails()
{
	rail "${@:3}"
	eq "kubectl rail ${*:3}" "$RC" "$1"
	has "kubectl rail ${*:3}" "$(<"$W/err")" "$2"
}

agent_pod() # NAME PHASE: a pod of an agent on node NAME
{
	admin create -f - >/dev/null <<-END || return
	{apiVersion: v1, kind: Pod, metadata: {name: agent-$1, namespace: railhead, labels: {app.kubernetes.io/name: railheadd}}, spec: {nodeName: $1,
	serviceAccountName: railheadd, containers: [{name: railheadd, image: none}]}}
	END
	admin -n railhead patch pod "agent-$1" --subresource=status --type=merge -p "{\"status\":{\"phase\":\"$2\"}}" >/dev/null
}
kubectl_end() { admin -n railhead delete --force --grace-period=0 pods -l app.kubernetes.io/name=railheadd; }

test_kubectl_rail_says_how_full_pools_are()
{
	NODES=0 cluster_begin
	rail usage
	eq "without pools" "$RC" 0
	admin apply -f - >/dev/null <<-'END' || give_up "pools"
	{apiVersion: railhead.io/v1alpha1, kind: RailPool, metadata: {name: rail0}, spec: {subnet: 10.92.0.0/24, blockSize: 8}}
	END
	rail usage
	eq "not reported" "$RC" 0
	has "not reported" "$(tr -s ' ' <"$W/out")" "rail0 10.92.0.0/24 8"
	has "not reported" "$(<"$W/err")" "USE is empty: no agent reports it"
	admin patch railpool rail0 --subresource=status --type=merge -p '{"status":{"use":"25%","free":192}}' >/dev/null || give_up "a status"
	rail usage
	has "reported" "$(tr -s ' ' <"$W/out")" "rail0 10.92.0.0/24 8 25% 192"
	eq "reported" "$(<"$W/err")" ""
	rail usage --json
	eq "json" "$(jq -r '.items[0].status.use' "$W/out")" "25%"
}

test_kubectl_rail_names_nodes_without_an_answer()
{
	NODES=0 cluster_begin
	trap 'case_ends kubectl_end cluster_end' EXIT
	rail_fails 1 'no pod in namespace railhead has the label' rails
	rail_fails 1 'no pod in namespace elsewhere has the label' who 10.1.0.1 -n elsewhere
	# Two pods that no kubelet runs: one is Pending, and the API server cannot reach the node of the other.
	agent_pod n1 Running && agent_pod n2 Pending || give_up "pods"
	for command in status rails topo fabric report "who 10.1.0.1"; do
		# shellcheck disable=SC2086 # words
		rail_fails 1 'Not answered by 2 of 2 nodes:' $command --deadline 20
		has "$command" "$(<"$W/err")" "n1: "
		has "$command" "$(<"$W/err")" "n2: the pod agent-n2 is Pending"
		hasnt "$command" "$(<"$W/err")" "n1: no answer within"
	done
	rail_fails 1 'Not answered by 1 of 1 nodes:' rails n2
	hasnt "rails n2" "$(<"$W/err")" "n1: "
	rail_fails 1 'node n7 has no agent' topo n1 n7
	# Without the right
	rail_fails 1 'the pods of the agents cannot be listed' rails --as nobody
	has "without the right" "$(<"$W/err")" 'User "nobody" cannot list resource "pods"'
	rail_fails 1 'the pools cannot be listed' usage --as=nobody
}

# kubectl_execs [COMMAND...]: no kubelet is here, so exec runs railctl on this machine, behind the command. The words around its answer are those of kubectl exec for a pod with
# an init container, as in the DaemonSet.
kubectl_execs()
{
	cat >"$W/kubectl.exec" <<-END
	#!/bin/bash
	[ "\$1" = exec ] || exec "$KUBE/kubectl" "\$@"
	echo 'Defaulted container "railheadd" out of: railheadd, install (init)' >&2
	while [ "\$1" != -- ]; do shift; done
	$* "$BIN/railctl" "\${@:3}" && exit
	rc=\$?
	echo "command terminated with exit code \$rc" >&2
	exit \$rc
	END
	chmod +x "$W/kubectl.exec"
	export KUBECTL=$W/kubectl.exec
}
test_kubectl_rail_who_of_no_address()
{
	NODES=0 cluster_begin
	trap 'case_ends kubectl_end cluster_end' EXIT
	agent_pod n1 Running || give_up "a pod"
	kubectl_execs
	rail_fails 1 '"nonsense" is neither an IP address nor a GUID' who nonsense
	rail_fails 1 '"10.10.1.300" is neither an IP address nor a GUID' who 10.10.1.300
	rail_fails 1 'No pod has 10.1.0.1 on the 1 nodes that answered.' who 10.1.0.1
	echo '{"rails":[' >/etc/railhead/rails.json
	rail_fails 1 'n1: /etc/railhead/rails.json' rails
	rm /etc/railhead/rails.json
	rail rails
	eq "rails" "$RC $(<"$W/err")" '0 '
	unset KUBECTL
}

# All nodes are this machine, so that their findings are alike.
test_kubectl_rail_status_is_of_the_whole_cluster()
{
	local n
	NODES=0 cluster_begin
	trap 'case_ends kubectl_end cluster_end' EXIT
	for n in n1 n2 n3 n4; do agent_pod $n Running || give_up "a pod"; done
	agent_pod n5 Pending || give_up "a pod"
	echo '{"apiVersion":"v1","kind":"Node","metadata":{"name":"gpu-9"}}' | admin create -f - >/dev/null || give_up "a node"
	admin apply -f - >/dev/null <<-'END' || give_up "pools"
	{apiVersion: railhead.io/v1alpha1, kind: RailPool, metadata: {name: rail0}, spec: {subnet: 10.92.0.0/24, blockSize: 8}}
	END
	admin patch railpool rail0 --subresource=status --type=merge -p '{"status":{"use":"25%","free":192}}' >/dev/null || give_up "a status"
	kubectl_execs
	rail_fails 1 'n5: the pod agent-n5 is Pending' status
	has "agents" "$(<"$W/out")" 'agents    4 answered: 4 of no version: the agent is not up'
	has "without an agent" "$(<"$W/out")" 'gpu-9'
	has "pools" "$(<"$W/out")" 'pools     1: rail0 25%'
	eq "a row" "$(awk '$1 == "n3" { print NF }' "$W/out")" 10
	[ -n "$(ls /sys/class/infiniband 2>/dev/null)" ] || has "alike" "$(<"$W/out")" 'fail devices this kernel has no RDMA (n1, n2, n3 and 1 more)'
	rail status n2
	has "one node" "$(<"$W/out")" 'agents    1 answered'
	# Cases before may have left a Node.
	admin get nodes -o json | jq -r '.items[].metadata.name | select(test("^n[1-5]$") | not)' >"$W/others"
	eq "without an agent" "$(sed -n 's/^without *an agent: //p' "$W/out")" "$(wc -l <"$W/others"): $(xargs <"$W/others")"
	rail status n2 --json
	eq "one node" "$(jq -r '[.node, .answer.version, .answer.agent.up] | map(tostring) | join(" ")' "$W/out")" 'n2 1 false'
	eq "its status" "$RC" "$(jq '{fail: 1, unknown: 3}[.answer.state] // 0' "$W/out")"
	unset KUBECTL
	admin delete node gpu-9 >/dev/null
	admin delete railpool rail0 >/dev/null
}

# All answers of nodes are in the page, and why others gave none.
test_kubectl_rail_report_is_a_page()
{
	NODES=1 cluster_begin
	trap 'case_ends kubectl_end cluster_end' EXIT
	agent_pod n1 Running && agent_pod n2 Pending || give_up "pods"
	kubectl_execs nsenter --target "$(<"$W/node/n1/pid.view")" --net --mount --uts
	echo '{"apiVersion":"v1","kind":"Node","metadata":{"name":"login-1"}}' | admin create -f - >/dev/null || give_up "a node"
	rail_fails 1 'n2: the pod agent-n2 is Pending' report
	has "its begin" "$(<"$W/out")" "<!doctype html>"
	has "the page" "$(<"$W/out")" '</body></html>'
	has "n1" "$(<"$W/out")" "1 node: version <bdi>$("$BIN/railctl" version | cut -d ' ' -f 2)</bdi>"
	has "n2" "$(<"$W/out")" 'did not answer: <bdi>the pod agent-n2 is Pending</bdi>'
	has "login-1" "$(<"$W/out")" 'did not answer: <bdi>no pod of an agent is there</bdi>'
	has "login-1" "$(<"$W/out")" '<bdi>login-1</bdi>'
	hasnt "all were asked" "$(<"$W/out")" 'No node was asked'
	jq -n '{time: "2026-11-30T12:00:00Z", summary: "one finding", ranks: [{rank: 0, node: "n1", joined: true, rails: [{rail: "rail0", code: "no-reach"}]}],
		findings: [{code: "no-reach", state: "fail", ends: [{node: "n1", rail: "rail0"}]}]}' >"$W/job.json"
	rail_fails 1 'n2: the pod agent-n2 is Pending' report --job "$W/job.json"
	has "the test of a job" "$(<"$W/out")" '2026-11-30T12:00:00Z: one finding'
	rail_fails 1 'the test of a job' report --job "$W/out"
	rail_fails 2 'report has no --json' report --json
	rail_fails 2 'report has no argument "n1"' report n1
	unset KUBECTL
	admin delete node login-1 >/dev/null
}

# The nodes of the groups get labels; the API server takes the objects for schedulers, except that of Kueue, whose type is not here.
test_kubectl_rail_topology_is_for_schedulers()
{
	local n
	NODES=1 cluster_begin
	trap 'case_ends kubectl_end cluster_end' EXIT
	agent_pod n1 Running || give_up "a pod"
	kubectl_execs nsenter --target "$(<"$W/node/n1/pid.view")" --net --mount --uts
	for n in 1 2 3 4; do
		engine_object nodes "gpu-$n" '{"rails":[{"rail":0,"interface":"eth1","chassis":"mac '$((n / 4))'","system":"leaf-'$((n / 4))'","portName":"p"}]}' "gpu-$n" >/dev/null &&
			echo '{"apiVersion":"v1","kind":"Node","metadata":{"name":"gpu-'$n'"}}' | admin create -f - >/dev/null || give_up "node gpu-$n"
	done
	rail topology --format labels
	eq "labels" "$RC $(<"$W/err")" '0 '
	HOME=$W KUBECONFIG=$W/kube/admin.kubeconfig PATH=$KUBE:$PATH sh -e "$W/out" >"$W/is" 2>&1 || fail "the commands fail: $(<"$W/is")"
	eq "groups of nodes" "$(admin get nodes -o json | jq -r '.items[] | select(.metadata.name | startswith("gpu-")) | .metadata.labels["fabric.topograph.run/tier-0"] // "-"' | paste -sd ' ')" "g0 g0 g0 -"
	rail topology --format volcano
	admin create namespace volcano-system >/dev/null
	eq "Volcano" "$(admin create --dry-run=server -o json -f "$W/out" | jq -r '.data["volcano-controller.conf"]' | grep -c nodeLabel)" 2
	rail topology --format=kueue
	eq "Kueue" "$(sed -n '/levels/,/^#/s/.*nodeLabel: //p' "$W/out" | paste -sd ' ')" "fabric.topograph.run/tier-0 kubernetes.io/hostname"
	# A group keeps its name: first that of the plan.
	admin label node gpu-2 gpu-3 railhead.io/group=g7 >/dev/null
	rail topology --format slurm
	has "Slurm" "$(<"$W/out")" "SwitchName=g7 Nodes=gpu-1,gpu-2,gpu-3"
	# All commands have one name of a group.
	rail fabric --json
	eq "fabric" "$(jq -r '[.groups[].name, (.rails[] | .group)] | join(" ")' "$W/out")" "g7 g7 g7 g7 -"
	rail report
	has "report" "$(<"$W/out")" "<th scope=rowgroup>g7<"
	printf 'supernet: 10.200.0.0/16\nrails: 1\nnodesPerGroup: 8\n' >"$W/plan.yaml"
	agent_pod gpu-2 Pending || give_up "a pod"
	rail plan -f "$W/plan.yaml" --json
	eq "plan" "$(jq -r '.groups[-1].group' "$W/out")" "g7"
	# The number of its NICs is pinned beside the label, and text in the annotation stays text.
	eq "a number" "$(jq -c '.nodes[] | select(.node == "gpu-2") | [.labelled, .number]' "$W/out")" '[true,2]'
	admin annotate node gpu-2 railhead.io/host=5 >/dev/null || give_up "an annotation"
	rail plan -f "$W/plan.yaml" -o yaml
	eq "kept" "$(grep -c -e 'railhead.io/host: "5"' -e 'railhead.io/group: g7' "$W/out")" 2
	rail plan -f "$W/plan.yaml" -o networkd --node gpu-2
	has "its address" "$(<"$W/out")" 'Address=10.200.7.5/24'
	admin annotate --overwrite node gpu-2 'railhead.io/host=5": {"a' >/dev/null || give_up "an annotation"
	rail_fails 4 'node gpu-2: the annotation is not a number from 2 to 9' plan -f "$W/plan.yaml" -o netplan
	admin annotate node gpu-2 railhead.io/host- >/dev/null
	# Without the right to list nodes an agent is asked all the same.
	admin create clusterrole pods-only --verb=get,list --resource=pods >/dev/null && admin create clusterrolebinding pods-only --clusterrole=pods-only --user=viewer >/dev/null || give_up "a role"
	eventually is_without_labels
	rail topology --json
	eq "json" "$(jq -c .undecided "$W/out")" '["gpu-4"]'
	rail_fails 2 'topology needs a --format' topology
	rail_fails 2 'topology has no argument "n1"' topology n1 --format slurm
	rail_fails 2 '--format is an option of topology' rails --format slurm
	rail_fails 2 '--format is slurm, kueue, volcano or labels' topology --format moab
	unset KUBECTL
	for n in 1 2 3 4; do admin delete node "gpu-$n" >/dev/null; done
}

# kueue_begin: the real Kueue as a program, with its types and without its webhooks
kueue_begin()
{
	local certs=/etc/kueue/metrics/certs
	admin apply --server-side -f "${KUBE%/bin}/kueue" >/dev/null && admin wait --for=condition=Established "--timeout=${LIMIT}s" -f "${KUBE%/bin}/kueue" >/dev/null &&
		mkdir -p $certs && openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=kueue -keyout $certs/tls.key -out $certs/tls.crt 2>/dev/null || give_up "the types of Kueue"
	cat >"$W/kueue.yaml" <<-END
	apiVersion: config.kueue.x-k8s.io/v1beta2
	kind: Configuration
	namespace: railhead
	health: {healthProbeBindAddress: "127.0.0.1:8081"}
	metrics: {bindAddress: "127.0.0.1:8443"}
	webhook: {certDir: $certs}
	leaderElection: {leaderElect: false}
	internalCertManagement: {enable: false}
	integrations: {frameworks: [batch/job]}
	END
	"$KUBE/kueue" --feature-gates VisibilityOnDemand=false --kubeconfig "$W/kube/admin.kubeconfig" --config "$W/kueue.yaml" >"$W/kueue.log" 2>&1 </dev/null &
	echo $! >"$W/kueue.pid"
}
kueue_end()
{
	local n
	unset KUBECTL
	[ ! -e "$W/kueue.pid" ] || { kill "$(<"$W/kueue.pid")" && wait "$(<"$W/kueue.pid")"; }
	rm -f "$W/kueue.pid"
	for n in 1 2 3 4 5 6 7; do admin delete node "gpu-$n"; done
	# Without its program the finalizers of Kueue stay.
	admin -n default delete --wait=false workloads.kueue.x-k8s.io,localqueues.kueue.x-k8s.io,clusterqueues.kueue.x-k8s.io,resourceflavors.kueue.x-k8s.io,topologies.kueue.x-k8s.io --all -o name | while read -r n; do
		admin -n default patch "$n" --type=merge -p '{"metadata":{"finalizers":null}}'
	done
	admin delete "--timeout=${LIMIT}s" -f "${KUBE%/bin}/kueue"
}
# workload NAME PODS: pods of three CPUs each, all below one switch
workload()
{
	admin create -f - <<-END
	{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: $1, namespace: default}, spec: {queueName: all, podSets: [{name: main, count: $2,
	topologyRequest: {required: fabric.topograph.run/tier-0}, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: "3"}}}]}}}]}}
	END
}
# its_nodes NAME: where Kueue has admitted it
its_nodes()
{
	admin -n default get workload "$1" -o json | jq -er '.status.admission.podSetAssignments[0].topologyAssignment.slices | [.[].valuesPerLevel[-1].individual |
		.prefix as $p | .roots[] | ($p // "") + .] | sort | join(" ")'
}
is_admitted() { its_nodes "$1"; }
says_why_not() { admin -n default get workload "$1" -o json | jq -e --arg t "$2" 'any(.status.conditions[]?; .message | contains($t))'; }

# The real Kueue takes the topology, and admits a job to the nodes of one group only.
test_kubectl_rail_topology_is_taken_by_kueue()
{
	local n
	[ -x "$KUBE/kueue" ] || skip "kueue is not in $KUBE: make cluster-programs"
	NODES=1 cluster_begin
	trap 'case_ends kueue_end kubectl_end cluster_end' EXIT
	agent_pod n1 Running || give_up "a pod"
	kubectl_execs nsenter --target "$(<"$W/node/n1/pid.view")" --net --mount --uts
	for n in 1 2 3 4 5 6 7; do
		engine_object nodes "gpu-$n" '{"rails":[{"rail":0,"interface":"eth1","chassis":"mac '$(((n - 1) / 3))'","system":"leaf-'$(((n - 1) / 3))'","portName":"p"}]}' "gpu-$n" >/dev/null &&
			echo '{"apiVersion":"v1","kind":"Node","metadata":{"name":"gpu-'$n'","labels":{"kubernetes.io/hostname":"gpu-'$n'","gpus":"yes"}}}' | admin create -f - >/dev/null &&
			admin patch node "gpu-$n" --type=merge -p '{"spec":{"taints":null}}' >/dev/null &&
			admin patch node "gpu-$n" --subresource=status --type=merge -p '{"status":{"allocatable":{"cpu":"4","pods":"9"},"capacity":{"cpu":"4","pods":"9"},"conditions":[{"type":"Ready","status":"True"}]}}' >/dev/null || give_up "node gpu-$n"
	done
	rail topology --format labels
	HOME=$W KUBECONFIG=$W/kube/admin.kubeconfig PATH=$KUBE:$PATH sh -e "$W/out" >"$W/is" 2>&1 || fail "the commands fail: $(<"$W/is")"
	kueue_begin
	rail topology --format kueue
	is "its type takes the topology" admin create -f "$W/out"
	cat >"$W/queue.yaml" <<-'END'
	{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: gpu-nodes}, spec: {nodeLabels: {gpus: "yes"}, topologyName: railhead}}
	---
	{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: all}, spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu],
	flavors: [{name: gpu-nodes, resources: [{name: cpu, nominalQuota: "99"}]}]}]}}
	---
	{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: all, namespace: default}, spec: {clusterQueue: all}}
	END
	is "a flavor with the topology" admin create -f "$W/queue.yaml"
	# Six nodes are free, and three of them are below one switch.
	is "four pods" workload four 4
	eventually says_why_not four 'topology "railhead" allows to fit only 3 out of 4 pod(s)'
	is "three pods" workload three 3
	eventually is_admitted three
	is "three more pods" workload more 3
	eventually is_admitted more
	eq "each job is in one group" "$({ its_nodes three && its_nodes more; } | sort | paste -sd ,)" "gpu-1 gpu-2 gpu-3,gpu-4 gpu-5 gpu-6"
	isnt "four pods are not admitted" is_admitted four
}

# A file of ibnetdiscover says the leaves for each of these commands, beside what they read themselves.
test_kubectl_rail_reads_ibnetdiscover()
{
	local n
	NODES=1 cluster_begin
	trap 'case_ends kubectl_end cluster_end' EXIT
	agent_pod n1 Running || give_up "a pod"
	kubectl_execs nsenter --target "$(<"$W/node/n1/pid.view")" --net --mount --uts
	printf 'vendid=0x2c9\nSwitch\t41 "S-b8599f0300f9cba2"\t\t# "MF0;leaf-1:MQM8700/U1" enhanced port 0 lid 5 lmc 0\n' >"$W/ib.topo"
	for n in 1 2 3; do
		engine_object nodes "gpu-$n" '{"rails":[{"rail":0,"interface":"ib0","guid":"04:3f:72:03:00:ab:cd:0'$n'","mbps":400000}]}' "gpu-$n" >/dev/null &&
			echo '{"apiVersion":"v1","kind":"Node","metadata":{"name":"gpu-'$n'","labels":{"railhead.io/group":"g3"}}}' | admin create -f - >/dev/null || give_up "node gpu-$n"
		printf '[%s]\t"H-043f720300abcd0%s"[1](43f720300abcd0%s) \t# "gpu-%s mlx5_0" lid 1%s 4xHDR\n' "$n" "$n" "$n" "$n" "$n" >>"$W/ib.topo"
	done
	rail fabric --ibnetdiscover "$W/ib.topo" --json
	eq "fabric" "$RC $(jq -c '[.groups[] | [.name, .nodes, .leaves[0].leaf]]' "$W/out")" '0 [["g3",3,"leaf-1"]]'
	printf 'gpu-%s,ib0,leaf-1,\n' 1 2 3 >"$W/cables.csv"
	rail fabric --ibnetdiscover "$W/ib.topo" --topology - --json <"$W/cables.csv"
	eq "with cables" "$RC $(jq -c .findings "$W/out")" '0 []'
	rail topology --ibnetdiscover - --format slurm <"$W/ib.topo"
	has "topology" "$(<"$W/out")" 'SwitchName=g3 Nodes=gpu-1,gpu-2,gpu-3'
	has "no spines" "$(<"$W/out")" 'SwitchName=fabric Switches=g3'
	printf 'Switch\t41 "S-b8599f0300f9cba2"\t\t# "leaf-1"\n[41]\t"S-b8599f0300f9cba4"[3]\t\t# "spine" lid 7 4xHDR\n' >>"$W/ib.topo"
	rail topology --ibnetdiscover "$W/ib.topo" --format slurm
	has "its spines" "$(<"$W/out")" 'SwitchName=b3 Switches=g3'
	echo leaf-1,swp9,spine-1,swp1 >"$W/spines.csv"
	rail topology --ibnetdiscover - --topology "$W/spines.csv" --json <"$W/ib.topo"
	eq "spines of a file" "$(jq -r '.groups[].block' "$W/out")" b3
	sed -i 's/gpu-2,ib0,leaf-1/gpu-2,ib0,leaf-2/' "$W/cables.csv"
	rail report --ibnetdiscover "$W/ib.topo" --topology "$W/cables.csv"
	has "report" "$(<"$W/out")" '<bdi>leaf-1</bdi>'
	has "report" "$(<"$W/out")" 'leaf-1 port 2, planned leaf-2 port any'
	rail_fails 1 '--topology: -: line 1: not NODE,INTERFACE,LEAF,PORT' fabric --topology "$W/ib.topo"
	printf 'supernet: 10.200.0.0/16\nrails: 1\n' >"$W/plan.yaml"
	for n in 1 2 3; do admin label node gpu-$n railhead.io/group- >/dev/null && agent_pod gpu-$n Pending || give_up "a label"; done
	rail plan -f "$W/plan.yaml" --ibnetdiscover "$W/ib.topo" --json
	eq "plan" "$(jq -r '[.nodes[] | select(.node != "n1") | .group] | join(" ")' "$W/out")" "g0 g0 g0"
	rail plan -f - --json <"$W/plan.yaml"
	eq "without it" "$(jq -r '[.nodes[] | select(.node != "n1") | .group // "-"] | join(" ")' "$W/out")" "- - -"
	unset KUBECTL
	for n in 1 2 3; do admin delete node "gpu-$n" >/dev/null; done
}

is_without_labels() { rail fabric --as viewer && grep -q 'groups have no names' "$W/err" && grep -q 'n1: .*pods/exec' "$W/err"; }

# job_pod NAME LABEL DEVICE...: a pod of job "train" whose claim has these devices of rails.
job_pod()
{
	admin create -f - >/dev/null <<-END && admin create -f - >/dev/null <<-CLAIM || return
	{apiVersion: v1, kind: Pod, metadata: {name: $1, labels: {$2: train}}, spec: {serviceAccountName: railheadd, containers: [{name: c, image: none}]}}
	END
	{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: of-$1},
	spec: {devices: {requests: [{name: r, exactly: {deviceClassName: rail, count: $(($# - 2))}}]}}}
	CLAIM
	jq -nc --arg pod "$1" '{status: {reservedFor: [{resource: "pods", name: $pod, uid: $pod}],
		allocation: {devices: {results: [{request: "r", driver: "gpu.example.com", pool: "n1", device: "gpu-0"},
			($ARGS.positional[] | {request: "r", driver: "railhead.io", pool: "n1", device: .})]}}}}' --args "${@:3}" >"$W/allocated" &&
		admin patch resourceclaim "of-$1" --subresource=status --type=merge --patch-file="$W/allocated" >/dev/null
}
test_kubectl_rail_check_of_a_job()
{
	NODES=0 cluster_begin
	job_pod worker-0 batch.kubernetes.io/job-name rails-a-3 || give_up "a pod"
	admin label pod worker-0 jobset.sigs.k8s.io/jobset-name=set >/dev/null || give_up "a label"
	job_pod worker-1 jobset.sigs.k8s.io/jobset-name rails-a-0 || give_up "a pod"
	rail check train
	eq "rails that meet" "$RC $(<"$W/err")" '0 '
	has "worker-1" "$(tr -s ' ' <"$W/out")" 'worker-1 - of-worker-1 rails-a'
	job_pod worker-2 leaderworkerset.sigs.k8s.io/name rail3-vf5 rail0-vf5 || give_up "a pod"
	rail_fails 1 'The rails of worker-0 and worker-2 do not meet' check train -n railhead
	rail_fails 1 'do not meet' check train --json
	eq "json" "$(jq -c 'select(.pod == "worker-2")' "$W/out")" '{"pod":"worker-2","node":"-","claims":["of-worker-2"],"rails":["rail0","rail3"]}'
	rail check set
	eq "one pod" "$RC $(tail -n +2 "$W/out" | cut -d ' ' -f 1)" '0 worker-0'
	rail_fails 1 'no pod is of a Job, JobSet, LeaderWorkerSet, StatefulSet or MPIJob other' check other
	rail_fails 1 'no pod is of a Job, JobSet, LeaderWorkerSet, StatefulSet or MPIJob train' check train -n kube-system
	rail_fails 1 'cannot list resource "pods"' check train --as nobody
	rail_fails 1 '3 pods do not run yet, such as worker-0' verify train -n railhead
	rail_fails 1 'no pod is of a Job, JobSet, LeaderWorkerSet, StatefulSet or MPIJob other' verify other
}

# runs POD NODE: a pod of job "set" that runs there, as its status says.
runs()
{
	admin create -f - >/dev/null <<-END &&
	{apiVersion: v1, kind: Pod, metadata: {name: $1, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: many, uid: x}]},
	spec: {nodeName: $2, serviceAccountName: railheadd, containers: [{name: c, image: none}]}}
	END
		admin patch pod "$1" --subresource=status --type=merge -p '{"status":{"phase":"Running","podIP":"10.1.0.'"${1#*-}"'"}}' >/dev/null
}
# What rank 0 gets: the key, then where the rails of these nodes are plugged in. No kubelet is here, so a program takes the place of kubectl exec;
# the real one is in ../cluster and ../cluster-vm.
test_kubectl_rail_verify_knows_the_leaves()
{
	NODES=0 cluster_begin
	trap 'case_ends verify_end cluster_end' EXIT
	runs many-1 gpu-1 && runs many-2 gpu-2 || give_up "pods"
	cat >"$W/kubectl" <<-END
		#!/bin/bash
		[ "\$1" = exec ] || exec "$KUBE/kubectl" "\$@"
		IFS= read -r -d \$'\f' key && [[ \$key =~ ^[0-9a-f]{64}\$ ]] || exit 9
		[[ " \$* " != *" --leaves - "* ]] || { IFS= read -r -d \$'\f' leaves && printf '%s' "\$leaves"; }
		echo "\$@" | grep -o -- '--rank0.*' >>"$W/ranks"
	END
	chmod +x "$W/kubectl" && export KUBECTL=$W/kubectl
	rail verify many -n railhead --seconds 7 -- --tc 104
	eq "no leaf is known" "$RC $(<"$W/out") $(<"$W/err")" '0  '
	eq "the ranks" "$(sort "$W/ranks")" '--rank0 10.1.0.1 --rank 0 --ranks 2 --node gpu-1 --key-file - --seconds 7 --gather 30 --tc 104
--rank0 10.1.0.1 --rank 1 --ranks 2 --node gpu-2 --key-file - --seconds 7 --gather 30 --tc 104'
	engine_object nodes gpu-3 '{"rails":[{"rail":0,"interface":"eth0"}]}' gpu-3 >/dev/null || give_up "a node"
	rail verify many -n railhead
	eq "agents that heard nothing" "$RC $(<"$W/out") $(<"$W/err")" \
		'0  kubectl rail: leaves are not known: no agent of these 1 nodes has heard a switch by LLDP'
	admin delete railnode gpu-3 >/dev/null || give_up "no node"
	engine_object nodes gpu-1 '{"rails":[{"rail":0,"interface":"eth0","hca":"mlx5_0","chassis":"mac 02:00"},{"rail":1,"interface":"eth1","chassis":"mac 02:01"},
		{"rail":2,"interface":"eth2","chassis":"mac 02:02"},{"rail":2,"interface":"eth3","chassis":"mac 02:03"},{"rail":3,"interface":"eth4"}]}' gpu-1 >/dev/null &&
		engine_object nodes gpu-3 '{"rails":[{"rail":0,"interface":"eth0","chassis":"mac 02:00"}]}' gpu-3 >/dev/null || give_up "nodes"
	rail verify many -n railhead
	eq "the leaves" "$RC $(<"$W/out")" '0 gpu-1 rail0 mac_02:00
gpu-1 mlx5_0 mac_02:00
gpu-1 rail1 mac_02:01'
	admin create clusterrole pods-of-set --verb=get,list --resource=pods >/dev/null && admin create clusterrolebinding pods-of-set --clusterrole=pods-of-set --user=viewer >/dev/null || give_up "a role"
	eventually is_without_leaves
	eq "without the right to list them" "$(<"$W/out")" ''
	admin apply -f - >/dev/null <<-'END' || give_up "a StatefulSet"
	{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: many, namespace: railhead}, spec: {serviceName: x, selector: {matchLabels: {a: b}},
	template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: none}]}}}}
	END
	rail_fails 1 'The pods of many start one after another: a test of the job in an init container waits for ever. Set podManagementPolicy: Parallel' check many -n railhead
}
is_without_leaves() { rail verify many -n railhead --as viewer && grep -q '^kubectl rail: leaves are not known: .*cannot list resource "railnodes"' "$W/err"; }
verify_end()
{
	unset KUBECTL
	admin -n railhead delete statefulset many >/dev/null
	admin delete railnodes gpu-1 gpu-3 >/dev/null
	admin -n railhead delete --force --grace-period=0 pods many-1 many-2
}
test_kubectl_rail_claim_is_a_template()
{
	NODES=0 cluster_begin
	rail claim job-1 --class rail --count 4 --group a --gpu gpu.example.com --gpus 4
	eq "claim" "$RC $(<"$W/err")" '0 '
	eq "the API server takes it" "$(admin create --dry-run=server -o json -f "$W/out" | jq -Sc '[.metadata.namespace, [.spec.spec.devices.requests[].exactly.count], .spec.spec.devices.constraints]')" \
		'["railhead",[4,4],[{"distinctAttribute":"railhead.io/rail","requests":["rails"]}]]'
	rail claim 7 --class rails -n kube-system
	eq "a number as a name" "$(admin create --dry-run=server -o json -f "$W/out" | jq -Sc '[.metadata.namespace, .metadata.name, .spec.spec.devices]')" \
		'["kube-system","7",{"requests":[{"exactly":{"allocationMode":"ExactCount","count":1,"deviceClassName":"rails"},"name":"rails"}]}]'
	rail_fails 2 'claim needs the --class of the rails' claim x
	rail_fails 2 'claim needs one NAME' claim --class rails
	rail_fails 2 '--group "A: b" is not a name of Kubernetes' claim x --class rails --group 'A: b'
	rail_fails 2 '--count "0" is not a number from 1' claim x --class rails --count 0
	rail_fails 2 'claim has no --json' claim x --class rails --json
	rail_fails 2 '--class is an option of claim' rails --class rails
	rail_fails 2 'check needs one JOB' check
	rail_fails 2 'verify needs one JOB, or --nodes' verify
	rail_fails 2 'verify needs one JOB' verify a b
	rail_fails 2 'verify has a JOB or --nodes' verify train --nodes n1,n2 --claim t
	rail_fails 2 'verify --nodes needs the rails of its pods' verify --nodes n1,n2
	rail_fails 2 '--claim is an option of verify --nodes' verify train --claim t
	rail_fails 2 '--nodes "a b" has characters that no name has' verify --nodes 'a b'
	rail_fails 2 '--seconds is an option of verify' check x --seconds 3
}

test_kubectl_rail_explains_its_options()
{
	NODES=0 cluster_begin
	rail --help
	eq "help" "$RC" 0
	has "help" "$(<"$W/out")" "usage: kubectl rail status"
	eq "options of help and manual page" "$(grep -oE '^  --[a-z-]+' "$W/out" | tr -d ' ' | sort | xargs)" \
		"$(sed -n '/^\.Sh OPTIONS/,/^\.Sh ENV/p' "$HERE/../../docs/man/kubectl-rail.1" | grep '^\.It' | grep -oE -- '-(json|filename|output|node|topology|job|ibnetdiscover|namespace|selector|container|railctl|parallel|deadline|format|class|count|group|gpus?|seconds|nodes|claim|resource|networks|image|context)\b' | sed 's/^/-/' | sort -u | xargs)"
	rail_fails 2 'there is no command "pools"' pools
	rail_fails 2 'there is no option --fast' rails --fast 1
	rail_fails 2 '--deadline "0" is not a number from 1' rails --deadline 0
	rail_fails 2 '--parallel needs a value' rails --parallel
	rail_fails 2 'who needs one ADDRESS' who
	rail_fails 2 'usage has no argument "x"' usage x
	rail_fails 2 'plan needs the file of the plan: -f FILE' plan
	rail_fails 2 '-o "json" is not yaml, netplan or networkd' plan -f x -o json
	rail_fails 2 '--node is an option of plan -o netplan and networkd' plan -f x --node n1
	rail_fails 2 '--topology is an option of fabric, report and topology' plan -f x --topology y
	rail_fails 2 'only one file can be standard input' fabric --topology - --ibnetdiscover -
	rail_fails 2 '--ibnetdiscover is an option of fabric, report, plan, apply and topology' rails --ibnetdiscover x
	rail_fails 2 '--job is an option of report' fabric --job x
	rail_fails 2 'only one file can be standard input' report --topology - --job -
	rail_fails 2 '-f is an option of plan and apply' rails -f x
	rail_fails 2 'only topo and verify have options behind --' rails -- --json
	rail_fails 2 'is neither a command, a node nor an address' topo 'n1;reboot'
	rail_fails 2 '"" is neither a command, a node nor an address' who ''
	rail_fails 2 'usage: kubectl rail status'
	eq "completion" "$(PATH=$KUBECTL_RAIL:$KUBE:$PATH "$KUBE/kubectl" __complete rail t | head -n 1)" topo
}

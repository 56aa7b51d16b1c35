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
	for command in rails topo "who 10.1.0.1"; do
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

# No kubelet is here. The words around the answer are those of kubectl exec for a pod with an init container, as in the DaemonSet.
test_kubectl_rail_who_of_no_address()
{
	NODES=0 cluster_begin
	trap 'case_ends kubectl_end cluster_end' EXIT
	agent_pod n1 Running || give_up "a pod"
	cat >"$W/kubectl.exec" <<-END
	#!/bin/bash
	[ "\$1" = exec ] || exec "$KUBE/kubectl" "\$@"
	echo 'Defaulted container "railheadd" out of: railheadd, install (init)' >&2
	while [ "\$1" != -- ]; do shift; done
	"$BIN/railctl" "\${@:3}" && exit
	rc=\$?
	echo "command terminated with exit code \$rc" >&2
	exit \$rc
	END
	chmod +x "$W/kubectl.exec"
	export KUBECTL=$W/kubectl.exec
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

test_kubectl_rail_explains_its_options()
{
	NODES=0 cluster_begin
	rail --help
	eq "help" "$RC" 0
	has "help" "$(<"$W/out")" "usage: kubectl rail usage"
	eq "options of help and manual page" "$(grep -oE '^  --[a-z-]+' "$W/out" | tr -d ' ' | sort | xargs)" \
		"$(sed -n '/^\.Sh OPTIONS/,/^\.Sh ENV/p' "$HERE/../../docs/man/kubectl-rail.1" | grep '^\.It' | grep -oE -- '-(json|namespace|selector|container|railctl|parallel|deadline|context)\b' | sed 's/^/-/' | sort | xargs)"
	rail_fails 2 'there is no command "pools"' pools
	rail_fails 2 'there is no option --fast' rails --fast 1
	rail_fails 2 '--deadline "0" is not a number from 1' rails --deadline 0
	rail_fails 2 '--parallel needs a value' rails --parallel
	rail_fails 2 'who needs one ADDRESS' who
	rail_fails 2 'usage has no argument "x"' usage x
	rail_fails 2 'only topo has options behind --' rails -- --json
	rail_fails 2 'is neither a command, a node nor an address' topo 'n1;reboot'
	rail_fails 2 '"" is neither a command, a node nor an address' who ''
	rail_fails 2 'usage: kubectl rail usage'
	eq "completion" "$(PATH=$KUBECTL_RAIL:$KUBE:$PATH "$KUBE/kubectl" __complete rail t | head -n 1)" topo
}

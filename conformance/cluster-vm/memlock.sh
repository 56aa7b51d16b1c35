# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# memlock.sh: a class of resource claims lets containers lock memory. Sourced by run.sh.
#
# Here root may raise the limit, as on a node. Everything else about claims is a case of ../cluster/resourceclaims.sh.

memlock_ends()
{
	kn delete --wait --now pod --all
	service 1 railhead-devices stop
	service 1 railheadd stop
	node 1 rm -r /etc/railhead/{agent,rails}.json /etc/railhead/kubeconfig /opt/railheadd /opt/cni/bin/railhead-hook
	k delete deviceclass "$CLASS"
	k delete resourceslice --field-selector spec.driver=railhead.io
}
both_published() { [ "$(slices '[.[] | select(.attributes.kind.string == "card")] | length')" = 2 ]; }

# Its first process is another user's, without any capability.
test_memory_that_a_class_lets_lock()
{
	trap memlock_ends EXIT
	is 'files of the agent' guest packaging/kubernetes/rootfs.sh /vm/bin "$(node_root 1)/opt/railheadd"
	is 'the gate' guest cp /vm/bin/railhead-hook "$(node_root 1)/opt/cni/bin"
	is 'rights' k apply -f "$TOP/packaging/kubernetes/crds" -f "$TOP/packaging/kubernetes/rbac.yaml" -f "$TOP/packaging/kubernetes/policy.yaml" \
		-f "$TOP/packaging/kubernetes/claims.yaml"
	is 'a folder' node 1 mkdir -p /etc/railhead
	is 'the token' node 1 tee /etc/railhead/kubeconfig <<<"$(kubeconfig agent1)"
	is 'the agent' node 1 tee /etc/railhead/agent.json <<<'{"kubernetes": {"kubeconfig": "/etc/railhead/kubeconfig"}, "claims": {}}'
	is 'the rails' node 1 tee /etc/railhead/rails.json <<<'{"rails": [{"rail": 0, "interface": "pf0"}, {"rail": 1, "interface": "pf1"}]}'
	rail_pools
	is 'railheadd' service 1 railheadd start
	driver_starts
	rails_class "$CLASS" railhead.io/rails set '{"kind": "macvlan", "ipam": '"$RAIL_POOLS"'}' '{"memlock": "unlimited"}'
	eventually both_published
	counting a '.spec.securityContext = {"runAsUser": 1000} | .spec.containers[0].securityContext = {"capabilities": {"drop": ["ALL"]}}
		| .spec.initContainers = [(.spec.containers[0] | .name = "i" | del(.resources) | .command = ["/bin/sh", "-c", "ulimit -l"])]'
	running a
	eq 'what its first process saw' "$(kn logs a -c c | xargs)" 'rails: rail0 rail1 locked: unlimited'
	isnt 'a container without the claim may lock as much' test "$(kn logs a -c i)" = unlimited
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Examples that need an API server: who may write which network. kubectl speaks as users of groups.

NETWORKS=$HERE/../../examples/admission/networks.yaml

# tenant, network_admin COMMAND...: kubectl as a user of a group
tenant() { admin --as=t1 --as-group=tenants --as-group=system:authenticated "$@"; }
network_admin() { admin --as=a1 --as-group=network-admins --as-group=system:authenticated "$@"; }

# net NAME NAMESPACE CONFIG: a network as JSON; CONFIG "-": it has none
net()
{
	jq -n --arg n "$1" --arg ns "$2" --arg c "$3" '{apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition",
		metadata: {name: $n, namespace: $ns}, spec: (if $c == "-" then {} else {config: $c} end)}'
}
# writes WHO NAMESPACE CONFIG; refuses NAMESPACE TEXT CONFIG: a tenant gets this refusal
writes()
{
	net trial "$2" "$3" >"$W/net"
	is "$1 in $2: $3" "$1" create --dry-run=server -f "$W/net"
}
refuses()
{
	net trial "$1" "$3" >"$W/net"
	isnt "a tenant in $1: $3" tenant create --dry-run=server -f "$W/net"
	has "the refusal of $3" "$(<"$W/is")" "$2"
	hasnt "the refusal of $3" "$(<"$W/is")" "evaluated"
	writes network_admin "$1" "$3"
}
in_force() { net trial team-b '{"type":"macvlan"}' | tenant create --dry-run=server -f - 2>&1 | grep -q 'no label railhead.io/networks=allowed'; }

networks_begin()
{
	admin apply -f "$HERE/../cluster/multus.yaml" -f "$NETWORKS" -f - >/dev/null <<-'END' || give_up "the policy"
	{apiVersion: v1, kind: Namespace, metadata: {name: team-a, labels: {railhead.io/networks: allowed}, annotations: {railhead.io/masters: "eth1, eth2"}}}
	---
	{apiVersion: v1, kind: Namespace, metadata: {name: team-b}}
	---
	{apiVersion: v1, kind: Namespace, metadata: {name: team-c, labels: {railhead.io/networks: allowed}}}
	---
	apiVersion: rbac.authorization.k8s.io/v1
	kind: ClusterRole
	metadata: {name: tenants}
	rules: [{apiGroups: [k8s.cni.cncf.io], resources: [network-attachment-definitions], verbs: [get, create, update, patch, delete]}]
	---
	apiVersion: rbac.authorization.k8s.io/v1
	kind: ClusterRoleBinding
	metadata: {name: tenants}
	roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: tenants}
	subjects: [{kind: Group, name: tenants, apiGroup: rbac.authorization.k8s.io}]
	END
	eventually in_force || give_up "the policy is not in force"
}
networks_end()
{
	admin delete --ignore-not-found -f "$NETWORKS"
	admin delete --ignore-not-found --wait=false namespace/team-a namespace/team-b namespace/team-c clusterrole/tenants clusterrolebinding/tenants
	admin delete --ignore-not-found crd/network-attachment-definitions.k8s.cni.cncf.io
}

test_examples_who_may_write_which_network()
{
	local file ours='{"cniVersion":"1.1.0","name":"r","type":"macvlan","master":"eth1","mode":"bridge","ipam":{"type":"railhead-ipam","pool":"rail0"}}'
	NODES=0 cluster_begin
	trap 'case_ends networks_end cluster_end' EXIT
	networks_begin
	# Allowed.
	writes tenant team-a "$ours"
	writes tenant team-a "${ours/eth1/eth2}"
	writes tenant team-a "$(jq . <<<"$ours")"
	writes tenant team-a '{"name":"r","plugins":[{"type":"rh-ipvlan","master":"eth2","mode":"l2","ipam":{"type":"railhead-ipam","pools":["a"]}},{"type":"rdma"}]}'
	writes tenant team-c '{"name":"r","type":"sriov","ipam":{"type":"railhead-ipam","pool":"rail0"}}'
	# Refused; administrators may write each of them.
	refuses team-b "no label railhead.io/networks=allowed" "$ours"
	refuses team-a "without it a file of the node would be used" -
	refuses team-a "without it a file of the node would be used" '{"name":"r"}'
	refuses team-a 'only administrators use this plugin: "type":"bridge"' '{"type":"bridge"}'
	refuses team-a 'only administrators use this plugin: "type" : "host-local"' "${ours/\"type\":\"railhead-ipam\"/\"type\" : \"host-local\"}"
	refuses team-a 'only administrators use this plugin: "type":"tuning"' "{\"plugins\":[$ours,{\"type\":\"tuning\"}]}"
	refuses team-a 'only administrators use this plugin: "TYPE":"bridge"' '{"type":"macvlan","TYPE":"bridge"}'
	refuses team-a 'only administrators use this plugin: "type":"../macvlan"' '{"type":"../macvlan"}'
	refuses team-a 'only administrators use this plugin' '{"type":["bridge"]}'
	refuses team-a 'only administrators use this interface: "master":"eth0"; the annotation' "${ours/eth1/eth0}"
	refuses team-a 'only administrators use this interface: "master":"xeth1"' "${ours/eth1/xeth1}"
	refuses team-a 'only administrators use this interface: "master":"eth1", "Master":"eth0"' "${ours%\}},\"Master\":\"eth0\"}"
	refuses team-c 'only administrators use this interface: "master":"eth1"' "$ours"
	refuses team-c 'only administrators use this interface: "master":""' "${ours/eth1/}"
	refuses team-a 'only administrators use this mode: "mode":"passthru"' "${ours/\"bridge\"/\"passthru\"}"
	refuses team-a 'only administrators use this key: "trust":' '{"type":"sriov","trust":"on"}'
	refuses team-a 'only administrators use this key: "deviceID" :' '{"type":"sriov","deviceID" : "0000:3b:00.2"}'
	refuses team-a 'only administrators use this key: "datadir":' '{"type":"macvlan","master":"eth1","ipam":{"type":"railhead-ipam","datadir":"/etc"}}'
	refuses team-a 'has a backslash or a character outside of ASCII' '{"type":"macvlan","\u006daster":"eth0"}'
	refuses team-a 'has a backslash or a character outside of ASCII' '{"type":"macvlan","ma'$'\xc5\xbf''ter":"eth0"}'
	# An older object of an administrator: a tenant changes its labels, and not its configuration.
	net other team-a '{"type":"bridge"}' | network_admin create -f - >/dev/null || give_up "a network"
	is "a label" tenant -n team-a label network-attachment-definition other a=b
	isnt "a configuration" tenant -n team-a patch network-attachment-definition other --type=merge -p '{"spec":{"config":"{\"type\":\"ptp\"}"}}'
	has "a configuration" "$(<"$W/is")" 'only administrators use this plugin: "type":"ptp"'
	is "our configuration" tenant -n team-a patch network-attachment-definition other --type=merge -p "$(jq -nc --arg c "$ours" '{spec:{config:$c}}')"
	# The networks of the examples are of administrators or of tenants, and valid for both.
	for file in "$HERE"/../../examples/multus/*.yaml; do
		admin create --dry-run=client -o json -f "$file" 2>/dev/null | jq -c 'if .kind == "List" then .items[] else . end |
			select(.kind == "NetworkAttachmentDefinition") | .metadata.namespace = "team-a"' >"$W/nets"
		[ ! -s "$W/nets" ] || is "${file##*/}, of an administrator" network_admin create --dry-run=server -f "$W/nets"
	done
	is "macvlan-pool.yaml, of a tenant" tenant -n team-a create --dry-run=server -f "$HERE/../../examples/multus/macvlan-pool.yaml"
}

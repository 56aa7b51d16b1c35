# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# networks.sh: pods come into their networks as the documents say. Sourced by run.sh.

# section TITLE: a section of README.md.
section() { awk -v title="## $1" '$0 == title { on = 1; next } /^## / { on = 0 } on' "$TOP/README.md"; }

# What README says of Kubernetes with Multus is done as it stands there: the commands on each node (with that node's range
# for the first one's), the manifests that it names up to the one of the pod.
# quick: both
test_readme()
{
	local n commands files pod
	section 'Kubernetes with Multus' >"$W/section"
	commands=$(awk '/^```sh/ { on = 1; next } /^```/ { on = 0 } on' "$W/section" | grep '^railctl ipam pool add')
	files=$(grep -o '(examples/multus/[a-z0-9-]*\.yaml)' "$W/section" | tr -d '()' | awk '!seen[$0]++' | sed '/pod\.yaml$/q')
	has 'README: commands' "$commands" 'railctl ipam pool add rail0'
	has 'README: manifests' "$files" examples/multus/pod.yaml
	for n in $NODES; do
		is "README's commands on n$n" node "$n" bash -ec "$(sed "s/10\.10\.1\./10.10.$n./g" <<<"$commands")"
	done
	pod=$(sed -n 's/^  name: //p' "$TOP/examples/multus/pod.yaml")
	for n in $files; do
		is "kubectl apply -f $n" kn_apply "$TOP/$n"
	done
	running "$pod"
	has 'its address' "$(address "$pod" net1)" "10.10.$NODE."
	reaches "$pod" 10.10.0.1
	audit
}
# kn_apply FILE: as it is, but on the node of the case, with its range.
kn_apply()
{
	sed "s/10\.10\.1\./10.10.$NODE./g" "$1" | kn create --dry-run=client -o json -f - |
		jq --arg node "n$NODE" 'if .kind == "Pod" then .spec.nodeName = $node else . end' | kn apply -f -
}
link() { inside "$1" ip -j -d link show dev "$2" | jq -r ".[0]$3"; }

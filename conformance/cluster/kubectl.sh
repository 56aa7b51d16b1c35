# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# kubectl.sh: `kubectl rail` and the pods of packaging/kubernetes/daemonset.yaml, with their mounts and rights. Sourced by run.sh.
#
# In these pods a program sleeps in place of the agent. A node has a boot id of its own here, in a file mounted over its /proc; a container
# has a /proc of its own. An agent that sees another boot id than the plugins releases their leases.

DAEMONSET=$TOP/packaging/kubernetes/daemonset.yaml

# kubectl_image: what rootfs.sh makes, as "docker save" writes it
kubectl_image()
{
	local d=$W/agent-image
	rm -rf "$d" && mkdir -p "$d" && "$TOP/packaging/kubernetes/rootfs.sh" "$FROM" "$d/rootfs" &&
		cp "$TREE/usr/bin/busybox" "$d/rootfs/busybox" &&
		tar -C "$d/rootfs" --numeric-owner --owner=0 --group=0 -cf "$d/layer.tar" . &&
		jq -n --arg sum "sha256:$(sha256sum "$d/layer.tar" | cut -d' ' -f1)" --arg arch "$(dpkg --print-architecture)" \
			'{architecture: $arch, os: "linux", config: {}, rootfs: {type: "layers", diff_ids: [$sum]}}' >"$d/config.json" &&
		jq -n '[{Config: "config.json", RepoTags: ["localhost/railhead:1"], Layers: ["layer.tar"]}]' >"$d/manifest.json" &&
		tar -C "$d" -cf "$W/images/railhead.tar" manifest.json config.json layer.tar && rm -rf "$d"
}
# The manifest, without the container that installs plugins: each node has them. Its namespace and account are those of rbac.yaml.
kubectl_agents()
{
	k create --dry-run=client -o json -f "$DAEMONSET" | jq 'if .kind == "List" then .items[] else . end | if .kind == "DaemonSet" then
		.spec.template.spec |= (del(.initContainers) | .containers[0] |= (del(.startupProbe, .livenessProbe, .readinessProbe, .args) |
			.image = "localhost/railhead:1" | .imagePullPolicy = "Never" | .command = ["/busybox", "sleep", "1000000"])) else . end'
}
# kubectl_boot N: railctl in the container sees the boot id of its node.
kubectl_boot()
{
	local pid
	pid=$(agent_pid "$1") &&
		node "$1" cp /proc/sys/kernel/random/boot_id /run/railhead &&
		node "$1" nsenter -t "$pid" -m /busybox mount --bind /run/railhead/boot_id /proc/sys/kernel/random/boot_id ||
		fail "test error: the boot id of n$1"
}
kubectl_begins()
{
	local n
	trap kubectl_ends EXIT
	kubectl_image || fail "test error: the image"
	for n in $NODES; do
		node "$n" ctr -n k8s.io image import - <"$W/images/railhead.tar" >"$W/is" 2>&1 || fail "test error: the image: $(<"$W/is")"
	done
	k apply -f "$TOP/packaging/kubernetes/crds" -f "$TOP/packaging/kubernetes/rbac.yaml" >/dev/null && kubectl_agents | k apply -f - >/dev/null ||
		fail "test error: the manifest"
	k -n railhead rollout status daemonset/railheadd --timeout=${LONG}s >"$W/is" 2>&1 || {
		fail "not within $LONG s: the agents are ready: $(k -n railhead get events -o json | jq -r '.items[].message' | tail -5)"
		exit 1
	}
	for n in $NODES; do kubectl_boot "$n"; done
}
kubectl_ends()
{
	local n
	kn delete pod --all --grace-period=1 --wait --timeout=${LONG}s >/dev/null 2>&1
	kubelet_gets CONT
	k delete --wait --timeout=${LONG}s -f "$DAEMONSET" >/dev/null 2>&1
	k delete --ignore-not-found --wait=false railpools --all >/dev/null
}

# kubelet_gets SIGNAL: that of n2
# shellcheck disable=SC2016 # of the node's shell
kubelet_gets() { node 2 sh -c 'kill -"$1" "$(cat /run/railhead-node/kubelet.pid)"' - "$1"; }

rail() { kubectl_rail "$@"; }
row() { awk -v node="$1" '$1 == node' "$W/out" | tr -s ' '; }

# All nodes are asked at once, and one that does not answer is named.
once_kubectl_rail()
{
	local address
	kubectl_begins
	rails rail0
	nad rail0 "$(macvlan rail0 rail0)"
	pod a rail0
	NODE=2 pod b rail0
	running a b
	address=$(address b net1)
	# The pod with an address, from any computer.
	rail who "$address"
	eq 'who' "$RC $(<"$W/err")" '0 '
	has 'who' "$(<"$W/out")" '== n2'
	hasnt 'who' "$(<"$W/out")" '== n1'
	has 'who' "$(tr -s ' ' <"$W/out")" "Pod: $NAMESPACE/b"
	rail who "$(address a net1)" --json
	eq 'who --json' "$(jq -r '[.node, .answer.leases[0].pod, .answer.leases[0].ifname] | join(" ")' "$W/out")" 'n1 a net1'
	rail who 10.10.1.200
	eq 'who, of no pod' "$RC" 1
	has 'who, of no pod' "$(<"$W/err")" 'No pod has 10.10.1.200 on the 2 nodes that answered.'
	rail who 10.10.1.300
	eq 'who, of no address' "$RC" 1
	has 'who, of no address' "$(<"$W/err")" 'is neither an IP address nor a GUID'
	# railctl in the pod shows the node: its devices are those that railctl on the node sees.
	rail rails
	eq 'rails' "$RC $(row NODE | cut -d' ' -f1-4)" '0 NODE GPUS HCAS RAILS'
	for n in $NODES; do
		eq "rails of n$n" "$(row "n$n" | cut -d' ' -f9)" "$(node "$n" railctl topo --labels | sed -n 's/.*pcie-shape=//p')"
	done
	# Its check is that of the node, as far as the container has its folders.
	rail status
	eq 'status' "$RC" "$(node 1 railctl status >/dev/null; echo $?)"
	has 'status' "$(<"$W/out")" 'agents    2 answered: 2 of no version'
	rail status n2 --json
	eq 'status of n2' "$(jq -r '[.node, (.answer.pools | length), .answer.agent.up] | map(tostring) | join(" ")' "$W/out")" 'n2 1 false'
	eq 'store of n2' "$(jq -r '.answer.diagnoses[] | select(.name == "ipam verify") | .state' "$W/out")" ok
	rail rails n2 --json
	eq 'rails of n2' "$RC $(jq -r .node "$W/out")" '0 n2'
	rail topo n1
	eq 'topo' "$RC" 0
	eq 'topo' "$(sed '1d;$d' "$W/out")" "$(node 1 railctl topo)"
	rail topo n1 --json -- --hcas none
	eq 'topo, a wrong option' "$RC" 1
	# Its root is read-only, and nothing in it unpacks or copies files.
	k -n railhead exec "$(k -n railhead get pods -o json | jq -r '.items[] | select(.spec.nodeName == "n2").metadata.name')" -- \
		/usr/local/sbin/railctl support-bundle - >"$W/bundle.tar" 2>"$W/err" || fail "support-bundle: $(<"$W/err")"
	eq 'leases of n2 in its bundle' "$(tar xOf "$W/bundle.tar" ipam/leases.json | jq -r '.[].address')" "$address"
	# usage asks no node.
	k apply -f - >/dev/null <<-'END'
	{apiVersion: railhead.io/v1alpha1, kind: RailPool, metadata: {name: rail0}, spec: {subnet: 10.92.0.0/24, blockSize: 8}}
	END
	rail usage
	eq 'usage' "$RC" 0
	has 'usage' "$(tr -s ' ' <"$W/out")" 'rail0 10.92.0.0/24 8'
	has 'usage' "$(<"$W/err")" 'no agent reports it'
	# The kubelet of n2 takes connections, and says nothing.
	kubelet_gets STOP || fail 'test error: the kubelet of n2'
	rail who "$(address a net1)" --deadline 5
	eq 'a node is silent' "$RC" 1
	has 'a node is silent' "$(<"$W/out")" '== n1'
	has 'a node is silent' "$(<"$W/err")" 'Not answered by 1 of 2 nodes:'
	has 'a node is silent' "$(<"$W/err")" 'n2: no answer within 5 s'
	kubelet_gets CONT
}

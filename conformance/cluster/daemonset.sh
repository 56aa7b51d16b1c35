# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# daemonset.sh: the manifests of packaging/kubernetes, with the images of `make image`: plugins by the init container, and the agent. Sourced by run.sh.

MANIFESTS=$TOP/packaging/kubernetes
RELEASE=$(sed -n 's/.*RAILHEAD_VERSION "\(.*\)".*/\1/p' "$TOP/lib/base/version.h")
kr() { k -n railhead "$@"; }

# Where people have the images: the values of examples/helm name it.
REGISTRY=$(sed -n 's/^ *registry: //p' "$TOP/examples/helm/rails.yaml")
# images_of BUILD TAG: the images of this build, with the names and the tag that manifests and chart give them. Each containerd has them.
images_of()
{
	local n name
	[ ! -e "$W/images-$2" ] || return 0
	"$TOP/tools/image.sh" "$1" "$W/layout" >"$W/is" 2>&1 && tar -C "$W/layout" --exclude='*.spdx' -cf "$W/layout.tar" . && rm -r "$W/layout" || return
	for n in $NODES; do
		node "$n" ctr -n k8s.io image import --base-name localhost/railhead - <"$W/layout.tar" >"$W/is" 2>&1 || return
		for name in plugins=railhead-plugins agent=railhead; do
			node "$n" ctr -n k8s.io image tag --force "localhost/railhead:${name%=*}" "$REGISTRY/${name#*=}:$2" >"$W/is" 2>&1 || return
		done
	done
	rm "$W/layout.tar" && touch "$W/images-$2"
}

# The cluster has no proxy for Services, so the agents get the address of the API server.
daemonset() # FILTER
{
	k create --dry-run=client -o json -f "$MANIFESTS/daemonset.yaml" | jq --arg api "$API" --arg registry "$REGISTRY" --arg tag "$RELEASE" '
		if .kind == "DaemonSet" then .spec.template.spec |= (
			(.initContainers, .containers) |= map(.image |= "\($registry)/\(sub("VERSION$"; $tag))") |
			.containers[0].env += [{name: "KUBERNETES_SERVICE_HOST", value: $api}, {name: "KUBERNETES_SERVICE_PORT", value: "6443"}])
		else . end | '"$1"
}

# A container has a /proc of its own, which shows the boot of the machine. So the nodes do that, too, as long as there are such pods.
BOOT_ID=/proc/sys/kernel/random/boot_id
boot_of_the_machine() { is "the boot of n$1" node "$1" umount $BOOT_ID; }
boot_of_the_node() { is "the boot of n$1" node "$1" mount --bind /run/fakes/sys_kernel_random_boot_id $BOOT_ID; }

# removal NODE: the image once more with --remove. It has ended when this returns; REMOVAL is its exit status and its last words.
removal()
{
	daemonset 'select(.kind == "DaemonSet") | .spec.template.spec as $pod | {apiVersion: "v1", kind: "Pod", metadata: {name: "removal-n'"$1"'"},
		spec: {nodeName: "n'"$1"'", restartPolicy: "Never", hostNetwork: true, terminationGracePeriodSeconds: 1, volumes: [$pod.volumes[] | select(.name == "plugins" or .name == "run" or .name == "cni")],
			containers: [$pod.initContainers[0] | .args = ["--remove"]]}}' | kr create -f - >"$W/is" 2>&1 || fail "test error: removal: $(<"$W/is")"
	eventually removal_ended "$1"
	REMOVAL=$(kr get pod "removal-n$1" -o json | jq -r '.status.containerStatuses[0].state.terminated | "\(.exitCode): \(.message)"')
	kr delete pod "removal-n$1" --wait --timeout=${LONG}s >/dev/null
}
install_said() # N: how the init container on the node ended, also if it was started again since
{
	kr get pods -o json | jq -r --arg n "n$1" '.items[] | select(.spec.nodeName == $n) | .status.initContainerStatuses[0] |
		[.state.terminated, .lastState.terminated | values][0].message'
}
removal_ended() { kr get pod "removal-n$1" -o json | jq -e '.status.phase == "Succeeded" or .status.phase == "Failed"'; }
our_programs() { node "$1" sh -c 'cd /opt/cni/bin && ls -A | grep -E "^(rh-|railhead|\.)"' | tr '\n' ' '; }
agent_is_gone() { [ -z "$(kr get pods -o name)" ]; }

# agent_pid N: the first process of the agent's container on the node, as the node counts it
agent_pid()
{
	local id
	id=$(kr get pods -o json | jq -r --arg n "n$1" '.items[] | select(.spec.nodeName == $n) | .status.containerStatuses[0].containerID') &&
		node "$1" ctr -n k8s.io task ls | awk -v id="${id#containerd://}" '$1 == id { print $2 }'
}
# The kernel says what the agent may do: four capabilities, none to gain, a filter of system calls, nothing to write in its root.
confined()
{
	local pid
	pid=$(agent_pid "$1")
	eq "the agent of n$1 may" "$(node "$1" cat "/proc/$pid/status" | awk '/^(CapPrm|CapEff|CapAmb|NoNewPrivs|Seccomp):/ { print $2 }' | xargs)" \
		'0000000000281004 0000000000281004 0000000000000000 1 2'
	eq "the root of the agent of n$1" "$(node "$1" cat "/proc/$pid/mountinfo" | awk '$5 == "/" { print substr($6, 1, 2) }')" ro
}

no_railhead() # no type, right and namespace of it is in the cluster
{
	is 'railhead goes' k delete --ignore-not-found --timeout=${LONG}s -f "$MANIFESTS/flow.yaml" -f "$MANIFESTS/policy.yaml" -f "$MANIFESTS/rbac.yaml" -f "$MANIFESTS/crds"
}

# Also after a failure: other cases have programs and pools of their own.
daemonset_end()
{
	local n
	kn delete pod --all --grace-period=1 --wait --timeout=${LONG}s >/dev/null 2>&1
	k delete --ignore-not-found railpool shared >/dev/null 2>&1
	for n in $NODES; do eventually no_pools "$n"; done
	kr delete ds railheadd --wait >/dev/null 2>&1
	eventually agent_is_gone
	for n in $NODES; do
		removal "$n"
		has "removal on n$n" "$REMOVAL" '0: '
		eq "left in the CNI folder of n$n" "$(our_programs "$n")" ''
		boot_of_the_node "$n"
		is "programs of n$n for the other cases" node_plugins "$n"
	done
	no_railhead
}

# The init container installs the plugins beside macvlan, which each node has. A pod on each node is on a rail by rh-macvlan. While it
# runs, --remove names it and removes nothing. When it is gone, --remove leaves nothing in the CNI folder (daemonset_end).
# quick: thin
once_daemonset()
{
	local n first
	images_of "${FROM%/*}" "$RELEASE" || fail "test error: images: $(tail -n 3 "$W/is")" || return
	for n in $NODES; do boot_of_the_machine "$n"; done
	trap daemonset_end EXIT
	is 'types, rights and policy' k apply -f "$MANIFESTS/crds" -f "$MANIFESTS/rbac.yaml" -f "$MANIFESTS/policy.yaml" -f "$MANIFESTS/flow.yaml"
	is 'the types are there' k wait --for=condition=Established -f "$MANIFESTS/crds" --timeout=${LONG}s
	daemonset . | k apply -f - >"$W/is" 2>&1 || fail "the DaemonSet: $(<"$W/is")"
	is 'the agents become ready' kr rollout status ds/railheadd --timeout=${LONG}s
	for n in $NODES; do
		has "last words of install on n$n" "$(install_said "$n")" '11 written'
		has "programs of n$n" "$(our_programs "$n")" 'rh-macvlan'
		is "n$n keeps its macvlan" cmp "$FROM/macvlan" "$(node_root "$n")/opt/cni/bin/macvlan"
	done
	for n in $NODES; do confined "$n"; done
	is 'the pool' k apply -f - <<<'{"apiVersion": "railhead.io/v1alpha1", "kind": "RailPool", "metadata": {"name": "shared"},
		"spec": {"subnet": "10.10.0.0/16", "ranges": ["10.10.200.1-10.10.200.8"], "blockSize": 2, "cooldown": 0}}'
	for n in $NODES; do eventually has_pool "$n"; done
	nad shared "$(macvlan shared shared '.type = "rh-macvlan"')"
	pod a shared
	NODE=2 pod b shared
	running a b
	first=$(address a net1)
	has 'addresses' "$first $(address b net1)" 10.10.200.
	reaches a "$(address b net1)"
	reaches b "$first"
	audit
	removal 1
	has 'a removal under a pod' "$REMOVAL" '1 attachment of this node still needs the plugins'
	has 'programs of n1' "$(our_programs 1)" 'rh-macvlan'
	delete a b
	# A plugin of another project writes no record. The file that Multus keeps by libcni names our IPAM.
	nad theirs "$(macvlan theirs shared '.type = "bridge" | .cniVersion = "1.0.0" | del(.master)')"
	pod c theirs
	running c
	removal 1
	has 'a removal under a pod of another plugin' "$REMOVAL" '1 attachment of this node still needs the plugins for its DEL: multus/results/theirs-'
	has 'programs of n1' "$(our_programs 1)" 'railhead-ipam'
	delete c
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# chart.sh: the life of the Helm chart: the commands of docs/start.md and of UPGRADE.md of the chart, as they stand there. Sourced by run.sh.
#
# The images have the names that the values of examples/helm say. Two further values are of this cluster:
# - It has no proxy for Services, so the agents get the address of the API server.
# - A released address does not rest, because a node returns a block after that.
# The namespace is "default", as in docs/start.md.

CHART=packaging/helm/railhead
BED_VALUES="-f bed.yaml"

# next_build: $W/next/bin, a build as a later one would be: the same programs with another mark of the build.
next_build()
{
	local mark other
	mark=$(<"${FROM%/*}/build_id")
	other=$(rev <<<"$mark")
	rm -rf "$W/next" && mkdir "$W/next" && cp -r "$FROM" "$W/next/bin" &&
		LC_ALL=C sed -i "s/$mark/$other/g" "$W"/next/bin/* && grep -qF "$other" "$W/next/bin/macvlan"
}
# another_build: images of it have the tag "next".
another_build() { next_build && cp "${FROM%/*}/libraries.tsv" "$W/next" && images_of "$W/next" next && rm -r "$W/next"; }

page() { GUIDE=$CHART/UPGRADE.md follow "$@"; }
is_put_back()
{
	[ "$(node 1 sha256sum /opt/cni/bin/rh-macvlan | cut -d' ' -f1)" = "$(node 1 cat /opt/cni/bin/.railhead-install.json | jq -r '.programs[] | select(.name == "rh-macvlan").sha256')" ]
}
agents_of() { kr get pods -l app.kubernetes.io/name=railheadd -o json | jq -r '[.items[].metadata.uid] | sort | join(" ")'; }
# on_both NAME: a pod on each node, NAME-1 and NAME-2
on_both()
{
	local n
	for n in $NODES; do NODE=$n pod "$1-$n" rail0; done
}
# load: pods on rails come and go on both nodes, six at a time, until load_ends. If one of them fails, the Job fails.
load()
{
	jq -n --arg image "$IMAGE" '{apiVersion: "batch/v1", kind: "Job", metadata: {name: "load"}, spec: {completions: 10000, parallelism: 6, backoffLimit: 0,
		template: {metadata: {annotations: {"k8s.v1.cni.cncf.io/networks": "rail0"}}, spec: {restartPolicy: "Never", terminationGracePeriodSeconds: 1,
		enableServiceLinks: false, automountServiceAccountToken: false, containers: [{name: "c", image: $image, imagePullPolicy: "Never",
		command: ["sh", "-c", "case $(ip addr show net1) in *\"inet 10.10.\"*) ;; *) exit 1 ;; esac"]}]}}}}' | kn create -f - >/dev/null || fail 'test error: load'
	eventually passed_by 6
}
passed_by() { [ "$(kn get job load -o json | jq '.status.succeeded // 0')" -ge "$1" ]; }
# load_ends WHAT SINCE: so many pods had passed before; more did during the change, and do after it, and none has failed.
load_ends()
{
	local during
	during=$(($(kn get job load -o json | jq .status.succeeded) - $2))
	[ $during -ge 6 ] || fail "$1: only $during pods of the load passed meanwhile"
	eventually passed_by $(($2 + during + 6))
	eq "$1: pods of the load that failed" "$(kn get job load -o json | jq -c '[.status.failed // 0, .status.conditions // []]')" '[0,[]]'
	is "$1: the load ends" kn delete job load --cascade=foreground --wait --timeout=${LONG}s
}
# changed WHAT COMMAND...: of the release, under load, while other pods run; one more starts meanwhile on each node. In the end each node has another
# agent, and the pods have the addresses of before. The pods of the name OLD go then.
changed()
{
	local before agents passed
	before=$(addresses_on_rails) agents=$(agents_of)
	load
	passed=$(kn get job load -o json | jq .status.succeeded)
	"${@:2}"
	on_both "during-$1"
	is "$1" kr rollout status daemonset/railheadd --timeout=${LONG}s
	running "during-$1-1" "during-$1-2"
	load_ends "$1" "$passed"
	[ "$(agents_of)" != "$agents" ] || fail "$1: the agents are the same"
	eq "$1: pods of before" "$(addresses_on_rails | grep -v during-"$1")" "$before"
	audit
	delete "$OLD-1" "$OLD-2"
	OLD=during-$1
	audit
}
addresses_on_rails() # what interfaces have, by what the pod is
{
	local name
	for name in $(kn get pods -o name | sort); do
		echo "${name#pod/} $(inside "${name#pod/}" ip -j addr show net1 | jq -r '.[].addr_info[] | select(.family == "inet").local')"
	done
}
upgrade() { HELM_MORE="$BED_VALUES $1" page 'Upgrade and rollback' 'helm .*(show|upgrade)'; }
refused() { has_init_state 'CrashLoopBackOff|Error' && [[ $(kr describe pods) == *'of this node still need'* ]]; }
has_init_state() { kr get pods -o json | jq -r '.items[].status.initContainerStatuses[0].state | .waiting.reason // .terminated.reason' | grep -qE "$1"; }

chart_begins() # MORE VALUES
{
	local n
	NAMESPACE=default
	[ -x "$CLUSTER/bin/helm" ] || fail "$CLUSTER/bin/helm is not there; to make it: make cluster-programs" || return
	images_of "${FROM%/*}" "$RELEASE" || fail "test error: images: $(tail -n 3 "$W/is")" || return
	# Helm takes no objects of other cases. Nodes of a newcomer have no state; with it, agents take the objects for an old copy.
	no_railhead
	for n in $NODES; do
		boot_of_the_machine "$n"
		is "state of n$n" node "$n" rm -rf /var/lib/railhead
	done
	mkdir -p "$W/people"
	printf '%s\n' "agent: {apiServer: {host: $API, port: 6443}}" "$1" >"$W/people/bed.yaml"
}
chart_ends()
{
	local n
	kn delete pod --all --grace-period=1 --wait --timeout=${LONG}s >/dev/null 2>&1
	kn delete --ignore-not-found net-attach-def rail0 >/dev/null 2>&1
	k label nodes --all railhead.io/group- >/dev/null 2>&1
	k get crd railpools.railhead.io >/dev/null 2>&1 && k delete railpools --all --timeout=${LONG}s >/dev/null 2>&1
	! "$CLUSTER/bin/helm" status railhead -n railhead >/dev/null 2>&1 || for n in $NODES; do eventually no_pools "$n"; done
	"$CLUSTER/bin/helm" uninstall railhead -n railhead >/dev/null 2>&1
	no_railhead
	for n in $NODES; do
		node "$n" sh -c 'cd /opt/cni/bin && rm -rf rh-* .railhead* railhead railhead-hook railctl rdma-probe /etc/kubernetes/node-feature-discovery'
		boot_of_the_node "$n"
		is "programs of n$n for the other cases" node_plugins "$n"
	done
}

claim_shows_rails() { [ "$(kn get resourceclaims -o json | jq '[.items[].status.devices[]? | .networkData.ips[]] | length')" = 8 ]; }
# Five commands of README.md, and a pod has all rails of its node. The interfaces of these nodes have no RDMA, and their root may not raise
# the limit of locked memory.
once_chart_of_claims()
{
	local n
	from_version 36 'extended resources by claims'
	chart_begins 'claims: {classes: {rails: {memlock: null, network: {rdma: null}}}}' || return
	trap chart_ends EXIT
	for n in $NODES; do
		mkdir -p "$(node_root "$n")/etc/railhead" && cp "$TOP/examples/rails/rails.json" "$(node_root "$n")/etc/railhead/rails.json" || fail 'test error: rails.json'
	done
	eq 'commands' "$(GUIDE=README.md blocks 'All rails by one line on Kubernetes' sh | grep -c .)" 7
	HELM_MORE=$BED_VALUES GUIDE=README.md follow 'All rails by one line on Kubernetes' .
	for n in 0 1 2 3 4 5 6 7; do has 'interfaces' "$(<"$W/is")" "rail$n"; done
	has 'settings' "$(<"$W/is")" nccl.conf
	eq 'groups' "$(k get nodes -o json | jq -r '[.items[].metadata.labels["railhead.io/group"]] | join(" ")')" 'g0 g0'
	eq 'a pool of the plan' "$(k get railpool rail7-g0 -o json | jq -c '[.spec.subnet, .spec.nodes]')" '["10.207.0.0/22",{"railhead.io/group":["g0"]}]'
	rail report
	eq 'report' "$RC $(<"$W/err")" '0 '
	for n in '2 nodes: version <bdi>' '<bdi>rail7-g0</bdi></th><td><bdi>10.207.0.0/22</bdi>' '<bdi>n1</bdi>' '<bdi>n2</bdi>' '</html>'; do has 'report' "$(tail -n +60 "$W/out")" "$n"; done
	plan_grows
	# With the token of the agent's pod.
	eventually claim_shows_rails || fail "the status of the claim: $(kn get resourceclaims -o yaml)"
	kn delete pod all-rails --grace-period=1 --wait --timeout=${LONG}s >/dev/null || fail 'the pod stays'
	for n in $NODES; do
		eventually nothing_at_all "$n"
		rm "$(node_root "$n")/etc/railhead/rails.json"
	done
}

changed_fabric() { is 'agents listen' where_people_work "helm upgrade railhead packaging/helm/railhead --namespace railhead --reuse-values --set fabric.enabled=true" && is 'the agents' kr rollout status daemonset/railheadd --timeout=${LONG}s; }
is_numbered() { rail plan -f "$1" --json && [ "$(jq -r '[.nodes[] | .number // 0] | join(" ")' "$W/out")" = "$2" ]; }
# A node becomes g1: one more apply makes its pools, and changes none of g0.
plan_grows()
{
	local before after by_hand file=$W/people/fabric.yaml
	before=$(k get railpools -o json | jq -c '[.items[] | [.metadata.name, .metadata.generation]]')
	sed 's/g0: .*/g0: [n1, n2]\n  g1: ["gpu*"]/; s/rails: 8/rails: 9/' "$TOP/examples/plan/fabric.yaml" >"$file"
	rail plan -f "$file" --json
	eq 'the parts of nine rails are others' "$RC $(jq -r '[.findings[] | select(.state == "fail").code] | unique | join(" ")' "$W/out")" '4 pool'
	sed -i 's/rails: 9/rails: 8/; s/10.200.0.0/10.96.0.0/' "$file"
	rail apply -f "$file"
	eq 'another supernet' "$RC $(<"$W/out")" '4 '
	has 'another supernet' "$(<"$W/err")" 'pool rail0-g0: a pool that pods have addresses of does not change'
	sed -i 's/10.96.0.0/10.200.0.0/' "$file"
	k label --overwrite node n2 railhead.io/group=g1 >/dev/null || fail 'test error: a label'
	rail apply -f "$file"
	eq 'n2 would move' "$RC" 4
	has 'n2 would move' "$(<"$W/err")" 'node n2: a plan does not move a node: its pods have addresses of g1'
	sed -i '/g1:/d; s/\[n1, n2\]/[n1]/' "$file"
	# One of the new pools is there already, by hand.
	rail plan -f "$file" -o yaml
	k create --dry-run=client -o json -f "$W/out" | jq 'if .kind == "List" then .items[] else . end | select(.metadata.name == "rail3-g1") | .spec.cooldown = 5' | k create -f - >/dev/null ||
		fail 'test error: a pool by hand'
	by_hand=$(k get railpool rail3-g1 -o jsonpath='{.metadata.uid}')
	rail apply -f "$file"
	eq 'grown' "$RC $(row g1)" '0 g1 1 0 0 10.200.4.0/22 10.207.4.0/22'
	eq 'the pool by hand' "$(k get railpool rail3-g1 -o jsonpath='{.metadata.uid} {.spec.cooldown}')" "$by_hand 5"
	after=$(k get railpools -o json | jq -c '[.items[] | select(.metadata.name | endswith("g0")) | [.metadata.name, .metadata.generation]]')
	eq 'pools of g0' "$after" "$before"
	rail plan -f "$file" -o yaml
	has 'for GitOps' "$(<"$W/out")" 'railhead.io/group: g1'
	# With agents that listen, each node has a number, which apply pins.
	changed_fabric || return
	eventually is_numbered "$file" '2 2'
	rail apply -f "$file"
	eq 'annotations' "$(k get nodes -o json | jq -r '[.items[].metadata.annotations["railhead.io/host"]] | join(" ")')" '2 2'
	rail plan -f "$file" -o netplan --node n2
	eq 'the NICs of n2' "$(grep -c '^      - 10.20[0-7].4.2/22$' "$W/out") $(tail -n 3 "$W/out" | tr -s ' ' | paste -sd ' ')" '8  - to: 10.200.0.0/13  via: 10.207.4.1  metric: 1007'
}

# Five commands, and a pod is on a rail. Other values, another build and a rollback change the agents and the plugins under living pods. A removal under
# them is refused, and they can go all the same. In the end nothing is left in the cluster, and nothing on the nodes but state.
once_chart()
{
	local n address OLD=first
	chart_begins 'pools: {rail0: {cooldown: 0}}' || return
	another_build || fail "test error: images: $(tail -n 3 "$W/is")" || return
	trap chart_ends EXIT

	eq 'commands of start.md' "$(GUIDE=docs/start.md blocks 'Kubernetes with Helm' sh | grep -c .)" 5
	HELM_MORE=$BED_VALUES GUIDE=docs/start.md follow 'Kubernetes with Helm' .
	has 'start.md: net1' "$(<"$W/is")" 'inet 10.10.'
	address=$(address in-rail0 net1)
	has 'start.md: the address' "$(<"$W/is")" "inet $address/16"
	rail who "$address"
	eq 'who' "$RC $(<"$W/err")" '0 '
	has 'who' "$(tr -s ' ' <"$W/out")" 'Pod: default/in-rail0'
	for n in $NODES; do
		has "last words of install on n$n" "$(install_said "$n")" '11 written'
		is "n$n keeps its macvlan" cmp "$FROM/macvlan" "$(node_root "$n")/opt/cni/bin/macvlan"
	done

	on_both first
	running first-1 first-2
	changed values upgrade '--set agent.config.nodeHold=900,agent.config.plugins.every=1,plugins.restore=true,nodeLabels.enabled=true'
	for n in $NODES; do
		has "other values on n$n" "$(install_said "$n")" '0 written'
		eq "labels of n$n" "$(node "$n" cat /etc/kubernetes/node-feature-discovery/features.d/railhead)" "$(node "$n" railctl topo --labels)"
		eq "their folder on n$n" "$(node "$n" ls -A /etc/kubernetes/node-feature-discovery/features.d)" railhead
	done
	is 'another project overwrites a plugin' node 1 sh -c 'cd /opt/cni/bin && cp bridge new && mv new rh-macvlan'
	eventually is_put_back
	changed build upgrade '--set agent.config.nodeHold=900,image.tag=next'
	for n in $NODES; do has "another build on n$n" "$(install_said "$n")" '11 written'; done
	on_both next
	running next-1 next-2
	changed rollback page 'Upgrade and rollback' 'helm .*rollback'
	for n in $NODES; do has "rollback on n$n" "$(install_said "$n")" '11 written'; done
	eq 'values after the rollback' "$(kr get configmap railheadd -o 'jsonpath={.data.agent\.json}' | jq .nodeHold)" 900
	# The other build attached them.
	delete next-1 next-2
	audit
	reaches in-rail0 "$(address during-rollback-1 net1)"

	HELM_MORE=$BED_VALUES page Remove 'plugins.remove'
	eventually refused
	delete during-rollback-1 during-rollback-2
	# Its program does not listen to SIGTERM.
	is 'the pod of start.md goes' kn delete pod in-rail0 --grace-period=1 --timeout=${LONG}s
	for n in $NODES; do eventually nothing_at_all "$n"; done
	page Remove 'rollout status'
	for n in $NODES; do eq "left in the CNI folder of n$n" "$(our_programs "$n")" ''; done
	page Remove 'delete railpools|wait .*railblocks'
	for n in $NODES; do eventually no_pools "$n"; done
	page Remove uninstall
	eq 'rights that are left' "$(objects_of_railhead | grep -v ^customresource)" namespace/railhead
	page Remove 'delete (-f|namespace)'
	eq 'what is left' "$(objects_of_railhead)" ''
}

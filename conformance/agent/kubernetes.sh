# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What only Kubernetes has: etcd behind the API server, rights, tokens, certificates, and what people see of the objects.

ROLE=$HERE/../../packaging/kubernetes/rbac.yaml
MACHINES=$HERE/../../packaging/kubernetes/machines.yaml
# shellcheck source=conformance/agent/repair.sh
. "$HERE/repair.sh" # for its host
# shellcheck source=conformance/agent/plugins.sh
. "$HERE/plugins.sh"
# shellcheck source=conformance/agent/rails.sh
. "$HERE/rails.sh"

# The API server lives and answers with errors: that is no contact.
test_kubernetes_etcd_killed_behind_the_api_server()
{
	cluster_begin
	shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":1}'
	add n1 p1 rail0
	engine kill-etcd
	eventually agent_is n1 .contact false
	eventually agent_is n1 '.contactSeconds >= 3' true
	add n1 p2 rail0
	del n1 p1 rail0
	engine start-etcd
	eventually agent_is n1 .contact true
	eventually has_spare n2 rail0 1
	add n2 p3 rail0
	unique
	eventually has_event NodeCutOff Node/n1 "The agent had no answer of the cluster store for "
}

# events REASON KIND/NAME: their messages
events()
{
	admin get events -A -o json |
		jq -r --arg r "$1" --arg o "$2" '.items[] | select(.reason == $r and .involvedObject.kind + "/" + .involvedObject.name == $o) | .message'
}
has_event() { [[ $(events "$1" "$2") == *"$3"* ]]; }
event_of() { admin get events -A -o json | jq -r --arg r "$1" "[.items[] | select(.reason == \$r)][0] | $2"; }
namespace() { admin get namespace ns >/dev/null 2>&1 || admin create namespace ns >/dev/null || give_up "the namespace"; }
UID_1=11111111-2222-4333-8444-555555555555

# The pool has one block, as in conflicts.sh.
test_kubernetes_events_of_a_lost_block()
{
	NODES=2 cluster_begin
	namespace
	NODES=2 shared rail0 '{"subnet":"10.92.0.0/29","blockSize":8,"warm":0,"cooldown":0}'
	engine save
	eventually agent_is n1 .contact true
	POD_UID=$UID_1 eventually added n1 p1 rail0
	agent_kill n1
	engine restore
	eventually added n2 p2 rail0
	agent_begin n1
	eventually has_event AddressConflict Pod/p1 "Another pod may have the address $(leases n1) of interface net1, too"
	eventually has_event BlockLost Node/n1 "The block from 10.92.0.0 to 10.92.0.7 of shared pool rail0 is lost: node n2 has it"
	may_overlap "$(leases n1)" "after a restore, and conflicts names it"
	eq "the pod" "$(event_of AddressConflict '[.type, .involvedObject.namespace, .involvedObject.uid, .reportingInstance] | join(" ")')" \
		"Warning ns $UID_1 n1"
	is "kubectl" admin get events -A
	has "kubectl" "$(tr -s ' ' <"$W/is")" " Warning AddressConflict pod/p1 Another pod"
	has "kubectl" "$(tr -s ' ' <"$W/is")" " Warning BlockLost node/n1 The block"
	is "kubectl" admin -n ns get events --field-selector "involvedObject.uid=$UID_1"
	has "kubectl" "$(<"$W/is")" AddressConflict
	has "metric" "$(on_node n1 curl -s --unix-socket "$RUN/metrics.sock" http://localhost/metrics)" 'railhead_events_total{result="told"} 2'
	del n1 p1 rail0
}

# host_on_kubernetes: a host as in repair.sh whose agent is the node "host"
host_on_kubernetes()
{
	NODES=0 cluster_begin
	trap 'case_ends host_end cluster_end' EXIT
	namespace
	host_begin
	host_kill TERM
	engine_conf host | jq --argjson r "$FAST" '. + {node:"host",heartbeat:1,nodeHold:10,repair:$r}' >/etc/railhead/agent.json
	host_agent
	trap 'case_ends host_end cluster_end' EXIT
	eventually in_contact
}
in_contact() { "$BIN/railctl" cluster status --json | jq -e '.contact and .health == "ok"'; }

test_kubernetes_events_of_a_repair()
{
	host_on_kubernetes
	POD_UID=$UID_1 pod p1
	pod_dies host p1
	eventually leases_are ""
	eventually has_event Repaired Pod/p1 "Released attachment rails p1 net1, which the runtime did not: netns-gone"
	eq "the pod" "$(event_of Repaired '[.type, .involvedObject.namespace, .involvedObject.uid, .reportingInstance] | join(" ")')" "Normal ns $UID_1 host"
	is "kubectl" admin get events -A
	has "kubectl" "$(tr -s ' ' <"$W/is")" " Normal Repaired pod/p1 Released"
}

test_kubernetes_events_of_a_plugin()
{
	host_on_kubernetes
	trap 'case_ends host_end cluster_end plugins_end' EXIT
	plugins_installed
	another_project
	eventually has_event PluginLost Node/host "Plugin rh-macvlan in $CNI_FOLDER: another project has overwritten it."
	is "kubectl" admin get events -A
	has "kubectl" "$(tr -s ' ' <"$W/is")" " Warning PluginLost node/host Plugin"
}

test_kubernetes_events_of_a_rail()
{
	host_on_kubernetes
	trap 'case_ends host_end cluster_end rails_end' EXIT
	rails_there
	port_is "1: DOWN"
	eventually has_event RailDegraded Node/host "port: rail rxe2:1 ($CARD) is degraded: the port is DOWN: NCCL and UCX cannot use it. First: check the cable"
	is "kubectl" admin get events -A
	has "kubectl" "$(tr -s ' ' <"$W/is")" " Warning RailDegraded node/host port: rail rxe2:1"
	port_is "4: ACTIVE"
	eventually has_event RailRecovered Node/host "port: rail rxe2:1 ($CARD) has recovered: ACTIVE, 2.5 Gbit/s."
	eq "as often as it changed" "$(events RailDegraded Node/host | wc -l) $(events RailRecovered Node/host | wc -l)" "1 1"
}

# An event that the API server refuses is logged once, and everything else goes on.
test_kubernetes_events_without_the_right()
{
	host_on_kubernetes
	admin get clusterrole railheadd -o json | jq 'del(.rules[] | select(.resources[0] == "events"))' | admin replace -f - >/dev/null ||
		give_up "the role"
	pod p1
	pod_dies host p1
	eventually leases_are ""
	eventually failed_events 1
	pod p2
	pod_dies host p2
	eventually leases_are ""
	eventually failed_events 2
	eq "lines of the log" "$(tr -d '\\' <"$W/node/host/log" | grep -c 'takes no event: .* cannot create resource "events"')" 1
	is "contact" in_contact
	eq "refused" "$("$BIN/railctl" cluster status --json | jq -r '.refused // "-"')" -
	eq "events" "$(events Repaired Pod/p1)" ""
	admin apply -f "$ROLE" >/dev/null || give_up "the role"
	pod p3
	pod_dies host p3
	eventually has_event Repaired Pod/p3 netns-gone
}
# failed_events N: at least so many; a machine that is slow may be cut off, which is an event, too
failed_events() { [ "$("$BIN/railctl" cluster status --json | jq .events.failed)" -ge "$1" ]; }

refusal_of() { ctl "$1" cluster status --json | jq -r '.refused // ""'; }
is_refused() { [[ $(refusal_of "$1") == *"$2"* ]]; }
answered() { ctl "$1" cluster status --json | jq .heard.answered; }
# is_accepted NODE ANSWERED: more requests than so many were executed
is_accepted() { [ "$(answered "$1")" -gt "$2" ]; }

# The verb, the resource and the user are in the error of the ADD, in the status and in the log.
test_kubernetes_a_missing_right_is_named()
{
	local what='cannot create resource "railblocks"' who='User "system:serviceaccount:railhead:railheadd"'
	cluster_begin
	shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":0}'
	admin get clusterrole railheadd -o json | jq '(.rules[] | select(.resources[0] == "railblocks") | .verbs) -= ["create"]' |
		admin replace -f - >/dev/null || give_up "the role"
	refused n1 p1 rail0 11 "$(jq -Rr tojson <<<"$what" | sed 's/^"//; s/"$//')"
	has "the ADD" "$(jq -r .msg <<<"$OUT")" "$who"
	is_refused n1 "$what" || fail "status: $(refusal_of n1)"
	is "status" ctl n1 cluster status
	has "status" "$(<"$W/is")" "$who"
	has "log" "$(tr -d '\\' <"$W/node/n1/log")" "$what"
	admin apply -f "$ROLE" >/dev/null || give_up "the role"
	eventually added n1 p1 rail0
}

# People write pools. The error names the right that an agent lacks.
test_kubernetes_a_pool_needs_a_right()
{
	NODES=1 cluster_begin
	admin get clusterrolebinding pools -o json >"$W/binding" && admin delete clusterrolebinding pools >/dev/null || give_up "the binding"
	isnt "apply" ctl n1 cluster pool apply - <<<'{"name":"rail0","subnet":"10.92.0.0/24","blockSize":8}'
	has "apply" "$(<"$W/is")" 'User "system:serviceaccount:railhead:railheadd" cannot create resource "railpools"'
	has "apply" "$(<"$W/is")" "kubectl apply"
	is "kubectl apply" admin apply -f - <<-'END'
	{apiVersion: railhead.io/v1alpha1, kind: RailPool, metadata: {name: rail0}, spec: {subnet: 10.92.0.0/24, blockSize: 8}}
	END
	eventually knows n1 rail0
	add n1 p1 rail0
	jq 'del(.metadata.uid, .metadata.resourceVersion)' "$W/binding" | admin create -f - >/dev/null || give_up "the binding"
}

# is_told NODE POD POOL TEXT: ADD fails and says it. An ADD beside a closed connection may say that instead; the next one does not.
is_told()
{
	[ -e "/run/netns/$2" ] || ip netns add "$2"
	cni_on "$1" ADD "$2" "$3"
	[ "$RC" = 1 ] || give_up "ADD of $2 on $1 must fail: exit $RC: $OUT"
	[ "$(jq -r .code <<<"$OUT")" = 11 ] || give_up "ADD of $2 on $1 must be tried again: $OUT"
	[[ $OUT == *"$4"* ]]
}

# A token ends with its pod. The agent takes the next one from the file, without a restart.
test_kubernetes_tokens_are_replaced()
{
	local before
	cluster_begin
	shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":0}'
	admin -n railhead delete pod railheadd-n1 --force --grace-period=0 2>/dev/null >/dev/null || give_up "the pod"
	PATIENCE=90 eventually is_refused n1 Unauthorized
	eventually is_told n1 p1 rail0 Unauthorized
	before=$(answered n1)
	new_token n1 || give_up "a token"
	eventually is_accepted n1 "$before"
	eventually added n1 p1 rail0
}

# The Node object goes, and with it the agent's pod and token. No node takes a block of this one, whose pods live: a missing Node proves
# nothing. Then the kubelet registers the node again, with another uid, and the agent goes on.
test_kubernetes_a_node_is_deleted_and_registered_again()
{
	local before first held
	cluster_begin
	may_reclaim n1 >/dev/null || give_up "the right to reclaim"
	reclaim_begin n3
	shared rail0 '{"subnet":"10.92.0.0/28","blockSize":4,"warm":1,"cooldown":0}'
	eventually has_spare n1 rail0 1
	add n1 p1 rail0
	first=$ADDRESS
	held=$(blocks_in_store n1 | xargs)
	admin delete node n1 >/dev/null && admin -n railhead delete pod railheadd-n1 --force --grace-period=0 2>/dev/null >/dev/null ||
		give_up "the node"
	PATIENCE=90 eventually is_refused n1 Unauthorized
	add n1 p2 rail0
	del n1 p2 rail0
	# Longer than nodeHold.
	PATIENCE=90 eventually nodes_are n3 '.[] | select(.name == "n1") | .heartbeat.seconds >= 12' true
	# The node's own store would not say it: the node is cut off.
	eq "blocks of n1 in the API server" "$(blocks_in_store n1 | xargs)" "$held"
	eq "their state on n1" "$(block_state n1 rail0)" granted
	before=$(answered n1)
	new_token n1 || give_up "a token"
	eventually is_accepted n1 "$before"
	eventually added n1 p3 rail0
	eventually added n2 p4 rail0
	eq "the pod" "$(leases n1 | grep -cxF "${first%/*}")" 1
	pings p1 "${ADDRESS%/*}"
	unique
}

client() # DAYS: a certificate of the agent on n1, in its files
{
	(W=$W/kube certificate n1 /O=railhead:agents/CN=railhead:node:n1 'extendedKeyUsage=clientAuth' "$1") || give_up "a certificate"
	cp "$W/kube/n1.key" "$W/node/n1/etc/railhead/n1.key" && cp "$W/kube/n1.pem" "$W/node/n1/etc/railhead/n1.pem"
}

# With certificates of its own an agent is a plain service of systemd.
test_kubernetes_certificates_are_renewed_on_disk()
{
	local before
	NODES=1 cluster_begin
	NODES=1 shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":1,"cooldown":0}'
	NODES=1 shared dry '{"subnet":"10.93.0.0/24","blockSize":8,"warm":0}'
	agent_end n1
	client 2
	kubeconfig n1 "$W/node/n1/etc/railhead" "client-certificate: n1.pem, client-key: n1.key"
	agent_begin n1
	eventually is_accepted n1 0
	add n1 p1 rail0
	eventually has_spare n1 rail0 1
	client 0
	eventually is_refused n1 Unauthorized
	eventually agent_is n1 .contact false
	eventually agent_is n1 '.whyDetail // "" | contains("whether it has expired")' true
	# Pods come and go with the addresses that the node has; one that needs a block waits.
	add n1 p2 rail0
	del n1 p1 rail0
	eventually is_told n1 p3 dry Unauthorized
	del n1 p3 dry
	before=$(answered n1)
	client 2
	eventually is_accepted n1 "$before"
	eventually added n1 p3 dry
	has "log" "$(<"$W/node/n1/log")" "the credentials on disk have changed"
	agent_is n1 .contact true || fail "no contact"
}

# A type goes with all its objects. Its absence is not an answer, so pods keep their addresses, and DEL works. With the type the blocks come back.
test_kubernetes_the_type_of_blocks_is_deleted_and_applied_again()
{
	local i
	local -A before
	cluster_begin
	trap 'case_ends type_end cluster_end' EXIT
	shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":1,"cooldown":0}'
	for ((i = 1; i <= NODES; i++)); do
		eventually has_spare "n$i" rail0 1
		add "n$i" "a$i" rail0
		add "n$i" "b$i" rail0
		before[n$i]=$(blocks_in_store "n$i" | xargs)
		[ -n "${before[n$i]}" ] || give_up "the blocks of n$i"
	done
	admin delete crd railblocks.railhead.io >/dev/null || give_up "the type"
	eventually is_refused_or_away n1 railblocks
	del n1 b1 rail0
	eq "leases" "$(leases n1 | wc -l) $(leases n2 | wc -l) $(leases n3 | wc -l)" "1 2 2"
	pings a1 "$(leases n2 | head -n 1)"
	is "the type is back" engine type
	for ((i = 1; i <= NODES; i++)); do
		# shellcheck disable=SC2086
		eventually has_again "n$i" ${before[n$i]}
		eventually added "n$i" "c$i" rail0
		eventually ctl "n$i" ipam conflicts
	done
	unique
}
type_end() { engine type; }
# is_refused_or_away NODE TEXT: the status of the agent has this text
is_refused_or_away() { [[ $(ctl "$1" cluster status --json) == *"$2"* ]]; }

test_kubernetes_people_see_pools_and_blocks()
{
	NODES=1 cluster_begin
	NODES=1 shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":1}'
	add n1 p1 rail0
	is "pools" admin get railpools
	has "pools" "$(tr -s ' ' <"$W/is")" "NAME SUBNET BLOCK SIZE USE FREE READY AGE"
	has "pools" "$(tr -s ' ' <"$W/is")" "rail0 10.92.0.0/24 8 "
	is "blocks" admin get railblocks
	has "blocks" "$(tr -s ' ' <"$W/is")" "NAME NODE POOL START USED AGE"
	has "blocks" "$(tr -s ' ' <"$W/is")" "n1 rail0 10.92.0."
	block 1 '{"node":"n8","start":"10.93.0.8","token":"1111111111111111+","loans":[{"at":1,"node":"n2"},{"at":3,"node":"n7"}]}' |
		admin create -f - >/dev/null || give_up "a block with loans"
	is "loans" admin get railblocks -o wide
	has "loans" "$(tr -s ' ' <"$W/is")" "ASKED BY FIRST LOAN TO AGE"
	has "loans" "$(tr -s ' ' <"$W/is")" "n8 rail9 10.93.0.8 n2"
	is "heartbeats" admin -n railhead get lease n1
	has "heartbeats" "$(tr -s ' ' <"$W/is")" "n1 n1 "
}

# may_report NODE: as an operator allows it
may_report()
{
	admin create clusterrole report --verb=report --resource=railnodes.railhead.io --resource-name="$1" &&
		admin create clusterrolebinding report --clusterrole=report --serviceaccount=railhead:railheadd
}
# status_of POOL: its figures in the order of keys. shows POOL TEXT: `kubectl get` in one line.
status_of() { admin get railpool "$1" -o json | jq -cS '.status // {} | del(.reportedBy, .conditions)'; }
status_is() { [ "$(status_of "$1")" = "$2" ]; }
shows() { [[ $(admin get railpool "$1" --no-headers | tr -s ' ') == "$2"* ]]; }
# reports NODE PATCH: of the status of rail0, with the token of the agent's pod on NODE. kubectl would read the status first, and no
# agent may.
reports()
{
	on_node "$1" curl -s --max-time "$LIMIT" --fail-with-body --cacert "$W/kube/ca.pem" -X PATCH -d "$2" \
		-H "Authorization: Bearer $(<"$W/node/$1/etc/railhead/token")" -H 'Content-Type: application/merge-patch+json' \
		https://10.99.0.1:6443/apis/railhead.io/v1alpha1/railpools/rail0/status
}

# A pool of four whole blocks.
test_kubernetes_people_see_how_full_pools_are()
{
	local generation
	NODES=2 cluster_begin
	trap 'case_ends report_end cluster_end' EXIT
	reclaim_begin n1
	NODES=2 shared rail0 '{"subnet":"10.92.0.0/24","ranges":["10.92.0.8-10.92.0.39"],"blockSize":8,"warm":0,"idle":1,"cooldown":0}'
	eventually status_of rail0
	add n1 p1 rail0
	eventually grep -q 'the use of pools is not reported: .*it needs the verb report on its RailNode' "$W/node/n1/log"
	eq "without the right" "$(status_of rail0)" '{}'
	may_report n1 >/dev/null || give_up "the right to report"
	eventually shows rail0 "rail0 10.92.0.0/24 8 25% 24 "
	add n2 p2 rail0
	eventually shows rail0 "rail0 10.92.0.0/24 8 50% 16 "
	eq "reported by" "$(admin get railpool rail0 -o 'jsonpath={.status.reportedBy}')" n1
	eq "the command" "$(ctl n2 cluster pool list --json | jq -c '.pools[0] | [.addresses, .allBlocks, .inBlocks, .blocks, .nodes]')" \
		"$(admin get railpool rail0 -o json | jq -c '.status | [.addresses, .blocks, .inBlocks, .granted, .nodes]')"
	# No agent reads it, and no node takes the pool over again.
	generation=$(admin get railpool rail0 -o 'jsonpath={.metadata.generation}')
	eq "generation" "$generation" 1
	is "show" ctl n2 cluster pool show rail0
	eq "the definition of n2" "$(ctl n2 ipam pool show rail0 --json | jq -c 'tostring | contains("reportedBy")')" false
	eq "lines of a new definition" "$(grep -c 'shared pool rail0' "$W/node/n2/log")" 1
	# Other agents report nothing, and n1 nothing in their name. A spec is not written this way.
	isnt "the status by n2" reports n2 '{"status":{"use":"0%","reportedBy":"n2"}}'
	has "n2" "$(<"$W/is")" "node n2 does not report the use of pools"
	isnt "the status in another name" reports n1 '{"status":{"use":"0%","reportedBy":"n2"}}'
	has "n1" "$(<"$W/is")" "node n1 reports in the name of node n2"
	is "a definition beside a status" reports n1 \
		'{"metadata":{"labels":{"a":"b"}},"spec":{"warm":7},"status":{"reportedBy":"n1"}}'
	eq "the definition" "$(admin get railpool rail0 -o json | jq -c '[.spec.warm, .metadata.labels.a]')" '[0,null]'
	del n1 p1 rail0
	del n2 p2 rail0
	eventually status_is rail0 '{"addresses":32,"blocks":4,"free":32,"granted":0,"inBlocks":0,"nodes":0,"use":"0%"}'
	shows rail0 "rail0 10.92.0.0/24 8 0% 32 " || fail "an empty pool: $(admin get railpool rail0)"
}
# ready_is STATUS TEXT: the condition of rail0
ready_is()
{
	[[ $(admin get railpool rail0 -o json | jq -r '.metadata.generation as $g | .status.conditions[]? | select(.type == "Ready") |
		"\(.status) \(.observedGeneration == $g) \(.message)"') == "$1 true $2"* ]]
}

# What no node takes over: one Event of all nodes, and a condition, which `kubectl wait` waits for.
test_kubernetes_a_refused_generation_is_told()
{
	NODES=2 cluster_begin
	trap 'case_ends report_end cluster_end' EXIT
	may_report n1 >/dev/null || give_up "the right to report"
	reclaim_begin n1
	NODES=2 shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":0}'
	eventually ready_is True ''
	is "nothing is left" admin patch railpool rail0 --type merge -p '{"spec":{"excludes":["10.92.0.0/24"]}}'
	eventually ready_is False 'pool rail0: no address is left'
	eventually pool_is n1 .refused 'no address is left'
	eventually pool_is n2 .refused 'no address is left'
	eventually has_event PoolRefused RailPool/rail0 "Generation 2 is refused, as on node n"
	has "the event" "$(events PoolRefused RailPool/rail0)" "and the old definition still holds there: pool rail0: no address is left"
	eventually agent_is n1 '.events.told + .events.failed >= 1' true
	eventually agent_is n2 '.events.told + .events.failed >= 1' true
	eq "events of two nodes" "$(events PoolRefused RailPool/rail0 | grep -c .) $(agent_of n1 .events.failed) $(agent_of n2 .events.failed)" "1 0 0"
	is "the nodes" eventually node_waits n1 rail0
	has "the nodes" "$(admin get railnodes -o wide)" "pool rail0: no address is left"
	is "kubectl describe" admin describe railpool rail0
	has "kubectl describe" "$(tr -s ' ' <"$W/is")" "Warning PoolRefused"
	is "mended" admin patch railpool rail0 --type merge -p '{"spec":{"excludes":["10.92.0.9"]}}'
	is "kubectl wait" admin wait --for=condition=Ready --timeout="${LIMIT}s" railpool/rail0
	eventually ready_is True ''
	shows rail0 "rail0 10.92.0.0/24 8 0% " || fail "kubectl get: $(admin get railpool rail0)"
	has "kubectl get" "$(admin get railpool rail0)" "READY"
}
# node_waits NODE POOL: in `kubectl get railnodes`
node_waits() { [[ "$(admin get railnode "$1" --no-headers | tr -s ' ')" == "$1 $("$BIN/railctl" --version | awk '{ print $2 }') $2 "* ]]; }
agent_of() { ctl "$1" cluster status --json | jq -r "$2"; }
report_end() { admin delete --ignore-not-found clusterrolebinding/report clusterrole/report >/dev/null; }

# as NODE VERB...: kubectl with the token of the agent's pod on NODE
as() { HOME=$W "$KUBE/kubectl" --kubeconfig "$W/node/$1/etc/railhead/kubeconfig" "${@:2}"; }
# spec NODE [MORE]: a block of it
spec() { jq -nc --arg n "$1" '{node:$n,holder:$n,token:"1111111111111111",touched:1,poolUID:"u"}'"${2-}"; }
block() # NAME SPEC
{
	jq -n --arg n "rail9-$(printf %032x "$1")" --argjson s "$2" '{apiVersion:"railhead.io/v1alpha1",kind:"RailBlock",metadata:{name:$n},spec:($s + {pool:"rail9"})}'
}
# write NODE NUMBER SPEC: with the agent's own verb
write() { as "$1" patch railblock "rail9-$(printf %032x "$2")" --type=json -p "$(jq -nc --argjson s "$3" '[{op:"add",path:"/spec",value:($s + {pool:"rail9"})}]')"; }
denied() # WHAT MESSAGE COMMAND...
{
	isnt "$1" "${@:3}"
	has "$1" "$(<"$W/is")" "$2"
	tries=$((tries + 1))
}
create() { block "$2" "$3" | as "$1" create -f -; }
# object NODE JSON: creates it; the version is ours, if it has none.
object() { jq -c '{apiVersion:"railhead.io/v1alpha1"} + .' <<<"$2" | as "$1" create -f -; }
# marked NODE NUMBER PATH VALUE: writes that of the metadata of a block.
marked() { as "$1" patch railblock "rail9-$(printf %032x "$2")" --type=json -p "[{\"op\":\"add\",\"path\":\"/metadata/$3\",\"value\":$4}]"; }
# set_by_hand NUMBER SPEC: as an operator, or an agent of another node
set_by_hand() { admin patch railblock "rail9-$(printf %032x "$1")" --type=json -p "$(jq -nc --argjson s "$2" '[{op:"add",path:"/spec",value:($s + {pool:"rail9"})}]')"; }

ASK='|.ask={node:"n1",holder:"n1",token:"2222222222222222"}' ASK_N3='|.ask={node:"n3",holder:"n3",token:"3333333333333333"}'

# The agent of n1 takes and returns what n2 lends to it, and nothing else.
borrows_only()
{
	local no="it may ask for it" mine='{at:1,node:"n1",holder:"n1",token:"2222222222222222"}' other='{at:2,node:"n3",holder:"n3",token:"3333333333333333"}'
	local taken=${mine/\}/,taken:true\}} back=${mine/\}/,taken:true,returned:true\}}
	lent() { spec n2 "|.token=\"1111111111111111+\"|.touched=$1|.loans=[$2]"; }
	set_by_hand 2 "$(lent 1 "$mine,$other")" >/dev/null || give_up "loans of n2"
	denied "a loan, and more" "$no" write n1 2 "$(lent 2 "$taken,$other" | jq -c '.used=0')"
	denied "the loan of another node, taken" "$no" write n1 2 "$(lent 2 "$taken,${other/\}/,taken:true\}}")"
	denied "the loan of another node, taken away" "$no" write n1 2 "$(lent 2 "$taken")"
	denied "a loan with a new key" "$no" write n1 2 "$(lent 2 "${taken/\}/,colour:1\}},$other")"
	denied "a loan that no agent can read" "cannot read this" write n1 2 "$(lent 2 "${taken/\}/,colour:[[1]]\}},$other")"
	denied "a holder that no agent can read" "cannot read this" write n1 2 "$(lent 2 "$taken,$other" | jq -c '.loans[0].holder = "\u0000"')"
	denied "one more loan" "$no" write n1 2 "$(lent 2 "$taken,$other,${taken/at:1/at:3}")"
	denied "a loan of an address that n3 has" "lent once" write n1 2 "$(lent 2 "$mine,$other,${back/at:1/at:2}")"
	denied "two loans of one address" "lent once" write n1 2 "$(lent 2 "$mine,$other,${back/at:1/at:3},${back/at:1/at:3}")"
	is "a loan is taken" write n1 2 "$(lent 2 "$taken,$other")"
	denied "taken no more" "$no" write n1 2 "$(lent 3 "$mine,$other")"
	is "returned" write n1 2 "$(lent 3 "$back,$other")"
	set_by_hand 2 "{\"token\":\"+\",\"touched\":1,\"poolUID\":\"u\",\"loans\":$(jq -nc "[$other]")}" >/dev/null || give_up "a free block"
	denied "a claim by an agent that knows no loans" "drops loans" write n1 2 "$(spec n1)"
	set_by_hand 2 '{"touched":1,"poolUID":"u"}' >/dev/null || give_up "a free block without loans"
	denied "the last version of a free block" "gives no free block" write n1 2 '{"touched":9007199254740992,"poolUID":"u","probe":true}'
	set_by_hand 2 "$(spec n2 '|.touched=1')" >/dev/null || give_up "a block without loans"
	denied "the last version of a block without loans" "$no" write n1 2 "$(spec n2 '|.touched=9007199254740992|.probe=true')"
	denied "a new version and a probe, and no loan" "$no" write n1 2 "$(spec n2 '|.touched=2|.probe=true')"
	denied "a loan that makes the block unreadable" "ends with '+'" write n1 2 "$(spec n2 "|.touched=2|.loans=[$back]")"
	set_by_hand 2 "$(spec n2)" >/dev/null || give_up "no loans"
}

# The agent of n1 may ask for a block of n2. Its token changes nothing else of it.
asks_only()
{
	local no="it may ask for it" contest=${ASK/\}/,contested:true\}} share=${ASK/\}/,migrates:true\}} vm='|.identity="ns/vm:a/net1"'
	is "a claim of n2" create n2 2 "$(spec n2)"
	denied "an ask, and more" "node n1 changes no block of node n2, $no" write n1 2 "$(spec n2 "$ASK|.touched=2")"
	denied "an ask, and a new key" "$no" write n1 2 "$(spec n2 "$ASK|.colour=\"red\"")"
	denied "an ask, and one key less" "$no" write n1 2 "$(spec n2 "$ASK|del(.holder)")"
	denied "an ask, and a label" "agents write no" as n1 patch railblock "rail9-$(printf %032x 2)" --type=json \
		-p '[{"op":"add","path":"/spec/ask","value":{"node":"n1"}},{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]'
	denied "a label" "$no" marked n1 2 labels '{"app.kubernetes.io/instance":"x"}'
	denied "an annotation" "$no" marked n1 2 annotations '{"a":"b"}'
	denied "an owner" "$no" marked n1 2 ownerReferences '[{"apiVersion":"v1","kind":"Pod","name":"x","uid":"y"}]'
	denied "an ask with its answer" "$no" write n1 2 "$(spec n2 "${contest/\}/,kept:true\}}")"
	denied "an ask with a new key" "$no" write n1 2 "$(spec n2 "${ASK/\}/,colour:1\}}")"
	denied "an ask of nobody" "$no" write n1 2 "$(spec n2 '|.ask={}')"
	denied "an ask of another node" "$no" write n1 2 "$(spec n2 "$ASK_N3")"
	is "an ask" write n1 2 "$(spec n2 "$ASK")"
	is "taken back" write n1 2 "$(spec n2)"
	denied "a new version of a block that is not shared" "$no" write n1 2 "$(spec n2 '|.touched=2')"
	denied "shared, and of no machine" "$no" write n1 2 "$(spec n2 "$share")"
	set_by_hand 2 "$(spec n2 "$vm")" >/dev/null || give_up "a machine"
	is "shared in a migration" write n1 2 "$(spec n2 "$vm$share")"
	is "confirmed by a new version" write n1 2 "$(spec n2 "$vm$share|.touched=2")"
	denied "confirmed, and more" "$no" write n1 2 "$(spec n2 "$vm$share|.touched=3|.used=0")"
	denied "the last version of all" "$no" write n1 2 "$(spec n2 "$vm$share|.touched=9007199254740992")"
	is "not shared any more" write n1 2 "$(spec n2 "$vm|.touched=2")"
	set_by_hand 2 "$(spec n2 "$vm${share//n1/n3}")" >/dev/null || give_up "a machine that migrates to n3"
	denied "contested, although a machine migrates" "$no" write n1 2 "$(spec n2 "$vm$contest")"
	set_by_hand 2 "$(spec n2 "$vm${share//n1/n3}|.ask.kept=true")" >/dev/null || give_up "a machine that migrates to n3, and has its answer"
	denied "the ask of another target" "$no" write n1 2 "$(spec n2 "$vm$share")"
	set_by_hand 2 "$(spec n2 "$ASK_N3|.ask.kept=true")" >/dev/null || give_up "an ask of n3 with an answer"
	denied "an ask with an answer, replaced" "$no" write n1 2 "$(spec n2 "$ASK")"
	set_by_hand 2 "$(spec n2 "${ASK_N3/\}/,contested:true,kept:true\}}")" >/dev/null || give_up "an ask of n3 that is over"
	is "an ask after one that is over" write n1 2 "$(spec n2 "$ASK")"
	set_by_hand 2 "$(spec n2 "$ASK_N3")" >/dev/null || give_up "an ask of n3"
	denied "the ask of another node, replaced" "$no" write n1 2 "$(spec n2 "$ASK")"
	denied "the ask of another node, taken away" "$no" write n1 2 "$(spec n2)"
	is "a block that a restored store gave away" write n1 2 "$(spec n2 "$contest")"
	is "the answer" write n2 2 "$(spec n2 "${contest/\}/,kept:true\}}")"
	denied "an answer, taken away" "$no" write n1 2 "$(spec n2 "$contest|.used=1")"
	is "the answer was read" write n1 2 "$(spec n2)"
	set_by_hand 2 "$(spec n2 "${ASK_N3/\}/,contested:true\}}")" >/dev/null || give_up "an ask of n3"
	denied "what another node contests" "$no" write n1 2 "$(spec n2 "$contest")"
	set_by_hand 2 "$(spec n2)" >/dev/null || give_up "no ask"
	denied "a theft" "node n1 changes no block of node n2" write n1 2 "$(spec n1)"
	denied "an ask that no agent can read" "cannot read this" write n1 2 "$(spec n2 "$ASK|.ask.holder=\"\\u0000\"")"
	denied "a hint that the block is empty" "$no" write n1 2 "$(spec n2 '|.used=0')"
	denied "a free block of a living node" "node n1 changes no block of node n2" write n1 2 '{"probe":true,"touched":1,"poolUID":"u"}'
	denied "a deletion" "node n1 changes no block of node n2" as n1 delete railblock "rail9-$(printf %032x 2)"
	denied "a deletion of all" "cannot deletecollection" as n1 delete --raw /apis/railhead.io/v1alpha1/railblocks
}

# A node writes its own blocks and takes free ones.
own_and_free()
{
	local token='|.token="2222222222222222"' step="touched of a block stays, or grows by 1" last='|.touched=9007199254740992'
	denied "a claim for another node" "node n1 makes no block for node n2" create n1 3 "$(spec n2)"
	denied "a free block that is new" "node n1 makes no block for node" create n1 3 '{"poolUID":"u"}'
	denied "a claim with an ask of another node" "writes no ask of node n2" create n1 3 "$(spec n1 "${ASK//n1/n2}")"
	denied "a claim with an ask of its own" "writes no ask of node n1" create n1 3 "$(spec n1 "$ASK")"
	for other in '{"finalizers":["x.y/z"]}' '{"labels":{"a":"b"}}' '{"annotations":{"a":"b"}}' \
		'{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"x","uid":"y"}]}'; do
		denied "a claim with $other" "agents write no finalizers" object n1 \
			"$(block 3 "$(spec n1)" | jq -c --argjson m "$other" '.metadata += $m')"
	done
	denied "a key that no agent can read" "cannot read this" create n1 1 "$(spec n1 '|.colour=[[1]]')"
	denied "a holder that no agent can read" "cannot read this" create n1 1 "$(spec n1 '|.holder="\u0000"')"
	denied "an object inside that no agent can read" "cannot read this" create n1 1 "$(spec n1 '|.parked={by:"n1",colour:[1]}')"
	is "a claim with a key of a newer agent" create n1 1 "$(spec n1 '|.colour="red"')"
	is "deleted again" as n1 delete railblock "rail9-$(printf %032x 1)"
	denied "a claim in the last version" "$step" create n1 3 "$(spec n1 "$last")"
	denied "a claim in its second version" "$step" create n1 3 "$(spec n1 '|.touched=2')"
	is "a claim" create n1 1 "$(spec n1)"
	denied "the last version of the own block" "$step" write n1 1 "$(spec n1 "$last")"
	denied "two versions at once" "$step" write n1 1 "$(spec n1 '|.touched=3')"
	denied "returned in the last version" "$step" write n1 1 '{"poolUID":"u","touched":9007199254740992,"probe":true}'
	is "confirmed by its owner" write n1 1 "$(spec n1 '|.touched=2')"
	denied "the version before" "$step" write n1 1 "$(spec n1)"
	denied "no version" "$step" write n1 1 "$(spec n1 '|del(.touched)')"
	set_by_hand 1 "$(spec n1)" >/dev/null || give_up "the first version"
	denied "an ask of another node for the own block" "writes no ask of node n2" write n1 1 "$(spec n1 "${ASK//n1/n2}")"
	denied "a gift that was not asked for" "node n1 hands over no block to node n2" write n1 1 "$(spec n2)"
	is "an ask of n2" write n2 1 "$(spec n1 "${ASK//n1/n2}")"
	denied "an ask that is not what n2 wrote" "writes no ask of node n2" write n1 1 "$(spec n1 "${ASK//n1/n2}|.ask.token=\"3333333333333333\"")"
	denied "handed over by another token" "hands over no block to node n2" write n1 1 "$(spec n2)"
	denied "handed over, and asked for" "writes no ask of node n2" write n1 1 "$(spec n2 "$token${ASK//n1/n2}")"
	denied "returned, and asked for" "writes no ask of node n2" write n1 1 '{"poolUID":"u","ask":{"node":"n2"}}'
	is "used, and asked for" write n1 1 "$(spec n1 "${ASK//n1/n2}|.used=3|.touched=2")"
	denied "handed over in the last version" "$step" write n1 1 "$(spec n2 "$token$last")"
	is "handed over" write n1 1 "$(spec n2 "$token|.touched=2")"
	denied "a finalizer" "agents write no finalizers" marked n2 1 finalizers '["x.y/z"]'
	denied "a label on the own block" "agents write no finalizers" marked n2 1 labels '{"a":"b"}'
	is "returned" write n2 1 '{"poolUID":"u","touched":2,"probe":true}'
	denied "a free block for another node" "gives no free block to node n1" write n2 1 "$(spec n1 '|.touched=2')"
	denied "a free block that is asked for" "gives no free block to node" write n1 1 "{\"poolUID\":\"u\",\"touched\":2,\"probe\":true,\"ask\":{\"node\":\"n1\"}}"
	denied "a free block without its probe" "gives no free block to node" write n1 1 '{"poolUID":"u","touched":2}'
	denied "a free block that is deleted" "gives no free block to node -" as n1 delete railblock "rail9-$(printf %032x 1)"
	denied "a free block in the last version" "$step" write n2 1 "$(spec n2 "$last")"
	is "a free block" write n2 1 "$(spec n2 '|.touched=2')"
	is "deleted by its owner" as n2 delete railblock "rail9-$(printf %032x 1)"
}

# rail_node NAME SPEC. noted NODE OTHER SPEC: writes those keys of the RailNode of OTHER.
rail_node() { jq -nc --arg n "$1" --argjson s "$2" '{kind:"RailNode",metadata:{name:$n},spec:$s}'; }
noted() { as "$1" patch railnode "$2" --type=merge -p "{\"spec\":$3}"; }

# Objects with the name of a node belong to that node.
rail_reserved() { jq -nc --arg n "$1" --argjson r "$2" '{apiVersion:"railhead.io/v1alpha1",kind:"RailReserved",metadata:{name:$n},spec:{node:$n,ranges:$r}}'; }
nodes_and_heartbeats()
{
	local lease='{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"n3","namespace":"railhead"}}'
	denied "the RailNode of n2" "node n1 writes no object of node n2" object n1 "$(rail_node n2 '{"node":"n2"}')"
	denied "the name of a node to come" "node n1 writes no object of node n3" object n1 "$(rail_node n3 '{"node":"n1"}')"
	denied "the watch of n2" "has another node in its spec" object n1 "$(rail_node n1 '{"node":"n2"}')"
	denied "the watch of n2, later" "has another node in its spec" noted n1 n1 '{"node":"n2"}'
	denied "a node that is said to be dead" "node n1 writes no object of node n2" noted n1 n2 '{"forgotten":{"uid":"a","version":"1"}}'
	denied "a report that no agent can read" "cannot read this" noted n1 n1 '{"pools":[{"name":[[1]]}]}'
	denied "no RailNode" "cannot delete resource" as n1 delete railnode n1
	denied "a heartbeat of n2" "node n1 writes no object of node n2" as n1 -n railhead patch lease n2 --type=merge -p '{"metadata":{"annotations":{"a":"b"}}}'
	denied "a heartbeat of a node to come" "node n1 writes no object of node n3" object n1 "$lease"
	denied "a heartbeat that no agent can read" "cannot read this" as n1 -n railhead patch lease n1 --type=merge \
		-p '{"metadata":{"annotations":{"railhead.io/heartbeat":"\u0000"}}}'
	denied "a heartbeat with a label" "agents write no finalizers" as n1 -n railhead patch lease n1 --type=merge -p '{"metadata":{"labels":{"a":"b"}}}'
	denied "addresses of n2" "node n1 writes no object of node n2" object n1 "$(rail_reserved n2 '["10.92.0.9"]')"
	denied "a network as its own" "an agent reserves the addresses of its own node" object n1 "$(rail_reserved n1 '["10.0.0.0/8"]')"
	denied "a range as its own" "an agent reserves the addresses of its own node" object n1 "$(rail_reserved n1 '["10.92.0.1-10.92.0.99"]')"
	denied "65 addresses as its own" "an agent reserves the addresses of its own node" object n1 \
		"$(rail_reserved n1 "$(jq -nc '[range(65) | "10.92.1.\(.)"]')")"
	is "an address of its own" object n1 "$(rail_reserved n1 '["10.92.0.9"]')"
	is "it has none" as n1 delete railreserved n1
	denied "no heartbeat" "cannot delete resource" as n1 -n railhead delete lease n1
	denied "heartbeats elsewhere" "cannot create resource" object n1 "$(jq -c '.metadata.namespace = "kube-node-lease" | .metadata.name = "n1"' <<<"$lease")"
	denied "a token" "cannot create resource" as n1 -n railhead create token railheadd
	denied "secrets" "cannot list resource" as n1 get secrets
	denied "pods" "cannot list resource" as n1 get pods -A
}

# An operator's word: a right on the node that is dead.
of_a_dead_node()
{
	local vm='|.identity="ns/vm:a/net1"' share=${ASK//n1/n2}
	share=${share/\}/,migrates:true\}}
	may_reclaim n2 >/dev/null || give_up "reclaim"
	is "the target n2" set_by_hand 2 "$(spec n3 "$vm$share")"
	denied "its ask, without a probe" "node n1 changes no block of node n3" write n1 2 "$(spec n3 "$vm")"
	denied "its ask, and the block" "node n1 changes no block of node n3" write n1 2 "$(spec n1 "$vm|.probe=true")"
	denied "its ask, and the identity" "node n1 changes no block of node n3" write n1 2 "$(spec n3 '|.probe=true')"
	is "its ask" write n1 2 "$(spec n3 "$vm|.probe=true")"
	is "the target n4" set_by_hand 2 "$(spec n3 "$vm${share//n2/n4}")"
	denied "the ask of a node that nobody said to be off" "node n1 changes no block of node n3" write n1 2 "$(spec n3 "$vm|.probe=true")"
	is "an ask for more" set_by_hand 2 "$(spec n3 "$vm${ASK//n1/n2}")"
	denied "an ask of no migration" "node n1 changes no block of node n3" write n1 2 "$(spec n3 "$vm|.probe=true")"
	is "the block of n2" set_by_hand 2 "$(spec n2 "$ASK_N3")"
	eventually noted n1 n2 '{"forgotten":{"uid":"a","version":"1"}}'
	denied "more than that it is dead" "node n1 writes no object of node n2" noted n1 n2 '{"holder":"n1"}'
	denied "less than was there" "node n1 writes no object of node n2" noted n1 n2 '{"holder":null}'
	denied "reclaimed for itself" "node n1 changes no block of node n2" write n1 2 "$(spec n1)"
	denied "reclaimed without a probe" "node n1 changes no block of node n2" write n1 2 '{"touched":1,"poolUID":"u"}'
	denied "reclaimed for another pool" "node n1 changes no block of node n2" write n1 2 '{"probe":true,"touched":1,"poolUID":"v"}'
	denied "reclaimed, and asked for" "node n1 changes no block of node n2" write n1 2 '{"probe":true,"touched":1,"poolUID":"u","ask":{"node":"n3"}}'
	local loan='{"at":1,"node":"n3","holder":"n3","token":"3333333333333333","taken":true}'
	set_by_hand 2 "$(spec n2 "|.token=\"1111111111111111+\"|.loans=[$loan]")" >/dev/null || give_up "a loan of n2"
	denied "reclaimed, and the loan of n3 returned" "node n1 changes no block of node n2" write n1 2 \
		"{\"token\":\"+\",\"probe\":true,\"touched\":1,\"poolUID\":\"u\",\"loans\":[${loan/\}/,\"returned\":true\}}]}"
	returned() { spec n3 "|.token=\"1111111111111111+\"|.touched=$1|.probe=true|.loans=[${loan//n3/n2}|.returned=true]"; }
	set_by_hand 2 "$(spec n3 "|.token=\"1111111111111111+\"|.loans=[${loan//n3/n2}]")" >/dev/null || give_up "a loan of n3 to n2"
	denied "the loan of n2 returned, and the last version of all" "node n1 changes no block of node n3" write n1 2 "$(returned 9007199254740992)"
	is "the loan of n2 returned" write n1 2 "$(returned 2)"
	denied "once more" "node n1 changes no block of node n3" write n1 2 "$(returned 3)"
	set_by_hand 2 "$(spec n2 "$ASK_N3")" >/dev/null || give_up "no loans"
	denied "reclaimed, and the last version of all" "touched of a block stays, or grows by 1" write n1 2 '{"probe":true,"touched":9007199254740992,"poolUID":"u"}'
	is "reclaimed" write n1 2 '{"probe":true,"touched":1,"poolUID":"u"}'
}

# Each line is what a stolen token of n1 would try, or what its agent does.
test_kubernetes_an_agent_writes_objects_of_its_node_only()
{
	local other tries=0
	NODES=2 cluster_begin
	for other in n1 n2; do eventually admin get railnode "$other"; done
	agent_end n1
	agent_end n2
	asks_only
	borrows_only
	own_and_free
	nodes_and_heartbeats
	of_a_dead_node
	is "an event" event n1 n1 n1
	denied "an event of another node" "node n1 tells no event of node n2" event n1 n2 n1
	denied "an event about another node" "node n1 tells no event about node n2" event n1 n1 n2
	# A token that is bound to no pod.
	admin -n railhead create token railheadd >"$W/node/n1/etc/railhead/token"
	denied "a token of no node" "bound to no node" create n1 3 "$(spec n1)"
	eq "tries that were denied" "$tries" 113
}
# event NODE TELLER ABOUT: an event in the name of one node about another one
event()
{
	jq -n --arg t "$2" --arg a "$3" --arg n "e$RANDOM" '{apiVersion:"events.k8s.io/v1",kind:"Event",metadata:{name:$n,namespace:"default"},
		eventTime:"2026-11-22T00:00:00.000000Z",reportingController:"railhead.io/railheadd",reportingInstance:$t,action:"Keep",
		reason:"BlockLost",type:"Warning",note:"x",regarding:{apiVersion:"v1",kind:"Node",name:$a,uid:$a}}' | as "$1" create -f -
}

label_node() { admin label --overwrite node "$@" >/dev/null || give_up "a label of $1"; }
# is_elsewhere NODE POOL true|null: whether the pool is for other nodes
is_elsewhere() { agent_is "$1" "[.pools[] | select(.name == \"$2\") | .elsewhere][0]" "$3"; }

# A pool is for some nodes. Their Nodes in Kubernetes have the label, and the watch brings a change. The file overrides it.
test_kubernetes_labels_of_the_node()
{
	NODES=2
	cluster_begin
	label_node n1 leaf=g3
	label_node n2 leaf=g4
	shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":1,"nodes":{"leaf":"g3"}}'
	eventually has_spare n1 rail0 1
	add n1 p1 rail0
	eventually is_elsewhere n2 rail0 true
	refused n2 p2 rail0 7 "n2 has leaf=g4"
	is "node show" ctl n2 ipam node show
	has "node show" "$(<"$W/is")" "leaf=g4 (Node in Kubernetes)"
	label_node n2 leaf=g3
	eventually has_spare n2 rail0 1
	# The node decides without its agent, and without the API server.
	agent_kill n2
	engine kill
	add n2 p2 rail0
	engine start
	agent_begin n2
	eventually agent_is n2 .health ok
	is "the file" ctl n2 ipam node label leaf=g4
	eventually is_elsewhere n2 rail0 true
	has "log" "$(tr -d '\\' <"$W/node/n2/log")" 'has "g4", the Node has "g3"; the file counts'
	refused n2 p3 rail0 7 "n2 has leaf=g4"
	is "the file" ctl n2 ipam node label leaf-
	eventually is_elsewhere n2 rail0 null
	# A Node that is deleted takes no pool away.
	admin delete node n2 >/dev/null || give_up "the Node"
	eventually grep -q 'Kubernetes has no Node' "$W/node/n2/log"
	added n2 p3 rail0 || fail "ADD without a Node: $OUT"
	is "the Node" admin create -f - <<<'{"apiVersion":"v1","kind":"Node","metadata":{"name":"n2"}}'
	eventually is_elsewhere n2 rail0 true
	unique
}

test_kubernetes_labels_without_the_right()
{
	NODES=1
	cluster_begin
	admin get clusterrole railheadd -o json | jq 'del(.rules[] | select(.resources[0] == "nodes"))' | admin replace -f - >/dev/null ||
		give_up "the role"
	agent_end n1
	agent_begin n1
	eventually grep -q 'the labels of the Node are not read: .*cannot list resource' "$W/node/n1/log"
	shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"nodes":{"rack":"7"}}'
	refused n1 p1 rail0 7 "no label rack"
	eq "refused" "$(refusal_of n1)" ""
	label_node n1 rack=7
	admin apply -f "$ROLE" >/dev/null || give_up "the role"
	eventually added n1 p1 rail0
}

# --- virtual machines of KubeVirt: pods with its names and labels, as their owner makes them ------

# launcher RANDOM [MIGRATION]: the pod of the machine "web"
launcher()
{
	admin create -f - >/dev/null <<-END || give_up "the pod $1"
	apiVersion: v1
	kind: Pod
	metadata:
	  name: virt-launcher-web-$1
	  namespace: ns
	  labels: {kubevirt.io: virt-launcher, vm.kubevirt.io/name: guest${2:+, kubevirt.io/migrationJobUID: $2}}
	  annotations: {kubevirt.io/domain: web}
	spec: {automountServiceAccountToken: false, containers: [{name: compute, image: none}]}
	END
}
machines_begin()
{
	cluster_begin
	# They stay for the next case.
	admin create namespace ns >/dev/null 2>&1
	admin -n ns create serviceaccount default >/dev/null 2>&1
	admin -n ns delete pods --all --force --grace-period=0 >/dev/null 2>&1
	shared rail0 '{"subnet":"10.93.0.0/28","blockSize":1,"sticky":true}'
}
# source_begins NODE: the machine lives there, may migrate, and has the address $first
source_begins()
{
	machines_begin
	admin apply -f "$MACHINES" >/dev/null || give_up "the right to get pods"
	launcher aaaaa
	POD=virt-launcher-web-aaaaa eventually added "$1" a0 rail0
	first=$ADDRESS
	may_overlap "${first%/*}" "both pods are of one machine"
}
# target_begins NODE CONTAINER RANDOM: a pod of a migration gets the same address
target_begins()
{
	launcher "$3" "job-$3"
	POD=virt-launcher-web-$3 add "$1" "$2" rail0
	eq "address of the target on $1" "$ADDRESS" "$first"
}
# n3_is_off POD: for good, an operator says so, and n2 takes its blocks
n3_is_off()
{
	may_reclaim n3 >/dev/null || give_up "the right to reclaim"
	reclaim_begin n2
	may_stay n3 "it is off for good, with the leases on its disk"
	node_dies n3 "$1"
	is "forget" ctl n1 cluster node forget n3
}
spec_is() { [ "$(admin get railblocks -o json | jq -r ".items[].spec | $1")" = "$2" ]; } # FILTER VALUE: of the only block

test_kubernetes_a_virtual_machine_keeps_its_address()
{
	local first
	machines_begin
	launcher aaaaa
	POD=virt-launcher-web-aaaaa refused n1 a0 rail0 11 "which virtual machine pod ns/virt-launcher-web-aaaaa/net1 runs is not known"
	admin apply -f "$MACHINES" >/dev/null || give_up "the right to get pods"
	POD=virt-launcher-web-aaaaa eventually added n1 a0 rail0 || fail "ADD: $OUT"
	first=$ADDRESS
	POD=virt-launcher-web-aaaaa del n1 a0 rail0
	# The next start has a pod of another name, on another node.
	launcher bbbbb
	POD=virt-launcher-web-bbbbb eventually added n2 b0 rail0
	eq "address at the next start" "$ADDRESS" "$first"
	launcher ccccc
	POD=virt-launcher-web-ccccc refused n1 c0 rail0 11 "is held by virtual machine ns/vm:web on node n2"
	POD=virt-launcher-web-nobody refused n1 d0 rail0 11 "Kubernetes has no such pod"
	admin delete -f "$MACHINES" >/dev/null
}

# The runtime makes a new sandbox, or the machine starts again, without a DEL of the old sandbox.
test_kubernetes_a_launcher_without_a_del_leaves_the_address_to_the_next_one()
{
	local first
	source_begins n1
	pod_dies n1 a0
	POD=virt-launcher-web-aaaaa add n1 a1 rail0
	eq "address of the new sandbox" "$ADDRESS" "$first"
	launcher bbbbb
	POD=virt-launcher-web-bbbbb refused n1 b0 rail0 11 "is held by virtual machine ns/vm:web on node n1"
	pod_dies n1 a1
	POD=virt-launcher-web-bbbbb add n1 b0 rail0
	eq "address of the next pod" "$ADDRESS" "$first"
	eq "lease of n1" "$(leased_on n1)" "${first%/*}"
	POD=virt-launcher-web-bbbbb del n1 b0 rail0
	admin delete -f "$MACHINES" >/dev/null
}

test_kubernetes_a_live_migration_shares_the_address()
{
	local first
	source_begins n1
	# One that fails: the target ends before its source.
	target_begins n2 b0 bbbbb
	eventually spec_is '[.node, .ask.node, .ask.migrates] | join(" ")' "n1 n2 true"
	POD=virt-launcher-web-bbbbb del n2 b0 rail0
	eventually spec_is '[.node, .ask.node // "-"] | join(" ")' "n1 -"
	eventually is_empty_of_blocks n2
	# One that succeeds, with agents that are killed.
	target_begins n3 c0 ccccc
	agent_kill n3
	agent_begin n3
	eventually agent_is n3 .health ok
	# The new epoch is confirmed beside the owner.
	eventually spec_is '[.node, .ask.node] | join(" ")' "n1 n3"
	agent_kill n1
	POD=virt-launcher-web-aaaaa del n1 a0 rail0
	agent_begin n1
	eventually spec_is '[.node, .ask.node // "-", .identity] | join(" ")' "n3 - ns/vm:web/net1"
	eq "lease of n3" "$(leased_on n3)" "${first%/*}"
	POD=virt-launcher-web-ccccc del n3 c0 rail0
	eventually spec_is '[.node // "-", .parked.by] | join(" ")' "- n3"
	admin delete -f "$MACHINES" >/dev/null
}
is_empty_of_blocks() { [ "$(blocks_of "$1" rail0)" = 0 ]; }

# The source's node dies: the target keeps the address, and the block becomes its own.
test_kubernetes_a_migration_outlives_the_node_of_its_source()
{
	local first
	source_begins n3
	target_begins n1 b0 bbbbb
	n3_is_off a0
	eventually spec_is '[.node, .ask.node // "-", .identity] | join(" ")' "n1 - ns/vm:web/net1"
	eq "lease of n1" "$(leased_on n1)" "${first%/*}"
	admin delete -f "$MACHINES" >/dev/null
}

# Its block was taken from the dead node, so its next start probes the address. No target can do that
# beside a source that lives.
test_kubernetes_a_machine_that_outlived_its_node_migrates()
{
	local first
	source_begins n3
	n3_is_off a0
	eventually spec_is '[.node // "-", .probe] | join(" ")' "- true"
	launcher bbbbb
	POD=virt-launcher-web-bbbbb eventually added n1 b0 rail0
	eq "address at the next start" "$ADDRESS" "$first"
	launcher ccccc job-ccccc
	POD=virt-launcher-web-ccccc eventually added n2 c0 rail0
	eq "address of the target" "$ADDRESS" "$first"
	spec_is '[.node, .ask.node, .ask.kept, .probe] | join(" ")' "n1 n2 true true" || fail "the block: $(admin get railblocks -o json)"
	POD=virt-launcher-web-bbbbb del n1 b0 rail0
	eventually spec_is '[.node, .ask.node // "-", .probe] | join(" ")' "n2 - true"
	admin delete -f "$MACHINES" >/dev/null
}

# The target's node dies: its ask ends, and the machine can migrate to another node.
test_kubernetes_another_target_follows_one_whose_node_is_dead()
{
	local first
	source_begins n1
	target_begins n3 b0 bbbbb
	eventually spec_is '[.node, .ask.node] | join(" ")' "n1 n3"
	n3_is_off b0
	eventually spec_is '[.node, .ask.node // "-", .probe] | join(" ")' "n1 - true"
	eq "lease of n1" "$(leased_on n1)" "${first%/*}"
	launcher ccccc job-ccccc
	POD=virt-launcher-web-ccccc eventually added n2 c0 rail0
	eq "address of the target on n2" "$ADDRESS" "$first"
	POD=virt-launcher-web-aaaaa del n1 a0 rail0
	eventually spec_is '[.node, .ask.node // "-", .identity] | join(" ")' "n2 - ns/vm:web/net1"
	admin delete -f "$MACHINES" >/dev/null
}

# --- reserved addresses ---------------------------------------------------------------------------

reserve_by_hand() # NAME RANGES
{
	jq -n --arg n "$1" --argjson r "$2" '{apiVersion:"railhead.io/v1alpha1",kind:"RailReserved",metadata:{name:$n},spec:{ranges:$r}}' |
		admin apply -f -
}
# People write the object with kubectl. The API server refuses what is not a range, and an agent that has no right.
test_kubernetes_reserved_addresses_are_written_by_people()
{
	NODES=1 cluster_begin
	admin get clusterrolebinding pools -o json >"$W/binding" && admin delete clusterrolebinding pools >/dev/null || give_up "the binding"
	isnt "the agent" ctl n1 cluster reserved add 10.92.0.1
	has "the agent" "$(<"$W/is")" 'people write the reserved addresses of the cluster'
	has "the agent" "$(<"$W/is")" "kubectl apply"
	isnt "another name" reserve_by_hand other '["10.92.0.1"]'
	has "another name" "$(<"$W/is")" "one object of the name cluster"
	isnt "no range" reserve_by_hand cluster '["10.92.0.1","10.92.0.1-x"]'
	has "no range" "$(<"$W/is")" "a range is an address, first-last or a network"
	is "ranges" reserve_by_hand cluster '["10.92.0.1","10.92.0.2-10.92.0.4","fd00::/64","10.92.0.8/30"]'
	is "show" ctl n1 cluster reserved show --json
	eq "show" "$(jq -c .ranges "$W/is")" '["10.92.0.1","10.92.0.2-10.92.0.4","fd00::/64","10.92.0.8/30"]'
	is "kubectl get" admin get rres
	has "kubectl get" "$(<"$W/is")" "10.92.0.2-10.92.0.4"
	jq 'del(.metadata.uid, .metadata.resourceVersion)' "$W/binding" | admin create -f - >/dev/null || give_up "the binding"
	NODES=1 shared rail0 '{"subnet":"10.92.0.0/28","blockSize":16,"warm":0,"cooldown":0}'
	fill n1 rail0
	eq "addresses" "$N" 6
	eq "by hand" "$(reserve_by_hand cluster '[]' >/dev/null && echo well)" well
	eventually has_reserved n1 rail0 '[]'
	eventually added n1 q1 rail0
}

# An agent that may not read them claims nothing, and says why. Types of an older release have no such object: then what the node has holds.
test_kubernetes_reserved_addresses_without_right_or_type()
{
	NODES=1 cluster_begin
	NODES=1 shared rail0 '{"subnet":"10.92.0.0/28","blockSize":4,"warm":0,"cooldown":0}'
	is "reserve" ctl n1 cluster reserved add 10.92.0.0/29
	NODES=1 everywhere rail0 '["10.92.0.0/29"]'
	agent_end n1
	admin get clusterrole railheadd -o json | jq '(.rules[] | select(.resources | index("railreserved")) | .resources) -= ["railreserved"] | .rules |= map(select(.resources != []))' |
		admin replace -f - >/dev/null || give_up "the role"
	agent_begin n1
	eventually agent_is n1 .contact true
	eventually agent_is n1 '.reserved | [.known, (.why | contains("cannot list resource \"railreserved\""))] | tostring' '[false,true]'
	refused n1 p1 rail0 11 "railreserved"
	has "status" "$(ctl n1 cluster status)" "new pools wait"
	admin apply -f "$ROLE" >/dev/null || give_up "the role"
	eventually agent_is n1 .reserved.known true
	eventually added n1 p1 rail0
	agent_end n1
	admin delete crd railreserved.railhead.io >/dev/null || give_up "the type"
	agent_begin n1
	eventually agent_is n1 '.reserved | [.known, (.why | contains("railreserved.railhead.io"))] | tostring' '[true,true]'
	has_reserved n1 rail0 '["10.92.0.0/29"]' || fail "the pool: $(ctl n1 ipam pool show rail0 --json)"
	fill n1 rail0
	# 10.92.0.8 to 10.92.0.14, one of them is p1's.
	eq "addresses" "$N" 6
	is "the list of pools" ctl n1 cluster pool list --json
	eq "without the type" "$(jq -c '.pools[0] | [.addresses,.reserved]' "$W/is")" "[14,0]"
	is "the type is back" engine type
	eventually has_reserved n1 rail0 '[]'
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What only Kubernetes has: etcd behind the API server, rights, tokens, certificates, and what people see of the objects.

ROLE=$HERE/../../packaging/kubernetes/rbac.yaml
# shellcheck source=conformance/agent/repair.sh
. "$HERE/repair.sh" # for its host

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
	trap '{ host_end; cluster_end; } 2>/dev/null' EXIT
	namespace
	host_begin
	host_kill TERM
	engine_conf host | jq --argjson r "$FAST" '. + {node:"host",heartbeat:1,nodeHold:10,repair:$r}' >/etc/railhead/agent.json
	host_agent
	trap '{ host_end; cluster_end; } 2>/dev/null' EXIT
	eventually in_contact
}
in_contact() { "$BIN/railctl" cluster status --json | jq -e '.contact and .health == "ok"'; }

test_kubernetes_events_of_a_repair()
{
	host_on_kubernetes
	POD_UID=$UID_1 pod p1
	ip netns del p1
	eventually leases_are ""
	eventually has_event Repaired Pod/p1 "Released attachment rails p1 net1, which the runtime did not: netns-gone"
	eq "the pod" "$(event_of Repaired '[.type, .involvedObject.namespace, .involvedObject.uid, .reportingInstance] | join(" ")')" "Normal ns $UID_1 host"
	is "kubectl" admin get events -A
	has "kubectl" "$(tr -s ' ' <"$W/is")" " Normal Repaired pod/p1 Released"
}

# An event that the API server refuses is logged once, and everything else goes on.
test_kubernetes_events_without_the_right()
{
	host_on_kubernetes
	admin get clusterrole railheadd -o json | jq 'del(.rules[] | select(.resources[0] == "events"))' | admin replace -f - >/dev/null ||
		give_up "the role"
	pod p1
	ip netns del p1
	eventually leases_are ""
	eventually failed_events 1
	pod p2
	ip netns del p2
	eventually leases_are ""
	eventually failed_events 2
	eq "lines of the log" "$(tr -d '\\' <"$W/node/host/log" | grep -c 'takes no event: .* cannot create resource "events"')" 1
	is "contact" in_contact
	eq "refused" "$("$BIN/railctl" cluster status --json | jq -r '.refused // "-"')" -
	eq "events" "$(events Repaired Pod/p1)" ""
	admin apply -f "$ROLE" >/dev/null || give_up "the role"
	pod p3
	ip netns del p3
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
	NODES=1 shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":0}'
	agent_end n1
	client 2
	kubeconfig n1 "$W/node/n1/etc/railhead" "client-certificate: n1.pem, client-key: n1.key"
	agent_begin n1
	eventually is_accepted n1 0
	add n1 p1 rail0
	client 0
	eventually is_refused n1 Unauthorized
	before=$(answered n1)
	client 2
	eventually is_accepted n1 "$before"
	has "log" "$(<"$W/node/n1/log")" "the credentials on disk have changed"
	agent_is n1 .contact true || fail "no contact"
}

test_kubernetes_people_see_pools_and_blocks()
{
	NODES=1 cluster_begin
	NODES=1 shared rail0 '{"subnet":"10.92.0.0/24","blockSize":8,"warm":1}'
	add n1 p1 rail0
	is "pools" admin get railpools
	has "pools" "$(tr -s ' ' <"$W/is")" "NAME SUBNET BLOCK SIZE AGE"
	has "pools" "$(tr -s ' ' <"$W/is")" "rail0 10.92.0.0/24 8 "
	is "blocks" admin get railblocks
	has "blocks" "$(tr -s ' ' <"$W/is")" "NAME NODE POOL START USED AGE"
	has "blocks" "$(tr -s ' ' <"$W/is")" "n1 rail0 10.92.0."
	is "heartbeats" admin -n railhead get lease n1
	has "heartbeats" "$(tr -s ' ' <"$W/is")" "n1 n1 "
}

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
}
create() { block "$2" "$3" | as "$1" create -f -; }

# Each line is what a stolen token of n1 would try, or what its agent does.
test_kubernetes_an_agent_writes_objects_of_its_node_only()
{
	local other ask='|.ask={node:"n1",holder:"n1",token:"2222222222222222"}'
	NODES=2 cluster_begin
	agent_end n1
	agent_end n2
	is "a claim" create n1 1 "$(spec n1)"
	denied "a claim for another node" "node n1 makes no block for node n2" create n1 2 "$(spec n2)"
	is "a claim of n2" create n2 2 "$(spec n2)"
	is "an ask" write n1 2 "$(spec n2 "$ask")"
	denied "an ask, and more" "node n1 changes no block of node n2, it may ask for it" write n1 2 "$(spec n2 "$ask|.touched=2")"
	denied "an ask of another node" "it may ask for it" write n1 2 "$(spec n2 '|.ask={node:"n3"}')"
	denied "a theft" "node n1 changes no block of node n2" write n1 2 "$(spec n1)"
	denied "a free block of a living node" "node n1 changes no block of node n2" write n1 2 '{"probe":true,"touched":1}'
	denied "a deletion" "node n1 changes no block of node n2" as n1 delete railblock "rail9-$(printf %032x 2)"
	is "handed over" write n2 2 "$(spec n1)"
	denied "a gift that was not asked for" "node n1 hands over no block to node n2" write n1 2 "$(spec n2)"
	denied "a finalizer" "agents change no finalizers" as n1 patch railblock "rail9-$(printf %032x 2)" --type=json \
		-p '[{"op":"add","path":"/metadata/finalizers","value":["x.y/z"]}]'
	is "returned" write n1 2 '{"poolUID":"u","touched":2}'
	denied "a free block for another node" "gives no free block to node n1" write n2 2 "$(spec n1)"
	is "a free block" write n2 2 "$(spec n2)"
	is "own again" as n1 delete railblock "rail9-$(printf %032x 1)"
	for other in '{"kind":"RailNode","metadata":{"name":"n2"},"spec":{"node":"n2"}}' \
		'{"kind":"RailIdentity","metadata":{"name":"pod"},"spec":{"node":"n2"}}'; do
		denied "an object of n2" "node n1 writes no object of node n2" as n1 create -f - <<<"$(jq '.apiVersion="railhead.io/v1alpha1"' <<<"$other")"
	done
	denied "a heartbeat" "node n1 changes no object of node n2" as n1 -n railhead delete lease n2
	is "an event" event n1 n1 n1
	denied "an event of another node" "node n1 tells no event of node n2" event n1 n2 n1
	denied "an event about another node" "node n1 tells no event about node n2" event n1 n1 n2
	# An operator's word: a right on the node that is dead.
	may_reclaim n2 >/dev/null || give_up "reclaim"
	eventually write n1 2 '{"probe":true,"touched":1,"poolUID":"u"}'
	denied "reclaimed for itself" "node n1 changes no block of node n2" taken_for_itself
	# A token that is bound to no pod.
	admin -n railhead create token railheadd >"$W/node/n1/etc/railhead/token"
	denied "a token of no node" "bound to no node" create n1 3 "$(spec n1)"
}
# event NODE TELLER ABOUT: an event in the name of one node about another one
event()
{
	jq -n --arg t "$2" --arg a "$3" --arg n "e$RANDOM" '{apiVersion:"events.k8s.io/v1",kind:"Event",metadata:{name:$n,namespace:"default"},
		eventTime:"2026-11-22T00:00:00.000000Z",reportingController:"railhead.io/railheadd",reportingInstance:$t,action:"Keep",
		reason:"BlockLost",type:"Warning",note:"x",regarding:{apiVersion:"v1",kind:"Node",name:$a,uid:$a}}' | as "$1" create -f -
}
taken_for_itself() { write n2 2 "$(spec n2)" && write n1 2 "$(spec n1)"; }

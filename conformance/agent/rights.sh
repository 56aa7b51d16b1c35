# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Each verb of packaging/kubernetes/rbac.yaml is taken away in turn. The agent names it, and goes on when it is back.

# rights: "KIND VERB RESOURCE" of each right of an agent, as the file says. Without the status of pools: only an agent with --reclaim and
# the right "report" writes it, and a case of kubernetes.sh shows that others are refused.
rights()
{
	admin create --dry-run=client -o json -f "$ROLE" | jq -r 'if .kind == "List" then .items[] else . end |
		select((.kind == "ClusterRole" or .kind == "Role") and .metadata.name == "railheadd") | .kind as $k | .rules[] |
		.verbs[] as $v | .resources[] as $r | select($r != "railpools/status") | "\($k) \($v) \($r)"'
}
# right_taken KIND VERB RESOURCE; rights_back: all of them. WITHOUT: a rule of several resources becomes two.
WITHOUT='.rules |= map(if .resources | index($r) then
	((.resources -= [$r]), (.resources = [$r] | .verbs -= [$v])) | select(.resources != [] and .verbs != []) else . end)'
right_taken()
{
	admin -n railhead get "$1" railheadd -o json |
		jq --arg v "$2" --arg r "$3" "$WITHOUT" |
		admin replace -f - >/dev/null || give_up "the role without $2 of $3"
}
# people_write RESOURCE...: what an operator lets the agents write in the name of people
people_write()
{
	admin get clusterrole pools -o json | jq '.rules[0].resources = $ARGS.positional' --args "$@" | admin replace -f - >/dev/null ||
		give_up "the role of people"
}
rights_back() { admin apply -f "$ROLE" >/dev/null || give_up "the role"; }

# Functions that make the agent of n1 use a right. Commands print into $W/said.
begin_again()
{
	agent_end n1
	agent_begin n1
}
one_more_pod()
{
	pods=$((pods + 1))
	ip netns add "p$pods"
	cni_on n1 ADD "p$pods" rail0
	echo "$OUT" | jq -r '.msg // empty' >>"$W/said"
}
# Its block is empty, and returned a second later.
pod_comes_and_goes()
{
	one_more_pod
	del n1 "p$pods" rail0
}
# An address of an empty block of n2.
address_of_n2()
{
	eventually has_spare n2 rail1 1
	pods=$((pods + 1))
	ip netns add "p$pods"
	POD_IP=$(ctl n2 ipam blocks rail1 --json | jq -r '[.[] | select(.used == 0)][0].first' | sed 's/0$/1/') cni_on n1 ADD "p$pods" rail1
	echo "$OUT" | jq -r '.msg // empty' >>"$W/said"
}
pool_changes()
{
	cooldown=$((cooldown + 1))
	ctl n1 cluster pool apply - <<<"$(jq -c ".cooldown=$cooldown" <<<"$SPARE")" >>"$W/said" 2>&1
}
without_its_node()
{
	admin delete railnode n1 >/dev/null
	begin_again
}
without_its_heartbeat() { admin -n railhead delete lease n1 >/dev/null; }
# Another write than that of the agent: it reads what is there.
heartbeat_is_written()
{
	pods=$((pods + 1))
	admin -n railhead annotate --overwrite lease n1 "other=$pods" >/dev/null
}
# The node has an address of the pool itself; then one more; then none.
node_has_address() { ip -n n1 addr add 10.92.0.200/32 dev rail0; }
node_has_another()
{
	ip -n n1 addr add 10.92.0.201/32 dev rail0
	eventually admin get railreserved n1
	ip -n n1 addr add 10.92.0.202/32 dev rail0
}
node_has_none() { ip -n n1 addr flush to 10.92.0.0/24 dev rail0; }
reserved_addresses() { ctl n1 cluster reserved show >>"$W/said" 2>&1; }
list_of_nodes() { ctl n1 cluster node list >>"$W/said" 2>&1; }
pod_is_lost()
{
	one_more_pod
	pod_dies n1 "p$pods"
}

# use VERB RESOURCE
use()
{
	case "$2 $1" in
	"railpools get" | "railblocks create") one_more_pod ;;
	"railblocks get" | "railblocks patch") address_of_n2 ;;
	"railblocks delete") pod_comes_and_goes ;;
	"railnodes create") without_its_node ;;
	"railnodes patch") pool_changes ;;
	"railnodes list" | "leases list") list_of_nodes ;;
	"railreserved get") reserved_addresses ;;
	"railreserved create") node_has_address ;;
	"railreserved patch") node_has_another ;;
	"railreserved delete") node_has_none ;;
	"leases get") heartbeat_is_written ;;
	"leases create") without_its_heartbeat ;;
	"leases patch") : ;;
	"events create") pod_is_lost ;;
	*" list" | *" watch" | *" get") begin_again ;;
	*) fail "no case uses $1 of $2" ;;
	esac
}

# named: each "VERB RESOURCE" that log, status and commands say is missing. The status keeps the last refusal: BEFORE.
named()
{
	{
		tail -n +"$((since + 1))" "$W/node/n1/log" | tr -d '\134'
		refusal_of n1 | grep -vxF "$before"
		cat "$W/said"
	} | grep -o 'cannot [a-z]* resource "[a-z]*"' | tr -d '"' | sed 's/cannot //; s/ resource//' | sort -u
}
is_named() { named | grep -qxF "$1"; }

# works: the agent does all that it has rights for, and n1 has reported each change of a pool
works()
{
	eventually agent_is n1 '[.contact, .health] | join(" ")' "true ok"
	eventually one_more_pod_starts
	eventually returned n1
	eventually list_of_nodes
	eventually taken_over n1
}
one_more_pod_starts() { one_more_pod && [ "$RC" = 0 ] && del n1 "p$pods" rail0; }
returned() { [ "$(ctl "$1" ipam blocks rail0 --json | jq 'map(select(.used == 0)) | length')" = 0 ]; }
taken_over() { ctl n1 cluster pool show rail1 --json | jq -e --arg n "$1" 'any(.nodes[]; .name == $n and .state == "done")'; }

reader_end() { admin delete --ignore-not-found clusterrolebinding/reader clusterrole/reader; }
# The token of an agent, as it lies on the disk of a node, writes nothing that people write. Its own objects, and those of other nodes: kubernetes.sh.
test_rights_a_stolen_token_writes_nothing_of_people()
{
	local tries=0 group='railhead.io/group' meta='"metadata":{"name":"x"}'
	NODES=1 cluster_begin
	trap 'case_ends reader_end cluster_end' EXIT
	# kubectl reads what it writes, so a refused read would hide that of the write.
	admin create clusterrole reader --verb=get --resource='*.*' >/dev/null && admin create clusterrolebinding reader --clusterrole=reader --serviceaccount=railhead:railheadd >/dev/null || give_up "a reader"
	eventually as n1 get clusterrole railheadd
	# In this suite agents may write pools for people.
	people_write railreserved
	admin apply -f - >/dev/null <<<'{"apiVersion":"railhead.io/v1alpha1","kind":"RailPool","metadata":{"name":"rail0"},"spec":{"subnet":"10.92.0.0/24","blockSize":8}}' || give_up "a pool"
	eventually knows n1 rail0
	taken() { denied "$1" "cannot $2 resource" "${@:3}"; } # WHAT VERB COMMAND...
	made() { taken "$1" create as n1 create -f - <<<"$2"; } # WHAT JSON
	taken "the group of its node" patch as n1 label node n1 $group=g9
	taken "the number of its NICs" patch as n1 annotate node n1 railhead.io/host=9
	taken "a taint of its node" patch as n1 patch node n1 --type=merge -p '{"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}}'
	taken "no node for new pods" patch as n1 patch node n1 --type=merge -p '{"spec":{"unschedulable":true}}'
	taken "what its node offers" patch as n1 patch node n1 --subresource=status --type=merge -p '{"status":{"capacity":{"railhead.io/rails":"9"}}}'
	taken "its node" delete as n1 delete node n1
	made "another node" "{\"apiVersion\":\"v1\",\"kind\":\"Node\",$meta}"
	made "a pool" "{\"apiVersion\":\"railhead.io/v1alpha1\",\"kind\":\"RailPool\",$meta,\"spec\":{\"subnet\":\"10.93.0.0/24\",\"blockSize\":8}}"
	taken "the range of a pool" patch as n1 patch railpool rail0 --type=merge -p '{"spec":{"ranges":["10.92.0.1-10.92.0.9"]}}'
	taken "no pool" delete as n1 delete railpool rail0
	taken "no pools" deletecollection as n1 delete --raw /apis/railhead.io/v1alpha1/railpools
	denied "how full a pool is" "does not report the use" as n1 patch railpool rail0 --subresource=status --type=merge -p '{"status":{"use":"0%"}}'
	made "a pod" "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",$meta,\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"b\"}]}}"
	taken "the pod of an agent" delete as n1 -n railhead delete pod railheadd-n1
	taken "the type of blocks" patch as n1 patch crd railblocks.railhead.io --type=merge -p '{"metadata":{"labels":{"a":"b"}}}'
	taken "no policy" delete as n1 delete validatingadmissionpolicy railhead-own-node
	taken "a right" patch as n1 patch clusterrole railheadd --type=merge -p '{"rules":[]}'
	made "a right of another account" "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRoleBinding\",$meta,\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"cluster-admin\"}}"
	made "a class of rails" "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"DeviceClass\",$meta,\"spec\":{}}"
	made "a ConfigMap" "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",$meta}"
	people_write railpools railreserved
	eq "tries that were denied" "$tries" 20
	eq "the pool" "$(admin get railpool rail0 -o json | jq -c '[.metadata.generation, .spec.ranges]')" '[1,null]'
	# The same hands can still do the work of the agent.
	add n1 p1 rail0
}

SPARE='{"name":"rail1","subnet":"10.93.0.0/24","blockSize":2,"warm":1,"cooldown":0}'
test_rights_each_missing_verb_is_named()
{
	local kind verb resource since before pods=0 cooldown=0
	NODES=2 cluster_begin
	namespace
	jq --argjson r "$FAST" '.repair = $r' "$W/node/n1/etc/railhead/agent.json" >"$W/conf.new" &&
		cat "$W/conf.new" >"$W/node/n1/etc/railhead/agent.json"
	NODES=2 shared rail0 '{"subnet":"10.92.0.0/24","blockSize":1,"warm":0,"idle":1,"cooldown":0}'
	NODES=2 shared rail1 "$SPARE"
	begin_again
	: >"$W/said"
	works
	# Else the right of people would stand for that of the agent.
	people_write railpools
	rights >"$W/rights"
	while read -r kind verb resource <&8; do
		since=$(wc -l <"$W/node/n1/log")
		: >"$W/said"
		before=$(refusal_of n1)
		right_taken "$kind" "$verb" "$resource"
		use "$verb" "$resource"
		eventually is_named "$verb $resource"
		eq "without $verb of $resource" "$(named | xargs)" "$verb $resource"
		rights_back
		works
	done 8<"$W/rights"
	people_write railpools railreserved
	[ "$(wc -l <"$W/rights")" -ge 18 ] || fail "only $(wc -l <"$W/rights") rights were read from $ROLE"
}

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kube.sh WORD: what a test of the contract does to Kubernetes. run.sh starts it in a sandbox and sets W, its folder, and KUBE,
# the folder with kube-apiserver and kubectl.
#
# Words: setup: start everything, with types, rights and users; bare: without. start, stop, cont, kill: of the API server. compact: etcd
# compacts, and the API server starts again, because it would answer from its memory. no-type, type: of nodes.
# kill-etcd, start-etcd: etcd behind the API server. save, restore: a copy of etcd's data, and back to it, with a new start of
# the API server. no-pool-field, no-fields: types of an older release, until `type`. alive: start what has ended.
# full, room: as of etcd.sh. clean: delete our objects. bound-token NODE: a token of the agent's pod on NODE.
# policy: an agent writes objects of its node only. contract: the agent may do all that a store can, what no agent does as well.
# queued: requests of the agent wait in their own queue. token, expired-token, no-token: what the agent's token file has.
# lease, label, shown, other-start: what people and other programs do.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=conformance/cluster-store/halt.sh
. "$HERE/halt.sh" || exit 2
MANIFESTS=$HERE/../../packaging/kubernetes
API=https://127.0.0.1:6443
ETCD=http://127.0.0.1:2379

k() { HOME=$W "$KUBE/kubectl" --kubeconfig "$W/admin.kubeconfig" "$@"; }
ask() { curl -s --max-time 10 --cacert "$W/ca.pem" --cert "$W/admin.pem" --key "$W/admin.key" "$API$1" "${@:2}"; }
pid() { cat "$W/$1.pid"; }

# until_true SECONDS WHAT COMMAND...: the processes must live meanwhile.
until_true()
{
	local end=$((SECONDS + $1)) what=$2 name
	shift 2
	while [ $SECONDS -lt $end ]; do
		"$@" && return
		for name in etcd apiserver; do
			[ ! -e "$W/$name.pid" ] || [ -d "/proc/$(pid $name)" ] || { what="$name has ended"; break 2; }
		done
		sleep 0.05
	done
	echo "kube.sh: $what: not so in time" >&2
	tail -n 5 "$W/log.apiserver" >&2
	return 1
}

daemon() # NAME COMMAND...
{
	local name=$1
	shift
	setsid "$@" >>"$W/log.$name" 2>&1 </dev/null 9>&- &
	echo $! >"$W/$name.pid"
}

# Objects of each type are served: it takes a moment after the API server is ready.
served()
{
	local type
	ask /readyz | grep -qx ok || return
	for type in railpools railblocks railnodes railreserved; do
		ask "/apis/railhead.io/v1alpha1/$type?limit=1" | grep -q '"items"' || return
	done
}
ready() { ask /readyz | grep -qx ok; }

spawn()
{
	daemon apiserver "$KUBE/kube-apiserver" --etcd-servers=$ETCD --bind-address=0.0.0.0 --advertise-address=10.0.0.1 \
		--secure-port=6443 --cert-dir="$W/certs" --tls-cert-file="$W/server.pem" --tls-private-key-file="$W/server.key" \
		--client-ca-file="$W/ca.pem" --service-cluster-ip-range=10.96.0.0/16 --endpoint-reconciler-type=none \
		--service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$W/sa.key" \
		--service-account-signing-key-file="$W/sa.key" --authorization-mode=RBAC
}

spawn_etcd() # [OPTION...]
{
	daemon etcd "$ENGINES/etcd-3.5" --data-dir "$W/data" --unsafe-no-fsync --log-level warn --listen-client-urls $ETCD \
		--advertise-client-urls $ETCD --listen-peer-urls http://127.0.0.1:2380 "$@"
}

# gone NAME PORT: until the port is free. A process of many threads shows as ended before its sockets are closed.
gone()
{
	kill -KILL "$(pid "$1")" 2>/dev/null
	while (exec 3<>"/dev/tcp/127.0.0.1/$2") 2>/dev/null; do sleep 0.01; done
}
kill_server() { gone apiserver 6443; }
kill_etcd() { gone etcd 2379; }
start() { spawn && until_true 120 'the API server serves' served; }

# etcd WORD: of etcd.sh, for the etcd behind the API server
etcd()
{
	mkdir -p "$W/etcd"
	echo "$ETCD" >"$W/etcd/url"
	printf '%s\n' --max-time 10 >"$W/etcd/curl"
	W=$W/etcd "$HERE/etcd.sh" "$1"
}
full()
{
	local quota
	quota=$(etcd size) && kill_etcd && spawn_etcd --quota-backend-bytes "$quota" && until_true 60 'the API server serves' served && etcd stuff
}

# etcd stands still while it is copied: the copy is what a crash would leave.
save()
{
	halt "$(pid etcd)" && rm -rf "$W/saved" && cp -a "$W/data" "$W/saved" && kill -CONT "$(pid etcd)"
}
restore()
{
	kill_server
	kill_etcd
	rm -rf "$W/data" && cp -a "$W/saved" "$W/data" && spawn_etcd && start
}
alive()
{
	[ -d "/proc/$(pid etcd)" ] || spawn_etcd
	[ -d "/proc/$(pid apiserver)" ] || spawn
	until_true 120 'the API server serves' served
}

clean()
{
	local type
	for type in railpools railblocks railnodes railreserved; do ask "/apis/railhead.io/v1alpha1/$type" -X DELETE; done >/dev/null
	ask /apis/coordination.k8s.io/v1/namespaces/railhead/leases -X DELETE >/dev/null
	for type in default ns; do ask "/apis/events.k8s.io/v1/namespaces/$type/events" -X DELETE; done >/dev/null
}

# denied: the policy does, the rights would not: this token is bound to no pod.
denied()
{
	HOME=$W "$KUBE/kubectl" --kubeconfig "$W/agent.kubeconfig" create --dry-run=server -f - 2>&1 <<-'END' | grep -q 'bound to no node'
	{apiVersion: railhead.io/v1alpha1, kind: RailNode, metadata: {name: trial}, spec: {node: trial}}
	END
}

# The same of the status of pools, which is in another policy. kubectl would read the status first, and no agent may.
status_denied()
{
	curl -s --max-time 10 --cacert "$W/ca.pem" -H "Authorization: Bearer $(<"$W/railheadd.token")" -X PATCH \
		-H 'Content-Type: application/merge-patch+json' -d '{"status":{"use":"0%"}}' \
		"$API/apis/railhead.io/v1alpha1/railpools/trial/status?dryRun=All" | grep -q 'does not report the use'
}
# And of the keys of pools, for people as well.
key_denied()
{
	k create --dry-run=server -f - 2>&1 <<-'END' | grep -q 'has no key blokSize'
	{apiVersion: railhead.io/v1alpha1, kind: RailPool, metadata: {name: trial-key}, spec: {subnet: 10.1.0.0/16, blockSize: 8, blokSize: 8}}
	END
}
policy()
{
	k apply -f "$MANIFESTS/policy.yaml" -f - >/dev/null <<-'END' || return
	{apiVersion: railhead.io/v1alpha1, kind: RailPool, metadata: {name: trial}, spec: {subnet: 10.1.0.0/16, blockSize: 8}}
	END
	# they are in force a moment later
	until_true 60 'the policy is in force' denied && until_true 60 'the policy of a status is in force' status_denied &&
		until_true 60 'the policy of keys is in force' key_denied && k delete railpool trial >/dev/null
}

# bound_token NODE: as the kubelet gets it for the pod of a DaemonSet.
bound_token()
{
	local pod=railheadd-$1
	k -n railhead get pod "$pod" >/dev/null 2>&1 || k apply -f - >/dev/null <<-END || return
	{apiVersion: v1, kind: Node, metadata: {name: $1}}
	---
	apiVersion: v1
	kind: Pod
	metadata: {name: $pod, namespace: railhead}
	spec: {nodeName: $1, serviceAccountName: railheadd, containers: [{name: railheadd, image: none}]}
	END
	k -n railhead create token railheadd --bound-object-kind Pod --bound-object-name "$pod" \
		--bound-object-uid "$(k -n railhead get pod "$pod" -o 'jsonpath={.metadata.uid}')"
}

compact()
{
	local revision
	# no list has this revision
	revision=$(curl -sf $ETCD/v3/kv/put -d '{"key":"Y29udHJhY3Q=","value":"YQ=="}' | jq -r .header.revision)
	curl -sf $ETCD/v3/kv/compaction -d "{\"revision\":\"$revision\",\"physical\":true}" >/dev/null && kill_server && spawn &&
		until_true 60 'the API server serves' served
}

# fields PATCH QUERY: which fields select blocks; and until this query is refused
fields()
{
	k patch crd railblocks.railhead.io --type=json -p "$1" >/dev/null &&
		until_true 60 'the fields have changed' eval 'ask "/apis/railhead.io/v1alpha1/railblocks?fieldSelector='"$2"'" | grep -q "field label"'
}

# queued LEVEL-UID PATH: the head of each answer names the queue that its request was in.
queued()
{
	curl -s --max-time 10 --cacert "$W/ca.pem" -H "Authorization: Bearer $(<"$W/railheadd.token")" -o /dev/null -D - "$API$2" |
		grep -iq "^x-kubernetes-pf-prioritylevel-uid: $1"
}
all_queued()
{
	local uid path
	uid=$(k get prioritylevelconfiguration railhead -o 'jsonpath={.metadata.uid}') && [ "$uid" ] || return
	for path in /apis/railhead.io/v1alpha1/railblocks /apis/coordination.k8s.io/v1/namespaces/railhead/leases/n1; do
		# the queues are in force a moment after they were made
		until_true 60 "$path: its requests are in the queue of railhead" queued "$uid" "$path" || return
	done
}

token() # USER: a new token, in its file in one step
{
	k -n railhead create token "$1" >"$W/$1.new" && mv "$W/$1.new" "$W/$1.token"
}

base64url() { base64 -w0 | tr '+/' '-_' | tr -d =; }

# Signed by the right key, and an hour old.
expired_token()
{
	local head body
	head=$(printf '{"alg":"RS256","typ":"JWT"}' | base64url)
	body=$(printf '{"iss":"https://kubernetes.default.svc","aud":["https://kubernetes.default.svc"],"exp":%d,"iat":%d,
		"sub":"system:serviceaccount:railhead:railheadd"}' $((EPOCHSECONDS - 3600)) $((EPOCHSECONDS - 7200)) | base64url)
	echo "$head.$body.$(printf %s "$head.$body" | openssl dgst -sha256 -sign "$W/sa.key" | base64url)" >"$W/railheadd.new" &&
		mv "$W/railheadd.new" "$W/railheadd.token"
}

kubeconfig() # NAME CA USER: USER is YAML
{
	cat >"$W/$1.kubeconfig" <<-END
	apiVersion: v1
	kind: Config
	clusters: [{name: c, cluster: {server: "$API", certificate-authority: $2}}]
	users: [{name: u, user: {$3}}]
	contexts: [{name: x, context: {cluster: c, user: u, namespace: railhead}}]
	current-context: x
	END
}

# Beside the agent, whom the lane allows to write pools: guest may read pools only, and busy may have one request at a time.
objects()
{
	k apply -f "$MANIFESTS/crds" -f "$MANIFESTS/rbac.yaml" -f "$MANIFESTS/flow.yaml" -f - <<-'END'
	{apiVersion: v1, kind: ServiceAccount, metadata: {name: guest, namespace: railhead}}
	---
	{apiVersion: v1, kind: ServiceAccount, metadata: {name: busy, namespace: railhead}}
	---
	apiVersion: rbac.authorization.k8s.io/v1
	kind: ClusterRole
	metadata: {name: pools}
	rules: [{apiGroups: [railhead.io], resources: [railpools, railreserved], verbs: [create, patch, delete]}]
	---
	apiVersion: rbac.authorization.k8s.io/v1
	kind: ClusterRoleBinding
	metadata: {name: pools}
	roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: pools}
	subjects: [{kind: ServiceAccount, name: railheadd, namespace: railhead}, {kind: ServiceAccount, name: busy, namespace: railhead}]
	---
	apiVersion: rbac.authorization.k8s.io/v1
	kind: ClusterRole
	metadata: {name: guest}
	rules: [{apiGroups: [railhead.io], resources: [railpools], verbs: [get]}]
	---
	apiVersion: rbac.authorization.k8s.io/v1
	kind: ClusterRoleBinding
	metadata: {name: guest}
	roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: guest}
	subjects: [{kind: ServiceAccount, name: guest, namespace: railhead}]
	---
	apiVersion: flowcontrol.apiserver.k8s.io/v1
	kind: PriorityLevelConfiguration
	metadata: {name: busy}
	spec: {type: Limited, limited: {nominalConcurrencyShares: 0, lendablePercent: 0, borrowingLimitPercent: 0, limitResponse: {type: Reject}}}
	---
	apiVersion: flowcontrol.apiserver.k8s.io/v1
	kind: FlowSchema
	metadata: {name: busy}
	spec:
	  priorityLevelConfiguration: {name: busy}
	  matchingPrecedence: 10
	  rules:
	    - subjects: [{kind: ServiceAccount, serviceAccount: {name: busy, namespace: railhead}}]
	      resourceRules: [{verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"]}]
	END
}

# bare: a server without objects of railhead
bare()
{
	openssl genrsa -out "$W/sa.key" 2048 2>/dev/null
	kubeconfig admin "$W/ca.pem" "client-certificate: admin.pem, client-key: admin.key"
	spawn_etcd
	spawn && until_true 120 'the API server is ready' ready
}

setup()
{
	local user
	kubeconfig agent "$W/ca.pem" "tokenFile: railheadd.token"
	kubeconfig guest "$W/ca.pem" "tokenFile: guest.token"
	kubeconfig busy "$W/ca.pem" "tokenFile: busy.token"
	kubeconfig deceived "$W/admin.pem" "tokenFile: railheadd.token"
	bare && objects >"$W/objects" || return
	until_true 60 'the types are served' served || return
	for user in railheadd guest busy; do token $user || return; done
}

case $1 in
setup | bare) "$1" ;;
start | save | restore | alive | clean | full) "$1" ;;
room) etcd room && until_true 60 'the API server serves' served ;;
kill-etcd) kill_etcd ;;
start-etcd) spawn_etcd && until_true 60 'the API server serves' served ;;
policy) policy ;;
contract)
	k create clusterrole contract --verb=get,list,watch,create,patch,delete \
		--resource=railnodes.railhead.io,leases.coordination.k8s.io >/dev/null &&
		k create clusterrolebinding contract --clusterrole=contract --serviceaccount=railhead:railheadd >/dev/null
	;;
bound-token) bound_token "$2" ;;
stop) halt "$(pid apiserver)" ;;
cont) kill -CONT "$(pid apiserver)" && until_true 60 'the API server serves' served ;;
kill) kill_server ;;
compact) compact ;;
no-type)
	k delete crd railnodes.railhead.io >/dev/null &&
		until_true 60 'the type is gone' eval 'ask /apis/railhead.io/v1alpha1/railnodes/x | grep -q "page not found"'
	;;
no-pool-field) fields '[{"op":"replace","path":"/spec/versions/0/selectableFields","value":[{"jsonPath":".spec.node"}]}]' spec.pool=x ;;
no-fields) fields '[{"op":"remove","path":"/spec/versions/0/selectableFields"}]' spec.node=x ;;
type) k apply -f "$MANIFESTS/crds" >/dev/null && until_true 60 'the types are served' served ;;
queued) all_queued ;;
token) token railheadd ;;
expired-token) expired_token ;;
no-token) rm "$W/railheadd.token" ;;
lease)
	k apply -f - >/dev/null <<-'END'
	{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: other-lease, namespace: railhead}, spec: {holderIdentity: other}}
	END
	;;
label) k label railblock rail1-0000000000000000000000000a010200 rack=7 >/dev/null ;;
shown)
	k get rblock -l rack=7 --no-headers | grep -Eqx 'rail1-0{24}0a010200 +n1 +rail1 +10\.1\.2\.0 +5 +[0-9a-z]+'
	;;
other-start)
	! k patch railblock fixed-a-0000000000000000000000000a010200 --type=merge -p '{"spec":{"start":"10.1.3.0"}}' >"$W/patch" 2>&1 &&
		grep -q 'the start of a block never changes' "$W/patch"
	;;
*)
	echo "kube.sh: no such word: $1" >&2
	exit 2
	;;
esac

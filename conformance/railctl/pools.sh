# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# pools.sh: pools that a person does not write by hand: plans for rails, and pools of other IPAMs.
# shellcheck disable=SC2154

PLAN=(ipam pool rails --count 8 --nodes 1024 --supernet 10.0.0.0/12)

test_rails_explains_the_plan()
{
	ok "${PLAN[@]}"
	has "Leaf groups:    32 of 32 nodes, each a /22 of each rail"
	has "7  10.14.0.0/15"
	has "31  992-1023  g31    10.0.124.0/22  10.0.124.1  10.0.124.2-10.0.124.33  10.0.124.40-10.0.127.247"
	has "96 more leaf groups in each rail"
	has "leaf=g0 to leaf=g31. A node without the label gets no address"
	has "kubectl label node NAME leaf=g0"
	has "on each of the nodes 0-31: railctl ipam node label leaf=g0"
	ok "${PLAN[@]}" --label example.org/leaf
	has "kubectl label node NAME example.org/leaf=g0"
	ok "${PLAN[@]}" --no-labels
	hasnt "label"
	ok ipam pool rails --count 2 --nodes 32 --supernet 10.0.0.0/12
	hasnt "label"
	ok ipam pool rails --count 2 --nodes 20 --supernet fd00:1::/48
	has "fd00:1:0:8000::/64"
	eq "no store" "$(ls "$STATE")" ""
}

test_rails_pools_are_accepted_as_they_are()
{
	local n
	ok "${PLAN[@]}" --json
	want 'length == 256 and (map(.name) | unique | length) == 256 and all(.[]; .warm == 8 and .blockSize == 8)'
	want '[.[].nodes] == [range(8) as $rail | range(32) | {leaf: ["g\(.)"]}]'
	want '.[255] | .name == "rail7-g31" and .subnet == "10.14.124.0/22" and .gateway == "10.14.124.1"'
	want '.[255].routes == [{dst:"10.14.0.0/15",gw:"10.14.124.1"},{dst:"10.0.0.0/12",gw:"10.14.124.1",priority:1007}]'
	cp "$W/out" "$W/all.json"
	refused 1 "railctl cluster pool apply FILE" ipam pool apply "$W/all.json"
	# A node takes them, too, if nothing is said about blocks.
	jq 'map(del(.blockSize, .warm))' "$W/all.json" >"$W/own.json"
	ok ipam pool apply "$W/own.json" --json
	want 'length == 256 and all(.[]; .result == "added")'
	ok "${PLAN[@]}" --dir "$W/plan"
	has "$W/plan/rail*.json"
	eq "files" "$(cd "$W/plan" && echo *)" "rail0.json rail1.json rail2.json rail3.json rail4.json rail5.json rail6.json rail7.json"
	for n in {0..7}; do
		jq 'map(del(.blockSize, .warm))' "$W/plan/rail$n.json" >"$W/own.json"
		ok ipam pool apply "$W/own.json" --json
		want 'length == 32 and all(.[]; .result == "unchanged")'
	done
	ok ipam verify
	ok "${PLAN[@]}" --no-labels --json
	want 'all(.[]; .warm == 0 and (has("nodes") | not))'
	ok "${PLAN[@]}" --label example.org/leaf --json
	want '.[33].nodes == {"example.org/leaf": ["g1"]}'
}

test_rails_keeps_files_that_a_person_changed()
{
	ok "${PLAN[@]}" --dir "$W/kept"
	ok "${PLAN[@]}" --dir "$W/kept"
	rm "$W/kept/rail0.json"
	echo '[]' >"$W/kept/rail7.json"
	refused 1 "rail7.json exists and has another text" "${PLAN[@]}" --dir "$W/kept"
	[ ! -e "$W/kept/rail0.json" ] || fail "rail0.json must not be written"
	eq "the file" "$(<"$W/kept/rail7.json")" "[]"
	echo >"$W/file"
	refused 1 "--dir" "${PLAN[@]}" --dir "$W/file"
}

test_rails_wrong_questions()
{
	refused 1 "8 rails with 32 leaf groups of 32 nodes need a /14; 10.0.0.0/14 fits" \
		ipam pool rails --count 8 --nodes 1024 --supernet 10.1.0.0/16
	ok ipam pool rails --count 8 --nodes 1024 --supernet 10.0.0.0/14
	refused 1 "write 10.0.0.0/12" ipam pool rails --count 8 --nodes 1024 --supernet 10.1.0.0/12
	refused 1 "not a power of two" "${PLAN[@]}" --block-size 12
	refused 1 "more than 1024 pools" "${PLAN[@]}" --leaf 4
	refused 2 "needs --count" ipam pool rails --nodes 8 --supernet 10.0.0.0/8
	refused 2 "not a number from 1 to 64" ipam pool rails --count 0 --nodes 8 --supernet 10.0.0.0/8
	refused 2 "not a network" ipam pool rails --count 1 --nodes 8 --supernet 10.0.0.0
	refused 2 "not both" "${PLAN[@]}" --json --dir "$W/x"
	refused 2 "not both" "${PLAN[@]}" --label leaf --no-labels
	refused 1 'label: "my leaf" is not the name of a label' "${PLAN[@]}" --label "my leaf"
}

# objects: what `kubectl get -o yaml` prints, in two documents.
objects()
{
	cat <<-'YAML'
		apiVersion: v1
		kind: List
		items:
		- apiVersion: spiderpool.spidernet.io/v2beta1
		  kind: SpiderIPPool
		  metadata: {name: Rail0, uid: 0c0f}
		  spec:
		    subnet: 10.6.0.0/16
		    ips:
		    - 10.6.1.0-10.6.4.255
		    gateway: 10.6.0.1
		    podAffinity:
		      matchLabels: {app: nccl}
		    namespaceName: [team-a]
		  status: {totalIPCount: 1024}
		- apiVersion: spiderpool.spidernet.io/v2beta1
		  kind: SpiderReservedIP
		  metadata: {name: switches}
		  spec:
		    ips: [10.6.1.0-10.6.1.15]
		---
		apiVersion: nv-ipam.nvidia.com/v1alpha1
		kind: IPPool
		metadata: {name: nv, namespace: kube-system}
		spec: {subnet: 10.7.0.0/16, perNodeBlockSize: 32, gateway: 10.7.0.1}
		---
		apiVersion: k8s.cni.cncf.io/v1
		kind: NetworkAttachmentDefinition
		metadata: {name: wb}
		spec:
		  config: '{"cniVersion":"1.0.0","type":"macvlan","ipam":{"type":"whereabouts","range":"10.8.0.0/16"}}'
	YAML
}

test_pool_import_makes_pools_and_says_what_is_missing()
{
	objects >"$W/objects.yaml"
	ok ipam pool import "$W/objects.yaml"
	has "rail0  10.6.0.0/16  10.6.1.0-10.6.4.255  10.6.0.1"
	has "- SpiderIPPool Rail0: podAffinity: pods are not selected by label"
	has '- SpiderIPPool Rail0: name: "Rail0": the pool is called rail0'
	has 'railctl cluster reserved add 10.6.1.0-10.6.1.15'
	eq "no store" "$(ls "$STATE")" ""
	ok ipam pool import "$W/objects.yaml" --json --dir "$W/imported"
	want '.pools | map(.name) == ["rail0","nv","wb"]'
	want '.pools[0] | .reserved == ["10.6.1.0-10.6.1.15"] and .namespaces == ["team-a"] and .blockSize == 16'
	want '.pools[1].blockSize == 32 and (.notes | length) == 3'
	want '.reserved == ["10.6.1.0-10.6.1.15"]'
	eq "files" "$(cd "$W/imported" && echo *)" "nv.json rail0.json wb.json"
	jq .pools "$W/out" >"$W/pools.json"
	refused 1 "railctl cluster pool apply FILE" ipam pool apply "$W/pools.json"
	jq 'map(del(.blockSize) + if .ranges then {} else {thisNodeOnly: true} end)' "$W/pools.json" >"$W/own.json"
	ok ipam pool apply "$W/own.json" --json
	want 'map(.result) == ["added","added","added"]'
	jq 'del(.blockSize)' "$W/imported/rail0.json" >"$W/rail0.json"
	ok ipam pool apply "$W/rail0.json" --json
	want '.[0].result == "unchanged"'
	"$BIN/railctl" ipam pool import --json - <"$W/objects.yaml" >"$W/stdin" || fail "standard input"
	jq -e '.pools | length == 3' "$W/stdin" >/dev/null || fail "standard input: $(<"$W/stdin")"
}

test_pool_import_of_wrong_files()
{
	echo 'a: [' >"$W/bad.yaml"
	refused 1 "bad.yaml: line 2" ipam pool import "$W/bad.yaml"
	printf 'a: &x [1]\nb: *x\n' >"$W/bad.yaml"
	refused 1 "line 2: aliases" ipam pool import "$W/bad.yaml"
	refused 1 "no/such" ipam pool import "$W/no/such"
	refused 2 "" ipam pool import
	refused 2 "not a power of two" ipam pool import --block-size 12 "$W/bad.yaml"
	head -c 17000000 /dev/zero | tr '\0' ' ' >"$W/bad.yaml"
	refused 1 "bad.yaml" ipam pool import "$W/bad.yaml"
	rm "$W/bad.yaml"
	# Nothing to make a pool of, and a pool that no node would take: status 1, and a report.
	echo '{apiVersion: v1, kind: Pod, metadata: {name: p}}' >"$W/pod.yaml"
	r ipam pool import "$W/pod.yaml"
	eq "status" "$RC" 1
	has "No pools."
	has '- Pod p: kind: objects of v1 "Pod" are not imported'
	objects | sed 's/10.6.1.0-10.6.4.255/10.9.1.0/' >"$W/objects.yaml"
	r ipam pool import "$W/objects.yaml" --json
	eq "status" "$RC" 1
	want '(.pools | map(.name)) == ["nv","wb"] and any(.notes[]; .object == "pool rail0" and (.why | contains("not in the subnet")))'
}

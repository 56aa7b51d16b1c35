# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# pools.sh: pools that a person does not write by hand: those of other IPAMs.
# shellcheck disable=SC2154

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

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shared.sh: HCAs that pods share, by k8s-rdma-shared-dev-plugin and by railhead-devices, with one file. Sourced by run.sh.
#
# Both programs live through the same story one after the other, and what users see of it must be the same. hcas.sh has the HCAs.

SHARED_A=rdma/hca_shared_devices_a SHARED_B=example.com/hca_shared_devices_b

# The ConfigMap of the other project; only its second resource and the interval are for this machine.
shared_file()
{
	"$CLUSTER/bin/kubectl" create --dry-run=client -o json -f "$PEERS/k8s-rdma-shared-dev-plugin/configmap.yaml" | jq '.data["config.json"] | fromjson
		| .periodicUpdateInterval = 4 | .configList[1] += {resourcePrefix: "example.com",
			selectors: {vendors: ["8086"], drivers: ["igbvf", "mlx5_core"], ifNames: ["ib1", "ib4"], linkTypes: ["ether"]}}'
}

shared_begins()
{
	PEERS=${PEERS:-$FROM/../peers}
	[ -x "$PEERS/bin/k8s-rdma-shared-dp" ] || skip "k8s-rdma-shared-dp is not in $PEERS: make peer-programs"
	PEERS=$(realpath "$PEERS")
	trap shared_ends EXIT
	is 'HCAs' guest hcas_begin "$PEERS"
	shared_file >"$W/shared.json"
	is 'the file of the other plugin' node 1 tee /k8s-rdma-shared-dev-plugin/config.json <"$W/shared.json"
	is 'a folder' node 1 mkdir -p /etc/railhead/resources.d
	is 'the same file' node 1 cp /k8s-rdma-shared-dev-plugin/config.json /etc/railhead/resources.d/shared.json
	is 'the agent' node 1 tee /etc/railhead/agent.json <<<'{"repair": {"every": 1, "grace": 2}}'
}
shared_ends()
{
	kn delete --wait --now pod --all
	service 1 k8s-rdma-shared-dp stop
	service 1 railhead-devices stop
	node 1 rm -r /etc/railhead/agent.json /etc/railhead/resources.d
	guest hcas_end
}
shared_count() { k get node n1 -o json | jq -r --arg a $SHARED_A --arg b $SHARED_B --arg of "${1:-allocatable}" '.status[$of] | [.[$a], .[$b]] | join(" ")'; }
shared_are() { [ "$(shared_count)" = "$1" ]; }

# ib_up: how many of the interfaces are up.
ib_up() { node 1 ip -j link show up | jq '[.[] | select(.ifname == "ib0" or .ifname == "ib1")] | length'; }

# sharing NAME RESOURCE: a pod in the host's network, where the devices have their addresses, with rdma-probe.
sharing()
{
	pod "$1" '' '.spec.hostNetwork = true | .spec.volumes = [{name: "probe", hostPath: {path: "/opt/probe"}}] | .spec.containers[0] += {
		resources: {limits: {"'"$2"'": "1"}}, volumeMounts: [["/lib", "lib"], ["/lib64", "lib64"], ["/usr", "usr"], ["/etc/libibverbs.d", "etc"]]
			| map({name: "probe", mountPath: .[0], subPath: .[1]})}'
}
failed_to_start() { [ "$(kn get pod "$1" -o jsonpath='{.status.phase}')" = Failed ]; }

# told NAME: what the container got: files, rights and variables, also by the runtime.
told()
{
	local id
	kn exec "$1" -- ls /dev/infiniband
	kn exec "$1" -- sh -c 'export -p' | sort
	id=$(kn get pod "$1" -o json | jq -r '.status.containerStatuses[0].containerID')
	node 1 ctr -n k8s.io containers info "${id#containerd://}" |
		jq -cS '.Spec.linux | (.devices | sort_by(.path)[]), (.resources.devices | sort_by(.major, .minor)[])'
}
# rdma_traffic NAME DEVICE: a queue pair of the device in the container talks to another one.
rdma_traffic()
{
	# shellcheck disable=SC2016 # expanded in the container
	kn exec "$1" -- sh -c 'PATH=/usr/bin:/bin; rdma-probe serve --once --timeout 300 --device "$1" --gid-index 0 >/tmp/serve 2>&1 &
		until busybox grep -q listening /tmp/serve || ! kill -0 $!; do sleep 1; done
		rdma-probe connect 127.0.0.1 --timeout 300 --device "$1" --gid-index 0 --no-cm --iterations 3 --size 4K && wait $! || { cat /tmp/serve; exit 1; }' x "$2"
}

# story WHO CAPACITY: of the program that runs now; CAPACITY is what the node has while an HCA is gone. It says what users see.
story()
{
	eventually shared_are '1k 500'
	sharing "a-$1" $SHARED_A
	sharing "b-$1" $SHARED_B
	running "a-$1" "b-$1"
	echo 'A pod has both HCAs:' && told "a-$1" && kn exec "a-$1" -- /usr/bin/rdma-probe list 2>&1
	echo 'A pod has the second HCA:' && told "b-$1" && kn exec "b-$1" -- /usr/bin/rdma-probe list 2>&1

	is 'an HCA goes' guest hca_goes 1
	eventually shared_are '1k 0'
	eq "the capacity without an HCA, of $1" "$(shared_count capacity)" "$2"
	sharing "c-$1" $SHARED_A
	sharing "d-$1" $SHARED_B
	running "a-$1" "b-$1" "c-$1"
	echo 'A pod has the HCA that is left:' && told "c-$1"
	eventually failed_to_start "d-$1"
	echo "A pod without an HCA: $(kn get pod "d-$1" -o json | jq -r .status.reason)"

	is 'the HCA comes back' guest hca_comes 1
	eventually shared_are '1k 500'
	sharing "e-$1" $SHARED_B
	running "e-$1"
	echo 'A pod has the HCA that is back:' && told "e-$1"
	is "traffic of e-$1" rdma_traffic "e-$1" hca1
	is 'fewer pods' kn delete --wait --now pod "c-$1" "d-$1" "e-$1"
}

test_shared_hcas_beside_the_other_plugin()
{
	shared_begins
	is 'the other plugin' service 1 k8s-rdma-shared-dp start
	eq 'it sets up interfaces' "$(ib_up)" '2'
	story peer '1k 0' >"$W/story.peer"
	has 'what users see' "$(<"$W/story.peer")" '"path":"/dev/infiniband/uverbs1"'
	has 'what users see' "$(<"$W/story.peer")" 'hca1 port 1 (uverbs1): ACTIVE'
	service 1 k8s-rdma-shared-dp stop
	eventually shared_are '0 0'
	is 'ib0' node 1 ip link set ib0 down
	is 'railhead-devices' service 1 railhead-devices start
	eventually shared_are '1k 500'
	eq 'railhead-devices does not' "$(ib_up)" '1'
	# Also the device of the other plugin's pod.
	story ours '1k 2' >"$W/story.ours"
	eq 'what users see' "$(diff "$W/story.peer" "$W/story.ours")" ''
	running a-peer b-peer
	eq 'the old pods' "$(kn get pods -o json | jq -c '[.items[].status.containerStatuses[0].restartCount] | unique')" '[0]'
}

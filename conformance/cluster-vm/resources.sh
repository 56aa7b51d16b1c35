# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# resources.sh: the kubelet counts the VFs, by railhead-devices, and Multus hands over which one it gave. Sourced by run.sh.

resources_begin() # FILE: a file of resources.d, as text
{
	trap resources_end EXIT
	is 'files of the agent' guest packaging/kubernetes/rootfs.sh /vm/bin "$(node_root 1)/opt/railheadd"
	is 'a folder' node 1 mkdir -p /etc/railhead/resources.d
	is 'the agent' node 1 tee /etc/railhead/agent.json <<<'{"repair": {"every": 1, "grace": 2}}'
	is 'the resources' node 1 tee /etc/railhead/resources.d/rails.json <<<"$1"
	is 'railheadd' service 1 railheadd start
	is 'railhead-devices' service 1 railhead-devices start
}
resources_end()
{
	kn delete --wait --now pod --all
	service 1 railhead-devices stop
	service 1 railheadd stop
	node 1 rm -r /etc/railhead/agent.json /etc/railhead/resources.d /opt/railheadd
}
rails_are() { [ "$(k get node n1 -o json | jq -r '.status.allocatable | [.["example.com/rail0"], .["example.com/rail1"]] | join(" ")')" = "$1" ]; }
# rail_of_kubelet NUMBER: a network whose VF the kubelet chooses; on_rail NAME NUMBER: a pod with it; given NAME NUMBER: the VF in the environment of the container.
rail_of_kubelet()
{
	nad "r$1" '{"cniVersion": "1.1.0", "name": "r'"$1"'", "type": "sriov"}'
	is 'its resource' kn annotate net-attach-def "r$1" "k8s.v1.cni.cncf.io/resourceName=example.com/rail$1"
}
on_rail() { pod "$1" "r$2" '.spec.containers[0].resources.limits = {"example.com/rail'"$2"'": "1"}'; }
given() { kn exec "$1" -- sh -c "echo \$PCIDEVICE_EXAMPLE_COM_RAIL$2"; }

test_device_plugin()
{
	resources_begin '{"interval": 1, "resources": [{"name": "example.com/rail0", "select": {"pf": "pf0"}}, {"name": "example.com/rail1", "select": {"pf": "pf1"}}]}'
	eventually rails_are '2 2'
	rail_of_kubelet 0
	rail_of_kubelet 1
	on_rail a 0
	on_rail b 1
	running a b
	has_vf a pf0
	eq 'the VF that the kubelet gave a' "$(given a 0)" "$VF"
	has_vf b pf1
	eq 'the VF that the kubelet gave b' "$(given b 1)" "$VF"
	is 'VFs in pods are healthy' rails_are '2 2'
}

# What the SR-IOV operator leaves behind: the ConfigMap of its device plugin with all keys that it writes, and a network of examples/. Its own
# programs are gone. resourcePrefix is what its device plugin has as an option.
test_after_the_operator()
{
	local card
	card=$(node 1 basename "$(node 1 readlink /sys/class/net/pf0/device)")
	resources_begin '{"resourceList": [{"resourceName": "rail0", "selectors": {"vendors": ["8086"], "devices": ["10ca"], "rootDevices": ["'"$card"'"],
		"pfNames": ["pf0#1-1"], "linkTypes": ["ether"], "IsRdma": false, "NeedVhostNet": false}, "SelectorObj": null}],
		"resourcePrefix": "openshift.io", "interval": 1}'
	eventually operator_resource_is 1
	is 'its network' kn apply -f "$TOP/examples/multus/from-sriov-operator.yaml"
	pod a sriov-net '.spec.containers[0].resources.limits = {"openshift.io/rail0": "1"}'
	running a
	has_vf a pf0
	eq 'the second VF of the card' "$(node 1 basename "$(node 1 readlink /sys/class/net/pf0/device/virtfn1)")" "$VF"
	eq 'the VF that the kubelet gave' "$(kn exec a -- sh -c 'echo $PCIDEVICE_OPENSHIFT_IO_RAIL0')" "$VF"
	has 'its address' "$(address a net1)" 10.56.217.1
	pod b sriov-net '.spec.containers[0].resources.limits = {"openshift.io/rail0": "1"}'
	eventually operator_refuses b
	delete a b
	is 'the VF is healthy' operator_resource_is 1
}
operator_resource_is() { [ "$(k get node n1 -o json | jq -r '.status.allocatable["openshift.io/rail0"]')" = "$1" ]; }
operator_refuses() { [ "$(kn get pod "$1" -o jsonpath='{.status.phase}')" = Failed ]; }

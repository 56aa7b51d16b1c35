# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# devices.sh: railhead-devices and the real kubelet. Sourced by run.sh.
#
# The nodes have no cards. So a folder over /sys/bus/pci/devices of n1 has one network function, and its interface is a real one
# of the node: the kernel says whether its port is up.

CARD=0000:7e:00.0
CARD_FILES=/sys/bus/pci/devices/$CARD
RAIL=example.com/rail0

# devices_begin [KEYS]: agent and device plugin, with the resource; KEYS are more keys of it, as a JSON object.
devices_begin()
{
	local keys=${1-}
	trap devices_end EXIT
	is 'a card' node 1 bash -ec 'mount -t tmpfs -o mode=755 cards /sys/bus/pci/devices; mkdir -p "$1/net/eth5"; cd "$1"
		echo 0x020000 >class; echo 0x15b3 >vendor; echo 0x101e >device; echo 0 >numa_node; ln -s ../../../../bus/pci/drivers/mlx5_core driver' - "$CARD_FILES"
	mkdir -p "$(node_root 1)/etc/railhead/resources.d"
	jq -n --arg name $RAIL --arg card $CARD --argjson keys "${keys:-null}" '{interval: 1, resources: [{name: $name, select: {address: $card}} + $keys]}' \
		>"$(node_root 1)/etc/railhead/resources.d/rail.json" || fail 'test error: resources.d'
	agent 1 '{}'
	is 'the device plugin' service 1 railhead-devices start
	eventually allocatable_is 1
}
devices_end()
{
	kn delete pod --all --grace-period=1 --wait --timeout=${LONG}s >/dev/null 2>&1
	service 1 railhead-devices stop
	service 1 railheadd stop
	rm -r "$(node_root 1)"/etc/railhead/{agent.json,resources.d}
	node 1 umount -l /sys/bus/pci/devices
	node 1 ip link set eth5 up
	node 1 rm -rf /run/k8s.cni.cncf.io/devinfo/dp /run/cdi
	eq 'sockets of the device plugin' "$(node 1 ls /var/lib/kubelet/device-plugins | grep railhead)" ''
}
node_has() { k get node n1 -o json | jq -r --arg name $RAIL ".status.$1[\$name]"; }
allocatable_is() { [ "$(node_has allocatable)" = "$1" ]; }
node_has_none() { [ "$(node_has capacity)" = 0 ]; }
resource_is() { agent_sees 1 ".devicePlugin.resources[0] | $1"; }
# registrations: how often the device plugin that runs has registered its resource.
registrations() { agent_sees 1 '.devicePlugin.resources[0].registrations'; }

device_pod() { pod "$1" '' '.spec.containers[0].resources.limits = {"'$RAIL'": "1"}'; }
has_device() { eq "the device of $1" "$(kn exec "$1" -- sh -c 'echo "$PCIDEVICE_EXAMPLE_COM_RAIL0"')" "$CARD"; }
rejected() { [ "$(kn get pod "$1" -o jsonpath='{.status.phase}')" = Failed ]; }

# quick: thin
once_device_of_a_pod()
{
	devices_begin
	device_pod a
	running a
	has_device a
	has 'what a container is told' "$(kn exec a -- sh -c 'echo "$PCIDEVICE_EXAMPLE_COM_RAIL0_INFO"')" '"generic":{"deviceID":"'$CARD'"}'
	device_pod b
	eventually rejected b
	delete a b
	device_pod c
	running c
	has_device c
	eventually resource_is '.allocated == 2 and .refused == 0 and .watched'
	has 'for people' "$(node 1 railctl cluster status)" "$RAIL: 1 of 1 healthy, registered"
}

# containerd reads the CDI file of the device plugin. The card has a driver of user space. Its file is not uio0, but one that every node and
# no container has; to open it for writing changes nothing.
once_device_files_by_cdi()
{
	devices_begin '{"deviceNodes": "cdi"}'
	is 'a driver of user space' node 1 bash -ec 'cd "$1"; ln -sfn ../../../../bus/pci/drivers/uio_pci_generic driver; mkdir -p uio/kmsg' - "$CARD_FILES"
	device_pod a
	pod b ''
	running a b
	has_device a
	eq 'CDI files' "$(node 1 ls /run/cdi)" "railhead-example.com_rail0_$CARD.json"
	eq 'the file in the container' "$(kn exec a -- busybox stat -c '%F %t:%T' /dev/kmsg)" "$(node 1 stat -c '%F %t:%T' /dev/kmsg)"
	is 'the container may open it' kn exec a -- sh -c ': >>/dev/kmsg'
	isnt 'a container without the device has the file' kn exec b -- ls /dev/kmsg
}

# The kubelet removes the sockets of its folder when it starts. A slow one is asked again, so the number of registrations varies.
once_device_kubelet_restarts()
{
	local before
	devices_begin
	device_pod a
	running a
	before=$(registrations)
	service 1 kubelet kill
	is 'the kubelet comes again' service 1 kubelet start
	eventually resource_is ".registrations > $before and .watched"
	eventually allocatable_is 1
	running a
	delete a
	device_pod b
	running b
	has_device b
}

# The device plugin is replaced while the kubelet runs, and the kubelet while it is away. It does not need the agent.
once_device_plugin_restarts()
{
	devices_begin
	device_pod a
	running a
	service 1 railhead-devices kill
	is 'the device plugin comes again' service 1 railhead-devices start
	eventually resource_is .watched
	service 1 railhead-devices stop
	service 1 kubelet kill
	is 'the kubelet comes again' service 1 kubelet start
	is 'the device plugin comes after it' service 1 railhead-devices start
	eventually resource_is .watched
	eventually allocatable_is 1
	running a
	service 1 kubelet kill
	service 1 railhead-devices stop
	service 1 railheadd kill
	is 'the device plugin comes first' service 1 railhead-devices start
	is 'the kubelet comes after it' service 1 kubelet start
	eventually allocatable_is 1
	running a
	delete a
	device_pod b
	running b
	has_device b
}

# A port that is down makes the device unhealthy; the pod that has it stays. A card that is gone stays in the list while a pod has
# it, also with a new device plugin, which asks the kubelet. Afterwards it would forget the card when the kubelet's lists had lacked
# it for a minute: unit tests of railheadd/devices have that. A device plugin that begins when no pod has the card does not know it.
once_device_health()
{
	devices_begin
	device_pod a
	running a
	is 'the port goes down' node 1 ip link set eth5 down
	eventually allocatable_is 0
	eq 'capacity' "$(node_has capacity)" 1
	has 'for people' "$(node 1 railctl cluster status)" "$RAIL: 0 of 1 healthy"
	has 'the log' "$(node 1 cat /var/log/railhead-devices.log)" "device $CARD is unhealthy: the port eth5 is down"
	is 'the port comes up' node 1 ip link set eth5 up
	eventually allocatable_is 1
	is 'the card is gone' node 1 rm -r $CARD_FILES
	eventually allocatable_is 0
	eq 'capacity' "$(node_has capacity)" 1
	service 1 railhead-devices kill
	is 'the device plugin comes again' service 1 railhead-devices start
	eventually resource_is '.watched and .unhealthy == 1'
	running a
	delete a
	service 1 railhead-devices kill
	is 'the device plugin comes again' service 1 railhead-devices start
	eventually node_has_none
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# railhead-devices beside the agent, and a stand-in for the kubelet where the real one cannot be brought to do that. The host is that of
# repair.sh, with a folder over /sys/bus/pci/devices that has one network function.

PLUGINS_DIR=/var/lib/kubelet/device-plugins
OFFERED=0000:7e:00.0

devices_begin()
{
	/usr/bin/python3 -c 'import grpc' 2>/dev/null || skip 'python3-grpcio is not installed'
	host_begin
	trap 'case_ends devices_end host_end' EXIT
	devices_card
	devices_start
	eventually resource_is .healthy 1
}
devices_card()
{
	mount -t tmpfs -o mode=755 cards /sys/bus/pci/devices && mkdir -p "/sys/bus/pci/devices/$OFFERED/net/mst0" "$PLUGINS_DIR" /etc/railhead/resources.d || give_up 'a card'
	(cd "/sys/bus/pci/devices/$OFFERED" && echo 0x020000 >class && echo 0x15b3 >vendor && echo 0x101e >device && ln -s ../../../../bus/pci/drivers/mlx5_core driver)
	jq -n --arg card $OFFERED '{interval: 1, resources: [{name: "example.com/rail0", select: {address: $card}}]}' >/etc/railhead/resources.d/rail.json
}
devices_start()
{
	"$BIN/railhead-devices" >>"$W/node/host/log" 2>&1 </dev/null &
	echo $! >"$W/node/host/pod.devices"
}
devices_kill() # SIGNAL
{
	kill "-$1" "$(<"$W/node/host/pod.devices")"
	wait "$(<"$W/node/host/pod.devices")" 2>/dev/null
	rm "$W/node/host/pod.devices"
}
devices_end()
{
	[ ! -e "$W/node/host/pod.devices" ] || devices_kill KILL
	kubelet_kill
	umount -l /sys/bus/pci/devices
	rm -rf "$PLUGINS_DIR" "${PLUGINS_DIR%/*}/pod-resources" "${PLUGINS_DIR%/*}/pods" /etc/railhead/railhead.json
}
devices_status() { "$BIN/railctl" cluster status --json | jq -c ".devicePlugin | $1"; }
devices_status_is() { [ "$(devices_status "$1")" = "$2" ]; }
resource_is() { [ "$("$BIN/railctl" cluster status --json | jq -c ".devicePlugin.resources[0] | $1")" = "$2" ]; }

# kubelet MODE: it serves when this returns. Its lines are in $W/node/host/kubelet.
kubelet()
{
	"$HERE/kubelet.py" "$PLUGINS_DIR" serve "$1" >"$W/node/host/kubelet" 2>&1 </dev/null &
	KUBELET=$!
	eventually grep -q serves "$W/node/host/kubelet"
}
kubelet_kill()
{
	[ -z "${KUBELET-}" ] || kill -KILL "$KUBELET"
	wait "${KUBELET-}" 2>/dev/null
	KUBELET=
}
kubelet_says() { grep -qF -- "$1" "$W/node/host/kubelet"; }
call() { "$HERE/kubelet.py" "$PLUGINS_DIR" call "$@"; }

# A node without a kubelet for now. It comes, restarts with the plugin away, and the list follows the port.
test_devices_a_kubelet_that_comes_and_goes()
{
	devices_begin
	eventually test -S "$(echo $PLUGINS_DIR/railhead-rail0-*.sock)"
	eq 'the agent' "$("$BIN/railctl" cluster status --json | jq -c '.devicePlugin.resources[0] | [.registered, .error]')" '[false,null]'
	kubelet ok
	eventually kubelet_says "devices $OFFERED=Healthy"
	ip link set wire0 down
	eventually kubelet_says "devices $OFFERED=Unhealthy"
	ip link set wire0 up
	devices_kill TERM
	eq 'sockets' "$(ls $PLUGINS_DIR)" kubelet.sock
	isnt 'its status' test -e $RUN/devices.json
	kubelet_kill
	kubelet ok
	devices_start
	eventually kubelet_says "devices $OFFERED=Healthy"
	eventually metric_is 'railhead_device_plugin_devices{resource="example.com/rail0",health="healthy"} 1'
	metric_is 'railhead_device_plugin_registered{resource="example.com/rail0"} 1' || fail "the metric: $(scrape | grep device_plugin)"
}

# The agent serves pods and the node while the kubelet does not answer.
test_devices_a_kubelet_that_hangs()
{
	devices_begin
	kubelet hang
	eventually kubelet_says register
	is 'the agent answers' timeout 5 "$BIN/railctl" cluster status
	pod p1
	is 'the plugin answers' timeout 20 "$HERE/kubelet.py" "$PLUGINS_DIR" call Allocate $OFFERED
	kubelet_kill
	kubelet ok
	eventually resource_is .watched true
	cni DEL p1
	eq 'DEL' "$RC" 0
}

test_devices_a_kubelet_that_refuses()
{
	devices_begin
	kubelet refuse
	eventually resource_is .error '"Register: status 3 (INVALID_ARGUMENT): the resource name ü% is refused"'
	eq 'logged once' "$(grep -c 'is refused' "$W/node/host/log")" 1
	kubelet_kill
	kubelet ok
	eventually resource_is '[.watched, .error]' '[true,null]'
}

# A killed plugin leaves its socket, which the next one replaces. One of another process stays.
test_devices_sockets_of_others()
{
	local name
	devices_begin
	eventually test -S "$(echo $PLUGINS_DIR/railhead-rail0-*.sock)"
	name=$(echo $PLUGINS_DIR/railhead-rail0-*.sock)
	devices_kill KILL
	is 'the socket is left' test -S "$name"
	devices_start
	eventually call GetDevicePluginOptions
	devices_kill TERM
	/usr/bin/python3 -c 'import socket, sys, time; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); time.sleep(1000)' "$name" &
	KUBELET=$!
	eventually test -S "$name"
	devices_start
	eventually resource_is '.error' "\"$name: another process listens there; it is left alone\""
	is 'it is alive' kill -0 "$KUBELET"
	is 'its socket is there' test -S "$name"
	kubelet_kill
	eventually call GetDevicePluginOptions
}

# Calls by gRPC of another project.
test_devices_calls()
{
	devices_begin
	eventually call GetDevicePluginOptions
	has 'Allocate' "$(call Allocate $OFFERED)" "PCIDEVICE_EXAMPLE_COM_RAIL0"
	has 'an unknown device' "$(call Allocate 0000:01:00.0)" 'NOT_FOUND'
	eq 'an unknown method' "$(call Reset)" 'UNIMPLEMENTED unknown method'
	has 'a compressed message' "$(call Allocate gzip $OFFERED $OFFERED $OFFERED)" UNIMPLEMENTED
	eventually resource_is '[.allocated, .refused]' '[1,1]'
}

# Pods get devices as in the last good look. The log has an ignored key once.
test_devices_a_bad_file()
{
	local log=$W/node/host/log
	devices_begin
	eventually call GetDevicePluginOptions
	echo '{"resourceList": [{"resourceName": "other", "new": 1, "selectors": {"vendors": ["ffff"]}}]}' >/etc/railhead/resources.d/z.json
	eventually grep -q 'new.* is not known, and ignored' "$log"
	echo '{' >/etc/railhead/resources.d/zz.json
	eventually grep -q 'resources.d/zz.json' "$log"
	has 'Allocate' "$(call Allocate $OFFERED)" "PCIDEVICE_EXAMPLE_COM_RAIL0"
	eq 'logged once' "$(grep -c 'new.* is not known' "$log")" 1
}

# The kubelet lists which pods have which devices; its socket is beside the folder, or where railhead.json says.
test_devices_lists_of_pods()
{
	local root=${PLUGINS_DIR%/*}
	devices_begin
	mkdir "$root/pod-resources" && echo "example.com/rail0 0000:7e:00.1" >"$root/pods"
	echo "example.com/other 0000:7e:00.2" >>"$root/pods"
	eventually devices_status_is '.podsError | contains("kubelet.sock")' true
	kubelet ok
	eventually kubelet_says "devices $OFFERED=Healthy 0000:7e:00.1=Unhealthy"
	eq 'the list' "$(devices_status .podsError)" null
	eq 'other resources' "$(devices_status '.resources[0] | [.healthy, .unhealthy]')" '[1,1]'
	jq -n '{podResources: "/run/nowhere.sock"}' >/etc/railhead/railhead.json
	eventually devices_status_is '.podsError | contains("/run/nowhere.sock")' true
	resource_is .unhealthy 1 || fail 'the device of the last list'
}

# Neither program ends with the other.
test_devices_without_the_other_program()
{
	local agent
	devices_begin
	kubelet ok
	eventually kubelet_says "devices $OFFERED=Healthy"
	agent=$(<"$W/node/host/pid")
	devices_kill KILL
	eventually devices_status_is '.error | startswith("railhead-devices does not run")' true
	is 'the agent lives' kill -0 "$agent"
	pod p1
	eq 'its lease' "$(leased)" "$ADDRESS"
	devices_start
	eventually resource_is '[.registered, .watched, .registrations]' '[true,true,1]'
	eq 'the error' "$(devices_status .error)" null
	host_kill KILL
	has 'without the agent' "$(call Allocate $OFFERED)" PCIDEVICE_EXAMPLE_COM_RAIL0
	isnt 'a second one' timeout 20 "$BIN/railhead-devices"
	host_agent
	eventually resource_is '[.watched, .allocated]' '[true,1]'
	cni DEL p1
	eq 'DEL' "$RC" 0
}

# Of an agent.json that turns it off; and a node without resources needs no such program.
test_devices_that_are_not_offered()
{
	host_begin
	eq 'without the program' "$(devices_status '[.looks, .error, .resources]')" '[0,null,[]]'
	echo '{"node": "host", "devicePlugin": false, "etcd": {"endpoints": ["https://10.99.0.1:1"], "ca": "/nowhere"}}' >"$W/off.json"
	is 'off' timeout 20 "$BIN/railhead-devices" --config "$W/off.json"
}

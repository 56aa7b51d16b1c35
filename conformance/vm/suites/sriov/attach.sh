# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # VA0 and so on: lib.sh
# attach.sh: attach, reach, detach; what the result and CHECK say.
pods a b c
ip link property add dev "$EA0" altname rail-alt0
remember
check "ADD of a VF" add a "$(on "$VA0")"
cp $W/out $W/result-a
check "ADD of a VF of the other card" add b "$(on "$VB0")"
ADDRESS=$(answer '.ips[0].address')
check "pciID, MAC, MTU, sandbox in the result" is "$(jq -r '.interfaces[0] | [.pciID, .mac, .mtu, .sandbox, .name] | join(" ")' $W/result-a)" \
	"$VA0 $(jq -r "select(.ifname == \"$EA0\").address" $W/before) 1500 /run/netns/a net1"
check "the VF is in the pod, up, under its name" sees a "$A" 0 ".pod.parentdev == \"$VA0\" and (.pod.flags | index(\"UP\")) and .pod.altnames == [\"rail-alt0\"]"
check "and no more on the host" is "$(netdev "$VA0")" ""
check "pods on two cards reach each other" eventually pings a "${ADDRESS%/*}"
check "CHECK" checked a "$(on "$VA0")" $W/result-a
check "a second pod cannot have it" refused 103 "belongs to container a" add c "$(on "$VA0")"
IFN=net2 check "its interface is not there twice" refused 103 "belongs to container a" add a "$(on "$VA0")"
check "ADD again without DEL" refused 103 "already" add a "$(on "$VA0")"
check "a PF is not a VF" refused 7 "" add c "$(on 0000:01:00.0)"
check "an address that nobody has" refused 108 "0000:99:00.0" add c "$(on 0000:99:00.0)"
check "neither deviceID nor resource" refused 7 deviceID add c "$(conf '"vlan":1')"
check "DEL" del a "$(on "$VA0")"
check "DEL again" del a "$(on "$VA0")"
check "DEL without a namespace" del b "$(on "$VB0")" ""
check "all is as it was" clean

# --- as sriov-network-operator writes them ---------------------------------------------------
NAD='{"cniVersion":"1.0.0","name":"rails","type":"sriov","vlan":0,"vlanQoS":0,"spoofchk":"on","trust":"off","logLevel":"info","capabilities":{"mac":true,"ips":true},"ipam":{}'
NAD+=",\"deviceID\":\"$VA1\",\"runtimeConfig\":{\"mac\":\"02:00:00:00:01:01\"}}"
check "a NetworkAttachmentDefinition of sriov-network-operator" add a "$NAD"
check "vlan 0, MAC of the runtime" sees a "$A" 1 '.vf.vlan_list == [{}] and .vf.spoofchk and (.vf.trust | not) and .pod.address == "02:00:00:00:01:01"'
check "DEL" del a "$NAD"
check "all is as it was" clean

# --- what is told of the device ---------------------------------------------------------------
INFO=$(on "$VA0" "\"capabilities\":{\"CNIDeviceInfoFile\":true},\"runtimeConfig\":{\"CNIDeviceInfoFile\":\"/run/k8s.cni.cncf.io/devinfo/cni/one.json\"}")
check "ADD with a device-info file" add a "$INFO"
check "its content" is "$(jq -c . /run/k8s.cni.cncf.io/devinfo/cni/one.json)" \
	"{\"type\":\"pci\",\"version\":\"1.1.0\",\"pci\":{\"pci-address\":\"$VA0\",\"pf-pci-address\":\"$(basename "$(readlink "/sys/class/net/$A/device")")\"}}"
check "DEL" del a "$INFO"
check "removes it" test ! -e /run/k8s.cni.cncf.io/devinfo/cni/one.json
echo '{"of":"a device plugin"}' >/run/k8s.cni.cncf.io/devinfo/cni/one.json
check "ADD with a file of the device plugin's" add a "$INFO"
check "DEL" del a "$INFO"
check "leaves it alone" is "$(</run/k8s.cni.cncf.io/devinfo/cni/one.json)" '{"of":"a device plugin"}'
ip link property del dev "$EA0" altname rail-alt0
forget
no_pods a b c

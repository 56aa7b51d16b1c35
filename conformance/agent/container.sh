# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The agent as a pod of packaging/kubernetes/daemonset.yaml. crun starts it with the mounts, rights and namespaces that the manifest
# says; its root file system is that of rootfs.sh, and has nothing else. Pods are attached on the host.

# shellcheck source=conformance/agent/devices.sh
. "$HERE/devices.sh" # for its card and its kubelet
DAEMONSET=$HERE/../../packaging/kubernetes/daemonset.yaml
oci() { crun --cgroup-manager=disabled --root "$W/crun" "$@"; }

# of_manifest KIND: an object of the manifest
of_manifest()
{
	admin create --dry-run=client -o json -f "$DAEMONSET" | jq --arg k "$1" 'if .kind == "List" then .items[] else . end | select(.kind == $k)'
}
# The configuration that a container runtime makes of the pod's spec. The folders are those of the kubelet.
OCI_CONFIG='"/var/run/secrets/kubernetes.io/serviceaccount" as $account | . as $pod | .containers[] | select(.name == $name) as $c | $pod | ($c.securityContext.capabilities.add | map("CAP_" + .)) as $caps |
	[$c.volumeMounts[] as $m | .volumes[] | select(.name == $m.name) | {destination: $m.mountPath, type: "bind",
		source: (.hostPath.path // "\($kubelet)/\($m.subPath // "empty")"), options: ["rbind",
		(if $m.readOnly then "ro" else "rw" end), (if $m.mountPropagation == "HostToContainer" then "rslave" else "rprivate" end)]}] as $mounts | {
	ociVersion: "1.0.2", hostname: "some-pod", root: {path: "rootfs", readonly: $c.securityContext.readOnlyRootFilesystem},
	process: {args: ($c.command + $c.args), cwd: "/", user: {uid: $c.securityContext.runAsUser, gid: $c.securityContext.runAsGroup},
		noNewPrivileges: ($c.securityContext.allowPrivilegeEscalation | not),
		capabilities: {bounding: $caps, effective: $caps, permitted: $caps},
		env: (["PATH=/usr/sbin:/usr/bin", "KUBERNETES_SERVICE_HOST=10.99.0.1", "KUBERNETES_SERVICE_PORT=6443"] + [$c.env[]? |
			"\(.name)=\(if .valueFrom.fieldRef.fieldPath == "spec.nodeName" then "host" else error("\(.name)") end)"])},
	linux: {rootfsPropagation: "rslave", namespaces: ([{type: "mount"}, {type: "ipc"}, {type: "uts"}] +
			if .hostPID then [] else [{type: "pid"}] end + if .hostNetwork then [] else [{type: "network"}] end),
		maskedPaths: ["/proc/kcore", "/proc/keys", "/proc/timer_list", "/sys/firmware"],
		readonlyPaths: ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]},
	mounts: ([{destination: "/proc", type: "proc", source: "proc", options: ["nosuid", "noexec", "nodev"]},
		{destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "mode=755"]},
		{destination: "/sys", type: "sysfs", source: "sysfs", options: ["nosuid", "noexec", "nodev", "ro"]}] + $mounts +
		if any($mounts[]; .destination == $account) then [] else [{destination: $account, type: "bind", source: "\($kubelet)/account", options: ["rbind", "ro"]}] end)}'

# container_run CONTAINER NAME PIDFILE: a container of $W/container/spec
container_run()
{
	local at=$W/container
	jq --arg name "$1" --arg kubelet "$at/kubelet" "$OCI_CONFIG" "$at/spec" >"$at/config.json" || give_up "the manifest"
	oci run --bundle "$at" --pid-file "$W/node/host/$3" "$2" >>"$W/node/host/log" 2>&1 </dev/null &
}
# container_agent [FILTER]: the agent in its container; FILTER changes the spec of the pod
container_agent()
{
	local at=$W/container
	rm -rf "$at" && mkdir -p "$at/kubelet/"{account,empty} && "$HERE/../../packaging/kubernetes/rootfs.sh" "$BIN" "$at/rootfs" || give_up "$at"
	of_manifest ConfigMap | jq -r '.data["agent.json"]' | jq --argjson r "$FAST" '. + {heartbeat:1,nodeHold:10,repair:$r}' >"$at/kubelet/agent.json"
	engine bound-token host >"$at/kubelet/account/token" && cp "$W/kube/ca.pem" "$at/kubelet/account/ca.crt" &&
		printf railhead >"$at/kubelet/account/namespace" || give_up "the token"
	of_manifest DaemonSet | jq "(.spec.template.spec | ${1-.})" >"$at/spec"
	container_run railheadd agent pid
	eventually "$BIN/railctl" cluster status && eventually in_contact || give_up "the agent: $(tail -n 3 "$W/node/host/log")"
}
container_kill()
{
	host_kill KILL
	oci delete --force agent
}
# container_begin [FILTER]: a host, a pool of the cluster, and the agent in a container
container_begin()
{
	CNI_BIN=/opt/cni/bin
	NODES=0 cluster_begin
	trap 'case_ends container_end host_end cluster_end' EXIT
	namespace
	host_begin
	trap 'case_ends container_end host_end cluster_end' EXIT
	host_kill TERM
	rm /etc/railhead/agent.json
	# The case writes logs of its own. /run is as systemd has it, so that new network namespaces reach the container. crun wants to see control groups, and uses none.
	mount -t tmpfs tmpfs /opt && mount -t tmpfs tmpfs /var/log && mkdir -p "$CNI_BIN" && cp "$BIN"/{macvlan,railhead-ipam} "$CNI_BIN" && mount --make-shared /run && { [ "$(stat -fc %T /sys/fs/cgroup)" = tmpfs ] || mount -t tmpfs tmpfs /sys/fs/cgroup; } || give_up "mounts"
	container_agent "${1-.}"
	is "a pool" "$BIN/railctl" cluster pool apply - <<<'{"name":"rail0","subnet":"10.92.0.0/24","ranges":["10.92.0.2-10.92.0.253"],"blockSize":2,"warm":0,"cooldown":0}'
	eventually host_knows rail0
}
container_end()
{
	oci delete --force agent
	oci delete --force devices
	umount /opt /var/log
	rm -rf "$W/container" "$W/crun"
}
host_knows() { "$BIN/railctl" cluster status --json | jq -e --arg n "$1" 'any(.pools[]; .name == $n)'; }

test_container_an_ADD_reaches_its_agent()
{
	local probe
	container_begin
	# No address is ahead: the ADD asks at the socket, and the agent claims a block.
	POOL=rail0 pod p1
	eq "address" "${ADDRESS%.*}" 10.92.0
	eventually engine_value nodes host
	for probe in startupProbe livenessProbe; do
		mapfile -t probe < <(jq -r ".containers[0].$probe.exec.command[]" "$W/container/spec")
		is "probe" oci exec agent "${probe[@]}"
	done
	is "a hook of a subnet manager" oci exec agent /usr/local/libexec/railhead/sm-ufm --version
	# A new agent in place of this one: the pod keeps its address, and others start meanwhile. An agent that repairs nothing has no
	# rights beside the user 0.
	container_kill
	POOL=rail0 pod p2
	container_agent '.hostPID = false | .containers[0].securityContext.capabilities.add = []'
	eq "leases" "$(leased | wc -w)" 2
	POOL=rail0 pod p3
	POOL=rail0 pod p4
	eq "blocks" "$("$BIN/railctl" ipam blocks rail0 --json | jq 'map(select(.state == "granted")) | length')" 2
	POOL=rail0 cni DEL p3
	POOL=rail0 cni DEL p4
	POOL=rail0 cni DEL p1
	eq "DEL" "$RC" 0
	POOL=rail0 cni DEL p2
	eq "DEL" "$RC" 0
}

# A pod whose process belongs to another user, and whose path is gone: only /proc shows that it lives.
hidden_pod() # POD
{
	pod "$1"
	ip netns exec "$1" setpriv --reuid 65534 --regid 65534 --clear-groups sleep 1000 &
	echo $! >"$W/node/host/pod.1"
	eventually in_pod "$!" "$1"
	umount "/run/netns/$1" && rm "/run/netns/$1"
}

test_container_repairs_what_dead_pods_left()
{
	local lives hidden
	container_begin
	# Their namespaces are newer than the container.
	pod p1 && lives=$ADDRESS
	hidden_pod p2 && hidden=$ADDRESS
	POOL=rail0 pod p3
	pod p4
	pod_dies host p3
	pod_dies host p4
	eventually leases_are "$lives" "$hidden"
	passes 3
	eq "leases" "$(leased)" "$lives $hidden"
	pod_ends host p2
	kill -KILL "$(<"$W/node/host/pod.1")"
	eventually leases_are "$lives"
	is "the living pod" ip -n p1 link show net1
}

# audited VERB: the addresses of the audit log's lines of this verb
audited() { jq -r --arg v "$1" 'select(.verb == $v).address' /var/log/railhead-ipam.log | xargs; }
# The agent's releases are in the audit log of the host, beside those of the runtime's calls.
test_container_repair_writes_the_audit_log()
{
	local dead
	container_begin
	export AUDIT_LOG=/var/log/railhead-ipam.log
	pod p1 && dead=$ADDRESS
	pod_dies host p1
	eventually leases_are ""
	eq "allocated" "$(audited allocate)" "$dead"
	eq "released" "$(audited release)" "$dead"
	hasnt "the log" "$(<"$W/node/host/log")" "audit log"
	pod p2
	cni DEL p2
	eq "released" "$(audited release)" "$dead $ADDRESS"
}

# without FILTER STATE WHY: the agent in a container that lacks something; so it judges the attachment of a dead pod
without()
{
	container_kill
	container_agent "$1"
	passes 3
	eq "leases, $1" "$(leased)" "$leases"
	has "left, $1" "$(status '.left[] | [.what, .state, .why] | join(" ")')" "$2"
}
# An agent that cannot see all processes takes nothing from a pod that may live.
test_container_frees_nothing_that_it_cannot_see()
{
	local leases
	container_begin '.hostPID = false'
	# Agent and railhead-ipam have different numbers of processes here, and the same users.
	POOL=rail0 pod p0 && leases=$ADDRESS
	hidden_pod p1 && leases+=" $ADDRESS"
	pod p2 && leases+=" $ADDRESS"
	pod_dies host p2
	may_stay host "the agent does not see whether the pods live"
	without '.hostPID = false' "rails p2 net1 netns-unknown network namespace /run/netns/p2"
	has "the hidden pod" "$(status '.left[] | [.what, .state] | join(" ")')" "rails p1 net1 netns-unknown"
	without '.containers[0].securityContext.capabilities.add -= ["SYS_PTRACE"]' "ns/net: Permission denied"
	without '.containers[0].securityContext.capabilities.add -= ["DAC_READ_SEARCH"]' "/fd: Permission denied"
	# This right is not about sight: without it the agent does not enter the namespace of a living pod.
	without '.hostPID = false | .containers[0].securityContext.capabilities.add -= ["SYS_ADMIN"]' "enter network namespace"
	# With all of it the dead pod is repaired, and no other one.
	container_kill
	container_agent
	leases=${leases% *}
	eventually eval 'leases_are $leases'
	passes 3
	eq "leases" "$(leased)" "$leases"
}

# The second container of the manifest, which is a comment there, with a token out of its sight and no right to change an interface.
# The card is a folder over /sys/bus/pci/devices, which containers do not see: so it is one more mount here.
test_container_devices()
{
	local pid
	/usr/bin/python3 -c 'import grpc' 2>/dev/null || skip 'python3-grpcio is not installed'
	sed 's/^\( *\)#\(- \|  \)/\1\2/; s/"devicePlugin": false, //' "$DAEMONSET" >"$W/with-devices.yaml"
	DAEMONSET=$W/with-devices.yaml
	container_begin '.volumes += [{name: "cards", hostPath: {path: "/sys/bus/pci/devices"}}] | .containers[1].volumeMounts += [{name: "cards", mountPath: "/sys/bus/pci/devices"}]'
	trap 'case_ends devices_end container_end host_end cluster_end' EXIT
	mkdir -p /run/k8s.cni.cncf.io /run/cdi "${PLUGINS_DIR%/*}/pod-resources"
	devices_card
	eq 'without the container' "$(devices_status .looks)" 0
	kubelet ok
	container_run devices devices pod.devices
	eventually kubelet_says "devices $OFFERED=Healthy"
	pid=$(<"$W/node/host/pod.devices")
	eq 'its rights' "$(awk '/^(CapPrm|CapEff|CapBnd|NoNewPrivs):/ { print $2 }' "/proc/$pid/status" | xargs)" '0000000000080004 0000000000080004 0000000000080004 1'
	eq 'tokens' "$(ls -A "/proc/$pid/root/run/secrets/kubernetes.io/serviceaccount")" ''
	is 'the agent has one' test -e "/proc/$(<"$W/node/host/pid")/root/run/secrets/kubernetes.io/serviceaccount/token"
	has 'what a container gets' "$(call Allocate $OFFERED)" "PCIDEVICE_EXAMPLE_COM_RAIL0 $OFFERED"
	eventually resource_is '[.registered, .watched, .allocated]' '[true,true,1]'
	has 'a file for Multus' "$(ls /run/k8s.cni.cncf.io/devinfo/dp)" "example.com-rail0-$OFFERED-device.json"
	# It is killed, and comes again; the agent is the same.
	oci kill devices KILL
	eventually devices_status_is '.error | startswith("railhead-devices does not run")' true
	oci delete --force devices
	container_run devices devices pod.devices
	eventually resource_is '[.watched, .allocated]' '[true,0]'
	is 'the agent' oci exec agent /usr/local/sbin/railctl cluster status
}

test_container_the_API_server_accepts_the_manifest()
{
	NODES=0 cluster_begin
	is "apply" admin apply --dry-run=server -f "$DAEMONSET"
	has "apply" "$(<"$W/is")" "daemonset.apps/railheadd created (server dry run)"
	hasnt "apply" "$(<"$W/is")" Warning
	# The pod that the controller would make: priority, account and mounts are checked for it, too.
	is "reclaim.sh" "${DAEMONSET%/*}/reclaim.sh"
	cp "$W/is" "$W/reclaim"
	is "apply" admin apply --dry-run=server -f "$W/reclaim"
	has "apply" "$(<"$W/is")" "daemonset.apps/railheadd-reclaim created (server dry run)"
	hasnt "apply" "$(<"$W/is")" Warning
	# Else both DaemonSets would count the pods of one another, or run on one node.
	eq "reclaim.sh" "$(jq -rn --argjson a "$(of_manifest DaemonSet)" --argjson b "$(DAEMONSET=$W/reclaim of_manifest DaemonSet)" '
		def leaves: [paths(scalars) as $p | "\($p | map(tostring) | join(".")) \(getpath($p))"]; ($b | leaves) - ($a | leaves) |
		map(sub("^spec.template.spec.(containers.0.)?"; "") | sub("^affinity.nodeAffinity.*operator"; "operator")) | sort[]')" \
		'args.2 --reclaim
metadata.labels.app.kubernetes.io/name railheadd-reclaim
metadata.name railheadd-reclaim
operator Exists
spec.selector.matchLabels.app.kubernetes.io/name railheadd-reclaim
spec.template.metadata.labels.app.kubernetes.io/name railheadd-reclaim'
	is "a pod" admin create --dry-run=server -f - < <(of_manifest DaemonSet |
		jq '{apiVersion: "v1", kind: "Pod", metadata: (.spec.template.metadata + {name: "railheadd-x", namespace: "railhead"}), spec: .spec.template.spec}')
	hasnt "a pod" "$(<"$W/is")" Warning
}

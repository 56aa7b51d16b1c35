# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# world.sh: the private machine that the clients run on. Sourced by run.sh inside the sandbox.
#
# The sandbox brought empty /run and /var/lib and namespaces for mounts, links and processes. Here the
# other places are covered that a runtime writes to, so that a killed suite leaves nothing either. No
# control group is made at all: the OCI runtime is crun, told to leave them alone.

MASTER=mst0
WIRE=wire0
GATEWAY=10.77.0.1
NETD=/etc/cni/net.d
export IMAGE=localhost/bb:1
export HOME=$W/home TMPDIR=$W/tmp
unset XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_DATA_HOME

world()
{
	tools_are_there && private_places && image && plugins && links && pools && settle
}

tools_are_there()
{
	local tool missing=
	for tool in containerd ctr crun podman conmon umoci busybox jq nsenter lsns; do
		command -v "$tool" >/dev/null || missing+=" $tool"
	done
	for tool in loopback tuning; do
		[ -x "$PEER_DIR/$tool" ] || missing+=" $PEER_DIR/$tool"
	done
	/usr/bin/python3 -c 'import grpc, grpc_tools.protoc' 2>/dev/null || missing+=" python3-grpcio python3-grpc-tools python3-pkg-resources"
	[ -z "$missing" ] || {
		echo "missing:$missing; to install them: tools/deps.sh interop" >&2
		return 1
	}
}

private_places()
{
	mkdir -p "$HOME" "$TMPDIR" "$W/log" "$W/etc.upper" "$W/etc.work" &&
		mount -t overlay -o "lowerdir=/etc,upperdir=$W/etc.upper,workdir=$W/etc.work" interop /etc &&
		mount -t tmpfs interop /opt && mount -t tmpfs interop /var/tmp && mount -t tmpfs interop /dev/shm ||
		return
	# An OCI runtime looks here for the kind of control groups, and finds version 1 without controllers.
	mount -t tmpfs interop /sys/fs/cgroup 2>/dev/null
	rm -rf /etc/cni /etc/containers /etc/containerd
	mkdir -p "$NETD" /etc/containers
	echo '{"default":[{"type":"insecureAcceptAnything"}]}' >/etc/containers/policy.json
	printf '#!/bin/sh\nexec crun --cgroup-manager=disabled "$@"\n' >"$W/oci"
	chmod +x "$W/oci"
}

# An image from the one static program that Debian has for it; there is no registry.
image()
{
	local root=$W/rootfs applet
	mkdir -p "$root/bin" "$root/etc" && cp "$(command -v busybox)" "$root/bin/busybox" || return
	for applet in sh ping sleep ip cat; do
		ln -s busybox "$root/bin/$applet"
	done
	{
		umoci init --layout "$W/oci-layout" && umoci new --image "$W/oci-layout:1" &&
			umoci insert --image "$W/oci-layout:1" "$root/bin" /bin &&
			umoci config --image "$W/oci-layout:1" --config.cmd /bin/sleep --config.cmd 1000 &&
			tar -cf "$W/image.tar" -C "$W/oci-layout" .
	} >"$W/log/image" 2>&1 || {
		cat "$W/log/image" >&2
		return 1
	}
}

# Clients find the recorder; what it runs, and what the cases call past it, is in real/.
plugins()
{
	local p
	mkdir -p /opt/cni/bin /opt/cni/real
	# A copy: whoever builds meanwhile does not pull the programs away from under the cases.
	for p in macvlan railhead-ipam; do
		cp "$FROM/$p" /opt/cni/real && install "$HERE/recorder.sh" "/opt/cni/bin/$p" || return
	done
	for p in loopback tuning; do
		cp "$PEER_DIR/$p" /opt/cni/real && install "$HERE/recorder.sh" "/opt/cni/bin/$p" || return
	done
	RAILCTL=$W/railctl
	cp "$FROM/railctl" "$RAILCTL"
}

# macvlan on one end of a wire; the gateway is at the other.
links()
{
	# addrgenmode none: no link-local address comes in the middle of a case.
	ip link add "$MASTER" type veth peer name "$WIRE" && ip link set "$MASTER" addrgenmode none &&
		ip link set "$WIRE" addrgenmode none && ip link set "$MASTER" up &&
		ip link set "$WIRE" up && ip addr add "$GATEWAY/24" dev "$WIRE"
}

pools()
{
	"$RAILCTL" ipam pool add rails --subnet 10.77.0.0/24 --range 10.77.0.2-10.77.0.199 --gateway "$GATEWAY" &&
		"$RAILCTL" ipam pool add rails6 --subnet fd77::/64 --this-node-only &&
		"$RAILCTL" ipam pool add one --subnet 10.77.0.0/24 --range 10.77.0.200
} >/dev/null

# --- networks ----------------------------------------------------------------------------------

# network [FILTER]: write the one network of containerd, changed by a jq filter. The plugin behind
# macvlan is the reference's tuning, so that there is a chain. Its name is new each time: that tells when
# a daemon has read it.
network()
{
	local serial
	serial=$(($(cat "$W/serial" 2>/dev/null) + 1))
	echo "$serial" >"$W/serial"
	NET=rail$serial
	jq -n --arg net "$NET" --arg master "$MASTER" '{cniVersion: "1.0.0", name: $net, plugins: [
		{type: "macvlan", master: $master, ipam: {type: "railhead-ipam", pool: "rails"}},
		{type: "tuning", mtu: 1400}]} | '"${1-.}" >"$W/net.new" &&
		mv "$W/net.new" "$NETD/10-rail.conflist" || fail "test error: network $1"
}

# --- before and after --------------------------------------------------------------------------

runtime_processes()
{
	ps -eo pid=,comm=,args= | awk '$2 ~ /^(containerd-shim|conmon|podman|crun|ctr|sleep|macvlan|tuning)/'
}
no_runtime_processes() { [ -z "$(runtime_processes)" ]; }

# The state that must be equal before and after each case.
snapshot()
{
	# Runtimes mount and unmount at any time, so only mounts of namespaces count.
	"$HELPERS/snapshot" --root /run/railhead --root /run/netns --ignore lock --settling yes --program /opt/cni |
		awk '!/^mount / || /: nsfs$/'
	"$RAILCTL" ipam lease list --json | jq -c '.[] | ["lease", .address, .network]'
	"$RAILCTL" attachments list --json | jq -c '.[] | ["attachment", .network, .container, .ifname, .state]'
	"$RAILCTL" ipam verify | sed 's/[0-9]* at rest/some at rest/'
	lsns -rno NS,COMMAND -t net | grep -v unassigned | wc -l
	runtime_processes
}

settle() { snapshot >"$W/base" 2>&1; }

nothing_left()
{
	local left
	eventually no_runtime_processes
	snapshot >"$W/now" 2>&1
	left=$("$HELPERS/snapshot" --diff "$W/base" "$W/now") && return
	fail "the machine is not as before:
$left"
	clean_up
}

# So that one failing case does not spoil the next.
clean_up()
{
	local pid ns
	for pid in $(runtime_processes | awk '{print $1}'); do
		kill -KILL "$pid" 2>/dev/null
	done
	for ns in /run/netns/*; do
		[ ! -e "$ns" ] || ip netns del "${ns##*/}" 2>/dev/null || { umount "$ns"; rm -f "$ns"; }
	done
	containerd_forget
	podman_wipe
	eventually no_runtime_processes
	"$RAILCTL" attachments repair >/dev/null 2>&1
	find /run/railhead /var/lib/railhead -mindepth 1 -delete 2>/dev/null
	pools
	settle
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# node.sh: nodes: namespaces of their own over a Debian tree, with containerd and a kubelet. Sourced by run.sh.
#
# Node N is n$N: network, mounts, process numbers, host name, IPC and control groups of its own. A power cut keeps its root
# and /var/lib, but not /run, processes, links and the boot id. All of it is memory.

NODES='1 2'
node_root() { echo "$W/n$1/root"; }
node_pid() { cat "$W/n$1/pid"; }

# node_make N: its disks.
node_make()
{
	local d=$W/n$1 root
	root=$(node_root "$1")
	mkdir -p "$d" && mount -t tmpfs -o mode=755 "node$1" "$d" && mkdir -p "$d"/{upper,work,root,disk,fakes,log} &&
		mount -t overlay -o "lowerdir=$TREE,upperdir=$d/upper,workdir=$d/work" "node$1" "$root" || return
	mkdir -p "$root"/opt/cni/bin "$root"/etc/cni/net.d "$root"/{proc,sys,dev,run,tmp,railhead,var/lib,var/log/pods,root} \
		"$d/disk"/{kubelet,containerd}
	tr -d - </proc/sys/kernel/random/uuid >"$root/etc/machine-id"
	echo 'nameserver 192.0.2.53' >"$root/etc/resolv.conf"
	printf '127.0.0.1 localhost\n' >"$root/etc/hosts"
	node_plugins "$1"
	containerd_config >"$root/etc/containerd.toml"
	kubelet_config >"$root/etc/kubelet.yaml"
}

# A copy: whoever builds meanwhile does not pull the programs away from under the cases.
node_plugins()
{
	local bin p
	bin=$(node_root "$1")/opt/cni/bin
	for p in macvlan ipvlan rails sriov rdma railhead-ipam; do
		cp "$FROM/$p" "$bin" || return
	done
	mkdir -p "$(node_root "$1")/usr/local/bin"
	cp "$FROM/railctl" "$(node_root "$1")/usr/local/bin" || return
	for p in bridge loopback host-local portmap tuning; do
		cp "$CLUSTER/bin/$p" "$bin" || return
	done
	cp "$CLUSTER/bin/macvlan" "$bin/reference-macvlan" && cp "$CLUSTER/bin/multus" "$CLUSTER/bin/multus-shim" "$bin"
}

containerd_config()
{
	cat <<-'EOF'
	version = 3
	root = "/var/lib/containerd"
	state = "/run/containerd"
	[plugins.'io.containerd.cri.v1.images'.pinned_images]
	  sandbox = "localhost/pause:1"
	[plugins.'io.containerd.cri.v1.runtime']
	  restrict_oom_score_adj = true
	[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
	  runtime_type = "io.containerd.runc.v2"
	[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.crun]
	  runtime_type = "io.containerd.runc.v2"
	[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.crun.options]
	  BinaryName = "/usr/bin/crun"
	[plugins.'io.containerd.cri.v1.runtime'.cni]
	  bin_dirs = ["/opt/cni/bin"]
	  conf_dir = "/etc/cni/net.d"
	EOF
}

# Nothing is evicted for lack of room: the disk is the memory of a machine that others use.
kubelet_config()
{
	cat <<-'EOF'
	apiVersion: kubelet.config.k8s.io/v1beta1
	kind: KubeletConfiguration
	authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
	authorization: {mode: AlwaysAllow}
	cgroupDriver: cgroupfs
	failCgroupV1: false
	failSwapOn: false
	containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
	enforceNodeAllocatable: []
	maxPods: 200
	nodeStatusUpdateFrequency: 1s
	evictionHard: {memory.available: 10Mi, nodefs.available: 0%, imagefs.available: 0%, nodefs.inodesFree: 0%, imagefs.inodesFree: 0%}
	imageMinimumGCAge: 24h
	imageGCHighThresholdPercent: 100
	imageGCLowThresholdPercent: 99
	shutdownGracePeriod: 0s
	kubeAPIQPS: 200
	kubeAPIBurst: 400
	EOF
}

# node_up N: switch it on: namespaces, its cards into the fabric, containerd.
node_up()
{
	local group=$GROUP/n$1 n=$1 paths
	cgroups_make "$W/cgroup" "$group" && paths=$(cgroups_paths "$W/cgroup") || return
	# The only child of what is started here is the node's first process: node_begins asks for it.
	(
		while read -r path; do
			[ -e "$path/$group/cgroup.subtree_control" ] && mkdir -p "$path/$group/services" &&
				path=$path/$group/services || path=$path/$group
			echo 0 >"$path/cgroup.procs" || exit
		done <<<"$paths"
		node_first "$n" --net --cgroup
	) &
	node_begins "$n" $! && cards "$n" "$(node_pid "$n")" && service "$n" containerd start
}
# node_first N NAMESPACE...: become its first process, also in these namespaces.
node_first()
{
	exec unshare "${@:2}" --mount --uts --ipc --pid --fork --kill-child=KILL --propagation private \
		"$HERE/init.sh" "$1" "$(node_root "$1")" "$W/n$1" "$CLUSTER/bin" </dev/null >"$W/n$1/log/init" 2>&1
}
# node_begins N STARTER: wait for the first process, which STARTER starts.
node_begins()
{
	eventually test -e "$(node_root "$1")/.up" || { cat "$W/n$1/log/init" >&2; return 1; }
	pgrep -P "$2" >"$W/n$1/pid"
	echo "$2" >"$W/n$1/starter"
}

# cards N PID: up0 into the node network, eth1 to eth8 into the rails.
cards()
{
	local i card
	ip netns attach "n$1" "$2" || return
	for i in 0 1 2 3 4 5 6 7 8; do
		card=eth$i
		[ "$i" != 0 ] || card=up0
		ip link add "$card" netns "$2" type veth peer name "n$1e$i" &&
			ip link set "n$1e$i" master "br$i" up && ip -n "n$1" link set "$card" up || return
	done
	ip -n "n$1" addr add "10.77.0.$(($1 + 1))/24" dev up0 && ip -n "n$1" route add default via 10.77.0.1
}

# node_down N: cut its power: every process ends at once, without a word. Its links go with its namespace. node_begins must not take
# the sign of this boot for that of the next.
node_down()
{
	local i
	kill -KILL "$(node_pid "$1")" && wait "$(<"$W/n$1/starter")" 2>/dev/null
	for i in 0 1 2 3 4 5 6 7 8; do
		ip link del "n$1e$i" 2>/dev/null
	done
	ip netns del "n$1" 2>/dev/null
	rm -f "$W/n$1/pid" "$(node_root "$1")/.up"
	cgroups_remove "$W/cgroup" "$GROUP/n$1"
}

# node N COMMAND...: run it there.
node()
{
	local pid
	pid=$(node_pid "$1") || return
	shift
	nsenter -t "$pid" -m -n -u -i -p -r -w -C env -i HOME=/root TERM=dumb LANG=C \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# service N NAME start|stop|kill: containerd, kubelet or multus-daemon, as a process of the node and of its groups.
service() { node "$1" /bin/bash /railhead/service.sh "$1" "$2" "$3" </dev/null; }

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# containerd.sh: the daemon behind ctr and CRI, below /run/work. Sourced by run.sh.

export CONTAINERD_ADDRESS=$W/containerd.sock
export CRI_PB=$W/pb

containerd_config()
{
	# Without CAP_SYS_RESOURCE no oom_score_adj can be lowered.
	cat <<-END
		version = 2
		root = "$W/containerd/root"
		state = "$W/containerd/state"
		disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
			"io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs",
			"io.containerd.internal.v1.tracing"]
		[grpc]
		address = "$CONTAINERD_ADDRESS"
		[plugins."io.containerd.internal.v1.opt"]
		path = "$W/containerd/opt"
		[plugins."io.containerd.grpc.v1.cri"]
		sandbox_image = "$IMAGE"
		restrict_oom_score_adj = true
		disable_cgroup = true
		disable_tcp_service = true
		[plugins."io.containerd.grpc.v1.cri".cni]
		bin_dir = "/opt/cni/bin"
		conf_dir = "$NETD"
		[plugins."io.containerd.grpc.v1.cri".containerd]
		default_runtime_name = "crun"
		[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.crun]
		runtime_type = "io.containerd.runc.v2"
		[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.crun.options]
		BinaryName = "$W/oci"
	END
}

containerd_pid() { cat "$W/containerd.pid" 2>/dev/null; }
containerd_is_up() { containerd_pid >/dev/null && kill -0 "$(containerd_pid)" 2>/dev/null && ctr version; }

# containerd_up: unless it runs.
containerd_up()
{
	containerd_is_up >/dev/null 2>&1 && return
	containerd_config >"$W/containerd.toml"
	setsid containerd --config "$W/containerd.toml" >>"$W/log/containerd" 2>&1 9>&- &
	echo $! >"$W/containerd.pid"
	eventually ctr version || {
		tail -n 5 "$W/log/containerd" >>"$W/evidence"
		return 1
	}
	ctr -n default image ls -q | grep -q . || {
		is 'import for ctr' ctr image import --base-name localhost/bb "$W/image.tar"
		is 'import for CRI' ctr -n k8s.io image import --base-name localhost/bb "$W/image.tar"
	}
}

containerd_stop() # SIGNAL
{
	local pid
	pid=$(containerd_pid) || return 0
	kill "-$1" "$pid" 2>/dev/null
	eventually containerd_is_gone "$pid"
	rm -f "$W/containerd.pid"
}
# Its parent may be a case's shell that has ended: then the sandbox's first process reaps it.
containerd_is_gone() { [ "$(ps -o stat= -p "$1" | cut -c1)" != S ] && ! grep -qs containerd "/proc/$1/cmdline"; }
containerd_down() { containerd_stop TERM; }
containerd_kill() { containerd_stop KILL; }

# containerd_forget: as if the machine had lost all that containerd knew. Shims and containers die too.
containerd_forget()
{
	local pid
	containerd_kill
	for pid in $(pgrep -f '^/usr/bin/containerd-shim') $(pgrep -x sleep); do
		kill -KILL "$pid" 2>/dev/null
	done
	eventually no_runtime_processes
	awk '$2 ~ "^/run/work/containerd/" {print $2}' /proc/self/mounts | tac | while read -r m; do
		umount -l "$m"
	done
	rm -rf "$W/containerd"
}

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# service.sh N NAME start|stop|kill: a service of node N, run inside it. NAME: containerd, kubelet, multus-daemon, railheadd,
# railhead-devices, kube-proxy, k8s-rdma-shared-dp, dra-example-kubeletplugin.
#
# start returns when the service answers; stop and kill (without a chance to say anything) when its process is gone.
set -u
n=$1 name=$2
pidfile=/run/railhead-node/$name.pid
log=/var/log/$name.log

# A service is in the node's own control groups, not in those of who called.
join()
{
	local g
	if [ -d /sys/fs/cgroup/services ]; then
		echo 0 >/sys/fs/cgroup/services/cgroup.procs
		return
	fi
	for g in /sys/fs/cgroup/*/cgroup.procs; do
		echo 0 >"$g"
	done
}

run() # COMMAND...
{
	(
		join
		exec setsid "$@" >>"$log" 2>&1 </dev/null
	) &
	echo $! >"$pidfile"
}

answers()
{
	case $name in
	containerd) ctr version ;;
	kube-proxy) exec 3<>/dev/tcp/127.0.0.1/10256 && printf 'GET /healthz HTTP/1.0\r\n\r\n' >&3 && head -n 1 <&3 | grep ' 200 ' ;;
	kubelet) [ "$(exec 3<>/dev/tcp/127.0.0.1/10248 && printf 'GET /healthz HTTP/1.0\r\n\r\n' >&3 && tail -n 1 <&3)" = ok ] ;;
	multus-daemon) [ -S /run/multus/multus.sock ] && [ -e /etc/cni/net.d/00-multus.conf ] ;;
	railheadd) railctl cluster status ;;
	railhead-devices) [ -e /run/railhead/devices.json ] ;;
	# They remove their sockets when they stop.
	k8s-rdma-shared-dp | dra-example-kubeletplugin) compgen -G '/var/lib/kubelet/plugins_registry/*.sock' ;;
	esac >/dev/null 2>&1
}

begin()
{
	case $name in
	containerd) run containerd --config /etc/containerd.toml ;;
	kubelet)
		mountpoint -q /var/lib/kubelet || { mount --bind /var/lib/kubelet /var/lib/kubelet && mount --make-rshared /var/lib/kubelet; }
		run /railhead/bin/kubelet --config /etc/kubelet.yaml --kubeconfig /etc/kubelet.kubeconfig \
			--hostname-override "n$n" --node-ip "10.77.0.$((n + 1))" --root-dir /var/lib/kubelet --v=2
		;;
	kube-proxy)
		# Limits of connection tracking belong to the whole machine.
		run /railhead/bin/kube-proxy --kubeconfig /etc/kube-proxy.kubeconfig --hostname-override "n$n" --proxy-mode nftables \
			--cluster-cidr 10.244.0.0/16 --conntrack-max-per-core 0 --conntrack-min 0 --conntrack-tcp-timeout-established 0 \
			--conntrack-tcp-timeout-close-wait 0 --healthz-bind-address 127.0.0.1:10256 --metrics-bind-address 127.0.0.1:10249
		;;
	multus-daemon)
		rm -f /run/multus/multus.sock
		KUBERNETES_SERVICE_HOST=10.77.0.1 KUBERNETES_SERVICE_PORT=6443 MULTUS_NODE_NAME=n$n \
			run /railhead/bin/multus-daemon --config /etc/multus-daemon.json
		;;
	k8s-rdma-shared-dp) run k8s-rdma-shared-dp ;;
	dra-example-kubeletplugin)
		# A device for each GPU that claims.sh has made.
		run /railhead/bin/dra-example-kubeletplugin --kubeconfig /etc/kubelet.kubeconfig --node-name "n$n" --driver-name gpu.nvidia.com \
			--num-devices "$(ls /proc/driver/nvidia/gpus | wc -l)" --cdi-root /run/cdi
		;;
	railheadd | railhead-devices)
		# Its libraries are those of the machine that built it, the folders those of the node.
		# shellcheck disable=SC2016 # of the inner shell
		run unshare --mount --propagation slave bash -c 'mount --bind /opt/railheadd /opt/railheadd && cd /opt/railheadd && for d in etc/railhead var/lib run opt/cni/bin proc sys dev; do
			mount --rbind "/$d" "$d" || exit; done; exec chroot . "/usr/local/sbin/$0"' "$name"
		;;
	esac
}

# One that ends is started again, as systemd does it: a kubelet gives up when containerd's CRI is not ready yet.
start()
{
	local i
	begin
	for ((i = 0; i < 1200; i++)); do
		! answers || return 0
		kill -0 "$(<"$pidfile")" 2>/dev/null || begin
		sleep 0.1
	done
	echo "$name does not answer; the end of its log:" >&2
	tail -n 15 "$log" >&2
	return 1
}

finish() # SIGNAL
{
	local pid
	pid=$(cat "$pidfile" 2>/dev/null) || return 0
	kill "-$1" "$pid" 2>/dev/null
	timeout 60 tail --pid="$pid" -s 0.1 -f /dev/null
	rm -f "$pidfile"
}

case ${3-} in
start) start ;;
stop) finish TERM ;;
kill) finish KILL ;;
*) exit 2 ;;
esac

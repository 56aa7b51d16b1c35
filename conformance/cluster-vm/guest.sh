# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# needs: movable
# guest.sh: a suite of ../vm that is a node of Kubernetes until run.sh ends it. /vm/job/node is the folder that it shares with run.sh.
. conformance/cluster-vm/node.sh

# The kernel has named the interface to the outside by chance; its address is in ../vm/run.
uplink()
{
	local link
	modprobe virtio_net || return
	link=$(grep -l 52:54:00:00:77:02 /sys/class/net/*/address) && link=${link%/address} || return
	ip link set "${link##*/}" name up0 && ip addr add 10.77.0.2/24 dev up0 && ip link set up0 up &&
		ip route add default via "$API"
}
switched_on()
{
	mkdir -p "$W" /sys/fs/cgroup/services "$W/k8s/certs" && node_make 1 || return
	(node_first 1) &
	node_begins 1 $!
}
cards_up()
{
	local pf
	for pf in $PFS; do
		ip link set "$pf" up && vfs "$pf" 2 || return
	done
}
containerd_up() { modprobe -a bridge veth && service 1 containerd start && ln -s /vm/job/node/images "$W/images" && mkdir "$W/log" && images_in 1; }
kubelet_up()
{
	eventually test -e /vm/job/node/apiserver.crt && cp /vm/job/node/apiserver.crt "$W/k8s/certs" &&
		kubeconfig n1 >"$(node_root 1)/etc/kubelet.kubeconfig" && multus 1 && service 1 kubelet start
}
# calls.sh answers from now on.
serving()
{
	mkdir -p "$W/www/cgi-bin" && mkfifo "$W/end" && cp conformance/cluster-vm/calls.sh "$W/www/cgi-bin" || return
	busybox httpd -f -p 10.77.0.2:80 -h "$W/www" >"$W/log/httpd" 2>&1 &
	echo $! >"$W/httpd.pid"
}
switched_off()
{
	service 1 kubelet stop && service 1 containerd stop && kill -KILL "$(node_pid 1)" &&
		eventually isnt kill -0 "$(<"$W/n1/starter")" && kill "$(<"$W/httpd.pid")" && umount "$(node_root 1)" "$W/n1"
}

check 'a card to the outside' uplink
check 'the node is switched on' switched_on
check 'VFs' cards_up
check 'containerd' containerd_up
check 'kubelet' kubelet_up
check 'run.sh is served' serving
[ $failed = 0 ] || finish
read -r _ <"$W/end"
check 'the node is switched off' switched_off
for pf in $PFS; do vfs "$pf" 0; done
finish

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# world.sh: the fabric, the control plane and the images. Sourced by run.sh inside the sandbox.
#
# The sandbox's own network namespace is the fabric: br0 is the network of the nodes, br1 to br8 are rails. The control plane
# runs there. No registry is asked for anything: images are made of Debian's static busybox, and named as manifests name them.

API=10.77.0.1
export HOME=$W/home KUBECONFIG=$W/k8s/admin.kubeconfig

world()
{
	local plane
	mkdir -p "$HOME" "$W/k8s" "$W/log" "$W/cgroup" || return
	cgroups_mount "$W/cgroup" && cgroups_make "$W/cgroup" "$GROUP" && fabric && credentials || return
	# The API server takes the longest: nodes are made meanwhile.
	control_plane >"$W/log/control-plane" 2>&1 &
	plane=$!
	images && nodes && wait "$plane" || {
		cat "$W/log/control-plane" >&2
		return 1
	}
	cluster_objects && kubelets
}

fabric()
{
	local b
	for b in 0 1 2 3 4 5 6 7 8; do
		ip link add "br$b" type bridge mcast_snooping 0 && ip link set "br$b" up || return
	done
	# The gateways of docs/start.md's and examples' networks.
	ip addr add "$API/24" dev br0 && ip addr add 10.10.0.1/16 dev br1 && ip addr add fd00:10:10::1/64 dev br1 nodad
}

# --- control plane -----------------------------------------------------------------------------

# The users of the API server and their tokens; the server makes its own certificate.
credentials()
{
	local n
	openssl genrsa -out "$W/k8s/sa.key" 2048 2>/dev/null || return
	{
		echo 'admin-token,admin,1,system:masters'
		echo 'multus-token,system:serviceaccount:kube-system:multus,2,system:serviceaccounts'
		echo 'kube-proxy-token,system:kube-proxy,3'
		for n in $NODES; do
			echo "n$n-token,system:node:n$n,1$n,system:nodes"
			echo "agent$n-token,railhead:node:n$n,2$n,railhead:agents"
		done
	} >"$W/k8s/tokens"
}

kubeconfig() # WHO
{
	cat <<-EOF
	apiVersion: v1
	kind: Config
	clusters: [{name: c, cluster: {server: "https://$API:6443", certificate-authority-data: $(base64 -w0 "$W/k8s/certs/apiserver.crt")}}]
	users: [{name: u, user: {token: $1-token}}]
	contexts: [{name: x, context: {cluster: c, user: u}}]
	current-context: x
	EOF
}

# daemon NAME COMMAND...: it lives as long as the sandbox.
daemon()
{
	local name=$1
	shift
	setsid "$@" >"$W/log/$name" 2>&1 </dev/null &
	echo $! >"$W/k8s/$name.pid"
}
# answers NAME URL: wait until its daemon is ready; a dead daemon is a failure at once.
answers()
{
	local i
	for ((i = 0; i < 3000; i++)); do
		curl -skf "$2" >/dev/null && return
		kill -0 "$(<"$W/k8s/$1.pid")" 2>/dev/null || break
		sleep 0.1
	done
	! kill -0 "$(<"$W/k8s/$1.pid")" 2>/dev/null || fail "not within 300 s: $1 answers"
	echo "$1 does not answer; the end of its log:"
	tail -n 20 "$W/log/$1"
	return 1
}

control_plane()
{
	local d=$W/k8s etcd=$W/etcd
	mkdir -p "$etcd"/{root,upper,work} &&
		mount -t overlay -o "lowerdir=$TREE,upperdir=$etcd/upper,workdir=$etcd/work" etcd "$etcd/root" || return
	daemon etcd chroot "$etcd/root" /usr/bin/etcd --data-dir /var/lib/etcd --unsafe-no-fsync --log-level warn \
		--listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
		--listen-peer-urls http://127.0.0.1:2380
	daemon kube-apiserver "$CLUSTER/bin/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 --bind-address="$API" \
		--advertise-address="$API" --secure-port=6443 --cert-dir="$d/certs" --service-cluster-ip-range=10.96.0.0/16 \
		--service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$d/sa.key" \
		--service-account-signing-key-file="$d/sa.key" --token-auth-file="$d/tokens" \
		--authorization-mode=Node,RBAC --allow-privileged --kubelet-preferred-address-types=InternalIP
	answers etcd http://127.0.0.1:2379/health && answers kube-apiserver "https://$API:6443/readyz" || return
	kubeconfig admin >"$KUBECONFIG"
	daemon kube-controller-manager "$CLUSTER/bin/kube-controller-manager" --kubeconfig "$KUBECONFIG" \
		--service-account-private-key-file "$d/sa.key" --root-ca-file "$d/certs/apiserver.crt" --leader-elect=false \
		--node-monitor-grace-period=20s --kube-api-qps=200 --kube-api-burst=400
	daemon kube-scheduler "$CLUSTER/bin/kube-scheduler" --kubeconfig "$KUBECONFIG" --leader-elect=false
}

k() { "$CLUSTER/bin/kubectl" "$@"; }

# What Multus brings: its kind of object, and its rights. The default class of priority and such are the API server's own.
cluster_objects()
{
	k apply -f "$HERE/multus.yaml" >/dev/null &&
		k wait --for=condition=Established crd/network-attachment-definitions.k8s.cni.cncf.io --timeout=120s >/dev/null
}

# --- images ------------------------------------------------------------------------------------

# image NAME: an archive as "docker save" writes it, of busybox.
image()
{
	local d=$W/image file
	file=$W/images/${1//[:\/]/_}.tar
	mkdir -p "$W/images" && rm -rf "$d" && mkdir -p "$d/rootfs/bin" "$d/rootfs/etc" "$d/rootfs/tmp" || return
	cp "$TREE/usr/bin/busybox" "$d/rootfs/bin/busybox" || return
	for applet in sh ping ping6 sleep ip cat ls kill wget nc; do
		ln -s busybox "$d/rootfs/bin/$applet"
	done
	tar -C "$d/rootfs" --numeric-owner --owner=0 --group=0 -cf "$d/layer.tar" . &&
		jq -n --arg sum "sha256:$(sha256sum "$d/layer.tar" | cut -d' ' -f1)" --arg arch "$(dpkg --print-architecture)" \
			'{architecture: $arch, os: "linux", config: {Env: ["PATH=/bin"], Cmd: ["/bin/sleep", "1000000"]},
			rootfs: {type: "layers", diff_ids: [$sum]}}' >"$d/config.json" &&
		jq -n --arg tag "$1" '[{Config: "config.json", RepoTags: [$tag], Layers: ["layer.tar"]}]' >"$d/manifest.json" &&
		tar -C "$d" -cf "$file" manifest.json config.json layer.tar
}

IMAGE=localhost/box:1
images()
{
	local name
	# Also those that the manifests of docs/start.md name.
	for name in "$IMAGE" localhost/pause:1 $(sed -n 's/^ *image: //p' "$TOP/examples/multus/pod.yaml"); do
		image "$name" || return
	done
}

# images_in N: hand them to its containerd.
images_in()
{
	local file
	for file in "$W"/images/*.tar; do
		node "$1" ctr -n k8s.io image import - <"$file" >"$W/log/import" 2>&1 || {
			cat "$W/log/import" >&2
			return 1
		}
	done
}

# --- nodes -------------------------------------------------------------------------------------

nodes()
{
	local n
	for n in $NODES; do
		node_make "$n" && node_up "$n" && images_in "$n" || return
	done
}

# flavour N: which Multus it has. Both are there from the start: thin on n1, thick on n2.
flavour() { [ "$1" = 1 ] && echo thin || echo thick; }

kubelets()
{
	local n
	for n in $NODES; do
		kubeconfig "n$n" >"$(node_root "$n")/etc/kubelet.kubeconfig"
		multus "$n" && service "$n" kubelet start || return
	done
	for n in $NODES; do
		eventually k get node "n$n" || return
	done
	k wait --for=condition=Ready node --all --timeout=240s >/dev/null || {
		k describe nodes | tail -n 60 >&2
		fail "not within 240 s: the nodes are Ready"
	}
}

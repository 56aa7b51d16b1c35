# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# multus.sh: Multus as its own manifests install it, thin and thick. Sourced by run.sh.

# The cluster's own network of a node: the reference's bridge with host-local. Nothing of it is under test. There is an address for each
# pod of a whole run: a DEL by Multus' daemon lacks the ranges (multus-cni, issue 1449), so host-local gives none back.
cluster_network()
{
	jq -cn --arg subnet "10.244.$((16 * $1)).0/20" '{cniVersion: "1.0.0", name: "cbr0", plugins: [{type: "bridge", bridge: "cni0",
		isGateway: true, isDefaultGateway: true, ipam: {type: "host-local", ranges: [[{subnet: $subnet}]]}}]}'
}

# multus N: by the node's flavour. containerd reads the first file of the folder.
multus() { "multus_$(flavour "$1")" "$1" "$(cluster_network "$1")"; }

# multus_thin N NETWORK [VERSION]: a plugin that runs the others itself.
multus_thin()
{
	local net_d
	net_d=$(node_root "$1")/etc/cni/net.d
	mkdir -p "$net_d/multus.d" && kubeconfig multus >"$net_d/multus.d/multus.kubeconfig" || return
	jq -n --argjson network "$2" --arg version "${3:-1.1.0}" '{cniVersion: $version, name: "multus-cni-network", type: "multus",
		kubeconfig: "/etc/cni/net.d/multus.d/multus.kubeconfig", logLevel: "error", logFile: "/var/log/multus.log",
		capabilities: {portMappings: true}, delegates: [$network]}' >"$net_d/.new" && mv "$net_d/.new" "$net_d/00-multus.conf"
}

# multus_thick N NETWORK: a shim asks a daemon, which makes 00-multus.conf out of the network that it finds. Not with 1.1.0:
# its answer to STATUS is that an empty CNI_ARGS is invalid (4.2.4), and the node never becomes ready.
multus_thick()
{
	local root secret
	root=$(node_root "$1")
	jq . <<<"$2" >"$root/etc/cni/net.d/10-cbr0.conflist" || return
	jq -n '{chrootDir: "", cniVersion: "1.0.0", logLevel: "error", logToStderr: true, cniConfigDir: "/etc/cni/net.d",
		multusAutoconfigDir: "/etc/cni/net.d", multusConfigFile: "auto", socketDir: "/run/multus/"}' >"$root/etc/multus-daemon.json"
	# Where the kubelet would put what is in a pod's service account.
	secret=/run/secrets/kubernetes.io/serviceaccount
	node "$1" mkdir -p "$secret" && printf 'multus-token' | node "$1" tee "$secret/token" >/dev/null &&
		node "$1" tee "$secret/ca.crt" <"$W/k8s/certs/apiserver.crt" >/dev/null && service "$1" multus-daemon start
}

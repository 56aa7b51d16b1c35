# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# labels.sh: labels of GPUs and HCAs come to the Node, by the real Node Feature Discovery. Sourced by run.sh.
#
# The node has no GPUs. So railctl writes the feature file for captured machines.

FEATURES=/etc/kubernetes/node-feature-discovery/features.d

nfd_begins()
{
	local program
	for program in nfd-master nfd-worker; do
		[ -x "$CLUSTER/bin/$program" ] || skip "$program is not in $CLUSTER: make cluster-programs"
	done
	trap nfd_ends EXIT
	is 'types of Node Feature Discovery' k apply -f "$CLUSTER/node-feature-discovery/nfd-api-crds.yaml"
	is 'they are there' k wait --for=condition=Established crd/nodefeatures.nfd.k8s-sigs.io crd/nodefeaturerules.nfd.k8s-sigs.io "--timeout=${LONG}s"
	NODE_NAME=n1 KUBERNETES_NAMESPACE=$NAMESPACE daemon nfd-master "$CLUSTER/bin/nfd-master" -kubeconfig "$KUBECONFIG" -port 8090
	is 'rights of the worker' node 1 tee /run/nfd.kubeconfig <"$KUBECONFIG"
	mkdir -p "$(node_root 1)$FEATURES"
}
nfd_ends()
{
	kn delete nodefeature --all
	eventually node_labels_are ''
	kill "$(<"$W/k8s/nfd-master.pid")"
	k delete -f "$CLUSTER/node-feature-discovery/nfd-api-crds.yaml"
	rm -r "$(node_root 1)/etc/kubernetes"
	node 1 rm /run/nfd.kubeconfig
}
node_labels() { k get node n1 -o json | jq -r '.metadata.labels | to_entries[] | select(.key | startswith("railhead.io/")) | "\(.key)=\(.value)"' | sort; }
node_labels_are() { [ "$(node_labels)" = "$1" ]; }

# labelled CAPTURE: after a file for this capture, the worker hands on all of its lines, and the Node has them as labels.
labelled()
{
	local file tree want
	file=$(node_root 1)$FEATURES/railhead
	tree=$(mktemp -d -p "$W") && tar -xf "$TOP/topo/testdata/sysfs/$1" -C "$tree" || fail "test error: the capture $1"
	is "railctl topo --labels-out, for $1" "$FROM/railctl" topo --sysfs "$tree" --labels-out "$file"
	want=$(sort "$file")
	is 'nfd-worker' node 1 env NODE_NAME=n1 "KUBERNETES_NAMESPACE=$NAMESPACE" /railhead/bin/nfd-worker -oneshot -kubeconfig /run/nfd.kubeconfig \
		-feature-sources local -label-sources local
	hasnt 'what nfd-worker says' "$(grep -i '^[EW][0-9]' "$W/is")" railhead
	eq "lines that nfd-worker hands on, of $1" "$(kn get nodefeature n1 -o json | jq -r '.spec.labels | to_entries[] | "\(.key)=\(.value)"' | sort)" "$want"
	eventually node_labels_are "$want"
	eq 'labels of the Node' "$(node_labels)" "$want"
}

once_labels_by_node_feature_discovery()
{
	nfd_begins
	labelled hwloc-8ve.tar.bz2
	has 'labels of the Node' "$(node_labels)" 'railhead.io/gpus=8'
	has 'labels of the Node' "$(node_labels)" 'railhead.io/gpu-nic=PIX'
	labelled ghw-linux-amd64-accel-nvidia.tar.gz
	has 'labels of the Node' "$(node_labels)" 'railhead.io/gpus=1'
}

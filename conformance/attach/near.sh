# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# near.sh: the plugin sriov asks the kubelet for the GPUs of a pod. Sourced by run.sh.
#
# There are neither GPUs nor VFs here, so each ADD fails. Its error shows what the plugin learned. ../cluster/gpus.sh asks a real
# kubelet; kubelet.py answers as no real one can be brought to. Its gRPC is not ours.

NEAR_SOCKET=/var/lib/kubelet/pod-resources/kubelet.sock
NEAR_GPU=0000:7f:1f.7
near_gone="\"$NEAR_GPU\": this machine has no such PCI device"

# kubelet WAY [ARG...]: it answers at the socket, until the next one or the end of the case.
kubelet()
{
	[ -x "$BIN/sriov" ] || skip 'no plugin sriov in the folder of programs'
	/usr/bin/python3 -c 'import grpc' 2>/dev/null || skip 'python3-grpcio is not installed'
	stop_kubelet
	trap no_kubelet EXIT
	mkdir -p "${NEAR_SOCKET%/*}"
	rm -f "$NEAR_SOCKET" "$W/kubelet"
	/usr/bin/python3 "$HERE/kubelet.py" "$NEAR_SOCKET" "$@" >"$W/kubelet" 2>&1 &
	KUBELET=$!
	eventually grep -q up "$W/kubelet" || fail "kubelet.py: $(<"$W/kubelet")"
}
stop_kubelet()
{
	[ -z "${KUBELET-}" ] || { kill -KILL "$KUBELET" && wait "$KUBELET"; } 2>/dev/null
	KUBELET=
}
no_kubelet()
{
	stop_kubelet
	rm -rf /var/lib/kubelet
}

near_pod()
{
	need_railhead
	PLUGIN=sriov CARGS='IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=train'
	pod p1
	conf '.resource={pf:["0000:7e:00.0"]} | .near="gpu" | del(.master)'
}

test_near_the_GPU_that_the_kubelet_lists()
{
	near_pod
	kubelet pods 0 amd.com/gpu=$NEAR_GPU nvidia.com/mlnx=0000:3b:00.2
	want_err ADD 7 "kubelet: $near_gone"
	kubelet pods 3000 "amd.com/gpu=$NEAR_GPU-slice-1"
	want_err ADD 7 "kubelet: $near_gone"
	kubelet busy 3 amd.com/gpu=$NEAR_GPU
	want_err ADD 7 "kubelet: $near_gone"
	kubelet pods 2 nvidia.com/mlnx=0000:3b:00.2
	want_err ADD 7 'the kubelet gave the pod default/train no GPU'
	CARGS='K8S_POD_NAMESPACE=default;K8S_POD_NAME=another'
	want_err ADD 11 "$NEAR_SOCKET" 'does not list the pod default/another'
	# A GPU that is named precedes those that the kubelet lists.
	CARGS="$CARGS;GPUS=0000:7f:1f.6"
	want_err ADD 7 'CNI_ARGS: GPUS: "0000:7f:1f.6"'
	want_ok DEL
	audit 'after the errors'
}

test_near_with_a_kubelet_that_does_not_answer()
{
	near_pod
	kubelet closed
	want_err ADD 11 "$NEAR_SOCKET" 'closed the connection' 'is the kubelet running'
	kubelet garbage
	want_err ADD 5 "$NEAR_SOCKET" 'HTTP/2'
	kubelet other
	want_err ADD 5 "$NEAR_SOCKET" UNIMPLEMENTED
	kubelet large
	want_err ADD '5|11' "$NEAR_SOCKET"
	stop_kubelet
	want_err ADD 11 "$NEAR_SOCKET" 'Connection refused'
	rm "$NEAR_SOCKET"
	want_err ADD 11 "$NEAR_SOCKET" 'No such file' railhead.json
	CARGS='K8S_POD_NAMESPACE=default'
	want_err ADD 7 'the GPUs of the pod are unknown'
	want_ok DEL
	audit 'after the errors'
}

# The limit is 5 s for the whole call.
test_near_with_a_silent_kubelet()
{
	local begin=$SECONDS
	near_pod
	kubelet silent
	want_err ADD 11 "$NEAR_SOCKET" 'no answer in time'
	[ $((SECONDS - begin)) -ge 4 ] || fail 'the plugin did not wait'
	want_ok DEL
}

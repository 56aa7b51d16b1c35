# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# claims.sh: prepared claims: attached by the plugin railhead behind a primary network, or by the hook of a container. The driver's
# part is a file that the case writes.

CLAIMS_POD=0b8d1c9e-7f0a-4c5e-9d77-2f1f6c1f0a11
CLAIM_A=11aa0000-0000-4000-8000-00000000000a
CLAIM_B=22bb0000-0000-4000-8000-00000000000b

# claims_here N: N rails (rails_here), and the plugin railhead in a list with a primary network.
claims_here()
{
	rails_here "$1"
	[ -x "$BIN/railhead-hook" ] || skip 'no railhead-hook in the folder of programs'
	PLUGIN=railhead
	CARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=jobs;K8S_POD_NAME=train-0;K8S_POD_UID=$CLAIMS_POD"
	IFN=eth0
	claims_conf
}
claims_conf()
{
	conf 'del(.master) | .name="primary" | .prevResult={"cniVersion":$v,"interfaces":[{"name":"eth0","sandbox":"/x"}],
		"ips":[{"address":"10.1.0.9/24","interface":0}],"theirs":{"key":[1,null]}}' --arg v "$TOP"
}
# claim UID NAME RAILS [FILTER]: a prepared claim with these rails.
claim()
{
	local folder=$RUN/claims/$CLAIMS_POD
	mkdir -p "$folder" && chmod 700 "$RUN/claims" "$folder"
	jq -cn --arg u "$1" --arg n "$2" --argjson r "$3" --arg p "$CLAIMS_POD" --arg v "$TOP" '{version: 1,
		pod: {uid: $p, namespace: "jobs", name: "train-0"}, claim: {uid: $u, namespace: "jobs", name: $n},
		networks: [{cniVersion: $v, name: "railhead-claims", type: "rails", kind: "macvlan", rails: $r, ifname: "rail{n}",
			ipam: {type: "railhead-ipam", pool: "rail{n}"}}]}'" | ${4:-.}" >"$folder/$1.json" || fail 'test error: claim'
	chmod 600 "$folder/$1.json"
}
claims_gone()
{
	eq 'records' "$(recorded)" 0
	eq 'leases' "$(lease_count)" 0
	rm -rf "$RUN/claims" "$RUN/refused"
	rails_gone
}
# The driver's Unprepare, of a claim that the gate attached.
claim_ends()
{
	PLUGIN=rails CID=$CLAIM_A IFN=claim0
	rails_conf '.name="railhead-claims"'
	want_ok DEL
	rm -rf "$RUN/claims/$CLAIMS_POD"
}
attached() { find "$RUN/claims/$CLAIMS_POD" -name '*.result' -size +1c | wc -l; }

# container POD [CGROUP]: the process of a container in the pod's network, and its bundle. BUNDLE, PROCESS.
container()
{
	local of=${2:-/kubepods/burstable/pod$CLAIMS_POD/c1}
	BUNDLE=$W/bundle-$1
	mkdir -p "$BUNDLE"
	nsenter --net="/run/netns/$1" sleep 1000 &
	PROCESS=$!
	until [ "/proc/$PROCESS/ns/net" -ef "/run/netns/$1" ]; do sleep 0.01; done
	jq -cn --arg n "/run/netns/$1" '{ociVersion: "1.0.2", linux: {namespaces: [{type: "mount"}, {type: "network", path: $n}]}}' \
		>"$BUNDLE/config.json"
	printf '12:pids:%s\n0::%s\n' "$of" "$of" >"$BUNDLE/cgroup"
	mount --bind "$BUNDLE/cgroup" "/proc/$PROCESS/cgroup" || fail 'test error: cgroup'
}
container_ends()
{
	umount "/proc/$PROCESS/cgroup"
	kill -KILL "$PROCESS" && wait "$PROCESS" 2>/dev/null
	rm -rf "$BUNDLE"
}
# gate [CLAIM]: the hook of the container. RC, ERR.
gate()
{
	timeout -s KILL "$LIMIT" env -i "PATH=$PATH" "${SANITIZER_ENV[@]}" "$BIN/railhead-hook" --pod "$CLAIMS_POD" --claim "${1:-$CLAIM_A}" \
		<<<"{\"ociVersion\":\"1.0.2\",\"id\":\"c1\",\"status\":\"creating\",\"pid\":$PROCESS,\"bundle\":\"$BUNDLE\"}" >"$W/out" 2>"$W/err"
	RC=$?
	take_output
}
gate_passes()
{
	gate "$@"
	eq "the gate: $ERR" "$RC" 0
	eq 'output of the gate' "$OUT$ERR" ''
}
# gate_fails CODE TEXT [CLAIM]: one line.
gate_fails()
{
	gate "${@:3}"
	eq "the gate: $ERR" "$RC" 1
	eq 'lines' "$(wc -l <"$W/err")" 1
	[[ $ERR == "railhead-hook: $1: node $(hostname): "*"$2"* ]] || fail "the error is not $1 with '$2': $ERR"
}

test_claims_a_pod_without_a_claim()
{
	claims_here 1
	want_ok ADD
	eq 'result' "$(jq -cS . "$W/result")" "$(jq -cS .prevResult "$W/conf")"
	eq 'interfaces' "$(rails_of p1)" ''
	want_ok CHECK DEL DEL GC STATUS
	mkdir -p "$RUN/claims"
	want_ok ADD DEL
	CARGS=
	want_ok ADD DEL
	edit 'del(.prevResult)'
	want_err ADD 7 prevResult 'primary network'
	claims_gone
}

test_claims_the_plugin_attaches()
{
	claims_here 2
	claim $CLAIM_A rails '[0,1]'
	want_ok ADD
	eq 'the result is that of the primary network' "$(jq -cS . "$W/result")" "$(jq -cS .prevResult "$W/conf")"
	eq 'interfaces' "$(rails_of p1)" 'rail0 rail1'
	has_addr p1 rail0 10.80.0.10/24
	has_addr p1 rail1 10.80.1.10/24
	eq 'record' "$(find $RUN/attachments -type f | sed 's,.*/attachments/,,')" "railhead-claims/$CLAIM_A,claim0"
	eq 'pod of the lease' "$("$RAILCTL" ipam lease list --json | jq -rc '[(.leases? // .)[] | .namespace + "/" + .pod] | unique | join(" ")')" \
		jobs/train-0
	eq 'the folder for the pod' "$(stat -c %a "$RUN/claims/$CLAIMS_POD/pod")" 755
	[ -s "$RUN/claims/$CLAIMS_POD/pod/explain.txt" ] || fail 'the pod has no settings'
	want_ok CHECK ADD
	ip -n p1 link set rail1 down
	want_err CHECK 104 'rail 1' jobs/rails
	ip -n p1 link set rail1 up
	want_ok DEL
	eq 'after DEL' "$(rails_of p1)$(recorded)$(lease_count)$(attached)" 000
	[ -e "$RUN/claims/$CLAIMS_POD/$CLAIM_A.json" ] || fail 'the claim is not prepared any more'
	want_ok DEL
	want_err CHECK 104 'not attached'
	claims_gone
}

# The DEL of an old sandbox comes late, and again.
test_claims_a_new_sandbox()
{
	claims_here 2
	claim $CLAIM_A rails '[0,1]'
	want_ok ADD
	pod p2
	want_ok ADD
	eq 'the old sandbox' "$(rails_of p1)" ''
	eq 'the new one' "$(rails_of p2)" 'rail0 rail1'
	use p1
	want_ok DEL DEL
	eq 'the new one after the DEL of the old one' "$(rails_of p2) $(lease_count)" 'rail0 rail1 2'
	NS= want_ok DEL
	use p2
	want_ok CHECK
	# Another attachment of the same sandbox is not the one behind which the claims are.
	IFN=net1 want_ok DEL
	want_ok CHECK
	# Some runtimes do not say at DEL which pod it was.
	CARGS= want_ok DEL
	eq 'after DEL' "$(rails_of p2)" ''
	claims_gone
}

test_claims_the_gate_attaches()
{
	claims_here 2
	claim $CLAIM_A rails '[0,1]'
	container p1
	gate_passes
	eq 'interfaces' "$(rails_of p1)" 'rail0 rail1'
	gate_passes
	# The DEL of a primary network that knows nothing of it.
	want_ok DEL GC
	eq 'interfaces' "$(rails_of p1)" 'rail0 rail1'
	ip -n p1 addr flush dev rail1
	claims_gate_state=$(rails_of p1)
	gate_fails 104 'rail 1'
	eq 'the error is kept' "$(jq -r '"\(.code) \(.claim.uid)"' "$RUN/refused/$CLAIM_A.json")" "104 $CLAIM_A"
	eq 'nothing was set down' "$(rails_of p1)" "$claims_gate_state"
	container_ends
	# A new sandbox of the pod: nothing is chained, and the old one is left.
	pod p2
	container p2 "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod${CLAIMS_POD//-/_}.slice/cri-containerd-1.scope"
	gate_passes
	eq 'both sandboxes' "$(rails_of p1)/$(rails_of p2)" '/rail0 rail1'
	eq 'the error is gone' "$(ls "$RUN/refused")$(cd "$RUN/claims/$CLAIMS_POD" && echo *)" "$CLAIM_A.json $CLAIM_A.result pod"
	container_ends
	# With a chained plugin from here on.
	pod p3
	want_ok ADD
	eq 'all sandboxes' "$(rails_of p2)/$(rails_of p3)" '/rail0 rail1'
	want_ok DEL
	claims_gone
}

test_claims_the_gate_behind_the_plugin()
{
	local was
	claims_here 2
	claim $CLAIM_A rails '[0,1]'
	want_ok ADD
	was=$(ip -n p1 -j link | jq -c '[.[] | [.ifname, .ifindex, .address]]')
	container p1
	gate_passes
	gate_fails 108 'not prepared' $CLAIM_B
	eq 'the error is kept' "$(jq -r '"\(.pod.uid) \(.claim.uid)"' "$RUN/refused/$CLAIM_B.json")" "$CLAIMS_POD $CLAIM_B"
	eq 'interfaces' "$(ip -n p1 -j link | jq -c '[.[] | [.ifname, .ifindex, .address]]')" "$was"
	container_ends
	want_ok DEL
	claims_gone
}

# All or nothing over all claims of the pod.
test_claims_several_of_a_pod()
{
	claims_here 3
	claim $CLAIM_A front '[0]'
	claim $CLAIM_B back '[1,2]'
	want_ok ADD
	eq 'interfaces' "$(rails_of p1)" 'rail0 rail1 rail2'
	want_ok CHECK DEL
	# No such rail: the second claim fails, and the first one is taken back.
	claim $CLAIM_B back '[1,7]'
	want_err ADD 7 'jobs/back' 'no rail 7'
	eq 'nothing' "$(rails_of p1)$(recorded)$(lease_count)$(attached)" 000
	# One that cannot be read: none is attached.
	echo nonsense >"$RUN/claims/$CLAIMS_POD/$CLAIM_B.json"
	want_err ADD 6 "$CLAIM_B.json"
	eq 'nothing' "$(rails_of p1)$(recorded)$(lease_count)$(attached)" 000
	container p1
	gate_fails 6 "$CLAIM_B.json"
	claim $CLAIM_B back '[1,2]'
	chmod 666 "$RUN/claims/$CLAIMS_POD/$CLAIM_B.json"
	gate_fails 106 "$CLAIM_B.json"
	container_ends
	want_ok DEL
	claims_gone
}

# The cgroup shows the pod of a container, and the kernel its network.
test_claims_forgeries()
{
	local other=0b8d1c9e-7f0a-4c5e-9d77-2f1f6c1f0a12
	claims_here 1
	claim $CLAIM_A rails '[0]'
	container p1 "/kubepods/burstable/pod$other/pod$CLAIMS_POD.slice/x"
	gate_fails 106 cgroup
	eq 'the error is of its own pod' "$(jq -r '"\(.pod.uid) \(.claim.name)"' "$RUN/refused/$CLAIM_A.json")" "$other rails"
	container_ends
	container p1 "/kubepods/pod${CLAIMS_POD%?}/c1"
	gate_fails 106 cgroup
	container_ends
	container p1
	pod p2
	edit_bundle() { jq -c "$1" "$BUNDLE/config.json" >"$BUNDLE/new" && mv "$BUNDLE/new" "$BUNDLE/config.json"; }
	edit_bundle '.linux.namespaces[1].path="/run/netns/p2"'
	gate_fails 106 'not in /run/netns/p2'
	edit_bundle 'del(.linux.namespaces[1].path)'
	gate_fails 106 'network of a pod'
	container_ends
	eq 'nothing' "$(rails_of p1)$(rails_of p2)$(recorded)$(lease_count)" 00
	claims_gone
}

# Killed at whatever moment: nothing that the next gate, or the end of the sandbox, does not clean up.
test_claims_a_killed_gate()
{
	local i
	claims_here 2
	claim $CLAIM_A rails '[0,1]'
	container p1
	for i in 1 2 3 5 8 12 17 23 30 40 60; do
		PROGRAM=$BIN/railhead-hook
		timeout -s KILL "0.0$(printf %02d "$i")" env -i "$PROGRAM" --pod "$CLAIMS_POD" --claim $CLAIM_A \
			<<<"{\"pid\":$PROCESS,\"bundle\":\"$BUNDLE\"}" 2>/dev/null
		gate_passes
		eq "interfaces after a kill at $i ms" "$(rails_of p1) $(lease_count) $(recorded)" 'rail0 rail1 2 1'
		container_ends
		# The sandbox ends, the same pod gets another one.
		unpod p1
		pod p1
		container p1
	done
	gate_passes
	container_ends
	claim_ends
	claims_gone
}

# A gate that was stopped has the lock of the pod. The next call ends it.
test_claims_a_stopped_gate()
{
	local holder begun=$SECONDS
	claims_here 1
	fake railhead-ipam <<'SCRIPT'
sleep 1000
SCRIPT
	claim $CLAIM_A rails '[0]'
	CPATH=$FAKE
	cni_to slow ADD &
	eventually test -s "$RUN/claims/$CLAIMS_POD/holder"
	holder=$(<"$RUN/claims/$CLAIMS_POD/holder")
	kill -STOP "$holder"
	CPATH=$BIN
	want_ok DEL
	wait
	[ "$(<"$W/par.slow.rc")" != 0 ] || fail 'the stopped plugin succeeded'
	[ ! -e "/proc/$holder" ] || fail "process $holder lives on"
	[ $((SECONDS - begun)) -lt 40 ] || fail 'it took too long'
	eq 'nothing' "$(rails_of p1)$(attached)" 0
	claims_gone
}

# GC goes by the attachment behind which the claims are, of this network only.
test_claims_gc()
{
	claims_here 1
	claim $CLAIM_A rails '[0]'
	want_ok ADD
	edit ".[\"cni.dev/valid-attachments\"]=[{containerID: \"$CID\", ifname: \"eth0\"}]"
	want_ok GC
	eq 'a valid one' "$(rails_of p1)" rail0
	edit '.["cni.dev/valid-attachments"]=[] | .name="another"'
	want_ok GC
	eq 'of another network' "$(rails_of p1)" rail0
	edit 'del(.["cni.dev/valid-attachments"]) | .name="primary"'
	want_ok GC
	eq 'without a list' "$(rails_of p1)" rail0
	edit '.["cni.dev/valid-attachments"]=[]'
	want_ok GC
	eq 'one that is gone' "$(rails_of p1)$(lease_count)" 0
	claims_gone
}

# The container's process ends while its gate waits for the IPAM.
test_claims_the_gate_ends_with_its_container()
{
	claims_here 1
	claim $CLAIM_A rails '[0]'
	mkdir "$FAKE/bin"
	cp "$BIN/railhead-hook" "$FAKE/bin" # it needs no program rails
	printf '#!/bin/sh\nsleep 1000\n' >"$FAKE/bin/railhead-ipam" && chmod +x "$FAKE/bin/railhead-ipam"
	container p1
	{
		env -i "$FAKE/bin/railhead-hook" --pod "$CLAIMS_POD" --claim $CLAIM_A <<<"{\"pid\":$PROCESS,\"bundle\":\"$BUNDLE\"}" 2>"$W/slow"
		echo $? >"$W/slow.rc"
	} &
	eventually test -s "$RUN/claims/$CLAIMS_POD/holder"
	container_ends
	wait
	eq 'status' "$(<"$W/slow.rc")" 1
	has 'error' "$(<"$W/slow")" 'process of the container has ended'
	container p1
	gate_passes
	container_ends
	claim_ends
	claims_gone
}

# claims_runtime NAME: a container with the hook, in the pod's cgroup: what its first process prints, or the error.
claims_runtime()
{
	local of=/railhead-claims-$$/pod$CLAIMS_POD/c1
	jq -n --arg n "/run/netns/p1" --arg g "$of" --arg h "$BIN/railhead-hook" --arg p "$CLAIMS_POD" --arg c $CLAIM_A '{ociVersion: "1.0.2",
		root: {path: "rootfs"}, process: {user: {uid: 0, gid: 0}, cwd: "/", args: ["/busybox", "ip", "-o", "link"]},
		mounts: [{destination: "/proc", type: "proc", source: "proc"}], hooks: {createRuntime: [{path: $h, args: ["railhead-hook", "--pod", $p, "--claim", $c]}]},
		linux: {cgroupsPath: $g, namespaces: [{type: "mount"}, {type: "pid"}, {type: "network", path: $n}]}}' >"$BUNDLE/config.json"
	(cd "$BUNDLE" && timeout -s KILL "$LIMIT" "$1" --root "$W/oci" run c1) >"$W/out" 2>"$W/err"
	RC=$?
	take_output
}

# The real runtimes: what a container sees of its rails, and that none runs without them.
test_claims_the_hook_of_a_container()
{
	local runtime
	claims_here 2
	BUNDLE=$W/bundle-oci
	mkdir -p "$BUNDLE/rootfs/proc" && cp /bin/busybox "$BUNDLE/rootfs/" || skip 'there is no busybox'
	mount -t cgroup2 claims /sys/fs/cgroup || skip 'there are no control groups of version 2'
	for runtime in runc crun; do
		command -v $runtime >/dev/null || continue
		claim $CLAIM_A rails '[0,1]'
		claims_runtime $runtime
		eq "$runtime with a claim: $ERR" "$RC" 0
		[[ $OUT == *rail0@* && $OUT == *rail1@* ]] || fail "$runtime: the first process does not see the rails: $OUT"
		claim_ends
		claims_runtime $runtime
		[ "$RC" != 0 ] || fail "$runtime: a container without its rails starts"
		eq "$runtime: output of a process that must not run" "$OUT" ''
		[ $runtime = crun ] || has "$runtime: the reason" "$ERR" "railhead-hook: 108: node $(hostname): claim $CLAIM_A of pod $CLAIMS_POD is not prepared"
	done
	rmdir "/sys/fs/cgroup/railhead-claims-$$/pod$CLAIMS_POD" "/sys/fs/cgroup/railhead-claims-$$" 2>/dev/null
	umount /sys/fs/cgroup
	rm -rf "$BUNDLE"
	claims_gone
}

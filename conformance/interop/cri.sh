# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# cri.sh: containerd through its CRI endpoint, as a kubelet uses it. Sourced by run.sh.

CRI=$W/cri
CRI_CALLS=0

# cri COMMAND [ARG...]: see cri.py.
cri()
{
	local name rc=
	name=$BASHPID.$((++CRI_CALLS))
	mkfifo "$CRI/$name"
	# <>: opening does not wait for the other side; reading is bounded.
	exec 8<>"$CRI/$name"
	(IFS=$'\x1f' && echo "$name"$'\x1f'"$*" 1<>"$CRI/commands")
	read -r -t 40 -u 8 rc
	exec 8>&-
	cat "$CRI/$name.out"
	cat "$CRI/$name.err" >&2
	rm -f "$CRI/$name"*
	return "${rc:-1}"
}

# cri_client: unless it runs.
cri_client()
{
	[ ! -d "$CRI" ] || return 0
	mkdir -p "$CRI" "$CRI_PB"
	mkfifo "$CRI/commands"
	/usr/bin/python3 -m grpc_tools.protoc "-I$HERE" "--python_out=$CRI_PB" "$HERE/cri.proto" ||
		fail 'test error: protoc' || return
	setsid "$HERE/cri.py" "$CONTAINERD_ADDRESS" "$CRI" >"$W/log/cri" 2>&1 </dev/null 9>&- &
	# Data that is written before it opened the fifo is lost.
	eventually test -e "$CRI/up"
}

# cri_up [FILTER]: the daemon, with this network read.
cri_up()
{
	cri_client || return
	network "$@"
	containerd_up || return
	is "the runtime must have read network $NET" cri ready "$NET"
}

# cri_run NAME: a pod with a container. Sets POD, CONTAINER and NS.
cri_run()
{
	POD='' CONTAINER=''
	is "pod $1" cri run "$IMAGE" "$1" "uid-$1" || return
	read -r POD CONTAINER <"$W/is"
	NS=$(cri info "$POD" | jq -r '.runtimeSpec.linux.namespaces[] | select(.type == "network") | .path')
}
cri_end() # POD
{
	is stop cri stop "$1"
	is remove cri remove "$1"
}
sandboxes() { cri list | wc -l; }

test_cri_attach()
{
	local pod1 ns1 address1
	cri_up || return
	cri_run a || return
	pod1=$POD ns1=$NS
	address1=$(addresses "$ns1" eth0)
	cri_run b || return
	attached "$ns1" eth0
	attached "$NS" eth0
	eq 'MTU of the chained plugin' "$(link "$NS" eth0 .mtu)" 1400
	eq 'state and address, as the kubelet sees them' "$(cri status "$POD")" "READY $(addresses "$NS" eth0)"
	has 'seen from inside' "$(cri exec "$CONTAINER" ip -o -4 addr show dev eth0)" "$(addresses "$NS" eth0)"
	is 'ping the other pod' cri exec "$CONTAINER" ping -c 1 -W 3 "$address1"
	reach "$ns1" "$(addresses "$NS" eth0)"
	cri_end "$pod1"
	cri_end "$POD"
	no_left_over
}

test_cri_dual_stack()
{
	cri_up '.plugins[0].ipam = {type: "railhead-ipam", pools: ["rails", "rails6"]}' || return
	cri_run a || return
	attached "$NS" eth0
	eq 'addresses, as the kubelet sees them' "$(cri status "$POD")" \
		"READY $(addresses "$NS" eth0) $(addresses "$NS" eth0 inet6)"
	cri_end "$POD"
	no_left_over
}

# Known behaviour of containerd; the plugins must cope with it.
test_cri_calls()
{
	local n d netns
	cri_up || return
	cri_run a || return
	cri_end "$POD"
	eq 'calls of macvlan' "$(commands macvlan)" 'ADD DEL DEL'
	eq 'calls of loopback' "$(commands loopback)" 'ADD DEL DEL'
	n=$(first macvlan ADD)
	netns=$(var "$n" CNI_NETNS)
	like CNI_NETNS "$netns" '/var/run/netns/cni-[-0-9a-f]+'
	eq CNI_CONTAINERID "$(var "$n" CNI_CONTAINERID)" "$POD"
	eq 'keys of CNI_ARGS' "$(arg_keys "$n")" \
		'IgnoreUnknown K8S_POD_INFRA_CONTAINER_ID K8S_POD_NAME K8S_POD_NAMESPACE K8S_POD_UID '
	eq 'name of the pod' "$(arg "$n" K8S_POD_NAME)" a
	eq 'IgnoreUnknown' "$(arg "$n" IgnoreUnknown)" 1
	eq 'CNI_ARGS of the IPAM' "$(var "$(first railhead-ipam ADD)" CNI_ARGS)" "$(var "$n" CNI_ARGS)"
	d=$(first macvlan DEL)
	eq 'CNI_NETNS of the first DEL' "$(var "$d" CNI_NETNS)" "$netns"
	has 'prevResult of the first DEL' "$(input "$d" .prevResult.ips)" 10.77.0.
	eq 'CNI_NETNS of the second DEL' "$(var "$(last macvlan DEL)" CNI_NETNS)" ''
	no_left_over
}

test_cri_stop_and_remove_again()
{
	cri_up || return
	cri_run a || return
	is 'first stop' cri stop "$POD"
	no_left_over
	is 'second stop' cri stop "$POD"
	is 'third stop' cri stop "$POD"
	is 'first remove' cri remove "$POD"
	is 'second remove' cri remove "$POD"
	[ "$(count macvlan DEL)" -ge 4 ] || fail "macvlan was called with: $(commands macvlan)"
	again macvlan
	again railhead-ipam
	no_left_over
}

# The namespace is gone: DEL has only the record.
test_cri_netns_gone()
{
	local d
	cri_up || return
	cri_run a || return
	umount "$NS" && rm -f "$NS"
	cri_end "$POD"
	d=$(first macvlan DEL)
	eq 'CNI_NETNS of the first DEL' "$(var "$d" CNI_NETNS)" ''
	no_left_over
}

test_cri_pool_exhausted()
{
	local pod1 n
	cri_up '.plugins[0].ipam.pool = "one"' || return
	cri_run a || return
	pod1=$POD
	isnt 'a second pod' cri sandbox b uid-b
	has 'what the kubelet is told' "$(<"$W/is")" 'left in pool one'
	# A failed ADD is followed by a DEL of the whole chain, with the namespace there and without prevResult.
	eq 'calls of macvlan' "$(commands macvlan)" 'ADD ADD DEL'
	n=$(last macvlan DEL)
	like 'CNI_NETNS of that DEL' "$(var "$n" CNI_NETNS)" '/var/run/netns/cni-[-0-9a-f]+'
	eq 'prevResult of that DEL' "$(input "$n" .prevResult)" null
	eq 'calls of tuning' "$(commands tuning)" 'ADD DEL'
	eq 'leases' "$(leases)" 10.77.0.200
	again macvlan
	# The kubelet tries again under another container id.
	isnt 'the same pod again' cri sandbox b uid-b
	cri_end "$pod1"
	cri_run b || return
	attached "$NS" eth0
	cri_end "$POD"
	no_left_over
}

test_cri_master_missing()
{
	cri_up '.plugins[0].master = "nope0"' || return
	isnt 'a pod without master' cri sandbox a uid-a
	has 'what the kubelet is told' "$(<"$W/is")" nope0
	eq 'calls of macvlan' "$(commands macvlan)" 'ADD DEL'
	eq 'sandboxes' "$(sandboxes)" 0
	no_left_over
}

# The chain breaks behind macvlan: what macvlan made must go.
test_cri_chain_fails()
{
	cri_up '.plugins[1].mtu = 9000' || return
	isnt 'a pod whose chain fails' cri sandbox a uid-a
	eq 'calls of macvlan' "$(commands macvlan)" 'ADD DEL'
	eq 'the ADD of macvlan' "$(<"$CALLS/$(first macvlan ADD).rc")" 0
	no_left_over
}

test_cri_killed_between()
{
	cri_up || return
	cri_run a || return
	containerd_kill
	attached "$NS" eth0
	containerd_up || return
	is 'the runtime is back' cri ready "$NET"
	eq 'state after the restart' "$(cri status "$POD")" "READY $(addresses "$NS" eth0)"
	is 'exec after the restart' cri exec "$CONTAINER" ping -c 1 -W 3 "$GATEWAY"
	cri_end "$POD"
	no_left_over
}

# The pod dies with the daemon.
test_cri_killed_with_pod()
{
	local pid
	cri_up || return
	cri_run a || return
	pid=$(cri info "$POD" | jq .pid)
	containerd_kill
	for pid in $(pgrep -f '^/usr/bin/containerd-shim') "$pid" $(pgrep -x sleep); do
		kill -KILL "$pid" 2>/dev/null
	done
	eventually no_runtime_processes
	containerd_up || return
	is 'the runtime is back' cri ready "$NET"
	cri_end "$POD"
	no_left_over
}

# containerd is killed during ADD: the plugin finishes, and its result is lost. After its restart containerd 1.6
# knows enough of the sandbox for a DEL, without a prevResult.
test_cri_killed_in_add()
{
	local client pod d
	cri_up || return
	hold macvlan ADD
	cri sandbox a uid-a >/dev/null 2>&1 &
	client=$!
	held
	containerd_kill
	release
	wait "$client"
	eventually no_runtime_processes
	eq 'what railctl sees' "$(attachments)" "$NET eth0 healthy"
	containerd_up || return
	is 'the runtime is back' cri ready "$NET"
	eq 'calls of macvlan, after the restart' "$(commands macvlan)" ADD
	pod=$(var "$(first macvlan ADD)" CNI_CONTAINERID)
	eq 'sandboxes' "$(cri list)" "$pod a NOTREADY"
	cri_end "$pod"
	d=$(first macvlan DEL)
	like 'CNI_NETNS of the DEL' "$(var "$d" CNI_NETNS)" '/var/run/netns/cni-[-0-9a-f]+'
	eq 'prevResult of the DEL' "$(input "$d" .prevResult)" null
	no_left_over
}

# The runtime lost its state, as after a wipe of its disk; it will not call DEL.
test_cri_forgotten()
{
	cri_up || return
	cri_run a || return
	containerd_forget
	eq 'calls of macvlan' "$(commands macvlan)" ADD
	umount "$NS" && rm -f "$NS"
	eq 'what railctl sees' "$(attachments)" "$NET eth0 netns-gone"
	repair
	no_left_over
}

# Pods beside each other, as when a node starts.
test_cri_parallel()
{
	local i pods jobs=()
	cri_up || return
	for i in 1 2 3 4 5 6; do
		cri sandbox "p$i" "uid-$i" >"$W/pod.$i" 2>&1 &
		jobs+=($!)
	done
	wait "${jobs[@]}"
	eq 'different addresses' "$(leases | sort -u | wc -l)" 6
	pods=$(cat "$W"/pod.[1-6])
	jobs=()
	for i in $pods; do
		cri_end_quietly "$i" &
		jobs+=($!)
	done
	wait "${jobs[@]}"
	eq 'sandboxes' "$(sandboxes)" 0
	no_left_over
}
cri_end_quietly() { cri stop "$1" && cri remove "$1"; }

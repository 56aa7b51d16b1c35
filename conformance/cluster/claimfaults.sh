# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# claimfaults.sh: rails by resource claims when something is wrong, or unusual. Sourced by run.sh; claims_up and others are of resourceclaims.sh.

# with_claim NAME [FILTER]: a pod whose container has a claim of its own, by a template.
with_claim()
{
	kn apply -f - >/dev/null <<<'{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": "rails"},
		"spec": {"spec": {"devices": {"requests": [{"name": "rails", "exactly": {"deviceClassName": "'$CLASS'"}}]}}}}' || fail 'test error: template'
	counting "$1" 'del(.spec.containers[0].resources.limits) | .spec.resourceClaims = [{name: "r", resourceClaimTemplateName: "rails"}]
		| .spec.containers[0].resources.claims = [{name: "r"}] | '"${2-.}"
}
# claim NAME: one that pods name.
claim()
{
	kn apply -f - >/dev/null <<<'{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "'"$1"'"},
		"spec": {"devices": {"requests": [{"name": "rails", "exactly": {"deviceClassName": "'$CLASS'"}}]}}}' || fail "test error: claim $1"
}
OF_CLAIM='.spec.resourceClaims = [{name: "r", resourceClaimName: "mine"}]'
# whole NAME...: the first process of each saw all rails.
whole()
{
	local p
	running "$@"
	# The API server has a connection to a kubelet that has started again meanwhile.
	for p; do
		eventually kn logs "$p" -c c
		eq "what the first process of $p saw" "$(saw "$p")" "$ALL_RAILS"
	done
}
all_gone()
{
	kn delete pod --all --wait --timeout=${LONG}s >/dev/null 2>&1
	eventually nothing_of_claims || fail "left: $(<"$W/is") $(leases 1 | xargs) $(records 1 | xargs)"
}
eight_leases() { [ "$(leases 1 | wc -l)" = 8 ]; }
# starts NAME N: its first container has started again N times at least, and is ready.
starts() { kn get pod "$1" -o json | jq -e ".status.containerStatuses[0] | .restartCount >= $2 and .ready"; }
claim_file() { echo "$CLAIMS/$(uid "$1")/$(kn get resourceclaim -o json | jq -r --arg p "$1" '.items[] | select(.status.reservedFor[0].name == $p) | .metadata.uid').$2"; }

# Each container with the claim has the rails; those without it start as always: the first one of the pod, a sidecar, an ephemeral one.
once_rails_of_all_kinds_of_containers()
{
	claims_up
	with_claim a '.spec.initContainers = [
		(.spec.containers[0] | .name = "first" | del(.resources) | .command = ["/bin/ls", "/sys/class/net"]),
		(.spec.containers[0] | .name = "init" | .command[2] |= sub("sleep.*"; "")),
		(.spec.containers[0] | .name = "side" | .restartPolicy = "Always"),
		(.spec.containers[0] | .name = "bare" | del(.resources) | .restartPolicy = "Always" | .command = ["/bin/sleep", "1000000"])]'
	whole a
	eq 'the init container' "$(saw a init)" "$ALL_RAILS"
	eq 'the sidecar' "$(saw a side)" "$ALL_RAILS"
	isnt 'the folder in the bare sidecar' kn exec a -c bare -- ls /run/railhead
	is 'an ephemeral container' kn debug a --image="$IMAGE" -c e --image-pull-policy=Never -- /bin/sleep 1000000
	eventually kn exec a -c e -- ls /sys/class/net/rail7
	isnt 'the folder in the ephemeral container' kn exec a -c e -- ls /run/railhead
	all_gone
}

# shows_rails NAME: the status of the pod's claim has its eight addresses.
shows_rails() { [ "$(kn get resourceclaim -o json | jq --arg p "$1" '[.items[] | select(.status.reservedFor[0].name == $p) | .status.devices[]? | .networkData.ips[]] | length')" = 8 ]; }

# Root of the pod is another user of the node. The gate attaches, and writes the link of NCCL.
once_rails_of_a_pod_with_a_user_namespace()
{
	claims_up
	counting a '.spec.hostUsers = false | .spec.containers[0].command[2] |= sub("trap"; "cat /proc/self/uid_map; trap")'
	whole a
	isnt 'root of the pod is root of the node' test "$(kn logs a | awk '$1 == 0 && NF == 3 { print $2 }')" = 0
	is 'its folder' kn exec a -- cat /run/railhead/rails.json
	isnt 'it can be written' kn exec a -- sh -c ': >/run/railhead/rails.json'
	is 'the file of NCCL' kn exec a -- cat /etc/nccl.conf
	is 'railctl' kn exec a -- $IN_POD version
	ends a
	eventually starts a 1
	all_gone
}

# A claim is one pod's. The kubelet does not tell the driver of the second pod, so its gate refuses.
once_rails_of_a_second_pod()
{
	claims_up
	claim mine
	with_claim a "$OF_CLAIM"
	whole a
	with_claim b "$OF_CLAIM"
	event b 'is not in the cgroup of pod'
	eq 'logs of b' "$(kn logs b 2>/dev/null)" ''
	eq 'leases' "$(leases 1 | wc -l)" 8
	# The driver cannot write the status of that claim again. It writes those of the other pods.
	is 'the statuses are to be written' node 1 rm -r /run/railhead/shown
	counting c
	counting d
	whole c d
	eventually shows_rails c
	eventually shows_rails d
	delete b c d
	ends a
	eventually starts a 1
	delete a
	# The same name, another claim.
	is 'the claim goes' kn delete resourceclaim mine --wait
	claim mine
	with_claim b "$OF_CLAIM"
	whole b
	all_gone
}

# The pod and its claim go by force while no driver is there, and come again with the same names.
once_rails_of_a_claim_made_again()
{
	claims_up
	claim mine
	with_claim a "$OF_CLAIM"
	whole a
	service 1 railhead-devices kill
	is 'the pod goes by force' kn delete pod a --force --grace-period=0
	is 'the claim goes' kn delete resourceclaim mine --wait
	claim mine
	with_claim a "$OF_CLAIM"
	driver_starts
	whole a
	eventually eight_leases
	all_gone
}

# Pods in the network of the node have no rails. The gate refuses.
once_rails_of_the_host_network()
{
	claims_up
	counting a '.spec.hostNetwork = true'
	event a 'rails are for pods without hostNetwork'
	eq 'logs' "$(kn logs a 2>/dev/null)" ''
	all_gone
}

# The scheduler allocates. A policy refuses a pod that names its node. With a capacity of 0 the kubelet itself refuses one that came past
# the scheduler, and pods of the scheduler start as before.
once_rails_past_the_scheduler()
{
	claims_up
	manifest a '' "$ONE_LINE" | isnt 'a pod that names its node is accepted' kn create -f -
	has 'why' "$(<"$W/is")" 'the scheduler allocates rails of railhead.io'
	is 'the policy goes' k delete validatingadmissionpolicybinding railhead-scheduled-pods
	is 'a capacity' k patch node n1 --subresource=status --type=merge -p '{"status": {"capacity": {"railhead.io/rails": "0"}}}'
	eventually allocates_none
	eventually policy_is_gone
	event b 'enough resource: railhead.io/rails'
	counting c
	whole c
	all_gone
	is 'no capacity' k patch node n1 --subresource=status --type=merge -p '{"status": {"capacity": {"railhead.io/rails": null}}}'
}
ONE_LINE='.spec.containers[0].resources.limits = {"railhead.io/rails": "1"}'
allocates_none() { [ "$(k get node n1 -o json | jq -r '.status.allocatable["railhead.io/rails"]')" = 0 ]; }
policy_is_gone() { manifest b '' "$ONE_LINE" | kn create -f -; }

# A claim that no container has, so that no gate would look after its rails.
once_rails_of_no_container()
{
	claims_up
	with_claim a 'del(.spec.containers[0].resources.claims)'
	event a 'no container of the pod has the claim'
	eq 'logs' "$(kn logs a 2>/dev/null)" ''
	eq 'leases' "$(leases 1)" ''
	all_gone
}

# A RuntimeClass may stand for a runtime that executes no gate. The class lists crun alone.
once_rails_of_another_runtime()
{
	claims_up
	k apply -f - >/dev/null <<<'{"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "sandboxed"}, "handler": "runc"}' ||
		fail 'test error: RuntimeClass'
	counting a '.spec.runtimeClassName = "sandboxed"'
	event a 'its device class does not allow the RuntimeClass sandboxed'
	eq 'leases' "$(leases 1)" ''
	all_gone
	k delete runtimeclass sandboxed >/dev/null
}

# --- files -------------------------------------------------------------------------------------

# The CDI file is removed, or another one, while the pod runs: the driver writes it again, and the container starts with its rails.
once_rails_and_the_cdi_file()
{
	local file
	claims_up
	counting a
	whole a
	file=$(node 1 sh -c 'ls /run/cdi/*railhead.io*claim*')
	is 'the file goes' node 1 rm "$file"
	ends a
	eventually starts a 1
	is 'a file without the gate' node 1 sh -c "sed 's/\"hooks\":\[.*\],\"mounts\"/\"mounts\"/' $file >/run/x && ! grep hooks /run/x && mv /run/x $file"
	eventually node 1 grep -q hooks "$file"
	ends a
	eventually starts a 2
	eq 'what it saw' "$(saw a)" "$ALL_RAILS"
	all_gone
}

# A damaged or lost file of a claim: no container starts with it, and all is free with the pod's end, also if nothing was attached.
once_rails_of_a_damaged_claim()
{
	claims_up
	counting a
	whole a
	is 'it is damaged' node 1 sh -c "echo '{' >$(claim_file a json)"
	ends a
	event a 'claims/'
	isnt 'it is ready' ready_again a
	all_gone
	slow_gate 20
	counting b
	eventually a_gate
	is 'it is damaged' node 1 sh -c "echo '{' >$(claim_file b json)"
	event b 'claims/'
	eq 'leases' "$(leases 1 | wc -l)" 8
	delete b
	eventually nothing_of_claims || fail "left: $(<"$W/is")"
	counting c
	eventually a_gate
	is 'it is removed' node 1 rm "$(claim_file c json)"
	event c 'is not prepared'
	eq 'leases' "$(leases 1 | wc -l)" 8
	is 'the gate is back' node 1 mv /opt/cni/bin/hook.real /opt/cni/bin/railhead-hook
	all_gone
}

# --- programs ----------------------------------------------------------------------------------

# The gate is stopped, its runtime and shim are killed, and the pod goes. When the gate goes on, it attaches nothing. A gate that is stopped
# with the lock of the pod has a case in conformance/attach.
once_rails_of_a_gate_that_hangs()
{
	local pids
	claims_up
	slow_gate 3
	counting a
	eventually a_gate
	pids=$(a_gate | xargs)
	# shellcheck disable=SC2086 # numbers
	is "the gate $pids stops" node 1 kill -STOP $pids
	is 'the runtime dies' node 1 sh -c 'kill -KILL $(pgrep -x "runc|crun") $(pgrep containerd-shim); true'
	delete a
	node 1 sh -c "kill -CONT $pids" 2>/dev/null
	eventually no_gate
	eventually nothing_of_claims || fail "left: $(<"$W/is")"
	counting b
	whole b
	all_gone
}
# slow_gate SECONDS: as if it took so long
slow_gate()
{
	is 'a slow gate' node 1 sh -c 'cd /opt/cni/bin && mv railhead-hook hook.real && printf "#!/bin/sh\nsleep '"$1"'\nexec /opt/cni/bin/hook.real \"\$@\"\n" >railhead-hook &&
		chmod 755 railhead-hook'
}
a_gate() { node 1 pgrep -x railhead-hook; }
no_gate() { [ -z "$(node 1 pgrep -x 'railhead-hook|hook.real')" ]; }

# A card is away between Prepare and the gate, which waits for it.
once_rails_of_a_card_that_comes_back()
{
	claims_up
	slow_gate 3
	counting a
	eventually a_gate
	is 'the card goes' node 1 ip link set eth5 down name away5
	eventually node 1 pgrep -x hook.real
	is 'the card comes back' node 1 ip link set away5 name eth5 up
	whole a
	eq 'restarts' "$(kn get pod a -o json | jq '.status.containerStatuses[0].restartCount')" 0
	# It stays away: the container starts when it is back.
	counting b
	eventually a_gate
	is 'the card goes' node 1 ip link set eth5 down name away5
	eventually refusal_told b
	has 'the Event' "$(kn get events -o json | jq -r '.items[] | select(.reason == "RailsMissing").message')" 'rail 4'
	eq 'what a process of b said' "$(kn logs b 2>/dev/null)" ''
	is 'the card comes back' node 1 ip link set away5 name eth5 up
	whole b
	all_gone
}

# An operator stops the driver. Pods go on, and their containers start again. A new pod waits, its Event says why, and the end of a pod waits, too.
# Meanwhile the card of a rail goes: between allocation and Prepare.
once_rails_while_the_driver_is_stopped()
{
	claims_up
	counting a
	counting b
	whole a b
	service 1 railhead-devices stop
	counting c
	event c 'DRA driver railhead.io is not registered'
	ends a
	eventually starts a 1
	eq 'what it saw' "$(saw a)" "$ALL_RAILS"
	is 'b is deleted' kn delete pod b --wait=false
	is 'a card goes' node 1 ip link set eth5 down name away5
	driver_starts
	event c 'rail 4'
	is 'the card comes back' node 1 ip link set away5 name eth5 up
	whole c
	is 'b is gone' kn wait --for=delete pod/b --timeout=${LONG}s
	all_gone
}

# A second driver on the node, as of the chart beside that of systemd: it says so, and ends. One with a folder /run/railhead of its own says that
# another process listens, and writes no slices.
once_rails_and_a_second_driver()
{
	claims_up
	isnt 'a second driver runs' second_driver true
	has 'why' "$(<"$W/is")" 'another device plugin runs on this node'
	jq '.claims.groups = {z: [0, 1]}' "$(node_root 1)/etc/railhead/agent.json" >"$(node_root 1)/etc/railhead/second.json" || fail 'test error: its configuration'
	second_driver 'mount -t tmpfs -o mode=755 none /opt/railheadd/run/railhead' --config /etc/railhead/second.json >"$W/second" 2>&1 &
	eventually grep 'another process listens there; it is left alone' "$W/second" || fail "it says: $(<"$W/second")"
	counting a
	whole a
	eq 'groups in slices' "$(slices '[.[].attributes.group // empty]')" '[]'
	is 'it ends' node 1 sh -c 'kill "$(cat /run/second.pid)"; rm /etc/railhead/second.json'
	wait
	all_gone
}
# second_driver COMMAND [OPTION...]: in the files of the first one, after this command
second_driver()
{
	# shellcheck disable=SC2016 # of the inner shells
	node 1 sh -c 'echo $$ >/run/second.pid; exec nsenter -m -t "$(cat /run/railhead-node/railhead-devices.pid)" unshare -m sh -c "$1; shift; exec chroot /opt/railheadd \
		/usr/local/sbin/railhead-devices \"\$@\"" sh "$@"' sh "$@"
}

# No CDI file can be written: the pod waits with an Event.
once_rails_without_a_cdi_folder()
{
	claims_up
	is 'a folder that cannot be written' node 1 sh -c 'mkdir -p /run/cdi && mount -t tmpfs -o ro none /run/cdi'
	counting a
	event a 'the CDI file'
	eq 'leases' "$(leases 1)" ''
	is 'the folder is back' node 1 umount /run/cdi
	whole a
	all_gone
}

# The API server is away for the driver alone, which has another port of it: at Prepare, and at Unprepare. Slices that are deleted meanwhile
# come back at the next look of the driver, which is every minute.
once_rails_without_the_api_server()
{
	claims_up
	kubeconfig agent1 | sed 's/:6443/:6444/' >"$(node_root 1)/etc/railhead/kubeconfig"
	api_comes
	service 1 railhead-devices kill
	driver_starts
	api_goes
	counting a
	event a 'Kubernetes: cannot get resourceclaims'
	eq 'logs' "$(kn logs a 2>/dev/null)" ''
	is 'the slices go' k delete resourceslice --field-selector spec.driver=railhead.io
	api_comes
	whole a
	api_goes
	all_gone
	api_comes
	PATIENCE=100 eventually rails_published 1
	counting b
	whole b
	all_gone
	api_goes
}
api_comes()
{
	node 1 nft -f - >"$W/is" 2>&1 <<<'table ip api { chain out { type nat hook output priority -100; ip daddr 10.77.0.1 tcp dport 6444 dnat to 10.77.0.1:6443; }; }' ||
		fail "the API server comes: $(<"$W/is")"
}
api_goes() { is 'the API server goes' node 1 nft delete table ip api; }

# Kubelet, runtime, agent and driver are killed under pods. After each a container starts again with its rails. With its shim
# a pod loses its sandbox, and the next one has rails again, with other addresses.
once_rails_and_programs_that_come_again()
{
	local who before
	claims_up
	for who in kubelet containerd railheadd railhead-devices; do counting "$who"; done
	whole kubelet containerd railheadd railhead-devices
	before=$(leases 1)
	for who in kubelet containerd railheadd railhead-devices; do
		restart "$who"
		ends "$who"
		eventually starts "$who" 1
		eq "after $who" "$(saw "$who")" "$ALL_RAILS"
	done
	eq 'addresses' "$(leases 1)" "$before"
	is 'the shims die' node 1 sh -c 'kill -KILL $(pgrep containerd-shim); true'
	for who in kubelet containerd railheadd railhead-devices; do
		eventually starts "$who" 2
		eq "after the shim" "$(saw "$who")" "$ALL_RAILS"
	done
	all_gone
}

# The programs of a node become those of another build, in three orders, under pods. After each step a container of before starts again with its rails,
# a new pod starts, and an older one ends.
once_rails_and_an_upgrade_in_any_order()
{
	local part n=0
	claims_up
	trap 'claims_down; node_plugins 1; rm -rf "$W/next"' EXIT
	next_build || fail 'test error: another build'
	counting p0
	whole p0
	for part in driver folder agent folder agent driver agent driver folder; do
		become "$part" $((n / 3 % 2))
		ends p$n
		eventually starts p$n 1
		eq "step $n, $part: p$n" "$(saw p$n)" "$ALL_RAILS"
		counting p$((n + 1))
		whole p$((n + 1))
		[ $n = 0 ] || is "p$((n - 1)) ends" kn delete pod p$((n - 1)) --wait --timeout=${LONG}s
		n=$((n + 1))
	done
	all_gone
}
# become driver|folder|agent N: on n1, of the other build (0) or of the first one (1)
become()
{
	local from=$FROM root p
	[ "$2" = 1 ] || from=$W/next/bin
	root=$(node_root 1)
	case $1 in
	folder) for p in railhead railhead-hook railctl macvlan railhead-ipam; do put "$from/$p" "$root/opt/cni/bin/$p" || fail "test error: $p"; done ;;
	driver)
		service 1 railhead-devices stop
		put "$from/railhead-devices" "$root/opt/railheadd/usr/local/sbin/railhead-devices" || fail 'test error: the driver'
		driver_starts
		;;
	agent)
		service 1 railheadd stop
		put "$from/railheadd" "$root/opt/railheadd/usr/local/sbin/railheadd" || fail 'test error: the agent'
		is 'the agent' service 1 railheadd start
		;;
	esac
}
put() { cp "$1" "$2.new" && mv "$2.new" "$2"; }

# The power goes: the folder of claims, CDI files and records are in memory. One pod is gone when the node comes back.
once_rails_after_a_power_cut()
{
	local boot
	claims_up
	counting a
	counting b
	whole a b
	boot=$(NODE=1 boot_id)
	node_down 1
	kn delete pod b --force --grace-period=0 --wait=false >/dev/null 2>&1
	is 'the node comes up' node_up 1 || exit
	is 'Multus comes up' multus 1
	eq 'folder of claims' "$(node 1 ls $CLAIMS 2>/dev/null)" ''
	is 'the agent comes up' service 1 railheadd start
	is 'the driver comes up' service 1 railhead-devices start
	is 'the kubelet comes up' service 1 kubelet start
	eventually another_boot "$boot"
	restarted a
	whole a
	eventually eight_leases
	all_gone
}

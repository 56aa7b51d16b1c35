# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# slots.sh: rails by one line in the pod without claims of Kubernetes: the device plugin gives a slot, and the gate attaches. Sourced by run.sh.
#
# There is no driver and no class. Pods are those of resourceclaims.sh. The scheduler places them, or the pod names its node.

SLOTS=/run/railhead/slots

# slots_up [KEYS]: rails 0 to 7 of n1 with a pool each, and four slots. KEYS: more keys of the resource, as a JSON object.
slots_up()
{
	local i root keys=${1-}
	root=$(node_root 1)
	BY_CLAIM=no
	trap slots_down EXIT
	cp "$FROM/railhead" "$FROM/railhead-hook" "$FROM/railctl" "$root/opt/cni/bin" && cp "$FROM/rdma-probe-static" "$root/opt/cni/bin/rdma-probe" &&
		mkdir -p "$root/etc/railhead/resources.d" || fail 'test error: programs'
	cp "$TOP/examples/rails/rails.json" "$root/etc/railhead/rails.json" || fail 'test error: rails.json'
	for i in 0 1 2 3 4 5 6 7; do
		pool 1 "rail$i" --subnet "10.2$i.0.0/16" --range "10.2$i.1.0/24"
	done
	jq -n --argjson pools "$RAIL_POOLS" --argjson keys "${keys:-null}" '{interval: 1, resources: [
		{name: "railhead.io/rails", share: 4, network: {kind: "macvlan", ipam: $pools}} + $keys]}' >"$root/etc/railhead/resources.d/rails.json"
	agent 1 '{}'
	is 'the device plugin' service 1 railhead-devices start
	eventually slots_offered 4
}
slots_offered() { k get node n1 -o json | jq -e --arg n "$1" '.status.allocatable["railhead.io/rails"] == $n'; }
slots_down()
{
	kn delete pod --all --grace-period=1 --wait --timeout=${LONG}s >/dev/null 2>&1
	eventually nothing_of_slots || fail "left of slots: $(<"$W/is")"
	multus_thin 1 "$(cluster_network 1)"
	service 1 railhead-devices stop
	service 1 railheadd stop
	rm -rf "$(node_root 1)"/etc/railhead/{agent.json,rails.json,resources.d} "$(node_root 1)"/opt/cni/bin/{railhead,railhead-hook,railctl,rdma-probe}
	node 1 rm -rf /run/cdi $SLOTS
}
# nothing_of_slots: neither a claim nor settings of a pod with rails are left on n1. Folders and programs in them are the device plugin's.
nothing_of_slots()
{
	node 1 sh -c "ls $CLAIMS 2>/dev/null | grep -v '^lock$'; find $SLOTS/rails-* -type f ! -name railctl ! -name rdma-probe" >"$W/is"
	[ ! -s "$W/is" ] && [ -z "$(leases 1)" ] && [ -z "$(records 1)" ] && [ "$(interfaces 1)" = '[]' ]
}
slots_taken() { node 1 sh -c "ls $CLAIMS/*/ | sed -n 's/.*-\(rails-[0-9]*\)[.]json/\1/p'" | sort -u; }

# quick: thin
once_slots_by_one_line()
{
	slots_up '{"variables": ["UCX_CONFIG_DIR"]}'
	counting a
	counting b '.spec.securityContext = {"runAsUser": 1000} | .spec.containers[0].securityContext = {"readOnlyRootFilesystem": true}'
	running a b
	eq 'what the first process saw' "$(saw a)" "$ALL_RAILS"
	eq 'as another user' "$(saw b)" "$ALL_RAILS"
	eq 'leases' "$(leases 1 | sort -u | wc -l)" 16
	eq 'slots' "$(slots_taken | wc -l)" 2
	has 'who has the address' "$(node 1 railctl ipam who "$(leases 1 | head -n 1)")" "$NAMESPACE/"
	is 'the folder of the pod' kn exec a -- ls /run/railhead/nccl.conf /run/railhead/rails.json /etc/nccl.conf
	isnt 'it can be written' kn exec a -- sh -c ': >/run/railhead/nccl.conf'
	eq 'the variable' "$(kn exec a -- sh -c 'echo "$UCX_CONFIG_DIR"')" /run/railhead
	has 'railctl looks' "$(kn exec b -- $IN_POD rdma check 2>&1)" 'this kernel has no RDMA'
	has 'rdma-probe looks' "$(kn exec b -- /run/railhead/rdma-probe list 2>&1)" 'RDMA'
	delete a
	eventually slots_have_addresses 8
	is 'b stays' ready_again b
	delete b
	eventually nothing_of_slots || fail "left: $(<"$W/is")"
}
slots_have_addresses() { [ "$(leases 1 | wc -l)" = "$1" ]; }

# A container that ends starts again in the same namespace, with the same addresses, also after the device plugin and the configuration
# have changed. The next sandbox of the pod has all rails, too.
once_slots_of_a_container_that_restarts()
{
	local before
	slots_up
	counting a
	running a
	before=$(leases 1)
	service 1 railhead-devices kill
	ends a
	eventually restarts_once a
	eq 'addresses' "$(leases 1)" "$before"
	eq 'what the new process saw' "$(saw a)" "$ALL_RAILS"
	node 1 sed -i 's/"macvlan"/"macvlan", "mtu": 1400/' /etc/railhead/resources.d/rails.json
	is 'the device plugin' service 1 railhead-devices start
	eventually slots_say 1400
	counting b
	running b
	eq 'what b saw' "$(saw b)" "$ALL_RAILS"
	ends a
	eventually restarts_twice a
	eq 'what the third process saw' "$(saw a)" "$ALL_RAILS"
	has 'its interfaces' "$(inside a ip link show rail3)" 'mtu 1500'
	has 'those of b' "$(inside b ip link show rail3)" 'mtu 1400'
}
slots_say() { node 1 sh -c "cat /run/cdi/*rails_0.json" | grep -q "$1"; }
restarts_twice() { kn get pod "$1" -o json | jq -e '.status.containerStatuses[0] | .restartCount == 2 and .ready'; }

# Without the gate's program no container starts. With it the same pod goes on. A configuration that is wrong is said in the pod's Events.
once_slots_need_the_gate()
{
	slots_up
	is 'the gate is gone' node 1 mv /opt/cni/bin/railhead-hook /opt/cni/bin/railhead-hook.away
	counting a
	event a railhead-hook
	eq 'what a process said' "$(kn logs a 2>/dev/null)" ''
	is 'the gate is back' node 1 mv /opt/cni/bin/railhead-hook.away /opt/cni/bin/railhead-hook
	running a
	eq 'what the first process saw' "$(saw a)" "$ALL_RAILS"
	counting b '.spec.containers += [(.spec.containers[0] | .name = "d")]'
	event b 'another container of the pod has the rails'
	counting c '.spec.hostNetwork = true'
	event c 'rails are for pods without hostNetwork'
	delete b c
	counting d '.spec.containers[0].resources.limits = {"railhead.io/rails": "2"}'
	event d '1 is all that it can have'
}

# Four pods have a slot each, and the fifth waits. An init container hands its slot on.
once_slots_that_are_taken()
{
	local i
	slots_up
	for i in 1 2 3; do counting "p$i"; done
	counting p4 '.spec.initContainers = [(.spec.containers[0] | .name = "i" | .command[2] |= sub("; trap.*"; ""))]'
	running p1 p2 p3 p4
	for i in 1 2 3 4; do eq "what p$i saw" "$(saw "p$i")" "$ALL_RAILS"; done
	eq 'what the init container saw' "$(saw p4 i)" "$ALL_RAILS"
	eq 'slots' "$(slots_taken | tr '\n' ' ')" 'rails-0 rails-1 rails-2 rails-3 '
	eq 'leases' "$(leases 1 | sort -u | wc -l)" 32
	counting p5
	event p5 'Insufficient railhead.io/rails'
	delete p2
	running p5
	eq 'what p5 saw' "$(saw p5)" "$ALL_RAILS"
}

# The DEL of the chained plugin frees at once, without the device plugin. A pod that has ended frees, too.
once_slots_end_by_the_chained_plugin()
{
	slots_up
	is 'the entry' multus_thin 1 "$(cluster_network 1 | jq -c '.plugins += [{type: "railhead"}]')"
	counting a
	counting b '.spec.restartPolicy = "Never" | .spec.containers[0].command[2] |= sub("; trap.*"; "")'
	running a
	eventually slots_ended b
	eventually slots_have_addresses 8
	service 1 railhead-devices kill
	delete a
	eq 'leases' "$(leases 1)" ''
	eq 'records' "$(records 1)" ''
	is 'the device plugin' service 1 railhead-devices start
}
slots_ended() { [ "$(kn get pod "$1" -o jsonpath='{.status.phase}')" = Succeeded ]; }

# Device plugin and gate are killed while pods start. The pods end while the device plugin is away.
once_slots_while_programs_die()
{
	local i
	slots_up
	for i in 1 2 3 4; do counting "p$i"; done
	for i in 1 2 3; do
		node 1 sh -c 'for f in /proc/[0-9]*/exe; do case $(readlink "$f") in */railhead-hook) f=${f#/proc/}; kill -KILL "${f%/exe}" ;; esac; done'
		service 1 railhead-devices kill
		is 'the device plugin' service 1 railhead-devices start
	done
	running p1 p2 p3 p4
	for i in 1 2 3 4; do eq "what p$i saw" "$(saw "p$i")" "$ALL_RAILS"; done
	eq 'leases' "$(leases 1 | sort -u | wc -l)" 32
	service 1 railhead-devices kill
	delete p1 p2
	is 'the device plugin' service 1 railhead-devices start
	eventually slots_have_addresses 16
}

# After a power cut /run is empty. The kubelet starts the pod again and does not ask for its slot once more.
once_slots_after_a_power_cut()
{
	local boot
	slots_up
	counting a
	running a
	boot=$(NODE=1 boot_id)
	node_down 1
	is 'the node comes up' node_up 1 || exit
	is 'Multus comes up' multus 1
	is 'the agent comes up' service 1 railheadd start
	is 'the device plugin comes up' service 1 railhead-devices start
	is 'the kubelet comes up' service 1 kubelet start
	eventually another_boot "$boot"
	restarted a
	eventually saw_all a
	eq 'leases' "$(leases 1 | wc -l)" 8
}
saw_all() { [ "$(saw "$1" 2>/dev/null)" = "$ALL_RAILS" ]; }

# Multus attaches the rails, and a resource without rails gives the folder of settings. The first process reads them.
once_slots_of_settings_beside_multus()
{
	slots_up
	jq -n '{interval: 1, resources: [{name: "railhead.io/settings", share: 2, settings: true, variables: ["UCX_CONFIG_DIR"]}]}' \
		>"$(node_root 1)/etc/railhead/resources.d/settings.json"
	nad all "$(jq -cn --argjson ipam "$RAIL_POOLS" '{cniVersion: "1.1.0", name: "all", type: "rails", kind: "macvlan", ipam: $ipam}')"
	eventually settings_offered
	pod a all '.spec.containers[0].resources.limits = {"railhead.io/settings": "1"} | .spec.securityContext = {"runAsUser": 1000}
		| .spec.containers[0].command = ["/bin/sh", "-c", "[ ! -s /run/railhead/rails.json ] || echo rails: settings; trap exit TERM; sleep 1000000 & wait"]'
	running a
	eventually saw_settings a
	has 'why there are none' "$(kn exec a -- cat /run/railhead/explain.txt)" 'this kernel has no RDMA'
	is 'the files' kn exec a -- ls /run/railhead/nccl.conf /run/railhead/ucx.conf /run/railhead/env /run/railhead/explain.txt /etc/nccl.conf
	has 'railctl looks' "$(kn exec a -- $IN_POD rdma check 2>&1)" 'this kernel has no RDMA'
	has 'rdma-probe looks' "$(kn exec a -- /run/railhead/rdma-probe list 2>&1)" 'RDMA'
	eq 'the variable' "$(kn exec a -- sh -c 'echo "$UCX_CONFIG_DIR"')" /run/railhead
	pod h '' '.spec.hostNetwork = true | .spec.containers[0].resources.limits = {"railhead.io/settings": "1"}'
	running h
	eq 'files in the network of the host' "$(kn exec h -- ls /run/railhead | xargs)" 'railctl rdma-probe'
	delete a h
	eventually slots_have_addresses 0
}
saw_settings() { [ "$(saw "$1")" = 'rails: settings' ]; }
settings_offered() { k get node n1 -o json | jq -e '.status.allocatable["railhead.io/settings"] == "2"'; }

# The container of the DaemonSet has what it needs: it offers the rails, and sees from there that a pod has ended.
once_slots_of_the_chart()
{
	local n BY_CLAIM=no
	chart_begins "claims: {enabled: false, classes: null, groups: null}
devicePlugin: {enabled: true, rails: {railhead.io/rails: {share: 4, network: {kind: macvlan, ipam: {pool: 'rail{n}-*'}}}}}" || return
	trap chart_ends EXIT
	for n in $NODES; do
		mkdir -p "$(node_root "$n")/etc/railhead" && cp "$TOP/examples/rails/rails.json" "$(node_root "$n")/etc/railhead/rails.json" || fail 'test error: rails.json'
	done
	is 'helm install' where_people_work "helm install railhead packaging/helm/railhead --namespace railhead --create-namespace -f examples/helm/rail-claims.yaml $BED_VALUES"
	is 'the agents' kr rollout status daemonset/railheadd --timeout=${LONG}s
	is 'the pools' where_people_work 'kubectl rail apply -f examples/plan/fabric.yaml'
	eventually slots_offered 4
	counting a
	running a
	eq 'what the first process saw' "$(saw a)" "$ALL_RAILS"
	is 'railctl of the node' kn exec a -- $IN_POD version
	kn delete pod a --grace-period=1 --wait --timeout=${LONG}s >/dev/null || fail 'the pod stays'
	for n in $NODES; do
		eventually nothing_at_all "$n"
		rm "$(node_root "$n")/etc/railhead/rails.json"
	done
	eventually nothing_of_slots || fail "left: $(<"$W/is")"
}

once_crun_slots_by_one_line() { with_crun once_slots_by_one_line; }

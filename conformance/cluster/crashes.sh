# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# crashes.sh: programs and machines that end in the middle. Sourced by run.sh.

some_leases() { [ -n "$(leases "$1")" ]; }

# four NETWORK: pods p0 to p3, under way: at least one has its address.
four()
{
	local i
	for i in 0 1 2 3; do pod "p$i" "$1"; done
	eventually some_leases "$NODE"
}
in_the_middle()
{
	rails crash
	middle_of crash "$@"
}
# middle_of POOL COMMAND...: while pods with two interfaces start, and while they go; in the end all agrees.
middle_of()
{
	local pool=$1
	shift
	nad crash "$(macvlan crash "$pool")"
	nad other "$(macvlan other "$pool")"
	four crash,other
	"$@"
	running p0 p1 p2 p3
	audit
	kn delete pod --all --wait=false >/dev/null
	"$@"
	kn wait --for=delete pod --all --timeout=${LONG}s >"$W/is" 2>&1 || fail "pods stay: $(<"$W/is")"
	eventually nothing_at_all "$NODE"
}
again() # NAME: killed, and started anew
{
	service "$NODE" "$1" kill
	is "$1 comes again" service "$NODE" "$1" start
}

test_kubelet_killed() { in_the_middle again kubelet; }
test_containerd_killed() { in_the_middle again containerd; }
both_killed()
{
	service "$NODE" containerd kill
	service "$NODE" kubelet kill
	is 'containerd comes again' service "$NODE" containerd start
	is 'the kubelet comes again' service "$NODE" kubelet start
}
test_both_killed() { in_the_middle both_killed; }
# Thick Multus lives on n2 only.
once_multus_daemon_killed()
{
	NODE=2
	in_the_middle again multus-daemon
}

# Deleted by force while they start, and while they run.
test_force_deletes()
{
	rails crash
	nad crash "$(macvlan crash crash)"
	four crash
	kn delete pod --all --force --grace-period=0 --wait=false >/dev/null 2>&1
	eventually nothing_at_all "$NODE"
	four crash
	running p0 p1 p2 p3
	kn delete pod --all --force --grace-period=0 --wait=false >/dev/null 2>&1
	eventually nothing_at_all "$NODE"
	audit
}

# The power goes; the node comes back with another boot id. Its pods start again, those of a set with their addresses; what
# was deleted meanwhile has no lease any more.
test_power_cut()
{
	local first boot
	rails power --sticky
	nad power "$(macvlan power power)"
	set_of db 2 power
	four power
	running p0 p1 p2 p3
	set_ready db 2
	first=$(addresses_of db-0 db-1)
	boot=$(boot_id)
	audit
	node_down "$NODE"
	kn delete pod p3 --force --grace-period=0 --wait=false >/dev/null 2>&1
	is 'the node comes up' node_up "$NODE" || exit
	is 'Multus comes up' multus "$NODE"
	is 'the kubelet comes up' service "$NODE" kubelet start
	eventually another_boot "$boot"
	restarted p0 p1 p2 db-0 db-1
	running p0 p1 p2 db-0 db-1
	eq 'addresses of the set' "$(addresses_of db-0 db-1)" "$first"
	eq leases "$(leases "$NODE" | wc -l)" 5
	audit
}
boot_id() { k get node "n$NODE" -o jsonpath='{.status.nodeInfo.bootID}'; }
another_boot() { [ "$(boot_id)" != "$1" ]; }
restarted() # POD...: what Kubernetes says of them is not of before
{
	local p
	for p; do
		kn wait --for=jsonpath='{.status.containerStatuses[0].restartCount}'=1 "pod/$p" --timeout=${LONG}s >"$W/is" 2>&1 ||
			fail "$p does not start again: $(<"$W/is")"
	done
}

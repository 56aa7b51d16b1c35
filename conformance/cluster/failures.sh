# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# failures.sh: what fails leaves nothing, and hurts nobody else. Sourced by run.sh.

# The second of two networks cannot be had: of the first nothing is left, each time that the kubelet tries again; and when
# the second is there, the pod starts by itself.
test_second_network_fails()
{
	rails good
	nad good "$(macvlan good good)"
	nad bad "$(macvlan bad bad)"
	pod two good,bad
	event two 'pool bad does not exist'
	eventually nothing_at_all "$NODE"
	pool "$NODE" bad --subnet 10.10.0.0/16 --range "10.10.$((NODE + 100)).0/24"
	running two
	eq addresses "$(status two '[.[] | select(.interface != "eth0") | .ips | length]')" '[1,1]'
	audit
}
nothing_at_all() { [ -z "$(leases "$1")" ] && [ -z "$(records "$1")" ] && [ "$(interfaces "$1")" = '[]' ]; }

# One address, two pods: the second waits until the first is gone.
test_pool_of_one()
{
	pool "$NODE" one --subnet 10.10.0.0/16 --range "10.10.$NODE.9"
	nad one "$(macvlan one one)"
	pod first one
	running first
	pod second one
	event second 'no address is left in pool one'
	eq leases "$(leases "$NODE")" "10.10.$NODE.9"
	delete first
	running second
	eq 'its address' "$(address second net1)" "10.10.$NODE.9"
	audit
}

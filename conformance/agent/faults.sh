# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Pods come and go on all nodes while the store, the wires, the clocks or the programs fail.
#
# Meanwhile each ADD that finds an address on its node must succeed, and each DEL. Afterwards no address is lost: one node leases all.

# Eight blocks of eight. Each node has at most four pods, so it never lacks an address. Blocks come and go.
LOAD='{"subnet":"10.92.0.0/24","ranges":["10.92.0.64-10.92.0.127"],"blockSize":8,"warm":4,"idle":1,"cooldown":0}'
# Pods that need the store: nothing is warm.
DRY='{"subnet":"10.93.0.0/24","ranges":["10.93.0.2-10.93.0.253"],"blockSize":2,"warm":0,"cooldown":0}'

# loaded_begin: a cluster with both pools, and pods that come and go
loaded_begin()
{
	local i
	cluster_begin
	shared rail0 "$LOAD"
	shared dry "$DRY"
	for ((i = 1; i <= NODES; i++)); do eventually has_spare "n$i" rail0 4; done
	load_begin rail0 ''
}
all_nodes() { for ((i = 1; i <= NODES; i++)); do echo "n$i"; done; }
# loaded_end: all is well again, and no address of the pool is lost
loaded_end()
{
	local node
	for node in $(all_nodes); do eventually agent_is "$node" .contact true; done
	# shellcheck disable=SC2046
	pods_go_on $(all_nodes)
	load_end
	eventually all_added n1 dry
	all_leased n1 64
	unique
}
all_added() { added "$1" p1 "$2"; }
# without_store NODE TEXT: an ADD that needs the store fails so that the runtime tries again, and no pod that lives needs it.
without_store()
{
	refused "$1" p1 dry 11 "$2"
	del "$1" p1 dry
	# shellcheck disable=SC2046
	pods_go_on $(all_nodes)
}

test_faults_a_slow_store()
{
	local i
	cluster_begin
	"$HELPERS/../agent/delay" 100 7000 10.99.0.1 "$ENGINE_PORT" >"$W/delay" 2>&1 </dev/null &
	echo $! >"$W/node/n1/pid.delay"
	eventually grep -qx ready "$W/delay"
	# shellcheck disable=SC2046
	agents_at 7000 $(all_nodes)
	shared rail0 "$LOAD"
	shared dry "$DRY"
	for i in $(all_nodes); do eventually has_spare "$i" rail0 4; done
	load_begin rail0 ''
	for ((i = 0; i < 4; i++)); do add n1 "d$i" dry; done
	for ((i = 0; i < 4; i++)); do del n1 "d$i" dry; done
	loaded_end
}

test_faults_a_paused_store()
{
	loaded_begin
	engine stop
	eventually agent_is n1 .contact false
	without_store n1 "cluster store"
	engine cont
	loaded_end
}

# The engine dies and comes back again and again.
test_faults_a_store_that_restarts()
{
	local i
	loaded_begin
	for ((i = 0; i < RESTARTS; i++)); do
		engine kill
		pods_go_on n1 n2
		engine start
		pods_go_on n3
	done
	loaded_end
}

# etcd's own quota: reads and deletions go on, and nothing is written.
test_faults_a_full_store()
{
	loaded_begin
	engine full || give_up "the store is not full"
	without_store n1 "space exceeded"
	engine room || give_up "the store has no room"
	loaded_end
}

# The load goes on under a store that forgets. An ADD may have to wait until the silence after the restore has ended, if its block is
# younger than the copy. In a pool whose blocks the copy has, none waits.
test_faults_an_older_copy_under_load()
{
	local i
	cluster_begin
	shared rail0 "$LOAD"
	shared dry "$DRY"
	shared sure "$SURE"
	for i in $(all_nodes); do eventually has_spare "$i" sure 8; done
	engine save
	for i in $(all_nodes); do eventually has_spare "$i" rail0 4; done
	load_begin rail0 ' 11 '
	load_begin sure '' 2 sure
	# shellcheck disable=SC2046
	pods_go_on $(all_nodes)
	engine restore
	loaded_end
	for i in $(all_nodes); do [ "$(came_up "$i" sure)" -ge 5 ] || fail "pods of pool sure on $i: $(came_up "$i" sure)"; done
}

test_faults_half_of_the_nodes_cut_off()
{
	local NODES=4 node
	loaded_begin
	for node in n1 n2; do ip link set "$node-eth0" down; done
	for node in n1 n2; do eventually agent_is "$node" .contact false; done
	without_store n1 "cluster store"
	refused n2 p2 dry 11 "cluster store"
	eventually added n3 p3 dry
	eventually added n4 p4 dry
	for node in n1 n2; do ip link set "$node-eth0" up; done
	loaded_end
	eventually added n2 p2 dry
}

# warped: from now on, agents and plugins of node N have the clocks of $W/clock.N. A child of a plugin has them by itself.
warped()
{
	local i
	for ((i = 1; i <= NODES; i++)); do clock "n$i" 0 0; done
	warp macvlan macvlan
	warp railheadd railheadd
	warp railhead-ipam warped-ipam
	export LOAD_IPAM=$BIN/warped-ipam
}
warp() # NAME AS
{
	# shellcheck disable=SC2016
	printf '#!/bin/sh\nread -r node </proc/sys/kernel/hostname\nexec %s %s/clock.$node %s "$@"\n' \
		"$(realpath "$HELPERS/../agent/warp")" "$W" "$FROM/$1" >"$BIN/$2.new"
	chmod +x "$BIN/$2.new" && mv "$BIN/$2.new" "$BIN/$2"
}
current() { for name; do cp "$FROM/$name" "$BIN/$name.new" && mv "$BIN/$name.new" "$BIN/$name"; done; } # NAME...: of this release again
# clock NODE REAL BOOT: the wall clock is wrong by so many seconds, and the node has slept so long
clock() { echo "$2 $3" >"$W/clock.new" && mv "$W/clock.new" "$W/clock.$1"; }

# A day ahead and a day behind. Certificates that are not yet valid may cost the contact with the store, and no pod.
test_faults_clocks_that_jump()
{
	warped
	loaded_begin
	clock n1 86400 0
	clock n2 -86400 0
	# shellcheck disable=SC2046
	pods_go_on $(all_nodes)
	clock n1 -86400 0
	clock n2 86400 0
	# shellcheck disable=SC2046
	pods_go_on $(all_nodes)
	clock n1 0 0
	clock n2 0 0
	loaded_end
	current macvlan railheadd
}

# A node sleeps longer than its fence, and wakes up without the store.
test_faults_a_node_that_slept()
{
	warped
	NODE_HOLD=600 NODES=2 cluster_begin
	NODES=2 shared rail0 "$RAIL"
	NODES=2 shared strict '{"subnet":"10.94.0.0/24","blockSize":8,"warm":1,"fence":"strict"}'
	eventually has_spare n1 rail0 1
	eventually has_spare n1 strict 1
	add n1 p1 strict
	ip link set n1-eth0 down
	add n1 p5 strict
	clock n1 0 3600
	refused n1 p2 strict 11 "cluster store"
	del n1 p2 strict
	add n1 p3 rail0
	del n1 p1 strict
	ip link set n1-eth0 up
	eventually added n1 p2 strict
	add n2 p4 strict
	unique
	current macvlan railheadd
}

# program NAME: the one of another release is on the nodes
program() { cp "$HELPERS/../agent/newer/$1" "$BIN/$1.new" && mv "$BIN/$1.new" "$BIN/$1"; }

# There is no older release yet. The newer programs have another version on the agent's socket; macvlan contains railhead-ipam.
test_faults_an_agent_and_plugins_of_two_releases()
{
	NODES=2 cluster_begin
	NODES=2 shared rail0 "$RAIL"
	NODES=2 shared dry "$DRY"
	eventually has_spare n1 rail0 1
	program macvlan
	add n1 p1 rail0
	del n1 p1 rail0
	refused n1 p1 dry 11 "the agent speaks 1 to 1, the client 2"
	has "what to do" "$OUT" "install railheadd and the plugins of one release"
	del n1 p1 dry
	current macvlan
	add n1 p1 dry
	# A newer agent understands older plugins.
	program railheadd
	agent_end n1
	agent_begin n1
	add n1 p2 dry
	add n1 p3 dry
	is "status" ctl n1 cluster status
	del n1 p2 dry
	add n2 p4 dry
	unique
	program macvlan
	add n1 p5 dry
	add n1 p6 dry
	current railheadd macvlan
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A node dies, and other nodes use its addresses again.

# taken_block NAME: a free block, as it was taken from a dead node. The claim gives it the pool's uid.
taken_block()
{
	is "a block that was taken" engine_object blocks "$1" '{"poolUID":"old","touched":3,"used":0,"probe":true}'
}

# ipam_alone NODE POD POOL: another plugin calls railhead-ipam, and would not probe. Sets RC and OUT.
ipam_alone()
{
	OUT=$(jq -n --arg p "$3" '{cniVersion:"1.1.0",name:"rails",type:"bridge",ipam:{type:"railhead-ipam",pool:$p}}' |
		on_node "$1" timeout -s KILL "$LIMIT" env -i PATH="$PATH" CNI_COMMAND=ADD CNI_CONTAINERID="$2" CNI_NETNS="/run/netns/$2" \
			CNI_IFNAME=net1 CNI_PATH="$BIN" "$BIN/railhead-ipam" 2>>"$W/node/$1/plugin.log")
	RC=$?
}

# The dead machine runs, and answers for one of two addresses. After one probe the other one is like any address.
test_nodes_an_address_of_a_taken_block_is_probed()
{
	NODES=2 cluster_begin
	NODES=2 shared rail0 '{"subnet":"10.92.0.0/29","blockSize":8,"ranges":["10.92.0.1-10.92.0.2"],"warm":0,"cooldown":0}'
	taken_block "rail0-$(printf %032x $((10 << 24 | 92 << 16)))"
	ip addr add 10.92.0.1/29 dev fabric
	ip netns add p1
	ipam_alone n1 p1 rail0
	eq "without a probe" "$RC $(jq -r .code <<<"$OUT")" "1 101"
	cni_on n1 ADD p1 rail0
	eq "code" "$RC $(jq -r .code <<<"$OUT")" "1 109"
	has "message" "$OUT" "10.92.0.1 is in use by"
	add n1 p1 rail0
	eq "address" "$ADDRESS" 10.92.0.2/29
	eq "marks in the result" "$(jq -c '.ips[0] | has("probe")' <<<"$OUT")" false
	del n1 p1 rail0
	ip addr add 10.92.0.2/29 dev fabric
	add n1 p2 rail0
	eq "address" "$ADDRESS" 10.92.0.2/29
}

# node_dies NODE POD...: agent, pods and their namespaces. Its store stays on its disk.
node_dies()
{
	local p
	agent_kill "$1"
	for p in "${@:2}"; do pod_dies "$1" "$p"; done
}
reclaim_begin() # NODE: its agent with the right to take
{
	agent_end "$1"
	in_node "$1" "$BIN/railheadd" --reclaim >>"$W/node/$1/log" 2>&1 </dev/null &
	echo $! >"$W/node/$1/pid"
	eventually agent_is "$1" .health ok
}
remembered() { engine_value nodes "$1" | jq -e 'has("forgotten") | not'; }
block_state() { ctl "$1" ipam blocks "$2" --json | jq -r '.[].state' | sort -u | paste -sd' '; }
state_is() { [ "$(block_state "$1" "$2")" = "$3" ]; }

# A pool of two blocks, one for each node. Its six addresses are all in use before the death of n2.
test_nodes_the_addresses_of_a_dead_node_are_used_again()
{
	local i
	NODES=2 cluster_begin
	may_reclaim n2 >/dev/null || give_up "the right to reclaim"
	NODES=2 shared rail0 '{"subnet":"10.92.0.0/29","blockSize":4,"warm":1,"cooldown":0}'
	eventually has_spare n1 rail0 1
	eventually has_spare n2 rail0 1
	for i in 1 2 3; do add n1 "a$i" rail0; done
	for i in 1 2 3; do add n2 "b$i" rail0; done
	isnt "a node that lives" ctl n1 cluster node forget n2
	has "a node that lives" "$(<"$W/is")" "its heartbeat moves"
	isnt "this node" ctl n1 cluster node forget n1
	isnt "no such node" ctl n1 cluster node forget n9
	has "no such node" "$(<"$W/is")" "the cluster knows no node of this name"
	reclaim_begin n1
	node_dies n2 b1 b2 b3
	is "a dead node" ctl n1 cluster node forget n2
	for i in 4 5 6; do
		ip netns add "a$i"
		eventually added n1 "a$i" rail0
	done
	eq "addresses" "$(leases n1 | wc -l)" 6
	# It comes back, with the leases of its pods on its disk.
	may_stay n2 "in the same boot no record says that these pods are gone"
	agent_begin n2
	eventually state_is n2 rail0 lost
	ip netns add c1
	cni_on n2 ADD c1 rail0
	[ "$RC" != 0 ] || fail "n2 assigned $OUT"
	isnt "it lives again" ctl n1 cluster node forget n2
	eventually remembered n2
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A node dies, and other nodes use its addresses again.

# kv CALL JSON: a call of etcd; keys and values of JSON are plain texts
kv() { jq 'map_values(if type == "string" then @base64 else . end)' <<<"$2" | curl -sf --data-binary @- "$ETCD/v3/kv/$1"; }

# taken_block NAME: a free block, as it was taken from a dead node. The claim gives it the pool's uid.
taken_block()
{
	local value
	value=$(jq -cn '{uid:"11111111-2222-4333-8444-555555555555",node:"",value:{poolUID:"old",touched:3,used:0,probe:true}}')
	is "a block that was taken" kv put "$(jq -n --arg k "/railhead/blocks/$1" --arg v "$value" '{key:$k,value:$v}')"
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

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What only etcd has: client certificates that end, users and rights.

# with_tls OPTION...: etcd starts again with TLS and client certificates; the agent of n1 has one
with_tls()
{
	local etc=$W/node/n1/etc/railhead
	agent_end n1
	certificates 10.99.0.1 && certificate operator /CN= 'extendedKeyUsage=clientAuth' || give_up "certificates"
	ETCD=https://10.99.0.1:2379
	printf '%s\n' --max-time 10 --cacert "$W/ca.pem" --cert "$W/operator.pem" --key "$W/operator.key" >"$W/curl"
	echo "$ETCD" >"$W/url"
	sed -i "s|http://10.99.0.1|https://10.99.0.1|" "$W/command"
	printf '%s\n' --cert-file "$W/server.pem" --key-file "$W/server.key" --trusted-ca-file "$W/ca.pem" --client-cert-auth "$@" >>"$W/command"
	engine kill
	engine start || give_up "etcd does not start"
	cp "$W/ca.pem" "$etc" && client_of 2
	jq --arg e "$ETCD" '.etcd = {endpoints:[$e],ca:"/etc/railhead/ca.pem",cert:"/etc/railhead/client.pem",key:"/etc/railhead/client.key"}' \
		"$etc/agent.json" >"$W/agent.json" && mv "$W/agent.json" "$etc"
	agent_begin n1
	eventually agent_is n1 .contact true
}
client_of() # DAYS
{
	certificate client /CN= 'extendedKeyUsage=clientAuth' "$1" || give_up "a certificate"
	cp "$W"/client.{key,pem} "$W/node/n1/etc/railhead"
}

# The agent takes a new certificate up as it is on disk. One that has ended costs the contact, and no pod that finds an address.
test_etcd_a_client_certificate_ends_and_is_renewed()
{
	NODES=1 cluster_begin
	with_tls
	NODES=1 shared rail0 "$RAIL"
	NODES=1 shared dry '{"subnet":"10.93.0.0/24","blockSize":1,"warm":0}'
	eventually has_spare n1 rail0 1
	client_of 0
	eventually agent_is n1 '.why | contains("ertificate")' true
	agent_is n1 .contact false || fail "contact with a certificate that has ended"
	add n1 p1 rail0
	refused n1 p2 dry 11 "cluster store"
	del n1 p1 rail0
	client_of 2
	eventually logged n1 "the credentials on disk have changed and are used from now on"
	eventually agent_is n1 .contact true
	eventually added n1 p2 dry
	del n1 p2 dry
}

auth() { curl -sS --fail --max-time 10 ${TOKEN:+-H "Authorization: $TOKEN"} "$ETCD/v3/auth/$1" -d "$2"; } # CALL BODY

# A new password at etcd ends the token of the agent. The file has the new one a moment later.
test_etcd_a_password_changes()
{
	local etc TOKEN=
	NODES=1 cluster_begin
	etc=$W/node/n1/etc/railhead
	auth user/add '{"name":"root","password":"one"}' >/dev/null && auth role/add '{"name":"root"}' >/dev/null &&
		auth user/grant '{"user":"root","role":"root"}' >/dev/null && auth enable '{}' >/dev/null || give_up "a user"
	agent_end n1
	(umask 077 && echo one >"$etc/password")
	jq '.etcd += {user:"root",passwordFile:"/etc/railhead/password"}' "$etc/agent.json" >"$W/agent.json" && mv "$W/agent.json" "$etc"
	agent_begin n1
	eventually agent_is n1 .health ok
	NODES=1 shared rail1 "${RAIL/92/94}"
	eventually has_spare n1 rail1 1
	TOKEN=$(auth authenticate '{"name":"root","password":"one"}' | jq -r .token)
	auth user/changepw '{"name":"root","password":"two"}' >/dev/null || give_up "a new password"
	eventually agent_is n1 '.refused // "" | contains("refused to authenticate")' true
	eventually agent_is n1 .contact false
	is "status" ctl n1 cluster status
	has "status" "$(<"$W/is")" "contact  no for"
	has "status" "$(<"$W/is")" "refused to authenticate"
	has "status" "$(<"$W/is")" "check user and password that are configured for etcd"
	eq "metric" "$(on_node n1 curl -s --unix-socket "$RUN/metrics.sock" http://localhost/metrics | sed -n 's/^railhead_store_contact{.*} //p')" 0
	add n1 p1 rail1
	del n1 p1 rail1
	isnt "a pool" ctl n1 cluster pool apply - <<<"{\"name\":\"rail0\",${RAIL#\{}"
	(umask 077 && echo two >"$etc/new" && mv "$etc/new" "$etc/password")
	eventually ctl n1 cluster pool list
	NODES=1 shared rail0 "$RAIL"
	eventually agent_is n1 .contact true
	logged n1 "the credentials on disk have changed" || fail "the log: $(tail -n 3 "$W/node/n1/log")"
	TOKEN=$(auth authenticate '{"name":"root","password":"two"}' | jq -r .token)
	auth disable '{}' >/dev/null
}

# A block has two keys, and an administrator deletes one of them.
key_deleted() { kv deleterange "$(jq -nc --arg k "/railhead/$1" '{key:$k}')" >/dev/null; }
has_key() { kv range "$(jq -nc --arg k "/railhead/$1" '{key:$k}')" | jq -e .kvs[0] >/dev/null; }

# one_block: n1 has one block of rail0, and a pod in it
one_block()
{
	NODES=2 cluster_begin
	NODES=2 shared rail0 '{"subnet":"10.92.0.0/29","blockSize":8,"warm":0,"cooldown":0}'
	eventually added n1 p1 rail0
	BLOCK=$(blocks_in_store n1)
	[[ $BLOCK == rail0-?* ]] || give_up "the block of n1: '$BLOCK'"
}

# The node's watch sees the other key only.
test_etcd_the_key_of_a_block_is_deleted()
{
	local BLOCK
	one_block
	is "delete" key_deleted "blocks/$BLOCK"
	eventually logged n1 "key /railhead/blocks/$BLOCK is missing, and its copy /railhead/by-node/n1/blocks/$BLOCK was there"
	eventually has_key "blocks/$BLOCK"
	eventually has_key "by-node/n1/blocks/$BLOCK"
	eq "owner" "$(block_owner "$BLOCK")" n1
	eventually added n1 p2 rail0
	eventually ctl n1 ipam conflicts
	NODES=2 unique
}

# The same, and another node claims the block while its owner is cut off.
test_etcd_the_key_of_a_block_is_deleted_and_another_node_claims_it()
{
	local BLOCK
	one_block
	ip link set n1-eth0 down
	eventually agent_is n1 .contact false
	is "delete" key_deleted "blocks/$BLOCK"
	eventually added n2 p2 rail0
	may_overlap "$(leases n1)" "an administrator gave the block of a living pod away, and conflicts names it"
	ip link set n1-eth0 up
	eventually logged n1 "keys /railhead/blocks/$BLOCK and /railhead/by-node/n1/blocks/$BLOCK were written one without the other"
	eventually conflicts_are n1 '.blocks[] | [.pool,.first,.state,.owner]' '["rail0","10.92.0.0","lost","n2"]'
	isnt "an address of n2's block" added n1 p3 rail0
	del n1 p1 rail0
	eventually ctl n1 ipam conflicts
}

# Without it no watch would show the node that another one asks for its block.
test_etcd_the_copy_of_a_block_is_deleted()
{
	local BLOCK
	one_block
	is "delete" key_deleted "by-node/n1/blocks/$BLOCK"
	eventually has_key "by-node/n1/blocks/$BLOCK"
	logged n1 "the key by-node/n1/blocks/$BLOCK is missing, and the block's own key is there" ||
		fail "the log: $(tail -n 3 "$W/node/n1/log")"
	eq "owner" "$(block_owner "$BLOCK")" n1
	eventually added n1 p2 rail0
	NODES=2 unique
}

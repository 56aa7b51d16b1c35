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

# The agent reads its certificate at its start. One that has ended costs the contact, and no pod that finds an address.
test_etcd_a_client_certificate_ends_and_is_renewed()
{
	NODES=1 cluster_begin
	with_tls
	NODES=1 shared rail0 "$RAIL"
	NODES=1 shared dry '{"subnet":"10.93.0.0/24","blockSize":1,"warm":0}'
	eventually has_spare n1 rail0 1
	agent_end n1
	client_of 0
	agent_begin n1
	eventually agent_is n1 '.why | contains("ertificate")' true
	agent_is n1 .contact false || fail "contact with a certificate that has ended"
	add n1 p1 rail0
	refused n1 p2 dry 11 "cluster store"
	del n1 p1 rail0
	agent_end n1
	client_of 2
	agent_begin n1
	eventually agent_is n1 .contact true
	eventually added n1 p2 dry
	del n1 p2 dry
}

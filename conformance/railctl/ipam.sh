# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ipam.sh: pools, leases, usage and verify, with leases made by railhead-ipam.
# shellcheck disable=SC2154

# lease NETWORK CONTAINER IPAM-JSON: one ADD of railhead-ipam alone. CNI_ARGS: CARGS.
lease()
{
	jq -n --arg n "$1" --argjson i "$3" '{cniVersion:"1.0.0",name:$n,type:"macvlan",
		ipam:({type:"railhead-ipam"} + $i)}' >"$W/lease.conf"
	CNI_COMMAND=ADD CNI_CONTAINERID=$2 CNI_NETNS=/run/netns/none CNI_IFNAME=net1 CNI_PATH=$BIN \
		CNI_ARGS="${CARGS-}" "$BIN/railhead-ipam" <"$W/lease.conf" >"$W/add.out" 2>&1 ||
		fail "test error: ADD: $(<"$W/add.out")"
}

test_pools_come_and_go()
{
	ok ipam pool list
	eq "nothing" "$OUT" "No pools: there is no /var/lib/railhead/ipam here. In a container, mount that of the node."
	ok ipam pool list --json
	want '. == []'
	[ ! -e $STATE ] || [ -z "$(ls -A $STATE)" ] || fail "looking must not make a store"
	ok ipam pool add rail0 --subnet 10.1.0.0/16 --this-node-only --gateway 10.1.0.1
	eq "what it says" "$OUT" "Pool rail0 added: 65533 addresses."
	ok ipam pool add rail0-v6 --subnet fd00:1::/64 --this-node-only --json
	want '.name == "rail0-v6" and .definition == {subnet:"fd00:1::/64",thisNodeOnly:true} and .used == 0'
	ok ipam pool list
	eq "rows" "$(tail -n +2 "$W/out" | awk '{ print $1, $2, $3, $4, $5, $6 }')" \
		"rail0 10.1.0.0/16 node 0 65533 0%
rail0-v6 fd00:1::/64 node 0 ~2^64 0%"
	ok ipam pool list --json
	want 'length == 2 and .[0].name == "rail0" and .[0].capacity == 65533 and
		(.[1].capacity | type == "string" and test("^18446744073709551[0-9]{3}$"))'
	ok ipam pool delete rail0
	eq "what it says" "$OUT" "Pool rail0 deleted."
	ok ipam pool delete rail0-v6 --json
	want '. == {name:"rail0-v6",releasedLeases:0}'
	ok ipam pool list
	eq "nothing" "$OUT" "No pools."
}

test_pool_add_takes_everything()
{
	ok ipam pool add p --subnet 10.1.0.0/16 --range 10.1.1.0-10.1.1.99 --range 10.1.2.0/24 --range 10.1.3.7 \
		--exclude 10.1.1.50 --gateway 10.1.0.1 --route 0.0.0.0/0 --route 10.0.0.0/8,10.1.0.2 --sticky \
		--cooldown 300 --strict-cooldown --namespace a --namespace b --fixed-namespace a --quota 5 --quota a=10
	ok ipam pool show p --json
	want '.definition == {subnet:"10.1.0.0/16",ranges:["10.1.1.0-10.1.1.99","10.1.2.0/24","10.1.3.7"],
		excludes:["10.1.1.50"],gateway:"10.1.0.1",routes:[{dst:"0.0.0.0/0"},{dst:"10.0.0.0/8",gw:"10.1.0.2"}],
		sticky:true,cooldown:300,strictCooldown:true,namespaces:["a","b"],fixedNamespaces:["a"],quota:{"*":5,a:10}}
		and .capacity == 354'
	jq .definition "$W/out" >"$W/p.json"
	ok ipam pool show p
	has "10.1.1.0-10.1.1.99, 10.1.2.0/24, 10.1.3.7"
	has "0.0.0.0/0, 10.0.0.0/8 via 10.1.0.2"
	has "300 s, strict"
	has "May request"
	has "others 5, a 10"
	has "0 of 354"
	# add reads the output of show.
	ok ipam pool delete p
	ok ipam pool add p --file "$W/p.json" --json
	jq .definition "$W/out" | cmp -s - "$W/p.json" || fail "--file: $(said)"
	ok ipam pool delete p
	"$BIN/railctl" ipam pool add p --file - <"$W/p.json" >"$W/out" 2>&1 || fail "--file -: $(<"$W/out")"
	ok ipam pool show p --json
	jq .definition "$W/out" | cmp -s - "$W/p.json" || fail "--file -: $(said)"
}

test_pool_set_changes_what_is_given()
{
	ok ipam pool add p --subnet 10.1.0.0/24 --sticky --range 10.1.0.10-10.1.0.19 --quota 3 --namespace a
	ok ipam pool set p --cooldown 5 --namespace b
	eq "what it says" "$OUT" "Pool p changed: 10 addresses."
	ok ipam pool show p --json
	want '.definition == {subnet:"10.1.0.0/24",sticky:true,ranges:["10.1.0.10-10.1.0.19"],quota:3,cooldown:5,
		namespaces:["b"]}'
	refused 1 "--this-node-only" ipam pool set p --no-range
	ok ipam pool set p --no-sticky --no-range --this-node-only --no-quota --no-namespace --json
	want '.definition == {subnet:"10.1.0.0/24",thisNodeOnly:true,cooldown:5}'
	refused 2 "say what to change" ipam pool set p
	refused 1 "exclude each other" ipam pool set p --sticky --no-sticky
	refused 1 "does not exist" ipam pool set q --sticky
}

test_pool_set_tells_of_leases_left_outside()
{
	need railhead-ipam
	ok ipam pool add p --subnet 10.1.0.0/24 --this-node-only
	lease net-a c1 '{"pool":"p"}'
	ok ipam pool set p --range 10.1.0.100-10.1.0.109
	has "1 leased address is outside"
	ok ipam lease list --pool p
	has 10.1.0.1
}

# A lease of an address that becomes reserved stays; afterwards the address is not assigned.
test_pool_reserved_under_living_leases()
{
	need railhead-ipam
	ok ipam pool add p --subnet 10.1.0.0/24 --range 10.1.0.1-10.1.0.3 --reserved 10.1.0.2 --reserved 10.9.0.0/16
	ok ipam pool show p
	has "Reserved:       10.1.0.2, 10.9.0.0/16"
	lease net-a c1 '{"pool":"p"}'
	lease net-a c2 '{"pool":"p"}'
	ok ipam lease list --json
	want 'map(.address) == ["10.1.0.1","10.1.0.3"]'
	echo '{"name":"p","subnet":"10.1.0.0/24","ranges":["10.1.0.1-10.1.0.9"],"reserved":["10.1.0.0/29"]}' >"$W/p.json"
	refused 1 "2 leased addresses are not in the new definition: 10.1.0.1" ipam pool apply "$W/p.json"
	ok ipam pool apply "$W/p.json" --force
	has "2 leased addresses are outside of it now"
	ok ipam verify
	lease net-a c3 '{"pool":"p"}'
	ok ipam lease list --json
	want 'map(.address) == ["10.1.0.1","10.1.0.3","10.1.0.8"]'
	ok ipam lease release 10.1.0.1
	lease net-a c4 '{"pool":"p"}'
	ok ipam lease list --json
	want 'map(.address) == ["10.1.0.3","10.1.0.8","10.1.0.9"]'
	ok ipam pool set p --no-reserved
	lease net-a c5 '{"pool":"p"}'
	ok ipam lease list --json
	want 'length == 4'
	ok ipam verify
}

# Without blocks, two nodes with one range assign the same addresses: somebody must say whose it is.
test_pool_add_wants_to_know_whose_range_it_is()
{
	refused 1 "other nodes may assign the same addresses" ipam pool add p --subnet 10.1.0.0/16
	[ "$(wc -w <"$W/err")" -lt 50 ] || fail "too many words: $(<"$W/err")"
	refused 1 "--range" ipam pool add p --subnet 10.1.0.0/16 --gateway 10.1.0.1
	refused 1 "--this-node-only" ipam pool add p --subnet 10.1.0.0/16
	refused 1 'railhead-pool(5), BLOCKS' ipam pool add p --subnet 10.1.0.0/16
	echo '{"subnet":"10.1.0.0/16"}' >"$W/p.json"
	refused 1 'thisNodeOnly' ipam pool add p --file "$W/p.json"
	ok ipam pool list --json
	want '. == []'
	ok ipam pool add p --subnet 10.1.0.0/16 --range 10.1.1.0/24
	ok ipam pool delete p
	echo '{"subnet":"10.1.0.0/16","thisNodeOnly":true}' >"$W/p.json"
	ok ipam pool add p --file "$W/p.json"
	ok ipam pool set p --sticky --json
	want '.definition.thisNodeOnly == true'
	refused 1 "--range" ipam pool set p --no-this-node-only
	ok ipam pool set p --no-this-node-only --range 10.1.2.0/24
}

# The first address is often that of a gateway: who gave none learns that a pod may get it.
test_pool_add_tells_of_the_first_address()
{
	ok ipam pool add p --subnet 10.1.0.0/16 --this-node-only
	has "no gateway, so a pod may get 10.1.0.1"
	ok ipam pool delete p
	ok ipam pool add p --subnet fd00:1::/64 --this-node-only
	has "so a pod may get fd00:1::1"
	ok ipam pool delete p
	for o in '--gateway 10.1.0.1' '--reserved 10.1.0.1-10.1.0.9' '--exclude 10.1.0.1' '--range 10.1.0.2-10.1.0.9'; do
		# shellcheck disable=SC2086 # two words
		ok ipam pool add p --subnet 10.1.0.0/16 --this-node-only $o
		hasnt "may get"
		ok ipam pool delete p
	done
	ok ipam pool add p --subnet 10.1.0.0/16 --slice 16 --gateway 10.1.0.1
	eq "without a number" "$(head -1 <<<"$OUT")" "Pool p added."
	has "ipam node set NUMBER"
}

test_pool_range_written_backwards()
{
	refused 1 "10.1.0.9-10.1.0.2 is written backwards: write 10.1.0.2-10.1.0.9" ipam pool add p --subnet 10.1.0.0/16 --range 10.1.0.9-10.1.0.2
	refused 1 "write fd00:1::2-fd00:1::9" ipam pool add p --subnet fd00:1::/64 --range fd00:1::9-fd00:1::2
	refused 1 'is not "address"' ipam pool add p --subnet 10.1.0.0/16 --range 10.1.0.9-fd00::1
}

# A user who may not read a file of root learns what to type.
test_ipam_as_nobody()
{
	local command
	ok ipam pool add p --subnet 10.1.0.0/16 --range 10.1.1.0/24
	chmod -R a+rX "$W"
	cp "$BIN/railctl" "$W/railctl"
	for command in 'ipam pool list' 'ipam lease list' 'ipam verify' 'ipam pool add q --subnet 10.2.0.0/16 --this-node-only'; do
		# shellcheck disable=SC2086 # words
		setpriv --reuid 65534 --regid 65534 --clear-groups "$W/railctl" $command >"$W/out" 2>"$W/err"
		eq "status of $command" $? 1
		grep -qF "only root may: sudo $W/railctl $command" "$W/err" || fail "$command: $(<"$W/err")"
	done
	rm -f "$W/railctl"
}

# A network as a range: its first and last addresses are not assigned.
test_pool_range_that_is_a_network()
{
	need railhead-ipam
	ok ipam pool add p --subnet 10.1.0.0/16 --range 10.1.1.0/30
	eq "what it says" "$OUT" "Pool p added: 2 addresses."
	lease net-a c1 '{"pool":"p"}'
	lease net-a c2 '{"pool":"p"}'
	ok ipam lease list --json
	want '[.[].address] == ["10.1.1.1","10.1.1.2"]'
	ok ipam pool add v6 --subnet fd00:1::/48 --range fd00:1:0:1::/126
	eq "what it says" "$OUT" "Pool v6 added: 3 addresses."
	ok ipam pool add all --subnet 10.2.0.0/16 --range 10.2.1.0-10.2.1.255 --range 10.2.2.0/31 --range 10.2.3.0/32
	eq "what it says" "$OUT" "Pool all added: 259 addresses."
}

test_pool_that_is_on_another_node()
{
	refused 1 "does not exist on node $(uname -n)" ipam pool show q
	refused 1 "for a pool of this node alone" ipam pool show q
	refused 1 'railctl cluster pool list' ipam pool show q
	ok ipam pool add p --subnet 10.1.0.0/16 --this-node-only
	refused 1 "does not exist on node $(uname -n)" ipam pool show q
	refused 1 "does not exist on node $(uname -n)" ipam pool set q --sticky
	refused 1 "does not exist on node $(uname -n)" ipam pool delete q
}

test_pool_mistakes()
{
	ok ipam pool add p --subnet 10.1.0.0/24 --this-node-only
	refused 1 "exists" ipam pool add p --subnet 10.2.0.0/24 --this-node-only
	refused 1 "railctl ipam pool set" ipam pool add p --subnet 10.2.0.0/24 --this-node-only
	refused 1 "overlaps with pool p" ipam pool add q --subnet 10.1.0.0/16 --this-node-only
	refused 1 "10.1.2.3/24" ipam pool add q --subnet 10.1.2.3/24
	refused 1 "fnord" ipam pool add q --subnet fnord
	refused 1 "10.9.0.0" ipam pool add q --subnet 10.2.0.0/24 --range 10.9.0.0/24
	refused 1 "gateway" ipam pool add q --subnet 10.2.0.0/24 --gateway 10.3.0.1
	refused 1 "soon" ipam pool add q --subnet 10.2.0.0/24 --cooldown soon
	refused 1 "cooldown" ipam pool add q --subnet 10.2.0.0/24 --cooldown 99999999
	refused 1 "not a name" ipam pool add a/b --subnet 10.2.0.0/24
	refused 2 "needs --subnet" ipam pool add q
	refused 2 "whole definition" ipam pool add q --file x --subnet 10.2.0.0/24
	refused 1 "No such file" ipam pool add q --file "$W/not-there"
	echo '{"subnet":"10.2.0.0/24","color":"red"}' >"$W/bad.json"
	refused 1 'color' ipam pool add q --file "$W/bad.json"
	echo '{"subnet":' >"$W/bad.json"
	refused 1 "--file $W/bad.json" ipam pool add q --file "$W/bad.json"
	echo '[]' >"$W/bad.json"
	refused 1 "must be an object" ipam pool add q --file "$W/bad.json"
	refused 1 "pool q does not exist" ipam pool show q
	refused 1 "pool q does not exist" ipam pool delete q
	refused 1 "pool q does not exist" ipam usage q
	ok ipam pool list --json
	want 'length == 1'
}

test_commands_without_a_store()
{
	refused 1 "pool q does not exist" ipam pool show q
	refused 1 "pool q does not exist" ipam pool set q --sticky
	refused 1 "pool q does not exist" ipam pool delete q
	refused 1 "10.0.0.1 is not leased" ipam lease release 10.0.0.1
	ok ipam lease list
	eq "nothing" "$OUT" "No leases: there is no /var/lib/railhead/ipam here. In a container, mount that of the node."
	ok ipam lease list --json
	want '. == []'
	ok ipam usage
	ok ipam usage --json
	want '. == []'
	refused 1 "nothing was checked: there is no store in /var/lib/railhead/ipam" ipam verify
	[ -z "$(ls -A $STATE 2>/dev/null)" ] || fail "looking must not make a store"
}

test_a_pool_in_use_is_not_deleted()
{
	need railhead-ipam
	ok ipam pool add p --subnet 10.1.0.0/24 --this-node-only
	lease net-a c1 '{"pool":"p"}'
	lease net-a c2 '{"pool":"p"}'
	refused 1 "2 addresses are held" ipam pool delete p
	[[ $ERR == *--force* ]] || fail "it must name --force: $(said)"
	ok ipam lease list --json
	want 'length == 2'
	ok ipam pool delete p --force
	eq "what it says" "$OUT" "Pool p deleted together with its leases."
	ok ipam lease list --json
	want '. == []'
	ok ipam verify
}

# The first address of an IPv6 subnet belongs to its routers (RFC 4291 section 2.6.1).
test_the_first_ipv6_address_is_never_leased()
{
	need railhead-ipam
	ok ipam pool add p --subnet fd00:1::/64 --this-node-only
	lease net-a c1 '{"pool":"p"}'
	ok ipam lease list --json
	want '.[0].address == "fd00:1::1"'
}

# Of a pod, of one that rests, and of none. No agent runs here.
test_who_has_an_address()
{
	need railhead-ipam
	r ipam who 10.1.0.1
	eq "without a store" "$RC" 1
	ok ipam pool add p --subnet 10.1.0.0/24 --this-node-only
	CARGS='IgnoreUnknown=1;K8S_POD_NAMESPACE=team-a;K8S_POD_NAME=job-0' lease net-a c1 '{"pool":"p"}'
	ok ipam who 10.1.0.1
	has "Pod:            team-a/job-0"
	has "Interface:      net1"
	has "From:           pool p"
	grep -Eq '^Since: +20[0-9T:-]+(\.[0-9]+)?Z, [0-9]+ ?s ago$' "$W/out" || fail "since: $(said)"
	ok ipam who 10.1.0.1 --json
	want 'keys == ["address","leases"] and (.leases | map([.pod,.ifname,.pool,.state]) == [["job-0","net1","p","leased"]])'
	ok ipam lease release 10.1.0.1
	r ipam who 10.1.0.1
	eq "at rest" "$RC" 1
	has "resting: no pod has it, and below is the last one"
	has "No pod of this node has 10.1.0.1."
	has "Other nodes are not known: no node agent answers at "
	r ipam who 10.1.0.9 --json
	eq "nobody" "$RC" 1
	want '.leases == [] and (.error | startswith("no node agent answers at "))'
	refused 2 '"rail0" is neither an IP address nor a GUID' ipam who rail0
}

test_lease_list()
{
	need railhead-ipam
	ok ipam pool add p --subnet 10.1.0.0/24 --this-node-only
	CARGS="K8S_POD_NAMESPACE=team-a;K8S_POD_NAME=web-0" lease net-a c1 '{"pool":"p"}'
	CARGS="K8S_POD_NAMESPACE=team-b;K8S_POD_NAME=web-0" lease net-b c2 '{"pool":"p"}'
	lease net-c c3 '{"subnet":"10.3.0.0/24"}'
	ok ipam lease list --json
	want 'length == 3 and ([.[].state] | unique == ["leased"])'
	want '.[] | select(.container == "c1") | .pool == "p" and .network == "net-a" and .ifname == "net1" and
		.namespace == "team-a" and .pod == "web-0" and (.address | test("^10\\.1\\.0\\.")) and
		(.since | test("^20[0-9-]+T[0-9:.]+Z$"))'
	ok ipam lease list --pool p --json
	want 'length == 2'
	ok ipam lease list --network net-c --json
	want 'length == 1 and (.[0] | .container == "c3" and (has("pool") | not))'
	ok ipam lease list --namespace team-b --json
	want 'length == 1 and .[0].container == "c2"'
	ok ipam lease list --pool p --namespace team-c
	eq "nothing" "$OUT" "No leases."
	ok ipam lease list
	has ADDRESS
	has team-a/web-0
	terminal 80 ipam lease list
	[ "$(longest)" -le 80 ] || fail "$(longest) columns: $(said)"
}

# The lease of a GUID is of the same attachment as that of its address.
test_pool_of_guids()
{
	need railhead-ipam
	refused 1 "is not FIRST-LAST" ipam pool add g --guids 02:00:00:00:00:00:00:00
	ok ipam pool add g --guids 02:00:00:00:00:00:00:00-02:00:00:00:00:00:00:0f
	eq "what it says" "$OUT" "Pool g added: 16 addresses."
	ok ipam pool show g
	has "in 02:00:00:00:00:00:00:00 to 02:00:00:00:00:00:00:0f"
	ok ipam pool add p --subnet 10.1.0.0/24 --this-node-only
	lease net-a c1 '{"pool":"p"}'
	RAILHEAD_LEASE=guid lease net-a c1 '{"pool":"p","guidPool":"g"}'
	eq "result" "$(jq -r '.ips[0].address' "$W/add.out")" "fe80::200:0:0:0/124"
	# With GUIDs alone there is no address to ask for.
	jq '.ipam = {type: "railhead-ipam", guidPool: "g"}' "$W/lease.conf" >"$W/guid.conf"
	! CNI_COMMAND=ADD CNI_CONTAINERID=c2 CNI_NETNS=/run/netns/none CNI_IFNAME=net1 CNI_PATH=$BIN CNI_ARGS=IP=10.1.0.9 \
		"$BIN/railhead-ipam" <"$W/guid.conf" >"$W/add.out" || fail "an address of nowhere: $(<"$W/add.out")"
	eq "why" "$(jq -r '"\(.code) \(.msg)"' "$W/add.out")" "7 an IP address is requested, and ipam has no source of addresses"
	ok ipam lease list
	has "02:00:00:00:00:00:00:00"
	ok ipam lease list --json
	want 'map([.address, .guid // "", .ifname]) == [["fe80::200:0:0:0", "02:00:00:00:00:00:00:00",
		"net1:guid"], ["10.1.0.1", "", "net1"]]'
	ok ipam verify
	ok ipam lease release 02:00:00:00:00:00:00:00
	ok ipam lease list --json
	want 'length == 1'
}

test_lease_release()
{
	need railhead-ipam
	local a
	ok ipam pool add p --subnet 10.1.0.0/24 --this-node-only
	lease net-a c1 '{"pool":"p"}'
	a=$(jq -r '.ips[0].address | split("/")[0]' "$W/add.out")
	refused 1 "10.1.0.200 is not leased" ipam lease release 10.1.0.200
	refused 1 "is not leased in pool q" ipam lease release "$a" --pool q
	refused 2 "neither an IP address nor a GUID" ipam lease release 10.1.0
	ok ipam lease release "$a"
	eq "what it says" "$OUT" "Released $a of pool p: network net-a, container c1, net1."
	ok ipam lease list --json
	want '. == []'
	ok ipam lease list --resting --json
	want 'length == 1 and .[0].state == "resting"'
	refused 1 "is not leased" ipam lease release "$a"
	ok ipam verify
	lease net-a c2 '{"pool":"p"}'
	a=$(jq -r '.ips[0].address | split("/")[0]' "$W/add.out")
	ok ipam lease release "$a" --pool p --json
	want 'length == 1 and .[0].container == "c2"'
}

# The same address in two networks with ranges of their own.
test_lease_release_of_what_is_leased_twice()
{
	need railhead-ipam
	lease net-a c1 '{"subnet":"10.3.0.0/30"}'
	lease net-b c2 '{"subnet":"10.3.0.0/30"}'
	refused 1 "10.3.0.2 is leased 2 times" ipam lease release 10.3.0.2
	[[ $ERR == *"container c1"*"container c2"* ]] || fail "the candidates must be listed: $(said)"
	ok ipam lease list --json
	want 'length == 2'
	ok ipam lease release 10.3.0.2 --network net-a
	ok ipam lease list --json
	want 'length == 1 and .[0].container == "c2"'
}

# "default" is a namespace like any other; a number without a namespace is for those not named.
test_quotas_hold()
{
	need railhead-ipam
	ok ipam pool add p --subnet 10.1.0.0/24 --this-node-only --quota 2 --quota default=1
	CARGS="K8S_POD_NAMESPACE=default;K8S_POD_NAME=a" lease net-a c1 '{"pool":"p"}'
	CARGS="K8S_POD_NAMESPACE=other;K8S_POD_NAME=a" lease net-a c2 '{"pool":"p"}'
	CARGS="K8S_POD_NAMESPACE=other;K8S_POD_NAME=b" lease net-a c3 '{"pool":"p"}'
	local ns
	for ns in default other; do
		CNI_COMMAND=ADD CNI_CONTAINERID=c9 CNI_NETNS=/run/netns/none CNI_IFNAME=net1 CNI_PATH=$BIN \
			CNI_ARGS="K8S_POD_NAMESPACE=$ns;K8S_POD_NAME=z" "$BIN/railhead-ipam" \
			<"$W/lease.conf" >"$W/add.out" 2>&1
		eq "code for namespace $ns" "$(jq .code "$W/add.out")" 106
	done
	ok ipam pool set p --quota default=1
	CARGS="K8S_POD_NAMESPACE=other;K8S_POD_NAME=c" lease net-a c4 '{"pool":"p"}'
}

test_usage()
{
	need railhead-ipam
	ok ipam pool add small --subnet 10.1.0.0/29 --this-node-only
	ok ipam pool add wide --subnet fd00:1::/64 --this-node-only
	local i
	for i in 1 2 3; do lease net-a c$i '{"pool":"small"}'; done
	lease net-b c4 '{"subnet":"10.3.0.0/24"}'
	ok ipam usage
	eq "rows" "$(tail -n +2 "$W/out" | sed 's/  */ /g')" "pool small 3 0 6 50%
pool wide 0 0 ~2^64 0%
network net-b 1 0 - -"
	ok ipam usage small
	hasnt wide
	ok ipam usage --json
	want 'length == 3 and .[0] == {name:"small",from:"node",used:3,resting:0,capacity:6} and .[2].used == 1'
	terminal 80 ipam usage
	has "[###########..........]  50%"
	[ "$(longest)" -le 80 ] || fail "$(longest) columns: $(said)"
	terminal 80 ipam pool list
	has "[#######......]  50%"
	[ "$(longest)" -le 80 ] || fail "$(longest) columns: $(said)"
	terminal 60 ipam pool list
	[ "$(longest)" -le 60 ] || fail "$(longest) columns: $(said)"
}

test_usage_by_namespace()
{
	need railhead-ipam
	ok ipam usage --by-namespace --json
	want '. == []'
	ok ipam pool add b --subnet 10.1.0.0/24 --this-node-only
	ok ipam pool add a --subnet 10.2.0.0/24 --this-node-only
	CARGS="K8S_POD_NAMESPACE=team-b;K8S_POD_NAME=p" lease net-a c1 '{"pool":"b"}'
	CARGS="K8S_POD_NAMESPACE=team-a;K8S_POD_NAME=p" lease net-a c2 '{"pool":"b"}'
	CARGS="K8S_POD_NAMESPACE=team-b;K8S_POD_NAME=q" lease net-a c3 '{"pool":"b"}'
	CARGS="K8S_POD_NAMESPACE=team-b;K8S_POD_NAME=r" lease net-a c4 '{"pool":"a"}'
	lease net-a c5 '{"pool":"a"}'
	lease net-b c6 '{"subnet":"10.3.0.0/24"}'
	ok ipam lease release 10.1.0.1
	ok ipam usage --by-namespace
	eq "rows" "$(sed 's/  */ /g' "$W/out")" "POOL NAMESPACE LEASED AT REST
a - 1 0
a team-b 1 0
b team-a 1 0
b team-b 1 1"
	ok ipam usage b --by-namespace --json
	want '. == [{pool:"b",namespace:"team-a",used:1,resting:0},{pool:"b",namespace:"team-b",used:1,resting:1}]'
	refused 1 "pool q does not exist" ipam usage q --by-namespace
}

test_long_names_fit_80_columns()
{
	need railhead-ipam
	local id
	id=$(printf '0123456789abcdef%.0s' 1 2 3 4)
	ok ipam pool add a-pool-with-quite-a-long-name-for-rail-0 --subnet fd00:1234:5678:9abc::/64 --this-node-only
	CARGS="K8S_POD_NAMESPACE=a-long-namespace;K8S_POD_NAME=a-long-name-of-a-pod-0" \
		lease a-network-with-a-long-name "$id" '{"pool":"a-pool-with-quite-a-long-name-for-rail-0"}'
	for words in "ipam pool list" "ipam usage" "ipam lease list"; do
		# shellcheck disable=SC2086
		terminal 80 $words
		[ "$(longest)" -le 80 ] || fail "$(longest) columns: $(said)"
	done
	terminal 40 ipam lease list
	[ "$(longest)" -le 56 ] || fail "$(longest) columns: $(said)"
	has CONT
	ok ipam lease list
	has "$id"
	has a-long-namespace/a-long-name-of-a-pod-0
}

test_verify_of_a_good_store()
{
	need railhead-ipam
	ok ipam pool add p --subnet 10.1.0.0/24 --this-node-only
	lease net-a c1 '{"pool":"p"}'
	ok ipam verify
	has "1 pool, 1 lease, 0 at rest: 0 problems found, 0 left"
	ok ipam verify --repair --json
	want '. == {version:1,state:"ok",findings:[],pools:1,leased:1,resting:0,attached:0,unrecorded:1,found:0,left:0}'
}

# --- the leases beside the attachments -----------------------------------------------------------

# problems: those of verify, which must say with its exit status that there are some.
problems()
{
	r ipam verify --json
	eq "exit status of verify" "$RC" 1
	jq -r '.findings[].value' "$W/out"
}

test_verify_of_living_attachments()
{
	need macvlan
	need railhead-ipam
	ok ipam pool add p --subnet 10.1.0.0/24 --this-node-only
	attach net-a c-one pod1 '{"type":"railhead-ipam","pool":"p"}'
	attach net-a c-two pod2 '{"type":"railhead-ipam","pool":"p"}'
	ok ipam verify --json
	want '.attached == 2 and .unrecorded == 0 and .found == 0'
	# The address was removed from the interface.
	ip -n pod1 addr flush dev net1
	eq "without its address" "$(problems)" \
		"10.1.0.1 (pool p) is leased to net1 of container c-one, which does not have it"
	ip -n pod1 addr add 10.1.0.1/24 dev net1
	# The lease of a living pod was released.
	ok ipam lease release 10.1.0.2
	[[ $(problems) == "net1 of container c-two (network net-a, "*") is attached, and holds no lease: "* ]] ||
		fail "the attachment without a lease: $(said)"
	r ipam verify
	has "1 problem found, 1 left"
	hasnt "verify --repair"
}

test_verify_of_an_attachment_that_is_gone()
{
	need macvlan
	need railhead-ipam
	attach net-a c-one pod1 '{"type":"railhead-ipam","subnet":"10.1.0.0/24"}'
	ip netns del pod1
	[[ $(problems) == "10.1.0.2 (network net-a) is leased to net1 of container c-one, which is netns-gone: "* ]] ||
		fail "the lease of what is gone: $(said)"
	ok attachments repair
	ok ipam verify
	has "0 problems"
}

test_another_data_dir()
{
	need railhead-ipam
	local dir=/var/lib/cni/data
	lease net-a c1 "{\"subnet\":\"10.3.0.0/24\",\"dataDir\":\"$dir\"}"
	ok ipam lease list --json
	want '. == []'
	ok ipam lease list --data-dir "$dir" --json
	want 'length == 1'
	ok ipam lease release 10.3.0.2 --data-dir "$dir"
	rm -r "$dir"
}

# Page by page: whatever is damaged, railctl lives to say so, or reads past it.
test_no_damage_kills_it()
{
	need railhead-ipam
	local i page size
	ok ipam pool add p --subnet 10.1.0.0/24 --this-node-only
	for i in $(seq 40); do lease net-a "c$i" '{"pool":"p"}'; done
	cp $STATE/ipam/data.mdb "$W/good.mdb"
	size=$(stat -c %s "$W/good.mdb")
	for ((page = 0; page * 4096 < size && page < 64; page++)); do
		for words in "ipam lease list" "ipam verify"; do
			cp "$W/good.mdb" $STATE/ipam/data.mdb
			head -c 4096 /dev/zero | tr '\0' '\377' |
				dd of=$STATE/ipam/data.mdb bs=4096 seek=$page conv=notrunc status=none
			# shellcheck disable=SC2086
			r $words
			[ "$RC" -le 1 ] || fail "page $page: $(said)"
			[ "$RC" = 0 ] || [ -n "$OUT$ERR" ] || fail "page $page, not a word: $(said)"
		done
	done
}

test_a_damaged_store_is_an_error()
{
	need railhead-ipam
	ok ipam pool add p --subnet 10.1.0.0/24 --this-node-only
	seq 5000 | gzip -n | head -c 8192 >$STATE/ipam/data.mdb # garbage, but the same every time
	refused 1 "$STATE/ipam" ipam pool list
}

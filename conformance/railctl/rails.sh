# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# rails.sh: `railctl rails` of a pod with two rails, and `check` while one thing at a time is broken by ip and sysctl.
# shellcheck disable=SC2154

# A pod of Kubernetes, team-a/job-0, in namespace pod1, with net1 and net2 by macvlan on masters of their own.
two_rails()
{
	need macvlan
	ip netns add pod1
	no_masters
	rail_add 1 '"rail"'
	rail_add 2 '"rail"'
}
no_masters() { for i in 1 2; do ip link del "rm$i" 2>/dev/null; done; }

rail_add() # N ROUTING
{
	ip link add "rm$1" type veth peer name "rw$1" || fail "test error: master rm$1"
	ip link set "rm$1" up
	ip link set "rw$1" up
	cat >"$FAKE/ipam-rail$1" <<-EOS
		#!/bin/bash
		[ \$CNI_COMMAND != ADD ] || echo '{"cniVersion":"1.0.0","ips":[{"address":"10.30.0.1$1/24","gateway":"10.30.0.1"},
			{"address":"fd30::1$1/64","gateway":"fd30::1"}]}'
	EOS
	chmod +x "$FAKE/ipam-rail$1"
	jq -n --arg i "$1" --argjson r "$2" '{cniVersion:"1.0.0",name:("rail"+$i),type:"macvlan",master:("rm"+$i),
		ipam:{type:("ipam-rail"+$i)},routing:$r}' >"$W/conf.rail$1"
	CNI_COMMAND=ADD CNI_CONTAINERID=c1 CNI_NETNS=/run/netns/pod1 CNI_IFNAME=net$1 CNI_PATH=$FAKE:$BIN \
		CNI_ARGS='K8S_POD_NAMESPACE=team-a;K8S_POD_NAME=job-0' "$BIN/macvlan" <"$W/conf.rail$1" >"$W/add.out" 2>&1 ||
		fail "test error: ADD: $(<"$W/add.out")"
}

in_pod() { ip netns exec pod1 "$@" || fail "test error: $*"; }

# good: nothing is found.
good()
{
	ok rails check --strict
	[[ $OUT == *' ok, 0 warned, 0 failed, 0 unknown' ]] || fail "$(said)"
	[ "$(wc -l <"$W/out")" = 1 ] || fail "only the counts: $(said)"
}
# found STATE CODE IFNAME TEXT: this finding, for this interface, in text and JSON, and with a remedy.
found()
{
	local status=0
	[ "$1" != fail ] || status=1
	r rails check
	[ "$RC$ERR" = "$status" ] || fail "must exit $status: $(said)"
	grep -q "^$1 *$2 *team-a/job-0 $3: .*$4" "$W/out" || fail "must find $1 $2 $3 '$4': $(said)"
	r rails check --strict --json
	[ "$RC" = 1 ] || fail "strict: $(said)"
	jq -e --arg s "$1" --arg c "$2" --arg i "team-a/job-0 $3" --arg t "$4" 'any(.findings[]; .state == $s and .code == $c and
		.subject == $i and (.value | contains($t)) and (.consequence | length > 0) and (.remedy | length > 0))' \
		"$W/out" >/dev/null || fail "JSON must have $1 $2 $3 '$4': $(said)"
}
# only CHECK...: no finding of another kind.
only()
{
	r rails check --json
	eq "kinds" "$(jq -r '[.findings[] | select(.state != "ok") | .check] | unique | join(" ")' "$W/out")" "$*"
}

test_rails_shows_a_pod()
{
	ok rails
	eq "nothing" "$OUT" "No rails: there is no /run/railhead/attachments here. In a container, mount that of the node."
	ok rails --json
	want '. == []'
	r rails check
	eq "nothing to check" "$RC$ERR" 1
	grep -q '^unknown *namespace-empty *records: no living attachment is on record in /run/railhead/attachments' "$W/out" || fail "it must say why: $(said)"
	two_rails
	ok rails
	eq "rows" "$(tail -n +2 "$W/out" | awk '{ print $1, $2, $5, $6, $7, $8, $9 }')" \
		"team-a/job-0 net1 10.30.0.11/24 fd30::11/64 1000 2 1500
team-a/job-0 net2 10.30.0.12/24 fd30::12/64 1001 2 1500"
	has '10.30.0.1=?'
	ok rails --pod job-0 --json
	want 'length == 1 and (.[0] | .namespace == "team-a" and .pod == "job-0" and .container == "c1" and
		.netns == "/run/netns/pod1" and (.rails | length == 2))'
	want '.[0].rails[1] | .ifname == "net2" and .present and .network == "rail2" and .plugin == "macvlan" and
		.master == "rm2" and .mtu == 1500 and .masterMtu == 1500 and .up and .carrier and .table == 1001 and
		(has("hca") | not) and (has("rail") | not) and .addresses == ["10.30.0.12/24", "fd30::12/64"] and
		(.rules | map(.from + " " + (.priority | tostring)) == ["10.30.0.12/32 1000", "fd30::12/128 1000"]) and
		.settings == {arp_ignore: 1, arp_announce: 2, rp_filter: 2, proxy_arp: 0, ignore_routes_with_linkdown: 1,
			"ipv6.ignore_routes_with_linkdown": 1, "ipv6.accept_ra_defrtr": 0}'
	want '.[0].rails[0].routes | any(.dst == "0.0.0.0/0" and .gw == "10.30.0.1" and .table == 1000)'
	in_pod ip neigh add 10.30.0.1 lladdr 02:00:00:00:00:77 dev net1
	ok rails --pod c
	has '10.30.0.1=02:00:00:00:00:77'
	ok rails --pod team-a/job-0 --json
	want '.[0].rails[0].neighbours | any(.address == "10.30.0.1" and .mac == "02:00:00:00:00:77" and .state == "known")'
	refused 1 'no pod or container "job-1"' rails --pod job-1
	refused 1 'no pod or container "team-b/job-0"' rails check --pod team-b/job-0
	good
	no_masters
}

# One attachment has several interfaces.
test_rails_of_one_ADD()
{
	local i
	need rails
	ip netns add pod1
	no_masters
	for i in 1 2; do
		ip link add "rm$i" type veth peer name "rw$i" && ip link set "rm$i" up && ip link set "rw$i" up || fail "test error: rm$i"
	done
	echo '{"rails":[{"rail":1,"interface":"rm1"},{"rail":2,"interface":"rm2"}]}' >/etc/railhead/rails.json
	CNI_COMMAND=ADD CNI_CONTAINERID=c1 CNI_NETNS=/run/netns/pod1 CNI_IFNAME=net1 CNI_PATH=$BIN \
		"$BIN/rails" <<<'{"cniVersion":"1.0.0","name":"all","type":"rails","kind":"macvlan"}' >"$W/add.out" 2>&1 || fail "ADD: $(<"$W/add.out")"
	ok rails --json
	want '[.[0].rails[] | "\(.ifname) \(.master) \(.plugin) \(.network) \(.rail)"] == ["net1 rm1 rails all 1", "net1r2 rm2 rails all 2"]'
	rm /etc/railhead/rails.json
	in_pod ip link del net1r2
	r rails check --json
	[ "$RC" = 1 ] || fail "must fail: $(said)"
	want 'any(.findings[]; .state == "fail" and .check == "interface" and (.subject | endswith("net1r2")))'
	refused 2 'names no pod' rails --pod ''
	for i in $RUN/attachments/all/*; do echo '{' >"$i"; done
	r rails check --strict --json
	[ "$RC" = 1 ] || fail "a damaged record: $(said)"
	want '(.findings | length) == 1 and .findings[0].state == "unknown" and .findings[0].code == "namespace-record" and (.findings[0].value | startswith("1 "))'
	no_masters
}

test_rails_of_a_namespace_without_records()
{
	local i
	ip netns add pod1
	refused 2 'must be an absolute path' rails --netns pod1
	refused 1 '/run/netns/nothing: No such file' rails check --netns /run/netns/nothing
	refused 2 'exclude each other' rails --netns /run/netns/pod1 --pod x
	ok rails --netns /run/netns/pod1
	eq "nothing" "$OUT" "No rails in this namespace."
	for i in 1 2; do
		ip -n pod1 link add "net$i" type veth peer name "far$i"
		ip -n pod1 link set "net$i" up
		ip -n pod1 link set "far$i" up
		ip -n pod1 addr add "10.5$i.0.5/24" dev "net$i"
	done
	ip -n pod1 rule add from 10.51.0.5 lookup 100
	ip -n pod1 route add 10.51.0.0/24 dev net1 table 100
	ok rails --netns /run/netns/pod1 --json
	want 'length == 1 and (.[0].rails | map(.ifname + " " + (.table | tostring)) == ["net1 100"]) and
		(.[0] | has("pod") | not)'
}

# As in the pod itself, which has no records: what is there is checked, by root and by others.
test_rails_check_in_a_pod()
{
	local who
	two_rails
	find $RUN -mindepth 1 -delete && chmod 755 $RUN
	in_pod ip rule del from 10.30.0.11
	for who in "" "setpriv --reuid=65534 --regid=65534 --clear-groups"; do
		# shellcheck disable=SC2086
		ip netns exec pod1 $who "$BIN/railctl" rails check >"$W/out" 2>"$W/err"
		RC=$? OUT=$(<"$W/out") ERR=$(<"$W/err") LAST="rails check in the pod $who"
		[ "$ERR" = "" ] && grep -q 'warn *rule-missing .*net1: no rule from 10.30.0.11' "$W/out" || fail "must find the rule: $(said)"
		ip netns exec pod1 $who "$BIN/railctl" rails --json >"$W/out"
		want 'length == 1 and (.[0].rails | map(.ifname) | sort == ["net1", "net2"])'
	done
	in_pod ip rule flush
	in_pod ip -6 rule flush
	ip netns exec pod1 "$BIN/railctl" rails check --json >"$W/out"
	eq "nothing to check" $? 1
	want '(.findings | length) == 1 and .findings[0].code == "namespace-empty" and .state == "unknown"'
	no_masters
}

test_rails_check_finds_rules_and_routes()
{
	two_rails
	good
	in_pod ip rule del from 10.30.0.11
	found fail rule-missing net1 'no rule from 10.30.0.11'
	has 'ip rule add from 10.30.0.11 lookup 1000 priority 1000'
	# the main table has one way for both rails
	in_pod ip rule add from 10.30.0.11 lookup 1001 priority 1000
	found fail rule-wrong net1 'leads to table 1001, not 1000'
	only rule
	in_pod ip rule del from 10.30.0.11
	in_pod ip rule add from 10.30.0.11 lookup 1000 priority 1000
	good
	in_pod ip -6 rule del from fd30::12
	found fail rule-missing net2 'no rule from fd30::12'
	has 'ip -6 rule add from fd30::12 lookup 1001 priority 1000'
	in_pod ip -6 rule add from fd30::12 lookup 1001 priority 1000
	good
	in_pod ip route add 10.77.0.0/16 dev net2 table 1000
	found fail route-wrong net1 'route to 10.77.0.0/16 in table 1000 is by net2'
	only route
	in_pod ip route del 10.77.0.0/16 dev net2 table 1000
	good
	in_pod ip route flush table 1001
	found fail route-missing net2 'table 1001 has no route of IPv4'
	in_pod ip route add 10.30.0.0/24 dev net2 table 1001 scope link
	in_pod ip route add default via 10.30.0.1 dev net2 table 1001
	good
	# The rule and the table are right, but the kernel takes another way: only it knows.
	in_pod ip rule add to 10.30.0.1 iif lo lookup main priority 10
	in_pod ip route add 10.30.0.1 dev net2 metric 1
	found fail way-wrong net1 'from 10.30.0.11 to gateway 10.30.0.1: by net2'
	only route way
	in_pod ip rule del priority 10
	in_pod ip route del 10.30.0.1 dev net2 metric 1
	good
	no_masters
}

test_rails_check_finds_settings()
{
	two_rails
	in_pod sysctl -qw net.ipv4.conf.net2.arp_ignore=0
	found fail arp-ignore net2 'arp_ignore is 0, should be 1'
	only arp
	in_pod sysctl -qw net.ipv4.conf.net2.arp_ignore=1 net.ipv4.conf.net1.arp_announce=0
	found fail arp-announce net1 'arp_announce is 0, should be 2'
	# the larger one of the interface and of all counts
	in_pod sysctl -qw net.ipv4.conf.all.arp_announce=2
	good
	in_pod sysctl -qw net.ipv4.conf.net1.rp_filter=1 net.ipv4.conf.all.rp_filter=0
	found warn arp-rp-filter net1 'rp_filter is 1, should be 2'
	in_pod sysctl -qw net.ipv4.conf.net1.rp_filter=2
	good
	no_masters
}

test_rails_check_finds_links()
{
	two_rails
	in_pod ip link set net1 mtu 1400
	found warn mtu-master net1 '1400, but master rm1 has 1500'
	in_pod ip link set net1 mtu 1500
	in_pod ip route change default via 10.30.0.1 dev net1 table 1000 mtu 9000
	found warn mtu-route net1 'the route to 0.0.0.0/0 has 9000'
	in_pod ip route change default via 10.30.0.1 dev net1 table 1000
	good
	ip link set rw2 down
	eventually sh -c '! ip -n pod1 link show net2 | grep -q LOWER_UP'
	found fail carrier-lost net2 'no carrier'
	ip link set rw2 up
	eventually sh -c 'ip -n pod1 link show net2 | grep -q LOWER_UP'
	good
	in_pod ip neigh replace 10.30.0.1 dev net1 lladdr "$(ip -n pod1 -j link show net2 | jq -r '.[0].address')"
	found fail gateway-self net1 '10.30.0.1 is '
	in_pod ip neigh del 10.30.0.1 dev net1
	in_pod ip addr del 10.30.0.12/24 dev net2
	found fail address-missing net2 '10.30.0.12 is missing'
	in_pod ip link del net2
	found fail interface-missing net2 'no such interface'
	no_masters
}

# Attachments without "routing" are legal. Of two in one network, the main table sends both by one of them.
test_rails_check_without_routing()
{
	need macvlan
	ip netns add pod1
	no_masters
	rail_add 1 null
	in_pod ip route add default via 10.30.0.1 dev net1
	ok rails
	eq "row" "$(tail -n +2 "$W/out" | awk '{ print $2, $7, $8 }')" "net1 - -"
	good
	rail_add 2 null
	in_pod ip route add default via 10.30.0.1 dev net2 metric 5
	found warn way-shared net2 'from 10.30.0.12 to gateway 10.30.0.1: by net1, table 254'
	want 'any(.findings[]; .remedy | contains("\"routing\": \"rail\""))'
	only way
	no_masters
}

# A namespace that cannot be found from here is unknown; one that is gone has no rails.
test_rails_of_namespaces_that_are_gone()
{
	local i
	two_rails
	cp "$RUN/attachments/rail1/c1,net1" "$W/record.kept"
	rewrite "$RUN/attachments/rail1/c1,net1" '.netnsInode = 0 | .netns = "/run/work"'
	ok rails
	eq "the other one" "$(awk '$2 == "net2" { print $6 }' "$W/out")" fd30::12/64
	grep -q '^team-a/job-0: ' "$W/out" || fail "must say why: $(said)"
	ok rails --json
	want 'length == 2 and (.[0].why | length > 0) and (.[1] | has("why") | not)'
	ok rails check
	has 'unknown  namespace-unread   team-a/job-0: '
	r rails check --strict
	eq "strict" "$RC" 1
	cp "$W/record.kept" "$RUN/attachments/rail1/c1,net1"
	for i in 1 2; do rewrite "$RUN/attachments/rail$i/c1,net$i" '.netnsCookie = 1'; done
	ip netns del pod1
	ok rails
	eq "nothing" "$OUT" "No rails."
	no_masters
}

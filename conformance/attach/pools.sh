# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Named pools, and the operator's side: railctl ipam.

ctl() { is "railctl $*" "$RAILCTL" "$@"; }
ctl_fails()
{
	local rc
	"$RAILCTL" "$@" >"$W/ctl" 2>&1
	rc=$?
	[ "$rc" -ge 1 ] && [ "$rc" -le 2 ] || fail "railctl $* must fail, exit $rc: $(head -c 300 "$W/ctl")"
}
ctl_said() { [[ $(<"$W/ctl") == *"$1"* ]] || fail "railctl must say '$1', said: $(head -c 300 "$W/ctl")"; }
pool_add() { ctl ipam pool add "$@"; }
pool_del()
{
	local p
	for p; do ctl ipam pool delete --force "$p"; done
}
# draw N POOLS-JSON: ADD for container cN from a pool or a list of pools.
draw() { ask "$1" "$(pool_conf "$2")" "${3:-.}"; }
pool_conf()
{
	case $1 in
	\[*) printf '{"pools":%s}' "$1" ;;
	*) printf '{"pool":"%s"}' "$1" ;;
	esac
}
pool_refused()
{
	refused "$1" "$(pool_conf "$2")" . "${@:3}"
}
pod_is() { CARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=$1;K8S_POD_NAME=${2-p}"; }

test_pools_one_pool()
{
	need_railhead
	pool_add rail0 --subnet 10.90.0.0/24 --gateway 10.90.0.1 --range 10.90.0.10-10.90.0.20 --range 10.90.0.30 \
		--exclude 10.90.0.10-10.90.0.19 --route 0.0.0.0/0 --route 10.91.0.0/16,10.90.0.2
	draw 1 rail0
	want "result" '.ips == [{address:"10.90.0.20/24",gateway:"10.90.0.1"}] and .routes ==
		[{dst:"0.0.0.0/0"},{dst:"10.91.0.0/16",gw:"10.90.0.2"}]'
	draw 2 rail0
	eq "the second range" "$(got)" 10.90.0.30/24
	pool_refused 3 rail0 101 rail0
	want_ok STATUS
	edit '.ipam.statusWhenFull=true'
	cni_net STATUS
	is_err 50 rail0
	give 1 2
	want_ok STATUS
	pool_del rail0
}

test_pools_dual_stack_both_or_neither()
{
	need_railhead
	pool_add rail0-v4 --subnet 10.90.0.0/24 --this-node-only
	pool_add rail0-v6 --subnet fd00:90::/64 --range fd00:90::5
	draw 1 '["rail0-v4","rail0-v6"]'
	eq "one of each family" "$(got | sed 's,10\.90\.0\.[0-9]*/24,v4,; s,fd00:90::5/64,v6,')" "v4 v6"
	pool_refused 2 '["rail0-v4","rail0-v6"]' 101 rail0-v6
	eq "leases" "$(lease_count)" 2
	give 1
	draw 2 '["rail0-v6","rail0-v4"]'
	give 2
	pool_del rail0-v4 rail0-v6
}

test_pools_are_tried_in_the_order_written()
{
	need_railhead
	pool_add first --subnet 10.90.1.0/24 --range 10.90.1.7
	pool_add second --subnet 10.90.2.0/24 --range 10.90.2.7
	pool_add six --subnet fd00:90::/64 --this-node-only
	draw 1 '["second","six","first"]'
	eq "the first written" "$(addr4)" 10.90.2.7/24
	draw 2 '["second","six","first"]'
	eq "the next when that is empty" "$(addr4)" 10.90.1.7/24
	[ -n "$(addr6)" ] || fail "no IPv6 address"
	pool_refused 3 '["second","first"]' 101 second first
	give 1 2
	pool_del first second six
}

test_pools_namespaces()
{
	need_railhead
	pool_add team --subnet 10.90.0.0/24 --this-node-only --namespace team-a --namespace team-b
	pod_is team-a
	draw 1 team
	pod_is team-b
	draw 2 team
	pod_is team-c
	pool_refused 3 team 106 team-c team
	CARGS=
	pool_refused 3 team 106 team
	eq leases "$(lease_count)" 2
	give 1 2
	pool_del team
}

# A pool that may not be drawn from is passed over when another one may.
test_pools_namespaces_and_order()
{
	need_railhead
	pool_add team --subnet 10.90.1.0/24 --this-node-only --namespace team-a
	pool_add all --subnet 10.90.2.0/24 --this-node-only
	pod_is team-c
	draw 1 '["team","all"]'
	has "address" "$(got)" 10.90.2.
	pod_is team-a
	draw 2 '["team","all"]'
	has "address" "$(got)" 10.90.1.
	give 1 2
	pool_del team all
}

test_pools_quota()
{
	need_railhead
	pool_add q --subnet 10.90.0.0/24 --this-node-only --quota 2 --quota big=3
	pod_is a p1
	draw 1 q
	draw 2 q
	pool_refused 3 q 106 quota a 2
	# Asking again for what one has is no further draw.
	draw 2 q
	pod_is b p1
	draw 4 q
	pod_is big p1
	draw 5 q
	draw 6 q
	draw 7 q
	pool_refused 8 q 106 quota big 3
	pod_is a
	give 1
	draw 3 q
	give 2 3 4 5 6 7
	pool_del q
}

test_pools_quota_in_parallel()
{
	local i good=0
	need_railhead
	pool_add q --subnet 10.90.0.0/24 --this-node-only --quota 5
	PLUGIN=$IPAM
	pod_is a
	conf_ipam '{"pool":"q"}' "del(.master) | .ipam.type=\"$IPAM\""
	for i in {1..20}; do
		(
			CID=c$i
			cni_to "$i" ADD
		) &
	done
	wait
	for i in {1..20}; do [ "$(<"$W/par.$i.rc")" != 0 ] || good=$((good + 1)); done
	eq "successes" "$good" 5
	eq leases "$(lease_count)" 5
	give {1..20}
	pool_del q
}

test_pools_sticky_and_cooldown()
{
	local a
	need_railhead
	pool_add s --subnet 10.90.0.0/29 --this-node-only --sticky --cooldown 3600
	pod_is ns web-0
	draw 1 s
	a=$(got)
	give 1
	pod_is ns other
	draw 2 s
	[ "$(got)" != "$a" ] || fail "$a was given to another pod while others are free"
	pod_is ns web-0
	draw 3 s
	eq "the same pod" "$(got)" "$a"
	give 2 3
	pool_del s
	pool_add strict --subnet 10.90.0.0/29 --range 10.90.0.3 --cooldown 3600 --strict-cooldown
	CARGS=
	draw 1 strict
	give 1
	pool_refused 2 strict 101 strict
	ctl ipam pool set strict --no-strict-cooldown
	draw 2 strict
	eq "the resting one" "$(got)" 10.90.0.3/29
	give 2
	pool_del strict
}

# One pool, two networks: a pool is shared by all that name it.
test_pools_are_shared_by_networks()
{
	local a
	need_railhead
	pool_add p --subnet 10.90.0.0/24 --this-node-only
	draw 1 p '.name="net-a"'
	a=$(got)
	draw 2 p '.name="net-b"'
	[ "$(got)" != "$a" ] || fail "two networks got $a from one pool"
	# GC of one network leaves the other's alone.
	edit '.name="net-a" | ."cni.dev/valid-attachments"=[]'
	want_ok GC
	eq leases "$(lease_count)" 1
	edit '.name="net-b" | del(."cni.dev/valid-attachments")'
	give 2
	pool_del p
}

test_pools_with_macvlan()
{
	need_railhead
	pool_add rail0-v4 --subnet 10.90.0.0/24 --this-node-only --gateway 10.90.0.1 --route 0.0.0.0/0
	pool_add rail0-v6 --subnet fd00:90::/64 --this-node-only --gateway fd00:90::1
	pod p1
	conf_ipam '{"type":"railhead-ipam","pools":["rail0-v4","rail0-v6"]}'
	want_ok ADD
	has_addr p1 net1 "$(addr4)"
	has_addr p1 net1 "$(addr6)"
	prev
	want_ok CHECK STATUS DEL
	pool_del rail0-v4 rail0-v6
}

test_pools_add_refuses_nonsense()
{
	need_railhead
	ctl_fails ipam pool add x
	ctl_fails ipam pool add x --subnet banana
	ctl_said banana
	ctl_fails ipam pool add x --subnet 10.1.0.5/24
	ctl_said 10.1.0.5/24
	ctl_fails ipam pool add x --subnet 10.1.0.0/24 --range 10.2.0.1-10.2.0.9
	ctl_said 10.2.0.1
	ctl_fails ipam pool add x --subnet 10.1.0.0/24 --gateway 10.2.0.1
	ctl_said 10.2.0.1
	ctl_fails ipam pool add a/b --subnet 10.1.0.0/24
	ctl_fails ipam pool add x --subnet 10.1.0.0/24 --cooldown -1
	ctl_fails ipam pool add x --subnet 10.1.0.0/24 --quota many
	ctl_fails ipam pool add x --subnet 10.1.0.0/24 --bogus
	ctl_fails ipam pool add x --subnet 10.1.0.0/24 --exclude 10.1.0.0/24
	eq "pools" "$("$RAILCTL" ipam pool list --json | jq -c 'if type == "object" then .pools else . end | length')" 0
	pool_add x --subnet 10.1.0.0/24 --this-node-only
	ctl_fails ipam pool add x --subnet 10.9.0.0/24 --this-node-only
	ctl_said x
	# Overlapping pools would give one address twice.
	ctl_fails ipam pool add y --subnet 10.1.0.128/25 --this-node-only
	ctl_said x
	ctl_fails ipam pool add y --subnet 10.0.0.0/8 --this-node-only
	ctl_fails ipam pool add y --subnet 10.9.0.0/24
	ctl_said --this-node-only
	pool_del x
}

test_pools_in_use_are_not_deleted()
{
	need_railhead
	pool_add p --subnet 10.90.0.0/24 --this-node-only
	draw 1 p
	ctl_fails ipam pool delete p
	ctl_said p
	has_lease "$(addr4)"
	ctl_fails ipam pool delete nosuch
	ctl_said nosuch
	give 1
	ctl ipam pool delete p
	ctl_fails ipam pool show p
	pool_add p --subnet 10.90.0.0/24 --this-node-only
	draw 1 p
	ctl ipam pool delete --force p
	# Its leases go with it; the late DEL of their owner is still a success.
	eq leases "$(lease_count)" 0
	give 1
}

test_pools_list_show_set()
{
	need_railhead
	pool_add p --subnet 10.90.0.0/24 --this-node-only --gateway 10.90.0.1
	draw 1 p
	is "list" sh -c "'$RAILCTL' ipam pool list | grep -q 10.90.0.0/24"
	is "list --json" sh -c "'$RAILCTL' ipam pool list --json | jq -e '(if type == \"object\" then .pools else . end) |
		length == 1 and (.[0] | tostring | contains(\"10.90.0.0/24\"))'"
	is "show" sh -c "'$RAILCTL' ipam pool show p | grep -q 10.90.0.1"
	is "show --json" sh -c "'$RAILCTL' ipam pool show p --json | jq -e 'tostring | contains(\"10.90.0.0/24\")'"
	ctl ipam pool set p --range 10.90.0.100-10.90.0.101
	draw 2 p
	eq "the new range" "$(got)" 10.90.0.100/24
	ctl_fails ipam pool set p --range 10.99.0.1
	ctl_fails ipam pool set nosuch --sticky
	give 1 2
	pool_del p
}

test_pools_leases_by_railctl()
{
	local a
	need_railhead
	pool_add p --subnet 10.90.0.0/24 --this-node-only
	pod_is team-a web
	draw 1 p
	a=$(addr4)
	CARGS=
	draw 2 "p"
	ask 3 "$(v4_ipam)"
	eq "all" "$(lease_count)" 3
	eq "of the pool" "$("$RAILCTL" ipam lease list --pool p --json | jq 'if type == "object" then .leases else . end | length')" 2
	eq "of the namespace" "$("$RAILCTL" ipam lease list --namespace team-a --json |
		jq -c 'if type == "object" then .leases else . end | map(.address)')" "[\"${a%/*}\"]"
	is "plain" sh -c "'$RAILCTL' ipam lease list | grep -q web"
	ctl ipam lease release "${a%/*}"
	no_lease "$a"
	ctl_fails ipam lease release 10.90.0.250
	ctl_fails ipam lease release banana
	# Its owner's DEL is still a success, and does not free what another one has by then.
	give 1
	conf_ipam '{"pool":"p"}' "del(.master) | .ipam.type=\"$IPAM\""
	give 2
	conf_ipam "$(v4_ipam)" "del(.master) | .ipam.type=\"$IPAM\""
	give 3
	pool_del p
}

test_pools_verify()
{
	need_railhead
	pool_add p --subnet 10.90.0.0/24 --this-node-only
	draw 1 p
	ctl ipam verify
	is "verify --json" sh -c "'$RAILCTL' ipam verify --json | jq -e ."
	ctl ipam verify --repair
	has_lease "$(addr4)"
	give 1
	pool_del p
	ctl ipam verify
}

test_pools_railctl_usage()
{
	need_railhead
	is "help" "$RAILCTL" --help
	is "help" "$RAILCTL" ipam pool add --help
	"$RAILCTL" bogus >"$W/ctl" 2>&1
	eq "exit of an unknown command" "$?" 2
	ctl_said bogus
	"$RAILCTL" ipam pool ad x >"$W/ctl" 2>&1
	eq "exit of an unknown command" "$?" 2
	ctl_said add
	"$RAILCTL" ipam pool list --json >/dev/full 2>"$W/ctl"
	[ $? = 1 ] || fail "writing to a full device must fail"
	rm -rf $STATE
	is "an empty store is not an error" sh -c "'$RAILCTL' ipam lease list --json | jq -e ."
}

leaf4() { addr4 | sed 's,[0-9]*/,N/,'; }

# One network for all leaf groups: the pool is that of the network which the master is on.
test_pools_match_master()
{
	local conf='{"pools":"rail0-*","matchMaster":true}'
	need_railhead
	pool_add rail0-leaf0 --subnet 10.90.0.0/22 --range 10.90.0.100-10.90.0.110
	pool_add rail0-leaf1 --subnet 10.90.4.0/22 --range 10.90.4.100-10.90.4.110
	pool_add rail1-leaf1 --subnet 10.91.4.0/22 --range 10.91.4.100-10.91.4.110
	ip addr add 10.90.4.9/22 dev "$MASTER"
	pod p1
	PLUGIN=macvlan
	conf_ipam "$conf" ".ipam.type=\"$IPAM\""
	want_ok STATUS ADD
	eq "the leaf group of the node" "$(leaf4)" 10.90.4.N/22
	want_ok DEL
	# Several names, and a name beside a pattern that has it.
	conf_ipam '{"pools":["rail0-leaf0","rail?-leaf1","rail0-leaf1"],"matchMaster":true}' ".ipam.type=\"$IPAM\""
	want_ok ADD
	eq "from a list" "$(leaf4)" 10.90.4.N/22
	want_ok DEL
	# The node moves to another leaf group.
	ip addr del 10.90.4.9/22 dev "$MASTER"
	ip addr add 10.90.1.9/22 dev "$MASTER"
	conf_ipam "$conf" ".ipam.type=\"$IPAM\""
	want_ok ADD
	eq "the other leaf group" "$(leaf4)" 10.90.0.N/22
	want_ok DEL
	# Both families: each needs a pool.
	pool_add rail0-six --subnet fd00:90::/64 --range fd00:90::5
	want_err ADD 7 "no IPv6 pool" "$MASTER" 10.90.1.9/22 rail0-six fd00:90::/64
	ip addr add fd00:90::1/64 dev "$MASTER" nodad
	want_ok ADD
	eq "both" "$(leaf4) $(addr6)" "10.90.0.N/22 fd00:90::5/64"
	want_ok DEL
	ip addr del fd00:90::1/64 dev "$MASTER"
	ip addr del 10.90.1.9/22 dev "$MASTER"
	pool_del rail0-leaf0 rail0-leaf1 rail1-leaf1 rail0-six
}

test_pools_match_master_errors()
{
	need_railhead
	pool_add rail0-leaf0 --subnet 10.90.0.0/22 --range 10.90.0.100-10.90.0.110
	ip addr add 10.92.4.9/22 dev "$MASTER"
	pod p1
	PLUGIN=macvlan
	conf_ipam '{"pools":"rail0-*","matchMaster":true}' ".ipam.type=\"$IPAM\""
	want_err ADD 7 "$MASTER" 10.92.4.9/22 "rail0-leaf0 10.90.0.0/22"
	nothing_left "no pool"
	conf_ipam '{"pools":"other*","matchMaster":true}' ".ipam.type=\"$IPAM\""
	want_err ADD 7 'a name like' 'other*'
	conf_ipam '{"pools":"rail0-*"}' ".ipam.type=\"$IPAM\""
	want_ok ADD
	want_ok DEL
	ip addr del 10.92.4.9/22 dev "$MASTER"
	pool_del rail0-leaf0
}

# As the IPAM of another plugin it finds the master by itself.
test_pools_match_master_of_other_plugins()
{
	need_railhead
	pool_add a --subnet 10.90.0.0/22 --range 10.90.0.100-10.90.0.110
	pool_add b --subnet 10.90.4.0/22 --range 10.90.4.100-10.90.4.110
	ip addr add 10.90.4.9/22 dev "$MASTER"
	ask 1 '{"pools":["a","b"],"matchMaster":true}' ".master=\"$MASTER\""
	eq "by master" "$(addr4)" 10.90.4.100/22
	refused 2 '{"pools":["a","b"],"matchMaster":true}' '.master="nosuch0"' '7|100|103|107' nosuch0
	refused 2 '{"pools":["a","b"],"matchMaster":true}' ".master=\"$MASTER\" | .linkInContainer=true" 7 "no master on the host"
	refused 2 '{"pools":["a","b"],"matchMaster":true}' '.deviceID="0000:ff:1f.7"' 108 0000:ff:1f.7
	give 1
	ip addr del 10.90.4.9/22 dev "$MASTER"
	pool_del a b
}

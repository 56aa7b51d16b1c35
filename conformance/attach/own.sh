# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The node has addresses itself, inside the ranges that its pods draw from: no pod gets one of them.

# node_has ADDRESS...: on an interface that is up. node_has_down: on one that is down.
node_has()
{
	local a
	trap 'ip addr flush dev "$MASTER" scope global; ip link del idle0 2>/dev/null' EXIT
	for a; do ip addr add "$a" dev "$MASTER" nodad 2>/dev/null || ip addr add "$a" dev "$MASTER" || fail "test error: $a"; done
}
node_has_down()
{
	local a
	ip link show idle0 >/dev/null 2>&1 || ip link add idle0 type veth peer name idle1 || fail "test error: idle0"
	for a; do ip addr add "$a" dev idle0 || fail "test error: $a"; done
}

# none_of_the_node N: the addresses that N containers get, at first and again after they were freed, are their own and not the node's.
none_of_the_node()
{
	local n=$1 i round seen
	for round in first again; do
		seen=
		for ((i = 1; i <= n; i++)); do
			PLUGIN=$IPAM CID=c$i NS=/run/netns/none
			want_ok ADD
			seen+=" $(got | sed 's,/[0-9]*,,g')"
		done
		eq "addresses of two pods, $round" "$(tr ' ' '\n' <<<"$seen" | grep . | sort | uniq -d)" ""
		for i in $seen; do
			! ip -o addr show | grep -qE " (inet|inet6) ${i}[/ ]" || fail "$round, with $(jq -c .ipam "$W/conf"): a pod got $i of the node"
		done
		for ((i = 1; i <= n; i++)); do give "$i"; done
	done
}

OWN4=(10.81.0.1/24 10.81.0.2/24 10.81.0.4/32)
OWN6=(fd00:81::1/64 fd00:81::3/128)

test_own_addresses_in_every_form_of_ipam()
{
	local form
	need_railhead
	node_has "${OWN4[@]}" "${OWN6[@]}"
	node_has_down 10.81.0.5/24
	for form in '{"subnet":"10.81.0.0/24"}' '{"subnet":"10.81.0.0/24","gateway":"10.81.0.254"}' \
		'{"subnet":"10.81.0.0/24","rangeStart":"10.81.0.2","rangeEnd":"10.81.0.9"}' \
		'{"ranges":[[{"subnet":"10.81.0.0/24"}],[{"subnet":"fd00:81::/64"}]]}' \
		'{"range":"10.81.0.0/28","thisNodeOnly":true}' '{"range":"10.81.0.0-10.81.0.8/24","thisNodeOnly":true}' \
		'{"thisNodeOnly":true,"ipRanges":[{"range":"10.81.0.0/24"},{"range":"fd00:81::/64"}]}' \
		'{"subnet":"10.81.0.0/24","sticky":true,"strictCooldown":false,"cooldown":0}'; do
		PLUGIN=$IPAM
		conf_ipam "$form" "del(.master) | .ipam.type=\"$IPAM\""
		none_of_the_node 4
	done
}

test_own_addresses_in_pools()
{
	need_railhead
	node_has "${OWN4[@]}" "${OWN6[@]}" 10.84.0.1/24 10.84.0.3/24
	pool_add own4 --subnet 10.81.0.0/24 --this-node-only
	pool_add own6 --subnet fd00:81::/64 --this-node-only
	is "its number" "$RAILCTL" ipam node set 0
	pool_add slice4 --subnet 10.84.0.0/24 --slice 8
	for p in '["own4"]' '["own6"]' '["own4","own6"]' '["slice4"]'; do
		PLUGIN=$IPAM
		conf_ipam "{\"pools\":$p}" "del(.master) | .ipam.type=\"$IPAM\""
		none_of_the_node 3
	done
	pool_del own4 own6 slice4
	rm -f /etc/railhead/node.json
}

# The plugin of the interface draws in a child of its own, or by the program.
test_own_addresses_of_an_interface()
{
	local pool='{"type":"railhead-ipam","ranges":[[{"subnet":"10.84.0.0/24"}],[{"subnet":"fd00:84::/64"}]]}'
	need_railhead
	node_has 10.84.0.2/24 10.84.0.3/32 fd00:84::1/64
	pod p1
	PLUGIN=macvlan
	conf_ipam "$pool"
	want_ok ADD
	eq "the addresses" "$(addr4) $(addr6)" "10.84.0.4/24 fd00:84::2/64"
	prev
	want_ok CHECK DEL
}

test_own_address_that_is_requested()
{
	local want
	need_railhead
	node_has 10.81.0.7/24 fd00:81::7/64
	node_has_down 10.81.0.8/24
	for want in 10.81.0.7 10.81.0.8 fd00:81::7; do
		refused 1 '{"ranges":[[{"subnet":"10.81.0.0/24"}],[{"subnet":"fd00:81::/64"}]]}' ".runtimeConfig={ips:[\"$want\"]}" 103 "$want" node
	done
	CARGS='IgnoreUnknown=1;IP=10.81.0.7'
	refused 1 '{"subnet":"10.81.0.0/24"}' . 103 10.81.0.7 node
	CARGS=
	refused 1 '{"range":"10.81.0.0/24","thisNodeOnly":true}' '.args={cni:{ips:["10.81.0.7"]}}' 103 10.81.0.7 node
	refused 1 '{"subnet":"10.82.0.0/24","addresses":[{"address":"10.81.0.7/24"}]}' . 103 10.81.0.7 node
	pool_add own4 --subnet 10.81.0.0/24 --this-node-only
	refused 1 '{"pool":"own4"}' '.runtimeConfig={ips:["10.81.0.8"]}' 103 10.81.0.8 node
	eq leases "$(lease_count)" 0
	pool_del own4
}

# A program of another project may return it, as static does with what the author of a pod asks for.
test_own_address_of_a_foreign_ipam()
{
	need_railhead
	node_has 10.9.0.5/24
	fake_good other-ipam
	pod p1
	PLUGIN=macvlan
	CPATH=$FAKE:$BIN
	conf '.ipam={type:"other-ipam"}'
	want_err ADD 103 10.9.0.5 node
	eq "it was told" "$(fake_log other-ipam)" "ADD DEL "
	no_link p1 net1
	ip addr del 10.9.0.5/24 dev "$MASTER"
	want_ok ADD DEL
}

# The node takes the address that a pod has: the commands that an operator runs find it.
test_own_address_that_a_living_pod_has()
{
	local a
	need_railhead
	pod p1
	PLUGIN=macvlan
	conf_ipam '{"type":"railhead-ipam","ranges":[[{"subnet":"10.86.0.0/24"}],[{"subnet":"fd00:86::/64"}]]}' '.routing="rail"'
	want_ok ADD
	ctl ipam verify
	ctl rails check
	for a in "$(addr4)" "$(addr6)"; do
		node_has "${a%/*}"
		ctl_fails ipam verify
		ctl_said "${a%/*} (network"
		ctl_said "the node itself has it"
		ctl_fails rails check --json
		eq "finding" "$(jq -r '.. | objects | select(.code? == "address-node") | .value' "$W/ctl")" "the node has ${a%/*}, too"
		ip addr flush to "${a%/*}" dev "$MASTER"
	done
	ctl ipam verify
	ctl rails check
	want_ok DEL
}

# Later the node takes the address that a pod had: nobody gets it again, the pod of the sticky one neither.
test_own_address_that_the_node_takes_later()
{
	local a
	need_railhead
	CARGS='IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=web-0'
	ask 1 '{"subnet":"10.81.6.0/29","sticky":true,"cooldown":0}'
	a=$(got)
	ask 1 '{"subnet":"10.81.6.0/29","sticky":true,"cooldown":0}'
	eq "a repeated ADD" "$(got)" "$a"
	give 1
	node_has "$a"
	none_of_the_node 4
}

# The pool has no other address: it is full. Once the node has it no longer, a pod gets it.
test_own_address_is_the_last_one()
{
	local first=10.81.7.1 range='{"range":"10.81.7.0/29","thisNodeOnly":true}'
	need_railhead
	node_has $first/29
	for i in 2 3 4 5 6; do
		ask $i "$range"
	done
	refused 7 "$range" . 101
	ip addr del $first/29 dev "$MASTER"
	ask 7 "$range"
	eq "the address that the node had" "$(got)" $first/29
	give 2 3 4 5 6 7
}

# A local route makes all of them the node's: the search ends.
test_own_addresses_without_end()
{
	need_railhead
	trap 'ip route del local 10.0.0.0/8 dev lo' EXIT
	ip link set lo up
	ip route add local 10.0.0.0/8 dev lo || skip "no route of type local"
	refused 1 '{"subnet":"10.0.0.0/8"}' . 7 'the node itself'
}

# The node's address is the first one of a range that was used up to its middle: an ADD reads no more of it than before.
test_own_address_costs_nothing()
{
	local n
	need_railhead
	have_strace || skip "strace is not installed"
	node_has 10.81.0.2/16
	ask 1 '{"subnet":"10.81.0.0/16"}'
	for n in plain others; do
		[ $n = plain ] || for i in $(seq 200); do ip addr add "10.83.0.$i/32" dev "$MASTER"; done
		calls "$n"
	done
	eq "calls of the kernel with 200 addresses more" "$(<"$W/calls.others")" "$(<"$W/calls.plain")"
	give 1
}
have_strace() { command -v strace >/dev/null; }
# calls NAME: how many calls of the kernel an ADD does, and a DEL follows.
calls()
{
	local E
	CID=c9
	cni_env ADD
	# A tracer keeps LeakSanitizer from its work. A call that another process interrupts has two lines, one of them "resumed".
	env -i "${E[@]}" ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0" strace -f -o "$W/strace" "$BIN/$PLUGIN" <"$W/conf" >/dev/null || fail "ADD under strace"
	grep -cE '(setsockopt|recvmsg|sendmsg|recvfrom|sendto)\(' "$W/strace" >"$W/calls.$1"
	give 9
}

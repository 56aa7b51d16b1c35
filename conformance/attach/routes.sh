# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Routes beside those that the pod has already: the same as with the reference plugin, in the same order.

# routed_pod: a pod with eth0, its default routes, and routes of the metrics that the cases meet.
routed_pod()
{
	pod "$1"
	ip -n "$1" link add eth0 type veth peer name e1
	ip -n "$1" link set e1 addrgenmode none
	ip -n "$1" link set eth0 addrgenmode none
	ip -n "$1" link set eth0 up
	ip -n "$1" link set e1 up
	ip -n "$1" addr add 10.5.0.2/24 dev eth0
	ip -n "$1" addr add fd05::2/64 dev eth0 nodad
	ip -n "$1" route add default via 10.5.0.1
	ip -n "$1" -6 route add default via fd05::1
	ip -n "$1" route add 10.20.0.0/16 via 10.5.0.9 metric 7
	ip -n "$1" route add 10.21.0.0/16 via 10.5.0.9
	ip -n "$1" -6 route add fd20::/64 via fd05::9 metric 7
	ip -n "$1" -6 route add fd21::/64 via fd05::9
}

# Routes of the pod, in the kernel's order. Scopes of routes without a gateway differ, and have their own case.
tables()
{
	ip -n "$1" route show table main | sed 's/ scope [a-z]*//; s/ *$//'
	ip -n "$1" -6 route show table main | grep -v '^fe80:' | sed 's/ *$//'
}
used() { ip -n "$1" -o route get "$2" 2>&1 | grep -o ' dev [a-z0-9]*'; }

# with PROGRAM-FOLDER POD ROUTES: ADD by the plugin there; prints what came of it.
with()
{
	local BIN=$1
	routed_pod "$2"
	fake routes-ipam <<-EOS
		[ \$CNI_COMMAND != ADD ] || echo '{"cniVersion":"1.0.0","ips":[{"address":"10.9.0.5/24","gateway":"10.9.0.1"},
			{"address":"fd00:9::5/64","gateway":"fd00:9::1"}],"routes":$3}'
	EOS
	conf '.ipam={"type":"routes-ipam"} | .cniVersion="1.0.0"'
	cni ADD
	echo "exit $RC"
	tables "$2"
	used "$2" 8.8.8.8
	used "$2" 10.21.3.4
	used "$2" 10.20.3.4
	cni DEL
	ip netns del "$2"
	sed -i "/^$2\$/d" "$W/pods"
}

same_as_the_reference()
{
	local ours theirs
	theirs=$(with "$PEER_DIR" p1 "$1")
	ours=$(with "$BIN" p1 "$1")
	[[ $theirs == "exit 0"* ]] || fail "test error: the reference refuses $1: $theirs"
	eq "routes $1" "$ours" "$theirs"
}

test_routes_beside_those_of_the_pod()
{
	need_railhead
	need_peer macvlan
	# A default route of a secondary network goes before eth0's.
	same_as_the_reference '[{"dst":"0.0.0.0/0"}]'
	same_as_the_reference '[{"dst":"::/0"}]'
	same_as_the_reference '[{"dst":"0.0.0.0/0"},{"dst":"::/0"}]'
	same_as_the_reference '[{"dst":"0.0.0.0/0","gw":"10.9.0.7"},{"dst":"::/0","gw":"fd00:9::7"}]'
	# Equal metrics, others, and none of our own.
	same_as_the_reference '[{"dst":"10.21.0.0/16"},{"dst":"10.20.0.0/16"},{"dst":"fd21::/64"},{"dst":"fd20::/64"}]'
	# Two gateways for one destination.
	same_as_the_reference '[{"dst":"10.22.0.0/16","gw":"10.9.0.7"},{"dst":"10.22.0.0/16","gw":"10.9.0.8"}]'
	same_as_the_reference '[{"dst":"fd22::/64","gw":"fd00:9::7"},{"dst":"fd22::/64","gw":"fd00:9::8"}]'
	same_as_the_reference '[{"dst":"0.0.0.0/0","gw":"10.9.0.7"},{"dst":"0.0.0.0/0","gw":"10.9.0.8"},
		{"dst":"::/0","gw":"fd00:9::7"},{"dst":"::/0","gw":"fd00:9::8"}]'
	# Halves of everything go before any default route.
	same_as_the_reference '[{"dst":"0.0.0.0/1"},{"dst":"128.0.0.0/1"}]'
}

test_routes_default_is_used()
{
	need_railhead
	routed_pod p1
	conf_ipam "$(v4_ipam)" '.ipam.routes=[{"dst":"0.0.0.0/0"}]'
	want_ok ADD
	eq "egress" "$(used p1 8.8.8.8)" " dev net1"
	prev
	want_ok CHECK DEL
	eq "egress after DEL" "$(used p1 8.8.8.8)" " dev eth0"
	ip -n p1 link del eth0
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# rails_faults.sh: `railctl rails check` of pods that real ADDs made. One thing at a time is broken: the finding must have the right
# code, and when that is repaired, nothing may be found. Intact pods of every kind must have no finding.
#
# Rail N of the pod (namespace pod1) is netN on master rmN. Its far end rwN is a port of the switch fsw, or alone.
# shellcheck disable=SC2154,SC2016

# ---- the world ------------------------------------------------------------------------------

faults_pod()
{
	need macvlan
	faults_gone
	ip netns add pod1
	ip -n pod1 link set lo up
	cluster_eth0
}
faults_gone()
{
	local i
	for i in 1 2 3 4 5 6 7 8; do ip link del "rm$i" 2>/dev/null; done
	ip link del fsw 2>/dev/null
	ip link del fup 2>/dev/null
}
# The network of a cluster, as Calico and Cilium make it: a gateway on the link, and rules and tables that are no rail's.
cluster_eth0()
{
	ip -n pod1 link add eth0 type veth peer name eth0far
	ip -n pod1 link set eth0far up
	ip -n pod1 link set eth0 up
	ip -n pod1 addr add 10.244.0.5/32 dev eth0
	ip -n pod1 -6 addr add fd44::5/128 dev eth0 nodad
	ip -n pod1 route add 169.254.1.1 dev eth0 scope link
	ip -n pod1 route add default via 169.254.1.1 dev eth0 onlink
	ip -n pod1 -6 route add default via fe80::1 dev eth0
	ip -n pod1 rule add fwmark 0x200/0xf00 lookup 2004 priority 9
	ip -n pod1 route add local 0.0.0.0/0 dev lo table 2004
	ip -n pod1 rule add from 10.244.0.5 to 10.96.0.0/12 lookup 77 priority 20
	ip -n pod1 route add default via 169.254.1.1 dev eth0 onlink table 77
	ip -n pod1 rule add from 10.244.0.5 lookup 78 priority 111
	ip -n pod1 route add 10.200.0.0/16 dev eth0far table 78
	ip -n pod1 route add blackhole 10.244.0.0/24
}
# faults_rail N ADDRESSES-JSON [FILTER]: ADD of rail N. FILTER changes the configuration.
faults_rail()
{
	local plugin
	printf '#!/bin/bash\n[ $CNI_COMMAND != ADD ] || echo '"'"'{"cniVersion":"1.0.0",%s}'"'\n" "$2" >"$FAKE/ipam-f$1"
	chmod +x "$FAKE/ipam-f$1"
	[ -e "/sys/class/net/rm$1" ] || faults_wire "$1"
	jq -n --arg i "$1" '{cniVersion:"1.0.0",name:("rail"+$i),type:"macvlan",master:("rm"+$i),
		ipam:{type:("ipam-f"+$i)},routing:"rail"}'" | ${3:-.}" >"$W/conf.f$1" || fail "test error: ${3:-.}"
	plugin=$(jq -r .type "$W/conf.f$1")
	CNI_COMMAND=ADD CNI_CONTAINERID=c1 CNI_NETNS=/run/netns/pod1 CNI_IFNAME=net$1 CNI_PATH=$FAKE:$BIN \
		CNI_ARGS='K8S_POD_NAMESPACE=team-a;K8S_POD_NAME=job-0' "$BIN/$plugin" <"$W/conf.f$1" >"$W/add.out" 2>&1 ||
		fail "test error: ADD of rail $1: $(<"$W/add.out")"
}
faults_wire()
{
	ip link add "rm$1" type veth peer name "rw$1" || fail "test error: rm$1"
	ip link set "rm$1" up
	ip link set "rw$1" up
	[ ! -e /sys/class/net/fsw ] || ip link set "rw$1" master fsw
}
# All rails in one network; its router is the switch itself.
faults_switch()
{
	ip link add fsw type bridge && ip link set fsw up || fail 'test error: the switch'
	ip addr add 10.30.0.1/24 dev fsw
	ip -6 addr add fd30::1/64 dev fsw nodad
}
one_net() { printf '"ips":[{"address":"10.30.0.1%s/24","gateway":"10.30.0.1"},{"address":"fd30::1%s/64","gateway":"fd30::1"}]' "$1" "$1"; }
own_net() { printf '"ips":[{"address":"10.3%s.0.5/24","gateway":"10.3%s.0.1"},{"address":"fd3%s::5/64","gateway":"fd3%s::1"}]' "$1" "$1" "$1" "$1"; }
flat_net() { printf '"ips":[{"address":"10.3%s.0.5/24"},{"address":"fd3%s::5/64"}]' "$1" "$1"; }
SUPERNETS='.routing={"mode":"rail","supernets":["10.3\($i).0.0/16","fd3\($i)::/32"]}'

# ---- one fault ------------------------------------------------------------------------------

p() { ip netns exec pod1 "$@" || fail "test error: $*"; }

# silent WHAT: nothing is found, not even a warning.
silent()
{
	r rails check --strict
	[[ $RC = 0 && $OUT == *' ok, 0 warned, 0 failed, 0 unknown' ]] || fail "$1: must find nothing: $(said)"
}
# found_now: what is found, as "STATE CODE IFNAME" lines, sorted.
found_now() { jq -r '.findings[] | select(.state != "ok") | "\(.state) \(.code) \(.subject | sub("^team-a/job-0 "; ""))"' "$W/out" | sort -u; }

# do_remedy: run in the pod what the findings say that one should do there.
do_remedy()
{
	local command
	jq -r '.findings[] | select(.state != "ok") | .remedy | select(startswith("in the pod: ")) | ltrimstr("in the pod: ") |
		sub("; (the larger of this and|or set) .*"; "")' "$W/out" | sort -u >"$W/remedies"
	[ -s "$W/remedies" ] || fail "no remedy to run: $(said)"
	while read -r command <&8; do
		ip netns exec pod1 sh -c "$command" >"$W/remedy.out" 2>&1 || fail "the remedy '$command' fails: $(<"$W/remedy.out")"
	done 8<"$W/remedies"
}

# fault 'FINDING[,FINDING]' BREAK REPAIR: a finding is "STATE CODE IFNAME". BREAK and REPAIR run by sh with P for `ip netns exec pod1`
# and W for a folder of the case.
# REPAIR "remedy": what the finding says.
FAULTS=0
fault()
{
	local want break=$2
	want=$(tr ',' '\n' <<<"$1" | sort -u)
	FAULTS=$((FAULTS + 1))
	P='ip netns exec pod1' W=$W sh -ec "$break" >"$W/break.out" 2>&1 || fail "test error: $break: $(<"$W/break.out")"
	r rails check --json
	[ "$(found_now)" = "$want" ] || fail "$break: must find '$want', not '$(found_now)': $(said)"
	jq -e 'all(.findings[] | select(.state != "ok"); (.value | length > 0) and (.consequence | length > 0) and (.remedy | length > 0))' \
		"$W/out" >/dev/null || fail "$break: evidence, consequence and remedy: $(said)"
	if [ "$3" = remedy ]; then
		do_remedy
	else
		P='ip netns exec pod1' W=$W sh -ec "$3" >"$W/break.out" 2>&1 || fail "test error: $3: $(<"$W/break.out")"
	fi
	silent "after '$break' was repaired"
}
# faults: rows "FINDINGS @ BREAK @ REPAIR" of standard input.
faults()
{
	local want break repair
	while IFS=@ read -r want break repair <&9; do
		[ -n "$want" ] && [ "${want:0:1}" != '#' ] || continue
		fault "$(sed 's/^ *//; s/ *$//; s/ *, */,/g' <<<"$want")" "$break" "$(sed 's/^ *//; s/ *$//' <<<"$repair")"
	done 9<&0
}

two_in_one_net()
{
	faults_pod
	faults_switch
	faults_rail 1 "$(one_net 1)"
	faults_rail 2 "$(one_net 2)" "${1:-.}"
	p ping -q -c1 -W2 -I 10.30.0.11 10.30.0.1 >/dev/null
	silent 'an intact pod'
}

# ---- faults of two rails in one network -------------------------------------------------------

test_rails_fault_of_a_rule()
{
	two_in_one_net
	faults <<-'EOF'
		fail rule-missing net1 @ $P ip rule del from 10.30.0.11 @ remedy
		fail rule-missing net2 @ $P ip rule del from 10.30.0.12 @ remedy
		fail rule-missing net1 @ $P ip -6 rule del from fd30::11 @ remedy
		fail rule-missing net2 @ $P ip -6 rule del from fd30::12 @ remedy
		fail rule-wrong net1 @ $P ip rule add from 10.30.0.11 lookup 1001 priority 900 @ remedy
		fail rule-wrong net2 @ $P ip rule add from 10.30.0.12 lookup 1000 priority 1000; $P ip rule del from 10.30.0.12 lookup 1001 @ remedy
		fail rule-wrong net2 @ $P ip -6 rule add from fd30::12 lookup 4321 priority 3 @ remedy
		warn rule-priority net1 @ $P ip rule add from 10.30.0.11 lookup 1000 priority 1001; $P ip rule del priority 1000 from 10.30.0.11 @ remedy
		warn rule-priority net1, fail rule-earlier net1 @ $P ip rule add from 10.30.0.11 lookup 1000 priority 40000; $P ip rule del priority 1000 from 10.30.0.11 @ $P ip rule add from 10.30.0.11 lookup 1000 priority 1000; $P ip rule del priority 40000
		fail rule-earlier net1, fail rule-earlier net2 @ $P ip rule add from all lookup main priority 500 @ remedy
		fail rule-earlier net1, fail rule-earlier net2 @ $P ip -6 rule add from fd30::/64 lookup 79 priority 500; $P ip -6 route add default dev eth0 table 79 @ $P ip -6 rule del priority 500; $P ip -6 route flush table 79
		fail way-wrong net1, warn route-taken net1 @ $P ip rule add to 10.30.0.1 iif lo lookup main priority 10; $P ip route add 10.30.0.1 dev net2 metric 1 @ $P ip rule del priority 10; $P ip route del 10.30.0.1 dev net2 metric 1
		fail way-none net1 @ $P ip rule add from 10.30.0.11 prohibit priority 7 @ $P ip rule del priority 7
	EOF
	faults_gone
}

test_rails_fault_of_a_route()
{
	two_in_one_net
	faults <<-'EOF'
		fail route-missing net1 @ $P ip route del default table 1000 @ remedy
		fail route-missing net2 @ $P ip route del 10.30.0.0/24 table 1001 @ remedy
		fail route-missing net2 @ $P ip -6 route del default table 1001 @ remedy
		fail route-missing net1 @ $P ip -6 route del fd30::/64 table 1000 @ remedy
		fail route-missing net1 @ $P ip -6 route del fe80::/64 table 1000 @ remedy
		warn route-missing net1 @ $P ip route del 10.30.0.0/24 dev net1 @ remedy
		warn route-missing net2 @ $P ip -6 route del fd30::/64 dev net2 @ remedy
		fail route-missing net2 @ $P ip route flush table 1001 @ $P ip route add 10.30.0.0/24 dev net2 table 1001; $P ip route add default via 10.30.0.1 dev net2 table 1001
		fail route-missing net1 @ $P ip route replace default via 10.30.0.77 dev net1 table 1000 @ $P ip route replace default via 10.30.0.1 dev net1 table 1000
		fail route-wrong net1 @ $P ip route add 10.77.0.0/16 dev net2 table 1000 @ remedy
		fail route-wrong net2 @ $P ip -6 route add fd77::/64 dev eth0 table 1001 @ remedy
		fail route-wrong net1 @ $P ip route add 10.30.0.64/26 dev net2 table 1000 @ remedy
		fail route-forbids net1 @ $P ip route add blackhole 10.50.0.0/16 table 1000 @ remedy
		fail route-forbids net1 @ $P ip route add unreachable 10.50.0.0/16 table 1000 @ remedy
		fail route-forbids net2 @ $P ip route add prohibit 10.30.0.128/25 table 1001 @ remedy
		fail route-forbids net2 @ $P ip route add throw 10.50.0.0/16 table 1001 @ remedy
		fail route-forbids net2 @ $P ip -6 route add blackhole default metric 1 table 1001 @ remedy
		warn route-taken net1 @ $P ip route add 10.30.0.64/26 dev net2 @ remedy
		warn route-taken net2 @ $P ip -6 route add fd30::8000/113 dev net1 @ remedy
		fail table-shared net2, fail rule-wrong net2 @ sed -i "s/\"table\":[[:space:]]*1001/\"table\":1000/" /run/railhead/attachments/rail2/c1,net2 @ sed -i "s/\"table\":[[:space:]]*1000/\"table\":1001/" /run/railhead/attachments/rail2/c1,net2
	EOF
	# A guard of a higher metric forbids nothing.
	p ip route add unreachable default metric 9999 table 1000
	silent 'a guard'
	faults_gone
}

test_rails_fault_of_an_address()
{
	two_in_one_net
	faults <<-'EOF'
		fail address-missing net2 @ $P ip addr del 10.30.0.12/24 dev net2 @ $P ip addr add 10.30.0.12/24 brd + dev net2; $P ip route add 10.30.0.0/24 dev net2 table 1001; $P ip route add default via 10.30.0.1 dev net2 table 1001
		fail address-missing net1 @ $P ip -6 addr del fd30::11/64 dev net1 @ $P ip -6 addr add fd30::11/64 dev net1 nodad
		fail address-duplicate net2 @ ip -6 addr add fd30::12/64 dev fsw nodad; $P ip -6 addr del fd30::12/64 dev net2; $P ip -6 addr add fd30::12/64 dev net2; for i in $(seq 100); do $P ip -6 addr show dev net2 | grep -q dadfailed && break; sleep 0.1; done @ ip -6 addr del fd30::12/64 dev fsw; $P ip -6 addr del fd30::12/64 dev net2; $P ip -6 addr add fd30::12/64 dev net2 nodad
		warn rule-missing net1 @ $P ip addr add 10.30.0.99/24 dev net1 @ remedy
	EOF
	faults_gone
}

test_rails_fault_of_a_setting()
{
	two_in_one_net '.sysctl={"net.ipv4.conf.IFNAME.arp_filter":"1"} | .txQueueLen=555 | .macPrefix="0a:1b"'
	faults <<-'EOF'
		fail arp-ignore net2 @ $P sysctl -qw net.ipv4.conf.net2.arp_ignore=0 @ remedy
		fail arp-ignore net1, fail arp-ignore net2 @ $P sysctl -qw net.ipv4.conf.all.arp_ignore=8 @ $P sysctl -qw net.ipv4.conf.all.arp_ignore=0
		fail arp-announce net1 @ $P sysctl -qw net.ipv4.conf.net1.arp_announce=0 @ remedy
		fail arp-announce net1 @ $P sysctl -qw net.ipv4.conf.net1.arp_announce=1 @ remedy
		fail arp-proxy net2 @ $P sysctl -qw net.ipv4.conf.net2.proxy_arp=1 @ remedy
		warn arp-rp-filter net1 @ $P sysctl -qw net.ipv4.conf.net1.rp_filter=1 net.ipv4.conf.all.rp_filter=0 @ remedy
		warn setting-linkdown net1 @ $P sysctl -qw net.ipv4.conf.net1.ignore_routes_with_linkdown=0 @ remedy
		warn setting-linkdown net2 @ $P sysctl -qw net.ipv6.conf.net2.ignore_routes_with_linkdown=0 @ remedy
		warn setting-ra net2 @ $P sysctl -qw net.ipv6.conf.net2.accept_ra_defrtr=1 @ remedy
		warn setting-changed net2 @ $P sysctl -qw net.ipv4.conf.net2.arp_filter=0 @ $P sysctl -qw net.ipv4.conf.net2.arp_filter=1
		warn setting-changed net2 @ $P ip link set net2 txqueuelen 77 @ $P ip link set net2 txqueuelen 555
		warn mac-changed net2 @ $P ip link set net2 address 0a:00:00:00:00:09 @ remedy
		fail mac-duplicate net2 @ $P cat /sys/class/net/net1/address >$W/mac; $P ip link set net1 address 0a:1b:0a:1e:00:0c @ $P ip link set net1 address $(cat $W/mac)
		fail mac-duplicate net1 @ $P ip neigh replace 10.30.0.20 dev net1 lladdr $($P cat /sys/class/net/net1/address) @ $P ip neigh del 10.30.0.20 dev net1
	EOF
	faults_gone
}

test_rails_fault_of_a_link()
{
	two_in_one_net
	faults <<-'EOF'
		fail carrier-down net2 @ $P ip link set net2 down @ $P ip link set net2 up; $P ip route add 10.30.0.0/24 dev net2 table 1001; $P ip route add default via 10.30.0.1 dev net2 table 1001; $P ip -6 route add fd30::/64 dev net2 table 1001; $P ip -6 route add fe80::/64 dev net2 table 1001; $P ip -6 route add default via fd30::1 dev net2 table 1001
		fail route-missing net2 @ $P ip link set net2 down; $P ip link set net2 up; sleep 0.1 @ $P ip route add 10.30.0.0/24 dev net2 table 1001; $P ip route add default via 10.30.0.1 dev net2 table 1001; $P ip -6 route add fd30::/64 dev net2 table 1001; $P ip -6 route add fe80::/64 dev net2 table 1001; $P ip -6 route add default via fd30::1 dev net2 table 1001
		fail carrier-lost net2 @ ip link set rw2 down; while $P ip link show net2 | grep -q LOWER_UP; do sleep 0.05; done @ ip link set rw2 up; until $P ip link show net2 | grep -q LOWER_UP; do sleep 0.05; done
		fail carrier-lost net1 @ ip link set rm1 down; while $P ip link show net1 | grep -q LOWER_UP; do sleep 0.05; done @ ip link set rm1 up; until $P ip link show net1 | grep -q LOWER_UP; do sleep 0.05; done
		warn mtu-master net1 @ $P ip link set net1 mtu 1400 @ remedy
		warn mtu-master net2 @ ip link set rm2 mtu 1400; ip link set rm2 mtu 1500 @ remedy
		warn mtu-master net1 @ ip link set rm1 mtu 9000 @ ip link set rm1 mtu 1500
		warn mtu-route net1 @ $P ip route change default via 10.30.0.1 dev net1 table 1000 mtu 9000 @ $P ip route change default via 10.30.0.1 dev net1 table 1000
		warn mtu-path net2 @ $P ip -6 route change default via fd30::1 dev net2 table 1001 mtu 1400 @ $P ip -6 route change default via fd30::1 dev net2 table 1001
		warn gateway-silent net1 @ $P ip neigh replace 10.30.0.1 dev net1 nud failed @ $P ip neigh del 10.30.0.1 dev net1
		fail gateway-self net1 @ $P ip neigh replace 10.30.0.1 dev net1 lladdr $($P cat /sys/class/net/net2/address) @ $P ip neigh del 10.30.0.1 dev net1
	EOF
	has_reason carrier-lost 'ip link set rw2 down' 'leave by'
	ip link set rw2 up
	p ip link del net2
	r rails check --json
	eq 'an interface that is gone' "$(found_now)" 'fail interface-missing net2'
	faults_gone
}
# has_reason CODE BREAK TEXT
has_reason()
{
	sh -c "$2"
	eventually sh -c "$BIN/railctl rails check --json | grep -q '\"$1\"'"
	r rails check --json
	jq -e --arg c "$1" --arg t "$3" 'any(.findings[]; .code == $c and (.consequence | contains($t)))' "$W/out" >/dev/null ||
		fail "$1 must say '$3': $(said)"
}

# 40 addresses of one reason are one line for people, and 40 findings for programs.
many_addresses()
{
	local i
	for ((i = 1; i <= 40; i++)); do ip addr add "203.0.113.$i/32" dev rm1; done
	r rails check
	eq 'lines of many addresses' "$(grep -c host-address <<<"$OUT")" 1
	has '40 addresses of rm1 on the node: 203.0.113.1, 203.0.113.2, 203.0.113.3 and 37 more'
	r rails check --json
	eq 'findings of many addresses' "$(jq '[.findings[] | select(.code == "host-address")] | length' "$W/out")" 40
	do_remedy
	silent 'after the remedy of many addresses'
}

# An address of a master that the node gets after ADD has no route by the veth, unless a range of host.routes has it. That matters where
# no other interface than a rail leads to the node.
test_rails_fault_of_the_way_to_the_node()
{
	faults_pod
	faults_wire 1
	ip addr add 10.31.0.200/24 dev rm1
	ip -6 addr add fd31::200/64 dev rm1 nodad
	faults_rail 1 "$(own_net 1)" '.host={"veth":true,"routes":["10.96.0.0/12"]}'
	silent 'an intact pod'
	ip addr add 10.97.0.9/24 dev rm1
	silent 'an address in a range of host.routes'
	fault 'warn host-address net1' 'ip addr add 192.0.2.9/24 dev rm1; $P ip route add 192.0.2.0/24 dev net1' '$P ip route del 192.0.2.0/24 dev net1'
	silent 'an address to which eth0 leads'
	has_reason host-address 'ip netns exec pod1 ip route add 192.0.2.0/24 dev net1' 'leave by net1'
	p ip route del 192.0.2.0/24 dev net1
	ip addr del 192.0.2.9/24 dev rm1
	p ip route del default
	p ip -6 route del default
	faults <<-'EOF'
		warn host-address net1 @ ip addr add 192.0.2.9/24 dev rm1 @ ip addr del 192.0.2.9/24 dev rm1
		warn host-address net1 @ ip addr add 192.0.2.7/24 dev rm1 @ remedy
		warn host-address net1 @ ip -6 addr add fd99::7/64 dev rm1 nodad @ remedy
	EOF
	ip -6 addr add fd99::8/64 dev rm1 nodad
	sysctl -qw net.ipv6.conf.rm1.use_tempaddr=2
	r rails check --json
	do_remedy
	ip -6 addr change fd99::8/64 dev rm1 mngtmpaddr
	eventually sh -c 'ip -6 addr show dev rm1 | grep -q " temporary "' || fail 'test error: no temporary address'
	silent 'a temporary address, which no packet is sent to first'
	ip -6 addr add fd99::9/64 dev rw1 nodad
	ip -6 addr add fd99::9/64 dev rm1
	eventually sh -c 'ip -6 addr show dev rm1 | grep -q dadfailed' || fail 'test error: no duplicate'
	silent 'an address that another machine has'
	many_addresses
	p ip route get 192.0.2.7 from 10.31.0.5 | grep -q ' dev veth0 ' || fail 'the remedy must lead to the node'
	p ip -6 route get fd99::7 from fd31::5 | grep -q ' dev veth0 ' || fail 'the remedy must lead to the node with IPv6'
	tc filter del dev "$(ip -o link | sed -n 's/.*[ :]\(veth[0-9a-z]\{11\}\)@.*/\1/p')" ingress || fail 'test error: the filter of the veth'
	r rails check --json
	eq 'a filter that is gone' "$(found_now)" 'fail host-filter net1'
	faults_gone
}

# ---- other topologies -------------------------------------------------------------------------

test_rails_fault_of_rails_that_route()
{
	local i
	faults_pod
	for i in 1 2; do faults_rail "$i" "$(own_net "$i")" ".name as \$n | \$n[4:] as \$i | $SUPERNETS"; done
	silent 'an intact pod'
	faults <<-'EOF'
		warn route-missing net1 @ $P ip route del 10.31.0.0/16 dev net1 @ remedy
		warn route-missing net2 @ $P ip -6 route del fd32::/32 dev net2 @ remedy
		warn route-taken net1 @ $P ip route add 10.31.4.0/24 dev net2 @ remedy
		fail route-missing net1 @ $P ip route del default table 1000 @ remedy
		fail rule-missing net2 @ $P ip rule del from 10.32.0.5 @ remedy
		warn arp-ignore net1 @ $P sysctl -qw net.ipv4.conf.net1.arp_ignore=0 @ remedy
		fail rule-earlier net1, fail rule-earlier net2 @ $P ip rule add from 10.0.0.0/8 lookup main priority 400 @ remedy
	EOF
	faults_gone
}

test_rails_fault_of_ipvlan()
{
	need ipvlan
	ip link add link "$MASTER" name probe0 type ipvlan 2>/dev/null || skip 'this kernel has no ipvlan'
	ip link del probe0
	faults_pod
	faults_switch
	faults_rail 1 "$(one_net 1)" '.type="ipvlan"'
	faults_rail 2 "$(one_net 2)" '.type="ipvlan"'
	silent 'an intact pod'
	faults <<-'EOF'
		fail rule-missing net1 @ $P ip rule del from 10.30.0.11 @ remedy
		fail route-missing net2 @ $P ip route del default table 1001 @ remedy
		fail arp-ignore net2 @ $P sysctl -qw net.ipv4.conf.net2.arp_ignore=0 @ remedy
		warn mtu-master net1 @ $P ip link set net1 mtu 1400 @ remedy
	EOF
	faults_gone
}

# Of two in one network without "routing", the main table sends both by one.
test_rails_fault_of_networks_without_routing()
{
	faults_pod
	faults_rail 1 '"ips":[{"address":"10.30.0.11/24"}]' 'del(.routing)'
	silent 'one rail'
	faults_rail 2 '"ips":[{"address":"10.30.0.12/24"}]' 'del(.routing)'
	r rails check --json
	eq 'one network' "$(found_now)" 'warn way-shared net2'
	p ip link del net2
	CNI_COMMAND=DEL CNI_CONTAINERID=c1 CNI_NETNS=/run/netns/pod1 CNI_IFNAME=net2 CNI_PATH=$FAKE:$BIN "$BIN/macvlan" <"$W/conf.f2"
	# the one is a part of the other
	faults_rail 2 '"ips":[{"address":"10.30.0.130/25"}]' 'del(.routing)'
	r rails check --json
	eq 'a part of a network' "$(found_now)" 'warn way-shared net1'
	p ip addr flush dev net1
	r rails check --json
	eq 'no address is left' "$(found_now)" 'fail address-missing net1'
	faults_gone
}

# ---- intact pods ------------------------------------------------------------------------------

test_rails_intact_flat_networks()
{
	faults_pod
	faults_rail 1 "$(flat_net 1)"
	faults_rail 2 "$(flat_net 2)"
	faults_rail 3 "$(own_net 3)"
	faults_rail 4 "$(flat_net 4)" 'del(.routing)'
	silent 'flat rails beside one with a gateway'
	faults_gone
}

test_rails_intact_other_shapes()
{
	faults_pod
	# a gateway that no address covers
	faults_rail 1 '"ips":[{"address":"10.31.0.5/32","gateway":"10.31.0.1"},{"address":"fd31::5/128","gateway":"fd31::1"}]'
	# routes of the IPAM, one with an MTU, and the default route of the pod
	faults_rail 2 '"ips":[{"address":"10.32.0.5/24","gateway":"10.32.0.1"}],"routes":[{"dst":"0.0.0.0/0","gw":"10.32.0.254","mtu":1400},{"dst":"10.99.0.0/16"},{"dst":"10.98.0.0/16","table":500}]' \
		'.routing={"mode":"rail","default":true}'
	# a gateway of the link, only IPv6
	faults_rail 3 '"ips":[{"address":"fd33::5/64","gateway":"fe80::1"}]'
	faults_rail 4 '"ips":[{"address":"10.34.0.4/31","gateway":"10.34.0.5"}]' '.mtu=1400'
	# the configuration wants it so
	faults_rail 5 '"ips":[{"address":"10.35.0.5/24","gateway":"10.35.0.1"}]' '.sysctl={"net.ipv4.conf.IFNAME.arp_ignore":"0"} | .macPrefix="0a:1b"'
	silent 'five shapes'
	faults_gone
}

test_rails_intact_with_a_master_in_the_pod()
{
	faults_pod
	faults_wire 1
	ip link set rm1 mtu 1400
	ip link add rm2 type veth peer name rw2
	ip link set rm2 mtu 3000 netns pod1
	ip -n pod1 link set rm2 name rm1 up
	ip link set rw2 up
	faults_rail 1 "$(own_net 1)" '.linkInContainer=true'
	ok rails --json
	want '.[0].rails[0] | .mtu == 3000 and .masterMtu == 3000'
	silent 'a master in the pod'
	fault 'warn mtu-master net1' 'ip -n pod1 link set net1 mtu 1400' remedy
	ip -n pod1 link del rm1
	faults_gone
}

test_rails_intact_all_in_one_ADD()
{
	local i
	need rails
	faults_pod
	for i in 1 2 3 4 5 6 7 8; do faults_wire "$i"; done
	jq -n '{rails: [range(1; 9) | {rail: ., interface: "rm\(.)"}]}' >/etc/railhead/rails.json
	for i in 1 2 3 4 5 6 7 8; do
		ok ipam pool add "rail$i" --subnet "10.3$i.0.0/24" --gateway "10.3$i.0.1" --this-node-only
		ok ipam pool add "six$i" --subnet "fd3$i::/64" --gateway "fd3$i::1" --this-node-only
	done
	CNI_COMMAND=ADD CNI_CONTAINERID=c1 CNI_NETNS=/run/netns/pod1 CNI_IFNAME=net1 CNI_PATH=$FAKE:$BIN CNI_ARGS='K8S_POD_NAMESPACE=team-a;K8S_POD_NAME=job-0' \
		"$BIN/rails" <<<'{"cniVersion":"1.0.0","name":"all","type":"rails","kind":"macvlan","routing":"rail","ipam":{"type":"railhead-ipam","pools":["rail{n}","six{n}"]}}' >"$W/add.out" 2>&1 ||
		fail "test error: ADD: $(<"$W/add.out")"
	silent 'eight rails of one ADD'
	terminal 80 rails
	[ "$(longest)" -le 80 ] && [ "$(wc -l <<<"$OUT")" = 9 ] || fail "80 columns, nine lines: $(said)"
	fault 'fail rule-missing net1r5' '$P ip rule del from 10.35.0.2' remedy
	fault 'fail route-missing net1r8' '$P ip -6 route del default table 1007' remedy
	# the same fault of all
	for i in 1 2 3 4 5 6 7 8; do p ip route del default table $((999 + i)); done
	terminal 80 rails check
	[ "$(longest)" -le 80 ] || fail "80 columns: $(said)"
	has '8 failed'
	r rails check --json
	do_remedy
	silent 'eight remedies'
	rm /etc/railhead/rails.json
	faults_gone
}

test_rails_intact_with_hundreds_of_routes()
{
	local i
	two_in_one_net
	for i in $(seq 0 255); do
		echo "route add 100.64.$i.0/24 via 169.254.1.1 dev eth0 onlink"
		echo "route add 100.65.$i.0/24 via 10.30.0.1 dev net1 table 1000"
	done >"$W/batch"
	ip -n pod1 -batch "$W/batch" || fail 'test error: routes'
	[ "$(ip -n pod1 route show table all | wc -l)" -gt 400 ] || fail "test error: routes: $(ip -n pod1 route show table all | wc -l)"
	silent 'hundreds of routes'
	fault 'fail rule-missing net1' '$P ip rule del from 10.30.0.11' remedy
	faults_gone
}

# A rule from an address to a table of a tunnel makes no rail. Other projects have their own ways with rules.
test_rails_intact_beside_others()
{
	two_in_one_net
	ip -n pod1 link add tun0 type veth peer name tun1
	ip -n pod1 link set tun1 up
	ip -n pod1 link set tun0 up
	p ip rule add from 10.244.0.5 lookup 900 priority 50
	p ip route add default dev tun0 table 900
	p ip -6 rule add from fd44::5 lookup 900 priority 50
	p ip rule add iif tun0 lookup 901
	p ip rule add from all uidrange 100-200 lookup 902 priority 100
	silent 'rules of others'
	# a table of eth0 with routes of the tunnel, too
	p ip route add 10.201.0.0/16 dev eth0 table 78
	silent 'a table of others'
	if ip -n pod1 link add vrf0 type vrf table 10 2>/dev/null; then
		ip -n pod1 link set vrf0 up
		ip -n pod1 link set tun0 master vrf0
		silent 'a VRF of others'
	fi
	faults_gone
}

# ---- for programs -----------------------------------------------------------------------------

# Each code that is documented is found above, and each that is found is documented.
test_rails_check_codes_and_members()
{
	local documented used here
	documented=$(sed -n 's/^| `\([a-z]*-[a-z-]*\)` | \(fail\|warn\|unknown\).*/\1/p' "$ROOT/docs/rails.md" | sort)
	used=$(grep -ohE '(fail|warn|unknown|code ==) +"?[a-z]+-[a-z-]+' "$HERE/rails_faults.sh" "$HERE/rails.sh" | grep -oE '[a-z]+-[a-z-]+' | sort -u)
	here=$(comm -3 <(echo "$documented") <(echo "$used"))
	eq 'codes that only docs/rails.md or only the cases have' "$(xargs <<<"$here")" 'setting-unread'
	two_in_one_net
	p ip rule del from 10.30.0.11
	r rails check --json
	want '[.findings[] | keys_unsorted | join(" ")] | unique == ["check code state subject value consequence remedy", "check state subject value consequence remedy"]'
	want '[.findings[] | select(.code) | .code | startswith("rule-")] == [true]'
	ok rails --json
	want '.[0].rails[0] | keys_unsorted == ["ifname","present","network","plugin","master","mac","mtu","masterMtu","up","carrier","table",
		"addresses","rules","routes","neighbours","settings"]'
	want '[.[0].rails[0].routes[] | select(.kind != "unicast" or .ifname != "net1")] == []'
	faults_gone
}

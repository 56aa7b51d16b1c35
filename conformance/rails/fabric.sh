# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# fabric.sh: two nodes with two rails each, a pod on each node, and the switches and routers between them. Sourced by run.sh.
#
# Nodes are the namespaces node-a and node-b with the masters rail0 and rail1, pods are a and b. The namespace fabric has the
# far end of each wire, POD-N: a capture there sees what leaves the pod by that rail. Each pod has an eth0 to its node, as
# from the network of a cluster. Topologies:
#   one     all rails are in one subnet behind one switch
#   subnet  each rail has a subnet; a router joins them
#   leaves  each rail has a subnet for each group of leaves, pod a is in group 0, pod b in group 1; a router a rail joins them

TOPOLOGIES='one subnet leaves'
declare -A TITLE=([one]='one subnet' [subnet]='a subnet a rail' [leaves]='two leaf groups')

f() { ip -n fabric "$@" || broken "fabric: $*"; }

# address FAMILY POD N: with its length. gateway, supernet: the same.
address()
{
	local host=$((10 + $3)) group=0
	[ "$2" = a ] || host=$((20 + $3)) group=1
	case $TOPOLOGY.$1 in
	one.4) echo "10.30.0.$host/24" ;;
	one.6) echo "fd30::$host/64" ;;
	subnet.4) echo "10.4$3.0.$host/24" ;;
	subnet.6) echo "fd4$3::$host/64" ;;
	leaves.4) echo "10.4$3.$group.$host/24" ;;
	leaves.6) echo "fd4$3:0:0:$group::$host/64" ;;
	esac
}
gateway()
{
	local net
	net=$(address "$@")
	[ "$1" = 4 ] && echo "${net%.*}.1" || echo "${net%::*}::1"
}
supernet() { [ "$1" = 4 ] && echo "10.4$3.0.0/16" || echo "fd4$3::/48"; }
# network FAMILY POD N: the network of that address
network()
{
	local net
	net=$(address "$@")
	[ "$1" = 4 ] && echo "${net%.*}.0/24" || echo "${net%::*}::/64"
}
# bare: without the length, and as the kernel prints it
bare()
{
	local text
	text=$(address "$@")
	text=${text%/*}
	echo "${text/:0:0:0::/::}"
}

# A new namespace takes settings of IPv4 from the first one: these are the kernel's own defaults.
namespace()
{
	local key at
	ip netns add "$1" || broken "namespace $1"
	ip -n "$1" link set lo up
	for at in all default; do
		for key in rp_filter arp_ignore arp_announce; do ip netns exec "$1" sh -c "echo 0 >/proc/sys/net/ipv4/conf/$at/$key"; done
		ip netns exec "$1" sh -c "echo 0 >/proc/sys/net/ipv6/conf/$at/accept_dad"
	done
}
forwards() { ip netns exec "$1" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward; echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'; }

# node POD NUMBER: the node of a pod, and the pod with its eth0
node()
{
	local i node=node-$1
	namespace "$node"
	namespace "$1"
	ip -n "$node" link add uplink type veth peer name "up-$1" netns fabric
	ip -n "$node" addr add "192.0.2.$2/24" dev uplink
	ip -n "$node" addr add "2001:db8::$2/64" dev uplink nodad
	ip -n "$node" link set uplink up
	f link set "up-$1" up
	ip -n "$node" route add default via 192.0.2.254
	ip -n "$node" -6 route add default via 2001:db8::254
	ip -n "$node" link add "lxc-$1" type veth peer name eth0 netns "$1"
	ip -n "$node" addr add "10.244.$2.1/24" dev "lxc-$1"
	ip -n "$node" addr add "fd10:244:0:$2::1/64" dev "lxc-$1" nodad
	ip -n "$node" link set "lxc-$1" up
	ip -n "$1" addr add "10.244.$2.2/24" dev eth0
	ip -n "$1" addr add "fd10:244:0:$2::2/64" dev eth0 nodad
	ip -n "$1" link set eth0 up
	ip -n "$1" route add default via "10.244.$2.1"
	ip -n "$1" -6 route add default via "fd10:244:0:$2::1"
	for i in 0 1; do
		ip -n "$node" link add "rail$i" type veth peer name "$1-$i" netns fabric || broken "rail $i of $node"
		ip -n "$node" link set "rail$i" addrgenmode none up
		f link set "$1-$i" addrgenmode none up
	done
}
switch() # NAME PORT...
{
	local name=$1 port
	shift
	f link add "$name" type bridge
	f link set "$name" addrgenmode none up
	for port; do f link set "$port" master "$name"; done
}
# has_gateway DEVICE POD N: it has the gateway's addresses of that rail
has_gateway()
{
	f addr add "$(gateway 4 "$2" "$3")/24" dev "$1"
	f addr add "$(gateway 6 "$2" "$3")/64" dev "$1" nodad
	# Without a link-local address a router asks for no neighbour.
	f addr add fe80::1/64 dev "$1" nodad
}
# apart N: the router of that rail leads to its two leaves, and to nothing of another rail
apart()
{
	local pod family
	for family in 4 6; do
		for pod in a b; do
			f -$family rule add iif "leaf-$pod-$1" lookup "10$1"
			f -$family route add "$(network $family "$pod" "$1")" dev "leaf-$pod-$1" table "10$1"
		done
		f -$family route add unreachable default table "10$1"
	done
}

fabric_begin() # TOPOLOGY
{
	local i pod
	TOPOLOGY=$1
	namespace fabric
	node a 1
	node b 2
	case $1 in
	one)
		switch spine a-0 a-1 b-0 b-1
		has_gateway spine a 0
		;;
	subnet)
		forwards fabric
		for i in 0 1; do
			switch "leaf$i" "a-$i" "b-$i"
			has_gateway "leaf$i" a "$i"
		done
		;;
	leaves)
		forwards fabric
		for i in 0 1; do
			for pod in a b; do
				switch "leaf-$pod-$i" "$pod-$i"
				has_gateway "leaf-$pod-$i" "$pod" "$i"
			done
			apart "$i"
		done
		;;
	esac
}
fabric_end()
{
	local namespace
	for namespace in a b node-a node-b fabric; do ip netns del "$namespace"; done
}

up() { [ "$(ip -n "$1" -j link show "$2" | jq -r '.[0].operstate')" = UP ]; }
# flap: each wire loses its carrier and gets it back; then each master goes down and up
flap()
{
	local pod i
	for pod in a b; do for i in 0 1; do f link set "$pod-$i" down; done; done
	for pod in a b; do for i in 0 1; do eventually isnt_up "$pod" "net$((i + 1))"; done; done
	for pod in a b; do for i in 0 1; do f link set "$pod-$i" up; done; done
	for pod in a b; do
		for i in 0 1; do
			ip -n "node-$pod" link set "rail$i" down
			ip -n "node-$pod" link set "rail$i" up
		done
	done
	for pod in a b; do for i in 0 1; do eventually up "$pod" "net$((i + 1))"; done; done
}
isnt_up() { ! up "$@"; }

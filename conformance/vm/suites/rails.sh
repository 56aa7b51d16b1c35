# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # OWN0 and so on: the addresses, by declare
# seconds: 60
# topology: rails
# rails: two pods with a VF of each of two cards, and "routing": "rail". All addresses are of one network, but each rail has a
# cable of its own: a packet that leaves by the wrong rail does not arrive. A capture in the pods shows the rail.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/suites/sriov/lib.sh
. conformance/vm/suites/sriov/lib.sh

read -ra CARDS <<<"$PFS"
RAIL_IPAM='{"type":"railhead-ipam","ranges":[[{"subnet":"10.88.0.0/24"}],[{"subnet":"fd88::/64"}]]}'
SETTINGS='arp_ignore arp_announce rp_filter ignore_routes_with_linkdown'

# card POD N: the place in CARDS of rail N of that pod.
card() { [ "$1" = a ] && echo "$2" || echo $((2 + $2)); }
rail_conf() # POD N [KEYS]
{
	IPAM=$RAIL_IPAM on "$(pci "${CARDS[$(card "$1" "$2")]}" 0)" "${3-\"routing\":\"rail\"}"
}
settings() # INTERFACE
{
	local key
	for key in $SETTINGS; do printf '%s=%s ' "$key" "$(<"/proc/sys/net/ipv4/conf/$1/$key")"; done
	[ ! -d "/proc/sys/net/ipv6/conf/$1" ] || cat "/proc/sys/net/ipv6/conf/$1/ignore_routes_with_linkdown"
}
pod_settings() { ip netns exec "$1" bash -c "SETTINGS='$SETTINGS'; $(declare -f settings); settings net$(($2 + 1))"; }

each_rail() # COMMAND [ARGUMENT...]: with POD N behind it
{
	local pod i
	for pod in a b; do for i in 0 1; do "$@" "$pod" "$i"; done; done
}
attach_rail() # KEYS POD N
{
	local IFN=net$(($3 + 1)) ANSWER=$W/result.$2$3
	check "ADD of rail $3 to pod $2" add "$2" "$(rail_conf "$2" "$3" "$1")"
	declare -g "V4$2$3=$(jq -r '.ips[0].address / "/" | .[0]' "$ANSWER")" "V6$2$3=$(jq -r '.ips[1].address / "/" | .[0]' "$ANSWER")"
	check "... has a carrier" eventually carrier "$IFN" "$2"
}
detach_rail() # KEYS POD N
{
	local IFN=net$(($3 + 1))
	check "DEL of rail $3 of pod $2" del "$2" "$(rail_conf "$2" "$3" "$1")"
}
check_rail() # POD N
{
	local IFN=net$(($2 + 1))
	check "CHECK of rail $2 of pod $1" checked "$1" "$(rail_conf "$1" "$2")" "$W/result.$1$2"
}

listen() # POD N
{
	local at=$W/heard.$1$2
	: >"$at"
	ip netns exec "$1" "$HELPERS/attach/traffic" "net$(($2 + 1))" >"$at" 2>&1 &
	LISTENERS+=($!)
	eventually grep -q ready "$at" || check "the capture of rail $2 in pod $1" false
}
unlisten()
{
	kill "${LISTENERS[@]}"
	wait "${LISTENERS[@]}" 2>/dev/null
	LISTENERS=()
}
heard() { grep -q "^$3\$" "$W/heard.$1$2"; }

# own_link FAMILY N FROM TO: pod FROM asks pod TO by rail N; request and reply arrive by that rail, and not by the other one.
own_link()
{
	local source=$1$3$2 target=$1$4$2 other=$((1 - $2))
	source=${!source} target=${!target}
	check "$1, rail $2, $3 to $4: an answer" eventually ip netns exec "$3" "$HELPERS/attach/ping" "$target" "$source"
	check "... the request came by rail $2" eventually heard "$4" "$2" "echo $source to $target"
	check "... the reply came by rail $2" eventually heard "$3" "$2" "reply $target to $source"
	check "... nothing came by rail $other" isnt eval "heard $4 $other 'echo $source to $target' || heard $3 $other 'reply $target to $source'"
}
every_pair()
{
	local family i
	each_rail listen
	for family in V4 V6; do
		for i in 0 1; do
			own_link $family $i a b
			own_link $family $i b a
		done
	done
	unlisten
}

LISTENERS=()
for pf in "${CARDS[@]}"; do
	ip link set "$pf" up
	check "$pf makes a VF" vfs "$pf" 1
done
for pf in "${CARDS[@]}"; do check "$pf has link" eventually carrier "$pf"; done
remember
for pf in "${CARDS[@]}"; do settings "$(netdev "$(pci "$pf" 0)")"; done >$W/settings
pods a b

echo "# without routing"
each_rail attach_rail '"mtu":1500'
each_rail listen
check "the two pods reach each other" eventually ip netns exec a "$HELPERS/attach/ping" "$V4b1" "$V4a1"
check "... but the request of rail 1 came by rail 0, or the reply" eventually eval 'heard b 0 "echo $V4a1 to $V4b1" || heard a 0 "reply $V4b1 to $V4a1"'
unlisten
each_rail detach_rail '"mtu":1500'

echo "# with routing"
each_rail attach_rail '"routing":"rail"'
every_pair
each_rail check_rail
check "settings in the pod" is "$(pod_settings a 1)" 'arp_ignore=1 arp_announce=2 rp_filter=2 ignore_routes_with_linkdown=1 1'

echo "# after a flap of both links"
for pf in "${CARDS[@]}"; do ip link set "$pf" down; done
for pod in a b; do for ifname in net1 net2; do check "$ifname of $pod loses its carrier" eventually isnt carrier $ifname $pod; done; done
for pf in "${CARDS[@]}"; do ip link set "$pf" up; done
for pod in a b; do for ifname in net1 net2; do check "$ifname of $pod has it again" eventually carrier $ifname $pod; done; done
every_pair
each_rail check_rail

each_rail detach_rail '"routing":"rail"'
check "no rule is left" is "$(ip -n a rule | wc -l) $(ip -n a -6 rule | wc -l)" "3 2"
check "the host is as before" clean
for pf in "${CARDS[@]}"; do settings "$(netdev "$(pci "$pf" 0)")"; done >$W/settings.now
check "and so are the settings of the VFs" cmp $W/settings $W/settings.now
no_pods a b
for pf in "${CARDS[@]}"; do check "$pf without VFs" eval "echo 0 >/sys/class/net/$pf/device/sriov_numvfs"; done
finish

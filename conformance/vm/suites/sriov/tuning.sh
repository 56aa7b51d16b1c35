# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# tuning.sh: rings, queue, sizes, sysctl variables and a MAC made from the address, set in the pod and put back.
pods a b
remember

# rings [-n POD] INTERFACE: descriptors of its two rings, as the ethtool ioctl (SIOCETHTOOL, ETHTOOL_GRINGPARAM) tells them.
rings()
{
	local in=()
	[ "$1" != -n ] || { in=(ip netns exec "$2") && shift 2; }
	"${in[@]}" perl -e 'socket(S, 2, 2, 0) or die "socket: $!\n"; my $p = pack("L9", 0x10, (0) x 8); my $rq = pack("a16 P x16", $ARGV[0], $p);
		ioctl(S, 0x8946, $rq) or die "$ARGV[0]: $!\n"; print join(" ", (unpack("L9", $p))[5, 8]), "\n"' "$1"
}
looks() { ip -j -d link show "$1" | jq -c '.[0] | {txqlen, gso_max_size, gro_max_size, address}' && rings "$1"; }
in_a() { ip netns exec a "$@"; }

TUNED='"rings":{"rx":512,"tx":128},"txQueueLen":2345,"gso":{"maxSize":30000},"gro":{"maxSize":40000},"macPrefix":"0a:1b",
	"sysctl":{"net.ipv4.conf.IFNAME.arp_filter":"1","net.ipv4.conf.IFNAME.arp_notify":"0","net.ipv4.neigh.IFNAME.gc_stale_time":"77"}'
looks "$EA1" >$W/looks
check "rings of a VF before: $(rings "$EA1")" isnt is "$(rings "$EA1")" "512 128"
check "a tuned VF: ADD" add a "$(on "$VA1" "$TUNED")"
cp $W/out $W/tuned
MAC=$(answer '.ips[0].address | split("/")[0] | split(".")[]' | xargs printf '0a:1b:%02x:%02x:%02x:%02x')
check "its rings" is "$(rings -n a net1)" "512 128"
check "its queue and sizes" sees a "$A" 1 ".pod | .txqlen == 2345 and .gso_max_size == 30000 and .gro_max_size == 40000"
check "its MAC $MAC, at the PF, too" sees a "$A" 1 "[.pod, .vf] | all(.address == \"$MAC\")"
check "arp_filter" is "$(in_a cat /proc/sys/net/ipv4/conf/net1/arp_filter)" 1
check "arp_notify, which ADD sets itself" is "$(in_a cat /proc/sys/net/ipv4/conf/net1/arp_notify)" 0
check "gc_stale_time" is "$(in_a cat /proc/sys/net/ipv4/neigh/net1/gc_stale_time)" 77
check "another pod: ADD" add b "$(on "$VB0")"
ADDRESS=$(answer '.ips[0].address')
check "traffic passes" eventually pings a "${ADDRESS%/*}"
check "another pod: DEL" del b "$(on "$VB0")"
check "CHECK" checked a "$(on "$VA1" "$TUNED")" $W/tuned
check "CHECK finds another ring" refused 104 "rings.tx is 128, configured is 256" checked a "$(on "$VA1" "${TUNED/tx\":128/tx\":256}")" $W/tuned
check "DEL" del a "$(on "$VA1" "$TUNED")"
check "the interface is as it was" cmp $W/looks <(looks "$EA1")
check "its variables, too" is "$(cat "/proc/sys/net/ipv4/conf/$EA1/arp_filter" "/proc/sys/net/ipv4/neigh/$EA1/gc_stale_time" | xargs)" "0 60"
check "as before" clean

# The pod's namespace dies: the next claim restores it.
check "a pod that dies: ADD" add a "$(on "$VA2" '"rings":{"rx":2048}')"
check "it has the ring" is "$(rings -n a net1)" "2048 $(rings "$EA3" | cut -d' ' -f2)"
no_pods a
check "a pod that dies: DEL" del a "$(on "$VA2")" ''
check "the rings are those of its neighbour" is "$(rings "$EA2")" "$(rings "$EA3")"
pods a
check "as before" clean

# --- refused ------------------------------------------------------------------------------
check "more than the driver can have" refused 7 "rings.rx: 5000 is more than the 4096" add a "$(on "$VA1" '"rings":{"rx":5000}')"
check "a number that igbvf rounds" refused 7 "rings.tx: the driver rounds 100 to 104" add a "$(on "$VA1" '"rings":{"tx":100}')"
check "a size beyond the device's" refused 100 "gso.maxSize: 400000" add a "$(on "$VA1" '"gso":{"maxSize":400000},"rings":{"rx":512}')"
check "a variable that there is not" refused 5 "arp_nothing" add a "$(on "$VA1" '"rings":{"rx":512},"sysctl":{"net.ipv4.conf.IFNAME.arp_nothing":"1"}')"
check "all is taken back" cmp $W/looks <(looks "$EA1")
check "as before" clean
no_pods a b
forget

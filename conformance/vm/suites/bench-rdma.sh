# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# bench-rdma: what the plugin rdma adds to a chain in mode shared, over rxe. Nothing is judged here: the figures go into
# $OUT/raw, of which conformance/bench/rdma.sh makes tables. QUICK=1: few rounds. With VM_CLOCK the clock counts instructions.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
W=/run/work RAW=$OUT/raw
mkdir -p $W/bin
# The emulated processor reads a program from the host's file system tenfold slower than from its own.
cp "$BIN"/{macvlan,rdma,railhead-ipam} "$HELPERS"/bench/{measure,calls,nothing} $W/bin
BIN=$W/bin
export CNI_PATH=$BIN CNI_IFNAME=net1 CNI_CONTAINERID=bench CNI_NETNS=/run/netns/pod
read -r PF _ <<<"$PFS"
modprobe -a rdma_rxe ib_uverbs macvlan dummy
ip link set "$PF" up
rdma link add rxe0 type rxe netdev "$PF"
ip netns add pod
ROUNDS=$([ -n "${QUICK-}" ] && echo 3 || echo 25)

# One address, so that the rdma plugin's configuration, which has what macvlan says, is the same each time.
printf '{"cniVersion":"1.0.0","name":"rail","type":"macvlan","master":"%s","ipam":{"type":"railhead-ipam","subnet":"10.88.0.0/24",
	"rangeStart":"10.88.0.7","rangeEnd":"10.88.0.7","cooldown":0}}' "$PF" >$W/macvlan
plugin() { CNI_COMMAND=$1 "$BIN/$2" <"$W/$2" >$W/out; }
check "macvlan" plugin ADD macvlan
jq -c '{cniVersion: "1.0.0", name: "rail", type: "rdma", mode: "shared", prevResult: .}' $W/out >$W/rdma
check "rdma behind it" plugin ADD rdma
plugin DEL rdma && plugin DEL macvlan

# chain LABEL ROUNDS: as a runtime does it, one plugin right after the other: the GID may have to be waited for.
chain()
{
	local n a b c
	for ((n = -2; n < $2; n++)); do
		a=${EPOCHREALTIME/[.,]/}
		plugin ADD macvlan || return
		b=${EPOCHREALTIME/[.,]/}
		plugin ADD rdma || return
		c=${EPOCHREALTIME/[.,]/}
		[ $n -lt 0 ] || printf '%s\n' "$1-macvlan ADD sample $((b - a)) 0" "$1-both ADD sample $((c - a)) 0" "$1-rdma ADD sample $((c - b)) 0" >>"$RAW"
		plugin DEL rdma && plugin DEL macvlan || return
	done
}
# alone LABEL: the plugin on an interface that stays; its system calls and what it reads.
alone()
{
	local verb
	"$BIN/measure" samples "$ROUNDS" 2 "$1,$BIN/rdma,$W/rdma,/run/netns/pod" >>"$RAW" || return
	for verb in ADD DEL; do
		echo "$1 $verb $(CNI_COMMAND=$verb "$BIN/calls" "$BIN/rdma" <$W/rdma)" >>"$RAW" || return
	done
}
stays() { plugin ADD macvlan && plugin ADD rdma && plugin DEL rdma; }
gids() { grep -vc '^0000:0000:0000:0000:0000:0000:0000:0000$' <(cat /sys/class/infiniband/rxe0/ports/1/gids/{0..300}); }

check "the chain" chain chain "$ROUNDS"
check "an interface" stays
FEW=$(gids)
check "one device, few GIDs" alone one
"$BIN/measure" samples "$ROUNDS" 2 "nothing,$BIN/nothing,$W/rdma,/run/netns/pod" >>"$RAW"
for i in 1 2 3 4 5 6 7 8; do
	ip link add "d$i" type dummy && ip link set "d$i" up && rdma link add "x$i" type rxe netdev "d$i"
done
check "nine devices" alone nine
for i in 1 2 3 4 5 6 7 8; do rdma link delete "x$i"; done
check "one device again" alone one
# The pod's own GID comes behind 250 others.
plugin DEL macvlan
ip netns add many
ip link add m0 link "$PF" type macvlan mode bridge && ip link set m0 netns many && ip -n many link set m0 up
for i in $(seq 250); do echo "addr add 10.90.0.$i/16 dev m0"; done | ip -n many -batch -
eventually grep -q 0a5a:00fa /sys/class/infiniband/rxe0/ports/1/gids/{0..260}
check "an interface behind 250 GIDs" stays
MANY=$(gids)
check "many GIDs" alone many
plugin DEL macvlan
check "the chain behind 250 GIDs" chain chain-many "$ROUNDS"
echo "gids few $FEW many $MANY" >>"$RAW"
check "figures" grep -q chain-many-both "$RAW"
ip -all netns delete
finish

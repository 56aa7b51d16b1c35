# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# needs: movable
# bench-rdma: what the plugin rdma adds to a chain in mode shared, over rxe; in mode exclusive an ADD of sriov that moves its RDMA
# device. Nothing is judged here: the figures go into
# $OUT/raw, of which conformance/bench/rdma.sh makes tables. QUICK=1: few rounds. With VM_CLOCK the clock counts instructions.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
W=/run/work RAW=$OUT/raw
mkdir -p $W/bin
# The emulated processor reads a program from the host's file system tenfold slower than from its own.
cp "$BIN"/{macvlan,sriov,rdma,railhead-ipam} "$HELPERS"/bench/{measure,calls,nothing} $W/bin
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
ip -all netns delete

# ---- mode exclusive: sriov moves the RDMA device ----
# A rxe device of the host stands for that of the VF, in a copy of /sys/bus/pci/devices (suite sriov-rdma).
rdma link delete rxe0
insmod "$TREE/build/vm/movable-$WANT_KERNEL/movable.ko"
check "mode exclusive" eventually rdma system set netns exclusive
vfs "$PF" 1
VF=$(pci "$PF" 0)
REAL=$(realpath "/sys/bus/pci/devices/$VF")
ip link add s0 link "$PF" type macvlan mode bridge && ip link set s0 up && rdma link add hca0 type rxe netdev s0
cp -a /sys/bus/pci/devices $W/bus && rm "$W/bus/$VF" && mkdir -p "$W/bus/$VF"/{net,infiniband/hca0,infiniband_verbs/uverbs0}
for link in driver physfn; do ln -s "$(readlink -f "$REAL/$link")" "$W/bus/$VF/$link"; done
ip netns add pod
# sriov LABEL KEYS: ADD and DEL of this VF.
sriov()
{
	printf '{"cniVersion":"1.0.0","name":"rail","type":"sriov","deviceID":"%s"%s}' "$VF" "$2" >$W/sriov
	# shellcheck disable=SC2016 # expanded by that shell
	unshare -m bash -c 'b=/sys/bus/pci/devices; mount --bind "$0/bus" $b && mount --bind "$1/net" "$b/$2/net" && exec "${@:3}"' \
		$W "$REAL" "$VF" "$BIN/measure" samples "$ROUNDS" 2 "$1,$BIN/sriov,$W/sriov,/run/netns/pod" >>"$RAW"
}
check "sriov, without the RDMA device" sriov stays ''
check "sriov, with the RDMA device" sriov moves ',"rdma":"exclusive"'
check "figures" grep -q '^moves ADD sample' "$RAW"
ip -all netns delete
rdma link delete hca0
ip link del s0
vfs "$PF" 0
check "mode shared again" eventually rdma system set netns shared
rmmod movable
finish

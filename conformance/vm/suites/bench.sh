# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# needs: fabric
# bench: what the sriov plugin costs on true VFs, and ib-sriov on VFs of InfiniBand. Nothing is judged here: the figures go into $OUT/raw, of which
# conformance/bench/sriov.sh makes tables. QUICK=1: few rounds. With VM_CLOCK the clock counts instructions.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/guest/fabric.sh
. conformance/vm/guest/fabric.sh
# shellcheck source=conformance/bench/lib.sh
. conformance/bench/lib.sh
# The emulated processor reads a program from the host's file system tenfold slower than from its own.
W=/run/work
mkdir -p $W/bin $W/newer
cp -r "$BIN"/{sriov,ib-sriov,railhead-ipam} $W/bin
cp /usr/lib/cni/{host-device,static} $W/bin 2>/dev/null
cp build/vm/plugins/host-device $W/newer 2>/dev/null
cp -r "$HELPERS/bench" $W/helpers
BIN=$W/bin PEER=$W/bin NEWER='' HELPERS=$W/helpers RAW=$OUT/raw HOST=''
OURS=$BIN/sriov
[ ! -x $W/newer/host-device ] || NEWER=$W/newer
# shellcheck source=conformance/bench/sriov-lib.sh
. conformance/bench/sriov-lib.sh
pick() { [ -n "${QUICK-}" ] && echo "$1" || echo "$2"; }
read -r A B <<<"$PFS"

vfs_on_host() { ls -d /sys/class/net/{"$A","$B"}/device/virtfn*/net/* 2>/dev/null | wc -l; }
all_here() { is "$(vfs_on_host)" "$1"; }
# have N M: VFs of the two PFs; their interfaces are there.
have()
{
	echo 0 >"/sys/class/net/$A/device/sriov_numvfs" && echo 0 >"/sys/class/net/$B/device/sriov_numvfs"
	echo "$1" >"/sys/class/net/$A/device/sriov_numvfs" && echo "$2" >"/sys/class/net/$B/device/sriov_numvfs"
	eventually all_here $(($1 + $2))
}

# Numbers of VFs take turns, so that what else the machine does hits all alike.
by_number()
{
	local n
	for ((n = 0; n < $(pick 1 2); n++)); do
		say "1, 7 and 14 VFs, turn $((n + 1))"
		have 1 0 && flat one "$(pick 2 5)" "$(pci "$A" 0)" pod0
		have 7 0 && flat seven "$(pick 2 5)" "$(pci "$A" 6)" pod0
		have 7 7 && flat fourteen "$(pick 2 5)" "$(pci "$B" 6)" pod0
	done
	flat_counts fourteen "$(pci "$B" 6)" pod0
	have 1 0 && flat_counts one "$(pci "$A" 0)" pod0
}

for ((n = 0; n < 14; n++)); do echo "netns add pod$n"; done | ip -batch -
for pf in $PFS; do ip link set "$pf" up; done
say "one VF into a pod, beside the reference and the bare program"
check "14 VFs" have 7 7
moves "$(pick 2 9)" "$(pci "$A" 0)" "$(pci "$A" 1)" "$(pci "$A" 2)" "$(netdev "$(pci "$A" 3)")"
say "14 pods at once over two PFs"
crowd "$(pick 1 5)" "$A" "$B"
by_number
check "figures" grep -q fourteen "$RAW"
say "a VF of InfiniBand that keeps its GUID, beside one of Ethernet"
check "InfiniBand cards" fabric
IB=${IB_PFS%% *}
check "a VF of InfiniBand" ib_vfs "$IB" 1
have 1 0
sriov_on ethernet "$(pci "$A" 0)"
conf infiniband "\"type\":\"ib-sriov\",\"deviceID\":\"$(ib_vf "$IB" 0)\""
MEASURE_PAUSE=100 measure time "$(pick 2 9)" 2 "$(subject ethernet "$OURS" ethernet pod0)" "$(subject infiniband "$BIN/ib-sriov" infiniband pod1)"
check "no VF of InfiniBand" ib_vfs "$IB" 0
check "no InfiniBand cards" fabric_off
have 0 0
say "veth in place of VFs"
export BIN PEER NEWER HELPERS
MANY=$(pick 20 250) MOVES=$(pick 2 7) TURNS=1 check "figures with veth" \
	unshare --mount conformance/bench/sriov-host.sh "$OUT/veth"
ip -all netns delete
finish

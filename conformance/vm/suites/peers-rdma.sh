# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 80
# check: no
# needs: movable
# programs: build/peers/bin
# peers-rdma: RDMA devices that the real rdma-cni moved: our DEL, and the way back. As in rdma-move, rxe devices
# stand for those of VFs; the program that moves them, and its files, are the real ones.
. conformance/vm/guest/lib.sh
W=/run/work CACHE=/var/lib/cni/rdma
PEER=$W/peer
rm -rf $W && mkdir -p $W $PEER
cp "$TREE/build/peers/bin/"{rdma,sriov} $PEER
read -r A _ <<<"$PFS"
modprobe -a rdma_rxe ib_uverbs macvlan
insmod "$TREE/build/vm/movable-$WANT_KERNEL/movable.ko"
check "mode exclusive" eventually "$BIN/railctl" rdma mode exclusive --modprobe-dir $W

ip link set "$A" up
vfs "$A" 2
VF=$(pci "$A" 0)
cp -a /sys/bus/pci/devices $W/bus
ip link add s0 link "$A" type macvlan mode bridge && ip link set s0 up && rdma link add hca0 type rxe netdev s0
DRIVER=$(readlink -f "/sys/bus/pci/devices/$VF/driver")
rm "$W/bus/$VF" && mkdir -p "$W/bus/$VF/infiniband/hca0" "$W/bus/$VF/infiniband_verbs/uverbs0" && ln -s "$DRIVER" "$W/bus/$VF/driver"
# shellcheck disable=SC2016 # expanded by that shell
with() { unshare -m bash -c 'mount --bind '$W'/bus /sys/bus/pci/devices && exec "$@"' with "$@"; }

conf() { printf '{"cniVersion":"%s","name":"rails","type":"%s","deviceID":"%s"}' "${2:-1.1.0}" "$1" "$VF"; }
behind() { jq -c --slurpfile r $W/prev '. + {prevResult: $r[0]}' <<<"$1"; }
# call VERB FOLDER PLUGIN CONF: the answer is in $W/out. The plugin rdma sees the device below its VF.
call()
{
	local view=()
	[ "$3" != rdma ] || view=(with)
	CNI_COMMAND=$1 CNI_CONTAINERID=${ID:-p} CNI_NETNS=${NETNS-/run/netns/${ID:-p}} CNI_IFNAME=net1 CNI_PATH=$2 "${view[@]}" "$2/$3" \
		<<<"$4" >$W/out 2>$W/log || { cat $W/out $W/log && false; }
}
files() { find $CACHE -type f -printf '%f\n' 2>/dev/null; }
records() { find /run/railhead -name '*,net1' 2>/dev/null; }
is_home() { is "$(devices)" "$1"; }
is_back() { is "$(devices)" hca0 && is "$(files)" "" && is "$(records)" ""; }
pod() { ip netns add p && call ADD "$BIN" sriov "$(conf sriov)" && cp $W/out $W/prev; }
next()
{
	local ID=q
	ip netns add q && call ADD "$BIN" sriov "$(conf sriov)" && cp $W/out $W/prev &&
		call ADD "$BIN" rdma "$(behind "$(conf rdma)")"
}
# attached: our sriov, and the real rdma-cni behind it.
attached()
{
	check "a pod with a VF" pod
	check "rdma-cni: ADD" call ADD $PEER rdma "$(behind "$(conf rdma)")"
	check "the device is in the pod" is "$(devices p)" hca0
	check "and on record of rdma-cni" is "$(files)" rails-p-net1
}
our_del() { call DEL "$BIN" rdma "$(conf rdma)" && call DEL "$BIN" sriov "$(conf sriov)"; }

attached
check "rdma-cni: DEL" call DEL $PEER rdma "$(behind "$(conf rdma)")"
check "sriov: DEL" call DEL "$BIN" sriov "$(conf sriov)"
check "all is back" is_back
ip netns del p

# ---- our DEL ----
attached
check "our DEL" our_del
check "all is back" is_back
check "our DEL again" our_del
ip netns del p
attached
ip netns del p
NETNS='' check "the namespace has died: our DEL" our_del
check "all is back" eventually is_back
attached
check "the pod gives it another name" ip netns exec p rdma dev set hca0 name mine
ip netns del p
check "it comes home with that" eventually is_home mine
mv "$W/bus/$VF/infiniband/hca0" "$W/bus/$VF/infiniband/mine"
NETNS='' check "it has died, and the name was changed: our DEL" our_del
check "all is back, and the name" is_back
mv "$W/bus/$VF/infiniband/mine" "$W/bus/$VF/infiniband/hca0"

# ---- a late DEL ----
attached
ip netns del p
check "it comes home" eventually is_home hca0
NETNS='' check "the VF, too" call DEL "$BIN" sriov "$(conf sriov)"
check "the next pod has it from us" next
NETNS='' check "our DEL of the first: nothing is left to do" call DEL "$BIN" rdma "$(conf rdma)"
check "the next pod still has it" is "$(devices q)" hca0
check "and nothing is on record of rdma-cni" is "$(files)" ""
ID=q check "our DEL of the next" our_del
check "all is back" is_back
ip netns del q

# ---- the way back ----
check "a pod with a VF" pod
check "our ADD" call ADD "$BIN" rdma "$(behind "$(conf rdma)")"
call DEL $PEER rdma "$(behind "$(conf rdma)")" >/dev/null
check "rdma-cni's DEL leaves it where it is" is "$(devices p)" hca0
check "our DEL" our_del
check "all is back" is_back
ip netns del p
# ---- another name, while the pod lives: found by its interface, so on that of the VF it is ----
rdma link delete hca0
check "a pod with a VF" pod
check "its device" ip netns exec p rdma link add hca0 type rxe netdev net1
check "begins at home" is_home hca0
check "rdma-cni: ADD" call ADD $PEER rdma "$(behind "$(conf rdma)")"
check "the pod gives it another name" ip netns exec p rdma dev set hca0 name mine
check "our DEL" call DEL "$BIN" rdma "$(conf rdma)"
check "all is back, and the name" is "$(devices) $(files)" "hca0 "
check "sriov: DEL" call DEL "$BIN" sriov "$(conf sriov)"
ip netns del p

ip link del s0
vfs "$A" 0
check "mode shared again" eventually "$BIN/railctl" rdma mode shared --modprobe-dir $W
rmmod movable
finish

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 120
# check: no
# kernel: 7.2
# needs: movable
# topology: trio
# rdma-exclusive: RDMA devices that moved into pods are used there, and twenty pods get theirs at once. Kernel 7.2:
# before, rxe sends from the first network namespace only. rdma-move has the other cases of a move.
#
# The VFs have no RDMA. An rxe device on the interface of each VF replaces it. The plugin rdma sees a copy of
# /sys/bus/pci/devices in which the VF has this device. Kernels before 7.3 do not move rxe; movable.ko lets them.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/guest/rdma.sh
. conformance/vm/guest/rdma.sh
read -r A B C <<<"$PFS"
modprobe -a rdma_rxe ib_uverbs rdma_ucm
insmod "$TREE/build/vm/movable-$WANT_KERNEL/movable.ko"
check "mode exclusive, while there are no namespaces" eventually "$RB/railctl" rdma mode exclusive --modprobe-dir $W
for pf in $PFS; do ip link set "$pf" up; done
check "21 VFs" eval 'vfs "$A" 7 && vfs "$B" 7 && vfs "$C" 7'
cp -a /sys/bus/pci/devices $W/bus
# shellcheck disable=SC2016 # expanded by that shell
VIEW=(unshare -m bash -c 'mount --bind "$0" /sys/bus/pci/devices && exec "$@"' "$W/bus")

# The VF of the pod has its device, as a card's driver would show it.
owns() # POD
{
	local v
	v=$(jq -r '.interfaces[-1].pciID' "$W/out.$1")
	rm -rf "${W:?}/bus/$v" && mkdir -p "$W/bus/$v/infiniband/rxe_$1" "$W/bus/$v/infiniband_verbs/uverbs-$1"
}
ATTACHED=owns
on() { conf sriov rails "\"deviceID\":\"$(pci "$1" "$2")\",\"ipam\":{\"type\":\"railhead-ipam\",\"subnet\":\"10.92.0.0/24\"}"; }
home() { rdma -j dev | jq -r '[.[].ifname] | sort | join(" ")'; }
inside() { ip netns exec "$1" rdma -j dev | jq -r '[.[].ifname] | join(" ")'; }
# Which device has which character device, whatever namespace it is in.
numbers() { grep -H . /sys/class/infiniband_verbs/uverbs*/ibdev 2>/dev/null | sed 's,.*/\(uverbs[0-9]*\)/ibdev:,\1 ,' | sort -k2; }
uverbs() { jq -r '.rdma.charDevices[0] | split("/")[-1]' "$W/out.$1"; }
records() { find /run/railhead -name '*,net1' | wc -l; }

# ---- used inside ----
CA=$(on "$A" 0) CB=$(on "$B" 0)
for p in a b; do
	[ $p = a ] && c=$CA || c=$CB
	check "interface of pod $p" interface $p "$c"
	check "its device begins at home" grep -qw rxe_$p <(home)
	numbers >$W/numbers
	check "ADD of the device" device $p "$c"
	check "it is in the pod" is "$(inside $p)" rxe_$p
	check "and not at home" isnt grep -qw rxe_$p <(home)
	check "no character device was swapped" is "$(numbers)" "$(<$W/numbers)"
	check "the answer names its own" grep -qx "$(uverbs $p) rxe_$p" $W/numbers
	check "link of pod $p" eventually carrier net1 $p
	check "env in pod $p" env_of $p
done
# shellcheck disable=SC2016
check "env is of the pod's device" is "$(with_env a 'echo $DEV:$PORT')" rxe_a:1
check "rdma-probe between the pods" exchange a b --no-cm
check "ib_send_bw" perftest ib_send_bw a b
check "ib_write_bw" perftest ib_write_bw b a
# To rxe of 7.2 the queue pair of connection management, once it was there, is there for ever.
check "RDMA CM does not work on a rxe that moved, as docs say" isnt exchange a b
sees_it() { "$RB/rdma-probe" list --device rxe_a; }
check "the host cannot use it" isnt sees_it
check "DEL of the device" call DEL rdma a "$(conf rdma rails)"
check "it is home" is "$(home)" rxe_a
check "with its number" is "$(numbers)" "$(<$W/numbers)"
check "DEL of the interface" call DEL sriov a "$CA"
ip netns del a
ip netns del b
NETNS='' check "DEL of a pod that was killed" detach b "$CB"
check "nothing is on record" is "$(records)" 0
nothing_home() { is "$(home)" ''; }
check "with its interface a rxe goes, too" eventually nothing_home

# ---- twenty at once ----
declare -A CONF
PODS=()
for pf in $PFS; do
	for i in 0 1 2 3 4 5 6; do
		[ ${#PODS[@]} = 20 ] || { p=q${#PODS[@]} && PODS+=("$p") && CONF[$p]=$(on "$pf" "$i"); }
	done
done
at_once() # FUNCTION WORD...: of all pods at the same time
{
	local pids=() p rc=0
	for p in "${PODS[@]}"; do
		"$1" "$p" "${CONF[$p]}" "${@:2}" &
		pids+=($!)
	done
	for p in "${pids[@]}"; do wait "$p" || rc=1; done
	return $rc
}
interfaces() { for p in "${PODS[@]}"; do interface "$p" "${CONF[$p]}" || return; done; }
each_has_its_own()
{
	local p
	for p in "${PODS[@]}"; do
		[ "$(inside "$p")" = "rxe_$p" ] && grep -qx "$(uverbs "$p") rxe_$p" $W/numbers || { echo "$p" && inside "$p" && return 1; }
	done
}
give_back() { call DEL rdma "$1" "$(conf rdma rails)"; }
check "interfaces of 20 pods" interfaces
numbers >$W/numbers
ALL=$(home)
check "20 ADDs at once" at_once device '"timeout":300'
check "each pod has its own, as its answer says" each_has_its_own
check "no character device was swapped" is "$(numbers)" "$(<$W/numbers)"
check "none is at home" is "$(home)" ''
check "20 DELs at once" at_once give_back
check "all are home" is "$(home)" "$ALL"
check "with their numbers" is "$(numbers)" "$(<$W/numbers)"
check "20 ADDs at once, again" at_once device '"timeout":300'
for p in "${PODS[@]}"; do ip netns del "$p"; done
NETNS='' check "20 DELs of pods that were killed" at_once detach
check "nothing is on record" is "$(records)" 0
check "no device is left" eventually nothing_home
for pf in $PFS; do vfs "$pf" 0; done
check "mode shared again" eventually "$RB/railctl" rdma mode shared --modprobe-dir $W
rmmod movable
finish

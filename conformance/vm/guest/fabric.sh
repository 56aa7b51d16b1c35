# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# fabric.sh: InfiniBand cards in software (fabric/, fabric.md). A suite that says "# needs: fabric" sources it behind lib.sh.
FABRIC=/sys/kernel/debug/fabric
BUS=/sys/bus/pci/devices
IB_PFS='0001:01:00.0 0001:02:00.0'

# fabric [PARAMETER=VALUE...]: the cards; fabric_off: without them again. vfio=1: the kernel's own vfio-pci, which a suite before
# may have loaded, has the same name.
fabric()
{
	[[ " $* " != *' vfio=1 '* ]] || modprobe -r vfio-pci || return
	modprobe -a ib_ipoib ib_uverbs ib_umad && insmod "$TREE/build/vm/fabric-$WANT_KERNEL/fabric.ko" "$@"
}
fabric_off() { rmmod fabric; }

# ib_vfs PF COUNT; ib_vf PF N: the address of a VF. Cards and VFs go by PCI address here; `netdev ADDRESS` is the interface.
ib_vfs() { echo "$2" >"$BUS/$1/sriov_numvfs"; }
ib_vf() { basename "$(readlink "$BUS/$1/virtfn$2")"; }
# rdma_dev ADDRESS, uverbs ADDRESS: the RDMA device, and its character device. All namespaces in mode shared; else this one's.
rdma_dev() { ls "$BUS/$1/infiniband" 2>/dev/null; }
uverbs() { ls "$BUS/$1/infiniband_verbs" 2>/dev/null; }
# bind ADDRESS [DRIVER], unbind ADDRESS: the driver fabric.
bind() { echo "$1" >"/sys/bus/pci/drivers/${2-fabric}/bind"; }
unbind() { echo "$1" >"$BUS/$1/driver/unbind"; }
rebind() { unbind "$1" && bind "$1"; }
is_bound() { [ -e "$BUS/$1/driver" ]; }

# hex GUID: 02:00:..:01 as it is in debugfs. node_guid ADDRESS, port_guid ADDRESS: of the device, with colons: what its driver
# read when it was bound. The port's is in its interface's address.
hex() { echo "0x${1//:/}"; }
node_guid() { sed 's/://g; s/../&:/g; s/:$//' "$BUS/$1/infiniband/$(rdma_dev "$1")/node_guid"; }
port_guid() { sed 's/://g; s/.\{16\}//; s/../&:/g; s/:$//' "$BUS/$1/infiniband/$(rdma_dev "$1")/ports/1/gids/0"; }
# lladdr_guid NETDEV: bytes 12 to 19 of its address.
lladdr_guid() { cut -c37- "/sys/class/net/$1/address"; }

# fault RULE: as fabric.md says. count ADDRESS OPERATION: how often it took place. held OPERATION ADDRESS: a rule holds a caller.
fault() { echo "$1" >$FABRIC/faults; }
count() { awk -v op="$2" '$1 == op { print $2 }' "$FABRIC/$1/counts"; }
held() { grep -q "^$1 $2 .* held [1-9]" $FABRIC/faults; }
knob() { echo "$3" >"$FABRIC/$1/$2"; } # ADDRESS NAME VALUE

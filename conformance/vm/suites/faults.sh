# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 100
# faults: everything fails once: conformance/faults for sriov and for rails on a card's true VFs, for ipvlan, and for rdma behind
# macvlan, over rxe, in mode shared. It also runs for macvlan on a VLAN of a bond, which are made on demand.
# CASES: which plugins; QUICK=1: without rails, whose own system calls faults-quick meets on the machine. How many: guest/faults.sh.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/guest/faults.sh
. conformance/vm/guest/faults.sh

modprobe bonding max_bonds=0
modprobe -a 8021q ipvlan igbvf rdma_rxe ib_uverbs macvlan
for plugin in ${CASES:-sriov ipvlan rdma macvlan-demand $([ -n "${QUICK-}" ] || echo rails-sriov)}; do
	survives "$plugin" 12
done
# The next suite in this guest begins with cards without VFs.
for vfs in /sys/class/net/*/device/sriov_numvfs; do
	check "no VFs are left" eval "echo 0 >$vfs"
done
finish

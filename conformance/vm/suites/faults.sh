# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 210
# faults: everything fails once: conformance/faults for sriov and for rails on a card's true VFs, for ipvlan, and for rdma behind
# macvlan, over rxe, in mode shared. CASES: which plugins. How many: guest/faults.sh.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/guest/faults.sh
. conformance/vm/guest/faults.sh

modprobe -a ipvlan igbvf rdma_rxe ib_uverbs macvlan
for plugin in ${CASES:-sriov rails-sriov ipvlan rdma}; do
	survives "$plugin" 12
done
# The next suite in this guest begins with cards without VFs.
for vfs in /sys/class/net/*/device/sriov_numvfs; do
	check "no VFs are left" eval "echo 0 >$vfs"
done
finish

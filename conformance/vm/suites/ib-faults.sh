# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 100
# needs: fabric
# ib-faults: everything fails once: conformance/faults for ib-sriov on VFs in software, in both modes of RDMA devices, and for
# ipoib on a port in software. CASES: which plugins; QUICK=1: not in mode exclusive. How many: guest/faults.sh.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/guest/fabric.sh
. conformance/vm/guest/fabric.sh
# shellcheck source=conformance/vm/guest/faults.sh
. conformance/vm/guest/faults.sh

check "two cards" fabric
ib_pfs
for plugin in ${CASES:-ib-sriov ipoib $([ -n "${QUICK-}" ] || echo ib-sriov-exclusive)}; do
	mode=shared some=12
	[ "$plugin" != ib-sriov-exclusive ] || mode=exclusive some=8
	check "mode $mode" eventually rdma system set netns $mode
	survives "$plugin" $some
	check "no VFs are left" ib_vfs "${IB_PFS%% *}" 0
done
check "mode shared again" eventually rdma system set netns shared
check "without cards" fabric_off
finish

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 90
# needs: fabric
# ib-spec: the rules of the protocol against ib-sriov, on VFs of InfiniBand, and against ipoib. CASES: which plugins. Which rules:
# guest/rules.sh.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/guest/fabric.sh
. conformance/vm/guest/fabric.sh
# shellcheck source=conformance/vm/guest/rules.sh
. conformance/vm/guest/rules.sh

check "two cards" fabric
for pf in $IB_PFS; do
	check "$pf makes 16 VFs" ib_vfs "$pf" 16
	ip link set "$(netdev "$pf")" up
	check "it has a carrier" eventually carrier "$(netdev "$pf")"
done
for plugin in ${CASES:-ib-sriov ipoib}; do
	held "$plugin"
	# Of the rule about duplicates.
	for pf in $IB_PFS; do ip addr flush dev "$(netdev "$pf")" scope global; done
	echo "# $plugin, $(cut -d. -f1 /proc/uptime) s"
done
for pf in $IB_PFS; do
	check "without VFs" ib_vfs "$pf" 0
done
check "without cards" fabric_off
finish

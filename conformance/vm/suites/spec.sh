# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 80
# spec: the rules of the protocol against sriov, on true VFs. FULL=1: against ipvlan and, over rxe, rdma too. CASES: which plugins.
# Which rules: guest/rules.sh.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/guest/rules.sh
. conformance/vm/guest/rules.sh

for pf in $PFS; do
	ip link set "$pf" up
	check "$pf makes 7 VFs" vfs "$pf" 7
done
check "the cable" eventually carrier "${PFS%% *}"
modprobe -a ipvlan rdma_rxe ib_uverbs
for plugin in ${CASES:-sriov ${FULL:+ipvlan rdma}}; do
	held "$plugin"
	echo "# $plugin, $(cut -d. -f1 /proc/uptime) s"
done
for pf in $PFS; do
	echo 0 >"/sys/class/net/$pf/device/sriov_numvfs"
	ip addr flush dev "$pf" scope global
done
finish

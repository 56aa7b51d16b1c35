#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# idle.sh: wait until all VFs of the first card are back from pods that have died; remove what else there is of links.
pf=${PFS%% *}
back() { [ "$(ls -d "/sys/class/net/$pf/device"/virtfn*/net/* 2>/dev/null | wc -l)" = "$(cat "/sys/class/net/$pf/device/sriov_numvfs")" ]; }
for i in 1 2 3 4 5 6 7 8 9 10; do
	! back || break
	sleep 0.2
done
for link in /sys/class/net/*; do
	[ -e "$link/device" ] || [ "${link##*/}" = lo ] || ip link del "${link##*/}"
done
ip addr flush dev "${PFS##* }" scope global 2>/dev/null
back

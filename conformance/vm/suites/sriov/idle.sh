#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# idle.sh: wait until all VFs are back from pods that have died; remove what else there is of links. cni-conformance runs it with
# no variable of the suite.
PFS=$(for pf in /sys/class/net/*/device/sriov_totalvfs; do echo "$pf" | cut -d/ -f5; done)
count() { for pf in $PFS; do "$@" "$pf"; done; }
vfs() { cat "/sys/class/net/$1/device/sriov_numvfs"; }
nets() { ls -d "/sys/class/net/$1/device"/virtfn*/net/* 2>/dev/null; }
back() { [ "$(count nets | wc -l)" = "$(count vfs | awk '{ n += $1 } END { print n }')" ]; }
i=0
until back || [ $i = 300 ]; do
	i=$((i + 1))
	sleep 0.2
done
for link in /sys/class/net/*; do
	[ -e "$link/device" ] || [ "${link##*/}" = lo ] || ip link del "${link##*/}"
done
back

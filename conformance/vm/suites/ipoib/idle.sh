#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# idle.sh: remove the children that pods left, which the kernel hands back when it takes their namespaces apart, and what else there is
# of links. cni-conformance runs it with no variable of the suite.
#
# The kernel takes namespaces apart later, in the order in which they died. So one that dies now shows when it is done: its veth is gone.
ip netns add idle && ip link add idle0 type veth peer name idle1 netns idle && ip netns del idle || exit
while [ -e /sys/class/net/idle0 ]; do sleep 0.02; done
for link in /sys/class/net/*; do
	[ -e "$link/device" ] && [ "$(cat "$link/ifindex")" = "$(cat "$link/iflink")" ] || [ "${link##*/}" = lo ] || ip link del "${link##*/}"
done

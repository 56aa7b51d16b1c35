# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# kill.sh: SIGKILL in place of a request to the kernel. Afterwards DEL, GC or repair, in turn, leaves the VF at its baseline.
# Every fourth request, with FULL=1 each, of ADD on one kernel and of DEL on the other. With QUICK=1, where there is one kernel
# only, every eighth of both. Every system call: suite faults.
pods a
SOME=$(on "$VA0" '"vlan":3,"trust":"on","mac":"02:00:00:00:08:01","mtu":1300')
batch "link property add dev $EA0 altname net1"
forget
remember
KILL_STEP=4
[ -z "${QUICK-}" ] || KILL_STEP=8
[ -z "${FULL-}" ] || KILL_STEP=1
attached() { add a "$SOME"; }
[ -z "${QUICK-}" ] && [ "$WANT_KERNEL" != 6.12 ] || each_kill sendto ADD "$SOME" true $KILL_STEP 100
[ -z "${QUICK-}" ] && [ "$WANT_KERNEL" = 6.12 ] || each_kill sendto DEL "$SOME" attached $KILL_STEP 100
check "no VF is lost" clean
batch "link property del dev $EA0 altname net1"
forget
remember
no_pods a

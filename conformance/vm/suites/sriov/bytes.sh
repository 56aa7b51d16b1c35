# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# bytes.sh: what is sent to the kernel. Strace decodes what goes to sockets of its own namespace, and shows the
# bytes of the rest: 08 00 1d 00 begins IFLA_EXT_MASK, 08 00 1c 00 IFLA_NET_NS_FD.
pods a
SENT=$W/sent
traced() { TRACE="strace -f --seccomp-bpf -x -s 4096 -e trace=sendto,sendmsg,sendmmsg -o $SENT" call "$@"; }
# asks_for_vfs: some request wants the list of VFs; with_statistics: with what costs a NIC most of a second.
asks_for_vfs() { grep -E 'IFLA_EXT_MASK.*RTEXT_FILTER_VF|x08.x00.x1d.x00' $SENT; }
with_statistics() { asks_for_vfs | grep -vE 'RTEXT_FILTER_VF\|[A-Z_|]*RTEXT_FILTER_SKIP_STATS'; }
moves() { grep -cE 'IFLA_NET_NS_FD.*IFLA_IFNAME|nlmsg_type=0x13 .*x08.x00.x1c.x00' $SENT; }

check "the first ADD in a VF's life" traced ADD a "$(on "$VB6")"
check "asks for the list of VFs" asks_for_vfs
check "never with statistics" isnt with_statistics
check "moves and renames in one" is "$(moves)" 1
check "DEL" traced DEL a "$(on "$VB6")"
check "asks for no list" isnt asks_for_vfs
check "moves and renames in one" is "$(moves)" 1
# Only that list has later changes of an administrator.
check "a second ADD" traced ADD a "$(on "$VB6")"
check "asks for the list of VFs, too" asks_for_vfs
check "never with statistics" isnt with_statistics
check "moves and renames in one" is "$(moves)" 1
check "DEL" traced DEL a "$(on "$VB6")"
ALL='"vlan":7,"max_tx_rate":50,"spoofchk":"off","trust":"on","mtu":1400,"mac":"02:00:00:00:05:01"'
check "ADD with all attributes" traced ADD a "$(on "$VB6" "$ALL")"
check "never with statistics" isnt with_statistics
check "moves and renames in one" is "$(moves)" 1
check "DEL" traced DEL a "$(on "$VB6" "$ALL")"
check "never with statistics" isnt with_statistics
check "no dump of interfaces" isnt grep -E 'NLM_F_DUMP' $SENT
check "as before" clean
no_pods a

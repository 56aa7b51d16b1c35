# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# lib.sh: calls of railctl vf. Its output is in $W/said.
PA=$(readlink -f "/sys/class/net/$A/device")
PB=$(readlink -f "/sys/class/net/$B/device")

vf() # WORD...: it must succeed
{
	"$RAILCTL" vf "$@" >$W/said 2>&1 || { cat $W/said && false; }
}
vf_fails() # TEXT WORD...: it must end with status 1 and say so
{
	local text=$1
	shift
	"$RAILCTL" vf "$@" >$W/said 2>&1
	[ $? = 1 ] && said "$text" || { cat $W/said && false; }
}
said() { grep -qF -- "$1" $W/said || { cat $W/said && false; }; }
listed() # FILTER: a jq test of the list
{
	"$RAILCTL" vf list --json >$W/list && jq -e "$1" $W/list >/dev/null || { cat $W/list && false; }
}
numvfs() { is "$(cat "$1/sriov_numvfs")" "$2"; }
autoprobe() { is "$(cat "$1/sriov_drivers_autoprobe")" 1; }

# macs PF COUNT: all of its VFs have the MACs that they are to have, at the PF and on their interfaces.
macs()
{
	local n dev pf
	pf=$(mac_of "$1")
	ip -j link show "$1" | jq -r '.[0].vfinfo_list[].address' >$W/at-pf
	for ((n = 0; n < $2; n++)); do
		dev=$(netdev "$(pci "$1" $n)") && [ -n "$dev" ] && mac_of "$dev" || return 1
	done >$W/own
	for ((n = 0; n < $2; n++)); do printf '%02x:%02x:%s\n' 0 $n "${pf:9}"; done >$W/ends
	cut -d: -f2- $W/own | diff - $W/ends && diff $W/at-pf $W/own && isnt grep -v '^.[26ae]:' $W/own
}
up() { ip link set "$A" up && ip link set "$B" up && cable; }
ifindexes() { cat /sys/class/net/*/ifindex; }

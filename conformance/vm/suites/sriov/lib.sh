# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# lib.sh: calls of the sriov plugin, or of PLUGIN, and looks at what the kernel says afterwards.
RAILCTL=$BIN/railctl
W=/run/work
mkdir -p $W
read -r A B <<<"$PFS"
IPAM='{"type":"railhead-ipam","subnet":"10.88.0.0/24"}'

# conf KEYS: a configuration of network rails with those keys.
conf() { printf '{"cniVersion":"1.1.0","name":"rails","type":"%s","ipam":%s,%s}' "${PLUGIN:-sriov}" "$IPAM" "$1"; }
# on VF [KEYS]: ... for that VF.
on() { conf "\"deviceID\":\"$1\"${2:+,$2}"; }

# call VERB CONTAINER CONF [NETNS]: the answer is in $W/out, its status is returned. TRACE: what runs the plugin.
call()
{
	CNI_COMMAND=$1 CNI_CONTAINERID=$2 CNI_NETNS=${4-/run/netns/$2} CNI_IFNAME=${IFN:-net1} CNI_PATH=$BIN \
		CNI_ARGS=${CARGS-} ${TRACE-} "$BIN/${PLUGIN:-sriov}" <<<"$3" >"${ANSWER:-$W/out}" 2>"${ANSWER:-$W/out}.log" ||
		{ cat "${ANSWER:-$W/out}" "${ANSWER:-$W/out}.log" && false; }
}
add() { call ADD "$@"; }
del() { call DEL "$@"; }
answer() { jq -r "$1" "${ANSWER:-$W/out}"; }
checked() # CONTAINER CONF RESULT: CHECK
{
	call CHECK "$1" "$(jq -c --slurpfile r "$3" '. + {prevResult: $r[0]}' <<<"$2")"
}
refused() { refused_in $W/out "$@"; } # CODE WORD COMMAND...

# sees POD PF N FILTER: the filter holds for the pod's interface (.pod) and the PF's data of its Nth VF (.vf).
sees()
{
	{
		ip -n "$1" -j -d link show
		ip -j link show "$2"
	} | jq -sc --arg ifn "${IFN:-net1}" --argjson n "$3" \
		'{pod: (.[0][] | select(.ifname == $ifn)), vf: .[1][0].vfinfo_list[$n]}' >$W/seen
	jq -e "$4" $W/seen >/dev/null || { cat $W/seen && false; }
}
pings() { ip netns exec "$1" "$HELPERS/attach/ping" "$2"; }
mac_of() { cat "/sys/class/net/$1/address"; }

# Everything that the host has, a line each: interfaces by themselves and VFs by their PFs.
host()
{
	ip -j link show | jq -c '[.[] | select(.ifname != "lo")] | sort_by(.ifname)[] |
		{ifname, mtu, address, altnames: (.altnames // [] | sort), up: (.flags | index("UP") != null)},
		(.ifname as $pf | .vfinfo_list // [] | .[] | {pf: $pf} + .)'
}
remember() { host >$W/before; }
# forget: what a VF is now is what it was; for those who change an idle one.
forget() { rm -rf /run/railhead/vf; }
as_before()
{
	host >$W/now
	cmp -s $W/before $W/now || { diff $W/before $W/now && false; }
}
unowned() { [ ! -d /run/railhead/vf ] || isnt grep -rE '"owner"|"dirty":[1-9]' /run/railhead/vf; }
nothing_left()
{
	is "$(echo /run/railhead/attachments/*/*)" "/run/railhead/attachments/*/*" && is "$("$RAILCTL" ipam lease list --json)" "[]" && unowned
}
# clean: no VF has an owner, and the host is as before.
clean() { as_before && nothing_left; }

# batch LINE...: of ip, in one process.
batch() { printf '%s\n' "$@" | ip -batch -; }
pods() { batch "${@/#/netns add }"; }
no_pods() { batch "${@/#/netns del }"; }

cable() { eventually carrier "$A" && eventually carrier "$B"; }
cards_up()
{
	local pf
	for pf in $PFS; do
		ip link set "$pf" up
		check "$pf makes 7 VFs" vfs "$pf" 7
	done
	addresses
	remember
}
# VA0 to VA6, VB0 to VB6: addresses of VFs; EA0, EB0 and so on: their interfaces, while on the host.
addresses()
{
	local n
	for n in 0 1 2 3 4 5 6; do
		name_vf "A$n" "$A" "$n"
		name_vf "B$n" "$B" "$n"
	done
}
name_vf() # WHICH PF N
{
	local link nets
	link=$(readlink "/sys/class/net/$2/device/virtfn$3") || return 0
	nets=(/sys/bus/pci/devices/"${link##*/}"/net/*)
	declare -g "V$1=${link##*/}" "E$1=${nets[0]##*/}"
}
cards_down()
{
	local pf
	for pf in $PFS; do
		check "$pf without VFs" eval "echo 0 >/sys/class/net/$pf/device/sriov_numvfs"
	done
}

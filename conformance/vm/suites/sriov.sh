# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# sriov: the sriov plugin on true VFs: what it sets, what the kernel says of it, and what is left.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh

RAILCTL=$BIN/railctl
IPAM='{"type":"railhead-ipam","subnet":"10.88.0.0/24"}'
mkdir -p /run/work
W=/run/work

# conf KEYS: a configuration of network rails with those keys.
conf() { printf '{"cniVersion":"1.1.0","name":"rails","type":"sriov","ipam":%s,%s}' "$IPAM" "$1"; }

# call VERB CONTAINER CONF [NETNS]: the answer is in $W/out, its status is returned.
call()
{
	CNI_COMMAND=$1 CNI_CONTAINERID=$2 CNI_NETNS=${4-/run/netns/$2} CNI_IFNAME=${IFN:-net1} CNI_PATH=$BIN \
		CNI_ARGS=${CARGS-} "$BIN/sriov" <<<"$3" >"$W/out" 2>"$W/log"
}
add() { call ADD "$@"; }
del() { call DEL "$@"; }
answer() { jq -r "$1" "$W/out"; }
with_result() { jq -c --slurpfile r "$W/$1" '. + {prevResult: $r[0]}' <<<"$2"; }
refused() # CODE WORD VERB CONTAINER CONF: an error object of that code that says the word
{
	local code=$1 word=$2
	shift 2
	! call "$@" && is "$(answer .code)" "$code" && [[ $(answer .msg) == *"$word"* ]]
}
pod() { ip netns add "$1"; }
inside() { ip -n "$1" -j link show "${IFN:-net1}" 2>/dev/null | jq -r ".[0]$2"; }
pings() { ip netns exec "$1" "$HELPERS/attach/ping" "$2"; }
# All that a VF is: by its PF and by itself.
state() # PF N
{
	ip -j link show "$1" | jq -c ".[0].vfinfo_list[$2]"
	ip -j link show dev "$(netdev "$(pci "$1" "$2")")" |
		jq -c '.[0] | {ifname, mtu, address, altnames, up: (.flags | index("UP") != null)}'
}
nothing_left()
{
	is "$(find /run/railhead/attachments -type f 2>/dev/null | wc -l)" 0 &&
		is "$($RAILCTL ipam lease list --json 2>/dev/null | jq '.leases | length')" 0 &&
		! grep -lq '"owner"' /run/railhead/vf/* 2>/dev/null
}

set -- $PFS
A=$1 B=$2
for pf in $PFS; do
	ip link set "$pf" up
	check "$pf makes 7 VFs" vfs "$pf" 7
done
within 20 carrier "$A" && within 20 carrier "$B"
VA=$(pci "$A" 0) VB=$(pci "$B" 0)
ip link property add dev "$(netdev "$VA")" altname rail-alt0
state "$A" 0 >$W/before-a
state "$B" 0 >$W/before-b
PLAIN=$(conf "\"deviceID\":\"$VA\"")

# --- attach, reach, detach -----------------------------------------------------------------
pod a
pod b
check "ADD of a VF" add a "$PLAIN"
cp $W/out $W/result-a
check "result: pciID" is "$(answer '.interfaces[0].pciID')" "$VA"
check "result: MAC is the interface's" is "$(answer '.interfaces[0].mac')" "$(inside a .address)"
check "result: MTU" is "$(answer '.interfaces[0].mtu')" 1500
check "result: sandbox" is "$(answer '.interfaces[0].sandbox')" /run/netns/a
check "the VF is in the pod under its name" is "$(inside a .ifname)" net1
check "and no more on the host" is "$(netdev "$VA")" ""
check "ADD of a VF of the other card" add b "$(conf "\"deviceID\":\"$VB\"")"
ADDRESS=$(jq -r '.ips[0].address' $W/out)
check "pods on two cards reach each other" within 20 pings a "${ADDRESS%/*}"
check "CHECK" call CHECK a "$(with_result result-a "$PLAIN")"
check "a second pod cannot have it" refused 103 "belongs to container a" ADD b "$PLAIN"
check "DEL" del a "$PLAIN"
check "DEL again" del a "$PLAIN"
check "the VF is as it was" is "$(state "$A" 0)" "$(<$W/before-a)"
check "DEL without a namespace" del b "$(conf "\"deviceID\":\"$VB\"")" ""
check "the other VF is as it was" is "$(state "$B" 0)" "$(<$W/before-b)"
check "nothing is left" nothing_left
finish

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# tools.sh: how each tool attaches a rail to a pod. cnitool runs the chains. Sourced by run.sh.
#
# none: the reference macvlan alone. railhead: the plugin macvlan of $BIN. coordinator, sbr: the reference macvlan, and then that plugin of
# $PEERS/bin. The IPAM of all is the reference plugin static: the addresses are not what is compared.

TOOLS='none railhead coordinator sbr'

# configuration FILE POD N: a template of conf/ with the values of that rail
configuration()
{
	sed "s|NETWORK|rails$3|; s|MASTER|rail$3|; s|ADDRESS4|$(address 4 "$2" "$3")|; s|ADDRESS6|$(address 6 "$2" "$3")|
		s|GATEWAY4|$(gateway 4 "$2" "$3")|; s|GATEWAY6|$(gateway 6 "$2" "$3")|
		s|SUPERNET4|$(supernet 4 "$2" "$3")|; s|SUPERNET6|$(supernet 6 "$2" "$3")|" "$HERE/conf/$1.json"
}

# attach add|del TOOL POD N
attach()
{
	local plugins=$PEERS/bin conf=$W/conf.$3$4 kind=subnet
	[ "$2" != railhead ] || plugins=$BIN:$PEERS/bin
	[ "$TOPOLOGY" != leaves ] || kind=leaves
	mkdir -p "$conf"
	if [ "$2" = none ]; then
		configuration "$kind.sbr" "$3" "$4" | jq 'del(.plugins[1])'
	else
		configuration "$kind.$2" "$3" "$4"
	fi >"$conf/rail.conflist"
	NETCONFPATH=$conf CNI_PATH=$plugins CNI_IFNAME=net$(($4 + 1)) CNI_ARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=$3" \
		ip netns exec "node-$3" "$PEERS/bin/cnitool" "$1" "rails$4" "/run/netns/$3" >"$W/cnitool" 2>&1
}

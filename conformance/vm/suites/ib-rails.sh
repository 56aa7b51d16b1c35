# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# seconds: 120
# needs: fabric
# ib-rails: the plugin rails on two cards of InfiniBand: kind "ipoib" makes a child of each, kind "ib-sriov" moves a VF of each. Namespaces that
# are gone, lost records, kills. FULL=1: killed at each request.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/guest/fabric.sh
. conformance/vm/guest/fabric.sh
# shellcheck source=conformance/vm/suites/sriov/lib.sh
. conformance/vm/suites/sriov/lib.sh
PLUGIN=rails
IPAM='{"type":"railhead-ipam","pool":"ib{n}"}'
CARGS='IgnoreUnknown=1;K8S_POD_NAMESPACE=train;K8S_POD_NAME=worker-0'

check "two cards" fabric
read -r PF OTHER <<<"$IB_PFS"
P=$(netdev "$PF") Q=$(netdev "$OTHER")
mkdir -p /etc/railhead
for pf in $IB_PFS; do knob "$pf" pkeys "0xffff 0x8001"; done
for i in 0 1; do "$RAILCTL" ipam pool add "ib$i" --subnet "10.88.$i.0/24" --gateway "10.88.$i.1" --this-node-only >/dev/null; done
ip link set "$P" up
ip link set "$Q" up
check "the cards have a carrier" eval 'eventually carrier "$P" && eventually carrier "$Q"'
printf '{"rails":[{"rail":0,"interface":"%s"},{"rail":1,"interface":"%s"}]}' "$P" "$Q" >/etc/railhead/rails.json

rails_of() { ip -n "$1" -j link | jq -rc '[.[] | select(.ifname != "lo") | .ifname] | sort | join(" ")'; }
address() { jq -r ".ips[$1].address | split(\"/\")[0]" $W/result; } # RAIL: of the pod whose result that is
gc() { call GC "" "$(jq -c '. + {"cni.dev/valid-attachments": []}' <<<"$1")" ""; }
handed_back() { ip -j link show | jq '[.[] | select((.ifalias // "") | startswith("railhead:"))] | length'; }
came_back() { is "$(handed_back)" "$1"; }
STEP=7
[ -z "${QUICK-}" ] || STEP=15
[ -z "${FULL-}" ] || STEP=1

echo "# children, $(cut -d. -f1 /proc/uptime) s"
host() { ip -j -d link show | jq -c 'sort_by(.ifname)[] | {ifname, mtu, ifalias, kind: .linkinfo.info_kind}'; }
CONF=$(conf '"kind":"ipoib","pkey":"0x8001","rdma":"shared","routing":"rail"')
key() { ip -n "$1" -j -d link show "$2" | jq -r '.[0].linkinfo.info_data.key'; }
pods a b
remember
check "STATUS" call STATUS "" "$CONF" ""
check "ADD" add a "$CONF"
cp $W/out $W/result
check "a child of each card" is "$(rails_of a)" 'net1 net1r1'
check "in the partition" is "$(key a net1) $(key a net1r1)" '0x8001 0x8001'
check "the result names the RDMA device of each" is "$(answer '[.rdma[].device] | join(" ")')" "$(rdma_dev "$PF") $(rdma_dev "$OTHER")"
check "CHECK" checked a "$CONF" $W/result
check "ADD of another pod" add b "$CONF"
for i in 0 1; do check "they talk by rail $i" eventually pings b "$(address $i)"; done
check "one record for each pod" is "$(find /run/railhead/attachments -type f | wc -l)" 2
check "DEL" del b "$CONF"
check "DEL" del a "$CONF"
check "as before" clean
check "DEL again" del a "$CONF"
for heal in 'del a "$CONF" ""' 'gc "$CONF"' '"$RAILCTL" attachments repair'; do
	check "ADD, and the pod goes" add a "$CONF"
	no_pods a
	check "the kernel hands both back" eventually came_back 2
	check "${heal%% *}" eval "$heal"
	check "as before" clean
	pods a
done
for heal in 'del a "$CONF" ""' 'gc "$CONF"'; do
	check "ADD, the record is lost, and the pod goes" add a "$CONF"
	rm -r /run/railhead/attachments/rails
	no_pods a
	check "the kernel hands both back" eventually came_back 2
	check "${heal%% *} without the record" eval "$heal"
	check "removes both" came_back 0
	"$RAILCTL" ipam lease release --all >/dev/null 2>&1
	pods a
done
check "ADD, and the record is lost" add a "$CONF"
rm -r /run/railhead/attachments/rails
check "DEL" del a "$CONF"
check "as before" clean
attached() { add a "$CONF"; }
each_kill sendto ADD "$CONF" true $STEP 150
each_kill sendto DEL "$CONF" attached $STEP 150
check "as before" clean

echo "# VFs, $(cut -d. -f1 /proc/uptime) s"
# The kernel takes the mode only while there is no other namespace.
no_pods a b
check "mode exclusive" eventually rdma system set netns exclusive
pods a b
for pf in $IB_PFS; do check "$pf makes two VFs" ib_vfs "$pf" 2; done
V=$(ib_vf "$PF" 0) U=$(ib_vf "$OTHER" 0)
names=1
host()
{
	local pf n v
	for pf in $IB_PFS; do
		for n in 0 1; do
			v=$(ib_vf "$pf" $n)
			echo "$v ${names+$(netdev "$v")} $(node_guid "$v") $(port_guid "$v") $(basename "$(readlink "$BUS/$v/driver")") $(rdma_dev "$v")"
		done
	done
}
inside() { ip netns exec "$1" rdma -j dev | jq -r '[.[].ifname] | sort | join(" ")'; }
in_pod() { ip -n "$1" -j link show "$2" | jq -r '.[0].address[36:]'; }
CONF=$(conf '"kind":"ib-sriov","guidFrom":"pod","rdma":"exclusive","routing":"rail"')
remember
DEVS=$(printf '%s\n' "$(rdma_dev "$V")" "$(rdma_dev "$U")" | sort | xargs)
check "STATUS" call STATUS "" "$CONF" ""
check "ADD" add a "$CONF"
cp $W/out $W/result
check "a VF of each card" is "$(answer '[.interfaces[].pciID] | join(" ")')" "$V $U"
check "their RDMA devices are in the pod" is "$(inside a)" "$DEVS"
check "each has a GUID of the pod" eval '[[ $(in_pod a net1) == 02:* && $(in_pod a net1r1) == 02:* && $(in_pod a net1) != $(in_pod a net1r1) ]]'
check "CHECK" checked a "$CONF" $W/result
check "the other VFs of both" add b "$(conf '"kind":"ib-sriov"')"
for i in 0 1; do check "they talk by rail $i" eventually pings b "$(address $i)"; done
pods c
check "a third pod finds no VF" refused 101 'rail 0: resource: no free VF' add c "$CONF"
no_pods c
check "DEL" del b "$(conf '"kind":"ib-sriov"')"
check "DEL" del a "$CONF"
check "as before" clean
fault "probe $U error 5 times 1"
check "the second card's driver fails: ADD fails" isnt add a "$CONF"
fault clear
check "DEL" del a "$CONF"
check "as before" clean
for heal in 'del a "$CONF" ""' 'gc "$CONF"' '"$RAILCTL" attachments repair'; do
	check "ADD, and the pod goes" add a "$CONF"
	no_pods a
	check "${heal%% *}" eval "$heal"
	check "as before" clean
	pods a
done
check "ADD, and the record is lost" add a "$CONF"
rm -r /run/railhead/attachments/rails
check "DEL" del a "$CONF"
check "as before" clean
# An interface that the kernel has just made may have the name of the other VF. That one then has a spare name until its next attachment.
cp $W/before $W/named
unset names
remember
each_kill sendto ADD "$CONF" true $STEP 200
each_kill sendto DEL "$CONF" attached $STEP 200
names=1
cp $W/named $W/before
check "ADD" add a "$CONF"
check "DEL" del a "$CONF"
check "as before, with the names" clean

echo "# $(cut -d. -f1 /proc/uptime) s"
no_pods a b
check "mode shared" eventually rdma system set netns shared
for pf in $IB_PFS; do check "$pf without VFs" ib_vfs "$pf" 0; done
rm /etc/railhead/rails.json
check "without cards" fabric_off
finish

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# seconds: 200
# needs: fabric
# ib-sriov: the plugin on VFs of InfiniBand: GUIDs, partitions, isolation, 16 pods at once, kills, namespaces that are gone, and
# requests that fail. RDMA devices are exclusive. FULL=1 kills at each request.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/guest/fabric.sh
. conformance/vm/guest/fabric.sh
# shellcheck source=conformance/vm/suites/sriov/lib.sh
. conformance/vm/suites/sriov/lib.sh
PLUGIN=ib-sriov
GUID=02:00:00:00:00:00:00:0b

check "two cards" fabric
check "mode exclusive" eventually rdma system set netns exclusive
read -r PF OTHER <<<"$IB_PFS"
check "16 VFs" ib_vfs "$PF" 16
P=$(netdev "$PF")
ip link set "$P" up
V=$(ib_vf "$PF" 0)

# A line for each VF: interface, GUIDs, state, driver and RDMA device. The PF knows no GUID or that of the VF. Each check asks, and a
# process takes long here: two are started.
mapfile -t VFS < <(for n in {0..15}; do ib_vf "$PF" "$n"; done)
ib_host()
{
	shopt -s nullglob
	ip -j link show "$P" | jq -r '.[0].vfinfo_list[] | "\(."port guid") \(.link_state)"' | for v in "${VFS[@]}"; do
		read -r told state
		told=${told//:/} node='' port='' driver=''
		net=("$BUS/$v"/net/*) dev=("$BUS/$v"/infiniband/*) verbs=("$BUS/$v"/infiniband_verbs/*)
		[ ${#dev[@]} = 0 ] || { read -r node <"${dev[0]}/node_guid" && read -r port <"${dev[0]}/ports/1/gids/0"; }
		port=${port//:/} && port=${port:16}
		[ "$told" != "$port" ] || told=0000000000000000
		[ ! "$BUS/$v/driver" -ef /sys/bus/pci/drivers/fabric ] || driver=fabric
		echo "$v ${net[*]##*/} $node $port $told $state $driver ${dev[*]##*/} ${verbs[*]##*/}"
	done
	shopt -u nullglob
}
host() { ib_host; }
with() { on "$V" "\"runtimeConfig\":{\"infinibandGUID\":\"$GUID\"}${1:+,$1}"; } # [KEYS]: a configuration with a GUID
rebinds() { count "$V" probe; }
inside() { ip netns exec "$1" rdma -j dev | jq -r '[.[].ifname] | join(" ")'; }
in_pod() { ip -n "$1" -j link show net1 | jq -r '.[0].address[36:]'; } # POD: the GUID of its interface
pods a b
remember

# ---- GUIDs ----
OLD=$(port_guid "$V") N=$(rebinds)
check "ADD with the VF's own GUID" add a "$(on "$V")"
cp $W/out $W/result
check "binds no driver again" is "$(rebinds)" "$N"
check "the pod has it" is "$(in_pod a)" "$OLD"
check "CHECK" checked a "$(on "$V")" $W/result
check "DEL" del a "$(on "$V")"
check "as before" clean
CONF=$(on "$V" "\"args\":{\"cni\":{\"guid\":\"$OLD\",\"n\":[1,{}],\"x\":7}}")
check "ADD with the GUID that the VF has" add a "$CONF"
check "binds no driver again" is "$(rebinds)" "$N"
check "DEL" del a "$CONF"
check "as before" clean

CONF=$(with '"link_state":"disable","mtu":1400,"pkey":"0x8001"')
check "ADD with a GUID" add a "$CONF"
cp $W/out $W/result
check "warns of a partition that the port lacks" grep -q '0x8001 is not in the table' $W/out.log
check "binds the driver once" is "$(rebinds)" $((N + 1))
check "the pod has it" is "$(in_pod a)" $GUID
check "the PF knows both" is "$(vf "$P" 0 '."node guid" + " " + ."port guid" + " " + .link_state')" "$GUID $GUID disable"
check "MTU" is "$(ip -n a -j link show net1 | jq .[0].mtu)" 1400
check "the RDMA device stays on the host" is "$(inside a)" ""
check "the result has the address" is "$(answer '.interfaces[0].mac[36:]')" $GUID
check "CHECK" checked a "$CONF" $W/result
check "another pod cannot have it" refused 103 "belongs to container a" add b "$CONF"
ip link set "$P" vf 0 state auto
check "CHECK: another link state" refused 104 link_state checked a "$CONF" $W/result
check "DEL" del a "$CONF"
check "as before" clean
check "DEL again" del a "$CONF"
knob "$V" pkeys "0xffff 0x8001"
check "ADD with a partition of the port" add a "$CONF"
check "no warning" isnt grep -q 'not in the table' $W/out.log
check "DEL" del a "$CONF"
knob "$V" pkeys 0xffff

# ---- settings of the interface ----
TUNED='"txQueueLen":2345,"gso":{"maxSize":30000},"gro":{"maxSize":40000},
	"sysctl":{"net.ipv4.conf.IFNAME.arp_filter":"1","net.ipv4.neigh.IFNAME.gc_stale_time":"77"}'
# settings INTERFACE [POD]: queue, sizes and variables of an interface
settings()
{
	local in=()
	[ -z "${2-}" ] || in=(ip netns exec "$2")
	"${in[@]}" ip -j -d link show "$1" | jq -r '.[0] | "\(.txqlen) \(.gso_max_size) \(.gro_max_size)"'
	"${in[@]}" cat "/proc/sys/net/ipv4/conf/$1/arp_filter" "/proc/sys/net/ipv4/neigh/$1/gc_stale_time"
}
WAS=$(settings "$(netdev "$V")")
CONF=$(with "$TUNED")
check "ADD with settings" add a "$CONF"
cp $W/out $W/result
check "they are in the pod" is "$(settings net1 a | xargs)" '2345 30000 40000 1 77'
check "CHECK" checked a "$CONF" $W/result
ip -n a link set net1 txqueuelen 99
check "CHECK: another length of the queue" refused 104 txQueueLen checked a "$CONF" $W/result
check "DEL" del a "$CONF"
check "the VF has its own again" is "$(settings "$(netdev "$V")")" "$WAS"
check "as before" clean

CARGS='IgnoreUnknown=1;K8S_POD_NAMESPACE=train;K8S_POD_NAME=worker-0'
CONF=$(on "$V" '"guidFrom":"pod"')
check "ADD with a GUID of the pod's name" add a "$CONF"
MADE=$(in_pod a)
check "DEL" del a "$CONF"
check "the same for another container" add b "$CONF"
check "the same GUID" is "$(in_pod b)" "$MADE"
check "DEL" del b "$CONF"
check "as before" clean
CARGS=

KUBE='"ibKubernetesEnabled":true,"args":{"cni":{"guid":"'$GUID'"'
check "ib-kubernetes has not configured it" refused 11 "mellanox.infiniband.app" add a "$(on "$V" "$KUBE}}")"
CONF=$(on "$V" "$KUBE,\"mellanox.infiniband.app\":\"configured\",\"pkey\":\"0x8001\"}}")
check "ib-kubernetes has configured it: ADD" add a "$CONF"
check "the pod has its GUID" is "$(in_pod a)" $GUID
check "DEL" del a "$CONF"
check "as before" clean
check "a zero GUID" refused 7 "that a port can have" add a "$(on "$V" '"runtimeConfig":{"infinibandGUID":"00:00:00:00:00:00:00:00"}')"

# ---- GUIDs of a pool ----
GIVEN_IPAM=$IPAM SECOND=$(ib_vf "$PF" 1)
leases() { "$RAILCTL" ipam lease list --json | jq -c 'map([.guid // .address, .container]) | sort'; }
check "a pool of two GUIDs" "$RAILCTL" ipam pool add guids --guids 02:00:00:00:00:00:02:00-02:00:00:00:00:00:02:01
IPAM='{"type":"railhead-ipam","guidPool":"guids"}'
CONF=$(on "$V")
check "STATUS" call STATUS "" "$CONF" ""
check "a pool of GUIDs alone: ADD" add a "$CONF"
cp $W/out $W/result
check "the pod has the first one" is "$(in_pod a)" 02:00:00:00:00:00:02:00
check "and no address" is "$(answer '.ips // [] | length')" 0
check "the PF knows it" is "$(vf "$P" 0 '."node guid" + " " + ."port guid"')" "02:00:00:00:00:00:02:00 02:00:00:00:00:00:02:00"
check "CHECK" checked a "$CONF" $W/result
check "verify knows the lease" "$RAILCTL" ipam verify
check "the lease is the pod's" is "$(leases)" '[["02:00:00:00:00:00:02:00","a"]]'
check "a GUID that another pod has" refused 103 02:00:00:00:00:00:02:00 add b "$(on "$SECOND" '"args":{"cni":{"guid":"02:00:00:00:00:00:02:00"}}')"
check "a GUID that is not in the pool" refused 7 guids add b "$(on "$SECOND" '"args":{"cni":{"guid":"02:00:00:00:00:00:03:00"}}')"
check "a GUID that is free" add b "$(on "$SECOND" '"args":{"cni":{"guid":"02:00:00:00:00:00:02:01"}}')"
check "the second pod has it" is "$(in_pod b)" 02:00:00:00:00:00:02:01
pods c
check "the pool is empty" refused 101 guids add c "$(on "$(ib_vf "$PF" 2)")"
no_pods c
check "DEL" del b "$(on "$SECOND")"
check "the lease is released" "$RAILCTL" ipam lease release 02:00:00:00:00:00:02:00
check "verify misses it" eval '! "$RAILCTL" ipam verify >$W/said && grep -q "its GUID may be given" $W/said'
check "CHECK misses it" refused 104 guidPool checked a "$CONF" $W/result
check "DEL" del a "$CONF"
check "as before" clean
check "no such pool: STATUS" refused 7 nosuch call STATUS "" "$(IPAM='{"type":"railhead-ipam","guidPool":"nosuch"}' on "$V")" ""
check "no such pool: ADD" refused 7 nosuch add a "$(IPAM='{"type":"railhead-ipam","guidPool":"nosuch"}' on "$V")"
check "as before" clean
IPAM=$(jq -c '. + {guidPool: "guids"}' <<<"$GIVEN_IPAM")
CONF=$(on "$V")
check "beside addresses: ADD" add a "$CONF"
cp $W/out $W/result
check "an address and a GUID" is "$(leases | jq length)" 2
check "the result has the address" is "$(answer '.ips | length')" 1
check "CHECK" checked a "$CONF" $W/result
no_pods a
check "the pod goes: GC" call GC "" "$(jq -c '. + {"cni.dev/valid-attachments": []}' <<<"$CONF")" ""
check "as before" clean
pods a
IPAM=$GIVEN_IPAM

# ---- failures ----
CONF=$(with)
for op in set_node_guid set_port_guid probe; do
	fault "$op $V error 5 times 1"
	check "$op fails: ADD fails" isnt add a "$CONF"
	fault clear
	check "$op fails: DEL" del a "$CONF"
	check "$op fails: as before" clean
done
fault "probe $V error 5"
check "the driver does not come back: ADD fails" isnt add a "$CONF"
fault clear
check "the next ADD restores it first" add b "$(on "$V")"
check "with its own GUID" is "$(in_pod b)" "$OLD"
check "DEL" del b "$(on "$V")"
check "as before" clean

# ---- isolation ----
CONF=$(with '"rdmaIsolation":true')
check "STATUS" call STATUS "" "$CONF" ""
DEV=$(rdma_dev "$V") NUMBER=$(uverbs "$V")
check "isolation: ADD" add a "$CONF"
cp $W/out $W/result
check "the pod has the RDMA device" is "$(inside a)" "$DEV"
check "the host does not" is "$(rdma_dev "$V")" ""
check "with its number" is "$(uverbs "$V")" "$NUMBER"
check "the interface has the GUID" is "$(in_pod a)" $GUID
check "CHECK" checked a "$CONF" $W/result
check "DEL" del a "$CONF"
check "as before" clean
check "isolation with the VF's own GUID: ADD" add a "$(on "$V" '"rdmaIsolation":true')"
check "the pod has the RDMA device" is "$(inside a)" "$DEV"
no_pods a
check "the pod goes: DEL" del a "$(on "$V" '"rdmaIsolation":true')"
check "as before" clean
pods a
check "isolation: ADD, and the pod goes" add a "$CONF"
no_pods a
check "GC" call GC "" "$(jq -c '. + {"cni.dev/valid-attachments": []}' <<<"$CONF")" ""
check "as before" clean
pods a
check "without isolation: ADD, and the pod goes" add a "$(with)"
no_pods a
check "repair" "$RAILCTL" attachments repair
check "as before" clean
pods a

# ---- killed ----
IPAM=$(jq -c '. + {guidPool: "guids"}' <<<"$GIVEN_IPAM")
CONF=$(on "$V")
KILL_STEP=9
[ -z "${FULL-}" ] || KILL_STEP=1
attached() { add a "$CONF"; }
each_kill sendto,write ADD "$CONF" true $KILL_STEP 200
each_kill sendto,write DEL "$CONF" attached $KILL_STEP 200
IPAM=$GIVEN_IPAM

# ---- 16 at once ----
no_pods a b
mapfile -t PODS < <(printf 'p%s\n' {0..15})
pods "${PODS[@]}"
for iso in false true; do
	each() # VERB
	{
		local n pids=()
		for n in {0..15}; do
			ANSWER=$W/out.$n call "$1" "p$n" "$(on "$(ib_vf "$PF" "$n")" \
				"\"renumbered\":\"report\",\"rdmaIsolation\":$iso,\"runtimeConfig\":{\"infinibandGUID\":\"02:00:00:00:00:00:01:$(printf %02x "$n")\"}")" &
			pids+=($!)
		done
		for n in {0..15}; do wait "${pids[n]}" || { cat "$W/out.$n" && return 1; }; done
	}
	guids() { for n in {0..15}; do in_pod "p$n"; done; }
	check "16 pods at once (isolation $iso): ADD" each ADD
	check "each has its GUID" is "$(guids | sort -u | wc -l)" 16
	check "16 pods at once (isolation $iso): DEL" each DEL
	check "as before" nothing_left
	check "GUIDs and names as before" is "$(ib_host | cut -d' ' -f1-7)" "$(cut -d' ' -f1-7 $W/before)"
done
no_pods "${PODS[@]}"
check "mode shared" eventually rdma system set netns shared
check "without VFs" ib_vfs "$PF" 0
check "without cards" fabric_off
finish

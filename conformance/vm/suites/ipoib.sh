# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 150
# needs: fabric
# ipoib: the plugin ipoib on the kernel's own IPoIB: partitions, modes, children that the kernel hands back, kills.
# CASES: some of the parts below.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/guest/fabric.sh
. conformance/vm/guest/fabric.sh
W=/run/work
mkdir -p $W
IPAM='{"type":"railhead-ipam","subnet":"10.89.0.0/24"}'

# conf [KEYS]: a configuration of network ib on the first card's interface.
conf() { printf '{"cniVersion":"1.1.0","name":"ib","type":"ipoib","master":"%s","ipam":%s%s}' "${ON:-$P}" "$IPAM" "${1:+,$1}"; }
# call VERB CONTAINER CONF [NETNS]: the answer is in $W/out. TRACE: what runs the plugin.
call()
{
	CNI_COMMAND=$1 CNI_CONTAINERID=$2 CNI_NETNS=${4-/run/netns/$2} CNI_IFNAME=net1 CNI_PATH=$BIN CNI_ARGS='' \
		${TRACE-} "$BIN/${PLUGIN:-ipoib}" <<<"$3" >"${ANSWER:-$W/out}" 2>"${ANSWER:-$W/out}.log" ||
		{ cat "${ANSWER:-$W/out}" "${ANSWER:-$W/out}.log" && false; }
}
add() { call ADD "$@"; }
del() { call DEL "$@"; }
gc() { call GC '' "$(jq -c '. + {"cni.dev/valid-attachments": []}' <<<"$1")" ''; }
repair() { "$BIN/railctl" attachments repair; }
checked() { call CHECK "$1" "$(jq -c --slurpfile r "$3" '. + {prevResult: $r[0]}' <<<"$2")"; } # CONTAINER CONF RESULT
refused() { refused_in $W/out "$@"; } # CODE WORD COMMAND...
# child POD FILTER: the filter holds for the pod's interface.
child() { ip -n "$1" -j -d link show net1 | jq -e ".[0] | $2" >/dev/null || { ip -n "$1" -d link show net1 && false; }; }
pings() { ip netns exec "$1" "$HELPERS/attach/ping" "$2"; }
address() { jq -r '.ips[0].address | split("/")[0]' "$1"; }
links() { ip -j -d link show | jq -c 'sort_by(.ifname)[] | {ifname, mtu, ifalias, kind: .linkinfo.info_kind}'; }
remember() { links >$W/before; }
as_before() { links >$W/now && cmp -s $W/before $W/now || { diff $W/before $W/now && false; }; }
clean()
{
	as_before && is "$(echo /run/railhead/attachments/*/*)" "/run/railhead/attachments/*/*" &&
		is "$("$BIN/railctl" ipam lease list --json)" "[]"
}
# handed_back: how many interfaces of the host have one of our aliases.
handed_back() { ip -j link show | jq '[.[] | select((.ifalias // "") | startswith("railhead:"))] | length'; }
came_back() { is "$(handed_back)" "$1"; }
pods() { printf 'netns add %s\n' "$@" | ip -batch -; }
no_pods() { printf 'netns del %s\n' "$@" | ip -batch -; }

fabric
read -r PF OTHER <<<"$IB_PFS"
P=$(netdev "$PF") Q=$(netdev "$OTHER")
for pf in $IB_PFS; do knob "$pf" pkeys "0xffff 0x8001 0x8002"; done
ip link set "$P" up
ip link set "$Q" up
check "the parent has a carrier" eventually carrier "$P"
remember

attributes()
{
	pods a b c d
	check "ADD" add a "$(conf)"
	cp $W/out $W/a
	check "a child of the parent, with its alias" child a '.linkinfo.info_kind == "ipoib" and .ifalias == "railhead:ib/a/net1"'
	check "its data" child a '.linkinfo.info_data | .key == "0xffff" and .mode == "datagram" and .umcast == "0000"'
	check "nothing is on the host" as_before
	check "its address has 20 bytes" eval 'jq -r ".interfaces[0].mac" $W/a | grep -qE "^([0-9a-f]{2}:){19}[0-9a-f]{2}$"'
	check "ADD of another pod" add b "$(conf)"
	cp $W/out $W/b
	for p in a b; do check "carrier of $p" eventually carrier net1 $p; done
	check "they reach each other" eventually pings a "$(address $W/b)"
	check "CHECK" checked a "$(conf)" $W/a
	check "a second ADD is refused" refused 103 "attached" add a "$(conf)"
	check "ADD in a partition" add c "$(conf '"pkey":"0x1","mtu":1500')"
	cp $W/out $W/c
	check "its key, as a full member" child c '.linkinfo.info_data.key == "0x8001" and .mtu == 1500'
	check "CHECK" checked c "$(conf '"pkey":"0x1","mtu":1500')" $W/c
	check "ADD on the other card" add d "$(ON=$Q conf '"pkey":32769')"
	cp $W/out $W/d
	for p in c d; do check "carrier of $p" eventually carrier net1 $p; done
	check "pods of one partition reach each other" eventually pings c "$(address $W/d)"
	check "others do not" isnt pings c "$(address $W/a)"
	check "CHECK with another key" refused 104 "pkey: ipoib net1 has 0x8001, 0x8002 is asked for" checked c "$(conf '"pkey":"0x2"')" $W/c
	check "CHECK with another parent" refused 104 "net1" checked d "$(conf '"pkey":32769')" $W/d
	check "CHECK with another mtu" refused 104 "mtu" checked c "$(conf '"pkey":1,"mtu":1400')" $W/c
	ip -n c addr flush dev net1
	check "CHECK without its address" refused 104 "lacks the address" checked c "$(conf '"pkey":1')" $W/c
	for p in a b c; do check "DEL" del $p "$(conf)"; done
	check "DEL on the other card" del d "$(ON=$Q conf)"
	check "nothing is left" clean
	check "DEL again" del a "$(conf)"
	TUNED='"txQueueLen":2345,"gso":{"maxSize":30000},"gro":{"maxSize":40000},
		"sysctl":{"net.ipv4.conf.IFNAME.arp_filter":"1","net.ipv4.neigh.IFNAME.gc_stale_time":"77"}'
	check "ADD with settings" add a "$(conf "$TUNED")"
	cp $W/out $W/a
	check "they are in the pod" child a '.txqlen == 2345 and .gso_max_size == 30000 and .gro_max_size == 40000'
	check "its variables" is "$(ip netns exec a cat /proc/sys/net/ipv4/{conf/net1/arp_filter,neigh/net1/gc_stale_time} | xargs)" '1 77'
	check "CHECK" checked a "$(conf "$TUNED")" $W/a
	ip -n a link set net1 txqueuelen 99
	check "CHECK with another length of the queue" refused 104 txQueueLen checked a "$(conf "$TUNED")" $W/a
	check "DEL" del a "$(conf "$TUNED")"
	check "without addresses" add a "$(IPAM='{}' conf)"
	check "it is up" child a '.flags | index("UP")'
	check "DEL" del a "$(IPAM='{}' conf)"
	check "a key that the port has not" add a "$(conf '"pkey":"0x77"')"
	check "its child has no carrier" isnt carrier net1 a
	check "DEL" del a "$(conf)"
	if add a "$(conf '"mode":"connected","mtu":4000')" >/dev/null; then
		cp $W/out $W/a
		check "connected mode" child a '.linkinfo.info_data.mode == "connected" and .mtu == 4000'
		check "CHECK" checked a "$(conf '"mode":"connected"')" $W/a
		check "CHECK with another mode" refused 104 "mode" checked a "$(conf '"mode":"datagram"')" $W/a
		check "DEL" del a "$(conf)"
	else
		check "connected mode is refused, and explained" refused 100 datagram add a "$(conf '"mode":"connected"')"
	fi
	check "with umcast" add a "$(conf '"umcast":true')"
	check "umcast" child a '.linkinfo.info_data.umcast == "0001"'
	check "DEL" del a "$(conf)"
	check "nothing is left" clean
	no_pods a b c d
}

refusals()
{
	pods a b
	ip link add link "$P" name kid type ipoib pkey 0x8001
	ip link add br0 type bridge
	remember
	check "a child as master" refused 7 "name $P" add a "$(ON=kid conf)"
	check "a bridge as master" refused 7 "not an IPoIB interface" add a "$(ON=br0 conf)"
	check "no such master" refused 7 "there is no interface" add a "$(ON=ib99 conf)"
	check "no master" refused 7 "master: missing" add a "$(jq -c 'del(.master)' <<<"$(conf)")"
	check "a bad key" refused 7 "partition key" add a "$(conf '"pkey":"0x8000"')"
	check "an mtu that is too large" refused 7 "mtu" add a "$(conf '"mtu":9000')"
	check "dhcp" refused 7 "Ethernet" add a "$(IPAM='{"type":"dhcp"}' conf)"
	check "DEL after that" del a "$(IPAM='{"type":"dhcp"}' conf)"
	check "STATUS" call STATUS '' "$(conf)" ''
	check "STATUS of a wrong master" refused 50 "not an IPoIB interface" call STATUS '' "$(ON=br0 conf)" ''
	ip -n a link add net1 type bridge
	check "the pod has the name" refused 103 "net1" add a "$(conf)"
	ip -n a link del net1
	IPAM='{"type":"railhead-ipam","subnet":"10.89.1.0/30"}'
	check "the last address" add b "$(conf)"
	check "the IPAM fails" refused 101 "10.89.1" add a "$(conf)"
	check "DEL" del b "$(conf)"
	IPAM='{"type":"railhead-ipam","subnet":"10.89.0.0/24"}'
	check "nothing is left" clean
	ip link del kid
	ip link del br0
	remember
	no_pods a b
}

handed()
{
	local heal i=0
	for heal in 'del a "$(conf)" ""' 'gc "$(conf)"' repair; do
		pods a b
		check "ADD" add a "$(conf)"
		check "ADD of another" add b "$(conf)"
		ip netns del a
		# In half of the cases the interface is back before the plugin looks.
		[ $((i++)) = 1 ] || check "the kernel hands it back" eventually came_back 1
		check "${heal%% *}" eval "$heal"
		if [ "${heal%% *}" = gc ]; then
			check "GC without b in its list removes b, too" isnt child b true
		else
			check "the other one lives" child b '.ifalias == "railhead:ib/b/net1"'
			check "DEL" del b "$(conf)"
		fi
		check "nothing is left" clean
		ip netns del b
	done
	# The record is gone before the interface is back.
	for heal in 'gc "$(conf)"' repair; do
		pods a
		check "ADD" add a "$(conf)"
		rm -rf /run/railhead/attachments/ib
		ip netns del a
		check "it is back" eventually came_back 1
		ip link add link "$P" name mine type ipoib pkey 0x8001
		ip link set mine alias "not of railhead"
		check "${heal%% *} without a record" eval "$heal"
		check "has removed it" came_back 0
		check "not what has another alias" ip link del mine
		"$BIN/railctl" ipam lease release --all >/dev/null 2>&1 || rm -rf /var/lib/railhead
		check "nothing is left" as_before
	done
}

# The plugin rdma behind ipoib, in mode shared: the device is the parent's.
chained()
{
	local rdma
	pods a
	check "ADD" add a "$(conf)"
	rdma=$(jq -c --slurpfile r $W/out '. + {prevResult: $r[0]}' <<<'{"cniVersion":"1.1.0","name":"ib","type":"rdma"}')
	PLUGIN=rdma check "ADD of rdma" call ADD a "$rdma"
	check "it reports the device of the port" is "$(jq -r '.rdma | "\(.mode) \(.device) \(.port) \(.pciID)"' $W/out)" "shared $(rdma_dev "$PF") 1 $PF"
	cp $W/out $W/rdma
	PLUGIN=rdma check "CHECK of rdma" checked a "$rdma" $W/rdma
	PLUGIN=rdma check "DEL of rdma" call DEL a "$rdma"
	check "DEL" del a "$(conf)"
	check "nothing is left" clean
	no_pods a
}

# ended WHAT: the processes of $pids, which a subshell cannot wait for.
ended()
{
	local i rc
	for i in "${!pids[@]}"; do
		wait "${pids[i]}"
		rc=$?
		check "$1 $((i + 1))" eval "cat $W/p$((i + 1)).log && exit $rc"
	done
}
crowd()
{
	local i pids=() all=()
	for i in {1..16}; do all+=("p$i"); done
	pods "${all[@]}"
	for i in {1..16}; do
		ANSWER=$W/p$i call ADD p$i "$(conf "\"pkey\":$((i % 2 + 1))")" &
		pids+=($!)
	done
	ended "ADD of 16 pods at once: pod"
	for i in {1..16}; do check "its child" child p$i ".ifalias == \"railhead:ib/p$i/net1\" and .linkinfo.info_data.key == \"0x800$((i % 2 + 1))\""; done
	check "all addresses differ" is "$(cat $W/p{?,??} | jq -r '.ips[0].address' | sort -u | wc -l)" 16
	for i in {9..16}; do ip netns del p$i; done
	pids=()
	for i in {1..16}; do
		ANSWER=$W/p$i call DEL p$i "$(conf)" &
		pids+=($!)
	done
	ended "DEL of 16 pods at once, half of which have gone: pod"
	check "nothing is left" clean
	no_pods p{1..8}
}

heal() # N
{
	case $(($1 % 4)) in
	0) del a "$SOME" ;;
	1) gc "$SOME" ;;
	2) ip netns del a && repair && pods a ;;
	# If the interface is there, another ADD is refused.
	3) add a "$SOME" >/dev/null || refused 103 "run DEL before another ADD" add a "$SOME" && del a "$SOME" ;;
	esac
}
kills()
{
	local i verb
	SOME=$(conf '"pkey":"0x2","mtu":1500')
	pods a
	for verb in ADD DEL; do
		for ((i = 1; i < 60; i++)); do
			[ $verb = ADD ] || add a "$SOME"
			killed sendto $verb "$SOME" $i || break
			# A DEL that was killed is not followed by an ADD.
			[ $verb = ADD ] || [ $((i % 4)) != 3 ] || del a "$SOME"
			check "$verb killed at request $i: cleaned up" heal $i
			check "$verb killed at request $i: as before" clean
		done
		check "$verb was killed often enough" test $i -gt 5
		del a "$SOME"
	done
	check "nothing is left" clean
	no_pods a
}

for part in ${CASES:-attributes refusals handed chained crowd kills}; do
	echo "# $part, $(cut -d. -f1 /proc/uptime) s"
	$part
done
check "without cards" fabric_off
finish

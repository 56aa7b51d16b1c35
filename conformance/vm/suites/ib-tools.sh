# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 90
# needs: fabric
# ib-tools: railctl rdma list, check and env on InfiniBand ports of the kernel's RDMA: LIDs, subnet manager, GUIDs,
# partitions; IPoIB parents and children; a device in a pod. railctl vf with GUIDs. No program opens a device: libibverbs
# does not know the module.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/guest/fabric.sh
. conformance/vm/guest/fabric.sh
W=/run/work
mkdir -p $W /etc/railhead
cp "$BIN/railctl" $W/
export PATH=$W:$PATH

r() { railctl rdma "$@" >$W/out 2>$W/err; }                            # on the host
in_pod() { ip netns exec "$1" railctl rdma "${@:2}" >$W/out 2>$W/err; } # POD COMMAND...
said() { cat $W/out $W/err && false; }
ok() { "$@" || { echo "status $?" && said; }; }
want() { jq -e "$1" $W/out >/dev/null || said; }
has() { grep -qF -- "$1" $W/out $W/err || said; }
value() { jq -r --arg n "$1" '.env[] | select(.name == $n) | .value' $W/out; }
# finding CHECK SUBJECT RESULT [WORDS]: in what the last check printed; none CHECK SUBJECT: it has no such finding.
finding()
{
	jq -e --arg c "$1" --arg s "$2" --arg r "$3" --arg w "${4-}" 'any(.findings[]; .check == $c and .subject == $s and
		.state == $r and ([.value, .consequence // "", .remedy // ""] | join(" ") | contains($w)))' $W/out >/dev/null || said
}
none() { jq -e --arg c "$1" --arg s "$2" 'any(.findings[]; .check == $c and .subject == $s) | not' $W/out >/dev/null || said; }
# finds CHECK SUBJECT RESULT [WORDS]: check again, on the host. The kernel learns of a knob by an event.
look() { r check --interval 0 --json "${@}" || [ $? = 1 ]; }
finds() { look && finding "$@"; }

check "mode shared to begin with" rdma system set netns shared
check "two cards" fabric
read -r PF OTHER <<<"$IB_PFS"
D=$(rdma_dev "$PF") E=$(rdma_dev "$OTHER") P=$(netdev "$PF") Q=$(netdev "$OTHER")
check "ports are ACTIVE" eventually grep -q ACTIVE "/sys/class/infiniband/$D/ports/1/state"

# ---- list ----
check "list" ok r list --json
check "list: a port" want '.[] | select(.name == "'"$D"'") | .protocol == "ib" and .pciAddress == "'"$PF"'" and (.ports[0] |
	.state == "ACTIVE" and .physicalState == "LinkUp" and .linkLayer == "InfiniBand" and .lid > 0 and .smLid > 0 and .lmc == 0 and
	.subnetPrefix == "fe:80:00:00:00:00:00:00" and .portGuid == "'"$(port_guid "$PF")"'" and .pkeys[0] == {index: 0, pkey: "0xffff"})'
check "list: its node GUID" want '.[] | select(.name == "'"$D"'") | .nodeGuid == "'"$(node_guid "$PF")"'"'
check "list --ib" ok r list --ib
check "list --ib: a line for each port" is "$(awk 'NR > 1 { print $1, $3, $4, $10 }' $W/out | sort)" \
	"$(printf '%s ACTIVE LinkUp %s\n' "$D" "$(port_guid "$PF")" "$E" "$(port_guid "$OTHER")" | sort)"

# ---- check: a good port, and what breaks it ----
check "check" look
for c in port sm lid guid pkey; do check "check: $c is ok" finding $c "$D:1" ok; done
check "check: the partition is that of $P" finding pkey "$D:1" ok "interface $P asks for partition 0x7fff"
for c in gid neighbour mtu pfc trust congestion sequence; do check "check: no $c on InfiniBand" none $c "$D:1"; done
knob "$PF" sm_lid 0
check "no subnet manager" eventually finds sm "$D:1" fail "its LID is 0"
knob "$PF" sm_lid 1
check "a subnet manager" eventually finds sm "$D:1" ok "LID 1"
knob "$PF" lid 0
check "no LID" eventually finds lid "$D:1" fail "no LID"
knob "$PF" lid 7
check "LID 7" eventually finds lid "$D:1" ok "LID 7"
knob "$PF" state init
check "the link is up, and nobody configured it" eventually finds port "$D:1" fail "no subnet manager has configured the port"
knob "$PF" state down
check "no link" eventually finds port "$D:1" fail "the port is DOWN"
check "then nothing is said of the subnet manager" none sm "$D:1"
knob "$PF" state active
check "ACTIVE again" eventually finds port "$D:1" ok

# ---- partitions ----
knob "$PF" pkeys '0xffff 0x8001'
check "a partition that --pkey asks for" eventually eval 'look --pkey 0x8001 && finding pkey "$D:1" ok "0x8001 at index 1"'
check "one that the port is not in" eval 'look --pkey 0x8002 && finding pkey "$D:1" fail "--pkey asks for 0x8002"'
check "a child in that partition" ip link add link "$P" name ib-one type ipoib pkey 0x8001
check "with an address" ip addr add 10.9.1.1/24 dev ib-one
check "a child is a rail of the port" eval 'look && finding pkey "$D:1" ok "interface ib-one asks for partition 0x0001"'
check "env" ok r env --interface ib-one --json
check "env: the port" is "$(value NCCL_IB_HCA)" "=$D:1"
check "env: NCCL gets the index" is "$(value NCCL_IB_PKEY)" 1
check "env: UCX gets the partition" is "$(value UCX_IB_PKEY)" 0x1
check "env: no index of a GID" want '.env | any(.name == "NCCL_IB_GID_INDEX") | not'
knob "$PF" pkeys 0xffff
check "the table without it" eventually eval 'look && finding pkey "$D:1" fail "interface ib-one asks for 0x8001"'
check "without the child" ip link del ib-one
check "an address" ip addr add 10.9.0.1/24 dev "$P"
check "env of both cards" ok r env --interface "$P" --interface "$Q" --sl 2 --json
check "env: both ports" eval 'value NCCL_IB_HCA | grep -q "$D:1" && value NCCL_IB_HCA | grep -q "$E:1"'
check "env: the service level" is "$(value NCCL_IB_SL) $(value UCX_IB_SL)" "2 2"
check "env: the default partition needs no variable" is "$(value NCCL_IB_PKEY)" ""
EXAMPLE=$(railctl rdma env --help | sed -n 's/.*railctl rdma \(env --link-layer .*\)/\1/p')
check "its help has an example for InfiniBand" test -n "$EXAMPLE"
for pf in "$PF" "$OTHER"; do knob "$pf" pkeys '0xffff 0x8001'; done
# shellcheck disable=SC2086 # words
check "it works" eventually r $EXAMPLE --json
check "it says partition and service level" is "$(value NCCL_IB_PKEY) $(value NCCL_IB_SL)" "1 1"
for pf in "$PF" "$OTHER"; do knob "$pf" pkeys 0xffff; done

# ---- GUIDs ----
check "two VFs" ib_vfs "$PF" 2
V=$(ib_vf "$PF" 0) U=$(ib_vf "$PF" 1)
same() { knob "$V" port_guid "$(hex "$(port_guid "$U")")" && rebind "$V"; }
check "a VF with the GUID of another" same
check "check: used twice" eventually finds guid "$(rdma_dev "$V"):1" fail "that of $(rdma_dev "$U"):1 is the same"
zero() { knob "$V" port_guid 0x0000000000000000 && rebind "$V"; }
check "a VF without a GUID" zero
check "check: a GUID that is none" eventually finds guid "$(rdma_dev "$V"):1" fail "00:00:00:00:00:00:00:00, which is none"
check "without VFs" ib_vfs "$PF" 0

# ---- railctl vf ----
v() { railctl vf "$@" >$W/out 2>$W/err; }
guids() # of all VFs of $PF: node and port GUID
{
	local n=0
	while [ -e "$BUS/$PF/virtfn$n" ]; do
		echo "$(node_guid "$(ib_vf "$PF" $n)") $(port_guid "$(ib_vf "$PF" $n)")"
		n=$((n + 1))
	done
}
twice() { local g && for g; do echo "$g $g"; done; }
first=02:00:00:00:00:07:01:0
check "vf create with a first GUID" ok v create --pf "$P" --count 3 --first-guid ${first}0
check "each driver has read its GUIDs" is "$(guids)" "$(twice ${first}0 ${first}1 ${first}2)"
check "vf list" ok v list --pf "$P" --json
check "vf list: GUIDs and link state" want '.[0].portGuid == "'"$(port_guid "$PF")"'" and (.[2] | .portGuid == "'${first}1'" and
	.pfNodeGuid == "'${first}1'" and .pfPortGuid == "'${first}1'" and .linkState == "auto" and .use == "free" and (.mac | length == 59))'
check "vf list as a table" ok v list --pf "$P"
check "vf list as a table: the GUID" has " ${first}2 "
check "vf create without GUIDs" ok v create --pf "$P" --count 2
derived=$(guids)
own=$(port_guid "$PF")
check "they follow from the card's" grep -q ":00:01:${own#*:*:*:} .*:00:01:${own#*:*:*:}\$" <<<"$derived"
check "no VFs" ok v create --pf "$P" --count 0
check "two again" ok v create --pf "$P" --count 2
check "they are the same" is "$(guids)" "$derived"
mkdir -p $W/vf.d
echo '{"pf": "'"$PF"'", "count": 3, "guids": ["'${first}7'", "'${first}5'", "'${first}6'"]}' >$W/vf.d/ib.json
check "vf apply with a list" ok v apply --dir $W/vf.d
check "the GUIDs of the list" is "$(guids)" "$(twice ${first}7 ${first}5 ${first}6)"
check "GUIDs for an Ethernet card" isnt v create --pf "${PFS%% *}" --count 1 --first-guid ${first}0
check "are refused" has "is not of InfiniBand"
check "no VFs at the end" ok v create --pf "$P" --count 0

# ---- what an agent says about a rail without LLDP ----
echo '{"rails":[{"rail":0,"interface":"'"$P"'"}]}' >/etc/railhead/rails.json
echo '{"node":"host","fabric":{"every":1}}' >$W/agent.json
"$BIN/railheadd" --config $W/agent.json >$W/agent.log 2>&1 </dev/null &
agent=$!
neighbour() { railctl cluster status --json >$W/out 2>$W/err && want '.neighbours.list == [{rail: 0, interface: "'"$P"'", state: "infiniband", guid: "'"$(port_guid "$PF")"'"}]'; }
check "its agent names the GUID of the port" eventually neighbour
kill $agent
wait $agent

# ---- a pod, in mode exclusive ----
check "mode exclusive" eventually rdma system set netns exclusive
check "a VF" ib_vfs "$OTHER" 1
V=$(ib_vf "$OTHER" 0)
F=$(rdma_dev "$V")
check "a pod" ip netns add pod1
check "its RDMA device" rdma dev set "$F" netns pod1
check "the host has it no more" eval 'r list --json && want "map(.name) | index(\"$F\") | not"'
check "the pod has it" ok in_pod pod1 list --json
check "with its GUID" want 'length == 1 and .[0].vf and .[0].ports[0].linkLayer == "InfiniBand"'
check "check in the pod" eval 'in_pod pod1 check --interval 0 --json --pkey 0xffff; finding port "$F:1" ok && finding pkey "$F:1" ok'
check "check from the host" eval 'r check --interval 0 --json --netns /run/netns/pod1 --pkey 0xffff; finding pkey "$F:1" ok'
check "an interface for bootstrap" sh -c 'ip -n pod1 link add eth0 type dummy && ip -n pod1 addr add 10.244.0.5/24 dev eth0 &&
	ip -n pod1 link set eth0 up && ip -n pod1 route add default dev eth0'
check "env needs no interface" ok in_pod pod1 env --pkey 0xffff --json
check "env: the port" is "$(value NCCL_IB_HCA) $(value NCCL_IB_PKEY)" "=$F:1 0"
check "the pod ends" ip netns del pod1
check "the host has it again" eventually eval '[ -n "$(rdma_dev "$V")" ]'
check "without VFs again" eventually ib_vfs "$OTHER" 0
check "mode shared again" eventually rdma system set netns shared
check "without cards" fabric_off
finish

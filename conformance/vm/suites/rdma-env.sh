# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 60
# rdma-env: railctl rdma list, env and check, over rxe on two cards: pods that share their parents' devices, pods
# with a device of their own, and what the doctor says when something is taken away.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
W=/run/work
mkdir -p $W
# A copy on a memory file system starts faster.
cp "$BIN/railctl" "$BIN/rdma-probe" $W/
export PATH=$W:$PATH
read -r PF0 PF1 _ <<<"$PFS"
modprobe -a rdma_rxe ib_uverbs rdma_ucm macvlan ipvlan dummy
ip link set "$PF0" up && ip link set "$PF1" up

r() { railctl rdma "$@" >$W/out 2>$W/err; }                               # on the host
in_pod() { ip netns exec "$1" railctl rdma "${@:2}" >$W/out 2>$W/err; } # POD COMMAND...
said() { cat $W/out $W/err && false; }
ok() { "$@" || { echo "status $?" && said; }; }
fails() # COMMAND...: with status 1
{
	local rc
	"$@"
	rc=$?
	[ $rc = 1 ] || { echo "status $rc" && said; }
}
want() { jq -e "$1" $W/out >/dev/null || said; }
has() { grep -qF -- "$1" $W/out $W/err || said; }
hasnt() { ! grep -qF -- "$1" $W/out $W/err || said; }

# finds POD CHECK SUBJECT RESULT [WORDS]: of `railctl rdma check` in that pod; "" for the subject of the whole pod.
finds()
{
	in_pod "$1" check --interval 0 --json
	jq -e --arg c "$2" --arg s "$3" --arg r "$4" --arg w "${5-}" 'any(.findings[]; .check == $c and (.subject // "") == $s and
		.state == $r and ([.value, .consequence // "", .remedy // ""] | join(" ") | contains($w)))' $W/out >/dev/null || said
}

# pod NAME NUMBER CARD...: macvlans net1, net2 on the cards, with 10.1.0.NUMBER, 10.2.0.NUMBER.
pod()
{
	local name=$1 number=$2 i=1 card
	shift 2
	ip netns add "$name"
	for card; do
		ip link add link "$card" name "net$i" netns "$name" type macvlan mode bridge &&
			ip -n "$name" addr add "10.$i.0.$number/16" dev "net$i" && ip -n "$name" link set "net$i" up || return 1
		i=$((i + 1))
	done
}
# index DEVICE ADDRESS: where sysfs has the GID of an IPv4 address.
index()
{
	local gid i a b c d
	IFS=. read -r a b c d <<<"$2"
	printf -v gid '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' "$a" "$b" "$c" "$d"
	for ((i = 0; i < 64; i++)); do
		[ "$(cat "/sys/class/infiniband/$1/ports/1/gids/$i" 2>/dev/null)" != "$gid" ] || { echo "$i" && return; }
	done
	return 1
}
there() { index "$@" >/dev/null; }

# A node may have been told otherwise at boot.
check "mode shared to begin with" rdma system set netns shared

# ---- before there is a device -------------------------------------------------------------------

check "no device: list" ok r list
check "no device: says so" has "No RDMA devices"
check "no device: env fails" fails r env
check "no device: with the reason" has "no RDMA device is visible"

# ---- mode exclusive: a pod sees what was moved to it, and that is nothing -----------------------

check "mode exclusive" rdma system set netns exclusive
check "rxe on $PF0" rdma link add rxe0 type rxe netdev "$PF0"
check "rxe on $PF1" rdma link add rxe1 type rxe netdev "$PF1"
check "pod X" pod X 99 "$PF0"
check "exclusive: the host has both" ok r list --json
check "exclusive: and their mode is no matter" want 'map(.name) == ["rxe0", "rxe1"]'
check "exclusive: a pod has none" ok in_pod X list --json
check "exclusive: an empty list" want '. == []'
check "exclusive: the doctor says what to do" finds X devices "" fail 'chain the plugin "rdma"'
check "exclusive: the same from the host" fails r check --netns /run/netns/X
ip netns del X
check "mode shared again" eventually rdma system set netns shared

# ---- mode shared: pods on their parents' devices ------------------------------------------------

check "host's address" ip addr add 10.1.0.1/16 dev "$PF0"
check "pod A" pod A 11 "$PF0" "$PF1"
check "pod B" pod B 12 "$PF0" "$PF1"
for d in rxe0:10.1.0.11 rxe1:10.2.0.11 rxe0:10.1.0.12 rxe1:10.2.0.12; do
	check "GID of ${d#*:}" eventually there "${d%:*}" "${d#*:}"
done
check "list" ok r list --json
check "list: both devices" want 'map([.name, .ports[0].state, .ports[0].linkLayer, .ports[0].ifName, .ports[0].mtu, .ports[0].rdmaMtu]) ==
	[["rxe0", "ACTIVE", "Ethernet", "'"$PF0"'", 1500, 1024], ["rxe1", "ACTIVE", "Ethernet", "'"$PF1"'", 1500, 1024]]'
check "list: character devices" want 'map(.uverbs.name) | sort == ["uverbs0", "uverbs1"]'
check "list: the host's GID is here" want '.[0].ports[0].gids | any(.address == "10.1.0.1" and .here and .type == "RoCE v2")'
check "list: those of pods have their name" want '[.[0].ports[0].gids[] | select(.address | startswith("10.1.0.1")) |
	select(.here | not) | .netns] | sort == ["A", "B"]'
check "list in pod A" ok in_pod A list --json
check "list in pod A: what is here" want '[.[].ports[0].gids[] | select(.here) | .address | select(startswith("10."))] | sort ==
	["10.1.0.11", "10.2.0.11"]'
check "list from the host" ok r list --netns /run/netns/A --gids
check "list from the host: the same GIDs are here" [ "$(grep -c ' 10\..*here *$' $W/out)" = 2 ]
check "list from the host: the host's are the host's" [ "$(grep -c ' 10\.1\.0\.1 .*host *$' $W/out)" = 1 ]

# env of a pod: variables as the shell has them.
vars() # POD OPTION...
{
	ip netns exec "$1" sh -c "$(printf '%s' 'eval "$(railctl rdma env "$@")" && env | grep -E "^(NCCL|UCX)_" | LC_ALL=C sort')" \
		sh "${@:2}" >$W/out 2>$W/err
}
# The host's address has a place of rxe0 that is free on rxe1.
check "the indices differ, or the test is wrong" isnt is "$(index rxe1 10.2.0.11)" "$(index rxe0 10.1.0.11)"
check "env of pod A" fails in_pod A env --json
check "env of pod A: both rails" want '.env | map({(.name): .value}) | add | .NCCL_IB_HCA == "=rxe0:1,rxe1:1" and .NCCL_CROSS_NIC == "0" and
	.NCCL_SOCKET_IFNAME == "=net1" and .NCCL_IB_ADDR_FAMILY == "AF_INET" and (has("NCCL_IB_GID_INDEX") | not)'
check "env of pod A: NCCL would go astray" want '.warnings | any(contains("on rxe0:1 NCCL will take GID index"))'
for p in A B; do
	number=$([ $p = A ] && echo 11 || echo 12)
	for rail in 1 2; do
		i=$(index rxe$((rail - 1)) 10.$rail.0.$number)
		check "pod $p, rail $rail alone: env" vars $p --interface net$rail --tc 106
		check "pod $p, rail $rail alone: what a shell makes of it" is "$(cat $W/out)" "NCCL_IB_GID_INDEX=$i
NCCL_IB_HCA==rxe$((rail - 1)):1
NCCL_IB_TC=106
NCCL_SOCKET_IFNAME==net$rail
UCX_IB_GID_INDEX=$i
UCX_IB_TRAFFIC_CLASS=106
UCX_NET_DEVICES=rxe$((rail - 1)):1"
		cp $W/out $W/vars && mkdir -p $W/rails
		check "pod $p, rail $rail alone: files" ok in_pod $p env --interface net$rail --tc 106 --dir $W/rails
		check "pod $p, rail $rail alone: the files say the same" is "$(LC_ALL=C sort $W/rails/nccl.conf $W/rails/ucx.conf)" "$(cat $W/vars)"
		check "pod $p, rail $rail alone: anybody may read them" is "$(stat -c %a $W/rails/*.conf | uniq)" 644
		check "pod $p, rail $rail alone: for DeepEP's NVSHMEM and for Mooncake" ok in_pod $p env --interface net$rail --tc 106 --for vllm
		check "pod $p, rail $rail alone: as they read them" is "$(sed -n "s/^export \(\(NVSHMEM\|MC\|MOONCAKE\)_.*\)/\1/p" $W/out)" "NVSHMEM_IB_TRAFFIC_CLASS='106'
NVSHMEM_HCA_LIST='rxe$((rail - 1)):1'
NVSHMEM_HCA_PREFIX='rxe'
NVSHMEM_IB_GID_INDEX='$i'
MC_TE_FILTERS='rxe$((rail - 1))'
MC_MS_FILTERS='rxe$((rail - 1))'
MOONCAKE_DEVICE='rxe$((rail - 1))'
MC_GID_INDEX='$i'
MC_IB_TC='106'"
	done
done
check "the interface of the default route" sh -c 'ip -n A link add eth0 type dummy && ip -n A addr add 10.244.0.5/24 dev eth0 &&
	ip -n A link set eth0 up && ip -n A route add default dev eth0'
check "is for bootstrap" ok in_pod A env --interface net1 --format kubernetes --explain
check "in YAML" has '  value: "=eth0"'
check "with reasons" has '# index '
check "from the host" ok r env --netns /run/netns/A --interface net1
check "it is the same" has "NCCL_IB_GID_INDEX='$(index rxe0 10.1.0.11)'"

# ---- the doctor ---------------------------------------------------------------------------------

check "doctor: the host" ok r check --json
check "doctor: a card may have no address" want 'any(.findings[]; .check == "gid" and .subject == "rxe1:1" and .state == "warn")'
check "doctor: the card's MTU" want 'any(.findings[]; .check == "mtu" and .subject == "rxe0:1" and .state == "warn" and (.value | contains("1024 bytes")))'
check "doctor: ports" finds A port rxe0:1 ok ACTIVE
check "doctor: GIDs" finds A gid rxe1:1 ok "10.2.0.11 at index $(index rxe1 10.2.0.11)"
check "doctor: a neighbour comes first" finds B neighbour rxe0:1 warn "own GID has index $(index rxe0 10.1.0.12)"
check "doctor: the neighbour is named" finds B neighbour rxe1:1 warn "10.2.0.11"
check "doctor: the card's MTU is not seen" finds A mtu rxe0:1 unknown "run it on the host"
check "doctor: from the host it is" ok r check --netns /run/netns/A --interval 0 --json
check "doctor: and is small" want 'any(.findings[]; .check == "mtu" and .subject == "rxe0:1" and .state == "warn" and
	(.value | contains("the MTU of '"$PF0"' is 1500")))'
check "doctor: the host sees what ports count" want '[.findings[] | select(.check == "retries" or .check == "sequence" or .check == "link-down") |
	.subject] | sort == ["rxe0:1", "rxe0:1", "rxe0:1", "rxe1:1", "rxe1:1", "rxe1:1"]'
check "doctor: a pod in mode shared does not" finds A counters rxe0:1 unknown "--netns"
check "doctor: mode" finds A mode "" ok "as macvlan, ipvlan and ipoib need it"
check "doctor: uverbs" finds A uverbs rxe0 ok "can be opened"
check "doctor: rdma_cm" finds A rdma-cm "" ok
check "doctor: memory" finds A memlock "" ok
check "doctor: traffic class" finds A traffic-class "" warn "--tc 106"
check "doctor: nothing fails" ok in_pod A check
check "doctor: but strict" fails in_pod A check --strict
NCCL_IB_TC=106 check "doctor: traffic class in the environment" finds A traffic-class "" ok
UCX_NET_DEVICES=eth0 check "doctor: UCX on TCP" finds A ucx-devices UCX_NET_DEVICES fail "it selects no rail"
MC_TE_FILTERS=rxe0,rxe1 check "doctor: Mooncake's rails" finds A mooncake-devices MC_TE_FILTERS ok
sleep infinity &
outside=$!
ip netns exec A sleep infinity &
inside=$!
check "doctor: from outside" eventually sh -c "railctl rdma check --netns /proc/$inside/ns/net --json >$W/out"
check "doctor: what a process has, but not what it may" want 'any(.findings[]; .check == "uverbs" and .state == "unknown" and
	(.value | contains("exists; "))) and any(.findings[]; .check == "memlock" and .state == "ok")'
kill $inside $outside
railctl rdma check --netns /run/netns/A --json >$W/out
check "doctor: of a namespace without a process that is unknown" want 'any(.findings[]; .check == "memlock" and .state == "unknown")'

without() { # POD SCRIPT: a check in a mount namespace of its own after SCRIPT
	ip netns exec "$1" unshare -m sh -c "$2; exec railctl rdma check --interval 0 --json" >$W/out 2>$W/err
}
found() { jq -e --arg c "$1" --arg r "$2" --arg w "$3" 'any(.findings[]; .check == $c and .state == $r and
	([.value, .consequence // "", .remedy // ""] | join(" ") | contains($w)))' $W/out >/dev/null || said; }
check "doctor: no character devices" fails without A 'mount -t tmpfs tmpfs /dev/infiniband'
check "doctor: uverbs are missing" found uverbs fail "there is no /dev/infiniband/uverbs"
check "doctor: rdma_cm is missing" found rdma-cm warn "rping"
check "doctor: another's" fails without A 'cp -a /dev/infiniband/uverbs1 /tmp/u && mount -t tmpfs tmpfs /dev/infiniband &&
	cp -a /tmp/u /dev/infiniband/uverbs0 && cp -a /tmp/u /dev/infiniband/uverbs1'
check "doctor: another's is told" found uverbs fail "the device of another pod"
few() { ip netns exec A setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock prlimit --memlock=8388608:8388608 railctl rdma check --json >$W/out; }
check "doctor: little memory" fails few
check "doctor: little memory is told" found memlock fail "8192 KiB"
nobody() { ip netns exec A setpriv --reuid 65534 --clear-groups sh -c 'railctl rdma check --json' >$W/out; }
chmod 755 $W && chmod 600 /dev/infiniband/uverbs*
check "doctor: a user who may not" fails nobody
check "doctor: is told" found uverbs fail "Permission denied"
chmod 666 /dev/infiniband/uverbs*

check "$PF1 goes down" ip link set "$PF1" down
down() { finds A port rxe1:1 fail "the port is DOWN"; }
check "doctor: a port that is down" eventually down
check "env without it fails" fails in_pod A env --explain
check "env names it on standard error" grep -q '^railctl rdma env: left out: net2 on rxe1:1: its port is not ACTIVE' $W/err
check "env with as many rails as are expected" ok in_pod A env --expect-rails 1 --explain
check "env with fewer" fails in_pod A env --expect-rails 2
check "env says how many there are" grep -q 'rails: 1, and 2 are expected' $W/err
in_pod A env --explain
check "env says why" has "net2 on rxe1:1: its port is not ACTIVE"
check "env uses the other" has "NCCL_IB_HCA='=rxe0:1'"
check "$PF1 goes up" ip link set "$PF1" up
check "no address but a link-local one" ip -n A addr flush dev net1 scope global
check "doctor: that is none that can be routed" finds A gid rxe0:1 fail "routable address"
check "no address" ip -n A addr flush dev net1
alone() { finds A rail net1 warn "so it has no GID"; }
gone() { ! there rxe0 10.1.0.11; }
check "its GID goes" eventually gone
check "doctor: an interface without address" eventually alone
check "IPv6 alone" ip -n A addr add fd01::11/64 dev net1 nodad
six() { in_pod A env --interface net1 --json && jq -e '.env | any(.name == "NCCL_IB_GID_INDEX")' $W/out >/dev/null; }
check "IPv6 alone: env" eventually six
check "IPv6 alone: doctor" finds A gid rxe0:1 ok "fd01::11"

# ---- ipvlan -------------------------------------------------------------------------------------

ipvlan()
{
	ip netns add I && ip link add link "$PF1" name net1 netns I type ipvlan mode l2 && ip -n I addr add 10.2.0.50/16 dev net1 &&
		ip -n I link set net1 up
}
ip netns del A
ip netns del B
check "no macvlan is left on $PF1" eventually is_free "$PF1"
check "pod I with ipvlan" ipvlan
check "ipvlan: GID" eventually there rxe1 10.2.0.50
check "ipvlan: env" ok in_pod I env
check "ipvlan: index" has "NCCL_IB_GID_INDEX='$(index rxe1 10.2.0.50)'"
ip netns del I

# ---- the examples of help -----------------------------------------------------------------------

check "pod1 for the examples" pod pod1 21 "$PF0"
check "pod1: GID" eventually there rxe0 10.1.0.21
# Those for InfiniBand belong to ib-tools: these cards are Ethernet.
railctl help --json | jq -r '.[].examples[] | select(test("railctl rdma (list|env|check)") and (test("infiniband") | not))' >$W/examples
check "there are examples" [ -s $W/examples ]
while IFS= read -r line <&8; do
	check "example: $line" bash -ec "$line"
done 8<$W/examples
ip netns del pod1
check "rxe0 goes" rdma link del rxe0
check "rxe1 goes" rdma link del rxe1

# ---- pods with a device of their own, and traffic by what env says ------------------------------

own() # POD NUMBER CARD: before 7.0 such a device hears nothing, but is seen
{
	pod "$1" "$2" "$3" && ip netns exec "$1" rdma link add "rxe$2" type rxe netdev net1 && eventually there "rxe$2" "10.1.0.$2"
}
check "pod P" own P 31 "$PF0"
check "pod Q" own Q 32 "$PF0"
for p in P:31 Q:32; do
	check "own device: env of pod ${p%:*}" ok in_pod "${p%:*}" env
	cp $W/out "$W/env.${p%:*}"
	check "own device: only that of pod ${p%:*}" has "NCCL_IB_HCA='=rxe${p#*:}:1'"
	check "own device: doctor of pod ${p%:*}" finds "${p%:*}" port "rxe${p#*:}:1" ok
done
check "own device: its interface is here" ok in_pod P list --json
check "own device: and the other's is not" want 'map({(.name): .ports[0].ifName}) | add == {"rxe31": "net1", "rxe32": null}'

# probe POD WORD...: PROBE is rdma-probe there with the device, port and GID that env printed, and nothing else. It is run
# by itself, so that to kill it is not to kill a shell that waits for it: it would hold its namespace.
probe()
{
	# shellcheck disable=SC2016 # for the shell in the pod
	PROBE=(ip netns exec "$1" sh -c '. "$0" && exec rdma-probe "$@" --device "${NCCL_IB_HCA#=}" --gid-index "$NCCL_IB_GID_INDEX"' "$W/env.$1" "${@:2}")
}
if [ "$WANT_KERNEL" != 6.12 ]; then
	for p in P Q; do ip -n $p link set lo up; done
	probe Q serve --timeout "$LAST_RESORT"
	"${PROBE[@]}" >$W/serve 2>&1 &
	server=$!
	check "traffic: a server in pod Q" eventually grep -q listening $W/serve
	probe P connect 10.1.0.32 --no-cm --timeout "$LAST_RESORT" --iterations 3 --size 4K --seed 1
	check "traffic: pod P to pod Q, as env says" "${PROBE[@]}"
	kill $server
	wait $server
fi
# A device holds its interface, and so the namespace, for as long as the kernel takes to notice.
for d in rxe31 rxe32; do check "own device: $d goes" rdma link del $d; done
ip netns del P
ip netns del Q
check "own device: nothing holds the pods or $PF0" eventually is_free "$PF0"
finish

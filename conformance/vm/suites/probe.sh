# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 50
# probe: rdma-probe between pods: macvlans of a dummy with rxe devices on them. Before 7.0 rxe sends from the
# first network namespace only: there one rxe device talks to itself.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
W=/run/work
mkdir -p $W
cp "$BIN/rdma-probe" $W/rdma-probe
FLIP_SO=$HELPERS/rdma/flip.so
FEW="--iterations 3 --size 4K --seed 1 --timeout $LAST_RESORT"
modprobe -a dummy macvlan rdma_rxe rdma_ucm ib_uverbs

pod() # NAME NUMBER
{
	ip netns add "$1" && ip link add link up0 name net1 netns "$1" type macvlan mode bridge &&
		ip -n "$1" addr add "10.9.0.$2/24" dev net1 && ip -n "$1" addr add "fd09::$2/64" dev net1 nodad &&
		ip -n "$1" link set lo up && ip -n "$1" link set net1 up &&
		ip netns exec "$1" rdma link add "rxe$2" type rxe netdev net1
}
# ip(8) becomes the command, so that it can be waited for and killed.
into() { INTO=(ip netns exec "$1") && [ "$1" != host ] || INTO=(); }
probe() # POD ARGUMENT...: what it printed is in $W/out and $W/err
{
	into "$1"
	shift
	"${INTO[@]}" $W/rdma-probe "$@" >$W/out 2>$W/err
}
ends() # STATUS COMMAND...
{
	local want=$1 rc
	shift
	"$@"
	rc=$?
	[ $rc = "$want" ] || { echo "ended with $rc, not $want"; cat $W/out $W/err; false; }
}
says() { grep -qE -- "$1" $W/out $W/err || { cat $W/out $W/err && false; }; }
answer() { jq -e "$1" $W/out >/dev/null || { cat $W/out && false; }; }
wrong() # STATUS WORDS COMMAND...: it ends so and says so
{
	local status=$1 words=$2
	shift 2
	ends "$status" "$@" && says "$words"
}
serve() # POD ARGUMENT...: in the background; what it prints is in $W/serve.POD
{
	local pod=$1
	shift
	into "$pod"
	"${INTO[@]}" $W/rdma-probe serve --timeout "$LAST_RESORT" "$@" >"$W/serve.$pod" 2>&1 &
	echo $! >"$W/pid.$pod"
	eventually grep -q listening "$W/serve.$pod"
}
served() { eventually grep -qE "$1" "$W/serve.$2" || { cat "$W/serve.$2" && false; }; }

# all of it: latencies in order, rates above nothing, and the bytes of three messages each way and kind, and of the trips
complete()
{
	answer '.latencyNs | .samples == 3 and .min > 0 and .min <= .p50 and .p50 <= .p99 and .p99 <= .max' &&
		answer '[.send, .write] | map(.toPeer, .fromPeer) | length == 4 and all(.bytes == 12288 and .bytesPerSecond > 0)' &&
		answer '.checkedBytes == 4 * 3 * 4096 + 2 * 3 * 64 and .checkedMessages == 4 * 3 + 2 * 3 and .pathMtu == 1024'
}
exchange() # POD ADDR ARGUMENT...
{
	# shellcheck disable=SC2086 # words
	ends 0 probe "$1" connect "$2" --json $FEW "${@:3}" && complete
}
ends_of() # LOCAL REMOTE GID: the two devices, and the GID of this end
{
	answer ".local.device == \"$1\" and .remote.device == \"$2\" and .local.gid == \"$3\""
}

# ---- what is wrong on the way is found ----

# flipped POD ADDR N AT WORDS ARGUMENT...: the client's N-th work request is spoilt at byte AT
flipped()
{
	local pod=$1 addr=$2 words=$5 env=(env "LD_PRELOAD=$FLIP_SO" "FLIP=$3" "FLIP_AT=$4")
	shift 5
	# shellcheck disable=SC2086 # words
	into "$pod"
	"${INTO[@]}" "${env[@]}" $W/rdma-probe connect "$addr" $FEW "$@" >$W/out 2>$W/err
	wrong 3 "$words" return_of $?
}
return_of() { return "$1"; }

# without NAME... -- COMMAND...: with these nodes of /dev/infiniband only
nodes()
{
	local keep=()
	while [ "$1" != -- ]; do keep+=("/dev/infiniband/$1"); shift; done
	shift
	unshare -m bash -c 'n=$1; shift; mkdir -p /run/nodes; [ "$n" = 0 ] || cp -a "${@:1:n}" /run/nodes/
		mount -t tmpfs t /dev/infiniband; [ "$n" = 0 ] || cp -a /run/nodes/. /dev/infiniband/; rm -rf /run/nodes
		exec "${@:n+1}"' x ${#keep[@]} "${keep[@]}" "$@"
}
few_nodes() { nodes "$@" >$W/out 2>$W/err; }

errors() # POD ADDR DEVICE OTHER-DEVICE
{
	local pod=$1 addr=$2
	check "a GID index that is not there" wrong 4 "$3 has no GID of index 77; .*rdma-probe list" probe "$pod" connect "$addr" --no-cm --gid-index 77
	NCCL_IB_GID_INDEX=77 check "nor one of NCCL's variable, which is named" wrong 4 \
		"$3 has no GID of index 77; .*without NCCL_IB_GID_INDEX the address finds its own" probe "$pod" connect "$addr" --no-cm
	check "neither with RDMA CM" wrong 4 "$3 has no GID of index 77" probe "$pod" connect "$addr" --gid-index 77
	check "the server hears of it" served "the peer says: $3 has no GID of index 77" "$4"
	check "RDMA CM does not obey an index" wrong 4 "takes GID [1-9], that of .*, and not GID 0; .*--no-cm" probe "$pod" connect "$addr" --gid-index 0
	check "a device that is not there" wrong 4 "no RDMA device nosuch here" probe "$pod" connect "$addr" --no-cm --device nosuch
	check "nobody serves" wrong 1 "serve\" running there" probe "$pod" connect "$addr:9"
	check "too little memory may be locked" wrong 4 "limited to 64 KiB here: .*IPC_LOCK" probe_locked "$pod" connect "$addr" --no-cm --size 1M
	check "the server hears of that, too" served "the peer says: .*cannot register" "$4"
	check "a uverbs node of somebody else's" wrong 4 "cannot open RDMA device .*Permission denied; .*/uverbs[0-9] is not yours" probe_nobody "$pod" connect "$addr" --no-cm
	check "no node at all" wrong 4 "cannot open RDMA device|no RDMA device" few_nodes -- ip netns exec "$pod" $W/rdma-probe connect "$addr" --no-cm
	check "no RDMA CM" wrong 4 "RDMA CM is not to be had.*rdma_ucm.*--no-cm" few_nodes "$(uverbs "$3")" -- ip netns exec "$pod" $W/rdma-probe connect "$addr"
}
probe_nobody() { ip netns exec "$1" chmod 600 /dev/infiniband/uverbs* && ip netns exec "$1" setpriv --reuid 65534 --clear-groups $W/rdma-probe "${@:2}" >$W/out 2>$W/err; }
probe_locked()
{
	ip netns exec "$1" setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock prlimit --memlock=65536:65536 $W/rdma-probe "${@:2}" \
		>$W/out 2>$W/err
}
uverbs() { basename "$(readlink -f "/sys/class/infiniband/$1/device/infiniband_verbs/"* 2>/dev/null || grep -lx "$1" /sys/class/infiniband_verbs/*/ibdev | head -n 1 | xargs dirname)"; }

# sent: packets that A's device has sent; goes_on N: more than a hundred since then, so data are on their way.
sent() { cat /sys/class/infiniband/rxe1/ports/1/hw_counters/sent_pkts; }
goes_on() { [ "$(sent)" -gt $(($1 + 100)) ]; }
dies() # POD ADDR: the server is killed in the middle
{
	local client before
	before=$(sent)
	ip netns exec "$1" $W/rdma-probe connect "$2" --no-cm --iterations 100000 --timeout "$LAST_RESORT" >$W/out 2>$W/err &
	client=$!
	eventually goes_on "$before"
	kill -KILL "$(<$W/pid.B)"
	eventually isnt kill -0 $client || kill -KILL $client
	wait $client
	wrong 1 "the peer closed the connection" return_of $?
}

pods()
{
	PODS=(A B C D)
	check "the pods' link" eval 'ip link add up0 type dummy && ip link set up0 up'
	for i in 0 1 2 3; do
		check "pod ${PODS[i]}" pod "${PODS[i]}" $((i + 1))
	done
	check "GIDs come" eventually eval 'probe A list && says "::ffff:10.9.0.4 .* no" && says "fd09::1 "'
	check "own GIDs are told from the neighbours'" says 'RoCE v2 +net1 +yes'
	check "list as JSON" eval 'probe A list --json --device rxe1 && answer ".[0].ports[0] | .state == \"ACTIVE\" and
		.linkLayer == \"Ethernet\" and .mtu == 1024 and ([.gids[] | select(.gid == \"::ffff:10.9.0.1\" and .here)] | length == 1)"'
	check "rxe knows no dma-buf" wrong 5 'rxe1: not supported' probe A dmabuf --device rxe1
	check "B serves" serve B
	check "data passes by RDMA CM" exchange A 10.9.0.2
	check "over the devices of the pods" ends_of rxe1 rxe2 ::ffff:10.9.0.1
	check "data passes without RDMA CM" exchange A 10.9.0.2 --no-cm
	check "over the devices of the pods" ends_of rxe1 rxe2 ::ffff:10.9.0.1
	check "data passes over IPv6" exchange A fd09::2 --no-cm
	check "from the IPv6 GID" ends_of rxe1 rxe2 fd09::1
	check "the device that was asked for" exchange A 10.9.0.2 --no-cm --device rxe1:1
	check "the server counts" served '^10.9.0.1: 49536 bytes in 18 messages: every byte is right' B
	check "a neighbour's GID is refused" wrong 4 'is fe80|::ffff:10.9.0.[234].*not an address of this network namespace' \
		probe A connect 10.9.0.2 --no-cm --device rxe2 --gid-index "$(gid_of rxe2 ::ffff:10.9.0.2)"
	check "another pod's device has no GID of ours" wrong 4 'rxe3 has no GID for 10.9.0.1' probe A connect 10.9.0.2 --no-cm --device rxe3
	check "nor does RDMA CM take it" wrong 4 '10.9.0.1 belongs to port 1 of RDMA device rxe1, not to rxe3' probe A connect 10.9.0.2 --device rxe3
	errors A 10.9.0.2 rxe1 B
	check "a wrong byte to and fro" flipped A 10.9.0.2 1 63 'message 1 \(round trip\) has 1 wrong bytes of 64; the first is byte 63' --no-cm
	check "a wrong byte of a send" flipped A 10.9.0.2 4 4095 'message 1 \(send\) has 1 wrong bytes of 4096; the first is byte 4095' --no-cm
	check "a wrong byte of a write" flipped A 10.9.0.2 7 0 'message 1 \(RDMA write\) has 1 wrong bytes of 4096; the first is byte 0:' --no-cm
	check "the same by RDMA CM" flipped A 10.9.0.2 8 17 'message 2 \(RDMA write\).* byte 17'
	check "a send cut short" flipped A 10.9.0.2 3 short 'a message of 4096 bytes came as 4095' --no-cm
	check "a write cut short" flipped A 10.9.0.2 6 short 'message 0 \(RDMA write\).*first is byte 4095' --no-cm
	check "the server found it" served 'data came out wrong: message 0 \(RDMA write\)' B
	check "and serves on" exchange A 10.9.0.2 --no-cm
	modprobe -a sch_ingress cls_u32
	# At the receiver: rxe notices what is dropped as it leaves, and breaks its queue pairs, that of the CM for ever.
	check "a filter" tc -n B qdisc add dev net1 clsact
	check "that drops UDP" tc -n B filter add dev net1 ingress protocol ip u32 match ip protocol 17 0xff action drop
	check "packets that are lost" wrong 1 "peer's device stopped acknowledging .* UDP port 4791.*ping -M do -s 1060" probe A connect 10.9.0.2 --no-cm --timeout "$LAST_RESORT"
	check "RDMA CM that is not answered" wrong 1 "(nothing came over RDMA|the peer was silent) for 3000 ms|did not answer" probe A connect 10.9.0.2 --timeout 3
	check "no filter" tc -n B qdisc del dev net1 clsact
	check "and it is as before" exchange A 10.9.0.2
	check "a server that is killed is noticed at once" dies A 10.9.0.2
}
gid_of() { probe A list --json --device "$1"; jq --arg g "$2" '.[0].ports[0].gids[] | select(.gid == $g) | .index' $W/out; }

alone()
{
	check "a link" eval 'ip link add up0 type dummy && ip addr add 10.9.0.1/24 dev up0 && ip link set up0 up && ip link set lo up'
	check "a device" rdma link add rxe1 type rxe netdev up0
	check "GIDs come" eventually eval 'probe host list && says "::ffff:10.9.0.1 .* yes"'
	check "rxe knows no dma-buf" wrong 5 'rxe1: not supported' probe host dmabuf
	check "a server" serve host
	check "data passes without RDMA CM" exchange host 10.9.0.1 --no-cm
	check "data passes by RDMA CM" exchange host 10.9.0.1
}

check "the kernel's mode is shared" eval 'rdma system | grep -q "netns shared"'
case $KERNEL in
6.*) alone ;;
*) pods ;;
esac
# shellcheck disable=SC2046 # words
kill $(cat $W/pid.*) 2>/dev/null
for p in A B C D; do ip netns del $p 2>/dev/null; done
ip link del up0
rm -rf $W
finish

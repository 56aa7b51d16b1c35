# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 130
# kernel: 7.2
# transport: the node agent says whether pods use RDMA. TCP over a rail is suspect after a minute. So is TCP over another
# interface with a setting that forces it. Queue pairs are not, and other traffic is not. Pods are attached by macvlan.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/guest/rdma.sh
. conformance/vm/guest/rdma.sh
cp "$HELPERS/attach/stream" "$HELPERS/attach/tcp" $W/bin
read -r A _ <<<"$PFS"
modprobe -a rdma_rxe ib_uverbs macvlan veth tcp_diag
ip link set "$A" up
check "link of $A" eventually carrier "$A"
NETWORK=$(conf macvlan mac "\"master\":\"$A\",\"ipam\":{\"type\":\"railhead-ipam\",\"subnet\":\"10.90.0.0/24\"}")
# force0 and force1 have TCP over their rails; eth0 and eth1 over another interface, with NCCL_IB_DISABLE. Pods share the
# device of the card, but rxe only connects with a device of the pod.
check "a device of the card" rdma link add rxe_card type rxe netdev "$A"
PODS=(force0 force1 eth0 eth1 qp0 qp1 ray0 ray1 nfs0 nfs1 idle0)
declare -A RAIL
plain() { ip netns add "$1" && ip -n "$1" link set lo up && call ADD macvlan "$1" "$NETWORK"; }
for p in "${PODS[@]}"; do
	case $p in
	qp*) check "pod $p" interface "$p" "$NETWORK" ;;
	*) check "pod $p" plain "$p" ;;
	esac
	RAIL[$p]=$(address "$p")
done
beside() # POD POD NUMBER: another interface that joins them
{
	ip link add name pod0 netns "$1" type veth peer name pod0 netns "$2" &&
		ip -n "$1" addr add "10.77.$3.1/24" dev pod0 && ip -n "$1" link set pod0 up &&
		ip -n "$2" addr add "10.77.$3.2/24" dev pod0 && ip -n "$2" link set pod0 up
}
for p in eth:1 ray:2 nfs:3; do check "beside ${p%:*}" beside "${p%:*}0" "${p%:*}1" "${p#*:}"; done

STARTED=()
start() # POD LOG COMMAND...
{
	ip netns exec "$1" "${@:3}" >"$W/$2" 2>&1 &
	STARTED+=($!)
}
# streams POD ADDRESS KIND PORT: pod POD0 serves at ADDRESS, POD1 is the client
streams()
{
	start "${1}0" "serve.$1.$4" $RB/stream serve "$4"
	check "$1 listens" eventually listens "${1}0" "$4"
	start "${1}1" "stream.$1.$4" $RB/stream "$3" "$2" "$4"
	check "$1 is connected" eventually grep -q ready "$W/stream.$1.$4"
}
streams force "${RAIL[force0]}" both 7000
export NCCL_IB_DISABLE=1
streams eth 10.77.1.1 both 7000
unset NCCL_IB_DISABLE
# Ray, and Gloo beside the rails; and the bootstrap of a job: connections that carry nothing.
streams ray 10.77.2.1 both 7000
start ray0 serve.boot $RB/tcp serve 7001
start ray1 stream.boot bash -c "while sleep 1; do $RB/tcp probe ${RAIL[ray0]} 7001; done"
# NFS over a rail, and HTTP beside it.
streams nfs "${RAIL[nfs0]}" load 7000
streams nfs 10.77.3.1 load 7001
streams qp "${RAIL[qp0]}" both 7000
for p in qp0 qp1; do check "env in pod $p" env_of $p; done
# shellcheck disable=SC2016 # for the shell in the pod
LAST_RESORT=3600 in_env qp0 'exec rdma-probe serve --timeout 300 --device "$DEV:$PORT" --gid-index "$GID"'
"${INTO[@]}" >$W/rdma.serve 2>&1 &
STARTED+=($!)
check "the RDMA server listens" eventually listens qp0 18515
# shellcheck disable=SC2016
LAST_RESORT=3600 in_env qp1 'while sleep 0.1; do rdma-probe connect --timeout 300 --device "$DEV:$PORT" --gid-index "$GID" "$@"; done' "${RAIL[qp0]}" --no-cm --size 16K --iterations 1000000
"${INTO[@]}" >$W/rdma.connect 2>&1 &
STARTED+=($!)
qps() { rdma resource show qp | grep -q "type RC state RTS" || { rdma resource show qp; cat $W/rdma.*; false; }; }
check "queue pairs" eventually qps

mkdir -p /etc/railhead
echo '{"transport": {"every": 5, "mbps": 4}}' >/etc/railhead/agent.json
"$RB/railheadd" >"$W/agent.log" 2>&1 </dev/null &
AGENT=$!
# state POD: by the status of the agent
state() { $RB/railctl cluster status --json | jq -r --arg p "$1" '.transport.pods[] | select(.pod == $p) | .state'; }
are() # STATE POD...
{
	local p
	for p in "${@:2}"; do
		[ "$(state "$p")" = "$1" ] || { $RB/railctl cluster status --json | jq -c '.transport' && cat $W/agent.log && false; }
	done
}
check "pods without a queue pair whose rails carry TCP" eventually are suspect force0 force1
check "a setting that forces TCP beside the rails" eventually are suspect eth0 eth1
check "queue pairs, whatever TCP carries" eventually are rdma qp0 qp1
check "other traffic, and none" are unknown ray0 ray1 nfs0 nfs1 idle0
check "said once, with the job" eval '[ "$(grep -c "job force0 does not\|job force1 does not" $W/agent.log)" = 2 ]'
check "with the cause" grep -q "eth0.*beside its rails.*NCCL_IB_DISABLE is 1" $W/agent.log
check "for nobody else" eval '! grep "does not seem" $W/agent.log | grep -v "job force\|job eth"'
scraped() { curl -sS --max-time 60 --unix-socket /run/railhead/metrics.sock http://localhost/metrics >"$W/metrics" && grep -q "^$1\$" "$W/metrics"; }
check "the metric" eventually scraped 'railhead_pod_transport{state="suspect"} 4'
others() { scraped 'railhead_pod_transport{state="rdma"} 2' && grep -q '^railhead_pod_transport{state="unknown"} 5$' "$W/metrics" || { grep "^railhead_pod" "$W/metrics" && false; }; }
check "and the others" eventually others
$RB/railctl cluster status --json | jq -c '.transport.pods[] | [.pod, .state, .queuePairs, .milliseconds, .rails, .other, .cause]'
kill $AGENT
wait $AGENT
kill "${STARTED[@]}" 2>/dev/null
wait
for p in "${PODS[@]}"; do
	ip netns pids "$p" | xargs -r kill -KILL
	case $p in
	qp*) rdma link delete "rxe_$p" ;;
	esac
	check "DEL of $p" call DEL macvlan "$p" "$NETWORK"
	ip netns del "$p"
done
rdma link delete rxe_card
finish

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 240
# job: rdma-probe job among four pods with two rails each, macvlans of two dummies with rxe devices on them. Before
# 7.0 rxe sends from the first network namespace only: there is nothing to test.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
W=/run/work
mkdir -p $W
cp "$BIN/rdma-probe" $W/rdma-probe
modprobe -a dummy macvlan rdma_rxe ib_uverbs sch_tbf
export RAILHEAD_JOB_KEY=secret

rail() # POD NUMBER RAIL
{
	ip link add link "up$3" name "rail$3" netns "$1" type macvlan mode bridge &&
		ip -n "$1" addr add "10.9.$3.$2/24" dev "rail$3" && ip -n "$1" link set "rail$3" up &&
		ip netns exec "$1" rdma link add "rxe$2$3" type rxe netdev "rail$3"
}
pod() # NAME NUMBER
{
	ip netns add "$1" && ip -n "$1" link set lo up && rail "$1" "$2" 0 && rail "$1" "$2" 1
}
PODS=(A B C D)
rank() # N ARGUMENT...: its status is in $W/rc.N, what it said in $W/job.N
{
	local i=$1
	shift
	env NODE_NAME="node$i" ${CLASS:+"NCCL_IB_TC=$([ "$i" = 1 ] && echo "$CLASS" || echo 0)"} \
		ip netns exec "${PODS[i]}" env ${CUDA:+"LD_LIBRARY_PATH=$W" "LD_PRELOAD=$CUDA" "CUDA_LOG=$W/registered"} $W/rdma-probe job --rank0 "10.9.0.1${PORT-}" --rank "$i" --ranks 4 "$@" \
		>"$W/${JOB-}job.$i" 2>&1
	echo $? >"$W/${JOB-}rc.$i"
}
job() # ARGUMENT...: all ranks
{
	local i pids=()
	for i in 0 1 2 3; do
		rank $i "$@" &
		pids+=($!)
	done
	wait "${pids[@]}"
}

# Another job with its own key in the same pods. Rails in use are tested for reach alone.
two_jobs()
{
	local second
	JOB=second. PORT=:18600 RAILHEAD_JOB_KEY=other job --json --in-use $FEW &
	second=$!
	job --json --in-use $FEW
	wait $second
	[ "$(cat $W/rc.* $W/second.rc.* | sort -u)" = 0 ] &&
		jq -se 'length == 2 and all(.refused == 0 and .findings == [] and (.ranks | length == 4 and all(.joined)))' $W/job.0 $W/second.job.0 >/dev/null ||
		{ cat $W/job.* $W/second.*; false; }
}

# All links alike and far below what the emulator can do: the rates are those of the links, not of this machine.
shape() # POD RAIL MBIT
{
	ip netns exec "$1" tc qdisc replace dev "rail$2" root tbf rate "$3mbit" burst 16k limit 4m
}
FEW="--size 2K --seconds 45 --gather 60"
says() { grep -qE -- "$1" $W/job.0 || { cat $W/job.* && false; }; }
all_end() # STATUS: every rank
{
	[ "$(sort -u $W/rc.*)" = "$1" ] || { cat $W/job.* $W/rc.* && false; }
}
# found STATUS FILTER ARGUMENT...: all ranks end so, and jq finds it true for the verdict
found()
{
	local status=$1 filter=$2
	shift 2
	# shellcheck disable=SC2086 # words
	job --json $FEW "$@"
	all_end "$status" && jq -e "$filter" $W/job.0 >/dev/null || { cat $W/job.* && false; }
}
of() { echo "[.findings[] | select(.code == \"$1\")] | length == 1 and (.[0].ends == [{rank: $2, node: \"node$2\", rail: \"$3\"}])"; }
drop() # POD RAIL MATCH...: what arrives and matches
{
	ip netns exec "$1" tc qdisc add dev "$2" clsact &&
		ip netns exec "$1" tc filter add dev "$2" ingress protocol ip u32 "${@:3}" action drop
}
undrop() { ip netns exec "$1" tc qdisc del dev "$2" clsact; }

pods()
{
	for i in 0 1; do check "link $i" eval "ip link add up$i type dummy && ip link set up$i up"; done
	for i in 0 1 2 3; do
		check "pod ${PODS[i]}" pod "${PODS[i]}" $((i + 1))
		check "its links" eval "shape ${PODS[i]} 0 8 && shape ${PODS[i]} 1 8"
	done
	for i in 0 1 2 3; do
		check "GIDs of ${PODS[i]}" eventually eval "ip netns exec ${PODS[i]} $W/rdma-probe list | grep -q '::ffff:10.9.1.$((i + 1)) '"
	done
	modprobe -a sch_ingress cls_u32 act_gact
	check "links that are alike" found 0 '[.findings[].code] - ["all-slow", "undecided", "noisy"] == []' -- sh -c ": >$W/ran.\$NODE_NAME"
	check "the command runs on each rank" eval '[ "$(cd $W && echo ran.*)" = "ran.node0 ran.node1 ran.node2 ran.node3" ]'
	cp $W/job.0 $W/even
	check "each was measured" eval "jq -e '[.ranks[].rails[].bytesPerSecond] | length == 8 and all(. > 400000 and . < 1200000)' $W/even >/dev/null || { cat $W/even; false; }"
	# Nothing here has two paths: this shows the protocol, and that the driver takes labels, and not ECMP.
	printf 'node%s rail0 leaf%s\n' 0 a 1 a 2 b 3 b >$W/leaves
	check "flow labels between two leaves" found 0 '.flowLabels | length == 1 and (.[0] | .rail == "rail0" and .labels == 4 and .belowHalf == 0 and
		(.ranks | map(. < 2) | unique == [false, true]) and .slowest > 400000 and .fastest < 1200000)' --labels 4 --leaves $W/leaves
	check "two jobs at once" two_jobs
	# The stand-in for libcuda shows that the tests run with what it gave, and not that a GPU works.
	check "memory of GPUs is asked for, and none is here" found 0 \
		'[.ranks[].rails[].memory] | unique == ["host: cannot load libcuda.so.1"]' --memory auto --in-use
	cp "$HELPERS/rdma/cuda.so" $W/libcuda.so.1
	check "without it no rail is tested" found 7 \
		'any(.findings[]; .code == "broken" and (.evidence | contains("no GPU memory: cannot load libcuda.so.1")))' --memory cuda
	CUDA=libcuda.so.1
	check "a stand-in for memory of GPUs" found 0 '[.ranks[].rails[].memory] | unique == ["GPU 0000:1a:00.0"]' --memory cuda
	check "its memory was registered" grep -q "^2048 bytes at 0x300000010000" $W/registered
	CUDA=
	# A job that runs already: its rails are not loaded.
	ip netns exec A $W/rdma-probe serve --once --port 18700 >$W/serve 2>&1 &
	eventually grep -q listening $W/serve
	ip netns exec B $W/rdma-probe connect 10.9.0.1:18700 --no-cm --iterations 1000000 >$W/out 2>&1 &
	client=$!
	eventually eval "rdma resource show qp link rxe10 | grep -q 'type RC state RTS'"
	check "rails in use are not tested" eval "job $FEW && all_end 4 && says '^not tested, in use: node[01]: process [0-9]+ has connected queue pairs on rxe[12]0'"
	kill $client
	wait
	# How many tests fit into the time depends on this machine; with few of them the end is named, but as undecided.
	shape C 1 2.5
	check "one that is slow, for people" eval "job ${FEW/--seconds 45/--seconds 90} --min-gbps 1 -- touch $W/late && all_end 7 && [ ! -e $W/late ] &&
		says '^(fail slow|warn undecided): node2 .rank 2. rail1 (is|was) slow .*[(](sent|received|sent and received) [12][.0-9]* Mbit/s, usual [5-8][.0-9]* Mbit/s; .* with node' &&
		says '^ +2 +node2 +[78][.0-9]* Mbit/s +(slow|undecided) [12]' && ! says '^(fail|warn) (slow|undecided).*: node[013]' >/dev/null"
	shape C 1 8
	check "a filter" drop D rail0 match ip protocol 17 0xff
	CLASS=104
	check "an end that nothing reaches, and another class" found 7 "($(of no-reach 3 rail0)) and
		([.findings[] | select(.code == \"class\") | .ends] == [[{rank: 1, node: \"node1\"}]])"
	CLASS=
	undrop D rail0
	check "a filter of full packets" drop B rail1 match u16 0x0400 0xfc00 at 2
	check "a rail that is gone" ip netns exec D rdma link delete rxe41
	check "both are named" found 7 "($(of path-mtu 1 rail1)) and ($(of lacks-rail 3 rail1))"
}
check "the kernel's mode is shared" eval 'rdma system | grep -q "netns shared"'
case $KERNEL in
6.*) : ;;
*) pods ;;
esac

for i in "${PODS[@]}"; do ! ip netns list | grep -qw "$i" || ip netns del "$i"; done
for i in 0 1; do [ ! -d /sys/class/net/up$i ] || ip link del up$i; done
finish

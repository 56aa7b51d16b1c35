# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 50
# needs: dcbcard
# qos: `railctl rdma qos` on a driver with data center bridging (dcbcard/), read again with dcb(8) and ethtool(8): all
# of a profile, all or nothing, what is lost when the driver comes back, and `apply` killed at each request.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
W=/run/work
mkdir -p $W/qos.d
MODULE=$TREE/build/vm/dcbcard-$WANT_KERNEL/dcbcard.ko
insmod "$MODULE" && ip link set dcb0 up || { check "the module is loaded" false; finish; }
chmod 755 $W/qos.d

qos() { "$BIN/railctl" rdma qos "$@" >$W/out 2>$W/err || { cat $W/out $W/err; false; }; }
wrong() # WORDS ARGUMENT...: it fails and says so
{
	! "$BIN/railctl" rdma qos "${@:2}" >$W/out 2>$W/err && grep -q -- "$1" $W/out $W/err || { cat $W/out $W/err; false; }
}
shows() # FILTER: of what qos show --json says
{
	"$BIN/railctl" rdma qos show --pf dcb0 --json >$W/show && jq -e ".[0] | $1" $W/show >/dev/null || { cat $W/show; false; }
}
FRESH='.trust == "pcp" and .pfc == [] and .pfcStormTimeout == 0 and .dscp == {} and
	.priorityQueues == [0,1,2,3,4,5,6,7] and (.queueBandwidth | all(. == "vendor")) and .bufferBytes[0] == 262016'
PROFILE='{"pf":"dcb0","dscp":{"26":3,"48-49":6},"priorityQueues":[0,0,0,3,0,0,6,0],
	"queueBandwidth":[50,0,0,50,0,0,"strict",0],"priorityBuffers":[0,0,0,1,0,0,0,0],
	"bufferBytes":[100000,120000,0,0,0,0,0,0],"pfc":[3],"pfcStormTimeout":"auto"}'
SET='.trust == "dscp" and .pfc == [3] and .pfcStormTimeout == 100 and .dscp == {"26": "3", "48": "6", "49": "6"} and
	.priorityQueues == [0,0,0,3,0,0,6,0] and .queueBandwidth == [50,0,0,50,0,0,"strict",0] and
	.priorityBuffers == [0,0,0,1,0,0,0,0] and .bufferBytes == [99968,119936,0,0,0,0,0,0]'

check "a fresh card" shows "$FRESH"
echo "$PROFILE" >$W/qos.d/a.json
check "check finds that nothing is set" wrong 'differs a.json' check --dir $W/qos.d
check "which it did not change" shows "$FRESH"
check "apply" qos apply --dir $W/qos.d
check "all of it is set" shows "$SET"
check "check agrees" qos check --dir $W/qos.d
check "a second apply changes nothing" eval 'qos apply --dir $W/qos.d && grep -q left-alone $W/out'

# Witnesses that are not ours.
if command -v dcb >/dev/null; then
	check "dcb(8) sees the map" eval 'dcb -N app show dev dcb0 dscp-prio | grep -q "26:3"'
	check "dcb(8) sees flow control" eval 'dcb pfc show dev dcb0 prio-pfc | grep -q "3:on"'
	check "dcb(8) sees the queues" eval 'dcb ets show dev dcb0 prio-tc | grep -q "7:0" && dcb ets show dev dcb0 tc-bw | grep -q "3:50"'
	check "dcb(8) sees the buffers" eval 'dcb buffer show dev dcb0 | grep -q "3:1"'
fi
if command -v ethtool >/dev/null; then
	check "ethtool(8) sees the time" eval 'ethtool --get-tunable dcb0 pfc-prevention-tout | grep -q 100'
fi

check "a rule moves" qos set --pf dcb0 --dscp 26=5,10=1
check "and only these are left" shows '.dscp == {"10": "1", "26": "5"}'
check "pcp again" qos set --pf dcb0 --trust pcp
check "no rule is left" shows '.dscp == {} and .trust == "pcp"'
check "the eighths" qos set --pf dcb0 --trust dscp
check "each value has one" shows '.dscp | length == 64 and .["26"] == "3" and .["63"] == "7"'
check "apply after that" qos apply --dir $W/qos.d
check "all of it is set again" shows "$SET"

# A driver that comes back.
rmmod dcbcard && insmod "$MODULE"
check "the driver came back without it" shows "$FRESH"
check "check finds it" wrong 'pfc is none, and not 3' check --dir $W/qos.d
check "apply sets it again" qos apply --dir $W/qos.d
check "as it was" shows "$SET"

# All or nothing: a step that the driver refuses puts back all that came before. Buffers are the last one.
rmmod dcbcard && insmod "$MODULE" refuse=8
check "the driver refuses the time of pause storms" wrong 'pause storms of interface dcb0: Invalid argument' apply --dir $W/qos.d
check "nothing is set" shows "$FRESH"
echo 4 >/sys/module/dcbcard/parameters/refuse
check "the driver refuses the buffers" wrong 'set the buffers of interface dcb0: Invalid argument' apply --dir $W/qos.d
check "nothing is set then either" shows "$FRESH"
echo 0 >/sys/module/dcbcard/parameters/refuse
for what in 1:pfc 2:priorityQueues 4:priorityBuffers 8:pfcStormTimeout; do
	echo "${what%:*}" >/sys/module/dcbcard/parameters/ignore
	check "${what#*:}: acknowledged without effect" wrong "${what#*:} of dcb0: the driver said yes, but it is not so" apply --dir $W/qos.d
	check "${what#*:}: nothing is set" shows "$FRESH"
done
echo 0 >/sys/module/dcbcard/parameters/ignore

# A service that is restarted kills apply at any request. SIGKILL comes before the request, SIGTERM behind it. The next
# apply sets what is missing, and as it goes by what it sees, a card that is half set is not left so.
fresh_card() { rmmod dcbcard && insmod "$MODULE" "refuse=${1-0}"; }
killed_at() # SIGNAL N
{
	strace -f -qq -o $W/strace -e trace=sendto,sendmsg,ioctl -e "inject=sendto,sendmsg,ioctl:signal=$1:when=$2" \
		"$BIN/railctl" rdma qos apply --dir $W/qos.d >$W/out 2>$W/err
	grep -q "killed by $1" $W/strace
}
# each_request SIGNAL REFUSE LEAST: in LEAST of the runs or more, only a part was set when apply was killed. QUICK=1: each third request.
each_request()
{
	local n half=0 step=1
	[ -z "${QUICK-}" ] || step=3
	fresh_card "$2"
	for ((n = 1; ; n += step)); do
		killed_at "$1" $n || break
		echo 0 >/sys/module/dcbcard/parameters/refuse
		shows "$FRESH" >/dev/null || shows "$SET" >/dev/null || half=$((half + 1))
		qos apply --dir $W/qos.d && shows "$SET" && qos check --dir $W/qos.d || { echo "$1 at request $n" && return 1; }
		fresh_card "$2"
	done
	echo "# $1: the last of $n requests, $half times with a part set" >>$W/killed
	[ "$half" -ge $(($3 / step)) ] || { cat $W/killed && false; }
}
for signal in SIGTERM SIGKILL; do
	check "$signal at each request of apply: the next one sets all" each_request $signal 0 5
	check "$signal at each request of an apply that is undone: the next one sets all" each_request $signal 4 8
done
cat $W/killed
fresh_card
check "a time that the driver does not take" wrong 'Invalid argument' set --pf dcb0 --storm 79
check "the longest one" qos set --pf dcb0 --storm 8000
check "is there" shows '.pfcStormTimeout == 8000'
check "off" qos set --pf dcb0 --storm off
check "is off" shows '.pfcStormTimeout == 0'
rmmod dcbcard
finish

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# kill.sh: SIGKILL in place of a request to the kernel. Afterwards DEL, GC or repair, in turn, leaves the VF at its baseline.
# Every fourth request, with FULL=1 each, of ADD on one kernel and of DEL on the other. With QUICK=1, where there is one kernel
# only, every eighth of both. Every system call: suite faults.
pods a
SOME=$(on "$VA0" '"vlan":3,"trust":"on","mac":"02:00:00:00:08:01","mtu":1300')
batch "link property add dev $EA0 altname net1"
forget
remember
killed() # VERB N: true if it was
{
	TRACE="strace -f -o $W/trace -e trace=sendto -e inject=sendto:signal=KILL:when=$2" call "$1" a "$SOME" >/dev/null 2>&1
	[ $? = 137 ] || grep -q 'killed by SIGKILL' $W/trace
}
heal() # N
{
	case $(($1 % 3)) in
	0) del a "$SOME" ;;
	1) call GC "" "$(jq -c '. + {"cni.dev/valid-attachments": []}' <<<"$SOME")" "" ;;
	2) ip netns del a && "$RAILCTL" attachments repair && pods a ;;
	esac
}
# each_kill VERB BEFORE: BEFORE makes what VERB starts from.
each_kill()
{
	local i step=4
	[ -z "${QUICK-}" ] || step=8
	[ -z "${FULL-}" ] || step=1
	for ((i = 1; i < 100; i += step)); do
		$2
		killed "$1" $i || break
		check "$1 killed at request $i: cleaned up" heal $i
		check "$1 killed at request $i: as before" clean
	done
	check "$1 was killed often enough" test $i -gt 12
	del a "$SOME"
}
attached() { add a "$SOME"; }
[ -z "${QUICK-}" ] && [ "$WANT_KERNEL" != 6.12 ] || each_kill ADD true
[ -z "${QUICK-}" ] && [ "$WANT_KERNEL" = 6.12 ] || each_kill DEL attached
check "no VF is lost" clean
batch "link property del dev $EA0 altname net1"
forget
remember
no_pods a

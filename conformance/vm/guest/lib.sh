# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# lib.sh: what suites share. A suite sources it, makes checks, and ends with `finish`.
n=0 passed=0 failed=0

# check WHAT COMMAND...: one check; what the command printed is shown when it failed.
check()
{
	local what=$1 said
	shift
	n=$((n + 1))
	if said=$("$@" 2>&1); then
		passed=$((passed + 1))
		echo "ok $n - $what"
	else
		failed=$((failed + 1))
		echo "not ok $n - $what"
		printf '%s\n' "$*" "$said" | head -n 20 | sed 's/^/  # /'
	fi
}

finish()
{
	echo "$passed passed, $failed failed, 0 skipped"
	[ "$failed" = 0 ]
	exit
}

# eventually COMMAND...: wait until it succeeds. The event ends the wait, not the seconds: LAST_RESORT is how long the slowest
# machine may take, and only a wait that is in vain reaches it. check.sh knows such a failure by the words "not within".
LAST_RESORT=${LAST_RESORT:-300}
eventually()
{
	local end=$((SECONDS + LAST_RESORT)) said
	until said=$("$@" 2>&1); do
		[ $SECONDS -lt $end ] || {
			printf '%s\n' "not within $LAST_RESORT s: $*" "$said" >&2
			return 1
		}
		sleep 0.1
	done
}

# sleeping NAME PID: a program of that name sleeps in the kernel, by nanosleep or clock_nanosleep: it waits for something; or
# the process PID has ended.
sleeping()
{
	local p
	for p in $(pgrep -x "$1"); do
		! grep -qE '^(35|230) ' "/proc/$p/syscall" 2>/dev/null || return 0
	done
	! kill -0 "$2" 2>/dev/null
}
isnt() { ! "$@"; }
is() { [ "$1" = "$2" ] || { echo "'$1' is not '$2'" && false; }; }

# refused_in FILE CODE WORD COMMAND...: the command fails, and FILE then has an error object with that code that says the word.
refused_in()
{
	local file=$1 code=$2 word=$3
	shift 3
	! "$@" >/dev/null && jq -e --argjson code "$code" --arg word "$word" \
		'.code == $code and (.msg + " " + .details | contains($word))' "$file" >/dev/null || { cat "$file" && false; }
}

# devices [NETNS]: the names of the RDMA devices. numbers: the character device of each, on all of the machine.
devices() { ${1+ip netns exec "$1"} rdma -j dev | jq -r '[.[].ifname] | sort | join(" ")'; }
numbers() { grep -H . /sys/class/infiniband_verbs/uverbs*/ibdev | sed 's,.*/\(uverbs[0-9]*\)/ibdev:,\1 ,' | sort; }

# vfs PF COUNT: make VFs; pci PF N: the address of one; netdev BDF: the interface of one, in this netns.
vfs()
{
	echo 0 >"/sys/class/net/$1/device/sriov_numvfs" && echo "$2" >"/sys/class/net/$1/device/sriov_numvfs"
}
pci() { basename "$(readlink "/sys/class/net/$1/device/virtfn$2")"; }
netdev() { ls "/sys/bus/pci/devices/$1/net" 2>/dev/null; }
# has_netdev BDF: its interface is in this network namespace; is_elsewhere PID: the process is in another one.
has_netdev() { [ -n "$(netdev "$1")" ]; }
is_elsewhere() { [ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }

# vf PF N FILTER: from the PF's list of VFs, by a jq filter.
vf() { ip -j link show "$1" | jq -rc --argjson n "$2" ".[0].vfinfo_list[] | select(.vf == \$n) | $3"; }
# is_free CARD: the kernel has taken apart what pods that are gone had on it: it can be the parent of either kind. A
# macvlan of a namespace that something holds is seen nowhere else.
is_free()
{
	local type
	for type in macvlan ipvlan; do ip link add link "$1" name trial type $type && ip link del trial || return; done
}
carrier() { [ "$(ip ${2:+-n "$2"} -j link show "$1" | jq -r '.[0].operstate')" = UP ]; }

# Suites with `call`, `del`, `pods` and `clean` use these for pod a.
# killed CALLS VERB CONF N: SIGKILL in place of the Nth of these system calls. True if it was.
killed()
{
	TRACE="strace -f -o $W/trace -e trace=$1 -e inject=$1:signal=KILL:when=$4" call "$2" a "$3" >/dev/null 2>&1
	[ $? = 137 ] || grep -q 'killed by SIGKILL' $W/trace
}
# heal N CONF: what comes after the Nth kill: the runtime's DEL, its GC, or a repair after the namespace has gone.
heal()
{
	case $(($1 % 3)) in
	0) del a "$2" ;;
	1) call GC "" "$(jq -c '. + {"cni.dev/valid-attachments": []}' <<<"$2")" "" ;;
	2) ip netns del a && "$RAILCTL" attachments repair && pods a ;;
	esac
}
# each_kill CALLS VERB CONF BEFORE STEP LAST: at every STEPth, below LAST. BEFORE makes what VERB starts from.
each_kill()
{
	local i
	for ((i = 1; i < $6; i += $5)); do
		$4
		killed "$1" "$2" "$3" $i || break
		check "$2 killed at request $i: cleaned up" heal $i "$3"
		check "$2 killed at request $i: as before" clean
	done
	check "$2 was killed often enough" test $i -gt 12
	del a "$3"
}

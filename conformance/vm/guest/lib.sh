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

# within SECONDS COMMAND...: until it succeeds.
within()
{
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

isnt() { ! "$@"; }
is() { [ "$1" = "$2" ] || { echo "'$1' is not '$2'" && false; }; }

# vfs PF COUNT: make VFs; pci PF N: the address of one; netdev BDF: the interface of one, in this netns.
vfs()
{
	echo 0 >"/sys/class/net/$1/device/sriov_numvfs" && echo "$2" >"/sys/class/net/$1/device/sriov_numvfs"
}
pci() { basename "$(readlink "/sys/class/net/$1/device/virtfn$2")"; }
netdev() { ls "/sys/bus/pci/devices/$1/net" 2>/dev/null; }

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

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# pods.sh: looking at pods from outside, past the client that made them. Sourced by run.sh.

# in_ns NETNS COMMAND...: in a network namespace only, by its path.
in_ns()
{
	local ns=$1
	shift
	nsenter --net="$ns" -- "$@"
}
# addresses NETNS IFNAME [FAMILY]: without prefix lengths, one a line.
addresses()
{
	in_ns "$1" ip -j addr show dev "$2" 2>/dev/null |
		jq -r --arg f "${3-inet}" '.[0].addr_info[] | select(.scope != "link" and .family == $f) | .local'
}
link() { in_ns "$1" ip -j -d link show dev "$2" 2>/dev/null | jq -rc ".[0] | $3"; }

# attached NETNS IFNAME: a macvlan that is up, with an address that has a lease, and with the MTU of the
# chained plugin.
attached()
{
	local address
	eq "kind of $2" "$(link "$1" "$2" .linkinfo.info_kind)" macvlan
	has "flags of $2" "$(link "$1" "$2" .flags)" '"UP"'
	address=$(addresses "$1" "$2")
	like "address of $2" "$address" '10\.77\.0\.[0-9]+'
	leased "$address"
}
leases() { "$RAILCTL" ipam lease list --json | jq -r '.[].address'; }
leased() { leases | grep -qxF "$1" || fail "$1 is not leased; leased: $(leases | tr '\n' ' ')"; }
attachments() { "$RAILCTL" attachments list --json | jq -rc '.[] | [.network, .ifname, .state] | join(" ")' | sort; }

# reach NETNS ADDRESS: witness of its own, beside what the client's exec says.
reach()
{
	is "$2 must be reached" in_ns_ping "$1" "$2"
}
in_ns_ping() { in_ns "$1" busybox ping -c 1 -W 3 "$2"; }

# netns_of PID
netns_of() { echo "/proc/$1/ns/net"; }

# no_left_over: no record, no lease; the rest is seen when the case has ended.
no_left_over()
{
	eq "leases" "$(leases | tr '\n' ' ')" ''
	eq "records" "$(attachments)" ''
}

# gc [VALID]: what a runtime of CNI 1.1 does: the attachments that it knows of, as a JSON array.
gc()
{
	jq -c --argjson valid "${1-[]}" '. as $n | .plugins[0] + {name: $n.name, cniVersion: "1.1.0",
		"cni.dev/valid-attachments": $valid}' "$NETD/10-rail.conflist" |
		env -i "PATH=$PATH" CNI_COMMAND=GC CNI_PATH=/opt/cni/real /opt/cni/real/macvlan
}

# repair: the operator's command; afterwards it must report success.
repair() { is 'railctl attachments repair' "$RAILCTL" attachments repair; }

# hold PLUGIN VERB: from now on such a call does its work and then waits before it answers.
hold() { echo "$1 $2" >"$CALLS/hold"; }
held() { eventually test -e "$CALLS/held"; }
release() { rm -f "$CALLS/hold" "$CALLS/held"; }

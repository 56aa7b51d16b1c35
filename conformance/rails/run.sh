#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [--markdown] BINDIR [TOPOLOGY...]: by which rail packets leave: railhead, Spiderpool's coordinator and the reference sbr.
#
# TOPOLOGY is one, subnet or leaves. A capture on each wire shows by which rail requests and replies leave: for each pair of addresses, in
# both families, also after each link was lost and came back. All programs are the real ones, also the agent that the coordinator asks.
# PEERS=DIR (build/peers): with cni and spiderpool of ../cluster/programs/build.sh; CLUSTER=DIR (build/cluster): with kubernetes of it, of
# which the agent needs an API server; ENGINES=DIR (build/engines): with its etcd. HELPERS=DIR: the programs traffic and ping.
# --markdown: the tables of docs/rails.md. Exit status 0: every packet of railhead left by its rail, and without routing one did not.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

broken()
{
	echo "rails: $*" >&2
	exit 1
}

# shellcheck source=conformance/harness/suite.sh
. "$HERE/../harness/suite.sh"
into_sandbox "$@"
set -- "${ARGS[@]}"
MARKDOWN=''
[ "${1-}" != --markdown ] || { MARKDOWN=1 && shift; }
[ $# -ge 1 ] && [ -x "$1/macvlan" ] || usage
BIN=$(realpath "$1") PEERS=$(realpath "${PEERS:-build/peers}") KUBE=$(realpath "${CLUSTER:-build/cluster}/bin")
ENGINES=$(realpath "${ENGINES:-build/engines}")
export KUBE ENGINES
shift
HELPERS=$(realpath "${HELPERS:-$BIN/../conformance/attach}")
[ -x "$HELPERS/traffic" ] || broken "no traffic in $HELPERS: make helpers"
for program in "$PEERS"/bin/{cnitool,macvlan,static,sbr,coordinator,spiderpool-agent} "$KUBE"/{kube-apiserver,kubectl} "$ENGINES/etcd-3.5"; do
	[ -x "$program" ] || broken "no $program: make rails"
done
W=/run/work
# shellcheck source=conformance/harness/cases.sh
. "$HERE/../harness/cases.sh" || exit 2
# shellcheck source=conformance/rails/fabric.sh
. "$HERE/fabric.sh" || exit 2
# shellcheck source=conformance/rails/tools.sh
. "$HERE/tools.sh" || exit 2
# shellcheck source=conformance/rails/agent.sh
. "$HERE/agent.sh" || exit 2

# --- captures ------------------------------------------------------------------------------------

FARS='a-0 a-1 b-0 b-1'
listen()
{
	local far
	LISTENERS=()
	for far in $FARS; do
		: >"$W/on.$far"
		ip netns exec fabric "$HELPERS/traffic" "$far" >"$W/on.$far" 2>&1 &
		LISTENERS+=($!)
	done
	for far in $FARS; do eventually grep -q ready "$W/on.$far"; done
}
unlisten()
{
	kill "${LISTENERS[@]}"
	wait "${LISTENERS[@]}" 2>/dev/null
}

# rail_of ADDRESS: of which rail an address is
rail_of()
{
	local pod i family
	for pod in a b; do for i in 0 1; do for family in 4 6; do
		[ "$1" != "$(bare $family "$pod" "$i")" ] || { echo "$i" && return; }
	done; done; done
	echo none
}
# left POD "echo|reply FROM to TO": by which rails such a packet left the pod; FROM may be [^ ]*
left() { local i; for i in 0 1; do ! grep -q "^$2\$" "$W/on.$1-$i" || printf '%s ' "$i"; done; }
seen() { [ -n "$(left "$1" "$2")" ]; }

# judge FROM-POD SOURCE TO-POD TARGET ANSWERED: "own", or what went wrong
judge()
{
	local source=$2 request reply said=''
	[ -n "$source" ] || source=$(sed -n "s/^echo \([^ ]*\) to $4\$/\1/p" "$W/on.$1-0" "$W/on.$1-1" | head -n 1)
	request=$(left "$1" "echo $source to $4") reply=$(left "$3" "reply $4 to $source")
	if [ -z "$source" ] || [ -z "$request" ]; then
		said='request by no rail'
	elif [ "$request" != "$(rail_of "$source") " ]; then
		said="request by rail ${request% }"
	fi
	[ "$reply" = "$(rail_of "$4") " ] || [ -z "$reply" ] || said+="${said:+, }reply by rail ${reply% }"
	[ "$5" = 0 ] || said+="${said:+, }no answer"
	echo "${said:-own}"
}

# probe PHASE FAMILY FROM I|- TO J: one pair; - is a program that binds no address. A line of $W/verdicts.
probe()
{
	local source='' target answered
	target=$(bare "$2" "$5" "$6")
	[ "$4" = - ] || source=$(bare "$2" "$3" "$4")
	# shellcheck disable=SC2086 # no word, or one
	ip netns exec "$3" "$HELPERS/ping" "$target" $source >"$W/ping" 2>&1
	answered=$?
	# The capture has seen an answered packet, unless it took none of the rails.
	[ $answered != 0 ] || PATIENCE=1 eventually seen "$5" "reply $target to ${source:-[^ ]*}"
	echo "$TOPOLOGY|$USED|$1|$2|$3|$4|$5|$6|$(judge "$3" "$source" "$5" "$target" $answered)" >>"$W/verdicts"
}
partners() { [ "$TOPOLOGY" = leaves ] && echo "$1" || echo 0 1; }
bound() # PHASE
{
	local family pod other i j
	listen
	for family in 4 6; do for pod in a b; do
		[ $pod = a ] && other=b || other=a
		for i in 0 1; do for j in $(partners "$i"); do probe "$1" $family $pod "$i" $other "$j"; done; done
	done; done
	unlisten
}
unbound()
{
	local family pod other j
	listen
	for family in 4 6; do for pod in a b; do
		[ $pod = a ] && other=b || other=a
		for j in 0 1; do probe unbound $family $pod - $other "$j"; done
	done; done
	unlisten
}
# owners: who answers for an address of IPv4, on a switch that all rails share: its owner alone, or another rail, too
owners()
{
	local pod i mac good=0
	listen
	for pod in a b; do for i in 0 1; do
		ip -n fabric neigh flush dev spine
		ip netns exec fabric "$HELPERS/ping" "$(bare 4 $pod $i)" >"$W/ping" 2>&1
	done; done
	unlisten
	for pod in a b; do for i in 0 1; do
		mac=$(ip -n "$pod" -j link show "net$((i + 1))" | jq -r '.[0].address')
		[ "$(sed -n "s/^has $(bare 4 $pod $i) //p" "$W/on.$pod-0" "$W/on.$pod-1" | sort -u)" != "$mac" ] || good=$((good + 1))
	done; done
	echo "$TOPOLOGY|$USED|arp|4|||||$good of 4" >>"$W/verdicts"
}

# --- one tool in one topology --------------------------------------------------------------------

attach_all() # add|del
{
	local pod i
	for pod in a b; do for i in 0 1; do
		attach "$1" "$USED" $pod $i && continue
		echo "$TOPOLOGY|$USED|$1||$pod|$i|||$(tr -s ' \n' ' ' <"$W/cnitool" | cut -c1-300)" >>"$W/verdicts"
		return 1
	done; done
}
measure() # TOPOLOGY TOOL
{
	USED=$2
	fabric_begin "$1"
	if attach_all add; then
		for pod in a b; do for i in 0 1; do eventually up "$pod" "net$((i + 1))"; done; done
		bound before
		[ "$1" != one ] || owners
		unbound
		flap
		bound after
		attach_all del
	fi
	fabric_end
}

# --- tables --------------------------------------------------------------------------------------

# share PHASE FAMILY: how many of the pairs of this tool and topology were right
share()
{
	awk -F '|' -v t="$TOPOLOGY" -v u="$USED" -v p="$1" -v f="$2" '$1 == t && $2 == u && $3 == p && $4 == f {
		if (p == "arp") { print $9; said = 1; exit }
		n++; good += $9 == "own" } END { if (!said) print n ? good " of " n : "-" }' "$W/verdicts"
}
line() { [ -n "$MARKDOWN" ] && printf '| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n' "$@" || printf '%-16s %-12s %-8s %-8s %-8s %-8s %-8s %-8s %s\n' "$@"; }
table()
{
	line topology tool 'IPv4' 'IPv6' 'flap, v4' 'flap, v6' 'any, v4' 'any, v6' 'ARP'
	[ -z "$MARKDOWN" ] || line --- --- --- --- --- --- --- --- ---
	for TOPOLOGY in "${CHOSEN[@]}"; do for USED in $TOOLS; do
		line "${TITLE[$TOPOLOGY]}" "$USED" "$(share before 4)" "$(share before 6)" "$(share after 4)" "$(share after 6)" \
			"$(share unbound 4)" "$(share unbound 6)" "$(share arp 4)"
	done; done
}
# faults: what was not as it should be, equal lines once
faults()
{
	awk -F '|' '$3 != "arp" && $9 != "own" {
		what = $3 == "before" ? "" : $3 == "after" ? "after a flap, " : $3 == "unbound" ? "no address bound, " : $3 " failed: "
		key = $1 ", " $2 ": " what ($4 ? "IPv" $4 ": " : "") $9
		if (!n[key]++) order[++m] = key
		pairs[key] = pairs[key] " " $5 $6 ($7 ? ">" $7 $8 : "")
	} END { for (i = 1; i <= m; i++) print order[i] " (" substr(pairs[order[i]], 2) ")" }' "$W/verdicts"
}

: >"$W/verdicts"
CHOSEN=("$@")
# shellcheck disable=SC2206 # words
[ $# -gt 0 ] || CHOSEN=($TOPOLOGIES)
for topology in "${CHOSEN[@]}"; do [ -n "${TITLE[$topology]-}" ] || usage; done
agent_begin
for topology in "${CHOSEN[@]}"; do for tool in $TOOLS; do measure "$topology" "$tool"; done; done
agent_end
[ ! -s "$W/evidence" ] || sed 's/^/# /' "$W/evidence" >&2
table
echo
faults
wrong=$(awk -F '|' '$2 == "railhead" && $3 != "arp" && $9 != "own" || $2 == "railhead" && $3 == "arp" && $9 != "4 of 4"' "$W/verdicts" | wc -l)
# The test can see a wrong rail.
[[ " ${CHOSEN[*]} " != *' one '* ]] || grep -q '^one|none|.*request by rail' "$W/verdicts" || {
	echo "without routing every request left by its rail: the capture is wrong"
	wrong=$((wrong + 1))
}
right=$(grep -c '|railhead|.*|own$' "$W/verdicts")
echo "$right passed, $wrong failed, 0 skipped"
[ "$wrong" = 0 ] && [ "$right" != 0 ]

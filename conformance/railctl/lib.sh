# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# lib.sh: what the cases share. Sourced by run.sh inside the sandbox.
#
# A case is a function test_X: see ../harness/cases.sh.
# shellcheck disable=SC2034,SC2154

MASTER=mst0
FAKE=$W/fake

prepare()
{
	mkdir -p "$FAKE"
	ip link add "$MASTER" type veth peer name wire0 && ip link set "$MASTER" up || exit 2
	etc_of_ours # railctl writes the number of the node there
}

# Reset everything except the links; end the processes that a case left.
fresh()
{
	local ns
	for ns in $(ip netns list 2>/dev/null | cut -d' ' -f1); do
		ip netns pids "$ns" | xargs -r kill -KILL 2>/dev/null
		ip netns del "$ns"
	done
	no_fake_sys
	find $RUN $STATE /var/lib/cni -mindepth 1 -delete 2>/dev/null
	rm -rf "$W/nodes" "$W/other" /etc/railhead/node.json /etc/railhead/topo.json /etc/railhead/qos.d
	rm -rf "$W/evidence" "$W/skip" "${FAKE:?}"/* "$W"/*.fifo
}

need() # PROGRAM of BINDIR
{
	[ -x "$BIN/$1" ] || skip "$1 is not in $BIN"
}

# --- one call of railctl -----------------------------------------------------------------------

# r WORD...: run railctl. Sets RC, OUT, ERR.
r()
{
	timeout -s KILL 60 "$BIN/railctl" "$@" >"$W/out" 2>"$W/err"
	RC=$?
	OUT=$(<"$W/out")
	ERR=$(<"$W/err")
	LAST="railctl $*"
}

said() { printf '%s: exit %s, stdout: %.700s, stderr: %.500s' "$LAST" "$RC" "$OUT" "$ERR"; }

# ok WORD...: it must succeed and say nothing on stderr.
ok()
{
	r "$@"
	[ "$RC" = 0 ] && [ -z "$ERR" ] || fail "must succeed: $(said)"
}

# refused STATUS TEXT WORD...: it must end with STATUS, nothing on stdout, and one line on stderr that
# begins "railctl: " and contains TEXT.
refused()
{
	local status=$1 text=$2
	shift 2
	r "$@"
	[ "$RC" = "$status" ] || fail "must exit $status: $(said)"
	[ -z "$OUT" ] || fail "stdout must be empty: $(said)"
	[ "$(wc -l <"$W/err")" = 1 ] || fail "stderr must be one line: $(said)"
	[[ $ERR == "railctl: "* ]] || fail "stderr must begin with railctl: $(said)"
	[[ $ERR == *"$text"* ]] || fail "the error must say '$text': $(said)"
}

# They look at the last output; has and hasnt of other suites take a text.
has() { [[ $OUT == *"$1"* ]] || fail "output must have '$1': $(said)"; }
hasnt() { [[ $OUT != *"$1"* ]] || fail "output must not have '$1': $(said)"; }
# want FILTER: a jq test on the last output.
want() { jq -e "$1" "$W/out" >/dev/null 2>&1 || fail "not ($1): $(said)"; }

# terminal COLUMNS WORD...: the same on a terminal. OUT keeps escape sequences, RC the status.
terminal()
{
	local columns=$1
	shift
	TERM=xterm script -qec "stty cols $columns rows 24; $(printf '%q ' "$BIN/railctl" "$@")" /dev/null \
		</dev/null >"$W/out" 2>&1
	RC=$?
	OUT=$(tr -d '\r' <"$W/out")
	ERR=
	LAST="railctl $* (on a terminal)"
}

# Longest line of OUT, without colours.
longest() { sed 's/\x1b\[[0-9;]*m//g' <<<"$OUT" | awk '{ n = length($0); if (n > m) m = n } END { print m + 0 }'; }

# --- attachments -------------------------------------------------------------------------------

# A fake IPAM: each call appends its verb and container to NAME.log and leaves stdin and environment in
# NAME.VERB.stdin, NAME.VERB.env; then the script on stdin runs.
fake()
{
	{
		echo '#!/bin/bash'
		echo "log=$FAKE/$1"
		# shellcheck disable=SC2016
		echo 'echo "$CNI_COMMAND $CNI_CONTAINERID $CNI_IFNAME" >>"$log.log"
			cat >"$log.$CNI_COMMAND.stdin"; env >"$log.$CNI_COMMAND.env"
			[ "$CNI_COMMAND" != ADD ] ||
			echo "{\"cniVersion\":\"1.0.0\",\"ips\":[{\"address\":\"10.9.0.5/24\"}]}"'
		cat
	} >"$FAKE/$1"
	chmod +x "$FAKE/$1"
}
fake_log() { tr '\n' ';' <"$FAKE/$1.log" 2>/dev/null; }

# attach NETWORK CONTAINER POD [IPAM-JSON]: a macvlan interface net1 in POD, which is made if need be.
attach()
{
	ip netns list | grep -qw "$3" || ip netns add "$3"
	jq -n --arg n "$1" --arg m "$MASTER" --argjson i "${4:-null}" \
		'{cniVersion:"1.0.0",name:$n,type:"macvlan",master:$m} + if $i then {ipam:$i} else {} end' \
		>"$W/conf.$1"
	plugin ADD "$1" "$2" "$3" >"$W/add.out" 2>&1 || fail "test error: ADD: $(<"$W/add.out")"
}

plugin() # VERB NETWORK CONTAINER POD
{
	CNI_COMMAND=$1 CNI_CONTAINERID=$3 CNI_NETNS=/run/netns/$4 CNI_IFNAME=net1 CNI_PATH=$FAKE:$BIN \
		CNI_ARGS="${CARGS-K8S_POD_NAMESPACE=team-a;K8S_POD_NAME=$3}" "$BIN/macvlan" <"$W/conf.$2"
}

record() { echo "$RUN/attachments/$1/$2,net1"; }
# rewrite FILE FILTER: change a JSON file.
rewrite() { jq -c "$2" "$1" >"$W/rewritten" && cp "$W/rewritten" "$1"; }
# is_state CONTAINER STATE
is_state()
{
	ok attachments list --json
	eq "state of $1" "$(jq -r --arg c "$1" '.[]|select(.container==$c).state' "$W/out")" "$2"
}

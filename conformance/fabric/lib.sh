# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# lib.sh: what the cases share. Sourced by run.sh inside the sandbox.
#
# A case is a function test_X: see ../harness/cases.sh.
# shellcheck disable=SC2034,SC2154

HOOKS=/etc/railhead/sm.d
QUEUE=/var/lib/railhead/sm

prepare()
{
	etc_of_ours && mkdir $HOOKS || exit 2
	# Programs must be in folders of root alone; the tree may be a user's.
	mkdir -p "$W/bin" && cp "$BIN"/sm-* "$W/bin" || exit 2
}

fresh()
{
	local pid
	for pid in $(cat "$W"/*.pid 2>/dev/null); do kill -KILL "$pid" 2>/dev/null; done
	rm -rf "$W/evidence" "$W/skip" "$W"/*.pid "$W"/ufm* "$W/sim" "${QUEUE:?}" "${HOOKS:?}"/* /etc/railhead/*.json
}

# message ACTION PKEY MEMBERSHIP GUID [CONTAINER]
message()
{
	jq -cn --arg a "$1" --arg p "$2" --arg m "$3" --arg g "$4" --arg c "${5-id-1}" --arg n "$(uname -n)" '{version: 1, action: $a, pkey: $p, membership: $m,
		guids: [$g], node: $n, who: {network: "ib0", container: $c, ifname: "net1", podNamespace: "demo", podName: "pod"}}'
}

# hook PROGRAM ARGUMENT-OF-message...: run it with that message. Sets RC; ERR is what it printed.
hook()
{
	message "${@:2}" | timeout -s KILL 60 "$W/bin/$1" >"$W/hook.out" 2>&1
	RC=${PIPESTATUS[1]}
	ERR=$(<"$W/hook.out")
}
works() # as hook; it must succeed, and print nothing
{
	hook "$@"
	[ "$RC" = 0 ] && [ -z "$ERR" ] || fail "$*: exit $RC: $ERR"
}
refuses() # TEXT, then as hook; it must fail with one line that has TEXT
{
	hook "${@:2}"
	[ "$RC" = 1 ] && [[ $ERR == "$2: "*"$1"* ]] && [ "$(wc -l <"$W/hook.out")" = 1 ] || fail "${*:2}: '$1' is not in the error: exit $RC: $ERR"
}

# queued GUID [CONTAINER]: a removal from partition 1, as a DEL leaves it whose hook failed.
queued()
{
	mkdir -p "$QUEUE"
	jq -n --arg g "$1" --arg c "${2-id-1}" '{version: 1, state: "leaving", pkey: "0x8001", guid: $g, since: 1700000000000,
		who: {network: "ib0", container: $c, ifname: "net1", podNamespace: "demo", podName: "pod"}}' >"$QUEUE/0001-${1//:/}"
}

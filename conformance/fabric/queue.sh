# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# queue.sh: railctl rdma partitions: removals that failed are repeated.
# shellcheck disable=SC2154

# r WORD...: railctl rdma partitions. Sets RC, OUT, ERR.
r()
{
	timeout -s KILL 90 "$BIN/railctl" rdma partitions "$@" >"$W/out" 2>"$W/err"
	RC=$?
	OUT=$(<"$W/out")
	ERR=$(<"$W/err")
}
gives() # STATUS TEXT WORD...
{
	r "${@:3}"
	[ "$RC" = "$1" ] && [[ $OUT$ERR == *"$2"* ]] || fail "${*:3}: exit $RC: $OUT$ERR"
}
script() { printf '#!/bin/sh\n%s\n' "$2" >"$HOOKS/$1" && chmod 755 "$HOOKS/$1"; }

test_queue_is_empty_without_a_hook()
{
	gives 0 'No pod of this node has a partition' show
	gives 0 'No removal is queued' retry
	r show --json
	eq "as JSON" "$OUT" '[]'
	[ ! -e "$QUEUE" ] || fail "it made the folder"
}

test_queue_is_shown_and_retried()
{
	queued 02:00:00:00:00:00:0a:01
	script 10-x 'cat >/run/work/got; echo away >&2; exit 4'
	gives 1 'not removed: 02:00:00:00:00:00:0a:01, partition 0x8001, of demo/pod: ' retry
	has "the words of the hook" "$OUT" '10-x failed with exit status 4: away'
	has "what is left" "$OUT" '1 left'
	eq "the message" "$(jq -c '[.action, .pkey, .guids[0], .who.container]' "$W/got")" '["remove","0x8001","02:00:00:00:00:00:0a:01","id-1"]'
	r show --json
	is "the list" jq -e '.[0] | .state == "leaving" and .tries == 1 and (.error | contains("away")) and .podName == "pod"' "$W/out"
	gives 0 leaving show
	script 10-x 'cat >/dev/null'
	r retry --json
	eq "the result" "$(jq -c '[.[] | [.action, .guid]]' "$W/out")" '[["removed","02:00:00:00:00:00:0a:01"]]'
	gives 0 'No pod of this node' show
}

# A hook gets no descriptors of the caller.
test_queue_gives_the_hook_no_descriptors_of_the_caller()
{
	queued 02:00:00:00:00:00:0a:01
	# shellcheck disable=SC2016
	script 10-x 'ls /proc/$$/fd >/run/work/fds; cat >/dev/null'
	gives 0 'removed ' retry 7</etc/passwd 200</etc/passwd
	eq "descriptors" "$(grep -vx "1[0-9]" "$W/fds" | xargs)" "0 1 2"
}

test_queue_is_kept_without_a_hook_and_dropped_by_a_person()
{
	queued 02:00:00:00:00:00:0a:01
	gives 1 'there is no hook in /etc/railhead/sm.d' retry
	gives 2 'is not a GUID' forget 0x8001 x
	gives 2 'is not a partition key' forget 0 02:00:00:00:00:00:0a:01
	gives 1 'nothing is queued' forget 0x8001 02:00:00:00:00:00:0a:02
	gives 0 forgotten forget 0x8001 02:00:00:00:00:00:0a:01
	gives 1 'nothing is queued' forget 0x8001 02:00:00:00:00:00:0a:01
}

test_queue_goes_through_the_real_opensm()
{
	fabric
	ln -s "$W/bin/sm-opensm" $HOOKS/10-opensm
	works sm-opensm add 0x8001 full $ONE
	has_table Hca2 0x8001
	queued $ONE
	gives 0 removed retry
	has_table Hca2 ''
}

test_queue_goes_through_UFM_when_it_is_back()
{
	ufm
	ln -s "$W/bin/sm-ufm" $HOOKS/10-ufm
	works sm-ufm add 0x8001 full 02:00:00:00:00:00:0a:01
	queued 02:00:00:00:00:00:0a:01
	mode fail
	gives 1 'UFM answered with status 500' retry
	mode ok
	gives 0 removed retry
	members_are '{"0x1":{}}'
}

test_queue_does_not_run_what_others_may_change()
{
	queued 02:00:00:00:00:00:0a:01
	script 10-x 'cat >/run/work/got'
	rm -f "$W/got"
	chmod g+w $HOOKS/10-x
	gives 1 'may be written by others than root' retry
	chmod 755 $HOOKS/10-x
	mkdir -p /tmp/railhead-hooks.$$ && cp $HOOKS/10-x /tmp/railhead-hooks.$$/x && ln -sf /tmp/railhead-hooks.$$/x $HOOKS/10-x
	gives 1 'others than root may write' retry
	rm -rf /tmp/railhead-hooks.$$
	[ ! -e "$W/got" ] || fail "it ran"
}

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# etcd.sh WORD [MEMBER]: what a test of the contract does to etcd. run.sh starts it in a sandbox and sets W, its folder.
#
# Words: start, stop, cont, kill, end (SIGTERM), compact; save, restore: a copy of the data, and back to it; fill, empty: the alarm NOSPACE;
# invalidate: the tokens of the user; foreign: keys that are not ours. full, room: the real quota: etcd starts again with room for one more
# MiB, and this room is filled; and the way out that etcd documents. size, stuff: parts of full, for an etcd that something else starts.
# spawn is start without waiting, ready the waiting. MEMBER is the number of one of several.
# $W/command has the command line of etcd, $W/url its address, $W/curl the options to reach it; of a member $W/command.MEMBER and so on.
set -u
# shellcheck source=conformance/cluster-store/halt.sh
. "$(dirname "${BASH_SOURCE[0]}")/halt.sh" || exit 2
M=${2:+.$2}

pid() { cat "$W/pid$M"; }

ask() # PATH BODY: an answer of the gateway; as root where there are users
{
	local token=()
	[ ! -e "$W/root" ] || token=(-H "Authorization: $(curl -sf "${CURL[@]}" "$URL/v3/auth/authenticate" \
		-d '{"name":"root","password":"root"}' | jq -r .token)")
	curl -sf "${CURL[@]}" "${token[@]}" "$URL$1" -d "$2"
}

ready()
{
	local end=$((SECONDS + 60))
	while [ $SECONDS -lt $end ]; do
		[ -d "/proc/$(pid)" ] || break
		curl -sf "${CURL[@]}" --max-time 2 "$URL/health" 2>/dev/null | grep -q '"health":"true"' && return 0
		sleep 0.05
	done
	echo "etcd.sh: etcd has ended, or is not ready within 60 s" >&2
	tail -n 5 "$W/log$M" >&2
	return 1
}

# ports_are_free COMMAND...: nobody listens where this etcd will: one that was killed a moment ago may. At most ten seconds: etcd then says why.
ports_are_free()
{
	local end=$((SECONDS + 10)) word before='' host
	for word; do
		host=${word#*://}
		while [[ $before == --listen-*-urls ]] && [ $SECONDS -lt $end ] && (exec 3<>"/dev/tcp/${host/://}") 2>/dev/null; do sleep 0.01; done
		before=$word
	done
}

spawn() # [OPTION...]
{
	local command
	mapfile -t command <"$W/command$M"
	ports_are_free "${command[@]}"
	setsid "${command[@]}" "$@" >>"$W/log$M" 2>&1 </dev/null 9>&- &
	echo $! >"$W/pid$M"
}

start() { spawn && ready; }

# gone [SIGNAL]: until the process has ended; it is a child of the sandbox's first process. Its first thread may be a zombie while
# others still hold the sockets.
gone()
{
	kill "-${1:-KILL}" "$(pid)"
	while [ -d "/proc/$(pid)" ] && ! is_zombie "$(pid)"; do sleep 0.01; done
}
is_zombie()
{
	local threads=("/proc/$1/task"/*)
	[ ${#threads[@]} = 1 ] && grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

compact()
{
	local revision
	revision=$(ask /v3/kv/range '{"key":"AA==","count_only":true}' | jq -r .header.revision)
	ask /v3/kv/compaction "{\"revision\":\"$revision\",\"physical\":true}" >/dev/null
}

alarm() # ACTION
{
	local member
	member=$(ask /v3/maintenance/status '{}' | jq -r .header.member_id)
	ask /v3/maintenance/alarm "{\"action\":\"$1\",\"memberID\":\"$member\",\"alarm\":\"NOSPACE\"}" >/dev/null
}

# The quota for one more MiB.
size() { echo $(($(ask /v3/maintenance/status '{}' | jq -r .dbSize) + 1048576)); }

# stuff: until etcd has no room left
stuff()
{
	local value i
	value=$(head -c 60000 /dev/zero | base64 -w0)
	for ((i = 0; i < 100; i++)); do
		ask /v3/kv/put "{\"key\":\"$(printf 'stuff-%d' $i | base64)\",\"value\":\"$value\"}" >/dev/null || return 0
	done
	echo "etcd.sh: etcd is not full" >&2
	return 1
}
full()
{
	local quota
	quota=$(size) && gone && spawn --quota-backend-bytes "$quota" && ready && stuff
}
room()
{
	ask /v3/kv/deleterange "{\"key\":\"$(printf stuff- | base64)\",\"range_end\":\"$(printf stuff. | base64)\"}" >/dev/null && compact &&
		ask /v3/maintenance/defragment '{}' >/dev/null && alarm DEACTIVATE
}

mapfile -t CURL <"$W/curl"
URL=$(<"$W/url$M")
case $1 in
start | spawn | ready | full | room | size | stuff) "$1" ;;
stop) halt "$(pid)" ;;
cont) kill -CONT "$(pid)" && ready ;;
kill) gone KILL ;;
end) gone TERM ;;
compact) compact ;;
save)
	gone && rm -rf "$W/saved" && cp -a "$W/data" "$W/saved" && start
	;;
restore)
	gone && rm -rf "$W/data" && cp -a "$W/saved" "$W/data" && start
	;;
fill) alarm ACTIVATE ;;
empty) alarm DEACTIVATE ;;
foreign) # a short key, and one that is longer than any of ours
	for key in foreign-b "foreign-c$(printf '%0900d' 0)"; do
		ask /v3/kv/put "{\"key\":\"$(printf /contract/nodes/%s "$key" | base64 -w0)\",\"value\":\"eA==\"}" >/dev/null || exit
	done
	;;
invalidate) ask /v3/auth/user/changepw '{"name":"agent","password":"secret \"1\""}' >/dev/null ;;
*)
	echo "etcd.sh: no such word: $1" >&2
	exit 2
	;;
esac

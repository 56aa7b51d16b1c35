#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BINDIR: cni-conformance against the plugins in BINDIR and the reference plugins.
#
# First its selftest: each item against plugins that break it, all of which must be caught. Then ours:
# every item that applies must pass. Then the reference plugins of PEER_DIR, whose failures are only
# told. The last line counts the selftest and ours: "N passed, N failed, N skipped". Rules that do not apply to a plugin are
# counted apart from what cannot run on this machine, which is one skip a reason.
# PROGRAM: the built cni-conformance; VERBOSE=1: every item; JOBS: items beside each other (4).
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] && [ -d "$1" ] || {
	sed -n '3,9s/^# //p' "$0" >&2
	exit 2
}
BIN=$(cd "$1" && pwd)
PROGRAM=${PROGRAM:-$BIN/../conformance/spec/cni-conformance}
PEER_DIR=${PEER_DIR:-/usr/lib/cni}
[ "$(id -u)" = 0 ] || {
	echo "run.sh: needs root: each item runs in namespaces of its own" >&2
	exit 2
}

passed=0 failed=0 skipped=0 elsewhere=0
# Rules that do not apply to such a plugin, or that its calls cannot show.
NO_RULE='for plugins of the kind|for IPAMs with|a duty of the runtime|the profile does not say|this kind of link|needs failing system calls'
out=$(mktemp) slow=$(mktemp)
trap 'rm -f "$out" "$slow"' EXIT

# What of a run is shown: all, or what is not as it should be.
show()
{
	if [ -n "${VERBOSE-}" ]; then cat "$out"; else
		sed -n '1p; /^\(FAIL\|MISSED\|deviates\) /{p; n; /^ /p}' "$out" | cut -c1-400
	fi
	tail -n 1 "$out"
}

run() # COUNTED PLUGIN PROFILE [ARGUMENT...]
{
	local counted=$1 plugin=$2 profile=$3 p f s
	shift 3
	"$PROGRAM" --plugin "$plugin" --profile "$HERE/profiles/$profile.json" --jobs "${JOBS:-4}" "$@" >"$out" 2>&1
	local rc=$?
	show
	read -r p f s < <(sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$out")
	if [ -z "${s-}" ]; then
		echo "not ok: $PROGRAM ended with $rc for $profile:"
		tail -n 5 "$out"
		p=0 f=1 s=0
	fi
	[ "$counted" = yes ] || return 0
	passed=$((passed + p)) failed=$((failed + f)) elsewhere=$((elsewhere + s))
	cannot_run "${plugin##*/}"
}
cannot_run() # NAME: what this machine keeps from running, a line a reason
{
	local count reason where
	while read -r count reason; do
		where=
		[[ $reason != *"no ipvlan"* ]] || where='; suite ipvlan of conformance/vm has those that say most of it (make check-vm), with FULL=1 all'
		echo "ok - $count rules for $1 # SKIP $reason$where"
		skipped=$((skipped + 1)) elsewhere=$((elsewhere - count))
	done < <(awk -v no_rule="$NO_RULE" '/^ / && was && $0 !~ no_rule; { was = /^n\/a / }' "$out" | sort | uniq -c)
}

# limit SLOWER CONDITION: of the report on a plugin that takes a second to answer VERSION. The limit of a call is 15 s.
limit()
{
	"$PROGRAM" --plugin "$slow" --profile "$HERE/profiles/meta.json" --items CNI-023 --format json --slower "$1" >"$out" 2>&1
	if jq -e "$2" "$out" >/dev/null; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "not ok: --slower $1: not $2"
		cat "$out"
	fi
}
limits()
{
	printf '#!/bin/sh\nsleep 1\necho '\''{"cniVersion":"1.1.0","supportedVersions":["1.1.0"]}'\''\n' >"$slow"
	chmod 755 "$slow"
	limit 1 '.verdict == "pass"'
	limit 0.02 '.verdict == "FAIL" and (.note | startswith("cni-conformance killed the call after 0.3 s"))'
}

echo "# Selftest: plugins that break one rule each"
run yes "$BIN/macvlan" railhead-macvlan --selftest
run yes "$BIN/railhead-ipam" railhead-ipam --selftest
run yes @meta meta --selftest --items CNI-030,CNI-127
echo "# Limits of time"
limits
echo "# railhead"
run yes "$BIN/macvlan" railhead-macvlan
run yes "$BIN/ipvlan" railhead-ipvlan
run yes "$BIN/railhead-ipam" railhead-ipam
run yes @meta meta --items CNI-030,CNI-127
echo "# The reference plugins: for information, not counted"
for name in macvlan host-local static tuning; do
	[ -x "$PEER_DIR/$name" ] && run no "$PEER_DIR/$name" "reference-$name"
done
echo "$elsewhere rules are for other kinds of plugins, for runtimes, or for conformance/faults"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]

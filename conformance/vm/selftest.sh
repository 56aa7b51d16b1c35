#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# selftest.sh BINDIR: what goes wrong in a guest, or with it, is a failure, and a killed run leaves nothing.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BIN=$(realpath "${1:?usage: selftest.sh BINDIR}")
W=$(mktemp -d)
# A short limit: these suites wait for events that never come.
export LAST_RESORT=30
trap 'rm -rf "$W"' EXIT
# shellcheck source=conformance/vm/guest/lib.sh
. "$HERE/guest/lib.sh"

suite() { printf "%s\n" "${@:2}" >"$W/$1"; }
vm() # SECONDS SUITE...: RC, and what it said in $W/said
{
	local limit=$1
	shift
	rm -f "$W/verdicts"
	# shellcheck disable=SC2086 # words
	AGAIN=1 "$HERE/run" --bin "$BIN" --limit "$limit" ${SILENCE-} --verdicts "$W/verdicts" "${@/#/$W/}" >"$W/said" 2>&1
	RC=$?
}
# verdict NAME PATTERN: of that suite: passed, failed, why it may be repeated.
verdict() { grep -qxE "$1 $2" "$W/verdicts" || { cat "$W/verdicts" && false; }; }
said() { grep -qE "$1" "$W/said" || { cat "$W/said" && false; }; }
closing() { is "$(tail -n 1 "$W/said")" "$1"; }
processes() { pgrep -f "qemu-system.*$MARK" >/dev/null; }

suite good.sh 'echo "ok 1 - x"' 'echo file >$OUT/left' 'echo "2 passed, 0 failed, 0 skipped"'
suite skips.sh 'echo "1 passed, 0 failed, 1 skipped"'
suite fails.sh 'echo "1 passed, 2 failed, 0 skipped"' 'exit 1'
suite silent.sh 'exit 3'
suite panics.sh 'echo "1 passed, 0 failed, 0 skipped"' 'echo c >/proc/sysrq-trigger' 'sleep 100'
suite leaves.sh 'ip netns add x' 'ip netns exec x sleep 1000 &' 'until ip netns pids x | grep -q .; do :; done; ip netns del x' 'echo "1 passed, 0 failed, 0 skipped"'
suite waits.sh '. conformance/vm/guest/lib.sh' 'check "good" true' 'LAST_RESORT=2 check "an event" eventually false' 'check "bad" false' 'finish'
suite waits-later.sh '. conformance/vm/guest/lib.sh' 'check "bad" false' 'LAST_RESORT=2 check "an event" eventually false' 'finish'
suite hangs.sh 'echo "1 passed, 0 failed, 0 skipped"' 'sleep 1000'

# Relative paths are those of the caller.
mkdir "$W/rel" && cp "$W/good.sh" "$W/rel" && cp "$HERE/topologies/pair.topo" "$W/rel"
(cd "$W" && "$HERE/run" --bin "$BIN" --topology rel/pair.topo --out out rel/good.sh) >"$W/said" 2>&1
RC=$?
check "a good suite is good" is "$RC" 0
check "its sum is told" closing '2 passed, 0 failed, 0 skipped'
check "what it leaves in \$OUT comes back" is "$(cat "$W/out/left")" file
vm 200 good.sh skips.sh fails.sh silent.sh waits.sh waits-later.sh
check "failures and skips make it a failure" is "$RC" 1
check "they are added up" closing '5 passed, 8 failed, 0 skipped'
check "a good suite has a good verdict" verdict good '2 0 '
check "a suite that failed may not be repeated" verdict fails '1 2 '
check "nor one that ended badly" verdict silent '0 1 '
check "one that waited in vain may" verdict waits '1 2 not within 2 s: false'
check "but not when it failed before" verdict waits-later '0 2 '
check "a skip is named" said '1 skipped: in the guest a skip is a failure'
check "a suite that ends badly is named" said 'suite silent ended with 3'
vm 400 leaves.sh good.sh
check "a process in a namespace that was deleted is a failure" is "$RC" 1
check "it is shown" said '# *[0-9]+ +[0-9]+ sleep 1000$'
check "it counts" closing '3 passed, 1 failed, 0 skipped'
vm 200 panics.sh good.sh
check "a panic is a failure" is "$RC" 1
check "the suite that it broke is named" said 'suite panics did not end'
check "it may be repeated" verdict panics '1 1 vm: suite panics did not end'
check "so may the one that did not begin" verdict good '0 1 vm: suite good did not end'
check "and the console shown" said 'Kernel panic'
vm 40 hangs.sh
check "a suite that hangs is a failure" is "$RC" 1
check "it is stopped in time" said 'stopped after 40 s'
SILENCE='--silence 30' vm 600 hangs.sh
check "a guest that prints nothing is a failure" is "$RC" 1
check "it is stopped, too" said 'the guest printed nothing for 30 s'
check "its suite may be repeated" verdict hangs '1 1 vm: suite hangs did not end'

for topology in pair iommu; do
	"$HERE/run" --bin "$BIN" --topology $topology --limit 1800 "$HERE/suites/sriov/selftest.sh" >"$W/said" 2>&1
	RC=$?
	check "suite $([ $topology = pair ] && echo sriov || echo vfio) catches each wrong plugin" \
		eval '[ $RC = 0 ] || { cat "$W/said" && false; }'
done

"$HERE/run" --kernel 7.2 --bin "$BIN" --limit 1800 "$HERE/suites/ib-faults/selftest.sh" >"$W/said" 2>&1
RC=$?
check "suite ib-faults catches each wrong plugin" eval '[ $RC = 0 ] || { cat "$W/said" && false; }'

# Builds of the plugin rdma with one mistake each. mutant NAME FILE SED: that change of a copy of the sources.
MUTANTS=$W/mutants TREE=$(cd "$HERE/../.." && pwd)
mkdir -p "$MUTANTS/src/build" "$MUTANTS/bin"
tar -C "$TREE" --exclude=./build --exclude=./.git -cf - . | tar -C "$MUTANTS/src" -xf -
cp -r "$TREE/build/cjson" "$TREE"/build/config-*.mk "$MUTANTS/src/build"
cp -r "$BIN/." "$MUTANTS/bin" && cp -r "$BIN/../conformance" "$MUTANTS" && mkdir "$MUTANTS/bin/mutants"
mutant()
{
	local file=$MUTANTS/src/$2 rc
	cp "$file" "$W/kept" && sed -i "$3" "$file"
	! cmp "$file" "$W/kept" 2>/dev/null || { echo "$2 is as before" && return 1; }
	make -C "$MUTANTS/src" build/bin/rdma && cp "$MUTANTS/src/build/bin/rdma" "$MUTANTS/bin/mutants/rdma.$1"
	rc=$?
	cp "$W/kept" "$file"
	return $rc
}
check "a build that takes the first device" mutant first-device rdma/device/netdev.c \
	's/link.ifindex == p->ifindex) {/link.ifindex) {/; s/guid_of_mac(\(.*\)) == link->node_guid/guid_of_mac(\1)/'
check "a build that does not wait for GIDs" mutant no-wait plugins/rdma/shared.c 's/, deadline_ms, &look/, 0, \&look/'
"$HERE/run" --kernel 7.2 --bin "$MUTANTS/bin" --limit 1800 "$HERE/suites/rdma/selftest.sh" >"$W/said" 2>&1
RC=$?
check "suite rdma catches each wrong build" eval '[ $RC = 0 ] || { cat "$W/said" && false; }'

# The command line of our QEMU has the name of its card.
MARK=selftest$$
printf 'port rp0\nnic %s on rp0 mac 52:54:00:00:01:00\n' "$MARK" >"$W/$MARK.topo"
setsid "$HERE/run" --bin "$BIN" --topology "$W/$MARK.topo" "$W/hangs.sh" >"$W/said" 2>&1 &
RUN=$!
check "a run begins" eventually processes
before=$(find "$HERE/../../build/vm" -maxdepth 1 | sort)
kill -KILL "$RUN"
wait "$RUN" 2>/dev/null
check "killed, it leaves no process" eventually isnt processes
check "and no file" is "$(find "$HERE/../../build/vm" -maxdepth 1 | sort)" "$before"
printf 'gpu g on nothing\n' >"$W/bad.topo"
"$HERE/run" --bin "$BIN" --topology "$W/bad.topo" "$W/good.sh" >"$W/said" 2>&1
RC=$?
check "a mistake in a topology is told" said "bad.topo:1: 'on nothing' is none of: port down"
check "and ends it" is "$RC" 2
"$HERE/run" --bin "$BIN" nosuch >"$W/said" 2>&1
check "an unknown suite is told" said 'no suite nosuch; there are: .* boot '
finish

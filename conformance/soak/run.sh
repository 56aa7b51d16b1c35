#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [--cycles N] [--seed N] [--kill PERMILLE] [--heal SECONDS [--repair JSON]] BINDIR: attachments come and go, 32 at a
# time, some of their runs killed; then nothing may be left.
#
# It runs in namespaces of its own. Without --seed or SOAK_SEED the time is the seed. The seed is printed. Equal seeds make
# equal choices: which run to kill, when, and what the runtime does then. The scheduler decides how far a killed
# run has come. HELPERS=DIR: where the driver was built, else it is compiled.
# --heal: no GC is called. A railheadd beside must have repaired everything SECONDS after the last run. --repair: its key "repair".
# TABLES=FILE: write the figures to the file as well; a release contains them.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# shellcheck source=conformance/harness/suite.sh
. "$HERE/../harness/suite.sh"
into_sandbox "$@"
CYCLES=50000 KILL=200 SEED=${SOAK_SEED:-$((RANDOM * 32768 + RANDOM))}
HEAL=0 REPAIR='{"every":60,"grace":30}'
take_options "cycles seed kill heal repair" "${ARGS[@]}"
set -- "${ARGS[@]}"
[ $# = 1 ] && [ -d "$1" ] || usage
BIN=$(cd "$1" && pwd)
W=/run/work

# A copy: a build meanwhile must not pull the programs away.
mkdir "$W/bin" && cp "$BIN"/* "$W/bin/" || exit 2
if [ -n "${HELPERS-}" ]; then
	cp "$HELPERS/soak" "$W/soak" || exit 2
else
	"${CC:-cc}" -D_GNU_SOURCE -I"$HERE/../.." -O2 -static -o "$W/soak" "$HERE"/*.c "$HERE"/../harness/*.c || exit 2
fi
{
	ip link add mst0 type veth peer name wire0 &&
		ip link set mst0 up && ip link set wire0 up &&
		"$W/bin/railctl" ipam pool add soak4 --subnet 10.77.0.0/24 --this-node-only &&
		"$W/bin/railctl" ipam pool add soak6 --subnet fd00:77::/64 --range fd00:77::10-fd00:77::ff
} >&2 || exit 2
printf '{"cniVersion":"1.1.0","name":"soak","type":"macvlan","master":"mst0","mode":"bridge",%s}' \
	'"ipam":{"type":"railhead-ipam","pools":["soak4","soak6"]}' >"$W/conf.json"
if [ "$HEAL" -gt 0 ]; then
	printf '{"node":"soak","repair":%s}' "$REPAIR" >"$W/agent.json"
	# The driver must not reap it.
	(exec "$W/bin/railheadd" --config "$W/agent.json") >"$W/agent.log" 2>&1 </dev/null &
	trap 'kill '$! EXIT
	until "$W/bin/railctl" cluster status >/dev/null 2>&1; do
		kill -0 $! 2>/dev/null || { cat "$W/agent.log" >&2; exit 2; }
		sleep 0.1
	done
fi
echo "soak: $CYCLES cycles, $KILL of 1000 runs killed, seed $SEED" >&2
set -o pipefail
"$W/soak" "$W/bin" "$W/conf.json" "$W" "$CYCLES" "$SEED" "$KILL" "$HEAL" | tee "${TABLES:-/dev/null}"
rc=$?
[ "$rc" = 0 ] || [ "$HEAL" = 0 ] || sed 's/^/agent: /' "$W/agent.log" >&2
exit "$rc"

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# recorder.sh: stands where a plugin is looked for, under the plugin's name; notes how it is called, then
# runs the real one.
#
# Call number N leaves N.env, N.in, N.out, N.rc and N.name in /run/work/calls. When the file hold there
# says "PLUGIN VERB", that call waits, its work done and its answer not yet given, until hold is gone.
calls=/run/work/calls
set -- "$calls"/*.call
n=$#
# mkdir is the lock: each call gets a number of its own, in the order in which they began.
while printf -v f '%s/%04d' "$calls" "$n" && ! mkdir "$f.call" 2>/dev/null; do n=$((n + 1)); done
echo "${0##*/}" >"$f.name"
env >"$f.env"
cat >"$f.in"
/opt/cni/real/"${0##*/}" <"$f.in" >"$f.out"
rc=$?
echo $rc >"$f.rc"
while [ "$(cat "$calls/hold" 2>/dev/null)" = "${0##*/} $CNI_COMMAND" ]; do
	: >"$calls/held"
	sleep 0.02
done
cat "$f.out" 2>/dev/null
exit $rc

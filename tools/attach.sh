#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The black-box tests of the plugins, a theme on each processor: they run in sandboxes of their own.
#
# usage: tools/attach.sh BUILD
# Prints what the themes print, each when it is done, and one closing line for all.
set -u

build=${1:?usage: attach.sh BUILD}
logs=$build/log/attach
rm -rf "$logs"
mkdir -p "$logs"
export HELPERS="$build/conformance/attach" build logs
# The longest first.
themes=$(wc -c conformance/attach/*.sh | sort -rn | sed -n 's:.*/\([a-z-]*\)\.sh$:\1:p' | grep -vxE 'run|lib')
# shellcheck disable=SC2016 # expanded by the inner shell
printf '%s\n' $themes | xargs -P "$(nproc)" -n 1 sh -c '
	conformance/attach/run.sh "$build/bin" "$1" >"$logs/$1.log" 2>&1 </dev/null
	echo "$? $1" >>"$logs/status"
	grep -vE "^[0-9]+ passed, " "$logs/$1.log"' attach
cat "$logs"/*.log | awk -v expected="$(echo "$themes" | wc -l)" -v broken="$(grep -c '^[^0]' "$logs/status")" '
	/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { p += $1; f += $3; s += $5; n++ }
	END {
		# A theme that broke off, or failed without naming a case.
		if (n != expected || (broken && !f))
			f += expected > n ? expected - n : 1
		printf "%d passed, %d failed, %d skipped\n", p, f, s
		exit f > 0
	}'

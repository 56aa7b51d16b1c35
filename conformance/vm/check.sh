#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check.sh BINDIR: the suites on both kernels, beside each other; then what each printed, and one closing line.
# SUITES, KERNELS: others than all.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BIN=${1:?usage: check.sh BINDIR}
SUITES=${SUITES:-boot ipvlan vf probe}
KERNELS=${KERNELS:-6.12 7.2}
LOGS=$(mktemp -d)
trap 'rm -rf "$LOGS"' EXIT
trap 'exit 143' TERM HUP
trap 'exit 130' INT

# shellcheck disable=SC2086 # words
"$HERE/fetch.sh" "$HERE/../../build/vm" qemu jq $KERNELS || exit 2
for kernel in $KERNELS; do
	# shellcheck disable=SC2086 # words
	setpriv --pdeathsig KILL "$HERE/run" --kernel "$kernel" --limit "${LIMIT:-900}" --bin "$BIN" $SUITES \
		>"$LOGS/$kernel" 2>&1 </dev/null &
done
wait
for kernel in $KERNELS; do
	echo "# kernel $kernel"
	sed '$d' "$LOGS/$kernel"
done
for kernel in $KERNELS; do
	tail -n 1 "$LOGS/$kernel" | grep -xE '[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped' || echo '0 passed, 1 failed, 0 skipped'
done | awk '{ p += $1; f += $3; s += $5 } END { print p " passed, " f " failed, " s " skipped"; exit f > 0 }'

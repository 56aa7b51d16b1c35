#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Black-box tests of railhead-install, in a folder that represents a container with the host's folders mounted; and of the images.
#
# usage: conformance/image/run.sh BINDIR [PATTERN]
#
# IMAGE: the folder that `make image` made; without it the cases of the images are skipped. PATTERN: only cases whose function matches it. It runs in a sandbox of its own (conformance/sandbox.sh), as root. Prints a line a case and
# closes with "N passed, N failed, N skipped".
set -u

usage()
{
	sed -n 's/^# usage: /usage: /p' "$0" >&2
	exit 2
}

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=conformance/harness/suite.sh
. "$here/../harness/suite.sh"
into_sandbox "$@"
set -- "${ARGS[@]}"
[ $# -ge 1 ] || usage
BIN=$(cd "$1" && pwd) || exit 2
PATTERN=${2:-*}
W=/run/work
CASES=()
TRACE=()
passed=0
failed=0
skipped=0

TOP=$(cd "$here/../.." && pwd)
# shellcheck source=conformance/image/world.sh
. "$here/world.sh"
# shellcheck source=conformance/image/install.sh
. "$here/install.sh"
# shellcheck source=conformance/image/removal.sh
. "$here/removal.sh"
# shellcheck source=conformance/image/failures.sh
. "$here/failures.sh"
# shellcheck source=conformance/image/chain.sh
. "$here/chain.sh"
if [ -n "${IMAGE-}" ]; then
	IMAGE=$(cd "$IMAGE" && pwd) || exit 2
	# shellcheck source=conformance/image/image.sh
	. "$here/image.sh"
fi

prepare || exit 2
for case in "${CASES[@]}"; do
	name=${case%%|*}
	# shellcheck disable=SC2254 # a pattern on purpose
	case $name in $PATTERN) ;; *) continue ;; esac
	fresh
	rm -f $W/skip
	if "$name"; then
		passed=$((passed + 1))
		echo "ok $((passed + failed + skipped)) - image: ${case#*|}"
	elif [ -e $W/skip ]; then
		skipped=$((skipped + 1))
		echo "ok $((passed + failed + skipped)) - image: ${case#*|} # SKIP $(<$W/skip)"
	else
		failed=$((failed + 1))
		echo "not ok $((passed + failed + skipped)) - image: ${case#*|} ($name)"
		sed 's/^/# /' "$W/out"
		ls -la "$CNI" | sed 's/^/# /'
	fi
	clean
done
[ -n "${IMAGE-}" ] || { skipped=$((skipped + 1)) && echo "  skipped: the images: IMAGE names none"; }
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]

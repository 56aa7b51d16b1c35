#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every header compiles alone, and twice over, with each compiler.
#
# usage: tools/headers.sh "COMPILER..." "FLAGS" HEADER...
set -eu

compilers=$1
flags=$2
shift 2
export flags
for cc in $compilers; do
	export cc
	# shellcheck disable=SC2016 # expanded by the inner shell
	printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 sh -c '
		out=$(printf "#include \"%s\"\n#include \"%s\"\n" "$1" "$1" |
			$cc $flags -Werror -fsyntax-only -x c - 2>&1) && exit 0
		printf "%s does not compile alone with %s:\n%s\n" "$1" "$cc" "$out"
		exit 1' headers || { echo "headers: see above"; exit 1; }
done
echo "headers: $# compile alone with each of: $compilers"

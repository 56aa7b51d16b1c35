#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over C files, a few at a time; prints only findings. Configured by .clang-tidy.
#
# usage: tools/tidy.sh "COMPILER FLAGS" FILE...
set -eu

flags=$1
shift
export flags
# shellcheck disable=SC2016 # expanded by the inner shell
printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 sh -c '
	ours="-include tools/tidy.h"
	case $1 in
	lib/err.c | conformance/*) ours= ;;
	esac
	out=$(clang-tidy-14 --quiet "$1" -- $flags $ours 2>&1) && exit 0
	printf "%s\n" "$out" | grep -v "warnings\? \(generated\|treated\)\|^Suppressed\|^Use -header"
	exit 1' tidy || { echo "tidy: findings above"; exit 1; }
echo "tidy: $# files without a finding"

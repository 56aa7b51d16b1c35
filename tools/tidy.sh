#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over C files, a few at a time; prints only findings. Configured by .clang-tidy.
#
# usage: tools/tidy.sh "COMPILER FLAGS" FILE...
#
# The analyzer, which looks for paths that nobody ran and takes most of the time, leaves out tests: all of their paths
# are run, under sanitizers.
set -eu

flags=$1
shift
export flags
# shellcheck disable=SC2016 # expanded by the inner shell
printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 sh -c '
	ours="-include tools/tidy.h"
	case $1 in
	lib/base/err.c | conformance/*) ours= ;;
	esac
	case $1 in
	# Tests unpack captured machines by a shell.
	*_test.c | *_fuzz.c | */testing/*.c) less=--checks=-clang-analyzer-*,-cert-env33-c ;;
	*) less= ;;
	esac
	out=$(clang-tidy-14 --quiet ${less:+"$less"} "$1" -- $flags $ours 2>&1) && exit 0
	printf "%s\n" "$out" | grep -v "warnings\? \(generated\|treated\)\|^Suppressed\|^Use -header"
	exit 1' tidy || { echo "tidy: findings above"; exit 1; }
echo "tidy: $# files without a finding"

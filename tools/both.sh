#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unit tests and black-box tests of one build, one closing line for both. The second run also after the
# first failed.
#
# usage: tools/both.sh BUILD
set -u

build=${1:?usage: both.sh BUILD}
out=$(mktemp)
trap 'rm -f "$out"' EXIT
trap 'exit 130' HUP INT TERM
# Sanitizers slow everything down, and their reports need a way out of the plugins.
export CK_TIMEOUT_MULTIPLIER=50
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:detect_leaks=1
export UBSAN_OPTIONS=print_stacktrace=1
{
	tools/unit.sh "$build" || echo "unit tests: exit status $?"
	tools/attach.sh "$build" ||
		echo "attach tests: exit status $?"
} 2>&1 | tee "$out"
awk '/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { p += $1; f += $3; s += $5; n++ }
	/^(unit|attach) tests: exit status/ { broken = 1 }
	END {
		if (n != 2 || (broken && !f))
			f++
		printf "%d passed, %d failed, %d skipped\n", p, f, s
		exit f > 0
	}' "$out"

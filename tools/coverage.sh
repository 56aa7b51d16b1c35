#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Print line and branch coverage per file, and demand 90% of the branches of each pure file.
#
# usage: tools/coverage.sh BUILD       after the tests of that build have run
#
# Nothing is excluded: branches that run only when memory is out count like all others, and are reached
# by tests that make each allocation fail (lib/testing/alloc.h). Files that do I/O are listed, not judged:
# the tests below conformance/ run the rest of them with the real kernel.
set -eu

build=${1:?usage: coverage.sh BUILD}
least=90
# These, and every file whose header says "Pure." in its first lines. A file without a header of its own belongs to the one that its name
# begins with.
pure='^(lib/base/(err|undo|parse)|lib/device/addr|lib/json/[a-z_]*|cni/protocol/(env|conf|result[a-z_]*)|sriov/vf/state_text|sriov/admin/manager_conf)\.c$'
# headers YES|NO: a pattern of the names, without suffix, of those that are pure, or of the others.
headers()
{
	# shellcheck disable=SC2046 # words on purpose
	find $(cat "${0%/*}/parts") -name '*.h' | sort | while read -r header; do
		is=NO
		! head -n 8 "$header" | grep -q 'Pure\.' || is=YES
		[ $is != "$1" ] || printf '|%s' "${header%.h}"
	done | cut -c2-
}
more="^($(headers YES))(_[a-z_]*)?\.c\$"
other="^($(headers NO))\.c\$"

report=$build/coverage.csv
gcovr --gcov-ignore-parse-errors --root . --object-directory "$build/obj" --exclude '.*_test\.c' --exclude '.*_fuzz\.c' \
	--exclude '.*/testing.*' --exclude 'build/.*' --exclude 'conformance/.*' --csv --output "$report" \
	"$build/obj" 2>"$build/coverage.err" || { cat "$build/coverage.err" >&2; exit 1; }

awk -F , -v pure="$pure" -v more="$more" -v other="$other" -v least="$least" '
	FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
	{
		lines = $column["line_total"]
		branches = $column["branch_total"]
		line = lines ? 100 * $column["line_covered"] / lines : 100
		branch = branches ? 100 * $column["branch_covered"] / branches : 100
		judged = $1 ~ pure || ($1 ~ more && $1 !~ other)
		note = judged ? (branch < least ? "FAILED: pure code, needs " least "%" : "pure") : ""
		printf "  %-26s lines %5.1f%%  branches %5.1f%% of %-4d %s\n", $1, line, branch, branches, note
		if (judged) {
			files++
			sum += branches
			hit += $column["branch_covered"]
			bad += branch < least
		}
		all_lines += lines; all_hit += $column["line_covered"]
	}
	END {
		if (!files) {
			print "coverage: no pure file was measured"
			exit 1
		}
		printf "coverage: pure code: %.1f%% of %d branches in %d files; all code: %.1f%% of %d lines\n",
			sum ? 100 * hit / sum : 100, sum, files, 100 * all_hit / all_lines, all_lines
		exit bad > 0
	}' "$report"

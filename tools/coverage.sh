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
# These, and every file whose header says "Pure." in its first lines.
pure='^(lib/base/(err|undo|parse)|lib/pci/addr|lib/json/[a-z_]*|cni/protocol/(env|conf|result[a-z_]*)|sriov/vf/vf_state_text|sriov/admin/manager_confPLUS)\.c$'
# shellcheck disable=SC2046 # words on purpose
more=$(for header in $(find $(cat "${0%/*}/parts") -name '*.h' | sort); do
	head -n 8 "$header" | grep -q 'Pure\.' && printf '|%s(_[a-z_]*)?' "${header%.h}"
done) || true
pure=$(echo "$pure" | sed "s:PLUS:${more}:")

report=$build/coverage.csv
gcovr --gcov-ignore-parse-errors --root . --object-directory "$build/obj" --exclude '.*_test\.c' --exclude '.*_fuzz\.c' \
	--exclude '.*/testing.*' --exclude '.*_contract\.[ch]' --exclude 'build/.*' --exclude 'conformance/.*' --csv --output "$report" \
	"$build/obj" 2>"$build/coverage.err" || { cat "$build/coverage.err" >&2; exit 1; }

awk -F , -v pure="$pure" -v least="$least" '
	FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
	{
		lines = $column["line_total"]
		branches = $column["branch_total"]
		line = lines ? 100 * $column["line_covered"] / lines : 100
		branch = branches ? 100 * $column["branch_covered"] / branches : 100
		judged = $1 ~ pure
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

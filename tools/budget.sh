#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Keep functions, files and headers small, and print how they are distributed.
#
# usage: tools/budget.sh [ROOT]
# Functions, in lines between the braces: median <= 20, 90% <= 50, none > 100, <= 5 parameters.
# Files <= 600 lines, headers <= 150, <= 12 includes. Product code and tests are judged apart.
# The tree: fewer than 1500 files.
set -eu
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-.}"
bad=0
complain()
{
	echo "$*"
	bad=$((bad + 1))
}
# shellcheck disable=SC2046 # words on purpose
all=$(find $(cat "$here/parts") conformance tools -name '*.[ch]' 2>/dev/null | sort)

judge() # NAME FILE...
{
	what=$1
	shift
	[ $# -gt 0 ] || return 0
	table=$(awk -f "$here/budget.awk" "$@" | sort -n)
	[ -n "$table" ] || { complain "budget: no function found in $what"; return 0; }
	eval "$(echo "$table" | awk '{ n[NR] = $1 }
		END { print "count=" NR, "median=" n[int((NR + 1) / 2)], "p90=" n[int((NR * 9 + 9) / 10)], "most=" n[NR] }')"
	# shellcheck disable=SC2154 # set by eval
	printf '%-8s %4d functions: median %d, 90%% <= %d, longest %d lines\n' \
		"$what" "$count" "$median" "$p90" "$most"
	echo "$table" | awk '{ b = $1 <= 10 ? 0 : $1 <= 20 ? 1 : $1 <= 50 ? 2 : $1 <= 100 ? 3 : 4; n[b]++ }
		END {
			split("<=10 <=20 <=50 <=100 >100", name, " ")
			for (b = 0; b < 5; b++) {
				bar = sprintf("%*s", int(n[b] * 50 / NR + 0.5), "")
				gsub(/ /, "#", bar)
				printf "         %5s %4d %s\n", name[b + 1], n[b], bar
			}
		}'
	[ "$median" -le 20 ] || complain "budget: $what: median of $median lines, allowed 20"
	[ "$p90" -le 50 ] || complain "budget: $what: 90% within $p90 lines, allowed 50"
	long=$(echo "$table" | awk '$1 > 100 { print $3 ": " $4 " has " $1 " lines, allowed 100" }')
	[ -z "$long" ] || complain "$long"
	wide=$(echo "$table" | awk '$2 > 5 { print $3 ": " $4 " has " $2 " parameters, allowed 5" }')
	[ -z "$wide" ] || complain "$wide"
}

# shellcheck disable=SC2046 # words on purpose
judge code $(echo "$all" | grep -E '\.c$' | grep -vE '_(test|fuzz)\.c$|^conformance/' || true)
# shellcheck disable=SC2046
judge tests $(echo "$all" | grep -E '_(test|fuzz)\.c$|^conformance/.*\.c$' || true)

for file in $all; do
	lines=$(wc -l <"$file")
	limit=600
	case $file in
	*.h) limit=150 ;;
	esac
	[ "$lines" -le "$limit" ] || complain "$file: $lines lines, allowed $limit"
	includes=$(grep -c '^[[:space:]]*#[[:space:]]*include' "$file" || true)
	[ "$includes" -le 12 ] || complain "$file: $includes includes, allowed 12"
done
longest=$(for file in $all; do echo "$(wc -l <"$file") $file"; done | sort -rn | head -n 1)
echo "files    $(echo "$all" | wc -l): longest ${longest#* } with ${longest%% *} lines"
# What git knows of, or, without git, what there is.
tree=$(if [ -e .git ]; then git ls-files; else find . -path ./build -prune -o -type f -print; fi | wc -l)
echo "tree     $tree files"
[ "$tree" -lt 1500 ] || complain "budget: $tree files in the tree, allowed 1499"
[ "$bad" = 0 ] || { echo "budget: exceeded, see above"; exit 1; }

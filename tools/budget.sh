#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Keep functions small, and print how they are distributed.
#
# usage: tools/budget.sh [ROOT]
# Functions: at most 80 lines between the braces, at most 5 parameters.
# Product code and tests are judged apart. A file of more than 1,000 lines is a warning: a person decides whether it is too long.
# The longest chain of calls below ADD and below DEL: tools/chain.sh.
#
# The tree: at most 240 files that only programs read (corpus/, testdata/). A fuzz target has one file of seeds and one dictionary:
# more than that is an unpacked corpus (tools/seeds.sh).
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
	echo "$table" | awk '{ b = $1 <= 10 ? 0 : $1 <= 20 ? 1 : $1 <= 50 ? 2 : $1 <= 80 ? 3 : 4; n[b]++ }
		END {
			split("<=10 <=20 <=50 <=80 >80", name, " ")
			for (b = 0; b < 5; b++) {
				bar = sprintf("%*s", int(n[b] * 50 / NR + 0.5), "")
				gsub(/ /, "#", bar)
				printf "         %5s %4d %s\n", name[b + 1], n[b], bar
			}
		}'
	long=$(echo "$table" | awk '$1 > 80 { print $3 ": " $4 " has " $1 " lines, allowed 80" }')
	[ -z "$long" ] || complain "$long"
	# nghttp2 decides the parameters of its callbacks, and libibverbs those of a stand-in for it.
	wide=$(echo "$table" | awk '$3 ~ /^lib\/grpc\/(unary|session|testing\/server|testing\/client)\.c:/ && $4 ~ /^on_/ { next }
		$3 ~ /^conformance\/rdma\/cuda\.c:/ && $4 == "ibv_reg_dmabuf_mr" { next }
		$2 > 5 { print $3 ": " $4 " has " $2 " parameters, allowed 5" }')
	[ -z "$wide" ] || complain "$wide"
}

# shellcheck disable=SC2046 # words on purpose
judge code $(echo "$all" | grep -E '\.c$' | grep -vE '_(test|fuzz)\.c$|^conformance/' || true)
# shellcheck disable=SC2046
judge tests $(echo "$all" | grep -E '_(test|fuzz)\.c$|^conformance/.*\.c$' || true)

# shellcheck disable=SC2086 # words on purpose
awk '
	function close_file()
	{
		if (lines > 1000)
			print "budget: warning: " file " has " lines " lines"
		if (lines > most) {
			most = lines
			longest = file
		}
	}
	FNR == 1 { close_file(); file = FILENAME; n++ }
	{ lines = FNR }
	END { close_file(); print "files    " n ": longest " longest " with " most " lines" }
' $all
# The files that git knows; without git, all files.
eval "$(if [ -e .git ]; then git ls-files; else find . -path ./build -prune -o -type f -print; fi |
	awk '/\/(corpus|testdata)\// { data++; next } { read++ } END { print "read=" read + 0, "data=" data + 0 }')"
# shellcheck disable=SC2154 # set by eval
echo "tree     $read files to read, $data of seeds and test data"
[ "$data" -le 240 ] || complain "budget: $data files of seeds and test data, allowed 240"
"$here/chain.sh" || bad=$((bad + 1))
[ "$bad" = 0 ] || { echo "budget: exceeded, see above"; exit 1; }

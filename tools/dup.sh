#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How many lines plugins share with the engine and with each other: under 5% of the smaller one's, and under 10% of
# one file's, else exit 1.
#
# usage: tools/dup.sh ENGINE PLUGIN... [-- OTHER...]
# Each is a list of folders and files with commas between; of a folder the C files count that are neither test nor fuzz
# target. What counts: lines of more than 8 characters after trimming; comments, includes, the head of main and a bare
# return left out. A line that OTHER code has as well is an idiom and does not count either. Files of fewer than 60
# lines are compared as part of their plugin only.
set -eu
export LC_ALL=C

PLUGIN_PERMILLE=50
FILE_PERMILLE=100
FILE_MIN=60

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
files_of() # LIST
{
	echo "$1" | tr ',' '\n' | while read -r x; do
		if [ -d "$x" ]; then
			find "$x" -maxdepth 1 -name '*.c' ! -name '*_test.c' ! -name '*_fuzz.c' | sort
		else
			echo "$x"
		fi
	done
}
significant() # FILE...
{
	[ $# -gt 0 ] || return 0
	awk '
		FNR == 1 { inside = 0 }
		inside { if (/\*\//) inside = 0; next }
		/^[ \t]*\/\*/ { if (!/\*\//) inside = 1; next }
		/^[ \t]*(\/\/|#[ \t]*include)/ { next }
		{
			gsub(/\/\*.*\*\//, "")
			gsub(/^[ \t]+|[ \t]+$/, "")
			if (length($0) > 8 && !/^(return -?[01];|int main\(void\))$/)
				print
		}' "$@"
}
lines_of() # LIST: what counts of it, sorted
{
	# shellcheck disable=SC2046 # no blanks in names
	significant $(files_of "$1") | { grep -vxFf "$dir/idioms" || true; } | sort
}
bad=0
pairs=0
compare() # NAME1 FILE1 NAME2 FILE2 PERMILLE: of the smaller one's lines
{
	shared=$(comm -12 "$2" "$4" | wc -l)
	least=$(wc -l <"$2")
	other=$(wc -l <"$4")
	[ "$other" -ge "$least" ] || least=$other
	[ "$least" -gt 0 ] || return 0
	permille=$((shared * 1000 / least))
	pairs=$((pairs + 1))
	[ "$5" = "$PLUGIN_PERMILLE" ] || [ "$permille" -ge "$5" ] || return 0
	printf '%s and %s: %d of %d lines shared, %d.%d%%\n' "$1" "$3" "$shared" "$least" \
		$((permille / 10)) $((permille % 10))
	[ "$permille" -ge "$5" ] || return 0
	comm -12 "$2" "$4" | sed 's/^/    /'
	bad=1
}

for x in $(echo "$*" | tr ',' ' '); do
	[ "$x" = -- ] || [ -e "$x" ] || { echo "dup: $x does not exist"; exit 1; }
done
engine=$1
shift
plugins=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	plugins="$plugins $1"
	shift
done
[ $# -eq 0 ] || shift
: >"$dir/idioms"
for other in "$@"; do
	# shellcheck disable=SC2046
	significant $(files_of "$other") >>"$dir/idioms"
done
[ -s "$dir/idioms" ] || echo '/* none */' >"$dir/idioms"
sort -u -o "$dir/idioms" "$dir/idioms"

lines_of "$engine" >"$dir/engine"
# shellcheck disable=SC2086
set -- $plugins
n=0
for a in "$@"; do
	n=$((n + 1))
	lines_of "$a" >"$dir/$n"
	compare "$a" "$dir/$n" "$engine" "$dir/engine" "$PLUGIN_PERMILLE"
	for file in $(files_of "$a"); do
		lines_of "$file" >"$dir/file"
		[ "$(wc -l <"$dir/file")" -lt "$FILE_MIN" ] ||
			compare "$file" "$dir/file" "$engine" "$dir/engine" "$FILE_PERMILLE"
	done
	i=0
	for b in "$@"; do
		i=$((i + 1))
		[ "$i" -lt "$n" ] || break
		compare "$a" "$dir/$n" "$b" "$dir/$i" "$PLUGIN_PERMILLE"
	done
done
[ "$pairs" -gt 0 ] || { echo "dup: nothing to compare"; exit 1; }
[ "$bad" = 0 ] || echo "dup: what plugins share with the engine or with each other belongs into the engine"
exit $bad

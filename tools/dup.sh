#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How many lines two plugin files share: under 5% of the shorter one's, else exit 1.
#
# usage: tools/dup.sh FILE FILE...
# What counts: lines of more than 8 characters after trimming; comments, includes, the head of main and a
# bare return of success or failure left out: the language has no other way to say those.
set -eu
export LC_ALL=C

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
significant()
{
	awk '
		inside { if (/\*\//) inside = 0; next }
		/^[ \t]*\/\*/ { if (!/\*\//) inside = 1; next }
		/^[ \t]*(\/\/|#[ \t]*include)/ { next }
		{
			gsub(/\/\*.*\*\//, "")
			gsub(/^[ \t]+|[ \t]+$/, "")
			if (length($0) > 8 && !/^(return -?[01];|int main\(void\))$/)
				print
		}' "$1" | sort
}
bad=0
worst=0
pairs=0
for a in "$@"; do
	shift
	significant "$a" >"$dir/a"
	for b in "$@"; do
		significant "$b" >"$dir/b"
		shared=$(comm -12 "$dir/a" "$dir/b" | wc -l)
		least=$(cat "$dir/a" | wc -l)
		other=$(cat "$dir/b" | wc -l)
		[ "$other" -ge "$least" ] || least=$other
		[ "$least" -gt 0 ] || continue
		permille=$((shared * 1000 / least))
		pairs=$((pairs + 1))
		printf '%s and %s: %d of %d lines shared, %d.%d%%\n' "$a" "$b" "$shared" "$least" \
			$((permille / 10)) $((permille % 10))
		[ "$permille" -le "$worst" ] || worst=$permille
		if [ "$permille" -ge 50 ]; then
			comm -12 "$dir/a" "$dir/b" | sed 's/^/    /'
			bad=1
		fi
	done
done
[ "$pairs" -gt 0 ] || echo "dup: fewer than two plugin files, nothing to compare"
[ "$bad" = 0 ] || echo "dup: two plugins share 5% of their lines or more; what they share belongs into the engine"
exit $bad

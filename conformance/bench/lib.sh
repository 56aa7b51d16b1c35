# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# lib.sh: the options of the benches, rows of figures, and the tables made of them. Sourced by the benches.
#
# ROWS and RAW are files: targets and figures, and the output of measure. With MARKDOWN set, only the table of figures with a
# target is printed, in the form of docs/performance.md. TABLES=FILE: write all tables in that form to the file as well; a
# release contains them.

say() { echo "bench: $*" >&2; }
broken()
{
	say "$*"
	exit 1
}

# --- options -----------------------------------------------------------------------------------

usage()
{
	sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" >&2
	exit 2
}
# options WORD...: --quick, --markdown and --raw DIR become QUICK, MARKDOWN and KEEP, those among $OWN go into OWNED, what
# comes behind them into ARGS. Anything else ends in the usage.
options()
{
	QUICK='' MARKDOWN='' KEEP='' OWNED=' '
	while [[ ${1-} == -* ]]; do
		case $1 in
		--quick) QUICK=1 ;;
		--markdown) MARKDOWN=1 ;;
		--raw) [ -n "${2-}" ] && KEEP=$(realpath -m "$2") && shift || usage ;;
		*) [[ " ${OWN-} " == *" $1 "* ]] && OWNED+="$1 " || usage ;;
		esac
		shift
	done
	ARGS=("$@")
}
has_own() { [[ $OWNED == *" $1 "* ]]; }
# name_peer: PEER_NAME for the tables, before the sandbox hides the package database.
name_peer()
{
	has_own --inside || PEER_NAME=$(dpkg-query -W -f '${Package} ${Version}' \
		containernetworking-plugins 2>/dev/null || echo "${PEER_DIR:-/usr/lib/cni}") && export PEER_NAME
}

# --- figures -----------------------------------------------------------------------------------

# median LABEL VERB wall|cpu|largest|sum: of the last measurement of that name.
median()
{
	awk -v l="$1" -v v="$2" -v w="$3" '$1 == l && $2 == v {
		for (i = 3; i <= NF; i++)
			if ($i == w) x = (w == "wall" || w == "cpu") ? $(i + 2) : $(i + 1)
	} END { print x }' "$RAW"
}
ms() { awk -v v="$1" 'BEGIN { printf v < 10000 ? "%.2f" : "%.1f", v / 1000 }'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", b ? a / b : 0 }'; }

# row WHAT TARGET-TEXT LIMIT A B UNIT A-NAME B-NAME: the ratio of two medians against a limit.
row()
{
	local what=$1 target=$2 limit=$3 a=$4 b=$5 unit=$6 r verdict
	[ -n "$a" ] && [ -n "$b" ] || broken "no figure for: $what"
	r=$(ratio "$a" "$b")
	verdict=$(awk -v r="$r" -v l="$limit" 'BEGIN { print r <= l ? "met" : "missed" }')
	if [ "$unit" = ms ]; then
		a=$(ms "$a") b=$(ms "$b")
	fi
	echo "$what|$target|$a $unit / $b $unit = $r|$verdict" >>"$ROWS"
}
fact() { echo "$1|$2|$3|$4" >>"$ROWS"; }

# --- tables ------------------------------------------------------------------------------------

machine()
{
	printf '%s, Linux %s, %s, %s CPUs; reference: %s\n' "$(date -u +%F)" "$(uname -r)" \
		"$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" "$(nproc)" "${PEER_NAME-$PEER}"
}

raw_rows()
{
	awk '$3 == "wall" { printf "%s %s|%.2f (%.2f to %.2f)|%.2f (%.2f to %.2f)\n", $1, $2, $5 / 1000, $4 / 1000, $6 / 1000,
		$9 / 1000, $8 / 1000, $10 / 1000 }' "$RAW"
}
memory_rows() { awk '$3 == "largest" { printf "%s %s|%s|%s\n", $1, $2, $4, $6 }' "$RAW"; }

table()
{
	local heads=$1
	if [ -n "$MARKDOWN" ]; then
		awk -F '|' -v h="$heads" 'BEGIN {
			n = split(h, t, "|"); line = "|"; rule = "|"
			for (i = 1; i <= n; i++) { line = line " " t[i] " |"; rule = rule " --- |" }
			print line; print rule
		} { line = "|"; for (i = 1; i <= n; i++) line = line " " $i " |"; print line } END { print "" }'
	else
		{
			echo "$heads"
			cat
		} | awk -F '|' '{
			for (i = 1; i <= NF; i++) { c[NR, i] = $i; if (length($i) > w[i]) w[i] = length($i) }
			if (NF > n) n = NF
		} END {
			for (r = 1; r <= NR; r++) {
				line = ""
				for (i = 1; i <= n; i++) line = line sprintf("%-" w[i] "s  ", c[r, i])
				sub(/ +$/, "", line); print line
			}
			print ""
		}'
	fi
}

all_tables()
{
	machine
	[ -z "$QUICK" ] || echo "(--quick: few rounds, the times mean nothing)"
	echo
	table 'what|target|figure|verdict' <"$ROWS"
	raw_rows | table 'median (p10 to p90), ms|wall|CPU'
	[ -z "$(memory_rows)" ] || memory_rows | table 'peak memory, KiB|largest process|sum of processes'
}

report()
{
	if [ -n "$MARKDOWN" ]; then
		machine
		echo
		awk -F '|' '$2 != ""' "$ROWS" | table 'what|target|figure|verdict'
	else
		all_tables
	fi
	[ -z "${TABLES-}" ] || MARKDOWN=1 all_tables >"$TABLES"
}

# bench_end [FILE...]: the report; of --raw the files, beside those of all benches; of --quick, what a test says at its end.
bench_end()
{
	report
	[ -z "$KEEP" ] || { mkdir -p "$KEEP" && cp "$RAW" "$ROWS" "$@" "$KEEP"; }
	[ -z "$QUICK" ] || echo "$(wc -l <"$ROWS") passed, $(grep -c '|0|.*|missed$' "$ROWS") failed, 0 skipped"
}

# fold: of each run by itself (measure samples) on stdin, what measure time prints: deciles and medians.
fold()
{
	local f samples
	samples=$(cat)
	for f in 4 5; do
		sort -k1,2 -k$f,${f}n <<<"$samples" | awk -v f=$f -v name="$([ $f = 4 ] && echo wall || echo cpu)" '
			function say() { if (n) print key, name, v[int((n - 1) * .1)], v[int((n - 1) * .5)], v[int((n - 1) * .9)] }
			{ if ($1 " " $2 != key) { say(); n = 0; key = $1 " " $2 } v[n++] = $f } END { say() }'
	done | sort -s -k1,2 | awk '{ if ($1 " " $2 == key) print line, $3, $4, $5, $6; key = $1 " " $2; line = $0 }'
}

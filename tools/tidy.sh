#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over C files, a few at a time; prints only findings. Configured by .clang-tidy.
#
# usage: tools/tidy.sh "COMPILER FLAGS" FILE...
#
# The analyzer looks for paths that no test runs, and takes most of the time. It omits tests, because all of their paths
# run under sanitizers. It looks at up to TIDY_NODES (75000) states of a function. The default of clang is three times as many, and
# needs two to three times as long: make check-all uses that.
#
# A file without a finding is skipped until something changes that clang-tidy reads. This is the file, its headers, the flags,
# .clang-tidy, this script and the version of clang-tidy. Their hash is the name of an empty file in TIDY_CACHE, which all clones of
# a user share (~/.cache/railhead/tidy). A file with a finding has no such name, and fails each time.
set -eu

flags=$1
shift
nodes=${TIDY_NODES:-75000}
export flags nodes
cache=${TIDY_CACHE:-${XDG_CACHE_HOME:-${HOME:-build}/.cache}/railhead/tidy}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
mkdir -p "$cache" "$work/of"
export cache work

# Hashed for all files.
{ clang-tidy-14 --version; echo "$flags $nodes"; cat "$0" .clang-tidy tools/tidy.h; } 2>/dev/null | sha256sum >"$work/common"

# The files that each file reads, itself included, a line "FILE WHAT"; then the same with the hash of the content. A file with a
# missing header has no lines: clang-tidy reports it.
# shellcheck disable=SC2086 # flags are words
printf '%s\n' "$@" | xargs -r -n 50 clang-14 $flags -M 2>/dev/null | awk '
	{ sub(/ ?\\$/, "") }
	/^[^ ].*\.o: / { sub(/^[^:]*: /, ""); file = $1 }
	{ for (i = 1; i <= NF; i++) print file, $i }' >"$work/reads" || true
cut -d' ' -f2 "$work/reads" | sort -u | xargs -r sha256sum >"$work/sums" 2>/dev/null || true
awk -v of="$work/of/" '
	NR == FNR { hash[$2] = $1; next }
	{ name = $1; gsub("/", ",", name); if (name != last) { if (last) close(of last); last = name }
		if (!($2 in hash)) unknown[name]
		print hash[$2], $2 >>(of name) }
	END { if (last) close(of last); for (name in unknown) printf "" >(of name) }' "$work/sums" "$work/reads"

# The largest first, so that none of those is left alone at the end.
# shellcheck disable=SC2016 # expanded by the inner shell
printf '%s\n' "$@" | xargs -r wc -c | grep -v ' total$' | sort -rn | awk '{ print $2 }' | xargs -P "$(nproc)" -n 1 sh -c '
	list=$work/of/$(echo "$1" | tr / ,) stamp=
	if [ -s "$list" ]; then
		stamp=$cache/$(cat "$work/common" "$list" | sha256sum | cut -d" " -f1)
		[ ! -e "$stamp" ] || { touch "$stamp" && echo "$1" >>"$work/known" && exit 0; }
	fi
	ours="-include tools/tidy.h"
	case $1 in
	lib/base/err.c | conformance/*) ours= ;;
	esac
	case $1 in
	# Tests unpack captured machines by a shell.
	*_test.c | *_fuzz.c | */testing/*.c) less=--checks=-clang-analyzer-*,-cert-env33-c ;;
	*) less= ;;
	esac
	if out=$(clang-tidy-14 --quiet ${less:+"$less"} "$1" -- $flags $ours -Xclang -analyzer-config -Xclang "max-nodes=$nodes" 2>&1); then
		[ -z "$stamp" ] || : >"$stamp"
		exit 0
	fi
	printf "%s\n" "$out" | grep -v "warnings\? \(generated\|treated\)\|^Suppressed\|^Use -header"
	exit 1' tidy || { echo "tidy: findings above"; exit 1; }
find "$cache" -type f -mtime +60 -delete
known=0
[ ! -e "$work/known" ] || known=$(wc -l <"$work/known")
echo "tidy: $# files without a finding; $known of them as they were when they were last looked at"

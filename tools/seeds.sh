#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The seeds of the fuzz targets: one text file a target, one seed a line.
#
# usage: tools/seeds.sh unpack DIR [TARGET...]    each seed becomes a file DIR/TARGET/NAME
#        tools/seeds.sh pack DIR [TARGET...]      the unnamed seeds become those of DIR/TARGET/
#        tools/seeds.sh add TARGET NAME FILE [COMMENT]   FILE becomes a named seed
#        tools/seeds.sh check                     each target has seeds, corpus/ folders hold nothing else, and no
#                                                 finding of a fuzzer lies outside of build/
#
# TARGET is lib/json/decode for lib/json/decode_fuzz.c. Its seeds are in lib/json/corpus/decode.seeds, its
# dictionary in lib/json/corpus/decode.dict. Without TARGET: all targets. A line of a seeds file is one of these:
#
#	# COMMENT          says what the seed below is for, for example which bug it shows
#	NAME BYTES         a named seed, added by hand; pack leaves it alone
#	- BYTES            an unnamed seed, found by the fuzzer; sorted, each once
#	NAME=BASE64        a long seed, compressed with gzip; NAME may be -
#
# BYTES is printable ASCII with the escapes \\ \n \r \t and \xHH. An unnamed seed is unpacked under its
# number. unpack fails if a target has no seeds, or if a line has another form.
set -u
shopt -s extglob
export LC_ALL=C

# A longer line is compressed if that makes it shorter.
longest_line=1000

fail()
{
	echo "seeds: $*" >&2
	exit 1
}

all_targets()
{
	find . -path ./build -prune -o -path ./.git -prune -o -name '*_fuzz.c' -print | sed 's|^\./||; s/_fuzz\.c$//' | sort
}

seeds_of() # TARGET: its seeds file
{
	echo "${1%/*}/corpus/${1##*/}.seeds"
}

unpack_one() # DIR TARGET
{
	local to=$1/$2 file line name bytes plain number=0 at=0
	file=$(seeds_of "$2")
	[ -e "$file" ] || fail "$2: there is no file $file"
	rm -rf "$to"
	mkdir -p "$to"
	while IFS= read -r line || [ -n "$line" ]; do
		at=$((at + 1))
		case $line in '#'* | '') continue ;; esac
		name=${line%%[ =]*}
		bytes=${line#"$name"}
		[[ $name =~ ^(-|[a-z][a-z0-9._-]*)$ && ${#bytes} -gt 1 ]] || fail "$file:$at: not NAME BYTES or NAME=BASE64"
		number=$((number + 1))
		[ "$name" != - ] || printf -v name '%04d' "$number"
		[ ! -e "$to/$name" ] || fail "$file:$at: a second seed named $name"
		if [ "${bytes::1}" = = ]; then
			(set -o pipefail; base64 -d <<<"${bytes:1}" | gzip -dc >"$to/$name") 2>/dev/null ||
				fail "$file:$at: not BASE64 of a gzip file"
		else
			plain=${bytes//@(\\[\\nrt]|\\x[0-9a-f][0-9a-f])/}
			[[ $plain != *[!\ -~]* && $plain != *\\* ]] || fail "$file:$at: BYTES has another escape, or a byte that needs one"
			printf '%b' "${bytes:1}" >"$to/$name"
		fi
	done <"$file"
	[ "$number" -gt 0 ] || fail "$file: there is no seed in it"
}

line_of() # NAME FILE: the seed as a line
{
	local line packed
	line=$(od -An -v -tu1 "$2" | awk '
		BEGIN { for (i = 32; i < 127; i++) c[i] = sprintf("%c", i); c[9] = "\\t"; c[10] = "\\n"; c[13] = "\\r"; c[92] = "\\\\" }
		{ for (i = 1; i <= NF; i++) { printf "%s", held; held = $i in c ? c[$i] : sprintf("\\x%02x", $i) } }
		END { print held == " " ? "\\x20" : held }') # editors remove a space at the end of a line
	if [ ${#line} -gt $longest_line ]; then
		packed=$(gzip -9nc "$2" | base64 -w 0)
		[ ${#packed} -ge ${#line} ] || { echo "$1=$packed"; return; }
	fi
	echo "$1 $line"
}

named_of() # TARGET: all of its seeds file but the unnamed seeds
{
	grep -v '^-[ =]' "$(seeds_of "$1")" 2>/dev/null ||
		echo "# Seeds of the fuzz target $1. tools/seeds.sh reads this file and adds to it."
}

write_seeds() # TARGET NAMED: writes a seeds file; the lines of its unnamed seeds come from standard input
{
	local file
	file=$(seeds_of "$1")
	mkdir -p "${file%/*}"
	{
		printf '%s\n' "$2"
		sort -u | grep -vxFf <(sed -n 's/^[a-z][a-z0-9._-]*\([ =]\)/-\1/p' <<<"$2")
	} >"$file.new"
	mv "$file.new" "$file"
}

pack_one() # DIR TARGET
{
	local seed
	for seed in "$1/$2"/*; do
		[ ! -s "$seed" ] || line_of - "$seed"
	done | write_seeds "$2" "$(named_of "$2")"
}

add() # TARGET NAME FILE [COMMENT]
{
	[ -e "$1_fuzz.c" ] || fail "$1: there is no target $1_fuzz.c"
	[[ $2 =~ ^[a-z][a-z0-9._-]*$ ]] || fail "$2: a name begins with a letter and is made of a-z 0-9 . _ -"
	[ -s "$3" ] || fail "$3: there is no such file, or it is empty"
	! named_of "$1" | grep -q "^$2[ =]" || fail "$2: $(seeds_of "$1") has a seed of this name"
	grep '^-[ =]' "$(seeds_of "$1")" 2>/dev/null |
		write_seeds "$1" "$(named_of "$1")${4:+$'\n'# $4}"$'\n'"$(line_of "$2" "$3")"
}

check()
{
	local bad=0 target file
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
	for target in $(all_targets); do
		(unpack_one "$dir" "$target") || bad=1
	done
	while read -r file; do
		target=${file%/corpus/*}/${file##*/corpus/}
		case $file in
		*.seeds | *.dict) [ ! -e "${target%.*}_fuzz.c" ] || continue ;;
		esac
		echo "seeds: $file: neither the seeds nor the dictionary of a target" >&2
		bad=1
	done < <(find . -path ./build -prune -o -path ./.git -prune -o -path '*/corpus/*' -type f -print | sed 's|^\./||' | sort)
	while read -r file; do
		echo "seeds: $file: a finding of a fuzzer; add it to the seeds of its target, or move it below build/" >&2
		bad=1
	done < <(find . -path ./build -prune -o -path ./.git -prune -o -type f -regextype posix-egrep \
		-regex '.*(crash|leak|mismatch|oom|slow-unit|timeout)-[0-9a-f]{40}' -print | sed 's|^\./||' | sort)
	[ "$bad" = 0 ] || exit 1
	echo "seeds: $(all_targets | wc -l) targets, $(find "$dir" -type f | wc -l) seeds"
}

mode=${1:-}
case $mode in
check) check ;;
add)
	[ $# -ge 4 ] || { echo "usage: tools/seeds.sh add TARGET NAME FILE [COMMENT]" >&2; exit 2; }
	add "${@:2}"
	;;
pack | unpack)
	dir=${2:?usage: tools/seeds.sh $mode DIR [TARGET...]}
	targets=("${@:3}")
	[ $# -gt 2 ] || mapfile -t targets < <(all_targets)
	for target in "${targets[@]}"; do "${mode}_one" "$dir" "$target"; done
	;;
*)
	sed -n 's/^# \{0,1\}\(usage:.*\|       tools.*\)$/\1/p' "$0" >&2
	exit 2
	;;
esac

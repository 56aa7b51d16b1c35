#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Print the longest chain of calls below ADD and below DEL of a plugin, and fail above the limit.
#
# usage: tools/chain.sh [ROOT]       V=1: with the names of the functions
#
# A reader follows a chain from function to function, so it must not be long. A chain starts at a function of `starts` and
# counts it. It has the functions of cni/ and lib/ only. Functions that call each other in a circle count once each. A call
# through a pointer (a hook of a plugin, a step of undo) ends a chain: its target is not known here.
# gcc writes the calls (-fcallgraph-info, gcc 10), without optimisation, so that no function is inlined.
set -eu
export LC_ALL=C

starts='attach_add attach_del'
most=22
tools=$(cd "$(dirname "$0")" && pwd)
cd "${1:-.}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' HUP INT TERM

flags="-std=gnu11 -w -O0 -D_GNU_SOURCE -I. -I$tools/../build/cjson -isystem /usr/include/libnl3 -fcallgraph-info -S"
export dir flags
# ccache would not bring back the file with the calls.
export CCACHE_DISABLE=1
# shellcheck disable=SC2086 # words on purpose
if ! printf '#include <netlink/netlink.h>\n#include <cjson/cJSON.h>\n' |
	gcc $flags -x c - -o "$dir/probe.s" 2>"$dir/reason" || [ ! -e "$dir/probe.ci" ]; then
	echo "chain: gcc cannot write the calls: $(sed -n '/error/{p;q}' "$dir/reason"). Run \"make deps all\" first."
	exit 1
fi
# shellcheck disable=SC2016 # expanded by the inner shell
find cni lib -name '*.c' ! -name '*_test.c' ! -name '*_fuzz.c' ! -path '*/testing/*' | sort |
	xargs -P "$(nproc)" -n 8 sh -c 'for file; do
		gcc $flags "$file" -o "$dir/$(echo "$file" | tr / -).s" || exit 255
	done' chain
rm "$dir/probe.ci"
awk -F '"' -v starts="$starts" -v most="$most" -v verbose="${V:-0}" -f "$tools/circles.awk" -f "$tools/chain.awk" "$dir"/*.ci

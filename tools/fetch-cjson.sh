#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetch Debian's source package of cJSON into a folder: cJSON.c, cjson/cJSON.h and LICENSE.
#
# usage: tools/fetch-cjson.sh DIR        (the build calls it with build/cjson)
#
# DIR/source keeps version and hashes of what came, for the list of what is in a release.
#
# Debian ships no static cJSON, and the CNI programs are static. Without an archive that has the source
# package it exits 1 and says why; nothing half-made is left in DIR.
set -eu

dir=${1:?usage: fetch-cjson.sh DIR}
[ -s "$dir/cJSON.c" ] && [ -s "$dir/cjson/cJSON.h" ] && [ -s "$dir/source" ] && exit 0

fail()
{
	echo "fetch-cjson: $*" >&2
	exit 1
}

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
work=$(mktemp -d "$dir/.fetch-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM

if ! "${0%/*}/debian-source.sh" cjson "$work"; then
	# Fetched by an earlier version, which kept no hashes: the build goes on, a release needs them.
	[ ! -s "$dir/cJSON.c" ] || [ ! -s "$dir/cjson/cJSON.h" ] || exit 0
	fail "cJSON's source package cannot be had"
fi
cd "$work"

# LICENSE and the header first: whoever sees cJSON.c sees a complete folder.
mkdir -p "$dir/cjson"
mv source "$dir/source"
for pair in LICENSE:LICENSE cJSON.h:cjson/cJSON.h cJSON.c:cJSON.c; do
	cp "tree/${pair%%:*}" "$dir/.new"
	mv "$dir/.new" "$dir/${pair#*:}"
done
sed -n 's/^Version: //p' cjson_*.dsc | head -n 1 >"$dir/version"
echo "fetch-cjson: cJSON $(cat "$dir/version") from Debian's source package"

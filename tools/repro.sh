#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Build the tree once more, from a copy in a folder of another name, and compare the programs.
#
# usage: tools/repro.sh BUILD WERROR
set -eu

build=${1:?usage: repro.sh BUILD WERROR}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' HUP INT TERM
copy=$dir/another-name
mkdir -p "$copy/build"
tar -cf - --exclude=./build --exclude=./.git . | tar -xf - -C "$copy"
cp -r build/cjson "$copy/build/"
make -C "$copy" --no-print-directory -j"$(nproc)" WERROR="${2:-0}" all >"$dir/log" 2>&1 || {
	cat "$dir/log"
	exit 1
}
n=0
bad=0
for program in "$build"/bin/*; do
	n=$((n + 1))
	cmp "$program" "$copy/build/bin/${program##*/}" || bad=1
done
[ "$n" -gt 0 ] || { echo "repro: no programs in $build/bin"; exit 1; }
[ "$bad" = 0 ] || { echo "repro: the programs depend on where they are built"; exit 1; }
echo "repro: $n programs are the same when built in another folder"

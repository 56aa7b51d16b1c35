#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Are the linked static libraries the newest that apt offers? A fix in one of them has no effect
# before the programs are linked again.
#
# usage: tools/deps-current.sh [--strict] BUILD
#
# It reads the package lists of this machine, never the network, and prints their age. For libraries that were built here
# it reads the lists that came with the source package. Old and unknown libraries are a warning, with --strict a failure.
# The last line has the sums.
set -eu

strict=
if [ "${1:-}" = --strict ]; then
	strict=yes
	shift
fi
build=${1:?usage: deps-current.sh [--strict] BUILD}
lists=${APT_LISTS:-/var/lib/apt/lists}
table=$build/libraries.tsv

done_with() # TEXT, is it in order
{
	echo "deps-current: $1"
	[ -n "$2" ] || [ -z "$strict" ] || exit 1
	exit 0
}

[ -s "$table" ] || done_with "no static programs in $build" ''
command -v apt-cache >/dev/null || done_with 'cannot tell: this is not Debian, there is no apt-cache' ''
newest=$(find "$lists" -maxdepth 1 -name '*Release' -printf '%TY-%Tm-%Td\n' 2>/dev/null | sort | tail -n 1)
[ -n "$newest" ] || done_with 'cannot tell: there are no package lists here (offline); apt-get update brings them' ''

candidate() # PACKAGE: what apt would install
{
	apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: //p'
}

n=0 old=0 unknown=0 upgrade=
tab=$(printf '\t')
while IFS=$tab read -r package version source source_version _ file; do
	n=$((n + 1))
	if [ "$package" = - ] && [ "$source" = cjson ]; then
		# its binary packages have the version of the source
		package=libcjson1 version=$source_version
	fi
	offered=
	[ "$package" = - ] || offered=$(candidate "$package")
	if [ -z "$offered" ] || [ "$offered" = '(none)' ]; then
		echo "unknown: ${source#-} ${file##*/}: apt does not know where it comes from"
		unknown=$((unknown + 1))
	elif dpkg --compare-versions "$version" lt "$offered"; then
		echo "WARNING: ${file##*/} is linked from $package $version, apt offers $offered"
		old=$((old + 1))
		[ "$package" = libcjson1 ] || upgrade="$upgrade $package"
	fi
done <<LIST
$(awk -F "$tab" '!seen[$1 $3]++' "$table")
LIST
[ -z "$upgrade" ] || echo "To upgrade: sudo apt-get install --only-upgrade$upgrade && make clean all"
ok=
[ "$old" != 0 ] || [ "$unknown" != 0 ] || ok=yes
done_with "$n packages linked, $old older than apt offers, $unknown unknown; package lists of $newest" "$ok"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which archives of other people are linked into the static programs, and where they come from: a line each,
# apart by tabs: PACKAGE VERSION SOURCE SOURCE-VERSION SHA256 FILE. The build keeps it beside the programs.
#
# usage: tools/static-libs.sh CC CJSON_DIR -lNAME...
#        tools/static-libs.sh --file PATH COPY      the same line for a shared library: PATH on this host, and a copy of it
#
# A file that dpkg does not know has "-" for package and versions. SYSROOT: libraries below it are those of tools/arm64.sh.
set -eu

origin() # FILE: PACKAGE VERSION SOURCE SOURCE-VERSION
{
	known=
	case $1 in
	"${SYSROOT:-/no}"/*) known=$(awk -F '\t' -v path="${1#"$SYSROOT"}" '$1 == path || "/usr" $1 == path { print $2 "\t" $3 "\t" $4 "\t" $5; exit }' "$SYSROOT/libraries.tsv") ;;
	esac
	[ -z "$known" ] || {
		echo "$known"
		return
	}
	# A merged /usr: dpkg may know the file by either name.
	package=$(dpkg-query -S "$1" 2>/dev/null || dpkg-query -S "${1#/usr}" 2>/dev/null) || package=
	package=${package%%:*}
	if [ -n "$package" ]; then
		dpkg-query -W -f '${Package}\t${Version}\t${source:Package}\t${source:Version}\n' "$package" | head -n 1
	else
		printf -- '-\t-\t-\t-\n'
	fi
}

describe() # PATH FILE: the line of a library
{
	printf '%s\t%s\t%s\n' "$(origin "$1")" "$(sha256sum "$2" | cut -d ' ' -f 1)" "${1#"${SYSROOT:-/no}"}"
}

if [ "${1-}" = --file ]; then
	# dpkg knows the file by its own name, and not by that of a link or a merged folder.
	origin_of=$(realpath "${SYSROOT-}${2:?usage: static-libs.sh --file PATH COPY}")
	describe "$origin_of" "${3:?usage: static-libs.sh --file PATH COPY}"
	exit
fi
cc=${1:?usage: static-libs.sh CC CJSON_DIR -lNAME...}
cjson=${2:?usage: static-libs.sh CC CJSON_DIR -lNAME...}
shift 2

for name in "$@"; do
	file=$($cc -print-file-name="lib${name#-l}.a")
	[ -e "$file" ] || continue
	file=$(realpath "$file")
	describe "$file" "$file"
done
# Built here, from a source package: there is no binary package.
if [ -s "$cjson/source" ]; then
	sed -n "s/^\([^ ]*\) \([^ ]*\) \([^ ]*\) \([^ ]*\.dsc\)$/-\t-\t\1\t\2\t\3\t\4/p" "$cjson/source"
fi

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which archives of other people are linked into the static programs, and where they come from: a line each,
# apart by tabs: PACKAGE VERSION SOURCE SOURCE-VERSION SHA256 FILE. The build keeps it beside the programs.
#
# usage: tools/static-libs.sh CC CJSON_DIR -lNAME...
#
# A file that dpkg does not know has "-" for package and versions.
set -eu

cc=${1:?usage: static-libs.sh CC CJSON_DIR -lNAME...}
cjson=${2:?usage: static-libs.sh CC CJSON_DIR -lNAME...}
shift 2

origin() # FILE: PACKAGE VERSION SOURCE SOURCE-VERSION
{
	# A merged /usr: dpkg may know the file by either name.
	package=$(dpkg-query -S "$1" 2>/dev/null || dpkg-query -S "${1#/usr}" 2>/dev/null) || package=
	package=${package%%:*}
	if [ -n "$package" ]; then
		dpkg-query -W -f '${Package}\t${Version}\t${source:Package}\t${source:Version}\n' "$package" | head -n 1
	else
		printf -- '-\t-\t-\t-\n'
	fi
}

for name in "$@"; do
	file=$($cc -print-file-name="lib${name#-l}.a")
	[ -e "$file" ] || continue
	file=$(realpath "$file")
	printf '%s\t%s\t%s\n' "$(origin "$file")" "$(sha256sum "$file" | cut -d ' ' -f 1)" "$file"
done
# Built here, from a source package: there is no binary package.
if [ -s "$cjson/source" ]; then
	sed -n "s/^\([^ ]*\) \([^ ]*\) \([^ ]*\) \([^ ]*\.dsc\)$/-\t-\t\1\t\2\t\3\t\4/p" "$cjson/source"
fi

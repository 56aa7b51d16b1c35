#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Build the package of Debian in OUT: plugins and railctl. The same tree and the same libraries give the same bytes.
#
# usage: tools/deb.sh OUT [WORK]
#
# WORK: the folder to build in; the default is one that is removed again. cJSON comes from build/cjson.
# DEBFULLNAME and DEBEMAIL: who publishes the package, its maintainer; the variables of Debian's own tools. Debian's policy (3.3, 5.6.2)
# asks for an address that accepts mail. Without them it is a placeholder that cannot.
set -eu

out=${1:?usage: deb.sh OUT [WORK]}
top=$(cd "${0%/*}/.." && pwd)
version=$("$top/tools/version.sh")

fail()
{
	echo "deb: $*" >&2
	exit 1
}

[ "$(sed -n '1s/^railhead (\(.*\)) .*/\1/p' "$top/packaging/debian/changelog")" = "$version" ] ||
	fail "packaging/debian/changelog is not of version $version, as lib/base/version.h is"
who=
if [ -n "${DEBFULLNAME-}${DEBEMAIL-}" ]; then
	who="${DEBFULLNAME-} <${DEBEMAIL-}>"
	printf '%s\n' "$who" | awk '{ ok = NR == 1 && /^[^<>,@ ][^<>,@]* <[^<>,@ ]+@[^<>,@ ]+[.][^<>,@ ]+>$/ } END { exit !ok }' ||
		fail "want a name in DEBFULLNAME and its address in DEBEMAIL, not '$who'"
fi
if [ -n "${2-}" ]; then
	mkdir -p "$2"
	work=$(cd "$2" && pwd)
else
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' HUP INT TERM
fi
tree=$work/railhead-$version
rm -rf "$tree"
mkdir -p "$tree/build" "$out"

# shellcheck disable=SC2046 # words on purpose
(cd "$top" && tar -cf - Makefile LICENSE CHANGELOG.md tools docs/man packaging $(cat tools/parts)) | tar -C "$tree" -xf -
cp -r "$top/packaging/debian" "$tree/debian"
cp -r "$top/build/cjson" "$tree/build/cjson"
# The newest entry of the changelog names who publishes it, too.
[ -z "$who" ] || WHO=$who perl -i -pe 's/^Maintainer: \K.*/$ENV{WHO}/; s/^ -- \K.*>/$ENV{WHO}/ && $done++ if !$done && /^ -- /' \
	"$tree/debian/control" "$tree/debian/changelog"
# The variables of our make do not count: dpkg-buildpackage sets its own.
(cd "$tree" && umask 022 && env -i PATH="$PATH" HOME="$HOME" ${CC:+CC="$CC"} DEB_BUILD_OPTIONS="parallel=$(nproc)" \
	dpkg-buildpackage -b -us -uc >"$work/log" 2>&1) ||
	{
		tail -n 30 "$work/log" >&2
		fail "dpkg-buildpackage failed"
	}
cp "$work"/railhead_"$version"_*.deb "$out/"
echo "deb: $(echo "$out"/railhead_"$version"_*.deb)"

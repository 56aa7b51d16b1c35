#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetch a source package of the Debian release that runs here: DIR/tree is what it unpacks to, DIR/*.dsc
# its description.
#
# usage: tools/debian-source.sh PACKAGE DIR
#
# It comes from the same archive that the machine already installs from and trusts, through a private apt
# configuration below DIR: neither the machine's sources, nor its lists, nor its caches are touched.
# Without such an archive it exits 1 and says why.
set -eu

package=${1:?usage: debian-source.sh PACKAGE DIR}
work=${2:?usage: debian-source.sh PACKAGE DIR}

fail()
{
	echo "debian-source: $*" >&2
	exit 1
}

mkdir -p "$work"
work=$(cd "$work" && pwd)

. /etc/os-release
: "${VERSION_CODENAME:=}"
[ "${ID:-}" = debian ] && [ -n "$VERSION_CODENAME" ] || fail "this is not a Debian release"
for tool in apt-get dpkg-source awk; do
	command -v "$tool" >/dev/null || fail "$tool is missing (dpkg-source: package dpkg-dev)"
done

etc=$(apt-config shell d Dir::Etc/d | sed -n "s/^d='\(.*\)'$/\1/p")
etc=${etc:-/etc/apt/}
mkdir -p "$work/parts" "$work/lists/partial" "$work/cache/archives/partial"

# One-line format: deb [options] URI SUITE COMPONENT...
for file in "$etc"sources.list "$etc"sources.list.d/*.list; do
	[ -r "$file" ] && cat "$file" && echo
done | awk -v code="$VERSION_CODENAME" '
	$1 != "deb" && $1 != "deb-src" { next }
	{
		sub(/[ \t]*#.*/, "")
		options = ""
		if (match($0, /\[[^]]*\]/)) {
			options = substr($0, RSTART, RLENGTH) " "
			$0 = substr($0, 1, RSTART - 1) substr($0, RSTART + RLENGTH)
		}
		if ($2 ~ /^cdrom:/)
			next
		if ($3 != code && $3 != code "-updates" && $3 != code "-security")
			next
		for (i = 4; i <= NF; i++)
			if ($i == "main")
				print "deb-src " options $2 " " $3 " main"
	}' | sort -u >"$work/parts/private.list"

# Stanzas of "Field: value" lines. Signed-By and the other options are kept, keys in place included.
for file in "$etc"sources.list.d/*.sources; do
	[ -r "$file" ] && cat "$file" && echo
done | awk -v code="$VERSION_CODENAME" '
	function flush(   i, n, list, suites, has_main) {
		n = split(tolower(value["types"]), list, /[ \t\n]+/)
		n = split(value["components"], list, /[ \t\n]+/)
		for (i = 1; i <= n; i++)
			has_main = has_main || list[i] == "main"
		n = split(value["suites"], list, /[ \t\n]+/)
		for (i = 1; i <= n; i++)
			if (list[i] == code || list[i] == code "-updates" ||
			    list[i] == code "-security")
				suites = suites " " list[i]
		if (has_main && suites && value["uris"] !~ /cdrom:/ &&
		    tolower(value["enabled"]) !~ /^[ \t]*(no|false|off|0|without|disable)/) {
			print "Types: deb-src\nURIs:" value["uris"] "\nSuites:" suites
			print "Components: main"
			printf "%s\n", kept
		}
		delete value
		kept = field = ""
	}
	/^#/ { next }
	/^[ \t]*$/ { if (field) flush(); next }
	/^[ \t]/ {
		value[field] = value[field] "\n" $0
		if (keep)
			kept = kept $0 "\n"
		next
	}
	{
		at = index($0, ":")
		field = tolower(substr($0, 1, at - 1))
		value[field] = substr($0, at + 1)
		keep = field !~ /^(types|uris|suites|components|enabled|architectures)$/
		if (keep)
			kept = kept $0 "\n"
	}
	END { if (field) flush() }' >"$work/parts/private.sources"

[ -s "$work/parts/private.list" ] || [ -s "$work/parts/private.sources" ] ||
	fail "no archive of Debian $VERSION_CODENAME main in ${etc}sources.list(.d)"

# Read after the machine's own configuration (proxies, certificates), so these win.
cat >"$work/apt.conf" <<CONF
#clear APT::Update;
#clear DPkg;
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$work/parts";
Dir::State::lists "$work/lists";
Dir::Cache "$work/cache";
Dir::Cache::archives "$work/cache/archives";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
Acquire::Check-Valid-Until "false";
Acquire::Languages "none";
Acquire::Retries "3";
APT::Get::List-Cleanup "false";
APT::Sandbox::User "root";
CONF

cd "$work"
# A source that fails (a repository without source packages) is no harm if another one delivers.
apt-get -c "$work/apt.conf" -qq update </dev/null >update.log 2>&1 || true
if ! apt-get -c "$work/apt.conf" -qq source --download-only "$package" </dev/null >source.log 2>&1; then
	cat update.log source.log >&2
	fail "apt found no source package $package"
fi
dpkg-source -q -x ./"$package"_*.dsc tree >unpack.log 2>&1 || {
	cat unpack.log >&2
	fail "cannot unpack $package"
}

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetch Debian's source package of cJSON into a folder: cJSON.c, cjson/cJSON.h and LICENSE.
#
# usage: tools/fetch-cjson.sh DIR        (the build calls it with build/cjson)
#
# Debian ships no static cJSON, and the CNI programs are static. The source package comes from the
# same archive that the machine already installs from and trusts, through a private apt
# configuration below DIR: neither the machine's sources, nor its lists, nor its caches are touched.
# Without such an archive it exits 1 and says why; nothing half-made is left in DIR.
set -eu

dir=${1:?usage: fetch-cjson.sh DIR}
[ -s "$dir/cJSON.c" ] && [ -s "$dir/cjson/cJSON.h" ] && exit 0

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
if ! apt-get -c "$work/apt.conf" -qq source --download-only cjson </dev/null >source.log 2>&1; then
	cat update.log source.log >&2
	fail "apt found no source package cjson"
fi
dpkg-source -q -x ./cjson_*.dsc tree >unpack.log 2>&1 || {
	cat unpack.log >&2
	fail "cannot unpack $(echo cjson_*.dsc)"
}

# LICENSE and the header first: whoever sees cJSON.c sees a complete folder.
mkdir -p "$dir/cjson"
for pair in LICENSE:LICENSE cJSON.h:cjson/cJSON.h cJSON.c:cJSON.c; do
	cp "tree/${pair%%:*}" "$dir/.new"
	mv "$dir/.new" "$dir/${pair#*:}"
done
sed -n 's/^Version: //p' cjson_*.dsc | head -n 1 >"$dir/version"
echo "fetch-cjson: cJSON $(cat "$dir/version") from Debian's source package"

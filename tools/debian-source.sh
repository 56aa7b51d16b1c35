#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetch a source package of the Debian release that runs here: DIR/tree is what it unpacks to, DIR/*.dsc
# its description.
#
# usage: tools/debian-source.sh PACKAGE DIR
#
# It comes from the same archive that the machine already installs from and trusts, through a private apt
# configuration below DIR: neither the machine's sources, nor its lists, nor its caches are touched.
# Without such an archive it exits 1 and says why. DIR/source names what came, a line a file:
# PACKAGE VERSION SHA256 FILE.
#
# apt checks every byte against a signed list, and that the list is neither expired nor from the future,
# whatever the machine's own configuration says. A signed list of tomorrow proves that this clock is behind:
# only then the dates are not looked at, and it is said. An expired list proves nothing, as an old mirror and a
# replayed one look the same: RAILHEAD_EXPIRED_LISTS=yes takes it all the same, and that is said, too.
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
configure()
{
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
Acquire::Check-Valid-Until "$check_until";
Acquire::Check-Date "$check_date";
Acquire::Languages "none";
Acquire::Retries "3";
APT::Get::List-Cleanup "false";
APT::Sandbox::User "root";
CONF

}

fetch() # 0: it is here
{
	configure
	(
		cd "$work"
		# A source that fails (a repository without source packages) does no harm if another one has it.
		apt-get -c "$work/apt.conf" -q update </dev/null >update.log 2>&1 || true
		apt-get -c "$work/apt.conf" -qq source --download-only "$package" </dev/null >source.log 2>&1
	)
}

check_until=true check_date=true
[ "${RAILHEAD_EXPIRED_LISTS:-}" != yes ] || {
	check_until=false
	echo "debian-source: WARNING: RAILHEAD_EXPIRED_LISTS=yes: expired package lists are taken; they may lack fixes" >&2
}
fetched=
fetch && fetched=yes
if [ -z "$fetched" ] && grep -q 'is not valid yet' "$work/update.log"; then
	echo "debian-source: WARNING: this machine's clock ($(date -u)) is behind: the archive's signed list is of later." \
		"Set the clock; until then the dates of lists are not checked" >&2
	check_date=false
	fetch && fetched=yes
fi
if [ -z "$fetched" ]; then
	cat "$work/update.log" "$work/source.log" >&2
	! grep -q 'is expired' "$work/update.log" ||
		fail "the archive's list is expired by this machine's clock ($(date -u)). If the clock is wrong, set it; if the" \
			"mirror is an old one on purpose: RAILHEAD_EXPIRED_LISTS=yes"
	fail "apt found no source package $package"
fi
cd "$work"
dpkg-source -q -x ./"$package"_*.dsc tree >unpack.log 2>&1 || {
	cat unpack.log >&2
	fail "cannot unpack $package"
}
version=$(sed -n 's/^Version: //p' ./"$package"_*.dsc | head -n 1)
sha256sum ./"$package"_* | sed "s|^\([0-9a-f]*\)  \./\(.*\)|$package $version \1 \2|" >source
echo "debian-source: $package $version from the archive's signed list:"
sed 's/^[^ ]* [^ ]* \(.*\)/  sha256 \1/' source

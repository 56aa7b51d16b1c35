#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Make the parts of a release in OUT: source and programs as tar files, their contents (SPDX), the tables that `make
# conformance-doc` and the benches wrote, and checksums. The same commit and the same libraries give the same tar files.
# Nothing is tagged, signed or sent anywhere.
#
# usage: tools/release.sh BUILD OUT
#
# It refuses a tree with changes, and a version without an entry in CHANGELOG.md; RELEASE_DRAFT=1 accepts both. It
# refuses libraries that are older than those of apt.
set -eu

build=${1:?usage: release.sh BUILD OUT}
out=${2:?usage: release.sh BUILD OUT}
tools=${0%/*}
version=$("$tools/version.sh")
epoch=${SOURCE_DATE_EPOCH:-0}
name=railhead-$version

fail()
{
	echo "release: $*" >&2
	exit 1
}

if [ -z "${RELEASE_DRAFT:-}" ]; then
	[ -z "$(git status --porcelain)" ] || fail 'the tree has changes that are not committed'
	grep -q "^## $version ([0-9]" CHANGELOG.md || fail "CHANGELOG.md: \"## $version (DATE)\" is missing"
fi
"$tools/deps-current.sh" --strict "$build" || fail 'see above: link against what Debian offers now'

rm -rf "$out"
mkdir -p "$out/tree"
# Names, owners, times and order are the same whoever packs.
pack() # FILE FOLDER: what is in the folder
{
	tar -C "$2" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" -cf - "$name" | gzip -n -9 >"$1"
}
git archive --prefix="$name/" HEAD | tar -C "$out/tree" -xf -
pack "$out/$name.tar.gz" "$out/tree"
rm -rf "$out/tree"

machine=$(uname -m)
mkdir -p "$out/tree/$name"
DESTDIR=$(cd "$out/tree/$name" && pwd)
export DESTDIR
BIN=$build/bin CNI_BIN=/opt/cni/bin PLUGIN_PREFIX='' sbindir=/usr/local/sbin libexecdir=/usr/local/libexec mandir=/usr/local/share/man \
	bashcompdir=/usr/local/share/bash-completion/completions unitdir=/usr/local/lib/systemd/system \
	FORCE='' STRIP=1 "$tools/install.sh" install >/dev/null
cp LICENSE CHANGELOG.md "$out/tree/$name/"
pack "$out/$name-linux-$machine.tar.gz" "$out/tree"
"$tools/sbom.sh" "$build" "$version" "$out/tree/$name" >"$out/$name-linux-$machine.spdx"
rm -rf "$out/tree"

SOURCE_DATE_EPOCH=$epoch "$tools/chart.sh" "$out" >/dev/null

# The whole tables behind docs/conformance.md and docs/performance.md. They are measurements: their bytes differ.
missing=''
for table in conformance:conformance-doc performance-attach:bench performance-sriov:bench-sriov performance-rdma:bench-rdma \
	performance-topo:bench-topo performance-rails:bench-rails performance-allrails:bench-allrails performance-soak:soak; do
	if [ -s "build/doc/${table%:*}.md" ]; then
		cp "build/doc/${table%:*}.md" "$out/$name-${table%:*}.md"
	else
		missing="$missing make ${table#*:}"
	fi
done
[ -z "$missing" ] || echo "release: without all tables of figures; to have them, run before:$missing" >&2

(cd "$out" && find . -name '*.gz' -o -name '*.tgz' -o -name '*.spdx' -o -name '*.md' | sed 's,^\./,,' | LC_ALL=C sort | xargs sha256sum -- >SHA256SUMS)
echo "release: in $out:"
sed 's/^/  /' "$out/SHA256SUMS"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a release or an image is made of, as SPDX 2.3 (tag and value): each program with its checksum, each archive that
# was linked into the static ones, and each shared library of an image. A library has package, source package and checksum.
#
# usage: tools/sbom.sh BUILD VERSION FOLDER      FOLDER: what was installed, or the root of an image
set -eu

build=${1:?usage: sbom.sh BUILD VERSION FOLDER}
version=${2:?usage: sbom.sh BUILD VERSION FOLDER}
folder=${3:?usage: sbom.sh BUILD VERSION FOLDER}
tab=$(printf '\t')

cat <<HEAD
SPDXVersion: SPDX-2.3
DataLicense: CC0-1.0
SPDXID: SPDXRef-DOCUMENT
DocumentName: railhead-$version
DocumentNamespace: urn:railhead:$version:$(sha256sum "$build/libraries.tsv" | cut -c 1-32)
Creator: Tool: railhead-sbom
Created: $(date -u -d "@${SOURCE_DATE_EPOCH:-0}" +%Y-%m-%dT%H:%M:%SZ)

PackageName: railhead
SPDXID: SPDXRef-railhead
PackageVersion: $version
PackageDownloadLocation: NOASSERTION
FilesAnalyzed: false
PackageLicenseDeclared: Apache-2.0
Relationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-railhead
HEAD

n=0
library() # RELATIONSHIP: reads a line of tools/static-libs.sh a library
{
	while IFS=$tab read -r package package_version source source_version sum file; do
		n=$((n + 1))
		[ "$source" != - ] || source=${file##*/}
		cat <<PACKAGE

PackageName: $source
SPDXID: SPDXRef-library-$n
PackageVersion: ${source_version#-}
PackageFileName: ${file##*/}
PackageDownloadLocation: NOASSERTION
FilesAnalyzed: false
PackageChecksum: SHA256: $sum
PACKAGE
		[ "$source_version" = - ] ||
			echo "ExternalRef: PACKAGE-MANAGER purl pkg:deb/debian/$source@$source_version?arch=source"
		[ "$package" = - ] ||
			echo "ExternalRef: PACKAGE-MANAGER purl pkg:deb/debian/$package@$package_version"
		echo "Relationship: SPDXRef-railhead $1 SPDXRef-library-$n"
	done
}
library STATIC_LINK <"$build/libraries.tsv"

# A library has the path that it has on this host.
shared=$(find "$folder" -type f \( -name '*.so' -o -name '*.so.*' \) | sort | while read -r file; do
	"${0%/*}/static-libs.sh" --file "${file#"$folder"}" "$file"
done)
[ -z "$shared" ] || library DYNAMIC_LINK <<SHARED
$shared
SHARED

n=0
find "$folder" -type f \( -path '*/bin/*' -o -path '*/sbin/*' -o -path '*/libexec/*' -o -path '/*/opt/*/cni/*' \) | sort | while read -r file; do
	n=$((n + 1))
	cat <<FILE

FileName: .${file#"$folder"}
SPDXID: SPDXRef-program-$n
FileChecksum: SHA256: $(sha256sum "$file" | cut -d ' ' -f 1)
Relationship: SPDXRef-railhead CONTAINS SPDXRef-program-$n
FILE
done

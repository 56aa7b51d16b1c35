#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Join images of several machines, as image.sh makes them, into OUT: one tag an image, from which each node takes the image for its machine.
#
# usage: tools/image-index.sh OUT FOLDER...
#
# "skopeo copy --all oci:OUT:plugins docker://REGISTRY/NAME:TAG" sends all of them.
set -eu
export LC_ALL=C
umask 022

out=${1:?usage: image-index.sh OUT FOLDER...}
shift
[ $# -gt 0 ] || {
	echo "usage: image-index.sh OUT FOLDER..." >&2
	exit 2
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
rm -rf "$out"
mkdir -p "$out/blobs/sha256"

for folder; do
	cp "$folder"/blobs/sha256/* "$out/blobs/sha256/"
	for contents in "$folder"/*.spdx; do
		arch=$(jq -r '.manifests[0].platform.architecture' "$folder/index.json")
		name=${contents##*/}
		cp "$contents" "$out/${name%.spdx}-$arch.spdx"
	done
done
for folder; do cat "$folder/index.json"; done | jq -s '[.[].manifests[]] | group_by(.annotations["org.opencontainers.image.ref.name"])' >"$work/names"

n=0
while [ "$n" -lt "$(jq length "$work/names")" ]; do
	jq -cj --argjson n "$n" '{schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests: [.[$n][] | del(.annotations)]}' \
		"$work/names" >"$work/index"
	sum=$(sha256sum "$work/index" | cut -d ' ' -f 1)
	jq -c --argjson n "$n" --arg digest "sha256:$sum" --argjson size "$(stat -c %s "$work/index")" \
		'{mediaType: "application/vnd.oci.image.index.v1+json", digest: $digest, size: $size, annotations: .[$n][0].annotations}' \
		"$work/names" >>"$work/list"
	mv "$work/index" "$out/blobs/sha256/$sum"
	n=$((n + 1))
done
printf '{"imageLayoutVersion":"1.0.0"}' >"$out/oci-layout"
jq -s -cj '{schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests: .}' "$work/list" >"$out/index.json"
jq -r '.manifests[] | "  \(.annotations["org.opencontainers.image.ref.name"]): \(.digest)"' "$out/index.json"
echo "image: in $out, for $# machines"

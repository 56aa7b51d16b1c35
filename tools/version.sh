#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# version.sh: prints the version of this tree.
set -eu
header=$(dirname "$0")/../lib/base/version.h
version=$(sed -n 's/^#define RAILHEAD_VERSION "\(.*\)"$/\1/p' "$header")
[ -n "$version" ] || {
	echo "version.sh: $header has no RAILHEAD_VERSION" >&2
	exit 1
}
echo "$version"

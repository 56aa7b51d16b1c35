#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# chart.sh OUT: the Helm chart as one file in OUT, railhead-VERSION.tgz. Prints its path.
#
# In the tree the chart links files of packaging/kubernetes and packaging/prometheus, so that there is one of each. The file has
# them itself. The same tree gives the same bytes.
set -eu

out=${1:?usage: chart.sh OUT}
cd "$(dirname "$0")/.."
chart=packaging/helm/railhead
version=$(tools/version.sh)
for key in version appVersion; do
	grep -qx "$key: $version" "$chart/Chart.yaml" || {
		echo "chart.sh: $chart/Chart.yaml: $key must be that of lib/base/version.h, $version" >&2
		exit 1
	}
done
mkdir -p "$out"
tar -C "${chart%/*}" --dereference --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@${SOURCE_DATE_EPOCH:-0}" \
	-cf - railhead | gzip -n -9 >"$out/railhead-$version.tgz"
echo "$out/railhead-$version.tgz"

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cnitool-build.sh FILE: make cnitool out of Debian's source package and put it there.
#
# It uses an installed Go compiler, or unpacks Debian's in a temporary folder (81 MB to download, 480 MB of disk
# during the build). Nothing is installed, and only FILE stays.
set -eu
out=$(realpath -m "${1:?usage: cnitool-build.sh FILE}")
top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$(dirname "$out")"
work=$(mktemp -d "$(dirname "$out")/.cnitool-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM

echo "cnitool: fetching the source package golang-github-appc-cni"
"$top/tools/debian-source.sh" golang-github-appc-cni "$work"
go=$(command -v go) || {
	echo "cnitool: fetching a Go compiler"
	mkdir "$work/debs" "$work/go"
	(cd "$work/debs" && apt-get -qq -o APT::Sandbox::User=root download golang-1.19-go golang-1.19-src)
	for deb in "$work"/debs/*.deb; do
		dpkg -x "$deb" "$work/go"
	done
	# Unpacked elsewhere, the links between its two parts lead nowhere.
	root=$work/go/usr/lib/go-1.19
	for part in src test api misc; do
		[ ! -e "$work/go/usr/share/go-1.19/$part" ] || ln -sfn "$work/go/usr/share/go-1.19/$part" "$root/$part"
	done
	export GOROOT=$root
	go=$root/bin/go
}
echo "cnitool: building"
mkdir -p "$work/path/src/github.com/containernetworking"
mv "$work/tree" "$work/path/src/github.com/containernetworking/cni"
cd "$work/path/src/github.com/containernetworking/cni"
GO111MODULE=off GOPATH=$work/path GOCACHE=$work/cache GOFLAGS=-buildvcs=false CGO_ENABLED=0 \
	"$go" build -ldflags '-s -w' -o "$work/cnitool" ./cnitool
mv "$work/cnitool" "$out"
echo "cnitool: $out, $(sed -n 's/^Version: //p' "$work"/*.dsc | head -n 1)"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Make the images of a release in OUT, a folder in the layout of OCI. Each image has a tag, and its contents (SPDX) beside it:
#
#	plugins  nothing but static programs: the plugins, railctl, rdma-probe, railhead-install as entry
#	agent    railheadd, railhead-devices, railctl and sm-ufm, with the shared libraries of this host: packaging/kubernetes/rootfs.sh
#	probe    rdma-probe, with its libraries and the drivers of libibverbs
#
# usage: tools/image.sh BUILD OUT
#
# For arm64: SYSROOT and RUN_WITH as in the Makefile.
#
# The same programs and libraries give the same bytes: names are sorted, owners are 0, times are SOURCE_DATE_EPOCH.
# "skopeo copy oci:OUT:plugins docker://REGISTRY/NAME:TAG" sends one to a registry.
set -eu
export LC_ALL=C
umask 022

build=${1:?usage: image.sh BUILD OUT}
out=${2:?usage: image.sh BUILD OUT}
tools=$(cd "${0%/*}" && pwd)
top=${tools%/*}
version=$("$tools/version.sh")
epoch=${SOURCE_DATE_EPOCH:-0}
created=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)

fail()
{
	echo "image: $*" >&2
	exit 1
}

# The programs say for which machine they are.
case $(od -An -tx1 -j18 -N2 "$build/bin/railhead-install") in
' 3e 00') arch=amd64 ;;
' b7 00') arch=arm64 ;;
*) fail "$build/bin/railhead-install is for an unknown machine" ;;
esac
case $arch in
amd64) strip="strip" ;;
*) strip=aarch64-linux-gnu-strip ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
rm -rf "$out"
mkdir -p "$out/blobs/sha256"

# ---- file systems ----

put() # PROGRAM FILE: stripped, as `make install` does
{
	[ -x "$build/bin/$1" ] || fail "no program $1 in $build/bin; build it with: make"
	mkdir -p "${2%/*}"
	"$strip" -s -o "$2" "$build/bin/$1"
	chmod 755 "$2"
}

fill_plugins()
{
	plugins=$("$tools/plugins.sh")
	for program in $plugins railhead-ipam railhead railhead-hook railctl; do
		put "$program" "$1/opt/railhead/cni/$program"
	done
	put rdma-probe-static "$1/opt/railhead/cni/rdma-probe"
	put railhead-install "$1/usr/local/sbin/railhead-install"
	# A library of this host would not be in the image.
	for program in "$1"/opt/railhead/cni/* "$1"/usr/local/sbin/*; do
		! readelf -lW "$program" | grep -q ' INTERP ' || fail "${program##*/} is not static: see tools/fetch-cjson.sh"
	done
}

fill_agent()
{
	"$top/packaging/kubernetes/rootfs.sh" "$build/bin" "$1"
	for program in railheadd railhead-devices railctl; do
		put $program "$1/usr/local/sbin/$program"
	done
	put sm-ufm "$1/usr/local/libexec/railhead/sm-ufm"
}

# libibverbs opens the drivers that its folder of configuration names.
fill_probe()
{
	put rdma-probe "$1/usr/local/bin/rdma-probe"
	for driver in "${SYSROOT-}"/usr/lib/*-linux-gnu/libibverbs/*.so; do
		install -D -m 755 "$driver" "$1${driver#"${SYSROOT-}"}"
	done
	for conf in "${SYSROOT-}"/etc/libibverbs.d/*.driver; do
		install -D -m 644 "$conf" "$1${conf#"${SYSROOT-}"}"
	done
	"$top/packaging/kubernetes/rootfs.sh" --libraries "$1" "$build/bin/rdma-probe" "$1"/usr/lib/*-linux-gnu/libibverbs/*.so
}

# ---- the layout of OCI ----

blob() # FILE: becomes a blob; prints its digest and size as members of JSON
{
	sum=$(sha256sum "$1" | cut -d ' ' -f 1)
	size=$(stat -c %s "$1")
	mv "$1" "$out/blobs/sha256/$sum"
	printf '"digest":"sha256:%s","size":%s' "$sum" "$size"
}

labels()
{
	printf '"org.opencontainers.image.title":"railhead-%s","org.opencontainers.image.version":"%s","org.opencontainers.image.licenses":"Apache-2.0"' \
		"$1" "$version"
}

image() # NAME ENTRYPOINT
{
	root=$work/$1
	mkdir -p "$root"
	"fill_$1" "$root"
	install -D -m 644 "$top/LICENSE" "$root/usr/share/doc/railhead/LICENSE"
	"$tools/sbom.sh" "$build" "$version" "$root" >"$out/railhead-$1.spdx"

	tar -C "$root" --format=gnu --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" -cf "$work/layer.tar" .
	diff=$(sha256sum "$work/layer.tar" | cut -d ' ' -f 1)
	gzip -n -9 "$work/layer.tar"
	layer=$(blob "$work/layer.tar.gz")
	printf '{"created":"%s","architecture":"%s","os":"linux","config":{"User":"0:0","Env":["PATH=/usr/local/sbin:/usr/local/bin"],"Entrypoint":["%s"],"WorkingDir":"/","Labels":{%s}},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]},"history":[{"created":"%s","created_by":"make image","comment":"railhead %s"}]}' \
		"$created" "$arch" "$2" "$(labels "$1")" "$diff" "$created" "$version" >"$work/config"
	config=$(blob "$work/config")
	printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json",%s},"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip",%s}],"annotations":{%s}}' \
		"$config" "$layer" "$(labels "$1")" >"$work/manifest"
	manifest=$(blob "$work/manifest")
	[ ! -s "$work/index" ] || printf ',' >>"$work/index"
	printf '{"mediaType":"application/vnd.oci.image.manifest.v1+json",%s,"platform":{"architecture":"%s","os":"linux"},"annotations":{"org.opencontainers.image.ref.name":"%s"}}' \
		"$manifest" "$arch" "$1" >>"$work/index"
	echo "  $1: $arch, $(du -sk "$root" | cut -f 1) KiB, ${manifest%%,*}" | tr -d '"'
}

image plugins /usr/local/sbin/railhead-install
image agent /usr/local/sbin/railheadd
image probe /usr/local/bin/rdma-probe
printf '{"imageLayoutVersion":"1.0.0"}' >"$out/oci-layout"
printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[%s]}' "$(cat "$work/index")" >"$out/index.json"
echo "image: in $out, with the contents of each image as SPDX"

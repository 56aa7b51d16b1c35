#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Black-box tests of the package that `make deb` builds: installed by dpkg into a copy of this Debian, used, and removed.
#
# usage: conformance/deb/run.sh DEB [SECOND]
#
# SECOND: the same package, built again elsewhere; it must have the same bytes. DEBFULLNAME, DEBEMAIL: those of
# the build. Needs root and lintian. The copy is an overlay in memory, so
# this machine does not change. Prints a line a case and closes with "N passed, N failed, N skipped".
set -u

[ "$(id -u)" = 0 ] || {
	echo "run.sh: needs root: it mounts a copy of this Debian" >&2
	exit 2
}
if [ "${1-}" != --inside ]; then
	[ -f "${1-}" ] || {
		sed -n 's/^# usage: /usage: /p' "$0" >&2
		exit 2
	}
	exec unshare --mount --propagation private "$0" --inside "$(realpath "$1")" "${2:+$(realpath "$2")}"
fi
DEB=$2
SECOND=${3-}
W=/mnt
PLUGINS=$("${0%/*}/../../tools/plugins.sh")
passed=0 failed=0 skipped=0

expect() # NAME COMMAND...: one case
{
	local name=$1
	shift
	if "$@" >$W/out 2>&1; then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) - deb: $name"
	else
		failed=$((failed + 1))
		echo "not ok $((passed + failed)) - deb: $name"
		sed 's/^/# /' $W/out
	fi
}

mount -t tmpfs deb $W && mkdir $W/upper $W/work $W/root && mount -t overlay -o lowerdir=/,upperdir=$W/upper,workdir=$W/work deb $W/root &&
	mount -t proc proc $W/root/proc && mount --rbind /dev $W/root/dev && mount -t tmpfs run $W/root/run && cp "$DEB" $W/root/railhead.deb || exit 2
in_root() { chroot $W/root env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }

# Without its own files and those of man-db: "KIND PATH", sorted.
files() { (cd $W/upper && find . ! -path './var/lib/dpkg*' ! -path './var/cache*' ! -path './var/log*' ! -name railhead.deb ! -type d | sort); }

lints() { lintian --fail-on error,warning --allow-root "$DEB"; }
is_the_same() { cmp "$DEB" "$SECOND"; }
# The field, and the newest entry of the changelog.
is_of_its_maintainer()
{
	local who="The railhead maintainers <maintainers@railhead.example>"
	[ -z "${DEBEMAIL-}" ] || who="$DEBFULLNAME <$DEBEMAIL>"
	printf '%s\n' "$who" "$who" | diff - <(dpkg-deb -f "$DEB" Maintainer
		dpkg-deb --fsys-tarfile "$DEB" | tar -xO --wildcards './usr/share/doc/railhead/changelog.*gz' | gzip -dc | sed -n 's/^ -- \(.*>\)  .*/\1/p' | head -n 1)
}
has_what_it_shall()
{
	dpkg-deb -c "$DEB" | awk '{ print $6 }' | grep -E '^./usr/(lib/cni|libexec|s?bin)/.*[^/]$' | sort | diff - <(sort <<-FILES
	$(printf './usr/lib/cni/%s\n' railhead-ipam railhead railhead-hook railctl rdma-probe)
	$(printf './usr/lib/cni/rh-%s\n' $PLUGINS)
	./usr/libexec/railhead/railhead-install
	./usr/sbin/railctl
	FILES
	)
}
installs() { in_root dpkg -i /railhead.deb; }
runs()
{
	local plugin
	in_root railctl version && in_root railctl --help && in_root /usr/lib/cni/railctl version && in_root /usr/lib/cni/rdma-probe --version || return
	for plugin in $PLUGINS; do
		in_root env CNI_COMMAND=VERSION CNI_PATH=/usr/lib/cni /usr/lib/cni/rh-$plugin <<<'{"cniVersion":"1.1.0"}' | grep supportedVersions || return
	done
}
has_pages() { in_root man -w railctl railhead-macvlan railhead-pool; }
stays_under_a_pod()
{
	mkdir -p $W/root/run/railhead/attachments/rail0 && : >$W/root/run/railhead/attachments/rail0/p1,net1
	! in_root dpkg -r railhead && [ -x $W/root/usr/lib/cni/rh-macvlan ] && rm -r $W/root/run/railhead
}
# libcni writes such a file after an ADD. The plugin is another project's, and its IPAM is ours.
stays_for_libcni()
{
	local cached=$W/root/var/lib/cni/results
	mkdir -p "$cached" && printf '{"kind":"cniCacheV1","containerId":"p9","config":"%s","ifName":"net1","networkName":"theirs"}' \
		"$(printf '{"type":"bridge","ipam":{"type":"railhead-ipam"}}' | base64 -w0)" >"$cached/theirs-p9-net1" || return
	! in_root dpkg -r railhead 2>$W/said && grep -q 'results/theirs-p9-net1' $W/said && [ -x $W/root/usr/lib/cni/railhead-ipam ] &&
		rm "$cached/theirs-p9-net1"
}
leaves_nothing() { in_root dpkg -r railhead && in_root dpkg -P railhead && files | diff /dev/null -; }

expect 'lintian finds nothing' lints
if [ -n "$SECOND" ]; then
	expect 'built again elsewhere, it has the same bytes' is_the_same
else
	skipped=1
	echo "  skipped: built again elsewhere: no second package was named"
fi
expect 'who publishes it is its maintainer' is_of_its_maintainer
expect 'plugins and railctl, and no program that tests' has_what_it_shall
expect 'dpkg installs it' installs
expect 'railctl and the plugins run' runs
expect 'the manual pages are there' has_pages
expect 'a removal is refused while an attachment needs the plugins' stays_under_a_pod
expect 'it is refused while a pod that only libcni remembers needs one' stays_for_libcni
expect 'after a removal nothing is left' leaves_nothing
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Install what a task needs from Debian, saying what, asking nothing, touching nothing else.
#
# usage: tools/deps.sh build|test|source|check|bench|demo|interop|cluster|vm|fabric|image|browser|arm64|deb|cjson   install what is missing
#        tools/deps.sh --missing build|...                 only look; exit 1 if something is missing
#
# Not root: prints the command to type. Not Debian: looks for the files themselves and lists which
# are missing, by what they are and by Debian's package name. Never reads standard input.
# OS_RELEASE and LOOK_IN (library folders) are for tests.
set -eu

only_look=
if [ "${1:-}" = --missing ]; then
	only_look=yes
	shift
fi
set_name=${1:-}

# Debian package | a file or program it brings, to look for elsewhere | what it is
build="
gcc|gcc|the C compiler
libc6-dev|lib:libc.a|C library with headers and static archive
libnl-3-dev|lib:libnl-3.a|netlink library with headers and static archive
liblmdb-dev|lib:liblmdb.a|LMDB with header and static archive
libexpat1-dev|lib:libexpat.a|XML parser with header and static archive, for topology files
libibverbs-dev|lib:libibverbs.so|RDMA verbs with headers, for rdma-probe
librdmacm-dev|lib:librdmacm.so|RDMA connection manager with header, for rdma-probe
libcurl4-openssl-dev|lib:libcurl.so|HTTP client with header, for the stores of a cluster
libevent-dev|lib:libevent.so|event loop with headers, for the stores of a cluster
libyaml-dev|lib:libyaml.a|YAML parser with header and static archive, for a kubeconfig and for pools of other IPAMs
libnghttp2-dev|lib:libnghttp2.a|HTTP/2 with header and static archive, for gRPC to the kubelet
libprotobuf-c-dev|lib:libprotobuf-c.a|Protocol Buffers with header and static archive, for the kubelet's messages
protobuf-c-compiler|protoc-c|makes C from .proto files
dpkg-dev|dpkg-source|unpacks the source package of cJSON
ca-certificates|/etc/ssl/certs/ca-certificates.crt|certificates, for archives behind TLS"
demo="
iproute2|ip|ip(8)
iputils-ping|ping|ping(8)"
bench="
containernetworking-plugins|/usr/lib/cni/host-local|the reference plugins, to measure against
hwloc-nox|lstopo-no-graphics|hwloc, to measure railctl topo against"
test="
check|lib:libcheck.a|the unit test framework Check
bzip2|bzcat|unpacks captured trees
iproute2|ip|ip(8)"
source="
clang-14|clang-14|second compiler
clang-format-14|clang-format-14|layout
shellcheck|shellcheck|shell script checker"
check="
libclang-rt-14-dev|lib:llvm-14/lib/clang/14.0.6/lib/linux/libclang_rt.fuzzer-x86_64.a|libFuzzer and the sanitizers of clang
llvm-14|llvm-symbolizer-14|names in the reports of sanitizers
clang-tidy-14|clang-tidy-14|static analysis
cppcheck|cppcheck|static analysis
gcovr|gcovr|coverage report
mandoc|mandoc|manual page checker
procps|ps|ps(1)
strace|strace|to stop programs at chosen system calls
iptables|iptables-legacy|NAT as kube-proxy makes it
jq|jq|JSON in shell tests"
interop="
containerd|containerd|container runtime, with ctr
podman|podman|container runtime without a daemon
crun|crun|what both start containers with
umoci|umoci|makes the image
busybox-static|busybox|what is in the image
containernetworking-plugins|/usr/lib/cni/tuning|the reference plugins, to chain with
python3-grpcio|/usr/lib/python3/dist-packages/grpc|gRPC for Python, to talk as a kubelet
python3-grpc-tools|/usr/lib/python3/dist-packages/grpc_tools|its compiler for messages
python3-pkg-resources|/usr/lib/python3/dist-packages/pkg_resources|which that compiler needs
procps|ps|ps(1)
jq|jq|JSON in shell tests"
cluster="
mmdebstrap|mmdebstrap|unpacks the files of a node
curl|curl|asks servers whether they are ready
crun|crun|starts the container of the node agent
busybox-static|busybox|a DHCP server and its client
openssl|openssl|makes the key of service accounts
python3-grpcio|/usr/lib/python3/dist-packages/grpc|gRPC for Python, for a device plugin
iproute2|ip|ip(8)
procps|pgrep|pgrep(1)
jq|jq|JSON in shell tests"
vm="
busybox-static|busybox|first program of the guest
cpio|cpio|packs its initramfs
kmod|modprobe|finds its modules
xz-utils|xz|unpacks them
strace|strace|run in the guest
iputils-ping|ping|run in the guest
perftest|ib_send_bw|run in the guest
systemd|/lib/systemd/systemd|boots our units in the guest
jq|jq|JSON in shell tests"
fabric="
opensm|opensm|a subnet manager of InfiniBand, run over a simulated fabric
ibsim-utils|ibsim|the simulated fabric
libumad2sim0|lib:umad2sim/libumad2sim.so|connects programs to it
infiniband-diags|smpquery|reads partition tables
openssl|openssl|makes the certificate of a stand-in for UFM
python3|python3|runs it
jq|jq|JSON in shell tests"
image="
umoci|umoci|unpacks images
skopeo|skopeo|copies images as to a registry
crun|crun|runs them
strace|strace|to stop programs at chosen system calls
iproute2|ip|ip(8)
jq|jq|JSON in shell tests"
browser="
chromium|chromium|a browser, to look at the page of kubectl rail report
poppler-utils|pdftotext|reads what it prints
python3|python3|stands for an agent, and for a proxy
jq|jq|JSON in shell tests"
arm64="
gcc-aarch64-linux-gnu|aarch64-linux-gnu-gcc|the compiler for arm64
qemu-user|qemu-aarch64|runs its programs
mmdebstrap|mmdebstrap|unpacks libraries for arm64"
deb="
debhelper|dh|builds the package
lintian|lintian|checks it
fakeroot|fakeroot|owners in the package"
cjson="
libcjson-dev|/usr/include/cjson/cJSON.h|cJSON, shared library and header"

case $set_name in
build) table=$build ;;
demo) table=$build$demo$bench ;;
bench) table=$build$demo$bench ;;
test) table=$build$test ;;
source) table=$build$test$source ;;
check) table=$build$demo$bench$test$source$check$interop$cluster$vm$fabric$image ;;
interop) table=$build$demo$interop ;;
cluster) table=$build$cluster ;;
vm) table=$build$demo$vm ;;
fabric) table=$build$fabric ;;
image) table=$build$image ;;
browser) table=$build$browser ;;
arm64) table=$build$test$arm64 ;;
deb) table=$build$deb ;;
cjson) table=$cjson ;;
*)
	sed -n 's/^# \{0,1\}\(usage:.*\|       tools.*\)/\1/p' "$0" >&2
	exit 2
	;;
esac

is_debian()
{
	# shellcheck source=/dev/null
	( . "${OS_RELEASE:-/etc/os-release}" 2>/dev/null && [ "${ID:-}" = debian ] ) &&
		command -v apt-get >/dev/null && command -v dpkg-query >/dev/null
}

missing_packages() # those of the table that dpkg does not show as installed
{
	names=$(echo "$table" | cut -d '|' -f 1 | awk '!seen[$0]++')
	# shellcheck disable=SC2086 # words on purpose
	installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $names 2>/dev/null |
		sed -n 's/ installed$//p') || true
	for name in $names; do
		echo "$installed" | grep -qxF "$name" || printf ' %s' "$name"
	done
}

exists() # FILE, lib:ARCHIVE or PROGRAM
{
	case $1 in
	/*) [ -e "$1" ] ;;
	lib:*)
		for dir in ${LOOK_IN:-/usr/lib /usr/lib64 /usr/local/lib /usr/lib/*-linux-*}; do
			[ -e "$dir/${1#lib:}" ] && return 0
		done
		return 1
		;;
	*) command -v "$1" >/dev/null 2>&1 ;;
	esac
}

elsewhere() # not Debian: look for the things themselves
{
	lines=$(echo "$table" | while IFS='|' read -r package file words; do
		[ -z "$package" ] || [ "$package" = dpkg-dev ] || exists "$file" ||
			printf '  %-28s %s (looked for %s)\n' "$package" "$words" "${file#lib:}"
	done)
	[ -n "$lines" ] || exit 0
	{
		echo "This is not Debian, so nothing is installed for you. Missing for 'make $set_name'," \
			"by Debian's package names:"
		echo "$lines"
	} >&2
	exit 1
}

is_debian || elsewhere

packages=$(missing_packages)
[ -n "$packages" ] || exit 0
packages=${packages# }

if [ -n "$only_look" ]; then
	echo "Missing packages: $packages" >&2
	echo "To install them: sudo tools/deps.sh $set_name" >&2
	exit 1
fi
if [ "$(id -u)" != 0 ]; then
	echo "Missing packages: $packages" >&2
	echo "To install them:  sudo apt-get install -y --no-install-recommends $packages" >&2
	exit 1
fi

echo "Installing from Debian what 'make $set_name' needs: $packages"
export DEBIAN_FRONTEND=noninteractive

apt() # with one line of progress a package, without questions
{
	apt-get -q -y -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 \
		-o Dpkg::Options::=--force-confold "$@" </dev/null
}

install() # PACKAGE...
{
	apt install --no-install-recommends "$@" >"$log" 2>&1 &
	child=$!
	trap 'kill "$child" 2>/dev/null; rm -f "$log" $policy; exit 130' HUP INT TERM
	tail -n +1 -f --pid="$child" "$log" 2>/dev/null |
		sed -u -n 's/^\(Need to get .*\)/  \1/p
			s/^Get:[0-9]* [^ ]* [^ ]* [^ ]* \([^ ]*\) .*/  fetched \1/p
			s/^Setting up \([^ :]*\).*/  installed \1/p'
	wait "$child"
}

# Only tests run container runtimes and opensm, in namespaces of their own: installing them starts no service.
policy=/usr/sbin/policy-rc.d
case " $packages " in
*' containerd '* | *' podman '* | *' opensm '*) [ ! -e "$policy" ] || policy= ;;
*) policy= ;;
esac
[ -z "$policy" ] || {
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod +x "$policy"
}

log=$(mktemp)
trap 'rm -f "$log" $policy' EXIT
lists=/var/lib/apt/lists
# shellcheck disable=SC2086 # words on purpose
if ! ls "$lists"/*Packages* >/dev/null 2>&1; then
	echo "  no package lists here yet: apt-get update"
	apt update >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
	install $packages || { cat "$log" >&2; exit 1; }
elif ! install $packages; then
	echo "  the package lists may be old: apt-get update, then once more"
	apt update >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
	install $packages || { cat "$log" >&2; exit 1; }
fi
echo "  done"

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# settings.sh HELPERS DIR: the real NCCL and UCX read the files that a pod gets (rdma/env/testdata).
#
# HELPERS has nccl_env.so. DIR keeps Debian's packages, unpacked: 230 MB, fetched once. No GPU and no RDMA device is
# needed. Without a mirror of Debian the cases are skipped. Prints ok / not ok lines; the last line is "N passed, N failed, N skipped".
set -eu
[ $# = 2 ] || {
	sed -n '3s/^# //p' "$0" >&2
	exit 2
}
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
HELPERS=$(cd "$1" && pwd)
WHO=settings
# shellcheck source=conformance/debian.sh
. "$HERE/../debian.sh"
fetch_into "$2" lock
FILES=$ROOT/rdma/env/testdata
W=$(mktemp -d)
LIBS=usr/lib/x86_64-linux-gnu

# have NAME COMPONENTS RELEASE PACKAGE...: unpack them into DIR/NAME, unless they are there.
have()
{
	local name=$1 components=$2 release=$3
	shift 3
	[ ! -e "$DIR/$name" ] || return 0
	private_apt
	(
		sources "$release"
		sed -i "s/ $release main\$/ $release $components/" "$APT/sources.list"
		apt apt-get update >"$APT/log" 2>&1
		cd "$APT"
		say "fetching $* from $release"
		apt apt-get download "${@/%//$release}" >"$APT/log" 2>&1
		mkdir "$DIR/$name.new"
		unpack_into "$DIR/$name.new" "$name"
		mv "$DIR/$name.new" "$DIR/$name"
	) >&2 || return 1
}

passed=0 failed=0 skipped=0
check() # TEXT WANTED GOT
{
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) - $1"
	else
		failed=$((failed + 1))
		printf 'not ok %d - %s\n# wanted:\n%s\n# got:\n%s\n' $((passed + failed)) "$1" "$2" "$3"
	fi
}
skip()
{
	skipped=$((skipped + 1))
	echo "skipped: $1"
}

if [ "$(uname -m)" = x86_64 ] && have ucx main "$CODENAME" ucx-utils libucx0 libibverbs1 librdmacm1 libnuma1 libnl-3-200 libnl-route-3-200; then
	ucx_info() { LD_LIBRARY_PATH=$DIR/ucx/$LIBS "$@" "$DIR/ucx/usr/bin/ucx_info" -c 2>/dev/null | grep -xFf "$FILES/ucx.conf" | sort; }
	check "UCX reads ucx.conf" "$(sort "$FILES/ucx.conf")" "$(ucx_info env UCX_CONFIG_DIR="$FILES")"
	check "without it UCX has other values" "" "$(ucx_info env)"
	check "a variable of the process wins" UCX_NET_DEVICES=mlx5_1:1 "$(ucx_info env UCX_CONFIG_DIR="$FILES" UCX_IB_GID_INDEX=7)"
else
	skip "Debian's UCX cannot be fetched here"
fi

if [ "$(uname -m)" = x86_64 ] && have nccl "main contrib" sid libnccl2 libc6 libgcc-s1 libstdc++6; then
	# The library of sid needs the other libraries of sid, and their loader.
	nccl() # NAME=VALUE...: the variables NCCL_* in the end, without those
	{
		${LOADER-} env -u HOME "$@" "$DIR/nccl/$LIBS/ld-linux-x86-64.so.2" --library-path "$DIR/nccl/$LIBS" \
			--preload "$HELPERS/nccl_env.so $DIR/nccl/$LIBS/libnccl.so.2" /bin/true 2>"$W/err" |
			grep -e Bootstrap -e NCCL_IB -e NCCL_SOCKET
	}
	# NCCL does not start without the interface of the file.
	sed 's/eth0/lo/' "$FILES/nccl.conf" >"$W/nccl.conf"
	check "NCCL reads the file of NCCL_CONF_FILE" "$(sort "$W/nccl.conf")" "$(nccl NCCL_CONF_FILE="$W/nccl.conf" | sort)"
	check "NCCL uses its interface" 1 "$(nccl NCCL_DEBUG=INFO NCCL_CONF_FILE="$W/nccl.conf" | grep -c 'Bootstrap: Using lo:')"
	# In a container it is a link, if there is no such file.
	in_etc() { unshare -rm sh -c 'mount -t tmpfs etc /etc && ln -s "$0" /etc/nccl.conf && exec "$@"' "$W/nccl.conf" "$@"; }
	check "NCCL reads /etc/nccl.conf without a variable" "$(sort "$W/nccl.conf")" "$(LOADER=in_etc nccl | sort)"
	echo NCCL_IB_GID_INDEX=7 >"$W/mine"
	check "a file of the user wins" NCCL_IB_GID_INDEX=7 "$(LOADER=in_etc nccl NCCL_CONF_FILE="$W/mine" | grep INDEX)"
	check "without it NCCL has no values" "" "$(nccl)"
	check "a variable of the process wins" NCCL_IB_GID_INDEX=7 "$(nccl NCCL_CONF_FILE="$W/nccl.conf" NCCL_IB_GID_INDEX=7 | grep INDEX)"
else
	skip "Debian's NCCL cannot be fetched here: it is in contrib of sid"
fi
rm -rf "$W"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]

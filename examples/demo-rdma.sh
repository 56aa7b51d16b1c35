#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# demo-rdma.sh BINDIR: RoCE traffic between two pods, on a machine without RDMA hardware, in two to five minutes.
#
# QEMU emulates a machine with two network cards and Linux 7.2. The kernel's software RDMA device (rxe) replaces that of a
# card. demo-rdma-guest.sh runs in it. It needs root and does not change this machine. The first run downloads QEMU
# and the kernel from Debian into build/vm/ (300 MB) and unpacks them there, without installing them.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] && [ -x "$1/rdma-probe" ] || {
	echo "usage: demo-rdma.sh BINDIR (where the programs are: build/bin)" >&2
	exit 2
}

BOLD='' FAINT='' GOOD='' BAD='' END=''
if [ -t 1 ] && [ -z "${NO_COLOR-}" ] && [ "${TERM-dumb}" != dumb ]; then
	BOLD=$'\e[1m' FAINT=$'\e[2m' GOOD=$'\e[32m' BAD=$'\e[31m' END=$'\e[0m'
fi
# The output of the guest in colours, without the lines for tests. The last line counts checks.
shown()
{
	sed -u -E -e '/^vm: +[0-9]+ s +suite /d' -e '/^[0-9]+ passed, [0-9]+ failed/d' -e '/^qemu-system/d' \
		-e "s/^(vm: .*)/$FAINT\1$END/" -e "s/^([0-9]\. .*)/$BOLD\1$END/" -e "s/^( +[$] .*)/$FAINT\1$END/" \
		-e "s/^   ok  /   ${GOOD}ok$END  /" -e "s/^   failed  /   ${BAD}failed$END  /"
}

printf '%sRoCE between two pods%s: a machine, emulated for this demo and gone after it.\n' "$BOLD" "$END"
"$HERE/../conformance/vm/run" --kernel 7.2 --limit "${LIMIT:-900}" --bin "$1" "$HERE/demo-rdma-guest.sh" 2>&1 | shown
[ "${PIPESTATUS[0]}" = 0 ] || {
	printf '%sIt did not go as it should:%s see above.\n' "$BAD" "$END"
	exit 1
}
cat <<-'END_OF_TEXT'

	Where to go on
	   examples/multus/rdma-*.yaml   the same for cards: macvlan, ipvlan, VFs, eight rails
	   man -l docs/man/railhead-rdma.8, railctl.8, rdma-probe.8
	   conformance/vm/run --kernel 7.2 rdma-traffic    the same as a test, with ipvlan, VFs and perftest
END_OF_TEXT

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [--seed N] [--count N] [--only N] BINDIR: generated configurations for railhead-ipam and the real host-local.
#
# Equal answers (addresses, routes, gateway, dns, or refusal), or a reason that compare.c lists. The seed is
# fixed; --only N shows one case. HELPERS=DIR: where the driver was built; PEER_DIR: the reference plugins.
# Prints "not ok" for each difference; the last line is "N passed, N failed, N skipped".
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# shellcheck source=conformance/harness/suite.sh
. "$HERE/../harness/suite.sh"
into_sandbox "$@"
SEED=20261122 COUNT=4000 ONLY=''
take_options "seed count only" "${ARGS[@]}"
set -- "${ARGS[@]}"
[ $# = 1 ] && [ -d "$1" ] || usage
BIN=$(cd "$1" && pwd)
PEER_DIR=${PEER_DIR:-/usr/lib/cni}
[ -x "$PEER_DIR/host-local" ] || {
	echo "skipped: there is no host-local in $PEER_DIR"
	exit 0
}
[ -z "${HELPERS-}" ] || HELPERS=$(realpath "$HELPERS")
W=/run/work

# A copy: a build meanwhile must not pull the programs away.
cp "$BIN/railhead-ipam" "$PEER_DIR/host-local" "$HELPERS/differential" "$W" || exit 2
printf 'nameserver 10.2.2.2\nnameserver fd00::53\nsearch a.local b.local\ndomain d.local\noptions ndots:2 edns0\n' \
	>"$W/resolv.conf"
: >"$W/empty.conf"
printf '# comment\n  nameserver 10.2.2.2 \nnameserver\t10.2.2.3\n;x\nsearch a.local\nsearch c.local  d.local\nunknown x\n' \
	>"$W/odd.conf"
# The node has addresses in some of the ranges: gives_of_node of compare.c.
ip link set lo up && for a in 10.3.0.254/32 172.16.8.3/32 10.5.0.131/32 fd00:1::ff/128; do ip addr add "$a" dev lo || exit 2; done
cd "$W" || exit 2
# A program that is wrong must be found out, or the rest proves nothing.
cat >"$W/wrong" <<-EOF
	#!/bin/sh
	out=\$($W/railhead-ipam)
	rc=\$?
	echo "\$out" | sed 's,"gateway":.*"1,"gateway": "2,'
	exit \$rc
EOF
chmod +x "$W/wrong"
if [ -z "$ONLY" ]; then
	"$W/differential" "$W/wrong" "$W/host-local" "$SEED" 300 >"$W/wrong.out"
	grep -q '^not ok - case .*addresses: here .* via 20[.]1[.]0[.]1; , there .* via 10[.]1[.]0[.]1; ' "$W/wrong.out" || {
		echo "not ok - a program that changes a gateway was not found out"
		echo "0 passed, 1 failed, 0 skipped"
		exit 1
	}
	rm -rf /var/lib/railhead /var/lib/cni "$W/data"
fi
# shellcheck disable=SC2086 # one number or nothing
exec "$W/differential" "$W/railhead-ipam" "$W/host-local" "$SEED" "$COUNT" $ONLY

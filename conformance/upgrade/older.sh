#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# older.sh DIR [COMMIT]: build the node's programs of an older version into DIR/bin, from the history of this repository.
#
# The default is the oldest version whose pods live through an upgrade to this one. There is no release yet: it is the commit before
# shared pools, with the first format of the store. They stay until the commit changes. Exit status 3: the history is not here, as in a
# release's archive or a shallow clone; the last line says so.
set -eu
[ $# -ge 1 ] || {
	sed -n '3s/^# //p' "$0" >&2
	exit 2
}
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
COMMIT=${2:-d77553437d759c69e96ed6c06114ff6822a9fac4}
mkdir -p "$1"
DIR=$(cd "$1" && pwd)

[ "$(cat "$DIR/commit" 2>/dev/null)" != "$COMMIT" ] || exit 0
git -C "$HERE" cat-file -e "$COMMIT^{commit}" 2>/dev/null || {
	echo "the history of this repository has no commit $COMMIT"
	exit 3
}
rm -rf "$DIR/tree" "$DIR/commit"
mkdir -p "$DIR/tree" "$DIR/bin"
git -C "$HERE/../.." archive "$COMMIT" | tar -x -C "$DIR/tree"
echo "building macvlan, railhead-ipam and railctl of commit $COMMIT"
make -C "$DIR/tree" -j"$(nproc)" ${CC:+CC="$CC"} build/bin/macvlan build/bin/railhead-ipam build/bin/railctl >"$DIR/log" 2>&1 || {
	tail -n 20 "$DIR/log"
	exit 1
}
cp "$DIR"/tree/build/bin/{macvlan,railhead-ipam,railctl} "$DIR/bin"
rm -rf "$DIR/tree"
echo "$COMMIT" >"$DIR/commit"

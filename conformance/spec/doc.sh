#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# doc.sh BINDIR: docs/conformance.md on stdout: the items side by side for our plugins and the reference's.
# ipvlan and sriov are held to them in a guest of conformance/vm, which takes an hour on a busy machine, unless GUEST names
# a folder with the ipvlan.json and sriov.json of such a run.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BIN=$(cd "${1:?usage: doc.sh BINDIR}" && pwd)
PROGRAM=${PROGRAM:-$BIN/../conformance/spec/cni-conformance}
PEER_DIR=${PEER_DIR:-/usr/lib/cni}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

names=()
column() # NAME PLUGIN PROFILE
{
	names+=("$1")
	echo "conformance-doc: $1" >&2
	"$PROGRAM" --plugin "$2" --profile "$HERE/profiles/$3.json" --jobs 4 --format json >"$work/${#names[@]}.json"
	[ -s "$work/${#names[@]}.json" ] || exit 1
}
guest_column() # NAME PLUGIN
{
	names+=("$1")
	cp "$GUEST/$2.json" "$work/${#names[@]}.json" || exit 1
}
[ -n "${GUEST-}" ] || {
	GUEST=$work/guest
	FULL=1 "$HERE/../vm/run" --bin "$BIN" --limit 7200 --out "$GUEST" spec >&2 || exit 1
}
column 'railhead macvlan' "$BIN/macvlan" railhead-macvlan
guest_column 'railhead ipvlan' ipvlan
guest_column 'railhead sriov' sriov
[ ! -e "$GUEST/rdma.json" ] || guest_column 'railhead rdma' rdma
column 'reference macvlan' "$PEER_DIR/macvlan" reference-macvlan
column 'railhead-ipam' "$BIN/railhead-ipam" railhead-ipam
column 'reference host-local' "$PEER_DIR/host-local" reference-host-local
column 'reference static' "$PEER_DIR/static" reference-static
n=${#names[@]}

# One line an item: item level title, then per column verdict and note.
jq -rs --argjson n "$n" '
	group_by(.item)[] | [.[0].item, .[0].level, .[0].title] +
	[.[] | (if .verdict == "FAIL" then "**fail**" elif .verdict == "n/a" then "" else .verdict end)]
	| "| " + join(" | ") + " |"' "$work"/[0-9].json >"$work/table"

count() { jq -rs --arg l "$2" --arg v "$3" '[.[] | select(.level == $l and .verdict == $v)] | length' "$work/$1.json"; }
notes() # VERDICT COLUMN
{
	jq -r --arg v "$1" 'select(.verdict == $v) | "| \(.item) | \(.level) | \(.title) | \(.note | gsub("[|]"; "\\|") | gsub("`"; "")) |"' \
		"$work/$2.json"
}

cat <<END
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by: make conformance-doc. Do not edit. -->
# Conformance, side by side

\`cni-conformance\` (see [conformance/spec](../conformance/spec/README.md)) holds a plugin's program against a
numbered list of the CNI protocol's rules: environment and stdin go in; stdout, exit status, the namespace and the wire
are looked at. Compared here: railhead of this tree, and Debian's containernetworking-plugins
$(dpkg-query -W -f '${Version}' containernetworking-plugins 2>/dev/null || echo '(unknown version)'), which know the
protocol up to $(CNI_COMMAND=VERSION "$PEER_DIR/macvlan" </dev/null | jq -r '.supportedVersions[-1]'); on Linux $(uname -r | sed 's/-.*//').
To repeat this page: \`make conformance-doc\`.

How to read it: MUST, SHOULD and MAY are the words of the specification, CONV those of its conventions, LIB is what the
reference library does and runtimes have come to expect, DES is what railhead's own checklist asks where the
specification is silent or contradicts itself. A failure of DES is therefore a difference of opinion about
robustness, not a violation. An empty cell: the item does not apply to that plugin (an IPAM makes no links; a version
without STATUS has none to check), or it is a duty of the runtime. \`deviates\`: we do otherwise on purpose, the reason is
below. Newer releases of the reference plugins differ from Debian's in some items.

ipvlan, sriov and rdma were run in the guest of [conformance/vm](../conformance/vm/README.md): sriov on the VFs of two emulated
82576 cards, rdma in mode shared behind an interface with rxe, where what a plugin that only chains cannot do does not apply. What sriov does beyond the protocol (attributes, bandwidth tiers, MACs, names, owners) its suite there
reads back from the kernel.

Each item was seen to fail against at least one plugin made wrong for it (\`conformance/spec/selftest.sh\`).

## Summary

END
printf '| |'
printf ' %s |' "${names[@]}"
printf '\n| --- |'
for ((i = 0; i < n; i++)); do printf ' --- |'; done
echo
for level in MUST SHOULD MAY CONV LIB DES; do
	printf '| %s |' "$level"
	for ((i = 1; i <= n; i++)); do
		f=$(count "$i" $level FAIL)
		printf ' %s pass' "$(count "$i" $level pass)"
		[ "$f" = 0 ] || printf ', **%s fail**' "$f"
		printf ' |'
	done
	echo
done
printf '\n## Items\n\n| item | level | rule |'
printf ' %s |' "${names[@]}"
printf '\n| --- | --- | --- |'
for ((i = 0; i < n; i++)); do printf ' --- |'; done
echo
cat "$work/table"
printf '\n## Where railhead deviates\n\n| item | level | rule | why |\n| --- | --- | --- | --- |\n'
for ((i = 1; i <= n; i++)); do notes deviates "$i"; done
for ((i = 1; i <= n; i++)); do
	[ -n "$(notes FAIL "$i")" ] || continue
	printf '\n## What was seen: %s\n\n| item | level | rule | seen |\n| --- | --- | --- | --- |\n' "${names[i - 1]}"
	notes FAIL "$i"
done
END_OF_ITEMS=$(jq -rs '[.[] | select(.verdict == "n/a" and (.note | test("duty of the runtime|needs failing|for IPAMs with")))] | unique_by(.item)[] | "| \(.item) | \(.title) | \(.note) |"' "$work/1.json")
printf '\n## Not to be seen from outside\n\n| item | rule | why |\n| --- | --- | --- |\n%s\n' "$END_OF_ITEMS"

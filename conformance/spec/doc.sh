#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# doc.sh BINDIR OUT: write OUT/conformance.md, every item for our plugins and the reference's side by side, and
# OUT/conformance-short.md, the totals and the deviations, which is docs/conformance.md.
# ipvlan, sriov, ib-sriov, ipoib and rdma run in guests of conformance/vm, which takes an hour on a busy machine. GUEST names a folder
# with the results of an earlier run, PLUGIN.json for each of them, and then no guest runs.
set -u
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BIN=$(cd "${1:?usage: doc.sh BINDIR OUT}" && pwd)
OUT=${2:?usage: doc.sh BINDIR OUT}
mkdir -p "$OUT" || exit 2
PROGRAM=${PROGRAM:-$BIN/../conformance/spec/cni-conformance}
PEER_DIR=${PEER_DIR:-/usr/lib/cni}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

names=()
outcome() { printf '%s/column-%02d.json' "$work" "$1"; } # N: so that * has the order of the columns
column() # NAME PLUGIN PROFILE
{
	names+=("$1")
	echo "conformance-doc: $1" >&2
	"$PROGRAM" --plugin "$2" --profile "$HERE/profiles/$3.json" --jobs 4 --format json >"$(outcome ${#names[@]})"
	[ -s "$(outcome ${#names[@]})" ] || exit 1
}
guest_column() # NAME PLUGIN
{
	names+=("$1")
	cp "$GUEST/$2.json" "$(outcome ${#names[@]})" || exit 1
}
[ -n "${GUEST-}" ] || {
	GUEST=$work/guest
	FULL=1 "$HERE/../vm/run" --bin "$BIN" --limit 7200 --out "$GUEST" spec >&2 || exit 1
	FULL=1 "$HERE/../vm/run" --bin "$BIN" --limit 7200 --out "$work/ib" ib-spec >&2 || exit 1
	cp "$work/ib"/*.json "$GUEST" || exit 1
}
column 'railhead macvlan' "$BIN/macvlan" railhead-macvlan
guest_column 'railhead ipvlan' ipvlan
guest_column 'railhead sriov' sriov
guest_column 'railhead ib-sriov' ib-sriov
guest_column 'railhead ipoib' ipoib
guest_column 'railhead rdma' rdma
column 'reference macvlan' "$PEER_DIR/macvlan" reference-macvlan
column 'railhead-ipam' "$BIN/railhead-ipam" railhead-ipam
column 'reference host-local' "$PEER_DIR/host-local" reference-host-local
column 'reference static' "$PEER_DIR/static" reference-static
n=${#names[@]}

# One line an item: item level title, then per column verdict and note.
jq -rs --argjson n "$n" '
	group_by(.item)[] | [.[0].item, .[0].level, .[0].title] +
	[.[] | (if .verdict == "FAIL" then "**fail**" elif .verdict == "n/a" then "" else .verdict end)]
	| "| " + join(" | ") + " |"' "$work"/column-*.json >"$work/table"

count() { jq -rs --arg l "$2" --arg v "$3" '[.[] | select(.level == $l and .verdict == $v)] | length' "$(outcome "$1")"; }
notes() # VERDICT COLUMN
{
	jq -r --arg v "$1" 'select(.verdict == $v) | "| \(.item) | \(.level) | \(.title) | \(.note | gsub("[|]"; "\\|") | gsub("`"; "")) |"' \
		"$(outcome "$2")"
}

introduction() # LINK-PREFIX of the tree
{
	cat <<END
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by: make conformance-doc. Do not edit. -->
# Conformance, side by side

\`cni-conformance\` (see [conformance/spec]($1conformance/spec/README.md)) checks a plugin's program against a numbered list of
rules of the CNI protocol. It sets environment and stdin, and looks at stdout, exit status, the namespace and the packets.

This page compares railhead of this tree with Debian's containernetworking-plugins
$(dpkg-query -W -f '${Version}' containernetworking-plugins 2>/dev/null || echo '(unknown version)'), which know the
protocol up to $(CNI_COMMAND=VERSION "$PEER_DIR/macvlan" </dev/null | jq -r '.supportedVersions[-1]'), on Linux $(uname -r | sed 's/-.*//').
Newer releases of the reference plugins differ in some items. Each item was seen to fail against at least one plugin that breaks its rule
(\`conformance/spec/selftest.sh\`).

| level | source of the rule |
| --- | --- |
| MUST, SHOULD, MAY | words of the specification |
| CONV | the conventions of the specification |
| LIB | behaviour of the reference library that runtimes expect |
| DES | railhead's own checklist, where the specification says nothing or contradicts itself; a failure is not a violation |

ipvlan, sriov, ib-sriov, ipoib and rdma ran in the virtual machine of [conformance/vm]($1conformance/vm/README.md). sriov used the VFs of
two emulated 82576 cards. ib-sriov and ipoib used cards of [conformance/vm/fabric]($1conformance/vm/fabric.md), which carry no frames
of Ethernet for CNI-160. rdma ran in mode shared after a plugin whose interface has rxe; items that a chained plugin cannot fulfil do not apply. The
suite \`sriov\` there checks features beyond the protocol: attributes, bandwidth tiers, MACs, names, owners.
END
}

summary()
{
	printf '\n## Totals\n\n| |'
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
}

items()
{
	printf '\n## Items\n\nAn empty cell: the item does not apply to that plugin, or it is a duty of the runtime.\n\n| item | level | rule |'
	printf ' %s |' "${names[@]}"
	printf '\n| --- | --- | --- |'
	for ((i = 0; i < n; i++)); do printf ' --- |'; done
	echo
	cat "$work/table"
}

deviations()
{
	printf '\n## Deviations of railhead\n\nThe plugins differ on purpose in these items.\n\n| item | level | rule | reason |\n| --- | --- | --- | --- |\n'
	for ((i = 1; i <= n; i++)); do notes deviates "$i"; done | sort -u
}

failures()
{
	for ((i = 1; i <= n; i++)); do
		[ -n "$(notes FAIL "$i")" ] || continue
		printf '\n## Failures: %s\n\n| item | level | rule | seen |\n| --- | --- | --- | --- |\n' "${names[i - 1]}"
		notes FAIL "$i"
	done
}

unseen()
{
	printf '\n## Not visible from outside\n\n| item | rule | reason |\n| --- | --- | --- |\n'
	jq -rs '[.[] | select(.verdict == "n/a" and (.note | test("duty of the runtime|needs failing|for IPAMs with")))] |
		unique_by(.item)[] | "| \(.item) | \(.title) | \(.note) |"' "$(outcome 1)"
}

{
	introduction ''
	summary
	items
	deviations
	failures
	unseen
} >"$OUT/conformance.md"
{
	introduction ../
	printf '\n%s\n' "\`make conformance-doc\` repeats this page. It also writes \`build/doc/conformance.md\`, which has every item, and the failures"
	printf 'of the reference plugins with their output. A release contains that file.\n'
	summary
	deviations
	unseen
} >"$OUT/conformance-short.md"

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# topo_made.sh: the made trees of topo/testdata/made: each form of the answer, and that all forms agree.
# shellcheck disable=SC2154

# made_answer NAME: its part of topo/testdata/made/answers.
made_answer()
{
	local form
	echo "=== $1"
	for form in '' --env --map --labels; do
		echo "--- topo $form"
		# shellcheck disable=SC2086
		railctl topo --sysfs "$W/$1" $form
	done
	echo "--- topo --svg: title and sentences"
	railctl topo --sysfs "$W/$1" --svg - | sed -n 's/.*<title>\(.*\)<\/title>.*/\1/p; s/.*<text class="t"[^>]*>\([^<]*\)<.*/\1/p'
	echo "--- topo check: findings of GPUs and HCAs, without what only root can read"
	railctl topo check --sysfs "$W/$1" --json |
		jq -r '.findings[] | select(.check | IN("distance", "c2c", "data-direct", "role", "vm", "vm-tree", "nearest", "numa"))
			| [.check, .state, .value] | map(. // "-") | join(" ")' | sort | uniq -c | sed 's/^ *//'
}

test_topo_made_answers()
{
	local file name n=0
	for file in "$DATA"/made/*.txt; do
		name=${file##*/}
		name=${name%.txt}
		made "$name"
		made_answer "$name" >"$W/answer" 2>&1
		awk -v head="=== $name" '/^=== / { on = $0 == head } on' "$DATA/made/answers" |
			diff - "$W/answer" >"$W/diff" || fail "$name: $(head -12 "$W/diff")"
		n=$((n + 1))
	done
	[ "$n" -ge 12 ] || fail "only $n trees"
}

# The JSON says the same as the variables, the table and the file for NCCL.
test_topo_made_forms_agree()
{
	local file name fused=0
	for file in "$DATA"/made/*.txt; do
		name=${file##*/}
		name=${name%.txt}
		made "$name"
		ok topo --sysfs "$W/$name" --json
		fits_schema "$name"
		nets_are_hcas "$name"
		cp "$W/out" "$W/json"
		fused=$((fused + $(jq '[.gpus[].nccl // empty | .local[] | select(contains("+"))] | length > 0 | if . then 1 else 0 end' "$W/json")))
		ok topo --sysfs "$W/$name"
		sed -n '/^PCI /,$p' "$W/out" | awk 'NR > 1 && /^[0-9a-f]/ { print $1, $8, $11 }' >"$W/table"
		jq -r '.gpus[] | [.bdf, .assigned // "-", (if .nccl.class == null then "-" elif .nccl.gdr then "on" else "off" end)] | join(" ")' "$W/json" |
			diff - "$W/table" >"$W/diff" || fail "$name: JSON (<), table (>): $(head -4 "$W/diff")"
		ok topo --sysfs "$W/$name" --env --json
		jq -r '.env[] | select(.name == "UCX_NET_DEVICES") | .value' "$W/out" | tr , '\n' | sed 's/:.*//' | sort >"$W/env"
		jq -r '.gpus[] | .share[]?' "$W/json" | sort -u >"$W/shares"
		[ ! -s "$W/env" ] || diff "$W/env" "$W/shares" >"$W/diff" || fail "$name: env (<), shares (>): $(head -4 "$W/diff")"
		ok topo --sysfs "$W/$name" --labels
		has "railhead.io/gpus=$(jq '.gpus | length' "$W/json")"
		has "railhead.io/hcas=$(jq '.hcas | length' "$W/json")"
	done
	[ "$fused" -ge 2 ] || fail "only $fused trees have fused ports"
}

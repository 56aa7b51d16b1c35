# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# topo_pictures.sh: the pictures of topo: SVG, and the graph that dot of Graphviz reads.
# shellcheck disable=SC2154

# Every tag is closed, in order; no text has a bare sign.
well_formed()
{
	awk '
	{ text = text $0 "\n" }
	END {
		while (match(text, /<[^>]*>/)) {
			before = substr(text, 1, RSTART - 1)
			tag = substr(text, RSTART, RLENGTH)
			text = substr(text, RSTART + RLENGTH)
			if (stack[depth] != "style" && before ~ /&/ && before !~ /^([^&]|&(amp|lt|gt|quot|apos|#[0-9]+);)*$/) print "sign: " before
			if (tag ~ /\/>$/) continue
			name = tag
			gsub(/^<\/?|[ >].*$/, "", name)
			if (tag ~ /^<\//) {
				if (stack[depth--] != name) print "closed: " tag
			} else stack[++depth] = name
		}
		if (depth) print "open: " stack[depth]
		if (text ~ /</) print "rest: " text
	}' "$1"
}

test_topo_svg()
{
	local name
	while read -r name; do
		ok topo --nccl-xml "$XML/$name.xml" --svg "$W/x.svg"
		[ -z "$OUT" ] || fail "$(said)"
		eq "$name" "$(well_formed "$W/x.svg")" ""
		eq "GPUs of $name" "$(grep -c '>GPU [0-9]*</text>' "$W/x.svg")" "$("$BIN/railctl" topo --nccl-xml "$XML/$name.xml" --json | jq '.gpus | length')"
	done < <(each_xml)
	grep -q 'prefers-color-scheme:dark' "$W/x.svg" || fail "nothing for the dark"
	if grep -qiE '(href|src|url\(|@import|<script)' "$W/x.svg"; then fail "it needs something beside itself"; fi
	eq "mode" "$(umask 022; "$BIN/railctl" topo --nccl-xml "$XML/dgx-a100.xml" --svg "$W/m.svg"; stat -c %a "$W/m.svg")" 644
	printf '<x><' >"$W/broken.svg"
	[ -n "$(well_formed "$W/broken.svg")" ] || fail "test error: anything is well-formed"
}

# A name in a file is text, whatever signs it has.
test_topo_svg_escapes()
{
	sed 's/name="mlx5_0"/name="a\&lt;b\&amp;c\&quot;"/' "$XML/dgx-a100.xml" >"$W/signs.xml"
	ok topo --nccl-xml "$W/signs.xml" --svg "$W/x.svg"
	eq "signs" "$(well_formed "$W/x.svg")" ""
	grep -q 'a&lt;b&amp;c&quot;' "$W/x.svg" || fail "the name is lost"
	ok topo --nccl-xml "$W/signs.xml" --json
	want '.hcas[0].name == "a<b&c\""'
	ok topo --nccl-xml "$W/signs.xml" --env
	eq "for a shell" "$(env -i bash -c '. "$1"; printf %s "${NCCL_IB_HCA%%,*}"' - "$W/out")" '=a<b&c":1'
}

# The pictures in docs/ are what the program draws.
test_topo_svg_in_the_documents()
{
	local pair
	for pair in dgx-a100:dgx-a100 oci-bm-gpu-h100:oci-h100 synthetic-a_pix100_phb400:far-nic; do
		ok topo --nccl-xml "$XML/${pair%:*}.xml" --svg -
		cmp -s "$W/out" "$ROOT/docs/img/topo-${pair#*:}.svg" || fail "docs/img/topo-${pair#*:}.svg is another: see docs/affinity.md"
	done
}

# A problem has a mark and a sentence, not only a colour.
test_topo_svg_trouble()
{
	ok topo --nccl-xml "$XML/synthetic-a_pix100_phb400.xml" --svg "$W/x.svg"
	grep -q 'class="mark"' "$W/x.svg" || fail "no mark"
	grep -q 'class="way off"' "$W/x.svg" || fail "no line to what NCCL takes"
	grep -q '>GPU 0: ' "$W/x.svg" || fail "no sentence"
	ok topo --nccl-xml "$XML/dgx-a100.xml" --svg "$W/x.svg"
	if grep -q 'class="mark"' "$W/x.svg"; then fail "a mark without a problem"; fi
}

# Fixed colours, for slides: no media query, and the same picture otherwise.
test_topo_svg_theme()
{
	local theme
	for theme in light dark; do
		ok topo --nccl-xml "$XML/dgx-a100.xml" --svg "$W/$theme.svg" --theme "$theme"
		eq "$theme" "$(well_formed "$W/$theme.svg")" ""
		if grep -q '@media' "$W/$theme.svg"; then fail "$theme: it depends on the viewer"; fi
	done
	ok topo --nccl-xml "$XML/dgx-a100.xml" --svg -
	for theme in light dark; do
		diff <(sed '/<style>/,/<\/style>/d' "$W/$theme.svg") <(sed '/<style>/,/<\/style>/d' "$W/out") >"$W/diff" || fail "$theme: $(head -4 "$W/diff")"
	done
	if cmp -s "$W/light.svg" "$W/dark.svg"; then fail "light is dark"; fi
	refused 2 'must be light or dark' topo --nccl-xml "$XML/dgx-a100.xml" --svg - --theme blue
	refused 2 'is for --svg' topo --nccl-xml "$XML/dgx-a100.xml" --theme dark
}

# A sentence about a GPU that has no problem has no mark.
test_topo_svg_of_gaudi()
{
	made gaudi3
	ok topo --sysfs "$W/gaudi3" --svg -
	has 'its RDMA ports are on its own package'
	hasnt 'class="mark"'
}

# --- Graphviz ------------------------------------------------------------------------------------

# graph: $W/out as dot understands it, in $W/graph: nodes, and edges with their ends by name.
graph()
{
	dot -Tdot_json "$W/out" >"$W/dot.json" 2>"$W/dot.err" || fail "$1: dot: $(head -2 "$W/dot.err")"
	[ ! -s "$W/dot.err" ] || fail "$1: dot says: $(head -2 "$W/dot.err")"
	jq '(.objects // []) as $o | {nodes: $o, edges: [.edges[]? | .label = (if (.label // "") == "" then .xlabel else .label end) | . + {a: $o[.tail], b: $o[.head]}]}' "$W/dot.json" >"$W/graph"
}

# graph_says NAME FILTER: a line for each thing of the graph and of the JSON; they must be equal.
graph_says()
{
	jq -r "$2" "$W/graph" | sort >"$W/from-graph"
	jq -r "$3" "$W/json" | sort >"$W/from-json"
	diff "$W/from-json" "$W/from-graph" >"$W/diff" || fail "$1: JSON (<), graph (>): $(head -4 "$W/diff")"
}

# Nodes and edges are those of the JSON: GPUs, HCAs, their paths with class, and NCCL's choice.
graph_agrees()
{
	ok topo "${@:2}" --json
	cp "$W/out" "$W/json"
	ok topo "${@:2}" --dot
	graph "$1"
	graph_says "GPUs of $1" '.nodes[] | select(.class == "gpu") | .bdf' '.gpus[].bdf'
	graph_says "HCAs of $1" '.nodes[] | select(.class == "hca") | .name' \
		'(.hcas | map(select(.kind == "pf") | .bdf)) as $pf | .hcas[] | select((.kind != "vf" and .kind != "sf") or (.pf as $p | $pf | index($p) | not)) | .name'
	for word in assigned nccl; do
		# shellcheck disable=SC2016
		graph_says "$word of $1" ".edges[] | select(.class | test(\"path.* $word\")) | .b.bdf + \" \" + .a.name + \" \" + .label" \
			".gpus[] | . as \$g | ($([ $word = nccl ] && echo '[.nccl.channels[]? | split("+")[] | sub("_dma$"; "")] | unique' || echo '.share // []'))[] as \$h |
				\$g.bdf + \" \" + \$h + \" \" + (\$g.hcas[] | select(.name == \$h) | .class // \"unknown\")"
	done
	# shellcheck disable=SC2016
	graph_says "nearest of $1" '.edges[] | select(.class | test("path nearest")) | .b.bdf + " " + .a.name' \
		'.gpus[] | . as $g | (if (.nearest | length) > 4 then .share else .nearest + .share | unique end)[] | $g.bdf + " " + .'
	# each device hangs at one thing, and what hangs at nothing is a NUMA node
	jq -e '[.edges[] | select(.class == "pcie") | .b.name] as $below | ($below | length) == ($below | unique | length)' "$W/graph" >/dev/null ||
		fail "$1: a device has two places"
	eq "places of $1" "$(jq -r '[.edges[] | select(.class == "pcie") | .head] as $below |
		[.nodes[] | select(.class != "nvswitch") | select(._gvid as $i | $below | index($i) | not) | .class] | unique | join(" ")' "$W/graph")" cpu
}

test_topo_dot()
{
	local name file n=0
	for file in "$DATA"/made/*.txt; do
		name=${file##*/}
		name=${name%.txt}
		made "$name"
		graph_agrees "$name" --sysfs "$W/$name"
		n=$((n + 1))
	done
	for name in dgx-a100 oci-bm-gpu-h100 synthetic-a_pix100_phb400 rccl-topo_8p_950; do
		graph_agrees "$name" --nccl-xml "$XML/$name.xml"
	done
	graph_agrees qemu --sysfs "$QEMU" --class 0x0200
	[ "$n" -ge 12 ] || fail "only $n trees"
}

test_topo_dot_links()
{
	made gb200-ib
	ok topo --sysfs "$W/gb200-ib" --dot
	graph gb200-ib
	eq "C2C" "$(jq -r '[.edges[] | select(.class == "c2c") | .label] | unique | join(" ")' "$W/graph")" 'C2C 223.56 GB/s'
	eq "GPU's own link" "$(jq -r '[.edges[] | select(.class == "pcie" and .b.class == "gpu") | .label] | unique | join(" ")' "$W/graph")" '24 Gbit/s'
	find "$W/gb200-ib/sys/devices" -path '*0000:03:00.0/current_link_width' -exec sh -c 'echo 4 >"$1"' - {} \;
	ok topo --sysfs "$W/gb200-ib" --dot
	graph gb200-ib
	eq "a narrow link" "$(jq -r '.edges[] | select(.class == "pcie" and .b.name == "mlx5_0") | .label' "$W/graph")" '96 of 384 Gbit/s'
	ok topo --nccl-xml "$XML/dgx-a100.xml" --dot
	graph dgx-a100
	eq "NVLinks" "$(jq -r '[.edges[] | select(.class == "nvlink") | .label + " " + .a.bdf] | length' "$W/graph")" 8
	ok topo --nccl-xml "$XML/rccl-topo_8p_950.xml" --dot
	graph rccl
	eq "links of AMD" "$(jq -r '[.edges[] | select(.class == "nvlink") | .label] | unique | join(" ")' "$W/graph")" XGMI
}

# A name is text, whatever signs it has: it can neither end its string nor begin an escape of dot.
test_topo_dot_escapes()
{
	sed 's/name="mlx5_0"/name="a\&quot;];x\\N\&lt;b\&gt;"/' "$XML/dgx-a100.xml" >"$W/signs.xml"
	ok topo --nccl-xml "$W/signs.xml" --json
	cp "$W/out" "$W/json"
	ok topo --nccl-xml "$W/signs.xml" --dot
	graph signs
	# outside of labels, dot leaves a backslash doubled
	graph_says "names" '.nodes[] | select(.class == "hca") | .name' '.hcas[].name | gsub("\\\\"; "\\\\")'
	dot -Tsvg "$W/out" | grep -qF '>a&quot;];x\N&lt;b&gt;</text>' || fail "the label has another name"
	refused 2 'exclude each other' topo --dot --svg -
	refused 2 'exclude each other' topo --dot --json
}

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

# --- many machines ------------------------------------------------------------------------------

# trays N: W/rack/tray01 to trayN, all equal; nothing in them is a link to another.
trays()
{
	local i
	rm -rf "$W/rack"
	mkdir "$W/rack"
	for i in $(seq -w 1 "$1"); do "$DATA/made/make.sh" "$DATA/made/gb300.txt" "$W/rack/tray$i"; done
}

test_topo_rack()
{
	trays 18
	ok topo rack "$W"/rack/*
	eq "machines that differ" "$(awk 'NR > 1 && $5 != "-"' "$W/out")" ""
	# one tray each has a port that is down, a narrow link, a GPU less; the first is one of them
	echo '1: DOWN' >"$W/rack/tray01/sys/devices/pci0002:00/0002:00:00.0/0002:03:00.0/infiniband/mlx5_1/ports/1/state"
	echo 8 >"$W/rack/tray13/sys/devices/pci0010:00/0010:00:00.0/0010:03:00.0/current_link_width"
	rm "$W/rack/tray16/sys/bus/pci/devices/0019:06:00.0"
	rm -r "$W/rack/tray16/sys/devices/pci0019:00/0019:00:00.0/0019:01:00.0/0019:02:01.0/0019:06:00.0"
	r topo rack "$W"/rack/*
	eq "status" "$RC" 4
	eq "machines that differ" "$(awk 'NR > 1 && $5 != "-" { print $1, $5, $6, $7 }' "$W/out" | tr '\n' ';')" \
		'tray01 port mlx5_1:1: active:;tray13 link mlx5_2: expected;tray16 gpu GPU 3;'
	r topo rack --json "$W"/rack/*
	want '.typical == "tray02" and .state == "fail" and (.machines | length) == 18'
	eq "states" "$(jq -c '[.machines[] | select(.state != "ok") | [.name, .state]]' "$W/out")" '[["tray01","fail"],["tray13","warn"],["tray16","fail"]]'
	eq "as topo diff" "$(jq -c '.machines[] | select(.name == "tray13") | .differences' "$W/out")" \
		"$("$BIN/railctl" topo diff --json "$W/rack/tray02" "$W/rack/tray13" | jq -c .differences)"
	r topo rack "$W/rack/tray02" "$W/rack/tray13"
	eq "status of a warning" "$RC" 3
}

test_topo_rack_picture()
{
	local i
	trays 18
	echo '1: DOWN' >"$W/rack/tray07/sys/devices/pci0002:00/0002:00:00.0/0002:03:00.0/infiniband/mlx5_1/ports/1/state"
	mv "$W/rack/tray09" "$W/rack/a<b"
	r topo rack "$W"/rack/* --svg "$W/rack.svg"
	[ "$RC" = 4 ] && [ -z "$OUT" ] || fail "$(said)"
	eq "signs" "$(well_formed "$W/rack.svg")" ""
	eq "names" "$(sed -n 's/.*<text class="h"[^>]*>\([^<]*\)<.*/\1/p' "$W/rack.svg" | tr '\n' ' ')" \
		"a&lt;b $(seq -f 'tray%02g' 1 18 | grep -v 09 | tr '\n' ' ')"
	eq "GPUs" "$(grep -c '>GPU [0-9]*</text>' "$W/rack.svg")" 72
	eq "frames" "$(grep -c '<rect class="tray' "$W/rack.svg") $(grep -c '<rect class="tray bad"' "$W/rack.svg")" "18 1"
	grep -qF '18 machines, 1 differs' "$W/rack.svg" || fail "the picture does not count"
	grep -qF 'port mlx5_1:1: active: expected true, found false' "$W/rack.svg" || fail "the picture has no reason"
	# cells of the page do not overlap, and are on it
	awk '/<svg/ { match($0, /viewBox="[^"]*/); split(substr($0, RSTART + 9, RLENGTH - 9), page, " ") }
		/<rect class="tray/ {
			match($0, /translate\([0-9]* [0-9]*/); split(substr($0, RSTART + 10, RLENGTH - 10), at, " ")
			match($0, /width="[0-9]*/); w = substr($0, RSTART + 7, RLENGTH - 7)
			match($0, /height="[0-9]*/); h = substr($0, RSTART + 8, RLENGTH - 8)
			for (i = 0; i < n; i++) if (at[1] < x[i] + w && x[i] < at[1] + w && at[2] < y[i] + h && y[i] < at[2] + h) print "overlap"
			if (at[1] + w > page[3] || at[2] + h > page[4]) print "outside"
			x[n] = at[1]; y[n++] = at[2]
		} END { if (n != 18) print n }' "$W/rack.svg" >"$W/places"
	[ ! -s "$W/places" ] || fail "places: $(head -3 "$W/places")"
	r topo rack "$W"/rack/tray0[1-4] --svg - --theme dark
	[ "$RC" = 0 ] || fail "$(said)"
	has '4 machines</text>'
	hasnt '@media'
	for i in 1 2; do "$BIN/railctl" topo rack "$W"/rack/* --svg - >"$W/$i"; done
	cmp -s "$W/1" "$W/2" || fail "another picture the second time"
}

# Captures are often called the same: the folders tell them apart, as few as it takes.
test_topo_rack_names()
{
	local name i
	trays 4
	mkdir -p "$W/rack/a/x" "$W/rack/b/x"
	for name in a/x/tray.tar b/x/tray.tar.gz b/tray.tgz one.tar.xz; do ok topo capture --raw "$W/rack/$name"; done
	for i in 1 2; do mkdir "$W/rack/$i" && mv "$W/rack/tray$i" "$W/rack/$i/sys"; done
	r topo rack --json "$W"/rack/{1,2}/sys "$W"/rack/{a/x/tray.tar,b/x/tray.tar.gz,b/tray.tgz,one.tar.xz,tray3/}
	eq "names" "$(jq -c '[.machines[].name]' "$W/out")" '["1/sys","2/sys","a/x/tray","b/x/tray","b/tray","one","tray3"]'
	# one folder, and only the ending differs
	cp "$W/rack/one.tar.xz" "$W/rack/one.tar"
	r topo rack --json "$W"/rack/one.tar*
	eq "names" "$(jq -c '[.machines[].name]' "$W/out")" "[\"$W/rack/one.tar\",\"$W/rack/one.tar.xz\"]"
	refused 1 'is given twice' topo rack "$W/rack/tray3" "$W/rack/tray4" "$W/rack/tray3"
}

test_topo_rack_refuses()
{
	trays 2
	ok topo --sysfs "$W/rack/tray1" --json
	cp "$W/out" "$W/tray.json"
	refused 1 'has no tree: give a capture' topo rack "$W/rack/tray1" "$W/tray.json"
	refused 1 'No such file' topo rack "$W/rack/tray1" "$W/nothing"
	refused 2 '' topo rack "$W/rack/tray1"
	refused 2 'is for --svg' topo rack "$W"/rack/* --theme dark
	refused 2 'is no version' topo rack "$W"/rack/* --nccl-version new
	ok topo rack "$W"/rack/* --nccl-version 2.27.3 --rccl
	refused 2 'exclude each other' topo rack "$W"/rack/* --svg - --json
	# a capture and a topology file
	ok topo capture --raw "$W/this.tar"
	r topo rack "$W/this.tar" "$XML/dgx-a100.xml"
	[ "$RC" = 3 ] || [ "$RC" = 4 ] || fail "two machines: $(said)"
	has this
	has dgx-a100
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

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# topo_pictures.sh: the pictures of topo, and many machines beside each other.
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
	refused 2 'exclude each other' topo --svg - --json
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

# A cluster has more trays than a rack: all are in one table, and one of them differs.
test_topo_rack_of_256()
{
	local i
	mkdir -p "$W/many"
	for i in $(seq -w 1 256); do cp "$XML/dgx-a100.xml" "$W/many/node$i.xml"; done
	cp "$XML/synthetic-j_dgxa100_only_gpu1.xml" "$W/many/node200.xml"
	r topo rack "$W"/many/*
	eq "status" "$RC" 4
	eq "machines that differ" "$(awk 'NR > 1 && $5 != "-" { print $1 }' "$W/out")" node200
	eq "lines" "$(wc -l <"$W/out")" 257
	refused 2 'dgx-a100.xml" is one word too many; see "railctl topo rack --help"' topo rack "$W"/many/* "$XML/dgx-a100.xml"
	ok topo rack --help
	has 'At most 256 machines are compared.'
}

# The name is that of the file without its ending; captures are often called the same: then it is the path.
test_topo_rack_names()
{
	local i
	trays 3
	cp "$XML/dgx-a100.xml" "$W/rack/one.xml"
	for i in 1 2; do mkdir "$W/rack/$i" && mv "$W/rack/tray$i" "$W/rack/$i/sys"; done
	r topo rack --json "$W"/rack/{1,2}/sys "$W"/rack/{one.xml,tray3/}
	eq "names" "$(jq -c '[.machines[].name]' "$W/out")" "[\"$W/rack/1/sys\",\"$W/rack/2/sys\",\"one\",\"tray3\"]"
}

test_topo_rack_refuses()
{
	trays 2
	ok topo --sysfs "$W/rack/tray1" --json
	cp "$W/out" "$W/tray.json"
	ok topo rack "$W/rack/tray1" "$W/tray.json"
	echo '{"version": 2}' >"$W/other.json"
	refused 1 'not a document of' topo rack "$W/rack/tray1" "$W/other.json"
	refused 1 'No such file' topo rack "$W/rack/tray1" "$W/nothing"
	refused 2 '' topo rack "$W/rack/tray1"
	refused 2 'is not a version' topo rack "$W"/rack/* --nccl-version new
	ok topo rack "$W"/rack/* --nccl-version 2.27.3 --rccl
	# a capture and a topology file
	ok topo capture "$W/this.tar"
	mkdir "$W/this" && tar -xf "$W/this.tar" -C "$W/this" || fail "the tar"
	r topo rack "$W/this" "$XML/dgx-a100.xml"
	[ "$RC" = 3 ] || [ "$RC" = 4 ] || fail "two machines: $(said)"
	has this
	has dgx-a100
}

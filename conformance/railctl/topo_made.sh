# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# topo_made.sh: the made trees of topo/testdata/made: each form of the answer, and that all forms agree.
# shellcheck disable=SC2154

# made_answer NAME: its part of topo/testdata/made/answers.
made_answer()
{
	local form
	echo "=== $1"
	for form in '' --env --labels; do
		echo "--- topo $form"
		# shellcheck disable=SC2086
		railctl topo --sysfs "$W/$1" $form
	done
	echo "--- topo --svg: title and sentences"
	railctl topo --sysfs "$W/$1" --svg - | sed -n 's/.*<title>\(.*\)<\/title>.*/\1/p; s/.*<text class="t"[^>]*>\([^<]*\)<.*/\1/p'
	echo "--- topo check: findings of GPUs and HCAs, without what only root can read"
	railctl topo check --sysfs "$W/$1" --json |
		jq -r '.findings[] | select(.check | IN("distance", "c2c", "data-direct", "role", "on-package", "vm", "vm-tree", "nearest", "numa"))
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

# A reader who knows the machine expects these values, independent of the answers above. The numbers are those of GPUs, HCAs, rails,
# and HCAs for each GPU. Then come the class of nvidia-smi, that of NCCL, and whether NCCL uses GPUDirect RDMA. The rest is
# the evidence: the number of findings of topo check that have these words.
machines='
azure-nd-h100  8  8  8 1 SYS  PHB false  1 vm-tree warn no GPU and no RDMA device is below a switch
dgx-h100       8 10  8 1 PIX  PIX true   8 distance ok PIX
flat-vm        4  4  4 1 PHB  PHB false  1 vm-tree warn no GPU and no RDMA device is below a switch
gaudi3         8 10  2 0 -    -   null   8 on-package ok Gaudi has RDMA ports of its own
gb10           1  1  1 1 NODE P2C false  1 c2c warn 8 C2C links
gb200-eth      4  6  4 1 NODE P2C true   4 c2c ok 5 C2C links
gb200-ib       4  6  4 1 NODE P2C true   4 c2c ok 5 C2C links
gb200-ib-storage 4 6 4 1 NODE P2C true   4 c2c ok 5 C2C links
gb300          4  4  4 1 PIX  PIX true   1 data-direct ok 0008:03:00.0 (Data Direct) is probably nearer: PIX
gb300-xdr      4 10  4 1 PIX  PIX true   1 data-direct ok 0008:03:00.0 (Data Direct) is probably nearer: PIX
gh200          1  1  1 1 NODE P2C true   1 c2c ok 10 C2C links
hgx-b200       8 10  8 1 PIX  PIX true   8 distance ok PIX
hgx-b200-ib    8 14  8 1 PIX  PIX true   8 distance ok PIX
hgx-b300       8 20  8 2 PXB  PXB true  16 distance ok PXB
mi300x         8  8  8 1 PIX  PIX true   8 distance ok PIX
mi355x         8  8  8 1 PXB  PXB true   8 distance ok PXB
oci-h100       8 16  8 2 PIX  PIX true  16 distance ok PIX
p5-efa         8 32 32 4 PIX  PIX true  32 role ok compute: efa
'

test_topo_made_machines()
{
	local name gpus hcas rails each class nccl gdr n evidence seen=0
	while read -r name gpus hcas rails each class nccl gdr n evidence; do
		[ -n "$name" ] || continue
		made "$name"
		ok topo --sysfs "$W/$name" --json
		eq "$name" "$(jq -r '[(.gpus | length), (.hcas | length), ([.hcas[].rail | values] | unique | length),
			([.gpus[].share | length] | unique[]),
			([.gpus[] | . as $g | .hcas[] | select(.name as $h | $g.share | index($h)) | .class] | unique | if . == [] then "-" else .[] end),
			([.gpus[].nccl.class // "-"] | unique[]), ([.gpus[].nccl.gdr] | unique[])] | map(tostring) | join(" ")' "$W/out")" \
			"$gpus $hcas $rails $each $class $nccl $gdr"
		# a GPU has no HCA of another GPU, and no GPU has none while another has some
		want '[.gpus[].share[]] | length == (unique | length)'
		OUT=$("$BIN/railctl" topo check --sysfs "$W/$name" --json)
		eq "evidence for $name: $evidence" "$(jq -r '.findings[] | [.check, .state, .value // ""] | join(" ")' <<<"$OUT" | grep -cF "$evidence")" "$n"
		seen=$((seen + 1))
	done <<<"$machines"
	eq "trees without a line" "$(find "$DATA/made" -name '*.txt' | wc -l)" "$seen"
}

# --- the forms agree: $W/json has the JSON of the tree -------------------------------------------

# differs_from_json WHAT FILTER FILE: lines of the JSON, and those of another form.
differs_from_json() { jq -r "$2" "$W/json" | sort | diff - <(sort "$3") >"$W/diff" || fail "$1: JSON (<), this form (>): $(head -4 "$W/diff")"; }

# Each cell of the matrix. It has the distance to the HCA itself, the JSON that to its Data Direct function.
matrix_agrees()
{
	awk -F '\t' '
		/^\tGPU0/ { for (i = 2; i <= NF; i++) head[i] = $i }
		/^GPU[0-9]/ { for (i = 2; i <= NF; i++) if (head[i] ~ /^NIC/) cell[++n] = $1 " " head[i] " " $i }
		/^  NIC[0-9]+: / { sub(/:/, "", $0); split($0, w, " "); name[w[1]] = w[2] }
		END { for (i = 1; i <= n; i++) { split(cell[i], w, " "); print w[1], name[w[2]], w[3] } }' "$W/text" >"$W/cells"
	# shellcheck disable=SC2016
	differs_from_json "matrix of $1" '.gpus[] | . as $g | .hcas[] | select(.data_direct | not) | "GPU\($g.index) \(.name) \(.class)"' \
		<(grep -vxFf <(jq -r '.gpus[] | . as $g | .hcas[] | select(.data_direct) | "GPU\($g.index) \(.name) \("PIX", "PXB", "PHB", "NODE", "SYS")"' "$W/json") "$W/cells")
}

# The file for NCCL, read again, has the same answer for each GPU.
xml_agrees()
{
	local of_gpus='.gpus[] | select(.nccl != null) | [.bdf, (.nearest | sort | join(",")), .assigned, (.share | sort | join(",")),
		.nccl.class, (.nccl.gdr | tostring), (.nccl.channels | join(","))] | join(" ")'
	ok topo --sysfs "$W/$1" --nccl-xml-out "$W/made.xml"
	ok topo --nccl-xml "$W/made.xml" --json
	jq -r "$of_gpus" "$W/out" >"$W/again"
	differs_from_json "file for NCCL of $1" "$of_gpus" "$W/again"
}

# The HCA of the first GPU is down. A file has no link layer, but what is for storage is so from the file, too.
test_topo_made_roles_of_a_file()
{
	sed '/ mlx5_0 /s/$/ 1: DOWN/; /0x020000/s/15b3:1021/15b3:a2dc/' "$DATA/made/dgx-h100.txt" >"$W/down.txt"
	"$DATA/made/make.sh" "$W/down.txt" "$W/down"
	ok topo --sysfs "$W/down" --json
	want '.gpus[0].nearest == ["mlx5_1", "mlx5_2", "mlx5_3"] and (.hcas[] | select(.name == "mlx5_8") | .role == "storage")'
	cp "$W/out" "$W/json"
	xml_agrees down
	# NCCL looks for a VF at device 00 of its bus: the file does not have the function of a slow one at device 02
	{
		sed 's/ -1 / 0 /' "$DATA/made/azure-nd-h100.txt"
		echo 'pci pcif1ab:00/f1ab:00:02.0 0x020000 15b3:1016 0 32.0 16'
		echo 'rdma pcif1ab:00/f1ab:00:02.0 mlx5_an0 100 Ethernet a088:c203:0009:0001'
		echo 'net pcif1ab:00/f1ab:00:02.0 front'
	} >"$W/front.txt"
	"$DATA/made/make.sh" "$W/front.txt" "$W/front"
	ok topo --sysfs "$W/front" --json
	want '.gpus[0].nearest | length == 8 and index("mlx5_an0") == null'
	cp "$W/out" "$W/json"
	xml_agrees front
	want '.hcas[] | select(.name == "mlx5_an0") | .role == "storage" and .rule == "slower"'
}

# Without GPUDirect RDMA, NCCL's search may take other HCAs: table and JSON say so, and only then.
test_topo_made_uncertain()
{
	local gdr sign='* less certain: without GPUDirect RDMA'
	for gdr in 1 0; do
		sed "s/gdr=\"1\"/gdr=\"$gdr\"/" "$XML/dgx-a100.xml" >"$W/gdr$gdr.xml"
	done
	ok topo --nccl-xml "$W/gdr1.xml" --json
	want '.gpus | all(.nccl.gdr and (.nccl | has("uncertain") | not))'
	ok topo --nccl-xml "$W/gdr1.xml"
	hasnt '*'
	ok topo --nccl-xml "$W/gdr0.xml" --json
	fits_schema gdr0
	want '.gpus | all(.nccl.gdr == false and .nccl.uncertain == "gdr-off")'
	ok topo --nccl-xml "$W/gdr0.xml"
	has "$sign"
	eq "marked HCAs" "$(sed -n '/^PCI /,$p' "$W/out" | grep -c '^0000.*mlx5_[0-9]*\*')" 8
}

# NCCL does not find the VF v. Each rank takes it for a device of its own CPU, so that two ranks fuse it with others.
test_topo_made_ranks()
{
	local bus at name node
	{
		echo 'cpu AuthenticAMD 25 17'
		echo 'node 0 00000001'
		echo 'node 1 00000002'
		while read -r bus at name node; do
			echo "pci pci0000:$bus/0000:$bus:01.0 0x060400 8086:352a $node 32.0 16"
			[ "$name" = gpu ] || echo "rdma pci0000:$bus/0000:$bus:01.0/0000:${bus%0}1:$at $name 400 Ethernet a088:c203:00$bus:0001"
			case $name in
			gpu) echo "pci pci0000:$bus/0000:$bus:01.0/0000:${bus%0}1:$at 0x030200 10de:2331 $node 32.0 16" ;;
			*) echo "pci pci0000:$bus/0000:$bus:01.0/0000:${bus%0}1:$at 0x020000 15b3:101e $node 32.0 16" ;;
			esac
		done <<-'EOF'
			10 00.0 gpu 0
			20 00.0 gpu 1
			30 00.0 x 0
			40 00.0 y 1
			50 01.0 v 1
		EOF
	} >"$W/ranks.txt"
	"$DATA/made/make.sh" "$W/ranks.txt" "$W/ranks"
	ok topo --sysfs "$W/ranks" --json --set NCCL_NET_MERGE_LEVEL=PHB
	fits_schema ranks
	want '.gpus | all(.nccl.uncertain == "ranks")'
	want '.advice.setting == "NCCL_NET_MERGE_LEVEL=PORT"'
	ok topo --sysfs "$W/ranks" --set NCCL_NET_MERGE_LEVEL=PHB
	has 'all: the ranks do not see the same NICs'
	has 'set NCCL_NET_MERGE_LEVEL=PORT'
	ok topo --sysfs "$W/ranks" --json --set NCCL_NET_MERGE_LEVEL=PORT
	want '.gpus | all(.nccl.uncertain != "ranks")'
	# one rank agrees with itself
	ok topo --sysfs "$W/ranks" --json --set NCCL_NET_MERGE_LEVEL=PHB --gpus 0000:11:00.0
	want '.gpus | all(.nccl.uncertain != "ranks")'
}

# The picture has a card for each device and a thick line for each HCA that a GPU should take. A GPU has a mark if the JSON has
# a reason.
svg_agrees()
{
	ok topo --sysfs "$W/$1" --svg -
	eq "title of $1" "$(sed -n 's/.*<title>[^:]*: \([0-9]*\) GPUs*, \([0-9]*\) HCAs*, \([0-9]*\) rails*<.*/\1 \2 \3/p' "$W/out")" \
		"$(jq -r '[(.gpus | length), (.hcas | length), ([.hcas[].rail | values] | unique | length)] | join(" ")' "$W/json")"
	eq "cards of $1" "$(grep -c '<rect class="gpu' "$W/out") $(grep -c '<rect class="hca' "$W/out")" "$(jq -r '"\(.gpus | length) \(.hcas | length)"' "$W/json")"
	# one line more is in the legend
	eq "thick lines of $1" "$(grep -o 'class="way mine"' "$W/out" | wc -l)" "$(jq '[.gpus[].share[]] | length | if . > 0 then . + 1 else 0 end' "$W/json")"
	eq "marked GPUs of $1" "$(grep -c '<rect class="gpu bad' "$W/out")" \
		"$(jq '[.gpus[] | select((.differs != null and (.differs.verdict == "away" or (.differs.cause | IN("flat-vm", "gdr-off")))) or (.why_none != null and (.on_package | not)))] | length' "$W/json")"
}

# A distance that is found is that of the JSON, for the nearest HCAs and no others.
check_agrees()
{
	OUT=$("$BIN/railctl" topo check --sysfs "$W/$1" --json)
	jq -r '.findings[] | select(.check == "distance") | [.gpu, .hca, (.value | split(" ")[0])] | join(" ")' <<<"$OUT" >"$W/found"
	# shellcheck disable=SC2016
	differs_from_json "findings of $1" '.gpus[] | . as $g | .hcas[] | select(.name as $h | $g.nearest | index($h)) | [$g.bdf, .name, .class] | join(" ")' "$W/found"
}

# The JSON says the same as every other form; topo_pictures.sh has the graph for dot.
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
		cp "$W/out" "$W/text"
		sed -n '/^PCI /,$p' "$W/out" | awk 'NR > 1 && /^[0-9a-f]/ { print $1, $8, $11 }' >"$W/table"
		differs_from_json "table of $name" '.gpus[] | [.bdf, .assigned // "-", (if .nccl.class == null then "-" elif .nccl.gdr then "on" else "off" end)] | join(" ")' "$W/table"
		ok topo --sysfs "$W/$name" --env
		sed -n "s/^export UCX_NET_DEVICES='\(.*\)'/\1/p" "$W/out" | tr , '\n' | sed 's/:.*//' | sort >"$W/env"
		[ ! -s "$W/env" ] || differs_from_json "env of $name" '[.gpus[].share[]] | unique[]' "$W/env"
		ok topo --sysfs "$W/$name" --labels
		has "railhead.io/gpus=$(jq '.gpus | length' "$W/json")"
		has "railhead.io/hcas=$(jq '.hcas | length' "$W/json")"
		has "railhead.io/rails=$(jq '[.hcas[].rail | values] | unique | length' "$W/json")"
		has "railhead.io/nccl-differs=$(jq '[.gpus[] | select(.differs != null and (.differs.verdict == "away" or .differs.cause == "gdr-off"))] | length' "$W/json")"
		matrix_agrees "$name"
		xml_agrees "$name"
		svg_agrees "$name"
		check_agrees "$name"
	done
	[ "$fused" -ge 2 ] || fail "only $fused trees have fused ports"
}

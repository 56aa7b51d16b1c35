# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# topo.sh: topo on machines in files: what NCCL itself answered for them, and what scripts that read
# nvidia-smi make of the matrix. conformance/vm has a live one.
# shellcheck disable=SC2154

DATA=$ROOT/topo/testdata
XML=$DATA/nccl-xml
QEMU=qemu-pxb-xio3130-igb-sriov-rxe

# capture NAME: $TREE is the folder of this captured machine.
capture()
{
	TREE=$W/captures/$1
	[ -d "$TREE" ] || { mkdir -p "$TREE" && tar -xf "$DATA/sysfs/$1".tar.* -C "$TREE"; } || fail "test error: no capture $1"
}

# Every topology file, by its name.
each_xml() { find "$XML" -name '*.xml' -printf '%f\n' | sed 's/\.xml$//' | sort; }

# NCCL's own answers in testdata/expected: a line for each GPU, "bdf local,set class bandwidth channels".
expected_answers()
{
	awk '
	/^gpu / { for (i = 2; i <= NF; i++) if ($i ~ /^bdf=/) bdf = substr($i, 5) }
	/^ +local / {
		type = bw = nets = ""
		for (i = 2; i <= NF; i++) {
			split($i, p, "=")
			if (p[1] == "type") type = p[2]
			if (p[1] == "bw") bw = p[2]
			if (p[1] == "nets") nets = p[2]
		}
		n = split(nets, names, ",")
		for (i = 2; i <= n; i++)
			for (k = i; k > 1 && names[k - 1] > names[k]; k--) { t = names[k]; names[k] = names[k - 1]; names[k - 1] = t }
		nets = ""
		for (i = 1; i <= n; i++) nets = nets (i > 1 ? "," : "") names[i]
	}
	/^ +channels=/ { sub(/^ +channels=/, ""); print bdf, nets, type, bw + 0, $0 }' "$1"
}

our_answers()
{
	jq -r '.gpus[] | [.bdf, (.nccl.local | unique | join(",")), .nccl.class, (.nccl.bandwidth_gBps * 10 | round / 10),
		(.nccl.channels | join(","))] | map(tostring) | join(" ")' "$W/out"
}

test_topo_says_what_nccl_answers()
{
	local name n=0 changed=
	while read -r name; do
		[ -e "$DATA/expected/$name.txt" ] || continue
		# the graph code took the nets of the file and fused no ports
		ok topo --nccl-xml "$XML/$name.xml" --set NCCL_NET_MERGE_LEVEL=LOC --json
		expected_answers "$DATA/expected/$name.txt" | sort >"$W/theirs"
		our_answers | sort >"$W/ours"
		cp "$W/ours" "$W/unfused"
		ok topo --nccl-xml "$XML/$name.xml" --json
		our_answers | sort | cmp -s - "$W/unfused" || changed="$changed $name"
		[ -s "$W/theirs" ] || fail "test error: nothing read from $name.txt"
		diff "$W/theirs" "$W/ours" >"$W/diff" || fail "$name: NCCL (<), topo (>): $(head -4 "$W/diff")"
		n=$((n + 1))
	done < <(each_xml)
	[ "$n" -ge 20 ] || fail "only $n files"
	# so by default the others are compared with the graph code, too
	eq "files whose answer depends on fused ports" "$changed" " oci-bm-gpu-h100"
}

# --- made trees of machines of which no capture is public: topo/testdata/README.md ---------------

# made NAME: its tree is in $W/NAME.
made() { rm -rf "${W:?}/$1" && "$DATA/made/make.sh" "$DATA/made/$1.txt" "$W/$1" || fail "test error: no tree of $1"; }

test_topo_of_grace()
{
	local name
	for name in gh200 gb200-ib gb200-eth; do
		made "$name"
		ok topo --sysfs "$W/$name" --json
		fits_schema "$name"
		want '.gpus | all(.nccl.class == "P2C" and .nccl.gdr and .nccl.bandwidth_gBps == 48 and .c2c != null)'
		want '[.gpus[].hcas[].bandwidth_gbps] | min == 384'
		want '([.gpus[].differs.setting, .advice.setting?] | map(select(. != null and contains("GDR_LEVEL")))) == []'
		ok topo --sysfs "$W/$name" --nccl-xml-out "$W/$name.xml"
		ok topo --nccl-xml "$W/$name.xml" --json
		want '.gpus | all(.nccl.class == "P2C" and .nccl.gdr and .c2c.from == "file")'
		r topo check --sysfs "$W/$name" --json
		want '[.findings[] | select(.check == "c2c" or .check == "distance") | .state] | length > 1 and all(. == "ok")'
	done
	made gb10
	ok topo --sysfs "$W/gb10" --json
	want '.gpus[0] | .c2c.from == "device" and .nccl.gdr == false'
}

# A tree, and the file that railctl writes of it, have one answer: with ports fused, and without.
test_topo_one_answer_of_tree_and_file()
{
	local name set
	for name in gh200 gb200-ib gb200-eth gb300 flat-vm; do
		made "$name"
		ok topo --sysfs "$W/$name" --nccl-xml-out "$W/$name.xml"
		for set in NCCL_NET_MERGE_LEVEL=PORT NCCL_NET_MERGE_LEVEL=LOC; do
			ok topo --sysfs "$W/$name" --set "$set" --json
			our_answers >"$W/from_tree"
			ok topo --nccl-xml "$W/$name.xml" --set "$set" --json
			our_answers | diff "$W/from_tree" - >"$W/diff" || fail "$name, $set: tree (<), file (>): $(head -4 "$W/diff")"
		done
	done
}

test_topo_data_direct()
{
	made gb300
	ok topo --sysfs "$W/gb300" --json
	fits_schema gb300
	eq "channels" "$(jq -c '[.gpus[].nccl.channels]' "$W/out")" '[["mlx5_0_dma"],["mlx5_1_dma"],["mlx5_2_dma"],["mlx5_3_dma"]]'
	want '.gpus[0] | .assigned == "mlx5_0" and .nccl.class == "PIX" and .differs == null and .hcas[0].data_direct'
	want '.hcas[0].data_direct == "0008:03:00.0"'
	ok topo --sysfs "$W/gb300" -m
	eq "matrix of nvidia-smi" "$(sed -n '2s/	/ /gp' "$W/out")" "GPU0  X  NODE SYS SYS NODE NODE SYS SYS 0-71 0"
	ok topo --sysfs "$W/gb300" --env --gpus 0008:06:00.0
	grep -qx "export NCCL_IB_HCA='=mlx5_0:1'" "$W/out" || fail "env: $(said)"
	r topo check --sysfs "$W/gb300" --json
	want '[.findings[] | select(.check == "data-direct")] | length == 4 and all(.value | contains("probably"))'
	ok topo --sysfs "$W/gb300" --nccl-xml-out "$W/gb300.xml"
	ok topo --nccl-xml "$W/gb300.xml" --json
	want '.gpus[0].nccl | .channels == ["mlx5_0_dma"] and .class == "PIX"'
	want '.gpus[0] | .assigned == "mlx5_0" and .nearest == ["mlx5_0"] and .differs == null'
	ok topo --nccl-xml "$W/gb300.xml" --env
	grep -qx "export NCCL_IB_HCA='=mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1'" "$W/out" || fail "env of the file: $(said)"
	ok topo --nccl-xml "$W/gb300.xml" --set NCCL_IB_HCA==mlx5_0 --json
	want '[.gpus[].nccl.channels[]] | unique == ["mlx5_0_dma"]'
	ok topo --sysfs "$W/gb300" --set NCCL_IB_DATA_DIRECT=0 --json
	want '.gpus | all(.nccl.class == "P2C" and .nccl.gdr)'
	refused 2 '0, 1 or 2' topo --sysfs "$W/gb300" --set NCCL_IB_DATA_DIRECT=3
}

test_topo_roles()
{
	made gb200-eth
	ok topo --sysfs "$W/gb200-eth" --json
	want '[.hcas[] | select(.role == "compute") | .rule] == ["rate", "rate", "rate", "rate"]'
	# an InfiniBand card, and slow Ethernet beside it
	sed -e '/mlx5_[25] /s/ 200 / 25 /; /mlx5_[0134] /s/Ethernet/InfiniBand/; s/15b3:a2dc/15b3:101f/' "$DATA/made/gb200-eth.txt" >"$W/mixed.txt"
	"$DATA/made/make.sh" "$W/mixed.txt" "$W/mixed"
	ok topo --sysfs "$W/mixed" --json
	want '[.hcas[] | .name + ":" + .role + ":" + .rule] | index("mlx5_2:storage:node") != null and index("mlx5_0:compute:infiniband") != null'
	ok topo --sysfs "$W/mixed" --env
	hasnt mlx5_2
	# a BlueField of 400G, and cards of 25G
	sed -e '/mlx5_[0134] /s/ 400 / 25 /; /mlx5_[25] /s/ 200 / 400 /' "$DATA/made/gb200-eth.txt" >"$W/slow.txt"
	"$DATA/made/make.sh" "$W/slow.txt" "$W/slow"
	ok topo --sysfs "$W/slow" --json
	want '(.hcas | all(.rule != "rate")) and (.gpus[0].nearest | index("mlx5_2") != null)'
}

# The operator of this machine says it; a mistake is an error of every command.
test_topo_roles_of_the_operator()
{
	echo '{"roles": {"mlx5_0": "fast"}}' >/etc/railhead/topo.json
	refused 1 'roles.mlx5_0' topo
	refused 1 'roles.mlx5_0' topo --labels
	ok topo --nccl-xml "$XML/dgx-a100.xml"
	echo '{"roles": {"mlx5_99": "compute"}}' >/etc/railhead/topo.json
	ok topo --json
	want '.source.notes | any(contains("mlx5_99"))'
	rm /etc/railhead/topo.json
}

# Ports of a card are one device to NCCL, unless a setting forbids it.
test_topo_fused_ports()
{
	ok topo --nccl-xml "$XML/oci-bm-gpu-h100.xml" --json
	want '.gpus[0].nccl == {local: ["mlx5_0+mlx5_1"], class: "PIX", bandwidth_gBps: 45, gdr: true, channels: ["mlx5_0+mlx5_1"]}'
	want '.gpus | all(.differs == null)'
	ok topo --nccl-xml "$XML/oci-bm-gpu-h100.xml" --set NCCL_IB_MERGE_NICS=0 --json
	want '.gpus[0].nccl.channels == ["mlx5_0", "mlx5_1"]'
	ok topo --nccl-xml "$XML/dgx-a100.xml" --set NCCL_NET_MERGE_LEVEL=PXB --json
	want '.gpus[0].nccl.channels == ["mlx5_0+mlx5_1"]'
	ok topo --nccl-xml "$XML/dgx-a100.xml" --set 'NCCL_NET_FORCE_MERGE=mlx5_0,mlx5_1;mlx5_2,mlx5_3' --json
	want '[.gpus[].nccl.channels[0]] | unique | length == 6'
	refused 1 'NCCL ends' topo --nccl-xml "$XML/dgx-a100.xml" --set NCCL_NET_MERGE_LEVEL=SYS
	refused 1 'mlx5_99' topo --nccl-xml "$XML/dgx-a100.xml" --set NCCL_NET_FORCE_MERGE=mlx5_0,mlx5_99
	refused 2 'LOC, PORT' topo --nccl-xml "$XML/dgx-a100.xml" --set NCCL_NET_MERGE_LEVEL=1
	refused 2 'ALL or RAIL' topo --nccl-xml "$XML/dgx-a100.xml" --set NCCL_NET_MERGE_POLICY=1
	ok topo --nccl-xml "$XML/oci-bm-gpu-h100.xml" --set NCCL_NET_MERGE_POLICY=RAIL --json
	want '.gpus[0].nccl.channels == ["mlx5_0", "mlx5_1"]'
	ok topo --nccl-xml "$XML/oci-bm-gpu-h100.xml" --set NCCL_NET_MERGE_POLICY=rail --set NCCL_IB_HCA=mlx5:-1:7 --json
	want '.gpus[0].nccl.channels == ["mlx5_0+mlx5_1"]'
	ok topo --nccl-xml "$XML/dgx-a100.xml" --set NCCL_IB_HCA==mlx5_1 --json
	want '.gpus | all(.nccl.channels == ["mlx5_1"])'
	ok topo --nccl-xml "$XML/oci-bm-gpu-h100.xml" --set NCCL_IB_HCA=mlx5_1 --json
	want '[.gpus[].nccl.local[]] | unique == ["mlx5_12+mlx5_13", "mlx5_14+mlx5_15", "mlx5_16+mlx5_17"]'
	ok topo --nccl-xml "$XML/dgx-a100.xml" --set NCCL_IB_HCA=^=mlx5_0 --json
	want '.gpus[0].nccl.channels == ["mlx5_1"]'
	made gb200-ib
	ok topo --sysfs "$W/gb200-ib" --set NCCL_NET_GDR_C2C=0 --json
	want '.gpus | all(.nccl.gdr == false)'
	ok topo --sysfs "$W/gb200-ib" --set NCCL_NET_GDR_READ=0 --json
	want '.gpus | all(.nccl.gdr == false and .nccl.class == "P2C")'
	# MERGE_NICS=0 forbids named groups, whatever the level says before or after it
	refused 1 'NCCL_IB_MERGE_NICS=0' topo --nccl-xml "$XML/dgx-a100.xml" --set NCCL_NET_FORCE_MERGE=mlx5_0,mlx5_1 \
		--set NCCL_IB_MERGE_NICS=0 --set NCCL_NET_MERGE_LEVEL=PIX
	ok topo --nccl-xml "$XML/oci-bm-gpu-h100.xml" --set NCCL_IB_MERGE_NICS=0 --set NCCL_NET_MERGE_LEVEL=PIX --json
	want '.gpus[0].nccl.channels == ["mlx5_0", "mlx5_1"]'
	# all HCAs of a flat guest are one net, and each of them is displaced
	made flat-vm
	ok topo --sysfs "$W/flat-vm" --json
	want '.gpus | all(.nccl.channels == ["mlx5_0+mlx5_1+mlx5_2+mlx5_3"] and .differs.cause == "flat-vm")'
	want '.advice.text | startswith("which HCAs are near is not known")'
	ok topo --sysfs "$W/flat-vm" --svg -
	has 'GPU 0, 1, 2, 3: which HCAs are near is not known'
	has 'just as near'
	hasnt 'what NCCL takes instead'
	# eight by eight: the picture has a line of each GPU to one HCA
	ok topo --nccl-xml "$XML/synthetic-c_flat_vm_8x8_numa-1.xml" --svg -
	has 'which HCAs are near is not known'
	hasnt 'just as near'
	ok topo --sysfs "$W/flat-vm" --env --per-gpu
	eq "GPUs with NCCL_IB_MERGE_VFS" "$(grep -c "^export NCCL_IB_MERGE_VFS='0'$" "$W/out")" 4
}

# --- JSON --------------------------------------------------------------------------------------

fits_schema()
{
	jq -r --slurpfile schema "$ROOT/docs/topo.schema.json" -f "$ROOT/conformance/railctl/schema.jq" "$W/out" >"$W/misfits" 2>&1
	[ ! -s "$W/misfits" ] || fail "$1: $(head -3 "$W/misfits")"
}

# As the schema has them: names of HCAs, "+" between those that NCCL fuses, "_dma" behind one for its Data Direct function.
nets_are_hcas()
{
	jq -e '(.hcas | map(.name)) as $all | [.gpus[].nccl // empty | (.local + .channels)[]]
		| all(. as $net | any($all[]; . == $net) or ($net | split("+") | map(sub("_dma$"; "")) - $all == []))' "$W/out" >/dev/null ||
		fail "$1: a net is not an HCA: $(jq -c '[.gpus[].nccl]' "$W/out")"
}

# Without the capabilities of root, as any user who meets a folder of mode 0700.
test_topo_roles_that_nobody_may_read()
{
	echo '{"roles": {"mlx5_0": "storage"}}' >/etc/railhead/topo.json
	chmod 0 /etc/railhead
	setpriv --bounding-set -dac_override,-dac_read_search "$BIN/railctl" topo --json >"$W/out" 2>"$W/err"
	RC=$?
	chmod 755 /etc/railhead
	[ "$RC" = 0 ] || fail "it must work for every user: $(<"$W/err")"
	jq -e '.source.notes | any(contains("cannot be read by this user"))' "$W/out" >/dev/null || fail "a note must say it: $(<"$W/out")"
	rm /etc/railhead/topo.json
}

test_topo_json_fits_its_schema()
{
	local name
	while read -r name; do
		ok topo --nccl-xml "$XML/$name.xml" --json
		fits_schema "$name"
		want '.version == 1 and (.gpus | length) > 0'
		want '(.hcas | map(.name)) as $all | .gpus | all((.hcas | map(.name)) == $all)'
		want '.hcas as $h | .gpus | all(.nearest - ($h | map(.name)) == [])'
		nets_are_hcas "$name"
	done < <(each_xml)
	for name in "$DATA"/sysfs/hwloc*.tar.* "$DATA"/sysfs/ghw*.tar.* "$DATA"/sysfs/qemu*.tar.*; do
		name=${name##*/}
		capture "${name%%.tar*}"
		ok topo --sysfs "$TREE" --class 0x0b40 --json
		fits_schema "$name"
	done
	ok topo --json
	fits_schema "this machine"
}

# A schema that nothing can miss proves nothing.
test_topo_schema_is_strict()
{
	local change
	ok topo --nccl-xml "$XML/dgx-a100.xml" --json
	cp "$W/out" "$W/good"
	for change in '.version = 2' 'del(.gpus[3].nccl.channels)' '.gpus[0].hcas[7].class = "NEAR"' \
		'.gpus[1].hcas[0].switches = 1.5' '.hcas[2].bdf = "0c:00.0"' '.hcas[0].ports[0].active = "yes"' \
		'.gpus[0].numa = -1' 'del(.findings)' '.gpus[0].assigned = 5' '.gpus[0].nccl.local[0] = "mlx5_0+"' \
		'.gpus[0].nccl.channels[0] = "+mlx5_0"'; do
		jq "$change" "$W/good" >"$W/out"
		[ -n "$(jq -r --slurpfile schema "$ROOT/docs/topo.schema.json" -f "$ROOT/conformance/railctl/schema.jq" "$W/out")" ] ||
			fail "fits as well: $change"
	done
}

test_topo_dgx_a100()
{
	ok topo --nccl-xml "$XML/dgx-a100.xml" --json
	eq "nearest" "$(jq -c '[.gpus[].nearest]' "$W/out")" \
		'[["mlx5_0","mlx5_1"],["mlx5_0","mlx5_1"],["mlx5_2","mlx5_3"],["mlx5_2","mlx5_3"],["mlx5_6","mlx5_7"],["mlx5_6","mlx5_7"],["mlx5_8","mlx5_9"],["mlx5_8","mlx5_9"]]'
	eq "assigned" "$(jq -c '[.gpus[].assigned]' "$W/out")" \
		'["mlx5_0","mlx5_1","mlx5_2","mlx5_3","mlx5_6","mlx5_7","mlx5_8","mlx5_9"]'
	want '.gpus[0] | .index == 0 and .bdf == "0000:07:00.0" and .numa == 3'
	want '.gpus[0].hcas[0] == {name: "mlx5_0", bdf: "0000:0c:00.0", class: "PXB", switches: 2, bandwidth_gbps: 192,
		bandwidth_now_gbps: 192} + (.gpus[0].hcas[0] | {collapsed} | with_entries(select(.value)))'
	want '.gpus[0].nccl == {local: ["mlx5_0", "mlx5_1"], class: "PXB", bandwidth_gBps: 24, gdr: true, channels: ["mlx5_0"]}'
}

test_topo_what_is_not_told_is_null()
{
	ok topo --nccl-xml "$XML/synthetic-c_flat_vm_8x8_numa-1.xml" --json
	want '.gpus | all(.numa == null)'
	ok topo --nccl-xml "$XML/aws-p4d.xml" --json
	want '.hcas | all(.ports | all(.active == null and .rate_mbps == null))'
	eq "names of a skeleton" "$(jq -r '[.hcas[].name] | join(" ")' "$W/out")" "net0 net1 net2 net3"
}

test_topo_says_the_same_twice()
{
	local form name=$XML/rccl-topo_8p_950.xml
	for form in '' --json --env --labels '--svg -'; do
		# shellcheck disable=SC2086
		ok topo --nccl-xml "$name" $form
		cp "$W/out" "$W/first"
		# shellcheck disable=SC2086
		ok topo --nccl-xml "$name" $form
		cmp -s "$W/out" "$W/first" || fail "topo $form says another thing the second time"
		[ -s "$W/out" ] || fail "topo $form says nothing"
	done
}

# --- which GPUs --------------------------------------------------------------------------------

test_topo_of_some_gpus()
{
	ok topo --nccl-xml "$XML/dgx-a100.xml" --gpus 0000:0f:00.0 --json
	want '.gpus | length == 1'
	# Alone it takes its neighbour'"'"'s too; what it should take is the same as among all.
	want '.gpus[0] | .bdf == "0000:0f:00.0" and .index == 1 and .assigned == "mlx5_1" and .nccl.channels == ["mlx5_0", "mlx5_1"]'
	want '.gpus[0].differs | .cause == "lone-gpu" and (.setting | contains("NCCL_IB_HCA"))'
	ok topo --nccl-xml "$XML/dgx-a100.xml" --gpus 0f:00.0 --set NCCL_NETDEVS_POLICY=MAX:1 --json
	want '.gpus[0].nccl.channels == ["mlx5_0"]'
	ok topo --nccl-xml "$XML/dgx-a100.xml" --gpus 07:00.0,0000:47:00.0 --gpus bd:00.0 --json
	want '[.gpus[].bdf] == ["0000:07:00.0", "0000:47:00.0", "0000:bd:00.0"]'
	ok topo --nccl-xml "$XML/dgx-a100.xml" --hcas mlx5_3 --json
	want '.gpus | all((.hcas | length) == 1)'
	want '[.hcas[] | select(.considered).name] == ["mlx5_3"]'
	ok topo --nccl-xml "$XML/synthetic-j_dgxa100_only_gpu1.xml" --json
	want '.gpus | length == 1'
}

# --- the matrix --------------------------------------------------------------------------------

# How scripts read nvidia-smi: by columns of the header, by words, by the legend.
test_topo_matrix_is_read_by_scripts()
{
	ok topo --nccl-xml "$XML/dgx-a100.xml" --matrix
	cp "$W/out" "$W/matrix"
	ok topo --nccl-xml "$XML/dgx-a100.xml"
	sed '1,/^$/d' "$W/out" | diff - "$W/matrix" >"$W/diff" || fail "-m has not the rest of the output: $(head -4 "$W/diff")"
	eq "GPUs counted" "$(grep -c '^GPU[0-9]' "$W/matrix")" 8
	eq "NICs counted" "$(grep -c '^NIC[0-9]' "$W/matrix")" 8
	eq "by tabs" "$(awk -F '\t' 'NR == 1 { for (i = 2; i <= NF; i++) name[i] = $i }
		/^GPU2\t/ { for (i = 2; i <= NF; i++) if ($i == "PXB" || $i == "PIX") printf "%s ", name[i] }' "$W/matrix")" "NIC2 NIC3 "
	eq "by words" "$(awk 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^NIC/) { first = i; break } }
		$1 == "GPU7" { print $(first + 7), $(first + 8) }' "$W/matrix")" "PXB PXB"
	eq "rows of NICs" "$(awk '/^NIC4/ { for (i = 2; i <= 9; i++) if ($i == "PXB") printf "GPU%d ", i - 2 }' "$W/matrix")" "GPU4 GPU5 "
	eq "legend" "$(awk '/^NIC Legend:/ { on = 1; next } on && /^ *NIC[0-9]+:/ { sub(":", "", $1); printf "%s=%s ", $1, $2 }' "$W/matrix")" \
		"NIC0=mlx5_0 NIC1=mlx5_1 NIC2=mlx5_2 NIC3=mlx5_3 NIC4=mlx5_6 NIC5=mlx5_7 NIC6=mlx5_8 NIC7=mlx5_9 "
	eq "links" "$(awk -F '\t' '/^GPU0/ { print $2 "," $3 "," $9 }' "$W/matrix")" " X ,NV12,NV12"
	eq "affinity" "$(awk -F '\t' 'NR == 1 { print $(NF - 1) "," $NF } /^GPU4/ { print $(NF - 1) "," $NF }' "$W/matrix" | paste -sd' ')" \
		"CPU Affinity,NUMA Affinity 112-127,240-255,7"
	eq "a NIC has none" "$(awk -F '\t' '/^NIC0/ { print NF "," $(NF - 1) "," $NF }' "$W/matrix")" "19,,"
	head -n 1 "$W/matrix" | grep -q $'^\tGPU0\t' || fail "the header: $(head -n 1 "$W/matrix")"
}

test_topo_on_a_terminal()
{
	terminal 200 topo --nccl-xml "$XML/dgx-a100.xml"
	[ "$RC" = 0 ] || fail "$(said)"
	has $'\033[4mGPU0'
	terminal 200 topo --nccl-xml "$XML/dgx-a100.xml" --no-color
	hasnt $'\033['
	ok topo --nccl-xml "$XML/dgx-a100.xml"
	hasnt $'\033['
	terminal 200 topo --nccl-xml "$XML/dgx-a100.xml" --json
	hasnt $'\033['
}

# Above the matrix, a line each, and a sentence where NCCL goes its own way.
test_topo_lines()
{
	ok topo --nccl-xml "$XML/synthetic-a_pix100_phb400.xml"
	grep -qE '^0000:[0-9a-f]{2}:00\.0 +0 +0 +near100 +PIX +1 .* near100 +far400\* +PHB +off' "$W/out" || fail "$(said)"
	has 'NCCL_IB_HCA'
	ok topo --nccl-xml "$XML/synthetic-a_pix100_phb400.xml" --json
	want '.gpus[0] | .differs.verdict == "away" and .differs.cause == "faster" and (.differs.setting | startswith("NCCL_IB_HCA=="))'
}

# --- nothing there, or nothing that can be read ------------------------------------------------

test_topo_of_a_machine_without_any()
{
	[ -z "$(ls /sys/class/infiniband 2>/dev/null)" ] || skip "this machine has RDMA devices"
	ok topo
	has "No HCAs"
	ok topo --json
	want '.hcas == []'
	r topo check
	[ "$RC" = 1 ] || [ "$RC" = 4 ] || fail "$(said)"
	ok topo --labels
	has 'railhead.io/hcas=0'
	has 'railhead.io/rails=0'
	[ "$(grep gpus= "$W/out")" != railhead.io/gpus=0 ] || has 'railhead.io/gdr-ready=none'
	ok topo --env
	[ -z "$(grep -v '^#' "$W/out")" ] || fail "$(said)"
	ok topo --svg "$W/none.svg"
	mkdir -p "$W/empty/sys/bus/pci/devices"
	ok topo --sysfs "$W/empty" --json
	want '.gpus == [] and .hcas == []'
	ok topo --sysfs "$W/empty"
	has "No GPUs"
}

test_topo_sources_that_are_none()
{
	printf 'not a tree' >"$W/plain"
	printf '<system version="1"><cpu numaid="0"></system>' >"$W/bad.xml"
	printf '<system version="9"></system>' >"$W/nine.xml"
	mkdir -p "$W/hollow"
	refused 1 'No such file' topo --nccl-xml "$W/nothing.xml"
	refused 1 'bad.xml' topo --nccl-xml "$W/bad.xml"
	refused 1 'version' topo --nccl-xml "$W/nine.xml"
	refused 1 "$W/plain" topo --nccl-xml "$W/plain"
	refused 1 "$W/plain" topo --sysfs "$W/plain"
	refused 1 "$W/nothing" topo --sysfs "$W/nothing"
	refused 1 "$W/hollow" topo --sysfs "$W/hollow"
	refused 1 'nothing' topo check --sysfs "$W/nothing"
}

# A pod with GPU 1 alone: its number is 0, or that of a file that the job reads itself.
test_topo_numbers_of_gpus()
{
	local pod=(topo --nccl-xml "$XML/dgx-a100.xml" --gpus 0000:0f:00.0 --nccl-version 2.28.9 --set NCCL_NETDEVS_POLICY=MAX:1 --json)
	ok "${pod[@]}"
	want '[.gpus[].nccl.channels?] | map(select(.)) == [["mlx5_0"]]'
	ok "${pod[@]}" --set "NCCL_TOPO_FILE=/etc/nccl-topo.xml"
	want '[.gpus[].nccl.channels?] | map(select(.)) == [["mlx5_1"]]'
}

test_topo_options_that_are_wrong()
{
	local x=$XML/dgx-a100.xml
	refused 2 'exclude each other' topo --sysfs / --nccl-xml "$x"
	refused 2 'exclude each other' topo --nccl-xml "$x" --env --labels
	refused 2 'exclude each other' topo --nccl-xml "$x" --json --svg -
	refused 2 '--per-gpu is for --env' topo --nccl-xml "$x" --per-gpu
	refused 2 '--skeleton is for' topo --nccl-xml "$x" --skeleton
	refused 2 'is not a PCI address' topo --nccl-xml "$x" --gpus gpu0
	refused 2 'is not a name' topo --nccl-xml "$x" --gpus ''
	refused 2 'is not a name' topo --nccl-xml "$x" --gpus 07:00.0,
	refused 1 'there is no GPU at "01:02.3"; there are 0000:07:00.0' topo --nccl-xml "$x" --gpus 01:02.3
	refused 1 'there is no HCA "mlx5_77"' topo --nccl-xml "$x" --hcas mlx5_77
	refused 2 'is not a PCI class' topo --class 3d
	refused 2 '--class is for a tree' topo --nccl-xml "$x" --class 0x0b40
	refused 2 '--netns is of this machine' topo --nccl-xml "$x" --netns /proc/self/ns/net
	refused 2 'NAME is one of NCCL_NETDEVS_POLICY' topo --nccl-xml "$x" --set NCCL_DEBUG=INFO
	refused 2 'it must be AUTO, ALL or MAX:N' topo --nccl-xml "$x" --set NCCL_NETDEVS_POLICY=MAX:0
	refused 2 'it must be LOC, PIX' topo --nccl-xml "$x" --set NCCL_NET_GDR_LEVEL=near
	refused 2 'it must be 0 or 1' topo --nccl-xml "$x" --set NCCL_IB_MERGE_VFS=
	capture "$QEMU"
	refused 2 'needs that file in --nccl-xml' topo --sysfs "$TREE" --set NCCL_TOPO_FILE=x
	refused 2 'has no option --svg' topo --svg x check
	refused 2 'did you mean "railctl topo check"' topo chek
	refused 2 'needs FILE.tar' topo capture
	refused 1 'No such file' topo --nccl-xml "$x" --svg "$W/nowhere/x.svg"
	refused 1 'Is a directory' topo --nccl-xml "$x" --svg "$W"
}

# --- what others read --------------------------------------------------------------------------

test_topo_env()
{
	ok topo --nccl-xml "$XML/dgx-a100.xml" --env
	eq "for a shell" "$(env -i bash -c '. "$1"; printf %s "$NCCL_IB_HCA $UCX_NET_DEVICES"' - "$W/out")" \
		"=mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_6:1,mlx5_7:1,mlx5_8:1,mlx5_9:1 mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_6:1,mlx5_7:1,mlx5_8:1,mlx5_9:1"
	hasnt GID_INDEX
	hasnt MERGE_VFS
	ok topo --nccl-xml "$XML/dgx-a100.xml" --env --gpus 0f:00.0
	has "NCCL_IB_HCA='=mlx5_1:1'"
	ok topo --nccl-xml "$XML/dgx-a100.xml" --env --per-gpu
	eq "GPUs" "$(grep -c "^export NCCL_IB_HCA='=mlx5_[0-9]:1'$" "$W/out")" 8
	eq "variables" "$(sed -n '/^# GPU 7/,$ s/^export \([A-Z_]*\).*/\1/p' "$W/out" | paste -sd' ')" \
		"NCCL_IB_HCA UCX_NET_DEVICES NVSHMEM_HCA_LIST NVSHMEM_ENABLE_NIC_PE_MAPPING"
	refused 2 '--json and --env exclude each other' topo --env --json
	# NVSHMEM gives entry k to process k: for a node only if each GPU has one entry, in their order
	ok topo --nccl-xml "$XML/oci-bm-gpu-h100.xml" --env
	has "NCCL_IB_HCA='=mlx5_0:1,mlx5_1:1,"
	hasnt NVSHMEM_ENABLE_NIC_PE_MAPPING
	ok topo --nccl-xml "$XML/oci-bm-gpu-h100.xml" --env --per-gpu
	eq "GPUs" "$(grep -c "^export NCCL_IB_HCA='=mlx5_[0-9]*:1,mlx5_[0-9]*:1'$" "$W/out")" 8
	eq "GPUs" "$(grep -c '^export NVSHMEM_ENABLE_NIC_PE_MAPPING' "$W/out")" 8
	ok topo --nccl-xml "$XML/dgx-a100.xml" --env
	grep -qx "export NVSHMEM_ENABLE_NIC_PE_MAPPING='1'" "$W/out" || fail "one HCA a GPU: $(said)"
	sed -n "s/^export NVSHMEM_HCA_LIST='\(.*\)'$/\1/p" "$W/out" >"$W/list"
	ok topo --nccl-xml "$XML/dgx-a100.xml" --json
	eq "list of NVSHMEM" "$(cat "$W/list")" "$(jq -r '[.gpus[].assigned + ":1"] | join(",")' "$W/out")"
	# names of an older NCCL for several devices
	sed 's/name="mlx5_0"/name="mlx5_0+mlx5_99"/' "$XML/dgx-a100.xml" >"$W/fused.xml"
	ok topo --nccl-xml "$W/fused.xml" --env
	grep -q '^# left out (NCCL made one device of several.*: mlx5_0+mlx5_99$' "$W/out" || fail "$(said)"
	grep -v '^#' "$W/out" >"$W/set"
	if grep -q '+\|NIC_PE' "$W/set"; then fail "$(cat "$W/set")"; fi
	# devices that no variable can name
	ok topo --nccl-xml "$XML/azure-nd-a100-v4.xml" --env
	has 'the file does not name the devices'
	hasnt export
	ok topo --nccl-xml "$XML/aws-p4d.xml" --env
	has aws-ofi-nccl
	has 'no other HCA'
	hasnt export
	# UCX uses EFA by names of RDMA devices: those of a machine, not of a file
	made p5-efa
	ok topo --sysfs "$W/p5-efa" --env --per-gpu
	grep -q '^# left out of NCCL_IB_HCA and NVSHMEM_HCA_LIST (EFA: .*): rdmap71s0, ' "$W/out" || fail "$(said)"
	eq "variables" "$(sed -n 's/^export \([A-Z_]*\)=.*/\1/p' "$W/out" | sort | uniq -c | xargs)" "8 UCX_NET_DEVICES"
	has "UCX_NET_DEVICES='rdmap71s0:1,rdmap72s0:1,rdmap73s0:1,rdmap74s0:1'"
	eq "comments with the version" "$(grep -c '^# UCX since 1.19.0: ' "$W/out")" 8
	sed 's/name="mlx5_\([0-9]*\)" \(.*\) port="1"/name="eth\1" \2 port="0"/' "$XML/dgx-a100.xml" >"$W/sockets.xml"
	ok topo --nccl-xml "$W/sockets.xml" --env
	has 'an interface for sockets'
	hasnt export
}

# The programs of docs/stacks.md, as vLLM, DeepEP, SGLang and Mooncake read their output.
test_topo_for_other_programs()
{
	sed -n '/^export VLLM_NIC/,/^```/p' "$ROOT/docs/stacks.md" | sed "/^\`\`\`/d; s,railctl topo,railctl topo --nccl-xml $XML/dgx-a100.xml," >"$W/programs"
	(cd "$W" && bash -ec '. ./programs && printf "%s\n" "$VLLM_GPU_NIC_PCIE_MAPPING" "$VLLM_NIC_SELECTION_VARS" "$DEEP_EP_DEVICE_TO_HCA_MAPPING"' \
		>out 2>err) || fail "$(said)"
	eq "for vLLM" "$(sed -n 1p "$W/out" | cut -d, -f1-2)" "0000:07:00.0=0000:0c:00.0,0000:0f:00.0=0000:12:00.0"
	# NAME:SUFFIX; the suffix follows the name of the device
	eq "the variable that vLLM sets" "$(sed -n 2p "$W/out")" UCX_NET_DEVICES:1
	eq "for DeepEP" "$(sed -n 3p "$W/out")" "0:mlx5_0:1,1:mlx5_1:1,2:mlx5_2:1,3:mlx5_3:1,4:mlx5_6:1,5:mlx5_7:1,6:mlx5_8:1,7:mlx5_9:1"
	# keys are digits, values lists of names
	cp "$W/sglang.json" "$W/out"
	want 'length == 8 and all(keys[]; test("^[0-9]+$")) and .["1"] == "mlx5_1" and .["7"] == "mlx5_9"'
	cp "$W/mooncake.json" "$W/out"
	want 'keys | length == 8'
	want '.["cuda:1"][0] == ["mlx5_1"] and (.["cuda:1"][1] | length == 7 and index("mlx5_1") == null)'
}

# Values must be those that Kubernetes takes, or the whole file is refused.
test_topo_labels()
{
	local name
	for name in dgx-a100 rccl-topo_8p_950 synthetic-c_flat_vm_8x8_numa-1; do
		ok topo --nccl-xml "$XML/$name.xml" --labels
		[ -z "$(grep -vE '^railhead\.io/[a-z][a-z0-9-]{0,61}[a-z0-9]=[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$' "$W/out")" ] ||
			fail "no label: $(said)"
	done
	ok topo --nccl-xml "$XML/dgx-a100.xml" --labels
	has 'railhead.io/rails=8'
	has 'railhead.io/gpu-nic=PXB'
	has 'railhead.io/gdr-ready=unknown'
	# One machine has one shape, whatever its bus numbers and names; another has another.
	grep pcie-shape "$W/out" >"$W/shape"
	sed 's/"0000:\([0-9a-f]\{2\}\):/"0001:\1:/g; s/mlx5_/roce/g' "$XML/dgx-a100.xml" >"$W/moved.xml"
	ok topo --nccl-xml "$W/moved.xml" --labels
	eq "shape of the same" "$(grep pcie-shape "$W/out")" "$(<"$W/shape")"
	sed '0,/link_width="16"/s//link_width="8"/' "$XML/dgx-a100.xml" >"$W/narrow.xml"
	ok topo --nccl-xml "$W/narrow.xml" --labels
	[ "$(grep pcie-shape "$W/out")" != "$(<"$W/shape")" ] || fail "a narrow link leaves the shape as it is"
	# Other bus numbers are other addresses of the rails; a narrow link is not.
	grep rail-addresses "$W/out" >"$W/first"
	ok topo --nccl-xml "$XML/dgx-a100.xml" --labels
	eq "addresses" "$(grep rail-addresses "$W/out")" "$(<"$W/first")"
	ok topo --nccl-xml "$W/moved.xml" --labels
	[ "$(grep rail-addresses "$W/out")" != "$(<"$W/first")" ] || fail "other addresses have the same label"
	capture hwloc-mic-mlx4
	ok topo --sysfs "$TREE" --class 0x0b40 --labels
	has 'railhead.io/link-layer=InfiniBand'
}

# Node Feature Discovery reads all files of its folder, but none that begins with a dot: no other file may stay there.
# The rails of pods are those of the file, whatever the cards are.
test_topo_labels_of_rails_json()
{
	mkdir -p /etc/railhead
	echo '{"rails":[{"rail":1,"interface":"rm1"},{"rail":2,"interface":"rm2"}]}' >/etc/railhead/rails.json
	ok topo --labels
	has 'railhead.io/rails=2'
	ok topo --nccl-xml "$XML/dgx-a100.xml" --labels
	has 'railhead.io/rails=8'
	echo '{"rails":[' >/etc/railhead/rails.json
	refused 1 '/etc/railhead/rails.json' topo --labels
	rm /etc/railhead/rails.json
}
test_topo_labels_in_a_file()
{
	mkdir -p "$W/features.d"
	ok topo --nccl-xml "$XML/dgx-a100.xml" --labels
	cp "$W/out" "$W/first"
	ok topo --nccl-xml "$XML/dgx-a100.xml" --labels-out "$W/features.d/railhead"
	[ -z "$OUT" ] || fail "$(said)"
	cmp -s "$W/first" "$W/features.d/railhead" || fail "the file has other labels"
	eq "files" "$(ls -A "$W/features.d")" railhead
	refused 1 'No such file' topo --nccl-xml "$XML/dgx-a100.xml" --labels-out "$W/nowhere/railhead"
	refused 2 'exclude each other' topo --labels --labels-out "$W/x"
}

# --- captures, files for NCCL ------------------------------------------------------------------

# A colleague's capture: a tar is refused, and the hint extracts it.
test_topo_of_a_capture()
{
	local tar
	tar=$(echo "$DATA/sysfs/$QEMU".tar.*)
	refused 1 "is not a folder" topo --sysfs "$tar" --json
	refused 1 "extract it first: mkdir m && tar -xf $tar -C m" topo --sysfs "$tar"
	refused 1 "extract it first" topo diff "$tar" "$tar"
	refused 1 "extract it first" topo rack "$tar" "$tar"
	refused 1 "not a topology file" topo --nccl-xml "$tar"
	refused 1 "a capture is a tar: mkdir m && tar -xf FILE -C m, then --sysfs m" topo --nccl-xml "$tar"
	capture "$QEMU"
	ok topo --sysfs "$TREE" --json
	want '[.gpus[].bdf] == ["0000:23:00.0", "0000:24:00.0", "0000:83:00.0"]'
	eq "class" "$(jq -r '.gpus[0].hcas[] | select(.bdf == "0000:25:00.0").class' "$W/out")" PIX
	eq "VFs" "$(jq -r '[.hcas[].bdf] | map(select(startswith("0000:25:10."))) | join(" ")' "$W/out")" "0000:25:10.0 0000:25:10.2"
}

# This machine, here and by its capture.
test_topo_capture_says_what_the_machine_says()
{
	local form
	ok topo capture "$W/here.tar"
	has "$W/here.tar"
	ok topo capture --json "$W/here.tar"
	want '.files > 0 and .bytes > 0'
	mkdir "$W/here" && tar -xf "$W/here.tar" -C "$W/here" || fail "the tar"
	for form in '' --json --labels check 'check --json'; do
		# shellcheck disable=SC2086
		r topo $form
		cp "$W/out" "$W/first"
		# shellcheck disable=SC2086
		r topo $form --sysfs "$W/here"
		cmp -s "$W/out" "$W/first" || fail "topo $form: $(diff "$W/first" "$W/out" | head -5)"
	done
	"$BIN/railctl" topo capture - >"$W/there.tar" 2>"$W/err" || fail "to standard output: $(<"$W/err")"
	tar -tf "$W/there.tar" >"$W/out" || fail "no tar"
	refused 1 'No such file' topo capture "$W/nowhere/x.tar"
}

# A written file is read back as the same machine: GPUs, HCAs, and NCCL's choice.
test_topo_file_for_nccl_read_back()
{
	local name
	for name in dgx-a100 oci-bm-gpu-h100 synthetic-e_1switch_3gpu_4nic synthetic-c_flat_vm_8x8_numa-1; do
		ok topo --nccl-xml "$XML/$name.xml" --json
		our_answers >"$W/first"
		ok topo --nccl-xml "$XML/$name.xml" --nccl-xml-out "$W/back.xml"
		[ -z "$OUT" ] || fail "$(said)"
		ok topo --nccl-xml "$W/back.xml" --json
		our_answers >"$W/second"
		diff "$W/first" "$W/second" >"$W/diff" || fail "$name: $(head -4 "$W/diff")"
		if grep -q $'\t' "$W/back.xml" || grep -q '<?xml' "$W/back.xml" || grep -q ' />' "$W/back.xml"; then
			fail "$name: what NCCL's parser refuses"
		fi
	done
	ok topo --nccl-xml "$XML/dgx-a100.xml" --nccl-xml-out - --skeleton
	hasnt '<gpu'
	hasnt '<net'
}

# Two GPUs and two HCAs of a DGX A100 in a flat virtual machine.
test_topo_file_for_a_guest()
{
	local map=0000:05:00.0=0000:07:00.0,0000:06:00.0=0000:0c:00.0,0000:07:00.0=0000:47:00.0
	ok topo --nccl-xml "$XML/dgx-a100.xml" --nccl-xml-out "$W/guest.xml" --guest-map $map --guest-map 0000:08:00.0=0000:4b:00.0
	grep -q 'busid="0000:05:00.0"' "$W/guest.xml" || fail "the guest's address is not there: $(<"$W/guest.xml")"
	if grep -q 'busid="0000:47:00.0"' "$W/guest.xml"; then fail "an address of the host's is there"; fi
	ok topo --nccl-xml "$W/guest.xml" --json
	eq "assigned" "$(jq -r '[.gpus[] | .assigned] | length' "$W/out")" 2
	want '[.gpus[].hcas | map(select(.class == "PXB" or .class == "PIX")) | length] == [1, 1]'
	refused 2 'not a pair of PCI addresses' topo --nccl-xml "$XML/dgx-a100.xml" --nccl-xml-out - --guest-map 05:00.0
	refused 2 '--guest-map is for --nccl-xml-out' topo --nccl-xml "$XML/dgx-a100.xml" --guest-map $map
	refused 2 '--guest is for --guest-map' topo --nccl-xml "$XML/dgx-a100.xml" --nccl-xml-out - --guest x
	refused 1 '0000:aa:00.0' topo --nccl-xml "$XML/dgx-a100.xml" --nccl-xml-out - --guest-map 0000:05:00.0=0000:aa:00.0
}

# Each finding of the output has a row in the table of docs/gpudirect.md.
documented_checks()
{
	local check
	while read -r check; do
		grep -q "^|[^|]*\`$check\`[^|]*|" "$ROOT/docs/gpudirect.md" || fail "docs/gpudirect.md does not have the finding $check"
	done < <(jq -r '.findings[].check' "$W/out" | sort -u)
}

test_topo_check()
{
	r topo check --nccl-xml "$XML/dgx-a100.xml"
	eq "last line" "$(tail -n 1 "$W/out" | sed 's/[0-9][0-9]*/N/g')" "N ok, N warned, N failed, N unknown"
	r topo check --nccl-xml "$XML/dgx-a100.xml" --json
	want '[.findings[] | select(.check == "file")] | length == 1 and .[0].state == "unknown" and (.[0].value | contains("acs"))'
	want '.findings | all(.check != "acs" and .check != "iommu")'
	documented_checks
	capture "$QEMU"
	r topo check --sysfs "$TREE" --json
	[ "$RC" = 4 ] || fail "something fails there: $(said)"
	documented_checks
	want '.version == 1 and .state == "fail" and (.gpus | length == 3)'
	want '.findings | map(.state) as $s | ["fail", "warn", "unknown", "ok"] as $order | $s == ($s | sort_by(. as $x | $order | index($x)))'
	want '.findings | all(.state == "ok" or (.consequence | length > 0))'
	want '.findings | all((.state != "warn" and .state != "fail") or (.remedy | length > 0))'
}

# The same machine in each form, and one that lost a card, a link and a setting.
test_topo_diff()
{
	local a100=$XML/dgx-a100.xml
	ok topo diff "$a100" "$a100"
	has 'no difference'
	ok topo --nccl-xml "$a100" --json
	cp "$W/out" "$W/good.json"
	ok topo diff --expect "$W/good.json" "$a100" --json
	want '.version == 1 and .state == "ok" and .differences == []'
	jq '.hcas |= map(select(.name != "mlx5_9")) | .hcas[0].ports[0].rate_mbps = 100000' "$W/good.json" >"$W/odd.json"
	r topo diff "$W/good.json" "$W/odd.json"
	[ "$RC" = 4 ] || fail "a card is missing: $(said)"
	has 'mlx5_9 0000:cc:00.0: expected, but not found'
	has 'mlx5_0:1: Mbit/s: expected 200000, found 100000'
	has '2 differences'
	jq '.hcas[0].ports[0].ifname = "eth9"' "$W/good.json" >"$W/odd.json"
	r topo diff --expect "$W/good.json" "$W/odd.json"
	[ "$RC" = 0 ] || fail "an interface is known on one machine: $(said)"
	has 'no difference in the values that both machines have'
	r topo diff --expect "$W/good.json" "$W/odd.json" --strict
	[ "$RC" = 3 ] || fail "--strict: $(said)"
	r topo diff "$a100"
	[ "$RC" = 4 ] || fail "this machine is not a DGX: $(said)"
	# one version for both machines; a document has the choice of its own
	ok topo --nccl-xml "$XML/oci-bm-gpu-h100.xml" --nccl-version 2.18.3 --json
	cp "$W/out" "$W/unfused.json"
	ok topo diff "$W/unfused.json" "$XML/oci-bm-gpu-h100.xml" --nccl-version 2.18.3
	r topo diff "$W/unfused.json" "$XML/oci-bm-gpu-h100.xml"
	has "HCAs that NCCL will use: expected mlx5_0,mlx5_1, found mlx5_0+mlx5_1"
	ok topo --nccl-xml "$XML/rccl-topo_8p_942vm.xml" --rccl --json
	cp "$W/out" "$W/rccl.json"
	ok topo diff "$W/rccl.json" "$XML/rccl-topo_8p_942vm.xml" --rccl
	r topo diff "$W/rccl.json" "$XML/rccl-topo_8p_942vm.xml"
	[ "$RC" = 4 ] || fail "another library: $(said)"
	refused 2 'is missing' topo diff
	refused 2 'already names' topo diff --expect "$W/good.json" "$a100" "$a100"
	echo '{"version": 2}' >"$W/other.json"
	refused 1 'not a document of' topo diff "$a100" "$W/other.json"
	refused 1 'No such file' topo diff "$a100" "$W/none"
}

# A capture is the same machine as the tree from which it came.
test_topo_diff_of_a_capture()
{
	capture "$QEMU"
	ok topo diff "$TREE" "$TREE" --strict
	has 'no difference'
	capture hwloc-8ve
	r topo diff "$W/captures/$QEMU" "$TREE"
	[ "$RC" = 4 ] || fail "another machine: $(said)"
}

# nccl_log BUSID HCA INDEX [HOST]: what a process of a job prints, with the devices of a DGX A100; its HCA has the index.
nccl_log()
{
	local head="${4-gpu-1}:100:120 [0] NCCL INFO"
	printf '%s\n' "$head NCCL version 2.30.7+cuda13.0" "$head NET/IB : Using [$3]$2:1/IB [RO]; OOB eth0:10.0.0.1<0>" \
		"$head Using network IB" "$head comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId $1 - Init START" 'step 1 loss 0.5' \
		"$head Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/$3/GDRDMA"
}

test_topo_verify_of_a_log()
{
	local a100=(topo verify --nccl-xml "$XML/dgx-a100.xml" --nccl-log "$W/job.log")
	nccl_log 7000 mlx5_1 3 >"$W/job.log"
	ok "${a100[@]}" --strict
	has 'GPU 0: predicted mlx5_0,mlx5_1, NCCL uses mlx5_1'
	has '2 ok, 0 warned, 0 failed, 0 unknown'
	nccl_log 7000 mlx5_9 0 >"$W/job.log"
	r "${a100[@]}" --json
	[ "$RC" = 4 ] || fail "another HCA: $(said)"
	want '.version == 1 and .state == "fail" and (.findings[0] | .check == "net" and .subject == "GPU 0" and (.remedy | length > 0))'
	echo 'gpu-1:100:120 [0] NCCL INFO NCCL_IB_HCA set to mlx5_9' >>"$W/job.log"
	r "${a100[@]}"
	has 'add --set NCCL_IB_HCA=mlx5_9'
	ok "${a100[@]}" --set NCCL_IB_HCA=mlx5_9
	ok "${a100[@]}" --hcas mlx5_9 --set NCCL_NET_GDR_LEVEL=SYS
	nccl_log 7000 mlx5_0 0 gpu-2 >>"$W/job.log"
	refused 2 'more than one machine' "${a100[@]}"
	ok "${a100[@]}" --host gpu-2
	refused 1 'no line of the host' "${a100[@]}" --host gpu-3
	echo 'no NCCL here' >"$W/job.log"
	refused 1 'no line of NCCL' "${a100[@]}"
	refused 2 'either --nccl-log or --nccl-dump' topo verify
	refused 2 '--host is for' topo verify --nccl-dump x --host y
}

# real_job OWN FILE NAME ARGUMENT...: verify a job of topo/testdata/nccl-job.tar.gz whose GPU has the address OWN in the topology file.
real_job()
{
	[ -d "$W/nccl-job" ] || tar -xzf "$DATA/nccl-job.tar.gz" -C "$W" || fail 'test error: the jobs'
	sed "s/\"$1\"/\"0000:00:06.0\"/" "$XML/$2.xml" >"$W/machine.xml"
	ok topo verify --nccl-xml "$W/machine.xml" --gpus 0000:00:06.0 --all --nccl-log "$W/nccl-job/$3.log" "${@:4}"
}

# real_dump NAME ARGUMENT...: the same for the file that the job wrote, with the machine of the last real_job.
real_dump()
{
	ok topo verify --nccl-xml "$W/machine.xml" --gpus 0000:00:06.0 --strict --nccl-dump "$W/nccl-job/$1.xml" "${@:2}"
}

# The library chose as predicted, also where its choice is not the nearest HCA.
test_topo_verify_of_real_jobs_with_hcas()
{
	real_job 0000:47:00.0 dgx-a100 dgx-a100-gpu2 --strict
	has 'GPU 2: predicted mlx5_2,mlx5_3, NCCL uses mlx5_2'
	real_dump dgx-a100-gpu2
	# the rules are those of the version in the log
	real_job 0000:47:00.0 dgx-a100 dgx-a100-gpu2-nccl-2.28 --strict
	real_job 0000:47:00.0 dgx-a100 dgx-a100-gpu2-nccl-2.28 --nccl-version 2.30.7
	has 'unknown  version           NCCL 2.28.9'
	real_job 0000:47:00.0 dgx-a100 dgx-a100-gpu2-gdr-read --strict --set NCCL_NET_GDR_READ=0
	has 'predicted on for received data only, 2 connections with GPUDirect RDMA and 2 without'
	real_job 0000:47:00.0 dgx-a100 dgx-a100-gpu2-gdr-level --set NCCL_NET_GDR_LEVEL=PIX
	has 'NCCL chose mlx5_0,mlx5_6: without GPUDirect RDMA it also takes HCAs that are not the nearest'
	real_job 0003:00:00.0 azure-nd-a100-v4 azure-nd-a100-gpu0 --strict
	real_dump azure-nd-a100-gpu0
	real_job 0000:11:00.0 synthetic-a_pix100_phb400 far400-gpu0 --strict
	has 'NCCL uses far400'
	real_dump far400-gpu0
	ok topo verify --nccl-xml "$W/nccl-job/gb300-gpu0.xml" --strict --nccl-log "$W/nccl-job/gb300-gpu0.log" --all
	has 'NCCL uses mlx5_0_dma'
}

# Before 2.29, P2C leads to all HCAs of the CPU. The search of a GPU with a narrow PCIe link takes the slower card, too.
test_topo_verify_of_a_real_job_with_slower_hcas()
{
	tar -xzf "$DATA/nccl-job.tar.gz" -C "$W" || fail 'test error: the jobs'
	local job=(topo verify --nccl-xml "$W/nccl-job/gb200-gpu0-nccl-2.28.xml" --nccl-log "$W/nccl-job/gb200-gpu0-nccl-2.28.log")
	r "${job[@]}" --strict
	[ "$RC" = 3 ] || fail "not unknown: $(said)"
	has 'predicted mlx5_0,mlx5_1, NCCL uses mlx5_0,mlx5_1,mlx5_2'
	has 'NCCL chose mlx5_2, slower but no farther'
	r "${job[@]}" --nccl-version 2.29.7
	[ "$RC" = 4 ] || fail "2.29 has another rule: $(said)"
	has 'mlx5_2, which the prediction does not have'
}

# Cards of two ports: fused by new and old versions, and one of the two without the other.
test_topo_verify_of_real_jobs_with_fused_ports()
{
	real_job 0000:0f:00.0 oci-bm-gpu-h100 oci-h100-gpu0-nccl-2.21
	has 'predicted mlx5_0,mlx5_1, NCCL uses mlx5_0,mlx5_1'
	real_job 0000:5b:00.0 oci-bm-gpu-h100 oci-h100-gpu3 --strict
	has 'predicted mlx5_7,mlx5_8, NCCL uses mlx5_7,mlx5_8'
	real_dump oci-h100-gpu3-hca --set NCCL_IB_HCA=^mlx5_0
	r topo verify --nccl-xml "$W/machine.xml" --gpus 0000:00:06.0 --nccl-dump "$W/nccl-job/oci-h100-gpu3-hca.xml"
	[ "$RC" = 4 ] || fail "an HCA is missing: $(said)"
	has 'mlx5_0 0000:0c:00.0: expected, but not found'
	# 2.21 writes both ports as one net
	made oci-h100
	ok topo --sysfs "$W/oci-h100" --nccl-xml-out "$W/plain.xml"
	sed 's/"0000:19:00.0"/"0000:00:06.0"/' "$W/plain.xml" >"$W/machine.xml"
	real_dump made-oci-h100-gpu0-nccl-2.21 --nccl-version 2.21.5
}

# The log and the dump are of real NCCL on a machine without HCAs: right for that machine, and wrong for one with HCAs.
test_topo_verify_of_a_real_job()
{
	tar -xzf "$DATA/nccl-job.tar.gz" -C "$W" && mkdir "$W/h200-vm" && tar -xf "$W/nccl-job/h200-vm.tar" -C "$W/h200-vm" ||
		fail 'test error: the jobs'
	r topo check --sysfs "$W/h200-vm" --json
	[ "$RC" = 4 ] || fail "no HCA: $(said)"
	want '[.findings[] | select(.check == "bar1" and .state == "ok" and .value == "BAR 1: 256 GiB")] | length == 1'
	ok topo verify --sysfs "$W/h200-vm" --nccl-log "$W/nccl-job/h200-vm.log"
	has 'NCCL uses Socket, as predicted: there is no HCA'
	ok topo verify --sysfs "$W/h200-vm" --nccl-dump "$W/nccl-job/h200-vm.xml" --strict
	r topo verify --nccl-xml "$XML/dgx-a100.xml" --nccl-log "$W/nccl-job/h200-vm.log"
	[ "$RC" = 4 ] || fail "sockets instead of HCAs: $(said)"
	has 'it does not use HCAs by its own code'
	r topo verify --nccl-xml "$XML/dgx-a100.xml" --nccl-dump "$W/nccl-job/h200-vm.xml"
	[ "$RC" = 4 ] || fail "sockets instead of HCAs: $(said)"
}

# The file that NCCL wrote of a machine is that machine; one of another machine is not.
test_topo_verify_of_a_dump()
{
	ok topo verify --nccl-xml "$XML/dgx-a100.xml" --nccl-dump "$XML/dgx-a100.xml" --strict
	r topo verify --nccl-xml "$XML/dgx-a100.xml" --nccl-dump "$XML/synthetic-j_dgxa100_only_gpu1.xml"
	[ "$RC" = 4 ] || fail "GPUs are missing: $(said)"
	has 'expected, but not found'
}

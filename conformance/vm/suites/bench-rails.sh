# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# check: no
# topology: eight
# bench-rails: ADD and DEL of eight VFs by one call of rails, beside one VF, and beside eight calls of sriov. They are also
# compared with the bare requests that move VFs and set them up. Nothing is judged here. The figures go to $OUT/raw, and the
# medians are printed. QUICK=1: few rounds. With VM_CLOCK the clock counts instructions.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# The emulated processor reads a program from the host's file system tenfold slower than from its own.
W=/run/work RAW=$OUT/raw
mkdir -p $W/bin /etc/railhead
cp "$BIN"/{sriov,rails,railhead-ipam,railctl} $W/bin
cp -r "$HELPERS/bench" $W/helpers
ROUNDS=15
[ -z "${QUICK-}" ] || ROUNDS=2
read -ra CARDS <<<"$PFS"
printf '%s\n' "${CARDS[@]}" | jq -Rsc '{rails: [split("\n")[:-1] | to_entries[] | {rail: .key, interface: .value}]}' >/etc/railhead/rails.json
for i in "${!CARDS[@]}"; do
	ip link set "${CARDS[i]}" up
	check "${CARDS[i]} makes a VF" vfs "${CARDS[i]}" 1
	check "a pool" $W/bin/railctl ipam pool add "rail$i" --subnet "10.$((64 + i)).0.0/16" --gateway "10.$((64 + i)).0.1" --this-node-only
done
for pf in "${CARDS[@]}"; do check "$pf has link" eventually carrier "$pf"; done
ip netns add pod
conf() { jq -n "{cniVersion: \"1.0.0\", name: \"$1\", ipam: {type: \"railhead-ipam\", pool: \"$2\"}} + $3" >"$W/conf-$1"; }
subject() { echo "$1,$W/bin/$2,$W/conf-$1,/run/netns/pod"; }
conf one rail0 "{type: \"sriov\", deviceID: \"$(pci "${CARDS[0]}" 0)\"}"
conf rail 'rail{n}' '{type: "rails", kind: "sriov", rails: [0]}'
conf eight 'rail{n}' '{type: "rails", kind: "sriov"}'
MEASURE_PAUSE=100 CNI_PATH=$W/bin $W/helpers/measure time $ROUNDS 2 "$(subject one sriov)" "$(subject rail rails)" "$(subject eight rails)" >"$RAW"
check "figures" grep -q '^eight DEL wall' "$RAW"
# bare LABEL COUNT: a program that asks for the moves and sets the interfaces up, and does nothing else.
bare()
{
	local pf devices=()
	for pf in "${CARDS[@]:0:$2}"; do devices+=("$(netdev "$(pci "$pf" 0)")"); done
	FLOOR_DEVICE=${devices[*]} MEASURE_PAUSE=100 CNI_PATH=$W/bin $W/helpers/measure time $ROUNDS 2 \
		"$1,$W/helpers/floor,$W/conf-one,/run/netns/pod" >>"$RAW"
}
bare bare 1
bare bare8 8
check "figures of the bare requests" grep -q '^bare8 DEL wall' "$RAW"
awk '$3 == "wall" { m[$1, $2] = $5; printf "# %s %s: median %.1f ms\n", $1, $2, $5 / 1000 }
	END { for (i = split("ADD DEL", v, " "); i; i--)
		printf "# %s of 8 VFs: %.2f of one VF, %.2f of 8 calls; %.2f of the bare requests, which take %.2f of those for one VF\n", v[i],
			m["eight", v[i]] / m["one", v[i]], m["eight", v[i]] / (8 * m["one", v[i]]),
			m["eight", v[i]] / m["bare8", v[i]], m["bare8", v[i]] / m["bare", v[i]] }' "$RAW"
ip netns del pod
for pf in "${CARDS[@]}"; do check "$pf without VFs" eval "echo 0 >/sys/class/net/$pf/device/sriov_numvfs"; done
finish

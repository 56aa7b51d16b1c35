# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# qos.sh: rdma qos on a card of files: what its driver has in /sys; veth has no data center bridging.
# shellcheck disable=SC2154

# ens3f0 has the RDMA device mlx5_0 and the files that NVIDIA's driver has.
fake_card()
{
	local s p
	fake_sys
	mkdir -p "$SYS/devices/pci/$PF0/infiniband/mlx5_0/tc/1" "$SYS/class/infiniband"
	ln -s "../../devices/pci/$PF0/infiniband/mlx5_0" "$SYS/class/infiniband/mlx5_0"
	echo 'Global tclass=0' >"$SYS/class/infiniband/mlx5_0/tc/1/traffic_class"
	for s in roce_np roce_rp; do
		mkdir -p "$SYS/class/net/ens3f0/ecn/$s/enable"
		for p in 0 1 2 3 4 5 6 7; do echo 0 >"$SYS/class/net/ens3f0/ecn/$s/enable/$p"; done
	done
	for s in ens3f0 ens3f1 ens3f0v0; do echo 7 >"$SYS/class/net/$s/ifindex"; done
}
ecn() { cat "/sys/class/net/ens3f0/ecn/$1/enable/$2"; }
class() { cat /sys/class/infiniband/mlx5_0/tc/1/traffic_class; }
files() { (cd "$FAKE/qos.d" && ls -A | paste -sd ' '); }

test_qos_show()
{
	fake_card
	ok rdma qos show --pf ens3f0
	has 'no data center bridging'
	[[ $OUT =~ ens3f0\ +ecn\ +none ]] && [[ $OUT =~ trafficClass\ +0 ]] || fail "$(said)"
	echo 1 >/sys/class/net/ens3f0/ecn/roce_np/enable/3
	ok rdma qos show --pf $PF0
	has 'notification point 3, reaction point none'
	ok rdma qos show --pf ens3f0 --json
	want '.[0] | .pf == "ens3f0" and .pciAddress == "'$PF0'" and .rdmaDevice == "mlx5_0" and .ecn == [] and
		.trafficClass == 0 and (has("pfc") | not) and (.unknown | keys == ["bufferBytes", "cmTrafficClass",
		"cnp", "dscp", "pfc", "pfcStormTimeout", "priorityBuffers", "priorityQueues", "queueBandwidth", "trust"])'
	ok rdma qos show --pf ens3f1 --json
	want '.[0] | (has("rdmaDevice") | not) and (.unknown.trafficClass | test("no RDMA device"))'
}

# As Linux's own driver has them for root.
test_qos_show_congestion_notifications()
{
	fake_card
	local cc=/sys/kernel/debug/mlx5/$PF0/cc_params
	mkdir -p $cc && echo 48 >$cc/np_cnp_dscp && echo 6 >$cc/np_cnp_prio && echo 0 >$cc/np_cnp_prio_mode
	ok rdma qos show --pf ens3f0
	[[ $OUT =~ cnp\ +DSCP\ 48,\ priority\ 6 ]] || fail "$(said)"
	ok rdma qos show --pf ens3f0 --json
	want '.[0].cnp == {dscp: 48, priority: 6}'
	echo 1 >$cc/np_cnp_prio_mode
	ok rdma qos show --pf ens3f0 --json
	want '.[0].cnp == {dscp: 48}'
}

test_qos_show_what_is_no_card()
{
	ok rdma qos show
	refused 1 'there is no such interface' rdma qos show --pf nothere
	refused 1 'neither an interface nor a PCI address' rdma qos show --pf a/b
	fake_card
	refused 1 "is a VF: this is set on its PF $PF0" rdma qos show --pf ens3f0v0
	refused 1 "is a VF" rdma qos set --pf "${VFS0%% *}" --pfc 3
}

test_qos_set_files()
{
	fake_card
	ok rdma qos set --pf ens3f0 --ecn 3,5 --tc 106
	eq ecn "$(ecn roce_np 3)$(ecn roce_rp 5)$(ecn roce_rp 4) $(class)" "110 106"
	has 'ens3f0: ecn 3,5'
	hasnt 'as it was'
	ok rdma qos set --pf ens3f0 --ecn none --tc 106 --json
	want '. == {pf: "ens3f0", ecn: [], trafficClass: 106, changed: ["ecn"]}'
	ok rdma qos set --pf $PF0 --ecn none
	has 'ecn none, as it was'
}

# One function with two ports, as of mlx4: each has an interface and a port of the RDMA device.
test_qos_second_port()
{
	fake_card
	sys_netdev $PF0 ens3f0d1
	echo 8 >/sys/class/net/ens3f0d1/ifindex
	echo 1 >/sys/class/net/ens3f0d1/dev_port
	mkdir -p /sys/class/infiniband/mlx5_0/tc/2
	echo 'Global tclass=0' >/sys/class/infiniband/mlx5_0/tc/2/traffic_class
	ok rdma qos set --pf ens3f0d1 --tc 106
	eq "the class of port 2 alone" "$(class) $(cat /sys/class/infiniband/mlx5_0/tc/2/traffic_class)" 'Global tclass=0 106'
	refused 1 'has the ports ens3f0 and ens3f0d1' rdma qos set --pf $PF0 --tc 96
	ok rdma qos set --pf ens3f0 --tc 96
	eq "each port by its own name" "$(class) $(cat /sys/class/infiniband/mlx5_0/tc/2/traffic_class)" '96 106'
}

test_qos_set_what_the_driver_cannot()
{
	fake_card
	refused 1 'pfc: its driver has no data center bridging' rdma qos set --pf ens3f0 --pfc 3 --ecn 3 --tc 106
	refused 1 'trust: its driver' rdma qos set --pf ens3f0 --trust dscp
	eq "nothing is set" "$(ecn roce_np 3) $(class)" "0 Global tclass=0"
	refused 1 'ecn: its driver has no folder ecn' rdma qos set --pf ens3f1 --ecn 3
	refused 1 'NCCL_IB_TC' rdma qos set --pf ens3f1 --tc 106
}

test_qos_set_is_all_or_nothing()
{
	fake_card
	rm /sys/class/net/ens3f0/ecn/roce_rp/enable/5
	ln -s /dev/full /sys/class/net/ens3f0/ecn/roce_rp/enable/5
	refused 1 ecn rdma qos set --pf ens3f0 --ecn 3
	rm /sys/class/net/ens3f0/ecn/roce_rp/enable/5
	mkdir -p /sys/kernel/config/rdma_cm
	echo 0 >/sys/class/net/ens3f0/ecn/roce_rp/enable/5
	refused 1 default_roce_tos rdma qos set --pf ens3f0 --ecn 3 --tc 106
	eq "put back" "$(ecn roce_np 3)$(ecn roce_rp 3) $(class)" "00 Global tclass=0"
	[ ! -e /sys/kernel/config/rdma_cm/mlx5_0 ] || fail 'the folder of the device is left'
}

test_qos_options_that_are_wrong()
{
	refused 2 'say which card' rdma qos set --pfc 3
	refused 2 'say what to set' rdma qos set --pf ens3f0
	refused 2 '--trust "both" is not dscp or pcp' rdma qos set --pf p0 --trust both
	refused 2 '--pfc "8" is not none or priorities' rdma qos set --pf p0 --pfc 8
	refused 2 '--ecn "" is not none or priorities' rdma qos set --pf p0 --ecn ''
	refused 2 '--dscp "26" is not DSCP values and their priority, like 26=3' rdma qos set --pf p0 --dscp 26
	refused 2 '--storm "0" is not auto, off or milliseconds' rdma qos set --pf p0 --storm 0
	refused 2 '--queues "0,1" is not eight queues' rdma qos set --pf p0 --queues 0,1
	refused 2 '--cnp "48" is not a DSCP value and a priority' rdma qos set --pf p0 --cnp 48
	refused 1 'percentages are 90 together' rdma qos set --pf p0 --bandwidth 90,0,0,0,0,0,0,strict
	refused 2 '--lossy goes with --save' rdma qos set --pf p0 --lossy
	refused 2 '--tc "256" is not a number' rdma qos set --pf p0 --tc 256
	refused 2 '--dir goes with --save' rdma qos set --pf p0 --tc 1 --dir /tmp
	refused 2 'must be an absolute path' rdma qos apply --dir qos.d
	refused 2 '--wait "soon" is not a number' rdma qos apply --wait soon
}

test_qos_saved_and_applied()
{
	fake_card
	ok rdma qos set --pf ens3f0 --ecn 3 --save --dir "$FAKE/qos.d"
	ok rdma qos set --pf ens3f0 --tc 106 --save --dir "$FAKE/qos.d"
	has "saved $FAKE/qos.d/ens3f0.json"
	eq files "$(files)" ens3f0.json
	eq file "$(jq -c . "$FAKE/qos.d/ens3f0.json")" '{"pf":"ens3f0","ecn":[3],"trafficClass":106}'
	refused 1 'no data center bridging' rdma qos set --pf ens3f0 --pfc 3 --save --dir "$FAKE/qos.d"
	eq file "$(jq -c .pfc "$FAKE/qos.d/ens3f0.json")" null
	ok rdma qos apply --dir "$FAKE/qos.d"
	has 'left-alone ens3f0.json'
	ok rdma qos set --pf ens3f0 --ecn none --tc 0
	ok rdma qos apply --dir "$FAKE/qos.d" --json
	want '. == [{file: "ens3f0.json", action: "set", pf: "ens3f0", ecn: [3], trafficClass: 106}]'
	eq "set again" "$(ecn roce_rp 3) $(class)" "1 106"
}

# A service that is restarted kills apply at any write to the card; the next one sets what is missing.
test_qos_apply_that_is_killed()
{
	local n=1 killed=0 half=0
	[ -n "$(command -v strace)" ] || skip "strace is not installed"
	fake_card
	mkdir -p "$FAKE/qos.d"
	echo '{"pf":"ens3f0","ecn":[3,5],"trafficClass":106}' >"$FAKE/qos.d/a.json"
	while :; do
		ok rdma qos set --pf ens3f0 --ecn 1 --tc 0
		strace -qq -o "$W/strace" -e trace=write -e "inject=write:signal=SIGTERM:when=$n" \
			"$BIN/railctl" rdma qos apply --dir "$FAKE/qos.d" >"$W/out" 2>"$W/err"
		grep -q 'killed by SIGTERM' "$W/strace" || break
		killed=$((killed + 1))
		case $(ecn roce_np 3)$(ecn roce_np 1)$(ecn roce_rp 5)$(class) in
		0100 | 101106) ;;
		*) half=$((half + 1)) ;;
		esac
		ok rdma qos apply --dir "$FAKE/qos.d"
		eq "after write $n" "$(ecn roce_np 3)$(ecn roce_np 5)$(ecn roce_rp 3)$(ecn roce_rp 5)$(ecn roce_np 1) $(class)" "11110 106"
		ok rdma qos check --dir "$FAKE/qos.d"
		n=$((n + 1))
	done
	[ "$half" -ge 4 ] || fail "killed $killed times, only $half times with a part set"
}

test_qos_apply_files_that_are_wrong()
{
	fake_card
	mkdir "$FAKE/qos.d"
	echo '{"pf":"ens3f0","ecn":[3]}' >"$FAKE/qos.d/b.json"
	echo "{\"pf\":\"$PF0\",\"ecn\":[4]}" >"$FAKE/qos.d/c.json"
	echo '{"pf":"ens3f0","tc":1}' >"$FAKE/qos.d/a.json"
	echo '{"pf":"nothere","ecn":[3]}' >"$FAKE/qos.d/d.json"
	echo '{"pf":"ens3f0","ecn":[1]}' >"$FAKE/qos.d/.e.json"
	cp "$FAKE/qos.d/b.json" "$FAKE/qos.d/f.json" && chmod 666 "$FAKE/qos.d/f.json"
	r rdma qos apply --dir "$FAKE/qos.d" --json
	eq status "$RC" 1
	want 'map(.action) == ["failed", "set", "failed", "failed", "failed"] and (map(.error // "") |
		(.[0] | test("a.json: tc: there is no such key")) and (.[2] | test("b.json is about already")) and
		(.[3] | test("nothere")) and (.[4] | test("others than root may write")))'
	eq ecn "$(ecn roce_np 3)$(ecn roce_np 4)$(ecn roce_np 1)" 100
	ok rdma qos apply
	has 'nothing was done'
}

# A driver that is bound again has its defaults: found, and set again.
test_qos_drift_is_found_and_set_again()
{
	fake_card
	local cc=/sys/kernel/debug/mlx5/$PF0/cc_params
	mkdir -p "$FAKE/qos.d" $cc && echo 48 >$cc/np_cnp_dscp && echo 6 >$cc/np_cnp_prio && echo 0 >$cc/np_cnp_prio_mode
	echo '{"pf":"ens3f0","ecn":[3],"cnp":{"dscp":46},"trafficClass":106}' >"$FAKE/qos.d/a.json"
	ok rdma qos apply --dir "$FAKE/qos.d"
	eq cnp "$(<$cc/np_cnp_dscp)" 46
	ok rdma qos check --dir "$FAKE/qos.d"
	has 'as-wanted a.json: ens3f0'
	ok rdma qos check --dir "$FAKE/qos.d" --json
	want 'length == 1 and (.[0] | .action == "as-wanted" and .differing == [] and .trafficClass == 106)'
	echo 0 >/sys/class/net/ens3f0/ecn/roce_rp/enable/3
	echo 48 >$cc/np_cnp_dscp
	rm /sys/class/infiniband/mlx5_0/tc/1/traffic_class
	echo 'Global tclass=0' >/sys/class/infiniband/mlx5_0/tc/1/traffic_class
	r rdma qos check --dir "$FAKE/qos.d"
	eq status "$RC" 1
	has 'differs a.json: ens3f0'
	has 'ecn is 3 to notify and none to obey, and not 3'
	has 'cnp is DSCP 48, priority 6, and not DSCP 46'
	has 'trafficClass is 0, and not 106'
	r rdma qos check --dir "$FAKE/qos.d" --json
	eq status "$RC" 1
	want '.[0] | .action == "differs" and (.differing | map(.setting) == ["ecn", "cnp", "trafficClass"]) and
		.differing[2] == {setting: "trafficClass", is: "0", wanted: "106"}'
	eq 'nothing is set' "$(class)" 'Global tclass=0'
	ok rdma qos apply --dir "$FAKE/qos.d"
	has 'set a.json'
	ok rdma qos check --dir "$FAKE/qos.d"
	echo '{"pf":"ens3f1","pfc":[3]}' >"$FAKE/qos.d/b.json"
	echo '{"pf":"ens3f1","tc":3}' >"$FAKE/qos.d/c.json"
	r rdma qos check --dir "$FAKE/qos.d"
	eq status "$RC" 1
	has 'pfc is unknown (its driver has no data center bridging), and not 3'
	has 'failed c.json: tc: there is no such key'
}

test_qos_a_lossy_profile_is_saved()
{
	fake_card
	ok rdma qos set --pf ens3f0 --lossy --save --dir "$FAKE/qos.d"
	eq file "$(jq -c . "$FAKE/qos.d/ens3f0.json")" '{"pf":"ens3f0","lossy":true}'
	ok rdma qos set --pf ens3f0 --ecn 3 --save --dir "$FAKE/qos.d"
	eq file "$(jq -c . "$FAKE/qos.d/ens3f0.json")" '{"pf":"ens3f0","lossy":true,"ecn":[3]}'
	ok rdma qos apply --dir "$FAKE/qos.d"
	has 'left-alone ens3f0.json'
	ok rdma qos check --dir "$FAKE/qos.d"
	ok rdma qos show --pf ens3f0 --json
	want '.[0] | has("lossy") | not'
	mkdir -p /etc/railhead && cp -r "$FAKE/qos.d" /etc/railhead
	ok rdma qos show --pf $PF0 --json
	want '.[0].lossy'
	ok rdma qos show --pf ens3f0
	has 'lossy, as a file of /etc/railhead/qos.d says'
	rm /etc/railhead/qos.d/ens3f0.json
	ok rdma qos show --pf ens3f0
	hasnt lossy
}

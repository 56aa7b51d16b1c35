# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# vf.sh: list, create, bind, repair, gc and apply, on a /sys of files; conformance/vm has real VFs.
# shellcheck disable=SC2154

VF0=0000:3b:00.2 VF1=0000:3b:00.3

inode_of() { stat -L -c %i "/proc/self/ns/$1"; }
# owned VF POD: as the sriov plugin notes that container c1 in POD has it.
owned()
{
	local f=$RUN/vf/$1
	ip netns list | grep -qw "$2" || ip netns add "$2"
	rewrite "$f" "$(stat -L -c '.owner = {network: "net-a", container: "c1", ifname: "net1", ifindex: 0,
		netns: "/run/netns/'"$2"'", netnsDev: %d, netnsInode: %i,
		pidNs: '"$(inode_of pid)"', mntNs: '"$(inode_of mnt)"'}' "/run/netns/$2")"
}

test_vf_list()
{
	ok vf list
	eq "no card" "$OUT" "No network card of this host has SR-IOV."
	ok vf list --json
	want '. == []'
	fake_sys
	ok vf list
	eq "rows" "$(tail -n +2 "$W/out" | awk '{ print $1, $2, $3, $4, $9, $11, $12 }')" \
		"$PF0 PF ens3f0 igb 1 0/4 VFs
$PF1 PF ens3f1 igb 1 0/2 VFs"
	echo 2 >/sys/bus/pci/devices/$PF0/sriov_numvfs
	mkdir -p "/sys/devices/pci/$VF1/infiniband/mlx5_7"
	ok vf list --pf ens3f0
	eq "rows" "$(tail -n +2 "$W/out" | awk '{ print $1, $2, $3, $4, $5 }')" "$PF0 PF ens3f0 igb $(mac ens3f0)
$VF0 VF 0 ens3f0v0 igbvf
$VF1 VF 1 ens3f0v1 igbvf"
	ok vf list --pf $PF0 --json
	want 'length == 3 and (.[0] | .pciAddress == "'$PF0'" and .pcieRoot == "pci" and .pciVendor == "0x8086" and .pciDevice == "0x10c9" and
		.numaNode == 1 and .ifName == "ens3f0" and .mtu == 1500 and .state == "down" and .rdma == false and
		.sriov == true and .sriovVfs == 2 and .sriovTotalVfs == 4 and .driver == "igb" and
		(has("isSriovVf") or has("vfID") or has("use") | not))'
	want '.[2] | .pciAddress == "'$VF1'" and .isSriovVf == true and .sriov == false and .vfID == 1 and .pfName == "ens3f0" and
		.pfPciAddress == "'$PF0'" and .rdma == true and .rdmaDevice == "mlx5_7" and .use == "free" and
		(has("owner") or has("sriovVfs") | not)'
	want '.[2].mac == "'"$(mac ens3f0v1)"'"'
	refused 1 'is a VF of 0000:3b:00.0' vf list --pf ens3f0v0
	refused 1 'PF "nope"' vf list --pf nope
}
mac() { ip -j link show "$1" | jq -r '.[0].address'; }

# An attachment of several rails has one record, and an owner for each VF.
test_vf_list_names_the_pod()
{
	fake_sys
	ok vf create --pf ens3f0 --count 2
	attach net-a c1 pod1
	owned $VF0 pod1
	ok vf list --pf ens3f0
	has "pod team-a/c1 (net1, net-a)"
	rewrite "$RUN/vf/$VF0" '.owner.ifname = "net1r3"'
	ok vf list --pf ens3f0
	has "c1/net1r3/net-a"
	rewrite "$(record net-a c1)" '.version = 2 | .parts = [{ifname: "net1", plugin: "sriov", master: "ens3f0"},
		{ifname: "net1r3", plugin: "sriov", master: "ens3f0", device: {near: {gpu: "0000:3c:00.0"}}}]'
	ok vf list --pf ens3f0
	has "pod team-a/c1 (net1r3, net-a)"
	ok vf list --json
	want '.[] | select(.vfID == 0) | .owner | .namespace == "team-a" and .pod == "c1" and .container == "c1" and
		.near.gpu == "0000:3c:00.0"'
}

test_vf_list_fits_80_columns()
{
	fake_sys
	ok vf create --pf ens3f0 --count 2
	owned $VF0 pod1
	rewrite "$RUN/vf/$VF0" '.owner.container = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"'
	terminal 80 vf list
	[ "$(longest)" -le 80 ] || fail "$(longest) columns: $(said)"
	has "in-use"
	ok vf list
	has "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef/net1/net-a"
}

test_vf_create()
{
	fake_sys
	ok vf create --pf ens3f0 --count 3
	has "ens3f0 ($PF0): making 3 VFs"
	has "VF 2 0000:3b:00.4: "
	has "interface ens3f0v2"
	has "ens3f0 has 3 VFs"
	has "ens3f0 is down: its VFs have no link"
	eq "VFs" "$(numvfs $PF0)" 3
	eq "drivers take VFs again" "$(cat /sys/bus/pci/devices/$PF0/sriov_drivers_autoprobe)" 1
	eq "MACs" "$(jq -r '.macs | length' $STATE/vf/$PF0)" 3
	eq "their ends" "$(jq -r '.macs[2][3:]' $STATE/vf/$PF0)" "00:02:$(mac ens3f0 | cut -c10-)"
	eq "nothing is begun" "$(jq -r 'has("making")' $STATE/vf/$PF0)" false
	eq "baselines" "$(cd $RUN/vf && ls | wc -l)" 3
	ok vf create --pf ens3f0 --count 3
	has "already: nothing was done"
	ok vf create --pf $PF0 --count 1 --json
	want '. == {pfPciAddress: "'$PF0'", pfName: "ens3f0", changed: true, before: 3, sriovVfs: 1, vfs: ["'$VF0'"]}'
	eq "MACs of those that are no more" "$(jq -r '.macs | length' $STATE/vf/$PF0)" 3
	ok vf create --pf ens3f0 --count 0
	has "removing 1 VF"
	has "ens3f0 has 0 VFs"
	eq "entries" "$(ls -A $RUN/vf)" ""
}

test_vf_create_wrong_command_lines()
{
	refused 2 'say of which PF' vf create --count 1
	refused 2 'say how many' vf create --pf x
	refused 2 '"-1"' vf create --pf x --count=-1
	refused 2 '"4x"' vf create --pf x --count 4x
	refused 2 '"65536"' vf create --pf x --count 65536
	refused 2 'one word too many' vf create x
	refused 1 'PF "x"' vf create --pf x --count 1
	fake_sys
	refused 1 'count 5: PF 0000:3b:00.0 supports 4' vf create --pf ens3f0 --count 5
	eq "VFs" "$(numvfs $PF0)" 0
}

test_vf_create_refuses_what_would_hurt()
{
	fake_sys
	ok vf create --pf ens3f0 --count 2
	owned $VF1 pod1
	refused 1 "$VF1 belongs to container c1 (network net-a, net1)" vf create --pf ens3f0 --count 4
	refused 1 "--force" vf create --pf ens3f0 --count 0
	eq "VFs" "$(numvfs $PF0)" 2
	ip link set ens3f1 up
	ip route add default dev ens3f1
	refused 1 'default route of this host goes through ens3f1' vf create --pf ens3f1 --count 1
	refused 1 "--force" vf create --pf ens3f1 --count 1
	eq "VFs" "$(numvfs $PF1)" 0
	ip route del default
	ok vf create --pf ens3f1 --count 1
	ok vf create --pf ens3f0 --count 0 --force
	eq "VFs" "$(numvfs $PF0)" 0
	[ -e "$RUN/vf/$VF1" ] || fail "whose VF it was must stay known until its DEL"
	ip netns del pod1
	ok vf create --pf ens3f0 --count 2
}

test_vf_create_undoes_a_half()
{
	fake_sys
	rm $SYS/devices/pci/$PF0/virtfn2
	r vf create --pf ens3f0 --count 4
	eq "status" "$RC" 1
	[[ $ERR == *"has no VF number 2"* ]] || fail "$(said)"
	has "restoring the old number of VFs: 0"
	eq "VFs" "$(numvfs $PF0)" 0
	eq "drivers take VFs again" "$(cat /sys/bus/pci/devices/$PF0/sriov_drivers_autoprobe)" 1
	ok vf create --pf ens3f0 --count 2
}

test_vf_create_finishes_what_was_killed()
{
	fake_sys
	ok vf create --pf ens3f0 --count 2
	# As it is after SIGKILL behind the change of the number.
	rm -r $RUN/vf
	rewrite $STATE/vf/$PF0 ".making = {boot: \"$(cat /proc/sys/kernel/random/boot_id)\", autoprobe: true}"
	echo 0 >/sys/bus/pci/devices/$PF0/sriov_drivers_autoprobe
	ok vf create --pf ens3f0 --count 2
	has "finishing what was interrupted"
	eq "drivers take VFs again" "$(cat /sys/bus/pci/devices/$PF0/sriov_drivers_autoprobe)" 1
	eq "baselines" "$(cd $RUN/vf && ls | wc -l)" 2
	ok vf create --pf ens3f0 --count 2
	has "nothing was done"
}

test_vf_bind()
{
	refused 2 'needs VF...' vf bind --driver vfio-pci
	refused 2 'say to which driver' vf bind $VF0
	fake_sys
	ok vf create --pf ens3f0 --count 2
	ok vf bind --driver igbvf ens3f0v0 $VF1
	has "well $VF0"
	has "well $VF1"
	has "0 bound, 2 well"
	r vf bind --driver no-such ens3f0v0
	eq "status" "$RC" 1
	has "failed $VF0: "
	has "modprobe no-such"
	owned $VF1 pod1
	r vf bind --driver igbvf ens3f0v1 nope --json
	eq "status" "$RC" 1
	want 'length == 2 and (.[0] | .pciAddress == "'$VF1'" and .action == "failed" and (.why | contains("container c1"))) and
		(.[1] | .pciAddress == "nope" and .action == "failed")'
}

test_vf_repair()
{
	fake_sys
	ok vf repair
	has "0 repaired, 0 well, 0 left alone, 0 failed"
	ok vf create --pf ens3f0 --count 3
	ok vf repair
	has "0 repaired, 3 well"
	ip link set ens3f0v0 mtu 1300
	ip link set ens3f0v1 mtu 1301
	ip link set ens3f0v2 mtu 1302
	owned $VF1 pod1
	r vf repair --dry-run
	eq "status of the dry run" "$RC" 1
	has "would-be-repaired $VF0: restored: mtu"
	has "dry run: nothing was changed"
	eq "after the dry run" "$(cat /sys/class/net/ens3f0v0/mtu 2>/dev/null || mtu ens3f0v0)" 1300
	ok vf repair $VF0
	has "repaired $VF0: restored: mtu"
	eq "another" "$(mtu ens3f0v2)" 1302
	r vf repair ens3f0v1
	eq "one that was named, and is somebody's" "$RC" 1
	has "left-alone $VF1: it belongs to container c1"
	ok vf repair --json
	want 'map(.action) == ["well", "left-alone", "repaired"] and .[2].why == "restored: mtu"'
	eq "of a living owner" "$(mtu ens3f0v1)" 1301
	ip netns del pod1
	ok vf repair
	has "repaired $VF1: its owner c1 is gone; restored: mtu"
	eq "of a dead owner" "$(mtu ens3f0v1)" 1500
	ok vf repair
	has "0 repaired, 3 well, 0 left alone, 0 failed"
	r vf repair $PF0
	eq "status for a PF" "$RC" 1
}
mtu() { ip -j link show "$1" | jq '.[0].mtu'; }

test_vf_repair_of_a_damaged_entry()
{
	fake_sys
	ok vf create --pf ens3f0 --count 1
	echo '{' >"$RUN/vf/$VF0"
	ok vf list
	has damaged
	refused 1 'damaged entry' vf create --pf ens3f0 --count 2
	# The PF here takes no MAC for a VF: its interface does.
	r vf repair
	eq "status" "$RC" 0
	has "repaired $VF0: its entry was damaged"
	eq "the MAC" "$(mac ens3f0v0)" "$(jq -r .netdev.mac "$RUN/vf/$VF0")"
	ok vf repair
	has "0 repaired, 1 well"
}

test_vf_repair_removes_records()
{
	ok vf repair
	has "0 repaired, 0 well"
	fake_sys
	ok vf create --pf ens3f0 --count 3
	rewrite "$RUN/vf/$VF1" '.life = 1'
	owned $VF0 pod1
	owned 0000:3b:00.4 pod2
	ip netns del pod2
	r vf repair --dry-run
	eq "status of the dry run" "$RC" 1
	has "would-be-repaired $VF1: the VF of this entry does not exist any more"
	ok vf repair
	has "repaired $VF1: the VF of this entry"
	has "repaired 0000:3b:00.4: its owner c1 is gone"
	has "left-alone $VF0: it belongs to container c1"
	[ ! -e "$RUN/vf/$VF1" ] || fail "the entry must be gone"
	eq "owner" "$(jq -c .owner "$RUN/vf/0000:3b:00.4")" null
	ok vf repair --json
	want 'map(.action) == ["left-alone", "left-alone", "well"]'
}

test_vf_apply()
{
	local d=$W/vf.d
	ok vf apply
	has "nothing was done"
	refused 1 "$d" vf apply --dir "$d"
	refused 2 'absolute path' vf apply --dir here
	refused 2 '"soon"' vf apply --wait soon
	mkdir -p "$d"
	ok vf apply --dir "$d" --json
	want '. == []'
	fake_sys
	echo '{"pf": "ens3f1", "count": 2}' >"$d/30-good.json"
	echo '{"pf": "ens3f1", "count": 1}' >"$d/40-twice.json"
	echo '{"pf": "ens3f0", "count": "4"}' >"$d/10-bad.json"
	echo '{"pf": "ens3f0", "count": 2, "numVfs": 3}' >"$d/11-bad.json"
	echo '{"pf": "ens3f0", "count": 5}' >"$d/12-bad.json"
	echo '{"pf": "ens9", "count": 5}' >"$d/13-bad.json"
	echo '{' >"$d/14-bad.json"
	echo '{"pf": "ens3f0", "count": 1}' >"$d/15-open.json" && chmod 666 "$d/15-open.json"
	echo '{' >"$d/.hidden.json"
	echo '{' >"$d/README"
	r vf apply --dir "$d"
	eq "status" "$RC" 1
	has 'failed 10-bad.json: count: must be a whole number from 1 to 65535, got "4"'
	has 'failed 11-bad.json: numVfs: there is no such key'
	has 'failed 12-bad.json: count 5: PF 0000:3b:00.0 supports 4'
	has 'failed 13-bad.json: PF "ens9"'
	has 'failed 14-bad.json: '
	has 'failed 15-open.json: others than root may write it'
	has "created 30-good.json: ens3f1 has 2 VFs"
	has "failed 40-twice.json: pf: $PF1 is what 30-good.json is about already"
	has "1 file followed, 7 failed"
	hasnt README
	eq "VFs" "$(numvfs $PF0) $(numvfs $PF1)" "0 2"
	rm "$d"/1* "$d"/4*
	ok vf apply --dir "$d" --json
	want '. == [{file: "30-good.json", action: "left-alone", pfPciAddress: "'$PF1'", sriovVfs: 2}]'
}

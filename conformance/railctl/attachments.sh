# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# attachments.sh: list, show and repair, with attachments made by macvlan.
# shellcheck disable=SC2154

ONE='{"type":"ipam-one"}'

one_attachment()
{
	need macvlan
	fake ipam-one </dev/null
	attach net-a c1 pod1 "$ONE"
}

test_attachments_list()
{
	need macvlan
	ok attachments list
	eq "nothing" "$OUT" "No attachments: there is no /run/railhead/attachments here. In a container, mount that of the node."
	ok attachments list --json
	want '. == []'
	one_attachment
	attach net-b c2 pod2
	ok attachments list
	has NETWORK
	eq "rows" "$(tail -n +2 "$W/out" | awk '{ print $1, $2, $3, $4, $5, $6, $8 }')" \
		"net-a c1 net1 macvlan $MASTER team-a/c1 healthy
net-b c2 net1 macvlan $MASTER team-a/c2 healthy"
	ok attachments list --network net-b
	hasnt net-a
	ok attachments list --network net-c
	eq "nothing" "$OUT" "No attachments of network net-c."
	ok attachments list --json
	want 'length == 2 and (.[0] | .network == "net-a" and .container == "c1" and .ifname == "net1" and
		.plugin == "macvlan" and .kind == "macvlan" and .netns == "/run/netns/pod1" and
		.state == "healthy" and .why == "" and .ipam == "ipam-one" and
		(.created | test("^20[0-9-]+T[0-9:]+Z$")) and (.boot | length == 36))'
	want '.[1].ipam == ""'
}

test_attachments_show()
{
	need macvlan
	one_attachment
	attach net-a c10 pod2
	attach net-a d1 pod3
	ok attachments show net-a c10 net1
	has "/run/netns/pod2"
	has '"type": "macvlan"'
	ok attachments show net-a d net1 --json
	want '.container == "d1" and .config.name == "net-a" and .netnsInode > 0 and .state == "healthy"'
	ok attachments show net-a c1 net1 --json
	want '.container == "c1" and .config.ipam.type == "ipam-one"'
	refused 1 "2 containers begin with" attachments show net-a c net1
	[[ $ERR == *"; c1"*"; c10"* ]] || fail "the candidates must be listed: $(said)"
	refused 1 "has no attachment net2" attachments show net-a c1 net2
	refused 1 "railctl attachments list" attachments show net-z c1 net1
	refused 2 "cannot be" attachments show .. c1 net1
}

test_attachments_fit_80_columns()
{
	need macvlan
	local id
	id=$(printf '0123456789abcdef%.0s' 1 2 3 4)
	attach a-network-with-quite-a-long-name "$id" pod1
	terminal 80 attachments list
	[ "$(longest)" -le 80 ] || fail "$(longest) columns: $(said)"
	has ".."
	terminal 40 attachments list
	[ "$(longest)" -le 66 ] || fail "$(longest) columns: $(said)"
	has healthy
	ok attachments list
	has "$id"
	ip netns del pod1
	terminal 80 attachments repair
	has "repaired a-network-with-quite-a-long-name 0123456789ab.. net1: "
}

# --- what repair does ----------------------------------------------------------------------------

repaired() # STATE: the one attachment net-a c1 is repaired, and the IPAM was told
{
	is_state c1 "$1"
	r attachments repair --dry-run
	eq "status of the dry run" "$RC" 1
	has "1 would be repaired, 0 healthy, 0 left alone (dry run: nothing was changed)"
	has "would-repair net-a c1 net1: "
	[ -e "$(record net-a c1)" ] || fail "the dry run removed the record"
	eq "IPAM after the dry run" "$(fake_log ipam-one)" "ADD c1 net1;"
	ok attachments repair
	has "repaired net-a c1 net1: "
	has "its addresses were released by ipam-one"
	has "1 repaired, 0 healthy, 0 left alone"
	eq "IPAM" "$(fake_log ipam-one)" "ADD c1 net1;DEL c1 net1;"
	[ ! -e "$RUN/attachments/net-a" ] || fail "the record must be gone: $(ls -R $RUN)"
	ok attachments repair
	has "0 repaired, 0 healthy, 0 left alone"
}

test_repair_netns_gone()
{
	one_attachment
	ip netns del pod1
	repaired netns-gone
	# The delegate gets what the runtime's own DEL would have given it.
	grep -qx "CNI_ARGS=K8S_POD_NAMESPACE=team-a;K8S_POD_NAME=c1" "$FAKE/ipam-one.DEL.env" || fail "CNI_ARGS"
	grep -qx "CNI_PATH=$FAKE:$BIN" "$FAKE/ipam-one.DEL.env" || fail "CNI_PATH"
	grep -qx "CNI_NETNS=" "$FAKE/ipam-one.DEL.env" || fail "CNI_NETNS"
	eq "configuration" "$(jq -S . "$FAKE/ipam-one.DEL.stdin")" "$(jq -S . "$W/conf.net-a")"
}

test_repair_netns_replaced()
{
	one_attachment
	ip netns add other
	umount /run/netns/pod1
	mount --bind /run/netns/other /run/netns/pod1
	ip link add link "$MASTER" name net1 netns other type macvlan
	repaired netns-replaced
	ip -n other link show net1 >/dev/null || fail "the interface of the other namespace must stay"
}

# lived_on STATE [STATUS]: somebody may live on the address of net-a c1: repair says so and frees nothing;
# --force does.
lived_on()
{
	is_state c1 "$1"
	r attachments repair
	eq "status of repair" "$RC" "${2-1}"
	has "left-alone net-a c1 net1: "
	has "railctl attachments repair --force net-a c1 net1"
	has "0 repaired, 0 healthy, 1 left alone"
	eq "IPAM" "$(fake_log ipam-one)" "ADD c1 net1;"
	[ -e "$(record net-a c1)" ] || fail "the record must stay"
	r attachments repair --dry-run --force net-a c1 net1
	eq "status of the dry run" "$RC" 1
	has "would-repair net-a c1 net1: "
	eq "IPAM after the dry run" "$(fake_log ipam-one)" "ADD c1 net1;"
	ok attachments repair --force net-a c net1
	has "1 repaired, 0 healthy, 0 left alone"
	eq "IPAM" "$(fake_log ipam-one)" "ADD c1 net1;DEL c1 net1;"
	[ ! -e "$(record net-a c1)" ] || fail "the record must be gone"
}

test_repair_interface_gone()
{
	one_attachment
	ip -n pod1 link del net1
	lived_on interface-gone
}

# The same steps as KubeVirt's bridge binding.
test_repair_interface_renamed()
{
	one_attachment
	ip -n pod1 link set net1 down
	ip -n pod1 link set net1 name net1-nic
	ip -n pod1 link add net1 type bridge
	lived_on interface-renamed 0
	! ip -n pod1 link show net1-nic >"$W/is" 2>&1 || fail "the renamed interface must be gone"
	ip -n pod1 link show net1 >/dev/null || fail "the pod's bridge must stay"
}

test_repair_netns_moved()
{
	one_attachment
	mkdir "$W/moved" && touch "$W/moved/pod1"
	mount --bind /run/netns/pod1 "$W/moved/pod1"
	ip netns del pod1
	lived_on netns-moved
	umount "$W/moved/pod1" && rm -r "$W/moved"
}

# From a mount namespace that lacks the host's /run/netns, every pod looks as if it were gone.
test_repair_from_another_mount_namespace()
{
	local before
	one_attachment
	attach net-b c2 pod2
	before=$(cat "$(record net-a c1)" "$(record net-b c2)")
	unshare --mount sh -c 'umount -a -t nsfs; umount /run/netns/pod1 2>/dev/null
		umount /run/netns; mount -t tmpfs none /run/netns; touch /run/netns/pod1
		"$@"' sh "$BIN/railctl" attachments repair --json >"$W/out" 2>"$W/err"
	eq "status" "$?" 1
	RC=1 OUT=$(<"$W/out") ERR=$(<"$W/err") LAST="repair elsewhere"
	want 'length == 2 and all(.[]; .action == "left-alone" and .state == "netns-moved")'
	eq "IPAM" "$(fake_log ipam-one)" "ADD c1 net1;"
	eq "records" "$(cat "$(record net-a c1)" "$(record net-b c2)")" "$before"
	umount /run/netns/pod1
	unshare --mount --pid --fork --mount-proc "$BIN/railctl" attachments repair --json >"$W/out" 2>"$W/err"
	OUT=$(<"$W/out") ERR=$(<"$W/err")
	want '.[0].state == "netns-unknown" and .[0].action == "left-alone" and
		(.[0].why | contains("process namespace"))'
	is_state c1 netns-gone
	# The mounts of process 1 can be read from other mounts, too.
	unshare --mount sh -c 'umount /run/netns/pod2; "$@"' sh "$BIN/railctl" attachments list --json \
		>"$W/out" 2>"$W/err"
	OUT=$(<"$W/out") ERR=$(<"$W/err")
	want '.[0].state == "netns-gone" and .[1].state == "netns-moved"'
	ok attachments repair --network net-a
	has "1 repaired"
}

test_repair_force_is_for_one()
{
	one_attachment
	refused 2 "NETWORK CONTAINER IFNAME" attachments repair --force
	refused 2 "NETWORK CONTAINER IFNAME" attachments repair --force --network net-a
	refused 2 "NETWORK CONTAINER IFNAME" attachments repair --force net-a c1
	refused 2 "without --network" attachments repair --network net-a net-a c1 net1
	refused 1 "has no attachment net9" attachments repair --force net-a c1 net9
	ok attachments repair --force net-a c1 net1
	has "0 repaired, 1 healthy, 0 left alone"
	is_state c1 healthy
}

# As an ADD leaves it that was killed before it had set the addresses.
test_repair_unfinished()
{
	local f
	one_attachment
	f=$(record net-a c1)
	jq -c '.adding = true' "$f" >"$W/record" && cat "$W/record" >"$f"
	repaired unfinished
	! ip -n pod1 link show net1 >"$W/is" 2>&1 || fail "the interface must be gone"
}

test_repair_interface_replaced()
{
	one_attachment
	ip -n pod1 link del net1
	ip -n pod1 link add net1 type veth
	lived_on interface-replaced
	ip -n pod1 link show net1 >/dev/null || fail "somebody else's interface must stay"
}

test_repair_earlier_boot()
{
	one_attachment
	ip -n pod1 link del net1
	ip link add link "$MASTER" name net1 netns pod1 type macvlan
	rewrite "$(record net-a c1)" '.boot = "00000000-0000-0000-0000-000000000000"'
	repaired earlier-boot
	ip -n pod1 link show net1 >/dev/null || fail "an interface of this boot must stay"
}

test_repair_damaged()
{
	one_attachment
	attach net-b c2 pod2
	echo '{"version":1,' >"$(record net-a c1)"
	is_state c1 damaged
	ok attachments list
	ok attachments show net-a c1 net1 --json
	want '.state == "damaged" and .container == "c1"'
	ok attachments repair
	has "repaired net-a c1 net1: "
	has "stays leased"
	# The owner of the interface is unknown, so neither it nor its address is changed.
	eq "IPAM" "$(fake_log ipam-one)" "ADD c1 net1;"
	ip -n pod1 link show net1 >/dev/null || fail "the interface must stay"
	[ ! -e "$(record net-a c1)" ] || fail "the record must be gone"
	is_state c2 healthy
}

test_repair_leaves_the_healthy_alone()
{
	one_attachment
	local before after
	attach net-b c2 pod2
	ip netns del pod2
	before=$(cat "$(record net-a c1)" && ip -n pod1 -d addr show net1)
	ok attachments repair
	has "repaired net-b c2 net1"
	has "1 repaired, 1 healthy, 0 left alone"
	hasnt c1
	after=$(cat "$(record net-a c1)" && ip -n pod1 -d addr show net1)
	eq "the healthy attachment" "$after" "$before"
	eq "IPAM" "$(fake_log ipam-one)" "ADD c1 net1;"
	ok attachments repair --json
	want 'length == 1 and .[0].action == "left-alone" and .[0].state == "healthy"'
}

test_repair_only_one_network()
{
	one_attachment
	attach net-b c2 pod2
	ip netns del pod1
	ip netns del pod2
	ok attachments repair --network net-b --json
	want 'length == 1 and .[0].action == "repaired" and .[0].container == "c2"'
	is_state c1 netns-gone
}

# While a DEL waits for its IPAM, the interface is gone and the record is not: nothing is to be repaired.
test_repair_leaves_a_running_del_alone()
{
	need macvlan
	mkfifo "$W/started.fifo" "$W/go.fifo"
	fake ipam-one <<-EOS
		[ "\$CNI_COMMAND" != DEL ] || { echo >"$W/started.fifo"; read -r _ <"$W/go.fifo"; }
	EOS
	attach net-a c1 pod1 "$ONE"
	plugin DEL net-a c1 pod1 &
	read -r _ <"$W/started.fifo"
	ip -n pod1 link show net1 2>/dev/null && fail "test error: DEL has not removed the interface"
	is_state c1 busy
	ok attachments repair
	has "left-alone net-a c1 net1: an ADD, DEL or GC is at work on it"
	has "0 repaired, 0 healthy, 1 left alone"
	echo >"$W/go.fifo"
	wait $! || fail "DEL failed"
	eq "IPAM" "$(fake_log ipam-one)" "ADD c1 net1;DEL c1 net1;"
	ok attachments list
	eq "nothing" "$OUT" "No attachments."
}

# An ADD that is killed before its interface is there.
test_repair_after_a_killed_add()
{
	need macvlan
	fake ipam-one </dev/null
	attach net-a c1 pod1 "$ONE"
	ip -n pod1 link del net1
	rewrite "$(record net-a c1)" '.adding = true | del(.ifindex, .lowerIfindex)'
	repaired unfinished
	attach net-a c1 pod1 "$ONE"
	is_state c1 healthy
}

test_repair_says_what_failed()
{
	need macvlan
	fake ipam-one <<-'EOS'
		[ "$CNI_COMMAND" != DEL ] || { echo '{"code":11,"msg":"the store is away","details":"bring it back"}'; exit 1; }
	EOS
	attach net-a c1 pod1 "$ONE"
	attach net-b c2 pod2
	ip netns del pod1
	ip netns del pod2
	r attachments repair
	eq "status" "$RC" 1
	has "failed net-a c1 net1: "
	has "the store is away; bring it back"
	has "repaired net-b c2 net1: "
	has "1 repaired, 0 healthy, 1 left alone"
	[ -e "$(record net-a c1)" ] || fail "the record must stay: the address is not released"
	r attachments repair --json
	eq "status" "$RC" 1
	want '.[0].action == "failed" and (.[0].error | contains("the store is away"))'
	rm "$FAKE/ipam-one"
	r attachments repair
	eq "status" "$RC" 1
	has 'failed to find plugin "ipam-one"'
	fake ipam-one </dev/null
	ok attachments repair
	[ ! -e "$(record net-a c1)" ] || fail "the record must be gone"
}

test_repair_touches_nothing_it_cannot_judge()
{
	one_attachment
	rewrite "$(record net-a c1)" '.netnsInode = 0'
	rewrite "$(record net-a c1)" '.netns = "/run/work"'
	is_state c1 netns-unknown
	r attachments repair
	eq "status" "$RC" 1
	has "left-alone net-a c1 net1: "
	has "not known which"
	[ -e "$(record net-a c1)" ] || fail "the record must stay"
}

test_attachments_in_another_folder()
{
	need macvlan
	one_attachment
	cp -r $RUN "$W/elsewhere"
	ok attachments list --run-dir "$W/elsewhere" --json
	want 'length == 1'
	ok attachments list --run-dir "$W/not-there" --json
	want '. == []'
	[ ! -e "$W/not-there" ] || fail "looking must not make folders"
	rm -r "$W/elsewhere"
}

# A record has text of a runtime: control characters must not reach the terminal.
test_attachments_cannot_steer_the_terminal()
{
	one_attachment
	rewrite "$(record net-a c1)" '.master = "\u001b[31mred"'
	ok attachments list
	hasnt $'\033'
	ok attachments show net-a c1 net1
	hasnt $'\033'
	ok attachments list --json
	want '.[0].master == "\u001b[31mred"'
}

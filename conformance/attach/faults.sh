# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What goes wrong around a call: things that are gone, calls that are killed, disks that are full.

nothing_left()
{
	no_link "${NS##*/}" "$IFN"
	eq "leases ($1)" "$(leases | tr '\n' ' ')" ""
	eq "records ($1)" "$(find $RUN ! -type d ! -name lock 2>/dev/null)" ""
}

# CNI-120, CNI-143
test_faults_DEL_without_any_ADD()
{
	local f
	pod p1
	for f in "$(v4_ipam)" "$(dual_ipam)" null; do
		conf_ipam "$f"
		want_ok DEL DEL
	done
	fake_good good
	conf '.ipam={"type":"good"}'
	want_ok DEL
	NS=
	want_ok DEL
	unset NS
	want_ok DEL
}

# attach_then CASE: ADD, then what the function of that name breaks, then DEL twice; all must be gone.
attach_then()
{
	pod p1
	conf_ipam "$(dual_ipam)"
	want_ok ADD || return
	prev
	"$1"
	want_ok DEL DEL || fail "(after $1)"
	eq "leases after $1" "$(leases | tr '\n' ' ')" ""
	eq "records after $1" "$(find $RUN ! -type d ! -name lock 2>/dev/null)" ""
	ip netns del p1 2>/dev/null
	: >"$W/pods"
	rm -rf /run/netns/p1
	want_ok DEL
}

netns_is_not_given() { unset NS; }
netns_is_empty() { NS=; }
netns_path_is_gone() { ip netns del p1; }
netns_path_is_a_plain_file() { ip netns del p1 && touch /run/netns/p1; }
netns_path_is_a_folder() { ip netns del p1 && mkdir /run/netns/p1; }
netns_path_was_never_there() { NS=/run/netns/other; }
netns_path_is_another_namespaces() { ip netns del p1 && ip netns add p1; }
link_is_gone() { ip -n p1 link del net1; }
link_was_renamed_away() { ip -n p1 link set net1 down && ip -n p1 link set net1 name renamed && ip -n p1 link del renamed; }
link_is_down_and_bare() { ip -n p1 addr flush dev net1 && ip -n p1 link set net1 down; }
prevResult_is_broken() { edit '.prevResult={"cniVersion":"1.1.0","ips":"x"}'; }
prevResult_is_missing() { edit 'del(.prevResult)'; }
prevResult_is_of_another_kind() { edit '.prevResult=5'; }
keys_are_broken() { edit '.mode="bogus" | .mtu="x" | .mac=5 | .dns=7 | .runtimeConfig="x" | .args=[] | .bcqueuelen=-1'; }
master_is_not_named() { edit 'del(.master)'; }
master_is_another_one() { edit '.master="nosuch0"'; }
CNI_ARGS_are_broken() { CARGS='MAC=banana;IP=x;;=;K8S_POD_NAME'; }

test_faults_DEL_when_the_netns_is_gone()
{
	for f in netns_is_not_given netns_is_empty netns_path_is_gone netns_path_is_a_plain_file netns_path_is_a_folder \
		netns_path_is_another_namespaces; do
		NS='' IFN=net1
		attach_then $f
	done
}

# The link of such a DEL is found through the record: the path given is wrong, not the attachment.
test_faults_DEL_with_another_path()
{
	pod p1
	conf_ipam "$(dual_ipam)"
	want_ok ADD
	NS=/run/netns/other
	want_ok DEL
	use p1
	nothing_left "DEL with another path"
}

test_faults_DEL_when_the_link_is_gone_or_changed()
{
	for f in link_is_gone link_was_renamed_away link_is_down_and_bare; do attach_then $f; done
}

test_faults_DEL_with_broken_configuration()
{
	for f in prevResult_is_broken prevResult_is_missing prevResult_is_of_another_kind keys_are_broken \
		master_is_not_named master_is_another_one CNI_ARGS_are_broken; do
		CARGS=
		attach_then $f
	done
}

# CNI-145
test_faults_DEL_creates_no_files()
{
	local before
	conf_ipam "$(v4_ipam)"
	NS=/run/netns/never CID=never
	before=$(find /run /var/lib -path "$W" -prune -o -print | sort)
	want_ok DEL
	eq "files" "$(find /run /var/lib -path $W -prune -o -print | sort)" "$before"
}

# All else is gone by then. The runtime calls DEL again, and GC.
test_faults_DEL_when_its_folder_stays()
{
	need_railhead
	pod p1
	conf_ipam "$(v4_ipam)" '."cni.dev/valid-attachments"=[]'
	want_ok ADD
	mount --bind $RUN/attachments/testnet $RUN/attachments/testnet
	want_err DEL 5 testnet folder
	no_link p1 net1
	eq leases "$(lease_count)" 0
	want_err DEL 5 testnet folder
	want_err GC 5 testnet folder
	"$RAILCTL" attachments repair >"$W/out" 2>&1
	has "repair" "$(<"$W/out")" "testnet"
	umount $RUN/attachments/testnet
	want_ok DEL GC
	eq "folder" "$(ls $RUN/attachments)" ""
}

test_faults_DEL_when_the_master_is_gone()
{
	pod p1
	ip link add gone0 type veth peer name gone1
	ip link set gone0 up
	conf_ipam "$(v4_ipam)" '.master="gone0"'
	want_ok ADD
	ip link del gone0
	no_link p1 net1
	want_ok DEL DEL
	eq leases "$(lease_count)" 0
}

# The old pod's DEL comes late: its netns path and interface name belong to a new pod by now.
test_faults_late_DEL_does_not_harm_a_new_pod()
{
	local a how
	need_railhead
	for how in same_boot after_reboot; do
		pod p1
		CID=old
		conf_ipam "$(dual_ipam)"
		want_ok ADD
		unpod p1
		[ $how = same_boot ] || rm -rf "$RUN"
		pod p1
		CID=new
		want_ok ADD
		a=$(addr4)
		cp "$W/result" "$W/new"
		CID=old
		want_ok DEL
		has_addr p1 net1 "$a"
		has_lease "$a"
		eq "leases ($how)" "$(lease_count)" 2
		CID=new
		cp "$W/new" "$W/result"
		prev
		want_ok CHECK DEL
		nothing_left "$how"
		unpod p1
	done
}

# A DEL of an attachment that never was, on a path and name that another one uses.
test_faults_foreign_DEL_does_not_harm()
{
	need_railhead
	pod p1
	conf_ipam "$(v4_ipam)"
	want_ok ADD
	cp "$W/conf" "$W/conf.first"
	CID=stranger
	want_ok DEL
	use p1
	conf_ipam "$(v4_ipam)" '.name="othernet"'
	want_ok DEL
	has_addr p1 net1 "$(addr4)"
	cp "$W/conf.first" "$W/conf"
	prev
	want_ok CHECK DEL
}

test_faults_failed_ADD_leaves_nothing()
{
	local f
	pod p1
	for f in '.master="nosuch0"' '.mode="bogus"' '.mtu=9999' '.mac="01:00:00:00:00:00"' '.ipam.type="nosuch"' \
		'.ipam.subnet="x"' '.ipam.rangeEnd="10.77.0.1"' '.ipam.routes=[{"dst":"10.1.0.0/16","gw":"172.31.9.9"}]'; do
		conf_ipam "$(v4_ipam)" "$f"
		cni ADD
		[ "$RC" = 1 ] || fail "ADD with $f: $(said)"
		nothing_left "$f"
	done
}

# --- killed ------------------------------------------------------------------------------------

# recover N: in turn by DEL, GC, repair, and DEL without a netns.
recover()
{
	case $(($1 % 4)) in
	0) want_ok DEL ;;
	1)
		edit '."cni.dev/valid-attachments"=[]'
		want_ok GC
		edit 'del(."cni.dev/valid-attachments")'
		;;
	2)
		"$RAILCTL" attachments repair >"$W/repair" 2>&1 || fail "repair: $(head -c 300 "$W/repair")"
		want_ok DEL
		;;
	3) (NS='' && want_ok DEL) ;;
	esac
}

# CNI-022, CNI-152
test_faults_kill_at_random_points()
{
	local E i pid
	need_railhead
	pod p1
	conf_ipam "$(dual_ipam)"
	seed_random
	for i in {1..48}; do
		CID=kill$i
		cni_env ADD
		setsid env -i "${E[@]}" "$BIN/$PLUGIN" <"$W/conf" >/dev/null 2>&1 &
		pid=$!
		# From "not yet started" to "long done".
		usleep_ $((RANDOM % 400 * i / 4))
		kill -KILL $pid 2>/dev/null
		wait $pid 2>/dev/null
		recover "$i"
		nothing_left "killed, round $i" || break
	done
	want_ok ADD DEL
}
usleep_()
{
	local s=$(($1 / 1000000)) u=$(($1 % 1000000))
	read -rt "$s.$(printf %06d $u)" <> <(:)
}

need_strace() { [ -n "$(command -v strace)" ] || skip "strace is not installed"; }
# A sanitizer's own system calls would fail as well.
need_no_sanitizer() { ! grep -q -e __asan_init -e __ubsan_handle "$BIN/macvlan" || skip "the programs are built with a sanitizer"; }

# stepped FLAGS INJECT VERB: run the verb with the N-th use of a call spoiled: for each call of INJECT, N = 1, 2, ... until nothing is
# spoiled any more. strace counts each call by itself, so a set of calls would only reach the one that is used most. Each time
# the function spoiled is called, with the number of the step; it must find things whole, and attach again for a DEL.
stepped()
{
	local calls=${2%%:*} call
	STEPS=0
	for call in ${calls//,/ }; do
		[ "$3" != DEL ] || want_ok ADD || return
		stepped_call "$1" "$call" "${2#*:}" "$3" || return
		[ "$3" != ADD ] || want_ok DEL || return
	done
}

stepped_call() # FLAGS CALL HOW VERB
{
	local flags=$1 call=$2 verb=$4 E n before
	for ((n = 1; n < 400; n++)); do
		cni_env "$verb"
		# Leaks cannot be looked for in a traced process.
		E+=("ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0")
		: >"$W/strace"
		# shellcheck disable=SC2086
		timeout -s KILL "$LIMIT" env -i "${E[@]}" strace -qq $flags -o "$W/strace" -e "trace=$call" \
			-e "inject=$call:$3:when=$n" "$BIN/$PLUGIN" <"$W/conf" >"$W/out" 2>"$W/err"
		RC=$?
		take_output
		[ "$verb $RC" != "ADD 0" ] || cp "$W/out" "$W/result"
		if ! grep -q -e INJECTED -e 'killed by SIGKILL' "$W/strace"; then
			[ "$RC" = 0 ] || fail "($verb, $call: nothing was spoiled, and it failed: $(said))"
			return
		fi
		STEPS=$((STEPS + 1))
		before=$(evidence)
		spoiled "$STEPS"
		[ "$(evidence)" = "$before" ] ||
			fail "($verb, $call $n, $3: $(grep -a -e INJECTED -e killed "$W/strace" | tail -1 | cut -c1-160))" || return
	done
	fail "$call: no end after $n calls"
}

MUTATING=sendmsg,sendto,write,pwrite64,pwritev,writev,rename,renameat,renameat2,unlink,unlinkat,rmdir,fsync,fdatasync,msync,mkdir,mkdirat,ftruncate,fallocate,vfork,clone,clone3,wait4,waitid,setns

test_faults_kill_at_every_step_of_ADD()
{
	need_railhead
	need_strace
	pod p1
	conf_ipam "$(dual_ipam)"
	spoiled()
	{
		recover "$1"
		nothing_left "killed at call $1"
	}
	stepped -f "$MUTATING:signal=KILL" ADD && [ "$STEPS" -ge 25 ] || fail "$STEPS steps"
}

test_faults_kill_at_every_step_of_DEL()
{
	need_railhead
	need_strace
	pod p1
	conf_ipam "$(dual_ipam)"
	spoiled()
	{
		recover "$1"
		nothing_left "DEL killed at call $1"
		want_ok ADD
	}
	stepped -f "$MUTATING:signal=KILL" DEL && [ "$STEPS" -ge 15 ] || fail "$STEPS steps"
}

# The call fails, once; what had been done is undone without any DEL.
test_faults_every_step_of_ADD_fails_once()
{
	local what
	need_railhead
	need_strace
	need_no_sanitizer
	pod p1
	conf_ipam "$(dual_ipam)"
	spoiled()
	{
		if [ "$RC" = 0 ]; then
			prev
			want_ok CHECK DEL
			edit 'del(.prevResult)'
		else
			is_err_or_silent
		fi
		nothing_left "spoiled at call $1"
	}
	is_err_or_silent()
	{
		# When printing itself was spoiled there may be nothing on stdout.
		[ -z "$OUT" ] || is_err '4|5|6|7|8|11|100|102|103|104|105|107'
	}
	for what in sendmsg,sendto:error=ENOBUFS recvmsg,recvfrom,recv:error=ENOMEM socket:error=EMFILE \
		open,openat:error=EMFILE write,writev,pwrite64:error=ENOSPC rename,renameat,renameat2:error=EIO \
		fsync,fdatasync:error=EIO vfork,clone,clone3,fork:error=EAGAIN setns:error=EPERM \
		mkdir,mkdirat:error=EACCES mmap:error=ENOMEM; do
		stepped "" "$what" ADD
	done
}

test_faults_every_step_of_the_ipam_fails_once()
{
	local what
	need_railhead
	need_strace
	need_no_sanitizer
	PLUGIN=$IPAM CID=steps
	conf_ipam "$(dual_ipam)"
	spoiled()
	{
		if [ "$RC" = 0 ]; then
			want_ok DEL
		else
			[ -z "$OUT" ] || is_err '4|5|6|7|11|102|107'
		fi
		eq "leases, spoiled at call $1" "$(leases | tr '\n' ' ')" ""
	}
	for what in open,openat:error=EMFILE write,writev,pwrite64,pwritev:error=ENOSPC fsync,fdatasync,msync:error=EIO \
		mmap:error=ENOMEM; do
		stepped "" "$what" ADD
	done
}

# --- state directories -------------------------------------------------------------------------

test_faults_state_directory_read_only()
{
	need_railhead
	pod p1
	conf_ipam "$(v4_ipam)"
	mkdir -p "$RUN" "$STATE"
	mount --bind "$RUN" "$RUN" && mount -o remount,bind,ro "$RUN"
	want_err ADD 5 "$RUN"
	umount "$RUN"
	nothing_left "read-only $RUN"
	mount --bind "$STATE" "$STATE" && mount -o remount,bind,ro "$STATE"
	want_err ADD '102|5' "$STATE"
	umount "$STATE"
	no_link p1 net1
	# The IPAM did not release: the record stays until a DEL succeeds.
	eq "records" "$(find $RUN -type f -name 'cid-p1,net1' | wc -l)" 1
	want_ok DEL
	nothing_left "read-only $STATE"
	want_ok ADD DEL
}

test_faults_disk_full()
{
	need_railhead
	pod p1
	conf_ipam "$(v4_ipam)"
	mkdir -p "$RUN" "$STATE"
	mount -t tmpfs -o size=4k,nr_inodes=2 full "$RUN"
	: >"$RUN"/last_inode
	want_err ADD 5
	umount "$RUN"
	nothing_left "full $RUN"
	mount -t tmpfs -o size=64k full "$STATE"
	head -c 100000 /dev/zero >"$STATE"/fill 2>/dev/null
	want_err ADD '102|5'
	umount "$STATE"
	nothing_left "full $STATE"
	want_ok ADD DEL
}

test_faults_damaged_record()
{
	local text f
	need_railhead
	pod p1
	for text in '' garbage '{' '{}' '{"boot":5}' '[]'; do
		conf_ipam "$(v4_ipam)"
		want_ok ADD
		f=$(find "$RUN" -path '*attachments*' -type f ! -name lock | head -1)
		[ -n "$f" ] || fail "no record in $RUN" || return
		printf '%s' "$text" >"$f"
		want_ok DEL
		nothing_left "record '$text'"
	done
}

test_faults_modes_of_files()
{
	need_railhead
	pod p1
	conf_ipam "$(v4_ipam)"
	(umask 000; want_ok ADD)
	eq "files that others may read" "$(find $RUN $STATE -mindepth 0 -perm /077)" ""
	want_ok DEL
}

test_faults_damaged_store()
{
	local f
	need_railhead
	pod p1
	conf_ipam "$(v4_ipam)"
	f=$(find "$STATE" -type f -name '*.mdb' ! -name 'lock*' | head -1)
	[ -n "$f" ] || fail "no store in $STATE" || return
	cp -a "$STATE" "$W/state"
	seq 5000 | gzip -n | head -c 8192 >"$f" # garbage, but the same every time
	want_err ADD 102 "$STATE"
	no_link p1 net1
	want_err STATUS '50|102' "$STATE"
	# DEL cannot release, and says so; the link goes.
	cni DEL
	[ "$RC" = 0 ] || is_err 102
	rm -rf "$STATE" && mv "$W/state" "$STATE"
	want_ok DEL
	nothing_left "damaged store"
}

# Two programs at once for one attachment: a runtime that gave up on an ADD sends its DEL.
test_faults_DEL_while_ADD_runs()
{
	local i
	need_railhead
	pod p1
	conf_ipam "$(dual_ipam)"
	for i in {1..10}; do
		CID=race$i
		cni_to 1 ADD &
		usleep_ $((i * 300))
		cni_to 2 DEL
		wait
		[ "$(<"$W/par.2.rc")" = 0 ] || fail "DEL: $(<"$W/par.2")"
		want_ok DEL
		nothing_left "race $i"
	done
}

# CNI-176: after a reboot /run is empty, the namespaces are gone, the boot id is another one.
test_faults_reboot()
{
	need_railhead
	pod p1
	conf_ipam "$(dual_ipam)"
	want_ok ADD
	unpod p1
	rm -rf "$RUN"
	other_boot
	want_ok DEL
	eq leases "$(lease_count)" 0
	umount /proc/sys/kernel/random/boot_id
}
other_boot()
{
	echo "${1-01234567-89ab-cdef-0123-456789abcdef}" >"$W/boot_id"
	mount --bind "$W/boot_id" /proc/sys/kernel/random/boot_id
}

test_faults_attachments_list_show_repair()
{
	need_railhead
	pod p1
	conf_ipam "$(v4_ipam)"
	want_ok ADD
	is "attachments list" sh -c "'$RAILCTL' attachments list --json | jq -e '(if type == \"object\" then .attachments
		else . end) | length == 1 and (.[0] | tostring | contains(\"$CID\"))'"
	is "attachments list, plain" sh -c "'$RAILCTL' attachments list | grep -q net1"
	# Nothing is wrong: repair does nothing.
	is "attachments repair" "$RAILCTL" attachments repair
	has_addr p1 net1 "$(addr4)"
	has_lease "$(addr4)"
	unpod p1
	is "attachments repair" "$RAILCTL" attachments repair
	eq "leases after repair of a pod that is gone" "$(lease_count)" 0
	eq "records" "$(find $RUN ! -type d ! -name lock)" ""
	is "attachments list, empty" sh -c "'$RAILCTL' attachments list --json | jq -e '(if type == \"object\" then
		.attachments else . end) | length == 0'"
}

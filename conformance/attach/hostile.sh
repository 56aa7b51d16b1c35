# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Folders and files of other users: a configuration names them, and a user without root may have made them.

# site JSON: /etc/railhead/railhead.json.
site() { echo "$1" >/etc/railhead/railhead.json; }

# in_dir DIR: the IPAM alone, with its store below DIR.
in_dir()
{
	PLUGIN=railhead-ipam
	conf ".ipam={type:\"railhead-ipam\",subnet:\"10.77.5.0/24\",dataDir:\$d}" --arg d "$1"
}

test_hostile_dataDir_outside_of_the_allowed_folders()
{
	local d
	need_railhead
	for d in /run /var/run /var/lib /tmp/x /var/lib/cni/../x /run/railhead/attachments/testnet /var/lib/railhead/ipam; do
		in_dir "$d"
		want_err ADD 7 ipam.dataDir "$d"
		want_ok DEL
	done
	is "the attachments' lock is not a store" test ! -s /run/railhead/lock
	eq "stores" "$(find /run /var/lib /tmp/x -name data.mdb ! -path "$STATE/*" 2>/dev/null)" ""
	site '{"dataDirs":["/run/elsewhere"]}'
	in_dir /run/elsewhere/a
	want_ok ADD
	is "the store" test -f /run/elsewhere/a/railhead/data.mdb
	want_ok DEL
	in_dir /var/lib/cni
	want_err ADD 7 ipam.dataDir railhead.json
	site '{"dataDirs":"/run/elsewhere"}'
	want_err ADD 6 railhead.json dataDirs
	site '{}'
	chmod 666 /etc/railhead/railhead.json
	want_err ADD '7|106' railhead.json
	rm -rf /run/elsewhere /etc/railhead/railhead.json
}

# Files of another user are refused: that user could replace one by a link at any moment.
test_hostile_dataDir_of_another_user()
{
	local d=/var/lib/cni/theirs swapper
	need_railhead
	mkdir -p "$d/railhead" /run/victim
	chown -R 1234 "$d"
	in_dir "$d"
	want_err ADD 102 "does not belong to root"
	chown 0 "$d"
	chmod 777 "$d"
	want_err ADD 102 "others than root may write"
	# The user swaps folders, links and devices all the time, while root runs ADD and DEL.
	chown 1234 "$d"
	setpriv --reuid 1234 --clear-groups bash -c "cd $d && while :; do
		rm -rf railhead; ln -s /run/victim railhead; rm -f railhead; mkdir railhead
		ln -s /run/victim/lock railhead/lock; ln -s /run/victim/nologin railhead/data.mdb
		rm -f railhead/lock; mkfifo railhead/lock; done" 2>/dev/null &
	swapper=$!
	for ((i = 0; i < 12; i++)); do
		CID=c$i
		cni ADD
		is_err 102
	done
	kill "$swapper"
	wait "$swapper" 2>/dev/null
	eq "made elsewhere" "$(ls /run/victim)" ""
	rm -rf "$d" /run/victim
}

test_hostile_files_in_dataDir()
{
	local d=/var/lib/cni/odd name kind
	need_railhead
	in_dir "$d"
	: >/run/victim
	for name in lock data.mdb; do
		for kind in "ln -s /run/victim" "ln -s /run/nologin" "mkfifo" "mkdir" "ln /var/lib/cni/linked"; do
			rm -rf "$d" /var/lib/cni/linked
			mkdir -p "$d/railhead"
			: >/var/lib/cni/linked
			$kind "$d/railhead/$name"
			want_err ADD 102 "$name" || fail "($kind)"
		done
		rm -rf "$d/railhead/$name"
		if mknod "$d/railhead/$name" b 7 250 2>/dev/null; then
			want_err ADD 102 "$name"
		fi
	done
	eq "written elsewhere" "$(stat -c %s /run/victim)" 0
	is "made elsewhere" test ! -e /run/nologin
	rm -rf "$d" /run/victim /var/lib/cni/linked
}

# Forged pages of the store, and forged words of the lock file: fixed seeds.
test_hostile_mutated_stores()
{
	local d=/var/lib/cni/forged/railhead i seed offset
	need_railhead
	in_dir /var/lib/cni/forged
	for ((i = 0; i < 40; i++)); do
		CID=full$i
		want_ok ADD || return
	done
	cp "$d/data.mdb" "$W/whole.mdb"
	for ((seed = 1; seed <= 25; seed++)); do
		cp "$W/whole.mdb" "$d/data.mdb"
		RANDOM=$seed
		for ((i = 0; i < 4; i++)); do
			offset=$((RANDOM % 12 * 4096 + RANDOM % (i % 2 ? 200 : 4096)))
			printf '%b' "\\x$(printf %02x $((RANDOM % 256)))\\x$(printf %02x $((RANDOM % 256)))" |
				dd of="$d/data.mdb" bs=1 seek="$offset" conv=notrunc status=none
		done
		tr -d '\n' </proc/sys/kernel/random/boot_id | dd of="$d/lock" conv=notrunc status=none
		CID=new
		for verb in ADD DEL; do
			cni "$verb"
			[ "$RC" = 0 ] || is_err 102 || fail "(seed $seed, $verb)"
			! grep -q faulted "$W/out" || fail "seed $seed: $verb crashed: $(said)"
		done
	done
	rm -rf /var/lib/cni/forged "$W/whole.mdb"
}

test_hostile_auditLog()
{
	local log
	need_railhead
	mkdir -p /run/cron.d /var/log/pods
	: >/run/victim.log
	ln -s /run/victim.log /var/log/link.log
	ln -s /run/cron.d /var/log/away
	mkfifo /var/log/fifo.log
	for log in /run/cron.d/x.log /var/log/link.log /var/log/away/x.log /var/log/../../run/cron.d/x.log /var/log/fifo.log; do
		PLUGIN=railhead-ipam
		conf ".ipam={type:\"railhead-ipam\",subnet:\"10.77.5.0/24\",auditLog:\$l}" --arg l "$log"
		cni ADD
		[ "$RC" != 0 ] || has "a warning ($log)" "$ERR" audit
		want_ok DEL
	done
	eq "written elsewhere" "$(find /run/cron.d -type f; stat -c %s /run/victim.log)" 0
	rm -rf /run/cron.d /run/victim.log /var/log/link.log /var/log/away /var/log/fifo.log /var/log/pods
}

test_hostile_resolvConf()
{
	local f
	need_railhead
	PLUGIN=railhead-ipam
	echo 'search secret' >/run/secret
	chmod 600 /run/secret
	ln -s /run/secret /run/open.conf
	mkfifo /run/fifo.conf
	for f in /run/secret /run/open.conf /run/fifo.conf /proc/kmsg /proc/self/environ /sys/kernel/notes /dev/zero; do
		conf ".ipam={type:\"railhead-ipam\",subnet:\"10.77.5.0/24\",resolvConf:\$f}" --arg f "$f"
		want_err ADD '5|7|106' ipam.resolvConf "$f"
		want_ok DEL
	done
	rm -f /run/secret /run/open.conf /run/fifo.conf
}

# Refused before any device is looked for.
test_hostile_CNIDeviceInfoFile()
{
	local f
	need_railhead
	for PLUGIN in sriov rdma; do
		[ -x "$BIN/$PLUGIN" ] || skip "no plugin $PLUGIN in the folder of programs"
		pod "p-$PLUGIN"
		for f in /run/nologin /etc/nologin /run/k8s.cni.cncf.io/devinfo/../../nologin /run/k8s.cni.cncf.io/devinfo \
			/run/railhead/attachments/testnet/x; do
			# shellcheck disable=SC2016
			conf '.cniVersion="1.0.0" | .deviceID="0000:00:00.0" | .runtimeConfig={CNIDeviceInfoFile:$f} |
				.prevResult={cniVersion:"1.0.0",interfaces:[{name:"net1",sandbox:"/run/netns/p"}],ips:[]}' --arg f "$f"
			want_err ADD 7 CNIDeviceInfoFile "$f"
		done
	done
	is "made" test ! -e /run/nologin -a ! -e /etc/nologin
}

# A system call that fails every time ends the call, with an error or without.
test_hostile_calls_that_fail_for_ever()
{
	local call always=$HELPERS/always
	need_railhead
	! grep -qaE 'lib(a|ub)san' "$BIN/macvlan" || skip 'the libraries of a sanitizer meet these calls before the plugin does'
	pod p1
	conf_ipam "$(dual_ipam)"
	mkdir -p "$W/always"
	# shellcheck disable=SC2016
	printf '#!/bin/sh\nexec "%s" "$CALL" "$ERRNO" "%s/macvlan"\n' "$always" "$BIN" >"$W/always/macvlan"
	chmod +x "$W/always/macvlan"
	for call in read write fcntl poll sendto recvfrom wait4 openat pread64 pwrite64 nanosleep clock_nanosleep fallocate; do
		for errno in EINTR EAGAIN; do
			(
				XENV=("CALL=$call" "ERRNO=$errno")
				# shellcheck disable=SC2030
				BIN=$W/always
				cni ADD
				[ "$RC" -lt 124 ] || fail "$call: $errno for ever: ADD does not end: $(said)"
			)
			want_ok DEL
		done
	done
	rm -rf "$W/always"
}

# --- disks and processes -----------------------------------------------------------------------

# On a full disk nothing more is given, and everything can be given back.
test_hostile_full_disk()
{
	local i n=40
	need_railhead
	mkdir -p "$STATE"
	mount -t tmpfs -o size=1536k,mode=755 small /var/lib/railhead || fail "test error: mount"
	PLUGIN=railhead-ipam
	conf '.ipam={type:"railhead-ipam",subnet:"10.77.0.0/16"}'
	for ((i = 0; i < n; i++)); do
		CID=c$i
		want_ok ADD || break
	done
	head -c 16m /dev/zero >/var/lib/railhead/filler 2>/dev/null
	eq "free blocks" "$(stat -f -c %a /var/lib/railhead)" 0
	# ADDs may succeed until the disk is full; then the error names the disk.
	for ((i = n; i < 4000; i++)); do
		CID=c$i
		cni ADD
		[ "$RC" = 0 ] || break
	done
	is_err 102 "No space left" "full"
	n=$i
	for ((i = 0; i < n; i++)); do
		CID=c$i
		want_ok DEL || break
	done
	eq "leases left" "$(lease_count)" 0
	umount /var/lib/railhead
}

# An IPAM that is stopped within its transaction (the first write after the lock is taken is its note).
test_hostile_stopped_in_a_transaction()
{
	local tracer pid
	need_railhead
	command -v strace >/dev/null || skip "strace is not installed"
	PLUGIN=railhead-ipam
	conf '.ipam={type:"railhead-ipam",subnet:"10.77.0.0/16"}'
	CID=first
	want_ok ADD
	CID=stopped
	cni_env ADD
	# shellcheck disable=SC2031
	env -i "${E[@]}" strace -f -qq -o "$W/strace" -e trace=pwrite64 -e inject=pwrite64:signal=SIGSTOP:when=1 \
		"$BIN/$PLUGIN" <"$W/conf" >"$W/stopped.out" 2>"$W/stopped.err" &
	tracer=$!
	eventually grep -q SIGSTOP "$W/strace"
	CID=other
	want_ok ADD
	want_ok DEL
	wait "$tracer" 2>/dev/null
	eq "the stopped one was killed" "$(grep -c SIGKILL "$W/strace")" 1
	for CID in first stopped; do want_ok DEL; done
	eq "leases" "$(lease_count)" 0
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# failures.sh: cases in which a system call fails, or the program is killed at one. Sourced by run.sh.

CALLS='openat,write,fsync,fchmod,?rename,renameat,?renameat2,linkat,?unlink,unlinkat,?open'

# Each name has the program of one of these builds ("none": or none at all), whole.
each_is_whole() # a b|none
{
	local program at
	for program in $PLUGINS railhead-ipam; do
		at=$CNI/$program
		cmp -s $W/heads-"$1"/"$program" "$at" || { [ "$2" != none ] && cmp -s $W/heads-"$2"/"$program" "$at"; } ||
			{ [ "$2" = none ] && [ ! -e "$at" ]; } || { echo "$program is neither of $1 nor of $2" >>$W/out && return 1; }
	done
}

# Kill BUILD [OPTION...] at each of its calls in turn; after each kill CHECK holds, and the command HEAL and then AFTER.
kill_at_each_call() # BEFORE CHECK HEAL AFTER BUILD [OPTION...]
{
	local before=$1 check=$2 heal=$3 after=$4 n rc
	shift 4
	for ((n = 1; n < 400; n++)); do
		rm -rf "${CNI:?}"/* "$CNI"/.[!.]*
		TRACE=()
		$before || return
		TRACE=(strace -qq -o /dev/null -e trace="$CALLS" -e inject="$CALLS:signal=KILL:when=$n")
		# bash would say "Killed".
		{ heads "$@"; } 2>/dev/null
		rc=$?
		TRACE=()
		[ $rc != 0 ] || break
		[ $rc = 137 ] || { echo "call $n: exit $rc" >>$W/out && return 1; }
		$check || { echo "after a kill at call $n" >>$W/out && return 1; }
		$heal && $after || { echo "not healed after a kill at call $n" >>$W/out && return 1; }
	done
	[ "$n" -gt 20 ] && [ "$n" -lt 400 ] || { echo "$n calls" >>$W/out && return 1; }
}

killed_at_any_call_of_an_install() { kill_at_each_call "true" "each_is_whole a none" "heads a" "holds heads-a" a; }
killed_at_any_call_of_an_upgrade() { kill_at_each_call "heads a" "each_is_whole a b" "heads b" "holds heads-b" b; }
killed_upgrade_is_taken_back() { kill_at_each_call "heads a" "each_is_whole a b" "heads a" "holds heads-a" b; }
killed_upgrade_is_removed() { kill_at_each_call "heads a" "each_is_whole a b" "heads b --remove" "empty" b; }
killed_removal_goes_on() { kill_at_each_call "heads a" "each_is_whole a none" "heads a --remove" "empty" a --remove; }
killed_removal_is_taken_back() { kill_at_each_call "heads a" "each_is_whole a none" "heads a" "holds heads-a" a --remove; }

# Each call that writes fails once: the old programs stay, or the new ones are there, and the next run completes.
fail_at_each_call() # ERROR CALLS
{
	local n rc
	for ((n = 1; n < 200; n++)); do
		rm -rf "${CNI:?}"/* "$CNI"/.[!.]*
		heads a || return
		TRACE=(strace -qq -o /dev/null -e trace="$2" -e inject="$2:error=$1:when=$n")
		heads b
		rc=$?
		TRACE=()
		[ $rc != 0 ] || { holds heads-b && break; }
		tidy && each_is_whole a b || { echo "after a failure of call $n" >>$W/out && return 1; }
		heads b && holds heads-b || { echo "not completed after a failure of call $n" >>$W/out && return 1; }
	done
	[ "$n" -gt 5 ] && [ "$n" -lt 200 ]
}

a_failing_sync_is_an_error() { fail_at_each_call EIO fsync; }
a_failing_write_is_an_error() { fail_at_each_call ENOSPC write; }
a_failing_rename_is_an_error() { fail_at_each_call EIO "?rename,renameat,?renameat2"; }

a_full_disk()
{
	mount -t tmpfs -o size=128k,mode=755 small "$CNI" && heads a && holds heads-a || return
	head -c 200k /dev/zero >"$CNI/ballast" 2>/dev/null
	! heads b && says "No space left" && says "free some space" && says "no program was changed" && holds heads-a &&
		rm "$CNI/ballast" && heads b && holds heads-b
}

a_disk_that_fills_up_among_the_programs()
{
	mount -t tmpfs -o size=128k,mode=755 small "$CNI" && heads a || return
	head -c 40k /dev/zero >"$CNI/ballast"
	! heads b && says "No space left" && holds heads-a && rm "$CNI/ballast" && heads b && holds heads-b
}

a_read_only_host_is_named()
{
	image a
	mount --bind "$CNI" "$CNI" && mount -o remount,bind,ro "$CNI" && ! start && message_says "Read-only file system" && message_says CNI_BIN && empty
}

a_noexec_folder_is_named()
{
	image a
	mount --bind "$CNI" "$CNI" && mount -o remount,bind,noexec "$CNI" && ! start && message_says "noexec" && empty
}

a_missing_mount_is_named()
{
	image a && mv "$CNI" "$C/away" && ! start && message_says "CNI folder /host/opt/cni/bin" && message_says "DirectoryOrCreate" &&
		[ ! -e "$CNI" ]
	local rc=$?
	mv "$C/away" "$CNI"
	return $rc
}

# A tenant who owns the folder, or one above it, could exchange programs that root executes.
a_folder_of_a_tenant_is_refused()
{
	image a
	chown 1234 "$CNI" && ! start && message_says "does not belong to root" && empty && chown 0 "$CNI" && chmod g+w "$CNI" && ! start &&
		message_says "others than root" && chmod g-w "$CNI" && chown 1234 $C/host && ! start && empty && chown 0 $C/host &&
		mv "$CNI" $C/tenant && ln -s /tenant "$CNI" && ! start && message_says "symbolic link" && [ -z "$(ls $C/tenant)" ] && rm "$CNI" &&
		mv $C/tenant "$CNI"
}

without_a_termination_log()
{
	image a && rm $C/dev/termination-log && start && [ ! -e $C/dev/termination-log ] && ln -s /etc/passwd $C/dev/termination-log &&
		mkdir -p $C/etc && echo kept >$C/etc/passwd && start && grep -q kept $C/etc/passwd
	local rc=$?
	rm -f $C/dev/termination-log
	return $rc
}

CASES+=(
	"killed_at_any_call_of_an_install|killed at any call, an install is completed by the next run"
	"killed_at_any_call_of_an_upgrade|killed at any call, an upgrade leaves whole programs, and the next run completes it"
	"killed_upgrade_is_taken_back|the old image takes a killed upgrade back"
	"killed_upgrade_is_removed|a killed upgrade is removed"
	"killed_removal_goes_on|killed at any call, a removal goes on in the next run"
	"killed_removal_is_taken_back|an install takes a killed removal back"
	"a_failing_sync_is_an_error|a failing fsync is an error, and leaves whole programs"
	"a_failing_write_is_an_error|so does a failing write"
	"a_failing_rename_is_an_error|so does a failing rename"
	"a_full_disk|a full disk changes no program"
	"a_disk_that_fills_up_among_the_programs|nor does a disk that fills up half-way"
	"a_read_only_host_is_named|a read-only host is named"
	"a_noexec_folder_is_named|a folder without programs (noexec) is named"
	"a_missing_mount_is_named|a missing mount is named, and nothing is made"
	"a_folder_of_a_tenant_is_refused|a folder of a tenant, or behind a link, is refused"
	"without_a_termination_log|no termination message is made where there is none"
)

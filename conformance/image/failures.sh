# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# failures.sh: cases in which a system call fails, or the program is killed at one. Sourced by run.sh.

# Each name has the program of one of these builds ("none": or none at all), whole.
each_is_whole() # a b|none
{
	local whole=(-f "$W/sums/heads-$1")
	[ "$2" = none ] || whole+=(-f "$W/sums/heads-$2")
	sums "$CNI" >$W/sums/now
	{ [ "$2" = none ] || [ "$(wc -l <$W/sums/now)" = "$ALL" ]; } && ! grep -vxF "${whole[@]}" $W/sums/now >>$W/out ||
		{ echo "a program above, or one that is missing, is neither of $1 nor of $2" >>$W/out && return 1; }
}

# injected CALL WHAT N BUILD [OPTION...]: a run of the program with that done to its N-th use of the call; $W/trace tells whether it came so far.
injected()
{
	local call=$1 what=$2 n=$3 rc
	shift 3
	TRACE=(strace -qq -o "$W/trace" -e "trace=$call" -e "inject=$call:$what:when=$n")
	# bash would say "Killed".
	{ heads "$@"; } 2>/dev/null
	rc=$?
	TRACE=()
	return $rc
}

# stopped_at CALL N CHANGE BUILD [OPTION...]: the program stops at its N-th use of the call, CHANGE is done, and it goes on.
stopped_at()
{
	local call=$1 n=$2 change=$3 tracer pid
	shift 3
	: >$W/trace
	TRACE=(strace -f -qq -o "$W/trace" -e "trace=$call" -e "inject=$call:signal=STOP:when=$n")
	heads "$@" &
	tracer=$!
	TRACE=()
	until pid=$(sed -n 's/ .* stopped by SIGSTOP .*//p' $W/trace) && [ -n "$pid" ]; do
		kill -0 $tracer 2>/dev/null && sleep 0.01 || { echo "no stop at $call $n" >>$W/out && return 1; }
	done
	$change
	kill -CONT "$pid"
	wait $tracer
}

empty_folder() { rm -rf "${CNI:?}"/* "$CNI"/.[!.]*; }

# Kill BUILD [OPTION...] at each use of each call; after each kill CHECK holds, and the command HEAL and then AFTER. strace counts each
# call by itself. KILLS has how many kills there were at each.
declare -A KILLS
kill_at_each_call() # BEFORE CHECK HEAL AFTER BUILD [OPTION...]
{
	local before=$1 check=$2 heal=$3 after=$4 call n rc
	shift 4
	for call in openat write fsync fchmod renameat renameat2 linkat unlinkat; do
		for ((n = 1; n < 400; n++)); do
			empty_folder
			$before || return
			injected "$call" signal=KILL "$n" "$@"
			rc=$?
			grep -q 'killed by SIGKILL' $W/trace || break
			$check || { echo "after a kill at $call $n" >>$W/out && return 1; }
			$heal && $after || { echo "not healed after a kill at $call $n" >>$W/out && return 1; }
		done
		KILLS[$call]=$((n - 1))
		[ $rc = 0 ] && [ "$n" -lt 400 ] || { echo "$call $n: exit $rc without a kill" >>$W/out && return 1; }
	done
	echo "kills: ${KILLS[*]@K}" >>$W/out
}

killed_at_any_call_of_an_install()
{
	kill_at_each_call "true" "each_is_whole a none" "heads a" "holds heads-a" a && [ "${KILLS[renameat2]}" -ge 7 ]
}
killed_at_any_call_of_an_upgrade()
{
	kill_at_each_call "heads a" "each_is_whole a b" "heads b" "holds heads-b" b && [ "${KILLS[renameat]}" -ge 7 ]
}
killed_upgrade_is_taken_back()
{
	kill_at_each_call "heads a" "each_is_whole a b" "heads a" "holds heads-a" b && [ "${KILLS[renameat]}" -ge 7 ]
}
killed_upgrade_is_removed()
{
	kill_at_each_call "heads a" "each_is_whole a b" "heads b --remove" "empty" b && [ "${KILLS[renameat]}" -ge 7 ]
}
killed_removal_goes_on()
{
	kill_at_each_call "heads a" "each_is_whole a none" "heads a --remove" "empty" a --remove && [ "${KILLS[renameat]}" -ge 7 ] &&
		[ "${KILLS[unlinkat]}" -ge 7 ]
}
killed_removal_is_taken_back()
{
	kill_at_each_call "heads a" "each_is_whole a none" "heads a" "holds heads-a" a --remove && [ "${KILLS[renameat]}" -ge 7 ] &&
		[ "${KILLS[unlinkat]}" -ge 7 ]
}

# A removal was killed before it deleted anything.
all_set_aside()
{
	local program
	heads a || return
	for program in $NAMES; do mv "$CNI/$program" "$CNI/.$program.railhead-old" || return; done
}
killed_while_names_are_given_back()
{
	kill_at_each_call all_set_aside "each_is_whole a none" "heads a" "holds heads-a" a && [ "${KILLS[renameat2]}" -ge 7 ]
}

# Each use of each call fails once. Programs stay whole, and the same again completes it.
fail_at_each_call() # BEFORE CHECK AFTER ERROR CALLS BUILD [OPTION...]
{
	local before=$1 check=$2 after=$3 error=$4 calls=$5 call n rc failures=0
	shift 5
	for call in $calls; do
		for ((n = 1; n < 200; n++)); do
			empty_folder
			$before || return
			injected "$call" error="$error" "$n" "$@"
			rc=$?
			grep -q INJECTED $W/trace || break
			failures=$((failures + 1))
			# The termination message is best effort, and so is a file that may stay beside a program.
			[ $rc != 0 ] || { [[ $call == @(write|unlinkat) ]] && $after; } || { echo "$call $n failed without an error" >>$W/out && return 1; }
			$check || { echo "after a failure of $call $n" >>$W/out && return 1; }
			heads "$@" && $after || { echo "not completed after a failure of $call $n" >>$W/out && return 1; }
		done
		[ $rc = 0 ] && [ "$n" -lt 200 ] && $after || { echo "$call $n: exit $rc without a failure" >>$W/out && return 1; }
	done
	[ $failures -ge 2 ] || { echo "$failures failures" >>$W/out && return 1; }
}

tidy_and_whole() { tidy && each_is_whole "$@"; }
failing_install() { fail_at_each_call true "tidy_and_whole a none" "holds heads-a" "$1" "$2" a; }           # ERROR CALLS
failing_upgrade() { fail_at_each_call "heads a" "tidy_and_whole a b" "holds heads-b" "$1" "$2" b; }         # ERROR CALLS
failing_removal() { fail_at_each_call "heads a" "each_is_whole a none" empty "$1" "$2" a --remove; } # ERROR CALLS

a_failing_sync_is_an_error() { failing_install EIO fsync && failing_upgrade EIO fsync && failing_removal EIO fsync; }
a_failing_write_is_an_error() { failing_upgrade ENOSPC write && failing_removal ENOSPC write; }
a_failing_rename_is_an_error() { failing_install EIO renameat2 && failing_upgrade EIO renameat && failing_removal EIO renameat; }
a_failing_unlink_is_an_error() { failing_removal EIO unlinkat; }

# ---- another program writes into the folder meanwhile ----

# The ninth sync is that of the last program.
a_file_that_appears_stops_an_install()
{
	! stopped_at fsync 9 "foreign macvlan" a && says "another program has changed macvlan" && says "no program was changed" && is_foreign macvlan &&
		[ "$(ls -A "$CNI")" = macvlan ]
}

a_file_that_appears_stops_an_upgrade()
{
	heads a && ! stopped_at fsync 9 "foreign macvlan" b && says "another program has changed macvlan" && is_foreign macvlan && tidy &&
		cp $W/heads-a/macvlan "$CNI/" && holds heads-a && jq -e ".changing | not" "$CNI/.railhead-install.json" >>$W/out
}

# railhead-ipam has its name, and macvlan is next.
a_file_that_appears_among_the_renames_stays()
{
	! stopped_at renameat2 1 "foreign macvlan" a && says "run it again" && is_foreign macvlan && tidy && rm "$CNI/macvlan" && heads a && holds heads-a
}

# The second sync is that of the receipt. The programs lose their names next.
a_file_that_appears_outlives_a_removal()
{
	heads a && stopped_at fsync 2 "foreign macvlan" a --remove && says "left alone macvlan" && is_foreign macvlan && [ "$(ls -A "$CNI")" = macvlan ]
}

# ---- hosts that do not let it work ----

a_full_disk()
{
	mount -t tmpfs -o size=192k,mode=755 small "$CNI" && heads a && holds heads-a || return
	head -c 200k /dev/zero >"$CNI/ballast" 2>/dev/null
	! heads b && says "No space left" && says "free some space" && says "no program was changed" && holds heads-a &&
		rm "$CNI/ballast" && heads b && holds heads-b
}

a_disk_that_fills_up_among_the_programs()
{
	mount -t tmpfs -o size=192k,mode=755 small "$CNI" && heads a || return
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
	"killed_while_names_are_given_back|so does one that is killed itself meanwhile"
	"a_failing_sync_is_an_error|a failing fsync is an error, and leaves whole programs"
	"a_failing_write_is_an_error|so does a failing write"
	"a_failing_rename_is_an_error|so does a failing rename"
	"a_failing_unlink_is_an_error|so does a failing unlink"
	"a_file_that_appears_stops_an_install|a file of others that appears meanwhile stops an install"
	"a_file_that_appears_stops_an_upgrade|and an upgrade"
	"a_file_that_appears_among_the_renames_stays|and is not replaced even among the renames"
	"a_file_that_appears_outlives_a_removal|nor does a removal take it away"
	"a_full_disk|a full disk changes no program"
	"a_disk_that_fills_up_among_the_programs|nor does a disk that fills up half-way"
	"a_read_only_host_is_named|a read-only host is named"
	"a_noexec_folder_is_named|a folder without programs (noexec) is named"
	"a_missing_mount_is_named|a missing mount is named, and nothing is made"
	"a_folder_of_a_tenant_is_refused|a folder of a tenant, or behind a link, is refused"
	"without_a_termination_log|no termination message is made where there is none"
)

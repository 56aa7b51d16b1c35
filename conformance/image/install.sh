# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# install.sh: cases of an install, an upgrade and a downgrade. Sourced by run.sh.

puts_all_plugins()
{
	image a && start && holds a && says "installed macvlan" && message_says "$ALL written" &&
		[ "$(jq -r '.programs | length' "$CNI/.railhead-install.json")" = "$ALL" ] && jq -e '.changing | not' "$CNI/.railhead-install.json" >>$W/out &&
		env -i CNI_COMMAND=VERSION "$CNI/macvlan" <<<'{"cniVersion":"1.1.0"}' | grep -q supportedVersions
}

receipt_has_the_digests()
{
	image a && start || return
	jq -r '.programs[] | .sha256 + "  " + .name' "$CNI/.railhead-install.json" >$W/sums/all
	[ "$(wc -l <$W/sums/all)" = "$ALL" ] && (cd "$CNI" && sha256sum -c --quiet $W/sums/all) >>$W/out 2>&1
}

only_some_plugins()
{
	image a && start PLUGINS=macvlan,rdma && [ "$(ls "$CNI" | tr '\n' ' ')" = "macvlan railhead-ipam rdma " ]
}

again_changes_nothing()
{
	image a && start || return
	ls -Ali --time-style=full-iso "$CNI" >$W/before
	start && says "unchanged macvlan" && says ": 0 written" && ls -Ali --time-style=full-iso "$CNI" | diff $W/before - >>$W/out
}

# A runtime executes them as root: no other user may change them or have their rights.
owner_and_mode_are_repaired()
{
	image a && start && chmod 0777 "$CNI/macvlan" && chmod 4755 "$CNI/ipvlan" && chown 65534 "$CNI/sriov" && chmod 0600 "$CNI/rdma" || return
	local expected="macvlan ipvlan sriov rdma" name
	if setcap cap_net_admin+ep "$CNI/ipoib" 2>/dev/null; then expected+=" ipoib"; fi
	start --dry-run && for name in $expected; do says "would repair $name: its owner, mode or capabilities" || return; done
	[ "$(stat -c %a "$CNI/macvlan")" = 777 ] || return
	start && for name in $expected; do says "repaired $name: its owner, mode or capabilities" || return; done
	message_says "$(wc -w <<<"$expected") written" && holds a && [ "$(stat -c %u "$CNI/sriov")" = 0 ] && says "unchanged railhead-ipam" &&
		{ ! command -v getcap >/dev/null || [ -z "$(getcap "$CNI/ipoib")" ]; } && start && message_says ": 0 written"
}

complete_on_a_read_only_host()
{
	image a && start || return
	mount --bind "$CNI" "$CNI" && mount -o remount,bind,ro "$CNI" && start && message_says ": 0 written"
}

foreign_stops_before_anything_is_touched()
{
	foreign macvlan
	foreign sriov
	image a && ! start && says "files of another project: macvlan, sriov" && message_says "PLUGIN_PREFIX, such as rh-" &&
		[ "$(ls -A "$CNI" | tr '\n' ' ')" = "macvlan sriov " ] && is_foreign macvlan
}

prefix_installs_beside()
{
	foreign macvlan
	image a && start PLUGIN_PREFIX=rh- && holds a rh- && is_foreign macvlan && [ ! -e "$CNI/rh-railhead-ipam" ]
}

force_replaces()
{
	foreign macvlan
	mkdir -p $C/etc && echo kept >$C/etc/passwd && ln -s /etc/passwd "$CNI/sriov"
	image a && start FORCE=1 && holds a && [ ! -L "$CNI/sriov" ] && [ "$(<$C/etc/passwd)" = kept ]
}

a_link_is_foreign()
{
	image a
	cp $W/a/macvlan $C/elsewhere
	ln -s ../../../../elsewhere "$CNI/macvlan"
	! start && says "another project: macvlan" && [ -L "$CNI/macvlan" ]
}

a_folder_is_refused_with_force()
{
	mkdir "$CNI/macvlan"
	image a && ! start --force && says "a folder macvlan" && [ "$(ls -A "$CNI")" = macvlan ]
}

dry_run_changes_nothing()
{
	image a && start --dry-run && says "would install macvlan" && empty
}

takes_over_from_make_install()
{
	cp $W/b/macvlan "$CNI/"
	image a && start && holds a && says "replaced macvlan"
}

an_image_of_two_builds_is_refused()
{
	image a && cp $W/b/rdma $C/opt/railhead/cni/ && ! start && says "rdma is of another build" && empty &&
		rm $C/opt/railhead/cni/rdma && ! start && says "open rdma: No such file" && empty &&
		echo x >$C/opt/railhead/cni/rdma && ! start && says "rdma is not a program of railhead" && empty
}

wrong_settings_are_named()
{
	image a && ! start FORCE=yes && says "FORCE is" && ! start PLUGINS=macvlan,bridge && says '"bridge" is not a plugin' &&
		! start PLUGIN_PREFIX=../ && says "prefix" && ! start --target opt/cni/bin && says "absolute path" && empty
}

# It would otherwise steer the terminal of whoever reads it.
the_message_is_one_clean_line()
{
	image a && start && jq '.version = "1\u001b[2J\n9"' "$CNI/.railhead-install.json" >$W/receipt && cp $W/receipt "$CNI/.railhead-install.json" &&
		start --remove && message_says 'railhead 1\x1b[2J\x0a9 in'
}

# ---- upgrade and downgrade ----

upgrades()
{
	image a && start && image b && start && holds b && says "replaced macvlan" && [ "$(jq -r .build "$CNI/.railhead-install.json")" = "$ID_B" ]
}

upgrades_under_a_running_ADD()
{
	local rc=1
	image a && start && begin_ADD p1 && image b && start && holds b && rc=0
	end_ADD && [ $rc = 0 ] && end p1
}

# A runtime that starts the plugin again and again always finds a whole one.
a_plugin_is_always_there()
{
	local n child rc=0 runs
	image a && start || return
	: >$W/runs && : >$W/missed
	while [ ! -e $W/stop ]; do
		env -i CNI_COMMAND=VERSION "$CNI/macvlan" <<<'{"cniVersion":"1.1.0"}' >/dev/null 2>>$W/missed || echo "failed with $?" >>$W/missed
		echo run >>$W/runs
	done &
	child=$!
	# Each install has a run of the plugin before it, and so has the end.
	for n in b a b a b a; do
		runs=$(wc -l <$W/runs)
		until [ "$(wc -l <$W/runs)" -gt "$runs" ]; do kill -0 $child && sleep 0.01 || break; done
		image $n && start || rc=1
	done
	: >$W/stop
	wait $child
	cat $W/missed >>$W/out
	[ $rc = 0 ] && [ ! -s $W/missed ] && [ "$(wc -l <$W/runs)" -ge 6 ]
	rc=$?
	rm -f $W/stop $W/missed $W/runs
	return $rc
}

# A kill among the renames leaves such a folder.
plugins_of_two_builds_serve_each_other()
{
	image a && start && pod p1 && cp $W/b/macvlan "$CNI/new" && mv "$CNI/new" "$CNI/macvlan" && pod p2 && end p1 &&
		cp $W/b/railhead-ipam "$CNI/new" && mv "$CNI/new" "$CNI/railhead-ipam" && cp $W/a/macvlan "$CNI/new" && mv "$CNI/new" "$CNI/macvlan" &&
		pod p3 && end p2 && end p3 && [ -z "$(find /run/railhead/attachments -type f)" ]
}

pods_of_the_other_build_end()
{
	image a && start && pod p1 && image b && start && end p1 && pod p2 && image a && start && end p2 &&
		[ -z "$(find /run/railhead/attachments -type f)" ]
}

# The receipt says which build is newer. strace shows the order of the names.
renamed() { sed -n 's/.*, "\([^".]*\)") = 0$/\1/p' "$W/trace"; }
of_a_later_version() { sed -i 's/"version":.*"[0-9.]*"/"version": "99.0.0"/' "$CNI/.railhead-install.json" && grep -q 99.0.0 "$CNI/.railhead-install.json"; }
ipam_first_but_last_in_a_downgrade()
{
	heads a || return
	TRACE=(strace -qq -e "trace=?rename,renameat,?renameat2" -o "$W/trace")
	heads b && [ "$(renamed | head -n 1)" = railhead-ipam ] && [ "$(renamed | wc -l)" = "$ALL" ] || { cat $W/trace >>$W/out && return 1; }
	of_a_later_version && heads a && [ "$(renamed | tail -n 1)" = railhead-ipam ] || { cat $W/trace >>$W/out && return 1; }
}

# The first rename is of the receipt, the second one of macvlan.
ipam_last_after_a_killed_downgrade()
{
	heads b && of_a_later_version && ! injected renameat signal=KILL 3 a && grep -q killed $W/trace && grep -q 99.0.0 "$CNI/.railhead-install.json" || return
	TRACE=(strace -qq -e "trace=?rename,renameat,?renameat2" -o "$W/trace")
	heads a && holds heads-a && [ "$(renamed | tail -n 1)" = railhead-ipam ] && ! grep -q 99.0.0 "$CNI/.railhead-install.json" ||
		{ cat $W/trace >>$W/out && return 1; }
}

# Two syncs are of the receipt, file and folder.
all_are_synced_before_the_first_gets_its_name()
{
	TRACE=(strace -qq -e "trace=fsync,?rename,renameat,?renameat2" -o "$W/trace")
	heads a && [ "$(sed '/railhead-new/q' $W/trace | grep -c fsync)" = $((ALL + 2)) ] &&
		[ "$(tac $W/trace | sed '/railhead-new/q' | grep -c fsync)" -ge 1 ] || { cat $W/trace >>$W/out && return 1; }
}

another_prefix_keeps_names_in_use()
{
	image a && start PLUGIN_PREFIX=old- && pod p1 old-macvlan && image b && start PLUGIN_PREFIX=rh- && holds b rh- &&
		says "kept old-macvlan" && says "removed old-ipvlan" && message_says ": $ALL written, $(($(wc -w <<<"$PLUGINS") - 1)) removed, 1 unchanged or kept" && [ ! -e "$CNI/old-ipvlan" ] && end p1 old-macvlan &&
		start PLUGIN_PREFIX=rh- && says "removed old-macvlan" && [ ! -e "$CNI/old-macvlan" ] && holds b rh-
}

two_at_once()
{
	local i rc=0
	image a
	for i in 1 2 3 4; do
		(
			W=$W/at-once-$i
			mkdir -p "$W"
			env -i "$CHROOT" $C /usr/sbin/railhead-install >"$W/out" 2>&1
		) &
	done
	wait
	cat $W/at-once-*/out >>$W/out
	rm -rf $W/at-once-*
	holds a && [ "$(grep -c "$ALL written" $W/out)" = 1 ] && [ "$(grep -c ": 0 written" $W/out)" = 3 ]
}

CASES+=(
	"puts_all_plugins|puts all plugins into the folder"
	"receipt_has_the_digests|the receipt has their digests"
	"only_some_plugins|PLUGINS chooses some"
	"again_changes_nothing|the same again changes nothing"
	"owner_and_mode_are_repaired|wrong owner, mode and capabilities are repaired"
	"complete_on_a_read_only_host|a complete folder may be read-only"
	"foreign_stops_before_anything_is_touched|files of others stop it before anything is touched"
	"prefix_installs_beside|PLUGIN_PREFIX installs beside them"
	"force_replaces|FORCE=1 replaces them"
	"a_link_is_foreign|a symbolic link is foreign"
	"a_folder_is_refused_with_force|a folder is refused even with --force"
	"dry_run_changes_nothing|a dry run changes nothing"
	"takes_over_from_make_install|programs of make install are taken over"
	"an_image_of_two_builds_is_refused|a damaged image is refused"
	"wrong_settings_are_named|wrong settings are named"
	"the_message_is_one_clean_line|the termination message is one line without control characters"
	"upgrades|upgrades"
	"upgrades_under_a_running_ADD|upgrades while an ADD of the old build runs"
	"a_plugin_is_always_there|a runtime finds a whole plugin at any time"
	"plugins_of_two_builds_serve_each_other|plugins of two builds serve each other"
	"pods_of_the_other_build_end|pods of the other build end after upgrade and downgrade"
	"ipam_first_but_last_in_a_downgrade|railhead-ipam comes first, and last in a downgrade"
	"ipam_last_after_a_killed_downgrade|and still last when that downgrade was killed"
	"all_are_synced_before_the_first_gets_its_name|all programs are on disk before the first one gets its name"
	"another_prefix_keeps_names_in_use|another prefix: old names stay while pods need them"
	"two_at_once|four at once write once"
)

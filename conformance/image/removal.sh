# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# removal.sh: cases of --remove. Sourced by run.sh.

removes_what_it_installed()
{
	foreign bridge
	image a && start && start --remove && says "removed macvlan" && message_says "$ALL removed" && [ "$(ls -A "$CNI")" = bridge ] && start --remove &&
		says "nothing to remove"
}

nothing_to_remove_on_a_read_only_host()
{
	image a
	mount --bind "$CNI" "$CNI" && mount -o remount,bind,ro "$CNI" && start --remove && message_says "nothing to remove"
}

pods_stop_a_removal()
{
	image a && start && pod p1 && pod p2 && ! start --remove && message_says "2 attachments" && message_says "rail0 p1 net1" && holds a &&
		end p1 && ! start --remove && holds a && end p2 && start --remove && empty
}

# Its DEL or a repair is still to come.
a_dead_pod_stops_a_removal()
{
	image a && start && pod p1 && ip netns del p1 && ! start --remove && says "railctl attachments repair" && holds a
}

a_damaged_record_stops_a_removal()
{
	image a && start && pod p1 && echo '{' >/run/railhead/attachments/rail0/p1,net1 && ! start --remove && holds a
}

an_earlier_boot_does_not()
{
	image a && start && pod p1 && sed -i 's/"boot":"[0-9a-f]*/"boot":"00000000/; s/"boot": *"[0-9a-f]*/"boot":"00000000/' \
		/run/railhead/attachments/rail0/p1,net1 && start --remove && empty
}

# It has no record yet.
a_running_plugin_stops_a_removal()
{
	local rc=1
	need_deny_write || return
	image a && start && begin_ADD p1 && ! start --remove && says "macvlan runs at this moment" && holds a &&
		jq -e ".changing | not" "$CNI/.railhead-install.json" >>$W/out && rc=0
	end_ADD && [ $rc = 0 ] && ! start --remove && end p1 && start --remove && empty
}

# libcni writes such a file after an ADD, and removes it after the DEL. Here it is in the container's folder, as if mounted.
cached() # FILE CONFIGURATION
{
	mkdir -p "$C/var/lib/cni/$(dirname "$1")" && jq -nc --arg c "$(base64 -w0 <<<"$2")" \
		'{kind: "cniCacheV1", containerId: "p9", config: $c, ifName: "net1", networkName: "theirs", netns: "/run/netns/p9", result: {}}' >"$C/var/lib/cni/$1"
}

a_pod_that_libcni_remembers_stops_a_removal()
{
	local theirs='{"plugins": [{"type": "calico", "ipam": {"type": "calico-ipam"}}]}' ipam='{"type": "theirs", "ipam": {"type": "railhead-ipam"}}'
	image a && start && cached results/cbr0-p8-eth0 "$theirs" && cached multus/results/theirs-p9-net1 "$ipam" &&
		! start --remove && message_says "1 attachment" && message_says "multus/results/theirs-p9-net1" && message_says "remove it by hand" && holds a &&
		rm $C/var/lib/cni/multus/results/theirs-p9-net1 && start --remove && ! says "of libcni" && empty
}

a_file_of_libcni_that_does_not_say_stops_a_removal()
{
	image a && start && mkdir -p $C/var/lib/cni/results && echo '{"kind":' >$C/var/lib/cni/results/n-p9-net1 && ! start --remove &&
		message_says "results/n-p9-net1 (file of libcni" && holds a && rm $C/var/lib/cni/results/n-p9-net1 && start --remove && empty
}

without_a_folder_of_libcni_it_is_said()
{
	image a && start && ! says "of libcni" && start --prefix rh- && says "there is no folder /var/lib/cni/results of libcni" &&
		start --prefix rh- && ! says "of libcni" && start --remove && says "there is no folder /var/lib/cni/results of libcni" && empty
}

# An install says which file keeps the old names.
a_file_of_libcni_that_does_not_say_keeps_old_names()
{
	image a && start && mkdir -p $C/var/lib/cni/results && : >$C/var/lib/cni/results/n-p9-net1 && start --prefix rh- && says "kept macvlan" &&
		says "does not say which one it needs: results/n-p9-net1 (" && rm $C/var/lib/cni/results/n-p9-net1 && start --prefix rh- &&
		says "removed macvlan" && holds a rh-
}

# An install keeps the old name as long as libcni remembers its pod.
an_old_name_stays_for_a_pod_of_libcni()
{
	image a && start && cached results/theirs-p9-net1 '{"type": "macvlan"}' && start --prefix rh- && says "kept macvlan" && says "removed ipvlan" &&
		rm $C/var/lib/cni/results/theirs-p9-net1 && start --prefix rh- && says "removed macvlan" && holds a rh-
}

# Its name is missing then, and the receipt says so.
a_failed_put_back_is_an_error()
{
	local rc=1
	need_deny_write || return
	image a && start && begin_ADD p1 || return
	TRACE=(strace -qq -o "$W/trace" -e trace=renameat2 -e inject=renameat2:error=EIO:when=1)
	! whole a --remove && grep -q INJECTED $W/trace && says "put back macvlan: Input/output error" && says "run it again" && [ ! -e "$CNI/macvlan" ] &&
		jq -e .changing "$CNI/.railhead-install.json" >>$W/out && rc=0
	TRACE=()
	end_ADD && [ $rc = 0 ] && ! start --remove && says "1 attachment" && holds a && end p1 && start --remove && empty
}

others_programs_stay()
{
	image a && start && foreign macvlan && cp $W/b/ipvlan "$CNI/" && start --remove && says "left alone macvlan" && is_foreign macvlan &&
		cmp $W/b/ipvlan "$CNI/ipvlan" && [ "$(ls -A "$CNI" | tr '\n' ' ')" = "ipvlan macvlan " ]
}

an_unmounted_run_folder_stops_it()
{
	image a && start && umount $C/run/railhead && rmdir $C/run/railhead || return
	! start --remove && message_says "mount the host's folder" && holds a
	local rc=$?
	mkdir $C/run/railhead && mount --bind /run/railhead $C/run/railhead
	return $rc
}

# A folder of the image, such as that of the agent, does not say which pods there are. An install needs no pods, but keeps old names.
a_folder_of_the_image_is_not_the_hosts()
{
	image a && start && pod p1 && umount $C/run/railhead || return
	# $C is a mount of its own here, as the root of a container is.
	mount -t tmpfs -o mode=755 other $C/mnt && cp -a $C/usr $C/opt $C/mnt/ && mkdir -p $C/mnt/run/railhead $C/mnt/host/opt/cni/bin $C/mnt/proc &&
		mount --bind "$CNI" $C/mnt/host/opt/cni/bin && mount --bind /proc $C/mnt/proc &&
		! in_other --remove && says "belongs to the root file system" && says "mount --bind /run/railhead" && holds a &&
		in_other --prefix rh- && says "kept macvlan" && holds a && holds a rh- &&
		mount --bind $C/mnt/run/railhead $C/mnt/run/railhead && in_other --remove && empty
	local rc=$?
	umount -R $C/mnt
	mount --bind /run/railhead $C/run/railhead
	return $rc
}
in_other() { chroot $C/mnt /usr/sbin/railhead-install "$@" >$W/out 2>&1; }

a_read_only_run_folder_is_named()
{
	image a && mount -o remount,bind,ro $C/run/railhead && ! start && message_says "mount it writable" && empty
}

a_damaged_receipt_is_named()
{
	image a && start && echo '{' >"$CNI/.railhead-install.json" && ! start && says ".railhead-install.json" && ! start --remove && holds a &&
		! start --remove --force && message_says "run an install with --force first" && holds a && [ -e "$CNI/.railhead-install.json" ] &&
		start --force && holds a && start --remove && empty
}

# A removal must not say that there is nothing.
a_damaged_receipt_outlives_a_failure()
{
	heads a && echo '{' >"$CNI/.railhead-install.json" && ! injected fchmod error=EIO 3 b --force && grep -q INJECTED $W/trace && holds heads-a &&
		[ -s "$CNI/.railhead-install.json" ] && heads b --remove && says "removed macvlan" && empty
}

CASES+=(
	"removes_what_it_installed|removes what it installed, and only that"
	"nothing_to_remove_on_a_read_only_host|a host without an install may be read-only"
	"pods_stop_a_removal|pods stop a removal, and it names them"
	"a_dead_pod_stops_a_removal|so does a pod without a DEL"
	"a_damaged_record_stops_a_removal|so does a damaged record"
	"an_earlier_boot_does_not|an attachment of an earlier boot does not"
	"a_running_plugin_stops_a_removal|a plugin that runs stops a removal"
	"a_pod_that_libcni_remembers_stops_a_removal|a pod that only libcni remembers stops a removal"
	"a_file_of_libcni_that_does_not_say_stops_a_removal|so does a file of libcni that does not say its plugin"
	"without_a_folder_of_libcni_it_is_said|without a folder of libcni a removal says so, and an install that removes"
	"a_file_of_libcni_that_does_not_say_keeps_old_names|a file of libcni that does not say its plugin keeps old names, and is named"
	"an_old_name_stays_for_a_pod_of_libcni|an old name stays while libcni remembers its pod"
	"a_failed_put_back_is_an_error|a program that does not get its name back is an error"
	"others_programs_stay|a program that others replaced stays"
	"an_unmounted_run_folder_stops_it|a missing mount stops a removal"
	"a_folder_of_the_image_is_not_the_hosts|a folder of the image is not taken for the host's"
	"a_read_only_run_folder_is_named|a read-only folder of attachments is named"
	"a_damaged_receipt_is_named|a damaged receipt is named"
	"a_damaged_receipt_outlives_a_failure|an install by force that fails leaves a receipt"
)

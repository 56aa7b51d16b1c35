#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cgroups.sh: control groups for the nodes: one group a suite below the caller's own, in each hierarchy there is.
#
#   cgroups.sh names             the groups of suites that are there
#   cgroups.sh remove NAME       kill what is in a group, and remove it with all below it
# Sourced by world.sh for the rest. Groups are what the kernel keeps when a suite is killed: run.sh leaves a process behind
# that removes them then. Both versions are known; with version 2 a group has no processes of its own, but those in "services".

# hierarchies: a line each, "name|options to mount it with|type|path of the caller in it".
hierarchies()
{
	local id names path unified=
	while IFS=: read -r id names path; do
		case $names in
		'') unified=$path ;;
		name=*) echo "${names#name=}|none,$names|cgroup|$path" ;;
		*) echo "$names|$names|cgroup|$path" ;;
		esac
	done </proc/self/cgroup | grep -v '^[^|]*|none,name=elogind' | sort -u | grep . && return
	unified=$(sed -n 's/^0:://p' /proc/self/cgroup)
	echo "unified|nsdelegate|cgroup2|$unified"
}

# cgroups_mount DIR: all of them below DIR.
cgroups_mount()
{
	local name options type path
	while IFS='|' read -r name options type path; do
		mkdir -p "$1/$name" && mount -t "$type" -o "$options" "$type" "$1/$name" 2>/dev/null ||
			mount -t "$type" "$type" "$1/$name" || return
	done < <(hierarchies)
}

# cgroups_paths DIR: the folder of the caller's own group in each of them.
cgroups_paths()
{
	local name options type path
	while IFS='|' read -r name options type path; do
		echo "$1/$name${path%/}"
	done < <(hierarchies)
}

# cgroups_make DIR NAME: a group below the caller's; with version 1 it first has to get processors and memory.
cgroups_make()
{
	local path group file
	while read -r path; do
		group=$path/$2
		mkdir -p "$group" || return
		for file in cpuset.cpus cpuset.mems; do
			[ ! -e "$group/notify_on_release" ] || [ ! -e "$group/$file" ] ||
				cat "${group%/*}/$file" >"$group/$file" || return
		done
	done < <(cgroups_paths "$1")
}

# cgroups_remove DIR NAME: with all processes in it. A dying process holds its group for a moment.
cgroups_remove()
{
	local path pid i left
	for ((i = 0; i < 300; i++)); do
		left=
		while read -r path; do
			[ -d "$path/$2" ] || continue
			while read -r pid; do
				kill -KILL "$pid" 2>/dev/null
			done < <(find "$path/$2" -name cgroup.procs -exec cat {} + 2>/dev/null)
			find "$path/$2" -depth -type d -exec rmdir {} + 2>/dev/null
			[ ! -d "$path/$2" ] || left=yes
		done < <(cgroups_paths "$1")
		[ -n "$left" ] || return 0
		sleep 0.1
	done
	return 1
}

# cgroups_names DIR: the groups of suites.
cgroups_names()
{
	local path
	while read -r path; do
		find "$path" -maxdepth 1 -type d -name 'railhead-cluster-[0-9]*' -printf '%f\n'
	done < <(cgroups_paths "$1") | sort -u
}

# apart COMMAND...: with the hierarchies mounted below /run, in a mount namespace of its own.
apart()
{
	# shellcheck disable=SC2016 # expanded by the inner shell
	unshare --mount --propagation private bash -c '. "$1" && shift && mount -t tmpfs cgroups /run && mkdir /run/cgroups &&
		cgroups_mount /run/cgroups && "$@"' apart "$(realpath "${BASH_SOURCE[0]}")" "$@"
}

[ "${BASH_SOURCE[0]}" = "$0" ] || return 0
case ${1-} in
names) apart cgroups_names /run/cgroups ;;
remove) apart cgroups_remove /run/cgroups "${2:?}" ;;
*)
	sed -n '5,6s/^#   //p' "$0" >&2
	exit 2
	;;
esac

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Check who includes whom, and that no room is too full to be seen.
#
# usage: tools/layers.sh [ROOT]
#
# A room is a folder with C files. Its arrows are below; its README.md repeats them in a line
# "May include: lib/, cni/protocol/", and the two must agree. There is no way back along the arrows. What tests need
# (X_test.c, X_fuzz.c, X_contract.*, rooms called testing) may include all of the parts that their room's part may.
# A header X_priv.h belongs to its room alone. No two files include each other, however long the way. A room has at most 25 files that are neither test nor fuzz target.
set -eu
export LC_ALL=C

cd "${1:-.}"
# room | what it may include besides itself, whole parts (lib/) or rooms
arrows='
lib/base|
lib/json|lib/base/
lib/sys|lib/base/ lib/json/
lib/net|lib/base/ lib/sys/
lib/device|lib/base/ lib/sys/ lib/net/
lib/pci|lib/base/
lib/cli|lib/base/ lib/json/
lib/testing|lib/
topo/core|lib/
topo/read|lib/ topo/core/
topo/nccl|lib/ topo/core/
topo/gdr|lib/ topo/core/ topo/read/
topo/xml|lib/ topo/core/ topo/read/ topo/nccl/
topo/capture|lib/ topo/read/ topo/gdr/
topo/compare|lib/ topo/nccl/
topo/show|lib/ topo/core/ topo/gdr/ topo/compare/
topo/testing|lib/ topo/
cni/protocol|lib/
cni/record|lib/ cni/protocol/
cni/engine|lib/ cni/protocol/ cni/record/
cni/plugins|lib/ cni/protocol/ cni/engine/
cni/testing|lib/ cni/
ipam/store|lib/
ipam/conf|lib/ cni/protocol/ ipam/store/
ipam/peers|lib/
ipam/lease|lib/ cni/ ipam/store/ ipam/conf/
ipam/alloc|lib/ cni/protocol/ ipam/conf/ ipam/lease/ ipam/peers/
ipam/admin|lib/ ipam/conf/ ipam/lease/ ipam/alloc/
ipam/plugin|lib/ cni/protocol/ ipam/lease/ ipam/alloc/ ipam/peers/
ipam/testing|lib/ cni/ ipam/
sriov/vf|lib/ cni/protocol/ cni/record/
sriov/take|lib/ cni/protocol/ cni/record/ sriov/vf/
sriov/choose|lib/ cni/protocol/ topo/ sriov/vf/ sriov/take/
sriov/admin|lib/ sriov/vf/ sriov/take/ sriov/choose/
sriov/attach|lib/ cni/protocol/ cni/record/ cni/engine/ sriov/vf/ sriov/take/ sriov/choose/
sriov/plugin|lib/ cni/protocol/ cni/engine/ sriov/vf/ sriov/take/ sriov/attach/
sriov/testing|lib/ cni/ topo/ sriov/
rdma/device|lib/
rdma/inventory|lib/ cni/record/ rdma/device/
rdma/plugin|lib/ cni/ rdma/device/
rdma/env|lib/ rdma/inventory/
rdma/qos|lib/
rdma/doctor|lib/ rdma/device/ rdma/inventory/ rdma/env/ rdma/qos/
rdma/testing|lib/ cni/ rdma/
rdma/probe/data|lib/
rdma/probe/wire|lib/
rdma/probe/verbs|lib/ rdma/probe/data/ rdma/probe/wire/
rdma/probe/run|lib/ rdma/probe/data/ rdma/probe/wire/ rdma/probe/verbs/
rdma/probe/cmd|lib/ rdma/probe/data/ rdma/probe/run/
rdma/probe/testing|lib/ rdma/probe/
railctl|lib/
railctl/attachments|lib/ cni/ sriov/ rdma/ railctl/
railctl/ipam|lib/ cni/ ipam/ railctl/
railctl/vf|lib/ sriov/ railctl/
railctl/rdma|lib/ cni/ sriov/ rdma/ railctl/
railctl/topo|lib/ topo/ sriov/ rdma/ railctl/ railctl/rdma/
tools|lib/
conformance|conformance/'
# parts, and the parts that the tests of each may include
parts='
lib|lib/
topo|lib/ topo/
cni|lib/ cni/
ipam|lib/ cni/ ipam/
sriov|lib/ topo/ cni/ sriov/
rdma|lib/ cni/ rdma/
railctl|lib/ topo/ cni/ ipam/ sriov/ rdma/ railctl/
conformance|conformance/
tools|lib/'
# headers | the only files that may include them (a regular expression)
doors='
netlink/|^lib/(net|device|testing)/
linux/netlink.h|^lib/(net|device|testing)/
linux/rtnetlink.h|^lib/(net|device|testing)/
linux/if_link.h|^lib/(net|device|testing)/
linux/if_addr.h|^lib/(net|device|testing)/
linux/neighbour.h|^lib/(net|device|testing)/
rdma/rdma_netlink.h|^lib/(net|device|testing)/
lib/net/nl_msg.h|^lib/(net|device|testing)/
cjson/|^lib/json/
cJSON.h|^lib/json/
lmdb.h|^ipam/store/store_lmdb[^/]*$
expat.h|^topo/xml/
infiniband/|^rdma/probe/verbs/
rdma/rdma_cma.h|^rdma/probe/verbs/
check.h|^lib/testing/testing.h$'
most=25 # files of a room that somebody must read

bad=0
complain()
{
	echo "$*"
	bad=$((bad + 1))
}
is_of_tests() # FILE
{
	case $1 in
	*_test.c | *_fuzz.c | */testing/* | */testing.h | *_contract.[ch]) ;;
	*) return 1 ;;
	esac
}
room_of() # FILE: conformance and tools are one each
{
	case $1 in
	conformance/* | tools/*) echo "${1%%/*}" ;;
	*) echo "${1%/*}" ;;
	esac
}
row() # TABLE NAME: what stands behind the name
{
	echo "$1" | sed -n "s:^$2|::p"
}
# One row serves all files of a room: what may be included, as patterns for a shell.
may() # ROOM TEST
{
	if [ "$2" = yes ]; then
		row "$parts" "${1%%/*}"
	else
		echo "$1/ $(row "$arrows" "$1")"
	fi
}

files=$(find lib topo cni ipam sriov rdma railctl conformance tools -name '*.[ch]' 2>/dev/null | sort)
includes=$(mktemp)
trap 'rm -f "$includes"' EXIT
# One line an include: FILE LINE "what" or <what>
# shellcheck disable=SC2086 # words on purpose
[ -z "$files" ] || awk '/^[ \t]*#[ \t]*include/ {
	match($0, /["<][^">]*[">]/)
	print FILENAME, FNR, substr($0, RSTART, RLENGTH)
}' $files >"$includes"

before=
while read -r file line what; do
	name=${what#?}
	name=${name%?}
	if [ "$file" != "$before" ]; then
		before=$file
		room=$(room_of "$file")
		test=no
		! is_of_tests "$file" || test=yes
		allowed=$(may "$room" "$test")
	fi
	case $what in
	'"'*)
		found=
		for a in $allowed; do
			case $a$test in
			railctl/no) [ "${name%/*}/" != "$a" ] || found=yes ;; # the room, not the part
			*) case $name in "$a"*) found=yes ;; esac ;;
			esac
		done
		[ -n "$found" ] || complain "$file:$line: $room may include: $allowed; not $name"
		[ -e "$name" ] || complain "$file:$line: $name does not exist (name it from the top of the tree)"
		;;
	esac
	if is_of_tests "$name"; then
		is_of_tests "$file" || complain "$file:$line: $name is for tests"
	fi
	case $name in
	*_priv.h)
		[ "${file%/*}" = "${name%/*}" ] || complain "$file:$line: $name is private to ${name%/*}/"
		;;
	*_internal.h) complain "$file:$line: a private header is called X_priv.h" ;;
	esac
	# The conformance suite looks at the kernel from outside and brings its own netlink.
	[ "${file#conformance/}" = "$file" ] || continue
	for rule in $doors; do
		case $name in
		"${rule%%|*}"*)
			echo "$file" | grep -qE "${rule#*|}" ||
				complain "$file:$line: $name belongs behind ${rule#*|}"
			;;
		esac
	done
done <"$includes"

# shellcheck disable=SC2086 # words on purpose
rooms=$(for file in $files; do room_of "$file"; done | sort -u)
for room in $rooms; do
	[ -n "$(echo "$arrows" | sed -n "\\:^$room|:p")" ] || { complain "$room: the table of tools/layers.sh does not know this room"; continue; }
	[ "$room" != tools ] || continue
	[ -e "$room/README.md" ] || { complain "$room/README.md is missing"; continue; }
	want=$(row "$arrows" "$room" | sed 's/ /, /g')
	grep -qxF "May include: ${want:-nothing of this tree}" "$room/README.md" ||
		complain "$room/README.md: must have the line \"May include: ${want:-nothing of this tree}\""
	[ "$room" != conformance ] || continue
	n=0
	for file in $files; do
		if [ "${file%/*}" = "$room" ] && { [ "${room##*/}" = testing ] || ! is_of_tests "$file"; }; then n=$((n + 1)); fi
	done
	[ "$n" -le "$most" ] || complain "$room: $n files that somebody must read, allowed $most: make rooms of it"
done

total=$(wc -l <"$includes")
# An arrow that leads back: a room that another one reaches, which it includes itself.
echo "$arrows" | awk -F '|' '
	NF == 2 && $1 !~ /^(tools|conformance)$/ && $1 !~ /testing$/ {
		n = split($2, to, " ")
		for (i = 1; i <= n; i++) { sub("/$", "", to[i]); way[$1, to[i]] = 1 }
		room[++rooms] = $1
	}
	END {
		for (i = 1; i <= rooms; i++)
			for (j = 1; j <= rooms; j++) {
				part = room[j]; sub("/.*", "", part); own = room[i]; sub("/.*", "", own)
				if (way[room[i], room[j]] || (part != own && way[room[i], part])) reach[i, j] = 1
			}
		for (k = 1; k <= rooms; k++)
			for (i = 1; i <= rooms; i++)
				for (j = 1; reach[i, k] && j <= rooms; j++)
					if (reach[k, j]) reach[i, j] = 1
		for (i = 1; i <= rooms; i++)
			if (reach[i, i]) print room[i] ": an arrow leads back to it"
	}' >"$includes.circles"
while read -r line; do complain "$line"; done <"$includes.circles"

# Two files that need each other are one, or a third is missing. X.c, X.h and X_priv.h are one here, and nl_msg.h is the
# second header of nl.c.
awk '
	function unit(name) { sub(/\.[ch]$/, "", name); sub(/_priv$/, "", name); sub(/\/nl_msg$/, "/nl", name); return name }
	$1 ~ /(_test|_fuzz|_contract)\.[ch]$|\/testing\/|^(conformance|tools)\// || $3 !~ /^"/ { next }
	{ name = $3; gsub(/"/, "", name); if (unit($1) != unit(name)) print unit($1), unit(name) }
' "$includes" | tsort 2>"$includes.circles" >/dev/null || true
sed -n 's/^tsort: //p' "$includes.circles" >"$includes"
while read -r line; do complain "these files include each other in a circle: $line"; done <"$includes"
rm -f "$includes.circles"

for folder in lib topo cni ipam sriov rdma railctl conformance $rooms examples docs packaging tools; do
	[ -e "$folder/README.md" ] || continue
	lines=$(wc -l <"$folder/README.md")
	[ "$lines" -le 60 ] || complain "$folder/README.md: $lines lines; a page is 60"
done

[ "$bad" = 0 ] || { echo "layers: $bad of $total includes or pages break the order"; exit 1; }
echo "layers: $total includes follow the arrows"

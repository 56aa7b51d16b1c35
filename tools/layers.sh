#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Check who includes whom. The arrows are below; each folder's README.md repeats its own in a line
# "May include: lib/, cni/", and the two must agree.
#
# usage: tools/layers.sh [ROOT]
set -eu
export LC_ALL=C

cd "${1:-.}"
# folder | what its files may include from this tree
arrows='
lib|lib/
cni|lib/ cni/
ipam|lib/ cni/ ipam/
sriov|lib/ cni/ sriov/ rdma/affinity/
rdma|lib/ cni/ rdma/
rdma/affinity|lib/ rdma/affinity/
railctl|lib/ cni/ ipam/ sriov/ rdma/ railctl/
tools|lib/
conformance|conformance/'
# headers from outside | the only files that may include them (a regular expression)
doors='
netlink/|^lib/nl[^/]*$
linux/netlink.h|^lib/nl[^/]*$
linux/rtnetlink.h|^lib/nl[^/]*$
linux/if_link.h|^lib/nl[^/]*$
linux/if_addr.h|^lib/nl[^/]*$
linux/neighbour.h|^lib/nl[^/]*$
rdma/rdma_netlink.h|^lib/nl[^/]*$
cjson/|^lib/json[^/]*$
cJSON.h|^lib/json[^/]*$
lmdb.h|^ipam/store_lmdb[^/]*$
expat.h|^rdma/affinity/xml[^/]*$
infiniband/|^rdma/probe/verbs[^/]*$
rdma/rdma_cma.h|^rdma/probe/verbs[^/]*$
check.h|^lib/testing.h$'

bad=0
complain()
{
	echo "$*"
	bad=$((bad + 1))
}

files=$(find lib cni ipam sriov rdma railctl conformance tools -name '*.[ch]' 2>/dev/null | sort)
includes=$(mktemp)
trap 'rm -f "$includes"' EXIT
# One line an include: FILE LINE "what" or <what>
# shellcheck disable=SC2086 # words on purpose
[ -z "$files" ] || awk '/^[ \t]*#[ \t]*include/ {
	match($0, /["<][^">]*[">]/)
	print FILENAME, FNR, substr($0, RSTART, RLENGTH)
}' $files >"$includes"

while read -r file line what; do
	name=${what#?}
	name=${name%?}
	case $what in
	'"'*)
		# rdma/affinity is below rdma and sriov, and a folder of its own.
		case $file in
		rdma/affinity/*) folder=rdma/affinity ;;
		*) folder=${file%%/*} ;;
		esac
		allowed=$(echo "$arrows" | sed -n "s:^$folder|::p")
		case " $allowed " in
		*" ${name%%/*}/ "* | *" ${name%/*}/ "*) ;;
		*) complain "$file:$line: $folder/ may include: $allowed; not $name" ;;
		esac
		[ -e "$name" ] || complain "$file:$line: $name does not exist (name it from the top of the tree)"
		;;
	esac
	case $name in
	*/testing* | *_contract.h)
		case $file in
		*_test.c | *_fuzz.c | */testing* | *_contract.[ch]) ;;
		*) complain "$file:$line: $name is for tests" ;;
		esac
		;;
	lib/nl_priv.h | lib/*_internal.h | cni/*_priv.h | cni/*_internal.h | ipam/*_priv.h)
		[ "${file%%/*}" = "${name%%/*}" ] || complain "$file:$line: $name is private to ${name%%/*}/"
		;;
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

for folder in lib cni ipam sriov rdma rdma/affinity railctl conformance; do
	[ -e "$folder/README.md" ] || { complain "$folder/README.md is missing"; continue; }
	want=$(echo "$arrows" | sed -n "s:^$folder|::p" | sed 's/ /, /g')
	grep -qxF "May include: $want" "$folder/README.md" ||
		complain "$folder/README.md: must have the line \"May include: $want\""
done
for folder in lib cni ipam sriov rdma rdma/affinity railctl conformance examples docs packaging tools; do
	[ -e "$folder/README.md" ] || continue
	lines=$(wc -l <"$folder/README.md")
	[ "$lines" -le 60 ] || complain "$folder/README.md: $lines lines; a page is 60"
done

total=$(wc -l <"$includes")
[ "$bad" = 0 ] || { echo "layers: $bad of $total includes or pages break the order"; exit 1; }
echo "layers: $total includes follow the arrows"

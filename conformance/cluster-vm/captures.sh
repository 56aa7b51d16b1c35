# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# captures.sh: the node with the PCIe tree of a captured machine. Sourced by run.sh; trees.sh is its part in the guest.
#
# The cards are in place of two HCAs of the capture: each function has the path that it had there, and the cards' own files are real.

# functions_of FILE: of a capture in topo/testdata, a line each: PATH CLASS VENDOR DEVICE NUMA WIDTH SPEED. A file of NCCL omits the root
# ports, so each function below a processor gets one.
functions_of()
{
	local at
	case $1 in
	*.xml)
		awk 'function attribute(name) {
				return match($0, " " name "=\"[^\"]*\"") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4) : "-"
			}
			/<cpu / { numa = attribute("numaid"); depth = 0 }
			/<pci / {
				id = attribute("busid"); domain = substr(id, 1, 7)
				if (!depth) {
					path[0] = "pci" domain "/" domain ":1f.0"
					print path[0], "0x060400 0x8086 0x352a", numa, "16 32.0 GT/s PCIe"
				}
				path[depth + 1] = path[depth] "/" id
				print path[depth + 1], attribute("class"), attribute("vendor"), attribute("device"), numa, attribute("link_width"), attribute("link_speed")
				if (!/\/>/) depth++
			}
			/<\/pci>/ { depth-- }' "$1"
		;;
	*)
		mkdir -p "$W/capture" && tar -C "$W/capture" --strip-components 1 -xf "$1" || return
		for at in "$W"/capture/sys/bus/pci/devices/*; do
			echo "$(readlink "$at" | sed 's,.*/devices/,,') $(cd "$at" && cat class vendor device numa_node max_link_width max_link_speed | xargs)"
		done | sort
		rm -r "$W/capture"
		;;
	esac
}

# captured FILE PF=ADDRESS...: the node is that machine from now on, with these PFs in place of the HCAs at the addresses.
captured()
{
	local pf places=''
	for pf in "${@:2}"; do
		places+=" ${pf#*=}=$(node 1 basename "$(node 1 readlink "/sys/class/net/${pf%%=*}/device")")"
	done
	functions_of "$TOP/topo/testdata/$1" | awk -v places="$places" '
		BEGIN { n = split(places, p, " "); for (i = 1; i <= n; i++) { split(p[i], x, "="); card[x[1]] = x[2] } }
		{ id = $1; sub(/.*\//, "", id) }
		id in card { sub(/[^\/]*$/, card[id], $1); $0 = $1 " card " $5 }
		{ print }' >"$W/tree"
	eq "cards in $1" "$(grep -c ' card ' "$W/tree")" $(($# - 1))
	is "the tree of $1" guest tree_begins <"$W/tree"
}

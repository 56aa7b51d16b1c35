# SPDX-License-Identifier: Apache-2.0
# keys.awk: the words that manual pages mark as keys (.Cm), one a line; a prefix "ipam." is cut.
/^\./ {
	on = 0
	for (i = 1; i <= NF; i++) {
		if ($i == "Cm" || $i == ".Cm") {
			on = 1
			continue
		}
		if ($i ~ /^(No|Pq|Li|Ev|Ql|Qq|Pa|Ns|Ar|Po|Pc)$/) {
			on = 0
			continue
		}
		if (on) {
			sub(/^ipam\./, "", $i)
			print $i
		}
	}
}

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 240
# sriov: the sriov plugin on true VFs: the attributes that it sets, as the kernel shows them, and remains.
# CASES: which parts of sriov/.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/suites/sriov/lib.sh
. conformance/vm/suites/sriov/lib.sh

cards_up
cable
for part in ${CASES:-attach attributes follow lost admin tuning tier mac names bytes owners resource kill gone}; do
	echo "# $part, $(cut -d. -f1 /proc/uptime) s"
	# shellcheck source=/dev/null
	. "conformance/vm/suites/sriov/$part.sh"
done
cards_down
echo "# $(cut -d. -f1 /proc/uptime) s"
finish

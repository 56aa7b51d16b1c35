# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# seconds: 150
# vf: railctl vf on true VFs: made, listed, bound, put back after a vandal, forgotten, restored by the node agent, made at boot.
# CASES: which parts of vf/.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/suites/sriov/lib.sh
. conformance/vm/suites/sriov/lib.sh
# shellcheck source=conformance/vm/suites/vf/lib.sh
. conformance/vm/suites/vf/lib.sh

# Up or down is what an earlier suite left; create.sh wants them as after a boot.
ip link set "$A" down
ip link set "$B" down
for part in ${CASES:-create owners repair bind gc agent apply half}; do
	echo "# $part, $(cut -d. -f1 /proc/uptime) s"
	# shellcheck source=/dev/null
	. "conformance/vm/suites/vf/$part.sh"
done
check "no VFs" vf create --pf "$A" --count 0
check "no VFs" vf create --pf "$B" --count 0
rm -rf /run/railhead /var/lib/railhead /etc/railhead
echo "# $(cut -d. -f1 /proc/uptime) s"
finish

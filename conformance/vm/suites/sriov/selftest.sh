# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# selftest.sh: a suite of its own: wrong plugins, each of which a part of sriov must catch.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
WRONG=/tmp/wrong
VF0=0000:01:10.0
mkdir -p $WRONG
ln -s "$BIN"/* $WRONG
rm $WRONG/sriov

tidy()
{
	local pf
	for pf in $(ip netns list | cut -d' ' -f1); do ip netns del "$pf"; done
	for pf in $PFS; do echo 0 >"/sys/class/net/$pf/device/sriov_numvfs"; done
	rm -rf /run/railhead /var/lib/railhead /run/work
}
# wrong WHAT PART CHECK BODY: a plugin with this body; that check of that part must fail.
wrong()
{
	cat >$WRONG/sriov <<-END
		#!/bin/bash
		conf=\$(cat)
		real() { "$BIN/sriov" <<<"\$conf"; }
		after() { real; rc=\$?; [ \$CNI_COMMAND != "\$1" ] || "\${@:2}" >/dev/null 2>&1; exit \$rc; }
		$4
	END
	chmod +x $WRONG/sriov
	BIN=$WRONG CASES=$2 bash conformance/vm/suites/sriov.sh >/tmp/said 2>&1
	check "$1 is caught" grep -E "^not ok [0-9]+ - $3$" /tmp/said
	tidy
}

wrong "a DEL that does nothing" attach "all is as it was" '[ $CNI_COMMAND = DEL ] || real'
wrong "a VLAN that is left" attributes "all are put back" 'after DEL ip link set pf0 vf 0 vlan 9'
wrong "a MAC that is not set" mac "of the configuration: the kernel says so" 'conf=$(jq -c "del(.mac)" <<<"$conf"); real'
wrong "a name that is not given back" names "all of them are there again" \
	"real; rc=\$?; [ \$CNI_COMMAND != DEL ] || ip link set \$(ls /sys/bus/pci/devices/$VF0/net) name other9; exit \$rc"
wrong "a dump with statistics" bytes "never with statistics" 'ip -s link show pf1 >/dev/null; real'
wrong "a late DEL that acts" owners "new pod: nothing has changed" 'after DEL ip link set pf0 vf 0 vlan 9'
wrong "a VF for two" resource "have 14 different VFs" 'real | sed "s/01:10\.2/01:10.0/"; exit ${PIPESTATUS[0]}'
finish

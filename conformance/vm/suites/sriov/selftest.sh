# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# selftest.sh: a suite of its own: wrong plugins, each of which a part of sriov must catch; with an IOMMU, suites vfio and
# vfio-rails.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/suites/sriov/wrong.sh
. conformance/vm/suites/sriov/wrong.sh
VF0=0000:01:10.0
# A short limit: the events that a wrong plugin omits never come.
export LAST_RESORT=20

if [ -n "$(ls -A /sys/class/iommu)" ]; then
	wrong "a VLAN that is left" vfio "all is as it was" 'after DEL ip link set pf0 vf 0 vlan 9'
	wrong "a MAC that is not set" vfio "its PF says so" 'without mac'
	wrong "a VLAN that is left on the second rail" vfio-rails "all is as it was" 'after DEL ip link set pf1 vf 0 vlan 9'
	wrong "trust that is not set" vfio-rails "each PF says so" 'without trust'
	wrong "a CHECK that does not look" vfio-rails "CHECK names the rail whose VF differs" '[ $CNI_COMMAND = CHECK ] || real'
	wrong "a key that is passed over" vfio-rails '"routing":"rail" is refused' 'without routing'
	finish
fi
wrong "a DEL that does nothing" attach "all is as it was" '[ $CNI_COMMAND = DEL ] || real'
wrong "an interface that stays down" attach "the VF is in the pod, up, under its name" 'after ADD ip -n a link set net1 down'
wrong "a CHECK that does not look" gone "CHECK finds it" '[ $CNI_COMMAND = CHECK ] || real'
wrong "a DEL that changes a newer VF" gone "does nothing to it" 'after DEL ip link set pf0 vf 0 vlan 9'
wrong "a DEL that needs the VF" gone "DEL" "[ \$CNI_COMMAND != DEL ] || [ -e /sys/bus/pci/devices/$VF0 ] || exit 1; real"
wrong "a VLAN that is left" attributes "after their VLANs they reach each other" 'after DEL ip link set pf0 vf 0 vlan 5'
wrong "a VLAN that is left" attributes "all are put back" 'after DEL ip link set pf0 vf 0 vlan 9'
wrong "a rate that is not set" attributes "rate: the kernel says so" 'without max_tx_rate'
wrong "a link_state that is passed over" attributes "link_state is refused" 'without link_state'
wrong "a tier that is not kept" tier "tier: the kernel says so" 'after ADD ip link set pf0 vf 0 max_tx_rate 0'
wrong "a MAC that is not set" mac "of the configuration: the kernel says so" 'without mac'
wrong "a name that is not given back" names "all of them are there again" \
	"real; rc=\$?; [ \$CNI_COMMAND != DEL ] || ip link set \$(ls /sys/bus/pci/devices/$VF0/net) name other9; exit \$rc"
wrong "a dump with statistics" bytes "never with statistics" 'ip -s link show pf1 >/dev/null; real'
wrong "a late DEL that acts" owners "new pod: nothing has changed" 'after DEL ip link set pf0 vf 0 vlan 9'
wrong "a VF for two" resource "have 14 different VFs" 'real | sed "s/01:10\.2/01:10.0/"; exit ${PIPESTATUS[0]}'
wrong "a DEL that leaves what was killed" kill "(ADD|DEL) killed at request [0-9]+: as before" '[ $CNI_COMMAND = DEL ] || real'
finish

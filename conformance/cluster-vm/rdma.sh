# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# rdma.sh: pods whose VF brings its RDMA device. Sourced by run.sh.
#
# rxe.sh in the guest puts the devices below the VFs of pf0: hca0 below the first, hca1 below the second.

devices_of() { inside "$1" rdma -j dev | jq -r '[.[].ifname] | sort | join(" ")'; }
# device_of BDF: what the guest put below this VF.
device_of() { node 1 ls "/sys/bus/pci/devices/$1/infiniband"; }

test_rdma_exclusive()
{
	local all
	trap 'kn delete --wait --now pod --all; guest rdma_ends' EXIT
	is 'RDMA devices' guest rdma_begins
	is 'mode exclusive' guest eventually node 1 railctl rdma mode exclusive --modprobe-dir /run
	all=$(node 1 ls /sys/class/infiniband)
	eq 'RDMA devices of the host' "$(xargs <<<"$all")" 'hca0 hca1'
	rail roce pf0 '"rdma": "exclusive"'
	pod a roce
	running a
	has_vf a pf0
	eq 'RDMA devices of a' "$(devices_of a)" "$(device_of "$VF")"
	eq 'in the container' "$(kn exec a -- ls /sys/class/infiniband)" "$(device_of "$VF")"
	eq 'RDMA devices of the host' "$(node 1 ls /sys/class/infiniband)" "$(grep -vx "$(device_of "$VF")" <<<"$all")"
	pod b roce
	running b
	has_vf b pf0
	eq 'RDMA devices of b' "$(devices_of b)" "$(device_of "$VF")"
	eq 'those of both, by their records' "$(node 1 railctl attachments list --json | jq -r '.[].rdma' | sort)" "$all"
	eq 'those of both' "$(printf '%s\n' "$(devices_of a)" "$(devices_of b)" | sort)" "$all"
	eq 'RDMA devices of the host' "$(node 1 ls /sys/class/infiniband)" ''
	delete a b
	eq 'RDMA devices of the host' "$(node 1 ls /sys/class/infiniband)" "$all"
}

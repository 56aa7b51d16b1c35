# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# node.sh: the node n1 in the guest, whose kernel and network namespace it has. Sourced there by guest.sh and calls.sh.
W=/run/work
HERE=$PWD/conformance/cluster
CLUSTER=$(</vm/job/node/cluster)
TREE=$CLUSTER/tree
FROM=/vm/bin
for part in node world multus; do
	# shellcheck disable=SC1090
	. "$HERE/$part.sh"
done
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh

for part in rxe hcas gpus trees; do
	# shellcheck disable=SC1090
	. "conformance/cluster-vm/$part.sh"
done

# ends: guest.sh waits for this word.
ends() { echo ends >"$W/end"; }

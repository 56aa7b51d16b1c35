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

# rails_by gate|chain: with the entry of railhead in the file of the pod network, or without.
rails_by() { multus_thin 1 "$(cluster_network 1 | jq -c 'if "'"$1"'" == "chain" then .plugins += [{type: "railhead"}] else . end')"; }
# kills NAME EVENT: the processes with that name, as soon as this command succeeds.
kills() { node 1 timeout 300 bash -c 'until eval "$2"; do sleep 0.01; done; pkill -KILL -x "$1"' - "$1" "$2"; }

# ends: guest.sh waits for this word.
ends() { echo ends >"$W/end"; }

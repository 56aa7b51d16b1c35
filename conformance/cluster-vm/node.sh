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
# kills NAME SECONDS: the processes with that name, so long after the first of them has begun.
kills() { node 1 timeout 300 bash -c 'until pgrep -x "$1" >/dev/null; do sleep 0.02; done; sleep "$2"; pkill -KILL -x "$1"' - "$1" "$2"; }

# ends: guest.sh waits for this word.
ends() { echo ends >"$W/end"; }

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# demo-rdma-guest.sh: what demo-rdma.sh shows, run in the guest: pods attached by a chain, what NCCL needs to know, traffic.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/guest/rdma.sh
. conformance/vm/guest/rdma.sh

title() { printf '\n%s\n' "$1"; }
tell() { printf '   %s\n' "$@"; }
typed() { printf '   $ %s\n' "$*"; }
shown() { sed 's/^/     /'; }
# does WHAT COMMAND...: one line that says how it went; what the command printed only when it failed.
does()
{
	if "${@:2}" >$W/said 2>&1; then
		passed=$((passed + 1))
		printf '   ok  %s\n' "$1"
	else
		failed=$((failed + 1))
		printf '   failed  %s\n' "$1"
		shown <$W/said
	fi
}

read -r A B <<<"$PFS"
modprobe -a rdma_rxe ib_uverbs rdma_ucm macvlan
ip link set "$A" up
ip link set "$B" up
IPAM='"ipam":{"type":"railhead-ipam","subnet":"10.90.0.0/24"}'
CA=$(conf macvlan rail "\"master\":\"$A\",$IPAM") CB=$(conf macvlan rail "\"master\":\"$B\",$IPAM")

title "1. Two cards with a cable between them, and a network"
tell "The cards are $A and $B. A pod gets a macvlan of one, an address, and the plugin rdma behind it looks after RoCE:"
jq -c --argjson c "$CA" -n '{cniVersion: $c.cniVersion, name: $c.name, plugins: [($c | del(.cniVersion, .name)), {type: "rdma", mode: "shared"}]}' |
	sed 's/"plugins":\[/\n  "plugins":[\n    /; s/},{"type":"rdma"/},\n    {"type":"rdma"/; s/]}$/\n  ]}/' | shown
tell "A card would have an RDMA device. Here Linux' own, made of software (rxe), stands for it on each pod's interface."

title "2. Two pods are attached"
for p in pod-a:$A pod-b:$B; do
	[ "${p#*:}" = "$A" ] && c=$CA || c=$CB
	does "${p%:*} on ${p#*:}" attach "${p%:*}" "$c" '"mode":"shared"'
	jq -r '"interface  \(.interfaces[-1].name), \(.ips[0].address)",
		(.rdma | "RDMA       \(.device) port \(.port), GID \(.gids[0].index): \(.gids[0].gid), \(.gids[0].type)")' "$W/out.${p%:*}" | shown
done

title "3. What NCCL needs to know, found in the pod"
for p in pod-a pod-b; do
	typed "railctl rdma env                                   # in $p"
	does "printed" env_of $p
	shown <$W/env.$p
done

title "4. Data passes, and every byte is checked"
tell "rdma-probe runs in both pods, with device, port and GID as printed above and nothing else."
typed "rdma-probe serve   --device rxe_pod-b:1 --gid-index $(with_env pod-b 'echo $GID')                # in pod-b"
typed "rdma-probe connect $(address pod-b) --device rxe_pod-a:1 --gid-index $(with_env pod-a 'echo $GID') --no-cm  # in pod-a"
before=$(sent pod-a)
does "RoCE from pod-a to pod-b and back" exchange pod-a pod-b --no-cm
shown <$W/run.pod-a
tell "pod-a's RDMA device sent $(($(sent pod-a) - before)) packets. The machine is emulated: its rates say nothing of yours."

title "5. The pods go"
for p in pod-a:"$CA" pod-b:"$CB"; do does "DEL of ${p%%:*}" detach "${p%%:*}" "${p#*:}" && ip netns del "${p%%:*}"; done
nothing_left() { [ -z "$(rdma link)$(find /run/railhead -name '*,net1')" ]; }
does "no RDMA device and no record is left" eventually nothing_left
finish

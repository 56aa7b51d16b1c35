# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 60
# needs: movable
# rdma-move: mode exclusive in earnest: RDMA devices move into pods behind sriov, and come back. QUICK=1: fewer of them.
#
# The cards have no RDMA, so rxe devices on interfaces of the host stand for those of the VFs: a copy of
# /sys/bus/pci/devices shows one below each VF. Kernels before 7.3 do not move rxe; movable.ko lets them.
. conformance/vm/guest/lib.sh
W=/run/work
COUNT=${QUICK:+4}
COUNT=${COUNT:-7}
# A suite before this one may have left its own copy of /sys.
rm -rf $W && mkdir -p $W
read -r A B <<<"$PFS"
modprobe -a rdma_rxe ib_uverbs macvlan
insmod "$TREE/build/vm/movable-$WANT_KERNEL/movable.ko"
check "mode exclusive, while there are no namespaces" eventually "$BIN/railctl" rdma mode exclusive --modprobe-dir $W
check "it would be so at boot" is "$("$BIN/railctl" rdma mode --json --modprobe-dir $W | jq -r '.mode + .atBoot')" exclusiveexclusive

# ---- the node ----
ip link set "$A" up
ip link set "$B" up
vfs "$A" $COUNT && vfs "$B" $COUNT
VFS=()
for pf in "$A" "$B"; do for ((i = 0; i < COUNT; i++)); do VFS+=("$(pci "$pf" "$i")"); done; done
cp -a /sys/bus/pci/devices $W/bus
for i in "${!VFS[@]}"; do
	v=${VFS[$i]}
	real=$(realpath "/sys/bus/pci/devices/$v")
	ip link add "s$i" link "$A" type macvlan mode bridge && ip link set "s$i" up && rdma link add "hca$i" type rxe netdev "s$i"
	rm "$W/bus/$v" && mkdir -p "$W/bus/$v/infiniband/hca$i" "$W/bus/$v/infiniband_verbs/uverbs$i" && ln -s "$(readlink -f "$real/driver")" "$W/bus/$v/driver"
done
# with COMMAND...: it sees those in its /sys.
# shellcheck disable=SC2016 # expanded by that shell
with() { unshare -m bash -c 'mount --bind '$W'/bus /sys/bus/pci/devices && exec "$@"' with "$@"; }

# ---- calls ----
conf() { printf '{"cniVersion":"1.1.0","name":"rails","type":"%s"%s}' "$1" "${2:+,$2}"; }
call() # VERB PLUGIN POD CONF [COMMAND...]: the answer is in $W/POD.out
{
	CNI_COMMAND=$1 CNI_CONTAINERID=$3 CNI_NETNS=${NETNS-/run/netns/$3} CNI_IFNAME=net1 CNI_PATH=$BIN "${@:5}" "$BIN/$2" \
		<<<"$4" >"$W/$3.out" 2>"$W/$3.log" || { cat "$W/$3.out" "$W/$3.log" && false; }
}
rdma_call() { call "$1" rdma "$2" "$3" with "${@:4}"; }
behind() { jq -c --slurpfile r "$W/$1.prev" '. + {prevResult: $r[0]}' <<<"$2"; }
# attach POD N [KEYS]: VF number N, then its RDMA device.
attach()
{
	call ADD sriov "$1" "$(conf sriov "\"deviceID\":\"${VFS[$2]}\"")" && cp "$W/$1.out" "$W/$1.prev" &&
		rdma_call ADD "$1" "$(behind "$1" "$(conf rdma "\"deviceID\":\"${VFS[$2]}\"${3:+,$3}")")"
}
detach() { rdma_call DEL "$1" "$(conf rdma)" && call DEL sriov "$1" "$(conf sriov)"; }
says() { [ "$(jq -r "$2" "$W/$1.out")" = "$3" ] || { cat "$W/$1.out" && false; }; }
refused() { refused_in "$W/$1.out" "${@:2}"; } # POD CODE WORD COMMAND...
# The devices of a node, and the records.
state() { numbers && devices && find /run -path '/run/railhead/*' -name '*,net1'; }
as_before() { diff $W/before <(state); }
state >$W/before

# ---- one pod ----
ip netns add p
check "ADD of the chain" attach p 3
check "the device is in the pod" is "$(devices p)" hca3
check "and not at home" isnt grep -qw hca3 <(devices)
check "with the same character device" is "$(numbers)" "$(head -n ${#VFS[@]} $W/before)"
check "the result says so" says p '.rdma | [.mode, .device, .pciID] | join(" ")' "exclusive hca3 ${VFS[3]}"
check "a fresh /sys of the pod shows it" is "$(ip netns exec p ls /sys/class/infiniband)" hca3
check "CHECK" rdma_call CHECK p "$(behind p "$(conf rdma)")"
check "a second ADD" refused p 103 "run DEL" rdma_call ADD p "$(behind p "$(conf rdma)")"
check "DEL" detach p
check "all is as before" as_before
check "ADD with a name" attach p 4 '"deviceName":"roce0"'
check "it has it" is "$(devices p)" roce0
check "CHECK with a name" rdma_call CHECK p "$(behind p "$(conf rdma)")"
check "DEL of it" detach p
check "the old name is back" as_before

# ---- the namespace goes ----
check "ADD, and the pod is killed" attach p 5 '"deviceName":"roce0"'
ip netns del p
NETNS='' check "DEL without namespace" detach p
check "the kernel brought it, we the name" as_before
ip netns add p
check "ADD, and a process stays" attach p 6
ip netns exec p sleep infinity &
sleeper=$!
eventually is_elsewhere $sleeper
ip netns del p
NETNS='' check "DEL finds the namespace of a process that stayed" detach p
check "as before, while that lives" as_before
kill $sleeper
NETNS='' check "DEL again when that has gone" detach p
check "as before, after a process that stayed" as_before
ip netns add p
attach p 2 >/dev/null
ip -n p link set net1 down && ip -n p link set net1 name other
check "repair leaves alone who renamed" isnt with "$BIN/railctl" attachments repair
check "the device is in the pod" isnt grep -qw hca2 <(devices)
check "repair by force of what no DEL comes for" with "$BIN/railctl" attachments repair --force rails p net1
check "the device is at home" grep -qw hca2 <(devices)
detach p >/dev/null
ip netns del p

# ---- the node agent ----
# It sees the true /sys, so it restores the VF, too. The kernel returns the device, and the agent its name.
at_home() { grep -qw "$1" <(devices); }
repaired() # KIND: the agent counts one
{
	curl -sS --max-time 60 --unix-socket /run/railhead/metrics.sock http://localhost/metrics >$W/metrics &&
		grep -qxF "railhead_repairs_total{kind=\"$1\"} 1" $W/metrics || { grep ^railhead_repair $W/metrics; cat $W/agent.log; false; }
}
ip netns add p
check "ADD, and no DEL comes" attach p 5 '"deviceName":"roce0"'
ip netns del p
check "the kernel returns the device" eventually at_home roce0
echo '{"node":"host","repair":{"every":1,"grace":1}}' >$W/agent.json
"$BIN/railheadd" --config $W/agent.json >$W/agent.log 2>&1 </dev/null &
agent=$!
check "the agent repairs the attachment of the device" eventually repaired rdma
check "and that of the interface" eventually repaired attachment
check "the log names both" is "$(grep -c 'repaired [a-z]* rails p net1: netns-gone: ' $W/agent.log)" 2
check "the device has its old name" as_before
check "the VF is free" is "$("$BIN/railctl" vf list --json | jq -r --arg vf "${VFS[5]}" '.[] | select(.pciAddress == $vf) | .use')" free
kill $agent
wait $agent
NETNS='' check "a late DEL" detach p

# ---- numbers that move ----
ip netns add p
rdma link delete hca0
check "a lower number became free" refused p 104 "uverbs1 was" attach p 1
check "the device is back at home" grep -qw hca1 <(devices)
call DEL sriov p "$(conf sriov)"
ip netns del p
for i in "${!VFS[@]}"; do rdma link delete "hca$i" 2>/dev/null; done
for i in "${!VFS[@]}"; do rdma link add "hca$i" type rxe netdev "s$i"; done
state >$W/before

# ---- all at once ----
for i in "${!VFS[@]}"; do ip netns add "q$i"; done
all() # FUNCTION: of all pods at the same time
{
	local pids=() i rc=0
	for i in "${!VFS[@]}"; do
		"$1" "q$i" "$i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i" || rc=1; done
	return $rc
}
check "${#VFS[@]} ADDs at once" all attach
there=
for i in "${!VFS[@]}"; do there+="$(devices "q$i") "; done
check "each pod has its own" is "$there" "$(printf 'hca%d ' "${!VFS[@]}")"
check "no character device was swapped" is "$(numbers)" "$(head -n ${#VFS[@]} $W/before)"
check "${#VFS[@]} DELs at once" all detach
check "all are back" as_before

# ---- killed, in place of a request to the kernel ----
broken= kills=0 QUICK=${QUICK-}
KILL="strace -f -qq -o $W/trace -e trace=sendto -e inject=sendto:signal=KILL:when="
for ((nth = 1; nth < 60; nth += ${QUICK:+3} + 1)); do
	attach q0 0 >/dev/null && detach q0 >/dev/null || broken+=" before"
	call ADD sriov q0 "$(conf sriov "\"deviceID\":\"${VFS[0]}\"")" >/dev/null && cp $W/q0.out $W/q0.prev
	# shellcheck disable=SC2086 # words
	rdma_call ADD q0 "$(behind q0 "$(conf rdma)")" $KILL$nth >/dev/null
	grep -q 'killed by SIGKILL' $W/trace && kills=$((kills + 1)) || nth=60
	detach q0 >/dev/null && as_before || broken+=" $nth"
done
check "an ADD that is killed at a request, and DEL" is "$broken" ""
echo "# killed $kills times"
check "it was killed often enough" test $kills -ge $((${#QUICK} ? 2 : 6))
for i in "${!VFS[@]}"; do ip netns del "q$i"; done
vfs "$A" 0
vfs "$B" 0
for i in "${!VFS[@]}"; do rdma link delete "hca$i"; ip link del "s$i"; done
check "mode shared again" eventually "$BIN/railctl" rdma mode shared --modprobe-dir $W
rmmod movable
finish

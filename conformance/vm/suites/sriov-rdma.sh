# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 90
# needs: movable
# sriov-rdma: sriov with "rdma": "exclusive" on true VFs: one plugin moves interface and RDMA device into the pod, and brings both
# back. rdma-move has the same for a list of sriov and rdma. FULL=1: killed at each request; QUICK=1: at few.
#
# The cards have no RDMA, so rxe devices on interfaces of the host stand for those of the VFs: a copy of
# /sys/bus/pci/devices shows one below each VF but the last. Kernels before 7.3 do not move rxe; movable.ko lets them.
. conformance/vm/guest/lib.sh
W=/run/work
# A suite before this one may have left its own copy of /sys.
rm -rf $W && mkdir -p $W/bin
# The emulated processor reads a program from the host's file system tenfold slower than from its own.
cp "$BIN"/{sriov,rails,rdma,railhead-ipam,railctl} $W/bin
BIN=$W/bin
read -r A B <<<"$PFS"
modprobe -a rdma_rxe ib_uverbs macvlan
insmod "$TREE/build/vm/movable-$WANT_KERNEL/movable.ko"

# ---- the node ----
LAST=3
ip link set "$A" up
ip link set "$B" up
vfs "$A" $((LAST + 1))
VFS=()
for ((i = 0; i <= LAST; i++)); do VFS+=("$(pci "$A" "$i")"); done
cp -a /sys/bus/pci/devices $W/bus
# A folder in place of a VF: its links, and places for the folder of its interface and for an RDMA device.
for i in "${!VFS[@]}"; do
	v=${VFS[$i]}
	real=$(realpath "/sys/bus/pci/devices/$v")
	rm "$W/bus/$v" && mkdir -p "$W/bus/$v/net"
	for link in driver physfn; do ln -s "$(readlink -f "$real/$link")" "$W/bus/$v/$link"; done
	ln -s "$real" "$W/bus/$v/real"
	[ "$i" = $LAST ] || mkdir "$W/bus/$v/infiniband" "$W/bus/$v/infiniband_verbs"
	[ "$i" = $LAST ] || mkdir "$W/bus/$v/infiniband/hca$i" "$W/bus/$v/infiniband_verbs/uverbs$i"
done
rxe_all()
{
	local i
	for ((i = 0; i < LAST; i++)); do
		[ -e "/sys/class/net/s$i" ] || { ip link add "s$i" link "$A" type macvlan mode bridge && ip link set "s$i" up; } || return
		rdma link add "hca$i" type rxe netdev "s$i" || return
	done
}
check "RDMA devices" rxe_all
# with COMMAND...: it sees those in its /sys.
# shellcheck disable=SC2016 # expanded by that shell
with()
{
	unshare -m bash -c 'b=/sys/bus/pci/devices; mount --bind "$0/bus" $b || exit
		for v in '"${VFS[*]}"'; do mount --bind $b/$v/real/net $b/$v/net || exit; done
		exec "$@"' $W "$@"
}

# ---- calls ----
conf() { printf '{"cniVersion":"1.1.0","name":"rails","type":"%s"%s}' "$1" "${2:+,$2}"; }
on() { conf sriov "\"deviceID\":\"${VFS[$1]}\",\"rdma\":\"exclusive\"${2:+,$2}"; } # N [KEYS]
call() # VERB POD CONF [COMMAND...]: the answer is in $W/POD.out
{
	CNI_COMMAND=$1 CNI_CONTAINERID=$2 CNI_NETNS=${NETNS-/run/netns/$2} CNI_IFNAME=net1 CNI_PATH=$BIN CNI_ARGS=${CARGS-} \
		with "${@:4}" "$BIN/$(jq -r .type <<<"$3")" <<<"$3" >"$W/$2.out" 2>"$W/$2.log" || { cat "$W/$2.out" "$W/$2.log" && false; }
}
status() { CNI_COMMAND=STATUS CNI_PATH=$BIN with "$BIN/sriov" <<<"$1" >$W/p.out 2>$W/p.log || { cat $W/p.out $W/p.log && false; }; }
# POD CONF: libcni passes these keys of a result on, and no others.
behind() { jq -c --slurpfile r "$W/$1.prev" '. + {prevResult: ($r[0] | with_entries(select(.key | IN("cniVersion", "interfaces", "ips", "routes", "dns"))))}' <<<"$2"; }
add() { call ADD "$1" "$2" && cp "$W/$1.out" "$W/$1.prev"; }
says() { [ "$(jq -r "$2" "$W/$1.out")" = "$3" ] || { cat "$W/$1.out" && false; }; }
refused() { refused_in "$W/$1.out" "${@:2}"; } # POD CODE WORD COMMAND...
# The devices and interfaces on the host, the owners of VFs, and the records.
state()
{
	local v
	numbers && devices
	for v in "${VFS[@]}"; do echo "$v $(netdev "$v")"; done
	grep -l '"owner"' /run/railhead/vf/* 2>/dev/null
	find /run -path '/run/railhead/*' -name '*,net1'
}
as_before() { diff $W/before <(state); }
pods() { for p; do ip netns add "$p" || return; done; }
no_pods() { for p; do ip netns del "$p" || return; done; }

# ---- mode shared ----
check "the node is in mode shared: STATUS" refused p 50 "rdma: this node is in RDMA mode shared" status "$(on 0)"
pods p
check "the node is in mode shared: ADD" refused p 104 "railctl rdma mode exclusive" call ADD p "$(on 0)"
no_pods p
check "mode exclusive, when there are no namespaces" eventually "$BIN/railctl" rdma mode exclusive --modprobe-dir $W
state >$W/before
pods p

# ---- one pod ----
check "STATUS" status "$(on 1)"
check "ADD" add p "$(on 1)"
check "the RDMA device is in the pod" is "$(devices p)" hca1
check "and not on the host" isnt grep -qw hca1 <(devices)
check "so is the interface" ip -n p link show net1
check "with the same character device" is "$(numbers)" "$(head -n $LAST $W/before)"
check "the result says so" says p '.rdma | [.mode, .device, .pciID, .charDevices[0]] | join(" ")' "exclusive hca1 ${VFS[1]} /dev/infiniband/uverbs1"
check "and names the VF" says p '.interfaces[-1].pciID' "${VFS[1]}"
check "a fresh /sys of the pod shows it" is "$(ip netns exec p ls /sys/class/infiniband)" hca1
check "CHECK" call CHECK p "$(behind p "$(on 1)")"
check "a second ADD" refused p 103 "run DEL" call ADD p "$(on 1)"
check "the plugin rdma behind it" refused p 7 "remove the plugin rdma" call ADD p "$(behind p "$(conf rdma)")"
check "its DEL changes nothing" call DEL p "$(conf rdma)"
check "the RDMA device is still in the pod" is "$(devices p)" hca1
check "railctl attachments names it" is "$("$BIN/railctl" attachments list --json | jq -r '.[].rdma')" hca1
ip netns attach host 1
check "the pod gives the device away" ip netns exec p rdma dev set hca1 netns host
ip netns del host
check "CHECK sees it" refused p 104 "is not in the pod" call CHECK p "$(behind p "$(on 1)")"
check "DEL" call DEL p "$(on 1)"
check "all is as before" as_before
check "a second DEL" call DEL p "$(on 1)"
check "ADD, and the pod renames the device" add p "$(on 0)"
ip netns exec p rdma dev set hca0 name mine
check "DEL without the key" call DEL p "$(conf sriov "\"deviceID\":\"${VFS[0]}\"")"
check "the old name is back" as_before
check "ADD of any VF" add p "$(conf sriov "\"resource\":{\"pf\":[\"$A\"]},\"rdma\":\"exclusive\"")"
check "the pod has the device of this VF" is "$(devices p)" hca0
check "GC" call GC p "$(on 0 '"cni.dev/valid-attachments":[]')"
check "as before, after GC" as_before
check "a VF without an RDMA device" refused p 108 "${VFS[$LAST]} has no RDMA device" call ADD p "$(on $LAST)"
check "as before, after the refusal" as_before

# ---- two rails in one ADD, by the plugin rails ----
mkdir -p /etc/railhead
jq -n --arg a "$A" --arg b "$B" '{rails: [{rail: 0, interface: $a}, {rail: 1, interface: $b}]}' >/etc/railhead/rails.json
RAILS=$(conf rails "\"kind\":\"sriov\",\"resource\":{\"pf\":[\"$A\"]},\"rdma\":\"exclusive\"")
check "rails: ADD" add p "$RAILS"
check "rails: both RDMA devices are in the pod" is "$(devices p)" "hca0 hca1"
check "rails: the result has both" says p '[.rdma[] | [.interface, .device, .pciID] | join(" ")] | join(",")' "net1 hca0 ${VFS[0]},net1r1 hca1 ${VFS[1]}"
check "rails: no character device was swapped" is "$(numbers)" "$(head -n $LAST $W/before)"
check "rails: CHECK" call CHECK p "$(behind p "$RAILS")"
check "rails: the plugin rdma behind it" refused p 7 "remove the plugin rdma" call ADD p "$(behind p "$(conf rdma)")"
check "rails: railctl shows the devices" grep -q "net1r1: on $A, VF ${VFS[1]}, RDMA device hca1" <("$BIN/railctl" attachments show rails p net1 | tr -s ' ')
ip netns attach host 1
check "rails: the pod gives a device away" ip netns exec p rdma dev set hca1 netns host
ip netns del host
check "rails: CHECK names the rail" refused p 104 "rail 1: rdma" call CHECK p "$(behind p "$RAILS")"
check "rails: DEL" call DEL p "$RAILS"
check "rails: all is as before" as_before
check "rails: ADD, and the pod is killed" add p "$RAILS"
no_pods p
NETNS='' check "rails: DEL without a namespace" call DEL p "$RAILS"
check "rails: the kernel brought all" as_before
pods p q
check "rails: one RDMA device is left" add q "$(on 1)"
check "rails: the first two VFs with a device" add p "$RAILS"
check "rails: are the others" is "$(devices p)" "hca0 hca2"
pods r
check "rails: none is left for a third" refused r 101 "rail 0: resource: no free VF" call ADD r "$RAILS"
check "rails: and nothing of it" is "$(devices r)" ""
check "rails: DEL of both" eval 'call DEL p "$RAILS" && call DEL q "$(on 1)"'
check "rails: all is as before" as_before
no_pods q r
rails_heal() # N
{
	case $(($1 % 3)) in
	0) call DEL p "$RAILS" ;;
	1) call GC p "$(jq -c '. + {"cni.dev/valid-attachments": []}' <<<"$RAILS")" ;;
	2) no_pods p && with "$BIN/railctl" attachments repair && pods p ;;
	esac
}
RAILS_STEP=6
[ -z "${QUICK-}" ] || RAILS_STEP=14
broken= kills=0
for ((nth = 4; nth < 300; nth += RAILS_STEP)); do
	call ADD p "$RAILS" strace -f -qq -o $W/trace -e trace=sendto,write,renameat -e "inject=sendto,write,renameat:signal=KILL:when=$nth" >/dev/null
	grep -q 'killed by SIGKILL' $W/trace || break
	kills=$((kills + 1))
	rails_heal $kills >/dev/null && as_before >/dev/null || broken+=" $nth"
done
call DEL p "$RAILS" >/dev/null
check "rails: ADD that is killed at a request" is "$broken" ""
echo "# killed $kills times"
check "rails: it was killed often enough" test $kills -ge 3
check "rails: as before, after the kills" as_before
rm /etc/railhead/rails.json

# ---- a list with both, by the CNI project's client (make cnitool) ----
CNITOOL=$TREE/build/interop/cnitool
tool() # VERB LIST
{
	CNI_PATH=$BIN NETCONFPATH=$W/net.d CNI_IFNAME=net1 CNI_ARGS=${CARGS-} with "$CNITOOL" "$1" "$2" /run/netns/p >$W/p.out 2>&1 || { cat $W/p.out && false; }
}
mkdir $W/net.d
# Debian's client knows no later version.
jq '{cniVersion: "1.0.0", name: "both", plugins: [., {type: "rdma"}]}' <<<"$(on 1)" >$W/net.d/both.conflist
check "cnitool is there (make cnitool)" test -x "$CNITOOL"
check "cnitool: sriov that moves the device, and rdma" isnt tool add both
check "the error names the cause" grep -q "the plugin sriov of this list has moved the RDMA device hca1" $W/p.out
check "cnitool: DEL" tool del both
check "as before, after cnitool" as_before

# ---- as a DRA driver calls it: one plugin, an IPAM, the words of NRI's pod ----
CARGS='IgnoreUnknown=true;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=p;K8S_POD_INFRA_CONTAINER_ID=p;K8S_POD_UID=7d9c'
DRA=$(on 2 '"ipam":{"type":"railhead-ipam","subnet":"10.93.0.0/24"}' | jq -c '.cniVersion = "1.0.0"')
check "ADD with an IPAM, in version 1.0.0" add p "$DRA"
check "the pod has the RDMA device" is "$(devices p)" hca2
check "and an address" ip -n p route get 10.93.0.200
check "CHECK" call CHECK p "$(behind p "$DRA")"
NETNS='' check "DEL without a namespace, while the pod lives" call DEL p "$DRA"
check "as before, after DEL without a namespace" as_before
# dra-driver-sriov wraps such a configuration into a list for libcni (pkg/cni/cni.go), which keeps the result for its DEL. If the sandbox is gone,
# the path of its namespace is in the call all the same. The driver tries again without it only after "failed to open netns".
jq '{cniVersion, name: "dra", plugins: [.]}' <<<"$DRA" >$W/net.d/dra.conflist
check "libcni: ADD of a list with one plugin" tool add dra
check "libcni: the pod has the RDMA device" is "$(devices p)" hca2
check "libcni: its result has the VF" is "$(jq -r '.interfaces[-1].name' $W/p.out)" net1
check "libcni: the pod is known by its name" is "$("$BIN/railctl" ipam lease list --json | jq -r '.[] | select(.state == "leased") | [.namespace, .pod] | join("/")')" ns/p
check "libcni: CHECK" tool check dra
check "libcni: DEL" tool del dra
check "as before, after DEL by libcni" as_before
check "libcni: ADD, and the sandbox goes" tool add dra
no_pods p
check "libcni: DEL with the path of a namespace that is gone" tool del dra
check "as before, after that" as_before
check "no lease is left" is "$("$BIN/railctl" ipam lease list --json | jq -c .)" '[]'
pods p
CARGS=

# ---- the namespace goes ----
check "ADD, and the pod is killed" add p "$(on 1)"
no_pods p
NETNS='' check "DEL without a namespace" call DEL p "$(on 1)"
check "the kernel brought both" as_before
pods p
check "ADD, and a process stays" add p "$(on 1)"
ip netns exec p sleep infinity &
sleeper=$!
eventually is_elsewhere $sleeper
no_pods p
NETNS='' check "DEL finds the namespace of a process that stayed" call DEL p "$(on 1)"
check "as before, while that lives" as_before
kill $sleeper
pods p
check "ADD, and no DEL comes" add p "$(on 1)"
no_pods p
repair() { with "$BIN/railctl" attachments repair; }
check "repair" repair
check "as before, after repair" as_before
pods p q
check "ADD, and no DEL comes" add p "$(on 1)"
no_pods p
check "the next pod with this VF" add q "$(on 1)"
check "it has the device" is "$(devices q)" hca1
check "a late DEL of the first pod" call DEL p "$(on 1)"
check "changes nothing" is "$(devices q)" hca1
check "DEL of the next pod" call DEL q "$(on 1)"
check "as before, after both" as_before
pods p

# ---- numbers that move ----
rdma link delete hca0
check "a lower number became free" refused p 104 "uverbs1 was" call ADD p "$(on 1)"
check "the device is on the host" grep -qw hca1 <(devices)
check "so is the interface" has_netdev "${VFS[1]}"
check "the runtime tries again" refused p 104 "the pod has uverbs1" call ADD p "$(on 1)"
check "the device is still on the host" grep -qw hca1 <(devices)
for i in 1 2; do rdma link delete "hca$i"; done
rxe_all
rdma link delete hca0
check "and that is only reported" add p "$(on 1 '"renumbered":"report"')"
check "with the new number" says p '.rdma.charDevices[0]' /dev/infiniband/uverbs0
check "CHECK knows it" call CHECK p "$(behind p "$(on 1 '"renumbered":"report"')")"
check "DEL" call DEL p "$(on 1)"
for i in 1 2; do rdma link delete "hca$i"; done
rxe_all
check "as before, with new devices" as_before

# ---- all at once ----
pods q0 q1 q2
all() # VERB
{
	local pids=() i rc=0
	for ((i = 0; i < LAST; i++)); do
		call "$1" "q$i" "$(on "$i")" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i" || rc=1; done
	return $rc
}
check "$LAST ADDs at once" all ADD
check "each pod has its own" is "$(devices q0) $(devices q1) $(devices q2)" "hca0 hca1 hca2"
check "no character device was swapped" is "$(numbers)" "$(head -n $LAST $W/before)"
check "$LAST DELs at once" all DEL
check "all are back" as_before
no_pods q q0 q1 q2

# ---- killed, in place of a request to the kernel or of a write ----
STEP=3
[ -z "${QUICK-}" ] || STEP=7
[ -z "${FULL-}" ] || STEP=1
# killed_at VERB N: true if it was.
killed_at()
{
	call "$1" p "$(on 1)" strace -f -qq -o $W/trace -e trace=sendto,write,renameat -e "inject=sendto,write,renameat:signal=KILL:when=$2" >/dev/null
	grep -q 'killed by SIGKILL' $W/trace
}
heal() # N
{
	case $(($1 / STEP % 3)) in
	0) call DEL p "$(on 1)" ;;
	1) call GC p "$(on 1 '"cni.dev/valid-attachments":[]')" ;;
	2) no_pods p && repair && pods p ;;
	esac
}
for verb in ADD DEL; do
	broken= kills=0
	for ((nth = 1; nth < 200; nth += STEP)); do
		[ $verb = ADD ] || add p "$(on 1)" >/dev/null || broken+=" before-$nth"
		killed_at $verb $nth || break
		kills=$((kills + 1))
		heal $nth >/dev/null && as_before >/dev/null || broken+=" $nth"
	done
	call DEL p "$(on 1)" >/dev/null
	check "$verb that is killed at a request" is "$broken" ""
	echo "# killed $kills times"
	check "it was killed often enough" test $kills -ge $((12 / STEP))
	check "as before" as_before
done

no_pods p
for ((i = 0; i < LAST; i++)); do rdma link delete "hca$i"; ip link del "s$i"; done
vfs "$A" 0
check "mode shared again" eventually "$BIN/railctl" rdma mode shared --modprobe-dir $W
rmmod movable
finish

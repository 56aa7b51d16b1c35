# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 80
# topology: numa
# topo: railctl topo on PCIe trees whose shape is known, because QEMU made it. Root, an ordinary user and a capture must
# give the same answers. The suite also checks the nearest devices and the findings of the doctor.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
W=/run/work
mkdir -p $W && chmod 755 $W
cp "$BIN"/railctl $W/
export PATH=$W:$PATH
read -r PF0 PF1 _ <<<"$PFS"
modprobe -a rdma_rxe macvlan

# ---- the shape: topologies/numa.topo ------------------------------------------------------------

# at ROOT DEVICE...: the address of the function that one comes to by these device numbers.
at()
{
	local path="/sys/devices/pci0000:$1" found
	shift
	path+=$(printf '/*:%s.0' "$@")
	found=$(compgen -G "$path") && [ "$(wc -l <<<"$found")" = 1 ] && basename "$found"
}
declare -A GPU=([gpu0]='20 00 00 00 00' [gpu1]='20 01 00' [gpu5]='40 00 00' [gpu2]='80 00 00 00 00'
	[gpu3]='80 00 00 01 00 00 00' [gpu4]='80 01 00') CARD=([pf0]='20 00 00 01 00' [pf1]='80 00 00 01 00 01 00')
# What stands between them: GPU, card, nvidia-smi's class, switch chips (of those that meet below a root complex).
SHAPE='gpu0 pf0 PIX 1
gpu0 pf1 SYS -
gpu1 pf0 PHB -
gpu1 pf1 SYS -
gpu5 pf0 NODE -
gpu5 pf1 SYS -
gpu2 pf0 SYS -
gpu2 pf1 PXB 2
gpu3 pf0 SYS -
gpu3 pf1 PIX 1
gpu4 pf0 SYS -
gpu4 pf1 PHB -'
for g in "${!GPU[@]}"; do
	# shellcheck disable=SC2086 # words
	check "$g is in its place" at ${GPU[$g]}
	# shellcheck disable=SC2086
	GPU[$g]=$(at ${GPU[$g]})
done
for c in "${!CARD[@]}"; do
	# shellcheck disable=SC2086
	check "$c is in its place" is "$(at ${CARD[$c]})" "$(basename "$(readlink "/sys/class/net/$c/device")")"
done

# ---- cards, VFs, and an RDMA device on each -----------------------------------------------------

# Of the card and of its first VF: rxe_pf0, rxe_vf0.
for c in "$PF0" "$PF1"; do
	k=${c#pf}
	check "$c up" ip link set "$c" up
	check "$c makes 2 VFs" vfs "$c" 2
	check "the VF's driver on $c" eval 'eventually has_netdev "$(pci "$c" 1)" && eventually has_netdev "$(pci "$c" 0)"'
	v=$(netdev "$(pci "$c" 0)")
	check "$c: link" eventually carrier "$c"
	check "its VF up" ip link set "$v" up
	check "rxe on $c" rdma link add "rxe_$c" type rxe netdev "$c"
	check "rxe on its VF" rdma link add "rxe_vf$k" type rxe netdev "$v"
	check "its VF has link" eventually carrier "$v"
done

# ---- what is read --------------------------------------------------------------------------------

# The GPUs' stand-ins are display devices, and at a root port those are taken for GPUs only when one says so.
t()
{
	local sub=()
	case ${1-} in check | capture) sub=("$1") && shift ;; esac
	"${AS[@]}" railctl topo "${sub[@]}" "${CLASS[@]}" "$@" >$W/out 2>$W/err
}
AS=() CLASS=(--class 0x0380)
said() { cat $W/out $W/err && false; }
ok() { "$@" || { echo "status $?" && said; }; }
# status N COMMAND...
status()
{
	local rc want=$1
	shift
	"$@"
	rc=$?
	[ $rc = "$want" ] || { echo "status $rc" && said; }
}
want() { jq -e "$@" <$W/out >/dev/null || said; }
# An ordinary user, in a folder of its own.
mkdir -p $W/user && chown 65534:65534 $W/user
user() { setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"; }
tu() { local AS=(user) && t "$@"; }

# shape HCA0 HCA1: class and chips of each pair, as out says them; the first HCA is of pf0.
shape()
{
	local g c class chips said bad=0
	while read -r g c class chips; do
		[ "$c" = pf0 ] && c=$1 || c=$2
		said=$(jq -r --arg b "${GPU[$g]}" --arg h "$c" '.gpus[] | select(.bdf == $b).hcas[] | select(.name == $h) |
			"\(.class) \(.switches)"' $W/out)
		[ "${said% *}" = "$class" ] && { [ "$chips" = - ] || [ "${said#* }" = "$chips" ]; } || {
			echo "$g $c: '$said' instead of '$class $chips'"
			bad=1
		}
	done <<<"$SHAPE"
	[ $bad = 0 ]
}
# nearest GPU HCA...: and no other.
nearest() { want --arg b "${GPU[$1]}" --args '.gpus[] | select(.bdf == $b).nearest == $ARGS.positional' "${@:2}"; }
nodes() { want --arg a "${GPU[gpu0]}" --arg b "${GPU[gpu4]}" '[.gpus[] | select(.bdf == ($a, $b)).numa] == [0, 1]'; }

check "root: JSON" ok t --json
cp $W/out $W/root.json
check "six GPUs" want '.version == 1 and (.gpus | length == 6)'
check "four HCAs" want '[.hcas[].name] | sort == ["rxe_pf0", "rxe_pf1", "rxe_vf0", "rxe_vf1"]'
check "each GPU lists every HCA" want 'all(.gpus[]; .hcas | length == 4)'
check "NUMA nodes" nodes
check "classes to the cards" shape rxe_pf0 rxe_pf1
check "classes to the VFs" shape rxe_vf0 rxe_vf1
check "nothing in software is nearest" want 'all(.gpus[]; .nearest == [])'
check "user: JSON" ok tu --json
check "user: the same machine" is "$(jq -S 'del(.findings, .source, .gpus[].ready)' $W/out | md5sum)" "$(jq -S 'del(.findings, .source, .gpus[].ready)' $W/root.json | md5sum)"
# A folder that is for root alone is reported, and changes nothing else.
mkdir -m 700 /etc/railhead
check "user: a private /etc/railhead" ok tu --json
check "user: it is reported" want '.source.notes | any(contains("cannot be read by this user"))'
check "user: still the same machine" is "$(jq -S 'del(.findings, .source, .gpus[].ready)' $W/out | md5sum)" "$(jq -S 'del(.findings, .source, .gpus[].ready)' $W/root.json | md5sum)"
rmdir /etc/railhead
check "root: matrix" ok t
cp $W/out $W/root.txt
for class in PIX PXB PHB NODE SYS; do
	check "the matrix has $class" grep -qw "$class" $W/root.txt
done

# ---- a capture gives the same ---------------------------------------------------------------------

# The capture's answer is the machine's. same WHO DIR WORDS...
same()
{
	local who=$1 dir=$2 live
	shift 2
	$who "$@"
	live=$?
	cp $W/out $W/live
	$who "$@" --sysfs "$dir"
	[ $? = $live ] && cmp $W/live $W/out || { diff $W/live $W/out | head -n 5 && cat $W/err && false; }
}
check "root: capture" ok railctl topo capture $W/root.tar
check "user: capture" ok user $W/railctl topo capture $W/user/user.tar
for c in root user; do
	mkdir $W/$c.d
	check "$c: the capture is a tar" tar -C $W/$c.d -xf "$(ls $W/$c.tar $W/user/$c.tar 2>/dev/null)"
done
chmod -R a+rX $W/root.d $W/user.d
check "root: text of the capture" same t $W/root.d
check "root: JSON of the capture" same t $W/root.d --json
for how in "" --json --all; do
	# shellcheck disable=SC2086 # none or one
	check "root: check of the capture $how" same t $W/root.d check $how
	# shellcheck disable=SC2086
	check "user: check of the capture $how" same tu $W/user.d check $how
done
check "user: text of the capture" same tu $W/user.d
check "user: JSON of the capture" same tu $W/user.d --json

# ---- the doctor ------------------------------------------------------------------------------------

# fact CHECK STATE [GPU]: there is such a finding; nothing CHECK STATE: there is none.
fact() { want --arg c "$1" --arg s "$2" --arg g "${3-}" 'any(.findings[]; .check == $c and .state == $s and ($g == "" or .gpu == $g))'; }
nothing() { want --arg c "$1" --arg s "$2" 'all(.findings[]; .check != $c or .state != $s)'; }
check "check: a software device is no GPUDirect RDMA" status 4 t check --json
check "check: and each GPU is told" fact software fail "${GPU[gpu3]}"
check "check: a virtual machine hides things" fact vm unknown
check "check: the IOMMU translates" fact iommu warn "${GPU[gpu0]}"
check "check: NUMA nodes are told" fact numa ok "${GPU[gpu4]}"
check "check: the kernel has DMA-BUF" fact dmabuf ok
check "check: of one GPU alone" status 4 t check --json --gpus "${GPU[gpu1]}"
check "check: it alone" want --arg g "${GPU[gpu1]}" '[.gpus[].bdf] == [$g] and all(.findings[]; .gpu == null or .gpu == $g)'
check "check: an unknown option" status 2 t check --nonsense
check "check: no such capture" status 1 t check --sysfs $W/none

# Of the capture the software devices become the cards' own: a device link is all that tells them apart.
# hardware TAR DIR
hardware()
{
	local c
	mkdir -p "$2" && tar -C "$2" -xf "$1" || return 1
	for c in "$PF0" "$PF1"; do
		link "$2" "rxe_$c" "$(readlink -f "/sys/class/net/$c/device")" &&
			link "$2" "rxe_vf${c#pf}" "$(readlink -f "/sys/class/net/$c/device/virtfn0")" || return 1
	done
}
link() { ln -s "../../../${3#/sys/devices/}" "$1/sys/devices/virtual/infiniband/$2/device"; }
check "root: a capture with hardware" hardware $W/root.tar $W/hw
check "user: a capture with hardware" hardware $W/user/user.tar $W/hwu
chmod -R a+rX $W/hwu

check "hardware: JSON" ok t --json --sysfs $W/hw
cp $W/out $W/hw.json
check "hardware: classes" shape rxe_pf0 rxe_pf1
for p in 'gpu0 rxe_pf0' 'gpu1 rxe_pf0' 'gpu5 rxe_pf0' 'gpu2 rxe_pf1' 'gpu3 rxe_pf1' 'gpu4 rxe_pf1'; do
	# shellcheck disable=SC2086 # words
	check "hardware: nearest: $p" nearest $p
done
check "hardware: a rail for each card" want '[.hcas[] | select(.name | startswith("rxe_pf")).rail] | sort == [0, 1]'
check "hardware: two cards, two of three GPUs assigned alike" want '[.gpus[].assigned] | unique == ["rxe_pf0", "rxe_pf1"]'
check "hardware: the VFs alone" ok t --json --sysfs $W/hw --hcas rxe_vf0,rxe_vf1
check "hardware: nearest is a VF" nearest gpu2 rxe_vf1
check "hardware: check" status 4 t check --json --sysfs $W/hw
cp $W/out $W/root.check
check "hardware: no port on the way redirects" want --arg g "${GPU[gpu0]}" 'any(.findings[]; .check == "acs" and .gpu == $g and .state == "ok" and
	(.value | contains("2 ports")))'
# The kernel with an IOMMU redirects at root ports, and there they meet.
check "hardware: over a root complex its ports count" fact acs fail "${GPU[gpu1]}"
check "hardware: far is told" fact distance warn "${GPU[gpu5]}"
check "user: check" status 3 tu check --json --sysfs $W/hwu
check "user: ACS is unknown" fact acs unknown "${GPU[gpu0]}"
check "user: and never anything else" want 'all(.findings[] | select(.check == "acs"); .state == "unknown")'
others='[.findings[] | select(.check | IN("acs", "payload", "read-request", "relaxed-ordering") | not)] | sort_by(.check, .gpu, .hca)'
check "user: nothing else differs" is "$(jq -S "$others" $W/out | md5sum)" "$(jq -S "$others" $W/root.check | md5sum)"
check "user: the same answers" ok tu --json --sysfs $W/hwu
check "user: all of them" is "$(jq -S 'del(.findings, .source, .gpus[].ready)' $W/out | md5sum)" "$(jq -S 'del(.findings, .source, .gpus[].ready)' $W/hw.json | md5sum)"

# ---- a pod ------------------------------------------------------------------------------------------

# With a macvlan on the first card it shares that one's device, and sees all others.
pod()
{
	ip netns add P && ip link add link "$PF0" name net1 netns P type macvlan mode bridge &&
		ip -n P addr add 10.1.0.11/16 dev net1 && ip -n P link set net1 up
}
in_pod() { local AS=(ip netns exec P) && t "$@"; }
considered() { want --args '[.hcas[] | select(.considered).name] == $ARGS.positional' "$@"; }
own() { ok in_pod --json && considered rxe_pf0; }
check "mode shared" rdma system set netns shared
check "a pod" pod
check "a pod has the device of its parent" eventually own
check "a pod: check" status 4 in_pod check --json
check "a pod: neighbours' devices are named" want 'any(.findings[]; .check == "neighbours" and .state == "warn" and
	(.value | contains("rxe_pf1") and contains("rxe_vf0") and (contains("rxe_pf0") | not)))'
check "a pod, from the host" ok t --json --netns /run/netns/P
check "a pod, from the host: the same" considered rxe_pf0
check "a pod: --hcas overrides" ok in_pod --json --hcas rxe_pf1
check "a pod: what was asked for" considered rxe_pf1
ip netns del P

for d in rxe_pf0 rxe_pf1 rxe_vf0 rxe_vf1; do
	check "$d goes" rdma link del $d
done

# ---- a VF near the pod's GPU --------------------------------------------------------------------------

cp "$BIN/sriov" $W/
NEAR='{"cniVersion":"1.1.0","name":"near","type":"sriov","resource":{"pf":["'$PF0'","'$PF1'"]},"near":"gpu"}'
# sriov VERB POD IFNAME GPUS: answer in out.
sriov()
{
	CNI_COMMAND=$1 CNI_CONTAINERID=$2 CNI_NETNS=/run/netns/$2 CNI_IFNAME=$3 CNI_PATH=$W CNI_ARGS="IgnoreUnknown=1;GPUS=$4" \
		$W/sriov <<<"$NEAR" >$W/out 2>$W/err || said
}
# got PF: the answer has a VF of it.
got() { is "$(basename "$(readlink -f "/sys/bus/pci/devices/$(jq -r '.interfaces[0].pciID' $W/out)/physfn")")" "$(basename "$(readlink "/sys/class/net/$1/device")")"; }
ip netns add Q
ip netns add R
check "near: a pod of gpu2" sriov ADD Q net1 "${GPU[gpu2]}"
check "near: it has a VF of the card below its switch" got "$PF1"
check "near: another interface of it" sriov ADD Q net2 "${GPU[gpu2]}"
check "near: no rail twice" got "$PF0"
check "near: a pod of gpu5, over a root complex" sriov ADD R net1 "${GPU[gpu5]}"
check "near: its node's card" got "$PF0"
check "near: a third interface has no rail left" isnt sriov ADD Q net3 "${GPU[gpu2]}"
for a in 'Q net1' 'Q net2' 'R net1'; do
	# shellcheck disable=SC2086 # words
	check "near: DEL $a" sriov DEL $a "${GPU[gpu0]}"
done
ip netns del Q
ip netns del R

for c in "$PF0" "$PF1"; do
	check "$c without VFs" eval "echo 0 >/sys/class/net/$c/device/sriov_numvfs"
done
finish

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# sriov-lib.sh: what the bench of sriov does on this machine and in the guest alike.
#
# The script that sources it sets W (a folder), BIN, HELPERS, and the reference plugins PEER and NEWER (may be empty). It also
# sets OURS (the plugin, as measure takes it), RAW (the file of figures), and HOST (path of the host's namespace; may be empty).

# conf NAME KEYS [VERSION]: a configuration; subject LABEL PLUGIN NAME POD: of measure.
conf() { printf '{"cniVersion":"%s","name":"bench",%s}' "${3-1.0.0}" "$2" >"$W/conf-$1"; }
subject() { echo "$1,$2,$W/conf-$3,/run/netns/$4${HOST:+,$HOST}"; }

measure()
{
	CNI_PATH=$BIN:$PEER "$HELPERS/measure" "$@" >>"$RAW" || broken "the measurement failed: measure $*"
}

# counts LABEL PLUGIN NAME POD: the system calls and bytes of an ADD and a DEL.
counts()
{
	local verb said
	for verb in ADD DEL; do
		said=$(CNI_PATH=$BIN:$PEER CNI_COMMAND=$verb CNI_CONTAINERID=count CNI_NETNS=/run/netns/$4 CNI_IFNAME=net1 \
			${HOST:+nsenter --net="$HOST"} "$HELPERS/calls" "$([ $verb = ADD ] && echo "${2%+*}" || echo "${2#*+}")" <"$W/conf-$3" 2>"$W/said") || broken "$1 $verb: $(<"$W/said")"
		echo "$1 $verb $said" >>"$RAW"
	done
}

# sriov_on NAME VF, host_device_on NAME VF: with the address of $ADDRESS, when that is set.
static() { [ -z "${ADDRESS-}" ] || printf ',"ipam":{"type":"static","addresses":[{"address":"%s","gateway":"10.9.0.254"}],"routes":[{"dst":"0.0.0.0/0"}]}' "$ADDRESS"; }
sriov_on() { conf "$1" "\"type\":\"sriov\",\"deviceID\":\"$2\"$(static)"; }
host_device_on() { conf "$1" "\"type\":\"host-device\",\"pciBusID\":\"$2\"$(static)"; }

# move LABEL ROUNDS VF VF VF INTERFACE: ours, the reference, the newer one and a bare program move one device each
# into one pod each, in turn. Between two runs the kernel is given time: the newer reference makes a namespace
# in each, and while that dies all others wait.
move()
{
	local s=()
	sriov_on ours "$3"
	host_device_on peer "$4"
	host_device_on newer "$5"
	conf floor ''
	s=("$(subject "$1-ours" "$OURS" ours pod0)" "$(subject "$1-peer" "$PEER/host-device" peer pod1)")
	[ -z "$NEWER" ] || s+=("$(subject "$1-newer" "$NEWER/host-device" newer pod2)")
	s+=("$(subject "$1-floor" "$HELPERS/floor" floor pod3)")
	MEASURE_PAUSE=100 FLOOR_DEVICE=$6 measure time "$2" 2 "${s[@]}"
}
moves() # ROUNDS VF VF VF INTERFACE: without addresses, and with one each
{
	move move "$@"
	ADDRESS=10.9.0.1/24 FLOOR_V4=10.9.0.1/24 FLOOR_GW4=10.9.0.254 move static "$@"
}

# forget VF: remove its state file, so that the next ADD is the first one of this VF.
forget() { rm -f "/run/railhead/vf/$1"; }

# flat LABEL ROUNDS VF POD: ADD and DEL of a VF: an attachment in its life, and ROUNDS/2 times the first.
flat()
{
	local n
	sriov_on "$1" "$3"
	measure samples "$2" 1 "$(subject "$1" "$OURS" "$1" "$4")"
	for ((n = 0; n < ($2 + 1) / 2; n++)); do
		forget "$3"
		measure samples 1 0 "$(subject "$1-first" "$OURS" "$1" "$4")"
	done
}
flat_counts() # LABEL VF POD
{
	sriov_on "$1" "$2"
	forget "$2"
	counts "$1-first" "$OURS" "$1" "$3"
	counts "$1" "$OURS" "$1" "$3"
}

# resource_of NAME PF...: the plugin takes a free VF of those. Results of 1.1 say which.
resource_of()
{
	local name=$1 pfs
	shift
	pfs=$(printf '"%s",' "$@")
	conf "$name" "\"type\":\"sriov\",\"resource\":{\"pf\":[${pfs%,}],\"count\":1}" 1.1.0
}

# crowd TIMES PF PF: 14 pods at once take the 14 VFs of two PFs, and give them back.
crowd()
{
	local n lost
	resource_of crowd "$2" "$3"
	for ((n = 0; n < $1; n++)); do
		measure devices 14 14 "$(subject crowd "$OURS" crowd pod%d)"
		lost=$(($(grep -lE '"owner"|"dirty":[1-9]' /run/railhead/vf/* | wc -l) + $(find /run/railhead/attachments -type f | wc -l)))
		echo "crowd lost $((lost + 14 - $(vfs_on_host))) vfs 14" >>"$RAW"
	done
}

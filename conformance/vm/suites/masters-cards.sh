# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2153,SC2154
# seconds: 60
# masters-cards: a bond on demand whose member loses its driver and gets it back, on true cards: they have a permanent MAC address,
# and come back with a new number.
# shellcheck source=conformance/vm/guest/lib.sh
. conformance/vm/guest/lib.sh
# shellcheck source=conformance/vm/suites/sriov/lib.sh
. conformance/vm/suites/sriov/lib.sh

modprobe bonding max_bonds=0
modprobe -a 8021q macvlan
PLUGIN=macvlan
BOND='"master":{"bond":["'$A'","'$B'"],"mode":"active-backup","name":"ob0"}'
link_of() { ip -j -d link show dev "$1" 2>/dev/null | jq -rc ".[0]|$2"; }
state_of() { link_of "$1" '[.mtu, .address, .master, (.flags|index("UP") != null)]'; }
is_member() { is "$(link_of "$1" .master)" ob0; }
number_on_file() { jq -r --arg n "$1" '.lower[]|select(.name==$n).ifindex' /run/railhead/masters/ob0.json; }
# reload CARD: its driver lets it go, and takes it again
reload()
{
	local at
	at=$(basename "$(readlink -f "/sys/class/net/$1/device")")
	echo "$at" >/sys/bus/pci/drivers/igb/unbind
	eventually isnt ip link show dev "$1"
	[ "${2-}" = away ] || back "$1" "$at"
	AT=$at
}
tells() # WORDS ARGUMENT...: `railctl attachments` says it
{
	local words=$1
	shift
	"$RAILCTL" attachments "$@" >$W/shown && grep -q "$words" $W/shown
}
back() # CARD ADDRESS [KEEP-ITS-NAME]
{
	local now
	echo "$2" >/sys/bus/pci/drivers/igb/bind
	eventually eval "ls /sys/bus/pci/devices/$2/net/*"
	now=$(basename /sys/bus/pci/devices/"$2"/net/*)
	[ "$now" = "$1" ] || ip link set dev "$now" name "$1"
}

for pf in $A $B; do ip link set "$pf" mtu 3000 up; done
BEFORE_A=$(state_of "$A") BEFORE_B=$(state_of "$B")
pods a b c

check "ADD makes the bond" add a "$(conf "$BOND")"
cp $W/out $W/result
check "the file has the permanent MAC address" is "$(jq -r '[.lower[].permanentMac]|join(" ")' /run/railhead/masters/ob0.json)" \
	"$(link_of "$A" '.permaddr // .address') $(link_of "$B" '.permaddr // .address')"
check "CHECK" checked a "$(conf "$BOND")" $W/result

OLD=$(link_of "$B" .ifindex)
reload "$B"
check "the card has a new number" isnt is "$(link_of "$B" .ifindex)" "$OLD"
check "and is in no bond" is "$(link_of "$B" .master)" null
check "CHECK says so" refused 104 "lost its member $B, which came back as number $(link_of "$B" .ifindex)" \
	checked a "$(conf "$BOND")" $W/result
check "show says so" tells "Lost member.*$B of ob0: its card came back as number $(link_of "$B" .ifindex)" show rails a net1
check "list says so" tells "ob0 has lost its member $B" list
check "JSON says so" tells '"why": "came-back"' list --json
check "STATUS is ready for an ADD" call STATUS "" "$(conf "$BOND")" ""
check "the next ADD" add b "$(conf "$BOND")"
check "joins it again" is_member "$B"
check "the file has its number" is "$(number_on_file "$B")" "$(link_of "$B" .ifindex)"
check "list says nothing more" isnt tells "has lost" list
check "CHECK of the first pod" checked a "$(conf "$BOND")" $W/result

reload "$B"
ip addr add 10.9.9.9/24 dev "$B"
check "one that has an address by now is refused" refused 103 "$B has addresses" add c "$(conf "$BOND")"
check "repair leaves it" "$RAILCTL" attachments repair
check "it is in no bond" is "$(link_of "$B" .master)" null
ip addr del 10.9.9.9/24 dev "$B"
check "repair" "$RAILCTL" attachments repair
check "joins it again" is_member "$B"
check "CHECK" checked a "$(conf "$BOND")" $W/result

# While the card is away, another interface gets its number; the card has another one afterwards.
OLD=$(link_of "$B" .ifindex)
reload "$B" away
ip link add other0 index "$OLD" mtu 1400 type veth peer name other1
OTHER=$(state_of other0)
check "list says that it is away" tells "ob0 has lost its member $B: its card is not there" list
check "a card that is away is named" refused 7 "no interface \"$B\"" add c "$(conf "$BOND")"
back "$B" "$AT"
check "GC joins it again" call GC "" "$(conf "$BOND" | jq -c '. + {"cni.dev/valid-attachments": [
	{containerID: "a", ifname: "net1"}, {containerID: "b", ifname: "net1"}]}')" ""
check "the card is a member" is_member "$B"
check "DEL" del b "$(conf "$BOND")"

# Both are away, and come back after the last pod: the interface with an old number is not touched.
reload "$B"
check "DEL of the last pod" del a "$(conf "$BOND")"
check "the bond is gone" isnt ip link show dev ob0
check "its file too" isnt ls /run/railhead/masters/ob0.json
check "the first member is as before" is "$(state_of "$A")" "$BEFORE_A"
check "the other interface is as it was" is "$(state_of other0)" "$OTHER"
ip link del other0

ip link set "$B" mtu 3000 up
check "ADD" add a "$(conf "$BOND")"
reload "$B"
check "a card that joined again" add b "$(conf "$BOND")"
check "DEL" del a "$(conf "$BOND")"
check "DEL" del b "$(conf "$BOND")"
check "is as before when the bond ends" is "$(state_of "$B")" "$BEFORE_B"

# A card under another name is not proved to be the same.
check "ADD" add a "$(conf "$BOND")"
reload "$B"
ip link set "$B" name swapped0
ip link add "$B" type veth peer name peer0
check "another interface of its name is not taken" refused 7 "no permanent MAC address proves" add b "$(conf "$BOND")"
check "repair" "$RAILCTL" attachments repair
check "is neither" is "$(link_of "$B" .master)$(link_of swapped0 .master)" nullnull
ip link del "$B"
ip link set swapped0 name "$B"
check "DEL" del a "$(conf "$BOND")"

# The number of a card that went away is that of another interface when the bond ends.
ip link set "$B" mtu 3000 up
check "ADD" add a "$(conf "$BOND")"
OLD=$(link_of "$B" .ifindex)
reload "$B"
ip link add other0 index "$OLD" mtu 1400 type veth peer name other1
OTHER=$(state_of other0)
check "DEL" del a "$(conf "$BOND")"
check "the other interface is as it was" is "$(state_of other0)" "$OTHER"
ip link del other0

# A call that was killed while it asked whether the card is free leaves its question on the new number: the macvlan that it made.
ip link set "$B" mtu 3000 up
check "ADD" add a "$(conf "$BOND")"
reload "$B"
ASK=$(printf 'rhask%08x' "$(link_of "$B" .ifindex)")
check "a question on the card" ip link add link "$B" name "$ASK" type macvlan mode passthru
check "DEL of the last pod" del a "$(conf "$BOND")"
check "takes it back" isnt ip link show dev "$ASK"
ip link set "$B" mtu 3000 up
check "ADD" add a "$(conf "$BOND")"
reload "$B"
ASK=$(printf 'rhask%08x' "$(link_of "$B" .ifindex)")
ip link add link "$B" name "$ASK" type macvlan mode passthru
check "another program removes the bond" ip link del ob0
check "DEL" del a "$(conf "$BOND")"
check "takes the question back" isnt ip link show dev "$ASK"

# A network that gives the bond no name uses it under the one that it has, also while it lacks a member.
UNNAMED='"master":{"bond":["'$A'","'$B'"],"mode":"active-backup"}'
ip link set "$B" mtu 3000 up
check "ADD" add a "$(conf "$BOND")"
check "ADD of a network without a name" add b "$(conf "$UNNAMED")"
cp $W/out $W/result
reload "$B"
check "CHECK says so" refused 104 "lost its member $B" checked b "$(conf "$UNNAMED")" $W/result
check "the next ADD without a name" add c "$(conf "$UNNAMED")"
check "joins it again" is_member "$B"
for pod in a b c; do check "DEL" del $pod "$(conf "$UNNAMED")"; done
check "the bond is gone" isnt ip link show dev ob0
check "nothing is left" is "$(ls /run/railhead/masters 2>/dev/null)$(find /run/railhead/attachments -type f)" ""
no_pods a b c
# The next suite of this guest expects the MTU of Ethernet.
for pf in $A $B; do check "$pf has its MTU again" ip link set "$pf" mtu 1500; done
finish

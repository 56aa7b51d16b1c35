# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# owners.sh: late and repeated DELs, namespaces that die, an IPAM that has no address left.
pods a b c
SOME='"vlan":3,"trust":"on","mac":"02:00:00:00:06:01","mtu":1300'

# --- a late DEL -------------------------------------------------------------------------------
check "old pod: ADD" add a "$(on "$VA0" "$SOME")"
no_pods a
eventually has_netdev "$VA0"
check "its namespace is gone; new pod: ADD" add b "$(on "$VA0" '"vlan":4')"
check "it sees nothing of the old one" sees b "$A" 0 '.vf.vlan_list[0].vlan == 4 and (.vf.trust | not) and .pod.mtu == 1500 and .pod.address != "02:00:00:00:06:01"'
cp $W/seen $W/seen-before
check "old pod: late DEL" del a "$(on "$VA0" "$SOME")"
# Ignore the carrier, which may come later.
still='del(.pod.flags, .pod.operstate)'
check "new pod: nothing has changed" sees b "$A" 0 "$still == ($(<$W/seen-before) | $still)"
check "new pod: it still owns the VF" grep -q '"container":"b"' "/run/railhead/vf/$VA0"
pods a
check "a third pod cannot have it" refused 103 "belongs to container b" add a "$(on "$VA0")"
check "new pod: DEL" del b "$(on "$VA0" '"vlan":4')"
check "as before" clean

# The same container again, in another namespace.
check "a pod: ADD" add a "$(on "$VA0" "$SOME")"
no_pods a
pods a
check "started anew under the same name: ADD" add a "$(on "$VA0")"
check "sees nothing of itself" sees a "$A" 0 '.vf.vlan_list == [{}] and .pod.mtu == 1500'
check "DEL" del a "$(on "$VA0")"
check "as before" clean

# --- namespaces that die ------------------------------------------------------------------------
check "two pods: ADD" add a "$(on "$VA0" "$SOME")"
check "two pods: ADD" add c "$(on "$VB0" '"mtu":1350')"
no_pods a c
eventually has_netdev "$VA0" && eventually has_netdev "$VB0"
check "their namespaces are gone: DEL" del a "$(on "$VA0" "$SOME")"
check "their namespaces are gone: DEL" del c "$(on "$VB0")" ""
check "names and all else as before" clean

pods a c
check "a pod: ADD" add a "$(on "$VA0" "$SOME")"
ip netns exec a sleep infinity &
HOLDER=$!
eventually is_elsewhere $HOLDER
no_pods a
check "a process keeps the namespace: DEL" del a "$(on "$VA0" "$SOME")"
kill -9 $HOLDER
wait $HOLDER 2>/dev/null
check "it comes back once that ends" eventually has_netdev "$VA0"
check "the next pod: ADD" add c "$(on "$VA0")"
check "sees nothing of the old one" sees c "$A" 0 '.vf.vlan_list == [{}] and .pod.mtu == 1500'
check "DEL" del c "$(on "$VA0")"
check "as before" clean

# --- an IPAM without addresses -------------------------------------------------------------------
pods a
IPAM='{"type":"railhead-ipam","ranges":[[{"subnet":"10.88.9.0/24","rangeStart":"10.88.9.5","rangeEnd":"10.88.9.5"}]]}'
check "the last address: ADD" add c "$(on "$VB0")"
check "no address left: ADD fails" refused 101 "" add a "$(on "$VA0" "$SOME")"
check "its VF is free" isnt grep -q '"owner"' "/run/railhead/vf/$VA0"
check "DEL" del c "$(on "$VB0")"
check "as before" clean
IPAM='{"type":"railhead-ipam","subnet":"10.88.0.0/24"}'
no_pods a c b

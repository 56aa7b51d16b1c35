# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# names.sh: alternative names that collide, and a host name that another interface got meanwhile.
pods a b
batch "link property add dev $EA0 altname net1 altname taken-alt0 altname free-alt0"
ip -n a -batch - <<<$'link add other0 type dummy\nlink property add dev other0 altname taken-alt0'
remember
check "ADD with alternative names that collide" add a "$(on "$VA0")"
check "what is free in the pod goes along" sees a "$A" 0 '.pod.altnames == ["free-alt0"]'
check "DEL" del a "$(on "$VA0")"
check "all of them are there again" clean
batch "link property del dev $EA0 altname net1 altname taken-alt0 altname free-alt0"
forget
remember

# A pod may have an interface with the name that the VF has on the host.
ip -n a link add "$EA0" type dummy
check "ADD into a pod that has the VF's name" add a "$(on "$VA0")"
check "DEL" del a "$(on "$VA0")"
check "as before" clean

check "ADD, and its host name is taken meanwhile" add a "$(on "$VA0")"
ip link add "$EA0" type dummy
check "DEL" del a "$(on "$VA0")"
check "another name until then" is "$(netdev "$VA0")" "vf01100"
check "ADD and DEL while it is taken" eval 'add b "$(on "$VA0")" && del b "$(on "$VA0")"'
ip link del "$EA0"
check "once it is free: ADD" add b "$(on "$VA0")"
check "DEL" del b "$(on "$VA0")"
check "has its name again" clean
no_pods a b

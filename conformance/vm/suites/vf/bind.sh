# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# bind.sh: drivers. vfio-pci takes a VF only where there is an IOMMU (topology numa).
up
vf create --pf "$A" --count 0
vf create --pf "$B" --count 0
vf create --pf "$A" --count 2
addresses
remember
driver() { basename "$(readlink "/sys/bus/pci/devices/$1/driver")"; }
check "igbvf has them" eval 'vf bind --driver igbvf "$VA0" "$EA1" && said "0 bound, 2 well"'
check "no such driver" vf_fails "modprobe no-such" bind --driver no-such "$VA0"
check "as before" as_before
echo "$VA0" >/sys/bus/pci/drivers/igbvf/unbind
check "without a driver" listed 'map(select(.pciAddress == "'"$VA0"'"))[0] | has("driver") or has("ifName") | not'
check "the kernel's choice" eval 'vf bind --driver default "$VA0" && said "none -> igbvf"'
check "as before" as_before
modprobe vfio-pci
if [ -z "$(ls /sys/kernel/iommu_groups)" ]; then
	# With the PF down igbvf makes an address up whenever it gets a VF.
	ip link set "$A" down
	check "vfio-pci without an IOMMU" vf_fails "vfio needs an IOMMU" bind --driver vfio-pci "$VA0"
	check "igbvf has it back" is "$(driver "$VA0")" igbvf
	ip link set "$A" up
	cable
	check "as before" as_before
else
	check "vfio-pci" eval 'vf bind --driver vfio-pci "$VA0" && said "igbvf -> vfio-pci"'
	check "has it" is "$(driver "$VA0")" vfio-pci
	check "it counts as in use" vf_fails "is bound to vfio-pci" create --pf "$A" --count 3
	check "repair has nothing to do" eval 'vf repair && said "0 repaired, 2 well"'
	pods a
	check "ADD" add a "$(on "$VA0" '"vlan":7')"
	check "bind is refused" vf_fails "belongs to container a" bind --driver igbvf "$VA0"
	check "DEL" del a "$(on "$VA0")"
	no_pods a
	check "igbvf again" eval 'vf bind --driver default "$VA0" && said "vfio-pci -> igbvf"'
	check "as before" as_before
	check "as before to repair" eval 'vf repair && said "0 repaired, 2 well"'
	check "made for it" vf create --pf "$A" --count 1 --driver vfio-pci
	check "vfio-pci has it" is "$(driver "$VA0")" vfio-pci
	check "igbvf" vf bind --driver igbvf "$VA0"
	check "has it" is "$(driver "$VA0")" igbvf
	check "its MAC" macs "$A" 1
fi

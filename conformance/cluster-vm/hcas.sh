# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# hcas.sh: HCAs that pods share, and the programs of shared.sh, in the guest. Sourced there by calls.sh.
#
# The RDMA devices are those of rxe.sh. The interfaces of their VFs are ib0 and ib1, as in the ConfigMap of the other plugin.

hcas_begin() # PEERS
{
	local i vf root
	root=$(node_root 1)
	rdma_begins && modprobe -a rdma_ucm ib_umad || return
	for i in 0 1; do
		vf=$(pci pf0 $i)
		netdev "$vf" >"$W/netdev.$i" && ip link set "$(<"$W/netdev.$i")" name "ib$i" || return
	done
	cp "$1/bin/k8s-rdma-shared-dp" "$root/usr/local/bin" && mkdir -p "$root/k8s-rdma-shared-dev-plugin" "$root/root/.cache" &&
		packaging/kubernetes/rootfs.sh "$FROM" "$root/opt/railheadd" && probe_files "$root/opt/probe" || return
	# The other plugin wants names of cards for its log.
	: >"$root/root/.cache/pci.ids"
}
hcas_end()
{
	local i root
	root=$(node_root 1)
	for i in 0 1; do
		ip link set "ib$i" down
		ip link set "ib$i" name "$(<"$W/netdev.$i")"
	done
	rm -r "$root"/usr/local/bin/k8s-rdma-shared-dp "$root"/k8s-rdma-shared-dev-plugin "$root"/opt/{railheadd,probe}
	rdma_ends
}

# probe_files FOLDER: rdma-probe with its libraries, for a container of busybox.
probe_files()
{
	local driver
	driver=$(ls /usr/lib/*-linux-gnu/libibverbs/librxe-*.so)
	install -D -m 755 "$FROM/rdma-probe" "$1/usr/bin/rdma-probe" && install -D -m 755 "$driver" "$1$driver" &&
		install -D -m 644 /etc/libibverbs.d/rxe.driver "$1/etc/rxe.driver" &&
		packaging/kubernetes/rootfs.sh --libraries "$1" "$FROM/rdma-probe" "$driver"
}

# hca_goes N, hca_comes N: the RDMA device below the VF N of pf0.
hca_goes()
{
	rdma link delete "hca$1" && rm -r "$(node_root 1)/bus/$(pci pf0 "$1")"/{infiniband/hca,infiniband_verbs/uverbs}*
}
hca_comes()
{
	local at uverbs
	at=$(node_root 1)/bus/$(pci pf0 "$1")
	rdma link add "hca$1" type rxe netdev "s$1" && uverbs=$(grep -lx "hca$1" /sys/class/infiniband_verbs/*/ibdev) &&
		mkdir "$at/infiniband/hca$1" "$at/infiniband_verbs/$(basename "${uverbs%/ibdev}")"
}

// SPDX-License-Identifier: Apache-2.0
/* Trees put together: shapes that no capture has, and trees that somebody made to do harm. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "topo/read/read.h"
#include "topo/testing/tree.h"

#define PORT0 "pci0000:00/0000:00:01.0"
#define NIC   PORT0 "/0000:01:00.0"
#define NIC1  PORT0 "/0000:01:00.1"

static const struct tree_fn port0 = { PORT0, 0x060400, 0x8086, 0x2030, 0, "16.0 GT/s PCIe\n", 16 };
static const struct tree_fn nic = { NIC, 0x020000, 0x15b3, 0x1021, 0, "32.0 GT/s PCIe\n", 8 };
static const struct tree_fn nic1 = { NIC1, 0x020000, 0x15b3, 0x1021, 0, "32.0 GT/s PCIe\n", 8 };

/* A root port, and a card of two functions below it; the folder of the test. */
static const char *card(void)
{
	static char sys[64];

	(void)snprintf(sys, sizeof(sys), "%s/sys", testing_dir());
	tree_add(sys, &port0);
	tree_add(sys, &nic);
	tree_add(sys, &nic1);
	return sys;
}

static void read_tree(struct topo_machine *m)
{
	tree_machine("/mnt", m);
}

static const struct topo_hca *hca(const struct topo_machine *m, const char *name)
{
	uint32_t i = topo_find_hca(m, name);

	ck_assert_msg(i != TOPO_NONE, "%s", name);
	return &m->hca[i];
}

START_TEST(the_weaker_end_counts)
{
	auto_topo_machine struct topo_machine m = { 0 };
	const char *sys = card();

	tree_put(sys, "devices/" NIC "/current_link_speed", "16.0 GT/s PCIe\n");
	tree_put(sys, "devices/" NIC "/current_link_width", "4\n");
	tree_put(sys, "devices/" NIC1 "/current_link_speed", "Unknown\n");
	tree_put(sys, "devices/" NIC1 "/max_link_speed", "Unknown\n");
	tree_put(sys, "devices/" NIC1 "/max_link_width", "255\n");
	read_tree(&m);
	ck_assert(m.n_pci == 3 && m.pci[0].kind == TOPO_ROOT_PORT && m.pci[0].max.speed == 0);
	ck_assert(m.pci[1].max.speed == 120 && m.pci[1].max.width == 8 && !m.pci[1].one_end);
	ck_assert(m.pci[1].cur.speed == 120 && m.pci[1].cur.width == 4);
	ck_assert(m.pci[2].max.speed == 120 && m.pci[2].max.width == 16 && m.pci[2].one_end);
	ck_assert(m.pci[2].cur.speed == 120 && m.pci[2].cur.width == 8); /* the port knows */
}
END_TEST

START_TEST(functions_of_one_card)
{
	auto_topo_machine struct topo_machine m = { 0 };
	const char *sys = card();

	tree_add_hca(sys, NIC, "mlx5_10", 0);
	tree_add_hca(sys, NIC1, "mlx5_2", 0);
	tree_add_netdev(sys, NIC, "eth5", 0);
	read_tree(&m);
	ck_assert(m.n_hcas == 2 && m.hca[0].card == 0 && m.hca[1].card == 0);
	ck_assert_str_eq(m.hca[0].name, "mlx5_10"); /* function 0 first */
	ck_assert_str_eq(m.hca[0].port[0].netdev, "eth5");
	ck_assert_str_eq(m.hca[1].port[0].netdev, "");
	/* with GUIDs, these decide */
	tree_put(sys, "devices/" NIC "/infiniband/mlx5_10/sys_image_guid", "0000:0000:0000:0001\n");
	tree_put(sys, "devices/" NIC1 "/infiniband/mlx5_2/sys_image_guid", "0000:0000:0000:0002\n");
	tree_put(sys, "devices/" NIC1 "/infiniband/mlx5_2/node_guid", "0000:0000:0000:0003\n");
	topo_machine_clear(&m);
	read_tree(&m);
	ck_assert(m.hca[0].card == 0 && m.hca[1].card == 1 && m.hca[1].guid == 2);
	ck_assert(m.hca[0].node == 0 && m.hca[1].node == 3);
}
END_TEST

START_TEST(ports_and_representors)
{
	auto_topo_machine struct topo_machine m = { 0 };
	const char *sys = card();

	tree_add_hca(sys, NIC, "mlx4_0", 7);
	tree_put(sys, "devices/" NIC "/infiniband/mlx4_0/ports/2/state", "1: DOWN\n");
	tree_put(sys, "devices/" NIC "/infiniband/mlx4_0/ports/x/state", "1: DOWN\n");
	tree_add_netdev(sys, NIC, "a_rep", 0);
	tree_put(sys, "devices/" NIC "/net/a_rep/phys_port_name", "pf0vf0\n");
	tree_add_netdev(sys, NIC, "eth0", 0);
	tree_put(sys, "devices/" NIC "/net/eth0/phys_port_name", "p0\n");
	tree_add_netdev(sys, NIC, "eth1", 1);
	read_tree(&m);
	const struct topo_hca *h = hca(&m, "mlx4_0");
	ck_assert(h->n_ports == 2 && h->port[0].port == 1 && h->port[1].port == 2);
	ck_assert(h->port[0].active == TOPO_YES && h->port[1].active == TOPO_NO);
	ck_assert(h->port[0].rate_mbps == 400000 && h->port[1].rate_mbps == 0);
	ck_assert(h->port[1].layer == TOPO_LAYER_UNKNOWN && h->kind == TOPO_HCA_PF);
	ck_assert_str_eq(h->port[0].netdev, "eth0");
	ck_assert_str_eq(h->port[1].netdev, "eth1");
	/* the GID table knows better */
	tree_put(sys, "devices/" NIC "/infiniband/mlx4_0/ports/1/gid_attrs/ndevs/0", "vlan7\n");
	topo_machine_clear(&m);
	read_tree(&m);
	ck_assert_str_eq(m.hca[0].port[0].netdev, "vlan7");
	ck_assert(!m.hca[0].port[0].representor);
	ck_assert_str_eq(m.hca[0].port[0].state, "ACTIVE");
	ck_assert_str_eq(m.hca[0].port[1].state, "DOWN");
	/* mlx5 has a port for each representor, and its GIDs. */
	tree_put(sys, "devices/" NIC "/infiniband/mlx4_0/ports/2/gid_attrs/ndevs/0", "a_rep\n");
	topo_machine_clear(&m);
	read_tree(&m);
	ck_assert_str_eq(m.hca[0].port[1].netdev, "a_rep");
	ck_assert(m.hca[0].port[1].representor);
}
END_TEST

START_TEST(vfs_are_as_fast_as_their_pf)
{
	auto_topo_machine struct topo_machine m = { 0 };
	const char *sys = card();

	tree_add_vfs(sys, NIC, 2, "vf");
	tree_put(sys, "devices/" PORT0 "/0000:01:00.2/infiniband/vf0/ports/1/rate", "1 Gb/sec\n");
	tree_put(sys, "devices/" PORT0 "/0000:01:00.3/infiniband/vf1/ports/2/state", "1: DOWN\n");
	/* without the PF's device they are asked themselves */
	read_tree(&m);
	ck_assert(hca(&m, "vf0")->port[0].rate_mbps == 1000 && hca(&m, "vf0")->guid == 0);
	ck_assert(hca(&m, "vf1")->port[0].rate_mbps == 400000 && hca(&m, "vf1")->n_ports == 2);
	/* by links, and by numbers that agree with the first of them */
	tree_add_hca(sys, NIC, "pf", 77);
	tree_put(sys, "devices/" NIC "/infiniband/pf/ports/2/state", "4: ACTIVE\n");
	tree_put(sys, "devices/" NIC "/sriov_numvfs", "2\n");
	for (int i = 0; i < 2; i++) {
		if (i) {
			tree_put(sys, "devices/" NIC "/sriov_offset", "2\n");
			tree_put(sys, "devices/" NIC "/sriov_stride", "1\n");
		}
		tree_ln(sys, "devices/" NIC "/virtfn0", "../0000:01:00.2");
		tree_ln(sys, "devices/" NIC "/virtfn1", "../0000:01:00.3");
		topo_machine_clear(&m);
		read_tree(&m);
		const struct topo_hca *vf = hca(&m, "vf0"), *other = hca(&m, "vf1");
		ck_assert(vf->kind == TOPO_HCA_VF && vf->port[0].rate_mbps == 400000);
		ck_assert(vf->port[0].layer == TOPO_ETHERNET && vf->guid == 77 && vf->n_ports == 1);
		ck_assert(other->n_ports == 2 && other->port[1].active == TOPO_NO);
		ck_assert(m.pci[other->pci].is_vf && m.pci[m.pci[other->pci].physfn].addr.fn == 0);
		ck_assert(m.pci[other->pci].class_code == 0x020000 && other->card == vf->card);
		ck_assert(m.pci[vf->pci].parent == 0 && m.pci[other->pci].parent == 0);
	}
}
END_TEST

START_TEST(vfs_and_subfunctions_and_no_link)
{
	auto_topo_machine struct topo_machine m = { 0 };
	const char *sys = card();

	tree_add_vfs(sys, NIC, 3, "vf");
	tree_add_hca(sys, NIC "/mlx5_core.sf.4", "sf", 0);
	/* an older kernel's: a folder in class/infiniband with a link `device` */
	tree_put(sys, "class/infiniband/old/ports/1/state", "4: ACTIVE\n");
	tree_ln(sys, "class/infiniband/old/device", "../../../devices/" NIC1);
	/* one that tells nothing */
	tree_put(sys, "class/infiniband/bare/node_type", "1: CA\n");
	read_tree(&m);
	ck_assert(m.n_hcas == 6 && m.n_notes == 0);
	const struct topo_hca *vf = hca(&m, "vf2"), *sf = hca(&m, "sf");
	ck_assert(vf->kind == TOPO_HCA_VF && m.pci[vf->pci].addr.fn == 4 && m.pci[vf->pci].is_vf);
	ck_assert(m.pci[m.pci[vf->pci].physfn].addr.fn == 0 && vf->card == sf->card);
	ck_assert(sf->kind == TOPO_HCA_SF && m.pci[sf->pci].addr.fn == 0);
	ck_assert(hca(&m, "old")->kind == TOPO_HCA_PF && m.pci[hca(&m, "old")->pci].addr.fn == 1);
	ck_assert(hca(&m, "bare")->pci == TOPO_NONE && hca(&m, "bare")->kind == TOPO_HCA_PF);
	ck_assert_str_eq(m.hca[5].name, "bare");
}
END_TEST

static void bond(const char *sys)
{
	tree_add_netdev(sys, NIC, "eth0", 0);
	tree_add_netdev(sys, NIC1, "eth1", 0);
	tree_put(sys, "devices/virtual/net/bond0/bonding/slaves", "eth0 eth1\n");
	tree_ln(sys, "class/net/bond0", "../../devices/virtual/net/bond0");
	tree_ln(sys, "devices/" NIC "/net/eth0/master", "../../../../../virtual/net/bond0");
}

/* A VPD: resources of bytes, and among them fields of the vendor. Without NULs, which real ones
 * have. */
#define VPD_BEGIN                                                                                  \
	"\x82\x0c\x01"                                                                             \
	"ConnectX-7\x90\x20\x01"                                                                   \
	"V2\x10"                                                                                   \
	"MLX:MN=MLNX:"

START_TEST(ports_of_nvswitches_and_smi_devices_are_no_network)
{
	static const struct topo_read_opts no_vpd = { .no_vpd = true };
	auto_topo_machine struct topo_machine m = { 0 }, fast = { 0 };
	const char *sys = card();
	struct err e = { .msg = "" };

	tree_add_hca(sys, NIC, "mlx5_0", 1);
	tree_add_hca(sys, NIC, "smi1", 1);
	tree_add_hca(sys, NIC, "smile", 1);
	tree_add_netdev(sys, NIC, "ibp1s0", 0);
	tree_add_hca(sys, NIC1, "mlx5_1", 2);
	tree_put(sys, "devices/" NIC "/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n");
	tree_put(sys, "devices/" NIC1 "/infiniband/mlx5_1/ports/1/link_layer", "InfiniBand\n");
	tree_put(sys, "devices/" NIC "/vpd", VPD_BEGIN "CSKU=V2:MODL=CX713106A\x78");
	tree_put(sys, "devices/" NIC1 "/vpd", VPD_BEGIN "SMDL=SW_MNG:PCI=V0\x78");
	read_tree(&m);
	ck_assert(hca(&m, "mlx5_0")->kind == TOPO_HCA_PF);
	ck_assert_str_eq(hca(&m, "mlx5_0")->port[0].netdev, "ibp1s0");
	ck_assert(hca(&m, "smi1")->kind == TOPO_HCA_SMI && !topo_is_network(hca(&m, "smi1")));
	ck_assert_str_eq(hca(&m, "smi1")->port[0].netdev, "");
	ck_assert(hca(&m, "smile")->kind == TOPO_HCA_PF);
	ck_assert(hca(&m, "mlx5_1")->kind == TOPO_HCA_NVSWITCH);
	ck_assert(!topo_is_network(hca(&m, "mlx5_1")) && !m.n_notes);

	ck_assert_int_eq(topo_read_sysfs(sys, NULL, &no_vpd, &fast, &e), 0);
	ck_assert(hca(&fast, "mlx5_1")->kind == TOPO_HCA_PF);
}
END_TEST

/* A folder in its place cannot be read, as the VPD by other users than root. */
START_TEST(a_hidden_vpd_is_said_of_the_fourth_function)
{
	static const struct tree_fn fourth = {
		PORT0 "/0000:01:00.3", 0x020700, 0x15b3, 0x1021, 0, NULL, 0
	};
	auto_topo_machine struct topo_machine m = { 0 };
	const char *sys = card();

	tree_add(sys, &fourth);
	tree_add_hca(sys, NIC, "mlx5_0", 1);
	tree_add_hca(sys, fourth.path, "mlx5_3", 1);
	for (int i = 0; i < 2; i++) {
		char path[128];

		(void)snprintf(path, sizeof(path), "devices/%s/infiniband/%s/ports/1/link_layer",
			       i ? fourth.path : NIC, i ? "mlx5_3" : "mlx5_0");
		tree_put(sys, path, "InfiniBand\n");
		(void)snprintf(path, sizeof(path), "devices/%s/vpd/x", i ? fourth.path : NIC);
		tree_put(sys, path, "");
	}
	read_tree(&m);
	ck_assert(hca(&m, "mlx5_3")->kind == TOPO_HCA_PF);
	ck_assert_uint_eq(m.n_notes, 1);
	ck_assert_str_eq(m.note[0], "mlx5_3 may be a port of an NVSwitch: its VPD cannot be read");
}
END_TEST

START_TEST(a_bond_has_two_functions)
{
	auto_topo_machine struct topo_machine m = { 0 };
	const char *sys = card();

	bond(sys);
	tree_add_hca(sys, NIC, "mlx5_bond_0", 9);
	read_tree(&m);
	ck_assert(m.n_hcas == 1 && m.hca[0].kind == TOPO_HCA_BOND && m.hca[0].second != TOPO_NONE);
	ck_assert(m.pci[m.hca[0].pci].addr.fn == 0 && m.pci[m.hca[0].second].addr.fn == 1);
	/* the GID table may name the bond itself */
	tree_put(sys, "devices/" NIC "/infiniband/mlx5_bond_0/ports/1/gid_attrs/ndevs/0",
		 "bond0\n");
	topo_machine_clear(&m);
	read_tree(&m);
	ck_assert(m.hca[0].kind == TOPO_HCA_BOND && m.pci[m.hca[0].second].addr.fn == 1);
	/* a bond of interfaces that have RDMA devices of their own */
	tree_add_hca(sys, NIC1, "mlx5_1", 9);
	topo_machine_clear(&m);
	read_tree(&m);
	ck_assert(m.n_hcas == 2 && m.hca[0].kind == TOPO_HCA_PF && m.hca[0].second == TOPO_NONE);
}
END_TEST

START_TEST(software_devices)
{
	auto_topo_machine struct topo_machine m = { 0 };
	const char *sys = card();

	tree_add_netdev(sys, NIC1, "eth1", 0);
	tree_put(sys, "devices/virtual/net/lo/dev_port", "0\n");
	tree_ln(sys, "class/net/lo", "../../devices/virtual/net/lo");
	tree_add_hca(sys, "virtual", "rxe0", 0);
	tree_put(sys, "devices/virtual/infiniband/rxe0/parent", "eth1\n");
	tree_add_hca(sys, "virtual", "rxe1", 0);
	tree_put(sys, "devices/virtual/infiniband/rxe1/parent", "lo\n");
	tree_add_hca(sys, "virtual", "siw0", 0);
	tree_put(sys, "devices/virtual/infiniband/siw0/ports/1/gid_attrs/ndevs/0", "eth1\n");
	read_tree(&m);
	ck_assert_uint_eq(m.n_hcas, 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(m.hca[i].kind, TOPO_HCA_SOFTWARE);
	ck_assert(m.pci[hca(&m, "rxe0")->pci].addr.fn == 1 && hca(&m, "rxe1")->pci == TOPO_NONE);
	ck_assert_uint_eq(hca(&m, "siw0")->pci, hca(&m, "rxe0")->pci);
}
END_TEST

START_TEST(a_root_complex_below_a_function_is_found)
{
	static const struct tree_fn vmd = {
		PORT0 "/0000:02:00.0", 0x010400, 0x8086, 0x201d, 1, NULL, 0
	};
	static const struct tree_fn far = { PORT0 "/0000:02:00.0/pci10000:e0/10000:e0:01.0",
					    0x010802,
					    0x8086,
					    0x0a54,
					    1,
					    NULL,
					    0 };
	static const struct tree_fn next = {
		PORT0 "/0000:03:00.0", 0x020000, 0x15b3, 0x1021, 1, NULL, 0
	};
	auto_topo_machine struct topo_machine m = { 0 };
	const char *sys = card();

	tree_add(sys, &vmd);
	tree_add(sys, &far);
	tree_add(sys, &next);
	tree_put(sys, "devices/system/node/node1/cpumap", "ff\n");
	read_tree(&m);
	ck_assert(m.n_pci == 6 && m.n_roots == 2 && m.n_notes == 0);
	ck_assert_str_eq(m.root[1].name, "pci10000:e0");
	ck_assert(m.pci[5].root == 1 && m.pci[5].parent == TOPO_NONE);
	ck_assert(m.pci[4].addr.bus == 3 && m.pci[4].parent == 0 && m.pci[4].root == 0);
	ck_assert(m.cpu[m.root[0].cpu].numa == 0 && m.cpu[m.root[1].cpu].numa == 1);
	ck_assert_str_eq(m.cpu[m.root[1].cpu].affinity, "ff");
}
END_TEST

START_TEST(gpus_by_vendor_and_class)
{
	static const struct tree_fn fns[] = {
		{ PORT0 "/0000:10:00.0", 0x030200, 0x10de, 0x2330, 0, NULL, 0 },
		{ PORT0 "/0000:11:00.0", 0x120000, 0x1002, 0x74a1, 0, NULL, 0 },
		{ PORT0 "/0000:12:00.0", 0x120000, 0x1da3, 0x1020, 0, NULL, 0 },
		{ PORT0 "/0000:13:00.0", 0x120000, 0x19e5, 0xd802, 0, NULL, 0 },
		{ PORT0 "/0000:14:00.0", 0x030000, 0x1a03, 0x2000, 0, NULL,
		  0 }, /* management: ASPEED */
		{ PORT0 "/0000:15:00.0", 0x030000, 0x1002, 0x515e, 0, NULL, 0 }, /* ES1000 */
		{ PORT0 "/0000:16:00.0", 0x038000, 0x8086, 0x0bd5, 0, NULL,
		  0 }, /* below no switch */
		{ PORT0 "/0000:17:00.0", 0x0b4000, 0x8086, 0x0435, 0, NULL, 0 }, /* crypto */
		{ PORT0 "/0000:18:00.0", 0x068000, 0x10de, 0x1af1, 0, NULL, 0 }, /* NVSwitch */
		{ PORT0 "/0000:19:00.0", 0x060400, 0x10b5, 0x9797, 0, "8.0 GT/s PCIe\n", 16 },
		{ PORT0 "/0000:19:00.0/0000:1a:00.0", 0x060400, 0x10b5, 0x9797, 0,
		  "8.0 GT/s PCIe\n", 16 },
		{ PORT0 "/0000:19:00.0/0000:1a:00.0/0000:1b:00.0", 0x038000, 0x8086, 0x0bd5, 0,
		  NULL, 0 },
		{ PORT0 "/0000:10:00.4", 0x030200, 0x10de, 0x2330, 0, NULL, 0 },
	};
	static const enum topo_vendor want[] = { TOPO_NVIDIA, TOPO_AMD, TOPO_GAUDI, TOPO_ASCEND,
						 TOPO_OTHER };
	auto_topo_machine struct topo_machine m = { 0 };
	const char *sys = card();

	for (size_t i = 0; i < ARRAY_SIZE(fns); i++)
		tree_add(sys, &fns[i]);
	tree_ln(sys, "devices/" PORT0 "/0000:10:00.4/physfn", "../0000:10:00.0"); /* a vGPU */
	read_tree(&m);
	ck_assert_uint_eq(m.n_gpus, ARRAY_SIZE(want));
	for (size_t i = 0; i < m.n_gpus; i++) {
		ck_assert(m.gpu[i].vendor == want[i] && m.gpu[i].index == (int)i);
		ck_assert(m.gpu[i].on_package == (want[i] == TOPO_GAUDI || want[i] == TOPO_ASCEND));
	}
}
END_TEST

START_TEST(the_processor_is_told)
{
	static const struct {
		const char *cpuinfo, *arch, *vendor;
		int family, model;
		enum topo_tristate vm;
	} in[] = {
		{ "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
		  "flags\t\t: fpu hypervisor\n\nprocessor\t: 1\nvendor_id\t: x\n",
		  "x86_64", "AuthenticAMD", 175, 17, TOPO_YES },
		{ "vendor_id\t: AuthenticAMD\ncpu family\t: 23\nmodel\t\t: 49\n\n", "x86_64",
		  "AuthenticAMD", 143, 49, TOPO_UNKNOWN },
		{ "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n\n", "x86_64",
		  "GenuineIntel", 6, 143, TOPO_UNKNOWN },
		{ "vendor_id\t:   Shanghai  \nflags\t\t: fpu hypervisors\n\n", "x86_64",
		  "  Shanghai  ", -1, -1, TOPO_NO },
		{ "processor\t: 0\nCPU implementer\t: 0x41\n\n", "arm64", "", -1, -1,
		  TOPO_UNKNOWN },
		{ "processor\t: 0\ncpu\t\t: POWER9, altivec supported\n\n", "ppc64", "", -1, -1,
		  TOPO_UNKNOWN },
		{ "no colon\n:\n\t:\n", "", "", -1, -1, TOPO_UNKNOWN },
	};
	const char *sys = card();

	tree_put(sys, "devices/system/node/node0/cpumap", "ffff\n");
	for (size_t i = 0; i < ARRAY_SIZE(in); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		tree_put("/mnt", "proc/cpuinfo", in[i].cpuinfo);
		read_tree(&m);
		ck_assert_str_eq(m.cpu[0].arch, in[i].arch);
		ck_assert_str_eq(m.cpu[0].vendor, in[i].vendor);
		ck_assert(m.cpu[0].family == in[i].family && m.cpu[0].model == in[i].model);
		ck_assert_int_eq(m.vm, in[i].vm);
	}
}
END_TEST

START_TEST(hyper_v_is_known_by_its_firmware)
{
	static const struct {
		const char *version;
		enum topo_tristate hyperv;
	} in[] = { { "Hyper-V UEFI Release v4.1\n", TOPO_YES },
		   { "Hyper-V UEFI Releas\n", TOPO_NO },
		   { "a Hyper-V UEFI Release\n", TOPO_NO },
		   { "\n", TOPO_NO } };
	const char *sys = card();

	for (size_t i = 0; i <= ARRAY_SIZE(in); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		read_tree(&m);
		ck_assert_int_eq(m.hyperv, i ? in[i - 1].hyperv : TOPO_UNKNOWN);
		if (i < ARRAY_SIZE(in))
			tree_put(sys, "devices/virtual/dmi/id/bios_version", in[i].version);
	}
}
END_TEST

/* ---- only some functions ---- */

START_TEST(only_some_functions)
{
	static const char *const bdf[] = { "0000:01:00.1", "0000:01:00.4", "0000:0f:00.0", "x",
					   "0000:01:00.1" };
	auto_topo_machine struct topo_machine m = { 0 };
	const char *sys = card();
	struct err e = { 0 };

	tree_add_vfs(sys, NIC, 4, NULL);
	ck_assert_int_eq(topo_read_functions(sys, bdf, ARRAY_SIZE(bdf), &m, &e), 0);
	ck_assert(m.n_pci == 3 && m.n_notes == 0 && m.n_gpus == 0 && m.n_hcas == 0);
	ck_assert(m.pci[0].kind == TOPO_ROOT_PORT && m.pci[1].parent == 0 && m.pci[2].parent == 0);
	ck_assert(m.pci[2].is_vf && m.pci[2].physfn == TOPO_NONE && m.pci[2].addr.fn == 4);
	ck_assert(m.n_roots == 1 && m.cpu[m.root[0].cpu].numa == 0);
}
END_TEST

/* ---- harm ---- */

START_TEST(links_out_of_the_tree_are_not_followed)
{
	auto_topo_machine struct topo_machine m = { 0 };
	const char *sys = card();

	tree_put("/mnt", "out/0000:0a:00.0/class", "0x030200\n");
	tree_put("/mnt", "out/0000:0a:00.0/vendor", "0x10de\n");
	tree_put("/mnt", "out/mlx5_9/ports/1/state", "4: ACTIVE\n");
	tree_ln(sys, "bus/pci/devices/0000:0a:00.0", "/mnt/out/0000:0a:00.0");
	tree_ln(sys, "bus/pci/devices/0000:0b:00.0", "../../../../out/0000:0a:00.0");
	tree_ln(sys, "bus/pci/devices/0000:0c:00.0", "0000:0c:00.0");
	tree_ln(sys, "bus/pci/devices/0000:0d:00.0", "../../../devices/" NIC); /* another's */
	tree_ln(sys, "devices/pci0000:00/0000:0a:00.0", "../../../out/0000:0a:00.0");
	tree_ln(sys, "bus/pci/devices/0000:0a:00.0", "../../../devices/pci0000:00/0000:0a:00.0");
	tree_ln(sys, "class/infiniband/mlx5_8", "../../../out/mlx5_9");
	tree_ln(sys, "class/infiniband/mlx5_9", "/mnt/out/mlx5_9");
	tree_ln(sys, "devices/" NIC "/device", "/mnt/out/0000:0a:00.0/vendor");
	read_tree(&m);
	ck_assert(m.n_pci == 3 && m.n_gpus == 0 && m.n_hcas == 0 && m.n_notes == 6);
	ck_assert(m.pci[1].vendor == 0x15b3);
	/* nor where the folders are walked */
	ck_assert_int_eq(system("rm -r /mnt/sys/bus"), 0);
	topo_machine_clear(&m);
	read_tree(&m);
	ck_assert(m.n_pci == 3 && m.n_gpus == 0);
}
END_TEST

START_TEST(what_is_no_file_of_that_kind)
{
	static char big[8192];
	auto_topo_machine struct topo_machine m = { 0 };
	const char *sys = card();

	memset(big, '1', sizeof(big) - 1);
	tree_put(sys, "devices/" NIC "/numa_node", big);
	tree_put(sys, "devices/" NIC "/max_link_width", "12345678901234567890\n");
	tree_put(sys, "devices/" NIC1 "/class", "");
	tree_put(sys, "devices/" NIC1 "/vendor", "0x15b3 or so\n");
	ck_assert_int_eq(remove("/mnt/sys/devices/" NIC1 "/numa_node"), 0);
	ck_assert_int_eq(mkfifo("/mnt/sys/devices/" NIC1 "/numa_node", 0600), 0);
	tree_put(sys, "devices/" PORT0 "/config", "too short");
	tree_put(sys, "class/infiniband/a\"b/ports/1/state", "4: ACTIVE\n");
	tree_put(sys, "class/infiniband/a\nb/ports/1/state", "4: ACTIVE\n");
	tree_put(sys, "class/infiniband/c/ports", "a file\n");
	tree_put(sys, "bus/pci/devices/readme", "not a function\n");
	tree_put(sys, "devices/system/node/node99999/cpumap", "1\n");
	read_tree(&m);
	ck_assert(m.n_pci == 3 && m.pci[1].numa == -1 && m.pci[1].max.width == 16);
	ck_assert(!m.pci[2].has_class && !m.pci[2].has_ids && m.pci[2].numa == -1);
	ck_assert(m.n_hcas == 1 && m.hca[0].n_ports == 0 && m.n_notes == 2 && !m.full_config);
}
END_TEST

START_TEST(thousands_of_vfs)
{
	auto_topo_machine struct topo_machine m = { 0 };
	const char *sys = card();
	char pf[64], stem[16];

	for (unsigned i = 0; i < 17; i++) {
		(void)snprintf(pf, sizeof(pf), "pci0000:00/0000:00:02.0/0000:%02x:00.0", 0x10 + i);
		(void)snprintf(stem, sizeof(stem), "v%u_", i);
		struct tree_fn f = { pf, 0x020000, 0x15b3, 0x1021, 0, NULL, 0 };
		tree_add(sys, &f);
		tree_add_vfs(sys, pf, 241, i < 2 ? stem : NULL);
	}
	read_tree(&m);
	ck_assert(m.n_pci == 3 + 1 + 17 * 242 && m.n_hcas == 482 && m.n_notes == 0);
	size_t vfs = 0;
	for (size_t i = 0; i < m.n_pci; i++)
		vfs += m.pci[i].is_vf && m.pci[m.pci[i].physfn].addr.bus == m.pci[i].addr.bus;
	ck_assert_uint_eq(vfs, 17 * 241);
	ck_assert(m.hca[0].card == 0 && m.hca[240].card == 0 && m.hca[241].card == 241);
}
END_TEST

TEST_PROGRAM("read_hca", the_weaker_end_counts, functions_of_one_card, ports_and_representors,
	     vfs_are_as_fast_as_their_pf, vfs_and_subfunctions_and_no_link,
	     ports_of_nvswitches_and_smi_devices_are_no_network,
	     a_hidden_vpd_is_said_of_the_fourth_function, a_bond_has_two_functions,
	     software_devices, a_root_complex_below_a_function_is_found, gpus_by_vendor_and_class,
	     the_processor_is_told, hyper_v_is_known_by_its_firmware, only_some_functions,
	     links_out_of_the_tree_are_not_followed, what_is_no_file_of_that_kind, thousands_of_vfs)

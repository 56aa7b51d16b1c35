/* SPDX-License-Identifier: Apache-2.0 */
/* netdev_test.c: shows which interface and RDMA device of a function are chosen. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/device/pci_priv.h"
#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "lib/testing/pci.h"

#define PF "10000:3b:00.0"
#define VF "10000:3b:00.2"

static const char *make_tree(void)
{
	const char *root = testing_dir();

	fakepci_function(root, PF);
	fakepci_vfs(root, PF, (struct fakepci_vfs){ 1, 8, 2, 1 });
	return root;
}

START_TEST(the_first_by_name)
{
	static const char *const made[] = { "fifteen-bytes-x", "eth2", "eth9", "eth10", "f" };
	static const char *const first[] = { "fifteen-bytes-x", "eth2", "eth2", "eth10", "eth10" };
	const char *root = make_tree();
	char out[IFNAME_LEN];
	struct err e = { 0 };

	/* What no interface can be called. */
	fakepci_file(root, PF, "net/a-sixteen-bytes-x/address", "");
	fakepci_file(root, PF, "net/.hidden", "");
	ck_assert_int_eq(pci_pf_netdev(root, PF, out, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		fakepci_netdev(root, PF, made[i], NULL);
		ck_assert_int_eq(pci_pf_netdev(root, PF, out, &e), 0);
		ck_assert_str_eq(out, first[i]);
		ck_assert_int_eq(pci_vf_netdev(root, PF, out, &e), 0);
		ck_assert_str_eq(out, first[i]);
	}
}
END_TEST

START_TEST(what_has_no_interfaces)
{
	const char *root = make_tree();
	char out[IFNAME_LEN] = "before";
	struct err e = { 0 };

	ck_assert_int_eq(pci_vf_netdev(root, VF, out, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_str_eq(e.msg, "PCI function " VF " has no network device here");
	ck_assert_int_eq(pci_pf_netdev(root, PF, out, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_int_eq(pci_vf_netdev(root, "0000:99:00.0", out, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(pci_pf_netdev(root, "0000:99:00.0", out, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_str_eq(out, "before");
}
END_TEST

START_TEST(the_interface_of_a_vf)
{
	const char *root = make_tree();
	char out[IFNAME_LEN];
	struct err e = { 0 };

	fakepci_netdev(root, VF, "ens3f0v0", NULL);
	ck_assert_int_eq(pci_vf_netdev(root, VF, out, &e), 0);
	ck_assert_str_eq(out, "ens3f0v0");
}
END_TEST

START_TEST(a_folder_that_is_none)
{
	const char *root = make_tree();
	char out[IFNAME_LEN], rdma[PCI_RDMA_LEN];
	struct err e = { 0 };

	fakepci_file(root, PF, "net", "");
	fakepci_file(root, PF, "infiniband", "");
	ck_assert_int_eq(pci_pf_netdev(root, PF, out, &e), -1);
	ck_assert_int_eq(e.code, ERR_IO);
	ck_assert_int_eq(pci_rdma_device(root, PF, rdma, &e), -1);
	ck_assert_int_eq(e.code, ERR_IO);
	ck_assert_ptr_nonnull(strstr(e.msg, "PCI function " PF));
}
END_TEST

/* ---- the PF's own interface ---- */

START_TEST(a_pf_without_a_port_name)
{
	const char *root = make_tree();
	char out[IFNAME_LEN];
	struct err e = { 0 };

	fakepci_netdev(root, PF, "ens3f0", NULL);
	ck_assert_int_eq(pci_pf_netdev(root, PF, out, &e), 0);
	ck_assert_str_eq(out, "ens3f0");
	fakepci_netdev(root, PF, "ens3f0", "p0\n");
	ck_assert_int_eq(pci_pf_netdev(root, PF, out, &e), 0);
	ck_assert_str_eq(out, "ens3f0");
}
END_TEST

START_TEST(a_pf_among_its_representors)
{
	const char *root = make_tree();
	char out[IFNAME_LEN] = "before", name[IFNAME_LEN], port[32];
	struct err e = { 0 };

	for (int i = 0; i < 250; i++) {
		(void)snprintf(name, sizeof(name), "enp59s0r%d", i);
		(void)snprintf(port, sizeof(port), "pf0vf%d\n", i);
		fakepci_netdev(root, PF, name, port);
	}
	fakepci_netdev(root, PF, "eth0", "c1pf0\n");
	fakepci_netdev(root, PF, "eth1", "pf0sf88\n");
	ck_assert_int_eq(pci_pf_netdev(root, PF, out, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_str_eq(out, "before");
	fakepci_netdev(root, PF, "uplink", "p0\n");
	ck_assert_int_eq(pci_pf_netdev(root, PF, out, &e), 0);
	ck_assert_str_eq(out, "uplink");
}
END_TEST

/* mlx4: one function, an interface for each port. */
START_TEST(a_pf_of_two_ports)
{
	const char *root = make_tree();
	char out[IFNAME_LEN] = "before";
	struct err e = { 0 };

	fakepci_netdev(root, PF, "eth3", NULL);
	fakepci_netdev(root, PF, "eth4", "pf0vf0\n");
	ck_assert_int_eq(pci_pf_netdev_second(root, PF, out, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_str_eq(out, "before");
	fakepci_netdev(root, PF, "eth5", NULL);
	ck_assert_int_eq(pci_pf_netdev(root, PF, out, &e), 0);
	ck_assert_str_eq(out, "eth3");
	ck_assert_int_eq(pci_pf_netdev_second(root, PF, out, &e), 0);
	ck_assert_str_eq(out, "eth5");
}
END_TEST

/* As with one that is just being unregistered: its port cannot be told, so it is not taken. */
START_TEST(an_interface_that_vanishes)
{
	const char *root = make_tree();
	char out[IFNAME_LEN];
	struct err e = { 0 };

	fakepci_netdev(root, PF, "eth0", NULL);
	fakepci_link(root, PF, "net/eth0/phys_port_name", "elsewhere");
	ck_assert_int_eq(pci_pf_netdev(root, PF, out, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	fakepci_netdev(root, PF, "eth1", NULL);
	ck_assert_int_eq(pci_pf_netdev(root, PF, out, &e), 0);
	ck_assert_str_eq(out, "eth1");
}
END_TEST

/* ---- RDMA ---- */

START_TEST(the_rdma_device)
{
	const char *root = make_tree();
	char out[PCI_RDMA_LEN] = "before";
	struct err e = { 0 };

	ck_assert_int_eq(pci_rdma_device(root, VF, out, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_str_eq(e.msg, "PCI function " VF " has no RDMA device here");
	ck_assert_str_eq(out, "before");
	fakepci_file(root, VF, "infiniband/mlx5_17/node_guid", "");
	ck_assert_int_eq(pci_rdma_device(root, VF, out, &e), 0);
	ck_assert_str_eq(out, "mlx5_17");
}
END_TEST

static int all_of_it(void *arg, struct err *e)
{
	char out[IFNAME_LEN];

	return pci_pf_netdev(arg, PF, out, e) || pci_vf_netdev(arg, PF, out, e) ? -1 : 0;
}

START_TEST(survives_each_failing_allocation)
{
	const char *root = make_tree();
	char name[IFNAME_LEN];

	for (int i = 0; i < 20; i++) { /* more than the first room */
		(void)snprintf(name, sizeof(name), "e%d", i);
		fakepci_netdev(root, PF, name, NULL);
	}
	ck_assert_str_eq(alloc_fail_each(all_of_it, (void *)root), "ok");
}
END_TEST

TEST_PROGRAM("pci_netdev", the_first_by_name, what_has_no_interfaces, the_interface_of_a_vf,
	     a_folder_that_is_none, a_pf_without_a_port_name, a_pf_among_its_representors,
	     a_pf_of_two_ports, an_interface_that_vanishes, the_rdma_device,
	     survives_each_failing_allocation)

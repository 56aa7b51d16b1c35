// SPDX-License-Identifier: Apache-2.0
/* Trees captured from machines. */
#include <errno.h>
#include <stdio.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "topo/read/read.h"
#include "topo/testing/tree.h"

static const struct topo_pci *fn(const struct topo_machine *m, const char *bdf)
{
	struct pci_addr a;

	ck_assert_int_eq(pci_parse(bdf, &a), 0);
	uint32_t i = topo_find_pci(m, a);
	ck_assert_msg(i != TOPO_NONE, "%s", bdf);
	return &m->pci[i];
}

static const struct topo_pci *above(const struct topo_machine *m, const struct topo_pci *p)
{
	ck_assert_uint_lt(p->parent, m->n_pci);
	return &m->pci[p->parent];
}

static const char *gpu_bdf(const struct topo_machine *m, size_t gpu, char out[PCI_STR_LEN])
{
	return pci_format(m->pci[m->gpu[gpu].pci].addr, out);
}

static void parents_come_first(const struct topo_machine *m)
{
	for (size_t i = 0; i < m->n_pci; i++)
		ck_assert(m->pci[i].parent == TOPO_NONE || m->pci[i].parent < i);
}

/* A GPU that fell off its bus: each register reads as ones. It is not known how wide its link is.
 */
START_TEST(a_device_that_does_not_answer)
{
	auto_topo_machine struct topo_machine m = { 0 };
	const char *dir = tree_made("dgx-h100");
	static const char *const files[] = { "current_link_width", "max_link_width" };
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		(void)snprintf(path, sizeof(path), "sys/bus/pci/devices/0000:19:00.0/%s", files[i]);
		tree_put(dir, path, "63");
		(void)snprintf(path, sizeof(path), "sys/bus/pci/devices/0000:2a:00.0/%s", files[i]);
		tree_put(dir, path, "32");
	}
	tree_machine(dir, &m);
	const struct topo_pci *lost = fn(&m, "0000:19:00.0"), *wide = fn(&m, "0000:2a:00.0");
	ck_assert(lost->one_end && lost->cur.width == 16);
	ck_assert(!wide->one_end && wide->cur.width == 32);
}
END_TEST

START_TEST(a_guest_with_switches_and_vfs)
{
	auto_topo_machine struct topo_machine m = { 0 };
	char text[PCI_STR_LEN];

	tree_machine(tree_unpack("qemu-pxb-xio3130-igb-sriov-rxe"), &m);
	ck_assert(m.n_pci == 28 && m.n_roots == 3 && m.n_gpus == 3 && m.n_hcas == 9);
	ck_assert(m.vm == TOPO_YES && m.full_config && m.source == TOPO_CAPTURE && m.n_notes == 0);
	parents_come_first(&m);
	ck_assert_str_eq(gpu_bdf(&m, 0, text), "0000:23:00.0");
	ck_assert_str_eq(gpu_bdf(&m, 1, text), "0000:24:00.0");
	ck_assert_str_eq(gpu_bdf(&m, 2, text), "0000:83:00.0");

	const struct topo_pci *vf = fn(&m, "0000:25:10.2"), *pf = fn(&m, "0000:25:00.0");
	ck_assert(vf->is_vf && &m.pci[vf->physfn] == pf && vf->parent == pf->parent);
	ck_assert(!pf->is_vf && pf->numa == 0 && pf->kind == TOPO_ENDPOINT);
	ck_assert(vf->max.speed == 0 && vf->max.width == 0 && vf->cur.width == 0);
	ck_assert(above(&m, pf)->kind == TOPO_DOWNSTREAM && above(&m, pf)->max.speed == 0);
	const struct topo_pci *up = above(&m, above(&m, pf));
	ck_assert(up->kind == TOPO_UPSTREAM && up->vendor == 0x104c && up->max.speed == 15);
	ck_assert(above(&m, up)->kind == TOPO_ROOT_PORT && above(&m, up)->parent == TOPO_NONE);
	/* its own end tells 2.5 GT/s and one lane, the port nothing */
	ck_assert(pf->max.speed == 15 && pf->max.width == 1 && pf->one_end && !up->one_end);
	ck_assert_str_eq(m.root[pf->root].name, "pci0000:20");
	ck_assert_int_eq(m.cpu[m.root[pf->root].cpu].numa, 0);
	ck_assert_int_eq(m.cpu[m.root[fn(&m, "0000:00:1f.0")->root].cpu].numa, -1);

	const struct topo_hca *h = &m.hca[topo_find_hca(&m, "rxe4")];
	ck_assert(h->kind == TOPO_HCA_SOFTWARE && &m.pci[h->pci] == vf && h->n_ports == 1);
	ck_assert(h->port[0].active == TOPO_YES && h->port[0].layer == TOPO_ETHERNET);
	ck_assert(h->port[0].rate_mbps == 2500);
	ck_assert_str_eq(h->port[0].netdev, "eth4");
	ck_assert_str_eq(m.hca[0].name, "rxe2"); /* by address, not by name */
}
END_TEST

START_TEST(vector_engines_and_hcas_by_class)
{
	auto_topo_machine struct topo_machine m = { 0 };

	tree_machine(tree_unpack("hwloc-8ve"), &m);
	ck_assert(m.n_gpus == 8 && m.n_hcas == 2 && m.n_pci == 29 && m.n_notes == 1);
	ck_assert(m.vm == TOPO_NO && !m.full_config && m.n_cpus == 2);
	ck_assert_str_eq(m.hca[0].name, "mlx5_0");
	ck_assert_str_eq(m.hca[1].name, "mlx5_1");
	ck_assert_ptr_nonnull(strstr(m.note[0], "no class/infiniband"));
	ck_assert(m.hca[0].pci != TOPO_NONE && m.pci[m.hca[0].pci].addr.bus == 0x1a);
	ck_assert(m.gpu[0].vendor == TOPO_OTHER && !m.gpu[0].on_package);
	ck_assert_str_eq(m.cpu[0].affinity, "0000,00000000,00000000,00ff00ff");
	ck_assert_str_eq(m.cpu[1].vendor, "GenuineIntel");
	ck_assert_str_eq(m.cpu[1].arch, "x86_64");
	ck_assert(m.cpu[1].family == 6 && m.cpu[1].model == 85);
	/* 64 bytes of configuration space: kinds by place */
	const struct topo_pci *ve = fn(&m, "0000:41:00.0");
	ck_assert(above(&m, ve)->kind == TOPO_DOWNSTREAM && ve->max.speed == 60 && !ve->one_end);
	ck_assert_int_eq(above(&m, above(&m, ve))->kind, TOPO_UPSTREAM);
	ck_assert_int_eq(above(&m, above(&m, above(&m, ve)))->kind, TOPO_ROOT_PORT);
}
END_TEST

START_TEST(a_phi_an_hca_of_class_other_and_a_bmc)
{
	auto_topo_machine struct topo_machine m = { 0 };
	char text[PCI_STR_LEN];

	tree_machine(tree_unpack("hwloc-mic-mlx4"), &m);
	ck_assert(m.n_pci == 137 && m.n_gpus == 1 && m.n_hcas == 1 && m.n_roots == 4);
	ck_assert_str_eq(gpu_bdf(&m, 0, text), "0000:83:00.0");
	ck_assert_str_eq(m.hca[0].name, "mlx4_0");
	ck_assert(m.pci[m.hca[0].pci].class_code == 0x028000 && m.hca[0].guid == 0x2c90300f9bfa3);
	ck_assert(m.hca[0].port[0].rate_mbps == 56000 && m.hca[0].port[0].layer == TOPO_INFINIBAND);
	ck_assert_str_eq(m.hca[0].port[0].netdev, "ib0");
	ck_assert_int_eq(fn(&m, "0000:05:00.0")->class_code, 0x030000); /* no GPU */
	ck_assert_int_eq(above(&m, fn(&m, "0000:05:00.0"))->kind, TOPO_BRIDGE);
	/* scif0: its folder is not in the capture */
	ck_assert(m.n_notes == 1 && strstr(m.note[0], "scif0"));
}
END_TEST

START_TEST(domains_of_five_digits)
{
	auto_topo_machine struct topo_machine m = { 0 };

	tree_machine(tree_unpack("hwloc-pcidomain32bits"), &m);
	ck_assert(m.n_pci == 9 && m.n_roots == 2 && m.n_gpus == 0 && m.n_hcas == 0);
	ck_assert_str_eq(m.root[1].name, "pci10000:00");
	ck_assert_uint_eq(fn(&m, "10000:00:04.0")->root, 1);
}
END_TEST

START_TEST(guests_with_a_tesla_and_with_an_accelerator)
{
	auto_topo_machine struct topo_machine m = { 0 };
	const char *top = tree_unpack("ghw-linux-amd64-accel-nvidia");

	tree_machine(top, &m);
	ck_assert(m.n_gpus == 1 && m.gpu[0].vendor == TOPO_NVIDIA && m.vm == TOPO_YES);
	ck_assert_int_eq(m.pci[m.gpu[0].pci].class_code, 0x030200);
}
END_TEST

START_TEST(more_accelerators_by_class)
{
	const char *top = tree_unpack("ghw-linux-amd64-accel");
	static const struct {
		uint32_t class_code;
		size_t gpus;
	} in[] = { { 0, 0 }, { 0x1200, 1 }, { 0x120000, 1 }, { 0x120001, 0 }, { 0x0300, 1 } };
	char sysfs[256];

	(void)snprintf(sysfs, sizeof(sysfs), "%s/sys", top);
	for (size_t i = 0; i < ARRAY_SIZE(in); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		struct topo_read_opts o = { .class_code = &in[i].class_code,
					    .n_classes = in[i].class_code != 0 };
		struct err e = { 0 };
		ck_assert_int_eq(topo_read_sysfs(sysfs, NULL, &o, &m, &e), 0);
		ck_assert_uint_eq(m.n_gpus, in[i].gpus);
	}
}
END_TEST

START_TEST(class_infiniband_alone)
{
	auto_topo_machine struct topo_machine m = { 0 };
	const char *top = tree_unpack("gpud-h100-class-infiniband");
	char command[512];

	(void)snprintf(
		command, sizeof(command),
		"mkdir -p %s/sys/class && mv %s/*/sys-class-infiniband %s/sys/class/infiniband",
		top, top, top);
	ck_assert_int_eq(system(command), 0);
	tree_machine(top, &m);
	ck_assert(m.n_hcas == 9 && m.n_pci == 0 && m.vm == TOPO_UNKNOWN);
	ck_assert_str_eq(m.hca[0].name, "mlx5_0");
	ck_assert_str_eq(m.hca[8].name, "mlx5_bond_0");
	ck_assert(m.hca[0].pci == TOPO_NONE && m.hca[0].kind == TOPO_HCA_PF);
	ck_assert(m.hca[0].port[0].rate_mbps == 400000 && m.hca[0].port[0].active == TOPO_YES);
	ck_assert_int_eq(m.hca[8].port[0].layer, TOPO_ETHERNET);
}
END_TEST

/* ---- what must change nothing ---- */

static const char *const trees[] = { "qemu-pxb-xio3130-igb-sriov-rxe", "hwloc-8ve",
				     "hwloc-mic-mlx4", "hwloc-pcidomain32bits" };

static void same_after(const char *name, const char *script)
{
	auto_topo_machine struct topo_machine a = { 0 }, b = { 0 };
	const char *top = tree_unpack(name);
	char command[1024];

	tree_machine(top, &a);
	(void)snprintf(command, sizeof(command), "cd '%s/sys' && { %s; }", top, script);
	ck_assert_int_eq(system(command), 0);
	tree_machine(top, &b);
	b.full_config = a.full_config;
	auto_free char *x = tree_dump(&a), *y = tree_dump(&b);
	ck_assert_msg(!strcmp(x, y), "%s after %s:\n%s\n---\n%s", name, script, x, y);
}

START_TEST(the_order_in_folders_changes_nothing)
{
	static const char *const folders[] = { "bus/pci/devices", "class/net", "class/infiniband" };
	auto_topo_machine struct topo_machine a = { 0 }, b = { 0 };
	const char *top = tree_unpack(trees[0]);
	char root[256];

	tree_machine(top, &a);
	(void)snprintf(root, sizeof(root), "%s/sys", top);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		tree_reverse(root, folders[i]);
	tree_machine(top, &b);
	auto_free char *x = tree_dump(&a), *y = tree_dump(&b);
	ck_assert_str_eq(x, y);
}
END_TEST

START_TEST(without_bus_pci_the_folders_are_walked)
{
	same_after(trees[_i], "rm -r bus");
}
END_TEST

START_TEST(without_configuration_space_kinds_are_the_same)
{
	same_after(trees[_i], "find devices -name config -exec truncate -s '<64' {} +");
}
END_TEST

START_TEST(sixty_four_bytes_are_told)
{
	const char *top = tree_unpack(trees[0]);
	auto_topo_machine struct topo_machine m = { 0 };
	char command[512];

	(void)snprintf(command, sizeof(command),
		       "find %s/sys -name config -exec truncate -s 64 {} +", top);
	ck_assert_int_eq(system(command), 0);
	tree_machine(top, &m);
	ck_assert(!m.full_config);
}
END_TEST

/* ---- every allocation ---- */

static int read_top(void *arg, struct err *e)
{
	auto_topo_machine struct topo_machine m = { 0 };
	char sysfs[512];

	(void)snprintf(sysfs, sizeof(sysfs), "%s/sys", (const char *)arg);
	return topo_read_sysfs(sysfs, arg, NULL, &m, e);
}

START_TEST(every_allocation_may_fail)
{
	char top[512];

	(void)snprintf(top, sizeof(top), "%s", tree_unpack(trees[_i]));
	ck_assert_str_eq(alloc_fail_each(read_top, top), "ok");
}
END_TEST

START_TEST(the_live_machine_can_be_read)
{
	auto_topo_machine struct topo_machine m = { 0 };
	struct err e = { 0 };

	ck_assert_msg(!topo_read_sysfs("/sys", "/proc", NULL, &m, &e), "%s", e.msg);
	ck_assert_int_eq(m.source, TOPO_LIVE);
	parents_come_first(&m);
}
END_TEST

START_TEST(no_tree)
{
	const char *dir = testing_dir();
	struct topo_machine m = { 0 };
	struct err e = { 0 };

	ck_assert_int_eq(topo_read_sysfs("/nowhere", NULL, NULL, &m, &e), -1);
	ck_assert(e.code == ERR_NOTFOUND && e.errnum == ENOENT);
	ck_assert_int_eq(topo_read_sysfs(dir, NULL, NULL, &m, &e), -1);
	ck_assert_str_eq(e.msg, "/mnt holds none of devices, bus and class: it is not a /sys");
	tree_put(dir, "devices/system/x", "");
	ck_assert_int_eq(topo_read_sysfs(dir, NULL, NULL, &m, &e), 0);
	ck_assert(m.n_pci == 0 && m.n_gpus == 0 && m.n_hcas == 0);
}
END_TEST

int main(void)
{
	const TTest *const once[] = { a_device_that_does_not_answer,
				      a_guest_with_switches_and_vfs,
				      vector_engines_and_hcas_by_class,
				      a_phi_an_hca_of_class_other_and_a_bmc,
				      domains_of_five_digits,
				      guests_with_a_tesla_and_with_an_accelerator,
				      more_accelerators_by_class,
				      class_infiniband_alone,
				      the_order_in_folders_changes_nothing,
				      sixty_four_bytes_are_told,
				      the_live_machine_can_be_read,
				      no_tree };
	const TTest *const each[] = { without_bus_pci_the_folders_are_walked,
				      without_configuration_space_kinds_are_the_same,
				      every_allocation_may_fail };
	Suite *suite = suite_create("read_sysfs");
	TCase *cases = tcase_create("read_sysfs");

	for (size_t i = 0; i < ARRAY_SIZE(once); i++)
		tcase_add_test(cases, once[i]);
	for (size_t i = 0; i < ARRAY_SIZE(each); i++)
		tcase_add_loop_test(cases, each[i], 0, ARRAY_SIZE(trees));
	suite_add_tcase(suite, cases);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

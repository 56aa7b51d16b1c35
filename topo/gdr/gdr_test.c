/* SPDX-License-Identifier: Apache-2.0 */
/* On a machine without problems all findings are ok; then each test breaks one thing. */
#include "topo/gdr/gdr.h"

#include <stdio.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "topo/core/machine_build.h"
#include "topo/testing/gdr.h"

static struct gdr_test w;

/* Findings are sorted, an ok one has a value, and others have a reason and a remedy. */
static void check_texts(const struct gdr_findings *f)
{
	for (size_t i = 0; i < f->all.n; i++) {
		const struct finding *x = &f->all.item[i];
		bool ok = x->state == FINDING_OK;

		ck_assert_msg(ok ? !!x->value : !!x->reason, "%s says nothing", x->id);
		ck_assert_msg(ok == !x->remedy || x->state == FINDING_UNKNOWN, "%s: remedy", x->id);
		ck_assert_msg(i == 0 || finding_worse(f->all.item[i - 1].state, x->state) ==
						f->all.item[i - 1].state,
			      "%s is out of order", x->id);
	}
}

START_TEST(a_good_machine_has_only_ok_findings)
{
	auto_gdr_findings struct gdr_findings f = { 0 };

	gdr_test_make(&w);
	(void)gdr_test_look(&w, "", &f);
	for (size_t i = 0; i < f.all.n; i++)
		ck_assert_msg(f.all.item[i].state == FINDING_OK, "%s is %s: %s", f.all.item[i].id,
			      finding_state_name(f.all.item[i].state), f.all.item[i].value);
	ck_assert_uint_ge(f.all.n, 16);
	ck_assert_int_eq(gdr_worst(&f, 0), FINDING_OK);
	ck_assert_int_eq(gdr_worst(&f, TOPO_NONE), FINDING_OK);
	ck_assert_str_eq(gdr_test_find(&f, "bar1", 0, TOPO_NONE)->value, "BAR 1: 128 GiB");
	ck_assert_str_eq(gdr_test_find(&f, "port", TOPO_NONE, 0)->value, "ACTIVE, 200 Gbit/s");
	ck_assert_str_eq(gdr_test_find(&f, "distance", 0, 0)->value, "PIX");
	ck_assert_str_eq(gdr_test_find(&f, "iommu", 0, TOPO_NONE)->value, "identity, group 7");
	check_texts(&f);
}
END_TEST

/* ---- ACS ---- */

static struct gdr_test_config port(uint16_t acs)
{
	return (struct gdr_test_config){ .type = 6, .mps = 1, .mrrs = 2, .acs = acs };
}

START_TEST(a_redirecting_port_is_named)
{
	auto_gdr_findings struct gdr_findings f = { 0 };
	const struct finding *x;

	gdr_test_make(&w);
	gdr_test_config(&w, w.gpu_port, port(0x1d), 4096);
	x = gdr_test_look(&w, "acs", &f);
	ck_assert_int_eq(x->state, FINDING_WARN);
	ck_assert(x->of[GDR_OF_GPU] == 0 && x->of[GDR_OF_HCA] == 0);
	ck_assert_str_eq(x->path, "/sys/bus/pci/devices/0000:22:00.0/config");
	ck_assert_str_eq(x->value, "0000:22:00.0: SV RR CR UF");
	ck_assert_ptr_nonnull(strstr(x->remedy, "setpci -s 0000:22:00.0 ECAP_ACS+6.w=0000"));
	ck_assert_int_eq(gdr_worst(&f, 0), FINDING_WARN);
	check_texts(&f);
}
END_TEST

START_TEST(ports_of_gpu_and_hca_count)
{
	auto_gdr_findings struct gdr_findings f = { 0 };
	const struct finding *x;

	gdr_test_make(&w);
	gdr_test_config(&w, w.nic_port, port(0x08), 4096);
	ck_assert_int_eq(gdr_test_state(&w, "acs"), FINDING_WARN);
	gdr_test_config(&w, w.gpu_port, port(0x04), 4096);
	x = gdr_test_look(&w, "acs", &f);
	ck_assert_str_eq(x->value, "0000:22:00.0: RR, 0000:22:01.0: CR");
	gdr_test_config(&w, w.gpu_port, port(0x13), 4096);
	gdr_test_config(&w, w.nic_port, port(0xffff), 4096);
	ck_assert_int_eq(gdr_test_state(&w, "acs"), FINDING_OK);
}
END_TEST

START_TEST(ports_above_the_switch_do_not_count)
{
	gdr_test_make(&w);
	gdr_test_config(&w, w.root_port, port(0x1d), 4096);
	gdr_test_config(&w, w.upstream, port(0x1d), 4096);
	gdr_test_config(&w, w.gpu, port(0x1d), 4096);
	ck_assert_int_eq(gdr_test_state(&w, "acs"), FINDING_OK);
	/* Another switch above: its ports are not on the way either. */
	w.m.pci[w.root_port].kind = TOPO_DOWNSTREAM;
	ck_assert_int_eq(gdr_test_state(&w, "acs"), FINDING_OK);
}
END_TEST

START_TEST(a_redirecting_port_fails_where_the_iommu_translates)
{
	auto_gdr_findings struct gdr_findings f = { 0 };

	gdr_test_make(&w);
	gdr_test_file("sys/kernel/iommu_groups/7/type", "DMA-FQ\n");
	ck_assert_int_eq(gdr_test_state(&w, "acs"), FINDING_OK);
	ck_assert_int_eq(gdr_test_state(&w, "iommu"), FINDING_WARN);
	gdr_test_config(&w, w.gpu_port, port(0x1d), 4096);
	ck_assert_int_eq(gdr_test_look(&w, "acs", &f)->state, FINDING_FAIL);
	ck_assert_int_eq(gdr_test_look(NULL, "iommu", &f)->state, FINDING_WARN);
	ck_assert_int_eq(gdr_worst(&f, 0), FINDING_FAIL);
}
END_TEST

START_TEST(translated_requests_may_pass)
{
	auto_gdr_findings struct gdr_findings f = { 0 };
	const struct finding *x;

	gdr_test_make(&w);
	gdr_test_file("sys/kernel/iommu_groups/7/type", "DMA\n");
	gdr_test_config(&w, w.gpu_port, port(0x5d), 4096);
	x = gdr_test_look(&w, "acs", &f);
	ck_assert_int_eq(x->state, FINDING_FAIL);
	ck_assert_ptr_nonnull(strstr(x->remedy, "ATS"));
	gdr_test_config(&w, w.nic, (struct gdr_test_config){ .mps = 1, .mrrs = 5, .ats = true },
			4096);
	ck_assert_int_eq(gdr_test_state(&w, "acs"), FINDING_OK);
	gdr_test_config(&w, w.nic_port, port(0x1d), 4096);
	ck_assert_int_eq(gdr_test_state(&w, "acs"), FINDING_FAIL);
}
END_TEST

/* What a user sees: 64 bytes of each. */
START_TEST(without_root_acs_is_unknown)
{
	static const char *const read_there[] = { "acs", "payload", "read-request",
						  "relaxed-ordering" };
	auto_gdr_findings struct gdr_findings before = { 0 }, f = { 0 };
	size_t changed = 0;

	gdr_test_make(&w);
	(void)gdr_test_look(&w, "", &before);
	for (uint32_t i = 0; i < w.m.n_pci; i++)
		gdr_test_config(&w, i, port(0x1d), 64);
	(void)gdr_test_look(&w, "", &f);
	for (size_t i = 0; i < ARRAY_SIZE(read_there); i++) {
		const struct finding *x = gdr_test_look(NULL, read_there[i], &f);

		ck_assert_int_eq(x->state, FINDING_UNKNOWN);
		ck_assert_str_eq(x->value, "64 bytes");
		ck_assert_ptr_nonnull(strstr(x->reason, "only root"));
	}
	ck_assert_uint_eq(f.all.n, before.all.n);
	for (size_t i = 0; i < f.all.n; i++)
		changed += f.all.item[i].state != FINDING_OK;
	ck_assert_uint_eq(changed, ARRAY_SIZE(read_there) + 1); /* the GPU's payload too */
	ck_assert_int_eq(gdr_worst(&f, 0), FINDING_UNKNOWN);
	check_texts(&f);
}
END_TEST

START_TEST(root_ports_count_at_a_root_complex)
{
	auto_gdr_findings struct gdr_findings f = { 0 };

	gdr_test_make(&w);
	w.m.pci[w.nic].parent = TOPO_NONE;
	topo_sort(&w.m);
	ck_assert_int_eq(gdr_test_look(&w, "distance", &f)->state, FINDING_WARN);
	ck_assert_str_eq(gdr_test_look(NULL, "distance", &f)->value, "PHB");
	gdr_test_config(&w, w.root_port, port(0x1d), 4096);
	ck_assert_int_eq(gdr_test_state(&w, "acs"), FINDING_WARN);
}
END_TEST

/* ---- drivers ---- */

static enum finding_state both(bool peermem, bool open)
{
	auto_gdr_findings struct gdr_findings f = { 0 };
	enum finding_state s;

	gdr_test_file("sys/module/nvidia_peermem/version", "1\n");
	if (!peermem)
		gdr_test_file("sys/module/nvidia_peermem/version", NULL);
	gdr_test_file("proc/driver/nvidia/version", open ? "NVIDIA UNIX Open Kernel Module\n"
							 : "NVIDIA UNIX x86_64 Kernel Module\n");
	s = gdr_test_look(&w, "peermem", &f)->state;
	ck_assert_int_eq(gdr_test_look(NULL, "dmabuf", &f)->state, s);
	return s;
}

START_TEST(peermem_or_dmabuf_is_enough)
{
	gdr_test_make(&w);
	ck_assert_int_eq(both(true, true), FINDING_OK);
	ck_assert_int_eq(both(false, true), FINDING_OK);
	ck_assert_int_eq(both(true, false), FINDING_OK);
	ck_assert_int_eq(both(false, false), FINDING_FAIL);
	gdr_test_file("proc/driver/nvidia/version", NULL);
	ck_assert_int_eq(gdr_test_state(&w, "peermem"), FINDING_UNKNOWN);
	gdr_test_file("proc/driver/nvidia/version", "NVIDIA UNIX Open Kernel Module\n");
	gdr_test_file("proc/sys/kernel/osrelease", "5.4.0\n");
	ck_assert_int_eq(gdr_test_state(&w, "dmabuf"), FINDING_FAIL);
	gdr_test_file("proc/sys/kernel/osrelease", "5.12.1\n");
	ck_assert_int_eq(gdr_test_state(&w, "dmabuf"), FINDING_OK);
}
END_TEST

/* Linux's own mlx5_ib, or one with a backport: nvidia_peermem would not load if it could not work.
 */
START_TEST(a_loaded_peermem_has_registered)
{
	auto_gdr_findings struct gdr_findings f = { 0 }, g = { 0 };

	gdr_test_make(&w);
	gdr_test_file("sys/module/mlx5_ib/initstate", "live\n");
	ck_assert_int_eq(both(true, false), FINDING_OK);
	ck_assert_str_eq(gdr_test_look(&w, "peermem", &f)->value, "1");
	ck_assert_int_eq(both(false, false), FINDING_FAIL);
	ck_assert_ptr_nonnull(
		strstr(gdr_test_look(&w, "peermem", &g)->remedy, "use DMA-BUF: NVIDIA's open"));
}
END_TEST

START_TEST(an_older_NCCL_ignores_peermem)
{
	struct lib_version v = { 2, 22, 3 };

	gdr_test_make(&w);
	w.dirs.nccl = &v;
	ck_assert_int_eq(both(true, false), FINDING_FAIL);
	ck_assert_int_eq(both(true, true), FINDING_OK);
	gdr_test_file("sys/kernel/mm/memory_peers/nv_mem/version", "1.0\n");
	ck_assert_int_eq(both(true, false), FINDING_OK);
	gdr_test_file("sys/kernel/mm/memory_peers/nv_mem/version", NULL);
	v.minor = 23;
	ck_assert_int_eq(both(true, false), FINDING_OK);
}
END_TEST

START_TEST(a_capture_without_modules_tells_nothing_of_them)
{
	gdr_test_make(&w);
	gdr_test_file("proc/driver/nvidia/version", "closed\n");
	gdr_test_file("sys/module/nvidia_peermem/version", NULL);
	gdr_test_file("sys/module/nvidia_peermem", NULL);
	ck_assert_int_eq(gdr_test_state(&w, "peermem"), FINDING_FAIL);
	gdr_test_file("sys/module", NULL);
	ck_assert_int_eq(gdr_test_state(&w, "peermem"), FINDING_UNKNOWN);
}
END_TEST

START_TEST(amd_has_its_own_peer_memory)
{
	gdr_test_make(&w);
	w.m.gpu[0].vendor = TOPO_AMD;
	gdr_test_file("boot/config-6.12.0-1-amd64",
		      "# CONFIG_X is not set\nCONFIG_PCI_P2PDMA=y\nCONFIG_DMABUF_MOVE_NOTIFY=y\n");
	ck_assert_int_eq(gdr_test_state(&w, "dmabuf"), FINDING_OK);
	gdr_test_file("boot/config-6.12.0-1-amd64", "CONFIG_PCI_P2PDMA=y\n"
						    "# CONFIG_DMABUF_MOVE_NOTIFY=y\n");
	ck_assert_int_eq(gdr_test_state(&w, "dmabuf"), FINDING_FAIL);
	gdr_test_file("sys/kernel/mm/memory_peers/amdkfd/version", "1.0\n");
	ck_assert_int_eq(gdr_test_state(&w, "peermem"), FINDING_OK);
	gdr_test_file("sys/kernel/mm/memory_peers/amdkfd/version", NULL);
	gdr_test_file("boot/config-6.12.0-1-amd64", NULL);
	ck_assert_int_eq(gdr_test_state(&w, "dmabuf"), FINDING_UNKNOWN);
}
END_TEST

/* ---- the GPU ---- */

static enum finding_state with_bars(const char *first, const char *line)
{
	char text[256];

	(void)snprintf(text, sizeof(text), "%s\n%s\n", first, line);
	gdr_test_file(gdr_test_path(&w, w.gpu, "resource"), text);
	return gdr_test_state(&w, "bar1");
}

static enum finding_state with_window(const char *line)
{
	return with_bars("0x1000 0x1fff 0x40200", line);
}

START_TEST(small_bars_are_reported)
{
	gdr_test_make(&w);
	ck_assert_int_eq(with_window("0x40000000 0x7fffffff 0x14220c"), FINDING_OK);
	ck_assert_int_eq(with_window("0x40000000 0x4fffffff 0x14220c"), FINDING_WARN);
	ck_assert_int_eq(with_window("0x0 0x0 0x0"), FINDING_FAIL);
	ck_assert_int_eq(with_window("nonsense"), FINDING_FAIL);
	gdr_test_file(gdr_test_path(&w, w.gpu, "resource"), NULL);
	ck_assert_int_eq(gdr_test_state(&w, "bar1"), FINDING_UNKNOWN);
	w.m.gpu[0].vendor = TOPO_AMD;
	gdr_test_file(gdr_test_path(&w, w.gpu, "resource"),
		      "0x380000000000 0x3800ffffffff 0x14220c\n");
	ck_assert_int_eq(gdr_test_state(&w, "bar1"), FINDING_OK);
	gdr_test_file(gdr_test_path(&w, w.gpu, "mem_info_vram_total"), "206141652992\n");
	ck_assert_int_eq(gdr_test_state(&w, "bar1"), FINDING_WARN);
}
END_TEST

/* As an H200 shows them: BAR 0 takes two lines, so that BAR 1 is in the third. */
START_TEST(a_first_bar_of_64_bits_has_two_lines)
{
	const char *first = "0x104002000000 0x104002ffffff 0x14220c\n0x0 0x0 0x0";

	gdr_test_make(&w);
	ck_assert_int_eq(with_bars(first, "0x100000000000 0x103fffffffff 0x14220c"), FINDING_OK);
	ck_assert_int_eq(with_bars(first, "0x100000000000 0x10000fffffff 0x14220c"), FINDING_WARN);
	ck_assert_int_eq(with_bars(first, "0x0 0x0 0x0\n0x0 0x0 0x0\n0x100000000000 "
					  "0x103fffffffff 0x14220c"),
			 FINDING_FAIL);
}
END_TEST

START_TEST(an_idle_gpu_may_be_slow_but_not_narrow)
{
	auto_gdr_findings struct gdr_findings f = { 0 };

	gdr_test_make(&w);
	w.m.pci[w.gpu].cur.speed = 15;
	ck_assert_int_eq(gdr_test_state(&w, "link"), FINDING_OK);
	w.m.pci[w.gpu].cur.width = 8;
	ck_assert_int_eq(gdr_test_state(&w, "link"), FINDING_WARN);
	w.m.pci[w.gpu].cur.width = 16;
	w.m.pci[w.nic].cur.speed = 60;
	ck_assert_int_eq(gdr_test_look(&w, "link", &f)->state, FINDING_WARN);
	ck_assert_uint_eq(f.all.item[0].of[GDR_OF_HCA], 0);
	ck_assert_ptr_nonnull(strstr(f.all.item[0].value,
				     "8.0 GT/s PCIe x16; its maximum is 16.0 GT/s PCIe x16"));
	w.m.pci[w.nic].cur.speed = 120;
	w.m.pci[w.upstream].cur.width = 4;
	ck_assert_int_eq(gdr_test_look(&w, "link", &f)->state, FINDING_WARN);
	ck_assert_ptr_nonnull(strstr(f.all.item[0].value, "0000:21:00.0"));
}
END_TEST

START_TEST(grace_is_near_through_its_cpu)
{
	auto_gdr_findings struct gdr_findings f = { 0 };

	gdr_test_make(&w);
	w.m.pci[w.nic].parent = TOPO_NONE;
	ck_assert_int_eq(gdr_test_state(&w, "distance"), FINDING_WARN);
	w.m.gpu[0].c2c_mbps = 44712;
	w.m.gpu[0].c2c_count = 5;
	w.m.gpu[0].c2c_from = "numa_status";
	ck_assert_int_eq(gdr_test_look(&w, "distance", &f)->state, FINDING_OK);
	const struct finding *c2c = gdr_test_look(NULL, "c2c", &f);
	ck_assert_ptr_nonnull(strstr(c2c->path, "gpus/0000:23:00.0/numa_status"));
	w.m.gpu[0].c2c_from = "device";
	ck_assert_ptr_nonnull(strstr(gdr_test_look(&w, "c2c", &f)->path, "/device"));
	ck_assert_int_eq(gdr_test_state(&w, "c2c"), FINDING_OK);
	w.m.gpu[0].gdr = TOPO_NO; /* GB10 */
	ck_assert_int_eq(gdr_test_state(&w, "c2c"), FINDING_WARN);
}
END_TEST

START_TEST(rdma_on_the_package_needs_no_hca)
{
	auto_gdr_findings struct gdr_findings f = { 0 };

	gdr_test_make(&w);
	w.m.gpu[0].vendor = TOPO_ASCEND;
	w.m.gpu[0].on_package = true;
	w.choice.n_nearest = 0;
	ck_assert_int_eq(gdr_test_look(&w, "on-package", &f)->state, FINDING_OK);
	ck_assert_ptr_null(gdr_test_look(NULL, "nearest", &f));
	ck_assert_ptr_null(gdr_test_look(NULL, "peermem", &f));
	ck_assert_int_eq(gdr_worst(&f, 0), FINDING_OK);
}
END_TEST

START_TEST(without_an_hca_it_fails)
{
	auto_gdr_findings struct gdr_findings f = { 0 };

	gdr_test_make(&w);
	w.choice.n_nearest = 0;
	ck_assert_int_eq(gdr_test_state(&w, "nearest"), FINDING_FAIL);
	w.m.hca[0].kind = TOPO_HCA_SOFTWARE;
	ck_assert_int_eq(gdr_test_state(&w, "software"), FINDING_FAIL);
	w.m.n_hcas = 0;
	ck_assert_int_eq(gdr_test_look(&w, "hcas", &f)->state, FINDING_FAIL);
	ck_assert_int_eq(gdr_worst(&f, TOPO_NONE), FINDING_FAIL);
	w.m.n_hcas = 1;
}
END_TEST

TEST_PROGRAM("gdr", an_older_NCCL_ignores_peermem, a_loaded_peermem_has_registered,
	     a_good_machine_has_only_ok_findings, a_redirecting_port_is_named,
	     ports_of_gpu_and_hca_count, ports_above_the_switch_do_not_count,
	     a_redirecting_port_fails_where_the_iommu_translates, translated_requests_may_pass,
	     without_root_acs_is_unknown, root_ports_count_at_a_root_complex,
	     peermem_or_dmabuf_is_enough, a_capture_without_modules_tells_nothing_of_them,
	     amd_has_its_own_peer_memory, small_bars_are_reported,
	     a_first_bar_of_64_bits_has_two_lines, an_idle_gpu_may_be_slow_but_not_narrow,
	     grace_is_near_through_its_cpu, rdma_on_the_package_needs_no_hca,
	     without_an_hca_it_fails)

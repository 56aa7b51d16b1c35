// SPDX-License-Identifier: Apache-2.0
/* Ranks that make XMLs of their own. The answers are those of the libraries 2.27.7 to 2.30.7. */
#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "topo/testing/nccl.h"
#include "topo/testing/tree.h"

struct device { /* behind a root port of its own; "00.1" and others are looked for at 00.0 */
	unsigned int bus;
	const char *at, *name; /* NULL: a GPU */
	int numa;
};

static void add(const char *sys, const char *path, uint32_t class_code, bool gpu, int numa)
{
	struct tree_fn f = { path,
			     class_code,
			     gpu ? 0x10de : 0x15b3,
			     gpu ? 0x2331 : 0x101e,
			     numa,
			     "32.0 GT/s PCIe",
			     16 };

	tree_add(sys, &f);
}

static void add_devices(const char *sys, const struct device *d, size_t n)
{
	char path[128];

	for (size_t i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), "pci0000:%02x/0000:%02x:01.0", d[i].bus,
			       d[i].bus);
		add(sys, path, 0x060400, false, d[i].numa);
		(void)snprintf(path, sizeof(path), "pci0000:%02x/0000:%02x:01.0/0000:%02x:%s",
			       d[i].bus, d[i].bus, d[i].bus + 1, d[i].at);
		add(sys, path, d[i].name ? 0x020000 : 0x030200, !d[i].name, d[i].numa);
		if (d[i].name)
			tree_add_hca(sys, path, d[i].name, d[i].bus);
	}
}

static void machine_of(const struct device *d, size_t n, struct topo_machine *m)
{
	const char *top = testing_dir();
	char sys[192];

	(void)snprintf(sys, sizeof(sys), "%s/sys", top);
	add_devices(sys, d, n);
	tree_machine(top, m);
}

/* "x+v y: x+v PHB, y PHB", and "differ" if the ranks do; or the error. */
static char *answer(const struct topo_machine *m, const char *version, enum nccl_path_type level,
		    const struct topo_scope *scope)
{
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	auto_text struct text text = { 0 };
	struct nccl_opts o = { .gdr_level = -1, .merge_level = level };
	struct err e;

	ck_assert_int_eq(lib_version_parse(version, &o.version), 0);
	if (nccl_predict(m, scope, &o, &a, &e)) {
		text_addf(&text, "%s", e.msg);
		return text_take(&text);
	}
	nccl_add_answer(m, &a, &text);
	text_addf(&text, "%s", a.ranks_differ ? " differ" : "");
	return text_take(&text);
}

#define ENDS(why) "NCCL_NET_MERGE_LEVEL or NCCL_NET_FORCE_MERGE: " why

struct row {
	const char *version;
	enum nccl_path_type level; /* NCCL_LOC: not set */
	const char *want;
};

static void answers_are(const struct topo_machine *m, const struct row *row, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		auto_free char *got = answer(m, row[i].version, row[i].level, NULL);
		ck_assert_msg(!strcmp(got, row[i].want), "%zu: %s", i, got);
	}
}

/* The VF v is at the first CPU of each rank: the first rank fuses it with x, the second with y. */
START_TEST(ranks_of_two_cpus_fuse_others)
{
	static const struct device devices[] = {
		{ 0x10, "00.0", NULL, 0 }, { 0x20, "00.0", NULL, 1 }, { 0x30, "00.0", "x", 0 },
		{ 0x34, "00.0", "y", 1 },  { 0x38, "01.0", "v", 1 },
	};
	static const struct row rows[] = {
		{ "2.27.7", NCCL_PHB, "x+v x y: x+v x PHB, y PHB differ" },
		{ "2.28.9", NCCL_PHB, "x+v x y: x+v x PHB, y PHB differ" },
		{ "2.30.7", NCCL_PHB, "x+v x y: x+v x PHB, y PHB differ" },
		{ "2.30.7", NCCL_PXB, "x v y: x v PHB, y PHB" },
		{ "2.30.7", NCCL_LOC, "x v y: x v PHB, y PHB" },
	};
	auto_topo_machine struct topo_machine m = { 0 };
	bool first[] = { true, false };
	const struct topo_scope one = { .gpu = first };

	machine_of(devices, ARRAY_SIZE(devices), &m);
	answers_are(&m, rows, ARRAY_SIZE(rows));
	/* a rank alone agrees with itself */
	auto_free char *alone = answer(&m, "2.30.7", NCCL_PHB, &one);
	ck_assert_str_eq(alone, "x+v y: x+v PHB, DIS");
}
END_TEST

/* The function of a fused net is that of its first part, which only the second rank fuses. */
START_TEST(a_rank_can_end_alone)
{
	static const struct device devices[] = {
		{ 0x10, "00.0", NULL, 0 },
		{ 0x20, "00.0", NULL, 1 },
		{ 0x30, "01.0", "v", 0 },
		{ 0x34, "00.0", "x", 1 },
	};
	static const struct row rows[] = {
		{ "2.27.7", NCCL_PHB, "v x v+x: v v+x PHB, x PHB differ" },
		{ "2.29.7", NCCL_PHB, ENDS("NCCL does not find the function of v, and ends") },
		{ "2.29.7", NCCL_SYS, ENDS("NCCL does not find the function of v, and ends") },
		{ "2.30.7", NCCL_SYS, ENDS("v and x are below different CPUs: NCCL ends") },
	};
	auto_topo_machine struct topo_machine m = { 0 };

	machine_of(devices, ARRAY_SIZE(devices), &m);
	answers_are(&m, rows, ARRAY_SIZE(rows));
}
END_TEST

/* v is at two CPUs, and counts once: where the first rank has it. */
START_TEST(a_net_of_two_cpus_is_one_net)
{
	static const struct device devices[] = {
		{ 0x10, "00.0", NULL, 1 },
		{ 0x20, "00.0", NULL, 0 },
		{ 0x30, "01.0", "v", 0 },
		{ 0x34, "00.0", "x", 0 },
	};
	static const struct row rows[] = {
		{ "2.27.7", NCCL_LOC, "v x: v PHB, x PHB" },
		{ "2.30.7", NCCL_LOC, "v x: v PHB, x PHB" },
	};
	auto_topo_machine struct topo_machine m = { 0 };

	machine_of(devices, ARRAY_SIZE(devices), &m);
	answers_are(&m, rows, ARRAY_SIZE(rows));
}
END_TEST

/* The second rank widens the link of its switch, since 2.28; the first one, at the other CPU, does
 * not. So the switch is there twice: z is below that of the first rank, and the GPU is not. */
START_TEST(a_switch_of_two_widths_is_two)
{
	static const struct device devices[] = { { 0x10, "00.0", NULL, 1 },
						 { 0x40, "00.0", "y", 0 },
						 { 0x50, "01.0", "v", 0 } };
	static const struct row rows[] = {
		{ "2.27.7", NCCL_SYS, "z x+y+v: z x+y+v SYS, z PIX" },
		{ "2.29.7", NCCL_SYS, "z x+y+v: z x+y+v SYS, z x+y+v PHB" },
	};
	static const char *const below[] = { NULL, "z", "x" };
	auto_topo_machine struct topo_machine m = { 0 };
	const char *top = testing_dir();
	char sys[192], path[128];

	(void)snprintf(sys, sizeof(sys), "%s/sys", top);
	add(sys, "pci0000:20/0000:20:01.0", 0x060400, false, 0);
	add(sys, "pci0000:20/0000:20:01.0/0000:21:00.0", 0x060400, false, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(below); i++) {
		int n = snprintf(path, sizeof(path),
				 "pci0000:20/0000:20:01.0/0000:21:00.0/0000:22:%02x.0", i);
		add(sys, path, 0x060400, false, 0);
		(void)snprintf(path + n, sizeof(path) - (size_t)n, "/0000:%02x:00.0", 0x23 + i);
		add(sys, path, below[i] ? 0x020000 : 0x030200, !below[i], 0);
		if (below[i])
			tree_add_hca(sys, path, below[i], i);
	}
	tree_put(sys,
		 "devices/pci0000:20/0000:20:01.0/0000:21:00.0/0000:22:01.0/0000:24:00.0/"
		 "infiniband/z/ports/1/link_layer",
		 "InfiniBand\n");
	add_devices(sys, devices, ARRAY_SIZE(devices));
	tree_machine(top, &m);
	answers_are(&m, rows, ARRAY_SIZE(rows));
}
END_TEST

/* Before 2.28, the device of two root ports is in the nic of the CPU; before 2.30, that of two CPUs
 * is nowhere, and the others remain. */
START_TEST(a_fused_net_has_a_place_by_version)
{
	static const struct device devices[] = {
		{ 0x10, "00.0", NULL, 0 }, { 0x30, "00.0", "x", 0 }, { 0x34, "00.0", "y", 0 },
		{ 0x38, "00.0", "z", 1 },  { 0x3c, "00.0", "w", 1 }, { 0x40, "00.0", "u", 1 },
	};
	static const struct row rows[] = {
		{ "2.27.7", NCCL_PHB, "x+y z+w+u: x+y z+w+u PHB" },
		{ "2.28.9", NCCL_PHB, "x+y z+w+u: x+y PHB" },
		{ "2.27.7", NCCL_SYS, "u x+y+z+w: u SYS" },
		{ "2.29.7", NCCL_SYS, "u x+y+z+w: u SYS" },
		{ "2.30.7", NCCL_SYS, ENDS("x and z are below different CPUs: NCCL ends") },
	};
	auto_topo_machine struct topo_machine m = { 0 };

	machine_of(devices, ARRAY_SIZE(devices), &m);
	answers_are(&m, rows, ARRAY_SIZE(rows));
}
END_TEST

TEST_PROGRAM("nccl_ranks", ranks_of_two_cpus_fuse_others, a_rank_can_end_alone,
	     a_net_of_two_cpus_is_one_net, a_switch_of_two_widths_is_two,
	     a_fused_net_has_a_place_by_version)

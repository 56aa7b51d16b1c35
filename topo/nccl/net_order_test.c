// SPDX-License-Identifier: Apache-2.0
/* The order of NCCL's nets: that of its plugin, in which it fuses them, and that of its XML. The
 * answers are those of the graph code of NCCL 2.29.7. */
#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "topo/read/read.h"
#include "topo/testing/nccl.h"
#include "topo/testing/tree.h"
#include "topo/nccl/write.h"

/* "a b+c: a PHB, a SYS": all nets, and for each GPU the local ones with their type. */
static char *answer(const struct topo_machine *m, const struct nccl_opts *o)
{
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	auto_text struct text text = { 0 };
	struct err e;

	ck_assert_int_eq(nccl_predict(m, NULL, o, &a, &e), 0);
	nccl_add_answer(m, &a, &text);
	return text_take(&text);
}

/* Below testing_dir(): the machine, and its /sys. */
struct place {
	char top[160], sys[192];
};

static void place_new(const char *name, struct place *p)
{
	(void)snprintf(p->top, sizeof(p->top), "%s/%s", testing_dir(), name);
	(void)snprintf(p->sys, sizeof(p->sys), "%s/sys", p->top);
}

static void add(const struct place *p, const char *path, bool bridge, bool gpu, int numa)
{
	struct tree_fn f = { path,
			     bridge ? 0x060400
			     : gpu  ? 0x030200
				    : 0x020000,
			     bridge ? 0x8086
			     : gpu  ? 0x10de
				    : 0x15b3,
			     bridge ? 0x352a
			     : gpu  ? 0x2331
				    : 0x101e,
			     numa,
			     "32.0 GT/s PCIe",
			     16 };

	tree_add(p->sys, &f);
}

/* A GPU (no name) or an HCA at device and function `at` behind a root port. */
static void add_device(const struct place *p, unsigned int bus, const char *at, const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "pci0000:%02x/0000:%02x:01.0", bus, bus);
	add(p, path, true, false, 0);
	(void)snprintf(path, sizeof(path), "pci0000:%02x/0000:%02x:01.0/0000:%02x:%s", bus, bus,
		       bus + 1, at);
	add(p, path, false, !name, 0);
	if (name)
		tree_add_hca(p->sys, path, name, bus);
}

static void set_layer(const struct place *p, unsigned int bus, const char *at, const char *name)
{
	char path[192];

	(void)snprintf(path, sizeof(path),
		       "devices/pci0000:%02x/0000:%02x:01.0/0000:%02x:%s/infiniband/%s/"
		       "ports/1/link_layer",
		       bus, bus, bus + 1, at, name);
	tree_put(p->sys, path, "InfiniBand\n");
}

static void answer_of_tree(const struct place *p, const char *want)
{
	auto_topo_machine struct topo_machine m = { 0 };
	struct nccl_opts o = NCCL_OPTS_DEFAULT;

	o.version = (struct lib_version){ 2, 29, 7 };
	tree_machine(p->top, &m);
	auto_free char *got = answer(&m, &o);
	ck_assert_str_eq(got, want);
}

/* NCCL adds a nic to the first CPU for the first HCA that it does not find. Functions that are
 * there precede it, and so do those that NCCL sorts among these. */
START_TEST(nic_of_first_cpu_is_behind_earlier_functions)
{
	for (size_t i = 0; i < 2; i++) {
		struct place p;
		place_new(i ? "early" : "late", &p);
		add_device(&p, 0x10, i ? "01.0" : "00.0", i ? "v" : "x");
		add_device(&p, 0x20, "00.0", NULL);
		add_device(&p, 0x16, i ? "00.0" : "01.0", i ? "x" : "v");
		add_device(&p, 0x40, "00.0", "y");
		answer_of_tree(&p, "x v y: x v y PHB");
	}
}
END_TEST

/* After a group that cannot be, NCCL starts again at the second HCA of its plugin, which has the
 * lowest address but one. */
START_TEST(hcas_are_fused_in_the_order_of_the_plugin)
{
	static const struct {
		unsigned int bus;
		const char *name;
		bool ib;
	} hcas[] = { { 0x20, "a", true },  { 0x22, "b", false }, { 0x24, "c", false },
		     { 0x26, "d", false }, { 0x28, "e", true },  { 0x2a, "f", false } };
	struct place p;

	place_new("restart", &p);
	add_device(&p, 0x10, "00.0", NULL);
	add_device(&p, 0x12, "00.0", "real");
	for (size_t i = 0; i < ARRAY_SIZE(hcas); i++) {
		add_device(&p, hcas[i].bus, "01.0", hcas[i].name);
		if (hcas[i].ib)
			set_layer(&p, hcas[i].bus, "01.0", hcas[i].name);
	}
	answer_of_tree(&p, "real a c d e b+f: real a c d e PHB");
}
END_TEST

#define GPU(bus, dev)                                                                              \
	"<pci busid=\"0000:" bus ":00.0\" class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" "       \
	"link_width=\"16\"><gpu dev=\"" dev "\" sm=\"90\" rank=\"" dev "\" gdr=\"1\"/></pci>"
#define NET(name, dev, port)                                                                       \
	"<net name=\"" name "\" dev=\"" dev "\" speed=\"100000\" port=\"" port "\" gdr=\"1\"/>"
#define CPU(numa, inside)                                                                          \
	"<cpu numaid=\"" numa                                                                      \
	"\" arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"175\" modelid=\"17\">" inside       \
	"</cpu>"
#define FILE(inside) "<system version=\"1\">" inside "</system>"

static void answer_of_file(const char *text, const char *want)
{
	auto_topo_machine struct topo_machine m = { 0 };
	struct nccl_opts o = NCCL_OPTS_DEFAULT;
	struct err e;

	o.version = (struct lib_version){ 2, 29, 7 };
	ck_assert_int_eq(topo_read_xml(text, strlen(text), &m, &e), 0);
	auto_free char *got = answer(&m, &o);
	ck_assert_str_eq(got, want);
}

/* NCCL has one virtual NIC, at the first CPU with a nic. */
START_TEST(virtual_nics_are_at_the_first_cpu)
{
	answer_of_file(FILE(CPU("0", GPU("10", "0") "<nic>" NET("a", "0", "1") "</nic>")
				    CPU("1", GPU("20", "1") "<nic>" NET("b", "1", "1") "</nic>")),
		       "a b: a b PHB, a b SYS");
}
END_TEST

/* HCAs at a cpu are fused and lost, as in /sys; interfaces for sockets are not. */
START_TEST(hcas_of_a_file_at_a_cpu_are_lost)
{
	answer_of_file(FILE(CPU("0", GPU("10", "0") "<nic>" NET("a", "0", "1")
					     NET("b", "1", "1") "</nic>")),
		       "a+b: DIS");
	answer_of_file(FILE(CPU("0", GPU("10", "0") "<nic>" NET("a", "0", "0")
					     NET("b", "1", "0") "</nic>")),
		       "a b: a b PHB");
}
END_TEST

/* For a device above both, NCCL makes a function like that of the first. */
START_TEST(a_group_needs_the_function_of_its_first_part)
{
	struct place p;
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	struct nccl_opts o = { .gdr_level = -1, .merge_level = NCCL_PHB };
	struct err e;

	place_new("first", &p);
	add_device(&p, 0x10, "01.0", "v");
	add_device(&p, 0x20, "00.0", "x");
	add_device(&p, 0x30, "00.0", NULL);
	tree_machine(p.top, &m);
	ck_assert_int_eq(nccl_predict(&m, NULL, &o, &a, &e), -1);
	ck_assert_str_eq(e.msg, "NCCL_NET_MERGE_LEVEL or NCCL_NET_FORCE_MERGE: NCCL does not find "
				"the function of v, and ends");
}
END_TEST

/* ---- the file of a tree ---- */

static unsigned int pick(uint64_t *seed, unsigned int n)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)(*seed >> 33) % n;
}

/* GPUs, HCAs of one or two functions, and VFs that NCCL does not find, at two NUMA nodes, directly
 * below a root port or two to a switch. */
static void random_tree(const struct place *p, uint64_t seed)
{
	static const char *const at[] = { "00.0", "00.0", "01.0", "02.3" };
	char path[160], device[192], name[16];
	unsigned int bus = 0x10;

	for (unsigned int i = 0, n = 3 + pick(&seed, 6); i < n; i++, bus += 8) {
		int numa = (int)pick(&seed, 2);
		unsigned int devices = 1 + pick(&seed, 2);
		int len = snprintf(path, sizeof(path), "pci0000:%02x/0000:%02x:01.0", bus, bus);
		add(p, path, true, false, numa);
		if (devices > 1) {
			len += snprintf(path + len, sizeof(path) - (size_t)len, "/0000:%02x:00.0",
					bus + 1);
			add(p, path, true, false, numa);
		}
		for (unsigned int k = 0; k < devices; k++) {
			if (devices > 1) {
				(void)snprintf(path + len, sizeof(path) - (size_t)len,
					       "/0000:%02x:%02x.0", bus + 2, k);
				add(p, path, true, false, numa);
			}
			bool gpu = !pick(&seed, 3);
			const char *fn = gpu ? at[0] : at[pick(&seed, 4)];
			(void)snprintf(device, sizeof(device), "%s/0000:%02x:%s", path, bus + 3 + k,
				       fn);
			add(p, device, false, gpu, numa);
			(void)snprintf(name, sizeof(name), "h%u", pick(&seed, 1000));
			if (!gpu)
				tree_add_hca(p->sys, device, name, seed);
		}
	}
	add_device(p, 0xf0, "00.0", NULL);
}

START_TEST(a_tree_and_its_own_file_agree)
{
	static const struct topo_xml_opts plain;
	unsigned int fused = 0;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		auto_topo_machine struct topo_machine m = { 0 }, file = { 0 };
		struct nccl_opts o = NCCL_OPTS_DEFAULT;
		struct place p;
		struct err e;
		char folder[16];
		auto_free char *text = NULL;
		(void)snprintf(folder, sizeof(folder), "%u", (unsigned int)seed);
		place_new(folder, &p);
		random_tree(&p, seed);
		tree_machine(p.top, &m);
		ck_assert_int_eq(topo_xml_write(&m, &plain, &text, &e), 0);
		ck_assert_int_eq(topo_read_xml(text, strlen(text), &file, &e), 0);
		auto_free char *a = answer(&m, &o), *b = answer(&file, &o);
		ck_assert_msg(!strcmp(a, b), "seed %u: %s\n%s", (unsigned int)seed, a, b);
		fused += strchr(a, '+') != NULL;
	}
	ck_assert_uint_gt(fused, 20);
}
END_TEST

TEST_PROGRAM("nccl_net_order", nic_of_first_cpu_is_behind_earlier_functions,
	     hcas_are_fused_in_the_order_of_the_plugin, virtual_nics_are_at_the_first_cpu,
	     hcas_of_a_file_at_a_cpu_are_lost, a_group_needs_the_function_of_its_first_part,
	     a_tree_and_its_own_file_agree)

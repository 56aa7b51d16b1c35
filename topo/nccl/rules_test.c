// SPDX-License-Identifier: Apache-2.0
/*
 * Single rules: without a rule, the prediction differs from NCCL's answers for a file of testdata.
 * Rules that no file needs are tested with a file of their own.
 */
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "topo/read/read.h"
#include "topo/testing/nccl.h"
#include "topo/testing/topo.h"

static void parse(const char *text, struct topo_machine *m)
{
	struct err e;

	if (topo_read_xml(text, strlen(text), m, &e))
		ck_abort_msg("%s", e.msg);
}

static void predict(const struct topo_machine *m, const struct nccl_opts *o,
		    struct nccl_prediction *a)
{
	struct err e;

	if (nccl_predict(m, NULL, o, a, &e))
		ck_abort_msg("%s", e.msg);
}

static unsigned int missed(const char *name, const struct nccl_opts *o)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	struct nccl_tally t = { 0 };

	topo_xml(name, &m);
	predict(&m, o, &a);
	nccl_compare(name, &m, &a, TALLY_ALL, &t);
	return t.lines - t.agree;
}

START_TEST(without_a_rule_answers_are_missed)
{
	/* the graph code took the nets of the file as they are */
	static const struct nccl_opts all = { .gdr_level = -1, .no_merge = true };
	static const struct {
		const char *rule, *needs;
		struct nccl_opts without;
	} rules[] = {
		{ "flattening",
		  "dgx-a100",
		  { .gdr_level = -1, .no_merge = true, .no_flatten = true } },
		{ "flattening",
		  "oci-bm-gpu-h100",
		  { .gdr_level = -1, .no_merge = true, .no_flatten = true } },
		{ "mirroring",
		  "synthetic-c_flat_vm_8x8_numa-1",
		  { .gdr_level = -1, .no_merge = true, .no_mirror = true } },
		{ "bandwidth first",
		  "synthetic-a_pix100_phb400",
		  { .gdr_level = -1, .no_merge = true, .no_bandwidth = true } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		ck_assert_uint_eq(missed(rules[i].needs, &all), 0);
		ck_assert_msg(missed(rules[i].needs, &rules[i].without) > 0, "%s: %s",
			      rules[i].needs, rules[i].rule);
	}
}
END_TEST

/* ---- machines of one element a device ---- */

#define SYSTEM(inside)          "<system version=\"1\">" inside "</system>"
#define CPU(numa, kind, inside) "<cpu numaid=\"" numa "\" " kind ">" inside "</cpu>"
#define PCI(bus, class, link, inside)                                                              \
	"<pci busid=\"0000:" bus ":00.0\" class=\"" class "\" link_speed=\"" link                  \
							  "\" link_width=\"16\">" inside "</pci>"
#define GPU(bus, dev, more, inside)                                                                \
	PCI(bus, "0x030200", "16.0 GT/s PCIe",                                                     \
	    "<gpu dev=\"" dev "\" rank=\"" dev "\" gdr=\"1\" " more ">" inside "</gpu>")
#define NIC(bus, dev, speed)                                                                       \
	PCI(bus, "0x020000", "16.0 GT/s PCIe",                                                     \
	    "<nic><net name=\"n" dev "\" dev=\"" dev "\" speed=\"" speed "\"/></nic>")
#define SWITCH(bus, inside) PCI(bus, "0x060400", "16.0 GT/s PCIe", inside)
#define NVLINK(bus)         "<nvlink target=\"0000:" bus ":00.0\" count=\"4\" tclass=\"0x030200\"/>"
#define INTEL               "arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"143\""

static const char *type(const struct nccl_prediction *a, uint32_t gpu, uint32_t net)
{
	return nccl_path_name(a->gpu[gpu].path[net].type);
}

struct between {
	const char *kind;
	double bw;
};

/* GB/s between two CPUs by their kind. */
START_TEST(cpus_by_their_kind)
{
	static const struct between kinds[] = {
		{ "arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"207\"", 25 },
		{ "arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"143\"", 22 },
		{ "arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"85\"", 10 },
		{ "arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"79\"", 6 },
		{ "arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"5\" modelid=\"207\"", 6 },
		{ "arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"25\" modelid=\"1\"", 16 },
		{ "arch=\"x86_64\" vendor=\"CentaurHauls\" familyid=\"7\" modelid=\"91\"", 9 },
		{ "arch=\"x86_64\" vendor=\"  Shanghai  \" familyid=\"7\" modelid=\"27\"", 6 },
		{ "arch=\"x86_64\" vendor=\"CentaurHauls\" familyid=\"6\" modelid=\"91\"", 6 },
		{ "arch=\"arm64\"", 6 },
		{ "arch=\"ppc64\"", 25 },
		{ "", 25 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		auto_nccl_prediction struct nccl_prediction a = { 0 };
		struct nccl_opts o = NCCL_OPTS_DEFAULT;
		char text[2048];
		(void)snprintf(text, sizeof(text),
			       "<system version=\"1\"><cpu numaid=\"0\" %s>%s</cpu><cpu "
			       "numaid=\"1\" %s>%s</cpu></system>",
			       kinds[i].kind, GPU("01", "0", "sm=\"80\"", ""), kinds[i].kind,
			       PCI("02", "0x020000", "32.0 GT/s PCIe",
				   "<nic><net name=\"n\" dev=\"0\" speed=\"400000\"/></nic>"));
		parse(text, &m);
		/* the GPU's own link is 24 */
		m.pci[0].max.speed = m.pci[0].cur.speed = 250;
		m.pci[0].max.width = m.pci[0].cur.width = 8;
		predict(&m, &o, &a);
		ck_assert_msg(a.gpu[0].bw == kinds[i].bw, "%s: %f", kinds[i].kind, a.gpu[0].bw);
		ck_assert_str_eq(type(&a, 0, 0), "SYS");
	}
}
END_TEST

static const char two_gpus[] =
	SYSTEM(CPU("0", INTEL,
		   SWITCH("01", GPU("02", "0", "sm=\"80\"", NVLINK("04")) NIC("03", "0", "100000"))
			   GPU("04", "1", "sm=\"80\"", NVLINK("02"))));

START_TEST(nvlink_to_the_gpu_beside_the_nic)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction pxn = { 0 }, none = { 0 };
	struct nccl_opts o = NCCL_OPTS_DEFAULT;

	parse(two_gpus, &m);
	predict(&m, &o, &pxn);
	ck_assert_str_eq(type(&pxn, 1, 0), "PXN");
	ck_assert_uint_eq(pxn.gpu[1].path[0].via, 0);
	ck_assert_uint_eq(pxn.gpu[0].path[0].via, TOPO_NONE);
	ck_assert(pxn.gpu[1].gdr);
	o.no_pxn = true;
	predict(&m, &o, &none);
	ck_assert_str_eq(type(&none, 1, 0), "PHB");
	ck_assert(!none.gpu[1].gdr);
}
END_TEST

START_TEST(how_far_gpudirect_goes)
{
	static const struct {
		int level;
		bool near, far;
	} levels[] = { { -1, true, false },
		       { NCCL_LOC, false, false },
		       { NCCL_PIX, true, false },
		       { NCCL_PHB, true, true },
		       { NCCL_SYS, true, true } };
	auto_topo_machine struct topo_machine m = { 0 };

	parse(two_gpus, &m);
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		auto_nccl_prediction struct nccl_prediction a = { 0 };
		struct nccl_opts o = { .gdr_level = levels[i].level, .no_pxn = true };
		predict(&m, &o, &a);
		ck_assert_int_eq(a.gpu[0].gdr, levels[i].near);
		ck_assert_int_eq(a.gpu[1].gdr, levels[i].far);
		/* without it everything goes through the CPU */
		ck_assert_str_eq(type(&a, 0, 0), levels[i].near ? "PIX" : "PHB");
	}
	auto_nccl_prediction struct nccl_prediction off = { 0 };
	struct nccl_opts o = { .gdr_level = NCCL_LOC, .skip_gdr_rule = true };
	predict(&m, &o, &off);
	ck_assert_str_eq(type(&off, 0, 0), "PIX");
}
END_TEST

/* Memory of GPUs before Ampere is read only where NVLink carries the rest, or the GPU is alone. */
START_TEST(old_gpus_do_not_read)
{
	auto_topo_machine struct topo_machine m = { 0 };
	struct nccl_opts o = NCCL_OPTS_DEFAULT;

	parse(two_gpus, &m);
	for (int i = 0; i < 3; i++) {
		auto_nccl_prediction struct nccl_prediction a = { 0 };
		struct topo_scope one = { .gpu = (const bool[]){ true, false } };
		struct err e;
		m.gpu[0].sm = m.gpu[1].sm = i ? 70 : 80;
		if (i == 2)
			m.gpu[0].n_nvlinks = m.gpu[1].n_nvlinks = 0;
		predict(&m, &o, &a);
		ck_assert(a.gpu[0].path[0].gdr_write);
		ck_assert_int_eq(a.gpu[0].path[0].gdr_read, i < 2);
		auto_nccl_prediction struct nccl_prediction alone = { 0 };
		ck_assert_int_eq(nccl_predict(&m, &one, &o, &alone, &e), 0);
		ck_assert(alone.gpu[0].gdr);
		ck_assert(!alone.gpu[1].in);
		auto_nccl_prediction struct nccl_prediction receives = { 0 };
		struct nccl_opts no_read = o;
		no_read.no_read = true;
		predict(&m, &no_read, &receives);
		ck_assert(!receives.gpu[0].gdr && receives.gpu[0].gdr_write);
	}
}
END_TEST

static const char grace[] = SYSTEM(
	CPU("0", "arch=\"arm64\"",
	    GPU("01", "0", "sm=\"90\"", "<c2c bw=\"45000\" count=\"10\"/>")
		    NIC("02", "0", "400000")) CPU("1", "arch=\"arm64\"", NIC("03", "1", "100000")));

START_TEST(chip_to_chip)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	struct nccl_opts o = NCCL_OPTS_DEFAULT;

	parse(grace, &m);
	predict(&m, &o, &a);
	ck_assert_str_eq(type(&a, 0, 0), "P2C");
	ck_assert(a.gpu[0].gdr);
	ck_assert_str_eq(type(&a, 0, 1), "SYS");
	/* Until 2.28, P2C counts as C2C for the level, and C2C is nearer than all of these. */
	for (int level = NCCL_PIX; level <= NCCL_PXB; level++) {
		auto_nccl_prediction struct nccl_prediction old = { 0 }, newer = { 0 };
		o.gdr_level = level;
		o.version = (struct lib_version){ 2, 28, 9 };
		predict(&m, &o, &old);
		ck_assert(old.gpu[0].gdr);
		o.version = (struct lib_version){ 2, 29, 7 };
		predict(&m, &o, &newer);
		ck_assert(!newer.gpu[0].gdr);
	}
}
END_TEST

/* NVLink to the CPU, and to a switch that is not shown. */
START_TEST(other_ends_of_nvlink)
{
	static const char text[] = SYSTEM(
		CPU("0", "arch=\"ppc64\"",
		    GPU("01", "0", "sm=\"70\"",
			"<nvlink target=\"0000:09:00.0\" count=\"3\" tclass=\"0x068001\"/>"
			"<nvlink target=\"0000:0f:00.0\" count=\"3\" tclass=\"0x030200\"/>")
			    NIC("02", "0", "100000") GPU("03", "1", "sm=\"60\"",
							 "<nvlink target=\"fffffff:ffff:ff\" "
							 "count=\"3\" tclass=\"0x068000\"/>")
				    GPU("04", "2", "sm=\"100\"",
					"<nvlink target=\"fffffff:ffff:ff\" count=\"3\" "
					"tclass=\"0x068000\"/>")));
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	struct nccl_opts o = NCCL_OPTS_DEFAULT;

	parse(text, &m);
	predict(&m, &o, &a);
	/* NVLink is no path to the NIC for NCCL's names: the last step is the host bridge */
	for (uint32_t g = 0; g < 3; g++)
		ck_assert_str_eq(type(&a, g, 0), "PHB");
	ck_assert(a.gpu[0].path[0].hops == 4);
}
END_TEST

/* Links that lead nowhere, or back, and a C2C link of no bandwidth, are no links. */
START_TEST(links_to_nothing)
{
	static const char text[] =
		SYSTEM(CPU("0", "arch=\"arm64\"",
			   GPU("01", "0", "sm=\"90\"",
			       NVLINK("01") NVLINK("0f") "<nvlink target=\"fffffff:ffff:ff\" "
							 "count=\"1\" tclass=\"0x030000\"/>"
							 "<nvlink target=\"0000:02:00.0\" "
							 "count=\"1\" tclass=\"0x120000\"/>"
							 "<c2c bw=\"0\" count=\"10\"/>")
				   NIC("02", "0", "100000")));
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	struct nccl_opts o = NCCL_OPTS_DEFAULT;

	parse(text, &m);
	predict(&m, &o, &a);
	ck_assert_str_eq(type(&a, 0, 0), "PHB");
	ck_assert_uint_eq(a.gpu[0].path[0].hops, 4);
}
END_TEST

/* One hop by NVLink over another GPU: only from a GPU or the CPU beside it. */
START_TEST(through_a_gpu)
{
	static const char chain[] = SYSTEM(
		CPU("0", INTEL, GPU("01", "0", "sm=\"80\"", NVLINK("02"))) CPU(
			"1", INTEL, GPU("02", "1", "sm=\"80\"", NVLINK("01") NVLINK("03")))
			CPU("2", INTEL,
			    GPU("03", "2", "sm=\"80\"", NVLINK("02")) NIC("04", "0", "100000")));
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	struct nccl_opts o = NCCL_OPTS_DEFAULT;

	parse(chain, &m);
	predict(&m, &o, &a);
	ck_assert_str_eq(type(&a, 0, 0), "SYS");
	ck_assert_str_eq(type(&a, 2, 0), "PHB");
}
END_TEST

/* Two ranks on one device: the same ways, and each its channels. */
START_TEST(ranks_on_one_device)
{
	static const char text[] = SYSTEM(
		CPU("0", INTEL,
		    SWITCH("01", PCI("02", "0x030200", "16.0 GT/s PCIe",
				     "<gpu dev=\"0\" rank=\"0\" sm=\"90\" gdr=\"1\"/>"
				     "<gpu dev=\"1\" rank=\"1\" sm=\"90\" gdr=\"1\"/>")
					 NIC("03", "0", "100000") NIC("04", "1", "100000"))));
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	struct nccl_opts o = NCCL_OPTS_DEFAULT;

	parse(text, &m);
	predict(&m, &o, &a);
	for (uint32_t g = 0; g < 2; g++) {
		ck_assert_str_eq(type(&a, g, 0), "PIX");
		ck_assert_uint_eq(a.gpu[g].n_channels, 1);
		ck_assert_uint_eq(*a.gpu[g].channel, g);
	}
}
END_TEST

/* ---- how many, and in which order ---- */

static void channels(const struct topo_machine *m, const struct nccl_prediction *a, uint32_t gpu,
		     char out[128])
{
	*out = '\0';
	for (size_t i = 0; i < a->gpu[gpu].n_channels; i++) {
		testing_append(out, 128, i ? " " : "");
		testing_append(out, 128, m->hca[a->net[a->gpu[gpu].channel[i]].hca].name);
	}
}

START_TEST(netdevs_policies_are_followed)
{
	static const struct {
		enum nccl_policy policy;
		uint32_t max;
		const char *gpu0, *gpu1;
	} cases[] = { { NCCL_AUTO, 0, "mlx5_0", "mlx5_1" },
		      { NCCL_ALL, 0, "mlx5_0 mlx5_1", "mlx5_1 mlx5_0" },
		      { NCCL_MAX, 1, "mlx5_0", "mlx5_1" },
		      { NCCL_MAX, 5, "mlx5_0 mlx5_1", "mlx5_1 mlx5_0" },
		      { NCCL_MAX, 0, "mlx5_0", "mlx5_1" } };
	auto_topo_machine struct topo_machine m = { 0 };
	char got[128];

	topo_xml("dgx-a100", &m);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_nccl_prediction struct nccl_prediction a = { 0 };
		struct nccl_opts o = { .policy = cases[i].policy,
				       .max = cases[i].max,
				       .gdr_level = -1 };
		predict(&m, &o, &a);
		channels(&m, &a, 0, got);
		ck_assert_str_eq(got, cases[i].gpu0);
		channels(&m, &a, 1, got);
		ck_assert_str_eq(got, cases[i].gpu1);
	}
}
END_TEST

/* A pod's GPUs are numbered anew: the second of a pair takes what the first would. */
START_TEST(a_pod_counts_from_zero)
{
	static const bool second[8] = { false, true }, pair[8] = { false, false, true, true };
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction one = { 0 }, two = { 0 };
	struct nccl_opts o = { .policy = NCCL_MAX, .max = 1, .gdr_level = -1 };
	struct topo_scope s = { .gpu = second };
	struct err e;
	char got[128];

	topo_xml("dgx-a100", &m);
	ck_assert_int_eq(nccl_predict(&m, &s, &o, &one, &e), 0);
	channels(&m, &one, 1, got);
	ck_assert_str_eq(got, "mlx5_0");
	s.gpu = pair;
	ck_assert_int_eq(nccl_predict(&m, &s, &o, &two, &e), 0);
	channels(&m, &two, 2, got);
	ck_assert_str_eq(got, "mlx5_2");
	channels(&m, &two, 3, got);
	ck_assert_str_eq(got, "mlx5_3");
}
END_TEST

/* If the job itself reads the file, its numbers count: 2 has its bits mirrored to 0, 5 to 1. */
START_TEST(a_file_of_the_job_numbers_its_gpus)
{
	static const bool third[8] = { false, false, true }, sixth[8] = { [5] = true };
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction even = { 0 }, odd = { 0 }, skeleton = { 0 };
	struct nccl_opts o = { .own_file = true,
			       .gdr_level = -1,
			       .policy = NCCL_MAX,
			       .max = 1,
			       .version = { 2, 28, 9 } };
	struct topo_scope s = { .gpu = third };
	struct err e;
	char got[128];

	topo_xml("dgx-a100", &m);
	ck_assert_int_eq(nccl_predict(&m, &s, &o, &even, &e), 0);
	channels(&m, &even, 2, got);
	ck_assert_str_eq(got, "mlx5_2");
	s.gpu = sixth;
	ck_assert_int_eq(nccl_predict(&m, &s, &o, &odd, &e), 0);
	channels(&m, &odd, 5, got);
	ck_assert_str_eq(got, "mlx5_7");
	m.skeleton = true;
	ck_assert_int_eq(nccl_predict(&m, &s, &o, &skeleton, &e), 0);
	channels(&m, &skeleton, 5, got);
	ck_assert_str_eq(got, "mlx5_6");
}
END_TEST

#define FUNCTION(busid, class, ids) "<pci busid=\"0000:" busid "\" class=\"" class "\" " ids "/>"

/* NCCL looks for a NIC at function 0 of device 00 of its bus. A skeleton that has another function
 * there, or none, does not place it; EFA is not looked for in this way. */
START_TEST(nics_of_a_skeleton_are_looked_for)
{
	static const struct {
		const char *nic, *ids, *type;
		bool keep, displaced;
	} cases[] = {
		{ "05:00.0", "", "PIX", false, false },
		{ "05:02.0", "", "PHB", false, true },
		{ "05:02.0", "", "PIX", true, false },
		{ "05:02.0", "vendor=\"0x15b3\" device=\"0x101e\"", "PHB", false, true },
		{ "05:02.0", "vendor=\"0x1d0f\" device=\"0xefa0\"", "PIX", false, false },
		{ "03:02.0", "", "SYS", false, true }, /* 03:00.0 is the GPU of the other CPU */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		auto_nccl_prediction struct nccl_prediction a = { 0 };
		struct nccl_opts o = { .gdr_level = -1, .keep_vf_path = cases[i].keep };
		char text[1024];

		(void)snprintf(text, sizeof(text),
			       SYSTEM(CPU("0", INTEL,
					  SWITCH("01", FUNCTION("02:00.0", "0x030200", "")
							       FUNCTION("%s", "0x020700", "%s")))
					      CPU("1", INTEL, FUNCTION("03:00.0", "0x030200", ""))),
			       cases[i].nic, cases[i].ids);
		parse(text, &m);
		predict(&m, &o, &a);
		ck_assert_msg(!strcmp(type(&a, 0, 0), cases[i].type), "%zu: %s", i, type(&a, 0, 0));
		ck_assert_int_eq(a.net[0].displaced, cases[i].displaced);
	}
}
END_TEST

START_TEST(document_order_decides_ties)
{
	static const char text[] = SYSTEM(CPU(
		"0", INTEL,
		SWITCH("01", GPU("02", "0", "sm=\"90\"", "") GPU("03", "1", "sm=\"90\"", "") GPU(
				     "04", "2", "sm=\"90\"", "") GPU("05", "3", "sm=\"90\"", "")
				     NIC("09", "3", "100000") NIC("08", "2", "100000")
					     NIC("07", "1", "100000") NIC("06", "0", "100000"))));
	static const char *const want[] = { "n3", "n1", "n2", "n0" };
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	struct nccl_opts o = NCCL_OPTS_DEFAULT;
	char got[128];

	parse(text, &m);
	predict(&m, &o, &a);
	for (uint32_t g = 0; g < 4; g++) {
		channels(&m, &a, g, got);
		ck_assert_str_eq(got, want[g]);
	}
}
END_TEST

/* A slower card at the same switch is offered to the search, a farther one is not. */
START_TEST(slower_cards_may_be_used_too)
{
	static const char text[] =
		SYSTEM(CPU("0", INTEL,
			   SWITCH("01", GPU("02", "0", "sm=\"90\"", "") NIC("03", "0", "100000")
						NIC("04", "1", "50000")) NIC("05", "2", "50000")));
	static const bool want[] = { false, true, false };
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	struct nccl_opts o = NCCL_OPTS_DEFAULT;

	parse(text, &m);
	predict(&m, &o, &a);
	for (uint32_t n = 0; n < 3; n++)
		ck_assert_int_eq(nccl_is_slower(&a.gpu[0], n), want[n]);
}
END_TEST

/* ---- switches of two levels ---- */

#define PEX(bus, level, inside)                                                                    \
	"<pci busid=\"0000:" bus ":00.0\" class=\"0x060400\" vendor=\"0x1000\" device=\"0xc030\" " \
	"subsystem_vendor=\"0x1000\" subsystem_device=\"0x" level                                  \
	"003\" link_speed=\"16.0 GT/s PCIe\" link_width=\"16\">" inside "</pci>"

/* NCCL merges a switch with any neighbour that is the other level: also the one above it. */
START_TEST(level_0_below_level_1_is_merged_too)
{
	static const struct {
		const char *text, *type;
		uint32_t hops;
	} cases[] = {
		{ SYSTEM(CPU("0", INTEL,
			     PEX("01", "0",
				 PEX("02", "1", GPU("03", "0", "", "")) NIC("04", "0", "100000")))),
		  "PIX", 4 },
		{ SYSTEM(CPU("0", INTEL,
			     PEX("01", "1",
				 PEX("02", "0", GPU("03", "0", "", "")) NIC("04", "0", "100000")))),
		  "PIX", 4 },
		{ SYSTEM(CPU("0", INTEL,
			     SWITCH("05", PEX("01", "1", PEX("02", "0", GPU("03", "0", "", "")))
						  NIC("04", "0", "100000")))),
		  "PXB", 5 },
		{ SYSTEM(CPU("0", INTEL,
			     PEX("01", "1",
				 PEX("02", "1", GPU("03", "0", "", "")) NIC("04", "0", "100000")))),
		  "PXB", 5 },
	};
	const struct nccl_opts o = NCCL_OPTS_DEFAULT;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		auto_nccl_prediction struct nccl_prediction a = { 0 };
		parse(cases[i].text, &m);
		predict(&m, &o, &a);
		ck_assert_msg(!strcmp(type(&a, 0, 0), cases[i].type), "%zu: %s", i, type(&a, 0, 0));
		ck_assert_msg(a.gpu[0].path[0].hops == cases[i].hops, "%zu: %u", i,
			      a.gpu[0].path[0].hops);
	}
}
END_TEST

/* A part of a GPU has no GPUDirect RDMA, and a net with net="0" is none. */
START_TEST(parts_and_nets_that_are_none)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	const struct nccl_opts o = NCCL_OPTS_DEFAULT;

	parse(SYSTEM(CPU("0", INTEL,
			 SWITCH("01", GPU("02", "0", "mlopart=\"1\"", "") GPU("03", "1",
									      "mlopart=\"-1\"", "")
					      PCI("04", "0x020000", "16.0 GT/s PCIe",
						  "<nic><net name=\"a\" dev=\"0\" net=\"0\"/>"
						  "<net name=\"b\" dev=\"1\" net=\"1\"/></nic>")))),
	      &m);
	predict(&m, &o, &a);
	ck_assert_uint_eq(a.n_nets, 1);
	ck_assert_str_eq(m.hca[a.net[0].hca].name, "b");
	ck_assert(!a.gpu[0].path[0].gdr_write && a.gpu[1].path[0].gdr_write);
}
END_TEST

TEST_PROGRAM("nccl_rules", without_a_rule_answers_are_missed, level_0_below_level_1_is_merged_too,
	     parts_and_nets_that_are_none, cpus_by_their_kind, nvlink_to_the_gpu_beside_the_nic,
	     how_far_gpudirect_goes, old_gpus_do_not_read, chip_to_chip, other_ends_of_nvlink,
	     links_to_nothing, through_a_gpu, ranks_on_one_device, netdevs_policies_are_followed,
	     a_pod_counts_from_zero, a_file_of_the_job_numbers_its_gpus,
	     nics_of_a_skeleton_are_looked_for, document_order_decides_ties,
	     slower_cards_may_be_used_too)

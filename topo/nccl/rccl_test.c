// SPDX-License-Identifier: Apache-2.0
/* RCCL's files and rules, where they differ from those of NCCL. */
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "topo/read/read.h"
#include "topo/testing/nccl.h"
#include "topo/testing/topo.h"

static const struct nccl_opts rccl = { .rccl = true, .gdr_level = -1 };

static void parse(const char *text, struct topo_machine *m)
{
	struct err e;

	if (topo_read_xml(text, strlen(text), m, &e))
		ck_abort_msg("%s", e.msg);
}

static void predict(const struct topo_machine *m, struct nccl_prediction *a)
{
	struct err e;

	if (nccl_predict(m, NULL, &rccl, a, &e))
		ck_abort_msg("%s", e.msg);
}

/* "PXB mlx5_0 mlx5_1" */
static void locals(const struct topo_machine *m, const struct nccl_prediction *a, uint32_t gpu,
		   char out[256])
{
	(void)snprintf(out, 256, "%s", nccl_path_name(a->gpu[gpu].type));
	for (size_t i = 0; i < a->gpu[gpu].n_local; i++) {
		testing_append(out, 256, " ");
		testing_append(out, 256, m->hca[a->net[a->gpu[gpu].local[i]].hca].name);
	}
}

static void set_gfx(struct topo_machine *m, uint32_t gfx)
{
	for (size_t g = 0; g < m->n_gpus; g++)
		m->gpu[g].gfx = gfx;
}

/* A guest whose devices have a domain each: GPU 0021 and NIC 0020 are a pair. */
START_TEST(guests_are_paired_by_number)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 }, bare = { 0 };
	char got[256];

	topo_xml("rccl-topo_8p_942vm", &m);
	predict(&m, &a);
	for (uint32_t g = 0; g < a.n_gpus; g++) {
		ck_assert_uint_eq(a.gpu[g].n_local, 1);
		ck_assert_int_eq(a.gpu[g].type, NCCL_PXB);
		const struct topo_hca *h = &m.hca[a.net[*a.gpu[g].local].hca];
		ck_assert_uint_eq(m.pci[h->pci].addr.domain + 1, m.pci[m.gpu[g].pci].addr.domain);
		ck_assert(a.gpu[g].gdr);
	}
	/* not on a machine that is known to be none, not with other GPUs, and not where one GPU has
	 * no partner */
	m.vm = TOPO_NO;
	predict(&m, &bare);
	locals(&m, &bare, 0, got);
	ck_assert(!strncmp(got, "PHB", 3));
	m.vm = TOPO_YES;
	m.hyperv = TOPO_NO; /* a guest of another hypervisor */
	auto_nccl_prediction struct nccl_prediction other = { 0 };
	predict(&m, &other);
	locals(&m, &other, 0, got);
	ck_assert(!strncmp(got, "PHB", 3));
	m.hyperv = TOPO_YES;
	m.vm = TOPO_NO; /* RCCL asks only the firmware */
	auto_nccl_prediction struct nccl_prediction firmware = { 0 };
	predict(&m, &firmware);
	locals(&m, &firmware, 0, got);
	ck_assert(!strncmp(got, "PXB", 3));
	set_gfx(&m, 0x90a);
	auto_nccl_prediction struct nccl_prediction older = { 0 };
	predict(&m, &older);
	locals(&m, &older, 0, got);
	ck_assert(!strncmp(got, "PHB", 3));
	set_gfx(&m, 0x950);
	auto_nccl_prediction struct nccl_prediction newer = { 0 };
	predict(&m, &newer);
	locals(&m, &newer, 0, got);
	ck_assert(!strncmp(got, "PXB", 3));
	m.pci[m.gpu[3].pci].addr.domain = 0x77;
	auto_nccl_prediction struct nccl_prediction odd = { 0 };
	predict(&m, &odd);
	locals(&m, &odd, 0, got);
	ck_assert(!strncmp(got, "PHB", 3));
}
END_TEST

#define FILE2(cpu, inside)                                                                         \
	"<system version=\"2\"><cpu numaid=\"0\" " cpu ">" inside "</cpu></system>"
#define AMD(family, model)                                                                         \
	"arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"" family "\" modelid=\"" model "\""
#define ROME AMD("143", "49")
#define PCI(bus, class, inside)                                                                    \
	"<pci busid=\"0000:" bus                                                                   \
	":00.0\" class=\"" class "\" link_speed=\"16 GT/s\" link_width=\"16\">" inside "</pci>"
#define GPU(bus, dev, inside)                                                                      \
	PCI(bus, "0x120000",                                                                       \
	    "<gpu dev=\"" dev "\" rank=\"" dev "\" sm=\"104\" gdr=\"1\">" inside "</gpu>")
#define NIC(bus, dev)                                                                              \
	PCI(bus, "0x020700",                                                                       \
	    "<nic><net name=\"n" dev "\" dev=\"" dev "\" speed=\"200000\" gdr=\"1\"/></nic>")
#define NIC_AT(at, dev)                                                                            \
	"<pci busid=\"" at                                                                         \
	":00.0\" class=\"0x020700\" link_speed=\"16 GT/s\" link_width=\"16\"><nic>"                \
	"<net name=\"n" dev "\" dev=\"" dev "\" speed=\"200000\" gdr=\"1\"/></nic></pci>"
#define BRIDGE(bus, inside) PCI(bus, "0x060400", inside)

/* On Rome through the host bridge, where GPU and NIC are close together by number. RCCL counts two
 * hops to the CPU: until 2.29 from a GPU behind a bridge, since then from one without. */
START_TEST(gpudirect_on_rome)
{
	static const struct {
		const char *text;
		bool before, gdr;
	} cases[] = {
		{ FILE2(ROME, BRIDGE("41", GPU("43", "0", "")) NIC("45", "0")), true, false },
		{ FILE2(ROME, GPU("43", "0", "") NIC("45", "0")), false, true },
		{ FILE2(AMD("143", "50"), GPU("43", "0", "") NIC("45", "0")), false, true },
		{ FILE2(AMD("143", "48"), GPU("43", "0", "") NIC("45", "0")), false, false },
		/* Milan, Genoa; not Turin, and not as newer versions write the family */
		{ FILE2(AMD("175", "1"), GPU("43", "0", "") NIC("45", "0")), false, true },
		{ FILE2(AMD("191", "2"), GPU("43", "0", "") NIC("45", "0")), false, false },
		{ FILE2(AMD("25", "1"), GPU("43", "0", "") NIC("45", "0")), false, false },
		{ FILE2(ROME, GPU("43", "0", "") NIC("61", "0")), false, false },
		/* RCCL compares bits of the bus, and no domain */
		{ FILE2(ROME, GPU("43", "0", "") NIC_AT("0001:45", "0")), false, true },
		{ FILE2(ROME, GPU("43", "0", "") BRIDGE("44", NIC("45", "0"))), false, false },
		{ FILE2("arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"143\" modelid=\"49\"",
			GPU("43", "0", "") NIC("45", "0")),
		  false, false },
	};
	const struct nccl_opts old = { .rccl = true, .gdr_level = -1, .version = { 2, 29, 7 } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		auto_nccl_prediction struct nccl_prediction a = { 0 }, b = { 0 };
		struct err e;
		parse(cases[i].text, &m);
		predict(&m, &a);
		ck_assert_msg(a.gpu[0].gdr == cases[i].gdr, "%zu", i);
		ck_assert_int_eq(a.gpu[0].type, NCCL_PHB);
		ck_assert(!nccl_predict(&m, NULL, &old, &b, &e));
		ck_assert_msg(b.gpu[0].gdr == cases[i].before, "%zu before", i);
	}
}
END_TEST

/* Two sockets with a GPU each; the first one has the NIC. %s: device and gcn of each GPU. */
#define LINKED_GPU(bus, dev, other)                                                                \
	"<pci busid=\"0000:" bus ":00.0\" class=\"0x120000\" vendor=\"0x1002\" device=\"%s\" "     \
	"subsystem_vendor=\"0x1002\" subsystem_device=\"0x1\" link_speed=\"32 GT/s\" "             \
	"link_width=\"16\"><gpu dev=\"" dev "\" rank=\"" dev                                       \
	"\" sm=\"104\" gdr=\"1\" %s>" XGMI(other) "</gpu></pci>"
#define LINKED                                                                                     \
	"<system version=\"2\"><cpu numaid=\"0\" " ROME                                            \
	"><pci busid=\"0000:01:00.0\" class=\"0x060400\" link_speed=\"32 GT/s\" "                  \
	"link_width=\"16\">" LINKED_GPU("02", "0",                                                 \
					"82") "<pci busid=\"0000:03:00.0\" class=\"0x020700\" "    \
					      "link_speed=\"32 GT/s\" link_width=\"16\">"          \
					      "<nic><net name=\"n0\" dev=\"0\" speed=\"800000\" "  \
					      "gdr=\"1\"/></nic></pci></pci></cpu>"                \
					      "<cpu numaid=\"1\" " ROME                            \
					      ">" LINKED_GPU("82", "1", "02") "</cpu></system>"

#define XGMI(bus) "<xgmi target=\"0000:" bus ":00.0\" count=\"1\" tclass=\"0x120000\"/>"

/* No PXN; spreading by the number of a device, in 2.30.7 by that among those that share its nets,
 * and in 2.22 by its place. */
START_TEST(hcas_are_spread_over_gpus)
{
	static const char text[] =
		FILE2(ROME, BRIDGE("01", GPU("02", "4", XGMI("03")) GPU("03", "6", XGMI("02"))
						 NIC("04", "0") NIC("05", "1"))
				    GPU("81", "7", XGMI("02")));
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	char got[256];

	parse(text, &m);
	predict(&m, &a);
	locals(&m, &a, 0, got);
	ck_assert_str_eq(got, "PIX n0 n1");
	ck_assert_uint_eq(a.gpu[0].path[0].hops, 4);
	/* devices 4 and 6 of two are both the first */
	ck_assert_uint_eq(*a.gpu[0].channel, 0);
	ck_assert_uint_eq(*a.gpu[1].channel, 0);
	const struct nccl_opts old = { .version = { 2, 22, 3 }, .rccl = true, .gdr_level = -1 };
	auto_nccl_prediction struct nccl_prediction by_place = { 0 }, nccl = { 0 };
	struct nccl_opts o = NCCL_OPTS_DEFAULT;
	struct err e;
	ck_assert_int_eq(nccl_predict(&m, NULL, &old, &by_place, &e), 0);
	ck_assert_uint_eq(*by_place.gpu[0].channel, 0);
	ck_assert_uint_eq(*by_place.gpu[1].channel, 1);
	ck_assert_int_eq(nccl_predict(&m, NULL, &o, &nccl, &e), 0);
	ck_assert_uint_eq(*nccl.gpu[0].channel, *nccl.gpu[1].channel);
	ck_assert_str_eq(nccl_path_name(a.gpu[2].path[0].type), "PHB");
	ck_assert_str_eq(nccl_path_name(nccl.gpu[2].path[0].type), "PXN");
}
END_TEST

/* ncclTopoXGMISpeed and the ids of pci.ids: GB/s of one link, seen by PXN through it. */
START_TEST(links_of_each_generation)
{
	static const struct {
		const char *gcn, *device;
		double bw;
	} in[] = {
		{ "gcn=\"gfx906\"", "", 24 },  { "gcn=\"908\"", "", 24 },
		{ "gcn=\"910\"", "", 36 },     { "gcn=\"gfx90a\"", "", 36 },
		{ "gcn=\"gfx942\"", "", 48 },  { "gcn=\"gfx950\"", "", 48 },
		{ "gcn=\"gfx1100\"", "", 24 }, { "", "0x738c", 24 },
		{ "", "0x740f", 36 },          { "", "0x74a1", 48 },
		{ "", "0x74a5", 48 },          { "", "0x75a3", 48 },
		{ "", "0x7448", 24 },          { "gcn=\"gfx90a\"", "0x74a1", 36 },
	};
	struct nccl_opts o = { .rccl = true, .gdr_level = -1, .pxn = true };
	char text[4096];

	for (size_t i = 0; i < ARRAY_SIZE(in); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		auto_nccl_prediction struct nccl_prediction a = { 0 };
		struct err e;
		(void)snprintf(text, sizeof(text), LINKED, in[i].device, in[i].gcn, in[i].device,
			       in[i].gcn);
		parse(text, &m);
		ck_assert_int_eq(nccl_predict(&m, NULL, &o, &a, &e), 0);
		ck_assert_int_eq(a.gpu[1].path[0].type, NCCL_PXN);
		ck_assert_msg(a.gpu[1].path[0].bw == in[i].bw, "%zu: %f", i, a.gpu[1].path[0].bw);
		/* RCCL uses no PXN unless it is asked for */
		auto_nccl_prediction struct nccl_prediction off = { 0 };
		predict(&m, &off);
		ck_assert_int_eq(off.gpu[1].path[0].type, NCCL_SYS);
	}
}
END_TEST

#define SOCKET(numa, inside) "<cpu numaid=\"" numa "\" " ROME ">" inside "</cpu>"

/* ncclTopoGetIntermediateRank, before NVB: the first GPU on the way, and not that of the net, must
 * be near enough for GPUDirect RDMA. Only then PXN stays. */
START_TEST(pxn_takes_the_first_gpu_on_the_way)
{
	static const struct {
		const char *xml;
		enum nccl_path_type type;
		uint32_t via;
	} in[] = {
		/* 0 - 1 - 2 by XGMI; 2 is the local GPU of the net */
		{ "<system version=\"2\">" SOCKET("0", GPU("02", "0", XGMI("12")))
			  SOCKET("1", GPU("12", "1", XGMI("02") XGMI("23")))
				  SOCKET("2", BRIDGE("21", GPU("23", "2", XGMI("12"))
								   NIC("24", "0"))) "</system>",
		  NCCL_SYS, TOPO_NONE },
		{ "<system version=\"2\">" SOCKET("0", GPU("02", "0", XGMI("12")))
			  SOCKET("1", BRIDGE("20", GPU("12", "1", XGMI("02") XGMI("23")) BRIDGE(
							   "21", GPU("23", "2", XGMI("12")) NIC(
									 "24", "0")))) "</system>",
		  NCCL_PXN, 1 },
	};
	const struct nccl_opts o = {
		.version = { 2, 30, 4 }, .rccl = true, .gdr_level = -1, .pxn = true
	};

	for (size_t i = 0; i < ARRAY_SIZE(in); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		auto_nccl_prediction struct nccl_prediction a = { 0 };
		struct err e;
		parse(in[i].xml, &m);
		ck_assert_int_eq(nccl_predict(&m, NULL, &o, &a, &e), 0);
		const struct nccl_net_path *p = &a.gpu[0].path[0];
		ck_assert_int_eq(p->type, in[i].type);
		ck_assert_uint_eq(p->via, in[i].via);
		ck_assert(p->gdr_write == (p->type == NCCL_PXN));
	}
}
END_TEST

/* NCCL reads with GPUDirect RDMA from sm 80 on; RCCL's sm is the number of compute units. */
START_TEST(few_compute_units_do_not_matter)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 }, none = { 0 };
	const struct nccl_opts no_read = { .rccl = true, .gdr_level = -1, .no_read = true };
	struct err e;

	parse(FILE2(ROME, BRIDGE("01", GPU("02", "0", "") GPU("03", "1", "") NIC("04", "0"))), &m);
	m.gpu[0].sm = 60;
	predict(&m, &a);
	ck_assert(a.gpu[0].path[0].gdr_read && a.gpu[0].gdr);
	ck_assert_int_eq(nccl_predict(&m, NULL, &no_read, &none, &e), 0);
	ck_assert(!none.gpu[0].path[0].gdr_read && none.gpu[0].path[0].gdr_write);
}
END_TEST

#define PORT(bus, dev, guid, mbps)                                                                 \
	PCI(bus, "0x020000",                                                                       \
	    "<nic><net name=\"n" dev "\" dev=\"" dev "\" guid=\"" guid "\" speed=\"" mbps          \
	    "\" gdr=\"1\"/></nic>")

/* ncclTopoTrimSystem: of the ports of a card, the fastest; a card is known by its GUID. */
START_TEST(slow_ports_of_a_card_are_dropped)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	char got[256] = "";

	parse(FILE2(ROME,
		    BRIDGE("01",
			   GPU("02", "0", "") PORT("04", "0", "0x1", "100000") PORT(
				   "05", "1", "0x1", "25000") PORT("06", "2", "0x2", "25000")
				   PORT("07", "3", "0x1", "40000") PORT("08", "4", "0x1", "100000")
					   PORT("09", "5", "0x0", "10000")
						   PORT("0a", "6", "0x0", "25000")
			   /* slow before fast, fast before slow */
			   PORT("0b", "7", "0x3", "25000") PORT("0c", "8", "0x3", "50000") PORT(
				   "0d", "9", "0x4", "50000") PORT("0e", "10", "0x4", "25000"))),
	      &m);
	predict(&m, &a);
	for (size_t i = 0; i < a.n_nets; i++)
		testing_append(got, sizeof(got), m.hca[a.net[i].hca].name);
	ck_assert_str_eq(got, "n0n2n4n5n6n8n9");
}
END_TEST

/* Two ports at a cpu are fused and lost; the third one of their card, of another rate, is not slow
 * then. */
START_TEST(a_lost_device_drops_no_port)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	char got[256];

	parse(FILE2(ROME, GPU("02", "0",
			      "") "<nic><net name=\"n0\" dev=\"0\" guid=\"0x1\" port=\"1\"/>"
				  "<net name=\"n1\" dev=\"1\" guid=\"0x1\" port=\"2\"/></nic>" PORT(
					  "04", "2", "0x1", "10000")),
	      &m);
	predict(&m, &a);
	locals(&m, &a, 0, got);
	ck_assert_str_eq(got, "PHB n2");
}
END_TEST

/* Neighbouring domains, neighbouring buses, or 255 domains apart: either is the first. */
START_TEST(guests_are_paired_by_distance)
{
	static const struct {
		const char *vendor, *gpu, *nic;
		enum nccl_path_type type;
	} in[] = {
		{ "GenuineIntel", "0021:00", "0020:00", NCCL_PXB },
		{ "GenuineIntel", "0020:00", "0021:00", NCCL_PXB },
		{ "GenuineIntel", "0000:43", "0000:44", NCCL_PXB },
		{ "GenuineIntel", "0000:44", "0000:43", NCCL_PXB },
		{ "GenuineIntel", "0001:43", "0100:43", NCCL_PXB },
		{ "GenuineIntel", "0100:43", "0001:43", NCCL_PXB },
		{ "GenuineIntel", "0000:43", "0000:45", NCCL_PHB },
		{ "GenuineIntel", "0000:43", "0002:43", NCCL_PHB },
		{ "AuthenticAMD", "0021:00", "0020:00", NCCL_PHB },
	};
	char text[2048];

	for (size_t i = 0; i < ARRAY_SIZE(in); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		auto_nccl_prediction struct nccl_prediction a = { 0 };
		(void)snprintf(
			text, sizeof(text),
			FILE2("arch=\"x86_64\" vendor=\"%s\" familyid=\"6\" modelid=\"143\"",
			      "<pci busid=\"%s:00.0\" class=\"0x120000\">"
			      "<gpu dev=\"0\" rank=\"0\" sm=\"304\" gcn=\"gfx942\" gdr=\"1\"/>"
			      "</pci>" NIC_AT("%s", "0")),
			in[i].vendor, in[i].gpu, in[i].nic);
		parse(text, &m);
		predict(&m, &a);
		ck_assert_msg(a.gpu[0].type == in[i].type, "%zu: %s", i,
			      nccl_path_name(a.gpu[0].type));
	}
}
END_TEST

START_TEST(machines_of_ready_made_graphs)
{
	static const struct {
		const char *file;
		bool may;
	} in[] = {
		{ "rccl-topo_8p_950", true },  { "rccl-topo_8p_942vm", true },
		{ "rccl-topo_16p1h", true },   { "rccl-topo_4p_942", true },
		{ "rccl-topo_3p_pcie", true }, { "synthetic-a_pix100_phb400", false },
	};
	const struct nccl_opts o = NCCL_OPTS_DEFAULT;
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(in); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		auto_nccl_prediction struct nccl_prediction a = { 0 }, nccl = { 0 };
		topo_xml(in[i].file, &m);
		predict(&m, &a);
		ck_assert_msg(a.may_have_model == in[i].may, "%s", in[i].file);
		ck_assert_int_eq(nccl_predict(&m, NULL, &o, &nccl, &e), 0);
		ck_assert(!nccl.may_have_model);
	}
	/* without nets there is nothing that a graph decides */
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction bare = { 0 };
	parse(FILE2(ROME, GPU("02", "0", "")), &m);
	predict(&m, &bare);
	ck_assert(!bare.may_have_model);
}
END_TEST

START_TEST(every_file_has_an_answer)
{
	for (const char *const *name = topo_names(); *name; name++) {
		auto_topo_machine struct topo_machine m = { 0 };
		auto_nccl_prediction struct nccl_prediction a = { 0 };
		topo_xml(*name, &m);
		predict(&m, &a);
		for (size_t g = 0; g < a.n_gpus; g++)
			ck_assert_msg(a.gpu[g].n_channels > 0, "%s", *name);
	}
}
END_TEST

TEST_PROGRAM("nccl_rccl", guests_are_paired_by_number, guests_are_paired_by_distance,
	     gpudirect_on_rome, hcas_are_spread_over_gpus, links_of_each_generation,
	     pxn_takes_the_first_gpu_on_the_way, few_compute_units_do_not_matter,
	     slow_ports_of_a_card_are_dropped, a_lost_device_drops_no_port,
	     machines_of_ready_made_graphs, every_file_has_an_answer)

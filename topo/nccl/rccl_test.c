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
	/* not on a machine that is known to be none, and not where one GPU has no partner */
	m.vm = TOPO_NO;
	predict(&m, &bare);
	locals(&m, &bare, 0, got);
	ck_assert(!strncmp(got, "PHB", 3));
	m.vm = TOPO_YES;
	m.pci[m.gpu[3].pci].addr.domain = 0x77;
	auto_nccl_prediction struct nccl_prediction odd = { 0 };
	predict(&m, &odd);
	locals(&m, &odd, 0, got);
	ck_assert(!strncmp(got, "PHB", 3));
}
END_TEST

#define FILE2(cpu, inside)                                                                         \
	"<system version=\"2\"><cpu numaid=\"0\" " cpu ">" inside "</cpu></system>"
#define ROME "arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"143\" modelid=\"49\""
#define PCI(bus, class, inside)                                                                    \
	"<pci busid=\"0000:" bus                                                                   \
	":00.0\" class=\"" class "\" link_speed=\"16 GT/s\" link_width=\"16\">" inside "</pci>"
#define GPU(bus, dev, inside)                                                                      \
	PCI(bus, "0x120000",                                                                       \
	    "<gpu dev=\"" dev "\" rank=\"" dev "\" sm=\"104\" gdr=\"1\">" inside "</gpu>")
#define NIC(bus, dev)                                                                              \
	PCI(bus, "0x020700",                                                                       \
	    "<nic><net name=\"n" dev "\" dev=\"" dev "\" speed=\"200000\" gdr=\"1\"/></nic>")
#define BRIDGE(bus, inside) PCI(bus, "0x060400", inside)

/* On Rome through the host bridge, where GPU and NIC are close together by number. */
START_TEST(gpudirect_on_rome)
{
	static const struct {
		const char *text;
		bool gdr;
	} cases[] = {
		{ FILE2(ROME, BRIDGE("41", GPU("43", "0", "")) NIC("45", "0")), true },
		{ FILE2(ROME, BRIDGE("41", GPU("43", "0", "")) NIC("61", "0")), false },
		{ FILE2(ROME, BRIDGE("41", GPU("43", "0", "")) BRIDGE("44", NIC("45", "0"))),
		  false },
		{ FILE2(ROME, GPU("43", "0", "") NIC("45", "0")), false },
		{ FILE2("arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"175\" modelid=\"17\"",
			BRIDGE("41", GPU("43", "0", "")) NIC("45", "0")),
		  false },
		{ FILE2("arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"49\"",
			BRIDGE("41", GPU("43", "0", "")) NIC("46", "0")),
		  false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		auto_nccl_prediction struct nccl_prediction a = { 0 };
		parse(cases[i].text, &m);
		predict(&m, &a);
		ck_assert_msg(a.gpu[0].gdr == cases[i].gdr, "%zu", i);
		ck_assert_int_eq(a.gpu[0].type, NCCL_PHB);
	}
}
END_TEST

#define XGMI(bus) "<xgmi target=\"0000:" bus ":00.0\" count=\"1\" tclass=\"0x120000\"/>"

/* No PXN, no hop for a node of its own, no spreading by the number of a device: by its place. */
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
	ck_assert_uint_eq(a.gpu[0].path[0].hops, 3);
	ck_assert_uint_eq(*a.gpu[0].channel, 0);
	ck_assert_uint_eq(*a.gpu[1].channel, 1);
	/* devices 4 and 6 of two would both be the first to NCCL */
	auto_nccl_prediction struct nccl_prediction nccl = { 0 };
	struct nccl_opts o = NCCL_OPTS_DEFAULT;
	struct err e;
	ck_assert_int_eq(nccl_predict(&m, NULL, &o, &nccl, &e), 0);
	ck_assert_uint_eq(*nccl.gpu[0].channel, *nccl.gpu[1].channel);
	ck_assert_str_eq(nccl_path_name(a.gpu[2].path[0].type), "PHB");
	ck_assert_str_eq(nccl_path_name(nccl.gpu[2].path[0].type), "PXN");
}
END_TEST

/* As they are read: the ids of a device say which generation its links are of. */
START_TEST(links_of_each_generation)
{
	static const uint16_t devices[] = { 0x738c, 0x740c, 0x74a1 };

	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		auto_nccl_prediction struct nccl_prediction a = { 0 };
		topo_xml("rccl-topo_8p_940", &m);
		for (size_t g = 0; g < m.n_gpus; g++)
			m.pci[m.gpu[g].pci].device = devices[i];
		predict(&m, &a);
		for (size_t g = 0; g < a.n_gpus; g++)
			ck_assert(a.gpu[g].in && a.gpu[g].n_channels > 0);
	}
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

TEST_PROGRAM("nccl_rccl", guests_are_paired_by_number, gpudirect_on_rome, hcas_are_spread_over_gpus,
	     links_of_each_generation, every_file_has_an_answer)

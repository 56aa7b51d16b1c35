// SPDX-License-Identifier: Apache-2.0
/*
 * Each rule of lib/rdma/version.c that the prediction asks for: a machine whose answer differs
 * between the last version without it and the first with it. A rule that is turned off fails here.
 */
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "topo/core/machine_build.h"
#include "topo/nccl/nccl.h"
#include "topo/read/read.h"
#include "topo/testing/fixture.h"
#include "topo/testing/tree.h"

#define SYSTEM(inside)          "<system version=\"1\">" inside "</system>"
#define CPU(numa, kind, inside) "<cpu numaid=\"" numa "\" " kind ">" inside "</cpu>"
#define AT(busid, class, more, inside)                                                             \
	"<pci busid=\"0000:" busid "\" class=\"" class "\" link_speed=\"32.0 GT/s PCIe\" "         \
						       "link_width=\"16\" " more ">" inside        \
						       "</pci>"
#define SWITCH(bus, inside) AT(bus ":00.0", "0x060400", "", inside)
#define GPU(bus, dev, sm, links)                                                                   \
	AT(bus ":00.0", "0x030200", "",                                                            \
	   "<gpu dev=\"" dev "\" rank=\"" dev "\" sm=\"" sm "\" gdr=\"1\">" links "</gpu>")
#define NET(busid, dev, speed)                                                                     \
	AT(busid, "0x020700", "",                                                                  \
	   "<nic><net name=\"n" dev "\" dev=\"" dev "\" speed=\"" speed "\" gdr=\"1\"/></nic>")
#define NARROW(busid, dev, lanes)                                                                  \
	"<pci busid=\"0000:" busid "\" class=\"0x020000\" link_speed=\"32.0 GT/s PCIe\" "          \
	"link_width=\"" lanes "\"><nic><net name=\"n" dev "\" dev=\"" dev                          \
	"\" speed=\"400000\" gdr=\"1\"/></nic></pci>"
#define NVLINK(bus) "<nvlink target=\"0000:" bus ":00.0\" count=\"1\" tclass=\"0x030200\"/>"
#define NVSWITCH    "<nvlink target=\"fffffff:ffff:ff\" count=\"1\" tclass=\"0x068000\"/>"
#define C2C         "<c2c bw=\"44712\" count=\"10\"/>"
#define XGMI(bus)   "<xgmi target=\"0000:" bus ":00.0\" count=\"1\" tclass=\"0x120000\"/>"
#define MI(bus, dev, gcn, width, links)                                                            \
	"<pci busid=\"0000:" bus ":00.0\" class=\"0x120000\" link_speed=\"32.0 GT/s PCIe\" "       \
	"link_width=\"" width "\"><gpu dev=\"" dev "\" rank=\"" dev "\" sm=\"304\" gcn=\"" gcn     \
	"\" gdr=\"1\">" links "</gpu></pci>"
#define EPYC   "arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"175\" modelid=\"17\""
#define XEON_6 "arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"173\""
#define INTEL  "arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"207\""
#define ARM    "arch=\"arm64\""

struct scenario {
	enum lib_rule rule;
	const char *before, *first; /* versions */
	const char *xml;            /* NULL: of `make` */
	void (*make)(struct topo_machine *m);
	uint32_t gpu;
	bool rccl, all, no_read; /* RCCL, NCCL_NETDEVS_POLICY=ALL, NCCL_NET_GDR_READ=0 */
	const char *without, *with;
};

/* "PIX 4 hops 25.0 gdr: n0 n1": the path to the first net, and the net of each channel. */
static void tell(const struct scenario *s, const struct topo_machine *m, const struct nccl_opts *o,
		 char out[256])
{
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	char name[NCCL_NET_NAME_LEN];
	struct err e;

	if (nccl_predict(m, NULL, o, &a, &e)) {
		(void)snprintf(out, 256, "%.200s", e.msg);
		return;
	}
	const struct nccl_gpu *g = &a.gpu[s->gpu];
	const struct nccl_net_path *p = &g->path[0];
	(void)snprintf(out, 256, "%s %u hops %.1f%s:", nccl_path_name(p->type), p->hops, p->bw,
		       g->gdr ? " gdr" : "");
	for (size_t i = 0; i < g->n_channels; i++) {
		testing_append(out, 256, " ");
		testing_append(out, 256, nccl_net_name(m, &a.net[g->channel[i]], name));
	}
}

static struct nccl_opts opts_of(const struct scenario *s, const char *version)
{
	struct nccl_opts o = { .gdr_level = -1, .rccl = s->rccl, .no_read = s->no_read };

	o.policy = s->all ? NCCL_ALL : NCCL_AUTO;
	if (s->rule == NCCL_WIDENS_ALL || s->rule == NCCL_WIDENS_FUSED)
		o.merge_level = NCCL_PXB;
	if (s->rule == RCCL_FUSES_OVER_CPUS || s->rule == NCCL_REFUSES_CPUS)
		o.merge_level = NCCL_SYS;
	o.pxn = s->rule == RCCL_HAS_NVB || s->rule == RCCL_KNOWS_GFX1250;
	o.no_merge = s->rule == NCCL_NIC_IS_FUNCTION;
	ck_assert_int_eq(lib_version_parse(version, &o.version), 0);
	return o;
}

static void machine_of(const struct scenario *s, struct topo_machine *m)
{
	struct err e;

	if (!s->xml)
		s->make(m);
	else if (topo_read_xml(s->xml, strlen(s->xml), m, &e))
		ck_abort_msg("%s", e.msg);
}

/* ---- machines from /sys ---- */

/* A switch with a GPU and a PF, whose VF is at `at`. Only the VF is in use. */
static void with_vf(struct topo_machine *m, uint8_t bus, uint8_t dev)
{
	struct fixture fx = { .m = m };

	m->source = TOPO_LIVE;
	fixture_root(&fx, 0);
	uint32_t up = fixture_switch(&fx, fixture_port(&fx), &fixture_plain);
	(void)fixture_gpu(&fx, fixture_down(&fx, up));
	uint32_t pf = fixture_hca(&fx, fixture_down(&fx, up), "pf");
	uint32_t vf = fixture_vf(&fx, pf, 0, "vf");
	if (bus)
		m->pci[vf].addr.bus = bus;
	m->pci[vf].addr.dev = dev;
	fixture_done(&fx);
	m->hca[topo_find_hca(m, "pf")].port[0].active = TOPO_NO;
}

static void vf_of_the_first_bus(struct topo_machine *m)
{
	with_vf(m, 0, 0x1f);
}

static void vf_of_the_next_bus(struct topo_machine *m)
{
	with_vf(m, 0xee, 2);
}

/* A card of three functions beside a GPU. */
static void three_ports(struct topo_machine *m)
{
	struct fixture fx = { .m = m };

	m->source = TOPO_LIVE;
	fixture_root(&fx, 0);
	uint32_t up = fixture_switch(&fx, fixture_port(&fx), &fixture_plain);
	(void)fixture_gpu(&fx, fixture_down(&fx, up));
	uint32_t h = fixture_hca(&fx, fixture_down(&fx, up), "a");
	(void)fixture_hca_fn(&fx, h, 1, "b");
	(void)fixture_hca_fn(&fx, h, 2, "c");
	fixture_done(&fx);
	for (size_t i = 0; i < m->n_hcas; i++)
		m->hca[i].guid = 7;
}

/* The slot of the GPU is now as narrow as one lane. */
static void narrow_gpu(struct topo_machine *m)
{
	struct fixture fx = { .m = m };

	m->source = TOPO_LIVE;
	fixture_root(&fx, 0);
	uint32_t up = fixture_switch(&fx, fixture_port(&fx), &fixture_plain);
	uint32_t gpu = fixture_gpu(&fx, fixture_down(&fx, up));
	(void)fixture_hca(&fx, fixture_down(&fx, up), "a");
	fixture_done(&fx);
	m->pci[m->gpu[gpu].pci].cur.width = 1;
}

/* A GPU and an HCA at one of AMD's CPUs. */
static void at_an_epyc(struct topo_machine *m)
{
	struct fixture fx = { .m = m };

	m->source = TOPO_LIVE;
	fixture_root(&fx, 0);
	(void)fixture_gpu(&fx, fixture_port(&fx));
	(void)fixture_hca(&fx, fixture_port(&fx), "a");
	fixture_done(&fx);
	(void)strcpy(m->cpu[0].vendor, "AuthenticAMD");
	m->cpu[0].family = 175;
}

static void connectx8(struct topo_machine *m)
{
	tree_machine(tree_made("gb300"), m);
}

/* ---- all rules ---- */

#define PEX(bus, sub, inside)                                                                      \
	AT(bus ":00.0", "0x060400",                                                                \
	   "vendor=\"0x1000\" device=\"0xc030\" subsystem_vendor=\"0x1000\" "                      \
	   "subsystem_device=\"" sub "\"",                                                         \
	   inside)

#define THREE_NETS                                                                                 \
	SYSTEM(CPU("0", EPYC,                                                                      \
		   SWITCH("01",                                                                    \
			  MI("02", "2", "gfx942", "16", "") MI("03", "3", "gfx942", "16", "")      \
				  NET("04:00.0", "0", "200000") NET("05:00.0", "1", "200000")      \
					  NET("06:00.0", "2", "200000"))))

static const struct scenario scenarios[] = {
	{ NCCL_FLATTENS_PEX890, "2.18.1", "2.20.3",
	  SYSTEM(CPU("0", INTEL,
		     PEX("01", "0x0000",
			 GPU("02", "0", "90", "")
				 PEX("03", "0x1000", NET("04:00.0", "0", "200000"))))),
	  NULL, 0, false, false, false, "PXB 4 hops 25.0 gdr: n0", "PIX 3 hops 25.0 gdr: n0" },
	{ NCCL_VF_AT_00, "2.18.1", "2.20.5", NULL, vf_of_the_first_bus, 0, false, false, false,
	  "PHB 4 hops 48.0: vf", "PIX 3 hops 48.0 gdr: vf" },
	{ NCCL_KEEPS_PATH, "2.22.3", "2.24.3", NULL, vf_of_the_next_bus, 0, false, false, false,
	  "PHB 4 hops 48.0: vf", "PIX 3 hops 12.0 gdr: vf" },
	{ NCCL_KEEPS_PATH, "2.27.3", "2.26.2", NULL, vf_of_the_next_bus, 0, false, false, false,
	  "PHB 4 hops 48.0: vf", "PIX 3 hops 12.0 gdr: vf" },
	{ NCCL_PAIRS_PORTS, "2.18.1", "2.20.5", NULL, three_ports, 0, false, false, false,
	  "PIX 3 hops 48.0 gdr: a b c", "PIX 3 hops 48.0 gdr: a+b c" },
	{ NCCL_PAIRS_PORTS, "2.18.1", "2.20.5",
	  SYSTEM(CPU("0", INTEL,
		     SWITCH("01", GPU("02", "0", "90", "")
					  AT("03:00.0", "0x020700", "",
					     "<nic><net name=\"n0\" dev=\"0\" speed=\"100000\" "
					     "guid=\"0x7\" gdr=\"1\"/><net name=\"n1\" dev=\"1\" "
					     "speed=\"100000\" guid=\"0x7\" gdr=\"1\"/></nic>")))),
	  NULL, 0, false, false, false, "PIX 3 hops 12.5 gdr: n0 n1",
	  "PIX 3 hops 25.0 gdr: n0+n1" },
	{ NCCL_PAIRS_PORTS, "2.24.3", "2.22.3", NULL, three_ports, 0, false, false, false,
	  "PIX 3 hops 48.0 gdr: a+b+c", "PIX 3 hops 48.0 gdr: a+b c" },
	{ NCCL_FUSES_NETS, "2.22.3", "2.24.3",
	  SYSTEM(CPU("0", INTEL,
		     SWITCH("01", GPU("02", "0", "90", "") NET("03:00.0", "0", "200000")
					  NET("03:00.1", "1", "200000")))),
	  NULL, 0, false, false, false, "PIX 3 hops 25.0 gdr: n0 n1",
	  "PIX 3 hops 48.0 gdr: n0+n1" },
	/* the link of the first function has fewer lanes */
	{ NCCL_NIC_IS_FUNCTION, "2.22.3", "2.24.3",
	  SYSTEM(CPU("0", INTEL,
		     SWITCH("01", GPU("02", "0", "90", "") NARROW("03:00.0", "0", "4")
					  NARROW("03:00.1", "1", "8")))),
	  NULL, 0, false, false, false, "PIX 3 hops 12.0 gdr: n0 n1", "PIX 3 hops 12.0 gdr: n1" },
	/* two cards behind one switch */
	{ NCCL_WIDENS_FUSED, "2.27.7", "2.28.9",
	  SYSTEM(CPU("0", INTEL,
		     SWITCH("01", GPU("05", "0", "90", "") NARROW("04:00.0", "0", "8")
					  NARROW("06:00.0", "1", "8")))),
	  NULL, 0, false, false, false, "PIX 3 hops 24.0 gdr: n0+n1",
	  "PIX 3 hops 48.0 gdr: n0+n1" },
	{ NCCL_REFUSES_CPUS, "2.29.7", "2.30.7",
	  SYSTEM(CPU("0", INTEL, NET("04:00.0", "0", "200000"))
			 CPU("1", INTEL, GPU("12", "0", "90", "") NET("14:00.0", "1", "200000"))),
	  NULL, 0, false, false, false, "DIS 0 hops 0.0:",
	  "NCCL_NET_MERGE_LEVEL or NCCL_NET_FORCE_MERGE: n0 and n1 are below different CPUs: NCCL "
	  "ends" },
	/* a switch of 8 lanes above the GPU and one of the two cards */
	{ NCCL_WIDENS_ALL, "2.30.7", "2.29.7",
	  SYSTEM(CPU("0", INTEL,
		     SWITCH("01", "<pci busid=\"0000:03:00.0\" class=\"0x060400\" "
				  "link_speed=\"32.0 GT/s PCIe\" link_width=\"8\">" GPU("05", "0",
											"90", "")
					  NET("04:00.0", "0", "400000") "</pci>" NET("06:00.0", "1",
										     "400000")))),
	  NULL, 0, false, false, false, "PXB 5 hops 24.0 gdr: n0+n1",
	  "PXB 4 hops 48.0 gdr: n0+n1" },
	{ NCCL_KNOWS_SM100, "2.24.3", "2.25.1",
	  SYSTEM(CPU(
		  "0", INTEL,
		  SWITCH("01", GPU("02", "0", "100", NVLINK("82")) NET("03:00.0", "0", "400000")))
			 CPU("1", INTEL, GPU("82", "1", "100", NVLINK("02")))),
	  NULL, 1, false, false, false, "PXN 4 hops 20.6 gdr: n0", "PXN 4 hops 40.1 gdr: n0" },
	{ NCCL_KNOWS_XEON_4, "2.25.1", "2.26.2",
	  SYSTEM(CPU("0", INTEL, NET("03:00.0", "0", "400000"))
			 CPU("1", INTEL, GPU("82", "0", "90", ""))),
	  NULL, 0, false, false, false, "SYS 4 hops 10.0: n0", "SYS 4 hops 40.0: n0" },
	{ NCCL_HAS_C2C, "2.25.1", "2.26.2",
	  SYSTEM(CPU("0", ARM,
		     SWITCH("01", GPU("02", "0", "90", C2C) NET("03:00.0", "0", "200000"))
			     GPU("05", "1", "90", C2C))),
	  NULL, 1, false, false, false, "PXN 5 hops 25.0 gdr: n0", "PHB 4 hops 25.0: n0" },
	{ NCCL_HAS_P2C, "2.26.2", "2.27.3",
	  SYSTEM(CPU("0", ARM, GPU("02", "0", "90", C2C) NET("03:00.0", "0", "200000"))), NULL, 0,
	  false, false, false, "PHB 3 hops 25.0: n0", "P2C 3 hops 25.0 gdr: n0" },
	{ NCCL_P2C_IS_LOCAL, "2.28.9", "2.29.7",
	  SYSTEM(CPU("0", ARM,
		     GPU("02", "0", "90", C2C) NET("03:00.0", "0", "100000")
			     NET("04:00.0", "1", "200000"))),
	  NULL, 0, false, false, false, "P2C 3 hops 12.5 gdr: n1", "PHB 3 hops 12.5 gdr: n1" },
	{ NCCL_PXN_OVER_C2C, "2.27.7", "2.28.3",
	  SYSTEM(CPU("0", ARM, GPU("02", "0", "90", C2C NVLINK("82")) NET("03:00.0", "0", "200000"))
			 CPU("1", ARM, GPU("82", "1", "90", C2C NVLINK("02")))),
	  NULL, 1, false, false, false, "SYS 4 hops 6.0: n0", "PXN 4 hops 20.6 gdr: n0" },
	{ NCCL_PXN_NEEDS_GDR, "2.29.7", "2.30.7",
	  SYSTEM(CPU("0", INTEL, GPU("02", "0", "90", NVLINK("83"))) CPU(
		  "1", INTEL,
		  SWITCH("81", GPU("83", "1", "90", NVLINK("02")) NET("84:00.0", "0", "200000")))),
	  NULL, 0, false, false, true, "PXN 4 hops 20.6: n0", "SYS 6 hops 25.0: n0" },
	{ NCCL_HAS_DATA_DIRECT, "2.26.2", "2.28.3", NULL, connectx8, 0, false, false, false,
	  "PHB 3 hops 48.0: mlx5_0", "PIX 3 hops 96.0 gdr: mlx5_0_dma" },
	{ NCCL_HAS_POLICY, "2.27.7", "2.28.3",
	  SYSTEM(CPU("0", INTEL,
		     SWITCH("01",
			    GPU("02", "0", "90", "") GPU("03", "1", "90", "")
				    NET("04:00.0", "0", "200000") NET("05:00.0", "1", "200000")))),
	  NULL, 0, false, true, false, "PIX 3 hops 25.0 gdr: n0", "PIX 3 hops 25.0 gdr: n0 n1" },
	{ NCCL_HAS_DEV_NODES, "2.29.7", "2.30.3",
	  SYSTEM(CPU("0", INTEL,
		     SWITCH("01", GPU("02", "0", "90", "") NET("04:00.0", "0", "200000")))),
	  NULL, 0, false, false, false, "PIX 3 hops 25.0 gdr: n0", "PIX 4 hops 25.0 gdr: n0" },
	{ NCCL_TYPE_FIRST, "2.29.7", "2.30.7",
	  SYSTEM(CPU("0", ARM,
		     GPU("02", "0", "90", NVSWITCH) GPU("03", "1", "90", NVSWITCH C2C)
			     NET("04:00.0", "0", "200000"))),
	  NULL, 0, false, false, false, "PHB 3 hops 25.0: n0", "PXN 8 hops 20.6 gdr: n0" },
	{ NCCL_ASKS_FOR_LINK, "2.29.7", "2.30.7", NULL, narrow_gpu, 0, false, false, false,
	  "PIX 3 hops 48.0 gdr: a", "PIX 4 hops 3.0 gdr: a" },
	{ NCCL_COUNTS_SHARERS, "2.29.7", "2.30.7",
	  SYSTEM(CPU("0", INTEL,
		     SWITCH("01", GPU("02", "2", "90", "") GPU("03", "3", "90", "") NET(
					  "04:00.0", "0", "200000") NET("05:00.0", "1", "200000")
					  NET("06:00.0", "2", "200000")))),
	  NULL, 0, false, false, false, "PIX 3 hops 25.0 gdr: n2 n0",
	  "PIX 4 hops 25.0 gdr: n0 n1" },
	{ RCCL_SPREADS_BY_PLACE, "2.26.6", "2.22.3",
	  SYSTEM(CPU("0", INTEL,
		     SWITCH("01",
			    GPU("02", "4", "90", "") GPU("03", "6", "90", "")
				    NET("04:00.0", "0", "200000") NET("05:00.0", "1", "200000")))),
	  NULL, 1, true, false, false, "PIX 3 hops 25.0 gdr: n0", "PIX 3 hops 25.0 gdr: n1" },
	{ RCCL_FUSES_OVER_CPUS, "2.26.6", "2.28.3",
	  SYSTEM(CPU("0", INTEL, NET("04:00.0", "0", "200000"))
			 CPU("1", INTEL, GPU("12", "0", "90", "") NET("14:00.0", "1", "200000"))),
	  NULL, 0, true, false, false, "SYS 4 hops 25.0: n1", "SYS 4 hops 40.0: n0+n1" },
	/* without GPUDirect RDMA, data go through the CPU, and from there by XGMI */
	{ RCCL_PASSES_GPUS, "2.29.7", "2.30.4",
	  SYSTEM(CPU("0", EPYC,
		     MI("02", "0", "gfx942", "16", XGMI("04"))
			     SWITCH("03", MI("04", "1", "gfx942", "2", XGMI("02"))
						  AT("05:00.0", "0x020700", "",
						     "<nic><net name=\"n0\" dev=\"0\" "
						     "speed=\"200000\" gdr=\"0\"/></nic>")))),
	  NULL, 1, true, false, false, "PHB 5 hops 6.0: n0", "PHB 6 hops 25.0: n0" },
	{ RCCL_HAS_NVB, "2.30.4", "2.30.7",
	  SYSTEM(CPU("0", EPYC, MI("02", "0", "gfx942", "16", XGMI("12"))) CPU(
		  "1", EPYC,
		  SWITCH("11", MI("12", "1", "gfx942", "16", XGMI("02") XGMI("23"))
				       SWITCH("21", MI("23", "2", "gfx942", "16", XGMI("12"))
							    NET("24:00.0", "0", "400000"))))),
	  NULL, 0, true, false, false, "PXN 8 hops 48.0 gdr: n0", "SYS 7 hops 16.0: n0" },
	{ RCCL_COUNTS_SHARERS, "2.30.4", "2.30.7", THREE_NETS, NULL, 0, true, false, false,
	  "PIX 4 hops 25.0 gdr: n2 n0", "PIX 4 hops 25.0 gdr: n0 n1" },
	{ RCCL_COUNTS_SHARERS, "2.31.2", "2.30.7", THREE_NETS, NULL, 0, true, false, false,
	  "PIX 4 hops 25.0 gdr: n2 n0", "PIX 4 hops 25.0 gdr: n0 n1" },
	{ RCCL_JOINS_DOMAINS, "2.29.7", "2.30.4",
	  SYSTEM(CPU("0", INTEL, MI("02", "0", "gfx1250", "16", "") NET("03:00.0", "0", "200000"))),
	  NULL, 0, true, false, false, "PHB 3 hops 25.0: n0", "PXB 4 hops 25.0 gdr: n0" },
	{ RCCL_KNOWS_GFX1250, "2.29.7", "2.30.4",
	  SYSTEM(CPU("0", INTEL,
		     SWITCH("01", MI("02", "0", "gfx1250", "16", XGMI("12"))
					  NET("03:00.0", "0", "400000")))
			 CPU("1", INTEL, MI("12", "1", "gfx1250", "16", XGMI("02")))),
	  NULL, 1, true, false, false, "PXN 4 hops 24.0 gdr: n0", "PXN 7 hops 48.0 gdr: n0" },
	{ RCCL_KNOWS_XEON_6, "2.30.7", "2.31.2",
	  SYSTEM(CPU("0", XEON_6, NET("03:00.0", "0", "400000"))
			 CPU("1", XEON_6, MI("82", "0", "gfx942", "16", ""))),
	  NULL, 0, true, false, false, "SYS 5 hops 22.0: n0", "SYS 5 hops 40.0: n0" },
	{ RCCL_READS_FAMILY, "2.30.7", "2.31.2", NULL, at_an_epyc, 0, true, false, false,
	  "PHB 4 hops 48.0 gdr: a", "PHB 4 hops 48.0: a" },
};

START_TEST(each_rule_changes_an_answer)
{
	bool seen[LIB_RULES] = { false };

	for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++) {
		const struct scenario *s = &scenarios[i];
		auto_topo_machine struct topo_machine m = { 0 };
		struct nccl_opts before = opts_of(s, s->before), first = opts_of(s, s->first);
		char got[256];
		machine_of(s, &m);
		tell(s, &m, &before, got);
		ck_assert_msg(!strcmp(got, s->without), "rule %d, %s: %s", (int)s->rule, s->before,
			      got);
		tell(s, &m, &first, got);
		ck_assert_msg(!strcmp(got, s->with), "rule %d, %s: %s", (int)s->rule, s->first,
			      got);
		/* and it is this rule that makes the difference */
		first.inverted = UINT64_C(1) << s->rule;
		tell(s, &m, &first, got);
		ck_assert_msg(strcmp(got, s->with) != 0, "rule %d, off: %s", (int)s->rule, got);
		seen[s->rule] = true;
	}
	for (int i = NCCL_FLATTENS_PEX890; i < UCX_HAS_SUBNETS; i++)
		ck_assert_msg(seen[i], "no machine shows rule %d", i);
}
END_TEST

TEST_PROGRAM("nccl_versions", each_rule_changes_an_answer)

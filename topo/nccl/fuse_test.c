// SPDX-License-Identifier: Apache-2.0
/* Ports that NCCL fuses into one device: levels, groups that an operator names, and limits. */
#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/testing/testing.h"
#include "topo/core/machine_build.h"
#include "topo/read/read.h"
#include "topo/testing/fixture.h"
#include "topo/testing/nccl.h"
#include "topo/testing/topo.h"

/* "b a0+a1: a0+a1 PIX 48": all nets, the local ones of GPU 0, type and bandwidth; or the error. */
static char *answer(const struct topo_machine *m, const struct nccl_opts *o)
{
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	auto_text struct text text = { 0 };
	struct err e;

	if (nccl_predict(m, NULL, o, &a, &e)) {
		text_addf(&text, "%s", e.msg);
		return text_take(&text);
	}
	nccl_add_nets(m, &a, &text);
	text_addf(&text, ":");
	nccl_add_local(m, &a, 0, &text);
	text_addf(&text, " %g", a.gpu[0].bw);
	return text_take(&text);
}

struct row {
	struct nccl_opts o;
	const char *want;
};

static void answers_are(const struct topo_machine *m, const struct row *row, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		auto_free char *got = answer(m, &row[i].o);
		ck_assert_msg(got && !strcmp(got, row[i].want), "%zu: %s", i, got);
	}
}

/* A switch with a GPU, a card of two functions of 200G and a single 200G; another card behind the
 * CPU. */
#define PCI(bus, class, inside)                                                                    \
	"<pci busid=\"0000:" bus "\" class=\"" class "\" link_speed=\"32.0 GT/s PCIe\" "           \
						     "link_width=\"16\">" inside "</pci>"
#define NET(name, dev, speed)                                                                      \
	"<nic><net name=\"" name "\" dev=\"" dev "\" speed=\"" speed                               \
	"\" port=\"1\" gdr=\"1\"/></nic>"
#define NIC(bus, name, dev, speed) PCI(bus, "0x020000", NET(name, dev, speed))
#define TWO_PORTS(more)                                                                            \
	"<system version=\"1\"><cpu numaid=\"0\" arch=\"x86_64\">"                                 \
	"<pci busid=\"0000:01:00.0\" class=\"0x060400\" link_speed=\"64.0 GT/s PCIe\" "            \
	"link_width=\"16\"><pci busid=\"0000:02:00.0\" class=\"0x030200\" "                        \
	"link_speed=\"64.0 GT/s PCIe\" link_width=\"16\"><gpu dev=\"0\" sm=\"90\" rank=\"0\" "     \
	"gdr=\"1\"/></pci>" NIC("03:00.0", "a0", "0", "200000") NIC("03:00.1", "a1", "1",          \
								    "200000")                      \
		NIC("04:00.0", "b", "2", "200000") "</pci>" NIC("05:00.0", "c", "3", "100000")     \
			more "</cpu></system>"
static const char two_ports[] = TWO_PORTS("");

START_TEST(ports_are_fused_by_level)
{
	static const struct row rows[] = {
		/* the fused pair has more bandwidth than the single port */
		{ { .gdr_level = -1 }, "b a0+a1 c: a0+a1 PIX 48" },
		{ { .gdr_level = -1, .no_merge = true }, "a0 a1 b c: a0 a1 b PIX 25" },
		{ { .gdr_level = -1, .no_merge_nics = true }, "a0 a1 b c: a0 a1 b PIX 25" },
		{ { .gdr_level = -1, .merge_level = NCCL_PIX }, "a0+a1+b c: a0+a1+b PIX 75" },
		{ { .gdr_level = -1, .merge_level = NCCL_PHB }, "a0+a1+b+c: a0+a1+b+c PHB 87.5" },
	};
	auto_topo_machine struct topo_machine m = { 0 };
	struct err e;

	ck_assert_int_eq(topo_read_xml(two_ports, strlen(two_ports), &m, &e), 0);
	answers_are(&m, rows, ARRAY_SIZE(rows));
}
END_TEST

/* The library 2.30.7 makes two devices of four from eight such ports. */
START_TEST(four_ports_are_one_device_at_most)
{
	static const char five[] = TWO_PORTS(NIC("06:00.0", "d", "4", "100000"));
	static const struct row row = { { .gdr_level = -1, .merge_level = NCCL_PHB },
					"d a0+a1+b+c: a0+a1+b+c PHB 87.5" };
	auto_topo_machine struct topo_machine m = { 0 };
	struct err e;

	ck_assert_int_eq(topo_read_xml(five, strlen(five), &m, &e), 0);
	answers_are(&m, &row, 1);
}
END_TEST

/* The list counts before ports are fused, by the rule of lib/rdma/hca_list.h. */
START_TEST(nets_that_nccl_ib_hca_leaves_out_are_not_there)
{
	static const struct row rows[] = {
		{ { .gdr_level = -1, .hca_list = "" }, "b a0+a1 c: a0+a1 PIX 48" },
		{ { .gdr_level = -1, .hca_list = "a" }, "a0+a1: a0+a1 PIX 48" },
		{ { .gdr_level = -1, .hca_list = "=a" }, ": DIS 0" },
		{ { .gdr_level = -1, .hca_list = "=a0,c" }, "a0 c: a0 PIX 25" },
		{ { .gdr_level = -1, .hca_list = "^a,c" }, "b: b PIX 25" },
		/* a file counts the ports of a card on, so a number says nothing */
		{ { .gdr_level = -1, .hca_list = "=b:7" }, "b: b PIX 25" },
		{ { .gdr_level = -1, .hca_list = "^" }, ": DIS 0" },
	};
	auto_topo_machine struct topo_machine m = { 0 };
	struct err e;

	ck_assert_int_eq(topo_read_xml(two_ports, strlen(two_ports), &m, &e), 0);
	answers_are(&m, rows, ARRAY_SIZE(rows));
}
END_TEST

/* NCCL 2.30.7 itself fuses two ports with RAIL if both have a rail, and the same. */
START_TEST(a_policy_fuses_ports_of_one_rail)
{
	static const struct row rows[] = {
		{ { .gdr_level = -1, .merge_rails = true }, "a0 a1 b c: a0 a1 b PIX 25" },
		{ { .gdr_level = -1, .merge_rails = true, .hca_list = "=a0:1:3,a1:1:3" },
		  "a0+a1: a0+a1 PIX 48" },
		{ { .gdr_level = -1, .merge_rails = true, .hca_list = "=a0:1:3,a1:1:4" },
		  "a0 a1: a0 a1 PIX 25" },
		{ { .gdr_level = -1, .hca_list = "=a0:1:3,a1:1:4" }, "a0+a1: a0+a1 PIX 48" },
		{ { .gdr_level = -1, .version = { 2, 29, 7 }, .merge_rails = true },
		  "b a0+a1 c: a0+a1 PIX 48" },
	};
	auto_topo_machine struct topo_machine m = { 0 };
	struct err e;

	ck_assert_int_eq(topo_read_xml(two_ports, strlen(two_ports), &m, &e), 0);
	answers_are(&m, rows, ARRAY_SIZE(rows));
}
END_TEST

#define ENDS(group, why) "NCCL_NET_FORCE_MERGE: \"" group "\" " why ": NCCL ends"

START_TEST(named_groups_are_fused)
{
	static const struct row rows[] = {
		/* a1 is a function of the same device, and a NIC of its own */
		{ { .gdr_level = -1, .force_merge = "a0,b" }, "a1 a0+b c: a0+b PIX 50" },
		{ { .gdr_level = -1, .force_merge = "a0,b;c,a1:1" }, "a0+b a1+c: a0+b PIX 50" },
		/* a device alone is placed, so that it is fused no more */
		{ { .gdr_level = -1, .force_merge = "a0" }, "a0 a1 b c: a0 a1 b PIX 25" },
		{ { .gdr_level = -1, .no_merge = true, .force_merge = "b" },
		  "a0 a1 b c: a0 a1 b PIX 25" },
		/* a device can be in two */
		{ { .gdr_level = -1, .no_merge = true, .force_merge = "a0,b;b,a1" },
		  "a0+b a1+b c: a0+b a1+b PIX 50" },
		{ { .gdr_level = -1, .force_merge = "a0,d" },
		  ENDS("a0,d", "matches fewer devices than it names") },
		{ { .gdr_level = -1, .force_merge = "a0,a0" },
		  ENDS("a0,a0", "matches fewer devices than it names") },
		{ { .gdr_level = -1, .force_merge = "," },
		  ENDS(",", "matches fewer devices than it names") },
		{ { .gdr_level = -1, .no_merge_nics = true, .force_merge = "a0,b" },
		  ENDS("a0,b", "is forbidden by NCCL_IB_MERGE_NICS=0") },
	};
	auto_topo_machine struct topo_machine m = { 0 };
	struct err e;

	ck_assert_int_eq(topo_read_xml(two_ports, strlen(two_ports), &m, &e), 0);
	answers_are(&m, rows, ARRAY_SIZE(rows));
}
END_TEST

/* c stays where it is, with 8 lanes; NCCL makes a function of 16 lanes for the others. */
START_TEST(a_made_function_is_a_nic_of_its_own)
{
#define NARROW(bus, inside)                                                                        \
	"<pci busid=\"0000:" bus "\" class=\"0x020000\" link_speed=\"32.0 GT/s PCIe\" "            \
	"link_width=\"8\"><nic>" inside "</nic></pci>"
	static const char text[] = "<system version=\"1\"><cpu numaid=\"0\" arch=\"x86_64\">" PCI(
		"02:00.0", "0x030200", "<gpu dev=\"0\" sm=\"90\" rank=\"0\" gdr=\"1\"/>")
		NARROW("03:00.0",
		       "<net name=\"a\" dev=\"0\" speed=\"400000\" port=\"1\" gdr=\"1\"/>"
		       "<net name=\"c\" dev=\"1\" speed=\"400000\" port=\"1\" gdr=\"1\"/>")
			NARROW("04:00.0", "<net name=\"b\" dev=\"2\" speed=\"400000\" "
					  "port=\"1\" gdr=\"1\"/>") "</cpu></system>";
#undef NARROW
	static const struct row rows[] = {
		{ { .gdr_level = -1, .force_merge = "a,b" }, "c a+b: a+b PHB 48" },
	};
	auto_topo_machine struct topo_machine m = { 0 };
	struct err e;

	ck_assert_int_eq(topo_read_xml(text, strlen(text), &m, &e), 0);
	answers_are(&m, rows, ARRAY_SIZE(rows));
}
END_TEST

/* An interface for sockets, directly below a cpu element, is not a device of the plugin. */
START_TEST(interfaces_for_sockets_are_not_fused)
{
	static const char text[] =
		TWO_PORTS("<nic><net name=\"v\" dev=\"4\" speed=\"1000\" port=\"0\"/></nic>");
	static const struct row rows[] = {
		{ { .gdr_level = -1 }, "b a0+a1 c v: a0+a1 PIX 48" },
		{ { .gdr_level = -1, .force_merge = "a0,v" },
		  ENDS("a0,v", "has a device that NCCL's IB plugin does not have") },
		{ { .gdr_level = -1, .force_merge = "v,a0" },
		  ENDS("v,a0", "has a device that NCCL's IB plugin does not have") },
	};
	auto_topo_machine struct topo_machine m = { 0 };
	struct err e;

	ck_assert_int_eq(topo_read_xml(text, strlen(text), &m, &e), 0);
	answers_are(&m, rows, ARRAY_SIZE(rows));
}
END_TEST

/* Two functions of a card, of which the first has two ports. */
static void three_ports(struct topo_machine *m)
{
	struct fixture fx = { .m = m };
	struct err e;

	m->source = TOPO_LIVE;
	fixture_root(&fx, 0);
	uint32_t down = fixture_slot(&fx, fixture_port(&fx), &fixture_plain);
	uint32_t h = fixture_hca(&fx, down, "h");
	ck_assert_int_eq(topo_add_port(&m->hca[h], 2, &e), 0);
	m->hca[h].port[1].active = TOPO_YES;
	(void)fixture_hca_fn(&fx, h, 1, "k");
	(void)fixture_gpu(&fx, fixture_port(&fx));
	fixture_done(&fx);
}

/* NCCL counts the ports of a card on: h has 1 and 3, k has 3. */
START_TEST(a_name_without_a_port_is_all_ports)
{
	static const struct row rows[] = {
		{ { .gdr_level = -1 }, "h+h+k: h+h+k PHB 48" },
		{ { .gdr_level = -1, .force_merge = "h" },
		  ENDS("h", "matches more devices than it names") },
		{ { .gdr_level = -1, .force_merge = "h,k" },
		  ENDS("h,k", "matches more devices than it names") },
		{ { .gdr_level = -1, .force_merge = "h:1,h:3" }, "k h+h: k h+h PHB 48" },
		{ { .gdr_level = -1, .force_merge = "h:1,k:3" }, "h h+k: h h+k PHB 48" },
		{ { .gdr_level = -1, .force_merge = "h:1,k:1" },
		  ENDS("h:1,k:1", "matches fewer devices than it names") },
	};
	auto_topo_machine struct topo_machine m = { 0 };

	three_ports(&m);
	answers_are(&m, rows, ARRAY_SIZE(rows));
}
END_TEST

START_TEST(other_layers_are_not_fused)
{
	static const struct row rows[] = {
		/* NCCL gives up the whole group */
		{ { .gdr_level = -1 }, "h h k: h h k PHB 48" },
		{ { .gdr_level = -1, .force_merge = "h:1,k:3" },
		  ENDS("h:1,k:3", "has devices of different link layers") },
	};
	auto_topo_machine struct topo_machine m = { 0 };

	three_ports(&m);
	m.hca[topo_find_hca(&m, "k")].port[0].layer = TOPO_INFINIBAND;
	answers_are(&m, rows, ARRAY_SIZE(rows));
}
END_TEST

/* NCCL reads no XML of that size, and a pair of each net would cost too much. */
START_TEST(too_many_nets_are_not_fused)
{
	for (uint32_t n = 256; n <= 257; n++) {
		auto_topo_machine struct topo_machine m = { 0 };
		auto_nccl_prediction struct nccl_prediction a = { 0 };
		auto_text struct text text = { 0 };
		struct nccl_opts o = NCCL_OPTS_DEFAULT;
		struct err e;

		text_addf(&text, "<system version=\"1\"><cpu numaid=\"0\">");
		for (uint32_t i = 0; i < n; i++)
			text_addf(&text,
				  "<pci busid=\"0000:%02x:00.%u\" class=\"0x020000\">"
				  "<nic><net name=\"n%u\" dev=\"%u\" port=\"1\"/></nic></pci>",
				  1 + i / 2, i % 2, i, i);
		text_addf(&text, "</cpu></system>");
		auto_free char *xml = text_take(&text);
		ck_assert_int_eq(topo_read_xml(xml, strlen(xml), &m, &e), 0);
		ck_assert_int_eq(nccl_predict(&m, NULL, &o, &a, &e), 0);
		ck_assert_uint_eq(a.n_nets, n == 256 ? 128 : 257);
		o.force_merge = "n0,n1";
		nccl_prediction_clear(&a);
		ck_assert_int_eq(nccl_predict(&m, NULL, &o, &a, &e), n == 256 ? 0 : -1);
	}
}
END_TEST

/* Each part says whether NCCL looks for it elsewhere: a reader asks for one HCA. */
START_TEST(parts_are_displaced_each)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	struct nccl_opts o = NCCL_OPTS_DEFAULT;
	struct fixture fx = { .m = &m };
	struct pci_addr at = { 0 };
	struct err e;

	m.source = TOPO_LIVE;
	fixture_root(&fx, -1);
	uint32_t bridge = fixture_fn(&fx, TOPO_NONE, 0, &fixture_plain);
	m.pci[bridge].addr = at;
	for (uint8_t i = 0; i < 4; i++) {
		char name[8] = { 'h', (char)('0' + i) };
		uint32_t h = fixture_hca(&fx, TOPO_NONE, name);
		/* the first is at the host bridge's place itself */
		at.dev = (uint8_t)(i ? 5 + i : 0);
		m.pci[m.hca[h].pci].addr = at;
		at.fn = 1;
	}
	(void)fixture_gpu(&fx, fixture_port(&fx));
	fixture_done(&fx);
	ck_assert_int_eq(nccl_predict(&m, NULL, &o, &a, &e), 0);
	ck_assert_uint_eq(a.n_nets, 1);
	ck_assert_uint_eq(nccl_net_parts(&a.net[0]), 4);
	for (uint32_t i = 0; i < 4; i++)
		ck_assert_int_eq(nccl_net_part(&a.net[0], i).displaced, i > 0);
}
END_TEST

TEST_PROGRAM("nccl_fuse", ports_are_fused_by_level, four_ports_are_one_device_at_most,
	     nets_that_nccl_ib_hca_leaves_out_are_not_there, a_policy_fuses_ports_of_one_rail,
	     named_groups_are_fused, interfaces_for_sockets_are_not_fused,
	     a_made_function_is_a_nic_of_its_own, a_name_without_a_port_is_all_ports,
	     other_layers_are_not_fused, too_many_nets_are_not_fused, parts_are_displaced_each)

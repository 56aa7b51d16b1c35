// SPDX-License-Identifier: Apache-2.0
/* Topology files of NCCL and RCCL become machines; malformed files fail with line and element. */
#include <stdio.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "topo/read/read.h"
#include "topo/testing/topo.h"

/* As grep counts the elements of the files; a skeleton's GPUs and HCAs as the tables of expected/.
 */
static const struct {
	const char *name;
	size_t cpus, pci, gpus, hcas, links;
} files[] = {
	{ "aws-p4d", 2, 16, 8, 4, 8 },
	{ "azure-nd-a100-v4", 4, 20, 8, 8, 8 },
	{ "dgx-a100", 4, 40, 8, 8, 48 },
	{ "oci-bm-gpu-h100", 2, 40, 8, 16, 32 },
	{ "rccl-topo_16p1h", 4, 52, 16, 8, 56 },
	{ "rccl-topo_3p_pcie", 2, 7, 3, 1, 0 },
	{ "rccl-topo_4p2h", 1, 19, 8, 1, 16 },
	{ "rccl-topo_4p3l_n2", 4, 17, 8, 1, 24 },
	{ "rccl-topo_4p_942", 4, 8, 4, 4, 12 },
	{ "rccl-topo_8p1h", 2, 26, 8, 4, 24 },
	{ "rccl-topo_8p6l_2nic", 2, 18, 8, 2, 48 },
	{ "rccl-topo_8p_90a", 1, 10, 8, 1, 24 },
	{ "rccl-topo_8p_940", 2, 40, 8, 8, 56 },
	{ "rccl-topo_8p_942vm", 2, 16, 8, 8, 56 },
	{ "rccl-topo_8p_950", 2, 32, 8, 8, 56 },
	{ "rccl-topo_8p_pcie_2nic", 1, 20, 8, 2, 0 },
	{ "rccl-topo_8p_rome", 2, 17, 8, 1, 16 },
	{ "rccl-topo_8p_rome_4nics", 4, 32, 8, 4, 24 },
	{ "rccl-topo_8p_ts1", 4, 18, 8, 2, 16 },
	{ "synthetic-a_pix100_phb400", 1, 4, 1, 2, 0 },
	{ "synthetic-c_flat_vm_8x8_numa-1", 1, 16, 8, 8, 0 },
	{ "synthetic-e_1switch_3gpu_4nic", 1, 8, 3, 4, 0 },
	{ "synthetic-h_gpu_numa0_nic_numa-1", 2, 4, 2, 2, 0 },
	{ "synthetic-j_dgxa100_only_gpu1", 4, 33, 1, 8, 6 },
};

START_TEST(every_file_is_read)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		size_t links = 0, rccl = !strncmp(files[i].name, "rccl", 4);
		topo_xml(files[i].name, &m);
		for (size_t g = 0; g < m.n_gpus; g++)
			links += m.gpu[g].n_nvlinks;
		ck_assert_str_eq(topo_names()[i], files[i].name);
		ck_assert_msg(m.n_cpus == files[i].cpus && m.n_pci == files[i].pci &&
				      m.n_gpus == files[i].gpus && m.n_hcas == files[i].hcas &&
				      links == files[i].links && m.n_roots == m.n_cpus,
			      "%s: %zu cpus, %zu pci, %zu gpus, %zu hcas, %zu links", files[i].name,
			      m.n_cpus, m.n_pci, m.n_gpus, m.n_hcas, links);
		ck_assert_int_eq(m.source, rccl ? TOPO_RCCL_XML : TOPO_NCCL_XML);
		ck_assert_uint_eq(m.n_notes, 0);
	}
	ck_assert_ptr_null(topo_names()[ARRAY_SIZE(files)]);
}
END_TEST

START_TEST(a_dump_is_kept_whole)
{
	auto_topo_machine struct topo_machine m = { 0 };
	struct pci_addr at;

	topo_xml("dgx-a100", &m);
	ck_assert_int_eq(m.cpu[0].numa, 3);
	ck_assert_str_eq(m.cpu[0].vendor, "AuthenticAMD");
	ck_assert_str_eq(m.cpu[0].arch, "x86_64");
	ck_assert(m.cpu[0].family == 143 && m.cpu[0].model == 49);
	ck_assert_uint_eq(strlen(m.cpu[0].affinity), 8 * 9 - 1);
	ck_assert(m.vm == TOPO_UNKNOWN && !m.skeleton);

	const struct topo_gpu *g = &m.gpu[1];
	ck_assert(g->index == 1 && g->rank == 1 && g->sm == 80 && g->gdr == TOPO_YES);
	ck_assert(g->vendor == TOPO_NVIDIA && !g->on_package && g->n_nvlinks == 6);
	ck_assert(g->nvlink[0].target.bus == 0xc7 && g->nvlink[0].count == 2);
	ck_assert(g->nvlink[0].tclass == 0x068000 && !g->nvlink[0].hidden);
	ck_assert_int_eq(pci_parse("0000:0f:00.0", &at), 0);
	ck_assert_uint_eq(topo_find_gpu(&m, at), 1);
	ck_assert_uint_eq(topo_find_pci(&m, at), g->pci);

	const struct topo_pci *p = &m.pci[g->pci];
	ck_assert(p->vendor == 0x10de && p->sub_device == 0x1463 && p->class_code == 0x030200);
	ck_assert(p->has_ids && p->has_class && p->kind == TOPO_ENDPOINT && p->numa == 3);
	ck_assert(p->max.speed == 120 && p->max.width == 16 && p->cur.speed == 120);
	ck_assert(m.pci[p->parent].addr.bus == 0x0d && m.pci[p->parent].kind == TOPO_UPSTREAM);
	ck_assert(p->root == 0 && m.root[0].cpu == 0 && *m.root[0].name == '\0');

	const struct topo_hca *h = &m.hca[0];
	ck_assert_str_eq(h->name, "mlx5_0");
	ck_assert(h->guid == 0xcf70b0003a1420c && h->dev == 0 && h->maxconn == 131072);
	ck_assert(h->n_ports == 1 && h->port[0].port == 1 && h->port[0].rate_mbps == 200000);
	ck_assert(h->gdr == TOPO_YES && m.pci[h->pci].addr.bus == 0x0c && h->card == 0);
	ck_assert_uint_eq(topo_find_hca(&m, "mlx5_9"), 7);
	ck_assert_uint_eq(topo_find_hca(&m, "mlx5_10"), TOPO_NONE);
	at.bus = 0xfe;
	ck_assert_uint_eq(topo_find_pci(&m, at), TOPO_NONE);
}
END_TEST

START_TEST(a_skeleton_without_classes_says_so)
{
	static const char *const texts[] = {
		"<system version=\"1\"><cpu numaid=\"0\"><pci "
		"busid=\"0000:01:00.0\"/></cpu></system>",
		"<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0000:01:00.0\" "
		"class=\"0x060400\"/></cpu></system>",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		struct err e;
		ck_assert_int_eq(topo_read_xml(texts[i], strlen(texts[i]), &m, &e), 0);
		ck_assert(m.skeleton);
		ck_assert_uint_eq(m.n_notes, i ? 0 : 1);
		if (!i)
			ck_assert_ptr_nonnull(strstr(m.note[0], "no class"));
	}
}
END_TEST

/* NCCL's name of an HCA at its Data Direct function; the RDMA device is mlx5_0. */
START_TEST(data_direct_is_no_device)
{
	static const char text[] =
		"<system version=\"1\"><cpu numaid=\"0\">"
		"<pci busid=\"0000:01:00.0\" class=\"0x080100\"><nic><net name=\"mlx5_0_dma\" "
		"dev=\"0\" port=\"1\"/></nic></pci><pci busid=\"0000:02:00.0\" class=\"0x020000\">"
		"<nic><net name=\"mlx5_1\" dev=\"1\" port=\"1\"/><net name=\"_dma\" dev=\"2\"/>"
		"<net name=\"a+b_dma\" dev=\"3\"/></nic></pci></cpu></system>";
	auto_topo_machine struct topo_machine m = { 0 };
	struct err e;

	ck_assert_int_eq(topo_read_xml(text, strlen(text), &m, &e), 0);
	ck_assert_str_eq(m.hca[0].name, "mlx5_0");
	ck_assert_uint_eq(m.hca[0].direct, m.hca[0].pci);
	for (uint32_t i = 1; i < 4; i++)
		ck_assert_uint_eq(m.hca[i].direct, TOPO_NONE);
	ck_assert_str_eq(m.hca[2].name, "_dma");
	ck_assert_str_eq(m.hca[3].name, "a+b_dma");
}
END_TEST

/* A file has no link layer: the class of the function has it. */
START_TEST(the_class_has_the_link_layer)
{
	static const struct {
		const char *function, *port;
		enum topo_layer layer;
	} nets[] = {
		{ "class=\"0x020700\"", "1", TOPO_INFINIBAND },
		{ "class=\"0x0207\" vendor=\"0x15b3\" device=\"0x1021\"", "1", TOPO_INFINIBAND },
		{ "class=\"0x020000\" vendor=\"0x15b3\" device=\"0xa2dc\"", "1", TOPO_ETHERNET },
		{ "class=\"0x028000\" vendor=\"0x15b3\" device=\"0x1003\"", "1",
		  TOPO_LAYER_UNKNOWN },
		{ "class=\"0x020000\" vendor=\"0x1d0f\" device=\"0xefa1\"", "1",
		  TOPO_LAYER_UNKNOWN },
		{ "class=\"0x020000\"", "1", TOPO_LAYER_UNKNOWN },
		{ "class=\"0x020700\"", "0", TOPO_LAYER_UNKNOWN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(nets); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		char text[512];
		struct err e;

		(void)snprintf(
			text, sizeof(text),
			"<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0000:01:00.0\" "
			"%s><nic><net name=\"a\" dev=\"0\" port=\"%s\"/></nic></pci>"
			"<nic><net name=\"b\" dev=\"1\" port=\"1\"/></nic></cpu></system>",
			nets[i].function, nets[i].port);
		ck_assert_int_eq(topo_read_xml(text, strlen(text), &m, &e), 0);
		ck_assert_msg(m.hca[0].port[0].layer == nets[i].layer, "%s: %d", nets[i].function,
			      (int)m.hca[0].port[0].layer);
		ck_assert_int_eq(m.hca[1].port[0].layer, TOPO_LAYER_UNKNOWN);
	}
}
END_TEST

START_TEST(ports_of_a_card_are_one_card)
{
	auto_topo_machine struct topo_machine m = { 0 };

	topo_xml("oci-bm-gpu-h100", &m);
	for (uint32_t i = 0; i < m.n_hcas; i++)
		ck_assert_uint_eq(m.hca[i].card, i & ~1U);
}
END_TEST

START_TEST(a_skeleton_is_completed_in_order_of_addresses)
{
	auto_topo_machine struct topo_machine m = { 0 };

	topo_xml("azure-nd-a100-v4", &m);
	ck_assert(m.skeleton);
	for (int i = 0; i < 8; i++) {
		char name[8];
		(void)snprintf(name, sizeof(name), "net%d", i);
		ck_assert(m.gpu[i].index == i && m.gpu[i].rank == i && m.hca[i].dev == i);
		ck_assert(m.gpu[i].vendor == TOPO_NVIDIA && m.gpu[i].gdr == TOPO_UNKNOWN);
		ck_assert_str_eq(m.hca[i].name, name);
		ck_assert_int_eq(m.hca[i].port[0].layer, TOPO_INFINIBAND);
		ck_assert_uint_eq(m.pci[m.hca[i].pci].addr.domain, 0x101U + (uint32_t)i);
		ck_assert(i == 0 ||
			  m.pci[m.gpu[i].pci].addr.domain > m.pci[m.gpu[i - 1].pci].addr.domain);
	}
	/* the functions themselves stay as the file has them */
	ck_assert(m.pci[1].addr.domain == 3 && m.pci[0].kind == TOPO_UPSTREAM);
	ck_assert(!m.pci[1].has_ids && m.pci[1].kind == TOPO_ENDPOINT);
}
END_TEST

/* A machine of one line within <system version="1">; the caller clears. */
static void read_line(const char *line, struct topo_machine *m)
{
	char text[4096];
	struct err e = { 0 };

	(void)snprintf(text, sizeof(text), "<system version=\"1\">\n%s\n</system>", line);
	if (topo_read_xml(text, strlen(text), m, &e))
		ck_abort_msg("%s: %s", line, e.msg);
}

#define PCI(id) "<pci busid=\"" id "\" class=\"0x030200\" link_speed=\"\" link_width=\"\">"
#define CPU     "<cpu numaid=\"0\" arch=\"x86_64\">"

START_TEST(left_out_as_nccl_does)
{
	auto_topo_machine struct topo_machine m = { 0 };

	read_line(CPU PCI("0000:01:00.0") "<gpu dev=\"0\" sm=\"90\"/></pci>" PCI(
			  "0000:02:00.0") "<gpu dev=\"1\" rank=\"0\"/></pci>"
					  "<nic><net name=\"a\"/><net name=\"b\" dev=\"0\"/></nic>"
					  "</cpu>",
		  &m);
	ck_assert(m.n_gpus == 1 && m.gpu[0].index == 1 && m.n_hcas == 1 && m.n_notes == 2);
	ck_assert_str_eq(m.hca[0].name, "b");
	ck_assert(m.hca[0].pci == TOPO_NONE && m.hca[0].cpu == 0);
	ck_assert_ptr_nonnull(strstr(m.note[0], "line 2: a gpu element without a rank"));
	ck_assert_ptr_nonnull(strstr(m.note[1], "line 2: a net element without a dev"));
}
END_TEST

START_TEST(what_is_unknown_or_out_of_place_is_kept_out)
{
	auto_topo_machine struct topo_machine m = { 0 };

	read_line("<pci busid=\"0000:01:00.0\"/><keep a=\"b\"><cpu numaid=\"7\"/></keep>" CPU
		  "<gpu dev=\"0\" rank=\"0\"/>" PCI(
			  "0000:02:00.0") "<gpu dev=\"0\" rank=\"0\" mlopart=\"x\" gcn=\"gfx942\">"
					  "<nvlink target=\"fffffff:ffff:ff\" count=\"18\" "
					  "tclass=\"0x068000\"/>"
					  "<c2c bw=\"44712\" count=\"10\"/></gpu>"
					  "<pcilink target=\"x\"/></pci></cpu>",
		  &m);
	ck_assert(m.n_cpus == 1 && m.n_pci == 1 && m.n_gpus == 1 && m.n_notes == 0);
	ck_assert(m.gpu[0].n_nvlinks == 1 && m.gpu[0].nvlink[0].hidden);
	ck_assert(m.gpu[0].c2c_mbps == 44712 && m.gpu[0].c2c_count == 10);
	ck_assert_uint_eq(m.gpu[0].gfx, 0x942);
	ck_assert(m.pci[0].max.speed == 0 && m.pci[0].max.width == 0 && !m.pci[0].has_ids);
}
END_TEST

START_TEST(the_architecture_of_amd)
{
	static const struct {
		const char *gcn;
		uint32_t gfx;
	} in[] = {
		{ "gfx942", 0x942 },
		{ "gfx90a", 0x90a },
		{ "gfx1250", 0x1250 },
		{ "gfx950:xnack-", 0x950 },
		{ "906", 0x906 },
		{ "910", 0x90a },
		{ "942", 0x942 },
		{ "gfx", 0 },
		{ "", 0 },
		{ "ffffffffffffffffff", 0 },
		{ "gfx-1", 0 },
	};
	char text[512];

	for (size_t i = 0; i < ARRAY_SIZE(in); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		(void)snprintf(
			text, sizeof(text),
			CPU PCI("0000:02:00.0") "<gpu dev=\"0\" rank=\"0\" gcn=\"%s\"/></pci>"
						"</cpu>",
			in[i].gcn);
		read_line(text, &m);
		ck_assert_msg(m.gpu[0].gfx == in[i].gfx, "%s: %x", in[i].gcn, m.gpu[0].gfx);
	}
}
END_TEST

START_TEST(what_nccl_refuses_is_read_and_noted)
{
	static const struct {
		const char *text, *note;
	} in[] = {
		{ "<?xml version=\"1.0\"?><system version=\"1\"/>",
		  "line 1: NCCL refuses a file with "
		  "an XML prolog" },
		{ "<system version=\"1\">\n\t<cpu numaid=\"0\"/></system>",
		  "line 2: NCCL refuses a "
		  "file with tab" },
		{ "<system version=\"1\">\n<cpu\n numaid=\"0\"/></system>",
		  "line 2: NCCL refuses a "
		  "line break" },
		{ "<system version=\"1\"><cpu numaid=\"0\"><nic><net dev=\"3\" name=\"x\"/>"
		  "<net dev=\"3\" name=\"y\"/></nic></cpu></system>",
		  "x and y have the same dev=\"3\"" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(in); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		struct err e = { 0 };
		ck_assert_msg(!topo_read_xml(in[i].text, strlen(in[i].text), &m, &e), "%s", e.msg);
		ck_assert_uint_eq(m.n_notes, 1);
		ck_assert_msg(!strncmp(m.note[0], in[i].note, strlen(in[i].note)), "%s", m.note[0]);
	}
}
END_TEST

/* NCCL's own dumps have it where the file that it read had a blank before "/>". */
START_TEST(a_nameless_attribute_is_dropped)
{
	static const char text[] = "<!-- =\"\" > --><system version=\"1\" =\"\">"
				   "<cpu numaid=\"0\" vendor=' =\"\"' =\"\"/></system>";
	auto_topo_machine struct topo_machine m = { 0 };
	struct err e = { 0 };

	ck_assert_msg(!topo_read_xml(text, strlen(text), &m, &e), "%s", e.msg);
	ck_assert(m.n_cpus == 1 && m.n_notes == 0);
	ck_assert_str_eq(m.cpu[0].vendor, " =\"\"");
}
END_TEST

/* Each spelling of a class is the class of 24 bits that it means, and never more than that. */
START_TEST(a_class_has_24_bits_however_it_is_written)
{
	static const struct {
		const char *text;
		uint32_t class_code;
	} good[] = {
		{ "0x060400", 0x060400 },
		{ "060400", 0x060400 },
		{ "0X060400", 0x060400 },
		{ "0x0604", 0x060400 },
		{ "0604", 0x060400 },
		{ "604", 0x060400 },
		{ "60400", 0x060400 },
		{ "ffffff", 0xffffff },
		{ "0xffff", 0xffff00 },
		{ "0x00000604", 0x604 },
		{ "", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		char file[256];
		struct err e;
		(void)snprintf(file, sizeof(file),
			       "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0:7:0.0\" "
			       "class=\"%s\"/></cpu></system>",
			       good[i].text);
		if (topo_read_xml(file, strlen(file), &m, &e))
			ck_abort_msg("%s: %s", good[i].text, e.msg);
		ck_assert_msg(m.pci[0].class_code == good[i].class_code, "%s: 0x%x", good[i].text,
			      m.pci[0].class_code);
	}
}
END_TEST

START_TEST(errors_name_line_and_element)
{
	static const struct {
		const char *text, *msg;
	} bad[] = {
		{ "", "line 1: it is not XML: no element found" },
		{ "[]", "line 1: it is not XML" },
		{ "<system version=\"1\">", "line 1: it is not XML" },
		{ "<system/>", "line 1, system: version \"\": NCCL writes 1 and RCCL 2" },
		{ "<system version=\"3\"/>", "line 1, system: version \"3\"" },
		{ "<graphs version=\"1\"/>", "line 1: the outermost element is graphs" },
		{ "<!DOCTYPE system><system version=\"1\"/>", "line 1: <!DOCTYPE" },
		{ "<!DOCTYPE s [<!ENTITY a \"b\">]><system version=\"&a;\"/>",
		  "line 1: <!DOCTYPE" },
		{ "<system version=\"&a;\"/>", "line 1: it is not XML: undefined entity" },
		{ "<system version=\"1\">\n<cpu numaid=\"x\"/></system>",
		  "line 2, cpu: numaid \"x\": it must be a number" },
		{ "<system version=\"1\">\n<cpu numaid=\"0\">\n<pci/></cpu></system>",
		  "line 3, pci: busid \"\": it is missing" },
		{ "<system version=\"1\"><cpu><pci busid=\"07:00.0\"/></cpu></system>",
		  "line 1, pci: busid \"07:00.0\": it must be a bus id" },
		{ "<system version=\"1\"><cpu><pci busid=\"0:7:0.0\" link_width=\"999\"/></cpu>"
		  "</system>",
		  "line 1, pci: link_width \"999\": the number is out of range" },
		{ "<system version=\"1\"><cpu><pci busid=\"0:7:0.0\" class=\"-1\"/></cpu></system>",
		  "line 1, pci: class \"-1\": it must be a hexadecimal number" },
		{ "<system version=\"1\"><cpu><nic><net dev=\"0\" latency=\"inf\"/></nic></cpu>"
		  "</system>",
		  "line 1, net: latency \"inf\": it must be a number" },
		{ "<system version=\"1\"><cpu><nic><net dev=\"0\" name=\"a&#10;b\"/></nic></cpu>"
		  "</system>",
		  "line 1, net: name holds a control character" },
		{ "<system version=\"1\"><cpu arch=\"sixteen-and-more\"/></system>",
		  "line 1, cpu: arch \"sixteen-and-more\": it is too long" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct topo_machine m = { 0 };
		struct err e = { 0 };
		ck_assert_msg(topo_read_xml(bad[i].text, strlen(bad[i].text), &m, &e) == -1,
			      "%s was read", bad[i].text);
		ck_assert_msg(e.code == ERR_FIELD &&
				      !strncmp(e.msg, bad[i].msg, strlen(bad[i].msg)),
			      "%s: %s", bad[i].text, e.msg);
		ck_assert(m.n_cpus == 0 && m.pci == NULL);
	}
}
END_TEST

/* n times a piece between head and tail; owned by the caller. */
static char *many(const char *head, const char *piece, size_t n, const char *tail)
{
	size_t h = strlen(head), p = strlen(piece), t = strlen(tail);
	char *text = malloc(h + n * p + t + 1);

	ck_assert_ptr_nonnull(text);
	memcpy(text, head, h);
	for (size_t i = 0; i < n; i++)
		memcpy(text + h + i * p, piece, p);
	memcpy(text + h + n * p, tail, t + 1);
	return text;
}

START_TEST(everything_is_bounded)
{
	static const struct {
		const char *head, *piece, *tail, *msg;
		size_t n;
	} big[] = {
		{ "<system version=\"1\">", " ", "</system>", "a topology file of more than 4 MiB",
		  4 << 20 },
		{ "<system version=\"1\">", "<a/>", "</system>",
		  "line 1, a: more than 65536 elements", 65536 },
		{ "<system version=\"1\">", "<a>", "", "line 1, a: more than 64 levels", 64 },
		{ "<system version=\"1\" a=\"", "x", "\"/>",
		  "line 1, system: the value of a has more than 255 bytes", 256 },
		{ "<", "x", "/>", "line 1, xxx", 256 },
		{ "<system version=\"1\">", "<cpu/>", "</system>", "more than 1024 NUMA nodes",
		  1025 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(big); i++) {
		auto_free char *text = many(big[i].head, big[i].piece, big[i].n, big[i].tail);
		struct topo_machine m = { 0 };
		struct err e = { 0 };
		ck_assert_int_eq(topo_read_xml(text, strlen(text), &m, &e), -1);
		ck_assert_msg(!strncmp(e.msg, big[i].msg, strlen(big[i].msg)), "%zu: %s", i, e.msg);
	}
	struct topo_machine m = { 0 };
	struct err e = { 0 };
	ck_assert_int_eq(topo_read_xml("<a\0/>", 5, &m, &e), -1);
	ck_assert_str_eq(e.msg, "not a topology file: it has a NUL");
}
END_TEST

START_TEST(notes_end)
{
	auto_free char *text = many("<system version=\"1\"><cpu><nic><net dev=\"0\"/>", "<net/>",
				    400, "</nic></cpu></system>");
	auto_topo_machine struct topo_machine m = { 0 };
	struct err e = { 0 };

	ck_assert_int_eq(topo_read_xml(text, strlen(text), &m, &e), 0);
	ck_assert_uint_eq(m.n_notes, 256);
	ck_assert_str_eq(m.note[255], "more notes are left out");
}
END_TEST

static int read_arg(void *arg, struct err *e)
{
	auto_topo_machine struct topo_machine m = { 0 };

	return topo_read_xml(arg, strlen(arg), &m, e);
}

START_TEST(every_allocation_may_fail)
{
	auto_free char *dump = topo_text("nccl-xml/oci-bm-gpu-h100.xml");
	auto_free char *skeleton = topo_text("nccl-xml/aws-p4d.xml");
	char noted[] = "<?xml version=\"1.0\"?>\n<system version=\"1\">\t<cpu><nic><net dev=\"0\"/>"
		       "<net dev=\"0\"/></nic></cpu></system>";

	ck_assert_str_eq(alloc_fail_each(read_arg, dump), "ok");
	ck_assert_str_eq(alloc_fail_each(read_arg, skeleton), "ok");
	ck_assert_str_eq(alloc_fail_each(read_arg, noted), "ok");
}
END_TEST

START_TEST(link_speeds)
{
	static const struct {
		const char *text;
		uint16_t speed;
	} in[] = {
		{ "2.5 GT/s", 15 },        { "2.5 GT/s PCIe", 15 },
		{ "5 GT/s", 30 },          { "5.0 GT/s PCIe", 30 },
		{ "8 GT/s", 60 },          { "8.0 GT/s PCIe", 60 },
		{ "16 GT/s", 120 },        { "16.0 GT/s PCIe", 120 },
		{ "32 GT/s", 240 },        { "32.0 GT/s PCIe", 240 },
		{ "64.0 GT/s PCIe", 480 }, { "Unknown", 0 },
		{ "Unknown speed", 0 },    { "", 0 },
		{ "8 GT/s Gen", 0 },       { "16", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(in); i++) {
		ck_assert_msg(topo_pcie_speed_parse(in[i].text) == in[i].speed, "%s", in[i].text);
		if (in[i].speed)
			ck_assert_uint_eq(topo_pcie_speed_parse(topo_pcie_link_text(in[i].speed)),
					  in[i].speed);
	}
	ck_assert_str_eq(topo_pcie_link_text(120), "16.0 GT/s PCIe");
	ck_assert_str_eq(topo_pcie_link_text(0), "");
	ck_assert_str_eq(topo_pcie_link_text(7), "");
}
END_TEST

TEST_PROGRAM("xml_read", every_file_is_read, a_dump_is_kept_whole,
	     a_skeleton_without_classes_says_so, data_direct_is_no_device,
	     the_class_has_the_link_layer, ports_of_a_card_are_one_card,
	     a_skeleton_is_completed_in_order_of_addresses, left_out_as_nccl_does,
	     what_is_unknown_or_out_of_place_is_kept_out, the_architecture_of_amd,
	     what_nccl_refuses_is_read_and_noted, a_nameless_attribute_is_dropped,
	     a_class_has_24_bits_however_it_is_written, errors_name_line_and_element,
	     everything_is_bounded, notes_end, every_allocation_may_fail, link_speeds)

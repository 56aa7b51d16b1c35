// SPDX-License-Identifier: Apache-2.0
/*
 * A written topology file reads back as the same machine, and stays within the limits of NCCL's
 * parser.
 */
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "topo/core/machine_build.h"
#include "topo/read/read.h"
#include "topo/testing/nccl.h"
#include "topo/testing/topo.h"
#include "topo/nccl/write.h"

static char *written(const struct topo_machine *m, const struct topo_xml_opts *o)
{
	char *text = NULL;
	struct err e;

	if (topo_xml_write(m, o, &text, &e))
		ck_abort_msg("%s", e.msg);
	return text;
}

static void reread(const char *text, struct topo_machine *out)
{
	struct err e;

	if (topo_read_xml(text, strlen(text), out, &e))
		ck_abort_msg("%s\n%s", e.msg, text);
}

/* As the graph code of testdata/expected was run: it took the nets of the file and fused none. */
static void predict(const struct topo_machine *m, struct nccl_prediction *a)
{
	struct nccl_opts o = { .gdr_level = -1, .no_merge = true };
	struct err e;

	ck_assert_int_eq(nccl_predict(m, NULL, &o, a, &e), 0);
}

/* With ports fused, as NCCL does by default. */
static bool fused_the_same(const struct topo_machine *m, const struct topo_machine *again)
{
	const struct nccl_opts o = NCCL_OPTS_DEFAULT;
	auto_nccl_prediction struct nccl_prediction a = { 0 }, b = { 0 };
	struct err e;

	ck_assert_int_eq(nccl_predict(m, NULL, &o, &a, &e), 0);
	ck_assert_int_eq(nccl_predict(again, NULL, &o, &b, &e), 0);
	return nccl_same(&a, &b);
}

/* What NCCL's parser refuses or mangles. */
static const char *trouble(const char *text)
{
	static const char *const bad[] = { "<?", "\t", " />", "\n=", "=\"\n", "\r", "'" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (strstr(text, bad[i]))
			return bad[i];
	}
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		const char *end = strchr(line, '\n');
		if (end[-1] != '>' || line[strspn(line, " ")] != '<')
			return "a tag over two lines";
	}
	return "none";
}

static void tally(const char *name, const struct topo_machine *m, struct nccl_tally *t)
{
	auto_nccl_prediction struct nccl_prediction a = { 0 };

	predict(m, &a);
	nccl_compare(name, m, &a, TALLY_ALL, t);
}

START_TEST(every_file_read_back_is_answered_the_same)
{
	unsigned int bad = 0;

	for (const char *const *name = topo_names(); *name; name++) {
		auto_topo_machine struct topo_machine m = { 0 }, again = { 0 };
		struct nccl_tally t = { 0 };
		topo_xml(*name, &m);
		struct topo_xml_opts o = { .rccl = m.source == TOPO_RCCL_XML };
		auto_free char *text = written(&m, &o);
		ck_assert_str_eq(trouble(text), "none");
		reread(text, &again);
		tally(*name, &again, &t);
		auto_free char *twice = written(&again, &o);
		ck_assert_uint_eq(again.n_notes, 0);
		/* a skeleton has no rates: NCCL completes it */
		ck_assert_msg(m.skeleton || fused_the_same(&m, &again), "%s", *name);
		if (t.agree != t.lines || strcmp(text, twice) != 0) {
			printf("%s: %u of %u: %s\n", *name, t.agree, t.lines, t.first);
			bad++;
		}
	}
	ck_assert_uint_eq(bad, 0);
}
END_TEST

START_TEST(a_skeleton_stays_one_and_others_become_one)
{
	static const struct topo_xml_opts skeleton = { .skeleton = true };
	auto_topo_machine struct topo_machine aws = { 0 }, dgx = { 0 }, again = { 0 };
	struct nccl_tally t = { 0 };

	topo_xml("aws-p4d", &aws);
	auto_free char *text = written(&aws, &skeleton);
	ck_assert_ptr_null(strstr(text, "<gpu"));
	ck_assert_ptr_null(strstr(text, "<nic"));
	reread(text, &again);
	ck_assert(again.skeleton);
	tally("aws-p4d", &again, &t);
	ck_assert_msg(t.agree == t.lines, "%s", t.first);

	topo_xml("dgx-a100", &dgx);
	auto_free char *bare = written(&dgx, &skeleton);
	ck_assert_ptr_null(strstr(bare, "<net"));
	auto_topo_machine struct topo_machine shape = { 0 };
	auto_nccl_prediction struct nccl_prediction full = { 0 }, only = { 0 };
	reread(bare, &shape);
	predict(&dgx, &full);
	predict(&shape, &only);
	ck_assert_uint_eq(only.n_nets, full.n_nets);
	for (size_t g = 0; g < full.n_gpus; g++) {
		ck_assert_int_eq(only.gpu[g].type, full.gpu[g].type);
		ck_assert_uint_eq(only.gpu[g].n_channels, full.gpu[g].n_channels);
	}
}
END_TEST

static void add_hcas(struct topo_machine *m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct pci_addr a = { 0, (uint8_t)(i / 32), (uint8_t)(i % 32), 0 };
		char name[16];
		uint32_t pci, hca;
		struct err e;
		(void)snprintf(name, sizeof(name), "mlx5_%u", i);
		ck_assert_int_eq(topo_add_pci(m, a, &pci, &e), 0);
		ck_assert_int_eq(topo_add_hca(m, name, &hca, &e), 0);
		m->pci[pci].root = 0;
		m->hca[hca].pci = pci;
		m->hca[hca].dev = (int)i;
	}
}

static void flat_file(struct topo_machine *m, unsigned int hcas)
{
	uint32_t cpu, root;
	struct err e;

	m->source = TOPO_NCCL_XML;
	ck_assert_int_eq(topo_add_cpu(m, 0, &cpu, &e) || topo_add_root(m, "", &root, &e), 0);
	m->root[root].cpu = cpu;
	add_hcas(m, hcas);
}

START_TEST(nccl_takes_256_elements)
{
	/* system, cpu, and pci, nic and net of each; a skeleton has three more for each pci */
	static const struct {
		unsigned int hcas;
		bool skeleton, fits;
	} cases[] = { { 84, false, true },
		      { 85, false, false },
		      { 63, true, true },
		      { 64, true, false },
		      { 300, false, false } };
	static const bool one[300] = { true };
	static const struct topo_scope few = { .hca = one };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		struct topo_xml_opts o = { .skeleton = cases[i].skeleton };
		auto_free char *text = NULL;
		struct err e;
		flat_file(&m, cases[i].hcas);
		ck_assert_int_eq(topo_xml_write(&m, &o, &text, &e), cases[i].fits ? 0 : -1);
		ck_assert(cases[i].fits || (strstr(e.msg, "at most 256") && !text));
	}
	auto_topo_machine struct topo_machine m = { 0 };
	flat_file(&m, 100);
	auto_free char *text = written(&m, &(struct topo_xml_opts){ .scope = &few });
	ck_assert_ptr_nonnull(strstr(text, "mlx5_0"));
	ck_assert_ptr_null(strstr(text, "mlx5_1\""));
}
END_TEST

START_TEST(names_that_nccl_cannot_read_are_refused)
{
	static const char *const names[] = { "a\"b", "a<b", "a&b", "a\nb", "\xc3\xa9" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		char *text = NULL;
		struct err e;
		flat_file(&m, 1);
		memcpy(m.hca[0].name, names[i], strlen(names[i]) + 1);
		ck_assert_int_eq(topo_xml_write(&m, &(struct topo_xml_opts){ 0 }, &text, &e), -1);
		ck_assert_int_eq(e.code, ERR_FIELD);
		ck_assert_msg(!strncmp(e.msg, "name \"?\"", 8), "%s", e.msg);
	}
	auto_topo_machine struct topo_machine m = { 0 };
	char *text = NULL;
	struct err e;
	flat_file(&m, 1);
	memset(m.cpu[0].affinity, 'f', 255);
	m.cpu[0].affinity[255] = '\0';
	ck_assert_int_eq(topo_xml_write(&m, &(struct topo_xml_opts){ 0 }, &text, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "at most 254 characters"));
}
END_TEST

/* Nets of a cpu element, before and after its functions: their order is kept, it decides ties. */
START_TEST(virtual_nics_keep_their_place)
{
	static const char file[] =
		"<system version=\"1\"><cpu numaid=\"0\" arch=\"arm64\"><nic><net name=\"first\" "
		"dev=\"0\" speed=\"100000\"/></nic>"
		"<pci busid=\"0000:01:00.0\" class=\"0x030200\" link_speed=\"\" link_width=\"16\">"
		"<gpu dev=\"0\" sm=\"90\" rank=\"0\" gdr=\"0\"><c2c bw=\"45000\" "
		"count=\"10\"/></gpu></pci></cpu>"
		"<cpu numaid=\"1\"><pci busid=\"0000:02:00.0\" class=\"0x020000\" "
		"link_speed=\"\" link_width=\"0\"><nic><net name=\"second\" dev=\"1\" "
		"guid=\"0x12\" maxconn=\"7\"/></nic></pci><nic><net name=\"third\" dev=\"2\"/>"
		"</nic></cpu></system>";
	auto_topo_machine struct topo_machine m = { 0 }, again = { 0 };

	reread(file, &m);
	auto_free char *text = written(&m, &(struct topo_xml_opts){ 0 });
	reread(text, &again);
	ck_assert_uint_eq(again.n_hcas, 3);
	ck_assert_str_eq(again.hca[0].name, "first");
	ck_assert_str_eq(again.hca[1].name, "second");
	ck_assert_str_eq(again.hca[2].name, "third");
	ck_assert_uint_eq(again.hca[1].guid, 0x12);
	ck_assert_uint_eq(again.hca[1].maxconn, 7);
	ck_assert_uint_eq(again.gpu[0].c2c_count, 10);
	ck_assert_uint_eq(again.gpu[0].c2c_mbps, 45000);
	ck_assert_int_eq(again.gpu[0].gdr, TOPO_NO);
}
END_TEST

/* A class in six digits without 0x was taken for one of four, and written with eight. */
START_TEST(what_is_written_can_be_read)
{
	static const char *const classes[] = { "ffffff", "030200", "30200", "0x0302", "" };

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		auto_topo_machine struct topo_machine m = { 0 }, again = { 0 };
		char file[256];
		(void)snprintf(file, sizeof(file),
			       "<system version=\"1\"><cpu numaid=\"0\">"
			       "<pci busid=\"0000:01:00.0\" class=\"%s\">"
			       "<gpu dev=\"0\" rank=\"0\"/></pci></cpu></system>",
			       classes[i]);
		reread(file, &m);
		auto_free char *text = written(&m, &(struct topo_xml_opts){ 0 });
		reread(text, &again);
		ck_assert_uint_eq(again.pci[0].class_code, m.pci[0].class_code);
	}
}
END_TEST

static int write_it(void *arg, struct err *e)
{
	auto_free char *text = NULL;

	return topo_xml_write(arg, &(struct topo_xml_opts){ 0 }, &text, e);
}

START_TEST(memory_may_end_anywhere)
{
	auto_topo_machine struct topo_machine m = { 0 };

	topo_xml("synthetic-a_pix100_phb400", &m);
	ck_assert_str_eq(alloc_fail_each(write_it, &m), "ok");
}
END_TEST

TEST_PROGRAM("xml_write", every_file_read_back_is_answered_the_same,
	     a_skeleton_stays_one_and_others_become_one, nccl_takes_256_elements,
	     names_that_nccl_cannot_read_are_refused, virtual_nics_keep_their_place,
	     what_is_written_can_be_read, memory_may_end_anywhere)

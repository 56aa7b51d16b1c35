// SPDX-License-Identifier: Apache-2.0
/* A topology file for a guest has the guest's addresses and the host's tree. */
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "topo/core/machine_build.h"
#include "topo/nccl/nccl.h"
#include "topo/read/read.h"
#include "topo/testing/topo.h"
#include "topo/nccl/write.h"

/* Half of a node of a DGX A100, and one HCA of another node. */
static const char *const half[] = { "0000:06:00.0=0000:07:00.0", "0000:07:00.0=0000:0f:00.0",
				    "0000:08:00.0=0000:12:00.0", "0000:09:00.0=0000:0c:00.0",
				    "0000:0a:00.0=0000:4b:00.0" };

struct job {
	const struct topo_machine *host, *guest;
	struct topo_guest_pair map[64];
	size_t n;
};

static void map_of(struct job *j, const char *const *pairs, size_t n)
{
	for (j->n = 0; j->n < n; j->n++)
		ck_assert_int_eq(topo_guest_pair_parse(pairs[j->n], &j->map[j->n]), 0);
}

static char *written(const struct job *j)
{
	struct topo_guest g = { j->map, j->n, j->guest };
	char *text = NULL;
	struct err e;

	if (topo_xml_write_guest(j->host, &g, &text, &e))
		ck_abort_msg("%s", e.msg);
	return text;
}

static void reread(const char *text, struct topo_machine *out)
{
	struct err e;

	if (topo_read_xml(text, strlen(text), out, &e))
		ck_abort_msg("%s\n%s", e.msg, text);
	ck_assert(out->skeleton);
	ck_assert_uint_eq(out->n_notes, 0);
}

static void choice(const struct topo_machine *m, uint32_t gpu, char out[128])
{
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	struct nccl_opts o = NCCL_OPTS_DEFAULT;
	struct err e;
	char bdf[PCI_STR_LEN];

	ck_assert_int_eq(nccl_predict(m, NULL, &o, &a, &e), 0);
	(void)snprintf(out, 128, "%s", nccl_path_name(a.gpu[gpu].type));
	for (size_t i = 0; i < a.gpu[gpu].n_local; i++) {
		const struct topo_hca *h = &m->hca[a.net[a.gpu[gpu].local[i]].hca];
		testing_append(out, 128, " ");
		testing_append(out, 128, pci_format(m->pci[h->pci].addr, bdf));
	}
}

START_TEST(pairs_are_two_addresses)
{
	static const char *const bad[] = { "",
					   "=",
					   "0000:06:00.0",
					   "0000:06:00.0=",
					   "=0000:06:00.0",
					   "0000:06:00.0=x",
					   "x=0000:06:00.0",
					   "0000:06:00.0=0000:07:00.0=0000:08:00.0",
					   "0000:06:00.0 =0000:07:00.0",
					   "000000000000000000000:06:00.0=0000:07:00.0" };
	struct topo_guest_pair p = { .guest = { .bus = 9 } };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(topo_guest_pair_parse(bad[i], &p) == -1, "%s", bad[i]);
	ck_assert_uint_eq(p.guest.bus, 9);
	ck_assert_int_eq(topo_guest_pair_parse("0000:06:00.0=10000:E1:1f.7", &p), 0);
	ck_assert_uint_eq(p.guest.bus, 6);
	ck_assert_uint_eq(p.host.domain, 0x10000);
	ck_assert_uint_eq(p.host.dev, 31);
}
END_TEST

START_TEST(the_guest_sees_the_hosts_switches)
{
	auto_topo_machine struct topo_machine host = { 0 }, m = { 0 };
	struct job j = { .host = &host };
	char got[128];

	topo_xml("dgx-a100", &host);
	map_of(&j, half, ARRAY_SIZE(half));
	auto_free char *text = written(&j);
	reread(text, &m);
	ck_assert_uint_eq(m.n_gpus, 2);
	ck_assert_uint_eq(m.n_hcas, 3);
	ck_assert_uint_eq(m.n_cpus, 1);
	/* the GPUs behind a switch of their own, below the one that the NICs are on: as the host;
	 * NICs in the order of the map */
	choice(&m, 0, got);
	ck_assert_str_eq(got, "PXB 0000:08:00.0 0000:09:00.0");
	choice(&m, 1, got);
	ck_assert_str_eq(got, "PXB 0000:08:00.0 0000:09:00.0");
	/* invented switches tell no ids: NCCL must not flatten them */
	ck_assert_ptr_nonnull(strstr(text, "<pci busid=\"ffff:ff:01.0\" class=\"0x060400\" "
					   "link_speed=\"16.0 GT/s PCIe\" link_width=\"16\">"));
	ck_assert_ptr_nonnull(strstr(text, "vendor=\"0x10de\""));
	ck_assert_ptr_null(strstr(text, "0xc010"));
	ck_assert_ptr_null(strstr(text, "<!--"));
}
END_TEST

static void guest_of(struct topo_machine *m, unsigned int nodes)
{
	uint32_t cpu, pci;
	struct err e;
	struct pci_addr other = { 0, 0x0a, 0, 0 };

	m->source = TOPO_LIVE;
	for (unsigned int i = 0; i < nodes; i++) {
		ck_assert_int_eq(topo_add_cpu(m, (int)i, &cpu, &e), 0);
		memcpy(m->cpu[cpu].arch, "arm64", 6);
		memcpy(m->cpu[cpu].affinity, "ff", 3);
	}
	ck_assert_int_eq(topo_add_pci(m, other, &pci, &e), 0);
	m->pci[pci].numa = 0;
}

/* The guest's word on a function first, then the order of the nodes. */
START_TEST(host_nodes_become_the_guests)
{
	auto_topo_machine struct topo_machine host = { 0 };

	topo_xml("dgx-a100", &host);
	for (unsigned int nodes = 1; nodes <= 2; nodes++) {
		auto_topo_machine struct topo_machine guest = { 0 }, m = { 0 };
		struct job j = { .host = &host, .guest = &guest };
		guest_of(&guest, nodes);
		map_of(&j, half, ARRAY_SIZE(half));
		auto_free char *text = written(&j);
		reread(text, &m);
		ck_assert_uint_eq(m.n_cpus, nodes);
		ck_assert_str_eq(m.cpu[0].arch, "arm64");
		ck_assert_str_eq(m.cpu[0].affinity, "ff");
		uint32_t gpu = m.gpu[0].pci, far = topo_find_pci(&m, j.map[4].guest);
		ck_assert_int_eq(m.pci[far].numa, 0);
		ck_assert_int_eq(m.pci[gpu].numa, nodes == 1 ? 0 : 1);
	}
}
END_TEST

START_TEST(a_device_number_that_nccl_rewrites_is_told)
{
	static const char *const integrated[] = { "0000:00:05.0=0000:12:00.0" };
	auto_topo_machine struct topo_machine host = { 0 };
	struct job j = { .host = &host };

	topo_xml("dgx-a100", &host);
	map_of(&j, integrated, 1);
	auto_free char *text = written(&j);
	ck_assert_ptr_nonnull(strstr(text, "<!-- set NCCL_IB_MERGE_VFS=0 with this file -->\n"));
	auto_topo_machine struct topo_machine m = { 0 };
	reread(text, &m);
}
END_TEST

/* A VF has no link of its own: it is written with its PF's. Taken from a tree, where each switch
 * has ports; more switches than one invented bus has room for. */
static void deep_host(struct topo_machine *m, unsigned int switches, uint32_t *vf)
{
	uint32_t up = TOPO_NONE, pf;
	struct err e;
	struct topo_pcie_link wide = { 240, 16 };

	m->source = TOPO_LIVE;
	ck_assert_int_eq(topo_add_root(m, "pci0000:00", &pf, &e), 0);
	for (unsigned int i = 0; i <= 2 * switches; i++) {
		struct pci_addr a = { 0, (uint8_t)i, 0, 0 };
		uint32_t me;
		ck_assert_int_eq(topo_add_pci(m, a, &me, &e), 0);
		m->pci[me].parent = up;
		m->pci[me].root = 0;
		m->pci[me].has_class = true;
		m->pci[me].class_code = 0x060400;
		up = me;
	}
	ck_assert_int_eq(topo_add_pci(m, (struct pci_addr){ 0, 0xf0, 0, 0 }, &pf, &e), 0);
	ck_assert_int_eq(topo_add_pci(m, (struct pci_addr){ 0, 0xf0, 0, 1 }, vf, &e), 0);
	m->pci[pf].parent = m->pci[*vf].parent = up;
	m->pci[pf].max = wide;
	m->pci[*vf].physfn = pf;
	m->pci[*vf].has_class = true;
	m->pci[*vf].class_code = 0x020000;
}

START_TEST(a_deep_host_and_a_vf)
{
	static const char *const one[] = { "0000:06:00.0=0000:f0:00.1" };
	auto_topo_machine struct topo_machine host = { 0 }, m = { 0 };
	struct job j = { .host = &host };
	uint32_t vf;

	deep_host(&host, 40, &vf);
	map_of(&j, one, 1);
	auto_free char *text = written(&j);
	reread(text, &m);
	ck_assert_uint_eq(m.n_pci, 41);
	ck_assert_uint_eq(m.n_hcas, 1);
	ck_assert_uint_eq(m.pci[m.hca[0].pci].max.speed, 240);
	ck_assert_uint_eq(topo_find_pci(&m, (struct pci_addr){ 0xffff, 0xfe, 1, 0 }), 31);
}
END_TEST

START_TEST(what_is_not_there_is_named)
{
	static const char *const absent[] = { "0000:06:00.0=0000:ee:00.0" };
	static struct topo_guest_pair many[257];
	auto_topo_machine struct topo_machine host = { 0 };
	struct job j = { .host = &host };
	struct err e;
	char *text = NULL;

	topo_xml("dgx-a100", &host);
	map_of(&j, absent, 1);
	ck_assert_int_eq(
		topo_xml_write_guest(&host, &(struct topo_guest){ j.map, 1, NULL }, &text, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_str_eq(e.msg, "the host has no PCI function 0000:ee:00.0");
	ck_assert_int_eq(
		topo_xml_write_guest(&host, &(struct topo_guest){ many, 257, NULL }, &text, &e),
		-1);
	ck_assert_int_eq(e.code, ERR_FIELD);
	/* 64 of them have room for themselves only, not for what NCCL adds */
	for (size_t i = 0; i < 64; i++) {
		many[i].guest.bus = (uint8_t)i;
		many[i].host = host.pci[host.hca[0].pci].addr;
	}
	ck_assert_int_eq(
		topo_xml_write_guest(&host, &(struct topo_guest){ many, 64, NULL }, &text, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "at most 256"));
	ck_assert_int_eq(
		topo_xml_write_guest(&host, &(struct topo_guest){ many, 0, NULL }, &text, &e), 0);
	ck_assert_str_eq(text, "<system version=\"1\"/>\n");
	free(text);
}
END_TEST

static int write_it(void *arg, struct err *e)
{
	const struct job *j = arg;
	struct topo_guest g = { j->map, j->n, j->guest };
	auto_free char *text = NULL;

	return topo_xml_write_guest(j->host, &g, &text, e);
}

START_TEST(memory_may_end_anywhere)
{
	auto_topo_machine struct topo_machine host = { 0 }, deep = { 0 };
	struct job j = { .host = &host };
	uint32_t vf;

	topo_xml("dgx-a100", &host);
	map_of(&j, half, ARRAY_SIZE(half));
	ck_assert_str_eq(alloc_fail_each(write_it, &j), "ok");
	deep_host(&deep, 3, &vf);
	j = (struct job){ .host = &deep, .n = 1 };
	j.map[0].host = deep.pci[vf].addr;
	ck_assert_str_eq(alloc_fail_each(write_it, &j), "ok");
}
END_TEST

TEST_PROGRAM("xml_guest", pairs_are_two_addresses, the_guest_sees_the_hosts_switches,
	     host_nodes_become_the_guests, a_device_number_that_nccl_rewrites_is_told,
	     a_deep_host_and_a_vf, what_is_not_there_is_named, memory_may_end_anywhere)

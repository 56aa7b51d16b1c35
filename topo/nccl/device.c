// SPDX-License-Identifier: Apache-2.0
/* Adds gpu, nvlink and net elements to a machine, and completes skeletons. */
#include <stdio.h>
#include <string.h>

#include "topo/nccl/priv.h"

/* Without PCI ids, GPUs in files of NCCL are NVIDIA's, and those in files of RCCL are AMD's. */
static enum topo_vendor vendor_of(const struct topo_machine *m, uint32_t pci, bool *on_package)
{
	if (m->pci[pci].has_ids)
		return topo_vendor_of(&m->pci[pci], on_package);
	*on_package = false;
	return m->source == TOPO_RCCL_XML ? TOPO_AMD : TOPO_NVIDIA;
}

static enum topo_tristate to_tristate(int64_t value)
{
	if (value < 0)
		return TOPO_UNKNOWN;
	return value ? TOPO_YES : TOPO_NO;
}

/* "gfx942", or in earlier files a number, where 910 is gfx90a (convertGcnArchToGcnArchName of
 * RCCL). Other texts, "gfx942:sramecc+" among them, are read up to their end. */
static uint32_t gfx_of(const char *text)
{
	bool name = text && !strncmp(text, "gfx", 3);
	unsigned long digits = text ? strtoul(text + (name ? 3 : 0), NULL, 16) : 0;

	if (digits > 0xffff)
		return 0;
	return !name && digits == 0x910 ? 0x90a : (uint32_t)digits;
}

int xml_gpu(struct topo_machine *m, struct xml_level *at, const struct xml_elem *x, struct err *e)
{
	int64_t dev = -1, rank = -1, sm = 0, gdr = -1;

	if (xml_int(x, "dev", XML_RANGE(-1, INT32_MAX), &dev, e) ||
	    xml_int(x, "rank", XML_RANGE(-1, INT32_MAX), &rank, e) ||
	    xml_int(x, "sm", XML_RANGE(0, 65535), &sm, e) ||
	    xml_int(x, "gdr", XML_RANGE(-1, INT32_MAX), &gdr, e))
		return -1;
	/* as in NCCL, a GPU without a rank is in no communicator */
	if (!xml_value(x, "rank"))
		return topo_add_note(m, e,
				     "line %lu: a gpu element without a rank: NCCL leaves it out",
				     x->line);
	if (topo_add_gpu(m, at->pci, &at->gpu, e))
		return -1;
	struct topo_gpu *g = &m->gpu[at->gpu];
	g->vendor = vendor_of(m, at->pci, &g->on_package);
	g->rank = (int)rank;
	if (dev >= 0)
		g->index = (int)dev;
	g->sm = (int)sm;
	g->gfx = gfx_of(xml_value(x, "gcn"));
	/* a part of a GPU (MLOPart); NCCL reads any text as a number (ncclTopoCheckGdr) */
	const char *part = xml_value(x, "mlopart");
	g->gdr = part && strtol(part, NULL, 0) >= 0 ? TOPO_NO : to_tristate(gdr);
	return 0;
}

#define VENDOR_AMAZON    0x1d0f
#define CLASS_ETHERNET   0x0200
#define CLASS_INFINIBAND 0x0207

/*
 * A file has no link layer. The PCI class has it: PCI Code and ID Assignment, class 02; a ConnectX
 * changes its class with LINK_TYPE. EFA has Ethernet's class, but its ports have another layer.
 * Without a vendor it could be EFA. A net of port 0 is an interface for sockets.
 */
static enum topo_layer layer_of(const struct topo_machine *m, uint32_t pci, uint32_t port)
{
	const struct topo_pci *p = pci == TOPO_NONE ? NULL : &m->pci[pci];

	if (!p || !port)
		return TOPO_LAYER_UNKNOWN;
	if (p->class_code >> 8 == CLASS_INFINIBAND)
		return TOPO_INFINIBAND;
	return p->class_code >> 8 == CLASS_ETHERNET && p->has_ids && p->vendor != VENDOR_AMAZON
		       ? TOPO_ETHERNET
		       : TOPO_LAYER_UNKNOWN;
}

static int device_add_port(const struct topo_machine *m, struct topo_hca *h, uint32_t port,
			   struct err *e)
{
	if (topo_add_port(h, port, e))
		return -1;
	h->port[0].layer = layer_of(m, h->pci, port);
	return 0;
}

static int set_net(struct topo_machine *m, uint32_t hca, const struct xml_elem *x, struct err *e)
{
	struct topo_hca *h = &m->hca[hca];
	int64_t speed = 0, port = 0, maxconn = 0, gdr = -1;

	if (xml_int(x, "speed", XML_RANGE(INT32_MIN, UINT32_MAX), &speed, e) ||
	    xml_int(x, "port", XML_RANGE(0, 65535), &port, e) ||
	    xml_int(x, "maxconn", XML_RANGE(0, UINT32_MAX), &maxconn, e) ||
	    xml_int(x, "gdr", XML_RANGE(-1, INT32_MAX), &gdr, e) ||
	    xml_hex(x, "guid", UINT64_MAX, &h->guid, e) ||
	    xml_double(x, "latency", &h->latency, e) || device_add_port(m, h, (uint32_t)port, e))
		return -1;
	h->port[0].rate_mbps = speed > 0 ? (uint32_t)speed : 0;
	h->maxconn = (uint32_t)maxconn;
	h->gdr = to_tristate(gdr);
	return 0;
}

/* "mlx5_0_dma" is NCCL's name for mlx5_0 at its Data Direct function. No RDMA device has it. */
static bool cut_direct(char *name)
{
	size_t len = strlen(name);

	if (len < 5 || strcmp(name + len - 4, "_dma") != 0 || strchr(name, '+'))
		return false;
	name[len - 4] = '\0';
	return true;
}

int xml_net(struct topo_machine *m, const struct xml_level *at, const struct xml_elem *x,
	    struct err *e)
{
	char name[TOPO_NAME_LEN] = "";
	int64_t dev = -1, net = 1;
	uint32_t hca;

	if (!xml_value(x, "dev"))
		return topo_add_note(
			m, e, "line %lu: a net element without a dev: NCCL leaves it out", x->line);
	if (xml_int(x, "net", XML_RANGE(INT32_MIN, INT32_MAX), &net, e))
		return -1;
	if (!net)
		return topo_add_note(m, e,
				     "line %lu: a net element with net=\"0\": NCCL leaves it out",
				     x->line);
	if (xml_int(x, "dev", XML_RANGE(0, INT32_MAX), &dev, e) ||
	    xml_text(x, "name", name, sizeof(name), e))
		return -1;
	if (!*name)
		(void)snprintf(name, sizeof(name), "net%d", (int)dev);
	bool direct = at->pci != TOPO_NONE && cut_direct(name);
	if (topo_add_hca(m, name, &hca, e))
		return -1;
	m->hca[hca].direct = direct ? at->pci : TOPO_NONE;
	m->hca[hca].pci = at->pci;
	m->hca[hca].cpu = at->pci == TOPO_NONE ? at->cpu : TOPO_NONE;
	m->hca[hca].dev = (int)dev;
	return set_net(m, hca, x, e);
}

/* NCCL's address for an NVSwitch that has no PCI function. */
static bool is_hidden(const char *target)
{
	return !target || !strncmp(target, "fffffff:ffff:ff", 15);
}

int xml_nvlink(struct topo_machine *m, const struct xml_level *at, const struct xml_elem *x,
	       struct err *e)
{
	struct topo_nvlink l = { .hidden = is_hidden(xml_value(x, "target")) };
	int64_t count = 1, bw = 0;
	uint64_t tclass = 0;

	if (at->gpu == TOPO_NONE)
		return 0;
	if (xml_int(x, "count", XML_RANGE(0, 65535), &count, e) ||
	    xml_int(x, "bw", XML_RANGE(0, UINT32_MAX), &bw, e) ||
	    xml_hex(x, "tclass", 0xffffff, &tclass, e))
		return -1;
	if (!strcmp(x->name, "c2c")) {
		m->gpu[at->gpu].c2c_mbps = (uint32_t)bw;
		m->gpu[at->gpu].c2c_count = (uint32_t)count;
		m->gpu[at->gpu].c2c_from = "file";
		return 0;
	}
	if (!l.hidden && xml_busid(x, "target", &l.target, e))
		return -1;
	l.tclass = (uint32_t)tclass;
	l.count = (uint32_t)count;
	return topo_add_nvlink(&m->gpu[at->gpu], &l, e);
}

/* ---- a file of pci elements only, as clouds ship them ---- */

struct found {
	uint64_t place;
	uint32_t pci;
};

static int by_place(const void *x, const void *y)
{
	const struct found *a = x, *b = y;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return (a->pci > b->pci) - (a->pci < b->pci);
}

/* The functions whose class begins with the given byte, sorted by address. */
static size_t device_find_functions(const struct topo_machine *m,
				    bool (*is)(const struct topo_machine *, uint32_t),
				    struct found *out)
{
	size_t n = 0;

	for (uint32_t i = 0; i < m->n_pci; i++) {
		if (is(m, m->pci[i].class_code >> 16))
			out[n++] = (struct found){ topo_pci_order(m, i), i };
	}
	qsort(out, n, sizeof(*out), by_place);
	return n;
}

static bool is_gpu(const struct topo_machine *m, uint32_t class)
{
	return class == 0x03 || (class == 0x12 && m->source == TOPO_RCCL_XML);
}

static bool is_nic(const struct topo_machine *m, uint32_t class)
{
	(void)m;
	return class == 0x02;
}

/* A skeleton has no NVLinks. An A100 or later has 12 to 18; the difference changes no choice. */
static int complete_gpu(struct topo_machine *m, uint32_t pci, struct err *e)
{
	static const struct topo_nvlink links = { .hidden = true, .tclass = 0x068000, .count = 12 };
	uint32_t gpu;

	if (topo_add_gpu(m, pci, &gpu, e))
		return -1;
	struct topo_gpu *g = &m->gpu[gpu];
	g->vendor = vendor_of(m, pci, &g->on_package);
	g->rank = g->index;
	m->pci[pci].kind = TOPO_ENDPOINT;
	return m->source == TOPO_NCCL_XML ? topo_add_nvlink(g, &links, e) : 0;
}

static int complete_nic(struct topo_machine *m, uint32_t pci, struct err *e)
{
	char name[TOPO_NAME_LEN];
	uint32_t hca;

	(void)snprintf(name, sizeof(name), "net%zu", m->n_hcas);
	if (topo_add_hca(m, name, &hca, e))
		return -1;
	m->hca[hca].pci = pci;
	m->hca[hca].dev = (int)hca;
	m->pci[pci].kind = TOPO_ENDPOINT;
	return device_add_port(m, &m->hca[hca], 1, e);
}

int xml_complete(struct topo_machine *m, struct err *e)
{
	auto_free struct found *list = calloc(m->n_pci + 1, sizeof(*list));

	if (!list)
		return err_nomem(e);
	size_t n = device_find_functions(m, is_gpu, list);
	for (size_t i = 0; i < n; i++) {
		if (complete_gpu(m, list[i].pci, e))
			return -1;
	}
	n = device_find_functions(m, is_nic, list);
	for (size_t i = 0; i < n; i++) {
		if (complete_nic(m, list[i].pci, e))
			return -1;
	}
	m->skeleton = true;
	for (size_t i = 0; i < m->n_pci && !m->n_gpus && !m->n_hcas; i++) {
		if (!m->pci[i].has_class)
			return topo_add_note(m, e,
					     "pci elements have no class: which of them are GPUs "
					     "and NICs is not known");
	}
	return 0;
}

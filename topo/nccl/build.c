// SPDX-License-Identifier: Apache-2.0
/* Builds a machine from elements: checks which element may be where, and adds cpu and pci records.
 */
#include <string.h>

#include "topo/read/read.h"
#include "topo/core/pci_switch.h"
#include "topo/nccl/priv.h"

#define BELOW(kind) (1U << (kind))

typedef int (*open_fn)(struct topo_machine *m, struct xml_level *at, const struct xml_elem *x,
		       struct err *e);

static int open_system(struct topo_machine *m, struct xml_level *at, const struct xml_elem *x,
		       struct err *e)
{
	int64_t version = 0;

	(void)at;
	if (xml_int(x, "version", XML_RANGE(0, INT32_MAX), &version, e))
		return -1;
	if (version != 1 && version != 2)
		return xml_bad(x, "version", "NCCL writes 1 and RCCL 2", e);
	m->source = version == 1 ? TOPO_NCCL_XML : TOPO_RCCL_XML;
	return 0;
}

static int open_cpu(struct topo_machine *m, struct xml_level *at, const struct xml_elem *x,
		    struct err *e)
{
	int64_t numa = -1, family = -1, model = -1;

	if (xml_int(x, "numaid", XML_RANGE(-1, INT32_MAX), &numa, e) ||
	    xml_int(x, "familyid", XML_RANGE(-1, INT32_MAX), &family, e) ||
	    xml_int(x, "modelid", XML_RANGE(-1, INT32_MAX), &model, e) ||
	    topo_add_cpu(m, (int)numa, &at->cpu, e) || topo_add_root(m, "", &at->root, e))
		return -1;
	struct topo_cpu *c = &m->cpu[at->cpu];
	m->root[at->root].cpu = at->cpu;
	c->family = (int)family;
	c->model = (int)model;
	return xml_text(x, "affinity", c->affinity, sizeof(c->affinity), e) ||
			       xml_text(x, "arch", c->arch, sizeof(c->arch), e) ||
			       xml_text(x, "vendor", c->vendor, sizeof(c->vendor), e)
		       ? -1
		       : 0;
}

/* The class has no programming interface, as in lspci: at most four digits, 0x0604. */
static bool class_is_short(const char *text)
{
	return strlen(text) - (strncasecmp(text, "0x", 2) ? 0 : 2) <= 4;
}

static int pci_ids(struct topo_pci *p, const struct xml_elem *x, struct err *e)
{
	uint64_t id[4] = { 0 }, class = 0;
	const char *text = xml_value(x, "class");

	if (xml_hex(x, "class", 0xffffff, &class, e) || xml_hex(x, "vendor", 0xffff, &id[0], e) ||
	    xml_hex(x, "device", 0xffff, &id[1], e) ||
	    xml_hex(x, "subsystem_vendor", 0xffff, &id[2], e) ||
	    xml_hex(x, "subsystem_device", 0xffff, &id[3], e))
		return -1;
	p->has_class = text && *text;
	p->class_code = (uint32_t) class << (p->has_class && class_is_short(text) ? 8 : 0);
	p->has_ids = xml_value(x, "vendor") || xml_value(x, "device");
	p->vendor = (uint16_t)id[0];
	p->device = (uint16_t)id[1];
	p->sub_vendor = (uint16_t)id[2];
	p->sub_device = (uint16_t)id[3];
	return 0;
}

static int open_pci(struct topo_machine *m, struct xml_level *at, const struct xml_elem *x,
		    struct err *e)
{
	uint32_t parent = at->pci;
	struct pci_addr addr = { 0 };
	const char *speed = xml_value(x, "link_speed");
	int64_t width = 0;

	if (!xml_value(x, "busid"))
		return xml_bad(x, "busid", "it is missing", e);
	if (xml_busid(x, "busid", &addr, e) ||
	    xml_int(x, "link_width", XML_RANGE(0, 255), &width, e) ||
	    topo_add_pci(m, addr, &at->pci, e))
		return -1;
	struct topo_pci *p = &m->pci[at->pci];
	p->parent = parent;
	p->root = at->root;
	p->numa = m->cpu[at->cpu].numa;
	p->max.speed = speed ? topo_pcie_speed_parse(speed) : 0;
	p->max.width = (uint8_t)width;
	p->cur = p->max;
	if (pci_ids(p, x, e))
		return -1;
	p->kind = p->class_code >> 8 == 0x0604 ? TOPO_UPSTREAM : TOPO_ENDPOINT;
	if (parent != TOPO_NONE)
		m->pci[parent].kind = TOPO_UPSTREAM;
	return 0;
}

static int open_nic(struct topo_machine *m, struct xml_level *at, const struct xml_elem *x,
		    struct err *e)
{
	(void)m, (void)at, (void)x, (void)e;
	return 0;
}

static int open_net(struct topo_machine *m, struct xml_level *at, const struct xml_elem *x,
		    struct err *e)
{
	return xml_net(m, at, x, e);
}

static int open_link(struct topo_machine *m, struct xml_level *at, const struct xml_elem *x,
		     struct err *e)
{
	return xml_nvlink(m, at, x, e);
}

static const struct {
	const char *name;
	enum xml_kind kind;
	unsigned int parents;
	open_fn open;
} elements[] = {
	{ "cpu", XML_CPU, BELOW(XML_SYSTEM), open_cpu },
	{ "pci", XML_PCI, BELOW(XML_CPU) | BELOW(XML_PCI), open_pci },
	{ "gpu", XML_GPU, BELOW(XML_PCI), xml_gpu },
	{ "nic", XML_NIC, BELOW(XML_PCI) | BELOW(XML_CPU), open_nic },
	{ "net", XML_NET, BELOW(XML_NIC), open_net },
	{ "nvlink", XML_LINK, BELOW(XML_GPU), open_link },
	{ "xgmi", XML_LINK, BELOW(XML_GPU), open_link },
	{ "c2c", XML_LINK, BELOW(XML_GPU), open_link },
};

static int begin_top(struct xml_build *b, const struct xml_elem *x, struct xml_level *at,
		     struct err *e)
{
	if (strcmp(x->name, "system") != 0) {
		(void)err_set(e, ERR_FIELD, 0,
			      "line %lu: the outermost element is %.80s: it must be system",
			      x->line, x->name);
		if (!strcmp(x->name, "graphs"))
			(void)err_hint(e, "a file of NCCL_GRAPH_DUMP_FILE; what is read here "
					  "is that of NCCL_TOPO_DUMP_FILE");
		return -1;
	}
	at->kind = XML_SYSTEM;
	return open_system(b->m, at, x, e);
}

int xml_begin(struct xml_build *b, const struct xml_elem *x, struct err *e)
{
	if (b->depth == XML_DEPTH_MAX)
		return err_set(e, ERR_FIELD, 0, "line %lu, %.80s: more than %d levels of elements",
			       x->line, x->name, XML_DEPTH_MAX);
	struct xml_level *at = &b->open[b->depth];
	if (b->depth == 0) {
		*at = (struct xml_level){ XML_SKIP, TOPO_NONE, TOPO_NONE, TOPO_NONE, TOPO_NONE };
		b->depth = 1;
		return begin_top(b, x, at, e);
	}
	enum xml_kind parent = at[-1].kind;
	*at = at[-1];
	at->kind = XML_SKIP;
	b->depth++;
	for (size_t i = 0; i < ARRAY_SIZE(elements); i++) {
		if (strcmp(elements[i].name, x->name) != 0 ||
		    !(elements[i].parents & BELOW(parent)))
			continue;
		at->kind = elements[i].kind;
		return elements[i].open(b->m, at, x, e);
	}
	return 0;
}

void xml_end(struct xml_build *b)
{
	b->depth--;
}

static int by_dev(const void *x, const void *y)
{
	const struct topo_gpu *a = x, *b = y;

	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	return (a->pci > b->pci) - (a->pci < b->pci);
}

struct net {
	int dev;
	const char *name;
};

static int by_net(const void *x, const void *y)
{
	const struct net *a = x, *b = y;

	if (a->dev != b->dev)
		return a->dev < b->dev ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

/* NCCL merges net elements with the same dev, and its paths to them become wrong. */
static int note_twins(struct topo_machine *m, struct err *e)
{
	auto_free struct net *net = calloc(m->n_hcas + 1, sizeof(*net));

	if (!net)
		return err_nomem(e);
	for (size_t i = 0; i < m->n_hcas; i++)
		net[i] = (struct net){ m->hca[i].dev, m->hca[i].name };
	qsort(net, m->n_hcas, sizeof(*net), by_net);
	for (size_t i = 1; i < m->n_hcas; i++) {
		if (net[i].dev == net[i - 1].dev &&
		    topo_add_note(
			    m, e,
			    "%s and %s have the same dev=\"%d\": NCCL takes them for one device "
			    "and finds wrong paths to it",
			    net[i - 1].name, net[i].name, net[i].dev))
			return -1;
	}
	for (size_t i = 1; i < m->n_gpus; i++) {
		if (m->gpu[i].index == m->gpu[i - 1].index &&
		    topo_add_note(m, e, "two gpu elements have dev=\"%d\"", m->gpu[i].index))
			return -1;
	}
	return 0;
}

int xml_finish(struct xml_build *b, struct err *e)
{
	struct topo_machine *m = b->m;

	for (size_t i = 0; i < m->n_gpus; i++)
		m->pci[m->gpu[i].pci].kind = TOPO_ENDPOINT;
	for (size_t i = 0; i < m->n_hcas; i++) {
		if (m->hca[i].pci != TOPO_NONE)
			m->pci[m->hca[i].pci].kind = TOPO_ENDPOINT;
	}
	if (!m->n_gpus && !m->n_hcas && xml_complete(m, e))
		return -1;
	if (m->n_gpus)
		qsort(m->gpu, m->n_gpus, sizeof(*m->gpu), by_dev);
	if (note_twins(m, e) || topo_number_cards(m, e))
		return -1;
	topo_number_chips(m);
	return 0;
}

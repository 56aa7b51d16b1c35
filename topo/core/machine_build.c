// SPDX-License-Identifier: Apache-2.0
/* Appends records to a machine, within bounds, and knows the vendors of accelerators. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "topo/core/machine_build.h"

#define MAX_PCI   65536
#define MAX_HCAS  8192
#define MAX_OTHER 1024
#define MAX_NOTES 256

/* Append an element of zeros to owner->field, whose length is owner->count; NULL on error. */
#define ADD(owner, field, count, what, max, e)                                                     \
	({                                                                                         \
		const struct array_kind kind_ = { sizeof(*(owner)->field), max, what, ERR_FIELD }; \
		__typeof__((owner)->field) new_ = NULL;                                            \
		if (array_grow(&(owner)->field, (owner)->count, 1, kind_, e) == 0) {               \
			new_ = (owner)->field + (owner)->count++;                                  \
			memset(new_, 0, sizeof(*new_));                                            \
		}                                                                                  \
		new_;                                                                              \
	})

int topo_add_pci(struct topo_machine *m, struct pci_addr a, uint32_t *out, struct err *e)
{
	struct topo_pci *p = ADD(m, pci, n_pci, "PCI functions", MAX_PCI, e);

	if (!p)
		return -1;
	p->addr = a;
	p->parent = p->root = p->physfn = p->chip = TOPO_NONE;
	p->numa = -1;
	*out = (uint32_t)(m->n_pci - 1);
	return 0;
}

int topo_add_root(struct topo_machine *m, const char *name, uint32_t *out, struct err *e)
{
	if (strlen(name) >= PCI_ROOT_LEN)
		return err_set(e, ERR_FIELD, 0, "root complex %.40s: its name is too long", name);
	struct topo_root *r = ADD(m, root, n_roots, "root complexes", MAX_OTHER, e);
	if (!r)
		return -1;
	memcpy(r->name, name, strlen(name) + 1);
	r->cpu = TOPO_NONE;
	*out = (uint32_t)(m->n_roots - 1);
	return 0;
}

int topo_add_cpu(struct topo_machine *m, int numa, uint32_t *out, struct err *e)
{
	struct topo_cpu *c = ADD(m, cpu, n_cpus, "NUMA nodes", MAX_OTHER, e);

	if (!c)
		return -1;
	c->numa = numa;
	c->family = c->model = -1;
	*out = (uint32_t)(m->n_cpus - 1);
	return 0;
}

int topo_add_gpu(struct topo_machine *m, uint32_t pci, uint32_t *out, struct err *e)
{
	struct topo_gpu *g = ADD(m, gpu, n_gpus, "GPUs", MAX_OTHER, e);

	if (!g)
		return -1;
	g->pci = pci;
	g->index = (int)(m->n_gpus - 1);
	g->rank = -1;
	*out = (uint32_t)(m->n_gpus - 1);
	return 0;
}

int topo_add_hca(struct topo_machine *m, const char *name, uint32_t *out, struct err *e)
{
	if (strlen(name) >= TOPO_NAME_LEN)
		return err_set(e, ERR_FIELD, 0, "RDMA device %.80s: its name is too long", name);
	struct topo_hca *h = ADD(m, hca, n_hcas, "RDMA devices", MAX_HCAS, e);
	if (!h)
		return -1;
	memcpy(h->name, name, strlen(name) + 1);
	h->pci = h->second = h->cpu = h->direct = TOPO_NONE;
	h->card = (uint32_t)(m->n_hcas - 1);
	h->rule = "";
	h->dev = -1;
	*out = (uint32_t)(m->n_hcas - 1);
	return 0;
}

int topo_add_port(struct topo_hca *h, uint32_t port, struct err *e)
{
	struct topo_port *p = ADD(h, port, n_ports, "ports of one RDMA device", MAX_OTHER, e);

	if (!p)
		return -1;
	p->port = port;
	return 0;
}

int topo_add_nvlink(struct topo_gpu *g, const struct topo_nvlink *l, struct err *e)
{
	struct topo_nvlink *new = ADD(g, nvlink, n_nvlinks, "NVLinks of one GPU", MAX_OTHER, e);

	if (!new)
		return -1;
	*new = *l;
	return 0;
}

int topo_add_note(struct topo_machine *m, struct err *e, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (m->n_notes >= MAX_NOTES)
		return 0;
	auto_free char *copy =
		strdup(m->n_notes < MAX_NOTES - 1 ? text : "more notes are left out");
	if (!copy)
		return err_nomem(e);
	char **slot = ADD(m, note, n_notes, "notes", MAX_NOTES, e);
	if (!slot)
		return -1;
	*slot = TAKE_PTR(copy);
	return 0;
}

#define VENDOR_NVIDIA 0x10de
#define VENDOR_AMD    0x1002
#define VENDOR_HABANA 0x1da3
#define VENDOR_HUAWEI 0x19e5

enum topo_vendor topo_vendor_of(const struct topo_pci *p, bool *on_package)
{
	*on_package = false;
	if (!p->has_ids)
		return TOPO_OTHER;
	switch (p->vendor) {
	case VENDOR_NVIDIA:
		return TOPO_NVIDIA;
	case VENDOR_AMD:
		return TOPO_AMD;
	case VENDOR_HABANA:
		*on_package = true;
		return TOPO_GAUDI;
	case VENDOR_HUAWEI:
		*on_package = true;
		return TOPO_ASCEND;
	default:
		return TOPO_OTHER;
	}
}

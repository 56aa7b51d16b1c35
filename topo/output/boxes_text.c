/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of boxes: names of switches, rates and rails of HCAs, vendors of GPUs. */
#include <stdio.h>

#include "topo/output/boxes.h"

static const char *chip_name(const struct topo_pci *p)
{
	static const struct {
		uint16_t vendor, device;
		const char *name;
	} known[] = {
		{ 0x1000, 0xc010, "PEX880xx" },  { 0x1000, 0xc030, "PEX890xx" },
		{ 0x104c, 0x8232, "XIO3130" },   { 0x104c, 0x8233, "XIO3130" },
		{ 0x1b36, 0x000c, "QEMU port" },
	};

	for (size_t i = 0; p->has_ids && i < ARRAY_SIZE(known); i++)
		if (p->vendor == known[i].vendor && p->device == known[i].device)
			return known[i].name;
	return p->kind == TOPO_BRIDGE ? "bridge" : "switch";
}

/* The format of lspci, without domain 0. */
static char *short_bdf(struct pci_addr a, char buf[PCI_STR_LEN])
{
	pci_format(a, buf);
	return a.domain ? buf : buf + 5;
}

char *boxes_title(const struct show_boxes *s, const struct show_box *b, char buf[BOX_TEXT_LEN])
{
	const struct topo_machine *m = s->v->m;
	char bdf[PCI_STR_LEN];

	*buf = '\0';
	if (b->kind == BOX_SOCKET && (b->key == TOPO_NONE || m->cpu[b->key].numa < 0))
		(void)snprintf(buf, BOX_TEXT_LEN, "NUMA node unknown");
	else if (b->kind == BOX_SOCKET)
		(void)snprintf(buf, BOX_TEXT_LEN, "NUMA node %d", m->cpu[b->key].numa);
	else if (b->kind == BOX_ROOT)
		(void)snprintf(buf, BOX_TEXT_LEN, "root complex %s", m->root[b->key].name);
	else if (b->kind == BOX_SWITCH)
		(void)snprintf(buf, BOX_TEXT_LEN, "%s %s", chip_name(&m->pci[b->pci]),
			       short_bdf(m->pci[b->pci].addr, bdf));
	return buf;
}

char *boxes_describe_hca(const struct show_boxes *s, const struct show_box *b,
			 char buf[BOX_TEXT_LEN])
{
	const struct topo_hca *h = &s->v->m->hca[b->key];
	const char *const other = h->kind == TOPO_HCA_SOFTWARE   ? "software"
				  : h->kind == TOPO_HCA_SMI      ? "SMI"
				  : h->kind == TOPO_HCA_NVSWITCH ? "NVSwitch"
								 : "port down";
	uint32_t rate = 0, rail = s->v->choice->rail[b->key];
	size_t len = 0;

	for (size_t i = 0; i < h->n_ports; i++)
		if (h->port[i].active != TOPO_NO && h->port[i].rate_mbps > rate)
			rate = h->port[i].rate_mbps;
	*buf = '\0';
	if (!topo_usable(h))
		len += (size_t)snprintf(buf, BOX_TEXT_LEN, "%s", other);
	else if (rate)
		len += (size_t)snprintf(buf, BOX_TEXT_LEN, "%uG", rate / 1000);
	if (rail != TOPO_NONE)
		len += (size_t)snprintf(buf + len, BOX_TEXT_LEN - len, "%srail %u",
					len ? " \xc2\xb7 " : "", rail);
	if (b->vfs)
		(void)snprintf(buf + len, BOX_TEXT_LEN - len, "%s%u VFs", len ? " \xc2\xb7 " : "",
			       b->vfs);
	return buf;
}

const char *boxes_vendor(const struct topo_gpu *g)
{
	static const char *const vendors[] = {
		[TOPO_OTHER] = "accelerator", [TOPO_NVIDIA] = "NVIDIA",        [TOPO_AMD] = "AMD",
		[TOPO_GAUDI] = "Intel Gaudi", [TOPO_ASCEND] = "Huawei Ascend",
	};

	return vendors[g->vendor];
}

bool boxes_draws_nearest(const struct topo_gpu_choice *c)
{
	return c->n_nearest <= 4; /* with more lines the picture is unreadable */
}

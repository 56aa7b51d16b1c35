// SPDX-License-Identifier: Apache-2.0
/* Guesses the role of each HCA by the rules of NVSentinel; choose.h has the list of rules. */
#include <string.h>

#include "topo/core/choose.h"

#define VENDOR_MELLANOX 0x15b3
#define VENDOR_AMAZON   0x1d0f
#define EFA             0xefa0 /* 0xefa0, 0xefa1, ... */

struct verdict {
	enum topo_role role;
	const char *rule;
};

/* One HCA in relation to all GPUs. */
struct placement {
	enum topo_class nearest; /* class of the nearest GPU */
	bool any_gpu, all_known; /* all_known: same_numa is known for every GPU */
	bool node_with_gpu;      /* it shares its NUMA node with a GPU */
	enum topo_layer layer;
};

static struct placement place_hca(const struct topo_machine *m, uint32_t hca)
{
	const struct topo_hca *h = &m->hca[hca];
	struct placement s = { .nearest = TOPO_CLASS_UNKNOWN, .all_known = true };
	struct topo_distance r;

	for (uint32_t g = 0; g < m->n_gpus; g++) {
		topo_distance_to_hca(m, g, hca, &r);
		s.any_gpu = true;
		s.all_known = s.all_known && r.same_numa != TOPO_UNKNOWN;
		s.node_with_gpu = s.node_with_gpu || r.same_numa == TOPO_YES;
		if (r.class < s.nearest)
			s.nearest = r.class;
	}
	for (size_t i = 0; i < h->n_ports; i++) {
		if (h->port[i].layer > s.layer)
			s.layer = h->port[i].layer;
	}
	return s;
}

static struct verdict by_distance(const struct placement *s)
{
	switch (s->nearest) {
	case TOPO_X:
	case TOPO_PIX:
		return (struct verdict){ TOPO_COMPUTE, "pix" };
	case TOPO_PXB:
		return (struct verdict){ TOPO_COMPUTE, "pxb" };
	case TOPO_PHB:
	case TOPO_NODE:
		if (s->layer == TOPO_INFINIBAND)
			return (struct verdict){ TOPO_COMPUTE, "infiniband" };
		if (s->layer == TOPO_ETHERNET)
			return (struct verdict){ TOPO_STORAGE,
						 s->nearest == TOPO_PHB ? "phb" : "node" };
		break;
	case TOPO_SYS:
	case TOPO_CLASS_UNKNOWN:
		break;
	}
	return (struct verdict){ TOPO_ROLE_UNKNOWN, "" };
}

static struct verdict judge_role(const struct topo_machine *m, uint32_t hca,
				 const char *default_netdev)
{
	const struct topo_hca *h = &m->hca[hca];
	const struct topo_pci none = { 0 }, *p = h->pci == TOPO_NONE ? &none : &m->pci[h->pci];
	struct placement s = place_hca(m, hca);
	bool efa = p->has_ids && p->vendor == VENDOR_AMAZON && (p->device & 0xfff0) == EFA;
	/* BlueField, BlueField-2 and -3: cards with a processor of their own. */
	bool bluefield = p->has_ids && p->vendor == VENDOR_MELLANOX &&
			 (p->device == 0xa2d2 || p->device == 0xa2d6 || p->device == 0xa2dc);

	for (size_t i = 0; default_netdev && *default_netdev && i < h->n_ports; i++) {
		if (!strcmp(h->port[i].netdev, default_netdev))
			return (struct verdict){ TOPO_MANAGEMENT, "default-route" };
	}
	if (efa)
		return (struct verdict){ TOPO_COMPUTE, "efa" };
	if (s.nearest <= TOPO_PXB)
		return by_distance(&s);
	if (s.layer != TOPO_LAYER_UNKNOWN && s.any_gpu && s.all_known && !s.node_with_gpu)
		return (struct verdict){ TOPO_MANAGEMENT, "numa" };
	if (s.nearest == TOPO_SYS && bluefield)
		return (struct verdict){ TOPO_MANAGEMENT, "bluefield" };
	return by_distance(&s);
}

void topo_roles(struct topo_machine *m, const char *default_netdev)
{
	for (uint32_t i = 0; i < m->n_hcas; i++) {
		struct verdict v = judge_role(m, i, default_netdev);
		m->hca[i].role = v.role;
		m->hca[i].rule = v.rule;
	}
}

// SPDX-License-Identifier: Apache-2.0
/* Guesses the role of each HCA by the rules of NVSentinel; choose.h has the list of rules. */
#include <stdio.h>
#include <string.h>

#include "topo/core/choose.h"

#define VENDOR_MELLANOX 0x15b3
#define VENDOR_AMAZON   0x1d0f
#define EFA             0xefa0 /* 0xefa0, 0xefa1, ... */

/* BlueField, BlueField-2, -3 and -4: cards with a processor of their own. */
static bool is_bluefield(const struct topo_machine *m, const struct topo_hca *h)
{
	const struct topo_pci *p = h->pci == TOPO_NONE ? NULL : &m->pci[h->pci];

	return p && p->has_ids && p->vendor == VENDOR_MELLANOX &&
	       (p->device == 0xa2d2 || p->device == 0xa2d6 || p->device == 0xa2dc ||
		p->device == 0xa2df);
}

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
	if (s.nearest == TOPO_SYS && is_bluefield(m, h))
		return (struct verdict){ TOPO_MANAGEMENT, "bluefield" };
	return by_distance(&s);
}

/* ---- machines on which no HCA shares a switch with a GPU ---- */

/* A topology file only has the name of a bond, mlx5_bond_0. */
static bool is_bond(const struct topo_hca *h)
{
	return h->kind == TOPO_HCA_BOND || strstr(h->name, "bond");
}

static uint32_t rate_of(const struct topo_hca *h)
{
	uint32_t rate = 0;

	for (size_t i = 0; i < h->n_ports; i++)
		rate = h->port[i].rate_mbps > rate ? h->port[i].rate_mbps : rate;
	return rate;
}

static bool role_is_plain(const struct topo_machine *m, const struct topo_hca *h)
{
	return !is_bluefield(m, h) && !is_bond(h);
}

/* Its role is a guess by distance only. */
static bool is_guess(const struct topo_hca *h)
{
	return h->kind != TOPO_HCA_SOFTWARE && h->pci != TOPO_NONE && topo_usable(h) &&
	       (h->role == TOPO_ROLE_UNKNOWN ||
		(h->role == TOPO_STORAGE && (!strcmp(h->rule, "phb") || !strcmp(h->rule, "node"))));
}

static size_t gpus_on(const struct topo_machine *m, int node)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_gpus; i++)
		n += topo_numa(m, m->gpu[i].pci) == node;
	return n;
}

/* The number of cards of that rate on a node, plain or others. */
static size_t cards_on(const struct topo_machine *m, int node, uint32_t rate, bool plain)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_hcas; i++) {
		const struct topo_hca *h = &m->hca[i];
		n += h->card == i && is_guess(h) && role_is_plain(m, h) == plain &&
		     rate_of(h) == rate && topo_numa(m, h->pci) == node;
	}
	return n;
}

/* A BlueField or bond that may be faster: it can be the compute network itself. */
static bool has_faster_rival(const struct topo_machine *m, uint32_t rate)
{
	for (size_t i = 0; i < m->n_hcas; i++) {
		const struct topo_hca *h = &m->hca[i];
		uint32_t other = rate_of(h);
		if (is_guess(h) && !role_is_plain(m, h) && (!other || other > rate))
			return true;
	}
	return false;
}

/* The plain cards of that rate are the rails: equally many on each node with GPUs, at least one for
 * each GPU there; and the BlueField cards and bonds are slower, or too few. */
static bool are_rails(const struct topo_machine *m, uint32_t rate)
{
	size_t each = 0;

	for (size_t i = 0; i < m->n_gpus; i++) {
		int node = topo_numa(m, m->gpu[i].pci);
		size_t gpus = gpus_on(m, node), cards = cards_on(m, node, rate, true);
		if (cards < gpus || cards_on(m, node, rate, false) >= gpus || (i && cards != each))
			return false;
		each = cards;
	}
	return each && !has_faster_rival(m, rate);
}

/* The rules rate, bluefield and bond of choose.h. */
static void judge_by_kind(struct topo_machine *m)
{
	uint32_t rate = 0;

	for (size_t i = 0; i < m->n_hcas; i++) {
		const struct topo_hca *h = &m->hca[i];
		if (h->role == TOPO_COMPUTE)
			return;
		if (is_guess(h) && role_is_plain(m, h) && rate_of(h) > rate)
			rate = rate_of(h);
	}
	if (!rate || !are_rails(m, rate))
		return;
	for (size_t i = 0; i < m->n_hcas; i++) {
		struct topo_hca *h = &m->hca[i];
		if (!is_guess(h))
			continue;
		if (role_is_plain(m, h) && rate_of(h) == rate && gpus_on(m, topo_numa(m, h->pci))) {
			h->role = TOPO_COMPUTE;
			h->rule = "rate";
		} else if (!role_is_plain(m, h) && h->role == TOPO_ROLE_UNKNOWN) {
			h->role = TOPO_MANAGEMENT;
			h->rule = is_bond(h) ? "bond" : "bluefield";
		}
	}
}

/* The rule slower of choose.h. */
static void judge_by_rate(struct topo_machine *m)
{
	uint32_t slowest = UINT32_MAX;

	for (size_t i = 0; i < m->n_hcas; i++) {
		const struct topo_hca *h = &m->hca[i];
		if (h->role == TOPO_COMPUTE && rate_of(h) < slowest)
			slowest = rate_of(h);
	}
	for (size_t i = 0; i < m->n_hcas && slowest != UINT32_MAX; i++) {
		struct topo_hca *h = &m->hca[i];
		if (h->role != TOPO_ROLE_UNKNOWN || h->cpu == TOPO_NONE || !rate_of(h) ||
		    rate_of(h) >= slowest)
			continue;
		h->role = TOPO_STORAGE;
		h->rule = "slower";
	}
}

/* ---- the operator ---- */

static bool is_meant(const struct topo_machine *m, const struct topo_hca *h, const char *key)
{
	const struct topo_pci *p = h->pci == TOPO_NONE ? NULL : &m->pci[h->pci];
	struct pci_addr a;
	char ids[16] = "";

	if (!strcmp(h->name, key))
		return true;
	if (p && p->has_ids)
		(void)snprintf(ids, sizeof(ids), "%04x:%04x", p->vendor, p->device);
	return p && ((!pci_parse(key, &a) && pci_same(a, p->addr)) || !strcmp(ids, key));
}

size_t topo_set_role(struct topo_machine *m, const char *key, enum topo_role role)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_hcas; i++) {
		if (!is_meant(m, &m->hca[i], key))
			continue;
		m->hca[i].role = role;
		m->hca[i].rule = "operator";
		n++;
	}
	return n;
}

size_t topo_set_direct(struct topo_machine *m, const char *key, uint32_t pci)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_hcas; i++) {
		if (!is_meant(m, &m->hca[i], key))
			continue;
		m->hca[i].direct = pci;
		m->hca[i].direct_proved = true;
		n++;
	}
	return n;
}

void topo_roles(struct topo_machine *m, const char *default_netdev)
{
	for (uint32_t i = 0; i < m->n_hcas; i++) {
		struct verdict v = judge_role(m, i, default_netdev);
		m->hca[i].role = v.role;
		m->hca[i].rule = v.rule;
	}
	judge_by_kind(m);
	judge_by_rate(m);
}

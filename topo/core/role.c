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
	const bool smi = h->kind == TOPO_HCA_SMI;
	bool efa = p->has_ids && p->vendor == VENDOR_AMAZON && (p->device & 0xfff0) == EFA;

	if (smi || h->kind == TOPO_HCA_NVSWITCH)
		return (struct verdict){ TOPO_MANAGEMENT, smi ? "smi" : "nvswitch" };
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

static bool is_by_infiniband(const struct topo_hca *h)
{
	return h->role == TOPO_COMPUTE && !strcmp(h->rule, "infiniband");
}

static bool role_is_plain(const struct topo_machine *m, const struct topo_hca *h)
{
	return !is_bluefield(m, h) && !is_bond(h);
}

/* Its role is a guess by distance only. ib: one for compute by its link layer, else another. */
static bool is_guess(const struct topo_hca *h, bool ib)
{
	if (!topo_usable(h) || h->pci == TOPO_NONE)
		return false;
	if (ib)
		return is_by_infiniband(h);
	return h->role == TOPO_ROLE_UNKNOWN ||
	       (h->role == TOPO_STORAGE && (!strcmp(h->rule, "phb") || !strcmp(h->rule, "node")));
}

static size_t gpus_on(const struct topo_machine *m, int node)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_gpus; i++)
		n += topo_numa(m, m->gpu[i].pci) == node;
	return n;
}

/* The guesses of one kind, and the rate of the fastest plain ones. */
struct guesses {
	const struct topo_machine *m;
	bool ib;
	uint32_t rate;
};

/* The number of cards of that rate on a node, plain or others. */
static size_t cards_on(const struct guesses *g, int node, bool plain)
{
	const struct topo_machine *m = g->m;
	size_t n = 0;

	for (size_t i = 0; i < m->n_hcas; i++) {
		const struct topo_hca *h = &m->hca[i];
		n += h->card == i && is_guess(h, g->ib) && role_is_plain(m, h) == plain &&
		     rate_of(h) == g->rate && topo_numa(m, h->pci) == node;
	}
	return n;
}

/* A BlueField or bond that may be faster: it can be the compute network itself. */
static bool has_faster_rival(const struct guesses *g)
{
	for (size_t i = 0; i < g->m->n_hcas; i++) {
		const struct topo_hca *h = &g->m->hca[i];
		uint32_t other = rate_of(h);
		if (is_guess(h, g->ib) && !role_is_plain(g->m, h) && (!other || other > g->rate))
			return true;
	}
	return false;
}

/* The plain cards of that rate are the rails: equally many on each node with GPUs, at least one for
 * each GPU there; and the BlueField cards and bonds are slower, or too few. */
static bool are_rails(const struct guesses *g)
{
	const struct topo_machine *m = g->m;
	size_t each = 0;

	for (size_t i = 0; i < m->n_gpus; i++) {
		int node = topo_numa(m, m->gpu[i].pci);
		size_t gpus = gpus_on(m, node), cards = cards_on(g, node, true);
		if (cards < gpus || cards_on(g, node, false) >= gpus || (i && cards != each))
			return false;
		each = cards;
	}
	return each && !has_faster_rival(g);
}

/* True if the fastest plain cards among the guesses are the rails; g->rate is theirs. */
static bool find_rails(struct guesses *g)
{
	for (size_t i = 0; i < g->m->n_hcas; i++) {
		const struct topo_hca *h = &g->m->hca[i];
		if (is_guess(h, g->ib) && role_is_plain(g->m, h) && rate_of(h) > g->rate)
			g->rate = rate_of(h);
	}
	return g->rate && are_rails(g);
}

static void set_role(struct topo_hca *h, enum topo_role role, const char *rule)
{
	h->role = role;
	h->rule = rule;
}

/* The rules rate, bluefield and bond of choose.h. */
static void judge_by_kind(struct topo_machine *m)
{
	struct guesses g = { .m = m };

	for (size_t i = 0; i < m->n_hcas; i++)
		if (m->hca[i].role == TOPO_COMPUTE)
			return;
	if (!find_rails(&g))
		return;
	for (size_t i = 0; i < m->n_hcas; i++) {
		struct topo_hca *h = &m->hca[i];
		if (!is_guess(h, false))
			continue;
		if (role_is_plain(m, h) && rate_of(h) == g.rate && gpus_on(m, topo_numa(m, h->pci)))
			set_role(h, TOPO_COMPUTE, "rate");
		else if (!role_is_plain(m, h) && h->role == TOPO_ROLE_UNKNOWN)
			set_role(h, TOPO_MANAGEMENT, is_bond(h) ? "bond" : "bluefield");
	}
}

/* ---- InfiniBand for storage ---- */

/* More than half: a switch may have lost its card, and a server may have a switch for one half of
 * its GPUs only. *rate: the fastest of the HCAs at the switches. */
static bool most_share_a_switch(const struct topo_machine *m, uint32_t *rate)
{
	struct topo_distance r;
	size_t n = 0;

	for (uint32_t g = 0; g < m->n_gpus; g++) {
		bool shares = false;
		for (uint32_t i = 0; i < m->n_hcas; i++) {
			const struct topo_hca *h = &m->hca[i];
			if (h->role != TOPO_COMPUTE || is_by_infiniband(h))
				continue;
			topo_distance_to_hca(m, g, i, &r);
			if (r.class > TOPO_PXB)
				continue;
			shares = true;
			*rate = rate_of(h) > *rate ? rate_of(h) : *rate;
		}
		n += shares;
	}
	return 2 * n > m->n_gpus;
}

/* The rules no-switch and slower of choose.h, of those that are for compute by infiniband. */
static void judge_infiniband(struct topo_machine *m)
{
	struct guesses g = { .m = m, .ib = true };
	bool any = false, apart, rails;
	uint32_t fastest = 0;

	for (size_t i = 0; i < m->n_hcas; i++)
		any = any || is_by_infiniband(&m->hca[i]);
	if (!any)
		return;
	apart = most_share_a_switch(m, &fastest);
	rails = !apart && find_rails(&g);
	for (size_t i = 0; i < m->n_hcas; i++) {
		struct topo_hca *h = &m->hca[i];
		if (!is_by_infiniband(h))
			continue;
		if (apart && rate_of(h) <= fastest)
			set_role(h, TOPO_STORAGE, "no-switch");
		else if (rails && !role_is_plain(m, h))
			set_role(h, TOPO_MANAGEMENT, is_bond(h) ? "bond" : "bluefield");
		else if (rails && rate_of(h) && rate_of(h) < g.rate)
			set_role(h, TOPO_STORAGE, "slower");
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
	judge_infiniband(m);
	judge_by_kind(m);
	judge_by_rate(m);
}

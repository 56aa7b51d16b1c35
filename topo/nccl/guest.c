// SPDX-License-Identifier: Apache-2.0
/* Writes the topology file for a virtual machine, from the tree of its host. */
#include <string.h>

#include "topo/nccl/system.h"
#include "topo/core/pci_switch.h"
#include "topo/nccl/text.h"
#include "topo/nccl/write.h"

struct guest {
	struct xml_text *t;
	const struct topo_machine *host, *guest;
	const struct topo_guest_pair *map;
	uint32_t n;
	struct nccl_xml v; /* of the host: the functions of the map and what is above them */
	uint32_t *at;      /* of each pair: its item */
	bool *merged;      /* of each item: one switch with the item above */
	bool *done;        /* of each item: it is written */
	uint32_t switches; /* how many there are already */
};

static void guest_clear(struct guest *g)
{
	nccl_xml_clear(&g->v);
	free(g->at);
	free(g->merged);
	free(g->done);
}
#define auto_guest auto_clean(guest_clear)

int topo_guest_pair_parse(const char *text, struct topo_guest_pair *out)
{
	struct slice rest = { text, strlen(text) }, guest;
	char first[PCI_STR_LEN], second[PCI_STR_LEN];
	struct topo_guest_pair p;

	if (!slice_next(&rest, '=', &guest) || !rest.p || slice_copy(guest, first, sizeof(first)) ||
	    slice_copy(rest, second, sizeof(second)) || pci_parse(first, &p.guest) ||
	    pci_parse(second, &p.host))
		return -1;
	*out = p;
	return 0;
}

/* ---- the host's part ---- */

static int guest_alloc(struct guest *g, struct err *e)
{
	size_t items = 2 * g->host->n_pci + g->host->n_roots + 1;

	g->v.item = calloc(items, sizeof(*g->v.item));
	g->v.net = calloc(g->n + 1, sizeof(*g->v.net));
	g->v.item_of = malloc((g->host->n_pci + 1) * sizeof(*g->v.item_of));
	g->at = calloc(g->n + 1, sizeof(*g->at));
	g->merged = calloc(items, sizeof(*g->merged));
	g->done = calloc(items, sizeof(*g->done));
	if (!g->v.item || !g->v.net || !g->v.item_of || !g->at || !g->merged || !g->done)
		return err_nomem(e);
	memset(g->v.item_of, 0xff, (g->host->n_pci + 1) * sizeof(*g->v.item_of));
	return 0;
}

static int guest_find_functions(struct guest *g, struct err *e)
{
	char name[PCI_STR_LEN];

	for (uint32_t i = 0; i < g->n; i++) {
		g->at[i] = topo_find_pci(g->host, g->map[i].host);
		if (g->at[i] == TOPO_NONE)
			return err_set(e, ERR_NOTFOUND, 0, "the host has no PCI function %s",
				       pci_format(g->map[i].host, name));
		/* nccl_xml_from_sys() starts at nets */
		g->v.net[g->v.n_nets++] = (struct nccl_xml_net){ .item = g->at[i] };
	}
	return 0;
}

static int host_part(struct guest *g, struct err *e)
{
	struct nccl_opts o = NCCL_OPTS_DEFAULT;

	if (guest_find_functions(g, e))
		return -1;
	if (!nccl_is_tree(g->host)) {
		struct topo_machine bare = *g->host;
		bare.n_hcas = 0;
		nccl_xml_from_file(&bare, NULL, &o, &g->v);
	} else if (nccl_xml_from_sys(g->host, &o, &g->v, e)) {
		return -1;
	}
	for (uint32_t i = 0; i < g->n; i++)
		g->at[i] = g->v.item_of[g->at[i]];
	for (uint32_t i = 0; i < g->v.n_items; i++) {
		const struct nccl_xml_node *it = &g->v.item[i];
		if (it->pci == TOPO_NONE || g->v.item[it->parent].pci == TOPO_NONE)
			continue;
		uint64_t upper = topo_pci_ids(&g->host->pci[g->v.item[it->parent].pci]);
		g->merged[i] = !g->merged[it->parent] &&
			       topo_one_chip(upper, topo_pci_ids(&g->host->pci[it->pci]));
	}
	return 0;
}

/* ---- NUMA nodes ---- */

static uint32_t top_of(const struct guest *g, uint32_t item)
{
	while (g->v.item[item].parent != TOPO_NONE)
		item = g->v.item[item].parent;
	return item;
}

/* The NUMA node of a function in the guest; -1: not known. */
static int guest_numa(const struct guest *g, uint32_t pair)
{
	uint32_t pci = topo_find_pci(g->guest, g->map[pair].guest);

	return pci == TOPO_NONE ? -1 : g->guest->pci[pci].numa;
}

/* The guest's node that replaces a node of the host. */
static uint32_t node_for(const struct guest *g, uint32_t top)
{
	uint32_t before = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		int numa = top_of(g, g->at[i]) == top ? guest_numa(g, i) : -1;
		for (uint32_t cpu = 0; numa >= 0 && cpu < g->guest->n_cpus; cpu++) {
			if (g->guest->cpu[cpu].numa == numa)
				return cpu;
		}
	}
	for (uint32_t i = 0; i < g->v.n_items; i++)
		before += g->v.item[i].pci == TOPO_NONE && g->v.item[i].numa < g->v.item[top].numa;
	return before % (uint32_t)g->guest->n_cpus;
}

/* ---- writing ---- */

/* The element directly below `parent` and above a pair's function; TOPO_NONE: the function is not
 * below parent. Switches that are merged into another one are skipped. */
static uint32_t next_below(const struct guest *g, uint32_t parent, uint32_t pair)
{
	uint32_t below = TOPO_NONE;

	for (uint32_t i = g->at[pair]; i != parent; i = g->v.item[i].parent) {
		if (g->v.item[i].parent == TOPO_NONE)
			return TOPO_NONE;
		if (i == g->at[pair] || !g->merged[i])
			below = i;
	}
	return below;
}

/* NCCL does not look for a link that a file has. */
static const struct nccl_opts newest = NCCL_OPTS_DEFAULT;

static void write_function(struct guest *g, uint32_t pair)
{
	uint32_t pci = g->v.item[g->at[pair]].pci;
	const struct topo_pci *p = &g->host->pci[pci];
	/* a VF has no link of its own: use that of its PF */
	uint32_t card = p->physfn != TOPO_NONE && !p->max.speed ? p->physfn : pci;

	xml_write_pci(g->t, p, nccl_pcie_link(g->host, &newest, card), g->map[pair].guest, true);
	xml_close(g->t, "pci");
	g->t->elements += 3;
}

/* Invented addresses begin at the last bus of the last domain and go down. */
static void write_switch(struct guest *g, uint32_t item)
{
	uint32_t pci = g->v.item[item].pci, n = g->switches++;
	struct pci_addr a = { 0xffff, (uint8_t)(0xff - n / 31), (uint8_t)(1 + n % 31), 0 };

	xml_write_pci(g->t, &g->host->pci[pci], nccl_pcie_link(g->host, &newest, pci), a, false);
}

static void write_below(struct guest *g, uint32_t parent)
{
	for (uint32_t i = 0; i < g->n && !g->t->text.failed; i++) {
		uint32_t item = next_below(g, parent, i);
		if (item == TOPO_NONE || (item != g->at[i] && g->done[item]))
			continue;
		g->done[item] = true;
		if (item == g->at[i]) {
			write_function(g, i);
			continue;
		}
		write_switch(g, item);
		write_below(g, item);
		xml_close(g->t, "pci");
	}
}

static bool guest_is_used(const struct guest *g, uint32_t top)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (top_of(g, g->at[i]) == top)
			return true;
	}
	return false;
}

static void guest_write_node(struct guest *g, uint32_t cpu)
{
	bool open = false;

	for (uint32_t i = 0; i < g->v.n_items; i++) {
		if (g->v.item[i].pci != TOPO_NONE || !guest_is_used(g, i) || node_for(g, i) != cpu)
			continue;
		if (!open)
			xml_write_cpu(g->t, g->guest->cpu[cpu].numa, &g->guest->cpu[cpu]);
		open = true;
		write_below(g, i);
	}
	if (open)
		xml_close(g->t, "cpu");
}

/* NCCL replaces the device number of a NIC by 00, and would not find this one. */
static void warn_paths(const struct guest *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		const struct topo_pci *p = &g->host->pci[g->v.item[g->at[i]].pci];
		if (g->map[i].guest.dev && p->has_class && p->class_code >> 16 == 0x02) {
			xml_comment(g->t, "set NCCL_IB_MERGE_VFS=0 with this file");
			return;
		}
	}
}

/* One node with the host's kind of CPU, for a guest that is not known. */
static void plain_guest(const struct topo_machine *host, struct topo_cpu *cpu,
			struct topo_machine *out)
{
	*cpu = (struct topo_cpu){ .family = -1, .model = -1 };
	if (host->n_cpus)
		*cpu = host->cpu[0];
	cpu->numa = 0;
	*cpu->affinity = '\0';
	*out = (struct topo_machine){ .cpu = cpu, .n_cpus = 1 };
}

int topo_xml_write_guest(const struct topo_machine *host, const struct topo_guest *guest,
			 char **out, struct err *e)
{
	bool told = guest->machine && guest->machine->n_cpus;
	struct topo_machine plain;
	struct topo_cpu cpu;
	auto_xml_text struct xml_text t = { .skeleton = true };

	if (guest->n > XML_MAX_ELEMENTS)
		return err_set(e, ERR_FIELD, 0, "%zu functions: NCCL takes %d elements in all",
			       guest->n, XML_MAX_ELEMENTS);
	plain_guest(host, &cpu, &plain);
	auto_guest struct guest g = { .t = &t,
				      .host = host,
				      .guest = told ? guest->machine : &plain,
				      .map = guest->map,
				      .n = (uint32_t)guest->n };
	if (guest_alloc(&g, e) || host_part(&g, e))
		return -1;
	xml_write_system(&t);
	warn_paths(&g);
	for (uint32_t i = 0; i < g.guest->n_cpus; i++)
		guest_write_node(&g, i);
	xml_close(&t, "system");
	return xml_text_done(&t, out, e);
}

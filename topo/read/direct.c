// SPDX-License-Identifier: Apache-2.0
/*
 * Data Direct: a ConnectX-8 has a second function, 15b3:2100, nearer to a GPU, through which it
 * reads and writes the memory of that GPU. The kernel pairs it with an RDMA device by a serial
 * number that only the firmware tells (drivers/infiniband/hw/mlx5/data_direct.c), and libmlx5 asks
 * the kernel (mlx5dv_get_data_direct_sysfs_path). From sysfs the pairs are probable: on each NUMA
 * node the functions and the cards must be equally many, and have the same order.
 */
#include "topo/core/distance.h"
#include "topo/read/tree.h"

#define VENDOR_MELLANOX 0x15b3
#define CONNECTX_8      0x1023
#define DATA_DIRECT     0x2100

static bool is_device(const struct topo_machine *m, uint32_t pci, uint16_t device)
{
	const struct topo_pci *p = pci == TOPO_NONE ? NULL : &m->pci[pci];

	return p && p->has_ids && p->vendor == VENDOR_MELLANOX && p->device == device;
}

/* Data Direct function number n of a node, by address; TOPO_NONE: there are not as many. */
static uint32_t nth_function(const struct tree *t, int node, size_t n)
{
	for (size_t i = 0; i < t->n_places; i++) {
		uint32_t pci = t->place[i].pci;
		if (is_device(t->m, pci, DATA_DIRECT) && topo_numa(t->m, pci) == node && !n--)
			return pci;
	}
	return TOPO_NONE;
}

/* A PF of a ConnectX-8. HCAs are sorted by address. */
static bool is_candidate(const struct topo_machine *m, size_t hca, int node)
{
	const struct topo_hca *h = &m->hca[hca];

	return (h->kind == TOPO_HCA_PF || h->kind == TOPO_HCA_BOND) &&
	       is_device(m, h->pci, CONNECTX_8) && topo_numa(m, h->pci) == node;
}

/* Two ports of a card share its function. */
static void pair_node(struct tree *t, int node)
{
	struct topo_machine *m = t->m;
	size_t cards = 0;

	for (size_t i = 0; i < m->n_hcas; i++)
		cards += is_candidate(m, i, node) && m->hca[i].card == i;
	if (!cards || nth_function(t, node, cards - 1) == TOPO_NONE ||
	    nth_function(t, node, cards) != TOPO_NONE)
		return;
	cards = 0;
	for (size_t i = 0; i < m->n_hcas; i++) {
		if (!is_candidate(m, i, node))
			continue;
		m->hca[i].direct = m->hca[i].card == i ? nth_function(t, node, cards++)
						       : m->hca[m->hca[i].card].direct;
	}
}

void tree_data_direct(struct tree *t)
{
	pair_node(t, -1);
	for (size_t i = 0; i < t->m->n_cpus; i++) {
		if (t->m->cpu[i].numa >= 0)
			pair_node(t, t->m->cpu[i].numa);
	}
}

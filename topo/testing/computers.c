// SPDX-License-Identifier: Apache-2.0
/* The computers whose matrices are published. */
#include <stdio.h>

#include "topo/testing/fixture.h"

static uint32_t named(struct fixture *fx, uint32_t below, const char *family, int n)
{
	char name[TOPO_NAME_LEN];

	(void)snprintf(name, sizeof(name), "mlx5_%s%d", family, n);
	return fixture_hca(fx, below, name);
}

/* Two ports of one card that no GPU shares a switch with. */
static void dual(struct fixture *fx, int first)
{
	char name[TOPO_NAME_LEN];
	uint32_t hca = named(fx, fixture_slot(fx, fixture_port(fx), &fixture_plain), "", first);

	(void)snprintf(name, sizeof(name), "mlx5_%d", first + 1);
	uint32_t other = fixture_hca_fn(fx, hca, 1, name);
	fx->m->hca[hca].guid = fx->m->hca[other].guid = 0x5a00 + (uint64_t)first;
}

void fixture_dgx_a100(struct topo_machine *m)
{
	static const int node[] = { 3, 1, 7, 5 };
	struct fixture fx = { .m = m };

	for (int i = 0; i < 4; i++) {
		fixture_root(&fx, node[i]);
		uint32_t up = fixture_switch(&fx, fixture_port(&fx), &fixture_gen4);
		uint32_t left = fixture_slot(&fx, fixture_down(&fx, up), &fixture_gen4);
		uint32_t middle = fixture_switch(&fx, fixture_down(&fx, up), &fixture_gen4);
		uint32_t right = fixture_slot(&fx, fixture_down(&fx, up), &fixture_gen4);
		(void)fixture_gpu(&fx, fixture_slot(&fx, left, &fixture_dgx));
		(void)named(&fx, fixture_down(&fx, middle), "", 2 * i);
		(void)fixture_gpu(&fx, fixture_slot(&fx, fixture_down(&fx, middle), &fixture_dgx));
		(void)named(&fx, right, "", 2 * i + 1);
	}
	fixture_root(&fx, 4);
	dual(&fx, 8);
	fixture_done(&fx);
}

void fixture_dgx_h100(struct topo_machine *m)
{
	static const int hca[] = { 0, 3, 4, 5, 6, 9, 10, 11 };
	struct fixture fx = { .m = m };

	for (int i = 0; i < 8; i++) {
		fixture_root(&fx, i / 4);
		uint32_t up = fixture_switch(&fx, fixture_port(&fx), &fixture_gen5_upper);
		(void)fixture_gpu(&fx,
				  fixture_slot(&fx, fixture_down(&fx, up), &fixture_gen5_lower));
		uint32_t below = fixture_slot(&fx, fixture_down(&fx, up), &fixture_gen5_lower);
		uint32_t h = named(&fx, below, "", hca[i]);
		m->pci[m->hca[h].pci].numa = -1;
		if (i % 4 == 0) {
			fixture_root(&fx, -1);
			dual(&fx, hca[i] + 1);
		}
	}
	/* what is published has SYS between the sockets' own: the firmware told no node of any
	 * port above an HCA */
	for (size_t i = 0; i < m->n_pci; i++) {
		if (m->pci[i].kind != TOPO_ENDPOINT)
			m->pci[i].numa = -1;
	}
	for (size_t i = 0; i < m->n_roots; i++)
		m->root[i].cpu = TOPO_NONE;
	fixture_done(&fx);
}

void fixture_hgx_h200(struct topo_machine *m)
{
	static const int hca[] = { 0, 3, 4, 5, 6, 7, 8, 9 };
	struct fixture fx = { .m = m };

	for (int i = 0; i < 8; i++) {
		fixture_root(&fx, i / 4);
		uint32_t up = fixture_switch(&fx, fixture_port(&fx), &fixture_gen5_upper);
		(void)fixture_gpu(&fx, fixture_down(&fx, up));
		(void)named(&fx, fixture_down(&fx, up), "", hca[i]);
	}
	fixture_root(&fx, 0);
	uint32_t bond = named(&fx, fixture_port(&fx), "bond_", 0);
	uint32_t other = fixture_hca_fn(&fx, bond, 1, "other");
	m->hca[bond].kind = TOPO_HCA_BOND;
	m->hca[bond].second = m->hca[other].pci;
	m->hca[bond].port[0].layer = TOPO_ETHERNET;
	free(m->hca[other].port);
	m->n_hcas--;
	fixture_done(&fx);
}

void fixture_pcie4(struct topo_machine *m)
{
	struct fixture fx = { .m = m };

	for (int i = 0; i < 4; i++) {
		fixture_root(&fx, i);
		(void)fixture_gpu(&fx, fixture_port(&fx));
	}
	(void)named(&fx, fixture_port(&fx), "", 0);
	fixture_done(&fx);
}

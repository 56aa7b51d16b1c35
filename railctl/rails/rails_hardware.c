/* SPDX-License-Identifier: Apache-2.0 */
/* rails_hardware.c: the rail number and the HCA of each interface of a pod. */
#include <stdio.h>
#include <stdlib.h>

#include "railctl/rails/rails.h"
#include "railctl/topo/topo.h"
#include "rdma/device/device.h"
#include "topo/rails/roles.h"
#include "topo/read/read.h"

struct rails_numbers {
	struct topo t;
};

void rails_numbers_free(struct rails_numbers *n)
{
	if (n)
		topo_clear(&n->t);
	free(n);
}

static int read_numbers(const struct ctx *ctx, struct topo *t)
{
	const struct topo_read_opts o = { 0 };
	char ifname[IFNAME_LEN];
	struct err ignored;

	if (topo_read_sysfs(ctx->sysfs, ctx->proc, &o, &t->m, &ignored))
		return -1;
	topo_default_netdev(ctx->proc, true, ifname);
	topo_roles(&t->m, ifname);
	return topo_operator_roles(ctx, &t->m, &ignored) ||
			       topo_choose(&t->m, NULL, &t->node, &ignored)
		       ? -1
		       : 0;
}

struct rails_numbers *rails_numbers_read(const struct ctx *ctx)
{
	auto_rails_numbers struct rails_numbers *n = calloc(1, sizeof(*n));

	return n && read_numbers(ctx, &n->t) == 0 ? TAKE_PTR(n) : NULL;
}

/* The rail of the card that has this function. */
static int number_of(const struct rails_numbers *n, const char *pci)
{
	struct pci_addr a;
	uint32_t at;

	if (!n || pci_parse(pci, &a))
		return RAILS_UNKNOWN;
	at = topo_find_pci(&n->t.m, a);
	for (size_t i = 0; at != TOPO_NONE && i < n->t.node.n_hcas; i++) {
		if (n->t.m.hca[i].pci == at && n->t.node.rail[i] != TOPO_NONE)
			return (int)n->t.node.rail[i];
	}
	return RAILS_UNKNOWN;
}

/* The name in the record, if any, is that in the pod, where the device is in mode exclusive. */
static void find_device(const struct rdma_view *v, const char *ifname, struct rails_hardware *hw)
{
	struct rdma_serving s = { .pci = "" };
	struct err ignored;

	if (rdma_of_netdev(v, ifname, &s, &ignored) == 0)
		(void)snprintf(hw->hca, sizeof(hw->hca), "%s", s.link.name);
	(void)snprintf(hw->pci, sizeof(hw->pci), "%s", s.pci);
}

int rails_read_hardware(const struct rails_numbers *numbers, const struct inspect_from *from,
			struct rails_pod *p, struct err *e)
{
	auto_nl struct nl *host_nl = NULL, *pod_nl = NULL, *rdma = NULL;
	struct err ignored;

	p->hw = calloc(p->s.n_rails + 1, sizeof(*p->hw));
	if (!p->hw)
		return err_nomem(e);
	if (nl_open(&host_nl, e) || nl_open_in(from->pod, from->host, &pod_nl, e))
		return -1;

	bool has_rdma = nl_rdma_open(&rdma, &ignored) == 0;
	const struct rdma_view v = { from->ctx, from->host, from->pod, host_nl, pod_nl, rdma };

	for (size_t i = 0; i < p->s.n_rails; i++) {
		p->hw[i].rail = RAILS_UNKNOWN;
		if (has_rdma && p->s.rail[i].link.ifindex)
			find_device(&v, p->s.rail[i].link.name, &p->hw[i]);
		p->hw[i].rail = number_of(numbers, p->hw[i].pci);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* rails_hardware.c: the rail number and the HCA of each interface of a pod. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "railctl/attachments/rails.h"
#include "rdma/device/device.h"

static int number_of_interface(const struct rail_list *l, const char *ifname)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->rail[i].ifname, ifname) == 0)
			return (int)l->rail[i].number;
	return RAILS_UNKNOWN;
}

/* The rail of the master or, for a device that was moved, of the function or its PF. */
static int rails_hardware_number_of(const struct rail_list *l, const struct ctx *ctx,
				    const char *master, const char *pci)
{
	char ifname[IFNAME_LEN], pf[PCI_STR_LEN];
	struct err ignored;
	int number = *master ? number_of_interface(l, master) : RAILS_UNKNOWN;

	if (number != RAILS_UNKNOWN || !l->n || !*pci)
		return number;
	if (pci_physfn(ctx->sysfs, pci, pf, &ignored) == 0)
		pci = pf;
	return pci_pf_netdev(ctx->sysfs, pci, ifname, &ignored) ? RAILS_UNKNOWN
								: number_of_interface(l, ifname);
}

/* The name in the record, if any, is that in the pod, where the device is in mode exclusive. */
static void rails_hardware_find_device(const struct rdma_view *v, const char *ifname,
				       struct rails_hardware *hw)
{
	struct rdma_serving s = { .pci = "" };
	struct err ignored;

	if (rdma_of_netdev(v, ifname, &s, &ignored) == 0)
		(void)snprintf(hw->hca, sizeof(hw->hca), "%s", s.link.name);
	(void)snprintf(hw->pci, sizeof(hw->pci), "%s", s.pci);
}

int rails_read_hardware(const struct rail_list *numbers, const struct inspect_from *from,
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
			rails_hardware_find_device(&v, p->s.rail[i].link.name, &p->hw[i]);
		p->hw[i].rail = rails_hardware_number_of(numbers, from->ctx, p->s.rail[i].master,
							 p->hw[i].pci);
	}
	return 0;
}

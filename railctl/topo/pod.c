/* SPDX-License-Identifier: Apache-2.0 */
/* pod.c: the HCAs of a pod, from its interfaces, addresses and character devices. */
#include "railctl/topo/pod.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "rdma/inventory/inventory.h"

/* ---- which devices are whose ---- */

static bool pod_is_here(const struct inv_device *d)
{
	for (size_t p = 0; p < d->n_ports; p++) {
		if (d->port[p].ifindex)
			return true;
		for (size_t g = 0; g < d->port[p].n_gids; g++)
			if (d->port[p].gid[g].here)
				return true;
	}
	return false;
}

static bool is_ethernet(const struct inv_device *d)
{
	for (size_t p = 0; p < d->n_ports; p++)
		if (d->port[p].layer == IB_LAYER_ETHERNET)
			return true;
	return false;
}

static bool may_open(const struct probe_data *f, size_t i)
{
	enum file_access a = f->device[i].uverbs.access;

	return a == ACCESS_OK || a == ACCESS_THERE;
}

/* The devices whose character device the pod has, if some are missing. */
static bool by_files(const struct probe_data *f, bool *own)
{
	bool some = false, missing = false;

	for (size_t i = 0; i < f->inventory->n_devices; i++) {
		own[i] = may_open(f, i);
		some |= own[i];
		missing |= f->device[i].uverbs.access == ACCESS_MISSING;
	}
	return some && missing;
}

bool topo_pod_own(const struct probe_data *f, bool first_netns, bool *own)
{
	const struct rdma_inventory *v = f->inventory;
	bool any_here = false, others = false;

	if (first_netns)
		return by_files(f, own);
	for (size_t i = 0; i < v->n_devices; i++)
		any_here |= pod_is_here(&v->device[i]);
	for (size_t i = 0; i < v->n_devices; i++) {
		const struct inv_device *d = &v->device[i];

		own[i] = pod_is_here(d) || ((!any_here || !is_ethernet(d)) && may_open(f, i));
		others |= !own[i];
	}
	return others;
}

/* ---- reading ---- */

/* The kernel shows its global settings only in the first network namespace. */
static bool is_first_netns(const struct ctx *ctx)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/sys/net/core/netdev_budget", ctx->proc);
	return access(path, F_OK) == 0;
}

static bool pod_is_own(const struct rdma_inventory *v, const bool *own, const char *name)
{
	for (size_t i = 0; i < v->n_devices; i++)
		if (!strcmp(v->device[i].link.name, name))
			return own[i];
	return false;
}

static int to_mask(const struct probe_data *f, bool first, const struct topo_machine *m, bool **out,
		   struct err *e)
{
	auto_free bool *own = calloc(f->inventory->n_devices + 1, sizeof(*own));
	auto_free bool *mask = calloc(m->n_hcas + 1, sizeof(*mask));

	if (!own || !mask)
		return err_nomem(e);
	*out = NULL;
	if (!topo_pod_own(f, first, own))
		return 0;
	for (size_t h = 0; h < m->n_hcas; h++)
		mask[h] = pod_is_own(f->inventory, own, m->hca[h].name);
	*out = TAKE_PTR(mask);
	return 0;
}

int topo_pod_hcas(const struct topo_who *w, const struct topo_machine *m, bool **out, struct err *e)
{
	auto_rdma_inventory struct rdma_inventory v = { 0 };
	auto_rails struct rails rails = { 0 };
	auto_probe_data struct probe_data findings = { 0 };
	const struct probe_view view = { .ctx = w->ctx, .pid = w->pid };

	if (rdma_inventory_read(w->ctx, &v, e) || rails_find(&v, &rails, e) ||
	    probe_data_read(&view, &v, &rails, &findings, e))
		return -1;
	return to_mask(&findings, is_first_netns(w->ctx), m, out, e);
}

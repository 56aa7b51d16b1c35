/* SPDX-License-Identifier: Apache-2.0 */
/* guid.c: reads and restores the GUIDs of a VF, and binds its driver again. */
#include "sriov/vf/guid.h"

#include <errno.h>
#include <stdio.h>

#include "lib/device/rdma_monitor.h"
#include "lib/device/sysfs.h"
#include "lib/rdma/bus.h"
#include "lib/rdma/lock.h"

/* milliseconds; nothing announces an interface to this monitor, so look without events too */
#define LOOK_EVERY_MS 50

struct vf_guids vf_own_guids(const struct ctx *ctx, const char *vf, struct hw_addr addr)
{
	struct vf_guids own = { false, GUID_ZERO, GUID_ZERO };
	char name[PCI_RDMA_LEN], path[256], text[64];
	struct err none;

	if (!hw_addr_guid(addr, &own.port) || pci_rdma_device(ctx->sysfs, vf, name, &none))
		return own;
	own.has_rdma = true;
	(void)snprintf(path, sizeof(path), "bus/pci/devices/%s/infiniband/%s/node_guid", vf, name);
	if (sysfs_read(ctx->sysfs, path, text, sizeof(text), &none) || guid_parse(text, &own.node))
		own.node = GUID_ZERO;
	return own;
}

void vf_told_guids(struct vf_info *pf_side, const struct vf_guids *own, struct hw_addr addr)
{
	if (!(pf_side->has & VF_GUIDS) && addr.len != HW_ADDR_MAX)
		return;
	if (!(pf_side->has & VF_NODE_GUID) || !guid_is_usable(pf_side->node_guid))
		pf_side->node_guid = own->node;
	if (!(pf_side->has & VF_PORT_GUID) || !guid_is_usable(pf_side->port_guid))
		pf_side->port_guid = own->port;
	pf_side->has |= VF_GUIDS;
}

/* ---- rebinding ---- */

/* 1: all is there; 0: not yet. */
static int guid_is_complete(const struct ctx *ctx, struct nl *rdma_nl, const char *vf,
			    struct err *e)
{
	char name[IFNAME_LEN];
	struct rdma_link d;
	struct err why;

	if (pci_vf_netdev(ctx->sysfs, vf, name, &why) == 0 &&
	    (!rdma_nl || rdma_of_bus(ctx->sysfs, rdma_nl, vf, &d, &why) == 0))
		return 1;
	if (why.code == ERR_NOTFOUND)
		return 0;
	return err_pass(e, &why);
}

static int await(const struct ctx *ctx, struct nl *rdma_nl, const char *vf, struct rdma_monitor *m,
		 struct err *e)
{
	int64_t deadline = ctx_mono_ms() + VF_REBIND_MS;

	for (;;) {
		int64_t next = ctx_mono_ms() + LOOK_EVERY_MS;
		int rc = guid_is_complete(ctx, rdma_nl, vf, e);

		if (rc)
			return rc < 0 ? -1 : 0;
		if (ctx_mono_ms() >= deadline)
			break;
		if (nl_rdma_monitor_wait(m, next < deadline ? next : deadline, e) < 0)
			return -1;
	}
	err_set(e, ERR_AGAIN, 0, "VF %s: %s did not appear within %d s after its driver was bound",
		vf, rdma_nl ? "its interface or its RDMA device" : "its interface",
		VF_REBIND_MS / 1000);
	return err_hint(e, "are ib_ipoib and the driver's RDMA module loaded? the kernel's log may "
			   "say more");
}

int vf_rebind(const struct ctx *ctx, const char *vf, const char *driver, bool rdma, struct err *e)
{
	auto_rdma_monitor struct rdma_monitor *m = NULL;
	auto_nl struct nl *rdma_nl = NULL;

	if (nl_rdma_monitor_open(&m, e) || (rdma && nl_rdma_open(&rdma_nl, e)) ||
	    pci_rebind(ctx->sysfs, vf, driver, e))
		return -1;
	return await(ctx, rdma_nl, vf, m, e);
}

/* ---- restoring ---- */

/* A GUID that was unknown, or that no port can have, becomes all ones: the PF assigns none. */
static struct guid guid_before(bool known, struct guid g)
{
	return known && guid_is_usable(g) ? g : GUID_ALL_ONE;
}

static struct vf_info guids_before(const struct vf_entry *x)
{
	const struct vf_info *s = &x->base.pf_side;

	return (struct vf_info){
		.has = VF_GUIDS,
		.node_guid = guid_before(s->has & VF_NODE_GUID, s->node_guid),
		.port_guid = guid_before(s->has & VF_PORT_GUID, s->port_guid),
	};
}

/* Sets what the PF shall know, unless the PF knows none and the VF has what it had. */
static int guid_set_guids(const struct vf_guid_restore *g, const struct vf_info *was,
			  const struct vf_guids *own, struct err *e)
{
	static const enum vf_attr each[] = { VF_NODE_GUID, VF_PORT_GUID };
	const struct vf_ref vf = { g->place->pf_ifindex, g->place->index };
	struct vf_info is, one = *was;

	if (nl_vf_get(g->nl, vf, &is, e))
		return -1;
	if (is.has & VF_GUIDS)
		vf_told_guids(&is, own, g->addr);
	for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
		one.has = each[i];
		if ((!(is.has & each[i]) || vf_differing(&is, &one)) &&
		    nl_vf_set(g->nl, vf, was, each[i], e) && e->errnum != EOPNOTSUPP)
			return -1;
	}
	return 0;
}

static bool has_other(struct guid own, struct guid was)
{
	return guid_is_usable(own) && !guid_equal(own, was);
}

int vf_restore_guids(struct vf_guid_restore *g, struct err *e)
{
	const struct vf_guids own = vf_own_guids(g->ctx, g->x->vf, g->addr);
	const struct vf_info was = guids_before(g->x);
	/* Killed between unbinding and binding: the driver that it had is on record. */
	const char *driver = *g->place->driver ? g->place->driver : g->x->driver;
	char name[PCI_RDMA_LEN];
	struct err none;

	if ((g->x->to_restore & VF_GUIDS) && guid_set_guids(g, &was, &own, e))
		return -1;
	if (!*driver || vf_has_userspace_driver(g->place) ||
	    (*g->place->driver && !g->lost && !has_other(own.node, was.node_guid) &&
	     !has_other(own.port, was.port_guid)))
		return 0;
	bool rdma = pci_rdma_device(g->ctx->sysfs, g->x->vf, name, &none) == 0;
	auto_fd int lock = rdma_lock(g->ctx, RDMA_LOCK_MS, e);
	if (lock < 0)
		return -1;
	log_debug(&g->ctx->log, "VF %s: binding driver %s again for its GUIDs", g->x->vf, driver);
	g->rebound = true;
	if (vf_rebind(g->ctx, g->x->vf, driver, rdma, e) == 0)
		return 0;
	g->unfinished = *g->place->driver;
	return -1;
}

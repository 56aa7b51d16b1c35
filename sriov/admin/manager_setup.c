/* SPDX-License-Identifier: Apache-2.0 */
/* manager_setup.c: gives new VFs their MACs and drivers, and records their baselines. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/backoff.h"
#include "sriov/admin/manager_priv.h"

#define DRIVER_MS 10000 /* udev loads the module when it receives the event of the VF */
#define NETDEV_MS 10000

struct fresh {
	char vf[PCI_STR_LEN];
	int lock;
	bool is; /* it has no owner and is not set up yet */
	int ifindex;
	char driver[PCI_DRIVER_LEN]; /* "": none yet */
};

static void fresh_clear(const struct fresh *f)
{
	base_close_fd(&f->lock);
}
#define auto_fresh auto_clean(fresh_clear)

static int take_fresh(const struct vf_setup *s, uint32_t index, struct fresh *f, struct err *e)
{
	auto_vf_view struct vf_view v = { 0 };
	const struct ctx *ctx = s->m->ctx;

	if (pci_vf_addr(ctx->sysfs, s->pf, index, f->vf, e))
		return -1;
	f->lock = vf_state_lock(ctx, f->vf, VF_STATE_LOCK_MS, e);
	if (f->lock < 0 || inventory_vf(ctx, s->m->nl, f->vf, &v, e))
		return -1;
	f->is = v.use == VF_FREE && !*v.entry.vf;
	f->ifindex = v.netdev.ifindex;
	memcpy(f->driver, v.pci.driver, sizeof(f->driver));
	return 0;
}

/* ---- MACs ---- */

static int give_mac(const struct vf_setup *s, uint32_t index, struct err *e)
{
	auto_fresh struct fresh f = { .lock = -1 };
	struct vf_info want = { .has = VF_MAC };

	if (take_fresh(s, index, &f, e))
		return -1;
	if (!f.is)
		return 0;
	memcpy(want.mac, s->pf_state->mac[index], MAC_LEN);
	return vf_set_macs(&(struct vf_macs){ .nl = s->m->nl,
					      .vf = { s->pf_ifindex, index },
					      .pf_side = &want,
					      .ifindex = f.ifindex,
					      .mac = want.mac },
			   e);
}

int manager_give_macs(const struct vf_setup *s, struct err *e)
{
	struct err why;

	for (uint32_t i = 0; i < s->n && i < s->pf_state->n; i++) {
		if (give_mac(s, i, &why) == 0)
			continue;
		if (why.errnum == EOPNOTSUPP) {
			manager_report(s->m, "%s: its driver cannot set MACs of VFs", s->pf);
			return 0;
		}
		*e = why;
		return err_wrap(e, "give VF number %u its MAC", i);
	}
	return 0;
}

/* ---- GUIDs ---- */

/*
 * The driver of a VF reads its GUIDs when it is bound. Most PFs let a VF come without a driver; if
 * this one has its driver already, the driver is bound again.
 */
static int give_guid(const struct vf_setup *s, uint32_t index, struct err *e)
{
	auto_fresh struct fresh f = { .lock = -1 };
	struct guid guid = guid_source_at(s->guids, s->pf_guid, index);
	const struct vf_info want = { .node_guid = guid, .port_guid = guid };
	const struct vf_ref vf = { s->pf_ifindex, index };

	if (take_fresh(s, index, &f, e))
		return -1;
	if (!f.is)
		return 0;
	if (nl_vf_set(s->m->nl, vf, &want, VF_NODE_GUID, e) ||
	    nl_vf_set(s->m->nl, vf, &want, VF_PORT_GUID, e))
		return -1;
	return *f.driver && s->rebind ? pci_rebind(s->m->ctx->sysfs, f.vf, f.driver, e) : 0;
}

int manager_give_guids(const struct vf_setup *s, struct err *e)
{
	struct err why;

	for (uint32_t i = 0; i < s->n; i++) {
		if (give_guid(s, i, &why) == 0)
			continue;
		if (why.errnum == EOPNOTSUPP) {
			manager_report(s->m, "%s: its driver cannot set GUIDs of VFs", s->pf);
			return 0;
		}
		*e = why;
		return err_wrap(e, "give VF number %u its GUID", i);
	}
	return 0;
}

/* ---- drivers and baselines ---- */

/* The module of the kernel's choice may still be loading. */
static int bind_vf(const struct vf_setup *s, const char *vf, int64_t deadline, struct err *e)
{
	struct backoff p = backoff_until(deadline);
	struct err why;

	if (!s->bind)
		return 0;
	while (pci_bind(s->m->ctx->sysfs, vf, s->driver, &why)) {
		if (s->driver || why.code != ERR_KERNEL || !backoff_pause(&p))
			return err_pass(e, &why);
	}
	return 0;
}

#define SETTING_LEN 40

/* "MAC 02:...", "GUID 02:..." */
static const char *manager_setup_address_text(const struct vf_setup *s, const struct vf_entry *x,
					      char out[SETTING_LEN])
{
	char text[GUID_STR_LEN] = "unknown";

	if (s->guids && (x->base.pf_side.has & VF_PORT_GUID))
		guid_format(x->base.pf_side.port_guid, text);
	else if (!s->guids && (x->base.pf_side.has & VF_MAC))
		mac_format(x->base.pf_side.mac, text);
	(void)snprintf(out, SETTING_LEN, "%s %s", s->guids ? "GUID" : "MAC", text);
	return out;
}

static int give_driver(const struct vf_setup *s, uint32_t index, int64_t deadline, struct err *e)
{
	auto_fresh struct fresh f = { .lock = -1 };
	auto_vf_entry struct vf_entry x = { 0 };
	const struct manager *m = s->m;
	struct vf_place place;
	char text[SETTING_LEN];

	if (take_fresh(s, index, &f, e))
		return -1;
	if (!f.is)
		return 0;
	if (bind_vf(s, f.vf, deadline, e) ||
	    manager_wait_vf(m, f.vf, ctx_mono_ms() + NETDEV_MS, &place, e) ||
	    vf_start_entry(m->ctx, m->nl, &place, &x, e) || vf_state_write(m->ctx, &x, e))
		return -1;
	manager_report(m, "  VF %u %s: %s, driver %s, interface %s", index, f.vf,
		       manager_setup_address_text(s, &x, text),
		       *place.driver ? place.driver : "none", *place.name ? place.name : "none");
	return 0;
}

int manager_give_drivers(const struct vf_setup *s, struct err *e)
{
	int64_t deadline = ctx_mono_ms() + DRIVER_MS;

	for (uint32_t i = 0; i < s->n; i++) {
		if (give_driver(s, i, deadline, e))
			return -1;
	}
	return 0;
}

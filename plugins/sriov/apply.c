/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply.c: gives a VF its GUIDs and moves its RDMA device.
 *
 * Binding a driver and moving a device give character devices new numbers: the lowest free ones. A
 * pod has the old numbers since before ADD. So one process of the node does it at a time, and the
 * numbers are compared.
 */
#include "plugins/sriov/apply.h"

#include <stdio.h>

#include "lib/device/rdma_monitor.h"
#include "lib/device/sysfs.h"
#include "plugins/sriov/vf_rdma.h"
#include "sriov/vf/guid.h"

#define PKEYS_MAX     128
#define INTERFACE_MS  5000 /* for the interface that the kernel makes again after a move */
#define LOOK_EVERY_MS 20
#define ISOLATION     "rdmaIsolation"

/* One ib_apply() in progress. */
struct ib_run {
	struct attach *a;
	struct ib_conf *c;
	struct vf_rdma_move rdma; /* open only if a driver is bound or a device moves */
	struct vf_guids own;      /* of the VF now */
};

static struct vf_place *apply_place_of(const struct ib_run *r)
{
	return &r->c->which.place;
}

static const struct ctx *ctx_of(const struct ib_run *r)
{
	return &r->a->call->ctx;
}

/* ---- looking ---- */

static int apply_look(struct ib_run *r, struct err *e)
{
	const struct vf_place *p = apply_place_of(r);
	struct link_info link = { .addr = { 0 } };

	if (vf_locate(ctx_of(r), r->a->host_nl, r->c->which.vf, apply_place_of(r), e) ||
	    (*p->name && nl_link_by_name(r->a->host_nl, p->name, &link, e)))
		return -1;
	r->own = vf_own_guids(ctx_of(r), p->vf, link.addr);
	return 0;
}

/*
 * The port's GUID is what the fabric knows. Cards give VFs another one for the node. That is good
 * enough if it is usable: RDMA CM refuses a device whose node has none.
 */
static bool apply_has_wanted(const struct ib_run *r)
{
	return guid_equal(r->own.port, r->c->want.port_guid) &&
	       (!r->own.has_rdma || guid_is_usable(r->own.node));
}

static int refuse_unusable(const struct ib_run *r, struct err *e)
{
	char text[GUID_STR_LEN];

	if ((r->c->want.has & VF_GUIDS) || guid_is_usable(r->own.port))
		return 0;
	err_set(e, ERR_STATE, 0, "VF %s has no usable GUID: %s", r->c->which.vf,
		guid_format(r->own.port, text));
	return err_hint(
		e, "give one in runtimeConfig.infinibandGUID or args.cni.guid, or set guidFrom "
		   "to \"pod\"; or assign GUIDs to the VFs of the node");
}

/* A port that is not a member drops the pod's packets, but the subnet manager may yet add it. */
static void apply_check_pkey(const struct ib_run *r)
{
	char path[256], text[32], wanted[PKEY_STR_LEN];
	uint16_t one;
	struct err none;

	if (!r->c->pkey || !*r->rdma.link.name)
		return;
	for (unsigned i = 0; i < PKEYS_MAX; i++) {
		(void)snprintf(path, sizeof(path),
			       "bus/pci/devices/%s/infiniband/%s/ports/1/pkeys/%u", r->c->which.vf,
			       r->rdma.link.name, i);
		if (sysfs_read(ctx_of(r)->sysfs, path, text, sizeof(text), &none)) {
			if (i == 0)
				return;
			break;
		}
		if (pkey_parse(text, &one) == 0 &&
		    pkey_partition(one) == pkey_partition(r->c->pkey))
			return;
	}
	log_warn(&ctx_of(r)->log,
		 "pkey: %s is not in the table of RDMA device %s (VF %s): the pod cannot use this "
		 "partition until the subnet manager makes the port a member",
		 pkey_format(r->c->pkey, wanted), r->rdma.link.name, r->c->which.vf);
}

/* ---- changes ---- */

static int judge_numbers(struct ib_run *r, const struct rdma_chardevs *now, struct err *e)
{
	const struct rdma_numbers numbers = vf_rdma_numbers(&r->rdma);
	char what[PCI_STR_LEN + 8];

	(void)snprintf(what, sizeof(what), "VF %s", r->c->which.vf);
	return rdma_numbers_judge(&numbers, &r->rdma.chardevs, now, what, e)
		       ? err_wrap(e, "RDMA device of %s", what)
		       : 0;
}

static int apply_rebind(struct ib_run *r, struct err *e)
{
	bool had_rdma = r->own.has_rdma;

	log_debug(&ctx_of(r)->log, "VF %s: binding driver %s again for its GUID", r->c->which.vf,
		  apply_place_of(r)->driver);
	return vf_rebind(ctx_of(r), r->c->which.vf, apply_place_of(r)->driver, had_rdma, e) ||
			       apply_look(r, e)
		       ? -1
		       : 0;
}

/* The numbers can be those of before at a second attempt: another process freed them meanwhile. */
static int rebind_until_same(struct ib_run *r, struct err *e)
{
	struct rdma_chardevs now;
	char what[RDMA_CHANGE_LEN], is[GUID_STR_LEN], want[GUID_STR_LEN];
	bool had_rdma = r->own.has_rdma, differ = false;

	for (int i = 0; i < 2; i++) {
		if (apply_rebind(r, e) || (had_rdma && vf_rdma_find(&r->rdma, &now, e)))
			return -1;
		differ = had_rdma &&
			 rdma_chardevs_differ(&r->rdma.chardevs, &now, what, sizeof(what));
		if (!differ)
			break;
	}
	if (!apply_has_wanted(r)) {
		err_set(e, ERR_STATE, 0,
			"VF %s: its port has the GUID %s, not %s, although its PF %s "
			"took it and driver %s was bound again",
			r->c->which.vf, guid_format(r->own.port, is),
			guid_format(r->c->want.port_guid, want), apply_place_of(r)->pf_name,
			apply_place_of(r)->driver);
		return err_hint(e,
				"the firmware may not permit GUIDs of VFs; see the kernel's log");
	}
	return differ ? judge_numbers(r, &now, e) : 0;
}

/* The pod's interface is made again by the move: on the host before Linux 7, in the pod since. */
static int await_interface(struct ib_run *r, struct rdma_monitor *m, struct err *e)
{
	int64_t deadline = ctx_mono_ms() + INTERFACE_MS;
	int ifindex;

	for (;;) {
		int64_t next = ctx_mono_ms() + LOOK_EVERY_MS;

		if (vf_locate(ctx_of(r), r->a->host_nl, r->c->which.vf, apply_place_of(r), e) ||
		    vf_ipoib_in_pod(apply_place_of(r), r->a->pod_nl, &ifindex, e))
			return -1;
		if (*apply_place_of(r)->name || ifindex)
			return 0;
		if (ctx_mono_ms() >= deadline)
			break;
		if (nl_rdma_monitor_wait(m, next < deadline ? next : deadline, e) < 0)
			return -1;
	}
	return err_set(
		e, ERR_AGAIN, 0,
		"VF %s: its interface did not appear within %d s after its RDMA device moved",
		r->c->which.vf, INTERFACE_MS / 1000);
}

static int isolate(struct ib_run *r, struct err *e)
{
	auto_rdma_monitor struct rdma_monitor *m = NULL;

	if (nl_rdma_monitor_open(&m, e))
		return err_wrap(e, ISOLATION);
	return vf_rdma_move(&r->rdma, e) || await_interface(r, m, e) ? -1 : 0;
}

/* With the lock of the node, behind that of the VF. */
static int apply_locked(struct ib_run *r, bool again, struct err *e)
{
	const struct vf_request request = { .pf_side = r->c->want };

	if (vf_rdma_open(&r->rdma, e) || apply_look(r, e))
		return -1;
	bool needs_rdma = r->own.has_rdma || r->c->rdma_isolation;
	if ((needs_rdma && vf_rdma_expect(&r->rdma, e)) ||
	    vf_configure(r->a->host_nl, apply_place_of(r), &request, NULL, e) ||
	    (again && rebind_until_same(r, e)))
		return -1;
	apply_check_pkey(r);
	return r->c->rdma_isolation ? isolate(r, e) : 0;
}

int ib_apply(struct attach *a, struct ib_conf *c, struct err *e)
{
	const struct vf_rdma_keys keys = {
		.key = c->rdma_isolation ? ISOLATION : "GUID",
		.renumbered = (enum rdma_renumbered)c->renumbered,
	};
	struct ib_run r = { .a = a, .c = c, .rdma = vf_rdma_init(a, &c->which, keys) };
	struct vf_request request = { .pf_side = c->want };

	if (a->no_link)
		return vf_configure(a->host_nl, &c->which.place, &request, NULL, e);
	if (apply_look(&r, e) || refuse_unusable(&r, e))
		return -1;
	bool again = (c->want.has & VF_GUIDS) && !apply_has_wanted(&r);
	if (again || c->rdma_isolation) {
		int rc = apply_locked(&r, again, e);

		vf_rdma_close(&r.rdma);
		return rc;
	}
	/* GUIDs that the VF has already are not set at the PF. */
	request.pf_side.has &= ~(unsigned)VF_GUIDS;
	if (c->pkey && r.own.has_rdma)
		(void)!pci_rdma_device(a->call->ctx.sysfs, c->which.vf, r.rdma.link.name, e);
	apply_check_pkey(&r);
	return vf_configure(a->host_nl, &c->which.place, &request, NULL, e);
}

/* ---- STATUS and CHECK ---- */

int ib_check_mode(const struct ib_conf *c, struct err *e)
{
	return c->rdma_isolation ? vf_rdma_check_mode(ISOLATION, e) : 0;
}

int ib_check_rdma(const struct attach *a, const struct ib_conf *c, struct err *e)
{
	return c->rdma_isolation && !a->no_link ? vf_rdma_check(a, &c->which, ISOLATION, e) : 0;
}

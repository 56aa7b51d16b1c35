/* SPDX-License-Identifier: Apache-2.0 */
/* attach.c: the hooks of the rdma plugin. The order in which they are called is the engine's. */
#include "plugins/rdma/attach.h"

#include "cni/protocol/devinfo.h"
#include "lib/rdma/lock.h"
#include "plugins/rdma/peer.h"
#include "plugins/rdma/pod.h"

/* ---- before the lock ---- */

static int rdma_validate(struct attach *a, struct err *e)
{
	struct rdma_pod *p = rdma_pod(a);
	const struct cni_conf *c = &a->call->conf;

	p->a = a;
	if (rdma_conf_read(c, &p->conf, e))
		return -1;
	if (p->conf.debug)
		a->records.ctx.log.level = LOG_LEVEL_DEBUG;
	if (!c->prev_result && a->call->env.cmd != CNI_STATUS)
		return err_set(e, ERR_CONFIG, 0,
			       "prevResult: missing: rdma stands behind the plugin that makes the "
			       "interface, in one list of plugins");
	return 0;
}

/* The RDMA device of an interface of the record, or NULL. */
static const char *first_moved(const struct record *r)
{
	const char *moved = NULL;
	struct record part;

	for (size_t i = 0; !moved && i < record_parts(r); i++) {
		record_part(r, i, &part);
		moved = record_rdma(&part);
	}
	return moved;
}

/* The record of the interface says so. Runtimes pass no unknown key of a result on. */
static int refuse_moved(const struct attach *a, struct err *e)
{
	const struct record_key key = attach_key(a->call);
	auto_record struct record r = { 0 };
	const char *moved;
	struct err ignored;

	if (a->call->env.cmd != CNI_ADD || record_read(&a->call->ctx, &key, &r, &ignored) ||
	    !netns_same(r.netns_id, a->pod.id))
		return 0;
	moved = first_moved(&r);
	if (!moved)
		return 0;
	err_set(e, ERR_CONFIG, 0,
		"the plugin %.32s of this list has moved the RDMA device %.63s into the pod",
		r.plugin, moved);
	return err_hint(e, "remove the plugin rdma from the list, or the key \"rdma\" from the "
			   "plugin sriov (\"rdmaIsolation\" from ib-sriov): one of them moves it");
}

static int rdma_find(struct attach *a, struct err *e)
{
	return refuse_moved(a, e) ? -1 : rdma_pod_open(rdma_pod(a), e);
}

/* ---- ADD ---- */

/* The kernel may use the number of a namespace again. Then the moved device is not in this one. */
static int rdma_check_earlier(const struct attach *a, const struct record *earlier, struct err *e)
{
	const struct rdma_pod *p = rdma_pod(a);
	struct rdma_link there;
	struct rdma_taken t;
	struct err ignored;

	if (p->pod_rdma && !rdma_taken_read(earlier, &t, &ignored) && t.moved &&
	    nl_rdma_get(p->pod_rdma, t.index, &there, &ignored))
		return 0;
	return err_set(e, ERR_BUSY, 0,
		       "container %s has the RDMA device %s for %s already: run DEL before "
		       "another ADD",
		       earlier->key.container, earlier->master, earlier->key.ifname);
}

static struct json *device_of(const struct rdma_pod *p, const char *pod_name)
{
	char uverbs[64];
	const struct rdma_taken t = {
		.moved = p->mode == RDMA_EXCLUSIVE,
		.bus = p->serving.pci,
		.index = p->serving.link.index,
		.port = p->serving.port,
		.name = p->serving.link.name,
		.pod_name = pod_name,
		.uverbs = rdma_chardev_text(&p->chardevs.uverbs, uverbs, sizeof(uverbs)),
		.devinfo = p->conf.devinfo,
		.devinfo_was = p->devinfo_was,
	};

	return rdma_taken_json(&t);
}

/* The device, and for DEL the text that the device-information file has before it is changed. */
static int rdma_prepare(struct attach *a, struct err *e)
{
	struct rdma_pod *p = rdma_pod(a);
	bool moves = p->mode == RDMA_EXCLUSIVE;

	if (moves && (p->node_lock = rdma_lock(&a->call->ctx, RDMA_LOCK_MS, e)) < 0)
		return -1;
	if (moves ? rdma_exclusive_find(p, e) : rdma_shared_find(p, e))
		return -1;
	if (!*p->serving.pci)
		p->conf.devinfo = NULL;
	if (p->conf.devinfo && devinfo_text(p->conf.devinfo, &p->devinfo_was, e))
		return -1;
	a->below = p->serving.link.name;
	a->nothing_to_restore = !moves && !p->conf.devinfo;
	a->device = device_of(p, moves && p->conf.name ? p->conf.name : p->pod_name);
	return a->device ? 0 : err_nomem(e);
}

static int rdma_create(struct attach *a, struct err *e)
{
	struct rdma_pod *p = rdma_pod(a);
	const struct devinfo_pci what = { p->serving.pci, NULL, p->pod_name };
	int64_t deadline = ctx_mono_ms() + (int64_t)p->conf.timeout * 1000;
	struct json *became;

	if (p->mode == RDMA_SHARED ? rdma_shared_verify(p, deadline, e) : rdma_exclusive_move(p, e))
		return -1;
	if (p->conf.devinfo && devinfo_set_rdma(p->conf.devinfo, &what, e))
		return -1;
	became = device_of(p, p->pod_name);
	if (!became)
		return err_nomem(e);
	json_free(a->device);
	a->device = became;
	log_debug(&a->records.ctx.log, "RDMA device %s port %u (%s), %zu GIDs", p->pod_name,
		  p->serving.port, rdma_mode_name(p->mode), p->n_gids);
	return 0;
}

static int rdma_undo(const struct attach *a, const struct record *r, struct err *e)
{
	return rdma_restore_locked(&a->call->ctx, r, e);
}

/* ---- DEL ---- */

/*
 * Without a record the attachment may be rdma-cni's, which this plugin replaces. For an
 * imported attachment it only removes the file. If another plugin moved the device, it returns to
 * the host at the end of the pod's namespace.
 */
static int rdma_release(const struct cni_call *call, const struct record *r, struct err *e)
{
	const struct record_key key = attach_key(call);

	(void)r;
	return rdma_peer_release(&call->ctx, &key, call->env.netns ? call->env.netns : "", e);
}

/* ---- CHECK ---- */

static int attach_check_shared(struct rdma_pod *p, const struct rdma_taken *t, struct err *e)
{
	if (rdma_shared_find(p, e)) {
		if (e->code == ERR_NOTFOUND)
			e->code = ERR_STATE;
		return -1;
	}
	if (p->serving.link.index != t->index || p->serving.port != t->port)
		return err_set(e, ERR_STATE, 0,
			       "interface %s is served by RDMA device %s port %u, ADD found %s "
			       "port %u",
			       p->a->call->env.ifname, p->serving.link.name, p->serving.port,
			       t->name, t->port);
	return rdma_shared_verify(p, 0, e);
}

static int rdma_check(struct attach *a, struct err *e)
{
	struct rdma_pod *p = rdma_pod(a);
	auto_record struct record r = { 0 };
	struct rdma_taken t;

	if (attach_read_record(a, &r, e))
		return err_wrap(e, "RDMA device of %s", a->call->env.ifname);
	if (rdma_taken_read(&r, &t, e))
		return -1;
	if (t.moved && !p->pod_rdma)
		return err_set(e, ERR_STATE, 0,
			       "RDMA device %s moved into the pod, but this node is in RDMA mode "
			       "shared now",
			       t.name);
	return t.moved ? rdma_exclusive_check(p, &t, e) : attach_check_shared(p, &t, e);
}

const struct attach_type rdma_type = {
	.name = "rdma",
	.role = ATTACH_FOLLOWS,
	.kind = "",
	.records = RDMA_RECORDS,
	.defaults = rdma_pod_init,
	.clear = rdma_pod_clear,
	.validate = rdma_validate,
	.find = rdma_find,
	.check_earlier = rdma_check_earlier,
	.prepare = rdma_prepare,
	.create = rdma_create,
	.result = rdma_result,
	.check = rdma_check,
	.restore = rdma_restore,
	.undo = rdma_undo,
	.release = rdma_release,
};

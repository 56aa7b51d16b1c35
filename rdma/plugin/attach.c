/* SPDX-License-Identifier: Apache-2.0 */
#include "rdma/plugin/attach.h"

#include "cni/engine/attach.h"
#include "cni/protocol/devinfo.h"
#include "lib/base/undo.h"
#include "rdma/plugin/peer.h"
#include "rdma/plugin/pod.h"

#define LOCK_MS 10000

struct add {
	struct rdma_pod p;
	struct record record;
	struct rdma_taken taken;
	struct json *device; /* owned; the record's */
	char *devinfo_was;   /* owned */
	char uverbs[64];
	bool taken_stays; /* it could not be put back */
};

static void add_clear(struct add *s)
{
	rdma_pod_clear(&s->p);
	json_free(s->device);
	free(s->devinfo_was);
}

/* ---- inverses: last first; what could not be put back keeps its record ---- */

static int undo_taken(void *arg, struct err *e)
{
	struct add *s = arg;

	s->taken_stays = rdma_restore_locked(&s->p.call->ctx, &s->record, e) != 0;
	return s->taken_stays ? -1 : 0;
}

static int undo_record(void *arg, struct err *e)
{
	struct add *s = arg;
	const struct record_key key = rdma_pod_key(s->p.call);

	return s->taken_stays ? 0 : record_remove(&s->p.place.ctx, &key, e);
}

/* ---- ADD ---- */

static int write_record(struct add *s, bool adding, struct err *e)
{
	const struct rdma_pod *p = &s->p;
	struct json *device = rdma_taken_json(&s->taken);

	if (!device)
		return err_nomem(e);
	json_free(s->device);
	s->device = device;
	s->record.device = device;
	s->record.adding = adding;
	return record_write(&p->place.ctx, &s->record, e);
}

/* Whether DEL has anything to put back; else one record, at the end, will do. */
static bool changes_anything(const struct rdma_pod *p)
{
	return p->mode == RDMA_EXCLUSIVE || (p->conf.devinfo && *p->serving.pci);
}

static int begin_record(struct add *s, struct err *e)
{
	const struct rdma_pod *p = &s->p;
	const struct cni_call *call = p->call;

	s->taken = (struct rdma_taken){
		.moved = p->mode == RDMA_EXCLUSIVE,
		.bus = p->serving.pci,
		.index = p->serving.link.index,
		.port = p->serving.port,
		.name = p->serving.link.name,
		.pod_name = p->conf.name && p->mode == RDMA_EXCLUSIVE ? p->conf.name : p->pod_name,
		.uverbs = rdma_chardev_text(&p->chardevs.uverbs, s->uverbs, sizeof(s->uverbs)),
	};
	s->record = (struct record){
		.key = rdma_pod_key(call),
		.plugin = "rdma",
		.kind = "",
		.netns = call->env.netns,
		.netns_id = p->pod.id,
		.from = netns_view_self(&call->ctx),
		.created = call->ctx.now(call->ctx.clock),
		.master = p->serving.link.name,
		.cni_path = call->env.path,
		.args = call->env.args,
	};
	if (ctx_boot_id(&call->ctx, s->record.boot, e))
		return -1;
	return changes_anything(p) ? write_record(s, true, e) : 0;
}

/*
 * The file is on record, with the text that was there, before it is touched: what was not changed
 * is then put back to what it is.
 */
static int set_devinfo(struct add *s, struct err *e)
{
	const struct rdma_pod *p = &s->p;
	const struct devinfo_pci what = { p->serving.pci, NULL, p->pod_name };

	if (!p->conf.devinfo || !*p->serving.pci)
		return 0;
	if (devinfo_text(p->conf.devinfo, &s->devinfo_was, e))
		return -1;
	s->taken.devinfo = p->conf.devinfo;
	s->taken.devinfo_was = s->devinfo_was;
	return write_record(s, true, e) || devinfo_set_rdma(p->conf.devinfo, &what, e) ? -1 : 0;
}

/* What it became, for CHECK; from here on repair lets it live. */
static int complete_record(struct add *s, struct err *e)
{
	s->taken.pod_name = s->p.pod_name;
	(void)rdma_chardev_text(&s->p.chardevs.uverbs, s->uverbs, sizeof(s->uverbs));
	return write_record(s, false, e);
}

static int take_device(struct add *s, struct undo *u, struct err *e)
{
	struct rdma_pod *p = &s->p;
	int64_t deadline = ctx_mono_ms() + (int64_t)p->conf.timeout * 1000;

	if (p->mode == RDMA_SHARED && rdma_shared_find(p, e))
		return -1;
	if (p->mode == RDMA_EXCLUSIVE && rdma_exclusive_find(p, e))
		return -1;
	undo_push(u, undo_record, s, "record of the RDMA device");
	if (begin_record(s, e))
		return -1;
	undo_push(u, undo_taken, s, "RDMA device");
	return p->mode == RDMA_SHARED ? rdma_shared_verify(p, deadline, e)
				      : rdma_exclusive_move(p, e);
}

static int give_back(const struct cni_call *call, const struct record *r, struct err *e)
{
	static const struct attach_restore_type own[] = { { "rdma", rdma_restore }, { 0 } };

	return attach_restore(&call->ctx, r, own, e);
}

/* The number of a namespace is used again: then what moved is not in this one. */
static bool is_still_there(const struct rdma_pod *p, const struct record *old)
{
	struct rdma_taken t;
	struct rdma_link there;
	struct err ignored;

	if (old->adding || !netns_same(old->netns_id, p->pod.id))
		return false;
	return !p->pod_rdma || rdma_taken_read(old, &t, &ignored) || !t.moved ||
	       nl_rdma_get(p->pod_rdma, t.index, &there, &ignored) == 0;
}

/*
 * CNI-042: without a DEL in between the record of the first ADD must not be lost. One that was
 * killed, or whose namespace has gone, gets its DEL now.
 */
static int finish_old_record(const struct rdma_pod *p, struct err *e)
{
	const struct record_key key = rdma_pod_key(p->call);
	auto_record struct record old = { 0 };
	struct err why;

	if (record_read(&p->place.ctx, &key, &old, &why))
		return 0;
	if (!is_still_there(p, &old))
		return give_back(p->call, &old, e) || record_remove(&p->place.ctx, &key, e) ? -1
											    : 0;
	return err_set(e, ERR_BUSY, 0,
		       "container %s has the RDMA device %s for %s already: run DEL before "
		       "another ADD",
		       key.container, old.master, key.ifname);
}

int rdma_add(const struct cni_call *call, struct err *e)
{
	auto_clean(add_clear) struct add s = { .taken_stays = false };
	struct rdma_pod *p = &s.p;
	const struct record_key key = rdma_pod_key(call);

	if (rdma_pod_init(p, call, e) || rdma_pod_open(p, e))
		return -1;
	auto_fd int lock = record_lock(&p->place.ctx, &key, true, LOCK_MS, e);
	if (lock < 0 || finish_old_record(p, e))
		return -1;
	auto_fd int node = p->mode == RDMA_SHARED ? -1 : rdma_lock(&call->ctx, RDMA_LOCK_MS, e);
	if (p->mode == RDMA_EXCLUSIVE && node < 0)
		return -1;
	auto_undo struct undo u = { .log = &call->ctx.log };
	if (take_device(&s, &u, e) || set_devinfo(&s, e) || complete_record(&s, e) ||
	    rdma_emit(p, e))
		return -1;
	undo_commit(&u);
	log_debug(&p->place.ctx.log, "RDMA device %s port %u (%s), %zu GIDs", p->pod_name,
		  p->serving.port, rdma_mode_name(p->mode), p->n_gids);
	return 0;
}

/* ---- DEL and GC: replay what the record says ---- */

/* A deletion waits for its turn; where no lock can be opened there is no record either. */
static int lock_if_any(const struct record_place *place, const struct record_key *key, int *fd,
		       struct err *e)
{
	struct err why;

	*fd = record_lock(&place->ctx, key, false, LOCK_MS, &why);
	if (*fd >= 0 || why.code != ERR_AGAIN)
		return 0;
	*e = why;
	return -1;
}

/* Of what was imported the file alone is left to remove. */
static int release_peer(const struct cni_call *call, const struct record_key *key, struct err *e)
{
	return rdma_peer_release(&call->ctx, key, call->env.netns ? call->env.netns : "", e);
}

/*
 * Without a record there is nothing of ours: perhaps of rdma-cni, in whose place we are. A device
 * that yet another plugin moved returns to the host with the end of the pod's namespace.
 */
int rdma_del(const struct cni_call *call, struct err *e)
{
	const struct record_key key = rdma_pod_key(call);
	auto_record struct record r = { 0 };
	struct record_place place;
	auto_fd int lock = -1;
	struct err why;

	if (rdma_place(&call->ctx, &place, e) || lock_if_any(&place, &key, &lock, e))
		return -1;
	if (record_read(&place.ctx, &key, &r, &why)) {
		if (why.code != ERR_NOTFOUND && !record_is_damaged(&why)) {
			*e = why;
			return -1;
		}
		if (why.code != ERR_NOTFOUND)
			log_warn(&call->ctx.log,
				 "%s; the end of the pod brings its RDMA device home", why.msg);
	} else {
		r.netns_also = call->env.netns;
		if (give_back(call, &r, e))
			return -1;
	}
	if (release_peer(call, &key, e))
		return -1;
	/* Where there is none, its folder may be left of a DEL that was killed. */
	return record_remove(&place.ctx, &key, e);
}

struct sweep {
	const struct cni_call *call;
	const struct record_place *place;
	struct err first;
	size_t failed;
};

static int gc_attachment(const struct sweep *s, const struct record *r, struct err *e)
{
	auto_record struct record now = { 0 };
	auto_fd int lock = -1;

	if (r->name_mismatch)
		return record_refuse_mismatch(&s->place->ctx, r, e);
	if (lock_if_any(s->place, &r->key, &lock, e))
		return -1;

	int there = record_reread(&s->place->ctx, &r->key, &now, e);

	if (there < 0 || (there && give_back(s->call, &now, e)))
		return -1;
	return record_remove(&s->place->ctx, &r->key, e);
}

static int gc_record(const struct record *r, void *arg)
{
	struct sweep *s = arg;
	struct err why;

	if (cni_conf_is_valid(&s->call->conf, r->key.container, r->key.ifname) ||
	    gc_attachment(s, r, &why) == 0)
		return 0;
	(void)err_wrap(&why, "attachment %s/%s", r->key.container, r->key.ifname);
	log_warn(&s->call->ctx.log, "%s", why.msg);
	if (s->failed++ == 0)
		s->first = why;
	return 0;
}

int rdma_gc(const struct cni_call *call, struct err *e)
{
	struct record_place place;
	struct sweep s = { .call = call, .place = &place };

	if (rdma_place(&call->ctx, &place, e))
		return -1;
	/* No list is no information, not an empty list (CNI-076). */
	if (call->conf.valid && record_each(&place.ctx, call->conf.name, gc_record, &s, e))
		return -1;
	record_tidy(&place.ctx);
	if (!s.failed)
		return 0;
	*e = s.first;
	return s.failed > 1 ? err_hint(e, "%zu devices could not be given back; all were tried",
				       s.failed)
			    : -1;
}

/* ---- CHECK and STATUS: only look ---- */

static int check_shared(struct rdma_pod *p, const struct rdma_taken *t, struct err *e)
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
			       p->call->env.ifname, p->serving.link.name, p->serving.port, t->name,
			       t->port);
	return rdma_shared_verify(p, 0, e);
}

int rdma_check(const struct cni_call *call, struct err *e)
{
	const struct record_key key = rdma_pod_key(call);
	auto_record struct record r = { 0 };
	auto_rdma_pod struct rdma_pod p;
	struct rdma_taken t;

	if (rdma_pod_init(&p, call, e) || rdma_pod_open(&p, e))
		return -1;
	if (record_read(&p.place.ctx, &key, &r, e)) {
		if (e->code == ERR_NOTFOUND)
			e->code = ERR_STATE;
		return err_wrap(e, "RDMA device of %s", key.ifname);
	}
	if (rdma_taken_read(&r, &t, e))
		return -1;
	return t.moved ? rdma_exclusive_check(&p, &t, e) : check_shared(&p, &t, e);
}

static int look_at_node(const struct rdma_conf *c, struct err *e)
{
	auto_nl struct nl *nl = NULL;
	struct rdma_sys sys;

	return nl_rdma_open(&nl, e) || nl_rdma_sys_get(nl, &sys, e) ||
			       rdma_mode_check(sys.mode, c, e)
		       ? -1
		       : 0;
}

int rdma_status(const struct cni_call *call, struct err *e)
{
	struct rdma_conf c;

	if (rdma_conf_read(&call->conf, &c, e))
		return -1;
	if (look_at_node(&c, e)) {
		e->code = ERR_UNAVAILABLE;
		return -1;
	}
	return 0;
}

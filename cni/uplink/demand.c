/* SPDX-License-Identifier: Apache-2.0 */
/* demand.c: who uses a master on demand; makes it for the first user, removes it after the last. */
#include "cni/uplink/demand.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "cni/uplink/demand_priv.h"
#include "cni/record/part.h"
#include "lib/sys/fs.h"

/* ---- looking ---- */

static int check_present(const struct demand_plan *plan, struct err *e)
{
	for (size_t i = 0; i < plan->n; i++) {
		if (!plan->there[i])
			return err_set(e, ERR_STATE, 0, "master: %s %s is missing",
				       demand_kind_name(plan->link[i].kind), plan->link[i].name);
		if (!(plan->is[i].flags & IFF_UP))
			return err_set(e, ERR_STATE, 0, "master: %s is down", plan->is[i].name);
	}
	/* Only a bond has some, and it is the first one. */
	for (size_t i = 0; i < plan->link[0].n; i++)
		if (plan->back[i]) {
			err_set(e, ERR_STATE, 0,
				"master: %s has lost its member %s, which came back as number %d",
				plan->is[0].name, plan->link[0].lower[i].name,
				plan->link[0].lower[i].ifindex);
			return err_hint(e,
					"the next ADD, GC or `railctl attachments repair` joins it "
					"again");
		}
	return 0;
}

/*
 * Without the lock, the look may meet the end of a master, or its making: half of its members are
 * free, or its members are not all there yet. So an error counts only if it is one with the lock.
 */
static int demand_look(struct master_place *p, const struct demand_conf *conf,
		       struct demand_plan *plan, struct err *e)
{
	auto_demand_store struct demand_store store = DEMAND_CLOSED;
	struct err ignored;

	if (demand_make_plan(p, conf, plan, e) == 0)
		return 0;
	/* Without the folder, the last master may have ended just now. */
	return demand_open(p->ctx, false, &store, &ignored) < 0
		       ? -1
		       : demand_make_plan(p, conf, plan, e);
}

int demand_find(struct master_place *p, const struct json *object, enum demand_when when,
		struct link_info *out, struct err *e)
{
	struct demand_conf conf;
	struct demand_plan plan;

	if (demand_read_conf(object, &conf, e))
		return -1;
	if (demand_look(p, &conf, &plan, e)) {
		if (when == DEMAND_MUST_BE && e->code == ERR_CONFIG)
			e->code = ERR_STATE;
		return -1;
	}
	if (when == DEMAND_MUST_BE && check_present(&plan, e))
		return -1;
	*out = plan.is[plan.n - 1];
	return 0;
}

size_t demand_users(const struct ctx *ctx, const char *name)
{
	auto_demand_state struct demand_state s = { .users = NULL };
	struct err ignored;

	return !ifname_problem(name) && demand_peek(ctx, name, &s, &ignored) > 0 ? json_len(s.users)
										 : 0;
}

/* ---- giving back ---- */

#define NETNS_END_MS 1000 /* for the interface of a pod whose namespace has just ended */

struct sweep {
	const struct ctx *ctx;
	struct demand_store store;
	const struct record_key *key; /* who goes; NULL: those without a record */
	char boot[CTX_BOOT_ID_LEN + 1];
	struct netns_id here;
	struct nl *nl; /* owned; opened when it is needed */
	enum demand_kind kind;
	int wait_ms; /* for the end of the namespace of who goes */
};

static void sweep_clear(struct sweep *s)
{
	nl_release(s->nl);
	demand_close(&s->store);
}

static int need_nl(struct sweep *s, struct err *e)
{
	return s->nl ? 0 : nl_open(&s->nl, e);
}

static int sweep_begin(struct sweep *s, struct err *e)
{
	auto_netns struct netns here = { .fd = -1 };

	if (ctx_boot_id(s->ctx, s->boot, e) || netns_open_self(&here, e))
		return -1;
	s->here = here.id;
	return 0;
}

struct other {
	const struct record_key *except;
	int ifindex;
	bool found;
};

static bool demand_is_key(const struct record_key *a, const struct record_key *b)
{
	return strcmp(a->network, b->network) == 0 && strcmp(a->container, b->container) == 0 &&
	       strcmp(a->ifname, b->ifname) == 0;
}

/*
 * A configuration may name the master, too. A record that cannot be read may be such a one. Those
 * that ask for it on demand are users, and no others count: their DEL may be behind its
 * demand_give() and not yet at its end.
 */
static int match_other(const struct record *r, void *arg)
{
	struct other *o = arg;
	struct record part;

	if ((o->except && demand_is_key(&r->key, o->except)) ||
	    json_type(json_get(r->config, "master")) == JSON_OBJECT)
		return 0;
	o->found = !r->tree || r->name_mismatch;
	for (size_t i = 0; !o->found && i < record_parts(r); i++) {
		record_part(r, i, &part);
		o->found = part.lower_ifindex == o->ifindex;
	}
	return o->found;
}

/* A free one is held: no ADD that names it can come between the answer and its removal. */
static int is_used(struct sweep *s, const struct link_info *link, bool *used, struct err *e)
{
	struct other o = { .except = s->key, .ifindex = link->ifindex };
	char why[64] = "another attachment has it on record";
	int rc = 0;

	/* Without an answer the call fails: its repetition removes the master, or finds a user. */
	if (record_each(s->ctx, NULL, match_other, &o, e) && !o.found)
		return -1;
	if (!o.found)
		rc = demand_hold(s->nl, link, s->wait_ms, why, e);
	if (rc < 0)
		return -1;
	*used = o.found || rc > 0;
	if (*used)
		log_info(&s->ctx->log, "master %s stays: %s", link->name, why);
	return 0;
}

static int demand_look_at(struct sweep *s, const struct demand_state *st, struct demand_view *v,
			  struct err *e)
{
	struct link_info link;
	struct err why;

	*v = (struct demand_view){ .same_boot = strcmp(st->boot, s->boot) == 0,
				   .same_netns = netns_same(st->netns, s->here),
				   .users = json_len(st->users) };
	/* The rest costs requests to the kernel. */
	if (!v->same_boot || !v->same_netns || v->users)
		return 0;
	if (need_nl(s, e))
		return -1;
	if (nl_link_by_index(s->nl, st->link.ifindex, &link, &why))
		return why.errnum == ENODEV ? 0 : err_pass(e, &why);
	v->present = true;
	v->ours = demand_is_ours(st, &link);
	return v->ours ? is_used(s, &link, &v->used, e) : 0;
}

/* Its ADD has not succeeded. */
static bool is_adding(const struct sweep *s)
{
	auto_record struct record r = { 0 };
	struct err ignored;

	return s->key && record_read(s->ctx, s->key, &r, &ignored) == 0 && r.adding;
}

/* Which members the bond has is written before it ends: an end that was killed goes on by that. */
static int unmake(struct sweep *s, struct demand_state *st, struct err *e)
{
	if (st->link.kind == DEMAND_BOND && !st->making &&
	    (demand_note_members(s->nl, &st->link, e) || demand_write(s->store.dir, st, e)))
		return -1;
	return demand_unmake(s->nl, st, st->making || is_adding(s), e);
}

static int remove_unused(struct sweep *s, struct demand_state *st, struct err *e)
{
	struct demand_view v;
	enum demand_fate fate;
	struct err ignored;

	if (demand_look_at(s, st, &v, e))
		return err_wrap(e, "look at the master %s", st->link.name);
	fate = demand_judge(&v);
	if (fate == DEMAND_KEEP)
		return 0;
	/* Without the link, there may be members that its making or its end left down. */
	if ((fate == DEMAND_REMOVE && unmake(s, st, e)) ||
	    (fate == DEMAND_FORGET && v.same_boot && !v.present &&
	     demand_unmake(s->nl, st, st->making, e))) {
		if (fate == DEMAND_REMOVE)
			(void)!demand_release(s->nl, st->link.ifindex, &ignored);
		return err_wrap(e, "remove the master %s", st->link.name);
	}
	log_debug(&s->ctx->log, "master %s: the last user is gone", st->link.name);
	return demand_forget(s->store.dir, st->link.name, e);
}

/* The user has a record, or may have one that cannot be read. */
static bool has_record(const struct ctx *ctx, const struct record_key *key)
{
	auto_record struct record r = { 0 };
	struct err why;

	return record_read(ctx, key, &r, &why) == 0 || why.code != ERR_NOTFOUND;
}

static int drop_stale_users(struct sweep *s, struct demand_state *st)
{
	auto_json struct json *all = st->users ? json_dup(st->users) : NULL;
	int dropped = all || !st->users ? 0 : -1;

	json_each (it, all) {
		const struct record_key key = { json_text(it, "network"),
						json_text(it, "container"),
						json_text(it, "ifname") };
		int rc = has_record(s->ctx, &key) ? 0 : demand_drop_user(st, &key);

		if (rc < 0)
			return -1;
		dropped |= rc;
	}
	return dropped;
}

/* Only a sweep does it: a DEL is for its own pod. After a failure the bond lacks the member, as
 * before. */
static void demand_heal(struct sweep *s, struct demand_state *st)
{
	struct link_info link;
	struct err why;
	int rc;

	if (st->link.kind != DEMAND_BOND || st->making || !json_len(st->users) ||
	    strcmp(st->boot, s->boot) != 0 || !netns_same(st->netns, s->here))
		return;
	rc = need_nl(s, &why);
	if (rc == 0)
		rc = demand_find_made(s->nl, st, &link, &why);
	if (rc > 0)
		rc = demand_follow(s->nl, &st->link, true, &why);
	if (rc > 0)
		log_info(&s->ctx->log, "master %s: members that came back joined again",
			 st->link.name);
	if (rc < 0 || (rc > 0 && demand_write(s->store.dir, st, &why)))
		log_warn(&s->ctx->log, "master %s: %s", st->link.name, why.msg);
}

/*
 * A DEL fails for its own master alone: one that cannot be removed must not hold the pods of
 * others. The user that could not be written off has no record soon, and a sweep drops it.
 */
static int demand_visit(struct sweep *s, struct demand_state *st, struct err *e)
{
	int rc = s->key ? demand_drop_user(st, s->key) : drop_stale_users(s, st);
	struct err why;

	if (rc < 0)
		return err_nomem(e);
	s->wait_ms = s->key && rc ? NETNS_END_MS : 0;
	if (rc && demand_write(s->store.dir, st, &why)) {
		if (!s->key)
			return err_pass(e, &why);
		log_warn(&s->ctx->log, "%s", why.msg);
	}
	if (!s->key)
		demand_heal(s, st);
	if (remove_unused(s, st, &why) == 0)
		return 0;
	if (!s->key || rc)
		return err_pass(e, &why);
	log_warn(&s->ctx->log, "%s", why.msg);
	return 0;
}

/* "NAME.json". A file that cannot be read keeps its link: people can remove it. */
static int demand_visit_file(struct sweep *s, const char *file, struct err *e)
{
	auto_demand_state struct demand_state st = { .users = NULL };
	char name[IFNAME_LEN];
	struct err why;

	if (!demand_name_of_file(file, name))
		return 0;
	int rc = demand_read(s->store.dir, name, &st, &why);
	if (rc < 0)
		log_warn(&s->ctx->log, "%s", why.msg);
	return rc > 0 && st.link.kind == s->kind ? demand_visit(s, &st, e) : 0;
}

/* Where no file tells: about a card that came back, or with a file that was lost. It costs a list
 * of links, so only a sweep does it, or a DEL that sees no file. */
static void release_left_behind(struct sweep *s)
{
	struct err why;
	int rc = need_nl(s, &why);

	if (rc == 0)
		rc = demand_release_all(s->nl, &why);
	if (rc > 0)
		log_info(&s->ctx->log, "masters on demand: what a killed call left is removed");
	if (rc < 0)
		log_warn(&s->ctx->log, "masters on demand: %s", why.msg);
}

/* VLANs first: one of them may stand on a bond. All are tried; the first error counts. */
static int visit_all(struct sweep *s, struct err *e)
{
	static const enum demand_kind order[] = { DEMAND_VLAN, DEMAND_BOND };
	auto_fs_names struct fs_names files = { .n = 0 };
	struct err why;
	int rc = 0;

	if (fs_names_at(s->store.dir, ".", FS_NAMES_MAX, &files, e))
		return -1;
	if (!s->key || !files.n)
		release_left_behind(s);
	for (size_t k = 0; k < ARRAY_SIZE(order); k++) {
		s->kind = order[k];
		for (size_t i = 0; i < files.n; i++)
			if (demand_visit_file(s, files.name[i], &why) && rc == 0) {
				*e = why;
				rc = -1;
			}
	}
	return rc;
}

static int sweep(const struct ctx *ctx, const struct record_key *key, struct err *e)
{
	auto_clean(sweep_clear) struct sweep s = { .ctx = ctx, .store = DEMAND_CLOSED, .key = key };
	int rc = demand_open(ctx, false, &s.store, e);

	if (rc <= 0)
		return rc;
	return sweep_begin(&s, e) || visit_all(&s, e) || demand_tidy(&s.store, e) ? -1 : 0;
}

int demand_give(const struct ctx *ctx, const struct record_key *key, struct err *e)
{
	return sweep(ctx, key, e);
}

const struct demand_hooks demand_hooks = {
	.check_conf = demand_check_conf,
	.find = demand_find,
	.take = demand_take,
	.give = demand_give,
};

int demand_sweep(const struct ctx *ctx, struct err *e)
{
	return sweep(ctx, NULL, e) ? err_wrap(e, "masters on demand") : 0;
}

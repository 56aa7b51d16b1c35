/* SPDX-License-Identifier: Apache-2.0 */
/* demand_take.c: a master for one more attachment. */
#include <string.h>

#include "cni/uplink/demand_priv.h"

struct taking {
	struct master_place *place;
	const struct record_key *key;
	struct demand_store store;
	char boot[CTX_BOOT_ID_LEN + 1];
	struct netns_id here;
};

static void taking_clear(struct taking *t)
{
	demand_close(&t->store);
}

static int demand_take_begin(struct taking *t, struct err *e)
{
	auto_netns struct netns here = { .fd = -1 };

	if (ctx_boot_id(t->place->ctx, t->boot, e) || netns_open_self(&here, e))
		return -1;
	t->here = here.id;
	return demand_open(t->place->ctx, true, &t->store, e) < 0 ? -1 : 0;
}

/* *s is what the file says; 0: there is none, or it is of an earlier boot. */
static int read_state(const struct taking *t, const char *name, struct demand_state *s,
		      struct err *e)
{
	int rc = demand_read(t->store.dir, name, s, e);

	if (rc <= 0)
		return rc;
	if (strcmp(s->boot, t->boot) != 0) {
		demand_state_clear(s);
		return 0;
	}
	if (netns_same(s->netns, t->here))
		return 1;
	return err_set(e, ERR_BUSY, 0,
		       "master: %s was made in another network namespace of this node", name);
}

/* Members whose cards came back join again. 1: the file has their new numbers. */
static int demand_take_heal(const struct taking *t, struct demand_state *s, struct err *e)
{
	int rc = demand_follow(t->place->nl, &s->link, true, e);

	if (rc > 0)
		log_info(&t->place->ctx->log, "master %s: members that came back joined again",
			 s->link.name);
	return rc > 0 && demand_write(t->store.dir, s, e) ? -1 : rc;
}

/* An ADD was killed while it made the link, or another program removed it: that is undone. A bond
 * has lost members: they join again. 1: something has changed. */
static int demand_take_settle(const struct taking *t, const struct demand_plan *plan, struct err *e)
{
	int settled = 0;

	for (size_t i = plan->n; i-- > 0;) {
		auto_demand_state struct demand_state s = { .users = NULL };
		int rc = read_state(t, plan->link[i].name, &s, e);

		/* The members of a link that another program removed are down. */
		if (rc > 0 && (s.making || !plan->there[i])) {
			settled = 1;
			rc = demand_unmake(t->place->nl, &s, s.making, e);
			/* not before: while it is being made, it may have no alias yet */
			s.making = false;
			if (rc == 0)
				rc = demand_write(t->store.dir, &s, e);
		} else if (rc > 0 && plan->mine[i]) {
			rc = demand_take_heal(t, &s, e);
			settled |= rc > 0;
		}
		if (rc < 0)
			return -1;
	}
	return settled;
}

static int make(const struct taking *t, struct demand_state *s, struct err *e)
{
	if (demand_make(t->place->nl, t->place->ctx->proc, &s->link, e))
		return -1;
	log_debug(&t->place->ctx->log, "master %s is made, number %d", s->link.name,
		  s->link.ifindex);
	s->making = false;
	return demand_write(t->store.dir, s, e);
}

static int check_members_free(const struct taking *t, const struct demand_link *l, struct err *e)
{
	for (size_t i = 0; l->kind == DEMAND_BOND && i < l->n; i++)
		if (demand_check_free(t->place->nl, l->lower[i].ifindex, e))
			return err_wrap(e, "master: bond[%zu]", i);
	return 0;
}

/* The file is written before the kernel is asked about the members, and before the link is made. */
static int take_link(const struct taking *t, struct demand_plan *plan, size_t i, struct err *e)
{
	auto_demand_state struct demand_state s = { .users = NULL };
	int rc = read_state(t, plan->link[i].name, &s, e);

	if (rc < 0)
		return -1;
	if (!plan->there[i]) {
		s.link = plan->link[i];
		s.making = true;
	}
	memcpy(s.boot, t->boot, sizeof(s.boot));
	s.netns = t->here;
	/* A DEL that was killed may have left the question whether it is in use. */
	if (plan->there[i] && demand_release(t->place->nl, plan->is[i].ifindex, e))
		return -1;
	if (demand_add_user(&s, t->key, e) || demand_write(t->store.dir, &s, e))
		return -1;
	if (!s.making)
		return 0;
	return check_members_free(t, &s.link, e) || make(t, &s, e) ? -1 : 0;
}

int demand_take(struct master_place *p, const struct json *object, const struct record_key *key,
		struct link_info *link, struct err *e)
{
	auto_clean(
		taking_clear) struct taking t = { .place = p, .key = key, .store = DEMAND_CLOSED };
	struct demand_conf conf;
	struct demand_plan plan;
	int rc;

	if (demand_read_conf(object, &conf, e) || demand_take_begin(&t, e) ||
	    demand_make_plan(p, &conf, &plan, e))
		return -1;
	rc = demand_take_settle(&t, &plan, e);
	if (rc < 0 || (rc > 0 && demand_make_plan(p, &conf, &plan, e)))
		return -1;
	for (size_t i = 0; i < plan.n; i++) {
		/* a link that another program made is not counted, and not removed */
		if (plan.there[i] && !plan.mine[i])
			continue;
		if (take_link(&t, &plan, i, e))
			return -1;
	}
	*link = plan.is[plan.n - 1];
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose.c: the search for an address. A cursor finds addresses that were never used, and a queue
 * finds the one that has rested longest.
 */
#include "ipam/alloc/choose.h"

#include <inttypes.h>
#include <string.h>

static bool request_owns(const struct addr_request *request, struct ip ip)
{
	for (size_t i = 0; i < request->n_avoid; i++) {
		if (ip_equal(request->avoid[i], ip))
			return true;
	}
	return false;
}

bool request_avoids(const struct addr_request *request, const struct source *s, struct ip ip)
{
	return request_owns(request, ip) || overlap_in_use(request->overlap, s, ip);
}

int64_t resting_future(const struct lease_db *l, const struct source *s)
{
	int64_t cooldown = s->policy.cooldown;

	return l->now + (cooldown > LEASE_DB_CONFLICT_NS ? cooldown : LEASE_DB_CONFLICT_NS) + 1;
}

static int take_first(const char *key, const char *value, void *arg)
{
	struct rest_queue *q = arg;
	char source[KEY_ID_LEN + 1];
	struct key_address a;

	(void)value;
	if (key_parse_rest(key, &a, source, &q->since) || !ranges_contain(&q->s->usable, a.ip) ||
	    request_avoids(q->request, q->s, a.ip))
		return 0;
	q->ip = a.ip;
	return 1;
}

int resting_first(struct lease_db *l, struct rest_queue *q, const char *id, int64_t from,
		  struct err *e)
{
	struct key prefix, start;

	q->ip.family = IP_NONE;
	key_of_rests(&prefix, q->s->scope, id);
	key_of_rest(&start, q->s->scope, id, from, NULL);
	return lease_db_scan_from(l, (struct store_span){ prefix.s, start.s }, take_first, q, e);
}

int resting_rested(struct lease_db *l, struct rest_queue *q, struct err *e)
{
	if (resting_first(l, q, q->s->id, 0, e))
		return -1;
	if (!q->ip.family || lease_db_has_rested(q->since, l->now, q->s->policy.cooldown))
		return 0;
	/* After those that cool down there may be some with a time before the clock was set back.
	 */
	return resting_first(l, q, q->s->id, resting_future(l, q->s), e);
}

/* If an overlap could not be checked, the address counted as held, so the choice is not valid. */
static int check_overlap_error(const struct addr_request *request, int rc, struct err *e)
{
	if (!request->overlap || !request->overlap->failed)
		return rc;
	return err_pass(e, &request->overlap->e);
}

/* An address that the cursor did not find. The cursor stays. */
static struct addr_choice keep_cursor(const struct source *s, struct ip ip,
				      const struct source_usage *t)
{
	return (struct addr_choice){ .source = s, .ip = ip, .next = t->next, .done = t->done };
}

/* ---- the sticky address ---- */

/* 1: the address may be assigned, unless it is held. 0: its block belongs to another node. */
static int may_choose(struct lease_db *l, const struct source *s,
		      const struct addr_request *request, struct ip ip, struct err *e)
{
	return s->blocks.shared ? block_may_choose(l, s, ip, request, e) : 1;
}

static int choose_sticky(struct lease_db *l, const struct source *s,
			 const struct addr_request *request, struct ip *out, struct err *e)
{
	struct key_list list;

	if (!s->policy.sticky)
		return 0;
	if (lease_db_sticky(l, s->scope, request->owner, &list, e))
		return -1;
	for (size_t i = 0; i < list.n; i++) {
		auto_lease struct lease rec = { 0 };
		struct key_address a;
		bool found;

		if (key_parse_address(list.items[i].s, &a) || !ranges_contain(&s->usable, a.ip) ||
		    strcmp(a.scope, s->scope) != 0 || request_avoids(request, s, a.ip))
			continue;
		if (lease_db_lease(l, list.items[i].s, &rec, &found, e))
			return -1;
		/* A time of release in the future: another host used the address a moment ago. */
		if (found && (rec.state == LEASE_HELD ||
			      (rec.since > l->now && !lease_db_has_rested(rec.since, l->now, 0))))
			continue;
		int rc = may_choose(l, s, request, a.ip, e);
		if (rc > 0)
			*out = a.ip;
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- addresses that were never used, by the cursor ---- */

struct sweep {
	struct lease_db *l;
	const struct source *s;
	const struct addr_request *request;
	struct ip want; /* the next address that could be free */
	bool have;      /* there is such an address */
	struct ip hold; /* the first one that was skipped only for this container; IP_NONE: none */
	uint64_t skipped; /* addresses of the node, before hold */
};

/* Called for each record after the cursor. It stops at the first gap between them. */
static int on_choose_lease(const char *key, const char *value, void *arg)
{
	struct sweep *w = arg;
	struct key_address a;

	(void)value;
	if (key_parse_address(key, &a) || ip_cmp(a.ip, w->want) < 0)
		return 0;
	if (ip_cmp(a.ip, w->want) > 0)
		return 1;
	w->have = ranges_after(&w->s->usable, w->want, &w->want);
	return !w->have;
}

/* Moves w->want to the first address without a record, if there is one. */
static int sweep_on(struct sweep *w, struct err *e)
{
	struct key prefix, from;

	while (w->have) {
		key_of_addresses(&prefix, w->s->scope, w->want.family);
		key_of_address(&from, w->s->scope, w->want);
		if (lease_db_scan_from(w->l, (struct store_span){ prefix.s, from.s },
				       on_choose_lease, w, e))
			return -1;
		if (!w->have || !request_avoids(w->request, w->s, w->want))
			return 0;
		if (check_overlap_error(w->request, 0, e))
			return -1;
		/*
		 * An address of the node is for no container, and the next search must not walk
		 * again from there. Another one may be free for the next container.
		 */
		if (!w->hold.family && overlap_is_of_node(w->request->overlap, w->want))
			w->skipped++;
		else if (!w->hold.family)
			w->hold = w->want;
		w->have = ranges_after(&w->s->usable, w->want, &w->want);
	}
	return 0;
}

/* The next search begins after the chosen address, or at the first one that was skipped. */
static void set_cursor(const struct sweep *w, struct addr_choice *c)
{
	c->done = false;
	c->skipped = w->skipped;
	if (w->hold.family) {
		c->next = w->hold;
	} else if (!w->have || !ranges_after(&w->s->usable, w->want, &c->next)) {
		c->next = w->s->usable.items[w->s->usable.n - 1].last;
		c->done = true;
	}
}

/* 1: the sweep from `from` found an address. The cursor is set in any case. */
static int choose_swept(struct sweep w, struct ip from, struct addr_choice *out, struct err *e)
{
	w.have = ranges_next(&w.s->usable, from, &w.want);
	if (sweep_on(&w, e))
		return -1;
	out->ip = w.want;
	set_cursor(&w, out);
	return w.have ? 1 : 0;
}

/* ---- addresses that rest under an earlier id of this source ---- */

#define OTHERS_MAX 64

/* Other sources of the scope: of other sets, and this one before its ranges changed. */
struct others {
	const struct source *s;
	char ids[OTHERS_MAX][KEY_ID_LEN + 1]; /* those that have resting addresses */
	size_t n;
	bool forgotten; /* one of them has forgotten addresses */
	bool nomem;
};

static int note_other(const char *key, const char *value, void *arg)
{
	struct others *o = arg;
	const char *id = strrchr(key, '/') + 1;
	struct source_usage t;
	struct err why;

	if (strcmp(id, o->s->id) == 0 || strlen(id) > KEY_ID_LEN)
		return 0;
	if (source_usage_parse(value, key, &t, &why)) {
		o->nomem = why.code == ERR_NOMEM;
		return o->nomem;
	}
	if (t.next.family && t.next.family != o->s->subnet.addr.family)
		return 0;
	o->forgotten = o->forgotten || t.forgotten;
	if (t.resting)
		memcpy(o->ids[o->n++], id, strlen(id) + 1);
	return o->n == OTHERS_MAX;
}

static int load_others(struct lease_db *l, const struct source *s, struct others *out,
		       struct err *e)
{
	struct key prefix;

	*out = (struct others){ .s = s };
	key_of_usage(&prefix, s->scope, "");
	if (lease_db_scan(l, &prefix, note_other, out, e))
		return -1;
	return out->nomem ? err_nomem(e) : 0;
}

/* The usable address of other sources that has rested longest. */
static int find_foreign(struct lease_db *l, const struct others *o,
			const struct addr_request *request, struct rest_queue *out, struct err *e)
{
	*out = (struct rest_queue){ .request = request, .s = o->s };
	for (size_t i = 0; i < o->n; i++) {
		struct rest_queue q = *out;

		if (resting_first(l, &q, o->ids[i], 0, e))
			return -1;
		if (q.ip.family && (!out->ip.family || q.since < out->since))
			*out = q;
	}
	return 0;
}

/* ---- the choice ---- */

/* The last attempts: addresses of other sources, and addresses that were forgotten. */
static int choose_lost(struct sweep w, const struct source_usage *t, struct addr_choice *c,
		       struct err *e)
{
	struct others others;
	struct rest_queue q;

	if (load_others(w.l, w.s, &others, e) || find_foreign(w.l, &others, w.request, &q, e))
		return -1;
	if (q.ip.family && lease_db_has_rested(q.since, w.l->now, w.s->policy.cooldown)) {
		c->ip = q.ip;
		return 1;
	}
	if (!t->forgotten && !others.forgotten)
		return 0;
	/* Forgotten addresses are before the cursor: search again from the start. */
	c->restarted = true;
	return choose_swept(w, w.s->usable.items[0].first, c, e);
}

/* The address of the pod's earlier sandbox. */
static int choose_own(struct lease_db *l, const struct source *s,
		      const struct addr_request *request, struct ip *out, struct err *e)
{
	if (!request->own.family || !ranges_contain(&s->usable, request->own) ||
	    request_avoids(request, s, request->own))
		return 0;
	int rc = may_choose(l, s, request, request->own, e);
	if (rc > 0)
		*out = request->own;
	return rc;
}

/* An address of a pool without blocks: the cursor first, then the queue. */
static int choose_any(struct sweep w, const struct source_usage *t, struct addr_choice *c,
		      struct err *e)
{
	struct rest_queue q = { .request = w.request, .s = w.s };
	int rc = 0;

	if (!t->done)
		rc = choose_swept(w, t->next.family ? t->next : w.s->usable.items[0].first, c, e);
	if (rc)
		return rc;
	if (resting_rested(w.l, &q, e))
		return -1;
	c->ip = q.ip;
	return q.ip.family ? 1 : choose_lost(w, t, c, e);
}

int alloc_choose(struct lease_db *l, const struct source *s, const struct addr_request *request,
		 struct addr_choice *out, struct err *e)
{
	struct sweep w = { .l = l, .s = s, .request = request };
	struct addr_choice c;
	struct source_usage t;
	int rc;

	if (lease_db_usage(l, s->scope, s->id, &t, e))
		return -1;
	c = keep_cursor(s, (struct ip){ .family = IP_NONE }, &t);
	rc = choose_sticky(l, s, request, &c.ip, e);
	if (rc == 0)
		rc = choose_own(l, s, request, &c.ip, e);
	if (rc > 0 && s->blocks.shared)
		rc = block_choose_at(l, s, c.ip, &c, e) ? -1 : 1;
	else if (rc == 0)
		rc = s->blocks.shared ? block_choose(l, s, request, &c, e)
				      : choose_any(w, &t, &c, e);
	if (rc > 0)
		*out = c;
	return check_overlap_error(request, rc, e);
}

int alloc_choose_cooling(struct lease_db *l, const struct source *s,
			 const struct addr_request *request, struct addr_choice *out, struct err *e)
{
	struct rest_queue own = { .request = request, .s = s }, stray;
	struct sweep w = { .l = l, .s = s, .request = request };
	struct others others;
	struct source_usage t;

	if (s->blocks.shared)
		return check_overlap_error(request, block_choose_cooling(l, s, request, out, e), e);
	if (s->policy.strict)
		return 0;
	if (lease_db_usage(l, s->scope, s->id, &t, e) || resting_first(l, &own, s->id, 0, e) ||
	    load_others(l, s, &others, e) || find_foreign(l, &others, request, &stray, e))
		return -1;
	struct addr_choice c = keep_cursor(s, own.ip, &t);
	/* Only to move the cursor: the next search need not repeat this one. */
	if (!t.done &&
	    choose_swept(w, t.next.family ? t.next : s->usable.items[0].first, &c, e) < 0)
		return -1;
	c.ip = own.ip;
	if (stray.ip.family && (!own.ip.family || stray.since < own.since))
		c.ip = stray.ip;
	*out = c;
	return check_overlap_error(request, c.ip.family ? 1 : 0, e);
}

static int refuse_held(const struct lease *rec, struct ip ip, struct err *e)
{
	char text[IP_STR_LEN];

	err_set(e, ERR_BUSY, 0, "address %s is held by container %.64s, interface %.32s",
		ip_format(ip, text), rec->owner.container, rec->owner.ifname);
	if (*rec->owner.pod)
		return err_hint(e, "pod %s/%s", rec->owner.ns, rec->owner.pod);
	return -1;
}

int alloc_choose_exactly(struct lease_db *l, const struct source *s,
			 const struct addr_request *request, struct addr_choice *out, struct err *e)
{
	const struct ip ip = request->want;
	auto_lease struct lease rec = { 0 };
	char text[IP_STR_LEN];
	struct source_usage t;
	int found;

	if (request_owns(request, ip))
		return err_set(e, ERR_BUSY, 0,
			       "address %s is held by another interface of the same container",
			       ip_format(ip, text));
	found = lease_db_of_address(l, s->scope, ip, &rec, e);
	if (found < 0 || lease_db_usage(l, s->scope, s->id, &t, e))
		return -1;
	if (found && rec.state == LEASE_HELD)
		return refuse_held(&rec, ip, e);
	if (overlap_is_of_node(request->overlap, ip)) {
		if (check_overlap_error(request, 0, e))
			return -1;
		return overlap_refuse_of_node(ip, e);
	}
	if (overlap_in_use(request->overlap, s, ip)) {
		if (check_overlap_error(request, 0, e))
			return -1;
		err_set(e, ERR_BUSY, 0, "address %s is held outside of %s", ip_format(ip, text),
			s->label);
		return err_hint(e, "an overlapping range of this network_name holds it, or a file "
				   "of host-local in /var/lib/cni/networks");
	}
	int may = may_choose(l, s, request, ip, e);
	if (may <= 0)
		return may;
	if (found && s->policy.strict && !owner_same_pod(&rec.owner, request->owner) &&
	    !lease_db_has_rested(rec.since, l->now, s->policy.cooldown)) {
		int64_t left = rec.since + s->policy.cooldown - l->now;

		err_set(e, ERR_BUSY, 0, "address %s of %s cools down for another %" PRId64 " s",
			ip_format(ip, text), s->label, left / 1000000000 + 1);
		return err_hint(e, "wait, shorten cooldown, or clear strictCooldown");
	}
	if (s->blocks.shared)
		return block_choose_at(l, s, ip, out, e) ? -1 : 1;
	*out = keep_cursor(s, ip, &t);
	return 1;
}

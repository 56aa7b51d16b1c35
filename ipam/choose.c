/* SPDX-License-Identifier: Apache-2.0 */
#include "ipam/choose.h"

#include <inttypes.h>
#include <string.h>

/* A release further in the future than a cooldown can explain: the clock was set back since. */
bool choose_rested(int64_t since, int64_t now, int64_t cooldown)
{
	return since <= now - cooldown || since > now + cooldown;
}

static bool avoided(const struct ask *ask, struct ip ip)
{
	for (size_t i = 0; i < ask->n_avoid; i++) {
		if (ip_equal(ask->avoid[i], ip))
			return true;
	}
	return false;
}

/* The cursor stays as it is for whatever is not found by it. */
static struct choice keep_cursor(const struct source *s, struct ip ip, const struct tally *t)
{
	return (struct choice){ .source = s, .ip = ip, .next = t->next, .done = t->done };
}

/* ---- the sticky address ---- */

static int choose_sticky(struct ledger *l, const struct source *s, const struct ask *ask,
			 struct ip *out, struct err *e)
{
	struct key_list list;

	if (!s->policy.sticky)
		return 0;
	if (ledger_sticky(l, s->scope, ask->owner, &list, e))
		return -1;
	for (size_t i = 0; i < list.n; i++) {
		auto_lease struct lease rec = { 0 };
		struct key_address a;
		bool found;

		if (key_parse_address(list.items[i].s, &a) || !ranges_contain(&s->usable, a.ip) ||
		    strcmp(a.scope, s->scope) != 0 || avoided(ask, a.ip))
			continue;
		if (ledger_lease(l, list.items[i].s, &rec, &found, e))
			return -1;
		if (found && rec.state == LEASE_HELD)
			continue;
		*out = a.ip;
		return 1;
	}
	return 0;
}

/* ---- never used addresses, by the cursor ---- */

struct sweep {
	struct ledger *l;
	const struct source *s;
	const struct ask *ask;
	struct ip want;    /* the next address that could be free */
	bool have;         /* there is such an address */
	struct ip hold;    /* first one passed over that stays a candidate; IP_NONE: none */
	bool rested;       /* want is a rested one of an earlier shape of this source */
	struct ip cooling; /* ... and the longest cooling one of those; IP_NONE: none */
	int64_t cooling_since;
	struct err *e;
	bool failed;
};

static void pass_over(struct sweep *w)
{
	if (!w->hold.family)
		w->hold = w->want;
}

/*
 * A record that rests under another source id was released before the ranges of this source were
 * changed. It is in no queue of ours, so it is met here. Returns true when it can be had.
 */
static bool meet_resting(struct sweep *w, const struct lease *rec)
{
	if (strcmp(rec->source, w->s->id) == 0)
		return false; /* the queue knows it */
	if (avoided(w->ask, w->want)) {
		pass_over(w);
		return false;
	}
	if (choose_rested(rec->since, w->l->now, w->s->policy.cooldown)) {
		w->rested = true;
		return true;
	}
	pass_over(w);
	if (!w->cooling.family || rec->since < w->cooling_since) {
		w->cooling = w->want;
		w->cooling_since = rec->since;
	}
	return false;
}

/* Called for each record from the cursor on: ends at the first gap between them. */
static int meet(const char *key, const char *value, void *arg)
{
	struct sweep *w = arg;
	struct key_address a;
	struct lease rec = { 0 };

	if (key_parse_address(key, &a) || ip_cmp(a.ip, w->want) < 0)
		return 0;
	if (ip_cmp(a.ip, w->want) > 0)
		return 1;
	if (lease_parse(value, key, &rec, w->e)) {
		w->failed = true;
		return 1;
	}
	bool found = rec.state == LEASE_RESTING && meet_resting(w, &rec);
	lease_clear(&rec);
	if (found)
		return 1;
	w->have = ranges_after(&w->s->usable, w->want, &w->want);
	return !w->have;
}

/* Walk from w->want to the first address that can be had, if any. */
static int sweep_on(struct sweep *w)
{
	struct key prefix, from;

	while (w->have) {
		key_of_addresses(&prefix, w->s->scope, w->want.family);
		key_of_address(&from, w->s->scope, w->want);
		if (ledger_scan(w->l, &prefix, &from, meet, w, w->e) || w->failed)
			return -1;
		if (!w->have || w->rested || !avoided(w->ask, w->want))
			return 0;
		pass_over(w);
		w->have = ranges_after(&w->s->usable, w->want, &w->want);
	}
	return 0;
}

static struct sweep sweep_begin(struct ledger *l, const struct source *s, const struct ask *ask,
				struct ip from, struct err *e)
{
	struct sweep w = { .l = l, .s = s, .ask = ask, .e = e };

	w.have = ranges_next(&s->usable, from, &w.want);
	return w;
}

/* What the cursor says after the sweep: go on behind the address taken, or at one passed over. */
static void set_cursor(const struct sweep *w, struct choice *c)
{
	if (w->hold.family) {
		c->next = w->hold;
		c->done = false;
	} else if (w->have) {
		c->done = !ranges_after(&w->s->usable, w->want, &c->next);
		if (c->done)
			c->next = w->want;
	} else {
		c->done = true;
		c->next = w->s->usable.items[w->s->usable.n - 1].last;
	}
}

static struct ip cursor(const struct source *s, const struct tally *t)
{
	return t->next.family ? t->next : s->usable.items[0].first;
}

/* ---- resting addresses, by the queue ---- */

struct queue {
	const struct ask *ask;
	struct ip ip; /* IP_NONE: nothing found */
	int64_t since;
};

static int take_first(const char *key, const char *value, void *arg)
{
	struct queue *q = arg;
	char source[KEY_ID_LEN + 1];
	struct key_address a;

	(void)value;
	if (key_parse_rest(key, &a, source, &q->since) || avoided(q->ask, a.ip))
		return 0;
	q->ip = a.ip;
	return 1;
}

static int queue_head(struct ledger *l, const struct source *s, struct queue *q, int64_t from,
		      struct err *e)
{
	struct key prefix, start;

	q->ip.family = IP_NONE;
	key_of_rests(&prefix, s->scope, s->id);
	key_of_rest(&start, s->scope, s->id, from, NULL);
	return ledger_scan(l, &prefix, &start, take_first, q, e);
}

static int choose_queued(struct ledger *l, const struct source *s, const struct ask *ask,
			 struct ip *out, struct err *e)
{
	struct queue q = { .ask = ask };

	if (queue_head(l, s, &q, 0, e))
		return -1;
	/* The head has rested least long only in the eyes of a clock that was set back: ask behind.
	 */
	if (q.ip.family && !choose_rested(q.since, l->now, s->policy.cooldown) &&
	    queue_head(l, s, &q, l->now + s->policy.cooldown + 1, e))
		return -1;
	*out = q.ip;
	return q.ip.family ? 1 : 0;
}

/* ---- all together ---- */

/* 1 when the sweep from `from` found one; the cursor is set in any case. */
static int choose_swept(struct sweep *w, struct choice *out)
{
	if (sweep_on(w))
		return -1;
	*out = (struct choice){ .source = w->s, .ip = w->want };
	set_cursor(w, out);
	return w->have ? 1 : 0;
}

int choose(struct ledger *l, const struct source *s, const struct ask *ask, struct choice *out,
	   struct err *e)
{
	struct choice c;
	struct tally t;
	struct ip ip;
	int rc;

	if (ledger_tally(l, s->scope, s->id, &t, e))
		return -1;
	if ((rc = choose_sticky(l, s, ask, &ip, e)) != 0) {
		*out = keep_cursor(s, ip, &t);
		return rc;
	}
	c = keep_cursor(s, ip, &t);
	if (!t.done) {
		struct sweep w = sweep_begin(l, s, ask, cursor(s, &t), e);
		if ((rc = choose_swept(&w, &c)) != 0) {
			*out = c;
			return rc;
		}
	}
	if ((rc = choose_queued(l, s, ask, &c.ip, e)) != 0 || !t.forgotten) {
		*out = c;
		return rc;
	}
	/* Forgotten addresses lie behind the cursor: look once more from the start. */
	struct sweep again = sweep_begin(l, s, ask, s->usable.items[0].first, e);
	rc = choose_swept(&again, out);
	out->restarted = true;
	return rc;
}

int choose_cooling(struct ledger *l, const struct source *s, const struct ask *ask,
		   struct choice *out, struct err *e)
{
	struct queue q = { .ask = ask };
	struct tally t;

	if (s->policy.strict)
		return 0;
	if (ledger_tally(l, s->scope, s->id, &t, e) || queue_head(l, s, &q, 0, e))
		return -1;
	struct choice c = keep_cursor(s, q.ip, &t);
	if (!t.done) {
		struct sweep w = sweep_begin(l, s, ask, cursor(s, &t), e);
		if (sweep_on(&w))
			return -1;
		set_cursor(&w, &c);
		if (w.cooling.family && (!q.ip.family || w.cooling_since < q.since))
			c.ip = w.cooling;
	}
	*out = c;
	return c.ip.family ? 1 : 0;
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

static int refuse_cooling(const struct source *s, struct ip ip, int64_t left, struct err *e)
{
	char text[IP_STR_LEN];

	err_set(e, ERR_BUSY, 0, "address %s of %s cools down for another %" PRId64 " s",
		ip_format(ip, text), s->label, left / 1000000000 + 1);
	return err_hint(e, "strictCooldown is set; it can be lowered or cleared");
}

int choose_exactly(struct ledger *l, const struct source *s, struct ip ip, const struct ask *ask,
		   struct choice *out, struct err *e)
{
	auto_lease struct lease rec = { 0 };
	char text[IP_STR_LEN];
	struct tally t;
	struct key k;
	bool found;

	if (avoided(ask, ip))
		return err_set(e, ERR_BUSY, 0,
			       "address %s is held by another interface of the same container",
			       ip_format(ip, text));
	key_of_address(&k, s->scope, ip);
	if (ledger_tally(l, s->scope, s->id, &t, e) || ledger_lease(l, k.s, &rec, &found, e))
		return -1;
	if (found && rec.state == LEASE_HELD)
		return refuse_held(&rec, ip, e);
	if (found && s->policy.strict && !owner_same_pod(&rec.owner, ask->owner) &&
	    !choose_rested(rec.since, l->now, s->policy.cooldown))
		return refuse_cooling(s, ip, rec.since + s->policy.cooldown - l->now, e);
	*out = keep_cursor(s, ip, &t);
	return 0;
}

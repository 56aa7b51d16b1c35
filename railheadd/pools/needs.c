/* SPDX-License-Identifier: Apache-2.0 */
/*
 * needs.c: ADDs that wait for an address. They are served in the order in which they came: each one
 * counts on addresses that are not promised to one before it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ipam/conf/pool.h"
#include "ipam/conf/pool_blocks.h"
#include "lib/base/text.h"
#include "lib/sys/timer.h"
#include "railheadd/pools/driver_parts.h"
#include "railheadd/pools/driver_priv.h"

/* Longer than the pauses of a heartbeat that is refused. */
#define LATELY (10 * INT64_C(1000000000))

struct driver_need {
	TAILQ_ENTRY(driver_need) all;
	struct driver *driver;
	char pool[GRID_POOL_MAX + 1];
	char identity[IDENTITY_LEN]; /* "": any address will do */
	uint64_t addresses;
	struct ip ip;         /* its block is waited for; IP_NONE: any addresses */
	struct block_key key; /* that block, if `wanted` */
	bool wanted;          /* the agent has its block in its list */
	int64_t since;
	driver_need_fn fn;
	void *arg;
	struct timer *timer;
	bool migrates;                /* the identity is of a machine that migrates to this node */
	bool reported, identity_done; /* the agent knows the identity; it said what became of it */
	enum need_result result;
	struct block_seen held; /* of NEED_HELD */
	bool served, failed;    /* and fn is called with it */
};

/* The first one, from n on, that waits for the pool; NULL: none. */
static struct driver_need *needs_first_of(struct driver_need *n, const char *pool)
{
	while (n && strcmp(n->pool, pool) != 0)
		n = TAILQ_NEXT(n, all);
	return n;
}

/* Any addresses of the pool will do. */
static bool is_of_any(const struct driver_need *n)
{
	return !n->ip.family && !*n->identity;
}

/* The agent gets the sum of all needs of the pool, and each identity. */
bool needs_tell(struct driver *d, const char *pool)
{
	struct driver_need *n = needs_first_of(TAILQ_FIRST(&d->needs), pool);
	uint64_t sum = 0;

	for (; n; n = needs_first_of(TAILQ_NEXT(n, all), pool)) {
		if (*n->identity && !n->reported)
			n->reported = agent_need_identity(d->agent, pool, n->identity, n->migrates);
		sum += is_of_any(n) ? n->addresses : 0;
	}
	(void)agent_need(d->agent, pool, sum);
	return sum > 0;
}

/* ---- the block of one address ---- */

/* A pool that is not known here may come with the first list. */
static void want(struct driver_need *n)
{
	const struct pool_entry *p = pools_find(n->driver, n->pool);

	if (!p)
		return;
	n->key = (struct block_key){ .start = grid_start(&p->view.pool.grid, n->ip) };
	n->key.one = (uint32_t)(n->ip.v - n->key.start.v) + 1;
	memcpy(n->key.pool, n->pool, sizeof(n->key.pool));
	n->wanted = agent_want(n->driver->agent, &n->key);
}

void needs_want(struct driver *d)
{
	struct driver_need *n;

	for (n = TAILQ_FIRST(&d->needs); n; n = TAILQ_NEXT(n, all)) {
		if (n->ip.family && !n->wanted)
			want(n);
	}
}

/* The need is gone from the list; others may wait for its block. */
static void want_no_more(struct driver *d, const struct driver_need *gone)
{
	const struct driver_need *n;

	for (n = TAILQ_FIRST(&d->needs); n; n = TAILQ_NEXT(n, all)) {
		if (n->wanted && block_key_equal(&n->key, &gone->key))
			return;
	}
	agent_unwant(d->agent, &gone->key);
}

static void needs_drop(struct driver_need *n)
{
	struct driver *d = n->driver;

	TAILQ_REMOVE(&d->needs, n, all);
	if (n->wanted)
		want_no_more(d, n);
	timer_free(n->timer);
	free(n);
}

static void needs_finish(struct driver_need *n, const struct err *why)
{
	struct driver *d = n->driver;
	driver_need_fn fn = n->fn;
	char pool[sizeof(n->pool)];
	void *arg = n->arg;

	memcpy(pool, n->pool, sizeof(pool));
	needs_drop(n);
	(void)needs_tell(d, pool);
	fn(arg, why);
}

void driver_need_cancel(struct driver_need *n)
{
	struct driver *d = n->driver;
	char pool[sizeof(n->pool)];

	memcpy(pool, n->pool, sizeof(pool));
	needs_drop(n);
	(void)needs_tell(d, pool);
}

/* ---- served ---- */

static void explain_want(const struct driver_need *n, const struct want_answer *answer,
			 struct err *e);
static void serve_identity_done(struct driver *d);

/* Needs are served in their order; one that is too large lets none pass. */
static void needs_choose(struct driver *d, const char *pool)
{
	struct driver_need *n = needs_first_of(TAILQ_FIRST(&d->needs), pool);
	uint64_t spare = UINT64_MAX;

	for (; n; n = needs_first_of(TAILQ_NEXT(n, all), pool)) {
		if (!is_of_any(n))
			continue;
		if (spare == UINT64_MAX)
			spare = driver_agent_ops.spare(d, pool);
		if (n->addresses > spare)
			return;
		spare -= n->addresses;
		n->served = true;
	}
}

/* ADDs that wait for the block of one address. */
static void serve_wants(struct driver *d)
{
	struct driver_need *n = TAILQ_FIRST(&d->needs);

	while (n) {
		struct want_answer answer = { .ended = false };
		struct err why;

		if (n->wanted)
			answer = agent_wanted(d->agent, &n->key);
		if (!answer.ended) {
			n = TAILQ_NEXT(n, all);
			continue;
		}
		if (answer.how != NEED_MET)
			explain_want(n, &answer, &why);
		needs_finish(n, answer.how == NEED_MET ? NULL : &why);
		n = TAILQ_FIRST(&d->needs);
	}
}

void needs_serve(struct driver *d)
{
	struct driver_need *n, *next;
	struct pool_entry *p;

	if (TAILQ_EMPTY(&d->needs))
		return;
	serve_wants(d);
	serve_identity_done(d);
	for (p = TAILQ_FIRST(&d->pools); p; p = TAILQ_NEXT(p, all))
		needs_choose(d, p->view.pool.name);
	for (n = TAILQ_FIRST(&d->needs); n; n = next) {
		next = TAILQ_NEXT(n, all);
		if (!n->served)
			continue;
		needs_finish(n, NULL);
		/* fn may have cancelled others. */
		next = TAILQ_FIRST(&d->needs);
	}
}

/* ---- of identities ---- */

void needs_identity_done(void *arg, const char *pool, const char *identity, enum need_result result,
			 const struct block_seen *held)
{
	const struct driver *d = arg;
	struct driver_need *n = needs_first_of(TAILQ_FIRST(&d->needs), pool);

	for (; n; n = needs_first_of(TAILQ_NEXT(n, all), pool)) {
		if (!n->reported || strcmp(n->identity, identity) != 0)
			continue;
		n->identity_done = true;
		n->result = result;
		if (held)
			block_seen_copy(&n->held, held);
	}
}

/* The pod lives, or its node has not said yet that it ended. */
static int explain_held(const struct driver_need *n, struct err *e)
{
	const char *node = n->held.block.owner.node, *end = strrchr(n->identity, '/');
	const char *target = n->held.block.asker.node;
	char text[IP_STR_LEN];

	if (n->migrates && *target) {
		err_set(e, ERR_AGAIN, 0,
			"pool %s: virtual machine %.*s on node %s migrates to node %s already",
			n->pool, (int)(end ? end - n->identity : 0), n->identity, node, target);
		return err_hint(e, "wait until the pod of that migration or its source has ended");
	}
	err_set(e, ERR_AGAIN, 0, "pool %s: address %s is held by %s %.*s on node %s", n->pool,
		ip_format(n->held.key.start, text),
		strstr(n->identity, "/vm:") ? "virtual machine" : "pod",
		(int)(end ? end - n->identity : 0), n->identity, node);
	return err_hint(e,
			"it is free when that pod has ended; if node %s is off for good: `railctl "
			"cluster node forget %s`",
			node, node);
}

/* ---- not served ---- */

static const char *no_answer(const struct driver *d)
{
	return d->heard.why.code ? d->heard.why.msg : "it was not reached yet";
}

static int away(const struct driver *d, const char *pool, struct err *e)
{
	if (!pools_find(d, pool) && !d->conf.store)
		return pool_missing(pool, d->conf.node, e);
	err_set(e, ERR_AGAIN, 0, "pool %s: node %s %s, and %s%s", pool, d->conf.node,
		pools_find(d, pool) ? "has no free address" : "does not know it yet",
		d->conf.store ? "the cluster store gives no answer: " : "no cluster store is set",
		d->conf.store ? no_answer(d) : "");
	return err_hint(e, d->conf.store ? "see `railctl cluster status`"
					 : "name it in /etc/railhead/agent.json");
}

/*
 * The store refused something since the oldest ADD began to wait for the pool, or shortly before
 * and has executed nothing since then.
 */
static bool needs_was_refused(const struct driver *d, const char *pool)
{
	const struct driver_need *n = needs_first_of(TAILQ_FIRST(&d->needs), pool);
	int64_t since = n ? n->since : INT64_MAX;

	if (d->heard.refusing && ctx_since_boot(d->conf.ctx) - d->heard.refused_at < LATELY)
		return true;
	return d->heard.refused.code && d->heard.refused_at >= since;
}

static int store_refused(const struct driver *d, const char *pool, struct err *e)
{
	const struct err *why = &d->heard.refused;

	err_set(e, ERR_AGAIN, 0, "pool %s: the cluster store refuses a block: %s", pool, why->msg);
	return err_hint(e, "%s", *why->detail ? why->detail : "see `railctl cluster status`");
}

/*
 * An API server closes the connection when it refuses a token, so that requests beside that one
 * get no answer. The refusal says more.
 */
static int unanswered(const struct driver *d, const char *pool, struct err *e)
{
	return needs_was_refused(d, pool) ? store_refused(d, pool, e) : away(d, pool, e);
}

static int needs_refused(const struct driver *d, const char *pool, struct err *e)
{
	const struct pool_entry *p = pools_find(d, pool);
	enum agent_health health = agent_health(d->agent);

	if (p && p->view.pool.ending)
		err_set(e, ERR_AGAIN, 0, "pool %s was deleted; pods of this node still use it",
			pool);
	else if (p && node_labels_exclude(&d->labels, p->definition))
		return node_labels_explain(&d->labels, pool, p->definition, e);
	else if (p && p->view.pool.conflict)
		err_set(e, ERR_AGAIN, 0, "pool %s overlaps an older pool", pool);
	else if (health == AGENT_TWIN)
		err_set(e, ERR_AGAIN, 0, "pool %s: another machine has the name of this node",
			pool);
	else if (health == AGENT_FROZEN)
		err_set(e, ERR_AGAIN, 0,
			"pool %s: the cluster store was restored, so no block is claimed for a "
			"while",
			pool);
	else if (needs_was_refused(d, pool))
		return store_refused(d, pool, e);
	else
		err_set(e, ERR_AGAIN, 0, "pool %s gives this node no block now", pool);
	return err_hint(e, "see `railctl cluster status`");
}

/* "node n1 has 8 blocks, n2 has 5, 4 other nodes have 9" */
static void list_holders(const struct pool_holders *h, struct text *out)
{
	uint64_t nodes = h->nodes, blocks = h->blocks;

	for (size_t i = 0; i < POOL_HOLDERS_MAX && h->most[i].blocks; i++) {
		text_addf(out, "%s%s has %" PRIu64 "%s", i ? ", " : "node ", h->most[i].node,
			  h->most[i].blocks,
			  i                        ? ""
			  : h->most[i].blocks == 1 ? " block"
						   : " blocks");
		nodes--;
		blocks -= h->most[i].blocks;
	}
	if (nodes)
		text_addf(out, ", %" PRIu64 " other node%s %" PRIu64, nodes,
			  nodes == 1 ? " has" : "s have", blocks);
}

static void full(const struct driver *d, const char *pool, struct err *e)
{
	const struct pool_holders h = agent_holders(d->agent, pool);
	auto_text struct text holders = { .s = NULL };

	err_set(e, ERR_EXHAUSTED, 0,
		"pool %s is full: each of its blocks has an owner, none of them is empty, and no "
		"node lends one of its addresses",
		pool);
	list_holders(&h, &holders);
	if (holders.failed || !holders.len)
		(void)err_hint(e, "`railctl cluster status` shows the pools of this node");
	else if (h.free)
		(void)err_hint(e,
			       "%s; addresses without a pod in blocks of other nodes: %" PRIu64
			       "; wait for the cooldown, or see `railctl cluster node list` for "
			       "nodes that do not answer",
			       holders.s, h.free);
	else
		(void)err_hint(e, "%s; enlarge \"ranges\", or make another pool", holders.s);
}

static void needs_explain(const struct driver *d, const char *pool, enum need_result result,
			  struct err *e)
{
	if (result == NEED_FULL) {
		full(d, pool, e);
	} else if (result == NEED_AWAY) {
		(void)unanswered(d, pool, e);
	} else {
		(void)needs_refused(d, pool, e);
	}
}

static void explain_want(const struct driver_need *n, const struct want_answer *answer,
			 struct err *e)
{
	char ip[IP_STR_LEN], used[64] = "which did not give it up";

	if (answer->how != NEED_FULL) {
		needs_explain(n->driver, n->pool, answer->how, e);
		return;
	}
	if (answer->used)
		(void)snprintf(used, sizeof(used), "which uses %u of its addresses", answer->used);
	err_set(e, ERR_BUSY, 0, "address %s of pool %s is in a block of %s%s, %s",
		ip_format(n->ip, ip), n->pool, *answer->node ? "node " : "another node",
		answer->node, used);
	(void)err_hint(e, "request another address, or wait until that node does not use this "
			  "one any more");
}

/* The agent's answers about identities. */
static void serve_identity_done(struct driver *d)
{
	struct driver_need *n = TAILQ_FIRST(&d->needs), *next;
	struct err why;

	for (; n; n = next) {
		next = TAILQ_NEXT(n, all);
		if (!n->identity_done)
			continue;
		if (n->result == NEED_HELD)
			(void)explain_held(n, &why);
		else if (n->result != NEED_MET)
			needs_explain(d, n->pool, n->result, &why);
		needs_finish(n, n->result == NEED_MET ? NULL : &why);
		/* fn may have cancelled others. */
		next = TAILQ_FIRST(&d->needs);
	}
}

/* all: also those that wait for one certain block. */
static void fail_all(struct driver *d, const char *pool, bool all, const struct err *why)
{
	struct driver_need *n;

	/* A need that fn begins is served or fails at the next event. */
	for (n = TAILQ_FIRST(&d->needs); n; n = TAILQ_NEXT(n, all))
		n->failed = strcmp(n->pool, pool) == 0 && (is_of_any(n) || all);
	for (n = TAILQ_FIRST(&d->needs); n;) {
		bool failed = n->failed;
		struct driver_need *next = TAILQ_NEXT(n, all);

		if (failed)
			needs_finish(n, why);
		n = failed ? TAILQ_FIRST(&d->needs) : next;
	}
}

void needs_fail(struct driver *d, const char *pool, enum need_result result)
{
	struct err why;

	needs_explain(d, pool, result, &why);
	fail_all(d, pool, false, &why);
}

/* 1: the node is about to look whether the pool can be used. */
static int explain_unused(const struct driver *d, const char *pool, struct err *e)
{
	const struct pool_seen *s = pools_seen_find(d, pool);
	const struct err *in_way = s ? pool_look_why(s) : NULL;

	if (in_way) {
		err_set(e, ERR_AGAIN, 0, "pool %s: %s", pool, in_way->msg);
		(void)err_hint(e, "%s", in_way->detail);
		return 0;
	}
	if (s && s->look && !s->again && !s->rival)
		return 1;
	if (!s)
		(void)pool_missing(pool, d->conf.node, e);
	else if (s->rival)
		err_set(e, ERR_AGAIN, 0, "pool %s overlaps the older pool %s", pool,
			s->rival->name);
	else
		err_set(e, ERR_AGAIN, 0, "pool %s: node %s does not use it%s%s", pool, d->conf.node,
			*s->waits ? ": " : "; see `railctl cluster status`", s->waits);
	return 0;
}

void needs_fail_unknown(struct driver *d)
{
	struct driver_need *n = TAILQ_FIRST(&d->needs);

	const bool cut_off = !d->heard.contact && d->heard.why.code;

	while (n && (d->pools_known || cut_off)) {
		char pool[sizeof(n->pool)];
		struct err why;

		if (!d->pools_known)
			(void)unanswered(d, n->pool, &why);
		if (pools_find(d, n->pool) ||
		    (d->pools_known && explain_unused(d, n->pool, &why))) {
			n = TAILQ_NEXT(n, all);
			continue;
		}
		memcpy(pool, n->pool, sizeof(pool));
		fail_all(d, pool, true, &why);
		n = TAILQ_FIRST(&d->needs);
	}
}

static void needs_too_late(void *arg)
{
	struct driver_need *n = arg;
	const struct driver *d = n->driver;
	/* A store may answer reads, and have no room for a write. */
	bool failed = d->heard.why.code && d->heard.why_at >= n->since;
	struct err e;

	if (d->heard.contact && !failed && !needs_was_refused(d, n->pool)) {
		err_set(&e, ERR_AGAIN, 0, "pool %s: no block came in time", n->pool);
		(void)err_hint(&e, "see `railctl cluster status`");
	} else {
		(void)unanswered(d, n->pool, &e);
	}
	needs_finish(n, &e);
}

/* ---- begin ---- */

struct driver_need *driver_need(struct driver *d, const struct driver_need_ask *ask,
				driver_need_fn fn, void *arg)
{
	struct driver_need *n = calloc(1, sizeof(*n));

	if (!n || !(n->timer = timer_new(d->conf.base, needs_too_late, n))) {
		free(n);
		return NULL;
	}
	n->driver = d;
	n->addresses = ask->addresses;
	n->ip = ask->ip;
	(void)snprintf(n->identity, sizeof(n->identity), "%s", ask->identity ? ask->identity : "");
	n->migrates = ask->migrates;
	n->since = ctx_since_boot(d->conf.ctx);
	n->fn = fn;
	n->arg = arg;
	(void)snprintf(n->pool, sizeof(n->pool), "%s", ask->pool);
	TAILQ_INSERT_TAIL(&d->needs, n, all);
	/* A pool that is not known here may come with the first list. */
	(void)timer_arm(n->timer, d->conf.store ? ask->wait_ms : 0);
	(void)needs_tell(d, n->pool);
	driver_soon(d);
	return n;
}

void needs_free(struct driver *d)
{
	while (!TAILQ_EMPTY(&d->needs))
		needs_drop(TAILQ_FIRST(&d->needs));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_step.c: asks which nodes have reported the pool, then changes that very generation. If the
 * definition changes in between, nothing is written.
 */
#include "railheadd/pool_step.h"

#include <stdlib.h>
#include <string.h>

#include "ipam/conf/pool_blocks.h"
#include "lib/base/text.h"
#include "railheadd/pools/change.h"
#include "railheadd/pools/nodes.h"

#define NAMED 4 /* nodes in an error */

struct step_job;

/* One of the calls. begin: NULL with *e. */
struct step_kind {
	const char *answer;  /* the key */
	const char *missing; /* what is said about nodes that have not reported */
	/* 0: go on. 1: it is done already. -1: refused. */
	int (*check)(const struct json *pool, struct err *e);
	bool (*needs_nodes)(const struct json *pool);
	struct pool_change *(*begin)(struct step_job *o, const struct json *pool, struct err *e);
};

struct step_job {
	struct driver *driver;
	struct server_request *request;
	const struct step_kind *kind;
	struct nodes_ask *ask; /* one of the two runs */
	struct pool_change *change;
};

static void pool_step_forget(void *what)
{
	struct step_job *o = what;

	if (o->ask)
		nodes_ask_cancel(o->ask);
	if (o->change)
		pool_change_cancel(o->change);
	free(o);
}

static void pool_step_refuse(struct step_job *o, const struct err *why)
{
	struct server_request *r = o->request;

	free(o);
	server_refuse(r, why);
}

static void pool_step_answer(struct step_job *o, bool now)
{
	auto_json struct json *result = json_new_object();
	struct server_request *r = o->request;
	struct err e;

	if (!result || json_add_bool(result, o->kind->answer, now)) {
		(void)err_nomem(&e);
		pool_step_refuse(o, &e);
		return;
	}
	free(o);
	server_answer(r, result);
}

static const char *pool_step_name_of(const struct json *pool)
{
	return json_str(json_get(pool, "name"));
}

static enum pool_state pool_step_state_of(const struct json *pool)
{
	return pool_state_of(json_get(pool, "definition"));
}

/* ---- the nodes ---- */

static bool is_missing(const struct json *node)
{
	const char *state = json_str(json_get(node, "state"));

	return state && (strcmp(state, "waits") == 0 || strcmp(state, "silent") == 0);
}

static void name_node(struct text *t, const struct json *node)
{
	const char *why = json_str(json_get(node, "why"));
	bool silent = strcmp(json_str(json_get(node, "state")), "silent") == 0;

	text_addf(t, "%s%s", t->len ? ", " : "", json_str(json_get(node, "name")));
	if (why || silent)
		text_addf(t, " (%s)", why ? why : "its heartbeat does not move");
}

/* True: nodes have not reported, and *why names them. */
static bool lacks_nodes(const struct step_job *o, const struct json *pool, struct err *why)
{
	auto_text struct text names = { 0 };
	size_t n = 0;

	json_each (node, json_get(pool, "nodes")) {
		if (is_missing(node) && n++ < NAMED)
			name_node(&names, node);
	}
	if (!n)
		return false;
	err_set(why, ERR_BUSY, 0, "pool %s: nodes %s: %.500s%s", pool_step_name_of(pool),
		o->kind->missing, names.s ? names.s : "?", n > NAMED ? ", ..." : "");
	(void)err_hint(why,
		       "`railctl cluster pool show %s` lists all; for a machine that is off "
		       "for good: `railctl cluster node forget NAME`",
		       pool_step_name_of(pool));
	return true;
}

/* ---- the write ---- */

static void pool_step_changed(void *arg, const struct err *why, bool created)
{
	(void)created;
	if (why)
		pool_step_refuse(arg, why);
	else
		pool_step_answer(arg, true);
}

static void pool_step_counted(void *arg, const struct json *pool, const struct err *why)
{
	struct step_job *o = arg;
	struct err e;
	int rc;

	o->ask = NULL;
	if (why) {
		pool_step_refuse(o, why);
		return;
	}
	rc = o->kind->check(pool, &e);
	if (rc > 0) {
		pool_step_answer(o, false);
	} else if (rc < 0 || (o->kind->needs_nodes(pool) && lacks_nodes(o, pool, &e))) {
		pool_step_refuse(o, &e);
	} else {
		o->change = o->kind->begin(o, pool, &e);
		if (!o->change)
			pool_step_refuse(o, &e);
	}
}

static void pool_step_ask(const struct pool_step_at *at, const struct step_kind *kind)
{
	struct step_job *o = calloc(1, sizeof(*o));
	const struct nodes_end end = { pool_step_counted, o };
	struct err e;

	if (!o) {
		(void)err_nomem(&e);
		server_refuse(at->request, &e);
		return;
	}
	o->driver = at->driver;
	o->request = at->request;
	o->kind = kind;
	o->ask = nodes_ask_pool(at->nodes, at->pool, &end, &e);
	if (o->ask)
		server_later(at->request, pool_step_forget, o);
	else
		pool_step_refuse(o, &e);
}

/* ---- open and close ---- */

static struct pool_change *write_as(struct step_job *o, const struct json *pool,
				    enum pool_state becomes, struct err *e)
{
	const struct pool_step step = { pool_step_name_of(pool),
					(int64_t)json_num(json_get(pool, "generation")), becomes };
	const struct pool_change_end end = { pool_step_changed, o };

	return pool_change_step(o->driver, &step, &end, e);
}

static struct pool_change *write_open(struct step_job *o, const struct json *pool, struct err *e)
{
	return write_as(o, pool, POOL_OPEN, e);
}

static struct pool_change *write_closed(struct step_job *o, const struct json *pool, struct err *e)
{
	return write_as(o, pool, POOL_CLOSED, e);
}

static bool always(const struct json *pool)
{
	(void)pool;
	return true;
}

static int check_adopting(const struct json *pool, struct err *e)
{
	if (pool_step_state_of(pool) == POOL_ADOPTING || pool_step_state_of(pool) == POOL_OPEN)
		return pool_step_state_of(pool) == POOL_OPEN;
	err_set(e, ERR_BUSY, 0, "pool %s: it returns to slices", pool_step_name_of(pool));
	return err_hint(e,
			"before it is closed, `railctl cluster pool apply FILE` without \"state\" "
			"and \"slice\" keeps its blocks");
}

static int check_leaving(const struct json *pool, struct err *e)
{
	if (pool_step_state_of(pool) == POOL_LEAVING || pool_step_state_of(pool) == POOL_CLOSED)
		return pool_step_state_of(pool) == POOL_CLOSED;
	err_set(e, ERR_BUSY, 0, "pool %s: nodes assign addresses of all its blocks",
		pool_step_name_of(pool));
	return err_hint(e, "first `railctl cluster pool apply FILE` with \"slice\" and \"state\": "
			   "\"leaving\"");
}

void pool_step_open(const struct pool_step_at *at)
{
	static const struct step_kind kind = { "opened", "have not taken it over", check_adopting,
					       always, write_open };

	pool_step_ask(at, &kind);
}

void pool_step_close(const struct pool_step_at *at)
{
	static const struct step_kind kind = { "closed", "are not in their slices", check_leaving,
					       always, write_closed };

	pool_step_ask(at, &kind);
}

/* ---- delete ---- */

static int check_none(const struct json *pool, struct err *e)
{
	(void)pool;
	(void)e;
	return 0;
}

/* A node that has not left a closed pool gets its slices from the object. */
static bool is_closed(const struct json *pool)
{
	return pool_step_state_of(pool) == POOL_CLOSED;
}

static struct pool_change *begin_remove(struct step_job *o, const struct json *pool, struct err *e)
{
	const struct pool_change_end end = { pool_step_changed, o };

	return pool_change_remove(o->driver, pool_step_name_of(pool), &end, e);
}

void pool_step_remove(const struct pool_step_at *at)
{
	static const struct step_kind kind = { "deleted", "have not left its blocks", check_none,
					       is_closed, begin_remove };

	pool_step_ask(at, &kind);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_open.c: asks which nodes have reported the pool, then opens that very generation. If the
 * definition changes in between, nothing is written.
 */
#include "railheadd/pool_open.h"

#include <stdlib.h>
#include <string.h>

#include "ipam/conf/pool_blocks.h"
#include "lib/base/text.h"
#include "railheadd/pools/change.h"
#include "railheadd/pools/nodes.h"

#define NAMED 4 /* nodes in an error */

struct open_job {
	struct driver *driver;
	struct server_request *request;
	struct ask *nodes;
};

static void pool_open_forget(void *what)
{
	struct open_job *o = what;

	ask_cancel(o->nodes);
	free(o);
}

/* It was open already. */
static void pool_open_answer(struct server_request *r)
{
	auto_json struct json *result = json_new_object();
	struct err e;

	if (result && json_add_bool(result, "opened", false) == 0) {
		server_answer(r, result);
		return;
	}
	(void)err_nomem(&e);
	server_refuse(r, &e);
}

static const char *pool_open_name_of(const struct json *pool)
{
	return json_str(json_get(pool, "name"));
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
static bool lacks_nodes(const struct json *pool, struct err *why)
{
	auto_text struct text names = { 0 };
	size_t n = 0;

	json_each (node, json_get(pool, "nodes")) {
		if (is_missing(node) && n++ < NAMED)
			name_node(&names, node);
	}
	if (!n)
		return false;
	err_set(why, ERR_BUSY, 0, "pool %s: nodes have not taken it over: %.500s%s",
		pool_open_name_of(pool), names.s ? names.s : "?", n > NAMED ? ", ..." : "");
	(void)err_hint(why,
		       "`railctl cluster pool show %s` lists all; for a machine that is off "
		       "for good: `railctl cluster node forget NAME`",
		       pool_open_name_of(pool));
	return true;
}

/* ---- the write ---- */

static void pool_open_counted(void *arg, const struct json *pool, const struct err *why)
{
	const struct open_job o = *(struct open_job *)arg;
	const struct ask_end end = server_end(o.request);
	struct ask *change = NULL;
	struct err e;

	free(arg);
	if (why) {
		server_refuse(o.request, why);
		return;
	}
	if (pool_state_of(json_get(pool, "definition")) == POOL_OPEN) {
		pool_open_answer(o.request);
		return;
	}
	if (!lacks_nodes(pool, &e))
		change =
			pool_change_open(o.driver, pool_open_name_of(pool),
					 (int64_t)json_num(json_get(pool, "generation")), &end, &e);
	server_await(o.request, change, &e);
}

void pool_open(const struct pool_open_at *at)
{
	struct open_job *o = calloc(1, sizeof(*o));
	const struct ask_end end = { pool_open_counted, o };
	struct err e;

	if (!o) {
		(void)err_nomem(&e);
		server_refuse(at->request, &e);
		return;
	}
	o->driver = at->driver;
	o->request = at->request;
	o->nodes = nodes_ask_pool(at->nodes, at->pool, &end, &e);
	if (o->nodes) {
		server_later(at->request, pool_open_forget, o);
		return;
	}
	free(o);
	server_refuse(at->request, &e);
}

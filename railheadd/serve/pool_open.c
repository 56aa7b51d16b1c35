/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_open.c: asks which nodes have taken the pool over, then writes that generation without its
 * state. If the definition changes in between, nothing is written.
 */
#include "railheadd/serve/pool_open.h"

#include <stdlib.h>
#include <string.h>

#include "ipam/conf/pool_blocks.h"
#include "lib/base/text.h"
#include "railheadd/drive/pool_change.h"
#include "railheadd/nodes/nodes.h"

#define NAMED 4 /* nodes in an error */

struct open_job {
	struct driver *driver;
	struct server_request *request;
	struct nodes_ask *ask; /* one of the two runs */
	struct pool_change *change;
};

static void forget(void *what)
{
	struct open_job *o = what;

	if (o->ask)
		nodes_ask_cancel(o->ask);
	if (o->change)
		pool_change_cancel(o->change);
	free(o);
}

static void refuse(struct open_job *o, const struct err *why)
{
	struct server_request *r = o->request;

	free(o);
	server_refuse(r, why);
}

static void answer(struct open_job *o, bool opened)
{
	auto_json struct json *result = json_new_object();
	struct server_request *r = o->request;
	struct err e;

	if (!result || json_add_bool(result, "opened", opened)) {
		(void)err_nomem(&e);
		refuse(o, &e);
		return;
	}
	free(o);
	server_answer(r, result);
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

/* True: nodes have not taken the pool over, and *why names them. */
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
		json_str(json_get(pool, "name")), names.s ? names.s : "?",
		n > NAMED ? ", ..." : "");
	(void)err_hint(why,
		       "`railctl cluster pool show %s` lists all; for a machine that is off "
		       "for good: `railctl cluster node forget NAME`",
		       json_str(json_get(pool, "name")));
	return true;
}

/* ---- the write ---- */

static void changed(void *arg, const struct err *why, bool created)
{
	(void)created;
	if (why)
		refuse(arg, why);
	else
		answer(arg, true);
}

static void counted(void *arg, const struct json *pool, const struct err *why)
{
	struct open_job *o = arg;
	const struct pool_change_end end = { changed, o };
	struct err e;

	o->ask = NULL;
	if (why) {
		refuse(o, why);
	} else if (pool_state_of(json_get(pool, "definition")) != POOL_ADOPTING) {
		answer(o, false);
	} else if (lacks_nodes(pool, &e)) {
		refuse(o, &e);
	} else {
		o->change =
			pool_change_open(o->driver, json_str(json_get(pool, "name")),
					 (int64_t)json_num(json_get(pool, "generation")), &end, &e);
		if (!o->change)
			refuse(o, &e);
	}
}

void pool_open(struct driver *d, struct nodes *n, struct server_request *r, const char *pool)
{
	struct open_job *o = calloc(1, sizeof(*o));
	const struct nodes_end end = { counted, o };
	struct err e;

	if (!o) {
		(void)err_nomem(&e);
		server_refuse(r, &e);
		return;
	}
	o->driver = d;
	o->request = r;
	o->ask = nodes_ask_pool(n, pool, &end, &e);
	if (o->ask)
		server_later(r, forget, o);
	else
		refuse(o, &e);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.c: lists, one after the other. The table of the last question with heartbeats says how old
 * a heartbeat is in the next.
 */
#include "railheadd/pools/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "lib/sys/timer.h"
#include "railheadd/pools/node_table.h"
#include "railheadd/pools/table_nodes.h"
#include "railheadd/pools/table.h"

/* A heartbeat that has not moved for so many periods is a node that may be off. */
#define SILENT_PERIODS 3

struct nodes_ask;

/*
 * The kinds that are listed, and the calls for their objects. end, of each list, may be NULL.
 * answer: NULL: no memory.
 */
struct question {
	const char *about;
	const enum cluster_kind *kinds;
	size_t n;
	int (*item)(struct nodes_ask *a, const struct cluster_object *o, struct err *e);
	int (*end)(struct nodes_ask *a, struct err *e);
	struct json *(*answer)(struct nodes_ask *a);
};

/* The answer about rails, as far as it goes. */
struct nodes_rails {
	char after[NODE_NAME_LEN];
	char *from;         /* owned: the page of the store that is read now */
	struct json *nodes; /* owned */
	size_t bytes, more; /* more: nodes of this page for which no room is left */
};

struct nodes_ask {
	struct ask is;
	struct nodes *nodes;
	const struct question *question;
	struct node_table table;
	struct node_table_look look;
	struct pool_table pools;
	nodes_see_fn see;       /* NULL: nobody looks at each pool */
	struct pool_asked pool; /* of the question about one pool */
	struct pool_marks marks;
	struct nodes_rails rails;
	struct cluster_selector which;
	size_t step;       /* of its kinds */
	struct err broken; /* of a list: code 0: nothing is */
};

struct nodes {
	struct nodes_conf conf;
	struct node_table seen;
	struct asks asks;
};

static void nodes_clear(void *arg)
{
	struct nodes_ask *a = arg;

	node_table_clear(&a->table);
	pool_table_clear(&a->pools);
	json_free(a->pool.definition);
	free(a->marks.at);
	free(a->rails.from);
	json_free(a->rails.nodes);
}

static void nodes_answer(struct nodes_ask *a)
{
	struct json *tree = a->question->answer(a);

	if (tree)
		ask_finish(&a->is, tree, NULL);
	else
		ask_nomem(&a->is);
}

static void nodes_item(void *arg, const struct cluster_object *o)
{
	struct nodes_ask *a = arg;

	if (!a->broken.code && a->question->item(a, o, &a->broken))
		(void)err_wrap(&a->broken, "%s", a->question->about);
}

/* Types of an older release reserve nothing. A question about just that is refused. */
static bool has_no_kind(const struct nodes_ask *a, const struct cluster_result *r)
{
	return a->which.kind == CLUSTER_RESERVED && a->step > 0 && r->err.code == ERR_NOTFOUND;
}

static void nodes_listed(void *arg, const struct cluster_result *r, const char *revision)
{
	struct nodes_ask *a = arg;

	(void)revision;
	a->is.call = NULL;
	if (r->outcome != CLUSTER_OK && !has_no_kind(a, r))
		ask_failed(&a->is, r);
	else if (a->broken.code || (a->question->end && a->question->end(a, &a->broken)))
		ask_finish(&a->is, NULL, &a->broken);
	else if (++a->step < a->question->n)
		timer_now(a->is.timer);
	else
		nodes_answer(a);
}

static bool nodes_page(void *arg, const char *next)
{
	struct nodes_ask *a = arg;
	char *from;

	if (!a->rails.nodes)
		return true;
	if (a->rails.more || a->broken.code)
		return false;
	from = strdup(next);
	if (!from) {
		(void)err_nomem(&a->broken);
		return false;
	}
	free(a->rails.from);
	a->rails.from = from;
	return true;
}

static void nodes_list(void *arg)
{
	static const struct cluster_list_fns fns = { nodes_item, nodes_listed, nodes_page };
	struct nodes_ask *a = arg;
	struct cluster_store *s = a->is.store;

	a->which = (struct cluster_selector){ .kind = a->question->kinds[a->step],
					      .from = a->rails.from };
	a->look.sent = ctx_since_boot(a->nodes->conf.ctx);
	ask_sent(&a->is, s->ops->list(s, &a->which, &fns, a));
}

static struct ask *pools_nodes_ask(struct nodes *n, const struct question *q,
				   const struct ask_end *end, struct err *e)
{
	struct nodes_ask what = { .is = { .in = &n->asks,
					  .base = n->conf.base,
					  .store = n->conf.store,
					  .due = nodes_list,
					  .clear = nodes_clear,
					  .end = *end },
				  .nodes = n,
				  .question = q };

	(void)snprintf(what.is.about, sizeof(what.is.about), "%s", q->about);
	return ask_needs_store(n->conf.store, e) ? NULL : ask_new(&what.is, sizeof(what), e);
}

/* ---- about nodes ---- */

static int node_item(struct nodes_ask *a, const struct cluster_object *o, struct err *e)
{
	/* Two questions at a time: the other one may have ended, and replaced the table. */
	a->look.seen = &a->nodes->seen;
	a->look.now = ctx_since_boot(a->nodes->conf.ctx);
	return node_table_object(&a->table, o, &a->look, e);
}

static void keep_table(struct nodes_ask *a)
{
	struct node_table old = a->nodes->seen;

	a->nodes->seen = a->table;
	a->table = old;
}

static struct json *node_answer(struct nodes_ask *a)
{
	struct json *tree = node_table_json(&a->table, a->nodes->conf.node);

	keep_table(a);
	return tree;
}

struct ask *nodes_ask(struct nodes *n, const struct ask_end *end, struct err *e)
{
	static const enum cluster_kind kinds[] = { CLUSTER_NODE, CLUSTER_HEARTBEAT, CLUSTER_BLOCK };
	static const struct question nodes = { "nodes",   kinds, ARRAY_SIZE(kinds),
					       node_item, NULL,  node_answer };

	return pools_nodes_ask(n, &nodes, end, e);
}

/* ---- about pools ---- */

static int pool_item(struct nodes_ask *a, const struct cluster_object *o, struct err *e)
{
	if (pool_table_object(&a->pools, o, e))
		return -1;
	return a->see && o->kind == CLUSTER_POOL ? a->see(a->is.end.arg, o, e) : 0;
}

static struct json *pool_answer(struct nodes_ask *a)
{
	return pool_table_json(&a->pools);
}

struct ask *nodes_ask_pools(struct nodes *n, nodes_see_fn see, const struct ask_end *end,
			    struct err *e)
{
	static const enum cluster_kind kinds[] = { CLUSTER_POOL, CLUSTER_RESERVED, CLUSTER_BLOCK };
	static const struct question pools = { "pools",   kinds, ARRAY_SIZE(kinds),
					       pool_item, NULL,  pool_answer };

	struct ask *is = pools_nodes_ask(n, &pools, end, e);

	if (is)
		((struct nodes_ask *)is)->see = see;
	return is;
}

/* ---- about one pool, or the reserved addresses ---- */

static int asked_item(struct nodes_ask *a, const struct cluster_object *o, struct err *e)
{
	if (o->kind == CLUSTER_POOL && pool_marks_add(&a->marks, o, e))
		return -1;
	return o->kind == a->question->kinds[0] ? pool_asked_note(&a->pool, o, e)
						: node_item(a, o, e);
}

static int asked_end(struct nodes_ask *a, struct err *e)
{
	/* The lists of nodes and of heartbeats follow. */
	if (!a->step)
		pool_marks_sort(&a->marks);
	if (*a->pool.uid)
		return 0;
	return err_set(e, ERR_NOTFOUND, 0, "pool %s: the cluster has no pool of this name",
		       a->pool.name);
}

static struct json *asked_answer(struct nodes_ask *a)
{
	struct json *tree =
		pool_nodes_json(&a->pool, &a->table, SILENT_PERIODS * a->nodes->conf.renew);

	keep_table(a);
	return tree;
}

struct ask *nodes_ask_pool(struct nodes *n, const char *pool, const struct ask_end *end,
			   struct err *e)
{
	static const enum cluster_kind kinds[] = { CLUSTER_POOL, CLUSTER_NODE, CLUSTER_HEARTBEAT };
	static const struct question about = { "nodes",    kinds,     ARRAY_SIZE(kinds),
					       asked_item, asked_end, asked_answer };
	struct nodes_ask *a;

	if (!*pool || strlen(pool) > GRID_POOL_MAX) {
		err_set(e, ERR_CONFIG, 0, "pool %.40s: not the name of a shared pool", pool);
		return NULL;
	}
	a = (struct nodes_ask *)pools_nodes_ask(n, &about, end, e);
	if (!a)
		return NULL;
	(void)snprintf(a->pool.name, sizeof(a->pool.name), "%s", pool);
	a->look.pool = a->pool.name;
	a->look.marks = &a->marks;
	return &a->is;
}

struct ask *nodes_ask_reserved(struct nodes *n, const struct ask_end *end, struct err *e)
{
	static const enum cluster_kind kinds[] = { CLUSTER_RESERVED, CLUSTER_NODE,
						   CLUSTER_HEARTBEAT };
	static const struct question about = { "reserved addresses", kinds, ARRAY_SIZE(kinds),
					       asked_item,           NULL,  asked_answer };
	struct nodes_ask *a = (struct nodes_ask *)pools_nodes_ask(n, &about, end, e);

	if (!a)
		return NULL;
	(void)snprintf(a->pool.name, sizeof(a->pool.name), CLUSTER_RESERVED_NAME);
	a->look.reserved = true;
	return &a->is;
}

/* ---- about rails ---- */

/* The nodes come in the order of names. The answer stays far below 1 MiB. */
#define RAILS_BYTES ((size_t)768 << 10)

static int rails_item(struct nodes_ask *a, const struct cluster_object *o, struct err *e)
{
	struct nodes_rails *r = &a->rails;
	const struct json *rails = json_get(o->value, "rails");
	auto_free char *text = rails ? json_print(rails, false) : NULL;
	struct json *node;

	if (strcmp(o->name, r->after) <= 0)
		return 0;
	r->bytes += strlen(o->name) + (text ? strlen(text) : 0);
	if (r->more || r->bytes > RAILS_BYTES) {
		r->more++;
		return 0;
	}
	node = json_push_object(r->nodes);
	return !node || json_add_str(node, "name", o->name) ||
			       (rails && json_add_copy(node, "rails", rails))
		       ? err_nomem(e)
		       : 0;
}

static struct json *rails_answer(struct nodes_ask *a)
{
	auto_json struct json *answer = json_new_object();

	if (json_add_int(answer, "more", (int64_t)a->rails.more) ||
	    (a->rails.more && json_add_str(answer, "from", a->rails.from)) ||
	    json_put(answer, "nodes", TAKE_PTR(a->rails.nodes)))
		return NULL;
	return TAKE_PTR(answer);
}

struct ask *nodes_ask_rails(struct nodes *n, const char *after, const char *from,
			    const struct ask_end *end, struct err *e)
{
	static const enum cluster_kind kinds[] = { CLUSTER_NODE };
	static const struct question rails = { "nodes",    kinds, ARRAY_SIZE(kinds),
					       rails_item, NULL,  rails_answer };
	struct nodes_ask *a = (struct nodes_ask *)pools_nodes_ask(n, &rails, end, e);

	if (!a)
		return NULL;
	(void)snprintf(a->rails.after, sizeof(a->rails.after), "%s", after);
	a->rails.nodes = json_new_array();
	a->rails.from = strdup(from);
	if (a->rails.nodes && a->rails.from)
		return &a->is;
	ask_cancel(&a->is);
	(void)err_nomem(e);
	return NULL;
}

/* ---- begin and end ---- */

int nodes_new(const struct nodes_conf *conf, struct nodes **out, struct err *e)
{
	struct nodes *n = calloc(1, sizeof(*n));

	if (!n)
		return err_nomem(e);
	n->conf = *conf;
	TAILQ_INIT(&n->asks);
	*out = n;
	return 0;
}

void nodes_free(struct nodes *n)
{
	if (!n)
		return;
	asks_cancel(&n->asks);
	node_table_clear(&n->seen);
	free(n);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c: callbacks that copy what they get, and waits for them. */
#include "cluster/testing/calls.h"

#include <stdio.h>

#include "cluster/testing/loop.h"
#include "lib/base/text.h"
#include "lib/testing/testing.h"

static int number_of(const struct cluster_object *o)
{
	return o && o->value ? (int)json_num(json_get(o->value, "number")) : -1;
}

static void keep_error(char why[2048], const struct err *e)
{
	(void)snprintf(why, 2048, "%s\n%s", e->msg, e->detail);
}

static void keep_also(struct ended *e, const struct cluster_also *also)
{
	struct text t = { 0 };

	e->told = also != NULL;
	if (also && also->object)
		text_addf(&t, "%s=%d", also->object->name, number_of(also->object));
	for (size_t i = 0; also && i < also->n_names; i++)
		text_addf(&t, "%s ", also->names[i]);
	if (also && also->ranked)
		text_addf(&t, "number %llu", (unsigned long long)also->rank);
	(void)snprintf(e->also, sizeof(e->also), "%s", t.s ? t.s : "");
	text_clear(&t);
}

static void keep_status(struct ended *e, const struct json *status)
{
	auto_free char *text = status ? json_print(status, false) : NULL;

	(void)snprintf(e->status, sizeof(e->status), "%s", text ? text : "");
}

/* ---- single calls ---- */

static void on_ended(void *arg, const struct cluster_result *r)
{
	struct ended *e = arg;

	ck_assert_msg(!e->done, "reported twice");
	e->done = true;
	e->outcome = r->outcome;
	e->retry_ms = r->retry_ms;
	e->number = number_of(r->object);
	if (r->object)
		e->object = *r->object;
	keep_status(e, e->object.status);
	e->object.value = e->object.status = NULL;
	keep_also(e, r->also);
	if (r->outcome != CLUSTER_OK) {
		ck_assert_msg(*r->err.msg, "outcome %d without an error", (int)r->outcome);
		keep_error(e->why, &r->err);
	}
}

static void started(const struct ended *e)
{
	ck_assert_ptr_nonnull(e->call);
	ck_assert_msg(!e->done, "reported before the call returned");
}

void start_write(struct calls *c, enum write how, const struct thing *t, struct ended *e)
{
	const struct cluster_store_ops *ops = c->store->ops;
	struct json *value = json_new_object();
	struct cluster_object o = {
		.kind = t->kind, .at = t->at, .value = value, .beside = t->beside
	};

	*e = (struct ended){ .number = -1 };
	ck_assert_int_eq(json_add_int(value, "number", t->number), 0);
	/* Kubernetes takes no pool without them. */
	if (t->kind == CLUSTER_POOL)
		ck_assert(!json_add_str(value, "subnet", "10.1.0.0/16") &&
			  !json_add_int(value, "blockSize", 8));
	(void)snprintf(o.name, sizeof(o.name), "%s", t->name);
	(void)snprintf(o.node, sizeof(o.node), "%s", t->node ? t->node : "");
	e->call = (how == WRITE_CREATE   ? ops->create
		   : how == WRITE_UPDATE ? ops->update
					 : ops->remove)(c->store, &o, on_ended, e);
	json_free(value);
	started(e);
}

void start_get(struct calls *c, const struct thing *t, struct ended *e)
{
	*e = (struct ended){ .number = -1 };
	e->call = c->store->ops->get(c->store, t->kind, t->name, on_ended, e);
	started(e);
}

static bool has_ended(const void *arg)
{
	return ((const struct ended *)arg)->done;
}

void wait_ended(struct calls *c, const struct ended *e)
{
	loop_until(c->base, has_ended, e);
}

enum cluster_outcome do_write(struct calls *c, enum write how, const struct thing *t,
			      struct ended *e)
{
	start_write(c, how, t, e);
	wait_ended(c, e);
	return e->outcome;
}

static struct json *parse(const char *text)
{
	struct json *tree = NULL;
	struct err e;

	if (text)
		ck_assert_msg(!json_parse(text, strlen(text), "value", &tree, &e), "%s", e.msg);
	return tree;
}

enum cluster_outcome do_write_text(struct calls *c, const struct thing *t, const char *was,
				   const char *text, struct ended *e)
{
	const struct cluster_store_ops *ops = c->store->ops;
	auto_json struct json *value = parse(text), *before = parse(was);
	struct cluster_object o = { .kind = t->kind, .at = t->at, .value = value, .was = before };

	*e = (struct ended){ .number = -1 };
	(void)snprintf(o.name, sizeof(o.name), "%s", t->name);
	(void)snprintf(o.node, sizeof(o.node), "%s", t->node ? t->node : "");
	e->call = (!text        ? ops->remove
		   : *t->at.uid ? ops->update
				: ops->create)(c->store, &o, on_ended, e);
	started(e);
	wait_ended(c, e);
	return e->outcome;
}

void do_report_text(struct calls *c, const struct thing *t, const char *text, struct ended *e)
{
	auto_json struct json *status = parse(text);
	struct cluster_object o = { .kind = t->kind, .at = t->at, .status = status };

	*e = (struct ended){ .number = -1 };
	(void)snprintf(o.name, sizeof(o.name), "%s", t->name);
	e->call = c->store->ops->report(c->store, &o, on_ended, e);
	started(e);
	wait_ended(c, e);
}

enum cluster_outcome do_get(struct calls *c, const struct thing *t, struct ended *e)
{
	start_get(c, t, e);
	wait_ended(c, e);
	return e->outcome;
}

void must_write(struct calls *c, enum write how, struct thing *t)
{
	struct ended e;

	ck_assert_msg(do_write(c, how, t, &e) == CLUSTER_OK, "%s", e.why);
	t->at = e.object.at;
}

/* ---- lists ---- */

static void on_item(void *arg, const struct cluster_object *o)
{
	struct listed *l = arg;
	char text[600];

	ck_assert_msg(!l->done, "an item after the end");
	l->n++;
	l->last = *o;
	l->last.value = NULL;
	(void)snprintf(text, sizeof(text), "%s=%d@%s ", o->name, number_of(o), o->node);
	testing_append(l->text, sizeof(l->text), text);
}

static void on_listed(void *arg, const struct cluster_result *r, const char *revision)
{
	struct listed *l = arg;

	ck_assert_msg(!l->done, "reported twice");
	l->done = true;
	l->outcome = r->outcome;
	(void)snprintf(l->revision, sizeof(l->revision), "%s", revision);
	ck_assert_int_eq(r->outcome == CLUSTER_OK, *revision != '\0');
	if (r->outcome != CLUSTER_OK)
		keep_error(l->why, &r->err);
}

static bool is_listed(const void *arg)
{
	return ((const struct listed *)arg)->done;
}

static bool on_first_page(void *arg, const char *next)
{
	struct listed *l = arg;

	ck_assert_uint_lt(strlen(next), sizeof(l->next));
	(void)snprintf(l->next, sizeof(l->next), "%s", next);
	return false;
}

static enum cluster_outcome list_by(struct calls *c, const struct cluster_selector *which,
				    const struct cluster_list_fns *fns, struct listed *l)
{
	memset(l, 0, sizeof(*l));
	ck_assert_ptr_nonnull(c->store->ops->list(c->store, which, fns, l));
	ck_assert(!l->done && !l->n);
	loop_until(c->base, is_listed, l);
	return l->outcome;
}

enum cluster_outcome do_list(struct calls *c, const struct cluster_selector *which,
			     struct listed *l)
{
	return list_by(c, which, &(struct cluster_list_fns){ on_item, on_listed, NULL }, l);
}

enum cluster_outcome do_list_page(struct calls *c, const struct cluster_selector *which,
				  struct listed *l)
{
	return list_by(c, which, &(struct cluster_list_fns){ on_item, on_listed, on_first_page },
		       l);
}

/* ---- watches ---- */

static void on_changed(void *arg, const struct cluster_object *o, bool gone)
{
	struct watched *w = arg;
	char text[600];

	ck_assert_msg(!w->ended, "a change after the end");
	w->n++;
	if (gone)
		(void)snprintf(text, sizeof(text), "-%s ", o->name);
	else
		(void)snprintf(text, sizeof(text), "%s=%d ", o->name, number_of(o));
	testing_append(w->text, sizeof(w->text), text);
}

static void on_revision(void *arg, const char *revision)
{
	struct watched *w = arg;

	(void)snprintf(w->revision, sizeof(w->revision), "%s", revision);
}

static void on_over(void *arg, const struct cluster_result *r)
{
	struct watched *w = arg;

	ck_assert_msg(!w->ended, "reported twice");
	w->ended = true;
	w->outcome = r->outcome;
	keep_error(w->why, &r->err);
}

static void begin_watch(struct calls *c, const struct cluster_selector *which, struct watched *w)
{
	static const struct cluster_watch_fns fns = { on_changed, on_revision, on_over };

	w->call = c->store->ops->watch(c->store, which, w->from, &fns, w);
	ck_assert_ptr_nonnull(w->call);
}

void start_watch(struct calls *c, const struct cluster_selector *which, const char *revision,
		 struct watched *w)
{
	memset(w, 0, sizeof(*w));
	(void)snprintf(w->from, sizeof(w->from), "%s", revision);
	begin_watch(c, which, w);
	ck_assert(!w->ended && !w->n);
}

void go_on_watching(struct calls *c, const struct cluster_selector *which, struct watched *w)
{
	if (*w->revision)
		memcpy(w->from, w->revision, sizeof(w->from));
	w->ended = false;
	begin_watch(c, which, w);
}

struct awaited {
	const struct watched *w;
	unsigned n;
};

static bool is_watched(const void *arg)
{
	const struct awaited *a = arg;

	return a->w->ended || (a->n && a->w->n >= a->n);
}

void wait_watched(struct calls *c, const struct watched *w, unsigned n)
{
	struct awaited a = { w, n };

	loop_until(c->base, is_watched, &a);
	ck_assert_msg(!n || !w->ended, "the watch ended with %d: %s", (int)w->outcome, w->why);
}

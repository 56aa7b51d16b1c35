/* SPDX-License-Identifier: Apache-2.0 */
/* reserved_change.c: reads the object, and writes it with the version that was read. */
#include "railheadd/pools/reserved_change.h"

#include <stdio.h>
#include <stdlib.h>

#include "ipam/conf/range_list.h"
#include "railheadd/pools/reserved.h"

#define TRIES 5 /* of operators who change it at the same time */

struct reserved_change {
	struct reserved_change_ask ask;
	struct json *add, *remove; /* owned */
	struct json *value;        /* the value that was read, or is written; owned */
	struct cluster_call *call;
	unsigned tries;
};

void reserved_change_cancel(struct reserved_change *c)
{
	if (c->call)
		c->ask.store->ops->cancel(c->call);
	json_free(c->add);
	json_free(c->remove);
	json_free(c->value);
	free(c);
}

static void reserved_change_refuse(struct reserved_change *c, const struct err *why)
{
	struct reserved_change_ask ask = c->ask;
	struct err e = *why;

	reserved_change_cancel(c);
	ask.done(ask.arg, NULL, &e);
}

static void refuse_no_memory(struct reserved_change *c)
{
	struct err e;

	(void)err_nomem(&e);
	reserved_change_refuse(c, &e);
}

static void reserved_change_failed(struct reserved_change *c, const struct cluster_result *r)
{
	struct err e = r->err;

	if (r->outcome != CLUSTER_REFUSED)
		e.code = ERR_AGAIN;
	(void)err_wrap(&e, "reserved addresses of the cluster");
	reserved_change_refuse(c, &e);
}

static void reserved_change_answer(struct reserved_change *c, bool changed)
{
	auto_json struct json *o = json_new_object();
	const struct json *ranges = json_get(c->value, "ranges");
	struct reserved_change_ask ask = c->ask;

	if (!o || json_add_bool(o, "changed", changed) ||
	    (ranges ? json_add_copy(o, "ranges", ranges) : !json_add_array(o, "ranges"))) {
		refuse_no_memory(c);
		return;
	}
	reserved_change_cancel(c);
	ask.done(ask.arg, o, NULL);
}

/* ---- the change ---- */

/* The value as it shall be; *changed: it differs. Keys of a newer release stay. */
static int make_value(struct reserved_change *c, bool *changed, struct err *e)
{
	auto_ranges struct ranges is = { .n = 0 };
	auto_json struct json *was = NULL, *will = NULL;

	if (cluster_reserved_decode(c->value, &is, e)) {
		(void)err_wrap(e, "in the cluster");
		return err_hint(e, "repair the object first: RailReserved " CLUSTER_RESERVED_NAME
				   ", with etcd the key reserved/" CLUSTER_RESERVED_NAME);
	}
	was = range_list_print(&is);
	if (range_list_add(c->add, "add", &is, e) ||
	    range_list_remove(c->remove, "remove", &is, e) || cluster_reserved_fits(is.n, e))
		return -1;
	will = range_list_print(&is);
	if (!was || !will)
		return err_nomem(e);
	*changed = !json_same(was, will);
	if (!*changed)
		return 0;
	json_del(c->value, "ranges");
	return json_put(c->value, "ranges", TAKE_PTR(will)) ? err_nomem(e) : 0;
}

static void reserved_change_read_object(struct reserved_change *c);

static void reserved_change_written(void *arg, const struct cluster_result *r)
{
	struct reserved_change *c = arg;
	bool raced = r->outcome == CLUSTER_CONFLICT || r->outcome == CLUSTER_EXISTS ||
		     r->outcome == CLUSTER_NOT_FOUND;

	c->call = NULL;
	if (r->outcome == CLUSTER_OK)
		reserved_change_answer(c, true);
	else if (raced && ++c->tries < TRIES)
		reserved_change_read_object(c);
	else
		reserved_change_failed(c, r);
}

static void reserved_change_write_object(struct reserved_change *c,
					 const struct cluster_object *old)
{
	struct cluster_store *s = c->ask.store;
	struct cluster_object o = { .kind = CLUSTER_RESERVED,
				    .name = CLUSTER_RESERVED_NAME,
				    .value = c->value };

	if (old)
		o.at = old->at;
	c->call = old ? s->ops->update(s, &o, reserved_change_written, c)
		      : s->ops->create(s, &o, reserved_change_written, c);
	if (!c->call)
		refuse_no_memory(c);
}

static void reserved_change_was_read(void *arg, const struct cluster_result *r)
{
	struct reserved_change *c = arg;
	const struct cluster_object *old = r->outcome == CLUSTER_OK ? r->object : NULL;
	bool changed = false;
	struct err e;

	c->call = NULL;
	if (!old && r->outcome != CLUSTER_NOT_FOUND) {
		reserved_change_failed(c, r);
		return;
	}
	json_free(c->value);
	c->value = old ? json_dup(old->value) : json_new_object();
	if (!c->value)
		refuse_no_memory(c);
	else if ((c->add || c->remove) && make_value(c, &changed, &e))
		reserved_change_refuse(c, &e);
	else if (!changed)
		reserved_change_answer(c, false);
	else
		reserved_change_write_object(c, old);
}

static void reserved_change_read_object(struct reserved_change *c)
{
	struct cluster_store *s = c->ask.store;

	c->call = s->ops->get(s, CLUSTER_RESERVED, CLUSTER_RESERVED_NAME, reserved_change_was_read,
			      c);
	if (!c->call)
		refuse_no_memory(c);
}

/* ---- begin ---- */

/* The operator learns of a wrong range before anything is asked. */
static int reserved_change_check_ask(const struct reserved_change_ask *ask, struct err *e)
{
	auto_ranges struct ranges ignored = { .n = 0 };

	if (range_list_add(ask->add, "add", &ignored, e) ||
	    range_list_add(ask->remove, "remove", &ignored, e))
		return -1;
	if (ask->store)
		return 0;
	err_set(e, ERR_CONFIG, 0, "this agent has no cluster store");
	return err_hint(e, "name it in /etc/railhead/agent.json and restart railheadd");
}

struct reserved_change *reserved_change(const struct reserved_change_ask *ask, struct err *e)
{
	struct reserved_change *c;

	if (reserved_change_check_ask(ask, e))
		return NULL;
	c = calloc(1, sizeof(*c));
	if (!c) {
		(void)err_nomem(e);
		return NULL;
	}
	c->ask = *ask;
	c->add = json_dup(ask->add);
	c->remove = json_dup(ask->remove);
	if ((!ask->add || c->add) && (!ask->remove || c->remove))
		c->call = ask->store->ops->get(ask->store, CLUSTER_RESERVED, CLUSTER_RESERVED_NAME,
					       reserved_change_was_read, c);
	if (c->call)
		return c;
	reserved_change_cancel(c);
	(void)err_nomem(e);
	return NULL;
}

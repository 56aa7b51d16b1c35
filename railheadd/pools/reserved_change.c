/* SPDX-License-Identifier: Apache-2.0 */
/* reserved_change.c: reads the object, and writes it with the version that was read. */
#include "railheadd/pools/reserved_change.h"

#include <stdio.h>
#include <stdlib.h>

#include "ipam/conf/range_list.h"
#include "railheadd/pools/reserved.h"

#define TRIES 5 /* of operators who change it at the same time */

struct reserved_change {
	struct ask is;
	struct json *add, *remove; /* owned; NULL: nothing */
	struct json *value;        /* owned: as it was read, then as it is to be */
	unsigned tries;
};

static void reserved_change_clear(void *a)
{
	struct reserved_change *c = a;

	json_free(c->add);
	json_free(c->remove);
	json_free(c->value);
}

static void reserved_change_answer(struct reserved_change *c, bool changed)
{
	auto_json struct json *o = json_new_object();
	const struct json *ranges = json_get(c->value, "ranges");

	if (!o || json_add_bool(o, "changed", changed) ||
	    (ranges ? json_add_copy(o, "ranges", ranges) : !json_add_array(o, "ranges")))
		ask_nomem(&c->is);
	else
		ask_finish(&c->is, TAKE_PTR(o), NULL);
}

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

static void reserved_change_read_object(void *arg);

static void reserved_change_written(void *arg, const struct cluster_result *r)
{
	struct reserved_change *c = arg;

	c->is.call = NULL;
	if (r->outcome == CLUSTER_OK)
		reserved_change_answer(c, true);
	else if (ask_raced(r) && ++c->tries < TRIES)
		reserved_change_read_object(c);
	else
		ask_failed(&c->is, r);
}

static void reserved_change_write_object(struct reserved_change *c,
					 const struct cluster_object *old)
{
	struct cluster_store *s = c->is.store;
	struct cluster_object o = { .kind = CLUSTER_RESERVED,
				    .name = CLUSTER_RESERVED_NAME,
				    .value = c->value };

	if (old)
		o.at = old->at;
	ask_sent(&c->is, old ? s->ops->update(s, &o, reserved_change_written, c)
			     : s->ops->create(s, &o, reserved_change_written, c));
}

static void reserved_change_was_read(void *arg, const struct cluster_result *r)
{
	struct reserved_change *c = arg;
	const struct cluster_object *old = r->outcome == CLUSTER_OK ? r->object : NULL;
	bool changed = false;
	struct err e;

	c->is.call = NULL;
	if (!old && r->outcome != CLUSTER_NOT_FOUND) {
		ask_failed(&c->is, r);
		return;
	}
	json_free(c->value);
	c->value = old ? json_dup(old->value) : json_new_object();
	if (!c->value)
		ask_nomem(&c->is);
	else if ((c->add || c->remove) && make_value(c, &changed, &e))
		ask_finish(&c->is, NULL, &e);
	else if (!changed)
		reserved_change_answer(c, false);
	else
		reserved_change_write_object(c, old);
}

static void reserved_change_read_object(void *arg)
{
	struct reserved_change *c = arg;
	struct cluster_store *s = c->is.store;

	ask_sent(&c->is, s->ops->get(s, CLUSTER_RESERVED, CLUSTER_RESERVED_NAME,
				     reserved_change_was_read, c));
}

struct ask *reserved_change(const struct reserved_change_ask *ask, struct err *e)
{
	auto_ranges struct ranges ignored = { .n = 0 };
	struct reserved_change c = { .is = { .base = ask->base,
					     .store = ask->store,
					     .due = reserved_change_read_object,
					     .clear = reserved_change_clear,
					     .end = ask->end,
					     .about = "reserved addresses of the cluster" } };

	if (range_list_add(ask->add, "add", &ignored, e) ||
	    range_list_add(ask->remove, "remove", &ignored, e) || ask_needs_store(ask->store, e))
		return NULL;
	c.add = json_dup(ask->add);
	c.remove = json_dup(ask->remove);
	if ((!ask->add || c.add) && (!ask->remove || c.remove))
		return ask_new(&c.is, sizeof(c), e);
	reserved_change_clear(&c);
	(void)err_nomem(e);
	return NULL;
}

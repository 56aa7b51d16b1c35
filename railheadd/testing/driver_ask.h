/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_ask.h: needs of a pool and changes of it on a driver_bed.h, and how they ended. For test
 * programs only.
 */
#ifndef RAILHEAD_RAILHEADD_TESTING_DRIVER_ASK_H
#define RAILHEAD_RAILHEADD_TESTING_DRIVER_ASK_H

#include "lib/sys/timer.h"
#include "railheadd/pools/change.h"
#include "railheadd/testing/driver_bed.h"

/* How a need or a change ended. */
struct outcome {
	bool done, created;
	struct err why; /* code 0: well */
	struct timer *then;
};

static inline void need_done(void *arg, const struct err *why)
{
	struct outcome *o = arg;

	ck_assert(!o->done);
	o->done = true;
	o->why = why ? *why : (struct err){ .code = 0 };
	if (o->then)
		timer_now(o->then);
}

static inline void change_done(void *arg, const struct json *answer, const struct err *why)
{
	((struct outcome *)arg)->created = json_true(json_get(answer, "created"));
	need_done(arg, why);
}

static inline bool is_done(const void *arg)
{
	return ((const struct outcome *)arg)->done;
}

static inline struct driver_need *begin_need(const char *name, struct outcome *o)
{
	const struct driver_need_ask ask = { .pool = name, .addresses = 1, .wait_ms = 50000 };
	struct driver_need *n;

	*o = (struct outcome){ .then = o->then };
	n = driver_need(b.driver, &ask, need_done, o);
	ck_assert_ptr_nonnull(n);
	return n;
}

static inline int need(const char *name, struct outcome *o)
{
	(void)begin_need(name, o);
	loop_until(b.base, is_done, o);
	return (int)o->why.code;
}

/* The code of how a change ended; definition NULL: the pool is deleted. */
static inline void begin_change(const char *name, const char *definition, struct outcome *o)
{
	const struct ask_end done = { change_done, o };
	auto_json struct json *tree = NULL;
	struct err e;

	*o = (struct outcome){ .done = false };
	if (definition)
		ck_assert_int_eq(json_parse(definition, strlen(definition), "d", &tree, &e), 0);
	if (!(definition ? pool_change_put(b.driver, name, tree, &done, &e)
			 : pool_change_remove(b.driver, name, &done, &e)))
		change_done(o, NULL, &e);
}

static inline int change(const char *name, const char *definition, struct outcome *o)
{
	begin_change(name, definition, o);
	loop_until(b.base, is_done, o);
	return (int)o->why.code;
}

/* Calls that ended so: "answered", "refused", "unanswered". */
static inline double heard(const char *result)
{
	auto_json struct json *status = json_new_object();
	struct err e;

	ck_assert_int_eq(driver_status(b.driver, status, &e), 0);
	return json_num(json_get(json_get(status, "heard"), result));
}

#endif

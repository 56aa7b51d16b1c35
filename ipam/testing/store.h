/* SPDX-License-Identifier: Apache-2.0 */
/* store.h: calls of a store that must succeed. For test programs only. */
#ifndef RAILHEAD_IPAM_TESTING_STORE_H
#define RAILHEAD_IPAM_TESTING_STORE_H

#include <stdio.h>

#include "ipam/store/store.h"
#include "lib/testing/testing.h"

static inline struct store_txn *c_begin(struct store *s, enum store_mode mode)
{
	struct store_txn *t = NULL;
	struct err e;

	ck_assert_msg(s->ops->begin(s, mode, &t, &e) == 0, "%s", e.msg);
	ck_assert_ptr_eq(t->store, s);
	return t;
}

static inline void c_put(struct store_txn *t, const char *key, const char *value)
{
	struct err e;

	ck_assert_msg(t->store->ops->put(t, key, value, &e) == 0, "%s", e.msg);
}

static inline void c_commit(struct store_txn *t)
{
	struct err e;

	ck_assert_msg(t->store->ops->commit(t, &e) == 0, "%s", e.msg);
}

/* "" when absent is told from "" when empty: absent is "(absent)". */
static inline const char *c_get(struct store_txn *t, const char *key)
{
	const char *value = "x";
	struct err e;

	ck_assert_msg(t->store->ops->get(t, key, &value, &e) == 0, "%s", e.msg);
	return value ? value : "(absent)";
}

struct c_list {
	char text[4096];
	int left; /* pairs before the scan is ended */
};

static inline int c_note(const char *key, const char *value, void *arg)
{
	struct c_list *l = arg;

	testing_append(l->text, sizeof(l->text), key);
	testing_append(l->text, sizeof(l->text), "=");
	testing_append(l->text, sizeof(l->text), value);
	testing_append(l->text, sizeof(l->text), " ");
	return --l->left == 0;
}

static inline void c_scan_is(struct store_txn *t, const char *prefix, const char *from,
			     const char *want)
{
	struct c_list l = { .text = "" };
	struct err e;

	ck_assert_int_eq(
		t->store->ops->scan(t, (struct store_span){ prefix, from }, c_note, &l, &e), 0);
	ck_assert_str_eq(l.text, want);
}

/* Many records: k/<number> = "value <number>". */
#define C_MANY 5000

static inline void c_put_number(struct store_txn *t, int n)
{
	char key[32], value[32];

	(void)snprintf(key, sizeof(key), "k/%06d", n);
	(void)snprintf(value, sizeof(value), "value %d", n);
	c_put(t, key, value);
}

static inline void c_del_number(struct store_txn *t, int n)
{
	char key[32];
	struct err e;

	(void)snprintf(key, sizeof(key), "k/%06d", n);
	ck_assert_int_eq(t->store->ops->del(t, key, &e), 0);
}

static inline void c_number_is(struct store_txn *t, int n, bool there)
{
	char key[32], value[32];

	(void)snprintf(key, sizeof(key), "k/%06d", n);
	(void)snprintf(value, sizeof(value), "value %d", n);
	ck_assert_str_eq(c_get(t, key), there ? value : "(absent)");
}

#endif

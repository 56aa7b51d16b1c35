/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_contract.h: the tests that every store must pass. The test program of an implementation
 * defines contract_open() and has STORE_CONTRACT in its list of tests.
 */
#ifndef RAILHEAD_IPAM_TESTING_STORE_CONTRACT_H
#define RAILHEAD_IPAM_TESTING_STORE_CONTRACT_H

#include <stdio.h>

#include "ipam/testing/store.h"

/* contract_open - the first call in a test opens an empty store, later calls open the same one. */
struct store *contract_open(void);

START_TEST(contract_put_get_del)
{
	struct store *s = contract_open();
	struct store_txn *t = c_begin(s, STORE_WRITE);
	struct err e;

	ck_assert_str_eq(c_get(t, "a"), "(absent)");
	c_put(t, "a", "1");
	c_put(t, "empty", "");
	c_put(t, "utf8/\xc3\xa9", "\xc3\xa9\n");
	ck_assert_str_eq(c_get(t, "a"), "1");
	c_put(t, "a", "2");
	ck_assert_str_eq(c_get(t, "a"), "2");
	ck_assert_str_eq(c_get(t, "empty"), "");
	ck_assert_int_eq(s->ops->del(t, "a", &e), 0);
	ck_assert_int_eq(s->ops->del(t, "a", &e), 0);
	ck_assert_str_eq(c_get(t, "a"), "(absent)");
	c_commit(t);
	t = c_begin(s, STORE_READ);
	ck_assert_str_eq(c_get(t, "a"), "(absent)");
	ck_assert_str_eq(c_get(t, "utf8/\xc3\xa9"), "\xc3\xa9\n");
	s->ops->abort(t);
	s->ops->close(s);
}
END_TEST

START_TEST(contract_abort_and_reopen)
{
	struct store *s = contract_open();
	struct store_txn *t = c_begin(s, STORE_WRITE);

	c_put(t, "kept", "1");
	c_commit(t);
	t = c_begin(s, STORE_WRITE);
	c_put(t, "kept", "2");
	c_put(t, "gone", "1");
	s->ops->abort(t);
	s->ops->abort(NULL);
	s->ops->close(s);
	s = contract_open();
	t = c_begin(s, STORE_READ);
	c_scan_is(t, "", NULL, "kept=1 ");
	s->ops->abort(t);
	s->ops->close(s);
}
END_TEST

START_TEST(contract_scan)
{
	static const char *const keys[] = { "b/2", "a/1", "b", "b/", "b/10", "b/1", "c", "b0" };
	struct store *s = contract_open();
	struct store_txn *t = c_begin(s, STORE_WRITE);
	struct c_list two = { .text = "", .left = 2 };
	struct err e;

	c_scan_is(t, "", NULL, "");
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		c_put(t, keys[i], "");
	c_scan_is(t, "b/", NULL, "b/= b/1= b/10= b/2= ");
	c_scan_is(t, "b/", "a", "b/= b/1= b/10= b/2= ");
	c_scan_is(t, "b/", "b/10", "b/10= b/2= ");
	c_scan_is(t, "b/", "b/11", "b/2= ");
	c_scan_is(t, "b/", "b/3", "");
	c_scan_is(t, "b/", "z", "");
	c_scan_is(t, "", NULL, "a/1= b= b/= b/1= b/10= b/2= b0= c= ");
	c_scan_is(t, "", "b0", "b0= c= ");
	c_scan_is(t, "x", NULL, "");
	ck_assert_int_eq(s->ops->scan(t, (struct store_span){ "b", NULL }, c_note, &two, &e), 0);
	ck_assert_str_eq(two.text, "b= b/= ");
	c_commit(t);
	s->ops->close(s);
}
END_TEST

START_TEST(contract_limits)
{
	static char key[STORE_KEY_MAX + 2], value[STORE_VALUE_MAX + 2];
	struct store *s = contract_open();
	struct store_txn *t = c_begin(s, STORE_WRITE);
	const char *got;
	struct err e = { 0 };

	memset(key, 'k', STORE_KEY_MAX);
	memset(value, 'v', STORE_VALUE_MAX);
	c_put(t, key, value);
	ck_assert_str_eq(c_get(t, key), value);
	value[STORE_VALUE_MAX] = 'v';
	ck_assert_int_eq(s->ops->put(t, "a", value, &e), -1);
	ck_assert_int_eq(e.code, ERR_STORE);
	key[STORE_KEY_MAX] = 'k';
	ck_assert_int_eq(s->ops->put(t, key, "", &e), -1);
	ck_assert_int_eq(s->ops->get(t, key, &got, &e), -1);
	ck_assert_int_eq(s->ops->del(t, key, &e), -1);
	ck_assert_int_eq(s->ops->put(t, "", "", &e), -1);
	/* a refused call leaves the rest of the transaction as it was */
	c_put(t, "b", "1");
	c_commit(t);
	t = c_begin(s, STORE_READ);
	ck_assert_str_eq(c_get(t, "b"), "1");
	s->ops->abort(t);
	s->ops->close(s);
}
END_TEST

START_TEST(contract_many)
{
	struct store *s = contract_open();
	struct store_txn *t = c_begin(s, STORE_WRITE);

	for (int i = 0; i < C_MANY; i++)
		c_put_number(t, i * 7919 % C_MANY);
	s->ops->keep(t);
	c_commit(t);
	t = c_begin(s, STORE_WRITE);
	for (int i = 0; i < C_MANY; i += 2)
		c_del_number(t, i);
	c_commit(t);
	t = c_begin(s, STORE_READ);
	for (int i = 0; i < C_MANY; i++)
		c_number_is(t, i, i % 2);
	s->ops->abort(t);
	s->ops->close(s);
}
END_TEST

#define STORE_CONTRACT                                                                             \
	contract_put_get_del, contract_abort_and_reopen, contract_scan, contract_limits,           \
		contract_many

#endif

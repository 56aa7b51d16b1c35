/* SPDX-License-Identifier: Apache-2.0 */
/* heard_test.c: a cluster store that refuses, or does not answer: what status and errors say. */
#include "railheadd/testing/driver_ask.h"

START_TEST(a_refusal_says_which_right_is_missing)
{
	struct outcome o = { .done = false }, changed = { .done = false };

	begin();
	pool("rail0", ONE);
	begin_driver();
	ready();
	memory_store_fail(b.store, CLUSTER_REFUSED, 100);
	ck_assert_int_eq(need("rail0", &o), ERR_AGAIN);
	ck_assert_ptr_nonnull(strstr(o.why.msg, "the test says so"));
	ck_assert(heard("answered") > 0 && heard("refused") > 0 && heard("unanswered") == 0);
	ck_assert_ptr_nonnull(strstr(o.why.detail, "the test may"));
	memory_store_fail(b.store, CLUSTER_OK, 0);
	ck_assert_int_eq(need("rail0", &o), 0);
	/* Later its advice belongs to no other failure. */
	ck_assert_str_eq(w_add(&w, "{\"pool\":\"rail0\"}", "c1", ""), "10.1.0.5");
	ck_assert_int_eq(change("rail0", NULL, &changed), 0);
	ck_assert_int_eq(need("rail0", &o), ERR_AGAIN);
	ck_assert_ptr_nonnull(strstr(o.why.msg, "was deleted"));
	ck_assert_ptr_null(strstr(o.why.detail, "the test may"));
	end();
}
END_TEST

static bool has_refused(const void *arg)
{
	(void)arg;
	return heard("refused") > 0;
}

/* As an API server that closes the connection on which it refused a token. */
START_TEST(a_refusal_says_more_than_the_silence_after_it)
{
	struct outcome o = { .done = false };

	begin();
	pool("rail0", ONE);
	begin_driver();
	ready();
	memory_store_fail(b.store, CLUSTER_REFUSED, 1000);
	(void)begin_need("rail0", &o);
	loop_until(b.base, has_refused, NULL);
	memory_store_fail(b.store, CLUSTER_AWAY, 1000);
	loop_until(b.base, is_done, &o);
	ck_assert_int_eq(o.why.code, ERR_AGAIN);
	ck_assert_ptr_nonnull(strstr(o.why.msg, "the test says so"));
	memory_store_fail(b.store, CLUSTER_OK, 0);
	end();
}
END_TEST

/* The request of the second ADD hangs: the refusal of the first one is what is known. */
START_TEST(a_refusal_just_before_explains_a_wait_in_vain)
{
	const struct driver_need_ask brief = { .pool = "rail0", .addresses = 1, .wait_ms = 50 };
	struct outcome o = { .done = false };

	begin();
	pool("rail0", ONE);
	begin_driver();
	ready();
	memory_store_fail(b.store, CLUSTER_REFUSED, 100);
	ck_assert_int_eq(need("rail0", &o), ERR_AGAIN);
	memory_store_hold(b.store, true);
	o = (struct outcome){ .done = false };
	ck_assert_ptr_nonnull(driver_need(b.driver, &brief, need_done, &o));
	loop_until(b.base, is_done, &o);
	ck_assert_int_eq(o.why.code, ERR_AGAIN);
	ck_assert_ptr_nonnull(strstr(o.why.msg, "the test says so"));
	memory_store_fail(b.store, CLUSTER_OK, 0);
	memory_store_hold(b.store, false);
	end();
}
END_TEST

static bool has_contact(const void *arg)
{
	auto_json struct json *status = json_new_object();
	struct err e;

	(void)arg;
	ck_assert_int_eq(driver_status(b.driver, status, &e), 0);
	return json_true(json_get(status, "contact"));
}

/* A right may be missing for one kind of request. Without a login the store refuses all of them. */
START_TEST(a_store_that_does_not_know_the_node_is_no_contact)
{
	const struct driver_need_ask brief = { .pool = "one", .addresses = 1, .wait_ms = 200 };
	auto_json struct json *status = json_new_object();
	struct outcome o = { .done = false };
	struct err e;

	begin();
	pool("rail0", RAIL);
	pool("one", "{\"subnet\":\"10.3.0.0/24\",\"blockSize\":1,\"warm\":0}");
	begin_driver();
	ready();
	ck_assert_int_eq(need("rail0", &o), 0);
	memory_store_fail(b.store, CLUSTER_REFUSED, 1);
	ck_assert_int_eq(need("one", &o), 0);
	ck_assert(has_contact(NULL) && has_refused(NULL));
	ck_assert_ptr_nonnull(w_add(&w, "{\"pool\":\"one\"}", "c0", ""));
	memory_store_deny(b.store, true);
	o = (struct outcome){ .done = false };
	ck_assert_ptr_nonnull(driver_need(b.driver, &brief, need_done, &o));
	loop_until(b.base, is_done, &o);
	ck_assert_int_eq(o.why.code, ERR_AGAIN);
	ck_assert(!has_contact(NULL));
	ck_assert_ptr_nonnull(strstr(o.why.msg, "the test does not know who asks"));
	ck_assert_ptr_nonnull(strstr(o.why.detail, "the test needs another token"));
	ck_assert_int_eq(driver_status(b.driver, status, &e), 0);
	ck_assert_str_eq(json_str(json_get(status, "why")), "the test does not know who asks");
	ck_assert_str_eq(json_str(json_get(status, "whyDetail")), "the test needs another token");
	ck_assert_str_eq(json_str(json_get(status, "refusedDetail")),
			 "the test needs another token");
	ck_assert_int_eq((int)heard("unanswered"), 0);
	/* An address of this node needs no store. */
	ck_assert_ptr_nonnull(w_add(&w, "{\"pool\":\"rail0\"}", "c1", ""));
	memory_store_deny(b.store, false);
	ck_assert_int_eq(need("one", &o), 0);
	ck_assert(has_contact(NULL));
	end();
}
END_TEST

static bool was_unanswered(const void *arg)
{
	(void)arg;
	return heard("unanswered") > 0;
}

/* As an API server whose etcd is full: reads are answered, and the write is not executed. */
START_TEST(a_write_without_answer_explains_a_wait_in_vain)
{
	const struct driver_need_ask brief = { .pool = "rail0", .addresses = 1, .wait_ms = 1000 };
	struct outcome o = { .done = false };

	begin();
	pool("rail0", ONE);
	begin_driver();
	ready();
	memory_store_fail(b.store, CLUSTER_AWAY, 1);
	ck_assert_ptr_nonnull(driver_need(b.driver, &brief, need_done, &o));
	loop_until(b.base, was_unanswered, NULL);
	memory_store_fail(b.store, CLUSTER_EXISTS, 1);
	loop_until(b.base, has_contact, NULL);
	memory_store_hold(b.store, true);
	loop_until(b.base, is_done, &o);
	ck_assert_int_eq(o.why.code, ERR_AGAIN);
	ck_assert_msg(strstr(o.why.msg, "the cluster store gives no answer: the test"), "%s",
		      o.why.msg);
	memory_store_hold(b.store, false);
	end();
}
END_TEST

START_TEST(a_need_is_tried_when_contact_is_back)
{
	struct outcome o = { .done = false };

	begin();
	pool("rail0", ONE);
	begin_driver();
	ready();
	memory_store_fail(b.store, CLUSTER_AWAY, 1000);
	ck_assert_int_eq(need("rail0", &o), ERR_AGAIN);
	ck_assert_ptr_nonnull(strstr(o.why.msg, "the cluster store gives no answer"));
	ck_assert(heard("answered") > 0 && heard("refused") == 0 && heard("unanswered") > 0);
	memory_store_fail(b.store, CLUSTER_OK, 0);
	while (need("rail0", &o))
		ck_assert_int_eq(o.why.code, ERR_AGAIN);
	end();
}
END_TEST

TEST_PROGRAM("heard", a_refusal_says_which_right_is_missing,
	     a_refusal_says_more_than_the_silence_after_it,
	     a_refusal_just_before_explains_a_wait_in_vain,
	     a_store_that_does_not_know_the_node_is_no_contact,
	     a_write_without_answer_explains_a_wait_in_vain, a_need_is_tried_when_contact_is_back)

/* SPDX-License-Identifier: Apache-2.0 */
/* etcd_test.c: opening with good and bad configurations, connections that break, no memory. */
#include "cluster/etcd/etcd.h"
#include "cluster/testing/calls.h"
#include "cluster/testing/login_server.h"
#include "cluster/testing/loop.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static struct event_base *base;

static void refused(const struct etcd_conf *conf, const char *why)
{
	struct cluster_store *s = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(etcd_open(base, conf, &s, &e), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_msg(strstr(e.msg, why), "%s", e.msg);
}

START_TEST(bad_configurations)
{
	static const char *const bad[] = { "10.0.0.1:2379", "https://", "ftp://a",
					   "http://a/b",    "",         "http://u@a" };
	const char *endpoints[18] = { NULL };
	struct etcd_conf conf = { .endpoints = NULL };

	base = loop_new();
	refused(&conf, "etcd has 0 endpoints");
	conf.endpoints = endpoints;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		endpoints[0] = bad[i];
		refused(&conf, "write it as https://");
	}
	for (size_t i = 0; i < 17; i++)
		endpoints[i] = "http://127.0.0.1:1";
	refused(&conf, "etcd has 17 endpoints");
	endpoints[1] = NULL;
	conf.prefix = "railhead";
	refused(&conf, "prefix \"railhead\"");
	conf.prefix = NULL;
	conf.user = "u";
	refused(&conf, "a user and a password");
}
END_TEST

START_TEST(nobody_answers)
{
	const char *const endpoints[] = { "http://127.0.0.1:1", NULL };
	const struct etcd_conf conf = { .endpoints = endpoints, .user = "u", .password = "p" };
	struct calls c = { .base = loop_new() };
	struct thing t = { .kind = CLUSTER_POOL, .name = "a" };
	struct ended e, second;
	struct err err;

	ck_assert_int_eq(etcd_open(c.base, &conf, &c.store, &err), 0);
	start_write(&c, WRITE_CREATE, &t, &e);
	start_get(&c, &t, &second);
	wait_ended(&c, &e);
	wait_ended(&c, &second);
	ck_assert_int_eq(e.outcome, CLUSTER_AWAY);
	ck_assert_int_eq(second.outcome, CLUSTER_AWAY);
	ck_assert_msg(strstr(e.why, "authenticate"), "%s", e.why);
	c.store->ops->close(c.store);
	loop_free(c.base);
}
END_TEST

/* ---- a connection that breaks while a token is asked for ---- */

/* Two calls wait for the token. Neither may end because the answer to another request was lost. */
static int logins_of_two(int lost, enum cluster_outcome want)
{
	base = loop_new();
	struct calls c = { .base = base };
	struct login_server *server = login_server_new(base, lost);
	const char *const endpoints[] = { login_server_url(server), NULL };
	const struct etcd_conf conf = { .endpoints = endpoints, .user = "u", .password = "p" };
	struct thing t = { .kind = CLUSTER_POOL, .name = "a" };
	struct ended first, second;
	struct err e;
	int logins;

	ck_assert_int_eq(etcd_open(base, &conf, &c.store, &e), 0);
	start_get(&c, &t, &first);
	start_get(&c, &t, &second);
	wait_ended(&c, &first);
	wait_ended(&c, &second);
	ck_assert_msg(first.outcome == want, "%s", first.why);
	ck_assert_msg(second.outcome == want, "%s", second.why);
	c.store->ops->close(c.store);
	logins = login_server_free(server);
	loop_free(base);
	return logins;
}

START_TEST(a_lost_token_is_asked_for_again)
{
	ck_assert_int_eq(logins_of_two(2, CLUSTER_NOT_FOUND), 3);
}
END_TEST

START_TEST(a_token_that_is_always_lost_ends_the_calls)
{
	ck_assert_int_eq(logins_of_two(1000, CLUSTER_AWAY), 3);
}
END_TEST

static int open_one(void *arg, struct err *e)
{
	const char *const endpoints[] = { "http://127.0.0.1:1", "http://127.0.0.1:2", NULL };
	const struct etcd_conf conf = {
		.endpoints = endpoints, .tls = { .ca = "ca" }, .user = "u", .password = "p"
	};
	struct cluster_store *s = NULL;

	(void)arg;
	if (etcd_open(base, &conf, &s, e))
		return -1;
	s->ops->close(s);
	return 0;
}

START_TEST(no_memory)
{
	base = loop_new();
	ck_assert_str_eq(alloc_fail_each(open_one, NULL), "ok");
}
END_TEST

static void count(void *arg, const struct cluster_result *r)
{
	ck_assert_int_ne(r->outcome, CLUSTER_OK);
	++*(int *)arg;
}

static bool is_reported(const void *arg)
{
	return *(const int *)arg > 0;
}

/* Without memory a call is refused at once, or reports an outcome that promises nothing. */
START_TEST(calls_without_memory)
{
	const char *const endpoints[] = { "http://127.0.0.1:1", NULL };
	const struct etcd_conf conf = { .endpoints = endpoints };
	struct cluster_store *s = NULL;
	auto_json struct json *value = json_new_object();
	const struct cluster_object o = { .name = "a", .node = "n", .value = value };
	struct alloc_count failed = { .failed = true };
	struct err err;

	base = loop_new();
	ck_assert_int_eq(etcd_open(base, &conf, &s, &err), 0);
	for (unsigned n = 1; failed.failed; n++) {
		int reported = 0;

		alloc_fail_begin(n);
		bool started = s->ops->create(s, &o, count, &reported);

		failed = alloc_fail_end();
		if (started)
			loop_until(base, is_reported, &reported);
		loop_turn(base);
		ck_assert_int_eq(reported, started);
	}
	s->ops->close(s);
	loop_free(base);
}
END_TEST

TEST_PROGRAM("etcd", bad_configurations, nobody_answers, a_lost_token_is_asked_for_again,
	     a_token_that_is_always_lost_ends_the_calls, no_memory, calls_without_memory)

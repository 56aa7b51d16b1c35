/* SPDX-License-Identifier: Apache-2.0 */
/* db_test.c: writes that have nothing to do change no record. */
#include "ipam/lease/db.h"

#include "ipam/testing/ipam.h"

#define POOL "{\"pool\":\"rail0\"}"

struct change {
	int (*fn)(struct lease_db *l, const struct key_address *a, struct err *e);
	struct key_address at;
};

static int in_txn(struct lease_db *l, void *arg, struct err *e)
{
	const struct change *c = arg;

	return c->fn(l, &c->at, e);
}

static void changes(struct fixture *w, const char *ip,
		    int (*fn)(struct lease_db *l, const struct key_address *a, struct err *e))
{
	struct change c = { .fn = fn, .at.scope = "p/rail0" };
	const struct ipam_job job = { STORE_WRITE, "test", in_txn, &c, NULL };

	ck_assert_int_eq(ip_parse(ip, &c.at.ip), 0);
	ck_assert_msg(ipam_run(&w->m, &job, &w->e) == 0, "%s", w->e.msg);
	w_sound(w);
}

START_TEST(only_a_resting_address_is_forgotten)
{
	struct fixture w;

	fixture_open(&w);
	ck_assert_int_eq(w_pool(&w, "rail0", "{\"subnet\":\"10.0.0.0/29\"}", false), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", ""), "10.0.0.1");
	changes(&w, "10.0.0.2", lease_db_forget); /* never used */
	changes(&w, "10.0.0.1", lease_db_forget); /* held */
	ck_assert_str_eq(w_add(&w, POOL, "c1", ""), "10.0.0.1");
	w_del(&w, "c1");
	changes(&w, "10.0.0.1", lease_db_forget);
	changes(&w, "10.0.0.1", lease_db_forget); /* no record is left */
	fixture_close(&w);
}
END_TEST

START_TEST(a_lease_without_the_mark_stays_as_it_is)
{
	struct fixture w;

	fixture_open(&w);
	ck_assert_int_eq(w_pool(&w, "rail0", "{\"subnet\":\"10.0.0.0/29\"}", false), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", ""), "10.0.0.1");
	changes(&w, "10.0.0.1", lease_db_probed);
	changes(&w, "10.0.0.2", lease_db_probed); /* no lease at all */
	ck_assert_str_eq(w_add(&w, POOL, "c1", ""), "10.0.0.1");
	fixture_close(&w);
}
END_TEST

TEST_PROGRAM("lease_db", only_a_resting_address_is_forgotten,
	     a_lease_without_the_mark_stays_as_it_is)

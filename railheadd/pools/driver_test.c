/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_test.c: a driver on a cluster store in memory: pools come, overlap and go, and those who
 * wait for addresses learn how it ended.
 */
#include "lib/sys/timer.h"
#include "railheadd/testing/driver_ask.h"

/* ---- needs ---- */

START_TEST(a_need_gets_an_address)
{
	struct outcome o = { .done = false };

	begin();
	pool("rail0", ONE);
	begin_driver();
	ck_assert_int_eq(need("rail0", &o), 0);
	ck_assert_str_eq(w_add(&w, "{\"pool\":\"rail0\"}", "c1", ""), "10.1.0.5");
	ck_assert_int_eq(need("rail0", &o), ERR_EXHAUSTED);
	w_del(&w, "c1");
	end();
}
END_TEST

START_TEST(a_pool_that_is_not_there_is_said_so)
{
	struct outcome o = { .done = false };

	begin();
	begin_driver();
	ck_assert_int_eq(need("rail0", &o), ERR_NOTFOUND);
	pool("rail0", RAIL);
	loop_until(b.base, knows_pool, "rail0");
	ck_assert_int_eq(need("rail0", &o), 0);
	end();
}
END_TEST

static void take(void *arg)
{
	(void)arg;
	ck_assert_str_eq(w_add(&w, "{\"pool\":\"rail0\"}", "c1", ""), "10.1.0.5");
}

/* The ADD of the first one runs in another process: its address is taken a moment later. */
START_TEST(an_address_is_promised_once)
{
	struct timer *then;
	struct outcome first = { .done = false }, second = { .done = false };

	begin();
	then = timer_new(b.base, take, NULL);
	begin_driver();
	ready();
	pool("rail0", ONE);
	loop_until(b.base, knows_pool, "rail0");
	first.then = then;
	(void)begin_need("rail0", &first);
	(void)begin_need("rail0", &second);
	loop_until(b.base, is_done, &second);
	ck_assert(first.done && first.why.code == 0);
	ck_assert_int_eq(second.why.code, ERR_EXHAUSTED);
	timer_free(then);
	end();
}
END_TEST

static bool wrote(const void *arg)
{
	return memory_store_counts(b.store).writes > *(const unsigned *)arg;
}

START_TEST(nothing_is_claimed_for_a_need_that_was_cancelled)
{
	struct outcome gone = { .done = false }, o = { .done = false };
	unsigned writes;

	begin();
	begin_driver();
	ready();
	pool("rail0", ONE);
	pool("rail1", OTHER);
	writes = memory_store_counts(b.store).writes;
	loop_until(b.base, wrote, &writes);
	writes = memory_store_counts(b.store).writes;
	driver_need_cancel(begin_need("rail0", &gone));
	ck_assert_int_eq(need("rail1", &o), 0);
	ck_assert(!gone.done);
	ck_assert(memory_store_counts(b.store).writes <= writes + 1);
	ck_assert(!memory_store_has(b.store, CLUSTER_BLOCK,
				    "rail0-0000000000000000000000000a010005"));
	end();
}
END_TEST

#define WARM2                                                                                      \
	"{\"subnet\":\"10.1.0.0/"                                                                  \
	"24\",\"ranges\":[\"10.1.0.4-10.1.0.7\"],\"blockSize\":2,\"warm\":2,"                      \
	"\"cooldown\":0}"

static bool has_block_four(const void *arg)
{
	(void)arg;
	return memory_store_has(b.store, CLUSTER_BLOCK, "rail0-0000000000000000000000000a010004") ||
	       memory_store_has(b.store, CLUSTER_BLOCK, "rail0-0000000000000000000000000a010006");
}

/* The events of an idle driver. Its own look, 10 seconds later, is none of them. */
static unsigned writes_of_idle_turns(void)
{
	unsigned before = memory_store_counts(b.store).writes;

	for (int i = 0; i < 100; i++)
		loop_turn(b.base);
	return memory_store_counts(b.store).writes - before;
}

static bool has_written(const void *arg)
{
	return memory_store_counts(b.store).writes >= *(const unsigned *)arg;
}

START_TEST(a_hint_makes_the_driver_look_once)
{
	unsigned writes;

	begin();
	pool("rail0", WARM2);
	begin_driver();
	ready();
	loop_until(b.base, has_block_four, NULL);
	(void)writes_of_idle_turns();
	ck_assert_ptr_nonnull(w_add(&w, "{\"pool\":\"rail0\"}", "c1", ""));
	ck_assert_uint_eq(writes_of_idle_turns(), 0);
	writes = memory_store_counts(b.store).writes + 1;
	for (int i = 0; i < 100; i++)
		driver_look(b.driver); /* none puts it off */
	ck_assert_uint_eq(memory_store_counts(b.store).writes, writes - 1);
	loop_until(b.base, has_written, &writes);
	ck_assert_uint_eq(writes_of_idle_turns(), 0);
	w_del(&w, "c1");
	end();
}
END_TEST

#define TWO_BLOCKS                                                                                 \
	"{\"subnet\":\"10.1.0.0/"                                                                  \
	"24\",\"ranges\":[\"10.1.0.4-10.1.0.5\"],\"blockSize\":1,\"warm\":0}"
#define FIRST_BLOCK "rail0-0000000000000000000000000a010004"

/* It may be of a newer agent. The others are found all the same. */
START_TEST(a_block_that_cannot_be_read_hides_no_other)
{
	struct outcome o = { .done = false };

	begin();
	pool("rail0", TWO_BLOCKS);
	memory_store_put(b.store, CLUSTER_BLOCK, FIRST_BLOCK, "n2", "{\"poolUID\":7}");
	begin_driver();
	ck_assert_int_eq(need("rail0", &o), 0);
	ck_assert_str_eq(w_add(&w, "{\"pool\":\"rail0\"}", "c1", ""), "10.1.0.5");
	ck_assert_int_eq(need("rail0", &o), ERR_EXHAUSTED);
	end();
}
END_TEST

static bool lends_nothing(const void *block)
{
	auto_free char *text = memory_store_text(b.store, CLUSTER_BLOCK, block);

	return text && !strstr(text, "loans");
}

/* Any agent may say so of its own loans. The owner removes them. */
START_TEST(a_block_with_a_loan_beyond_it_can_be_used)
{
	struct outcome o = { .done = false };

	begin();
	pool("rail0", TWO_BLOCKS);
	memory_store_put(b.store, CLUSTER_BLOCK, FIRST_BLOCK, "",
			 "{\"token\":\"+\",\"loans\":[{\"at\":1,\"node\":\"n2\",\"returned\":true},"
			 "{\"at\":99999,\"node\":\"n3\"}]}");
	begin_driver();
	ck_assert_int_eq(need("rail0", &o), 0);
	(void)w_add(&w, "{\"pool\":\"rail0\"}", "c1", "");
	ck_assert_int_eq(need("rail0", &o), 0);
	(void)w_add(&w, "{\"pool\":\"rail0\"}", "c2", "");
	ck_assert_int_eq(need("rail0", &o), ERR_EXHAUSTED);
	loop_until(b.base, lends_nothing, FIRST_BLOCK);
	end();
}
END_TEST

/* ---- pools ---- */

START_TEST(of_two_pools_that_overlap_the_later_one_gives_nothing)
{
	auto_json struct json *status = NULL;
	auto_free char *text = NULL;
	struct outcome o = { .done = false };
	struct err e;

	begin();
	pool("z", RAIL);
	pool("a", RAIL);
	begin_driver();
	ck_assert_int_eq(need("z", &o), 0);
	ck_assert_int_eq(need("a", &o), ERR_AGAIN);
	ck_assert_str_eq(o.why.msg, "pool a overlaps the older pool z");
	status = json_new_object();
	ck_assert_int_eq(driver_status(b.driver, status, &e), 0);
	text = json_print(json_get(status, "pools"), false);
	ck_assert_ptr_nonnull(strstr(text, "\"conflict\":\"z\""));
	/* The later one must go first. */
	ck_assert_int_eq(change("z", NULL, &o), ERR_BUSY);
	ck_assert_int_eq(change("a", NULL, &o), 0);
	ck_assert_int_eq(change("z", NULL, &o), 0);
	end();
}
END_TEST

static bool is_gone(const void *arg)
{
	return !memory_store_has(b.store, CLUSTER_BLOCK, arg);
}

START_TEST(a_pool_that_is_made_again_waits_for_the_pods_of_the_old_one)
{
	struct outcome o = { .done = false };

	begin();
	pool("rail0", RAIL);
	begin_driver();
	ck_assert_int_eq(need("rail0", &o), 0);
	ck_assert_ptr_nonnull(strstr(w_add(&w, "{\"pool\":\"rail0\"}", "c1", ""), "10.1.0."));
	memory_store_delete(b.store, CLUSTER_POOL, "rail0");
	pool("rail0", OTHER);
	ck_assert_int_eq(need("rail0", &o), ERR_AGAIN);
	ck_assert_ptr_nonnull(strstr(o.why.msg, "was deleted"));
	w_del(&w, "c1");
	/* Each ADD makes the agent look. */
	while (!has_subnet("10.2.0.0/24"))
		ck_assert_int_eq(need("rail0", &o), ERR_AGAIN);
	ck_assert_int_eq(need("rail0", &o), 0);
	end();
}
END_TEST

/* As after a restart with the definition of an older pool: nothing of it is left. */
START_TEST(a_pool_of_another_uid_is_used_at_once)
{
	struct outcome o = { .done = false };

	begin();
	ck_assert_int_eq(w_shared(&w, "rail0", "old", RAIL), 0);
	pool("rail0", OTHER);
	begin_driver();
	loop_until(b.base, has_subnet, "10.2.0.0/24");
	ck_assert_int_eq(need("rail0", &o), 0);
	end();
}
END_TEST

START_TEST(own_blocks_of_a_pool_that_comes_later_are_found)
{
	static const char name[] = "rail0-0000000000000000000000000a010008";

	begin();
	memory_store_put(b.store, CLUSTER_BLOCK, name, "n1",
			 "{\"poolUID\":\"u\",\"node\":\"n1\",\"holder\":\"h\",\"token\":"
			 "\"0000000000000007\",\"touched\":1,\"used\":0}");
	begin_driver();
	ready();
	pool("rail0", RAIL);
	loop_until(b.base, is_gone, name);
	end();
}
END_TEST

/* ---- changes ---- */

START_TEST(a_pool_is_created_changed_and_deleted)
{
	struct outcome o;

	begin();
	begin_driver();
	ready();
	ck_assert_int_eq(change("rail0", RAIL, &o), 0);
	ck_assert(o.created);
	ck_assert_int_eq(change("rail0", RAIL, &o), 0);
	ck_assert(!o.created);
	ck_assert_int_eq(change("rail0", OTHER, &o), ERR_BUSY);
	ck_assert_int_eq(change("rail1", RAIL, &o), ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(o.why.msg, "overlaps that of pool rail0"));
	ck_assert_int_eq(change("rail0", NULL, &o), 0);
	ck_assert_int_eq(change("rail0", NULL, &o), ERR_NOTFOUND);
	ck_assert_int_eq(change("a-name-that-is-far-too-long-for-any-pool", NULL, &o), ERR_CONFIG);
	memory_store_fail(b.store, CLUSTER_REFUSED, 1);
	ck_assert_int_eq(change("rail0", RAIL, &o), ERR_FORBIDDEN);
	memory_store_fail(b.store, CLUSTER_AWAY, 1);
	ck_assert_int_eq(change("rail0", RAIL, &o), ERR_AGAIN);
	end();
}
END_TEST

START_TEST(of_two_operators_at_the_same_time_one_fails)
{
	struct outcome first, second;

	begin();
	begin_driver();
	ready();
	begin_change("rail0", RAIL, &first);
	begin_change("rail1", RAIL, &second);
	loop_until(b.base, is_done, &first);
	loop_until(b.base, is_done, &second);
	ck_assert_int_eq(first.why.code, 0);
	ck_assert_int_eq(second.why.code, ERR_BUSY);
	ck_assert(memory_store_has(b.store, CLUSTER_POOL, "rail0"));
	ck_assert(!memory_store_has(b.store, CLUSTER_POOL, "rail1"));
	end();
}
END_TEST

/* A node that is cut off has pods there: the object of its block is in the store. */
START_TEST(no_pool_is_made_on_blocks_of_a_deleted_one)
{
	static const char name[] = "rail0-0000000000000000000000000a010008";
	struct outcome o;

	begin();
	memory_store_put(b.store, CLUSTER_BLOCK, name, "n2",
			 "{\"poolUID\":\"u\",\"node\":\"n2\",\"holder\":\"h\",\"token\":"
			 "\"0000000000000007\",\"touched\":1,\"used\":0}");
	begin_driver();
	ready();
	ck_assert_int_eq(change("rail1", RAIL, &o), ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(o.why.msg, "node n2 has block rail0-"));
	ck_assert_int_eq(change("rail1", OTHER, &o), 0);
	memory_store_delete(b.store, CLUSTER_BLOCK, name);
	ck_assert_int_eq(change("rail0", RAIL, &o), 0);
	end();
}
END_TEST

/* ---- heartbeats, events ---- */

/* The driver renews its heartbeat once a minute of this clock. */
static void begin_minutes(void)
{
	begin();
	w.ctx.boottime = fixture_now;
	begin_driver();
	ready();
}

static void minute(void)
{
	w.now += 61 * SECOND;
	driver_look(b.driver);
}

static bool is_tested(const void *arg)
{
	return memory_store_counts(b.store).tested >= *(const unsigned *)arg;
}

/* Its version may come again in a store that was restored. */
START_TEST(a_heartbeat_names_the_value_before_it)
{
	begin_minutes();
	for (unsigned i = 1; i <= 3; i++) {
		minute();
		loop_until(b.base, is_tested, &i);
	}
	end();
}
END_TEST

static bool has_no_answer(const void *arg)
{
	(void)arg;
	return heard("unanswered") > 0;
}

static bool has_told(const void *arg)
{
	w.now += SECOND / 100;
	return strstr(memory_store_told(b.store), arg) != NULL;
}

START_TEST(a_node_that_was_cut_off_says_so)
{
	begin_minutes();
	memory_store_fail(b.store, CLUSTER_AWAY, 1000);
	minute();
	loop_until(b.base, has_no_answer, NULL);
	minute();
	minute();
	memory_store_fail(b.store, CLUSTER_OK, 0);
	loop_until(b.base, has_told,
		   "NodeCutOff n1: The agent had no answer of the cluster store for 122 s: ");
	end();
}
END_TEST

START_TEST(status_before_the_first_answer)
{
	auto_json struct json *status = json_new_object();
	auto_free char *text = NULL;
	struct err e;

	begin();
	begin_driver();
	ck_assert_int_eq(driver_status(b.driver, status, &e), 0);
	text = json_print(status, false);
	ck_assert_ptr_nonnull(strstr(text, "\"contact\":false,\"contactSeconds\":0,\"why\":"
					   "\"it was not reached yet\""));
	end();
}
END_TEST

TEST_PROGRAM("driver", a_need_gets_an_address, a_pool_that_is_not_there_is_said_so,
	     an_address_is_promised_once, a_hint_makes_the_driver_look_once,
	     nothing_is_claimed_for_a_need_that_was_cancelled,
	     a_block_that_cannot_be_read_hides_no_other, a_block_with_a_loan_beyond_it_can_be_used,
	     of_two_pools_that_overlap_the_later_one_gives_nothing,
	     a_pool_that_is_made_again_waits_for_the_pods_of_the_old_one,
	     a_pool_of_another_uid_is_used_at_once, own_blocks_of_a_pool_that_comes_later_are_found,

	     a_pool_is_created_changed_and_deleted, of_two_operators_at_the_same_time_one_fails,
	     no_pool_is_made_on_blocks_of_a_deleted_one, a_heartbeat_names_the_value_before_it,
	     a_node_that_was_cut_off_says_so, status_before_the_first_answer)

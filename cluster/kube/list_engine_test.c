/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_engine_test.c: lists and watches of a real API server: pages that expire, bookmarks,
 * revisions of the future, and fields that cannot select.
 */
#include <stdio.h>

#include "cluster/testing/contract.h"
#include "cluster/testing/kube_users.h"

#define HEX_10_1_2_0 "0000000000000000000000000a010200"

struct broken_list {
	bool done;
	unsigned n;
	enum cluster_outcome outcome;
};

static void compact_at_first(void *arg, const struct cluster_object *o)
{
	struct broken_list *l = arg;

	(void)o;
	if (!l->n++)
		engine_control("compact");
}

static void on_broken(void *arg, const struct cluster_result *r, const char *revision)
{
	struct broken_list *l = arg;

	ck_assert_str_eq(revision, "");
	l->done = true;
	l->outcome = r->outcome;
}

static bool is_broken(const void *arg)
{
	return ((const struct broken_list *)arg)->done;
}

START_TEST(a_list_can_expire_in_the_middle)
{
	static const struct cluster_list_fns fns = { .item = compact_at_first, .done = on_broken };
	static struct listed l;
	const struct kube_conf small = { .timeout_ms = 120000, .page = 2 };
	struct calls c = kube_open_as("agent", &small);
	struct thing t = { .kind = CLUSTER_NODE };
	struct cluster_selector all = { .kind = CLUSTER_NODE };
	const char *const names[] = { "middle-a", "middle-b", "middle-c", "middle-d", "middle-e" };
	struct broken_list broken = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		t.name = names[i];
		must_write(&c, WRITE_CREATE, &t);
	}
	ck_assert_ptr_nonnull(c.store->ops->list(c.store, &all, &fns, &broken));
	loop_until(c.base, is_broken, &broken);
	ck_assert_uint_eq(broken.n, 2);
	ck_assert_int_eq(broken.outcome, CLUSTER_EXPIRED);
	all.prefix = "middle-";
	ck_assert_int_eq(do_list(&c, &all, &l), CLUSTER_OK);
	ck_assert_uint_eq(l.n, ARRAY_SIZE(names));
	engine_close(&c);
}
END_TEST

static bool has_revision(const void *arg)
{
	const struct watched *w = arg;

	return *w->revision || w->ended;
}

/* Two seconds before its end a quiet watch gets a bookmark, and it ends in order. */
START_TEST(a_quiet_watch_gets_a_bookmark)
{
	static struct listed l;
	static struct watched w;
	const struct kube_conf brief = { .timeout_ms = 30000, .watch_s = 4 };
	struct calls c = kube_open_as("agent", &brief);
	struct thing t = { .kind = CLUSTER_NODE, .name = "quiet-a", .node = "quiet-a" };
	struct thing other = { .kind = CLUSTER_NODE, .name = "quiet-z" };
	struct cluster_selector which = { .kind = CLUSTER_NODE, .node = "quiet-a" };
	char seen[CLUSTER_REVISION_LEN];

	ck_assert_int_eq(do_list(&c, &which, &l), CLUSTER_OK);
	must_write(&c, WRITE_CREATE, &other);
	/* a busy API server is late for it */
	do {
		start_watch(&c, &which, l.revision, &w);
		loop_until(c.base, has_revision, &w);
		ck_assert_msg(w.outcome == CLUSTER_OK && !w.n, "%u changes, %s", w.n, w.why);
	} while (!*w.revision);
	(void)snprintf(seen, sizeof(seen), "%s", w.revision);
	wait_watched(&c, &w, 0);
	ck_assert_msg(w.outcome == CLUSTER_OK, "%d: %s", (int)w.outcome, w.why);
	must_write(&c, WRITE_CREATE, &t);
	start_watch(&c, &which, seen, &w);
	wait_watched(&c, &w, 1);
	ck_assert_str_eq(w.text, "quiet-a=0 ");
	engine_close(&c);
}
END_TEST

/* Changes come at any time: also while a watch ends in order, and before the next one begins. */
START_TEST(a_watch_that_ends_in_order_misses_nothing)
{
	static struct listed l;
	static struct watched w;
	const struct kube_conf brief = { .timeout_ms = 30000, .watch_s = 1 };
	struct calls c = kube_open_as("agent", &brief);
	struct thing t = { .kind = CLUSTER_NODE, .name = "ends-a", .node = "ends-a" };
	struct cluster_selector which = { .kind = CLUSTER_NODE, .node = "ends-a" };
	static char want[65536];
	char text[32];
	unsigned n = 0, ends = 0;

	ck_assert_int_eq(do_list(&c, &which, &l), CLUSTER_OK);
	start_watch(&c, &which, l.revision, &w);
	for (; ends < 3 && n < 4000; n++) {
		t.number = (int)n;
		must_write(&c, n ? WRITE_UPDATE : WRITE_CREATE, &t);
		(void)snprintf(text, sizeof(text), "ends-a=%u ", n);
		testing_append(want, sizeof(want), text);
		if (!w.ended)
			continue;
		ck_assert_msg(w.outcome == CLUSTER_OK, "%d: %s", (int)w.outcome, w.why);
		ends++;
		go_on_watching(&c, &which, &w);
	}
	ck_assert_uint_eq(ends, 3);
	while (w.n < n) {
		loop_turn(c.base);
		if (w.ended)
			go_on_watching(&c, &which, &w);
	}
	ck_assert_str_eq(w.text, want);
	engine_close(&c);
}
END_TEST

static void count_unselected(void *arg, const struct err *why)
{
	must_say(why->msg, "field label not supported");
	++*(unsigned *)arg;
}

/* The types are of an older release, or the API server is: more is read, and little is lost. */
START_TEST(a_field_that_cannot_select_is_left_out)
{
	static struct listed l;
	static struct watched w;
	unsigned told = 0;
	const struct kube_conf conf = { .timeout_ms = 30000,
					.unselected = count_unselected,
					.arg = &told };
	struct thing a = { .kind = CLUSTER_BLOCK, .name = "f-" HEX_10_1_2_0, .node = "f-n1" };
	struct thing b = { .kind = CLUSTER_BLOCK, .name = "f-b-" HEX_10_1_2_0, .node = "f-n2" };
	struct cluster_selector of = { .kind = CLUSTER_BLOCK, .prefix = "f-" };
	struct cluster_selector node = { .kind = CLUSTER_BLOCK, .node = "f-n1", .prefix = "f-" };
	struct calls c = kube_open_as("agent", &conf);

	must_write(&c, WRITE_CREATE, &a);
	must_write(&c, WRITE_CREATE, &b);
	ck_assert_int_eq(do_list(&c, &of, &l), CLUSTER_OK);
	ck_assert_str_eq(l.text, "f-" HEX_10_1_2_0 "=0@f-n1 ");
	engine_control("no-pool-field");
	for (int i = 0; i < 2; i++) {
		ck_assert_msg(do_list(&c, &of, &l) == CLUSTER_OK, "%s", l.why);
		ck_assert_str_eq(l.text, "f-" HEX_10_1_2_0 "=0@f-n1 f-b-" HEX_10_1_2_0 "=0@f-n2 ");
		ck_assert_uint_eq(told, 1);
	}
	engine_control("no-fields");
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(do_list(&c, &node, &l), CLUSTER_OK);
		ck_assert_str_eq(l.text, "f-" HEX_10_1_2_0 "=0@f-n1 ");
		ck_assert_uint_eq(told, 2);
	}
	start_watch(&c, &node, l.revision, &w);
	a.number = 1;
	must_write(&c, WRITE_UPDATE, &a);
	a.node = "f-n2";
	must_write(&c, WRITE_UPDATE, &a);
	wait_watched(&c, &w, 2);
	ck_assert_str_eq(w.text, "f-" HEX_10_1_2_0 "=1 -f-" HEX_10_1_2_0 " ");
	engine_close(&c);
	/* each field that is not there is found out by itself */
	c = kube_open_as("agent", &conf);
	ck_assert_int_eq(do_list(&c, &node, &l), CLUSTER_OK);
	ck_assert_uint_eq(told, 4);
	engine_close(&c);
	engine_control("type");
}
END_TEST

/* A new pool needs the blocks of pools that are gone, and not those of the others. */
START_TEST(blocks_of_some_pools_are_left_out)
{
	static const char *const uids[] = { "w-1", "w-2" };
	static const struct cluster_selector others = {
		.kind = CLUSTER_BLOCK, .prefix = "w-", .without = uids, .n_without = 2
	};
	static struct listed l;
	unsigned told = 0;
	const struct kube_conf conf = { .timeout_ms = 30000,
					.unselected = count_unselected,
					.arg = &told };
	struct calls c = kube_open_as("agent", &conf);
	struct ended e;

	for (unsigned i = 0; i < 4; i++) {
		char name[64], value[64];
		struct thing t = { .kind = CLUSTER_BLOCK, .name = name, .node = "w-n1" };

		(void)snprintf(name, sizeof(name), "w-%024x0afa%04x", 0, i);
		(void)snprintf(value, sizeof(value),
			       i ? "{\"number\":%u,\"poolUID\":\"w-%u\"}" : "{}", i, i);
		ck_assert_msg(do_write_text(&c, &t, NULL, value, &e) == CLUSTER_OK, "%s", e.why);
	}
	ck_assert_msg(do_list(&c, &others, &l) == CLUSTER_OK, "%s", l.why);
	ck_assert_uint_eq(l.n, 2);
	ck_assert(strstr(l.text, "0afa0000=") && strstr(l.text, "0afa0003=3"));
	engine_control("no-pool-field");
	for (int i = 0; i < 2; i++) {
		ck_assert_msg(do_list(&c, &others, &l) == CLUSTER_OK, "%s", l.why);
		ck_assert_uint_eq(l.n, 4);
		ck_assert_uint_eq(told, 2); /* the uid, and then the pool of the prefix */
	}
	engine_close(&c);
	engine_control("type");
}
END_TEST

/* As after a restore of etcd: this node has seen more than there is. */
START_TEST(a_revision_of_the_future_is_expired)
{
	static struct listed l;
	static struct watched w;
	struct calls c = engine_open();
	struct cluster_selector which = { .kind = CLUSTER_NODE };

	ck_assert_int_eq(do_list(&c, &which, &l), CLUSTER_OK);
	testing_append(l.revision, sizeof(l.revision), "000");
	start_watch(&c, &which, l.revision, &w);
	wait_watched(&c, &w, 0);
	ck_assert_msg(w.outcome == CLUSTER_EXPIRED, "%d: %s", (int)w.outcome, w.why);
	engine_close(&c);
}
END_TEST

int main(void)
{
	static const struct contract_engine engine = { "kubernetes", kube_open_agent, true };
	const TTest *const tests[] = {
		a_list_can_expire_in_the_middle,           a_quiet_watch_gets_a_bookmark,
		a_watch_that_ends_in_order_misses_nothing, a_field_that_cannot_select_is_left_out,
		blocks_of_some_pools_are_left_out,         a_revision_of_the_future_is_expired,
	};
	Suite *suite = suite_create("kubernetes");
	SRunner *runner;
	int failed;

	contract_engine = &engine;
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		contract_test(suite, tests[i]);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

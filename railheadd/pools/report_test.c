/* SPDX-License-Identifier: Apache-2.0 */
/* report_test.c: what is counted, what is written, and what is left to another agent. */
#include "railheadd/pools/report.h"

#include <event2/event.h>
#include <stdio.h>

#include "cluster/testing/loop.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"
#include "railheadd/pools/figures.h"
#include "railheadd/testing/memory_store.h"

#define EVERY INT64_C(1000000)
#define RAIL0 "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":8,\"ranges\":[\"10.1.0.8-10.1.0.39\"]}"
#define OF(n)                                                                                      \
	"{\"node\":\"" n "\",\"holder\":\"h\",\"token\":\"1111111111111111\",\"touched\":1,"       \
	"\"poolUID\":\"u\"}"
#define FIGURES(owned, left, use, granted, nodes, by)                                              \
	"{\"addresses\":32,\"inBlocks\":" #owned ",\"free\":" #left ",\"use\":\"" use              \
	"\",\"blocks\":4,\"granted\":" #granted ",\"nodes\":" #nodes ",\"reportedBy\":\"" by "\"}"

static struct event_base *base;
static struct memory_store *store;
static struct pool_report *report;
static struct ctx ctx;

static void pool(const char *name, const char *value)
{
	memory_store_put(store, CLUSTER_POOL, name, "", value);
}

static void block(const char *last, const char *node, const char *value)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "rail0-0000000000000000000000000a0100%s", last);
	memory_store_put(store, CLUSTER_BLOCK, name, node, value);
}

#define TIME "2001-09-09T01:46:40Z"

static int64_t now(void *clock)
{
	(void)clock;
	return INT64_C(1000000000) * 1000000000;
}

static void begin(void)
{
	base = loop_new();
	store = memory_store_new(base);
	ctx_init(&ctx, "test");
	ctx.log.level = LOG_LEVEL_ERROR;
	ctx.now = now;
	pool("rail0", RAIL0);
	block("08", "n1", OF("n1"));
	block("10", "n2", OF("n2"));
}

static struct node_pool state;

static bool state_of(const void *arg, const char *name, struct node_pool *out)
{
	(void)arg;
	*out = state;
	return strcmp(name, state.name) == 0;
}

static void start_every(int64_t every)
{
	const struct pool_report_conf conf = { &ctx,     base, memory_store_ops(store), "n1", every,
					       state_of, NULL };
	struct err e;

	ck_assert_int_eq(pool_report_new(&conf, &report, &e), 0);
}

static void start(void)
{
	start_every(EVERY);
}

static void end(void)
{
	struct cluster_store *s = memory_store_ops(store);

	pool_report_free(report);
	ck_assert_uint_eq(memory_store_counts(store).running, 0);
	s->ops->close(s);
	loop_free(base);
}

static bool says(const void *arg)
{
	auto_free char *text = memory_store_status(store, "rail0");

	return text && strcmp(text, arg) == 0;
}

/* Two lists each, and none began before. */
static bool has_listed(const void *arg)
{
	return memory_store_counts(store).lists >= *(const unsigned *)arg;
}

static void more_rounds(unsigned n)
{
	unsigned lists = memory_store_counts(store).lists + 2 * n + 2;

	loop_until(base, has_listed, &lists);
}

static unsigned reports(void)
{
	return memory_store_counts(store).reports;
}

START_TEST(blocks_of_nodes_are_counted)
{
	begin();
	block("18", "", "{\"touched\":1,\"poolUID\":\"u\",\"probe\":true}");
	start();
	loop_until(base, says, FIGURES(16, 16, "50%", 2, 2, "n1"));
	block("18", "n2", OF("n2"));
	loop_until(base, says, FIGURES(24, 8, "75%", 3, 2, "n1"));
	end();
}
END_TEST

START_TEST(equal_figures_are_written_once)
{
	begin();
	start();
	more_rounds(5);
	ck_assert_uint_eq(reports(), 1);
	/* Keys of a newer release, and a definition with the same figures. */
	memory_store_put_status(store, "rail0",
				"{\"new\":1,\"nodes\":2,\"granted\":2,\"blocks\":4,\"use\":\"50%\","
				"\"free\":16,\"inBlocks\":16,\"addresses\":32}");
	more_rounds(5);
	ck_assert_uint_eq(reports(), 1);
	memory_store_put_status(store, "rail0", "{}");
	loop_until(base, says, FIGURES(16, 16, "50%", 2, 2, "n1"));
	ck_assert_uint_eq(reports(), 2);
	ck_assert_uint_eq(memory_store_counts(store).writes, 0);
	end();
}
END_TEST

START_TEST(a_pool_that_cannot_be_read_gets_no_status)
{
	begin();
	pool("bad", "{\"subnet\":7,\"blockSize\":8}");
	pool("a-name-that-is-too-long-for-a-pool", RAIL0);
	pool("later", "{\"subnet\":\"10.2.0.0/24\",\"blockSize\":8}");
	start();
	more_rounds(3);
	ck_assert_uint_eq(reports(), 2);
	ck_assert_ptr_null(memory_store_status(store, "bad"));
	memory_store_delete(store, CLUSTER_POOL, "later");
	pool("bad", "{\"subnet\":\"10.3.0.0/24\",\"blockSize\":8}");
	more_rounds(3);
	ck_assert_uint_eq(reports(), 3);
	end();
}
END_TEST

#define CONDITION(status, reason, message, generation, time)                                       \
	"\"conditions\":[{\"type\":\"Ready\",\"status\":\"" status "\",\"reason\":\"" reason       \
	"\",\"message\":\"" message "\",\"observedGeneration\":" generation                        \
	",\"lastTransitionTime\":\"" time "\"}]"

static bool contains(const void *arg)
{
	auto_free char *text = memory_store_status(store, "bad");

	return text && strstr(text, arg) != NULL;
}

/* Also of a pool whose definition cannot be read, which has no figures. */
START_TEST(what_the_node_says_is_a_condition)
{
	unsigned n;

	begin();
	pool("bad", "{\"subnet\":7,\"blockSize\":8}");
	state = (struct node_pool){ .name = "bad", .uid = "uid-4", .waits = "subnet: 7" };
	start();
	loop_until(base, contains, CONDITION("False", "Waits", "subnet: 7", "1", TIME));
	n = reports();
	/* The node has not seen the present generation. */
	state.waits[0] = '\0';
	more_rounds(3);
	ck_assert_uint_eq(reports(), n);
	state.generation = 1;
	loop_until(base, contains, CONDITION("True", "TakenOver", "", "1", TIME));
	end();
	state.name[0] = '\0';
}
END_TEST

/* The rounds of the other agent come at another time. */
START_TEST(an_agent_that_reports_is_left_alone)
{
	char status[256];

	begin();
	memory_store_put_status(store, "rail0", FIGURES(8, 24, "25%", 1, 1, "n2"));
	start();
	for (unsigned i = 0; i < 6; i++) {
		(void)snprintf(status, sizeof(status), "{\"addresses\":%u,\"reportedBy\":\"n2\"}",
			       100 + i);
		more_rounds(1);
		memory_store_put_status(store, "rail0", status);
	}
	ck_assert_uint_eq(reports(), 0);
	end();
}
END_TEST

START_TEST(an_agent_that_stopped_is_replaced)
{
	begin();
	memory_store_put_status(store, "rail0", FIGURES(8, 24, "25%", 1, 1, "n2"));
	start();
	loop_until(base, says, FIGURES(16, 16, "50%", 2, 2, "n1"));
	ck_assert_uint_ge(memory_store_counts(store).lists, 2 * 4);
	end();
}
END_TEST

static void goes_on_after(enum cluster_outcome outcome, unsigned times)
{
	begin();
	memory_store_fail(store, outcome, times);
	start();
	loop_until(base, says, FIGURES(16, 16, "50%", 2, 2, "n1"));
	end();
}

/* A list of pools, a list of blocks and a status fail, and more rounds of them. */
START_TEST(failures_are_tried_again)
{
	static const enum cluster_outcome outcomes[] = { CLUSTER_AWAY, CLUSTER_REFUSED,
							 CLUSTER_EXPIRED, CLUSTER_CONFLICT };

	for (size_t i = 0; i < ARRAY_SIZE(outcomes); i++) {
		goes_on_after(outcomes[i], 1);
		goes_on_after(outcomes[i], 4);
	}
}
END_TEST

START_TEST(a_status_that_is_refused_is_tried_again)
{
	static const enum cluster_outcome outcomes[] = { CLUSTER_AWAY, CLUSTER_REFUSED,
							 CLUSTER_CONFLICT, CLUSTER_NOT_FOUND };

	for (size_t i = 0; i < ARRAY_SIZE(outcomes); i++) {
		begin();
		memory_store_fail_reports(store, outcomes[i], 2);
		start();
		loop_until(base, says, FIGURES(16, 16, "50%", 2, 2, "n1"));
		ck_assert_uint_ge(memory_store_counts(store).lists, 3 * 2);
		end();
	}
}
END_TEST

static bool has_reported(const void *arg)
{
	(void)arg;
	return reports() == 1;
}

/* There is one round only. */
START_TEST(a_pool_that_changed_meanwhile_holds_up_no_other)
{
	static const enum cluster_outcome outcomes[] = { CLUSTER_CONFLICT, CLUSTER_NOT_FOUND };

	for (size_t i = 0; i < ARRAY_SIZE(outcomes); i++) {
		begin();
		pool("rail1", "{\"subnet\":\"10.2.0.0/24\",\"blockSize\":8}");
		memory_store_fail_reports(store, outcomes[i], 1);
		start_every(INT64_C(3600) * 1000000000);
		loop_until(base, has_reported, NULL);
		end();
	}
}
END_TEST

START_TEST(a_call_that_runs_is_cancelled)
{
	const unsigned one = 1;

	begin();
	memory_store_hold(store, true);
	start();
	loop_until(base, has_listed, &one);
	ck_assert_uint_eq(memory_store_counts(store).running, 1);
	end();
}
END_TEST

static int make(void *arg, struct err *e)
{
	auto_json struct json *status = pool_figures_json(arg, "n1");

	return status ? 0 : err_nomem(e);
}

START_TEST(shares_and_memory)
{
	static const char *const text[] = { "{\"addresses\":0,\"inBlocks\":0}",
					    "{\"addresses\":1000,\"inBlocks\":1}",
					    "{\"addresses\":1000,\"inBlocks\":999}",
					    "{\"addresses\":9,\"inBlocks\":9}" };
	static const char *const use[] = { "0%", "<1%", ">99%", "100%" };
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(text); i++) {
		auto_json struct json *counted = NULL, *status = NULL;

		ck_assert_int_eq(json_parse(text[i], strlen(text[i]), "counted", &counted, &e), 0);
		status = pool_figures_json(counted, "n1");
		ck_assert_str_eq(json_str(json_get(status, "use")), use[i]);
		ck_assert_str_eq(alloc_fail_each(make, counted), "ok");
	}
}
END_TEST

TEST_PROGRAM("pool_report", blocks_of_nodes_are_counted, equal_figures_are_written_once,
	     a_pool_that_cannot_be_read_gets_no_status, what_the_node_says_is_a_condition,
	     an_agent_that_reports_is_left_alone, an_agent_that_stopped_is_replaced,
	     failures_are_tried_again, a_status_that_is_refused_is_tried_again,
	     a_pool_that_changed_meanwhile_holds_up_no_other, a_call_that_runs_is_cancelled,
	     shares_and_memory)

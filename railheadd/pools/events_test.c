/* SPDX-License-Identifier: Apache-2.0 */
/* events_test.c: events on a cluster store in memory: told once, in order, and never in the way. */
#include "railheadd/pools/events.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cluster/testing/loop.h"
#include "lib/testing/testing.h"
#include "railheadd/pools/event_limit.h"
#include "railheadd/testing/memory_store.h"

static struct event_base *base;
static struct memory_store *store;
static struct events *v;
static struct ctx ctx;

static void begin(void)
{
	struct events_conf conf = { .ctx = &ctx, .node = "n1", .retry = 1000000 };
	struct err e;

	ctx_init(&ctx, "test");
	ctx.log.fd = memfd_create("log", MFD_CLOEXEC);
	base = loop_new();
	store = memory_store_new(base);
	conf.base = base;
	conf.store = memory_store_ops(store);
	ck_assert_int_eq(events_new(&conf, &v, &e), 0);
	ck_assert_ptr_nonnull(v);
}

static void end(void)
{
	events_free(v);
	memory_store_ops(store)->ops->close(memory_store_ops(store));
	loop_free(base);
	(void)close(ctx.log.fd);
}

static void tell(enum event_reason reason, const char *pod, const char *key)
{
	const struct event_about about = { reason, *pod ? "ns" : "", pod, *pod ? "u1" : "", key,
					   false };

	(void)events_tell(v, &about, "key %s", key);
}

static void counts_are(const char *want)
{
	auto_json struct json *obj = json_new_object();

	ck_assert_int_eq(events_add_status(v, obj), 0);
	auto_free char *text = json_print(json_get(obj, "events"), false);
	ck_assert_str_eq(text, want);
}

static bool has_told(const void *arg)
{
	return strcmp(memory_store_told(store), arg) == 0;
}

static bool has_tried(const void *arg)
{
	return memory_store_counts(store).tells >= *(const unsigned *)arg;
}

START_TEST(they_are_told_one_after_the_other)
{
	begin();
	tell(EVENT_BLOCK_LOST, "", "a");
	tell(EVENT_ADDRESS_CONFLICT, "p1", "b");
	tell(EVENT_REPAIRED, "p2", "c");
	ck_assert_str_eq(memory_store_told(store), "");
	loop_until(base, has_told,
		   "BlockLost n1: key a\n"
		   "AddressConflict ns/p1 u1: key b\n"
		   "Repaired ns/p2 u1: key c\n");
	counts_are("{\"told\":3,\"repeated\":0,\"dropped\":0,\"failed\":0}");
	end();
}
END_TEST

/* Another pod, another reason and another key are other events. */
START_TEST(the_same_one_is_told_once)
{
	begin();
	tell(EVENT_REPAIRED, "p1", "a");
	tell(EVENT_REPAIRED, "p1", "a");
	tell(EVENT_REPAIRED, "p2", "a");
	tell(EVENT_REPAIR_FAILED, "p1", "a");
	tell(EVENT_REPAIRED, "p1", "b");
	tell(EVENT_REPAIRED, "p1", "a");
	loop_until(base, has_told,
		   "Repaired ns/p1 u1: key a\n"
		   "Repaired ns/p2 u1: key a\n"
		   "RepairFailed ns/p1 u1: key a\n"
		   "Repaired ns/p1 u1: key b\n");
	counts_are("{\"told\":4,\"repeated\":2,\"dropped\":0,\"failed\":0}");
	end();
}
END_TEST

START_TEST(too_many_are_dropped_and_counted)
{
	unsigned tells = EVENT_BURST;
	char key[16];

	begin();
	for (int i = 0; i < EVENT_BURST + 7; i++) {
		(void)snprintf(key, sizeof(key), "%d", i);
		tell(EVENT_REPAIRED, "p1", key);
	}
	loop_until(base, has_tried, &tells);
	loop_turn(base);
	counts_are("{\"told\":20,\"repeated\":0,\"dropped\":7,\"failed\":0}");
	end();
}
END_TEST

/* A switch that fails takes all rails of a node with it. */
START_TEST(rails_do_not_use_up_the_limit_of_others)
{
	char key[16];

	begin();
	for (int i = 0; i < EVENT_BURST + 7; i++) {
		(void)snprintf(key, sizeof(key), "%d", i);
		tell(i % 2 ? EVENT_RAIL_DEGRADED : EVENT_RAIL_RECOVERED, "", key);
	}
	tell(EVENT_ADDRESS_CONFLICT, "p1", "a");
	counts_are("{\"told\":0,\"repeated\":0,\"dropped\":7,\"failed\":0}");
	const struct event_about again = { EVENT_RAIL_DEGRADED, "", "", "", "new", true };
	ck_assert(!events_tell(v, &again, "again"));
	counts_are("{\"told\":0,\"repeated\":0,\"dropped\":7,\"failed\":0}");
	end();
}
END_TEST

static char lost[128];

static void note_lost(void *arg, enum event_reason reason, const char *key)
{
	size_t len = strlen(lost);

	ck_assert_ptr_eq(arg, &base);
	(void)snprintf(lost + len, sizeof(lost) - len, "%d %s\n", (int)reason, key);
}

START_TEST(an_event_that_is_lost_is_reported)
{
	struct cluster_result forbidden = { .outcome = CLUSTER_REFUSED };
	unsigned tells = 1;
	char want[64];

	begin();
	err_set(&forbidden.err, ERR_FORBIDDEN, 0, "cannot create events");
	lost[0] = '\0';
	events_on_lost(v, note_lost, &base);
	memory_store_fail_tell(store, &forbidden, 1);
	tell(EVENT_BLOCK_LOST, "", "a");
	loop_until(base, has_tried, &tells);
	(void)snprintf(want, sizeof(want), "%d a\n", EVENT_BLOCK_LOST);
	ck_assert_str_eq(lost, want);
	tell(EVENT_BLOCK_LOST, "", "b");
	loop_until(base, has_told, "BlockLost n1: key b\n");
	ck_assert_str_eq(lost, want);
	events_on_lost(v, NULL, NULL);
	memory_store_fail_tell(store, &forbidden, 1);
	tell(EVENT_BLOCK_LOST, "", "c");
	tells = 3;
	loop_until(base, has_tried, &tells);
	ck_assert_str_eq(lost, want);
	end();
}
END_TEST

/* The name stays, so a try that came late all the same makes no second event. */
START_TEST(without_an_answer_it_is_sent_again)
{
	struct cluster_result away = { .outcome = CLUSTER_AWAY };
	struct cluster_result busy = { .outcome = CLUSTER_REFUSED, .retry_ms = 1 };
	struct cluster_result there = { .outcome = CLUSTER_EXISTS };
	unsigned tells = 5;

	begin();
	err_set(&away.err, ERR_UNAVAILABLE, 0, "away");
	err_set(&busy.err, ERR_AGAIN, 0, "busy");
	err_set(&there.err, ERR_BUSY, 0, "there");
	memory_store_fail_tell(store, &away, 2);
	tell(EVENT_BLOCK_LOST, "", "a");
	loop_until(base, has_told, "BlockLost n1: key a\n");
	memory_store_fail_tell(store, &busy, 1);
	tell(EVENT_BLOCK_LOST, "", "b");
	loop_until(base, has_told, "BlockLost n1: key a\nBlockLost n1: key b\n");
	ck_assert_uint_eq(memory_store_counts(store).tells, tells);
	memory_store_fail_tell(store, &there, 1);
	tell(EVENT_BLOCK_LOST, "", "c");
	tells++;
	loop_until(base, has_tried, &tells);
	counts_are("{\"told\":3,\"repeated\":0,\"dropped\":0,\"failed\":0}");
	end();
}
END_TEST

static size_t log_lines(void)
{
	char text[8192];
	ssize_t len = pread(ctx.log.fd, text, sizeof(text), 0);
	size_t n = 0;

	for (ssize_t i = 0; i < len; i++)
		n += text[i] == '\n';
	return n;
}

/* A missing right is said once, and again only if it was there in between. */
START_TEST(a_refusal_is_logged_once)
{
	struct cluster_result forbidden = { .outcome = CLUSTER_REFUSED };
	unsigned tells = 2;

	begin();
	err_set(&forbidden.err, ERR_FORBIDDEN, 0, "cannot create events");
	memory_store_fail_tell(store, &forbidden, 2);
	tell(EVENT_BLOCK_LOST, "", "a");
	tell(EVENT_BLOCK_LOST, "", "b");
	loop_until(base, has_tried, &tells);
	ck_assert_uint_eq(log_lines(), 1);
	counts_are("{\"told\":0,\"repeated\":0,\"dropped\":0,\"failed\":2}");
	tell(EVENT_BLOCK_LOST, "", "c");
	loop_until(base, has_told, "BlockLost n1: key c\n");
	memory_store_fail_tell(store, &forbidden, 1);
	tell(EVENT_BLOCK_LOST, "", "d");
	tells = 4;
	loop_until(base, has_tried, &tells);
	ck_assert_uint_eq(log_lines(), 2);
	end();
}
END_TEST

START_TEST(it_ends_with_events_under_way)
{
	begin();
	memory_store_hold(store, true);
	tell(EVENT_BLOCK_LOST, "", "a");
	tell(EVENT_BLOCK_LOST, "", "b");
	loop_turn(base);
	loop_turn(base);
	end();
	begin();
	tell(EVENT_BLOCK_LOST, "", "a");
	end();
}
END_TEST

START_TEST(a_store_without_events)
{
	static const struct cluster_store_ops ops = { .name = "etcd" };
	struct cluster_store etcd = { &ops };
	const struct events_conf conf = { .store = &etcd };
	auto_json struct json *obj = json_new_object();
	struct events *none = NULL;
	struct err e;

	ck_assert_int_eq(events_new(&conf, &none, &e), 0);
	ck_assert_ptr_null(none);
	(void)events_tell(none, &(struct event_about){ EVENT_REPAIRED, "", "", "", "", false },
			  "nothing");
	events_on_lost(none, NULL, NULL);
	ck_assert_int_eq(events_add_status(none, obj), 0);
	ck_assert_uint_eq(json_len(obj), 0);
	events_free(none);
}
END_TEST

static uint64_t id_of(const char *pod, const char *key, const char *said)
{
	begin();
	tell(EVENT_RDMA_NOT_USED, pod, key);
	loop_until(base, has_told, said);
	const uint64_t id = memory_store_told_id(store);

	end();
	return id;
}

/* Two agents: each of them has another pod of the job. */
START_TEST(nodes_make_one_event_of_a_job)
{
	const uint64_t id = id_of("p1", "job 1", "RDMANotUsed ns/p1 u1: key job 1\n");

	ck_assert_uint_eq(id_of("p2", "job 1", "RDMANotUsed ns/p2 u1: key job 1\n"), id);
	ck_assert_uint_ne(id_of("p1", "job 2", "RDMANotUsed ns/p1 u1: key job 2\n"), id);
}
END_TEST

TEST_PROGRAM("railheadd/pools/events", they_are_told_one_after_the_other, the_same_one_is_told_once,
	     too_many_are_dropped_and_counted, rails_do_not_use_up_the_limit_of_others,
	     an_event_that_is_lost_is_reported, without_an_answer_it_is_sent_again,
	     a_refusal_is_logged_once, it_ends_with_events_under_way, a_store_without_events,
	     nodes_make_one_event_of_a_job)

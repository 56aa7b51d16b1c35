/* SPDX-License-Identifier: Apache-2.0 */
/* transports_test.c: a job without RDMA is told once; looks that fail; the part of the status. */
#include "railheadd/watch/transports.h"

#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cluster/testing/loop.h"
#include "lib/testing/testing.h"
#include "railheadd/pools/events.h"
#include "railheadd/testing/memory_store.h"
#include "railheadd/watch/look.h"
#include "railheadd/watch/transport.h"

static struct event_base *base;
static struct memory_store *store;
static struct events *events;
static struct transport_watch *watch;
static struct ctx ctx;

static int64_t noon(void *clock)
{
	(void)clock;
	return INT64_C(20000) * 86400 * 1000000000;
}

static void begin(int (*run)(const struct transport_table *, uint32_t))
{
	struct events_conf tells = { .ctx = &ctx, .node = "n1", .retry = 1000000 };
	struct transport_watch_conf conf = {
		.ctx = &ctx, .every = 5, .limit = 1000, .run = run, .deadline_ms = 60000
	};
	struct err e;

	ctx_init(&ctx, "test");
	ctx.now = noon;
	ctx.log.fd = memfd_create("log", MFD_CLOEXEC);
	conf.base = tells.base = base = loop_new();
	store = memory_store_new(base);
	tells.store = memory_store_ops(store);
	ck_assert_int_eq(events_new(&tells, &events, &e), 0);
	conf.events = events;
	ck_assert_int_eq(transport_watch_new(&conf, &watch, &e), 0);
}

static void end(void)
{
	transport_watch_free(watch);
	events_free(events);
	memory_store_ops(store)->ops->close(memory_store_ops(store));
	loop_free(base);
	(void)close(ctx.log.fd);
}

static bool status_has(const void *part)
{
	auto_json struct json *obj = json_new_object();
	struct err e;

	ck_assert_int_eq(transport_watch_status(watch, obj, &e), 0);
	auto_free char *text = json_print(obj, false);
	return strstr(text, part) != NULL;
}

/* Three pods of two jobs, all of them suspect since the first look. */
static int three_pods(const struct transport_table *before, uint32_t limit)
{
	/* The last one waits for its check. */
	static const char *const names[] = { "train-0-x7k2p", "train-1-b2c4d", "eval-0", "late-0" };
	struct transport_table t = { 0 };
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct transport_pod *p = transport_add(&t, &e), *was;

		(void)snprintf(p->ns, sizeof(p->ns), "ml");
		(void)snprintf(p->name, sizeof(p->name), "%s", names[i]);
		(void)snprintf(p->cause, sizeof(p->cause), "%s",
			       i == 2 ? "NCCL_NET is Socket" : "");
		was = transport_find(before, p);
		p->ms = 20000;
		p->counted = p->complete = true;
		p->checked = i != 3;
		p->told = was && was->told;
		p->over_ms = was ? was->over_ms + p->ms : 60000;
		p->state = TRANSPORT_SUSPECT;
		*(i == 2 ? &p->other : &p->rails) =
			(struct transport_bytes){ UINT64_C(5000000000), limit * 4000000 };
	}
	auto_json struct json *o = json_new_object();

	ck_assert_int_eq(transport_add_to(o, &t, true), 0);
	transport_clear(&t);
	return look_print(o, NULL);
}

#define TEXT(job, way, cause)                                                                      \
	"job " job " does not seem to use RDMA: for 60 s this pod sends 2000 Mbit/s and receives " \
	"1600 Mbit/s by TCP " way ", and it has no connected queue pair. " cause ".\n"

START_TEST(a_job_without_rdma_is_told_once)
{
	begin(three_pods);
	loop_until(base, status_has, "\"looks\":9,");
	ck_assert_str_eq(memory_store_told(store), "RDMANotUsed ml/train-0-x7k2p : " TEXT(
							   "train", "over its rails",
							   "\"railctl rdma check\" found no "
							   "cause") "RDMANotUsed "
								    "ml/eval-0 : " TEXT("eval",
											"beside "
											"its "
											"rails",
											"Likely "
											"cause: "
											"NCCL_"
											"NET is "
											"Socke"
											"t"));
	ck_assert(status_has(
		"\"pod\":\"eval-0\",\"uid\":\"\",\"container\":\"\",\"state\":\"suspect\""));
	ck_assert(!status_has("sockets"));
	end();
}
END_TEST

static int fails(const struct transport_table *before, uint32_t limit)
{
	const struct err e = { .msg = "no records" };

	(void)before;
	(void)limit;
	return look_print(NULL, &e);
}

START_TEST(a_look_that_fails_is_said)
{
	struct json *obj;
	struct err e;

	begin(fails);
	loop_until(base, status_has,
		   "\"transport\":{\"error\":\"no records\",\"looks\":0,\"pods\":[]}");
	end();
	obj = json_new_object();
	ck_assert_int_eq(transport_watch_status(NULL, obj, &e), 0);
	ck_assert_int_eq(json_type(json_get(obj, "transport")), JSON_BOOL);
	json_free(obj);
}
END_TEST

TEST_PROGRAM("transports", a_job_without_rdma_is_told_once, a_look_that_fails_is_said)

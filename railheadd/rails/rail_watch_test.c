/* SPDX-License-Identifier: Apache-2.0 */
/* rail_watch_test.c: a rail becomes degraded and well again: Events, each once; looks that fail. */
#include "railheadd/rails/rail_watch.h"

#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cluster/testing/loop.h"
#include "lib/sys/fs.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "railheadd/events/events.h"
#include "railheadd/testing/memory_store.h"

#define LOOK "/mnt/look" /* what the child prints */

static struct event_base *base;
static struct memory_store *store;
static struct events *events;
static struct rail_watch *watch;
static struct ctx ctx;

static int print_look(void)
{
	auto_free char *text = NULL;
	struct err e;

	if (fs_read_at(AT_FDCWD, LOOK, 65536, &text, &e) < 0)
		return 1;
	return fputs(text, stdout) < 0 || fflush(stdout);
}

static void look_is(const char *state, const char *value)
{
	char text[512];

	(void)snprintf(text, sizeof(text),
		       "[{\"pci\":\"0000:21:00.0\",\"device\":\"mlx5_0\",\"port\":1,\"findings\":"
		       "[{\"check\":\"port\",\"state\":\"%s\",\"value\":\"%s\",\"reason\":\"NCCL "
		       "cannot use it\",\"remedy\":\"check the cable\"}]}]",
		       state, value);
	/* Whole or not at all: a child may read it now. */
	testing_file("/mnt/new", 0644, text);
	ck_assert_int_eq(rename("/mnt/new", LOOK), 0);
}

static int64_t every = 5;

static void begin(int (*run)(void), int deadline_ms)
{
	static const char *const none[] = { NULL };
	struct events_conf tells = { .ctx = &ctx, .node = "n1", .retry = 1000000 };
	struct rail_watch_conf conf = { .ctx = &ctx, .except = none, .every = every, .confirm = 5 };
	struct err e;

	(void)testing_dir();
	ctx_init(&ctx, "test");
	ctx.log.fd = memfd_create("log", MFD_CLOEXEC);
	base = loop_new();
	store = memory_store_new(base);
	tells.base = base;
	tells.store = memory_store_ops(store);
	ck_assert_int_eq(events_new(&tells, &events, &e), 0);
	conf.base = base;
	conf.events = events;
	conf.run = run;
	conf.deadline_ms = deadline_ms;
	ck_assert_int_eq(rail_watch_new(&conf, &watch, &e), 0);
}

static void end(void)
{
	rail_watch_free(watch);
	events_free(events);
	memory_store_ops(store)->ops->close(memory_store_ops(store));
	loop_free(base);
	(void)close(ctx.log.fd);
}

static struct json *status(void)
{
	struct json *obj = json_new_object();
	struct err e;

	ck_assert_int_eq(rail_watch_status(watch, obj, &e), 0);
	return obj;
}

static bool has_told(const void *want)
{
	return strcmp(memory_store_told(store), want) == 0;
}

static bool status_has(const void *part)
{
	auto_json struct json *obj = status();
	auto_free char *text = json_print(obj, false);

	return strstr(text, part) != NULL;
}

static double looks(void)
{
	auto_json struct json *obj = status();

	return json_num(json_get(json_get(obj, "rails"), "looks"));
}

static bool has_looked(const void *until)
{
	return looks() >= *(const double *)until;
}

/* n more looks. */
static void pass(int n)
{
	double until = looks() + n;

	loop_until(base, has_looked, &until);
}

static size_t log_has(const char *part)
{
	char text[16384] = "";
	size_t n = 0;

	ck_assert_int_ge(pread(ctx.log.fd, text, sizeof(text) - 1, 0), 0);
	for (const char *p = text; (p = strstr(p, part)) != NULL; p++)
		n++;
	return n;
}

#define DEGRADED                                                                                   \
	"RailDegraded n1: port: rail mlx5_0:1 (0000:21:00.0) is degraded: the port is DOWN: NCCL " \
	"cannot use it. First: check the cable.\n"
#define WELL "RailRecovered n1: port: rail mlx5_0:1 (0000:21:00.0) is well again: ACTIVE.\n"

START_TEST(each_change_is_told_once)
{
	begin(print_look, 60000);
	look_is("ok", "ACTIVE");
	pass(3);
	ck_assert_str_eq(memory_store_told(store), "");
	look_is("warn", "the port is DOWN");
	loop_until(base, has_told, DEGRADED);
	pass(3);
	look_is("ok", "ACTIVE");
	loop_until(base, has_told, DEGRADED WELL);
	pass(3);
	ck_assert_str_eq(memory_store_told(store), DEGRADED WELL);
	ck_assert_uint_eq(log_has("is degraded: port: the port is DOWN"), 1);
	ck_assert_uint_eq(log_has("is well again"), 1);
	end();
}
END_TEST

/* The Event waits until the last one is old; the log and the status do not. */
START_TEST(a_flap_is_in_the_log_and_not_in_events)
{
	begin(print_look, 60000);
	look_is("warn", "the port is DOWN");
	loop_until(base, has_told, DEGRADED);
	look_is("ok", "ACTIVE");
	loop_until(base, has_told, DEGRADED WELL);
	look_is("warn", "the port is DOWN");
	loop_until(base, status_has, "\"degraded\":[{\"check\":\"port\"");
	pass(3);
	ck_assert_str_eq(memory_store_told(store), DEGRADED WELL);
	ck_assert_uint_eq(log_has("is degraded"), 2);
	auto_json struct json *obj = json_new_object();
	ck_assert_int_eq(events_add_status(events, obj), 0);
	ck_assert(json_num(json_get(json_get(obj, "events"), "repeated")) >= 1);
	end();
}
END_TEST

/* The next look would come after an hour. */
START_TEST(the_second_look_at_a_change_comes_soon)
{
	every = INT64_C(3600) * 1000;
	begin(print_look, 60000);
	look_is("warn", "the port is DOWN");
	loop_until(base, has_told, DEGRADED);
	loop_turn(base);
	ck_assert(looks() == 2);
	end();
}
END_TEST

static int hangs(void)
{
	while (pause()) {
	}
	return 0;
}

START_TEST(a_look_that_hangs_is_an_error)
{
	begin(hangs, 20);
	loop_until(base, status_has, "\"error\":\"the rails were not read in time");
	ck_assert(looks() == 0);
	end();
	begin(hangs, 60000);
	loop_turn(base);
	end();
}
END_TEST

START_TEST(a_look_that_fails_is_said_once)
{
	begin(print_look, 60000);
	loop_until(base, status_has, "\"error\":\"the look failed");
	look_is("color", "");
	loop_until(base, status_has, "\"error\":\"findings.state");
	look_is("ok", "ACTIVE");
	pass(1);
	ck_assert(!status_has("error"));
	ck_assert_uint_eq(log_has("the look failed"), 1);
	end();
}
END_TEST

START_TEST(an_agent_that_does_not_look)
{
	auto_json struct json *obj = json_new_object();
	struct err e;

	ck_assert_int_eq(rail_watch_status(NULL, obj, &e), 0);
	auto_free char *text = json_print(obj, false);
	ck_assert_str_eq(text, "{\"rails\":false}");
	rail_watch_free(NULL);
}
END_TEST

TEST_PROGRAM("railheadd/rails/rail_watch", each_change_is_told_once,
	     the_second_look_at_a_change_comes_soon, a_flap_is_in_the_log_and_not_in_events,
	     a_look_that_hangs_is_an_error, a_look_that_fails_is_said_once,
	     an_agent_that_does_not_look)

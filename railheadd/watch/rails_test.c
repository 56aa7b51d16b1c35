/* SPDX-License-Identifier: Apache-2.0 */
/* rails_test.c: a rail is degraded and recovers: Events, each once; looks that fail; restarts.
 */
#include "railheadd/watch/rails.h"

#include <event2/event.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cluster/testing/loop.h"
#include "lib/sys/fs.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "railheadd/pools/event_limit.h"
#include "railheadd/pools/events.h"
#include "railheadd/testing/memory_store.h"

#define LOOK  "/mnt/look"  /* what the child prints */
#define KNOWN "/mnt/known" /* what it was given */

static struct event_base *base;
static struct memory_store *store;
static struct events *events;
static struct rail_watch *watch;
static struct ctx ctx;

/* A child that says what its agent knows, too. */
static int print_look(const struct json *list)
{
	auto_free char *text = NULL, *known = json_print(list, false);
	struct err e;

	if (!known ||
	    fs_put(KNOWN, &(struct fs_content){ known, strlen(known), 0600, false }, &e) ||
	    fs_read_at(AT_FDCWD, LOOK, 65536, &text, &e) < 0)
		return 1;
	return fputs(text, stdout) < 0 || fflush(stdout);
}

static void put_look(const char *text)
{
	/* Whole or not at all: a child may read it now. */
	testing_file("/mnt/new", 0644, text);
	ck_assert_int_eq(rename("/mnt/new", LOOK), 0);
}

static void look_is(const char *state, const char *value)
{
	char text[512];

	(void)snprintf(text, sizeof(text),
		       "[{\"pci\":\"0000:21:00.0\",\"device\":\"mlx5_0\",\"port\":1,\"findings\":"
		       "[{\"check\":\"port\",\"state\":\"%s\",\"value\":\"%s\",\"reason\":\"NCCL "
		       "cannot use it\",\"remedy\":\"check the cable\"}]}]",
		       state, value);
	put_look(text);
}

static int64_t every = 5, now;

static int64_t clock_ms(void)
{
	return now;
}

/* The agent's part of begin(). */
static void watch_begin(int (*run)(const struct json *), int deadline_ms)
{
	static const char *const none[] = { NULL };
	const struct rail_watch_conf conf = { .base = base,
					      .ctx = &ctx,
					      .events = events,
					      .except = none,
					      .every = every,
					      .confirm = 5,
					      .run = run,
					      .deadline_ms = deadline_ms };
	struct err e;

	ck_assert_int_eq(rail_watch_new(&conf, &watch, &e), 0);
}

static void begin(int (*run)(const struct json *), int deadline_ms)
{
	struct events_conf tells = {
		.ctx = &ctx, .node = "n1", .retry = 1000000, .mono = clock_ms
	};
	struct err e;

	(void)testing_dir();
	ctx_init(&ctx, "test");
	ctx.state_dir = "/mnt/lib";
	ctx.log.fd = memfd_create("log", MFD_CLOEXEC);
	base = loop_new();
	store = memory_store_new(base);
	tells.base = base;
	tells.store = memory_store_ops(store);
	ck_assert_int_eq(events_new(&tells, &events, &e), 0);
	watch_begin(run, deadline_ms);
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

/* The port has a cable: it was ACTIVE. */
static void begin_active(void)
{
	begin(print_look, 60000);
	look_is("ok", "ACTIVE");
	pass(3);
}

#define DEGRADED                                                                                   \
	"RailDegraded n1: port: rail mlx5_0:1 (0000:21:00.0) is degraded: the port is DOWN: NCCL " \
	"cannot use it. First: check the cable.\n"
#define RECOVERED "RailRecovered n1: port: rail mlx5_0:1 (0000:21:00.0) has recovered: ACTIVE.\n"

START_TEST(each_change_is_told_once)
{
	begin_active();
	ck_assert_str_eq(memory_store_told(store), "");
	look_is("warn", "the port is DOWN");
	loop_until(base, has_told, DEGRADED);
	pass(3);
	look_is("ok", "ACTIVE");
	loop_until(base, has_told, DEGRADED RECOVERED);
	pass(3);
	ck_assert_str_eq(memory_store_told(store), DEGRADED RECOVERED);
	ck_assert_uint_eq(log_has("is degraded: the port is DOWN"), 1);
	ck_assert_uint_eq(log_has("has recovered"), 1);
	end();
}
END_TEST

static void flap(void)
{
	begin_active();
	look_is("warn", "the port is DOWN");
	loop_until(base, has_told, DEGRADED);
	look_is("ok", "ACTIVE");
	loop_until(base, has_told, DEGRADED RECOVERED);
	look_is("warn", "the port is DOWN");
	loop_until(base, status_has, "\"degraded\":[{\"check\":\"port\"");
	pass(3);
}

/* The Event waits until the last one is old; the log and the status do not. It counts once. */
START_TEST(a_flap_is_in_the_log_and_not_in_events)
{
	flap();
	ck_assert_str_eq(memory_store_told(store), DEGRADED RECOVERED);
	ck_assert_uint_eq(log_has("is degraded"), 2);
	auto_json struct json *obj = json_new_object();
	ck_assert_int_eq(events_add_status(events, obj), 0);
	ck_assert(json_num(json_get(json_get(obj, "events"), "repeated")) == 1);
	/* It is still true when there is room. */
	now += EVENT_REPEAT_MS;
	loop_until(base, has_told, DEGRADED RECOVERED DEGRADED);
	end();
}
END_TEST

START_TEST(what_was_held_back_and_is_over_is_not_told)
{
	flap();
	look_is("ok", "ACTIVE");
	pass(3);
	now += EVENT_REPEAT_MS;
	pass(3);
	ck_assert_str_eq(memory_store_told(store), DEGRADED RECOVERED);
	end();
}
END_TEST

static bool has_failed(const void *arg)
{
	auto_json struct json *obj = json_new_object();

	ck_assert_int_eq(events_add_status(events, obj), 0);
	return json_num(json_get(json_get(obj, "events"), "failed")) == *(const double *)arg;
}

START_TEST(a_lost_event_is_told_again_if_it_is_still_true)
{
	struct cluster_result refused = { .outcome = CLUSTER_REFUSED };
	double fails = 1;

	err_set(&refused.err, ERR_FORBIDDEN, 0, "no");
	begin_active();
	memory_store_fail_tell(store, &refused, 1);
	look_is("warn", "the port is DOWN");
	loop_until(base, has_failed, &fails);
	pass(3);
	ck_assert_str_eq(memory_store_told(store), "");
	/* Nobody has heard of it, so nobody hears that it is over. */
	look_is("ok", "ACTIVE");
	pass(3);
	ck_assert_str_eq(memory_store_told(store), "");
	look_is("warn", "the port is DOWN");
	pass(3);
	now += EVENT_REPEAT_MS;
	loop_until(base, has_told, DEGRADED);
	memory_store_fail_tell(store, &refused, 1);
	look_is("ok", "ACTIVE");
	fails++;
	loop_until(base, has_failed, &fails);
	now += EVENT_REPEAT_MS;
	loop_until(base, has_told, DEGRADED RECOVERED);
	end();
}
END_TEST

#define GONE(guid)                                                                                 \
	"{\"pci\":\"0000:21:00.0\",\"guid\":\"0000:0000:0000:000" guid                             \
	"\",\"device\":\"mlx5_" guid                                                               \
	"\",\"port\":1,\"findings\":[{\"check\":\"device\",\"state\":"                             \
	"\"warn\",\"value\":\"gone\",\"reason\":\"r\",\"remedy\":\"do\"}]}"
#define TOLD(guid)                                                                                 \
	"RailDegraded n1: device: rail mlx5_" guid ":1 (0000:21:00.0) is degraded: gone: r. "      \
	"First: do.\n"

/* Both had this address, at different times. */
START_TEST(two_cards_of_one_address_have_events_of_their_own)
{
	begin(print_look, 60000);
	put_look("[" GONE("1") "," GONE("2") "]");
	loop_until(base, has_told, TOLD("1") TOLD("2"));
	end();
}
END_TEST

static bool file_has(const char *path, const char *part)
{
	auto_free char *text = NULL;
	struct err e;

	return fs_read_at(AT_FDCWD, path, 65536, &text, &e) >= 0 && strstr(text, part);
}

START_TEST(a_restart_forgets_no_rail)
{
	begin_active();
	look_is("warn", "the port is DOWN");
	loop_until(base, has_told, DEGRADED);
	pass(1);
	rail_watch_free(watch);
	watch_begin(print_look, 60000);
	pass(3);
	ck_assert(file_has(KNOWN, "\"pci\":\"0000:21:00.0\""));
	/* The port was ACTIVE once, so it is bad; the old agent has told it. */
	ck_assert(status_has("\"degraded\":[{\"check\":\"port\""));
	now += EVENT_REPEAT_MS;
	pass(3);
	ck_assert_str_eq(memory_store_told(store), DEGRADED);
	look_is("ok", "ACTIVE");
	loop_until(base, has_told, DEGRADED RECOVERED);
	end();
}
END_TEST

/* The next look would come after an hour. */
START_TEST(the_second_look_at_a_change_comes_soon)
{
	every = INT64_C(3600) * 1000;
	begin(print_look, 60000);
	look_is("ok", "ACTIVE");
	pass(1);
	look_is("warn", "the port is DOWN");
	loop_until(base, status_has, "\"looks\":2");
	loop_turn(base);
	ck_assert(looks() == 2);
	end();
}
END_TEST

static int hangs(const struct json *known)
{
	(void)known;
	while (pause()) {
	}
	return 0;
}

START_TEST(a_look_that_hangs_is_an_error)
{
	begin(hangs, 20);
	loop_until(base, status_has, "\"error\":\"the rails were not read within 20 ms");
	ck_assert(looks() == 0);
	end();
	begin(hangs, 60000);
	loop_turn(base);
	end();
}
END_TEST

static int fails(const struct json *known)
{
	(void)known;
	return 1;
}

START_TEST(a_look_that_fails_is_logged_once)
{
	begin(fails, 60000);
	loop_until(base, status_has, "\"error\":\"the child that reads the rails has failed");
	end();
	begin(print_look, 60000);
	look_is("color", "");
	loop_until(base, status_has, "\"error\":\"findings.state");
	/* The child does not log; it says its error to the agent. */
	testing_file("/mnt/new", 0644, "{\"error\":\"/sys: no such folder\"}\n");
	ck_assert_int_eq(rename("/mnt/new", LOOK), 0);
	loop_until(base, status_has, "\"error\":\"/sys: no such folder");
	for (int i = 0; i < 50; i++)
		loop_turn(base);
	ck_assert_uint_eq(log_has("/sys: no such folder"), 1);
	look_is("ok", "ACTIVE");
	pass(1);
	ck_assert(!status_has("error"));
	end();
}
END_TEST

/* What rail_watch_mark() makes of three rails: by HCA, by address, and an unknown one. */
static bool marks(const void *want)
{
	static const char rails[] = "[{\"hca\":\"mlx5_0\"},{\"pci\":\"0000:21:00.0\"},{\"hca\":"
				    "\"mlx5_0:2\"},{\"rail\":1}]";
	auto_json struct json *list = NULL;
	auto_free char *text = NULL;
	struct err e;

	ck_assert_int_eq(json_parse(rails, strlen(rails), "rails", &list, &e), 0);
	ck_assert_int_eq(rail_watch_mark(watch, list, &e), 0);
	text = json_print(list, false);
	return strcmp(text, want) == 0;
}
#define MARKED(as)                                                                                 \
	"[{\"hca\":\"mlx5_0\"" as "},{\"pci\":\"0000:21:00.0\"" as                                 \
	"},{\"hca\":\"mlx5_0:2\"},{\"rail\":1}]"

START_TEST(rails_are_marked_once_two_looks_agree)
{
	begin(print_look, 60000);
	ck_assert(marks(MARKED("")));
	look_is("ok", "ACTIVE");
	pass(3);
	ck_assert(marks(MARKED(",\"degraded\":\"\"")));
	look_is("warn", "the port is DOWN");
	loop_until(base, marks, MARKED(",\"degraded\":\"port\""));
	look_is("ok", "ACTIVE");
	loop_until(base, marks, MARKED(",\"degraded\":\"\""));
	/* The watch does not know it any more. */
	put_look("[");
	loop_until(base, marks, MARKED(""));
	end();
	watch = NULL;
	ck_assert(marks(MARKED("")));
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

TEST_PROGRAM("railheadd/watch/rails", each_change_is_told_once,
	     the_second_look_at_a_change_comes_soon, a_flap_is_in_the_log_and_not_in_events,
	     what_was_held_back_and_is_over_is_not_told,
	     a_lost_event_is_told_again_if_it_is_still_true,
	     two_cards_of_one_address_have_events_of_their_own, a_restart_forgets_no_rail,
	     a_look_that_hangs_is_an_error, a_look_that_fails_is_logged_once,
	     rails_are_marked_once_two_looks_agree, an_agent_that_does_not_look)

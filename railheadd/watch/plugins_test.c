/* SPDX-License-Identifier: Apache-2.0 */
/* plugins_test.c: programs of a CNI folder are overwritten, named once, and put back. */
#include "railheadd/watch/plugins.h"

#include <event2/event.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/testing/loop.h"
#include "install/folder.h"
#include "lib/sys/lock.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "railheadd/pools/events.h"
#include "railheadd/testing/memory_store.h"

#define BIN     "/mnt/bin"
#define SOURCE  "/mnt/source"
#define RUN     "/mnt/run"
#define MACVLAN "\177ELFrailhead-build: 0a1b macvlan\n"
#define IPVLAN  "\177ELFrailhead-build: 0a1b ipvlan\n"

static struct event_base *base;
static struct memory_store *store;
static struct events *events;
static struct plugin_watch *watch;
static int64_t every = 5;
static const char *chain;
static struct ctx ctx;

static void write_receipt(bool changing)
{
	struct receipt r = { .changing = changing, .version = "0.1.0", .build = "0a1b" };
	static const char *const names[][2] = { { "rh-macvlan", "macvlan" },
						{ "rh-ipvlan", "ipvlan" },
						{ "railhead", "railhead" } };
	const size_t n = chain ? 3 : 2;

	(void)snprintf(r.chain, sizeof(r.chain), "%s", chain ? "/host/net" : "");
	struct err e = { .msg = "" };
	auto_fd int source = open(SOURCE, O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_fd int dir = open(BIN, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < n; i++) {
		auto_content struct content c = { .data = NULL };
		struct build_mark mark;

		ck_assert_int_eq(folder_read(source, names[i][1], &c, &mark, &e), 0);
		ck_assert_int_eq(receipt_add(&r, names[i][0], c.sha256, &e), 0);
	}
	ck_assert_int_eq(folder_write_receipt(dir, &r, &e), 0);
}

/* A folder with two programs as railhead-install leaves it; no agent yet. */
static void begin(void)
{
	(void)testing_dir();
	ck_assert_int_eq(mkdir(BIN, 0755) | mkdir(SOURCE, 0755) | mkdir(RUN, 0755), 0);
	testing_file(SOURCE "/macvlan", 0755, MACVLAN);
	testing_file(SOURCE "/ipvlan", 0755, IPVLAN);
	testing_file(BIN "/rh-macvlan", 0755, MACVLAN);
	testing_file(BIN "/rh-ipvlan", 0755, IPVLAN);
	ctx_init(&ctx, "test");
	ctx.run_dir = RUN;
	ctx.log.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	base = loop_new();
	store = memory_store_new(base);
}

static void start(const char *restore_from)
{
	const struct events_conf tells = {
		&ctx, base, memory_store_ops(store), "n1", 1000000, NULL
	};
	struct plugin_watch_conf conf = { base, &ctx, NULL, BIN, restore_from, every, chain };
	struct err e;

	ck_assert_int_eq(events_new(&tells, &events, &e), 0);
	conf.events = events;
	ck_assert_int_eq(plugin_watch_new(&conf, &watch, &e), 0);
}

static void end(void)
{
	plugin_watch_free(watch);
	events_free(events);
	memory_store_ops(store)->ops->close(memory_store_ops(store));
	loop_free(base);
	(void)close(ctx.log.fd);
}

static bool status_has(const void *part)
{
	auto_json struct json *obj = json_new_object();
	struct err e;

	ck_assert_int_eq(plugin_watch_status(watch, obj, &e), 0);
	auto_free char *text = json_print(obj, false);
	return strstr(text, part) != NULL;
}

static bool has_told(const void *part)
{
	return strstr(memory_store_told(store), part) != NULL;
}

/* How often the file has that text. */
static size_t times_told(const char *text)
{
	size_t n = 0;

	for (const char *p = memory_store_told(store); (p = strstr(p, text)) != NULL; p++)
		n++;
	return n;
}

static void content_is(const char *path, const char *want)
{
	char text[100] = "";
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(read(fd, text, sizeof(text) - 1), 0);
	ck_assert_str_eq(text, want);
}

static bool file_has(const void *want)
{
	char text[100] = "";
	auto_fd int fd = open("/mnt/net/10-calico.conflist", O_RDONLY | O_CLOEXEC);

	return read(fd, text, sizeof(text) - 1) >= 0 && strcmp(text, want) == 0;
}

START_TEST(a_folder_without_a_receipt_is_not_looked_at)
{
	begin();
	start(NULL);
	loop_until(base, status_has, "{\"plugins\":{\"folder\":\"/mnt/bin\"}}");
	end();
}
END_TEST

START_TEST(an_overwritten_plugin_is_told_once)
{
	begin();
	write_receipt(false);
	start(NULL);
	loop_until(base, status_has, "\"intact\":2,\"overwritten\":[]");
	testing_file(BIN "/rh-macvlan", 0755, "\177ELF of another project");
	loop_until(base, status_has, "\"intact\":1,\"overwritten\":[\"rh-macvlan\"]");
	loop_until(base, has_told, "PluginLost n1: Plugin rh-macvlan in /mnt/bin: another project");
	ck_assert_int_eq(unlink(BIN "/rh-ipvlan"), 0);
	loop_until(base, status_has, "\"missing\":[\"rh-ipvlan\"]");
	loop_until(base, has_told, "rh-ipvlan");
	ck_assert_uint_eq(times_told("rh-macvlan"), 1);
	content_is(BIN "/rh-macvlan", "\177ELF of another project");
	end();
}
END_TEST

START_TEST(another_build_of_railhead_is_no_event)
{
	begin();
	write_receipt(false);
	testing_file(BIN "/rh-macvlan", 0755, "\177ELFrailhead-build: 0c0c macvlan\n");
	start(SOURCE);
	loop_until(base, status_has, "\"otherBuild\":[\"rh-macvlan\"],\"restored\":0");
	ck_assert_str_eq(memory_store_told(store), "");
	end();
}
END_TEST

START_TEST(an_overwritten_plugin_is_put_back)
{
	begin();
	write_receipt(false);
	start(SOURCE);
	testing_file(BIN "/rh-macvlan", 0755, "\177ELF of another project");
	ck_assert_int_eq(unlink(BIN "/rh-ipvlan"), 0);
	loop_until(base, status_has, "\"intact\":2,\"overwritten\":[],\"missing\":[]");
	content_is(BIN "/rh-macvlan", MACVLAN);
	content_is(BIN "/rh-ipvlan", IPVLAN);
	ck_assert(status_has("\"restored\":2,\"restoreFailed\":0"));
	loop_until(base, has_told, "PluginRestored n1: Plugin rh-macvlan");
	end();
}
END_TEST

START_TEST(only_the_same_build_is_put_back)
{
	begin();
	write_receipt(false);
	testing_file(SOURCE "/macvlan", 0755, "\177ELFrailhead-build: 0c0c macvlan\n");
	testing_file(BIN "/rh-macvlan", 0755, "other");
	start(SOURCE);
	loop_until(base, has_told, "PluginLost n1: Plugin rh-macvlan");
	ck_assert(status_has("\"overwritten\":[\"rh-macvlan\"]") &&
		  !status_has("\"restoreFailed\":0"));
	content_is(BIN "/rh-macvlan", "other");
	end();
}
END_TEST

START_TEST(a_folder_in_place_of_a_plugin_stays)
{
	begin();
	write_receipt(false);
	ck_assert_int_eq(unlink(BIN "/rh-macvlan") | mkdir(BIN "/rh-macvlan", 0755), 0);
	start(SOURCE);
	loop_until(base, status_has, "\"overwritten\":[\"rh-macvlan\"]");
	ck_assert_int_eq(rmdir(BIN "/rh-macvlan"), 0);
	loop_until(base, status_has, "\"intact\":2");
	end();
}
END_TEST

START_TEST(nothing_is_compared_during_an_install)
{
	struct err e;

	begin();
	write_receipt(true);
	testing_file(BIN "/rh-macvlan", 0755, "half");
	start(SOURCE);
	loop_until(base, status_has, "\"changing\":true,\"intact\":0,\"overwritten\":[]");
	content_is(BIN "/rh-macvlan", "half");
	write_receipt(false);
	loop_until(base, status_has, "\"intact\":2");
	/* railhead-install has its lock: the folder may change at any moment. */
	auto_fd int run = open(RUN, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int lock = lock_name(run, "railhead-install", true, 0, &e);
	ck_assert_int_ge(lock, 0);
	ck_assert_int_eq(unlink(BIN "/rh-macvlan"), 0);
	for (int i = 0; i < 20; i++)
		(void)event_base_loop(base, EVLOOP_ONCE);
	ck_assert(status_has("\"intact\":2"));
	(void)close(lock);
	loop_until(base, status_has, "\"restored\":2");
	end();
}
END_TEST

START_TEST(a_damaged_receipt_is_an_error_of_the_status)
{
	begin();
	testing_file(BIN "/" RECEIPT_FILE, 0600, "{");
	start(NULL);
	loop_until(base, status_has, "\"error\":\"" RECEIPT_FILE);
	write_receipt(false);
	loop_until(base, status_has, "{\"plugins\":{\"folder\":\"/mnt/bin\",\"version\":\"0.1.0\"");
	end();
}
END_TEST

/* By inotify: the time between two looks does not end here. */
START_TEST(the_pod_network_keeps_the_plugin_railhead)
{
#define NET     "/mnt/net"
#define CALICO  NET "/10-calico.conflist"
#define LIST    "{\"cniVersion\":\"1.0.0\",\"plugins\":[{\"type\":\"calico\"}"
#define CHAINED LIST ",{\"type\": \"railhead\"}]}"
	begin();
	ck_assert_int_eq(mkdir(NET, 0755), 0);
	testing_file(SOURCE "/railhead", 0755, "\177ELFrailhead-build: 0a1b railhead\n");
	testing_file(BIN "/railhead", 0755, "\177ELFrailhead-build: 0a1b railhead\n");
	chain = NET;
	every = 3600000;
	write_receipt(false);
	start(NULL);
	loop_until(base, status_has, "\"chain\":{\"error\":\"no file has the pod network\"}");
	testing_file(CALICO, 0644, LIST "]}");
	loop_until(base, status_has, "\"chain\":{\"file\":\"10-calico.conflist\"}");
	content_is(CALICO, CHAINED);
	testing_file(CALICO, 0644, LIST "]}");
	loop_until(base, file_has, CHAINED);
	end();
}
END_TEST

START_TEST(an_agent_that_does_not_look_says_false)
{
	auto_json struct json *obj = json_new_object();
	struct err e;

	ck_assert_int_eq(plugin_watch_status(NULL, obj, &e), 0);
	auto_free char *text = json_print(obj, false);
	ck_assert_str_eq(text, "{\"plugins\":false}");
	plugin_watch_free(NULL);
}
END_TEST

TEST_PROGRAM("railheadd/watch/plugins", a_folder_without_a_receipt_is_not_looked_at,
	     an_overwritten_plugin_is_told_once, another_build_of_railhead_is_no_event,
	     an_overwritten_plugin_is_put_back, only_the_same_build_is_put_back,
	     a_folder_in_place_of_a_plugin_stays, nothing_is_compared_during_an_install,
	     a_damaged_receipt_is_an_error_of_the_status, the_pod_network_keeps_the_plugin_railhead,
	     an_agent_that_does_not_look_says_false)

/* SPDX-License-Identifier: Apache-2.0 */
/* resource_plugin_test.c: registrations that fail or are not watched, lists that differ, and
 * streams that the kubelet gives up. */
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <sys/wait.h>

#include "cluster/testing/loop.h"
#include "lib/sys/timer.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "railheadd/devices/resource_plugin_priv.h"
#include "railheadd/devices/slow.h"
#include "railheadd/testing/grpc_peer.h"

#define KUBELET "/mnt/k"

static struct event_base *base;
static struct ctx ctx;
static struct plugin_place place;
static struct resource_plugin *plugin;
static struct resource_set *set;
static int kubelet = -1;
static struct event *often; /* as device_plugins does, and more often */

/* The kubelet refuses as long as there is this file. */
static int call_register(const struct slow_call *call)
{
	struct err e;

	(void)call;
	err_set(&e, ERR_AGAIN, 0, "refused");
	return slow_say(access("/mnt/refuses", F_OK) ? NULL : &e, NULL, 0);
}

static void changed(void *arg)
{
	(void)arg;
}

static void kubelet_start(void)
{
	char path[LISTEN_PATH_LEN];
	struct err e;

	if (kubelet >= 0)
		ck_assert_int_eq(close(kubelet) | unlink(KUBELET "/kubelet.sock"), 0);
	kubelet = listen_unix(KUBELET, "kubelet.sock", path, &e);
	ck_assert_int_ge(kubelet, 0);
}

static void step(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	resource_plugin_step(plugin);
}

static void begin(void)
{
	const struct timeval t = { .tv_usec = 5000 };
	struct err e;

	(void)signal(SIGPIPE, SIG_IGN); /* as in the agent */
	(void)testing_dir();
	ck_assert_int_eq(mkdir(KUBELET, 0755), 0);
	ctx_init(&ctx, "test");
	ctx.log.fd = -1;
	base = loop_new();
	place = (struct plugin_place){ .base = base,
				       .ctx = &ctx,
				       .kubelet = KUBELET,
				       .changed = timer_new(base, changed, NULL),
				       .call_register = call_register,
				       .unlisted_ms = 60000,
				       .unwatched_ms = 40 };
	ck_assert_int_eq(resource_plugin_new(&place, "x.y/a", &plugin, &e), 0);
	often = event_new(base, -1, EV_PERSIST, step, NULL);
	ck_assert_int_eq(event_add(often, &t), 0);
	ck_assert_int_eq(resources_load(&ctx, "/mnt/none", &set, &e), 0);
}

static void end(void)
{
	event_free(often);
	resource_plugin_free(plugin);
	timer_free(place.changed);
	resource_set_free(set);
	loop_free(base);
	(void)close(kubelet);
}

static const struct resource_devices *devices(const char *hca)
{
	static struct resource_device d[] = { { .id = "0", .healthy = true } };
	static struct resource_hca hcas[2][2];
	static struct resource_devices of[2];
	static int turn;

	turn = !turn;
	of[turn] = (struct resource_devices){ .device = d, .n = 1, .hca = hcas[turn], .n_hcas = 1 };
	(void)snprintf(hcas[turn][0].name, PCI_RDMA_LEN, "%s", hca);
	return &of[turn];
}

static bool has_registered(const void *times)
{
	return plugin->registrations >= *(const unsigned *)times;
}

static void expect_registrations(unsigned times)
{
	loop_until(base, has_registered, &times);
	ck_assert_uint_eq(plugin->registrations, times);
}

/* A slow kubelet, or one that two plugins of a name take from each other. */
START_TEST(a_kubelet_that_does_not_watch_is_asked_more_and_more_rarely)
{
	begin();
	kubelet_start();
	(void)resource_plugin_set(plugin, set, 0, devices("mlx5_0"));
	expect_registrations(1);
	ck_assert_int_eq(plugin->patience, 40);
	expect_registrations(2);
	ck_assert_int_eq(plugin->patience, 80);
	expect_registrations(3);
	ck_assert_int_eq(plugin->patience, 160);
	plugin->patience = 299999;
	plugin->unwatched_since -= 300000;
	expect_registrations(4);
	ck_assert_int_eq(plugin->patience, 300000);
	/* Another kubelet. */
	kubelet_start();
	expect_registrations(5);
	ck_assert_int_eq(plugin->patience, 40);
	end();
}
END_TEST

static bool has_tried(const void *pause)
{
	return plugin->pause >= *(const int64_t *)pause;
}

START_TEST(one_failure_is_not_worth_a_line)
{
	const int64_t once = 200, twice = 400;

	begin();
	kubelet_start();
	testing_file("/mnt/refuses", 0600, "");
	(void)resource_plugin_set(plugin, set, 0, devices("mlx5_0"));
	loop_until(base, has_tried, &once);
	ck_assert_str_eq(plugin->said, "");
	loop_until(base, has_tried, &twice);
	ck_assert_str_eq(plugin->said, "Register: refused");
	ck_assert_int_eq(unlink("/mnt/refuses"), 0);
	expect_registrations(1);
	ck_assert_str_eq(plugin->said, "");
	end();
}
END_TEST

/* The kubelet sees copies; files list their HCAs. */
START_TEST(another_hca_is_a_difference_of_files)
{
	begin();
	ck_assert(resource_plugin_set(plugin, set, 0, devices("mlx5_0")));
	ck_assert(!resource_plugin_set(plugin, set, 0, devices("mlx5_0")));
	ck_assert(resource_plugin_set(plugin, set, 0, devices("mlx5_1")));
	ck_assert(!resource_plugin_set(plugin, set, 0, devices("mlx5_1")));
	end();
}
END_TEST

/* ---- calls that are given up ---- */

#define CALL(name, message)                                                                        \
	{                                                                                          \
		.path = "/v1beta1.DevicePlugin/" name, .body = (message),                          \
		.n_body = sizeof(message) - 1                                                      \
	}
static const struct testing_request list_and_watch = CALL("ListAndWatch", "\0\0\0\0\0"),
				    get_options = CALL("GetDevicePluginOptions", "\0\0\0\0\0");

static bool is_served(const void *arg)
{
	(void)arg;
	return plugin->listener.server != NULL;
}

static bool has_calls(const void *want)
{
	return plugin->watchers.n == *(const unsigned *)want;
}

static void expect_calls(unsigned n)
{
	loop_until(base, has_calls, &n);
}

/* A plugin without a kubelet to register with. */
static void begin_served(struct grpc_peer *p)
{
	begin();
	(void)resource_plugin_set(plugin, set, 0, devices("mlx5_0"));
	loop_until(base, is_served, NULL);
	grpc_peer_join(p, base, plugin->listener.socket.path);
}

static void call(struct grpc_peer *p, const struct testing_request *r, unsigned then)
{
	grpc_peer_call(p, r, 0);
	expect_calls(then);
}

START_TEST(streams_that_the_kubelet_resets)
{
	struct grpc_peer p;

	begin_served(&p);
	call(&p, &list_and_watch, 1);
	grpc_peer_cancel(&p);
	expect_calls(0);
	ck_assert(!plugin->watchers.n);
	/* A list for nobody. */
	(void)resource_plugin_set(plugin, set, 0, devices("mlx5_1"));
	plugin_calls_push(plugin);
	grpc_peer_call(&p, &get_options, 0);
	loop_until(base, grpc_peer_call_ended, &p);
	ck_assert_ptr_nonnull(strstr(p.call->headers, "grpc-status: 0\n"));
	ck_assert_uint_eq(plugin->refused + plugin->allocated, 0);
	grpc_peer_leave(&p);
	end();
}
END_TEST

START_TEST(a_connection_that_the_kubelet_drops)
{
	struct grpc_peer p;

	begin_served(&p);
	call(&p, &list_and_watch, 1);
	grpc_peer_leave(&p);
	expect_calls(0);
	grpc_peer_join(&p, base, plugin->listener.socket.path);
	call(&p, &list_and_watch, 1);
	grpc_peer_goaway(&p);
	grpc_peer_cancel(&p);
	loop_until(base, grpc_peer_has_ended, &p);
	expect_calls(0);
	grpc_peer_leave(&p);
	end();
}
END_TEST

TEST_PROGRAM("railheadd/devices/resource_plugin",
	     a_kubelet_that_does_not_watch_is_asked_more_and_more_rarely,
	     one_failure_is_not_worth_a_line, another_hca_is_a_difference_of_files,
	     streams_that_the_kubelet_resets, a_connection_that_the_kubelet_drops)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugins_test.c: a kubelet that comes, goes and calls. The devices are those of a file. The
 * registration runs in a child, as in the agent.
 */
#include "railheadd/devices/plugins.h"

#include <signal.h>
#include <stdio.h>

#include "cluster/testing/loop.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "railheadd/devices/child.h"
#include "railheadd/devices/job.h"
#include "railheadd/devices/plugin_socket.h"
#include "railheadd/devices/grpc_server.h"
#include "railheadd/devices/resources.h"
#include "railheadd/testing/grpc_peer.h"

#define CONF    "/mnt/resources.d"
#define KUBELET "/mnt/k"
#define DEVICE(id, healthy)                                                                        \
	"{\"id\":\"" id "\",\"healthy\":" healthy ",\"why\":\"\",\"distance\":0}"
#define LIST_WATCH "/v1beta1.DevicePlugin/ListAndWatch"
#define EMPTY      "\0\0\0\0\0"

static struct event_base *base;
static struct ctx ctx;
static const char *given; /* ids of pods, by resource; NULL: the kubelet cannot be asked */
static int64_t unlisted_ms = 1;
static struct device_plugins *plugins;
static char socket_path[LISTEN_PATH_LEN]; /* of the resource x.y/a */

/* ---- what children do ---- */

/* The look of now: a file, or a child that hangs while there is another one. */
static int look(void)
{
	static char text[8192];
	FILE *f = fopen("/mnt/look.json", "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (access("/mnt/hang", F_OK) == 0)
		testing_file("/mnt/hangs", 0600, "");
	while (access("/mnt/hang", F_OK) == 0)
		(void)pause();
	return !n || fputs(text, stdout) < 0 || fflush(stdout);
}

static int publish(void)
{
	auto_json struct json *o = json_new_object();
	struct err e;

	if (access("/mnt/read-only", F_OK) == 0) {
		testing_file("/mnt/refused", 0600, "");
		err_set(&e, ERR_IO, 0, "it is read-only");
		return job_say(NULL, &e);
	}
	testing_file("/mnt/published", 0600, "");
	return job_say(o, NULL);
}

static int allocate(void)
{
	char text[1024] = "";
	struct err e;

	if (!fread(text, 1, sizeof(text) - 1, stdin))
		return 1;
	if (strstr(text, "\"ids\":[\"7\"]")) {
		err_set(&e, ERR_NOTFOUND, 0, "device 7 is gone");
		return job_say(NULL, &e);
	}
	return fputs("{\"answer\":{\"containers\":[{\"env\":{\"K\":\"v\"},\"nodes\":[],\"mounts\":"
		     "[],\"cdi\":[],\"annotations\":{}}]}}",
		     stdout) < 0 ||
	       fflush(stdout);
}

/* ---- the kubelet ---- */

static struct kubelet {
	struct grpc_server *server;
	int fd;
	unsigned registered; /* since the kubelet has started */
	char last[256];      /* the last request, as text */
} kubelet;

static void call_register(void *arg, struct grpc_call *call, const uint8_t *message, size_t len)
{
	struct kubelet *k = arg;

	k->registered++;
	(void)snprintf(k->last, sizeof(k->last), "%.*s", (int)len, (const char *)message);
	grpc_call_answer(call, NULL, 0);
}

static void kubelet_start(void)
{
	static const struct grpc_method methods[] = {
		{ "/v1beta1.Registration/Register", call_register }, { NULL, NULL }
	};
	static const struct grpc_service service = { methods, 1000, 8 };
	const struct grpc_server_conf conf = { base, &ctx, "kubelet", &service, &kubelet };
	char path[LISTEN_PATH_LEN];
	struct err e;

	kubelet = (struct kubelet){ .fd = listen_unix(KUBELET, "kubelet.sock", path, &e) };
	ck_assert_int_eq(grpc_server_new(&conf, kubelet.fd, &kubelet.server, &e), 0);
}

static void kubelet_stop(void)
{
	grpc_server_free(kubelet.server);
	(void)close(kubelet.fd);
	kubelet.server = NULL;
}

static bool is_registered(const void *times)
{
	return kubelet.registered >= *(const unsigned *)times;
}

static void expect_registered(unsigned times)
{
	loop_until(base, is_registered, &times);
}

/* ---- the agent ---- */

static void see(const char *resources, const char *devices)
{
	char text[8192];

	(void)snprintf(text, sizeof(text),
		       "{\"answer\":{%s%s%s,\"set\":[%s],\"interval\":1,\"look\":{"
		       "\"resources\":[%s],\"notes\":[]}}}",
		       given ? "\"given\":{" : "", given ? given : "\"unlisted\":\"no kubelet\"",
		       given ? "}" : "", resources, devices);
	testing_file("/mnt/look.new", 0600, text);
	ck_assert_int_eq(rename("/mnt/look.new", "/mnt/look.json"), 0);
}

static void see_devices(const char *devices)
{
	char text[1024];

	(void)snprintf(text, sizeof(text), "{\"devices\":[%s],\"hcas\":[]}", devices);
	see("{\"name\":\"x.y/a\"}", text);
}

static void begin(void)
{
	char name[PLUGIN_SOCKET_NAME_LEN];

	(void)signal(SIGPIPE, SIG_IGN); /* as in the agent */
	(void)testing_dir();
	ck_assert_int_eq(mkdir(CONF, 0755) | mkdir(KUBELET, 0755), 0);
	ctx_init(&ctx, "test");
	ctx.log.fd = -1;
	ctx.run_dir = "/mnt/run";
	base = loop_new();
	plugin_socket_name("x.y/a", name);
	(void)snprintf(socket_path, sizeof(socket_path), KUBELET "/%s", name);
	see_devices(DEVICE("0", "true") "," DEVICE("1", "true"));
}

static void start(void)
{
	static const struct device_plugins_jobs jobs = { look, publish, allocate, child_register };
	const struct device_plugins_conf conf = { base, &ctx, CONF, KUBELET, &jobs, unlisted_ms };
	struct err e;

	ck_assert_msg(device_plugins_new(&conf, &plugins, &e) == 0, "%s", e.msg);
}

static void end(void)
{
	device_plugins_free(plugins);
	if (kubelet.server)
		kubelet_stop();
	loop_free(base);
}

static bool status_has(const void *part)
{
	auto_json struct json *obj = json_new_object();
	struct err e;

	ck_assert_int_eq(device_plugins_status(plugins, obj, &e), 0);
	auto_free char *text = json_print(obj, false);
	return strstr(text, part) != NULL;
}

static bool is_there(const void *path)
{
	return access(path, F_OK) == 0;
}

static bool is_gone(const void *path)
{
	return access(path, F_OK) != 0;
}

static void watch(struct grpc_peer *p, size_t want)
{
	static const struct testing_request r = { .path = LIST_WATCH, .body = EMPTY, .n_body = 5 };

	loop_until(base, is_there, socket_path);
	grpc_peer_join(p, base, socket_path);
	grpc_peer_call(p, &r, want);
	loop_until(base, grpc_peer_has_answer, p);
}

START_TEST(a_resource_is_registered_and_watched)
{
	struct grpc_peer p;

	begin();
	kubelet_start();
	start();
	expect_registered(1);
	ck_assert_ptr_nonnull(strstr(kubelet.last, "v1beta1"));
	ck_assert_ptr_nonnull(strstr(kubelet.last, strrchr(socket_path, '/') + 1));
	ck_assert_ptr_nonnull(strstr(kubelet.last, "x.y/a"));
	watch(&p, 5 + 28);
	ck_assert_mem_eq(p.call->body,
			 "\0\0\0\0\x1c\x0a\x0c\x0a\1"
			 "0\x12\7Healthy\x0a\x0c\x0a\1"
			 "1\x12\7Healthy",
			 33);
	loop_until(base, status_has,
		   "{\"name\":\"x.y/a\",\"healthy\":2,\"unhealthy\":0,\"registered\":true,"
		   "\"watched\":true,\"registrations\":1");
	see_devices(DEVICE("0", "true") "," DEVICE("1", "false"));
	p.want = 33 + 5 + 30;
	loop_until(base, grpc_peer_has_answer, &p);
	ck_assert_mem_eq(p.call->body + 33 + 5 + 14,
			 "\x0a\x0e\x0a\1"
			 "1\x12\x09Unhealthy",
			 16);
	loop_until(base, is_there, "/mnt/published");
	grpc_peer_leave(&p);
	end();
	ck_assert(is_gone(socket_path));
}
END_TEST

START_TEST(a_kubelet_that_comes_late)
{
	begin();
	start();
	loop_until(base, is_there, socket_path);
	ck_assert(status_has("\"registered\":false"));
	kubelet_start();
	expect_registered(1);
	end();
}
END_TEST

/* As it starts, a kubelet removes the sockets of its folder. */
START_TEST(a_kubelet_that_restarts)
{
	begin();
	kubelet_start();
	start();
	expect_registered(1);
	for (int i = 0; i < 3; i++) {
		kubelet_stop();
		ck_assert_int_eq(unlink(socket_path) | unlink(KUBELET "/kubelet.sock"), 0);
		loop_turn(base);
		kubelet_start();
		expect_registered(1);
		loop_until(base, is_there, socket_path);
	}
	end();
}
END_TEST

START_TEST(a_folder_that_is_made_anew)
{
	begin();
	kubelet_start();
	start();
	expect_registered(1);
	kubelet_stop();
	ck_assert_int_eq(rename(KUBELET, "/mnt/old"), 0);
	ck_assert_int_eq(mkdir(KUBELET, 0755), 0);
	kubelet_start();
	expect_registered(1);
	ck_assert(is_there(socket_path));
	end();
}
END_TEST

START_TEST(a_socket_of_another_plugin_is_left_alone)
{
	char path[LISTEN_PATH_LEN];
	struct err e;

	begin();
	kubelet_start();
	int fd = listen_unix(KUBELET, strrchr(socket_path, '/') + 1, path, &e);
	start();
	loop_until(base, status_has, "another process listens there; it is left alone");
	ck_assert_uint_eq(kubelet.registered, 0);
	(void)close(fd);
	expect_registered(1);
	end();
}
END_TEST

static const struct testing_call *called(struct grpc_peer *p, const char *method, const char *body,
					 size_t n_body)
{
	struct testing_request r = { .path = method, .body = body, .n_body = n_body };

	grpc_peer_call(p, &r, 0);
	loop_until(base, grpc_peer_call_ended, p);
	return p->call;
}
#define CALLED(p, method, body)                                                                    \
	called((p), "/v1beta1.DevicePlugin/" method, (body), sizeof(body) - 1)

START_TEST(calls_of_the_kubelet)
{
	const struct testing_call *got;
	struct grpc_peer p;

	begin();
	kubelet_start();
	start();
	watch(&p, 33);
	got = CALLED(&p, "GetDevicePluginOptions", EMPTY);
	ck_assert_mem_eq(got->body, "\0\0\0\0\2\x10\1", 7);
	got = CALLED(&p, "GetPreferredAllocation",
		     "\0\0\0\0\x0a\x0a\x08\x0a\1"
		     "0\x0a\1"
		     "1\x18\1");
	ck_assert_uint_eq(got->n_body, 5 + 5);
	got = CALLED(&p, "GetPreferredAllocation", "\0\0\0\0\3\x0a\1\x0a");
	ck_assert_ptr_nonnull(strstr(got->headers, "grpc-status: 3\n"));
	got = CALLED(&p, "Allocate",
		     "\0\0\0\0\5\x0a\3\x0a\1"
		     "1");
	ck_assert_ptr_nonnull(strstr(got->headers, "grpc-status: 0\n"));
	ck_assert_mem_eq(got->body, "\0\0\0\0\x0a\x0a\x08\x0a\6\x0a\1K\x12\1v", 15);
	got = CALLED(&p, "Allocate",
		     "\0\0\0\0\5\x0a\3\x0a\1"
		     "7");
	ck_assert_ptr_nonnull(
		strstr(got->headers, "grpc-status: 5\ngrpc-message: device 7 is gone\n"));
	got = CALLED(&p, "PreStartContainer", EMPTY);
	ck_assert_ptr_nonnull(strstr(got->headers, "grpc-status: 12\n"));
	ck_assert(status_has("\"allocated\":1,\"refused\":2"));
	/* A container was given it: it becomes unhealthy, and does not just vanish. */
	see_devices(DEVICE("0", "true"));
	loop_until(base, status_has, "\"healthy\":1,\"unhealthy\":1");
	grpc_peer_leave(&p);
	end();
}
END_TEST

/* As after a restart of the agent: only the kubelet knows which pod has the device. */
START_TEST(a_device_that_a_pod_has_and_that_is_gone)
{
	begin();
	given = "\"x.y/a\":[\"1\"]";
	see_devices(DEVICE("0", "true"));
	kubelet_start();
	start();
	loop_until(base, status_has, "\"healthy\":1,\"unhealthy\":1");
	given = "\"x.y/a\":[]";
	see_devices(DEVICE("0", "true"));
	loop_until(base, status_has, "\"healthy\":1,\"unhealthy\":0");
	end();
}
END_TEST

/* The next look is a better one, so that its end is seen. */
static void see_after_look(const char *devices, const char *want)
{
	see_devices(devices);
	loop_until(base, status_has, want);
}

START_TEST(a_list_of_pods_that_fails_changes_nothing)
{
	begin();
	given = "\"x.y/a\":[\"1\",\"2\"]";
	see_devices(DEVICE("0", "true") ",{\"id\":\"2\",\"healthy\":false,\"busy\":true,"
					"\"why\":\"it is in use\",\"distance\":0}");
	start();
	loop_until(base, status_has, "\"healthy\":2,\"unhealthy\":1");
	ck_assert(!status_has("podsError"));
	given = NULL;
	see_after_look(DEVICE("0", "true") "," DEVICE(
			       "3", "true") ",{\"id\":\"2\",\"healthy\":"
					    "false,\"busy\":true,\"why\":\"it is in use\","
					    "\"distance\":0}",
		       "\"podsError\":\"no kubelet\"");
	ck_assert(status_has("\"healthy\":3,\"unhealthy\":1"));
	end();
}
END_TEST

#define ATTACHED "{\"id\":\"2\",\"healthy\":true,\"attached\":true,\"why\":\"\",\"distance\":0}"

/* As one that sriov chose itself. */
START_TEST(a_device_that_an_attachment_has_without_the_kubelet)
{
	begin();
	given = "\"x.y/a\":[\"2\"]";
	see_devices(DEVICE("0", "true") "," ATTACHED);
	start();
	loop_until(base, status_has, "\"looks\":3");
	ck_assert(status_has("\"healthy\":2,\"unhealthy\":0"));
	given = "\"x.y/a\":[]";
	see_devices(DEVICE("0", "true") "," ATTACHED);
	loop_until(base, status_has, "\"healthy\":1,\"unhealthy\":1");
	end();
}
END_TEST

/* It is not known yet whether a pod of the kubelet has it. */
START_TEST(an_attached_device_after_the_start_of_the_agent)
{
	begin();
	unlisted_ms = 3600000;
	given = "\"x.y/a\":[]";
	see_devices(DEVICE("0", "true") "," ATTACHED);
	start();
	loop_until(base, status_has, "\"looks\":2");
	ck_assert(status_has("\"healthy\":2,\"unhealthy\":0"));
	given = NULL;
	unlisted_ms = 1;
	end();
}
END_TEST

/* A kubelet that has just started does not list all pods yet. */
START_TEST(a_list_that_lacks_a_device_for_a_moment)
{
	begin();
	unlisted_ms = 3600000;
	given = "\"x.y/a\":[\"1\"]";
	see_devices(DEVICE("0", "true"));
	start();
	loop_until(base, status_has, "\"healthy\":1,\"unhealthy\":1");
	given = "\"x.y/a\":[]";
	see_after_look(DEVICE("0", "true") "," DEVICE("3", "true"),
		       "\"healthy\":2,\"unhealthy\":1");
	end();
}
END_TEST

/* A driver that hangs delays neither the kubelet nor the loop. */
START_TEST(a_look_that_hangs_holds_up_nobody)
{
	struct grpc_peer p;

	begin();
	kubelet_start();
	start();
	watch(&p, 33);
	testing_file("/mnt/hang", 0600, "");
	loop_until(base, is_there, "/mnt/hangs");
	const struct testing_call *got = CALLED(&p, "Allocate",
						"\0\0\0\0\5\x0a\3\x0a\1"
						"1");
	ck_assert_ptr_nonnull(strstr(got->headers, "grpc-status: 0\n"));
	grpc_peer_leave(&p);
	end();
}
END_TEST

/* The kubelet gets an empty list, and then the connection ends. */
START_TEST(a_resource_that_is_configured_no_more)
{
	struct grpc_peer p;

	begin();
	kubelet_start();
	start();
	expect_registered(1);
	watch(&p, 33);
	see("", "");
	p.want = 33 + 5;
	loop_until(base, grpc_peer_has_answer, &p);
	ck_assert_mem_eq(p.call->body + 33, EMPTY, 5);
	grpc_peer_leave(&p);
	loop_until(base, is_gone, socket_path);
	ck_assert(status_has("\"resources\":[]"));
	end();
}
END_TEST

static void see_many(char first)
{
	char names[2048] = "", one[32];
	static char devices[4096];

	*devices = '\0';
	for (int i = 0; i < RESOURCES_MAX; i++) {
		(void)snprintf(one, sizeof(one), "%s{\"name\":\"x.y/%c%d\"}", i ? "," : "", first,
			       i);
		testing_append(names, sizeof(names), one);
		testing_append(devices, sizeof(devices), i ? ",{}" : "{}");
	}
	see(names, devices);
}

START_TEST(all_resources_get_other_names)
{
	begin();
	see_many('a');
	start();
	loop_until(base, status_has, "{\"name\":\"x.y/a63\"");
	see_many('b');
	loop_until(base, status_has, "{\"name\":\"x.y/b63\"");
	ck_assert(!status_has("x.y/a"));
	end();
}
END_TEST

/* Once the files can be written again, they are. */
START_TEST(files_that_could_not_be_written)
{
	begin();
	testing_file("/mnt/read-only", 0600, "");
	start();
	loop_until(base, is_there, "/mnt/refused");
	ck_assert_int_eq(unlink("/mnt/read-only"), 0);
	loop_until(base, is_there, "/mnt/published");
	end();
}
END_TEST

START_TEST(a_look_that_fails_changes_nothing)
{
	begin();
	kubelet_start();
	start();
	expect_registered(1);
	testing_file("/mnt/look.json", 0600,
		     "{\"error\":{\"code\":7,\"message\":\"rail.json: no\"}}");
	loop_until(base, status_has, "\"error\":\"rail.json: no\"");
	ck_assert(status_has("\"healthy\":2"));
	testing_file("/mnt/look.json", 0600,
		     "{\"answer\":{\"set\":[{\"name\":\"x.y/a\"}],\"look\":{}}}");
	loop_until(base, status_has, "\"error\":\"interval: ");
	ck_assert(status_has("\"healthy\":2"));
	end();
}
END_TEST

/* All files of resources.d were removed while no agent ran. */
START_TEST(files_of_an_agent_before_are_removed)
{
	begin();
	ck_assert_int_eq(rmdir(CONF) | mkdir("/mnt/run", 0700) | mkdir("/mnt/run/cdi", 0700), 0);
	see("", "");
	start();
	loop_until(base, is_there, "/mnt/published");
	end();
}
END_TEST

START_TEST(without_configurations_nothing_happens)
{
	begin();
	ck_assert_int_eq(rmdir(CONF), 0);
	kubelet_start();
	start();
	for (int i = 0; i < 10; i++)
		loop_turn(base);
	ck_assert(status_has("\"looks\":0"));
	ck_assert(is_gone(socket_path));
	end();
	device_plugins_free(NULL);
	plugins = NULL;
	ck_assert(status_has("{\"devicePlugin\":false}"));
}
END_TEST

TEST_PROGRAM("railheadd/devices/plugins", a_resource_is_registered_and_watched,
	     a_kubelet_that_comes_late, a_kubelet_that_restarts, a_folder_that_is_made_anew,
	     a_socket_of_another_plugin_is_left_alone, calls_of_the_kubelet,
	     a_device_that_a_pod_has_and_that_is_gone, a_list_of_pods_that_fails_changes_nothing,
	     a_list_that_lacks_a_device_for_a_moment,
	     a_device_that_an_attachment_has_without_the_kubelet,
	     an_attached_device_after_the_start_of_the_agent, a_look_that_hangs_holds_up_nobody,
	     a_resource_that_is_configured_no_more, a_look_that_fails_changes_nothing,
	     all_resources_get_other_names, files_that_could_not_be_written,
	     files_of_an_agent_before_are_removed, without_configurations_nothing_happens)

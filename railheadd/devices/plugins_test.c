/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugins_test.c: a kubelet that comes, goes and calls. What a look finds is in a file. Looks and
 * registrations run in children, as in the program.
 */
#include "railheadd/devices/plugins.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>

#include "cluster/testing/loop.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "lib/testing/pci.h"
#include "railheadd/devices/plugin_socket.h"
#include "railheadd/devices/slow.h"
#include "railheadd/devices/grpc_server.h"
#include "railheadd/devices/resources.h"
#include "railheadd/testing/grpc_peer.h"

#define CONF       "/mnt/resources.d"
#define KUBELET    "/mnt/k"
#define SYS        "/mnt/sys"
#define DEVINFO    "/mnt/k8s.cni.cncf.io/devinfo/dp"
#define LIST_WATCH "/v1beta1.DevicePlugin/ListAndWatch"
#define EMPTY      "\0\0\0\0\0"

static struct event_base *base;
static struct ctx ctx;
static int64_t unlisted_ms = 1;
static struct device_plugins *plugins;
static char socket_path[LISTEN_PATH_LEN]; /* of the resource x.y/a */

/* ---- what children do ---- */

/* The look of now: an answer in a file, or a child that hangs while there is another one. */
static int look(const char *folder)
{
	static char text[65536];
	FILE *f = fopen("/mnt/look", "r");
	size_t n = f ? fread(text, 1, sizeof(text), f) : 0;

	(void)folder;
	if (access("/mnt/hang", F_OK) == 0)
		testing_file("/mnt/hangs", 0600, "");
	while (access("/mnt/hang", F_OK) == 0)
		(void)pause();
	return fwrite(text, 1, n, stdout) != n || fflush(stdout);
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

/* ---- the hardware, and the lists of pods ---- */

/* Functions by a text: a letter for each, of which "f" is free, "u" in use, and "a" attached. */
static struct functions functions_of(const char *states)
{
	struct functions all = { .n = 0 };

	all.f = calloc(strlen(states) + 1, sizeof(*all.f));
	for (; *states; states++) {
		struct function *f = &all.f[all.n];

		*f = (struct function){ .driver = "mlx5_core", .link = "ether", .numa = -1 };
		(void)snprintf(f->addr, sizeof(f->addr), "0000:00:00.%u", (unsigned)all.n++ % 8);
		f->use = *states == 'f'   ? FUNCTION_FREE
			 : *states == 'u' ? FUNCTION_IN_USE
					  : FUNCTION_IN_POD;
	}
	return all;
}

/* A list of the pod-resources API: a pod with one container, whose devices are of x.y/a. */
static void list_pods(struct slow_found *to, const char *numbers)
{
	uint8_t container[256] = { 0x0a, 0 }, *at = container + 2;

	for (; *numbers; numbers++) {
		*at++ = 0x12;
		*at++ = 5 + 2 + 2 + 12;
		at += sprintf((char *)at, "\x0a%cx.y/a\x12%c0000:00:00.%c", 5, 12, *numbers);
	}
	container[1] = (uint8_t)(at - container - 2);
	container[0] = 0x1a; /* PodResources.containers */
	to->n_pods = (size_t)(at - container) + 2;
	to->pods = malloc(to->n_pods);
	to->pods[0] = 0x0a; /* ListPodResourcesResponse.pod_resources */
	to->pods[1] = (uint8_t)(at - container);
	memcpy(to->pods + 2, container, (size_t)(at - container));
}

/* given NULL: the kubelet cannot be asked. why: the look fails. */
static void see_with(const char *states, const char *given, const struct err *why)
{
	auto_slow_found struct slow_found found = { .functions = functions_of(states) };
	int out = dup(STDOUT_FILENO);

	(void)snprintf(found.unlisted, sizeof(found.unlisted), "%s", given ? "" : "no kubelet");
	if (given)
		list_pods(&found, given);
	ck_assert_ptr_nonnull(freopen("/mnt/look.new", "w", stdout));
	ck_assert_int_eq(slow_say_found(&found, why), 0);
	ck_assert_int_ge(dup2(out, STDOUT_FILENO), 0);
	(void)close(out);
	ck_assert_int_eq(rename("/mnt/look.new", "/mnt/look"), 0);
}

static void see(const char *states)
{
	see_with(states, NULL, NULL);
}

static void configure(const char *text)
{
	testing_file("/mnt/new", 0644, text);
	ck_assert_int_eq(rename("/mnt/new", CONF "/a.json"), 0);
}

/* ---- the program ---- */

static void begin(void)
{
	char name[PLUGIN_SOCKET_NAME_LEN];

	(void)signal(SIGPIPE, SIG_IGN); /* as in the program */
	(void)testing_dir();
	ck_assert_int_eq(mkdir(CONF, 0755) | mkdir(KUBELET, 0755), 0);
	ctx_init(&ctx, "test");
	ctx.log.fd = -1;
	ctx.run_dir = "/mnt/run";
	ctx.sysfs = SYS;
	for (int i = 0; i < 2; i++) {
		char addr[PCI_STR_LEN];

		(void)snprintf(addr, sizeof(addr), "0000:00:00.%d", i);
		fakepci_function(SYS, addr);
		fakepci_driver(SYS, addr, "mlx5_core");
	}
	base = loop_new();
	plugin_socket_name("x.y/a", name);
	(void)snprintf(socket_path, sizeof(socket_path), KUBELET "/%s", name);
	configure("{\"interval\":1,\"resources\":[{\"name\":\"x.y/"
		  "a\",\"select\":{\"driver\":\"mlx5_core\"}}]}");
	see("ff");
}

static void start(void)
{
	const struct device_plugins_conf conf = { .base = base,
						  .ctx = &ctx,
						  .folder = CONF,
						  .kubelet = KUBELET,
						  .look = look,
						  .unlisted_ms = unlisted_ms };
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

	ck_assert_int_eq(device_plugins_status(plugins, obj), 0);
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
	watch(&p, 5 + 50);
	ck_assert_mem_eq(p.call->body,
			 "\0\0\0\0\x32\x0a\x17\x0a\x0c"
			 "0000:00:00.0\x12\7Healthy\x0a\x17\x0a\x0c"
			 "0000:00:00.1\x12\7Healthy",
			 55);
	loop_until(base, status_has,
		   "{\"name\":\"x.y/a\",\"healthy\":2,\"unhealthy\":0,\"registered\":true,"
		   "\"watched\":true,\"registrations\":1");
	see("fu");
	p.want = 55 + 5 + 52;
	loop_until(base, grpc_peer_has_answer, &p);
	ck_assert_mem_eq(p.call->body + 55 + 5 + 25,
			 "\x0a\x19\x0a\x0c"
			 "0000:00:00.1\x12\x09Unhealthy",
			 27);
	loop_until(base, is_there, DEVINFO "/x.y-a-0000:00:00.1-device.json");
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

#define ID(n) "0000:00:00." n

START_TEST(calls_of_the_kubelet)
{
	const struct testing_call *got;
	struct grpc_peer p;

	begin();
	kubelet_start();
	start();
	watch(&p, 55);
	got = CALLED(&p, "GetDevicePluginOptions", EMPTY);
	ck_assert_mem_eq(got->body, "\0\0\0\0\2\x10\1", 7);
	got = CALLED(&p, "GetPreferredAllocation",
		     "\0\0\0\0\x20\x0a\x1e\x0a\x0c" ID("0") "\x0a\x0c" ID("1") "\x18\1");
	ck_assert_uint_eq(got->n_body, 5 + 16);
	got = CALLED(&p, "GetPreferredAllocation", "\0\0\0\0\3\x0a\1\x0a");
	ck_assert_ptr_nonnull(strstr(got->headers, "grpc-status: 3\n"));
	got = CALLED(&p, "Allocate", "\0\0\0\0\x10\x0a\x0e\x0a\x0c" ID("1"));
	ck_assert_ptr_nonnull(strstr(got->headers, "grpc-status: 0\n"));
	ck_assert_ptr_nonnull(
		memmem(got->body, got->n_body, "PCIDEVICE_X_Y_A\x12\x0c" ID("1"), 29));
	got = CALLED(&p, "Allocate", "\0\0\0\0\x10\x0a\x0e\x0a\x0c" ID("7"));
	ck_assert_ptr_nonnull(strstr(got->headers, "grpc-status: 5\n"));
	ck_assert_ptr_nonnull(strstr(got->headers, "has no device"));
	got = CALLED(&p, "PreStartContainer", EMPTY);
	ck_assert_ptr_nonnull(strstr(got->headers, "grpc-status: 12\n"));
	ck_assert(status_has("\"allocated\":1,\"refused\":2"));
	/* A container was given it: it becomes unhealthy, and does not just vanish. */
	see("f");
	loop_until(base, status_has, "\"healthy\":1,\"unhealthy\":1");
	grpc_peer_leave(&p);
	end();
}
END_TEST

/* As after a restart of the program: only the kubelet knows which pod has the device. */
START_TEST(a_device_that_a_pod_has_and_that_is_gone)
{
	begin();
	see_with("f", "1", NULL);
	kubelet_start();
	start();
	loop_until(base, status_has, "\"healthy\":1,\"unhealthy\":1");
	see_with("f", "", NULL);
	loop_until(base, status_has, "\"healthy\":1,\"unhealthy\":0");
	end();
}
END_TEST

START_TEST(a_list_of_pods_that_fails_changes_nothing)
{
	begin();
	see_with("fuu", "25", NULL);
	start();
	loop_until(base, status_has, "\"healthy\":2,\"unhealthy\":2");
	ck_assert(!status_has("podsError"));
	see("fuuf");
	loop_until(base, status_has, "\"podsError\":\"no kubelet\"");
	ck_assert(status_has("\"healthy\":3,\"unhealthy\":2"));
	end();
}
END_TEST

/* As one that sriov chose itself. */
START_TEST(a_device_that_an_attachment_has_without_the_kubelet)
{
	begin();
	see_with("fa", "1", NULL);
	start();
	loop_until(base, status_has, "\"looks\":3");
	ck_assert(status_has("\"healthy\":2,\"unhealthy\":0"));
	see_with("fa", "", NULL);
	loop_until(base, status_has, "\"healthy\":1,\"unhealthy\":1");
	end();
}
END_TEST

/* It is not known yet whether a pod of the kubelet has it. */
START_TEST(an_attached_device_after_the_start_of_the_program)
{
	begin();
	unlisted_ms = 3600000;
	see_with("fa", "", NULL);
	start();
	loop_until(base, status_has, "\"looks\":2");
	ck_assert(status_has("\"healthy\":2,\"unhealthy\":0"));
	unlisted_ms = 1;
	end();
}
END_TEST

/* A kubelet that has just started does not list all pods yet. The next look finds more, so that its
 * end is seen. */
START_TEST(a_list_that_lacks_a_device_for_a_moment)
{
	begin();
	unlisted_ms = 3600000;
	see_with("f", "5", NULL);
	start();
	loop_until(base, status_has, "\"healthy\":1,\"unhealthy\":1");
	see_with("ff", "", NULL);
	loop_until(base, status_has, "\"healthy\":2,\"unhealthy\":1");
	unlisted_ms = 1;
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
	watch(&p, 55);
	testing_file("/mnt/hang", 0600, "");
	loop_until(base, is_there, "/mnt/hangs");
	const struct testing_call *got =
		CALLED(&p, "Allocate", "\0\0\0\0\x10\x0a\x0e\x0a\x0c" ID("1"));
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
	watch(&p, 55);
	configure("{\"resources\":[]}");
	p.want = 55 + 5;
	loop_until(base, grpc_peer_has_answer, &p);
	ck_assert_mem_eq(p.call->body + 55, EMPTY, 5);
	grpc_peer_leave(&p);
	loop_until(base, is_gone, socket_path);
	ck_assert(status_has("\"resources\":[]"));
	end();
}
END_TEST

static void configure_many(char first)
{
	static char conf[8192];
	char one[80];

	(void)snprintf(conf, sizeof(conf), "{\"interval\":1,\"resources\":[");
	for (int i = 0; i < RESOURCES_MAX; i++) {
		(void)snprintf(one, sizeof(one),
			       "%s{\"name\":\"x.y/%c%d\",\"select\":{\"driver\":\"mlx5_core\"}}",
			       i ? "," : "", first, i);
		testing_append(conf, sizeof(conf), one);
	}
	testing_append(conf, sizeof(conf), "]}");
	configure(conf);
}

START_TEST(all_resources_get_other_names)
{
	begin();
	configure_many('a');
	start();
	loop_until(base, status_has, "{\"name\":\"x.y/a63\"");
	configure_many('b');
	loop_until(base, status_has, "{\"name\":\"x.y/b63\"");
	ck_assert(!status_has("x.y/a"));
	end();
}
END_TEST

/* Once the files can be written again, they are. */
START_TEST(files_that_could_not_be_written)
{
	begin();
	testing_file("/mnt/k8s.cni.cncf.io", 0600, "");
	start();
	loop_until(base, status_has, "\"looks\":2");
	ck_assert_int_eq(unlink("/mnt/k8s.cni.cncf.io"), 0);
	loop_until(base, is_there, DEVINFO "/x.y-a-" ID("0") "-device.json");
	end();
}
END_TEST

START_TEST(a_look_that_fails_changes_nothing)
{
	struct err e;

	begin();
	kubelet_start();
	start();
	expect_registered(1);
	err_set(&e, ERR_KERNEL, 0, "no netlink");
	see_with("", NULL, &e);
	loop_until(base, status_has, "\"error\":\"no netlink\"");
	ck_assert(status_has("\"healthy\":2"));
	end();
}
END_TEST

START_TEST(an_answer_that_is_not_whole)
{
	begin();
	start();
	loop_until(base, status_has, "\"healthy\":2");
	ck_assert_int_eq(truncate("/mnt/look", sizeof(struct err) + 8), 0);
	loop_until(base, status_has, "\"error\":\"look at devices: the answer is not whole\"");
	ck_assert(status_has("\"healthy\":2"));
	end();
}
END_TEST

START_TEST(a_bad_file_changes_nothing)
{
	begin();
	start();
	loop_until(base, status_has, "\"healthy\":2");
	configure("{");
	loop_until(base, status_has, "\"error\":\"/mnt/resources.d/a.json: ");
	ck_assert(status_has("\"healthy\":2"));
	end();
}
END_TEST

/* All files of resources.d were removed while no program ran. */
START_TEST(files_of_a_program_before_are_removed)
{
	const struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

	begin();
	ck_assert_int_eq(unlink(CONF "/a.json") | rmdir(CONF) | mkdir("/mnt/run", 0700), 0);
	ck_assert_int_eq(mkdir("/mnt/run/cdi", 0700) | mkdir("/mnt/cdi", 0755), 0);
	testing_file("/mnt/run/cdi/railhead-x.json", 0600, "");
	ck_assert_int_eq(utimensat(AT_FDCWD, "/mnt/run/cdi/railhead-x.json", old, 0), 0);
	testing_file("/mnt/cdi/railhead-x.json", 0600, "");
	start();
	loop_until(base, is_gone, "/mnt/cdi/railhead-x.json");
	end();
}
END_TEST

START_TEST(without_configurations_nothing_happens)
{
	begin();
	ck_assert_int_eq(unlink(CONF "/a.json") | rmdir(CONF), 0);
	kubelet_start();
	start();
	for (int i = 0; i < 10; i++)
		loop_turn(base);
	ck_assert(status_has("\"looks\":0"));
	ck_assert(is_gone(socket_path));
	end();
	device_plugins_free(NULL);
}
END_TEST

TEST_PROGRAM("railheadd/devices/plugins", a_resource_is_registered_and_watched,
	     a_kubelet_that_comes_late, a_kubelet_that_restarts, a_folder_that_is_made_anew,
	     a_socket_of_another_plugin_is_left_alone, calls_of_the_kubelet,
	     a_device_that_a_pod_has_and_that_is_gone, a_list_of_pods_that_fails_changes_nothing,
	     a_list_that_lacks_a_device_for_a_moment,
	     a_device_that_an_attachment_has_without_the_kubelet,
	     an_attached_device_after_the_start_of_the_program, a_look_that_hangs_holds_up_nobody,
	     a_resource_that_is_configured_no_more, a_look_that_fails_changes_nothing,
	     all_resources_get_other_names, files_that_could_not_be_written,
	     files_of_a_program_before_are_removed, an_answer_that_is_not_whole,
	     a_bad_file_changes_nothing, without_configurations_nothing_happens)

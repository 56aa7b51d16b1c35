/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tell_test.c: Events of refusals and statuses of claims, at an API server that the test plays. It
 * notes each request in a file, for it is a child, as the job is one.
 */
#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/sys/exec.h"
#include "lib/sys/fs.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "railheadd/claims/jobs.h"

#define CLAIMS        "/mnt/railhead/claims"
#define REFUSED       "/mnt/railhead/refused/"
#define ID(uid, name) "{\"uid\":\"" uid "\",\"namespace\":\"ns\",\"name\":\"" name "\"}"
#define NETWORK       "{\"name\":\"net\",\"type\":\"rails\",\"kind\":\"macvlan\",\"rails\":\"all\"}"
#define CLAIM                                                                                      \
	"{\"metadata\":{\"name\":\"c\",\"namespace\":\"ns\",\"uid\":\"cu\"},\"status\":{"          \
	"\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"railhead.io\"," \
	"\"pool\":\"n1\",\"device\":\"rails\"}],\"config\":[{\"source\":\"FromClass\","            \
	"\"requests\":[],\"opaque\":{\"driver\":\"railhead.io\",\"parameters\":{\"apiVersion\":"   \
	"\"railhead.io/v1alpha1\",\"kind\":\"RailConfig\",\"network\":{\"kind\":\"macvlan\"}}}}]"  \
	"}},\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"p\",\"uid\":\"pu\"}]}}"

static struct ctx ctx;
static char why[sizeof(((struct err *)0)->msg)];

/* ---- the API server ---- */

static void server_answer(struct evhttp_request *request, void *arg)
{
	static const char *const words[] = {
		[EVHTTP_REQ_GET] = "GET", [EVHTTP_REQ_POST] = "POST", [EVHTTP_REQ_PATCH] = "PATCH"
	};
	const enum evhttp_cmd_type type = evhttp_request_get_command(request);
	struct evbuffer *out = evbuffer_new();

	(void)dprintf(*(int *)arg, "%s %s\n", words[type],
		      evhttp_uri_get_path(evhttp_request_get_evhttp_uri(request)));
	(void)evbuffer_add_printf(out, "%s", type == EVHTTP_REQ_GET ? CLAIM : "{}");
	evhttp_send_reply(request, 200, "OK", out);
	evbuffer_free(out);
}

/* The port. The server ends with the test. */
static int server_begin(void)
{
	int log = open("/mnt/asked", O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
	struct event_base *base = event_base_new();
	struct evhttp *http = evhttp_new(base);
	struct evhttp_bound_socket *at;
	struct sockaddr_in sa;
	socklen_t len = sizeof(sa);

	ck_assert_int_ge(log, 0);
	evhttp_set_allowed_methods(http, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_PATCH);
	evhttp_set_gencb(http, server_answer, &log);
	at = evhttp_bind_socket_with_handle(http, "127.0.0.1", 0);
	ck_assert_ptr_nonnull(at);
	ck_assert_int_eq(getsockname(evhttp_bound_socket_get_fd(at), (struct sockaddr *)&sa, &len),
			 0);
	if (fork() == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)event_reinit(base);
		(void)event_base_dispatch(base);
		_exit(0);
	}
	evhttp_free(http);
	event_base_free(base);
	(void)close(log);
	return ntohs(sa.sin_port);
}

/* Everything that was asked for since the last call. */
static const char *asked(void)
{
	static char *text;
	struct err e;

	free(text);
	text = NULL;
	ck_assert_int_ge(fs_read_at(AT_FDCWD, "/mnt/asked", 65536, &text, &e), 0);
	ck_assert_int_eq(truncate("/mnt/asked", 0), 0);
	return text;
}

/* ---- the job ---- */

static int tell_in_child(const void *arg)
{
	return job_tell(arg);
}

static const char *tells(void)
{
	const struct agent_conf_kube kube = { .kubeconfig = "/mnt/kubeconfig" };
	static const struct agent_conf_groups none = { .n = 0 };
	const struct jobs_place place = {
		.ctx = &ctx, .kube = &kube, .node = "n1", .groups = &none
	};
	const struct exec_req req = { .path = "tell",
				      .run = tell_in_child,
				      .arg = &place,
				      .envp = environ,
				      .input = "",
				      .timeout_ms = 60000 };
	struct exec_child child;
	struct exec_result r;
	const void *bytes;
	size_t len;
	struct err e = { .msg = "" };

	ck_assert_msg(!exec_start(&req, &child, &e) && !exec_finish(&child, &r, &e), "%s", e.msg);
	(void)!slow_ended(&(struct slow_answer){ "tell", CHILD_ENDED, r.output, r.len }, &bytes,
			  &len, &e);
	free(r.output);
	memcpy(why, e.msg, sizeof(why));
	return why;
}

static void begin(void)
{
	static const char *const folders[] = { "/mnt/railhead", CLAIMS, CLAIMS "/pu", REFUSED };
	char text[400];

	(void)testing_dir();
	ctx_init(&ctx, "test");
	ctx.log.fd = -1;
	ctx.run_dir = "/mnt/railhead";
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		ck_assert_int_eq(mkdir(folders[i], 0700), 0);
	(void)snprintf(text, sizeof(text),
		       "clusters: [{name: c, cluster: {server: \"http://127.0.0.1:%d\"}}]\n"
		       "contexts: [{name: x, context: {cluster: c, user: u}}]\n"
		       "current-context: x\nusers: [{name: u, user: {}}]\n",
		       server_begin());
	testing_file("/mnt/kubeconfig", 0600, text);
}

static void refuse(const char *file, mode_t mode)
{
	testing_file(file, mode,
		     "{\"pod\":" ID("pu", "p") ",\"claim\":" ID(
			     "cu", "c") ",\"code\":13,"
					"\"node\":\"h\",\"message\":\"no rail\",\"hint\":\"\"}");
}

START_TEST(one_refusal_does_not_keep_the_others)
{
	begin();
	refuse(REFUSED "a.json", 0666);
	refuse(REFUSED "b.json", 0600);
	testing_file(REFUSED "c.json", 0600, "{");
	ck_assert_msg(strstr(tells(), "no Event of refusal a.json: ") == why, "%s", why);
	ck_assert_str_eq(asked(), "POST /apis/events.k8s.io/v1/namespaces/ns/events\n");
	ck_assert(access(REFUSED "a.json", F_OK) == 0);
	ck_assert(access(REFUSED "b.json", F_OK) && access(REFUSED "c.json", F_OK));
}
END_TEST

START_TEST(a_status_is_written_once)
{
	begin();
	testing_file(CLAIMS "/pu/cu.json", 0600,
		     "{\"version\":1,\"pod\":" ID("pu", "p") ",\"claim\":" ID(
			     "cu", "c") ",\"networks\":[" NETWORK "]}");
	ck_assert_str_eq(tells(), "");
	ck_assert_str_eq(asked(), "");
	testing_file(CLAIMS "/pu/cu.result", 0600,
		     "{\"version\":1,\"network\":\"\",\"sandbox\":\"\",\"ifname\":\"\","
		     "\"netns\":\"/x\",\"results\":[{\"interfaces\":[]}]}");
	ck_assert_str_eq(tells(), "");
	ck_assert_str_eq(asked(),
			 "GET /apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c\n"
			 "PATCH /apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c/status\n");
	ck_assert_str_eq(tells(), "");
	ck_assert_str_eq(asked(), "");
}
END_TEST

TEST_PROGRAM("tell", one_refusal_does_not_keep_the_others, a_status_is_written_once)

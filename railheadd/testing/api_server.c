/* SPDX-License-Identifier: Apache-2.0 */
/* api_server.c: a process of its own, for the jobs that ask it wait for each answer. */
#include "railheadd/testing/api_server.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "lib/sys/fs.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

#define ASKED "/mnt/asked"

static void api_server_answer(struct evhttp_request *request, void *arg)
{
	static const char *const words[] = {
		[EVHTTP_REQ_GET] = "GET", [EVHTTP_REQ_POST] = "POST", [EVHTTP_REQ_PATCH] = "PATCH"
	};
	const enum evhttp_cmd_type type = evhttp_request_get_command(request);
	const bool fails = unlink("/mnt/fail") == 0;
	struct evbuffer *out = evbuffer_new();
	char *text = NULL;
	struct err e;

	(void)dprintf(*(int *)arg, "%s %s\n", words[type],
		      evhttp_uri_get_path(evhttp_request_get_evhttp_uri(request)));
	if (type == EVHTTP_REQ_GET && fs_read_at(AT_FDCWD, "/mnt/answer", 65536, &text, &e) < 0)
		text = NULL;
	(void)evbuffer_add_printf(out, "%s", text ? text : "{}");
	evhttp_send_reply(request, fails ? 500 : 200, "", out);
	evbuffer_free(out);
	free(text);
}

static void api_server_serve(struct event_base *base)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)event_reinit(base);
	(void)event_base_dispatch(base);
	_exit(0);
}

const char *api_server_begin(void)
{
	static int log;
	struct event_base *base = event_base_new();
	struct evhttp *http = evhttp_new(base);
	struct evhttp_bound_socket *at;
	struct sockaddr_in sa = { .sin_port = 0 };
	socklen_t len = sizeof(sa);
	char text[400];

	log = open(ASKED, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
	ck_assert_int_ge(log, 0);
	evhttp_set_allowed_methods(http, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_PATCH);
	evhttp_set_gencb(http, api_server_answer, &log);
	at = evhttp_bind_socket_with_handle(http, "127.0.0.1", 0);
	ck_assert_ptr_nonnull(at);
	ck_assert_int_eq(getsockname(evhttp_bound_socket_get_fd(at), (struct sockaddr *)&sa, &len),
			 0);
	if (fork() == 0)
		api_server_serve(base);
	evhttp_free(http);
	event_base_free(base);
	(void)close(log);
	(void)snprintf(text, sizeof(text),
		       "clusters: [{name: c, cluster: {server: \"http://127.0.0.1:%d\"}}]\n"
		       "contexts: [{name: x, context: {cluster: c, user: u}}]\n"
		       "current-context: x\nusers: [{name: u, user: {}}]\n",
		       ntohs(sa.sin_port));
	testing_file("/mnt/kubeconfig", 0600, text);
	return "/mnt/kubeconfig";
}

const char *api_server_asked(void)
{
	static char *text;
	struct err e;

	free(text);
	text = NULL;
	ck_assert_int_ge(fs_read_at(AT_FDCWD, ASKED, 65536, &text, &e), 0);
	ck_assert_int_eq(truncate(ASKED, 0), 0);
	return text;
}

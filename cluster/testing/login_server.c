/* SPDX-License-Identifier: Apache-2.0 */
/* login_server.c: two paths of etcd's gateway: a token, and a range that is empty. */
#include "cluster/testing/login_server.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "lib/testing/testing.h"

struct login_server {
	struct evhttp *http;
	int lost, logins;
	char url[64];
};

static void answer(struct evhttp_request *req, const char *text)
{
	struct evbuffer *out = evbuffer_new();

	ck_assert_int_eq(evbuffer_add(out, text, strlen(text)), 0);
	evhttp_send_reply(req, 200, "OK", out);
	evbuffer_free(out);
}

static void lose(struct evhttp_request *req)
{
	struct bufferevent *bev =
		evhttp_connection_get_bufferevent(evhttp_request_get_connection(req));

	ck_assert_int_eq(shutdown(bufferevent_getfd(bev), SHUT_RDWR), 0);
}

static void on_login(struct evhttp_request *req, void *arg)
{
	struct login_server *s = arg;

	if (s->logins++ < s->lost)
		lose(req);
	else
		answer(req, "{\"token\":\"t\"}");
}

static void on_range(struct evhttp_request *req, void *arg)
{
	const struct evkeyvalq *headers = evhttp_request_get_input_headers(req);

	(void)arg;
	ck_assert_str_eq(evhttp_find_header(headers, "Authorization"), "t");
	answer(req, "{\"header\":{\"revision\":\"7\"}}");
}

struct login_server *login_server_new(struct event_base *base, int lost)
{
	struct login_server *s = calloc(1, sizeof(*s));
	struct evhttp_bound_socket *at;
	struct sockaddr_in sa;
	socklen_t len = sizeof(sa);

	ck_assert_ptr_nonnull(s);
	s->lost = lost;
	s->http = evhttp_new(base);
	at = evhttp_bind_socket_with_handle(s->http, "127.0.0.1", 0);
	ck_assert_ptr_nonnull(at);
	ck_assert_int_eq(getsockname(evhttp_bound_socket_get_fd(at), (struct sockaddr *)&sa, &len),
			 0);
	(void)snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%d", ntohs(sa.sin_port));
	ck_assert_int_eq(evhttp_set_cb(s->http, "/v3/auth/authenticate", on_login, s), 0);
	ck_assert_int_eq(evhttp_set_cb(s->http, "/v3/kv/range", on_range, s), 0);
	return s;
}

const char *login_server_url(const struct login_server *s)
{
	return s->url;
}

int login_server_free(struct login_server *s)
{
	int logins = s->logins;

	evhttp_free(s->http);
	free(s);
	return logins;
}

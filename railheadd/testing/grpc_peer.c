/* SPDX-License-Identifier: Apache-2.0 */
/* grpc_peer.c: moves the bytes of a client in memory to and from a socket. */
#include "railheadd/testing/grpc_peer.h"

#include <event2/event.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "lib/testing/testing.h"

static void send_all(struct grpc_peer *p)
{
	const uint8_t *data;
	size_t len;

	while ((len = testing_client_out(p->client, &data)) > 0)
		ck_assert_int_eq(send(p->fd, data, len, MSG_NOSIGNAL), (ssize_t)len);
}

static void readable(evutil_socket_t fd, short what, void *arg)
{
	struct grpc_peer *p = arg;
	uint8_t buf[4096];
	ssize_t n = recv(fd, buf, sizeof(buf), 0);

	(void)what;
	if (n > 0) {
		testing_client_in(p->client, buf, (size_t)n);
		send_all(p);
	} else {
		p->ended = true;
		(void)event_del(p->event);
	}
}

void grpc_peer_join(struct grpc_peer *p, struct event_base *base, const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_uint_lt(strlen(path), sizeof(at.sun_path));
	memcpy(at.sun_path, path, strlen(path) + 1);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	*p = (struct grpc_peer){ .client = testing_client_new(0), .fd = fd };
	p->event = event_new(base, fd, EV_READ | EV_PERSIST, readable, p);
	ck_assert_int_eq(event_add(p->event, NULL), 0);
}

void grpc_peer_call(struct grpc_peer *p, const struct testing_request *r, size_t want)
{
	p->number = testing_client_call(p->client, r);
	p->call = testing_client_got(p->client, p->number);
	p->want = want;
	send_all(p);
}

void grpc_peer_cancel(struct grpc_peer *p)
{
	testing_client_cancel(p->client, p->number);
	send_all(p);
}

void grpc_peer_goaway(struct grpc_peer *p)
{
	testing_client_goaway(p->client);
	send_all(p);
}

void grpc_peer_leave(struct grpc_peer *p)
{
	event_free(p->event);
	testing_client_free(p->client);
	(void)close(p->fd);
}

bool grpc_peer_has_answer(const void *peer)
{
	const struct grpc_peer *p = peer;

	return p->call->n_body >= p->want;
}

bool grpc_peer_call_ended(const void *peer)
{
	return ((const struct grpc_peer *)peer)->call->closed;
}

bool grpc_peer_has_ended(const void *peer)
{
	return ((const struct grpc_peer *)peer)->ended;
}

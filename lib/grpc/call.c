/* SPDX-License-Identifier: Apache-2.0 */
/* call.c: moves the bytes of a call between its state machine and a socket, until its deadline. */
#include "lib/grpc/call.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "lib/base/ctx.h"
#include "lib/sys/listen.h"

struct exchange {
	struct grpc_unary *unary;
	int fd;
	int64_t until;
	const uint8_t *out; /* what is left to send; borrowed from unary */
	size_t n_out;
};

static int connect_to(const char *path, struct err *e)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(at.sun_path))
		return err_set(e, ERR_CONFIG, 0,
			       "the path of a socket may have %zu bytes, this one has %zu",
			       sizeof(at.sun_path) - 1, strlen(path));
	memcpy(at.sun_path, path, strlen(path) + 1);
	auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(e, ERR_IO, errno, "socket");
	/* EAGAIN: the queue of the server is full. A server that has just ended has no socket. */
	if (connect(fd, (const struct sockaddr *)&at, sizeof(at)))
		return err_set(e,
			       errno == ENOENT || errno == ECONNREFUSED || errno == EAGAIN
				       ? ERR_AGAIN
				       : ERR_IO,
			       errno, "connect");
	/* The server decides what the caller learns. */
	return peer_check(fd, e) ? -1 : TAKE_FD(fd);
}

/* Wait until the socket can be read, or also written if there is something to send. */
static int call_wait_for(const struct exchange *x, struct err *e)
{
	struct pollfd p = { .fd = x->fd, .events = (short)(POLLIN | (x->n_out ? POLLOUT : 0)) };
	int64_t left = x->until - ctx_mono_ms();
	int n = left > 0 ? poll(&p, 1, (int)(left < 60000 ? left : 60000)) : 0;

	if (n < 0 && errno != EINTR)
		return err_set(e, ERR_IO, errno, "wait");
	if (n == 0 && ctx_mono_ms() >= x->until)
		return err_set(e, ERR_AGAIN, ETIMEDOUT, "no answer in time");
	return 0;
}

/* Send what the state machine has to say, as far as the socket takes it. */
static int send_some(struct exchange *x, struct err *e)
{
	for (;;) {
		if (!x->n_out && grpc_unary_out(x->unary, &x->out, &x->n_out, e))
			return -1;
		if (!x->n_out)
			return 0;
		ssize_t n = send(x->fd, x->out, x->n_out, MSG_NOSIGNAL);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		/*
		 * The server may have answered before it closed: read that first. ECONNRESET: it
		 * closed at this moment, and had not read everything.
		 */
		if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
			n = (ssize_t)x->n_out;
		if (n < 0)
			return err_set(e, ERR_IO, errno, "send");
		x->out += n;
		x->n_out -= (size_t)n;
	}
	return 0;
}

static int receive_some(struct exchange *x, struct err *e)
{
	uint8_t buf[16384];
	ssize_t n = recv(x->fd, buf, sizeof(buf), 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0 && errno != ECONNRESET)
		return err_set(e, ERR_IO, errno, "receive");
	if (n <= 0)
		return err_set(e, ERR_AGAIN, 0,
			       "the server closed the connection without an answer");
	return grpc_unary_in(x->unary, buf, (size_t)n, e);
}

static int grpc_call_run(struct exchange *x, struct err *e)
{
	while (!grpc_unary_is_done(x->unary)) {
		if (send_some(x, e) || call_wait_for(x, e) || receive_some(x, e))
			return -1;
	}
	return 0;
}

static int call(const char *path, const struct grpc_request *r, int64_t until,
		struct grpc_answer *out, struct err *e)
{
	auto_grpc_unary struct grpc_unary *unary = NULL;

	if (grpc_unary_new(r, &unary, e))
		return -1;
	auto_fd int fd = connect_to(path, e);
	if (fd < 0)
		return -1;
	struct exchange x = { .unary = unary, .fd = fd, .until = until };
	return grpc_call_run(&x, e) || grpc_unary_take(unary, out, e) ? -1 : 0;
}

int grpc_call(const char *socket_path, const struct grpc_request *r, int64_t until,
	      struct grpc_answer *out, struct err *e)
{
	return call(socket_path, r, until, out, e) ? err_wrap(e, "%s", socket_path) : 0;
}

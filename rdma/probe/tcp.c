/* SPDX-License-Identifier: Apache-2.0 */
/* tcp.c: listen, connect, accept, and frames with a timeout, with FAULT as an error. */
#include "rdma/probe/tcp.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/base/retry.h"

#define BACKLOG 64

union address {
	struct sockaddr sa;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t to_address(struct ip ip, uint16_t port, union address *out)
{
	uint8_t bytes[16];

	memset(out, 0, sizeof(*out));
	(void)ip_to_bytes(ip, bytes);
	if (ip.family == IP_V4) {
		out->v4.sin_family = AF_INET;
		out->v4.sin_port = htons(port);
		memcpy(&out->v4.sin_addr, bytes, 4);
		return sizeof(out->v4);
	}
	out->v6.sin6_family = AF_INET6;
	out->v6.sin6_port = htons(port);
	if (ip.family == IP_V6)
		memcpy(&out->v6.sin6_addr, bytes, 16);
	return sizeof(out->v6);
}

/* A socket for both families shows an IPv4 client with a mapped address; return IPv4. */
static struct ip from_address(const union address *a)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const uint8_t *six = a->v6.sin6_addr.s6_addr;
	struct ip ip = { 0 }, none = { 0 };
	int rc;

	if (a->sa.sa_family == AF_INET)
		rc = ip_from_bytes((const uint8_t *)&a->v4.sin_addr, 4, &ip);
	else if (memcmp(six, mapped, sizeof(mapped)) == 0)
		rc = ip_from_bytes(six + 12, 4, &ip);
	else
		rc = ip_from_bytes(six, 16, &ip);
	return rc ? none : ip;
}

/* Never blocks: every wait is a poll() with a limit. */
static int new_socket(int family, struct err *e)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 ? err_set(e, ERR_IO, errno, "a TCP socket") : fd;
}

/* Programs of perftest have the same default port. */
static int why_not_listening(uint16_t port, struct err *e)
{
	if (e->errnum == EADDRNOTAVAIL)
		return err_hint(e, "the address is not in this network namespace");
	if (e->errnum == EADDRINUSE)
		return err_hint(e,
				"another rdma-probe may have the port, or a program of perftest "
				"such as ib_send_bw; \"ss -Hltnp sport = :%u\" shows who; --port "
				"takes another port",
				port);
	return err_hint(e, "--port takes another port");
}

int tcp_listen(struct ip addr, uint16_t port, struct err *e)
{
	union address at;
	socklen_t len = to_address(addr, port, &at);
	char text[IP_STR_LEN];
	const int on = 1, off = 0;
	auto_fd int fd = new_socket(at.sa.sa_family, e);

	/* A kernel without IPv6. */
	if (fd < 0 && addr.family == IP_NONE) {
		at.v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
		len = sizeof(at.v4);
		fd = new_socket(AF_INET, e);
	}
	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (addr.family == IP_NONE)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, &at.sa, len) || listen(fd, BACKLOG)) {
		err_set(e, ERR_IO, errno, "cannot listen at %s, TCP port %u",
			addr.family == IP_NONE ? "any address" : ip_format(addr, text), port);
		return why_not_listening(port, e);
	}
	return TAKE_FD(fd);
}

static void set_options(struct tcp *t)
{
	union address a = { 0 };
	socklen_t len = sizeof(a);
	const int on = 1;

	(void)setsockopt(t->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (getsockname(t->fd, &a.sa, &len) == 0)
		t->local = from_address(&a);
	len = sizeof(a);
	if (getpeername(t->fd, &a.sa, &len) == 0)
		t->peer = from_address(&a);
}

static int await_client(const struct tcp_wait *w, struct err *e)
{
	struct pollfd p = { .fd = w->listening, .events = POLLIN };
	unsigned tries = 0;
	int n;

	do {
		n = poll(&p, 1, w->wait_ms);
	} while (n < 0 && retry_interrupted(&tries));
	return n == 0 ? err_set(e, ERR_AGAIN, 0, "no client connected within %d ms", w->wait_ms)
		      : 0;
}

int tcp_accept(const struct tcp_wait *w, struct tcp *out, struct err *e)
{
	if (await_client(w, e))
		return -1;
	struct tcp t = { .fd = accept4(w->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK),
			 .timeout_ms = w->timeout_ms };
	if (t.fd < 0)
		return err_set(e, ERR_IO, errno, "taking a connection");
	set_options(&t);
	*out = t;
	return 0;
}

/* Wait for events on the connection. ERR_AGAIN: timeout. */
static int wait_for_events(const struct tcp *t, short events, struct err *e)
{
	struct pollfd p = { .fd = t->fd, .events = events };
	unsigned tries = 0;
	int n;

	do {
		n = poll(&p, 1, t->timeout_ms);
	} while (n < 0 && retry_interrupted(&tries));
	if (n == 0)
		return err_set(e, ERR_AGAIN, 0, "the peer was silent for %d ms", t->timeout_ms);
	return n < 0 ? err_set(e, ERR_IO, errno, "waiting for the peer") : 0;
}

/* Returns 0 if it connected, else the errno. */
static int connect_once(const struct tcp_to *to, struct tcp *t, struct err *e)
{
	union address at;
	socklen_t len = to_address(to->from, 0, &at), error_len = sizeof(int);
	int error = 0;

	auto_fd int fd = new_socket(to->peer.addr.family == IP_V4 ? AF_INET : AF_INET6, e);
	if (fd < 0)
		return EIO;
	if (to->from.family != IP_NONE && bind(fd, &at.sa, len))
		return errno;
	len = to_address(to->peer.addr, to->peer.port, &at);
	struct tcp trying = { .fd = fd, .timeout_ms = to->timeout_ms };
	if (connect(fd, &at.sa, len) && errno != EINPROGRESS)
		return errno;
	if (wait_for_events(&trying, POLLOUT, e))
		return ETIMEDOUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_len) || error)
		return error ? error : errno;
	*t = (struct tcp){ .fd = TAKE_FD(fd), .timeout_ms = to->timeout_ms };
	return 0;
}

static int refuse_connect(const struct tcp_to *to, int errnum, struct err *e)
{
	char text[PEER_TEXT_LEN], from[IP_STR_LEN];

	err_set(e, ERR_IO, errnum, "cannot connect to %s, TCP port %u",
		peer_format(&to->peer, text), to->peer.port);
	if (errnum == ECONNREFUSED)
		return err_hint(e, "is \"%s\" running there?",
				to->server ? to->server : "rdma-probe serve");
	if (errnum == EADDRNOTAVAIL)
		return err_hint(e, "%s is not an address of this network namespace",
				ip_format(to->from, from));
	return err_hint(e,
			"the peers talk over TCP beside RDMA: is the address routed from here, and "
			"does a network policy let the port through?");
}

int tcp_connect(const struct tcp_to *to, struct tcp *out, struct err *e)
{
	struct tcp t = TCP_NONE;
	struct err ignored = { 0 };
	const int errnum = connect_once(to, &t, &ignored);

	if (errnum)
		return refuse_connect(to, errnum, e);
	set_options(&t);
	*out = t;
	return 0;
}

static int refuse_gone(int errnum, struct err *e)
{
	return err_set(e, ERR_IO, errnum, "the peer closed the connection");
}

int tcp_send(struct tcp *t, const struct wire_msg *m, struct err *e)
{
	uint8_t frame[WIRE_FRAME];
	size_t len = wire_encode(m, frame);
	unsigned tries = 0;

	for (size_t at = 0; at < len;) {
		ssize_t n = send(t->fd, frame + at, len - at, MSG_NOSIGNAL);
		if (n > 0)
			at += (size_t)n;
		else if (errno == EAGAIN && wait_for_events(t, POLLOUT, e))
			return -1;
		else if (errno != EAGAIN && !retry_interrupted(&tries))
			return refuse_gone(errno, e);
	}
	return 0;
}

static int tcp_read_all(struct tcp *t, uint8_t *buf, size_t len, struct err *e)
{
	unsigned tries = 0;

	for (size_t at = 0; at < len;) {
		ssize_t n = recv(t->fd, buf + at, len - at, 0);
		if (n > 0)
			at += (size_t)n;
		else if (n == 0)
			return refuse_gone(0, e);
		else if (errno == EAGAIN && wait_for_events(t, POLLIN, e))
			return -1;
		else if (errno != EAGAIN && !retry_interrupted(&tries))
			return refuse_gone(errno, e);
	}
	return 0;
}

static int read_frame(struct tcp *t, struct wire_msg *out, struct err *e)
{
	uint8_t frame[WIRE_FRAME];
	size_t body;

	if (tcp_read_all(t, frame, WIRE_HEADER, e) || wire_length(frame, &body, e) ||
	    tcp_read_all(t, frame + WIRE_HEADER, body, e))
		return -1;
	return wire_decode(frame, WIRE_HEADER + body, out, e);
}

static bool tcp_is_known(unsigned code)
{
	return (code >= ERR_VERSION && code <= ERR_LIMITED) ||
	       (code >= ERR_KERNEL && code <= ERR_NOTFOUND);
}

static int peers_words(const struct wire_fault *f, struct err *e)
{
	return err_set(e, tcp_is_known(f->code) ? (enum err_code)f->code : ERR_IO, 0,
		       "the peer says: %s", f->text);
}

int tcp_receive(struct tcp *t, enum wire_type want, struct wire_msg *out, struct err *e)
{
	struct wire_msg m;

	if (read_frame(t, &m, e))
		return -1;
	if (m.type == WIRE_FAULT)
		return peers_words(&m.fault, e);
	if (m.type != want)
		return err_set(e, ERR_DECODE, 0, "the peer sent %s where %s was due",
			       wire_type_name(m.type), wire_type_name(want));
	*out = m;
	return 0;
}

int tcp_alive(const struct tcp *t, struct err *e)
{
	uint8_t frame[WIRE_FRAME];
	struct wire_msg m;
	struct err ignored = { 0 };
	size_t body;

	ssize_t n = recv(t->fd, frame, sizeof(frame), MSG_PEEK | MSG_DONTWAIT);
	if (n == 0)
		return refuse_gone(0, e);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : refuse_gone(errno, e);
	if ((size_t)n < WIRE_HEADER || wire_length(frame, &body, &ignored) ||
	    (size_t)n < WIRE_HEADER + body ||
	    wire_decode(frame, WIRE_HEADER + body, &m, &ignored) || m.type != WIRE_FAULT)
		return 0;
	return peers_words(&m.fault, e);
}

void tcp_send_fault(struct tcp *t, const struct err *why)
{
	struct wire_msg m = { .type = WIRE_FAULT, .fault.code = (uint16_t)why->code };
	char text[sizeof(why->msg) + sizeof(why->detail) + 4] = "";
	struct err ignored = { 0 };

	(void)snprintf(text, sizeof(text), "%s%s%s", why->msg, *why->detail ? "; " : "",
		       why->detail);
	memcpy(m.fault.text, text, sizeof(m.fault.text) - 1);
	for (char *p = m.fault.text; *p; p++) {
		if (*p == '\n')
			*p = ';';
	}
	if (tcp_send(t, &m, &ignored))
		return;
	(void)shutdown(t->fd, SHUT_WR);
}

void tcp_close(struct tcp *t)
{
	if (t->fd >= 0)
		(void)close(t->fd);
	t->fd = -1;
}

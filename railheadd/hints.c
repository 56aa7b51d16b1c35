/* SPDX-License-Identifier: Apache-2.0 */
/* hints.c: the kernel adds the user who sent it to each datagram. */
#include "railheadd/hints.h"

#include <errno.h>
#include <event2/event.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "railheadd/socket.h"

struct hints {
	struct hints_conf conf;
	struct agent_socket at;
	struct event *readable;
};

static bool hints_is_of_root(struct msghdr *m)
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(m);
	struct ucred peer;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS ||
	    c->cmsg_len != CMSG_LEN(sizeof(peer)))
		return false;
	memcpy(&peer, CMSG_DATA(c), sizeof(peer));
	return peer.uid == 0 || peer.uid == geteuid();
}

/* False: there are no more. */
static bool hints_read_one(struct hints *h)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
	char text[HINT_MAX];
	struct iovec iov = { text, sizeof(text) };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	/* Descriptors that someone sends with it do not fit into control; the kernel closes them.
	 */
	ssize_t n = recvmsg(h->at.fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct hint hint;
	struct err e;

	if (n < 0)
		return errno == EINTR;
	if (!(m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) && hints_is_of_root(&m) &&
	    hint_read(text, (size_t)n, &hint, &e) == 0)
		h->conf.fn(h->conf.arg, &hint);
	return true;
}

static void hints_readable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	for (int i = 0; i < HINTS_AT_ONCE && hints_read_one(arg); i++)
		;
}

int hints_new(const struct hints_conf *conf, struct hints **out, struct err *e)
{
	struct hints *h = calloc(1, sizeof(*h));

	if (!h)
		return err_nomem(e);
	h->conf = *conf;
	h->at.fd = -1;
	if (socket_open_hints(conf->ctx, &h->at, e)) {
		hints_free(h);
		return -1;
	}
	h->readable = event_new(conf->base, h->at.fd, EV_READ | EV_PERSIST, hints_readable, h);
	if (!h->readable || event_add(h->readable, NULL)) {
		hints_free(h);
		return err_nomem(e);
	}
	*out = h;
	return 0;
}

void hints_free(struct hints *h)
{
	if (!h)
		return;
	if (h->readable)
		event_free(h->readable);
	socket_close(&h->at);
	free(h);
}

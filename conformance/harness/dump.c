/* SPDX-License-Identifier: Apache-2.0 */
/* dump.c: send a netlink dump request and read all messages; an interrupted dump is repeated. */
#include "conformance/harness/dump.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_MAX = 128, ATTEMPTS = 20 };
enum progress { MORE, DONE, AGAIN };

struct attrs attrs_of(const struct nlmsghdr *h, size_t header)
{
	const char *body = NLMSG_DATA(h);
	size_t len = h->nlmsg_len - NLMSG_LENGTH(0), skip = NLMSG_ALIGN(header);

	return (struct attrs){ (const void *)(body + skip), len > skip ? len - skip : 0 };
}

struct attrs attrs_in(const struct rtattr *a)
{
	return (struct attrs){ RTA_DATA(a), attr_len(a) };
}

const struct rtattr *attrs_next(struct attrs *rest)
{
	const struct rtattr *a = rest->a;

	if (rest->left < sizeof(*a) || a->rta_len < sizeof(*a) || a->rta_len > rest->left)
		return NULL;
	size_t step = RTA_ALIGN((size_t)a->rta_len);
	rest->left -= step < rest->left ? step : rest->left;
	rest->a = (const void *)((const char *)a + step);
	return a;
}

unsigned attr_type(const struct rtattr *a)
{
	return a->rta_type & (unsigned)NLA_TYPE_MASK;
}

size_t attr_len(const struct rtattr *a)
{
	return a->rta_len - RTA_LENGTH(0);
}

static void request(int fd, const struct dump_request *r)
{
	struct {
		struct nlmsghdr h;
		char body[REQUEST_MAX];
	} m = { .h = { .nlmsg_len = (unsigned)NLMSG_LENGTH(r->len),
		       .nlmsg_type = r->type,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };

	if (r->len > sizeof(m.body))
		die("netlink: a request of %zu bytes", r->len);
	memcpy(m.body, r->body, r->len);
	if (send(fd, &m, m.h.nlmsg_len, 0) != (ssize_t)m.h.nlmsg_len)
		die("netlink: %s", strerror(errno));
}

/* The error that ends a dump, 0: none. */
static int error_of(const struct nlmsghdr *h)
{
	int error = 0;

	if (h->nlmsg_len >= NLMSG_LENGTH(sizeof(error)))
		memcpy(&error, NLMSG_DATA(h), sizeof(error));
	return -error;
}

static enum progress take(const char *buf, size_t len, dump_fn show, void *arg, struct text *out)
{
	bool torn = false;

	for (size_t at = 0; at + sizeof(struct nlmsghdr) <= len;) {
		const struct nlmsghdr *h = (const void *)(buf + at);
		if (h->nlmsg_len < sizeof(*h) || h->nlmsg_len > len - at)
			die("netlink: a message that does not fit");
		torn |= (h->nlmsg_flags & NLM_F_DUMP_INTR) != 0;
		if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR) {
			int error = error_of(h);
			if (error && error != EOPNOTSUPP)
				die("netlink: %s", strerror(error));
			return torn ? AGAIN : DONE;
		}
		show(h, arg, out);
		at += NLMSG_ALIGN(h->nlmsg_len);
	}
	return torn ? AGAIN : MORE;
}

static enum progress attempt(const struct dump_request *r, dump_fn show, void *arg,
			     struct text *out)
{
	static char buf[65536] __attribute__((aligned(8)));
	enum progress p = MORE;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, r->protocol);

	if (fd < 0 && errno == EPROTONOSUPPORT)
		return DONE;
	if (fd < 0)
		die("netlink: %s", strerror(errno));
	request(fd, r);
	while (p == MORE) {
		ssize_t n = recv(fd, buf, sizeof(buf), 0);
		if (n < 0 && errno != EINTR)
			die("netlink: %s", strerror(errno));
		if (n >= 0)
			p = take(buf, (size_t)n, show, arg, out);
	}
	(void)close(fd);
	return p;
}

void netlink_dump(const struct dump_request *r, dump_fn show, void *arg, struct text *out)
{
	const size_t begin = out->len;

	for (int i = 0; attempt(r, show, arg, out) == AGAIN; i++) {
		if (i == ATTEMPTS)
			die("netlink: the dump of %u was interrupted %d times", r->type, i);
		out->len = begin;
		if (out->p)
			out->p[begin] = '\0';
	}
}

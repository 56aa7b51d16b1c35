/* SPDX-License-Identifier: Apache-2.0 */
/* nl.c: opens a netlink socket in a namespace, and exchanges a request for its answer. */
#include "lib/net/nl_msg.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/base/array.h"
#include "lib/base/ctx.h"
#include "lib/sys/netns.h"
#include "lib/base/retry.h"

#define WALK_TRIES    5
#define STRANGERS_MAX (1u << 16) /* messages of other processes that one answer may hide among */
#define ERRNO_MAX     4095       /* the kernel's own limit, include/linux/err.h */
#define RCVBUF_MAX    (8 * 1024 * 1024)
#define LIST_MAX_BYTE ((size_t)64 * 1024 * 1024)
#define WHOLE_MAX     ((size_t)4 * 1024 * 1024) /* a PF with 20000 VFs */

/* ---- sockets ---- */

/* A kernel too old to know an option serves us all the same: only words and filters are lost. */
static int set_option(int fd, int option, struct err *e)
{
	int on = 1;

	if (setsockopt(fd, SOL_NETLINK, option, &on, sizeof(on)) && errno != ENOPROTOOPT)
		return err_set(e, ERR_KERNEL, errno, "set netlink option %d", option);
	return 0;
}

int nl_open_protocol(int protocol, uint32_t groups, struct nl **out, struct err *e)
{
	const struct sockaddr_nl sa = { .nl_family = AF_NETLINK, .nl_groups = groups };
	auto_fd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);

	if (fd < 0)
		return err_set(e, ERR_KERNEL, errno, "open a netlink socket");
	if (set_option(fd, NETLINK_EXT_ACK, e) || set_option(fd, NETLINK_CAP_ACK, e) ||
	    set_option(fd, NETLINK_GET_STRICT_CHK, e))
		return -1;
	/* Without groups no bind() is needed: the kernel gives an address at the first send. */
	if (groups && bind(fd, (const struct sockaddr *)&sa, sizeof(sa)))
		return err_set(e, ERR_KERNEL, errno, "subscribe to netlink groups 0x%x", groups);

	struct nl *nl = malloc(sizeof(*nl));

	if (!nl)
		return err_nomem(e);
	nl->fd = TAKE_FD(fd);
	/* Sockets start at different numbers: an event carries the number of another socket's
	 * request. */
	nl->seq = (uint32_t)ctx_mono_ms() << 8;
	*out = nl;
	return 0;
}

int nl_open_bound(uint32_t groups, struct nl **out, struct err *e)
{
	return nl_open_protocol(NETLINK_ROUTE, groups, out, e);
}

int nl_open(struct nl **out, struct err *e)
{
	return nl_open_bound(0, out, e);
}

int nl_open_protocol_in(const struct netns *ns, const struct netns *host, int protocol,
			struct nl **out, struct err *e)
{
	auto_nl struct nl *nl = NULL;

	if (netns_same(ns->id, host->id))
		return nl_open_protocol(protocol, 0, out, e);
	if (netns_enter(ns, e))
		return -1;

	int rc = nl_open_protocol(protocol, 0, &nl, e);
	struct err back;

	if (netns_enter(host, &back)) {
		*e = back;
		return err_wrap(e, "return to the network namespace of this process");
	}
	if (rc == 0)
		*out = TAKE_PTR(nl);
	return rc;
}

int nl_open_in(const struct netns *ns, const struct netns *host, struct nl **out, struct err *e)
{
	return nl_open_protocol_in(ns, host, NETLINK_ROUTE, out, e);
}

void nl_release(struct nl *nl)
{
	if (!nl)
		return;
	(void)close(nl->fd);
	free(nl);
}

/* ---- requests ---- */

static void req_spoil_if(struct nl_req *rq, bool failed)
{
	if (failed)
		nl_req_clear(rq);
}

void nl_req_begin(struct nl_req *rq, int type, int flags, const void *head, size_t len)
{
	rq->msg = nlmsg_alloc_simple(type, NLM_F_REQUEST | flags);
	if (rq->msg)
		req_spoil_if(rq, nlmsg_append(rq->msg, (void *)head, len, NLMSG_ALIGNTO) < 0);
}

void nl_req_put(struct nl_req *rq, int attr, const void *data, size_t len)
{
	if (rq->msg)
		req_spoil_if(rq, nla_put(rq->msg, attr, (int)len, data) < 0);
}

void nl_req_put_u16(struct nl_req *rq, int attr, uint16_t v)
{
	nl_req_put(rq, attr, &v, sizeof(v));
}

void nl_req_put_u32(struct nl_req *rq, int attr, uint32_t v)
{
	nl_req_put(rq, attr, &v, sizeof(v));
}

void nl_req_put_str(struct nl_req *rq, int attr, const char *s)
{
	nl_req_put(rq, attr, s, strlen(s) + 1);
}

struct nlattr *nl_req_nest(struct nl_req *rq, int attr)
{
	struct nlattr *nest = rq->msg ? nla_nest_start(rq->msg, attr) : NULL;

	req_spoil_if(rq, !nest);
	return nest;
}

void nl_req_nest_end(struct nl_req *rq, struct nlattr *nest)
{
	if (rq->msg)
		(void)nla_nest_end(rq->msg, nest);
}

void nl_req_clear(struct nl_req *rq)
{
	nlmsg_free(rq->msg);
	rq->msg = NULL;
}

/* ---- answers ---- */

int nl_parse_attrs(const struct nlmsghdr *h, size_t head, struct nlattr **tb, int max,
		   const struct nla_policy *policy)
{
	return nlmsg_parse((struct nlmsghdr *)h, (int)head, tb, max, policy) < 0 ? -1 : 0;
}

int nl_list_add(struct nl_list *l, const void *item, size_t size, struct err *e)
{
	const struct array_kind kind = { size, LIST_MAX_BYTE / size, "entries of a list", 0 };

	if (array_grow(&l->items, l->n, 1, kind, e))
		return -1;
	memcpy((char *)l->items + l->n++ * size, item, size);
	return 0;
}

static ssize_t recv_into(int fd, struct nl_buffer cap, int flags)
{
	unsigned tries = 0, strangers = 0;

	for (;;) {
		struct sockaddr_nl from = { 0 };
		socklen_t from_len = sizeof(from);
		ssize_t n = recvfrom(fd, cap.at, cap.size, flags | MSG_TRUNC,
				     (struct sockaddr *)&from, &from_len);

		if (n < 0 && retry_interrupted(&tries))
			continue;
		if (n > (ssize_t)cap.size) {
			errno = EMSGSIZE;
			return -1;
		}
		/* Only the kernel has port 0; any process may write to ours, but not keep us. */
		if (n < 0 || from.nl_pid == 0)
			return n;
		if (++strangers == STRANGERS_MAX) {
			errno = EBUSY;
			return -1;
		}
	}
}

ssize_t nl_recv_datagram(struct nl *nl, int flags)
{
	return recv_into(nl->fd, (struct nl_buffer){ nl->buf, sizeof(nl->buf) }, flags);
}

/* One request and what is known of its answer. */
struct exchange {
	struct nl *nl;
	const struct nl_req *rq;
	struct nl_sink sink;
	struct err *e;
	struct nl_buffer cap; /* where messages are received */
	bool dump;
	bool whole; /* the room is ours, and grows to what comes */
	bool done;
	bool failed;      /* *e is set */
	bool answered;    /* the sink was called */
	bool interrupted; /* a dump that is not of one piece */
	bool lost;        /* messages were dropped: the receive buffer was full */
};

/* Attributes head bytes into the message: after the error, or the number that ends a dump. */
static void hint_ext_ack(struct exchange *x, const struct nlmsghdr *h, int head)
{
	static const struct nla_policy policy[NLMSGERR_ATTR_MAX + 1] = {
		[NLMSGERR_ATTR_OFFS] = { .type = NLA_U32 },
		[NLMSGERR_ATTR_MISS_TYPE] = { .type = NLA_U32 },
	};
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1];
	struct nlattr *attrs = (void *)((char *)nlmsg_data(h) + head);
	int len = nlmsg_datalen(h) - head;

	if (!(h->nlmsg_flags & NLM_F_ACK_TLVS) || len <= 0 ||
	    nla_parse(tb, NLMSGERR_ATTR_MAX, attrs, len, policy) < 0)
		return;

	const struct nlattr *msg = tb[NLMSGERR_ATTR_MSG];

	if (msg)
		(void)err_hint(x->e, "kernel: %.*s", nla_len(msg), (const char *)nla_data(msg));
	if (tb[NLMSGERR_ATTR_MISS_TYPE])
		(void)err_hint(x->e, "kernel: attribute %u is missing",
			       nla_get_u32(tb[NLMSGERR_ATTR_MISS_TYPE]));
	else if (!msg && tb[NLMSGERR_ATTR_OFFS])
		(void)err_hint(x->e, "kernel: it stopped at byte %u of the request",
			       nla_get_u32(tb[NLMSGERR_ATTR_OFFS]));
}

static void set_refusal(struct exchange *x, int errnum)
{
	x->failed = true;
	(void)err_set(x->e, ERR_KERNEL, errnum, "the kernel refused");
	if (errnum == EPERM)
		(void)err_hint(x->e, "CAP_NET_ADMIN is needed over this network namespace");
}

/* The kernel answers 0 or a negated errno; any other number is not an answer. */
static int errno_of(int said)
{
	return said <= 0 && said >= -ERRNO_MAX ? -said : EBADMSG;
}

static void on_ack(struct exchange *x, const struct nlmsghdr *h)
{
	const struct nlmsgerr *ack = nlmsg_data(h);
	int have = nlmsg_datalen(h), head = (int)sizeof(*ack);

	x->done = true;
	if (x->failed)
		return;
	if (have < head) {
		set_refusal(x, EBADMSG);
		return;
	}
	if (!ack->error)
		return;
	set_refusal(x, errno_of(ack->error));
	/* Without the cap our whole request comes back between the error and what is said about it.
	 */
	if (!(h->nlmsg_flags & NLM_F_CAPPED) && ack->msg.nlmsg_len >= NLMSG_HDRLEN &&
	    ack->msg.nlmsg_len <= (uint32_t)have)
		head += (int)NLMSG_ALIGN(ack->msg.nlmsg_len) - NLMSG_HDRLEN;
	hint_ext_ack(x, h, head);
}

static void on_nl_done(struct exchange *x, const struct nlmsghdr *h)
{
	int errnum = 0;

	x->done = true;
	if (nlmsg_datalen(h) >= (int)sizeof(errnum))
		memcpy(&errnum, nlmsg_data(h), sizeof(errnum));
	if (errnum >= 0 || x->failed)
		return;
	set_refusal(x, errno_of(errnum));
	hint_ext_ack(x, h, (int)NLMSG_ALIGN(sizeof(errnum)));
}

static void on_message(struct exchange *x, const struct nlmsghdr *h)
{
	/* Late answers to a request that was given up, and events, are not ours. */
	if (h->nlmsg_seq != x->nl->seq || x->done)
		return;
	if (h->nlmsg_flags & NLM_F_DUMP_INTR)
		x->interrupted = true;
	if (h->nlmsg_type == NLMSG_ERROR) {
		on_ack(x, h);
	} else if (h->nlmsg_type == NLMSG_DONE) {
		on_nl_done(x, h);
	} else if (h->nlmsg_type == NLMSG_OVERRUN) {
		x->lost = true;
	} else if (h->nlmsg_type >= NLMSG_MIN_TYPE) {
		if (x->sink.fn && !x->failed && x->sink.fn(h, x->sink.arg, x->e))
			x->failed = true;
		x->answered = true;
		x->done = !x->dump && x->sink.fn;
	}
}

/* A datagram that is larger than the most we take is then refused when it is read. */
static int grow_buffer(struct exchange *x, ssize_t size)
{
	const struct array_kind kind = { 1, WHOLE_MAX, "bytes", 0 };
	size_t had = x->cap.size;
	struct err ignored;

	if (size <= (ssize_t)had || size > (ssize_t)WHOLE_MAX)
		return 0;
	if (array_grow(&x->cap.at, had, (size_t)size - had, kind, &ignored)) {
		errno = ENOMEM;
		return -1;
	}
	x->cap.size = (size_t)size;
	return 0;
}

/* One datagram; its length, or -1 with errno. */
static ssize_t receive_one(struct exchange *x)
{
	int flags = x->lost ? MSG_DONTWAIT : 0;
	unsigned tries = 0;
	ssize_t size;

	while (x->whole) {
		size = recv(x->nl->fd, NULL, 0, flags | MSG_PEEK | MSG_TRUNC);
		if (size < 0 && retry_interrupted(&tries))
			continue;
		if (size < 0 || grow_buffer(x, size))
			return -1;
		break;
	}
	size = recv_into(x->nl->fd, x->cap, flags);
	if (size < 0 && errno == EMSGSIZE && x->whole)
		errno = EFBIG; /* it is ours; the kernel says EMSGSIZE of its own */
	return size;
}

/*
 * After ENOBUFS there is nothing to wait for. The kernel works on a request while we send it, and
 * on a dump while we read. So the rest of the answer is either there already or lost.
 */
static int receive_answer(struct exchange *x)
{
	while (!x->done) {
		ssize_t n = receive_one(x);

		if (n < 0 && errno == ENOBUFS && !x->lost) {
			x->lost = true;
			continue;
		}
		if (n < 0 && (errno == EAGAIN || errno == ENOBUFS) && x->lost)
			return 0;
		if (n < 0 && errno == ENOMEM)
			return err_nomem(x->e);
		if (n <= 0)
			return err_set(x->e, ERR_IO, n ? errno : EPIPE, "read from netlink");

		int left = (int)n;

		for (struct nlmsghdr *h = (void *)x->cap.at; nlmsg_ok(h, left);
		     h = nlmsg_next(h, &left))
			on_message(x, h);
	}
	return x->failed ? -1 : 0;
}

static int send_and_receive(struct exchange *x)
{
	if (!x->rq->msg)
		return err_nomem(x->e);

	struct nlmsghdr *h = nlmsg_hdr(x->rq->msg);
	unsigned tries = 0;

	if (!x->whole)
		x->cap = (struct nl_buffer){ x->nl->buf, sizeof(x->nl->buf) };
	h->nlmsg_seq = ++x->nl->seq;
	while (send(x->nl->fd, h, h->nlmsg_len, 0) < 0)
		if (!retry_interrupted(&tries))
			return err_set(x->e, ERR_IO, errno, "write to netlink");
	return receive_answer(x);
}

static int answer_was_lost(struct err *e)
{
	err_set(e, ERR_KERNEL, ENOBUFS, "the kernel's answer was lost");
	return err_hint(e, "the kernel is short of memory; whether it did the work is unknown");
}

int nl_request(struct nl *nl, const struct nl_req *rq, struct err *e)
{
	struct exchange x = { .nl = nl, .rq = rq, .e = e };

	if (rq->msg)
		nlmsg_hdr(rq->msg)->nlmsg_flags |= NLM_F_ACK;
	if (send_and_receive(&x))
		return -1;
	return x.done ? 0 : answer_was_lost(e);
}

static int get_one(struct exchange *x)
{
	if (send_and_receive(x))
		return -1;
	if (x->done && !x->answered)
		return err_set(x->e, ERR_KERNEL, EBADMSG, "the kernel agreed, but did not answer");
	return x->done ? 0 : answer_was_lost(x->e);
}

int nl_get(struct nl *nl, const struct nl_req *rq, struct nl_sink sink, struct err *e)
{
	struct exchange x = { .nl = nl, .rq = rq, .sink = sink, .e = e };

	return get_one(&x);
}

int nl_get_large(struct nl *nl, const struct nl_req *rq, struct nl_sink sink, struct err *e)
{
	struct exchange x = { .nl = nl, .rq = rq, .sink = sink, .e = e, .whole = true };
	int rc = get_one(&x);

	free(x.cap.at);
	return rc;
}

/* The limit of net.core.rmem_max does not bind who has CAP_NET_ADMIN; for others the call just
 * fails. */
static void grow_receive_buffer(int fd)
{
	int size = 0;
	socklen_t len = sizeof(size);

	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &len) || size >= RCVBUF_MAX)
		return;
	/* The kernel reports twice what was asked for, so this doubles it. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
}

int nl_get_dump(struct nl *nl, const struct nl_req *rq, struct nl_sink sink, struct err *e)
{
	if (rq->msg)
		nlmsg_hdr(rq->msg)->nlmsg_flags |= NLM_F_DUMP;
	for (int i = 0; i < WALK_TRIES; i++) {
		struct exchange x = { .nl = nl, .rq = rq, .sink = sink, .e = e, .dump = true };

		if (sink.fn(NULL, sink.arg, e) || send_and_receive(&x))
			return -1;
		if (!x.interrupted && !x.lost)
			return 0;
		if (x.lost)
			grow_receive_buffer(nl->fd);
	}
	err_set(e, ERR_AGAIN, EINTR, "the list changed while it was read, %d times over",
		WALK_TRIES);
	return err_hint(e, "try again: something changes addresses or routes all the time");
}

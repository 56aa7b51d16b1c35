/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nl_msg.h: building and exchanging netlink messages. For lib/net and lib/device only.
 *
 * libnl builds and parses the messages. The exchange is our own code, because nl_recvmsgs() turns
 * errno into its own codes (ENOENT and ESRCH become one) and cannot repeat a dump.
 */
#ifndef RAILHEAD_LIB_NET_NL_MSG_H
#define RAILHEAD_LIB_NET_NL_MSG_H

#include <netlink/attr.h>
#include <netlink/msg.h>

#include "lib/base/ip.h"
#include "lib/net/nl.h"

/* The kernel cuts dumps into pieces of what the reader offers, 32 KiB at the most. */
#define NL_RECV_SIZE 32768

struct nl {
	int fd;
	uint32_t seq; /* of the last request */
	char buf[NL_RECV_SIZE] __attribute__((aligned(NLMSG_ALIGNTO)));
};

/* nl_open_bound - a socket of the current namespace subscribed to the groups (RTMGRP_*); 0: none.
 */
int nl_open_bound(uint32_t groups, struct nl **out, struct err *e) must_check;

/* nl_open_protocol - the same of another family (NETLINK_*); _in: as nl_open_in. */
int nl_open_protocol(int protocol, uint32_t groups, struct nl **out, struct err *e) must_check;
struct netns;
int nl_open_protocol_in(const struct netns *ns, const struct netns *host, int protocol,
			struct nl **out, struct err *e) must_check;

/*
 * A request being built. If a put does not fit or finds no memory, the request is invalid, and the
 * exchange returns ERR_NOMEM. So the caller does not check each put.
 */
struct nl_req {
	struct nl_msg *msg; /* NULL: spoiled */
};

/* nl_req_begin - start it; head is the family header (struct ifinfomsg, ...). NLM_F_REQUEST is
 * implied. */
void nl_req_begin(struct nl_req *rq, int type, int flags, const void *head, size_t len);
void nl_req_put(struct nl_req *rq, int attr, const void *data, size_t len);
void nl_req_put_u16(struct nl_req *rq, int attr, uint16_t v);
void nl_req_put_u32(struct nl_req *rq, int attr, uint32_t v);
void nl_req_put_str(struct nl_req *rq, int attr, const char *s); /* with its NUL */
struct nlattr *nl_req_nest(struct nl_req *rq, int attr);
void nl_req_nest_end(struct nl_req *rq, struct nlattr *nest);
void nl_req_clear(struct nl_req *rq);
#define auto_nl_req auto_clean(nl_req_clear)

/*
 * Called for each message of an answer. NULL for h: a dump starts or restarts, so drop earlier
 * data. Returns 0, or -1 with the error set; the rest of the answer is then read and dropped.
 */
typedef int (*nl_msg_fn)(const struct nlmsghdr *h, void *arg, struct err *e);

struct nl_sink {
	nl_msg_fn fn;
	void *arg;
};

/*
 * The three kinds of exchange. The kernel's refusal is ERR_KERNEL with its errno and, in the
 * detail, what its ext-ack says; the caller puts the noun before it. nl_request - a request that is
 * acknowledged. nl_get - one message in return, and no acknowledgement. nl_get_dump - a list;
 * repeated when it was interrupted, ERR_AGAIN when that happens every time.
 */
int nl_request(struct nl *nl, const struct nl_req *rq, struct err *e) must_check;
int nl_get(struct nl *nl, const struct nl_req *rq, struct nl_sink sink, struct err *e) must_check;
int nl_get_dump(struct nl *nl, const struct nl_req *rq, struct nl_sink sink,
		struct err *e) must_check;
/* nl_get_large - nl_get, for an answer that may be larger than nl->buf. */
int nl_get_large(struct nl *nl, const struct nl_req *rq, struct nl_sink sink,
		 struct err *e) must_check;

struct nl_buffer {
	void *at;
	size_t size;
};

/* nl_recv_datagram - one datagram of the kernel into nl->buf; its length, or -1 with errno. flags:
 * MSG_*. */
ssize_t nl_recv_datagram(struct nl *nl, int flags) must_check;

/*
 * nl_parse_attrs - attributes behind a family header of head bytes into tb[0..max], absent ones
 * NULL; unknown ones are skipped. One shorter than the policy says spoils the message: -1.
 */
int nl_parse_attrs(const struct nlmsghdr *h, size_t head, struct nlattr **tb, int max,
		   const struct nla_policy *policy) must_check;

/* nl_link_get_request - RTM_GETLINK by name (NULL: by index), as both look-ups send it. */
void nl_link_get_request(struct nl_req *rq, const char *name, int ifindex);

/* nl_link_create_as - the RTM_NEWLINK of nl_link_create, bare; ifindex 0: the kernel's choice. */
struct link_spec;
int nl_link_create_as(struct nl *nl, const struct link_spec *spec, int ifindex,
		      struct err *e) must_check;

/* ---- addresses (addr.c) ---- */

uint8_t nl_family(enum ip_family f); /* AF_INET or AF_INET6 */
void nl_req_put_ip(struct nl_req *rq, int attr, struct ip ip);

/* nl_attr_ip - the address in an attribute. -1 when its length does not fit the family (AF_*). */
int nl_attr_ip(const struct nlattr *a, uint8_t family, struct ip *out) must_check;

/* A growing array, for what a dump yields before it is known to be whole. */
struct nl_list {
	void *items; /* owned */
	size_t n;
};
/* nl_list_add - append a copy of size bytes; all items of a list are of one size. */
int nl_list_add(struct nl_list *l, const void *item, size_t size, struct err *e) must_check;
static inline void nl_list_clear(struct nl_list *l)
{
	free(l->items);
}

#endif

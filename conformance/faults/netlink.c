/* SPDX-License-Identifier: Apache-2.0 */
/* netlink.c: dumps as lines of text, without what changes by itself: indices, counters, times. */
#include "conformance/faults/world.h"

#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct view {
	const char *prefix;
	struct text *out;
};

static void hex(struct text *t, const void *data, size_t len)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < len; i++)
		text_add(t, "%02x", p[i]);
}

static void interface_name(struct text *t, unsigned index)
{
	char name[IF_NAMESIZE];

	text_add(t, " %s", index && if_indextoname(index, name) ? name : "-");
}

typedef bool (*skip_fn)(unsigned type);

/* Attributes still to come. */
struct rest {
	const struct rtattr *a;
	size_t left;
};

static const struct rtattr *next(struct rest *r)
{
	const struct rtattr *a = r->a;

	if (r->left < sizeof(*a) || a->rta_len < sizeof(*a) || a->rta_len > r->left)
		return NULL;
	size_t step = RTA_ALIGN((size_t)a->rta_len);
	r->left -= step < r->left ? step : r->left;
	r->a = (const void *)((const char *)a + step);
	return a;
}

static void attributes(struct text *t, struct rest rest, skip_fn skip)
{
	for (const struct rtattr *a; (a = next(&rest));) {
		unsigned type = a->rta_type & (unsigned)NLA_TYPE_MASK;
		if (skip(type))
			continue;
		text_add(t, " %u=", type);
		hex(t, RTA_DATA(a), a->rta_len - sizeof(*a));
	}
}

/* Of a link only what somebody sets. */
static bool link_skips(unsigned type)
{
	return type != IFLA_IFNAME && type != IFLA_MTU && type != IFLA_ADDRESS &&
	       type != IFLA_PROMISCUITY && type != IFLA_ALLMULTI && type != IFLA_IFALIAS &&
	       type != IFLA_TXQLEN && type != IFLA_PROP_LIST && type != IFLA_VFINFO_LIST;
}

static bool addr_skips(unsigned type)
{
	return type == IFA_CACHEINFO;
}

static bool route_skips(unsigned type)
{
	return type == RTA_CACHEINFO || type == RTA_OIF;
}

static bool rule_skips(unsigned type)
{
	return type == FRA_PAD;
}

static struct rest after(const struct nlmsghdr *h, size_t head)
{
	const char *body = NLMSG_DATA(h);

	return (struct rest){ (const void *)(body + NLMSG_ALIGN(head)),
			      h->nlmsg_len - NLMSG_LENGTH(0) - NLMSG_ALIGN(head) };
}

static void show_link(struct text *t, const struct nlmsghdr *h)
{
	const struct ifinfomsg *m = NLMSG_DATA(h);

	text_add(t, "link type %u flags %x", m->ifi_type, m->ifi_flags);
	attributes(t, after(h, sizeof(*m)), link_skips);
}

static void show_address(struct text *t, const struct nlmsghdr *h)
{
	const struct ifaddrmsg *m = NLMSG_DATA(h);

	text_add(t, "address /%u scope %u", m->ifa_prefixlen, m->ifa_scope);
	interface_name(t, m->ifa_index);
	attributes(t, after(h, sizeof(*m)), addr_skips);
}

static void show_route(struct text *t, const struct nlmsghdr *h)
{
	const struct rtmsg *m = NLMSG_DATA(h);
	struct rest rest = after(h, sizeof(*m));

	text_add(t, "route table %u /%u proto %u scope %u type %u", m->rtm_table, m->rtm_dst_len,
		 m->rtm_protocol, m->rtm_scope, m->rtm_type);
	attributes(t, rest, route_skips);
	for (const struct rtattr *a; (a = next(&rest));) {
		if (a->rta_type == RTA_OIF)
			interface_name(t, *(const unsigned *)RTA_DATA(a));
	}
}

static void show_rule(struct text *t, const struct nlmsghdr *h)
{
	text_add(t, "rule ");
	hex(t, NLMSG_DATA(h), sizeof(struct fib_rule_hdr));
	attributes(t, after(h, sizeof(struct fib_rule_hdr)), rule_skips);
}

static void show(const struct view *v, const struct nlmsghdr *h)
{
	struct text *t = v->out;

	text_add(t, "%s ", v->prefix);
	if (h->nlmsg_type == RTM_NEWLINK)
		show_link(t, h);
	else if (h->nlmsg_type == RTM_NEWADDR)
		show_address(t, h);
	else if (h->nlmsg_type == RTM_NEWROUTE)
		show_route(t, h);
	else
		show_rule(t, h);
	text_add(t, "\n");
}

/* false: the end, or an error. */
static bool take(const struct view *v, const char *buf, size_t len)
{
	for (size_t at = 0; at + sizeof(struct nlmsghdr) <= len;) {
		const struct nlmsghdr *h = (const void *)(buf + at);
		if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR ||
		    h->nlmsg_len < sizeof(*h) || h->nlmsg_len > len - at)
			return false;
		show(v, h);
		at += NLMSG_ALIGN(h->nlmsg_len);
	}
	return true;
}

static void dump(int fd, unsigned short type, const struct view *v)
{
	static char buf[65536] __attribute__((aligned(8)));
	struct {
		struct nlmsghdr h;
		struct ifinfomsg body; /* the longest of all */
		struct rtattr mask;    /* of links only: with their VFs */
		unsigned value;
	} req = { .h = { .nlmsg_len = offsetof(typeof(req), mask),
			 .nlmsg_type = type,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		  .mask = { RTA_LENGTH(sizeof(unsigned)), IFLA_EXT_MASK },
		  .value = RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS };
	ssize_t n;

	if (type == RTM_GETLINK)
		req.h.nlmsg_len = sizeof(req);
	if (send(fd, &req, req.h.nlmsg_len, 0) != (ssize_t)req.h.nlmsg_len)
		die("netlink: %s", strerror(errno));
	do {
		n = recv(fd, buf, sizeof(buf), 0);
		if (n < 0 && errno != EINTR)
			die("netlink: %s", strerror(errno));
	} while (n < 0 || take(v, buf, (size_t)n));
}

void netlink_dump(const char *prefix, struct text *out)
{
	static const unsigned short types[] = { RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE,
						RTM_GETRULE };
	const struct view v = { prefix, out };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0)
		die("netlink: %s", strerror(errno));
	for (size_t i = 0; i < COUNT(types); i++)
		dump(fd, types[i], &v);
	(void)close(fd);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* addr.c: adds and lists IP addresses of interfaces. */
#include "lib/net/addr.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "lib/net/nl_msg.h"

/* ---- addresses in messages ---- */

uint8_t nl_family(enum ip_family f)
{
	return f == IP_V6 ? AF_INET6 : AF_INET;
}

void nl_req_put_ip(struct nl_req *rq, int attr, struct ip ip)
{
	uint8_t bytes[16];

	nl_req_put(rq, attr, bytes, ip_to_bytes(ip, bytes));
}

int nl_attr_ip(const struct nlattr *a, uint8_t family, struct ip *out)
{
	size_t len = family == AF_INET ? 4 : 16;

	if ((family != AF_INET && family != AF_INET6) || (size_t)nla_len(a) != len)
		return -1;
	return ip_from_bytes(nla_data(a), len, out);
}

/* ---- adding ---- */

static void explain_add(struct ip_prefix addr, struct err *e)
{
	if (addr.addr.family != IP_V6)
		return;
	if (e->errnum == EACCES)
		err_hint(e, "IPv6 is switched off there: sysctl net.ipv6.conf.*.disable_ipv6");
	if (e->errnum == EOPNOTSUPP || e->errnum == EAFNOSUPPORT)
		err_hint(e, "this kernel runs without IPv6");
}

int nl_addr_add(struct nl *nl, int ifindex, struct ip_prefix addr, bool nodad, struct err *e)
{
	char text[PREFIX_STR_LEN];
	auto_nl_req struct nl_req rq = { 0 };
	struct ifaddrmsg ifa = {
		.ifa_family = nl_family(addr.addr.family),
		.ifa_prefixlen = addr.len,
		.ifa_flags = nodad && addr.addr.family == IP_V6 ? IFA_F_NODAD : 0,
		.ifa_index = (uint32_t)ifindex,
	};

	nl_req_begin(&rq, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &ifa, sizeof(ifa));
	nl_req_put_ip(&rq, IFA_LOCAL, addr.addr);
	nl_req_put_ip(&rq, IFA_ADDRESS, addr.addr);
	if (addr.addr.family == IP_V4 && addr.len < 31)
		nl_req_put_ip(&rq, IFA_BROADCAST, ip_last(addr));
	if (nl_request(nl, &rq, e) == 0)
		return 0;
	explain_add(addr, e);
	return err_wrap(e, "add address %s to interface number %d", ip_format_prefix(addr, text),
			ifindex);
}

/* ---- listing ---- */

struct addr_dump {
	int ifindex; /* 0: any */
	uint8_t family;
	struct nl_list found; /* struct addr_info */
	size_t start;         /* of this family in found */
};

static void addr_dump_clear(struct addr_dump *w)
{
	nl_list_clear(&w->found);
}
#define auto_addr_walk auto_clean(addr_dump_clear)

static int decode_addr(const struct nlmsghdr *h, struct addr_info *out)
{
	static const struct nla_policy policy[IFA_MAX + 1] = {
		[IFA_FLAGS] = { .type = NLA_U32 },
		[IFA_PROTO] = { .type = NLA_U8 },
	};
	struct nlattr *tb[IFA_MAX + 1];
	const struct ifaddrmsg *ifa = nlmsg_data(h);

	if (nl_parse_attrs(h, sizeof(*ifa), tb, IFA_MAX, policy))
		return -1;

	/* If an address has a peer, IFA_ADDRESS is the peer's. */
	const struct nlattr *own = tb[IFA_LOCAL] ? tb[IFA_LOCAL] : tb[IFA_ADDRESS];
	uint32_t flags = tb[IFA_FLAGS] ? nla_get_u32(tb[IFA_FLAGS]) : ifa->ifa_flags;
	struct addr_info a = {
		.ifindex = (int)ifa->ifa_index,
		.addr.len = ifa->ifa_prefixlen,
		.tentative = flags & IFA_F_TENTATIVE,
		.dadfailed = flags & IFA_F_DADFAILED,
		.limited = !(flags & IFA_F_PERMANENT),
		.given = (ifa->ifa_family == AF_INET6 &&
			  (ifa->ifa_scope == RT_SCOPE_LINK || (flags & IFA_F_TEMPORARY))) ||
			 (tb[IFA_PROTO] && nla_get_u8(tb[IFA_PROTO]) <= IFAPROT_KERNEL_LL &&
			  nla_get_u8(tb[IFA_PROTO]) != IFAPROT_UNSPEC),
	};

	if (!own || nl_attr_ip(own, ifa->ifa_family, &a.addr.addr) ||
	    a.addr.len > ip_bits(a.addr.addr.family))
		return -1;
	*out = a;
	return 0;
}

/* Kernels before 4.20 ignore the filter, and one without IPv6 answers for every family. */
static int on_net_addr(const struct nlmsghdr *h, void *arg, struct err *e)
{
	struct addr_dump *w = arg;
	struct addr_info a;

	if (!h) {
		w->found.n = w->start;
		return 0;
	}

	const struct ifaddrmsg *ifa = nlmsg_data(h);

	if (h->nlmsg_type != RTM_NEWADDR || nlmsg_datalen(h) < (int)sizeof(*ifa) ||
	    ifa->ifa_family != w->family || (w->ifindex && (int)ifa->ifa_index != w->ifindex))
		return 0;
	if (decode_addr(h, &a))
		return err_set(e, ERR_KERNEL, EBADMSG, "read an address from the kernel");
	return nl_list_add(&w->found, &a, sizeof(a), e);
}

static int addr_dump_family(struct nl *nl, struct addr_dump *w, uint8_t family, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct ifaddrmsg ifa = { .ifa_family = family, .ifa_index = (uint32_t)w->ifindex };

	w->family = family;
	w->start = w->found.n;
	nl_req_begin(&rq, RTM_GETADDR, 0, &ifa, sizeof(ifa));
	if (nl_get_dump(nl, &rq, (struct nl_sink){ on_net_addr, w }, e))
		return err_wrap(e, "addresses of interface number %d", w->ifindex);
	return 0;
}

static void report_addrs(const struct addr_dump *w, addr_fn fn, void *arg)
{
	const struct addr_info *a = w->found.items;

	for (size_t i = 0; i < w->found.n; i++)
		if (fn(&a[i], arg))
			break;
}

int nl_addr_list(struct nl *nl, int ifindex, addr_fn fn, void *arg, struct err *e)
{
	auto_addr_walk struct addr_dump w = { .ifindex = ifindex };

	if (addr_dump_family(nl, &w, AF_INET, e) || addr_dump_family(nl, &w, AF_INET6, e))
		return -1;
	report_addrs(&w, fn, arg);
	return 0;
}

int nl_addr_list_v6(struct nl *nl, int ifindex, addr_fn fn, void *arg, struct err *e)
{
	auto_addr_walk struct addr_dump w = { .ifindex = ifindex };

	if (addr_dump_family(nl, &w, AF_INET6, e))
		return -1;
	report_addrs(&w, fn, arg);
	return 0;
}

/* ---- one address ---- */

/*
 * Netlink can only dump IPv4 addresses. The interface for multicast is looked up among all of them,
 * and the setting ends with the socket.
 */
static int is_own_v4(struct ip ip, struct err *e)
{
	auto_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint8_t bytes[16];
	socklen_t len = (socklen_t)ip_to_bytes(ip, bytes);

	if (fd < 0)
		return err_set(e, ERR_IO, errno, "open a socket");
	if (setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, bytes, len) == 0)
		return 1;
	return errno == EADDRNOTAVAIL ? 0 : err_set(e, ERR_KERNEL, errno, "IP_MULTICAST_IF");
}

static int ignore_answer(const struct nlmsghdr *h, void *arg, struct err *e)
{
	(void)h;
	(void)arg;
	(void)e;
	return 0;
}

static int is_own_v6(struct ip ip, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	const struct ifaddrmsg ifa = { .ifa_family = AF_INET6 };
	auto_nl struct nl *nl = NULL;
	struct err why;

	if (nl_open(&nl, e))
		return -1;
	nl_req_begin(&rq, RTM_GETADDR, 0, &ifa, sizeof(ifa));
	nl_req_put_ip(&rq, IFA_ADDRESS, ip);
	if (nl_get(nl, &rq, (struct nl_sink){ ignore_answer, NULL }, &why) == 0)
		return 1;
	/* EOPNOTSUPP: a kernel without IPv6. */
	if (why.errnum == EADDRNOTAVAIL || why.errnum == EOPNOTSUPP)
		return 0;
	return err_pass(e, &why);
}

int nl_addr_is_own(struct ip ip, struct err *e)
{
	int own = ip.family == IP_V4 ? is_own_v4(ip, e) : is_own_v6(ip, e);
	char text[IP_STR_LEN];

	return own < 0 ? err_wrap(e, "look for address %s on this node", ip_format(ip, text)) : own;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* tcp.c: dumps of sock_diag, one for each family. */
#include "lib/net/tcp.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/net/nl_msg.h"

#define ESTABLISHED (1u << 1) /* TCP_ESTABLISHED of the kernel, as a bit */

/* Places in struct tcp_info: <linux/tcp.h> clashes with <netinet/tcp.h>, which libnl includes. */
#define BYTES_ACKED    120
#define BYTES_RECEIVED 128

int nl_tcp_open_in(const struct netns *ns, const struct netns *host, struct nl **out, struct err *e)
{
	return nl_open_protocol_in(ns, host, NETLINK_SOCK_DIAG, out, e);
}

static int parse_ip(uint8_t family, const __be32 from[4], struct ip *out)
{
	if (ip_from_bytes((const uint8_t *)from, family == AF_INET ? 4 : 16, out))
		return -1;
	*out = ip_unmap(*out);
	return 0;
}

static int parse_flow(const struct nlmsghdr *h, struct tcp_flow *f, struct err *e)
{
	static const struct nla_policy policy[INET_DIAG_MAX + 1] = {
		[INET_DIAG_INFO] = { .type = NLA_UNSPEC },
	};
	const struct inet_diag_msg *m = nlmsg_data(h);
	struct nlattr *tb[INET_DIAG_MAX + 1];

	if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY || nlmsg_datalen(h) < (int)sizeof(*m) ||
	    (m->idiag_family != AF_INET && m->idiag_family != AF_INET6) ||
	    nl_parse_attrs(h, sizeof(*m), tb, INET_DIAG_MAX, policy) ||
	    parse_ip(m->idiag_family, m->id.idiag_src, &f->local) ||
	    parse_ip(m->idiag_family, m->id.idiag_dst, &f->remote))
		return err_set(e, ERR_KERNEL, EBADMSG, "read a TCP connection from the kernel");

	if (!tb[INET_DIAG_INFO] || nla_len(tb[INET_DIAG_INFO]) < BYTES_RECEIVED + 8)
		return err_set(e, ERR_KERNEL, EOPNOTSUPP,
			       "this kernel does not count the bytes of TCP connections");
	f->cookie = (uint64_t)m->id.idiag_cookie[1] << 32 | m->id.idiag_cookie[0];
	memcpy(&f->sent, (const char *)nla_data(tb[INET_DIAG_INFO]) + BYTES_ACKED, 8);
	memcpy(&f->received, (const char *)nla_data(tb[INET_DIAG_INFO]) + BYTES_RECEIVED, 8);
	return 0;
}

static int on_flow(const struct nlmsghdr *h, void *arg, struct err *e)
{
	struct nl_list *l = arg;
	struct tcp_flow f;

	if (!h) {
		l->n = 0;
		return 0;
	}
	if (l->n == TCP_FLOWS_MAX)
		return err_set(e, ERR_NOMEM, 0, "more than %d TCP connections", TCP_FLOWS_MAX);
	return parse_flow(h, &f, e) || nl_list_add(l, &f, sizeof(f), e) ? -1 : 0;
}

static int list_family(struct nl *nl, uint8_t family, struct nl_list *out, struct err *e)
{
	const struct inet_diag_req_v2 head = { .sdiag_family = family,
					       .sdiag_protocol = IPPROTO_TCP,
					       .idiag_ext = 1u << (INET_DIAG_INFO - 1),
					       .idiag_states = ESTABLISHED };
	auto_nl_req struct nl_req rq = { 0 };

	nl_req_begin(&rq, SOCK_DIAG_BY_FAMILY, 0, &head, sizeof(head));
	return nl_get_dump(nl, &rq, (struct nl_sink){ on_flow, out }, e);
}

int nl_tcp_list(struct nl *nl, tcp_flow_fn fn, void *arg, struct err *e)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };

	for (size_t k = 0; k < ARRAY_SIZE(families); k++) {
		auto_clean(nl_list_clear) struct nl_list l = { 0 };

		if (list_family(nl, families[k], &l, e))
			return err_wrap(e, "list the TCP connections");
		for (size_t i = 0; i < l.n; i++)
			if (fn((const struct tcp_flow *)l.items + i, arg))
				return 0;
	}
	return 0;
}

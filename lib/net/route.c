/* SPDX-License-Identifier: Apache-2.0 */
/* route.c: adds and lists routes, finds the device of the default route, and asks for a way. */
#include "lib/net/addr.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "lib/net/nl_msg.h"

_Static_assert(ROUTE_TABLE_MAIN == RT_TABLE_MAIN && ROUTE_TABLE_OWN_FIRST == RT_TABLE_DEFAULT &&
		       ROUTE_TABLE_OWN_LAST == RT_TABLE_LOCAL,
	       "tables of the kernel");

/* ---- adding ---- */

static uint8_t usual_scope(const struct route_spec *r)
{
	if (r->scope >= 0)
		return (uint8_t)r->scope;
	return r->dst.addr.family == IP_V4 && r->gw.family == IP_NONE ? RT_SCOPE_LINK
								      : RT_SCOPE_UNIVERSE;
}

static void put_gateway(struct nl_req *rq, const struct route_spec *r)
{
	struct {
		uint16_t family; /* struct rtvia, but with room for the address */
		uint8_t addr[16];
	} via;

	if (r->gw.family == IP_NONE)
		return;
	if (r->gw.family == r->dst.addr.family) {
		nl_req_put_ip(rq, RTA_GATEWAY, r->gw);
		return;
	}
	via.family = nl_family(r->gw.family);
	nl_req_put(rq, RTA_VIA, &via, sizeof(via.family) + ip_to_bytes(r->gw, via.addr));
}

static void put_metrics(struct nl_req *rq, const struct route_spec *r)
{
	if (!r->mtu && !r->advmss)
		return;

	struct nlattr *metrics = nl_req_nest(rq, RTA_METRICS);

	if (r->mtu)
		nl_req_put_u32(rq, RTAX_MTU, r->mtu);
	if (r->advmss)
		nl_req_put_u32(rq, RTAX_ADVMSS, r->advmss);
	nl_req_nest_end(rq, metrics);
}

static void put_target(struct nl_req *rq, const struct route_spec *r, uint32_t table)
{
	nl_req_put_u32(rq, RTA_TABLE, table);
	if (r->dst.len)
		nl_req_put_ip(rq, RTA_DST, ip_network(r->dst));
	nl_req_put_u32(rq, RTA_OIF, (uint32_t)r->ifindex);
	if (r->priority)
		nl_req_put_u32(rq, RTA_PRIORITY, r->priority);
}

static int route_explain_add(const struct route_spec *r, struct err *e)
{
	char dst[PREFIX_STR_LEN], gw[IP_STR_LEN];

	ip_format_prefix(r->dst, dst);
	if (r->gw.family == IP_NONE)
		return err_wrap(e, "add route %s out of interface number %d", dst, r->ifindex);
	if (e->errnum == ENETUNREACH || e->errnum == EHOSTUNREACH)
		err_hint(e, "no address of the interface covers the gateway");
	return err_wrap(e, "add route %s via %s", dst, ip_format(r->gw, gw));
}

/*
 * With NLM_F_CREATE alone, as the reference plugins add routes: IPv4 puts the new one before equal
 * ones (NLM_F_APPEND would put it behind them), IPv6 makes one multipath route of them.
 */
int nl_route_add(struct nl *nl, const struct route_spec *r, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	uint32_t table = r->table ? r->table : RT_TABLE_MAIN;
	struct rtmsg rtm = {
		.rtm_family = nl_family(r->dst.addr.family),
		.rtm_dst_len = r->dst.len,
		.rtm_table = table <= UINT8_MAX ? (uint8_t)table : RT_TABLE_UNSPEC,
		.rtm_protocol = RTPROT_BOOT,
		.rtm_scope = usual_scope(r),
		.rtm_type = RTN_UNICAST,
		.rtm_flags = r->onlink ? RTNH_F_ONLINK : 0,
	};

	nl_req_begin(&rq, RTM_NEWROUTE, NLM_F_CREATE, &rtm, sizeof(rtm));
	put_target(&rq, r, table);
	put_gateway(&rq, r);
	if (r->src.family)
		nl_req_put_ip(&rq, RTA_PREFSRC, r->src);
	put_metrics(&rq, r);
	return nl_request(nl, &rq, e) ? route_explain_add(r, e) : 0;
}

int nl_route_delete(struct nl *nl, const struct route_spec *r, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	uint32_t table = r->table ? r->table : RT_TABLE_MAIN;
	struct rtmsg rtm = {
		.rtm_family = nl_family(r->dst.addr.family),
		.rtm_dst_len = r->dst.len,
		.rtm_table = table <= UINT8_MAX ? (uint8_t)table : RT_TABLE_UNSPEC,
		.rtm_scope = RT_SCOPE_NOWHERE, /* any */
		.rtm_type = RTN_UNICAST,
	};
	char dst[PREFIX_STR_LEN];
	struct err why;

	nl_req_begin(&rq, RTM_DELROUTE, 0, &rtm, sizeof(rtm));
	put_target(&rq, r, table);
	if (nl_request(nl, &rq, &why) == 0 || why.errnum == ESRCH || why.errnum == ENOENT ||
	    why.errnum == ENODEV)
		return 0;
	*e = why;
	return err_wrap(e, "delete route %s out of interface number %d",
			ip_format_prefix(r->dst, dst), r->ifindex);
}

/* ---- reading ---- */

static const struct nla_policy route_policy[RTA_MAX + 1] = {
	[RTA_OIF] = { .type = NLA_U32 },
	[RTA_PRIORITY] = { .type = NLA_U32 },
	[RTA_TABLE] = { .type = NLA_U32 },
	[RTA_METRICS] = { .type = NLA_NESTED },
	[RTA_VIA] = { .type = NLA_UNSPEC, .minlen = sizeof(struct rtvia) },
	[RTA_MULTIPATH] = { .type = NLA_UNSPEC },
};

static int route_decode_gateway(struct nlattr *const *tb, uint8_t family, struct route_spec *r)
{
	if (tb[RTA_GATEWAY])
		return nl_attr_ip(tb[RTA_GATEWAY], family, &r->gw);
	if (!tb[RTA_VIA])
		return 0;

	const struct rtvia *via = nla_data(tb[RTA_VIA]);
	size_t len = (size_t)nla_len(tb[RTA_VIA]) - sizeof(*via);

	return ip_from_bytes(via->rtvia_addr, len, &r->gw);
}

static int decode_metrics(struct nlattr *nest, struct route_spec *r)
{
	static const struct nla_policy policy[RTAX_MAX + 1] = {
		[RTAX_MTU] = { .type = NLA_U32 },
		[RTAX_ADVMSS] = { .type = NLA_U32 },
	};
	struct nlattr *tb[RTAX_MAX + 1];

	if (nla_parse_nested(tb, RTAX_MAX, nest, policy) < 0)
		return -1;
	if (tb[RTAX_MTU])
		r->mtu = nla_get_u32(tb[RTAX_MTU]);
	if (tb[RTAX_ADVMSS])
		r->advmss = nla_get_u32(tb[RTAX_ADVMSS]);
	return 0;
}

static enum route_kind kind_of(uint8_t type)
{
	switch (type) {
	case RTN_UNICAST:
	case RTN_LOCAL:
		return ROUTE_UNICAST;
	case RTN_BLACKHOLE:
		return ROUTE_BLACKHOLE;
	case RTN_UNREACHABLE:
		return ROUTE_UNREACHABLE;
	case RTN_PROHIBIT:
		return ROUTE_PROHIBIT;
	case RTN_THROW:
		return ROUTE_THROW;
	default:
		return ROUTE_OTHER;
	}
}

const char *route_kind_name(enum route_kind k)
{
	static const char *const names[] = {
		[ROUTE_UNICAST] = "unicast",
		[ROUTE_BLACKHOLE] = "blackhole",
		[ROUTE_UNREACHABLE] = "unreachable",
		[ROUTE_PROHIBIT] = "prohibit",
		[ROUTE_THROW] = "throw",
		[ROUTE_OTHER] = "other",
	};

	return names[k];
}

static enum route_maker maker_of(uint8_t protocol)
{
	if (protocol == RTPROT_RA || protocol == RTPROT_DHCP)
		return ROUTE_DYNAMIC;
	return protocol > RTPROT_STATIC ? ROUTE_BY_ROUTING : ROUTE_BY_HAND;
}

static int decode_route(const struct rtmsg *rtm, struct nlattr *const *tb, struct route_spec *out)
{
	struct route_spec r = {
		.dst.addr.family = rtm->rtm_family == AF_INET6 ? IP_V6 : IP_V4,
		.dst.len = rtm->rtm_dst_len,
		.table = tb[RTA_TABLE] ? nla_get_u32(tb[RTA_TABLE]) : rtm->rtm_table,
		.scope = rtm->rtm_scope,
		.onlink = rtm->rtm_flags & RTNH_F_ONLINK,
		.kind = kind_of(rtm->rtm_type),
		.maker = maker_of(rtm->rtm_protocol),
	};

	if ((tb[RTA_DST] && nl_attr_ip(tb[RTA_DST], rtm->rtm_family, &r.dst.addr)) ||
	    r.dst.len > ip_bits(r.dst.addr.family))
		return -1;
	if (tb[RTA_OIF])
		r.ifindex = (int)nla_get_u32(tb[RTA_OIF]);
	if (tb[RTA_PRIORITY])
		r.priority = nla_get_u32(tb[RTA_PRIORITY]);
	if (route_decode_gateway(tb, rtm->rtm_family, &r) ||
	    (tb[RTA_PREFSRC] && nl_attr_ip(tb[RTA_PREFSRC], rtm->rtm_family, &r.src)) ||
	    (tb[RTA_METRICS] && decode_metrics(tb[RTA_METRICS], &r)))
		return -1;
	*out = r;
	return 0;
}

struct route_dump {
	uint8_t family;
	int ifindex;          /* 0: any */
	bool defaults;        /* only default routes of the main table */
	bool all;             /* of every kind, also without an interface */
	struct nl_list found; /* struct route_spec */
	size_t start;         /* of this family in found */
};

static void route_dump_clear(struct route_dump *w)
{
	nl_list_clear(&w->found);
}
#define auto_route_walk auto_clean(route_dump_clear)

static int keep_route(struct route_dump *w, const struct route_spec *r, struct err *e)
{
	if ((!r->ifindex && !w->all) || (w->ifindex && r->ifindex != w->ifindex))
		return 0;
	return nl_list_add(&w->found, r, sizeof(*r), e);
}

static int bad_route(struct err *e)
{
	return err_set(e, ERR_KERNEL, EBADMSG, "read a route from the kernel");
}

/* Each next hop of a multipath route is a route to us. */
static int keep_hops(struct route_dump *w, const struct route_spec *base, struct nlattr *multipath,
		     struct err *e)
{
	char *p = nla_data(multipath);
	size_t left = (size_t)nla_len(multipath);

	while (left >= sizeof(struct rtnexthop)) {
		const struct rtnexthop *hop = (const void *)p;
		struct nlattr *tb[RTA_MAX + 1];
		struct route_spec r = *base;
		size_t len = hop->rtnh_len, step = (size_t)RTNH_ALIGN((int)hop->rtnh_len);

		if (len < sizeof(*hop) || len > left ||
		    nla_parse(tb, RTA_MAX, (void *)(p + sizeof(*hop)), (int)(len - sizeof(*hop)),
			      route_policy) < 0)
			return bad_route(e);
		r.ifindex = hop->rtnh_ifindex;
		r.onlink = hop->rtnh_flags & RTNH_F_ONLINK;
		if (route_decode_gateway(tb, nl_family(r.dst.addr.family), &r))
			return bad_route(e);
		if (keep_route(w, &r, e))
			return -1;
		p += step < left ? step : left;
		left -= step < left ? step : left;
	}
	return 0;
}

/* Kernels before 4.20 ignore the filter, and one without IPv6 answers for every family. */
static bool route_is_wanted(const struct route_dump *w, const struct nlmsghdr *h)
{
	const struct rtmsg *rtm = nlmsg_data(h);

	return h->nlmsg_type == RTM_NEWROUTE && nlmsg_datalen(h) >= (int)sizeof(*rtm) &&
	       rtm->rtm_family == w->family && (w->all || rtm->rtm_type == RTN_UNICAST) &&
	       !(rtm->rtm_flags & RTM_F_CLONED) && !(w->defaults && rtm->rtm_dst_len);
}

static int on_net_route(const struct nlmsghdr *h, void *arg, struct err *e)
{
	struct route_dump *w = arg;
	struct nlattr *tb[RTA_MAX + 1];
	struct route_spec r;

	if (!h) {
		w->found.n = w->start;
		return 0;
	}
	if (!route_is_wanted(w, h))
		return 0;
	if (nl_parse_attrs(h, sizeof(struct rtmsg), tb, RTA_MAX, route_policy) ||
	    decode_route(nlmsg_data(h), tb, &r))
		return bad_route(e);
	if (r.table == RT_TABLE_LOCAL || (w->defaults && r.table != RT_TABLE_MAIN))
		return 0;
	if (tb[RTA_MULTIPATH])
		return keep_hops(w, &r, tb[RTA_MULTIPATH], e);
	return keep_route(w, &r, e);
}

/*
 * One family at a time: asked for all of them, the kernel asks every protocol that has routes, and
 * some of those (MPLS) take our filter for an error.
 */
static int route_dump_family(struct nl *nl, struct route_dump *w, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct rtmsg rtm = {
		.rtm_family = w->family,
		.rtm_type = w->all ? RTN_UNSPEC : RTN_UNICAST,
		.rtm_table = w->defaults ? RT_TABLE_MAIN : RT_TABLE_UNSPEC,
	};

	w->start = w->found.n;
	nl_req_begin(&rq, RTM_GETROUTE, 0, &rtm, sizeof(rtm));
	if (w->ifindex)
		nl_req_put_u32(&rq, RTA_OIF, (uint32_t)w->ifindex);
	return nl_get_dump(nl, &rq, (struct nl_sink){ on_net_route, w }, e);
}

static int list_routes(struct nl *nl, struct route_dump *w, route_fn fn, void *arg, struct err *e)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };

	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		w->family = families[i];
		if (route_dump_family(nl, w, e))
			return -1;
	}

	const struct route_spec *r = w->found.items;

	for (size_t i = 0; i < w->found.n; i++)
		if (fn(&r[i], arg))
			break;
	return 0;
}

int nl_route_list(struct nl *nl, int ifindex, route_fn fn, void *arg, struct err *e)
{
	auto_route_walk struct route_dump w = { .ifindex = ifindex };

	return list_routes(nl, &w, fn, arg, e)
		       ? err_wrap(e, "routes out of interface number %d", ifindex)
		       : 0;
}

int nl_route_list_all(struct nl *nl, route_fn fn, void *arg, struct err *e)
{
	auto_route_walk struct route_dump w = { .all = true };

	return list_routes(nl, &w, fn, arg, e) ? err_wrap(e, "routes") : 0;
}

/* ---- the default route ---- */

/* A namespace that never had a route has no main table yet: ENOENT. */
static int dump_defaults(struct nl *nl, struct route_dump *w, uint8_t family, struct err *e)
{
	struct err why;

	w->family = family;
	if (route_dump_family(nl, w, &why) == 0 || why.errnum == ENOENT)
		return 0;
	*e = why;
	return err_wrap(e, "default route");
}

int nl_route_default_dev(struct nl *nl, int *ifindex, struct err *e)
{
	auto_route_walk struct route_dump w = { .defaults = true };

	if (dump_defaults(nl, &w, AF_INET, e) ||
	    (w.found.n == 0 && dump_defaults(nl, &w, AF_INET6, e)))
		return -1;
	if (w.found.n == 0)
		return err_set(e, ERR_KERNEL, ENODEV, "there is no default route");

	const struct route_spec *r = w.found.items, *best = r;

	for (size_t i = 1; i < w.found.n; i++)
		if (r[i].priority < best->priority)
			best = &r[i];
	*ifindex = best->ifindex;
	return 0;
}

/* ---- the way of a packet ---- */

struct way {
	struct route_spec route;
	uint8_t type; /* RTN_* */
	bool found;
};

static int on_way(const struct nlmsghdr *h, void *arg, struct err *e)
{
	struct nlattr *tb[RTA_MAX + 1];
	struct way *w = arg;

	if (!h || h->nlmsg_type != RTM_NEWROUTE || nlmsg_datalen(h) < (int)sizeof(struct rtmsg))
		return 0;
	const struct rtmsg *rtm = nlmsg_data(h);
	if ((rtm->rtm_family != AF_INET && rtm->rtm_family != AF_INET6) ||
	    nl_parse_attrs(h, sizeof(*rtm), tb, RTA_MAX, route_policy) ||
	    decode_route(rtm, tb, &w->route))
		return bad_route(e);
	w->type = rtm->rtm_type;
	w->found = true;
	return 0;
}

static int judge_way(const struct way *w, struct err *e)
{
	if (!w->found)
		return bad_route(e);
	return w->type == RTN_UNICAST || w->type == RTN_LOCAL
		       ? 0
		       : err_set(e, ERR_KERNEL, EHOSTUNREACH, "a route forbids it");
}

int nl_route_get(struct nl *nl, struct ip to, struct ip from, struct route_spec *out, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct rtmsg rtm = {
		.rtm_family = nl_family(to.family),
		.rtm_dst_len = (uint8_t)ip_bits(to.family),
		.rtm_src_len = from.family ? (uint8_t)ip_bits(from.family) : 0,
		/* IPv6 always tells the table, and refuses the flag. */
		.rtm_flags = to.family == IP_V4 ? RTM_F_LOOKUP_TABLE : 0,
	};
	char a[IP_STR_LEN], b[IP_STR_LEN];
	struct way w = { .found = false };

	nl_req_begin(&rq, RTM_GETROUTE, 0, &rtm, sizeof(rtm));
	nl_req_put_ip(&rq, RTA_DST, to);
	if (from.family)
		nl_req_put_ip(&rq, RTA_SRC, from);
	if (nl_get(nl, &rq, (struct nl_sink){ on_way, &w }, e) || judge_way(&w, e))
		return err_wrap(e, "way from %s to %s", from.family ? ip_format(from, a) : "any",
				ip_format(to, b));
	*out = w.route;
	return 0;
}

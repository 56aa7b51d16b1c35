/* SPDX-License-Identifier: Apache-2.0 */
/* netlink.c: print links, VFs, addresses, routes and the other objects of a namespace as lines. */
#include "conformance/harness/netlink.h"

#include <arpa/inet.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <net/if.h>
#include <rdma/rdma_netlink.h>
#include <stdint.h>
#include <string.h>

#include "conformance/harness/dump.h"

/* Of linux/if.h, which does not go with net/if.h. */
enum { LOWER_UP = 1 << 16, DORMANT = 1 << 17 };

/* ---- pieces of lines ---- */

static unsigned number_in(const struct rtattr *a)
{
	unsigned n = 0;

	memcpy(&n, RTA_DATA(a), attr_len(a) < sizeof(n) ? attr_len(a) : sizeof(n));
	return n;
}

static const char *interface_name(unsigned index, char name[IF_NAMESIZE])
{
	return index && if_indextoname(index, name) ? name : "-";
}

static void add_text(struct text *out, const char *what, const struct rtattr *a)
{
	text_add(out, " %s %.*s", what, (int)attr_len(a), (const char *)RTA_DATA(a));
}

static void add_number(struct text *out, const char *what, const struct rtattr *a)
{
	text_add(out, " %s %u", what, number_in(a));
}

static void add_hex(struct text *out, const char *what, const struct rtattr *a)
{
	text_add(out, " %s ", what);
	text_hex(out, RTA_DATA(a), attr_len(a));
}

/* An attribute that this file does not know, as bytes. */
static void add_other(struct text *out, const struct rtattr *a)
{
	text_add(out, " attribute %u=", attr_type(a));
	text_hex(out, RTA_DATA(a), attr_len(a));
}

static void add_interface(struct text *out, const char *what, const struct rtattr *a)
{
	char name[IF_NAMESIZE];

	text_add(out, " %s %s", what, interface_name(number_in(a), name));
}

/* By its length: IPv4, IPv6, or something else. */
static const char *address_text(const struct rtattr *a, char buf[INET6_ADDRSTRLEN])
{
	size_t len = a ? attr_len(a) : 0;

	if (len != 4 && len != 16)
		return "-";
	return inet_ntop(len == 4 ? AF_INET : AF_INET6, RTA_DATA(a), buf, INET6_ADDRSTRLEN);
}

static void add_address(struct text *out, const char *what, const struct rtattr *a)
{
	char buf[INET6_ADDRSTRLEN];

	text_add(out, " %s %s", what, address_text(a, buf));
}

static const struct rtattr *find(struct attrs rest, unsigned type)
{
	const struct rtattr *a;

	while ((a = attrs_next(&rest)) && attr_type(a) != type)
		;
	return a;
}

static bool is_link_local(const struct rtattr *a)
{
	const unsigned char *p = a ? RTA_DATA(a) : NULL;

	return p && attr_len(a) == 16 && ((p[0] == 0xfe && (p[1] & 0xc0) == 0x80) || p[0] == 0xff);
}

/* ---- links ---- */

static void show_vf_part(struct text *out, const struct rtattr *a)
{
	static const char *const names[IFLA_VF_MAX + 1] = {
		[IFLA_VF_MAC] = "mac",
		[IFLA_VF_VLAN] = "vlan",
		[IFLA_VF_TX_RATE] = "tx-rate",
		[IFLA_VF_SPOOFCHK] = "spoofchk",
		[IFLA_VF_LINK_STATE] = "link-state",
		[IFLA_VF_RATE] = "rate",
		[IFLA_VF_RSS_QUERY_EN] = "rss-query",
		[IFLA_VF_TRUST] = "trust",
		[IFLA_VF_IB_NODE_GUID] = "node-guid",
		[IFLA_VF_IB_PORT_GUID] = "port-guid",
		[IFLA_VF_VLAN_LIST] = "vlans",
		[IFLA_VF_BROADCAST] = "broadcast",
	};
	unsigned type = attr_type(a);

	if (type == IFLA_VF_STATS)
		return;
	if (type <= IFLA_VF_MAX && names[type])
		add_hex(out, names[type], a);
	else
		add_other(out, a);
}

/* One line for each VF. Most attributes begin with the number of the VF. */
static void show_vfs(const struct netlink_scope *s, const char *name, const struct rtattr *list,
		     struct text *out)
{
	struct attrs vfs = attrs_in(list);

	for (const struct rtattr *vf; (vf = attrs_next(&vfs));) {
		struct attrs rest = attrs_in(vf);
		const struct rtattr *mac = find(rest, IFLA_VF_MAC);

		text_add(out, "%s vf %s %u:", s->prefix, name, mac ? number_in(mac) : 0);
		for (const struct rtattr *a; (a = attrs_next(&rest));)
			show_vf_part(out, a);
		text_add(out, "\n");
	}
}

static void show_names(struct text *out, const struct rtattr *list)
{
	struct attrs rest = attrs_in(list);

	for (const struct rtattr *a; (a = attrs_next(&rest));)
		add_text(out, "altname", a);
}

static void show_kind(struct text *out, const struct rtattr *info)
{
	const struct rtattr *kind = find(attrs_in(info), IFLA_INFO_KIND);

	if (kind)
		add_text(out, "kind", kind);
}

/* Only attributes that a program sets. */
static void show_link_part(struct text *out, const struct rtattr *a, bool parent_is_here)
{
	switch (attr_type(a)) {
	case IFLA_MTU:
		add_number(out, "mtu", a);
		break;
	case IFLA_ADDRESS:
		add_hex(out, "mac", a);
		break;
	case IFLA_PROMISCUITY:
		add_number(out, "promiscuity", a);
		break;
	case IFLA_ALLMULTI:
		add_number(out, "allmulti", a);
		break;
	case IFLA_IFALIAS:
		add_text(out, "alias", a);
		break;
	case IFLA_TXQLEN:
		add_number(out, "txqlen", a);
		break;
	case IFLA_GSO_MAX_SIZE:
		add_number(out, "gso", a);
		break;
	case IFLA_GRO_MAX_SIZE:
		add_number(out, "gro", a);
		break;
	case IFLA_PROP_LIST:
		show_names(out, a);
		break;
	case IFLA_LINKINFO:
		show_kind(out, a);
		break;
	case IFLA_MASTER:
		add_interface(out, "master", a);
		break;
	case IFLA_LINK:
		if (parent_is_here)
			add_interface(out, "parent", a);
		break;
	default:
		break;
	}
}

static void show_link(const struct nlmsghdr *h, void *arg, struct text *out)
{
	const struct netlink_scope *s = arg;
	const struct ifinfomsg *m = NLMSG_DATA(h);
	const unsigned carrier = IFF_RUNNING | LOWER_UP | DORMANT;
	struct attrs rest = attrs_of(h, sizeof(*m));
	const struct rtattr *name = find(rest, IFLA_IFNAME), *vfs = find(rest, IFLA_VFINFO_LIST);
	bool parent_is_here = !find(rest, IFLA_LINK_NETNSID);

	if (!name)
		return;
	text_add(out, "%s link %s: type %u flags %x", s->prefix, (const char *)RTA_DATA(name),
		 m->ifi_type, m->ifi_flags & (s->settling ? ~carrier : ~0U));
	for (const struct rtattr *a; (a = attrs_next(&rest));)
		show_link_part(out, a, parent_is_here);
	text_add(out, "\n");
	if (vfs)
		show_vfs(s, RTA_DATA(name), vfs, out);
}

/* ---- addresses ---- */

static void show_address_part(struct text *out, const struct rtattr *a)
{
	/* Duplicate address detection ends in its own time. */
	const unsigned passing = IFA_F_TENTATIVE | IFA_F_OPTIMISTIC;

	switch (attr_type(a)) {
	case IFA_CACHEINFO:
		break;
	case IFA_FLAGS:
		text_add(out, " flags %x", number_in(a) & ~passing);
		break;
	case IFA_ADDRESS:
		add_address(out, "peer", a);
		break;
	case IFA_LOCAL:
		break;
	case IFA_BROADCAST:
		add_address(out, "broadcast", a);
		break;
	case IFA_LABEL:
		add_text(out, "label", a);
		break;
	default:
		add_other(out, a);
	}
}

static void show_address(const struct nlmsghdr *h, void *arg, struct text *out)
{
	const struct netlink_scope *s = arg;
	const struct ifaddrmsg *m = NLMSG_DATA(h);
	struct attrs rest = attrs_of(h, sizeof(*m));
	const struct rtattr *local = find(rest, IFA_LOCAL);
	char ip[INET6_ADDRSTRLEN], name[IF_NAMESIZE];

	if (!local)
		local = find(rest, IFA_ADDRESS);
	if (s->settling && is_link_local(local))
		return;
	text_add(out, "%s address %s %s/%u: scope %u", s->prefix,
		 interface_name(m->ifa_index, name), address_text(local, ip), m->ifa_prefixlen,
		 m->ifa_scope);
	for (const struct rtattr *a; (a = attrs_next(&rest));)
		show_address_part(out, a);
	text_add(out, "\n");
}

/* ---- routes ---- */

static void show_route_part(struct text *out, const struct rtattr *a)
{
	switch (attr_type(a)) {
	case RTA_CACHEINFO:
	case RTA_DST:
	case RTA_OIF:
	case RTA_TABLE:
		break;
	case RTA_GATEWAY:
		add_address(out, "via", a);
		break;
	case RTA_PREFSRC:
		add_address(out, "src", a);
		break;
	case RTA_SRC:
		add_address(out, "from", a);
		break;
	case RTA_PRIORITY:
		add_number(out, "metric", a);
		break;
	case RTA_IIF:
		add_interface(out, "iif", a);
		break;
	default:
		add_other(out, a);
	}
}

static void show_route(const struct nlmsghdr *h, void *arg, struct text *out)
{
	const struct netlink_scope *s = arg;
	const struct rtmsg *m = NLMSG_DATA(h);
	struct attrs rest = attrs_of(h, sizeof(*m));
	const struct rtattr *dst = find(rest, RTA_DST), *oif = find(rest, RTA_OIF);
	const struct rtattr *table = find(rest, RTA_TABLE);
	char ip[INET6_ADDRSTRLEN], name[IF_NAMESIZE];

	/* The local routes of IPv6 come when duplicate address detection has ended. */
	if (s->settling && m->rtm_family == AF_INET6 &&
	    (is_link_local(dst) || m->rtm_table == RT_TABLE_LOCAL))
		return;
	text_add(out, "%s route %s/%u dev %s table %u: family %u proto %u scope %u type %u tos %u",
		 s->prefix, dst ? address_text(dst, ip) : "default", m->rtm_dst_len,
		 interface_name(oif ? number_in(oif) : 0, name),
		 table ? number_in(table) : m->rtm_table, m->rtm_family, m->rtm_protocol,
		 m->rtm_scope, m->rtm_type, m->rtm_tos);
	for (const struct rtattr *a; (a = attrs_next(&rest));)
		show_route_part(out, a);
	text_add(out, "\n");
}

static void show_rule_part(struct text *out, const struct rtattr *a)
{
	switch (attr_type(a)) {
	case FRA_PAD:
	case FRA_TABLE:
	case FRA_PRIORITY:
		break;
	case FRA_SRC:
		add_address(out, "from", a);
		break;
	case FRA_DST:
		add_address(out, "to", a);
		break;
	case FRA_IIFNAME:
		add_text(out, "iif", a);
		break;
	case FRA_OIFNAME:
		add_text(out, "oif", a);
		break;
	default:
		add_other(out, a);
	}
}

static void show_rule(const struct nlmsghdr *h, void *arg, struct text *out)
{
	const struct netlink_scope *s = arg;
	const struct fib_rule_hdr *m = NLMSG_DATA(h);
	struct attrs rest = attrs_of(h, sizeof(*m));
	const struct rtattr *table = find(rest, FRA_TABLE), *priority = find(rest, FRA_PRIORITY);

	text_add(out, "%s rule %u family %u: table %u action %u tos %u flags %x src /%u dst /%u",
		 s->prefix, priority ? number_in(priority) : 0, m->family,
		 table ? number_in(table) : m->table, m->action, m->tos, m->flags, m->src_len,
		 m->dst_len);
	for (const struct rtattr *a; (a = attrs_next(&rest));)
		show_rule_part(out, a);
	text_add(out, "\n");
}

/* ---- neighbours, qdiscs, RDMA devices ---- */

/* Only neighbours that a program added; the kernel adds and removes the others. */
static void show_neighbour(const struct nlmsghdr *h, void *arg, struct text *out)
{
	const struct netlink_scope *s = arg;
	const struct ndmsg *m = NLMSG_DATA(h);
	struct attrs rest = attrs_of(h, sizeof(*m));
	const struct rtattr *dst = find(rest, NDA_DST), *lladdr = find(rest, NDA_LLADDR);
	char ip[INET6_ADDRSTRLEN], name[IF_NAMESIZE];

	if (!(m->ndm_state & NUD_PERMANENT) && !(m->ndm_flags & NTF_PROXY))
		return;
	text_add(out, "%s neighbour %s %s:%s", s->prefix,
		 interface_name((unsigned)m->ndm_ifindex, name), address_text(dst, ip),
		 m->ndm_flags & NTF_PROXY ? " proxy" : "");
	if (lladdr)
		add_hex(out, "lladdr", lladdr);
	text_add(out, "\n");
}

/* Those that the kernel gives to a link have no handle. */
static void show_qdisc(const struct nlmsghdr *h, void *arg, struct text *out)
{
	const struct netlink_scope *s = arg;
	const struct tcmsg *m = NLMSG_DATA(h);
	const struct rtattr *kind = find(attrs_of(h, sizeof(*m)), TCA_KIND);
	char name[IF_NAMESIZE];

	if (!kind || !m->tcm_handle)
		return;
	text_add(out, "%s qdisc %s parent %x:", s->prefix,
		 interface_name((unsigned)m->tcm_ifindex, name), m->tcm_parent);
	add_text(out, "kind", kind);
	text_add(out, "\n");
}

static void show_rdma(const struct nlmsghdr *h, void *arg, struct text *out)
{
	const struct netlink_scope *s = arg;
	const struct rtattr *name = find(attrs_of(h, 0), RDMA_NLDEV_ATTR_DEV_NAME);

	if (name)
		text_add(out, "%s rdma %s:\n", s->prefix, (const char *)RTA_DATA(name));
}

/* ---- all of it ---- */

static void route_lines(const struct netlink_scope *s, struct text *out)
{
	static const struct {
		struct ifinfomsg m;
		struct rtattr mask;
		unsigned value;
	} links = { .mask = { RTA_LENGTH(sizeof(unsigned)), IFLA_EXT_MASK },
		    .value = RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS };
	static const struct ndmsg proxies = { .ndm_flags = NTF_PROXY };
	static const char zero[sizeof(struct tcmsg)]; /* the longest header */
	static const struct {
		struct dump_request request;
		dump_fn show;
	} dumps[] = {
		{ { NETLINK_ROUTE, RTM_GETLINK, &links, sizeof(links) }, show_link },
		{ { NETLINK_ROUTE, RTM_GETADDR, zero, sizeof(struct ifaddrmsg) }, show_address },
		{ { NETLINK_ROUTE, RTM_GETROUTE, zero, sizeof(struct rtmsg) }, show_route },
		{ { NETLINK_ROUTE, RTM_GETRULE, zero, sizeof(struct fib_rule_hdr) }, show_rule },
		{ { NETLINK_ROUTE, RTM_GETNEIGH, zero, sizeof(struct ndmsg) }, show_neighbour },
		{ { NETLINK_ROUTE, RTM_GETNEIGH, &proxies, sizeof(proxies) }, show_neighbour },
		{ { NETLINK_ROUTE, RTM_GETQDISC, zero, sizeof(struct tcmsg) }, show_qdisc },
	};

	for (size_t i = 0; i < sizeof(dumps) / sizeof(*dumps); i++)
		netlink_dump(&dumps[i].request, dumps[i].show, (void *)(uintptr_t)s, out);
}

void netlink_lines(const struct netlink_scope *s, struct text *out)
{
	const struct dump_request devices = { NETLINK_RDMA,
					      RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET),
					      "", 0 };

	route_lines(s, out);
	if (s->rdma)
		netlink_dump(&devices, show_rdma, (void *)(uintptr_t)s, out);
}

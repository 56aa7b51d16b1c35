/* SPDX-License-Identifier: Apache-2.0 */
/* settings.c: reads, compares and restores the settings of an interface that a pod may change. */
#include "lib/net/settings.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <string.h>

#include "lib/net/nl_msg.h"

/* Newer than the headers of the oldest system that this is built on. */
#define ATTR_GSO_IPV4_MAX_SIZE 63
#define ATTR_GRO_IPV4_MAX_SIZE 64
#define ATTRS_MAX              127

#define FLAGS                                                                                      \
	(IFF_PROMISC | IFF_ALLMULTI | IFF_NOARP | IFF_MULTICAST | IFF_DYNAMIC | IFF_DEBUG |        \
	 IFF_NOTRAILERS | IFF_PORTSEL | IFF_AUTOMEDIA)

static const struct {
	const char *name;
	int attr;
	bool byte;
} numbers[LINK_NUMBERS] = {
	[LINK_TXQLEN] = { "txqlen", IFLA_TXQLEN, false },
	[LINK_GROUP] = { "group", IFLA_GROUP, false },
	[LINK_MODE] = { "linkMode", IFLA_LINKMODE, true },
	[LINK_GSO_SEGS] = { "gsoMaxSegs", IFLA_GSO_MAX_SEGS, false },
	[LINK_GSO_SIZE] = { "gsoMaxSize", IFLA_GSO_MAX_SIZE, false },
	[LINK_GRO_SIZE] = { "groMaxSize", IFLA_GRO_MAX_SIZE, false },
	[LINK_GSO_V4_SIZE] = { "gsoIpv4MaxSize", ATTR_GSO_IPV4_MAX_SIZE, false },
	[LINK_GRO_V4_SIZE] = { "groIpv4MaxSize", ATTR_GRO_IPV4_MAX_SIZE, false },
};

static const struct {
	unsigned bit;
	const char *name;
} flag_names[] = {
	{ IFF_PROMISC, "promisc" },     { IFF_ALLMULTI, "allmulti" },
	{ IFF_NOARP, "noarp" },         { IFF_MULTICAST, "multicast" },
	{ IFF_DYNAMIC, "dynamic" },     { IFF_DEBUG, "debug" },
	{ IFF_NOTRAILERS, "trailers" }, { IFF_PORTSEL, "portsel" },
	{ IFF_AUTOMEDIA, "automedia" },
};

static const char *const xdp_names[LINK_XDP_MODES] = { "xdpgeneric", "xdpdrv", "xdpoffload" };

const char *link_number_name(enum link_number n)
{
	return numbers[n].name;
}

/* ---- reading ---- */

/* The kernel reports the mode if there is one program, and the number of each if several. */
static int parse_xdp(struct nlattr *nest, struct link_settings *s)
{
	static const int ids[LINK_XDP_MODES] = { IFLA_XDP_SKB_PROG_ID, IFLA_XDP_DRV_PROG_ID,
						 IFLA_XDP_HW_PROG_ID };
	static const int modes[LINK_XDP_MODES] = { XDP_ATTACHED_SKB, XDP_ATTACHED_DRV,
						   XDP_ATTACHED_HW };
	static const struct nla_policy policy[IFLA_XDP_MAX + 1] = {
		[IFLA_XDP_ATTACHED] = { .type = NLA_U8 },
	};
	struct nlattr *tb[IFLA_XDP_MAX + 1];

	if (nla_parse_nested(tb, IFLA_XDP_MAX, nest, policy) < 0)
		return -1;
	int mode = tb[IFLA_XDP_ATTACHED] ? nla_get_u8(tb[IFLA_XDP_ATTACHED]) : XDP_ATTACHED_NONE;
	for (size_t i = 0; i < LINK_XDP_MODES; i++)
		s->xdp[i] = tb[ids[i]] || mode == modes[i];
	return 0;
}

static int net_parse_settings(const struct nlmsghdr *h, struct link_settings *s)
{
	struct nla_policy policy[ATTRS_MAX + 1] = {
		[IFLA_IFALIAS] = { .type = NLA_STRING },
		[IFLA_XDP] = { .type = NLA_NESTED },
	};
	struct nlattr *tb[ATTRS_MAX + 1];
	const struct ifinfomsg *ifi = nlmsg_data(h);

	for (size_t i = 0; i < LINK_NUMBERS; i++)
		policy[numbers[i].attr].type = numbers[i].byte ? NLA_U8 : NLA_U32;
	if (h->nlmsg_type != RTM_NEWLINK || nl_parse_attrs(h, sizeof(*ifi), tb, ATTRS_MAX, policy))
		return -1;
	*s = (struct link_settings){ .flags = ifi->ifi_flags & FLAGS };
	for (size_t i = 0; i < LINK_NUMBERS; i++) {
		const struct nlattr *a = tb[numbers[i].attr];

		if (!a)
			continue;
		s->has |= 1u << i;
		s->number[i] = numbers[i].byte ? nla_get_u8(a) : nla_get_u32(a);
	}
	if (tb[IFLA_IFALIAS])
		(void)nla_strlcpy(s->alias, tb[IFLA_IFALIAS], sizeof(s->alias));
	if (tb[IFLA_BROADCAST])
		s->broadcast = hw_addr_make(nla_data(tb[IFLA_BROADCAST]),
					    (size_t)nla_len(tb[IFLA_BROADCAST]));
	return tb[IFLA_XDP] ? parse_xdp(tb[IFLA_XDP], s) : 0;
}

static int on_settings_link(const struct nlmsghdr *h, void *arg, struct err *e)
{
	if (net_parse_settings(h, arg))
		return err_set(e, ERR_KERNEL, EBADMSG, "read the kernel's description");
	return 0;
}

int nl_settings_get(struct nl *nl, int ifindex, struct link_settings *out, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };

	/* Index 0 means "by name" to the kernel, and there is no name. */
	if (ifindex <= 0)
		return err_set(e, ERR_KERNEL, ENODEV, "interface number %d", ifindex);
	nl_link_get_request(&rq, NULL, ifindex);
	if (nl_get(nl, &rq, (struct nl_sink){ on_settings_link, out }, e))
		return err_wrap(e, "settings of interface number %d", ifindex);
	return 0;
}

/* ---- comparing ---- */

static bool same_number(const struct link_settings *a, const struct link_settings *b, size_t n)
{
	return !(a->has & b->has & 1u << n) || a->number[n] == b->number[n];
}

static bool same_broadcast(const struct link_settings *a, const struct link_settings *b)
{
	return !a->broadcast.len || !b->broadcast.len || hw_addr_equal(a->broadcast, b->broadcast);
}

const char *settings_changed(const struct link_settings *is, const struct link_settings *want,
			     size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(flag_names); i++) {
		if (((is->flags ^ want->flags) & flag_names[i].bit) && n-- == 0)
			return flag_names[i].name;
	}
	for (size_t i = 0; i < LINK_NUMBERS; i++) {
		if (!same_number(is, want, i) && n-- == 0)
			return numbers[i].name;
	}
	if (strcmp(is->alias, want->alias) != 0 && n-- == 0)
		return "alias";
	if (!same_broadcast(is, want) && n-- == 0)
		return "broadcast";
	for (size_t i = 0; i < LINK_XDP_MODES; i++) {
		if (is->xdp[i] != want->xdp[i] && n-- == 0)
			return xdp_names[i];
	}
	return NULL;
}

/* ---- putting back ---- */

struct settings_job {
	struct nl *nl;
	int ifindex;
	const struct settings_change *put;
};

static void send_it(const struct settings_job *j, struct nl_req *rq, const char *what)
{
	struct err why;

	if (nl_request(j->nl, rq, &why))
		j->put->refused(what, &why, j->put->arg);
}

static void put_flag(const struct settings_job *j, unsigned bit, const char *what)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { .ifi_index = j->ifindex,
				 .ifi_flags = j->put->want->flags & bit,
				 .ifi_change = bit };

	if (!((j->put->is->flags ^ j->put->want->flags) & bit))
		return;
	nl_req_begin(&rq, RTM_NEWLINK, 0, &ifi, sizeof(ifi));
	send_it(j, &rq, what);
}

static void put_attr(const struct settings_job *j, int attr, const void *data, size_t len,
		     const char *what)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { .ifi_index = j->ifindex };

	nl_req_begin(&rq, RTM_SETLINK, 0, &ifi, sizeof(ifi));
	nl_req_put(&rq, attr, data, len);
	send_it(j, &rq, what);
}

static void put_number(const struct settings_job *j, size_t n)
{
	const uint32_t value = j->put->want->number[n];
	const uint8_t byte = (uint8_t)value;

	if (same_number(j->put->is, j->put->want, n))
		return;
	if (numbers[n].byte)
		put_attr(j, numbers[n].attr, &byte, sizeof(byte), numbers[n].name);
	else
		put_attr(j, numbers[n].attr, &value, sizeof(value), numbers[n].name);
}

static void remove_xdp(const struct settings_job *j, size_t mode)
{
	static const uint32_t flags[LINK_XDP_MODES] = { XDP_FLAGS_SKB_MODE, XDP_FLAGS_DRV_MODE,
							XDP_FLAGS_HW_MODE };
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { .ifi_index = j->ifindex };

	if (!j->put->is->xdp[mode] || j->put->want->xdp[mode])
		return;
	nl_req_begin(&rq, RTM_SETLINK, 0, &ifi, sizeof(ifi));
	struct nlattr *nest = nl_req_nest(&rq, IFLA_XDP | NLA_F_NESTED);
	nl_req_put_u32(&rq, IFLA_XDP_FD, (uint32_t)-1);
	nl_req_put_u32(&rq, IFLA_XDP_FLAGS, flags[mode]);
	nl_req_nest_end(&rq, nest);
	send_it(j, &rq, xdp_names[mode]);
}

void nl_settings_set(struct nl *nl, int ifindex, const struct settings_change *put)
{
	const struct settings_job j = { nl, ifindex, put };
	const struct link_settings *want = put->want;

	for (size_t i = 0; i < LINK_XDP_MODES; i++)
		remove_xdp(&j, i);
	for (size_t i = 0; i < ARRAY_SIZE(flag_names); i++)
		put_flag(&j, flag_names[i].bit, flag_names[i].name);
	for (size_t i = 0; i < LINK_NUMBERS; i++)
		put_number(&j, i);
	/* Without its NUL; of no length it takes the alias away. */
	if (strcmp(put->is->alias, want->alias) != 0)
		put_attr(&j, IFLA_IFALIAS, want->alias, strlen(want->alias), "alias");
	if (!same_broadcast(put->is, want))
		put_attr(&j, IFLA_BROADCAST, want->broadcast.byte, want->broadcast.len,
			 "broadcast");
}

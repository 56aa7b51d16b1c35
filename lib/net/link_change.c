/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_change.c: sets an interface up or down, moves and renames it, and changes its MAC and MTU.
 */
#include "lib/net/link.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <linux/if.h>
#include <string.h>
#include <sys/ioctl.h>

#include "lib/sys/netns.h"
#include "lib/net/nl_msg.h"

_Static_assert(LINK_ALTNAME_LEN == ALTIFNAMSIZ, "length of an alternative name");

/* ---- changing, deleting ---- */

static int set_flags(struct nl *nl, int ifindex, unsigned flags, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = {
		.ifi_index = ifindex,
		.ifi_flags = flags,
		.ifi_change = IFF_UP,
	};

	nl_req_begin(&rq, RTM_NEWLINK, 0, &ifi, sizeof(ifi));
	return nl_request(nl, &rq, e);
}

int nl_link_set_up(struct nl *nl, int ifindex, struct err *e)
{
	if (set_flags(nl, ifindex, IFF_UP, e))
		return err_wrap(e, "set interface number %d up", ifindex);
	return 0;
}

int nl_link_set_down(struct nl *nl, int ifindex, struct err *e)
{
	if (set_flags(nl, ifindex, 0, e))
		return err_wrap(e, "set interface number %d down", ifindex);
	return 0;
}

static int set_attr(struct nl *nl, int ifindex, int attr, struct slice data, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { .ifi_index = ifindex };

	nl_req_begin(&rq, RTM_SETLINK, 0, &ifi, sizeof(ifi));
	nl_req_put(&rq, attr, data.p, data.len);
	return nl_request(nl, &rq, e);
}

int nl_link_set_hw_addr(struct nl *nl, int ifindex, struct hw_addr addr, struct err *e)
{
	const struct slice bytes = { (const char *)addr.byte, addr.len };
	char text[HW_ADDR_STR_LEN];

	if (set_attr(nl, ifindex, IFLA_ADDRESS, bytes, e))
		return err_wrap(e, "set MAC %s of interface number %d", hw_addr_format(addr, text),
				ifindex);
	return 0;
}

int nl_link_set_mtu(struct nl *nl, int ifindex, uint32_t mtu, struct err *e)
{
	const struct slice bytes = { (const char *)&mtu, sizeof(mtu) };

	if (set_attr(nl, ifindex, IFLA_MTU, bytes, e))
		return err_wrap(e, "set MTU %u of interface number %d", mtu, ifindex);
	return 0;
}

int nl_link_set_alias(struct nl *nl, int ifindex, const char *alias, struct err *e)
{
	/* Without its NUL, as ip-link(8) sends it. */
	if (set_attr(nl, ifindex, IFLA_IFALIAS, (struct slice){ alias, strlen(alias) }, e))
		return err_wrap(e, "set alias \"%s\" of interface number %d", alias, ifindex);
	return 0;
}

int nl_link_set_master(struct nl *nl, int ifindex, int master, struct err *e)
{
	const struct slice bytes = { (const char *)&master, sizeof(master) };

	if (set_attr(nl, ifindex, IFLA_MASTER, bytes, e))
		return err_wrap(e, "set interface number %d as master of interface number %d",
				master, ifindex);
	return 0;
}

int nl_link_delete(struct nl *nl, int ifindex, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { .ifi_index = ifindex };
	struct err why;

	nl_req_begin(&rq, RTM_DELLINK, 0, &ifi, sizeof(ifi));
	if (nl_request(nl, &rq, &why) == 0 || why.errnum == ENODEV)
		return 0;
	*e = why;
	return err_wrap(e, "delete interface number %d", ifindex);
}

/* Groups are small numbers by convention. The number of an interface makes this one its own. */
#define DELETE_GROUP 0x80000000U

/* Of a request without an interface, the kernel deletes all interfaces of a group. */
static int delete_group(struct nl *nl, uint32_t group, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { .ifi_index = 0 };

	nl_req_begin(&rq, RTM_DELLINK, 0, &ifi, sizeof(ifi));
	nl_req_put_u32(&rq, IFLA_GROUP, group);
	return nl_request(nl, &rq, e);
}

int nl_link_delete_all(struct nl *nl, const int *ifindex, size_t n, struct err *e)
{
	const uint32_t group = n > 1 ? DELETE_GROUP | (uint32_t)ifindex[0] : 0;
	const struct slice bytes = { (const char *)&group, sizeof(group) };
	struct err ignored, why;
	size_t in_group = 0;
	int rc = 0;

	for (size_t i = 0; n > 1 && i < n; i++)
		in_group += set_attr(nl, ifindex[i], IFLA_GROUP, bytes, &ignored) == 0;
	if (in_group && delete_group(nl, group, &ignored) == 0 && in_group == n)
		return 0;
	/* What is left, one by one: a kernel or an interface that knows no group. */
	for (size_t i = 0; i < n; i++) {
		if (nl_link_delete(nl, ifindex[i], &why) && rc == 0) {
			*e = why;
			rc = -1;
		}
	}
	return rc;
}

/* ---- moving ---- */

static int move_to(struct nl *nl, int ifindex, int netns_fd, const char *name, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { .ifi_index = ifindex };

	nl_req_begin(&rq, RTM_SETLINK, 0, &ifi, sizeof(ifi));
	nl_req_put_u32(&rq, IFLA_NET_NS_FD, (uint32_t)netns_fd);
	nl_req_put_str(&rq, IFLA_IFNAME, name);
	return nl_request(nl, &rq, e);
}

/* From target, where it has its old name, to the namespace of the socket. */
static int bring_back(struct nl *nl, const struct link_info *was, const struct netns *target,
		      struct err *e)
{
	auto_fd int origin = ioctl(nl->fd, SIOCGSKNS);
	auto_netns struct netns self = { .fd = -1 };
	auto_nl struct nl *there = NULL;
	struct link_info li;

	if (origin < 0)
		return err_set(e, ERR_KERNEL, errno, "network namespace of a netlink socket");
	if (netns_open_self(&self, e) || nl_open_in(target, &self, &there, e) ||
	    nl_link_by_name(there, was->name, &li, e) ||
	    move_to(there, li.ifindex, origin, was->name, e))
		return -1;
	return was->flags & IFF_UP ? nl_link_set_up(nl, li.ifindex, e) : 0;
}

/*
 * The kernel asks whether the old name is free in target, moves, and only then renames: when the
 * new name is taken, the device stays there under its old one (dev_change_net_namespace() and
 * do_setlink(); up to 6.18 at least).
 */
static void undo_half_a_move(struct nl *nl, const struct link_info *was, const struct netns *target,
			     struct err *e)
{
	struct link_info now;
	struct err back;

	if (nl_link_by_index(nl, was->ifindex, &now, &back) == 0 || back.errnum != ENODEV)
		return;
	if (bring_back(nl, was, target, &back))
		(void)err_hint(e, "it is now in the other network namespace as \"%s\": %s",
			       was->name, back.msg);
}

static int explain_move(const struct link_info *was, const char *name, struct err *e)
{
	if (e->errnum == EEXIST)
		err_hint(e, "\"%s\", or an alternative name of the device, is taken there", name);
	else if (e->errnum == EINVAL)
		err_hint(e, "this device may not leave its network namespace");
	else if (e->errnum == EBUSY)
		err_hint(e, "this kernel renames an interface only while it is down");
	return err_wrap(e, "move interface \"%s\", as \"%s\"", was->name, name);
}

int nl_link_move(struct nl *nl, int ifindex, const struct netns *target, const char *name,
		 struct err *e)
{
	const char *problem = ifname_problem(name);
	struct link_info was;

	if (problem) {
		err_set(e, ERR_FIELD, 0, "move an interface, as \"%s\": %s", name, problem);
		e->errnum = EINVAL;
		return -1;
	}
	if (nl_link_by_index(nl, ifindex, &was, e))
		return -1;
	if (move_to(nl, ifindex, target->fd, name, e) == 0)
		return 0;
	undo_half_a_move(nl, &was, target, e);
	return explain_move(&was, name, e);
}

/* ---- alternative names ---- */

struct altname {
	char text[ALTIFNAMSIZ];
};

static int on_altnames(const struct nlmsghdr *h, void *arg, struct err *e)
{
	static const struct nla_policy policy[IFLA_MAX + 1] = {
		[IFLA_PROP_LIST] = { .type = NLA_NESTED },
	};
	struct nlattr *tb[IFLA_MAX + 1], *prop;
	struct altname name;
	int left;

	if (h->nlmsg_type != RTM_NEWLINK ||
	    nl_parse_attrs(h, sizeof(struct ifinfomsg), tb, IFLA_MAX, policy))
		return err_set(e, ERR_KERNEL, EBADMSG, "read the kernel's description");
	if (!tb[IFLA_PROP_LIST])
		return 0;
	nla_for_each_nested(prop, tb[IFLA_PROP_LIST], left)
	{
		if (nla_type(prop) != IFLA_ALT_IFNAME)
			continue;
		if (nla_strlcpy(name.text, prop, sizeof(name.text)) >= sizeof(name.text))
			return err_set(e, ERR_KERNEL, EBADMSG, "read an alternative name");
		if (nl_list_add(arg, &name, sizeof(name), e))
			return -1;
	}
	return 0;
}

int nl_link_altnames(struct nl *nl, int ifindex, link_altname_fn fn, void *arg, struct err *e)
{
	auto_clean(nl_list_clear) struct nl_list all = { 0 };
	auto_nl_req struct nl_req rq = { 0 };

	/* Index 0 means "by name" to the kernel, and there is no name. */
	if (ifindex <= 0)
		return err_set(e, ERR_KERNEL, ENODEV, "interface number %d", ifindex);
	nl_link_get_request(&rq, NULL, ifindex);
	if (nl_get(nl, &rq, (struct nl_sink){ on_altnames, &all }, e))
		return err_wrap(e, "alternative names of interface number %d", ifindex);
	for (size_t i = 0; i < all.n; i++)
		if (fn(((struct altname *)all.items)[i].text, arg))
			break;
	return 0;
}

struct altname_search {
	const char *name;
	bool found;
};

static int match_altname(const char *name, void *arg)
{
	struct altname_search *s = arg;

	s->found = !strcmp(name, s->name);
	return s->found;
}

/* Whether it stands as wanted after a refusal: the kernel also refuses what is so already. */
static bool altname_is_as_wanted(struct nl *nl, int ifindex, const char *name, bool wanted)
{
	struct altname_search s = { .name = name };
	struct err ignored;

	return nl_link_altnames(nl, ifindex, match_altname, &s, &ignored) == 0 && s.found == wanted;
}

static int change_altname(struct nl *nl, int ifindex, int type, const char *name, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { .ifi_index = ifindex };
	struct err why;
	bool add = type == RTM_NEWLINKPROP;

	if (strnlen(name, ALTIFNAMSIZ) == ALTIFNAMSIZ)
		return err_set(e, ERR_FIELD, ERANGE, "alternative name \"%.32s...\"", name);
	nl_req_begin(&rq, type, add ? NLM_F_CREATE | NLM_F_EXCL : 0, &ifi, sizeof(ifi));

	struct nlattr *list = nl_req_nest(&rq, IFLA_PROP_LIST | NLA_F_NESTED);

	nl_req_put_str(&rq, IFLA_ALT_IFNAME, name);
	nl_req_nest_end(&rq, list);
	if (nl_request(nl, &rq, &why) == 0)
		return 0;
	if (why.code != ERR_NOMEM && altname_is_as_wanted(nl, ifindex, name, add))
		return 0;
	*e = why;
	return err_wrap(e, "%s alternative name \"%s\" %s interface number %d",
			add ? "give" : "take", name, add ? "to" : "from", ifindex);
}

int nl_link_altname_add(struct nl *nl, int ifindex, const char *name, struct err *e)
{
	return change_altname(nl, ifindex, RTM_NEWLINKPROP, name, e);
}

int nl_link_altname_del(struct nl *nl, int ifindex, const char *name, struct err *e)
{
	return change_altname(nl, ifindex, RTM_DELLINKPROP, name, e);
}

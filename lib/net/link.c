/* SPDX-License-Identifier: Apache-2.0 */
/* link.c: finds and creates network interfaces. */
#include "lib/net/link.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/net_namespace.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/random.h>

#include "lib/sys/netns.h"
#include "lib/net/link_priv.h"
#include "lib/net/nl_msg.h"

_Static_assert(IFNAME_LEN == IFNAMSIZ, "length of an interface name");

bool link_is_ethernet(const struct link_info *link)
{
	return link->type == ARPHRD_ETHER && hw_addr_is_mac(link->addr);
}

bool link_is_ipoib(const struct link_info *link)
{
	return link->type == ARPHRD_INFINIBAND && link->addr.len == HW_ADDR_MAX;
}

/* ---- looking up ---- */

static int parse_linkinfo(struct nlattr *nest, struct link_info *li)
{
	static const struct nla_policy policy[IFLA_INFO_MAX + 1] = {
		[IFLA_INFO_KIND] = { .type = NLA_STRING },
		[IFLA_INFO_DATA] = { .type = NLA_NESTED },
	};
	struct nlattr *tb[IFLA_INFO_MAX + 1];

	if (nla_parse_nested(tb, IFLA_INFO_MAX, nest, policy) < 0)
		return -1;
	if (tb[IFLA_INFO_KIND])
		(void)nla_strlcpy(li->kind, tb[IFLA_INFO_KIND], sizeof(li->kind));

	const struct link_kind *kind = link_kind_find(li->kind);

	if (!kind || !tb[IFLA_INFO_DATA])
		return 0;
	return link_kind_parse(kind, tb[IFLA_INFO_DATA], &li->data);
}

static struct hw_addr parse_hw_addr(const struct nlattr *a)
{
	return a ? hw_addr_make(nla_data(a), (size_t)nla_len(a)) : (struct hw_addr){ 0 };
}

static int net_parse_link(const struct nlmsghdr *h, struct link_info *li)
{
	static const struct nla_policy policy[IFLA_MAX + 1] = {
		[IFLA_IFNAME] = { .type = NLA_STRING },
		[IFLA_LINK_NETNSID] = { .type = NLA_S32 },
		[IFLA_LINK] = { .type = NLA_U32 },
		[IFLA_MASTER] = { .type = NLA_U32 },
		[IFLA_MTU] = { .type = NLA_U32 },
		[IFLA_ADDRESS] = { .type = NLA_UNSPEC },
		[IFLA_LINKINFO] = { .type = NLA_NESTED },
		[IFLA_BROADCAST] = { .type = NLA_UNSPEC },
		[IFLA_PERM_ADDRESS] = { .type = NLA_UNSPEC },
		[IFLA_PARENT_DEV_NAME] = { .type = NLA_STRING },
		[IFLA_PHYS_PORT_NAME] = { .type = NLA_STRING },
		[IFLA_IFALIAS] = { .type = NLA_STRING },
		[IFLA_CARRIER_DOWN_COUNT] = { .type = NLA_U32 },
	};
	struct nlattr *tb[IFLA_MAX + 1];
	const struct ifinfomsg *ifi = nlmsg_data(h);

	if (h->nlmsg_type != RTM_NEWLINK || nl_parse_attrs(h, sizeof(*ifi), tb, IFLA_MAX, policy) ||
	    !tb[IFLA_IFNAME])
		return -1;
	*li = (struct link_info){ .ifindex = ifi->ifi_index,
				  .flags = ifi->ifi_flags,
				  .type = ifi->ifi_type };
	memset(&li->data, 0xff, sizeof(li->data)); /* LINK_DATA_UNKNOWN */
	(void)nla_strlcpy(li->name, tb[IFLA_IFNAME], sizeof(li->name));
	li->lower_nsid = -1;
	if (tb[IFLA_LINK_NETNSID])
		li->lower_nsid = nla_get_s32(tb[IFLA_LINK_NETNSID]);
	if (tb[IFLA_LINK])
		li->lower_ifindex = (int)nla_get_u32(tb[IFLA_LINK]);
	if (tb[IFLA_MASTER])
		li->upper_ifindex = (int)nla_get_u32(tb[IFLA_MASTER]);
	if (tb[IFLA_MTU])
		li->mtu = nla_get_u32(tb[IFLA_MTU]);
	if (tb[IFLA_CARRIER_DOWN_COUNT])
		li->carrier_downs = nla_get_u32(tb[IFLA_CARRIER_DOWN_COUNT]);
	li->addr = parse_hw_addr(tb[IFLA_ADDRESS]);
	li->broadcast = parse_hw_addr(tb[IFLA_BROADCAST]);
	li->perm_addr = parse_hw_addr(tb[IFLA_PERM_ADDRESS]);
	/* Half a name would be another device's. */
	if (tb[IFLA_PARENT_DEV_NAME] &&
	    nla_strlcpy(li->parent, tb[IFLA_PARENT_DEV_NAME], PARENT_DEV_LEN) >= PARENT_DEV_LEN)
		li->parent[0] = '\0';
	if (tb[IFLA_PHYS_PORT_NAME] &&
	    nla_strlcpy(li->port, tb[IFLA_PHYS_PORT_NAME], IFNAME_LEN) >= IFNAME_LEN)
		li->port[0] = '\0';
	/* The same holds for an alias. */
	if (tb[IFLA_IFALIAS] &&
	    nla_strlcpy(li->alias, tb[IFLA_IFALIAS], LINK_ALIAS_LEN) >= LINK_ALIAS_LEN)
		li->alias[0] = '\0';
	return tb[IFLA_LINKINFO] ? parse_linkinfo(tb[IFLA_LINKINFO], li) : 0;
}

static int on_net_link(const struct nlmsghdr *h, void *arg, struct err *e)
{
	struct link_info li;

	if (net_parse_link(h, &li))
		return err_set(e, ERR_KERNEL, EBADMSG, "read the kernel's description");
	*(struct link_info *)arg = li;
	return 0;
}

/*
 * No IFLA_EXT_MASK: whoever asks for RTEXT_FILTER_VF gets the statistics of every VF (nl.h). The
 * kernel (5.5 and later) matches alternative names with IFLA_IFNAME, too. It refuses longer names
 * there (ERANGE), and takes them in IFLA_ALT_IFNAME.
 */
void nl_link_get_request(struct nl_req *rq, const char *name, int ifindex)
{
	struct ifinfomsg ifi = { .ifi_index = ifindex };

	nl_req_begin(rq, RTM_GETLINK, 0, &ifi, sizeof(ifi));
	if (name)
		nl_req_put_str(rq, strlen(name) < IFNAME_LEN ? IFLA_IFNAME : IFLA_ALT_IFNAME, name);
}

int nl_link_by_any_name(struct nl *nl, const char *name, struct link_info *out, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };

	/* No link can have a longer name, and the kernel would say ERANGE. */
	if (strnlen(name, LINK_ALTNAME_LEN) == LINK_ALTNAME_LEN)
		return err_set(e, ERR_KERNEL, ENODEV, "interface \"%s\"", name);
	nl_link_get_request(&rq, name, 0);
	if (nl_get(nl, &rq, (struct nl_sink){ on_net_link, out }, e))
		return err_wrap(e, "interface \"%s\"", name);
	return 0;
}

int nl_link_by_name(struct nl *nl, const char *name, struct link_info *out, struct err *e)
{
	struct link_info li;

	if (nl_link_by_any_name(nl, name, &li, e))
		return -1;
	if (strcmp(li.name, name) != 0) {
		err_set(e, ERR_KERNEL, ENODEV, "interface \"%s\"", name);
		return err_hint(e, "it is an alternative name of interface %s", li.name);
	}
	*out = li;
	return 0;
}

int nl_link_by_index(struct nl *nl, int ifindex, struct link_info *out, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };

	/* Index 0 means "by name" to the kernel, and there is no name. */
	if (ifindex <= 0)
		return err_set(e, ERR_KERNEL, ENODEV, "interface number %d", ifindex);
	nl_link_get_request(&rq, NULL, ifindex);
	if (nl_get(nl, &rq, (struct nl_sink){ on_net_link, out }, e))
		return err_wrap(e, "interface number %d", ifindex);
	return 0;
}

/* ---- all of a kind ---- */

struct link_scan {
	const char *kind;
	struct nl_list all; /* of struct link_info */
};

/* Of other kinds, too: the kernel ignores a filter whose kind it does not have. */
static int on_any_link(const struct nlmsghdr *h, void *arg, struct err *e)
{
	struct link_scan *s = arg;
	struct link_info li;

	if (!h) {
		s->all.n = 0;
		return 0;
	}
	if (net_parse_link(h, &li))
		return err_set(e, ERR_KERNEL, EBADMSG, "read the kernel's description");
	return !s->kind || strcmp(li.kind, s->kind) == 0 ? nl_list_add(&s->all, &li, sizeof(li), e)
							 : 0;
}

int nl_link_each(struct nl *nl, const char *kind, link_fn fn, void *arg, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { 0 };
	struct link_scan s = { .kind = kind };

	nl_req_begin(&rq, RTM_GETLINK, 0, &ifi, sizeof(ifi));

	if (kind) {
		struct nlattr *info = nl_req_nest(&rq, IFLA_LINKINFO);

		nl_req_put_str(&rq, IFLA_INFO_KIND, kind);
		nl_req_nest_end(&rq, info);
	}

	int rc = nl_get_dump(nl, &rq, (struct nl_sink){ on_any_link, &s }, e);
	const struct link_info *li = s.all.items;
	for (size_t i = 0; rc == 0 && i < s.all.n; i++) {
		if (fn(&li[i], arg))
			break;
	}
	nl_list_clear(&s.all);
	return rc ? err_wrap(e, "interfaces of kind %s", kind ? kind : "any") : 0;
}

/* ---- the namespace of a lower device ---- */

static int on_nsid(const struct nlmsghdr *h, void *arg, struct err *e)
{
	static const struct nla_policy policy[NETNSA_MAX + 1] = {
		[NETNSA_NSID] = { .type = NLA_S32 },
	};
	struct nlattr *tb[NETNSA_MAX + 1];

	if (h->nlmsg_type != RTM_NEWNSID ||
	    nl_parse_attrs(h, sizeof(struct rtgenmsg), tb, NETNSA_MAX, policy) || !tb[NETNSA_NSID])
		return err_set(e, ERR_KERNEL, EBADMSG, "read the kernel's answer");
	*(int *)arg = nla_get_s32(tb[NETNSA_NSID]);
	return 0;
}

int nl_link_nsid(struct nl *nl, const struct netns *ns, int *out, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct rtgenmsg head = { .rtgen_family = AF_UNSPEC };

	nl_req_begin(&rq, RTM_GETNSID, 0, &head, sizeof(head));
	nl_req_put_u32(&rq, NETNSA_FD, (uint32_t)ns->fd);
	if (nl_get(nl, &rq, (struct nl_sink){ on_nsid, out }, e))
		return err_wrap(e, "number of a network namespace");
	return 0;
}

/* ---- creating ---- */

int nl_link_create_as(struct nl *nl, const struct link_spec *spec, int ifindex, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { .ifi_index = ifindex };
	const struct link_kind *kind;

	if (link_kind_require(spec->kind, &kind, e))
		return -1;
	nl_req_begin(&rq, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &ifi, sizeof(ifi));
	nl_req_put_u32(&rq, IFLA_LINK, (uint32_t)spec->lower_ifindex);
	nl_req_put_str(&rq, IFLA_IFNAME, spec->name);
	if (spec->target)
		nl_req_put_u32(&rq, IFLA_NET_NS_FD, (uint32_t)spec->target->fd);
	if (spec->mtu)
		nl_req_put_u32(&rq, IFLA_MTU, spec->mtu);
	if (spec->addr.len)
		nl_req_put(&rq, IFLA_ADDRESS, spec->addr.byte, spec->addr.len);
	link_kind_put(&rq, kind, &spec->data);
	return nl_request(nl, &rq, e);
}

int nl_link_choose_ifindex(void)
{
	uint32_t r = 0;

	/* Whole for requests this small once the machine is up; and any number would do. */
	if (getrandom(&r, sizeof(r), 0) < 0)
		r = (uint32_t)getpid();
	return (int)(UINT32_C(0x1000000) | (r & 0xffffff));
}

/*
 * Kernels before 6.14 look the new name up in the namespace of the *socket*. An eth0 for the pod
 * then fails with EEXIST if the host has an eth0. With an interface number, they look up the number
 * instead, and only names in the target count. So on that conflict we choose a random number, far
 * above those that the kernel assigns.
 */
static int create_despite_own_name(struct nl *nl, const struct link_spec *spec, struct err *e)
{
	struct link_info own;
	struct err ignored;

	if (!spec->target || spec->ifindex || nl_link_by_any_name(nl, spec->name, &own, &ignored))
		return -1;
	for (int i = 0; i < 3; i++) {
		if (nl_link_create_as(nl, spec, nl_link_choose_ifindex(), e) == 0)
			return 0;
		if (e->errnum != EBUSY)
			break;
	}
	return -1;
}

int nl_link_create(struct nl *nl, const struct link_spec *spec, struct err *e)
{
	const char *problem = ifname_problem(spec->name);
	struct err why;

	if (problem) {
		err_set(e, ERR_FIELD, 0, "create %s \"%s\": %s", spec->kind, spec->name, problem);
		e->errnum = EINVAL;
		return -1;
	}
	if (nl_link_create_as(nl, spec, spec->ifindex, &why) == 0)
		return 0;
	if (why.errnum == EEXIST && create_despite_own_name(nl, spec, &why) == 0)
		return 0;
	*e = why;
	if (e->code == ERR_KERNEL && e->errnum == EOPNOTSUPP)
		err_hint(e, "this kernel has no %s: load or install the module", spec->kind);
	if (e->errnum == EEXIST)
		err_hint(e, "the name is taken in that network namespace");
	return err_wrap(e, "create %s \"%s\"", spec->kind, spec->name);
}

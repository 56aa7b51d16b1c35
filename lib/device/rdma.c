/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdma.c: reads RDMA devices, ports, character devices and the mode of network namespaces from the
 * kernel. Changes are in rdma_change.c.
 */
#include "lib/device/rdma.h"

#include <errno.h>
#include <string.h>

#include "lib/net/nl_msg.h"
#include "lib/device/rdma_compat.h"

static const struct nla_policy policy[RDMA_ATTR_TOP + 1] = {
	[RDMA_NLDEV_ATTR_DEV_INDEX] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_DEV_NAME] = { .type = NLA_STRING },
	[RDMA_NLDEV_ATTR_PORT_INDEX] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_FW_VERSION] = { .type = NLA_STRING },
	[RDMA_NLDEV_ATTR_NODE_GUID] = { .type = NLA_U64 },
	[RDMA_NLDEV_ATTR_SUBNET_PREFIX] = { .type = NLA_U64 },
	[RDMA_NLDEV_ATTR_LID] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_SM_LID] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_LMC] = { .type = NLA_U8 },
	[RDMA_NLDEV_ATTR_PORT_STATE] = { .type = NLA_U8 },
	[RDMA_NLDEV_ATTR_PORT_PHYS_STATE] = { .type = NLA_U8 },
	[RDMA_NLDEV_ATTR_DEV_NODE_TYPE] = { .type = NLA_U8 },
	[RDMA_NLDEV_ATTR_NDEV_INDEX] = { .type = NLA_U32 },
	[RDMA_NLDEV_ATTR_DEV_PROTOCOL] = { .type = NLA_STRING },
	[RDMA_NLDEV_SYS_ATTR_NETNS_MODE] = { .type = NLA_U8 },
	[RDMA_NLDEV_ATTR_CHARDEV_NAME] = { .type = NLA_STRING },
	[RDMA_NLDEV_ATTR_CHARDEV] = { .type = NLA_U64 },
	[RDMA_NLDEV_ATTR_RES_QP] = { .type = NLA_NESTED },
	[RDMA_NLDEV_ATTR_RES_TYPE] = { .type = NLA_U8 },
	[RDMA_NLDEV_ATTR_RES_STATE] = { .type = NLA_U8 },
	[RDMA_NLDEV_ATTR_RES_PID] = { .type = NLA_U32 },
	[COMPAT_RDMA_SYS_ATTR_MONITOR] = { .type = NLA_U8 },
};

/* ---- sockets ---- */

static int no_rdma(struct err *e)
{
	if (e->errnum != EPROTONOSUPPORT)
		return err_wrap(e, "RDMA netlink");
	err_set(e, ERR_NOTFOUND, EPROTONOSUPPORT, "this kernel has no RDMA");
	return err_hint(e, "load ib_core, or the driver of the NIC, which loads it");
}

int nl_rdma_open(struct nl **out, struct err *e)
{
	return nl_open_protocol(NETLINK_RDMA, 0, out, e) ? no_rdma(e) : 0;
}

int nl_rdma_open_in(const struct netns *ns, const struct netns *host, struct nl **out,
		    struct err *e)
{
	return nl_open_protocol_in(ns, host, NETLINK_RDMA, out, e) ? no_rdma(e) : 0;
}

/* ---- decoding ---- */

static int refuse_unreadable(struct err *e)
{
	return err_set(e, ERR_KERNEL, EBADMSG, "read the kernel's description");
}

static int parse_attrs(const struct nlmsghdr *h, struct nlattr **tb, struct err *e)
{
	return nl_parse_attrs(h, 0, tb, RDMA_ATTR_TOP, policy) ? refuse_unreadable(e) : 0;
}

/* Text that does not fit would name something else. */
static bool parse_str(const struct nlattr *a, char *out, size_t size)
{
	size_t len;

	if (!a)
		return false;
	len = strnlen(nla_data(a), (size_t)nla_len(a));
	if (!len || len >= size)
		return false;
	memcpy(out, nla_data(a), len);
	out[len] = '\0';
	return true;
}

static uint32_t u32_or_0(const struct nlattr *a)
{
	return a ? nla_get_u32(a) : 0;
}

static int parse_link(const struct nlmsghdr *h, struct rdma_link *d, struct err *e)
{
	struct nlattr *tb[RDMA_ATTR_TOP + 1];

	if (parse_attrs(h, tb, e))
		return -1;
	*d = (struct rdma_link){ .ports = u32_or_0(tb[RDMA_NLDEV_ATTR_PORT_INDEX]) };
	if (!tb[RDMA_NLDEV_ATTR_DEV_INDEX] ||
	    !parse_str(tb[RDMA_NLDEV_ATTR_DEV_NAME], d->name, sizeof(d->name)))
		return refuse_unreadable(e);
	d->index = nla_get_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
	if (tb[RDMA_NLDEV_ATTR_NODE_GUID])
		d->node_guid = nla_get_u64(tb[RDMA_NLDEV_ATTR_NODE_GUID]);
	if (tb[RDMA_NLDEV_ATTR_DEV_NODE_TYPE])
		d->node_type = nla_get_u8(tb[RDMA_NLDEV_ATTR_DEV_NODE_TYPE]);
	(void)parse_str(tb[RDMA_NLDEV_ATTR_DEV_PROTOCOL], d->protocol, sizeof(d->protocol));
	(void)parse_str(tb[RDMA_NLDEV_ATTR_FW_VERSION], d->fw_version, sizeof(d->fw_version));
	return 0;
}

/* The kernel reports them of ports that speak InfiniBand, and of no others. */
static void parse_subnet(struct nlattr *const *tb, struct ib_subnet *out)
{
	const struct nlattr *lmc = tb[RDMA_NLDEV_ATTR_LMC];
	const struct nlattr *prefix = tb[RDMA_NLDEV_ATTR_SUBNET_PREFIX];

	out->known = tb[RDMA_NLDEV_ATTR_LID] && tb[RDMA_NLDEV_ATTR_SM_LID];
	out->lid = u32_or_0(tb[RDMA_NLDEV_ATTR_LID]);
	out->sm_lid = u32_or_0(tb[RDMA_NLDEV_ATTR_SM_LID]);
	out->lmc = lmc ? nla_get_u8(lmc) : 0;
	out->prefix = prefix ? nla_get_u64(prefix) : 0;
}

static int parse_port(const struct nlmsghdr *h, struct rdma_port *p, struct err *e)
{
	struct nlattr *tb[RDMA_ATTR_TOP + 1];
	uint32_t ifindex;

	if (parse_attrs(h, tb, e))
		return -1;
	ifindex = u32_or_0(tb[RDMA_NLDEV_ATTR_NDEV_INDEX]);
	if (!tb[RDMA_NLDEV_ATTR_PORT_INDEX] || ifindex > INT32_MAX)
		return refuse_unreadable(e);
	*p = (struct rdma_port){ .port = nla_get_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX]),
				 .ifindex = (int)ifindex };
	if (tb[RDMA_NLDEV_ATTR_PORT_STATE] &&
	    nla_get_u8(tb[RDMA_NLDEV_ATTR_PORT_STATE]) <= RDMA_PORT_DEFER)
		p->state = nla_get_u8(tb[RDMA_NLDEV_ATTR_PORT_STATE]);
	if (tb[RDMA_NLDEV_ATTR_PORT_PHYS_STATE])
		p->phys_state = nla_get_u8(tb[RDMA_NLDEV_ATTR_PORT_PHYS_STATE]);
	parse_subnet(tb, &p->subnet);
	return 0;
}

/* ---- requests ---- */

/* There is no family header: the attributes come first. */
static void rdma_begin_request(struct nl_req *rq, int cmd)
{
	nl_req_begin(rq, (int)RDMA_NLMSG(cmd), 0, "", 0);
}

/* The kernel answers EINVAL for an index that its caller's namespace does not have. */
static int explain_missing(uint32_t index, struct err *e)
{
	if (e->code != ERR_KERNEL || e->errnum != EINVAL)
		return err_wrap(e, "look at RDMA device number %u", index);
	err_set(e, ERR_NOTFOUND, 0, "no RDMA device number %u in this network namespace", index);
	e->errnum = ENODEV;
	return -1;
}

static int on_rdma_link(const struct nlmsghdr *h, void *arg, struct err *e)
{
	return parse_link(h, arg, e);
}

int nl_rdma_get(struct nl *nl, uint32_t index, struct rdma_link *out, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct rdma_link d;

	rdma_begin_request(&rq, RDMA_NLDEV_CMD_GET);
	nl_req_put_u32(&rq, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	if (nl_get(nl, &rq, (struct nl_sink){ on_rdma_link, &d }, e))
		return explain_missing(index, e);
	*out = d;
	return 0;
}

static int collect_link(const struct nlmsghdr *h, void *arg, struct err *e)
{
	struct nl_list *l = arg;
	struct rdma_link d;

	if (!h) {
		l->n = 0;
		return 0;
	}
	return parse_link(h, &d, e) || nl_list_add(l, &d, sizeof(d), e) ? -1 : 0;
}

int nl_rdma_list(struct nl *nl, rdma_link_fn fn, void *arg, struct err *e)
{
	auto_clean(nl_list_clear) struct nl_list l = { 0 };
	auto_nl_req struct nl_req rq = { 0 };

	rdma_begin_request(&rq, RDMA_NLDEV_CMD_GET);
	if (nl_get_dump(nl, &rq, (struct nl_sink){ collect_link, &l }, e))
		return err_wrap(e, "list the RDMA devices");
	for (size_t i = 0; i < l.n; i++) {
		if (fn((struct rdma_link *)l.items + i, arg))
			break;
	}
	return 0;
}

struct by_name {
	const char *name;
	struct rdma_link d;
	bool found;
};

static int rdma_match_name(const struct rdma_link *d, void *arg)
{
	struct by_name *b = arg;

	b->found = strcmp(d->name, b->name) == 0;
	if (b->found)
		b->d = *d;
	return b->found;
}

int nl_rdma_by_name(struct nl *nl, const char *name, struct rdma_link *out, struct err *e)
{
	struct by_name b = { .name = name };

	if (nl_rdma_list(nl, rdma_match_name, &b, e))
		return -1;
	if (!b.found)
		return err_set(e, ERR_NOTFOUND, ENODEV, "RDMA device %s", name);
	*out = b.d;
	return 0;
}

/* ---- ports ---- */

static int collect_port(const struct nlmsghdr *h, void *arg, struct err *e)
{
	struct nl_list *l = arg;
	struct rdma_port p;

	if (!h) {
		l->n = 0;
		return 0;
	}
	return parse_port(h, &p, e) || nl_list_add(l, &p, sizeof(p), e) ? -1 : 0;
}

int nl_rdma_ports(struct nl *nl, uint32_t index, rdma_port_fn fn, void *arg, struct err *e)
{
	auto_clean(nl_list_clear) struct nl_list l = { 0 };
	auto_nl_req struct nl_req rq = { 0 };

	rdma_begin_request(&rq, RDMA_NLDEV_CMD_PORT_GET);
	nl_req_put_u32(&rq, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	if (nl_get_dump(nl, &rq, (struct nl_sink){ collect_port, &l }, e))
		return explain_missing(index, e);
	for (size_t i = 0; i < l.n; i++) {
		if (fn((struct rdma_port *)l.items + i, arg))
			break;
	}
	return 0;
}

static int on_rdma_port(const struct nlmsghdr *h, void *arg, struct err *e)
{
	return parse_port(h, arg, e);
}

int nl_rdma_port(struct nl *nl, uint32_t index, uint32_t port, struct rdma_port *out, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct rdma_port p;

	rdma_begin_request(&rq, RDMA_NLDEV_CMD_PORT_GET);
	nl_req_put_u32(&rq, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	nl_req_put_u32(&rq, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	if (nl_get(nl, &rq, (struct nl_sink){ on_rdma_port, &p }, e)) {
		(void)explain_missing(index, e);
		return err_wrap(e, "port %u", port);
	}
	*out = p;
	return 0;
}

const char *rdma_port_state_name(enum rdma_port_state s)
{
	static const char *const names[] = { "NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "DEFER" };

	return names[s];
}

/* ---- queue pairs ---- */

/* One of the kernel has a name. A process that ended, or of another PID namespace, has no PID. */
static int collect_qp(struct nlattr *entry, struct nl_list *l, struct err *e)
{
	struct nlattr *tb[RDMA_ATTR_TOP + 1];
	struct rdma_qp q;

	if (nla_parse_nested(tb, RDMA_ATTR_TOP, entry, policy) ||
	    tb[RDMA_NLDEV_ATTR_RES_KERN_NAME] || !tb[RDMA_NLDEV_ATTR_RES_TYPE] ||
	    !tb[RDMA_NLDEV_ATTR_RES_STATE])
		return 0;
	q = (struct rdma_qp){ .pid = tb[RDMA_NLDEV_ATTR_RES_PID]
					     ? nla_get_u32(tb[RDMA_NLDEV_ATTR_RES_PID])
					     : 0,
			      .type = nla_get_u8(tb[RDMA_NLDEV_ATTR_RES_TYPE]),
			      .state = nla_get_u8(tb[RDMA_NLDEV_ATTR_RES_STATE]) };
	return nl_list_add(l, &q, sizeof(q), e);
}

static int collect_qps(const struct nlmsghdr *h, void *arg, struct err *e)
{
	struct nl_list *l = arg;
	struct nlattr *tb[RDMA_ATTR_TOP + 1], *list;

	if (!h) {
		l->n = 0;
		return 0;
	}
	if (parse_attrs(h, tb, e))
		return -1;
	list = tb[RDMA_NLDEV_ATTR_RES_QP];
	if (!list)
		return 0;
	int left = nla_len(list);
	for (struct nlattr *qp = nla_data(list); nla_ok(qp, left); qp = nla_next(qp, &left))
		if (collect_qp(qp, l, e))
			return -1;
	return 0;
}

int nl_rdma_qps(struct nl *nl, uint32_t index, rdma_qp_fn fn, void *arg, struct err *e)
{
	auto_clean(nl_list_clear) struct nl_list l = { 0 };
	auto_nl_req struct nl_req rq = { 0 };

	rdma_begin_request(&rq, RDMA_NLDEV_CMD_RES_QP_GET);
	nl_req_put_u32(&rq, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	if (nl_get_dump(nl, &rq, (struct nl_sink){ collect_qps, &l }, e))
		return explain_missing(index, e);
	for (size_t i = 0; i < l.n; i++) {
		if (fn((struct rdma_qp *)l.items + i, arg))
			break;
	}
	return 0;
}

/* ---- character devices ---- */

static int on_chardev(const struct nlmsghdr *h, void *arg, struct err *e)
{
	struct nlattr *tb[RDMA_ATTR_TOP + 1];
	struct rdma_chardev *c = arg;

	if (parse_attrs(h, tb, e))
		return -1;
	*c = (struct rdma_chardev){ 0 };
	if (!tb[RDMA_NLDEV_ATTR_CHARDEV] ||
	    !parse_str(tb[RDMA_NLDEV_ATTR_CHARDEV_NAME], c->name, sizeof(c->name)))
		return refuse_unreadable(e);

	/* The kernel's huge_encode_dev(): the minor's higher bits lie above the major. */
	uint64_t dev = nla_get_u64(tb[RDMA_NLDEV_ATTR_CHARDEV]);

	c->major = (uint32_t)(dev >> 8) & 0xfff;
	c->minor = (uint32_t)((dev & 0xff) | ((dev >> 12) & 0xfff00));
	return 0;
}

static int explain_chardev(const struct rdma_chardev_of *of, struct err *e)
{
	bool gone = e->errnum == EINVAL;

	/* EOPNOTSUPP: the client is there, and serves no device like this. */
	if (e->code == ERR_KERNEL && (gone || e->errnum == ENOENT || e->errnum == EOPNOTSUPP)) {
		err_set(e, ERR_NOTFOUND, 0, "no character device");
		e->errnum = gone ? ENODEV : ENOENT;
	}
	if (of->global)
		return err_wrap(e, "%s", of->type);
	return err_wrap(e, "%s of RDMA device number %u, port %u", of->type, of->index, of->port);
}

int nl_rdma_chardev(struct nl *nl, struct rdma_chardev_of of, struct rdma_chardev *out,
		    struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct rdma_chardev c;

	rdma_begin_request(&rq, RDMA_NLDEV_CMD_GET_CHARDEV);
	nl_req_put_str(&rq, RDMA_NLDEV_ATTR_CHARDEV_TYPE, of.type);
	if (!of.global)
		nl_req_put_u32(&rq, RDMA_NLDEV_ATTR_DEV_INDEX, of.index);
	if (of.port)
		nl_req_put_u32(&rq, RDMA_NLDEV_ATTR_PORT_INDEX, of.port);
	if (nl_get(nl, &rq, (struct nl_sink){ on_chardev, &c }, e))
		return explain_chardev(&of, e);
	*out = c;
	return 0;
}

/* ---- the mode ---- */

const char *rdma_mode_name(enum rdma_mode m)
{
	return m == RDMA_EXCLUSIVE ? "exclusive" : "shared";
}

static int on_sys(const struct nlmsghdr *h, void *arg, struct err *e)
{
	struct nlattr *tb[RDMA_ATTR_TOP + 1];
	struct rdma_sys *s = arg;

	if (parse_attrs(h, tb, e))
		return -1;

	const struct nlattr *mode = tb[RDMA_NLDEV_SYS_ATTR_NETNS_MODE];
	const struct nlattr *monitor = tb[COMPAT_RDMA_SYS_ATTR_MONITOR];

	s->mode = mode && nla_get_u8(mode) == 0 ? RDMA_EXCLUSIVE : RDMA_SHARED;
	s->can_notify = monitor && nla_get_u8(monitor) != 0;
	return 0;
}

int nl_rdma_sys_get(struct nl *nl, struct rdma_sys *out, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct rdma_sys s;

	rdma_begin_request(&rq, RDMA_NLDEV_CMD_SYS_GET);
	if (nl_get(nl, &rq, (struct nl_sink){ on_sys, &s }, e))
		return err_wrap(e, "ask for the mode of the RDMA subsystem");
	*out = s;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* net.c: makes network namespaces, veth pairs and answers of a fake kernel for a test. */
#include "lib/testing/net.h"

#include <fcntl.h>
#include <linux/veth.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/net/link.h"
#include "lib/net/nl_msg.h"
#include "lib/device/sysfs.h"
#include "lib/testing/testing.h"

#define OK(call)                                                                                   \
	do {                                                                                       \
		struct err e_ = { 0 };                                                             \
		int rc_ = call;                                                                    \
		ck_assert_msg(rc_ == 0, "%s: %s (%s)", #call, e_.msg, e_.detail);                  \
	} while (0)

static void write_file(const char *path, const char *text)
{
	auto_fd int fd = open(path, O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void map_root(unsigned uid, unsigned gid)
{
	char text[64];

	write_file("/proc/self/setgroups", "deny");
	(void)snprintf(text, sizeof(text), "0 %u 1", uid);
	write_file("/proc/self/uid_map", text);
	(void)snprintf(text, sizeof(text), "0 %u 1", gid);
	write_file("/proc/self/gid_map", text);
}

void net_enter_new(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	ck_assert_msg(unshare(CLONE_NEWNET | (uid ? CLONE_NEWUSER : 0)) == 0,
		      "a network namespace for the test: %m");
	if (uid)
		map_root(uid, gid);

	struct nl *nl = net_socket();

	net_up(nl, "lo");
	nl_release(nl);
}

struct netns net_self(void)
{
	struct netns ns = { .fd = -1 };

	OK(netns_open_self(&ns, &e_));
	return ns;
}

struct netns net_another(void)
{
	auto_netns struct netns host = net_self();

	ck_assert_int_eq(unshare(CLONE_NEWNET), 0);

	struct netns ns = net_self();

	OK(netns_enter(&host, &e_));
	return ns;
}

struct nl *net_socket(void)
{
	struct nl *nl = NULL;

	OK(nl_open(&nl, &e_));
	return nl;
}

struct nl *net_socket_in(const struct netns *ns)
{
	auto_netns struct netns host = net_self();
	struct nl *nl = NULL;

	OK(nl_open_in(ns, &host, &nl, &e_));
	return nl;
}

static void put_veth_peer(struct nl_req *rq, const char *name, const struct netns *ns)
{
	struct ifinfomsg ifi = { 0 };
	struct nlattr *data = nl_req_nest(rq, IFLA_INFO_DATA);
	struct nlattr *peer = nl_req_nest(rq, VETH_INFO_PEER);

	ck_assert_int_eq(nlmsg_append(rq->msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO), 0);
	nl_req_put_str(rq, IFLA_IFNAME, name);
	if (ns)
		nl_req_put_u32(rq, IFLA_NET_NS_FD, (uint32_t)ns->fd);
	nl_req_nest_end(rq, peer);
	nl_req_nest_end(rq, data);
}

static void make_link(const char *kind, const char *name, const char *peer, const struct netns *ns)
{
	auto_nl struct nl *nl = net_socket();
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { 0 };

	nl_req_begin(&rq, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &ifi, sizeof(ifi));
	nl_req_put_str(&rq, IFLA_IFNAME, name);

	struct nlattr *info = nl_req_nest(&rq, IFLA_LINKINFO);

	nl_req_put_str(&rq, IFLA_INFO_KIND, kind);
	if (peer)
		put_veth_peer(&rq, peer, ns);
	nl_req_nest_end(&rq, info);
	OK(nl_request(nl, &rq, &e_));
}

/* The kernel takes neither end up before both are there. */
void net_veth(const char *a, const char *b, const struct netns *ns)
{
	auto_netns struct netns self = net_self();

	make_link("veth", a, b, ns);

	auto_nl struct nl *here = net_socket(), *there = net_socket_in(ns ? ns : &self);

	net_up(here, a);
	net_up(there, b);
}

void net_link(const char *kind, const char *name)
{
	make_link(kind, name, NULL, NULL);
}

int net_ifindex(struct nl *nl, const char *name)
{
	struct link_info li;

	OK(nl_link_by_name(nl, name, &li, &e_));
	return li.ifindex;
}

void net_up(struct nl *nl, const char *name)
{
	OK(nl_link_set_up(nl, net_ifindex(nl, name), &e_));
}

void net_sysctl(const char *path, const char *value)
{
	OK(sysfs_write("/proc/sys/net", path, value, &e_));
}

struct net_fake net_fake(void)
{
	struct net_fake fake = { .nl = calloc(1, sizeof(struct nl)) };
	int fds[2];

	ck_assert_ptr_nonnull(fake.nl);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	fake.nl->fd = fds[0];
	fake.peer = fds[1];
	return fake;
}

void net_say(const struct net_fake *fake, const struct nlmsghdr *head, const void *body, size_t len)
{
	struct {
		struct nlmsghdr h;
		char body[2048];
	} m = { .h = *head };

	ck_assert_uint_le(len, sizeof(m.body));
	memcpy(m.body, body, len);
	m.h.nlmsg_len = (uint32_t)(sizeof(m.h) + len);
	ck_assert_int_eq(send(fake->peer, &m, m.h.nlmsg_len, 0), m.h.nlmsg_len);
}

void net_say_link(const struct net_fake *fake, uint32_t seq, const struct link_info *li,
		  const struct hw_addr *broadcast)
{
	auto_nl_req struct nl_req rq = { 0 };
	const struct ifinfomsg ifi = { .ifi_index = li->ifindex,
				       .ifi_type = li->type,
				       .ifi_flags = li->flags };

	nl_req_begin(&rq, RTM_NEWLINK, 0, &ifi, sizeof(ifi));
	nl_req_put_str(&rq, IFLA_IFNAME, li->name);
	nl_req_put(&rq, IFLA_ADDRESS, li->addr.byte, li->addr.len);
	nl_req_put(&rq, IFLA_PERM_ADDRESS, li->perm_addr.byte, li->perm_addr.len);
	nl_req_put(&rq, IFLA_BROADCAST, broadcast->byte, broadcast->len);
	nl_req_put_u32(&rq, IFLA_MTU, li->mtu);
	if (li->lower_ifindex)
		nl_req_put_u32(&rq, IFLA_LINK, (uint32_t)li->lower_ifindex);
	if (li->upper_ifindex)
		nl_req_put_u32(&rq, IFLA_MASTER, (uint32_t)li->upper_ifindex);
	if (*li->parent)
		nl_req_put_str(&rq, IFLA_PARENT_DEV_NAME, li->parent);
	if (*li->alias)
		nl_req_put_str(&rq, IFLA_IFALIAS, li->alias);
	if (*li->kind) {
		struct nlattr *info = nl_req_nest(&rq, IFLA_LINKINFO);

		nl_req_put_str(&rq, IFLA_INFO_KIND, li->kind);
		nl_req_nest_end(&rq, info);
	}
	ck_assert_ptr_nonnull(rq.msg);
	nlmsg_hdr(rq.msg)->nlmsg_seq = seq;
	net_say(fake, nlmsg_hdr(rq.msg), nlmsg_data(nlmsg_hdr(rq.msg)),
		(size_t)nlmsg_datalen(nlmsg_hdr(rq.msg)));
}

/* The attributes of a child of IPoIB; of other kinds no test asks. */
static void hear_data(const struct nlattr *data, struct link_info *asked)
{
	const struct nlattr *pkey = nla_find(nla_data(data), nla_len(data), IFLA_IPOIB_PKEY);
	const struct nlattr *mode = nla_find(nla_data(data), nla_len(data), IFLA_IPOIB_MODE);
	const struct nlattr *umcast = nla_find(nla_data(data), nla_len(data), IFLA_IPOIB_UMCAST);

	ck_assert(pkey && mode && umcast);
	asked->data.ipoib.pkey = nla_get_u16(pkey);
	asked->data.ipoib.mode = nla_get_u16(mode);
	asked->data.ipoib.umcast = nla_get_u16(umcast);
}

uint16_t net_hear(const struct net_fake *fake, struct link_info *asked, bool *moves)
{
	struct {
		struct nlmsghdr h;
		char body[2048];
	} m;
	struct nlattr *tb[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];

	ck_assert_int_gt(recv(fake->peer, &m, sizeof(m), MSG_DONTWAIT), 0);
	ck_assert_int_eq(nlmsg_parse(&m.h, sizeof(struct ifinfomsg), tb, IFLA_MAX, NULL), 0);
	*asked = (struct link_info){ 0 };
	asked->ifindex = ((struct ifinfomsg *)nlmsg_data(&m.h))->ifi_index;
	if (tb[IFLA_IFNAME])
		(void)nla_strlcpy(asked->name, tb[IFLA_IFNAME], sizeof(asked->name));
	if (tb[IFLA_IFALIAS])
		(void)nla_strlcpy(asked->alias, tb[IFLA_IFALIAS], sizeof(asked->alias));
	if (tb[IFLA_MTU])
		asked->mtu = nla_get_u32(tb[IFLA_MTU]);
	if (tb[IFLA_LINK])
		asked->lower_ifindex = (int)nla_get_u32(tb[IFLA_LINK]);
	if (tb[IFLA_LINKINFO]) {
		ck_assert_int_eq(nla_parse_nested(info, IFLA_INFO_MAX, tb[IFLA_LINKINFO], NULL), 0);
		(void)nla_strlcpy(asked->kind, info[IFLA_INFO_KIND], sizeof(asked->kind));
		if (info[IFLA_INFO_DATA])
			hear_data(info[IFLA_INFO_DATA], asked);
	}
	*moves = tb[IFLA_NET_NS_FD] != NULL;
	return m.h.nlmsg_type;
}

void net_ack(const struct net_fake *fake, uint32_t seq, int errnum)
{
	const struct nlmsghdr h = {
		.nlmsg_type = NLMSG_ERROR,
		.nlmsg_flags = NLM_F_CAPPED,
		.nlmsg_seq = seq,
	};
	const struct nlmsgerr ack = { .error = -errnum };

	net_say(fake, &h, &ack, sizeof(ack));
}

void net_done(const struct net_fake *fake, uint32_t seq)
{
	const struct nlmsghdr head = { .nlmsg_type = NLMSG_DONE,
				       .nlmsg_flags = NLM_F_MULTI,
				       .nlmsg_seq = seq };
	const int status = 0;

	net_say(fake, &head, &status, sizeof(status));
}

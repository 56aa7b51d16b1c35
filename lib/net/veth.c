/* SPDX-License-Identifier: Apache-2.0 */
/* veth.c: makes veth pairs and permanent neighbours. */
#include "lib/net/veth.h"

#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>

#include "lib/net/nl_msg.h"
#include "lib/sys/netns.h"

static void put_end(struct nl_req *rq, const struct veth_end *end)
{
	nl_req_put_str(rq, IFLA_IFNAME, end->name);
	nl_req_put(rq, IFLA_ADDRESS, end->mac.byte, end->mac.len);
}

/* The peer's header stands before its attributes, as in a request of its own. */
static void put_peer(struct nl_req *rq, const struct veth_spec *v)
{
	const struct ifinfomsg head = { 0 };
	struct nlattr *peer = nl_req_nest(rq, VETH_INFO_PEER);

	if (rq->msg && nlmsg_append(rq->msg, (void *)&head, sizeof(head), NLMSG_ALIGNTO))
		nl_req_clear(rq);
	put_end(rq, &v->peer);
	nl_req_put_u32(rq, IFLA_NET_NS_FD, (uint32_t)v->peer_netns->fd);
	nl_req_nest_end(rq, peer);
}

int nl_veth_create(struct nl *nl, const struct veth_spec *v, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	const struct ifinfomsg head = { 0 };

	nl_req_begin(&rq, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &head, sizeof(head));
	put_end(&rq, &v->end);

	struct nlattr *info = nl_req_nest(&rq, IFLA_LINKINFO);

	nl_req_put_str(&rq, IFLA_INFO_KIND, "veth");

	struct nlattr *data = nl_req_nest(&rq, IFLA_INFO_DATA);

	put_peer(&rq, v);
	nl_req_nest_end(&rq, data);
	nl_req_nest_end(&rq, info);
	return nl_request(nl, &rq, e)
		       ? err_wrap(e, "create the veth pair %s and %s", v->end.name, v->peer.name)
		       : 0;
}

int nl_neigh_add(struct nl *nl, int ifindex, struct ip addr, struct hw_addr mac, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	const struct ndmsg head = { .ndm_family = nl_family(addr.family),
				    .ndm_ifindex = ifindex,
				    .ndm_state = NUD_PERMANENT };
	char text[IP_STR_LEN];

	nl_req_begin(&rq, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, &head, sizeof(head));
	nl_req_put_ip(&rq, NDA_DST, addr);
	nl_req_put(&rq, NDA_LLADDR, mac.byte, mac.len);
	return nl_request(nl, &rq, e) ? err_wrap(e, "add neighbour %s", ip_format(addr, text)) : 0;
}

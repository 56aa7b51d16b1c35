/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refuse.c: which addresses the node must not send to by a pair. The author of a pod may
 * have chosen the address, so only what others have set up says that it belongs to the rail.
 */
#include <stdlib.h>

#include "cni/hostveth/priv.h"

#define V6_HIGH(x) ((u128)(x) << 112)

static const struct {
	struct ip_prefix net;
	const char *what;
} special[] = {
	{ { { IP_V4, 0 }, 8 }, "an address of no host" },
	{ { { IP_V4, 0x7f000000 }, 8 }, "a loopback address" },
	{ { { IP_V4, 0xa9fe0000 }, 16 }, "a link-local address" },
	{ { { IP_V4, 0xe0000000 }, 4 }, "a multicast address" },
	{ { { IP_V4, 0xffffffff }, 32 }, "the broadcast address" },
	{ { { IP_V6, 0 }, 128 }, "an address of no host" },
	{ { { IP_V6, 1 }, 128 }, "a loopback address" },
	{ { { IP_V6, (u128)0xffff << 32 }, 96 }, "an IPv4-mapped address" },
	{ { { IP_V6, V6_HIGH(0xfe80) }, 10 }, "a link-local address" },
	{ { { IP_V6, V6_HIGH(0xff00) }, 8 }, "a multicast address" },
};

/* One address, as the node knows it. Lengths of 0: no network. */
struct standing {
	struct ip addr;
	uint8_t own;              /* longest network of a master that has it */
	struct route_spec others; /* the route to the longest one behind another interface */
	int holder;               /* the interface of the node that has the address */
	bool gateway;
};

struct survey {
	struct nl *node;
	const struct hostveth_claim *claim;
	struct standing *of; /* of each address */
};

static int refuse_note_holder(const struct addr_info *a, void *arg)
{
	const struct survey *s = arg;

	for (size_t i = 0; i < s->claim->ips->n_ips; i++)
		if (ip_equal(s->of[i].addr, a->addr.addr))
			s->of[i].holder = a->ifindex;
	return 0;
}

static bool is_master(const struct cni_result *ips, int ifindex)
{
	for (size_t i = 0; i < ips->n_ips; i++)
		if (ips->ips[i].interface > 0 && ips->ips[i].interface == ifindex)
			return true;
	return false;
}

static int note_route(const struct route_spec *r, void *arg)
{
	const struct survey *s = arg;

	for (size_t i = 0; i < s->claim->ips->n_ips; i++) {
		struct standing *x = &s->of[i];

		if (r->gw.family)
			x->gateway |= ip_equal(r->gw, x->addr);
		else if (!ip_in_prefix(r->dst, x->addr))
			continue;
		else if (is_master(s->claim->ips, r->ifindex))
			x->own = r->dst.len > x->own ? r->dst.len : x->own;
		else if (r->dst.len > x->others.dst.len)
			x->others = *r;
	}
	return 0;
}

static const char *refuse_name_of(struct nl *node, int ifindex, struct link_info *link)
{
	struct err ignored;

	return ifindex && nl_link_by_index(node, ifindex, link, &ignored) == 0 ? link->name
									       : "no interface";
}

/* The most specific network wins; the pool's and a master's own one also against an equal one. */
static int judge_networks(const struct survey *s, size_t i, struct err *e)
{
	const struct hostveth_conf *c = s->claim->conf;
	const struct cni_ip *ip = &s->claim->ips->ips[i];
	const struct standing *x = &s->of[i];
	const uint8_t pool = s->claim->pool ? ip->address.len : 0;
	const uint8_t own = x->own > pool ? x->own : pool, others = x->others.dst.len;
	char net[PREFIX_STR_LEN];
	struct link_info link;

	if (others > own)
		return err_set(e, ERR_BUSY, 0, "%s is behind %s of the node",
			       ip_format_prefix(x->others.dst, net),
			       refuse_name_of(s->node, x->others.ifindex, &link));
	for (size_t k = 0; k < c->n_routes; k++)
		if (ip_in_prefix(c->route[k], x->addr) && c->route[k].len >= own)
			return err_set(e, ERR_BUSY, 0, "host.routes has %s",
				       ip_format_prefix(c->route[k], net));
	if (own)
		return 0;
	return err_set(e, ERR_BUSY, 0,
		       "no network of %s on the node has it, and no pool or range of railhead-ipam",
		       ip->interface > 0 ? refuse_name_of(s->node, ip->interface, &link)
					 : "a master");
}

static int refuse_judge(const struct survey *s, size_t i, struct err *e)
{
	const struct standing *x = &s->of[i];
	struct link_info link;

	for (size_t k = 0; k < ARRAY_SIZE(special); k++)
		if (ip_in_prefix(special[k].net, x->addr))
			return err_set(e, ERR_BUSY, 0, "it is %s", special[k].what);
	for (size_t k = 0; k < ARRAY_SIZE(hostveth_families); k++)
		if (ip_equal(hostveth_families[k].node, x->addr))
			return err_set(e, ERR_BUSY, 0, "the node has it on each veth to a pod");
	if (x->holder)
		return err_set(e, ERR_BUSY, 0, "the node has it on %s",
			       refuse_name_of(s->node, x->holder, &link));
	if (x->gateway)
		return err_set(e, ERR_BUSY, 0, "it is the gateway of a route of the node");
	return judge_networks(s, i, e);
}

int hostveth_refuse(struct nl *node, const struct hostveth_claim *c, struct err *e)
{
	auto_free struct standing *of = calloc(c->ips->n_ips + 1, sizeof(*of));
	struct survey s = { node, c, of };
	char text[IP_STR_LEN];

	if (!of)
		return err_nomem(e);
	for (size_t i = 0; i < c->ips->n_ips; i++)
		of[i].addr = c->ips->ips[i].address.addr;
	if (nl_addr_list(node, 0, refuse_note_holder, &s, e) ||
	    nl_route_list_all(node, note_route, &s, e))
		return -1;
	for (size_t i = 0; i < c->ips->n_ips; i++) {
		if (refuse_judge(&s, i, e) == 0)
			continue;
		err_hint(e, "the node would send its own packets for this address into the pod");
		return err_wrap(e, "host.veth: %s", ip_format(of[i].addr, text));
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* vf.c: reads the list of VFs that a PF reports, and their attributes. */
#include "lib/device/vf.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "lib/net/nl_msg.h"

/* What a driver does not tell stays as the kernel filled it in before: all ones. */
#define NOT_TOLD UINT32_MAX

_Static_assert((int)VF_LINK_AUTO == IFLA_VF_LINK_STATE_AUTO, "link state auto");
_Static_assert((int)VF_LINK_ENABLE == IFLA_VF_LINK_STATE_ENABLE, "link state enable");
_Static_assert((int)VF_LINK_DISABLE == IFLA_VF_LINK_STATE_DISABLE, "link state disable");

/* A copy of what attribute type holds, if there is one and it is about VF number vf, which is its
 * first member. */
static bool parse_fixed(struct nlattr *const *tb, int type, uint32_t vf, void *out, size_t size)
{
	uint32_t about;

	if (!tb[type] || nla_len(tb[type]) < (int)size)
		return false;
	memcpy(&about, nla_data(tb[type]), sizeof(about));
	if (about != vf)
		return false;
	memcpy(out, nla_data(tb[type]), size);
	return true;
}

/* The outermost tag is the first; no driver sets more than one. */
static bool parse_vlan_list(struct nlattr *const *tb, uint32_t vf, struct vf_info *s)
{
	struct nlattr *list[IFLA_VF_VLAN_INFO + 1] = { NULL };
	struct ifla_vf_vlan_info v;

	if (!tb[IFLA_VF_VLAN_LIST])
		return false;
	list[IFLA_VF_VLAN_INFO] = nla_find(nla_data(tb[IFLA_VF_VLAN_LIST]),
					   nla_len(tb[IFLA_VF_VLAN_LIST]), IFLA_VF_VLAN_INFO);
	if (!parse_fixed(list, IFLA_VF_VLAN_INFO, vf, &v, sizeof(v)))
		return false;
	s->vlan = v.vlan;
	s->qos = v.qos;
	s->vlan_proto = ntohs(v.vlan_proto);
	return true;
}

static bool parse_vlan(struct nlattr *const *tb, uint32_t vf, struct vf_info *s)
{
	struct ifla_vf_vlan v;

	if (parse_vlan_list(tb, vf, s))
		return true;
	if (!parse_fixed(tb, IFLA_VF_VLAN, vf, &v, sizeof(v)))
		return false;
	s->vlan = v.vlan;
	s->qos = v.qos;
	s->vlan_proto = VLAN_PROTO_8021Q;
	return true;
}

static void parse_settings(struct nlattr *const *tb, uint32_t vf, struct vf_info *s)
{
	struct ifla_vf_mac mac;
	struct ifla_vf_rate rate;
	struct ifla_vf_spoofchk spoofchk;
	struct ifla_vf_trust trust;
	struct ifla_vf_link_state link;
	struct ifla_vf_guid node, port;

	if (parse_fixed(tb, IFLA_VF_MAC, vf, &mac, sizeof(mac))) {
		memcpy(s->mac, mac.mac, MAC_LEN);
		s->has |= VF_MAC;
	}
	if (parse_vlan(tb, vf, s))
		s->has |= VF_VLAN;
	if (parse_fixed(tb, IFLA_VF_RATE, vf, &rate, sizeof(rate))) {
		s->min_rate = rate.min_tx_rate;
		s->max_rate = rate.max_tx_rate;
		s->has |= VF_RATE;
	}
	if (parse_fixed(tb, IFLA_VF_SPOOFCHK, vf, &spoofchk, sizeof(spoofchk)) &&
	    spoofchk.setting != NOT_TOLD) {
		s->spoofchk = spoofchk.setting;
		s->has |= VF_SPOOFCHK;
	}
	if (parse_fixed(tb, IFLA_VF_TRUST, vf, &trust, sizeof(trust)) &&
	    trust.setting != NOT_TOLD) {
		s->trust = trust.setting;
		s->has |= VF_TRUST;
	}
	if (parse_fixed(tb, IFLA_VF_LINK_STATE, vf, &link, sizeof(link)) &&
	    link.link_state <= IFLA_VF_LINK_STATE_DISABLE) {
		s->link_state = (enum vf_link_state)link.link_state;
		s->has |= VF_LINK_STATE;
	}
	if (parse_fixed(tb, IFLA_VF_IB_NODE_GUID, vf, &node, sizeof(node))) {
		s->node_guid = guid_of_number(node.guid);
		s->has |= VF_NODE_GUID;
	}
	if (parse_fixed(tb, IFLA_VF_IB_PORT_GUID, vf, &port, sizeof(port))) {
		s->port_guid = guid_of_number(port.guid);
		s->has |= VF_PORT_GUID;
	}
	/* A PF of InfiniBand gives its own address there, which says nothing of the VF. */
	if (s->has & VF_GUIDS)
		s->has &= ~(unsigned)VF_MAC;
}

/* VFs number first to first + n - 1 are looked for; at[] has room for them. */
struct vf_search {
	uint32_t first, n;
	struct vf_info *at;
};

/* Every one of these begins with the number of the VF that it is about. */
static bool vf_number_of(struct nlattr *const *tb, uint32_t *out)
{
	static const int types[] = { IFLA_VF_MAC,          IFLA_VF_VLAN,        IFLA_VF_RATE,
				     IFLA_VF_SPOOFCHK,     IFLA_VF_LINK_STATE,  IFLA_VF_TRUST,
				     IFLA_VF_IB_NODE_GUID, IFLA_VF_IB_PORT_GUID };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!tb[types[i]] || nla_len(tb[types[i]]) < (int)sizeof(*out))
			continue;
		memcpy(out, nla_data(tb[types[i]]), sizeof(*out));
		return true;
	}
	return false;
}

static void parse_vf(const struct vf_search *s, struct nlattr *const *tb)
{
	uint32_t vf = s->first;

	if (s->n != 1 && (!vf_number_of(tb, &vf) || vf < s->first || vf - s->first >= s->n))
		return;
	if (s->at[vf - s->first].has)
		return;
	parse_settings(tb, vf, &s->at[vf - s->first]);
}

/*
 * The list's length has 16 bits and wraps around above 334 VFs. Pieces of VFs that look like
 * attributes follow then. So only the first list is read. It may end within a VF, where nla_ok()
 * ends the loop.
 */
static int on_pf(const struct nlmsghdr *h, void *arg, struct err *e)
{
	const struct vf_search *s = arg;
	struct nlattr *list, *vf, *tb[IFLA_VF_MAX + 1];
	int left;

	if (h->nlmsg_type != RTM_NEWLINK || nlmsg_datalen(h) < (int)sizeof(struct ifinfomsg))
		return err_set(e, ERR_KERNEL, EBADMSG, "read the kernel's description");
	list = nlmsg_find_attr((struct nlmsghdr *)h, sizeof(struct ifinfomsg), IFLA_VFINFO_LIST);
	if (!list)
		return 0;
	nla_for_each_nested(vf, list, left)
	{
		if (nla_type(vf) != IFLA_VF_INFO || nla_parse_nested(tb, IFLA_VF_MAX, vf, NULL) < 0)
			continue;
		parse_vf(s, tb);
		if (s->n == 1 && s->at->has)
			break;
	}
	return 0;
}

static int get_link(struct nl *nl, int pf_ifindex, struct vf_search *s, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { .ifi_index = pf_ifindex };
	struct err why;

	nl_req_begin(&rq, RTM_GETLINK, 0, &ifi, sizeof(ifi));
	nl_req_put_u32(&rq, IFLA_EXT_MASK, RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS);
	/* A list for which the kernel's own reckoning finds no room is one that leaves out all. */
	if (nl_get_large(nl, &rq, (struct nl_sink){ on_pf, s }, &why) == 0 ||
	    (why.code == ERR_KERNEL && why.errnum == EMSGSIZE))
		return 0;
	return err_pass(e, &why);
}

int nl_vf_get(struct nl *nl, struct vf_ref vf, struct vf_info *out, struct err *e)
{
	struct vf_info state = { 0 };

	if (get_link(nl, vf.pf_ifindex, &(struct vf_search){ vf.vf, 1, &state }, e))
		return err_wrap(e, "read VF %u of interface number %d", vf.vf, vf.pf_ifindex);
	*out = state;
	return 0;
}

int nl_vf_list(struct nl *nl, int pf_ifindex, uint32_t n, struct vf_info *out, struct err *e)
{
	auto_free struct vf_info *all = NULL;

	if (!n)
		return 0;
	all = calloc(n, sizeof(*all));
	if (!all)
		return err_nomem(e);
	if (get_link(nl, pf_ifindex, &(struct vf_search){ 0, n, all }, e))
		return err_wrap(e, "read the VFs of interface number %d", pf_ifindex);
	memcpy(out, all, n * sizeof(*out));
	return 0;
}

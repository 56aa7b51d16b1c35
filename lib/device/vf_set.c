/* SPDX-License-Identifier: Apache-2.0 */
/* vf_set.c: sets attributes of a VF through its PF, and repeats while the driver resets. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <time.h>

#include "lib/base/ctx.h"
#include "lib/net/nl_msg.h"
#include "lib/device/vf_priv.h"

#define NAP_MIN 5   /* ms */
#define NAP_MAX 160 /* ms */

const char *vf_attr_name(enum vf_attr one)
{
	switch (one) {
	case VF_MAC:
		return "mac";
	case VF_VLAN:
		return "vlan";
	case VF_RATE:
		return "max_tx_rate";
	case VF_SPOOFCHK:
		return "spoofchk";
	case VF_TRUST:
		return "trust";
	case VF_LINK_STATE:
		return "link_state";
	case VF_NODE_GUID:
		return "node GUID";
	case VF_PORT_GUID:
		return "port GUID";
	case VF_ETHERNET:
	case VF_GUIDS:
	case VF_ALL:
		break;
	}
	return "?";
}

/* ---- one request ---- */

static uint16_t proto_of(const struct vf_info *want)
{
	return want->vlan_proto ? want->vlan_proto : VLAN_PROTO_8021Q;
}

static void put_mac(struct nl_req *rq, const struct vf_change *c)
{
	struct ifla_vf_mac mac = { .vf = c->vf.vf };

	memcpy(mac.mac, c->want->mac, MAC_LEN);
	nl_req_put(rq, IFLA_VF_MAC, &mac, sizeof(mac));
}

static void put_vlan(struct nl_req *rq, const struct vf_change *c)
{
	const struct ifla_vf_vlan_info info = {
		.vf = c->vf.vf,
		.vlan = c->want->vlan,
		.qos = c->want->qos,
		.vlan_proto = htons(proto_of(c->want)),
	};
	struct nlattr *list = nl_req_nest(rq, IFLA_VF_VLAN_LIST);

	nl_req_put(rq, IFLA_VF_VLAN_INFO, &info, sizeof(info));
	nl_req_nest_end(rq, list);
}

static void put_legacy_vlan(struct nl_req *rq, const struct vf_change *c)
{
	const struct ifla_vf_vlan vlan = {
		.vf = c->vf.vf,
		.vlan = c->want->vlan,
		.qos = c->want->qos,
	};

	nl_req_put(rq, IFLA_VF_VLAN, &vlan, sizeof(vlan));
}

static void put_rate(struct nl_req *rq, const struct vf_change *c)
{
	const struct ifla_vf_rate rate = {
		.vf = c->vf.vf,
		.min_tx_rate = c->want->min_rate,
		.max_tx_rate = c->want->max_rate,
	};

	nl_req_put(rq, IFLA_VF_RATE, &rate, sizeof(rate));
}

/* Spoof check, trust and link state have one shape: the number of the VF, and a value. */
static void put_setting(struct nl_req *rq, const struct vf_change *c, int type, uint32_t value)
{
	const struct ifla_vf_trust setting = { .vf = c->vf.vf, .setting = value };

	nl_req_put(rq, type, &setting, sizeof(setting));
}

_Static_assert(sizeof(struct ifla_vf_trust) == sizeof(struct ifla_vf_spoofchk), "one shape");
_Static_assert(sizeof(struct ifla_vf_trust) == sizeof(struct ifla_vf_link_state), "one shape");

static void put_guid(struct nl_req *rq, const struct vf_change *c, int type, struct guid guid)
{
	const struct ifla_vf_guid g = { .vf = c->vf.vf, .guid = guid_number(guid) };

	nl_req_put(rq, type, &g, sizeof(g));
}

static void vf_set_put_one(struct nl_req *rq, const struct vf_change *c, bool legacy)
{
	switch (c->one) {
	case VF_MAC:
		put_mac(rq, c);
		break;
	case VF_VLAN:
		(legacy ? put_legacy_vlan : put_vlan)(rq, c);
		break;
	case VF_RATE:
		put_rate(rq, c);
		break;
	case VF_SPOOFCHK:
		put_setting(rq, c, IFLA_VF_SPOOFCHK, c->want->spoofchk);
		break;
	case VF_TRUST:
		put_setting(rq, c, IFLA_VF_TRUST, c->want->trust);
		break;
	case VF_LINK_STATE:
		put_setting(rq, c, IFLA_VF_LINK_STATE, c->want->link_state);
		break;
	case VF_NODE_GUID:
		put_guid(rq, c, IFLA_VF_IB_NODE_GUID, c->want->node_guid);
		break;
	case VF_PORT_GUID:
		put_guid(rq, c, IFLA_VF_IB_PORT_GUID, c->want->port_guid);
		break;
	case VF_ETHERNET:
	case VF_GUIDS:
	case VF_ALL:
		break;
	}
}

static int set_as(struct nl *nl, const struct vf_change *c, bool legacy, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { .ifi_index = c->vf.pf_ifindex };

	nl_req_begin(&rq, RTM_SETLINK, 0, &ifi, sizeof(ifi));

	struct nlattr *list = nl_req_nest(&rq, IFLA_VFINFO_LIST);
	struct nlattr *info = nl_req_nest(&rq, IFLA_VF_INFO);

	vf_set_put_one(&rq, c, legacy);
	nl_req_nest_end(&rq, info);
	nl_req_nest_end(&rq, list);
	return nl_request(nl, &rq, e);
}

/* Kernels before 4.9 know no list of tags, and a driver may refuse one that it was not told of. */
static int set_once(struct nl *nl, const struct vf_change *c, struct err *e)
{
	struct err why;

	if (set_as(nl, c, false, &why) == 0)
		return 0;
	if (c->one == VF_VLAN && proto_of(c->want) == VLAN_PROTO_8021Q &&
	    (why.errnum == EOPNOTSUPP || why.errnum == EINVAL))
		return set_as(nl, c, true, e);
	return err_pass(e, &why);
}

/* ---- with patience ---- */

static const char *meaning_of_einval(enum vf_attr one)
{
	switch (one) {
	case VF_RATE:
		return "the driver may have no minimum rate, want the PF's link up, or have "
		       "nothing above the link's speed";
	case VF_MAC:
		return "the address must be one of a single station; or there is no such VF";
	case VF_VLAN:
		return "VLANs are 0 to 4094 and priorities 0 to 7; or there is no such VF";
	case VF_NODE_GUID:
	case VF_PORT_GUID:
		return "the PF must be of InfiniBand; or there is no such VF";
	case VF_SPOOFCHK:
	case VF_TRUST:
	case VF_LINK_STATE:
	case VF_ETHERNET:
	case VF_GUIDS:
	case VF_ALL:
		break;
	}
	return "the PF has no VF of that number, or is down";
}

static int explain_refusal(const struct vf_change *c, struct err *e)
{
	const char *name = vf_attr_name(c->one);

	switch (e->errnum) {
	case EOPNOTSUPP:
		(void)err_hint(e, "the PF's driver has no such setting: leave out \"%s\"", name);
		break;
	case EPROTONOSUPPORT:
		(void)err_hint(e, "the PF's driver knows no 802.1ad: use vlanProto 802.1q");
		break;
	case EINVAL:
		(void)err_hint(e, "%s", meaning_of_einval(c->one));
		break;
	case EPERM:
		(void)err_hint(e, "or the device wants it set by other means (devlink)");
		break;
	case EBUSY:
	case EAGAIN:
		(void)err_hint(e, "the device is being reset; tried again for %d ms",
			       VF_PATIENCE_MS);
		break;
	default:
		break;
	}
	return err_wrap(e, "set %s of VF %u of interface number %d", name, c->vf.vf,
			c->vf.pf_ifindex);
}

int nl_vf_set_by(struct nl *nl, const struct vf_change *c, const struct vf_clock *clock,
		 struct err *e)
{
	int64_t deadline = clock->now_ms(clock->arg) + VF_PATIENCE_MS, nap = NAP_MIN;
	struct err why;

	while (set_once(nl, c, &why)) {
		int64_t left = deadline - clock->now_ms(clock->arg);

		if ((why.errnum != EBUSY && why.errnum != EAGAIN) || left <= 0) {
			*e = why;
			return explain_refusal(c, e);
		}
		clock->nap(clock->arg, nap < left ? nap : left);
		nap = nap * 2 < NAP_MAX ? nap * 2 : NAP_MAX;
	}
	return 0;
}

static int64_t monotonic_ms(void *arg)
{
	(void)arg;
	return ctx_mono_ms();
}

static void sleep_ms(void *arg, int64_t ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	(void)arg;
	(void)nanosleep(&ts, NULL);
}

int nl_vf_set(struct nl *nl, struct vf_ref vf, const struct vf_info *want, enum vf_attr one,
	      struct err *e)
{
	const struct vf_change c = { .vf = vf, .want = want, .one = one };
	const struct vf_clock clock = { .now_ms = monotonic_ms, .nap = sleep_ms };

	return nl_vf_set_by(nl, &c, &clock, e);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* dcb.c: reads and sets priority flow control and DSCP rules through DCB netlink. */
#include "lib/device/dcb.h"

#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/net/nl_msg.h"

_Static_assert(DCB_PRIORITIES == IEEE_8021Q_MAX_PRIORITIES, "the kernel counts as we do");
_Static_assert(DCB_PRIORITIES == DCBX_MAX_BUFFERS, "the kernel counts as we do");
_Static_assert(DCB_PRIORITIES == IEEE_8021QAZ_MAX_TCS, "the kernel counts as we do");
_Static_assert(DCB_ETS_LEN == sizeof(struct ieee_ets), "DCB_ETS_LEN");
_Static_assert((int)DCB_TSA_STRICT == IEEE_8021QAZ_TSA_STRICT &&
		       (int)DCB_TSA_ETS == IEEE_8021QAZ_TSA_ETS &&
		       (int)DCB_TSA_VENDOR == IEEE_8021QAZ_TSA_VENDOR,
	       "the kernel's numbers");

static const struct nla_policy top_policy[DCB_ATTR_MAX + 1] = {
	[DCB_ATTR_IEEE] = { .type = NLA_NESTED },
	[DCB_ATTR_DCBX] = { .type = NLA_U8 },
};

/* The minimum covers only the members that we read: later kernels may append more. */
static const struct nla_policy ieee_policy[DCB_ATTR_IEEE_MAX + 1] = {
	[DCB_ATTR_IEEE_ETS] = { .type = NLA_UNSPEC,
				.minlen = offsetof(struct ieee_ets, tc_reco_bw) },
	[DCB_ATTR_IEEE_PFC] = { .type = NLA_UNSPEC, .minlen = offsetof(struct ieee_pfc, requests) },
	[DCB_ATTR_IEEE_APP_TABLE] = { .type = NLA_NESTED },
	[DCB_ATTR_DCB_BUFFER] = { .type = NLA_UNSPEC,
				  .minlen = offsetof(struct dcbnl_buffer, total_size) },
};

static void parse_apps(struct nlattr *table, struct dcb_info *out)
{
	struct nlattr *a;
	int left;

	out->has_app = true;
	nla_for_each_nested(a, table, left)
	{
		struct dcb_app app;

		if (nla_type(a) != DCB_ATTR_IEEE_APP || nla_len(a) < (int)sizeof(app))
			continue;
		memcpy(&app, nla_data(a), sizeof(app));
		if (app.selector != IEEE_8021QAZ_APP_SEL_DSCP || app.protocol >= DCB_DSCP ||
		    app.priority >= DCB_PRIORITIES)
			continue;
		out->dscp_rules += !out->dscp[app.protocol];
		out->dscp[app.protocol] |= (uint8_t)(1u << app.priority);
	}
}

static void parse_pfc(const struct nlattr *a, struct dcb_info *out)
{
	struct ieee_pfc pfc;

	memcpy(&pfc, nla_data(a), offsetof(struct ieee_pfc, requests));
	out->has_pauses = nla_len(a) >= (int)sizeof(pfc);
	if (out->has_pauses) {
		memcpy(&pfc, nla_data(a), sizeof(pfc));
		memcpy(out->pauses_sent, pfc.requests, sizeof(out->pauses_sent));
		memcpy(out->pauses_heard, pfc.indications, sizeof(out->pauses_heard));
	}
	out->has_pfc = true;
	out->pfc = pfc.pfc_en;
	out->pfc_cap = pfc.pfc_cap;
	out->pfc_mbc = pfc.mbc;
	out->pfc_delay = pfc.delay;
}

static void parse_ets(const struct nlattr *a, struct dcb_info *out)
{
	struct ieee_ets ets = { 0 };

	memcpy(&ets, nla_data(a), nla_len(a) < (int)sizeof(ets) ? (size_t)nla_len(a) : sizeof(ets));
	out->has_ets = true;
	memcpy(out->prio_tc, ets.prio_tc, sizeof(out->prio_tc));
	memcpy(out->queue_bw, ets.tc_tx_bw, sizeof(out->queue_bw));
	memcpy(out->queue_tsa, ets.tc_tsa, sizeof(out->queue_tsa));
	memcpy(out->ets, &ets, sizeof(out->ets));
}

static void parse_ieee(struct nlattr **ieee, struct dcb_info *out)
{
	struct dcbnl_buffer b;

	if (ieee[DCB_ATTR_IEEE_ETS])
		parse_ets(ieee[DCB_ATTR_IEEE_ETS], out);
	if (ieee[DCB_ATTR_IEEE_PFC])
		parse_pfc(ieee[DCB_ATTR_IEEE_PFC], out);
	if (ieee[DCB_ATTR_IEEE_APP_TABLE])
		parse_apps(ieee[DCB_ATTR_IEEE_APP_TABLE], out);
	if (ieee[DCB_ATTR_DCB_BUFFER]) {
		memcpy(&b, nla_data(ieee[DCB_ATTR_DCB_BUFFER]),
		       offsetof(struct dcbnl_buffer, total_size));
		out->has_buffers = true;
		memcpy(out->prio_buffer, b.prio2buffer, sizeof(out->prio_buffer));
		memcpy(out->buffer, b.buffer_size, sizeof(out->buffer));
	}
}

static int on_dcb(const struct nlmsghdr *h, void *arg, struct err *e)
{
	struct nlattr *top[DCB_ATTR_MAX + 1], *ieee[DCB_ATTR_IEEE_MAX + 1];
	struct dcb_info *out = arg;

	if (nl_parse_attrs(h, sizeof(struct dcbmsg), top, DCB_ATTR_MAX, top_policy))
		return err_set(e, ERR_KERNEL, EBADMSG, "read the kernel's answer");
	*out = (struct dcb_info){ 0 };
	if (top[DCB_ATTR_DCBX]) {
		out->has_dcbx = true;
		out->dcbx_host = nla_get_u8(top[DCB_ATTR_DCBX]) & DCB_CAP_DCBX_HOST;
	}
	if (!top[DCB_ATTR_IEEE])
		return 0;
	if (nla_parse_nested(ieee, DCB_ATTR_IEEE_MAX, top[DCB_ATTR_IEEE], ieee_policy) < 0)
		return err_set(e, ERR_KERNEL, EBADMSG, "read the kernel's answer");
	parse_ieee(ieee, out);
	return 0;
}

static void begin_request(struct nl_req *rq, int type, uint8_t cmd, const char *ifname)
{
	const struct dcbmsg head = { .dcb_family = AF_UNSPEC, .cmd = cmd };

	nl_req_begin(rq, type, 0, &head, sizeof(head));
	nl_req_put_str(rq, DCB_ATTR_IFNAME, ifname);
}

int nl_dcb_get(struct nl *nl, const char *ifname, struct dcb_info *out, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct dcb_info d;

	begin_request(&rq, RTM_GETDCB, DCB_CMD_IEEE_GET, ifname);
	if (nl_get(nl, &rq, (struct nl_sink){ on_dcb, &d }, e) == 0) {
		*out = d;
		return 0;
	}
	if (e->code == ERR_KERNEL && (e->errnum == EOPNOTSUPP || e->errnum == ENODEV))
		e->code = ERR_NOTFOUND;
	return err_wrap(e, "data center bridging of interface %s", ifname);
}

/* ---- changes ---- */

/* Not an acknowledgement but a message: the driver's errno in one byte, negative as in the kernel
 * (dcbnl_ieee_set() in net/dcb/dcbnl.c). */
static int on_status(const struct nlmsghdr *h, void *arg, struct err *e)
{
	static const struct nla_policy policy[DCB_ATTR_MAX + 1] = {
		[DCB_ATTR_IEEE] = { .type = NLA_U8 },
	};
	struct nlattr *top[DCB_ATTR_MAX + 1];

	if (nl_parse_attrs(h, sizeof(struct dcbmsg), top, DCB_ATTR_MAX, policy) ||
	    !top[DCB_ATTR_IEEE])
		return err_set(e, ERR_KERNEL, EBADMSG, "read the kernel's answer");
	int status = nla_get_u8(top[DCB_ATTR_IEEE]);
	*(int *)arg = status > INT8_MAX ? status - (UINT8_MAX + 1) : status;
	return 0;
}

static int request_change(struct nl *nl, const struct nl_req *rq, const char *ifname,
			  const char *what, struct err *e)
{
	int status;

	if (nl_get(nl, rq, (struct nl_sink){ on_status, &status }, e))
		return err_wrap(e, "%s of interface %s", what, ifname);
	if (status == 0)
		return 0;
	return err_set(e, ERR_KERNEL, status < 0 ? -status : status, "%s of interface %s", what,
		       ifname);
}

/* One attribute of DCB_ATTR_IEEE, and what it does for errors. */
struct dcb_change {
	int attr;
	const void *value;
	size_t len;
	const char *what;
};

static int set_one(struct nl *nl, const char *ifname, struct dcb_change c, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };

	begin_request(&rq, RTM_SETDCB, DCB_CMD_IEEE_SET, ifname);
	struct nlattr *ieee = nl_req_nest(&rq, DCB_ATTR_IEEE);
	nl_req_put(&rq, c.attr, c.value, c.len);
	nl_req_nest_end(&rq, ieee);
	return request_change(nl, &rq, ifname, c.what, e);
}

int nl_dcb_set_pfc(struct nl *nl, const char *ifname, const struct dcb_info *was, uint8_t pfc,
		   struct err *e)
{
	const struct ieee_pfc v = {
		.pfc_cap = was->pfc_cap, .pfc_en = pfc, .mbc = was->pfc_mbc, .delay = was->pfc_delay
	};

	return set_one(nl, ifname,
		       (struct dcb_change){ DCB_ATTR_IEEE_PFC, &v, sizeof(v),
					    "set priority flow control" },
		       e);
}

int nl_dcb_set_ets(struct nl *nl, const char *ifname, const struct dcb_info *want, struct err *e)
{
	struct ieee_ets v;

	memcpy(&v, want->ets, sizeof(v));
	memcpy(v.prio_tc, want->prio_tc, sizeof(v.prio_tc));
	memcpy(v.tc_tx_bw, want->queue_bw, sizeof(v.tc_tx_bw));
	memcpy(v.tc_tsa, want->queue_tsa, sizeof(v.tc_tsa));
	return set_one(nl, ifname,
		       (struct dcb_change){ DCB_ATTR_IEEE_ETS, &v, sizeof(v), "set the queues" },
		       e);
}

int nl_dcb_set_buffers(struct nl *nl, const char *ifname, const struct dcb_info *want,
		       struct err *e)
{
	struct dcbnl_buffer v = { .total_size = 0 };

	memcpy(v.prio2buffer, want->prio_buffer, sizeof(v.prio2buffer));
	memcpy(v.buffer_size, want->buffer, sizeof(v.buffer_size));
	return set_one(nl, ifname,
		       (struct dcb_change){ DCB_ATTR_DCB_BUFFER, &v, sizeof(v), "set the buffers" },
		       e);
}

/* A request has memory for more rules than this; there are 64 DSCP values. */
#define RULES_A_REQUEST 256

/* From number *at on, which becomes that of the first that is left. */
static void put_rules(struct nl_req *rq, const uint8_t rules[DCB_DSCP], unsigned *at)
{
	struct nlattr *ieee = nl_req_nest(rq, DCB_ATTR_IEEE);
	struct nlattr *table = nl_req_nest(rq, DCB_ATTR_IEEE_APP_TABLE);
	struct dcb_app app = { .selector = IEEE_8021QAZ_APP_SEL_DSCP };

	for (unsigned n = 0; *at < DCB_DSCP * DCB_PRIORITIES && n < RULES_A_REQUEST; ++*at) {
		app.protocol = (uint16_t)(*at / DCB_PRIORITIES);
		app.priority = (uint8_t)(*at % DCB_PRIORITIES);
		if (!(rules[app.protocol] >> app.priority & 1))
			continue;
		nl_req_put(rq, DCB_ATTR_IEEE_APP, &app, sizeof(app));
		n++;
	}
	nl_req_nest_end(rq, table);
	nl_req_nest_end(rq, ieee);
}

static int change_rules(struct nl *nl, uint8_t cmd, const char *ifname,
			const uint8_t rules[DCB_DSCP], struct err *e)
{
	unsigned at = 0;

	while (at < DCB_DSCP * DCB_PRIORITIES) {
		auto_nl_req struct nl_req rq = { 0 };

		begin_request(&rq, RTM_SETDCB, cmd, ifname);
		put_rules(&rq, rules, &at);
		if (request_change(nl, &rq, ifname,
				   cmd == DCB_CMD_IEEE_SET ? "set priorities of DSCP values"
							   : "remove priorities of DSCP values",
				   e))
			return -1;
	}
	return 0;
}

int nl_dcb_add_dscp(struct nl *nl, const char *ifname, const uint8_t rules[DCB_DSCP], struct err *e)
{
	return change_rules(nl, DCB_CMD_IEEE_SET, ifname, rules, e);
}

int nl_dcb_del_dscp(struct nl *nl, const char *ifname, const uint8_t rules[DCB_DSCP], struct err *e)
{
	return change_rules(nl, DCB_CMD_IEEE_DEL, ifname, rules, e);
}

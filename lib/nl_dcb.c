/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/nl_dcb.h"

#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/nl_priv.h"

static const struct nla_policy top_policy[DCB_ATTR_MAX + 1] = {
	[DCB_ATTR_IEEE] = { .type = NLA_NESTED },
};

static const struct nla_policy ieee_policy[DCB_ATTR_IEEE_MAX + 1] = {
	[DCB_ATTR_IEEE_PFC] = { .type = NLA_UNSPEC, .minlen = offsetof(struct ieee_pfc, mbc) },
	[DCB_ATTR_IEEE_APP_TABLE] = { .type = NLA_NESTED },
};

static void take_app(const struct dcb_app *app, struct dcb_info *out)
{
	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol >= 64)
		return;
	out->dscp_rules += !(out->has_dscp >> app->protocol & 1);
	out->has_dscp |= UINT64_C(1) << app->protocol;
	out->dscp_prio[app->protocol] = app->priority;
}

static void take_apps(struct nlattr *table, struct dcb_info *out)
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
		take_app(&app, out);
	}
}

static void take_pfc(const struct nlattr *a, struct dcb_info *out)
{
	const struct ieee_pfc *pfc = nla_data(a);

	out->has_pfc = true;
	out->pfc = pfc->pfc_en;
}

static int on_dcb(const struct nlmsghdr *h, void *arg, struct err *e)
{
	struct nlattr *top[DCB_ATTR_MAX + 1], *ieee[DCB_ATTR_IEEE_MAX + 1];
	struct dcb_info *out = arg;

	if (nl_attrs(h, sizeof(struct dcbmsg), top, DCB_ATTR_MAX, top_policy))
		return err_set(e, ERR_KERNEL, EBADMSG, "read the kernel's answer");
	*out = (struct dcb_info){ 0 };
	if (!top[DCB_ATTR_IEEE])
		return 0;
	if (nla_parse_nested(ieee, DCB_ATTR_IEEE_MAX, top[DCB_ATTR_IEEE], ieee_policy) < 0)
		return err_set(e, ERR_KERNEL, EBADMSG, "read the kernel's answer");
	if (ieee[DCB_ATTR_IEEE_PFC])
		take_pfc(ieee[DCB_ATTR_IEEE_PFC], out);
	if (ieee[DCB_ATTR_IEEE_APP_TABLE])
		take_apps(ieee[DCB_ATTR_IEEE_APP_TABLE], out);
	return 0;
}

int nl_dcb_get(struct nl *nl, const char *ifname, struct dcb_info *out, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	const struct dcbmsg head = { .dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_GET };
	struct dcb_info d;

	nl_req_begin(&rq, RTM_GETDCB, 0, &head, sizeof(head));
	nl_req_put_str(&rq, DCB_ATTR_IFNAME, ifname);
	if (nl_query(nl, &rq, (struct nl_sink){ on_dcb, &d }, e) == 0) {
		*out = d;
		return 0;
	}
	if (e->code == ERR_KERNEL && (e->errnum == EOPNOTSUPP || e->errnum == ENODEV))
		e->code = ERR_NOTFOUND;
	return err_wrap(e, "data center bridging of interface %s", ifname);
}

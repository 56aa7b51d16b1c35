/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/nl_dcb.h"

#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "lib/nl_priv.h"
#include "lib/testing.h"
#include "lib/testing_net.h"

/* A driver's answer as attributes behind the family header. */
static struct nl_msg *answer(uint8_t pfc, const struct dcb_app *apps, size_t n)
{
	struct dcbmsg head = { .cmd = DCB_CMD_IEEE_GET };
	struct ieee_pfc p = { .pfc_cap = 8, .pfc_en = pfc };
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETDCB, 0);

	ck_assert_ptr_nonnull(m);
	ck_assert_int_eq(nlmsg_append(m, &head, sizeof(head), 0), 0);
	ck_assert_int_eq(nla_put_string(m, DCB_ATTR_IFNAME, "ens1"), 0);

	struct nlattr *ieee = nla_nest_start(m, DCB_ATTR_IEEE);

	ck_assert_int_eq(nla_put(m, DCB_ATTR_IEEE_PFC, sizeof(p), &p), 0);

	/* libnl takes back a nest in which nothing is; the kernel sends it. */
	struct nlattr *table = n ? nla_nest_start(m, DCB_ATTR_IEEE_APP_TABLE) : NULL;

	ck_assert(table || nla_put(m, DCB_ATTR_IEEE_APP_TABLE, 0, NULL) == 0);
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(nla_put(m, DCB_ATTR_IEEE_APP, sizeof(*apps), &apps[i]), 0);
	if (table)
		nla_nest_end(m, table);
	nla_nest_end(m, ieee);
	return m;
}

static void say(const struct net_fake *k, struct nl_msg *m)
{
	struct nlmsghdr *h = nlmsg_hdr(m);

	h->nlmsg_seq = 1;
	net_say(k, h, nlmsg_data(h), (size_t)nlmsg_datalen(h));
	nlmsg_free(m);
}

START_TEST(flow_control_and_DSCP)
{
	static const struct dcb_app apps[] = {
		{ .selector = IEEE_8021QAZ_APP_SEL_DSCP, .priority = 3, .protocol = 26 },
		{ .selector = IEEE_8021QAZ_APP_SEL_DSCP, .priority = 6, .protocol = 48 },
		{ .selector = IEEE_8021QAZ_APP_SEL_DSCP, .priority = 4, .protocol = 26 },
		{ .selector = IEEE_8021QAZ_APP_SEL_ETHERTYPE, .priority = 5, .protocol = 0x8915 },
		{ .selector = IEEE_8021QAZ_APP_SEL_DSCP, .priority = 1, .protocol = 64 },
	};
	struct net_fake k = net_fake();
	struct dcb_info d;
	struct err e = { 0 };

	say(&k, answer(0x08, apps, ARRAY_SIZE(apps)));
	ck_assert_msg(nl_dcb_get(k.nl, "ens1", &d, &e) == 0, "%s", e.msg);
	ck_assert(d.has_pfc && d.has_app);
	ck_assert_uint_eq(d.pfc, 0x08);
	ck_assert_uint_eq(d.dscp_rules, 2);
	ck_assert_uint_eq(d.has_dscp, UINT64_C(1) << 26 | UINT64_C(1) << 48);
	ck_assert_uint_eq(d.dscp_prio[26], 4);
	ck_assert_uint_eq(d.dscp_prio[48], 6);
	nl_release(k.nl);
}
END_TEST

START_TEST(nothing_is_configured)
{
	struct net_fake k = net_fake();
	struct dcb_info d;
	struct err e = { 0 };

	say(&k, answer(0, NULL, 0));
	ck_assert_int_eq(nl_dcb_get(k.nl, "ens1", &d, &e), 0);
	ck_assert(d.has_pfc && d.has_app && d.pfc == 0 && d.dscp_rules == 0);
	nl_release(k.nl);
}
END_TEST

START_TEST(an_answer_that_is_empty_or_broken)
{
	const struct dcbmsg head = { .cmd = DCB_CMD_IEEE_GET };
	const struct nlmsghdr h = { .nlmsg_type = RTM_GETDCB, .nlmsg_seq = 1 };
	struct net_fake k = net_fake();
	struct dcb_info d;
	struct err e = { 0 };

	net_say(&k, &h, &head, sizeof(head));
	ck_assert_int_eq(nl_dcb_get(k.nl, "ens1", &d, &e), 0);
	ck_assert(!d.has_pfc && !d.has_app);
	nl_release(k.nl);

	k = net_fake();
	net_say(&k, &h, &head, 2);
	ck_assert_int_eq(nl_dcb_get(k.nl, "ens1", &d, &e), -1);
	ck_assert_int_eq(e.errnum, EBADMSG);
	nl_release(k.nl);
}
END_TEST

static void refused_with(int errnum, enum err_code code)
{
	struct net_fake k = net_fake();
	struct dcb_info d;
	struct err e = { 0 };

	net_ack(&k, 1, errnum);
	ck_assert_int_eq(nl_dcb_get(k.nl, "ens1", &d, &e), -1);
	ck_assert_int_eq(e.errnum, errnum);
	ck_assert_int_eq(e.code, code);
	ck_assert_ptr_nonnull(strstr(e.msg, "ens1"));
	nl_release(k.nl);
}

START_TEST(refusals)
{
	refused_with(EOPNOTSUPP, ERR_NOTFOUND);
	refused_with(ENODEV, ERR_NOTFOUND);
	refused_with(EPERM, ERR_KERNEL);
}
END_TEST

/* Of a veth there is nothing to tell, and of none neither; a kernel without DCB says so of both. */
START_TEST(the_real_kernel)
{
	struct dcb_info d;
	struct err e = { 0 };

	net_enter_new();
	net_veth("up0", "peer0", NULL);
	auto_nl struct nl *nl = net_socket();
	ck_assert_int_eq(nl_dcb_get(nl, "up0", &d, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(e.errnum, EOPNOTSUPP);
	ck_assert_int_eq(nl_dcb_get(nl, "nothere", &d, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
}
END_TEST

TEST_PROGRAM("nl_dcb", flow_control_and_DSCP, nothing_is_configured,
	     an_answer_that_is_empty_or_broken, refusals, the_real_kernel)

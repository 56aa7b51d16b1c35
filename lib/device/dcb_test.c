/* SPDX-License-Identifier: Apache-2.0 */
/* dcb_test.c: shows which requests are sent, and how the answers of drivers are read. */
#include "lib/device/dcb.h"

#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "lib/net/nl_msg.h"
#include "lib/testing/testing.h"
#include "lib/testing/net.h"

/* A driver's answer as attributes behind the family header. */
static struct nl_msg *answer(uint8_t pfc, const struct dcb_app *apps, size_t n)
{
	struct dcbmsg head = { .cmd = DCB_CMD_IEEE_GET };
	struct ieee_pfc p = {
		.pfc_cap = 8, .pfc_en = pfc, .requests = { [3] = 5 }, .indications = { [3] = 6 }
	};
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
		{ .selector = IEEE_8021QAZ_APP_SEL_DSCP, .priority = 8, .protocol = 7 },
	};
	struct net_fake k = net_fake();
	struct dcb_info d;
	struct err e = { 0 };

	say(&k, answer(0x08, apps, ARRAY_SIZE(apps)));
	ck_assert_msg(nl_dcb_get(k.nl, "ens1", &d, &e) == 0, "%s", e.msg);
	ck_assert(d.has_pfc && d.has_app);
	ck_assert_uint_eq(d.pfc, 0x08);
	ck_assert_uint_eq(d.dscp_rules, 2);
	for (unsigned i = 0; i < DCB_DSCP; i++)
		ck_assert_uint_eq(d.dscp[i], i == 26 ? 1 << 3 | 1 << 4 : i == 48 ? 1 << 6 : 0);
	ck_assert(!d.has_ets && !d.has_buffers && !d.has_dcbx);
	nl_release(k.nl);
}
END_TEST

START_TEST(queues_buffers_and_who_negotiates)
{
	const struct dcbmsg head = { .cmd = DCB_CMD_IEEE_GET };
	const struct ieee_ets ets = { .prio_tc = { 0, 1, 2, 3, 4, 5, 6, 7 },
				      .tc_tx_bw = { [1] = 100 },
				      .tc_tsa = { [1] = IEEE_8021QAZ_TSA_ETS } };
	const struct dcbnl_buffer b = { .prio2buffer = { [3] = 1 },
					.buffer_size = { 9000, 70000 } };
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETDCB, 0);
	struct net_fake k = net_fake();
	struct dcb_info d;
	struct err e = { 0 };

	ck_assert_int_eq(nlmsg_append(m, (void *)(uintptr_t)&head, sizeof(head), 0), 0);

	struct nlattr *ieee = nla_nest_start(m, DCB_ATTR_IEEE);

	ck_assert_int_eq(nla_put(m, DCB_ATTR_IEEE_ETS, sizeof(ets), &ets), 0);
	ck_assert_int_eq(nla_put(m, DCB_ATTR_DCB_BUFFER, sizeof(b), &b), 0);
	nla_nest_end(m, ieee);
	ck_assert_int_eq(nla_put_u8(m, DCB_ATTR_DCBX, DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE),
			 0);
	say(&k, m);
	ck_assert_msg(nl_dcb_get(k.nl, "ens1", &d, &e) == 0, "%s", e.msg);
	ck_assert(d.has_ets && d.has_buffers && d.has_dcbx && d.dcbx_host && !d.has_pfc);
	ck_assert_uint_eq(d.prio_tc[7], 7);
	ck_assert(d.queue_bw[1] == 100 && d.queue_tsa[1] == DCB_TSA_ETS && d.queue_tsa[0] == 0);
	ck_assert_uint_eq(d.prio_buffer[3], 1);
	ck_assert_uint_eq(d.buffer[1], 70000);
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

START_TEST(refusals_are_explained)
{
	refused_with(EOPNOTSUPP, ERR_NOTFOUND);
	refused_with(ENODEV, ERR_NOTFOUND);
	refused_with(EPERM, ERR_KERNEL);
}
END_TEST

/* ---- changes ---- */

static void say_status_of(const struct net_fake *k, uint32_t seq, uint8_t status)
{
	struct {
		struct dcbmsg head;
		struct nlattr a;
		uint8_t status[NLA_ALIGNTO];
	} body = { { .cmd = DCB_CMD_IEEE_SET },
		   { sizeof(struct nlattr) + 1, DCB_ATTR_IEEE },
		   { status } };
	const struct nlmsghdr h = { .nlmsg_type = RTM_SETDCB, .nlmsg_seq = seq };

	net_say(k, &h, &body, sizeof(body));
}

static void say_status(const struct net_fake *k, uint8_t status)
{
	say_status_of(k, 1, status);
}

/* What was asked: its command, and the attribute inside DCB_ATTR_IEEE. */
static struct nlattr *asked(const struct net_fake *k, uint8_t cmd, int attr)
{
	static _Alignas(NLMSG_ALIGNTO) char buf[8192];
	ssize_t n = recv(k->peer, buf, sizeof(buf), MSG_DONTWAIT);
	struct nlmsghdr *h = (void *)buf;
	struct nlattr *top[DCB_ATTR_MAX + 1], *ieee[DCB_ATTR_IEEE_MAX + 1];

	ck_assert(n > 0 && nlmsg_ok(h, (int)n));
	ck_assert_int_eq(h->nlmsg_type, RTM_SETDCB);
	ck_assert_int_eq(((struct dcbmsg *)nlmsg_data(h))->cmd, cmd);
	ck_assert_int_eq(nl_parse_attrs(h, sizeof(struct dcbmsg), top, DCB_ATTR_MAX, NULL), 0);
	ck_assert_str_eq(nla_get_string(top[DCB_ATTR_IFNAME]), "ens1");
	ck_assert_int_ge(nla_parse_nested(ieee, DCB_ATTR_IEEE_MAX, top[DCB_ATTR_IEEE], NULL), 0);
	ck_assert_ptr_nonnull(ieee[attr]);
	return ieee[attr];
}

START_TEST(flow_control_is_set)
{
	const struct dcb_info was = { .pfc_cap = 8, .pfc_mbc = 1, .pfc_delay = 700 };
	struct net_fake k = net_fake();
	struct err e = { 0 };

	say_status(&k, 0);
	ck_assert_msg(nl_dcb_set_pfc(k.nl, "ens1", &was, 0x18, &e) == 0, "%s", e.msg);

	const struct nlattr *a = asked(&k, DCB_CMD_IEEE_SET, DCB_ATTR_IEEE_PFC);
	const struct ieee_pfc *v = nla_data(a);

	ck_assert_int_eq(nla_len(a), sizeof(*v));
	ck_assert(v->pfc_en == 0x18 && v->pfc_cap == 8 && v->mbc == 1 && v->delay == 700);
	nl_release(k.nl);
}
END_TEST

/* What we do not know of the queues goes back as it came. */
START_TEST(queues_and_buffers_are_set)
{
	const struct ieee_ets was = { .ets_cap = 8, .tc_rx_bw = { [2] = 7 }, .willing = 1 };
	struct dcb_info want = { .prio_tc = { [3] = 3 },
				 .queue_bw = { [3] = 100 },
				 .queue_tsa = { [0] = DCB_TSA_VENDOR, [3] = DCB_TSA_ETS },
				 .prio_buffer = { [3] = 1 },
				 .buffer = { 9000, 70000 } };
	struct net_fake k = net_fake();
	struct err e = { 0 };

	memcpy(want.ets, &was, sizeof(was));
	say_status_of(&k, 1, 0);
	say_status_of(&k, 2, (uint8_t)-EINVAL);
	ck_assert_msg(nl_dcb_set_ets(k.nl, "ens1", &want, &e) == 0, "%s", e.msg);

	const struct ieee_ets *v = nla_data(asked(&k, DCB_CMD_IEEE_SET, DCB_ATTR_IEEE_ETS));

	ck_assert(v->ets_cap == 8 && v->tc_rx_bw[2] == 7 && v->willing == 1);
	ck_assert(v->prio_tc[3] == 3 && v->tc_tx_bw[3] == 100 && v->tc_tx_bw[0] == 0);
	ck_assert(v->tc_tsa[0] == IEEE_8021QAZ_TSA_VENDOR && v->tc_tsa[3] == IEEE_8021QAZ_TSA_ETS);
	ck_assert_int_eq(nl_dcb_set_buffers(k.nl, "ens1", &want, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "set the buffers of interface ens1"));

	const struct dcbnl_buffer *b = nla_data(asked(&k, DCB_CMD_IEEE_SET, DCB_ATTR_DCB_BUFFER));

	ck_assert(b->prio2buffer[3] == 1 && b->buffer_size[1] == 70000 && b->buffer_size[2] == 0);
	nl_release(k.nl);
}
END_TEST

START_TEST(rules_are_added_and_removed)
{
	static const uint8_t rules[DCB_DSCP] = { [0] = 1, [26] = 1 << 3 | 1 << 7, [63] = 1 << 7 };
	static const uint16_t want[][2] = { { 0, 0 }, { 26, 3 }, { 26, 7 }, { 63, 7 } };
	struct err e = { 0 };

	for (int del = 0; del < 2; del++) {
		struct net_fake k = net_fake();
		struct nlattr *a;
		size_t n = 0;
		int left;

		say_status(&k, 0);
		ck_assert_int_eq((del ? nl_dcb_del_dscp : nl_dcb_add_dscp)(k.nl, "ens1", rules, &e),
				 0);
		struct nlattr *table = asked(&k, del ? DCB_CMD_IEEE_DEL : DCB_CMD_IEEE_SET,
					     DCB_ATTR_IEEE_APP_TABLE);

		nla_for_each_nested(a, table, left)
		{
			const struct dcb_app *app = nla_data(a);

			ck_assert(n < ARRAY_SIZE(want) && app->selector == 5 &&
				  app->protocol == want[n][0] && app->priority == want[n][1]);
			n++;
		}
		ck_assert_uint_eq(n, ARRAY_SIZE(want));
		nl_release(k.nl);
	}
}
END_TEST

/* More than a request holds: what comes last is refused. */
START_TEST(every_rule_at_once)
{
	struct net_fake k = net_fake();
	uint8_t rules[DCB_DSCP];
	struct err e = { 0 };

	memset(rules, 0xff, sizeof(rules));
	say_status_of(&k, 1, 0);
	say_status_of(&k, 2, 0);
	ck_assert_msg(nl_dcb_add_dscp(k.nl, "ens1", rules, &e) == 0, "%s", e.msg);
	say_status_of(&k, 3, 0);
	say_status_of(&k, 4, (uint8_t)-ENOSPC);
	ck_assert_int_eq(nl_dcb_add_dscp(k.nl, "ens1", rules, &e), -1);
	ck_assert_int_eq(e.errnum, ENOSPC);
	nl_release(k.nl);
}
END_TEST

START_TEST(a_driver_refuses)
{
	static const uint8_t rules[DCB_DSCP] = { 1 };
	static const struct {
		uint8_t status;
		int errnum;
	} cases[] = { { (uint8_t)-EOPNOTSUPP, EOPNOTSUPP },
		      { (uint8_t)-EINVAL, EINVAL },
		      { EBUSY, EBUSY } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct net_fake k = net_fake();
		struct err e = { 0 };

		say_status(&k, cases[i].status);
		ck_assert_int_eq(nl_dcb_del_dscp(k.nl, "ens1", rules, &e), -1);
		ck_assert_int_eq(e.code, ERR_KERNEL);
		ck_assert_int_eq(e.errnum, cases[i].errnum);
		ck_assert_ptr_nonnull(strstr(e.msg, "of interface ens1"));
		nl_release(k.nl);
	}
}
END_TEST

START_TEST(an_answer_without_a_status)
{
	const struct dcbmsg head = { .cmd = DCB_CMD_IEEE_SET };
	const struct nlmsghdr h = { .nlmsg_type = RTM_SETDCB, .nlmsg_seq = 1 };
	const struct dcb_info was = { .pfc_cap = 8 };
	struct net_fake k = net_fake();
	struct err e = { 0 };

	net_say(&k, &h, &head, sizeof(head));
	ck_assert_int_eq(nl_dcb_set_pfc(k.nl, "ens1", &was, 0, &e), -1);
	ck_assert_int_eq(e.errnum, EBADMSG);
	nl_release(k.nl);
	k = net_fake();
	net_ack(&k, 1, EPERM);
	ck_assert_int_eq(nl_dcb_set_pfc(k.nl, "ens1", &was, 0, &e), -1);
	ck_assert_int_eq(e.errnum, EPERM);
	nl_release(k.nl);
}
END_TEST

/* Of a veth there is nothing to tell, and of none neither; a kernel without DCB says so of both. */
START_TEST(the_real_kernel_answers)
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
	d = (struct dcb_info){ .pfc_cap = 8 };
	ck_assert_int_eq(nl_dcb_set_pfc(nl, "up0", &d, 8, &e), -1);
	ck_assert_int_eq(e.errnum, EOPNOTSUPP);
}
END_TEST

TEST_PROGRAM("nl_dcb", flow_control_and_DSCP, queues_buffers_and_who_negotiates,
	     flow_control_is_set, queues_and_buffers_are_set, rules_are_added_and_removed,
	     every_rule_at_once, a_driver_refuses, an_answer_without_a_status,
	     nothing_is_configured, an_answer_that_is_empty_or_broken, refusals_are_explained,
	     the_real_kernel_answers)

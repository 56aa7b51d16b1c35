/* SPDX-License-Identifier: Apache-2.0 */
/* dcb.c: answers requests of DCB as a driver would, and keeps them for the test. */
#include "lib/testing/dcb.h"

#include <linux/dcbnl.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/net/nl_msg.h"
#include "lib/testing/testing.h"

/* Types of messages (linux/rtnetlink.h). */
#define TYPE_GET 78
#define TYPE_SET 79

static void say(const struct net_fake *k, uint32_t seq, struct nl_msg *m)
{
	struct nlmsghdr *h = nlmsg_hdr(m);

	h->nlmsg_seq = seq;
	net_say(k, h, nlmsg_data(h), (size_t)nlmsg_datalen(h));
	nlmsg_free(m);
}

static struct nl_msg *begin(int type, uint8_t cmd)
{
	struct dcbmsg head = { .cmd = cmd };
	struct nl_msg *m = nlmsg_alloc_simple(type, 0);

	ck_assert_int_eq(nlmsg_append(m, &head, sizeof(head), 0), 0);
	return m;
}

/* libnl takes back a nest in which nothing is; the kernel sends it. */
static void put_rules(struct nl_msg *m, const struct dcb_info *d)
{
	struct nlattr *table = d->dscp_rules ? nla_nest_start(m, DCB_ATTR_IEEE_APP_TABLE) : NULL;

	for (unsigned i = 0; table && i < DCB_DSCP * DCB_PRIORITIES; i++) {
		const struct dcb_app app = { IEEE_8021QAZ_APP_SEL_DSCP,
					     (uint8_t)(i % DCB_PRIORITIES),
					     (uint16_t)(i / DCB_PRIORITIES) };

		if (d->dscp[app.protocol] >> app.priority & 1)
			ck_assert_int_eq(nla_put(m, DCB_ATTR_IEEE_APP, sizeof(app), &app), 0);
	}
	if (table)
		nla_nest_end(m, table);
	else
		ck_assert_int_eq(nla_put(m, DCB_ATTR_IEEE_APP_TABLE, 0, NULL), 0);
}

static void put_queues(struct nl_msg *m, const struct dcb_info *d)
{
	struct ieee_ets ets;

	memcpy(&ets, d->ets, sizeof(ets));
	memcpy(ets.prio_tc, d->prio_tc, sizeof(ets.prio_tc));
	memcpy(ets.tc_tx_bw, d->queue_bw, sizeof(ets.tc_tx_bw));
	memcpy(ets.tc_tsa, d->queue_tsa, sizeof(ets.tc_tsa));
	ck_assert_int_eq(nla_put(m, DCB_ATTR_IEEE_ETS, sizeof(ets), &ets), 0);
}

static void put_buffers(struct nl_msg *m, const struct dcb_info *d)
{
	struct dcbnl_buffer b = { .total_size = 0 };

	memcpy(b.prio2buffer, d->prio_buffer, sizeof(b.prio2buffer));
	memcpy(b.buffer_size, d->buffer, sizeof(b.buffer_size));
	ck_assert_int_eq(nla_put(m, DCB_ATTR_DCB_BUFFER, sizeof(b), &b), 0);
}

void dcb_says_all(const struct net_fake *k, uint32_t seq, const struct dcb_info *d)
{
	const struct ieee_pfc p = { .pfc_cap = 8, .pfc_en = d->pfc };
	struct nl_msg *m = begin(TYPE_GET, DCB_CMD_IEEE_GET);
	struct nlattr *ieee = nla_nest_start(m, DCB_ATTR_IEEE);

	if (d->has_pfc)
		ck_assert_int_eq(nla_put(m, DCB_ATTR_IEEE_PFC, sizeof(p), &p), 0);
	if (d->has_ets)
		put_queues(m, d);
	if (d->has_buffers)
		put_buffers(m, d);
	if (d->has_app)
		put_rules(m, d);
	nla_nest_end(m, ieee);
	say(k, seq, m);
}

void dcb_says(const struct net_fake *k, uint32_t seq, uint8_t pfc, bool dscp)
{
	struct dcb_info d = { .has_pfc = true, .pfc = pfc, .has_app = true, .dscp_rules = dscp };

	if (dscp)
		d.dscp[26] = 1 << 3;
	dcb_says_all(k, seq, &d);
}

void dcb_takes(const struct net_fake *k, uint32_t seq, int errnum)
{
	struct nl_msg *m = begin(TYPE_SET, DCB_CMD_IEEE_SET);

	ck_assert_int_eq(nla_put_u8(m, DCB_ATTR_IEEE, (uint8_t)-errnum), 0);
	say(k, seq, m);
}

void dcb_asked_rules(const struct net_fake *k, bool del, uint8_t out[DCB_DSCP])
{
	static _Alignas(NLMSG_ALIGNTO) char buf[8192];
	ssize_t n = recv(k->peer, buf, sizeof(buf), MSG_DONTWAIT);
	struct nlmsghdr *h = (void *)buf;
	struct nlattr *top[DCB_ATTR_MAX + 1], *ieee[DCB_ATTR_IEEE_MAX + 1], *a;
	int left;

	memset(out, 0, DCB_DSCP);
	ck_assert(n > 0 && nlmsg_ok(h, (int)n) && h->nlmsg_type == TYPE_SET);
	ck_assert_int_eq(((struct dcbmsg *)nlmsg_data(h))->cmd,
			 del ? DCB_CMD_IEEE_DEL : DCB_CMD_IEEE_SET);
	ck_assert_int_eq(nl_parse_attrs(h, sizeof(struct dcbmsg), top, DCB_ATTR_MAX, NULL), 0);
	ck_assert_int_ge(nla_parse_nested(ieee, DCB_ATTR_IEEE_MAX, top[DCB_ATTR_IEEE], NULL), 0);
	ck_assert_ptr_nonnull(ieee[DCB_ATTR_IEEE_APP_TABLE]);
	nla_for_each_nested(a, ieee[DCB_ATTR_IEEE_APP_TABLE], left)
	{
		const struct dcb_app *app = nla_data(a);

		out[app->protocol % DCB_DSCP] |= (uint8_t)(1u << app->priority);
	}
}

unsigned dcb_requests(const struct net_fake *k)
{
	char buf[8192];
	unsigned n = 0;

	while (recv(k->peer, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		n++;
	return n;
}

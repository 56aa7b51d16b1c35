/* SPDX-License-Identifier: Apache-2.0 */
/* dcb.c: answers requests of DCB as a driver would, and keeps them for the test. */
#include "lib/testing/dcb.h"

#include <linux/dcbnl.h>
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

void dcb_says(const struct net_fake *k, uint32_t seq, uint8_t pfc, bool dscp)
{
	const struct ieee_pfc p = { .pfc_cap = 8, .pfc_en = pfc };
	const struct dcb_app app = { IEEE_8021QAZ_APP_SEL_DSCP, 3, 26 };
	struct nl_msg *m = begin(TYPE_GET, DCB_CMD_IEEE_GET);
	struct nlattr *ieee = nla_nest_start(m, DCB_ATTR_IEEE);

	ck_assert_int_eq(nla_put(m, DCB_ATTR_IEEE_PFC, sizeof(p), &p), 0);

	/* libnl takes back a nest in which nothing is; the kernel sends it. */
	struct nlattr *table = dscp ? nla_nest_start(m, DCB_ATTR_IEEE_APP_TABLE) : NULL;

	ck_assert_int_eq(dscp ? nla_put(m, DCB_ATTR_IEEE_APP, sizeof(app), &app)
			      : nla_put(m, DCB_ATTR_IEEE_APP_TABLE, 0, NULL),
			 0);
	if (table)
		nla_nest_end(m, table);
	nla_nest_end(m, ieee);
	say(k, seq, m);
}

void dcb_takes(const struct net_fake *k, uint32_t seq, int errnum)
{
	struct nl_msg *m = begin(TYPE_SET, DCB_CMD_IEEE_SET);

	ck_assert_int_eq(nla_put_u8(m, DCB_ATTR_IEEE, (uint8_t)-errnum), 0);
	say(k, seq, m);
}

unsigned dcb_requests(const struct net_fake *k)
{
	char buf[8192];
	unsigned n = 0;

	while (recv(k->peer, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		n++;
	return n;
}

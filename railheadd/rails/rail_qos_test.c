/* SPDX-License-Identifier: Apache-2.0 */
/* rail_qos_test.c: the finding about a card that has lost its settings. */
#include "railheadd/rails/rail_qos.h"

#include <errno.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/dcb.h"
#include "lib/testing/dir.h"

struct node {
	struct ctx ctx;
	struct net_fake k;
	struct qos_card card;
	struct qos_cards cards;
	uint32_t seq; /* of the next answer */
};

/* The file of ens1 wants PFC for priority 3, a CNP class, and what more the test adds. */
static struct node *node(void)
{
	static struct node n;

	(void)testing_dir();
	n = (struct node){ .seq = 1, .k = net_fake() };
	ctx_init(&n.ctx, "test");
	n.ctx.sysfs = "/mnt/sys";
	strcpy(n.card.port.netdev, "ens1");
	strcpy(n.card.port.pci, "0000:3b:00.0");
	n.card.want = (struct qos_profile){ .has = QOS_BIT(QOS_PFC) | QOS_BIT(QOS_CNP),
					    .pfc = 8,
					    .cnp = { 48, QOS_UNSET } };
	n.cards = (struct qos_cards){ .card = &n.card, .n = 1 };
	return &n;
}

static void finds(struct node *n, const char *netdev, enum finding_state state, const char *value)
{
	const struct rail_qos q = { &n->ctx, n->k.nl, &n->cards };
	auto_findings struct findings all = { 0 };
	struct err e = { .msg = "" };

	ck_assert_msg(rail_qos_check(&q, netdev, "", &all, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(all.n, 1);
	ck_assert_str_eq(all.item[0].id, "qos");
	ck_assert_int_eq(all.item[0].state, state);
	ck_assert_msg(strstr(all.item[0].value ? all.item[0].value : "", value), "%s",
		      all.item[0].value);
	ck_assert_int_eq(all.item[0].remedy != NULL, state == FINDING_WARN);
}

/* debugfs is not here, so the CNPs are not judged. */
START_TEST(a_card_that_lost_its_settings)
{
	struct node *n = node();

	dcb_says(&n->k, n->seq++, 8, true);
	finds(n, "ens1", FINDING_OK, "");
	dcb_says(&n->k, n->seq++, 0, true);
	finds(n, "ens1", FINDING_WARN, "pfc of ens1 is none, and not 3");
	n->card.want.has |= QOS_BIT(QOS_TRUST);
	dcb_says(&n->k, n->seq++, 0, true);
	finds(n, "ens1", FINDING_WARN, "trust of ens1 is dscp, and not pcp; other settings differ");
	nl_release(n->k.nl);
}
END_TEST

START_TEST(cards_that_cannot_be_judged)
{
	struct node *n = node();

	net_ack(&n->k, n->seq++, EOPNOTSUPP);
	finds(n, "ens1", FINDING_UNKNOWN, "");
	/* A class without a place for it is no difference, either. */
	n->card.want.has = QOS_BIT(QOS_TC);
	net_ack(&n->k, n->seq++, EOPNOTSUPP);
	finds(n, "ens1", FINDING_UNKNOWN, "");
	finds(n, "ens2", FINDING_OK, "");
	n->cards.n_wrong = 1;
	strcpy(n->cards.wrong.msg, "a.json: the file");
	finds(n, "ens2", FINDING_UNKNOWN, "is wrong: a.json: the file");
	/* Only declared. */
	n->card.want = (struct qos_profile){ .lossy = true };
	net_ack(&n->k, n->seq++, EOPNOTSUPP);
	finds(n, "ens1", FINDING_OK, "");
	nl_release(n->k.nl);
}
END_TEST

TEST_PROGRAM("railheadd/rails/rail_qos", a_card_that_lost_its_settings, cards_that_cannot_be_judged)

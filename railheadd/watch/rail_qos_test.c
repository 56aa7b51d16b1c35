/* SPDX-License-Identifier: Apache-2.0 */
/* rail_qos_test.c: the finding about a card that has lost its settings. */
#include "railheadd/watch/rail_qos.h"

#include <errno.h>
#include <stdlib.h>
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

#define RDMA "/mnt/sys/class/infiniband/mlx5_0/tc/1"
#define CM   "/mnt/sys/kernel/config/rdma_cm"

static struct node *node_with_class(void)
{
	struct node *n = node();

	strcpy(n->card.port.rdma, "mlx5_0");
	n->card.port.rdma_port = 1;
	n->card.want = (struct qos_profile){ .has = QOS_BIT(QOS_TC), .tc = 106 };
	return n;
}

static void shell(struct node *n, const char *command)
{
	ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c): the text is ours */
	dcb_says(&n->k, n->seq++, 0, false);
}

/* Each of the two places has its own name and number. */
START_TEST(a_class_of_rdma_cm_that_is_lost)
{
	struct node *n = node_with_class();

	shell(n, "mkdir -p " RDMA " " CM "/mlx5_0/ports/1; echo 'Global tclass=106' >" RDMA
		 "/traffic_class; echo 0 >" CM "/mlx5_0/ports/1/default_roce_tos");
	finds(n, "ens1", FINDING_WARN, "cmTrafficClass of ens1 is 0, and not 106");
	shell(n, "echo 106 >" CM "/mlx5_0/ports/1/default_roce_tos; echo >" RDMA "/traffic_class");
	finds(n, "ens1", FINDING_WARN,
	      "trafficClass of ens1 is unknown (none is set), and not 106");
	/* rdma_cm was loaded later: nothing is known of its class. */
	shell(n, "rm -r " CM "/mlx5_0; echo 'Global tclass=106' >" RDMA "/traffic_class");
	finds(n, "ens1", FINDING_OK, "");
	nl_release(n->k.nl);
}
END_TEST

/* A card during a reset, for example: it is not known to have lost anything. */
START_TEST(a_class_that_cannot_be_read)
{
	struct node *n = node_with_class();

	shell(n, "mkdir -p " RDMA "/traffic_class");
	finds(n, "ens1", FINDING_UNKNOWN, "");
	shell(n, "mkdir -p " CM "/mlx5_0/ports/1/default_roce_tos");
	finds(n, "ens1", FINDING_UNKNOWN, "");
	nl_release(n->k.nl);
}
END_TEST

TEST_PROGRAM("railheadd/watch/rail_qos", a_card_that_lost_its_settings, cards_that_cannot_be_judged,
	     a_class_of_rdma_cm_that_is_lost, a_class_that_cannot_be_read)

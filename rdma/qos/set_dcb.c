/* SPDX-License-Identifier: Apache-2.0 */
/* set_dcb.c: the steps of qos_set() through data center bridging and ethtool. */
#include "lib/device/ethtool.h"
#include "rdma/qos/priv.h"

static const char *set_dcb_netdev_of(const struct qos_change *t)
{
	return t->w->port->netdev;
}

/* The settings of bits that are not as wanted; they are noted as changed. */
static unsigned set_dcb_start(struct qos_change *t, const struct qos_state *is, unsigned bits)
{
	unsigned differing = qos_differing(is, t->want) & bits;

	t->changed |= differing;
	return differing;
}

static int set_dcb_verify(const struct qos_change *t, unsigned bits, struct err *e)
{
	struct qos_state now = t->was;
	unsigned left;

	if (nl_dcb_get(t->w->nl, set_dcb_netdev_of(t), &now.dcb, e))
		return -1;
	now.trust_dscp = now.dcb.dscp_rules > 0;
	now.pfc = now.dcb.pfc;
	left = qos_differing(&now, t->want) & bits;
	for (unsigned i = 0; i < QOS_N; i++)
		if (left & QOS_BIT(i))
			return qos_no_effect(t, (enum qos_setting)i, e);
	return 0;
}

/* ---- trust and priorities of DSCP values ---- */

/* Rules of a that b does not have. Returns whether there are any. */
static bool missing_rules(const uint8_t a[DCB_DSCP], const uint8_t b[DCB_DSCP],
			  uint8_t out[DCB_DSCP])
{
	uint8_t any = 0;

	for (size_t i = 0; i < DCB_DSCP; i++) {
		out[i] = a[i] & (uint8_t)~b[i];
		any |= out[i];
	}
	return any;
}

/*
 * New rules come before old ones go: without any, the driver would trust the VLAN tag for a moment.
 * The rules are read again in between, because mlx5 replaces the rule of a value by itself. It
 * refuses to remove one that is not there (mlx5e_dcbnl_ieee_delapp() in en_dcbnl.c of Linux 6.12).
 */
static int make_rules(const struct qos_change *t, const uint8_t rules[DCB_DSCP], struct err *e)
{
	struct nl *nl = t->w->nl;
	uint8_t some[DCB_DSCP];
	struct dcb_info is;

	if (nl_dcb_get(nl, set_dcb_netdev_of(t), &is, e))
		return -1;
	if (missing_rules(rules, is.dscp, some)) {
		if (nl_dcb_add_dscp(nl, set_dcb_netdev_of(t), some, e) ||
		    nl_dcb_get(nl, set_dcb_netdev_of(t), &is, e))
			return -1;
	}
	return missing_rules(is.dscp, rules, some)
		       ? nl_dcb_del_dscp(nl, set_dcb_netdev_of(t), some, e)
		       : 0;
}

static int rules_back(void *arg, struct err *e)
{
	const struct qos_change *t = arg;

	return make_rules(t, t->was.dcb.dscp, e);
}

/*
 * The kernel has no switch for trust. A driver trusts DSCP if DSCP values have priorities (mlx5:
 * drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c). If the
 * profile names no rules, the eight values of each class selector (RFC 2474) get the priority of
 * its number. A NIC has that from the factory.
 */
static void choose_rules(const struct qos_profile *want, uint8_t out[DCB_DSCP])
{
	for (size_t i = 0; i < DCB_DSCP; i++) {
		uint8_t priority = want->has & QOS_BIT(QOS_DSCP) ? want->dscp[i]
				   : want->trust_dscp            ? (uint8_t)(i / 8)
								 : QOS_NO_RULE;

		out[i] = priority == QOS_NO_RULE ? 0 : (uint8_t)(1u << priority);
	}
}

int qos_set_rules(struct qos_change *t, struct undo *u, struct err *e)
{
	unsigned bits = set_dcb_start(t, &t->was, QOS_BIT(QOS_TRUST) | QOS_BIT(QOS_DSCP));
	uint8_t rules[DCB_DSCP];

	if (!bits)
		return 0;
	choose_rules(t->want, rules);
	undo_push(u, rules_back, t, "put the priorities of DSCP values back");
	return make_rules(t, rules, e) || set_dcb_verify(t, bits, e) ? -1 : 0;
}

/* ---- queues ---- */

static int queues_back(void *arg, struct err *e)
{
	const struct qos_change *t = arg;

	return nl_dcb_set_ets(t->w->nl, set_dcb_netdev_of(t), &t->was.dcb, e);
}

static void choose_queues(const struct qos_profile *want, struct dcb_info *d)
{
	const uint32_t *queue = want->list[0];
	const uint32_t *share = want->list[QOS_QUEUE_BANDWIDTH - QOS_PRIORITY_QUEUES];

	for (size_t i = 0; i < DCB_PRIORITIES; i++) {
		if (want->has & QOS_BIT(QOS_PRIORITY_QUEUES))
			d->prio_tc[i] = (uint8_t)queue[i];
		if (!(want->has & QOS_BIT(QOS_QUEUE_BANDWIDTH)))
			continue;
		d->queue_bw[i] = share[i] < QOS_VENDOR ? (uint8_t)share[i] : 0;
		d->queue_tsa[i] = share[i] == QOS_STRICT   ? DCB_TSA_STRICT
				  : share[i] == QOS_VENDOR ? DCB_TSA_VENDOR
							   : DCB_TSA_ETS;
	}
}

int qos_set_queues(struct qos_change *t, struct undo *u, struct err *e)
{
	unsigned bits = set_dcb_start(t, &t->was,
				      QOS_BIT(QOS_PRIORITY_QUEUES) | QOS_BIT(QOS_QUEUE_BANDWIDTH));
	struct dcb_info want = t->was.dcb;

	if (!bits)
		return 0;
	choose_queues(t->want, &want);
	undo_push(u, queues_back, t, "put the queues back");
	return nl_dcb_set_ets(t->w->nl, set_dcb_netdev_of(t), &want, e) ||
			       set_dcb_verify(t, bits, e)
		       ? -1
		       : 0;
}

/* ---- buffers ---- */

static int buffers_back(void *arg, struct err *e)
{
	const struct qos_change *t = arg;

	if (!t->wrote_buffers)
		return 0;
	return nl_dcb_set_buffers(t->w->nl, set_dcb_netdev_of(t), &t->was.dcb, e);
}

int qos_keep_buffers(struct qos_change *t, struct undo *u, struct err *e)
{
	(void)e;
	undo_push(u, buffers_back, t, "put the buffers back");
	return 0;
}

/* From the card's state now: the priorities with PFC may have changed the buffers. */
int qos_set_buffers(struct qos_change *t, struct undo *u, struct err *e)
{
	const uint32_t *of_priority = t->want->list[QOS_PRIORITY_BUFFERS - QOS_PRIORITY_QUEUES];
	const uint32_t *bytes = t->want->list[QOS_BUFFER_BYTES - QOS_PRIORITY_QUEUES];
	struct qos_state now = t->was;
	struct dcb_info want;
	unsigned bits;

	(void)u;
	if (nl_dcb_get(t->w->nl, set_dcb_netdev_of(t), &now.dcb, e))
		return -1;
	bits = set_dcb_start(t, &now, QOS_BIT(QOS_PRIORITY_BUFFERS) | QOS_BIT(QOS_BUFFER_BYTES));
	if (!bits)
		return 0;
	want = now.dcb;
	for (size_t i = 0; i < DCB_PRIORITIES; i++) {
		if (t->want->has & QOS_BIT(QOS_PRIORITY_BUFFERS))
			want.prio_buffer[i] = (uint8_t)of_priority[i];
		if (t->want->has & QOS_BIT(QOS_BUFFER_BYTES))
			want.buffer[i] = bytes[i];
	}
	t->wrote_buffers = true;
	return nl_dcb_set_buffers(t->w->nl, set_dcb_netdev_of(t), &want, e) ||
			       set_dcb_verify(t, bits, e)
		       ? -1
		       : 0;
}

/* ---- priority flow control ---- */

static int pfc_back(void *arg, struct err *e)
{
	const struct qos_change *t = arg;

	return nl_dcb_set_pfc(t->w->nl, set_dcb_netdev_of(t), &t->was.dcb, t->was.pfc, e);
}

int qos_set_pfc(struct qos_change *t, struct undo *u, struct err *e)
{
	unsigned bits = set_dcb_start(t, &t->was, QOS_BIT(QOS_PFC));

	if (!bits)
		return 0;
	undo_push(u, pfc_back, t, "put priority flow control back");
	return nl_dcb_set_pfc(t->w->nl, set_dcb_netdev_of(t), &t->was.dcb, t->want->pfc, e) ||
			       set_dcb_verify(t, bits, e)
		       ? -1
		       : 0;
}

/* ---- pause storms ---- */

static int storm_back(void *arg, struct err *e)
{
	const struct qos_change *t = arg;

	return ethtool_set_storm(set_dcb_netdev_of(t), t->was.storm, e);
}

int qos_set_storm(struct qos_change *t, struct undo *u, struct err *e)
{
	struct qos_state now = t->was;

	if (!set_dcb_start(t, &t->was, QOS_BIT(QOS_STORM)))
		return 0;
	undo_push(u, storm_back, t, "put the time of pause storms back");
	if (ethtool_set_storm(set_dcb_netdev_of(t), t->want->storm, e) ||
	    ethtool_get_storm(set_dcb_netdev_of(t), &now.storm, e))
		return -1;
	return qos_differing(&now, t->want) & QOS_BIT(QOS_STORM) ? qos_no_effect(t, QOS_STORM, e)
								 : 0;
}

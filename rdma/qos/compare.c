/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c: compares the settings of a card with a profile. Pure. */
#include <stdio.h>

#include "lib/device/ethtool.h"
#include "rdma/qos/qos.h"

#define CELLS 4096 /* bytes; a card counts its buffers in cells */

static uint32_t bandwidth_of(const struct dcb_info *d, size_t queue)
{
	if (d->queue_tsa[queue] == DCB_TSA_ETS)
		return d->queue_bw[queue];
	return d->queue_tsa[queue] == DCB_TSA_STRICT ? QOS_STRICT : QOS_VENDOR;
}

static uint8_t priority_of(uint8_t rules)
{
	uint8_t priority = QOS_NO_RULE;

	for (uint8_t i = 0; i < DCB_PRIORITIES; i++)
		if (rules >> i & 1)
			priority = i;
	return priority;
}

struct qos_profile qos_profile_of(const struct qos_state *s)
{
	struct qos_profile p = { .has = s->known & QOS_PROFILE,
				 .trust_dscp = s->trust_dscp,
				 .pfc = s->pfc,
				 .ecn = s->ecn_np & s->ecn_rp,
				 .storm = s->storm,
				 .cnp = s->cnp,
				 .tc = s->tc };

	for (size_t i = 0; i < DCB_DSCP; i++)
		p.dscp[i] = priority_of(s->dcb.dscp[i]);
	for (size_t i = 0; i < DCB_PRIORITIES; i++) {
		qos_list_of(&p, QOS_PRIORITY_QUEUES)[i] = s->dcb.prio_tc[i];
		qos_list_of(&p, QOS_QUEUE_BANDWIDTH)[i] = bandwidth_of(&s->dcb, i);
		qos_list_of(&p, QOS_PRIORITY_BUFFERS)[i] = s->dcb.prio_buffer[i];
		qos_list_of(&p, QOS_BUFFER_BYTES)[i] = s->dcb.buffer[i];
	}
	return p;
}

/* Here a value with two priorities is not as wanted. */
static bool same_dscp(const struct dcb_info *d, const struct qos_profile *want)
{
	for (size_t i = 0; i < DCB_DSCP; i++)
		if (d->dscp[i] !=
		    (want->dscp[i] == QOS_NO_RULE ? 0 : (uint8_t)(1u << want->dscp[i])))
			return false;
	return true;
}

static bool same_list(enum qos_setting s, struct qos_profile *is, struct qos_profile *want)
{
	const uint32_t *a = qos_list_of(is, s), *b = qos_list_of(want, s);

	for (size_t i = 0; i < DCB_PRIORITIES; i++) {
		uint32_t more = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];

		if (s == QOS_BUFFER_BYTES ? more >= CELLS : more)
			return false;
	}
	return true;
}

static bool same_cnp(const struct qos_cnp *is, const struct qos_cnp *want)
{
	return (want->dscp < 0 || is->dscp == want->dscp) &&
	       (want->priority < 0 || is->priority == want->priority);
}

/* The class is set in each of its two places that exists; one must. */
static bool same_class(const struct qos_state *s, enum qos_setting place, uint8_t tc)
{
	if (!(s->can & QOS_BIT(place)))
		return place == QOS_CM || s->can;
	return (s->known & QOS_BIT(place)) && (place == QOS_CM ? s->cm : s->tc) == tc;
}

static bool same(const struct qos_state *s, enum qos_setting what, const struct qos_profile *want)
{
	struct qos_profile is = qos_profile_of(s), copy = *want;

	switch (what) {
	case QOS_TRUST:
		return s->trust_dscp == want->trust_dscp;
	case QOS_DSCP:
		return same_dscp(&s->dcb, want);
	case QOS_PRIORITY_QUEUES:
	case QOS_QUEUE_BANDWIDTH:
	case QOS_PRIORITY_BUFFERS:
	case QOS_BUFFER_BYTES:
		return same_list(what, &is, &copy);
	case QOS_PFC:
		return s->pfc == want->pfc;
	case QOS_STORM:
		return want->storm == ETHTOOL_STORM_AUTO ? s->storm : s->storm == want->storm;
	case QOS_ECN:
		return s->ecn_np == want->ecn && s->ecn_rp == want->ecn;
	case QOS_CNP:
		return same_cnp(&s->cnp, &want->cnp);
	case QOS_TC:
	case QOS_CM:
		return same_class(s, what, want->tc);
	case QOS_N:
		break;
	}
	return true;
}

unsigned qos_differing(const struct qos_state *s, const struct qos_profile *want)
{
	unsigned out = 0, has = qos_wanted(want);

	for (unsigned i = 0; i < QOS_N; i++) {
		bool known = i >= QOS_TC || (s->known & QOS_BIT(i));

		if ((has & QOS_BIT(i)) && (!known || !same(s, (enum qos_setting)i, want)))
			out |= QOS_BIT(i);
	}
	return out;
}

unsigned qos_wanted(const struct qos_profile *want)
{
	return want->has | (want->has & QOS_BIT(QOS_TC) ? QOS_BIT(QOS_CM) : 0);
}

char *qos_state_text(enum qos_setting what, const struct qos_state *s, char out[QOS_TEXT_LEN])
{
	struct qos_profile is = qos_profile_of(s);

	if (!(s->known & QOS_BIT(what))) {
		(void)snprintf(out, QOS_TEXT_LEN, "unknown (%s)", s->why[what]);
		return out;
	}
	if (what == QOS_CM)
		is.tc = s->cm;
	return qos_text(what, &is, out);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* rail_qos.c: compares the card of a rail with its file. */
#include "railheadd/watch/rail_qos.h"

/* A container may not see debugfs and configfs, so what is not known is not judged. */
static unsigned known_of(const struct qos_state *s)
{
	return s->known | (s->tc_unset ? QOS_BIT(QOS_TC) : 0);
}

static void warn(const struct qos_card *card, const struct qos_state *s, unsigned lost,
		 struct finding *f)
{
	char text[QOS_TEXT_LEN], want[QOS_TEXT_LEN];
	unsigned n = 0, first = 0;

	for (unsigned i = QOS_N; i-- > 0;) {
		if (!(lost & QOS_BIT(i)))
			continue;
		first = i;
		n++;
	}
	f->state = FINDING_WARN;
	finding_set_value(f, "%s of %s is %.40s, and not %.40s%s",
			  qos_name((enum qos_setting)first), card->port.netdev,
			  qos_state_text((enum qos_setting)first, s, text),
			  qos_text((enum qos_setting)first, &card->want, want),
			  n > 1 ? "; other settings differ, too" : "");
	finding_set_reason(f, "a card loses its settings if its driver is bound again or its "
			      "firmware is reset: RDMA may lose packets");
	finding_set_remedy(f, "railctl rdma qos apply, on this node; railctl rdma qos check shows "
			      "all differences");
}

int rail_qos_check(const struct rail_qos *q, const char *netdev, const char *pci,
		   struct findings *out, struct err *e)
{
	const struct qos_card *card = qos_card_of(q->cards, netdev, pci);
	struct finding *f = findings_add(out, "qos", FINDING_OK);
	struct qos_state s;
	unsigned known, lost;

	if (!card) {
		if (q->cards->n_wrong)
			f->state = FINDING_UNKNOWN;
		if (q->cards->n_wrong)
			finding_set_value(f, "a file of " QOS_DIR " is wrong: %.100s",
					  q->cards->wrong.msg);
		return 0;
	}
	if (qos_read(q->ctx, q->nl, &card->port, &s, e))
		return -1;
	known = known_of(&s) & qos_wanted(&card->want);
	lost = qos_differing(&s, &card->want) & known;
	if (lost)
		warn(card, &s, lost, f);
	else if (card->want.has && !known)
		f->state = FINDING_UNKNOWN;
	return 0;
}

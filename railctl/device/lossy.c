/* SPDX-License-Identifier: Apache-2.0 */
/* lossy.c: finds the cards that files of qos.d declare lossy. */
#include "railctl/device/lossy.h"

#include <errno.h>

int rdma_cards_read(const struct ctx *ctx, const char *dir, struct qos_cards *out, struct err *e)
{
	if (qos_cards_read(ctx, dir, out, e)) {
		if (e->errnum != EACCES)
			return -1;
		log_warn(&ctx->log, "%s; which cards are lossy is not known", e->msg);
	}
	if (out->n_wrong)
		log_warn(&ctx->log, "%s: %u files are left out, first %s", dir, out->n_wrong,
			 out->wrong.msg);
	return 0;
}

static bool is_lossy(const struct qos_card *card)
{
	return card && card->want.lossy;
}

bool rdma_is_lossy(const struct qos_cards *c, const char *netdev)
{
	return is_lossy(qos_card_of(c, netdev, ""));
}

bool rdma_is_on_lossy(const struct qos_cards *c, const char *sysfs, const struct inv_device *d)
{
	char pf[PCI_STR_LEN];
	struct err ignored;

	if (!c->n || !*d->bus)
		return false;
	return is_lossy(qos_card_of(c, "", d->bus)) ||
	       (d->vf && pci_physfn(sysfs, d->bus, pf, &ignored) == 0 &&
		is_lossy(qos_card_of(c, "", pf)));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_lossy.c: collects the cards that files of qos.d declare lossy. */
#include "railctl/rdma/rdma_lossy.h"

#include <errno.h>
#include <string.h>

#include "railctl/dropin/dropin.h"
#include "rdma/inventory/inventory.h"

struct search {
	const struct ctx *ctx;
	struct dropin d;
	struct lossy_cards found;
};

static int take_card(struct search *s, const struct qos_port *card, struct err *e)
{
	struct qos_port *more = reallocarray(s->found.card, s->found.n + 1, sizeof(*s->found.card));

	if (!more)
		return err_nomem(e);
	s->found.card = more;
	more[s->found.n++] = *card;
	return 0;
}

static int take_file(const char *name, void *arg, struct err *e)
{
	struct search *s = arg;
	auto_free char *text = NULL;
	struct err why;
	struct qos_file f;
	struct qos_port card;
	ssize_t len = dropin_read(&s->d, name, &text, &why);

	if (len < 0 || qos_file_decode(text, (size_t)len, name, &f, &why) ||
	    (f.want.lossy && qos_find(s->ctx, f.pf, &card, &why))) {
		log_warn(&s->ctx->log, "%s/%s: %s", s->d.dir, name, why.msg);
		return why.code == ERR_NOMEM ? err_nomem(e) : 0;
	}
	return f.want.lossy ? take_card(s, &card, e) : 0;
}

int rdma_lossy_read(const struct ctx *ctx, const char *dir, struct lossy_cards *out, struct err *e)
{
	struct search s = { .ctx = ctx, .d.fd = -1 };
	struct err why;

	if (dropin_open(dir, &s.d, &why)) {
		if (why.errnum != ENOENT) {
			*e = why;
			return -1;
		}
		*out = s.found;
		return 0;
	}
	auto_fd int fd = s.d.fd;
	if (dropin_each(&s.d, take_file, &s, e)) {
		lossy_cards_clear(&s.found);
		return -1;
	}
	*out = s.found;
	return 0;
}

void lossy_cards_clear(struct lossy_cards *l)
{
	free(l->card);
	*l = (struct lossy_cards){ 0 };
}

bool rdma_lossy_has(const struct lossy_cards *l, const char *netdev, const char *pci)
{
	for (size_t i = 0; i < l->n; i++)
		if ((*netdev && strcmp(l->card[i].netdev, netdev) == 0) ||
		    (*pci && strcmp(l->card[i].pci, pci) == 0))
			return true;
	return false;
}

bool rdma_lossy_has_device(const struct lossy_cards *l, const char *sysfs,
			   const struct inv_device *d)
{
	char pf[PCI_STR_LEN];
	struct err ignored;

	if (!l->n || !*d->bus)
		return false;
	return rdma_lossy_has(l, "", d->bus) ||
	       (d->vf && pci_physfn(sysfs, d->bus, pf, &ignored) == 0 && rdma_lossy_has(l, "", pf));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* sample_card.c: cards with VFs, found by their interfaces, and the VFs that attachments own. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/sys/fs.h"
#include "railheadd/watch/sample_priv.h"
#include "sriov/vf/state.h"

struct used {
	const char *pf;
	char boot[CTX_BOOT_ID_LEN + 1];
	unsigned n;
};

/* An entry of an earlier boot says nothing of this one. */
static int sample_card_count_used(const struct vf_entry *x, void *arg)
{
	struct used *u = arg;

	u->n += x->owned && strcmp(x->pf, u->pf) == 0 && strcmp(x->boot, u->boot) == 0;
	return 0;
}

static int add_card(struct sample *s, const char *pf, const char *netdev,
		    const struct pci_sriov *sriov)
{
	const struct ctx *ctx = s->from->ctx;
	struct used used = { .pf = pf };
	struct err ignored;
	struct json *o = json_push_object(s->cards);
	bool known = ctx_boot_id(ctx, used.boot, &ignored) == 0 &&
		     vf_state_each(ctx, sample_card_count_used, &used, &ignored) == 0;

	return !o || json_add_str(o, "pf", pf) || json_add_str(o, "interface", netdev) ||
			       json_add_int(o, "vfs", sriov->num) ||
			       json_add_int(o, "most", sriov->total) ||
			       (known && json_add_int(o, "used", used.n))
		       ? err_nomem(s->e)
		       : 0;
}

/* Representors have the PCI address of their card, too. The PF's own interface represents it. */
static int add_if_card(struct sample *s, const char *name)
{
	const char *sysfs = s->from->ctx->sysfs;
	char pf[PCI_STR_LEN], own[IFNAME_LEN];
	struct pci_sriov sriov;
	struct err ignored;

	if (pci_of_netdev(sysfs, name, pf, &ignored) || pci_sriov(sysfs, pf, &sriov, &ignored) ||
	    sriov.num == 0 || pci_pf_netdev(sysfs, pf, own, &ignored) || strcmp(own, name) != 0)
		return 0;
	return add_card(s, pf, name, &sriov) || sample_interface_add(s, name) ? -1 : 0;
}

int sample_cards(struct sample *s)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	char path[PATH_MAX];
	struct err why;

	(void)snprintf(path, sizeof(path), "%s/class/net", s->from->ctx->sysfs);
	if (fs_names_at(AT_FDCWD, path, FS_NAMES_MAX, &names, &why))
		return why.code == ERR_NOMEM ? err_nomem(s->e) : 0;
	for (size_t i = 0; i < names.n; i++) {
		if (add_if_card(s, names.name[i]))
			return -1;
	}
	return 0;
}

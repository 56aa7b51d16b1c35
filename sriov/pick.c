/* SPDX-License-Identifier: Apache-2.0 */
/* pick.c: a free VF of some PFs, for an attachment that does not say which. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sriov/claim.h"

/* One search. */
struct search {
	const struct claimant *who;
	struct vf_place *place;
	uint32_t seen, taken;
};

static int pf_address(const struct ctx *ctx, const char *name, char out[PCI_STR_LEN], struct err *e)
{
	struct pci_addr a;

	if (pci_parse(name, &a) == 0) {
		pci_format(a, out);
		return 0;
	}
	if (pci_of_netdev(ctx->sysfs, name, out, e) == 0)
		return 0;
	if (e->code == ERR_NOTFOUND)
		e->code = ERR_CONFIG;
	return err_wrap(e, "resource.pf: \"%s\"", name);
}

static bool looks_taken(const struct search *s, const char *vf)
{
	auto_vf_entry struct vf_entry x = { 0 };
	struct err ignored;

	return ledger_read(s->who->ctx, vf, &x, &ignored) == 0 && x.owned;
}

/* 1: it is ours now. */
static int try_vf(struct search *s, const char *vf, struct err *e)
{
	struct err why;

	if (claim_vf(s->who, vf, s->place, &why) == 0)
		return 1;
	if (why.code != ERR_BUSY && why.code != ERR_STATE && why.code != ERR_NOTFOUND) {
		*e = why;
		return -1;
	}
	log_debug(&s->who->ctx->log, "%s", why.msg);
	return 0;
}

/*
 * Those that the books call free first: that costs one file a VF. Only when there are none, the
 * taken ones are asked whether their owners still live.
 */
static int search_pf(struct search *s, const char *pf, bool free_ones, struct err *e)
{
	struct pci_sriov vfs;
	char vf[PCI_STR_LEN];

	if (pci_sriov(s->who->ctx->sysfs, pf, &vfs, e))
		return -1;
	for (uint32_t i = 0; i < vfs.num; i++) {
		if (pci_vf_addr(s->who->ctx->sysfs, pf, i, vf, e))
			return -1;
		bool taken = looks_taken(s, vf);
		if (free_ones) {
			s->seen++;
			s->taken += taken;
		}
		if (taken == free_ones)
			continue;
		int rc = try_vf(s, vf, e);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * A node that boots starts all its pods at once, and each look at a VF waits for the kernel's one
 * lock of all links, which the others' moves hold.
 */
#define PF_LOCK_MS 60000

/* While one looks, nobody else does: two that see the same free VF would only collide later. */
static int search_locked(struct search *s, const char *pf, struct err *e)
{
	auto_fd int lock = ledger_lock(s->who->ctx, pf, PF_LOCK_MS, e);

	if (lock < 0)
		return -1;
	int rc = search_pf(s, pf, true, e);
	return rc ? rc : search_pf(s, pf, false, e);
}

int claim_any(const struct claimant *who, struct pf_list pfs, struct vf_place *place, struct err *e)
{
	struct search s = { .who = who, .place = place };
	char pf[PCI_STR_LEN];

	for (size_t i = 0; i < pfs.n; i++) {
		if (pf_address(who->ctx, pfs.name[i], pf, e))
			return -1;
		int rc = search_locked(&s, pf, e);
		if (rc)
			return rc > 0 ? 0 : err_wrap(e, "resource.pf: \"%s\"", pfs.name[i]);
	}
	err_set(e, ERR_EXHAUSTED, 0, "resource: no free VF: of %u, %u belong to attachments",
		s.seen, s.taken);
	return err_hint(e, "railctl vf list shows them; railctl vf create makes more");
}

int claim_possible(const struct ctx *ctx, struct pf_list pfs, struct err *e)
{
	struct pci_sriov vfs;
	char pf[PCI_STR_LEN];
	bool any = false;

	for (size_t i = 0; i < pfs.n; i++) {
		if (pf_address(ctx, pfs.name[i], pf, e) || pci_sriov(ctx->sysfs, pf, &vfs, e))
			return -1;
		any = any || vfs.num;
	}
	return any ? 0 : err_set(e, ERR_UNAVAILABLE, 0, "resource.pf: none of the PFs has VFs");
}

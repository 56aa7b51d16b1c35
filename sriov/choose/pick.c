/* SPDX-License-Identifier: Apache-2.0 */
/* pick.c: claims a free VF of a list of PFs, for an attachment that names no VF. */
#include <errno.h>
#include <string.h>

#include "sriov/claim/claim.h"
#include "sriov/choose/inventory.h"

/* One search. */
struct search {
	const struct claimant *who;
	struct vf_place *place;
	int states; /* the folder of the VF states, or -1 */
	bool free_ones;
	int found; /* 1, or -1 with e set */
	struct err *e;
	uint32_t seen, taken;
	uint32_t passed;  /* PFs of which the container has a VF */
	struct err unfit; /* why the last free VF cannot serve */
	struct err later; /* ERR_AGAIN of a VF that may serve later; code 0: none */
};

/* A PF that is missing, or a device that is not a PF, is an error of the configuration. */
static int explain_pf(const char *name, struct err *e)
{
	if (e->code == ERR_NOTFOUND)
		e->code = ERR_CONFIG;
	return err_wrap(e, "resource.pf: \"%s\"", name);
}

int claim_find_pf(const struct ctx *ctx, const char *name, char out[PCI_STR_LEN], struct err *e)
{
	struct pci_addr a;

	if (pci_parse(name, &a) == 0) {
		pci_format(a, out);
		return 0;
	}
	return pci_of_netdev(ctx->sysfs, name, out, e) ? explain_pf(name, e) : 0;
}

/* 1: the VF is claimed; 0: it is not free. */
static int try_vf(struct search *s, const char *vf, struct err *e)
{
	struct err why;

	if (claim_vf(s->who, vf, s->place, &why) == 0)
		return 1;
	if (why.code == ERR_AGAIN) {
		s->later = why;
		return 0;
	}
	/* ENODEV: another program moved or renamed it meanwhile. */
	if (why.code != ERR_BUSY && why.code != ERR_STATE && why.code != ERR_NOTFOUND &&
	    why.errnum != ENODEV)
		return err_pass(e, &why);
	log_debug(&s->who->ctx->log, "%s", why.msg);
	if (s->free_ones)
		s->unfit = why;
	return 0;
}

/* Asks the VF state, not the kernel: other attachments wait for the PF's lock meanwhile. */
static bool belongs_to_another(const struct search *s, const char *vf)
{
	auto_vf_entry struct vf_entry x = { 0 };
	struct err ignored;

	return vf_state_current(s->who->ctx, vf, &x, &ignored) == 0 &&
	       !vf_owner_is(&x, &s->who->key, s->who->netns_id) && vf_owner_lives(s->who->ctx, &x);
}

struct container_search {
	const struct claimant *who;
	int states;
	bool found;
};

static int is_of_container(const char *vf, void *arg)
{
	struct container_search *l = arg;
	const struct record_key *key = &l->who->key;
	auto_vf_entry struct vf_entry x = { 0 };
	struct err ignored;

	if (!vf_state_looks_owned_by(l->states, vf, key->container) ||
	    vf_state_current(l->who->ctx, vf, &x, &ignored))
		return 0;
	l->found = x.owned && !strcmp(x.owner.key.container, key->container) &&
		   !vf_owner_is(&x, key, l->who->netns_id) && vf_owner_lives(l->who->ctx, &x);
	return l->found;
}

bool claim_has_vf_of(const struct claimant *who, const char *pf)
{
	auto_fd int states = vf_state_open_dir(who->ctx);
	struct container_search l = { who, states, false };
	struct err ignored;

	return pci_vf_each(who->ctx->sysfs, pf, is_of_container, &l, &ignored) == 0 && l.found;
}

/* Non-zero: the VF is claimed, or an error ends the search. */
static int consider_vf(const char *vf, void *arg)
{
	struct search *s = arg;
	bool taken = vf_state_looks_owned(s->states, vf);

	if (s->free_ones) {
		s->seen++;
		s->taken += taken;
	}
	if (taken != s->free_ones && !(taken && belongs_to_another(s, vf)))
		s->found = try_vf(s, vf, s->e);
	return s->found;
}

/*
 * A node that boots starts all its pods at once. Each look at a VF waits for the kernel's lock of
 * all links, which the moves of other pods hold.
 */
#define PF_LOCK_MS 60000

/*
 * Only one process searches a PF at a time: two that see the same free VF would collide later. The
 * first pass tries VFs that look free. A look costs a tenth of reading the state, and the only free
 * VF can be the last of 250. The second pass reads whether the owners of the others still live.
 */
static int search_pf(struct search *s, const char *pf, struct err *e)
{
	auto_fd int lock = vf_state_lock(s->who->ctx, pf, PF_LOCK_MS, e);

	if (lock < 0)
		return -1;
	/* Ask under the lock: several interfaces of a container can be attached at once. */
	if (s->who->skip_pfs_in_use && claim_has_vf_of(s->who, pf)) {
		s->passed++;
		return 0;
	}
	auto_fd int states = vf_state_open_dir(s->who->ctx);
	s->states = states;
	s->e = e;
	s->found = 0;
	for (int pass = 0; pass < 2 && !s->found; pass++) {
		s->free_ones = pass == 0;
		if (pci_vf_each(s->who->ctx->sysfs, pf, consider_vf, s, e))
			return -1;
	}
	return s->found;
}

int claim_any(const struct claimant *who, struct pf_list pfs, struct vf_place *place, struct err *e)
{
	struct search s = { .who = who, .place = place };
	char pf[PCI_STR_LEN];

	for (size_t i = 0; i < pfs.n; i++) {
		if (claim_find_pf(who->ctx, pfs.name[i], pf, e))
			return -1;
		int rc = search_pf(&s, pf, e);
		if (rc)
			return rc > 0 ? 0 : explain_pf(pfs.name[i], e);
	}
	if (s.later.code) {
		*e = s.later;
		return err_wrap(e, "resource");
	}
	err_set(e, ERR_EXHAUSTED, 0, "resource: no free VF: of %u, %u belong to attachments",
		s.seen, s.taken);
	if (s.passed)
		(void)err_hint(
			e,
			"%u of the PFs %s not asked: the container has a VF of each as another "
			"interface, and two VFs of one PF are not two rails",
			s.passed, s.passed == 1 ? "was" : "were");
	if (s.unfit.code)
		(void)err_hint(e, "%.200s", s.unfit.msg);
	return err_hint(e, "railctl vf list shows them; railctl vf create makes more");
}

int claim_possible(const struct ctx *ctx, struct pf_list pfs, struct err *e)
{
	struct pci_sriov vfs;
	char pf[PCI_STR_LEN];
	bool any = false;

	for (size_t i = 0; i < pfs.n; i++) {
		if (claim_find_pf(ctx, pfs.name[i], pf, e))
			return -1;
		if (pci_sriov(ctx->sysfs, pf, &vfs, e))
			return explain_pf(pfs.name[i], e);
		any = any || vfs.num;
	}
	return any ? 0 : err_set(e, ERR_UNAVAILABLE, 0, "resource.pf: none of the PFs has VFs");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* manager_priv.h: what the files of manager.h share among themselves. */
#ifndef RAILHEAD_SRIOV_ADMIN_MANAGER_PRIV_H
#define RAILHEAD_SRIOV_ADMIN_MANAGER_PRIV_H

#include "sriov/admin/manager.h"

void manager_report(const struct manager *m, const char *fmt, ...) printf_like(2, 3);

/* ---- manager_check.c: why VFs of a PF may not be removed ---- */

int manager_refuse_in_use(const struct pf_view *p, struct err *e) must_check;
int manager_refuse_default_route(const struct manager *m, const struct pf_view *p,
				 struct err *e) must_check;

/*
 * manager_wait_vf - where a VF is once its driver has made its interface and udev has named it, or
 * the deadline (of ctx_mono_ms) is over. The interface then has the MAC that its PF says.
 */
int manager_wait_vf(const struct manager *m, const char *vf, int64_t deadline, struct vf_place *out,
		    struct err *e) must_check;

/* ---- manager_setup.c: VFs that were just made ---- */

struct pf_state;
struct vf_setup {
	const struct manager *m;
	char pf[PCI_STR_LEN];
	int pf_ifindex;
	uint32_t n;
	const struct pf_state *pf_state; /* their MACs; n 0: none are given */
	const char *driver;              /* NULL: the kernel's choice */
	bool bind;                       /* false: they stay without a driver */
};

/*
 * manager_give_macs, manager_give_drivers - to those of the VFs that are nobody's and of which the
 * VF state has nothing yet; the latter notes their baselines there.
 */
int manager_give_macs(const struct vf_setup *s, struct err *e) must_check;
int manager_give_drivers(const struct vf_setup *s, struct err *e) must_check;

/* ---- manager_book.c: what is remembered of a PF, <state_dir>/vf/<PCI address> ---- */

struct pf_state {
	char pf[PCI_STR_LEN];
	uint8_t pf_mac[MAC_LEN]; /* of the PF that they were given for */
	uint8_t (*mac)[MAC_LEN]; /* of VFs 0 to n - 1; owned */
	uint32_t n;
	/* VFs are being made, in this boot: autoprobe is what it was before. */
	bool making, autoprobe;
	char boot[CTX_BOOT_ID_LEN + 1];
};

void pf_state_clear(struct pf_state *b);
#define auto_pf_state auto_clean(pf_state_clear)

/*
 * pf_state_decode, pf_state_print - the text of that file, pure; pf is the PF that it must be
 * about. ERR_DECODE; NULL: no memory, else free().
 */
int pf_state_decode(const char *text, size_t len, const char *pf, struct pf_state *out,
		    struct err *e) must_check;
char *pf_state_print(const struct pf_state *b);

/* pf_state_read - nothing is remembered, also when the file is damaged: an empty one. */
int pf_state_read(const struct ctx *ctx, const char *pf, struct pf_state *out,
		  struct err *e) must_check;
int pf_state_write(const struct ctx *ctx, const struct pf_state *b, struct err *e) must_check;

/* pf_state_extend - MACs for n VFs of a PF with that MAC of its own; another card gets new ones. */
int pf_state_extend(struct pf_state *b, const uint8_t pf_mac[MAC_LEN], uint32_t n,
		    struct err *e) must_check;

#endif

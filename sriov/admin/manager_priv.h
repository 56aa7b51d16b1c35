/* SPDX-License-Identifier: Apache-2.0 */
/* manager_priv.h: shared by the files manager_*.c and their tests only. */
#ifndef RAILHEAD_SRIOV_ADMIN_MANAGER_PRIV_H
#define RAILHEAD_SRIOV_ADMIN_MANAGER_PRIV_H

#include "sriov/admin/manager.h"

/* manager_report - pass a line to m->progress, if there is one. */
void manager_report(const struct manager *m, const char *fmt, ...) printf_like(2, 3);

/* ---- manager_check.c: reasons not to remove the VFs of a PF; new interfaces ---- */

/*
 * manager_refuse_in_use - ERR_BUSY if a VF of the PF is in use; the message names the first one and
 * counts them. manager_refuse_default_route - ERR_FORBIDDEN if the default route of the host uses
 * the PF or a VF of it, directly or through a bridge, bond or VLAN.
 */
int manager_refuse_in_use(const struct pf_view *p, struct err *e) must_check;
int manager_refuse_default_route(const struct manager *m, const struct pf_view *p,
				 struct err *e) must_check;

/*
 * manager_wait_vf - wait until the VF's driver has created the interface and udev has named it, or
 * until the deadline (of ctx_mono_ms). Then give the interface the MAC that its PF knows. *out is
 * where the VF is; the deadline is not an error.
 */
int manager_wait_vf(const struct manager *m, const char *vf, int64_t deadline, struct vf_place *out,
		    struct err *e) must_check;

/* ---- manager_setup.c: new VFs ---- */

struct pf_state;
struct vf_setup {
	const struct manager *m;
	char pf[PCI_STR_LEN];
	int pf_ifindex;
	uint32_t n;
	const struct pf_state *pf_state; /* the MACs; n 0: none, as for InfiniBand */
	const struct guid_source *guids; /* of InfiniBand; NULL: the PF is not of InfiniBand */
	struct guid pf_guid;
	const char *driver; /* NULL: the kernel's choice */
	bool bind;          /* false: the VFs stay without a driver */
	bool rebind;        /* the VFs had a driver before they got a GUID */
};

/*
 * manager_give_macs, manager_give_guids, manager_give_drivers - set the MACs or GUIDs of the PF's
 * VFs, and bind their drivers.
 * VFs that are in use, or that have a VF state, are skipped. manager_give_drivers writes a VF state
 * with the baseline of each VF. A PF that cannot set MACs or GUIDs is success.
 */
int manager_give_macs(const struct vf_setup *s, struct err *e) must_check;
int manager_give_guids(const struct vf_setup *s, struct err *e) must_check;
int manager_give_drivers(const struct vf_setup *s, struct err *e) must_check;

/* ---- manager_pf_state.c: the file about a PF, <state_dir>/vf/<PCI address> ---- */

struct pf_state {
	char pf[PCI_STR_LEN];
	uint8_t pf_mac[MAC_LEN]; /* the PF's MAC when mac was made */
	uint8_t (*mac)[MAC_LEN]; /* of VFs 0 to n - 1; owned */
	uint32_t n;
	/* In this boot a call began to create VFs; autoprobe is the value before it. */
	bool making, autoprobe;
	char boot[CTX_BOOT_ID_LEN + 1];
};

/* pf_state_clear - free what b owns; b becomes empty. */
void pf_state_clear(struct pf_state *b);
#define auto_pf_state auto_clean(pf_state_clear)

/*
 * pf_state_decode - the text of that file; ERR_DECODE: it is malformed, or is not about pf.
 * pf_state_print - the reverse; NULL: no memory; the caller frees the text. Both pure.
 */
int pf_state_decode(const char *text, size_t len, const char *pf, struct pf_state *out,
		    struct err *e) must_check;
char *pf_state_print(const struct pf_state *b);

/*
 * pf_state_read - read the file; without a file, or if it is damaged, *out has no MACs.
 * pf_state_write - create or replace it, with fsync.
 */
int pf_state_read(const struct ctx *ctx, const char *pf, struct pf_state *out,
		  struct err *e) must_check;
int pf_state_write(const struct ctx *ctx, const struct pf_state *b, struct err *e) must_check;

/*
 * pf_state_extend - make sure that b has MACs for n VFs of a PF with the MAC pf_mac. If the PF has
 * another MAC than before, it is another card, and all MACs are new.
 */
int pf_state_extend(struct pf_state *b, const uint8_t pf_mac[MAC_LEN], uint32_t n,
		    struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manager.h: what an administrator has done to VFs: made, bound to drivers, repaired.
 *
 * Everything is done under the locks that the plugin takes, the PF's before its VFs', and nothing
 * is done to a VF whose owner lives. What is killed half-way is finished by doing it again.
 */
#ifndef RAILHEAD_SRIOV_ADMIN_MANAGER_H
#define RAILHEAD_SRIOV_ADMIN_MANAGER_H

#include "sriov/choose/inventory.h"

struct manager {
	const struct ctx *ctx;
	struct nl *nl; /* of the host */
	/* What is going to be done, a line each; NULL: nobody listens. */
	void (*say)(void *arg, const char *line);
	void *arg;
};

/* What a PF shall have. */
struct vf_order {
	const char *pf;     /* interface or PCI address */
	uint32_t count;     /* 0: no VFs */
	const char *driver; /* of the VFs; NULL: the kernel's choice */
	bool force;         /* also when VFs are in use, or the host's default route needs the PF */
};

struct vf_order_result {
	char pf[PCI_STR_LEN];
	uint32_t before;
	bool changed; /* false: there were that many, and nothing was done */
};

/*
 * manager_create - give a PF that many VFs. Each has its MAC before its driver sees it: the one
 * that it had the last time, else manager_mac(); and its baseline is captured. ERR_BUSY: they are
 * in use; ERR_FORBIDDEN: the default route needs the PF; ERR_CONFIG: more than it can have. After a
 * failure there are as many as before.
 */
int manager_create(const struct manager *m, const struct vf_order *o, struct vf_order_result *out,
		   struct err *e) must_check;

/*
 * manager_mac - the MAC of VF number index of a PF whose own is pf: locally administered; the last
 * three bytes are the PF's, the two before them the number, and the first stands for its maker.
 */
void manager_mac(const uint8_t pf[MAC_LEN], uint32_t index, uint8_t out[MAC_LEN]);

/* ---- one VF ---- */

enum vf_outcome {
	VF_WAS_HEALTHY,  /* there was nothing to do */
	VF_REPAIRED,     /* it was done */
	VF_WOULD_REPAIR, /* dry run: it would be done */
	VF_SKIPPED,      /* somebody has it, or nobody knows what it was like */
};

struct vf_report {
	enum vf_outcome outcome;
	char why[256]; /* "" when it was well */
};

/*
 * manager_bind - have a VF driven by driver, or by the kernel's choice (NULL). What is left of a
 * dead owner is put back first. ERR_BUSY: it has an owner, or is in another network namespace.
 */
int manager_bind(const struct manager *m, const char *vf, const char *driver, struct vf_report *out,
		 struct err *e) must_check;

/*
 * manager_repair - a VF to its baseline, unless its owner lives. -1: it could not be put back; what
 * is missing is named. A damaged VF state is removed where the VF is on the host.
 */
int manager_repair(const struct manager *m, const char *vf, bool dry_run, struct vf_report *out,
		   struct err *e) must_check;

/*
 * manager_adopt - a free VF as it is now becomes its baseline, also what could not be put back. One
 * that somebody has, or has left, is let alone.
 */
int manager_adopt(const struct manager *m, const char *vf, bool dry_run, struct vf_report *out,
		  struct err *e) must_check;

/*
 * manager_gc - the state of a VF that does not exist any more is forgotten; one whose
 * owner has gone is put back and free.
 */
int manager_gc(const struct manager *m, const char *vf, bool dry_run, struct vf_report *out,
	       struct err *e) must_check;

/* ---- /etc/railhead/vf.d ---- */

/* A file there: the order without force. */
struct vf_file {
	const char *pf, *driver; /* driver NULL: none is given, or "default" */
	uint32_t count;
	struct json *tree; /* owns the strings */
};

/* vf_file_decode - pure. Errors begin with name, and name key and value. */
int vf_file_decode(const char *text, size_t len, const char *name, struct vf_file *out,
		   struct err *e) must_check;

void vf_file_clear(struct vf_file *f);
#define auto_vf_file auto_clean(vf_file_clear)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manager.h: what an administrator does with VFs: create, bind to drivers, repair.
 *
 * Every function takes the locks that the plugin takes, the PF's before its VFs'. Only
 * manager_create() with `force` changes a VF whose owner lives. If a call is killed, the same call
 * again completes it.
 */
#ifndef RAILHEAD_SRIOV_ADMIN_MANAGER_H
#define RAILHEAD_SRIOV_ADMIN_MANAGER_H

#include "sriov/choose/inventory.h"

struct manager {
	const struct ctx *ctx;
	struct nl *nl; /* of the host */
	/* Receives a line about each step before it is done; NULL: none. */
	void (*progress)(void *arg, const char *line);
	void *arg;
};

/* Where the GUIDs of InfiniBand VFs come from; all zero: manager_guid(). */
struct guid_source {
	const struct guid *list; /* VF i gets list[i]; borrowed */
	uint32_t n;
	struct guid first; /* VF i gets first + i; zero: not given */
};

/*
 * guid_source_check - ERR_CONFIG, with the reason: there is not a usable GUID for each of count
 * VFs, or one is given twice, or both ways are used. guid_source_at - the GUID of VF number index;
 * pf: the GUID of the PF's port. Both pure.
 */
int guid_source_check(const struct guid_source *s, uint32_t count, struct err *e) must_check;
struct guid guid_source_at(const struct guid_source *s, struct guid pf, uint32_t index);

/* The VFs that a PF shall have. */
struct vf_order {
	const char *pf;     /* interface or PCI address */
	uint32_t count;     /* 0: no VFs */
	const char *driver; /* of the VFs; NULL: the kernel's choice */
	struct guid_source guids;
	bool force; /* also when VFs are in use, or the host's default route needs the PF */
};

struct vf_order_result {
	char pf[PCI_STR_LEN];
	uint32_t before;
	bool changed; /* false: the PF had that many VFs, and nothing was done */
};

/*
 * manager_create - give a PF o->count VFs. A VF gets its MAC before its driver sees it: the MAC
 * that it had the last time, else that of manager_mac(). A VF of InfiniBand gets its GUID as node
 * and port GUID instead. Then its baseline is captured. ERR_BUSY:
 * VFs are in use; ERR_FORBIDDEN: the default route needs the PF; ERR_CONFIG: the PF supports fewer
 * VFs. After a failure the PF has as many VFs as before.
 */
int manager_create(const struct manager *m, const struct vf_order *o, struct vf_order_result *out,
		   struct err *e) must_check;

/*
 * manager_mac - the MAC for VF number index of a PF whose MAC is pf. It is locally administered.
 * The last three bytes are those of the PF, the two before them are the index, and the first one
 * depends on the PF's vendor. Pure.
 */
void manager_mac(const uint8_t pf[MAC_LEN], uint32_t index, uint8_t out[MAC_LEN]);
/* manager_guid - the same for a GUID: its last five bytes are those of the PF's port. Pure. */
struct guid manager_guid(struct guid pf, uint32_t index);

/* ---- one VF ---- */

enum vf_outcome {
	VF_WAS_HEALTHY,  /* there was nothing to do */
	VF_REPAIRED,     /* the VF was changed */
	VF_WOULD_REPAIR, /* dry run: the VF would be changed */
	VF_SKIPPED,      /* the VF is in use, or has no baseline */
};

struct vf_report {
	enum vf_outcome outcome;
	char why[256]; /* ""  for VF_WAS_HEALTHY */
};

/*
 * manager_bind - bind a VF to driver, or to the kernel's choice (NULL). If its owner is dead, the
 * VF is restored first. ERR_BUSY: the VF has an owner, or is in another network namespace.
 */
int manager_bind(const struct manager *m, const char *vf, const char *driver, struct vf_report *out,
		 struct err *e) must_check;

/*
 * manager_repair - restore a VF to its baseline, unless its owner lives. -1: not everything could
 * be restored; the message says what differs. A damaged VF state is removed if the VF is on the
 * host.
 */
int manager_repair(const struct manager *m, const char *vf, bool dry_run, struct vf_report *out,
		   struct err *e) must_check;

/*
 * manager_adopt - make the present values of a free VF its baseline, also those that could not be
 * restored. A VF that has an owner, alive or dead, is skipped.
 */
int manager_adopt(const struct manager *m, const char *vf, bool dry_run, struct vf_report *out,
		  struct err *e) must_check;

/*
 * manager_gc - remove the state of a VF that does not exist any more; restore a VF whose owner is
 * gone, and make it free.
 */
int manager_gc(const struct manager *m, const char *vf, bool dry_run, struct vf_report *out,
	       struct err *e) must_check;

/* ---- /etc/railhead/vf.d ---- */

/* A file there: a struct vf_order without force. */
struct vf_file {
	const char *pf, *driver; /* driver NULL: absent or "default" */
	uint32_t count;
	struct guid_source guids;
	struct guid *guid;       /* owned: guids.list */
	const struct json *list; /* of the keys guids and firstGuid, undecoded */
	const char *first;
	struct json *tree; /* owns the strings */
};

/*
 * vf_file_decode - decode the text of a file. ERR_DECODE or ERR_CONFIG; the message begins with
 * name, and has key and value. Pure.
 */
int vf_file_decode(const char *text, size_t len, const char *name, struct vf_file *out,
		   struct err *e) must_check;

/* vf_file_clear - free what f owns; f becomes empty. */
void vf_file_clear(struct vf_file *f);
#define auto_vf_file auto_clean(vf_file_clear)

#endif

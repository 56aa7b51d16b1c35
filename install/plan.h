/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h: which programs a CNI folder shall have, and what is to be done for that. Pure.
 *
 * A plan is made in this order: plan_choose(), plan_add_earlier(), then the caller looks at the
 * folder and at the attachments and fills in held, held_sha256 and needed, then plan_decide().
 */
#ifndef RAILHEAD_INSTALL_PLAN_H
#define RAILHEAD_INSTALL_PLAN_H

#include "install/receipt.h"

#define PLAN_IPAM "railhead-ipam"

/* The kind of file that the folder has under a name. */
enum held {
	HELD_NONE,
	HELD_OURS,    /* a program of railhead, of whatever build */
	HELD_FOREIGN, /* anything else that is not a folder */
	HELD_FOLDER,
};

enum plan_action {
	PLAN_SAME, /* the program is there, byte for byte */
	PLAN_ADD,
	PLAN_REPLACE,
	PLAN_REPAIR, /* the content is right, and owner, mode or capabilities are not */
	PLAN_DROP,   /* these three are of an earlier install; nothing needs this one */
	PLAN_NEEDED, /* it stays: the DEL of an attachment needs it */
	PLAN_FORGET, /* it is gone, or another install or project has replaced it */
};

struct plan_item {
	char name[PROGRAM_NAME_LEN]; /* in the folder */
	const char *program;         /* "macvlan"; NULL: of an earlier install, not of this one */
	char sha256[DIGEST_LEN];     /* new content; without program that of the receipt */
	enum held held;
	char held_sha256[DIGEST_LEN]; /* of HELD_OURS */
	bool held_wrong;              /* of HELD_OURS: not as folder_stage() makes it */
	bool needed;
	enum plan_action action;
};

struct plan {
	size_t n;
	bool interrupted; /* the earlier install or removal did not end */
	struct plan_item item[2 * RECEIPT_PROGRAMS];
};

/*
 * plan_choose - start a plan with the programs of list, separated by commas; NULL: all plugins.
 * railhead-ipam is always among them, and names that begin with "railhead" and railctl get no
 * prefix. ERR_FIELD or ERR_CONFIG: an unknown plugin, or a prefix that is not a part of a file
 * name. plan_add_chained - the plugin railhead is among them, too.
 */
int plan_choose(const char *list, const char *prefix, struct plan *out, struct err *e) must_check;
void plan_add_chained(struct plan *p);

/* plan_add_earlier - add the programs of the receipt that the plan does not have. */
void plan_add_earlier(struct plan *p, const struct receipt *r);

/*
 * plan_decide - set the action of each item. Without force, ERR_BUSY names files of others under
 * the names of the plan. A folder is refused with force, too.
 */
int plan_decide(struct plan *p, bool force, struct err *e) must_check;

/*
 * plan_order - the order of changes. A newer railhead-ipam serves older plugins, and not the other
 * way round: it comes first, but last if version is older than the installed one and in a removal.
 */
void plan_order(struct plan *p, bool ipam_last);

/* version_older - is a an older version than b? Numbers between dots are compared. */
bool version_older(const char *a, const char *b);

/*
 * plan_receipt - the programs of the receipt for this plan. While the changes are made
 * (r->changing), it also has those that will be dropped. Other members of *r are the caller's.
 */
int plan_receipt(const struct plan *p, struct receipt *r, struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h: open the IPAM's store and run transactions on it.
 *
 * The first writing transaction of a boot also releases all leases of earlier boots, because their
 * processes and network namespaces are gone. It verifies and repairs the lease database, because a
 * power loss may have lost some of the last writes.
 */
#ifndef RAILHEAD_IPAM_LEASE_SESSION_H
#define RAILHEAD_IPAM_LEASE_SESSION_H

#include "ipam/lease/verify.h"

#define SESSION_SCHEMA 1 /* version of keys and values; a store of a later version is refused */

/*
 * ipam_open - open the embedded store in dir (NULL: <state_dir>/ipam). If it is missing, it is
 * created if `create` is true; else ERR_NOTFOUND (errnum ENOENT). A dir other than the default one
 * and the folders above it must belong to root, and no other user may write there. The whole store
 * is then checked. ctx is borrowed. ipam_close - close it.
 */
int ipam_open(const struct ctx *ctx, const char *dir, bool create, struct ipam *out,
	      struct err *e) must_check;

void ipam_close(struct ipam *m);
#define auto_ipam auto_clean(ipam_close)

/*
 * ipam_dir_check - ERR_CONFIG with a hint unless a configuration may have its store below data_dir:
 * in a folder that railhead.json(5) allows, and in no folder that railhead itself uses.
 */
int ipam_dir_check(const struct ctx *ctx, const char *data_dir, struct err *e) must_check;

/* ipam_dir_has_no_store - true only if there is certainly no store in dir. */
bool ipam_dir_has_no_store(const char *dir);

/*
 * ipam_dir - the folder of a configuration's store: <data_dir>/railhead, or <state_dir>/ipam if
 * data_dir is NULL. ERR_CONFIG: the path is too long.
 */
int ipam_dir(const struct ctx *ctx, const char *data_dir, char *out, size_t size,
	     struct err *e) must_check;

struct ipam_job {
	enum store_mode mode;
	const char *by; /* the command, for the journal */
	/* On a full disk it can run twice, and must set its outputs again. */
	int (*fn)(struct lease_db *l, void *arg, struct err *e);
	void *arg;
	struct json *
		*journal; /* the changes, for the audit log; the caller frees it; NULL: unwanted */
};

/*
 * ipam_run - run job->fn in a transaction and commit it. Errors of fn and of the store.
 */
int ipam_run(struct ipam *m, const struct ipam_job *job, struct err *e) must_check;

/*
 * ipam_read - the same for a job that reads: *out is *found, which fn has set; the caller frees it.
 * After an error, *found is freed.
 */
int ipam_read(struct ipam *m, const struct ipam_job *job, struct json **found, struct json **out,
	      struct err *e) must_check;

/* ipam_verify - verify_lease_db() in a transaction of its own. */
int ipam_verify(struct ipam *m, struct verify *v, struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h: open the IPAM's store and run transactions on it.
 *
 * The first writing transaction of a boot releases, as part of itself, whatever earlier boots left
 * behind: their processes and their network namespaces are gone. It also verifies and
 * repairs the lease database, because a power loss may have lost some of the last writes.
 */
#ifndef RAILHEAD_IPAM_LEASE_SESSION_H
#define RAILHEAD_IPAM_LEASE_SESSION_H

#include "ipam/lease/verify.h"

#define SESSION_SCHEMA 1 /* version of keys and values; a store of a later version is refused */

/*
 * ipam_open - the embedded store in dir (NULL: <state_dir>/ipam). create: make it if it is missing;
 * else ERR_NOTFOUND (errnum ENOENT). A folder other than the default one, and those above it, must
 * belong to root, and no other user may write there. Its store is checked whole. ctx is borrowed.
 * Close with ipam_close().
 */
int ipam_open(const struct ctx *ctx, const char *dir, bool create, struct ipam *out,
	      struct err *e) must_check;

void ipam_close(struct ipam *m);
#define auto_ipam auto_clean(ipam_close)

/*
 * ipam_dir_check - whether a configuration may have its store below data_dir: in a folder that
 * railhead.json(5) allows, and none of railhead's own. ERR_CONFIG with a hint.
 */
int ipam_dir_check(const struct ctx *ctx, const char *data_dir, struct err *e) must_check;

/* ipam_dir_is_empty - true only if it is certain that no store is in dir. */
bool ipam_dir_is_empty(const char *dir);

/* ipam_dir - where a configuration's store lives: <data_dir>/railhead, or <state_dir>/ipam for
 * NULL. */
int ipam_dir(const struct ctx *ctx, const char *data_dir, char *out, size_t size,
	     struct err *e) must_check;

struct ipam_job {
	enum store_mode mode;
	const char *by; /* the verb, for the journal */
	/* may run several times: it must set its outputs afresh each time */
	int (*fn)(struct lease_db *l, void *arg, struct err *e);
	void *arg;
	struct json **journal; /* what was done, for the audit log, freed by the caller; NULL: not
				  wanted */
};

/* ipam_run - run job->fn in a transaction and commit it, again after a conflict. */
int ipam_run(struct ipam *m, const struct ipam_job *job, struct err *e) must_check;

/* ipam_verify - verify_lease_db() in a transaction of its own. */
int ipam_verify(struct ipam *m, struct verify *v, struct err *e) must_check;

#endif

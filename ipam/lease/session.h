/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h: open the IPAM's store and run transactions on it.
 *
 * The first writing transaction of a boot releases, as part of itself, whatever earlier boots left
 * behind: no process of theirs is alive, and their network namespaces are gone. It also checks the
 * books and mends them, as a power loss may have taken some of the last transactions' writes.
 */
#ifndef RAILHEAD_IPAM_LEASE_SESSION_H
#define RAILHEAD_IPAM_LEASE_SESSION_H

#include "ipam/lease/verify.h"

#define SESSION_SCHEMA 1 /* of keys and values; a store of a later one is refused */

/*
 * ipam_open - the embedded store in dir (NULL: <state_dir>/ipam). create: make what is missing;
 * else ERR_NOTFOUND (errnum ENOENT) when there is none. Any other folder than the default one, and
 * those above it, must be root's and writable by nobody else, and its store is checked whole. ctx
 * is borrowed. Close with ipam_close().
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.h: addresses of living pods that another IPAM assigned become our leases.
 *
 * The lease is the same as after an ADD: in the scope and for the source that the configuration has
 * for the address. So no other pod gets the address, CHECK finds it, and DEL and GC release it. An
 * address in the subnet but outside of the ranges is leased, too, because the pod uses it.
 */
#ifndef RAILHEAD_IPAM_ADMIN_IMPORT_H
#define RAILHEAD_IPAM_ADMIN_IMPORT_H

#include "ipam/conf/conf.h"
#include "ipam/lease/session.h"

enum import_state {
	IMPORT_NEW,     /* leased now; dry run: it would be */
	IMPORT_OURS,    /* this owner has the lease already */
	IMPORT_LEFT,    /* not leased; see why */
	IMPORT_OUTSIDE, /* in no subnet of the configuration; see why */
};

struct import_item {
	struct ip ip;
	struct owner owner;
	/* outputs */
	enum import_state state;
	char from[KEY_SCOPE_MAX + 32]; /* "pool rail0", "network n"; "" when left */
	char why[320];
};

struct import {
	const struct ipam_conf *conf;
	const char *network;
	/* Respect host-local's files. False if these files are imported. */
	bool look_at_files;
	bool dry_run; /* run the transaction and abort it */
	struct import_item *items;
	size_t n;
};

/*
 * import_leases - lease all items that can be leased, in one transaction; none after an error. m
 * NULL, for a dry run only: there is no store, and so no lease and no pool. journal: see ipam_job.
 */
int import_leases(struct ipam *m, struct import *x, struct json **journal,
		  struct err *e) must_check;

#endif

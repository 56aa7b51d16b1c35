/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.h: addresses of living pods that another IPAM assigned become our leases.
 *
 * A lease is made like in an ADD: in the scope, and for the source, that the configuration has for
 * the address. So no other pod gets the address, CHECK finds it, and DEL and GC release it. An
 * address in the subnet but outside of the ranges is leased too, because the pod uses it.
 */
#ifndef RAILHEAD_IPAM_ADMIN_IMPORT_H
#define RAILHEAD_IPAM_ADMIN_IMPORT_H

#include "ipam/conf/conf.h"
#include "ipam/lease/session.h"

enum import_state {
	IMPORT_NEW,     /* leased now, or would be */
	IMPORT_OURS,    /* it is a lease of this owner already */
	IMPORT_LEFT,    /* why says what is in the way */
	IMPORT_OUTSIDE, /* it is in no subnet of the configuration; why says so */
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
	/* host-local's files say who holds an address, too: not when they are what is imported */
	bool look_at_files;
	bool dry_run; /* all is done, and undone */
	struct import_item *items;
	size_t n;
};

/*
 * import_leases - one transaction: all that can be leased, or nothing on an error. m NULL, for a
 * dry run: there is no store, and so no lease and no pool. journal: see ipam_job.
 */
int import_leases(struct ipam *m, struct import *x, struct json **journal,
		  struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease_index.h: what follows from the leases, as a sorted list that two of can be compared. Pure.
 *
 *	key o/..., detail = an address key     this owner holds this address
 *	key r/..., detail = ""                 this address rests since then
 *	key u/..., detail = "used", "resting"  so many
 *	key q/..., detail = ""                 so many
 */
#ifndef RAILHEAD_IPAM_LEASE_LEASE_INDEX_H
#define RAILHEAD_IPAM_LEASE_LEASE_INDEX_H

#include "ipam/lease/lease.h"

struct lease_index_entry {
	char *key, *detail; /* owned */
	uint64_t count;
};

struct lease_index {
	struct lease_index_entry *items;
	size_t n;
};

/* lease_index_add_lease - all that follows from one lease record. */
int lease_index_add_lease(struct lease_index *f, const struct key_address *a,
			  const struct lease *rec, struct err *e) must_check;

/* lease_index_add_record - what one of the records o/, r/, u/, q/ says. ERR_STORE when it cannot be
 * read.
 */
int lease_index_add_record(struct lease_index *f, const char *key, const char *value,
			   struct err *e) must_check;

/* lease_index_sort - by key and detail, equal ones joined. */
void lease_index_sort(struct lease_index *f);

/*
 * lease_index_compare - call fn for each entry whose counts differ, in order. 0, or what fn
 * returned when that was not 0.
 */
typedef int (*lease_index_fn)(const struct lease_index_entry *f, uint64_t want, uint64_t have,
			      void *arg);
int lease_index_compare(const struct lease_index *want, const struct lease_index *have,
			lease_index_fn fn, void *arg);

/* lease_index_record - the value that the record `key` should have; *out NULL: it should not exist.
 */
int lease_index_record(const struct lease_index *want, const char *key, char **out,
		       struct err *e) must_check;

void lease_index_clear(struct lease_index *f);
#define auto_lease_index auto_clean(lease_index_clear)

#endif

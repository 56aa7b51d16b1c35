/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h: all that follows from the leases, as a sorted list. verify makes one list from the
 * leases and one from the other records, and compares them. Pure.
 *
 *	key o/..., detail = an address key     this owner holds this address
 *	key i/..., detail = an address key     this pod holds this address
 *	key r/..., detail = ""                 this address rests since then
 *	key u/..., detail = "used", "resting"  count: the number of addresses
 *	key q/..., detail = ""                 count: the number of addresses
 */
#ifndef RAILHEAD_IPAM_LEASE_INDEX_H
#define RAILHEAD_IPAM_LEASE_INDEX_H

#include "ipam/lease/lease.h"

struct lease_index_entry {
	char *key, *detail; /* owned */
	uint64_t count;
};

struct lease_index {
	struct lease_index_entry *items;
	size_t n;
};

/* lease_index_add_lease - add all entries that follow from one lease record. */
int lease_index_add_lease(struct lease_index *f, const struct key_address *a,
			  const struct lease *rec, struct err *e) must_check;

/* lease_index_add_record - add the entries of a record o/, i/, r/, u/ or q/. ERR_STORE: damaged. */
int lease_index_add_record(struct lease_index *f, const char *key, const char *value,
			   struct err *e) must_check;

/* lease_index_sort - sort by key and detail; equal entries become one, and their counts add up. */
void lease_index_sort(struct lease_index *f);

/*
 * lease_index_compare - call fn for each entry whose counts differ between two sorted lists, in
 * order; an absent entry has count 0. Return non-zero from fn to stop; that value is returned.
 */
typedef int (*lease_index_fn)(const struct lease_index_entry *f, uint64_t want, uint64_t have,
			      void *arg);
int lease_index_compare(const struct lease_index *want, const struct lease_index *have,
			lease_index_fn fn, void *arg);

/*
 * lease_index_record - the value that the record `key` should have, from a sorted list. The caller
 * frees *out; NULL: the record should not exist.
 */
int lease_index_record(const struct lease_index *want, const char *key, char **out,
		       struct err *e) must_check;

/* lease_index_clear - free what f owns; f becomes empty. */
void lease_index_clear(struct lease_index *f);

#endif

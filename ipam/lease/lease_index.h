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

struct fact {
	char *key, *detail; /* owned */
	uint64_t count;
};

struct facts {
	struct fact *items;
	size_t n, room;
};

/* facts_of_lease - all that follows from one lease record. */
int facts_of_lease(struct facts *f, const struct key_address *a, const struct lease *rec,
		   struct err *e) must_check;

/* facts_of_record - what one of the records o/, r/, u/, q/ says. ERR_STORE when it cannot be read.
 */
int facts_of_record(struct facts *f, const char *key, const char *value, struct err *e) must_check;

/* facts_sort - by key and detail, equal ones joined. */
void facts_sort(struct facts *f);

/*
 * facts_compare - call fn for each fact whose counts differ, in order. 0, or what fn returned when
 * that was not 0.
 */
typedef int (*fact_fn)(const struct fact *f, uint64_t want, uint64_t have, void *arg);
int facts_compare(const struct facts *want, const struct facts *have, fact_fn fn, void *arg);

/* facts_record - the value that the record `key` should have; *out NULL: it should not exist. */
int facts_record(const struct facts *want, const char *key, char **out, struct err *e) must_check;

void facts_clear(struct facts *f);
#define auto_facts auto_clean(facts_clear)

#endif

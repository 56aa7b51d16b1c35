/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holder.h: checks whether the owner of an address still lives.
 *
 * An interface plugin of railhead writes the record of an attachment before its address is leased,
 * and removes it after the lease is released. So a lease whose owner has a record may be in use.
 * A lease without such a record belongs to another plugin, or to no attachment.
 *
 * The proof that an owner is gone looks at every process of the machine. So it is made outside of
 * transactions, because only one runs at a time. In the transaction the record must be unchanged,
 * because the container may have been attached again since.
 */
#ifndef RAILHEAD_IPAM_LEASE_HOLDER_H
#define RAILHEAD_IPAM_LEASE_HOLDER_H

#include "ipam/lease/lease.h"

enum holder {
	HOLDER_UNRECORDED, /* it has no record */
	HOLDER_UNKNOWN,    /* its record or its namespace cannot be read now: it may live */
	HOLDER_MAY_LIVE,   /* it has a record and is not proved gone */
	HOLDER_GONE,       /* its namespace is proved gone, and no ADD or DEL is running for it */
};

struct holder_view {
	enum holder state;
	uint64_t mark; /* identifies the record that was read */
};

/* How holders are checked. Tests have their own functions. */
struct holder_ops {
	/* Examine a holder. Slow. */
	void (*look)(const struct ctx *ctx, const struct owner *o, struct holder_view *out);
	/* Fast: a number that identifies the present record of o; 0: there is none. */
	uint64_t (*mark)(const struct ctx *ctx, const struct owner *o);
};

/* By the records of the attach engine. */
extern const struct holder_ops holder_records;

/* The owners to check, and the results. */
struct holder_check {
	struct key_owner who;
	struct holder_view view;
	bool looked;
};

struct holder_checks {
	struct holder_check *items; /* owned */
	size_t n;
	bool missing; /* a requested owner was not checked */
};

/* holder_checks_clear - free what p owns; p becomes empty. */
void holder_checks_clear(struct holder_checks *p);
#define auto_holder_checks auto_clean(holder_checks_clear)

/*
 * holder_checks_is_gone - for use in a transaction. 1: o is gone; 0: it may live. An owner that was
 * not checked yet is added to p, and the result is 0.
 */
int holder_checks_is_gone(struct holder_checks *p, const struct holder_ops *ops,
			  const struct ctx *ctx, const struct owner *o, struct err *e) must_check;

/*
 * holder_checks_run - for use outside of transactions: check all owners in p. Returns how many are
 * gone or have no record.
 */
size_t holder_checks_run(struct holder_checks *p, const struct holder_ops *ops,
			 const struct ctx *ctx);

/* holder_checks_unknown - the first owner whose check failed; NULL: there is none. Borrowed. */
const struct key_owner *holder_checks_unknown(const struct holder_checks *p);

#endif

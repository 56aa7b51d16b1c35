/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h: an ordered key-value store with transactions. A store admits one writer.
 *
 * Every implementation passes the tests of ipam/testing/store_contract.h.
 *
 * Keys are bytes without NUL, at most STORE_KEY_MAX; values are text, at most STORE_VALUE_MAX
 * bytes. Longer ones, and empty keys, are ERR_STORE. A struct store has one transaction at a time.
 */
#ifndef RAILHEAD_IPAM_STORE_STORE_H
#define RAILHEAD_IPAM_STORE_STORE_H

#include "lib/base/err.h"

#define STORE_KEY_MAX   500
#define STORE_VALUE_MAX 65536

struct store;
struct store_txn;

enum store_mode {
	STORE_READ,
	STORE_WRITE,   /* ERR_STORE (errnum ENOSPC) if only the space for releases is left */
	STORE_RELEASE, /* for transactions that release: works on a full disk, too */
};

/*
 * Called for each pair of a scan. Return non-zero to stop; the value is discarded. key and value
 * are valid until the function returns. The function must not write to the transaction.
 */
typedef int (*store_fn)(const char *key, const char *value, void *arg);

/* Keys k that begin with prefix, from <= k; from NULL: from the first one. */
struct store_span {
	const char *prefix, *from;
};

struct store_ops {
	void (*close)(struct store *s);
	/* ERR_AGAIN: another process holds the store */
	int (*begin)(struct store *s, enum store_mode mode, struct store_txn **out, struct err *e);
	/* *value NULL: absent; else valid until the next write or the end of the transaction */
	int (*get)(struct store_txn *t, const char *key, const char **value, struct err *e);
	int (*put)(struct store_txn *t, const char *key, const char *value, struct err *e);
	int (*del)(struct store_txn *t, const char *key, struct err *e); /* absent is success */
	/* the keys of a span, in order */
	int (*scan)(struct store_txn *t, struct store_span span, store_fn fn, void *arg,
		    struct err *e);
	/* This transaction must survive a power loss. Other transactions may be lost: a power loss
	 * ends all leases. */
	void (*keep)(struct store_txn *t);
	int (*commit)(struct store_txn *t, struct err *e); /* ends t */
	void (*abort)(struct store_txn *t);                /* ends t; NULL is fine */
};

/* Every implementation's struct begins with this. */
struct store {
	const struct store_ops *ops;
};

struct store_txn {
	struct store *store;
};

/* store_close - close a store; NULL is accepted. */
static inline void store_close(struct store *s)
{
	if (s)
		s->ops->close(s);
}
static inline void store_closep(struct store **s)
{
	store_close(*s);
}
#define auto_store auto_clean(store_closep)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease.h: what the store holds for one address, and for one source of addresses. Pure.
 *
 * Values are small JSON objects: an operator can read them, and a later version can add keys, which
 * an earlier one ignores. Times are strings: they have more digits than a JSON number keeps.
 */
#ifndef RAILHEAD_IPAM_LEASE_LEASE_H
#define RAILHEAD_IPAM_LEASE_LEASE_H

#include "ipam/store/key.h"
#include "lib/base/ctx.h"
#include "lib/json/json.h"

#define LEASE_KEYS_MAX 32 /* addresses of one owner, or of one pod in a sticky list */

enum lease_state { LEASE_HELD, LEASE_RESTING };

/* The owner of an address. Strings are never NULL, "" when unknown. */
struct owner {
	const char *network, *container, *ifname;
	const char *ns, *pod;
	const char *uid; /* of the pod: a pod made again under its name has another one */
};

struct lease {
	enum lease_state state;
	struct owner owner; /* of a resting address: who had it last */
	const char *boot, *node;
	const char *source; /* id of the source it was taken from */
	const char
		*range; /* source's range; "" when it has none, and in leases of early versions */
	int64_t since;  /* ns since 1970: taken, or released */
	struct json *tree; /* owns the strings; NULL when the caller owns them */
};

/* lease_parse - what names the record in errors. ERR_STORE when the text is not a lease. */
int lease_parse(const char *text, const char *what, struct lease *out, struct err *e) must_check;
/* lease_print - free() it. NULL: no memory. */
char *lease_print(const struct lease *l);
void lease_clear(struct lease *l);
#define auto_lease auto_clean(lease_clear)

bool owner_same(const struct owner *a, const struct owner *b); /* network, container, ifname */
bool owner_has_pod(const struct owner *o);                     /* namespace and pod known */
bool owner_same_pod(const struct owner *a,
		    const struct owner *b); /* namespace, pod, ifname; known */

/* A list of address keys. */
struct key_list {
	size_t n;
	struct key items[LEASE_KEYS_MAX];
};

int key_list_parse(const char *text, const char *what, struct key_list *out,
		   struct err *e) must_check;
char *key_list_print(const struct key_list *l); /* free() it. NULL: no memory */
void key_list_remove(struct key_list *l, const char *key);
/* -1 when the list is full. */
int key_list_add(struct key_list *l, const char *key) must_check;

/* How a source of addresses stands. Only used and resting are promises, the rest speeds up the
 * search. */
struct source_usage {
	uint64_t used, resting;
	uint64_t forgotten; /* rested ones whose records were dropped, behind the cursor */
	struct ip
		next; /* addresses before it were given at some time. IP_NONE: begin at the start */
	bool done;    /* no address after next either */
};

/* source_usage_parse - text NULL (no record yet) is empty usage. */
int source_usage_parse(const char *text, const char *what, struct source_usage *out,
		       struct err *e) must_check;
char *source_usage_print(const struct source_usage *t); /* free() it. NULL: no memory */

#endif

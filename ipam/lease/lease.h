/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease.h: the values in the store: a lease, a list of keys, the usage of a source. Pure.
 *
 * Values are small JSON objects. An operator can read them, and an earlier version ignores the keys
 * that a later one adds. Times are strings, because they have more digits than a JSON number keeps.
 */
#ifndef RAILHEAD_IPAM_LEASE_LEASE_H
#define RAILHEAD_IPAM_LEASE_LEASE_H

#include "ipam/store/key.h"
#include "lib/base/ctx.h"
#include "lib/json/json.h"

#define LEASE_KEYS_MAX 64 /* addresses of one owner, or of one pod in a sticky list */

enum lease_state { LEASE_HELD, LEASE_RESTING };

/* The owner of an address. Strings are never NULL, "" when unknown. */
struct owner {
	const char *network, *container, *ifname;
	const char *ns, *pod;
	const char *uid; /* of the pod: a new pod of the same name has another one */
};

/* The members of an object for an owner. An unknown one is left out. */
extern const struct json_field owner_fields[];

struct lease {
	enum lease_state state;
	struct owner owner; /* of a resting address: the last owner */
	const char *boot, *node;
	const char *source; /* id of the source that the address is from */
	const char
		*range; /* source's range; "" when it has none, and in leases of early versions */
	int64_t since;  /* ns since 1970: assigned, or released */
	bool probe;     /* it was not probed yet: a host of another node may use it */
	struct json *tree; /* owns the strings; NULL: the caller owns them */
};

/*
 * lease_parse - the text of a record; `what` names the record in errors. ERR_STORE: it is not a
 * lease. lease_print - the reverse; the caller frees the text; NULL: no memory. lease_clear - free
 * what l owns.
 */
int lease_parse(const char *text, const char *what, struct lease *out, struct err *e) must_check;
char *lease_print(const struct lease *l);
void lease_clear(struct lease *l);
#define auto_lease auto_clean(lease_clear)

/*
 * The owner of a GUID is the interface of an attachment, with this suffix, which no name of an
 * interface can have. owner_interface - the name without it. owner_of_guid - the name with it; of
 * ifname only the 15 bytes count that a name can have. Both return out. owner_is_of_guid - it has
 * the suffix.
 */
#define OWNER_GUID      ":guid"
#define OWNER_NAME_SIZE 64
char *owner_interface(const char *ifname, char out[OWNER_NAME_SIZE]);
char *owner_of_guid(const char *ifname, char out[OWNER_NAME_SIZE]);
bool owner_is_of_guid(const char *ifname);

bool owner_same(const struct owner *a, const struct owner *b); /* network, container, ifname */
bool owner_has_pod(const struct owner *o);                     /* namespace and pod known */
bool owner_same_pod(const struct owner *a,
		    const struct owner *b); /* namespace, pod, ifname; known */

/*
 * The number of some leases, and the first ones by name: "10.1.0.5 (team-a/web-0)".
 * lease_names_add - one more; o NULL: its record cannot be read.
 */
#define LEASE_NAMES_MAX 3
struct lease_names {
	uint64_t n;
	char text[256];
};
void lease_names_add(struct lease_names *names, struct ip ip, const struct owner *o);

/* A list of address keys. */
struct key_list {
	size_t n;
	struct key items[LEASE_KEYS_MAX];
};

/*
 * key_list_parse - the text of a record; `what` names the record in errors. ERR_STORE: it is not a
 * list, or is too long. key_list_print - the reverse; the caller frees the text; NULL: no memory.
 */
int key_list_parse(const char *text, const char *what, struct key_list *out,
		   struct err *e) must_check;
char *key_list_print(const struct key_list *l);

/*
 * key_list_remove - remove a key; an absent key is success. key_list_add - add a key unless it is
 * there; -1: the list is full.
 */
void key_list_remove(struct key_list *l, const char *key);
int key_list_add(struct key_list *l, const char *key) must_check;

/* The usage of a source. verify checks used and resting; the rest only makes the search faster. */
struct source_usage {
	uint64_t used, resting;
	uint64_t forgotten; /* addresses before next without a record: deleted, or skipped */
	struct ip
		next; /* addresses before it were given at some time. IP_NONE: begin at the start */
	bool done;    /* no address after next was never used, either */
};

/*
 * source_usage_parse - the text of a record; NULL (no record yet) is an empty usage. ERR_STORE.
 * source_usage_print - the reverse; the caller frees the text; NULL: no memory.
 */
int source_usage_parse(const char *text, const char *what, struct source_usage *out,
		       struct err *e) must_check;
char *source_usage_print(const struct source_usage *t);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * case.h: keys in another case, misspelled keys and keys that are not read, in texts that
 * people write and Go programs read as well.
 */
#ifndef RAILHEAD_LIB_JSON_CASE_H
#define RAILHEAD_LIB_JSON_CASE_H

#include <stddef.h>

struct json; /* of json.h */

/*
 * json_fold_case - from now on json_get() and json_decode() take a key of this tree in another case
 * as well, as Go's decoder does: ASCII letters, U+017F for s, U+212A for k. The exact key wins,
 * else the last one; what is taken is rewritten as the key that was asked for. The tree also keeps
 * which keys were asked for, for json_each_key(). Returns the keys of its largest object.
 */
size_t json_fold_case(struct json *root);

/* The finding about a key. Keys of an object of which no key was asked for have none. */
enum json_key_finding {
	JSON_KEY_CASE,   /* it was taken in another case */
	JSON_KEY_CLASH,  /* it lost to another spelling of it */
	JSON_KEY_SLIP,   /* it was not asked for, but one that is nearly the same was */
	JSON_KEY_UNREAD, /* it was not asked for */
	JSON_KEY_NOMEM,  /* of the object at path: slips are unknown, because memory was out */
};

/*
 * json_each_key - call fn for each such key. path: "ipam.ranges[0].subnet"; value: of the key.
 * meant: of a slip, the key that was asked for. Returns what fn did if not 0.
 */
struct json_key {
	enum json_key_finding finding;
	const char *path, *meant;
	const struct json *value;
};
typedef int (*json_key_fn)(const struct json_key *key, void *arg);
int json_each_key(const struct json *root, json_key_fn fn, void *arg);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_case.h: keys in another case, for texts that Go programs read as well.
 */
#ifndef RAILHEAD_LIB_JSON_JSON_CASE_H
#define RAILHEAD_LIB_JSON_JSON_CASE_H

#include <stdbool.h>

struct json; /* of json.h */

/*
 * json_fold_case - from now on json_get() and json_decode() take a key of this tree in another case
 * as well, as Go's decoder does: ASCII letters, U+017F for s, U+212A for k. The exact key wins,
 * else the last one; what is taken is rewritten as the key that was asked for.
 */
void json_fold_case(struct json *root);

/*
 * json_each_case - call fn for each key that was taken in another case, and (clash) for each that
 * lost to another spelling of it. path: "ipam.ranges[0].subnet". Returns what fn did if not 0.
 */
typedef int (*json_case_fn)(const char *path, bool clash, void *arg);
int json_each_case(const struct json *root, json_case_fn fn, void *arg);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range_list.h: a set of addresses as a JSON array of texts: "10.1.1.7", "10.1.1.0-10.1.1.99",
 * "10.1.2.0/24". A network has all its addresses. Pure.
 *
 * The addresses that no pool of a cluster assigns are the object {"ranges": [...]}.
 */
#ifndef RAILHEAD_IPAM_CONF_RANGE_LIST_H
#define RAILHEAD_IPAM_CONF_RANGE_LIST_H

#include "ipam/conf/ranges.h"
#include "lib/json/json.h"

/*
 * range_list_each - call fn for each range of an array, with its text; NULL: there are none. If fn
 * returns non-zero, that is the result. ERR_DECODE, ERR_CONFIG: an item is not a range. The message
 * has `key` and the index, also before that of fn.
 */
typedef int (*range_list_fn)(void *arg, const char *text, struct ip_range r, struct err *e);
int range_list_each(const struct json *list, const char *key, range_list_fn fn, void *arg,
		    struct err *e) must_check;

/*
 * range_list_add, range_list_remove - add the ranges of an array to *s, or remove them; NULL: there
 * are none. ERR_DECODE, ERR_CONFIG: the message has `key`, the index and the text; *s may have some
 * of them.
 */
int range_list_add(const struct json *list, const char *key, struct ranges *s,
		   struct err *e) must_check;
int range_list_remove(const struct json *list, const char *key, struct ranges *s,
		      struct err *e) must_check;

/*
 * range_list_print - the array of a set, in the order of addresses; owned by the caller. A network
 * is "10.1.2.0/24". range_list_print_in - only the addresses of a network. NULL: no memory.
 */
struct json *range_list_print(const struct ranges *s);
struct json *range_list_print_in(const struct ranges *s, struct ip_prefix subnet);

/*
 * cluster_reserved_decode - the value of the cluster's object. *out is empty before. ERR_DECODE,
 * ERR_CONFIG: as range_list_add(), or there are too many ranges; *out is empty.
 * cluster_reserved_fits - ERR_CONFIG: too many ranges for such an object.
 */
#define CLUSTER_RESERVED_MAX                                                                       \
	512 /* ranges: as many as the rules of a type of Kubernetes can check */
int cluster_reserved_fits(size_t ranges, struct err *e) must_check;
int cluster_reserved_decode(const struct json *value, struct ranges *out, struct err *e) must_check;

#endif

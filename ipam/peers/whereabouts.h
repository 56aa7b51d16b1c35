/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whereabouts.h: the leases of whereabouts in a cluster, as kubectl prints them. Pure.
 *
 *	kubectl get ippools.whereabouts.cni.cncf.io -A -o json
 *
 * Each item is a range: spec.range and spec.allocations. A key of allocations is the distance of an
 * address from the first one of the range (decimal, for IPv6 up to 39 digits). Its value names the
 * owner: id (container), podref ("namespace/name") and, in later versions, ifname.
 */
#ifndef RAILHEAD_IPAM_PEERS_WHEREABOUTS_H
#define RAILHEAD_IPAM_PEERS_WHEREABOUTS_H

#include "lib/base/err.h"
#include "lib/base/ip.h"

#define WHEREABOUTS_NAME_MAX 254 /* of a Kubernetes object's name, with NUL */

struct whereabouts_lease {
	struct ip ip;
	char container[256], ifname[64];                          /* ifname "": absent or invalid */
	char ns[WHEREABOUTS_NAME_MAX], pod[WHEREABOUTS_NAME_MAX]; /* "": podref is invalid */
};

/*
 * whereabouts_each - call fn for each allocation of a list, or of one IPPool. Allocations without a
 * container are skipped, and those that whereabouts itself could not read: an offset that is not a
 * number, or is outside of the range. Return non-zero from fn to stop; that value is returned.
 * ERR_CONFIG: text is neither a list nor an IPPool.
 */
typedef int (*whereabouts_fn)(const struct whereabouts_lease *lease, void *arg, struct err *e);
int whereabouts_each(const char *text, size_t len, whereabouts_fn fn, void *arg,
		     struct err *e) must_check;

#endif

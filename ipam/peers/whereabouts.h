/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whereabouts.h: what whereabouts has given out in a cluster, as kubectl prints it. Pure.
 *
 *	kubectl get ippools.whereabouts.cni.cncf.io -A -o json
 *
 * Each item is a range: spec.range, and spec.allocations: how far an address is from the one that
 * the range begins with (decimal; of IPv6 up to 39 digits), and who has it: id (container), podref
 * ("namespace/name") and, of later versions, ifname.
 */
#ifndef RAILHEAD_IPAM_PEERS_WHEREABOUTS_H
#define RAILHEAD_IPAM_PEERS_WHEREABOUTS_H

#include "lib/base/err.h"
#include "lib/base/ip.h"

#define WHEREABOUTS_NAME_MAX 254 /* of a Kubernetes object's name, with NUL */

struct whereabouts_lease {
	struct ip ip;
	char container[256], ifname[64]; /* ifname "": not said, or none that could be */
	char ns[WHEREABOUTS_NAME_MAX], pod[WHEREABOUTS_NAME_MAX]; /* "" where podref is none */
};

/*
 * whereabouts_each - call fn for each allocation of a list, or of one IPPool. What whereabouts
 * itself could not read (an offset that is no number, or outside of the range) is passed over, and
 * so is what names no container. Non-zero ends the walk and is returned. ERR_CONFIG when text is
 * something else.
 */
typedef int (*whereabouts_fn)(const struct whereabouts_lease *lease, void *arg, struct err *e);
int whereabouts_each(const char *text, size_t len, whereabouts_fn fn, void *arg,
		     struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.h: a pod with a recreated sandbox, before the DEL of the old one or without a DEL.
 *
 * The new sandbox gets the address of the old one, if the old one is proved gone. While the old one
 * may live, the pod gets a second address: no address ever has two living owners.
 */
#ifndef RAILHEAD_IPAM_ALLOC_SANDBOX_H
#define RAILHEAD_IPAM_ALLOC_SANDBOX_H

#include "ipam/lease/lease_db.h"

/*
 * sandbox_take_over - release the addresses of s that earlier sandboxes of the owner's pod hold, as
 * far as these are proved gone. The pod is namespace, name and interface. *out is the first such
 * address; family IP_NONE: there is none, or the pod is unknown. A sandbox with another UID is
 * another pod of the same name. Its address is taken over only if the source is sticky.
 */
struct sandbox {
	struct lease_db *db;
	const struct owner *owner;
	struct holder_checks *checks; /* gets the holders that must be checked first */
};
int sandbox_take_over(const struct sandbox *new, const struct source *s, struct ip *out,
		      struct err *e) must_check;

#endif

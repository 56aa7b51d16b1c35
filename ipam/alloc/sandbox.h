/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.h: a pod with a recreated sandbox, before the DEL of the old one or without a DEL.
 *
 * The new sandbox gets the address of the old one, if the old one is proved gone. While the old one
 * may live, the pod gets a second address: no address ever has two living owners.
 */
#ifndef RAILHEAD_IPAM_ALLOC_SANDBOX_H
#define RAILHEAD_IPAM_ALLOC_SANDBOX_H

#include "ipam/lease/db.h"

/*
 * sandbox_take_over - release the addresses of s that earlier sandboxes of the owner's pod hold, as
 * far as these are proved gone. The pod is namespace, name and interface. *out is the first such
 * address; family IP_NONE: there is none, or the pod is unknown. A sandbox with another UID is
 * another pod of the same name. Its address is taken over only if the source is sticky.
 *
 * In a pool whose sticky addresses move, a virtual machine has an address of its own. Each pod that
 * runs the machine has another name. So the earlier sandbox may be that of another pod, of
 * the same namespace and interface, that has the address of the block of `identity`.
 */
struct sandbox {
	struct lease_db *db;
	const struct owner *owner;
	const char *identity; /* of the pod, or of the machine that it runs; "": not known */
	struct holder_checks *checks; /* gets the holders that must be checked first */
};
int sandbox_take_over(const struct sandbox *new, const struct source *s, struct ip *out,
		      struct err *e) must_check;

#endif

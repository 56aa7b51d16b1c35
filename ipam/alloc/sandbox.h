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
 * sandbox_take_over - release what earlier sandboxes of the owner's pod (namespace, name,
 * interface) hold of s, as far as they are proved gone. *out is the first such address, family
 * IP_NONE when there is none or the pod is not known. A sandbox whose UID is known and another is a
 * pod of its own, whose address is taken over only where addresses stick to names.
 */
struct sandbox {
	struct lease_db *db;
	const struct owner *owner;
	struct holder_checks *checks; /* without the proof that is needed it is noted there: see
					 holder_checks_run */
};
int sandbox_take_over(const struct sandbox *new, const struct source *s, struct ip *out,
		      struct err *e) must_check;

#endif

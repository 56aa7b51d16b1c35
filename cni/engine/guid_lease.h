/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guid_lease.h: the GUID of the pod's port from the IPAM, beside the addresses of its interface.
 *
 * The lease belongs to the attachment. The IPAM's DEL of the attachment releases it, so that undo,
 * DEL, GC and repair need nothing more. The pool is ipam.guidPool; of railhead-ipam only.
 */
#ifndef RAILHEAD_CNI_ENGINE_GUID_LEASE_H
#define RAILHEAD_CNI_ENGINE_GUID_LEASE_H

#include "cni/engine/attach.h"
#include "lib/base/guid.h"

/*
 * guid_lease_add - for the create hook: lease the GUID *want, or, if want is NULL, any GUID of the
 * pool. An earlier lease of this attachment is kept. Errors are those of the IPAM; ERR_DELEGATE: it
 * gave something else than a GUID.
 */
int guid_lease_add(const struct attach *a, const struct guid *want, struct guid *out,
		   struct err *e) must_check;

/* guid_lease_check - ERR_STATE: this attachment has no lease of a GUID. */
int guid_lease_check(const struct attach *a, struct err *e) must_check;

#endif

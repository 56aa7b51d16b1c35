/* SPDX-License-Identifier: Apache-2.0 */
/*
 * staged.h: interfaces that are made on the host, and then moved into the pod.
 *
 * Most kinds are made in the pod at once. IPoIB is not: the driver of mlx5 looks for the parent of
 * a new child in the child's namespace, where another device may have the parent's number. And when
 * the pod's namespace dies, the kernel hands a child of IPoIB back to the first namespace, under
 * another name. So such an interface has a name on the host that follows from its attachment, and
 * an alias from before it moves. By alias, kind and lower device it is known wherever it turns up.
 */
#ifndef RAILHEAD_CNI_ENGINE_STAGED_H
#define RAILHEAD_CNI_ENGINE_STAGED_H

#include "cni/engine/attach.h"

/*
 * staged_alias - "railhead:NETWORK/CONTAINER/IFNAME"; where that is too long for the kernel, its
 * hash stands in for the container. staged_name - the name on the host, "rh" and a hash. Pure.
 */
void staged_alias(const struct record_key *key, char out[LINK_ALIAS_LEN]);
void staged_name(const struct record_key *key, char out[IFNAME_LEN]);

/*
 * staged_create - as attach_create_link(), for kinds that are made on the host. The mtu is set by a
 * message of its own: IPoIB ignores it in the one that creates. errnum EEXIST: the pod has the
 * name.
 */
int staged_create(struct attach *a, struct link_spec spec, struct err *e) must_check;

/*
 * staged_restore - an attach_restore_fn: delete the interface in the pod, and what of the
 * attachment is on the host. If the pod's namespace has gone, it waits a moment for the kernel to
 * hand the interface back.
 */
int staged_restore(const struct ctx *ctx, const struct record *r, struct err *e) must_check;

/* staged_release - the hook of struct attach_type: delete it on the host if there is no record. */
int staged_release(const struct cni_call *call, const struct record *r, struct err *e) must_check;

/*
 * staged_sweep - delete interfaces of this kind on the host whose attachment has no record: the
 * kernel handed them back after the DEL. One that still has its name of staged_name() stays: an ADD
 * is at work on it, or a record tells of it. ctx is that of the records. staged_sweep_network - the
 * same as the hook of struct attach_type.
 */
struct staged_orphans {
	const char *kind;
	const char *network; /* NULL: of all */
	link_fn chosen;      /* returns 0 for one that shall stay; NULL: all go */
	void *arg;
};
int staged_sweep(const struct ctx *ctx, const struct staged_orphans *which,
		 struct err *e) must_check;
int staged_sweep_network(const struct cni_call *call, struct err *e) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* member.h: the membership of the pod's port in its partition, which only the subnet manager gives.
 */
#ifndef RAILHEAD_PLUGINS_SRIOV_MEMBER_H
#define RAILHEAD_PLUGINS_SRIOV_MEMBER_H

#include "plugins/sriov/ib_conf.h"

/*
 * ib_member_add - ask for the membership of the GUID that the port has after this ADD. Does nothing
 * without a pkey or without a hook in /etc/railhead/sm.d. ERR_DELEGATE: a hook failed.
 */
int ib_member_add(const struct attach *a, const struct ib_conf *c, struct err *e) must_check;

/* ib_member_remove - give up the membership of an attachment; none is success. A hook that fails is
 * logged, and its removal is queued. */
int ib_member_remove(const struct ctx *ctx, const struct record_key *key, struct err *e) must_check;

/*
 * ib_restore - an attach_restore_fn: restore the VF, then give up the membership. A hook that fails
 * is logged, and its removal is queued.
 */
int ib_restore(const struct ctx *ctx, const struct record *r, struct err *e);

/* ib_release - for release: the same for an attachment without a record. */
int ib_release(const struct cni_call *call, const struct record *r, struct err *e);

#endif

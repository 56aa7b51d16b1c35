/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stale.h: the records of all plugins on this host, and how stale ones are undone.
 *
 * Which record is stale, and the repair of one, are in cni/engine/repair.h.
 */
#ifndef RAILHEAD_PLUGINS_STALE_H
#define RAILHEAD_PLUGINS_STALE_H

#include "cni/engine/repair.h"

/* stale_restorers - for repair_one(): what returns moved devices to the host. */
extern const struct attach_restore_type stale_restorers[];

/*
 * stale_each - call fn for every record of network (NULL: of all) in the order of DEL: the last
 * plugin of a chain first. place has the record, for repair_examine() and repair_one(). As
 * record_each(): non-zero from fn ends the walk and is discarded.
 */
typedef int (*stale_fn)(const struct ctx *place, const struct record *r, void *arg);
int stale_each(const struct ctx *ctx, const char *network, stale_fn fn, void *arg,
	       struct err *e) must_check;

/*
 * stale_links - call chosen for each interface that the kernel handed back to this host after its
 * DEL. Those for which it returns non-zero are deleted. network NULL: of all.
 */
int stale_links(const struct ctx *ctx, const char *network, link_fn chosen, void *arg,
		struct err *e) must_check;

/* stale_tidy - remove folders that repairs left empty (record_tidy). A failure is a warning.
 */
void stale_tidy(const struct ctx *ctx);

/* stale_masters - remove masters on demand that have no user any more. A failure is logged. */
void stale_masters(const struct ctx *ctx);

#endif

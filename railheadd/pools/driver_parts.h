/* SPDX-License-Identifier: Apache-2.0 */
/* driver_parts.h: begin and end of the driver's parts, for railheadd/pools only. */
#ifndef RAILHEAD_RAILHEADD_POOLS_DRIVER_PARTS_H
#define RAILHEAD_RAILHEADD_POOLS_DRIVER_PARTS_H

#include "cluster/protocol/agent_ops.h"
#include "lib/base/err.h"
#include "lib/base/ip.h"

struct cluster_node;
struct json;
struct driver;
struct conflict_report;
struct pool_entry;
struct pool_seen;
struct presence;

/*
 * driver_count_again - forget the counts of spare addresses: an event begins, or the blocks of the
 * node have changed. ADDs and DELs change the counts, too. An ADD whose address another one took
 * asks again.
 */
void driver_count_again(struct driver *d);

/* driver_add_contact - what was heard, for the status. -1: no memory. */
int driver_add_contact(struct driver *d, struct json *obj) must_check;

/*
 * pool_look_clear - true: nothing is in the way of the pool. False: a look runs, again and again;
 * once clear it calls pools_look_clear(), which uses the pool. pool_look_why - what is in the way,
 * or NULL. pool_look_cancel - a pool overlaps, and a later look must begin after its end.
 */
bool pool_look_clear(struct driver *d, struct pool_seen *s);
void pools_look_clear(struct driver *d);
const struct err *pool_look_why(const struct pool_seen *s);
void pool_look_cancel(struct pool_seen *s);
void pools_looks_cancel(struct driver *d);
/*
 * pools_reserved_in - the reserved addresses of a network, as an array of ranges; the caller frees
 * it. NULL: no memory.
 */
struct json *pools_reserved_in(const struct driver *d, struct ip_prefix subnet);

/* pools_stale - a pool that this node assigns as it was before the last change; NULL: none. */
const struct pool_seen *pools_stale(const struct driver *d);
/* pool_list_cancel - the list of all blocks that looks share. */
void pool_list_cancel(struct driver *d);

/*
 * conflict_report_new - say in the log which blocks are lost, now and from now on. ERR_NOMEM.
 * conflict_report_block - a record was written. conflict_report_free - after the asks.
 * NULL is fine for both.
 */
int conflict_report_new(struct driver *d, struct conflict_report **out, struct err *e) must_check;
void conflict_report_block(struct conflict_report *c, const struct block_record *r);
void conflict_report_free(struct conflict_report *c);

/*
 * pools_note_lost - another node has a block with pods of this one, or an address. what: as
 * "address 10.1.0.5". pods: a text that names them. The object of the node says so while the pool
 * is adopting. node NULL: it is not known.
 */
void pools_note_lost(struct driver *d, const char *pool, const char *node, const char *what,
		     const char *pods);

/*
 * presence_new - write the object of this node now and when it differs from *node, which is copied.
 * An operator's statement that the machine is off goes with that. presence_pools - after each
 * event: if what the node says about pools has changed, it is written soon. presence_rails - as
 * driver_rails(). presence_free - end; a write that was sent may be executed. NULL is fine for all.
 */
int presence_new(struct driver *d, const struct cluster_node *node, struct presence **out,
		 struct err *e) must_check;
void presence_pools(struct presence *p);
void presence_rails(struct presence *p, struct json *rails);
void presence_free(struct presence *p);

/* needs_identity_done - struct agent_ops: identity_done. arg is the driver. */
void needs_identity_done(void *arg, const char *pool, const char *identity, enum need_result result,
			 const struct block_seen *held);

#endif

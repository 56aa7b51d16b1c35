/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seen.c: one rule for the nodes and for the operator's command: which blocks are in the way
 * of a pool. The pool of such a block may be gone, so that only its name says where it lies.
 */
#include "railheadd/pools/seen.h"

#include <string.h>

#include "ipam/block/object_json.h"
#include "ipam/block/record.h"
#include "ipam/conf/pool_blocks.h"

void pool_seen_read(const struct cluster_object *o, struct pool_seen *out)
{
	const char *subnet = json_str(json_get(o->value, "subnet"));

	*out = (struct pool_seen){ .ending = o->ending,
				   .generation = o->generation,
				   .state = pool_state_of(o->value),
				   .subnet.addr.family = IP_NONE };
	memcpy(out->name, o->name, sizeof(out->name));
	memcpy(out->uid, o->at.uid, sizeof(out->uid));
	memcpy(out->created, o->created, sizeof(out->created));
	if (subnet && ip_parse_prefix(subnet, &out->subnet))
		out->subnet.addr.family = IP_NONE;
}

bool pool_seen_overlaps(const struct pool_seen *a, const struct pool_seen *b)
{
	return a->subnet.addr.family != IP_NONE && b->subnet.addr.family != IP_NONE &&
	       (ip_in_prefix(a->subnet, b->subnet.addr) || ip_in_prefix(b->subnet, a->subnet.addr));
}

/* ---- a block ---- */

/* The size of a block is not known when its pool is gone: it is as large as its start allows. */
static bool seen_is_inside(struct ip_prefix subnet, struct ip start)
{
	struct ip last = start;
	u128 size = 1;

	while (size < POOL_BLOCK_SIZE_MAX && !(start.v & size))
		size <<= 1;
	last.v += size - 1;
	return ip_in_prefix(subnet, start) || (start.v < subnet.addr.v && last.v >= subnet.addr.v);
}

static void explain_loan(const char *name, const char *borrower, struct err *why)
{
	err_set(why, ERR_BUSY, 0,
		"node %s has an address of block %s of a deleted pool in this subnet", borrower,
		name);
	(void)err_hint(why,
		       "wait until the pod of that pool has gone, or use another subnet. If that "
		       "machine is off, say so with \"railctl cluster node forget %s\"",
		       borrower);
}

bool block_clashes(const struct cluster_object *o, struct ip_prefix subnet,
		   pool_harmless_fn harmless, const void *arg, struct err *why)
{
	char pool[GRID_POOL_MAX + 1];
	struct block b = { .touched = 0 };
	struct ip start;
	struct err e;
	bool readable;

	if (grid_parse(o->name, subnet.addr.family, pool, &start) ||
	    !seen_is_inside(subnet, start) || harmless(arg, pool, o->value))
		return false;
	/* A block that cannot be read may have pods. */
	readable = block_from_json(o->value, o->name, &b, &e) == 0;
	if (readable && !*b.owner.node && block_borrower(&b)) {
		explain_loan(o->name, block_borrower(&b), why);
		return true;
	}
	if (readable && !*b.owner.node && !b.probe)
		return false;
	if (readable && !*b.owner.node) {
		err_set(why, ERR_BUSY, 0,
			"block %s of another pool in this subnet was taken from a node that may "
			"live",
			o->name);
		(void)err_hint(why,
			       "if that machine is off, delete the block's object: RailBlock %s, "
			       "with etcd the key blocks/%s",
			       o->name, o->name);
		return true;
	}
	err_set(why, ERR_BUSY, 0, "node %s has block %s of a deleted pool in this subnet",
		*b.owner.node ? b.owner.node : "(unknown)", o->name);
	(void)err_hint(why, "wait until the pods of that pool have gone, or use another subnet");
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * take.c: the definition of a pool reaches this node: first its store, which an ADD reads,
 * then the agent. A pool that begins to be shared brings its leases along.
 */
#include <string.h>

#include "ipam/lease/adopt.h"
#include "ipam/conf/pool.h"
#include "railheadd/pools/driver_parts.h"
#include "railheadd/pools/driver_priv.h"

static struct pool_entry *new_entry(const struct shared_pool_def *def, struct err *e)
{
	struct pool_entry *p = calloc(1, sizeof(*p));

	if (!p || !(p->definition = json_dup(def->definition))) {
		free(p);
		(void)err_nomem(e);
		return NULL;
	}

	struct shared_pool_def own = *def;

	own.definition = p->definition;
	p->generation = def->generation;
	if (shared_pool_decode(&own, &p->view, e) == 0)
		return p;
	json_free(p->definition);
	free(p);
	return NULL;
}

/* The agent borrows from the entry: it gets the new one before the old one is freed. */
int pool_replace(struct driver *d, const struct shared_pool_def *def, bool ending, struct err *e)
{
	struct pool_entry *old = pools_find(d, def->name), *p = new_entry(def, e);

	if (!p)
		return -1;
	p->view.pool.ending = ending;
	/* Also on a node that the pool is not for, leases are brought in. None claims ahead. */
	if (p->view.source.blocks.state == POOL_ADOPTING)
		p->view.pool.warm = 0;
	/* Only an open pool lends: in an adopting one nodes bring in their leases. */
	p->view.pool.lends = p->view.pool.grid.bits > 0 && !p->view.pool.sticky &&
			     p->view.source.blocks.state == POOL_OPEN;
	p->view.pool.conflict = node_labels_exclude(&d->labels, p->definition) &&
				p->view.source.blocks.state != POOL_ADOPTING;
	if (agent_set_pool(d->agent, &p->view.pool, e)) {
		shared_pool_view_clear(&p->view);
		json_free(p->definition);
		free(p);
		return -1;
	}
	TAILQ_INSERT_TAIL(&d->pools, p, all);
	if (old) {
		/* A need that ended is reported, or begun again if this pool may give more. */
		p->ended = old->ended;
		p->result = p->view.pool.conflict ? old->result : NEED_MET;
		TAILQ_REMOVE(&d->pools, old, all);
		shared_pool_view_clear(&old->view);
		json_free(old->definition);
		free(old);
	}
	return 0;
}

/* The agent may know a new block of the pool already, if it tried before. */
static int know_blocks(struct driver *d, const char *pool, struct err *e)
{
	struct agent_memory memory;
	int rc = 0;

	if (blocks_load(d->conf.ipam, &memory, e))
		return -1;
	for (size_t i = 0; i < memory.n && rc == 0; i++) {
		if (strcmp(memory.blocks[i].key.pool, pool) == 0)
			rc = agent_know(d->agent, &memory.blocks[i]);
	}
	blocks_clear(&memory);
	return rc ? err_nomem(e) : 0;
}

/*
 * A pool in the state "adopting". The blocks of leases that were moved are the agent's before the
 * pool is: if that fails, the next try finds them in the store.
 */
static int adopt(struct driver *d, const struct pool_seen *s, const struct shared_pool_def *def,
		 struct err *e)
{
	struct pool_adopt a = { .def = def, .random = driver_random };

	if (pool_adopt(d->conf.ipam, &a, e))
		return -1;
	if (!a.local)
		return 0;
	auto_json struct json *definition = a.local;
	const struct shared_pool_def local = { s->name, s->uid, s->generation, definition,
					       def->reserved };

	if (a.moved)
		log_info(&d->conf.ctx->log,
			 "the leases of pool %s are now leases of the shared "
			 "pool of this name",
			 s->name);
	return know_blocks(d, s->name, e) || pool_replace(d, &local, s->ending, e) ? -1 : 0;
}

/* The old definition of an open pool holds, without the addresses that are reserved now. */
static void take_keep(struct driver *d, const struct pool_seen *s, const struct json *reserved)
{
	const struct pool_entry *old = pools_find(d, s->name);
	struct err e;

	if (!old || strcmp(old->view.pool.uid, s->uid) != 0 ||
	    old->view.source.blocks.state != POOL_OPEN)
		return;
	const struct shared_pool_def def = { s->name, s->uid, old->generation, old->definition,
					     reserved };

	if (shared_pool_put(d->conf.ipam, &def, &e) ||
	    pool_replace(d, &def, old->view.pool.ending, &e))
		log_error(&d->conf.ctx->log,
			  "the reserved addresses do not reach pool %s on this node: %s", s->name,
			  e.msg);
}

/* The node's store first: an agent that has a block of a pool needs its definition there. */
static int pools_take(struct driver *d, struct pool_seen *s, const struct json *reserved,
		      struct err *e)
{
	const struct shared_pool_def def = { s->name, s->uid, s->generation, s->definition,
					     reserved };

	/* A misspelled key must not be as good as none. */
	if (pool_check_keys(s->definition, e))
		return err_wrap(e, "pool %s", s->name);
	if (s->state == POOL_ADOPTING)
		return adopt(d, s, &def, e);
	return shared_pool_put(d->conf.ipam, &def, e) || pool_replace(d, &def, s->ending, e) ? -1
											     : 0;
}

int pool_take_over(struct driver *d, struct pool_seen *s, struct err *e)
{
	auto_json struct json *reserved = pools_reserved_in(d, s->subnet);

	if (!reserved)
		return err_nomem(e);
	if (pools_take(d, s, reserved, e) == 0)
		return 0;
	take_keep(d, s, reserved);
	return -1;
}

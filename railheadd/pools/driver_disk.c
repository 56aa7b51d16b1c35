/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_disk.c: the agent's records, in the store of the node. A failure of that store is logged,
 * and the agent tries again.
 */
#include <sys/random.h>

#include "railheadd/pools/driver_parts.h"
#include "railheadd/pools/driver_priv.h"

static int reported(struct driver *d, int rc, const struct err *e)
{
	if (rc < 0)
		log_error(&d->conf.ctx->log, "%s", e->msg);
	return rc;
}

static void say_unlisted(const struct driver *d, const char *block)
{
	const char *node = d->conf.node;

	if (d->conf.store->ops->drop_copies)
		log_error(&d->conf.ctx->log,
			  "%s: the key by-node/%s/blocks/%s is missing, and the block's own key is "
			  "there; the block is written again",
			  d->conf.store->ops->name, node, block);
	else
		log_warn(&d->conf.ctx->log,
			 "the cluster store did not list block %s of node %s; it is written again",
			 block, node);
}

static void send_request(void *arg, const struct agent_request *r)
{
	struct driver *d = arg;

	if (d->requests && r->unlisted)
		say_unlisted(d, r->name);
	/* Without a cluster store nothing is sent; the agent has no pool to claim from either. */
	if (d->requests && requests_send(d->requests, r))
		(void)err_nomem(&d->fatal);
}

void driver_count_again(struct driver *d)
{
	struct pool_entry *p;

	for (p = TAILQ_FIRST(&d->pools); p; p = TAILQ_NEXT(p, all))
		p->counted = false;
}

/* l NULL: what the block lends stays. */
static int put_loans(void *arg, const struct block_record *r, const struct lending *l)
{
	struct driver *d = arg;
	struct err e;

	/* Nothing is assigned from a block that is wanted or asked for, and was not before. */
	if (r->state != BLOCK_WANTED && r->state != BLOCK_ASKED)
		driver_count_again(d);
	if (reported(d, blocks_put_loans(d->conf.ipam, r, l, &e), &e))
		return -1;
	conflict_report_block(d->report, r);
	return 0;
}

static int driver_disk_put_block(void *arg, const struct block_record *r)
{
	return put_loans(arg, r, NULL);
}

static int drop_block(void *arg, const struct block_key *key)
{
	struct driver *d = arg;
	struct err e;

	driver_count_again(d);
	return reported(d, blocks_drop(d->conf.ipam, key, &e), &e);
}

static int retire_block(void *arg, const struct block_key *key)
{
	struct driver *d = arg;
	struct err e;

	driver_count_again(d);
	return reported(d, blocks_retire(d->conf.ipam, key, &e), &e);
}

static int lend(void *arg, const struct block_key *key, uint32_t one, const struct block_party *to,
		struct loan *out)
{
	const struct blocks_loan want = { key, one, to };
	struct driver *d = arg;
	struct err e;

	driver_count_again(d);
	return reported(d, blocks_lend(d->conf.ipam, &want, out, &e), &e);
}

static int put_node(void *arg, const struct node_record *r)
{
	struct driver *d = arg;
	struct err e;

	driver_count_again(d);
	return reported(d, blocks_put_node(d->conf.ipam, r, &e), &e);
}

/* A block whose use is not known counts as used: then nothing of it is given away. */
static uint32_t used(void *arg, const struct block_key *key)
{
	struct driver *d = arg;
	uint32_t n = 0;
	struct err e;

	return reported(d, blocks_used(d->conf.ipam, key, &n, &e), &e) ? UINT32_MAX : n;
}

/* A store that fails proves no probe. */
static bool probed(void *arg, const struct block_key *key)
{
	struct driver *d = arg;
	bool is = false;
	struct err e;

	return reported(d, blocks_probed(d->conf.ipam, key, &is, &e), &e) == 0 && is;
}

/* If it is not known, nothing is claimed. */
static uint64_t spare(void *arg, const char *pool)
{
	struct driver *d = arg;
	struct pool_entry *p = d->in_event ? pools_find(d, pool) : NULL;
	uint64_t n = 0;
	struct err e;

	if (p && p->counted)
		return p->spare;
	if (reported(d, blocks_spare(d->conf.ipam, pool, &n, &e), &e))
		return UINT64_MAX / 2;
	if (p) {
		p->counted = true;
		p->spare = n;
	}
	return n;
}

uint64_t driver_random(void *arg)
{
	uint64_t n = 0;

	(void)arg;
	while (getrandom(&n, sizeof(n), 0) != sizeof(n))
		;
	return n;
}

static int64_t now(void *arg)
{
	const struct driver *d = arg;

	return ctx_since_boot(d->conf.ctx);
}

/* The agent may not be called from here: driver_event() tells who waits. */
static void met(void *arg, const char *pool, enum need_result result)
{
	struct pool_entry *p = pools_find(arg, pool);

	if (!p)
		return;
	p->ended = true;
	p->result = result;
}

static int64_t wall(void *arg)
{
	const struct driver *d = arg;

	return d->conf.ctx->now(d->conf.ctx->clock) / INT64_C(1000000000);
}

const struct agent_ops driver_agent_ops = {
	.send = send_request,
	.random = driver_random,
	.now = now,
	.put_block = driver_disk_put_block,
	.put_loans = put_loans,
	.drop_block = drop_block,
	.retire_block = retire_block,
	.lend = lend,
	.put_node = put_node,
	.used = used,
	.spare = spare,
	.probed = probed,
	.met = met,
	.wall = wall,
	.identity_done = needs_identity_done,
};

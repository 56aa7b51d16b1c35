/* SPDX-License-Identifier: Apache-2.0 */
/* one_agent.c: the node's own store in memory, and requests that the test answers. */
#include "cluster/testing/one_agent.h"

#include <stdio.h>

#include "lib/testing/testing.h"

static void send_request(void *arg, const struct agent_request *r)
{
	struct one_agent *n = arg;

	ck_assert_uint_lt(n->n_sent, ARRAY_SIZE(n->sent));
	n->creates += r->call == CALL_CREATE;
	n->sent[n->n_sent++] = *r;
}

static uint64_t next_random(void *arg)
{
	struct one_agent *n = arg;

	return n->random += n->stride;
}

static int64_t clock_of(void *arg)
{
	return ((const struct one_agent *)arg)->now;
}

static int put_block(void *arg, const struct block_record *r)
{
	struct one_agent *n = arg;

	if (n->failing) {
		n->failing--;
		return -1;
	}
	n->block = *r;
	return 0;
}

static int put_loans(void *arg, const struct block_record *r, const struct lending *l)
{
	(void)l;
	return put_block(arg, r);
}

static int keep(void *arg, const struct block_key *key)
{
	(void)key;
	return !((const struct one_agent *)arg)->empty;
}

static int lends_none(void *arg, const struct block_key *key, uint32_t one,
		      const struct block_party *to, struct loan *out)
{
	(void)arg;
	(void)key;
	(void)one;
	(void)to;
	(void)out;
	return 1;
}

static int put_node(void *arg, const struct node_record *r)
{
	((struct one_agent *)arg)->record = *r;
	return 0;
}

static uint32_t used(void *arg, const struct block_key *key)
{
	(void)key;
	return !((const struct one_agent *)arg)->empty;
}

static uint64_t spare(void *arg, const char *pool)
{
	(void)pool;
	return ((const struct one_agent *)arg)->spare;
}

static bool probed(void *arg, const struct block_key *key)
{
	return used(arg, key) > 0;
}

static void met(void *arg, const char *pool, enum need_result result)
{
	(void)pool;
	(void)result;
	((struct one_agent *)arg)->needs++;
}

static void identity_done(void *arg, const char *pool, const char *identity,
			  enum need_result result, const struct block_seen *held)
{
	(void)identity;
	(void)held;
	met(arg, pool, result);
}

static const struct agent_ops ops = { send_request, next_random, clock_of,     put_block,
				      put_loans,    keep,        keep,         lends_none,
				      put_node,     used,        spare,        probed,
				      met,          clock_of,    identity_done };

bool one_agent_gives(const struct one_agent *n)
{
	return node_may_give(&n->record, true, ONE_AGENT_BOOT, n->now) &&
	       block_may_give(&n->record, &n->block);
}

struct one_agent one_agent_node(void)
{
	struct one_agent n = { .now = 10,
			       .spare = 1,
			       .block = { .state = BLOCK_GRANTED, .token = 7, .epoch = 3 },
			       .record = { .holder = "h",
					   .boot = ONE_AGENT_BOOT,
					   .epoch = 3,
					   .give_until = INT64_MAX,
					   .fence_until = 100,
					   .beat = { "u", "v" },
					   .beats = 1 } };

	(void)snprintf(n.block.key.pool, sizeof(n.block.key.pool), "rail0");
	ck_assert_int_eq(ip_parse("10.1.0.0", &n.block.key.start), 0);
	return n;
}

struct agent *one_agent_new(struct one_agent *n)
{
	const struct agent_settings set = { .node = "n1",
					    .boot = ONE_AGENT_BOOT,
					    .hold = 1000,
					    .renew = 100,
					    .retry = 10,
					    .ask = 20,
					    .ranges = true };
	const struct agent_memory memory = { .node = n->record, .blocks = &n->block, .n = 1 };
	struct agent *a = agent_new(&set, &ops, n, &memory);

	ck_assert_ptr_nonnull(a);
	return a;
}

void one_agent_set_pool(struct agent *a, struct shared_pool *p)
{
	struct err e;

	(void)snprintf(p->name, sizeof(p->name), "rail0");
	(void)snprintf(p->uid, sizeof(p->uid), "u1");
	ck_assert_int_eq(ip_parse_prefix("10.1.0.0/24", &p->grid.subnet), 0);
	ck_assert_int_eq(agent_set_pool(a, p, &e), 0);
}

struct agent_request one_agent_write_until(struct one_agent *n, struct agent *a, int64_t end,
					   const struct block *block)
{
	for (; n->now < end; n->now++) {
		(void)agent_tick(a, n->now);
		while (n->n_sent) {
			const struct agent_request r = n->sent[--n->n_sent];

			if (r.kind == CLUSTER_BLOCK && r.call != CALL_GET && r.call != CALL_LIST)
				return r;
			agent_answer(a, &(struct agent_reply){ .id = r.id,
							       .at = { "u", "v" },
							       .block = *block,
							       .pool.uid = "u1" });
		}
	}
	return (struct agent_request){ .call = CALL_GET };
}

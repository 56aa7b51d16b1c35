/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fence_test.c: one agent whose store fails for a moment: a block that was not confirmed after the
 * fence passed is never one that an ADD may use.
 */
#include <stdio.h>

#include "cluster/protocol/agent.h"
#include "lib/testing/testing.h"

#define BOOT "boot"

struct node {
	int64_t now;
	unsigned failing; /* so many put_block fail */
	struct agent_request sent[16];
	size_t n_sent;
	struct block_record block;
	struct node_record record;
};

static void send_request(void *arg, const struct agent_request *r)
{
	struct node *n = arg;

	ck_assert_uint_lt(n->n_sent, ARRAY_SIZE(n->sent));
	n->sent[n->n_sent++] = *r;
}

static uint64_t zero(void *arg)
{
	(void)arg;
	return 0;
}

static int64_t clock_of(void *arg)
{
	return ((const struct node *)arg)->now;
}

static int put_block(void *arg, const struct block_record *r)
{
	struct node *n = arg;

	if (n->failing) {
		n->failing--;
		return -1;
	}
	n->block = *r;
	return 0;
}

static int keep(void *arg, const struct block_key *key)
{
	(void)arg;
	(void)key;
	return 1;
}

static int put_node(void *arg, const struct node_record *r)
{
	((struct node *)arg)->record = *r;
	return 0;
}

static uint32_t used(void *arg, const struct block_key *key)
{
	(void)arg;
	(void)key;
	return 1;
}

static uint64_t spare(void *arg, const char *pool)
{
	(void)arg;
	(void)pool;
	return 1;
}

static void met(void *arg, const char *pool, enum need_result result)
{
	(void)arg;
	(void)pool;
	(void)result;
}

static const struct agent_ops ops = { send_request, zero,     clock_of, put_block, keep,
				      keep,         put_node, used,     spare,     met };

/* The rule of an ADD. */
static bool gives(const struct node *n)
{
	return node_may_give(&n->record, true, BOOT, n->now) &&
	       block_may_give(&n->record, &n->block);
}

static struct node node_of(void)
{
	struct node n = { .now = 10,
			  .block = { .state = BLOCK_GRANTED, .token = 7, .epoch = 3 },
			  .record = { .holder = "h",
				      .boot = BOOT,
				      .epoch = 3,
				      .give_until = INT64_MAX,
				      .fence_until = 100,
				      .beat = { "u", "v" },
				      .beats = 1 } };

	(void)snprintf(n.block.key.pool, sizeof(n.block.key.pool), "rail0");
	ck_assert_int_eq(ip_parse("10.1.0.0", &n.block.key.start), 0);
	return n;
}

static struct agent *agent_of(struct node *n)
{
	const struct agent_settings set = {
		.node = "n1", .boot = BOOT, .hold = 1000, .renew = 100, .retry = 10, .ask = 100
	};
	const struct agent_memory memory = { n->record, &n->block, 1 };
	struct agent *a = agent_new(&set, &ops, n, &memory);

	ck_assert_ptr_nonnull(a);
	return a;
}

static void set_pool(struct agent *a, struct shared_pool *p)
{
	struct err e;

	(void)snprintf(p->name, sizeof(p->name), "rail0");
	(void)snprintf(p->uid, sizeof(p->uid), "u1");
	ck_assert_int_eq(ip_parse_prefix("10.1.0.0/24", &p->grid.subnet), 0);
	ck_assert_int_eq(agent_set_pool(a, p, &e), 0);
}

/* The heartbeats are answered, and nothing else is: no block is confirmed. */
static void run_until(struct node *n, struct agent *a, int64_t end)
{
	for (; n->now < end; n->now++) {
		(void)agent_tick(a, n->now);
		ck_assert(n->now < 100 || !gives(n));
		while (n->n_sent) {
			const struct agent_request r = n->sent[--n->n_sent];
			struct agent_reply reply = { .id = r.id, .at = { "u", "v" } };

			if (r.kind == CLUSTER_HEARTBEAT)
				agent_answer(a, &reply);
		}
		ck_assert(n->now < 100 || !gives(n));
	}
}

START_TEST(a_failed_write_of_a_block_does_not_open_the_fence)
{
	struct ranges usable = { .n = 0 };
	struct shared_pool p = { .strict = true, .grid.bits = 3, .grid.usable = &usable };
	struct node n = node_of();
	struct agent *a = agent_of(&n);

	set_pool(a, &p);
	ck_assert(gives(&n));
	n.now = 200;
	ck_assert(!gives(&n));
	n.failing = 1;
	run_until(&n, a, 400);
	ck_assert_int_gt(n.record.fence_until, 400);
	ck_assert_uint_eq(n.block.epoch, 0);
	agent_free(a);
}
END_TEST

START_TEST(a_pool_that_ends_stops_although_a_write_failed)
{
	struct ranges usable = { .n = 0 };
	struct shared_pool p = { .grid.bits = 3, .grid.usable = &usable };
	struct node n = node_of();
	struct agent *a = agent_of(&n);

	set_pool(a, &p);
	run_until(&n, a, 50);
	n.failing = 2;
	p.ending = true;
	set_pool(a, &p);
	ck_assert(gives(&n));
	run_until(&n, a, 90);
	ck_assert(!gives(&n));
	agent_free(a);
}
END_TEST

TEST_PROGRAM("fence", a_failed_write_of_a_block_does_not_open_the_fence,
	     a_pool_that_ends_stops_although_a_write_failed)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_test.c: one agent beside stores that fail: the node's own one for a moment, or a cluster
 * store that is full. No ADD may use a block that was not confirmed, and pauses become longer.
 */
#include <stdio.h>
#include <string.h>

#include "cluster/testing/one_agent.h"
#include "lib/testing/testing.h"

/* Only the heartbeats are answered: no block is confirmed. */
static void run_until(struct one_agent *n, struct agent *a, int64_t end)
{
	for (; n->now < end; n->now++) {
		(void)agent_tick(a, n->now);
		ck_assert(n->now < 100 || !one_agent_gives(n));
		while (n->n_sent) {
			const struct agent_request r = n->sent[--n->n_sent];
			struct agent_reply reply = { .id = r.id, .at = { "u", "v" } };

			if (r.kind != CLUSTER_HEARTBEAT)
				reply.outcome = CLUSTER_AWAY;
			agent_answer(a, &reply);
		}
		ck_assert(n->now < 100 || !one_agent_gives(n));
	}
}

START_TEST(a_failed_write_of_a_block_does_not_open_the_fence)
{
	struct ranges usable = { .n = 0 };
	struct shared_pool p = { .strict = true, .grid.bits = 3, .grid.usable = &usable };
	struct one_agent n = one_agent_node();
	struct agent *a = one_agent_new(&n);

	one_agent_set_pool(a, &p);
	ck_assert(one_agent_gives(&n));
	n.now = 200;
	ck_assert(!one_agent_gives(&n));
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
	struct one_agent n = one_agent_node();
	struct agent *a = one_agent_new(&n);

	one_agent_set_pool(a, &p);
	run_until(&n, a, 50);
	n.failing = 2;
	p.ending = true;
	one_agent_set_pool(a, &p);
	ck_assert(one_agent_gives(&n));
	run_until(&n, a, 90);
	ck_assert(!one_agent_gives(&n));
	agent_free(a);
}
END_TEST

/* ---- a cluster store that is full ---- */

#define FOREVER 100000

/* Reads are answered, and each write is refused. Returns how many requests there were. */
static unsigned run_refused(struct one_agent *n, struct agent *a, int64_t end, int64_t pause)
{
	unsigned requests = 0;

	for (; n->now < end; n->now++) {
		(void)agent_tick(a, n->now);
		while (n->n_sent) {
			const struct agent_request r = n->sent[--n->n_sent];
			bool read = r.call == CALL_GET || r.call == CALL_LIST;
			struct agent_reply reply = { .id = r.id,
						     .outcome = CLUSTER_REFUSED,
						     .pause = read ? 0 : pause };

			requests++;
			if (r.kind == CLUSTER_HEARTBEAT && read) {
				reply.outcome = CLUSTER_OK;
				reply.at = n->record.beat;
				(void)snprintf(reply.beat.boot, sizeof(reply.beat.boot),
					       ONE_AGENT_BOOT);
				(void)snprintf(reply.beat.holder, sizeof(reply.beat.holder), "h");
				reply.beat.count = 1;
			}
			agent_answer(a, &reply);
		}
	}
	return requests;
}

/* Each try is a read and a write. At most 64 retries of 10 lie between two tries. */
START_TEST(a_store_that_only_answers_reads_is_asked_ever_less)
{
	struct one_agent n = one_agent_node();
	struct agent *a = one_agent_new(&n);
	unsigned first = run_refused(&n, a, 1000, 0), more;

	ck_assert_uint_gt(first, 4);
	(void)run_refused(&n, a, FOREVER, 0);
	more = run_refused(&n, a, FOREVER + 6400, 0);
	ck_assert_uint_ge(more, 2 * 6400 / 640);
	ck_assert_uint_le(more, 2 * 6400 / 320);
	agent_free(a);
}
END_TEST

START_TEST(a_store_may_ask_for_a_pause)
{
	struct one_agent n = one_agent_node();
	struct agent *a = one_agent_new(&n);

	ck_assert_uint_le(run_refused(&n, a, 9000, 3000), 2 * 3 + 1);
	agent_free(a);
}
END_TEST

/* ---- what a store that answers again wakes ---- */

/* Nothing is answered, until `end`. */
static void run_away(struct one_agent *n, struct agent *a, int64_t end)
{
	for (; n->now < end; n->now++) {
		(void)agent_tick(a, n->now);
		while (n->n_sent) {
			struct agent_reply away = { .id = n->sent[--n->n_sent].id,
						    .outcome = CLUSTER_AWAY };

			agent_answer(a, &away);
		}
	}
}

static size_t sent_of(const struct one_agent *n, enum cluster_kind kind)
{
	size_t of = 0;

	for (size_t i = 0; i < n->n_sent; i++)
		of += n->sent[i].kind == kind;
	return of;
}

START_TEST(only_the_heartbeat_and_needs_are_hurried)
{
	for (unsigned needed = 0; needed < 2; needed++) {
		struct ranges usable = { .n = 0 };
		struct shared_pool p = { .grid.bits = 3, .grid.usable = &usable, .lends = true };
		struct one_agent n = one_agent_node();
		struct agent *a;

		n.block.epoch = 2;
		a = one_agent_new(&n);
		one_agent_set_pool(a, &p);
		run_until(&n, a, 30);
		run_away(&n, a, FOREVER);
		if (needed)
			ck_assert(agent_need(a, "rail0", 1));
		agent_heard(a);
		for (int64_t end = n.now + 11; n.now < end; n.now++)
			(void)agent_tick(a, n.now);
		ck_assert_uint_eq(sent_of(&n, CLUSTER_HEARTBEAT), 1);
		ck_assert_uint_eq(sent_of(&n, CLUSTER_BLOCK), needed);
		agent_free(a);
	}
}
END_TEST

/*
 * An agent waits for the confirmation of its block, or for a loan of a block that cannot be read.
 * It never comes, and then others are claimed.
 */
START_TEST(a_block_that_cannot_be_confirmed_hides_no_free_one)
{
	for (unsigned loan = 0; loan < 2; loan++) {
		struct ip_range all;
		struct ranges usable = { .items = &all, .n = 1 };
		struct shared_pool p = { .grid.bits = 3, .grid.usable = &usable };
		struct one_agent n = one_agent_node();
		struct agent *a;

		ck_assert_int_eq(ip_parse_range("10.1.0.0-10.1.0.255", &all), 0);
		n.block.epoch = 2;
		n.block.key.one = loan;
		n.block.state = loan ? BLOCK_WANTED : BLOCK_GRANTED;
		n.spare = 0;
		a = one_agent_new(&n);
		one_agent_set_pool(a, &p);
		run_until(&n, a, 11);
		ck_assert(agent_need(a, "rail0", 1));
		run_until(&n, a, 5000);
		ck_assert_uint_gt(n.creates, 0);
		agent_free(a);
	}
}
END_TEST

/* ---- a pool that is made again ---- */

/* Each block is taken. Returns the id of the first request of a kind. */
static uint32_t run_to(struct one_agent *n, struct agent *a, enum agent_call call)
{
	for (;; n->now++) {
		(void)agent_tick(a, n->now);
		while (n->n_sent) {
			const struct agent_request r = n->sent[--n->n_sent];
			struct agent_reply taken = { .id = r.id, .outcome = CLUSTER_EXISTS };

			if (r.call == call)
				return r.id;
			agent_answer(a, &taken);
		}
	}
}

/*
 * A list would be read with the grid of the new pool, whose blocks are larger. A creation that
 * finds its block taken may bring a list, too.
 */
START_TEST(a_list_of_a_pool_ends_with_the_pool)
{
	static const enum agent_call calls[] = { CALL_LIST, CALL_CREATE };

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		struct ip_range all;
		struct ranges usable = { .items = &all, .n = 1 };
		struct shared_pool p = { .grid.bits = 0, .grid.usable = &usable };
		struct one_agent n = one_agent_node();
		const struct block_seen seen = { .key = n.block.key }, *list = &seen;
		struct agent *a = one_agent_new(&n);
		struct agent_reply reply = { .list = &list, .n_list = 1 };
		struct err e;

		ck_assert_int_eq(ip_parse_range("10.1.0.0-10.1.0.255", &all), 0);
		one_agent_set_pool(a, &p);
		run_until(&n, a, 30);
		ck_assert(agent_need(a, "rail0", 8));
		reply.id = run_to(&n, a, calls[i]);
		if (calls[i] == CALL_CREATE)
			reply.outcome = CLUSTER_EXISTS;
		p.grid.bits = 5;
		(void)snprintf(p.uid, sizeof(p.uid), "u2");
		ck_assert_int_eq(agent_set_pool(a, &p, &e), 0);
		agent_answer(a, &reply);
		ck_assert_int_eq(agent_health(a), AGENT_OK);
		agent_free(a);
	}
}
END_TEST

/* ---- idle ---- */

/* Time until the node asks the store for its own block, which begins a return. */
static int64_t time_of_return(uint64_t spare_here)
{
	struct ip_range range = { 0 };
	struct ranges usable = { .items = &range, .n = 1 };
	struct shared_pool p = { .grid.bits = 3, .grid.usable = &usable, .idle = 50 };
	struct one_agent n = one_agent_node();
	struct agent *a;
	int64_t at = 0;

	/* Seven of the eight addresses: the first one is that of the network. */
	ck_assert_int_eq(ip_parse("10.1.0.1", &range.first), 0);
	ck_assert_int_eq(ip_parse("10.1.0.254", &range.last), 0);
	n.empty = true;
	n.spare = spare_here;
	a = one_agent_new(&n);
	one_agent_set_pool(a, &p);
	for (; n.now < 400 && !at; n.now++) {
		(void)agent_tick(a, n.now);
		while (n.n_sent) {
			const struct agent_request r = n.sent[--n.n_sent];

			if (r.kind == CLUSTER_BLOCK && !at)
				at = n.now;
			agent_answer(a, &(struct agent_reply){ .id = r.id, .at = { "u", "v" } });
		}
	}
	agent_free(a);
	return at;
}

/* The only block of the node, with fewer addresses than others. */
START_TEST(an_empty_block_at_the_edge_of_the_subnet_is_returned)
{
	int64_t at = time_of_return(7);

	ck_assert_msg(at > 100 && at < 200, "%d", (int)at);
	/* One of its addresses cools down. */
	ck_assert_int_eq(time_of_return(6), 0);
}
END_TEST

/* ---- another node has pods in our block, as after a restore or an adoption ---- */

START_TEST(an_owner_probes_a_block_that_another_node_contests)
{
	struct ranges usable = { .n = 0 };
	struct shared_pool p = { .grid.bits = 3, .grid.usable = &usable };
	struct one_agent n = one_agent_node();
	struct agent *a = one_agent_new(&n);
	struct block_seen seen = { .key = n.block.key,
				   .at = { "u", "v" },
				   .block = { .pool_uid = "u1",
					      .owner = { "n1", "h", 7 },
					      .asker = { "n2", "other", 8 },
					      .contested = true } };
	struct agent_request answer = { .call = CALL_GET };

	one_agent_set_pool(a, &p);
	run_until(&n, a, 30);
	ck_assert(one_agent_gives(&n) && !n.block.probe);
	agent_saw(a, &seen);
	for (; answer.call != CALL_UPDATE && n.now < 90; n.now++) {
		(void)agent_tick(a, n.now);
		while (n.n_sent && answer.call != CALL_UPDATE) {
			answer = n.sent[--n.n_sent];
			agent_answer(a, &(struct agent_reply){ .id = answer.id,
							       .at = seen.at,
							       .block = seen.block });
		}
	}
	ck_assert_int_eq(answer.kind, CLUSTER_BLOCK);
	ck_assert_int_eq(answer.call, CALL_UPDATE);
	ck_assert(answer.block.kept && answer.block.probe);
	/* An ADD that does not probe gets no address of it from now on. */
	ck_assert(one_agent_gives(&n) && n.block.probe);
	agent_free(a);
}
END_TEST

/* It may be of an older pool of the name, and a confirmation would make it one of the new pool. */
START_TEST(a_block_of_an_unknown_pool_is_not_confirmed)
{
	struct ranges usable = { .n = 0 };
	struct shared_pool p = { .grid.bits = 3, .grid.usable = &usable };
	const struct block block = { .pool_uid = "u1", .owner = { "n1", "h", 7 } };
	struct one_agent n = one_agent_node();
	struct agent *a;

	n.block.epoch = 2;
	a = one_agent_new(&n);
	ck_assert_int_eq(one_agent_write_until(&n, a, 400, &block).call, CALL_GET);
	one_agent_set_pool(a, &p);
	ck_assert_int_eq(one_agent_write_until(&n, a, 800, &block).call, CALL_UPDATE);
	agent_free(a);
}
END_TEST

/* A newer agent wrote it. The ask can neither be read nor taken back. */
START_TEST(an_ask_for_a_block_that_cannot_be_read_ends)
{
	struct ranges usable = { .n = 0 };
	struct shared_pool p = { .grid.bits = 3, .grid.usable = &usable };
	struct one_agent n = one_agent_node();
	struct agent *a;
	unsigned looks = 0;

	n.block.state = BLOCK_ASKED;
	n.empty = true;
	a = one_agent_new(&n);
	one_agent_set_pool(a, &p);
	for (; n.now < 2000; n.now++) {
		(void)agent_tick(a, n.now);
		while (n.n_sent) {
			const struct agent_request r = n.sent[--n.n_sent];
			struct agent_reply reply = { .id = r.id, .at = { "u", "v" } };

			if (r.kind == CLUSTER_BLOCK && r.call == CALL_GET) {
				looks++;
				reply.outcome = CLUSTER_AWAY;
				reply.unreadable = true;
			}
			agent_answer(a, &reply);
		}
	}
	ck_assert_uint_eq(looks, 1);
	agent_free(a);
}
END_TEST

/* ---- owners that give no answer ---- */

#define BLOCKS 41

/* Blocks of a pool of other nodes, as the store has them. */
struct blocks {
	struct block_seen items[BLOCKS];
	const struct block_seen *list[BLOCKS];
	unsigned lists, asks, asks_of_last; /* of the last block of the pool */
	unsigned empty_after;               /* so many asks, the last block is empty; 0: never */
	unsigned unlisted, creates;         /* the last blocks; after the first list */
	bool full;                          /* each owner answers that it has no address */
};

static struct block_seen *block_of(struct blocks *all, const char *name)
{
	for (size_t i = 0; i < BLOCKS; i++) {
		char its[CLUSTER_NAME_LEN];

		(void)grid_name("rail0", all->items[i].key.start, its);
		if (strcmp(its, name) == 0)
			return &all->items[i];
	}
	return NULL;
}

static void answer_for(struct blocks *all, struct agent *a, const struct agent_request *r)
{
	struct agent_reply reply = { .id = r->id, .at = { "u", "v" }, .pool.uid = "u1" };
	struct block_seen *s = r->kind == CLUSTER_BLOCK ? block_of(all, r->name) : NULL;

	if (r->call == CALL_LIST) {
		reply.list = all->list;
		reply.n_list = BLOCKS - all->unlisted;
		all->lists++;
	} else if (r->call == CALL_CREATE && r->kind == CLUSTER_BLOCK) {
		all->creates += all->lists > 0;
		reply.outcome = CLUSTER_EXISTS;
	} else if (s && r->call == CALL_UPDATE) {
		s->block = r->block;
		all->asks += *s->block.asker.node != '\0';
		all->asks_of_last += *s->block.asker.node && s == &all->items[BLOCKS - 1];
		if (all->asks == all->empty_after)
			all->items[BLOCKS - 1].block.used = 0;
	}
	if (s)
		reply.block = s->block;
	if (s && all->full)
		s->block.asker = (struct block_party){ 0 };
	agent_answer(a, &reply);
}

/* A node without a block in a pool whose blocks other nodes have. */
struct full_pool {
	struct blocks all;
	struct ip_range range;
	struct ranges usable;
	struct one_agent n;
	struct agent *agent;
};

static void answer_all(struct full_pool *p)
{
	(void)agent_tick(p->agent, p->n.now);
	while (p->n.n_sent)
		answer_for(&p->all, p->agent, &p->n.sent[--p->n.n_sent]);
	p->n.now++;
}

/* Until the need has ended, or until the last block was asked for. */
static void need_one(struct full_pool *p)
{
	const struct blocks *all = &p->all;
	const unsigned asks = all->asks;

	p->n.needs = 0;
	ck_assert(agent_need(p->agent, "rail0", 1));
	while (!p->n.needs && ((all->full && !all->empty_after) || !all->asks_of_last)) {
		answer_all(p);
		ck_assert_uint_le(all->asks - asks, 32);
	}
}

/* full: as of struct blocks. The agent knows the pool; the caller frees it. */
static struct full_pool *full_pool_begin(bool full)
{
	static struct full_pool p;
	struct shared_pool pool = { .grid.bits = 2, .grid.usable = &p.usable, .lends = true };

	p = (struct full_pool){ .all.full = full, .n = one_agent_node() };
	p.usable = (struct ranges){ .items = &p.range, .n = 1 };
	p.n.spare = 0;
	p.n.stride = 7;
	p.n.empty = true;
	p.n.block.state = BLOCK_LOST;
	ck_assert_int_eq(ip_parse_range("10.1.0.0-10.1.0.163", &p.range), 0);
	for (unsigned i = 0; i < BLOCKS; i++) {
		struct block_seen *s = &p.all.items[i];

		p.all.list[i] = s;
		*s = (struct block_seen){ .key = p.n.block.key, .at = { "u", "v" } };
		s->key.start.v += 4 * i;
		s->block = (struct block){ .pool_uid = "u1", .owner = { "n2", "x", i }, .used = 1 };
	}
	p.agent = one_agent_new(&p.n);
	one_agent_set_pool(p.agent, &pool);
	run_until(&p.n, p.agent, 11);
	return &p;
}

/* Their nodes are off, and each says that most of its addresses are free. */
START_TEST(owners_that_give_no_answer_hide_no_other)
{
	struct full_pool *p = full_pool_begin(false);

	p->all.items[BLOCKS - 1].block.used = 3;
	for (unsigned i = 0; i < 4; i++)
		need_one(p);
	ck_assert_uint_gt(p->all.asks_of_last, 0);
	agent_free(p->agent);
}
END_TEST

/* Each pod that waits for an address tries again, and in vain. */
START_TEST(needs_of_a_full_pool_ask_few_owners_after_the_first_one)
{
	struct full_pool *p = full_pool_begin(true);

	need_one(p);
	ck_assert_uint_eq(p->all.asks, 32);
	ck_assert_uint_le(p->all.lists, 10);
	p->all.asks = p->all.lists = 0;
	need_one(p);
	ck_assert_uint_eq(p->all.asks, 3);
	ck_assert_uint_le(p->all.lists, 4);
	/* It may have an address meanwhile. */
	run_until(&p->n, p->agent, p->n.now + 300);
	p->all.asks = 0;
	need_one(p);
	ck_assert_uint_eq(p->all.asks, 32);
	agent_free(p->agent);
}
END_TEST

/* Each second ask for a loan is for a random block, so that owners that are off hide no other. */
START_TEST(a_pool_with_an_empty_block_is_not_full)
{
	struct full_pool *p = full_pool_begin(true);

	need_one(p);
	p->all.asks = p->all.asks_of_last = 0;
	p->all.empty_after = 3;
	need_one(p);
	ck_assert_uint_gt(p->all.asks_of_last, 0);
	agent_free(p->agent);
}
END_TEST

/* ---- lists of large pools ---- */

/* Other nodes read the same list, and are faster. */
START_TEST(all_free_blocks_of_a_list_are_tried_before_the_next_list)
{
	struct full_pool *p = full_pool_begin(true);

	p->all.unlisted = 5;
	ck_assert(agent_need(p->agent, "rail0", 1));
	while (p->all.lists < 2)
		answer_all(p);
	ck_assert_uint_eq(p->all.creates, 5);
	agent_free(p->agent);
}
END_TEST

/* Most blocks lend nothing, and a list may have 65,536. */
START_TEST(an_item_of_a_list_has_room_for_its_loans_only)
{
	for (unsigned loans = 0; loans <= LOANS_MAX; loans += LOANS_MAX / 2) {
		struct block_seen seen = { .key.one = 3, .block.n_loans = loans }, copy, item;
		const size_t size = block_seen_size(&seen);

		for (unsigned i = 0; i < loans; i++)
			seen.block.loans[i].at = i + 1;
		ck_assert_uint_le(size, 880 + loans * sizeof(struct loan));
		/* What is behind an item is not read. */
		memset(&item, 0xff, sizeof(item));
		memcpy(&item, &seen, size);
		block_seen_copy(&copy, &item);
		ck_assert_uint_eq(copy.key.one, 3);
		ck_assert_uint_eq(copy.block.n_loans, loans);
		for (unsigned i = 0; i < LOANS_MAX; i++)
			ck_assert_uint_eq(copy.block.loans[i].at, i < loans ? i + 1 : 0);
	}
}
END_TEST

TEST_PROGRAM("agent", a_failed_write_of_a_block_does_not_open_the_fence,
	     a_pool_that_ends_stops_although_a_write_failed,
	     a_store_that_only_answers_reads_is_asked_ever_less, a_store_may_ask_for_a_pause,
	     only_the_heartbeat_and_needs_are_hurried, a_list_of_a_pool_ends_with_the_pool,
	     a_block_that_cannot_be_confirmed_hides_no_free_one,
	     an_owner_probes_a_block_that_another_node_contests,
	     an_empty_block_at_the_edge_of_the_subnet_is_returned,
	     a_block_of_an_unknown_pool_is_not_confirmed,
	     an_ask_for_a_block_that_cannot_be_read_ends, owners_that_give_no_answer_hide_no_other,
	     needs_of_a_full_pool_ask_few_owners_after_the_first_one,
	     a_pool_with_an_empty_block_is_not_full,
	     all_free_blocks_of_a_list_are_tried_before_the_next_list,
	     an_item_of_a_list_has_room_for_its_loans_only)

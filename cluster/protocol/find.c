/* SPDX-License-Identifier: Apache-2.0 */
/* find.c: a list of a pool's blocks, when guessing is in vain: which is free, whom to ask. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/protocol/agent_priv.h"
#include "cluster/protocol/loans_priv.h"
#include "cluster/protocol/moves_priv.h"

/* Owners asked in parallel. */
#define ASKS_MAX 3
/* Owners asked for loans, when those that were asked before had none. */
#define LOAN_ASKS_MAX 8
/* For so many heartbeats after a need found no loan, the next needs ask ASKS_MAX owners only. */
#define FULL_BEATS 2
/* So many for one need, while blocks say that they are empty. Then the pool is full. */
#define TRIES_MAX 16
/* For so many heartbeats others are asked before an owner that gave no answer. */
#define SILENT_BEATS 8
/* So many heartbeats without warm addresses, after a list showed too few free blocks. */
#define TIGHT_BEATS 4

/* Digits of a name that say where a block starts, and bits of each. */
#define DIGITS     32
#define DIGIT_BITS 4
/* The first list has so many blocks, or up to eight times as many. */
#define WINDOW_BITS 4
/* So many blocks of a list are looked at before the whole pool is listed. */
#define WINDOW_MAX 65536

/* The blocks whose names begin as the list wants it. */
static u128 window_blocks(const struct agent_pool *p, const struct op *op)
{
	return op->open < DIGITS ? (u128)1 << (op->open * DIGIT_BITS - p->is.grid.bits)
				 : grid_count(&p->is.grid);
}

static unsigned first_open(const struct agent_pool *p)
{
	return (p->is.grid.bits + WINDOW_BITS + DIGIT_BITS - 1) / DIGIT_BITS;
}

/*
 * A list near a random block first: nodes that fill a pool to its last block would else read all of
 * it for each block. An ask needs the whole list, and so does "full".
 */
static void choose_window(struct agent *a, struct op *op, const struct agent_pool *p)
{
	u128 count = grid_count(&p->is.grid);

	if (op->sweep)
		op->open = DIGITS;
	if (!op->open && a->set.ranges && count) {
		op->near = grid_nth(&p->is.grid, a->ops->random(a->arg) % count);
		op->open = first_open(p);
	}
	if (!op->open || window_blocks(p, op) >= count)
		op->open = DIGITS;
}

void find_go(struct agent *a, struct op *op)
{
	const struct agent_pool *p = agent_find_pool(a, op->key.pool);
	struct agent_request r = { .call = CALL_LIST, .kind = CLUSTER_BLOCK };

	if (!p || p->gone) {
		agent_end(op);
		return;
	}
	choose_window(a, op, p);
	(void)grid_name(op->key.pool, op->near, r.name);
	r.name[strlen(r.name) - op->open] = '\0';
	agent_send_request(a, op, STEP_LOOK, &r);
}

/* A list by prefix has blocks of "a-b" for "a", too. */
bool find_is_of(const struct agent_pool *p, const struct block_seen *s)
{
	return strcmp(s->key.pool, p->is.name) == 0 && grid_has(&p->is.grid, s->key.start);
}

/* ---- the items of a list ---- */

size_t block_seen_size(const struct block_seen *s)
{
	return offsetof(struct block_seen, block.loans) + s->block.n_loans * sizeof(struct loan);
}

void block_seen_copy(struct block_seen *to, const struct block_seen *item)
{
	*to = (struct block_seen){ .at = { .uid = "" } };
	memcpy(to, item, block_seen_size(item));
}

/* ---- a free block ---- */

/* The starts of the listed blocks of a pool, in order. */
struct starts {
	u128 *items;
	size_t n;
};

static int compare_starts(const void *a, const void *b)
{
	const u128 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool sort_starts(const struct agent_pool *p, const struct agent_reply *r, struct starts *out)
{
	out->n = 0;
	out->items = calloc(r->n_list + 1, sizeof(*out->items));
	if (!out->items)
		return false;
	for (size_t i = 0; i < r->n_list; i++) {
		if (find_is_of(p, r->list[i]))
			out->items[out->n++] = r->list[i]->key.start.v;
	}
	qsort(out->items, out->n, sizeof(*out->items), compare_starts);
	return true;
}

static bool is_free(const struct agent *a, const struct starts *s, const struct block_key *key)
{
	const u128 *at = s->items;

	return !bsearch(&key->start.v, at, s->n, sizeof(*at), compare_starts) &&
	       agent_is_new(a, key);
}

/*
 * In the window that was listed, a random one: the nodes that are behind each other in a window
 * must not all try the same.
 */
static bool free_near(struct agent *a, const struct agent_pool *p, const struct op *op,
		      const struct starts *s, struct block_key *key)
{
	const u128 n = window_blocks(p, op), size = (u128)1 << p->is.grid.bits;
	struct ip at = op->near, found = at;
	uint64_t free = 0;

	at.v &= ~(n * size - 1);
	for (u128 i = 0; i < n && i < WINDOW_MAX; i++, at.v += size) {
		key->start = at;
		if (!grid_has(&p->is.grid, at) || !is_free(a, s, key))
			continue;
		if (a->ops->random(a->arg) % ++free == 0)
			found = at;
	}
	key->start = found;
	return free > 0;
}

/*
 * In the order of this node. For a pod in the order of its identity: if two nodes start it at the
 * same moment, both create the same block, and one of the two creations fails.
 */
static struct grid_order free_order(const struct agent *a, const struct agent_pool *p,
				    const struct op *op)
{
	return op->seat ? grid_order(grid_count(&p->is.grid),
				     grid_hash(op->seat->identity, p->is.uid))
			: agent_order(a, p);
}

/*
 * One of the first blocks is free, if the list has fewer. The next ones are noted: many nodes read
 * such a list at the same time, and another one may be faster.
 */
static bool free_anywhere(const struct agent *a, struct agent_pool *p, const struct op *op,
			  const struct starts *s, struct block_key *key)
{
	struct grid_order o = free_order(a, p, op);
	const u128 most = s->n + a->n_blocks + a->n_ops + KNOWN_MAX;
	struct block_key at = *key;
	bool found = false;

	p->n_known = 0;
	for (u128 i = 0; i < o.n && i <= most && p->n_known < KNOWN_MAX; i++) {
		at.start = grid_nth(&p->is.grid, grid_order_at(&o, i));
		if (!is_free(a, s, &at))
			continue;
		if (found)
			p->known[p->n_known++] = at.start;
		else
			key->start = at.start;
		found = true;
	}
	return found;
}

/* A block that exists and belongs to no node (*there), or one that does not exist. */
bool find_free_block(struct agent *a, const struct op *op, const struct agent_reply *r,
		     struct block_key *key, bool *there)
{
	struct agent_pool *p = agent_find_pool(a, op->key.pool);
	struct starts starts;
	bool found = false;

	for (size_t i = 0; i < r->n_list; i++) {
		*key = r->list[i]->key;
		*there = true;
		if (!*r->list[i]->block.owner.node && !park_waits(p, &r->list[i]->block) &&
		    !borrow_has(a, &r->list[i]->block) && find_is_of(p, r->list[i]) &&
		    agent_is_new(a, key))
			return true;
	}
	*there = false;
	memcpy(key->pool, p->is.name, sizeof(key->pool));
	if (sort_starts(p, r, &starts))
		found = op->open == DIGITS ? free_anywhere(a, p, op, &starts, key)
					   : free_near(a, p, op, &starts, key);
	free(starts.items);
	return found;
}

/* ---- beside a block that was taken ---- */

/* Small pools whole, large ones in part. */
void find_ask_beside(struct agent *a, struct op *op, struct agent_request *r)
{
	const struct agent_pool *p = agent_find_pool(a, op->key.pool);

	memcpy(r->pool, op->key.pool, sizeof(r->pool));
	if (!p || !a->set.ranges || p->is.sticky)
		return;
	op->near = op->key.start;
	op->open = first_open(p);
	(void)grid_name(op->key.pool, op->near, r->names);
	r->names[strlen(r->names) - op->open] = '\0';
}

bool find_beside(struct agent *a, const struct op *op, const struct agent_reply *r)
{
	const struct agent_pool *p = agent_find_pool(a, op->key.pool);
	struct block_key key = op->key;
	struct starts starts;
	bool found = false;

	if (!p || !op->open || !r->n_list || (!p->needed && a->now < p->tight_until))
		return false;
	if (sort_starts(p, r, &starts))
		found = free_near(a, p, op, &starts, &key);
	free(starts.items);
	if (found)
		claim_start(a, &key, false);
	return found;
}

/* ---- who has the blocks of a pool that is full ---- */

static int by_node(const void *a, const void *b)
{
	const struct block_seen *const *x = a, *const *y = b;

	return strcmp((*x)->block.owner.node, (*y)->block.owner.node);
}

/* Addresses of the block that its node does not use; it says so when it is asked. */
static uint64_t free_in(const struct agent_pool *p, const struct block_seen *s)
{
	struct ip_range range = { s->key.start, s->key.start };
	uint64_t capacity;

	range.last.v += ((u128)1 << p->is.grid.bits) - 1;
	capacity = (uint64_t)ranges_capacity_in(p->is.grid.usable, range);
	return capacity > s->block.used ? capacity - s->block.used : 0;
}

/* Those with the most blocks stay, in order. */
static void note_holder(struct pool_holders *h, const char *node, uint64_t blocks)
{
	size_t at = POOL_HOLDERS_MAX;

	h->nodes++;
	while (at > 0 && h->most[at - 1].blocks < blocks)
		at--;
	if (at == POOL_HOLDERS_MAX)
		return;
	memmove(&h->most[at + 1], &h->most[at], (POOL_HOLDERS_MAX - 1 - at) * sizeof(h->most[0]));
	(void)snprintf(h->most[at].node, sizeof(h->most[at].node), "%s", node);
	h->most[at].blocks = blocks;
}

static void find_count(const struct agent *a, struct agent_pool *p, const struct block_seen **owned,
		       size_t n)
{
	struct pool_holders h = { .blocks = n };
	uint64_t blocks = 0;

	qsort(owned, n, sizeof(*owned), by_node);
	for (size_t i = 0; i < n; i++) {
		blocks++;
		if (!agent_has_name(a, &owned[i]->block))
			h.free += free_in(p, owned[i]);
		if (i + 1 < n && by_node(&owned[i], &owned[i + 1]) == 0)
			continue;
		note_holder(&h, owned[i]->block.owner.node, blocks);
		blocks = 0;
	}
	p->holders = h;
}

static void note_full(const struct agent *a, struct agent_pool *p, const struct agent_reply *r)
{
	const struct block_seen **owned = calloc(r->n_list + 1, sizeof(const struct block_seen *));
	size_t n = 0;

	p->holders = (struct pool_holders){ .blocks = 0 };
	for (size_t i = 0; owned && i < r->n_list; i++) {
		if (*r->list[i]->block.owner.node && find_is_of(p, r->list[i]))
			owned[n++] = r->list[i];
	}
	if (n)
		find_count(a, p, owned, n);
	free(owned);
}

struct pool_holders agent_holders(const struct agent *a, const char *pool)
{
	const struct agent_pool *p = agent_find_pool(a, pool);

	return p ? p->holders : (struct pool_holders){ .blocks = 0 };
}

/* ---- whom to ask ---- */

static bool may_ask(const struct agent *a, const struct agent_pool *p, const struct block_seen *s)
{
	return *s->block.owner.node && !block_is_asked_for(&s->block) &&
	       !agent_has_name(a, &s->block) && find_is_of(p, s) &&
	       strcmp(s->block.pool_uid, p->is.uid) == 0 && agent_is_new(a, &s->key);
}

void find_begin(const struct agent *a, struct agent_pool *p)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < p->n_asked_at; i++) {
		p->asked_at[i].now = false;
		if (p->asked_at[i].until > a->now)
			p->asked_at[kept++] = p->asked_at[i];
	}
	p->n_asked_at = kept;
	p->asked = p->asked_one = 0;
}

/* NULL: it was not asked. */
static struct asked *find_asked(struct agent_pool *p, struct ip at)
{
	for (unsigned i = 0; i < p->n_asked_at; i++) {
		if (ip_equal(p->asked_at[i].at, at))
			return &p->asked_at[i];
	}
	return NULL;
}

/* The one that is of least use: of an earlier need, and silent for the longest time. */
static struct asked *oldest(struct agent_pool *p)
{
	struct asked *old = &p->asked_at[0];

	for (unsigned i = 1; i < p->n_asked_at; i++) {
		struct asked *one = &p->asked_at[i];

		if (one->now != old->now ? old->now : one->until < old->until)
			old = one;
	}
	return old;
}

static struct asked *note_asked(struct agent_pool *p, struct ip at)
{
	struct asked *asked = find_asked(p, at);

	if (!asked)
		asked = p->n_asked_at == ASKS_OF_NEED_MAX ? oldest(p)
							  : &p->asked_at[p->n_asked_at++];
	*asked = (struct asked){ .at = at, .now = true };
	return asked;
}

void find_silent(const struct agent *a, const struct block_key *key)
{
	struct agent_pool *p = agent_find_pool(a, key->pool);

	if (p)
		note_asked(p, key->start)->until = a->now + SILENT_BEATS * a->set.renew;
}

/*
 * Which block is asked first; UINT64_MAX: it is not asked. A block says how many addresses are in
 * use, but that is old: of the asks for a loan, each second one is for a random block that is in
 * use. Else blocks of nodes that are off would come first for ever.
 */
static uint64_t order_of(const struct agent *a, struct agent_pool *p, const struct block_seen *s)
{
	const struct asked *asked = find_asked(p, s->key.start);

	if (!may_ask(a, p, s) || s->block.n_loans == LOANS_MAX || (asked && asked->now))
		return UINT64_MAX;
	return (asked ? (uint64_t)1 << 32 : 0) +
	       (p->asked_one % 2 ? s->block.used > 0 : s->block.used);
}

/* A random one if several are equal. */
static const struct block_seen *whom_to_ask(struct agent *a, struct agent_pool *p,
					    const struct agent_reply *r)
{
	const struct block_seen *best = NULL;
	size_t first = r->n_list ? a->ops->random(a->arg) % r->n_list : 0;
	uint64_t of_best = UINT64_MAX;

	for (size_t i = 0; i < r->n_list; i++) {
		const struct block_seen *s = r->list[(first + i) % r->n_list];
		const uint64_t order = order_of(a, p, s);

		if (order < of_best) {
			of_best = order;
			best = s;
		}
	}
	return best;
}

static size_t asks(const struct agent *a, const char *pool)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n_blocks; i++)
		n += a->blocks[i].state == BLOCK_ASKED && strcmp(a->blocks[i].key.pool, pool) == 0;
	return n;
}

bool find_ask(struct agent *a, const struct block_seen *s, uint32_t one)
{
	struct block_record record = { .key = s->key, .state = BLOCK_ASKED };

	record.token = a->ops->random(a->arg);
	if (agent_put(a, &record))
		return false;

	struct op *op = agent_begin(a, OP_ASK, &s->key);

	if (op) {
		op->begun = false;
		block_seen_copy(&op->seen, s);
		op->seen.block.asks_one = one;
	}
	return true;
}

static int find_by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* How many nodes have blocks of the pool: as many as use it, when it is nearly full. */
static size_t count_nodes(const struct agent_pool *p, const struct agent_reply *r)
{
	const char **names = calloc(r->n_list ? r->n_list : 1, sizeof(*names));
	size_t n = 0, different = 0;

	for (size_t i = 0; names && i < r->n_list; i++) {
		if (*r->list[i]->block.owner.node && find_is_of(p, r->list[i]))
			names[n++] = r->list[i]->block.owner.node;
	}
	if (n)
		qsort(names, n, sizeof(*names), find_by_name);
	for (size_t i = 0; i < n; i++)
		different += i == 0 || strcmp(names[i - 1], names[i]) != 0;
	free(names);
	return different;
}

/* With fewer free blocks than nodes, a block that one node keeps ahead is missing at another. */
static void count_free(struct agent *a, struct agent_pool *p, const struct agent_reply *r)
{
	u128 owned = 0;

	for (size_t i = 0; i < r->n_list; i++)
		owned += *r->list[i]->block.owner.node && find_is_of(p, r->list[i]);
	if (grid_count(&p->is.grid) < owned + count_nodes(p, r))
		p->tight_until = a->now + TIGHT_BEATS * a->set.renew;
}

/* A pool that was full a moment ago probably still is. */
static unsigned most_asks(const struct agent *a, const struct agent_pool *p)
{
	return a->now < p->full_until ? ASKS_MAX : ASKS_OF_NEED_MAX;
}

/* For the block, if it is empty. Else for one address, if the pool lends any. */
static bool find_ask_owner(struct agent *a, struct agent_pool *p, const struct block_seen *s)
{
	const bool lends = loans_are_lent(p) && (s->block.used || p->asked >= TRIES_MAX);

	if (lends ? p->asked_one >= most_asks(a, p)
		  : p->asked == TRIES_MAX || (s->block.used && p->asked >= ASKS_MAX))
		return false;
	if (!find_ask(a, s, lends ? LOAN_ANY : 0))
		return false;
	if (lends)
		(void)note_asked(p, s->key.start);
	p->asked_one += lends;
	p->asked += !lends;
	return true;
}

/*
 * Several at once: the hint of how many addresses are in use is old, and a node may be slow. Each
 * list of a large pool is expensive, so more at once if the first ones had no loan.
 */
static void ask_owners(struct agent *a, struct agent_pool *p, const struct agent_reply *r)
{
	const unsigned more = p->asked_one < LOAN_ASKS_MAX ? p->asked_one : LOAN_ASKS_MAX;
	const unsigned most = more > ASKS_MAX ? more : ASKS_MAX;
	bool useful = true;

	while (useful && asks(a, p->is.name) < most) {
		const struct block_seen *s = whom_to_ask(a, p, r);

		useful = s && find_ask_owner(a, p, s);
	}
	p->full = !useful && asks(a, p->is.name) == 0;
	if (p->full) {
		note_full(a, p, r);
		if (a->now >= p->full_until)
			p->full_until = a->now + FULL_BEATS * a->set.renew;
	}
	/* The next list is due when answers can be there, however many lists there were. */
	if (!p->full)
		p->due = agent_wait(a, p->searches > 1 ? 1 : p->searches);
}

void find_reply(struct agent *a, struct op *op, const struct agent_reply *r)
{
	struct agent_pool *p = agent_find_pool(a, op->key.pool);
	struct block_key key = { 0 };
	bool there;

	if (r->outcome != CLUSTER_OK || !p) {
		if (p && op->sweep)
			borrow_sweep_failed(a, p, r);
		else if (p && r->outcome == CLUSTER_REFUSED)
			p->refused++;
		agent_end(op);
		return;
	}
	borrow_strays(a, p, r);
	if (op->sweep)
		borrow_sweep_done(a, p);
	/* An ADD that waits meanwhile could begin no list of its own. */
	if (op->sweep && (!p->needed || !claim_is_open(a, p))) {
		agent_end(op);
		return;
	}
	if (op->open == DIGITS)
		count_free(a, p, r);
	/* The operation has the key of no block, and stays until the claim is begun. */
	bool wanted = p->needed || a->now >= p->tight_until;

	if (wanted && find_free_block(a, op, r, &key, &there)) {
		claim_start(a, &key, there);
	} else if (wanted && op->open < DIGITS) {
		op->open++;
		find_go(a, op);
		return;
	} else if (p->needed) {
		ask_owners(a, p, r);
	}
	agent_end(op);
}

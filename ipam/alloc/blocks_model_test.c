/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks_model_test.c: random grants, returns, epochs, fences, boots and changes of the pool, and
 * ADDs and DELs between them, against a table of addresses and blocks.
 *
 * MODEL_STEPS sets how many (20,000), MODEL_SEED where the same sequence of numbers begins (1).
 */
#include "ipam/testing/blocks.h"
#include "ipam/testing/ipam.h"

#define BLOCKS     16
#define SIZE       4
#define ADDRESSES  (BLOCKS * SIZE)
#define CONTAINERS 40
#define COOLDOWN   (5 * SECOND)
#define FIRST      0x0a010000u
#define CONF       "{\"pool\":\"rail0\"}"

struct address {
	int holder;    /* -1: nobody */
	int64_t since; /* released; 0: never used */
};

struct model {
	struct fixture w;
	struct address addresses[ADDRESSES];
	struct {
		bool there;
		enum block_state state;
		uint64_t epoch;
	} blocks[BLOCKS];
	uint64_t epoch;
	int64_t give_until, since_boot;
	bool renewed;  /* in this boot */
	int low, high; /* the range of the pool: addresses low to high - 1 */
	int boots;
	uint64_t seed;
	unsigned given, refused;
};

static struct model model;

static int64_t boottime(void *clock)
{
	(void)clock;
	return model.since_boot;
}

static unsigned random_below(unsigned n)
{
	model.seed = model.seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(model.seed >> 33) % n;
}

static struct block_key key_of(int block)
{
	struct block_key k = { .pool = "rail0",
			       .start = { IP_V4, FIRST + (unsigned)block * SIZE } };

	return k;
}

static bool may_give(int block)
{
	return model.renewed && model.since_boot < model.give_until && model.blocks[block].there &&
	       model.blocks[block].state == BLOCK_GRANTED &&
	       model.blocks[block].epoch == model.epoch;
}

static bool is_usable(int a)
{
	/* neither the network's address nor the broadcast address */
	return a >= model.low && a < model.high && a != 0 && a != ADDRESSES - 1;
}

static bool is_free(int a)
{
	return is_usable(a) && model.addresses[a].holder < 0 && may_give(a / SIZE);
}

static bool cools_down(int a)
{
	return model.addresses[a].since > model.w.now - COOLDOWN;
}

/* The time of release of the address that must come next; -1: there is none. */
static int64_t best_since(void)
{
	int64_t best = -1;

	for (int a = 0; a < ADDRESSES; a++) {
		if (is_free(a) && (best < 0 || model.addresses[a].since < best))
			best = model.addresses[a].since;
	}
	return best;
}

static int held_by(int container)
{
	for (int a = 0; a < ADDRESSES; a++) {
		if (model.addresses[a].holder == container)
			return a;
	}
	return -1;
}

static int number_of(const char *text)
{
	struct ip ip;

	ck_assert_msg(ip_parse(text, &ip) == 0, "%s", text);
	ck_assert(ip.v >= FIRST && ip.v < FIRST + ADDRESSES);
	return (int)(ip.v - FIRST);
}

/* A resting address that is masked still gives its block its place, so the order is not exact. */
static bool order_is_exact(void)
{
	return model.low == 0 && model.high == ADDRESSES;
}

static void step_add(int container)
{
	int had = held_by(container);
	char id[16];

	(void)snprintf(id, sizeof(id), "c%d", container);
	const char *got = w_add(&model.w, CONF, id, "");
	if (had >= 0 && !is_usable(had)) {
		ck_assert_msg(strncmp(got, "!103", 4) == 0, "%s", got);
		return;
	}
	if (had >= 0) {
		ck_assert_msg(*got != '!' && number_of(got) == had, "%s", got);
		return;
	}
	int64_t best = best_since();
	if (*got == '!') {
		ck_assert_msg(!strncmp(got, "!101", 4) || !strncmp(got, "!11 ", 4), "%s", got);
		ck_assert_msg(best < 0, "%s, but an address is free", got);
		model.refused++;
		return;
	}
	int a = number_of(got);
	ck_assert_msg(may_give(a / SIZE), "%s: its block may not give", got);
	ck_assert_msg(is_free(a), "%s is held by %d", got, model.addresses[a].holder);
	ck_assert_msg(model.addresses[a].since == best || !order_is_exact(), "%s is not the best",
		      got);
	model.addresses[a].holder = container;
	model.given++;
}

static void step_del(int container)
{
	int a = held_by(container);
	char id[16];

	(void)snprintf(id, sizeof(id), "c%d", container);
	w_del(&model.w, id);
	if (a >= 0)
		model.addresses[a] = (struct address){ -1, model.w.now };
}

/* ---- the agent ---- */

static uint32_t count_held(int block)
{
	uint32_t n = 0;

	for (int a = block * SIZE; a < (block + 1) * SIZE; a++)
		n += model.addresses[a].holder >= 0;
	return n;
}

static bool any_cools_down(int block)
{
	for (int a = block * SIZE; a < (block + 1) * SIZE; a++) {
		if (model.addresses[a].holder < 0 && model.addresses[a].since && cools_down(a))
			return true;
	}
	return false;
}

static void step_put(int block)
{
	static const enum block_state states[] = { BLOCK_GRANTED,   BLOCK_GRANTED, BLOCK_GRANTED,
						   BLOCK_WANTED,    BLOCK_ASKED,   BLOCK_RETURNING,
						   BLOCK_CONTESTED, BLOCK_LOST };
	struct block_record r = { .key = key_of(block),
				  .state = states[random_below(8)],
				  .epoch = model.epoch - random_below(8) / 7,
				  .token = random_below(1000) };

	ck_assert_msg(blocks_put(&model.w.m, &r, &model.w.e) == 0, "%s", model.w.e.msg);
	model.blocks[block].there = true;
	model.blocks[block].state = r.state;
	model.blocks[block].epoch = r.epoch;
}

static void step_retire(int block)
{
	const struct block_key k = key_of(block);
	enum block_state state = model.blocks[block].state;
	int rc = blocks_retire(&model.w.m, &k, &model.w.e), want = 0;

	if (!model.blocks[block].there)
		want = -1;
	else if (count_held(block) || any_cools_down(block) ||
		 (state != BLOCK_GRANTED && state != BLOCK_RETURNING))
		want = 1;
	ck_assert_int_eq(rc, want);
	if (rc == 0)
		model.blocks[block].state = BLOCK_RETURNING;
}

static void step_drop(int block)
{
	const struct block_key k = key_of(block);
	int rc = blocks_drop(&model.w.m, &k, &model.w.e);

	ck_assert_int_eq(rc, count_held(block) > 0);
	if (rc)
		return;
	model.blocks[block].there = false;
	for (int a = block * SIZE; a < (block + 1) * SIZE; a++)
		model.addresses[a].since = 0;
}

static void step_renew(void)
{
	model.epoch += random_below(2) || !model.renewed;
	model.give_until = random_below(3) ? INT64_MAX : model.since_boot + 30 * SECOND;
	model.renewed = true;
	w_node(&model.w, model.epoch, model.give_until);
}

/* The leases of the earlier boot end; they rest since the boot. */
static void step_boot(void)
{
	char id[CTX_BOOT_ID_LEN + 1];

	(void)snprintf(id, sizeof(id), "33333333-3333-3333-3333-%012d", model.boots++);
	model.renewed = false;
	model.since_boot = random_below(10) * SECOND;
	fixture_boot(&model.w, id);
	w_del(&model.w, "nobody");
	for (int a = 0; a < ADDRESSES; a++) {
		if (model.addresses[a].holder >= 0)
			model.addresses[a] = (struct address){ -1, model.w.now - model.since_boot };
	}
}

static void step_define(void)
{
	char def[256];

	model.low = random_below(2) ? (int)random_below(ADDRESSES / 2) : 0;
	model.high = model.low ? model.low + 8 + (int)random_below(20) : ADDRESSES;
	(void)snprintf(def, sizeof(def),
		       "{\"subnet\":\"10.1.0.0/26\",\"blockSize\":4,\"cooldown\":5,"
		       "\"ranges\":[\"10.1.0.%d-10.1.0.%d\"]}",
		       model.low, model.high - 1);
	ck_assert_msg(w_shared(&model.w, "rail0", "u1", def) == 0, "%s", model.w.e.msg);
}

static void check_counts(int block)
{
	uint64_t spare = 0;
	char start[IP_STR_LEN];

	ck_assert_uint_eq(w_used(&model.w, "rail0", ip_format(key_of(block).start, start)),
			  count_held(block));
	for (int a = 0; a < ADDRESSES; a++)
		spare += is_free(a) && !(model.addresses[a].since && cools_down(a));
	if (order_is_exact())
		ck_assert_uint_eq(w_spare(&model.w, "rail0"), spare);
}

static void step(void)
{
	int container = (int)random_below(CONTAINERS), block = (int)random_below(BLOCKS);
	unsigned what = random_below(1000);
	int64_t time = random_below(1000) * (SECOND / 1000) + 1;

	model.w.now += time;
	model.since_boot += time;
	if (what < 450)
		step_add(container);
	else if (what < 780)
		step_del(container);
	else if (what < 880)
		step_put(block);
	else if (what < 910)
		step_retire(block);
	else if (what < 940)
		step_drop(block);
	else if (what < 965)
		step_renew();
	else if (what < 968)
		step_boot();
	else if (what < 972)
		step_define();
	else if (what < 995)
		check_counts(block);
	else
		w_sound(&model.w);
}

START_TEST(addresses_come_only_from_blocks_that_may_give)
{
	unsigned steps = testing_number("MODEL_STEPS", 20000);

	model.seed = testing_number("MODEL_SEED", 1);
	fixture_open(&model.w);
	model.w.ctx.boottime = boottime;
	model.epoch = 1;
	for (int a = 0; a < ADDRESSES; a++)
		model.addresses[a].holder = -1;
	step_define();
	for (unsigned i = 0; i < steps; i++)
		step();
	w_sound(&model.w);
	/* A run that refused or gave everything would show nothing. */
	ck_assert_msg(model.given > steps / 50 && model.refused > steps / 50,
		      "%u given, %u refused", model.given, model.refused);
	fixture_close(&model.w);
}
END_TEST

/* ---- cost ---- */

static const struct store_ops *real;
static unsigned reads;

static int counted_get(struct store_txn *t, const char *key, const char **value, struct err *e)
{
	reads++;
	return real->get(t, key, value, e);
}

struct counted {
	store_fn fn;
	void *arg;
};

static int count_pair(const char *key, const char *value, void *arg)
{
	const struct counted *c = arg;

	reads++;
	return c->fn(key, value, c->arg);
}

static int counted_scan(struct store_txn *t, struct store_span span, store_fn fn, void *arg,
			struct err *e)
{
	struct counted c = { fn, arg };

	reads++;
	return real->scan(t, span, count_pair, &c, e);
}

/* The reads of an ADD in the middle of n granted blocks of one address, half of them in use. */
static unsigned reads_of_add(unsigned n)
{
	struct fixture w;
	struct store_ops counting;
	char id[16];

	fixture_open(&w);
	ck_assert_int_eq(
		w_shared(&w, "rail0", "u1", "{\"subnet\":\"10.1.0.0/16\",\"blockSize\":1}"), 0);
	w_node(&w, 3, INT64_MAX);
	for (unsigned i = 1; i <= n; i++) {
		const struct block_record r = { .key = { .pool = "rail0",
							 .start = { IP_V4, FIRST + i } },
						.state = BLOCK_GRANTED,
						.epoch = 3 };
		ck_assert_int_eq(blocks_put(&w.m, &r, &w.e), 0);
	}
	for (unsigned i = 0; i < n / 2; i++) {
		(void)snprintf(id, sizeof(id), "c%u", i);
		ck_assert_int_ne(*w_add(&w, CONF, id, ""), '!');
	}
	counting = *w.m.store->ops;
	real = w.m.store->ops;
	counting.get = counted_get;
	counting.scan = counted_scan;
	w.m.store->ops = &counting;
	reads = 0;
	ck_assert_int_ne(*w_add(&w, CONF, "last", ""), '!');
	w.m.store->ops = real;
	fixture_close(&w);
	return reads;
}

START_TEST(an_add_reads_as_much_with_4096_blocks_as_with_one)
{
	unsigned one = reads_of_add(1), many = reads_of_add(4096);

	printf("reads of an ADD: %u with 1 block, %u with 4096\n", one, many);
	ck_assert_uint_le(many, one + 2);
}
END_TEST

TEST_PROGRAM("blocks_model", addresses_come_only_from_blocks_that_may_give,
	     an_add_reads_as_much_with_4096_blocks_as_with_one)

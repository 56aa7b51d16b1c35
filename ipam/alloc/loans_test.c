/* SPDX-License-Identifier: Apache-2.0 */
/* loans_test.c: single addresses that this node lends, and those that another node lends to it. */
#include "ipam/testing/blocks.h"
#include "ipam/testing/ipam.h"

#define CONF "{\"pool\":\"rail0\"}"
#define RAIL "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":4,\"cooldown\":5"

static struct fixture w;

static int64_t since_boot;

static int64_t boottime(void *clock)
{
	(void)clock;
	return since_boot;
}

/* The pool with two granted blocks, in epoch 3. */
static void open_rail(const char *keys)
{
	char def[256];

	fixture_open(&w);
	w.ctx.boottime = boottime;
	since_boot = 100 * SECOND;
	(void)snprintf(def, sizeof(def), RAIL "%s}", keys);
	ck_assert_int_eq(w_shared(&w, "rail0", "u1", def), 0);
	w_node(&w, 3, INT64_MAX);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.16", BLOCK_GRANTED, 3), 0);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.64", BLOCK_GRANTED, 3), 0);
}

/* Addresses are those of loans then. */
static void open_without_blocks(void)
{
	open_rail("");
	ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.64"), 0);
	ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.16"), 0);
}

static void add_is(const char *id, const char *want)
{
	ck_assert_str_eq(w_add(&w, CONF, id, ""), want);
}

static void add_fails(const char *id, int code, const char *part)
{
	const char *got = w_add(&w, CONF, id, "");

	ck_assert_msg(*got == '!' && w.e.code == (enum err_code)code, "%s", got);
	ck_assert_msg(strstr(got, part) != NULL, "%s", got);
}

/* A loan of another node's block, as the agent puts it. */
static int borrow(const char *start, uint32_t at, enum block_state state)
{
	struct block_record r = {
		.key = w_block_key("rail0", start), .state = state, .token = 9, .epoch = 3
	};

	r.key.one = at + 1;
	return blocks_put(&w.m, &r, &w.e) ? (int)w.e.code : 0;
}

static bool looks_for_loans(void)
{
	struct agent_memory memory = { .n = 0 };

	ck_assert_int_eq(blocks_load(&w.m, &memory, &w.e), 0);

	const bool strays = memory.node.strays;

	blocks_clear(&memory);
	return strays;
}

static struct block_record record_of(const struct block_key *key)
{
	struct block_record found = { .token = 0 };
	struct agent_memory memory;

	ck_assert_int_eq(blocks_load(&w.m, &memory, &w.e), 0);
	for (size_t i = 0; i < memory.n; i++) {
		if (block_key_equal(&memory.blocks[i].key, key))
			found = memory.blocks[i];
	}
	blocks_clear(&memory);
	return found;
}

static struct lending lending_of(const struct block_key *key)
{
	struct lending found = { .key = *key };
	struct agent_memory memory;

	ck_assert_int_eq(blocks_load(&w.m, &memory, &w.e), 0);
	for (size_t i = 0; i < memory.n_lendings; i++) {
		if (block_key_equal(&memory.lendings[i].key, key))
			found = memory.lendings[i];
	}
	blocks_clear(&memory);
	return found;
}

static int lend(const char *start, uint32_t one, struct loan *out)
{
	const struct block_party to = { "n2", "holder2", 11 };
	const struct block_key key = w_block_key("rail0", start);
	const struct blocks_loan want = { &key, one, &to };

	return blocks_lend(&w.m, &want, out, &w.e);
}

static int put_no_loans(const struct block_record *r)
{
	return blocks_put_loans(&w.m, r, &(struct lending){ .key = r->key }, &w.e);
}

/* No ADD gets a lent address, and each gets it again when it comes back. */
START_TEST(a_lent_address_is_not_assigned)
{
	struct block_record r;
	struct lending l;
	struct loan loan;

	open_rail(",\"idle\":1");
	ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.64"), 0);
	add_is("c0", "10.1.0.16");
	ck_assert_int_eq(lend("10.1.0.16", 1, &loan), 1);
	ck_assert_int_eq(lend("10.1.0.16", LOAN_ANY, &loan), 0);
	ck_assert_uint_eq(loan.at, 1);
	ck_assert_int_eq(lend("10.1.0.16", 4, &loan), 0);
	w_sound(&w);
	ck_assert_uint_eq(w_used(&w, "rail0", "10.1.0.16"), 3);
	ck_assert_uint_eq(w_spare(&w, "rail0"), 1);
	ck_assert_int_eq(w_retire(&w, "rail0", "10.1.0.16"), 1);
	add_is("c1", "10.1.0.18");
	add_fails("c2", ERR_EXHAUSTED, "no block of this node has an address");
	ck_assert_str_eq(w_add(&w, CONF, "c2", "IP=10.1.0.19"),
			 "!103 address 10.1.0.19 of pool rail0 is lent to node n2");
	w_del(&w, "c0");
	w_del(&w, "c1");
	ck_assert_int_eq(w_retire(&w, "rail0", "10.1.0.16"), 1);

	/* The agent takes the loan of .17 out of the record. */
	r = record_of(&(struct block_key){ .pool = "rail0",
					   .start = w_block_key("rail0", "10.1.0.16").start });
	l = lending_of(&r.key);
	ck_assert_uint_eq(l.n, 2);
	ck_assert_str_eq(l.loans[0].to.node, "n2");
	l.loans[0] = l.loans[1];
	l.n = 1;
	ck_assert_int_eq(blocks_put_loans(&w.m, &r, &l, &w.e), 0);
	/* A record without them leaves them. */
	ck_assert_int_eq(blocks_put(&w.m, &r, &w.e), 0);
	ck_assert_uint_eq(lending_of(&r.key).n, 1);
	w_sound(&w);
	add_is("c3", "10.1.0.17");
	fixture_close(&w);
}
END_TEST

/* A loan is assigned when no block has an address, and only while it is confirmed. */
START_TEST(an_address_of_another_node_is_assigned_while_it_is_lent)
{
	struct block_key key = w_block_key("rail0", "10.1.0.32");

	open_rail(",\"idle\":1");
	key.one = 3;
	ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.64"), 0);
	ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.16"), 0);
	ck_assert_int_eq(borrow("10.1.0.32", 2, BLOCK_WANTED), 0);
	ck_assert_uint_eq(w_spare(&w, "rail0"), 0);
	add_fails("c0", ERR_EXHAUSTED, "no block of this node has an address");
	ck_assert_int_eq(borrow("10.1.0.32", 2, BLOCK_GRANTED), 0);
	ck_assert_uint_eq(w_spare(&w, "rail0"), 1);
	add_is("c0", "10.1.0.34");
	w_sound(&w);
	ck_assert_uint_eq(w_spare(&w, "rail0"), 0);
	ck_assert_uint_eq(w_used(&w, "rail0", "10.1.0.32"), 0);
	add_fails("c1", ERR_EXHAUSTED, "no block of this node has an address");
	ck_assert_int_eq(blocks_retire(&w.m, &key, &w.e), 1);
	ck_assert_int_eq(blocks_drop(&w.m, &key, &w.e), 1);
	w_del(&w, "c0");
	/* It cools down here before it goes back. */
	ck_assert_int_eq(blocks_retire(&w.m, &key, &w.e), 1);
	w.now += 6 * SECOND;
	add_is("c2", "10.1.0.34");
	w_del(&w, "c2");
	w.now += 6 * SECOND;
	ck_assert_int_eq(blocks_retire(&w.m, &key, &w.e), 0);
	add_fails("c3", ERR_EXHAUSTED, "no block of this node has an address");
	ck_assert_int_eq(blocks_drop(&w.m, &key, &w.e), 0);
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

/* The cluster reserves .16, .17 and .18 before and after .19 was lent. */
START_TEST(an_address_that_the_cluster_reserves_is_not_lent)
{
	auto_json struct json *definition = NULL, *reserved = NULL;
	struct shared_pool_def d = { .name = "rail0", .uid = "u1", .generation = 2 };
	struct loan loan;
	const char *def = RAIL "}", *list = "[\"10.1.0.16/31\",\"10.1.0.18\"]";

	open_rail("");
	ck_assert_int_eq(json_parse(def, strlen(def), "def", &definition, &w.e), 0);
	ck_assert_int_eq(json_parse(list, strlen(list), "list", &reserved, &w.e), 0);
	d.definition = definition;
	d.reserved = reserved;
	ck_assert_int_eq(shared_pool_put(&w.m, &d, &w.e), 0);
	ck_assert_int_eq(lend("10.1.0.16", 2, &loan), 1);
	ck_assert_int_eq(lend("10.1.0.16", LOAN_ANY, &loan), 0);
	ck_assert_uint_eq(loan.at, 3);
	ck_assert_int_eq(lend("10.1.0.16", LOAN_ANY, &loan), 1);
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

/* Nor is what another node lends assigned, when the cluster reserves it. A pod had it. */
START_TEST(a_loan_that_the_cluster_reserves_is_not_assigned)
{
	auto_json struct json *definition = NULL, *reserved = NULL;
	struct shared_pool_def d = { .name = "rail0", .uid = "u1", .generation = 2 };
	const char *def = RAIL "}", *list = "[\"10.1.0.34\"]";

	open_without_blocks();
	ck_assert_int_eq(borrow("10.1.0.32", 2, BLOCK_GRANTED), 0);
	add_is("c0", "10.1.0.34");
	w_del(&w, "c0");
	w.now += 6 * SECOND;
	ck_assert_uint_eq(w_spare(&w, "rail0"), 1);
	ck_assert_int_eq(json_parse(def, strlen(def), "def", &definition, &w.e), 0);
	ck_assert_int_eq(json_parse(list, strlen(list), "list", &reserved, &w.e), 0);
	d.definition = definition;
	d.reserved = reserved;
	ck_assert_int_eq(shared_pool_put(&w.m, &d, &w.e), 0);
	ck_assert_uint_eq(w_spare(&w, "rail0"), 0);
	add_fails("c0", ERR_EXHAUSTED, "no block of this node has an address");
	fixture_close(&w);
}
END_TEST

/* One that an older version left behind goes without its pool. */
START_TEST(a_pool_stays_while_a_loan_of_it_stands)
{
	struct block_key key = w_block_key("rail0", "10.1.0.32");
	const struct admin_delete d = { .name = "rail0" };
	struct agent_memory memory;

	open_rail("");
	key.one = 3;
	ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.64"), 0);
	ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.16"), 0);
	ck_assert_int_eq(borrow("10.1.0.32", 2, BLOCK_RETURNING), 0);
	ck_assert_int_eq(shared_pool_remove(&w.m, "rail0", &w.e), 1);
	ck_assert_int_eq(w_shared(&w, "rail0", "u2", RAIL "}"), ERR_BUSY);
	ck_assert_int_eq(admin_pool_delete(&w.m, &d, NULL, &w.e), -1);
	ck_assert_str_eq(w.e.msg, "pool rail0: this node has 0 blocks and 1 loan of it");
	ck_assert_int_eq(blocks_drop(&w.m, &key, &w.e), 0);
	ck_assert_int_eq(shared_pool_remove(&w.m, "rail0", &w.e), 0);
	w_scribble(&w, "l/p/rail0/4/0a010022", "{\"state\":\"granted\",\"at\":2}");
	ck_assert_int_eq(blocks_drop(&w.m, &key, &w.e), 0);
	ck_assert_int_eq(blocks_load(&w.m, &memory, &w.e), 0);
	ck_assert_uint_eq(memory.n, 0);
	blocks_clear(&memory);
	fixture_close(&w);
}
END_TEST

/* The node got the block while it returned the loan. */
START_TEST(a_pod_of_a_block_counts_although_a_loan_of_its_address_is_left)
{
	open_without_blocks();
	ck_assert_int_eq(borrow("10.1.0.32", 0, BLOCK_RETURNING), 0);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.32", BLOCK_GRANTED, 3), 0);
	add_is("c0", "10.1.0.32");
	ck_assert_uint_eq(w_used(&w, "rail0", "10.1.0.32"), 1);
	w.now += 6 * SECOND;
	ck_assert_int_eq(w_retire(&w, "rail0", "10.1.0.32"), 1);
	ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.32"), 1);
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

START_TEST(a_loan_with_the_mark_is_probed)
{
	struct block_record r = { .key = w_block_key("rail0", "10.1.0.32"),
				  .state = BLOCK_GRANTED,
				  .token = 9,
				  .epoch = 3,
				  .probe = true };

	open_rail("");
	w.probes = true;
	r.key.one = 3;
	ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.64"), 0);
	ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.16"), 0);
	ck_assert_int_eq(blocks_put(&w.m, &r, &w.e), 0);
	add_is("c0", "10.1.0.34?");
	fixture_close(&w);
}
END_TEST

/* A pod of the owner had the address before, and probed it. */
START_TEST(a_loan_that_a_dead_node_had_is_probed)
{
	struct block_record r;
	struct loan loan;

	open_rail("");
	w.probes = true;
	add_is("c0", "10.1.0.16");
	w_del(&w, "c0");
	w.now += 6 * SECOND;
	ck_assert_int_eq(lend("10.1.0.16", 1, &loan), 0);
	w_sound(&w);
	r = record_of(&(struct block_key){ .pool = "rail0",
					   .start = w_block_key("rail0", "10.1.0.16").start });
	r.probe = true;
	ck_assert_int_eq(put_no_loans(&r), 0);
	ck_assert_str_eq(w_add(&w, CONF, "c1", "IP=10.1.0.16"), "10.1.0.16?");
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

/* A restored store forgot the block: the loans live. */
START_TEST(a_block_with_loans_is_not_dropped)
{
	struct block_record r;
	struct loan loan;

	open_rail("");
	ck_assert_int_eq(lend("10.1.0.16", 1, &loan), 0);
	ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.16"), 1);
	r = record_of(&(struct block_key){ .pool = "rail0",
					   .start = w_block_key("rail0", "10.1.0.16").start });
	ck_assert_int_eq(put_no_loans(&r), 0);
	ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.16"), 0);
	fixture_close(&w);
}
END_TEST

START_TEST(a_loan_outside_of_its_block_is_refused)
{
	open_rail("");
	ck_assert_int_eq(borrow("10.1.0.32", 4, BLOCK_WANTED), ERR_CONFIG);
	ck_assert_str_eq(w.e.msg, "pool rail0: the block at 10.1.0.32 has no address 4");
	ck_assert_int_eq(borrow("10.1.0.32", 3, BLOCK_WANTED), 0);
	fixture_close(&w);
}
END_TEST

/* A claim of the block, which another node had. */
START_TEST(the_usage_of_a_loan_stays_when_its_block_is_dropped)
{
	open_without_blocks();
	ck_assert_int_eq(borrow("10.1.0.32", 2, BLOCK_GRANTED), 0);
	add_is("c0", "10.1.0.34");
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.32", BLOCK_WANTED, 0), 0);
	ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.32"), 0);
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

/* While a pod has the address, the record stays: it may be the proof that the pod may. */
START_TEST(a_damaged_loan_is_found_and_repaired)
{
	for (int used = 0; used < 2; used++) {
		char text[4000] = "";
		struct verify v = { .found = w_problem, .arg = text };

		open_rail("");
		ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.64"), 0);
		ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.16"), 0);
		ck_assert_int_eq(borrow("10.1.0.32", 2, BLOCK_GRANTED), 0);
		if (used)
			add_is("c0", "10.1.0.34");
		w_scribble(&w, "l/p/rail0/4/0a010022", "{");
		ck_assert_int_eq(ipam_verify(&w.m, &v, &w.e), 0);
		ck_assert_uint_eq(v.problems, 1);
		ck_assert_ptr_nonnull(strstr(text, "l/p/rail0/4/0a010022"));
		ck_assert_uint_eq(v.left, (uint64_t)used);
		v.repair = true;
		ck_assert_int_eq(ipam_verify(&w.m, &v, &w.e), 0);
		if (!used) {
			w_sound(&w);
			/* Else nobody would give it back: the owner waits for this node. */
			ck_assert(looks_for_loans());
		}
		fixture_close(&w);
	}
}
END_TEST

static void pool_is(double capacity, double lent, double borrowed, double used)
{
	auto_json struct json *list = NULL;
	const struct json *pool, *blocks;

	ck_assert_int_eq(admin_pools(&w.m, "rail0", &list, &w.e), 0);
	pool = json_first(list);
	blocks = json_get(pool, "blocks");
	ck_assert_double_eq(json_num(json_get(pool, "capacity")), capacity);
	ck_assert_double_eq(json_num(json_get(blocks, "lent")), lent);
	ck_assert_double_eq(json_num(json_get(blocks, "borrowed")), borrowed);
	ck_assert_double_eq(json_num(json_get(pool, "used")), used);
}

static const struct store_ops *real;
static unsigned kept;

static void count_keep(struct store_txn *t)
{
	kept++;
	real->keep(t);
}

/* Else a loan that came back would be lent for ever, or one would be forgotten. */
START_TEST(a_power_loss_changes_no_loan)
{
	struct block_key key = w_block_key("rail0", "10.1.0.32");
	struct store_ops counted;
	struct block_record r;
	struct loan loan;

	open_rail("");
	real = w.m.store->ops;
	counted = *real;
	counted.keep = count_keep;
	w.m.store->ops = &counted;
	ck_assert_int_eq(lend("10.1.0.16", 1, &loan), 0);
	ck_assert_uint_eq(kept, 1);
	r = record_of(&(struct block_key){ .pool = "rail0",
					   .start = w_block_key("rail0", "10.1.0.16").start });
	ck_assert_int_eq(blocks_put(&w.m, &r, &w.e), 0);
	ck_assert_uint_eq(kept, 2);
	ck_assert_int_eq(put_no_loans(&r), 0);
	ck_assert_uint_eq(kept, 3);
	ck_assert_int_eq(blocks_put(&w.m, &r, &w.e), 0);
	ck_assert_uint_eq(kept, 3);

	/* The borrower. */
	key.one = 3;
	ck_assert_int_eq(borrow("10.1.0.32", 2, BLOCK_GRANTED), 0);
	ck_assert_uint_eq(kept, 4);
	ck_assert_int_eq(blocks_drop(&w.m, &key, &w.e), 0);
	ck_assert_uint_eq(kept, 5);
	w.m.store->ops = real;
	fixture_close(&w);
}
END_TEST

/* The usage of the block is that of both. */
START_TEST(two_loans_of_one_block_end_one_by_one)
{
	struct block_key key = w_block_key("rail0", "10.1.0.32");

	open_without_blocks();
	ck_assert_int_eq(borrow("10.1.0.32", 1, BLOCK_GRANTED), 0);
	ck_assert_int_eq(borrow("10.1.0.32", 3, BLOCK_GRANTED), 0);
	add_is("a", "10.1.0.33");
	add_is("b", "10.1.0.35");
	w_sound(&w);
	w_del(&w, "a");
	w.now += 6 * SECOND;
	key.one = 2;
	ck_assert_int_eq(blocks_retire(&w.m, &key, &w.e), 0);
	ck_assert_int_eq(blocks_drop(&w.m, &key, &w.e), 0);
	w_sound(&w);
	pool_is(1, 0, 1, 1);
	key.one = 4;
	ck_assert_int_eq(blocks_drop(&w.m, &key, &w.e), 1);
	w_del(&w, "b");
	ck_assert_int_eq(blocks_drop(&w.m, &key, &w.e), 0);
	w_sound(&w);
	pool_is(0, 0, 0, 0);
	fixture_close(&w);
}
END_TEST

/* Of two loans of a block one is lost. The pod of the other one is not in conflict. */
START_TEST(a_lost_loan_is_in_conflict_alone)
{
	auto_json struct json *list = NULL;
	const struct json *row;

	open_without_blocks();
	ck_assert_int_eq(borrow("10.1.0.32", 1, BLOCK_GRANTED), 0);
	ck_assert_int_eq(borrow("10.1.0.32", 2, BLOCK_GRANTED), 0);
	add_is("a", "10.1.0.33");
	add_is("b", "10.1.0.34");
	ck_assert_int_eq(borrow("10.1.0.32", 1, BLOCK_LOST), 0);
	ck_assert_int_eq(admin_conflicts(&w.m, &list, &w.e), 0);
	ck_assert_uint_eq(json_len(list), 1);
	row = json_first(list);
	ck_assert_str_eq(json_str(json_get(row, "first")), "10.1.0.33");
	ck_assert_str_eq(json_str(json_get(row, "last")), "10.1.0.33");
	ck_assert_double_eq(json_num(json_get(row, "podCount")), 1);
	/* The pod keeps its address, and no other one gets it. */
	add_is("a", "10.1.0.33");
	w_del(&w, "a");
	w.now += 6 * SECOND;
	add_fails("c", ERR_EXHAUSTED, "no block of this node has an address");
	pool_is(1, 0, 1, 1);
	fixture_close(&w);
}
END_TEST

/* Else pods on loans make a pool more than full, and a lender seems to have free addresses. */
START_TEST(the_size_of_a_pool_counts_loans)
{
	struct loan loan;

	open_rail("");
	ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.64"), 0);
	pool_is(4, 0, 0, 0);
	ck_assert_int_eq(lend("10.1.0.16", LOAN_ANY, &loan), 0);
	pool_is(3, 1, 0, 0);
	ck_assert_int_eq(borrow("10.1.0.32", 2, BLOCK_WANTED), 0);
	pool_is(3, 1, 0, 0);
	ck_assert_int_eq(borrow("10.1.0.32", 2, BLOCK_GRANTED), 0);
	pool_is(4, 1, 1, 0);
	for (const char *const *id = (const char *const[]){ "a", "b", "c", "d", NULL }; *id; id++)
		ck_assert_int_ne(*w_add(&w, CONF, *id, ""), '!');
	pool_is(4, 1, 1, 4);
	fixture_close(&w);
}
END_TEST

/* The row of the block or the loan that begins at this address. */
static void row_is(const char *first, const char *want)
{
	static const char *const members[] = { "assigns", "used", "loan", "lender", "lent" };
	auto_json struct json *list = NULL;
	char text[512] = "";

	ck_assert_int_eq(admin_blocks(&w.m, "rail0", &list, &w.e), 0);
	json_each (row, list) {
		if (strcmp(json_str(json_get(row, "first")), first) != 0)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
			const struct json *member = json_get(row, members[i]);
			auto_free char *value = member ? json_print(member, false) : NULL;

			testing_append(text, sizeof(text), value ? value : "-");
			testing_append(text, sizeof(text), " ");
		}
	}
	ck_assert_str_eq(text, want);
}

START_TEST(a_list_of_blocks_shows_loans)
{
	struct block_record r = { .key = w_block_key("rail0", "10.1.0.32"),
				  .state = BLOCK_GRANTED,
				  .token = 9,
				  .epoch = 3,
				  .lender = "n3" };
	struct loan loan;

	open_without_blocks();
	for (r.key.one = 1; r.key.one <= 3; r.key.one++)
		ck_assert_int_eq(blocks_put(&w.m, &r, &w.e), 0);
	add_is("a", "10.1.0.32");
	add_is("b", "10.1.0.33");
	row_is("10.1.0.33", "true 1 true \"n3\" - ");
	row_is("10.1.0.34", "true 0 true \"n3\" - ");
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.16", BLOCK_GRANTED, 3), 0);
	ck_assert_int_eq(lend("10.1.0.16", 2, &loan), 0);
	row_is("10.1.0.16",
	       "true 0 - - [{\"address\":\"10.1.0.17\",\"node\":\"n2\",\"taken\":false}] ");

	fixture_close(&w);
}
END_TEST

TEST_PROGRAM("loans", two_loans_of_one_block_end_one_by_one, a_lost_loan_is_in_conflict_alone,
	     a_list_of_blocks_shows_loans, the_size_of_a_pool_counts_loans,
	     a_power_loss_changes_no_loan, a_damaged_loan_is_found_and_repaired,
	     the_usage_of_a_loan_stays_when_its_block_is_dropped,
	     a_loan_outside_of_its_block_is_refused, a_block_with_loans_is_not_dropped,
	     a_loan_that_a_dead_node_had_is_probed, a_loan_with_the_mark_is_probed,
	     a_pod_of_a_block_counts_although_a_loan_of_its_address_is_left,
	     a_pool_stays_while_a_loan_of_it_stands, a_lent_address_is_not_assigned,
	     an_address_that_the_cluster_reserves_is_not_lent,
	     a_loan_that_the_cluster_reserves_is_not_assigned,
	     an_address_of_another_node_is_assigned_while_it_is_lent)

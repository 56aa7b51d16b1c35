/* SPDX-License-Identifier: Apache-2.0 */
/* blocks_test.c: ADD, DEL, CHECK and STATUS in a pool with blocks: only blocks that may give, give.
 */
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

START_TEST(addresses_are_of_granted_blocks)
{
	static const char *const want[] = { "10.1.0.16", "10.1.0.17", "10.1.0.18", "10.1.0.19",
					    "10.1.0.64", "10.1.0.65", "10.1.0.66", "10.1.0.67" };
	char id[8];

	open_rail("");
	for (int i = 0; i < 8; i++) {
		(void)snprintf(id, sizeof(id), "c%d", i);
		add_is(id, want[i]);
		w_sound(&w);
	}
	add_fails("c8", ERR_EXHAUSTED, "pool rail0: no block of this node has an address");
	add_is("c3", "10.1.0.19"); /* again */
	ck_assert_uint_eq(w_used(&w, "rail0", "10.1.0.16"), 4);
	fixture_close(&w);
}
END_TEST

START_TEST(a_block_gives_only_when_granted_and_confirmed)
{
	static const enum block_state others[] = { BLOCK_WANTED, BLOCK_ASKED, BLOCK_RETURNING,
						   BLOCK_CONTESTED, BLOCK_LOST };
	const struct block_record probe = { .key = w_block_key("rail0", "10.1.0.16"),
					    .state = BLOCK_GRANTED,
					    .epoch = 3,
					    .probe = true };

	open_rail("");
	add_is("c1", "10.1.0.16");
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.16", others[i], 3), 0);
		add_is("c2", "10.1.0.64");
		w_sound(&w);
		add_is("c1", "10.1.0.16"); /* again */
		w_del(&w, "c2");
		w.now += 10 * SECOND;
		ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.64"), 0);
		ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.64", BLOCK_GRANTED, 3), 0);
	}
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.16", BLOCK_GRANTED, 2), 0);
	add_is("c2", "10.1.0.64");
	ck_assert_int_eq(blocks_put(&w.m, &probe, &w.e), 0);
	add_is("c3", "10.1.0.65");
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.16", BLOCK_GRANTED, 3), 0);
	add_is("c4", "10.1.0.17");
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

/* The definition changes below a living lease, as when an agent brings it. */
START_TEST(reserved_addresses_of_a_shared_pool_are_masked)
{
	open_rail("");
	add_is("c1", "10.1.0.16");
	ck_assert_int_eq(w_shared(&w, "rail0", "u1",
				  RAIL ",\"reserved\":[\"10.1.0.16/31\",\"10.7.0.0/16\"]}"),
			 0);
	add_fails("c1", ERR_BUSY, "holds 10.1.0.16, which does not fit"); /* as with excludes */
	add_is("c2", "10.1.0.18");
	ck_assert_uint_eq(w_used(&w, "rail0", "10.1.0.16"), 2);
	w_del(&w, "c1");
	w.now += 100 * SECOND;
	add_is("c3", "10.1.0.19");
	ck_assert_uint_eq(w_used(&w, "rail0", "10.1.0.16"), 2);
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

static bool is_probed(const struct block_record *r)
{
	bool is = false;

	ck_assert_int_eq(blocks_probed(&w.m, &r->key, &is, &w.e), 0);
	return is;
}

/* Only to a caller that probes. The mark of an address goes with the first probe that succeeds. */
START_TEST(an_address_of_a_taken_block_is_probed_once)
{
	struct block_record probe = { .key = w_block_key("rail0", "10.1.0.16"),
				      .state = BLOCK_GRANTED,
				      .epoch = 3,
				      .probe = true };
	const struct owner c1 = { "net", "c1", "net1", "", "", "" };

	open_rail("");
	ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.64"), 0);
	ck_assert_int_eq(blocks_put(&w.m, &probe, &w.e), 0);
	ck_assert_uint_eq(w_spare(&w, "rail0"), 4);
	add_fails("c1", ERR_EXHAUSTED, "no block of this node");
	ck_assert_str_eq(w_add(&w, CONF, "c1", "IP=10.1.0.17"),
			 "!103 address 10.1.0.17 of pool rail0 is in a block that this node may "
			 "not use now");
	w.probes = true;
	add_is("c1", "10.1.0.16?");
	add_is("c1", "10.1.0.16?"); /* again */
	ck_assert(!is_probed(&probe));
	w_del(&w, "c1"); /* another host has it, or ADD failed elsewhere */
	w.now += 10 * SECOND;
	ck_assert_str_eq(w_add(&w, CONF, "c1", "IP=10.1.0.16"), "10.1.0.16?");
	ck_assert_int_eq(alloc_probed(&w.m, &c1, &w.e), 0);
	ck_assert(is_probed(&probe));
	w_sound(&w);
	add_is("c1", "10.1.0.16"); /* again */
	w_del(&w, "c1");
	ck_assert(!is_probed(&probe)); /* no pod has it */
	w.now += 10 * SECOND;
	ck_assert_str_eq(w_add(&w, CONF, "c2", "IP=10.1.0.16"), "10.1.0.16");
	add_is("c3", "10.1.0.17?");
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

START_TEST(nothing_is_given_after_the_fence)
{
	const struct alloc_check check = { .owner = &(struct owner){ "net", "c1", "net1", "", "",
								     "" } };

	open_rail("");
	w_node(&w, 3, 200 * SECOND);
	add_is("c1", "10.1.0.16");
	since_boot = 200 * SECOND - 1;
	add_is("c2", "10.1.0.17");
	since_boot = 200 * SECOND;
	add_fails("c3", ERR_AGAIN, "fence \"strict\"");
	add_is("c1", "10.1.0.16"); /* again */
	ck_assert_int_eq(alloc_check(&w.m, &check, &w.e), 0);
	w_del(&w, "c2");
	w_node(&w, 4, 300 * SECOND); /* renewed: each block must be confirmed again */
	add_fails("c3", ERR_EXHAUSTED, "no block of this node");
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.64", BLOCK_GRANTED, 4), 0);
	add_is("c3", "10.1.0.64");
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

START_TEST(nothing_is_given_in_a_new_boot)
{
	open_rail("");
	add_is("c1", "10.1.0.16");
	fixture_boot(&w, BOOT_2);
	add_fails("c2", ERR_AGAIN, "has not confirmed the blocks of this node since it booted");
	w_node(&w, 4, INT64_MAX);
	add_fails("c2", ERR_EXHAUSTED, "no block");
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.16", BLOCK_GRANTED, 4), 0);
	add_is("c2", "10.1.0.17");
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

START_TEST(a_pool_without_an_agent_says_what_to_do)
{
	fixture_open(&w);
	ck_assert_int_eq(w_pool(&w, "rail0", RAIL "}", false), 0);
	add_fails("c1", ERR_CONFIG,
		  "pool rail0: it has blockSize, but it is not a pool of a cluster");
	fixture_close(&w);
}
END_TEST

/* The block that rested longest comes first, whatever its address. */
START_TEST(a_resting_address_of_any_block_comes_in_its_order)
{
	char id[8];

	open_rail("");
	for (int i = 0; i < 8; i++) {
		(void)snprintf(id, sizeof(id), "c%d", i);
		(void)w_add(&w, CONF, id, "");
	}
	w_del(&w, "c5"); /* 10.1.0.65 */
	w.now += SECOND;
	w_del(&w, "c2");           /* 10.1.0.18 */
	add_is("d1", "10.1.0.65"); /* it still cools down, but nothing else is left */
	w_del(&w, "d1");
	w.now += 10 * SECOND;
	w_sound(&w);
	add_is("d2", "10.1.0.18");
	add_is("d3", "10.1.0.65");
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

START_TEST(strict_cooldown_holds_in_blocks)
{
	open_rail(",\"strictCooldown\":true,\"ranges\":[\"10.1.0.16\",\"10.1.0.64\"]");
	add_is("c1", "10.1.0.16");
	add_is("c2", "10.1.0.64");
	w_del(&w, "c1");
	add_fails("c3", ERR_EXHAUSTED, "no block");
	ck_assert_uint_eq(w_spare(&w, "rail0"), 0);
	w.now += 5 * SECOND;
	ck_assert_uint_eq(w_spare(&w, "rail0"), 1);
	add_is("c3", "10.1.0.16");
	fixture_close(&w);
}
END_TEST

START_TEST(a_requested_address_is_of_a_granted_block)
{
	open_rail("");
	ck_assert_str_eq(w_add(&w, CONF, "c1", "IP=10.1.0.17"), "10.1.0.17");
	ck_assert_str_eq(
		w_add(&w, CONF, "c2", "IP=10.1.0.20"),
		"!103 address 10.1.0.20 of pool rail0 is in a block that this node may not "
		"use now");
	add_is("c3", "10.1.0.16");
	add_is("c4", "10.1.0.18"); /* the cursor skips what was requested */
	ck_assert_str_eq(w_add(&w, CONF, "c5", "IP=10.1.0.19"), "10.1.0.19");
	add_is("c6", "10.1.0.64");
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

START_TEST(a_sticky_address_stays_only_in_a_granted_block)
{
	const char *pod = "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=p0";

	open_rail(",\"sticky\":true");
	ck_assert_str_eq(w_add(&w, CONF, "c1", pod), "10.1.0.16");
	w_del(&w, "c1");
	add_is("c2", "10.1.0.17");
	ck_assert_str_eq(w_add(&w, CONF, "c3", pod), "10.1.0.16");
	w_del(&w, "c3");
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.16", BLOCK_LOST, 3), 0);
	ck_assert_str_eq(w_add(&w, CONF, "c4", pod), "10.1.0.64");
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

START_TEST(a_later_source_gives_when_no_block_may)
{
	fixture_open(&w);
	ck_assert_int_eq(w_shared(&w, "rail0", "u1", RAIL "}"), 0);
	ck_assert_int_eq(w_pool(&w, "spare", "{\"subnet\":\"10.9.0.0/30\"}", false), 0);
	ck_assert_str_eq(w_add(&w, "{\"pools\":[\"rail0\",\"spare\"]}", "c1", ""), "10.9.0.1");
	ck_assert_str_eq(w_add(&w, "{\"pools\":[\"rail0\",\"spare\"]}", "c2", ""), "10.9.0.2");
	ck_assert_str_eq(w_add(&w, "{\"pools\":[\"rail0\",\"spare\"]}", "c3", ""),
			 "!101 no address is left in pool rail0 (blocks of this node), pool spare "
			 "(2 addresses)");
	fixture_close(&w);
}
END_TEST

START_TEST(blocks_of_ipv6_and_of_one_address)
{
	fixture_open(&w);
	ck_assert_int_eq(w_shared(&w, "rail0", "u1", "{\"subnet\":\"fd00::/64\",\"blockSize\":1}"),
			 0);
	w_node(&w, 3, INT64_MAX);
	ck_assert_int_eq(w_block(&w, "rail0", "fd00::ffff:0:0:1", BLOCK_GRANTED, 3), 0);
	ck_assert_int_eq(w_block(&w, "rail0", "fd00::5", BLOCK_GRANTED, 3), 0);
	add_is("c1", "fd00::5");
	add_is("c2", "fd00::ffff:0:0:1");
	add_fails("c3", ERR_EXHAUSTED, "no block");
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

/* A block for one pod: no other pod gets its address, and no pod without a name. */
START_TEST(the_address_of_an_identity_is_for_its_pod)
{
	struct block_record r = { .key = w_block_key("rail0", "10.1.0.5"),
				  .state = BLOCK_GRANTED,
				  .epoch = 3 };
	const char *pod = "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=p0";

	fixture_open(&w);
	(void)snprintf(r.identity, sizeof(r.identity), "ns/p0/%s", w.ifname);
	ck_assert_int_eq(w_shared(&w, "rail0", "u1",
				  "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":1,"
				  "\"sticky\":true,\"cooldown\":60}"),
			 0);
	w_node(&w, 3, INT64_MAX);
	ck_assert_int_eq(blocks_put(&w.m, &r, &w.e), 0);
	add_fails("c1", ERR_CONFIG, "the runtime names no pod");
	ck_assert_ptr_nonnull(
		strstr(w_add(&w, CONF, "c2", "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=p1"), "!101"));
	ck_assert_str_eq(w_add(&w, CONF, "c3", pod), "10.1.0.5");
	ck_assert_int_eq(w_retire(&w, "rail0", "10.1.0.5"), 1);
	w_del(&w, "c3");
	/* It waits for its pod elsewhere: no cooldown holds it here. */
	ck_assert_int_eq(w_retire(&w, "rail0", "10.1.0.5"), 0);
	ck_assert_str_eq(w_status(&w, "{\"pool\":\"rail0\",\"statusWhenFull\":true}"), "");
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

/* ---- the node agent is asked ---- */

static int asked;
static enum { GIVES, IS_FULL, GIVES_NOTHING } agent;

static int need(const struct ctx *ctx, const struct agent_need *n, struct err *e)
{
	ck_assert_ptr_eq(ctx, &w.ctx);
	ck_assert_str_eq(n->pool, "rail0");
	ck_assert_uint_eq(n->addresses, 1);
	ck_assert(n->wait_ms > 0 && n->wait_ms <= ALLOC_NEED_MS);
	asked++;
	if (agent == IS_FULL)
		return err_set(e, ERR_EXHAUSTED, 0, "all blocks have owners");
	if (agent == GIVES)
		ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.32", BLOCK_GRANTED, 3), 0);
	return 0;
}

static const char *add_asking(const char *conf, const char *id)
{
	return w_add_as(&w, (struct alloc_add){ .need = need }, conf, id, "");
}

START_TEST(the_agent_is_asked_only_when_no_address_is_left)
{
	open_rail(",\"ranges\":[\"10.1.0.16\",\"10.1.0.32-10.1.0.35\"]");
	asked = 0;
	agent = GIVES;
	ck_assert_str_eq(add_asking(CONF, "c1"), "10.1.0.16");
	ck_assert_int_eq(asked, 0);
	ck_assert_str_eq(add_asking(CONF, "c2"), "10.1.0.32");
	ck_assert_str_eq(add_asking(CONF, "c3"), "10.1.0.33");
	ck_assert_int_eq(asked, 1);
	fixture_close(&w);
}
END_TEST

START_TEST(the_error_of_the_agent_is_shown)
{
	open_rail(",\"ranges\":[\"10.1.0.16\"]");
	asked = 0;
	agent = IS_FULL;
	ck_assert_str_eq(add_asking(CONF, "c1"), "10.1.0.16");
	ck_assert_str_eq(add_asking(CONF, "c2"),
			 "!101 pool rail0: no block of this node has an address to assign: all "
			 "blocks have owners");
	ck_assert_int_eq(asked, 1);
	fixture_close(&w);
}
END_TEST

START_TEST(the_agent_is_not_asked_for_ever)
{
	open_rail(",\"ranges\":[\"10.1.0.16\"]");
	asked = 0;
	agent = GIVES_NOTHING;
	ck_assert_str_eq(add_asking(CONF, "c1"), "10.1.0.16");
	ck_assert_ptr_nonnull(strstr(add_asking(CONF, "c2"), "!101 pool rail0: no block"));
	ck_assert_int_eq(asked, ALLOC_NEED_TRIES);
	fixture_close(&w);
}
END_TEST

/* ---- STATUS, verify ---- */

START_TEST(status_is_fine_without_a_free_block)
{
	open_rail(",\"ranges\":[\"10.1.0.16\"]");
	add_is("c1", "10.1.0.16");
	ck_assert_str_eq(w_status(&w, CONF), "");
	ck_assert_ptr_nonnull(
		strstr(w_status(&w, "{\"pool\":\"rail0\",\"statusWhenFull\":true}"), "!50"));
	fixture_close(&w);
}
END_TEST

/* What verify says, and how many problems repair left. */
static const char *verify(bool repair, uint64_t *left)
{
	static char text[4096];
	struct verify v = { .repair = repair, .found = w_problem, .arg = text };

	*text = '\0';
	ck_assert_msg(ipam_verify(&w.m, &v, &w.e) == 0, "%s", w.e.msg);
	*left = v.left;
	return text;
}

START_TEST(verify_repairs_the_index)
{
	uint64_t left;

	open_rail("");
	add_is("c1", "10.1.0.16");
	w_scribble(&w, "f/p/rail0/0000000000000003/0000000000000000/4/0a010010", NULL);
	w_scribble(&w, "f/p/rail0/0000000000000003/0000000000000000/4/0a010020", "");
	ck_assert_str_eq(verify(false, &left),
			 "f/p/rail0/0000000000000003/0000000000000000/4/0a010020: the block has no "
			 "place there\n"
			 "f/p/rail0/0000000000000003/0000000000000000/4/0a010010: the entry is "
			 "missing\n");
	ck_assert_uint_eq(left, 0);
	(void)verify(true, &left);
	w_sound(&w);
	add_is("c2", "10.1.0.17");
	fixture_close(&w);
}
END_TEST

START_TEST(verify_finds_usage_again)
{
	uint64_t left;

	open_rail("");
	add_is("c1", "10.1.0.16");
	w_scribble(&w, "u/p/rail0/x00000000a010010", "{}");
	ck_assert_ptr_nonnull(strstr(verify(true, &left), "u/p/rail0/x00000000a010010 used"));
	w_sound(&w);
	w_scribble(&w, "u/p/rail0/x00000000a010010", "[");
	(void)verify(false, &left);
	(void)verify(true, &left);
	w_sound(&w);
	add_is("c2", "10.1.0.17");
	w_scribble(&w, "a/p/rail0/4/0a010010", NULL); /* only its owner is known */
	(void)verify(true, &left);
	ck_assert_uint_eq(w_used(&w, "rail0", "10.1.0.16"), 2);
	w_sound(&w);
	w_del(&w, "c1");
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

START_TEST(verify_keeps_a_damaged_block_with_a_living_pod)
{
	uint64_t left;

	open_rail("");
	add_is("c1", "10.1.0.16");
	w_scribble(&w, "b/p/rail0/4/0a010010", "{\"state\":\"mine\"}");
	ck_assert_ptr_nonnull(strstr(verify(true, &left), "b/p/rail0/4/0a010010 is damaged"));
	ck_assert_uint_eq(left, 1);
	w_del(&w, "c1");
	(void)verify(true, &left);
	ck_assert_uint_eq(left, 0);
	w_sound(&w);
	add_is("c1", "10.1.0.64");
	w_scribble(&w, "b/p/rail0/4/0a010040", NULL);
	ck_assert_ptr_nonnull(strstr(verify(true, &left), "its block has no record"));
	w_scribble(&w, "b/p/other/4/0a010040", "{\"state\":\"lost\"}");
	ck_assert_ptr_nonnull(strstr(verify(false, &left), "a pool that this node does not know"));
	fixture_close(&w);
}
END_TEST

static const struct store_ops *real;
static unsigned read_blocks, read_loans;

static int count_get(struct store_txn *t, const char *key, const char **value, struct err *e)
{
	read_blocks += strncmp(key, "b/", 2) == 0;
	read_loans += strncmp(key, "l/", 2) == 0;
	return real->get(t, key, value, e);
}

/* A pool without loans pays nothing for those of others. */
START_TEST(without_loans_no_record_is_read_for_them)
{
	struct store_ops counted;

	open_rail("");
	real = w.m.store->ops;
	counted = *real;
	counted.get = count_get;
	w.m.store->ops = &counted;
	add_is("c0", "10.1.0.16");
	ck_assert_uint_eq(read_loans, 0);
	ck_assert_uint_eq(read_blocks, 1);

	read_blocks = 0;
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.16", BLOCK_GRANTED, 3), 0);
	/* the old one, and two for the index */
	ck_assert_uint_eq(read_blocks, 3);
	w.m.store->ops = real;
	fixture_close(&w);
}
END_TEST

TEST_PROGRAM("blocks", addresses_are_of_granted_blocks, without_loans_no_record_is_read_for_them,
	     a_block_gives_only_when_granted_and_confirmed,
	     reserved_addresses_of_a_shared_pool_are_masked,
	     an_address_of_a_taken_block_is_probed_once, nothing_is_given_after_the_fence,
	     nothing_is_given_in_a_new_boot, a_pool_without_an_agent_says_what_to_do,
	     a_resting_address_of_any_block_comes_in_its_order, strict_cooldown_holds_in_blocks,
	     a_requested_address_is_of_a_granted_block,
	     a_sticky_address_stays_only_in_a_granted_block, a_later_source_gives_when_no_block_may,
	     the_address_of_an_identity_is_for_its_pod, blocks_of_ipv6_and_of_one_address,
	     the_agent_is_asked_only_when_no_address_is_left, the_error_of_the_agent_is_shown,
	     the_agent_is_not_asked_for_ever, status_is_fine_without_a_free_block,
	     verify_repairs_the_index, verify_finds_usage_again,
	     verify_keeps_a_damaged_block_with_a_living_pod)

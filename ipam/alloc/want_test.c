/* SPDX-License-Identifier: Apache-2.0 */
/* want_test.c: requested addresses in a pool with blocks: who is asked for which block. */
#include "ipam/testing/blocks.h"
#include "ipam/testing/ipam.h"

#define CONF "{\"pool\":\"rail0\"}"
#define RAIL                                                                                       \
	"{\"subnet\":\"10.1.0.0/24\",\"blockSize\":4,\"cooldown\":0,\"gateway\":\"10.1.0.33\","    \
	"\"excludes\":[\"10.1.0.34\"],\"reserved\":[\"10.1.0.35\"],\"fixedNamespaces\":[\"a\"]}"
#define NS_A "IgnoreUnknown=1;K8S_POD_NAMESPACE=a;IP="

static struct fixture w;
static int64_t since_boot;

static int64_t boottime(void *clock)
{
	(void)clock;
	return since_boot;
}

/* The node has one block, in epoch 3. */
static void open_pool(const char *definition)
{
	fixture_open(&w);
	w.ctx.boottime = boottime;
	since_boot = 100 * SECOND;
	ck_assert_int_eq(w_shared(&w, "rail0", "u1", definition), 0);
	w_node(&w, 3, INT64_MAX);
}

static void open_rail(void)
{
	open_pool(RAIL);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.16", BLOCK_GRANTED, 3), 0);
}

/* ---- the agent ---- */

static unsigned asked;
static char asked_for[64];
static enum { GIVES, GIVES_ANOTHER, HELD } agent;

static const char *of_the_pod; /* the block that the agent gives for an identity */

static int need(const struct ctx *ctx, const struct agent_need *n, struct err *e)
{
	struct block_record r = { .state = BLOCK_GRANTED, .epoch = 3 };

	(void)ctx;
	if (!n->identity)
		return err_set(e, ERR_EXHAUSTED, 0, "any address was needed");
	asked++;
	r.key = w_block_key("rail0", of_the_pod);
	(void)snprintf(r.identity, sizeof(r.identity), "%s", n->identity);
	return blocks_put(&w.m, &r, e);
}

static int need_address(const struct ctx *ctx, const char *pool, struct ip ip, int64_t wait_ms,
			struct err *e)
{
	char text[IP_STR_LEN];

	(void)ctx;
	ck_assert_int_gt(wait_ms, 0);
	ck_assert_str_eq(pool, "rail0");
	asked++;
	(void)snprintf(asked_for, sizeof(asked_for), "%s", ip_format(ip, text));
	if (agent == HELD)
		return err_set(e, ERR_BUSY, 0, "node n2 has it");
	ck_assert_int_eq(
		w_block(&w, "rail0", agent == GIVES ? "10.1.0.32" : "10.1.0.64", BLOCK_GRANTED, 3),
		0);
	return 0;
}

static const char *add(const char *id, const char *args)
{
	const struct alloc_add how = { .need = need, .need_address = need_address };

	asked = 0;
	return w_add_as(&w, how, CONF, id, args);
}

START_TEST(the_agent_is_asked_for_the_block_of_a_requested_address)
{
	open_rail();
	agent = GIVES;
	ck_assert_str_eq(add("c1", NS_A "10.1.0.32"), "10.1.0.32");
	ck_assert_uint_eq(asked, 1);
	ck_assert_str_eq(asked_for, "10.1.0.32");
	/* Of a block that the node has, and again: nobody is asked. */
	ck_assert_str_eq(add("c2", NS_A "10.1.0.18"), "10.1.0.18");
	ck_assert_str_eq(add("c1", NS_A "10.1.0.32"), "10.1.0.32");
	ck_assert_uint_eq(asked, 0);
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

START_TEST(an_address_in_use_here_asks_nobody)
{
	open_rail();
	agent = HELD;
	ck_assert_str_eq(add("c1", NS_A "10.1.0.17"), "10.1.0.17");
	ck_assert_ptr_nonnull(strstr(add("c2", NS_A "10.1.0.17"), "is held by container c1"));
	ck_assert_int_eq((int)w.e.code, ERR_BUSY);
	ck_assert_uint_eq(asked, 0);
	fixture_close(&w);
}
END_TEST

START_TEST(an_address_that_is_never_assigned_asks_nobody)
{
	open_rail();
	agent = GIVES;
	ck_assert_ptr_nonnull(strstr(add("c1", NS_A "10.1.0.33"), "is the gateway of pool rail0"));
	ck_assert_ptr_nonnull(strstr(add("c1", NS_A "10.1.0.34"), "not among its addresses"));
	ck_assert_ptr_nonnull(strstr(add("c1", NS_A "10.1.0.35"), "not among its addresses"));
	ck_assert_ptr_nonnull(strstr(add("c1", NS_A "10.2.0.1"), "in none of the configured"));
	ck_assert_uint_eq(asked, 0);
	ck_assert_str_eq(
		add("c1", "IgnoreUnknown=1;K8S_POD_NAMESPACE=b;IP=10.1.0.32"),
		"!106 pool rail0: namespace \"b\" may not request a certain address; it is "
		"not in the pool's fixedNamespaces");
	ck_assert_uint_eq(asked, 0);
	fixture_close(&w);
}
END_TEST

START_TEST(the_error_of_the_agent_names_the_node)
{
	open_rail();
	agent = HELD;
	ck_assert_str_eq(add("c1", NS_A "10.1.0.32"), "!103 node n2 has it");
	ck_assert_uint_eq(asked, 1);
	/* Nothing else was assigned. */
	ck_assert_uint_eq(w_used(&w, "rail0", "10.1.0.16"), 0);
	fixture_close(&w);
}
END_TEST

/* The block goes away again before it is used: a few times, never another address. */
START_TEST(another_block_is_no_answer)
{
	open_rail();
	agent = GIVES_ANOTHER;
	ck_assert_ptr_nonnull(strstr(add("c1", NS_A "10.1.0.32"), "address 10.1.0.32 of pool rail0 "
								  "is in a block that this node"));
	ck_assert_int_eq((int)w.e.code, ERR_BUSY);
	ck_assert_uint_eq(asked, ALLOC_BLOCK_TRIES);
	fixture_close(&w);
}
END_TEST

/* A pool whose addresses belong to pods: only the block of the pod is asked for. */
START_TEST(a_requested_address_of_a_moving_pool_is_the_one_of_the_pod)
{
	const char *pod = "K8S_POD_NAMESPACE=team-a;K8S_POD_NAME=p0;IP=10.1.0.32";

	open_pool("{\"subnet\":\"10.1.0.0/24\",\"blockSize\":1,\"sticky\":true,"
		  "\"fixedNamespaces\":[\"team-a\"]}");
	of_the_pod = "10.1.0.40";
	ck_assert_ptr_nonnull(strstr(add("c1", pod), "is not the address of this pod"));
	ck_assert_int_eq((int)w.e.code, ERR_BUSY);
	ck_assert_uint_eq(asked, ALLOC_BLOCK_TRIES);
	of_the_pod = "10.1.0.32";
	ck_assert_str_eq(add("c1", pod), "10.1.0.32");
	ck_assert_uint_eq(asked, 1);
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

/* The agent gives each pool's block of the pod, 10.N.0.40. */
static int need_each(const struct ctx *ctx, const struct agent_need *n, struct err *e)
{
	char start[IP_STR_LEN];

	(void)ctx;
	(void)e;
	asked++;
	ck_assert_ptr_nonnull(n->identity);
	(void)snprintf(start, sizeof(start), "10.%c.0.40", n->pool[strlen(n->pool) - 1]);

	struct block_record r = { .key = w_block_key(n->pool, start),
				  .state = BLOCK_GRANTED,
				  .epoch = 3 };

	(void)snprintf(r.identity, sizeof(r.identity), "%s", n->identity);
	return blocks_put(&w.m, &r, &w.e);
}

/* A pod with many rails needs a block of each rail's pool, and all of them in one ADD. */
START_TEST(each_of_many_sticky_pools_gives_its_block)
{
	const struct alloc_add how = { .need = need_each };
	char conf[512] = "{\"pools\":[", want[256] = "", text[128], uid[8], name[8];

	fixture_open(&w);
	w.ctx.boottime = boottime;
	since_boot = 100 * SECOND;
	for (int i = 1; i <= 9; i++) {
		(void)snprintf(name, sizeof(name), "rail%d", i);
		(void)snprintf(uid, sizeof(uid), "u%d", i);
		(void)snprintf(text, sizeof(text),
			       "{\"subnet\":\"10.%d.0.0/24\",\"blockSize\":1,\"sticky\":true}", i);
		ck_assert_int_eq(w_shared(&w, name, uid, text), 0);
		(void)snprintf(text, sizeof(text), "%s[\"%s\"]", i > 1 ? "," : "", name);
		testing_append(conf, sizeof(conf), text);
		(void)snprintf(text, sizeof(text), "%s10.%d.0.40", i > 1 ? " " : "", i);
		testing_append(want, sizeof(want), text);
	}
	testing_append(conf, sizeof(conf), "]}");
	w_node(&w, 3, INT64_MAX);
	asked = 0;
	ck_assert_str_eq(w_add_as(&w, how, conf, "c1", "K8S_POD_NAMESPACE=team-a;K8S_POD_NAME=p0"),
			 want);
	ck_assert_uint_eq(asked, 9);
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

START_TEST(a_node_that_may_not_assign_says_so)
{
	open_rail();
	w_node(&w, 3, 50 * SECOND);
	ck_assert_ptr_nonnull(strstr(w_add(&w, CONF, "c1", NS_A "10.1.0.17"), "!11 pool rail0"));
	fixture_close(&w);
}
END_TEST

TEST_PROGRAM("alloc_want", the_agent_is_asked_for_the_block_of_a_requested_address,
	     an_address_in_use_here_asks_nobody, an_address_that_is_never_assigned_asks_nobody,
	     the_error_of_the_agent_names_the_node, another_block_is_no_answer,
	     a_requested_address_of_a_moving_pool_is_the_one_of_the_pod,
	     each_of_many_sticky_pools_gives_its_block, a_node_that_may_not_assign_says_so)

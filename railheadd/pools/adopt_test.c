/* SPDX-License-Identifier: Apache-2.0 */
/* adopt_test.c: a pool of this node becomes a shared pool, and the cluster says whose blocks.
 */
#include "ipam/lease/adopt.h"
#include "railheadd/testing/driver_ask.h"

#define OWN      "{\"subnet\":\"10.1.0.0/24\",\"ranges\":[\"10.1.0.8-10.1.0.23\"],\"cooldown\":0}"
#define KEYS     "\"subnet\":\"10.1.0.0/24\",\"blockSize\":8,\"cooldown\":0"
#define ADOPTING "{" KEYS ",\"state\":\"adopting\"}"
#define OPEN     "{" KEYS "}"
#define CONF     "{\"pool\":\"rail0\"}"
#define BLOCK    "rail0-0000000000000000000000000a010008"
#define OTHERS(more)                                                                               \
	"{\"poolUID\":\"uid-1\",\"node\":\"n2\",\"holder\":\"h\",\"token\":\"0000000000000001\","  \
	"\"touched\":1,\"used\":1" more "}"

static bool block_says(const void *arg)
{
	auto_free char *text = memory_store_text(b.store, CLUSTER_BLOCK, BLOCK);

	return text && strstr(text, arg) != NULL;
}

static void begin_adopting(void)
{
	begin();
	ck_assert_int_eq(w_pool(&w, "rail0", OWN, false), 0);
	ck_assert_str_eq(w_add(&w, CONF, "a", "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=web"), "10.1.0.8");
}

/* The agent reports that the block of the lease is its own, and the pod keeps its address. */
static void run_until_adopted(void)
{
	pool("rail0", ADOPTING);
	begin_driver();
	ready();
	loop_until(b.base, node_says, "\"name\":\"rail0\",\"uid\":\"uid-1\",\"generation\":1}");
	ck_assert(block_says("\"node\":\"n1\""));
	ck_assert_str_eq(w_add(&w, CONF, "a", ""), "10.1.0.8");
}

static bool may_assign(const void *arg)
{
	return *w_add(&w, CONF, arg, "") != '!';
}

static int open_at(int64_t generation, struct outcome *o)
{
	const struct ask_end done = { change_done, o };
	struct err e;

	*o = (struct outcome){ .done = false };
	if (!pool_change_open(b.driver, "rail0", generation, &done, &e))
		change_done(o, NULL, &e);
	loop_until(b.base, is_done, o);
	return (int)o->why.code;
}

START_TEST(leases_become_blocks_of_this_node)
{
	struct outcome o;

	begin_adopting();
	run_until_adopted();
	loop_until(b.base, may_assign, "b");
	ck_assert_int_eq(strncmp(w_add(&w, CONF, "b", ""), "10.1.0.", 7), 0);
	/* Only that one: nothing is claimed ahead. */
	ck_assert_uint_eq(w_used(&w, "rail0", "10.1.0.8"), 2);
	ck_assert_int_eq(open_at(7, &o), ERR_AGAIN);
	ck_assert_int_eq(change("rail0", OPEN, &o), ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(o.why.detail, "railctl cluster pool open rail0"));
	ck_assert_int_eq(open_at(1, &o), 0);
	loop_until(b.base, node_says, "\"name\":\"rail0\",\"uid\":\"uid-1\",\"generation\":2}");
	ck_assert_int_eq(change("rail0", ADOPTING, &o), ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(o.why.msg, "cannot begin to adopt"));
	w_sound(&w);
	end();
}
END_TEST

START_TEST(a_block_of_another_node_is_named)
{
	begin_adopting();
	pool("rail0", ADOPTING);
	memory_store_put(b.store, CLUSTER_BLOCK, BLOCK, "n2", OTHERS(""));
	begin_driver();
	ready();
	loop_until(b.base, node_says, "\"waits\":\"it claims 1 blocks of its leases\"");
	loop_until(b.base, block_says, "\"contested\":true");
	/* The other node answers that its pods live in it, too. */
	auto_free char *text = memory_store_text(b.store, CLUSTER_BLOCK, BLOCK);
	char *at = strstr(text, "\"contested\":true");
	char kept[1024];

	(void)snprintf(kept, sizeof(kept), "%.*s\"kept\":true,%s", (int)(at - text), text, at);
	memory_store_put(b.store, CLUSTER_BLOCK, BLOCK, "n2", kept);
	loop_until(b.base, node_says,
		   "\"waits\":\"n2 has the block from 10.1.0.8 to 10.1.0.15; pods that live in "
		   "it: ns/web (net1 10.1.0.8)\"");
	ck_assert_str_eq(w_add(&w, CONF, "a", ""), "10.1.0.8");
	w_del(&w, "a");
	driver_look(b.driver);
	loop_until(b.base, node_says, "\"name\":\"rail0\",\"uid\":\"uid-1\",\"generation\":1}");
	w_sound(&w);
	end();
}
END_TEST

START_TEST(a_node_without_the_pool_reports_at_once)
{
	begin();
	pool("rail0", ADOPTING);
	begin_driver();
	ready();
	loop_until(b.base, node_says, "\"name\":\"rail0\",\"uid\":\"uid-1\",\"generation\":1}");
	ck_assert_int_eq(*w_add(&w, CONF, "a", ""), '!');
	pool("rail0", OPEN);
	loop_until(b.base, may_assign, "a");
	end();
}
END_TEST

static uint64_t token(void *arg)
{
	(void)arg;
	return 7;
}

/* The agent died when the leases were moved, and had claimed nothing. */
START_TEST(an_agent_that_begins_again_goes_on)
{
	auto_json struct json *definition = NULL;
	struct shared_pool_def def = { .name = "rail0", .uid = "uid-1", .generation = 1 };
	struct pool_adopt a = { .def = &def, .random = token };
	struct err e;

	begin_adopting();
	ck_assert_int_eq(json_parse(ADOPTING, strlen(ADOPTING), "d", &definition, &e), 0);
	def.definition = definition;
	ck_assert_msg(pool_adopt(&w.m, &a, &e) == 0, "%s", e.msg);
	ck_assert(a.moved);
	json_free(a.local);
	run_until_adopted();
	w_sound(&w);
	end();
}
END_TEST

TEST_PROGRAM("pool_adopt", leases_become_blocks_of_this_node, a_block_of_another_node_is_named,
	     a_node_without_the_pool_reports_at_once, an_agent_that_begins_again_goes_on)

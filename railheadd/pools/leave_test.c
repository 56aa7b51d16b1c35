/* SPDX-License-Identifier: Apache-2.0 */
/* leave_test.c: a shared pool becomes a pool of this node with slices, and its blocks go. */
#include <sys/stat.h>

#include "ipam/block/object_json.h"
#include "ipam/lease/leave.h"
#include "railheadd/testing/driver_ask.h"

#define KEYS    "\"subnet\":\"10.1.0.0/24\",\"blockSize\":8,\"warm\":1,\"cooldown\":0"
#define SLICE   ",\"slice\":{\"size\":16}"
#define OPEN    "{" KEYS "}"
#define LEAVING "{" KEYS SLICE ",\"state\":\"leaving\"}"
#define CLOSED  "{" KEYS SLICE ",\"state\":\"closed\"}"
#define CONF    "{\"pool\":\"rail0\"}"
#define INSIDE  "rail0-0000000000000000000000000a010010"
#define OUTSIDE "rail0-0000000000000000000000000a010040"
#define DONE(g) "\"name\":\"rail0\",\"uid\":\"uid-1\",\"generation\":" #g ",\"number\":1}"

static void number(const char *text)
{
	testing_file("/mnt/etc/node.json", 0600, text);
	if (b.driver)
		driver_look(b.driver);
}

static bool may_assign(const void *arg)
{
	return *w_add(&w, CONF, arg, "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=web") != '!';
}

static bool has_address(const void *arg)
{
	char args[96];

	(void)snprintf(args, sizeof(args), "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=web;IP=%s",
		       (const char *)arg);
	return strcmp(w_add(&w, CONF, arg, args), arg) == 0;
}

static bool has_block(const void *arg)
{
	return memory_store_has(b.store, CLUSTER_BLOCK, arg);
}

static bool lacks_block(const void *arg)
{
	return !has_block(arg);
}

/* A block of this node in both stores, confirmed in epoch 0: the agent confirms it. */
static void own(const char *name, const char *start)
{
	memory_store_put(b.store, CLUSTER_BLOCK, name, "n1",
			 "{\"poolUID\":\"uid-1\",\"node\":\"n1\",\"holder\":\"holder\",\"token\":"
			 "\"0000000000000007\",\"touched\":1,\"used\":0}");
	ck_assert_int_eq(w_block(&w, "rail0", start, BLOCK_GRANTED, 0), 0);
}

/* Slice 1 is from 16 to 31. The node has a block of it, and one from 64 with the pod of 64. */
static void begin_open(const char *node_json)
{
	begin();
	w.ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(mkdir("/mnt/etc", 0755), 0);
	number(node_json);
	ck_assert_int_eq(w_shared(&w, "rail0", "uid-1", OPEN), 0);
	w_node(&w, 3, INT64_MAX);
	pool("rail0", OPEN);
	own(INSIDE, "10.1.0.16");
	own(OUTSIDE, "10.1.0.64");
	begin_driver();
	ready();
	loop_until(b.base, has_address, "10.1.0.16");
	loop_until(b.base, has_address, "10.1.0.64");
}

static int close_at(int64_t generation, struct outcome *o)
{
	const struct pool_step step = { "rail0", generation, POOL_CLOSED };
	const struct pool_change_end done = { change_done, o };
	struct err e;

	*o = (struct outcome){ .done = false };
	if (!pool_change_step(b.driver, &step, &done, &e))
		change_done(o, &e, false);
	loop_until(b.base, is_done, o);
	return (int)o->why.code;
}

static bool is_of_the_node(const void *arg)
{
	auto_json struct json *list = NULL;
	struct err e;

	(void)arg;
	ck_assert_int_eq(admin_pools(&w.m, "rail0", &list, &e), 0);
	return strcmp(json_str(json_get(json_first(list), "from")), "node") == 0;
}

START_TEST(a_pool_leaves_when_its_pods_are_in_the_slice)
{
	struct outcome o;

	begin_open("{\"number\":1}");
	ck_assert_int_eq(change("rail0", LEAVING, &o), 0);
	loop_until(b.base, node_says,
		   "\"generation\":2,\"waits\":\"1 leased address outside of slice 1 "
		   "(10.1.0.16-10.1.0.31): 10.1.0.64 (ns/web)\",\"number\":1}");
	ck_assert(has_address("10.1.0.64"));
	ck_assert_str_eq(w_add(&w, CONF, "more", ""), "10.1.0.17");
	/* The block goes with its last pod. */
	w_del(&w, "10.1.0.64");
	driver_look(b.driver);
	loop_until(b.base, node_says, DONE(2));
	loop_until(b.base, lacks_block, OUTSIDE);
	ck_assert_int_eq(close_at(1, &o), ERR_AGAIN);
	ck_assert_int_eq(close_at(2, &o), 0);
	loop_until(b.base, node_says, DONE(3));
	ck_assert(is_of_the_node(NULL) && !has_block(INSIDE));
	ck_assert(has_address("10.1.0.16"));
	w_sound(&w);
	ck_assert_int_eq(change("rail0", OPEN, &o), ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(o.why.msg, "it is closed"));
	ck_assert_int_eq(change("rail0", NULL, &o), 0);
	ck_assert(has_address("10.1.0.16"));
	ck_assert_str_eq(w_add(&w, CONF, "last", ""), "10.1.0.18");
	w_sound(&w);
	end();
}
END_TEST

START_TEST(a_node_without_a_number_says_so)
{
	struct outcome o;

	begin_open("{\"labels\":{\"a\":\"b\"}}");
	ck_assert_int_eq(change("rail0", LEAVING, &o), 0);
	loop_until(b.base, node_says, "has no number, and a slice of the pool needs one");
	ck_assert(!may_assign("a"));
	ck_assert_uint_eq(w_used(&w, "rail0", "10.1.0.16"), 1);
	number("{\"number\":99}");
	loop_until(b.base, node_says, "the node's number 99 is outside of the pool");
	number("{\"number\":1}");
	loop_until(b.base, node_says, "1 leased address outside of slice 1");
	loop_until(b.base, may_assign, "a");
	w_sound(&w);
	end();
}
END_TEST

/* Also after the slice was in force. */
START_TEST(a_pool_that_is_not_closed_keeps_its_blocks)
{
	struct outcome o;

	begin_open("{\"number\":1}");
	ck_assert_int_eq(change("rail0", LEAVING, &o), 0);
	loop_until(b.base, node_says, "outside of slice 1");
	ck_assert_int_eq(change("rail0", CLOSED, &o), ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(o.why.detail, "railctl cluster pool close rail0"));
	ck_assert_int_eq(change("rail0", OPEN, &o), 0);
	loop_until(b.base, node_says, "\"name\":\"rail0\",\"uid\":\"uid-1\",\"generation\":3}");
	loop_until(b.base, has_address, "10.1.0.65");
	ck_assert_int_eq(change("none",
				"{\"subnet\":\"10.9.0.0/24\",\"blockSize\":8" SLICE
				",\"state\":\"leaving\"}",
				&o),
			 ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(o.why.msg, "has no pool of this name"));
	w_sound(&w);
	end();
}
END_TEST

/* The pool was closed while its agent was away, and a pod is outside all the same. */
START_TEST(a_closed_pool_assigns_nothing_before_the_last_pod_outside)
{
	begin_open("{\"number\":1}");
	pool("rail0", CLOSED);
	loop_until(b.base, node_says, "\"generation\":2,\"waits\":\"1 leased address outside");
	ck_assert(!may_assign("b") && has_address("10.1.0.64"));
	w_del(&w, "10.1.0.64");
	driver_look(b.driver);
	loop_until(b.base, node_says, DONE(2));
	ck_assert(is_of_the_node(NULL));
	loop_until(b.base, may_assign, "b");
	w_sound(&w);
	end();
}
END_TEST

/* The agent died when the node had left the pool, and had given back no block. */
START_TEST(an_agent_that_begins_again_gives_the_blocks_back)
{
	begin();
	w.ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(mkdir("/mnt/etc", 0755), 0);
	number("{\"number\":1}");
	ck_assert_int_eq(w_shared(&w, "rail0", "uid-1", OPEN), 0);
	w_node(&w, 3, INT64_MAX);
	pool("rail0", CLOSED);
	own(INSIDE, "10.1.0.16");
	own(OUTSIDE, "10.1.0.64");

	auto_json struct json *definition = NULL;
	struct shared_pool_def def = { .name = "rail0", .uid = "uid-1", .generation = 1 };
	struct pool_leave p = { .def = &def };
	struct err e;

	ck_assert_int_eq(json_parse(CLOSED, strlen(CLOSED), "d", &definition, &e), 0);
	def.definition = definition;
	ck_assert_int_eq(pool_leave(&w.m, &p, &e), 0);
	ck_assert(p.left);
	begin_driver();
	ready();
	loop_until(b.base, node_says, DONE(1));
	ck_assert(!has_block(INSIDE) && !has_block(OUTSIDE));
	ck_assert(may_assign("a"));
	w_sound(&w);
	end();
}
END_TEST

START_TEST(a_new_node_gets_the_slices)
{
	begin();
	w.ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(mkdir("/mnt/etc", 0755), 0);
	number("{\"number\":1}");
	pool("rail0", CLOSED);
	begin_driver();
	ready();
	loop_until(b.base, node_says, DONE(1));
	ck_assert_str_eq(w_add(&w, CONF, "a", ""), "10.1.0.16");
	memory_store_delete(b.store, CLUSTER_POOL, "rail0");
	loop_until(b.base, node_says, "\"pools\":[]");
	ck_assert_str_eq(w_add(&w, CONF, "b", ""), "10.1.0.17");
	end();
}
END_TEST

/* An ask of node n2 for any address of a block of this node. */
static void ask_for_a_loan(const char *name)
{
	auto_free char *value = memory_store_text(b.store, CLUSTER_BLOCK, name);
	auto_json struct json *block = NULL;
	auto_free char *text = NULL;
	struct block is;
	struct err e;

	ck_assert_int_eq(json_parse(value, strlen(value), "block", &block, &e), 0);
	ck_assert_int_eq(block_from_json(block, "block", &is, &e), 0);
	is.asker = (struct block_party){ "n2", "holder2", 5 };
	is.asks_one = LOAN_ANY;
	auto_json struct json *asked = block_to_json(&is);
	text = json_print(asked, false);
	memory_store_put(b.store, CLUSTER_BLOCK, name, "n1", text);
}

static bool is_answered(const void *name)
{
	auto_free char *value = memory_store_text(b.store, CLUSTER_BLOCK, name);

	return !strstr(value, "\"ask\"");
}

static bool has_lent(const char *name)
{
	auto_free char *value = memory_store_text(b.store, CLUSTER_BLOCK, name);

	return strstr(value, "\"loans\"") != NULL;
}

START_TEST(a_pool_that_leaves_lends_nothing)
{
	struct outcome o;

	begin_open("{\"number\":1}");
	ask_for_a_loan(OUTSIDE);
	loop_until(b.base, is_answered, OUTSIDE);
	ck_assert(has_lent(OUTSIDE));
	ck_assert_int_eq(change("rail0", LEAVING, &o), 0);
	loop_until(b.base, node_says, "\"generation\":2");
	ask_for_a_loan(INSIDE);
	loop_until(b.base, is_answered, INSIDE);
	ck_assert(!has_lent(INSIDE));
	/* What was lent before holds the node, and so does the block, when its pods have ended. */
	w_del(&w, "10.1.0.64");
	driver_look(b.driver);
	loop_until(b.base, node_says,
		   "\"waits\":\"1 address is lent to other nodes: 10.1.0.65 to node n2\"");
	ck_assert(has_block(OUTSIDE));
	end();
}
END_TEST

TEST_PROGRAM("pool_leave", a_pool_that_leaves_lends_nothing,
	     a_pool_leaves_when_its_pods_are_in_the_slice, a_node_without_a_number_says_so,
	     a_pool_that_is_not_closed_keeps_its_blocks,
	     a_closed_pool_assigns_nothing_before_the_last_pod_outside,
	     an_agent_that_begins_again_gives_the_blocks_back, a_new_node_gets_the_slices)

/* SPDX-License-Identifier: Apache-2.0 */
/* leave_test.c: a shared pool becomes a pool of one node with slices, under leases that live. */
#include "ipam/lease/leave.h"

#include <sys/stat.h>
#include <unistd.h>

#include "ipam/testing/blocks.h"
#include "ipam/testing/ipam.h"
#include "lib/testing/alloc.h"

#define CONF    "{\"pool\":\"rail0\"}"
#define KEYS    "\"subnet\":\"10.1.0.0/24\",\"blockSize\":8,\"warm\":4,\"cooldown\":60"
#define SLICE   ",\"slice\":{\"size\":16}"
#define OPEN    "{" KEYS "}"
#define LEAVING "{" KEYS SLICE ",\"state\":\"leaving\"}"
#define CLOSED  "{" KEYS SLICE ",\"state\":\"closed\"}"

static struct fixture w;

static void number(const char *text)
{
	testing_file("/mnt/etc/node.json", 0600, text);
}

/* Slice 1 is from 16 to 31. Of the two blocks, that from 64 is outside of it. */
static void begin(void)
{
	fixture_open(&w);
	w.ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(mkdir("/mnt/etc", 0700), 0);
	number("{\"number\":1}");
	ck_assert_int_eq(w_shared(&w, "rail0", "u1", OPEN), 0);
	w_node(&w, 3, INT64_MAX);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.16", BLOCK_GRANTED, 3), 0);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.64", BLOCK_GRANTED, 3), 0);
}

static const char *add(const char *id, const char *ip)
{
	char args[128];

	(void)snprintf(args, sizeof(args), "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=%s%s%s", id,
		       *ip ? ";IP=" : "", ip);
	return w_add(&w, CONF, id, args);
}

/* 16 and 17 live, 18 cools down; the pods "old" and "older" are outside of the slice. */
static void begin_pods(void)
{
	begin();
	ck_assert_str_eq(add("a", "10.1.0.16"), "10.1.0.16");
	ck_assert_str_eq(add("b", "10.1.0.17"), "10.1.0.17");
	ck_assert_str_eq(add("c", "10.1.0.18"), "10.1.0.18");
	ck_assert_str_eq(add("old", "10.1.0.64"), "10.1.0.64");
	ck_assert_str_eq(add("older", "10.1.0.66"), "10.1.0.66");
	w_del(&w, "c");
	ck_assert_int_eq(w_shared(&w, "rail0", "u1", LEAVING), 0);
}

/* 0, or the error's code. */
static int leave_as(const char *uid, const char *def, const char *reserved, struct pool_leave *p)
{
	auto_json struct json *tree = NULL, *list = NULL;
	struct shared_pool_def d = { .name = "rail0", .uid = uid, .generation = 5 };

	if (json_parse(def, strlen(def), "def", &tree, &w.e) ||
	    (reserved && json_parse(reserved, strlen(reserved), "r", &list, &w.e)))
		return (int)w.e.code;
	d.definition = tree;
	d.reserved = list;

	struct pool_leave one = { .def = &d };
	int rc = pool_leave(&w.m, &one, &w.e);

	one.def = NULL;
	*p = one;
	return rc ? (int)w.e.code : 0;
}

static int leave(struct pool_leave *p)
{
	return leave_as("u1", CLOSED, NULL, p);
}

static char *leases(void)
{
	const struct lease_filter all = { .resting = false };
	auto_json struct json *list = NULL;

	ck_assert_int_eq(admin_leases(&w.m, &all, &list, &w.e), 0);
	return json_print(list, false);
}

static const char *outside(struct pool_outside *o)
{
	static char text[256];

	ck_assert_msg(pool_outside(&w.m, "rail0", o, &w.e) == 0, "%s", w.e.msg);
	pool_outside_explain(o, text, sizeof(text));
	return text;
}

static char *definition(void)
{
	auto_json struct json *list = NULL;

	ck_assert_int_eq(admin_pools(&w.m, "rail0", &list, &w.e), 0);
	ck_assert_str_eq(json_str(json_get(json_first(list), "from")), "node");
	return json_print(json_get(json_first(list), "definition"), false);
}

START_TEST(pods_outside_of_the_slice_are_named_until_they_end)
{
	struct pool_outside o;

	begin_pods();
	ck_assert_str_eq(outside(&o),
			 "2 leased addresses outside of slice 1 (10.1.0.16-10.1.0.31): 10.1.0.64 "
			 "(ns/old), 10.1.0.66 (ns/older)");
	ck_assert_int_eq(o.until, INT64_MAX);
	w_del(&w, "older");
	ck_assert_ptr_nonnull(strstr(outside(&o), "1 leased address outside"));
	ck_assert_int_eq(o.until, w.now + 60 * SECOND);
	w_del(&w, "old");
	ck_assert_ptr_nonnull(strstr(outside(&o), "2 addresses outside of slice 1"));
	w.now += 60 * SECOND;
	ck_assert_str_eq(outside(&o), "");
	ck_assert_uint_eq(o.number, 1);
	ck_assert_int_eq(o.until, INT64_MAX);
	fixture_close(&w);
}
END_TEST

START_TEST(without_a_number_all_leases_are_outside)
{
	struct pool_outside o;

	begin_pods();
	ck_assert_int_eq(unlink("/mnt/etc/node.json"), 0);
	ck_assert_ptr_nonnull(strstr(outside(&o), "4 leased addresses which need a slice: "));
	ck_assert_msg(strstr(o.no_slice.msg, "no number") != NULL, "%s", o.no_slice.msg);
	number("{\"number\":16}");
	ck_assert_ptr_nonnull(strstr(outside(&o), "4 leased addresses"));
	ck_assert_ptr_nonnull(strstr(o.no_slice.msg, "16 is outside of the pool"));
	fixture_close(&w);
}
END_TEST

START_TEST(leases_stay_and_blocks_go)
{
	auto_free char *before = NULL, *after = NULL, *def = NULL;
	struct pool_leave p;

	begin_pods();
	ck_assert_int_eq(leave(&p), 0);
	ck_assert(!p.left);
	w_del(&w, "old");
	w_del(&w, "older");
	ck_assert_int_eq(leave(&p), 0);
	ck_assert_msg(!p.left, "10.1.0.64 and 10.1.0.66 cool down");
	w.now += 59 * SECOND;
	w_del(&w, "b");
	w.now += 2 * SECOND;
	before = leases();
	ck_assert_int_eq(leave(&p), 0);
	ck_assert(p.left && p.moved);
	w_sound(&w);
	after = leases();
	ck_assert_str_eq(after, before);
	def = definition();
	ck_assert_str_eq(def,
			 "{\"subnet\":\"10.1.0.0/24\",\"cooldown\":60,\"slice\":{\"size\":16}}");
	/* Again, as after a restart of the agent. */
	ck_assert_int_eq(leave(&p), 0);
	ck_assert(p.left && !p.moved);
	ck_assert_str_eq(add("a", ""), "10.1.0.16");
	/* 17 still cools down, and 18 has rested. */
	ck_assert_str_eq(add("d", ""), "10.1.0.19");
	for (int i = 20; i < 32; i++) {
		char id[8];

		(void)snprintf(id, sizeof(id), "n%d", i);
		ck_assert_int_eq(*add(id, ""), '1');
	}
	ck_assert_str_eq(add("e", ""), "10.1.0.18");
	ck_assert_str_eq(add("f", ""), "10.1.0.17");
	ck_assert_int_eq(*add("g", ""), '!');
	w_sound(&w);
	w_del(&w, "a");
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

static struct block_record record(const char *start, uint32_t one)
{
	struct block_record r = { .key = w_block_key("rail0", start), .token = 9, .epoch = 3 };

	r.key.one = one;
	r.state = BLOCK_GRANTED;
	return r;
}

/* Also in the slice: the block has another owner, who must hear that it has come back. */
START_TEST(an_address_that_another_node_lends_is_given_back_first)
{
	struct block_record r = record("10.1.0.24", 2);
	struct pool_outside o;
	struct pool_leave p;

	begin();
	ck_assert_int_eq(blocks_put(&w.m, &r, &w.e), 0);
	ck_assert_str_eq(add("a", "10.1.0.25"), "10.1.0.25");
	ck_assert_int_eq(w_shared(&w, "rail0", "u1", LEAVING), 0);
	ck_assert_str_eq(outside(&o), "1 address is lent by other nodes: 10.1.0.25");
	ck_assert_int_eq(leave(&p), 0);
	ck_assert(!p.left);
	w_del(&w, "a");
	w.now += 61 * SECOND;
	ck_assert_str_eq(outside(&o), "1 address is lent by other nodes: 10.1.0.25");
	ck_assert_int_eq(blocks_retire(&w.m, &r.key, &w.e), 0);
	ck_assert_str_eq(outside(&o), "1 address is lent by other nodes: 10.1.0.25");
	ck_assert_int_eq(blocks_drop(&w.m, &r.key, &w.e), 0);
	ck_assert_str_eq(outside(&o), "");
	ck_assert_int_eq(leave(&p), 0);
	ck_assert(p.left);
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

START_TEST(a_lent_address_comes_back_first)
{
	const struct block_party to = { "n2", "holder2", 11 };
	struct block_record r = record("10.1.0.16", 0);
	const struct blocks_loan want = { &r.key, 3, &to };
	struct pool_outside o;
	struct pool_leave p;
	struct loan loan;

	begin();
	ck_assert_int_eq(blocks_lend(&w.m, &want, &loan, &w.e), 0);
	ck_assert_int_eq(w_shared(&w, "rail0", "u1", LEAVING), 0);
	ck_assert_str_eq(outside(&o), "1 address is lent to other nodes: 10.1.0.18 to node n2");
	ck_assert_int_eq(leave(&p), 0);
	ck_assert(!p.left);
	ck_assert_int_eq(w_retire(&w, "rail0", "10.1.0.16"), 1);
	ck_assert_int_eq(blocks_put_loans(&w.m, &r, &(struct lending){ .key = r.key }, &w.e), 0);
	ck_assert_str_eq(outside(&o), "");
	ck_assert_int_eq(leave(&p), 0);
	ck_assert(p.left);
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

START_TEST(a_new_node_gets_the_slices)
{
	auto_free char *def = NULL;
	struct pool_leave p;

	fixture_open(&w);
	w.ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(mkdir("/mnt/etc", 0700), 0);
	ck_assert_int_eq(leave_as("u1", CLOSED, "[\"10.1.0.16\",\"10.1.0.32/28\"]", &p), 0);
	ck_assert(p.left && p.moved);
	def = definition();
	ck_assert_str_eq(def, "{\"subnet\":\"10.1.0.0/24\",\"cooldown\":60,\"slice\":{\"size\":16},"
			      "\"reserved\":[\"10.1.0.16\",\"10.1.0.32/28\"]}");
	ck_assert_ptr_nonnull(strstr(add("a", ""), "has no number"));
	number("{\"number\":1}");
	ck_assert_str_eq(add("a", ""), "10.1.0.17");
	fixture_close(&w);
}
END_TEST

/* A node that the pool was not for has no number, and had no pod. */
START_TEST(a_node_without_a_number_and_without_leases_leaves)
{
	struct pool_leave p;

	begin();
	number("{}");
	ck_assert_str_eq(add("a", ""), "10.1.0.16");
	w_del(&w, "a");
	w.now += 61 * SECOND;
	ck_assert_int_eq(leave(&p), 0);
	ck_assert(p.left);
	w_sound(&w);
	number("{\"number\":1}");
	ck_assert_str_eq(add("a", ""), "10.1.0.16");
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

START_TEST(what_would_overlap_is_refused)
{
	struct pool_leave p;

	begin();
	ck_assert_int_eq(leave_as("u2", CLOSED, NULL, &p), ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "with uid u1"));
	ck_assert(!p.left);
	ck_assert_int_eq(leave_as("u1", "{" KEYS ",\"state\":\"closed\"}", NULL, &p), ERR_CONFIG);
	fixture_close(&w);

	fixture_open(&w);
	ck_assert_int_eq(
		w_pool(&w, "rail0", "{\"subnet\":\"10.1.0.0/24\",\"slice\":{\"size\":8}}", false),
		0);
	ck_assert_int_eq(leave(&p), ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "a pool of this node alone has this name"));
	ck_assert_ptr_nonnull(strstr(w.e.detail, "other slices"));
	fixture_close(&w);

	fixture_open(&w);
	ck_assert_int_eq(
		w_pool(&w, "rail1", "{\"subnet\":\"10.1.0.0/24\",\"slice\":{\"size\":8}}", false),
		0);
	ck_assert_int_eq(leave(&p), ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "overlaps with pool rail1"));
	fixture_close(&w);
}
END_TEST

static int leave_once(void *arg, struct err *e)
{
	struct pool_leave p;
	int rc = leave(&p);

	(void)arg;
	if (rc)
		*e = w.e;
	else
		ck_assert(p.left);
	return rc;
}

static int count_once(void *arg, struct err *e)
{
	struct pool_outside o;

	(void)arg;
	return pool_outside(&w.m, "rail0", &o, e);
}

/* Whatever fails, the leases are as before, and the next try succeeds. */
START_TEST(memory_fails)
{
	auto_free char *before = NULL, *after = NULL;

	begin_pods();
	ck_assert_str_eq(alloc_fail_each(count_once, NULL), "ok");
	w_del(&w, "old");
	w_del(&w, "older");
	w.now += 61 * SECOND;
	before = leases();
	ck_assert_str_eq(alloc_fail_each(leave_once, NULL), "ok");
	after = leases();
	ck_assert_str_eq(after, before);
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

TEST_PROGRAM("leave", pods_outside_of_the_slice_are_named_until_they_end,
	     without_a_number_all_leases_are_outside, leases_stay_and_blocks_go,
	     an_address_that_another_node_lends_is_given_back_first,
	     a_lent_address_comes_back_first, a_new_node_gets_the_slices,
	     a_node_without_a_number_and_without_leases_leaves, what_would_overlap_is_refused,
	     memory_fails)

/* SPDX-License-Identifier: Apache-2.0 */
/* seen_test.c: which blocks of other pools are in the way of a pool, and with which advice. */
#include "railheadd/pools/seen.h"

#include <stdio.h>

#include "lib/testing/testing.h"

#define OWNED  "{\"node\":\"n2\",\"holder\":\"h\",\"token\":\"0000000000000007\"}"
#define MARKED "{\"probe\":true}"
#define FREE   "{}"
#define LENT_TO(more, marks)                                                                       \
	"{\"token\":\"+\"," more "\"loans\":[{\"at\":1,\"node\":\"n3\",\"taken\":true" marks "}]}"
#define LENT        LENT_TO("", "")
#define LENT_MARKED LENT_TO("\"probe\":true,", "")
#define RETURNED    LENT_TO("", ",\"returned\":true")

static struct ip_prefix net(const char *text)
{
	struct ip_prefix p;

	ck_assert_int_eq(ip_parse_prefix(text, &p), 0);
	return p;
}

static struct pool_seen seen(const char *definition)
{
	struct cluster_object o = { .kind = CLUSTER_POOL, .name = "rail0" };
	auto_json struct json *value = NULL;
	struct pool_seen p;
	struct err e;

	ck_assert_int_eq(json_parse(definition, strlen(definition), "test", &value, &e), 0);
	o.value = value;
	pool_seen_read(&o, &p);
	return p;
}

static bool overlaps(const char *a, const char *b)
{
	struct pool_seen pa = seen(a), pb = seen(b);

	ck_assert(pool_seen_overlaps(&pa, &pb) == pool_seen_overlaps(&pb, &pa));
	return pool_seen_overlaps(&pa, &pb);
}

START_TEST(pools_overlap_if_one_subnet_is_in_the_other)
{
	ck_assert(overlaps("{\"subnet\":\"10.0.0.0/8\"}", "{\"subnet\":\"10.1.0.0/16\"}"));
	ck_assert(overlaps("{\"subnet\":\"10.0.0.0/8\"}", "{\"subnet\":\"10.0.0.0/8\"}"));
	ck_assert(!overlaps("{\"subnet\":\"10.0.0.0/16\"}", "{\"subnet\":\"10.1.0.0/16\"}"));
	ck_assert(!overlaps("{\"subnet\":\"10.0.0.0/16\"}", "{\"subnet\":\"fd00::/64\"}"));
}
END_TEST

START_TEST(a_pool_without_a_readable_subnet_overlaps_none)
{
	static const char all[] = "{\"subnet\":\"0.0.0.0/0\"}";

	ck_assert(!overlaps("{}", all));
	ck_assert(!overlaps("{\"subnet\":7}", all));
	ck_assert(!overlaps("{\"subnet\":\"rail\"}", all));
	ck_assert(!overlaps("{}", "{}"));
}
END_TEST

static bool is_of_new_pool(const void *arg, const char *pool, const struct json *value)
{
	(void)value;
	return strcmp(pool, arg) == 0;
}

/* Does a block of this name clash with the pool "new" in this subnet? */
static bool clashes(const char *name, const char *subnet, const char *text, struct err *why)
{
	struct cluster_object o = { .kind = CLUSTER_BLOCK };
	auto_json struct json *value = NULL;

	*why = (struct err){ .code = 0 };
	ck_assert_int_eq(json_parse(text, strlen(text), "test", &value, why), 0);
	(void)snprintf(o.name, sizeof(o.name), "%s", name);
	o.value = value;
	return block_clashes(&o, net(subnet), is_of_new_pool, "new", why);
}

START_TEST(an_owned_block_of_another_pool_is_in_the_way)
{
	static const char block[] = "old-0000000000000000000000000a010010";
	struct err why;

	ck_assert(clashes(block, "10.1.0.0/24", OWNED, &why));
	ck_assert_int_eq(why.code, ERR_BUSY);
	ck_assert_msg(strstr(why.msg, "node n2 has block old-"), "%s", why.msg);
	ck_assert_msg(strstr(why.detail, "another subnet"), "%s", why.detail);
	ck_assert(!clashes(block, "10.2.0.0/24", OWNED, &why));
	ck_assert(!clashes(block, "fd00::/64", OWNED, &why));
	ck_assert(!clashes("new-0000000000000000000000000a010010", "10.1.0.0/24", OWNED, &why));
	ck_assert(!clashes("no-block", "10.1.0.0/24", OWNED, &why));
}
END_TEST

/* Its pool is gone, so the block is as large as its start allows: here 65,536 addresses. */
START_TEST(a_block_that_begins_before_the_subnet_may_reach_into_it)
{
	static const char block[] = "old-0000000000000000000000000a010000";
	struct err why;

	ck_assert(clashes(block, "10.1.128.0/24", OWNED, &why));
	ck_assert(!clashes(block, "10.2.0.0/24", OWNED, &why));
	ck_assert(!clashes("old-0000000000000000000000000a010010", "10.1.0.32/27", OWNED, &why));
}
END_TEST

START_TEST(a_marked_or_damaged_block_is_in_the_way_and_a_free_one_is_not)
{
	static const char block[] = "old-0000000000000000000000000a010010";
	struct err why;

	ck_assert(!clashes(block, "10.1.0.0/24", FREE, &why));
	ck_assert(clashes(block, "10.1.0.0/24", MARKED, &why));
	ck_assert_msg(strstr(why.msg, "from a node that may live"), "%s", why.msg);
	ck_assert_msg(strstr(why.detail, "delete the block's object"), "%s", why.detail);
	ck_assert(clashes(block, "10.1.0.0/24", "{\"node\":7}", &why));
	ck_assert_msg(strstr(why.msg, "node (unknown) has block"), "%s", why.msg);
}
END_TEST

/* The node that had it is dead, and its loans stay. */
START_TEST(a_free_block_is_in_the_way_while_a_borrower_has_an_address)
{
	static const char block[] = "old-0000000000000000000000000a010010";
	struct err why;

	for (unsigned marked = 0; marked < 2; marked++) {
		ck_assert(clashes(block, "10.1.0.0/24", marked ? LENT_MARKED : LENT, &why));
		ck_assert_msg(strstr(why.msg, "node n3 has an address of block old-"), "%s",
			      why.msg);
		ck_assert_msg(strstr(why.detail, "cluster node forget n3"), "%s", why.detail);
		ck_assert_ptr_null(strstr(why.detail, "delete"));
	}
	ck_assert(!clashes(block, "10.1.0.0/24", RETURNED, &why));
}
END_TEST

TEST_PROGRAM("railheadd/pools/seen", pools_overlap_if_one_subnet_is_in_the_other,
	     a_pool_without_a_readable_subnet_overlaps_none,
	     an_owned_block_of_another_pool_is_in_the_way,
	     a_block_that_begins_before_the_subnet_may_reach_into_it,
	     a_marked_or_damaged_block_is_in_the_way_and_a_free_one_is_not,
	     a_free_block_is_in_the_way_while_a_borrower_has_an_address)

/* SPDX-License-Identifier: Apache-2.0 */
/* adopt_test.c: a pool of one node becomes a shared pool, under leases that live. */
#include "ipam/lease/adopt.h"

#include "ipam/testing/blocks.h"
#include "ipam/testing/ipam.h"
#include "lib/testing/alloc.h"

#define OWN    "{\"subnet\":\"10.1.0.0/24\",\"ranges\":[\"10.1.0.16-10.1.0.47\"],\"cooldown\":60}"
#define SHARED "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":8,\"state\":\"adopting\",\"cooldown\":60}"
#define OPEN   "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":8,\"cooldown\":60}"
#define CONF   "{\"pool\":\"rail0\"}"

static struct fixture w;

static uint64_t token(void *arg)
{
	return ++*(uint64_t *)arg;
}

/* 0, or the error's code. *local: whether this node has the pool. */
static int adopt(const char *uid, const char *def, bool *local)
{
	auto_json struct json *tree = NULL;
	uint64_t n = 0;
	struct shared_pool_def d = { .name = "rail0", .uid = uid, .generation = 5 };
	struct pool_adopt a = { .def = &d, .random = token, .arg = &n };

	if (json_parse(def, strlen(def), "def", &tree, &w.e))
		return (int)w.e.code;
	d.definition = tree;
	int rc = pool_adopt(&w.m, &a, &w.e);
	*local = a.local != NULL;
	json_free(a.local);
	return rc ? (int)w.e.code : 0;
}

/* All held leases as text. */
static char *leases(void)
{
	const struct lease_filter all = { .resting = false };
	auto_json struct json *list = NULL;

	ck_assert_int_eq(admin_leases(&w.m, &all, &list, &w.e), 0);
	return json_print(list, false);
}

static void is_blocks(const char *want)
{
	auto_json struct json *list = NULL;
	char all[512] = "";

	ck_assert_int_eq(admin_blocks(&w.m, "rail0", &list, &w.e), 0);
	json_each (o, list) {
		char one[96];

		(void)snprintf(one, sizeof(one), "%s %s %.0f ", json_str(json_get(o, "first")),
			       json_str(json_get(o, "state")), json_num(json_get(o, "used")));
		testing_append(all, sizeof(all), one);
	}
	ck_assert_str_eq(all, want);
}

/* Leases of a pool with the range 16 to 47: 16, 17, 18, 40 live, 19 cools down, 25 has rested. */
static void begin(void)
{
	fixture_open(&w);
	ck_assert_int_eq(w_pool(&w, "rail0", OWN, false), 0);
	ck_assert_str_eq(w_add(&w, "{\"pool\":\"rail0\"}", "gone", "IP=10.1.0.25"), "10.1.0.25");
	w_del(&w, "gone");
	w.now += 100 * SECOND;
	ck_assert_str_eq(w_add(&w, CONF, "a", ""), "10.1.0.16");
	ck_assert_str_eq(w_add(&w, CONF, "b", ""), "10.1.0.17");
	ck_assert_str_eq(w_add(&w, CONF, "c", ""), "10.1.0.18");
	ck_assert_str_eq(w_add(&w, CONF, "d", ""), "10.1.0.19");
	ck_assert_str_eq(w_add(&w, CONF, "e", "IP=10.1.0.40"), "10.1.0.40");
	w_del(&w, "d");
	w_node(&w, 3, INT64_MAX);
}

START_TEST(leases_stay_and_get_blocks)
{
	auto_free char *before = NULL, *after = NULL;
	bool local;

	begin();
	before = leases();
	ck_assert_int_eq(adopt("u1", SHARED, &local), 0);
	ck_assert(local);
	after = leases();
	ck_assert_str_eq(after, before);
	w_sound(&w);
	/* That of the address that has rested is not claimed. */
	is_blocks("10.1.0.16 contested 3 10.1.0.40 contested 1 ");
	/* Repeated ADD, DEL, and a second adoption, as after a restart of the agent. */
	ck_assert_str_eq(w_add(&w, CONF, "b", ""), "10.1.0.17");
	w_del(&w, "e");
	ck_assert_int_eq(adopt("u1", SHARED, &local), 0);
	ck_assert(local);
	w_sound(&w);
	is_blocks("10.1.0.16 contested 3 10.1.0.40 contested 0 ");
	fixture_close(&w);
}
END_TEST

/* Another node would assign the address at once. */
START_TEST(an_address_that_cools_down_keeps_its_block)
{
	bool local;

	begin();
	ck_assert_str_eq(w_add(&w, CONF, "f", "IP=10.1.0.34"), "10.1.0.34");
	w_del(&w, "f");
	ck_assert_int_eq(adopt("u1", SHARED, &local), 0);
	is_blocks("10.1.0.16 contested 3 10.1.0.32 contested 0 10.1.0.40 contested 1 ");
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

START_TEST(a_node_assigns_what_it_had_until_the_pool_is_open)
{
	char id[8];
	bool local;

	begin();
	ck_assert_int_eq(adopt("u1", SHARED, &local), 0);
	/* Nothing from a block before the cluster store says that it is ours. */
	ck_assert_int_eq(*w_add(&w, CONF, "f", ""), '!');
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.40", BLOCK_GRANTED, 3), 0);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.48", BLOCK_GRANTED, 3), 0);
	w_sound(&w);
	for (int i = 1; i < 8; i++) {
		(void)snprintf(id, sizeof(id), "n%d", i);
		const char *got = w_add(&w, CONF, id, "");
		ck_assert_msg(strncmp(got, "10.1.0.4", 8) == 0, "%s", got);
	}
	ck_assert_int_eq(*w_add(&w, CONF, "more", ""), '!');
	ck_assert_int_eq(w_shared(&w, "rail0", "u1", OPEN), 0);
	ck_assert_str_eq(w_add(&w, CONF, "more", ""), "10.1.0.48");
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

START_TEST(an_address_that_cools_down_goes_on_to_cool_down)
{
	bool local;

	begin();
	ck_assert_int_eq(adopt("u1", SHARED, &local), 0);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.16", BLOCK_GRANTED, 3), 0);
	ck_assert_str_eq(w_add(&w, CONF, "f", ""), "10.1.0.20");
	ck_assert_uint_eq(w_used(&w, "rail0", "10.1.0.16"), 4);
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

START_TEST(what_would_overlap_is_refused)
{
	static const char other[] = "{\"subnet\":\"10.1.0.0/24\",\"rangeStart\":\"10.1.0.90\","
				    "\"rangeEnd\":\"10.1.0.99\"}";
	auto_free char *before = NULL, *after = NULL;
	bool local;

	begin();
	ck_assert_int_eq(*w_add(&w, other, "x", ""), '1');
	before = leases();
	ck_assert_int_eq(adopt("u1", SHARED, &local), ERR_BUSY);
	ck_assert_ptr_nonnull(
		strstr(w.e.msg, "10.1.0.90 in its subnet is leased as an address of"));
	ck_assert_ptr_nonnull(strstr(w.e.detail, "container x"));
	w_del(&w, "x");
	ck_assert_int_eq(adopt("u1",
			       "{\"subnet\":\"10.1.0.0/23\",\"blockSize\":8,"
			       "\"state\":\"adopting\"}",
			       &local),
			 ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "10.1.0.0/24 on this node and 10.1.0.0/23"));
	ck_assert_int_eq(w_pool(&w, "more",
				"{\"subnet\":\"10.1.0.0/24\",\"ranges\":[\"10.1.0.60\"]}", false),
			 0);
	ck_assert_int_eq(adopt("u1", SHARED, &local), ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "overlaps with pool more"));
	w_sound(&w);
	after = leases();
	ck_assert(strstr(after, "10.1.0.40") && strstr(before, "10.1.0.40"));
	fixture_close(&w);
}
END_TEST

START_TEST(a_node_without_the_pool_has_nothing_to_bring)
{
	bool local;

	fixture_open(&w);
	ck_assert_int_eq(adopt("u1", SHARED, &local), 0);
	ck_assert(!local);
	ck_assert_int_eq(*w_add(&w, CONF, "a", ""), '!');
	fixture_close(&w);
}
END_TEST

START_TEST(a_slice_is_what_the_node_had)
{
	bool local;

	fixture_open(&w);
	ck_assert_int_eq(mkdir("/mnt/etc", 0700), 0);
	w.ctx.etc_dir = "/mnt/etc";
	testing_file("/mnt/etc/node.json", 0600, "{\"number\":2}");
	ck_assert_int_eq(
		w_pool(&w, "rail0", "{\"subnet\":\"10.1.0.0/24\",\"slice\":{\"size\":16}}", false),
		0);
	ck_assert_str_eq(w_add(&w, CONF, "a", ""), "10.1.0.32");
	ck_assert_int_eq(adopt("u1", SHARED, &local), 0);
	ck_assert(local);
	w_node(&w, 3, INT64_MAX);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.32", BLOCK_GRANTED, 3), 0);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.48", BLOCK_GRANTED, 3), 0);
	ck_assert_str_eq(w_add(&w, CONF, "b", ""), "10.1.0.33");
	ck_assert_uint_eq(w_spare(&w, "rail0"), 6);
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

static int adopt_once(void *arg, struct err *e)
{
	bool local;
	int rc = adopt("u1", SHARED, &local);

	(void)arg;
	if (rc)
		*e = w.e;
	return rc;
}

/* Whatever fails, the leases are as before, and the next try succeeds. */
START_TEST(memory_fails)
{
	auto_free char *before = NULL, *after = NULL;

	begin();
	before = leases();
	ck_assert_str_eq(alloc_fail_each(adopt_once, NULL), "ok");
	after = leases();
	ck_assert_str_eq(after, before);
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

TEST_PROGRAM("adopt", leases_stay_and_get_blocks, an_address_that_cools_down_keeps_its_block,
	     a_node_assigns_what_it_had_until_the_pool_is_open,
	     an_address_that_cools_down_goes_on_to_cool_down, what_would_overlap_is_refused,
	     a_node_without_the_pool_has_nothing_to_bring, a_slice_is_what_the_node_had,
	     memory_fails)

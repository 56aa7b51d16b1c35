/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lmdb_rules_test.c: a file built by hand, small enough to break each rule of lmdb_check by itself.
 *
 *	page 0, 1   meta            page 5, 6  long value of "n"
 *	page 2      branch: 3, 4    page 7     free list: { 9: [8] }, { 10: [] }
 *	page 3      leaf: "a", "b"  page 8     free
 *	page 4      leaf: "m", "n"
 */
#include "ipam/store/lmdb_file.h"
#include "lib/testing/testing.h"

#define PAGE  512
#define PAGES 9
#define NONE  (~UINT64_C(0))

struct image {
	uint8_t b[PAGES * PAGE];
};

static void put(struct image *m, size_t at, uint64_t v, size_t width)
{
	memcpy(m->b + at, &v, width);
}

/* Where node i of a page begins. */
static size_t node(const struct image *m, size_t page, size_t i)
{
	uint16_t at;

	memcpy(&at, m->b + page * PAGE + 16 + 2 * i, sizeof(at));
	return page * PAGE + at;
}

static void begin_page(struct image *m, size_t page, uint64_t flags)
{
	put(m, page * PAGE, page, 8);
	put(m, page * PAGE + 10, flags, 2);
	put(m, page * PAGE + 12, 16, 2);
	put(m, page * PAGE + 14, PAGE, 2);
}

struct record {
	const void *key;
	size_t key_len;
	uint64_t head; /* size of the value, or child */
	uint16_t flags;
	const void *data;
	size_t data_len;
};

static void add_node(struct image *m, size_t page, const struct record *r)
{
	uint8_t *p = m->b + page * PAGE;
	uint16_t lower, upper;

	memcpy(&lower, p + 12, 2);
	memcpy(&upper, p + 14, 2);
	upper = (uint16_t)(upper - (8 + r->key_len + r->data_len + 1) / 2 * 2);
	put(m, page * PAGE + lower, upper, 2);
	put(m, page * PAGE + 12, lower + 2u, 2);
	put(m, page * PAGE + 14, upper, 2);
	put(m, page * PAGE + upper, r->head, 4);
	put(m, page * PAGE + upper + 4, r->flags, 2);
	put(m, page * PAGE + upper + 6, r->key_len, 2);
	memcpy(p + upper + 8, r->key, r->key_len);
	if (r->data_len)
		memcpy(p + upper + 8 + r->key_len, r->data, r->data_len);
}

static void meta(struct image *m, size_t page, uint64_t txnid)
{
	size_t at = page * PAGE;

	put(m, at + 16, 0xbeefc0de, 4);
	put(m, at + 20, 1, 4);
	put(m, at + 40, PAGE, 4); /* free list */
	put(m, at + 40 + 4, 8, 2);
	put(m, at + 40 + 6, 1, 2);
	put(m, at + 40 + 32, 2, 8);
	put(m, at + 40 + 40, 7, 8);
	put(m, at + 88 + 6, 2, 2); /* data */
	put(m, at + 88 + 32, 4, 8);
	put(m, at + 88 + 40, 2, 8);
	put(m, at + 136, PAGES - 1, 8);
	put(m, at + 144, txnid, 8);
}

static void build(struct image *m)
{
	static const uint64_t nine = 9, ten = 10, one_page[] = { 1, 8 }, no_page[] = { 0 },
			      long_at = 5;

	memset(m, 0, sizeof(*m));
	meta(m, 0, 11);
	meta(m, 1, 10);
	begin_page(m, 2, 1);
	add_node(m, 2, &(struct record){ "", 0, 3, 0, NULL, 0 });
	add_node(m, 2, &(struct record){ "c", 1, 4, 0, NULL, 0 });
	begin_page(m, 3, 2);
	add_node(m, 3, &(struct record){ "a", 1, 2, 0, "1", 2 });
	add_node(m, 3, &(struct record){ "b", 1, 2, 0, "2", 2 });
	begin_page(m, 4, 2);
	add_node(m, 4, &(struct record){ "m", 1, 2, 0, "3", 2 });
	add_node(m, 4, &(struct record){ "n", 1, 600, 1, &long_at, 8 });
	put(m, 5 * PAGE, 5, 8);
	put(m, 5 * PAGE + 10, 4, 2);
	put(m, 5 * PAGE + 12, 2, 4);
	begin_page(m, 7, 2);
	add_node(m, 7, &(struct record){ &nine, 8, 16, 0, one_page, 16 });
	add_node(m, 7, &(struct record){ &ten, 8, 8, 0, no_page, 8 });
}

static void is_whole(const struct image *m)
{
	const char *bad = lmdb_check(m->b, sizeof(m->b));

	ck_assert_msg(bad == NULL, "%s", bad);
}

START_TEST(a_built_file_is_whole)
{
	struct image m;
	struct lmdb_meta head;

	build(&m);
	is_whole(&m);
	ck_assert_int_eq(lmdb_meta_read(m.b, sizeof(m.b), &head), LMDB_FILE_GOOD);
	ck_assert_uint_eq(head.txnid, 11);
	/* the newer meta page counts, wherever it is */
	meta(&m, 1, 12);
	ck_assert_int_eq(lmdb_meta_read(m.b, sizeof(m.b), &head), LMDB_FILE_GOOD);
	ck_assert_uint_eq(head.txnid, 12);
	is_whole(&m);
}
END_TEST

START_TEST(unusual_files_are_whole)
{
	struct image m;

	/* a separator may come as a key */
	build(&m);
	m.b[node(&m, 2, 1) + 8] = 'm';
	is_whole(&m);
	/* no free page, no data */
	build(&m);
	put(&m, 40 + 6, 0, 2);
	put(&m, 40 + 32, 0, 8);
	put(&m, 40 + 40, NONE, 8);
	is_whole(&m);
	put(&m, 88 + 6, 0, 2);
	put(&m, 88 + 32, 0, 8);
	put(&m, 88 + 40, NONE, 8);
	is_whole(&m);
}
END_TEST

/* page and node say where; node -1: in the page's header; -2: at a byte of the meta page. */
static const struct {
	int page, node;
	size_t at, width;
	uint64_t value;
	const char *says;
} broken[] = {
	{ 0, -2, 16, 4, 1, "does not begin" },
	{ 0, -2, 20, 4, 2, "does not begin" },
	{ 0, -2, 40, 4, 256, "does not begin" },
	{ 0, -2, 40, 4, 131072, "does not begin" },
	{ 0, -2, 40, 4, 513, "does not begin" },
	{ 0, -2, 136, 8, 0, "does not begin" },
	{ 0, -2, 136, 8, NONE, "does not begin" },
	{ 0, -2, 136, 8, 0xfffffff0, "after the end" },
	{ 0, -2, 136, 8, 7, "free and in use" }, /* page 8 is behind the last */
	{ 1, -2, 16, 4, 1, "does not begin" },
	{ 1, -2, 40, 4, 1024, "does not begin" },
	{ 0, -2, 40, 4, 65536, "does not begin" },
	{ 0, -2, 88 + 4, 2, 4, "unknown kind" },  /* several values for a key */
	{ 0, -2, 88 + 4, 2, 16, "unknown kind" }, /* values of a fixed size */
	{ 0, -2, 40 + 4, 2, 0, "unknown kind" },
	{ 0, -2, 88 + 6, 2, 0, "depth" },
	{ 0, -2, 88 + 6, 2, 17, "depth" },
	{ 0, -2, 88 + 6, 2, 1, "a wrong number or kind" },
	{ 0, -2, 88 + 6, 2, 3, "a wrong number or kind" },
	{ 0, -2, 88 + 32, 8, 5, "records are missing" },
	{ 0, -2, 88 + 40, 8, NONE, "root is missing" },
	{ 0, -2, 88 + 40, 8, 1, "used twice" },
	{ 0, -2, 88 + 40, 8, 9, "after the end" },
	{ 0, -2, 40 + 40, 8, 3, "used twice" },
	{ 0, -2, 40 + 40, 8, NONE, "root is missing" },
	{ 2, -1, 0, 8, 3, "a wrong number or kind" },
	{ 3, -1, 10, 2, 6, "a wrong number or kind" },
	{ 2, -1, 12, 2, 14, "bounds" },
	{ 2, -1, 12, 2, 512, "bounds" },
	{ 2, -1, 14, 2, 514, "bounds" },
	{ 3, -1, 12, 2, 16, "a page is empty" },
	{ 3, -1, 16, 2, 20, "ends after" },
	{ 3, -1, 16, 2, 510, "ends after" },
	{ 3, 0, 6, 2, 500, "ends after" },
	{ 3, 0, 6, 2, 0, "unknown kind" },
	{ 3, 0, 4, 2, 4, "unknown kind" },
	{ 3, 0, 8, 1, 'b', "out of order" },
	{ 3, 1, 8, 1, 'a', "out of order" },
	{ 3, 1, 8, 1, 'd', "out of order" }, /* not less than the separator that follows */
	{ 3, 0, 0, 4, 500, "ends after" },
	{ 4, 0, 8, 1, 'b', "out of order" }, /* less than the separator before it */
	{ 4, 1, 9, 8, 99, "long value" },
	{ 4, 1, 9, 8, 8, "long value" },
	{ 4, 1, 0, 4, 5000, "long value" },
	{ 5, -1, 0, 8, 4, "long value" },
	{ 5, -1, 10, 2, 2, "long value" },
	{ 5, -1, 12, 4, 1, "long value" },
	{ 5, -1, 12, 4, 99, "used twice" },
	{ 2, -1, 12, 2, 18, "one child" },
	{ 3, 0, 0, 4, 500, "ends after" },
	{ 3, -1, 16, 2, 493, "ends after" },          /* no even number */
	{ 3, -1, 16, 2, 488, "two records overlap" }, /* into the second record */
	{ 2, 0, 0, 4, 4, "out of order" },
	{ 2, 0, 0, 4, 2, "used twice" },
	{ 2, 1, 0, 4, 3, "used twice" },
	{ 2, 1, 4, 2, 1, "after the end" },
	{ 2, 1, 6, 2, 0, "out of order" },
	{ 2, 1, 8, 1, 'a', "out of order" },
	{ 7, 0, 6, 2, 7, "unknown kind" },
	{ 7, 0, 8, 8, 10, "out of order" },
	{ 7, 0, 8, 8, 0, "future transaction" },
	{ 7, 1, 8, 8, 12, "future transaction" },
	{ 7, 0, 0, 4, 7, "list of free pages" },
	{ 7, 0, 16, 8, 2, "list of free pages" },
	{ 7, 0, 24, 8, 4, "free and in use" },
	{ 7, 0, 24, 8, 1, "free and in use" },
};

START_TEST(each_broken_rule_is_found)
{
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		struct image m;
		size_t at = (size_t)broken[i].page * PAGE;

		build(&m);
		if (broken[i].node >= 0)
			at = node(&m, (size_t)broken[i].page, (size_t)broken[i].node);
		put(&m, at + broken[i].at, broken[i].value, broken[i].width);
		const char *bad = lmdb_check(m.b, sizeof(m.b));
		ck_assert_msg(bad != NULL, "%zu: not found: %s", i, broken[i].says);
		ck_assert_msg(strstr(bad, broken[i].says) != NULL, "%zu: %s, want %s", i, bad,
			      broken[i].says);
	}
}
END_TEST

/* LMDB gives such a value pages of its own: two records fit into each page. */
START_TEST(a_long_value_in_a_leaf)
{
	static const char value[240];
	struct image m;

	build(&m);
	put(&m, 88 + 32, 3, 8);
	begin_page(&m, 3, 2);
	add_node(&m, 3, &(struct record){ "a", 1, 236, 0, value, 236 });
	is_whole(&m);
	begin_page(&m, 3, 2);
	add_node(&m, 3, &(struct record){ "a", 1, 238, 0, value, 238 });
	const char *bad = lmdb_check(m.b, sizeof(m.b));
	ck_assert_ptr_nonnull(bad);
	ck_assert_ptr_nonnull(strstr(bad, "too long"));
}
END_TEST

START_TEST(separators_of_numbers)
{
	static const uint64_t nine = 9;
	struct image m;

	/* the free list as a branch over two leaves: 7 over 5 and 6 (the long value is gone) */
	build(&m);
	begin_page(&m, 4, 2);
	add_node(&m, 4, &(struct record){ "m", 1, 2, 0, "3", 2 });
	put(&m, 88 + 32, 3, 8);
	begin_page(&m, 7, 1);
	add_node(&m, 7, &(struct record){ "", 0, 5, 0, NULL, 0 });
	add_node(&m, 7, &(struct record){ &nine, 8, 6, 0, NULL, 0 });
	static const uint64_t keys[] = { 8, 9 }, no_page[] = { 0 };
	for (size_t i = 0; i < 2; i++) {
		begin_page(&m, 5 + i, 2);
		add_node(&m, 5 + i, &(struct record){ &keys[i], 8, 8, 0, no_page, 8 });
	}
	put(&m, 40 + 6, 2, 2);
	is_whole(&m);
	put(&m, node(&m, 7, 1) + 6, 7, 2);
	ck_assert_ptr_nonnull(lmdb_check(m.b, sizeof(m.b)));
	put(&m, node(&m, 7, 1) + 6, 8, 2);
	put(&m, node(&m, 7, 1) + 8, 8, 8);
	ck_assert_ptr_nonnull(lmdb_check(m.b, sizeof(m.b)));
	put(&m, node(&m, 7, 1) + 8, 10, 8);
	ck_assert_ptr_nonnull(lmdb_check(m.b, sizeof(m.b)));
}
END_TEST

START_TEST(short_files_are_damaged)
{
	struct image m;
	struct lmdb_meta head;

	build(&m);
	ck_assert_int_eq(lmdb_meta_read(m.b, 151, &head), LMDB_FILE_EMPTY);
	ck_assert_int_eq(lmdb_meta_read(m.b, PAGE + 151, &head), LMDB_FILE_BAD);
	/* the first page of a file that was never committed to, and nothing more */
	meta(&m, 0, 0);
	ck_assert_int_eq(lmdb_meta_read(m.b, PAGE, &head), LMDB_FILE_EMPTY);
}
END_TEST

TEST_PROGRAM("lmdb_rules", a_built_file_is_whole, unusual_files_are_whole,
	     each_broken_rule_is_found, a_long_value_in_a_leaf, separators_of_numbers,
	     short_files_are_damaged)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lmdb_file.c: checks the format of LMDB 0.9: data version 1, 64 bits, this byte order.
 *
 * The file has two meta pages, and the newer one is valid. The other pages belong to two B-trees:
 * one has free page numbers by transaction, one has the data. Each page begins with a header of 16
 * bytes: page number, unused, kind, and the bounds of its free space. Then come 16-bit offsets of
 * its nodes, which are at the end of the page. A node has a header of 8 bytes. In a
 * leaf it has the size of the value, in a branch the number of the child, in three parts. The third
 * part also has flags. Then comes the size of the key.
 */
#include "ipam/store/lmdb_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define MAGIC         UINT32_C(0xbeefc0de)
#define DATA_VERSION  1
#define OFF_MAGIC     16
#define OFF_VERSION   20
#define OFF_DB        40 /* two records of DB_LEN bytes; the first field of the first is the page size */
#define DB_LEN        48
#define OFF_DB_FLAGS  4
#define OFF_DB_DEPTH  6
#define OFF_DB_COUNT  32
#define OFF_DB_ROOT   40
#define OFF_LAST_PAGE 136
#define OFF_TXNID     144
#define META_LEN      152
#define PAGE_MIN      512
#define PAGE_MAX      32768 /* offsets in a page have 16 bits, and its end is one */

static uint16_t load_u16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t load_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t load_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static bool parse_meta(const uint8_t *b, struct lmdb_meta *out)
{
	out->page_size = load_u32(b + OFF_DB);
	out->last_page = load_u64(b + OFF_LAST_PAGE);
	out->txnid = load_u64(b + OFF_TXNID);
	for (int i = 0; i < 2; i++) {
		const uint8_t *db = b + OFF_DB + i * DB_LEN;
		out->flags[i] = load_u16(db + OFF_DB_FLAGS);
		out->depth[i] = load_u16(db + OFF_DB_DEPTH);
		out->entries[i] = load_u64(db + OFF_DB_COUNT);
		out->root[i] = load_u64(db + OFF_DB_ROOT);
	}
	return load_u32(b + OFF_MAGIC) == MAGIC && load_u32(b + OFF_VERSION) == DATA_VERSION &&
	       out->page_size >= PAGE_MIN && out->page_size <= PAGE_MAX &&
	       (out->page_size & (out->page_size - 1)) == 0 && out->last_page >= 1 &&
	       out->last_page < UINT32_MAX;
}

/* *out is the first meta page; second NULL: the file ends before it. */
static enum lmdb_file_state newer_meta(const uint8_t *second, struct lmdb_meta *out)
{
	struct lmdb_meta other;

	if (!second)
		return out->txnid == 0 ? LMDB_FILE_EMPTY : LMDB_FILE_BAD;
	if (!parse_meta(second, &other) || other.page_size != out->page_size)
		return LMDB_FILE_BAD;
	if (other.txnid > out->txnid)
		*out = other;
	return LMDB_FILE_GOOD;
}

/* The first page is incomplete, or was not yet on the disk at a power loss. */
static bool never_written(const uint8_t *first, size_t len)
{
	static const uint8_t zero[META_LEN];

	return len < META_LEN || memcmp(first, zero, META_LEN) == 0;
}

enum lmdb_file_state lmdb_meta_read(const uint8_t *file, size_t len, struct lmdb_meta *out)
{
	if (never_written(file, len))
		return LMDB_FILE_EMPTY;
	if (!parse_meta(file, out))
		return LMDB_FILE_BAD;
	return newer_meta(len < out->page_size + META_LEN ? NULL : file + out->page_size, out);
}

/* An unreadable file must not count as an empty one, or its leases would be lost. */
static int read_metas(int fd, struct lmdb_meta *m, enum lmdb_file_state *out, struct err *e)
{
	uint8_t b[META_LEN];
	ssize_t n = pread(fd, b, sizeof(b), 0);

	*out = LMDB_FILE_EMPTY;
	if (n >= 0 && never_written(b, (size_t)n))
		return 0;
	*out = LMDB_FILE_BAD;
	if (n >= 0 && !parse_meta(b, m))
		return 0;
	if (n >= 0)
		n = pread(fd, b, sizeof(b), m->page_size);
	if (n < 0)
		return err_set(e, ERR_STORE, errno, "read the store's file");
	*out = newer_meta(n == (ssize_t)sizeof(b) ? b : NULL, m);
	return 0;
}

int lmdb_file_inspect(int fd, struct lmdb_file *out, struct err *e)
{
	struct lmdb_meta m = { 0 };
	struct stat st;

	if (fd >= 0 && fstat(fd, &st))
		return err_set(e, ERR_STORE, errno, "stat the store's file");
	*out = (struct lmdb_file){ .state = LMDB_FILE_EMPTY };
	if (fd < 0)
		return 0;
	out->state = LMDB_FILE_BAD;
	if (S_ISREG(st.st_mode) && read_metas(fd, &m, &out->state, e))
		return -1;
	if (out->state != LMDB_FILE_GOOD)
		return 0;
	out->want = (m.last_page + 1) * m.page_size;
	if ((uint64_t)st.st_size < out->want)
		out->state = LMDB_FILE_SHORT;
	return 0;
}

/* ---- the whole file ---- */

#define PAGE_HEADER 16
#define OFF_FLAGS   10
#define OFF_LOWER   12
#define OFF_UPPER   14
#define OFF_PAGES   12 /* of an overflow page: how many */
#define NODE_HEADER 8
#define P_BRANCH    0x01
#define P_LEAF      0x02
#define P_OVERFLOW  0x04
#define NODE_BIG    0x01 /* the value is the number of an overflow page */
#define DEPTH_MAX   16
#define KEY_MAX     511
#define SIZE_MAX_OK ((uint64_t)1280 << 20) /* the map of lmdb.c */
#define KIND_MASK   0x7f                   /* of a tree: what keys and values it has */
#define KIND_NUMBER 0x08
#define NONE        (~UINT64_C(0))

struct key_bytes {
	const uint8_t *p;
	size_t len;
};

struct checker {
	const uint8_t *file;
	size_t len;
	struct lmdb_meta m;
	uint8_t *seen;         /* one bit a page: used by a tree, or free */
	bool numbers;          /* keys are numbers: the tree of free pages */
	struct key_bytes last; /* the previous key; p NULL: none yet */
	bool last_may_come;    /* it was a separator, so the next key can be equal */
	uint64_t entries;
};

static bool mark_page(struct checker *c, uint64_t page)
{
	if (page < 2 || page > c->m.last_page || (c->seen[page / 8] & (1u << page % 8)))
		return false;
	c->seen[page / 8] = (uint8_t)(c->seen[page / 8] | (1u << page % 8));
	return true;
}

/* NULL: the n pages are not completely in the file. */
static const uint8_t *page_at(const struct checker *c, uint64_t page, uint64_t n)
{
	if (n == 0 || n > c->m.last_page || page > c->m.last_page ||
	    (page + n) * c->m.page_size > c->len)
		return NULL;
	return c->file + page * c->m.page_size;
}

static bool in_order(const struct checker *c, struct key_bytes key)
{
	const struct key_bytes last = c->last;
	int rc;

	if (!last.p)
		return true;
	if (c->numbers)
		rc = cmp_u64(load_u64(last.p), load_u64(key.p));
	else
		rc = memcmp(last.p, key.p, last.len < key.len ? last.len : key.len);
	if (rc == 0 && !c->numbers)
		rc = cmp_u64(last.len, key.len);
	return rc < 0 || (rc == 0 && c->last_may_come);
}

/* The number of free pages, then their page numbers. No tree may use a free page. */
static const char *check_free(struct checker *c, const uint8_t *data, size_t size)
{
	uint64_t n = size >= 8 ? load_u64(data) : 0;

	if (size < 8 || n > size / 8 - 1)
		return "a list of free pages is longer than its record";
	for (uint64_t i = 1; i <= n; i++) {
		if (i > 1 && load_u64(data + 8 * i) >= load_u64(data + 8 * (i - 1)))
			return "a list of free pages is out of order";
		if (!mark_page(c, load_u64(data + 8 * i)))
			return "a page is free and in use, or free twice";
	}
	return NULL;
}

static const char *check_big(struct checker *c, uint64_t page, size_t size, const uint8_t **data)
{
	uint64_t n = (PAGE_HEADER + size + c->m.page_size - 1) / c->m.page_size;
	const uint8_t *p = page_at(c, page, n);

	if (!p || load_u64(p) != page || load_u16(p + OFF_FLAGS) != P_OVERFLOW ||
	    load_u32(p + OFF_PAGES) < n)
		return "a long value is not where it should be";
	n = load_u32(p + OFF_PAGES);
	for (uint64_t i = 0; i < n; i++) {
		if (!mark_page(c, page + i))
			return "a page is used twice";
	}
	*data = p + PAGE_HEADER;
	return NULL;
}

/* Node i of a page; NULL: it is not within the bounds. */
static const uint8_t *node_at(const struct checker *c, const uint8_t *page, size_t i)
{
	size_t at = load_u16(page + PAGE_HEADER + 2 * i);

	if (at % 2 || at < load_u16(page + OFF_UPPER) || at + NODE_HEADER > c->m.page_size ||
	    at + NODE_HEADER + load_u16(page + at + 6) > c->m.page_size)
		return NULL;
	return page + at;
}

static struct key_bytes lmdb_file_key_of(const uint8_t *node)
{
	return (struct key_bytes){ node + NODE_HEADER, load_u16(node + 6) };
}

static size_t leaf_size(const uint8_t *node)
{
	size_t size = load_u16(node) | (size_t)load_u16(node + 2) << 16;

	return NODE_HEADER + load_u16(node + 6) +
	       (load_u16(node + 4) == NODE_BIG ? sizeof(uint64_t) : size);
}

/* LMDB moves the records of a page when one is deleted, so they must not overlap. */
static const char *check_layout(const struct checker *c, const uint8_t *page, size_t n, bool leaf)
{
	uint8_t taken[PAGE_MAX / 2] = { 0 };

	for (size_t i = 0; i < n; i++) {
		const uint8_t *node = node_at(c, page, i);
		size_t at = node ? (size_t)(node - page) : 0;
		size_t branch = node ? (size_t)NODE_HEADER + load_u16(node + 6) : 0;
		size_t end = at + (node && leaf ? leaf_size(node) : branch);

		if (!node || end > c->m.page_size)
			return "a record ends after its page";
		for (; at < end; at += 2) {
			if (taken[at / 2])
				return "two records overlap";
			taken[at / 2] = 1;
		}
	}
	return NULL;
}

static const char *check_leaf_node(struct checker *c, const uint8_t *page, const uint8_t *node)
{
	struct key_bytes key = lmdb_file_key_of(node);
	size_t size = load_u16(node) | (size_t)load_u16(node + 2) << 16;
	const uint8_t *data = key.p + key.len;
	bool big = load_u16(node + 4) == NODE_BIG;
	/* Two records fit into each page. A longer one has its own pages. */
	size_t most = (((c->m.page_size - PAGE_HEADER) / 2) & ~(size_t)1) - 2;
	const char *bad = NULL;

	if (load_u16(node + 4) & ~NODE_BIG || key.len == 0 || key.len > KEY_MAX ||
	    (c->numbers && key.len != 8))
		return "a record has an unknown kind";
	if (c->numbers && (load_u64(key.p) == 0 || load_u64(key.p) > c->m.txnid))
		return "a list of free pages is of a future transaction";
	if (!in_order(c, key))
		return "keys are out of order";
	c->last = key;
	c->last_may_come = false;
	c->entries++;
	if (data + (big ? 8 : size) > page + c->m.page_size)
		return "a value ends after its page";
	if (leaf_size(node) > most)
		return "a value is too long for its page";
	if (big)
		bad = check_big(c, load_u64(data), size, &data);
	return bad || !c->numbers ? bad : check_free(c, data, size);
}

static const char *check_page(struct checker *c, uint64_t number, unsigned depth);

/* The key between two children is greater than all keys before it, and not greater than those
 * after. */
static const char *check_child(struct checker *c, const uint8_t *node, bool first, unsigned depth)
{
	uint64_t child = load_u16(node) | (uint64_t)load_u16(node + 2) << 16 |
			 (uint64_t)load_u16(node + 4) << 32;
	struct key_bytes key = lmdb_file_key_of(node);

	if (!first) {
		if (key.len == 0 || key.len > KEY_MAX || (c->numbers && key.len != 8) ||
		    !in_order(c, key))
			return "keys are out of order";
		c->last = key;
		c->last_may_come = true;
	}
	return check_page(c, child, depth - 1);
}

static const char *lmdb_file_check_nodes(struct checker *c, const uint8_t *page, unsigned depth)
{
	size_t n = (size_t)(load_u16(page + OFF_LOWER) - PAGE_HEADER) / 2;
	const char *over = check_layout(c, page, n, depth == 1);

	if (over)
		return over;
	if (depth > 1 && n == 1 && !c->numbers)
		return "a branch has one child only";
	for (size_t i = 0; i < n; i++) {
		const uint8_t *node = node_at(c, page, i);
		const char *bad = !node        ? "a record ends after its page"
				  : depth == 1 ? check_leaf_node(c, page, node)
					       : check_child(c, node, i == 0, depth);

		if (bad)
			return bad;
	}
	return n ? NULL : "a page is empty";
}

static const char *check_page(struct checker *c, uint64_t number, unsigned depth)
{
	const uint8_t *page = page_at(c, number, 1);

	if (!page)
		return "a page is after the end of the file";
	if (!mark_page(c, number))
		return "a page is used twice";
	if (load_u64(page) != number ||
	    load_u16(page + OFF_FLAGS) != (depth == 1 ? P_LEAF : P_BRANCH))
		return "a page has a wrong number or kind";
	if (load_u16(page + OFF_LOWER) < PAGE_HEADER ||
	    load_u16(page + OFF_LOWER) > load_u16(page + OFF_UPPER) ||
	    load_u16(page + OFF_UPPER) > c->m.page_size)
		return "the bounds of a page are wrong";
	return lmdb_file_check_nodes(c, page, depth);
}

static const char *check_tree(struct checker *c, int db)
{
	uint64_t root = c->m.root[db];

	if ((c->m.flags[db] & KIND_MASK) != (db == 0 ? KIND_NUMBER : 0))
		return "a tree has an unknown kind";
	c->numbers = db == 0;
	c->last.p = NULL;
	c->last_may_come = false;
	c->entries = 0;
	if (root == NONE)
		return c->m.depth[db] || c->m.entries[db] ? "the root is missing" : NULL;
	if (c->m.depth[db] == 0 || c->m.depth[db] > DEPTH_MAX)
		return "the depth is wrong";
	const char *bad = check_page(c, root, c->m.depth[db]);
	if (bad)
		return bad;
	return c->entries == c->m.entries[db] ? NULL : "records are missing";
}

const char *lmdb_check(const uint8_t *file, size_t len)
{
	struct checker c = { .file = file, .len = len };

	if (lmdb_meta_read(file, len, &c.m) != LMDB_FILE_GOOD)
		return "it does not begin like an LMDB file of this machine";
	/* No file of this size has such a page number: do not allocate memory for it. */
	if (c.m.last_page > len / PAGE_MIN + (1u << 20) ||
	    c.m.last_page >= SIZE_MAX_OK / c.m.page_size)
		return "a page is after the end of the file";
	c.seen = calloc(1, c.m.last_page / 8 + 1);
	if (!c.seen)
		return "out of memory";
	/* Check the data first: a page that it uses cannot be free. */
	const char *bad = check_tree(&c, 1);
	if (!bad)
		bad = check_tree(&c, 0);
	free(c.seen);
	return bad;
}

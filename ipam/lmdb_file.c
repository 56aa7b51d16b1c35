/* SPDX-License-Identifier: Apache-2.0 */
#include "ipam/lmdb_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/*
 * A file begins with two meta pages of which the newer counts. The offsets are those of data
 * version 1 (LMDB 0.9, 64 bits, this byte order): a page header of 16 bytes, magic, version,
 * address and size of the map, two records of 48 bytes (the first one's first field is the page
 * size), last page, txnid.
 */
#define MAGIC         UINT32_C(0xbeefc0de)
#define DATA_VERSION  1
#define OFF_MAGIC     16
#define OFF_VERSION   20
#define OFF_PAGE_SIZE 40
#define OFF_LAST_PAGE 136
#define OFF_TXNID     144
#define META_LEN      152
#define PAGE_MIN      512
#define PAGE_MAX      65536

struct meta {
	uint32_t page_size;
	uint64_t last_page, txnid;
};

static bool parse_meta(const uint8_t b[META_LEN], struct meta *out)
{
	uint32_t magic, version;

	memcpy(&magic, b + OFF_MAGIC, sizeof(magic));
	memcpy(&version, b + OFF_VERSION, sizeof(version));
	memcpy(&out->page_size, b + OFF_PAGE_SIZE, sizeof(out->page_size));
	memcpy(&out->last_page, b + OFF_LAST_PAGE, sizeof(out->last_page));
	memcpy(&out->txnid, b + OFF_TXNID, sizeof(out->txnid));
	return magic == MAGIC && version == DATA_VERSION && out->page_size >= PAGE_MIN &&
	       out->page_size <= PAGE_MAX && (out->page_size & (out->page_size - 1)) == 0 &&
	       out->last_page >= 1 && out->last_page < UINT32_MAX;
}

static bool all_zero(const uint8_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (b[i])
			return false;
	}
	return true;
}

/* Whether [0, 2 pages) could be read, and what the newer meta page says. */
static enum lmdb_file_state read_metas(int fd, struct meta *newest)
{
	uint8_t b[META_LEN];
	struct meta second;

	if (pread(fd, b, sizeof(b), 0) != (ssize_t)sizeof(b))
		return LMDB_FILE_EMPTY; /* the first page was never finished */
	/* written, but not yet on the disk when the power went: never committed to either */
	if (all_zero(b, sizeof(b)))
		return LMDB_FILE_EMPTY;
	if (!parse_meta(b, newest))
		return LMDB_FILE_BAD;
	if (pread(fd, b, sizeof(b), newest->page_size) != (ssize_t)sizeof(b))
		return newest->txnid == 0 ? LMDB_FILE_EMPTY : LMDB_FILE_BAD;
	if (!parse_meta(b, &second) || second.page_size != newest->page_size)
		return LMDB_FILE_BAD;
	if (second.txnid > newest->txnid)
		*newest = second;
	return LMDB_FILE_GOOD;
}

int lmdb_file_inspect(int fd, struct lmdb_file *out, struct err *e)
{
	struct meta m = { 0 };
	struct stat st;

	*out = (struct lmdb_file){ .state = LMDB_FILE_EMPTY };
	if (fd < 0)
		return 0;
	if (fstat(fd, &st))
		return err_set(e, ERR_STORE, errno, "look at the store's file");
	if (!S_ISREG(st.st_mode)) {
		out->state = LMDB_FILE_BAD;
		return 0;
	}
	out->state = read_metas(fd, &m);
	if (out->state != LMDB_FILE_GOOD)
		return 0;
	out->want = (m.last_page + 1) * m.page_size;
	if ((uint64_t)st.st_size < out->want)
		out->state = LMDB_FILE_SHORT;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lmdb_file.h: checks an LMDB file before LMDB opens it. Pure.
 *
 * LMDB maps its file and does not check it. A page after the end of the file is a SIGBUS, and a
 * damaged page can make LMDB access any address. So a file that was not checked in this boot is
 * read here first, page by page.
 */
#ifndef RAILHEAD_IPAM_STORE_LMDB_FILE_H
#define RAILHEAD_IPAM_STORE_LMDB_FILE_H

#include "lib/base/err.h"

enum lmdb_file_state {
	LMDB_FILE_EMPTY, /* absent, or without any commit */
	LMDB_FILE_GOOD,
	LMDB_FILE_SHORT, /* ends before its last page: truncated, or that page was never used */
	LMDB_FILE_BAD,   /* not LMDB, of another version, or of another kind of machine */
};

struct lmdb_file {
	enum lmdb_file_state state;
	uint64_t want; /* bytes the file should have at least */
};

/* lmdb_file_inspect - check only the meta pages. fd -1: an absent file. ERR_STORE: it cannot be
 * read. */
int lmdb_file_inspect(int fd, struct lmdb_file *out, struct err *e) must_check;

/* The content of the newer of two meta pages. */
struct lmdb_meta {
	uint32_t page_size;
	uint64_t last_page, txnid;
	uint64_t root[2]; /* page numbers of the free list and of the data; ~0: none */
	uint16_t flags[2], depth[2];
	uint64_t entries[2];
};

/* lmdb_meta_read - decode the meta pages in the first `len` bytes of a file. */
enum lmdb_file_state lmdb_meta_read(const uint8_t *file, size_t len, struct lmdb_meta *out);

/*
 * lmdb_check - check every page that the meta page leads to: numbers, kinds, bounds, order of keys
 * and counts; no page may be used twice. NULL: the file is good; else the error as a static text,
 * which can be "out of memory".
 */
const char *lmdb_check(const uint8_t *file, size_t len);

#endif

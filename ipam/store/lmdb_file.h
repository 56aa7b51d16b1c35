/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lmdb_file.h: look at an LMDB file before LMDB does. Pure.
 *
 * LMDB maps its file and believes it: what is mapped and not there is a SIGBUS, and a page full of
 * garbage sends it anywhere. So a file that was not checked in this boot is read here first, page
 * by page, within bounds.
 */
#ifndef RAILHEAD_IPAM_STORE_LMDB_FILE_H
#define RAILHEAD_IPAM_STORE_LMDB_FILE_H

#include "lib/base/err.h"

enum lmdb_file_state {
	LMDB_FILE_EMPTY, /* absent, or nothing was ever committed to it */
	LMDB_FILE_GOOD,
	LMDB_FILE_SHORT, /* ends before its last page: cut off, or that page was never used */
	LMDB_FILE_BAD,   /* not LMDB, another version of it, or another machine's */
};

struct lmdb_file {
	enum lmdb_file_state state;
	uint64_t want; /* bytes the file should have at least */
};

/* lmdb_file_inspect - the first pages only. fd -1: an absent file. ERR_STORE when it cannot be
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

/* lmdb_meta_read - from the first `len` bytes of a file. */
enum lmdb_file_state lmdb_meta_read(const uint8_t *file, size_t len, struct lmdb_meta *out);

/*
 * lmdb_check - read every page that the meta page leads to: numbers, kinds, bounds, order of keys,
 * counts, and that no page serves two purposes. NULL on success, else the error (static
 * text); "out of memory" is one of them.
 */
const char *lmdb_check(const uint8_t *file, size_t len);

#endif

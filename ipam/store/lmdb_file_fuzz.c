/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lmdb_file_fuzz.c: feeds a file to lmdb_file_inspect and lmdb_check, which must agree. The first
 * byte is the number of pages by which the file is longer than the data.
 */
#include "ipam/store/lmdb_file.h"

#include <sys/mman.h>

#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_fd int fd = memfd_create("data.mdb", MFD_CLOEXEC);
	FUZZ_OUT(struct lmdb_file, f);
	FUZZ_OUT(struct err, e);
	size_t len = size ? size - 1 : 0, whole = len + (size ? data[0] * 4096u : 0);
	auto_free char *file = fuzz_text(data + !!size, len);

	MUST(fd >= 0 && write(fd, file, len) == (ssize_t)len && !ftruncate(fd, (off_t)whole));
	if (!fuzz_ok(lmdb_file_inspect(fd, &f, &e), &e, &f, sizeof(f)))
		return 0;
	MUST(f.state != LMDB_FILE_GOOD || (f.want <= whole && f.want >= 1024));
	MUST(f.state != LMDB_FILE_SHORT || f.want > whole);
	if (!lmdb_check((const uint8_t *)file, len))
		MUST(f.state == LMDB_FILE_GOOD || f.state == LMDB_FILE_SHORT);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* lmdb_reserve.c: allocates the disk space that is reserved for releases. */
#include "ipam/store/lmdb_reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "lib/base/retry.h"

#define KEPT_MIN   ((uint64_t)256 * 1024) /* about ten times the pages that a release changes */
#define KEPT_SHARE 8
#define BLOCK      512 /* of st_blocks */

uint64_t lmdb_reserve_size(uint64_t used)
{
	return KEPT_MIN + used / KEPT_SHARE;
}

/* For file systems that cannot allocate in advance: checks that there is space now. */
static int check_free_space(int fd, uint64_t bytes)
{
	struct statvfs s;

	if (fstatvfs(fd, &s))
		return -1;
	if ((uint64_t)s.f_bavail * s.f_frsize >= bytes)
		return 0;
	errno = ENOSPC;
	return -1;
}

static int allocate_blocks(int fd, uint64_t size)
{
	unsigned tries = 0;
	int rc;

	do
		rc = fallocate(fd, 0, 0, (off_t)size);
	while (rc && retry_interrupted(&tries));
	return rc;
}

static int store_reserve(int fd, uint64_t used)
{
	uint64_t kept = lmdb_reserve_size(used), want = used + 2 * kept;
	struct stat st;

	if (fstat(fd, &st))
		return -1;
	/* If the file has no holes, its bytes are allocated. */
	if ((uint64_t)st.st_size >= want && (uint64_t)st.st_blocks * BLOCK >= (uint64_t)st.st_size)
		return 0;
	/* Allocate more than needed, so that this is rarely done. */
	if (allocate_blocks(fd, want + kept) == 0 || allocate_blocks(fd, want) == 0)
		return 0;
	return errno == EOPNOTSUPP || errno == ENOSYS ? check_free_space(fd, 2 * kept) : -1;
}

int lmdb_reserve_make(int fd, uint64_t used, struct err *e)
{
	if (store_reserve(fd, used) == 0)
		return 0;
	err_set(e, ERR_STORE, errno == EDQUOT ? ENOSPC : errno, "reserve space in the store");
	return e->errnum == ENOSPC
		       ? err_hint(e, "the file system is full; the rest is reserved for releases "
				     "of addresses. Free disk space, then try again")
		       : -1;
}

uint64_t lmdb_reserve_behind(int fd, uint64_t used)
{
	struct stat st;

	return fstat(fd, &st) || (uint64_t)st.st_size < used ? 0 : (uint64_t)st.st_size - used;
}

bool lmdb_reserve_is_out(int fd)
{
	struct statvfs s;

	return fstatvfs(fd, &s) == 0 && s.f_bavail == 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* lmdb_fuzz.c: feeds a file to the store. LMDB must survive a file that passes its check. */
#include "ipam/store/lmdb.h"

#include <fcntl.h>

#include "lib/sys/fs.h"
#include "lib/testing/fuzz.h"

static int see(const char *key, const char *value, void *arg)
{
	*(size_t *)arg += strlen(key) + strlen(value);
	return 0;
}

FUZZ(const uint8_t *data, size_t size)
{
	const struct store_lmdb where = { .dir = getenv("TMPDIR"),
					  .boot = "an-id-of-thirty-six-characters-here.",
					  .create = STORE_CREATE };
	struct err e;
	auto_fd int at = fs_open_dir(where.dir, false, &e);
	auto_fd int fd = openat(at, "data.mdb", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	auto_store struct store *s = NULL;
	struct store_txn *t;
	size_t n = 0;

	MUST(!fs_unlink_at(at, "lock", &e) && !fs_unlink_at(at, "data.mdb.safe", &e) &&
	     !fs_write_fd(fd, data, size, &e));
	if (store_lmdb_open(&where, &s, &e) || s->ops->begin(s, STORE_WRITE, &t, &e))
		return 0;
	(void)!(s->ops->scan(t, (struct store_span){ "", NULL }, see, &n, &e) ||
		s->ops->put(t, "a/b", "{}", &e) || s->ops->del(t, "m/store", &e));
	return s->ops->commit(t, &e), 0;
}

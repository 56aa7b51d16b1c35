/* SPDX-License-Identifier: Apache-2.0 */
/* lock.c: takes a lock on a file, and gives up at a deadline. */
#include "lib/sys/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#include "lib/base/backoff.h"
#include "lib/base/hash.h"

/* Any hash will do, as a collision only costs a wait. */
static off_t lock_offset(const char *name)
{
	return (off_t)(hash_add_text(HASH_START, name) >> 1);
}

/*
 * range NULL: the whole descriptor. Only racing calls for one thing wait here. To ask again is
 * simpler than F_OFD_SETLKW with a signal at the deadline.
 */
static int lock_wait_for(int fd, const struct flock *range, const char *name, int timeout_ms,
			 struct err *e)
{
	struct backoff p = backoff_for(timeout_ms);

	while (range ? fcntl(fd, F_OFD_SETLK, range) : flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EAGAIN && errno != EACCES && errno != EINTR)
			return err_set(e, ERR_IO, errno, "lock %s", name);
		if (!backoff_pause(&p))
			return err_set(e, ERR_AGAIN, 0, "another process works on %s; try again",
				       name);
	}
	return 0;
}

int lock_name(int dirfd, const char *name, bool create, int timeout_ms, struct err *e)
{
	const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
	auto_fd int fd = openat(dirfd, "lock", create ? flags | O_CREAT : flags, 0600);
	const struct flock range = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = lock_offset(name), .l_len = 1
	};

	if (fd < 0)
		return err_set(e, ERR_IO, errno, "open the lock file");
	return lock_wait_for(fd, &range, name, timeout_ms, e) ? -1 : TAKE_FD(fd);
}

int lock_descriptor(int fd, const char *name, int timeout_ms, struct err *e)
{
	return lock_wait_for(fd, NULL, name, timeout_ms, e);
}

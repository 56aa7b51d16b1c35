/* SPDX-License-Identifier: Apache-2.0 */
/* lmdb_lock.c: takes the store's lock, and kills a holder that is proved to be stopped. */
#include "ipam/store/lmdb_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "ipam/store/lmdb_proc.h"
#include "lib/base/ctx.h"

#define NOTES      64   /* holders that the file can record at a time */
#define LOOK_EVERY 1000 /* ms between two checks of the holders */
#define DEATH_MS   1000 /* wait for the end of a killed process */

static int try_lock(int fd, short type)
{
	struct flock all = { .l_type = type, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_SETLK, &all);
}

/* ---- the holder ---- */

bool lmdb_holder_is_stopped(const struct lmdb_holder *before, const struct lmdb_holder *now)
{
	/* Stopped, traced, or asleep. A transaction never sleeps, so a sleeping holder is frozen.
	 */
	return before->holds && now->holds && before->started == now->started &&
	       before->worked == now->worked && before->state && strchr("TtS", before->state) &&
	       now->state && strchr("TtS", now->state);
}

struct watch {
	int64_t next; /* time of the next check; 0: none yet */
	pid_t pids[NOTES];
	struct lmdb_holder seen[NOTES];
};

/* The pidfd names the process itself, so a later process with its number is never killed. */
static void kill_if_stopped(const struct lmdb_lock *l, pid_t pid, const struct lmdb_holder *before)
{
	auto_fd int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct lmdb_holder now;

	if (fd < 0 || lmdb_proc_read(pid, l->fd, &now) || !lmdb_holder_is_stopped(before, &now) ||
	    syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0))
		return;
	if (l->log)
		log_warn(l->log, "process %d held the store %s and was stopped: killed", (int)pid,
			 l->file);
	(void)poll(&p, 1, DEATH_MS);
}

static void check_holders(const struct lmdb_lock *l, struct watch *w)
{
	pid_t pids[NOTES] = { 0 };

	(void)!pread(l->fd, pids, sizeof(pids), LMDB_LOCK_NOTES);
	for (int i = 0; i < NOTES; i++) {
		struct lmdb_holder now = { .holds = false };

		if (pids[i] <= 0 || pids[i] == getpid() || lmdb_proc_read(pids[i], l->fd, &now))
			now.holds = false;
		if (w->pids[i] == pids[i] && lmdb_holder_is_stopped(&w->seen[i], &now))
			kill_if_stopped(l, pids[i], &now);
		w->pids[i] = pids[i];
		w->seen[i] = now;
	}
}

/* ---- waiting ---- */

/*
 * Waits by trying again: transactions take less than a millisecond, and only a signal could end a
 * blocking wait.
 */
int lmdb_lock_take(const struct lmdb_lock *l, bool exclusive, struct err *e)
{
	struct timespec pause = { 0, 50000 };
	struct watch w = { .next = 0 };
	int64_t deadline = 0;

	while (try_lock(l->fd, exclusive ? F_WRLCK : F_RDLCK)) {
		if (errno != EAGAIN && errno != EACCES && errno != EINTR)
			return err_set(e, ERR_STORE, errno, "lock %s", l->file);
		int64_t now = ctx_mono_ms();
		if (!deadline) {
			deadline = now + l->wait_ms;
			w.next = now + LOOK_EVERY;
		}
		if (now >= deadline) {
			err_set(e, ERR_AGAIN, ETIMEDOUT, "another process holds the store %s",
				l->file);
			return err_hint(e, "`fuser -v` on the file \"lock\" beside it names the "
					   "process; is it stopped?");
		}
		if (now >= w.next) {
			check_holders(l, &w);
			w.next = now + LOOK_EVERY;
		}
		(void)nanosleep(&pause, NULL);
		if (pause.tv_nsec < 1000000)
			pause.tv_nsec *= 2;
	}
	/* Only a hint where to look for the holder, so an error does not matter. */
	pid_t pid = getpid();
	(void)!pwrite(l->fd, &pid, sizeof(pid),
		      LMDB_LOCK_NOTES + (off_t)sizeof(pid) * (pid % NOTES));
	return 0;
}

void lmdb_lock_drop(const struct lmdb_lock *l)
{
	(void)try_lock(l->fd, F_UNLCK);
}

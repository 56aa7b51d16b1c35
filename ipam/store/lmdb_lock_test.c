/* SPDX-License-Identifier: Apache-2.0 */
/* lmdb_lock_test.c: a process that was stopped with the store's lock holds nobody up for long. */
#include "ipam/store/lmdb_lock.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "ipam/store/lmdb_proc.h"
#include "ipam/store/lmdb.h"
#include "ipam/testing/store.h"
#include "lib/testing/dir.h"
#include "lib/testing/time.h"

static struct store *open_store(void)
{
	const struct store_lmdb at = { .dir = "/mnt/s",
				       .boot = "11111111-1111-1111-1111-111111111111",
				       .create = STORE_CREATE };
	struct store *s = NULL;
	struct err e;

	ck_assert_msg(store_lmdb_open(&at, &s, &e) == 0, "%s", e.msg);
	return s;
}

static void put_one(struct store *s, const char *key, const char *value)
{
	struct store_txn *t = c_begin(s, STORE_WRITE);

	c_put(t, key, value);
	c_commit(t);
}

static void all_is(struct store *s, const char *want)
{
	struct store_txn *t = c_begin(s, STORE_READ);

	c_scan_is(t, "", NULL, want);
	s->ops->abort(t);
}

enum ending { STOPPED, ASLEEP, BUSY, IDLE };

/* The clock of a test is quicker than the scheduler: what is not asleep yet counts as busy. */
static void await_sleep(pid_t pid)
{
	struct lmdb_holder h = { .state = '\0' };
	char path[64], text[1024];

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	for (int i = 0; i < 30000 && h.state != 'S'; i++) {
		auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = read(fd, text, sizeof(text) - 1);

		ck_assert_int_gt(n, 0);
		text[n] = '\0';
		ck_assert_int_eq(lmdb_proc_parse(text, &h), 0);
		(void)poll(NULL, 0, 1);
	}
	ck_assert_int_eq(h.state, 'S');
}

/* A process with the lock, or without it any more (IDLE). */
static pid_t start_holder(enum ending how, enum store_mode mode)
{
	int ready[2];
	char c;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct store *mine = open_store();
		struct store_txn *t = c_begin(mine, mode);
		if (mode == STORE_WRITE)
			c_put(t, "half", "done");
		if (how == IDLE)
			mine->ops->abort(t);
		(void)!write(ready[1], "x", 1);
		for (volatile bool busy = how == BUSY; busy;)
			;
		if (how == STOPPED)
			(void)raise(SIGSTOP);
		(void)pause();
		_exit(0);
	}
	(void)close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	if (how == STOPPED)
		ck_assert_int_eq(waitpid(pid, NULL, WUNTRACED), pid);
	if (how == ASLEEP || how == IDLE)
		await_sleep(pid);
	(void)close(ready[0]);
	return pid;
}

/* How it ended: by signal 9 of the test if it lived until now, with -1. */
static int end_holder(pid_t pid)
{
	int status = 0;

	if (waitpid(pid, &status, WNOHANG) == pid)
		return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	return -1;
}

static void holds_nobody_up(enum ending how, enum store_mode mode)
{
	struct store *s = open_store();
	pid_t idle = start_holder(IDLE, STORE_WRITE), pid = start_holder(how, mode);

	faketime_begin(NULL);
	put_one(s, "b", "2");
	ck_assert_int_lt(faketime_gone(), 4000);
	all_is(s, "a=1 b=2 ");
	store_close(s);
	ck_assert_int_eq(end_holder(pid), SIGKILL);
	ck_assert_int_eq(end_holder(idle), -1); /* it noted itself, but does not hold the lock */
}

START_TEST(a_stopped_holder_is_killed)
{
	static const struct {
		enum ending how;
		enum store_mode mode;
	} cases[] = { { STOPPED, STORE_WRITE }, { STOPPED, STORE_READ }, { ASLEEP, STORE_WRITE } };

	(void)testing_dir();
	struct store *s = open_store();
	put_one(s, "a", "1");
	store_close(s);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		holds_nobody_up(cases[i].how, cases[i].mode);
		s = open_store();
		struct store_txn *t = c_begin(s, STORE_WRITE);
		struct err e;
		ck_assert_int_eq(s->ops->del(t, "b", &e), 0);
		c_commit(t);
		store_close(s);
	}
}
END_TEST

/* Who works is let work, however long it takes. */
START_TEST(a_busy_holder_is_not_killed)
{
	(void)testing_dir();
	struct store *s = open_store();
	struct store_txn *t;
	struct err e;

	put_one(s, "a", "1");
	pid_t pid = start_holder(BUSY, STORE_WRITE);
	faketime_begin(NULL);
	ck_assert_int_eq(s->ops->begin(s, STORE_WRITE, &t, &e), -1);
	ck_assert_int_eq(e.code, ERR_AGAIN);
	ck_assert_int_ge(faketime_gone(), STORE_LMDB_WAIT_MS);
	ck_assert_int_eq(end_holder(pid), -1);
	put_one(s, "b", "2");
	store_close(s);
}
END_TEST

START_TEST(what_a_stopped_holder_is)
{
	const struct lmdb_holder at_first = { true, 'T', 100, 7 };
	static const struct {
		struct lmdb_holder now;
		bool stopped;
	} cases[] = {
		{ { true, 'T', 100, 7 }, true },   { { true, 't', 100, 7 }, true },
		{ { true, 'S', 100, 7 }, true },   { { false, 'T', 100, 7 }, false },
		{ { true, 'T', 101, 7 }, false },  { { true, 'T', 100, 8 }, false },
		{ { true, 'R', 100, 7 }, false },  { { true, 'D', 100, 7 }, false },
		{ { true, '\0', 100, 7 }, false },
	};
	const struct lmdb_holder busy = { true, 'R', 100, 7 };
	struct lmdb_holder h;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_msg(lmdb_holder_is_stopped(&at_first, &cases[i].now) == cases[i].stopped,
			      "case %zu", i);
	ck_assert(!lmdb_holder_is_stopped(&busy, &at_first));
	ck_assert_int_eq(lmdb_proc_parse("5 (a ) b)) T 1 5 5 0 -1 0 0 0 0 0 20 3 0 0 20 0 1 0 "
					 "12345 1000 20",
					 &h),
			 0);
	ck_assert_int_eq(h.state, 'T');
	ck_assert_uint_eq(h.started, 12345);
	ck_assert_uint_eq(h.worked, 23);
	ck_assert_int_eq(lmdb_proc_parse("", &h), -1);
	ck_assert_int_eq(lmdb_proc_parse("5 (x", &h), -1);
	ck_assert_int_eq(lmdb_proc_parse("5 (x) T 1 2", &h), -1);
}
END_TEST

TEST_PROGRAM("lmdb_lock", a_stopped_holder_is_killed, a_busy_holder_is_not_killed,
	     what_a_stopped_holder_is)

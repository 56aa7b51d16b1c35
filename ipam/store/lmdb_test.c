/* SPDX-License-Identifier: Apache-2.0 */
/* lmdb_test.c: the LMDB store keeps the contract, survives crashes, and reports damage. */
#include "ipam/store/lmdb.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "ipam/store/lmdb_file.h"
#include "ipam/testing/store_contract.h"
#include "lib/testing/dir.h"

#define BOOT_1 "11111111-1111-1111-1111-111111111111"
#define BOOT_2 "22222222-2222-2222-2222-222222222222"
#define DIR    "/mnt/a/store"
#define DATA   DIR "/data.mdb"

static bool have_dir;

static int open_at(const char *dir, const char *boot, enum store_create create, struct store **out,
		   struct err *e)
{
	const struct store_lmdb at = { .dir = dir, .boot = boot, .create = create };

	if (!have_dir)
		(void)testing_dir();
	have_dir = true;
	return store_lmdb_open(&at, out, e);
}

static struct store *open_boot(const char *boot)
{
	struct store *s = NULL;
	struct err e;

	ck_assert_msg(open_at(DIR, boot, STORE_CREATE, &s, &e) == 0, "%s", e.msg);
	return s;
}

struct store *contract_open(void)
{
	return open_boot(BOOT_1);
}

static void put_one(struct store *s, const char *key, const char *value, bool keep)
{
	struct store_txn *t = c_begin(s, STORE_WRITE);

	c_put(t, key, value);
	if (keep)
		s->ops->keep(t);
	c_commit(t);
}

static void all_is(struct store *s, const char *want)
{
	struct store_txn *t = c_begin(s, STORE_READ);

	c_scan_is(t, "", NULL, want);
	s->ops->abort(t);
}

/* Closed again; the error when it could not be opened. */
static int try_open(const char *dir, const char *boot, enum store_create create, struct err *e)
{
	struct store *s = NULL;
	int rc = open_at(dir, boot, create, &s, e);

	store_close(s);
	return rc;
}

START_TEST(the_store_is_readable_by_root_alone)
{
	struct stat st;

	store_close(open_boot(BOOT_1));
	ck_assert_int_eq(stat("/mnt/a", &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0700);
	ck_assert_int_eq(stat(DIR, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0700);
	ck_assert_int_eq(stat(DATA, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(stat(DIR "/lock", &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
}
END_TEST

START_TEST(creates_nothing_unless_told)
{
	struct err e;

	ck_assert_int_eq(try_open(DIR, BOOT_1, STORE_EXISTING, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_int_eq(access("/mnt/a", F_OK), -1);
	ck_assert_int_eq(mkdir("/mnt/a", 0700) | mkdir(DIR, 0700), 0);
	ck_assert_int_eq(try_open(DIR, BOOT_1, STORE_EXISTING, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_int_eq(access(DIR "/lock", F_OK), -1);
	struct store *s = open_boot(BOOT_1);
	put_one(s, "a", "1", false);
	store_close(s);
	ck_assert_int_eq(try_open(DIR, BOOT_1, STORE_EXISTING, &e), 0);
}
END_TEST

START_TEST(bad_folders_are_refused)
{
	struct err e;

	(void)testing_dir();
	have_dir = true;
	testing_file("/mnt/file", 0600, "x");
	ck_assert_int_eq(try_open("/mnt/file", BOOT_1, STORE_CREATE, &e), -1);
	ck_assert_int_eq(e.code, ERR_STORE);
	ck_assert_ptr_nonnull(strstr(e.msg, "/mnt/file"));
	ck_assert_int_eq(try_open("/mnt/file/x", BOOT_1, STORE_CREATE, &e), -1);
	ck_assert_int_eq(e.code, ERR_STORE);
	ck_assert_int_eq(mkdir("/mnt/d", 0700) | mkdir("/mnt/d/data.mdb", 0700), 0);
	ck_assert_int_eq(try_open("/mnt/d", BOOT_1, STORE_CREATE, &e), -1);
	ck_assert_int_eq(e.code, ERR_STORE);
	ck_assert_int_eq(mkdir("/mnt/l", 0700) | symlink("/mnt/file", "/mnt/l/data.mdb"), 0);
	ck_assert_int_eq(try_open("/mnt/l", BOOT_1, STORE_CREATE, &e), -1);
	ck_assert_int_eq(e.code, ERR_STORE);
	/* a file that is not ours */
	ck_assert_int_eq(mkdir("/mnt/f", 0700), 0);
	char text[9000];
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	testing_file("/mnt/f/data.mdb", 0600, text);
	ck_assert_int_eq(try_open("/mnt/f", BOOT_1, STORE_CREATE, &e), -1);
	ck_assert_int_eq(e.code, ERR_STORE);
	ck_assert_ptr_nonnull(strstr(e.msg, "/mnt/f/data.mdb is damaged"));
	ck_assert_ptr_nonnull(strstr(e.detail, "move"));
	ck_assert_int_eq(access("/mnt/f/lock", F_OK), -1);
}
END_TEST

START_TEST(a_read_only_folder_is_an_error)
{
	struct err e;

	struct store *s = open_boot(BOOT_1);
	put_one(s, "a", "1", false);
	store_close(s);
	ck_assert_int_eq(mount("none", "/mnt", NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	ck_assert_int_eq(try_open(DIR, BOOT_1, STORE_CREATE, &e), -1);
	ck_assert_int_eq(e.code, ERR_STORE);
	ck_assert_int_eq(e.errnum, EROFS);
	ck_assert_int_eq(try_open("/mnt/new", BOOT_1, STORE_CREATE, &e), -1);
	ck_assert_int_eq(e.code, ERR_STORE);
}
END_TEST

/* Takes all that is left of the file system. */
static void fill_disk(void)
{
	static const char zeros[4096];
	auto_fd int fd = open("/mnt/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	ck_assert_int_eq(errno, ENOSPC);
}

static void key_of(int n, char key[16])
{
	(void)snprintf(key, 16, "k%04d", n);
}

static int put_many(struct store *s, struct err *e)
{
	char value[1000], key[16];

	memset(value, 'v', sizeof(value));
	value[sizeof(value) - 1] = '\0';
	for (int n = 0;; n++) {
		struct store_txn *t;

		ck_assert_int_lt(n, 10000);
		if (s->ops->begin(s, STORE_WRITE, &t, e))
			return n;
		key_of(n, key);
		c_put(t, key, value);
		c_commit(t);
	}
}

/* Nothing more is taken, and all that was taken can be given back. */
START_TEST(a_full_disk_still_takes_releases)
{
	struct store *s = open_boot(BOOT_1);
	struct err e;
	char key[16];

	put_one(s, "first", "1", true);
	ck_assert_int_eq(mount("none", "/mnt", NULL, MS_REMOUNT, "size=2m"), 0);
	int n = put_many(s, &e);
	ck_assert_int_gt(n, 100);
	ck_assert_int_eq(e.code, ERR_STORE);
	ck_assert_int_eq(e.errnum, ENOSPC);
	ck_assert_ptr_nonnull(strstr(e.msg, DATA));
	ck_assert_ptr_nonnull(strstr(e.detail, "full"));
	fill_disk();
	store_close(s);
	for (int i = 0; i < n; i++) {
		s = open_boot(BOOT_1);
		struct store_txn *t = c_begin(s, STORE_RELEASE);
		key_of(i, key);
		ck_assert_int_eq(s->ops->del(t, key, &e), 0);
		key[0] = 'r'; /* what a release leaves: an address at rest */
		c_put(t, key, "some record of who had it and since when");
		if (i % 50 == 0)
			s->ops->keep(t); /* its copy has no room, and that is not an error */
		c_commit(t);
		store_close(s);
	}
	s = open_boot(BOOT_1);
	struct store_txn *t = c_begin(s, STORE_READ);
	ck_assert_str_eq(c_get(t, "first"), "1");
	ck_assert_str_eq(c_get(t, "k0000"), "(absent)");
	s->ops->abort(t);
	ck_assert_int_eq(unlink("/mnt/filler"), 0);
	put_one(s, "last", "1", false);
	store_close(s);
}
END_TEST

/* A store of an earlier version, which kept nothing: the error has its name. */
START_TEST(a_full_disk_without_a_reserve_is_an_error)
{
	struct store *s = open_boot(BOOT_1);
	struct store_txn *t;
	struct lmdb_file f;
	char value[60000];
	struct err e;

	put_one(s, "first", "1", true);
	store_close(s);
	auto_fd int fd = open(DATA, O_RDWR | O_CLOEXEC);
	ck_assert_int_eq(lmdb_file_inspect(fd, &f, &e), 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)f.want), 0);
	ck_assert_int_eq(mount("none", "/mnt", NULL, MS_REMOUNT, "size=80k"), 0);
	fill_disk();
	s = open_boot(BOOT_1);
	ck_assert_int_eq(s->ops->begin(s, STORE_WRITE, &t, &e), -1);
	ck_assert_int_eq(e.errnum, ENOSPC);
	memset(value, 'v', sizeof(value));
	value[sizeof(value) - 1] = '\0';
	t = c_begin(s, STORE_RELEASE);
	c_put(t, "k", value);
	ck_assert_int_eq(s->ops->commit(t, &e), -1);
	ck_assert_int_eq(e.code, ERR_STORE);
	ck_assert_int_eq(e.errnum, ENOSPC);
	all_is(s, "first=1 ");
	store_close(s);
}
END_TEST

START_TEST(waits_for_others_but_not_for_ever)
{
	struct store *a = open_boot(BOOT_1), *b = open_boot(BOOT_1);
	struct store_txn *t = c_begin(a, STORE_WRITE), *u;
	struct err e;

	store_lmdb_patience(b, 20);
	ck_assert_int_eq(b->ops->begin(b, STORE_WRITE, &u, &e), -1);
	ck_assert_int_eq(e.code, ERR_AGAIN);
	ck_assert_int_eq(b->ops->begin(b, STORE_READ, &u, &e), -1);
	ck_assert_int_eq(e.code, ERR_AGAIN);
	a->ops->abort(t);
	t = c_begin(a, STORE_READ);
	u = c_begin(b, STORE_READ);
	b->ops->abort(u);
	ck_assert_int_eq(b->ops->begin(b, STORE_WRITE, &u, &e), -1);
	a->ops->abort(t);
	u = c_begin(b, STORE_WRITE);
	b->ops->abort(u);
	store_close(a);
	store_close(b);
}
END_TEST

/* A writer killed in mid-transaction leaves neither its writes nor its lock. */
START_TEST(killed_writers_leave_a_whole_store)
{
	struct store *s = open_boot(BOOT_1);
	int status, ready[2];
	char c;

	put_one(s, "a", "1", true);
	ck_assert_int_eq(pipe(ready), 0);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct store *mine = open_boot(BOOT_1);
		struct store_txn *t = c_begin(mine, STORE_WRITE);
		char key[16];
		for (int i = 0; i < 1000; i++) {
			(void)snprintf(key, sizeof(key), "k%d", i);
			c_put(t, key, "x");
		}
		(void)!write(ready[1], "x", 1);
		(void)pause();
		_exit(0);
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	all_is(s, "a=1 ");
	put_one(s, "b", "2", false);
	all_is(s, "a=1 b=2 ");
	store_close(s);
}
END_TEST

static void overwrite(const char *path, off_t at, const void *bytes, size_t n)
{
	auto_fd int fd = open(path, O_WRONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, bytes, n, at), (ssize_t)n);
}

static void fill(struct store *s)
{
	struct store_txn *t = c_begin(s, STORE_WRITE);
	char key[32];

	for (int i = 0; i < 300; i++) {
		(void)snprintf(key, sizeof(key), "key/%06d", i);
		c_put(t, key, "some value that takes up a little room");
	}
	c_commit(t);
}

/* Each page in turn is torn by a power loss: the copy takes its place. */
START_TEST(torn_by_a_power_loss)
{
	static const char zeros[4096];
	struct store *s = open_boot(BOOT_1);
	struct stat st;

	put_one(s, "pool", "1", true);
	fill(s);
	store_close(s);
	ck_assert_int_eq(stat(DATA, &st), 0);
	ck_assert_int_gt(st.st_size, 5 * 4096);
	char *whole = malloc((size_t)st.st_size);
	{
		auto_fd int fd = open(DATA, O_RDONLY | O_CLOEXEC);
		ck_assert_int_eq(read(fd, whole, (size_t)st.st_size), st.st_size);
	}
	int restored = 0;
	for (off_t at = 0; at < st.st_size; at += 4096) {
		overwrite(DATA, 0, whole, (size_t)st.st_size);
		overwrite(DATA, at, zeros, sizeof(zeros));
		s = open_boot(BOOT_2);
		struct store_txn *t = c_begin(s, STORE_READ);
		ck_assert_str_eq(c_get(t, "pool"), "1");
		restored += strcmp(c_get(t, "key/000000"), "(absent)") == 0;
		s->ops->abort(t);
		store_close(s);
	}
	/* all but pages that nobody uses any more */
	ck_assert_int_gt(restored, 5);
	free(whole);
}
END_TEST

/* In the same boot leases are alive that no copy knows: no silent way back. */
START_TEST(damaged_while_in_use)
{
	struct store *s = open_boot(BOOT_1);
	struct err e;

	put_one(s, "pool", "1", true);
	fill(s);
	store_close(s);
	overwrite(DATA, 16, "\0\0\0\0", 4);
	ck_assert_int_eq(try_open(DIR, BOOT_1, STORE_CREATE, &e), -1);
	ck_assert_int_eq(e.code, ERR_STORE);
	ck_assert_ptr_nonnull(strstr(e.msg, DATA " is damaged"));
	ck_assert_int_eq(truncate(DATA, 3 * 4096), 0);
	ck_assert_int_eq(try_open(DIR, BOOT_1, STORE_CREATE, &e), -1);
	ck_assert_int_eq(unlink(DATA), 0);
	ck_assert_int_eq(try_open(DIR, BOOT_1, STORE_CREATE, &e), -1);
	ck_assert_int_eq(try_open(DIR, BOOT_1, STORE_EXISTING, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	/* after the next boot the pools are back */
	s = open_boot(BOOT_2);
	all_is(s, "pool=1 ");
	store_close(s);
}
END_TEST

START_TEST(a_cut_store_is_an_error)
{
	struct store *s = open_boot(BOOT_1);
	struct err e;

	put_one(s, "pool", "1", true);
	fill(s);
	store_close(s);
	ck_assert_int_eq(truncate(DATA, 3 * 4096), 0);
	ck_assert_int_eq(try_open(DIR, BOOT_1, STORE_CREATE, &e), -1);
	ck_assert_int_eq(e.code, ERR_STORE);
	ck_assert_ptr_nonnull(strstr(e.msg, "after the end of the file"));
	/* no good copy either */
	ck_assert_int_eq(truncate(DIR "/data.mdb.safe", 100), 0);
	ck_assert_int_eq(try_open(DIR, BOOT_2, STORE_CREATE, &e), -1);
	ck_assert_int_eq(e.code, ERR_STORE);
}
END_TEST

/* Made just before the power went, before anything of value was in it. */
START_TEST(a_store_torn_while_created_is_made_again)
{
	static const char zeros[8192];
	struct store *s = open_boot(BOOT_1);

	put_one(s, "a", "1", false);
	store_close(s);
	overwrite(DATA, 0, zeros, sizeof(zeros));
	s = open_boot(BOOT_2);
	all_is(s, "");
	put_one(s, "a", "1", false);
	store_close(s);
	overwrite(DATA, 0, "rubbish", 7);
	overwrite(DATA, 16, "rubbish", 7);
	s = open_boot(BOOT_2);
	ck_assert_int_eq(truncate(DATA, 100), 0);
	store_close(s);
	s = open_boot(BOOT_2);
	all_is(s, "");
	store_close(s);
}
END_TEST

/* Two that make it at the same time: one makes it, none loses what the other wrote. */
START_TEST(concurrent_creation_makes_one_store)
{
	enum { N = 12 };
	pid_t pids[N];
	char key[16], want[256] = "";

	(void)testing_dir();
	have_dir = true;
	for (int i = 0; i < N; i++) {
		pids[i] = fork();
		ck_assert_int_ge(pids[i], 0);
		if (pids[i] == 0) {
			struct store *s = open_boot(BOOT_1);
			(void)snprintf(key, sizeof(key), "k%02d", i);
			put_one(s, key, "", i % 2);
			store_close(s);
			_exit(0);
		}
	}
	for (int i = 0; i < N; i++) {
		int status;
		ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
		ck_assert_int_eq(status, 0);
		(void)snprintf(key, sizeof(key), "k%02d= ", i);
		testing_append(want, sizeof(want), key);
	}
	struct store *s = open_boot(BOOT_1);
	all_is(s, want);
	store_close(s);
}
END_TEST

TEST_PROGRAM("store_lmdb", STORE_CONTRACT, the_store_is_readable_by_root_alone,
	     creates_nothing_unless_told, bad_folders_are_refused, a_read_only_folder_is_an_error,
	     a_full_disk_still_takes_releases, a_full_disk_without_a_reserve_is_an_error,
	     waits_for_others_but_not_for_ever, killed_writers_leave_a_whole_store,
	     torn_by_a_power_loss, damaged_while_in_use, a_cut_store_is_an_error,
	     a_store_torn_while_created_is_made_again, concurrent_creation_makes_one_store)

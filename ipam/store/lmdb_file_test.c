/* SPDX-License-Identifier: Apache-2.0 */
/* lmdb_file_test.c: files that LMDB made are found whole, and torn ones are not. */
#include "ipam/store/lmdb_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "ipam/store/lmdb.h"
#include "ipam/testing/store.h"
#include "lib/testing/dir.h"

#define DATA "/mnt/s/data.mdb"

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

struct file {
	uint8_t *bytes;
	size_t len;
};

static void load(struct file *f)
{
	struct stat st;
	auto_fd int fd = open(DATA, O_RDONLY | O_CLOEXEC);

	ck_assert_int_eq(fstat(fd, &st), 0);
	f->len = (size_t)st.st_size;
	free(f->bytes);
	f->bytes = malloc(f->len);
	ck_assert_int_eq(read(fd, f->bytes, f->len), st.st_size);
	/* behind the last page there is only room */
	struct lmdb_meta m;
	if (lmdb_meta_read(f->bytes, f->len, &m) == LMDB_FILE_GOOD &&
	    (m.last_page + 1) * m.page_size < f->len)
		f->len = (size_t)(m.last_page + 1) * m.page_size;
}

static void is_whole(struct file *f)
{
	load(f);
	const char *bad = lmdb_check(f->bytes, f->len);
	ck_assert_msg(bad == NULL, "%s", bad);
}

/* Random writes and deletions, long values among them: always whole. */
START_TEST(what_lmdb_makes_is_whole)
{
	static char value[20001];
	struct file f = { NULL, 0 };
	uint32_t seed = 3;
	char key[400];
	struct err e;

	(void)testing_dir();
	struct store *s = open_store();
	is_whole(&f);
	for (int round = 0; round < 60; round++) {
		struct store_txn *t = c_begin(s, STORE_WRITE);
		for (int i = 0; i < 60; i++) {
			seed = seed * 1664525 + 1013904223;
			unsigned n = (seed >> 8) % 900;
			(void)snprintf(key, sizeof(key), "%u%0*u", n % 7, (int)(n % 200), n);
			if (seed >> 30 == 0) {
				ck_assert_int_eq(s->ops->del(t, key, &e), 0);
				continue;
			}
			size_t len = (seed >> 20) % 50 == 0 ? 20000 : (seed >> 16) % 300;
			memset(value, 'v', len);
			value[len] = '\0';
			c_put(t, key, value);
		}
		c_commit(t);
		is_whole(&f);
	}
	store_close(s);
	free(f.bytes);
}
END_TEST

/* Two levels of branches, a freelist, a long value. */
static void make(struct file *f)
{
	static char value[9000];
	char key[480];
	struct err e;

	(void)testing_dir();
	struct store *s = open_store();
	for (int round = 0; round < 3; round++) {
		struct store_txn *t = c_begin(s, STORE_WRITE);
		for (int i = 0; i < 60; i++) {
			(void)snprintf(key, sizeof(key), "%0400d/%d", i, i);
			memset(value, 'v', 100);
			value[100] = '\0';
			if (round == 1 && i % 3 == 0)
				ck_assert_int_eq(s->ops->del(t, key, &e), 0);
			else
				c_put(t, key, value);
		}
		memset(value, 'l', sizeof(value) - 1);
		c_put(t, "long", value);
		c_commit(t);
	}
	store_close(s);
	is_whole(f);
}

START_TEST(a_cut_file_is_found_damaged)
{
	struct file f = { NULL, 0 };

	make(&f);
	struct lmdb_meta m;
	ck_assert_int_eq(lmdb_meta_read(f.bytes, f.len, &m), LMDB_FILE_GOOD);
	for (size_t len = 0; len < f.len; len += 512) {
		uint8_t *exact = malloc(len + !len);
		memcpy(exact, f.bytes, len);
		/* (with a tool that watches memory: nothing behind the end is read) */
		const char *bad = lmdb_check(exact, len);
		ck_assert_msg(bad != NULL || len >= f.len - 8 * 4096, "%zu of %zu bytes", len,
			      f.len);
		free(exact);
	}
	free(f.bytes);
}
END_TEST

/* Bytes that are changed may make a difference or none: but reading them never leaves the file. */
START_TEST(a_changed_byte_is_noticed_or_harmless)
{
	struct file f = { NULL, 0 };
	size_t noticed = 0, tried = 0;

	make(&f);
	for (size_t at = 0; at < f.len; at += at % 4096 < 200 ? 1 : 97) {
		static const uint8_t with[] = { 0x00, 0xff, 0x01, 0x80 };
		for (size_t k = 0; k < sizeof(with); k++) {
			uint8_t old = f.bytes[at];
			if (old == with[k])
				continue;
			f.bytes[at] = with[k];
			tried++;
			noticed += lmdb_check(f.bytes, f.len) != NULL;
			f.bytes[at] = old;
		}
	}
	ck_assert_uint_gt(noticed, tried / 30);
	ck_assert_ptr_null(lmdb_check(f.bytes, f.len));
	free(f.bytes);
}
END_TEST

/* A page of zeros, or of another time: what a power loss leaves. */
START_TEST(a_lost_page_is_found)
{
	struct file f = { NULL, 0 };
	int noticed = 0;

	make(&f);
	uint8_t *page = malloc(4096);
	for (size_t at = 0; at < f.len; at += 4096) {
		memcpy(page, f.bytes + at, 4096);
		memset(f.bytes + at, 0, 4096);
		noticed += lmdb_check(f.bytes, f.len) != NULL;
		memcpy(f.bytes + at, f.bytes + (at ? 0 : 8192), 4096);
		noticed += lmdb_check(f.bytes, f.len) != NULL;
		memcpy(f.bytes + at, page, 4096);
	}
	/* all but the free ones */
	ck_assert_int_gt(noticed, (int)(f.len / 8192));
	free(page);
	free(f.bytes);
}
END_TEST

static enum lmdb_file_state inspect(const void *bytes, size_t len)
{
	struct lmdb_file out;
	struct err e;
	auto_fd int fd = open("/mnt/x", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
	ck_assert_int_eq(lmdb_file_inspect(fd, &out, &e), 0);
	return out.state;
}

START_TEST(damaged_meta_pages_are_found)
{
	static const uint8_t zeros[8192];
	struct file f = { NULL, 0 };
	struct lmdb_file out;
	struct err e;

	make(&f);
	ck_assert_int_eq(lmdb_file_inspect(-1, &out, &e), 0);
	ck_assert_int_eq(out.state, LMDB_FILE_EMPTY);
	ck_assert_int_eq(inspect("", 0), LMDB_FILE_EMPTY);
	ck_assert_int_eq(inspect(zeros, sizeof(zeros)), LMDB_FILE_EMPTY);
	ck_assert_int_eq(inspect(f.bytes, 100), LMDB_FILE_EMPTY);
	ck_assert_int_eq(inspect(f.bytes, f.len), LMDB_FILE_GOOD);
	ck_assert_int_eq(inspect(f.bytes, f.len / 2), LMDB_FILE_SHORT);
	ck_assert_int_eq(inspect(f.bytes, 5000), LMDB_FILE_SHORT);
	ck_assert_int_eq(inspect(f.bytes + 3, 8192), LMDB_FILE_BAD);
	f.bytes[20]++;
	ck_assert_int_eq(inspect(f.bytes, f.len), LMDB_FILE_BAD);
	f.bytes[20]--;
	f.bytes[4096 + 16]++;
	ck_assert_int_eq(inspect(f.bytes, f.len), LMDB_FILE_BAD);
	auto_fd int dir = open("/mnt", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(lmdb_file_inspect(dir, &out, &e), 0);
	ck_assert_int_eq(out.state, LMDB_FILE_BAD);
	/* not readable is not empty: a DEL would have nothing to release */
	auto_fd int blind = open("/mnt", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
	ck_assert_int_ge(blind, 0);
	ck_assert_int_eq(write(blind, f.bytes, f.len) == (ssize_t)f.len, 1);
	ck_assert_int_eq(lmdb_file_inspect(blind, &out, &e), -1);
	ck_assert_int_eq(lmdb_file_inspect(9999, &out, &e), -1);
	ck_assert_int_eq(e.code, ERR_STORE);
	free(f.bytes);
}
END_TEST

TEST_PROGRAM("lmdb_file", what_lmdb_makes_is_whole, a_cut_file_is_found_damaged,
	     a_changed_byte_is_noticed_or_harmless, a_lost_page_is_found,
	     damaged_meta_pages_are_found)

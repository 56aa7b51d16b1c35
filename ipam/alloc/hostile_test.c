/* SPDX-License-Identifier: Apache-2.0 */
/* hostile_test.c: a folder for stores that somebody else made: what lies in it does no harm. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "ipam/lease/session.h"
#include "ipam/store/lmdb.h"
#include "ipam/testing/store.h"
#include "lib/testing/dir.h"

#define BOOT  "11111111-1111-1111-1111-111111111111"
#define DIR   "/mnt/s"
#define DATA  DIR "/data.mdb"
#define LOCK  DIR "/lock"
#define SEEDS 3000

static int open_store(struct store **out, struct err *e)
{
	const struct store_lmdb at = {
		.dir = DIR, .boot = BOOT, .create = STORE_CREATE, .outside = true
	};

	return store_lmdb_open(&at, out, e);
}

/* ---- damaged on purpose ---- */

struct image {
	uint8_t *bytes;
	size_t len;
};

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Branches over leaves, long values, lists of free pages. */
static void fill(struct store *s)
{
	static char value[9000];
	char key[400];
	struct err e;

	for (int round = 0; round < 4; round++) {
		struct store_txn *t = c_begin(s, STORE_WRITE);
		for (int i = 0; i < 120; i++) {
			size_t len = i % 40 == 0 ? 8000 : 20 + (size_t)i;
			(void)snprintf(key, sizeof(key), "%0*d/%d", i % 300 + 1, i, i);
			memset(value, 'v', len);
			value[len] = '\0';
			if ((i + round) % 3)
				c_put(t, key, value);
			else
				ck_assert_int_eq(s->ops->del(t, key, &e), 0);
		}
		c_commit(t);
	}
}

static void make_image(struct image *m)
{
	struct store *s = NULL;
	struct err e;

	ck_assert_msg(open_store(&s, &e) == 0, "%s", e.msg);
	fill(s);
	store_close(s);
	auto_fd int fd = open(DATA, O_RDONLY | O_CLOEXEC);
	m->len = 64 * 4096; /* more than is used */
	m->bytes = calloc(1, m->len);
	ck_assert_int_gt(read(fd, m->bytes, m->len), 30 * 4096);
}

static const uint16_t odd[] = {
	0,    1,     2,     7,      8,      15,     16,     17,     0x7f,
	0xff, 0x100, 0xfff, 0x1000, 0x1001, 0x7fff, 0x8000, 0xfffe, 0xffff
};

static void mutate(uint8_t *b, size_t len, uint32_t seed)
{
	unsigned n = 1 + next(&seed) % 6, pages = (unsigned)(len / 4096);

	for (unsigned i = 0; i < n; i++) {
		size_t page = next(&seed) % pages, at = page * 4096;
		uint16_t v = odd[next(&seed) % ARRAY_SIZE(odd)];

		switch (next(&seed) % 6) {
		case 0:
			b[at + next(&seed) % 4096] = (uint8_t)next(&seed);
			break;
		case 1: /* a page's header, or the offsets behind it */
			memcpy(b + at + next(&seed) % 40 / 2 * 2, &v, 2);
			break;
		case 2: /* meta pages: counts, roots, flags */
			memcpy(b + next(&seed) % 2 * 4096 + 16 + next(&seed) % 136 / 2 * 2, &v, 2);
			break;
		case 3: /* a record's header */
			memcpy(&v, b + at + 16 + next(&seed) % 8 * 2, 2);
			v = (uint16_t)(v % 4088 + next(&seed) % 4 * 2);
			memcpy(b + at + v, &odd[next(&seed) % ARRAY_SIZE(odd)], 2);
			break;
		case 4: /* one page in another's place */
			memcpy(b + at, b + next(&seed) % pages * 4096, 4096);
			break;
		default:
			memset(b + at + next(&seed) % 4000, (int)next(&seed), next(&seed) % 96);
			break;
		}
	}
}

static int see(const char *key, const char *value, void *arg)
{
	*(size_t *)arg += strlen(key) + strlen(value);
	return 0;
}

/* What pods do with it; errors are fine. */
static void use(struct store *s, uint32_t seed)
{
	struct store_txn *t;
	struct err e;
	char key[400], value[3000];
	size_t n = 0;

	if (s->ops->begin(s, STORE_WRITE, &t, &e))
		return;
	(void)!s->ops->scan(t, (struct store_span){ "", NULL }, see, &n, &e);
	memset(value, 'w', sizeof(value));
	for (unsigned i = 0; i < 60; i++) {
		unsigned k = next(&seed) % 120;

		(void)snprintf(key, sizeof(key), "%0*u/%u", (int)(k % 300 + 1), k, k);
		value[i * 45] = '\0';
		if (i % 2 ? s->ops->del(t, key, &e) : s->ops->put(t, key, value, &e))
			break;
		value[i * 45] = 'w';
	}
	(void)!s->ops->commit(t, &e);
}

static void put_file(const char *path, const void *bytes, size_t len)
{
	auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
}

/* The lock file vouches for the store in this boot: a forged one must not. */
START_TEST(mutated_stores_never_crash)
{
	struct image m;
	struct err e;
	int opened = 0;

	(void)testing_dir();
	make_image(&m);
	uint8_t *copy = malloc(m.len);
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		struct store *s = NULL;

		memcpy(copy, m.bytes, m.len);
		mutate(copy, m.len, seed * 2654435761u);
		put_file(DATA, copy, m.len);
		put_file(LOCK, BOOT, strlen(BOOT));
		(void)unlink(DIR "/data.mdb.safe");
		for (int again = 0; again < 2 && open_store(&s, &e) == 0; again++) {
			opened++;
			use(s, seed);
			store_close(s);
		}
	}
	/* some hit what is not used; most must not get through */
	ck_assert_int_gt(opened, SEEDS / 20);
	ck_assert_int_lt(opened, SEEDS * 3 / 2);
	free(copy);
	free(m.bytes);
}
END_TEST

/* ---- what lies there ---- */

static void refused(const char *says)
{
	struct store *s = NULL;
	struct err e;

	ck_assert_msg(open_store(&s, &e) == -1, "opened: %s", says);
	ck_assert_int_eq((int)e.code, ERR_STORE);
	ck_assert_msg(strstr(e.msg, says) != NULL, "%s", e.msg);
}

static off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : st.st_size;
}

START_TEST(folders_of_others_are_refused)
{
	(void)testing_dir();
	ck_assert_int_eq(mkdir(DIR, 0700) | chmod(DIR, 0777), 0);
	refused("others than root may write");
	ck_assert_int_eq(chmod(DIR, 0700) | mkdir("/mnt/real", 0700), 0);
	if (chown(DIR, 1234, 1234) == 0) {
		refused("does not belong to root");
		ck_assert_int_eq(chown(DIR, 0, 0), 0);
	}
	ck_assert_int_eq(chmod("/mnt", 01777), 0); /* a folder above */
	refused("others than root may write");
	ck_assert_int_eq(chmod("/mnt", 0700) | rmdir(DIR) | symlink("/mnt/real", DIR), 0);
	refused("symbolic link");
	ck_assert_int_eq(access("/mnt/real/lock", F_OK), -1);
}
END_TEST

static void each_kind_is_refused(const char *name)
{
	const char *victim = "/mnt/victim";

	testing_file(victim, 0600, "");
	ck_assert_int_eq(symlink(victim, name), 0);
	refused("symbolic link");
	ck_assert_int_eq(unlink(name) | link(victim, name), 0);
	refused("another name");
	ck_assert_int_eq(unlink(name) | mkfifo(name, 0600), 0);
	refused("not a plain file");
	ck_assert_int_eq(unlink(name) | mkdir(name, 0700), 0);
	refused("not a plain file");
	ck_assert_int_eq(rmdir(name), 0);
	if (mknod(name, S_IFBLK | 0600, makedev(7, 250)) == 0) {
		refused("not a plain file");
		ck_assert_int_eq(unlink(name), 0);
	}
	ck_assert_int_eq(size_of(victim), 0);
	ck_assert_int_eq(unlink(victim), 0);
	ck_assert_int_eq(symlink("/mnt/nologin", name), 0);
	refused("symbolic link");
	ck_assert_int_eq(access("/mnt/nologin", F_OK), -1);
	ck_assert_int_eq(unlink(name), 0);
}

START_TEST(files_of_the_wrong_kind_are_refused)
{
	(void)testing_dir();
	ck_assert_int_eq(mkdir(DIR, 0700), 0);
	each_kind_is_refused(LOCK);
	each_kind_is_refused(DATA);
}
END_TEST

/* ---- where ---- */

static int check_dir(const char *dir, struct err *e)
{
	const struct ctx ctx = { .run_dir = "/run/railhead",
				 .state_dir = "/var/lib/railhead",
				 .etc_dir = "/mnt/etc" };

	return ipam_dir_check(&ctx, dir, e);
}

START_TEST(only_allowed_folders_are_used)
{
	static const char *const good[] = { "/var/lib/cni", "/var/lib/cni/networks",
					    "/var/lib/railhead/x", "/run/railhead",
					    "/var/run/railhead/x" };
	static const char *const bad[] = { "/run",
					   "/var/run",
					   "/var/lib",
					   "/",
					   "/tmp",
					   "/var/lib/cni/../x",
					   "/var/lib/cninet",
					   "/run/railhead/attachments/n",
					   "/run/railhead/vf",
					   "/var/lib/railhead/ipam" };
	struct err e = { .msg = "" };

	(void)testing_dir();
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		ck_assert_msg(check_dir(good[i], &e) == 0, "%s: %s", good[i], e.msg);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_msg(check_dir(bad[i], &e) == -1, "%s", bad[i]);
		ck_assert_int_eq((int)e.code, ERR_CONFIG);
		ck_assert_ptr_nonnull(strstr(e.msg, "ipam.dataDir"));
	}
	/* the administrator's word; but that railhead uses folder is never a store */
	ck_assert_int_eq(mkdir("/mnt/etc", 0700), 0);
	testing_file("/mnt/etc/railhead.json", 0600, "{\"dataDirs\":[\"/run\",\"/tmp/x\"]}");
	ck_assert_int_eq(check_dir("/tmp/x/y", &e), 0);
	ck_assert_int_eq(check_dir("/run/other", &e), 0);
	ck_assert_int_eq(check_dir("/var/lib/cni", &e), -1);
	ck_assert_int_eq(check_dir("/run", &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "that railhead uses"));
	ck_assert_int_eq(check_dir("/run/railhead/attachments", &e), -1);
}
END_TEST

START_TEST(an_empty_folder_is_recognised)
{
	(void)testing_dir();
	ck_assert(ipam_dir_has_no_store(DIR));
	testing_file("/mnt/f", 0600, "");
	ck_assert(ipam_dir_has_no_store("/mnt/f/x"));
	ck_assert_int_eq(mkdir(DIR, 0700), 0);
	ck_assert(ipam_dir_has_no_store(DIR));
	testing_file(DATA, 0600, "");
	ck_assert(!ipam_dir_has_no_store(DIR));
	ck_assert_int_eq(symlink(DIR, "/mnt/l"), 0);
	ck_assert(!ipam_dir_has_no_store("/mnt/l")); /* earlier versions followed links */
}
END_TEST

TEST_PROGRAM("hostile", mutated_stores_never_crash, folders_of_others_are_refused,
	     files_of_the_wrong_kind_are_refused, only_allowed_folders_are_used,
	     an_empty_folder_is_recognised)

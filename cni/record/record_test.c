/* SPDX-License-Identifier: Apache-2.0 */
/* record_test.c: shows how records are written, read, listed and removed, and damaged ones. */
#include "cni/record/record.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "cni/protocol/env.h"
#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "lib/testing/syscall.h"

#define RUN  "/mnt/a/run" /* two levels that are not there */
#define BOOT "01234567-89ab-cdef-0123-456789abcdef"

/* A context in a new folder. */
static struct ctx new_ctx(void)
{
	(void)testing_dir();
	return (struct ctx){ .run_dir = RUN, .log = { .fd = -1 } };
}

static struct record some_record(const char *network, const char *container, const char *ifname)
{
	return (struct record){ .key = { network, container, ifname },
				.plugin = "macvlan",
				.kind = "macvlan",
				.netns = "/run/netns/\xc3\xa9",
				.netns_id = { 4, 4026532008, 77 },
				.from = { 4026531836, 4026531841 },
				.ifindex = 5,
				.lower_ifindex = 3,
				.boot = BOOT,
				.created = 1795219200123 * INT64_C(1000000),
				.master = "eth0",
				.cni_path = "/opt/cni/bin",
				.args = "K8S_POD_NAME=p" };
}

static void write_record(const struct ctx *ctx, const struct record *r)
{
	struct err e = { .msg = "" };

	ck_assert_msg(record_write(ctx, r, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(e.msg, ""); /* success leaves the error alone */
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static void not_found(const struct ctx *ctx, const struct record_key *key)
{
	struct record r;
	struct err e;

	ck_assert_int_eq(record_read(ctx, key, &r, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_NOTFOUND);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_ptr_nonnull(strstr(e.msg, key->network));
	ck_assert_ptr_nonnull(strstr(e.msg, key->container));
}

START_TEST(what_is_written_is_read)
{
	const char text[] = "{\"name\":\"n\",\"ipam\":{\"type\":\"i\",\"x\":[1,null,\"\\u00e9\"]}}";
	const struct ctx ctx = new_ctx();
	auto_json struct json *config = NULL, *device = json_new_object();
	auto_record struct record back = { 0 };
	struct record r = some_record("net", "c1", "net1");
	struct err e = { .msg = "" };

	ck_assert_int_eq(json_parse(text, strlen(text), "t", &config, &e), 0);
	ck_assert_int_eq(json_add_str(device, "pci", "0000:04:00.5"), 0);
	r.config = config;
	r.device = device;
	r.adding = true;
	write_record(&ctx, &r);
	ck_assert_msg(record_read(&ctx, &r.key, &back, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(back.key.network, "net");
	ck_assert_str_eq(back.key.container, "c1");
	ck_assert_str_eq(back.key.ifname, "net1");
	ck_assert_str_eq(back.plugin, "macvlan");
	ck_assert_str_eq(back.kind, "macvlan");
	ck_assert_str_eq(back.netns, "/run/netns/\xc3\xa9");
	ck_assert(netns_same(back.netns_id, r.netns_id));
	ck_assert_str_eq(back.boot, BOOT);
	ck_assert_int_eq(back.created, r.created);
	ck_assert_str_eq(back.master, "eth0");
	ck_assert_str_eq(back.cni_path, "/opt/cni/bin");
	ck_assert_str_eq(back.args, "K8S_POD_NAME=p");
	ck_assert_ptr_nonnull(back.tree);
	auto_free char *printed = json_print(back.config, false);
	ck_assert_str_eq(printed,
			 "{\"name\":\"n\",\"ipam\":{\"type\":\"i\",\"x\":[1,null,\"\xc3\xa9\"]}}");
	ck_assert_str_eq(json_str(json_get(back.device, "pci")), "0000:04:00.5");
	ck_assert(back.adding);
	record_clear(&back);
	r.adding = false;
	r.created = -400 * INT64_C(86400000000000);
	write_record(&ctx, &r);
	ck_assert_msg(record_read(&ctx, &r.key, &back, &e) == 0, "%s", e.msg);
	ck_assert(!back.adding);
	ck_assert_int_eq(back.created, 0);
}
END_TEST

START_TEST(the_path_and_the_mode_of_a_record)
{
	const struct ctx ctx = new_ctx();
	const struct record r = some_record("net", "c1", "net1");
	struct stat st;

	(void)umask(0);
	write_record(&ctx, &r);
	ck_assert_int_eq(stat(RUN "/attachments/net/c1,net1", &st), 0);
	ck_assert_uint_eq(st.st_mode, S_IFREG | 0600);
	ck_assert_int_eq(stat(RUN "/attachments/net", &st), 0);
	ck_assert_uint_eq(st.st_mode, S_IFDIR | 0700);
	ck_assert_int_eq(stat(RUN "/attachments", &st), 0);
	ck_assert_uint_eq(st.st_mode, S_IFDIR | 0700);
	ck_assert_int_eq(stat(RUN, &st), 0);
	ck_assert_uint_eq(st.st_mode, S_IFDIR | 0700);
}
END_TEST

START_TEST(writing_again_replaces)
{
	const struct ctx ctx = new_ctx();
	struct record r = some_record("net", "c1", "net1");
	auto_record struct record back = { 0 };
	struct err e;

	write_record(&ctx, &r);
	r.netns = "/other";
	r.master = "";
	write_record(&ctx, &r);
	ck_assert_int_eq(record_read(&ctx, &r.key, &back, &e), 0);
	ck_assert_str_eq(back.netns, "/other");
	ck_assert_str_eq(back.master, "");
	ck_assert_ptr_null(back.config);
	ck_assert_ptr_null(back.device);
}
END_TEST

/* CNI-145: looking makes nothing. */
START_TEST(an_absent_record_is_not_found)
{
	const struct ctx ctx = new_ctx();
	const struct record r = some_record("net", "c1", "net1");
	const struct record_key others[] = { { "net", "c1", "net2" },
					     { "net", "c2", "net1" },
					     { "other", "c1", "net1" } };
	struct err e = { .msg = "" };

	not_found(&ctx, &r.key);
	ck_assert_int_eq(record_remove(&ctx, &r.key, &e), 0);
	ck_assert_int_eq(record_lock(&ctx, &r.key, false, 0, &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert(!exists("/mnt/a"));
	write_record(&ctx, &r);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		not_found(&ctx, &others[i]);
		ck_assert_int_eq(record_remove(&ctx, &others[i], &e), 0);
	}
	ck_assert(exists(RUN "/attachments/net/c1,net1"));
	ck_assert(!exists(RUN "/attachments/other"));
}
END_TEST

START_TEST(removing_leaves_no_empty_folder)
{
	const struct ctx ctx = new_ctx();
	const struct record a = some_record("net", "c1", "net1"),
			    b = some_record("net", "c1", "net2");
	struct err e;

	write_record(&ctx, &a);
	write_record(&ctx, &b);
	ck_assert_int_eq(record_remove(&ctx, &a.key, &e), 0);
	ck_assert(exists(RUN "/attachments/net/c1,net2"));
	not_found(&ctx, &a.key);
	ck_assert_int_eq(record_remove(&ctx, &b.key, &e), 0);
	ck_assert(!exists(RUN "/attachments/net"));
	ck_assert_int_eq(record_remove(&ctx, &b.key, &e), 0); /* CNI-045 */
	write_record(&ctx, &a);                               /* and it can be used again */
}
END_TEST

/* CNI-156: the longest names that are served, told apart to the last character. */
START_TEST(long_names_stay_apart)
{
	const struct ctx ctx = new_ctx();
	char id[CNI_ID_MAX + 1], other[CNI_ID_MAX + 1];
	auto_record struct record back = { 0 };
	struct err e;

	memset(id, 'a', CNI_ID_MAX);
	id[CNI_ID_MAX] = '\0';
	strcpy(other, id);
	other[CNI_ID_MAX - 1] = 'b';
	const struct record a = some_record(id, id, "abcdefghijklmno");
	const struct record b = some_record(id, other, "abcdefghijklmno");
	write_record(&ctx, &a);
	not_found(&ctx, &b.key);
	write_record(&ctx, &b);
	ck_assert_int_eq(record_read(&ctx, &a.key, &back, &e), 0);
	ck_assert_str_eq(back.key.container, id);
	ck_assert_int_eq(record_remove(&ctx, &a.key, &e), 0);
	not_found(&ctx, &a.key);
}
END_TEST

/* ---- damage ---- */

START_TEST(a_damaged_file_is_an_error)
{
	const struct ctx ctx = new_ctx();
	const struct record a = some_record("net", "c1", "net1");
	struct record r;
	struct err e;

	write_record(&ctx, &a);
	ck_assert_int_eq(record_reread(&ctx, &a.key, &r, &e), 1);
	record_clear(&r);
	testing_file(RUN "/attachments/net/c1,net1", 0600, "{\"version\":1,");
	ck_assert_int_eq(record_reread(&ctx, &a.key, &r, &e), 0);
	ck_assert_int_eq(record_read(&ctx, &a.key, &r, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_DECODE);
	ck_assert_ptr_nonnull(strstr(e.msg, "c1,net1"));
	ck_assert_int_eq(record_remove(&ctx, &a.key, &e), 0);
	not_found(&ctx, &a.key);
	ck_assert_int_eq(record_reread(&ctx, &a.key, &r, &e), 0);
}
END_TEST

/* What could not be read again is not written: DEL and repair would stand there without it. */
START_TEST(too_deep_or_too_large_to_be_read)
{
	const struct ctx ctx = new_ctx();
	struct record r = some_record("net", "c1", "net1");
	char text[100] = "";
	struct err e;

	for (int depth = JSON_MAX_DEPTH - 1; depth <= JSON_MAX_DEPTH; depth++) {
		auto_json struct json *config = NULL;
		auto_record struct record back = { 0 };

		strcpy(text, "{\"a\":");
		memset(text + 5, '[', (size_t)depth - 1);
		memset(text + 5 + depth - 1, ']', (size_t)depth - 1);
		strcpy(text + 5 + 2 * (depth - 1), "}");
		ck_assert_int_eq(json_parse(text, strlen(text), "t", &config, &e), 0);
		r.config = config;
		if (depth == JSON_MAX_DEPTH) {
			ck_assert_int_eq(record_write(&ctx, &r, &e), -1);
			ck_assert_int_eq((int)e.code, ERR_CONFIG);
			break;
		}
		write_record(&ctx, &r);
		ck_assert_int_eq(record_read(&ctx, &r.key, &back, &e), 0);
	}
	auto_json struct json *config = json_new_object();
	auto_free char *value = malloc(JSON_MAX_SIZE);
	ck_assert_ptr_nonnull(value);
	memset(value, 'x', JSON_MAX_SIZE - 1);
	value[JSON_MAX_SIZE - 1] = '\0';
	ck_assert_int_eq(json_add_str(config, "a", value), 0);
	r.config = config;
	ck_assert_int_eq(record_write(&ctx, &r, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_CONFIG);
}
END_TEST

/* ---- walking ---- */

struct seen {
	char text[400];
	size_t stop_after;
	size_t n;
};

static int see(const struct record *r, void *arg)
{
	struct seen *s = arg;

	strcat(s->text, r->key.network);
	strcat(s->text, "/");
	strcat(s->text, r->key.container);
	strcat(s->text, "/");
	strcat(s->text, r->key.ifname);
	strcat(s->text, r->tree ? " " : "! ");
	return ++s->n == s->stop_after ? -1 : 0;
}

static void walk(const struct ctx *ctx, const char *network, size_t stop_after, const char *want)
{
	struct seen s = { .stop_after = stop_after };
	struct err e = { .msg = "" };

	ck_assert_msg(record_each(ctx, network, see, &s, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(s.text, want);
	ck_assert_str_eq(e.msg, "");
}

START_TEST(each_visits_records_in_order)
{
	const struct ctx ctx = new_ctx();
	const char *const keys[][3] = { { "b", "c2", "net1" },
					{ "a", "c2", "net2" },
					{ "a", "c10", "net1" },
					{ "a", "c2", "a,b" } };

	walk(&ctx, NULL, 0, "");
	walk(&ctx, "a", 0, "");
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const struct record r = some_record(keys[i][0], keys[i][1], keys[i][2]);
		write_record(&ctx, &r);
	}
	walk(&ctx, NULL, 0, "a/c10/net1 a/c2/a,b a/c2/net2 b/c2/net1 ");
	walk(&ctx, "a", 0, "a/c10/net1 a/c2/a,b a/c2/net2 ");
	walk(&ctx, "b", 0, "b/c2/net1 ");
	walk(&ctx, "c", 0, ""); /* CNI-077 */
	walk(&ctx, NULL, 2, "a/c10/net1 a/c2/a,b ");
	walk(&ctx, NULL, 3, "a/c10/net1 a/c2/a,b a/c2/net2 ");
	walk(&ctx, "a", 1, "a/c10/net1 ");
}
END_TEST

/* A file name tells which attachment it was; what is not a record of ours is passed over. */
START_TEST(each_passes_damaged_files_and_skips_others)
{
	const struct ctx ctx = new_ctx();
	const struct record r = some_record("a", "c2", "net1");

	write_record(&ctx, &r);
	testing_file(RUN "/attachments/a/c1,net1", 0600, "");
	testing_file(RUN "/attachments/a/c3,a,b", 0600, "{\"version\":9}");
	testing_file(RUN "/attachments/a/.c2,net1.tmp", 0600, "{}");
	testing_file(RUN "/attachments/a/README", 0600, "");
	testing_file(RUN "/attachments/stray", 0600, "");
	testing_file(RUN "/lock", 0600, "");
	walk(&ctx, NULL, 0, "a/c1/net1! a/c2/net1 a/c3/a,b! ");
	walk(&ctx, "stray", 0, "");
}
END_TEST

static int remove_it(const struct record *r, void *arg)
{
	struct err e;

	ck_assert_int_eq(record_remove(arg, &r->key, &e), 0);
	return 0;
}

START_TEST(records_may_be_removed_while_visiting)
{
	struct ctx ctx = new_ctx();
	struct err e;

	for (int i = 0; i < 20; i++) {
		char id[8];
		(void)snprintf(id, sizeof(id), "c%d", i);
		const struct record r = some_record(i % 2 ? "a" : "b", id, "net1");
		write_record(&ctx, &r);
	}
	ck_assert_int_eq(record_each(&ctx, NULL, remove_it, &ctx, &e), 0);
	walk(&ctx, NULL, 0, "");
	ck_assert(!exists(RUN "/attachments/a"));
	ck_assert(!exists(RUN "/attachments/b"));
}
END_TEST

/* ---- what is in the way ---- */

START_TEST(a_file_in_place_of_a_folder_is_an_error)
{
	const struct ctx ctx = new_ctx();
	const struct record r = some_record("net", "c1", "net1");
	struct err e;

	testing_file("/mnt/a", 0600, "");
	ck_assert_int_eq(record_write(&ctx, &r, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_IO);
	ck_assert_ptr_nonnull(strstr(e.msg, RUN));
	ck_assert_int_eq(record_lock(&ctx, &r.key, true, 0, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_IO);
	ck_assert_int_eq(record_remove(&ctx, &r.key, &e), 0); /* no record can be there */
	walk(&ctx, NULL, 0, "");
}
END_TEST

/* The folder of the network is an attacker's link: nothing is read or written through it. */
START_TEST(links_are_not_followed)
{
	const struct ctx ctx = new_ctx();
	const struct record r = some_record("net", "c1", "net1"),
			    other = some_record("o", "c", "i");
	struct err e;

	write_record(&ctx, &other);
	ck_assert_int_eq(mkdir("/mnt/elsewhere", 0700), 0);
	ck_assert_int_eq(symlink("/mnt/elsewhere", RUN "/attachments/net"), 0);
	ck_assert_int_eq(record_write(&ctx, &r, &e), -1);
	ck_assert(!exists("/mnt/elsewhere/c1,net1"));
	testing_file("/mnt/elsewhere/c1,net1", 0600, "{}");
	(void)!record_remove(&ctx, &r.key, &e);
	ck_assert(exists("/mnt/elsewhere/c1,net1"));
	walk(&ctx, NULL, 0, "o/c/i ");
}
END_TEST

/* ---- locks ---- */

START_TEST(a_lock_excludes_others)
{
	const struct ctx ctx = new_ctx();
	const struct record_key key = { "net", "c1", "net1" };
	const struct record_key others[] = { { "net", "c1", "net2" },
					     { "net", "c2", "net1" },
					     { "other", "c1", "net1" } };
	struct err e = { .msg = "" };
	int lock = record_lock(&ctx, &key, true, 0, &e);

	ck_assert_msg(lock >= 0, "%s", e.msg);
	ck_assert_int_eq(record_lock(&ctx, &key, false, 5, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_AGAIN); /* CNI-034 */
	ck_assert_ptr_nonnull(strstr(e.msg, "net"));
	ck_assert_ptr_nonnull(strstr(e.msg, "c1"));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		int other = record_lock(&ctx, &others[i], false, 0, &e);
		ck_assert_int_ge(other, 0);
		ck_assert_int_eq(close(other), 0);
	}
	ck_assert_int_eq(close(lock), 0);
	lock = record_lock(&ctx, &key, false, 0, &e);
	ck_assert_int_ge(lock, 0);
	ck_assert_int_eq(close(lock), 0);
}
END_TEST

START_TEST(a_killed_holder_unlocks)
{
	const struct ctx ctx = new_ctx();
	const struct record_key key = { "net", "c1", "net1" };
	struct err e;
	int ready[2];
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct err mine;
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (record_lock(&ctx, &key, true, 0, &mine) >= 0)
			(void)!write(ready[1], "x", 1);
		for (;;)
			(void)pause();
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	ck_assert_int_eq(record_lock(&ctx, &key, true, 0, &e), -1);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	auto_fd int lock = record_lock(&ctx, &key, true, 0, &e);
	ck_assert_int_ge(lock, 0);
}
END_TEST

/* CNI-152: attachments of one network come and go at once, and its folder with them. */
START_TEST(concurrent_writers_lose_nothing)
{
	enum { PROCESSES = 8, ROUNDS = 60 };
	const struct ctx ctx = new_ctx();
	pid_t pids[PROCESSES];

	for (int p = 0; p < PROCESSES; p++) {
		pids[p] = fork();
		if (pids[p])
			continue;
		char id[8];
		(void)snprintf(id, sizeof(id), "c%d", p);
		const struct record r = some_record("net", id, "net1");
		for (int i = 0; i < ROUNDS; i++) {
			struct err e;
			struct record back = { 0 };
			if (record_write(&ctx, &r, &e) || record_read(&ctx, &r.key, &back, &e) ||
			    record_remove(&ctx, &r.key, &e)) {
				fprintf(stderr, "round %d: %s\n", i, e.msg);
				_exit(1);
			}
			record_clear(&back);
		}
		_exit(0);
	}
	for (int p = 0; p < PROCESSES; p++) {
		int status;
		ck_assert_int_eq(waitpid(pids[p], &status, 0), pids[p]);
		ck_assert_int_eq(status, 0);
	}
	ck_assert(!exists(RUN "/attachments/net"));
}
END_TEST

/* ---- memory ---- */

static int write_again(void *arg, struct err *e)
{
	const struct record r = some_record("net", "c1", "net1");

	return record_write(arg, &r, e);
}

static int read_again(void *arg, struct err *e)
{
	const struct record_key key = { "net", "c1", "net1" };
	auto_record struct record r = { 0 };

	return record_read(arg, &key, &r, e);
}

/* Check allocates for its own books: it must not be called while allocations fail. */
static int count_damaged(const struct record *r, void *arg)
{
	if (!r->tree)
		++*(int *)arg;
	return 0;
}

static int walk_again(void *arg, struct err *e)
{
	int damaged = 0;
	int rc = record_each(arg, NULL, count_damaged, &damaged, e);

	/* no record is taken for damaged for want of memory */
	return damaged ? err_set(e, ERR_DECODE, 0, "%d damaged", damaged) : rc;
}

START_TEST(out_of_memory)
{
	struct ctx ctx = new_ctx();
	const struct record r = some_record("net", "c1", "net1");

	write_record(&ctx, &r);
	ck_assert_str_eq(alloc_fail_each(write_again, &ctx), "ok");
	ck_assert_str_eq(alloc_fail_each(read_again, &ctx), "ok");
	ck_assert_str_eq(alloc_fail_each(walk_again, &ctx), "ok");
}
END_TEST

static struct ctx lied_to;

static int remove_lied_to(struct err *e)
{
	const struct record_key key = { "net", "c1", "net1" };

	return record_remove(&lied_to, &key, e);
}

static int visit_all(struct err *e)
{
	return record_each(&lied_to, NULL, count_damaged, &(int){ 0 }, e);
}

static int visit_network(struct err *e)
{
	return record_each(&lied_to, "net", count_damaged, &(int){ 0 }, e);
}

/* One ENOENT about a record that is there: its attachment is not forgotten. */
START_TEST(not_seen_is_not_gone)
{
	const struct record r = some_record("net", "c1", "net1");
	struct err e;

	lied_to = new_ctx();
	write_record(&lied_to, &r);
	ck_assert(!testing_fail_syscall(SYS_openat, ENOENT, remove_lied_to));
	ck_assert(!testing_fail_syscall(SYS_unlinkat, ENOENT, remove_lied_to));
	ck_assert(!testing_fail_syscall(SYS_openat, ENOENT, visit_all));
	ck_assert(!testing_fail_syscall(SYS_openat, ENOENT, visit_network));
	ck_assert(!testing_fail_syscall(SYS_read, ENOENT, visit_all));
	ck_assert(remove_lied_to(&e) == 0 && remove_lied_to(&e) == 0 && visit_all(&e) == 0);
}
END_TEST

TEST_PROGRAM("cni/record/record", what_is_written_is_read, the_path_and_the_mode_of_a_record,
	     writing_again_replaces, an_absent_record_is_not_found, removing_leaves_no_empty_folder,
	     long_names_stay_apart, a_damaged_file_is_an_error, too_deep_or_too_large_to_be_read,
	     each_visits_records_in_order, each_passes_damaged_files_and_skips_others,
	     records_may_be_removed_while_visiting, a_file_in_place_of_a_folder_is_an_error,
	     links_are_not_followed, a_lock_excludes_others, a_killed_holder_unlocks,
	     concurrent_writers_lose_nothing, not_seen_is_not_gone, out_of_memory)

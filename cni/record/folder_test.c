/* SPDX-License-Identifier: Apache-2.0 */
/* folder_test.c: folders of networks without a record, and records that cannot be read now.
 */
#include "cni/record/record.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "cni/protocol/env.h"
#include "lib/testing/testing.h"
#include "lib/testing/dir.h"

#define RUN "/mnt/a/run"

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
				.netns = "/run/netns/p",
				.master = "eth0",
				.cni_path = "",
				.args = "" };
}

static void write_record(const struct ctx *ctx, const struct record *r)
{
	struct err e = { .msg = "" };

	ck_assert_msg(record_write(ctx, r, &e) == 0, "%s", e.msg);
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static int see(const struct record *r, void *arg)
{
	char *text = arg;
	size_t len = strlen(text);

	(void)snprintf(text + len, 64 - len, "%s/%s/%s%s ", r->key.network, r->key.container,
		       r->key.ifname, r->tree ? "" : "!");
	return 0;
}

/* No file can be made in the folder that this very call made. */
START_TEST(a_failed_write_leaves_no_empty_folder)
{
	struct ctx ctx = new_ctx();
	char id[CNI_ID_MAX + 1];
	const struct record other = some_record("other", "c1", "net1");
	struct record r = some_record("net", id, "net1");
	struct err e;
	const struct rlimit none = { 0, 0 };

	memset(id, 'x', sizeof(id));
	id[CNI_ID_MAX] = '\0';
	write_record(&ctx, &other);
	(void)signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	ck_assert_int_eq(record_write(&ctx, &r, &e), -1);
	ck_assert_int_eq(e.errnum, EFBIG);
	ck_assert(!exists(RUN "/attachments/net"));
	ck_assert(exists(RUN "/attachments/other"));
}
END_TEST

START_TEST(empty_folders_are_tidied_away)
{
	struct ctx ctx = new_ctx();
	const struct record r = some_record("net", "c1", "net1");
	struct err e;

	ck_assert_int_eq(record_tidy(&ctx, &e), 0); /* nothing there at all */
	ck_assert(!exists(RUN));
	write_record(&ctx, &r);
	ck_assert_int_eq(mkdir(RUN "/attachments/a", 0700), 0);
	ck_assert_int_eq(mkdir(RUN "/attachments/z", 0700), 0);
	testing_file(RUN "/attachments/stray", 0600, "");
	ck_assert_int_eq(record_tidy(&ctx, &e), 0);
	ck_assert(!exists(RUN "/attachments/a"));
	ck_assert(!exists(RUN "/attachments/z"));
	ck_assert(exists(RUN "/attachments/stray"));
	ck_assert(exists(RUN "/attachments/net/c1,net1"));
}
END_TEST

/* As a user who may open the folders, but not this file: that says nothing of what is in it. */
START_TEST(what_cannot_be_read_now_is_not_damaged)
{
	const struct ctx ctx = new_ctx();
	const struct record a = some_record("net", "c1", "net1"),
			    b = some_record("net", "c2", "net1");
	char seen[64] = "";
	struct record back;
	struct err e;

	write_record(&ctx, &a);
	write_record(&ctx, &b);
	ck_assert_int_eq(chmod("/mnt", 0755), 0);
	ck_assert_int_eq(chmod("/mnt/a", 0755), 0);
	ck_assert_int_eq(chmod(RUN, 0755), 0);
	ck_assert_int_eq(chmod(RUN "/attachments", 0755), 0);
	ck_assert_int_eq(chmod(RUN "/attachments/net", 0755), 0);
	ck_assert_int_eq(chmod(RUN "/attachments/net/c2,net1", 0644), 0);
	ck_assert_int_eq(seteuid(65534), 0);
	ck_assert_int_eq(record_read(&ctx, &a.key, &back, &e), -1);
	ck_assert_int_eq(e.errnum, EACCES);
	ck_assert(!record_is_damaged(&e));
	/* the walk shows the others, and says that it did not show all */
	ck_assert_int_eq(record_each(&ctx, NULL, see, seen, &e), -1);
	ck_assert_str_eq(seen, "net/c2/net1 ");
	ck_assert_int_eq(e.errnum, EACCES);
	ck_assert_int_eq(record_each(&ctx, "net", see, seen, &e), -1);
	/* What the leak sanitizer needs to look at us. */
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1), 0);
}
END_TEST

TEST_PROGRAM("cni/record_folder", a_failed_write_leaves_no_empty_folder,
	     empty_folders_are_tidied_away, what_cannot_be_read_now_is_not_damaged)

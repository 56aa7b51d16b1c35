/* SPDX-License-Identifier: Apache-2.0 */
/* peer_files_test.c: folders of another program, and the names of its files. */
#include "cni/record/peer_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/sys/fs.h"
#include "lib/testing/dir.h"
#include "lib/testing/syscall.h"
#include "lib/testing/testing.h"

#define CNI "/mnt/cni"
#define ID  "0123456789abcdef0123456789abcdef"

/* A context whose folder of peers does not exist yet. */
static struct ctx new_ctx(void)
{
	(void)testing_dir();
	return (struct ctx){ .cni_dir = CNI, .log = { .fd = -1 } };
}

static void make_dir(const char *path)
{
	ck_assert_int_eq(mkdir(path, 0700), 0);
}

/* Appends "NAME " with its text, or with the reason that it has none. Stops at a file "stop". */
static int note(int dir, const char *file, void *arg)
{
	auto_free char *text = NULL;
	char *seen = arg;
	struct err e;

	testing_append(seen, 256, file);
	if (fs_read_at(dir, file, 8, &text, &e) < 0)
		testing_append(seen, 256, fs_is_gone(dir, file, &e) ? "(absent)" : "(unreadable)");
	else
		testing_append(seen, 256, text);
	testing_append(seen, 256, " ");
	return strcmp(file, "stop") == 0;
}

static const char *files_of(const struct ctx *ctx)
{
	static char seen[256];
	struct err e;

	seen[0] = '\0';
	ck_assert_msg(peer_files_each(ctx, "peer", note, seen, &e) == 0, "%s", e.msg);
	return seen;
}

/* No folder can be opened, and the error says that there is none. */
static void has_no_folder(const struct ctx *ctx)
{
	struct err e;
	int dir;

	ck_assert_int_eq(peer_files_open(ctx, "peer", &dir, &e), 0);
	ck_assert_int_eq(dir, -1);
	ck_assert_str_eq(files_of(ctx), "");
}

START_TEST(an_absent_folder_has_no_files)
{
	const struct ctx ctx = new_ctx();

	has_no_folder(&ctx);
	make_dir(CNI);
	has_no_folder(&ctx);
}
END_TEST

START_TEST(a_file_in_the_place_of_the_folder_has_no_files)
{
	const struct ctx ctx = new_ctx();

	testing_file(CNI, 0600, "");
	has_no_folder(&ctx);
	ck_assert_int_eq(unlink(CNI), 0);
	make_dir(CNI);
	testing_file(CNI "/peer", 0600, "");
	has_no_folder(&ctx);
}
END_TEST

/* /var/lib/cni itself may be a link that an administrator made. */
START_TEST(a_link_in_the_place_of_the_folder_is_not_followed)
{
	const struct ctx ctx = new_ctx();

	make_dir("/mnt/real");
	make_dir("/mnt/real/peer");
	testing_file("/mnt/real/peer/a", 0600, "=1");
	ck_assert_int_eq(symlink("/mnt/real", CNI), 0);
	ck_assert_str_eq(files_of(&ctx), "a=1 ");
	ck_assert_int_eq(rename("/mnt/real/peer", "/mnt/real/other"), 0);
	ck_assert_int_eq(symlink("other", "/mnt/real/peer"), 0);
	has_no_folder(&ctx);
}
END_TEST

START_TEST(a_folder_that_cannot_be_opened_is_not_absent)
{
	char path[4200];
	struct ctx ctx = new_ctx();
	char seen[256] = "";
	struct err e;

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	ctx.cni_dir = path;
	ck_assert_int_eq(peer_files_each(&ctx, "peer", note, seen, &e), -1);
	ck_assert_int_eq(e.errnum, ENAMETOOLONG);
	ck_assert_str_eq(seen, "");
}
END_TEST

static struct ctx lied_to;

static int each_of_peer(struct err *e)
{
	char seen[256] = "";

	return peer_files_each(&lied_to, "peer", note, seen, e);
}

START_TEST(a_folder_that_is_not_seen_is_not_absent)
{
	struct err e;

	lied_to = new_ctx();
	make_dir(CNI);
	make_dir(CNI "/peer");
	ck_assert(!testing_fail_syscall(SYS_openat, ENOENT, each_of_peer));
	ck_assert_int_eq(each_of_peer(&e), 0);
}
END_TEST

START_TEST(files_come_by_name_and_unreadable_ones_too)
{
	const struct ctx ctx = new_ctx();

	make_dir(CNI);
	make_dir(CNI "/peer");
	testing_file(CNI "/peer/c", 0600, "=3");
	testing_file(CNI "/peer/a", 0600, "=1");
	testing_file(CNI "/peer/.b.tmp", 0600, "=2");
	testing_file(CNI "/peer/large", 0600, "123456789");
	make_dir(CNI "/peer/folder");
	ck_assert_int_eq(symlink("a", CNI "/peer/link"), 0);
	ck_assert_str_eq(files_of(&ctx),
			 "a=1 c=3 folder(unreadable) large(unreadable) link(unreadable) ");
}
END_TEST

START_TEST(a_result_that_is_not_zero_stops_the_loop)
{
	const struct ctx ctx = new_ctx();

	make_dir(CNI);
	make_dir(CNI "/peer");
	testing_file(CNI "/peer/a", 0600, "");
	testing_file(CNI "/peer/stop", 0600, "");
	testing_file(CNI "/peer/z", 0600, "");
	ck_assert_str_eq(files_of(&ctx), "a stop ");
}
END_TEST

static const char *split(const char *file)
{
	static char text[256];
	char container[64], ifname[IFNAME_LEN];
	struct peer_file f;

	peer_file_split(file, &f);
	peer_file_copy(f.container, container, sizeof(container));
	peer_file_copy(f.ifname, ifname, sizeof(ifname));
	(void)snprintf(text, sizeof(text), "%s|%s", container, ifname);
	return text;
}

START_TEST(a_long_id_is_the_container_whatever_dashes_follow)
{
	ck_assert_str_eq(split(ID "-net1"), ID "|net1");
	ck_assert_str_eq(split(ID "0-net-2"), ID "0|net-2");
}
END_TEST

/* 31 digits are no long id. */
START_TEST(without_a_long_id_the_last_dash_separates)
{
	ck_assert_str_eq(split("a-b-net-2"), "a-b-net|2");
	ck_assert_str_eq(split("123456789abcdef0123456789abcdef-net-2"),
			 "123456789abcdef0123456789abcdef-net|2");
	ck_assert_str_eq(split("0123456789ABCDEF0123456789ABCDEF-net-2"),
			 "0123456789ABCDEF0123456789ABCDEF-net|2");
}
END_TEST

START_TEST(parts_that_are_missing_are_empty)
{
	ck_assert_str_eq(split("nodash"), "nodash|");
	ck_assert_str_eq(split("c1-"), "c1|");
	ck_assert_str_eq(split("-net1"), "|net1");
	ck_assert_str_eq(split(""), "|");
}
END_TEST

TEST_PROGRAM("cni/record/peer_files", an_absent_folder_has_no_files,
	     a_file_in_the_place_of_the_folder_has_no_files,
	     a_link_in_the_place_of_the_folder_is_not_followed,
	     a_folder_that_cannot_be_opened_is_not_absent, a_folder_that_is_not_seen_is_not_absent,
	     files_come_by_name_and_unreadable_ones_too, a_result_that_is_not_zero_stops_the_loop,
	     a_long_id_is_the_container_whatever_dashes_follow,
	     without_a_long_id_the_last_dash_separates, parts_that_are_missing_are_empty)
